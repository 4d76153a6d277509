"""Functions in layers, which change arguments on the way in, results on the way out.

What a layer learns while the function runs, it leaves in a store that its maker reads.
"""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable
from typing import Any

from gnomon.api.jit import trace_context
from gnomon.core.jaxpr import DebugInfo

__all__ = [
    "StoreException", "WrappedFun", "cache", "merge_linear_aux", "transformation",
    "transformation2", "transformation_with_aux", "transformation_with_aux2",
    "wrap_init"]


class StoreException(Exception):
  """A store was read before it was filled, or filled twice."""


class Store:
  """Holds what a layer learnt, once."""

  __slots__ = ("_full", "_value")

  def __init__(self) -> None:
    self._value: Any = None
    self._full = False

  def store(self, val: Any) -> None:
    """Fills the store; a second time is a `StoreException`."""
    if self._full:
      raise StoreException("Store occupied: the wrapped function has run already")
    self._value, self._full = val, True

  def reset(self) -> None:
    """Empties the store."""
    self._value, self._full = None, False

  @property
  def val(self) -> Any:
    """What is in the store; a `StoreException` if nothing is."""
    if not self._full:
      raise StoreException("Store empty: the wrapped function has not run yet")
    return self._value

  def __bool__(self) -> bool:
    return self._full


class EqualStore(Store):
  """A store that may be filled again with an equal value."""

  __slots__ = ()

  def store(self, val: Any) -> None:
    if self._full and self._value != val:
      raise StoreException(
          f"Store occupied with another value: {self._value} was stored, now {val}")
    self._value, self._full = val, True


Layer = tuple[Callable[..., Any], tuple[Any, ...]]


class WrappedFun:
  """A function with layers around it, the outermost first.

  Attributes:
    f: the function itself.
    f_transformed: the function with its layers.
    transforms: the layers, each a function and its static arguments.
    stores: what each layer fills, or None.
    params: keyword arguments passed to `f` at each call.
    debug_info: what messages say of the function.
  """

  __slots__ = (
      "__weakref__", "debug_info", "f", "f_transformed", "in_type", "params", "stores",
      "transforms")

  def __init__(
      self, f: Callable[..., Any], f_transformed: Callable[..., Any],
      transforms: tuple[Layer, ...], stores: tuple[Store | None, ...],
      params: tuple[tuple[str, Any], ...], in_type: Any, debug_info: Any) -> None:
    self.f, self.f_transformed, self.transforms = f, f_transformed, transforms
    self.stores, self.params, self.in_type = stores, params, in_type
    self.debug_info = debug_info

  @property
  def __name__(self) -> str:
    return getattr(self.f, "__name__", "<unnamed function>")

  def wrap(
      self, gen: Callable[..., Any], gen_static_args: tuple[Any, ...],
      out_store: Store | None) -> WrappedFun:
    """The function with one more layer: `gen(f, [store,] *static, *args)`."""
    given = (self.f_transformed,) if out_store is None else (
        self.f_transformed, out_store)
    return WrappedFun(
        self.f, functools.partial(gen, *given, *gen_static_args),
        ((gen, gen_static_args), *self.transforms), (out_store, *self.stores),
        self.params, None, self.debug_info)

  def call_wrapped(self, *args: Any, **kwargs: Any) -> Any:
    """Calls the function through its layers."""
    return self.f_transformed(*args, **kwargs)

  def populate_stores(self, stores: tuple[Store | None, ...]) -> None:
    """Fills the stores with what those of an equal function hold."""
    for own, other in zip(self.stores, stores, strict=True):
      if own is not None and other:
        own.store(other.val)

  def replace_debug_info(self, debug_info: Any) -> WrappedFun:
    """The same function with other words for messages."""
    return WrappedFun(
        self.f, self.f_transformed, self.transforms, self.stores, self.params,
        self.in_type, debug_info)

  def with_unknown_names(self) -> WrappedFun:
    """The same function, whose arguments have no names in messages."""
    info = self.debug_info
    return self if info is None else self.replace_debug_info(info.with_unknown_names())

  def _key(self) -> Any:
    return self.f, self.transforms, self.params, self.in_type

  def __hash__(self) -> int:
    return hash(self._key())

  def __eq__(self, other: object) -> bool:
    return isinstance(other, WrappedFun) and self._key() == other._key()

  def __repr__(self) -> str:
    lines = [
        f"{i}   : {getattr(gen, '__name__', gen)}   "
        f"{', '.join(map(_name, static))}"
        for i, (gen, static) in enumerate(self.transforms)]
    return "\n".join(["Wrapped function:", *lines, f"Core: {_name(self.f)}", ""])


def _name(x: Any) -> str:
  return getattr(x, "__name__", "<unnamed function>") if callable(x) else str(x)


def wrap_init(
    f: Callable[..., Any], params: dict[str, Any] | None = None, *,
    debug_info: DebugInfo | None = None) -> WrappedFun:
  """A function without layers yet.

  >>> from gnomon.extend import linear_util
  >>> linear_util.wrap_init(lambda x: x + 1).call_wrapped(1)
  2
  """
  params = params or {}
  return WrappedFun(
      f, functools.partial(f, **params) if params else f, (), (),
      tuple(sorted(params.items())), None, debug_info)


# ---- makers of layers: each takes the layer and gives a function of a `WrappedFun`


