"""`stop_gradient`: a value as it is, without its derivative."""

from __future__ import annotations

from typing import Any

from gnomon.core.derive import elementwise_batch, no_derivative
from gnomon.core.primitive import Primitive
from gnomon.core.rule import impl_rule, lower, typing_rule
from gnomon.core.zero import Zero
from gnomon.runtime.execute import as_operand
from gnomon.transform.jvp import JVPTracer
from gnomon.tree_util import tree_map


def stop_gradient(x: Any) -> Any:
  """The value of `x` (a pytree), with zero derivative.

  >>> import gnomon
  >>> from gnomon import lax
  >>> float(gnomon.grad(lambda x: lax.mul(x, lax.stop_gradient(x)))(3.0))
  3.0
  """
  return tree_map(_stopped, x)


def _stopped(x: Any) -> Any:
  out = stop_gradient_p.apply(x)[0]
  while isinstance(out, JVPTracer) and type(out.tangent) is Zero:
    out = out.primal  # what has no derivative need not be differentiated any more
  return out


stop_gradient_p = Primitive("stop_gradient")
typing_rule.define(stop_gradient_p)(lambda x: (x,))
impl_rule.define(stop_gradient_p)(lambda x: (_array(x),))
lower.define(stop_gradient_p)(lambda ctx, x: [x])
no_derivative(stop_gradient_p)
elementwise_batch(stop_gradient_p)


def _array(x: Any) -> Any:
  return x if hasattr(x, "aval") else as_operand(x)
