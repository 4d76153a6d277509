"""Primitives that transformations themselves bind; lax re-exports them."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from gnomon.core import dtypes
from gnomon.core.addition import add_tangents as add_tangents
from gnomon.core.copying import copy as copy
from gnomon.core.copying import copy_p as copy_p
from gnomon.core.derive import (
  broadcast_in_dim_p,
  elementwise_batch,
  expand,
  linear,
  move,
  reduce_sum_p,
  slice_p,
  transpose_p,
)
from gnomon.core.primitive import Primitive
from gnomon.core.rule import batch_rule, jvp_rule, lower, transpose_rule, typing_rule
from gnomon.core.stage import StageTrace, StageTracer
from gnomon.core.trace import get_current
from gnomon.core.types import ShapedArray, sharding_with, typeof
from gnomon.core.zero import UndefinedPrimal, Zero

Shape = tuple[int, ...]
Values = Sequence[Any]


# ---- broadcast_in_dim


def broadcast_in_dim(
    operand: Any, shape: Sequence[int], broadcast_dimensions: Sequence[int], *,
    out_sharding: Any = None) -> Any:
  """Broadcasts `operand` to `shape`; its dimension i becomes `broadcast_dimensions[i]`.

  >>> import gnomon.lax as lax
  >>> lax.broadcast_in_dim(1.0, (2,), ()).shape
  (2,)

  Raises:
    ValueError: the dimensions do not increase, or sizes differ and are not 1.
  """
  shape, dims = tuple(shape), tuple(broadcast_dimensions)
  aval = typeof(operand)
  if aval.shape == shape and dims == tuple(range(len(shape))) and not _is_raw(operand):
    return operand
  return broadcast_in_dim_p.apply(
      operand, shape=shape, broadcast_dimensions=dims, sharding=out_sharding)[0]


def _is_raw(x: Any) -> bool:
  """Whether a value is not yet an array of ours: identity functions must convert it."""
  return not hasattr(x, "aval")



@typing_rule.define(broadcast_in_dim_p)
def _(x: ShapedArray, *, shape: Shape, broadcast_dimensions: Shape,
      sharding: Any) -> tuple[ShapedArray]:
  dims = broadcast_dimensions
  if len(dims) != x.ndim:
    raise TypeError(
        "broadcast_in_dim: broadcast_dimensions must have length equal to operand ndim: "
        f"got {dims} for the operand shape {x.shape}")
  if len(shape) < x.ndim:
    raise TypeError(
        "broadcast_in_dim: target broadcast shape must have equal or higher rank to the "
        f"operand shape: got {shape} for the operand shape {x.shape}")
  if any(not 0 <= d < len(shape) for d in dims):
    raise TypeError(
        "broadcast_in_dim broadcast_dimensions must be a subset of output dimensions: "
        f"got {dims} for the {len(shape)} dimensions of {shape}")
  if any(a >= b for a, b in itertools.pairwise(dims)):
    raise TypeError(
        "broadcast_in_dim broadcast_dimensions must not contain duplicates, and must "
        f"increase: got {dims}")
  if any(n not in (1, shape[d]) for n, d in zip(x.shape, dims)):
    raise TypeError(
        "broadcast_in_dim: operand dimension sizes must either be 1, or be equal to "
        "their corresponding dimensions in the target broadcast shape: got the operand "
        f"shape {x.shape} for {shape} along the dimensions {dims}")
  if any(n < 0 for n in shape):
    raise TypeError(
        f"broadcast_in_dim needs a shape without negative sizes, got {shape}")
  return (ShapedArray(shape, x.dtype, x.weak_type),)


@lower.define(broadcast_in_dim_p)
def _(ctx: Any, x: Any, *, shape: Shape, broadcast_dimensions: Shape,
      sharding: Any) -> Values:
  out = ctx.avals_out[0]
  tail = ctx.b.key_dims(out)
  dims = (*broadcast_dimensions, *range(len(shape), len(shape) + tail))
  return [ctx.b.broadcast_in_dim(x, out, dims)]


def _transpose_broadcast(
    cts: Values, args: Values, *, shape: Shape, broadcast_dimensions: Shape,
    sharding: Any) -> list[Any]:
  x = args[0].aval
  kept = [d for d, n in zip(broadcast_dimensions, x.shape) if n == shape[d]]
  summed = reduce_sum(cts[0], tuple(d for d in range(len(shape)) if d not in kept))
  return [reshape(summed, x.shape)]


linear(broadcast_in_dim_p, _transpose_broadcast)


@batch_rule.define(broadcast_in_dim_p)
def _(axis: Any, args: Values, dims: Values, *, shape: Shape, broadcast_dimensions: Shape,
      sharding: Any) -> tuple[Values, Values]:
  x = move(args[0], dims[0], 0)
  out = broadcast_in_dim_p.apply(
      x, shape=(axis.size, *shape),
      broadcast_dimensions=(0, *(d + 1 for d in broadcast_dimensions)),
      sharding=sharding_with(sharding, 0, x, 0))
  return out, (0,)


def broadcast_to(x: Any, shape: Shape) -> Any:
  """Broadcasts by NumPy's rule: trailing dimensions align."""
  n = typeof(x).ndim
  return broadcast_in_dim(x, shape, tuple(range(len(shape) - n, len(shape))))


