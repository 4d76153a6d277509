"""Key arrays: their dtype, the class of concrete ones, and implementations by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from gnomon.core import array_hook, dtypes
from gnomon.core.trace import Tracer
from gnomon.core.types import ShapedArray, WrappedArray, _of_aval, typeof, typeof_handlers
from gnomon.runtime.backends import default_device
from gnomon.runtime.compile import result_wrappers, to_device
from gnomon.runtime.jaxlib import arrays

Array = arrays.Array


class Implementation(NamedTuple):
  """A counter-based generator; its functions work on arrays of words, keys last.

  `seed(x)` makes the words of a key; `split(words, shape)` new keys; `fold_in(words,
  data)` another key; `bits(words, width, shape)` random bits.
  """

  name: str
  tag: str
  key_shape: tuple[int, ...]
  seed: Callable[[Any], Any]
  split: Callable[[Any, tuple[int, ...]], Any]
  fold_in: Callable[[Any, Any], Any]
  bits: Callable[[Any, int, tuple[int, ...]], Any]

  def __repr__(self) -> str:
    return self.tag

  def __hash__(self) -> int:
    return hash(self.name)

  def __eq__(self, other: object) -> bool:
    return isinstance(other, Implementation) and other.name == self.name


implementations: dict[str, Implementation] = {}


def register(implementation: Implementation) -> None:
  """Makes an implementation known by its name."""
  implementations[implementation.name] = implementation


def find_implementation(spec: Any) -> Implementation:
  """The implementation for a name, a key's dtype, or an implementation itself.

  Raises:
    ValueError: there is none of this name.
  """
  if isinstance(spec, Implementation):
    return spec
  if isinstance(spec, KeyType):
    return spec.implementation
  if isinstance(spec, str):
    if spec in implementations:
      return implementations[spec]
    raise ValueError(
        f"unknown PRNG implementation {spec!r}: there are {', '.join(implementations)}")
  raise TypeError(f"a PRNG implementation is given by its name, got {spec!r}")


class KeyType(dtypes.ExtendedDType):
  """The dtype of keys of an implementation, such as `key<fry>`."""

  __slots__ = ("implementation",)

  type = dtypes.prng_key
  physical_dtype = np.dtype(np.uint32)
  kind = "V"

  def __init__(self, implementation: Implementation) -> None:
    self.implementation = implementation

  @property
  def name(self) -> str:  # type: ignore[override]
    return f"key<{self.implementation.tag}>"

  @property
  def physical_shape(self) -> tuple[int, ...]:  # type: ignore[override]
    return self.implementation.key_shape

  def __eq__(self, other: object) -> bool:
    return (
        type(other) is KeyType
        and other.implementation.name == self.implementation.name)

  def __hash__(self) -> int:
    return hash(("key", self.implementation.name))


class PRNGKeyArray(WrappedArray):
  """An array of keys: `physical` holds their words, along trailing dimensions.

  Keys have no arithmetic; they are indexed, reshaped, stacked and mapped like any array.
  """

  __slots__ = ("aval", "physical")

  def __init__(self, implementation: Implementation, words: Any) -> None:
    shape, n = typeof(words).shape, len(implementation.key_shape)
    if shape[len(shape) - n:] != implementation.key_shape:
      raise TypeError(
          f"keys of {implementation.name} have {implementation.key_shape} words each, in "
          f"trailing dimensions; got an array of shape {shape}")
    self.aval = ShapedArray(shape[:len(shape) - n], KeyType(implementation))
    self.physical = words

  def with_physical(self, array: Any) -> PRNGKeyArray:
    return PRNGKeyArray(self.dtype.implementation, array)

  @property
  def _impl(self) -> Implementation:
    return self.aval.dtype.implementation  # type: ignore[no-any-return]

  @property
  def _base_array(self) -> Any:
    return self.physical

  @property
  def shape(self) -> tuple[int, ...]:
    return self.aval.shape  # type: ignore[no-any-return]

  @property
  def dtype(self) -> Any:
    return self.aval.dtype

  @property
  def ndim(self) -> int:
    return len(self.aval.shape)

  @property
  def size(self) -> int:
    return self.aval.size  # type: ignore[no-any-return]

  @property
  def itemsize(self) -> int:
    return self.aval.dtype.itemsize  # type: ignore[no-any-return]

  @property
  def nbytes(self) -> int:
    return self.itemsize * self.size

  weak_type = False

  @property
  def sharding(self) -> Any:
    return self.physical.sharding

  @property
  def committed(self) -> bool:
    return self.physical.committed  # type: ignore[no-any-return]

  @property
  def device(self) -> Any:
    return self.physical.device

  def devices(self) -> Any:
    return self.physical.devices()

  def block_until_ready(self) -> PRNGKeyArray:
    self.physical.block_until_ready()
    return self

  def is_deleted(self) -> bool:
    return self.physical.is_deleted()  # type: ignore[no-any-return]

  def delete(self) -> None:
    self.physical.delete()

  def copy_to_host_async(self) -> None:
    self.physical.copy_to_host_async()

  def _is_traced_array(self) -> bool:  # `isinstance(keys, gnomon.Array)`
    return True

  def __len__(self) -> int:
    if not self.shape:
      raise TypeError("len() of a single key: it has no axes")
    return self.shape[0]

  def __array__(self, *_: Any, **__: Any) -> Any:
    raise TypeError(
        "keys are no numbers, and have no NumPy form: gnomon.random.key_data(keys) gives "
        "the words that represent them")

  def __hash__(self) -> int:
    raise TypeError("unhashable type: an array of keys")

  def __bool__(self) -> bool:
    raise TypeError("keys have no truth value")

  def __reduce__(self) -> Any:
    return (_restore, (self._impl.name, np.asarray(self.physical)))

  def __repr__(self) -> str:
    return (
        f"Array({self.shape}, dtype={self.dtype.name}) overlaying:\n"
        f"{np.asarray(self.physical)}")


def _restore(name: str, words: Any) -> PRNGKeyArray:
  return PRNGKeyArray(implementations[name], to_device(words, default_device()))


typeof_handlers[PRNGKeyArray] = _of_aval
result_wrappers[KeyType] = lambda aval: (
    lambda words: PRNGKeyArray(aval.dtype.implementation, words))
array_hook.adopt(PRNGKeyArray)


def is_key(x: Any) -> bool:
  """Whether a value is an array of typed keys."""
  return isinstance(x, (PRNGKeyArray, Tracer)) and isinstance(typeof(x).dtype, KeyType)

