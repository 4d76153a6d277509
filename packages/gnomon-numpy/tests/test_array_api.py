"""The array API standard, version 2024.12: names, arguments, dtypes, special values.

Written from the text of the standard (data-apis.org/array-api); its own suite, which is
larger, runs by `nox -s array_api -- DIR`.
"""

from __future__ import annotations

import inspect
import math
from typing import Any

import numpy as np
import pytest

import gnomon
import gnomon.numpy as xp

FLOATS = (xp.float32, xp.float64)
COMPLEX = (xp.complex64, xp.complex128)
SIGNED = (xp.int8, xp.int16, xp.int32, xp.int64)
UNSIGNED = (xp.uint8, xp.uint16, xp.uint32, xp.uint64)
NUMERIC = (*SIGNED, *UNSIGNED, *FLOATS, *COMPLEX)


@pytest.fixture(autouse=True)
def _wide() -> Any:
  """The standard wants 64-bit dtypes."""
  with gnomon.enable_x64(True):
    yield


# ---- names and arguments

# By number of array arguments, which are positional; behind `*`, names of others.
SIGNATURES = """
1: abs acos acosh asin asinh atan atanh bitwise_invert ceil conj cos cosh exp expm1 floor
1: imag isfinite isinf isnan log log1p log2 log10 logical_not negative positive real
1: reciprocal round sign signbit sin sinh square sqrt tan tanh trunc
2: add atan2 bitwise_and bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor
2: copysign divide equal floor_divide greater greater_equal hypot less less_equal
2: logaddexp logical_and logical_or logical_xor maximum minimum multiply nextafter
2: not_equal pow remainder subtract
1: all any *axis keepdims
1: max min mean *axis keepdims
1: prod sum *axis dtype keepdims
1: std var *axis correction keepdims
1: cumulative_sum cumulative_prod *axis dtype include_initial
1: argmax argmin *axis keepdims
1: count_nonzero *axis keepdims
1: argsort sort *axis descending stable
1: nonzero unique_all unique_counts unique_inverse unique_values
2: searchsorted *side sorter
3: where
2: take take_along_axis *axis
1: concat stack unstack squeeze flip roll expand_dims *axis
1: broadcast_to reshape tile *
1: matrix_transpose
2: matmul
2: tensordot *axes
2: vecdot *axis
1: diff *axis n prepend append
1: clip *
1: astype *copy
1: permute_dims moveaxis repeat *
0: broadcast_arrays meshgrid can_cast result_type isdtype finfo iinfo from_dlpack asarray
0: arange empty eye full linspace ones zeros tril triu
1: empty_like ones_like zeros_like *dtype device
2: full_like *dtype device
"""


def _named() -> list[tuple[str, int, list[str]]]:
  found = []
  for line in SIGNATURES.strip().splitlines():
    count, _, rest = line.partition(":")
    names, _, keywords = rest.partition("*")
    found += [(name, int(count), keywords.split()) for name in names.split()]
  return found


