"""Sorting, and the greatest elements."""

from __future__ import annotations

from collections.abc import Sequence
from operator import index as as_int
from typing import Any

import numpy as np

from gnomon.core import dtypes
from gnomon.core.derive import slice_p
from gnomon.core.primitive import Primitive
from gnomon.core.rule import batch_rule, jvp_rule, lower, typing_rule
from gnomon.core.types import ShapedArray, typeof
from gnomon.core.zero import Zero
from gnomon.lax import _order
from gnomon.lax._along import take_along
from gnomon.lax._bitwise import not_p, or_p, shift_left_p
from gnomon.lax._conversion import bitcast_convert_type_p
from gnomon.lax._creation import iota_p
from gnomon.lax._families import ANY, REAL_OR_BOOL, check_dtype
from gnomon.lax._loops import on_cpu
from gnomon.lax._programs import emit
from gnomon.lax._reduction import reduce_or_p
from gnomon.lax._shape import axis_of, same_dim

Values = Sequence[Any]


def sort(
    operand: Any, dimension: int = -1, is_stable: bool = True, num_keys: int = 1) -> Any:
  """Sorts along a dimension, in increasing order; several arrays by the first ones.

  Nans come last; zeros of both signs are equal. Complex numbers compare by real part,
  then by imaginary part.

  Args:
    operand: an array, or a sequence of arrays of one shape, which are permuted together.
    dimension: along which; negative ones count from the end.
    is_stable: whether equal elements keep their order.
    num_keys: how many of the arrays are compared, the first one first.

  Returns:
    An array, or a tuple of arrays.

  >>> from gnomon import lax
  >>> import numpy as np
  >>> lax.sort(np.int32([3, 1, 2])).tolist()
  [1, 2, 3]

  Raises:
    TypeError: shapes differ, or there are no arrays.
    ValueError: there is no such dimension, or fewer arrays than `num_keys`.
  """
  if isinstance(operand, Sequence) and not isinstance(operand, str):
    if not operand:
      raise TypeError("sort needs at least one array")
    if not 1 <= num_keys <= len(operand):
      raise ValueError(
          f"sort needs num_keys between 1 and the number of arrays, {len(operand)}: got "
          f"{num_keys}")
    axis = axis_of(dimension, typeof(operand[0]).ndim, "sort")
    return tuple(sort_p.apply(
        *operand, dimension=axis, is_stable=bool(is_stable), num_keys=as_int(num_keys)))
  axis = axis_of(dimension, typeof(operand).ndim, "sort")
  return sort_p.apply(operand, dimension=axis, is_stable=bool(is_stable), num_keys=1)[0]


def sort_key_val(
    keys: Any, values: Any, dimension: int = -1, is_stable: bool = True) -> Any:
  """Sorts an array along a dimension, and permutes another in the same way.

  Args:
    keys: the array to be sorted.
    values: the other, of the same shape.
    dimension: along which; negative ones count from the end.
    is_stable: whether equal elements keep their order.

  Returns:
    The two arrays.

  >>> from gnomon import lax
  >>> import numpy as np
  >>> [x.tolist() for x in lax.sort_key_val(np.int32([3, 1]), np.int32([7, 8]))]
  [[1, 3], [8, 7]]

  Raises:
    TypeError: shapes differ.
    ValueError: there is no such dimension.
  """
  return sort((keys, values), dimension, is_stable, 1)


sort_p = Primitive("sort")


@typing_rule.define(sort_p)
def _(*xs: ShapedArray, dimension: int, is_stable: bool,
      num_keys: int) -> tuple[ShapedArray, ...]:
  for i, x in enumerate(xs):
    if x.shape != xs[0].shape:
      raise TypeError(
          f"sort needs arrays of one shape: the first is {xs[0]}, that at {i} is {x}")
  for i, x in enumerate(xs[:num_keys]):
    check_dtype("sort", x, ANY, i)
  return xs


@jvp_rule.define(sort_p)
def _(primals: Values, tangents: Values, *, dimension: int, **params: Any) -> Any:
  shape = typeof(primals[0]).shape
  places = iota_p.apply(
      dtype=_index_dtype(shape[dimension]), shape=shape, dimension=dimension,
      sharding=None)[0]
  *outs, order = sort_p.apply(*primals, places, dimension=dimension, **params)
  return outs, [
      t if type(t) is Zero else take_along(t, order, dimension, unique=True)
      for t in tangents]


def _index_dtype(n: int) -> Any:
  return np.dtype("int32" if n < 2 ** 31 else "int64")


@batch_rule.define(sort_p)
def _(axis: Any, args: Values, dims: Values, *, dimension: int,
      **params: Any) -> tuple[Values, Values]:
  xs, d = same_dim(axis, args, dims)
  outs = sort_p.apply(*xs, dimension=dimension + (d <= dimension), **params)
  return outs, (d,) * len(outs)


