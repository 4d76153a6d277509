"""Dtypes: the promotion tables, families, canonical forms, names."""

from __future__ import annotations

import itertools
import json
import math
import pathlib
from collections.abc import Iterator
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from gnomon import _config, dtypes
from gnomon.core import dtypes as core

# Recorded from JAX 0.10.2: the tables are a public contract.
RECORDED = json.loads(
    (pathlib.Path(__file__).parent / "data" / "dtypes.json").read_text())
WEAK: dict[str, Any] = {"i*": 1, "f*": 1.0, "c*": 1j}
NAMES: list[str] = [n for n in RECORDED["nodes"] if n not in WEAK]
x64 = _config.enable_x64
promotion = _config.numpy_dtype_promotion


class KeyType(core.ExtendedDType):
  """A stand-in for the dtype of random keys."""

  name = "key<fry>"
  type = dtypes.prng_key
  physical_shape = (2,)
  physical_dtype = np.dtype(np.uint32)


KEY = KeyType()


class Typed:
  """Something with the type of an array."""

  def __init__(self, dtype: Any, weak_type: bool = False) -> None:
    self.dtype, self.weak_type = dtype, weak_type


def named(name: str) -> Any:
  if name in WEAK:
    return WEAK[name]
  if name == "float0":
    return dtypes.float0
  if name == "key":
    return KEY
  return np.dtype(getattr(ml_dtypes, name, None) or name)


@pytest.fixture(params=[False, True], ids=["x32", "x64"])
def wide(request: pytest.FixtureRequest) -> Iterator[bool]:
  with x64(request.param):
    yield request.param


# ---- promotion ---------------------------------------------------------------------

def outcome(*args: Any) -> str:
  try:
    found, weak = dtypes.result_type(*args, return_weak_type_flag=True)
  except dtypes.TypePromotionError:
    return "!"
  return f"{found.name}{'*' if weak else ''}"


@pytest.mark.parametrize("mode", ["standard", "strict"])
@pytest.mark.filterwarnings("ignore:Explicitly requested")
def test_promotion_equals_the_recorded_table(wide: bool, mode: str) -> None:
  table = RECORDED["promotion"][f"x{64 if wide else 32} {mode}"]
  nodes = RECORDED["nodes"]
  with promotion(mode):
    for a, row in zip(nodes, table, strict=True):
      assert [outcome(named(a), named(b)) for b in nodes] == row.split(), a


@pytest.mark.parametrize("mode", ["standard", "strict"])
@pytest.mark.filterwarnings("ignore:Explicitly requested")
def test_typed_values_promote_as_dtypes_and_numbers_do(wide: bool, mode: str) -> None:
  values: dict[str, Any] = {
      n: Typed(dtypes.canonicalize_dtype(named(n))) for n in NAMES}
  defaults = core.python_scalar_dtypes()
  values |= {n: Typed(defaults[type(v)], True) for n, v in WEAK.items()}
  with promotion(mode):
    for a, b in itertools.product(RECORDED["nodes"], repeat=2):
      assert outcome(values[a], values[b]) == outcome(named(a), named(b)), (a, b)


@pytest.mark.parametrize("mode", ["standard", "strict"])
def test_join_is_commutative_and_idempotent(wide: bool, mode: str) -> None:
  nodes = [Typed(named(n)) for n in NAMES] + [1, 1.0, 1j]
  with promotion(mode):
    for a in nodes:
      alone = outcome(a)
      assert outcome(a, a) == alone
      for b in nodes:
        assert outcome(a, b) == outcome(b, a)


@pytest.mark.parametrize("mode", ["standard", "strict"])
def test_join_is_associative(mode: str) -> None:
  nodes = [np.dtype(n) for n in NAMES if n != "int1"] + [int, float, complex]

  def join(*args: Any) -> Any:
    return outcome(*(Typed(a) if isinstance(a, np.dtype) else a for a in args))

  def back(text: str) -> Any:
    weak = {"int64*": 1, "float64*": 1.0, "complex128*": 1j}
    return weak[text] if text in weak else np.dtype(named(text))

  with x64(True), promotion(mode):
    pairs = {(a, b): join(a, b) for a in nodes for b in nodes}
    for a, b, c in itertools.combinations(nodes, 3):
      left, right = pairs[a, b], pairs[b, c]
      if "!" not in (left, right):
        assert join(back(left), c) == join(a, back(right)) == join(a, b, c), (a, b, c)