def full(shape: Shape, value: Any, dtype: Any) -> Any:
  """An array of `shape` filled with the scalar `value`."""
  scalar = np.asarray(value, dtype)
  if not shape:
    return convert_element_type_p.apply(
        scalar, new_dtype=scalar.dtype, weak_type=False, sharding=None)[0]
  return broadcast_in_dim_p.apply(
      scalar, shape=tuple(shape), broadcast_dimensions=(), sharding=None)[0]


def zeros_like_aval(aval: Any) -> Any:
  """The zero of a type."""
  if aval.dtype == dtypes.float0:
    return np.zeros(aval.shape, dtypes.float0)
  if not aval.shape:
    return np.zeros((), aval.dtype)
  return full(aval.shape, 0, aval.dtype)


def instantiate(t: Any) -> Any:
  """A tangent or cotangent as an array."""
  return zeros_like_aval(t.aval) if type(t) is Zero else t


def traced(x: Any) -> Any:
  """An array for a number or a NumPy array, which user code may ask for its shape.

  Where a program is being recorded it is a tracer, and a number is a literal still.
  """
  trace = get_current()
  while not isinstance(trace, StageTrace) and hasattr(trace, "parent"):
    trace = trace.parent
  aval = typeof(x)
  if isinstance(trace, StageTrace):
    return StageTracer(trace, aval, trace.atom(x))
  return convert_element_type_p.apply(
      x, new_dtype=aval.dtype, weak_type=aval.weak_type, sharding=None)[0]


# ---- reshape


def reshape(
    operand: Any, new_sizes: Sequence[int], dimensions: Sequence[int] | None = None, *,
    out_sharding: Any = None) -> Any:
  """Gives `operand` the shape `new_sizes`, its elements in row-major order.

  `dimensions` is an order in which to read the operand's dimensions.

  >>> import gnomon.lax as lax
  >>> lax.reshape(lax.iota('int32', 6), (2, 3)).shape
  (2, 3)

  Raises:
    TypeError: the sizes have another product than the operand's.
  """
  new_sizes = tuple(new_sizes)
  for n in new_sizes:
    if type(n) is not int:
      new_sizes = _whole_sizes(new_sizes)
      break
  x = typeof(operand)
  if dimensions is not None and tuple(dimensions) != tuple(range(x.ndim)):
    return reshape(transpose(operand, tuple(dimensions)), new_sizes)
  if x.shape == new_sizes and not _is_raw(operand):
    return operand
  return reshape_p.apply(
      operand, new_sizes=new_sizes, dimensions=None, sharding=out_sharding)[0]


