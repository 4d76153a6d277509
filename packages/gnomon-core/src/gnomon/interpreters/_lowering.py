"""Lowering rules of other libraries: what they see, how they are entered and made."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from gnomon.core import effects
from gnomon.core.jaxpr import ClosedJaxpr
from gnomon.core.primitive import Primitive
from gnomon.core.rule import lower
from gnomon.core.stage import trace_to_closed
from gnomon.core.types import physical_aval
from gnomon.lowering.module import Context
from gnomon.runtime import backends
from gnomon.runtime.jaxlib import callbacks, mlir
from gnomon.tree_util import tree_leaves

ir = mlir.ir
Rule = Callable[..., Sequence[Any]]


@dataclasses.dataclass(frozen=True)
class LoweringParameters:
  """Choices for a whole module."""

  override_lowering_rules: tuple[tuple[Primitive, Rule], ...] | None = None
  global_constant_computation: bool = False
  for_export: bool = False
  export_ignore_forward_compatibility: bool = False
  hoist_constants_as_args: bool = False


class ShapePolyLoweringState:
  """Which symbolic dimensions a module has: those of exported programs."""

  __slots__ = ("dim_vars", "lowering_platforms")

  def __init__(
      self, dim_vars: tuple[str, ...],
      lowering_platforms: tuple[str, ...] | None) -> None:
    self.dim_vars, self.lowering_platforms = dim_vars, lowering_platforms


@dataclasses.dataclass(frozen=True)
class ShardingContext:
  """A program over devices whose axes have no names."""

  num_devices: int
  device_assignment: tuple[Any, ...] | None = None
  abstract_mesh: Any = None


@dataclasses.dataclass(frozen=True)
class SPMDAxisContext:
  """A program over a mesh, some axes of which are partitioned by hand."""

  mesh: Any
  manual_axes: frozenset[Any] = frozenset()


class TokenSet:
  """A token for each ordered effect, in the order they were given."""

  __slots__ = ("_tokens",)

  def __init__(self, tokens: Mapping[Any, Any] | None = None) -> None:
    self._tokens = dict(tokens or {})

  @classmethod
  def create(cls, effects: Sequence[Any]) -> TokenSet:
    """New tokens; needs a current insertion point."""
    return cls({e: new_token() for e in effects})

  def get(self, effect: Any) -> Any:
    """The token of an effect."""
    return self._tokens[effect]

  def items(self) -> Sequence[tuple[Any, Any]]:
    """Effects and their tokens."""
    return tuple(self._tokens.items())

  def effects(self) -> set[Any]:
    """The effects."""
    return set(self._tokens)

  def subset(self, effects: Any) -> TokenSet:
    """The tokens of some of the effects."""
    return TokenSet({e: self._tokens[e] for e in effects})

  def update_tokens(self, tokens: TokenSet) -> TokenSet:
    """These tokens with those of `tokens` in place of older ones."""
    return TokenSet({**self._tokens, **tokens._tokens})

  def __len__(self) -> int:
    return len(self._tokens)


def new_token() -> Any:
  """A token that waits for nothing."""
  token = ir.Type.parse("!stablehlo.token")
  return ir.Operation.create("stablehlo.create_token", [token], []).result


class ModuleContext:
  """The module that is being made."""

  __slots__ = ("axis_context", "inner", "lowering_parameters", "shape_poly_state")

  def __init__(
      self, inner: Context, axis_context: Any = None,
      lowering_parameters: LoweringParameters | None = None) -> None:
    self.inner = inner
    self.axis_context = axis_context or ShardingContext(1)
    self.lowering_parameters = lowering_parameters or LoweringParameters()
    self.shape_poly_state = ShapePolyLoweringState((), None)

  @property
  def platforms(self) -> Sequence[str]:
    """The platforms that the module is for."""
    return self.inner.platforms

  @property
  def context(self) -> Any:
    """The MLIR context."""
    return self.inner.b.context

  @property
  def module(self) -> Any:
    """The operation of the module."""
    return self.inner._symbols.owner

  @property
  def ip(self) -> Any:
    """Where functions of the module are put."""
    return ir.InsertionPoint(self.inner._symbols)

  @property
  def symbol_table(self) -> Any:
    """The module's functions by name."""
    return ir.SymbolTable(self.module)

  def add_keepalive(self, keepalive: Any) -> None:
    """Keeps an object as long as the program: what `emit_python_callback` gives."""
    self.inner.callbacks.append(lambda: keepalive)  # never called: the list is kept

  @property
  def host_callbacks(self) -> list[Any]:
    """The Python functions that the program calls, by index."""
    return self.inner.callbacks

  @property
  def backend(self) -> Any:
    """The runtime's client."""
    return backends.client()

  def get_backend(self) -> Any:
    """The runtime's client."""
    return backends.client()

  def add_host_callback(self, host_callback: Any) -> None:
    """Adds a Python function that the program calls."""
    self.inner.callbacks.append(host_callback)

  def replace(self, **changes: Any) -> ModuleContext:
    """A copy with another `axis_context` or other `lowering_parameters`."""
    return ModuleContext(
        changes.pop("inner", self.inner), changes.pop("axis_context", self.axis_context),
        changes.pop("lowering_parameters", self.lowering_parameters), **changes)


