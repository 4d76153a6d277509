"""Elementwise functions of NumPy: divisors and multiples of integers."""

from __future__ import annotations

from typing import Any

import numpy as np

from gnomon import lax
from gnomon.core.structural import select_n
from gnomon.core.types import typeof
from gnomon.numpy._arithmetic import same_shape
from gnomon.numpy._compiled import compiled
from gnomon.numpy._promotion import as_type, promote_args, weak_if_all_are
from gnomon.numpy._values import is_kind


def _integers(name: str, x: Any, y: Any) -> tuple[Any, Any]:
  x, y = weak_if_all_are((x, y), *promote_args(name, x, y))
  if not is_kind(x, np.integer):
    raise ValueError(f"{name} needs integers, got dtype {typeof(x).dtype}")
  return same_shape(x, y)


@compiled()
def gcd(x1: Any, x2: Any) -> Any:
  """The greatest common divisor, elementwise; of 0 and 0, 0.

  Args:
    x1: integers.
    x2: integers; shapes are broadcast, dtypes promoted.

  >>> import gnomon.numpy as gnp
  >>> gnp.gcd(12, 18).item()
  6

  Raises:
    TypeError: an argument is no array and no number.
    ValueError: an argument is not integer, or the shapes cannot be broadcast.
  """
  return _gcd(*_integers("gcd", x1, x2))


def _absolute(x: Any) -> Any:
  return x if is_kind(x, np.unsignedinteger) else lax.abs(x)


def _gcd(x: Any, y: Any) -> Any:
  """Euclid's algorithm, on unsigned numbers: the least integer has no absolute value."""
  dtype, weak = typeof(x).dtype, typeof(x).weak_type
  unsigned = np.dtype(dtype.name if dtype.kind == "u" else "u" + dtype.name)
  x, y = (lax.convert_element_type(_absolute(a), unsigned) for a in (x, y))

  def unfinished(pair: Any) -> Any:
    return lax.reduce_or(lax.ne(pair[1], 0), tuple(range(typeof(pair[1]).ndim)))

  def step(pair: Any) -> Any:
    a, b = pair
    done = lax.eq(b, 0)
    rest = lax.rem(a, select_n(done, b, lax.full_like(b, 1)))
    return select_n(done, b, a), select_n(done, rest, b)

  found, _ = lax.while_loop(unfinished, step, (x, y))
  return as_type(found, dtype, weak)


@compiled()
def lcm(x1: Any, x2: Any) -> Any:
  """The least common multiple, elementwise; 0 if either is 0.

  Args:
    x1: integers.
    x2: integers; shapes are broadcast, dtypes promoted.

  >>> import gnomon.numpy as gnp
  >>> gnp.lcm(4, 6).item()
  12

  Raises:
    TypeError: an argument is no array and no number.
    ValueError: an argument is not integer, or the shapes cannot be broadcast.
  """
  x, y = (_absolute(a) for a in _integers("lcm", x1, x2))
  divisor = _gcd(x, y)
  none = lax.eq(divisor, 0)
  quotient = lax.div(x, select_n(none, divisor, lax.full_like(divisor, 1)))
  return lax.mul(quotient, y)
