"""The operators of arrays.

On arrays an operator is one look at the other operand's type, one at the current trace,
and the call of a compiled program.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from gnomon.core.trace import EVAL, Tracer, get_current
from gnomon.core.types import WrappedArray
from gnomon.numpy import _arithmetic, _bitwise, _comparison, _power, _rounding
from gnomon.runtime.jaxlib import arrays

Array = arrays.Array
_OPERANDS = (
    int, float, complex, np.ndarray, np.generic, Array, Tracer, WrappedArray)
_PLAIN = frozenset({Array, int, float, bool, complex})


def _acceptable(x: Any) -> bool:
  return isinstance(x, _OPERANDS) or hasattr(x, "__jax_array__")


def _refuse(symbol: str, x: Any, y: Any) -> Any:
  """Leaves a strange operand to its own type; what sequences do would mislead."""
  if type(x) in (list, tuple) or type(y) in (list, tuple):
    raise TypeError(
        f"unsupported operand type(s) for {symbol}: {type(x).__name__!r} and "
        f"{type(y).__name__!r}; convert the sequence first, with gnomon.numpy.asarray")
  return NotImplemented


def _forward(symbol: str, fun: Callable[..., Any]) -> Callable[[Any, Any], Any]:
  program, body = _parts(fun)

  def operator(self: Any, other: Any) -> Any:
    if type(other) in _PLAIN or isinstance(other, Tracer):
      return program(self, other) if get_current() is EVAL else body(self, other)
    return fun(self, other) if _acceptable(other) else _refuse(symbol, self, other)

  return operator


def _backward(symbol: str, fun: Callable[..., Any]) -> Callable[[Any, Any], Any]:
  program, body = _parts(fun)

  def operator(self: Any, other: Any) -> Any:
    if type(other) in _PLAIN or isinstance(other, Tracer):
      return program(other, self) if get_current() is EVAL else body(other, self)
    return fun(other, self) if _acceptable(other) else _refuse(symbol, other, self)

  return operator


def _parts(fun: Callable[..., Any]) -> tuple[Callable[..., Any], Callable[..., Any]]:
  """The program of a compiled function, and what is traced; or twice the function."""
  program = getattr(fun, "program", None)
  if program is None:
    return fun, fun
  return program, fun.__wrapped__  # type: ignore[attr-defined]


def _binary(name: str, symbol: str, fun: Callable[..., Any]) -> dict[str, Any]:
  """The operator and its mirror image."""
  return {
      f"__{name}__": _forward(symbol, fun), f"__r{name}__": _backward(symbol, fun)}


def _unary(fun: Callable[..., Any]) -> Callable[[Any], Any]:
  program, body = _parts(fun)

  def operator(self: Any) -> Any:
    return program(self) if get_current() is EVAL else body(self)

  return operator


_numpy: Any = sys.modules["gnomon.numpy"]  # complete by the time that an operator runs


def _matmul(x: Any, y: Any) -> Any:
  return _numpy.matmul(x, y)


def _round(self: Any, ndigits: int | None = None) -> Any:
  if ndigits is not None:
    return _rounding.round(self, decimals=ndigits)
  return _rounding.round_to_integer(self)


def _named(operators: dict[str, Any]) -> dict[str, Any]:
  for name, operator in operators.items():
    operator.__name__ = name
    operator.__qualname__ = f"Array.{name}"
    operator.__doc__ = f"The operator `{name}`, elementwise; see `gnomon.numpy`."
  return operators


OPERATORS: dict[str, Any] = _named({
    **_binary("add", "+", _arithmetic.add),
    **_binary("sub", "-", _arithmetic.subtract),
    **_binary("mul", "*", _arithmetic.multiply),
    **_binary("truediv", "/", _arithmetic.true_divide),
    **_binary("floordiv", "//", _arithmetic.floor_divide),
    **_binary("mod", "%", _arithmetic.remainder),
    **_binary("divmod", "divmod", _arithmetic.divmod),
    **_binary("pow", "**", _power.power),
    **_binary("matmul", "@", _matmul),
    **_binary("lshift", "<<", _bitwise.left_shift),
    **_binary("rshift", ">>", _bitwise.right_shift),
    **_binary("and", "&", _bitwise.bitwise_and),
    **_binary("or", "|", _bitwise.bitwise_or),
    **_binary("xor", "^", _bitwise.bitwise_xor),
    "__eq__": _forward("==", _comparison.equal),
    "__ne__": _forward("!=", _comparison.not_equal),
    "__lt__": _forward("<", _comparison.less),
    "__le__": _forward("<=", _comparison.less_equal),
    "__gt__": _forward(">", _comparison.greater),
    "__ge__": _forward(">=", _comparison.greater_equal),
    "__neg__": _unary(_arithmetic.negative),
    "__pos__": _unary(_arithmetic.positive),
    "__abs__": _unary(_arithmetic.absolute),
    "__invert__": _unary(_bitwise.bitwise_not),
    "__round__": _round,
})
