"""Loops of any number of steps that have a reverse derivative.

The backward pass needs the carries of all steps, last first. It computes them again from
some that it keeps (checkpoints): memory does not grow with the number of steps. See
`docs/design/reversible-loops.md`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from operator import index as as_int
from typing import Any

import numpy as np

from gnomon.core.jaxpr import ClosedJaxpr, eval_jaxpr, memoised
from gnomon.core.primitive import Primitive
from gnomon.core.rule import (
  batch_rule,
  dce_rule,
  jvp_rule,
  linearize_rule,
  lower,
  transpose_rule,
  typing_rule,
)
from gnomon.core.stage import trace_to_closed
from gnomon.core.structural import (
  add_tangents,
  broadcast_in_dim,
  instantiate,
  select_n,
  zeros_like_aval,
)
from gnomon.core.types import ShapedArray, typeof
from gnomon.core.zero import UndefinedPrimal, Zero
from gnomon.lax._arithmetic import add, div, sub
from gnomon.lax._bitwise import bitwise_and
from gnomon.lax._comparison import eq, ge, gt, le, lt
from gnomon.lax._control.common import as_arrays, filler
from gnomon.lax._control.while_ import (
  batched_loop,
  bounds_dtype,
  counted,
  jvp_of_loop,
  loop_params,
  moving_carry,
  passed_on,
  prune_loop,
  trace_loop,
  unaliased,
  while_p,
)
from gnomon.lax._dynamic import dynamic_index_in_dim, dynamic_update_index_in_dim
from gnomon.lax._reduction import reduce_max
from gnomon.transform.jvp import Moves, jvp_flat, moves_of, moving, place
from gnomon.transform.linearize import linearize_flat
from gnomon.transform.transpose import backward
from gnomon.transform.vmap import vmap_flat

Values = Sequence[Any]
_I32 = np.dtype(np.int32)
_ENOUGH = 33  # halving reaches every step of any loop whose steps an int32 counts


def reversible_while_loop(
    cond_fun: Callable[[Any], Any], body_fun: Callable[[Any], Any], init_val: Any, *,
    checkpoints: int = _ENOUGH) -> Any:
  """`while_loop` with a reverse derivative, in memory that does not grow with its length.

  The backward pass keeps the values of at most `checkpoints` steps at a time, and
  computes the others again from these. For a loop of `n` steps that takes the time of
  about `n` times the logarithm of `n / checkpoints` steps; with more checkpoints than
  steps, of `n`. With few, time grows faster: to two powers of `n` for one.

  Args:
    cond_fun: from the value to a scalar bool.
    body_fun: from the value to the next one, of the same structure and types.
    init_val: the first value: a pytree of arrays.
    checkpoints: how many values of the loop a backward pass may keep. Give a bound of the
      number of steps if memory suffices for them all. The default suffices for halving:
      the logarithm of the greatest number of steps.

  Returns:
    The first value for which the condition does not hold.

  >>> import gnomon
  >>> from gnomon import lax
  >>> def last_square(x):
  ...   return lax.reversible_while_loop(lambda v: lax.lt(v, 100.0), lax.square, x)
  >>> float(last_square(3.0)), float(gnomon.grad(last_square)(3.0))  # x ** 8
  (6561.0, 17496.0)

  Raises:
    TypeError: as for `while_loop`.
    ValueError: `checkpoints` is less than 1.
    NotImplementedError: the condition or the body has effects, which a second computation
      would repeat.
  """
  return _loop(cond_fun, body_fun, init_val, checkpoints, "reversible_while_loop")


def reversible_fori_loop(
    lower: Any, upper: Any, body_fun: Callable[[Any, Any], Any], init_val: Any, *,
    checkpoints: int = _ENOUGH) -> Any:
  """`fori_loop` with a reverse derivative also where its bounds are traced values.

  Memory and time are those of `reversible_while_loop`. For bounds that are known when
  the loop is traced `fori_loop` is faster, and keeps the values of all steps.

  Args:
    lower: the first integer.
    upper: the end, which does not belong to the range.
    body_fun: from an integer and the value to the next one, of the same structure and
      types.
    init_val: the first value: a pytree of arrays.
    checkpoints: how many values of the loop a backward pass may keep.

  Returns:
    The last value; `init_val` if the range is empty.

  >>> import gnomon
  >>> from gnomon import lax
  >>> def power(x, n):
  ...   return lax.reversible_fori_loop(0, n, lambda i, y: lax.mul(y, x), 1.0)
  >>> float(gnomon.jit(gnomon.grad(power))(2.0, 5))
  80.0

  Raises:
    TypeError: as for `fori_loop`.
    ValueError: `checkpoints` is less than 1.
    NotImplementedError: the body has effects.
  """
  dtype = bounds_dtype(lower, upper)
  test, body, val = counted(lower, upper, dtype, body_fun, init_val)
  return _loop(test, body, val, checkpoints, "reversible_fori_loop")[2]


def _loop(cond_fun: Any, body_fun: Any, init_val: Any, checkpoints: int, who: str) -> Any:
  checkpoints = as_int(checkpoints)
  if checkpoints < 1:
    raise ValueError(
        f"{who}: checkpoints must be at least 1, got {checkpoints}: a backward pass "
        "needs the first value")
  found = trace_loop(who, cond_fun, body_fun, init_val)
  if found is None:
    val = unaliased(init_val)
    while cond_fun(val):
      val = body_fun(val)
    return val
  test, body, operands = found
  if test.jaxpr.effects or body.jaxpr.effects:
    effects = ", ".join(sorted(map(str, test.jaxpr.effects | body.jaxpr.effects)))
    raise NotImplementedError(
        f"{who}: the backward pass computes steps again, and would repeat their effects "
        f"({effects}); use while_loop, or leave the effects out")
  outs = reversible_p.apply(*operands, **loop_params(test, body), checkpoints=checkpoints)
  return body.out_tree.unflatten(as_arrays(outs))


# ---- the primitive: a `while` that knows how many checkpoints it may keep

reversible_p = Primitive("reversible_while", call=True)


@typing_rule.define(reversible_p)
def _(*avals: Any, checkpoints: int, **params: Any) -> list[Any]:
  return typing_rule[while_p](*avals, **params)  # type: ignore[no-any-return]


@lower.define(reversible_p)
def _(ctx: Any, *values: Any, checkpoints: int, **params: Any) -> Values:
  return lower[while_p](ctx, *values, **params)  # type: ignore[no-any-return]


jvp_rule.define(reversible_p)(functools.partial(jvp_of_loop, reversible_p))
batch_rule.define(reversible_p)(functools.partial(batched_loop, reversible_p))
dce_rule.define(reversible_p)(prune_loop)


@linearize_rule.define(reversible_p)
def _(primals: Values, tangents: Values, *, cond_jaxpr: ClosedJaxpr, cond_nconsts: int,
      body_jaxpr: ClosedJaxpr, body_nconsts: int, checkpoints: int) -> Any:
  """The loop counts its steps; the linear program is a loop of its own."""
  nc, n = cond_nconsts, cond_nconsts + body_nconsts
  avals = body_jaxpr.out_avals
  moves, _ = moving_carry(
      body_jaxpr, moves_of(tangents[nc:n]), moves_of(tangents[n:]))
  params = {
      "cond_jaxpr": cond_jaxpr, "cond_nconsts": nc, "body_jaxpr": body_jaxpr,
      "body_nconsts": body_nconsts, "checkpoints": checkpoints}
  if not any(moves):
    return reversible_p.apply(*primals, **params), place((), moves, avals)
  test, body, number = _counting(cond_jaxpr, body_jaxpr)
  *outs, steps = reversible_p.apply(
      *primals, zeros_like_aval(number), cond_jaxpr=test, cond_nconsts=nc,
      body_jaxpr=body, body_nconsts=body_nconsts, checkpoints=checkpoints)
  if number.shape:  # elements of a mapped loop have numbers of their own
    steps = reduce_max(steps, range(number.ndim)) if number.size else np.int32(0)
  const_moves = moves_of(tangents[nc:n])
  ts = [instantiate(t) for t, m in zip(tangents[nc:], (*const_moves, *moves)) if m]
  touts = linear_p.apply(
      steps, *primals, *ts, const_moves=const_moves, carry_moves=moves, **params)
  return outs, place(touts, moves, avals)


def _counting(
    test: ClosedJaxpr, body: ClosedJaxpr) -> tuple[ClosedJaxpr, ClosedJaxpr, Any]:
  """The condition and the body of a loop that counts its steps, last in its carry."""
  number = ShapedArray(test.out_avals[0].shape, _I32)

  def count(*xs: Any) -> list[Any]:
    *own, steps = xs
    return [*eval_jaxpr(body.jaxpr, body.consts, *own), add(steps, np.int32(1))]

  def same(*xs: Any) -> list[Any]:
    return eval_jaxpr(test.jaxpr, test.consts, *xs[:-1])

  counted_body = memoised(
      body, ("counting", number),
      lambda: trace_to_closed(count, [*body.in_avals, number]))
  counted_test = memoised(
      test, ("counting", number),
      lambda: trace_to_closed(same, [*test.in_avals, number]))
  return counted_test, counted_body, number


# ---- the linear program of a loop: the steps' number, the loop's operands, tangents

linear_p = Primitive("reversible_linear", call=True)


@typing_rule.define(linear_p)
def _(*_: Any, carry_moves: Moves, body_jaxpr: ClosedJaxpr, **__: Any) -> list[Any]:
  return [
      a.to_tangent_aval() for a, m in zip(body_jaxpr.out_avals, carry_moves) if m]


def _forward(
    *args: Any, const_moves: Moves, carry_moves: Moves, **params: Any) -> list[Any]:
  """The tangents of the last value, by the loop's forward derivative."""
  nc = params["cond_nconsts"]
  n = nc + params["body_nconsts"] + len(carry_moves)
  primals, ts = args[1:1 + n], args[1 + n:]
  tangents = [
      *(Zero(typeof(x).to_tangent_aval()) for x in primals[:nc]),
      *place(ts, (*const_moves, *carry_moves), [typeof(x) for x in primals[nc:]])]
  _, touts = jvp_of_loop(reversible_p, primals, tangents, **params)
  return moving(touts)


