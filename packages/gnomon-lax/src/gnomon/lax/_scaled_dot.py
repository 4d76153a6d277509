"""`scaled_dot`: products of arrays in small formats, with a scale for each block."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gnomon.core import dtypes
from gnomon.core.derive import expand, move
from gnomon.core.jaxpr import eval_jaxpr
from gnomon.core.primitive import Primitive
from gnomon.core.rule import batch_rule, jvp_rule, lower, typing_rule
from gnomon.core.stage import trace_to_closed
from gnomon.core.structural import broadcast_in_dim, convert, full, reshape
from gnomon.core.types import ShapedArray, typeof
from gnomon.lax._arithmetic import mul
from gnomon.lax._composite import attribute
from gnomon.lax._dot import Pairs, dot_general, dot_general_p
from gnomon.lax._shape import ints
from gnomon.transform.jvp import jvp_jaxpr, moves_of, moving, place

Values = Sequence[Any]
_SCALE = "float8_e8m0fnu"


def scaled_dot(
    lhs: Any, rhs: Any, *, lhs_scale: Any = None, rhs_scale: Any = None,
    dimension_numbers: Any = None, preferred_element_type: Any = None) -> Any:
  """`dot_general` of two arrays, each multiplied by the scales of its blocks.

  Along contracted dimensions an operand's size is a multiple of its scale's: each scale
  is that of a block. Accelerators with units for that multiply small formats directly.

  Args:
    lhs: an array of at least 2 dimensions.
    rhs: another.
    lhs_scale: the scales of `lhs`, of its shape but along contracted dimensions; None:
      it has none.
    rhs_scale: those of `rhs`.
    dimension_numbers: see `dot_general`. By default those of a product of matrices, or of
      stacks of them.
    preferred_element_type: the dtype in which products are computed, and of the result;
      bfloat16 by default.

  >>> import numpy as np
  >>> from gnomon import lax
  >>> x, scale = np.ones((1, 4), np.float32), np.float32([[1, 10]])
  >>> float(lax.scaled_dot(x, x.T, lhs_scale=scale)[0, 0])
  22.0

  Raises:
    TypeError: the shapes of operands and scales do not fit together.
  """
  x, y = typeof(lhs), typeof(rhs)
  if min(x.ndim, y.ndim) < 2:
    raise TypeError(
        "scaled_dot does not support 0-rank and 1-rank operands, got shapes "
        f"{x.shape} and {y.shape}.")
  if dimension_numbers is None:
    if x.ndim != y.ndim or x.ndim > 3:
      raise TypeError(
          "scaled_dot without dimension_numbers multiplies matrices, or stacks of them; "
          f"got shapes {x.shape} and {y.shape}.")
    dimension_numbers = (
        (((1,), (0,)), ((), ())) if x.ndim == 2 else (((2,), (1,)), ((0,), (0,))))
  (cx, cy), (bx, by) = dimension_numbers
  numbers: Pairs = ((ints(cx), ints(cy)), (ints(bx), ints(by)))
  preferred = np.dtype(dtypes.bfloat16)
  if preferred_element_type is not None:
    preferred = dtypes.canonicalize_dtype(preferred_element_type)
  scales = [
      _ones(a, c) if s is None else s
      for a, s, c in ((x, lhs_scale, numbers[0][0]), (y, rhs_scale, numbers[0][1]))]
  return scaled_dot_p.apply(
      lhs, rhs, *scales, dimension_numbers=numbers, preferred_element_type=preferred)[0]


def _ones(x: ShapedArray, contract: tuple[int, ...]) -> Any:
  shape = tuple([1 if d in contract else n for d, n in enumerate(x.shape)])
  return convert(full(shape, 1, np.dtype(dtypes.bfloat16)), np.dtype(_SCALE))


scaled_dot_p = Primitive("scaled_dot")


@typing_rule.define(scaled_dot_p)
def _(x: ShapedArray, y: ShapedArray, sx: ShapedArray, sy: ShapedArray, *,
      dimension_numbers: Pairs, preferred_element_type: Any) -> tuple[ShapedArray]:
  contract, batch = dimension_numbers
  for side, a, s, cs, bs in (
      ("LHS", x, sx, contract[0], batch[0]), ("RHS", y, sy, contract[1], batch[1])):
    if a.ndim != s.ndim:
      raise TypeError(
          f"scaled_dot: the {side} operand and its scale must have equal rank, got {a} "
          f"and {s}.")
    for d, (n, m) in enumerate(zip(a.shape, s.shape)):
      if d not in cs:
        if n != m:
          kind = "batch" if d in bs else "non-contracting"
          raise TypeError(
              f"{side} {kind} dim {d} must have the same size as its scale's, got {n} "
              f"and {m}.")
      elif not m or n % m:
        raise TypeError(
            f"{side} contracting dim {d} of size {n} must be divisible by its scale's "
            f"dim size {m}.")
      elif n // m < 2:
        raise TypeError(
            f"The ratio of {side} contracting dim {d} to its scale's dim size ({n // m}) "
            "must be at least 2.")
  return typing_rule[dot_general_p](  # type: ignore[no-any-return]
      *(a.update(dtype=preferred_element_type, weak_type=False) for a in (x, y)),
      dimension_numbers=dimension_numbers, precision=None, preferred_element_type=None,
      out_sharding=None)


def _decomposed(
    x: Any, y: Any, sx: Any, sy: Any, *, dimension_numbers: Pairs,
    preferred_element_type: Any) -> list[Any]:
  dtype = preferred_element_type
  left, right = (
      mul(convert(a, dtype), convert(_spread(s, typeof(a).shape), dtype))
      for a, s in ((x, sx), (y, sy)))
  return [dot_general(left, right, dimension_numbers, None, dtype)]


def _spread(scale: Any, shape: tuple[int, ...]) -> Any:
  """Repeats each scale over its block."""
  s = typeof(scale).shape
  if s == shape:
    return scale
  blocks, places, at = [], [], 0
  for n, m in zip(shape, s):
    places.append(at)
    blocks.append(m)
    at += 1
    if n != m:
      blocks.append(n // m)
      at += 1
  return reshape(broadcast_in_dim(scale, tuple(blocks), tuple(places)), shape)


@lower.define(scaled_dot_p)
def _(ctx: Any, *values: Any, **params: Any) -> Values:
  program = trace_to_closed(lambda *xs: _decomposed(*xs, **params), ctx.avals_in)
  found = {k: attribute(ctx.b, v) for k, v in params.items()}
  outs: Values = ctx.composite("xla.scaled_dot", program, values, 0, found)
  return outs


@jvp_rule.define(scaled_dot_p)
def _(primals: Values, tangents: Values, **params: Any) -> Any:
  outs = scaled_dot_p.apply(*primals, **params)
  program = trace_to_closed(
      lambda *xs: _decomposed(*xs, **params), [typeof(x) for x in primals])
  transformed, moved = jvp_jaxpr(program, moves_of(tangents))
  both = eval_jaxpr(
      transformed.jaxpr, transformed.consts, *primals, *moving(tangents))
  return outs, place(both[1:], moved, program.out_avals)


@batch_rule.define(scaled_dot_p)
def _(axis: Any, args: Values, dims: Values, *, dimension_numbers: Pairs,
      **params: Any) -> Any:
  """One more pair of batch dimensions."""
  moved = [
      expand(x, axis.size) if d is None else move(x, d, 0) for x, d in zip(args, dims)]
  contract, (bx, by) = tuple([
      tuple([tuple([d + 1 for d in ds]) for ds in pair]) for pair in dimension_numbers])
  numbers = (contract, ((0, *bx), (0, *by)))
  return scaled_dot_p.apply(*moved, dimension_numbers=numbers, **params), (0,)
