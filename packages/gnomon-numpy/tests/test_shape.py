"""Shapes, joining, cutting, repeating, shifting: NumPy's values; errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gnomon
import gnomon.numpy as gnp

X = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
M, V = X[0], X[0, 0]
Agree = Callable[..., Any]


def test_reshape(agree: Agree) -> None:
  for order in "CF":
    for shape in ((4, 6), (-1, 6), 24, (2, -1, 2), [24]):
      agree("reshape", X, shape, order=order)
    agree("ravel", X, order=order)
  agree("reshape", np.zeros((0, 3)), (3, 0))
  agree("reshape", np.zeros((0, 3)), (-1, 3))
  assert gnp.reshape(X, np.int64(24)).shape == (24,)
  assert gnp.reshape(X, gnp.array([4, 6])).shape == (4, 6)
  for shape, message in (((5, -1), "does not divide"), ((-1, -1), "one size"),
                         ((7,), r"\(2, 3, 4\)"), ((-2, 12), "negative"),
                         ((2.0, 12), "2.0")):
    with pytest.raises(TypeError, match=message):
      gnp.reshape(X, shape)
  with pytest.raises(TypeError, match="could be anything"):
    gnp.reshape(np.zeros((0, 3)), (0, -1))
  with pytest.raises(TypeError, match="list"):
    gnp.reshape([1, 2], (2, 1))
  with pytest.raises(NotImplementedError, match="'A'"):
    gnp.reshape(X, 24, order="A")
  with pytest.raises(ValueError, match="'Q'"):
    gnp.ravel(X, order="Q")
  with pytest.raises(TypeError, match="depends on"):
    gnomon.jit(lambda n: gnp.reshape(X, (n, -1)))(3)


def test_nothing_to_do() -> None:
  """An array that has the shape already is the result: nothing is run, or copied."""
  x = gnp.arange(3.0)
  for y in (gnp.ravel(x), x.ravel(), gnp.reshape(x, 3), x.reshape(3), x.reshape((3,)),
            x.T, gnp.transpose(x), gnp.broadcast_to(x, (3,))):
    assert y is x
  # These have memory of their own, which may be donated.
  for y in (gnp.reshape(x, 3, copy=True), gnp.copy(x), x.flatten()):
    assert y.unsafe_buffer_pointer() != x.unsafe_buffer_pointer()
  for shape in ((3.0,), ("3",)):  # 3 == 3.0, which is no size all the same
    with pytest.raises(TypeError, match="concrete values of integer type"):
      gnp.reshape(x, shape)
  with pytest.raises(TypeError, match="depends on"):
    gnomon.jit(lambda n: gnp.reshape(x, (n,)))(3)
  x = gnp.ones((2, 1))
  assert gnp.transpose(x).shape == gnp.broadcast_to(x.reshape(1, 2), (1, 2)).shape


def test_axes(agree: Agree) -> None:
  agree("expand_dims", X, (0, -1))
  agree("expand_dims", X, 1)
  agree("squeeze", X[:1])
  agree("squeeze", X[:1], 0)
  agree("transpose", X)
  for axes in ((1, 0, 2), (-1, 0, 1), [2, 1, 0]):
    agree("transpose", X, axes)
    agree("permute_dims", X, axes)
  agree("swapaxes", X, 0, -1)
  agree("moveaxis", X, 0, -1)
  agree("moveaxis", X, (0, 1), (-1, 0))
  agree("moveaxis", X, [0], [1])
  agree("matrix_transpose", X)
  for axis in range(-3, 3):
    for start in range(-3, 4):
      assert gnp.rollaxis(X, axis, start).shape == np.rollaxis(X, axis, start).shape
  for call, message in (
      (lambda: gnp.squeeze(X, 1), "size"), (lambda: gnp.expand_dims(X, (0, 0)),
          "duplicate"),
      (lambda: gnp.swapaxes(X, 0, 7), "out of bounds"),
      (lambda: gnp.moveaxis(X, (0, 1), (0,)), "2 and 1"),
      (lambda: gnp.rollaxis(X, 0, 9), "start"),
      (lambda: gnp.matrix_transpose(V), "two-dimensional")):
    with pytest.raises(ValueError, match=message):
      call()
  with pytest.raises(TypeError, match="permutation"):
    gnp.permute_dims(X, (0, 1))


def test_questions() -> None:
  for x in (X, V, 3, 2.5):
    assert (gnp.ndim(x), gnp.shape(x), gnp.size(x)) == (np.ndim(x), np.shape(x),
        np.size(x))
  assert gnp.size(X, 1) == 3
  assert gnp.size(X, (0, -1)) == 8
  assert gnp.broadcast_shapes((2, 1), 3, (1, 3)) == (2, 3)
  with pytest.raises(ValueError, match="incompatible"):
    gnp.broadcast_shapes((1, 2), (3,))


def test_broadcasting(agree: Agree) -> None:
  for name in ("atleast_1d", "atleast_2d", "atleast_3d"):
    for x in (X, M, V, V[0]):
      agree(name, x)
    got = getattr(gnp, name)(V, 3)
    assert [g.shape for g in got] == [w.shape for w in getattr(np, name)(V, 3)]
    assert getattr(gnp, name)() == []
  agree("broadcast_to", M, (2, 3, 4))
  agree("broadcast_to", 3, 2)
  for g, w in zip(gnp.broadcast_arrays(X, M[:1], 1.0), np.broadcast_arrays(X, M[:1],
      1.0)):
    np.testing.assert_array_equal(g, w)
  with pytest.raises(ValueError, match="fewer dimensions"):
    gnp.broadcast_to(X, (3, 4))
  with pytest.raises(ValueError, match=r"\(3, 4\)"):
    gnp.broadcast_to(M, (3, 5))


def test_joining(agree: Agree) -> None:
  for axis in (0, 1, -1, None):
    agree("concatenate", [X, X], axis=axis)
  agree("concatenate", X)
  agree("concatenate", X, axis=1)
  agree("concat", (X, X), axis=1)
  for axis in (0, 1, -1):
    agree("stack", [X, X], axis=axis)
    agree("stack", X, axis=axis)
  for name in ("vstack", "hstack", "dstack", "column_stack"):
    agree(name, [V, V])
    agree(name, (M, M))
  agree("vstack", X)
  for blocks in ([[M, M], [M, M]], [V, V], [1, 2], X, [[[X]], [[X]]], [[X, X]]):
    agree("block", blocks)
  agree("append", X, 1)
  agree("append", X, X, axis=1)
  for axis in (0, 1, -1):
    got = gnp.unstack(X, axis=axis)
    assert len(got) == X.shape[axis]
    np.testing.assert_array_equal(got[1], np.take(X, 1, axis))
  assert gnp.unstack(np.zeros((0, 3))) == ()
  for call, error, message in (
      (lambda: gnp.concatenate([]), ValueError, "at least one"),
      (lambda: gnp.concatenate([1, X]), ValueError, "position 0"),
      (lambda: gnp.concatenate([X, M[None, :2]]), TypeError, "sizes that are equal"),
      (lambda: gnp.concatenate([[1], [2]]), TypeError, "list"),
      (lambda: gnp.stack([1.0, X]), ValueError, "one shape"),
      (lambda: gnp.stack([X], out=X), NotImplementedError, "out"),
      (lambda: gnp.stack([None, X]), TypeError, "NoneType"),
      (lambda: gnp.unstack(3), ValueError, "out of bounds"),
      (lambda: gnp.block([[X], X]), ValueError, "depth"),
      (lambda: gnp.block((X, X)), TypeError, "tuple")):
    with pytest.raises(error, match=message):
      call()


def test_cutting(agree: Agree) -> None:
  for cuts, axis in ((2, 0), ([1, 2], 1), ([1, -1, 7], 2), (np.array([1, 3]), -1),
      ([], 0)):
    agree("split", X, cuts, axis=axis)
  for parts in (3, 5, [1, 3]):
    agree("array_split", X, parts, axis=2)
  agree("hsplit", X, 3)
  agree("hsplit", V, 2)
  agree("vsplit", X, 2)
  agree("dsplit", X, [1, 3])
  with pytest.raises(ValueError, match="equal division"):
    gnp.split(X, 2, axis=1)
  with pytest.raises(ValueError, match="larger than 0"):
    gnp.split(X, 0)
  with pytest.raises(gnomon.errors.ConcretizationTypeError, match="indices_or_sections"):
    gnomon.jit(lambda i: gnp.split(X, i))(np.array([1]))


def test_repeating(agree: Agree) -> None:
  for reps in (2, (2,), (2, 1, 1, 2), 0, (1, 2), np.array([2, 3])):
    agree("tile", M, reps)
  agree("tile", 3, 2)
  for repeats, axis in ((2, None), (3, 1), (np.array([1, 0, 2]), 1), (0, 0),
      (np.array(2), 2)):
    agree("repeat", X, repeats, axis=axis)
  agree("repeat", 3, 4)
  agree("resize", X, (5, 7))
  agree("resize", X, (2, 2))
  agree("resize", np.zeros(0), (2, 2))
  repeat = gnomon.jit(lambda n: gnp.repeat(M, n, axis=0, total_repeat_length=5))
  np.testing.assert_array_equal(repeat(np.array([1, 0, 2])), M[[0, 2, 2, 2, 2]])
  np.testing.assert_array_equal(repeat(np.array([3, 3, 3])), M[[0, 0, 0, 1, 1]])
  np.testing.assert_array_equal(repeat(np.array([2])), M[[0, 0, 1, 1, 2]])
  assert gnp.repeat(M, np.array([1, 0, 2]), axis=0, total_repeat_length=0).shape == (0, 4)
  for call, error, message in (
      (lambda: gnp.repeat(X, [1, 0, 2], axis=1), TypeError, "list"),
      (lambda: gnp.repeat(X, np.array([1, 2]), axis=1), ValueError, "3 parts"),
      (lambda: gnp.repeat(X, -1), ValueError, "negative"),
      (lambda: gnp.repeat(X, 1.5), TypeError, "integer"),
      (lambda: gnp.resize(X, (-1,)), ValueError, "non-negative"),
      (lambda: gnomon.jit(lambda n: gnp.repeat(X, n, axis=1))(np.array([1, 2, 3])),
       gnomon.errors.ConcretizationTypeError, "total_repeat_length")):
    with pytest.raises(error, match=message):
      call()


def test_moving(agree: Agree) -> None:
  for shift, axis in (
      (1, None), (1, 0), (-2, 1), ((1, 2), (0, 1)), (3, (0, 1)), ((1, 2), 1), (100, 2),
      ((1, 2), None)):
    agree("roll", X, shift, axis)
    np.testing.assert_array_equal(
        gnomon.jit(lambda s, axis=axis: gnp.roll(X, s, axis))(shift),
        np.roll(X, shift, axis))
  agree("roll", np.zeros((0, 3)), 1, 0)
  for axes in (None, 0, 1, -1, (0, 2)):
    agree("flip", X, axes)
  agree("fliplr", X)
  agree("flipud", X)
  for k in range(-2, 5):
    agree("rot90", X, k, (0, 2))
  with pytest.raises(ValueError, match="2 shifts and 3 axes"):
    gnp.roll(X, (1, 2), (0, 1, 2))
  with pytest.raises(ValueError, match="two different axes"):
    gnp.rot90(X, 1, (0,))


def test_inserting(agree: Agree) -> None:
  for where in (1, -1, [0, 2], [1, 1], slice(0, 3, 2), np.array([2, 0]), 3, np.array(1)):
    agree("insert", M, where, 7.0, axis=0)
    agree("insert", M, where, 7.0)
  agree("insert", M, 1, np.array([7, 8, 9]), axis=1)
  agree("insert", M, [1], np.array([[7], [8], [9]]), axis=1)
  agree("insert", M, [0, 1, 1], M, axis=0)
  agree("insert", X, 1, X[:, 0, :], axis=1)
  insert = gnomon.jit(lambda i: gnp.insert(M, i, 7.0, axis=0))
  for where in (1, np.array([2, 0, -1]), np.array([1, 1])):
    np.testing.assert_array_equal(insert(where), np.insert(M, where, 7.0, axis=0))
  with pytest.raises(IndexError, match="out of bounds"):
    gnp.insert(M, 9, 1.0, axis=0)
  with pytest.raises(ValueError, match="obj="):
    gnp.insert(M, 1, np.ones((2, 4)), axis=0)


def test_deleting(agree: Agree) -> None:
  for where in (1, -1, [0, 2], [1, 1], slice(0, 3, 2), slice(None, None, -1),
                np.array([True, False, True])):
    agree("delete", M, where, axis=0)
  agree("delete", M, [0, 3, 5])
  for where in (0, 1, -1):
    np.testing.assert_array_equal(
        gnomon.jit(lambda i: gnp.delete(M, i, axis=0))(where),
        np.delete(M, where, axis=0))
  unique = gnomon.jit(lambda i: gnp.delete(M, i, axis=1, assume_unique_indices=True))
  np.testing.assert_array_equal(unique(np.array([0, -1])), np.delete(M, [0, -1], axis=1))
  with pytest.raises(gnomon.errors.ConcretizationTypeError,
      match="assume_unique_indices"):
    gnomon.jit(lambda i: gnp.delete(M, i))(np.array([0, 1]))
  with pytest.raises(ValueError, match="mask"):
    gnp.delete(M, np.array([True]), axis=0)
  with pytest.raises(IndexError, match="float"):
    gnp.delete(M, np.array([0.5]), axis=0)
  for x in (np.array([0, 0, 1, 0, 2, 0.0]), np.zeros(3)):
    for trim in ("fb", "f", "b"):
      agree("trim_zeros", x, trim)
  assert gnp.trim_zeros(np.pad(M + 1, 2)).shape == (3, 4)
  with pytest.raises(gnomon.errors.ConcretizationTypeError, match="trim_zeros"):
    gnomon.jit(gnp.trim_zeros)(V)
