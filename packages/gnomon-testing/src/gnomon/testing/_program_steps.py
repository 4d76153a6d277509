"""The steps that random programs are made of: elementwise ops, shapes, contractions.

A rule takes hypothesis' `draw` and the values so far, and returns a step, or None where
the values do not fit it.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from hypothesis import strategies as st

from gnomon import lax
from gnomon.testing.program import Shape, Step, Value

Draw = Callable[..., Any]
Rule = Callable[[Draw, Sequence[Value]], Step | None]
Scalar = Callable[[float], float]
MOST = 24  # elements of a value


def _pick(draw: Draw, values: Sequence[Value]) -> int:
  return int(draw(st.integers(0, len(values) - 1)))


def _pick_where(
    draw: Draw, values: Sequence[Value], good: Callable[[Value], bool]) -> int | None:
  places = [i for i, v in enumerate(values) if good(v)]
  return draw(st.sampled_from(places)) if places else None


# --- elementwise ---------------------------------------------------------------------


def _unary(
    name: str, run: Any, reference: Any, bound: Scalar, slope: Scalar,
    margin: Any = None) -> Rule:
  def rule(draw: Draw, values: Sequence[Value]) -> Step:
    place = _pick(draw, values)
    v = values[place]
    result = Value(v.shape, bound(v.bound), slope(v.bound) * v.slope)
    return Step(name, lambda _, x: run(x), lambda _, x: reference(x), (place,), result,
                margin)
  return rule


def _one(_: float) -> float:
  return 1.0


squash = _unary("tanh", lax.tanh, np.tanh, _one, _one)

_UNARY = [
    squash,
    _unary("sin", lax.sin, np.sin, _one, _one),
    _unary("cos", lax.cos, np.cos, _one, _one),
    _unary("neg", lax.neg, np.negative, lambda b: b, _one),
    _unary("logistic", lax.logistic, lambda x: 1 / (1 + np.exp(-x)), _one,
           lambda b: 0.25),
    _unary("exp", lax.exp, np.exp, math.exp, math.exp),
    _unary("square", lambda x: lax.mul(x, x), np.square, lambda b: b * b,
           lambda b: 2 * b),
    _unary("integer_pow_3", lambda x: lax.integer_pow(x, 3), lambda x: x**3,
           lambda b: b**3, lambda b: 3 * b * b),
    _unary("half", lambda x: lax.mul(x, 0.5), lambda x: 0.5 * x, lambda b: b / 2,
           lambda b: 0.5),
    _unary("log1p_square", lambda x: lax.log1p(lax.mul(x, x)),
           lambda x: np.log1p(x * x), lambda b: math.log1p(b * b), _one),
    _unary("rsqrt_1_square", lambda x: lax.rsqrt(lax.add(lax.mul(x, x), 1.0)),
           lambda x: 1 / np.sqrt(x * x + 1), _one, _one),
    _unary("sqrt_1_square", lambda x: lax.sqrt(lax.add(lax.mul(x, x), 1.0)),
           lambda x: np.sqrt(x * x + 1), lambda b: b + 1, _one),
    _unary("atan_times_erf", lambda x: lax.mul(lax.atan(x), lax.logistic(x)),
           lambda x: np.arctan(x) / (1 + np.exp(-x)), lambda b: 1.6, lambda b: 1.6),
]


def _binary(
    name: str, run: Any, reference: Any,
    result: Callable[[Value, Value], tuple[float, float]], margin: Any = None) -> Rule:
  def rule(draw: Draw, values: Sequence[Value]) -> Step | None:
    first = _pick(draw, values)
    v = values[first]
    second = _pick_where(draw, values, lambda w: w.shape == v.shape)
    if second is None or (margin is not None and second == first):
      return None
    bound, slope = result(v, values[second])
    return Step(name, lambda _, x, y: run(x, y), lambda _, x, y: reference(x, y),
                (first, second), Value(v.shape, bound, slope), margin)
  return rule


def _sum(v: Value, w: Value) -> tuple[float, float]:
  return v.bound + w.bound, v.slope + w.slope


def _product(v: Value, w: Value) -> tuple[float, float]:
  return v.bound * w.bound, v.slope * w.bound + w.slope * v.bound


def _either(v: Value, w: Value) -> tuple[float, float]:
  return max(v.bound, w.bound), max(v.slope, w.slope)


def _distance(x: Any, y: Any) -> float:
  return float(np.min(np.abs(x - y), initial=np.inf))


_BINARY = [
    _binary("add", lax.add, np.add, _sum),
    _binary("sub", lax.sub, np.subtract, _sum),
    _binary("mul", lax.mul, np.multiply, _product),
    _binary("div_1_square", lambda x, y: lax.div(x, lax.add(lax.mul(y, y), 1.0)),
            lambda x, y: x / (1 + y * y),
            lambda v, w: (v.bound, v.slope + v.bound * w.slope)),
]


def _select_by_flag(draw: Draw, values: Sequence[Value]) -> Step | None:
  first = _pick(draw, values)
  second = _pick_where(draw, values, lambda w: w.shape == values[first].shape)
  assert second is not None
  least = draw(st.integers(0, 3))
  bound, slope = _either(values[first], values[second])
  return Step(
      f"select[flag > {least}]",
      lambda flag, x, y: lax.select_n(lax.gt(flag, np.int32(least)), x, y),
      lambda flag, x, y: y if flag > least else x,
      (first, second), Value(values[first].shape, bound, slope))


# --- shapes --------------------------------------------------------------------------


def _moved(
    name: str, place: int, v: Value, shape: Shape, run: Any, reference: Any, *,
    gain: float = 1.0) -> Step:
  return Step(name, lambda _, x: run(x), lambda _, x: reference(x), (place,),
              Value(shape, gain * v.bound, gain * v.slope))


def _reshape(draw: Draw, values: Sequence[Value]) -> Step:
  place = _pick(draw, values)
  v = values[place]
  size = math.prod(v.shape)
  first = draw(st.sampled_from([d for d in range(1, size + 1) if size % d == 0]))
  shape = draw(st.sampled_from([(size,), (first, size // first), (1, size)]))
  return _moved(f"reshape{shape}", place, v, shape,
                lambda x: lax.reshape(x, shape), lambda x: x.reshape(shape))


def _transpose(draw: Draw, values: Sequence[Value]) -> Step:
  place = _pick(draw, values)
  v = values[place]
  order = tuple(draw(st.permutations(range(len(v.shape)))))
  return _moved(f"transpose{order}", place, v, tuple(v.shape[i] for i in order),
                lambda x: lax.transpose(x, order), lambda x: x.transpose(order))


def _broadcast(draw: Draw, values: Sequence[Value]) -> Step | None:
  place = _pick_where(
      draw, values, lambda v: len(v.shape) < 3 and 3 * math.prod(v.shape) <= MOST)
  if place is None:
    return None
  v = values[place]
  axis, size = draw(st.integers(0, len(v.shape))), draw(st.integers(1, 3))
  shape = (*v.shape[:axis], size, *v.shape[axis:])
  dims = tuple(i for i in range(len(shape)) if i != axis)
  return _moved(
      f"broadcast_in_dim[{shape}, {dims}]", place, v, shape,
      lambda x: lax.broadcast_in_dim(x, shape, dims),
      lambda x: np.broadcast_to(np.expand_dims(x, axis), shape))


def _with_axis(draw: Draw, values: Sequence[Value]) -> tuple[int, Value, int] | None:
  place = _pick_where(draw, values, lambda v: len(v.shape) > 0)
  if place is None:
    return None
  v = values[place]
  return place, v, draw(st.integers(0, len(v.shape) - 1))


def _reduce_sum(draw: Draw, values: Sequence[Value]) -> Step | None:
  picked = _with_axis(draw, values)
  if picked is None:
    return None
  place, v, axis = picked
  shape = v.shape[:axis] + v.shape[axis + 1:]
  return _moved(f"reduce_sum[{axis}]", place, v, shape,
                lambda x: lax.reduce_sum(x, (axis,)), lambda x: x.sum(axis),
                gain=v.shape[axis])


def _cumsum(draw: Draw, values: Sequence[Value]) -> Step | None:
  picked = _with_axis(draw, values)
  if picked is None:
    return None
  place, v, axis = picked
  return _moved(f"cumsum[{axis}]", place, v, v.shape,
                lambda x: lax.cumsum(x, axis), lambda x: x.cumsum(axis),
                gain=v.shape[axis])


def _rev(draw: Draw, values: Sequence[Value]) -> Step | None:
  picked = _with_axis(draw, values)
  if picked is None:
    return None
  place, v, axis = picked
  return _moved(f"rev[{axis}]", place, v, v.shape, lambda x: lax.rev(x, (axis,)),
                lambda x: np.flip(x, axis))


def _slice(draw: Draw, values: Sequence[Value]) -> Step | None:
  picked = _with_axis(draw, values)
  if picked is None:
    return None
  place, v, axis = picked
  n = v.shape[axis]
  start = draw(st.integers(0, n - 1))
  limit, stride = draw(st.integers(start + 1, n)), draw(st.integers(1, 2))
  starts, limits, strides = [0] * len(v.shape), list(v.shape), [1] * len(v.shape)
  starts[axis], limits[axis], strides[axis] = start, limit, stride
  index = (slice(None),) * axis + (slice(start, limit, stride),)
  shape = np.empty(v.shape)[index].shape
  return _moved(f"slice[{axis}, {start}:{limit}:{stride}]", place, v, shape,
                lambda x: lax.slice(x, starts, limits, strides), lambda x: x[index])


def _dynamic_slice(draw: Draw, values: Sequence[Value]) -> Step | None:
  picked = _with_axis(draw, values)
  if picked is None:
    return None
  place, v, axis = picked
  n, size = v.shape[axis], draw(st.integers(1, v.shape[axis]))
  sizes = (*v.shape[:axis], size, *v.shape[axis + 1:])

  def run(flag: Any, x: Any) -> Any:
    return lax.dynamic_slice(
        x, [flag if i == axis else np.int32(0) for i in range(x.ndim)], sizes)

  def reference(flag: int, x: Any) -> Any:
    first = min(max(flag, 0), n - size)
    return np.take(x, range(first, first + size), axis)

  return Step(f"dynamic_slice[{axis}, flag, {size}]", run, reference, (place,),
              Value(sizes, v.bound, v.slope))


def _pad(draw: Draw, values: Sequence[Value]) -> Step | None:
  picked = _with_axis(draw, values)
  if picked is None or math.prod(picked[1].shape) * 3 > MOST:
    return None
  place, v, axis = picked
  low, interior = draw(st.integers(0, 1)), draw(st.integers(0, 1))
  config = [(0, 0, 0)] * len(v.shape)
  config[axis] = (low, 0, interior)
  n = v.shape[axis]
  length = low + n + (n - 1) * interior
  shape = (*v.shape[:axis], length, *v.shape[axis + 1:])

  def reference(x: Any) -> Any:
    out = np.zeros(shape)
    out[(slice(None),) * axis + (slice(low, None, interior + 1),)] = x
    return out

  return _moved(f"pad[{axis}, {low}, {interior}]", place, v, shape,
                lambda x: lax.pad(x, np.float64(0), config), reference)


def _concatenate(draw: Draw, values: Sequence[Value]) -> Step | None:
  picked = _with_axis(draw, values)
  if picked is None:
    return None
  first, v, axis = picked

  def fits(w: Value) -> bool:
    return (len(w.shape) == len(v.shape)
            and w.shape[:axis] + w.shape[axis + 1:] == v.shape[:axis] + v.shape[axis + 1:]
            and math.prod(v.shape) + math.prod(w.shape) <= MOST)

  second = _pick_where(draw, values, fits)
  if second is None:
    return None
  w = values[second]
  shape = (*v.shape[:axis], v.shape[axis] + w.shape[axis], *v.shape[axis + 1:])
  bound, slope = _either(v, w)
  return Step(f"concatenate[{axis}]", lambda _, x, y: lax.concatenate([x, y], axis),
              lambda _, x, y: np.concatenate([x, y], axis), (first, second),
              Value(shape, bound, slope))


def _dot_general(draw: Draw, values: Sequence[Value]) -> Step | None:
  picked = _with_axis(draw, values)
  if picked is None:
    return None
  first, v, i = picked
  second = _pick_where(
      draw, values, lambda w: v.shape[i] in w.shape and
      len(v.shape) + len(w.shape) <= 5 and
      math.prod(v.shape) * math.prod(w.shape) // v.shape[i]**2 <= MOST)
  if second is None:
    return None
  w = values[second]
  j = w.shape.index(v.shape[i])
  shape = (*v.shape[:i], *v.shape[i + 1:], *w.shape[:j], *w.shape[j + 1:])
  bound, slope = (v.shape[i] * x for x in _product(v, w))
  return Step(
      f"dot_general[{i}, {j}]",
      lambda _, x, y: lax.dot_general(x, y, (((i,), (j,)), ((), ()))),
      lambda _, x, y: np.tensordot(x, y, (i, j)), (first, second),
      Value(shape, bound, slope))


# --- steps with kinks ----------------------------------------------------------------


def _gap(x: Any, axis: int) -> float:
  """The least difference between two elements along an axis."""
  return float(np.min(np.diff(np.sort(x, axis), axis=axis), initial=np.inf))


def _reduce_max(draw: Draw, values: Sequence[Value]) -> Step | None:
  picked = _with_axis(draw, values)
  if picked is None:
    return None
  place, v, axis = picked
  shape = v.shape[:axis] + v.shape[axis + 1:]
  return Step(f"reduce_max[{axis}]", lambda _, x: lax.reduce_max(x, (axis,)),
              lambda _, x: x.max(axis), (place,), Value(shape, v.bound, v.slope),
              functools.partial(_gap, axis=axis))


def _sort(draw: Draw, values: Sequence[Value]) -> Step | None:
  picked = _with_axis(draw, values)
  if picked is None:
    return None
  place, v, axis = picked
  return Step(f"sort[{axis}]", lambda _, x: lax.sort(x, axis),
              lambda _, x: np.sort(x, axis), (place,), v,
              functools.partial(_gap, axis=axis))


SMOOTH: list[Rule] = [
    *_UNARY, *_BINARY, *_BINARY, _select_by_flag, _reshape, _transpose, _broadcast,
    _reduce_sum, _cumsum, _rev, _slice, _dynamic_slice, _pad, _concatenate,
    _dot_general, _dot_general]
KINKED: list[Rule] = [
    _unary("abs", lax.abs, np.abs, lambda b: b, _one,
           lambda x: float(np.min(np.abs(x), initial=np.inf))),
    _binary("max", lax.max, np.maximum, _either, _distance),
    _binary("min", lax.min, np.minimum, _either, _distance),
    _reduce_max, _sort]