def _whole_sizes(sizes: Sequence[Any]) -> Shape:
  """Sizes as integers, which may be given as arrays that hold one."""
  try:
    return tuple([operator.index(n) for n in sizes])
  except TypeError:
    raise TypeError(
        "Shapes must be 1D sequences of concrete values of integer type, got "
        f"{tuple(sizes)}") from None


reshape_p = Primitive("reshape")


@typing_rule.define(reshape_p)
def _(x: ShapedArray, *, new_sizes: Shape, dimensions: Any,
      sharding: Any) -> tuple[ShapedArray]:
  out = ShapedArray(new_sizes, x.dtype, x.weak_type)
  if any(n < 0 for n in new_sizes):
    raise TypeError(f"reshape needs sizes that are not negative, got {new_sizes}")
  if out.size != x.size:
    raise TypeError(
        f"reshape cannot turn the shape {x.shape} ({x.size} elements) into {new_sizes} "
        f"({out.size} elements)")
  return (out,)


@lower.define(reshape_p)
def _(ctx: Any, x: Any, *, new_sizes: Shape, dimensions: Any, sharding: Any) -> Values:
  return [ctx.b.reshape(x, ctx.avals_out[0])]


linear(reshape_p, lambda cts, args, **_: [reshape(cts[0], args[0].aval.shape)])


@batch_rule.define(reshape_p)
def _(axis: Any, args: Values, dims: Values, *, new_sizes: Shape, dimensions: Any,
      sharding: Any) -> tuple[Values, Values]:
  x = move(args[0], dims[0], 0)
  return [reshape(
      x, (axis.size, *new_sizes), out_sharding=sharding_with(sharding, 0, x, 0))], (0,)


# ---- squeeze


def squeeze(array: Any, dimensions: Sequence[int]) -> Any:
  """Removes `dimensions`, each of size 1 (negative ones count from the end).

  >>> import gnomon.lax as lax
  >>> lax.squeeze(lax.full((1, 3), 0.0), [0]).shape
  (3,)

  Raises:
    ValueError: a dimension is out of range, repeated, or not of size 1.
  """
  x = typeof(array)
  dims = []
  for d in map(operator.index, dimensions):
    if not -x.ndim <= d < x.ndim:
      raise ValueError(
          f"squeeze: axis {d} is out of bounds for array of dimension {x.ndim} (its "
          f"shape is {x.shape})")
    dims.append(d % x.ndim)
  if len(set(dims)) != len(dims):
    raise ValueError(f"squeeze: dimensions are not unique: {tuple(dimensions)}")
  if not dims and not _is_raw(array):
    return array
  return squeeze_p.apply(array, dimensions=tuple(sorted(dims)))[0]


squeeze_p = Primitive("squeeze")


@typing_rule.define(squeeze_p)
def _(x: ShapedArray, *, dimensions: Shape) -> tuple[ShapedArray]:
  if any(x.shape[d] != 1 for d in dimensions):
    raise ValueError(
        "squeeze: cannot select an axis to squeeze out which has size not equal to one, "
        f"got shape={x.shape} and dimensions={dimensions}")
  shape = tuple(n for d, n in enumerate(x.shape) if d not in dimensions)
  return (ShapedArray(shape, x.dtype, x.weak_type),)


@lower.define(squeeze_p)
def _(ctx: Any, x: Any, *, dimensions: Shape) -> Values:
  return [ctx.b.reshape(x, ctx.avals_out[0])]


linear(squeeze_p, lambda cts, args, **_: [reshape(cts[0], args[0].aval.shape)])


@batch_rule.define(squeeze_p)
def _(axis: Any, args: Values, dims: Values, *,
      dimensions: Shape) -> tuple[Values, Values]:
  x = move(args[0], dims[0], 0)
  return squeeze_p.apply(x, dimensions=tuple(d + 1 for d in dimensions)), (0,)


# ---- transpose