@lower.define(linear_p)
def _(ctx: Any, *values: Any, **params: Any) -> Values:
  program = trace_to_closed(lambda *xs: _forward(*xs, **params), ctx.avals_in)
  return ctx.inline(program, values)  # type: ignore[no-any-return]


@jvp_rule.define(linear_p)
def _(primals: Values, tangents: Values, **params: Any) -> Any:
  return jvp_flat(lambda *xs: _forward(*xs, **params), primals, tangents)


@batch_rule.define(linear_p)
def _(axis: Any, args: Values, dims: Any, **params: Any) -> Any:
  return vmap_flat(lambda *xs: _forward(*xs, **params), axis, args, dims)


@transpose_rule.define(linear_p)
def _(cts: Values, args: Values, *, const_moves: Moves, carry_moves: Moves,
      checkpoints: int, cond_jaxpr: ClosedJaxpr, cond_nconsts: int,
      body_jaxpr: ClosedJaxpr, body_nconsts: int) -> list[Any]:
  nc, n = 1 + cond_nconsts, 1 + cond_nconsts + body_nconsts
  end = n + len(carry_moves)
  step = _Step(cond_jaxpr, args[1:nc], body_jaxpr)
  found = _backward(
      args[0], step, args[nc:n], args[n:end], [instantiate(ct) for ct in cts],
      const_moves, carry_moves, checkpoints)
  return [None] * end + [
      ct if type(x) is UndefinedPrimal else None for ct, x in zip(found, args[end:])]


