"""For a key, the random numbers are those of JAX: bit for bit where that is exact.

The data comes from `tools/record_random_vectors.py`: a call and its outcome on each line.
"""

from __future__ import annotations

import base64
import contextlib
import json
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import gnomon
from gnomon import random

DATA = Path(__file__).parent / "data"
LINES = [
  (f"{path.stem}-{number}", json.loads(line))
  for path in sorted(DATA.glob("*.jsonl"))
  for number, line in enumerate(path.read_text().splitlines(), 1)
  # JAX refuses Python ints beyond int32; here they may bound uint32, or lie one above.
  if '"function": "randint"' not in line or '"raises": "OverflowError"' not in line
]
EXACT = (
  "uniform",
  "randint",
  "bits",
  "bernoulli",
  "permutation",
  "choice",
  "categorical",
)
ULPS = 8  # of functions that end in a logarithm or an inverse error function
# In logarithms here, where JAX's numbers may underflow; and a sum without cancellation.
MORE_ULPS = {
  "ball": 64,
  "chisquare": 64,
  "f": 64,
  "generalized_normal": 64,
  "t": 64,
  "wald": 2**10,
}
ERRORS = {e.__name__: e for e in (TypeError, ValueError, OverflowError)}


def dtype_of(name: str) -> np.dtype[Any]:
  return np.dtype(getattr(ml_dtypes, name, None) or name)


def decode(value: Any) -> Any:
  match value:
    case {"array": elements, "dtype": name}:
      return np.array(elements, dtype_of(name))
    case {"dtype": name}:
      return dtype_of(name)
    case {"tuple": elements}:
      return tuple(elements)
  return value


def decode_result(result: dict[str, Any]) -> np.ndarray:
  data = base64.b64decode(result["data"])
  return np.frombuffer(data, dtype_of(result["dtype"])).reshape(result["shape"])


def call(line: dict[str, Any]) -> gnomon.Array:
  function = getattr(random, line["function"])
  args = [decode(a) for a in line.get("args", ())]
  kwargs = {k: decode(a) for k, a in line.get("kwargs", {}).items()}
  maker = line.get("maker", "key")
  if maker is None:
    return function(*args, **kwargs)
  key = getattr(random, maker)(line.get("seed", 0))
  if "mapped" not in line:
    return function(key, *args, **kwargs)
  keys = random.split(key, line["mapped"])
  return gnomon.vmap(lambda k: function(k, *args, **kwargs))(keys)


def assert_close(result: np.ndarray, expected: np.ndarray, ulps: int = ULPS) -> None:
  """Asserts that floats differ by few roundings."""
  if expected.dtype.kind == "c":
    assert_close(result.real, expected.real, ulps)
    assert_close(result.imag, expected.imag, ulps)
    return
  eps = float(ml_dtypes.finfo(expected.dtype).eps)
  result, expected = result.astype(np.float64), expected.astype(np.float64)
  np.testing.assert_allclose(result, expected, rtol=ulps * eps, atol=eps)


@pytest.mark.parametrize("line", [x[1] for x in LINES], ids=[x[0] for x in LINES])
def test_same_as_jax(line: dict[str, Any]) -> None:
  with contextlib.ExitStack() as stack:
    stack.enter_context(gnomon.enable_x64(line.get("x64", False)))
    if "warns" in line:
      stack.enter_context(pytest.warns(UserWarning, match="float64|int64"))
    if "raises" in line:
      stack.enter_context(pytest.raises(ERRORS[line["raises"]]))
    result = call(line)
    if line.get("result", {}).get("keys"):
      assert gnomon.dtypes.issubdtype(result.dtype, gnomon.dtypes.prng_key)
      result = random.key_data(result)
    result, expected = np.asarray(result), decode_result(line["result"])
    assert (result.shape, result.dtype) == (expected.shape, expected.dtype)
    exact = line["function"] in EXACT and "kwargs" not in line
    if exact or expected.dtype.kind in "iub":
      np.testing.assert_array_equal(result, expected)
    else:
      assert_close(result, expected, MORE_ULPS.get(line["function"], ULPS))


@pytest.mark.parametrize(
  ("text", "expected"), json.loads((DATA / "jaxprs.json").read_text()).items()
)
def test_same_jaxpr_as_jax(text: str, expected: str) -> None:
  function = eval(f"lambda k: {text}", {"random": random})
  assert str(gnomon.make_jaxpr(function)(random.key(0))) == expected


def test_bounds_at_the_ends_of_the_dtype() -> None:
  key = random.key(3)
  for dtype, top in (("int32", 2**31), ("uint32", 2**32), ("uint8", 256), ("int8", 128)):
    drawn = np.asarray(random.randint(key, (4000,), top - 2, top, dtype))
    assert set(drawn.tolist()) == {top - 2, top - 1}
  whole = np.asarray(random.randint(key, (4000,), -(2**31), 2**31, "int32"))
  assert whole.min() < -(2**31) * 0.99
  assert whole.max() > 2**31 * 0.99


def test_exact_modes_draw_jax_s_numbers() -> None:
  key = random.key(5)
  np.testing.assert_allclose(
      np.asarray(random.gumbel(key, (4,), mode="high")),
      np.float32([0.46510157, -0.93090445, -0.28599617, 2.303482]), rtol=1e-6)
  drawn = np.asarray(random.bernoulli(key, 0.3, (12,), mode="high"))
  assert "".join("01"[int(x)] for x in drawn) == "000100111010"
  logits = np.zeros(9, np.float32)
  drawn = np.asarray(random.categorical(key, logits, shape=(8,), mode="high"))
  assert drawn.tolist() == [6, 1, 1, 2, 7, 3, 6, 4]


def test_exact_modes_follow_their_distributions() -> None:
  drawn = random.gumbel(random.key(1), (20_000,), mode="high")
  x = np.sort(np.asarray(drawn, np.float64))
  below = (np.arange(x.size) + 0.5) / x.size
  assert np.abs(np.exp(-np.exp(-x)) - below).max() < 0.015
  hits = np.asarray(random.bernoulli(random.key(2), 0.3, (20_000,), mode="high"))
  assert abs(hits.mean() - 0.3) < 0.015
