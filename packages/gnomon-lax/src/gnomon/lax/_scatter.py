"""Scatters: updates of windows at computed places, one window an index vector."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from gnomon.core import dtypes
from gnomon.core.derive import expand, move
from gnomon.core.jaxpr import ClosedJaxpr, Jaxpr
from gnomon.core.primitive import Primitive
from gnomon.core.rule import batch_rule, lower, typing_rule
from gnomon.core.stage import trace_to_jaxpr
from gnomon.core.structural import full
from gnomon.core.types import ShapedArray, physical_aval, typeof
from gnomon.lax._arithmetic import add, max, min, mul, sub
from gnomon.lax._indexing import (
  GatherScatterMode,
  ScatterDimensionNumbers,
  along_vectors,
  as_elements,
  check_dims,
  check_indices,
  combiner,
  inserted,
  scatter_add_p,
  scatter_overwrite,
  scatter_p,
  signed_indices,
  usable_mode,
)

Values = Sequence[Any]
Mode = str | GatherScatterMode | None

scatter_sub_p = Primitive("scatter-sub")
scatter_mul_p = Primitive("scatter-mul")
scatter_min_p = Primitive("scatter-min")
scatter_max_p = Primitive("scatter-max")

COMBINERS = {
    scatter_add_p: add, scatter_sub_p: sub, scatter_mul_p: mul, scatter_min_p: min,
    scatter_max_p: max}


# ---- public functions


def scatter(
    operand: Any, scatter_indices: Any, updates: Any,
    dimension_numbers: ScatterDimensionNumbers, *, indices_are_sorted: bool = False,
    unique_indices: bool = False, mode: Mode = None) -> Any:
  """Writes windows of `updates` into a copy of `operand`, one for each index vector.

  The last dimension of `scatter_indices` holds index vectors: where a window starts, in
  the dimensions `scatter_dims_to_operand_dims`. Where windows overlap, one of the updates
  is written; which one is unspecified, but derivatives agree with it. `x.at[...].set` of
  gnomon.numpy is easier to write and does the same.

  Args:
    operand: an array of any dtype.
    scatter_indices: integers, of at least one dimension.
    updates: an array of the operand's dtype. Its dimensions `update_window_dims` run
      within windows, the others are those of the indices but the last.
    dimension_numbers: which dimensions belong together.
    indices_are_sorted: a promise that index vectors increase.
    unique_indices: a promise that no two windows overlap; makes derivatives cheaper.
    mode: what becomes of windows that reach outside the operand: `"clip"`, `"drop"` (the
      default), `"promise_in_bounds"`, or a `GatherScatterMode`.

  Returns:
    An array of the operand's type.

  Raises:
    TypeError: dtypes differ, or dimension numbers and shapes do not fit together.
    ValueError: the indices are no integers, or the mode is unknown.
    NotImplementedError: the mode is `ONE_HOT`.

  >>> import numpy as np
  >>> from gnomon import lax
  >>> places = lax.ScatterDimensionNumbers((), (0,), (0,))
  >>> lax.scatter(np.zeros(4, "f4"), np.int32([[1], [3]]), np.float32([5, 7]), places)
  Array([0., 5., 0., 7.], dtype=float32)
  """
  mode = usable_mode("scatter", mode, GatherScatterMode.FILL_OR_DROP)
  updates = as_elements(updates, operand)
  return scatter_overwrite(
      operand, scatter_indices, updates,
      ScatterDimensionNumbers(*dimension_numbers).of_ints(), mode,
      sorted_=bool(indices_are_sorted), unique=bool(unique_indices))


def _combine(
    p: Primitive, operand: Any, indices: Any, updates: Any,
    numbers: ScatterDimensionNumbers, sorted_: bool, unique: bool, mode: Mode) -> Any:
  mode = usable_mode(p.name, mode, GatherScatterMode.FILL_OR_DROP)
  updates = as_elements(updates, operand)
  return p.apply(
      operand, indices, updates,
      update_jaxpr=combiner(COMBINERS[p], typeof(operand).dtype), update_consts=(),
      dimension_numbers=ScatterDimensionNumbers(*numbers).of_ints(),
      indices_are_sorted=bool(sorted_), unique_indices=bool(unique), mode=mode)[0]


def scatter_add(
    operand: Any, scatter_indices: Any, updates: Any,
    dimension_numbers: ScatterDimensionNumbers, *, indices_are_sorted: bool = False,
    unique_indices: bool = False, mode: Mode = None) -> Any:
  """Adds windows of `updates` to a copy of `operand`; all of them where they overlap.

  Arguments, result and errors are those of `scatter`; the dtype is numeric.

  >>> import numpy as np
  >>> from gnomon import lax
  >>> places = lax.ScatterDimensionNumbers((), (0,), (0,))
  >>> lax.scatter_add(np.ones(3, "f4"), np.int32([[1], [1]]), np.float32([5, 7]), places)
  Array([ 1., 13.,  1.], dtype=float32)
  """
  return _combine(
      scatter_add_p, operand, scatter_indices, updates, dimension_numbers,
      indices_are_sorted, unique_indices, mode)


def scatter_sub(
    operand: Any, scatter_indices: Any, updates: Any,
    dimension_numbers: ScatterDimensionNumbers, *, indices_are_sorted: bool = False,
    unique_indices: bool = False, mode: Mode = None) -> Any:
  """Subtracts windows of `updates` from a copy of `operand`; all where they overlap.

  Arguments, result and errors are those of `scatter`; the dtype is numeric.

  >>> import numpy as np
  >>> from gnomon import lax
  >>> places = lax.ScatterDimensionNumbers((), (0,), (0,))
  >>> lax.scatter_sub(np.ones(3, "f4"), np.int32([[1], [1]]), np.float32([5, 7]), places)
  Array([  1., -11.,   1.], dtype=float32)
  """
  return _combine(
      scatter_sub_p, operand, scatter_indices, updates, dimension_numbers,
      indices_are_sorted, unique_indices, mode)


def scatter_mul(
    operand: Any, scatter_indices: Any, updates: Any,
    dimension_numbers: ScatterDimensionNumbers, *, indices_are_sorted: bool = False,
    unique_indices: bool = False, mode: Mode = None) -> Any:
  """Multiplies a copy of `operand` by windows of `updates`; by all where they overlap.

  Arguments, result and errors are those of `scatter`; the dtype is numeric. The
  derivative in `updates` sorts the indices, unless `unique_indices` promises that none is
  repeated.

  >>> import numpy as np
  >>> from gnomon import lax
  >>> places = lax.ScatterDimensionNumbers((), (0,), (0,))
  >>> lax.scatter_mul(np.ones(3, "f4"), np.int32([[1], [1]]), np.float32([5, 7]), places)
  Array([ 1., 35.,  1.], dtype=float32)
  """
  return _combine(
      scatter_mul_p, operand, scatter_indices, updates, dimension_numbers,
      indices_are_sorted, unique_indices, mode)


def scatter_min(
    operand: Any, scatter_indices: Any, updates: Any,
    dimension_numbers: ScatterDimensionNumbers, *, indices_are_sorted: bool = False,
    unique_indices: bool = False, mode: Mode = None) -> Any:
  """The least of `operand` and of the windows of `updates` that cover an element.

  Arguments, result and errors are those of `scatter`. NaN wins. The derivative is shared
  equally among the values that are least.

  >>> import numpy as np
  >>> from gnomon import lax
  >>> places = lax.ScatterDimensionNumbers((), (0,), (0,))
  >>> lax.scatter_min(np.int32([5, 5]), np.int32([[1], [1]]), np.int32([3, 7]), places)
  Array([5, 3], dtype=int32)
  """
  return _combine(
      scatter_min_p, operand, scatter_indices, updates, dimension_numbers,
      indices_are_sorted, unique_indices, mode)


def scatter_max(
    operand: Any, scatter_indices: Any, updates: Any,
    dimension_numbers: ScatterDimensionNumbers, *, indices_are_sorted: bool = False,
    unique_indices: bool = False, mode: Mode = None) -> Any:
  """The greatest of `operand` and of the windows of `updates` that cover an element.

  Arguments, result and errors are those of `scatter`. NaN wins. The derivative is shared
  equally among the values that are greatest.

  >>> import numpy as np
  >>> from gnomon import lax
  >>> places = lax.ScatterDimensionNumbers((), (0,), (0,))
  >>> lax.scatter_max(np.int32([5, 5]), np.int32([[1], [1]]), np.int32([3, 7]), places)
  Array([5, 7], dtype=int32)
  """
  return _combine(
      scatter_max_p, operand, scatter_indices, updates, dimension_numbers,
      indices_are_sorted, unique_indices, mode)


def scatter_apply(
    operand: Any, scatter_indices: Any, func: Callable[[Any], Any],
    dimension_numbers: ScatterDimensionNumbers, *, update_shape: Sequence[int] = (),
    indices_are_sorted: bool = False, unique_indices: bool = False,
    mode: Mode = None) -> Any:
  """Applies `func` to the windows of a copy of `operand`; repeatedly where they overlap.

  Args:
    operand: an array of numbers or bools.
    scatter_indices: as for `scatter`.
    func: from a scalar to a scalar of the same dtype. It must use no arrays from outside;
      Python numbers are fine.
    dimension_numbers: as for `scatter`.
    update_shape: the shape that updates would have.
    indices_are_sorted: as for `scatter`.
    unique_indices: as for `scatter`; derivatives need the promise.
    mode: as for `scatter`.

  Returns:
    An array of the operand's type.

  Raises:
    TypeError: `func` uses arrays from outside, or returns another type than it takes.
    NotImplementedError: a derivative is taken without `unique_indices`.

  >>> import numpy as np
  >>> from gnomon import lax
  >>> places = lax.ScatterDimensionNumbers((), (0,), (0,))
  >>> lax.scatter_apply(
  ...     np.ones(3, "f4"), np.int32([[1]]), lambda x: lax.mul(x, 5.0), places,
  ...     update_shape=(1,))
  Array([1., 5., 1.], dtype=float32)
  """
  mode = usable_mode("scatter_apply", mode, GatherScatterMode.FILL_OR_DROP)
  x = typeof(operand)
  if isinstance(x.dtype, dtypes.ExtendedDType):
    raise TypeError(f"scatter_apply needs an operand of numbers or bools, got {x}")
  scalar = ShapedArray((), x.dtype)
  jaxpr, consts = trace_to_jaxpr(lambda y, _: [func(y)], [scalar, scalar])
  if consts:
    raise TypeError(
        "scatter_apply: func must not use arrays from outside, but it uses "
        f"{', '.join(str(typeof(c)) for c in consts)}. Take the elements with "
        "lax.gather, apply the function to them, and write them back with lax.scatter")
  if jaxpr.out_avals[0].shape != () or jaxpr.out_avals[0].dtype != x.dtype:
    raise TypeError(
        f"scatter_apply: func must return a scalar of the dtype that it takes, "
        f"{x.dtype}, but it returns {jaxpr.out_avals[0]}")
  return scatter_p.apply(
      operand, scatter_indices, full(tuple(update_shape), 0, x.dtype), update_jaxpr=jaxpr,
      update_consts=(),
      dimension_numbers=ScatterDimensionNumbers(*dimension_numbers).of_ints(),
      indices_are_sorted=bool(indices_are_sorted), unique_indices=bool(unique_indices),
      mode=mode)[0]


# ---- rules that all of them share


def _type(name: str) -> Callable[..., tuple[ShapedArray]]:
  def rule(
      x: ShapedArray, indices: ShapedArray, updates: ShapedArray, *,
      dimension_numbers: ScatterDimensionNumbers, **_: Any) -> tuple[ShapedArray]:
    if x.dtype != updates.dtype:
      raise TypeError(
          f"{name} needs updates of the operand's dtype: got the operand {x} and the "
          f"updates {updates}")
    check_indices(name, x, indices, ScatterDimensionNumbers._fields, dimension_numbers)
    _check_updates(name, x, indices, updates, dimension_numbers)
    return (ShapedArray(x.shape, x.dtype, x.weak_type and updates.weak_type),)

  return rule


def _check_updates(
    name: str, x: ShapedArray, indices: ShapedArray, updates: ShapedArray,
    numbers: ScatterDimensionNumbers) -> None:
  window, absent, _, batching, _ = numbers
  ndim = indices.ndim - 1 + len(window)
  if updates.ndim != ndim:
    raise TypeError(
        f"{name}: Updates tensor must be of rank {ndim}; got {updates.ndim}. These are "
        f"the dimensions of the indices but the last and {len(window)} of "
        f"update_window_dims: got the updates {updates} for the indices {indices}")
  check_dims(name, "update_window_dims", window, ndim)
  within = [d for d in range(x.ndim) if d not in (*absent, *batching)]
  if len(window) != len(within):
    raise TypeError(
        f"{name} needs one entry of update_window_dims a dimension of the operand that "
        f"is neither inserted nor batched: got {window} for the {len(within)} that are "
        f"left of {x}")
  outer = tuple([n for d, n in enumerate(updates.shape) if d not in window])
  if outer != indices.shape[:-1]:
    raise TypeError(
        f"{name}: Bounds of the scatter dimensions of updates must be those of the "
        f"indices, but the last: got {outer} in the updates {updates} for the indices "
        f"{indices}")
  for d, u in zip(within, window):
    if updates.shape[u] > x.shape[d]:
      raise TypeError(
          f"{name} needs windows no larger than the operand: got the updates {updates}, "
          f"whose dimension {u} is larger than dimension {d} of the operand {x}")


def _lower(
    ctx: Any, x: Any, indices: Any, updates: Any, *, update_jaxpr: Jaxpr | None,
    update_consts: tuple[Any, ...], dimension_numbers: ScatterDimensionNumbers,
    indices_are_sorted: bool, unique_indices: bool, mode: GatherScatterMode) -> Values:
  b, (operand, given, news) = ctx.b, ctx.avals_in
  if not dimension_numbers.scatter_dims_to_operand_dims:
    # XLA loses all but one update where index vectors are empty: index a new dimension.
    dimension_numbers = dimension_numbers.indexing_new_dimension()
    operand = ShapedArray((1, *operand.shape), operand.dtype)
    given = ShapedArray((*given.shape[:-1], 1), given.dtype)
    x, indices = b.reshape(x, operand), b.full(given, 0)
  window, absent, index_map, batching, index_batching = dimension_numbers
  words = tuple(range(news.ndim, news.ndim + b.key_dims(operand)))
  indices, aval = signed_indices(ctx, indices, given, operand.shape)
  if mode is GatherScatterMode.CLIP:
    sizes = dimension_numbers.window(operand, news)
    last = along_vectors(ctx, [operand.shape[d] - sizes[d] for d in index_map], aval)
    zero = b.constant(0, aval.dtype)
    indices = b.op1("stablehlo.clamp", b.tensor(aval), (zero, indices, last))
  numbers = b.attr(
      f"#stablehlo.scatter<update_window_dims = {[*window, *words]}, "
      f"inserted_window_dims = {list(absent)}, input_batching_dims = {list(batching)}, "
      f"scatter_indices_batching_dims = {list(index_batching)}, "
      f"scatter_dims_to_operand_dims = {list(index_map)}, "
      f"index_vector_dim = {aval.ndim - 1}>")
  scalar = b.tensor(ShapedArray((), physical_aval(operand).dtype))

  def body(old: Any, new: Any) -> Values:
    if update_jaxpr is None:
      return [new]
    return ctx.inline(ClosedJaxpr(update_jaxpr, update_consts), (old, new))  # type: ignore[no-any-return]

  out = b.region_op(
      "stablehlo.scatter", [b.tensor(operand)], (x, indices, updates), {
          "scatter_dimension_numbers": numbers,
          "indices_are_sorted": b.flag(indices_are_sorted),
          "unique_indices": b.flag(unique_indices)},
      [((scalar, scalar), body)]).result
  result = ctx.avals_out[0]
  return [out if operand.shape == result.shape else b.reshape(out, result)]


def batched_numbers(
    numbers: ScatterDimensionNumbers, *, indices_mapped: bool) -> ScatterDimensionNumbers:
  """Dimension numbers once operand and updates (and indices) have a leading dimension."""
  window, absent, index_map, batching, index_batching = numbers
  absent, index_map, batching = map(inserted, (absent, index_map, batching))
  if not indices_mapped:  # windows span the mapped dimension
    return ScatterDimensionNumbers(
        (0, *inserted(window)), absent, index_map, batching, index_batching)
  return ScatterDimensionNumbers(
      inserted(window), absent, index_map, (0, *batching), (0, *inserted(index_batching)))


def _batch(p: Primitive) -> Callable[..., tuple[Values, Values]]:
  def rule(
      axis: Any, args: Values, dims: Values, *,
      dimension_numbers: ScatterDimensionNumbers, **params: Any) -> tuple[Values, Values]:
    (x, indices, updates), (xd, d, ud) = args, dims
    x = expand(x, axis.size) if xd is None else move(x, xd, 0)
    updates = expand(updates, axis.size) if ud is None else move(updates, ud, 0)
    if d is not None:
      indices = move(indices, d, 0)
    numbers = batched_numbers(dimension_numbers, indices_mapped=d is not None)
    return p.apply(x, indices, updates, dimension_numbers=numbers, **params), (0,)

  return rule


for _p in (scatter_p, *COMBINERS):
  typing_rule.define(_p)(_type(_p.name))
  lower.define(_p)(_lower)
  batch_rule.define(_p)(_batch(_p))