class _Step:
  """One step of a loop as a function; of a mapped one, also where it has ended."""

  __slots__ = ("body", "cond_consts", "test")

  def __init__(self, test: ClosedJaxpr, cond_consts: Values, body: ClosedJaxpr) -> None:
    self.test, self.cond_consts, self.body = test, cond_consts, body

  def __call__(self, consts: Values, carry: Values) -> list[Any]:
    new = eval_jaxpr(self.body.jaxpr, self.body.consts, *consts, *carry)
    shape = self.test.out_avals[0].shape
    fixed = passed_on(self.body, len(consts))
    if not shape:
      return new
    (goes_on,) = eval_jaxpr(
        self.test.jaxpr, self.test.consts, *self.cond_consts, *carry)
    return [
        y if f else select_n(
            broadcast_in_dim(goes_on, typeof(y).shape, range(len(shape))), x, y)
        for x, y, f in zip(carry, new, fixed)]

  def back(
      self, consts: Values, carry: Values, cts: Values, const_moves: Moves,
      carry_moves: Moves) -> tuple[list[Any], list[Any]]:
    """The cotangents of the constants and of the carry, for those of the next carry."""
    k = len(consts)
    moves = (*const_moves, *carry_moves)
    outs, linear = linearize_flat(
        lambda *xs: self(xs[:k], xs[k:]), [*consts, *carry], moves)
    given = [
        ct for ct, m in zip(place(cts, carry_moves, [typeof(o) for o in outs]),
                            linear.out_moves) if m]
    found = [instantiate(ct) for ct in backward(
        linear.jaxpr, linear.residuals,
        [UndefinedPrimal(v.aval) for v in linear.jaxpr.invars], given)]
    return found[:sum(const_moves)], found[sum(const_moves):]


