"""Cumulative sums, products and extrema, and linear recurrences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import index as as_int
from typing import Any

import numpy as np

from gnomon.core import dtypes
from gnomon.core.derive import defjvp, linear
from gnomon.core.primitive import Primitive
from gnomon.core.rule import batch_rule, lower, transpose_rule, typing_rule
from gnomon.core.structural import full, select_n
from gnomon.core.types import ShapedArray, typeof
from gnomon.core.zero import UndefinedPrimal, Zero
from gnomon.lax._along import take_along
from gnomon.lax._arithmetic import add, max, mul, neg, sub
from gnomon.lax._comparison import eq, ne
from gnomon.lax._complex import abs
from gnomon.lax._creation import iota_p
from gnomon.lax._exponential import exp, log1p
from gnomon.lax._families import INEXACT, NUMBER, Kinds, check_dtype
from gnomon.lax._loops import emit_recurrence, on_cpu
from gnomon.lax._programs import emit
from gnomon.lax._reduction import extremum, greatest, least, operation
from gnomon.lax._rounding import is_finite
from gnomon.lax._shape import pad_p, same_dim
from gnomon.lax._strong import times

Values = Sequence[Any]


def cumsum(operand: Any, axis: int = 0, reverse: bool = False) -> Any:
  """Sums of the first elements along an axis: of one, two, three, ….

  Args:
    operand: an array of numbers (not bool).
    axis: the axis, counted from 0.
    reverse: sums the last elements instead: of all, all but the first, ….

  Returns:
    An array of the operand's type.

  >>> from gnomon import lax
  >>> lax.cumsum(lax.iota("int32", 4)).tolist()
  [0, 1, 3, 6]

  Raises:
    TypeError: the operand is bool.
    ValueError: there is no such axis.
  """
  return cumsum_p.apply(operand, axis=as_int(axis), reverse=bool(reverse))[0]


def cumprod(operand: Any, axis: int = 0, reverse: bool = False) -> Any:
  """Products of the first elements along an axis: of one, two, three, ….

  Args:
    operand: an array of numbers (not bool).
    axis: the axis, counted from 0.
    reverse: multiplies the last elements instead.

  Returns:
    An array of the operand's type.

  >>> from gnomon import lax
  >>> lax.cumprod(lax.full((4,), 2)).tolist()
  [2, 4, 8, 16]

  Raises:
    TypeError: the operand is bool.
    ValueError: there is no such axis.
  """
  return cumprod_p.apply(operand, axis=as_int(axis), reverse=bool(reverse))[0]


def cummax(operand: Any, axis: int = 0, reverse: bool = False) -> Any:
  """The largest of the first elements along an axis: of one, two, three, ….

  From a nan on, nan. Where several elements attain the maximum, the derivative is that of
  the first of them.

  Args:
    operand: an array of numbers (not bool).
    axis: the axis, counted from 0.
    reverse: takes the last elements instead.

  Returns:
    An array of the operand's type.

  >>> from gnomon import lax
  >>> import numpy as np
  >>> lax.cummax(np.int32([1, 3, 2, 4])).tolist()
  [1, 3, 3, 4]

  Raises:
    TypeError: the operand is bool.
    ValueError: there is no such axis.
  """
  return cummax_p.apply(operand, axis=as_int(axis), reverse=bool(reverse))[0]


def cummin(operand: Any, axis: int = 0, reverse: bool = False) -> Any:
  """The smallest of the first elements along an axis: of one, two, three, ….

  From a nan on, nan. Where several elements attain the minimum, the derivative is that of
  the first of them.

  Args:
    operand: an array of numbers (not bool).
    axis: the axis, counted from 0.
    reverse: takes the last elements instead.

  Returns:
    An array of the operand's type.

  >>> from gnomon import lax
  >>> import numpy as np
  >>> lax.cummin(np.int32([3, 1, 2, 0])).tolist()
  [3, 1, 1, 0]

  Raises:
    TypeError: the operand is bool.
    ValueError: there is no such axis.
  """
  return cummin_p.apply(operand, axis=as_int(axis), reverse=bool(reverse))[0]


def cumlogsumexp(operand: Any, axis: int = 0, reverse: bool = False) -> Any:
  r"""Logarithms of the sums of exponentials of the first elements along an axis.

  :math:`y_i = \log \sum_{j \le i} e^{x_j}`, without overflow.

  Args:
    operand: a floating-point or complex array.
    axis: the axis, counted from 0.
    reverse: takes the last elements instead.

  Returns:
    An array of the operand's type.

  >>> from gnomon import lax
  >>> lax.cumlogsumexp(lax.full((3,), 0.0)).tolist()
  [0.0, 0.6931471824645996, 1.0986123085021973]

  Raises:
    TypeError: the operand is neither floating-point nor complex.
    ValueError: there is no such axis.
  """
  return cumlogsumexp_p.apply(operand, axis=as_int(axis), reverse=bool(reverse))[0]


# ---- what they share


def check_axis(name: str, axis: int, x: ShapedArray) -> None:
  """Raises `ValueError` unless the axis is one of the operand's, counted from 0."""
  if not 0 <= axis < x.ndim:
    raise ValueError(
        f"{name}: axis {axis} is out of bounds for {x}; axes are counted from 0")


