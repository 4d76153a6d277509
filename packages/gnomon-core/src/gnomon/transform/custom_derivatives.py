"""Functions with derivative rules of their own: what traces make of them.

A call is an object that carries the function and its rules, on flat lists; each trace
asks it what it needs. A staged call is an equation that keeps the rules for later
transformations.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gnomon.core import dtypes
from gnomon.core.effects import must_happen
from gnomon.core.jaxpr import ClosedJaxpr, Eqn, eval_jaxpr
from gnomon.core.primitive import Primitive
from gnomon.core.rule import (
  batch_rule,
  dce_rule,
  effects_rule,
  impl_rule,
  jvp_rule,
  lower,
  shown_params,
  transpose_rule,
  typing_rule,
)
from gnomon.core.stage import (
  close,
  convert_constvars,
  has_tracers,
  trace_to_jaxpr,
)
from gnomon.core.structural import instantiate, reduce_sum, traced
from gnomon.core.types import typeof
from gnomon.core.zero import Zero
from gnomon.transform.dce import dce_closed
from gnomon.transform.jvp import Moves, jvp_jaxpr, moves_of, moving, place
from gnomon.transform.transpose import backward
from gnomon.transform.vmap import Axis, batch_jaxpr, to_dim, vmap_flat

Flat = Callable[..., Sequence[Any]]


def stage_function(fun: Flat, avals: Sequence[Any]) -> tuple[ClosedJaxpr, list[Any]]:
  """A function's jaxpr, and the tracers that it closes over as leading operands."""
  jaxpr, consts = trace_to_jaxpr(fun, avals)
  if has_tracers(consts):
    return close(convert_constvars(jaxpr)), consts
  return ClosedJaxpr(jaxpr, consts), []


class JvpCall:
  """A call of a function with a forward derivative of its own.

  `rule(primals, tangents)` gives results and their tangents, all of them flat.
  """

  __slots__ = ("fun", "name", "rule", "symbolic_zeros")

  def __init__(
      self, fun: Flat, rule: Callable[..., Any], name: str, symbolic_zeros: bool) -> None:
    self.fun, self.rule, self.name = fun, rule, name
    self.symbolic_zeros = symbolic_zeros

  def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> Any:
    return self.rule(primals, tangents)

  def stage(self, trace: Any, args: Any) -> tuple[Any, ...]:
    jaxpr, outer = stage_function(self.fun, [typeof(x) for x in args])
    return trace.process(custom_jvp_call_p, [*outer, *args], {  # type: ignore[no-any-return]
        "name": self.name, "call_jaxpr": jaxpr,
        "jvp": JvpRule(self.rule, self.name, jaxpr.out_avals),
        "num_consts": len(outer), "symbolic_zeros": self.symbolic_zeros})

  def batch(self, axis: Axis, dims: Sequence[int | None]) -> BatchedJvpCall:
    return BatchedJvpCall(self, axis, dims)


class BatchedJvpCall(JvpCall):
  """A mapped call; all its results are mapped along their first axis."""

  __slots__ = ("n_out",)

  def __init__(self, call: JvpCall, axis: Axis, dims: Sequence[int | None]) -> None:
    self.n_out = 0

    def fun(*values: Any) -> list[Any]:
      outs, ds = vmap_flat(call.fun, axis, values, dims)
      self.n_out = len(outs)
      return [to_dim(o, d, 0, axis.size) for o, d in zip(outs, ds)]

    rule = batched_rule(call.rule, axis, dims, self._count)
    super().__init__(fun, rule, call.name, call.symbolic_zeros)

  def _count(self, n: int) -> None:
    self.n_out = n

  def out_dims(self) -> list[int | None]:
    return [0] * self.n_out


