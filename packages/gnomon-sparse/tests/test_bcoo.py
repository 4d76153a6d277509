"""Sparse arrays against the same operations of NumPy on dense ones."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest
import scipy.sparse

import gnomon
import gnomon.numpy as gnp
from gnomon.experimental import sparse
from gnomon.experimental.sparse import BCOO
from gnomon.testing import check_grads

RNG = np.random.default_rng(1)
# The numbers of batch and of dense axes of an array of three axes.
LAYOUTS = [(0, 0), (1, 1), (2, 0), (0, 3)]


def some_zeros(*shape: int) -> Any:
  x = RNG.normal(size=shape).astype(np.float32)
  return np.where(RNG.uniform(size=shape) < 0.6, np.float32(0), x)


@functools.cache
def pair() -> tuple[Any, Any]:
  return some_zeros(2, 3, 4), some_zeros(2, 3, 4)


def assert_same(ours: Any, expected: Any) -> None:
  ours = ours.todense() if isinstance(ours, BCOO) else ours
  np.testing.assert_allclose(ours, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(("n_batch", "n_dense"), LAYOUTS)
def test_layouts(n_batch: int, n_dense: int) -> None:
  x, y = pair()
  s = BCOO.fromdense(x, n_batch=n_batch, n_dense=n_dense)
  assert (s.n_batch, s.n_sparse, s.n_dense) == (n_batch, 3 - n_batch - n_dense, n_dense)
  assert (s.shape, s.ndim, s.size, s.dtype) == (x.shape, 3, 24, x.dtype)
  assert_same(s, x)
  twice = s + s
  assert_same(twice, 2 * x)
  assert_same(sparse.bcoo_sort_indices(twice), 2 * x)
  once = twice.sum_duplicates()
  assert once.nse == s.nse
  assert_same(once, 2 * x)
  assert (s - s).sum_duplicates().nse == (0 if s.n_sparse else 1)
  assert_same(sparse.bcoo_reduce_sum(s, axes=(0, 2)), x.sum((0, 2)))
  assert_same(sparse.bcoo_reduce_sum(s, axes=(1,)), x.sum(1))
  for new in LAYOUTS:
    with_new = s.update_layout(n_batch=new[0], n_dense=new[1], on_inefficient=None)
    assert (with_new.n_batch, with_new.n_dense) == new
    assert_same(with_new, x)
  t = BCOO.fromdense(y, n_batch=n_batch, n_dense=n_dense)
  assert_same(sparse.bcoo_multiply_sparse(s, twice), 2 * x * x)
  assert_same(s * t, x * y)
  assert_same(s * y[:, :1], x * y[:, :1])


@pytest.mark.parametrize(("n_batch", "n_dense"), [(0, 1), (1, 0)])
def test_movements(n_batch: int, n_dense: int) -> None:
  x, _ = pair()
  s = BCOO.fromdense(x, n_batch=n_batch, n_dense=n_dense)
  for axis in range(3):
    assert_same(sparse.bcoo_concatenate([s, s + s], dimension=axis),
                np.concatenate([x, 2 * x], axis))
  assert_same(sparse.bcoo_rev(s, (0, 2)), x[::-1, :, ::-1])
  part = sparse.bcoo_slice(
      s, start_indices=(0, 1, 0), limit_indices=(1, 3, 4), strides=(1, 1, 3))
  assert_same(part, x[:1, 1:3, ::3])
  assert_same(sparse.bcoo_squeeze(part, dimensions=(0,)), x[0, 1:3, ::3])
  assert_same(sparse.bcoo_dynamic_slice(s, (1, 9, gnp.asarray(1)), (1, 2, 2)),
              x[1:2, 1:3, 1:3])
  for shape, at in (((2, 5, 3, 4, 2), (0, 2, 3)), ((5, 2, 3, 4), (1, 2, 3))):
    new = [1] * len(shape)
    for i in at:
      new[i] = shape[i]
    assert_same(sparse.bcoo_broadcast_in_dim(s, shape=shape, broadcast_dimensions=at),
                np.broadcast_to(x.reshape(new), shape))
  assert_same(sparse.bcoo_transpose(s, permutation=(0, 1, 2)), x)


@pytest.mark.parametrize(("n_batch", "n_dense"), [(0, 0), (1, 1)])
def test_products(n_batch: int, n_dense: int) -> None:
  x, _ = pair()
  s = BCOO.fromdense(x, n_batch=n_batch, n_dense=n_dense)
  v = RNG.normal(size=(2, 4, 5)).astype(np.float32)
  w = some_zeros(4, 3)
  assert_same(s @ v, x @ v)
  assert_same(s @ v[0], x @ v[0])
  assert_same(s @ v[0, :, 0], x @ v[0, :, 0])
  assert_same(v.swapaxes(1, 2)[:, :, :3] @ s, v.swapaxes(1, 2)[:, :, :3] @ x)
  numbers = (((2,), (0,)), ((), ()))
  assert_same(sparse.bcoo_dot_general(s, BCOO.fromdense(w), dimension_numbers=numbers),
              np.tensordot(x, w, 1))
  numbers = (((1, 2), (0, 1)), ((), ()))
  assert_same(sparse.bcoo_dot_general(s, w.T, dimension_numbers=numbers),
              np.tensordot(x, w.T, 2))


def test_matrices() -> None:
  x = some_zeros(6, 4)
  s = BCOO.fromdense(x)
  assert_same(s.T, x.T)
  assert_same(s.reshape(3, 8), x.reshape(3, 8))
  assert_same(s.reshape(-1), x.reshape(-1))
  assert_same(s[2], x[2])
  assert_same(s[1:, ::2], x[1:, ::2])
  assert_same(s.sum(), x.sum())
  assert_same(-s * 2 / 4, -x / 2)
  assert_same(sparse.bcoo_extract(s, np.ones_like(x)), x != 0)
  repeated = BCOO((np.ones(2), np.array([[1], [1]])), shape=(3,))
  np.testing.assert_array_equal(
      sparse.bcoo_extract(repeated, np.arange(3.0)).data, [1.0, 0.0])
  outside = BCOO((np.ones(3), np.array([[0], [3], [-1]])), shape=(3,))
  assert_same(outside.T.sum(), 1.0)
  assert repr(s) == f"BCOO(float32[6, 4], nse={s.nse})"
  theirs = scipy.sparse.random(5, 6, 0.4, random_state=0)
  assert_same(BCOO.from_scipy_sparse(theirs), theirs.todense())
  assert_same(sparse.eye(3, 4, -1), np.eye(3, 4, -1))
  assert_same(sparse.eye(3, n_batch=1), np.eye(3))
  assert_same(sparse.empty((2, 3), n_batch=1, nse=2), np.zeros((2, 3)))
  rows = RNG.normal(size=(3, 2)).astype(np.float32)
  np.testing.assert_allclose(
      sparse.bcoo_dot_general_sampled(
          rows, rows.T, np.array([[0, 2], [1, 1]]),
          dimension_numbers=(((1,), (0,)), ((), ()))),
      (rows @ rows.T)[[0, 1], [2, 1]], rtol=1e-5)


def test_empty() -> None:
  none = BCOO.fromdense(np.zeros((0, 3), np.float32), nse=2)
  assert_same(none, np.zeros((0, 3)))
  assert_same(none @ np.ones((3, 2), np.float32), np.zeros((0, 2)))
  assert_same(none.T @ np.ones((0, 2), np.float32), np.zeros((3, 2)))
  assert_same(sparse.empty((2, 3)) @ np.ones(3, np.float32), np.zeros(2))
  assert BCOO.fromdense(np.zeros(3, np.float32)).nse == 0


def test_strict_promotion() -> None:
  x = some_zeros(3, 4)
  with gnomon.numpy_rank_promotion("raise"), gnomon.numpy_dtype_promotion("strict"):
    s = BCOO.fromdense(x)
    assert_same((s + s).sum_duplicates() @ np.ones((4, 2), np.float32),
                2 * x @ np.ones((4, 2)))
    assert_same(s[1:, ::2].T, x[1:, ::2].T)
    both = sparse.bcoo_concatenate([s, s], dimension=0)
    assert_same(both, np.concatenate([x, x]))
    assert_same(both.sum(0), 2 * x.sum(0))
    assert_same(s @ both.T, x @ np.concatenate([x, x]).T)
    wide = sparse.bcoo_broadcast_in_dim(s, shape=(2, 3, 4), broadcast_dimensions=(1, 2))
    assert_same(wide, np.stack([x, x]))
    assert repr(sparse.eye(2, n_batch=1)) == "BCOO(float32[2, 2], nse=1, n_batch=1)"


def test_random() -> None:
  made = sparse.random_bcoo(
      gnomon.random.key(0), (3, 4, 5, 2), nse=0.3, n_batch=1, n_dense=1, dtype="float32",
      sorted_indices=True)
  assert (made.shape, made.nse, made.dtype) == ((3, 4, 5, 2), 6, np.float32)
  flat = np.asarray(made.indices) @ [5, 1]
  assert (np.diff(flat) > 0).all()
  assert (flat < 20).all()


def test_transformed() -> None:
  x = some_zeros(5, 4)
  s, v = BCOO.fromdense(x), RNG.normal(size=4).astype(np.float32)

  def like(data: Any) -> BCOO:
    return BCOO((data, s.indices), shape=s.shape)

  check_grads(lambda data, v: like(data) @ v, (s.data, v), 2)
  check_grads(lambda data: (like(data) * like(data)).sum(0).todense(), (s.data,), 1)
  grad = sparse.grad(lambda s, v: (s @ v).sum(), (0, 1))(s, v)
  assert_same(grad[0], np.where(x != 0, v, 0))
  assert_same(grad[1], x.sum(0))
  assert_same(gnomon.jit(lambda s: (s + s).sum_duplicates(nse=s.nse))(s), 2 * x)
  many = np.stack([x, 2 * x])
  batched = BCOO.fromdense(many, n_batch=1)
  assert_same(gnomon.vmap(lambda s: s @ v)(batched), many @ v)
  again = gnomon.vmap(lambda s: s + s)(batched)
  assert (again.shape, again.n_batch) == (many.shape, 1)
  assert_same(again, 2 * many)
  inner = BCOO.fromdense(some_zeros(2, 3, 4), n_batch=2)
  columns = gnomon.vmap(lambda s: s @ v, 1, 1)(inner)
  assert_same(columns, inner.todense() @ v)


@pytest.mark.parametrize("f", [
    lambda x: x * 3 + x, gnp.sin, lambda x: x ** 2, lambda x: x.T - x.T * 2,
    lambda x: gnp.concatenate([x, x]), lambda x: (x @ x.T)[1:], lambda x: x[None, :, 2],
    gnomon.jit(lambda x: x.sum(0)), lambda x: gnp.abs(x)[::-1]])
def test_sparsify(f: Any) -> None:
  x = some_zeros(3, 4)
  made = sparse.sparsify(f)(BCOO.fromdense(x))
  assert isinstance(made, BCOO)
  assert_same(made, f(gnp.asarray(x)))


def test_sparsify_more() -> None:
  s, v = sparse.eye(3), np.arange(3, dtype=np.float32)
  f = sparse.sparsify(lambda tree, v: {"a": tree["s"] @ v, "b": v + 1})
  out = gnomon.jit(f)({"s": s}, v)
  assert_same(out["a"], v)
  assert_same(out["b"], v + 1)
  product = sparse.sparsify(lambda x, y: x @ y)
  both = gnomon.jit(lambda x, y: product(x, y).todense())(2 * s, BCOO.fromdense(v))
  assert_same(both, 2 * v)
  # Elements at one place are added before a function that is not linear.
  assert_same(sparse.sparsify(gnp.tanh)(s + s), np.tanh(2 * np.eye(3)))
  for call in (lambda: sparse.sparsify(gnp.cos)(s), lambda: s + np.ones((3, 3)),
               lambda: sparse.sparsify(lambda x: 1 / x)(s)):
    with pytest.raises(NotImplementedError, match=r"todense"):
      call()


def test_errors() -> None:
  s = sparse.eye(3)
  for call in (lambda: BCOO((np.ones(2), np.ones((3, 1), int)), shape=(4,)),
               lambda: BCOO((np.ones(2), np.ones((2, 1))), shape=(4,)),
               lambda: BCOO.fromdense(np.ones(2), n_batch=2, n_dense=1),
               lambda: s.update_layout(n_batch=1), lambda: s.update_layout(n_batch=4),
               lambda: sparse.bcoo_slice(s, start_indices=(0,), limit_indices=(1,)),
               lambda: sparse.bcoo_multiply_dense(s, np.ones(4)),
               lambda: sparse.bcoo_multiply_sparse(s, sparse.eye(2)),
               lambda: sparse.bcoo_squeeze(s, dimensions=(0,)),
               lambda: sparse.bcoo_reshape(s, new_sizes=(4, 4)),
               lambda: sparse.bcoo_concatenate([], dimension=0),
               lambda: sparse.random_bcoo(gnomon.random.key(0), (2,), nse=3),
               lambda: sparse.eye(2, sparse_format="other"), lambda: s @ np.ones(4)):
    with pytest.raises(ValueError, match=r"expected|differ|arrays|bcoo|contracting"):
      call()
  with pytest.warns(sparse.SparseEfficiencyWarning, match="on_inefficient"):
    s.update_layout(n_batch=1, on_inefficient="warn")
  with pytest.raises(NotImplementedError, match="bcoo_update_layout"):
    sparse.bcoo_transpose(sparse.eye(2, n_batch=1), permutation=(1, 0))
