"""Products of vectors, matrices, tensors, `einsum`: NumPy's values for all kinds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gnomon
import gnomon.numpy as gnp

Agree = Callable[..., Any]
RNG = np.random.default_rng(0)


def reals(*shape: int) -> Any:
  return RNG.normal(size=shape).astype(np.float32)


def integers(*shape: int) -> Any:
  return RNG.integers(-4, 5, shape).astype(np.int32)


def complexes(*shape: int) -> Any:
  return (reals(*shape) + 1j * reals(*shape)).astype(np.complex64)


SHAPES = [
    ((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 2)), ((2, 3), (3, 2)), ((4, 2, 3), (3,)),
    ((3,), (4, 3, 2)), ((2, 3), (4, 3, 2)), ((5, 1, 2, 3), (4, 3, 2)),
    ((4, 2, 3), (4, 3, 2)), ((2, 0), (0, 3)), ((2, 3), (2, 3)), ((4, 3), (1, 3)),
    ((), (3,)),
    ((), ())]


@pytest.mark.parametrize("make", [reals, integers, complexes])
@pytest.mark.parametrize("name", [
    "dot", "matmul", "inner", "outer", "kron", "vecdot", "vdot"])
def test_products(name: str, make: Any, agree: Agree) -> None:
  for left, right in SHAPES:
    a, b = make(*left), make(*right)
    try:
      with np.errstate(all="ignore"):
        getattr(np, name)(a, b)
    except (ValueError, TypeError):
      if name not in ("vdot", "vecdot"):
        with pytest.raises((ValueError, TypeError)):
          getattr(gnp, name)(a, b)
      continue
    agree(name, a, b, atol=1e-4)


@pytest.mark.parametrize("make", [reals, integers, complexes])
@pytest.mark.parametrize(("left", "right"), [
    ((2, 3), (3,)), ((4, 2, 3), (3,)), ((4, 2, 3), (4, 3)), ((5, 1, 2, 3), (4, 3)),
    ((2, 0), (0,)), ((0, 3), (3,))])
def test_matrices_and_vectors(make: Any, left: Any, right: Any) -> None:
  a, v = make(*left), make(*right)
  np.testing.assert_allclose(
      gnp.matvec(a, v), np.einsum("...ij,...j->...i", a, v), atol=1e-4)
  at = np.swapaxes(a, -1, -2)
  np.testing.assert_allclose(
      gnp.vecmat(v, at), np.einsum("...i,...ij->...j", v.conj(), at), atol=1e-4)


@pytest.mark.parametrize("make", [reals, integers, complexes])
def test_axes(make: Any, agree: Agree) -> None:
  a, b = make(2, 3, 4), make(3, 4, 5)
  for axes in (2, 0, ((1, 2), (0, 1)), ([2, 1], [1, 0]), (1, 0)):
    agree("tensordot", a, b, axes, atol=1e-4)
  agree("vecdot", make(3, 4), make(3, 4), axis=0, atol=1e-4)
  agree("cross", make(4, 3), make(4, 3))
  agree("cross", make(3, 4), make(3, 4), axis=0)
  agree("cross", make(2, 1, 3), make(4, 3))
  agree("cross", make(3, 4), make(4, 3), axisa=0, axisc=0)
  two, three = make(4, 2), make(4, 3)
  flat = np.concatenate([two, np.zeros_like(two[:, :1])], 1)
  np.testing.assert_allclose(gnp.cross(two, three), np.cross(flat, three), atol=1e-5)
  np.testing.assert_allclose(gnp.cross(three, two), np.cross(three, flat), atol=1e-5)
  np.testing.assert_allclose(
      gnp.cross(two, two[::-1]), np.cross(flat, flat[::-1])[:, 2], atol=1e-5)


def test_mixed(agree: Agree) -> None:
  b = integers(3, 4) > 0
  for name in ("matmul", "dot"):
    agree(name, b, b.T)
  agree("kron", b, b)
  agree("outer", b, b)
  agree("matmul", reals(2, 3).astype(np.float16), integers(3, 2), rtol=1e-2)
  agree("matmul", reals(2, 3), complexes(3, 2))
  agree("matmul", integers(2, 3).astype(np.int8), np.abs(integers(3, 2)).astype(np.uint8))
  got = gnp.matmul(integers(2, 3), integers(3, 2), preferred_element_type=np.float32)
  assert got.dtype == np.float32
  jaxpr = gnomon.make_jaxpr(lambda x: gnp.dot(x, x, precision="highest"))(reals(2, 2))
  assert "HIGHEST" in str(jaxpr)


EQUATIONS = [
    "ij,jk->ik", "ij,jk", "ij->ji", "ij->", "ij->j", "ij,ij->", "ij,ij->ij", "i,j->ji",
    "ijk,ikl->ijl", "ij,jk,kl->il", "ij,jk,kl,lm->im", "ij,ij,ij->i", "ijk->kij",
    "ijk,jl->kli", "ijk,kji", "i,i", "im->i", "ijk,ijl->kl", "ij,k->k", "kij,kjl->kil",
    "ijkl,lkm->mij", "ij,kl->ijkl", "i,ij,j", "ij,i->ij", "ii->i", "ii", "iij->ij",
    "ii,ij->j", "...ij,...jk->...ik", "...i->...", "i...->...", "...,...", "a...,b..."]
SIZES = {"i": 2, "j": 3, "k": 4, "l": 5, "m": 2, "a": 3, "b": 2}


@pytest.mark.parametrize("equation", EQUATIONS)
def test_einsum(equation: str, agree: Agree) -> None:
  lead = iter([(6, 1), (5,)])
  shapes: list[tuple[int, ...]] = []
  for term in equation.split("->", maxsplit=1)[0].split(","):
    letters = tuple([SIZES[c] for c in term.replace("...", "")])
    shapes.append((*next(lead), *letters) if "..." in term else letters)
  if equation.startswith("a..."):
    shapes = [(3, 6, 1), (2, 5)]
  if equation.startswith("i..."):
    shapes = [(2, 5)]
  agree("einsum", equation, *[reals(*s) for s in shapes], atol=1e-4)
  agree("einsum", equation, *[integers(*s) for s in shapes])


def test_einsum_forms(agree: Agree) -> None:
  a, b, c = reals(2, 3), reals(3, 4), reals(4, 2)
  agree("einsum", a, [0, 1], b, [1, 2], [2, 0], atol=1e-4)
  agree("einsum", a, [0, 1], b, [1, 2], atol=1e-4)
  agree("einsum", a, [Ellipsis, 1], b[:, 0], [1], [Ellipsis], atol=1e-4)
  agree("einsum", " i j , jk -> i k", a, b, atol=1e-4)
  agree("einsum", "ij,jk->ik", a[:, :1], b, atol=1e-4)
  for optimize in (False, True, "optimal", ["einsum_path", (0, 1), (0, 1)]):
    agree("einsum", "ij,jk,kl->il", a, b, c, optimize=optimize, atol=1e-4)
  agree("einsum", ",", 2, 3)
  path, info = gnp.einsum_path("ij,jk,kl->il", a, b, c)
  assert path == [(1, 2), (0, 1)]
  assert "Complete contraction" in str(info)
  jaxpr = gnomon.make_jaxpr(lambda x: gnp.einsum("ijk,ilk->ilj", x, x))(reals(2, 3, 4))
  assert [e.primitive.name for e in jaxpr.eqns] == ["dot_general"]


def test_errors() -> None:
  a = reals(2, 3)
  for call, error, message in (
      (lambda: gnp.dot(a, a), TypeError, "axis 1"),
      (lambda: gnp.dot([1], [2]), TypeError, "list"),
      (lambda: gnp.matmul(a, 3), ValueError, "ndim 0"),
      (lambda: gnp.matmul(a, a), TypeError, "contracting"),
      (lambda: gnp.matmul(reals(2, 3, 4), reals(3, 4, 5)), ValueError, "incompatible"),
      (lambda: gnp.dot(a, a.T, precision="foo"), ValueError, "foo"),
      (lambda: gnp.outer(a, a, out=a), NotImplementedError, "out"),
      (lambda: gnp.tensordot(a, a, 5), TypeError, "axes .5."),
      (lambda: gnp.tensordot(a, a, ((0,), (0, 1))), TypeError, "equal length"),
      (lambda: gnp.cross(a[:, :1], a[:, :1]), ValueError, "2 or 3"),
      (lambda: gnp.matvec(a[0], a[0]), ValueError, "ndim at least 2"),
      (lambda: gnp.einsum("ij,jk", a, a), ValueError, "label 'j'"),
      (lambda: gnp.einsum("ij->k", a), ValueError, "'k'"),
      (lambda: gnp.einsum("ij->ii", a), ValueError, "more than once"),
      (lambda: gnp.einsum("ij", a, a), ValueError, "number of operands"),
      (lambda: gnp.einsum("i", a), ValueError, "number of indices"),
      (lambda: gnp.einsum("i$", a), ValueError, "letters"),
      (lambda: gnp.einsum("ii", a), ValueError, "'i'"),
      (lambda: gnp.einsum("ij->ij", a, out=a), NotImplementedError, "out"),
      (lambda: gnp.einsum(a, [0, 99]), ValueError, "labels")):
    with pytest.raises(error, match=message):
      call()
