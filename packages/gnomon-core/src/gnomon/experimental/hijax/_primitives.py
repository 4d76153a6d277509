"""Operations with rules of their own, on arrays and on values that consist of arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from gnomon.core import foreign
from gnomon.core.primitive import Primitive
from gnomon.core.rule import (
  batch_rule,
  dce_rule,
  effects_rule,
  impl_rule,
  jvp_rule,
  linearize_rule,
  lower,
  transpose_rule,
  typing_rule,
)
from gnomon.core.stage import trace_to_closed
from gnomon.core.structural import add_tangents, instantiate
from gnomon.core.trace import EVAL, Tracer, get_current
from gnomon.core.types import AbstractValue, must_define, typeof
from gnomon.core.zero import UndefinedPrimal, Zero
from gnomon.transform.custom_derivatives import custom_lin_p
from gnomon.transform.jvp import moves_of, moving
from gnomon.transform.vmap import to_dim, vmap_flat
from gnomon.tree_util import tree_flatten

call_hi_primitive_p = Primitive("call_hi_primitive")


# ---- values and their arrays


def lower_types(avals: Any) -> list[Any]:
  """The types of the arrays of values of these types (a pytree of types)."""
  return [lo for a in tree_flatten(avals)[0] for lo in a.lo_ty()]


def lower_value(avals: Any, value: Any) -> list[Any]:
  """The arrays of a value of these types."""
  types, tree = tree_flatten(avals)
  return [
      x for a, v in zip(types, tree.flatten_up_to(value), strict=True)
      for x in (a.lower_val(v) if a.is_high else [v])]


def raise_value(avals: Any, arrays: Sequence[Any]) -> Any:
  """The value of these types that consists of some arrays."""
  types, tree = tree_flatten(avals)
  it = iter(arrays)
  return tree.unflatten([
      a.raise_val(*[next(it) for _ in a.lo_ty()]) if a.is_high else next(it)
      for a in types])


def _split(avals: Sequence[Any], arrays: Sequence[Any]) -> list[list[Any]]:
  """The arrays of each of several values."""
  it = iter(arrays)
  return [[next(it) for _ in lower_types(a)] for a in avals]


def _raise_all(avals: Sequence[Any], arrays: Sequence[Any]) -> list[Any]:
  return [
      raise_value(a, part)
      for a, part in zip(avals, _split(avals, arrays), strict=True)]


def tangent_types(avals: Any) -> Any:
  """The types of tangents.

  Raises:
    NotImplementedError: they do not consist of the tangents of the arrays.
  """
  types, tree = tree_flatten(avals)
  found = [a.to_tangent_aval() for a in types]
  for a, t in zip(types, found, strict=True):
    if [lo.to_tangent_aval() for lo in a.lo_ty()] != t.lo_ty():
      raise NotImplementedError(
          f"tangents of values of type {a} have the type {t}, which does not consist of "
          "the tangents of its arrays: such values cannot be differentiated here")
  return tree.unflatten(found)


def _raise_tangents(avals: Sequence[Any], tangents: Sequence[Any]) -> list[Any]:
  """Tangents of values from those of arrays: a `Zero` if all of them are."""
  out = []
  for aval, parts in zip(avals, _split(avals, tangents), strict=True):
    t = tangent_types(aval)
    if all(type(p) is Zero for p in parts) and isinstance(t, AbstractValue):
      out.append(Zero(t))
    else:
      out.append(raise_value(t, [instantiate(p) for p in parts]))
  return out


def _lower_tangents(aval: Any, tangent: Any) -> list[Any]:
  if type(tangent) is Zero:
    return [Zero(lo) for lo in lower_types(tangent_types(aval))]
  return lower_value(tangent_types(aval), tangent)


class Accumulator:
  """Collects the cotangent of an operand that a transposition is linear in."""

  __slots__ = ("_total", "aval")

  def __init__(self, aval: Any) -> None:
    self.aval = aval
    self._total: list[Any] | None = None

  def accum(self, ct: Any) -> None:
    """Adds a cotangent."""
    if type(ct) is Zero or ct is None:
      return
    parts = lower_value(tangent_types(self.aval), ct)
    self._total = parts if self._total is None else [
        add_tangents(a, b) for a, b in zip(self._total, parts, strict=True)]

  def lowered(self) -> list[Any]:
    """The cotangents of the operand's arrays."""
    zeros = [Zero(lo) for lo in lower_types(tangent_types(self.aval))]
    return zeros if self._total is None else self._total


