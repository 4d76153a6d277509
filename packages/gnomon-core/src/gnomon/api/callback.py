"""`pure_callback` and `io_callback`: Python functions that running programs call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gnomon import _config
from gnomon.api import tools
from gnomon.core import dtypes, refs
from gnomon.core.derive import expand, move
from gnomon.core.effects import (
  Effects,
  io_effect,
  ordered_effects,
  ordered_io_effect,
)
from gnomon.core.lax_hook import lax
from gnomon.core.primitive import Primitive
from gnomon.core.rule import (
  batch_rule,
  effects_rule,
  impl_rule,
  jvp_rule,
  lower,
  transpose_rule,
  typing_rule,
)
from gnomon.core.types import ShapedArray, WrappedArray, physical_aval, typeof
from gnomon.lowering.callbacks import emit_callback
from gnomon.runtime import backends
from gnomon.runtime.compile import result_wrappers
from gnomon.runtime.jaxlib import arrays

Avals = Sequence[Any]
Values = Sequence[Any]
_METHODS = (
    "sequential", "sequential_unrolled", "expand_dims", "broadcast_all",
    "legacy_vectorized")


class FlatCallback:
  """A user's function, called with flat arguments and giving flat results.

  Equal to another of the same function and structure of arguments.
  """

  __slots__ = ("callback_func", "in_tree")

  def __init__(self, callback_func: Callable[..., Any], in_tree: Any) -> None:
    self.callback_func, self.in_tree = callback_func, in_tree

  def __call__(self, *leaves: Any) -> list[Any]:
    args, kwargs = self.in_tree.unflatten(leaves)
    return tools.flatten(self.callback_func(*args, **kwargs))[0]  # type: ignore[no-any-return]

  def __eq__(self, other: object) -> bool:
    return (
        type(other) is FlatCallback and other.callback_func == self.callback_func
        and other.in_tree == self.in_tree)

  def __hash__(self) -> int:
    return hash((self.callback_func, self.in_tree))

  def __repr__(self) -> str:
    return (
        f"_FlatCallback(callback_func={self.callback_func}, in_tree={self.in_tree})")


def pure_callback(
    callback: Callable[..., Any], result_shape_dtypes: Any, *args: Any,
    sharding: Any = None, vmap_method: str | None = None, **kwargs: Any) -> Any:
  """Calls a Python function without side effects, in compiled programs too.

  The program calls back when it runs. It may call the function never, if its results are
  not used, or several times; so it should depend on its arguments alone. It has no
  derivative: give one with `custom_jvp` or `custom_vjp`.

  Args:
    callback: the function. It gets arrays, and returns NumPy arrays or arrays (or
      pytrees of them) of exactly the shapes and dtypes that are declared.
    result_shape_dtypes: a pytree of `ShapeDtypeStruct`, or of anything with a shape and a
      dtype: what the function returns. None for nothing.
    *args: positional arguments, pytrees of arrays.
    sharding: where the function is called, in programs over several devices; must be None
      or on one device.
    vmap_method: what `vmap` does. `"sequential"`: a loop that calls the function for
      each element; `"sequential_unrolled"`: the calls without a loop. `"expand_dims"`:
      one call, with the mapped axis leading, and of size 1 where an argument is not
      mapped; `"broadcast_all"`: one call, where arguments that are not mapped are
      repeated; the function must return results with the leading axis. (The old
      `"legacy_vectorized"` passes what is not mapped as it is.) None: an error.
    **kwargs: keyword arguments, pytrees of arrays.

  Returns:
    The results as arrays, in the structure of `result_shape_dtypes`.

  >>> import numpy as np
  >>> import gnomon
  >>> double = gnomon.jit(
  ...     lambda x: gnomon.pure_callback(lambda a: np.asarray(a) * 2, x, x))
  >>> float(double(21.0))
  42.0

  Raises:
    ValueError: `vmap_method` is none of these; a result has 64 bits, and `enable_x64` is
      off.
    RuntimeError: when the program runs: the function returned something else than
      declared. What the function raises is raised by the program's caller; it is a
      `RuntimeError` too.
  """
  if vmap_method is not None and vmap_method not in _METHODS:
    raise ValueError(
        f"pure_callback: vmap_method must be one of the allowed methods "
        f"{[*_METHODS, None]}, but got: {vmap_method}")
  flat, leaves, avals, tree = _prepare(
      "pure_callback", callback, result_shape_dtypes, args, kwargs)
  outs = pure_callback_p.apply(
      *leaves, callback=flat, result_avals=avals, sharding=sharding,
      vmap_method=vmap_method)
  return tree.unflatten(outs)


def io_callback(
    callback: Callable[..., Any], result_shape_dtypes: Any, *args: Any,
    sharding: Any = None, ordered: bool = False, **kwargs: Any) -> Any:
  """Calls a Python function with side effects, in compiled programs too.

  The function is called exactly as often as the program says, whether its results are
  used or not. It cannot be differentiated.

  Args:
    callback: the function; see `pure_callback`.
    result_shape_dtypes: the shapes and dtypes that it returns; None for nothing.
    *args: positional arguments, pytrees of arrays.
    sharding: where the function is called, in programs over several devices; must be None
      or on one device.
    ordered: whether calls must happen in the order of the program. Such calls cannot be
      mapped by `vmap`; others are called for each element.
    **kwargs: keyword arguments, pytrees of arrays.

  Returns:
    The results as arrays, in the structure of `result_shape_dtypes`.

  >>> import gnomon
  >>> from gnomon.experimental import io_callback
  >>> seen = []
  >>> f = gnomon.jit(lambda x: io_callback(lambda a: seen.append(int(a)), None, x))
  >>> f(3)
  >>> seen
  [3]

  Raises:
    ValueError: a result has 64 bits, and `enable_x64` is off; an ordered callback is
      mapped; it is differentiated.
    RuntimeError: as for `pure_callback`.
  """
  flat, leaves, avals, tree = _prepare(
      "io_callback", callback, result_shape_dtypes, args, kwargs)
  outs = io_callback_p.apply(
      *leaves, callback=flat, result_avals=avals, sharding=sharding,
      ordered=bool(ordered))
  return tree.unflatten(outs)


def _prepare(
    who: str, callback: Any, results: Any, args: Any, kwargs: Any,
) -> tuple[FlatCallback, list[Any], tuple[Any, ...], Any]:
  """The flat function, flat arguments, types of results and their structure."""
  if not callable(callback):
    raise TypeError(
        f"{who}: the argument callback should be callable, got {callback!r} of type "
        f"{type(callback).__name__}")
  declared, tree = tools.flatten(results)
  avals = tuple([_declared(who, x) for x in declared])
  leaves, in_tree = tools.flatten((args, kwargs))
  tools.check_leaves(leaves, who, tools.leaf_names(callback, in_tree))
  return FlatCallback(callback, in_tree), refs.read_all(leaves), avals, tree


def _declared(who: str, x: Any) -> ShapedArray:
  """The type that a result is declared to have."""
  if not (hasattr(x, "shape") and hasattr(x, "dtype")):
    try:
      return typeof(x)  # type: ignore[no-any-return]
    except TypeError:
      raise TypeError(
          f"{who}: result_shape_dtypes must hold gnomon.ShapeDtypeStruct objects or "
          f"arrays, got {x!r} of type {type(x)}") from None
  if isinstance(x.dtype, dtypes.ExtendedDType):
    return ShapedArray(x.shape, x.dtype)
  dtype = np.dtype(x.dtype)
  if dtype != dtypes.canonicalize_dtype(dtype):
    raise ValueError(
        f"{who}: result_shape_dtypes cannot specify 64-bit types when `jax_enable_x64` "
        f"is disabled, got {dtype}: return {dtypes.canonicalize_dtype(dtype)}, or turn "
        "the option on")
  return ShapedArray(x.shape, dtype)


# ---- values on their way to Python and back


def as_array(x: Any, aval: Any) -> Any:
  """An array for a value from a compiled program, whose memory is lent for the call."""
  device = backends.client().local_devices()[0]
  array = arrays.put(
      physical_aval(aval), backends.sharding_of(device), [x], [device], committed=False,
      copy=True)
  wrapper = result_wrappers.get(type(aval.dtype))
  return array if wrapper is None else wrapper(aval)(array)


def as_host(who: str, x: Any, aval: Any, i: int) -> Any:
  """The values of result number `i` as NumPy has them.

  Raises:
    RuntimeError: it has not the type that was declared: compiled programs would read its
      memory as if it had.
  """
  if isinstance(x, WrappedArray):
    found = x.aval
    value = arrays.host_view(x.physical)
  else:
    value = np.asarray(x, order="C")
    found = ShapedArray(value.shape, dtypes.canonicalize_dtype(value.dtype))
    value = value.astype(found.dtype, copy=False)
  if found.shape != aval.shape:
    raise RuntimeError(
        f"Incorrect output shape for return value #{i} of {who}: expected {aval.shape}, "
        f"got {found.shape}. The function must return what result_shape_dtypes declares")
  if found.dtype != aval.dtype:
    raise RuntimeError(
        f"Incorrect output dtype for return value #{i} of {who}: expected {aval.dtype}, "
        f"got {found.dtype}. The function must return what result_shape_dtypes declares")
  return value


def _checked(callback: FlatCallback, avals: Avals, args: Values) -> list[Any]:
  """Calls a function; its results as NumPy arrays of the declared types."""
  outs = callback(*args)
  who = f"the callback {tools.describe_function(callback.callback_func)}"
  if len(outs) != len(avals):
    raise RuntimeError(
        f"{who} returned {len(outs)} values, but {len(avals)} are declared by "
        "result_shape_dtypes")
  return [as_host(who, x, a, i) for i, (x, a) in enumerate(zip(outs, avals))]


def host_function(
    function: Callable[..., Values], in_avals: Avals) -> Callable[[int], Any]:
  """For `emit_callback`: what the runtime calls, given a number of tokens.

  `function` gets arrays of the types `in_avals`, and gives NumPy arrays that must be of
  the right types: the runtime checks nothing.
  """
  x64 = _config.x64()

  def with_tokens(tokens: int) -> Any:
    given = (None,) * tokens

    def call(*operands: Any) -> tuple[Any, ...]:
      if _config.x64() is not x64:  # another thread than that of the caller
        with _config.enable_x64(x64):
          return call(*operands)
      return (*given, *function(*map(as_array, operands[tokens:], in_avals)))

    return call

  return with_tokens


# ---- the primitives

pure_callback_p = Primitive("pure_callback", call=True)
io_callback_p = Primitive("io_callback", call=True)


def _effects(*_: Any, ordered: bool, **__: Any) -> Effects:
  return frozenset({ordered_io_effect if ordered else io_effect})


effects_rule.define(io_callback_p)(_effects)


def _define(p: Primitive, kind: str, jvp_help: str, transpose_help: str) -> None:
  """The rules that both have alike."""
  typing_rule.define(p)(lambda *_, result_avals, **__: result_avals)

  @impl_rule.define(p)
  def _(*args: Any, callback: FlatCallback, result_avals: Avals, **_: Any) -> Any:
    outs = _checked(callback, result_avals, args)
    return tuple([as_array(x, a) for x, a in zip(outs, result_avals)])

  @lower.define(p)
  def _(ctx: Any, *values: Any, callback: FlatCallback, result_avals: Avals,
        **_: Any) -> Values:
    effects = ordered_effects(ctx.eqn.effects)
    return emit_callback(
        ctx, values, host_function(
            lambda *args: _checked(callback, result_avals, args), ctx.avals_in),
        effectful=bool(ctx.eqn.effects), ordered=effects[0] if effects else None)

  @jvp_rule.define(p)
  def _(primals: Values, tangents: Values, **_: Any) -> Any:
    raise ValueError(f"{kind} callbacks do not support JVP. {jvp_help}")

  @transpose_rule.define(p)
  def _(cts: Values, args: Values, **_: Any) -> Any:
    raise ValueError(f"{kind} callbacks do not support transpose. {transpose_help}")


_define(
    pure_callback_p, "Pure",
    "Please use `custom_jvp` to use callbacks while taking gradients.",
    "Please use `custom_vjp` to use callbacks while taking gradients.")
_define(
    io_callback_p, "IO",
    "Put the callback into a function with `custom_jvp`, or apply stop_gradient to its "
    "arguments.",
    "Put the callback into a function with `custom_vjp`.")


def _leading(x: Any, dim: int | None) -> Any:
  return x if dim is None else move(x, dim, 0)


def _one_by_one(
    p: Primitive, axis: Any, args: Values, dims: Sequence[int | None], unroll: int,
    params: dict[str, Any]) -> Any:
  """A loop over the mapped axis; what is not mapped is a constant of it."""
  mapped = [_leading(x, d) for x, d in zip(args, dims) if d is not None]

  def step(carry: Any, rows: list[Any]) -> Any:
    it = iter(rows)
    operands = [x if d is None else next(it) for x, d in zip(args, dims)]
    return carry, p.apply(*operands, **params)

  _, outs = lax().scan(step, (), mapped, axis.size, unroll=unroll)
  return outs, (0,) * len(outs)


@batch_rule.define(pure_callback_p)
def _(axis: Any, args: Values, dims: Sequence[int | None], *, result_avals: Avals,
      vmap_method: str | None, **params: Any) -> Any:
  if vmap_method is None:
    raise NotImplementedError(
        "vmap is only supported for the pure_callback primitive when vmap_method is one "
        f"of {', '.join(map(repr, _METHODS[:-1]))}, or {_METHODS[-1]!r}. Got "
        "vmap_method=None.")
  if vmap_method.startswith("sequential"):
    unroll = axis.size if vmap_method == "sequential_unrolled" else 1
    return _one_by_one(
        pure_callback_p, axis, args, dims, unroll,
        {**params, "result_avals": result_avals, "vmap_method": vmap_method})
  if vmap_method == "legacy_vectorized":
    operands = [_leading(x, d) for x, d in zip(args, dims)]
  else:
    size = axis.size if vmap_method == "broadcast_all" else 1
    operands = [
        expand(x, size) if d is None else move(x, d, 0) for x, d in zip(args, dims)]
  outs = pure_callback_p.apply(
      *operands, vmap_method=vmap_method, result_avals=tuple([
          a.update(shape=(axis.size, *a.shape)) for a in result_avals]), **params)
  return outs, (0,) * len(outs)


@batch_rule.define(io_callback_p)
def _(axis: Any, args: Values, dims: Sequence[int | None], **params: Any) -> Any:
  if params["ordered"]:
    raise ValueError(
        "Cannot `vmap` ordered IO callback. The order of the elements' calls would be "
        "that of a loop: write the loop with lax.scan or lax.map, or use ordered=False")
  return _one_by_one(io_callback_p, axis, args, dims, 1, params)
