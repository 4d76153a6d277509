"""Comparing trees of arrays."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from gnomon import dtypes
from gnomon.testing import assert_close, gradient_tolerance, value_tolerance


def test_the_least_precise_array_decides() -> None:
  double, single, half = np.float64(1), np.float32(1), ml_dtypes.bfloat16(1)
  assert value_tolerance(double, single) == value_tolerance(single)
  assert value_tolerance(half, double) > value_tolerance(single)
  assert gradient_tolerance(double, np.int32(3)) == gradient_tolerance(double)
  assert value_tolerance(np.int32(1)) == 0
  with pytest.raises(ValueError, match="float8_e3m4"):
    value_tolerance(ml_dtypes.float8_e3m4(1))


def test_equal_trees() -> None:
  x = {"a": np.float32([1, np.nan, np.inf]), "b": (2, True, None)}
  assert_close(x, x, check_dtypes=True)
  assert_close(np.ones(3, ml_dtypes.bfloat16), np.ones(3), rtol=0, atol=0)
  assert_close(np.zeros(2, dtypes.float0), np.zeros(2, dtypes.float0))
  assert_close(np.empty((0, 3)), np.empty((0, 3)))


def test_differences_are_located() -> None:
  one = {"a": [np.arange(6.0).reshape(2, 3)]}
  other = {"a": [np.float64([[0, 1, 2], [3, 7, 6]])]}
  with pytest.raises(AssertionError, match=(
      r"speed\['a'\]\[0\]: 2 of 6 elements differ, most of all 4.0 from 7.0 "
      r"\(expected\) at \(1, 1\); the error is 3")):
    assert_close(one, other, message="speed")


def test_not_a_number_differs_from_numbers() -> None:
  with pytest.raises(AssertionError, match="1 of 1 elements differ, most of all nan"):
    assert_close(np.nan, 1.0)
  with pytest.raises(AssertionError, match="inf"):
    assert_close(np.inf, -np.inf)


def test_integers_are_compared_exactly() -> None:
  with pytest.raises(AssertionError, match="1000000001 from 1000000000"):
    assert_close(np.int32(1000000001), np.int32(1000000000))


def test_structures_shapes_and_dtypes() -> None:
  with pytest.raises(AssertionError, match="the structure is"):
    assert_close([1.0], (1.0,))
  with pytest.raises(AssertionError, match=r"shape is \(1,\), but should be \(\)"):
    assert_close(np.ones(1), np.ones(()))
  assert_close(np.float32(1), np.float64(1))
  with pytest.raises(AssertionError, match="dtype is float32, but should be float64"):
    assert_close(np.float32(1), np.float64(1), check_dtypes=True)
