"""Functions with vectorisation rules of their own, and the derivatives of such rules."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from gnomon.core.derive import expand
from gnomon.core.jaxpr import ClosedJaxpr, eval_jaxpr, memoised
from gnomon.core.primitive import Primitive
from gnomon.core.rule import (
  batch_rule,
  effects_rule,
  impl_rule,
  jvp_rule,
  linearize_rule,
  lower,
  transpose_rule,
  typing_rule,
)
from gnomon.core.stage import trace_to_closed
from gnomon.core.structural import instantiate
from gnomon.core.types import typeof
from gnomon.core.zero import UndefinedPrimal, Zero
from gnomon.transform.expansion import define_by_expansion
from gnomon.transform.jvp import Moves, jvp_flat, jvp_jaxpr, moves_of, moving, place
from gnomon.transform.linearize import linearize_flat
from gnomon.transform.transpose import backward
from gnomon.transform.vmap import Axis, to_dim, vmap_flat

# From the size of the axis, which operands are mapped (along their first axis), and the
# operands, to the results and which of them are mapped.
Flags = Sequence[bool]
MapRule = Callable[[int, Flags, Sequence[Any]], tuple[Sequence[Any], Flags]]

custom_vmap_call_p = Primitive("custom_vmap_call", call=True)
typing_rule.define(custom_vmap_call_p)(lambda *_, call, **__: tuple(call.out_avals))
effects_rule.define(custom_vmap_call_p)(lambda *_, call, **__: call.effects)
impl_rule.define(custom_vmap_call_p)(
    lambda *args, call, **_: eval_jaxpr(call.jaxpr, call.consts, *args))
lower.define(custom_vmap_call_p)(
    lambda ctx, *values, call, **_: ctx.inline(call, values))


@batch_rule.define(custom_vmap_call_p)
def _(axis: Axis, args: Sequence[Any], dims: Sequence[int | None], *, call: ClosedJaxpr,
      rule: MapRule, **_: Any) -> Any:
  mapped = [d is not None for d in dims]
  args = [to_dim(x, d, 0, axis.size) if m else x for x, d, m in zip(args, dims, mapped)]
  outs, flags = rule(axis.size, mapped, args)
  for i, (o, m, a) in enumerate(zip(outs, flags, call.out_avals)):
    shape = typeof(o).shape
    if (shape[:1] != (axis.size,)) if m else (shape != a.shape):
      how = (
          f"mapped: its first dimension must be {axis.size}" if m
          else f"not mapped: its shape must be {a.shape}")
      raise ValueError(
          f"the custom vmap rule {rule!r} says that result {i} is {how}, got the shape "
          f"{shape}")
  return outs, [0 if m else None for m in flags]


@transpose_rule.define(custom_vmap_call_p)
def _(cts: Sequence[Any], args: Sequence[Any], *, call: ClosedJaxpr, **_: Any) -> Any:
  return backward(call.jaxpr, call.consts, args, cts)


# ---- forward mode: the derivative of the rule


def _real(avals: Sequence[Any]) -> Moves:
  """Which values of these types can have tangents."""
  return tuple([a.to_tangent_aval() is a for a in avals])


class JvpOfRule:
  """The forward derivative of a rule: a value and its tangent are mapped together."""

  __slots__ = ("moves", "rule")

  def __init__(self, rule: MapRule, moves: Moves) -> None:
    self.rule, self.moves = rule, moves

  def __call__(
      self, size: int, mapped: Flags, args: Sequence[Any]) -> tuple[list[Any], Flags]:
    n = len(self.moves)
    if not any(mapped[:n]):
      found = self._of_tangents(size, mapped, args)
      if found is not None:
        return found
    ts = place(args[n:], self.moves, [typeof(x) for x in args[:n]])
    with_t = iter(mapped[n:])
    together = [m | (t and next(with_t)) for m, t in zip(mapped, self.moves)]
    xs = [_mapped(x, m, b, size) for x, m, b in zip(args, mapped, together)]
    with_t = iter(mapped[n:])
    ts = [
        _mapped(t, next(with_t), b, size) if m
        else Zero(typeof(x).to_tangent_aval())
        for t, m, b, x in zip(ts, self.moves, together, xs)]
    flags: Flags = ()

    def mapped_rule(*ys: Any) -> Sequence[Any]:
      nonlocal flags
      outs, flags = self.rule(size, together, ys)
      return outs

    outs, touts = jvp_flat(mapped_rule, xs, ts)
    real = _real([typeof(o) for o in outs])
    return (
        [*outs, *(instantiate(t) for t, r in zip(touts, real) if r)],
        [*flags, *(m for m, r in zip(flags, real) if r)])

  def _of_tangents(
      self, size: int, mapped: Flags, args: Sequence[Any],
  ) -> tuple[list[Any], Flags] | None:
    """Only tangents are mapped: so is the linear part, of one point.

    None if the rule maps results even of operands that are not mapped.
    """
    n = len(self.moves)
    avals = [typeof(x) for x in args[:n]]
    flags: Flags = ()

    def rule(*ys: Any) -> Sequence[Any]:
      nonlocal flags
      outs, flags = self.rule(size, mapped[:n], ys)
      return outs

    def push(*ts: Any) -> list[Any]:
      outs, touts = jvp_flat(rule, args[:n], place(ts, self.moves, avals))
      real = _real([typeof(o) for o in outs])
      return [*outs, *(instantiate(t) for t, r in zip(touts, real) if r)]

    values, places = vmap_flat(
        push, Axis(size), args[n:], [0 if m else None for m in mapped[n:]])
    if any(flags):
      return None
    return [
        v if d is None else to_dim(v, d, 0, size) for v, d in zip(values, places)
    ], [d is not None for d in places]

  def __repr__(self) -> str:
    return f"jvp of {self.rule!r}"


def _mapped(x: Any, is_mapped: bool, wanted: bool, size: int) -> Any:
  return expand(x, size) if wanted and not is_mapped else x


@jvp_rule.define(custom_vmap_call_p)
def _(primals: Sequence[Any], tangents: Sequence[Any], *, call: ClosedJaxpr,
      rule: MapRule, **params: Any) -> Any:
  moves, real = moves_of(tangents), _real(call.out_avals)
  both, moved = jvp_jaxpr(call, moves, real)
  assert moved == real
  outs = custom_vmap_call_p.apply(
      *primals, *moving(tangents), call=both, rule=JvpOfRule(rule, moves), **params)
  n = len(call.out_avals)
  return outs[:n], place(outs[n:], real, call.out_avals)


# ---- reverse mode: the linear part keeps the call, so that it may still be mapped


@linearize_rule.define(custom_vmap_call_p)
def _(primals: Sequence[Any], tangents: Sequence[Any], *, call: ClosedJaxpr,
      rule: MapRule, **params: Any) -> Any:
  outs = custom_vmap_call_p.apply(*primals, call=call, rule=rule, **params)
  real = _real(call.out_avals)
  if not any(real):
    return outs, place((), real, call.out_avals)
  touts = custom_vmap_lin_p.apply(
      *primals, *moving(tangents), call=call, rule=rule, moves=moves_of(tangents))
  return outs, place(touts, real, call.out_avals)


custom_vmap_lin_p = Primitive("custom_vmap_linear", call=True)  # (primals, tangents)
typing_rule.define(custom_vmap_lin_p)(
    lambda *_, call, **__: tuple(
        [a for a, r in zip(call.out_avals, _real(call.out_avals)) if r]))


def _expanded(*args: Any, call: ClosedJaxpr, rule: MapRule, moves: Moves) -> list[Any]:
  both, _ = jvp_jaxpr(call, moves, _real(call.out_avals))
  outs = custom_vmap_call_p.apply(*args, call=both, rule=JvpOfRule(rule, moves))
  return list(outs[len(call.out_avals):])


define_by_expansion(custom_vmap_lin_p, _expanded)


class VjpOfRule:
  """The reverse derivative of a rule, from arguments and cotangents.

  Arguments that are differentiated count as mapped: each element has a cotangent of its
  own.
  """

  __slots__ = ("moves", "rule")

  def __init__(self, rule: MapRule, moves: Moves) -> None:
    self.rule, self.moves = rule, moves

  def __call__(
      self, size: int, mapped: Flags, args: Sequence[Any]) -> tuple[list[Any], Flags]:
    n = len(self.moves)
    together = [m or t for m, t in zip(mapped, self.moves)]
    xs = [_mapped(x, m, b, size) for x, m, b in zip(args, mapped, together)]
    cts = [_mapped(ct, m, True, size) for ct, m in zip(args[n:], mapped[n:])]

    def mapped_rule(*ys: Any) -> list[Any]:
      outs, flags = self.rule(size, together, ys)
      return [_mapped(o, m, True, size) for o, m in zip(outs, flags)]

    found = _pulled(mapped_rule, xs, self.moves, cts)
    return found, [True] * len(found)

  def __repr__(self) -> str:
    return f"vjp of {self.rule!r}"


def _pulled(
    f: Callable[..., Sequence[Any]], xs: Sequence[Any], moves: Moves,
    cts: Sequence[Any]) -> list[Any]:
  """The cotangents of the arguments that move, for those of the real results."""
  outs, lin = linearize_flat(f, xs, moves)
  given = iter(cts)
  full = [next(given) if r else None for r in _real([typeof(o) for o in outs])]
  found = backward(
      lin.jaxpr, lin.residuals, [UndefinedPrimal(v.aval) for v in lin.jaxpr.invars],
      [ct for ct, m in zip(full, lin.out_moves) if m])
  return [instantiate(ct) for ct in found]


@transpose_rule.define(custom_vmap_lin_p)
def _(cts: Sequence[Any], args: Sequence[Any], *, call: ClosedJaxpr, rule: MapRule,
      moves: Moves) -> list[Any]:
  n = len(moves)
  cts = [instantiate(ct) for ct in cts]

  def make() -> ClosedJaxpr:
    def back(*xs: Any) -> list[Any]:
      return _pulled(
          lambda *ys: eval_jaxpr(call.jaxpr, call.consts, *ys), xs[:n], moves, xs[n:])

    real = [a for a, r in zip(call.out_avals, _real(call.out_avals)) if r]
    return trace_to_closed(back, [*call.in_avals, *real])

  back = memoised(call, ("vjp of custom_vmap", moves), make)
  return [None] * n + list(custom_vmap_call_p.apply(
      *args[:n], *cts, call=back, rule=VjpOfRule(rule, moves)))