def transpose(operand: Any, permutation: Sequence[int]) -> Any:
  """Permutes dimensions: dimension i of the result is `permutation[i]` of the operand.

  >>> import gnomon.lax as lax
  >>> lax.transpose(lax.full((2, 3), 0.0), (1, 0)).shape
  (3, 2)

  Raises:
    TypeError: `permutation` is no permutation of the operand's dimensions.
  """
  permutation = tuple(int(d) for d in permutation)
  if permutation == tuple(range(typeof(operand).ndim)) and not _is_raw(operand):
    return operand
  return transpose_p.apply(operand, permutation=permutation)[0]



@typing_rule.define(transpose_p)
def _(x: ShapedArray, *, permutation: Shape) -> tuple[ShapedArray]:
  if sorted(permutation) != list(range(x.ndim)):
    raise TypeError(
        f"transpose needs a permutation of the {x.ndim} dimensions of the operand, got "
        f"{permutation}")
  return (ShapedArray(tuple(x.shape[d] for d in permutation), x.dtype, x.weak_type),)


@lower.define(transpose_p)
def _(ctx: Any, x: Any, *, permutation: Shape) -> Values:
  out = ctx.avals_out[0]
  tail = range(len(permutation), len(permutation) + ctx.b.key_dims(out))
  return [ctx.b.transpose(x, out, (*permutation, *tail))]


def inverse(permutation: Shape) -> Shape:
  """The permutation that undoes another."""
  out = [0] * len(permutation)
  for i, d in enumerate(permutation):
    out[d] = i
  return tuple(out)


linear(
    transpose_p,
    lambda cts, args, permutation: [transpose(cts[0], inverse(permutation))])


@batch_rule.define(transpose_p)
def _(axis: Any, args: Values, dims: Values, *,
      permutation: Shape) -> tuple[Values, Values]:
  d = dims[0]
  perm = (d, *(p + (p >= d) for p in permutation))
  return transpose_p.apply(args[0], permutation=perm), (0,)


# ---- convert_element_type


def convert_element_type(operand: Any, new_dtype: Any) -> Any:
  """Converts elements to `new_dtype` (canonicalised), as C's casts do.

  >>> import gnomon.lax as lax
  >>> lax.convert_element_type(1.7, 'int32').dtype
  dtype('int32')
  """
  if type(operand) is int and abs(operand) >> 31:  # as C does it: the low bits
    low = ((operand + 2 ** 63) % 2 ** 64) - 2 ** 63
    wide = dtypes.issubdtype(new_dtype, np.integer)
    operand = np.asarray(low) if wide else np.asarray(float(operand))
  weak = new_dtype in (bool, int, float, complex) and new_dtype is not bool
  dtype = dtypes.canonicalize_dtype(new_dtype, allow_extended_dtype=True)
  return convert(operand, dtype, weak)


def convert(operand: Any, dtype: Any, weak_type: bool = False) -> Any:
  """Converts to a canonical dtype object, weak or not; nothing if it has it already."""
  x = typeof(operand)
  if x.dtype == dtype and x.weak_type is weak_type and not _is_raw(operand):
    return operand
  if dtypes.issubdtype(x.dtype, np.complexfloating) and not dtypes.issubdtype(
      dtype, np.complexfloating) and dtype != np.bool_:
    operand = _real(operand)
  return convert_element_type_p.apply(
      operand, new_dtype=dtype, weak_type=weak_type, sharding=None)[0]


def _real(x: Any) -> Any:
  return real_p.apply(x)[0]


real_p = Primitive("real")  # its rules stand in lax: only this conversion needs it here
convert_element_type_p = Primitive("convert_element_type")


@typing_rule.define(convert_element_type_p)
def _(x: ShapedArray, *, new_dtype: Any, weak_type: bool,
      sharding: Any) -> tuple[ShapedArray]:
  extended = any(isinstance(d, dtypes.ExtendedDType) for d in (x.dtype, new_dtype))
  if extended and x.dtype != new_dtype:
    raise ValueError(
        f"Cannot convert_element_type from {x.dtype} to {new_dtype}: keys and numbers "
        "are not made of each other (see gnomon.random.key_data and wrap_key_data)")
  return (ShapedArray(x.shape, new_dtype, weak_type),)