# ---- operations


def _missing(x: object, what: str, methods: str) -> NotImplementedError:
  return NotImplementedError(
      f"{what} of {x!r} needs a method {methods} of {type(x).__name__}")


class VJPHiPrimitive:
  """An operation; a subclass says what it computes, and its rules.

  The subclass sets `in_avals` (a tuple), `out_aval` and `params` (a dict of hashable
  values, which become attributes) before it calls `super().__init__()`, and defines

  * `expand(*args)`: what it computes,
  * `vjp_fwd(nzs_in, *args) -> (out, res)` with `vjp_bwd_retval(res, ct) -> cts`, or
    `vjp_bwd(res, ct, *accums)`, which calls `accum(ct)` of each: reverse mode,
  * `jvp(primals, tangents) -> (out, tangent)`, or `lin(nzs_in, *primals) -> (out, res)`
    with `linearized(res, *tangents) -> tangent`: forward mode,
  * `transpose(ct, *args)`, for one that is linear: linear operands are accumulators,
  * `batch(axis_data, args, dims) -> (out, dim)`, or `batch_dim_rule(axis_data, dims)`.

  Without a rule for `vmap`, what `expand` computes is mapped.

  >>> import gnomon
  >>> from gnomon.experimental.hijax import VJPHiPrimitive
  >>> class Cube(VJPHiPrimitive):
  ...   def __init__(self, aval):
  ...     self.in_avals, self.out_aval, self.params = (aval,), aval, {}
  ...     super().__init__()
  ...   def expand(self, x):
  ...     return x * x * x
  ...   def vjp_fwd(self, nzs_in, x):
  ...     return self(x), x
  ...   def vjp_bwd_retval(self, x, ct):
  ...     return (3 * x * x * ct,)
  >>> gnomon.grad(lambda x: Cube(gnomon.typeof(x))(x))(2.0)
  Array(12., dtype=float32, weak_type=True)
  """

  in_avals: tuple[Any, ...] = ()
  out_aval: Any = None
  params: Mapping[str, Any] = MappingProxyType({})
  effects: Any = frozenset()

  def __init__(self) -> None:
    if self._has("vjp_bwd") and self._has("vjp_bwd_retval"):
      raise AttributeError(
          f"{type(self).__name__} defines both vjp_bwd and vjp_bwd_retval: define one")
    for name, value in self.params.items():
      setattr(self, name, value)

  def _has(self, method: str) -> bool:
    return getattr(type(self), method) is not getattr(VJPHiPrimitive, method)

  def _key(self) -> Any:
    return (
        type(self), tuple(tree_flatten(self.in_avals)[0]), tree_flatten(self.in_avals)[1],
        tuple(tree_flatten(self.out_aval)[0]), tree_flatten(self.out_aval)[1],
        tuple(sorted(self.params.items())))

  def __hash__(self) -> int:
    return hash(self._key())

  def __eq__(self, other: object) -> bool:
    return isinstance(other, VJPHiPrimitive) and self._key() == other._key()

  def __repr__(self) -> str:
    params = ", ".join(f"{k}={v}" for k, v in self.params.items())
    return f"{type(self).__name__}[{params}]"

  def __call__(self, *args: Any) -> Any:
    """Applies the operation.

    Raises:
      TypeError: the arguments are not as many as `in_avals`, or not of their types.
    """
    if len(args) != len(self.in_avals):
      raise TypeError(
          f"{self!r} takes {len(self.in_avals)} arguments, got {len(args)}")
    self.check(*args)
    arrays = [
        x for a, v in zip(self.in_avals, args, strict=True) for x in lower_value(a, v)]
    outs = self.staging(get_current(), None, *arrays)
    return raise_value(self.out_aval, outs)

  def check(self, *arg_tys: Any) -> None:
    """Raises an error if the arguments are not what the operation expects."""

  def staging(self, trace: Any, source_info: Any, *args: Any) -> Any:
    """Applies the operation to arrays under a trace."""
    del source_info
    return trace.process(call_hi_primitive_p, list(args), {"prim": self})

  def expand(self, *args: Any) -> Any:
    """What the operation computes."""
    raise must_define(self, "expand")

  # ---- rules that a subclass may define

  def jvp(self, primals: Any, tangents: Any) -> tuple[Any, Any]:
    """The result and its tangent."""
    raise _missing(self, "forward-mode differentiation", "jvp, or lin and linearized")

  def lin(self, nzs_in: Any, *primals: Any) -> tuple[Any, Any]:
    """The result, and what the linear part needs."""
    return self.vjp_fwd(nzs_in, *primals)

  def linearized(self, residuals: Any, *tangents: Any) -> Any:
    """The tangent of the result, linear in the tangents."""
    raise must_define(self, "linearized")

  def vjp_fwd(self, nzs_in: Any, /, *args: Any) -> tuple[Any, Any]:
    """The result, and what the backward rule needs."""
    raise _missing(
        self, "reverse-mode differentiation", "vjp_fwd, and vjp_bwd or vjp_bwd_retval")

  def vjp_bwd(self, res: Any, outgrad: Any, /, *arg_accums: Any) -> None:
    """Gives each accumulator its cotangent; by default those of `vjp_bwd_retval`."""
    for accum, ct in zip(arg_accums, self.vjp_bwd_retval(res, outgrad), strict=True):
      accum.accum(ct)

  def vjp_bwd_retval(self, res: Any, outgrad: Any, /) -> Sequence[Any]:
    """The cotangents of the arguments."""
    raise must_define(self, "vjp_bwd or vjp_bwd_retval")

  def transpose(self, out_ct: Any, *maybe_accums: Any) -> None:
    """Gives the accumulators among the operands their cotangents."""
    raise _missing(self, "transposition", "transpose")

  def batch(self, axis_data: Any, args: Any, dims: Any) -> tuple[Any, Any]:
    """The result for mapped arguments, and where it is mapped."""
    outs, out_dims = _expand_mapped(self, axis_data, args, dims)
    return raise_value(self.out_aval, outs), out_dims

  def batch_dim_rule(self, axis_data: Any, dims: Any, /) -> Any:
    """Where the result of mapped arguments is mapped: by default in front."""
    return 0

  def remat(self, _policy: Any, *args: Any) -> Any:
    """What `checkpoint` runs: the operation."""
    return self(*args)

  def dce(self, used_outs: Sequence[bool]) -> tuple[list[bool], VJPHiPrimitive]:
    """Which arrays the operation reads for some of its results, and that operation."""
    del used_outs
    return [True] * len(lower_types(self.in_avals)), self