def test_promotion_never_loses_range() -> None:
  """The promoted type of two integer or two real types holds all values of both."""
  reals = [named(n) for n in NAMES if core.isdtype(named(n), "integral")]
  with x64(True):
    for a, b in itertools.product(reals, repeat=2):
      text = outcome(Typed(a), Typed(b))
      if text in ("!", "float64*"):  # 64 bits of both signs: no integer holds them
        continue
      both = dtypes.iinfo(named(text))
      for one in (a, b):
        assert both.min <= dtypes.iinfo(one).min
        assert dtypes.iinfo(one).max <= both.max


def test_promote_types_does_not_truncate() -> None:
  assert core.promote_types(np.float64, np.int8) == np.float64
  assert core.promote_types(int, np.int8) == np.int8
  assert core.promote_types(int, float) == np.float64
  assert core.promote_types("int", float) == np.float64


def test_more_than_two_arguments_and_none() -> None:
  assert dtypes.result_type(np.int8, np.uint8, 1.0, np.float16) == np.float16
  assert dtypes.result_type(None) == np.float32
  assert dtypes.result_type(np.array([1.0]), np.float16) == np.float32
  assert dtypes.result_type(True, 1, return_weak_type_flag=True) == (np.int32, True)
  assert dtypes.result_type(True, return_weak_type_flag=True) == (bool, False)


@pytest.mark.parametrize("dtype", [KEY, dtypes.float0])
def test_only_equal_extended_types_combine(dtype: Any) -> None:
  assert dtypes.result_type(Typed(dtype), Typed(dtype)) == dtype
  with pytest.raises(ValueError, match="combine only with values of the same dtype"):
    dtypes.result_type(Typed(dtype), np.float32)


def test_promotion_errors_say_what_to_do() -> None:
  with pytest.raises(dtypes.TypePromotionError, match=r"float8_e5m2, .*x\.astype"):
    dtypes.result_type(dtypes.bfloat16, core.float8_e5m2)
  with promotion("strict"), pytest.raises(dtypes.TypePromotionError, match="strict"):
    dtypes.result_type(np.int32, 1.0)
  with pytest.raises(ValueError, match="at least one"):
    dtypes.result_type()


# ---- one dtype ---------------------------------------------------------------------

UNARY = {
    "canonicalize": dtypes.canonicalize_dtype, "inexact": core.to_inexact_dtype,
    "numeric": core.to_numeric_dtype, "complex": core.to_complex_dtype,
    "floating": core.to_floating_dtype, "short": core.short_dtype_name,
    "bits": dtypes.itemsize_bits, "scalar": dtypes.scalar_type_of}


@pytest.mark.parametrize("what", UNARY)
@pytest.mark.filterwarnings("ignore:Explicitly requested")
def test_functions_of_one_dtype_equal_the_recorded(wide: bool, what: str) -> None:
  for name, expected in zip(
      NAMES, RECORDED[f"unary x{64 if wide else 32}"][what], strict=True):
    if what in ("inexact", "floating") and name in ("int1", "int2", "uint1", "uint2"):
      expected = "float32"  # JAX forgets these integers here
    found = UNARY[what](named(name))
    text = found.name if isinstance(found, np.dtype) else (
        found.__name__ if isinstance(found, type) else found)
    assert text == expected, name


def test_sizes_and_names_of_the_rest() -> None:
  assert core.short_dtype_name(KEY) == "key<fry>"
  assert core.short_dtype_name(dtypes.float0) == "float0"
  assert KEY.itemsize == 8
  assert repr(KEY) == "key<fry>"
  assert dtypes.float0.itemsize == 0
  assert np.dtype([("float0", np.void, 0)]) == dtypes.float0
  for other in (KEY, dtypes.float0):
    with pytest.raises(ValueError, match="no size in bits"):
      dtypes.itemsize_bits(other)
    with pytest.raises(TypeError, match="no Python scalar type"):
      dtypes.scalar_type_of(Typed(other))


