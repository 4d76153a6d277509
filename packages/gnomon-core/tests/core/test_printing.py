"""The text of jaxprs, against texts that JAX 0.10.2 printed for the same programs."""

from __future__ import annotations

import json
import pathlib
import types
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import gnomon
from gnomon.core import derive, printing, structural
from gnomon.core.jaxpr import ClosedJaxpr, DropVar, Eqn, Jaxpr, Literal, Var
from gnomon.core.primitive import Primitive
from gnomon.core.rule import hide_params, pp_rule, shown_params
from gnomon.core.types import ShapedArray
from gnomon.runtime.jaxlib import pretty
from gnomon.transform.call import jit_p
from gnomon.transform.custom_derivatives import custom_jvp_call_p, custom_vjp_call_p

# name -> the jaxprs of a program, with their text; the params of primitives that core
# does not have are those that JAX printed.
RECORDED: dict[str, Any] = json.loads(
    (pathlib.Path(__file__).parent / "data" / "jaxprs.json").read_text())

_primitives: dict[str, Primitive] = {
    "jit": jit_p, "custom_jvp_call": custom_jvp_call_p,
    "custom_vjp_call": custom_vjp_call_p,
    "broadcast_in_dim": derive.broadcast_in_dim_p,
    "convert_element_type": structural.convert_element_type_p}


class Text:
  """Something that prints as a recorded text and equals nothing else."""

  def __init__(self, text: str) -> None:
    self.text = text

  def __str__(self) -> str:
    return self.text

  __repr__ = __str__


class Type:
  """A type that prints as the recorded one."""

  dtype = None

  def __init__(self, text: str) -> None:
    self.text = text

  def str_short(self, short_dtypes: bool = False) -> str:
    assert short_dtypes
    return self.text


class Program:
  """Rebuilds a recorded program."""

  def __init__(self, recorded: dict[str, Any]) -> None:
    self.variables = [Var(Type(t)) for t in recorded["types"]]
    self.jaxprs = [Jaxpr([], [], [], []) for _ in recorded["jaxprs"]]
    for jaxpr, record in zip(self.jaxprs, recorded["jaxprs"], strict=True):
      jaxpr.constvars = [self.variables[i] for i in record["consts"]]
      jaxpr.invars = [self.variables[i] for i in record["ins"]]
      jaxpr.outvars = [self.atom(x) for x in record["outs"]]
      jaxpr.eqns = [self.eqn(e) for e in record["eqns"]]

  def atom(self, x: Any) -> Any:
    if isinstance(x, list):
      return Literal(Text(x[0]), Type(x[1]))  # type: ignore[arg-type]
    return DropVar(Type(x[1:])) if isinstance(x, str) else self.variables[x]

  def eqn(self, e: dict[str, Any]) -> Eqn:
    params = {k: v if k == "name" else self.param(v) for k, v in e["params"].items()}
    if e["p"] == "broadcast_in_dim":
      params["broadcast_dimensions"] = (
          () if e["params"]["broadcast_dimensions"] == "()"
          else params["broadcast_dimensions"])
    if e["p"] == "custom_vjp_call":
      params = {
          "call_jaxpr": params["call_jaxpr"], "num_consts": params["num_consts"],
          "call": types.SimpleNamespace(
              name=params["name"], names=(params["fwd"], params["bwd"]),
              symbolic_zeros=params["symbolic_zeros"])}
    return Eqn(
        _primitives.setdefault(e["p"], Primitive(e["p"])),
        [self.atom(x) for x in e["ins"]], [self.atom(x) for x in e["outs"]], params)

  def param(self, v: Any) -> Any:
    if isinstance(v, str):
      return Text(v)
    if not isinstance(v, dict):
      return v
    if "tuple" in v:
      return tuple(Text(x) if isinstance(x, str) else x for x in v["tuple"])
    if "jaxprs" in v:
      return tuple(ClosedJaxpr(self.jaxprs[i], ()) for i in v["jaxprs"])
    return self.jaxprs[v["jaxpr"]]


