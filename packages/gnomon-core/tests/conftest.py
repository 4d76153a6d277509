"""A few primitives of the tests' own: core is tested without lax."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import gnomon
from gnomon.core import source, structural
from gnomon.core.derive import defjvp, elementwise_batch, linear, unbroadcast
from gnomon.core.primitive import Primitive
from gnomon.core.rule import batch_rule, lower, transpose_rule, typing_rule
from gnomon.core.types import ShapedArray
from gnomon.core.zero import UndefinedPrimal

source.register_exclusion(__file__)  # messages look through the functions made here


def _elementwise(name: str, op: str) -> Primitive:
  p = Primitive(name)

  def typing(*avals: Any) -> tuple[Any]:
    shape = max((a.shape for a in avals), key=len)
    if any(a.shape not in ((), shape) for a in avals):
      raise TypeError(f"{name} got incompatible shapes: {[a.shape for a in avals]}")
    if any(a.dtype != avals[0].dtype for a in avals):
      raise TypeError(f"{name} got different dtypes: {[str(a) for a in avals]}")
    return (ShapedArray(shape, avals[0].dtype, all(a.weak_type for a in avals)),)

  def lowering(ctx: Any, *values: Any) -> list[Any]:
    out = ctx.avals_out[0]
    values = tuple(
        v if a.shape == out.shape else ctx.b.broadcast_in_dim(v, out, ())
        for v, a in zip(values, ctx.avals_in, strict=True))
    return [ctx.b.op1(op, ctx.b.tensor(out), values)]

  typing_rule.define(p)(typing)
  lower.define(p)(lowering)
  elementwise_batch(p)
  return p


def _make_ops() -> SimpleNamespace:
  sin_p = _elementwise("test_sin", "stablehlo.sine")
  cos_p = _elementwise("test_cos", "stablehlo.cosine")
  neg_p = _elementwise("test_neg", "stablehlo.negate")
  mul_p = _elementwise("test_mul", "stablehlo.multiply")
  add_p = _elementwise("test_add", "stablehlo.add")

  def call(p: Primitive) -> Any:
    def function(*args: Any) -> Any:
      first = next((a for a in args if not isinstance(a, (int, float))), None)
      if first is not None:
        dtype = gnomon.typeof(first).dtype
        args = tuple(
            np.asarray(a, dtype)[()] if isinstance(a, (int, float)) else a for a in args)
      return p.apply(*args)[0]
    return function

  sin, cos, neg, mul, add = map(call, (sin_p, cos_p, neg_p, mul_p, add_p))
  defjvp(sin_p, lambda t, ans, x: mul(t, cos(x)))
  defjvp(cos_p, lambda t, ans, x: neg(mul(t, sin(x))))
  linear(neg_p, lambda cts, args: [neg(cts[0])])
  defjvp(mul_p, lambda t, ans, x, y: mul(t, y), lambda t, ans, x, y: mul(x, t))
  defjvp(add_p, lambda t, ans, x, y: t, lambda t, ans, x, y: t)

  @transpose_rule.define(mul_p)
  def _(cts: Any, args: Any) -> Any:
    x, y = args
    if type(x) is UndefinedPrimal:
      return [unbroadcast(mul(cts[0], y), x.aval), None]
    return [None, unbroadcast(mul(x, cts[0]), y.aval)]

  @transpose_rule.define(add_p)
  def _(cts: Any, args: Any) -> Any:
    return [
        unbroadcast(cts[0], x.aval) if type(x) is UndefinedPrimal else None for x in args]

  assert mul_p in batch_rule
  return SimpleNamespace(
      sin=sin, cos=cos, neg=neg, mul=mul, add=add, mul_p=mul_p,
      sum=lambda x: structural.reduce_sum(x, tuple(range(gnomon.typeof(x).ndim))))


_ops = _make_ops()


@pytest.fixture(scope="session")
def ops() -> SimpleNamespace:
  """Sine, cosine, negation, product, sum of two, and sum of all elements."""
  return _ops
