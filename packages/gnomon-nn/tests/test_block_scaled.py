"""Products of quantized matrices against the numbers that quantized ones stand for."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import gnomon
import gnomon.numpy as gnp
from gnomon import nn
from gnomon.nn._block_scaled import quantize
from gnomon.testing import assert_close

RNG = np.random.default_rng(0)
MXFP8 = nn.get_scaled_dot_general_config("mxfp8")
NVFP4 = nn.get_scaled_dot_general_config("nvfp4", np.float32(0.5))


def test_scaled_matmul():
  a, b = (RNG.normal(size=(2, n, 12)).astype(np.float32) for n in (3, 5))
  sa, sb = (RNG.uniform(size=(2, n, 3)).astype(np.float32) for n in (3, 5))
  want = np.einsum("bmk,bnk->bmn", a * sa.repeat(4, -1), b * sb.repeat(4, -1))
  assert_close(nn.scaled_matmul(a, b, sa, sb), want, atol=1e-5, rtol=1e-5)
  assert nn.scaled_matmul(a, b, sa, sb, np.float16).dtype == np.float16


# Scales are the powers of two that make the greatest number at most 448.
@pytest.mark.parametrize(("greatest", "scale", "narrow"), [
  (1.0, 2.0**-8, 256.0), (1.75, 2.0**-8, 448.0), (1.8, 2.0**-7, 224.0), (448.0, 1, 448.0),
  (449.0, 2.0, 224.0), (3e38, 2.0**120, 224.0), (0.0, 2.0**-1, 0.0)])
def test_powers_of_two(greatest, scale, narrow):
  x = np.zeros((1, 1, 32), np.float32)
  x[0, 0, 7] = -greatest
  q, scales = quantize(gnp.asarray(x), MXFP8)
  assert (q.dtype, scales.dtype) == (ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e8m0fnu)
  assert (scales.shape, float(scales[0, 0, 0])) == ((1, 1, 1), scale)
  assert float(q[0, 0, 7]) == -narrow


@pytest.mark.parametrize("config", [MXFP8, NVFP4], ids=["mxfp8", "nvfp4"])
@pytest.mark.parametrize("size", [0.1, 1.0, 1e4])
def test_quantized_numbers_are_near(config, size):
  x = RNG.normal(size=(2, 3, 64)).astype(np.float32) * size
  q, scales = (np.asarray(y).astype(np.float32) for y in quantize(gnp.asarray(x), config))
  whole = 1.0 if config.global_scale is None else float(config.global_scale)
  back = q * scales.repeat(config.block_size, -1) * whole
  bound = np.abs(x).reshape(2, 3, -1, config.block_size).max(-1).repeat(
    config.block_size, -1)
  if size < 1e4 or config is MXFP8:  # the scales of nvfp4 end at 448
    assert (np.abs(back - x) <= bound * (0.063 if config is MXFP8 else 0.2)).all()


@pytest.mark.parametrize("name", ["mxfp8", "nvfp4"])
def test_scaled_dot_general(name):
  configs = [nn.get_scaled_dot_general_config(name)] * 3
  # Small integers are what both formats hold exactly.
  a, b = (RNG.integers(-2, 3, s).astype(np.float32) for s in ((2, 5, 40), (40, 7, 2)))
  a[..., 0], b[0] = 6, 6
  dims = (((2,), (0,)), ((0,), (2,)))
  f = gnomon.jit(lambda a, b: nn.scaled_dot_general(a, b, dims, configs=configs))
  want = np.einsum("bmk,knb->bmn", a, b)
  error = np.abs(f(a, b) - want).max() / np.abs(want).max()
  assert error < (1e-6 if name == "mxfp8" else 0.1)
  ct = np.ones((2, 5, 7), np.float32)
  slopes = gnomon.jit(lambda a, b, ct: gnomon.vjp(f, a, b)[1](ct))(a, b, ct)
  assert_close(slopes[0], np.broadcast_to(np.einsum("knb->bk", b)[:, None], a.shape),
               rtol=0.15, atol=1.5)
  assert_close(slopes[1], np.broadcast_to(np.einsum("bmk->kb", a)[:, None], b.shape),
               rtol=0.15, atol=1.5)


def test_without_configs():
  x = np.ones((2, 3), np.float32)
  got = nn.scaled_dot_general(x, x.T, (((1,), (0,)), ((), ())))
  assert got.tolist() == [[3, 3], [3, 3]]


def test_configs():
  assert (MXFP8.mode, MXFP8.block_size, NVFP4.block_size) == ("mxfp8", 32, 16)
  assert nn.get_scaled_dot_general_config("nvfp4").global_scale.tolist() == [1.0]
  for args, error in ((("x",), ValueError), (("mxfp8", np.float32(1)), ValueError),
                      (("nvfp4", np.int32(1)), TypeError)):
    with pytest.raises(error):
      nn.get_scaled_dot_general_config(*args)


ONES = np.ones((1, 2, 4), np.float32)


@pytest.mark.parametrize(("shapes", "message"), [
  (((2, 4), (1, 3, 4), (1, 2, 1), (1, 3, 1)), "3-dimensional"),
  (((1, 2, 4), (1, 3, 5), (1, 2, 1), (1, 3, 1)), "matching batch"),
  (((1, 2, 4), (2, 3, 4), (1, 2, 1), (1, 3, 1)), "matching batch"),
  (((1, 2, 4), (1, 3, 4), (1, 2, 3), (1, 3, 3)), "must divide K"),
  (((1, 2, 4), (1, 3, 4), (1, 2, 2), (1, 3, 1)), "requires scales"),
])
def test_errors(shapes, message):
  with pytest.raises(ValueError, match=message):
    nn.scaled_matmul(*(np.ones(s, np.float32) for s in shapes))
