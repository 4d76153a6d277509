"""Initializers: JAX's weights from the same key, their variance, their shapes.

The weights come from `tools/record_nn.py`.
"""

from __future__ import annotations

import base64
import json
import math
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import gnomon
from gnomon import random
from gnomon.nn import initializers

LINES = (Path(__file__).parent / "data" / "initializers.jsonl").read_text().splitlines()
KEY = random.key(3)
EXACT = {"uniform", "constant", "glorot_uniform", "lecun_uniform", "he_uniform"}
NAMES = sorted({json.loads(line)["name"] for line in LINES})


def decode(given: dict[str, Any]) -> np.ndarray[Any, Any]:
  dtype = np.dtype(getattr(ml_dtypes, given["dtype"], given["dtype"]))
  return np.frombuffer(base64.b64decode(given["data"]), dtype).reshape(given["shape"])


@pytest.mark.parametrize("name", NAMES)
def test_weights_of_jax(name):
  for line in map(json.loads, LINES):
    if line["name"] != name:
      continue
    with gnomon.enable_x64(line["dtype"] == "float64"):
      init = getattr(initializers, name)(**line["given"])
      got, want = init(KEY, line["shape"], line["dtype"]), decode(line["weights"])
      assert (got.dtype, got.shape) == (want.dtype, want.shape), line
      if name in EXACT and want.dtype.kind != "c":
        assert np.asarray(got).tobytes() == want.tobytes(), line
      elif want.size:
        # Orthogonal matrices come from a factorization, other numbers from an inverse
        # error function: of them the last bits may differ.
        bits = 64 if "orthogonal" in name else 8
        scale = np.abs(want.astype(complex)).max()
        error = np.abs(np.asarray(got).astype(complex) - want.astype(complex)).max()
        assert error <= bits * float(ml_dtypes.finfo(want.dtype).eps) * scale, line


def samples(init, shape, dtype=np.float32):
  return np.asarray(init(random.key(1), shape, dtype))


WINDOW = (3, 3, 24, 40)  # of a convolution: 24 inputs, 40 outputs
FANS = {
  "fan_in": 9 * 24,
  "fan_out": 9 * 40,
  "fan_avg": 9 * 32,
  "fan_geo_avg": 9 * math.sqrt(24 * 40),
}


@pytest.mark.parametrize("mode", FANS)
@pytest.mark.parametrize("distribution", ["truncated_normal", "normal", "uniform"])
def test_variance(mode, distribution):
  init = initializers.variance_scaling(3.0, mode, distribution)
  x = samples(init, WINDOW)
  deviation = math.sqrt(3.0 / FANS[mode])
  assert abs(x.mean()) < 4 * deviation / math.sqrt(x.size)
  assert x.std() == pytest.approx(deviation, rel=0.03)
  largest = {"truncated_normal": 2 / 0.8796, "normal": 6, "uniform": math.sqrt(3)}
  assert np.abs(x).max() <= largest[distribution] * deviation * 1.0001
  z = samples(init, WINDOW, np.complex64)
  more = {"truncated_normal": 1.0095}.get(distribution, 1.0)  # JAX's constant
  assert np.abs(z**2).mean() ** 0.5 == pytest.approx(deviation * more, rel=0.02)
  assert abs((z**2).mean()) < 0.05 * deviation**2  # every direction


NAMED = {
  "glorot_normal": 1 / 50, "glorot_uniform": 1 / 50, "lecun_normal": 1 / 80,
  "lecun_uniform": 1 / 80, "he_normal": 1 / 40, "he_uniform": 1 / 40}


@pytest.mark.parametrize("name", NAMED)
def test_named_variances(name):
  x = samples(getattr(initializers, name)(), (80, 20))
  assert x.var() == pytest.approx(NAMED[name], rel=0.1)
  several = getattr(initializers, name)(in_axis=(0, 1), out_axis=2, batch_axis=3)
  x = samples(several, (8, 10, 20, 5))
  assert x.var() == pytest.approx(NAMED[name], rel=0.1)


def test_simple_variances():
  assert samples(initializers.normal(0.3), (5000,)).std() == pytest.approx(0.3, rel=0.05)
  x = samples(initializers.truncated_normal(0.5, lower=-1.0, upper=1.0), (5000,))
  assert np.abs(x).max() <= 0.5
  assert x.std() == pytest.approx(0.5 * 0.53956, rel=0.05)
  x = samples(initializers.uniform(3.0), (5000,))
  assert 0 <= x.min() < 0.01
  assert 2.99 < x.max() < 3
  assert x.mean() == pytest.approx(1.5, rel=0.05)


