"""Methods and properties of arrays are functions of the package."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest

import gnomon
import gnomon.numpy as gnp

X = np.float32([[3, 1, 2], [0, 5, 4]])

CALLS: dict[str, tuple[Any, ...]] = {
    "all": (), "any": (1,), "argmax": (1,), "argmin": (), "argsort": (), "clip": (1, 3),
    "conj": (), "conjugate": (), "cumprod": (1,), "cumsum": (0,), "diagonal": (),
    "dot": (np.float32([1, 2, 3]),), "flatten": (), "max": (0,), "mean": (), "min": (1,),
    "nonzero": (), "prod": (), "ptp": (1,), "ravel": (), "repeat": (2, 1),
    "reshape": (3, 2), "round": (), "squeeze": (), "std": (0,), "sum": (1,),
    "swapaxes": (0, 1), "take": (np.int32([1, 0]), 1), "trace": (), "transpose": (1, 0),
    "var": (), "copy": (), "tolist": (), "compress": (np.bool_([True, False]), 0)}


@pytest.mark.parametrize("name", CALLS)
def test_as_numpy(name: str) -> None:
  got = getattr(gnp.asarray(X), name)(*CALLS[name])
  want = np.ptp(X, *CALLS[name]) if name == "ptp" else getattr(X, name)(*CALLS[name])
  if name in ("nonzero", "tolist"):
    np.testing.assert_array_equal(np.asarray(got), np.asarray(want))
    return
  assert got.dtype == (np.int32 if want.dtype == np.int64 else want.dtype)
  np.testing.assert_allclose(got, want, rtol=1e-6)
  if name not in ("nonzero", "compress"):
    traced = gnomon.jit(lambda x: getattr(x, name)(*CALLS[name]))(X)
    np.testing.assert_allclose(traced, want, rtol=1e-6)


def test_more_methods() -> None:
  x = gnp.asarray(X)
  np.testing.assert_array_equal(x.sort(axis=0), np.sort(X, 0))
  np.testing.assert_array_equal(x.argpartition(1).shape, X.shape)
  assert x[0].sort().searchsorted(2.5).item() == 2
  np.testing.assert_array_equal(
      gnp.array([1, 0]).choose([gnp.array([1, 2]), gnp.array([3, 4])]), [3, 2])
  np.testing.assert_array_equal(x.reshape((3, -1)), X.reshape(3, 2))
  np.testing.assert_array_equal(x.transpose(), X.T)
  np.testing.assert_array_equal(x.transpose((1, 0)), X.T)
  np.testing.assert_array_equal(x.reshape(3, 2, order="F"), X.reshape(3, 2, order="F"))
  assert x.astype(int).dtype == np.int32
  assert 5.0 in x[1]
  assert 7.0 not in x[1]
  with pytest.raises(ValueError, match="one-dimensional"):
    5.0 in x  # noqa: B015


def test_properties() -> None:
  x = gnp.asarray(X)
  np.testing.assert_array_equal(x.T, X.T)
  np.testing.assert_array_equal(x.mT, X.T)
  np.testing.assert_array_equal(x.real, X)
  np.testing.assert_array_equal(x.imag, np.zeros_like(X))
  np.testing.assert_array_equal((x + 1j).imag, np.ones_like(X))
  assert (x.nbytes, x.itemsize) == (24, 4)
  gnomon.make_jaxpr(lambda x: x + x.nbytes + x.itemsize)(X)
  with pytest.raises(NotImplementedError, match="flatten"):
    _ = x.flat
  with pytest.raises(ValueError, match="two"):
    _ = x[0].mT


def test_iteration() -> None:
  rows = list(gnp.asarray(X))
  assert [r.tolist() for r in rows] == X.tolist()
  assert [int(i) for i in gnp.arange(3)] == [0, 1, 2]
  first, second = gnomon.jit(tuple)(X)
  np.testing.assert_array_equal(first, X[0])
  np.testing.assert_array_equal(second, X[1])
  with pytest.raises(TypeError, match="0-d"):
    iter(gnp.array(1.0))


@pytest.mark.parametrize("dtype", ["int32", "int16", "int8", "uint8", "float16", "bool"])
def test_view(dtype: str) -> None:
  x = gnp.asarray(X)
  if dtype == "bool":
    got, want = gnp.asarray(X.astype(np.int8) != 0).view(bool), X != 0
  else:
    got, want = x.view(dtype), X.view(dtype)
  assert got.dtype == want.dtype
  np.testing.assert_array_equal(got, want)
  if dtype not in ("bool", "float16"):
    np.testing.assert_array_equal(got.view(np.float32), X)


def test_view_edges() -> None:
  x = gnp.asarray(X)
  assert x.view() is x or x.view().tolist() == x.tolist()
  np.testing.assert_array_equal((x > 1).view("int8"), (X > 1).view("int8"))
  z = X.astype(np.complex64)
  np.testing.assert_array_equal(gnp.asarray(z).view("float32"), z.view("float32"))
  pairs = np.float32([[1, 2, 3, 4]])
  np.testing.assert_array_equal(
      gnp.asarray(pairs).view("complex64"), pairs.view("complex64"))
  with pytest.raises(ValueError, match="last"):
    gnp.zeros((2, 3), "int8").view("int16")
  with pytest.raises(ValueError, match="dimension"):
    gnp.zeros((), "int8").view("int16")
  with pytest.raises(NotImplementedError, match="type"):
    x.view(type=np.ndarray)


def test_byteswap() -> None:
  for dtype in ("float32", "int16", "int8", "complex64"):
    x = np.arange(1, 7).reshape(2, 3).astype(dtype)
    got = np.asarray(gnp.asarray(x).byteswap())
    assert got.tobytes() == x.byteswap().tobytes()


def test_namespace() -> None:
  x = gnp.asarray(X)
  assert x.__array_namespace__() is gnp
  assert x.__array_namespace__(api_version="2024.12") is gnp
  with pytest.raises(ValueError, match="2020"):
    x.__array_namespace__(api_version="2020")
  assert x.__array_module__((np.ndarray, gnomon.Array)) is gnp
  assert x.__array_module__((str,)) is NotImplemented
  assert gnomon.jit(lambda x: x.__array_namespace__().sin(x))(0.0) == 0
  assert x.to_device(gnomon.devices()[0]).tolist() == x.tolist()
  with pytest.raises(NotImplementedError, match="stream"):
    x.to_device(gnomon.devices()[0], stream=1)


def test_signatures() -> None:
  for name in ("sum", "std", "argsort", "reshape", "astype", "searchsorted"):
    method = getattr(gnomon.Array, name)
    assert method.__name__ == name
    assert method.__doc__
    assert next(iter(inspect.signature(method).parameters)) == "self"