def _expand(prim: VJPHiPrimitive, arrays: Sequence[Any]) -> list[Any]:
  return lower_value(prim.out_aval, prim.expand(*_raise_all(prim.in_avals, arrays)))


def _expand_mapped(
    prim: VJPHiPrimitive, axis: Any, arrays: Sequence[Any], dims: Sequence[Any],
) -> tuple[list[Any], Any]:
  outs, places = vmap_flat(lambda *xs: _expand(prim, xs), axis, arrays, dims)
  target = prim.batch_dim_rule(axis, dims)
  return [to_dim(o, d, target, axis.size) for o, d in zip(outs, places, strict=True)], (
      target)


typing_rule.define(call_hi_primitive_p)(
    lambda *_, prim: tuple(lower_types(prim.out_aval)))
effects_rule.define(call_hi_primitive_p)(lambda *_, prim: frozenset(prim.effects))
impl_rule.define(call_hi_primitive_p)(lambda *args, prim: tuple(_expand(prim, args)))


@lower.define(call_hi_primitive_p)
def _(ctx: Any, *values: Any, prim: VJPHiPrimitive) -> Any:
  jaxpr = trace_to_closed(lambda *xs: _expand(prim, xs), ctx.avals_in)
  return ctx.inline(jaxpr, values)


@jvp_rule.define(call_hi_primitive_p)
def _forward(primals: Any, tangents: Any, *, prim: VJPHiPrimitive) -> Any:
  args = _raise_all(prim.in_avals, primals)
  dots = _raise_tangents(prim.in_avals, tangents)
  if prim._has("jvp"):
    out, dot = prim.jvp(tuple(args), tuple(dots))
  elif prim._has("lin"):
    out, res = prim.lin(_moving_values(prim, tangents), *args)
    dot = prim.linearized(res, *dots)
  else:
    prim.jvp(args, dots)  # says what is missing
  return lower_value(prim.out_aval, out), _lower_tangents(prim.out_aval, dot)


