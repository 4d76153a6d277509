"""Products with tangents whose zeros are strong: 0 · inf = 0, 0 · nan = 0.

Derivative rules multiply and divide tangents and cotangents by `times` and `over`. A
branch that a selection did not take has cotangents of zero; so it adds nothing to the
gradient, whatever its derivatives are. The design is in `docs/design/strong-zeros.md`.
"""

from __future__ import annotations

import cmath
import math
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

# Which operands of a product are compared with zero. None: none, nor in its derivatives.
Tests = tuple[bool, bool] | None


def _wanted(harmless: bool) -> bool:
  return not harmless and _config.current().strong_zeros


def times(t: Any, factor: Any, *, mask: bool = False) -> Any:
  """The tangent or cotangent `t` times a factor; zero where `t` is zero.

  `mask` says that the factor is finite, and zero where an operand was not selected.
  """
  number = isinstance(factor, (float, int, np.generic))
  harmless = mask or (number and cmath.isfinite(factor))
  tests = (True, False) if _wanted(harmless) else None
  return _product(t, factor, tests, mask)


def over(t: Any, divisor: Any) -> Any:
  """The tangent or cotangent `t` divided by a divisor; zero where `t` is zero."""
  number = isinstance(divisor, (float, int, np.generic))
  return _quotient(
      t, divisor, True if _wanted(number and 0 != abs(divisor) < math.inf) else None)


def _product(x: Any, y: Any, tests: Tests, mask: bool = False) -> Any:
  return times_p.bind(*operands(x, y), tests=tests, mask=mask)[0]


def _quotient(x: Any, y: Any, test: bool | None) -> Any:
  return over_p.bind(*operands(x, y), test=test)[0]


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
hide_params(times_p, "mask", "tests")


@strong.masking_rule.define(times_p)
def _(params: dict[str, Any]) -> bool:
  return params["mask"] or bool(params["tests"] and params["tests"][1])


@typing_rule.define(times_p)
def _(x: ShapedArray, y: ShapedArray, *, tests: Tests, mask: bool) -> tuple[ShapedArray]:
  return (nary_type("mul", [INEXACT, INEXACT], (x, y)),)


@lower.define(times_p)
def _(ctx: Any, *values: Any, tests: Tests, mask: bool) -> Sequence[Any]:
  x, y = spread(ctx, values)
  result = ctx.b.op1("stablehlo.multiply", ctx.b.tensor(ctx.aval_out), (x, y))
  for i, (v, tested) in enumerate(zip((x, y), tests or ())):
    if tested:
      result = _where_zero(ctx, i, v, result)
  return [result]


def _in_place_of(i: int, tests: Tests, tested: bool) -> Tests:
  """The tests of a product whose first operand stands for the operand number `i`."""
  return None if tests is None else (tested, tests[1 - i])


defjvp(
    times_p,
    lambda t, ans, x, y, tests, mask: _product(
        t, y, _in_place_of(0, tests, True), mask),
    lambda t, ans, x, y, tests, mask: _product(t, x, _in_place_of(1, tests, True)),
    elementwise=True)
elementwise_batch(times_p)


@transpose_rule.define(times_p)
def _(cts: Sequence[Any], args: Sequence[Any], *, tests: Tests, mask: bool) -> list[Any]:
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
