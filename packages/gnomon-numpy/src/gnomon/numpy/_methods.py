"""Operators and methods of arrays: functions of this package under other names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gnomon.core.trace import Tracer
from gnomon.numpy import _arithmetic, _bitwise, _comparison, _power, _rounding
from gnomon.runtime.jaxlib import arrays

Array = arrays.Array
_OPERANDS = (int, float, complex, np.ndarray, np.generic, Array, Tracer)
_FAST = frozenset({Array, int, float, bool, complex})


def _acceptable(x: Any) -> bool:
  return isinstance(x, _OPERANDS) or hasattr(x, "__jax_array__")


def _binary(name: str, symbol: str, fun: Callable[..., Any]) -> dict[str, Any]:
  """The operator and its mirror image; both leave strange types to the other operand."""

  def forward(self: Any, other: Any) -> Any:
    if type(other) in _FAST or _acceptable(other):
      return fun(self, other)
    return _refuse(symbol, self, other)

  def backward(self: Any, other: Any) -> Any:
    if type(other) in _FAST or _acceptable(other):
      return fun(other, self)
    return _refuse(symbol, other, self)

  methods = {f"__{name}__": forward, f"__r{name}__": backward}
  for key, method in methods.items():
    method.__name__ = key
    method.__doc__ = f"`{'x' if method is forward else 'other'} {symbol} …`, elementwise."
  return methods


def _comparing(name: str, symbol: str, fun: Callable[..., Any]) -> dict[str, Any]:
  return {f"__{name}__": _binary(name, symbol, fun)[f"__{name}__"]}


def _refuse(symbol: str, x: Any, y: Any) -> Any:
  if isinstance(x, (list, tuple)) or isinstance(y, (list, tuple)):
    raise TypeError(
        f"unsupported operand type(s) for {symbol}: {type(x).__name__!r} and "
        f"{type(y).__name__!r}; convert the sequence first, with gnomon.numpy.asarray")
  return NotImplemented


def _unary(fun: Callable[..., Any]) -> Any:
  def method(self: Any) -> Any:
    return fun(self)

  return method


def _matmul(x: Any, y: Any) -> Any:
  from gnomon import numpy
  return numpy.matmul(x, y)


def _round(self: Any, ndigits: int | None = None) -> Any:
  """`round(x)`: to the nearest, halves to the even one; with `ndigits`, so many digits."""
  return _rounding.round(self, decimals=ndigits or 0)


OPERATORS: dict[str, Any] = {
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
    **_comparing("eq", "==", _comparison.equal),
    **_comparing("ne", "!=", _comparison.not_equal),
    **_comparing("lt", "<", _comparison.less),
    **_comparing("le", "<=", _comparison.less_equal),
    **_comparing("gt", ">", _comparison.greater),
    **_comparing("ge", ">=", _comparison.greater_equal),
    "__neg__": _unary(_arithmetic.negative),
    "__pos__": _unary(_arithmetic.positive),
    "__abs__": _unary(_arithmetic.absolute),
    "__invert__": _unary(_bitwise.bitwise_not),
    "__round__": _round,
    "__array_priority__": 100,
}
