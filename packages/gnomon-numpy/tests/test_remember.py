"""Derivatives and maps of functions that are not jitted: remembered only where sound."""

from __future__ import annotations

import functools
import gc
import math
import sys
import weakref
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

import gnomon
import gnomon.numpy as jnp
from gnomon import lax
from gnomon.tree_util import tree_leaves, tree_structure

X = np.linspace(0.5, 2.0, 5, dtype=np.float32)
SCALE = 3.0


def calls_of(fun: Callable[..., Any], run: Callable[[], Any]) -> int:
  """How often the code of `fun` runs while `run` does; counted from outside of it."""
  count = 0

  def profile(frame: Any, event: str, arg: Any) -> None:
    nonlocal count
    del arg
    count += event == "call" and frame.f_code is fun.__code__

  sys.setprofile(profile)
  try:
    run()
  finally:
    sys.setprofile(None)
  return count


class Pair(NamedTuple):
  a: Any
  b: Any


def energy(x: Any) -> Any:
  return jnp.sum(jnp.sin(x) ** 2)


def scaled(x: Any) -> Any:
  return energy(x) * SCALE + math.pi


def of_tree(p: Any, factor: Any = 2.0) -> Any:
  return jnp.vdot(p["w"], p["w"]) * factor + jnp.sum(p["b"][0])


def with_aux(x: Any) -> Any:
  return jnp.sum(x ** 3), {"double": x * 2, "name": 1.0}


def in_loop(x: Any) -> Any:
  for i in range(3):
    x = x * (i + 1.0)
  return jnp.sum(lax.scan(lambda c, y: (c * y, c), x[0], x)[0])


@functools.partial(gnomon.jit, static_argnums=1)
def jitted(x: Any, n: int) -> Any:
  return jnp.sum(x ** n)


def of_jitted(x: Any) -> Any:
  return jitted(x, 3) + energy(x)


def of_pair(p: Pair) -> Any:
  return jnp.sum(p.a * p.b)


x = jnp.asarray(X)
PURE: dict[str, tuple[Any, Any, tuple[Any, ...]]] = {
    "grad": (energy, gnomon.grad, (x,)),
    "a number of the module": (scaled, gnomon.grad, (x,)),
    "value_and_grad": (energy, gnomon.value_and_grad, (x,)),
    "aux": (with_aux, lambda f: gnomon.grad(f, has_aux=True), (x,)),
    "tree": (of_tree, gnomon.grad, ({"w": x, "b": [x]}, 3.0)),
    "tuple with names": (of_pair, gnomon.grad, (Pair(x, x),)),
    "argnums": (lambda a, b: jnp.sum(a * b), lambda f: gnomon.grad(f, (0, 1)), (x, x)),
    "a number differentiated": (lambda a: a * a, gnomon.grad, (3.0,)),
    "NumPy's array": (energy, gnomon.grad, (X,)),
    "second": (lambda a: jnp.sin(a) * a, lambda f: gnomon.grad(gnomon.grad(f)), (0.5,)),
    "loops": (in_loop, gnomon.grad, (x,)),
    "vmap": (energy, gnomon.vmap, (jnp.stack([x, x]),)),
    "vmap of grad": (
        energy, lambda f: gnomon.vmap(gnomon.grad(f), out_axes=1), (jnp.stack([x, x]),)),
    "vmap, axes": (
        lambda a, n: a * n, lambda f: gnomon.vmap(f, in_axes=(0, None)), (x, 2.0)),
    "vmap of a rule": (lambda a: jnp.logaddexp(a, 1.0) * 2.0, gnomon.vmap, (x,)),
    "jvp": (energy, lambda f: lambda a: gnomon.jvp(f, (a,), (a,)), (x,)),
    "jacfwd": (jnp.sin, gnomon.jacfwd, (x,)),
    "jacrev": (lambda a: a * a[0], gnomon.jacrev, (x,)),
    "hessian": (energy, gnomon.hessian, (x,)),
    "of a jitted one": (of_jitted, gnomon.grad, (x,)),
}


@pytest.mark.parametrize("name", PURE)
def test_the_second_call_gives_the_same_without_tracing(name: str) -> None:
  fun, transform, args = PURE[name]
  step: list[Any] = [0]

  def plainly(*a: Any) -> Any:  # what stores outside of itself is not remembered
    step[0] = step[0] + 1
    return fun(*a)

  usual = transform(plainly)(*args)
  first = transform(fun)(*args)
  count = calls_of(fun, lambda: transform(fun)(*args)) if fun is not jnp.sin else 0
  again = transform(fun)(*args)
  before = step[0]
  transform(plainly)(*args)
  assert count == 0
  assert step[0] > before
  for out in (first, again):
    assert tree_structure(out) == tree_structure(usual)
    for a, b in zip(tree_leaves(out), tree_leaves(usual), strict=True):
      assert type(a) is type(b)
      if isinstance(a, gnomon.Array):
        assert gnomon.typeof(a) == gnomon.typeof(b)
      np.testing.assert_array_equal(a, b)


