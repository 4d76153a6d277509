"""Determinants: values against NumPy, derivatives for matrices of any rank."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import gnomon
import gnomon.numpy as gnp
from gnomon.testing import check_grads

N = gnp.linalg
R = np.random.default_rng(2)
KINDS = ("real", "complex")


@pytest.fixture(autouse=True)
def _doubles() -> Iterator[None]:
  with gnomon.enable_x64(True):
    yield


def numbers(*shape: int, kind: str) -> Any:
  x = R.standard_normal(shape)
  return x + 1j * R.standard_normal(shape) if kind == "complex" else x


def near(got: Any, want: Any) -> None:
  assert np.shape(got) == np.shape(want)
  np.testing.assert_allclose(np.asarray(got), want, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_determinants(kind: str, n: int) -> None:
  x = numbers(2, n, n, kind=kind)
  near(N.det(x), np.linalg.det(x))
  check_grads(N.det, (x,), 2)
  for method in ("lu", "qr"):
    sign, log = N.slogdet(x, method=method)
    want = np.linalg.slogdet(x)
    near(sign, want[0])
    near(log, want[1])
    if n == 3:
      check_grads(lambda y, m=method: N.slogdet(y, method=m), (x,), 1)


def cofactors(x: Any) -> Any:
  n = len(x)
  return np.array([[
      (-1) ** (i + j) * np.linalg.det(np.delete(np.delete(x, i, 0), j, 1))
      for j in range(n)] for i in range(n)])


def expanded(x: Any) -> Any:
  """The determinant as the sum over permutations, which has every derivative."""
  total = 0.0
  for p in itertools.permutations(range(4)):
    term = np.linalg.det(np.eye(4)[list(p)])
    for i in range(4):
      term = term * x[i, p[i]]
    total = total + term
  return total


@pytest.mark.parametrize("rank", [1, 2, 3, 4])
def test_derivatives_of_determinants_of_any_rank(rank: int) -> None:
  x = numbers(4, rank, kind="real") @ numbers(rank, 4, kind="real")
  zeros = np.diag([1.0] * rank + [0.0] * (4 - rank))
  for y in (x, zeros, zeros[::-1]):
    near(gnomon.grad(N.det)(y), cofactors(y))
    np.testing.assert_allclose(
        gnomon.hessian(N.det)(y), gnomon.hessian(expanded)(y), atol=1e-8)


def test_singular_slogdet() -> None:
  assert [float(x) for x in N.slogdet(np.zeros((3, 3)))] == [0.0, -np.inf]
  sign, log = N.slogdet(np.array([[[-0.01]], [[0.01]]]))
  near(sign, [-1.0, 1.0])
  near(log, [np.log(0.01)] * 2)