def batched_rule(
    rule: Callable[..., Any], axis: Axis, dims: Sequence[int | None],
    count: Callable[[int], None] = lambda n: None) -> Callable[..., Any]:
  """A jvp rule mapped over `dims`; results and tangents are mapped along axis 0."""
  def batched(primals: Sequence[Any], tangents: Sequence[Any]) -> Any:
    moves = moves_of(tangents)
    moved: list[bool] = []
    n = len(primals)

    def flat(*xs: Any) -> list[Any]:
      outs, ts = rule(
          xs[:n], place(xs[n:], moves, [typeof(x) for x in xs[:n]]))
      moved[:] = moves_of(ts)
      return [*outs, *moving(ts)]

    all_dims = [*dims, *(d for d, m in zip(dims, moves) if m)]
    outs, ds = vmap_flat(flat, axis, [*primals, *moving(tangents)], all_dims)
    outs = [to_dim(o, d, 0, axis.size) for o, d in zip(outs, ds)]
    k = len(moved)
    count(k)
    return outs[:k], place(outs[k:], tuple(moved), [typeof(o) for o in outs[:k]])

  batched.__name__ = getattr(rule, "__name__", repr(rule))
  return batched


def check_results(outs: Sequence[Any], expected: Sequence[Any], who: str) -> None:
  """Raises `TypeError` if a rule's results have other types than the function's."""
  for i, (o, e) in enumerate(zip(outs, expected, strict=True)):
    got = typeof(o)
    if got.shape != e.shape or got.dtype != e.dtype:
      raise TypeError(
          f"the {who} must return results of the types of the function's: for result {i} "
          f"expected {e}, got {got}")


def as_traced(primals: Sequence[Any]) -> list[Any]:
  """Operands of a staged call for its rule, which may do with them what arrays allow.

  The function itself got tracers, where a rule would see the literals of the program.
  """
  return [traced(x) if isinstance(x, _RAW) else x for x in primals]


_RAW = (bool, int, float, complex, np.generic, np.ndarray)
NO_CONSTS = ("num_consts", 0)  # left out of printed equations


class JvpRule:
  """A jvp rule as a parameter of an equation: equal only to itself.

  `out_avals`, if given, are the types that its results must have.
  """

  __slots__ = ("name", "out_avals", "rule")

  def __init__(
      self, rule: Callable[..., Any], name: str, out_avals: Any = None) -> None:
    self.rule, self.name, self.out_avals = rule, name, out_avals

  def __call__(self, primals: Sequence[Any], tangents: Sequence[Any]) -> Any:
    outs, touts = self.rule(primals, tangents)
    if self.out_avals is not None:
      check_results(outs, self.out_avals, f"custom JVP rule of {self.name}")
    return outs, touts

  def __repr__(self) -> str:
    return getattr(self.rule, "__name__", self.name)


custom_jvp_call_p = Primitive("custom_jvp_call", call=True)
typing_rule.define(custom_jvp_call_p)(
    lambda *_, call_jaxpr, **__: tuple(call_jaxpr.out_avals))
effects_rule.define(custom_jvp_call_p)(lambda *_, call_jaxpr, **__: call_jaxpr.effects)
impl_rule.define(custom_jvp_call_p)(
    lambda *args, call_jaxpr, **_: eval_jaxpr(call_jaxpr.jaxpr, call_jaxpr.consts, *args))
lower.define(custom_jvp_call_p)(
    lambda ctx, *values, call_jaxpr, **_: ctx.inline(call_jaxpr, values))


@shown_params.define(custom_jvp_call_p)
def _(params: dict[str, Any]) -> Any:
  return [
      ("name", params["name"]),
      *((k, v) for k, v in sorted(params.items()) if k != "name" and (k, v) != NO_CONSTS)]


@jvp_rule.define(custom_jvp_call_p)
def _(primals: Sequence[Any], tangents: Sequence[Any], *, jvp: JvpRule, num_consts: int,
      **_: Any) -> Any:
  return jvp(as_traced(primals[num_consts:]), tangents[num_consts:])


@batch_rule.define(custom_jvp_call_p)
def _(axis: Axis, args: Sequence[Any], dims: Sequence[Any], *, call_jaxpr: ClosedJaxpr,
      jvp: JvpRule, num_consts: int, **params: Any) -> Any:
  n = len(call_jaxpr.out_avals)
  batched, places = batch_jaxpr(call_jaxpr, axis, tuple(dims), (0,) * n)
  rule = JvpRule(batched_rule(jvp, axis, dims[num_consts:]), jvp.name)
  outs = custom_jvp_call_p.apply(
      *args, call_jaxpr=batched, jvp=rule, num_consts=num_consts, **params)
  return outs, places