@pytest.mark.parametrize("name", list(RECORDED))
def test_text_equals_the_recorded(name: str) -> None:
  recorded = RECORDED[name]
  jaxpr = Program(recorded).jaxprs[0]
  assert printing.pp_jaxpr(jaxpr) == recorded["text"]
  assert str(jaxpr) == recorded["text"]
  if "no shapes" in recorded:
    assert printing.pp_jaxpr(jaxpr, print_shapes=False) == recorded["no shapes"]
    assert printing.pp_jaxpr(jaxpr, use_color=True) == recorded["color"]


# ---- parts -------------------------------------------------------------------------

SCALAR = ShapedArray((), np.dtype("float32"))


def chain(names: list[str], **params: Any) -> Jaxpr:
  """A jaxpr of operations of one argument, one after the other."""
  x = Var(SCALAR)
  variables = [x, *(Var(SCALAR) for _ in names)]
  eqns = [
      Eqn(Primitive(n), [variables[i]], [variables[i + 1]], dict(params))
      for i, n in enumerate(names)]
  return Jaxpr([], [x], [variables[-1]], eqns)


def test_names_of_variables() -> None:
  assert [printing.str_var(i) for i in (0, 1, 25, 26, 27, 51, 52, 676, 702)] == [
      "a", "b", "z", "ba", "bb", "bz", "ca", "baa", "bba"]
  names = [printing.str_var(i) for i in range(2000)]
  assert len(set(names)) == 2000


@pytest.mark.parametrize(("value", "dtype", "text"), [
    (0.1, "float32", "0.10000000149011612:f32[]"), (1, "int8", "1:i8[]"),
    (np.float32(3), "float32", "3.0:f32[]"), (True, "bool", "True:bool[]"),
    (1 + 2j, "complex64", "(1+2j):c64[]"), (1.5, "bfloat16", "1.5:bf16[]"),
    (float("inf"), "float32", "inf:f32[]"), (-1.5, "float16", "-1.5:f16[]")])
def test_literals(value: Any, dtype: str, text: str) -> None:
  aval = ShapedArray((), np.dtype(getattr(ml_dtypes, dtype, dtype)))
  assert printing.str_literal(Literal(value, aval)) == text


def test_an_equation_alone() -> None:
  eqn = chain(["sin"], accuracy=None).eqns[0]
  assert str(eqn) == "a:f32[] = sin[accuracy=None] b"
  assert printing.pp_eqn(eqn, print_shapes=False) == "a = sin[accuracy=None] b"


def test_results_that_nothing_uses() -> None:
  x, y, z = Var(SCALAR), Var(SCALAR), Var(SCALAR)
  jaxpr = Jaxpr([], [x], [z], [
      Eqn(Primitive("sin"), [x], [y], {}), Eqn(Primitive("cos"), [x], [z], {})])
  assert str(jaxpr) == (
      "{ lambda ; a:f32[]. let _:f32[] = sin a; b:f32[] = cos a in (b,) }")
  dropped = Eqn(Primitive("sin"), [x], [DropVar(SCALAR)], {})
  assert str(dropped) == "_:f32[] = sin a"


def test_addresses_are_not_printed() -> None:
  text = printing.pp_jaxpr(chain(["f"], fn=test_literals))
  assert "fn=<function test_literals at 0xXXXXXXXXXXXX>" in text


