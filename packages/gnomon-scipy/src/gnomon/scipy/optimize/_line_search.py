"""A step along a direction of descent that satisfies the strong Wolfe conditions.

J. Nocedal and S. Wright, "Numerical Optimization" (2006), algorithms 3.5 and 3.6, as one
loop with one evaluation in it: bracketing and zooming differ in what they conclude from
it, not in what they do. Beside rounding errors, where a decrease is no longer visible,
the conditions are those of W. Hager and H. Zhang, SIAM J. Optim. 16 (2005), section 2.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import gnomon.numpy as gnp
from gnomon import lax
from gnomon.core import dtypes

BRACKETING, ZOOMING, FOUND = 0, 1, 2

# What a step must decrease the function by, and the slope to, of what it promises.
_DECREASE, _CURVATURE = 1e-4, 0.9


class Point(NamedTuple):
  """A step, and there: the function, its slope along the direction, its gradient."""

  step: Any
  value: Any
  slope: Any
  gradient: Any


class _State(NamedTuple):
  """Attributes: the best step, the other end of the interval, the next one to try."""

  stage: Any
  low: Point
  high: Point
  trial: Any
  count: Any


def _chosen(condition: Any, yes: Point, no: Point) -> Point:
  return Point(*(gnp.where(condition, a, b) for a, b in zip(yes, no)))


def _between(low: Point, high: Point) -> Any:
  """Where the cubic through two points with their slopes is least, not near to an end.

  Nocedal and Wright, equation 3.59.
  """
  width = high.step - low.step
  one = low.slope + high.slope - 3 * (low.value - high.value) / (low.step - high.step)
  inside = one * one - low.slope * high.slope
  two = gnp.sign(width) * gnp.sqrt(gnp.maximum(inside, 0))
  part = 1 - (high.slope + two - one) / (high.slope - low.slope + 2 * two)
  usable = gnp.logical_and(inside >= 0, gnp.isfinite(part))
  return low.step + width * gnp.where(usable, gnp.clip(part, 0.1, 0.9), 0.5)


def _selected(stages: list[tuple[Any, _State]], otherwise: _State) -> _State:
  """The first state whose condition holds."""
  out = otherwise
  for condition, state in reversed(stages):
    out = _State(
        gnp.where(condition, state.stage, out.stage),
        _chosen(condition, state.low, out.low), _chosen(condition, state.high, out.high),
        gnp.where(condition, state.trial, out.trial), out.count)
  return out


def line_search(
    evaluate: Callable[[Any], Point], start: Point, first: Any,
    limit: int) -> tuple[Point, Any, Any]:
  """A step that decreases a function enough.

  Args:
    evaluate: from a step to the point there.
    start: the point at step zero, with a negative slope.
    first: the first step to try.
    limit: how many evaluations there may be.

  Returns:
    The point; the stage in which the search ended; the number of evaluations.
  """
  promise = start.slope
  noise = 2 * dtypes.finfo(start.value.dtype).eps * gnp.abs(start.value)

  def advance(state: _State) -> _State:
    new = evaluate(state.trial)
    low, high = state.low, state.high
    enough = new.value <= start.value + _DECREASE * new.step * promise
    near = gnp.logical_and(
        new.value <= start.value + noise, new.slope <= (2 * _DECREASE - 1) * promise)
    good = gnp.logical_and(gnp.logical_or(enough, near), gnp.isfinite(new.value))
    flat = gnp.abs(new.slope) <= -_CURVATURE * promise
    first_trial = gnp.logical_and(state.stage == BRACKETING, state.count == 0)
    worse = gnp.logical_not(gnp.logical_and(
        good, gnp.logical_or(
            gnp.logical_or(new.value < low.value, first_trial), near)))
    bracketing = state.stage == BRACKETING
    # The minimum lies between the better of two points and one to which it descends.
    behind = gnp.where(
        bracketing, new.slope >= 0, new.slope * (high.step - low.step) >= 0)

    def zooming(low: Point, high: Point) -> _State:
      return _State(gnp.asarray(ZOOMING), low, high, _between(low, high), state.count)

    out = _selected([
        (worse, zooming(low, new)),
        (flat, _State(gnp.asarray(FOUND), new, high, state.trial, state.count)),
        (behind, zooming(new, low)),
        (bracketing, _State(state.stage, new, high, 2 * state.trial, state.count)),
    ], zooming(new, high))
    return out._replace(count=state.count + 1)

  def unfinished(state: _State) -> Any:
    return gnp.logical_and(state.stage != FOUND, state.count < limit)

  initial = _State(gnp.asarray(BRACKETING), start, start, first, gnp.asarray(0))
  final = lax.while_loop(unfinished, advance, initial)
  return final.low, final.stage, final.count


def first_step(value: Any, previous: Any, slope: Any) -> Any:
  """The step that would decrease a quadratic as the last one did: at most one.

  Nocedal and Wright, equation 3.60.
  """
  step = gnp.minimum(1.0, 2.02 * (value - previous) / slope)
  return gnp.where(step > 0, step, 1.0).astype(np.result_type(value.dtype))
