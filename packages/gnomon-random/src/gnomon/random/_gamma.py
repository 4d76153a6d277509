"""Gamma distribution: a primitive with the derivative of its samples."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

import gnomon.numpy as gnp
from gnomon import jit, lax, threefry_partitionable
from gnomon.core.derive import expand, move
from gnomon.core.primitive import Primitive
from gnomon.core.rule import batch_rule, hide_params, jvp_rule, lower, typing_rule
from gnomon.core.stage import trace_to_closed
from gnomon.core.structural import broadcast_to, select_n
from gnomon.core.types import ShapedArray, physical_aval, typeof
from gnomon.core.zero import Zero
from gnomon.random._api import check_key, float_dtype, float_info, placed
from gnomon.random._keys import BY_POSITION, KeyType
from gnomon.random._normal import normal_of
from gnomon.random._parameters import filled, flat, parts, result_shape, where
from gnomon.random._primitives import layout, random_wrap_p, split_keys
from gnomon.random._program import program
from gnomon.random._streams import Keys, Packed, streams
from gnomon.random._uniform import drawn_width, in_unit_interval
from gnomon.transform.vmap import Axis

Shape = tuple[int, ...]
Values = Sequence[Any]
Streams = Keys | Packed


def gamma(
    key: Any, a: Any, shape: Any = None, dtype: Any = None, *,
    out_sharding: Any = None) -> Any:
  """Numbers of the gamma distribution with density x^(a - 1) exp(-x) / Γ(a).

  They have a derivative with respect to `a`: that at a fixed quantile.

  Args:
    key: a key.
    a: concentration, not negative (nan elsewhere).
    shape: the result's shape; None: that of `a`.
    dtype: a floating-point dtype; None: float32 (float64 with 64-bit types on).
    out_sharding: how the result is laid out over devices; None: without a say.

  >>> from gnomon import random
  >>> random.gamma(random.key(0), 2.0, (3,)).shape
  (3,)

  Raises:
    ValueError: `dtype` is not floating-point, or `a` does not broadcast to `shape`.
  """
  return _checked("gamma", key, a, shape, dtype, out_sharding, log_space=False)


def loggamma(
    key: Any, a: Any, shape: Any = None, dtype: Any = None, *,
    out_sharding: Any = None) -> Any:
  """Logarithms of numbers of the gamma distribution, exact where those are tiny.

  Args:
    key: a key.
    a: concentration, not negative (nan elsewhere).
    shape: the result's shape; None: that of `a`.
    dtype: a floating-point dtype; None: float32 (float64 with 64-bit types on).
    out_sharding: how the result is laid out over devices; None: without a say.

  >>> from gnomon import random
  >>> bool(random.loggamma(random.key(0), 1e-6) > -1e9)
  True

  Raises:
    ValueError: `dtype` is not floating-point, or `a` does not broadcast to `shape`.
  """
  return _checked("loggamma", key, a, shape, dtype, out_sharding, log_space=True)


def _checked(
    name: str, key: Any, a: Any, shape: Any, dtype: Any, out_sharding: Any, *,
    log_space: bool) -> Any:
  typed, _ = check_key(name, key)
  dtype = float_dtype(name, dtype)
  shape = result_shape(name, shape, a=a)
  out = _gamma(typed, a, shape=shape, dtype=dtype, log_space=log_space)
  return placed(out, out_sharding)


@program("shape", "dtype", "log_space")
def _gamma(key: Any, a: Any, *, shape: Shape, dtype: Any, log_space: bool) -> Any:
  return random_gamma_p.apply(
      key, filled(a, shape, dtype), log_space=log_space, **layout())[0]


def several_loggammas(key: Any, *a: Any) -> list[Any]:
  """Logarithms of gamma variables, each of whose parameters has a key of its own.

  The parameters have one shape, and one program draws for all of them.
  """
  keys = split_keys(key, (len(a),))
  rows = lax.concatenate([lax.expand_dims(x, (0,)) for x in a], 0)
  return parts(random_gamma_p.apply(keys, rows, log_space=True, **layout())[0])


random_gamma_p = Primitive("random_gamma")


@typing_rule.define(random_gamma_p)
def _(
    keys: ShapedArray, a: ShapedArray, *, log_space: bool,
    **_: Any) -> tuple[ShapedArray]:
  if not isinstance(keys.dtype, KeyType):
    raise TypeError(f"random_gamma needs keys, got an array of type {keys}")
  if a.shape[:keys.ndim] != keys.shape:
    raise TypeError(
        f"random_gamma needs one key for each leading index of a, got {keys} for {a}")
  return (ShapedArray(a.shape, a.dtype),)


_programs: dict[Any, Any] = {}


@lower.define(random_gamma_p)
def _(ctx: Any, *values: Any, log_space: bool, partitionable: bool = True) -> Values:
  keys, a = ctx.avals_in
  known = keys, a, log_space, partitionable
  program = _programs.get(known)
  if program is None:
    impl = keys.dtype.implementation
    draw = _sample if impl.name in BY_POSITION else _sample_in_turn

    def function(words: Any, a: Any) -> list[Any]:
      return [draw(random_wrap_p.apply(words, impl=impl)[0], a, log_space)]

    with threefry_partitionable(partitionable):
      program = _programs[known] = trace_to_closed(function, [physical_aval(keys), a])
  return ctx.inline(program, values)  # type: ignore[no-any-return]


hide_params(random_gamma_p, "partitionable")


@batch_rule.define(random_gamma_p)
def _(axis: Axis, args: Values, dims: Values, **params: Any) -> Any:
  args = [
      expand(x, axis.size) if d is None else move(x, d, 0) for x, d in zip(args, dims)]
  return random_gamma_p.apply(*args, **params), (0,)


@jvp_rule.define(random_gamma_p)
def _(primals: Values, tangents: Values, *, log_space: bool, **params: Any) -> Any:
  """The implicit derivative: samples move so that their quantiles stay."""
  keys, a = primals
  out = random_gamma_p.apply(keys, a, log_space=log_space, **params)[0]
  t = tangents[1]
  if type(t) is Zero:
    return (out,), (Zero(typeof(out).to_tangent_aval()),)
  return (out,), (lax.mul(t, _slope(a, out, log_space)),)


def _slope(a: Any, out: Any, log_space: bool) -> Any:
  """The derivative of a sample, or of its logarithm.

  Where a sample x is tiny, its quantile is x^a / Γ(a + 1), and log x the better known.
  """
  info = float_info(typeof(a).dtype)
  x = lax.exp(out) if log_space else out
  log_x = out if log_space else lax.log(x)
  tiny = lax.lt(x, float(info.eps))
  relative = lax.div(lax.sub(lax.digamma(lax.add(a, 1.0)), log_x), a)
  safe = where(tiny, 1.0, x)
  slope = lax.random_gamma_grad(a, safe)
  if log_space:
    return select_n(tiny, lax.div(slope, safe), relative)
  # Samples that are 0 have underflowed, and so have their derivatives.
  small = where(lax.eq(x, 0.0), 0.0, lax.mul(x, relative))
  return select_n(tiny, slope, small)


def _sample(key: Any, a: Any, log_space: bool) -> Any:
  """Samples, each with a key of its own."""
  shape, lead = typeof(a).shape, typeof(key).shape
  # Compilers make vectors of long dimensions only: all become one.
  own = streams(key, (*lead, math.prod(shape[len(lead):]))).flat()
  return lax.reshape(_sample_of(own, flat(a), log_space), shape)


def _sample_in_turn(key: Any, a: Any, log_space: bool) -> Any:
  """Like `_sample`, where bits mapped over keys are not those of each key."""
  lead, shape = typeof(key).shape, typeof(a).shape
  keys = lax.reshape(split_keys(key, shape[len(lead):]), (math.prod(shape),))

  def one(x: tuple[Any, Any]) -> Any:
    return _sample_of(Keys(x[0]), x[1], log_space)

  return lax.reshape(lax.map(one, (keys, lax.reshape(a, (math.prod(shape),)))), shape)


def _sample_of(own: Streams, a: Any, log_space: bool) -> Any:
  """Marsaglia and Tsang, "A simple method for generating gamma variables" (2000).

  Below 1 it samples at a + 1 and multiplies by the power 1/a of a uniform number.
  """
  plain = a >= 1.0
  d = select_n(plain, a + 1.0, a) - 1 / 3
  v = _cubes(own.child(0, 2), d)
  u = _unit(own.child(1, 2), typeof(a).dtype)
  if log_space:
    shrink = lax.log1p(-u)
    shrink = where(plain | (shrink == 0.0), 0.0, shrink * lax.div(1.0, a))
    out = lax.log(d) + lax.log(v) + shrink
  else:
    power = lax.pow(1.0 - u, lax.div(1.0, a))
    out = d * v * where(plain, 1.0, power)
  return where(a < 0.0, np.nan, out)


def _unit(own: Streams, dtype: Any) -> Any:
  """One uniform number in [0, 1) for each stream."""
  return in_unit_interval(own.bits(drawn_width(dtype)), dtype)


# What stands for a sample that is still to be drawn: again, or for the first time.
_REJECTED, _NEGATIVE, _FIRST = -1.0, -2.0, -3.0


def _cubes(own: Streams, d: Any) -> Any:
  """What a gamma variable of parameter d + 1/3 is, divided by d: the cube (1 + c x)^3.

  A stream is split in three for each normal number x that is tried: for the next try,
  for x, and for the decision. The second draws until 1 + c x is positive.
  """
  c = lax.div(1 / 3, lax.sqrt(d))

  def step(state: tuple[Streams, Streams, Any]) -> tuple[Streams, Streams, Any]:
    own, of_x = _advance(*state)
    return own, of_x, _attempt(own, of_x, state[2], c, d)

  first = broadcast_to(np.asarray(_FIRST, typeof(d).dtype)[()], typeof(d).shape)
  start = own, own, first
  return lax.while_loop(lambda s: gnp.any(s[2] < 0.0), step, start)[2]


@jit
def _advance(own: Streams, of_x: Streams, v: Any) -> tuple[Streams, Streams]:
  """The streams for the next attempt, and those that its normal numbers come from."""
  own = own.child(0, 3).where(v == _REJECTED, own)
  return own, of_x.child_where(v == _NEGATIVE, 0, 2, own, 1, 3)


@jit
def _attempt(own: Streams, of_x: Streams, v: Any, c: Any, d: Any) -> Any:
  """Cubes where they are still to be drawn and were, or why they were not."""
  dtype = typeof(d).dtype
  x = normal_of(_unit(of_x.child(1, 2), dtype))
  root = 1.0 + c * x
  x2, cube = x * x, root * root * root
  u = _unit(own.child(2, 3), dtype)
  squeezed = u >= 1.0 - 0.0331 * (x2 * x2)
  rejected = squeezed & (lax.log(u) >= x2 * 0.5 + d * (1.0 - cube + lax.log(cube)))
  new = where(root <= 0.0, _NEGATIVE, where(rejected, _REJECTED, cube))
  return select_n(v < 0.0, v, new)
