"""Drawing from sets: permutations, choices, categories."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

import gnomon.numpy as gnp
from gnomon import lax
from gnomon.core.structural import broadcast_to, convert
from gnomon.core.trace import Tracer
from gnomon.core.types import typeof
from gnomon.random._api import check_key, placed, shape_of
from gnomon.random._normal import _gumbel, gumbel_mode
from gnomon.random._primitives import random_bits, split_keys
from gnomon.random._program import program
from gnomon.random._uniform import _randint, _uniform

Shape = tuple[int, ...]


def permutation(
    key: Any, x: Any, axis: int = 0, independent: bool = False, *,
    out_sharding: Any = None) -> Any:
  """A random order of integers, or of the parts of an array along an axis.

  Args:
    key: a key.
    x: an integer n, for a permutation of 0 … n - 1; or an array.
    axis: the axis to permute.
    independent: whether each vector along the axis gets an order of its own.
    out_sharding: how the result is laid out over devices; None: without a say.

  >>> from gnomon import random
  >>> sorted(random.permutation(random.key(0), 3).tolist())
  [0, 1, 2]

  Raises:
    TypeError: `x` is neither an integer nor an array.
    ValueError: `axis` is out of range.
  """
  if out_sharding is not None:
    return placed(permutation(key, x, axis, independent), out_sharding)
  typed, _ = check_key("permutation", key)
  aval = typeof(x)
  if not aval.shape:
    if aval.dtype.kind not in "iu":
      raise TypeError(
          f"permutation: x must be an integer or at least 1-dimensional, got {x!r}")
    if axis not in (0, -1):
      raise ValueError(
          f"permutation: axis {axis} is out of bounds for the numbers below x")
    if isinstance(x, Tracer):
      return _shuffle(typed, gnp.arange(x), axis=0)  # says that x must be known
    return _shuffled_range(typed, n=int(x))
  if not -aval.ndim <= axis < aval.ndim:
    raise ValueError(
        f"permutation: axis {axis} is out of bounds for an array of shape {aval.shape}")
  axis %= aval.ndim
  x = gnp.asarray(x)
  if independent or aval.ndim == 1:
    return _shuffle(typed, x, axis=axis)
  order = _shuffled_range(typed, n=aval.shape[axis])
  return gnp.take(x, order, axis)


@program("n", inline=True)
def _shuffled_range(key: Any, *, n: int) -> Any:
  return _shuffle(key, gnp.arange(n), axis=0)


@program("axis")
def _shuffle(key: Any, x: Any, *, axis: int) -> Any:
  """Sorts by random keys, so often that ties among them are improbable to matter."""
  aval = typeof(x)
  rounds = math.ceil(3 * math.log(max(1, aval.size)) / math.log(2 ** 32 - 1))
  for _ in range(rounds):
    keys = split_keys(key, (2,))
    key, sub = (lax.index_in_dim(keys, i, 0, keepdims=False) for i in (0, 1))
    _, x = lax.sort_key_val(random_bits(sub, 32, aval.shape), x, axis)
  return x


def choice(
    key: Any, a: Any, shape: Any = (), replace: bool = True, p: Any = None, axis: int = 0,
    mode: str | None = None) -> Any:
  """Random parts of an array along an axis, or random integers.

  Args:
    key: a key.
    a: an array, or an integer n that stands for 0 … n - 1.
    shape: how many parts, as a shape.
    replace: whether a part may be drawn more than once.
    p: probabilities of the parts, which sum to 1; None: all alike.
    axis: the axis of `a` to draw from.
    mode: how to draw without replacement by probabilities: see `gumbel`.

  >>> from gnomon import random
  >>> random.choice(random.key(0), 5, (3,)).shape
  (3,)

  Raises:
    TypeError: `a` is neither an integer nor an array.
    ValueError: there is nothing to draw from, fewer parts than to be drawn without
      replacement, or `p` has another shape.
  """
  typed, _ = check_key("choice", key)
  if not isinstance(shape, Sequence):
    raise TypeError(f"choice: shape must be a sequence of integers, got {shape!r}")
  shape = shape_of("choice", shape)
  aval = typeof(a)
  if not aval.shape:
    if aval.dtype.kind not in "iu":
      raise TypeError(
          f"choice: a must be an integer or at least 1-dimensional, got {a!r}")
    n = int(a)
  else:
    if not -aval.ndim <= axis < aval.ndim:
      raise ValueError(
          f"choice: axis {axis} is out of bounds for an array of shape {aval.shape}")
    axis %= aval.ndim
    n = aval.shape[axis]
    a = gnp.asarray(a)
  draws = math.prod(shape)
  if n < 0 or (n == 0 and draws):
    raise ValueError("choice: a must be greater than 0 unless no samples are taken")
  if not replace and draws > n:
    raise ValueError(
        f"choice: cannot take {draws} samples out of {n} without replacement")
  if p is None:
    if replace:
      bound = np.asarray(n, gnp.arange(0).dtype)[()]
      index = _randint(
          typed, np.zeros((), bound.dtype)[()], bound, False, shape=shape,
          dtype=bound.dtype)
      return gnp.take(a, index, axis) if aval.shape else index
    if not aval.shape:
      return gnp.reshape(permutation(typed, n)[:draws], shape)
    parts = lax.slice_in_dim(permutation(typed, a, axis), 0, draws, axis=axis)
    return gnp.reshape(parts, (*aval.shape[:axis], *shape, *aval.shape[axis + 1:]))
  p = gnp.asarray(p)
  if p.shape != (n,):
    raise ValueError(
        f"choice: p must be None or a 1-dimensional array of {n} probabilities, one a "
        f"part; got shape {p.shape}")
  index = _weighted(typed, p, shape=shape, replace=replace, mode=gumbel_mode(mode))
  return gnp.take(a, index, axis) if aval.shape else index


@program("shape", "replace", "mode", rows=True, inline=True)
def _weighted(key: Any, p: Any, *, shape: Shape, replace: bool, mode: str) -> Any:
  """Indices, drawn by their probabilities."""
  p = p.astype(_float(p.dtype))
  if replace:
    total = gnp.cumsum(p)
    u = _uniform(key, 0.0, 1.0, shape=shape, dtype=total.dtype)
    index = gnp.searchsorted(total, total[-1] * (1 - u))
  else:
    index = gnp.reshape(_by_gumbel(key, gnp.log(p), math.prod(shape), mode), shape)
  return convert(index, gnp.arange(0).dtype)


def _float(dtype: Any) -> Any:
  floating = dtype.kind == "f" or dtype.name == "bfloat16"
  return dtype if floating else gnp.result_type(float)


def _by_gumbel(key: Any, logits: Any, k: int, mode: str) -> Any:
  """The indices of the k largest logits under Gumbel noise: draws without replacement."""
  noise = _gumbel(key, shape=logits.shape, dtype=logits.dtype, mode=mode)
  return lax.top_k(noise + logits, k)[1]


@program("shape", "axis", "mode", rows=True, inline=True)
def _largest(key: Any, logits: Any, *, shape: Shape, axis: int, mode: str) -> Any:
  """The index of the largest logit under Gumbel noise."""
  full = list(shape)
  full.insert(len(full) + axis + 1, logits.shape[axis])
  noise = _gumbel(key, shape=tuple(full), dtype=_float(logits.dtype), mode=mode)
  return gnp.argmax(noise + broadcast_to(logits, tuple(full)), axis=axis)


def categorical(
    key: Any, logits: Any, axis: int = -1, shape: Any = None, replace: bool = True,
    mode: str | None = None, *, out_sharding: Any = None) -> Any:
  """Categories drawn with probabilities proportional to exp(logits).

  Args:
    key: a key.
    logits: unnormalised log-probabilities along `axis`.
    axis: the axis of the categories.
    shape: the result's shape: it ends with (broadcasts of) the other dimensions of
      `logits`.
    replace: whether a category may be drawn more than once along the leading dimensions
      of `shape`.
    mode: how to draw: see `gumbel`.
    out_sharding: how the result is laid out over devices; None: without a say.

  >>> import numpy as np
  >>> from gnomon import random
  >>> int(random.categorical(random.key(0), np.array([-np.inf, 0.0])))
  1

  Raises:
    ValueError: `axis` is out of range, or `shape` does not fit the logits.
  """
  if out_sharding is not None:
    return placed(categorical(key, logits, axis, shape, replace, mode), out_sharding)
  typed, _ = check_key("categorical", key)
  logits = gnp.asarray(logits)
  if not -logits.ndim <= axis < logits.ndim:
    raise ValueError(
        f"categorical: axis {axis} is out of bounds for logits of shape {logits.shape}")
  axis = axis % logits.ndim - logits.ndim  # counted from the end
  batch = tuple(n for i, n in enumerate(logits.shape) if i != logits.ndim + axis)
  shape = batch if shape is None else shape_of("categorical", shape)
  trail = shape[len(shape) - len(batch):]
  if len(shape) < len(batch) or any(n not in (1, m) for n, m in zip(batch, trail)):
    raise ValueError(
        f"categorical: shape {shape} must end with a shape to which {batch} broadcasts")
  lead = shape[:len(shape) - len(batch)]
  mode = gumbel_mode(mode)
  if replace:
    return _largest(typed, logits, shape=shape, axis=axis, mode=mode)
  draws = math.prod(lead)
  if logits.shape[axis] < draws:
    raise ValueError(
        f"categorical: Number of samples without replacement ({draws}) exceeds the "
        f"number of categories ({logits.shape[axis]})")
  noise = _gumbel(typed, shape=logits.shape, dtype=_float(logits.dtype), mode=mode)
  _, index = lax.top_k(gnp.moveaxis(noise + logits, axis, -1), draws)
  index = gnp.moveaxis(index, -1, 0)
  return gnp.broadcast_to(gnp.reshape(index, (*lead, *batch)), shape)
