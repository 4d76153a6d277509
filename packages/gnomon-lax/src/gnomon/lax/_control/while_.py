"""`while_loop` and `fori_loop`: loops whose number of steps may depend on values."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gnomon.api import tools
from gnomon.core import dtypes
from gnomon.core.calls import bind_call
from gnomon.core.effects import Effects, ordered_effects
from gnomon.core.jaxpr import ClosedJaxpr, Eqn
from gnomon.core.primitive import Primitive
from gnomon.core.rule import (
  batch_rule,
  dce_rule,
  discharge_rule,
  effects_rule,
  jvp_rule,
  linearize_rule,
  lower,
  transpose_rule,
  typing_rule,
)
from gnomon.core.structural import convert, instantiate
from gnomon.core.trace import Tracer
from gnomon.core.types import ShapedArray, typeof
from gnomon.lax._arithmetic import add
from gnomon.lax._comparison import lt
from gnomon.lax._control import common
from gnomon.lax._control.common import (
  Body,
  as_types,
  check_functions,
  flatten,
  leaf_avals,
  part_of,
  permuted,
  runs_in_python,
  trace_body,
  union,
  widened,
)
from gnomon.lax._control.scan import scan
from gnomon.transform.dce import dce_closed
from gnomon.transform.jvp import Moves, jvp_jaxpr, moves_of, moving, place
from gnomon.transform.vmap import batch_jaxpr, to_dim

Values = Sequence[Any]


def while_loop(cond_fun: Callable[[Any], Any], body_fun: Callable[[Any], Any],
               init_val: Any) -> Any:
  """Repeats a function on a value as long as a condition holds.

  Computes what this does, as one loop whose functions are traced once::

      val = init_val
      while cond_fun(val):
        val = body_fun(val)
      return val

  It has a forward derivative, but no reverse one: how many intermediate values there are
  to keep is not known. For that use `scan`, or `fori_loop` with constant bounds, or
  `reversible_while_loop`, which computes them again.

  Args:
    cond_fun: from the value to a scalar bool.
    body_fun: from the value to the next one, of the same structure and types.
    init_val: the first value: a pytree of arrays. Python numbers in it are weakly typed:
      they take the type of what `body_fun` returns for them.

  Returns:
    The first value for which the condition does not hold.

  >>> from gnomon import lax
  >>> int(lax.while_loop(lambda x: lax.lt(x, 100), lambda x: lax.mul(x, 2), 3))
  192

  Raises:
    TypeError: a function cannot be called; the condition is no scalar bool; the body does
      not return what it got in structure and types.
  """
  found = trace_loop("while_loop", cond_fun, body_fun, init_val)
  if found is None:
    val = unaliased(init_val)
    while cond_fun(val):
      val = body_fun(val)
    return val
  test, body, operands = found
  outs = bind_call(while_p, *operands, **loop_params(test, body))
  return body.out_tree.unflatten(outs)


def unaliased(val: Any) -> Any:
  """A value for a loop in Python: a body cannot change NumPy arrays in place."""
  leaves, tree = flatten(val)
  return tree.unflatten(common.as_arrays(leaves))


def trace_loop(who: str, cond_fun: Any, body_fun: Any, init_val: Any) -> (
    tuple[Body, Body, list[Any]] | None):
  """The condition, the body, and the operands of a loop; None: it runs in Python."""
  check_functions(who, cond_fun=cond_fun, body_fun=body_fun)
  leaves, tree = flatten(((init_val,), {}))
  val_tree = tree.children()[0].children()[0]
  avals = leaf_avals(leaves, who, lambda i: common.carry_paths(body_fun, tree)[i])
  if runs_in_python(*leaves):
    return None
  common.check_references(who, body_fun, leaves, (), tree)
  while True:
    body = trace_body(body_fun, who, tree, avals)
    wider = common.promoted(avals, body.out_avals) if body.out_tree == val_tree else None
    if wider is None:
      break
    avals = wider
  common.check_carry(
      f"{who} body", body_fun, val_tree, body.out_tree, avals, body.out_avals,
      lambda: common.carry_paths(body_fun, tree))
  test = trace_body(cond_fun, who, tree, avals)
  _check_condition(test)
  common.check_references(who, body_fun, leaves, [test, body], tree)
  return test, body, [*test.consts, *body.consts, *as_types(leaves, avals)]


def loop_params(test: Body, body: Body) -> dict[str, Any]:
  """The params of a loop's primitive."""
  return {
      "cond_jaxpr": test.jaxpr, "cond_nconsts": len(test.consts),
      "body_jaxpr": body.jaxpr, "body_nconsts": len(body.consts)}


