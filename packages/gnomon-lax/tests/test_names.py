"""Names of operations in compiled programs: scopes, loops, branches, inner functions."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

import gnomon
from gnomon import lax

f32 = np.float32
scope = gnomon.named_scope


def names(f: Any, *args: Any) -> set[str]:
  """The names that a compiled program gives to its operations."""
  text = gnomon.jit(f).lower(*args).as_text("hlo", debug_info=True)
  return set(re.findall(r'op_name="([^"]*)"', text))


def stack(eqn: Any) -> str:
  return str(eqn.source_info.name_stack)


def test_inner_functions_do_not_bear_the_names_of_their_callers() -> None:
  @gnomon.jit
  @scope("inner")
  def g(x: Any) -> Any:
    return lax.sin(x)

  def f(x: Any) -> Any:
    with scope("first"):
      y = g(x)
    with scope("second"):
      return g(y)

  first, second = gnomon.make_jaxpr(f)(1.0).eqns
  assert (stack(first), stack(second)) == ("first", "second")
  assert [stack(e) for e in second.params["jaxpr"].eqns] == ["inner"]
  assert {"jit(f)/first/jit(g)", "jit(f)/second/jit(g)", "jit(g)/inner/sin"} <= names(
      f, 1.0)


@scope("outer")
def loops(x: Any) -> Any:
  x = lax.while_loop(
      scope("test")(lambda v: lax.lt(v, f32(5))), scope("step")(lambda v: lax.add(v, v)),
      x)
  x = lax.cond(
      lax.gt(x, f32(0)), scope("true")(lax.sin), scope("false")(lax.cos), x)
  return lax.scan(
      scope("scanned")(lambda c, y: (lax.mul(c, y), c)), x, np.arange(30, dtype=f32))


def test_loops_and_branches_bear_the_names_around_them() -> None:
  eqns = gnomon.make_jaxpr(loops)(f32(1)).eqns
  assert {stack(e) for e in eqns} == {"outer"}
  loop = next(e for e in eqns if e.primitive.name == "while")
  assert [stack(e) for e in loop.params["body_jaxpr"].eqns] == ["step"]
  assert [stack(e) for e in loop.params["cond_jaxpr"].eqns] == ["test"]
  around = "jit(loops)/outer"
  assert {
      f"{around}/while/body/step/add", f"{around}/while/cond/test/lt",
      f"{around}/cond/branch_0_fun/false/cos", f"{around}/cond/branch_1_fun/true/sin",
      f"{around}/while/body/scanned/mul"} <= names(loops, f32(1))


def test_names_are_in_force_again_after_a_loop() -> None:
  @scope("a")
  def f(x: Any) -> Any:
    lax.fori_loop(0, 3, lambda i, v: lax.neg(v), x)
    return lax.cos(x)

  assert stack(gnomon.make_jaxpr(f)(1.0).eqns[-1]) == "a"
  assert "jit(f)/a/cos" in names(f, 1.0)


def stacks(f: Any, *args: Any) -> list[str]:
  return [stack(e) for e in gnomon.make_jaxpr(f)(*args).eqns]


def test_scopes_tell_of_transformations() -> None:
  @scope("bar")
  def f(x: Any) -> Any:
    with scope("baz"):
      return lax.sin(x)

  ones = np.ones(2, f32)
  assert stacks(gnomon.vmap(f), ones) == ["vmap(bar)/baz"]
  assert stacks(scope("foo")(gnomon.vmap(f)), ones) == ["foo/vmap(bar)/baz"]
  assert set(stacks(lambda x: gnomon.jvp(f, (x,), (x,)), f32(1))) == {"jvp(bar)/baz"}
  assert stacks(scope("foo")(gnomon.grad(f)), f32(1)) == [
      "foo/jvp(bar)/baz", "foo/jvp(bar)/baz", "foo/transpose(jvp(bar))/baz"]
  assert stacks(gnomon.vmap(gnomon.grad(f)), ones)[0] == "vmap(jvp(bar))/baz"
  assert {"jit(f)/bar/baz/sin"} == names(f, f32(1))
  squared = gnomon.grad(lambda x, y: lax.mul(f(x), y))
  assert "jit(<lambda>)/transpose(jvp(bar))/baz/mul" in names(squared, f32(1), f32(2))