@lower.define(convert_element_type_p)
def _(ctx: Any, x: Any, **_: Any) -> Values:
  return [ctx.b.convert(x, ctx.avals_in[0], ctx.avals_out[0])]


@jvp_rule.define(convert_element_type_p)
def _(primals: Values, tangents: Values, *, new_dtype: Any, weak_type: bool,
      sharding: Any) -> tuple[Values, Values]:
  outs = convert_element_type_p.apply(
      primals[0], new_dtype=new_dtype, weak_type=weak_type, sharding=sharding)
  out = typeof(outs[0]).to_tangent_aval()
  if type(tangents[0]) is Zero or out.dtype == dtypes.float0:
    return outs, (Zero(out),)
  return outs, (convert(tangents[0], new_dtype, weak_type),)


@transpose_rule.define(convert_element_type_p)
def _(cts: Values, args: Values, *, new_dtype: Any, weak_type: bool,
      sharding: Any) -> list[Any]:
  x = args[0].aval
  return [convert(cts[0], x.dtype, x.weak_type)]


elementwise_batch(convert_element_type_p)


# ---- select_n


def select_n(which: Any, *cases: Any) -> Any:
  """Chooses elements among `cases`: by a bool (False: the first) or an int32 index.

  `which` has the shape of the cases, or is a scalar.

  >>> import gnomon.lax as lax
  >>> float(lax.select_n(True, 1.0, 2.0))
  2.0

  Raises:
    TypeError: shapes or dtypes of the cases differ, or `which` is neither bool nor int32.
  """
  if not cases:
    raise ValueError("select_n needs at least one case")
  return select_n_p.apply(which, *cases)[0]


select_n_p = Primitive("select_n")


@typing_rule.define(select_n_p)
def _(which: ShapedArray, *cases: ShapedArray) -> tuple[ShapedArray]:
  first = cases[0]
  for i, c in enumerate(cases[1:], 1):
    if c.shape != first.shape or c.dtype != first.dtype:
      raise TypeError(
          f"select_n needs cases of one shape and dtype: case 0 is {first}, case {i} is "
          f"{c}")
  if which.dtype not in (np.bool_, np.int32):
    raise TypeError(f"select_n needs a bool or int32 `which`, got {which}")
  if which.dtype == np.bool_ and len(cases) > 2:
    raise TypeError(
        f"select_n with a bool `which` has two cases at most, got {len(cases)}")
  if which.shape and which.shape != first.shape:
    raise TypeError(
        f"select_n needs `which` to be a scalar or of the cases' shape {first.shape}, "
        f"got {which.shape}")
  return (ShapedArray(first.shape, first.dtype, all(c.weak_type for c in cases)),)


@lower.define(select_n_p)
def _(ctx: Any, which: Any, *cases: Any) -> Values:
  return [ctx.b.select_n(which, cases, ctx.avals_in[0], ctx.avals_out[0])]


def _known_case(which: Any) -> int | None:
  """The case that a number on the host selects: the others have no derivative."""
  return int(which) if isinstance(which, (bool, int, np.bool_, np.integer)) else None


@jvp_rule.define(select_n_p)
def _(primals: Values, tangents: Values) -> tuple[Values, Values]:
  outs = select_n_p.apply(*primals)
  ts, i = tangents[1:], _known_case(primals[0])
  if i is not None and 0 <= i < len(ts):
    return outs, (ts[i],)
  if all(type(t) is Zero for t in ts):
    return outs, (Zero(typeof(outs[0]).to_tangent_aval()),)
  return outs, select_n_p.apply(primals[0], *map(instantiate, ts))


@transpose_rule.define(select_n_p)
def _(cts: Values, args: Values) -> list[Any]:
  which, ct = args[0], cts[0]
  zero = zeros_like_aval(typeof(ct))
  zero = broadcast_to(zero, typeof(ct).shape)
  n = len(args) - 1
  return [None, *(
      select_n(which, *(ct if i == j else zero for j in range(n)))
      if type(args[1 + i]) is UndefinedPrimal else None for i in range(n))]