def shifted(x: Any, axis: int, reverse: bool, filler: Any, by: int = 1) -> Any:
  """The element before each one, in the order of accumulation; `filler` at the start."""
  aval = typeof(x)
  edge = (-by, by, 0) if reverse else (by, -by, 0)
  value = np.asarray(filler, aval.dtype)[()]
  return pad_p.apply(x, value, padding_config=tuple(
      edge if d == axis else (0, 0, 0) for d in range(aval.ndim)))[0]


Combine = Callable[..., Any]


def _cumulative(
    name: str, kinds: Kinds, combine: Combine, start: Callable[[Any], Any]) -> Primitive:
  """A cumulative operation without its derivative; `combine` emits the operation."""
  p = _typed(name, kinds)

  def step(b: Any, carry: list[Any], rows: list[Any], row: ShapedArray) -> Any:
    total = combine(b, carry[0], rows[0], row)
    return [total], total

  @lower.define(p)
  def _(ctx: Any, x: Any, *, axis: int, reverse: bool) -> Values:
    first = start(ctx.avals_in[0].dtype)
    if on_cpu(ctx):
      return [emit_recurrence(
          ctx, (x,), axis=axis, reverse=reverse, starts=(first,), step=step, at_once=8)]
    return [_windows(ctx, x, axis, reverse, combine, first)]

  return p


def _typed(name: str, kinds: Kinds) -> Primitive:
  p = Primitive(name)

  @typing_rule.define(p)
  def _(x: ShapedArray, *, axis: int, reverse: bool) -> tuple[ShapedArray]:
    check_dtype(name, x, kinds)
    check_axis(name, axis, x)
    return (x,)

  @batch_rule.define(p)
  def _(axis_: Any, args: Values, dims: Values, *, axis: int,
        reverse: bool) -> tuple[Values, Values]:
    return p.apply(args[0], axis=axis + (dims[0] <= axis), reverse=reverse), dims

  return p


def _windows(
    ctx: Any, x: Any, axis: int, reverse: bool, combine: Combine, first: Any) -> Any:
  """A reduction over windows as long as the axis: accelerators' compilers split these."""
  b, aval = ctx.b, ctx.avals_in[0]
  if aval.size == 0:
    return x
  one = ShapedArray((), aval.dtype)
  sizes, n = [1] * aval.ndim, aval.shape[axis]
  sizes[axis] = n
  padding = [(0, 0)] * aval.ndim
  padding[axis] = (0, n - 1) if reverse else (n - 1, 0)
  ones = b.i64s([1] * aval.ndim)
  op = b.region_op(
      "stablehlo.reduce_window", [b.tensor(aval)], (x, b.constant(first, aval.dtype)), {
          "window_dimensions": b.i64s(sizes), "window_strides": ones,
          "base_dilations": ones, "window_dilations": ones,
          "padding": b.i64_matrix(padding)},
      [((b.tensor(one),) * 2, lambda u, v: [combine(b, u, v, one)])])
  return op.result


# ---- sums, and recurrences


def _nothing(dtype: Any) -> Any:
  """What sums begin with: adding -0.0 keeps the sign of zeros."""
  if dtypes.issubdtype(dtype, np.complexfloating):
    return complex(-0.0, -0.0)
  return -0.0 if dtypes.issubdtype(dtype, np.floating) else 0


cumsum_p = _cumulative("cumsum", NUMBER, operation("add"), _nothing)


def _transpose_cumsum(
    cts: Values, args: Values, *, axis: int, reverse: bool) -> list[Any]:
  return [cumsum(cts[0], axis, not reverse)]


