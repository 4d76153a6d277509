"""A StableHLO module from a closed jaxpr, in one walk."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from gnomon.core import dtypes, source
from gnomon.core.effects import Effect, ordered_effects, touches_refs
from gnomon.core.jaxpr import ClosedJaxpr, Eqn, Jaxpr, Literal, live, programs_in
from gnomon.core.primitive import Primitive
from gnomon.core.ref_type import AbstractRef
from gnomon.core.rule import lower
from gnomon.core.shardings import attribute
from gnomon.core.structural import reshape_p
from gnomon.core.types import ShapedArray, Valueless, WrappedArray, physical_aval, typeof
from gnomon.lowering.builder import Builder
from gnomon.runtime.jaxlib import arrays, mlir

__all__ = ["Context", "Lowered", "lower", "lower_module"]

ir = mlir.ir
_INLINE_BYTES = 512  # larger constants become arguments: XLA would fold and copy them


class Lowered(NamedTuple):
  """A module, the constants that it takes as leading arguments, and inputs it kept.

  `callbacks` are the Python functions that it calls. `written` are the inputs that hold
  references whose new contents follow the results, all of types `out_avals`.
  """

  module: Any
  const_args: list[Any]
  kept: tuple[bool, ...]
  callbacks: tuple[Any, ...]
  out_avals: list[Any]
  written: tuple[int, ...]
  in_avals: list[Any]  # of the inputs that it kept


class _Local(threading.local):
  """A builder a thread: contexts are independent."""

  def __init__(self) -> None:
    self.builder: Builder | None = None
    self.uses = 0


_local = _Local()
_USES_OF_A_CONTEXT = 500  # attributes live as long as their context, so it is renewed


def _builder() -> Builder:
  if _local.builder is None or _local.uses > _USES_OF_A_CONTEXT:
    _local.builder, _local.uses = Builder(mlir.new_context()), 0
    with _local.builder.context:
      _local.builder.locations = mlir.LocationCache(
          _local.builder.context, _user_file, 8)
  _local.uses += 1
  return _local.builder


def _user_file(code: Any) -> str | None:
  """The file that a frame's location names, unless it is one of the library's."""
  name: str = code.co_filename
  return name if source.is_user_file(name) else None


def large_constants(jaxpr: ClosedJaxpr | Jaxpr) -> list[Any]:
  """The constants of a program, at any depth, that are passed as arguments."""
  found: list[Any] | None = jaxpr.memo.get("large constants")
  if found is None:
    by_id: dict[int, Any] = {}
    if isinstance(jaxpr, ClosedJaxpr):
      for c in jaxpr.consts:
        if _is_large(c):
          by_id[id(c)] = c
    inner = jaxpr.jaxpr if isinstance(jaxpr, ClosedJaxpr) else jaxpr
    for e in inner.eqns:
      if e.primitive.call:
        for program in programs_in(e.params):
          by_id.update((id(c), c) for c in large_constants(program))
    found = jaxpr.memo["large constants"] = list(by_id.values())
  return found


def _is_large(c: Any) -> bool:
  aval = typeof(c)
  if not hasattr(aval, "size") or aval.dtype == dtypes.float0:  # float0 holds no bytes
    return False
  return aval.size * 4 > _INLINE_BYTES  # type: ignore[no-any-return]


class Context:
  """What a lowering rule sees: the builder `b`, the types, and how to emit jaxprs."""

  __slots__ = (
      "_constants", "_eqn", "_functions", "_jaxpr", "_locations", "_names", "_symbols",
      "_tokens", "b", "callbacks", "meshes", "platforms", "prefix")

  def __init__(
      self, b: Builder, symbols: Any, prefix: str, platforms: tuple[str, ...]) -> None:
    self.b, self._symbols = b, symbols
    self._functions: dict[int, tuple[Any, Any]] = {}
    self._constants: dict[int, Any] = {}
    self._locations: dict[str, dict[Any, Any]] = {}  # by prefix
    self._names: set[str] = {"main"}
    self._eqn: Any = None
    self._jaxpr: Any = None
    self._tokens: dict[Effect, Any] = {}
    self.callbacks: list[Any] = []  # the Python functions that the program calls
    self.meshes: dict[Any, str] | None = None  # of a partitioned program, by name
    self.prefix = prefix
    self.platforms = platforms

  @property
  def avals_in(self) -> list[Any]:
    return [v.aval for v in self._eqn.invars]

  @property
  def avals_out(self) -> list[Any]:
    return [v.aval for v in self._eqn.outvars]

  @property
  def aval_out(self) -> Any:
    """The type of the first result."""
    return self._eqn.outvars[0].aval

  @property
  def eqn(self) -> Eqn:
    return self._eqn  # type: ignore[no-any-return]

  def add_mesh(self, symbol: str, text: str) -> None:
    """Makes sure that the module has a mesh of this name, in Shardy's form."""
    if symbol not in self._names:
      self._names.add(symbol)
      op = ir.Operation.parse(f"sdy.mesh @{symbol} = {text}", context=self.b.context)
      ir.InsertionPoint.at_block_begin(self._symbols).insert(op)

  # ---- the order of effects: each operation takes the token that the last one gave

  def token(self, effect: Effect) -> Any:
    """The token of what happened last."""
    found = self._tokens.get(effect)
    if found is None:
      found = self._tokens[effect] = self.b.op1(
          "stablehlo.create_token", self.b.token_type(), ())
    return found

  def set_token(self, effect: Effect, token: Any) -> None:
    """Says what the next operation takes."""
    self._tokens[effect] = token

  def tokens(self, effects: Sequence[Effect]) -> list[Any]:
    """The tokens of several effects, to hand to a region or a function."""
    return [self.token(e) for e in effects]

  def set_tokens(self, effects: Sequence[Effect], tokens: Sequence[Any]) -> None:
    """Takes over tokens, from a region or a function or inside one."""
    self._tokens.update(zip(effects, tokens))

  # ---- jaxprs

  def inline(
      self, jaxpr: ClosedJaxpr, values: Sequence[Any], part: str = "") -> list[Any]:
    """Emits a jaxpr in place; `part` names which of an equation's programs it is."""
    if jaxpr.effects and touches_refs(jaxpr.effects):
      from gnomon.core import discharge  # a lowering rule traced a function with some

      jaxpr = discharge.pure(jaxpr).jaxpr
    consts = [self._constant(c) for c in jaxpr.consts]
    return self.emit(jaxpr.jaxpr, consts, values, part)

  def call(self, name: str, jaxpr: ClosedJaxpr, values: Sequence[Any]) -> list[Any]:
    """Calls a jaxpr as a function of the module, emitted once.

    Results that are dear to compute come from a function that XLA does not inline if
    several operations use them, each of which would compute them anew, or if they are
    given so short a last dimension that their computation would not be vectorised.
    """
    attrs = {}
    if dear and self.platforms == ("cpu",) and is_dear(jaxpr) and self._is_shared():
      attrs["mhlo.frontend_attributes"] = self.b.attr('{inlineable = "false"}')
    return self._call(
        name, jaxpr, values, lambda symbol: ("func.call", {"callee": symbol, **attrs}))

  def composite(
      self, name: str, jaxpr: ClosedJaxpr, values: Sequence[Any], version: int,
      attributes: dict[str, Any]) -> list[Any]:
    """An operation of a given name, whose meaning a jaxpr gives: a function."""
    def op(symbol: Any) -> tuple[str, dict[str, Any]]:
      attrs = {"name": self.b.string(name), "decomposition": symbol}
      if version:
        attrs["version"] = self.b.i32(version)
      if attributes:
        attrs["composite_attributes"] = ir.DictAttr.get(attributes)
      return "stablehlo.composite", attrs

    return self._call(name, jaxpr, values, op)

  def _call(
      self, name: str, jaxpr: ClosedJaxpr, values: Sequence[Any],
      op: Callable[[Any], tuple[str, dict[str, Any]]]) -> list[Any]:
    b = self.b
    large = large_constants(jaxpr)
    effects = ordered_effects(jaxpr.effects)
    before = self.tokens(effects)
    found = self._functions.get(id(jaxpr))
    if found is None:
      symbol = self._fresh(name)
      operands = [typeof(c) for c in large] + jaxpr.in_avals
      outer = b.ip, self._eqn, self._constants, b.loc, self._jaxpr, self.prefix
      # A function is emitted once, for all that call it: it does not bear their names.
      self._eqn, self.prefix = None, f"jit({name})"
      block = function(
          self, symbol, operands, jaxpr.out_avals, private=True, tokens=len(effects))
      b.ip = ir.InsertionPoint(block)
      args = list(block.arguments)
      if effects:
        self.set_tokens(effects, args)
        args = args[len(effects):]
      self._constants = {id(c): a for c, a in zip(large, args)}
      try:
        outs = self.inline(jaxpr, args[len(large):])
        b.op("func.return", [], [*self.tokens(effects), *b.settled(outs)])
      finally:
        (b.ip, self._eqn, self._constants, b.loc, self._jaxpr, self.prefix) = outer
      found = self._functions[id(jaxpr)] = (ir.FlatSymbolRefAttr.get(symbol), jaxpr)
    operands = [*before, *(self._constant(c) for c in large), *b.settled(values)]
    types = [*(t.type for t in before), *(b.tensor(a) for a in jaxpr.out_avals)]
    op_name, attrs = op(found[0])
    results = list(b.op(op_name, types, operands, attrs).results)
    if not effects:
      return results
    self.set_tokens(effects, results)
    return results[len(effects):]

  def _where_types_say(self, e: Eqn, outs: Sequence[Any]) -> Sequence[Any]:
    """Results placed as their types say, in a program over several devices."""
    placed = list(outs)
    meshes: dict[Any, str] = {} if self.meshes is None else self.meshes
    for i, v in enumerate(e.outvars):
      aval = v.aval
      if type(aval) is ShapedArray and aval._sharding is not None:
        text = attribute(
            aval._sharding, len(physical_aval(aval).shape), meshes)
        placed[i] = self.b.op1(
            "sdy.sharding_constraint", placed[i].type, self.b.settled([placed[i]]),
            {"sharding": self.b.attr(text)})
    return placed

  def _is_shared(self) -> bool:
    """Whether a result of the present equation has several uses, or one like that."""
    uses = _uses(self._jaxpr)
    return any(uses.get(v, 0) > 1 for v in self._eqn.outvars)

  def _fresh(self, name: str) -> str:
    base = "".join(c if c.isalnum() or c in "_." else "_" for c in name) or "f"
    symbol, i = base, 0
    while symbol in self._names:
      symbol = f"{base}_{i}"
      i += 1
    self._names.add(symbol)
    return symbol

  def _constant(self, c: Any) -> Any:
    found = self._constants.get(id(c))
    if found is not None:
      return found
    return self.b.constant(host(c))

  def emit(
      self, jaxpr: Jaxpr, consts: Sequence[Any], args: Sequence[Any],
      part: str = "") -> list[Any]:
    """Emits the live equations of a jaxpr; returns its results."""
    b, table = self.b, lower
    outer, outer_loc, outer_jaxpr = self._eqn, b.loc, self._jaxpr
    prefix = self.prefix
    if outer is not None:  # inside an equation: of a loop's body, say
      self.prefix = "/".join((prefix, *_names_of(outer), *((part,) if part else ())))
    self._jaxpr = jaxpr
    env: dict[Any, Any] = dict(zip(jaxpr.constvars, consts))
    env.update(zip(jaxpr.invars, args))
    known = self._locations.setdefault(self.prefix, {})
    locations, make = b.locations, ir.Location.name
    several = self.meshes is not None
    for e in live(jaxpr):
      p, tb = e.primitive, e.source
      key = (p, tb)  # equal tracebacks, of a loop say, make one location
      loc = known.get(key)
      if loc is None:
        name = "/".join((self.prefix, *_names_of(e)))
        loc = known[key] = make(name, locations.get(
            tb.traceback if type(tb) is source.Source else tb))
      b.loc = loc
      operands: list[Any] = []
      for v in e.invars:
        operands.append(
            b.constant(v.val, v.aval.dtype) if type(v) is Literal else env[v])
      self._eqn = e
      outs = table[p](self, *operands, **e.params)
      if several:
        outs = self._where_types_say(e, outs)
      if len(e.outvars) == 1:
        env[e.outvars[0]] = outs[0]
      else:
        env.update(zip(e.outvars, outs))
    self._eqn, b.loc, self._jaxpr, self.prefix = outer, outer_loc, outer_jaxpr, prefix
    return [
        b.constant(v.val, v.aval.dtype) if type(v) is Literal else env[v]
        for v in jaxpr.outvars]