def test_infinities() -> None:
  """Against the arithmetic of ml_dtypes: does the largest value overflow to infinity?"""
  for name in NAMES:
    dtype = named(name)
    if not core.issubdtype(dtype, np.inexact):
      assert not core.supports_inf(dtype)
      continue
    with np.errstate(all="ignore"):
      overflown = np.array(math.inf).astype(dtype).astype(complex).real
    assert core.supports_inf(dtype) == bool(np.isposinf(overflown)), name


@pytest.mark.parametrize("name", list(RECORDED["issubdtype"]))
def test_issubdtype_of_dtypes(name: str) -> None:
  for other, expected in zip(
      RECORDED["abstract"], RECORDED["issubdtype"][name], strict=True):
    assert dtypes.issubdtype(named(name), abstract(other)) == bool(expected), other


@pytest.mark.parametrize("name", RECORDED["abstract"])
def test_issubdtype_of_abstract_types(name: str) -> None:
  for other, expected in zip(
      RECORDED["abstract"], RECORDED["issubdtype of abstract"][name], strict=True):
    assert dtypes.issubdtype(abstract(name), abstract(other)) == expected, other


def abstract(name: str) -> Any:
  if name in ("extended", "prng_key"):
    return getattr(dtypes, name)
  if name in ("float", "int", "complex", "bool"):
    return {"float": float, "int": int, "complex": complex, "bool": bool}[name]
  if name.startswith("str:"):
    return name[4:]
  return getattr(ml_dtypes, name, None) or getattr(np, name)


def test_extended_dtypes_are_below_themselves() -> None:
  assert dtypes.issubdtype(KEY, KEY)
  assert not dtypes.issubdtype("float32", KEY)
  assert dtypes.issubdtype(KEY, dtypes.extended)


@pytest.mark.parametrize("name", NAMES)
def test_isdtype(name: str) -> None:
  for kind, expected in zip(
      RECORDED["isdtype kinds"], RECORDED["isdtype"][name], strict=True):
    assert core.isdtype(named(name), kind) == bool(expected), kind
  assert core.isdtype(named(name), ("bool", named(name)))
  with pytest.raises(ValueError, match="Unknown kind 'real'"):
    core.isdtype(named(name), "real")


@pytest.mark.parametrize("name", list(RECORDED["finfo"]))
def test_finfo(name: str) -> None:
  info = dtypes.finfo(named(name))
  for field, expected in RECORDED["finfo"][name].items():
    found = getattr(info, field)
    assert str(found) == expected if field == "dtype" else float(found) == expected
  one, eps = np.array(1, named(name)), np.array(info.eps, named(name))
  assert (one + eps).astype(complex) != 1
  smallest = np.array(info.smallest_subnormal, info.dtype)
  below = (smallest / np.array(4, info.dtype)).astype(float)
  assert below == (smallest.astype(float) if name == "float8_e8m0fnu" else 0)  # no zero


@pytest.mark.parametrize("name", list(RECORDED["iinfo"]))
def test_iinfo(name: str) -> None:
  info = dtypes.iinfo(named(name))
  assert [info.min, info.max, info.bits] == RECORDED["iinfo"][name]
  signed = core.isdtype(named(name), "signed integer")
  assert info.max == 2 ** (info.bits - signed) - 1


# ---- dtypes of values --------------------------------------------------------------

@pytest.mark.parametrize(("value", "expected"), [
    (True, "bool"), (1, "int32"), (1.0, "float32"), (1j, "complex64"),
    (2**40, "int32"), (int, "int32"), (np.int16, "int16"), ("u1", "uint8"),
    (np.float64(1), "float32"), (np.arange(2), "int32"), (np.dtype("f2"), "float16"),
    (dtypes.bfloat16, "bfloat16"), (Typed(np.dtype("float64")), "float64"),
])
def test_dtype_of_values(value: Any, expected: str) -> None:
  assert core.dtype(value).name == expected


def test_dtype_of_extended() -> None:
  assert core.dtype(KEY) is KEY
  assert core.dtype(Typed(KEY)) is KEY
  assert core.dtype(dtypes.float0) == dtypes.float0


