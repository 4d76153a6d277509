"""Bits: shifts beyond the width, counts, upper halves, reading as another dtype."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gnomon
from gnomon import lax
from gnomon.testing import check_vmap_axes

_INTS = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")


@pytest.mark.parametrize("dtype", _INTS)
def test_of_every_integer(dtype: str) -> None:
  info = np.iinfo(dtype)
  bits, signed = info.bits, info.min < 0
  values = [info.min, info.min + 1, 0, 1, 5, info.max // 3, info.max - 1, info.max]
  shifts = [0, 1, bits - 1, bits, bits + 1]
  with gnomon.enable_x64(True):
    x = np.array(values, dtype)
    grid, by = (a.ravel() for a in np.meshgrid(x, np.array(shifts, dtype)))

    def everything(x: Any, a: Any, by: Any) -> Any:
      return (
          lax.population_count(x), lax.clz(x), lax.bitwise_not(x), lax.mulhi(a, a),
          lax.shift_left(a, by), lax.shift_right_logical(a, by),
          lax.shift_right_arithmetic(a, by))

    got = [np.asarray(v).tolist() for v in gnomon.jit(everything)(x, grid, by)]
  assert all(len(g) in (len(x), len(grid)) for g in got)
  mask = (1 << bits) - 1

  def wrap(v: int) -> int:
    v &= mask
    return v - (1 << bits) if signed and v >> (bits - 1) else v

  pairs = list(zip(grid.tolist(), by.tolist(), strict=True))
  as_signed = [v - (1 << bits) if v > (mask >> 1) else v for v in grid.tolist()]
  assert got[0] == [wrap((v & mask).bit_count()) for v in values]
  assert got[1] == [bits - (v & mask).bit_length() for v in values]
  assert got[2] == [wrap(~v) for v in values]
  assert got[3] == [wrap((v * v) >> bits) for v in grid.tolist()]
  assert got[4] == [wrap(v << s) if s < bits else 0 for v, s in pairs]
  assert got[5] == [wrap((v & mask) >> s) if s < bits else 0 for v, s in pairs]
  assert got[6] == [
      wrap(v >> min(s, bits)) for v, (_, s) in zip(as_signed, pairs, strict=True)]


def test_of_bools() -> None:
  x, y = np.array([True, True, False, False]), np.array([True, False, True, False])
  np.testing.assert_array_equal(lax.bitwise_and(x, y), x & y)
  np.testing.assert_array_equal(lax.bitwise_or(x, y), x | y)
  np.testing.assert_array_equal(lax.bitwise_xor(x, y), x ^ y)
  np.testing.assert_array_equal(lax.bitwise_not(x), ~x)


@pytest.mark.parametrize(("dtype", "new"), [
    ("float32", "int32"), ("int32", "float32"), ("float32", "uint8"),
    ("int16", "float16"), ("uint16", "int8"), ("float32", "float32"),
    ("int32", "uint32"), ("uint32", "float16"),
])
def test_bitcast_reads_bits(dtype: str, new: str) -> None:
  x = np.arange(1, 13, dtype=dtype).reshape(2, 2, 3)
  expected = x.view(new)
  if expected.shape != x.shape:
    expected = expected.reshape(*x.shape, -1)
  out = lax.bitcast_convert_type(x, new)
  assert out.dtype == np.dtype(new)
  np.testing.assert_array_equal(out, expected)
  back = lax.bitcast_convert_type(out, dtype)
  assert back.shape == x.shape
  np.testing.assert_array_equal(back, x)
  check_vmap_axes(lambda x: lax.bitcast_convert_type(x, new), [(x,), (x + 1,)])
  check_vmap_axes(
      lambda y: lax.bitcast_convert_type(y, dtype), [(expected,), (expected[::-1],)])


def test_bitcast_of_itself_and_derivatives() -> None:
  z = np.array([1 + 2j], np.complex64)
  np.testing.assert_array_equal(lax.bitcast_convert_type(z, "complex64"), z)
  f = lambda x: lax.bitcast_convert_type(x, "float32")  # noqa: E731
  assert tuple(map(float, gnomon.jvp(f, (1.0,), (1.0,)))) == (1.0, 0.0)
  out, t = gnomon.jvp(lambda x: lax.bitcast_convert_type(x, "int32"), (1.0,), (1.0,))
  assert hex(int(out)) == "0x3f800000"
  assert t.dtype == gnomon.dtypes.float0
  low = lax.convert_element_type(np.float32(1), "bfloat16")
  assert int(lax.bitcast_convert_type(low, "uint16")) == 0x3F80


@pytest.mark.parametrize(("call", "error", "match"), [
    (lambda: lax.bitcast_convert_type(np.ones((2, 3), np.uint8), "int32"), ValueError,
     r"size 4, got the shape \(2, 3\)"),
    (lambda: lax.bitcast_convert_type(np.uint8(1), "int32"), ValueError, "size 4"),
    (lambda: lax.bitcast_convert_type(np.ones(2, bool), "uint8"), TypeError, "bool"),
    (lambda: lax.bitcast_convert_type(1.0, "complex64"), TypeError, "complex64"),
    (lambda: lax.population_count(True), TypeError, "does not accept dtype bool"),
    (lambda: lax.shift_left(1.0, 1.0), TypeError, "does not accept dtype float32"),
    (lambda: lax.shift_left(np.int32(1), np.int8(1)), TypeError, "the same dtypes"),
    (lambda: lax.bitwise_and(1.0, 1.0), TypeError, "does not accept dtype float32"),
])
def test_errors(call: Any, error: Any, match: str) -> None:
  with pytest.raises(error, match=match):
    call()
