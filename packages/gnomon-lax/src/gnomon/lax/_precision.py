"""How exactly products of matrices and convolutions are computed."""

from __future__ import annotations

import enum
from typing import Any, NamedTuple

import numpy as np

from gnomon import _config
from gnomon.core import dtypes


class Precision(enum.Enum):
  """How exactly an accelerator multiplies float32 numbers; CPUs always do it in full.

  A member is also found by the names that `gnomon.default_matmul_precision` takes.

  >>> from gnomon import lax
  >>> lax.Precision("float32")
  Precision.HIGHEST
  """

  DEFAULT = 0
  """The fastest: on TPUs, numbers are rounded to bfloat16 first."""
  HIGH = 1
  """Three products of bfloat16 numbers, or TensorFloat-32."""
  HIGHEST = 2
  """Full float32 products."""

  @classmethod
  def _missing_(cls, value: object) -> Precision | None:
    return _BY_NAME.get(value)

  def __repr__(self) -> str:
    return f"Precision.{self.name}"

  def __str__(self) -> str:
    return self.name


_BY_NAME: dict[object, Precision] = {
    None: Precision.DEFAULT, "default": Precision.DEFAULT, "fastest": Precision.DEFAULT,
    "bfloat16": Precision.DEFAULT, "high": Precision.HIGH, "bfloat16_3x": Precision.HIGH,
    "tensorfloat32": Precision.HIGH, "highest": Precision.HIGHEST,
    "float32": Precision.HIGHEST}


class DotAlgorithm(NamedTuple):
  """The algorithm of a matrix product, in detail, where the hardware has a choice.

  Attributes:
    lhs_precision_type: the type to which the left operand is rounded.
    rhs_precision_type: the same for the right operand.
    accumulation_type: the type in which products are summed.
    lhs_component_count: into how many parts of its type the left operand is split.
    rhs_component_count: the same for the right operand.
    num_primitive_operations: how many products of parts are summed.
    allow_imprecise_accumulation: whether sums may be less exact than their type.

  >>> from gnomon import lax
  >>> lax.DotAlgorithm("float32", "float32", "float32").num_primitive_operations
  1
  """

  lhs_precision_type: Any
  rhs_precision_type: Any
  accumulation_type: Any
  lhs_component_count: int = 1
  rhs_component_count: int = 1
  num_primitive_operations: int = 1
  allow_imprecise_accumulation: bool = False


_F8: tuple[Any, ...] = (
    dtypes.float8_e4m3b11fnuz, dtypes.float8_e4m3fn, dtypes.float8_e4m3fnuz,
    dtypes.float8_e5m2, dtypes.float8_e5m2fnuz)
_F8_OUTPUTS: tuple[Any, ...] = (
    np.float32, np.float16, dtypes.bfloat16, dtypes.float8_e4m3fn, dtypes.float8_e5m2,
    dtypes.float8_e5m2fnuz, dtypes.float8_e4m3fnuz, dtypes.float8_e4m3b11fnuz)


