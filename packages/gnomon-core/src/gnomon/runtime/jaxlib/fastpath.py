"""The C++ call path: a function that runs a cached executable without Python."""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Sequence
from typing import Any, NamedTuple

from jaxlib.weakref_lru_cache import weakref_lru_cache as weakref_lru_cache

from gnomon.runtime.jaxlib import cells as cells  # the call path reads the cells
from gnomon.runtime.jaxlib.native import _jax

FunctionCache: Any = _jax.PjitFunctionCache
"""Holds the compiled entries of many functions, up to a capacity."""

JitFunction: Any = _jax.PjitFunction
ArgumentSignature: Any = _jax.jax_jit.ArgumentSignature
parse_arguments: Any = _jax.jax_jit.parse_arguments
"""A hashable signature and the flat dynamic arguments of a call.

Its arguments: positional ones, values and names of the keyword ones, `static_argnums`,
`static_argnames`, registry.
"""


class FastpathData(NamedTuple):
  """What the call path needs in order to do a call again without Python.

  `kept_var_bitvec` has a flag for each flat argument, `const_args` first; the `in_*`
  fields describe the kept ones only.
  """

  xla_executable: Any
  out_pytree_def: Any
  in_shardings: Sequence[Any]
  out_shardings: Sequence[Any]
  out_avals: Sequence[Any]
  out_committed: Sequence[bool]
  kept_var_bitvec: Sequence[bool]
  in_device_local_layouts: Sequence[Any]
  const_args: Sequence[Any] = ()


Miss = Callable[..., tuple[Any, ...]]


def jit_function(
    name: str, fun: Callable[..., Any] | None, cache_miss: Miss,
    static_argnums: Sequence[int], static_argnames: Sequence[str], cache_key: Hashable,
    registry: Any, shard_arg_fallback: Callable[[Any, Any, Any], Any],
    cache: Any = None,
) -> Any:
  """A callable that runs in C++ after its first call with a signature.

  Args:
    name: what `repr` and profiles show.
    fun: the user's function: its identity is held weakly and is part of the key.
    cache_miss: called as the function itself; returns `(result, FastpathData | None)`,
      and a true third value to have the entry forgotten. With `None` the signature goes
      to Python from then on. After an exception the next call asks `cache_miss` again.
    static_argnums: positions of arguments that are part of the key by value.
    static_argnames: their names.
    cache_key: hashable; what else the cache must keep apart.
    registry: the pytree registry that flattens the arguments.
    shard_arg_fallback: `(value, sharding, layout) -> Array`, for arguments that C++ can
      not place by itself.
    cache: a `FunctionCache` to share; by default one of its own.
  """
  if cache_key is None:
    raise ValueError("cache_key must be a hashable value other than None")
  function: Any = None

  # C++ would send a signature to Python for ever once its miss has raised.
  @functools.wraps(cache_miss)
  def miss(*args: Any, **kwargs: Any) -> tuple[Any, ...]:
    try:
      return cache_miss(*args, **kwargs)
    except BaseException:
      function._clear_cache()
      raise

  function = _jax.pjit(
      name, fun, miss, list(static_argnums), list(static_argnames), cache_key, registry,
      shard_arg_fallback, FunctionCache() if cache is None else cache)
  return function
