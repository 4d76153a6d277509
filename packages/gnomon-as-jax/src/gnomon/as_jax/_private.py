"""JAX's private names that libraries cannot be imported without: the package `jax._src`.

Each is here for a library that is named beside it, and stands for a public or an own name
of gnomon. Nothing else of JAX's private modules exists: an unknown name raises an error
that says so.
"""

from __future__ import annotations

import importlib
import types
from typing import Any

# By module below `jax._src`: a name, and where in gnomon it is.
NAMES: dict[str, dict[str, str]] = {
    "traceback_util": {
        # equinox: leaves its own frames out of tracebacks; jaxtyping does the same
        "register_exclusion": "gnomon.core.source:register_exclusion",
        # equinox.error_if: which frames the message of a failed check shows
        "include_frame": "gnomon.as_jax._compat:include_frame",
        # flax, haiku: marks a function of theirs as one that users call
        "api_boundary": "gnomon.as_jax._compat:api_boundary",
    },
    "dtypes": {
        # equinox.nn.Embedding: promotion that is refused
        "TypePromotionError": "gnomon.dtypes:TypePromotionError",
        # flax.linen.fp8_ops: a dtype of its own
        "DType": "numpy:dtype",
        "ExtendedDType": "gnomon.core.dtypes:ExtendedDType",
        "extended": "gnomon.dtypes:extended",
        "finfo": "gnomon.dtypes:finfo",
        "supports_inf": "gnomon.as_jax._compat:supports_inf",
    },
    # lineax: gives it a transposition rule
    "ad_util": {"stop_gradient_p": "gnomon.api.stopping:stop_gradient_p"},
    # blackjax.smc
    "flatten_util": {"ravel_pytree": "gnomon.flatten_util:ravel_pytree"},
    "core": {
        # numpyro: whether a transformation is under way, so that nothing is kept
        "trace_state_clean": "gnomon.core.names:trace_state_clean",
        # flax.linen.fp8_ops: the type of the arrays behind its dtype
        "ShapedArray": "gnomon.core.types:ShapedArray",
        "physical_aval": "gnomon.core.types:physical_aval",
    },
    # flax.linen.fp8_ops: how a program's results become arrays of its dtype
    "earray": {"EArray": "gnomon.as_jax._compat:EArray"},
    "interpreters.pxla": {
        "global_result_handlers": "gnomon.as_jax._compat:global_result_handlers"},
    # chex.fake: whether devices are in use, so that their number is fixed
    "xla_bridge": {"_backends": "gnomon.as_jax._compat:BACKENDS"},
    # chex.restrict_backends: where programs are compiled, to forbid it
    "compiler": {
        "backend_compile_and_load": "gnomon.runtime.jaxlib.programs:compile"},
    # flax.nnx: the types of its own `checkify`
    "checkify": {
        "Error": "gnomon.experimental.checkify:Error",
        "JaxException": "gnomon.experimental.checkify._errors:JaxException",
        "Out": "typing:Any",
        "user_checks": "gnomon.experimental.checkify:user_checks",
    },
    "tree_util": {
        # flax.nnx: which types are nodes of pytrees
        "_registry": "gnomon.as_jax._compat:NODES",
        # flax's tests of its dataclasses
        "prefix_errors": "gnomon.tree_util._prefix:prefix_errors",
    },
    # flax.nnx, for its references
    "state.types": {"AbstractRef": "gnomon.ref:AbstractRef"},
    # equinox: waits for effects when a jitted function ends
    "dispatch": {"wait_for_tokens": "gnomon.runtime.callbacks:effects_barrier"},
}


class Private(types.ModuleType):
  """A module below `jax._src`, with the names of the table."""

  def __getattr__(self, name: str) -> Any:
    below = self.__name__.removeprefix("jax._src.")
    place = NAMES.get(below, {}).get(name)
    if place is None:
      if f"{below}.{name}" in NAMES or any(
          key.startswith(f"{below}.{name}.") for key in NAMES):
        return importlib.import_module(f"{self.__name__}.{name}")
      raise AttributeError(unknown(f"{self.__name__}.{name}"), name=name, obj=self)
    where, _, attribute = place.partition(":")
    value = getattr(importlib.import_module(where), attribute)
    self.__dict__[name] = value
    return value

  def __setattr__(self, name: str, value: Any) -> None:
    """Who replaces a function replaces gnomon's."""
    super().__setattr__(name, value)
    place = NAMES.get(self.__name__.removeprefix("jax._src."), {}).get(name)
    if place is not None:
      where, _, attribute = place.partition(":")
      setattr(importlib.import_module(where), attribute, value)

  def __dir__(self) -> list[str]:
    return sorted(NAMES.get(self.__name__.removeprefix("jax._src."), ()))


def unknown(name: str) -> str:
  """What is said of a private name that gnomon does not have."""
  return (
      f"{name} is a private name of JAX, which gnomon does not have: it is not part of "
      "the interface that gnomon offers under the name jax. If a library needs it, open "
      "an issue of gnomon that names the library and this name")


def module(fullname: str) -> types.ModuleType:
  """The module `jax._src.X`.

  Raises:
    ModuleNotFoundError: no name of it is in the table.
  """
  below = fullname.removeprefix("jax._src.")
  if below not in NAMES and not any(key.startswith(below + ".") for key in NAMES):
    raise ModuleNotFoundError(unknown(fullname), name=fullname)
  found = Private(fullname, f"Names of {fullname} that libraries use.")
  if below not in NAMES or any(key.startswith(below + ".") for key in NAMES):
    found.__path__ = []
  return found


def __getattr__(name: str) -> Any:
  if name.startswith("__"):
    raise AttributeError(name)
  try:
    return importlib.import_module(f"jax._src.{name}")
  except ModuleNotFoundError as e:
    raise AttributeError(str(e)) from None


__path__: list[str] = []