def test_a_long_jaxpr_and_a_shared_one_are_printed_by_themselves() -> None:
  long, short = chain(["sin"] * 11), chain(["cos"])
  x, y = Var(SCALAR), Var(SCALAR)
  loop = Primitive("loop")
  eqns = [
      Eqn(loop, [x], [y], {"body": long}),
      Eqn(loop, [y], [DropVar(SCALAR)], {"body": ClosedJaxpr(short, ())}),
      Eqn(loop, [y], [DropVar(SCALAR)], {"body": ClosedJaxpr(short, ())})]
  lines = str(Jaxpr([], [x], [y], eqns)).splitlines()
  assert lines[0].startswith("let jaxpr = { lambda ; a:f32[]. let")
  assert lines[13].startswith("let jaxpr1 = { lambda ; m:f32[]. let n:f32[] = cos m")
  assert lines[-5:] == [
      "{ lambda ; o:f32[]. let", "    p:f32[] = loop[body=jaxpr] o",
      "    _:f32[] = loop[body=jaxpr1] p", "    _:f32[] = loop[body=jaxpr1] p",
      "  in (p,) }"]


def test_sharing_at_depth_costs_little() -> None:
  """A jaxpr that occurs twice at each of 60 levels occurs 2**60 times."""
  inner = chain(["sin"])
  loop = Primitive("loop")
  for _ in range(60):
    x, y, z = Var(SCALAR), Var(SCALAR), Var(SCALAR)
    inner = Jaxpr([], [x], [z], [
        Eqn(loop, [x], [y], {"body": inner}), Eqn(loop, [y], [z], {"body": inner})])
  assert str(inner).count("let jaxpr") == 60


def test_rules_choose_the_params_and_the_text() -> None:
  hidden, special = Primitive("hidden"), Primitive("special")
  hide_params(hidden, "shape", axis=None)
  pp_rule.define(special)(
      lambda printer, eqn: pretty.concat([
          printer.binders(eqn.outvars), pretty.text(" <- "), printer.args(eqn.invars)]))

  def text(p: Primitive, **options: Any) -> str:
    x, y = Var(SCALAR), Var(SCALAR)
    eqn = Eqn(p, [x], [y], {"axis": None, "shape": (2,), "b": 1})
    return printing.pp_jaxpr(Jaxpr([], [x], [y], [eqn]), **options).split("let ")[1]

  assert text(hidden) == "b:f32[] = hidden[b=1] a in (b,) }"
  assert text(special) == "b:f32[] <- a in (b,) }"
  for p in (hidden, special):
    assert f"{p.name}[axis=None b=1 shape=(2,)]" in text(p, custom_pp_eqn_rules=False)
  with pytest.raises(ValueError, match="already"):
    shown_params.define(hidden)(lambda params: ())


def test_effects() -> None:
  jaxpr = chain(["print"])
  jaxpr.effects = frozenset((Text("B"), Text("A")))  # type: ignore[arg-type]
  assert printing.pp_jaxpr(jaxpr, print_effects=True).endswith("in (b,) : { A, B } }")
  assert printing.pp_jaxpr(chain(["f"]), print_effects=True).endswith(" : {  } }")


def test_width() -> None:
  narrow = printing.pp_jaxpr(chain(["sin"]), width=20)
  assert narrow == "{ lambda ; a:f32[]. let\n    b:f32[] = sin a\n  in (b,) }"


def test_comments_say_where_an_equation_comes_from() -> None:
  @gnomon.jit
  def double(x: Any) -> Any:
    with gnomon.named_scope("outer"), gnomon.named_scope("inner"):
      return structural.convert_element_type(x, np.int32)

  text = gnomon.make_jaxpr(double)(1.0).pretty_print(source_info=True, name_stack=True)
  assert "test_printing.py:" in text
  assert "double)" in text
  assert "# [outer/inner]" in text


def test_programs_of_gnomon_print() -> None:
  inner = gnomon.jit(lambda x: structural.convert_element_type(x, np.int32))
  assert str(gnomon.make_jaxpr(inner)(1.0)) == """\
{ lambda ; a:f32[]. let
    b:i32[] = jit[
      name=<lambda>
      jaxpr={ lambda ; a:f32[]. let
          b:i32[] = convert_element_type[new_dtype=int32 weak_type=False] a
        in (b,) }
    ] a
  in (b,) }"""
