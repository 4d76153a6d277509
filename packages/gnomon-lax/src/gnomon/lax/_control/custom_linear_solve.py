"""`custom_linear_solve`: solvers of linear equations, differentiated by the equations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from gnomon.core.effects import Effects, no_effects
from gnomon.core.jaxpr import eval_jaxpr
from gnomon.core.primitive import Primitive
from gnomon.core.rule import (
  batch_rule,
  effects_rule,
  jvp_rule,
  lower,
  transpose_rule,
  typing_rule,
)
from gnomon.core.structural import add_tangents, instantiate
from gnomon.core.types import typeof
from gnomon.core.zero import Zero
from gnomon.lax._arithmetic import neg
from gnomon.lax._control.common import (
  Body,
  as_arrays,
  check_functions,
  flatten,
  leaf_avals,
  trace_body,
  zero_filled,
)
from gnomon.transform.jvp import jvp_jaxpr, moves_of, moving, place
from gnomon.transform.transpose import transpose_jaxpr
from gnomon.transform.vmap import batch_jaxpr, to_dim

Values = Sequence[Any]


def custom_linear_solve(
    matvec: Callable[[Any], Any], b: Any, solve: Callable[[Any, Any], Any],
    transpose_solve: Callable[[Any, Any], Any] | None = None, symmetric: bool = False,
    has_aux: bool = False) -> Any:
  """Solves `matvec(x) = b` by a given function, whose own derivative is never taken.

  The derivatives, forward and reverse, are solutions of linear equations with the same
  matrix, or its transpose: what `solve` does inside (a loop, say) does not matter.

  Args:
    matvec: a linear function, from pytrees of arrays like `b` to ones like `b`.
    b: the right-hand side: a pytree of arrays.
    solve: takes `matvec` and a right-hand side, returns the solution, a pytree like `b`.
    transpose_solve: the same for the transpose of `matvec`, which it is given; needed for
      reverse mode only.
    symmetric: says that `matvec` is its own transpose: then `solve` solves both.
    has_aux: `solve` and `transpose_solve` return pairs `(x, aux)`, where aux is a pytree
      of arrays that has no derivative.

  Returns:
    The solution; with `has_aux`, the pair of it and aux.

  >>> from gnomon import lax
  >>> x = lax.custom_linear_solve(
  ...     lambda x: lax.mul(x, 4.0), 2.0, lambda matvec, b: lax.div(b, 4.0),
  ...     symmetric=True)
  >>> float(x)
  0.5

  Raises:
    TypeError: a function cannot be called; its result differs from `b` in structure; or a
      reverse derivative is taken without `transpose_solve` or `symmetric`.
    ValueError: a function's result differs from `b` in shapes.
  """
  check_functions("custom_linear_solve", matvec=matvec, solve=solve)
  if transpose_solve is not None:
    check_functions("custom_linear_solve", transpose_solve=transpose_solve)
  leaves, tree = flatten(((b,), {}))
  leaves = as_arrays(leaves)
  avals = leaf_avals(leaves, "custom_linear_solve", lambda i: f"leaf {i} of b")
  b_tree = tree.children()[0].children()[0]
  n = len(leaves)

  def body_of(f: Callable[[Any], Any], name: str, aux: bool = False) -> Body:
    body = trace_body(f, "custom_linear_solve", tree, avals)
    _check(name, body, b_tree, avals, aux)
    return body

  forward = body_of(matvec, "matvec")
  solver = body_of(lambda y: solve(_checked(matvec, tree, avals), y), "solve", has_aux)
  back = back_solver = None
  if symmetric:
    back, back_solver = forward, solver
  elif transpose_solve is not None:
    back = _transposed(forward, avals)
    given = transpose_solve  # for the type checker: it is not None
    back_solver = body_of(
        lambda y: given(_as_function(back, b_tree), y), "transpose_solve", has_aux)
  bodies = (forward, back, solver, back_solver)
  outs = linear_solve_p.apply(
      *(c for body in bodies if body is not None for c in body.consts), *leaves,
      const_lengths=Parts(*[0 if x is None else len(x.consts) for x in bodies]),
      jaxprs=Parts(*[None if x is None else x.jaxpr for x in bodies]))
  if not has_aux:
    return b_tree.unflatten(outs)
  aux_tree = solver.out_tree.children()[1]
  return b_tree.unflatten(outs[:n]), aux_tree.unflatten(outs[n:])


class Parts(NamedTuple):
  """Something for each of the four functions of a linear solve."""

  matvec: Any
  vecmat: Any
  solve: Any
  transpose_solve: Any

  def transposed(self) -> Parts:
    """The parts for equations with the transposed matrix."""
    return Parts(self.vecmat, self.matvec, self.transpose_solve, self.solve)


def _check(name: str, body: Body, b_tree: Any, avals: Sequence[Any], aux: bool) -> None:
  """Raises an error unless a function returns something like `b`."""
  tree, outs = body.out_tree, body.out_avals
  if aux:
    parts = tree.children()
    if len(parts) != 2:
      raise ValueError(
          f"custom_linear_solve: with has_aux=True, {name}() must return a pair (x, "
          f"aux), but it returned {tree}")
    tree, outs = parts[0], outs[:parts[0].num_leaves]
  shapes, wanted = [a.shape for a in outs], [a.shape for a in avals]
  if shapes != wanted:
    raise ValueError(
        f"custom_linear_solve: {name}() output shapes must match b, got {shapes} and "
        f"{wanted}")
  if tree != b_tree:
    raise TypeError(
        f"custom_linear_solve: {name}() output pytree structure must match b, got {tree} "
        f"and {b_tree}")


def _checked(matvec: Callable[[Any], Any], tree: Any, avals: Sequence[Any]) -> Any:
  """The function as `solve` gets it: its argument must be like `b`."""
  def call(x: Any) -> Any:
    leaves, found = flatten(((x,), {}))
    if found != tree or [typeof(v).shape for v in leaves] != [a.shape for a in avals]:
      raise ValueError(
          "custom_linear_solve: the matvec given to solve takes arguments like b, of the "
          f"shapes {[a.shape for a in avals]}; got {[typeof(v).shape for v in leaves]}")
    return matvec(x)

  return call


def _transposed(forward: Body, avals: Sequence[Any]) -> Body:
  """The transpose of a linear function, with the same constants."""
  n, k = len(avals), len(forward.consts)
  jaxpr, moved = transpose_jaxpr(forward.jaxpr, (True,) * k + (False,) * n, (True,) * n)
  jaxpr = zero_filled(jaxpr, 0, moved, (True,) * n, avals)
  return Body(forward.fun, jaxpr, forward.consts, forward.out_tree)


def _as_function(body: Any, b_tree: Any) -> Callable[[Any], Any]:
  def call(x: Any) -> Any:
    leaves, _ = flatten(x)
    outs = eval_jaxpr(body.jaxpr.jaxpr, body.jaxpr.consts, *body.consts, *leaves)
    return b_tree.unflatten(outs)

  return call


# ---- the primitive: the constants of the four functions, then b

linear_solve_p = Primitive("custom_linear_solve", call=True)


def _split(values: Values, lengths: Parts) -> tuple[Parts, list[Any]]:
  """The constants of each function, and what follows."""
  groups, at = [], 0
  for k in lengths:
    groups.append(list(values[at:at + k]))
    at += k
  return Parts(*groups), list(values[at:])


def _joined(groups: Parts) -> list[Any]:
  return [x for group in groups for x in group]


@typing_rule.define(linear_solve_p)
def _(*_: Any, jaxprs: Parts, **__: Any) -> list[Any]:
  return list(jaxprs.solve.out_avals)


@effects_rule.define(linear_solve_p)
def _(*_: Any, jaxprs: Parts, **__: Any) -> Effects:
  return no_effects.union(*[j.effects for j in jaxprs if j is not None])


@lower.define(linear_solve_p)
def _(ctx: Any, *values: Any, const_lengths: Parts, jaxprs: Parts) -> Values:
  consts, b = _split(values, const_lengths)
  return list(ctx.inline(jaxprs.solve, [*consts.solve, *b]))


@jvp_rule.define(linear_solve_p)
def _(primals: Values, tangents: Values, *, const_lengths: Parts,
      jaxprs: Parts) -> tuple[Values, Values]:
  """From A x = b: A dx = db - dA x."""
  consts, b = _split(primals, const_lengths)
  const_ts, right = _split(tangents, const_lengths)
  outs = linear_solve_p.apply(*primals, const_lengths=const_lengths, jaxprs=jaxprs)
  n = len(b)
  x, moves = outs[:n], moves_of(const_ts.matvec)
  if any(moves):
    transformed, moved = jvp_jaxpr(jaxprs.matvec, (*moves, *(False,) * n))
    found = eval_jaxpr(
        transformed.jaxpr, transformed.consts, *consts.matvec, *x,
        *moving(const_ts.matvec))
    changes = place(found[n:], moved, jaxprs.matvec.out_avals)
    right = [
        t if type(c) is Zero else add_tangents(t, neg(c)) for t, c in zip(right, changes)]
  zeros = [Zero(typeof(o).to_tangent_aval()) for o in outs]
  if not any(moves_of(right)):
    return outs, zeros
  touts = linear_solve_p.apply(
      *_joined(consts), *map(instantiate, right), const_lengths=const_lengths,
      jaxprs=jaxprs)
  return outs, [*touts[:n], *zeros[n:]]


@transpose_rule.define(linear_solve_p)
def _(cts: Values, args: Values, *, const_lengths: Parts, jaxprs: Parts) -> list[Any]:
  if jaxprs.transpose_solve is None:
    raise TypeError(
        "transpose_solve required for backwards mode automatic differentiation of "
        "custom_linear_solve: pass it, or symmetric=True if the matrix is its own "
        "transpose")
  consts, b = _split(args, const_lengths)
  n = len(b)
  outs = linear_solve_p.apply(
      *_joined(consts.transposed()), *map(instantiate, cts[:n]),
      const_lengths=const_lengths.transposed(), jaxprs=jaxprs.transposed())
  return [None] * (len(args) - n) + list(outs[:n])


@batch_rule.define(linear_solve_p)
def _(axis: Any, args: Values, dims: Values, *, const_lengths: Parts,
      jaxprs: Parts) -> tuple[Values, Values]:
  """All right-hand sides and solutions are mapped; of the constants, those that are."""
  const_dims, b_dims = _split(dims, const_lengths)
  consts, b = _split(args, const_lengths)
  n = len(b)
  batched = Parts(*[
      None if j is None else batch_jaxpr(
          j, axis, (*ds, *(0,) * n), (0,) * len(j.out_avals))[0]
      for j, ds in zip(jaxprs, const_dims)])
  b = [to_dim(x, d, 0, axis.size) for x, d in zip(b, b_dims)]
  outs = linear_solve_p.apply(
      *_joined(consts), *b, const_lengths=const_lengths, jaxprs=batched)
  return outs, (0,) * len(outs)
