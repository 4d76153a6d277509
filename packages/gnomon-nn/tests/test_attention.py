"""Attention against loops over heads and queries."""

from __future__ import annotations

import functools

import ml_dtypes
import numpy as np
import pytest

import gnomon
import gnomon.numpy as gnp
from gnomon import nn
from gnomon.testing import assert_close, check_grads, check_vmap

RNG = np.random.default_rng(0)
B, T, S, N, H = 2, 5, 6, 4, 3


def normal(*shape):
  return RNG.normal(size=shape).astype(np.float32)


def reference(q, k, v, bias=0.0, mask=True, scale=None, is_causal=False, q_lengths=None,
              k_lengths=None, window=None):
  """A loop over instances, heads and queries; also the logarithms of the sums."""
  q, k, v = (np.asarray(x, float) for x in (q, k, v))
  scale = q.shape[-1] ** -0.5 if scale is None else scale
  shape = q.shape[0], q.shape[2], q.shape[1], k.shape[1]
  bias, mask = np.broadcast_to(bias, shape), np.broadcast_to(mask, shape)
  out, total = np.zeros(q.shape), np.zeros(q.shape[:3])
  for b, n, t in np.ndindex(*shape[:3]):
    head = n // (q.shape[2] // k.shape[2])
    logits = np.array([q[b, t, n] @ k[b, s, head] for s in range(shape[3])]) * scale
    logits += bias[b, n, t]
    for s in range(shape[3]):
      seen = mask[b, n, t, s] and (not is_causal or s <= t)
      if window is not None:
        seen = seen and t - window[0] <= s <= t + window[1]
      if q_lengths is not None:
        seen = seen and t < q_lengths[b]
      if k_lengths is not None:
        seen = seen and s < k_lengths[b]
      if not seen:
        logits[s] = -0.7 * float(np.finfo(np.float32).max)
    shares = np.exp(logits - logits.max())
    total[b, t, n] = logits.max() + np.log(shares.sum())
    if q_lengths is None or t < q_lengths[b]:
      out[b, t, n] = (shares / shares.sum()) @ v[b, :, head]
  return out.astype(np.float32), total.astype(np.float32)


LENGTHS = np.array([3, 5], np.int32), np.array([4, 0], np.int32)
MASKS = {"whole": RNG.uniform(size=(B, N, T, S)) < 0.6,
         "keys": RNG.uniform(size=(B, 1, 1, S)) < 0.6,
         "short": RNG.uniform(size=(T, S)) < 0.6}
WAYS = {
  "plain": {},
  "bias": {"bias": normal(1, N, T, S)},
  "bias of instances": {"bias": normal(B, 1, T, 1)},
  "masks": {"mask": MASKS["whole"]},
  "mask of keys": {"mask": MASKS["keys"]},
  "mask of rank 2": {"mask": MASKS["short"]},
  "causal": {"is_causal": True},
  "window": {"local_window_size": (1, 2)},
  "one window": {"local_window_size": 1, "is_causal": True},
  "queries' lengths": {"query_seq_lengths": LENGTHS[0]},
  "keys' lengths": {"key_value_seq_lengths": LENGTHS[1]},
  "all": {
    "bias": normal(1, N, T, S), "mask": MASKS["whole"], "scale": 0.3, "is_causal": True,
    "query_seq_lengths": LENGTHS[0], "key_value_seq_lengths": LENGTHS[1],
    "local_window_size": (2, 0)},
}


def as_reference(kwargs):
  named = {"query_seq_lengths": "q_lengths", "key_value_seq_lengths": "k_lengths",
           "local_window_size": "window"}
  out = {named.get(name, name): x for name, x in kwargs.items()}
  if isinstance(out.get("window"), int):
    out["window"] = (out["window"],) * 2
  return out


@pytest.mark.parametrize(
  ("way", "heads"), [*((way, 2) for way in WAYS), ("all", 1), ("all", 4), ("plain", 4)])
def test_values(way, heads):
  q, k, v = normal(B, T, N, H), normal(B, S, heads, H), normal(B, S, heads, H)
  f = gnomon.jit(lambda q, k, v: nn.dot_product_attention(
    q, k, v, return_residual=True, **WAYS[way]))
  want = reference(q, k, v, **as_reference(WAYS[way]))
  assert_close(f(q, k, v), want, atol=1e-5, rtol=1e-5)


def test_without_instances():
  q, k, v = normal(T, N, H), normal(S, 2, H), normal(S, 2, H)
  want = reference(q[None], k[None], v[None])
  got = nn.dot_product_attention(q, k, v, return_residual=True)
  assert_close(got, (want[0][0], want[1][0]), atol=1e-5)
  assert nn.dot_product_attention(q[:0], k, v).shape == (0, N, H)
  assert (nn.dot_product_attention(q, k[:0], v[:0]) == 0).all()
  check_vmap(nn.dot_product_attention, (np.stack([q, q * 2]), k, v), (0, None, None))


