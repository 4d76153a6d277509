"""Primitives: operations by name. What they mean stands in transformations' tables."""

from __future__ import annotations

from typing import Any

from gnomon.core.trace import current

_all: list[Primitive] = []


# `bind` of these gives a list in JAX; of others it gives the result itself. Views for
# other libraries (`interpreters`, `extend`) speak in that way of all primitives.
_SEVERAL = frozenset({
    "approx_top_k", "call", "closed_call", "cond", "custom_jvp_call", "custom_lin",
    "custom_linear_solve", "custom_vjp_call", "device_put", "eig", "eigh", "hessenberg",
    "io_callback", "jit", "lu", "optimization_barrier", "pure_callback", "qr", "reduce",
    "reduce_window", "remat2", "rng_bit_generator", "scan", "schur", "sort", "split",
    "svd", "threefry2x32", "top_k", "tridiagonal", "unstack", "while"})


class Primitive:
  """An operation's name.

  `apply` hands the operands to the current trace; the result is always a tuple. `bind` is
  the same for other libraries: a list of results, or the only one, as in JAX.
  """

  __slots__ = ("__weakref__", "call", "name")

  # Attributes of JAX's primitives that walkers of jaxprs look at.
  call_primitive: Any = False
  map_primitive: Any = False

  def __init__(self, name: str, *, call: bool = False) -> None:
    self.name = name
    self.call = call  # holds jaxprs in its params
    _all.append(self)

  def __repr__(self) -> str:
    return self.name

  def apply(self, *args: Any, **params: Any) -> tuple[Any, ...]:
    """Applies the primitive under the current trace; the results, always a tuple."""
    return current.get().process(self, args, params)

  def bind(self, *args: Any, **params: Any) -> Any:
    """Applies the primitive: a list of results if it has several, else the only one."""
    outs = current.get().process(self, args, params)
    return list(outs) if self.multiple_results or len(outs) != 1 else outs[0]

  @property
  def multiple_results(self) -> Any:
    """Whether `bind` gives a list, even of one result."""
    return self.name in _SEVERAL

  def get_bind_params(self, params: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
    """The functions, as leading operands, and params with which an equation is bound."""
    return [], params


def all_primitives() -> tuple[Primitive, ...]:
  """Every primitive defined so far, in order of definition."""
  return tuple(_all)
