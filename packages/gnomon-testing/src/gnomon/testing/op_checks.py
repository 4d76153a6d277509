"""The checks that a table of ops drives: one function a property, taking a case.

Meant for parametrised tests:

    @pytest.mark.parametrize("case", op_table.cases(), ids=str)
    def test_value(case): op_checks.check_value(case)
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from typing import Any

import numpy as np

import gnomon
from gnomon import dtypes, tree_util
from gnomon.testing._numeric import is_float, wide
from gnomon.testing.batching import check_vmap_axes
from gnomon.testing.derivatives import check_grads
from gnomon.testing.op_table import Case, OpRecord
from gnomon.testing.tolerance import (
    GRADIENT_TOLERANCE,
    VALUE_TOLERANCE,
    assert_close,
)

_WIDE = ("float64", "complex128", "int64", "uint64")
_HALF = ("float16", "bfloat16")


@contextlib.contextmanager
def _precision(case: Case) -> Iterator[None]:
  """Switches 64 bits on for cases that need them, and off for all others."""
  with gnomon.enable_x64(case.dtype in _WIDE):
    yield


def check_value(case: Case) -> None:
  """The result is that of the reference, has its shape, and the promised dtype."""
  record = case.record
  with _precision(case):
    args = case.args()
    result = case.function()(*args)
    expected_dtype = record.result_dtype_of(case.dtype)
    leaves = tree_util.tree_leaves(result)
    if expected_dtype != "any" and any(
        str(x.dtype) != expected_dtype for x in leaves):
      raise AssertionError(
          f"{case}: the results have the dtypes {[str(x.dtype) for x in leaves]}, but "
          f"should have {expected_dtype}")
    if record.reference is None:
      return
    with np.errstate(all="ignore"):
      expected = record.reference(*map(_reference_operand, args), **case.sample.params)
    tolerance = record.tolerance.get(case.dtype, VALUE_TOLERANCE.get(case.dtype))
    assert_close(result, tree_util.tree_map(np.asarray, expected), atol=tolerance,
                 rtol=tolerance, message=str(case))


def _reference_operand(x: Any) -> Any:
  return wide(x) if is_float(x) else x


def check_jit(case: Case) -> None:
  """Compiled, the op gives the same result, and its abstract evaluation the type."""
  if not case.record.jittable:
    return
  with _precision(case):
    f, args = case.function(), case.args()
    eager = f(*args)
    compiled = gnomon.jit(f)(*args)
    # Fusion may contract multiplications and additions: not bit for bit.
    assert_close(compiled, eager, check_dtypes=True, message=f"jit of {case}")
    types = gnomon.eval_shape(f, *args)
    assert_close(
        tree_util.tree_map(lambda t: np.zeros(t.shape, t.dtype), types),
        tree_util.tree_map(lambda x: np.zeros(x.shape, x.dtype), eager),
        check_dtypes=True, message=f"eval_shape of {case}")


def check_derivatives(case: Case) -> None:
  """Derivatives agree with finite differences, in all modes, to the record's order.

  Differences of second derivatives are noise in less than double precision: only the
  first order is checked there. In half precision all differences are: derivatives are
  compared with those in single precision.
  """
  record = case.record
  if not record.order:
    return
  with _precision(case):
    f, points = _of_differentiable(case, case.args())
    if not any(map(is_float, points)):
      return
    tolerance = record.grad_tolerance.get(case.dtype, GRADIENT_TOLERANCE[case.dtype])
    if case.dtype in _HALF:
      _check_half(case, f, points, tolerance)
    else:
      order = record.order if case.dtype in _WIDE else 1
      check_grads(f, points, order, record.modes, tolerance, tolerance)


def _check_half(case: Case, f: Any, points: tuple[Any, ...], tolerance: float) -> None:
  """The derivatives in half precision are those in single precision, rounded."""
  widened = tuple(x.astype("float32") if is_float(x) else x for x in points)
  for mode in case.record.modes:
    derivative = _push if mode == "fwd" else _pull
    half, single = derivative(f, points), derivative(f, widened)
    message = f"{mode} derivative of {case}"
    if any(str(x.dtype) != case.dtype for x in half):
      raise AssertionError(f"{message}: the dtypes are {[str(x.dtype) for x in half]}")
    assert_close(half, single, atol=tolerance, rtol=tolerance, message=message)


def _push(f: Any, points: tuple[Any, ...]) -> list[Any]:
  """The derivative of a function along all ones, in forward mode."""
  floats, primals = _of_floats(f, points)
  return gnomon.jvp(floats, primals, tuple(map(np.ones_like, primals)))[1]  # type: ignore[no-any-return]


def _pull(f: Any, points: tuple[Any, ...]) -> list[Any]:
  """The values of a function pulled back, in reverse mode."""
  floats, primals = _of_floats(f, points)
  outs, pull_back = gnomon.vjp(floats, *primals)
  return list(pull_back(outs))


def _of_floats(f: Any, points: tuple[Any, ...]) -> tuple[Any, tuple[Any, ...]]:
  """A function from and to floats only, and its arguments; all else is held fixed."""
  places = [i for i, x in enumerate(points) if is_float(x)]

  def floats(*xs: Any) -> list[Any]:
    filled = list(points)
    for i, x in zip(places, xs, strict=True):
      filled[i] = x
    outs = tree_util.tree_leaves(f(*filled))
    return [out for out in outs if dtypes.issubdtype(out.dtype, np.inexact)]

  return floats, tuple(points[i] for i in places)


def _of_differentiable(case: Case, args: tuple[Any, ...]) -> tuple[Any, tuple[Any, ...]]:
  """The op as a function of the operands that are declared differentiable."""
  free = [o.differentiable for o in case.sample.operands]
  f = case.function()

  def reduced(*points: Any) -> Any:
    rest = iter(points)
    return f(*[next(rest) if moves else x for x, moves in zip(args, free, strict=True)])

  return reduced, tuple(x for x, moves in zip(args, free, strict=True) if moves)


def check_batching(case: Case) -> None:
  """`vmap` over every axis of every operand does what a loop does."""
  if not case.record.batchable:
    return
  with _precision(case):
    tolerance = case.record.tolerance.get(case.dtype)
    examples = [case.args(seed) for seed in range(3)]
    check_vmap_axes(
        case.function(), examples, limit=12, atol=tolerance, rtol=tolerance)


def check_batched_derivatives(case: Case) -> None:
  """`vmap` of the derivatives does what a loop does; so do compiled derivatives."""
  record = case.record
  if not record.order or not record.batchable:
    return
  with _precision(case):
    f, points = _of_differentiable(case, case.args())
    if not any(map(is_float, points)):
      return
    derivative = _pull if "rev" in record.modes else _push

    def of_points(*points: Any) -> Any:
      return derivative(f, points)

    tolerance = record.grad_tolerance.get(case.dtype, GRADIENT_TOLERANCE[case.dtype])
    assert_close(gnomon.jit(of_points)(*points), of_points(*points), atol=tolerance,
                 rtol=tolerance, message=f"jit of the derivative of {case}")
    examples = [_of_differentiable(case, case.args(seed))[1] for seed in range(2)]
    check_vmap_axes(of_points, examples, limit=4, atol=tolerance, rtol=tolerance)


def check_errors(record: OpRecord) -> None:
  """The calls that must fail do so, with the error that is promised."""
  for case in record.errors:
    try:
      record.op(*case.args(), **case.params)
    except case.error as error:
      if not re.search(case.match, str(error)):
        raise AssertionError(
            f"{record.name}: the error should match {case.match!r}, but says: {error}"
        ) from error
    else:
      raise AssertionError(
          f"{record.name}: the call did not fail, but should with {case.error}, "
          f"matching {case.match!r}")