def test_functions_that_share_their_code() -> None:
  """As those that a factory makes: of one array, say."""
  for f, slope in ((jnp.sin, np.cos(X)), (jnp.exp, np.exp(X)), (jnp.square, 2 * X)):
    tangent = gnomon.jvp(f, (X,), (np.ones_like(X),))[1]
    np.testing.assert_allclose(tangent, slope, rtol=1e-6)
    np.testing.assert_allclose(gnomon.vmap(gnomon.grad(lambda x, f=f: f(x)))(X), slope,
                               rtol=1e-6)
    np.testing.assert_allclose(
        gnomon.jacfwd(lambda x, f=f: f(x))(X).diagonal(), slope, rtol=1e-6)


def test_functions_in_other_places() -> None:
  def times(n: float) -> Callable[[Any], Any]:
    return lambda x: x + n

  def product(a: Any, b: Any, c: Any) -> Any:
    return gnomon.grad(lambda x: a(x) * b(x) * c(x))(1.0)

  g, h = times(1.0), times(2.0)  # the slopes: of (x + a) (x + b) (x + c)
  for _ in range(2):
    assert float(product(g, g, h)) == 4 + 6 + 6
    assert float(product(g, h, h)) == 9 + 6 + 6
    assert float(product(h, h, g)) == 6 + 6 + 9
    assert float(product(h, g, h)) == 6 + 9 + 6


def test_other_values_and_other_types() -> None:
  g = gnomon.grad(energy)
  for a in (X, X * 2, X[:2], X.astype(np.float16), np.float32(2)):
    np.testing.assert_allclose(
        g(jnp.asarray(a)), np.sin(2 * a.astype(np.float32)), rtol=2e-3)
  h = gnomon.grad(lambda a, n: a ** n)
  assert [float(h(2.0, n)) for n in (1, 2, 3, 2.0)] == [1.0, 4.0, 12.0, 4.0]
  with gnomon.enable_x64(True):
    assert g(np.float64(1)).dtype == np.float64
  assert g(1.0).dtype == np.float32


BOX: list[float] = [1.0]
TABLE = {"k": 1.0}
ARRAY = np.ones(5, np.float32)
counter = 1.0


class Holder:
  value = 1.0

  def __call__(self, a: Any) -> Any:
    return jnp.sum(a) * self.value


HOLDER = Holder()


def counting(a: Any) -> Any:
  global counter
  counter += 1.0
  return jnp.sum(a) * counter


def of_attribute(a: Any) -> Any:
  of_attribute.times += 1.0  # type: ignore[attr-defined]
  return jnp.sum(a) * of_attribute.times  # type: ignore[attr-defined]


of_attribute.times = 0.0  # type: ignore[attr-defined]


def importing(a: Any) -> Any:
  from time import perf_counter
  return jnp.sum(a) * (perf_counter() % 1.0)


def with_default(a: Any, held: list[float] = []) -> Any:  # noqa: B006
  held.append(1.0)
  return jnp.sum(a) * len(held)


def change_box() -> None:
  BOX[0] += 1.0


def change_table() -> None:
  TABLE["k"] += 1.0


def change_array() -> None:
  ARRAY[:] += 1.0


def change_holder() -> None:
  HOLDER.value += 1.0


def nothing() -> None:
  pass


IMPURE: dict[str, tuple[Any, Callable[[], None]]] = {
    "a list": (lambda a: jnp.sum(a) * BOX[0], change_box),
    "a dict": (lambda a: jnp.sum(a) * TABLE["k"], change_table),
    "an array of NumPy's": (lambda a: jnp.sum(a * ARRAY), change_array),
    "an attribute": (lambda a: jnp.sum(a) * HOLDER.value, change_holder),
    "an object that is called": (HOLDER, change_holder),
    "a bound method": (HOLDER.__call__, change_holder),
    "a partial application": (
        functools.partial(lambda box, a: jnp.sum(a) * box[0], BOX), change_box),
    "a global that is stored": (counting, nothing),
    "an attribute of the function": (of_attribute, nothing),
    "an import": (importing, nothing),
    "a default": (with_default, nothing),
    "through another function": (lambda a: counting(a) * 2.0, nothing),
    "NumPy's random numbers": (
        lambda a: jnp.sum(a) * np.random.rand(), nothing),  # noqa: NPY002
}


@pytest.mark.parametrize("name", IMPURE)
def test_what_may_change_is_asked_anew(name: str) -> None:
  fun, change = IMPURE[name]
  g = gnomon.grad(fun)
  seen = set()
  for _ in range(4):
    seen.add(float(g(x)[0]))
    change()
  assert len(seen) == 4


def test_a_variable_of_the_enclosing_function() -> None:
  n = 0.0

  def counted(a: Any) -> Any:
    nonlocal n
    n += 1.0
    return a * n

  assert [float(gnomon.grad(counted)(1.0)) for _ in range(3)] == [1.0, 2.0, 3.0]

  def reads(a: Any) -> Any:
    return a * n

  got = []
  for n in (5.0, 6.0, 5.0, 7.0):  # noqa: B007 -- `reads` reads it
    got.append(float(gnomon.grad(reads)(1.0)))
  assert got == [5.0, 6.0, 5.0, 7.0]


