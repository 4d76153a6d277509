"""What conditionals and loops share: traced bodies, types of carries, jaxpr surgery."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from gnomon import _config
from gnomon.api import tools
from gnomon.api.jit import Traced, _trace, trace_function
from gnomon.core import dtypes
from gnomon.core.calls import check_aliases, is_ref
from gnomon.core.derive import expand
from gnomon.core.effects import Effects
from gnomon.core.jaxpr import ClosedJaxpr, Jaxpr, Literal, Var, memoised
from gnomon.core.primitive import Primitive
from gnomon.core.rule import lower, typing_rule
from gnomon.core.stage import close, convert_constvars, trace_to_jaxpr
from gnomon.core.structural import convert, squeeze, zeros_like_aval
from gnomon.core.structural import instantiate as instantiate
from gnomon.core.trace import Tracer
from gnomon.core.types import ShapedArray, typeof
from gnomon.lax._control import messages
from gnomon.lax._shape import concatenate
from gnomon.lax._slicing import slice
from gnomon.transform.jvp import Moves

flatten = tools.flatten
Values = Sequence[Any]


# ---- tracing users' functions


class Body:
  """A user's function as a jaxpr without constants: `consts` are its leading operands."""

  __slots__ = ("consts", "fun", "jaxpr", "out_tree")

  def __init__(
      self, fun: Any, jaxpr: ClosedJaxpr, consts: list[Any], out_tree: Any) -> None:
    self.fun, self.jaxpr, self.consts, self.out_tree = fun, jaxpr, consts, out_tree

  @property
  def out_avals(self) -> list[Any]:
    return self.jaxpr.out_avals


def trace_body(fun: Any, who: str, in_tree: Any, avals: Sequence[Any]) -> Body:
  """Traces a function, once for a signature; what it closes over becomes operands."""
  avals = tuple(avals)
  found: Traced
  if can_be_remembered(fun):
    found = trace_function(fun, who, in_tree, avals)
  else:
    found = _trace(fun, who, in_tree, avals, ((), (), ()), None)
  jaxpr = found.jaxpr
  if found.outer:
    return Body(fun, jaxpr, found.outer, found.out_tree)
  if not jaxpr.consts:
    return Body(fun, jaxpr, [], found.out_tree)
  opened = memoised(jaxpr, "open", lambda: close(convert_constvars(jaxpr.jaxpr)))
  return Body(fun, opened, jaxpr.consts, found.out_tree)


def can_be_remembered(fun: Any) -> bool:
  """Whether a function can be a key of caches that do not keep it alive."""
  try:
    hash(fun)
    weakref.ref(fun)
  except TypeError:
    return False
  return True


class Part:
  """A loop's function made of the user's, which it holds weakly if it can."""

  __slots__ = ("__weakref__", "make", "of")

  def __init__(self, make: Callable[..., Any], of: Callable[[], Any]) -> None:
    self.make, self.of = make, of

  def __call__(self, *args: Any) -> Any:
    return self.make(self.of(), *args)

  @property
  def __wrapped__(self) -> Any:
    return self.of()

  @property
  def __name__(self) -> str:
    return tools.function_name(self.of())


_parts: weakref.WeakKeyDictionary[Any, dict[Any, Part]] = weakref.WeakKeyDictionary()


def part_of(make: Callable[..., Any], body_fun: Any) -> Part:
  """One object for a user's function, so that tracing it is remembered."""
  if not can_be_remembered(body_fun):
    return Part(make, lambda: body_fun)
  parts = _parts.setdefault(body_fun, {})
  found = parts.get(make)
  if found is None:
    found = parts[make] = Part(make, weakref.ref(body_fun))
  return found


def check_functions(who: str, **functions: Any) -> None:
  """Raises `TypeError` unless all of them can be called."""
  for name, f in functions.items():
    if not callable(f):
      raise TypeError(
          f"lax.{who}: the argument {name} should be callable, got {f!r} of type "
          f"{type(f).__name__}")


def leaf_avals(leaves: Values, who: str, name: Callable[[int], str]) -> list[Any]:
  """The types of flat operands; a bad one is named."""
  return [
      tools.check_leaf(x, f"lax.{who}", functools.partial(name, i))
      for i, x in enumerate(leaves)]


