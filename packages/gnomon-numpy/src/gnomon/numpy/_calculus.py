"""Differences, gradients, integrals of samples."""

from __future__ import annotations

from collections.abc import Sequence
from operator import index
from typing import Any

import numpy as np

from gnomon import lax
from gnomon.core import dtypes
from gnomon.core.structural import convert, reduce_sum, select_n
from gnomon.core.types import typeof
from gnomon.numpy import _promotion
from gnomon.numpy._arithmetic import remainder
from gnomon.numpy._compiled import compiled
from gnomon.numpy._promotion import (
  canonical_axes,
  canonical_axis,
  promote_dtypes,
  promote_dtypes_inexact,
)
from gnomon.numpy._values import (
  array_of,
  arrays_of,
  choose,
  is_kind,
  one_array,
  scalar,
  spread,
)


def _pair(x: Any, axis: int) -> tuple[Any, Any]:
  """All but the first, and all but the last along an axis."""
  n = typeof(x).shape[axis]
  return (
      lax.slice_in_dim(x, min(1, n), n, axis=axis),
      lax.slice_in_dim(x, 0, max(n - 1, 0), axis=axis))


def _step(x: Any, axis: int) -> Any:
  after, before = _pair(x, axis)
  return lax.ne(after, before) if is_kind(x, np.bool_) else lax.sub(after, before)