# Primitives whose results cost so much that no compiler should compute them twice.
dear: set[Primitive] = set()


def is_dear(jaxpr: ClosedJaxpr | Jaxpr) -> bool:
  """Whether a program has such a primitive, at any depth; remembered."""
  found: bool | None = jaxpr.memo.get("dear")
  if found is None:
    inner = jaxpr.jaxpr if isinstance(jaxpr, ClosedJaxpr) else jaxpr
    found = jaxpr.memo["dear"] = any(
        e.primitive in dear
        or (e.primitive.call and any(map(is_dear, programs_in(e.params))))
        for e in inner.eqns)
  return found


def is_narrow(shape: Sequence[int]) -> bool:
  """Whether an array is large, but its last dimension short."""
  return len(shape) > 1 and shape[-1] < 64 and math.prod(shape) >= 1024


def _uses(jaxpr: Jaxpr) -> dict[Any, int]:
  """How often values are used.

  More than once by a program in an equation, and by what makes a narrow array of one.
  """
  found: dict[Any, int] | None = jaxpr.memo.get("uses")
  if found is None:
    found = jaxpr.memo["uses"] = {}
    for e in live(jaxpr):
      weight = 2 if e.primitive.call or (
          e.primitive is reshape_p and is_narrow(e.outvars[0].aval.shape)) else 1
      for v in e.invars:
        if type(v) is not Literal:
          found[v] = found.get(v, 0) + weight
    for v in jaxpr.outvars:
      if type(v) is not Literal:
        found[v] = found.get(v, 0) + 1
  return found