linear(cumsum_p, _transpose_cumsum)


def linear_recurrence(a: Any, b: Any, axis: int, reverse: bool) -> Any:
  """The solution of `y[i] = a[i] y[i - 1] + b[i]` along an axis, from zero.

  With `reverse`, from the end: `y[i] = a[i] y[i + 1] + b[i]`. The derivatives of
  cumulative operations are such recurrences.
  """
  return linear_recurrence_p.apply(a, b, axis=axis, reverse=reverse)[0]


linear_recurrence_p = Primitive("linear_recurrence")


@typing_rule.define(linear_recurrence_p)
def _(a: ShapedArray, b: ShapedArray, *, axis: int, reverse: bool) -> tuple[ShapedArray]:
  if a.shape != b.shape or a.dtype != b.dtype:
    raise TypeError(f"linear_recurrence needs operands of one type, got {a} and {b}")
  check_axis("linear_recurrence", axis, a)
  return (b.strip_weak_type(),)


def _recurrence_step(
    b: Any, carry: list[Any], rows: list[Any], row: ShapedArray) -> tuple[list[Any], Any]:
  kind = b.tensor(row)
  new, factor = rows
  kept = b.op1("stablehlo.multiply", kind, (factor, carry[0]))
  total = b.op1("stablehlo.add", kind, (kept, new))
  return [total], total


def _doubling(a: Any, b: Any, *, axis: int, reverse: bool) -> list[Any]:
  """The recurrence in as many steps as its length has bits: for parallel machines."""
  by, n = 1, typeof(a).shape[axis]
  while by < n:
    b = add(b, mul(a, shifted(b, axis, reverse, 0, by)))
    a = mul(a, shifted(a, axis, reverse, 1, by))
    by *= 2
  return [b]


@lower.define(linear_recurrence_p)
def _(ctx: Any, a: Any, b: Any, *, axis: int, reverse: bool) -> Values:
  if not on_cpu(ctx):
    return emit(ctx, _doubling, ctx.avals_in, (a, b), axis=axis, reverse=reverse)
  return [emit_recurrence(
      ctx, (b, a), axis=axis, reverse=reverse, starts=(0,), step=_recurrence_step)]


defjvp(
    linear_recurrence_p,
    lambda t, ans, a, b, axis, reverse: linear_recurrence(
        a, times(t, shifted(ans, axis, reverse, 0)), axis, reverse),
    lambda t, ans, a, b, axis, reverse: linear_recurrence(a, t, axis, reverse))


@transpose_rule.define(linear_recurrence_p)
def _(cts: Values, args: Values, *, axis: int, reverse: bool) -> list[Any]:
  (a, b), ct = args, cts[0]
  if type(ct) is Zero or type(b) is not UndefinedPrimal:
    return [None, ct]
  after = shifted(a, axis, not reverse, 0)
  return [None, linear_recurrence(after, ct, axis, not reverse)]


@batch_rule.define(linear_recurrence_p)
def _(axis_: Any, args: Values, dims: Values, *, axis: int,
      reverse: bool) -> tuple[Values, Values]:
  xs, d = same_dim(axis_, args, dims)
  return linear_recurrence_p.apply(*xs, axis=axis + (d <= axis), reverse=reverse), (d,)


# ---- products

cumprod_p = _cumulative("cumprod", NUMBER, operation("multiply"), lambda dtype: 1)


def _cumprod_derivative(t: Any, ans: Any, x: Any, *, axis: int, reverse: bool) -> Any:
  """`y' = x y'[before] + x' y[before]`: right where elements are zero, too."""
  before = shifted(ans, axis, reverse, 1)
  return linear_recurrence(x, times(t, before), axis, reverse)


defjvp(cumprod_p, _cumprod_derivative)


# ---- extrema

cummax_p = _cumulative("cummax", NUMBER, extremum("maximum"), least)
cummin_p = _cumulative("cummin", NUMBER, extremum("minimum"), greatest)