def _curried(make: Callable[..., Any]) -> Callable[..., Any]:
  @functools.wraps(make)
  def partly(gen: Callable[..., Any], *rest: Any, **options: Any) -> Any:
    if rest:
      return make(gen, *rest, **options)
    made = functools.wraps(gen)(functools.partial(make, gen, **options))
    del made.__wrapped__  # the signature is that of a maker of functions, not `gen`'s
    return made

  return partly


@_curried
def transformation2(
    gen: Callable[..., Any], fun: WrappedFun, *gen_static_args: Any) -> WrappedFun:
  """A layer `gen(f, *gen_static_args, *args)` that calls the layers below as `f`.

  >>> from gnomon.extend import linear_util as lu
  >>> @lu.transformation2
  ... def twice(f, *args):
  ...   return f(*args), f(*args)
  >>> twice(lu.wrap_init(lambda x: x + 1)).call_wrapped(1)
  (2, 2)
  """
  return fun.wrap(gen, gen_static_args, None)


@_curried
def transformation_with_aux2(
    gen: Callable[..., Any], fun: WrappedFun, *gen_static_args: Any,
    use_eq_store: bool = False, unk_names: bool = False,
) -> tuple[WrappedFun, Callable[[], Any]]:
  """A layer `gen(f, store, *gen_static_args, *args)`, and what reads its store.

  Args:
    gen: the layer; it calls `store.store(value)`.
    fun: the function to wrap.
    *gen_static_args: arguments of the layer itself.
    use_eq_store: whether the function may run again, if that stores an equal value.
    unk_names: whether the names of arguments are unknown in the layers above.
  """
  store = EqualStore() if use_eq_store else Store()
  wrapped = fun.wrap(gen, gen_static_args, store)
  return (wrapped.with_unknown_names() if unk_names else wrapped), lambda: store.val


class _Generator:
  """A layer written as a generator: yields `(args, kwargs)`, is sent results."""

  __slots__ = ("gen",)

  def __init__(self, gen: Callable[..., Any]) -> None:
    self.gen = gen

  @property
  def __name__(self) -> str:
    return _name(self.gen)

  def __call__(self, f: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    layer = self.gen(*args, **kwargs)
    inner_args, inner_kwargs = next(layer)
    return layer.send(f(*inner_args, **inner_kwargs))

  def __eq__(self, other: object) -> bool:
    return type(other) is type(self) and self.gen == other.gen

  def __hash__(self) -> int:
    return hash((type(self), self.gen))


class _GeneratorWithAux(_Generator):
  __slots__ = ()

  def __call__(self, f: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    store, *rest = args
    out, aux = super().__call__(f, *rest, **kwargs)
    store.store(aux)
    return out


@_curried
def transformation(
    gen: Callable[..., Any], fun: WrappedFun, *gen_static_args: Any) -> WrappedFun:
  """A layer `gen(*gen_static_args, *args)`, a generator.

  It yields `(args, kwargs)` for the layers below, is sent what they return, and yields
  its own result.
  """
  return fun.wrap(_Generator(gen), gen_static_args, None)


@_curried
def transformation_with_aux(
    gen: Callable[..., Any], fun: WrappedFun, *gen_static_args: Any,
) -> tuple[WrappedFun, Callable[[], Any]]:
  """Like `transformation`, for layers that yield a result and something besides."""
  store = Store()
  return fun.wrap(_GeneratorWithAux(gen), gen_static_args, store), lambda: store.val


def merge_linear_aux(
    aux1: Callable[[], Any], aux2: Callable[[], Any]) -> tuple[bool, Any]:
  """What the one of two functions stored that has run, and whether it is the first.

  Raises:
    StoreException: neither has run, or both have.
  """
  found = []
  for first, aux in ((True, aux1), (False, aux2)):
    try:
      found.append((first, aux()))
    except StoreException:
      continue
  if len(found) != 1:
    raise StoreException(
        "neither store is filled: no function has run" if not found
        else "both stores are filled: only one of the functions may run")
  return found[0]


def cache(
    call: Callable[..., Any], *, explain: Callable[..., Any] | None = None,
) -> Callable[..., Any]:
  """Remembers `call(fun, *args)` by `fun`, its layers, `args`, and the tracing context.

  What is remembered goes with the function that `fun` wraps. A repeated call fills the
  stores of `fun` again.

  Args:
    call: takes a `WrappedFun` and hashable arguments.
    explain: called as `explain(fun, seen, *args)` when a result is not remembered;
      `seen` says whether others of the same function are.
  """
  found: weakref.WeakKeyDictionary[Any, dict[Any, Any]] = weakref.WeakKeyDictionary()

  @functools.wraps(call)
  def remembered(fun: WrappedFun, *args: Any) -> Any:
    own = found.setdefault(fun.f, {})
    key = (fun.transforms, fun.params, fun.in_type, args, trace_context())
    if key in own:
      result, stores = own[key]
      fun.populate_stores(stores)
      return result
    if explain is not None:
      explain(fun, bool(own), *args)
    result = call(fun, *args)
    own[key] = result, fun.stores
    return result

  def evict_function(f: Any) -> None:
    found.pop(f, None)

  remembered.cache_clear = found.clear  # type: ignore[attr-defined]
  remembered.evict_function = evict_function  # type: ignore[attr-defined]
  return remembered
