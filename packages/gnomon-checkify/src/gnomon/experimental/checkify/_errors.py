"""Errors as values: which check failed first, and with what values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gnomon.tree_util import register_pytree_node_class


class JaxRuntimeError(ValueError):
  """What `Error.throw` raises."""


class JaxException(Exception):
  """Base of the kinds of errors."""


class FailedCheckError(JaxException):
  """A `check` of the user's failed."""


class NaNError(JaxException):
  """An operation made a NaN."""


class OOBError(JaxException):
  """An index was out of bounds."""


class DivisionByZeroError(JaxException):
  """Something was divided by zero."""


ErrorCategory = type[JaxException]

user_checks: frozenset[ErrorCategory] = frozenset({FailedCheckError})
nan_checks: frozenset[ErrorCategory] = frozenset({NaNError})
index_checks: frozenset[ErrorCategory] = frozenset({OOBError})
div_checks: frozenset[ErrorCategory] = frozenset({DivisionByZeroError})
float_checks: frozenset[ErrorCategory] = nan_checks | div_checks
automatic_checks: frozenset[ErrorCategory] = float_checks | index_checks
all_checks: frozenset[ErrorCategory] = automatic_checks | user_checks


class Site:
  """A place in a program that can fail: how to tell of it, given the values there.

  Sites compare by what they are, so that programs made twice give errors of one type.
  """

  __slots__ = ("category", "message", "tree")

  def __init__(self, category: ErrorCategory, message: str, tree: Any = None) -> None:
    self.category, self.message, self.tree = category, message, tree

  def _key(self) -> tuple[Any, ...]:
    return (self.category, self.message, self.tree)

  def __eq__(self, other: object) -> bool:
    return isinstance(other, Site) and self._key() == other._key()

  def __hash__(self) -> int:
    return hash(self._key())

  def text(self, payload: Sequence[Any]) -> str:
    """The message, with the values of the place that failed."""
    if self.tree is None:
      values = [np.asarray(x).item() for x in payload]
      return self.message.format(*values)
    args, kwargs = self.tree.unflatten(payload)
    return self.message.format(*args, **kwargs) + " (`check` failed)"


@register_pytree_node_class
class Error:
  """Which check failed first, if any did: a pytree, which any transformation passes on.

  >>> import gnomon
  >>> from gnomon.experimental import checkify
  >>> def f(x):
  ...   checkify.check(x > 0, "not positive")
  ...   return x
  >>> error, _ = checkify.checkify(f)(gnomon.numpy.float32(-1.0))
  >>> error
  Error(not positive (`check` failed))
  >>> checkify.init_error
  Error(None)
  """

  def __init__(
      self, code: Any, payloads: Sequence[Sequence[Any]], sites: Sequence[Site]) -> None:
    self._code, self._sites = code, tuple(sites)
    self._payloads = tuple(tuple(p) for p in payloads)

  def tree_flatten(self) -> tuple[tuple[Any, Any], tuple[Site, ...]]:
    """The code of the site that failed, and the values at each site; and the sites."""
    return (self._code, self._payloads), self._sites

  @classmethod
  def tree_unflatten(cls, sites: Any, children: Any) -> Error:
    """The error of the parts that `tree_flatten` gives."""
    made: Error = object.__new__(cls)
    made._code, made._payloads = children
    made._sites = sites
    return made

  def get(self) -> str | None:
    """What went wrong, or None. Of a mapped program: a line for each element that failed.

    Raises:
      ConcretizationTypeError: it is called while a function is traced.
    """
    codes = np.asarray(self._code)
    if (codes < 0).all():
      return None
    if codes.ndim == 0:
      return self._text(int(codes), ())
    lines = []
    for index in zip(*np.nonzero(codes >= 0), strict=True):
      place = ", ".join(str(i) for i in index)
      lines.append(f"at mapped index {place}: {self._text(int(codes[index]), index)}")
    return "\n".join(lines)

  def _text(self, code: int, index: tuple[Any, ...]) -> str:
    return self._sites[code].text(
        [x[index] if index else x for x in self._payloads[code]])

  def get_exception(self) -> JaxException | None:
    """The exception of the kind of what went wrong, or None."""
    text = self.get()
    if text is None:
      return None
    codes = np.asarray(self._code)
    return self._sites[int(codes[codes >= 0].flat[0])].category(text)

  def throw(self) -> None:
    """Raises what went wrong, if anything did.

    Raises:
      JaxRuntimeError: with the message of `get`.
    """
    text = self.get()
    if text is not None:
      raise JaxRuntimeError(text)

  def __repr__(self) -> str:
    try:
      return f"Error({self.get()})"
    except Exception:  # noqa: BLE001 -- a traced error has no message yet
      return f"Error(code={self._code!r})"


init_error = Error(np.int32(-1), (), ())
