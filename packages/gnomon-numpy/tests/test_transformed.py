"""Derivatives of array functions by finite differences, batching by loops."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gnomon
import gnomon.numpy as gnp
from gnomon.testing import check_grads, check_vmap_axes

RNG = np.random.default_rng(0)
A = RNG.normal(size=(2, 3))
B = RNG.normal(size=(3, 2))
V = np.array([0.3, -1.2, 0.9, 2.1])
MASK = np.array([[True, False, True], [False, True, True]])

# Functions of arrays of floats, with the arguments at which to check them.
TABLE: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "reshape F": (lambda x: gnp.reshape(x, (3, 2), order="F"), (A,)),
    "concatenate": (lambda x, y: gnp.concatenate([x, y.T, x], 1), (A, B)),
    "stack": (lambda x, y: gnp.stack([x, y.T], -1), (A, B)),
    "unstack": (lambda x: gnp.unstack(x, axis=1), (A,)),
    "block": (lambda x, y: gnp.block([[x], [y.T]]), (A, B)),
    "split": (lambda x: gnp.split(x, [1, 2], 1), (A,)),
    "split back": (lambda x: gnp.split(x, [1, -2], 1), (A,)),
    "tile": (lambda x: gnp.tile(x, (2, 2)), (A,)),
    "repeat": (lambda x: gnp.repeat(x, 2, axis=1), (A,)),
    "repeat each": (lambda x: gnp.repeat(x, np.array([2, 0, 1]), axis=1), (A,)),
    "roll": (lambda x: gnp.roll(x, (1, 2), (0, 1)), (A,)),
    "rot90": (gnp.rot90, (A,)),
    "pad wrap": (lambda x: gnp.pad(x, 2, "wrap"), (A,)),
    "pad reflect": (lambda x: gnp.pad(x, 2, "reflect", reflect_type="odd"), (A,)),
    "pad mean": (lambda x: gnp.pad(x, 1, "mean"), (A,)),
    "pad ramp": (lambda x, e: gnp.pad(x, 2, "linear_ramp", end_values=e), (A, V[0])),
    "insert": (lambda x, v: gnp.insert(x, 1, v, axis=1), (A, V[:2])),
    "delete": (lambda x: gnp.delete(x, 1, axis=1), (A,)),
    "resize": (lambda x: gnp.resize(x, (4, 2)), (A,)),
    "sum": (lambda x: gnp.sum(x, 1, where=MASK, initial=2.0), (A,)),
    "prod": (lambda x: gnp.prod(x, 1), (A,)),
    "max": (lambda x: gnp.max(x, 0), (A,)),
    "ptp": (lambda x: gnp.ptp(x, 1), (A,)),
    "mean": (lambda x: gnp.mean(x, 1, where=MASK), (A,)),
    "var": (lambda x: gnp.var(x, 1, ddof=1), (A,)),
    "std": (lambda x: gnp.std(x, 0), (A,)),
    "average": (lambda x, w: gnp.average(x, 1, w), (A, np.array([0.2, 1.0, 0.7]))),
    "cumsum": (lambda x: gnp.cumsum(x, 1), (A,)),
    "cumprod": (lambda x: gnp.cumprod(x, 1), (A,)),
    "nansum": (lambda x: gnp.nansum(x, 0), (A,)),
    "nanmax": (lambda x: gnp.nanmax(x, 1), (A,)),
    "median": (lambda x: gnp.median(x, 0), (A,)),
    "nanmedian": (lambda x: gnp.nanmedian(x, 1), (A,)),
    "quantile": (lambda x: gnp.quantile(x, np.array([0.2, 0.7]), axis=1), (A,)),
    "quantile of q": (lambda x, q: gnp.quantile(x, q, axis=1), (A, 0.31)),
    "nanquantile": (lambda x: gnp.nanquantile(x, 0.3, axis=0), (A,)),
    "sort": (lambda x: gnp.sort(x, 1, descending=True), (A,)),
    "partition": (lambda x: gnp.partition(x, 1), (A,)),
    "dot": (gnp.dot, (A, B)),
    "matmul": (gnp.matmul, (np.stack([A, 2 * A]), B)),
    "inner": (gnp.inner, (A, 2 * A)),
    "outer": (gnp.outer, (V, A)),
    "vdot": (gnp.vdot, (A, B)),
    "vecdot": (gnp.vecdot, (A, A * A)),
    "tensordot": (lambda x, y: gnp.tensordot(x, y, ((0, 1), (1, 0))), (A, B)),
    "einsum": (lambda x, y: gnp.einsum("ij,jk,il->kl", x, y, x), (A, B)),
    "einsum diagonal": (lambda x: gnp.einsum("ii->i", x), (A @ B,)),
    "kron": (gnp.kron, (A, B)),
    "cross": (gnp.cross, (A, A[::-1] * 2)),
    "diff": (lambda x: gnp.diff(x, 2), (A,)),
    "gradient": (gnp.gradient, (A,)),
    "gradient of places": (gnp.gradient, (V, np.cumsum(V**2))),
    "trapezoid": (gnp.trapezoid, (A, np.array([0.0, 1.0, 4.0]))),
    "interp": (gnp.interp, (V[2:], np.array([-1.0, 0.5, 3.0]), V[:3])),
    "convolve": (gnp.convolve, (V, V[:2])),
    "correlate": (lambda x, y: gnp.correlate(x, y, "same"), (V[:2], V)),
    "unwrap": (lambda x: gnp.unwrap(4 * x), (A,)),
    "cov": (gnp.cov, (A,)),
    "corrcoef": (gnp.corrcoef, (A,)),
    "polyval": (gnp.polyval, (V, 0.7)),
    "polydiv": (gnp.polydiv, (V, V[2:])),
    "poly": (gnp.poly, (V,)),
    "kaiser": (lambda b: gnp.kaiser(4, b), (1.5,)),
    "histogram of weights": (lambda w: gnp.histogram(V, 3, weights=w)[0], (V,)),
    "unique": (lambda x: gnp.unique(x, size=4), (V,)),
    "along axis": (lambda x: gnp.apply_along_axis(lambda v: v * v.sum(), 1, x), (A,)),
}


@pytest.mark.parametrize("name", TABLE)
def test_derivatives(name: str) -> None:
  f, args = TABLE[name]
  with gnomon.enable_x64(True):
    check_grads(f, args, order=1)


@pytest.mark.parametrize("name", TABLE)
def test_batching(name: str) -> None:
  f, args = TABLE[name]
  if name in ("gradient of places", "interp", "cov", "corrcoef"):
    args = tuple(np.float64(x) for x in args)
  with gnomon.enable_x64(True):
    examples = [tuple(x * s for x in map(np.asarray, args)) for s in (1.0, 0.5, 1.5)]
    check_vmap_axes(f, examples, limit=4)


def test_second_derivatives() -> None:
  with gnomon.enable_x64(True):
    for name in ("prod", "var", "cumprod", "einsum", "average", "convolve", "std"):
      f, args = TABLE[name]
      check_grads(f, args, order=2, modes=("rev",))


def test_products_with_zeros() -> None:
  x = np.array([2.0, 0.0, 3.0])
  np.testing.assert_allclose(gnomon.grad(gnp.prod)(x), [0, 6, 0])
  np.testing.assert_allclose(gnomon.grad(lambda x: gnp.cumprod(x)[-1])(x), [0, 6, 0])
  zeros = np.array([0.0, 0.0, 3.0])
  assert gnomon.jacfwd(gnomon.jacrev(gnp.prod))(zeros)[0, 1] == 3
