"""Derivatives: forms of arguments, aux, integers, complex numbers, and errors."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest

import gnomon
from gnomon import dtypes

float0 = dtypes.float0


def _poly(ops: Any, x: Any, y: Any, z: Any) -> Any:
  """X²y + z."""
  return ops.add(ops.mul(ops.mul(x, x), y), z)


# ---- argnums


def test_forms_of_argnums(ops: Any) -> None:
  f = functools.partial(_poly, ops)
  args = (3.0, 4.0, 5.0)
  want = (24.0, 9.0, 1.0)
  assert float(gnomon.grad(f)(*args)) == want[0]
  assert float(gnomon.grad(f, 1)(*args)) == want[1]
  assert float(gnomon.grad(f, -1)(*args)) == want[2]
  assert float(gnomon.grad(f, np.int64(1))(*args)) == want[1]
  for nums in ((0, 2), [2, 0], (-3, 1), (1,)):
    got = gnomon.grad(f, nums)(*args)
    assert type(got) is tuple
    assert [float(g) for g in got] == [want[i] for i in nums]


def test_an_argnum_given_twice(ops: Any) -> None:
  with pytest.raises(ValueError, match=r"argnums=\(0, -3\) counts an argument twice"):
    gnomon.grad(functools.partial(_poly, ops), (0, -3))(3.0, 4.0, 5.0)


def test_argnums_out_of_range(ops: Any) -> None:
  def f(x: Any) -> Any:
    return ops.sin(x)

  with pytest.raises(TypeError, match=r"grad of f: .*argnums=1 .*at least 2.*only 1"):
    gnomon.grad(f, 1)(1.0)
  with pytest.raises(TypeError, match=r"argnums=-2 .*at least 2 .*only 1"):
    gnomon.grad(f, -2)(1.0)
  with pytest.raises(TypeError, match=r"argnums must be an int .*'x'"):
    gnomon.grad(f, "x")
  with pytest.raises(TypeError, match=r"value_and_grad of f"):
    gnomon.value_and_grad(f)(x=1.0)


def test_keyword_arguments_are_not_differentiated(ops: Any) -> None:
  f = lambda x, *, y, name="n": ops.mul(x, y)  # noqa: E731
  assert float(gnomon.grad(f)(2.0, y=5.0)) == 5.0
  assert float(gnomon.grad(f)(2.0, y=5, name="text")) == 5.0


# ---- pytrees and aux


def test_pytrees(ops: Any) -> None:
  def f(p: dict[str, Any], nothing: None) -> Any:
    return ops.add(ops.mul(p["a"], p["b"][0]), p["b"][1])

  p = {"a": 2.0, "b": [3.0, np.float32(4)], "c": (), "unused": 7.0}
  value, (g, none) = gnomon.value_and_grad(f, (0, 1))(p, None)
  assert float(value) == 10.0
  assert none is None
  got = gnomon.tree.map(float, g)
  assert got == {"a": 3.0, "b": [2.0, 1.0], "c": (), "unused": 0.0}
  assert g["b"][1].dtype == np.float32


def test_aux_may_be_traced_constant_or_nested(ops: Any) -> None:
  def f(x: Any) -> Any:
    y = ops.sin(x)
    return ops.mul(y, x), {"y": y, "n": 3, "x": x, "none": None}

  for g in (gnomon.grad(f, has_aux=True), gnomon.jit(gnomon.grad(f, has_aux=True))):
    slope, aux = g(0.5)
    assert float(slope) == pytest.approx(np.sin(0.5) + 0.5 * np.cos(0.5), rel=1e-6)
    assert float(aux["y"]) == pytest.approx(np.sin(0.5), rel=1e-6)
    assert (int(aux["n"]), float(aux["x"]), aux["none"]) == (3, 0.5, None)
    float(aux["x"])  # it is no tracer
  (value, aux), slope = gnomon.value_and_grad(f, has_aux=True)(0.5)
  assert float(value) == pytest.approx(0.5 * np.sin(0.5), rel=1e-6)
  value, slope, aux = gnomon.jvp(f, (0.5,), (2.0,), has_aux=True)
  assert float(slope) == pytest.approx(2 * (np.sin(0.5) + 0.5 * np.cos(0.5)), rel=1e-6)
  value, pull, aux = gnomon.vjp(f, 0.5, has_aux=True)
  assert float(pull(2.0)[0]) == pytest.approx(float(slope), rel=1e-6)
  value, push, aux = gnomon.linearize(f, 0.5, has_aux=True)
  assert float(push(2.0)) == pytest.approx(float(slope), rel=1e-6)
  assert float(aux["y"]) == pytest.approx(np.sin(0.5), rel=1e-6)


def test_aux_in_nested_derivatives(ops: Any) -> None:
  def f(x: Any) -> Any:
    return ops.mul(ops.mul(x, x), x), ops.mul(x, x)

  def g(x: Any) -> Any:
    slope, aux = gnomon.grad(f, has_aux=True)(x)
    return ops.add(slope, aux)  # 3x² + x²

  assert float(gnomon.grad(g)(2.0)) == 16.0


@pytest.mark.parametrize("out", [1.0, (1.0,), (1.0, 2.0, 3.0), [1.0, 2.0]])
def test_a_result_that_is_no_pair(ops: Any, out: Any) -> None:
  def f(x: Any) -> Any:
    return out

  with pytest.raises(TypeError, match=r"(?s)has_aux=True.*f at .*two-element tuple"):
    gnomon.grad(f, has_aux=True)(1.0)


# ---- integers


def test_integer_arguments_are_refused(ops: Any) -> None:
  for x in (1, True, np.arange(3), np.array([True])):
    with pytest.raises(TypeError, match="grad requires real- or complex-valued inputs"):
      gnomon.grad(lambda x: 1.0)(x)
  with pytest.raises(TypeError, match=r"real- or complex.*int32"):
    gnomon.grad(lambda p: p["x"])({"x": 1.0, "n": 2})


def test_allow_int_gives_float0(ops: Any) -> None:
  def f(p: Any) -> Any:
    return ops.mul(p["x"], p["x"])

  g = gnomon.grad(f, allow_int=True)({"x": 3.0, "n": np.arange(4), "b": True})
  assert float(g["x"]) == 6.0
  assert g["n"].dtype == float0
  assert g["n"].shape == (4,)
  assert g["b"].dtype == float0
  for size in (4, 100):  # a large constant of the program, which has no bytes
    g = gnomon.jit(gnomon.grad(f, allow_int=True))({"x": 3.0, "n": np.arange(size)})
    assert float(g["x"]) == 6.0
    assert (g["n"].dtype, g["n"].shape) == (float0, (size,))


def test_integers_in_jvp(ops: Any) -> None:
  zero = np.zeros((), float0)
  y, t = gnomon.jvp(lambda x, n: (ops.sin(x), n), (0.0, 3), (2.0, zero))
  assert (float(t[0]), int(y[1]), t[1].dtype) == (2.0, 3, float0)
  with pytest.raises(TypeError, match=r"(?s)primal.*int32.*float0"):
    gnomon.jvp(lambda n: n, (3,), (1,))


def test_integers_in_vjp(ops: Any) -> None:
  y, pull = gnomon.vjp(lambda x, n: (ops.mul(x, x), ops.neg(n)), 3.0, 4)
  gx, gn = pull((1.0, np.zeros((), float0)))
  assert (float(gx), int(y[1]), gn.dtype, gn.shape) == (6.0, -4, float0, ())
  assert float(pull((1.0, 1))[0]) == 6.0  # what is given for an integer is ignored
  _, pull = gnomon.vjp(ops.neg, 3)
  assert pull(np.zeros((), float0))[0].dtype == float0


def test_integers_in_linearize(ops: Any) -> None:
  _, push = gnomon.linearize(lambda x, n: (ops.mul(x, x), n), 3.0, 4)
  t, tn = push(1.0, np.zeros((), float0))
  assert (float(t), tn.dtype) == (6.0, float0)


# ---- complex numbers


def test_real_function_of_a_complex_argument_needs_a_real_result(ops: Any) -> None:
  z = np.complex64(1 + 2j)
  with pytest.raises(TypeError, match=r"real-valued outputs.*complex64.*holomorphic="):
    gnomon.grad(lambda z: ops.mul(z, z))(z)


def test_holomorphic(ops: Any) -> None:
  z = np.complex64(0.3 + 0.4j)
  got = gnomon.grad(ops.sin, holomorphic=True)(z)
  assert complex(got) == pytest.approx(np.cos(0.3 + 0.4j), rel=1e-5)
  with pytest.raises(TypeError, match=r"holomorphic=True requires inputs.*float32"):
    gnomon.grad(ops.sin, holomorphic=True)(1.0)
  with pytest.raises(TypeError, match=r"holomorphic=True requires outputs.*float32"):
    gnomon.grad(lambda z: 1.0, holomorphic=True)(z)


# ---- vjp, linearize, jvp


def test_a_vjp_function_may_be_called_again_and_mapped(ops: Any) -> None:
  _, pull = gnomon.vjp(lambda x, y: (ops.mul(x, y), ops.sin(x)), 2.0, 3.0)
  for _ in range(2):
    gx, gy = pull((1.0, 0.0))
    assert (float(gx), float(gy)) == (3.0, 2.0)
  gx, gy = pull((np.float32(0), np.float32(1)))
  assert float(gx) == pytest.approx(np.cos(2.0), rel=1e-6)
  assert float(gy) == 0.0
  basis = (np.eye(2, dtype=np.float32)[0], np.eye(2, dtype=np.float32)[1])
  gx, gy = gnomon.vmap(pull)(basis)
  np.testing.assert_allclose(np.asarray(gx), [3.0, np.cos(2.0)], rtol=1e-6)
  np.testing.assert_allclose(float(gnomon.jit(pull)((1.0, 0.0))[0]), 3.0)


def test_cotangents_that_do_not_fit(ops: Any) -> None:
  _, pull = gnomon.vjp(ops.sin, np.ones(3, np.float32))
  with pytest.raises(ValueError, match=r"got f32\[2\], but expected f32\[3\]"):
    pull(np.ones(2, np.float32))
  with pytest.raises(ValueError, match=r"got i32\[3\], but expected f32\[3\]"):
    pull(np.ones(3, np.int32))
  with pytest.raises(ValueError, match="structure"):
    pull((np.ones(3, np.float32),))
  with pytest.raises(TypeError):
    pull()


def test_linearize_may_be_called_again_and_checks(ops: Any) -> None:
  calls = 0

  def f(x: Any, y: Any) -> Any:
    nonlocal calls
    calls += 1
    return ops.mul(x, ops.mul(y, y))

  out, push = gnomon.linearize(f, 3.0, 4.0)
  assert float(out) == 48.0
  assert float(push(1.0, 0.0)) == 16.0
  assert float(push(0.0, 1.0)) == 24.0
  assert float(gnomon.jit(push)(1.0, 1.0)) == 40.0
  assert calls == 1
  with pytest.raises(TypeError, match="structure"):
    push(1.0)
  with pytest.raises(ValueError, match=r"float32\[2\]"):
    push(1.0, np.ones(2, np.float32))


def test_tangents_that_do_not_fit(ops: Any) -> None:
  with pytest.raises(TypeError, match="structure"):
    gnomon.jvp(ops.sin, (1.0,), (1.0, 2.0))
  with pytest.raises(TypeError, match=r"(?s)number 1.*float32\[\].*float32\[2\]"):
    gnomon.jvp(ops.add, (1.0, 1.0), (1.0, np.ones(2, np.float32)))
  with pytest.raises(TypeError, match="must be tuples or lists; primals is of"):
    gnomon.jvp(ops.sin, 1.0, 1.0)
  with pytest.raises(TypeError, match=r"argument .* of jvp of .*'text'"):
    gnomon.jvp(ops.sin, ("text",), (1.0,))


def test_a_weak_tangent_of_a_strong_primal(ops: Any) -> None:
  _, t = gnomon.jvp(ops.sin, (np.float32(0),), (1.0,))
  assert float(t) == 1.0


# ---- results that grad refuses


def test_results_that_are_no_scalars(ops: Any) -> None:
  x = np.ones(3, np.float32)
  with pytest.raises(TypeError, match=r"scalar-output.*\(3,\).*jacrev"):
    gnomon.grad(ops.sin)(x)
  with pytest.raises(TypeError, match="scalar-output"):
    gnomon.grad(lambda x: (x, x))(1.0)
  with pytest.raises(TypeError, match="scalar-output"):
    gnomon.grad(lambda x: None)(1.0)
  with pytest.raises(TypeError, match=r"real-valued outputs.*int32"):
    gnomon.grad(lambda x: 3)(1.0)
  with pytest.raises(TypeError, match="returned a value of type"):
    gnomon.grad(lambda x: "text")(1.0)


def test_an_argument_that_is_no_array(ops: Any) -> None:
  def f(p: Any) -> Any:
    return p["x"]

  with pytest.raises(TypeError, match=r"(?s)argument.*'name'.*of grad of f.*'text'"):
    gnomon.grad(f)({"x": 1.0, "name": "text"})
  with pytest.raises(TypeError, match="grad expects a function, got None"):
    gnomon.grad(None)


def test_reduce_axes_is_gone(ops: Any) -> None:
  with pytest.raises(NotImplementedError, match="reduce_axes"):
    gnomon.grad(ops.sin, reduce_axes=("i",))


def test_the_error_of_a_function_passes_through(ops: Any) -> None:
  def f(x: Any) -> Any:
    raise KeyError("mine")

  for g in (gnomon.grad(f), gnomon.jacfwd(f), gnomon.jacrev(f), gnomon.hessian(f)):
    with pytest.raises(KeyError, match="mine"):
      g(1.0)
  assert float(gnomon.grad(ops.sin)(0.0)) == 1.0


# ---- dtypes and symbolic zeros


def test_gradients_have_the_dtypes_of_the_arguments(ops: Any) -> None:
  with gnomon.enable_x64(True):
    for dtype in (np.float16, dtypes.bfloat16, np.float32, np.float64):
      x = np.ones(3, dtype)
      g = gnomon.grad(lambda x: ops.sum(ops.mul(x, x)))(x)
      assert g.dtype == dtype
      np.testing.assert_array_equal(np.asarray(g).astype(float), [2, 2, 2])
    assert gnomon.grad(ops.sin)(1.0).dtype == np.float64


def test_results_that_do_not_depend_on_the_argument(ops: Any) -> None:
  x = np.ones(3, np.float32)
  np.testing.assert_array_equal(np.asarray(gnomon.grad(lambda x: 2.0)(x)), np.zeros(3))
  _, t = gnomon.jvp(lambda x: (x, 2.0), (x,), (x,))
  assert float(t[1]) == 0.0
  _, pull = gnomon.vjp(lambda x: (x, 2.0), x)
  np.testing.assert_array_equal(np.asarray(pull((x, 5.0))[0]), x)


def test_jacobians_with_aux_and_integers(ops: Any) -> None:
  def f(x: Any) -> Any:
    return ops.sin(x), {"twice": ops.mul(x, 2.0)}

  x = np.arange(3, dtype=np.float32)
  for jac in (gnomon.jacfwd, gnomon.jacrev):
    j, aux = jac(f, has_aux=True)(x)
    np.testing.assert_allclose(np.asarray(j), np.diag(np.cos(x)), rtol=1e-6)
    np.testing.assert_array_equal(np.asarray(aux["twice"]), 2 * x)
    with pytest.raises(TypeError, match=f"{jac.__name__} requires real- or complex"):
      jac(ops.neg)(np.arange(3))


def test_float0_enters_and_leaves_compiled_functions(ops: Any) -> None:
  zeros = np.zeros(2, float0)
  f = gnomon.jit(lambda a, b: (a, ops.neg(b)))
  for _ in range(2):
    a, b = f(zeros, 1.0)
    assert (a.dtype, a.shape, float(b)) == (float0, (2,), -1.0)
  g = gnomon.jit(lambda n, t: gnomon.jvp(ops.neg, (n,), (t,)))
  assert g(np.arange(2), zeros)[1].dtype == float0


@pytest.mark.parametrize("call", [
    lambda f, d: gnomon.grad(f)(d), gnomon.vjp,
    lambda f, d: gnomon.jvp(f, (d,), (d,)), lambda f, d: gnomon.vmap(f)(d),
    lambda f, d: gnomon.checkpoint(f)(d), lambda f, d: gnomon.jit(lambda x: d)(1.0),
    lambda f, d: gnomon.make_jaxpr(f)(d), lambda f, d: gnomon.jacrev(f)(d)])
def test_dicts_whose_keys_have_no_order(call: Any) -> None:
  with pytest.raises(ValueError, match=r"cannot compare: 1 \(int\), 'a' \(str\).*Ord"):
    call(lambda d: d["a"], {1: 1.0, "a": 2.0})


@pytest.mark.parametrize(
    "aux", ["text", len, b"x", object(), ["a", 1, None]],
    ids=["str", "function", "bytes", "object", "list"])
def test_aux_may_hold_anything(ops: Any, aux: Any) -> None:
  def f(x: Any) -> Any:
    return ops.mul(x, x), (aux, ops.neg(x))

  def check(got: Any) -> None:
    assert got[0] == aux
    assert isinstance(got[1], gnomon.Array)
    assert float(got[1]) == -3

  for _ in range(2):  # the second time it may be remembered
    check(gnomon.grad(f, has_aux=True)(3.0)[1])
    check(gnomon.value_and_grad(f, has_aux=True)(3.0)[0][1])
    check(gnomon.vjp(f, 3.0, has_aux=True)[2])
    check(gnomon.jvp(f, (3.0,), (1.0,), has_aux=True)[2])
    check(gnomon.linearize(f, 3.0, has_aux=True)[2])
    check(gnomon.jacrev(f, has_aux=True)(3.0)[1])


@pytest.mark.parametrize("x", [2.0, np.float32(2), np.ones((), np.float32)], ids=repr)
@pytest.mark.parametrize("f", [lambda x: x, lambda x: 3.0], ids=["x", "constant"])
def test_derivatives_are_arrays_as_weak_as_what_is_differentiated(f: Any, x: Any) -> None:
  aval = gnomon.typeof(x)
  value = gnomon.typeof(f(x))
  for got, wanted in (
      (gnomon.grad(f)(x), aval), (gnomon.value_and_grad(f)(x)[1], aval),
      (gnomon.jvp(f, (x,), (x,))[1], value), (gnomon.linearize(f, x)[1](x), value)):
    assert isinstance(got, gnomon.Array)
    assert gnomon.typeof(got) == wanted
  shapes: list[Any] = []

  def inside(x: Any) -> Any:
    g = gnomon.grad(f)(x)
    shapes.append((g.shape, g.dtype))
    return g

  for call in (gnomon.jit(inside), gnomon.grad(inside), gnomon.grad(gnomon.jit(inside))):
    call(x)
  assert shapes == [((), np.float32)] * 2  # one program is traced once
  text = str(gnomon.make_jaxpr(gnomon.grad(f))(x))
  assert f"in ({1.0 if f(x) is x else 0.0}:f32[],)" in text


def test_a_name_may_be_no_string() -> None:
  class Callable:
    def __call__(self, x: Any) -> Any:
      return x

  f = Callable()
  f.__name__ = np.ones(2)  # type: ignore[attr-defined]
  for transform in (gnomon.grad, gnomon.jit, gnomon.checkpoint, gnomon.jacfwd):
    assert float(transform(f)(1.0)) == 1


def test_results_without_a_tangent_are_no_tracers_of_the_derivative(ops: Any) -> None:
  kinds: list[Any] = []
  two = gnomon.jit(lambda x, y: (ops.neg(x), ops.neg(y)))

  def f(x: Any) -> Any:
    moving, still = two(x, np.float32(2))
    kinds.append([isinstance(v, gnomon.core.Tracer) for v in (moving, still)])
    return moving

  gnomon.jvp(f, (1.0,), (1.0,))
  gnomon.vjp(f, 1.0)
  assert kinds == [[True, False]] * 2