def _check_condition(test: Body) -> None:
  name = tools.describe_function(test.fun)
  avals = test.out_avals
  if test.out_tree.num_leaves != 1 or test.out_tree.num_nodes != 1:
    raise TypeError(
        "while_loop: cond_fun must return a boolean scalar, but got pytree "
        f"{test.out_tree}. Change {name}")
  if avals[0].shape or avals[0].dtype != np.bool_:
    raise TypeError(
        "while_loop: cond_fun must return a boolean scalar, but got output type(s) "
        f"{avals}. In {name}, compare it with something, and reduce arrays with all or "
        "any")


def fori_loop(lower: Any, upper: Any, body_fun: Callable[[Any, Any], Any],
              init_val: Any, *, unroll: int | bool | None = None) -> Any:
  """Repeats a function on a value, for each integer of a range.

  Computes what this does, as one loop whose body is traced once::

      val = init_val
      for i in range(lower, upper):
        val = body_fun(i, val)
      return val

  With bounds that are known when it is traced it is a `scan`, which has a reverse
  derivative; otherwise a `while_loop`, which has none (see `reversible_fori_loop`).

  Args:
    lower: the first integer.
    upper: the end, which does not belong to the range.
    body_fun: from an integer and the value to the next one, of the same structure and
      types.
    init_val: the first value: a pytree of arrays.
    unroll: how many steps the compiled loop does in one round, for known bounds; True:
      all of them.

  Returns:
    The last value; `init_val` if the range is empty.

  >>> from gnomon import lax
  >>> int(lax.fori_loop(0, 5, lambda i, total: lax.add(total, i), 0))
  10

  Raises:
    TypeError: the bounds differ in type; the body cannot be called, or does not return
      what it got in structure and types.
    ValueError: `unroll` is given, and the bounds are not known.
  """
  check_functions("fori_loop", body_fun=body_fun)
  dtype = bounds_dtype(lower, upper)
  known = _known_bounds(lower, upper)
  if known is None:
    if unroll is not None and unroll is not False and unroll != 1:
      raise ValueError(
          "fori_loop: Can only use `unroll` if the loop bounds are statically known, but "
          f"they are {lower} and {upper}")
    return while_loop(*counted(lower, upper, dtype, body_fun, init_val))[2]
  if unroll is None:
    unroll = False
  start, end = known
  (_, result), _ = scan(
      part_of(_scan_step, body_fun), (start, init_val), None, max(end - start, 0),
      unroll=unroll)
  return result


def counted(lower: Any, upper: Any, dtype: Any, body_fun: Any, init_val: Any) -> Any:
  """The condition, the body and the first value of a loop over a range."""
  low, high = (_bound(x, dtype) for x in (lower, upper))
  return part_of(_below, body_fun), part_of(_next, body_fun), (low, high, init_val)


