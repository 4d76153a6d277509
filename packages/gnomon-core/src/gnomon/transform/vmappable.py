"""Types of other libraries that `vmap` maps in a way of their own.

Such a value holds arrays, and a spec says how it is mapped.
`to_elt(cont, get_idx, x, spec)` gives what the mapped function sees, by
`cont(array, axis)` for each array; `from_elt(cont, size, elt, spec)` goes back, by
`cont(size, array, axis)`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple


class Kind(NamedTuple):
  """How a type is mapped."""

  spec: type
  to_elt: Callable[..., Any]
  from_elt: Callable[..., Any]


registered: dict[type, Kind] = {}


def register(
    data_type: type, spec_type: type, axis_size_type: type, to_elt: Callable[..., Any],
    from_elt: Callable[..., Any], make_iota: Callable[..., Any] | None) -> None:
  """Makes `vmap` map values of a type by these functions.

  Args:
    data_type: the type.
    spec_type: the type of entries of `in_axes` and `out_axes` for it.
    axis_size_type: the type of sizes of axes; sizes are plain integers here.
    to_elt: gives what the mapped function sees.
    from_elt: gives what `vmap` returns.
    make_iota: gives the indices along an axis, for sizes of a type of their own.

  Raises:
    ValueError: the type is registered already, or `axis_size_type` is not int.
  """
  del make_iota
  if data_type in registered:
    raise ValueError(f"the type {data_type} is registered as vmappable already")
  if axis_size_type is not int:
    raise ValueError(
        f"axes have sizes of type int, not {axis_size_type}: pass axis_size_type=int")
  registered[data_type] = Kind(spec_type, to_elt, from_elt)


def is_own(x: Any) -> bool:
  """Whether `x` is a value of a registered type: a leaf here, even if it is a pytree."""
  return type(x) in registered


def unregister(data_type: type) -> None:
  """Forgets a type that was registered.

  Raises:
    KeyError: it was not.
  """
  del registered[data_type]


def is_spec(x: Any) -> bool:
  """Whether `x` says how a value of a registered type is mapped."""
  return any(isinstance(x, kind.spec) for kind in registered.values())


def _no_index() -> Any:
  raise NotImplementedError("to_elt: the index of a mapped element is not available")


def element(x: Any, spec: Any, leaf: Callable[[Any, Any], Any]) -> Any:
  """What the mapped function sees; `leaf(array, axis)` is what it sees of an array."""
  def cont(y: Any, inner: Any) -> Any:
    if type(y) in registered:
      return element(y, inner, leaf)
    return y if inner is None else leaf(y, inner)

  return registered[type(x)].to_elt(cont, _no_index, x, spec)


def whole(elt: Any, size: int, spec: Any, leaf: Callable[[Any, Any], Any]) -> Any:
  """What `vmap` returns for a result; `leaf(array, axis)` puts its mapped axis there."""
  def cont(n: int, y: Any, inner: Any) -> Any:
    return whole(y, n, inner, leaf) if type(y) in registered else leaf(y, inner)

  return registered[type(elt)].from_elt(cont, size, elt, spec)
