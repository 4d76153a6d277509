"""Sorting: small and large arrays of every dtype, ties, nan, derivatives, keys."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import gnomon
from gnomon import lax
from gnomon.core import dtypes
from gnomon.core.types import ShapedArray, WrappedArray, typeof_handlers
from gnomon.lax import _sort
from gnomon.runtime.compile import result_wrappers
from gnomon.testing import assert_close, check_grads, check_vmap_axes

R = np.random.default_rng(11)
SHAPES: list[tuple[tuple[int, ...], int]] = [((9,), 0), ((3000,), 0), ((70, 50), 0),
                                             ((5, 6), 1)]
REALS = ("float32", "float16", "bfloat16", "int32", "uint32", "int8", "uint8", "bool")
WIDE = ("float64", "int64", "uint64")
COMPLEX = ("complex64", "complex128")


def draw(dtype: str, shape: tuple[int, ...]) -> Any:
  """Values with many ties, and with all that floats have."""
  if dtype.startswith(("float", "bfloat", "complex")):
    special = [0.0, -0.0, 1, 2, np.nan, -np.inf, np.inf, -3, 1e-40, -1e-40]
    x = R.choice(special, shape) + R.standard_normal(shape) * (R.random(shape) < 0.5)
    if dtype.startswith("complex"):
      x = x + 1j * R.choice([0, 1.0, -1.0], shape)
    return lax.convert_element_type(x.astype(dtype), dtype) if dtype != "bfloat16" else (
        lax.convert_element_type(x.astype("float32"), dtype))
  if dtype == "bool":
    return R.random(shape) < 0.5
  info = np.iinfo(dtype)
  x = R.integers(info.min, info.max, shape, dtype=dtype, endpoint=True)
  return np.where(R.random(shape) < 0.5, x, x.dtype.type(3))


def stable_order(x: Any, axis: int) -> Any:
  """NumPy's stable order; of complex numbers by parts, nan last."""
  x = np.asarray(x)
  if x.dtype.kind == "c":
    return np.lexsort((
        np.where(np.isnan(x.imag), 0, x.imag), np.isnan(x.imag),
        np.where(np.isnan(x.real), 0, x.real), np.isnan(x.real)), axis=axis)
  if x.dtype.kind == "V":
    x = x.astype("float32")
  return np.argsort(x, axis=axis, kind="stable")


def bits(x: Any) -> Any:
  """The bytes of elements, nan of all kinds as one."""
  x = np.asarray(x)
  y = x.astype("complex128" if x.dtype.kind != "V" else "float64")
  y = np.where(np.isnan(y.real), np.nan, y)
  return np.stack([y.real, y.imag, np.signbit(y.real) & ~np.isnan(y.real)])


@pytest.mark.parametrize("dtype", [*REALS, *WIDE, *COMPLEX])
def test_stable_sort(dtype: str) -> None:
  with gnomon.enable_x64(dtype in WIDE or dtype == "complex128"):
    xs = [draw(dtype, shape) for shape, _ in SHAPES]

    def both(xs: Any) -> Any:
      out = []
      for x, (shape, axis) in zip(xs, SHAPES, strict=True):
        places = lax.broadcasted_iota("int32", shape, axis)
        out.append((lax.sort(x, dimension=axis), lax.sort((x, places), dimension=axis)))
      return out

    outs = gnomon.jit(both)(xs)
    for (alone, (values, places)), x, (_, axis) in zip(outs, xs, SHAPES, strict=True):
      order = stable_order(x, axis)
      assert_close(places, order.astype("int32"), check_dtypes=True)
      expected = bits(np.take_along_axis(np.asarray(x), order, axis))
      for got in (alone, values):
        assert got.dtype == x.dtype
        np.testing.assert_array_equal(bits(got), expected)


def test_several_keys() -> None:
  for n in (50, 5000):
    a, b = (R.integers(0, 4, n) for _ in range(2))
    c, places = R.standard_normal(n).astype("f"), np.arange(n, dtype=np.int32)
    a, b = a.astype("f"), b.astype(np.int32)
    for keys in ((a, b), (b, a), (a, b, c)):
      *_, order = lax.sort((*keys, places), num_keys=len(keys))
      assert_close(order, np.lexsort(keys[::-1]).astype("int32"))


def test_many_words() -> None:
  with gnomon.enable_x64(True):  # more than are worth sorting one after another
    keys = [R.integers(0, 3, 3000).astype("f8") for _ in range(3)]
    *_, order = lax.sort((*keys, np.arange(3000)), num_keys=3)
    assert_close(order, np.lexsort(keys[::-1]))


def test_small_floats_and_weak_types() -> None:
  x = lax.convert_element_type(np.float32([3, np.nan, -1, 0.5, -0.0, 0]), "float8_e4m3fn")
  got = np.asarray(lax.convert_element_type(lax.sort(x), "float32"))
  assert_close(got, np.float32([-1, 0, 0, 0.5, 3, np.nan]))
  assert lax.sort(lax.full((2,), 1.0)).aval.weak_type
  assert lax.sort(np.zeros((0, 3), "f")).shape == (0, 3)
  a, b = lax.sort([np.float32([[2], [1]]), np.int32([[7], [8]])], 1)
  assert (a.tolist(), b.tolist()) == ([[2.0], [1.0]], [[7], [8]])


