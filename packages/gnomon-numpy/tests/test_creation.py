"""Creation and conversion: NumPy's values, JAX's dtypes and weak types, errors."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest

import gnomon
import gnomon.numpy as gnp

I32, F32 = np.dtype("int32"), np.dtype("float32")


def check(got: Any, want: Any, dtype: Any, weak: bool = False) -> None:
  want = np.asarray(want)
  assert (got.shape, got.dtype, got.weak_type) == (want.shape, np.dtype(dtype), weak)
  np.testing.assert_array_equal(
      np.asarray(got).astype("complex128"), want.astype(dtype).astype("complex128"))


@pytest.mark.parametrize(("value", "dtype", "weak"), [
    (1, I32, True), (1.5, F32, True), (True, bool, False), (1j, "complex64", True),
    ([1, 2], I32, False), ([1, 2.5], F32, False), ([True, 2], I32, False),
    ([], F32, False),
    ([[], []], F32, False), ([1, 2j], "complex64", False), ((1, (2)), I32, False),
    ([[1, 2], (3, 4)], I32, False), (range(3), I32, False), (np.float32(1), F32, False),
    ([np.float16(1), 2.5], "float16", False), ([np.int8(1), np.uint8(2)], "int16", False),
    ([np.float32(1), 2], F32, False), (np.ones(3), F32, False),
    (np.arange(3), I32, False),
    (np.array([1], ">i4"), I32, False), (memoryview(b"ab"), "uint8", False),
    ([np.ones(2), np.zeros(2)], F32, False), ([[1.0, np.float64(2)]], F32, False)])
def test_array_of_values(value: Any, dtype: Any, weak: bool) -> None:
  check(gnp.array(value), np.asarray(value), dtype, weak)
  check(gnp.asarray(value), np.asarray(value), dtype, weak)
  check(gnomon.jit(lambda: gnp.array(value))(), np.asarray(value), dtype, weak)


def test_array_of_arrays() -> None:
  x = gnp.array([1.0, 2.0])
  check(gnp.array([x, [3, 4]]), [[1, 2], [3, 4]], F32)
  check(gnp.array([x[0], 2]), [1, 2], F32)
  check(gnp.array([gnp.array(1), gnp.array(2)]), [1, 2], I32)
  check(gnp.array([gnp.array(1, "int8"), gnp.array(2, "float16")]), [1, 2], "float16")
  check(gnp.array([gnp.array(1, "bfloat16"), 2.0]), [1, 2], gnp.bfloat16)
  check(gnomon.jit(lambda v: gnp.array([[v, 1], [2, v]]))(3), [[3, 1], [2, 3]], I32)
  check(gnomon.jit(lambda v: gnp.array([v, [1, 2]]))(x), [[1, 2], [1, 2]], F32)
  grad = gnomon.grad(lambda v: gnp.array([v, 2.0 * v, 1.0]).sum())(1.0)
  assert float(grad) == 3


@pytest.mark.parametrize(("args", "kwargs", "want", "dtype"), [
    (([1, 2],), {"dtype": float}, [1, 2], F32), ((1.7,), {"dtype": int}, 1, I32),
    (([1.7],), {"dtype": "int8"}, [1], "int8"),
    ((2**31,), {"dtype": "uint32"}, 2**31, "uint32"),
    (([0, 2],), {"dtype": bool}, [False, True], bool),
    (([1],), {"ndmin": 3}, [[[1]]], I32),
    (([1],), {"dtype": "bfloat16"}, [1], gnp.bfloat16),
    (([1],), {"dtype": "complex64"}, [1], "complex64"),
    (([1],), {"order": "C"}, [1], I32),
    ((np.ones(2),), {"dtype": "int4"}, [1, 1], gnp.int4)])
def test_array_options(args: Any, kwargs: Any, want: Any, dtype: Any) -> None:
  check(gnp.array(*args, **kwargs), want, dtype)


def test_copies() -> None:
  source = np.zeros(3, np.float32)
  made = [gnp.array(source), gnp.asarray(source), gnp.array(source, copy=False)]
  source[:] = 1
  for x in made:
    check(x, np.zeros(3), F32)
  x = made[0]
  assert gnp.asarray(x) is x
  assert gnp.array(x).unsafe_buffer_pointer() != x.unsafe_buffer_pointer()
  assert gnp.array(x, copy=False) is x
  assert gnp.copy(x).unsafe_buffer_pointer() != x.unsafe_buffer_pointer()
  weak = gnp.asarray(1.0)
  assert gnp.array(weak).weak_type
  assert not gnp.array(weak, dtype=float).weak_type
  device = gnomon.devices()[0]
  assert gnp.array([1], device=device).committed
  assert gnp.zeros(1, device=device).committed
  assert not gnp.zeros(1).committed


@pytest.mark.parametrize(("value", "error", "text"), [
    (None, ValueError, "None"), ([1, None], ValueError, "None"), ("a", TypeError, "'a'"),
    (["a"], TypeError, "'a'"), ({"a": 1}, TypeError, "dict"),
    (object(), TypeError, "object"),
    ([[1], [1, 2]], ValueError, "inhomogeneous"), (2**31, OverflowError, "int32"),
    ([2**31], OverflowError, "int32"), (np.array(["a"]), TypeError, "<U1"),
    (np.array([None]), TypeError, "object")])
def test_array_errors(value: Any, error: type[Exception], text: str) -> None:
  with pytest.raises(error, match=text):
    gnp.array(value)


def test_more_array_errors() -> None:
  with pytest.raises(NotImplementedError, match="order='F'"):
    gnp.array([1], order="F")
  with pytest.raises(OverflowError, match="uint8"):
    gnp.array([300], dtype="uint8")
  with pytest.raises(ValueError, match="one shape"):
    gnomon.jit(lambda v: gnp.array([v, [1, 2]]))(1)


@pytest.mark.parametrize("name", ["zeros", "ones", "empty"])
def test_constants(name: str) -> None:
  make, value = getattr(gnp, name), int(name == "ones")
  for shape in (3, (), (2, 0), [2, 3], np.int32(2), gnp.array([2, 3]), (300, 300)):
    for dtype in (None, int, bool, "bfloat16", "complex64", "uint8"):
      size = np.zeros(np.asarray(shape) if hasattr(shape, "shape") else shape).shape
      want = np.full(size, value)
      check(make(shape, dtype), want, gnp.dtype(dtype) if isinstance(dtype, str) else {
          None: F32, int: I32, bool: bool}[dtype])
  check(gnomon.jit(lambda: make((2, 2)))(), np.full((2, 2), value), F32)
  like = getattr(gnp, name + "_like")
  check(like(np.ones((2, 3), "int8")), np.full((2, 3), value), "int8")
  check(like(1.5), value, F32, weak=True)
  check(like(gnp.asarray(1)[None], shape=2), [value] * 2, I32, weak=True)
  check(like(1.5, dtype=int), value, I32)
  check(like(gnomon.ShapeDtypeStruct((2,), "int8")), [value] * 2, "int8")
  for bad in (2.0, (2.0,), "a", (2, -1)):
    with pytest.raises(TypeError, match=name):
      make(bad)
  with pytest.raises(TypeError, match="list"):
    like([1])


def test_full() -> None:
  check(gnp.full(2, 1), [1, 1], I32, weak=True)
  check(gnp.full(2, 1.5), [1.5, 1.5], F32, weak=True)
  check(gnp.full(2, 1.5, int), [1, 1], I32)
  check(gnp.full((2, 2), np.arange(2)), [[0, 1], [0, 1]], I32)
  check(gnp.full(2, np.float16(1)), [1, 1], "float16")
  check(gnp.full((), True), True, bool)
  check(gnp.full_like(np.ones(2), 7), [7, 7], F32)
  check(gnp.full_like(1, 2.5), 2, I32, weak=True)
  check(gnp.full_like(np.ones(3, int), np.arange(3), shape=(2, 3)), [np.arange(3)] * 2,
      I32)
  check(gnomon.jit(lambda v: gnp.full((2, 2), v))(3.0), np.full((2, 2), 3), F32,
      weak=True)
  with pytest.raises(ValueError, match="broadcast"):
    gnp.full((2,), np.ones(3))
  with pytest.raises(TypeError, match="list"):
    gnp.full(2, [1, 2])


ARANGES = [
    (3,), (3.0,), (3.5,), (1, 3), (0, 3, 0.5), (5, 0), (5, 0, -2), (0, 5, -1), (1, 7, 2),
    (0.1, 1, 0.3), (np.int8(3),), (1, np.float16(3)), (-3, 3), (10, 1, -3.5), (70000,),
    (1, 140000, 2), (0, 0)]


@pytest.mark.parametrize("args", ARANGES)
def test_arange(args: Any) -> None:
  want = np.arange(*args)
  dtype = gnp.result_type(*[np.asarray(a).dtype if not isinstance(a, (int, float)) else a
                            for a in args])
  check(gnp.arange(*args), want, dtype)
  check(gnomon.jit(lambda: gnp.arange(*args))(), want, dtype)
  if want.size < 100 and (want >= 0).all():
    check(gnp.arange(*args, dtype="uint8"), want, "uint8")


def test_arange_errors() -> None:
  check(gnp.arange(gnp.array(3)), [0, 1, 2], I32)
  check(gnp.arange(3, None, 2), [0, 2], I32)
  for args, error in (((1j,), ValueError), ((True,), TypeError),
      ((0, 1, 0), ZeroDivisionError),
                      ((None,), TypeError), (([1],), TypeError),
                      ((np.ones(1),), ValueError),
                      ((float("nan"),), ValueError), ((float("inf"),), OverflowError)):
    with pytest.raises(error):
      gnp.arange(*args)
  with pytest.raises(gnomon.errors.ConcretizationTypeError, match="size of the result"):
    gnomon.jit(gnp.arange)(3)


@pytest.mark.parametrize(("start", "stop", "num", "kwargs"), [
    (0, 1, 5, {}), (0, 1, 0, {}), (0, 1, 1, {}), (2, -3, 7, {"endpoint": False}),
    (0, 10, 11, {"dtype": int}), (0, 1j, 3, {}), (-1.5, 2, 4, {"dtype": "float16"}),
    (1e30, -1e30, 3, {}), (3, 3, 4, {}), (0, 5, 3, {"dtype": bool})])
def test_linspace(start: Any, stop: Any, num: int, kwargs: Any) -> None:
  want = np.linspace(start, stop, num, **kwargs)
  dtype = gnp.array(want).dtype
  check(gnp.linspace(start, stop, num, **kwargs), want, dtype)
  for f in (gnp.linspace, gnomon.jit(lambda a, b: gnp.linspace(a, b, num, **kwargs))):
    args = (gnp.array(start), gnp.array(stop))
    got = f(*args) if f is not gnp.linspace else f(*args, num, **kwargs)
    assert got.dtype == dtype
    np.testing.assert_allclose(
        np.asarray(got).astype(complex), want.astype(dtype).astype(complex),
        rtol=1e-3 if dtype == np.float16 else 1e-6,
        atol=1e-6 * max(abs(start), abs(stop), 1))


def test_linspace_of_arrays() -> None:
  a, b = np.array([0.0, 1.0]), np.array([[2.0], [3.0]])
  for axis in (0, 1, -1):
    got, step = gnp.linspace(a, b, 5, axis=axis, retstep=True)
    want, want_step = np.linspace(a, b, 5, axis=axis, retstep=True)
    np.testing.assert_allclose(got, want, rtol=1e-6)
    np.testing.assert_allclose(step, want_step, rtol=1e-6)
  assert np.isnan(gnp.linspace(0, 1, 1, retstep=True)[1])
  exact = gnomon.jit(lambda a: gnp.linspace(a, 100, 101, dtype=int))(0)
  check(exact, np.arange(101), I32)
  with gnomon.enable_x64(True):
    got = gnomon.grad(lambda a, b: (gnp.linspace(a, b, 4) * np.arange(4)).sum(),
        (0, 1))(1.0, 2.0)
    np.testing.assert_allclose(got, (4 / 3, 14 / 3), rtol=1e-12)
  for args, error in (((0, 1, -1), ValueError), ((0, 1, 2.5), TypeError)):
    with pytest.raises(error):
      gnp.linspace(*args)
  with pytest.raises(ValueError, match="axis 3"):
    gnp.linspace(a, b, 3, axis=3)


def test_logspace_geomspace() -> None:
  for args, kwargs in (((0, 2, 3), {}), ((0, 3, 4), {"base": 2}),
      ((0, 2, 5), {"dtype": int}),
                       ((0, 2, 4), {"endpoint": False})):
    want = np.logspace(*args, **kwargs)
    check(gnp.logspace(*args, **kwargs), want, gnp.array(want).dtype)
  for args, kwargs in (((1, 1000, 4), {}), ((-1, -1000, 4), {}), ((1j, 16j, 5), {}),
                       ((256, 1, 9), {"dtype": int}), ((1, 8, 3), {"endpoint": False})):
    want = np.geomspace(*args, **kwargs)
    check(gnp.geomspace(*args, **kwargs), want, gnp.array(want).dtype)
  a = np.array([1.0, 2.0], np.float32)
  for axis in (0, 1):
    np.testing.assert_allclose(
        gnp.logspace(a, 3, 4, axis=axis), np.logspace(a, 3, 4, axis=axis), rtol=2e-6)
    np.testing.assert_allclose(
        gnp.geomspace(a, 8, 4, axis=axis), np.geomspace(a, 8, 4, axis=axis), rtol=2e-6)
  np.testing.assert_allclose(
      gnp.geomspace(-a, -8, 4), np.geomspace(-a, -8, 4), rtol=2e-6)
  with pytest.raises(ValueError, match="-1"):
    gnp.logspace(0, 1, -1)


def test_eye_identity() -> None:
  for args, kwargs in (((3,), {}), ((2, 4), {"k": 1}), ((3, 2), {"k": -1, "dtype": int}),
                       ((300,), {}), ((0,), {}), ((2,), {"dtype": bool})):
    want = np.eye(*args, **kwargs)
    check(gnp.eye(*args, **kwargs), want, gnp.array(want).dtype)
    check(gnomon.jit(lambda a=args, k=kwargs: gnp.eye(*a, **k))(), want,
        gnp.array(want).dtype)
  check(gnp.identity(2, int), np.eye(2), I32)
  check(gnomon.jit(lambda k: gnp.eye(3, k=k))(1), np.eye(3, k=1), F32)
  for args, error in (((2.0,), TypeError), ((-1,), ValueError),
      ((2, None, 1.0), ValueError)):
    with pytest.raises(error):
      gnp.eye(*args)


def test_astype_copy() -> None:
  x = gnp.array([1.5, -1.5, 0])
  check(gnp.astype(x, int), [1, -1, 0], I32)
  check(gnp.astype(x, bool), [True, True, False], bool)
  check(gnp.astype(1, float), 1, F32)
  check(gnp.astype(gnp.arange(2), None), [0, 1], F32)
  check(gnp.astype(gnp.array([1j, 0]), bool), [True, False], bool)
  assert gnp.astype(x, "float32") is x
  assert gnp.astype(x, "float32", copy=True) is not x
  with pytest.warns(DeprecationWarning, match="imaginary"):
    check(gnp.astype(gnp.array([1 + 2j]), float), [1], F32)
  with pytest.raises(TypeError, match="list"):
    gnp.astype([1], int)
  with pytest.raises(TypeError, match="list"):
    gnp.copy([1])


def test_buffers_and_files(tmp_path: Any) -> None:
  check(gnp.frombuffer(b"abcdefgh", "int16", 2, 2),
      np.frombuffer(b"abcdefgh", "int16", 2, 2),
        "int16")
  check(gnp.fromstring("1 2 3", sep=" "), [1, 2, 3], F32)
  for f in (gnp.fromfile, gnp.fromiter):
    with pytest.raises(NotImplementedError, match="asarray"):
      f([1])
  source = np.arange(3, dtype=np.float32)
  check(gnp.from_dlpack(source), source, F32)
  x = gnp.arange(3)
  check(gnp.from_dlpack(x, copy=True), x, I32)
  assert gnp.from_dlpack(x) is x
  with pytest.raises(TypeError, match="dlpack"):
    gnp.from_dlpack([1])
  for dtype in ("int8", "bfloat16", "complex64"):
    y = gnp.array([1, 2, 3], dtype)
    gnp.save(tmp_path / "x.npy", y)
    check(gnp.load(tmp_path / "x.npy"), y, y.dtype)
  file = io.BytesIO()
  gnp.savez(file, a=x)
  file.seek(0)
  check(gnp.asarray(gnp.load(file)["a"]), x, I32)


@pytest.mark.parametrize("like", [gnp.zeros_like, gnp.ones_like, gnp.empty_like])
def test_results_stay_where_their_model_is_committed(like: Any) -> None:
  free = gnp.arange(3)
  bound = gnomon.device_put(free, gnomon.devices()[0])
  assert not like(free)._committed
  assert like(bound)._committed
  assert like(bound).sharding == bound.sharding
  assert gnp.full_like(bound, 2)._committed
  assert not like(bound, shape=(2,))._committed
