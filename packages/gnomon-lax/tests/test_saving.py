"""Loops and branches under `checkpoint`: what is saved, what is computed again."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gnomon
from gnomon import checkpoint_policies as policies
from gnomon import lax

W = np.full((3, 3), 0.3, np.float32)
ONES = np.ones(3, np.float32)
X = np.float32(0.4)


def _cos(prim: Any, *_: Any, **__: Any) -> bool:
  return str(prim) == "cos"


def _sin(prim: Any, *_: Any, **__: Any) -> bool:
  return str(prim) == "sin"


def _layers(w: Any) -> Any:
  def f(x: Any) -> Any:
    for _ in range(3):
      x = lax.sin(lax.dot(x, w))
    return x

  return f


def _carry(x: Any) -> Any:
  return lax.scan(lambda c, _: (lax.sin(c), lax.sin(c)), x, None, length=3)[0]


def _stacked(x: Any) -> Any:
  c, ys = lax.scan(
      lambda c, s: (lax.sin(lax.mul(c, s)), lax.sin(c)), x, np.float32([1, 2, 3]))
  return lax.add(c, lax.reduce_sum(ys, (0,)))


def _products(w: Any) -> Any:
  y = lax.scan(lambda x, _: (_layers(w)(x), None), ONES, None, length=2)[0]
  return lax.reduce_sum(y, (0,))


def _branch(x: Any) -> Any:
  return lax.cond(lax.gt(x, 0.0), lambda x: lax.sin(lax.cos(x)), lax.sin, x)


def _branch_of_products(w: Any) -> Any:
  positive = lax.gt(lax.reduce_sum(w, (0, 1)), 0.0)
  y = lax.cond(positive, lambda v: _layers(v)(ONES), lambda v: lax.neg(ONES), w)
  return lax.reduce_sum(y, (0,))


def _nested(x: Any) -> Any:
  def body(c: Any, _: Any) -> Any:
    inner = lax.scan(lambda d, _: (lax.sin(d), None), c, None, length=2)[0]
    return lax.cond(True, gnomon.jit(lax.sin), lax.cos, inner), inner

  return lax.scan(body, x, None, length=2)[0]


POLICIES: dict[str, Any] = {
    "cos": _cos, "sin": _sin, "all": policies.everything_saveable,
    "nothing": policies.nothing_saveable, "dots": policies.dots_saveable}
# How often sin, cos and dot_general occur in the linear function, a policy each.
CASES: dict[str, tuple[Any, Any, dict[str, tuple[int, int, int]]]] = {
    "carry": (_carry, X, {"cos": (0, 0, 0), "all": (0, 0, 0)}),
    "stacked": (_stacked, X, {
        "cos": (0, 0, 0), "sin": (0, 2, 0), "all": (0, 0, 0), "nothing": (1, 2, 0)}),
    "products": (_products, W, {
        "cos": (3, 0, 9), "sin": (0, 3, 9), "all": (0, 0, 6), "nothing": (3, 3, 9),
        "dots": (3, 3, 6)}),
    "branch": (_branch, X, {"all": (0, 0, 0), "cos": (1, 0, 0)}),
    "branch of products": (_branch_of_products, W, {
        "all": (0, 0, 5), "dots": (2, 3, 5), "nothing": (2, 3, 8)}),
    "nested": (_nested, X, {"all": (0, 0, 0)}),
}


@pytest.mark.parametrize("name", list(CASES))
def test_what_is_saved(name: str) -> None:
  f, x, counts = CASES[name]
  value, slope = gnomon.jit(gnomon.value_and_grad(f))(x)
  for policy, count in counts.items():
    g = gnomon.checkpoint(f, policy=POLICIES[policy])
    found = gnomon.jit(gnomon.value_and_grad(g))(x)
    np.testing.assert_allclose(found[0], value, rtol=1e-6)
    np.testing.assert_allclose(found[1], slope, rtol=1e-5, err_msg=policy)
    text = str(gnomon.make_jaxpr(gnomon.linearize(g, x)[1])(x))
    got = tuple(text.count(f" {op} ") for op in ("sin", "cos"))
    assert (*got, text.count(" dot_general[")) == count, policy


@pytest.mark.parametrize("name", list(CASES))
def test_second_derivatives(name: str) -> None:
  f, x, counts = CASES[name]
  g = gnomon.checkpoint(f, policy=POLICIES[next(iter(counts))])
  want, got = (
      gnomon.jit(gnomon.grad(lambda x, h=h: _total(gnomon.grad(h)(x))))(x)
      for h in (f, g))
  np.testing.assert_allclose(got, want, rtol=1e-4)


def _total(x: Any) -> Any:
  return lax.reduce_sum(x, tuple(range(gnomon.typeof(x).ndim)))


def test_values_of_a_step_that_wait_elsewhere() -> None:
  policy = policies.offload_dot_with_no_batch_dims("device", "pinned_host")
  g = gnomon.checkpoint(_products, policy=policy)
  np.testing.assert_allclose(
      gnomon.jit(gnomon.grad(g))(W), gnomon.grad(_products)(W), rtol=1e-5)
  assert str(gnomon.make_jaxpr(gnomon.grad(g))(W)).count("device_put[") == 6