@dataclasses.dataclass(frozen=True)
class LoweringRuleContext:
  """What a lowering rule sees of its operation."""

  module_context: Any
  name_stack: Any
  traceback: Any
  primitive: Primitive | None
  avals_in: Sequence[Any]
  avals_out: Any
  tokens_in: TokenSet
  tokens_out: TokenSet | None
  const_lowering: Any = dataclasses.field(default_factory=dict)
  axis_size_env: dict[Any, Any] | None = None
  dim_var_values: Sequence[Any] = ()
  jaxpr_eqn_ctx: Any = None
  platforms: Sequence[str] | None = None

  @property
  def is_forward_compat(self) -> bool:
    """Whether the module must be readable by older releases of the compiler."""
    return self.module_context.lowering_parameters.for_export  # type: ignore[no-any-return]

  def set_tokens_out(self, tokens_out: TokenSet) -> None:
    """Says which tokens what follows waits for."""
    for effect, token in tokens_out.items():
      self.module_context.inner.set_token(effect, token)
    object.__setattr__(self, "tokens_out", tokens_out)

  def replace(self, **changes: Any) -> LoweringRuleContext:
    """A copy with some fields changed."""
    return dataclasses.replace(self, **changes)


def rule_context(ctx: Context) -> LoweringRuleContext:
  """The view of a lowering context for a rule of another library."""
  eqn = ctx.eqn
  ordered = effects.ordered_effects(eqn.effects)
  names = getattr(eqn.source, "names", ())
  return LoweringRuleContext(
      module_context=ModuleContext(ctx), name_stack="/".join((ctx.prefix, *names)),
      traceback=getattr(eqn.source, "traceback", eqn.source), primitive=eqn.primitive,
      avals_in=tuple(ctx.avals_in), avals_out=tuple(ctx.avals_out),
      tokens_in=TokenSet({e: ctx.token(e) for e in ordered}), tokens_out=None,
      platforms=tuple(ctx.platforms))


# ---- entering rules


class EffectTypes:
  """Kinds of effects that are admitted somewhere."""

  def __init__(self, types: Sequence[type] = ()) -> None:
    self._types = set(types)

  def add_type(self, effect_type: type) -> None:
    """Admits effects of a class and of those derived from it."""
    self._types.add(effect_type)

  def contains(self, eff: Any) -> bool:
    """Whether an effect is admitted."""
    return isinstance(eff, tuple(self._types))

  def filter_in(self, effs: Any) -> list[Any]:
    """Those that are admitted."""
    return [e for e in effs if self.contains(e)]

  def filter_not_in(self, effs: Any) -> list[Any]:
    """Those that are not."""
    return [e for e in effs if not self.contains(e)]

  def __repr__(self) -> str:
    return f"EffectTypes({sorted(t.__name__ for t in self._types)})"


lowerable_effects = EffectTypes((effects.IOEffect, effects.DebugEffect))


