"""Vectorisation: a trace whose values carry the place of their mapped axis."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextvars import ContextVar
from typing import Any

from gnomon.core.calls import is_ref
from gnomon.core.derive import expand, move
from gnomon.core.jaxpr import ClosedJaxpr, Jaxpr, eval_jaxpr, memoised, programs_in
from gnomon.core.primitive import Primitive
from gnomon.core.ref_type import AbstractRef
from gnomon.core.rule import axis_rule, batch_rule
from gnomon.core.stage import trace_to_closed, trace_to_jaxpr
from gnomon.core.trace import (
  Trace,
  Tracer,
  check_leaks,
  get_current,
  leaked,
  tracing,
)
from gnomon.core.types import ShapedArray, typeof
from gnomon.errors import ConcretizationTypeError, UnexpectedTracerError

__all__ = [
    "Axis", "BatchTrace", "BatchTracer", "axis_env", "batch_jaxpr", "batch_rule",
    "vmap_flat"]

Dims = Sequence[int | None]


class Axis:
  """A mapped axis: its size, its name if collectives may use it, and its mesh axes.

  `entry` are the explicit axes of a mesh over which values are divided along it.
  """

  __slots__ = ("entry", "name", "size", "spmd_name")

  def __init__(
      self, size: int, name: Any = None, spmd_name: Any = None, entry: Any = None,
  ) -> None:
    self.size, self.name, self.spmd_name, self.entry = size, name, spmd_name, entry

  @property
  def key(self) -> tuple[Any, ...]:
    return (self.size, self.name, self.spmd_name, self.entry)


# The named axes in force, innermost last: part of the key of traces.
axis_env: ContextVar[tuple[tuple[Any, int], ...]] = ContextVar("gnomon.axes", default=())


class BatchTracer(Tracer):
  """A value whose dimension `dim` is mapped."""

  __slots__ = ("dim", "value")

  def __init__(self, trace: BatchTrace, value: Any, dim: int) -> None:
    t = typeof(value)
    self._trace, self.value, self.dim = trace, value, dim
    self.aval = ShapedArray(t.shape[:dim] + t.shape[dim + 1:], t.dtype, t.weak_type)
    if t._sharding is not None:
      self.aval = self.aval.update(sharding=_without(t._sharding, dim))

  def __repr__(self) -> str:
    return f"VmapTracer(aval={self.aval}, batched={typeof(self.value)})"

  def origin(self, *, past: bool = False) -> str:
    x = self.value
    if isinstance(x, Tracer):
      return x.origin(past=past)
    mapped = f"mapped by vmap over an axis of size {self._trace.axis.size}"
    return f"It was {mapped}." if past else f"It is {mapped}, and so has many values."


def _without(sharding: Any, dim: int) -> Any:
  """How a value is divided that lacks a dimension."""
  entries = list(sharding.spec)
  del entries[dim]
  return sharding.update(spec=sharding.spec.update(partitions=tuple(entries)))


class BatchTrace(Trace):
  """Applies batching rules; values that are not mapped pass through to the parent."""

  __slots__ = ("axis", "parent")
  label = "vmap"

  def __init__(self, parent: Any, axis: Axis) -> None:
    self.done = False
    self.parent, self.axis = parent, axis

  def split(self, args: Any) -> tuple[list[Any], list[Any], bool]:
    """The values, their mapped dimensions (None: not mapped), and whether one is."""
    axis = self.axis  # one for all traces of a call: rules close over its values
    values: list[Any] = []
    dims: list[int | None] = []
    mapped = False
    for x in args:
      if isinstance(x, BatchTracer) and x._trace.axis is axis:
        values.append(x.value)
        dims.append(x.dim)
        mapped = True
      else:
        if isinstance(x, Tracer) and x._trace.done:
          raise leaked(x)
        values.append(x)
        dims.append(None)
    return values, dims, mapped

  def process(
      self, primitive: Primitive, args: Any, params: dict[str, Any]) -> tuple[Any, ...]:
    values, dims, mapped = self.split(args)
    axis = self.axis
    if axis.name is not None:
      rule = axis_rule.get(primitive)
      if rule is not None:
        if axis.name in _names(params):
          with tracing(self.parent):
            return self.wrap(*rule(axis, values, dims, **params))
      elif not mapped and primitive.call:  # its programs may still use the axis
        mapped = axis.name in names_in(params)
    if not mapped:
      return self.parent.process(primitive, values, params)  # type: ignore[no-any-return]
    with tracing(self.parent):
      outs, out_dims = batch_rule[primitive](axis, values, dims, **params)
    return tuple([
        o if d is None else BatchTracer(self, o, d) for o, d in zip(outs, out_dims)])

  def wrap(self, outs: Sequence[Any], dims: Dims) -> tuple[Any, ...]:
    return tuple([
        o if d is None else BatchTracer(self, o, d) for o, d in zip(outs, dims)])

  def element(self, x: Any, d: int) -> BatchTracer:
    """An array mapped over an axis, as the function sees it."""
    return BatchTracer(self, x, d % typeof(x).ndim)

  def whole(self, x: Any, target: int | None) -> Any:
    """A value for the trace around, with its mapped axis at `target`; None: it has none.

    Raises:
      ValueError: it depends on the mapped axis, and `target` is None.
    """
    (value,), (dim,), _ = self.split([x])
    if target is None:
      if dim is not None:
        raise ValueError(
            "vmap: a result depends on the mapped axis; say where it goes, not None")
      return value
    with tracing(self.parent):
      ndim = typeof(value).ndim + (dim is None)
      return to_dim(value, dim, target % ndim, self.axis.size)

  def custom_jvp(self, call: Any, args: Any) -> tuple[Any, ...]:
    if any(isinstance(x, Tracer) and x.is_box for x in args):
      return tuple(call.fun(*args))  # its own rules know no references
    values, dims, mapped = self.split(args)
    with tracing(self.parent):
      if not (mapped or self.concerns(call, values)):
        try:
          return self.parent.custom_jvp(call, values)  # type: ignore[no-any-return]
        except UnexpectedTracerError:
          pass  # it closes over a mapped value
      batched = call.batch(self.axis, dims)
      outs = self.parent.custom_jvp(batched, values)
    return self.wrap(outs, batched.out_dims())

  def custom_vjp(self, call: Any, args: Any) -> tuple[Any, ...]:
    if any(isinstance(x, Tracer) and x.is_box for x in args):
      return tuple(call.fun(*args))
    values, dims, mapped = self.split(args)
    with tracing(self.parent):
      if not (mapped or self.concerns(call, values)):
        try:
          return self.parent.custom_vjp(call, values)  # type: ignore[no-any-return]
        except UnexpectedTracerError:
          pass  # it closes over a mapped value
      batched = call.batch(self.axis, dims)
      outs = self.parent.custom_vjp(batched, values)
    return self.wrap(outs, batched.out_dims())

  def concerns(self, call: Any, values: Sequence[Any]) -> bool:
    """Whether a function with rules of its own may use the axis, if it has a name."""
    name = self.axis.name
    if name is None:
      return False
    try:
      jaxpr, _ = trace_to_jaxpr(call.fun, [typeof(x) for x in values])
    except ConcretizationTypeError:  # it looks at values
      return True
    return name in names_of_program(jaxpr)


def names_in(params: dict[str, Any]) -> frozenset[Any]:
  """The names of axes that the programs in an equation's params use."""
  return frozenset().union(*map(names_of_program, programs_in(params)))


