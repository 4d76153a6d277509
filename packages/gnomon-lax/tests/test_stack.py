"""`stack`, `unstack`, `select`, `broadcast_like`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gnomon import lax
from gnomon.testing import assert_close, check_grads, check_vmap_axes

X = np.arange(12, dtype=np.float32).reshape(3, 4)
I = X.astype(np.int32)  # noqa: E741


def test_values() -> None:
  for axis in (0, 1, 2, -1):
    got = lax.stack([X, X + 1], axis)
    assert_close(got, np.stack([X, X + 1], axis), check_dtypes=True)
    assert_close(lax.stack(lax.unstack(got, axis), axis), got)
  assert lax.stack([1.0, 2.0]).tolist() == [1.0, 2.0]
  assert lax.stack([1.0, 2.0]).aval.weak_type
  assert_close(lax.stack([X]), X[None])
  assert_close(lax.stack(X), X)
  assert [x.tolist() for x in lax.unstack(X, -1)] == X.T.tolist()
  assert lax.unstack(X[:0]) == ()
  assert_close(lax.select(X > 3, X, -X), np.where(X > 3, X, -X))
  for small in (X[0], X[:, :1], np.float32(1), I[0]):
    assert_close(lax.broadcast_like(small, X), np.broadcast_to(small, X.shape))
  assert lax.shape_as_value((2, 3)).tolist() == [2, 3]


def test_derivatives_and_vmap() -> None:
  check_grads(lambda x, y: lax.sin(lax.stack([x, y, x], 1)), (X / 12, X / 6), 2)
  check_grads(  # one slice is not used: its cotangent is a symbolic zero
      lambda x: lax.mul(*lax.unstack(lax.sin(x), 0)[:2]), (X / 12,), 2)
  check_grads(lambda x: lax.stack([x, X]), (X,), 1)
  for axis in (0, 1, 2):
    check_vmap_axes(
        lambda x, y, axis=axis: lax.stack([x, y], axis),
        [(X * i, X - i) for i in range(2)])
  for axis in (0, 1):
    check_vmap_axes(
        lambda x, axis=axis: lax.unstack(x, axis), [(X * i,) for i in range(2)])


ERRORS: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (lambda: lax.stack([]), ValueError, "at least one"),
    (lambda: lax.stack([X, X.T]), TypeError, "one shape"),
    (lambda: lax.stack([X, I]), TypeError, "one shape and dtype"),
    (lambda: lax.stack([X, X], 3), ValueError, "out of bounds"),
    (lambda: lax.unstack(X, 2), ValueError, "out of bounds"),
    (lambda: lax.unstack(1.0), ValueError, "out of bounds"),
    (lambda: lax.broadcast_like(X, X[0]), ValueError, "fewer dimensions"),
    (lambda: lax.broadcast_like(X[:, 0], X), TypeError, "must either be 1, or be"),
    (lambda: lax.select(X > 0, X, I), TypeError, "one shape and dtype"),
    (lambda: lax.select(X, X, X), TypeError, "bool"),
    (lambda: lax.shape_as_value((-1,)), TypeError, "not negative")]


@pytest.mark.parametrize(("call", "error", "words"), ERRORS)
def test_errors(call: Callable[[], Any], error: type[Exception], words: str) -> None:
  with pytest.raises(error, match=words):
    call()
