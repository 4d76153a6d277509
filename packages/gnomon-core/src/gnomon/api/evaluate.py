"""`make_jaxpr`, `eval_shape`, and the types that stand for arrays without values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from gnomon.api import tools
from gnomon.core import dtypes
from gnomon.core.jaxpr import ClosedJaxpr
from gnomon.core.partition_spec import PartitionSpec
from gnomon.core.ref_type import AbstractRef
from gnomon.core.stage import trace_to_jaxpr
from gnomon.core.types import (
  AbstractValue,
  ShapedArray,
  Valueless,
  says,
  typeof,
  typeof_handlers,
)
from gnomon.runtime.layout import Format
from gnomon.transform.vmap import axis_env


class ShapeDtypeStruct(Valueless):
  """The shape and dtype of an array that need not exist.

  >>> import gnomon
  >>> gnomon.ShapeDtypeStruct((2, 3), 'float32')
  ShapeDtypeStruct(shape=(2, 3), dtype=float32)
  """

  __slots__ = ("dtype", "is_ref", "manual_axis_type", "shape", "sharding", "weak_type")

  def __init__(
      self, shape: Sequence[int], dtype: Any, *, sharding: Any = None,
      weak_type: bool = False, manual_axis_type: Any = None,
      is_ref: bool = False) -> None:
    if dtype is None:
      raise ValueError("ShapeDtypeStruct: dtype must be given, got None")
    self.shape = tuple(int(n) for n in shape)
    extended = isinstance(dtype, dtypes.ExtendedDType)
    self.dtype = dtype if extended else dtypes.as_dtype(dtype)
    self.sharding, self.weak_type = sharding, weak_type
    entries = getattr(sharding, "spec", sharding)
    if isinstance(entries, PartitionSpec) and len(entries) > len(self.shape):
      raise ValueError(
          f"ShapeDtypeStruct: the sharding {sharding} is only valid for values of rank "
          f"at least {len(entries)}, but was applied to a value of rank "
          f"{len(self.shape)}")
    self.manual_axis_type, self.is_ref = manual_axis_type, is_ref

  @staticmethod
  def like(x: Any) -> ShapeDtypeStruct:
    """What stands for an array or a tracer: its shape, dtype, sharding, weakness."""
    aval = typeof(x)
    sharding = x.sharding if getattr(x, "committed", False) else (
        aval.sharding if says(aval) else None)
    return ShapeDtypeStruct(
        aval.shape, aval.dtype, sharding=sharding, weak_type=aval.weak_type)

  @property
  def format(self) -> Format:
    """The sharding, with no layout chosen."""
    return Format(None, self.sharding)

  @property
  def ndim(self) -> int:
    return len(self.shape)

  @property
  def size(self) -> int:
    return ShapedArray(self.shape, self.dtype).size

  def __len__(self) -> int:
    if not self.shape:
      raise TypeError("len() of a 0-d ShapeDtypeStruct")
    return self.shape[0]

  def update(self, **changes: Any) -> ShapeDtypeStruct:
    """A copy with some fields changed."""
    fields = {name: getattr(self, name) for name in self.__slots__}
    return ShapeDtypeStruct(**{**fields, **changes})

  def __repr__(self) -> str:
    rest = f", sharding={self.sharding}" if self.sharding is not None else ""
    rest += ", weak_type=True" if self.weak_type else ""
    return f"ShapeDtypeStruct(shape={self.shape}, dtype={self.dtype.name}{rest})"

  def _key(self) -> tuple[Any, ...]:
    return (self.shape, self.dtype, self.sharding, self.weak_type, self.is_ref)

  def __eq__(self, other: object) -> bool:
    return isinstance(other, ShapeDtypeStruct) and self._key() == other._key()

  def __hash__(self) -> int:
    return hash(self._key())


def shaped_abstractify(x: Any) -> Any:
  """The type of an array, or of anything that has a shape and a dtype."""
  if isinstance(x, AbstractValue):
    return x
  if not isinstance(x, ShapeDtypeStruct):
    try:
      return typeof(x)
    except TypeError:
      if not (hasattr(x, "shape") and hasattr(x, "dtype")):
        raise
  dtype = dtypes.canonicalize_dtype(x.dtype, allow_extended_dtype=True)
  aval = ShapedArray(x.shape, dtype, bool(getattr(x, "weak_type", False)))
  sharding = getattr(x, "sharding", None)
  if getattr(getattr(sharding, "mesh", None), "explicit_axes", ()):
    aval = aval.update(sharding=sharding)
  return AbstractRef(aval) if getattr(x, "is_ref", False) else aval


typeof_handlers[ShapeDtypeStruct] = shaped_abstractify


def abstract_leaves(leaves: Sequence[Any], fun: Any, tree: Any, who: str) -> list[Any]:
  """The types of flat arguments; errors name the argument."""
  out = []
  for i, x in enumerate(leaves):
    try:
      out.append(shaped_abstractify(x))
    except TypeError:
      tools.check_leaves(leaves[:i + 1], who, tools.leaf_names(fun, tree))
      raise
  return out


@tools.filtered
def eval_shape(fun: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
  """The shapes and dtypes of a function's result, without computing it.

  Arguments are arrays, or anything with a shape and a dtype (`ShapeDtypeStruct`).

  >>> import gnomon
  >>> from gnomon import lax
  >>> gnomon.eval_shape(lax.neg, gnomon.ShapeDtypeStruct((3,), 'float32'))
  ShapeDtypeStruct(shape=(3,), dtype=float32)
  """
  tools.check_callable(fun, "eval_shape")
  jaxpr, out_tree = _trace(fun, args, kwargs, "eval_shape", ())
  return _shapes(jaxpr, out_tree)


def _shapes(jaxpr: ClosedJaxpr, out_tree: Any) -> Any:
  """The shapes and dtypes of a program's results, in their structure."""
  return out_tree.unflatten([
      ShapeDtypeStruct(
          a.shape, a.dtype, weak_type=a.weak_type,
          sharding=a.sharding if says(a) else None)
      for a in jaxpr.out_avals])


