"""What gathers and scatters share: dimension numbers, modes, indices when compiled."""

from __future__ import annotations

import enum
import functools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from gnomon.core import dtypes
from gnomon.core.jaxpr import Jaxpr
from gnomon.core.primitive import Primitive
from gnomon.core.rule import jvp_rule
from gnomon.core.stage import trace_to_jaxpr
from gnomon.core.types import ShapedArray, typeof
from gnomon.core.zero import UndefinedPrimal, Zero
from gnomon.lax._arithmetic import add
from gnomon.lax._families import like

Dims = tuple[int, ...]

# Their rules stand in `_gather` and `_scatter`, which need each other for transposition.
gather_p = Primitive("gather")
scatter_p = Primitive("scatter")
scatter_add_p = Primitive("scatter-add")


class GatherScatterMode(enum.Enum):
  """What becomes of indices whose slice does not lie within the operand.

  * `CLIP`: they move to the nearest index whose slice does.
  * `FILL_OR_DROP`: a gather fills the slice with `fill_value`; a scatter drops the
    update.
  * `PROMISE_IN_BOUNDS`: there are none. If there are, the values are unspecified.
  * `ONE_HOT`: gathers and scatters by matrix products; not offered here.
  """

  CLIP = 1
  FILL_OR_DROP = 2
  PROMISE_IN_BOUNDS = 3
  ONE_HOT = 4

  @staticmethod
  def from_any(s: str | GatherScatterMode | None) -> GatherScatterMode:
    """The mode of a name: `clip`, `fill` or `drop`, `promise_in_bounds`, `one_hot`.

    None stands for `FILL_OR_DROP`.

    >>> from gnomon import lax
    >>> lax.GatherScatterMode.from_any("drop")
    <GatherScatterMode.FILL_OR_DROP: 2>

    Raises:
      ValueError: there is no such mode.
    """
    if isinstance(s, GatherScatterMode):
      return s
    try:
      return _MODES[s]
    except KeyError:
      names = ", ".join(repr(n) for n in _MODES if n is not None)
      raise ValueError(
          f"unknown gather or scatter mode {s!r}: expected one of {names}") from None


_MODES = {
    None: GatherScatterMode.FILL_OR_DROP, "clip": GatherScatterMode.CLIP,
    "fill": GatherScatterMode.FILL_OR_DROP, "drop": GatherScatterMode.FILL_OR_DROP,
    "promise_in_bounds": GatherScatterMode.PROMISE_IN_BOUNDS,
    "one_hot": GatherScatterMode.ONE_HOT}


def usable_mode(
    name: str, mode: str | GatherScatterMode | None, default: GatherScatterMode,
) -> GatherScatterMode:
  """The mode that an operation binds."""
  found = default if mode is None else GatherScatterMode.from_any(mode)
  if found is GatherScatterMode.ONE_HOT:
    raise NotImplementedError(
        f"{name} does not offer the mode ONE_HOT: use 'clip', 'fill' or "
        "'promise_in_bounds', or multiply by a one-hot matrix")
  return found


class GatherDimensionNumbers(NamedTuple):
  """Which dimensions of a gather's operand, indices and result belong together.

  The last dimension of the indices holds index vectors; the others are batch dimensions.

  Attributes:
    offset_dims: dimensions of the result that run within a slice, increasing.
    collapsed_slice_dims: dimensions of the operand, of slice size 1, that the result
      does not have, increasing.
    start_index_map: the dimension of the operand that each entry of an index vector
      indexes.
    operand_batching_dims: dimensions of the operand that go along with
      `start_indices_batching_dims`, increasing; their slice size is 1.
    start_indices_batching_dims: dimensions of the indices, one for each of those.
  """

  offset_dims: Dims
  collapsed_slice_dims: Dims
  start_index_map: Dims
  operand_batching_dims: Dims = ()
  start_indices_batching_dims: Dims = ()

  def of_ints(self) -> GatherDimensionNumbers:
    """The same as tuples of Python ints, which hash and print alike."""
    return GatherDimensionNumbers(*[tuple([int(d) for d in dims]) for dims in self])

  def as_scatter(self) -> ScatterDimensionNumbers:
    """The scatter that puts back where this gather takes."""
    return ScatterDimensionNumbers(*self)


