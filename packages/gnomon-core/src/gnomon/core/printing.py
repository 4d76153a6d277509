"""The text of programs: jaxprs and equations, written as JAX writes them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from gnomon.core import derive, source, structural
from gnomon.core.jaxpr import ClosedJaxpr, DropVar, Eqn, Jaxpr, Literal, Var
from gnomon.core.rule import hide_params, pp_rule, shown_params
from gnomon.runtime.jaxlib import pretty as pp

Doc = pp.Doc

# A jaxpr with more equations than this is printed by itself, as one that occurs twice is.
_LONG = 10
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")  # texts must not differ from run to run


def pp_jaxpr(
    jaxpr: Jaxpr | ClosedJaxpr, *, source_info: bool = False, print_shapes: bool = True,
    name_stack: bool = False, custom_pp_eqn_rules: bool = True,
    print_effects: bool = False, use_color: bool = False, width: int = 80) -> str:
  """The text of a jaxpr.

  Args:
    jaxpr: the program.
    source_info: add a comment to each equation: the user's line that it comes from.
    print_shapes: write the type of each variable where it is bound.
    name_stack: add a comment to each equation: the names in force, of `named_scope`.
    custom_pp_eqn_rules: let primitives leave out params at their defaults; if False, all
      params are printed.
    print_effects: write the effects of each jaxpr after its results.
    use_color: colour keywords and types, for a terminal.
    width: the number of columns to stay within where possible.
  """
  inner = jaxpr.jaxpr if isinstance(jaxpr, ClosedJaxpr) else jaxpr
  printer = Printer(
      source_info=source_info, print_shapes=print_shapes, name_stack=name_stack,
      custom_pp_eqn_rules=custom_pp_eqn_rules, print_effects=print_effects)
  return pp.render(printer.program(inner), width, use_color=use_color)


def pp_eqn(
    eqn: Eqn, *, source_info: bool = False, print_shapes: bool = True,
    name_stack: bool = False, custom_pp_eqn_rules: bool = True,
    use_color: bool = False, width: int = 80) -> str:
  """The text of one equation, its variables named from `a`; options as for `pp_jaxpr`."""
  printer = Printer(
      source_info=source_info, print_shapes=print_shapes, name_stack=name_stack,
      custom_pp_eqn_rules=custom_pp_eqn_rules)
  return pp.render(printer.eqn(eqn), width, use_color=use_color)


def str_var(number: int) -> str:
  """The name of the variable that is named as the `number`-th: a to z, then ba, bb."""
  digits = ""
  while True:
    number, digit = divmod(number, 26)
    digits = chr(ord("a") + digit) + digits
    if number == 0:
      return digits


def str_aval(aval: Any) -> str:
  """The text of a type: `f32[2,3]`."""
  short = getattr(aval, "str_short", None)
  return str(aval) if short is None else str(short(short_dtypes=True))


def str_literal(literal: Literal) -> str:
  """The text of a literal with its type: `1.0:f32[]`."""
  value, dtype = literal.val, getattr(literal.aval, "dtype", None)
  if isinstance(dtype, np.dtype) and np.ndim(value) == 0:
    value = np.asarray(value, dtype).item()  # rounded as the program has it
  return f"{value}:{str_aval(literal.aval)}"


class Printer:
  """Makes documents of the parts of programs; knows the names given so far.

  A rule of `pp_rule` gets one, with the equation, and returns a document; it uses `eqn`,
  `call`, `binders`, `args`, `value`.
  """

  __slots__ = (
      "custom_rules", "effects", "fresh", "info", "names", "shapes", "shared", "stack")

  def __init__(
      self, *, source_info: bool = False, print_shapes: bool = True,
      name_stack: bool = False, custom_pp_eqn_rules: bool = True,
      print_effects: bool = False) -> None:
    self.info, self.shapes, self.stack = source_info, print_shapes, name_stack
    self.custom_rules, self.effects = custom_pp_eqn_rules, print_effects
    self.names: dict[Any, str] = {}
    self.fresh = 0  # how many names were invented; variables may share one
    self.shared: dict[Jaxpr, str] = {}

  # ---- variables

  def name(self, var: Any) -> str:
    """The name of a variable; a new one if it has none yet."""
    if isinstance(var, DropVar):
      return "_"
    found = self.names.get(var)
    if found is None:
      self.names[var] = found = str_var(self.fresh)
      self.fresh += 1
    return found

  def atom(self, x: Any) -> str:
    """The text of an operand."""
    return str_literal(x) if isinstance(x, Literal) else self.name(x)

  def binders(self, variables: Sequence[Any]) -> Doc:
    """Variables with their types, where they are bound."""
    docs = []
    for v in variables:
      name = pp.text(self.name(v))
      typed = self.shapes and not isinstance(v, Literal)
      docs.append(
          pp.concat([name, pp.type_text(f":{str_aval(v.aval)}")]) if typed else name)
    return _filled(docs)

  def args(self, atoms: Sequence[Any]) -> Doc:
    """The operands of an equation."""
    return _filled([pp.text(self.atom(x)) for x in atoms])

  # ---- params

  def value(self, value: Any) -> Doc:
    """The value of a param: a jaxpr, a tuple of jaxprs, or the text of anything else."""
    if isinstance(value, (Jaxpr, ClosedJaxpr)):
      return self.jaxpr(value.jaxpr if isinstance(value, ClosedJaxpr) else value)
    if type(value) is tuple and value and all(
        isinstance(v, (Jaxpr, ClosedJaxpr)) for v in value):
      items = _joined(pp.brk(), [self.value(v) for v in value])
      return pp.group(pp.concat([
          pp.text("("), pp.nest(2, pp.concat([pp.brk(""), items])), pp.brk(""),
          pp.text(")")]))
    return pp.text(_ADDRESS.sub(" at 0xXXXXXXXXXXXX", str(value)))

  def params(self, items: Iterable[tuple[str, Any]]) -> Doc:
    """`[a=1 b=2]`, or nothing."""
    docs = [pp.concat([pp.text(f"{k}="), self.value(v)]) for k, v in items]
    if not docs:
      return pp.nil
    return pp.group(pp.concat([
        pp.text("["), pp.nest(2, pp.concat([pp.brk(""), _joined(pp.brk(), docs)])),
        pp.brk(""), pp.text("]")]))

  # ---- equations

  def eqn(self, eqn: Eqn, items: Iterable[tuple[str, Any]] | None = None) -> Doc:
    """An equation; `items` are the params to print, by default what the rules say."""
    p = eqn.primitive
    if items is None:
      special = pp_rule.get(p) if self.custom_rules else None
      if special is not None:
        return special(self, eqn)
      shown = shown_params.get(p) if self.custom_rules else None
      items = sorted(eqn.params.items()) if shown is None else shown(eqn.params)
    binders = [self.binders(eqn.outvars), pp.text(" = ")] if eqn.outvars else []
    name = self.primitive(eqn)
    return pp.concat([
        *binders, name, self.params(items), pp.text(" "), self.args(eqn.invars)])

  def call(self, eqn: Eqn, jaxpr: str, items: Iterable[tuple[str, Any]]) -> Doc:
    """An equation that calls a jaxpr, whose variables are named as the operands are.

    Args:
      eqn: the equation.
      jaxpr: the name of the param that holds the jaxpr.
      items: the params to print.
    """
    value = eqn.params[jaxpr]
    inner = value.jaxpr if isinstance(value, ClosedJaxpr) else value
    if inner not in self.shared:
      given = set()
      for own, outer in (
          *zip(inner.invars, eqn.invars), *zip(inner.outvars, eqn.outvars)):
        if not isinstance(outer, Literal) and outer not in given and (
            isinstance(own, Var) and own not in self.names):
          given.add(outer)
          self.names[own] = self.name(outer)
    return self.eqn(eqn, items)

  def primitive(self, eqn: Eqn) -> Doc:
    """The name of the primitive, commented with what was asked for of its source."""
    comments = []
    if self.info:
      comments.append(source.summary(getattr(eqn.source, "traceback", eqn.source)))
    if self.stack:
      comments.append(f"[{'/'.join(getattr(eqn.source, 'names', ()))}]")
    name = pp.text(eqn.primitive.name, annotation=comments[0] if comments else None)
    return pp.concat([name, *(pp.text("", annotation=c) for c in comments[1:])])

  # ---- jaxprs

  def jaxpr(self, jaxpr: Jaxpr) -> Doc:
    """A jaxpr within another: its name, if it is printed by itself, or its text."""
    name = self.shared.get(jaxpr)
    return self.lambda_(jaxpr) if name is None else pp.text(name)

  def lambda_(self, jaxpr: Jaxpr) -> Doc:
    """`{ lambda constants ; arguments. let equations in (results) }`."""
    head = pp.concat([
        pp.keyword(pp.text("lambda ")), self.binders(jaxpr.constvars), pp.text("; "),
        self.binders(jaxpr.invars), pp.text(". "), pp.keyword(pp.text("let"))])
    body = _joined(pp.brk("; "), [self.eqn(e) for e in jaxpr.eqns])
    outs = [pp.text(self.atom(x)) for x in jaxpr.outvars]
    results = _filled(
        [pp.concat([o, pp.text(",")]) for o in outs[:-1]]
        + [pp.concat([o, pp.text("," * (len(outs) == 1))]) for o in outs[-1:]])
    effects = f" : {{ {_effects(jaxpr)} }}" if self.effects else ""
    return pp.group(pp.concat([
        pp.text("{ "), pp.nest(2, pp.concat([
            head, pp.nest(2, pp.concat([pp.brk(), body])), pp.brk(),
            pp.keyword(pp.text("in ")), pp.text("("), results, pp.text(f"){effects}"),
        ])), pp.text(" }")]))

  def program(self, jaxpr: Jaxpr) -> Doc:
    """A jaxpr, after those in it that are printed by themselves: `let f = … in`.

    Results that nothing uses are written `_`, in the outermost jaxpr only.
    """
    self.shared = _shared_jaxprs(jaxpr)
    used = {x for e in jaxpr.eqns for x in e.invars}.union(jaxpr.outvars)
    for e in jaxpr.eqns:
      for v in e.outvars:
        if v not in used:
          self.names[v] = "_"
    docs = []
    for inner, name in self.shared.items():
      docs += [
          pp.text(f"let {name} = "), self.lambda_(inner), pp.text(" in"), pp.brk()]
    return pp.concat([*docs, self.lambda_(jaxpr)])


def _joined(separator: Doc, docs: Sequence[Doc]) -> Doc:
  parts = [part for doc in docs for part in (separator, doc)]
  return pp.concat(parts[1:])


def _filled(docs: Sequence[Doc]) -> Doc:
  """Documents after each other, with a line break only where a line is full."""
  parts = [part for doc in docs for part in (pp.group(pp.brk()), doc)]
  return pp.nest(2, pp.concat(parts[1:]))


# Params of core's own primitives that are not printed, or not at their defaults.
hide_params(derive.broadcast_in_dim_p, "shape", broadcast_dimensions=(), sharding=None)
hide_params(structural.convert_element_type_p, "sharding")


def _effects(jaxpr: Jaxpr) -> str:
  return ", ".join(sorted(map(str, jaxpr.effects)))


# ---- jaxprs that are printed by themselves -------------------------------------------

def _jaxprs_in(params: Mapping[str, Any]) -> list[Jaxpr]:
  found = []
  for _, value in sorted(params.items()):
    for v in value if isinstance(value, (tuple, list)) else (value,):
      if isinstance(v, (Jaxpr, ClosedJaxpr)):
        found.append(v.jaxpr if isinstance(v, ClosedJaxpr) else v)
  return found


def _shared_jaxprs(jaxpr: Jaxpr) -> dict[Jaxpr, str]:
  """The names of inner jaxprs that are long or occur twice, found breadth first."""
  uses: dict[Jaxpr, int] = {}
  bases: dict[Jaxpr, str] = {}
  level = [(jaxpr, 1)]
  while level:
    below: list[tuple[Jaxpr, int]] = []
    for outer, times in level:
      for eqn in outer.eqns:
        for inner in _jaxprs_in(eqn.params):
          before = uses.get(inner, 0)
          # More than twice is as twice: then what is inside needs no further visit.
          uses[inner] = now = min(before + times, 2)
          bases.setdefault(inner, _base_name(eqn))
          if now > before:
            below.append((inner, now - before))
    level = below
  counts: dict[str, int] = {}
  names = {}
  for inner, n in uses.items():
    if n > 1 or len(inner.eqns) > _LONG:
      base = bases[inner]
      k = counts[base] = counts.get(base, -1) + 1
      names[inner] = f"{base}{k or ''}"
  return names


def _base_name(eqn: Eqn) -> str:
  name = eqn.params.get("name")
  if eqn.primitive.name == "jit" and isinstance(name, str):
    return name.strip("<>")
  return "jaxpr"
