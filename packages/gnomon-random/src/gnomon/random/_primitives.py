"""Primitives on arrays of keys; they are lowered by running the implementation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gnomon.core.derive import expand, move, no_derivative
from gnomon.core.primitive import Primitive
from gnomon.core.rule import batch_rule, lower, typing_rule
from gnomon.core.stage import trace_to_closed
from gnomon.core.types import ShapedArray, physical_aval, typeof
from gnomon.random._keys import Implementation, KeyType
from gnomon.transform.vmap import Axis, vmap_flat

Values = Sequence[Any]
Shape = tuple[int, ...]
_programs: dict[Any, Any] = {}


def _by_implementation(p: Primitive, run: Callable[..., Any]) -> None:
  """Lowers a primitive by tracing `run` on the words, mapped over arrays of keys."""
  no_derivative(p)

  @lower.define(p)
  def _(ctx: Any, *values: Any, **params: Any) -> Values:
    avals = tuple(ctx.avals_in)
    key = (p, avals, *params.items())
    program = _programs.get(key)
    if program is None:
      keys = len(avals[0].shape)

      def function(*xs: Any) -> list[Any]:
        return [_mapped(lambda *ys: run(avals[0], *ys, **params), keys, xs)]

      program = _programs[key] = trace_to_closed(
          function, [physical_aval(a) for a in avals])
    return ctx.inline(program, values)  # type: ignore[no-any-return]

  @batch_rule.define(p)
  def _(axis: Axis, args: Values, dims: Values, **params: Any) -> tuple[Values, Values]:
    args = [
        expand(x, axis.size) if d is None else move(x, d, 0) for x, d in zip(args, dims)]
    return p.bind(*args, **params), (0,)


def _mapped(run: Callable[..., Any], depth: int, xs: Sequence[Any]) -> Any:
  """Maps `run` over the leading dimensions of its arguments."""
  if not depth:
    return run(*xs)
  size = typeof(xs[0]).shape[0]
  outs, dims = vmap_flat(
      lambda *ys: [_mapped(run, depth - 1, ys)], Axis(size), xs, [0] * len(xs))
  return expand(outs[0], size) if dims[0] is None else move(outs[0], dims[0], 0)


def _implementation(keys: ShapedArray, what: str) -> Implementation:
  if not isinstance(keys.dtype, KeyType):
    raise TypeError(f"{what} needs keys, got an array of type {keys}")
  return keys.dtype.implementation


# ---- making keys

random_seed_p = Primitive("random_seed")


@typing_rule.define(random_seed_p)
def _(seeds: ShapedArray, *, impl: Implementation) -> tuple[ShapedArray]:
  if seeds.dtype.kind not in "iu":
    raise TypeError(f"a PRNG key seed must be an integer; got {seeds}")
  return (ShapedArray(seeds.shape, KeyType(impl)),)


_by_implementation(random_seed_p, lambda _, x, *, impl: impl.seed(x))

random_wrap_p = Primitive("random_wrap")
no_derivative(random_wrap_p)


@typing_rule.define(random_wrap_p)
def _(words: ShapedArray, *, impl: Implementation) -> tuple[ShapedArray]:
  n = len(impl.key_shape)
  if words.shape[words.ndim - n:] != impl.key_shape or words.dtype != np.uint32:
    raise TypeError(
        f"keys of {impl.name} are made of uint32 words of trailing shape "
        f"{impl.key_shape}, got {words}")
  return (ShapedArray(words.shape[:words.ndim - n], KeyType(impl)),)


lower.define(random_wrap_p)(lambda ctx, words, *, impl: [words])


@batch_rule.define(random_wrap_p)
def _(axis: Axis, args: Values, dims: Values, *, impl: Implementation) -> Any:
  return random_wrap_p.bind(move(args[0], dims[0], 0), impl=impl), (0,)


random_unwrap_p = Primitive("random_unwrap")
no_derivative(random_unwrap_p)


@typing_rule.define(random_unwrap_p)
def _(keys: ShapedArray) -> tuple[ShapedArray]:
  impl = _implementation(keys, "random_unwrap")
  return (ShapedArray((*keys.shape, *impl.key_shape), np.dtype(np.uint32)),)


lower.define(random_unwrap_p)(lambda ctx, keys: [keys])


@batch_rule.define(random_unwrap_p)
def _(axis: Axis, args: Values, dims: Values) -> Any:
  return random_unwrap_p.bind(args[0]), (dims[0],)


random_clone_p = Primitive("random_clone")  # the same key, meant to be used again
typing_rule.define(random_clone_p)(lambda keys: (keys,))
lower.define(random_clone_p)(lambda ctx, keys: [keys])
no_derivative(random_clone_p)
batch_rule.define(random_clone_p)(
    lambda axis, args, dims: (random_clone_p.bind(*args), dims))


# ---- using keys

random_split_p = Primitive("random_split")


@typing_rule.define(random_split_p)
def _(keys: ShapedArray, *, shape: Shape) -> tuple[ShapedArray]:
  _implementation(keys, "split")
  return (ShapedArray((*keys.shape, *shape), keys.dtype),)


_by_implementation(
    random_split_p, lambda k, x, *, shape: k.dtype.implementation.split(x, shape))

random_fold_in_p = Primitive("random_fold_in")


@typing_rule.define(random_fold_in_p)
def _(keys: ShapedArray, data: ShapedArray) -> tuple[ShapedArray]:
  _implementation(keys, "fold_in")
  if data.shape != keys.shape:
    raise TypeError(f"fold_in needs one number a key, got {data} for {keys}")
  return (keys,)


_by_implementation(
    random_fold_in_p, lambda k, x, data: k.dtype.implementation.fold_in(x, data))

random_bits_p = Primitive("random_bits")


@typing_rule.define(random_bits_p)
def _(keys: ShapedArray, *, bit_width: int, shape: Shape) -> tuple[ShapedArray]:
  _implementation(keys, "bits")
  return (ShapedArray((*keys.shape, *shape), np.dtype(f"uint{bit_width}")),)


_by_implementation(
    random_bits_p,
    lambda k, x, *, bit_width, shape: k.dtype.implementation.bits(x, bit_width, shape))
