"""Products with tangents whose zeros are strong: 0 · inf = 0, 0 · nan = 0.

Derivative rules multiply and divide tangents and cotangents by `times` and `over`. A
branch that a selection did not take has cotangents of zero; so it adds nothing to the
gradient, whatever its derivatives are. The design is in `docs/design/strong-zeros.md`.
"""

from __future__ import annotations

import cmath
from collections.abc import Sequence
from typing import Any

import numpy as np

from gnomon import _config
from gnomon.core import strong
from gnomon.core.derive import defjvp, elementwise_batch, unbroadcast
from gnomon.core.jaxpr import Literal
from gnomon.core.primitive import Primitive
from gnomon.core.rule import hide_params, lower, transpose_rule, typing_rule
from gnomon.core.types import ShapedArray
from gnomon.core.zero import UndefinedPrimal, Zero
from gnomon.lax._families import INEXACT, nary_type, operands, spread

# Which operands of a product are compared with zero. None: none, nor in its derivatives;
# MASK: the same, and the second operand is zero where the first was not selected.
MASK = "mask"
Tests = tuple[bool, bool] | str | None
_FIRST = (True, False)
_current = _config.current


def times(t: Any, factor: Any, *, mask: bool = False) -> Any:
  """The tangent or cotangent `t` times a factor; zero where `t` is zero.

  `mask` says that the factor is finite, and zero where an operand was not selected.
  """
  tests: Tests = MASK if mask else _FIRST if _current().strong_zeros else None
  if getattr(factor, "aval", None) is None:
    if _is_finite_number(factor):
      tests = None
  elif getattr(t, "aval", None) is not None:  # nearly always
    return times_p.apply(t, factor, tests=tests)[0]
  return _product(t, factor, tests)


def over(t: Any, divisor: Any) -> Any:
  """The tangent or cotangent `t` divided by a divisor; zero where `t` is zero."""
  if hasattr(divisor, "aval") or not _is_finite_number(divisor) or not divisor:
    return _quotient(t, divisor, True if _current().strong_zeros else None)
  return _quotient(t, divisor, None)


def _is_finite_number(x: Any) -> bool:
  return np.ndim(x) == 0 and cmath.isfinite(x)


def _product(x: Any, y: Any, tests: Tests) -> Any:
  return times_p.apply(*operands(x, y), tests=tests)[0]


def _quotient(x: Any, y: Any, test: bool | None) -> Any:
  return over_p.apply(*operands(x, y), test=test)[0]


def _where_zero(ctx: Any, i: int, x: Any, result: Any) -> Any:
  """Zero where the operand number `i`, `x`, is zero; the result elsewhere.

  In this form the selection is one instruction with a mask, or a compare and an `and`.
  """
  v = ctx.eqn.invars[i]
  if type(v) is Literal and v.val != 0:
    return result
  b, out = ctx.b, ctx.aval_out
  zero = b.full(out, 0)
  other = b.compare("NE", x, zero, out)
  return b.op1("stablehlo.select", b.tensor(out), (other, result, zero))


# ---- the product: in text `mul`, which it is but for zeros

times_p = Primitive("mul")
hide_params(times_p, "tests")


@strong.masking_rule.define(times_p)
def _(params: dict[str, Any]) -> bool:
  tests = params["tests"]
  return tests is not None and (tests == MASK or tests[1])


@typing_rule.define(times_p)
def _(x: ShapedArray, y: ShapedArray, *, tests: Tests) -> tuple[ShapedArray]:
  return (nary_type("mul", [INEXACT, INEXACT], (x, y)),)


@lower.define(times_p)
def _(ctx: Any, *values: Any, tests: Tests) -> Sequence[Any]:
  operands = spread(ctx, values)
  result = ctx.b.op1("stablehlo.multiply", ctx.b.tensor(ctx.aval_out), operands)
  for i, x in enumerate(operands):
    if tests is not None and tests != MASK and tests[i]:
      result = _where_zero(ctx, i, x, result)
  return [result]


def _in_place_of(i: int, tests: Tests, tested: bool) -> Tests:
  """The tests of a product whose first operand stands for the operand number `i`."""
  if tests is None or tests == MASK:
    return None if i else tests
  return (tested, bool(tests[1 - i]))


defjvp(
    times_p,
    lambda t, ans, x, y, tests: _product(t, y, _in_place_of(0, tests, True)),
    lambda t, ans, x, y, tests: _product(t, x, _in_place_of(1, tests, True)),
    elementwise=True)
elementwise_batch(times_p)


@transpose_rule.define(times_p)
def _(cts: Sequence[Any], args: Sequence[Any], *, tests: Tests) -> list[Any]:
  ct = cts[0]
  i = 0 if type(args[0]) is UndefinedPrimal else 1
  x, other = args[i].aval, args[1 - i]
  # Where no selection can have made a zero of the cotangent, it is not compared.
  tests = _in_place_of(i, tests, strong.state.masked)
  part = Zero(x) if type(ct) is Zero else unbroadcast(_product(ct, other, tests), x)
  return [part, None] if i == 0 else [None, part]


# ---- the quotient: in text `div`

over_p = Primitive("div")
hide_params(over_p, "test")
strong.masks_nothing(over_p)


@typing_rule.define(over_p)
def _(x: ShapedArray, y: ShapedArray, *, test: bool | None) -> tuple[ShapedArray]:
  return (nary_type("div", [INEXACT, INEXACT], (x, y)),)


@lower.define(over_p)
def _(ctx: Any, *values: Any, test: bool | None) -> Sequence[Any]:
  x, y = spread(ctx, values)
  result = ctx.b.op1("stablehlo.divide", ctx.b.tensor(ctx.aval_out), (x, y))
  return [_where_zero(ctx, 0, x, result) if test else result]


def _by_divisor(t: Any, ans: Any, x: Any, y: Any, test: bool | None) -> Any:
  """-(x / y) / y: a tangent, as x is."""
  slope = _product(_quotient(ans, y, test), -1.0, None)
  return _product(t, slope, None if test is None else (True, test))


defjvp(
    over_p,
    lambda t, ans, x, y, test: _quotient(t, y, None if test is None else True),
    _by_divisor, elementwise=True)
elementwise_batch(over_p)


@transpose_rule.define(over_p)
def _(cts: Sequence[Any], args: Sequence[Any], *, test: bool | None) -> list[Any]:
  (x, y), ct = args, cts[0]
  if type(ct) is Zero:
    return [Zero(x.aval), None]
  test = None if test is None else strong.state.masked
  return [unbroadcast(_quotient(ct, y, test), x.aval), None]
