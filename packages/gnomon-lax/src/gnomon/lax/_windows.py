"""Reductions over windows: with any function, and sums and extrema in particular."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from gnomon.core import dtypes
from gnomon.core.derive import defjvp, linear
from gnomon.core.primitive import Primitive
from gnomon.core.rule import batch_rule, lower, typing_rule
from gnomon.core.structural import full, select_n, zeros_like_aval
from gnomon.core.trace import Tracer
from gnomon.core.types import ShapedArray, typeof
from gnomon.core.zero import Zero
from gnomon.lax._arithmetic import add_p, max_p, min_p
from gnomon.lax._bitwise import bitwise_and, bitwise_not, bitwise_or
from gnomon.lax._comparison import eq, ge_p, le_p
from gnomon.lax._families import ANY, NUMBER, Kinds, check_dtype
from gnomon.lax._loops import on_cpu, wider
from gnomon.lax._reduce import initial_value, only_operation, scalar_program
from gnomon.lax._reduction import extremum, greatest, least, operation
from gnomon.lax._shape import pad_p
from gnomon.lax._windows_general import reduce_window_p as reduce_window_p
from gnomon.lax._windows_select import select_and_gather_add_p as select_and_gather_add_p
from gnomon.lax._windows_select import (
  select_and_scatter_add_p as select_and_scatter_add_p,
)
from gnomon.lax._windows_select import select_and_scatter_p as select_and_scatter_p
from gnomon.lax._windows_select import window_attributes
from gnomon.lax._windows_shape import (
  Windows,
  check_windows,
  elements,
  windows_over,
)
from gnomon.tree_util import tree_flatten, tree_unflatten

Values = Sequence[Any]


def reduce_window(
    operand: Any, init_value: Any, computation: Callable[..., Any],
    window_dimensions: Sequence[int], window_strides: Sequence[int] | None = None,
    padding: str | Sequence[tuple[int, int]] = "VALID",
    base_dilation: Sequence[int] | None = None,
    window_dilation: Sequence[int] | None = None) -> Any:
  """Combines the elements of each of many windows with a function of two scalars.

  Sums, maxima and minima are recognised; their derivatives are cheapest. A maximum gives
  its derivative to the first element of the window that attains it.

  Args:
    operand: an array, or a pytree of arrays of one shape.
    init_value: the scalars to begin with, in the same structure: an identity of the
      computation. It may enter several times. Padding and gaps are filled with it.
    computation: an associative function of two pytrees of scalars.
    window_dimensions: sizes of the windows, one a dimension of the operand.
    window_strides: steps from one window to the next; None for ones.
    padding: `"VALID"`, `"SAME"`, `"SAME_LOWER"`, see `padtype_to_pads`, or pairs of sizes
      before and after; negative ones cut off.
    base_dilation: how far the operand's elements are pulled apart; None for not at all.
    window_dilation: how far the elements of a window are apart.

  Returns:
    An array or a pytree of arrays, with an element a window.

  >>> from gnomon import lax
  >>> lax.reduce_window(lax.iota("int32", 5), 0, lax.add, (2,)).tolist()
  [1, 3, 5, 7]
  >>> lax.reduce_window(lax.iota("float32", 4), 0.0, lax.max, (3,), (2,), "SAME").tolist()
  [2.0, 3.0]

  Raises:
    TypeError: sizes are missing or not positive, shapes or dtypes of operands differ, an
      initial value is not a scalar, or the computation returns other types.
    ValueError: structures differ, there is no operand, or padding is neither a string nor
      a sequence of pairs.
    RuntimeError: there is no padding of that name.
    NotImplementedError: the computation depends on other traced values.
  """
  xs, tree = tree_flatten(operand)
  inits, init_tree = tree_flatten(init_value)
  if tree != init_tree:
    raise ValueError(
        "Operands must have the same tree structure as init_values: reduce_window got "
        f"{tree} and {init_tree}")
  if not xs:
    raise ValueError("reduce_window must have at least one operand.")
  shapes = [typeof(v).shape for v in inits]
  if any(shapes):
    raise TypeError(
        "reduce_window expected init_values to be scalars but init_values have shapes "
        f"{shapes}.")
  w = windows_over(
      "reduce_window", typeof(xs[0]).shape, window_dimensions, window_strides, padding,
      base_dilation, window_dilation)
  if len(xs) == 1:
    known = _known_reduction(computation, xs[0], inits[0], w)
    if known is not None:
      return tree_unflatten(tree, [known])
  inits = [initial_value("reduce_window", x, v) for x, v in zip(xs, inits)]
  scalars = [
      ShapedArray((), typeof(x).dtype, typeof(x).weak_type and typeof(v).weak_type)
      for x, v in zip(xs, inits)]
  jaxpr = scalar_program("reduce_window", computation, tree, scalars)
  return tree_unflatten(tree, reduce_window_p.apply(
      *xs, *inits, jaxpr=jaxpr, **w._asdict()))


def _known_reduction(computation: Any, x: Any, init: Any, w: Windows) -> Any:
  """The result of a reduction with a primitive of its own, or None."""
  aval = typeof(x)
  if isinstance(init, Tracer) or isinstance(aval.dtype, dtypes.ExtendedDType):
    return None
  value = np.asarray(init)
  candidates = [
      p for p, start in (
          (add_p, lambda dtype: 0), (max_p, least), (min_p, greatest))
      if value == np.asarray(start(aval.dtype)).astype(aval.dtype)]
  if not candidates:
    return None
  scalar = ShapedArray((), aval.dtype)
  _, tree = tree_flatten(0)
  p = only_operation(scalar_program("reduce_window", computation, tree, [scalar]))
  if p not in candidates or (p is add_p and aval.dtype == np.bool_):
    return None
  return _KNOWN[p].apply(x, **w._asdict())[0]


# ---- sums and extrema


def _reduction(
    name: str, kinds: Kinds, combine: Callable[..., Any],
    start: Callable[[Any], Any]) -> Primitive:
  """A reduction over windows without its derivative.

  On CPUs one dimension is reduced after the other: so many fewer elements are combined
  (for windows of 15 by 15, 30 instead of 225 a result).
  """
  p = Primitive(name)

  @typing_rule.define(p)
  def _(x: ShapedArray, **params: Any) -> tuple[ShapedArray]:
    check_dtype(name, x, kinds)
    w = Windows(**params)
    check_windows(name, w, x.shape)
    return (x.update(shape=w.counts(x.shape)),)

  def emit(b: Any, x: Any, w: Windows, shape: tuple[int, ...], dtype: Any) -> Any:
    one = ShapedArray((), dtype)
    return b.region_op(
        "stablehlo.reduce_window", [b.tensor_of(w.counts(shape), dtype)],
        (x, b.constant(start(dtype), dtype)), window_attributes(b, w),
        [((b.tensor(one),) * 2, lambda u, v: [combine(b, u, v, one)])]).result

  @lower.define(p)
  def _(ctx: Any, x: Any, **params: Any) -> Values:
    b, source, w = ctx.b, ctx.avals_in[0], Windows(**params)
    passes = one_by_one(source.shape, w) if on_cpu(ctx) else [w]
    if len(passes) == 1:
      return [emit(b, x, w, source.shape, source.dtype)]
    wide = source.update(dtype=between(source.dtype))
    x, shape = b.convert(x, source, wide), source.shape
    for single in passes:
      x, shape = emit(b, x, single, shape, wide.dtype), single.counts(shape)
    return [b.convert(x, wide.update(shape=shape), ctx.avals_out[0])]

  @batch_rule.define(p)
  def _(axis: Any, args: Values, dims: Values, **params: Any) -> tuple[Values, Values]:
    w = Windows(**params).with_dimension(dims[0])
    return p.apply(args[0], **w._asdict()), dims

  return p


def one_by_one(shape: tuple[int, ...], w: Windows) -> list[Windows]:
  """Windows along one dimension each, which together are `w`; or only `w`.

  Those that leave the fewest elements come first.
  """
  counts, base = w.counts(shape), w.base(shape)
  wide = [d for d, n in enumerate(w.window_dimensions) if n > 1]
  if len(wide) < 2 or 0 in shape:
    return [w]
  few = math.prod(w.window_dimensions) <= sum(w.window_dimensions[d] for d in wide)
  if few and all(w.window_strides[d] == 1 for d in wide):
    return [w]  # 2 by 2, at each place: nothing is saved
  moved = [
      d for d in range(len(shape)) if d in wide or counts[d] != shape[d]
      or base[d] != shape[d] or w.padding[d] != (0, 0)]
  moved.sort(key=lambda d: counts[d] / shape[d])
  return [w.rearranged(partial(_only, d)) for d in moved]


def _only(d: int, values: tuple[Any, ...], plain: Any) -> tuple[Any, ...]:
  return tuple(v if i == d else plain for i, v in enumerate(values))


def between(dtype: Any) -> Any:
  """The dtype of what one pass hands to the next, so that it is rounded once."""
  small = dtypes.issubdtype(dtype, np.floating) and dtypes.itemsize_bits(dtype) < 32
  return wider(dtype) if small else dtype


reduce_window_sum_p = _reduction(
    "reduce_window_sum", NUMBER, operation("add"), lambda dtype: 0)
reduce_window_max_p = _reduction("reduce_window_max", ANY, extremum("maximum"), least)
reduce_window_min_p = _reduction("reduce_window_min", ANY, extremum("minimum"), greatest)
_KNOWN: dict[Primitive | None, Primitive] = {
    add_p: reduce_window_sum_p, max_p: reduce_window_max_p, min_p: reduce_window_min_p}


def _transpose_sum(cts: Values, args: Values, **params: Any) -> list[Any]:
  """Sums over the windows of results that an element is in."""
  x, ct, w = args[0].aval, cts[0], Windows(**params)
  if type(ct) is Zero or typeof(ct).size == 0:
    return [Zero(x)]
  config = tuple(
      (low, high, s - 1) for (low, high), s in zip(w.back(x.shape), w.window_strides))
  zero = full((), 0, x.dtype)
  spread = pad_p.apply(ct, zero, padding_config=config)[0]
  n = len(config)
  back = Windows(
      w.window_dimensions, w.base_dilation, ((0, 0),) * n, (1,) * n, w.window_dilation)
  return list(reduce_window_sum_p.apply(spread, **back._asdict()))


linear(reduce_window_sum_p, _transpose_sum)


def _extremum_derivative(select_prim: Primitive) -> Callable[..., Any]:
  """The tangent of the first element that attains the extremum."""
  def derivative(t: Any, ans: Any, x: Any, **params: Any) -> Any:
    if dtypes.issubdtype(typeof(x).dtype, np.complexfloating):
      return _first_equal(t, ans, x, Windows(**params))
    return select_and_gather_add_p.apply(t, x, select_prim=select_prim, **params)[0]

  return derivative


def _first_equal(t: Any, ans: Any, x: Any, w: Windows) -> Any:
  """The same for numbers that have no order that `select_and_gather_add` knows."""
  dtype, shape = typeof(x).dtype, typeof(ans).shape
  zero = full((), 0, dtype)
  total, found = zeros_like_aval(typeof(ans)), full(shape, False, np.bool_)
  for v, tv in zip(elements(x, w, zero), elements(t, w, zero)):
    here = eq(v, ans)
    total = select_n(bitwise_and(here, bitwise_not(found)), total, tv)
    found = bitwise_or(found, here)
  return total


defjvp(reduce_window_max_p, _extremum_derivative(ge_p))
defjvp(reduce_window_min_p, _extremum_derivative(le_p))
