"""Scaled dot-product attention.

Shapes are written with one letter an axis: B instances, T queries, S keys and values, N
heads of queries, K heads of keys and values, G = N / K heads of queries a head of keys,
H numbers a head.
"""

from __future__ import annotations

import math
from operator import index
from typing import Any

import numpy as np

import gnomon.numpy as gnp
from gnomon import custom_jvp, lax, tree
from gnomon.core import dtypes
from gnomon.core.types import typeof
from gnomon.nn._elementwise import wide
from gnomon.nn._normalization import logsumexp, weights
from gnomon.nn._program import program

Window = int | tuple[int, int] | None


def dot_product_attention(
    query: Any, key: Any, value: Any, bias: Any = None, mask: Any = None, *,
    scale: Any = None, is_causal: bool = False, query_seq_lengths: Any = None,
    key_value_seq_lengths: Any = None, local_window_size: Window = None,
    implementation: str | None = None, return_residual: bool = False) -> Any:
  r"""Attention: means of values, weighted by how well their keys match a query.

  .. math:: \mathrm{softmax}\left(\frac{Q K^T}{\sqrt{H}} + \mathrm{bias}\right) V

  for each head (Vaswani et al., *Attention is all you need*, 2017). Where keys and values
  have fewer heads than queries, a head of theirs serves several of queries (Ainslie et
  al., *GQA*, 2023). The weights are computed in float32 at least. Derivatives keep the
  weights, once, and not what led to them.

  Args:
    query: shape (B, T, N, H) or (T, N, H).
    key: shape (B, S, K, H) or (S, K, H), with N a multiple of K.
    value: the same shape as `key`, and the same dtype as both.
    bias: numbers to add to the scaled products; fits the shape (B, N, T, S), aligned at
      the end.
    mask: booleans that fit the same shape: which keys a query sees. A query that sees
      none gets the mean of all values.
    scale: the factor of the products; None: :math:`1 / \sqrt{H}`.
    is_causal: whether query i sees keys up to i only.
    query_seq_lengths: int32 numbers of shape (B,): from there on queries give 0.
    key_value_seq_lengths: int32 numbers of shape (B,): keys from there on are not seen.
    local_window_size: how far query i sees to the left and to the right of key i; one
      number for both.
    implementation: `"xla"`, or None, which is the same; `"cudnn"` is not available.
    return_residual: whether to give the logarithm of the sum of exponentials as well, of
      shape (B, T, N) or (T, N). It is not differentiated.

  >>> import gnomon.numpy as gnp
  >>> from gnomon import nn
  >>> q = k = gnp.zeros((3, 1, 2))
  >>> v = gnp.arange(3.0).reshape(3, 1, 1) * gnp.ones(2)
  >>> nn.dot_product_attention(q, k, v, is_causal=True)[:, 0, 0].tolist()
  [0.0, 0.5, 1.0]

  Returns:
    An array of the shape and dtype of `query`; with `return_residual` a pair.

  Raises:
    ValueError: a shape or dtype does not fit, or the implementation is not known.
    NotImplementedError: the implementation needs hardware or libraries that this package
      does not drive.
  """
  _check_implementation(implementation)
  arrays = [gnp.asarray(x) for x in (query, key, value)]
  batched = typeof(arrays[0]).ndim == 4
  q, k, v = arrays if batched else [gnp.expand_dims(x, 0) for x in arrays]
  _check_shapes(typeof(q), typeof(k), typeof(v), *map(typeof, arrays))
  b, *_, size = typeof(q).shape
  if bias is not None:
    bias = _fitted("bias", bias, q, k)
  if mask is not None:
    mask = _fitted("mask", mask, q, k)
  out = _attention(
      q, k, v, bias, mask, _lengths("query_seq_lengths", query_seq_lengths, b),
      _lengths("key_value_seq_lengths", key_value_seq_lengths, b),
      1 / math.sqrt(max(size, 1)) if scale is None else scale, is_causal=bool(is_causal),
      window=_window(local_window_size), return_residual=bool(return_residual))
  return out if batched else tree.map(lambda x: x[0], out)