def bounds_dtype(lower: Any, upper: Any) -> Any:
  """The dtype of the counter; a Python integer takes that of the other bound."""
  low = tools.check_leaf(lower, "lax.fori_loop", lambda: "lower")
  high = tools.check_leaf(upper, "lax.fori_loop", lambda: "upper")
  if low.shape or high.shape:
    raise TypeError(
        f"fori_loop: the bounds must be scalars, got lower of type {low} and upper of "
        f"type {high}")
  if low.dtype == high.dtype:
    return low.dtype
  integers = all(dtypes.issubdtype(a.dtype, np.integer) for a in (low, high))
  if not integers or low.weak_type is high.weak_type:
    raise TypeError(
        "lower and upper arguments to fori_loop must have equal types, got "
        f"{low.dtype.name} and {high.dtype.name}; convert one of them")
  return high.dtype if low.weak_type else low.dtype


def _known_bounds(lower: Any, upper: Any) -> tuple[int, int] | None:
  """The bounds as integers, where tracing knows them and they are whole numbers."""
  found = []
  for x in (lower, upper):
    if isinstance(x, Tracer):
      x = x.concrete()
      if x is None:
        return None
    value = np.asarray(x).item()
    if int(value) != value:
      return None
    found.append(int(value))
  return found[0], found[1]


def _bound(x: Any, dtype: Any) -> Any:
  return x if typeof(x).dtype == dtype else convert(x, dtype)


def _below(body_fun: Any, val: Any) -> Any:
  return lt(val[0], val[1])


def _next(body_fun: Any, val: Any) -> Any:
  i, end, x = val
  return add(i, 1), end, body_fun(i, x)


def _scan_step(body_fun: Any, carry: Any, _: Any) -> Any:
  i, x = carry
  return (add(i, 1), body_fun(i, x)), None


# ---- the primitive: constants of the condition, constants of the body, the carry

while_p = Primitive("while", call=True)


@typing_rule.define(while_p)
def _(*avals: ShapedArray, cond_jaxpr: ClosedJaxpr, cond_nconsts: int,
      body_jaxpr: ClosedJaxpr, body_nconsts: int) -> list[Any]:
  n = len(body_jaxpr.out_avals)
  if len(avals) != cond_nconsts + body_nconsts + n:
    raise TypeError(
        f"while: got {len(avals)} operands, but {cond_nconsts} constants of the "
        f"condition, {body_nconsts} of the body and {n} carried values")
  return body_jaxpr.out_avals


@discharge_rule.define(while_p)
def _(operands: Values, **params: Any) -> Values:
  from gnomon.lax._control import references  # loaded when a program has references

  return references.of_while(operands, **params)


@effects_rule.define(while_p)
def _(*_: Any, cond_jaxpr: ClosedJaxpr, body_jaxpr: ClosedJaxpr, **__: Any) -> Effects:
  return cond_jaxpr.effects | body_jaxpr.effects


@lower.define(while_p)
def _(ctx: Any, *values: Any, cond_jaxpr: ClosedJaxpr, cond_nconsts: int,
      body_jaxpr: ClosedJaxpr, body_nconsts: int) -> Values:
  """A loop; with a mapped condition, until it holds nowhere.

  Elements where it does not hold any more then keep their values. Tokens of ordered
  effects are carried along. A condition with such effects is computed once a round, at
  the end of the body, and is carried too: the loop's own condition has no tokens to give.
  """
  b = ctx.b
  n = cond_nconsts + body_nconsts
  cond_consts, body_consts = values[:cond_nconsts], values[cond_nconsts:n]
  avals = body_jaxpr.in_avals[body_nconsts:]
  pred = cond_jaxpr.out_avals[0]
  effects = ordered_effects(cond_jaxpr.effects | body_jaxpr.effects)
  k = len(effects)
  carries_condition = bool(ordered_effects(cond_jaxpr.effects))
  held = [b.tensor(pred)] if carries_condition else []
  types = [*[b.token_type()] * k, *held, *(b.tensor(a) for a in avals)]
  first = k + len(held)

  def holds(*carry: Any, part: str = "body_pred") -> Any:
    return ctx.inline(cond_jaxpr, [*cond_consts, *carry], part)[0]

  def test(*state: Any) -> list[Any]:
    ctx.set_tokens(effects, state)
    found = state[k] if carries_condition else holds(
        *state[first:], part="cond")
    if pred.shape:
      found = b.reduce(
          found, pred, ShapedArray((), pred.dtype), range(pred.ndim), "stablehlo.or",
          False)
    return [found]

  def body(*state: Any) -> list[Any]:
    ctx.set_tokens(effects, state)
    carry = state[first:]
    new = ctx.inline(body_jaxpr, [*body_consts, *carry], "body")
    again = [holds(*new)] if carries_condition else []
    if pred.shape:
      found = state[k] if carries_condition else holds(*carry)
      again = [
          b.op1("stablehlo.and", b.tensor(pred), (found, x)) for x in again]
      fixed = passed_on(body_jaxpr, body_nconsts)
      new = [
          y if f else b.select_n(found, (x, y), pred, a)
          for x, y, a, f in zip(carry, new, avals, fixed)]
    return [*ctx.tokens(effects), *again, *new]

  init = values[n:]
  start = [holds(*init)] if carries_condition else []
  results = list(b.region_op(
      "stablehlo.while", types, [*ctx.tokens(effects), *start, *init], None,
      [(types, test), (types, body)]).results)
  ctx.set_tokens(effects, results)
  return results[first:]