@pytest.mark.parametrize(("name", "arrays", "keywords"), _named())
def test_functions(name: str, arrays: int, keywords: list[str]) -> None:
  function = getattr(xp, name)
  parameters = inspect.signature(
      function if inspect.isfunction(function) else function.__wrapped__
      if hasattr(function, "__wrapped__") else function).parameters
  positional = [p for p in parameters.values() if p.kind in (
      p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
  assert len(positional) >= arrays
  for keyword in keywords:
    assert parameters[keyword].kind in (
        inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


@pytest.mark.parametrize(("module", "names"), [
    ("linalg", """cholesky cross det diagonal eigh eigvalsh inv matmul matrix_norm
     matrix_power matrix_rank matrix_transpose outer pinv qr slogdet solve svd svdvals
     tensordot trace vecdot vector_norm"""),
    ("fft", """fft ifft fftn ifftn rfft irfft rfftn irfftn hfft ihfft fftfreq rfftfreq
     fftshift ifftshift""")])
def test_extensions(module: str, names: str) -> None:
  for name in names.split():
    assert callable(getattr(getattr(xp, module), name))


def test_constants() -> None:
  assert (xp.e, xp.pi, xp.inf, xp.newaxis) == (math.e, math.pi, math.inf, None)
  assert math.isnan(xp.nan)


# ---- what the namespace says of itself


def test_inspection() -> None:
  info = xp.__array_namespace_info__()
  # Masks and shapes that depend on values work outside of programs only.
  assert info.capabilities() == {
      "boolean indexing": False, "data-dependent shapes": False, "max dimensions": 64}
  assert set(info.default_dtypes()) == {
      "real floating", "complex floating", "integral", "indexing"}
  names = {"bool", *(np.dtype(t).name for t in NUMERIC)}
  assert set(info.dtypes()) == names
  assert set(info.dtypes(kind="unsigned integer")) == {
      np.dtype(t).name for t in UNSIGNED}
  assert info.default_device() is None or info.default_device() in info.devices()
  x = xp.zeros(2)
  assert x.__array_namespace__() is xp
  assert x.__array_namespace__(api_version="2024.12") is xp
  with pytest.raises(ValueError, match="2020"):
    x.__array_namespace__(api_version="2020.01")


def test_kinds_of_dtypes() -> None:
  kinds = {
      "bool": (xp.bool,), "signed integer": SIGNED, "unsigned integer": UNSIGNED,
      "integral": (*SIGNED, *UNSIGNED), "real floating": FLOATS,
      "complex floating": COMPLEX, "numeric": NUMERIC}
  for kind, members in kinds.items():
    for t in (xp.bool, *NUMERIC):
      assert xp.isdtype(t, kind) == (t in members), (t, kind)
  assert xp.isdtype(xp.int8, (xp.bool, "signed integer"))


# ---- promotion


def test_promotion_within_kinds() -> None:
  for family in (SIGNED, UNSIGNED, FLOATS, COMPLEX):
    for i, s in enumerate(family):
      for j, t in enumerate(family):
        assert xp.result_type(s, t) == family[max(i, j)]
  for i, s in enumerate(SIGNED):
    for j, t in enumerate(UNSIGNED[:3]):  # uint64 has no larger signed dtype
      assert xp.result_type(s, t) == SIGNED[max(i, j + 1)]
  for f, c in zip(FLOATS, COMPLEX):
    assert xp.result_type(f, c) == c
  assert xp.result_type(xp.float64, xp.complex64) == xp.complex128


@pytest.mark.parametrize("t", NUMERIC)
def test_python_numbers_take_the_arrays_dtype(t: Any) -> None:
  x = xp.ones(2, dtype=t)
  for other in (x + 1, 1 + x, x * 2, x - True):
    assert other.dtype == t
  if t in (*FLOATS, *COMPLEX):
    assert (x / 2).dtype == (x * 0.5).dtype == t
  else:
    assert (x & 1).dtype == (x // 1).dtype == t


def test_sums_are_not_narrower_than_the_default() -> None:
  for name in ("sum", "prod", "cumulative_sum"):
    for t in NUMERIC:
      got = getattr(xp, name)(xp.ones(3, dtype=t)).dtype
      want = xp.int64 if t in SIGNED else xp.uint64 if t in UNSIGNED else t
      assert got == want, (name, t)
    assert getattr(xp, name)(xp.ones(3, dtype=xp.int8), dtype=xp.int8).dtype == xp.int8


def test_conversions() -> None:
  assert xp.can_cast(xp.int8, xp.int16)
  assert not xp.can_cast(xp.float64, xp.float32)
  x = xp.asarray([1.9, -1.9])
  assert xp.astype(x, xp.int32).tolist() == [1, -1]
  assert xp.astype(xp.asarray([0.0, math.nan, 2]), xp.bool).tolist() == [
      False, True, True]
  assert xp.asarray([1, 2], dtype=xp.float32).dtype == xp.float32
  assert xp.asarray(3).dtype == xp.int64
  assert xp.from_dlpack(np.arange(3)).tolist() == [0, 1, 2]


# ---- special values

INF, NAN = math.inf, math.nan
CASES: list[tuple[str, tuple[float, ...], float]] = [
    ("abs", (-0.0,), 0.0), ("abs", (-INF,), INF), ("acos", (1.0,), 0.0),
    ("acos", (2.0,), NAN), ("acosh", (0.5,), NAN), ("acosh", (1.0,), 0.0),
    ("asin", (-0.0,), -0.0), ("asinh", (-INF,), -INF), ("atan", (INF,), math.pi / 2),
    ("atan2", (0.0, -0.0), math.pi), ("atan2", (-0.0, -1.0), -math.pi),
    ("atan2", (INF, -INF), 3 * math.pi / 4), ("atanh", (1.0,), INF),
    ("atanh", (2.0,), NAN), ("ceil", (-0.5,), -0.0), ("copysign", (INF, -0.0), -INF),
    ("cos", (INF,), NAN), ("cosh", (-INF,), INF), ("divide", (1.0, -0.0), -INF),
    ("divide", (0.0, 0.0), NAN), ("exp", (-INF,), 0.0), ("expm1", (-0.0,), -0.0),
    ("expm1", (-INF,), -1.0), ("floor", (-0.0,), -0.0), ("hypot", (INF, NAN), INF),
    ("hypot", (NAN, 1.0), NAN), ("log", (-0.0,), -INF), ("log", (-1.0,), NAN),
    ("log1p", (-1.0,), -INF), ("log1p", (-0.0,), -0.0), ("log2", (1.0,), 0.0),
    ("log10", (0.0,), -INF), ("logaddexp", (-INF, -INF), -INF),
    ("logaddexp", (NAN, 1.0), NAN), ("maximum", (NAN, 1.0), NAN),
    ("minimum", (1.0, NAN), NAN), ("nextafter", (0.0, 1.0), 5e-324),
    ("pow", (NAN, 0.0), 1.0), ("pow", (1.0, NAN), 1.0), ("pow", (-0.0, -3.0), -INF),
    ("pow", (0.0, -2.0), INF), ("pow", (-INF, 3.0), -INF), ("pow", (-2.0, 0.5), NAN),
    ("pow", (0.5, -INF), INF), ("reciprocal", (-0.0,), -INF), ("round", (2.5,), 2.0),
    ("round", (-0.5,), -0.0), ("sign", (NAN,), NAN), ("sin", (-0.0,), -0.0),
    ("sinh", (INF,), INF), ("sqrt", (-0.0,), -0.0), ("sqrt", (-1.0,), NAN),
    ("square", (-INF,), INF), ("tan", (INF,), NAN), ("tanh", (INF,), 1.0),
    ("tanh", (-0.0,), -0.0), ("trunc", (-0.5,), -0.0),
    # remainders have the divisor's sign, zeros too
    ("remainder", (-0.0, 2.0), 0.0), ("remainder", (0.0, -2.0), -0.0),
    ("remainder", (4.0, -2.0), -0.0), ("remainder", (5.0, -INF), -INF),
    ("remainder", (-5.0, INF), INF), ("remainder", (5.0, INF), 5.0),
    ("remainder", (INF, 2.0), NAN), ("remainder", (1.0, 0.0), NAN),
    ("floor_divide", (-0.0, 2.0), -0.0), ("floor_divide", (0.0, -2.0), -0.0),
    ("floor_divide", (1.0, 0.0), INF), ("floor_divide", (-1.0, 0.0), -INF),
    ("floor_divide", (INF, INF), NAN), ("floor_divide", (2.0, INF), 0.0)]


@pytest.mark.parametrize(("name", "args", "want"), CASES)
def test_special_values(name: str, args: tuple[float, ...], want: float) -> None:
  dtypes = (xp.float64,) if name == "nextafter" else FLOATS
  for t in dtypes:
    arrays = [xp.asarray(a, dtype=t) for a in args]
    for got in (getattr(xp, name)(*arrays), gnomon.jit(getattr(xp, name))(*arrays)):
      assert got.dtype == t
      np.testing.assert_allclose(got, want, rtol=1e-6)
      if want == 0:
        assert math.copysign(1, got) == math.copysign(1, want)


@pytest.mark.parametrize(("name", "empty"), [
    ("sum", 0.0), ("prod", 1.0), ("mean", NAN), ("var", NAN), ("all", True),
    ("any", False)])
def test_reductions_of_nothing(name: str, empty: Any) -> None:
  np.testing.assert_equal(np.asarray(getattr(xp, name)(xp.zeros((0,)))), empty)
  assert getattr(xp, name)(xp.zeros((2, 0, 3)), axis=(0, 1), keepdims=True).shape == (
      1, 1, 3)


@pytest.mark.parametrize("name", ["max", "min", "argmax", "argmin"])
def test_extremes_of_nothing(name: str) -> None:
  with pytest.raises(ValueError, match=name):
    getattr(xp, name)(xp.zeros((0,)))


# ---- arrays


def test_attributes() -> None:
  x = xp.reshape(xp.arange(6), (1, 2, 3))
  assert (x.shape, x.ndim, x.size, x.dtype) == ((1, 2, 3), 3, 6, xp.int64)
  assert x.mT.shape == (1, 3, 2)
  assert x[0].T.shape == (3, 2)
  assert x.to_device(x.device).tolist() == x.tolist()
  assert x.__dlpack_device__()[0] == 1
  for convert, value in ((bool, True), (int, 1), (float, 1.0), (complex, 1 + 0j)):
    assert convert(xp.asarray(value)) == value
  assert [10, 11, 12][xp.asarray(1)] == 11
  with pytest.raises(TypeError):
    [10, 11][xp.asarray(1.0)]


def test_indexing() -> None:
  x = xp.reshape(xp.arange(24), (2, 3, 4))
  host = np.arange(24).reshape(2, 3, 4)
  for index in (0, -1, slice(None, None, -1), (1, ..., 2), (slice(1), None, 1),
                (..., None), (), host % 2 == 0,
                (host[:, 0, 0] > 5,), (np.array([1, 0]), slice(0, 2))):
    np.testing.assert_array_equal(x[index], host[index])
  with pytest.raises(IndexError):
    x[0, 0, 0, 0]


def test_unique_results_are_named() -> None:
  found = xp.unique_all(xp.asarray([2, 1, 2]))
  assert found._fields == ("values", "indices", "inverse_indices", "counts")
  assert found.values.tolist() == [1, 2]
  assert found.counts.tolist() == [1, 2]
  assert xp.unique_values(xp.asarray([NAN, NAN])).size == 2  # nans are all different
  assert xp.linalg.slogdet(xp.eye(2))._fields == ("sign", "logabsdet")
  assert xp.linalg.eigh(xp.eye(2))._fields == ("eigenvalues", "eigenvectors")


def test_sorting_is_stable_and_goes_both_ways() -> None:
  x = xp.asarray([1, 0, 1, 0])
  assert xp.argsort(x, stable=True).tolist() == [1, 3, 0, 2]
  assert xp.argsort(x, descending=True, stable=True).tolist() == [0, 2, 1, 3]
  assert xp.searchsorted(xp.asarray([1, 3]), xp.asarray([1, 2])).tolist() == [0, 1]
