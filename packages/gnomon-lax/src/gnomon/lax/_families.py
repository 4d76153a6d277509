"""Families of primitives: what is shared is derived, what differs is written."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gnomon.core import dtypes
from gnomon.core.derive import defjvp, elementwise_batch, no_derivative, unbroadcast
from gnomon.core.primitive import Primitive
from gnomon.core.rule import hide_params, jvp_rule, lower, transpose_rule, typing_rule
from gnomon.core.types import ShapedArray, physical_aval, typeof
from gnomon.core.zero import UndefinedPrimal
from gnomon.lax._accuracy import accuracy_text, check_accuracy

FLOAT = (np.floating,)
COMPLEX = (np.complexfloating,)
INEXACT = (np.floating, np.complexfloating)
INT = (np.integer,)
SIGNED = (np.floating, np.complexfloating, np.signedinteger)
INT_OR_BOOL = (np.integer, np.bool_)
REAL = (np.floating, np.integer)
REAL_OR_BOOL = (np.floating, np.integer, np.bool_)
NUMBER = (np.number,)
ANY = (np.number, np.bool_)

Kinds = tuple[type, ...]
Derivative = Callable[..., Any]


def check_dtype(name: str, aval: ShapedArray, kinds: Kinds, position: int = 0) -> None:
  """Raises `TypeError` unless the operand's dtype is of one of the kinds."""
  if not any(dtypes.issubdtype(aval.dtype, k) for k in kinds):
    accepted = " or ".join(k.__name__.replace("_", "") for k in kinds)
    raise TypeError(
        f"{name} does not accept dtype {aval.dtype} at position {position}: expected "
        f"{accepted}")


def nary_type(
    name: str, kinds: Sequence[Kinds], avals: Sequence[ShapedArray]) -> ShapedArray:
  """The type of an elementwise result, for equal dtypes, and equal shapes or scalars."""
  first = avals[0]
  shape, weak = first.shape, first.weak_type
  for i, (a, k) in enumerate(zip(avals, kinds)):
    check_dtype(name, a, k, i)
    if a.dtype != first.dtype:
      listed = ", ".join(str(x) for x in avals)
      raise TypeError(
          f"lax.{name} requires arguments to have the same dtypes, got {listed}. "
          f"(gnomon.numpy promotes dtypes; lax does not: use lax.convert_element_type)")
    if not shape:
      shape = a.shape
    elif a.shape and a.shape != shape:
      shape = _stretched(name, shape, a.shape, avals)
    weak = weak and a.weak_type
  if shape == first.shape and weak is first.weak_type:
    return first
  return ShapedArray(shape, first.dtype, weak)


def _stretched(
    name: str, x: tuple[int, ...], y: tuple[int, ...],
    avals: Sequence[ShapedArray]) -> tuple[int, ...]:
  """The common shape of two of one rank whose sizes are equal or 1."""
  if len(x) != len(y) or any(n != m and 1 not in (n, m) for n, m in zip(x, y)):
    listed = ", ".join(str(a.shape) for a in avals)
    raise TypeError(
        f"{name} got incompatible shapes for broadcasting: {listed}. lax operations need "
        "shapes of one rank (or scalars); gnomon.numpy broadcasts")
  return tuple([m if n == 1 else n for n, m in zip(x, y)])


def spread(ctx: Any, values: Sequence[Any]) -> list[Any]:
  """Broadcasts elementwise operands to the result's shape: scalars, and sizes of 1."""
  eqn, b = ctx.eqn, ctx.b
  shape = eqn.outvars[0].aval.shape
  out = list(values)
  for i, v in enumerate(eqn.invars):
    aval = v.aval
    if aval.shape == shape:
      continue
    target = ShapedArray(shape, aval.dtype)
    if not aval.shape and isinstance(aval.dtype, np.dtype):
      out[i] = b.splat(values[i], target)
      continue
    n, parts = len(shape), b.key_dims(aval)
    out[i] = b.broadcast_in_dim(
        values[i], target, (*range(len(aval.shape)), *range(n, n + parts)))
  return out


_PYTHON = (bool, int, float, complex)
_AS_PYTHON = {"b": bool, "i": int, "u": int, "f": float, "c": complex}


def operands(*xs: Any) -> Sequence[Any]:
  """Elementwise operands, with Python numbers in the dtype of the arrays among them."""
  for x in xs:
    if getattr(x, "aval", None) is None:
      return _mixed(xs)
  return xs  # arrays and tracers: the usual case


def _mixed(xs: Sequence[Any]) -> Sequence[Any]:
  target = None
  for x in xs:
    if type(x) not in _PYTHON:
      aval = typeof(x)
      if target is None or (target.weak_type and not aval.weak_type):
        target = aval
  if target is None:
    return xs  # Python numbers only: the typing rule wants them of one kind
  return [like(target, x) if type(x) in _PYTHON else x for x in xs]


def like(aval: ShapedArray, x: Any) -> Any:
  """A Python number as a scalar of the dtype (and weakness) of `aval`."""
  dtype = aval.dtype
  if type(x) is complex and dtype.kind != "c":
    return x  # the typing rule says what is wrong
  if type(x) is float and (dtype.kind in "iub" and dtype.name in _EXACT):
    return x
  if aval.weak_type and dtype.kind in _AS_PYTHON:
    return _AS_PYTHON[dtype.kind](x)
  return np.asarray(x, dtype)[()]


