"""What a traced function records is remembered: it must be what its body records."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gnomon
import gnomon.numpy as gnp
from gnomon.numpy._compiled import compiled

X = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
V = np.arange(4, dtype=np.float32)
X_ = gnp.asarray(X)

CALLS: dict[str, Any] = {
    "reduction": lambda x, v: gnp.sum(x, axis=(0, -1), keepdims=True),
    "traced degrees of freedom": lambda x, v: gnp.var(x, ddof=v[0], where=x > 1),
    "product": lambda x, v: x @ v,
    "einsum": lambda x, v: gnp.einsum("ijk,k->ji", x, v),
    "choice": lambda x, v: gnp.where(x > 2, x, v),
    "join": lambda x, v: gnp.concatenate([x[0, 0], v]),
    "parts": lambda x, v: gnp.split(x, [1, 2], axis=1),
    "index": lambda x, v: (x[..., ::-2, None], x[:], x[-1, :, 1], x[0:0], x[None]),
    "shape": lambda x, v: x.reshape(4, -1).T,
    "pad": lambda x, v: gnp.pad(v, (1, 2), constant_values=(3, 4)),
    "unchanged": lambda x, v: gnp.transpose(v),
    "quantile": lambda x, v: gnp.quantile(x, 0.3, axis=1),
    "order": lambda x, v: gnp.sort(x, axis=1, descending=True)}


@pytest.mark.parametrize("name", CALLS)
def test_remembered_is_like_new(name: str) -> None:
  call = CALLS[name]
  texts = [
      str(gnomon.make_jaxpr(lambda *xs: call(*xs))(X, V)) for _ in range(3)]  # noqa: PLW0108
  assert texts[0] == texts[1] == texts[2]
  for run in (call, gnomon.jit(call)):
    gnomon.tree.map(
        lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-6), run(X, V), call(X, V))
  tangents = [gnomon.jvp(call, (X, V), (X, V)) for _ in range(2)]
  gnomon.tree.map(np.testing.assert_array_equal, *tangents)


def _traces(*calls: Any, **how: Any) -> int:
  """How often the body of a function runs for some calls."""
  count = 0

  @compiled(**{"static": ("axis",), **how})
  def f(x: Any, axis: Any = None, y: Any = None) -> Any:
    nonlocal count
    count += 1
    xs = x if isinstance(x, list) else [x]
    total = gnp.sum(xs[0], axis=axis if isinstance(axis, tuple) else None)
    return total if y is None else total * y

  def program(x: Any) -> None:
    for call in calls:
      call(f, x)

  gnomon.make_jaxpr(program)(X)
  return count


def test_the_body_runs_once_for_a_signature() -> None:
  assert _traces(*[lambda f, x: f(x, axis=(0, 1))] * 3) == 1
  assert _traces(lambda f, x: f(x, axis=(0, 1)), lambda f, x: f(x, axis=(1, 0))) == 2
  assert _traces(*[lambda f, x: f([x, x])] * 2, lambda f, x: f([x])) == 2
  assert _traces(*[lambda f, x: f(x)] * 2, replay=False) == 2


def test_what_is_equal_but_not_the_same() -> None:
  # 1, 1.0 and True are equal, 0.0 and -0.0 too.
  assert _traces(*[lambda f, x, a=a: f(x, a) for a in (1, 1.0, True, 0.0, -0.0, 0)]) == 6
  one = gnp.float32(2)
  texts = [
      str(gnomon.make_jaxpr(lambda x: gnp.where(x > 1, x, zero))(V))  # noqa: B023
      for zero in (0.0, -0.0, 0, one, 0.0)]
  assert "-0.0" in texts[1]
  assert "-0.0" not in texts[0] + texts[2] + texts[4]


def test_options_are_part_of_the_signature() -> None:
  def text() -> str:
    x = X.astype(np.int8)
    return str(gnomon.make_jaxpr(lambda x: gnp.sum(x, axis=1) @ x[0].T)(x))

  narrow = text()
  with gnomon.enable_x64(True):
    assert "i64" in text()
  assert text() == narrow
  with gnomon.numpy_rank_promotion("raise"), pytest.raises(ValueError, match="rank"):
    gnomon.make_jaxpr(lambda x: gnp.where(x > 0, x, V) + V)(X)


def test_bodies_that_must_run() -> None:
  inner = []

  def piece(x: Any) -> Any:  # may look at the world around it each time
    inner.append(x)
    return x + len(inner)

  def f(x: Any) -> Any:
    return gnp.piecewise(x, [x > 1], [piece, 0.0])

  first, second = (gnomon.jit(lambda x: f(x))(V) for _ in range(2))  # noqa: PLW0108
  assert first.tolist() != second.tolist()
  # A constant of the outer program is none of the remembered one.
  assert gnomon.jit(lambda x: gnp.where(x > 1, x, gnp.asarray(V)))(V).tolist() == [
      0, 1, 2, 3]


def test_errors_come_from_the_call_itself() -> None:
  for _ in range(2):
    with pytest.raises(ValueError, match="out of bounds"):
      gnomon.make_jaxpr(lambda x: gnp.sum(x, axis=7))(X)
    with pytest.raises(IndexError, match="Too many indices"):
      gnomon.make_jaxpr(lambda x: x[0, 0, 0, 0])(X)


def test_derivatives_of_mapped_products() -> None:
  f = gnomon.grad(lambda x, v: (x @ v).sum() + (x[1] * v).sum(axis=0)[0])
  got = gnomon.vmap(f, in_axes=(None, 0))(X, np.stack([V, -V]))
  for row, v in zip(got, (V, -V)):
    np.testing.assert_allclose(row, f(X, v), rtol=1e-6)


@pytest.mark.parametrize("index", [
    0, -1, slice(1, None), (0, slice(None, None, 2), None), (Ellipsis, 1), None, ()])
@pytest.mark.parametrize("method", ["set", "add"])
def test_writes_at_known_indices(index: Any, method: str) -> None:
  values = (2, 2.0, -0.0, 0.0, np.float32(3), gnp.asarray(4.0))

  def f(x: Any, v: Any) -> list[Any]:
    return [getattr(x.at[index], method)(value) for value in (*values, v)]

  want = [getattr(X_.at[index], method)(value) for value in (*values, 5.0)]
  for got in (gnomon.jit(f)(X, 5.0), gnomon.vmap(f, axis_size=1, in_axes=None)(X_, 5.0)):
    for g, w in zip(got, want, strict=True):
      g = np.reshape(g[0], w.shape) if g.ndim > w.ndim else g
      np.testing.assert_array_equal(g, w)
      np.testing.assert_array_equal(np.signbit(g), np.signbit(w))


def test_a_read_may_be_any_known_index() -> None:
  indices = ((0, slice(None, None, -1)), (slice(1), None, 1), -1, (), None, Ellipsis)
  for got, i in zip(gnomon.jit(lambda x: [x[e] for e in indices * 2])(X), indices * 2):
    np.testing.assert_array_equal(got, X[i])


class Held:
  """Stands for an array, and looks like one."""

  def __init__(self, value: Any) -> None:
    self.value = value

  def __jax_array__(self) -> Any:
    return self.value

  def __getattr__(self, name: str) -> Any:
    return getattr(self.value, name)


def test_what_stands_for_a_mapped_array_is_mapped() -> None:
  for f in (lambda w: gnp.asarray(V) @ Held(w), lambda w: gnp.vdot(V, Held(w)),
            lambda w: gnp.stack([X_[0, 0], Held(w)]).sum(0) @ V):
    want = np.stack([np.asarray(f(w)) for w in X_[0]])
    np.testing.assert_allclose(gnomon.vmap(f)(X_[0]), want)
