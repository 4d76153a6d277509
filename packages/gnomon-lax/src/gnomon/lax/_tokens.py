"""Tokens, which carry nothing but an order; sends and receives between devices."""

from __future__ import annotations

from typing import Any

from gnomon.core.primitive import Primitive
from gnomon.core.rule import batch_rule, lower, typing_rule
from gnomon.core.types import (
  AbstractToken,
  ShapedArray,
  TokenType,
  WrappedArray,
  abstract_token,
  typeof,
)
from gnomon.lax._named_axes import names_of, total_size, unplaced
from gnomon.runtime.compile import result_wrappers


class Token(WrappedArray):
  """A token, once it is computed."""

  __slots__ = ("physical",)

  aval = abstract_token

  def __init__(self, physical: Any) -> None:
    self.physical = physical

  def with_physical(self, array: Any) -> Token:
    return Token(array)

  def block_until_ready(self) -> Token:
    """The token itself, when what it stands for has happened."""
    self.physical.block_until_ready()
    return self


result_wrappers[TokenType] = lambda aval: Token


def create_token(_: Any = None) -> Any:
  """A token that nothing comes before.

  >>> from gnomon import lax
  >>> lax.create_token().aval
  Token
  """
  return create_token_p.apply()[0]


create_token_p = Primitive("create_token")
typing_rule.define(create_token_p)(lambda: (abstract_token,))
lower.define(create_token_p)(lambda ctx: [ctx.b.full(abstract_token, False)])


def after_all(*operands: Any) -> Any:
  """A token that comes after all tokens given.

  >>> from gnomon import lax
  >>> lax.after_all(lax.create_token(), lax.create_token()).aval
  Token

  Raises:
    TypeError: an operand is no token.
  """
  return after_all_p.apply(*operands)[0]


after_all_p = Primitive("after_all")


@typing_rule.define(after_all_p)
def _(*operands: Any) -> tuple[AbstractToken]:
  if not all(isinstance(a, AbstractToken) for a in operands):
    raise TypeError(
        "Arguments to after_all must be tokens, as create_token and after_all return; "
        f"got {', '.join(map(str, operands))}")
  return (abstract_token,)


@lower.define(after_all_p)
def _(ctx: Any, *tokens: Any) -> Any:
  if not tokens:
    return [ctx.b.full(abstract_token, False)]
  types = [t.type for t in tokens]
  return [ctx.b.op("stablehlo.optimization_barrier", types, tokens).results[0]]


batch_rule.define(after_all_p)(
    lambda axis, args, dims: (after_all_p.apply(*args), [None]))


# ---- between single devices: only a program spread over devices can do it


def psend(x: Any, axis_name: Any, perm: Any) -> Any:
  """Sends a value from some devices along a named axis to others, which receive it.

  It has a meaning only in programs that are spread over devices: a mapped function is one
  program, in which `ppermute` moves values.

  Args:
    x: an array.
    axis_name: the name of an axis, or a tuple of names.
    perm: pairs (source, destination) of indices along the axis.

  Returns:
    A token for the `precv` of those who receive.

  Raises:
    NameError: no axis in force has the name.
  """
  names = names_of(axis_name)
  total_size(names)
  return psend_p.apply(x, axis_name=names, perm=_pairs(perm))[0]


def precv(token: Any, out_shape: Any, axis_name: Any, perm: Any) -> Any:
  """Receives a value that other devices along a named axis send with `psend`.

  Args:
    token: what `psend` returned.
    out_shape: what is received: something with a shape and a dtype.
    axis_name: the name of an axis, or a tuple of names.
    perm: pairs (source, destination) of indices along the axis.

  Raises:
    NameError: no axis in force has the name.
    TypeError: `token` is none.
  """
  names = names_of(axis_name)
  total_size(names)
  if not isinstance(typeof(token), AbstractToken):
    raise TypeError(f"precv: the first argument must be a token, got {typeof(token)}")
  aval = ShapedArray(tuple(out_shape.shape), out_shape.dtype)
  return precv_p.apply(token, out_shape=aval, axis_name=names, perm=_pairs(perm))[0]


def _pairs(perm: Any) -> tuple[tuple[int, int], ...]:
  return tuple([(int(s), int(d)) for s, d in perm])


psend_p = Primitive("psend")
typing_rule.define(psend_p)(lambda x, **_: (abstract_token,))
unplaced(psend_p)
precv_p = Primitive("precv")
typing_rule.define(precv_p)(lambda token, *, out_shape, **_: (out_shape,))
unplaced(precv_p)


def _needs_devices(axis: Any, args: Any, dims: Any, **_: Any) -> Any:
  raise NotImplementedError(
      "psend and precv are for programs that are spread over devices; in a function "
      "mapped by vmap use ppermute")


for _p in (psend_p, precv_p):
  batch_rule.define(_p)(_needs_devices)
