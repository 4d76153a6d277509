"""`linear_call`: a linear function whose transpose is given."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from gnomon.api import tools
from gnomon.core.jaxpr import ClosedJaxpr, eval_jaxpr
from gnomon.core.primitive import Primitive
from gnomon.core.rule import (
  batch_rule,
  effects_rule,
  impl_rule,
  jvp_rule,
  lower,
  transpose_rule,
  typing_rule,
)
from gnomon.core.structural import instantiate
from gnomon.core.types import typeof
from gnomon.core.zero import UndefinedPrimal, Zero
from gnomon.transform.custom_derivatives import stage_function
from gnomon.transform.expansion import unmapped
from gnomon.transform.vmap import Axis, batch_jaxpr, to_dim

flatten = tools.flatten


@tools.filtered
def linear_call(
    fun: Callable[..., Any], fun_transpose: Callable[..., Any], residual_args: Any,
    linear_args: Any) -> Any:
  """Calls a function that is linear in its second argument, and says what transposes it.

  Args:
    fun: `fun(residual_args, linear_args)`, linear in the second.
    fun_transpose: `fun_transpose(residual_args, cotangent)`: the cotangent of
      `linear_args` for that of the result. It must be linear in the second argument, and
      is itself transposed by `fun`.
    residual_args: a pytree of arrays that are not differentiated.
    linear_args: a pytree of arrays.

  >>> import gnomon
  >>> from gnomon import lax
  >>> from gnomon.custom_derivatives import linear_call
  >>> f = lambda x: linear_call(lambda r, x: lax.mul(r, x), lambda r, t: r, 3.0, x)
  >>> float(gnomon.grad(f)(1.0))
  3.0

  Raises:
    TypeError: when transposed: the transpose does not give cotangents of the structure
      and types of `linear_args`.
    NotImplementedError: when differentiated: a residual argument has a tangent.
  """
  res, res_tree = flatten(residual_args)
  lin, lin_tree = flatten(linear_args)
  out_tree: Any = None

  def flat(*xs: Any) -> list[Any]:
    nonlocal out_tree
    outs, out_tree = tools.results_to_flat(
        fun(res_tree.unflatten(xs[:len(res)]), lin_tree.unflatten(xs[len(res):])),
        "linear_call", fun)
    return outs

  def back(*xs: Any) -> list[Any]:
    outs: list[Any]
    outs, tree = flatten(fun_transpose(
        res_tree.unflatten(xs[:len(res)]), out_tree.unflatten(xs[len(res):])))
    if tree != lin_tree:
      raise TypeError(
          "transpose output pytree structure must match that of linear inputs, got "
          f"output structure {tree} and input structure {lin_tree}.")
    return outs

  callee, outer = stage_function(flat, [typeof(x) for x in (*res, *lin)])
  outs = linear_call_p.apply(
      *outer, *res, *lin, callee=callee, num_callee_consts=len(outer), num_res=len(res),
      transpose_thunk=Thunk(lambda avals: stage_function(back, avals)))
  return out_tree.unflatten(outs)


class Thunk:
  """Traces the transpose, when it is needed, for types of residuals and cotangents.

  `stage` gives a program and the values of its leading operands.
  """

  __slots__ = ("stage",)

  def __init__(
      self, stage: Callable[[Sequence[Any]], tuple[ClosedJaxpr, Sequence[Any]]]) -> None:
    self.stage = stage


linear_call_p = Primitive("linear_call", call=True)
typing_rule.define(linear_call_p)(lambda *_, callee, **__: tuple(callee.out_avals))
effects_rule.define(linear_call_p)(lambda *_, callee, **__: callee.effects)
impl_rule.define(linear_call_p)(
    lambda *args, callee, **_: eval_jaxpr(callee.jaxpr, callee.consts, *args))
lower.define(linear_call_p)(
    lambda ctx, *values, callee, **_: ctx.inline(callee, values))


@jvp_rule.define(linear_call_p)
def _(primals: Sequence[Any], tangents: Sequence[Any], *, num_callee_consts: int,
      num_res: int, **params: Any) -> Any:
  params |= {"num_callee_consts": num_callee_consts, "num_res": num_res}
  n = num_callee_consts + num_res
  if any(type(t) is not Zero for t in tangents[:n]):
    raise NotImplementedError(
        "linear_call is not differentiated in its residual arguments, nor in what its "
        "function closes over: use custom_vjp, or stop_gradient on them")
  outs = linear_call_p.apply(*primals, **params)
  if all(type(t) is Zero for t in tangents):
    return outs, [Zero(typeof(o).to_tangent_aval()) for o in outs]
  return outs, linear_call_p.apply(
      *primals[:n], *map(instantiate, tangents[n:]), **params)


@transpose_rule.define(linear_call_p)
def _(cts: Sequence[Any], args: Sequence[Any], *, callee: ClosedJaxpr,
      num_callee_consts: int, num_res: int, transpose_thunk: Thunk) -> list[Any]:
  n = num_callee_consts + num_res
  res = list(args[num_callee_consts:n])
  operands = [*res, *map(instantiate, cts)]
  back, outer = transpose_thunk.stage([typeof(x) for x in operands])
  for x, a in zip(args[n:], back.out_avals):
    want: Any = x.aval if type(x) is UndefinedPrimal else typeof(x)
    if (want.shape, want.dtype) != (a.shape, a.dtype):
      raise TypeError(
          f"linear_call: its transpose must give a cotangent of the type {want}, got {a}")
  consts = args[:num_callee_consts]
  found = linear_call_p.apply(
      *outer, *operands, callee=back, num_callee_consts=len(outer), num_res=num_res,
      transpose_thunk=Thunk(lambda _: (callee, consts)))
  return [None] * n + [
      ct if type(x) is UndefinedPrimal else None for ct, x in zip(found, args[n:])]


@batch_rule.define(linear_call_p)
def _(axis: Axis, args: Sequence[Any], dims: Sequence[Any], *, callee: ClosedJaxpr,
      num_callee_consts: int, num_res: int, transpose_thunk: Thunk) -> Any:
  n = num_callee_consts + num_res
  lin = [to_dim(x, d, 0, axis.size) for x, d in zip(args[n:], dims[n:])]
  in_dims = (*dims[:n], *[0] * len(lin))
  batched, _ = batch_jaxpr(callee, axis, in_dims, (0,) * len(callee.out_avals))
  inner = transpose_thunk.stage
  res_dims = dims[num_callee_consts:n]

  def stage(avals: Sequence[Any]) -> tuple[ClosedJaxpr, Sequence[Any]]:
    back, outer = inner([
        unmapped(a, d)
        for a, d in zip(avals, [*res_dims, *[0] * len(avals)])])
    back, _ = batch_jaxpr(
        back, axis, (*[None] * len(outer), *res_dims, *[0] * (len(avals) - num_res)),
        (0,) * len(back.out_avals))
    return back, outer

  outs = linear_call_p.apply(
      *args[:n], *lin, callee=batched, num_callee_consts=num_callee_consts,
      num_res=num_res, transpose_thunk=Thunk(stage))
  return outs, [0] * len(outs)
