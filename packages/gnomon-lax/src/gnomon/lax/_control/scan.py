"""`scan`: a loop over the leading axis of arrays, with a carry."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from gnomon.api import tools
from gnomon.core.calls import bind_call
from gnomon.core.derive import move
from gnomon.core.effects import Effects
from gnomon.core.jaxpr import ClosedJaxpr, Literal
from gnomon.core.primitive import Primitive
from gnomon.core.ref_type import row_aval
from gnomon.core.rule import (
  batch_rule,
  discharge_rule,
  effects_rule,
  jvp_rule,
  typing_rule,
)
from gnomon.core.trace import Tracer
from gnomon.core.types import ShapedArray
from gnomon.errors import ConcretizationTypeError, JaxprTypeError
from gnomon.lax._control import common
from gnomon.lax._control.common import (
  Body,
  as_arrays,
  as_types,
  check_functions,
  flatten,
  leaf_avals,
  permuted,
  runs_in_python,
  trace_body,
)
from gnomon.transform.jvp import Moves, jvp_jaxpr, moves_of, moving, place
from gnomon.transform.vmap import batch_jaxpr, to_dim

Values = Sequence[Any]


def scan(f: Callable[..., Any], init: Any, xs: Any = None, length: int | None = None,
         reverse: bool = False, unroll: int | bool = 1,
         _split_transpose: bool = False) -> Any:
  """Loops over the leading axis of arrays, and carries values from step to step.

  Computes what this does, as one loop whose body is traced once::

      carry, ys = init, []
      for x in xs:
        carry, y = f(carry, x)
        ys.append(y)
      return carry, stack(ys)

  Args:
    f: from a carry and a slice of `xs` to a pair: the next carry, which must have the
      types of `init`, and what is stacked.
    init: the first carry: a pytree of arrays. Python numbers in it are weakly typed: they
      take the type of what `f` returns for them.
    xs: a pytree of arrays with leading axes of one length; None: nothing to loop over.
    length: the number of steps, needed if `xs` holds no arrays.
    reverse: loop from the end of `xs` to its beginning; the results are stacked in the
      order of `xs`.
    unroll: how many steps the compiled loop does in one round; True: all of them.

  Returns:
    The last carry, and a pytree of the stacked results.

  >>> import numpy as np
  >>> from gnomon import lax
  >>> carry, ys = lax.scan(lambda c, x: (lax.add(c, x), c), 0., np.arange(4.))
  >>> float(carry), np.asarray(ys).tolist()
  (6.0, [0.0, 0.0, 1.0, 3.0])

  Raises:
    TypeError: `f` does not return a pair, or not a carry of the structure and types of
      `init`.
    ValueError: an array of `xs` has no leading axis, or their lengths or `length`
      disagree, or there is nothing that gives a length.
  """
  del _split_transpose  # how the backward pass is arranged; results do not depend on it
  check_functions("scan", f=f)
  leaves, tree = flatten(((init, xs), {}))
  init_tree, xs_tree = tree.children()[0].children()
  k = init_tree.num_leaves
  avals = leaf_avals(leaves, "scan", lambda i: common.carry_paths(f, tree)[i])
  n = _length(leaves[k:], avals[k:], length, lambda i: common.carry_paths(f, tree)[k + i])
  unroll = _unroll(unroll, n)
  if runs_in_python(*leaves) and n > 0:
    return _run_in_python(f, leaves[:k], init_tree, leaves[k:], xs_tree, n, reverse)
  x_avals = [row_aval(a) for a in avals[k:]]
  body, carry_avals = trace_loop(
      "scan body", f, tree, init_tree, avals[:k], x_avals, leaves)
  common.check_references("scan", f, leaves, [body], tree)
  operands = [*body.consts, *as_types(leaves[:k], carry_avals), *leaves[k:]]
  outs = _bind_forwarded(
      operands, body, k, length=n, reverse=bool(reverse), unroll=unroll)
  return body.out_tree.unflatten(outs)


def trace_loop(who: str, f: Any, tree: Any, carry_tree: Any, carry: list[Any],
               others: Sequence[Any], leaves: Values) -> tuple[Body, list[Any]]:
  """Traces `f(carry, x)`; weak types in the carry become what comes out."""
  n = len(carry)
  short = who.split(maxsplit=1)[0]
  common.check_references(short, f, leaves, (), tree)
  while True:
    body = trace_body(f, short, tree, [*carry, *others])
    common.check_references(short, f, leaves, [body], tree)
    parts = body.out_tree.children()
    if len(parts) != 2:
      raise TypeError(
          f"{who} output must be a pair, got {_shown(body)}. It should be (carry, y): "
          f"change {tools.describe_function(f)}")
    outs = body.out_avals[:parts[0].num_leaves]
    wider = common.promoted(carry, outs) if parts[0] == carry_tree else None
    if wider is None:
      break
    carry = wider
  common.check_carry(
      who, f, carry_tree, parts[0], carry, outs,
      lambda: common.carry_paths(f, tree)[:n])
  return body, carry


def _shown(body: Body) -> Any:
  """The types that a function returns, in its structure."""
  found = body.out_tree.unflatten(body.out_avals)
  return str(found) if body.out_tree.num_nodes == 1 else found


def _length(
    xs: Values, avals: Sequence[Any], length: Any, name: Callable[[int], str]) -> int:
  """The number of steps, on which all must agree."""
  for i, (x, a) in enumerate(zip(xs, avals)):
    if not a.shape:
      raise ValueError(
          f"scan got value with no leading axis to scan over: {name(i)} is {x!r} of type "
          f"{a}; pass what is the same in all steps through the carry or a closure")
  sizes = [a.shape[0] for a in avals]
  if length is not None:
    if isinstance(length, Tracer) and length.concrete() is None:
      raise ConcretizationTypeError(
          length, "The `length` argument to `scan` expects a concrete `int` value; for "
          "numbers of steps that are traced use while_loop or fori_loop")
    n = int(length)
    if n < 0:
      raise ValueError(f"scan needs a length that is not negative, got {n}")
    if any(size != n for size in sizes):
      raise ValueError(
          f"scan got `length` argument of {n} which disagrees with leading axis sizes "
          f"{sizes}.")
    return n
  if not sizes:
    raise ValueError(
        "scan got no values to scan over and `length` not provided: give the number of "
        "steps as length")
  if len(set(sizes)) > 1:
    listed = ", ".join(f"{name(i)} has {size}" for i, size in enumerate(sizes))
    raise ValueError(f"scan got values with different leading axis sizes: {listed}")
  return sizes[0]  # type: ignore[no-any-return]


def _unroll(unroll: Any, length: int) -> int:
  if isinstance(unroll, bool):
    return max(length, 1) if unroll else 1
  if isinstance(unroll, Tracer) and unroll.concrete() is None:
    raise ConcretizationTypeError(
        unroll,
        "The `unroll` argument to `scan` expects a concrete `int` or `bool` value")
  if not hasattr(unroll, "__index__") or unroll.__index__() < 0:
    raise ValueError(
        f"scan: `unroll` must be a bool or a non-negative int, got {unroll!r}")
  return unroll.__index__()  # type: ignore[no-any-return]


def _run_in_python(f: Any, carry: Values, carry_tree: Any, xs: Values, xs_tree: Any,
                   length: int, reverse: bool) -> Any:
  """The loop in Python, for `disable_jit`."""
  state = carry_tree.unflatten(carry)
  rows: list[Any] = [None] * length
  out_tree: Any = None
  for i in reversed(range(length)) if reverse else range(length):
    state, y = f(state, xs_tree.unflatten([common.row(x, i) for x in xs]))
    rows[i], out_tree = flatten(y)
  return state, out_tree.unflatten([common.stack(ys) for ys in zip(*rows)])


def _bind_forwarded(operands: list[Any], body: Body, num_carry: int, *, length: int,
                    reverse: bool, unroll: int) -> list[Any]:
  """Binds `scan_p`, without what the loop need not do.

  A carry that stays what it is becomes a constant; slices of `xs` that are stacked again
  are the operand itself.
  """
  j = body.jaxpr.jaxpr
  nc = len(body.consts)
  carries, xs = j.invars[nc:nc + num_carry], j.invars[nc + num_carry:]
  fixed = [i for i in range(num_carry) if j.outvars[i] is carries[i]]
  moving_carry = [i for i in range(num_carry) if i not in fixed]
  places = {v: nc + num_carry + i for i, v in enumerate(xs)}
  ys = j.outvars[num_carry:]
  passed = {
      k: places[v] for k, v in enumerate(ys, num_carry)
      if type(v) is not Literal and v in places}
  kept_ys = [k for k in range(num_carry, len(j.outvars)) if k not in passed]
  ins = [*range(nc), *(nc + i for i in fixed), *(nc + i for i in moving_carry),
         *range(nc + num_carry, len(j.invars))]
  jaxpr = body.jaxpr
  if fixed or passed:
    jaxpr = permuted(jaxpr, ins, [*moving_carry, *kept_ys])
  outs: Any = ()
  if moving_carry or kept_ys or jaxpr.effects:
    outs = bind_call(
        scan_p, *[operands[i] for i in ins], jaxpr=jaxpr, length=length, reverse=reverse,
        num_consts=nc + len(fixed), num_carry=len(moving_carry), unroll=unroll)
  found = dict(zip([*moving_carry, *kept_ys], outs))
  found.update((i, operands[nc + i]) for i in fixed)
  found.update((k, operands[p]) for k, p in passed.items())
  return as_arrays([found[k] for k in range(len(j.outvars))])


# ---- the primitive: constants, carry, arrays to loop over; its results: carry, stacked

scan_p = Primitive("scan", call=True)


@typing_rule.define(scan_p)
def _(*avals: ShapedArray, jaxpr: ClosedJaxpr, length: int, num_carry: int,
      num_consts: int, reverse: bool = False, **_: Any) -> list[Any]:
  if type(reverse) is not bool:
    raise _invalid("reverse", reverse, "bool")
  if num_consts < 0:
    raise _invalid("num_consts", num_consts, "non-negative int")
  if num_carry < 0:
    raise _invalid("num_carry", num_carry, "non-negative int")
  if len(avals) != len(jaxpr.in_avals):
    raise TypeError(
        f"scan: its jaxpr takes {len(jaxpr.in_avals)} operands, got {len(avals)}")
  outs = jaxpr.out_avals
  return outs[:num_carry] + [
      ShapedArray((length, *a.shape), a.dtype, a.weak_type) for a in outs[num_carry:]]


def _invalid(name: str, value: Any, wanted: str) -> JaxprTypeError:
  return JaxprTypeError(
      f"invalid scan param {name} of type {type(value).__name__}, {wanted} required: "
      f"{value}")


@discharge_rule.define(scan_p)
def _(operands: Values, **params: Any) -> Values:
  from gnomon.lax._control import references  # loaded when a program has references

  return references.of_scan(operands, **params)


@effects_rule.define(scan_p)
def _(*_: Any, jaxpr: ClosedJaxpr, **__: Any) -> Effects:
  return jaxpr.effects


@jvp_rule.define(scan_p)
def _(primals: Values, tangents: Values, *, jaxpr: ClosedJaxpr, num_consts: int,
      num_carry: int, **params: Any) -> Any:
  nc, k = num_consts, num_carry
  moves, transformed, moved = _jvp_fixpoint(jaxpr, moves_of(tangents), nc, k)
  n_out, n = len(jaxpr.out_avals), len(primals)
  ct, kt, xt = sum(moves[:nc]), sum(moves[nc:nc + k]), sum(moves[nc + k:])
  body = permuted(
      transformed,
      [*range(nc), *range(n, n + ct), *range(nc, nc + k), *range(n + ct, n + ct + kt),
       *range(nc + k, n), *range(n + ct + kt, n + ct + kt + xt)],
      [*range(k), *range(n_out, n_out + kt), *range(k, n_out),
       *range(n_out + kt, n_out + sum(moved))])
  ts = [
      common.instantiate(t) if m else t for t, m in zip(tangents, moves)]
  outs = scan_p.apply(
      *primals[:nc], *moving(ts[:nc]), *primals[nc:nc + k], *moving(ts[nc:nc + k]),
      *primals[nc + k:], *moving(ts[nc + k:]), jaxpr=body, num_consts=nc + ct,
      num_carry=k + kt, **params)
  touts = [*outs[k:k + kt], *outs[n_out + kt:]]
  avals = typing_rule[scan_p](
      *jaxpr.in_avals, jaxpr=jaxpr, num_carry=k, num_consts=nc, **params)
  return [*outs[:k], *outs[k + kt:n_out + kt]], place(touts, moved, avals)


def _jvp_fixpoint(
    jaxpr: ClosedJaxpr, moves: Moves, nc: int, k: int,
) -> tuple[Moves, ClosedJaxpr, Moves]:
  """Finds which carries have tangents; returns moves in, the derivative, moves out."""
  ys = (False,) * (len(jaxpr.out_avals) - k)
  while True:
    carry = moves[nc:nc + k]
    transformed, moved = jvp_jaxpr(jaxpr, moves, (*carry, *ys))
    if moved[:k] == carry:
      return moves, transformed, moved
    moves = (*moves[:nc], *moved[:k], *moves[nc + k:])


@batch_rule.define(scan_p)
def _(axis: Any, args: Values, dims: Sequence[int | None], *, jaxpr: ClosedJaxpr,
      num_consts: int, num_carry: int, **params: Any) -> Any:
  nc, k = num_consts, num_carry
  xs = [move(x, 0, 1) if d == 0 else x for x, d in zip(args[nc + k:], dims[nc + k:])]
  x_dims = [d - 1 if d else None if d is None else 0 for d in dims[nc + k:]]
  mapped = [d is not None for d in dims[nc:nc + k]]
  ys = (None,) * (len(jaxpr.out_avals) - k)
  while True:
    carry_dims = tuple([0 if m else None for m in mapped])
    batched, places = batch_jaxpr(
        jaxpr, axis, (*dims[:nc], *carry_dims, *x_dims), (*carry_dims, *ys))
    found = [d is not None for d in places[:k]]
    if found == mapped:
      break
    mapped = found
  carry = [
      to_dim(x, d, t, axis.size)
      for x, d, t in zip(args[nc:nc + k], dims[nc:nc + k], carry_dims)]
  outs = scan_p.apply(
      *args[:nc], *carry, *xs, jaxpr=batched, num_consts=nc, num_carry=k, **params)
  return outs, [*carry_dims, *(None if d is None else d + 1 for d in places[k:])]