class Platforms:
  """The lowering rules of a primitive of another library, by platform."""

  def __init__(self) -> None:
    self.rules: dict[str | None, Rule] = {}

  def __call__(self, ctx: Context, *values: Any, **params: Any) -> Sequence[Any]:
    eqn = ctx.eqn
    refused = lowerable_effects.filter_not_in(eqn.effects)
    if refused:
      raise ValueError(
          f"effects {refused} of {eqn.primitive.name} cannot be lowered; a library that "
          "knows that they can says so: mlir.lowerable_effects.add_type(EffectClass)")
    rule = self._rule(ctx, eqn.primitive)
    with ctx.b.ip, ctx.b.loc:
      outs = rule(rule_context(ctx), *values, **params)
    return [_one(eqn.primitive, o) for o in outs]

  def _rule(self, ctx: Context, primitive: Primitive) -> Rule:
    found = [self.rules.get(p, self.rules.get(None)) for p in ctx.platforms]
    for platform, rule in zip(ctx.platforms, found, strict=True):
      if rule is None:
        raise NotImplementedError(
            f"MLIR translation rule for primitive '{primitive.name}' not found for "
            f"platform {platform}: there are rules for {sorted(map(str, self.rules))}")
    if any(rule is not found[0] for rule in found):
      raise NotImplementedError(
          f"the primitive {primitive.name} has different lowering rules for the "
          f"platforms {', '.join(ctx.platforms)}; lower for one of them at a time")
    return found[0]  # type: ignore[return-value]


def _one(primitive: Primitive, out: Any) -> Any:
  values = list(out) if isinstance(out, (list, tuple)) else [out]
  if len(values) != 1:
    raise TypeError(
        f"a lowering rule gives one value for each result, but that of {primitive.name} "
        f"gave {len(values)} for one")
  return getattr(values[0], "result", values[0])


# Platforms whose clients come as plugins: rules for them may be there before.
_PLATFORMS = frozenset({"cpu", "cuda", "gpu", "rocm", "tpu", "METAL"})


def register_lowering(
    prim: Primitive, rule: Rule, platform: str | None = None, inline: bool = True,
    cacheable: bool = True) -> None:
  """Enters how an operation is lowered: `rule(ctx, *values, **params)`.

  Args:
    prim: the primitive.
    rule: gets a `LoweringRuleContext` and the operands as `ir.Value`; returns a list of
      as many results. It makes operations at the current insertion point.
    platform: the platform that the rule is for, such as "cpu" ("gpu" stands for "cuda"
      and "rocm"); None: for all others.
    inline: whether the operations stand in place; they always do.
    cacheable: whether the rule depends on types and params alone; it is asked each time.

  Raises:
    NotImplementedError: `platform` is unknown.
  """
  del inline, cacheable
  known = {*_PLATFORMS, *backends.registered()}
  if platform is not None and platform not in known:
    raise NotImplementedError(
        f"register_lowering: the platform {platform!r} of a rule for {prim} is unknown; "
        f"known are {', '.join(sorted(known))}")
  table = lower.get(prim)
  if not isinstance(table, Platforms):
    own, table = table, Platforms()
    if own is not None:  # of gnomon's own primitive, for the other platforms
      table.rules[None] = _own_rule(own)
    lower.replace(prim, table)
  for name in ("cuda", "rocm") if platform == "gpu" else (platform,):
    table.rules[name] = rule


def _own_rule(rule: Callable[..., Any]) -> Rule:
  return lambda ctx, *values, **params: rule(ctx.module_context.inner, *values, **params)


# ---- makers of rules


def lower_fun(fun: Callable[..., Any], multiple_results: bool = True) -> Rule:
  """A lowering rule from a function of arrays that does the same.

  Args:
    fun: `fun(*arrays, **params)`.
    multiple_results: whether it returns a list of results, or the only one.

  >>> import gnomon
  >>> from gnomon.extend.core import Primitive
  >>> from gnomon.interpreters import mlir
  >>> double_p = Primitive("double")
  >>> _ = double_p.def_abstract_eval(lambda x: x)
  >>> mlir.register_lowering(
  ...     double_p, mlir.lower_fun(lambda x: x + x, multiple_results=False))
  >>> gnomon.jit(double_p.bind)(2.0)
  Array(4., dtype=float32, weak_type=True)
  """
  def rule(ctx: LoweringRuleContext, *values: Any, **params: Any) -> Sequence[Any]:
    def flat(*xs: Any) -> Sequence[Any]:
      out = fun(*xs, **params)
      return list(out) if multiple_results else [out]

    return inline(
        ctx.module_context.inner, trace_to_closed(flat, list(ctx.avals_in)), values)

  return rule