@pytest.mark.parametrize("shape", [(5, 3), (3, 5), (4, 4), (2, 3, 4), (0, 3), (3, 0)])
@pytest.mark.parametrize("dtype", [np.float32, np.complex64, ml_dtypes.bfloat16])
def test_orthogonal(shape, dtype):
  weights = initializers.orthogonal(scale=2.0)(KEY, shape, dtype)
  assert (weights.shape, weights.dtype) == (shape, dtype)
  wide = np.complex64 if dtype is np.complex64 else np.float32
  w = np.asarray(weights).astype(wide).reshape(math.prod(shape[:-1]), shape[-1]) / 2
  small = w.conj().T @ w if w.shape[0] >= w.shape[1] else w @ w.conj().T
  atol = 2e-2 if dtype is ml_dtypes.bfloat16 else 1e-5
  np.testing.assert_allclose(small, np.eye(len(small)), atol=atol)


def test_orthogonal_columns_elsewhere():
  w = np.asarray(initializers.orthogonal(column_axis=0)(KEY, (3, 2, 4)))
  w = np.moveaxis(w, 0, -1).reshape(8, 3)
  np.testing.assert_allclose(w.T @ w, np.eye(3), atol=1e-5)


@pytest.mark.parametrize("window", [(3,), (4, 3), (1, 2, 3)])
def test_delta_orthogonal(window):
  w = np.array(initializers.delta_orthogonal(3.0)(KEY, (*window, 2, 5)))
  middle = tuple((n - 1) // 2 for n in window)
  np.testing.assert_allclose(w[middle] @ w[middle].T, 9 * np.eye(2), atol=1e-4)
  w[middle] = 0
  assert (w == 0).all()


def test_dtypes():
  for name in ("uniform", "normal", "truncated_normal"):
    init = getattr(initializers, name)(np.float32(0.5), ml_dtypes.bfloat16)
    assert init(KEY, (2, 2)).dtype == ml_dtypes.bfloat16
    assert init(KEY, (2, 2), np.float16).dtype == np.float16
  assert initializers.zeros(KEY, (2,), int).dtype == np.int32
  assert initializers.constant(np.arange(3))(KEY, (2, 3)).tolist() == [[0, 1, 2]] * 2
  assert initializers.lecun_normal()(random.PRNGKey(0), (2, 3)).dtype == np.float32
  with gnomon.enable_x64(True):
    assert initializers.glorot_uniform()(KEY, (2, 3)).dtype == np.float64


def test_in_programs():
  for init in (initializers.he_normal(), initializers.orthogonal(), initializers.ones):
    compiled = gnomon.jit(lambda key, init=init: init(key, (4, 3)))
    np.testing.assert_allclose(compiled(KEY), init(KEY, (4, 3)), rtol=1e-5, atol=1e-6)
    mapped = gnomon.vmap(lambda key, init=init: init(key, (4, 3)))(random.split(KEY, 2))
    assert mapped.shape == (2, 4, 3)


@pytest.mark.parametrize(("call", "error", "message"), [
  (lambda: initializers.lecun_normal()(KEY, (3,)), ValueError, "1-dimensional weights"),
  (lambda: initializers.lecun_normal(in_axis=4)(KEY, (3, 3)), ValueError,
   "in_axis 4 is out of bounds"),
  (lambda: initializers.variance_scaling(1.0, "fan", "normal")(KEY, (3, 3)), ValueError,
   "invalid mode for variance scaling initializer: fan"),
  (lambda: initializers.variance_scaling(1.0, "fan_in", "flat")(KEY, (3, 3)), ValueError,
   "invalid distribution for variance scaling initializer: flat"),
  (lambda: initializers.uniform()(KEY, (3,), int), ValueError, "must be a float dtype"),
  (lambda: initializers.orthogonal()(KEY, (3,)), ValueError, "at least a 2D shape"),
  (lambda: initializers.delta_orthogonal()(KEY, (3, 3)), ValueError, "3D, 4D or 5D"),
  (lambda: initializers.delta_orthogonal()(KEY, (3, 4, 3)), ValueError, "`fan_in` must"),
  (lambda: initializers.zeros(KEY, (3,), out_sharding=1), NotImplementedError,
   "gnomon-sharding"),
])
def test_errors(call, error, message):
  with pytest.raises(error, match=message):
    call()


def test_names():
  assert initializers.xavier_normal is initializers.glorot_normal
  assert initializers.kaiming_uniform is initializers.he_uniform
  assert isinstance(initializers.normal(), initializers.Initializer)
