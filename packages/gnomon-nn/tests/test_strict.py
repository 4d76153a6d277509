"""Everything also works where dtypes and ranks must agree without promotion."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import gnomon
import gnomon.numpy as gnp
from gnomon import nn, random

X = np.linspace(-2, 2, 12, dtype=np.float32).reshape(3, 4)
MASK = np.array([True, True, False, True])
Q = np.ones((2, 3, 4, 5), np.float32)
SEEN = np.ones((1, 1, 3, 3), bool)
LENGTHS = np.array([1, 2], np.int32)
UNARY = (
  "relu", "relu6", "leaky_relu", "elu", "celu", "selu", "hard_tanh", "hard_sigmoid",
  "hard_silu", "sparse_plus", "sparse_sigmoid", "identity", "sigmoid", "silu", "softplus",
  "log_sigmoid", "soft_sign", "gelu", "mish", "squareplus", "tanh", "glu", "log1mexp",
  "softmax", "log_softmax", "logsumexp", "logmeanexp", "standardize")


def attention(q):
  return nn.dot_product_attention(
    q, q, q, mask=SEEN, is_causal=True, local_window_size=1, return_residual=True,
    query_seq_lengths=LENGTHS, key_value_seq_lengths=LENGTHS)


CALLS = {
  **{name: getattr(nn, name) for name in UNARY},
  "gelu, exact": lambda x: nn.gelu(x, approximate=False),
  "softmax, masked": lambda x: nn.softmax(x, where=MASK[None]),
  "log_softmax, masked": lambda x: nn.log_softmax(x, where=MASK[None]),
  "logsumexp, weighted": lambda x: nn.logsumexp(x, 1, b=x, where=MASK[None]),
  "logmeanexp, masked": lambda x: nn.logmeanexp(x, 1, MASK[None]),
  "standardize, masked": lambda x: nn.standardize(x, where=MASK[None]),
  "standardize, given": lambda x: nn.standardize(x, mean=x[:1], algorithm="stable"),
  "attention": lambda x: attention(x.sum() * Q.astype(x.dtype)),
}


@pytest.mark.parametrize("name", CALLS)
def test_functions(name):
  f = CALLS[name]
  with gnomon.numpy_dtype_promotion("strict"), gnomon.numpy_rank_promotion("raise"):
    for dtype in (np.float32, ml_dtypes.bfloat16):
      x = gnp.asarray(X, dtype)
      outs = gnomon.tree_util.tree_leaves(gnomon.eval_shape(f, x))
      assert all(out.dtype == dtype for out in outs)
      total = lambda x: sum(out.sum() for out in gnomon.tree_util.tree_leaves(f(x)))  # noqa: E731
      slope = gnomon.eval_shape(gnomon.grad(total), x)
      assert (slope.shape, slope.dtype) == (x.shape, dtype)


def test_initializers():
  init = nn.initializers
  with gnomon.numpy_dtype_promotion("strict"), gnomon.numpy_rank_promotion("raise"):
    for dtype in (np.float32, ml_dtypes.bfloat16, np.complex64):
      for way in ("truncated_normal", "normal", "uniform"):
        f = init.variance_scaling(1.0, "fan_in", way)
        assert f(random.key(0), (2, 3), dtype).dtype == dtype
      assert init.delta_orthogonal()(random.key(0), (3, 2, 2), dtype).dtype == dtype


def test_quantized():
  modes = "mxfp8", "nvfp4", "mxfp8"
  config = [nn.get_scaled_dot_general_config(mode) for mode in modes]
  f = lambda a, b: nn.scaled_dot_general(  # noqa: E731
    a, b, (((1,), (1,)), ((), ())), configs=config).sum()
  with gnomon.numpy_dtype_promotion("strict"), gnomon.numpy_rank_promotion("raise"):
    slopes = gnomon.eval_shape(gnomon.grad(f, (0, 1)), X.astype(ml_dtypes.bfloat16), X)
  assert [s.dtype for s in slopes] == [ml_dtypes.bfloat16, np.float32]