def test_a_global_that_is_bound_anew(monkeypatch: pytest.MonkeyPatch) -> None:
  g = gnomon.grad(scaled)
  before = g(x)
  monkeypatch.setattr(sys.modules[__name__], "SCALE", 6.0)
  np.testing.assert_allclose(g(x), 2 * np.asarray(before), rtol=1e-6)
  monkeypatch.setattr(sys.modules[__name__], "energy", jnp.sum)
  np.testing.assert_allclose(g(x), 6.0)


def test_arguments_that_are_changed() -> None:
  def consumes(a: Any, batch: dict[str, Any]) -> Any:
    return jnp.sum(a * batch.pop("scale"))

  g = gnomon.grad(consumes)
  for _ in range(3):
    batch = {"scale": x}
    g(x, batch)
    assert not batch


class Model:
  def __init__(self, w: Any) -> None:
    self.w = w

  def __call__(self, a: Any) -> Any:
    return self.w * a * HOLDER.value


gnomon.tree_util.register_pytree_node(
    Model, lambda m: ((m.w,), None), lambda _, leaves: Model(*leaves))


def test_containers_with_methods_of_their_own() -> None:
  g = gnomon.grad(lambda m: m(2.0))
  seen = set()
  for _ in range(3):
    seen.add(float(g(Model(1.0)).w))
    change_holder()
  assert len(seen) == 3


HOWS: list[Callable[[Any], Any]] = [
    float, bool, np.asarray, lambda a: a.item(), lambda a: len(range(int(a))),
    lambda a: [1.0, 2.0, 3.0, 4.0][a.astype(int)], lambda a: 2.0 if a > 0 else 1.0,
    lambda a: lax.cond(a > 0, lambda: 2.0, lambda: 1.0)]


@pytest.mark.parametrize("how", range(len(HOWS)))
def test_values_that_are_asked_for(how: int) -> None:
  ask = HOWS[how]

  def f(a: Any) -> Any:
    try:
      return a * ask(a)
    except Exception:  # noqa: BLE001 -- what a program in doubt might do
      return a * 100.0

  for value in (3.0, -2.0, 1.0):
    if how == 5 and value < 0:
      continue
    assert abs(float(gnomon.grad(f)(value))) < 50


def test_errors_are_those_of_the_usual_way() -> None:
  for _ in range(3):
    with pytest.raises(ZeroDivisionError):
      gnomon.grad(lambda a: a / (1 // 0))(1.0)
    with pytest.raises(TypeError, match="scalar-output"):
      gnomon.grad(jnp.sin)(x)
    with pytest.raises(NameError):
      gnomon.grad(lambda a: a * not_there)(1.0)  # type: ignore[name-defined]  # noqa: F821


def test_effects_happen_each_time(capfd: pytest.CaptureFixture[str]) -> None:
  def f(a: Any) -> Any:
    gnomon.debug.print("seen")
    return a * 2.0

  def g(a: Any) -> Any:
    print("told")  # noqa: T201
    return a * 2.0

  for _ in range(3):
    gnomon.grad(f)(1.0)
    gnomon.grad(g)(1.0)
  gnomon.effects_barrier()
  out = capfd.readouterr().out
  assert out.count("seen") == out.count("told") == 3


def test_options_are_part_of_what_is_remembered() -> None:
  g = gnomon.grad(lambda a: jnp.log(a - 1.0))
  assert np.isinf(g(1.0))
  with gnomon.debug_infs(True), pytest.raises(FloatingPointError):
    g(1.0)
  assert np.isinf(g(1.0))


def test_nothing_is_kept_alive() -> None:
  def make() -> tuple[Any, Any]:
    held = jnp.ones(5) * 2.0
    gnomon.grad(lambda a: jnp.sum(a * held))(x)
    assert float(gnomon.grad(lambda a: jnp.sum(a * held))(x)[0]) == 2.0
    return weakref.ref(held), None

  ref, _ = make()
  gc.collect()
  assert ref() is None
  # Another array in its place, perhaps at the same address.
  for k in range(30):
    y = jnp.ones(5) * float(k)
    assert float(gnomon.grad(lambda a, y=y: jnp.sum(a * y))(x)[0]) == k


def test_a_deleted_argument_is_told() -> None:
  g = gnomon.grad(energy)
  a = jnp.asarray(X)
  g(a)
  a.delete()
  with pytest.raises(RuntimeError, match="deleted"):
    g(a)


def test_placed_arrays_stay_placed() -> None:
  device = gnomon.devices()[0]
  g = gnomon.grad(energy)
  for a in (x, gnomon.device_put(x, device), x):
    assert g(a).committed is a.committed


def test_references_are_not_remembered() -> None:
  ref = gnomon.new_ref(jnp.zeros(3))

  def add(r: Any, a: Any) -> Any:
    r[...] += a
    return a

  for _ in range(3):
    gnomon.vmap(add)(ref, jnp.ones(3))
  np.testing.assert_array_equal(ref[...], 3.0)
  with pytest.raises(ValueError, match="reference"):
    gnomon.vmap(lambda a, b: a[...])(ref, ref)