def inline(ctx: Context, jaxpr: ClosedJaxpr, values: Sequence[Any]) -> list[Any]:
  """Emits a jaxpr at the current insertion point."""
  b = ctx.b
  outer = b.ip, b.loc
  b.ip, b.loc = ir.InsertionPoint.current, ir.Location.current
  try:
    return ctx.inline(jaxpr, values)
  finally:
    b.ip, b.loc = outer


def core_call_lowering(
    ctx: LoweringRuleContext, *args: Any, name: str, backend: Any = None,
    call_jaxpr: ClosedJaxpr) -> Sequence[Any]:
  """The lowering of an operation that calls a jaxpr: a function of the module."""
  del backend
  inner = ctx.module_context.inner
  outer = inner.b.ip
  inner.b.ip = ir.InsertionPoint.current
  try:
    return inner.call(name, call_jaxpr, args)  # type: ignore[no-any-return]
  finally:
    inner.b.ip = outer


def emit_python_callback(
    ctx: LoweringRuleContext, callback: Callable[..., Any], token: Any,
    operands: Sequence[Any], operand_avals: Sequence[Any], result_avals: Sequence[Any],
    *, has_side_effect: bool, returns_token: bool = True, partitioned: bool = False,
    sharding: Any = None) -> tuple[Sequence[Any], Any, Any]:
  """Emits a call of a Python function on NumPy arrays.

  Args:
    ctx: the context of the rule.
    callback: gets the operands, and returns as many arrays as there are `result_avals`.
    token: what the call waits for, or None.
    operands: the values it gets.
    operand_avals: their types.
    result_avals: the types of the results.
    has_side_effect: whether the call must stay though nothing uses its results.
    returns_token: whether the call gives a token, where it takes one.
    partitioned: for programs over several devices; must be False.
    sharding: the same; must be None.

  Returns:
    The results, the token that what follows waits for (or None), and an object to keep
    alive (the program does).
  """
  if partitioned or sharding is not None:
    raise NotImplementedError(
        "emit_python_callback: partitioned and sharding are for programs over several "
        "devices, which this installation does not have")
  if tuple(ctx.module_context.platforms) != ("cpu",):
    raise NotImplementedError(
        "a program that calls Python functions can be compiled for 'cpu' only, not for "
        f"{', '.join(ctx.module_context.platforms)}")
  inner = ctx.module_context.inner
  b, tokens = inner.b, [] if token is None else [token]
  index = len(inner.callbacks)
  inner.callbacks.append(callbacks.remembering(
      _checked(callback, [physical_aval(a) for a in result_avals], len(tokens))))
  types = [*(t.type for t in tokens), *map(b.tensor, result_avals)]
  op = ir.Operation.create(
      "stablehlo.custom_call", types, [*tokens, *operands], {
          "call_target_name": b.string(callbacks.TARGET),
          "has_side_effect": b.flag(has_side_effect), "api_version": b.i32(4),
          "backend_config": b.attr(f"{{index = {index} : ui64}}"),
          "operand_layouts": _layouts(b, len(tokens), operand_avals),
          "result_layouts": _layouts(b, len(tokens), result_avals)})
  results = list(op.results)
  after = results[0] if tokens and returns_token else None
  return results[len(tokens):], after, callback


def _checked(
    callback: Callable[..., Any], avals: Sequence[Any], tokens: int,
) -> Callable[..., Any]:
  """The function that the runtime calls: tokens come first, results have their types."""
  def call(*args: Any) -> tuple[Any, ...]:
    outs = tree_leaves(callback(*args[tokens:]))
    if len(outs) != len(avals):
      raise RuntimeError(
          f"a Python callback must return {len(avals)} arrays, but returned {len(outs)}")
    found = []
    for x, a in zip(outs, avals, strict=True):
      y = np.asarray(x, a.dtype)
      if y.shape != a.shape:
        raise RuntimeError(
            f"a Python callback must return an array of type {a}, but returned one of "
            f"shape {y.shape}")
      found.append(y)
    return (*(None,) * tokens, *found)

  return call


def _layouts(b: Any, tokens: int, avals: Sequence[Any]) -> Any:
  ranks = [0] * tokens + [len(physical_aval(a).shape) for a in avals]
  return ir.ArrayAttr.get([
      b.attr(f"dense<{list(range(r - 1, -1, -1)) if r else ''}> : tensor<{r}xindex>")
      for r in ranks])