def _moving_values(prim: VJPHiPrimitive, tangents: Sequence[Any]) -> tuple[bool, ...]:
  """Which arguments have tangents that are not zero."""
  return tuple(
      any(type(t) is not Zero for t in parts)
      for parts in _split(prim.in_avals, tangents))


@linearize_rule.define(call_hi_primitive_p)
def _(primals: Any, tangents: Any, *, prim: VJPHiPrimitive) -> Any:
  if prim._has("lin") or not prim._has("vjp_fwd"):
    return _forward(primals, tangents, prim=prim)
  nonzero = _moving_values(prim, tangents)
  out, res = prim.vjp_fwd(nonzero, *_raise_all(prim.in_avals, primals))
  outs = lower_value(prim.out_aval, out)
  leaves, tree = tree_flatten(res)
  moves = moves_of(tangents)

  def bwd(res_tree: Any, residuals: Any, cts: Any) -> list[Any]:
    accums = [Accumulator(a) for a in prim.in_avals]
    given = raise_value(tangent_types(prim.out_aval), [instantiate(ct) for ct in cts])
    prim.vjp_bwd(res_tree.unflatten(residuals), given, *accums)
    return [ct for a in accums for ct in a.lowered()]

  touts = custom_lin_p.bind(
      *leaves, *moving(tangents), bwd=bwd, num_res=len(leaves), res_tree=tree,
      moves=moves, in_avals=tuple(typeof(x).to_tangent_aval() for x in primals),
      out_avals=tuple(typeof(o).to_tangent_aval() for o in outs), symbolic_zeros=False)
  return outs, touts


@transpose_rule.define(call_hi_primitive_p)
def _(cts: Any, args: Any, *, prim: VJPHiPrimitive) -> Any:
  operands = [
      Accumulator(a) if any(type(x) is UndefinedPrimal for x in parts)
      else raise_value(a, parts)
      for a, parts in zip(prim.in_avals, _split(prim.in_avals, args), strict=True)]
  given = raise_value(tangent_types(prim.out_aval), [instantiate(ct) for ct in cts])
  prim.transpose(given, *operands)
  return [
      ct for a, x in zip(prim.in_avals, operands, strict=True)
      for ct in (x.lowered() if isinstance(x, Accumulator)
                 else [None] * len(lower_types(a)))]


@batch_rule.define(call_hi_primitive_p)
def _(axis: Any, args: Any, dims: Any, *, prim: VJPHiPrimitive) -> Any:
  if not prim._has("batch"):
    outs, target = _expand_mapped(prim, axis, args, dims)
    return outs, [target] * len(outs)
  parts = _split(prim.in_avals, dims)
  out, out_dim = prim.batch(
      axis, tuple(_raise_all(prim.in_avals, args)),
      tuple(p[0] if len(set(p)) == 1 else tuple(p) for p in parts))
  outs = lower_value(prim.out_aval, out)
  return outs, [out_dim] * len(outs)