def passed_on(body: ClosedJaxpr, nconsts: int) -> Moves:
  """Which carried values a body returns as they are."""
  j = body.jaxpr
  return tuple([v is w for v, w in zip(j.invars[nconsts:], j.outvars)])


def moving_carry(jaxpr: ClosedJaxpr, consts: Moves, carry: Moves) -> tuple[
    Moves, ClosedJaxpr]:
  """Which carried values have tangents, and the derivative of the body."""
  while True:
    transformed, moved = jvp_jaxpr(jaxpr, (*consts, *carry), carry)
    if moved == carry:
      return carry, transformed
    carry = union(carry, moved)


def jvp_of_loop(
    p: Primitive, primals: Values, tangents: Values, *, cond_jaxpr: ClosedJaxpr,
    cond_nconsts: int, body_jaxpr: ClosedJaxpr, body_nconsts: int, **more: Any) -> Any:
  """The forward derivative of a loop: a loop of the same primitive."""
  nc, nb = cond_nconsts, body_nconsts
  const_ts, carry_ts = tangents[nc:nc + nb], tangents[nc + nb:]
  n = len(carry_ts)
  carry, transformed = moving_carry(body_jaxpr, moves_of(const_ts), moves_of(carry_ts))
  avals = body_jaxpr.out_avals
  if not any(carry):
    outs = p.apply(
        *primals, cond_jaxpr=cond_jaxpr, cond_nconsts=nc, body_jaxpr=body_jaxpr,
        body_nconsts=nb, **more)
    return outs, place((), carry, avals)
  bt, kt = sum(moves_of(const_ts)), sum(carry)
  body = permuted(
      transformed,
      [*range(nb), *range(nb + n, nb + n + bt), *range(nb, nb + n),
       *range(nb + n + bt, nb + n + bt + kt)], range(n + kt))
  test = widened(
      cond_jaxpr, [*cond_jaxpr.in_avals, *body.out_avals[n:]], range(nc + n))
  outs = p.apply(
      *primals[:nc + nb], *moving(const_ts), *primals[nc + nb:],
      *(instantiate(t) for t, m in zip(carry_ts, carry) if m), cond_jaxpr=test,
      cond_nconsts=nc, body_jaxpr=body, body_nconsts=nb + bt, **more)
  return outs[:n], place(outs[n:], carry, avals)


jvp_rule.define(while_p)(functools.partial(jvp_of_loop, while_p))


@linearize_rule.define(while_p)
def _(primals: Values, tangents: Values, **params: Any) -> Any:
  # How many residuals there would be is not known: the linear loop computes them again.
  outs, touts = jvp_rule[while_p](primals, tangents, **params)
  return while_p.apply(*primals, **params) if any(moves_of(touts)) else outs, touts