class DotAlgorithmPreset(enum.Enum):
  """Algorithms of matrix products by name: types of the operands, type of the sums.

  `X3`, `X6`, `X9`: float32 operands as sums of several numbers of the type.

  >>> from gnomon import lax
  >>> lax.DotAlgorithmPreset.BF16_BF16_F32.accumulation_type
  <class 'numpy.float32'>
  """

  DEFAULT = enum.auto()
  """Whatever the compiler chooses."""
  ANY_F8_ANY_F8_F32 = enum.auto()
  """Operands of 8-bit types, sums in float32."""
  ANY_F8_ANY_F8_F32_FAST_ACCUM = enum.auto()
  """The same with less exact sums."""
  ANY_F8_ANY_F8_ANY = enum.auto()
  """Operands of 8-bit types, sums in the result's type."""
  ANY_F8_ANY_F8_ANY_FAST_ACCUM = enum.auto()
  """The same with less exact sums."""
  F16_F16_F16 = enum.auto()
  """Operands and sums in float16."""
  F16_F16_F32 = enum.auto()
  """Operands in float16, sums in float32."""
  BF16_BF16_BF16 = enum.auto()
  """Operands and sums in bfloat16."""
  BF16_BF16_F32 = enum.auto()
  """Operands in bfloat16, sums in float32."""
  BF16_BF16_F32_X3 = enum.auto()
  """Float32 operands in two parts of bfloat16: three products."""
  BF16_BF16_F32_X6 = enum.auto()
  """Float32 operands in three parts of bfloat16: six products."""
  BF16_BF16_F32_X9 = enum.auto()
  """Float32 operands in three parts of bfloat16: nine products."""
  TF32_TF32_F32 = enum.auto()
  """Operands in TensorFloat-32, sums in float32."""
  TF32_TF32_F32_X3 = enum.auto()
  """Float32 operands in two parts of TensorFloat-32: three products."""
  F32_F32_F32 = enum.auto()
  """Operands and sums in float32."""
  F64_F64_F64 = enum.auto()
  """Operands and sums in float64."""

  def __repr__(self) -> str:
    return f"DotAlgorithmPreset.{self.name}"

  def __str__(self) -> str:
    return self.name

  @property
  def supported_lhs_types(self) -> tuple[Any, ...] | None:
    """The scalar types that the left operand may have; None for any."""
    return _TYPES[self][0]

  @property
  def supported_rhs_types(self) -> tuple[Any, ...] | None:
    """The scalar types that the right operand may have; None for any."""
    return _TYPES[self][0]

  @property
  def accumulation_type(self) -> Any:
    """The scalar type of the sums; None where the compiler chooses."""
    return _TYPES[self][1]

  def supported_output_types(
      self, lhs_dtype: Any, rhs_dtype: Any) -> tuple[Any, ...] | None:
    """The scalar types that the result may have; None for any.

    Args:
      lhs_dtype: dtype of the left operand.
      rhs_dtype: dtype of the right operand.
    """
    if self.name.startswith("ANY_F8"):
      return _F8_OUTPUTS if self.accumulation_type is not None else None
    return None if self.accumulation_type is None else (self.accumulation_type,)


_BF16, _F32 = (dtypes.bfloat16, np.float32), (np.float32,)
_P = DotAlgorithmPreset
_TYPES: dict[DotAlgorithmPreset, tuple[tuple[Any, ...] | None, Any]] = {
    _P.DEFAULT: (None, None),
    _P.ANY_F8_ANY_F8_F32: (None, np.float32),
    _P.ANY_F8_ANY_F8_F32_FAST_ACCUM: (None, np.float32),
    _P.ANY_F8_ANY_F8_ANY: (None, None),
    _P.ANY_F8_ANY_F8_ANY_FAST_ACCUM: (None, None),
    _P.F16_F16_F16: ((np.float16,), np.float16),
    _P.F16_F16_F32: ((np.float16,), np.float32),
    _P.BF16_BF16_BF16: (_BF16, dtypes.bfloat16),
    _P.BF16_BF16_F32: (_BF16, np.float32),
    _P.BF16_BF16_F32_X3: (_F32, np.float32),
    _P.BF16_BF16_F32_X6: (_F32, np.float32),
    _P.BF16_BF16_F32_X9: (_F32, np.float32),
    _P.TF32_TF32_F32: (_F32, np.float32),
    _P.TF32_TF32_F32_X3: (_F32, np.float32),
    _P.F32_F32_F32: (_F32, np.float32),
    _P.F64_F64_F64: ((np.float64,), np.float64)}

PrecisionLike = (
    None | str | Precision | tuple[str, str] | tuple[Precision, Precision] | DotAlgorithm
    | DotAlgorithmPreset)
Canonical = None | tuple[Precision, Precision] | DotAlgorithm | DotAlgorithmPreset


