"""`cond` and `switch`: one of several functions, chosen by a value."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gnomon.api import tools
from gnomon.api.stopping import stop_gradient
from gnomon.core import dtypes
from gnomon.core.calls import bind_call
from gnomon.core.derive import expand, move
from gnomon.core.effects import Effects, no_effects, ordered_effects
from gnomon.core.jaxpr import ClosedJaxpr, Eqn, Literal, eval_jaxpr
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
from gnomon.core.structural import broadcast_in_dim, convert, select_n
from gnomon.core.types import ShapedArray, typeof
from gnomon.core.zero import UndefinedPrimal
from gnomon.errors import JaxprTypeError, MissingRuleError
from gnomon.lax._arithmetic import clamp
from gnomon.lax._comparison import eq, ne
from gnomon.lax._control import common, messages
from gnomon.lax._control.common import (
  Body,
  as_arrays,
  check_functions,
  flatten,
  leaf_avals,
  permuted,
  runs_in_python,
  same_type,
  trace_body,
  union,
  widened,
  zero_filled,
)
from gnomon.transform.call import closed_once
from gnomon.transform.dce import dce_closed
from gnomon.transform.jvp import Moves, jvp_jaxpr, moves_of, moving, place
from gnomon.transform.linearize import linearize_jaxpr
from gnomon.transform.transpose import transpose_jaxpr
from gnomon.transform.vmap import batch_jaxpr
from gnomon.tree_util import keystr, tree_flatten_with_path

Values = Sequence[Any]
Branches = tuple[ClosedJaxpr, ...]
_absent = object()
_KNOWN = (bool, int, float, np.generic)  # decided while tracing, at no cost


def cond(pred: Any, true_fun: Callable[..., Any], false_fun: Callable[..., Any],
         *operands: Any, operand: Any = _absent) -> Any:
  """Applies one of two functions, chosen by a value.

  Both functions are traced; when the program runs, only the chosen one is computed. Under
  `vmap` with a mapped `pred` both are computed, and their results selected.

  Args:
    pred: a scalar bool, or a number (true unless zero).
    true_fun: a function of `operands`.
    false_fun: another one, whose results have the same structure and types.
    operands: pytrees of arrays.
    operand: a single operand by keyword; for old programs.

  Returns:
    The result of the chosen function.

  >>> from gnomon import lax
  >>> float(lax.cond(2.0 > 1.0, lax.neg, lambda x: x, 3.0))
  -3.0

  Raises:
    TypeError: `pred` is no scalar number; a function cannot be called; the results differ
      in structure or types.
  """
  if not (callable(true_fun) and callable(false_fun)) and (
      len(operands) == 2 and callable(false_fun) and callable(operands[1])):
    return _five_arguments(pred, true_fun, false_fun, *operands)
  operands = _operands("cond", operands, operand)
  check_functions("cond", true_fun=true_fun, false_fun=false_fun)
  aval = _check_scalar("cond", "pred", pred)
  if aval.dtype.kind not in "biuf" and not dtypes.issubdtype(aval.dtype, np.floating):
    raise TypeError(
        f"lax.cond: Pred type must be either boolean or number, got {aval.dtype}; "
        "compare it with something")
  if runs_in_python(pred):
    return (true_fun if pred else false_fun)(*operands)
  index: Any
  if isinstance(pred, _KNOWN):
    index = np.int32(bool(pred))
  else:
    if aval.dtype != np.bool_:
      pred = ne(pred, np.zeros((), aval.dtype)[()])
    index = convert(pred, np.dtype(np.int32))
  return branch_on(
      "cond", index, (false_fun, true_fun), ("false_fun", "true_fun"), operands)


def _five_arguments(pred: Any, true_operand: Any, true_fun: Any, false_operand: Any,
                    false_fun: Any) -> Any:
  """The old form, with one operand for each function."""
  return cond(
      pred, lambda x, _: true_fun(x), lambda _, y: false_fun(y), true_operand,
      false_operand)


def switch(index: Any, branches: Sequence[Callable[..., Any]], *operands: Any,
           operand: Any = _absent) -> Any:
  """Applies one of several functions, chosen by an index.

  All functions are traced; when the program runs, only the chosen one is computed. An
  index below 0 counts as 0, one beyond the end as the last.

  Args:
    index: a scalar integer.
    branches: functions of `operands` whose results have the same structure and types.
    operands: pytrees of arrays.
    operand: a single operand by keyword; for old programs.

  Returns:
    The result of the chosen function.

  >>> from gnomon import lax
  >>> float(lax.switch(1, [lambda x: x, lax.neg, lax.square], 3.0))
  -3.0

  Raises:
    TypeError: `index` is no scalar integer; a branch cannot be called; the results differ
      in structure or types.
    ValueError: there are no branches.
  """
  branches = tuple(branches)
  if not all(callable(b) for b in branches):
    raise TypeError(
        "lax.switch: the argument branches should be a sequence of callables, got "
        f"{branches!r}")
  operands = _operands("switch", operands, operand)
  aval = _check_scalar("switch", "index", index)
  if not dtypes.issubdtype(aval.dtype, np.integer):
    raise TypeError(
        f"lax.switch: Index type must be an integer, got {aval.dtype}; for a bool, use "
        "lax.cond")
  if not branches:
    raise ValueError("lax.switch: Empty branch sequence; give at least one function")
  if len(branches) == 1:
    return branches[0](*operands)
  last = len(branches) - 1
  if runs_in_python(index):
    return branches[min(max(int(index), 0), last)](*operands)
  if isinstance(index, _KNOWN):
    index = np.int32(min(max(int(index), 0), last))
  else:
    index = convert(index, np.dtype(np.int32))
    index = clamp(np.int32(0), index, np.int32(last))
  names = ("branch 0", *(f"branch{i}" for i in range(1, len(branches))))
  return branch_on("switch", index, branches, names, operands)


def _operands(who: str, operands: tuple[Any, ...], operand: Any) -> tuple[Any, ...]:
  if operand is _absent:
    return operands
  if operands:
    raise TypeError(
        f"lax.{who}: if the 'operand' keyword is given, no positional operands can be "
        f"passed: got operand={operand!r} and positional operands {operands!r}")
  return (operand,)


def _check_scalar(who: str, name: str, x: Any) -> ShapedArray:
  is_pred = name == "pred"
  if x is None and is_pred:
    raise TypeError(f"lax.{who}: cond predicate is None, and should be a scalar bool")
  try:
    aval: ShapedArray = typeof(x)
  except TypeError:
    if is_pred:
      kind = "Pred type must be either boolean or number"
      if isinstance(x, (str, bytes, tuple, list, dict)):
        kind = "Pred must be a scalar"
      raise TypeError(f"lax.{who}: {kind}, got {x} of type {type(x)}.") from None
    if isinstance(x, (tuple, list)):
      raise TypeError(
          f"lax.{who}: Branch index must be scalar, got {x} of shape {np.shape(x)}."
      ) from None
    raise TypeError(f"lax.{who}: Index type must be an integer, got {x}.") from None
  if aval.shape:
    kind = "Pred must be a scalar" if is_pred else "Branch index must be scalar"
    raise TypeError(
        f"lax.{who}: {kind}, got {x} of shape {aval.shape}; to choose elementwise, use "
        "select or gnomon.vmap")
  return aval


# ---- tracing


def branch_on(
    who: str, index: Any, functions: Sequence[Any], names: Sequence[str],
    operands: tuple[Any, ...], **platforms: Any) -> Any:
  """Traces the functions and binds `cond_p`."""
  leaves, tree = flatten((operands, {}))
  avals = leaf_avals(leaves, who, lambda i: f"operands{_path(tree, i)}")
  common.check_references(who, functions[0], leaves, (), tree)
  bodies = [trace_body(f, who, tree, avals) for f in functions]
  for f in functions:
    common.check_references(who, f, leaves, bodies, tree)
  # Messages speak of the functions in the order of the call.
  order = (1, 0) if who == "cond" else tuple(range(len(bodies)))
  first = order[0]
  for i in order[1:]:
    _check_results(
        who, (bodies[first], names[first]), (bodies[i], names[i]))
  consts: dict[int, Any] = {}
  for body in bodies:
    for c in body.consts:
      consts.setdefault(id(c), c)
  places = {key: i for i, key in enumerate(consts)}
  all_avals = [*map(typeof, consts.values()), *avals]
  branches = tuple([
      widened(body.jaxpr, all_avals, [
          *(places[id(c)] for c in body.consts),
          *range(len(consts), len(all_avals))]) for body in bodies])
  outs = _bind_forwarded(index, branches, [*consts.values(), *leaves], **platforms)
  return bodies[0].out_tree.unflatten(as_arrays(outs))


def _path(tree: Any, i: int) -> str:
  return tools.leaf_names(lambda *args: None, tree)()[i].removeprefix("args")


def _check_results(who: str, first: tuple[Body, str], other: tuple[Body, str]) -> None:
  """Raises `TypeError` unless two branches return the same structure and types."""
  (one, name), (two, other_name) = first, other
  if one.out_tree != two.out_tree:
    raise messages.branch_structure(
        who, (one.fun, name, one.out_tree), (two.fun, other_name, two.out_tree))
  wrong = [
      i for i, (a, b) in enumerate(zip(one.out_avals, two.out_avals))
      if not same_type(a, b)]
  if wrong:
    raise messages.branch_types(
        who, (one.fun, name, one.out_avals), (two.fun, other_name, two.out_avals),
        lambda: _result_paths(one.out_tree), wrong)


def _result_paths(tree: Any) -> list[str]:
  return [
      keystr(path) for path, _ in
      tree_flatten_with_path(tree.unflatten([0] * tree.num_leaves))[0]]


def _bind_forwarded(
    index: Any, branches: Branches, operands: list[Any], **platforms: Any) -> list[Any]:
  """Binds `cond_p`; a result that is the same operand in all branches passes it by."""
  forwarded = [_forwarded(branches, k) for k in range(len(branches[0].out_avals))]
  kept = [k for k, source in enumerate(forwarded) if source is None]
  ins = range(len(operands))
  if len(kept) < len(forwarded):
    branches = tuple([permuted(b, ins, kept) for b in branches])
  outs: Any = ()
  if kept or any(b.effects for b in branches):
    outs = bind_call(cond_p, index, *operands, branches=branches, **platforms)
  it = iter(outs)
  return [next(it) if source is None else operands[source] for source in forwarded]


def _forwarded(branches: Branches, k: int) -> int | None:
  sources = set()
  for b in branches:
    v = b.jaxpr.outvars[k]
    if type(v) is Literal or v not in b.jaxpr.invars:
      return None
    sources.add(b.jaxpr.invars.index(v))
  return sources.pop() if len(sources) == 1 else None


# ---- the primitive: an index, then the operands of all branches; with
# `branches_platforms`, the index is that of the platform that a program is compiled for

cond_p = Primitive("cond", call=True)
Platforms = tuple[tuple[str, ...] | None, ...]


def chosen_branch(platforms: Sequence[str], of_branches: Platforms) -> int:
  """The number of the branch for the platforms that a program is compiled for.

  Raises:
    NotImplementedError: there is none for a platform, or not one for all.
  """
  found = set()
  for name in platforms:
    fitting = [
        i for i, names in enumerate(of_branches) if names is None or name in names]
    if not fitting:
      raise NotImplementedError(
          f"translation rule of platform_dependent not found for platform {name}: it has "
          "branches for "
          f"{', '.join(n for names in of_branches if names for n in names)} only; give "
          "it one, or a default")
    found.add(fitting[0])
  if len(found) > 1:
    raise NotImplementedError(
        f"platform_dependent: a program for the platforms {', '.join(platforms)} at once "
        "would need several branches; compile it for one platform at a time")
  return found.pop()


@typing_rule.define(cond_p)
def _(index: ShapedArray, *operands: ShapedArray, branches: Branches,
      branches_platforms: Platforms | None = None) -> list[Any]:
  if type(branches) is not tuple or not all(
      isinstance(b, ClosedJaxpr) for b in branches):
    raise JaxprTypeError(
        f"invalid cond param branches of type {type(branches).__name__}, tuple of "
        f"ClosedJaxpr required: {branches}")
  first = branches[0].out_avals
  for b in branches:
    if len(b.in_avals) != len(operands) or len(b.out_avals) != len(first):
      raise TypeError(
          f"cond: each branch must take {len(operands)} operands and give {len(first)} "
          f"results; one takes {len(b.in_avals)} and gives {len(b.out_avals)}")
  return [
      a.strip_weak_type() if any(not b.weak_type for b in same) else a
      for a, *same in zip(first, *[b.out_avals for b in branches])]


@discharge_rule.define(cond_p)
def _(operands: Values, **params: Any) -> Values:
  from gnomon.lax._control import references  # loaded when a program has references

  return references.of_cond(operands, **params)


@effects_rule.define(cond_p)
def _(*_: Any, branches: Branches, **__: Any) -> Effects:
  return no_effects.union(*[b.effects for b in branches])


@lower.define(cond_p)
def _(ctx: Any, index: Any, *operands: Any, branches: Branches,
      branches_platforms: Platforms | None = None) -> Values:
  if branches_platforms is not None:
    chosen = chosen_branch(ctx.platforms, branches_platforms)
    return ctx.inline(branches[chosen], operands)  # type: ignore[no-any-return]
  effects = ordered_effects(no_effects.union(*[b.effects for b in branches]))
  before = ctx.tokens(effects)

  def body(i: int, branch: ClosedJaxpr) -> list[Any]:
    ctx.set_tokens(effects, before)  # those of the branch before are behind us
    outs = ctx.inline(branch, operands, f"branch_{i}_fun")
    return [*ctx.tokens(effects), *outs]

  types = [*(t.type for t in before), *(ctx.b.tensor(a) for a in ctx.avals_out)]
  bodies = [((), functools.partial(body, i, b)) for i, b in enumerate(branches)]
  outs = list(ctx.b.region_op("stablehlo.case", types, [index], None, bodies).results)
  ctx.set_tokens(effects, outs)
  return outs[len(effects):]


@jvp_rule.define(cond_p)
def _(primals: Values, tangents: Values, *, branches: Branches, **platforms: Any) -> Any:
  index, *operands = primals
  ts = tangents[1:]
  avals = branches[0].out_avals
  n = len(avals)
  pairs, platforms = _transformed(
      branches, lambda b: jvp_jaxpr(b, moves_of(ts)), **platforms)
  transformed, moved = _same_moves(pairs, n, [a.to_tangent_aval() for a in avals])
  outs = cond_p.apply(index, *operands, *moving(ts), branches=transformed, **platforms)
  return outs[:n], place(outs[n:], moved, avals)


def _transformed(
    branches: Branches, transform: Callable[[ClosedJaxpr], Any], *,
    branches_platforms: Platforms | None = None) -> tuple[list[Any], dict[str, Any]]:
  """What a transformation makes of the branches, and the params that go with them.

  A branch for a platform may hold operations that it alone has rules for. One that cannot
  be transformed is left out: the result has none for its platform.
  """
  if branches_platforms is None:
    return list(map(transform, branches)), {}
  made, platforms, missing = [], [], None
  for b, names in zip(branches, branches_platforms):
    try:
      made.append(transform(b))
    except MissingRuleError as e:
      missing = e
    else:
      platforms.append(names)
  if not made and missing is not None:
    raise missing
  return made, {"branches_platforms": tuple(platforms)}


def _same_moves(
    pairs: Sequence[tuple[ClosedJaxpr, Moves]], start: int, avals: Values,
) -> tuple[Branches, Moves]:
  """Programs whose (co)tangent results move differently, made to agree."""
  moved = union(*[m for _, m in pairs])
  return tuple([zero_filled(b, start, m, moved, avals) for b, m in pairs]), moved


@linearize_rule.define(cond_p)
def _(primals: Values, tangents: Values, *, branches: Branches, **platforms: Any) -> Any:
  index, *operands = primals
  ts = tangents[1:]
  avals = branches[0].out_avals
  n = len(avals)
  moves = moves_of(ts)
  split, able = _transformed(branches, lambda b: linearize_jaxpr(b, moves), **platforms)
  moved = union(*[m for *_, m in split])
  if not any(moved):
    return cond_p.apply(*primals, branches=branches, **platforms), place((), moved, avals)
  platforms = able
  known: list[Any] = list(operands)
  slots: list[Any] = []
  residuals = [
      _residuals(primal, n_res, known, slots) for primal, n_res, *_ in split]
  forward = tuple([
      _with_slots(primal, n, places, slots)
      for (primal, *_), (_, places) in zip(split, residuals)])
  outs = cond_p.apply(*primals, branches=forward, **platforms)
  known_avals = [typeof(x) for x in known]
  in_avals = [*known_avals, *slots, *(t_aval for t_aval in map(typeof, moving(ts)))]
  tangent_avals = [a.to_tangent_aval() for a in avals]
  n_before = len(known) + len(slots)
  linear = tuple([
      zero_filled(
          widened(closed_once(program), in_avals, [
              *(p if computed is None else len(known) + computed
                for p, computed in sources),
              *range(n_before, len(in_avals))]),
          0, m, moved, tangent_avals)
      for (*_, program, m), (sources, _) in zip(split, residuals)])
  touts = cond_p.apply(
      index, *known, *outs[n:], *moving(ts), branches=linear, **platforms)
  return outs[:n], place(touts, moved, avals)


Sources = list[tuple[int, int | None]]


def _residuals(
    primal: ClosedJaxpr, n_res: int, known: list[Any], slots: list[Any],
) -> tuple[Sources, list[tuple[int, int]]]:
  """Where a branch's residuals come from: operands, constants, or slots that it fills.

  Slots are shared by the branches, one of each type as often as a branch needs it.
  Returns for each residual its place among the known operands or its slot, and the pairs
  (result of `primal`, slot) to compute. Appends to `known` and `slots`.
  """
  j = primal.jaxpr
  given = {v: i for i, v in enumerate(j.invars)}
  ids = {id(x): i for i, x in enumerate(known)}
  values = dict(zip(j.constvars, primal.consts))
  first = len(j.outvars) - n_res
  sources: Sources = []
  fills: list[tuple[int, int]] = []
  free = dict(enumerate(slots))
  for k, v in enumerate(j.outvars[first:], first):
    if type(v) is not Literal and v in given:
      sources.append((given[v], None))
    elif type(v) is not Literal and v in values:
      place = ids.setdefault(id(values[v]), len(known))
      if place == len(known):
        known.append(values[v])
      sources.append((place, None))
    else:
      slot = next((s for s, a in free.items() if same_type(a, v.aval)), len(slots))
      if slot == len(slots):
        slots.append(v.aval)
      free.pop(slot, None)
      sources.append((0, slot))
      fills.append((k, slot))
  return sources, fills


def _with_slots(primal: ClosedJaxpr, n: int, fills: Sequence[tuple[int, int]],
                slots: Sequence[Any]) -> ClosedJaxpr:
  """The branch that returns its results and all slots, with zeros where it has none."""
  fills = sorted(fills, key=lambda pair: pair[1])
  filled = {slot for _, slot in fills}
  chosen = permuted(
      primal, range(len(primal.in_avals)), [*range(n), *(k for k, _ in fills)])
  have = tuple([i in filled for i in range(len(slots))])
  return zero_filled(chosen, n, have, (True,) * len(slots), slots)


@transpose_rule.define(cond_p)
def _(cts: Values, args: Values, *, branches: Branches, **platforms: Any) -> list[Any]:
  index, *operands = args
  known = tuple([type(x) is not UndefinedPrimal for x in operands])
  avals = [x.aval for x in operands if type(x) is UndefinedPrimal]
  pairs, platforms = _transformed(
      branches, lambda b: transpose_jaxpr(b, known, moves_of(cts)), **platforms)
  transposed, moved = _same_moves(pairs, 0, avals)
  values = [x for x, k in zip(operands, known) if k]
  outs: Any = ()
  if any(moved):
    outs = cond_p.apply(index, *values, *moving(cts), branches=transposed, **platforms)
  linear = iter(place(outs, moved, avals))
  return [None, *(None if k else next(linear) for k in known)]


@batch_rule.define(cond_p)
def _(axis: Any, args: Values, dims: Sequence[int | None], *, branches: Branches,
      **platforms: Any) -> Any:
  index, *operands = args
  if dims[0] is not None:
    return _batch_by_index(axis, args, dims, branches)
  inner = tuple(dims[1:])
  places = [batch_jaxpr(b, axis, inner)[1] for b in branches]
  agreed: tuple[int | None, ...] | None = places[0]
  if any(p != agreed for p in places):
    agreed = tuple([
        None if all(d is None for d in ds) else 0 for ds in zip(*places)])
    batched = [batch_jaxpr(b, axis, inner, agreed)[0] for b in branches]
  else:
    batched = [batch_jaxpr(b, axis, inner)[0] for b in branches]
  return cond_p.apply(index, *operands, branches=tuple(batched), **platforms), agreed


def _batch_by_index(
    axis: Any, args: Values, dims: Sequence[int | None], branches: Branches) -> Any:
  """All branches are computed, and their results selected.

  A branch gets operands without derivative where it is not chosen, so that what it makes
  of them (perhaps infinity) does not reach their derivatives.
  """
  common.check_batched_effects(
      "cond", "the index", no_effects.union(*[b.effects for b in branches]))
  index = move(args[0], dims[0] or 0, 0)
  operands = [
      expand(x, axis.size) if d is None else move(x, d, 0)
      for x, d in zip(args[1:], dims[1:])]
  results = []
  for i, b in enumerate(branches):
    chosen = eq(index, np.int32(i))
    guarded = [_guard(chosen, x) for x in operands]
    batched, _ = batch_jaxpr(
        b, axis, (0,) * len(operands), (0,) * len(b.out_avals))
    results.append(eval_jaxpr(batched.jaxpr, batched.consts, *guarded))
  which = index if len(branches) > 2 else eq(index, np.int32(1))
  outs = [select_n(spread(which, typeof(cases[0]).shape), *cases)
          for cases in zip(*results)]
  return outs, (0,) * len(outs)


def _guard(chosen: Any, x: Any) -> Any:
  aval = typeof(x)
  if not dtypes.issubdtype(aval.dtype, np.inexact):
    return x
  return select_n(spread(chosen, aval.shape), stop_gradient(x), x)


def spread(which: Any, shape: tuple[int, ...]) -> Any:
  """Repeats a mapped scalar along the other dimensions of `shape`."""
  return broadcast_in_dim(which, shape, (0,))


@dce_rule.define(cond_p)
def _(used: Sequence[bool], eqn: Eqn) -> tuple[list[bool], Eqn | None]:
  branches: Branches = eqn.params["branches"]
  if not any(used) and not eqn.effects:
    return [False] * len(eqn.invars), None
  needs = union(*[dce_closed(b, tuple(used))[1] for b in branches])
  pruned = tuple([dce_closed(b, tuple(used), needs)[0] for b in branches])
  used_ins = [True, *needs]
  return used_ins, eqn.replace(
      invars=[v for v, u in zip(eqn.invars, used_ins) if u],
      outvars=[v for v, u in zip(eqn.outvars, used) if u],
      params={**eqn.params, "branches": pruned})
