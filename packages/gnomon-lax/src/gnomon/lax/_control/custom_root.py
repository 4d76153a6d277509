"""`custom_root`: roots of functions, differentiated by the implicit function theorem."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gnomon.core.jaxpr import eval_jaxpr
from gnomon.core.structural import instantiate
from gnomon.core.trace import get_current
from gnomon.core.types import typeof
from gnomon.core.zero import Zero
from gnomon.lax._arithmetic import neg
from gnomon.lax._control.common import (
  Body,
  Values,
  as_arrays,
  check_functions,
  flatten,
  leaf_avals,
  trace_body,
)
from gnomon.transform.custom_derivatives import JvpCall
from gnomon.transform.jvp import jvp_flat
from gnomon.transform.linearize import linearize_flat


def custom_root(
    f: Callable[[Any], Any], initial_guess: Any, solve: Callable[[Any, Any], Any],
    tangent_solve: Callable[[Any, Any], Any], has_aux: bool = False) -> Any:
  """Finds where a function is zero by a given method, whose own derivative is not taken.

  The derivatives with respect to what `f` closes over follow from `f(x) = 0`, by the
  implicit function theorem: it does not matter how the root was found, nor from where.

  Args:
    f: a function from a pytree of arrays to one of the same structure and shapes.
    initial_guess: where to begin: such a pytree.
    solve: takes `f` and the guess, returns an `x` for which `f(x)` is zero.
    tangent_solve: takes a linear function `g` (the derivative of `f` at the root) and
      a right-hand side `y`, returns an `x` for which `g(x)` is `y`. For scalars:
      `lambda g, y: y / g(1.0)`. For reverse mode it must be possible to transpose what
      it does.
    has_aux: `solve` returns a pair `(x, aux)`, where aux is a pytree of arrays that has
      no derivative.

  Returns:
    The root; with `has_aux`, the pair of it and aux.

  >>> import gnomon
  >>> from gnomon import lax
  >>> def root(a):
  ...   return lax.custom_root(
  ...       lambda x: lax.sub(lax.square(x), a), 1.0, lambda f, x: lax.sqrt(a),
  ...       lambda g, y: lax.div(y, g(1.0)))
  >>> float(root(4.0)), float(gnomon.grad(root)(4.0))
  (2.0, 0.25)

  Raises:
    TypeError: a function cannot be called; the result of `f` or of a solver differs from
      the guess in structure or shapes.
  """
  check_functions("custom_root", f=f, solve=solve, tangent_solve=tangent_solve)
  leaves, tree = flatten(((initial_guess,), {}))
  avals = leaf_avals(leaves, "custom_root", lambda i: f"leaf {i} of initial_guess")
  guess_tree = tree.children()[0].children()[0]
  n = len(leaves)
  residual = trace_body(f, "custom_root", tree, avals)
  _check("f", residual.out_tree, residual.out_avals, guess_tree, avals)
  solver = trace_body(lambda x: solve(f, x), "custom_root", tree, avals)
  root_tree, aux_tree = solver.out_tree, None
  if has_aux:
    parts = solver.out_tree.children()
    if len(parts) != 2:
      raise TypeError(
          "custom_root: with has_aux=True, solve must return a pair (x, aux), but it "
          f"returned {solver.out_tree}")
    root_tree, aux_tree = parts
  _check("solve", root_tree, solver.out_avals[:n], guess_tree, avals)
  k = len(residual.consts)

  def find(*xs: Any) -> Values:
    return eval_jaxpr(solver.jaxpr.jaxpr, solver.jaxpr.consts, *xs[k:])

  def bind(operands: Values) -> Values:
    call = JvpCall(find, rule, "_custom_root", False)
    outs: Values = get_current().custom_jvp(call, operands)
    return outs

  def rule(primals: Values, tangents: Values) -> Any:
    outs = bind(primals)
    changes = _changes(
        residual, primals[:k], tangents[:k], outs[:n], guess_tree, tangent_solve, avals)
    return outs, [*changes, *(Zero(typeof(o).to_tangent_aval()) for o in outs[n:])]

  outs = as_arrays(bind([*residual.consts, *solver.consts, *leaves]))
  root = root_tree.unflatten(outs[:n])
  return root if aux_tree is None else (root, aux_tree.unflatten(outs[n:]))


def _changes(
    residual: Body, consts: Values, tangents: Values, root: Values, tree: Any,
    tangent_solve: Callable[[Any, Any], Any], avals: Values) -> Values:
  """How the root moves with the constants: from df/dx x' = - df/dc c'."""
  program = residual.jaxpr
  _, moved = jvp_flat(
      lambda *cs: eval_jaxpr(program.jaxpr, program.consts, *cs, *root), consts, tangents)
  if all(type(t) is Zero for t in moved):
    return [Zero(typeof(x).to_tangent_aval()) for x in root]
  _, linear = linearize_flat(
      lambda *xs: eval_jaxpr(program.jaxpr, program.consts, *consts, *xs), root)

  def derivative(v: Any) -> Any:
    leaves, found = flatten(v)
    if found != tree:
      raise TypeError(
          "custom_root: the function given to tangent_solve takes what is like the "
          f"guess, of the structure {tree}; got {found}")
    return tree.unflatten(linear(*leaves))

  right = tree.unflatten([neg(instantiate(t)) for t in moved])
  changes, found = flatten(tangent_solve(derivative, right))
  _check("tangent_solve", found, [typeof(o) for o in changes], tree, avals)
  return list(changes)


def _check(who: str, found: Any, outs: Values, tree: Any, avals: Values) -> None:
  """Raises `TypeError` unless a function returned something like the guess."""
  if found != tree:
    raise TypeError(
        f"custom_root: {who}() output pytree structure must match initial_guess, got "
        f"{found} and {tree}")
  shapes, wanted = [a.shape for a in outs], [a.shape for a in avals]
  if shapes != wanted:
    raise TypeError(
        f"custom_root: {who}() output shapes must match initial_guess, got {shapes} and "
        f"{wanted}")
