"""Derivatives of functions of eigenvectors and singular vectors at repeated values.

The reference is Daleckii and Krein's formula, computed with NumPy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import gnomon
from gnomon import lax
from gnomon.lax.linalg._matrix import (
  adjoint,
  columns,
  conj_if_complex,
  eye_mask,
  mm,
  real_part,
  rows,
)
from gnomon.lax.linalg._order import inverse_order, take_columns, take_rows

L = lax.linalg
R = np.random.default_rng(3)


@pytest.fixture(autouse=True)
def _doubles() -> Iterator[None]:
  with gnomon.enable_x64(True):
    yield


def numbers(*shape: int, kind: str) -> Any:
  x = R.standard_normal(shape)
  return x + 1j * R.standard_normal(shape) if kind == "complex" else x


def hermitian(n: int, kind: str) -> Any:
  x = numbers(n, n, kind=kind)
  return x + np.conj(x.T)


def unitary(n: int, kind: str) -> Any:
  return np.linalg.qr(numbers(n, n, kind=kind))[0]


def odd(x: Any) -> Any:
  """The function that is applied to values."""
  return lax.add(lax.sinh(x), x)


def of_hermitian(a: Any, da: Any) -> Any:
  """The derivative of this function of a matrix."""
  w, v = np.linalg.eigh(a)
  gaps = w[:, None] - w
  near = abs(gaps) < 1e-9
  f = np.sinh(w) + w
  d = np.where(near, np.cosh(w) + 1, (f[:, None] - f) / np.where(near, 1, gaps))
  return v @ (d * (np.conj(v.T) @ da @ v)) @ np.conj(v.T)


def of_any(a: Any, da: Any) -> Any:
  """The same for singular values."""
  m = a.shape[0]

  def wide(x: Any) -> Any:
    return np.block([
        [np.zeros((m, m)), x], [np.conj(x.T), np.zeros((x.shape[1],) * 2)]])

  return of_hermitian(wide(a), wide(da))[:m, m:]


def scaled(v: Any, w: Any) -> Any:
  return lax.mul(v, columns(lax.convert_element_type(w, v.dtype), v))


def as_matrix(w: Any, v: Any) -> Any:
  w = lax.convert_element_type(w, v.dtype)
  shape = (w.shape[0],) * 2
  return lax.select(eye_mask(*shape), lax.broadcast_in_dim(w, shape, (1,)), lax.full(
      shape, 0, w.dtype))


def summed(v: Any, w: Any) -> Any:
  """The product without a product of matrices."""
  shape = (v.shape[0], v.shape[0], v.shape[1])
  x = lax.broadcast_in_dim(scaled(v, w), shape, (0, 2))
  y = lax.broadcast_in_dim(conj_if_complex(v), shape, (1, 2))
  return lax.reduce_sum(lax.mul(x, y), (2,))


ORDER = np.array([2, 0, 3, 1], np.int32)


def reordered(v: Any, w: Any) -> Any:
  v = take_columns(v, ORDER)
  w = lax.squeeze(take_rows(lax.expand_dims(w, (1,)), ORDER), (1,))
  return mm(scaled(v, w), adjoint(v))


EIGH: dict[str, Callable[[Any, Any], Any]] = {  # of v and f(w)
    "scaled": lambda v, w: mm(scaled(v, w), adjoint(v)),
    "diagonal first": lambda v, w: mm(mm(v, as_matrix(w, v)), adjoint(v)),
    "diagonal last": lambda v, w: mm(v, mm(as_matrix(w, v), adjoint(v))),
    "rows": lambda v, w: mm(v, lax.mul(rows(lax.convert_element_type(
        w, v.dtype), v), adjoint(v))),
    "summed": summed,
    "reordered": reordered,
    "two": lambda v, w: lax.sub(
        mm(scaled(v, lax.mul(w, 2.0)), adjoint(v)), lax.neg(mm(v, adjoint(scaled(
            lax.neg(v), w))))),
}
SPECTRA = [[1.0, 1, 1, 1], [1, 1, 2, 2], [-1, 0.5, 0.5, 3], [-1, 0, 1, 2]]


def matrix(values: Any, kind: str, turned: bool) -> Any:
  x = np.diag(np.asarray(values, complex if kind == "complex" else float))
  if turned:
    q = unitary(4, kind)
    x = q @ x @ np.conj(q.T)
  return (x + np.conj(x.T)) / 2


def all_modes(f: Any) -> Any:
  """Gradient with a weight, forward and linear derivative, in one program."""
  @gnomon.jit
  def run(x: Any, weight: Any, t: Any) -> Any:
    def loss(x: Any) -> Any:
      product = lax.mul(conj_if_complex(weight), f(x))
      return lax.reduce_sum(real_part(product), (0, 1))

    g = conj_if_complex(gnomon.grad(loss)(x))
    return g, gnomon.jvp(f, (x,), (t,))[1], gnomon.linearize(f, x)[1](t)

  return run


@pytest.mark.parametrize("kind", ["real", "complex"])
@pytest.mark.parametrize("form", EIGH)
def test_functions_of_hermitian_matrices(form: str, kind: str) -> None:
  def f(x: Any) -> Any:
    v, w = L.eigh(x)
    return EIGH[form](v, odd(w))

  run = all_modes(f)
  for values in SPECTRA:
    for turned in (False, True):
      x = matrix(values, kind, turned)
      weight, t = hermitian(4, kind), hermitian(4, kind)
      g, forward, linear = run(x, weight, t)
      for got, want in ((g, of_hermitian(x, weight)), (
          forward, of_hermitian(x, t)), (linear, of_hermitian(x, t))):
        np.testing.assert_allclose(got, want, rtol=1e-6, atol=1e-7)


def left(x: Any, k: int) -> Any:
  return lax.slice_in_dim(x, 0, k, axis=1)


def whole_svd(x: Any) -> Any:
  u, s, vh = L.svd(x)
  k = s.shape[0]
  return mm(scaled(left(u, k), odd(s)), lax.slice_in_dim(vh, 0, k, axis=0))


def thin_svd(x: Any) -> Any:
  u, s, vh = L.svd(x, full_matrices=False)
  return mm(u, mm(as_matrix(odd(s), u), vh))


@pytest.mark.parametrize("kind", ["real", "complex"])
@pytest.mark.parametrize("shape", [(4, 4), (5, 3), (3, 5)])
def test_functions_by_singular_values(shape: tuple[int, int], kind: str) -> None:
  """For an odd function also where singular values are zero."""
  m, n = shape
  k = min(m, n)
  run = all_modes(whole_svd if m > n else thin_svd)
  for values in ([1, 1, 1, 1], [2, 1, 1, 0], [2, 1, 0, 0], [0, 0, 0, 0], [4, 3, 2, 1]):
    for turned in (False, True):
      x = np.zeros(shape, complex if kind == "complex" else float)
      x[:k, :k] = np.diag(values[:k])
      if turned:
        x = unitary(m, kind) @ x @ unitary(n, kind)
      weight, t = numbers(m, n, kind=kind), numbers(m, n, kind=kind)
      g, forward, linear = run(x, weight, t)
      for got, want in (
          (g, of_any(x, weight)), (forward, of_any(x, t)), (linear, of_any(x, t))):
        np.testing.assert_allclose(got, want, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("kind", ["real", "complex"])
@pytest.mark.parametrize("shape", [(4, 4), (5, 3), (3, 5)])
def test_qr_of_any_rank(shape: tuple[int, int], kind: str) -> None:
  """`q r` is the matrix itself, and `r^H r` its square, whatever the rank."""
  m, n = shape

  def product(x: Any) -> Any:
    if kind == "real":
      return mm(*L.qr(x, full_matrices=m > n))
    q, r, order = L.qr(x, full_matrices=False, pivoting=True)
    return take_columns(mm(q, r), inverse_order(order))

  def square(x: Any) -> Any:
    r = L.qr(x, full_matrices=False)[1]
    return mm(adjoint(r), r)

  run = all_modes(product)
  run_square = gnomon.jit(lambda x, t: (
      gnomon.jvp(square, (x,), (t,))[1], gnomon.linearize(square, x)[1](t)))
  for rank in range(min(m, n) + 1):
    x = numbers(m, rank, kind=kind) @ numbers(rank, n, kind=kind)
    weight, t = numbers(m, n, kind=kind), numbers(m, n, kind=kind)
    for got, want in zip(run(x, weight, t), (weight, t, t)):
      np.testing.assert_allclose(got, want, atol=1e-10)
    want = np.conj(x.T) @ t
    for got in run_square(x, t):
      np.testing.assert_allclose(got, want + np.conj(want.T), atol=1e-10)


def other_functions() -> dict[str, tuple[Any, Any]]:
  """Of a symmetric matrix, and their derivatives in the direction of another."""
  b = R.standard_normal(4)

  def ridge(x: Any) -> Any:
    v, w = L.eigh(x)
    y = lax.div(lax.dot(b, v), lax.add(w, 2.0))
    return lax.dot(v, y)

  def ridge_derivative(x: Any, t: Any) -> Any:
    inverse = np.linalg.inv(x + 2 * np.eye(4))
    return -inverse @ t @ inverse @ b

  def energy(x: Any) -> Any:
    v, w = L.eigh(x)
    y = lax.dot(b, v)
    return lax.reduce_sum(lax.mul(lax.mul(y, y), lax.exp(w)), (0,))

  def energy_derivative(x: Any, t: Any) -> Any:
    w, v = np.linalg.eigh(x)
    gaps = w[:, None] - w
    near = abs(gaps) < 1e-9
    e = np.exp(w)
    d = np.where(near, e, (e[:, None] - e) / np.where(near, 1, gaps))
    return b @ v @ (d * (v.T @ t @ v)) @ v.T @ b

  def projection(x: Any) -> Any:
    v = left(L.eigh(x)[0], 2)
    return mm(v, adjoint(v))

  def projection_derivative(x: Any, t: Any) -> Any:
    w, v = np.linalg.eigh(x)
    p, q = v[:, :2], v[:, 2:]
    inner = q @ ((q.T @ t @ p) / (w[:2] - w[2:, None])) @ p.T
    return inner + inner.T

  return {
      "ridge": (ridge, ridge_derivative), "energy": (energy, energy_derivative),
      "projection": (projection, projection_derivative),
      "sum": (lambda x: lax.reduce_sum(lax.exp(L.eigh(x)[1]), (0,)),
              lambda x, t: np.trace(of_exponential(x) @ t))}


def of_exponential(x: Any) -> Any:
  w, v = np.linalg.eigh(x)
  return (v * np.exp(w)) @ v.T


OTHERS = other_functions()


@pytest.mark.parametrize("name", OTHERS)
def test_other_functions(name: str) -> None:
  f, derivative = OTHERS[name]
  x, t = matrix([1, 1, 2, 2], "real", turned=True), hermitian(4, "real")
  jacobian = gnomon.jit(gnomon.jacrev(f))(x)
  for got in (np.tensordot(jacobian, t, 2), gnomon.jit(
      lambda x: gnomon.jvp(f, (x,), (t,))[1])(x),
              np.tensordot(gnomon.jit(gnomon.jacfwd(f))(x), t, 2)):
    np.testing.assert_allclose(got, derivative(x, t), rtol=1e-7, atol=1e-9)


def test_second_derivative_and_vmap() -> None:
  weight = hermitian(3, "real")

  def loss(x: Any) -> Any:
    v, w = L.eigh(x)
    return lax.reduce_sum(lax.mul(weight, mm(scaled(v, lax.exp(w)), adjoint(v))), (0, 1))

  q = unitary(3, "real")
  hessian_of = gnomon.jit(gnomon.hessian(loss))
  for values in ([1.0, 1, 1], [0, 0, 2], [0, 1, 2]):
    x = q @ np.diag(values) @ q.T
    x = (x + x.T) / 2
    t = hermitian(3, "real")
    hessian = hessian_of(x)
    got = np.einsum("ijkl,ij,kl", hessian, t, t)
    np.testing.assert_allclose(got, _second(x, t, weight), rtol=1e-6)
  stack = np.stack([np.eye(3), np.diag([1.0, 2, 2]), np.diag([1.0, 2, 3])])
  grads, tangents = gnomon.jit(gnomon.vmap(lambda x: (
      gnomon.grad(loss)(x), gnomon.jvp(loss, (x,), (weight,))[1])))(stack)
  for x, g, t in zip(stack, np.asarray(grads), np.asarray(tangents)):
    w = np.diag(x)
    gaps = w[:, None] - w
    e = np.exp(w)
    d = np.where(gaps == 0, e, (e[:, None] - e) / np.where(gaps == 0, 1, gaps))
    np.testing.assert_allclose(g, d * weight, atol=1e-12)
    np.testing.assert_allclose(t, np.sum(d * weight * weight), rtol=1e-12)


def _second(x: Any, t: Any, weight: Any) -> Any:
  """`tr(weight exp(x)''[t, t])`, by the series of the exponential."""
  powers = [np.eye(3), np.zeros((3, 3)), np.zeros((3, 3))]  # x^n and its derivatives
  total, factor = np.zeros((3, 3)), 1.0
  for n in range(1, 60):
    a, b, c = powers
    powers = [a @ x, b @ x + a @ t, c @ x + 2 * b @ t]
    factor /= n
    total = total + powers[2] * factor
  return np.sum(weight * total)


def test_single_vectors_stay_finite() -> None:
  """They have no derivative: within the space of equal values it counts as zero."""
  for f, x in ((lambda x: L.eigh(x)[0], np.eye(3)),
               (lambda x: L.svd(x)[::2], np.zeros((3, 2)))):
    for jacobian in gnomon.tree.leaves(gnomon.jit(gnomon.jacrev(f))(x)):
      np.testing.assert_array_equal(jacobian, np.zeros(jacobian.shape))


def test_float32() -> None:
  with gnomon.enable_x64(False):
    x = np.float32(matrix([1, 1, 3, 3], "real", turned=True))

    def f(x: Any) -> Any:
      v, w = L.eigh(x)
      return mm(scaled(v, odd(w)), adjoint(v))

    t = hermitian(4, "real").astype(np.float32)
    for got in gnomon.jit(lambda: (
        gnomon.linearize(f, x)[1](t), gnomon.jvp(f, (x,), (t,))[1]))():
      np.testing.assert_allclose(got, of_hermitian(
          np.float64(np.round(x, 6)), t), rtol=2e-4, atol=2e-4)