def _first_attained(t: Any, ans: Any, x: Any, *, axis: int, reverse: bool) -> Any:
  """The tangent of the element at which the extremum was first attained."""
  shape = typeof(ans).shape
  n = shape[axis]
  if n == 0:
    return t
  kind = np.dtype("int32" if n < 2 ** 31 else "int64")
  places = iota_p.apply(dtype=kind, shape=shape, dimension=axis, sharding=None)[0]
  start = eq(places, np.asarray(n - 1 if reverse else 0, kind)[()])
  changed = ne(ans, shifted(ans, axis, reverse, 0))
  new = select_n(start, changed, full(shape, True, np.bool_))
  if reverse:
    where = cummin(select_n(new, full(shape, n - 1, kind), places), axis, True)
  else:
    where = cummax(select_n(new, full(shape, 0, kind), places), axis)
  return take_along(t, where, axis, unique=False)


defjvp(cummax_p, _first_attained)
defjvp(cummin_p, _first_attained)


# ---- logarithms of sums of exponentials

cumlogsumexp_p = _typed("cumlogsumexp", INEXACT)


def _log_sum_step(
    b: Any, carry: list[Any], rows: list[Any], row: ShapedArray) -> tuple[list[Any], Any]:
  """Carries the greatest real part, and the sum relative to it.

  Where that is infinite, the sum is relative to zero instead.
  """
  kind = b.tensor(row)
  part = row
  if dtypes.issubdtype(row.dtype, np.complexfloating):
    part = ShapedArray(row.shape, np.finfo(row.dtype).dtype)
  real = b.tensor(part)

  def op(name: str, *xs: Any, of: Any = kind) -> Any:
    return b.op1(f"stablehlo.{name}", of, xs)

  def to_real(z: Any) -> Any:
    return z if part is row else op("real", z, of=real)

  def whole(r: Any) -> Any:
    return r if part is row else op("convert", r)

  zero = b.full(part, 0)
  flags = b.tensor_of(row.shape, np.dtype(bool))

  def base(m: Any) -> Any:
    return op("select", op("is_finite", m, of=flags), m, zero, of=real)

  (before, total), (x,) = carry, rows
  before = to_real(before)
  best = op("maximum", before, to_real(x), of=real)
  new = base(best)
  drop = op("minimum", op("subtract", base(before), new, of=real), zero, of=real)
  scaled = op("multiply", total, whole(op("exponential", drop, of=real)))
  total = op("add", scaled, op("exponential", op("subtract", x, whole(new))))
  out = op("add", op("log", total), whole(new))
  return [whole(best), total], out


def _log_sum_doubling(x: Any, *, axis: int, reverse: bool) -> list[Any]:
  """The same in as many steps as the axis' length has bits: for parallel machines."""
  by, n = 1, typeof(x).shape[axis]
  while by < n:
    x = _log_add(x, shifted(x, axis, reverse, -np.inf, by))
    by *= 2
  return [x]


def _log_add(x: Any, y: Any) -> Any:
  """`log(exp(x) + exp(y))` of real numbers, infinite ones too."""
  zero = full(typeof(x).shape, 0, typeof(x).dtype)
  gap = select_n(eq(x, y), neg(abs(sub(x, y))), zero)
  return add(max(x, y), log1p(exp(gap)))


@lower.define(cumlogsumexp_p)
def _(ctx: Any, x: Any, *, axis: int, reverse: bool) -> Values:
  complex_ = dtypes.issubdtype(ctx.avals_in[0].dtype, np.complexfloating)
  if not complex_ and not on_cpu(ctx):
    return emit(ctx, _log_sum_doubling, ctx.avals_in, (x,), axis=axis, reverse=reverse)
  return [emit_recurrence(
      ctx, (x,), axis=axis, reverse=reverse, starts=(-np.inf, 0), step=_log_sum_step)]


def _log_sum_derivative(t: Any, ans: Any, x: Any, *, axis: int, reverse: bool) -> Any:
  """A weighted mean of tangents, whose weights change from one element to the next."""
  before = shifted(ans, axis, reverse, -np.inf)
  kept, new = _weight(before, ans), _weight(x, ans)
  return linear_recurrence(kept, mul(new, t), axis, reverse)


def _weight(x: Any, total: Any) -> Any:
  """`exp(x - total)`; beside an infinite total, 1 for infinity and 0 for all else."""
  aval = typeof(total)
  gap = sub(x, total)
  if dtypes.issubdtype(aval.dtype, np.complexfloating):
    return exp(gap)
  one, nothing = (full(aval.shape, v, aval.dtype) for v in (0, -np.inf))
  infinite = select_n(eq(x, np.asarray(np.inf, aval.dtype)[()]), nothing, one)
  return exp(select_n(is_finite(total), infinite, gap))


defjvp(cumlogsumexp_p, _log_sum_derivative)
