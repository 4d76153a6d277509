"""Symbolic zeros in rules of `custom_jvp` and `custom_vjp`, and `defjvps`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gnomon
from gnomon.api.custom import SymbolicZero
from gnomon.core.jaxpr import eval_jaxpr

TEN = np.float32(10)


def test_symbolic_zeros_of_custom_jvp(ops: Any) -> None:
  seen: list[Any] = []

  @gnomon.custom_jvp
  def f(x: Any, y: Any) -> Any:
    return ops.mul(x, y)

  def rule(primals: Any, tangents: Any) -> Any:
    seen.append([type(t) is SymbolicZero for t in tangents])
    for p, t in zip(primals, tangents, strict=True):
      assert (t.shape, t.dtype) == (gnomon.typeof(p).shape, gnomon.typeof(p).dtype)
    if all(type(t) is SymbolicZero for t in tangents):
      return f(*primals), SymbolicZero(gnomon.typeof(primals[0]))
    return f(*primals), ops.mul(
        next(t for t in tangents if type(t) is not SymbolicZero), TEN)

  f.defjvp(rule, symbolic_zeros=True)
  assert float(gnomon.grad(f, 1)(2.0, 3.0)) == 10.0
  assert seen == [[True, False]]
  assert float(gnomon.grad(gnomon.jit(f), 0)(2.0, 3.0)) == 10.0
  assert seen[-1] == [False, True]


def test_symbolic_zeros_of_custom_vjp(ops: Any) -> None:
  perturbed, zeros = [], []

  @gnomon.custom_vjp
  def f(x: Any, y: Any) -> Any:
    return ops.mul(x, y), ops.add(x, y)

  def fwd(x: Any, y: Any) -> Any:
    perturbed.append((x.perturbed, y.perturbed))
    return f(x.value, y.value), (x.value, y.value)

  def bwd(res: Any, cts: Any) -> Any:
    zeros.append(tuple(type(ct) is SymbolicZero for ct in cts))
    live = next(ct for ct in cts if type(ct) is not SymbolicZero)
    return ops.mul(live, TEN), None

  f.defvjp(fwd, bwd, symbolic_zeros=True)
  assert float(gnomon.grad(lambda x: f(x, 2.0)[1])(1.0)) == 10.0
  assert (perturbed, zeros) == ([(True, False)], [(True, False)])
  assert float(gnomon.grad(gnomon.jit(lambda x: f(x, 2.0)[0]))(1.0)) == 10.0
  assert zeros[-1] == (False, True)


# ---- defjvps


def test_defjvps(ops: Any) -> None:
  @gnomon.custom_jvp
  def f(x: Any, y: Any, z: Any) -> Any:
    return ops.mul(ops.mul(x, y), z)

  f.defjvps(lambda t, ans, x, y, z: ops.mul(t, ans), None, lambda t, ans, x, y, z: t)
  got = gnomon.grad(f, (0, 1, 2))(2.0, 3.0, 4.0)
  assert [float(g) for g in got] == [24.0, 0.0, 1.0]
  f.defjvps(None, None, None)
  assert float(gnomon.grad(f)(2.0, 3.0, 4.0)) == 0.0
  g = gnomon.custom_jvp(lambda n, x: x, nondiff_argnums=0)
  with pytest.raises(TypeError, match=r"defjvps.*nondiff_argnums"):
    g.defjvps(None)


@pytest.mark.parametrize("number", [
    True, 3, 2.5, 1j, np.float32(2), np.int8(3), np.arange(3, dtype=np.int32)])
@pytest.mark.parametrize("kind", ["jvp", "vjp", "vjp of symbolic zeros"])
def test_rules_get_literals_of_programs_as_arrays(
    ops: Any, kind: str, number: Any) -> None:
  seen: list[Any] = []

  def jvp(primals: Any, tangents: Any) -> Any:
    seen[:] = [primals[1]]
    return primals[0], tangents[0]

  def fwd(x: Any, n: Any) -> Any:
    x, n = (x.value, n.value) if kind.endswith("zeros") else (x, n)
    seen[:] = [n]
    return x, n

  f: Any
  if kind == "jvp":
    f = gnomon.custom_jvp(lambda x, n: x)
    f.defjvp(jvp)
  else:
    f = gnomon.custom_vjp(lambda x, n: x)
    f.defvjp(fwd, lambda n, ct: (ct, None), symbolic_zeros=kind.endswith("zeros"))

  def staged() -> Any:
    return gnomon.jit(lambda x: f(x, number))

  jaxpr = gnomon.make_jaxpr(staged())(1.0).jaxpr
  programs = (
      lambda: gnomon.grad(staged())(1.0),
      lambda: gnomon.jit(gnomon.grad(staged()))(1.0),
      lambda: gnomon.grad(lambda x: eval_jaxpr(jaxpr, (), x)[0])(1.0))
  for program in programs if np.ndim(number) == 0 else programs[:2]:
    seen.clear()
    program()
    assert isinstance(seen[0], gnomon.Array)
    assert gnomon.typeof(seen[0]) == gnomon.typeof(number)
  if kind == "jvp" and np.ndim(number) == 0:  # and literals they stay
    text = str(gnomon.make_jaxpr(lambda x: gnomon.jvp(staged(), (x,), (x,)))(1.0))
    assert "convert_element_type" not in text