class ScatterDimensionNumbers(NamedTuple):
  """Which dimensions of a scatter's operand, indices and updates belong together.

  The last dimension of the indices holds index vectors; the others are batch dimensions.

  Attributes:
    update_window_dims: dimensions of the updates that run within a window, increasing.
    inserted_window_dims: dimensions of the operand, of window size 1, that the updates do
      not have, increasing.
    scatter_dims_to_operand_dims: the dimension of the operand that each entry of an index
      vector indexes.
    operand_batching_dims: dimensions of the operand that go along with
      `scatter_indices_batching_dims`, increasing; their window size is 1.
    scatter_indices_batching_dims: dimensions of the indices, one for each of those.
  """

  update_window_dims: Dims
  inserted_window_dims: Dims
  scatter_dims_to_operand_dims: Dims
  operand_batching_dims: Dims = ()
  scatter_indices_batching_dims: Dims = ()

  def of_ints(self) -> ScatterDimensionNumbers:
    """The same as tuples of Python ints, which hash and print alike."""
    return ScatterDimensionNumbers(*[tuple([int(d) for d in dims]) for dims in self])

  def as_gather(self) -> GatherDimensionNumbers:
    """The gather that takes from where this scatter puts."""
    return GatherDimensionNumbers(*self)

  def window(self, operand: ShapedArray, updates: ShapedArray) -> Dims:
    """The size of a window in each dimension of the operand."""
    absent = {*self.inserted_window_dims, *self.operand_batching_dims}
    sizes = iter([updates.shape[d] for d in self.update_window_dims])
    return tuple([
        min(1, n) if d in absent else next(sizes) for d, n in enumerate(operand.shape)])

  def indexing_new_dimension(self) -> ScatterDimensionNumbers:
    """For an operand with a new first dimension, of size 1: it alone is indexed."""
    window, absent, _, batching, index_batching = self
    return ScatterDimensionNumbers(
        window, (0, *inserted(absent)), (0,), inserted(batching), index_batching)


def inserted(dims: Sequence[int], at: int = 0) -> Dims:
  """Dimension numbers after a new dimension came in at `at`."""
  return tuple([d + (d >= at) for d in dims])


def check_dims(
    op: str, name: str, dims: Dims, ndim: int, *, ordered: bool = True) -> None:
  """Raises `TypeError` unless dimensions are distinct, in range, and increasing."""
  if any(not 0 <= d < ndim for d in dims):
    raise TypeError(
        f"{op}: {name} must be within the {ndim} dimensions there are, got {dims}")
  if len(set(dims)) != len(dims):
    raise TypeError(f"{op}: {name} must be distinct, got {dims}")
  if ordered and list(dims) != sorted(dims):
    raise TypeError(f"{op}: {name} must increase, got {dims}")


def check_indices(
    op: str, operand: ShapedArray, indices: ShapedArray, names: Sequence[str],
    dims: GatherDimensionNumbers | ScatterDimensionNumbers) -> None:
  """The checks that gathers and scatters share; `names` are those of the fields."""
  _, absent, index_map, batching, index_batching = dims
  if not dtypes.issubdtype(indices.dtype, np.integer):
    raise ValueError(f"{op}: indices must have an integer type, got {indices}")
  if not indices.ndim:
    raise TypeError(
        f"{op}: indices need at least one dimension, the last, which holds index "
        f"vectors; got {indices}")
  check_dims(op, names[1], absent, operand.ndim)
  check_dims(op, names[2], index_map, operand.ndim, ordered=False)
  check_dims(op, names[3], batching, operand.ndim)
  check_dims(op, names[4], index_batching, indices.ndim - 1, ordered=False)
  if len(index_map) != indices.shape[-1]:
    raise TypeError(
        f"{op}: {names[2]} needs one entry an element of the index vectors: got "
        f"{index_map} for index vectors of {indices.shape[-1]}, the last size of the "
        f"indices {indices}")
  if set(batching) & {*absent, *index_map}:
    raise TypeError(
        f"{op}: {names[3]} {batching} must have no dimension in common with {names[1]} "
        f"{absent} and {names[2]} {index_map}")
  sizes = [operand.shape[d] for d in batching]
  others = [indices.shape[d] for d in index_batching]
  if sizes != others:
    raise TypeError(
        f"{op}: {names[3]} and {names[4]} must have the same sizes, got {sizes} of the "
        f"operand {operand} and {others} of the indices {indices}")


