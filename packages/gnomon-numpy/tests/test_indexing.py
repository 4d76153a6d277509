"""Indexing: NumPy's values in every mix of indices; errors; derivatives; programs."""

from __future__ import annotations

import itertools
import random
import warnings
from typing import Any

import numpy as np
import pytest

import gnomon
import gnomon.numpy as gnp
from gnomon import lax

SHAPES: tuple[tuple[int, ...], ...] = ((5,), (3, 4), (2, 3, 4))


def same(got: Any, want: Any) -> None:
  want = np.asarray(want)
  assert got.shape == want.shape, (got.shape, want.shape)
  np.testing.assert_array_equal(np.asarray(got), want)


def numbers(shape: tuple[int, ...]) -> Any:
  return np.arange(np.prod(shape, dtype=int), dtype=np.float32).reshape(shape)


def an_index(rng: random.Random, shape: tuple[int, ...]) -> tuple[Any, ...]:
  """A valid index of some mix of slices, integers, arrays, masks, None and ellipsis."""
  parts: list[Any] = []
  common = rng.choice([(2,), (1,), (2, 1), (1, 3), ()])
  d = 0
  while d < len(shape):
    n = shape[d]
    kind = rng.choice(["int", "slice", "slice", "array", "all", "new", "mask", "stop"])
    if kind == "int":
      parts.append(rng.randrange(-n, n))
    elif kind == "slice":
      parts.append(slice(*[
          rng.choice([None, *range(-n - 1, n + 2)]) for _ in range(2)],
          rng.choice([None, 1, 2, -1, -2, 3])))
    elif kind == "array":
      parts.append(np.array(
          [rng.randrange(-n, n) for _ in range(int(np.prod(common)))],
          np.int32).reshape(common))
    elif kind == "all":
      parts.append(slice(None))
    elif kind == "new":
      parts.append(None)
      continue
    elif kind == "mask":
      if common not in ((2,), (1,)) or n < common[0]:
        continue
      mask = np.zeros(n, bool)
      mask[rng.sample(range(n), common[0])] = True
      parts.append(mask)
    else:
      break
    d += 1
  if rng.random() < 0.4 and not any(e is Ellipsis for e in parts):
    rest = len(shape) - d
    at = len(parts) if rest else rng.randrange(len(parts) + 1)
    parts.insert(at, Ellipsis)
  return tuple(parts)


def on_gnomon(index: tuple[Any, ...], arrays: bool) -> tuple[Any, ...]:
  return tuple([
      gnp.asarray(e) if arrays and isinstance(e, np.ndarray) else e for e in index])


@pytest.mark.parametrize("seed", range(6))
def test_reads_like_numpy(seed: int) -> None:
  rng = random.Random(seed)
  for _ in range(25):
    x = numbers(rng.choice(SHAPES))
    index = an_index(rng, x.shape)
    want = x[index]
    same(gnp.asarray(x)[on_gnomon(index, rng.random() < 0.5)], want)


def test_reads_like_numpy_when_traced() -> None:
  rng = random.Random(7)
  for shape in SHAPES:
    x = numbers(shape)
    indices = [an_index(rng, shape) for _ in range(40)]
    got = gnomon.jit(lambda y, c=indices: [y[i] for i in c])(x)
    for g, i in zip(got, indices):
      same(g, x[i])


def test_writes_like_numpy() -> None:
  rng = random.Random(8)
  for shape in SHAPES:
    x = numbers(shape)
    cases = []
    for i in (an_index(rng, shape) for _ in range(30)):
      want = x.copy()
      values = numbers(want[i].shape) + 100
      if len(np.unique(numbers(shape)[i])) < want[i].size:
        continue  # which of several values wins is not defined
      want[i] = values
      cases.append((i, values, want))
    got = gnomon.jit(lambda y, c=cases: [y.at[i].set(v) for i, v, _ in c])(x)
    for g, (_, _, want) in zip(got, cases):
      same(g, want)


