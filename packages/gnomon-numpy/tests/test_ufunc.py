"""Universal functions and their methods, against NumPy's."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest

import gnomon
import gnomon.numpy as gnp

NAMES = [
    "add", "subtract", "multiply", "bitwise_and", "bitwise_or", "bitwise_xor",
    "logical_and", "logical_or", "logical_xor", "logaddexp", "logaddexp2", "maximum",
    "minimum"]
FLOAT = np.float32([[3, 0, 2, 1], [0, 5, 4, 1], [7, 1, 6, 2]])
INT = FLOAT.astype(np.int32)


def argument(name: str) -> Any:
  return INT if name.startswith("bitwise") else FLOAT


def same(got: Any, want: Any) -> None:
  want = np.asarray(want)
  assert got.dtype == (np.int32 if want.dtype == np.int64 else want.dtype)
  np.testing.assert_allclose(got, want, rtol=2e-6)


@pytest.mark.parametrize("name", NAMES)
def test_reduce(name: str) -> None:
  fun, reference, x = getattr(gnp, name), getattr(np, name), argument(name)
  assert isinstance(fun, gnp.ufunc)
  for axis in (0, 1, -1):
    same(fun.reduce(x, axis), reference.reduce(x, axis))
  same(fun.reduce(x, 1, keepdims=True), reference.reduce(x, 1, keepdims=True))
  if name != "subtract":
    same(fun.reduce(x, None), reference.reduce(x, None))
  if not name.startswith("logical"):
    same(fun.reduce(x, 0, initial=2), reference.reduce(x, 0, initial=2))
  where = x > 1
  initial = 0 if fun.identity is None else None
  options = {} if initial is None else {"initial": initial}
  if name != "subtract":
    same(fun.reduce(x, 0, where=where, **options),
         reference.reduce(x, 0, where=where, **options))
  traced = gnomon.jit(lambda x: fun.reduce(x, 0))(x)
  same(traced, reference.reduce(x, 0))


@pytest.mark.parametrize("name", NAMES)
def test_accumulate(name: str) -> None:
  fun, reference, x = getattr(gnp, name), getattr(np, name), argument(name)
  for axis in (0, -1):
    got, want = fun.accumulate(x, axis), reference.accumulate(x, axis)
    if name.startswith("logical"):
      want = want.astype(bool)
    same(got, want)


@pytest.mark.parametrize("name", NAMES)
def test_outer_and_reduceat(name: str) -> None:
  fun, reference, x = getattr(gnp, name), getattr(np, name), argument(name)
  same(fun.outer(x, x[0]), reference.outer(x, x[0]))
  for axis, indices in ((0, [0, 1]), (1, [0, 2, 1, 3, 3])):
    want = reference.reduceat(x, indices, axis)
    if name.startswith("logical"):
      # NumPy takes single elements as they are where the segment has one.
      want = want.astype(bool)
    got = fun.reduceat(x, np.array(indices), axis)
    same(got, want)


@pytest.mark.parametrize("name", [*NAMES, "negative"])
def test_at(name: str) -> None:
  fun, reference, x = getattr(gnp, name), getattr(np, name), argument(name)
  for indices in ([0, 2, 0], (1, 2), ([0, 0], [1, 1])):
    want = x.copy()
    operands = () if name == "negative" else (x.dtype.type(2),)
    if name.startswith("logical"):
      want = want != 0
      reference.at(want, indices, True)
      got = fun.at(gnp.asarray(x != 0), np.array(indices) if isinstance(
          indices, list) else tuple(map(np.array, indices)), True, inplace=False)
    else:
      reference.at(want, indices, *operands)
      got = fun.at(gnp.asarray(x), np.array(indices) if isinstance(
          indices, list) else tuple(map(np.array, indices)), *operands, inplace=False)
    same(got, want)
  with pytest.raises(NotImplementedError, match="inplace=False"):
    fun.at(x, 0, 1)


def test_attributes() -> None:
  for name in NAMES:
    fun, reference = getattr(gnp, name), getattr(np, name)
    assert (fun.nin, fun.nout, fun.nargs) == (2, 1, 2)
    assert fun.__name__ == name
    assert list(inspect.signature(fun).parameters) in (["x", "y"], ["x1", "x2"])
    assert fun.identity == reference.identity or name in ("logaddexp2", "maximum")
  assert repr(gnp.add) == "<gnomon.numpy.ufunc 'add'>"
  assert "Sum" in gnp.add.__doc__


def test_frompyfunc() -> None:
  seen = []

  def digits(x: Any, y: Any) -> Any:
    seen.append((x.shape, y.shape))
    return 10 * x + y

  fun = gnp.frompyfunc(digits, 2, 1)
  x = gnp.array([[1, 2, 3], [4, 5, 6]])
  assert fun(x, x[0]).tolist() == [[11, 22, 33], [41, 52, 63]]
  assert set(seen) == {((), ())}
  assert fun.reduce(x, 1).tolist() == [123, 456]
  assert fun.reduce(x, axis=None).item() == 123456
  assert fun.reduce(x, 1, initial=9).tolist() == [9123, 9456]
  assert fun.reduce(x, 1, where=x != 2, initial=0).tolist() == [13, 456]
  assert fun.accumulate(x, 1).tolist() == [[1, 12, 123], [4, 45, 456]]
  assert fun.reduceat(x[1], gnp.array([0, 2, 1])).tolist() == [45, 6, 56]
  assert fun.outer(x[0], x[0])[2, 1].item() == 32
  assert fun.at(x, (0, gnp.array([1, 1])), 7, inplace=False)[0].tolist() == [1, 277, 3]
  assert gnomon.grad(fun.reduce)(gnp.array([1.0, 2.0])).tolist() == [10, 1]
  pair = gnp.frompyfunc(lambda x: (x, x + 1), 1, 2)
  assert [p.tolist() for p in pair(x[0])] == [[1, 2, 3], [2, 3, 4]]
  empty = gnp.frompyfunc(digits, 2, 1, identity=0).reduce(x[:0])
  assert empty.tolist() == [0, 0, 0]


def test_errors() -> None:
  x = gnp.asarray(FLOAT)
  for call, error, match in (
      (lambda: gnp.add(x, x, out=x), NotImplementedError, "out"),
      (lambda: gnp.add(x, x, where=x > 1), NotImplementedError, "where"),
      (lambda: gnp.add.reduce(x, out=x), NotImplementedError, "out"),
      (lambda: gnp.negative.reduce(x), ValueError, "two arguments"),
      (lambda: gnp.negative.outer(x, x), ValueError, "two arguments"),
      (lambda: gnp.maximum.reduce(x[:0]), ValueError, "identity"),
      (lambda: gnp.maximum.reduce(x, where=x > 1), ValueError, "identity"),
      (lambda: gnp.subtract.reduce(x, axis=(0, 1)), NotImplementedError, "one axis"),
      (lambda: gnp.add.accumulate(x, None), ValueError, "one axis"),
      (lambda: gnp.add.reduce([1, 2]), TypeError, "list"),
      (lambda: gnp.add.reduceat(x, gnp.array([[0]])), ValueError, "one-dimensional"),
      (lambda: gnp.add.reduceat(x, gnp.array([0, 9])), IndexError, "9"),
      (lambda: gnp.add.at(x, 0, inplace=False), ValueError, "operands"),
      (lambda: gnp.add(x), TypeError, "missing")):
    with pytest.raises(error, match=match):
      call()