def names_of_program(program: Jaxpr | ClosedJaxpr) -> frozenset[Any]:
  """The names of axes that a program uses, at any depth; remembered with it."""
  jaxpr = program.jaxpr if isinstance(program, ClosedJaxpr) else program

  def find() -> frozenset[Any]:
    found: set[Any] = set()
    for e in jaxpr.eqns:
      if e.primitive in axis_rule:
        found.update(x for x in _names(e.params) if not isinstance(x, int))
      elif e.primitive.call:
        found |= names_in(e.params)
    return frozenset(found)

  return memoised(jaxpr, "axis names", find)  # type: ignore[no-any-return]


def _names(params: dict[str, Any]) -> tuple[Any, ...]:
  names = params.get("axes", params.get("axis_name", ()))
  return names if isinstance(names, tuple) else (names,)


def vmap_flat(
    f: Callable[..., Sequence[Any]], axis: Axis, values: Sequence[Any], dims: Dims,
) -> tuple[list[Any], list[int | None]]:
  """Maps a function of flat lists; gives its results and the mapped dimension of each."""
  trace = BatchTrace(get_current(), axis)
  env = axis_env.get()
  token = axis_env.set((*env, (axis.name, axis.size))) if axis.name is not None else None
  try:
    with tracing(trace):
      xs, ds, _ = trace.split(f(*_mapped(trace, values, dims)))
  finally:
    trace.done = True
    if token is not None:
      axis_env.reset(token)
  check_leaks(trace)
  return xs, ds


