"""`stop_gradient`: a value as it is, without its derivative."""

from __future__ import annotations

from typing import Any

from gnomon.core.derive import elementwise_batch, no_derivative
from gnomon.core.primitive import Primitive
from gnomon.core.rule import impl_rule, lower, typing_rule
from gnomon.runtime.execute import as_operand
from gnomon.tree_util import tree_map


def stop_gradient(x: Any) -> Any:
  """The value of `x` (a pytree), with zero derivative.

  >>> import gnomon
  >>> from gnomon import lax
  >>> float(gnomon.grad(lambda x: lax.mul(x, lax.stop_gradient(x)))(3.0))
  3.0
  """
  return tree_map(lambda leaf: stop_gradient_p.bind(leaf)[0], x)


stop_gradient_p = Primitive("stop_gradient")
typing_rule.define(stop_gradient_p)(lambda x: (x,))
impl_rule.define(stop_gradient_p)(lambda x: (_array(x),))
lower.define(stop_gradient_p)(lambda ctx, x: [x])
no_derivative(stop_gradient_p)
elementwise_batch(stop_gradient_p)


def _array(x: Any) -> Any:
  return x if hasattr(x, "aval") else as_operand(x)
