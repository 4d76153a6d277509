"""Choosing, taking, putting, searching: NumPy's values; fixed sizes; errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gnomon
import gnomon.numpy as gnp

RNG = np.random.default_rng(0)


def same(got: Any, want: Any) -> None:
  assert isinstance(got, (tuple, list)) == isinstance(want, (tuple, list))
  if isinstance(want, (tuple, list)):
    assert len(got) == len(want)
    for g, w in zip(got, want):
      same(g, w)
    return
  want = np.asarray(want)
  assert got.shape == want.shape, (got.shape, want.shape)
  np.testing.assert_array_equal(np.asarray(got), want)


def test_where() -> None:
  c = np.array([[True], [False]])
  for args in ((c, np.arange(3), -1.5), (c, 1, 2), (np.arange(2), np.arange(2), 7),
               (True, np.arange(3), np.zeros((2, 3))), (np.array([0.0, np.nan]), 1, 2),
               (np.zeros((0, 2), bool), 1, 2), (c, np.nan, np.arange(2.0))):
    want = np.where(*args)
    same(gnp.where(*args), want)
    same(gnomon.jit(gnp.where)(*args), want)
  for args, dtype, weak in (((c, 1, 2), "int32", True),
      ((c, np.int8(1), 2), "int8", False),
                            ((c, np.arange(2), 1.5), "float32", True)):
    got = gnp.where(*args)
    assert (got.dtype, got.weak_type) == (np.dtype(dtype), weak)
  grad = gnomon.grad(lambda x: gnp.where(x > 1, gnp.log(x), 0.0).sum())(
      np.array([0.5, 2.0]))
  np.testing.assert_allclose(grad, [0, 0.5])
  with pytest.raises(TypeError, match="NoneType"):
    gnp.where(c, 1)
  with pytest.raises(ValueError, match="size"):
    gnp.where(c, 1, 2, size=1)
  with pytest.raises(TypeError, match="list"):
    gnp.where([True], 1, 2)


@pytest.mark.parametrize("shape", [(7,), (3, 4), (2, 3, 2), (0,), (2, 0)])
def test_nonzero(shape: tuple[int, ...]) -> None:
  x = RNG.integers(0, 2, shape).astype(np.float32)
  want = np.nonzero(x)
  same(gnp.nonzero(x), want)
  same(gnp.where(x), want)
  same(gnp.flatnonzero(x), np.flatnonzero(x))
  same(gnp.argwhere(x), np.argwhere(x))
  count = len(want[0])
  for size in (0, 1, count, count + 3):
    for fill in (None, -1, tuple(range(len(shape)))):
      fills = fill if isinstance(fill, tuple) else (fill or 0,) * len(shape)
      padded = tuple([
          np.concatenate([w[:size], np.full(max(size - count, 0), f)])
          for w, f in zip(want, fills)])
      f = gnomon.jit(lambda x, s=size, v=fill: gnp.nonzero(x, size=s, fill_value=v))
      same(f(x), padded)
  rows = np.array([[0, 1, 1], [1, 0, 0]])
  same(gnomon.vmap(lambda v: gnp.flatnonzero(v, size=2))(rows),
       np.array([[1, 2], [0, 0]]))


def test_nonzero_errors() -> None:
  same(gnp.argwhere(3), np.argwhere(3))
  same(gnp.argwhere(np.zeros(())), np.argwhere(np.zeros(())))
  with pytest.raises(ValueError, match="one dimension"):
    gnp.nonzero(1)
  with pytest.raises(ValueError, match="length 1"):
    gnp.nonzero(np.ones(2), size=1, fill_value=(1, 2))
  with pytest.raises(ValueError, match="-1"):
    gnp.nonzero(np.ones(2), size=-1)
  with pytest.raises(TypeError, match="size"):
    gnp.nonzero(np.ones(2), size=1.5)
  with pytest.raises(gnomon.errors.ConcretizationTypeError, match="size="):
    gnomon.jit(gnp.nonzero)(np.ones(2))


def test_compress_extract() -> None:
  x = np.arange(12).reshape(3, 4)
  c = np.array([True, False, True])
  for axis in (0, 1, -1, None):
    want = np.compress(c, x, axis)
    same(gnp.compress(c, x, axis), want)
    f = gnomon.jit(lambda c, x, a=axis: gnp.compress(c, x, a, size=3, fill_value=-1))
    got = np.asarray(f(c, x))
    rest = np.split(got, [2], axis=axis or 0)
    same(gnp.asarray(rest[0]), want)
    assert (rest[1] == -1).all()
  same(gnp.extract(x > 5, x), np.extract(x > 5, x))
  same(gnomon.jit(lambda x: gnp.extract(x > 8, x, size=4, fill_value=7))(x),
       np.array([9, 10, 11, 7]))
  grad = gnomon.grad(lambda x: gnp.extract(x > 1, x, size=3).sum())(np.array([3.0, 0, 2]))
  same(grad, np.array([1, 0, 1]))
  for args, kwargs in (((np.ones(5, bool), x, 0), {}), ((np.ones((2, 2)), x), {}),
                       ((c, x, 0), {"size": 4})):
    with pytest.raises(ValueError, match="compress"):
      gnp.compress(*args, **kwargs)
  with pytest.raises(NotImplementedError, match="out"):
    gnp.compress(c, x, 0, out=x)


def test_select_choose() -> None:
  x = np.arange(6)
  for args in (([x > 3, x < 1], [x, -x], 7), ([x > 3], [x * 1.5], -1),
               ([x[:, None] > 3, x > 2], [x, 2 * x]), ([x > 3, x > 2, x > 1], [1, 2, 3])):
    same(gnp.select(*args), np.select(*args))
    same(gnomon.jit(gnp.select)(*args), np.select(*args))
  for args in (([], []), ([x > 1], [x, x])):
    with pytest.raises(ValueError, match="condlist"):
      gnp.select(*args)
  a = np.array([[0, 1, 2], [2, 1, 0]])
  many = [np.arange(3) * k for k in range(5)]
  for choices in (many, many[:3], np.stack(many), [1, 2.5, np.arange(3)]):
    want = np.choose(a, choices)
    same(gnp.choose(a, choices), want)
    for mode in ("wrap", "clip"):
      wide = a * 3 - 2
      same(gnomon.jit(lambda a, c, m=mode: gnp.choose(a, c, mode=m))(wide, choices),
           np.choose(wide, choices, mode=mode))
  for bad, match in (((a, many[:2]), "invalid entry"), ((a * 1.0, many), "integers"),
                     ((0, []), "invalid entry")):
    with pytest.raises(ValueError, match=match):
      gnp.choose(*bad)
  with pytest.raises(ValueError, match="mode"):
    gnp.choose(a, many, mode="far")


def test_piecewise() -> None:
  x = np.array([-2.0, -1, 0, 1, 2], np.float32)
  for conditions, functions in (
      ([x < 0, x > 1], [lambda v: -v, lambda v: v * v]), ([x < 0, x > 1], [1, 2, 3]),
      ([x < 0, x <= 1], [lambda v: v + 1, 7, lambda v: v * 2]),
      (x < 0, [lambda v: v * 3]), ([x > -9, x > 0], [1, 2])):
    want = np.piecewise(x, conditions, functions)
    same(gnp.piecewise(x, conditions, functions), want)
    same(gnomon.jit(lambda x, c, f=functions: gnp.piecewise(x, c, f))(x, conditions),
        want)
  grad = gnomon.grad(lambda x: gnp.piecewise(x, [x > 0], [gnp.log, 0.0]).sum())(x)
  same(grad, np.array([0, 0, 0, 1, 0.5]))
  assert gnp.piecewise(np.arange(3), [np.arange(3) > 1], [1.5]).dtype == np.int32
  same(gnp.piecewise(x, [x > 0], [lambda v, a, b: v * a + b], 2, b=1),
       np.where(x > 0, 2 * x + 1, 0))
  with pytest.raises(ValueError, match="1 or 2 functions"):
    gnp.piecewise(x, [x > 0], [1, 2, 3])


# ---- take, put


@pytest.mark.parametrize("axis", [None, 0, 1, -1])
def test_take(axis: int | None) -> None:
  x = np.arange(12.0).reshape(3, 4)
  for i in (1, -1, np.array([0, 2, -3]), np.array([[1], [2]]), np.zeros((0,), int),
            np.uint8(1)):
    want = np.take(x, i, axis)
    same(gnp.take(x, i, axis), want)
    same(gnomon.jit(lambda x, i: gnp.take(x, i, axis))(x, i), want)
  far = np.array([50, -50, 1])
  for mode in ("clip", "wrap"):
    same(gnp.take(x, far, axis, mode=mode), np.take(x, far, axis, mode=mode))
  got = np.asarray(gnp.take(x, far, axis, fill_value=-1))
  assert (np.take(got, 0, axis or 0) == -1).all()
  assert np.isnan(np.take(np.asarray(gnp.take(x, far, axis)), 1, axis or 0)).all()


def test_take_errors() -> None:
  x = gnp.arange(3)
  for args, kwargs, error in (
      ((x, [1]), {}, TypeError), ((x, 1.5), {}, TypeError), ((x, 0, 1), {}, ValueError),
      ((x, 0), {"mode": "raise"}, NotImplementedError),
      ((x, 0), {"mode": "far"}, ValueError),
      ((x, 0), {"out": x}, NotImplementedError),
      ((gnp.zeros((0, 2)), 0, 0), {}, IndexError)):
    with pytest.raises(error, match="take"):
      gnp.take(*args, **kwargs)


@pytest.mark.parametrize(("shape", "index_shape", "axis"), [
    ((3, 4), (3, 2), 1), ((3, 4), (1, 2), 1), ((1, 4), (3, 2), 1),
    ((2, 3, 4), (2, 5, 1), 1),
    ((2, 3, 4), (1, 2, 4), -2), ((5,), (3,), 0), ((2, 3), (2, 0), 1), ((6,), (4,), None)])
def test_along_axis(shape: Any, index_shape: Any, axis: int | None) -> None:
  x = RNG.normal(size=shape).astype(np.float32)
  n = x.size if axis is None else shape[axis]
  i = RNG.integers(-n, n, index_shape)
  want = np.take_along_axis(x, i, axis)
  same(gnp.take_along_axis(x, i, axis), want)
  same(gnp.take_along_axis(x, i.astype("int8"), axis), want)
  got = gnomon.vmap(lambda x: gnp.take_along_axis(x, i, axis))(np.stack([x, 2 * x]))
  same(got, np.stack([want, 2 * want]))
  if axis is None or shape == (1, 4):
    return
  j = np.argsort(RNG.normal(size=shape), axis)
  j = np.take(j, range(min(index_shape[axis], n)), axis)  # no place twice
  want = x.copy()
  np.put_along_axis(want, j, 9, axis)
  same(gnp.put_along_axis(x, j, 9.0, axis, inplace=False), want)


def test_along_axis_derivative_and_errors() -> None:
  x, i = np.arange(6.0).reshape(2, 3), np.array([[2, 2], [0, 1]])
  grad = gnomon.grad(
      lambda x: (gnp.take_along_axis(x, i, 1) * np.array([1.0, 2])).sum())(x)
  same(grad, np.array([[0, 0, 3], [1, 2, 0]]))
  far = np.array([[7, -7]])
  same(gnp.take_along_axis(x, far, 1, mode="clip"), x[:, [2, 0]])
  same(gnp.take_along_axis(x, far, 1, fill_value=5), np.full((2, 2), 5))
  for f in (gnp.take_along_axis, lambda x, i, a: gnp.put_along_axis(x, i, 0, a, False)):
    with pytest.raises(TypeError, match="integer"):
      f(x, i * 1.0, 1)
    with pytest.raises(ValueError, match="dimensions"):
      f(x, i[0], 1)
    with pytest.raises(ValueError, match="axis"):
      f(x, i, 2)
  with pytest.raises(ValueError, match="inplace=False"):
    gnp.put_along_axis(x, i, 0, 1)


def test_put_place_fill_diagonal() -> None:
  x = np.arange(6.0).reshape(2, 3)
  for i, v, mode in ((np.array([0, 4]), np.array([7.0, 8]), None),
      (np.array([1, -1]), 5, None),
                     (np.array([[0, 1], [2, 3]]), np.array([7, 8, 9]), None),
                     (np.array([9, -9]), 5, "clip"), (np.array([7, -8]), 5, "wrap"),
                     (np.zeros(0, int), 1, None), (np.array([1]), np.zeros(0), None)):
    want = x.copy()
    np.put(want, i, v, mode=mode or "raise")
    same(gnp.put(x, i, v, mode, inplace=False), want)
  for v in (7.0, np.array([7, 8]), np.arange(9)):
    want = x.copy()
    np.place(want, x > 2, np.atleast_1d(v))
    same(gnomon.jit(lambda x, v: gnp.place(x, x > 2, v, inplace=False))(x, v), want)
  for shape in ((3, 3), (2, 4), (4, 2), (3, 3, 3)):
    for v in (7.0, np.array([1, 2]), np.arange(5)):
      want = np.zeros(shape)
      np.fill_diagonal(want, v)
      same(gnp.fill_diagonal(gnp.zeros(shape), v, inplace=False), want)
  for call, error in ((lambda: gnp.put(x, 0, 1), ValueError),
                      (lambda: gnp.place(x, x > 1, 1), ValueError),
                      (lambda: gnp.fill_diagonal(x, 1), NotImplementedError)):
    with pytest.raises(error, match="inplace=False"):
      call()
  with pytest.raises(ValueError, match="same size"):
    gnp.place(x, np.ones(2), 1, inplace=False)
  with pytest.raises(ValueError, match="2-d"):
    gnp.fill_diagonal(np.ones(2), 1, inplace=False)
  with pytest.raises(ValueError, match="equal length"):
    gnp.fill_diagonal(np.ones((2, 3, 3)), 1, inplace=False)


# ---- searching

SPECIAL = np.array([-np.inf, -2, -0.0, 0.0, 1, 1, 3, np.inf, np.nan, np.nan], np.float32)


@pytest.mark.parametrize("method", ["scan", "scan_unrolled", "sort", "compare_all"])
@pytest.mark.parametrize("side", ["left", "right"])
def test_searchsorted(method: str, side: str) -> None:
  queries = np.array([[np.nan, -np.inf, np.inf], [0.0, -0.0, 1], [2, -3, 3]], np.float32)
  for a, v in ((SPECIAL, queries), (np.array([1, 3, 3, 9]), np.arange(11)),
               (np.array([5], np.uint8), np.array([250, 5, 0], np.uint8)),
               (np.zeros(0), np.array([1.0])), (np.array([1.0, 2]), np.float32(1.5)),
               (np.array([1, 1 + 1j, 2], np.complex64),
                   np.array([1, 1.5, 3j], np.complex64)),
               (np.sort(RNG.normal(size=100).astype("float16")),
                RNG.normal(size=50).astype("float16"))):
    got = gnp.searchsorted(a, v, side, method=method)
    assert got.dtype == np.int32
    same(got, np.searchsorted(a, v, side))
  a = np.sort(RNG.normal(size=(3, 9)), 1)
  got = gnomon.vmap(lambda a: gnp.searchsorted(a, 0.1, side, method=method))(a)
  same(got, np.array([np.searchsorted(r, 0.1, side) for r in a]))


def test_searchsorted_options() -> None:
  a = np.array([3, 1, 2])
  same(gnp.searchsorted(a, 2, sorter=np.argsort(a)),
      np.searchsorted(a, 2, sorter=np.argsort(a)))
  for args, kwargs, error in (
      ((np.ones((2, 2)), 1), {}, ValueError), ((a, 1, "middle"), {}, ValueError),
      ((a, 1), {"method": "guess"}, ValueError), (([1], 1), {}, TypeError)):
    with pytest.raises(error, match="searchsorted"):
      gnp.searchsorted(*args, **kwargs)


def test_digitize() -> None:
  x = np.array([-1.0, 0, 0.5, 1, 2, 2.5, 3, 9, np.nan])
  for bins in (np.array([0.0, 1, 2, 3]), np.array([3.0, 2, 1, 0]), np.array([1.0]),
               np.array([1.0, 1, 2])):
    for right in (False, True):
      same(gnp.digitize(x, bins, right), np.digitize(x, bins, right))
      same(gnomon.jit(lambda x, b, r=right: gnp.digitize(x, b, r))(x, bins),
           np.digitize(x, bins, right))
  same(gnp.digitize(x, np.zeros(0)), np.zeros(9))
  with pytest.raises(ValueError, match="1-dimensional"):
    gnp.digitize(x, np.ones((2, 2)))