@pytest.mark.parametrize("op", ["add", "subtract", "multiply", "min", "max"])
def test_combines_like_numpy(op: str) -> None:
  ufunc = getattr(np, {"min": "minimum", "max": "maximum"}.get(op, op))
  rng = random.Random(9)
  for shape in SHAPES:
    x = numbers(shape)
    indices = [an_index(rng, shape) for _ in range(15)]
    cases = [(i, numbers(x[i].shape) % 5) for i in indices]
    got = gnomon.jit(lambda y, c=cases: [getattr(y.at[i], op)(v) for i, v in c])(x)
    for g, (i, v) in zip(got, cases):
      want = x.copy()
      ufunc.at(want, i, v)
      same(g, want)


def test_eager_writes() -> None:
  x = numbers((3, 4))
  y = gnp.asarray(x)
  for i in (0, -1, slice(1, 3), (slice(None), 2), (1, slice(None, None, -1)),
      np.array([0, 2]),
            (Ellipsis, None, 1), x > 5, (x > 5).any(1), (x.sum(1) > 7, 0), (), None):
    want = x.copy()
    want[i] = 7
    same(y.at[i].set(7), want)
    want = x.copy()
    want[i] += 2
    same(y.at[i].add(2), want)
  want = x.copy()
  want[x > 5] = np.arange(6)
  same(y.at[x > 5].set(np.arange(6)), want)
  same(y.at[gnp.array(1)].set(0.0), np.where(np.arange(3)[:, None] == 1, 0, x))


def test_methods_with_their_own_rules() -> None:
  x = gnp.array([1.0, 2.0, 4.0])
  twice = gnp.array([1, 1])
  same(x.at[twice].divide(2), [1, 0.5, 4])
  same(x.at[twice].power(2), [1, 16, 4])
  same(x.at[twice].apply(lambda v: v * 3), [1, 18, 4])
  same(x.at[1].mul(3), [1, 6, 4])
  same(gnp.array([1, 2]).at[1].divide(4), [1, 0.5])


def test_bools_as_indices() -> None:
  x = numbers((2, 3))
  y = gnp.asarray(x)
  for i in (True, False, (True, 1), (1, True), (slice(None), True), (None, True, None),
            (True, Ellipsis, True), (np.array([0, 1]), slice(None), True),
            np.bool_(True)):
    same(y[i], x[i])
    same(gnomon.jit(lambda v, i=i: v[i])(x), x[i])


def test_places_outside() -> None:
  x = gnp.arange(4) * 10
  same(x[9], 30)
  same(x[-9], 0)
  same(x[gnp.array([5, -5])], [30, 0])
  same(x.at[gnp.array([5, -5, 1])].get(mode="fill", fill_value=-1), [-1, -1, 10])
  same(x.at[5].get(mode="fill"), np.iinfo(np.int32).min)
  assert np.isnan(gnp.ones(2).at[2].get(mode="fill"))
  assert gnp.array([1], dtype="uint8").at[2].get(mode="fill") == 255
  same(x.at[-1].get(mode="fill", wrap_negative_indices=False), np.iinfo(np.int32).min)
  same(x.at[-1].get(wrap_negative_indices=False), 0)
  same(x.at[7].set(1), [0, 10, 20, 30])
  same(x.at[-7].add(1), [0, 10, 20, 30])
  same(x.at[gnp.array([7, -7])].set(1), [0, 10, 20, 30])
  same(x.at[7].set(1, mode="clip"), [0, 10, 20, 1])
  same(x.at[-1].set(1, wrap_negative_indices=False), [0, 10, 20, 30])
  same(gnomon.jit(lambda i: x.at[i].set(1))(7), [0, 10, 20, 30])
  same(gnomon.jit(lambda i: x[i])(-7), 0)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16", "uint32", "int4"])
def test_narrow_indices(dtype: str) -> None:
  x = np.arange(300)
  info = gnp.iinfo(dtype)
  i = [max(int(info.min), -300), 0, min(int(info.max), 299)]
  f = gnomon.jit(lambda i: (gnp.asarray(x)[i], gnp.asarray(x)[i[0]]))
  got = f(gnp.array(i, dtype))
  same(got[0], x[i])
  same(got[1], x[i[0]])
  two = gnomon.jit(lambda i: gnp.zeros((300, 300)).at[i, 5].add(1))(gnp.array([1], dtype))
  assert two[1, 5] == 1


