"""Primitives on arrays of keys; they are lowered by running the implementation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gnomon import config, lax, threefry_partitionable
from gnomon.core.derive import expand, move, no_derivative
from gnomon.core.primitive import Primitive
from gnomon.core.rule import batch_rule, hide_params, lower, typing_rule
from gnomon.core.stage import trace_to_closed
from gnomon.core.structural import broadcast_in_dim
from gnomon.core.types import ShapedArray, physical_aval, typeof
from gnomon.lowering.module import dear
from gnomon.random._keys import KeyType, PRNGImpl
from gnomon.transform.vmap import Axis, vmap_flat

Values = Sequence[Any]
Shape = tuple[int, ...]
_programs: dict[Any, Any] = {}


def layout() -> dict[str, bool]:
  """The param of what draws that says how Threefry lays out bits; none by default."""
  usual = config.read("jax_threefry_partitionable")
  return {} if usual else {"partitionable": False}


def _by_implementation(p: Primitive, run: Callable[..., Any]) -> None:
  """Lowers a primitive by tracing `run` on the words, mapped over arrays of keys.

  Operands have the shape of the keys, or are scalars.
  """
  no_derivative(p)
  hide_params(p, "partitionable")

  @lower.define(p)
  def _(ctx: Any, *values: Any, partitionable: bool = True, **params: Any) -> Values:
    avals = tuple(ctx.avals_in)
    key = (p, avals, partitionable, *params.items())
    program = _programs.get(key)
    if program is None:
      dims = [0 if a.shape else None for a in avals]
      depth = max(a.ndim for a in avals)

      def function(*xs: Any) -> list[Any]:
        return [_mapped(lambda *ys: run(avals[0], *ys, **params), depth, xs, dims)]

      with threefry_partitionable(partitionable):
        program = _programs[key] = trace_to_closed(
            function, [physical_aval(a) for a in avals])
    return ctx.inline(program, values)  # type: ignore[no-any-return]

  @batch_rule.define(p)
  def _(axis: Axis, args: Values, dims: Values, **params: Any) -> tuple[Values, Values]:
    shapes = [_without(typeof(x).shape, d) for x, d in zip(args, dims)]
    shape = max(shapes, key=len)
    args = [_aligned(x, d, axis.size, shape) for x, d in zip(args, dims)]
    return p.apply(*args, **params), (0,)


def _without(shape: Shape, dim: int | None) -> Shape:
  return shape if dim is None else (*shape[:dim], *shape[dim + 1:])


def _aligned(x: Any, dim: int | None, size: int, shape: Shape) -> Any:
  """An operand, mapped along its first axis, or a scalar."""
  if dim is None:
    return expand(x, size) if typeof(x).shape else x
  x = move(x, dim, 0)
  own = typeof(x).shape[1:]
  return x if own == shape else broadcast_in_dim(x, (size, *shape), (0,))


def _mapped(
    run: Callable[..., Any], depth: int, xs: Sequence[Any],
    dims: Sequence[int | None]) -> Any:
  """Maps `run` over the leading dimensions of those of its arguments that have them."""
  if not depth:
    return run(*xs)
  size = next(typeof(x).shape[0] for x, d in zip(xs, dims) if d is not None)
  outs, out_dims = vmap_flat(
      lambda *ys: [_mapped(run, depth - 1, ys, dims)], Axis(size), xs, dims)
  return expand(outs[0], size) if out_dims[0] is None else move(outs[0], out_dims[0], 0)


def _implementation(keys: ShapedArray, what: str) -> PRNGImpl:
  if not isinstance(keys.dtype, KeyType):
    raise TypeError(f"{what} needs keys, got an array of type {keys}")
  return keys.dtype.implementation


# ---- making keys

random_seed_p = Primitive("random_seed")


@typing_rule.define(random_seed_p)
def _(seeds: ShapedArray, *, impl: PRNGImpl) -> tuple[ShapedArray]:
  if seeds.dtype.kind not in "iu":
    raise TypeError(f"a PRNG key seed must be an integer; got {seeds}")
  return (ShapedArray(seeds.shape, KeyType(impl)),)


_by_implementation(random_seed_p, lambda _, x, *, impl: impl.seed(x))

random_wrap_p = Primitive("random_wrap")
no_derivative(random_wrap_p)


@typing_rule.define(random_wrap_p)
def _(words: ShapedArray, *, impl: PRNGImpl) -> tuple[ShapedArray]:
  n = len(impl.key_shape)
  if words.shape[words.ndim - n:] != impl.key_shape or words.dtype != np.uint32:
    raise TypeError(
        f"keys of {impl.name} are made of uint32 words of trailing shape "
        f"{impl.key_shape}, got {words}")
  return (ShapedArray(words.shape[:words.ndim - n], KeyType(impl)),)


lower.define(random_wrap_p)(lambda ctx, words, *, impl: [words])


@batch_rule.define(random_wrap_p)
def _(axis: Axis, args: Values, dims: Values, *, impl: PRNGImpl) -> Any:
  return random_wrap_p.apply(move(args[0], dims[0], 0), impl=impl), (0,)


def _full(self: KeyType, shape: Shape, value: Any) -> Any:
  words = lax.full((*shape, *self.physical_shape), value, np.uint32)
  return random_wrap_p.apply(words, impl=self.implementation)[0]


KeyType.full = _full  # type: ignore[assignment, method-assign]


random_unwrap_p = Primitive("random_unwrap")
no_derivative(random_unwrap_p)


@typing_rule.define(random_unwrap_p)
def _(keys: ShapedArray) -> tuple[ShapedArray]:
  impl = _implementation(keys, "random_unwrap")
  return (ShapedArray((*keys.shape, *impl.key_shape), np.dtype(np.uint32)),)


lower.define(random_unwrap_p)(lambda ctx, keys: [keys])


@batch_rule.define(random_unwrap_p)
def _(axis: Axis, args: Values, dims: Values) -> Any:
  return random_unwrap_p.apply(args[0]), (dims[0],)


random_clone_p = Primitive("random_clone")  # the same key, meant to be used again
typing_rule.define(random_clone_p)(lambda keys: (keys,))
lower.define(random_clone_p)(lambda ctx, keys: [keys])
no_derivative(random_clone_p)
batch_rule.define(random_clone_p)(
    lambda axis, args, dims: (random_clone_p.apply(*args), dims))


# ---- using keys

random_split_p = Primitive("random_split")


@typing_rule.define(random_split_p)
def _(keys: ShapedArray, *, shape: Shape, **_: Any) -> tuple[ShapedArray]:
  _implementation(keys, "split")
  return (ShapedArray((*keys.shape, *shape), keys.dtype),)


_by_implementation(
    random_split_p, lambda k, x, *, shape: k.dtype.implementation.split(x, shape))


def split_keys(keys: Any, shape: Shape) -> Any:
  """New keys, in an array of `shape` for each of `keys`."""
  return random_split_p.apply(keys, shape=shape, **layout())[0]


random_fold_in_p = Primitive("random_fold_in")


@typing_rule.define(random_fold_in_p)
def _(keys: ShapedArray, data: ShapedArray) -> tuple[ShapedArray]:
  _implementation(keys, "fold_in")
  if () not in (data.shape, keys.shape) and data.shape != keys.shape:
    raise TypeError(f"fold_in needs one number a key, got {data} for {keys}")
  return (ShapedArray(data.shape or keys.shape, keys.dtype),)


_by_implementation(
    random_fold_in_p, lambda k, x, data: k.dtype.implementation.fold_in(x, data))

random_bits_p = Primitive("random_bits")


@typing_rule.define(random_bits_p)
def _(
    keys: ShapedArray, *, bit_width: int, shape: Shape, **_: Any) -> tuple[ShapedArray]:
  _implementation(keys, "bits")
  return (ShapedArray((*keys.shape, *shape), np.dtype(f"uint{bit_width}")),)


_by_implementation(
    random_bits_p,
    lambda k, x, *, bit_width, shape: k.dtype.implementation.random_bits(
        x, bit_width, shape))


def random_bits(keys: Any, bit_width: int, shape: Shape) -> Any:
  """Random unsigned integers of a width, of `shape` for each of `keys`."""
  return random_bits_p.apply(keys, bit_width=bit_width, shape=shape, **layout())[0]


dear.update((random_bits_p, lax.threefry2x32_p))
