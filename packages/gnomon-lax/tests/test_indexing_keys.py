"""Slices, gathers and scatters of keys: elements of several words, a stand-in dtype."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gnomon
from gnomon import lax
from gnomon.core import dtypes
from gnomon.core.types import ShapedArray, WrappedArray, typeof_handlers
from gnomon.runtime.compile import result_wrappers
from gnomon.testing import assert_close


class PairType(dtypes.ExtendedDType):
  """A dtype whose elements are pairs of words."""

  name = "pair"
  kind = "V"
  type = dtypes.extended
  physical_shape = (2,)
  physical_dtype = np.dtype(np.uint32)

  def __eq__(self, other: object) -> bool:
    return type(other) is PairType

  def __hash__(self) -> int:
    return 1


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

WORDS = np.arange(24, dtype=np.uint32).reshape(3, 4, 2)
KEYS = Pairs(gnomon.device_put(WORDS))


def check(got: Any, expected: Any) -> None:
  """Compares words, and the types beside them."""
  assert isinstance(got, Pairs)
  assert got.aval == ShapedArray(expected.shape[:-1], PairType())
  assert_close(got.physical, expected, check_dtypes=True)


def test_slices() -> None:
  check(lax.slice(KEYS, (0, 1), (3, 4), (2, 1)), WORDS[::2, 1:])
  check(lax.index_in_dim(KEYS, -1, 1, keepdims=False), WORDS[:, -1])
  check(gnomon.vmap(lambda k: lax.slice(k, (1,), (3,)), 1, 1)(KEYS), WORDS[1:3])


def test_dynamic_slices() -> None:
  i = np.int32(2)
  check(lax.dynamic_slice(KEYS, (i, i), (1, 2)), WORDS[2:, 2:])
  check(lax.dynamic_index_in_dim(KEYS, i, 1, keepdims=False), WORDS[:, 2])
  expected = WORDS.copy()
  expected[2:, 2:3] = WORDS[:1, :1]
  check(lax.dynamic_update_slice(KEYS, lax.slice(KEYS, (0, 0), (1, 1)), (i, i)), expected)
  rows = gnomon.vmap(lambda k, i: lax.dynamic_index_in_dim(k, i, 0, keepdims=False))
  check(rows(KEYS, np.int32([3, 0, 1])), WORDS[[0, 1, 2], [3, 0, 1]])
  update = gnomon.vmap(lambda k, u, i: lax.dynamic_update_slice(k, u, (i,)))
  expected = WORDS.copy()
  expected[[0, 1, 2], [3, 0, 1]] = WORDS[:, 1]
  check(update(KEYS, lax.slice(KEYS, (0, 1), (3, 2)), np.int32([3, 0, 1])), expected)


ROWS = lax.GatherDimensionNumbers((1,), (0,), (0,))


def test_gathers() -> None:
  indices = np.int32([[2], [0], [7]])
  expected = WORDS[[2, 0, 2]]
  check(lax.gather(KEYS, indices, ROWS, (1, 4), mode="clip"), expected)
  for fill, word in ((None, 2**32 - 1), (5, 5)):
    expected = WORDS[[2, 0, 2]]
    expected[2] = word
    check(lax.gather(KEYS, indices, ROWS, (1, 4), mode="fill", fill_value=fill), expected)
  column = lax.GatherDimensionNumbers((), (0,), (0,))
  got = gnomon.vmap(lambda k, i: lax.gather(k, i, column, (1,), mode="clip"), (1, 0))(
      KEYS, np.int32([[[0]], [[1]], [[2]], [[0]]]))
  check(got, WORDS[[0, 1, 2, 0], [0, 1, 2, 3]][:, None])


@pytest.mark.parametrize("mode", ["clip", "drop"])
def test_scatters(mode: str) -> None:
  indices = np.int32([[2], [9]])
  update = lax.slice(KEYS, (0, 0), (2, 4))
  expected = WORDS.copy()
  expected[2] = WORDS[1] if mode == "clip" else WORDS[0]
  got = lax.scatter(
      KEYS, indices, update, lax.ScatterDimensionNumbers(*ROWS), mode=mode)
  check(got, expected)


def test_keys_have_no_arithmetic() -> None:
  indices = np.int32([[2]])
  update = lax.slice(KEYS, (0, 0), (1, 4))
  with pytest.raises(TypeError, match="pair"):
    lax.scatter_add(KEYS, indices, update, lax.ScatterDimensionNumbers(*ROWS))
  with pytest.raises(TypeError, match="numbers or bools"):
    lax.scatter_apply(KEYS, indices, lambda k: k, lax.ScatterDimensionNumbers(*ROWS),
                      update_shape=(1, 4))
