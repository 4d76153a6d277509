"""Gamma distribution: a primitive with the derivative of its samples."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

import gnomon.numpy as gnp
from gnomon import lax, threefry_partitionable
from gnomon.core.derive import expand, move
from gnomon.core.primitive import Primitive
from gnomon.core.rule import batch_rule, hide_params, jvp_rule, lower, typing_rule
from gnomon.core.stage import trace_to_closed
from gnomon.core.structural import broadcast_to, select_n
from gnomon.core.types import ShapedArray, physical_aval, typeof
from gnomon.core.zero import Zero
from gnomon.random._api import check_key, float_dtype, float_info, no_sharding
from gnomon.random._keys import BY_POSITION, KeyType
from gnomon.random._normal import _normal_real
from gnomon.random._parameters import filled, parts_of, result_shape, where
from gnomon.random._primitives import layout, random_wrap_p, split_keys
from gnomon.random._program import program
from gnomon.random._uniform import unit_interval
from gnomon.transform.vmap import Axis

Shape = tuple[int, ...]
Values = Sequence[Any]


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
    out_sharding: None: other values are not supported yet.

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
    out_sharding: None: other values are not supported yet.

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
  no_sharding(name, out_sharding)
  typed, _ = check_key(name, key)
  dtype = float_dtype(name, dtype)
  shape = result_shape(name, shape, a=a)
  return _gamma(typed, a, shape=shape, dtype=dtype, log_space=log_space)


@program("shape", "dtype", "log_space")
def _gamma(key: Any, a: Any, *, shape: Shape, dtype: Any, log_space: bool) -> Any:
  return random_gamma_p.bind(
      key, filled(a, shape, dtype), log_space=log_space, **layout())[0]


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
      return [draw(random_wrap_p.bind(words, impl=impl)[0], a, log_space)]

    with threefry_partitionable(partitionable):
      program = _programs[known] = trace_to_closed(function, [physical_aval(keys), a])
  return ctx.inline(program, values)  # type: ignore[no-any-return]


hide_params(random_gamma_p, "partitionable")


@batch_rule.define(random_gamma_p)
def _(axis: Axis, args: Values, dims: Values, **params: Any) -> Any:
  args = [
      expand(x, axis.size) if d is None else move(x, d, 0) for x, d in zip(args, dims)]
  return random_gamma_p.bind(*args, **params), (0,)


@jvp_rule.define(random_gamma_p)
def _(primals: Values, tangents: Values, *, log_space: bool, **params: Any) -> Any:
  """The implicit derivative: samples move so that their quantiles stay."""
  keys, a = primals
  out = random_gamma_p.bind(keys, a, log_space=log_space, **params)[0]
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
  keys = split_keys(key, typeof(a).shape[typeof(key).ndim:])
  return _sample_of(keys, a, log_space)


def _sample_of(keys: Any, a: Any, log_space: bool) -> Any:
  """Marsaglia and Tsang, "A simple method for generating gamma variables" (2000).

  Below 1 it samples at a + 1 and multiplies by the power 1/a of a uniform number.
  """
  plain = a >= 1.0
  d = select_n(plain, a + 1.0, a) - 1 / 3
  keys, boost_keys = parts_of(keys, 2)
  v = _cubes(keys, d)
  u = _units(boost_keys, a)
  if log_space:
    shrink = lax.log1p(-u)
    shrink = where(plain | (shrink == 0.0), 0.0, shrink * lax.div(1.0, a))
    out = lax.log(d) + lax.log(v) + shrink
  else:
    power = lax.pow(1.0 - u, lax.div(1.0, a))
    out = d * v * where(plain, 1.0, power)
  return where(a < 0.0, np.nan, out)


def _sample_in_turn(key: Any, a: Any, log_space: bool) -> Any:
  """Like `_sample`, where bits mapped over keys are not those of each key."""
  lead, shape = typeof(key).shape, typeof(a).shape
  keys = lax.reshape(split_keys(key, shape[len(lead):]), (math.prod(shape),))

  def one(x: tuple[Any, Any]) -> Any:
    return _sample_of(x[0], x[1], log_space)

  return lax.reshape(lax.map(one, (keys, lax.reshape(a, (math.prod(shape),)))), shape)


def _units(keys: Any, like: Any) -> Any:
  """One uniform number in [0, 1) for each key."""
  return unit_interval(keys, (), typeof(like).dtype)


def _cubes(keys: Any, d: Any) -> Any:
  """What a gamma variable of parameter d + 1/3 is, divided by d: the cube (1 + c x)^3."""
  c = lax.div(1 / 3, lax.sqrt(d))

  def rejected(state: Any) -> Any:
    _, x2, v, u = state
    squeezed = u >= 1.0 - 0.0331 * (x2 * x2)
    return squeezed & (lax.log(u) >= x2 * 0.5 + d * (1.0 - v + lax.log(v)))

  def step(state: Any) -> Any:
    keys, *values = state
    again = rejected(state)
    next_keys, x_keys, u_keys = parts_of(keys, 3)
    x, v = _positive(x_keys, c)
    new = x * x, v * v * v, _units(u_keys, d)
    return (
        select_n(again, keys, next_keys),
        *(select_n(again, old, y) for old, y in zip(values, new)))

  shape, dtype = typeof(d).shape, typeof(d).dtype
  zero, one, two = (broadcast_to(np.asarray(n, dtype)[()], shape) for n in (0, 1, 2))
  return lax.while_loop(
      lambda s: gnp.any(rejected(s)), step, (keys, zero, one, two))[2]


def _positive(keys: Any, c: Any) -> tuple[Any, Any]:
  """Normal numbers x for which 1 + c x is positive, and that."""
  def pending(v: Any) -> Any:
    return v <= 0.0

  def step(state: Any) -> Any:
    again = pending(state[2])
    next_keys, x_keys = parts_of(state[0], 2)
    drawn = _normal_real(x_keys, shape=(), dtype=typeof(c).dtype)
    new = next_keys, drawn, 1.0 + drawn * c
    return tuple(select_n(again, old, y) for old, y in zip(state, new))

  dtype = typeof(c).dtype
  start = (broadcast_to(np.asarray(n, dtype)[()], typeof(c).shape) for n in (0, -1))
  return lax.while_loop(  # type: ignore[no-any-return]
      lambda s: gnp.any(pending(s[2])), step, (keys, *start))[1:]