@dce_rule.define(call_hi_primitive_p)
def _(used: Sequence[bool], eqn: Any) -> Any:
  prim = eqn.params["prim"]
  if not any(used) and not eqn.effects:
    return [False] * len(eqn.invars), None
  kept, pruned = prim.dce(used)
  if pruned is prim:
    return kept, eqn
  return list(kept), eqn.replace(
      invars=[v for v, k in zip(eqn.invars, kept, strict=True) if k],
      outvars=[v for v, u in zip(eqn.outvars, used, strict=True) if u],
      params={"prim": pruned})


# ---- operations in the older form


class HiPrimitive(foreign.Primitive):
  """An operation on values that consist of arrays; a subclass defines the methods.

  `p = Subclass("name")`, and `p.bind(*values, **params)` applies it.
  """

  def bind(self, *args: Any, **params: Any) -> Any:
    """Applies the operation; `impl`, where it is defined, gets values that are known."""
    if type(self).impl is not foreign.Primitive.impl and not any(
        isinstance(x, Tracer) for x in args):
      trace = get_current()
      while (parent := getattr(trace, "parent", None)) is not None:
        trace = parent  # nothing is mapped or has a tangent
      if trace is EVAL:
        return self.impl(*args, **params)
    return _Bound(self, tuple(typeof(x) for x in args), params)(*args)

  def is_high(self, *avals: Any, **params: Any) -> bool:
    """Whether the operation must be lowered to one on arrays."""
    return True

  def is_effectful(self, params: dict[str, Any]) -> bool:
    """Whether it does more than compute a result."""
    return False

  def abstract_eval(self, *arg_avals: Any, **params: Any) -> tuple[Any, Any]:
    """The type of the result, and effects."""
    raise must_define(self, "abstract_eval")

  def to_lojax(self, *lotypes_wrapped_in_hitypes: Any, **params: Any) -> Any:
    """What the operation computes."""
    raise must_define(self, "to_lojax")

  def jvp(self, primals: Any, tangents: Any, **params: Any) -> tuple[Any, Any]:
    """The result and its tangent."""
    raise _missing(self, "differentiation", "jvp")

  def transpose(self, *args: Any, **params: Any) -> Sequence[Any]:
    """The cotangents of the operands: gets that of the result, then the operands."""
    raise _missing(self, "transposition", "transpose")


class _Bound(VJPHiPrimitive):
  """An operation in the older form, with its params and the types of its operands."""

  def __init__(
      self, primitive: HiPrimitive, avals: tuple[Any, ...], params: dict[str, Any],
  ) -> None:
    self.primitive, self.given = primitive, params
    self.in_avals = avals
    self.out_aval, effects = primitive.abstract_eval(*avals, **params)
    self.effects = frozenset(effects)
    self.params = {"primitive": primitive, **params}
    super().__init__()

  def _key(self) -> Any:
    return (
        self.primitive, self.in_avals, tuple(sorted(self.given.items())))

  def expand(self, *args: Any) -> Any:
    return self.primitive.to_lojax(*args, **self.given)

  def jvp(self, primals: Any, tangents: Any) -> tuple[Any, Any]:
    return self.primitive.jvp(primals, tangents, **self.given)

  def transpose(self, out_ct: Any, *maybe_accums: Any) -> None:
    operands = [
        UndefinedPrimal(x.aval) if isinstance(x, Accumulator) else x
        for x in maybe_accums]
    cts = self.primitive.transpose(out_ct, *operands, **self.given)
    for x, ct in zip(maybe_accums, cts, strict=True):
      if isinstance(x, Accumulator):
        x.accum(ct)

  def __repr__(self) -> str:
    return self.primitive.name