def canonical(precision: Any) -> Canonical:
  """A precision as params of primitives hold it; None: what the configuration says.

  Raises:
    ValueError: it is none of the things that a precision may be.
  """
  if precision is None:
    precision = _config.current().default_matmul_precision
    if precision is None:
      return None
  if isinstance(precision, (Precision, DotAlgorithm, DotAlgorithmPreset)):
    return (precision, precision) if isinstance(precision, Precision) else precision
  if isinstance(precision, str):
    if precision in DotAlgorithmPreset.__members__:
      return DotAlgorithmPreset[precision]
    if precision in _BY_NAME:
      return (_BY_NAME[precision], _BY_NAME[precision])
  elif isinstance(precision, (tuple, list)) and len(precision) == 2:
    both = [
        p if isinstance(p, Precision) else _BY_NAME.get(p) if type(p) in _NAMES else None
        for p in precision]
    if both[0] is not None and both[1] is not None:
      return (both[0], both[1])
  names = sorted(n for n in _BY_NAME if isinstance(n, str))
  raise ValueError(
      f"precision must be None, one of {names}, a lax.Precision, a pair of these, a "
      f"lax.DotAlgorithm, or a lax.DotAlgorithmPreset or its name: got {precision!r}")


_NAMES = (str, type(None))


def precision_attr(b: Any, precision: Canonical) -> Any:
  """The attribute `precision_config` of a StableHLO operation."""
  lhs, rhs = Precision.DEFAULT, Precision.DEFAULT
  if isinstance(precision, tuple) and not isinstance(precision, DotAlgorithm):
    lhs, rhs = precision
  return b.attr(f"[#stablehlo<precision {lhs.name}>, #stablehlo<precision {rhs.name}>]")


_ON_CPU = frozenset({
    _P.DEFAULT, _P.F16_F16_F16, _P.BF16_BF16_F32, _P.BF16_BF16_F32_X3,
    _P.BF16_BF16_F32_X6, _P.F32_F32_F32, _P.F64_F64_F64})


def algorithm_attr(ctx: Any, precision: Canonical, lhs: Any, rhs: Any) -> Any:
  """The attribute `algorithm` for operands of these dtypes; None if none is asked for.

  Raises:
    ValueError: the CPU does not have it.
  """
  b = ctx.b
  if isinstance(precision, DotAlgorithm):
    types = [str(b.element(np.dtype(t))) for t in precision[:3]]
    return _algorithm(b, types, *precision[3:])
  if not isinstance(precision, DotAlgorithmPreset) or precision is _P.DEFAULT:
    return None
  if "cpu" in ctx.platforms and precision not in _ON_CPU:
    raise ValueError(
        f"the precision {precision.name} is not supported on CPUs, which have "
        f"{sorted(p.name for p in _ON_CPU)}")
  name, fast = precision.name, precision.name.endswith("_FAST_ACCUM")
  if name.startswith("ANY_F8"):
    sums = "bf16" if precision.accumulation_type is None else "f32"
    types = [str(b.element(np.dtype(t))) for t in (lhs, rhs)]
    return _algorithm(b, [*types, sums], 1, 1, 1, fast)
  parts = name.lower().split("_")
  products = int(parts[3][1:]) if len(parts) > 3 else 1
  return _algorithm(b, parts[:3], 1, 1, products, fast)


def _algorithm(
    b: Any, types: list[str], lhs: int, rhs: int, products: int, fast: bool) -> Any:
  left, right, sums = types
  return b.attr(
      f"#stablehlo.dot_algorithm<lhs_precision_type = {left}, rhs_precision_type = "
      f"{right}, accumulation_type = {sums}, lhs_component_count = {lhs}, "
      f"rhs_component_count = {rhs}, num_primitive_operations = {products}, "
      f"allow_imprecise_accumulation = {'true' if fast else 'false'}>")