def check_references(
    who: str, fun: Any, leaves: Values, bodies: Sequence[Body], tree: Any) -> None:
  """Raises `ValueError` if a mutable reference reaches a function in two ways.

  `bodies` are what has been traced so far.
  """
  if any(map(is_ref, leaves)):
    check_aliases(
        who, tools.describe_function(fun), leaves, [c for b in bodies for c in b.consts],
        tools.leaf_names(fun, tree))


def runs_in_python(*deciding: Any) -> bool:
  """Whether `disable_jit` is on, and the values that decide are known."""
  return bool(_config.current().disable_jit) and not any(
      isinstance(x, Tracer) and x.concrete() is None for x in deciding)


# ---- carries


def carry_paths(fun: Any, in_tree: Any) -> list[str]:
  """Names of a function's flat arguments, such as `carry['a'][0]`."""
  return tools.leaf_names(fun, in_tree)()


def check_carry(
    who: str, fun: Any, in_tree: Any, out_tree: Any, in_avals: Sequence[Any],
    out_avals: Sequence[Any], names: Callable[[], list[str]]) -> None:
  """Raises `TypeError` unless a carry comes out as it goes in (but for weakness)."""
  if in_tree != out_tree:
    first = names()
    name = first[0].split("[")[0].split(".")[0] if first else "carry"
    raise messages.carry_structure(who, fun, in_tree, out_tree, name)
  wrong = [
      i for i, (a, b) in enumerate(zip(in_avals, out_avals)) if not same_type(a, b)]
  if wrong:
    raise messages.carry_types(who, fun, in_avals, out_avals, names(), wrong)


def same_type(a: Any, b: Any) -> bool:
  """Whether types are equal but for weakness."""
  return a is b or (
      isinstance(a, ShapedArray) and isinstance(b, ShapedArray)
      and a.strip_weak_type() is b.strip_weak_type())


def promoted(in_avals: Sequence[Any], out_avals: Sequence[Any]) -> list[Any] | None:
  """Types of a carry where weak ones yield to what comes out; None if none has to."""
  new, changed = [], False
  for a, b in zip(in_avals, out_avals):
    if a.weak_type and a.dtype != b.dtype and a.shape == b.shape and _promotes(a, b):
      a, changed = b, True
    new.append(a)
  return new if changed else None


def _promotes(a: Any, b: Any) -> bool:
  if isinstance(b.dtype, dtypes.ExtendedDType) or dtypes.float0 in (a.dtype, b.dtype):
    return False
  return _KINDS.index(_kind(a.dtype)) <= _KINDS.index(_kind(b.dtype))


_KINDS = "bifc"


def _kind(dtype: Any) -> str:
  kind: str = dtype.kind
  return {"u": "i", "V": "f"}.get(kind, kind)


def as_types(leaves: Values, avals: Sequence[Any]) -> list[Any]:
  """Converts operands whose types were promoted."""
  return [
      x if typeof(x).dtype == a.dtype else convert(x, a.dtype, a.weak_type)
      for x, a in zip(leaves, avals)]


# ---- arrays


def as_arrays(values: Values) -> list[Any]:
  """The values as arrays: numbers and NumPy arrays that were passed on are converted."""
  return [
      convert(x, typeof(x).dtype, typeof(x).weak_type)
      if isinstance(x, (bool, int, float, complex, np.ndarray, np.generic)) else x
      for x in values]


def part(x: Any, start: int, end: int) -> Any:
  """A range of slices along the leading axis."""
  shape = typeof(x).shape
  return slice(x, (start, *[0] * (len(shape) - 1)), (end, *shape[1:]))


def row(x: Any, i: int) -> Any:
  """One slice along the leading axis."""
  return squeeze(part(x, i, i + 1), (0,))


def joined(parts: Values) -> Any:
  """Arrays behind one another along the leading axis."""
  return concatenate(parts, 0)


def stack(rows: Values) -> Any:
  """Arrays of one shape along a new leading axis."""
  return joined([expand(x, 1) for x in rows])


