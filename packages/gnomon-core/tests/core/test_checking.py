"""Each check of `core.checking` finds its fault in a jaxpr made by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gnomon
from gnomon.core import checking
from gnomon.core.effects import Effect
from gnomon.core.jaxpr import ClosedJaxpr, DropVar, Eqn, Jaxpr, Literal, Var
from gnomon.core.primitive import Primitive
from gnomon.core.rule import typing_rule
from gnomon.core.stage import close
from gnomon.core.types import ShapedArray
from gnomon.transform.call import jit_p

A = ShapedArray((3,), np.float32)
B = ShapedArray((), np.int32)

pair_p = Primitive("test_pair")


@typing_rule.define(pair_p)
def _(x: Any, **_: Any) -> Any:
  return x, B


def _eqn(x: Any, y: Any, n: Any, **changes: Any) -> Eqn:
  return Eqn(pair_p, [x], [y, n], changes.pop("params", {}), **changes)


def _check(eqns: list[Eqn], outs: list[Any], x: Any, *more: Any, **effects: Any) -> None:
  checking.check_jaxpr(Jaxpr([], [x, *more], outs, eqns, **effects))


def test_a_well_formed_program_passes(ops: Any) -> None:
  x, y, n = Var(A), Var(A), Var(B)
  _check([_eqn(x, y, n)], [y, n, Literal(1.0, A)], x)
  _check([_eqn(x, y, DropVar(B)), _eqn(y, Var(A), DropVar(B))], [], x)
  checking.check_jaxpr(gnomon.make_jaxpr(gnomon.grad(gnomon.jit(ops.sin)))(1.0))


def _faults() -> dict[str, tuple[Any, str]]:
  x, y, n, z = Var(A), Var(A), Var(B), Var(A)
  noise = frozenset({Effect()})
  return {
      "unbound operand": (
          lambda: _check([_eqn(z, y, n)], [y], x),
          r"equation 0 \(test_pair\) uses Var.*, which nothing binds before"),
      "used before it is bound": (
          lambda: _check([_eqn(y, z, n), _eqn(x, y, Var(B))], [], x),
          r"equation 0 \(test_pair\) uses"),
      "bound twice": (
          lambda: _check([_eqn(x, y, n), _eqn(x, y, Var(B))], [], x),
          r"equation 1 \(test_pair\) binds Var.*, which is bound already"),
      "an input bound again": (
          lambda: _check([_eqn(x, x, n)], [], x), "is bound already"),
      "an input twice": (lambda: _check([], [], x, x), "the input Var.* occurs twice"),
      "unbound result": (lambda: _check([], [y], x), "the result Var.* is not bound"),
      "a result of another type": (
          lambda: _check([_eqn(x, Var(B), n)], [], x),
          r"has a result of type int32\[\], its primitive gives float32\[3\]"),
      "too few results": (
          lambda: _check([Eqn(pair_p, [x], [y], {})], [], x),
          "has 1 results, its primitive gives 2"),
      "effects that the program lacks": (
          lambda: _check([_eqn(x, y, n, effects=noise)], [], x),
          r"has effects that the jaxpr lacks: \{Effect\}"),
      "a parameter without hash": (
          lambda: _check([_eqn(x, y, n, params={"axes": [0]})], [], x),
          r"parameter axes=\[0\], which is not hashable"),
  }


@pytest.mark.parametrize("name", _faults())
def test_each_fault_is_found_and_told(name: str) -> None:
  run, match = _faults()[name]
  with pytest.raises(gnomon.errors.JaxprTypeError, match=match) as e:
    run()
  assert "let" in str(e.value)  # the program is shown


def test_effects_that_an_equation_lacks() -> None:
  from gnomon.core.rule import effects_rule
  p = Primitive("test_noisy")
  noise = Effect()
  typing_rule.define(p)(lambda x: (x,))
  effects_rule.define(p)(lambda x: frozenset({noise}))
  x, y = Var(A), Var(A)
  with pytest.raises(gnomon.errors.JaxprTypeError, match=r"lacks the effects \{Effect\}"):
    _check([Eqn(p, [x], [y], {})], [y], x)
  own = frozenset({noise})
  _check([Eqn(p, [x], [y], {}, own)], [y], x, effects=own)


def test_all_faults_are_told_at_once() -> None:
  x = Var(A)
  with pytest.raises(gnomon.errors.JaxprTypeError, match=r"(?s)nothing binds.*not bound"):
    _check([_eqn(Var(A), Var(A), Var(B))], [Var(A)], x)


def test_programs_inside_are_checked() -> None:
  x, y, z = Var(A), Var(A), Var(A)
  inner = close(Jaxpr([], [x], [y], []))
  call = Eqn(jit_p, [z], [Var(A)], {"jaxpr": inner, "name": "f", "inline": False})
  with pytest.raises(gnomon.errors.JaxprTypeError, match=r"result Var.* is not bound"):
    _check([call], [], z)


def test_a_closed_jaxpr_needs_a_value_for_each_constant() -> None:
  c = Var(A)
  with pytest.raises(ValueError, match="1 constants, 0 values"):
    ClosedJaxpr(Jaxpr([c], [], [c], []), [])


def test_enable_checks_checks_what_is_traced(ops: Any) -> None:
  p, results = Primitive("test_fickle"), iter([A, A, B])
  typing_rule.define(p)(lambda x: (next(results),))
  gnomon.make_jaxpr(p.bind)(np.float32(1))
  with gnomon.enable_checks(True):
    gnomon.make_jaxpr(ops.sin)(1.0)
    gnomon.make_jaxpr(p.bind)(np.float32(1))
    with pytest.raises(gnomon.errors.JaxprTypeError, match=r"test_fickle.*int32"):
      gnomon.make_jaxpr(p.bind)(np.float32(1))


def test_a_parameter_without_hash_is_told_when_it_is_bound(ops: Any) -> None:
  for bind in (gnomon.make_jaxpr(lambda x: pair_p.apply(x, axes=[0])),
               lambda x: pair_p.apply(x, axes=[0])):
    with pytest.raises(TypeError, match=r"parameter axes=\[0\] of test_pair .*a tuple"):
      bind(np.ones(3, np.float32))