def _names_of(e: Eqn) -> tuple[str, ...]:
  """The names in force at an equation, and its own: `jit(f)` of a call of `f`."""
  own: str = e.primitive.name
  names = e.source.names if type(e.source) is source.Source else ()
  if own == "jit":
    own = f"jit({e.params['name']})"
    if names and "()" in names[-1]:  # of a transformation of the call
      return (*names[:-1], names[-1].replace("()", f"({own})"))
  elif own == "scan":  # as which it is compiled, and shows in profiles
    own = "while"
  elif own == "remat2":
    return (*names, "checkpoint", "rematted_computation") if e.params[
        "differentiated"] else (*names, "checkpoint")
  return (*names, own)


def host(c: Any) -> np.ndarray[Any, Any]:
  """The value of a constant on the host, in its canonical dtype."""
  aval = typeof(c)
  if type(c) is arrays.Array:
    whole = len(c._sharding._internal_device_list) == 1
    return arrays.host_view(c) if whole else np.asarray(c)
  if isinstance(c, WrappedArray):
    return host(c.physical)
  if isinstance(c, Valueless):
    raise c.refused()
  return np.asarray(c, aval.dtype)


def function(
    ctx: Context, symbol: str, in_avals: Sequence[Any], out_avals: Sequence[Any], *,
    private: bool, arg_attrs: Any = None, tokens: int = 0) -> Any:
  """A `func.func` in the module; returns its entry block. Tokens come first."""
  b = ctx.b
  first = [b.token_type()] * tokens if tokens else []  # finding the type takes long
  ins, outs = first + [b.tensor(a) for a in in_avals], first + [
      b.tensor(a) for a in out_avals]
  attrs = {
      "sym_name": b.string(symbol),
      "function_type": ir.TypeAttr.get(ir.FunctionType.get(ins, outs)),
      "sym_visibility": b.string("private" if private else "public")}
  if arg_attrs is not None:
    attrs["arg_attrs"] = arg_attrs
  op = ir.Operation.create(
      "func.func", [], [], attrs, None, 1, b.unknown, ir.InsertionPoint(ctx._symbols))
  return op.regions[0].blocks.append(*ins, arg_locs=[b.unknown] * len(ins))