@pytest.mark.parametrize(("index", "error", "text"), [
    (1.0, TypeError, "integer"), ([0, 1], TypeError, "arr\\[array"),
    ("a", TypeError, "string"),
    ((0, 0, 0), IndexError, "Too many indices"), ((..., ...), IndexError, "ellipsis"),
    (np.array([0.5]), TypeError, "float64"),
    (np.array([True]), IndexError, "boolean index"),
    (slice(0, 1.5), TypeError, "slices need integers"),
    (slice(0, 1, 0), ValueError, "zero"),
    (object(), IndexError, "valid indices"),
    ((np.array([0, 1]), np.array([0, 1, 0])), ValueError, "incompatible")])
def test_errors(index: Any, error: type[Exception], text: str) -> None:
  x = gnp.ones((2, 3))
  with pytest.raises(error, match=text):
    x[index]
  with pytest.raises(error, match=text):
    x.at[index].set(1)


def test_errors_of_traced_indices() -> None:
  x = gnp.ones((2, 3))
  with pytest.raises(IndexError, match="dynamic_slice"):
    gnomon.jit(lambda i: x[i:])(1)
  with pytest.raises(gnomon.errors.NonConcreteBooleanIndexError, match="where"):
    gnomon.jit(lambda v: v[v > 0])(x)
  with pytest.raises(TypeError, match=r"\.at\[index\]"):
    x[0] = 1
  with pytest.raises(IndexError, match="size 0"):
    gnp.ones((0, 3))[0]
  with pytest.raises(ValueError, match="broadcast"):
    x.at[0].set(gnp.ones(2))
  with pytest.raises(ValueError, match="mode"):
    x.at[0].set(1, mode="far")
  with pytest.raises(TypeError, match="0-d"):
    iter(gnp.array(1.0))


def test_types_of_results() -> None:
  weak = gnp.asarray(1.0)
  assert weak[None].weak_type
  assert weak.at[()].set(3).weak_type
  x = gnp.arange(4)
  with pytest.warns(FutureWarning, match="incompatible types"):
    assert x.at[0].set(1.5).dtype == np.int32
  with pytest.warns(FutureWarning, match="incompatible types"):
    same(x.at[3].multiply(2.5), [0, 1, 2, 7])
  with warnings.catch_warnings():
    warnings.simplefilter("error")
    assert gnp.ones(2).at[0].set(3).dtype == np.float32
    assert x.at[0].set(True).dtype == np.int32
    same(gnp.zeros(2, "uint32").at[0].set(2**32 - 1), [2**32 - 1, 0])
  same(gnp.array([1, 2], dtype="bfloat16")[::-1], np.array([2, 1], dtype=gnp.bfloat16))


def test_program_of_traced_indices() -> None:
  x, i, v = gnp.ones((3, 4, 5)), gnp.array(1, dtype="int32"), gnp.array([0, 2])

  def names(f: Any, *args: Any) -> list[str]:
    return [str(e.primitive) for e in gnomon.make_jaxpr(f)(*args).eqns]

  assert names(lambda x: x[1], x) == ["slice", "squeeze"]
  assert names(lambda x: x[1:, ::2], x) == ["slice"]
  assert names(lambda x: x[::-1], x) == ["rev"]
  assert names(lambda x: x[..., None], x) == ["broadcast_in_dim"]
  assert names(lambda x: x[:], x) == []
  assert names(lambda x: x[np.array([0, -1])], x) == ["gather"]
  assert "gather" not in names(lambda x, i: x[i], x, i)
  assert names(lambda x, v: x[v], x, v).count("gather") == 1
  assert names(lambda x: x.at[1].set(2.0), x)[-1] == "dynamic_update_slice"


def test_one_program_for_many_constants() -> None:
  x = gnp.arange(100.0).reshape(10, 10)
  x[3], x[2:5], x.at[0].set(1.0)
  with _no_compilation():
    assert [float(x[i, 0]) for i in ()] == []
    for i in range(-10, 10):
      x[i]
    for i in range(5):
      x[i:i + 3]
      x.at[i].set(2.0)