_EXACT = frozenset({
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"})


Lowering = str | Callable[..., Any]


def _define_lowering(p: Primitive, lowering: Lowering) -> None:
  if isinstance(lowering, str):
    op_name = lowering if "." in lowering else f"stablehlo.{lowering}"

    @lower.define(p)
    def _(ctx: Any, *values: Any, accuracy: Any = None, **_: Any) -> Sequence[Any]:
      b = ctx.b
      operands = spread(ctx, values) if len(values) > 1 else values
      attrs = None
      if accuracy is not None:
        attrs = {"result_accuracy": b.attr(accuracy_text(accuracy))}
      return [b.op1(op_name, b.tensor(ctx.aval_out), operands, attrs)]
  else:

    @lower.define(p)
    def _(ctx: Any, *values: Any, **params: Any) -> Sequence[Any]:
      if len(values) > 1:
        values = tuple(spread(ctx, values))
      return [lowering(ctx, *values, **params)]


def nary(
    name: str, kinds: Sequence[Kinds], lowering: Lowering, *,
    result: Callable[..., ShapedArray] | None = None,
    derivatives: Sequence[Derivative | None] | None = None,
    shared: Callable[..., Any] | None = None,
    jvp: Callable[..., Any] | None = None) -> Primitive:
  """An elementwise primitive.

  `lowering` is the name of a StableHLO (or `chlo.`) operation, or a function
  `(ctx, *values, **params) -> value` that sees operands of the result's shape. `result`
  changes the result's type. `derivatives` has one `(t, ans, *primals, **params)` an
  operand, None where the derivative is zero; None as a whole: no derivative anywhere.
  They get what `shared` computes, if given, in place of `ans`. `jvp` is a whole jvp rule
  instead.
  """
  p = Primitive(name)

  @typing_rule.define(p)
  def _(*avals: ShapedArray, **params: Any) -> tuple[ShapedArray]:
    check_accuracy(name, params.get("accuracy"))
    out = nary_type(name, kinds, avals)
    return (out if result is None else result(out, **params),)

  _define_lowering(p, lowering)
  hide_params(p, accuracy=None)
  if jvp is not None:
    jvp_rule.define(p)(jvp)
  elif derivatives is None:
    no_derivative(p)
  else:
    defjvp(p, *derivatives, elementwise=True, shared=shared)
  elementwise_batch(p)
  return p


def unary(
    name: str, kinds: Kinds, lowering: Lowering, derivative: Derivative | None = None, *,
    result: Callable[..., ShapedArray] | None = None) -> Primitive:
  """An elementwise primitive of one operand, with `derivative(t, ans, x, **params)`."""
  return nary(
      name, [kinds], lowering, result=result,
      derivatives=None if derivative is None else [derivative])


def binary(
    name: str, kinds: Kinds, lowering: Lowering, *derivatives: Derivative | None,
    result: Callable[..., ShapedArray] | None = None,
    shared: Callable[..., Any] | None = None) -> Primitive:
  """An elementwise primitive of two operands of one dtype."""
  return nary(
      name, [kinds, kinds], lowering, result=result, derivatives=derivatives or None,
      shared=shared)


def as_bool(out: ShapedArray, **_: Any) -> ShapedArray:
  """The type of a predicate on operands of type `out`."""
  return ShapedArray(out.shape, np.dtype(bool))


def as_real(out: ShapedArray, **_: Any) -> ShapedArray:
  """The type of a real part or modulus."""
  if out.dtype.kind != "c":
    return out
  return ShapedArray(out.shape, np.finfo(out.dtype).dtype, out.weak_type)


def comparison(
    name: str, kinds: Kinds, direction: str, *, total_order: bool = False) -> Primitive:
  """An elementwise comparison."""
  def emit(ctx: Any, x: Any, y: Any) -> Any:
    aval = ShapedArray(ctx.avals_out[0].shape, ctx.avals_in[0].dtype)
    if isinstance(aval.dtype, dtypes.ExtendedDType):
      return _compare_parts(ctx, direction, x, y, aval)
    return ctx.b.compare(direction, x, y, aval, total_order=total_order)

  return nary(name, [kinds, kinds], emit, result=as_bool)


def _compare_parts(ctx: Any, direction: str, x: Any, y: Any, aval: ShapedArray) -> Any:
  """Compares elements that have several parts each: all of them, or any."""
  parts = physical_aval(aval)
  each = ctx.b.compare(direction, x, y, parts)
  op, start = ("and", True) if direction == "EQ" else ("or", False)
  return ctx.b.reduce(
      each, parts.update(dtype=np.dtype(bool)), ctx.avals_out[0],
      range(aval.ndim, parts.ndim), f"stablehlo.{op}", start)


def bilinear_transpose(
    p: Primitive, wrt_lhs: Callable[..., Any], wrt_rhs: Callable[..., Any]) -> None:
  """The transpose of a primitive linear in each of two operands.

  `wrt_lhs(ct, lhs_aval, rhs, **params)`, `wrt_rhs(ct, lhs, rhs_aval, **params)`.
  """
  @transpose_rule.define(p)
  def _(cts: Sequence[Any], args: Sequence[Any], **params: Any) -> list[Any]:
    x, y = args
    if type(x) is UndefinedPrimal:
      return [unbroadcast(wrt_lhs(cts[0], x.aval, y, **params), x.aval), None]
    return [None, unbroadcast(wrt_rhs(cts[0], x, y.aval, **params), y.aval)]


def linear_transpose(p: Primitive, wrt: Callable[..., Sequence[Any]]) -> None:
  """The transpose of a primitive linear in all operands together: `wrt(ct)` one each."""
  @transpose_rule.define(p)
  def _(cts: Sequence[Any], args: Sequence[Any], **params: Any) -> list[Any]:
    return [
        unbroadcast(ct, x.aval) if type(x) is UndefinedPrimal else None
        for ct, x in zip(wrt(cts[0], **params), args)]