def has_refs(jaxpr: ClosedJaxpr) -> bool:
  """Whether a program takes references, or works with some."""
  return (bool(jaxpr.effects) and touches_refs(jaxpr.effects)) or any(
      type(v.aval) is AbstractRef for v in jaxpr.jaxpr.invars)


def kept_inputs(jaxpr: Jaxpr, keep_unused: bool) -> tuple[bool, ...]:
  """Which inputs a program reads."""
  if keep_unused:
    return (True,) * len(jaxpr.invars)
  used = set(jaxpr.outvars)
  for e in live(jaxpr):
    used.update(e.invars)
  return tuple([v in used for v in jaxpr.invars])


def lower_module(
    jaxpr: ClosedJaxpr, name: str, *, donated: Sequence[bool] = (),
    keep_unused: bool = False, platforms: tuple[str, ...] = ("cpu",),
    meshes: dict[Any, str] | None = None) -> Lowered:
  """Emits a closed jaxpr as the function `main` of a module called `jit_<name>`.

  `meshes`, for a program over several devices, collects the meshes that it names.
  """
  written: tuple[int, ...] = ()
  if has_refs(jaxpr):
    from gnomon.core import discharge  # loaded when a program has references

    jaxpr, written = discharge.pure(jaxpr)
    donated = [
        i in written or d for i, d in enumerate(donated or [False] * len(jaxpr.in_avals))]
  b = _builder()
  b.new_module()
  with b.context, b.unknown:
    module = ir.Module.create(b.unknown)
    safe = "".join(c if c.isalnum() or c == "_" else "_" for c in name)
    module.operation.attributes["sym_name"] = b.string(f"jit_{safe}")
    ctx = Context(b, module.body, f"jit({name})", platforms)
    ctx.meshes = meshes
    inner, large = jaxpr.jaxpr, large_constants(jaxpr)
    kept = kept_inputs(inner, keep_unused)
    avals = [typeof(c) for c in large] + [v.aval for v, k in zip(inner.invars, kept) if k]
    donors = [False] * len(large) + [d for d, k in zip(donated, kept) if k]
    block = function(
        ctx, "main", avals, jaxpr.out_avals, private=False,
        arg_attrs=_donation(b, donors, avals) if any(donors) else None)
    b.ip, b.loc = ir.InsertionPoint(block), b.unknown
    args = list(block.arguments)
    ctx._constants = {id(c): a for c, a in zip(large, args)}
    values, it = [], iter(args[len(large):])
    for k in kept:
      values.append(next(it) if k else None)
    outs = ctx.inline(jaxpr, values)
    b.loc = b.unknown
    b.op("func.return", [], outs)
  return Lowered(
      module, large, kept, tuple(ctx.callbacks), jaxpr.out_avals, written,
      avals[len(large):])


def _donation(b: Builder, donors: Sequence[bool], avals: Sequence[Any]) -> Any:
  donor = ir.DictAttr.get({"jax.buffer_donor": b.flag(True)})
  return ir.ArrayAttr.get([donor if d else ir.DictAttr.get({}) for d in donors])

