"""What functions are made of here: Chebyshev series, sums that settle, derivatives."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

import gnomon.numpy as gnp
from gnomon import custom_jvp, jvp, lax
from gnomon.core.types import typeof
from gnomon.custom_derivatives import SymbolicZero
from gnomon.numpy._promotion import promote_args_inexact

_NEEDED = {"float32": 5e-9, "bfloat16": 1e-4, "float16": 1e-5}
_MOST_STEPS = 20000


@lru_cache(maxsize=128)
def _powers(coefficients: tuple[float, ...], dtype: Any) -> tuple[Any, ...]:
  """The polynomial of a Chebyshev series, from the constant up, in exact arithmetic.

  Coefficients at the end that are below the precision of the dtype are left out first.
  """
  least = _NEEDED.get(dtype.name, 0.0) * max(abs(c) for c in coefficients)
  n = max(i for i, c in enumerate(coefficients) if abs(c) >= least) + 1
  total = [Fraction(0)] * n
  before, now = [Fraction(1)], [Fraction(0), Fraction(1)]
  for c in coefficients[:n]:
    for i, part in enumerate(before):
      total[i] += Fraction(c) * part
    twice = [Fraction(0), *(2 * v for v in now)]
    before, now = now, [v - (before[i] if i < len(before) else 0)
                        for i, v in enumerate(twice)]
  return tuple(np.asarray(float(v), dtype)[()] for v in total)


def chebyshev(s: Any, coefficients: tuple[float, ...]) -> Any:
  """The series at `s` between -1 and 1. `tools/fit_special.py` makes the coefficients.

  By Horner's rule, which rounds less than Clenshaw's recurrence does at the ends, where
  the coefficients fall as fast as those here.
  """
  powers = _powers(coefficients, typeof(s).dtype)
  value = gnp.full_like(s, powers[-1])
  for c in powers[-2::-1]:
    value = value * s + c
  return value


def fitted(x: Any, low: float, high: float, coefficients: tuple[float, ...]) -> Any:
  """The series of a fit between `low` and `high`; beyond, its value at the nearer end."""
  s = (x - (high + low) / 2) * (2 / (high - low))
  return chebyshev(gnp.clip(s, -1, 1), coefficients)


def widened(x: Any) -> tuple[Any, Callable[[Any], Any]]:
  """A value of 16 bits in 32, and how to get back."""
  dtype = typeof(x).dtype
  if dtype.itemsize > 2:
    return x, lambda y: y
  return x.astype(gnp.float32), lambda y: y.astype(dtype)


def real_operands(name: str, *xs: Any) -> tuple[list[Any], Callable[[Any], Any]]:
  """Operands of one floating-point type of at least 32 bits, and how to get back.

  Raises:
    ValueError: one is complex.
  """
  promoted = gnp.broadcast_arrays(*promote_args_inexact(name, *xs))
  if typeof(promoted[0]).dtype.kind == "c":
    raise ValueError(
        f"Argument `x` to {name} must be real-valued: {name} does not support "
        "complex-valued inputs; take their real parts, or their moduli")
  return [widened(x)[0] for x in promoted], widened(promoted[0])[1]


def beside_zero(
    x: Any, zero: tuple[float, float], width: float,
    quotient: Callable[[Any], Any]) -> Any:
  """Gives log(x / z) + (x - z) q(x), exact near z, which is no float but the sum of two.

  Their difference from x is not formed in two steps, which XLA would make one.
  """
  dtype = typeof(x).dtype
  z = float(np.asarray(zero[0], dtype))
  rest = (zero[0] - z) + zero[1]
  off = x - z
  beside = gnp.abs(off) < width
  log = gnp.where(
      beside, gnp.log1p(gnp.where(beside, off, 0) / z), gnp.log(x / z))
  q = quotient(x)
  return (log + off * q) - (math.log1p(rest / z) + rest * q)


def settle(step: Callable[..., Any], *state: Any) -> tuple[Any, ...]:
  """Iterates `step(k, *state) -> (state, moves)` for k from 0, while an element moves.

  `k` is a number of the dtype of the first array, `moves` an array of booleans. An
  element that has stopped stays: rounding would carry it away while others move.
  """
  like = typeof(state[0])

  def body(carry: Any) -> Any:
    k, active, values = carry
    new, moves = step(k, *values)
    kept = tuple(gnp.where(active, v, w) for v, w in zip(new, values, strict=True))
    return k + 1, active & moves, kept

  def goes_on(carry: Any) -> Any:
    return gnp.any(carry[1]) & (carry[0] < _MOST_STEPS)

  init = np.zeros((), like.dtype), gnp.full(like.shape, True), state
  return lax.while_loop(goes_on, body, init)[2]  # type: ignore[no-any-return]


def differentiable(f: Callable[..., Any]) -> Any:
  """An elementwise function of arrays of one type, with loops of unknown length inside.

  A loop has a forward derivative only; the derivative of an elementwise function is that
  number times the tangent, which has a transpose. It is again of this kind.
  """
  whole = custom_jvp(f)

  def rule(primals: Any, tangents: Any) -> Any:
    total: Any = None
    for i, t in enumerate(tangents):
      if not isinstance(t, SymbolicZero):
        part = t * differentiable(_partial(f, i))(*primals)
        total = part if total is None else total + part
    return whole(*primals), total

  whole.defjvp(rule, symbolic_zeros=True)
  return whole


def _partial(f: Callable[..., Any], i: int) -> Callable[..., Any]:
  """The derivative of `f` by its argument of number `i`, elementwise."""
  def slope(*args: Any) -> Any:
    def of_one(x: Any) -> Any:
      return f(*args[:i], x, *args[i + 1:])

    return jvp(of_one, (args[i],), (gnp.ones_like(args[i]),))[1]

  return slope