@program("is_causal", "window", "return_residual", inline=True)
def _attention(
    q: Any, k: Any, v: Any, bias: Any, mask: Any, q_lengths: Any, k_lengths: Any,
    scale: Any, *, is_causal: bool, window: tuple[int, int] | None,
    return_residual: bool) -> Any:
  """Attention of checked arguments; `bias` and `mask` fit (B, K, G, T, S)."""
  b, t, heads, size = typeof(q).shape
  groups = typeof(k).shape[2]
  # One batch axis a head of keys; the heads of queries that share it stand beside T.
  grouped = gnp.reshape(q, (b, t, groups, heads // groups, size))
  logits = _scores(gnp.transpose(grouped, (0, 2, 3, 1, 4)), k, scale)
  if bias is not None:
    logits = logits + bias.astype(typeof(logits).dtype)
  seen = _seen(mask, is_causal, window, q_lengths, k_lengths, t, typeof(k).shape[1])
  shares = (
      weights(logits, -1, None) if seen is None else _masked_weights(logits, seen))
  out = lax.dot_general(
      shares.astype(typeof(v).dtype), v, (((4,), (1,)), ((0, 1), (0, 2))))
  if q_lengths is not None:
    valid = _before(q_lengths, t)[:, None, None, :, None]
    out = gnp.where(valid, out, 0)
  out = gnp.reshape(gnp.transpose(out, (0, 3, 1, 2, 4)), (b, t, heads, size))
  if not return_residual:
    return out
  if seen is not None:
    logits = gnp.where(seen, logits, _never(logits))
  total = logsumexp(lax.stop_gradient(logits), axis=-1).astype(typeof(q).dtype)
  return out, gnp.reshape(gnp.transpose(total, (0, 3, 1, 2)), (b, t, heads))


def _scores(q: Any, k: Any, scale: Any) -> Any:
  """Scaled products of queries, (B, K, G, T, H), with keys, (B, S, K, H)."""
  dtype = typeof(q).dtype
  work = wide(dtype)
  logits = lax.dot_general(
      q, k, (((4,), (3,)), ((0, 1), (0, 2))), preferred_element_type=(
          work if dtypes.issubdtype(dtype, np.inexact) else None)).astype(work)
  return logits * gnp.asarray(scale, work)


# ---- weights where some keys are not seen


def _never(logits: Any) -> Any:
  """What stands for a key that is not seen: finite, so that nothing becomes nan."""
  dtype = typeof(logits).dtype
  real = np.zeros(0, dtype).real.dtype
  return np.asarray(-0.7 * np.finfo(np.float32).max, real)[()].astype(dtype)


@custom_jvp
def _masked_weights(logits: Any, seen: Any) -> Any:
  """Softmax along the last axis of what is seen; equal shares where nothing is."""
  return weights(gnp.where(seen, logits, _never(logits)), -1, None)


@_masked_weights.defjvp
def _(primals: Any, tangents: Any) -> Any:
  (logits, seen), (t, _) = primals, tangents
  out = _masked_weights(logits, seen)
  # What is not seen has share 0 already, but in rows where nothing is seen: that they
  # are constant takes one number a row to keep, and not the whole mask.
  some = gnp.any(seen, axis=-1, keepdims=True).astype(typeof(out).dtype)
  return out, out * (some * (t - gnp.sum(out * t, axis=-1, keepdims=True)))


def _before(lengths: Any, n: int) -> Any:
  """Positions before the lengths: booleans of shape (B, n)."""
  return lax.iota(np.int32, n)[None] < lengths[:, None]


def _seen(
    mask: Any, is_causal: bool, window: tuple[int, int] | None, q_lengths: Any,
    k_lengths: Any, t: int, s: int) -> Any:
  """Which keys a query sees: booleans that fit (B, K, G, T, S); None for all."""
  parts = [] if mask is None else [mask]
  shape = 1, 1, 1, t, s
  row, column = (lax.broadcasted_iota(np.int32, shape, d) for d in (3, 4))
  if is_causal:
    parts.append(row >= column)
  if window is not None:
    parts.append((column >= row - window[0]) & (column <= row + window[1]))
  if q_lengths is not None:
    parts.append(_before(q_lengths, t)[:, None, None, :, None])
  if k_lengths is not None:
    parts.append(_before(k_lengths, s)[:, None, None, None, :])
  seen = None
  for part in parts:
    seen = part if seen is None else seen & part
  return seen


def _window(window: Any) -> tuple[int, int] | None:
  if window is None:
    return None
  if hasattr(window, "__index__"):
    return index(window), index(window)
  try:
    left, right = map(index, window)
  except (TypeError, ValueError):
    raise ValueError(
        "local_window_size must be an integer, or two, to the left and to the right, got "
        f"{window!r}") from None
  return left, right


# ---- arguments


def _check_implementation(implementation: str | None) -> None:
  if implementation == "cudnn":
    raise NotImplementedError(
        "dot_product_attention: implementation='cudnn' needs an NVIDIA GPU and cuDNN, "
        "whose attention this package does not call; use implementation='xla' or None")
  if implementation not in (None, "xla"):
    raise ValueError(
        f"Unsupported implementation option: {implementation}; known are 'xla', 'cudnn'")


def _check_shapes(q: Any, k: Any, v: Any, *given: Any) -> None:
  """Raises `ValueError` for types that do not fit; `given` are those passed."""
  if any(x.ndim != given[0].ndim for x in given) or given[0].ndim not in (3, 4):
    listed = ", ".join(str(x) for x in given)
    raise ValueError(
        "dot_product_attention: query, key and value must have the shapes (B, T, N, H), "
        f"(B, S, K, H), (B, S, K, H), or all three without B; got {listed}")
  for name, x in (("query", q), ("value", v)):
    if x.dtype != k.dtype:
      raise ValueError(
          f"{name} dtype should be that of key, {k.dtype}, but got {x.dtype}")
  if v.shape != k.shape:
    raise ValueError(
        f"value shape should be that of key, {k.shape}, but got {v.shape}")
  if q.shape[0] != k.shape[0] or q.shape[3] != k.shape[3]:
    raise ValueError(
        f"query shape should be [{k.shape[0]}, T, N, {k.shape[3]}], to fit the key of "
        f"shape {k.shape}, but got {q.shape}")
  if not k.shape[2] or q.shape[2] % k.shape[2]:
    raise ValueError(
        "The number of query heads must be a multiple of key/value heads, but got "
        f"{q.shape[2]} vs {k.shape[2]}")


def _lengths(name: str, lengths: Any, b: int) -> Any:
  """Lengths of sequences, checked."""
  if lengths is None:
    return None
  lengths = gnp.asarray(lengths)
  aval = typeof(lengths)
  if aval.dtype != np.int32:
    raise ValueError(f"{name} dtype should be int32, but got {aval.dtype}")
  if aval.shape != (b,):
    raise ValueError(
        f"{name} shape should be [{b}], a length an instance, but got {aval.shape}")
  return lengths


def _fitted(name: str, x: Any, q: Any, k: Any) -> Any:
  """A bias or mask that fits (B, N, T, S) in a shape that fits (B, K, G, T, S)."""
  x = gnp.asarray(x)
  own, dtype = typeof(x).shape, typeof(x).dtype
  if name == "mask" and dtype != np.bool_:
    raise ValueError(
        f"mask dtype should be bool, but got {dtype}; numbers that are added to the "
        "products are the argument bias")
  (b, t, heads, _), (_, s, groups, _) = typeof(q).shape, typeof(k).shape
  shape = b, heads, t, s
  if len(own) > 4 or any(
      m not in (1, n) for m, n in zip(reversed(own), reversed(shape))):
    raise ValueError(
        f"{name} shape should fit (B, N, T, S) = {shape}, each size equal or 1, but got "
        f"{own}")
  b, heads, t, s = (1,) * (4 - len(own)) + own
  split = (1, 1) if heads == 1 else (groups, heads // groups)
  return gnp.reshape(x, (b, *split, t, s))