def _mapped(trace: BatchTrace, values: Sequence[Any], dims: Dims) -> Sequence[Any]:
  """Arguments as the mapped function sees them."""
  if not any(map(is_ref, values)):
    return trace.wrap(values, dims)
  from gnomon.transform import references  # loaded when a program has references

  return [
      x if d is None else BatchTracer(trace, x, d) if not is_ref(x)
      else references.mapped(trace, x, d, lambda y, d=d: BatchTracer(trace, y, d))
      for x, d in zip(values, dims)]


def to_dim(x: Any, dim: int | None, target: int | None, size: int) -> Any:
  """Brings a value to the mapped dimension `target`, repeating it if it is not mapped."""
  if target is None or dim == target:
    return x
  if dim is None:
    return expand(x, size, target)
  return move(x, dim, target)


def mapped_aval(aval: Any, axis: Axis, dim: int | None) -> Any:
  """The type of a value with its mapped axis."""
  if dim is None:
    return aval
  s = aval.shape
  if type(aval) is AbstractRef:
    return aval.update(mapped_aval(aval.inner_aval, axis, dim))
  whole = ShapedArray((*s[:dim], axis.size, *s[dim:]), aval.dtype, aval.weak_type)
  if axis.entry is None and aval._sharding is None:
    return whole
  from gnomon.core import explicit  # programs on one device do without

  return explicit.mapped(whole, aval, dim, axis.entry)


def batch_jaxpr(
    jaxpr: ClosedJaxpr, axis: Axis, dims: tuple[int | None, ...],
    out_dims: tuple[int | None, ...] | None = None,
) -> tuple[ClosedJaxpr, tuple[int | None, ...]]:
  """The jaxpr mapped over `dims`, remembered with it, and the dimensions of its results.

  `out_dims` asks for dimensions: 0 brings a result to the front, repeating it if need be;
  None leaves it as it comes.
  """
  def make() -> tuple[ClosedJaxpr, tuple[int | None, ...]]:
    places: list[int | None] = []

    def mapped(*xs: Any) -> list[Any]:
      outs, ds = vmap_flat(
          lambda *ys: eval_jaxpr(jaxpr.jaxpr, jaxpr.consts, *ys), axis, xs, dims)
      if out_dims is not None:
        outs = [to_dim(o, d, t, axis.size) for o, d, t in zip(outs, ds, out_dims)]
        ds = [d if t is None else t for d, t in zip(ds, out_dims)]
      places[:] = ds
      return outs

    avals = [mapped_aval(a, axis, d) for a, d in zip(jaxpr.in_avals, dims)]
    return trace_to_closed(mapped, avals, jaxpr.jaxpr.debug_info), tuple(places)

  return memoised(jaxpr, ("batch", axis.key, dims, out_dims), make)  # type: ignore[no-any-return]
