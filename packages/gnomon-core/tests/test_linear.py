"""Reverse mode as a value, `fwd_and_bwd`, `linear_transpose`, `linear_call`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gnomon
from gnomon.ad import DidntWant, DontWant, GradRef, GradValue
from gnomon.custom_derivatives import (
  CustomVJPPrimal,
  SymbolicZero,
  custom_vjp_primal_tree_values,
  linear_call,
  zero_from_primal,
)
from gnomon.tree_util import tree_leaves, tree_map

X, Y = np.float32(0.5), np.float32(3)
COS = float(np.cos(0.5))
SIN = float(np.sin(0.5))


# ---- vjp functions and linear functions are pytrees


def test_a_vjp_function_leaves_jit_and_enters_another(ops: Any) -> None:
  pull = gnomon.jit(lambda x, y: gnomon.vjp(lambda x, y: ops.mul(ops.sin(x), y), x, y)[1])
  found = pull(X, Y)
  assert sorted(float(v) for v in tree_leaves(found)) == pytest.approx(
      sorted([COS, SIN, 3.0]))
  got = gnomon.jit(lambda p, ct: p(ct))(found, np.float32(2))
  np.testing.assert_allclose(got, (2 * COS * 3, 2 * SIN), rtol=1e-6)
  doubled = tree_map(lambda v: ops.mul(v, 2.0), found)
  np.testing.assert_allclose(doubled(np.float32(1)), (12 * COS, 2 * SIN), rtol=1e-6)


def test_a_linear_function_leaves_jit(ops: Any) -> None:
  push = gnomon.jit(lambda x: gnomon.linearize(ops.sin, x)[1])(X)
  assert float(push(np.float32(2))) == pytest.approx(2 * COS)
  assert len(tree_leaves(push)) == 1
  with pytest.raises(TypeError, match="takes tangents of the structure"):
    push(X, X)
  with pytest.raises(ValueError, match="inconsistent with the original"):
    push(np.ones(2, np.float32))


def test_arguments_among_the_residuals(ops: Any) -> None:
  _, pull = gnomon.vjp(lambda x, y: ops.mul(ops.sin(x), y), X, np.ones(2, np.float32))
  assert repr(pull.args_res[0]) == "NotNeeded()"
  assert pull.args_res[1].shape == (2,)
  assert len(pull.opaque_residuals) == 2
  pull.args_res[1] = np.array([5, 0], np.float32)
  gx, _ = pull(np.ones(2, np.float32))
  assert float(gx) == pytest.approx(5 * COS, rel=1e-6)
  pull.args_res[1] = None
  with pytest.raises(ValueError, match=r"needs the argument leaf 1: set args_res\[1\]"):
    pull(np.ones(2, np.float32))


class _Cell:
  """A mutable reference, as far as `with_refs` knows."""

  def __init__(self, value: Any) -> None:
    self.value = value

  def __getitem__(self, _: Any) -> Any:
    return self.value

  def __setitem__(self, _: Any, value: Any) -> None:
    self.value = value


def test_with_refs(ops: Any) -> None:
  _, pull = gnomon.vjp(lambda p, y: ops.mul(ops.mul(p["a"], p["b"]), y),
                       {"a": np.float32(2), "b": np.float32(3)}, np.float32(5))
  one = np.float32(1)
  grads, gy = pull.with_refs(GradValue(), DontWant())(one)
  assert (float(grads["a"]), float(grads["b"]), gy) == (15.0, 10.0, DidntWant())
  cell = _Cell(np.float32(100))
  got = pull.with_refs({"a": cell, "b": DontWant()}, GradValue())(one)
  assert got[0] == {"a": GradRef(), "b": DidntWant()}
  assert (float(cell.value), float(got[1])) == (115.0, 6.0)
  for wanted, products in (((GradValue(),) * 2, 4), ((DontWant(), GradValue()), 1)):
    text = str(gnomon.make_jaxpr(pull.with_refs(*wanted))(one))
    assert text.count("test_mul") == products  # what is not wanted is not computed
  with pytest.raises(TypeError, match="with_refs takes"):
    pull.with_refs(GradValue(), 3)(one)


def test_cotangents_that_do_not_fit(ops: Any) -> None:
  _, pull = gnomon.vjp(ops.sin, X)
  with pytest.raises(ValueError, match="unexpected tree structure"):
    pull((X,))
  with pytest.raises(ValueError, match=r"got f32\[2\], but expected f32\[\]"):
    pull(np.ones(2, np.float32))
  with pytest.raises(TypeError, match="with 2 arguments, but"):
    pull(X, X)


@pytest.mark.parametrize("jitted", [True, False])
def test_fwd_and_bwd(ops: Any, jitted: bool) -> None:
  def f(p: Any, y: Any, *, scale: Any) -> Any:
    return ops.mul(ops.mul(ops.sin(p["x"]), y), scale), y

  fwd, bwd = gnomon.fwd_and_bwd(f, (0, 1), has_aux=True, jitted=jitted)
  out, res, aux = fwd({"x": X}, Y, scale=np.float32(2))
  assert (float(out), float(aux)) == (pytest.approx(6 * SIN), 3.0)
  gp, gy = bwd(res, np.float32(1))
  assert (float(gp["x"]), float(gy)) == (pytest.approx(6 * COS), pytest.approx(2 * SIN))
  fwd, bwd = gnomon.fwd_and_bwd(ops.sin, 0, jitted=jitted)
  assert float(bwd(fwd(X)[1], Y)) == pytest.approx(3 * COS)


# ---- linear_transpose


def test_linear_transpose(ops: Any) -> None:
  shape = gnomon.ShapeDtypeStruct((3,), "float32")
  scalar = gnomon.ShapeDtypeStruct((), "float32")
  w = np.arange(3, dtype=np.float32)

  def f(x: Any, s: Any) -> Any:
    return {"a": ops.mul(x, w), "b": ops.neg(ops.sum(x)), "c": gnomon.jit(ops.neg)(s)}

  back = gnomon.linear_transpose(f, shape, scalar)
  ones = np.ones(3, np.float32)
  got = gnomon.jit(back)({"a": ones, "b": X, "c": Y})
  np.testing.assert_allclose(got[0], w - 0.5)
  assert float(got[1]) == -3.0
  again = gnomon.linear_transpose(back, {"a": shape, "b": scalar, "c": scalar})
  np.testing.assert_allclose(again((ones, Y))[0]["a"], w)
  n = gnomon.linear_transpose(ops.neg, np.int32(1))(np.int32(3))
  assert (int(n[0]), n[0].dtype) == (-3, np.int32)
  np.testing.assert_allclose(  # an argument that is not used
      gnomon.linear_transpose(lambda x, y: x, shape, shape)(ones), [ones, 0 * ones])


def test_linear_transpose_refuses(ops: Any) -> None:
  scalar = gnomon.ShapeDtypeStruct((), "float32")
  back = gnomon.linear_transpose(ops.neg, scalar)
  with pytest.raises(TypeError, match="cotangent tree does not match"):
    back((X,))
  with pytest.raises(TypeError, match="cotangent type does not match"):
    back(np.ones(2, np.float32))
  with pytest.raises(TypeError, match="only supports"):
    gnomon.linear_transpose(lambda n, x: x, np.int32(1), scalar)
  with pytest.raises(NotImplementedError, match="test_sin"):
    gnomon.linear_transpose(ops.sin, scalar)(X)
  with pytest.raises(NotImplementedError, match="reduce_axes"):
    gnomon.linear_transpose(ops.neg, scalar, reduce_axes=("i",))


# ---- linear_call


def _scaled(ops: Any, x: Any, r: Any) -> Any:
  """r x, whose transpose is ten times what it should be, so that its use shows."""
  return linear_call(
      lambda r, x: {"y": ops.mul(r, x)}, lambda r, ct: ops.mul(ops.mul(r, ct["y"]), 10.0),
      r, x)["y"]


@pytest.mark.parametrize("wrap", [lambda f: f, gnomon.jit, gnomon.checkpoint])
def test_linear_call(ops: Any, wrap: Any) -> None:
  f = wrap(lambda x: _scaled(ops, x, Y))
  assert float(f(X)) == 1.5
  assert float(gnomon.jvp(f, (X,), (np.float32(1),))[1]) == 3.0
  assert float(gnomon.grad(f)(X)) == 30.0
  assert float(gnomon.grad(lambda x: ops.mul(gnomon.grad(f)(x), x))(X)) == 30.0
  back = gnomon.linear_transpose(f, X)
  assert float(back(X)[0]) == 15.0
  assert float(gnomon.linear_transpose(back, X)((X,))[0]) == 1.5
  xs = np.arange(3, dtype=np.float32)
  np.testing.assert_allclose(np.asarray(gnomon.vmap(f)(xs)), 3 * xs)
  np.testing.assert_allclose(np.asarray(gnomon.vmap(gnomon.grad(f))(xs)), [30] * 3)
  total = gnomon.grad(lambda xs: ops.sum(gnomon.vmap(f)(xs)))(xs)
  np.testing.assert_allclose(np.asarray(total), [30] * 3)
  both = gnomon.grad(lambda x: ops.sum(
      gnomon.vmap(lambda x, r: _scaled(ops, x, r), (None, 0))(x, xs)))
  assert float(both(X)) == 10 * xs.sum()


def test_linear_call_refuses(ops: Any) -> None:
  with pytest.raises(NotImplementedError, match="residual arguments"):
    gnomon.grad(lambda r: _scaled(ops, X, r))(Y)
  bad = [(lambda r, ct: (ct, ct), "structure"), (lambda r, ct: np.ones(3), "of the type")]
  for back, match in bad:
    with pytest.raises(TypeError, match=match):
      gnomon.grad(lambda x, b=back: linear_call(lambda r, x: x, b, Y, x))(X)


# ---- zeros


def test_zeros_of_values() -> None:
  assert float(zero_from_primal(X)) == 0
  assert zero_from_primal(np.arange(2)).dtype == gnomon.dtypes.float0
  zero = zero_from_primal(X, symbolic_zeros=True)
  assert type(zero) is SymbolicZero
  assert zero.aval == SymbolicZero.from_primal_value(X).aval
  one, (two, none) = zero_from_primal((X, (np.ones(3, np.float32), None)))
  assert (float(one), two.tolist(), none) == (0, [0, 0, 0], None)
  zeros = zero_from_primal({"a": X, "b": [2]}, symbolic_zeros=True)
  assert {type(zeros["a"]), type(zeros["b"][0])} == {SymbolicZero}
  assert custom_vjp_primal_tree_values([CustomVJPPrimal(1, False)]) == [1]
  with pytest.raises(TypeError, match="CustomVJPPrimal"):
    custom_vjp_primal_tree_values([1.0])
