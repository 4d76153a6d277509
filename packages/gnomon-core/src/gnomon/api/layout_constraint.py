"""`with_layout_constraint`: how a value inside a program lies in memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gnomon.api import tools
from gnomon.core.derive import linear
from gnomon.core.primitive import Primitive
from gnomon.core.rule import batch_rule, impl_rule, lower, typing_rule
from gnomon.core.types import physical_aval
from gnomon.runtime.layout import Layout
from gnomon.tree_util import flatten_axes


def with_layout_constraint(x: Any, layouts: Any) -> Any:
  """Asks for a layout in memory of values inside a program.

  Arrays that programs take and give lie in row-major order whatever is asked here: it
  concerns the operations in between.

  Args:
    x: a pytree of arrays.
    layouts: a `Layout`, or a pytree of those that is a prefix of `x`.

  Returns:
    The values.

  >>> import gnomon
  >>> from gnomon.experimental.layout import Layout, with_layout_constraint
  >>> f = gnomon.jit(lambda x: with_layout_constraint(x, Layout((1, 0))))
  >>> f(gnomon.numpy.ones((2, 3))).shape
  (2, 3)

  Raises:
    ValueError: what is given is no Layout, or has another number of dimensions.
  """
  leaves, tree = tools.flatten(x)
  given = (
      [layouts] * len(leaves) if isinstance(layouts, Layout)
      else flatten_axes("with_layout_constraint layouts", tree, layouts))
  outs = []
  for v, layout in zip(leaves, given):
    if not isinstance(layout, Layout):
      raise ValueError(  # noqa: TRY004 -- as of other places
          "layouts passed to `with_layout_constraint` must be of type `Layout`, got "
          f"{layout!r} of type {type(layout)}")
    layout.check_compatible_aval(
        tools.check_leaf(v, "with_layout_constraint", lambda: "x").shape)
    outs.append(layout_constraint_p.apply(v, layout=layout)[0])
  return tree.unflatten(outs)


layout_constraint_p = Primitive("layout_constraint")
typing_rule.define(layout_constraint_p)(lambda x, *, layout: (x,))
impl_rule.define(layout_constraint_p)(lambda x, *, layout: (x,))
linear(
    layout_constraint_p,
    lambda cts, args, *, layout: layout_constraint_p.apply(cts[0], layout=layout))


@lower.define(layout_constraint_p)
def _(ctx: Any, x: Any, *, layout: Any) -> Sequence[Any]:
  b, extra = ctx.b, len(physical_aval(ctx.aval_out).shape) - ctx.aval_out.ndim
  order = [*layout.major_to_minor, *range(ctx.aval_out.ndim, ctx.aval_out.ndim + extra)]
  text = f"[dense<{order[::-1]}> : tensor<{len(order)}xindex>]" if order else (
      "[dense<> : tensor<0xindex>]")
  return [b.op1("stablehlo.custom_call", x.type, b.settled([x]), {
      "call_target_name": b.string("LayoutConstraint"), "backend_config": b.string(""),
      "api_version": b.attr("1 : i32"), "operand_layouts": b.attr(text),
      "result_layouts": b.attr(text)})]


@batch_rule.define(layout_constraint_p)
def _(axis: Any, args: Sequence[Any], dims: Sequence[Any], *, layout: Any) -> Any:
  (x,), (d,) = args, dims
  order = [i + (i >= d) for i in layout.major_to_minor]
  wider = layout.update(major_to_minor=(d, *order))
  return layout_constraint_p.apply(x, layout=wider), [d]