@compiled(static=("n", "axis"))
def diff(
    a: Any, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> Any:
  """Differences of neighbours along an axis; of booleans, whether they differ.

  Args:
    a: an array of at least one dimension.
    n: how many times to take differences.
    axis: along which.
    prepend: values to put before and after `a` first: arrays, or scalars.
    append: the same.

  >>> import gnomon.numpy as gnp
  >>> gnp.diff(gnp.array([1, 4, 9])).tolist()
  [3, 5]

  Raises:
    TypeError: an argument is no array and no number.
    ValueError: `a` is a scalar, `n` is negative, or the axis is out of range.
  """
  x = one_array("diff", a)
  n = index(n)
  if n < 0:
    raise ValueError(f"diff: order must be non-negative but got {n}")
  if not n:
    return x
  if not typeof(x).ndim:
    raise ValueError(
        f"diff requires input that is at least one dimensional, got {typeof(x)}")
  axis = canonical_axis(axis, typeof(x).ndim, "diff")
  parts = [_border("diff", prepend, x, axis), x, _border("diff", append, x, axis)]
  parts = [array_of(p) for p in promote_dtypes(*[p for p in parts if p is not None])]
  x = parts[0] if len(parts) == 1 else lax.concatenate(parts, axis)
  for _ in range(n):
    x = _step(x, axis)
  return x


def _border(name: str, value: Any, x: Any, axis: int) -> Any:
  if value is None:
    return None
  value = one_array(name, value)
  if typeof(value).ndim:
    return value
  shape = typeof(x).shape
  return spread(name, value, (*shape[:axis], 1, *shape[axis + 1:]))


@compiled()
def ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> Any:
  """Differences of neighbours of the flattened array, between given values.

  Args:
    ary: an array.
    to_end: what comes after and before the differences; of their dtype.
    to_begin: the same.

  >>> import gnomon.numpy as gnp
  >>> gnp.ediff1d(gnp.array([1, 4, 9]), to_begin=0).tolist()
  [0, 3, 5]

  Raises:
    TypeError: an argument is no array and no number.
  """
  x = one_array("ediff1d", ary)
  steps = _step(lax.reshape(x, (typeof(x).size,)), 0)
  parts = [steps]
  if to_begin is not None:
    parts.insert(0, _flat_as("ediff1d", to_begin, steps))
  if to_end is not None:
    parts.append(_flat_as("ediff1d", to_end, steps))
  return parts[0] if len(parts) == 1 else lax.concatenate(parts, 0)


def _flat_as(name: str, value: Any, like: Any) -> Any:
  value = one_array(name, value)
  flat = lax.reshape(value, (typeof(value).size,))
  return convert(flat, typeof(like).dtype, typeof(like).weak_type)


# ---- gradients


@compiled(static=("axis", "edge_order"))
def gradient(
    f: Any, *varargs: Any, axis: int | Sequence[int] | None = None,
    edge_order: int | None = None) -> Any:
  """Slopes of samples: central differences inside, one-sided ones at the edges.

  Args:
    f: an array of samples.
    varargs: the distances of samples: none for 1, one scalar for all axes, or one an
      axis: a scalar, or a vector of the samples' coordinates.
    axis: along which axes; None for all.
    edge_order: 1 or 2: of which order differences at the edges are; None for 1.

  >>> import gnomon.numpy as gnp
  >>> gnp.gradient(gnp.array([1.0, 4.0, 9.0])).tolist()
  [3.0, 4.0, 5.0]

  Returns:
    An array for one axis; a list of arrays for several.

  Raises:
    TypeError: there are not so many distances as axes.
    ValueError: there are too few samples along an axis, or an axis is out of range.
  """
  order = 1 if edge_order is None else edge_order
  if order not in (1, 2):
    raise ValueError(f"gradient: edge_order must be 1 or 2, got {edge_order!r}")
  values = [array_of(x) for x in promote_dtypes_inexact(*arrays_of("gradient", f,
      *varargs))]
  x, spacings = values[0], values[1:]
  shape = typeof(x).shape
  axes = canonical_axes(axis, len(shape), "gradient")
  if len(spacings) == 0:
    spacings = [scalar(1, typeof(x).dtype)] * len(axes)
  elif len(spacings) == 1 and not typeof(spacings[0]).ndim:
    spacings *= len(axes)
  if len(spacings) != len(axes):
    raise TypeError(
        f"gradient: Invalid number of spacing arguments {len(spacings)} for axis={axis}: "
        f"give none, one scalar, or {len(axes)}")
  dtype, weak = typeof(x).dtype, typeof(x).weak_type
  out = [convert(_slope(x, h, d, order), dtype, weak) for h, d in zip(spacings, axes)]
  return out[0] if len(axes) == 1 else out


def _slope(x: Any, h: Any, axis: int, order: int) -> Any:
  shape = typeof(x).shape
  n = shape[axis]
  if n < order + 1:
    raise ValueError(
        f"gradient: Shape of array too small to calculate a numerical gradient, at least "
        f"{order + 1} elements are required along axis {axis}; the shape is {shape}")

  def part(start: int, stop: int) -> Any:
    return lax.slice_in_dim(x, start, stop, axis=axis)

  step = typeof(h).ndim and _spaces(h, shape, axis)
  if not typeof(h).ndim:
    inside = lax.div(lax.sub(part(2, n), part(0, n - 2)), _twice(h))
  else:
    before, after = (lax.slice_in_dim(step, i, i + n - 2, axis=axis) for i in (0, 1))
    inside = _uneven(part(0, n - 2), part(1, n - 1), part(2, n), before, after)

  def edge(at: int, sign: int) -> Any:
    def gap(i: int) -> Any:
      return lax.slice_in_dim(step, i, i + 1, axis=axis) if typeof(h).ndim else h

    first, second = (at, at + sign)
    near, far = part(first, first + 1), part(second, second + 1)
    if order == 1:
      rise = lax.sub(far, near) if sign > 0 else lax.sub(near, far)
      return lax.div(rise, _like(gap(0 if sign > 0 else n - 2), x))
    third = part(at + 2 * sign, at + 2 * sign + 1)
    one, two = (gap(0), gap(1)) if sign > 0 else (gap(n - 2), gap(n - 3))
    out = _one_sided(near, far, third, one, two, x)
    return out if sign > 0 else lax.neg(out)

  return lax.concatenate([edge(0, 1), inside, edge(n - 1, -1)], axis)


def _twice(h: Any) -> Any:
  return np.add(h, h) if isinstance(h, np.generic) else lax.add(h, h)


def _like(h: Any, x: Any) -> Any:
  """A spacing as an operand that broadcasts: a scalar, or of the rank of `x`."""
  return h if not typeof(h).ndim else lax.broadcast_to_rank(h, typeof(x).ndim)


def _spaces(h: Any, shape: tuple[int, ...], axis: int) -> Any:
  """Distances of neighbouring coordinates, for each sample along an axis."""
  if typeof(h).shape != (shape[axis],):
    raise ValueError(
        "gradient: Spacing arrays must have the same length as the dimension along which "
        f"the gradient is calculated: got {typeof(h).shape} for axis {axis} of {shape}")
  step = _step(h, 0)
  wide = (*shape[:axis], shape[axis] - 1, *shape[axis + 1:])
  return lax.broadcast_in_dim(step, wide, (axis,))


def _uneven(before: Any, here: Any, after: Any, h: Any, k: Any) -> Any:
  """Slope in the middle of the parabola through points at distances `h` and `k`."""
  left = lax.div(lax.sub(here, before), h)
  right = lax.div(lax.sub(after, here), k)
  both = lax.add(h, k)
  return lax.div(lax.add(lax.mul(left, k), lax.mul(right, h)), both)


def _one_sided(near: Any, far: Any, third: Any, h: Any, k: Any, x: Any) -> Any:
  """Slope of the parabola through three points at distances `h` and `k`, at the first."""
  shape = typeof(near).shape
  h, k = (spread("gradient", array_of(_like(g, x)), shape) for g in (h, k))
  first = lax.div(lax.sub(far, near), h)
  second = lax.div(lax.sub(third, far), k)
  both = lax.add(h, k)
  return lax.sub(first, lax.mul(lax.div(h, both), lax.sub(second, first)))


# ---- integrals


@compiled(static=("axis",))
def trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Any:
  """The integral of samples along an axis, by the trapezoidal rule.

  Args:
    y: an array of samples.
    x: their coordinates: a vector, or an array that broadcasts to `y`; None for equal
      distances.
    dx: the distance of samples where `x` is None.
    axis: along which.

  >>> import gnomon.numpy as gnp
  >>> gnp.trapezoid(gnp.array([1.0, 2.0, 5.0])).item()
  5.0

  Raises:
    TypeError: an argument is no array and no number.
    ValueError: the axis is out of range, or the shapes do not fit.
  """
  if x is None:
    values, gap = arrays_of("trapezoid", y, dx)
    values, gap = [
        array_of(v) for v in promote_dtypes(*promote_dtypes_inexact(values), gap)]
    axis = canonical_axis(axis, typeof(values).ndim, "trapezoid")
  else:
    values, places = [array_of(v) for v in promote_dtypes_inexact(
        *arrays_of("trapezoid", y, x))]
    axis = canonical_axis(axis, typeof(values).ndim, "trapezoid")
    gap = _gaps(places, typeof(values).shape, axis)
  after, before = _pair(values, axis)
  heights = lax.add(after, before)
  shape = _promotion.broadcast_shapes(
      "trapezoid", typeof(heights).shape, typeof(gap).shape)
  area = lax.mul(spread("trapezoid", heights, shape), spread("trapezoid", gap, shape))
  total = reduce_sum(area, (axis + len(shape) - typeof(values).ndim,))
  return lax.mul(scalar(0.5, typeof(total).dtype), total)


def _gaps(x: Any, shape: tuple[int, ...], axis: int) -> Any:
  """Distances of samples along an axis, which is counted from the end if ranks differ."""
  if typeof(x).ndim != 1:
    return _step(x, canonical_axis(axis - len(shape), typeof(x).ndim, "trapezoid"))
  step = _step(x, 0)
  return lax.broadcast_in_dim(
      step, (*(1,) * axis, typeof(step).shape[0], *(1,) * (len(shape) - axis - 1)),
      (axis,))


@compiled(static=("axis",))
def unwrap(
    p: Any, discont: Any = None, axis: int = -1, period: Any = 2 * np.pi) -> Any:
  """Removes jumps by whole periods between neighbours along an axis.

  Args:
    p: an array of phases.
    discont: only jumps larger than this are removed; by default half a period.
    axis: along which.
    period: the period; of integers, the result is integer too.

  >>> import gnomon.numpy as gnp
  >>> gnp.unwrap(gnp.array([0, 3, 1, 2]), period=4).tolist()
  [0, -1, -3, -2]

  Raises:
    TypeError: an argument is no array and no number.
    ValueError: the axis is out of range.
  """
  x = one_array("unwrap", p)
  dtype, _ = dtypes.lattice_result_type(x, period)
  dtype = dtypes.canonicalize_dtype(dtype)
  if is_kind(x, np.complexfloating):
    raise TypeError(f"unwrap does not accept complex phases, got {typeof(x)}")
  x, period = convert(x, dtype), convert(one_array("unwrap", period), dtype)
  axis = canonical_axis(axis, typeof(x).ndim, "unwrap")
  if not typeof(x).shape[axis]:
    return x
  step = _step(x, axis)
  two, zero = scalar(2, dtype), scalar(0, dtype)
  half = lax.div(period, two)
  least = lax.neg(half)
  near = lax.add(remainder(lax.sub(step, least), period), least)
  shape = typeof(step).shape
  if dtypes.issubdtype(dtype, np.integer):
    odd = lax.ne(lax.rem(period, two), zero)
    even = lax.broadcast_in_dim(lax.bitwise_not(odd), shape, ())
  else:
    even = lax.full(shape, True, np.bool_)
  # A jump of exactly half a period upwards stays upwards.
  tie = lax.bitwise_and(lax.eq(near, least), lax.gt(step, zero))
  near = select_n(lax.bitwise_and(tie, even), near, lax.full(shape, half, dtype))
  if discont is None:
    small = lax.lt(lax.abs(step), half)
  else:
    limit = lax.broadcast_in_dim(one_array("unwrap", discont), shape, ())
    small = lax.lt(*[array_of(v) for v in promote_dtypes(lax.abs(step), limit)])
  fix = choose(lax.bitwise_not(small), lax.sub(near, step), zero)
  first = lax.slice_in_dim(x, 0, 1, axis=axis)
  rest = lax.slice_in_dim(x, 1, typeof(x).shape[axis], axis=axis)
  return lax.concatenate([first, lax.add(rest, lax.cumsum(fix, axis=axis))], axis)