@transpose_rule.define(custom_jvp_call_p)
def _(cts: Sequence[Any], args: Sequence[Any], *, call_jaxpr: ClosedJaxpr,
      **_: Any) -> Any:
  return backward(call_jaxpr.jaxpr, call_jaxpr.consts, args, cts)


# ---- custom_vjp


class VjpCall:
  """A call of a function with a reverse derivative of its own.

  `fwd(*args)` gives results, residuals and the residuals' structure; `bwd(tree,
  residuals, cotangents)` the cotangents of the arguments (`Zero` where there is none).
  """

  __slots__ = (
      "bwd", "fun", "fwd", "name", "names", "optimize_remat", "out_avals",
      "symbolic_zeros")

  def __init__(self, fun: Flat, fwd: Any, bwd: Any, name: str, names: tuple[str, str],
               symbolic_zeros: bool, optimize_remat: bool = False) -> None:
    self.fun, self.fwd, self.bwd, self.name = fun, fwd, bwd, name
    self.names, self.symbolic_zeros = names, symbolic_zeros
    self.optimize_remat = optimize_remat
    self.out_avals: Any = None  # of the function's results, once it was staged

  def forward(self, moves: Moves, primals: Sequence[Any]) -> Any:
    """Results, residuals and the residuals' structure, by the forward rule."""
    outs, res, tree = (
        _optional(self, moves, primals) if self.optimize_remat
        else self.fwd(moves, *primals))
    if self.out_avals is not None:
      check_results(outs, self.out_avals, f"custom VJP fwd rule of {self.name}")
    return outs, res, tree

  def linearize(self, primals: Sequence[Any], tangents: Sequence[Any]) -> Any:
    """Results, and tangents that only a transposition can compute: `custom_lin`."""
    moves = moves_of(tangents)
    outs, res, tree = self.forward(moves, primals)
    avals = tuple(typeof(o).to_tangent_aval() for o in outs)
    if not any(moves):
      return outs, [Zero(a) for a in avals]
    touts = custom_lin_p.apply(
        *res, *moving(tangents), bwd=self.bwd, num_res=len(res), res_tree=tree,
        moves=moves, in_avals=tuple(typeof(x).to_tangent_aval() for x in primals),
        out_avals=avals, symbolic_zeros=self.symbolic_zeros)
    return outs, [
        Zero(a) if a.dtype == dtypes.float0 else t for t, a in zip(touts, avals)]

  def stage(self, trace: Any, args: Any) -> tuple[Any, ...]:
    jaxpr, outer = stage_function(self.fun, [typeof(x) for x in args])
    self.out_avals = jaxpr.out_avals
    return trace.process(custom_vjp_call_p, [*outer, *args], {  # type: ignore[no-any-return]
        "name": self.name, "call_jaxpr": jaxpr, "call": self, "num_consts": len(outer),
        "symbolic_zeros": self.symbolic_zeros})

  def batch(self, axis: Axis, dims: Sequence[int | None]) -> BatchedVjpCall:
    return BatchedVjpCall(self, axis, dims)

  def __repr__(self) -> str:
    return self.name


