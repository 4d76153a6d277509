"""`closure_convert`, `custom_gradient`: rules and what functions close over."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gnomon
from gnomon.core.trace import Tracer

X = np.float32(3)


@pytest.mark.parametrize("wrap", [lambda f: f, gnomon.jit])
def test_closure_convert_hoists_what_is_differentiated(ops: Any, wrap: Any) -> None:
  def outer(y: Any) -> Any:
    table = np.arange(2, dtype=np.float32)

    def f(x: Any) -> Any:
      return {"a": ops.mul(ops.mul(x, y), table)}

    converted, values = gnomon.closure_convert(f, X)
    assert len(values) == isinstance(y, Tracer)
    assert converted.__name__ == "f"
    return ops.sum(converted(np.float32(2), *values)["a"])

  assert float(wrap(outer)(X)) == 6.0
  assert float(wrap(gnomon.grad(outer))(X)) == 2.0


def test_closure_convert_leaves_constants_and_integers(ops: Any) -> None:
  converted, values = gnomon.closure_convert(
      lambda x: ops.mul(x, np.ones(3, np.float32)), X)
  assert values == []
  assert converted(X).shape == (3,)

  def outer(n: Any) -> Any:
    converted, values = gnomon.closure_convert(lambda x: (x, ops.neg(n)), X)
    assert values == []
    return converted(X)[1]

  assert int(gnomon.jit(outer)(np.int32(4))) == -4


def test_closure_convert_refuses_other_structures(ops: Any) -> None:
  converted, _ = gnomon.closure_convert(ops.sin, X)
  for args in ((), (X, X), ((X,),)):
    with pytest.raises(TypeError, match=r"(?s)same Pytree structure.*Expected"):
      converted(*args)


GRADIENTS = [  # a rule for x y, and the gradients that it gives at (2, 3)
    (lambda mul, x, y: lambda ct: (mul(ct, 10.0), mul(ct, y)), (10.0, 3.0)),
    (lambda mul, x, y: lambda ct: (None, mul(ct, mul(x, y))), (0.0, 6.0)),
    (lambda mul, x, y: lambda ct: (np.float32(1), ct), (1.0, 1.0))]


@pytest.mark.parametrize("wrap", [lambda f: f, gnomon.jit, gnomon.checkpoint])
@pytest.mark.parametrize(("rule", "want"), GRADIENTS)
def test_custom_gradient(ops: Any, rule: Any, want: Any, wrap: Any) -> None:
  @gnomon.custom_gradient
  def f(x: Any, y: Any) -> Any:
    """Their product."""
    return ops.mul(x, y), rule(ops.mul, x, y)

  assert f.__doc__ == "Their product."
  x, y = np.float32(2), np.float32(3)
  assert float(wrap(f)(x, y=y) if wrap is not gnomon.checkpoint else f(x, y)) == 6.0
  got = gnomon.grad(wrap(f), (0, 1))(x, y)
  assert tuple(map(float, got)) == want
  xs = np.array([2, 4], np.float32)
  if rule is not GRADIENTS[2][0]:
    mapped = gnomon.vmap(gnomon.grad(f, (0, 1)), (0, None))(xs, y)
    each = [gnomon.grad(f, (0, 1))(v, y) for v in xs]
    np.testing.assert_allclose(np.asarray(mapped), np.array(each, np.float32).T)


def test_custom_gradient_of_pytrees_and_one_argument(ops: Any) -> None:
  @gnomon.custom_gradient
  def f(x: Any) -> Any:
    return {"y": ops.mul(x, x)}, lambda ct: ops.mul(ct["y"], 7.0)

  assert float(gnomon.grad(lambda x: f(x)["y"])(X)) == 7.0
  assert float(gnomon.grad(gnomon.grad(lambda x: f(x)["y"]))(X)) == 0.0


def test_custom_gradient_refuses(ops: Any) -> None:
  with pytest.raises(TypeError, match="to return a pair"):
    gnomon.custom_gradient(ops.sin)(X)
  with pytest.raises(TypeError, match="expects a function"):
    gnomon.custom_gradient(3)
  f = gnomon.custom_gradient(lambda x, y: (ops.mul(x, y), lambda ct: (ct,)))
  with pytest.raises(TypeError, match="one cotangent an argument"):
    gnomon.grad(f)(X, X)