def _backward(
    steps: Any, step: _Step, consts: Values, init: Values, cts: Values,
    const_moves: Moves, carry_moves: Moves, checkpoints: int) -> list[Any]:
  """The cotangents of the constants and of the first carry.

  From the last step to the first: `kept` is a stack of carries, those before the steps
  `places`, of which the last is the nearest one before the step at hand. While it is
  not that one itself, a carry half way there is added; one after the other, if all
  that are left fit.
  """
  loop = functools.partial(reversible_while_loop, checkpoints=checkpoints)
  one, zero = np.int32(1), np.int32(0)

  def advance(carry: Values, times: Any) -> Values:
    return loop(  # type: ignore[no-any-return]
        lambda s: lt(s[0], times),
        lambda s: (add(s[0], one), step(consts, s[1])), (zero, list(carry)))[1]

  def at(kept: Values, i: Any) -> list[Any]:
    return [dynamic_index_in_dim(x, i, 0, keepdims=False) for x in kept]

  def put(kept: Values, i: Any, row: Values) -> list[Any]:
    return [dynamic_update_index_in_dim(x, v, i, 0) for x, v in zip(kept, row)]

  def one_step(state: Any) -> Any:
    t, top, places, kept, acc, cts = state
    if checkpoints > 1:
      top, places, kept = loop(
          lambda s: bitwise_and(
              lt(at([s[1]], s[0])[0], t), lt(s[0], np.int32(checkpoints - 1))),
          lambda s: nearer(t, *s), (top, places, kept))
    (before,) = at([places], top)
    carry = advance(at(kept, top), sub(t, before))
    more, cts = step.back(consts, carry, cts, const_moves, carry_moves)
    used = bitwise_and(eq(before, t), gt(top, zero))
    return (sub(t, one), select_n(used, top, sub(top, one)), places, kept,
            [add_tangents(a, m) for a, m in zip(acc, more)], cts)

  def nearer(t: Any, top: Any, places: Any, kept: Values) -> Any:
    (before,) = at([places], top)
    left = sub(t, before)
    free = sub(np.int32(checkpoints - 1), top)
    half = div(add(left, one), np.int32(2))
    hop = select_n(le(left, free), half, one)
    top_row = advance(at(kept, top), hop)
    top = add(top, one)
    (places,) = put([places], top, [add(before, hop)])
    return top, places, put(kept, top, top_row)

  kept = put([_room(x, checkpoints) for x in init], zero, init)
  acc = [zeros_like_aval(typeof(c)) for c, m in zip(consts, const_moves) if m]
  start = (
      sub(steps, one), zero, zeros_like_aval(ShapedArray((checkpoints,), _I32)), kept,
      acc, list(cts))
  *_, acc, cts = loop(lambda s: ge(s[0], zero), one_step, start)
  return [*acc, *cts]


def _room(x: Any, n: int) -> Any:
  aval = typeof(x)
  return filler(ShapedArray((n, *aval.shape), aval.dtype))
