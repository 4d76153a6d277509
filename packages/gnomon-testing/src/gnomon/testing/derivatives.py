"""Checking derivatives: forward mode against differences, reverse against forward."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import gnomon
from gnomon import dtypes, tree_util
from gnomon.testing._numeric import (
    Function,
    best_step,
    dtype_of,
    is_float,
    numerical_jvp,
    pairing,
    random_tangents,
)
from gnomon.testing.tolerance import (
    GRADIENT_TOLERANCE,
    Tolerance,
    asked_tolerance,
    assert_close,
    gradient_tolerance,
)

MODES = ("fwd", "rev")


def check_jvp(
    f: Function, f_jvp: Function, args: Sequence[Any], atol: Tolerance = None,
    rtol: Tolerance = None, eps: float = 1e-4, err_msg: str = "") -> None:
  """Checks a forward derivative against central differences along a random direction.

  Args:
    f: the function; takes and returns pytrees of arrays.
    f_jvp: takes the tuples of arguments and of tangents, returns value and tangent:
      `functools.partial(gnomon.jvp, f)`.
    args: where to check.
    atol: absolute tolerance of the tangent; by default one that suits the dtypes.
    rtol: relative tolerance, likewise.
    eps: the step of the differences.
    err_msg: begins the error.

  Raises:
    AssertionError: the derivative (or the value that comes with it) is wrong.

  >>> import functools, gnomon
  >>> from gnomon import lax
  >>> check_jvp(lax.sin, functools.partial(gnomon.jvp, lax.sin), (0.5,))
  """
  args = tuple(args)
  where = f"{err_msg}: " if err_msg else ""
  tangents = random_tangents(np.random.default_rng(0), args)
  expected_value = f(*args)
  value, tangent = f_jvp(args, tangents)
  # A rule may compute the value in another order than the function does.
  assert_close(value, expected_value, message=f"{where}value of the jvp",
               check_dtypes=True, atol=atol, rtol=rtol, tolerances=GRADIENT_TOLERANCE)
  expected = numerical_jvp(f, args, tangents, eps)
  tolerance = _tolerance(args, expected_value)
  assert_close(tangent, expected, message=f"{where}tangent of the jvp",
               atol=tolerance if atol is None else atol,
               rtol=tolerance if rtol is None else rtol)
  _check_types(tangent, expected_value, f"{where}tangent of the jvp")


def check_vjp(
    f: Function, f_vjp: Function, args: Sequence[Any], atol: Tolerance = None,
    rtol: Tolerance = None, eps: float = 1e-4, err_msg: str = "") -> None:
  """Checks a reverse derivative against central differences.

  With a random tangent t and a random cotangent ct, the pairing of the pulled-back ct
  with t must be that of ct with the derivative along t, which differences give.

  Args:
    f: the function; takes and returns pytrees of arrays.
    f_vjp: takes the arguments, returns the value and the function that pulls
      cotangents back: `functools.partial(gnomon.vjp, f)`.
    args: where to check.
    atol: absolute tolerance of the pairing; by default one that suits the dtypes.
    rtol: tolerance relative to the sum of the absolute values of its terms, likewise.
    eps: the step of the differences.
    err_msg: begins the error.

  Raises:
    AssertionError: the derivative (or the value that comes with it) is wrong.

  >>> import functools, gnomon
  >>> from gnomon import lax
  >>> check_vjp(lax.sin, functools.partial(gnomon.vjp, lax.sin), (0.5,))
  """
  args = tuple(args)
  where = f"{err_msg}: " if err_msg else ""
  rng = np.random.default_rng(0)
  tangents = random_tangents(rng, args)
  expected_value = f(*args)
  value, pull_back = f_vjp(*args)
  assert_close(value, expected_value, message=f"{where}value of the vjp",
               check_dtypes=True, atol=atol, rtol=rtol, tolerances=GRADIENT_TOLERANCE)
  cotangents = random_tangents(rng, expected_value)
  pulled = pull_back(cotangents)
  _check_types(pulled, args, f"{where}cotangents of the vjp")
  tangent = numerical_jvp(f, args, tangents, eps)
  actual, size = pairing(tangents, pulled)
  expected, expected_size = pairing(tangent, cotangents)
  leaves = tree_util.tree_leaves((args, expected_value))
  allowed = asked_tolerance(atol, GRADIENT_TOLERANCE, leaves) + asked_tolerance(
      rtol, GRADIENT_TOLERANCE, leaves) * max(size, expected_size)
  same = np.isnan(actual) and np.isnan(expected)
  if not (same or abs(actual - expected) <= allowed):
    raise AssertionError(
        f"{where}reverse mode disagrees with central differences: pairing the "
        f"cotangents with a random tangent gives {actual}, but should give {expected}; "
        f"the error is {abs(actual - expected):.3g}, allowed is {allowed:.3g}")


def check_grads(
    f: Function, args: Sequence[Any], order: int,
    modes: Sequence[str] = MODES, atol: Tolerance = None, rtol: Tolerance = None,
    eps: float | None = None) -> None:
  """Checks the derivatives of a function up to an order, in each mixture of modes.

  Derivatives are compared with central differences along random directions; those of
  higher order with differences of the derivatives of lower order. Arguments and results
  that are no floats are held fixed.

  Args:
    f: the function; takes and returns pytrees of arrays.
    args: the sequence of its arguments: where to check.
    order: the highest order, at least 1.
    modes: `"fwd"`, `"rev"` or both. Each order is checked in each of them, so that
      order 2 in both modes checks forward over reverse and all other pairs.
    atol: absolute tolerance; by default one that suits the dtypes.
    rtol: relative tolerance, likewise.
    eps: the step of the differences; by default the one that suits the dtypes.

  Raises:
    AssertionError: a derivative is wrong; says of which order and in which modes.
    TypeError: `args` is no sequence.
    ValueError: there is no such mode or order, or nothing to differentiate.

  >>> from gnomon import lax
  >>> check_grads(lambda x, y: lax.mul(lax.sin(x), y), (0.5, 2.0), order=2)
  """
  if not isinstance(args, (tuple, list)):
    raise TypeError(
        "check_grads: args must be a tuple of arguments, such as (x,), but is of type "
        f"{type(args).__qualname__}")
  modes = (modes,) if isinstance(modes, str) else tuple(modes)
  unknown = [mode for mode in modes if mode not in MODES]
  if unknown or not modes:
    raise ValueError(
        f"check_grads: modes are 'fwd' and 'rev', but modes={modes} was given")
  if order < 1:
    raise ValueError(f"check_grads: order must be at least 1, but is {order}")
  flat, points = _differentiable_part(f, args)
  if eps is None:
    best = best_step(points, flat(*points))
    steps: tuple[float, ...] = (best, best / 7, best / 49)
  else:
    steps = (eps,)
  _check_order(flat, points, order, modes, atol, rtol, steps, ())


def _differentiable_part(
    f: Function, args: Sequence[Any]) -> tuple[Function, tuple[Any, ...]]:
  """`f` as a function from floats to a list of floats, all else held fixed."""
  leaves, treedef = tree_util.tree_flatten(tuple(args))
  places = [i for i, leaf in enumerate(leaves) if is_float(leaf)]
  if not places:
    raise ValueError(
        "check_grads: there is nothing to differentiate with respect to: no argument is "
        f"a float. The arguments have the dtypes {[str(dtype_of(x)) for x in leaves]}")

  def flat(*floats: Any) -> list[Any]:
    filled = list(leaves)
    for place, value in zip(places, floats, strict=True):
      filled[place] = value
    outs = tree_util.tree_leaves(f(*treedef.unflatten(filled)))
    return [out for out in outs if is_float(out)]

  return flat, tuple(leaves[i] for i in places)


def _check_order(
    f: Function, args: tuple[Any, ...], order: int, modes: tuple[str, ...],
    atol: Tolerance, rtol: Tolerance, steps: Sequence[float], done: tuple[str, ...],
) -> None:
  rng = np.random.default_rng(len(done))
  for mode in modes:
    path = (*done, mode)
    name = f"derivative of order {len(path)} ({' of '.join(reversed(path))})"
    if mode == "fwd":
      forward = functools.partial(gnomon.jvp, f)
      _check_with(steps, functools.partial(
          check_jvp, f, forward, args, atol, rtol, err_msg=name))
      derivative, vectors = _forward(f, len(args)), random_tangents(rng, args)
    else:
      reverse = functools.partial(gnomon.vjp, f)
      _check_with(steps, functools.partial(
          check_vjp, f, reverse, args, atol, rtol, err_msg=name))
      derivative = _reverse(f, len(args))
      vectors = tuple(random_tangents(rng, f(*args)))
    if order > 1:
      _check_order(
          derivative, (*args, *vectors), order - 1, modes, atol, rtol, steps, path)


def _check_with(steps: Sequence[float], check: Callable[..., None]) -> None:
  """Checks with the first step, or a finer one where the function bends too much for it.

  Raises:
    AssertionError: that of the first step, if no step agrees.
  """
  try:
    check(eps=steps[0])
  except AssertionError as first:
    for eps in steps[1:]:
      with contextlib.suppress(AssertionError):
        check(eps=eps)
        return
    raise first from None


def _forward(f: Function, count: int) -> Function:
  """Primals and tangents to values and tangents."""
  def derivative(*args: Any) -> list[Any]:
    values, tangents = gnomon.jvp(f, args[:count], args[count:])
    return [*values, *tangents]
  return derivative


def _reverse(f: Function, count: int) -> Function:
  """Primals and cotangents to values and cotangents."""
  def derivative(*args: Any) -> list[Any]:
    values, pull_back = gnomon.vjp(f, *args[:count])
    return [*values, *pull_back(list(args[count:]))]
  return derivative


def _tolerance(*trees: Any) -> float:
  return gradient_tolerance(*tree_util.tree_leaves(trees))


def _check_types(vectors: Any, points: Any, where: str) -> None:
  """Tangents have the shapes and dtypes of the values (`float0` for integers)."""
  def check(path: Any, vector: Any, point: Any) -> None:
    # NumPy's float64 counts as what it becomes: float32, unless 64 bits are on.
    if is_float(point) and dtype_of(vector) != dtypes.canonicalize_dtype(dtype_of(point)):
      raise AssertionError(
          f"{where}{tree_util.keystr(path)}: the dtype is {dtype_of(vector)}, but the "
          f"value has {dtype_of(point)}")
    if np.shape(vector) != np.shape(point):
      raise AssertionError(
          f"{where}{tree_util.keystr(path)}: the shape is {np.shape(vector)}, but the "
          f"value has {np.shape(point)}")
  tree_util.tree_map_with_path(check, vectors, points)