class BatchedVjpCall(VjpCall):
  """A mapped call; all its results are mapped along their first axis."""

  __slots__ = ("n_out",)

  def __init__(self, call: VjpCall, axis: Axis, dims: Sequence[int | None]) -> None:
    self.n_out = 0

    def fun(*values: Any) -> list[Any]:
      outs, ds = vmap_flat(call.fun, axis, values, dims)
      self.n_out = len(outs)
      return [to_dim(o, d, 0, axis.size) for o, d in zip(outs, ds)]

    def fwd(moves: Moves, *values: Any) -> Any:
      n, tree = 0, None

      def flat(*xs: Any) -> list[Any]:
        nonlocal n, tree
        outs, res, tree = call.forward(moves, xs)
        n = len(outs)
        return [*outs, *res]

      outs, ds = vmap_flat(flat, axis, values, dims)
      self.n_out = n
      firsts = [to_dim(o, d, 0, axis.size) for o, d in zip(outs[:n], ds)]
      return firsts, outs[n:], (tree, tuple(ds[n:]))

    def bwd(tree: Any, res: Sequence[Any], cts: Sequence[Any]) -> list[Any]:
      inner, res_dims = tree
      moves = moves_of(cts)
      moved: list[bool] = []
      zeros: list[Any] = []
      n = len(res)
      avals = [_without(ct.aval) if type(ct) is Zero else typeof(ct) for ct in cts]

      def flat(*xs: Any) -> list[Any]:
        it = iter(xs[n:])
        full = [next(it) if m else Zero(a) for m, a in zip(moves, avals)]
        found = call.bwd(inner, xs[:n], full)
        moved[:] = moves_of(found)
        zeros[:] = [ct.aval if type(ct) is Zero else None for ct in found]
        return moving(found)

      live = moving(cts)
      outs, ds = vmap_flat(flat, axis, [*res, *live], [*res_dims, *[0] * len(live)])
      it = iter(zip(outs, ds))
      result = []
      for m, z, d in zip(moved, zeros, dims):
        if not m:
          result.append(Zero(z if d is None else _with(z, axis.size, d)))
          continue
        o, od = next(it)
        if d is None:
          result.append(_sum_out(o, od, axis.size))
        else:
          result.append(to_dim(o, od, d, axis.size))
      return result

    bwd.__name__ = getattr(call.bwd, "__name__", call.name)
    super().__init__(
        fun, fwd, bwd, call.name, call.names, call.symbolic_zeros, call.optimize_remat)

  def out_dims(self) -> list[int | None]:
    return [0] * self.n_out


def _without(aval: Any) -> Any:
  return aval.update(shape=aval.shape[1:])


def _with(aval: Any, size: int, dim: int) -> Any:
  return aval.update(shape=(*aval.shape[:dim], size, *aval.shape[dim:]))


def _sum_out(ct: Any, dim: int | None, size: int) -> Any:
  """The cotangent of an operand that is not mapped: the sum over the mapped axis."""
  if dim is None:
    ct, dim = to_dim(ct, None, 0, size), 0
  return reduce_sum(ct, (dim,))


custom_vjp_call_p = Primitive("custom_vjp_call", call=True)
typing_rule.define(custom_vjp_call_p)(
    lambda *_, call_jaxpr, **__: tuple(call_jaxpr.out_avals))
effects_rule.define(custom_vjp_call_p)(lambda *_, call_jaxpr, **__: call_jaxpr.effects)
impl_rule.define(custom_vjp_call_p)(
    lambda *args, call_jaxpr, **_: eval_jaxpr(call_jaxpr.jaxpr, call_jaxpr.consts, *args))
lower.define(custom_vjp_call_p)(
    lambda ctx, *values, call_jaxpr, **_: ctx.inline(call_jaxpr, values))


@shown_params.define(custom_vjp_call_p)
def _(params: dict[str, Any]) -> Any:
  call, consts = params["call"], ("num_consts", params["num_consts"])
  return [
      ("name", call.name), ("bwd", call.names[1]), ("call_jaxpr", params["call_jaxpr"]),
      ("fwd", call.names[0]), *(() if consts == NO_CONSTS else (consts,)),
      ("symbolic_zeros", call.symbolic_zeros)]


@jvp_rule.define(custom_vjp_call_p)
def _(primals: Sequence[Any], tangents: Sequence[Any], *, call: VjpCall, num_consts: int,
      **_: Any) -> Any:
  return call.linearize(as_traced(primals[num_consts:]), tangents[num_consts:])


@batch_rule.define(custom_vjp_call_p)
def _(axis: Axis, args: Sequence[Any], dims: Sequence[Any], *, call_jaxpr: ClosedJaxpr,
      call: VjpCall, num_consts: int, **params: Any) -> Any:
  n = len(call_jaxpr.out_avals)
  batched, places = batch_jaxpr(call_jaxpr, axis, tuple(dims), (0,) * n)
  outs = custom_vjp_call_p.apply(
      *args, call_jaxpr=batched, call=call.batch(axis, dims[num_consts:]),
      num_consts=num_consts, **params)
  return outs, places


# The linear part, known only by its transpose: it holds the rule, as calls hold programs.
custom_lin_p = Primitive("custom_lin", call=True)
typing_rule.define(custom_lin_p)(lambda *_, out_avals, **__: out_avals)