@transpose_rule.define(while_p)
def _(cts: Values, args: Values, **_: Any) -> list[Any]:
  raise ValueError(
      "Reverse-mode differentiation does not work for lax.while_loop, nor for "
      "lax.fori_loop with bounds that are traced values: the number of steps, and so of "
      "intermediate values to keep, is not known. Use lax.reversible_while_loop or "
      "lax.reversible_fori_loop, which compute them again; lax.scan, or lax.fori_loop "
      "with static bounds (Python integers), perhaps with lax.cond inside; or forward "
      "mode (jvp, jacfwd)")


def batched_loop(
    p: Primitive, axis: Any, args: Values, dims: Sequence[int | None], *,
    cond_jaxpr: ClosedJaxpr, cond_nconsts: int, body_jaxpr: ClosedJaxpr,
    body_nconsts: int, **more: Any) -> Any:
  """A mapped loop: one of the same primitive."""
  nc, n = cond_nconsts, cond_nconsts + body_nconsts
  rank = len(cond_jaxpr.out_avals[0].shape)
  mapped = [d is not None for d in dims[n:]]
  while True:
    # The condition's shape stays a prefix of that of all that depends on it.
    carry = tuple([rank if m else None for m in mapped])
    test, places = batch_jaxpr(cond_jaxpr, axis, (*dims[:nc], *carry))
    if places[0] is not None:
      common.check_batched_effects(
          "while_loop", "the condition", cond_jaxpr.effects | body_jaxpr.effects)
      fixed = passed_on(body_jaxpr, body_nconsts)
      carry = tuple([
          None if f and d is None else 0 for f, d in zip(fixed, dims[n:])])
      test, _ = batch_jaxpr(cond_jaxpr, axis, (*dims[:nc], *carry), (0,))
      body, _ = batch_jaxpr(body_jaxpr, axis, (*dims[nc:n], *carry), carry)
      break
    body, found = batch_jaxpr(body_jaxpr, axis, (*dims[nc:n], *carry), carry)
    if [d is not None for d in found] == mapped:
      break
    mapped = [d is not None for d in found]
  init = [to_dim(x, d, t, axis.size) for x, d, t in zip(args[n:], dims[n:], carry)]
  outs = p.apply(
      *args[:n], *init, cond_jaxpr=test, cond_nconsts=nc, body_jaxpr=body,
      body_nconsts=body_nconsts, **more)
  return outs, carry


batch_rule.define(while_p)(functools.partial(batched_loop, while_p))


@dce_rule.define(while_p)
def prune_loop(used: Sequence[bool], eqn: Eqn) -> tuple[list[bool], Eqn | None]:
  if not any(used) and not eqn.effects:
    return [False] * len(eqn.invars), None
  p = eqn.params
  test, nc, body, nb = (
      p["cond_jaxpr"], p["cond_nconsts"], p["body_jaxpr"], p["body_nconsts"])
  _, test_needs = dce_closed(test, (True,))
  carry = union(tuple(used), test_needs[nc:])
  while True:
    _, needs = dce_closed(body, carry)
    wider = union(carry, needs[nb:])
    if wider == carry:
      break
    carry = wider
  keep = (*test_needs[:nc], *needs[:nb], *carry)
  new_test, _ = dce_closed(test, (True,), (*test_needs[:nc], *carry))
  new_body, _ = dce_closed(body, carry, (*needs[:nb], *carry))
  return list(keep), eqn.replace(
      invars=[v for v, u in zip(eqn.invars, keep) if u],
      outvars=[v for v, u in zip(eqn.outvars, carry) if u], params={
          **p, "cond_jaxpr": new_test, "cond_nconsts": sum(test_needs[:nc]),
          "body_jaxpr": new_body, "body_nconsts": sum(needs[:nb])})