# ---- lowering of sort

_FEW = 2048  # elements: so many are sorted at once, and their program is small


@lower.define(sort_p)
def _(ctx: Any, *values: Any, dimension: int, is_stable: bool, num_keys: int) -> Values:
  avals = ctx.avals_in
  first, fixed = avals[0], {"dimension": dimension, "num_keys": num_keys}
  if first.size == 0 or first.shape[dimension] == 1:
    return values
  exact = len(avals) == 1 and not dtypes.issubdtype(first.dtype, np.inexact)
  if exact and on_cpu(ctx) and _countable(first, dimension):
    from gnomon.lax._counting import sort_by_counting  # few programs need it

    return emit(ctx, sort_by_counting, avals, values, dimension=dimension)
  kinds = [a.dtype for a in avals[:num_keys]]
  # Compilers for CPUs compare bfloat16 as float32, and lose denormal numbers.
  worth = first.size > _FEW or any(k == dtypes.bfloat16 for k in kinds)
  if (worth and not exact and on_cpu(ctx) and sum(map(_words, kinds)) <= 4
      and first.shape[dimension] < 2 ** 31):
    if len(avals) == 1 and _order.has_keys(first.dtype):
      return _sort_floats(ctx, values, fixed)
    return emit(ctx, _sort_by_words, avals, values, **fixed)
  if any(isinstance(a.dtype, dtypes.ExtendedDType) for a in avals):
    return emit(ctx, _sort_by_places, avals, values, **fixed)
  b = ctx.b
  types = [b.tensor_of((), a.dtype) for a in avals for _ in range(2)]
  op = b.region_op(
      "stablehlo.sort", [b.tensor(a) for a in avals], values,
      {"dimension": b.i64(dimension), "is_stable": b.flag(is_stable or exact)},
      [(types, lambda *xs: [_before(b, xs, kinds, on_cpu(ctx))])])
  return list(op.results)


def _countable(x: ShapedArray, dimension: int) -> bool:
  """Whether there are more elements to sort than numbers of their dtype."""
  if not dtypes.issubdtype(x.dtype, np.integer) or x.dtype.itemsize > 2:
    return False
  rows = x.size // x.shape[dimension]
  kinds = 256 ** x.dtype.itemsize
  return x.shape[dimension] >= kinds and x.size + rows < 2 ** 31


def _sort_floats(ctx: Any, values: Values, fixed: dict[str, Any]) -> Values:
  """Sorts keys alone, which is faster, unless there are elements that these do not tell.

  Those are -0.0 and nans: then all are taken from the places that sorted keys have.
  """
  b, avals = ctx.b, ctx.avals_in
  (lost,) = emit(ctx, _any_lost, avals, values)
  op = b.region_op(
      "stablehlo.if", [b.tensor(avals[0])], [lost], None, [
          ((), lambda: emit(ctx, _sort_by_words, avals, values, **fixed)),
          ((), lambda: emit(ctx, _sort_by_keys, avals, values, **fixed))])
  return list(op.results)


def _any_lost(x: Any) -> list[Any]:
  lost = _order.lost_by_keys(x)
  return list(reduce_or_p.apply(lost, axes=tuple(range(typeof(x).ndim))))


def _sort_by_keys(x: Any, *, dimension: int, num_keys: int) -> list[Any]:
  keys = sort_p.apply(
      _order.keys(x), dimension=dimension, is_stable=True, num_keys=num_keys)[0]
  return [_order.numbers(keys, typeof(x).dtype)]


def _before(b: Any, xs: Values, kinds: Sequence[Any], cpu: bool) -> Any:
  """Whether the first of two tuples of scalars (which alternate) stands first."""
  pairs = []
  for i, dtype in enumerate(kinds):
    aval, x, y = ShapedArray((), dtype), xs[2 * i], xs[2 * i + 1]
    if dtypes.issubdtype(dtype, np.complexfloating):
      part = ShapedArray((), np.finfo(dtype).dtype)
      for name in ("real", "imag"):
        pairs.append((part, *(
            b.op1(f"stablehlo.{name}", b.tensor(part), (z,)) for z in (x, y))))
    else:
      pairs.append((aval, x, y))
  flag = b.tensor_of((), np.dtype(bool))
  answer = None
  for aval, x, y in reversed(pairs):
    inexact = dtypes.issubdtype(aval.dtype, np.floating)
    if inexact and cpu and _order.has_keys(aval.dtype):
      (x, aval), (y, _) = _key(b, x, aval), _key(b, y, aval)
      inexact = False
    elif inexact:
      x, y = _one_form(b, x, aval), _one_form(b, y, aval)
    less = b.compare("LT", x, y, aval, total_order=inexact)
    if answer is None:
      answer = less
    else:
      same = b.compare("EQ", x, y, aval, total_order=inexact)
      tied = b.op1("stablehlo.and", flag, (same, answer))
      answer = b.op1("stablehlo.or", flag, (less, tied))
  return answer


