"""Scalar types, constants, and functions of dtypes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import gnomon
import gnomon.numpy as gnp

NAMES = [
    "bool_", "int2", "int4", "int8", "int16", "int32", "int64", "uint2", "uint4",
    "uint8", "uint16", "uint32", "uint64", "float8_e3m4", "float8_e4m3",
    "float8_e4m3b11fnuz", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2",
    "float8_e5m2fnuz", "float8_e8m0fnu", "float4_e2m1fn", "bfloat16", "float16",
    "float32", "float64", "complex64", "complex128"]


@pytest.mark.parametrize("name", NAMES)
def test_scalar_types(name: str) -> None:
  scalar = getattr(gnp, name)
  dtype = np.dtype(scalar)
  assert scalar.dtype == dtype
  assert scalar == dtype.type
  assert dtype.type == scalar
  assert scalar == dtype
  assert hash(scalar) == hash(dtype.type)
  assert scalar != "text"
  assert isinstance(dtype.type(1), scalar)
  assert not isinstance("1", scalar)
  if name in ("int64", "uint64", "float64", "complex128"):
    with pytest.warns(UserWarning, match=f"Explicitly requested dtype {name}"):
      x = scalar(1)
  else:
    x = scalar(1)
  with gnomon.enable_x64(True):
    assert scalar([1, 1]).dtype == gnp.zeros(2, scalar).dtype == dtype
  assert x.shape == ()
  assert x.dtype == gnomon.dtypes.canonicalize_dtype(dtype)
  assert {dtype.type: 1}[scalar] == 1


def test_values() -> None:
  assert gnp.int32(2.7).item() == 2
  assert not gnp.float32(2).weak_type
  assert math.isnan(gnp.float32("nan").item())
  assert gnp.complex64(1 + 2j).item() == 1 + 2j
  assert gnp.bool_(2).item() is True
  with pytest.raises(OverflowError, match="int8"):
    gnp.int8(300)
  assert gnomon.jit(gnp.int8)(2.5).dtype == np.int8
  assert str(gnp.float32) == "<class 'gnomon.numpy.float32'>"


def test_names_for_the_same() -> None:
  for a, b in (
      ("bool", "bool_"), ("int_", "int64"), ("uint", "uint64"), ("float_", "float64"),
      ("complex_", "complex128"), ("single", "float32"), ("double", "float64"),
      ("csingle", "complex64"), ("cdouble", "complex128")):
    assert getattr(gnp, a) is getattr(gnp, b)
  for name in [
      "generic", "number", "integer", "signedinteger", "unsignedinteger", "inexact",
      "floating", "complexfloating", "flexible", "character", "object_", "dtype"]:
    assert getattr(gnp, name) is getattr(np, name)
  assert gnp.ndarray is gnomon.Array
  assert isinstance(gnp.ones(2), gnp.ndarray)


def test_constants() -> None:
  for name in ("e", "pi", "euler_gamma", "inf"):
    assert getattr(gnp, name) == getattr(np, name)
    assert type(getattr(gnp, name)) is float
  assert math.isnan(gnp.nan)
  assert gnp.newaxis is None


def test_functions_of_dtypes() -> None:
  assert gnp.finfo(gnp.bfloat16).bits == 16
  assert gnp.finfo("float32").eps == 2.0 ** -23
  assert gnp.iinfo("int4").max == 7
  assert gnp.issubdtype(gnp.bfloat16, gnp.floating)
  assert not gnp.issubdtype(gnp.int4, gnp.inexact)
  assert gnp.isdtype(gnp.int8, ("integral", "bool"))
  assert gnp.promote_types("int8", "uint8") == np.int16
  assert gnp.promote_types("int32", float) == np.float32 or gnp.promote_types(
      "int32", float) == np.float64
  assert gnp.result_type(gnp.ones(2, "int8"), 1.5) == np.float32
  assert gnp.result_type(1, 2) == np.int32
  with pytest.raises(ValueError, match="at least one"):
    gnp.result_type()
  with pytest.raises(ValueError, match="kind"):
    gnp.isdtype(gnp.int8, "text")


@pytest.mark.parametrize(("args", "want"), [
    (("int8", "float32"), True), (("float32", "int8"), False),
    ((gnp.bfloat16, "float32"), True), (("float32", gnp.bfloat16), False),
    ((np.float32(1), "float16"), False), (("float32", "float16", "same_kind"), True)])
def test_can_cast(args: tuple[Any, ...], want: bool) -> None:
  assert gnp.can_cast(*args) is want


def test_can_cast_errors() -> None:
  assert gnp.can_cast(gnp.ones(2), "float64")
  with pytest.raises(TypeError, match="Python numbers"):
    gnp.can_cast(3, "int8")