def _trace(
    fun: Any, args: tuple[Any, ...], kwargs: dict[str, Any], who: str,
    static: tuple[int, ...]) -> tuple[ClosedJaxpr, Any]:
  n = len(args)
  static = tuple(i % n for i in static if -n <= i < n)
  dynamic = tuple(x for i, x in enumerate(args) if i not in static)
  leaves, tree = tools.flatten((dynamic, kwargs))
  out_tree: Any = None

  def flat(*xs: Any) -> list[Any]:
    nonlocal out_tree
    a, k = tree.unflatten(xs)
    it = iter(a)
    full = [args[i] if i in static else next(it) for i in range(n)]
    outs, out_tree = tools.results_to_flat(fun(*full, **k), who, fun)
    return outs

  avals = abstract_leaves(leaves, fun, tree, who)
  jaxpr, consts = trace_to_jaxpr(flat, avals, tools.debug_info(who, fun, tree, static))
  return ClosedJaxpr(jaxpr, consts), out_tree


def make_jaxpr(
    fun: Callable[..., Any], static_argnums: int | Sequence[int] = (),
    axis_env: Sequence[tuple[Any, int]] | None = None, return_shape: bool = False,
) -> Callable[..., Any]:
  """A function that returns the jaxpr of `fun` for given arguments.

  Args:
    fun: the function.
    static_argnums: positional arguments that are part of the program.
    axis_env: names and sizes of mapped axes in force.
    return_shape: whether to return the shapes of the result, too.

  >>> import gnomon
  >>> from gnomon import lax
  >>> gnomon.make_jaxpr(lax.sin)(1.0)
  { lambda ; a:f32[]. let b:f32[] = sin a in (b,) }
  """
  tools.check_callable(fun, "make_jaxpr")
  static = tools.int_tuple(static_argnums, "static_argnums")

  @tools.wraps(fun)
  @tools.filtered
  def make(*args: Any, **kwargs: Any) -> Any:
    env = _axis_env.get()
    token = _axis_env.set((*env, *((n, s) for n, s in axis_env))) if axis_env else None
    try:
      jaxpr, out_tree = _trace(fun, args, kwargs, "make_jaxpr", static)
    finally:
      if token is not None:
        _axis_env.reset(token)
    return (jaxpr, _shapes(jaxpr, out_tree)) if return_shape else jaxpr

  return make


_axis_env = axis_env