def test_unstable_sort() -> None:
  x = draw("float32", (3000,))
  got, order = lax.sort((x, np.arange(3000, dtype=np.int32)), is_stable=False)
  assert_close(got, np.sort(np.asarray(x)))
  assert sorted(order.tolist()) == list(range(3000))


def test_sort_key_val() -> None:
  k, v = np.float32([[3, 1, 2], [1, 3, 2]]), np.int32([[1, 2, 3], [4, 5, 6]])
  keys, values = lax.sort_key_val(k, v)
  assert_close(keys, np.sort(k))
  assert values.tolist() == [[2, 3, 1], [4, 6, 5]]
  assert lax.sort_key_val(k, v, 0)[1].tolist() == [[4, 2, 3], [1, 5, 6]]


def test_comparisons_for_accelerators(monkeypatch: pytest.MonkeyPatch) -> None:
  monkeypatch.setattr(_sort, "on_cpu", lambda ctx: False)
  x = R.choice(np.float32([0, -0.0, 1, np.nan, -np.inf, np.inf]), (4000,))
  places = np.arange(4000, dtype=np.int32)
  got, order = gnomon.jit(lambda *xs: lax.sort(xs))(x, places)
  assert_close(order, np.argsort(x, kind="stable").astype("int32"))
  np.testing.assert_array_equal(bits(got), bits(x[np.argsort(x, kind="stable")]))


# ---- derivatives and vmap


def test_derivatives() -> None:
  with gnomon.enable_x64(True):
    for shape in ((6, 2), (1100, 2)):
      x, y = (R.permutation(np.linspace(-2, 2, shape[0] * 2)).reshape(shape)
              for _ in range(2))
      w = R.standard_normal(shape)
      g = gnomon.grad(lambda x, y, w=w: lax.reduce_sum(lax.mul(lax.sin(
          lax.sort((x, y), 0)[1]), w), (0, 1)), (0, 1))(x, y)
      order = np.argsort(x, 0)
      expected = np.zeros(shape)
      np.put_along_axis(expected, order, np.cos(np.take_along_axis(y, order, 0)) * w, 0)
      assert_close(g[1], expected)
      assert_close(g[0], np.zeros(shape))
    check_grads(lambda x: lax.sort(lax.sin(x)), (x[:6],), 2)
    check_grads(lambda x: lax.top_k(lax.sin(x), 3, axis=0)[0], (x[:6],), 2)


def test_vmap() -> None:
  def draws() -> Any:
    return R.permutation(12).reshape(3, 4).astype("f")

  check_vmap_axes(
      lambda x, y: lax.sort((x, y), 0), [(draws(), draws()) for _ in range(3)])
  for axis in (0, 1):
    check_vmap_axes(
        lambda x, axis=axis: lax.top_k(x, 2, axis=axis), [(draws(),) for _ in range(3)])


def test_counting() -> None:
  """Arrays with more elements than there are numbers."""
  for name, shape, axis in (
      ("int8", (300,), 0), ("uint8", (2, 700, 2), 1), ("int16", (70_000,), 0),
      ("uint16", (2, 66_000), 1), ("float16", (70_000,), 0), ("bfloat16", (70_000,), 0)):
    dtype = np.dtype(getattr(ml_dtypes, name, name))
    if dtype.kind in "iu":
      info = np.iinfo(dtype)
      draws = [R.integers(info.min, info.max, shape, dtype, endpoint=True),
               np.full(shape, info.max, dtype), np.full(shape, info.min, dtype)]
    else:
      draws = [R.standard_normal(shape).astype(dtype)]
      draws.append(np.where(draws[0] > 1, np.array(np.nan, dtype), draws[0]))
    f = gnomon.jit(lambda x, axis=axis: lax.sort(x, axis))
    for x in draws:
      np.testing.assert_array_equal(
          np.asarray(f(x)).astype("f4"), np.sort(x.astype("f4"), axis), err_msg=name)


# ---- top_k


def test_top_k() -> None:
  x = R.integers(-5, 6, (4, 30)).astype(np.int32)
  for dtype in ("int32", "float32", "bfloat16", "uint8"):
    y = lax.convert_element_type(np.abs(x) if dtype == "uint8" else x, dtype)
    plain = np.asarray(lax.convert_element_type(y, "int32"))
    for axis, k in ((1, 7), (0, 4), (-1, 0), (1, 30)):
      values, places = lax.top_k(y, k, axis=axis)
      order = np.argsort(-plain, axis=axis, kind="stable")
      order = order[:k] if axis == 0 else order[:, :k]
      assert_close(places, order.astype("int32"), check_dtypes=True)
      assert values.dtype == y.dtype
      assert_close(
          np.asarray(lax.convert_element_type(values, "int32")),
          np.take_along_axis(plain, order, axis))
  assert lax.top_k(np.array([False, True]), 1)[1].tolist() == [1]


