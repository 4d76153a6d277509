"""What a backward pass keeps, in words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gnomon.api import tools
from gnomon.core.jaxpr import Literal
from gnomon.core.printing import str_aval
from gnomon.core.provenance import made_by
from gnomon.core.stage import StageTrace
from gnomon.core.trace import tracing
from gnomon.transform.linearize import linearize_flat


def saved_residuals(
    f: Callable[..., Any], *args: Any, **kwargs: Any) -> list[tuple[Any, str]]:
  """The values that the backward pass of `f` keeps: the type and the origin of each.

  >>> from gnomon import lax
  >>> from gnomon.ad_checkpoint import saved_residuals
  >>> saved_residuals(lax.mul, 2.0, 3.0)[0]
  (ShapedArray(float32[], weak_type=True), 'from the argument x')
  """
  leaves, tree = tools.flatten((args, kwargs))
  names = tools.leaf_names(f, tree)
  avals = tools.check_leaves(leaves, "saved_residuals", names)

  def flat(*xs: Any) -> list[Any]:
    a, k = tree.unflatten(xs)
    return tools.results_to_flat(f(*a, **k), "saved_residuals", f)[0]

  stage = StageTrace(tools.debug_info("saved_residuals", f, tree))
  with tracing(stage):
    try:
      _, linear = linearize_flat(flat, [stage.new(a) for a in avals])
      jaxpr, _ = stage.finish(linear.residuals)
    finally:
      stage.done = True
  kept = dict.fromkeys(v for v in jaxpr.outvars if type(v) is not Literal)
  found = [
      (v.aval, f"from the argument {name}")
      for v, name in zip(jaxpr.invars, names()) if v in kept]
  found += [(v.aval, "from a constant") for v in jaxpr.constvars if v in kept]
  found += [
      (v.aval, "from a literal") for v in jaxpr.outvars if type(v) is Literal]
  made = {v: e for e in jaxpr.eqns for v in e.outvars}
  for e in jaxpr.eqns:
    found += [(v.aval, made_by(e, made)) for v in e.outvars if v in kept]
  return found


def print_saved_residuals(f: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
  """Prints the values that the backward pass of `f` keeps, one a line.

  >>> import gnomon
  >>> from gnomon import lax
  >>> from gnomon.ad_checkpoint import print_saved_residuals
  >>> print_saved_residuals(gnomon.checkpoint(lambda x: lax.sin(lax.sin(x))), 1.0)
  f32[] from the argument x
  """
  for aval, origin in saved_residuals(f, *args, **kwargs):
    print(f"{str_aval(aval)} {origin}")  # noqa: T201 -- what it is for
