"""Mutable references under transformations: calls on them, and where `vmap` maps them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from gnomon.core import refs
from gnomon.core.derive import expand, move
from gnomon.core.discharge import contents, evaluate, pure, put_back
from gnomon.core.jaxpr import ClosedJaxpr, Jaxpr
from gnomon.core.primitive import Primitive
from gnomon.core.ref_transforms import read
from gnomon.core.ref_type import AbstractRef
from gnomon.core.ref_values import Box, check_level
from gnomon.core.rule import batch_rule, discharge_rule
from gnomon.core.trace import Tracer, tracing
from gnomon.core.types import typeof
from gnomon.transform.call import closed_once, jit_p
from gnomon.transform.custom_derivatives import custom_jvp_call_p, custom_vjp_call_p
from gnomon.transform.remat import rebind, remat_p
from gnomon.transform.vmap import Axis, vmap_flat

Values = Sequence[Any]


@discharge_rule.define(jit_p)
def _(operands: Values, *, jaxpr: ClosedJaxpr, **params: Any) -> Values:
  inner, written = pure(jaxpr)
  params["donated_invars"] = (False,) * len(operands)
  outs = jit_p.apply(*contents(operands), jaxpr=inner, **params)
  n = len(jaxpr.out_avals)
  put_back(operands, written, outs[n:])
  return outs[:n]


@discharge_rule.define(remat_p)
def _(operands: Values, *, jaxpr: Jaxpr, **params: Any) -> Values:
  inner, written = pure(closed_once(jaxpr))
  outs = rebind(inner, contents(operands), **params)
  n = len(jaxpr.outvars)
  put_back(operands, written, outs[n:])
  return outs[:n]


def _inlined(p: Primitive) -> None:
  """The function itself stands for the call: its rule of derivatives is left out."""
  @discharge_rule.define(p)
  def _(operands: Values, *, call_jaxpr: ClosedJaxpr, **_: Any) -> Values:
    return evaluate(call_jaxpr.jaxpr, call_jaxpr.consts, operands, boxed=True)


_inlined(custom_jvp_call_p)
_inlined(custom_vjp_call_p)


# An index that is mapped, into a reference that is not.


@batch_rule.define(refs.get_p)
def _(axis: Axis, args: Values, dims: Sequence[int | None], *,
      transforms: Any) -> tuple[Values, Values]:
  whole = refs.get(args[0])
  return vmap_flat(
      lambda *operands: [read(whole, operands, transforms)], axis, args[1:],
      dims[1:])


class Mapped(Box):
  """A reference mapped by `vmap`: its parts are those of another one along an axis."""

  __slots__ = ("_of", "_wrap")

  def __init__(
      self, trace: Any, of: Any, aval: AbstractRef, unwrap: Callable[[Any], Any],
      wrap: Callable[[Any], Any]) -> None:
    super().__init__(trace, aval, unwrap)
    self._of, self._wrap = of, wrap

  def content(self) -> Any:
    with tracing(self._trace.parent):
      whole = refs.get(self._of)
    return self._wrap(whole)

  def replace(self, value: Any) -> None:
    if isinstance(value, Tracer):
      check_level(self, value, "a set/swap operation")
    whole = self._content(value)
    with tracing(self._trace.parent):
      refs.set(self._of, None, whole)


def mapped(trace: Any, ref: Any, dim: int, wrap: Any) -> Mapped:
  """A reference whose dimension `dim` is mapped by a trace."""
  aval: AbstractRef = typeof(ref)
  s, size = aval.shape, trace.axis.size

  def unwrap(value: Any) -> Any:
    (x,), (d,), _ = trace.split([value])
    return expand(x, size, dim) if d is None else move(x, d, dim)

  inner = aval.inner_aval.update(shape=s[:dim] + s[dim + 1:])
  return Mapped(trace, ref, aval.update(inner), unwrap, wrap)