def test_top_k_in_total_order() -> None:
  x = np.float32([1, np.nan, -np.inf, 0.0, -0.0, 0, np.copysign(np.nan, -1)])
  _, places = lax.top_k(x, 7)
  assert places.tolist() == [1, 0, 3, 5, 4, 2, 6]


def test_top_k_of_all_dtypes() -> None:
  """Every bit pattern in its place: CPUs sort keys that are bits of float32."""
  with gnomon.enable_x64(True):
    for name in ("bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64",
                 "uint64", "float16", "bfloat16", "float32", "float64", "float8_e5m2"):
      dtype = np.dtype(getattr(ml_dtypes, name, name))
      bits = np.dtype(f"int{8 * dtype.itemsize}")
      x = R.integers(np.iinfo(bits).min, np.iinfo(bits).max, (3, 50), bits, endpoint=True)
      x[:, :6] = [0, -1, 1, np.iinfo(bits).min, np.iinfo(bits).max, 0]
      x = x % 2 == 0 if name == "bool" else x.view(dtype)
      if dtype.kind in "iub":
        key = x.astype(object)
      else:
        key = x.view(bits).astype(object)
        key = np.where(key < 0, np.iinfo(bits).min - 1 - key, key)
      order = np.argsort(-key, axis=1, kind="stable") if name != "bool" else np.argsort(
          ~x, axis=1, kind="stable")
      values, places = gnomon.jit(lambda x: lax.top_k(x, 50))(x)
      np.testing.assert_array_equal(places, order, err_msg=name)
      want = np.take_along_axis(x, order, 1)
      assert np.asarray(values).tobytes() == want.tobytes(), name


# ---- keys


class PairType(dtypes.ExtendedDType):
  """A dtype whose elements are two words."""

  name = "pairs"
  kind = "V"
  type = dtypes.extended
  physical_shape = (2,)
  physical_dtype = np.dtype(np.uint32)

  def __eq__(self, other: object) -> bool:
    return type(other) is PairType

  def __hash__(self) -> int:
    return 2


class Pairs(WrappedArray):
  """An array of pairs."""

  __slots__ = ("aval", "physical")

  def __init__(self, words: Any) -> None:
    self.aval = ShapedArray(np.shape(words)[:-1], PairType())
    self.physical = words

  def with_physical(self, array: Any) -> Pairs:
    return Pairs(array)


typeof_handlers[Pairs] = lambda x: x.aval
result_wrappers[PairType] = lambda aval: Pairs


@pytest.mark.parametrize("n", [5, 3000])
def test_keys_are_sorted_along(n: int) -> None:
  words = R.integers(0, 2 ** 32, (n, 2), dtype=np.uint32)
  x = R.standard_normal(n).astype("f")
  values, keys = lax.sort((x, Pairs(gnomon.device_put(words))))
  assert_close(values, np.sort(x))
  assert_close(keys.physical, words[np.argsort(x)], check_dtypes=True)
  with pytest.raises(TypeError, match="sort does not accept dtype"):
    lax.sort(keys)


X = np.ones((3, 4), np.float32)
ERRORS: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (lambda: lax.sort(X, 2), ValueError, "out of bounds"),
    (lambda: lax.sort(1.0), ValueError, "out of bounds"),
    (lambda: lax.sort((X, X[0])), TypeError, "one shape"),
    (lambda: lax.sort((X, X), num_keys=3), ValueError, "got 3"),
    (lambda: lax.sort((X, X), num_keys=0), ValueError, "between 1"),
    (lambda: lax.sort(()), TypeError, "at least one"),
    (lambda: lax.top_k(X, 5), ValueError, "got 5"),
    (lambda: lax.top_k(X, -1), ValueError, "got -1"),
    (lambda: lax.top_k(X, 1, axis=3), ValueError, "out of bounds"),
    (lambda: lax.top_k(X, 2.0), TypeError, "integer"),
    (lambda: lax.top_k(X + 1j, 1), TypeError, "complex64")]


@pytest.mark.parametrize(("call", "error", "words"), ERRORS)
def test_errors(call: Callable[[], Any], error: type[Exception], words: str) -> None:
  with pytest.raises(error, match=words):
    call()


def test_printed_programs() -> None:
  text = str(gnomon.make_jaxpr(lambda x: (lax.sort(x), lax.top_k(x, 2)))(X))
  for part in ("sort[dimension=1 is_stable=True num_keys=1]", "top_k[axis=1 k=2]"):
    assert part in text


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("special", [(), (-0.0, 0.0), (np.nan,), (np.inf, -np.inf)])
def test_large_arrays_with_and_without_what_keys_lose(dtype, special):
  """Zeros keep their order by sign, whichever way the compiled program goes."""
  with gnomon.enable_x64(True):
    x = R.standard_normal((2, 3000)).astype(dtype)
    for i, value in enumerate(special):
      x[:, i::7] = value
    got = np.asarray(lax.sort(x)).astype(float)
  expected = np.sort(x.astype(float), 1, kind="stable")
  np.testing.assert_array_equal(got, expected)
  known = ~np.isnan(expected)
  np.testing.assert_array_equal(np.signbit(got)[known], np.signbit(expected)[known])