@batch_rule.define(select_n_p)
def _(axis: Any, args: Values, dims: Values) -> tuple[Values, Values]:
  which, *cases = args
  wd, *cds = dims
  fixed = all(d is None for d in cds)
  if fixed and typeof(which).ndim == 1 and typeof(cases[0]).ndim == 0:
    return select_n_p.apply(which, *(expand(c, axis.size) for c in cases)), (0,)
  cases = [
      expand(c, axis.size) if d is None else move(c, d, 0) for c, d in zip(cases, cds)]
  shape = typeof(cases[0]).shape
  if wd is not None:
    which = move(which, wd, 0)
    if typeof(which).ndim < len(shape):
      which = broadcast_in_dim(which, shape, (0,))
  elif typeof(which).ndim:
    which = expand(which, axis.size)
  return select_n_p.apply(which, *cases), (0,)


def slice_axis(x: Any, start: int, stop: int, axis: int) -> Any:
  """The part `start:stop` of one axis (0 or -1)."""
  shape = typeof(x).shape
  if start == 0 and stop == shape[axis]:
    return x
  starts, limits = [0] * len(shape), list(shape)
  starts[axis], limits[axis] = start, stop
  return slice_p.apply(
      x, start_indices=tuple(starts), limit_indices=tuple(limits), strides=None)[0]


# ---- reduce_sum


def reduce_sum(
    operand: Any, axes: Sequence[int], *, out_sharding: Any = None) -> Any:
  """Sums over `axes`, which are removed (none of them negative).

  >>> import numpy as np
  >>> from gnomon import lax
  >>> np.asarray(lax.reduce_sum(np.ones((2, 3)), [1])).tolist()
  [3.0, 3.0]
  """
  axes = tuple(axes)
  if not axes and not _is_raw(operand):
    return operand
  return reduce_sum_p.apply(operand, axes=axes, out_sharding=out_sharding)[0]


@typing_rule.define(reduce_sum_p)
def _(x: ShapedArray, *, axes: Shape, out_sharding: Any = None) -> tuple[ShapedArray]:
  if len(set(axes)) != len(axes):
    raise ValueError(f"reduce_sum: duplicate value in 'axes' of reduction: {axes}")
  if any(not 0 <= a < x.ndim for a in axes):
    raise ValueError(
        f"reduce_sum: the axes {axes} must be distinct and within the {x.ndim} "
        "dimensions of the operand")
  if not dtypes.issubdtype(x.dtype, np.number):
    raise TypeError(f"reduce_sum needs a numeric operand, got {x}")
  shape = tuple(n for d, n in enumerate(x.shape) if d not in axes)
  return (ShapedArray(shape, x.dtype, x.weak_type),)


@lower.define(reduce_sum_p)
def _(ctx: Any, x: Any, *, axes: Shape, out_sharding: Any = None) -> Values:
  return [ctx.b.reduce(x, ctx.avals_in[0], ctx.avals_out[0], axes, "stablehlo.add", 0)]


def _transpose_sum(
    cts: Values, args: Values, *, axes: Shape, out_sharding: Any = None) -> list[Any]:
  shape = args[0].aval.shape
  kept = tuple(d for d in range(len(shape)) if d not in axes)
  return [broadcast_in_dim(cts[0], shape, kept)]


linear(reduce_sum_p, _transpose_sum)


@batch_rule.define(reduce_sum_p)
def _(axis: Any, args: Values, dims: Values, *, axes: Shape,
      out_sharding: Any = None) -> tuple[Values, Values]:
  d = dims[0]
  axes = tuple(a + (a >= d) for a in axes)
  at = d - sum(a < d for a in axes)
  out = reduce_sum_p.apply(
      args[0], axes=axes, out_sharding=sharding_with(out_sharding, at, args[0], d))
  return out, (at,)