@pytest.mark.parametrize("value", [
    object(), [1, 2], "foo", object, str, np.array(["a"]), np.dtype([("a", "i4")]),
    np.dtype(">f4")])
def test_what_has_no_dtype_is_refused(value: Any) -> None:
  with pytest.raises(TypeError):
    core.dtype(value)
  with pytest.raises(ValueError, match="None has no dtype"):
    core.dtype(None)


def test_scalar_type_of_values() -> None:
  assert [dtypes.scalar_type_of(x) for x in (True, 1, 1.0, 1j)] == [
      bool, int, float, complex]
  assert dtypes.scalar_type_of(np.ones(2, np.int8)) is int


def test_weakly_typed() -> None:
  assert [core.is_weakly_typed(x) for x in (True, 1, 1.0, 1j, np.float32(1), int)] == [
      False, True, True, True, False, False]
  assert core.is_weakly_typed(Typed(np.dtype("f4"), True))
  assert core.is_python_scalar(1)
  assert not core.is_python_scalar(np.float64(1))


# ---- canonical dtypes and what users ask for ---------------------------------------

def test_canonicalize_follows_the_option() -> None:
  assert dtypes.canonicalize_dtype(np.int64) == np.int32
  with x64(True):
    assert dtypes.canonicalize_dtype(np.int64) == np.int64
    assert core.default_float_dtype() == np.float64
    assert core.default_uint_dtype() == np.uint64
  assert core.default_int_dtype() == np.int32
  assert core.default_complex_dtype() == np.complex64
  assert dtypes.canonicalize_dtype([("a", "i4")]) == np.dtype([("a", "i4")])
  assert dtypes.canonicalize_dtype(None) == np.float32


def test_canonicalize_of_extended_dtypes_must_be_allowed() -> None:
  assert dtypes.canonicalize_dtype(KEY, allow_extended_dtype=True) is KEY
  with pytest.raises(ValueError, match="allow_extended_dtype=True"):
    dtypes.canonicalize_dtype(KEY)
  with pytest.raises(TypeError):
    dtypes.canonicalize_dtype("foo")


def test_asking_for_64_bits_warns_at_the_users_line() -> None:
  def zeros(dtype: Any) -> Any:
    return core.check_user_dtype_supported(dtype, "zeros")

  with pytest.warns(UserWarning, match="float64 requested in zeros") as caught:
    assert zeros("float64") == np.float32
  assert caught[0].filename == __file__
  assert zeros(float) == np.float32  # not asked for explicitly: no warning
  with x64(True):
    assert zeros("float64") == np.float64


@pytest.mark.parametrize("mode", ["ERROR", "ALLOW"])
def test_asking_for_64_bits_may_be_refused_or_granted(mode: str) -> None:
  with _config.manager("explicit_x64_dtypes")(mode):
    if mode == "ERROR":
      with pytest.raises(ValueError, match="GNOMON_ENABLE_X64"):
        core.check_user_dtype_supported(np.int64)
    else:
      assert core.check_user_dtype_supported(np.int64) == np.int64
      assert dtypes.result_type(np.float64, np.float32) == np.float64


@pytest.mark.parametrize("dtype", [object, str, "U3", ">f4", np.longdouble, "M8[s]"])
def test_unsupported_dtypes_are_refused(dtype: Any) -> None:
  with pytest.raises(TypeError, match=r"number, bool, .*, got .* in zeros"):
    core.check_user_dtype_supported(dtype, "zeros")
  with pytest.raises(TypeError):
    core.check_valid_dtype(np.dtype(dtype))


def test_user_dtypes_that_pass() -> None:
  assert core.check_user_dtype_supported(KEY) is KEY
  assert core.check_user_dtype_supported(dtypes.float0) == dtypes.float0
  core.check_valid_dtype(np.dtype(dtypes.bfloat16))
  with pytest.raises(ValueError, match="got None"):
    core.check_user_dtype_supported(None)
  with pytest.raises(ValueError, match=r"x\.dtype"):
    core.check_user_dtype_supported(np.ones(2))
