"""The table of ops: how to call each, what it should give, what it can do.

One record an op drives the checks of all transformations (`op_checks`). Each primitive
needs a record, or an entry as structured: an op such as `scan`, which holds programs and
has its own test file. `missing_primitives` tells which have neither.
"""

from __future__ import annotations

import dataclasses
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from gnomon import dtypes
from gnomon.core.primitive import all_primitives

Shape = tuple[int, ...]
Array = np.ndarray[Any, Any]

FLOATS = ("float32", "float64", "float16", "bfloat16")
REALS = ("float32", "float64")
COMPLEX = ("complex64", "complex128")
SIGNED = ("int8", "int32", "int64")
UNSIGNED = ("uint8", "uint32")
INTEGERS = SIGNED + UNSIGNED
BOOL = ("bool",)
NUMBERS = (*REALS, *COMPLEX, *INTEGERS)


@dataclasses.dataclass(frozen=True)
class Operand:
  """An operand to draw: its shape, and from which values.

  Attributes:
    shape: the shape.
    low: the least value of a real number; integers are drawn from the same range.
    high: the greatest value.
    dtype: the dtype, where it is not that of the case.
    values: draws values by itself: takes a generator, a shape and a dtype.
    distinct: no two values are closer than a part of the range, so that maxima and
      sorts have no ties and finite differences cross none.
    differentiable: whether derivatives with respect to it are checked.
  """

  shape: Shape = ()
  low: float = -2.0
  high: float = 2.0
  dtype: str | None = None
  values: Callable[[np.random.Generator, Shape, Any], Array] | None = None
  distinct: bool = False
  differentiable: bool = True

  def draw(self, rng: np.random.Generator, dtype: Any) -> Array:
    """A random array of this kind."""
    dtype = np.dtype(_numpy_dtype(self.dtype or dtype))
    if self.values is not None:
      return np.asarray(self.values(rng, self.shape, dtype)).astype(dtype)
    if dtype == np.dtype(bool):
      return np.asarray(rng.integers(0, 2, self.shape)).astype(bool)
    if dtypes.issubdtype(dtype, np.integer):
      low = 0 if dtypes.issubdtype(dtype, np.unsignedinteger) else round(self.low)
      return np.asarray(rng.integers(max(low, round(self.low)), round(self.high) + 1,
                                     self.shape)).astype(dtype)
    value = self._real(rng)
    if dtypes.issubdtype(dtype, np.complexfloating):
      value = value + 1j * self._real(rng)
    return np.asarray(value).astype(dtype)

  def _real(self, rng: np.random.Generator) -> Array:
    if not self.distinct:
      return np.asarray(rng.uniform(self.low, self.high, self.shape))
    count = int(np.prod(self.shape))
    grid = np.linspace(self.low, self.high, max(count, 2))
    return np.asarray(rng.permutation(grid)[:count].reshape(self.shape))


@dataclasses.dataclass(frozen=True)
class Sample:
  """One way to call an op: what its operands are, and its keyword parameters."""

  operands: tuple[Operand, ...]
  params: Mapping[str, Any] = dataclasses.field(default_factory=dict)
  label: str = ""

  def __str__(self) -> str:
    return self.label or "x".join(
        "_".join(map(str, o.shape)) or "scalar" for o in self.operands)


@dataclasses.dataclass(frozen=True)
class ErrorCase:
  """A call that must fail, and how."""

  args: Callable[[], tuple[Any, ...]]
  error: type[Exception] | tuple[type[Exception], ...]
  match: str
  params: Mapping[str, Any] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True)
class OpRecord:
  """What is to be known of an op to check it under every transformation.

  Attributes:
    name: the op's name, unique in its table.
    op: the function; takes the operands, and the sample's params as keywords.
    reference: the same in NumPy or SciPy; None where there is no such thing, and the
      value has a test of its own. It is given float64 (complex128) where the op is
      given less.
    samples: the ways to call it.
    dtypes: names of the dtypes to try.
    primitives: names of the primitives that it covers; its own name by default.
    order: the highest order of derivatives to check; 0 for ops without any.
    modes: the modes of differentiation that it has.
    batchable: whether `vmap` applies.
    jittable: whether it can be compiled.
    result_dtype: the dtype of the result, of the case's dtype; None for the same.
    tolerance: tolerances of values by dtype, where the usual ones do not fit.
    grad_tolerance: tolerances of derivatives by dtype, likewise.
    errors: calls that must fail.
  """

  name: str
  op: Callable[..., Any]
  reference: Callable[..., Any] | None
  samples: tuple[Sample, ...]
  dtypes: tuple[str, ...] = FLOATS
  primitives: tuple[str, ...] = ()
  order: int = 2
  modes: tuple[str, ...] = ("fwd", "rev")
  batchable: bool = True
  jittable: bool = True
  result_dtype: str | Callable[[str], str] | None = None
  tolerance: Mapping[str, float] = dataclasses.field(default_factory=dict)
  grad_tolerance: Mapping[str, float] = dataclasses.field(default_factory=dict)
  errors: tuple[ErrorCase, ...] = ()

  def covers(self) -> tuple[str, ...]:
    """The names of the primitives that this record checks."""
    return self.primitives or (self.name,)

  def result_dtype_of(self, dtype: str) -> str:
    """The dtype of the result for operands of a dtype."""
    if self.result_dtype is None:
      return dtype
    if isinstance(self.result_dtype, str):
      return self.result_dtype
    return self.result_dtype(dtype)