@shown_params.define(custom_lin_p)
def _(params: dict[str, Any]) -> Any:
  return [
      ("bwd", getattr(params["bwd"], "__name__", params["bwd"])),
      ("in_zeros", [not m for m in params["moves"]]), ("num_res", params["num_res"]),
      ("symbolic_zeros", params["symbolic_zeros"])]


def _no_forward(*_: Any, **__: Any) -> Any:
  raise TypeError(
      "can't apply forward-mode autodiff (jvp) to a custom_vjp function. It has a rule "
      "for reverse mode only: use custom_jvp, which serves both modes, or differentiate "
      "with grad or vjp")


lower.define(custom_lin_p)(_no_forward)
impl_rule.define(custom_lin_p)(_no_forward)


@transpose_rule.define(custom_lin_p)
def _(cts: Sequence[Any], args: Sequence[Any], *, bwd: Any, num_res: int, res_tree: Any,
      moves: Moves, in_avals: Any, out_avals: Any, symbolic_zeros: bool) -> list[Any]:
  if not symbolic_zeros:
    cts = [instantiate(ct) for ct in cts]
  found = bwd(res_tree, args[:num_res], cts)
  return [None] * num_res + [ct for ct, m in zip(found, moves) if m]


batch_rule.define(custom_lin_p)(_no_forward)  # only forward mode maps it


# ---- calls of which some results are not used


@dce_rule.define(custom_jvp_call_p)
def _(used: Sequence[bool], eqn: Eqn) -> tuple[list[bool], Eqn | None]:
  kept = [True] * len(eqn.invars)
  if not any(used) and not must_happen(eqn.effects):
    return [False] * len(kept), None
  if all(used):
    return kept, eqn
  call, _ = dce_closed(eqn.params["call_jaxpr"], tuple(used), True)
  jvp: JvpRule = eqn.params["jvp"]

  def rule(primals: Sequence[Any], tangents: Sequence[Any]) -> Any:
    outs, ts = jvp(primals, tangents)
    return tuple(
        [[x for x, u in zip(xs, used, strict=True) if u] for xs in (outs, ts)])

  rule.__name__ = repr(jvp)
  return kept, eqn.replace(
      outvars=[v for v, u in zip(eqn.outvars, used) if u], effects=call.effects,
      params={**eqn.params, "call_jaxpr": call, "jvp": JvpRule(rule, jvp.name)})


@dce_rule.define(custom_vjp_call_p)
def _(used: Sequence[bool], eqn: Eqn) -> tuple[list[bool], Eqn | None]:
  kept = [True] * len(eqn.invars)
  if not any(used) and not must_happen(eqn.effects):
    return [False] * len(kept), None
  if all(used):
    return kept, eqn
  pruned, _ = dce_closed(eqn.params["call_jaxpr"], tuple(used), True)
  call: VjpCall = eqn.params["call"]

  def pick(xs: Sequence[Any]) -> list[Any]:
    return [x for x, u in zip(xs, used, strict=True) if u]

  def fwd(moves: Moves, *primals: Any) -> Any:
    outs, res, tree = call.forward(moves, primals)
    return pick(outs), res, (tree, tuple(typeof(o).to_tangent_aval() for o in outs))

  def bwd(tree: Any, res: Sequence[Any], cts: Sequence[Any]) -> list[Any]:
    inner, avals = tree
    given = iter(cts)
    full = [next(given) if u else Zero(a) for a, u in zip(avals, used)]
    if not call.symbolic_zeros:
      full = [instantiate(ct) for ct in full]
    return call.bwd(inner, res, full)  # type: ignore[no-any-return]

  bwd.__name__ = getattr(call.bwd, "__name__", call.name)
  smaller = VjpCall(
      lambda *xs: pick(call.fun(*xs)), fwd, bwd, call.name, call.names,
      call.symbolic_zeros, call.optimize_remat)
  return kept, eqn.replace(
      outvars=pick(eqn.outvars), effects=pruned.effects,
      params={**eqn.params, "call_jaxpr": pruned, "call": smaller})


# ---- a forward rule whose residuals may turn out not to be needed


