"""Minimisation with estimates of the inverse Hessian, whole or from the last steps.

J. Nocedal and S. Wright, "Numerical Optimization" (2006), algorithms 6.1, 7.4 and 7.5.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import gnomon.numpy as gnp
from gnomon import lax, value_and_grad
from gnomon.core import dtypes
from gnomon.scipy.optimize._line_search import (
  BRACKETING,
  FOUND,
  Point,
  first_step,
  line_search,
)

CONVERGED, ITERATIONS, NO_STEP, UNBOUNDED = 0, 1, 3, 5
_RUNNING = -1


class Options(NamedTuple):
  """When to end.

  Attributes:
    iterations: the most steps.
    evaluations: the most evaluations.
    norm: the order of the norm of the gradient.
    gradient: below which norm it counts as zero.
    decrease: below which relative decrease the function counts as constant.
    search: the most evaluations for one step.
    history: how many steps are remembered; None for the whole inverse Hessian.
  """

  iterations: Any
  evaluations: Any
  norm: Any
  gradient: Any
  decrease: Any
  search: int
  history: int | None


class Curvature(NamedTuple):
  """The last steps and the differences of gradients over them: an inverse Hessian.

  Attributes:
    steps: array of shape `(history, n)`, the newest last.
    changes: likewise, of the gradients.
    weights: one over the products of both; zero where there is no step yet.
    scale: the diagonal that the estimate begins with.
  """

  steps: Any
  changes: Any
  weights: Any
  scale: Any

  @classmethod
  def none(cls, history: int, x: Any) -> Curvature:
    """No steps."""
    empty = gnp.zeros((history, x.shape[0]), x.dtype)
    return cls(empty, empty, empty[:, 0], gnp.ones((), x.dtype))

  def times(self, x: Any) -> Any:
    """The product of the estimate and a vector: algorithm 7.4."""
    rows = (self.steps, self.changes, self.weights)

    def down(x: Any, row: Any) -> tuple[Any, Any]:
      step, change, weight = row
      part = weight * gnp.dot(step, x)
      return x - part * change, part

    def up(x: Any, row: Any) -> tuple[Any, None]:
      (step, change, weight), part = row
      return x + (part - weight * gnp.dot(change, x)) * step, None

    x, parts = lax.scan(down, x, rows, reverse=True)
    x, _ = lax.scan(up, self.scale * x, (rows, parts))
    return x

  def after(self, step: Any, change: Any) -> Curvature:
    """With one more step, of positive curvature."""
    product = gnp.dot(step, change)

    def pushed(rows: Any, row: Any) -> Any:
      return gnp.concatenate([rows[1:], row[None]])

    return Curvature(
        pushed(self.steps, step), pushed(self.changes, change),
        pushed(self.weights, 1 / product), product / gnp.dot(change, change))


class Whole(NamedTuple):
  """The estimate as a matrix."""

  inverse: Any

  def times(self, x: Any) -> Any:
    """The product with a vector."""
    return gnp.matmul(self.inverse, x, precision=lax.Precision.HIGHEST)

  def after(self, step: Any, change: Any) -> Whole:
    """With one more step, of positive curvature: equation 6.17, multiplied out."""
    weight = 1 / gnp.dot(step, change)
    across = self.times(change)
    outer = gnp.outer(step, across)
    along = weight * (1 + weight * gnp.dot(change, across))
    return Whole(
        self.inverse - weight * (outer + outer.T) + along * gnp.outer(step, step))


class State(NamedTuple):
  """Where the minimisation is."""

  x: Any
  value: Any
  gradient: Any
  previous: Any
  estimate: Any
  steps: Any
  evaluations: Any
  status: Any


def run(fun: Callable[[Any], Any], x0: Any, options: Options) -> State:
  """Minimises a function of a real vector."""
  both = value_and_grad(fun)
  value, gradient = both(x0)
  n = x0.shape[0]
  estimate: Any = (
      Whole(gnp.eye(n, dtype=x0.dtype)) if options.history is None
      else Curvature.none(options.history, x0))

  def norm(gradient: Any) -> Any:
    return gnp.linalg.norm(gradient, options.norm) if n else gnp.zeros((), x0.dtype)

  def status_of(gradient: Any, steps: Any, evaluations: Any) -> Any:
    over = gnp.logical_or(steps >= options.iterations, evaluations >= options.evaluations)
    return gnp.where(
        norm(gradient) < options.gradient, CONVERGED,
        gnp.where(over, ITERATIONS, _RUNNING))

  def advance(state: State) -> State:
    direction = -state.estimate.times(state.gradient)
    slope = gnp.dot(direction, state.gradient)
    # Rounding may have spoilt the estimate.
    uphill = gnp.logical_not(slope < 0)
    direction = gnp.where(uphill, -state.gradient, direction)
    slope = gnp.where(uphill, -gnp.dot(state.gradient, state.gradient), slope)

    def evaluate(step: Any) -> Point:
      value, gradient = both(state.x + step * direction)
      return Point(step, value, gnp.dot(gradient, direction), gradient)

    start = Point(gnp.zeros((), x0.dtype), state.value, slope, state.gradient)
    first = first_step(state.value, state.previous, slope).astype(x0.dtype)
    found, stage, count = line_search(evaluate, start, first, options.search)
    step = gnp.where(found.step == 0, 0, found.step * direction)
    change = found.gradient - state.gradient
    product = gnp.dot(step, change)
    size = gnp.sqrt(gnp.dot(step, step) * gnp.dot(change, change))
    # An estimate is positive definite after steps of positive curvature only.
    curved = product > dtypes.finfo(x0.dtype).eps * size
    updated = state.estimate.after(step, change)
    estimate = type(updated)(
        *(gnp.where(curved, a, b) for a, b in zip(updated, state.estimate)))
    steps, evaluations = state.steps + 1, state.evaluations + count
    status = status_of(found.gradient, steps, evaluations)
    fall = state.value - found.value
    largest = gnp.maximum(gnp.abs(state.value), gnp.abs(found.value))
    ended = gnp.logical_and(status == _RUNNING, fall <= options.decrease * largest)
    status = gnp.where(gnp.logical_and(ended, stage == FOUND), CONVERGED, status)
    x = state.x + step
    lost = gnp.logical_and(stage != FOUND, gnp.logical_not(fall > 0))
    lost = gnp.logical_or(lost, gnp.all(x == state.x))
    failed = gnp.logical_and(status != CONVERGED, lost)
    status = gnp.where(failed, NO_STEP, status)
    endless = gnp.logical_and(stage == BRACKETING, status != CONVERGED)
    status = gnp.where(endless, UNBOUNDED, status)
    return State(
        x, found.value, found.gradient, state.value, estimate, steps,
        evaluations, status)

  begin = State(
      x0, value, gradient, value + gnp.linalg.norm(gradient) / 2, estimate,
      gnp.asarray(0), gnp.asarray(1), status_of(gradient, gnp.asarray(0), gnp.asarray(1)))
  final: State = lax.while_loop(
      lambda state: state.status == _RUNNING, advance, begin)
  return final
