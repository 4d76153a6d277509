"""How an activation is defined: its arguments, and a derivative given as a formula."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np

import gnomon.numpy as gnp
from gnomon import custom_jvp, lax
from gnomon.core import dtypes
from gnomon.core.types import typeof


def inexact(name: str, x: Any) -> Any:
  """A floating-point or complex array of an argument; weak types stay weak.

  Raises:
    TypeError: it is no array and no number.
  """
  (x,) = arraylike(name, x=x)
  aval = typeof(x)
  dtype = dtypes.to_inexact_dtype(aval.dtype)
  if dtype == aval.dtype:
    return gnp.asarray(x)
  return lax.convert_element_type(x, float if aval.weak_type else dtype)


def wide(dtype: Any) -> Any:
  """The dtype in which to compute with numbers of a dtype: float32 at least."""
  dtype = dtypes.to_inexact_dtype(dtype)
  return np.dtype(np.float32) if dtype.itemsize < 4 else dtype


def arraylike(name: str, **arguments: Any) -> list[Any]:
  """Arguments as they are, if they are arrays or numbers.

  Raises:
    TypeError: one is not; lists are not taken, since they hide a conversion of each
      element.
  """
  for argument, x in arguments.items():
    if isinstance(x, (list, tuple, dict, str)) or x is None:
      raise TypeError(
          f"{name} requires ndarray or scalar arguments, got {type(x)} for {argument}; "
          "make it an array first, with gnomon.numpy.asarray")
    try:
      typeof(x)
    except TypeError:
      raise TypeError(
          f"{name} requires ndarray or scalar arguments, got {type(x)} for {argument}"
      ) from None
  return list(arguments.values())


def is_complex(x: Any) -> bool:
  """Whether an array or number is complex."""
  return bool(typeof(x).dtype.kind == "c")


def largest(x: Any) -> float:
  """The largest finite number of the dtype of a floating-point array."""
  return float(ml_dtypes.finfo(typeof(x).dtype).max)  # type: ignore[no-untyped-call]


def finite(x: Any) -> Any:
  """`x` with infinities replaced by the largest numbers, so that 0 times it is 0."""
  high = largest(x)
  return gnp.clip(x, -high, high)


def above_infinity(x: Any) -> Any:
  """`x` with -inf replaced by the lowest number."""
  return gnp.maximum(x, -largest(x))


def with_derivative(
    derivative: Callable[[Any], Any]) -> Callable[[Callable[[Any], Any]], Any]:
  """Gives a real function of one array its derivative as a formula.

  Reverse mode then keeps one array, the derivative, rather than the factors of each
  step; and the formula can be right where a product of the steps' derivatives is nan.
  """
  def decorate(fun: Callable[[Any], Any]) -> Any:
    call = custom_jvp(fun)

    def rule(primals: Any, tangents: Any) -> Any:
      (x,), (t,) = primals, tangents
      return call(x), t * derivative(x)

    call.defjvp(rule)
    return call

  return decorate