# ---- effects


def check_batched_effects(who: str, what: str, effects: Effects) -> None:
  """Raises `NotImplementedError` where mapping would run effects that must not happen."""
  if not all(e.dispensable for e in effects):
    raise NotImplementedError(
        f"IO effect not supported in vmap-of-{who}: {what} is mapped, so that the "
        "effects of elements that are not concerned would happen, too (effects are not "
        f"supported in {who} with batched predicate). Move the callback out of {who}, or "
        "the mapped axis into it")


# ---- jaxprs with inputs and results rearranged; each is made once and remembered


def permuted(jaxpr: ClosedJaxpr, ins: Sequence[int], outs: Sequence[int]) -> ClosedJaxpr:
  """The jaxpr with these inputs and these results, in this order."""
  ins, outs = tuple(ins), tuple(outs)

  def make() -> ClosedJaxpr:
    j = jaxpr.jaxpr
    return ClosedJaxpr(j.replace(
        invars=[j.invars[i] for i in ins], outvars=[j.outvars[i] for i in outs]),
        jaxpr.consts)

  return memoised(jaxpr, ("permuted", ins, outs), make)  # type: ignore[no-any-return]


def widened(
    jaxpr: ClosedJaxpr, avals: Sequence[Any], places: Sequence[int]) -> ClosedJaxpr:
  """The jaxpr with inputs of types `avals`, of which its own stand at `places`."""
  avals, places = tuple(avals), tuple(places)
  if places == tuple(range(len(avals))):
    return jaxpr
  assert len(set(places)) == len(places), places

  def make() -> ClosedJaxpr:
    j = jaxpr.jaxpr
    own = dict(zip(places, j.invars))
    invars = [own.get(i) or Var(a) for i, a in enumerate(avals)]
    return ClosedJaxpr(j.replace(invars=invars), jaxpr.consts)

  return memoised(jaxpr, ("widened", avals, places), make)  # type: ignore[no-any-return]


def zero_filled(
    jaxpr: ClosedJaxpr, start: int, have: Moves, want: Moves, avals: Sequence[Any],
) -> ClosedJaxpr:
  """The jaxpr with zeros among its results from `start` on.

  They are those of `have`, and become those of `want` (`avals`: all their types).
  """
  if have == want:
    return jaxpr
  missing = tuple([a for a, h, w in zip(avals, have, want) if w and not h])

  def make() -> ClosedJaxpr:
    j = jaxpr.jaxpr
    zeros, consts = trace_to_jaxpr(lambda: [filler(a) for a in missing], ())
    own, zero = iter(j.outvars[start:]), iter(zeros.outvars)
    outvars = j.outvars[:start] + [
        next(own) if h else next(zero) for h, w in zip(have, want) if h or w]
    return ClosedJaxpr(
        j.replace(
            constvars=j.constvars + zeros.constvars, outvars=outvars,
            eqns=j.eqns + zeros.eqns), [*jaxpr.consts, *consts])

  key = ("zero filled", start, have, want, missing)
  return memoised(jaxpr, key, make)  # type: ignore[no-any-return]


def filler(aval: Any) -> Any:
  """Something of a type, where no value is used; zeros if there are any."""
  if isinstance(aval.dtype, dtypes.ExtendedDType):
    return filler_p.apply(shape=aval.shape, dtype=aval.dtype)[0]
  return zeros_like_aval(aval)


filler_p = Primitive("empty2")
typing_rule.define(filler_p)(lambda shape, dtype: (ShapedArray(shape, dtype),))
lower.define(filler_p)(lambda ctx, **_: [ctx.b.full(ctx.avals_out[0], 0)])


def depends(jaxpr: Jaxpr, sources: Iterable[Any]) -> set[Any]:
  """The variables that depend on one of `sources` (those among them)."""
  found = set(sources)
  for e in jaxpr.eqns:
    if any(type(v) is not Literal and v in found for v in e.invars):
      found.update(e.outvars)
  return found


def union(*moves: Moves) -> Moves:
  """True where one of them is."""
  return tuple([any(ms) for ms in zip(*moves)])