class _no_compilation:
  """Fails if a program is compiled meanwhile."""

  def __enter__(self) -> None:
    from gnomon.runtime import compile as module
    self.module, self.real = module, module.compile_module
    module.compile_module = self.fail

  def __exit__(self, *_: object) -> None:
    self.module.compile_module = self.real

  def fail(self, *_: Any, **__: Any) -> Any:
    raise AssertionError("a program was compiled")


def test_iteration() -> None:
  x = numbers((3, 2))
  a, b, c = gnp.asarray(x)
  same(gnp.stack([a, b, c]), x)
  assert [r.shape for r in gnp.zeros((2, 0))] == [(0,), (0,)]
  assert list(gnp.zeros((0, 2))) == []
  same(gnomon.jit(lambda v: gnp.stack(list(v)[::-1]))(x), x[::-1])


@pytest.mark.parametrize("index", [
    1, (slice(None, None, -2), 1), np.array([0, 2, 0]),
    (np.array([[0], [2]]), slice(1, 3)),
    (slice(None), np.array([0, 0])), (None, 0, np.array([1, 1]))])
def test_derivatives(index: Any) -> None:
  with gnomon.enable_x64(True):
    x = np.random.default_rng(0).normal(size=(3, 4))
    w = np.random.default_rng(1).normal(size=x[index].shape)
    got = gnomon.grad(lambda x: (gnp.asarray(x)[index] * w).sum())(x)
    want = np.zeros_like(x)
    np.add.at(want, index, w)
    np.testing.assert_allclose(got, want, rtol=1e-12)
    for op in ("set", "add", "multiply"):
      if op == "set" and np.asarray(numbers((3, 4))[index]).size != len(
          np.unique(numbers((3, 4))[index])):
        continue
      _check_write(op, x, index, w)


def _check_write(op: str, x: Any, index: Any, w: Any) -> None:
  c = np.random.default_rng(2).normal(size=x.shape)
  if op == "multiply" and np.asarray(numbers(x.shape)[index]).size != len(
      np.unique(numbers(x.shape)[index])):
    return

  def f(x: Any, w: Any) -> Any:
    return (getattr(gnp.asarray(x).at[index], op)(w) ** 2 * c).sum()

  for k, g in enumerate(gnomon.grad(f, argnums=(0, 1))(x, w)):
    args, step = [x, w], 1e-6
    want = np.zeros_like(args[k])
    value = gnomon.jit(f)
    for at in itertools.product(*map(range, args[k].shape)):
      moved = []
      for sign in (1, -1):
        changed = [a.copy() for a in args]
        changed[k][at] += sign * step
        moved.append(float(value(*changed)))
      want[at] = (moved[0] - moved[1]) / (2 * step)
    np.testing.assert_allclose(g, want, rtol=1e-5, atol=1e-6)


def test_vmap() -> None:
  x = numbers((2, 3, 4))
  i = np.array([[0, 2], [1, -1]])
  same(gnomon.vmap(lambda x, i: gnp.asarray(x)[i])(x, i), [a[b] for a, b in zip(x, i)])
  same(gnomon.vmap(lambda i: gnp.asarray(x)[:, i, 1])(i), [x[:, b, 1] for b in i])
  same(gnomon.vmap(lambda x, i: x[i[0], ::-1])(x, i),
      [a[b[0], ::-1] for a, b in zip(x, i)])
  got = gnomon.vmap(lambda x, i: gnp.asarray(x).at[i].add(1.0))(x, i)
  want = x.copy()
  for a, b in zip(want, i):
    np.add.at(a, b, 1.0)
  same(got, want)
  same(gnomon.vmap(gnp.zeros(3).at[1].set)(np.ones(2)), [[0, 1, 0]] * 2)


def test_slice_gather_agree_with_lax() -> None:
  x = gnp.asarray(numbers((5, 3)))
  same(x[1:4], lax.slice_in_dim(x, 1, 4))
  same(x[2], lax.index_in_dim(x, 2, keepdims=False))