@dataclasses.dataclass(frozen=True)
class Case:
  """A record with one of its samples and dtypes: what a test is parametrised by."""

  record: OpRecord
  sample: Sample
  dtype: str

  def __str__(self) -> str:
    return f"{self.record.name}-{self.sample}-{self.dtype}"

  def args(self, seed: int = 0) -> tuple[Array, ...]:
    """Operands; the same ones for the same seed, in every process."""
    name = zlib.crc32(str(self).encode())
    rng = np.random.default_rng((name, seed))
    return tuple(o.draw(rng, self.dtype) for o in self.sample.operands)

  def function(self) -> Callable[..., Any]:
    """The op with the sample's params: a function of the operands."""
    op, params = self.record.op, self.sample.params
    if not params:
      return op
    return lambda *args: op(*args, **params)


class OpTable:
  """A set of records, and of primitives that have test files of their own.

  >>> table = OpTable()
  >>> _ = table.add(OpRecord("neg", np.negative, np.negative, elementwise_samples(1)))
  >>> [str(case) for case in table.cases(dtypes=("float32",))]
  ['neg-scalar-float32', 'neg-2_3-float32']
  """

  def __init__(self) -> None:
    self._records: dict[str, OpRecord] = {}
    self._structured: dict[str, str] = {}

  def add(self, *records: OpRecord) -> tuple[OpRecord, ...]:
    """Adds records.

    Raises:
      ValueError: a record of that name is there already.
    """
    for record in records:
      if record.name in self._records:
        raise ValueError(f"the table of ops already has a record for {record.name!r}")
      if not record.samples or not record.dtypes:
        raise ValueError(f"the record of {record.name!r} has no samples or no dtypes")
      self._records[record.name] = record
    return records

  def structured(self, test: str, *primitives: str) -> None:
    """Says that primitives have a test file of their own: a path in the repository."""
    for name in primitives:
      if name in self._structured:
        raise ValueError(
            f"the primitive {name!r} is already tested in {self._structured[name]}")
      self._structured[name] = test

  def __getitem__(self, name: str) -> OpRecord:
    return self._records[name]

  def records(self) -> tuple[OpRecord, ...]:
    """All records, in order."""
    return tuple(self._records.values())

  def cases(
      self, *, dtypes: Iterable[str] | None = None,
      only: Callable[[OpRecord], bool] | None = None) -> list[Case]:
    """All cases: records, samples and dtypes.

    Args:
      dtypes: restricts the dtypes.
      only: restricts the records.
    """
    wanted = None if dtypes is None else set(dtypes)
    return [
        Case(record, sample, dtype)
        for record in self._records.values() if only is None or only(record)
        for sample in record.samples
        for dtype in record.dtypes if wanted is None or dtype in wanted]

  def missing_primitives(self) -> list[str]:
    """Names of primitives with neither a record nor a test file of their own."""
    covered = {name for record in self._records.values() for name in record.covers()}
    covered |= self._structured.keys()
    return sorted({p.name for p in all_primitives()} - covered)

  def missing_files(self, root: Path) -> list[str]:
    """Test files named by `structured` that do not exist below `root`."""
    return sorted({f for f in self._structured.values() if not (root / f).exists()})


op_table = OpTable()
"""The table that the checks of gnomon's own packages run over."""


def elementwise_samples(
    arity: int, low: float = -2.0, high: float = 2.0, *, distinct: bool = False,
    shapes: Sequence[Shape] = ((), (2, 3)),
    domains: Sequence[tuple[float, float]] | None = None) -> tuple[Sample, ...]:
  """Samples of an elementwise op: all operands of one shape, for several shapes.

  Args:
    arity: the number of operands.
    low: the least value of each operand.
    high: the greatest one.
    distinct: see `Operand`.
    shapes: the shapes to try.
    domains: the least and greatest values, where operands differ in these.
  """
  ranges = domains or [(low, high)] * arity
  return tuple(
      Sample(tuple(Operand(shape, lo, hi, distinct=distinct) for lo, hi in ranges),
             label="_".join(map(str, shape)) or "scalar")
      for shape in shapes)


def _numpy_dtype(name: Any) -> Any:
  return dtypes.bfloat16 if name == "bfloat16" else name