@pytest.mark.parametrize("way", ["all", "keys' lengths"])
def test_derivatives(way):
  kwargs = dict(WAYS[way])
  kwargs.pop("query_seq_lengths", None)
  bias = kwargs.pop("bias", np.zeros((1, 1, 1, S), np.float32))
  f = gnomon.jit(lambda q, k, v, bias: nn.dot_product_attention(q, k, v, bias, **kwargs))
  args = normal(B, T, N, H), normal(B, S, 2, H), normal(B, S, 2, H), bias
  check_grads(f, args, 1, eps=1e-2, atol=5e-3, rtol=5e-3)


def test_a_query_that_sees_nothing():
  q, k, v = normal(1, 1, 1, H), normal(1, 2, 1, H), np.arange(2 * H, dtype=np.float32)
  v = v.reshape(1, 2, 1, H)
  none = np.zeros((1, 2), bool)
  f = functools.partial(nn.dot_product_attention, mask=none)
  assert_close(f(q, k, v), v.mean(1, keepdims=True))
  slopes = gnomon.grad(lambda *args: f(*args).sum(), (0, 1, 2))(q, k, v)
  assert_close(slopes, (0 * q, 0 * k, 0 * v + 0.5))


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
def test_few_bits(dtype):
  q, k, v = (normal(B, T, N, H).astype(dtype) for _ in range(3))
  out, total = nn.dot_product_attention(q, k, v, return_residual=True)
  assert out.dtype == total.dtype == dtype
  want = reference(q, k, v)
  tolerance = 20 * float(ml_dtypes.finfo(dtype).eps)
  assert np.abs(np.asarray(out, np.float32) - want[0]).max() < tolerance
  assert np.abs(np.asarray(total, np.float32) - want[1]).max() < tolerance


def test_many_bits():
  with gnomon.enable_x64(True):
    q, k, v = (RNG.normal(size=(1, 3, 2, H)) for _ in range(3))
    got = nn.dot_product_attention(q, k, v, mask=np.tri(3, dtype=bool))
    assert got.dtype == np.float64
    shares = np.exp(np.einsum("btnh,bsnh->bnts", q, k) / np.sqrt(H)) * np.tri(3)
    want = np.einsum("bnts,bsnh->btnh", shares / shares.sum(-1, keepdims=True), v)
    np.testing.assert_allclose(got, want, 1e-12)


def test_residuals():
  """Derivatives keep the arguments, the weights, and nothing else of their size."""
  q, k, v = (gnp.asarray(normal(2, 7, N, H)) for _ in range(3))
  mask = RNG.uniform(size=(2, N, 7, 7)) < 0.5
  for kwargs in ({}, {"is_causal": True}, {"mask": mask}):
    f = functools.partial(nn.dot_product_attention, **kwargs)
    _, pull_back = gnomon.vjp(f, q, k, v)
    sizes = [np.size(r) for r in gnomon.tree_util.tree_leaves(pull_back)]
    assert sum(n == 2 * N * 7 * 7 for n in sizes) == 1
    assert sum(sizes) <= 3 * q.size + 2 * N * 7 * 7 + 2 * N * 7 + 8


Q, K = np.zeros((B, T, N, H), np.float32), np.zeros((B, S, 2, H), np.float32)


@pytest.mark.parametrize(("args", "kwargs", "message"), [
  ((Q[0], K, K), {}, "must have the shapes"),
  ((Q[0, 0], K[0, 0], K[0, 0]), {}, "must have the shapes"),
  ((Q, K, K[:, :4]), {}, "value shape should be"),
  ((Q, K[..., :2], K[..., :2]), {}, "query shape should be"),
  ((Q[:1], K, K), {}, "query shape should be"),
  ((Q[:, :, :3], K, K), {}, "multiple of key/value heads, but got 3 vs 2"),
  ((Q.astype(np.float16), K, K), {}, "query dtype should be"),
  ((Q, K, K.astype(np.float16)), {}, "value dtype should be"),
  ((Q, K, K, np.zeros((2, 3, 5, 6))), {}, "bias shape should fit"),
  ((Q, K, K, np.zeros((1, 2, 3, 5, 6))), {}, "bias shape should fit"),
  ((Q, K, K, None, np.zeros((T, S))), {}, "mask dtype should be bool"),
  ((Q, K, K), {"query_seq_lengths": np.zeros(3, np.int32)}, "query_seq_lengths shape"),
  ((Q, K, K), {"key_value_seq_lengths": np.zeros(2)}, "dtype should be int32"),
  ((Q, K, K), {"local_window_size": (1, 2, 3)}, "local_window_size must be"),
  ((Q, K, K), {"implementation": "flash"}, "Unsupported implementation option: flash"),
])
def test_errors(args, kwargs, message):
  with pytest.raises(ValueError, match=message):
    nn.dot_product_attention(*args, **kwargs)


def test_implementations():
  got = nn.dot_product_attention(Q, K, K, implementation="xla")
  assert_close(got, nn.dot_product_attention(Q, K, K))
  with pytest.raises(NotImplementedError, match="NVIDIA"):
    nn.dot_product_attention(Q, K, K, implementation="cudnn")