def _optional(call: VjpCall, moves: Moves, primals: Sequence[Any]) -> Any:
  """The forward rule as one equation, which becomes the function if only that is used."""
  tree: Any = None
  n = 0

  def flat(*xs: Any) -> list[Any]:
    nonlocal n, tree
    outs, res, tree = call.fwd(moves, *xs)
    n = len(outs)
    return [*outs, *res]

  avals = [typeof(x) for x in primals]
  fwd, fwd_consts = stage_function(flat, avals)
  fun, fun_consts = stage_function(call.fun, avals)
  outs = remat_opt_p.apply(
      *fwd_consts, *fun_consts, *primals, fwd_jaxpr=fwd, fun_jaxpr=fun,
      num_consts=(len(fwd_consts), len(fun_consts)), num_res=len(fwd.out_avals) - n)
  return outs[:n], outs[n:], tree


# Operands: what the rule closes over, what the function does, arguments. Results: those
# of the function, then residuals.
remat_opt_p = Primitive("remat_opt", call=True)
typing_rule.define(remat_opt_p)(lambda *_, fwd_jaxpr, **__: tuple(fwd_jaxpr.out_avals))
effects_rule.define(remat_opt_p)(lambda *_, fwd_jaxpr, **__: fwd_jaxpr.effects)


def _of_fwd(args: Sequence[Any], num_consts: tuple[int, int]) -> list[Any]:
  """The operands that the forward rule reads."""
  a, b = num_consts
  return [*args[:a], *args[a + b:]]


@impl_rule.define(remat_opt_p)
def _(*args: Any, fwd_jaxpr: ClosedJaxpr, num_consts: tuple[int, int], **_: Any) -> Any:
  return eval_jaxpr(fwd_jaxpr.jaxpr, fwd_jaxpr.consts, *_of_fwd(args, num_consts))


@lower.define(remat_opt_p)
def _(ctx: Any, *values: Any, fwd_jaxpr: ClosedJaxpr, num_consts: tuple[int, int],
      **_: Any) -> Any:
  return ctx.inline(fwd_jaxpr, _of_fwd(values, num_consts))


@jvp_rule.define(remat_opt_p)
def _(primals: Sequence[Any], tangents: Sequence[Any], *, fwd_jaxpr: ClosedJaxpr,
      num_consts: tuple[int, int], **_: Any) -> Any:
  primals, tangents = _of_fwd(primals, num_consts), _of_fwd(tangents, num_consts)
  both, moved = jvp_jaxpr(fwd_jaxpr, moves_of(tangents))
  outs = eval_jaxpr(both.jaxpr, both.consts, *primals, *moving(tangents))
  n = len(fwd_jaxpr.out_avals)
  return outs[:n], place(outs[n:], moved, fwd_jaxpr.out_avals)


@batch_rule.define(remat_opt_p)
def _(axis: Axis, args: Sequence[Any], dims: Sequence[Any], *, fwd_jaxpr: ClosedJaxpr,
      fun_jaxpr: ClosedJaxpr, num_consts: tuple[int, int], num_res: int) -> Any:
  a = num_consts[0]
  n = len(fun_jaxpr.out_avals)
  fwd, places = batch_jaxpr(
      fwd_jaxpr, axis, tuple(_of_fwd(dims, num_consts)), (0,) * n + (None,) * num_res)
  fun, _ = batch_jaxpr(fun_jaxpr, axis, tuple(dims[a:]), (0,) * n)
  outs = remat_opt_p.apply(
      *args, fwd_jaxpr=fwd, fun_jaxpr=fun, num_consts=num_consts, num_res=num_res)
  return outs, places


@dce_rule.define(remat_opt_p)
def _(used: Sequence[bool], eqn: Eqn) -> tuple[list[bool], Eqn | None]:
  n_in, (a, b) = len(eqn.invars), eqn.params["num_consts"]
  n = len(used) - eqn.params["num_res"]
  if not any(used) and not eqn.effects:
    return [False] * n_in, None
  if any(used[n:]) or n == len(used):
    return [True] * n_in, eqn
  fun = eqn.params["fun_jaxpr"]
  kept = [False] * a + [True] * (n_in - a)
  return kept, eqn.replace(
      invars=eqn.invars[a:], outvars=eqn.outvars[:n], effects=fun.effects, params={
          "fwd_jaxpr": fun, "fun_jaxpr": fun, "num_consts": (b, 0), "num_res": 0})
