"""Random bits: Threefry, the platform's generators."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import Any

import numpy as np

from gnomon.core import dtypes
from gnomon.core.derive import elementwise_batch, no_derivative
from gnomon.core.primitive import Primitive
from gnomon.core.rule import batch_rule, lower, typing_rule
from gnomon.core.structural import broadcast_in_dim, full, reshape
from gnomon.core.types import ShapedArray, typeof
from gnomon.lax._arithmetic import add, mul, sub
from gnomon.lax._creation import sizes
from gnomon.lax._families import FLOAT, REAL, check_dtype, nary_type, operands, spread
from gnomon.lax._shape import concatenate
from gnomon.lax._slicing import slice_in_dim
from gnomon.transform.vmap import to_dim

Shape = tuple[int, ...]
Values = Sequence[Any]


# ---- Threefry

threefry2x32_p = Primitive("threefry2x32")
_WORD = np.dtype("uint32")


@typing_rule.define(threefry2x32_p)
def _(*words: ShapedArray) -> tuple[ShapedArray, ShapedArray]:
  if len(words) != 4 or any(w.dtype != _WORD for w in words):
    raise TypeError(
        "threefry2x32 needs four uint32 operands, two words of the key and two of the "
        f"counter: got {', '.join(map(str, words))}")
  out = nary_type("threefry2x32", [(np.unsignedinteger,)] * 4, words)
  return out, out


_ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
_PARITY = 0x1BD11BDA  # of Skein's key schedule, in its 32-bit form


@lower.define(threefry2x32_p)
def _(ctx: Any, *words: Any) -> Values:
  """Twenty rounds, written out: compilers fuse them with what uses the bits."""
  b, out = ctx.b, ctx.avals_out[0]
  kind = b.tensor(out)
  first, second, x, y = spread(ctx, words)

  def op(name: str, p: Any, q: Any) -> Any:
    return b.op1(f"stablehlo.{name}", kind, (p, q))

  def rotated(v: Any, by: int) -> Any:
    left = op("shift_left", v, b.full(out, by))
    return op("or", left, op("shift_right_logical", v, b.full(out, 32 - by)))

  third = op("xor", op("xor", first, second), b.full(out, _PARITY))
  key = (first, second, third)
  x, y = op("add", x, first), op("add", y, second)
  for block in range(5):
    for by in _ROTATIONS[block % 2]:
      x = op("add", x, y)
      y = op("xor", rotated(y, by), x)
    x = op("add", x, key[(block + 1) % 3])
    # The sum of what is alike for all counters: compilers take it out of their loop.
    y = op("add", y, op("add", key[(block + 2) % 3], b.full(out, block + 1)))
  return [x, y]


no_derivative(threefry2x32_p)
elementwise_batch(threefry2x32_p)


# ---- the platform's generators


class RandomAlgorithm(enum.IntEnum):
  """Generators of random bits that compilers have.

  >>> from gnomon import lax
  >>> lax.RandomAlgorithm.RNG_PHILOX.name
  'RNG_PHILOX'
  """

  RNG_DEFAULT = 0
  """The platform's own choice."""
  RNG_THREE_FRY = 1
  """Threefry, of 2 words."""
  RNG_PHILOX = 2
  """Philox, of 4 words."""

  def __str__(self) -> str:
    return self.name


_ALGORITHMS = {
    RandomAlgorithm.RNG_DEFAULT: "DEFAULT", RandomAlgorithm.RNG_THREE_FRY: "THREE_FRY",
    RandomAlgorithm.RNG_PHILOX: "PHILOX"}


def rng_bit_generator(
    key: Any, shape: Sequence[int], dtype: Any = np.uint32,
    algorithm: Any = RandomAlgorithm.RNG_DEFAULT, *, out_sharding: Any = None) -> Any:
  """Random bits from a generator of the compiler, and the key that continues them.

  The bits depend on the platform and on the version of its compiler, unlike those of
  `gnomon.random` by default. Mapped over keys (`gnomon.vmap`), the first key makes the
  bits of all: they are not those of a loop.

  Args:
    key: uint32 of shape (4,) or uint64 of shape (2,).
    shape: the shape of the result.
    dtype: its dtype: an unsigned one.
    algorithm: which generator.
    out_sharding: how the result is laid out over devices; None without a mesh.

  Returns:
    The next key, and the bits.

  >>> from gnomon import lax
  >>> key, bits = lax.rng_bit_generator(lax.full((4,), 1, "uint32"), (2, 3))
  >>> key.shape, bits.shape, bits.dtype
  ((4,), (2, 3), dtype('uint32'))

  Raises:
    TypeError: the key is of another type, or the dtype is not unsigned.
  """
  return tuple(rng_bit_generator_p.apply(
      key, shape=sizes(shape, "rng_bit_generator"),
      dtype=dtypes.canonicalize_dtype(dtype), algorithm=RandomAlgorithm(algorithm),
      out_sharding=out_sharding))


rng_bit_generator_p = Primitive("rng_bit_generator")