def as_elements(updates: Any, operand: Any) -> Any:
  """Updates that are a Python number in the dtype of the operand; others as they are."""
  if type(updates) in (bool, int, float, complex):
    return like(typeof(operand), updates)
  return updates


def linear_in_operand(p: Primitive, tangent: Callable[..., Any]) -> None:
  """The derivative of a primitive that is linear in its first operand; indices follow it.

  `tangent(t, *indices, **params)` maps the operand's tangent to the result's.
  """
  @jvp_rule.define(p)
  def _(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> Any:
    outs = p.apply(*primals, **params)
    if type(tangents[0]) is Zero:
      return outs, (Zero(typeof(outs[0]).to_tangent_aval()),)
    return outs, (tangent(tangents[0], *primals[1:], **params),)


def linear_aval(x: Any) -> ShapedArray:
  """The type of an operand that is known, or that a transposition is linear in."""
  return x.aval if type(x) is UndefinedPrimal else typeof(x)  # type: ignore[return-value]


@functools.cache
def combiner(f: Callable[[Any, Any], Any], dtype: Any) -> Jaxpr:
  """The jaxpr of a binary function of scalars: how a scatter combines values."""
  scalar = ShapedArray((), dtype)
  return trace_to_jaxpr(lambda x, y: [f(x, y)], [scalar, scalar])[0]


def scatter_sum(
    operand: Any, indices: Any, updates: Any, numbers: ScatterDimensionNumbers,
    mode: GatherScatterMode, *, sorted_: bool = False, unique: bool = False) -> Any:
  """Binds the scatter that adds."""
  return scatter_add_p.apply(
      operand, indices, updates, update_jaxpr=combiner(add, typeof(operand).dtype),
      update_consts=(), dimension_numbers=numbers, indices_are_sorted=sorted_,
      unique_indices=unique, mode=mode)[0]


def scatter_overwrite(
    operand: Any, indices: Any, updates: Any, numbers: ScatterDimensionNumbers,
    mode: GatherScatterMode, *, sorted_: bool = False, unique: bool = False) -> Any:
  """Binds the scatter that replaces."""
  return scatter_p.apply(
      operand, indices, updates, update_jaxpr=None, update_consts=(),
      dimension_numbers=numbers, indices_are_sorted=sorted_, unique_indices=unique,
      mode=mode)[0]


# ---- indices when compiled


def signed_indices(
    ctx: Any, indices: Any, aval: ShapedArray, operand: Dims) -> tuple[Any, ShapedArray]:
  """Indices in a signed type that holds every size of the operand.

  XLA compares indices with bounds in the indices' own type, where `int8` cannot hold the
  bound 300. Large unsigned numbers become the operand's largest size: outside, as before.
  """
  largest = max(operand, default=0)
  info = dtypes.iinfo(aval.dtype)
  if info.min < 0 and info.bits >= 32:
    return indices, aval
  if info.min == 0 and info.bits >= 32:
    b = ctx.b
    bound = b.full(aval, min(largest, int(info.max)))
    indices = b.op1("stablehlo.minimum", b.tensor(aval), (indices, bound))
  wide = ShapedArray(
      aval.shape, np.dtype(np.int32 if largest < 2**31 else np.int64))
  return ctx.b.convert(indices, aval, wide), wide


def along_vectors(ctx: Any, values: Sequence[int], aval: ShapedArray) -> Any:
  """One number an element of the index vectors, in the type of the indices."""
  top = int(dtypes.iinfo(aval.dtype).max)
  vector = np.asarray([min(v, top) for v in values], aval.dtype)
  return ctx.b.broadcast_in_dim(ctx.b.constant(vector), aval, (aval.ndim - 1,))
