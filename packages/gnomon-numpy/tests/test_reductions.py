"""Sums, extremes, means, variances, cumulated sums: NumPy's values for all kinds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gnomon
import gnomon.numpy as gnp

Agree = Callable[..., Any]
X = ((np.arange(24) - 7).reshape(2, 3, 4) * np.float32(0.5)).astype(np.float32)
N = X.copy()
N[0, 1, 2] = N[1, 0, 0] = np.nan
N[:, 2, 3] = np.nan
I = (2 * X).astype(np.int32)  # noqa: E741 -- integers
MASK = I > 3
SAMPLES = {
    "float": X, "nan": N, "int": I, "bool": MASK, "complex": X + 1j * X[::-1],
    "half": X.astype(np.float16), "empty": np.zeros((0, 3), np.float32),
    "scalar": X[0, 0, 0]}
PLAIN = ["sum", "prod", "max", "min", "any", "all", "mean", "std", "var", "ptp",
    "average",
         "count_nonzero"]
OF_NUMBERS = ["nansum", "nanprod", "nanmax", "nanmin", "nanmean", "nanstd", "nanvar"]


def tolerance(x: Any) -> dict[str, float]:
  return dict.fromkeys(("rtol", "atol"), 2e-3 if x.dtype == np.float16 else 3e-5)


@pytest.mark.parametrize("name", PLAIN + OF_NUMBERS)
def test_values(name: str, agree: Agree) -> None:
  for kind, x in SAMPLES.items():
    if name == "ptp" and kind == "bool":
      continue
    axes: tuple[Any, ...] = (None, -1, (0, 1))
    if kind == "scalar":
      axes = (None, ())
    elif kind == "empty":
      axes = (1,) if name in ("max", "min", "ptp", "nanmax", "nanmin", "average") else (
          None, 0)
    for axis in axes:
      if name == "average" and kind == "empty":
        continue
      agree(name, x, axis=axis, **tolerance(x))
    agree(name, x, axis=axes[-1], keepdims=True, **tolerance(x)) if not (
        name == "average" and kind == "empty") else None


@pytest.mark.parametrize("name", PLAIN + OF_NUMBERS)
def test_masks(name: str, agree: Agree) -> None:
  if name in ("ptp", "average", "count_nonzero"):
    return
  means = name.removeprefix("nan") in ("mean", "std", "var", "any", "all")
  more = {} if means else {"initial": 2}
  for x in (X, N):
    for where in (MASK, MASK[1], np.array([[True], [False], [True]])):
      agree(name, x, axis=1, where=where, **more)
  if not means:
    agree(name, X, initial=2, keepdims=True)


def test_arguments(agree: Agree) -> None:
  for ddof in (0, 1, 1.5):
    agree("var", X, 0, ddof=ddof)
    agree("std", X, None, ddof=ddof)
    agree("nanvar", N, 0, ddof=ddof)
  agree("var", X, 0, correction=1)
  agree("var", X, 1, mean=X.mean(1, keepdims=True))
  agree("std", X, 1, mean=X.mean(1, keepdims=True), where=MASK)
  agree("sum", I, 0, dtype=np.float32)
  assert gnp.sum(I, [0, 1]).shape == (4,)
  agree("sum", I, np.int64(1))
  for name in ("sum", "prod", "cumsum", "cumprod"):
    agree(name, I, 0, dtype=bool)
  agree("average", X, 1, weights=np.array([1, 2, 3]), returned=True, keepdims=True)
  agree("average", X, weights=MASK + 1)
  agree("average", X, (1, 0), weights=X[:, :, 0].T)
  assert np.isnan(gnp.var(np.arange(2.0), ddof=3))
  assert gnp.sum(gnp.arange(3), axis=gnp.array(0)).item() == 3
  # the sum of many halves does not lose small ones
  many = np.full(5000, 0.1, np.float16)
  np.testing.assert_allclose(gnp.mean(many), 0.1, rtol=1e-3)


def test_special_values() -> None:
  x = np.array([np.inf, -np.inf, 1.0, -0.0, 0.0], np.float32)
  assert np.isnan(gnp.sum(x))
  assert gnp.max(x) == np.inf
  assert gnp.min(x) == -np.inf
  assert gnp.max(np.array([-2**31, -5], np.int32)) == -5
  assert np.isnan(gnp.max(np.array([np.nan, 1.0, np.inf])))
  assert gnp.nanmax(np.array([np.nan, -np.inf])) == -np.inf
  assert np.isnan(gnp.nanmax(np.array([np.nan, np.nan])))
  assert gnp.any(np.array([np.nan]))
  assert gnp.sum(np.array([2**31 - 1, 1], np.int32)) == -2**31


@pytest.mark.parametrize("name", [
    "cumsum", "cumprod", "nancumsum", "nancumprod", "cumulative_sum", "cumulative_prod"])
def test_cumulative(name: str, agree: Agree) -> None:
  standard = name.startswith("cumulative")
  for kind in ("float", "nan", "int", "bool", "complex", "empty"):
    x = SAMPLES[kind]
    for axis in (0, -1) if standard else (None, 0, -1):
      agree(name, x, axis=axis, rtol=1e-4)
  if standard:
    agree(name, X, axis=1, include_initial=True)
    agree(name, X[0, 0])
    with pytest.raises(ValueError, match="the argument axis"):
      getattr(gnp, name)(X)
    with pytest.raises(ValueError, match="scalar"):
      getattr(gnp, name)(3)


def test_errors() -> None:
  for call, error, message in (
      (lambda: gnp.sum([1, 2]), TypeError, "list"),
      (lambda: gnp.sum(X, axis=5), ValueError, "out of bounds"),
      (lambda: gnp.sum(X, axis=(0, 0)), ValueError, "duplicate"),
      (lambda: gnp.sum(X, axis=1.0), TypeError, "float"),
      (lambda: gnp.sum(X, out=X), NotImplementedError, "'out'"),
      (lambda: gnp.cumsum(X, out=X), NotImplementedError, "'out'"),
      (lambda: gnp.sum(X, where=1), ValueError, "boolean"),
      (lambda: gnp.sum(X, where=np.ones(5, bool)), ValueError, "for broadcasting"),
      (lambda: gnp.sum(X, initial=X), ValueError, "scalar"),
      (lambda: gnp.max(X, where=MASK), ValueError, "initial"),
      (lambda: gnp.max(np.zeros((0, 3)), 0), ValueError, "zero-size"),
      (lambda: gnp.ptp(MASK), TypeError, "boolean"),
      (lambda: gnp.var(X, ddof=1, correction=1), ValueError, "ddof and correction"),
      (lambda: gnp.var(X + 1j, dtype="float32"), ValueError, "complex"),
      (lambda: gnp.average(X, weights=np.ones(3)), TypeError, "axis"),
      (lambda: gnp.average(X, 1, weights=np.ones(4)), ValueError, "weights")):
    with pytest.raises(error, match=message):
      call()
  with pytest.warns(UserWarning, match="float64"):
    gnp.sum(X, dtype="float64")


def test_traced() -> None:
  assert gnomon.jit(lambda x: gnp.sum(x, [0, 2]))(X).shape == (3,)
  np.testing.assert_allclose(
      gnomon.jit(lambda x, d: gnp.var(x, ddof=d))(X, 1), np.var(X, ddof=1), rtol=1e-6)
  jaxpr = gnomon.make_jaxpr(lambda x: gnp.mean(x, axis=0))(X)
  assert [e.primitive.name for e in jaxpr.eqns] == ["reduce_sum", "div"]