def _key(b: Any, x: Any, aval: ShapedArray) -> tuple[Any, ShapedArray]:
  """The integer key of a number, as `_order.keys` has it, and its type."""
  bits = dtypes.itemsize_bits(aval.dtype)
  key = ShapedArray((), np.dtype(f"int{bits}"))
  kind, most = b.tensor(key), np.iinfo(key.dtype).max
  zero, top = b.constant(0, key.dtype), b.constant(most, key.dtype)
  x = b.op1("stablehlo.bitcast_convert", kind, (x,))
  size = b.op1("stablehlo.and", kind, (x, top))
  minus = b.op1("stablehlo.negate", kind, (size,))
  signed = b.op1("stablehlo.select", kind, (b.compare("LT", x, zero, key), minus, size))
  limit = b.constant(_order.infinity_bits(aval.dtype), key.dtype)
  nan = b.compare("GT", size, limit, key)
  return b.op1("stablehlo.select", kind, (nan, top, signed)), key


def _one_form(b: Any, x: Any, aval: ShapedArray) -> Any:
  """A number with one form of zero, and one of nan: in total order these are equal."""
  kind = b.tensor(aval)
  zero, nan = b.constant(0, aval.dtype), b.constant(np.nan, aval.dtype)
  x = b.op1("stablehlo.select", kind, (b.compare("EQ", x, zero, aval), zero, x))
  return b.op1("stablehlo.select", kind, (b.compare("NE", x, x, aval), nan, x))


def _sort_by_places(*xs: Any, dimension: int, num_keys: int) -> list[Any]:
  """Sorts positions, and takes all arrays from these: arrays of keys, for example."""
  aval = typeof(xs[0])
  places = iota_p.apply(
      dtype=_index_dtype(aval.shape[dimension]), shape=aval.shape, dimension=dimension,
      sharding=None)[0]
  *_, order = sort_p.apply(
      *xs[:num_keys], places, dimension=dimension, is_stable=True, num_keys=num_keys)
  return [take_along(x, order, dimension, unique=True) for x in xs]


def _sort_by_words(*xs: Any, dimension: int, num_keys: int) -> list[Any]:
  """Sorts single integers, several times faster than what needs a comparison of its own.

  Keys are cut into words of 32 bits, sorted from the last word to the first one: each
  time a word and the position make one integer of 64 bits, so that equal words keep their
  order.
  """
  words = [w for x in xs[:num_keys] for w in _order.words(x)]
  order = _order_of_words(words, dimension)
  return [take_along(x, order, dimension, unique=True) for x in xs]


def _order_of_words(words: list[Any], dimension: int) -> Any:
  order: Any = None
  for word in reversed(words):
    if order is not None:
      word = take_along(word, order, dimension, unique=True)
    step = _argsort_word(word, dimension)
    order = step if order is None else take_along(order, step, dimension, unique=True)
  return order


