"""Rules of differentiation: forward rules, transposes, and helpers that make them.

`primitive_jvps[p] = rule` enters `rule(primals, tangents, **params)`, which returns the
result and its tangent; `primitive_transposes[p] = rule` enters
`rule(ct, *args, **params)`, which returns a cotangent for each operand. Tangents and
cotangents may be a `Zero`; the operands that a transpose is linear in come as
`UndefinedPrimal`. If `p` has several results, there are lists of results, tangents and
cotangents.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from gnomon.core.derive import add_any_p
from gnomon.core.primitive import Primitive
from gnomon.core.rule import jvp_rule, transpose_rule
from gnomon.core.structural import add_tangents as add_tangents
from gnomon.core.structural import instantiate
from gnomon.core.structural import zeros_like_aval as zeros_like_aval
from gnomon.core.trace import get_current
from gnomon.core.types import typeof
from gnomon.core.zero import UndefinedPrimal as UndefinedPrimal
from gnomon.core.zero import Zero as Zero
from gnomon.core.zero import is_undefined_primal as is_undefined_primal
from gnomon.interpreters._views import View, packed, unpacked
from gnomon.transform.jvp import JVPTrace as JVPTrace
from gnomon.transform.jvp import JVPTracer as JVPTracer
from gnomon.transform.jvp import jvp_flat
from gnomon.transform.linearize import linearize_flat
from gnomon.tree_util import tree_flatten, tree_map, tree_unflatten

__all__ = [
    "JVPTrace", "JVPTracer", "UndefinedPrimal", "Zero", "add_jaxvals", "add_jaxvals_p",
    "add_tangents", "defbilinear", "defjvp", "defjvp2", "deflinear", "deflinear2",
    "get_primitive_transpose", "instantiate_zeros", "is_undefined_primal", "jvp",
    "linearize", "primitive_jvps", "primitive_transposes", "zeros_like_aval"]

Rule = Callable[..., Any]
add_jaxvals_p = add_any_p


def _jvp_inward(p: Primitive, rule: Rule) -> Rule:
  def inner(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> Any:
    outs, touts = rule(tuple(primals), tuple(tangents), **params)
    return packed(p, outs), packed(p, touts)

  return inner


def _jvp_outward(p: Primitive, rule: Rule) -> Rule:
  def outer(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> Any:
    outs, touts = rule(list(primals), list(tangents), **params)
    return unpacked(p, outs), unpacked(p, touts)

  return outer


def _transpose_inward(p: Primitive, rule: Rule) -> Rule:
  def inner(cts: Sequence[Any], args: Sequence[Any], **params: Any) -> list[Any]:
    found = rule(unpacked(p, cts), *args, **params)
    if type(found) is Zero:  # for all operands
      found = [
          Zero(x.aval.to_tangent_aval()) if is_undefined_primal(x) else None
          for x in args]
    return list(found)

  return inner


def _transpose_outward(p: Primitive, rule: Rule) -> Rule:
  def outer(ct: Any, *args: Any, **params: Any) -> list[Any]:
    return list(rule(packed(p, ct), args, **params))

  return outer


primitive_jvps = View("primitive_jvps", (jvp_rule,), _jvp_inward, _jvp_outward)
primitive_transposes = View(
    "primitive_transposes", (transpose_rule,), _transpose_inward, _transpose_outward)


def get_primitive_transpose(p: Primitive) -> Rule:
  """The transpose of a primitive.

  Raises:
    NotImplementedError: it has none.
  """
  transpose_rule[p]  # says what to write
  return primitive_transposes[p]


# ---- makers of rules


def defjvp(primitive: Primitive, *jvprules: Rule | None) -> None:
  """The derivative by each operand: `rule(tangent, *primals, **params)`; None if zero.

  >>> import gnomon
  >>> from gnomon.extend.core import Primitive
  >>> from gnomon.interpreters import ad
  >>> cube_p = Primitive("cube")
  >>> _ = cube_p.def_impl(lambda x: x * x * x)
  >>> ad.defjvp(cube_p, lambda t, x: 3 * x * x * t)
  >>> float(gnomon.jvp(cube_p.bind, (2.0,), (1.0,))[1])
  12.0
  """
  defjvp2(primitive, *[
      None if rule is None else functools.partial(_without_answer, rule)
      for rule in jvprules])


def _apply(primitive: Primitive, *args: Any, **params: Any) -> Any:
  return unpacked(primitive, get_current().process(primitive, args, params))


def _without_answer(rule: Rule, t: Any, ans: Any, *primals: Any, **params: Any) -> Any:
  return rule(t, *primals, **params)


def defjvp2(primitive: Primitive, *jvprules: Rule | None) -> None:
  """Like `defjvp`, for rules that see the result: `rule(tangent, ans, *primals)`."""
  def jvp_of(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> Any:
    ans = _apply(primitive, *primals, **params)
    total: Any = Zero(typeof(ans).to_tangent_aval())
    for rule, t in zip(jvprules, tangents, strict=True):
      if rule is not None and type(t) is not Zero:
        total = add_tangents(total, rule(t, ans, *primals, **params))
    return ans, total

  primitive_jvps[primitive] = jvp_of


def _linear_jvp(primitive: Primitive) -> None:
  def linear(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> Any:
    process = get_current().process
    outs = process(primitive, primals, params)
    if all(type(t) is Zero for t in tangents):
      return outs, [Zero(typeof(o).to_tangent_aval()) for o in outs]
    return outs, process(primitive, [instantiate(t) for t in tangents], params)

  jvp_rule.replace(primitive, linear)


def deflinear(primitive: Primitive, transpose_rule: Rule) -> None:
  """A linear operation: its transpose is `transpose_rule(ct, **params)`."""
  deflinear2(primitive, lambda ct, *_, **params: transpose_rule(ct, **params))


def deflinear2(primitive: Primitive, transpose_rule: Rule) -> None:
  """A linear operation: its transpose is `transpose_rule(ct, *args, **params)`."""
  _linear_jvp(primitive)
  primitive_transposes[primitive] = transpose_rule


def defbilinear(prim: Primitive, lhs_rule: Rule, rhs_rule: Rule) -> None:
  """An operation linear in each of two operands.

  The transposes are `lhs_rule(ct, x, y, **params)`, where `x` is undefined, and
  `rhs_rule(ct, x, y, **params)`, where `y` is; each returns one cotangent.
  """
  defjvp(
      prim, lambda t, x, y, **params: _apply(prim, t, y, **params),
      lambda t, x, y, **params: _apply(prim, x, t, **params))

  def transpose(ct: Any, x: Any, y: Any, **params: Any) -> list[Any]:
    if is_undefined_primal(x) and is_undefined_primal(y):
      raise TypeError(
          f"{prim.name} is linear in each operand, not in both: one must be known")
    if is_undefined_primal(x):
      return [lhs_rule(ct, x, y, **params), None]
    return [None, rhs_rule(ct, x, y, **params)]

  primitive_transposes[prim] = transpose


# ---- values and whole functions


def add_jaxvals(x: Any, y: Any) -> Any:
  """The sum of two tangents that are no symbolic zeros."""
  return add_any_p.apply(x, y)[0]


def instantiate_zeros(tangent: Any) -> Any:
  """The tangent itself, or an array of zeros for a `Zero`."""
  return instantiate(tangent)


def _call(fun: Any) -> Callable[..., Any]:
  """A function, or what `extend.linear_util.wrap_init` made of one."""
  return getattr(fun, "call_wrapped", fun)  # type: ignore[no-any-return]


def jvp(
    fun: Any, primals: Any, tangents: Any, has_aux: bool = False,
    instantiate: bool | Sequence[bool] = True, transform_stack: bool = True) -> Any:
  """Values and tangents of a function.

  Args:
    fun: a function, or a wrapped one, of arrays to a pytree of arrays.
    primals: its arguments.
    tangents: their tangents, which may be a `Zero`.
    has_aux: whether `fun` returns a pair, of which the second part is passed through.
    instantiate: whether tangents that are zero come as arrays, for all or for each leaf.
    transform_stack: whether names of operations tell of it; they do not here.

  >>> from gnomon.interpreters import ad
  >>> ad.jvp(lambda x, y: [x * y], (2.0, 3.0), (1.0, 0.0))
  ([Array(6., dtype=float32, weak_type=True)], [Array(3., dtype=float32, weak_type=True)])
  """
  del transform_stack
  tree: Any = None
  aux: Any = None

  def flat(*xs: Any) -> list[Any]:
    nonlocal tree, aux
    out = _call(fun)(*xs)
    if has_aux:
      out, aux = out
    leaves, tree = tree_flatten(out)
    return leaves

  outs, touts = jvp_flat(flat, list(primals), list(tangents))
  if has_aux:
    aux = tree_map(
        lambda x: x.primal if isinstance(x, JVPTracer) and x._trace.done else x, aux)
  wanted = [instantiate] * len(outs) if isinstance(instantiate, bool) else instantiate
  touts = [
      instantiate_zeros(t) if w else t for t, w in zip(touts, wanted, strict=True)]
  found = tree_unflatten(tree, outs), tree_unflatten(tree, touts)
  return (*found, aux) if has_aux else found


def linearize(
    traceable: Any, primals_ft: Sequence[Any], has_aux: bool = False,
    is_vjp: bool = False) -> Any:
  """Values of a function, and its derivative there as a linear function of tangents.

  Args:
    traceable: a function, or a wrapped one, of arrays to a pytree of arrays.
    primals_ft: its arguments.
    has_aux: whether it returns a pair, of which the second part is passed through.
    is_vjp: whether the derivative is to be transposed; it may be in any case.
  """
  del is_vjp
  tree: Any = None
  aux: Any = None

  def flat(*xs: Any) -> list[Any]:
    nonlocal tree, aux
    out = _call(traceable)(*xs)
    if has_aux:
      out, aux = out
    leaves, tree = tree_flatten(out)
    return leaves

  outs, linear = linearize_flat(flat, list(primals_ft))
  if has_aux:
    aux = tree_map(
        lambda x: x.primal if isinstance(x, JVPTracer) and x._trace.done else x, aux)

  def derivative(*tangents: Any) -> Any:
    return tree_unflatten(tree, linear(*tangents))

  found = tree_unflatten(tree, outs), derivative
  return (*found, aux) if has_aux else found