@typing_rule.define(rng_bit_generator_p)
def _(key: ShapedArray, *, shape: Shape, dtype: Any, algorithm: RandomAlgorithm,
      out_sharding: Any) -> tuple[ShapedArray, ShapedArray]:
  if (key.dtype.name, *key.shape) not in (("uint32", 4), ("uint64", 2)):
    raise TypeError(
        "rng_bit_generator needs a key of uint32[4] or uint64[2], got "
        f"{key}")
  if dtype.name not in ("uint8", "uint16", "uint32", "uint64"):
    raise TypeError(
        "rng_bit_generator makes uint8, uint16, uint32 and uint64: unsupported dtype "
        f"{dtype}")
  return key, ShapedArray(shape, dtype)


@lower.define(rng_bit_generator_p)
def _(ctx: Any, key: Any, *, shape: Shape, dtype: Any, algorithm: RandomAlgorithm,
      out_sharding: Any) -> Values:
  b, (aval,), (_, bits) = ctx.b, ctx.avals_in, ctx.avals_out
  state = b.tensor_of((2,), np.dtype("uint64"))
  halves = ShapedArray((2, 2), _WORD)
  narrow = aval.dtype == _WORD
  if narrow:
    key = b.op1("stablehlo.bitcast_convert", state, (b.reshape(key, halves),))
  key, out = b.op("stablehlo.rng_bit_generator", [state, b.tensor(bits)], (key,), {
      "rng_algorithm": b.attr(f"#stablehlo<rng_algorithm {_ALGORITHMS[algorithm]}>"),
  }).results
  if narrow:
    key = b.reshape(b.op1("stablehlo.bitcast_convert", b.tensor(halves), (key,)), aval)
  return [key, out]


no_derivative(rng_bit_generator_p)


@batch_rule.define(rng_bit_generator_p)
def _(
    axis: Any, args: Values, dims: Values, *, shape: Shape,
    **params: Any) -> tuple[Values, Values]:
  """The first key makes the bits of all, in one go: it alone is advanced."""
  keys = to_dim(args[0], dims[0], 0, axis.size)
  whole = (axis.size, *shape)
  if not axis.size:
    return (keys, full(whole, 0, params["dtype"])), (0, 0)
  first = reshape(slice_in_dim(keys, 0, 1), typeof(keys).shape[1:])
  new, bits = rng_bit_generator_p.apply(first, shape=whole, **params)
  rest = slice_in_dim(keys, 1, axis.size)
  return (concatenate([reshape(new, (1, *typeof(new).shape)), rest], 0), bits), (0, 0)


def rng_uniform(a: Any, b: Any, shape: Sequence[int]) -> Any:
  """Random numbers, uniform between `a` and `b` (exclusive), from hidden state.

  The numbers change from run to run and cannot be repeated; `gnomon.random` has keys.

  Args:
    a: the least number, a scalar.
    b: the upper bound, a scalar of the same dtype.
    shape: the shape of the result.

  >>> from gnomon import lax
  >>> x = lax.rng_uniform(0.0, 1.0, (4,))
  >>> 0 <= float(lax.reduce_min(x, (0,))) and float(lax.reduce_max(x, (0,))) <= 1
  True

  Raises:
    TypeError: dtypes differ, or are neither integer nor floating-point.
    ValueError: a bound is not a scalar.
  """
  return rng_uniform_p.apply(*operands(a, b), shape=sizes(shape, "rng_uniform"))[0]


rng_uniform_p = Primitive("rng_uniform")


@typing_rule.define(rng_uniform_p)
def _(a: ShapedArray, b: ShapedArray, *, shape: Shape) -> tuple[ShapedArray]:
  out = nary_type("rng_uniform", [REAL, REAL], (a, b))
  if out.shape:
    raise ValueError(f"rng_uniform needs scalars as bounds, got {a} and {b}")
  return (out.update(shape=shape),)


@lower.define(rng_uniform_p)
def _(ctx: Any, a: Any, b: Any, *, shape: Shape) -> Values:
  build = ctx.b
  size = build.constant(np.asarray(shape, np.int64))
  return [build.op1("stablehlo.rng", build.tensor(ctx.avals_out[0]), (a, b, size), {
      "rng_distribution": build.attr("#stablehlo<rng_distribution UNIFORM>")})]


@batch_rule.define(rng_uniform_p)
def _(axis: Any, args: Values, dims: Values, *, shape: Shape) -> tuple[Values, Values]:
  bounds = [typeof(x) for x in args]
  check_dtype("rng_uniform with mapped bounds", bounds[0], FLOAT)
  whole = (axis.size, *shape)
  zero, one = (np.asarray(v, bounds[0].dtype)[()] for v in (0, 1))
  unit = rng_uniform_p.apply(zero, one, shape=whole)[0]
  low, high = (
      broadcast_in_dim(x, whole, () if d is None else (0,)) for x, d in zip(args, dims))
  return [add(low, mul(unit, sub(high, low)))], (0,)