def _words(dtype: Any) -> int:
  """How many words of 32 bits a key has."""
  if dtype == np.bool_:
    return 1
  if dtypes.issubdtype(dtype, np.floating) and not _order.has_keys(dtype):
    return 99  # there are none of 4 and 8 bits
  return -(-dtypes.itemsize_bits(dtype) // 32)


def _argsort_word(word: Any, dimension: int) -> Any:
  """The stable order of 32-bit integers."""
  shape, wide = typeof(word).shape, np.dtype("int64")
  places = iota_p.apply(dtype=wide, shape=shape, dimension=dimension, sharding=None)[0]
  high = shift_left_p.apply(_order.to(word, wide), _order.to(np.int32(32), wide))[0]
  packed = or_p.apply(high, places)[0]
  ordered = sort_p.apply(packed, dimension=dimension, is_stable=True, num_keys=1)[0]
  return _order.to(ordered, np.dtype("int32"))  # the low half: positions


# ---- top_k


def top_k(operand: Any, k: int, *, axis: int = -1) -> Any:
  """The `k` greatest elements along an axis, in decreasing order, and their indices.

  Of equal elements those with the least indices come first. Nans are the greatest (the
  least, with the sign bit set), and 0.0 is greater than -0.0.

  Args:
    operand: an array of real numbers or bools.
    k: how many.
    axis: along which; negative ones count from the end.

  Returns:
    A list of two arrays, of the elements and of their int32 indices.

  >>> from gnomon import lax
  >>> import numpy as np
  >>> [x.tolist() for x in lax.top_k(np.int32([3, 1, 2]), 2)]
  [[3, 2], [0, 2]]

  Raises:
    TypeError: the operand is complex.
    ValueError: there is no such axis, or `k` is negative or greater than its size.
  """
  axis = axis_of(axis, typeof(operand).ndim, "top_k")
  return list(top_k_p.apply(operand, k=as_int(k), axis=axis))


top_k_p = Primitive("top_k")


@typing_rule.define(top_k_p)
def _(x: ShapedArray, *, k: int, axis: int) -> tuple[ShapedArray, ShapedArray]:
  check_dtype("top_k", x, REAL_OR_BOOL)
  if not 0 <= k <= x.shape[axis]:
    raise ValueError(
        f"top_k needs k between 0 and the size of axis {axis} of {x}: got {k}")
  if x.shape[axis] > 2 ** 31 - 1:
    raise ValueError(
        "top_k returns int32 indices, which will overflow for array dimensions larger "
        f"than the greatest int32: axis {axis} of {x} is")
  shape = (*x.shape[:axis], k, *x.shape[axis + 1:])
  return x.update(shape=shape), ShapedArray(shape, np.dtype("int32"))


@lower.define(top_k_p)
def _(ctx: Any, x: Any, *, k: int, axis: int) -> Values:
  (source,), outs = ctx.avals_in, ctx.avals_out
  if on_cpu(ctx) and source.dtype != np.float32 and source.size:
    if dtypes.itemsize_bits(source.dtype) > 32:
      return emit(ctx, _top_k_by_words, [source], [x], k=k, axis=axis)
    # XLA has a kernel for float32 alone, and compares its bits: any key may be such bits.
    keys = emit(ctx, _as_float, [source], [x])[0]
    as_floats = [a.update(dtype=np.dtype("float32"), weak_type=False) for a in (
        source, outs[0])]
    values, places = _greatest(ctx, keys, k, axis, as_floats[0], as_floats[1])
    values = emit(ctx, _from_float, [as_floats[1]], [values], dtype=source.dtype)[0]
    return [values, places]
  return _greatest(ctx, x, k, axis, source, outs[0])


def _greatest(
    ctx: Any, x: Any, k: int, axis: int, source: ShapedArray, out: ShapedArray) -> Values:
  b, outs = ctx.b, (out, out.update(dtype=np.dtype("int32"), weak_type=False))
  order = (*(d for d in range(source.ndim) if d != axis), axis)
  moved = [
      ShapedArray(tuple(a.shape[d] for d in order), a.dtype) for a in (source, *outs)]
  last = axis == source.ndim - 1
  if not last:
    x = b.transpose(x, moved[0], order)
  results = b.op(
      "chlo.top_k", [b.tensor(a) for a in moved[1:]], (x,), {"k": b.i64(k)}).results
  if last:
    return list(results)
  back = tuple(order.index(d) for d in range(source.ndim))
  return [b.transpose(r, a, back) for r, a in zip(results, outs)]


def _as_float(x: Any) -> list[Any]:
  key = _order.to(_order.total_keys(x), np.dtype("int32"))
  return list(bitcast_convert_type_p.apply(
      _order.reflected(key), new_dtype=np.dtype("float32")))


def _from_float(x: Any, *, dtype: Any) -> list[Any]:
  key = bitcast_convert_type_p.apply(x, new_dtype=np.dtype("int32"))[0]
  return [_order.of_total_keys(_order.reflected(key), dtype)]


def _top_k_by_words(x: Any, *, k: int, axis: int) -> list[Any]:
  """Sorts the keys of 64 bits, turned round, as `_sort_by_words` does."""
  order: Any = _order_of_words(
      _order.words(not_p.apply(_order.total_keys(x))[0]), axis)
  shape = typeof(x).shape
  first = slice_p.apply(
      order, start_indices=(0,) * len(shape),
      limit_indices=(*shape[:axis], k, *shape[axis + 1:]), strides=None)[0]
  return [take_along(x, first, axis, unique=True), first]


@jvp_rule.define(top_k_p)
def _(primals: Values, tangents: Values, *, k: int, axis: int) -> Any:
  values, places = top_k_p.apply(*primals, k=k, axis=axis)
  t = tangents[0]
  if type(t) is Zero:
    moved: Any = Zero(typeof(values).to_tangent_aval())
  else:
    moved = take_along(t, places, axis, unique=True)
  return (values, places), (moved, Zero(typeof(places).to_tangent_aval()))


@batch_rule.define(top_k_p)
def _(axis_: Any, args: Values, dims: Values, *, k: int,
      axis: int) -> tuple[Values, Values]:
  d = dims[0]
  return top_k_p.apply(args[0], k=k, axis=axis + (d <= axis)), (d, d)
