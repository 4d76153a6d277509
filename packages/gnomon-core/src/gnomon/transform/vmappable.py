"""Types of other libraries that `vmap` maps in a way of their own.

Such a value holds arrays, and a spec says how it is mapped.
`to_elt(cont, get_idx, x, spec)` gives what the mapped function sees, by
`cont(array, axis)` for each array; `from_elt(cont, size, elt, spec)` goes back, by
`cont(size, array, axis)`. Each is called twice for a value: once to learn of the arrays,
and once to replace them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
  """Makes `vmap` map values of a type, which must be no pytree, by these functions.

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


def _to_elt(x: Any, spec: Any, leaf: Callable[[Any, Any], Any]) -> Any:
  def cont(y: Any, inner: Any) -> Any:
    if type(y) in registered:
      return _to_elt(y, inner, leaf)
    return y if inner is None else leaf(y, inner)

  return registered[type(x)].to_elt(cont, _no_index, x, spec)


def arrays_in(x: Any, spec: Any) -> list[tuple[Any, int]]:
  """The arrays in a value of a registered type, each with its mapped axis."""
  found: list[tuple[Any, int]] = []

  def leaf(y: Any, axis: int) -> Any:
    found.append((y, axis))
    return y

  _to_elt(x, spec, leaf)
  return found


def element(x: Any, spec: Any, arrays: Sequence[Any]) -> Any:
  """What the mapped function sees, with these in place of the arrays of `arrays_in`."""
  it = iter(arrays)
  return _to_elt(x, spec, lambda y, axis: next(it))


def _from_elt(
    elt: Any, size: int, spec: Any, leaf: Callable[[Any, Any], Any]) -> Any:
  def cont(n: int, y: Any, inner: Any) -> Any:
    return _from_elt(y, n, inner, leaf) if type(y) in registered else leaf(y, inner)

  return registered[type(elt)].from_elt(cont, size, elt, spec)


def arrays_out(elt: Any, size: Any, spec: Any) -> list[tuple[Any, Any]]:
  """The arrays in a result of a registered type, each with where its mapped axis goes."""
  found: list[tuple[Any, Any]] = []

  def leaf(y: Any, axis: Any) -> Any:
    found.append((y, axis))
    return y

  _from_elt(elt, size, spec, leaf)
  return found


def whole(elt: Any, size: int, spec: Any, arrays: Sequence[Any]) -> Any:
  """What `vmap` returns, with these in place of the arrays of `arrays_out`."""
  it = iter(arrays)
  return _from_elt(elt, size, spec, lambda y, axis: next(it))
