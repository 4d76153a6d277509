"""Key arrays: their dtype, the class of concrete ones, and implementations by name."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from gnomon.core import array_hook, dtypes
from gnomon.core.trace import Tracer
from gnomon.core.types import ShapedArray, WrappedArray, _of_aval, typeof, typeof_handlers
from gnomon.runtime import watch
from gnomon.runtime.backends import default_device
from gnomon.runtime.compile import to_device, wrap_results
from gnomon.runtime.jaxlib import arrays

Array = arrays.Array


class PRNGImpl(NamedTuple):
  """A generator of random bits; its functions work on arrays of words.

  `seed(x)` makes the words of a key from an integer, `split(words, shape)` those of new
  keys, `random_bits(words, width, shape)` random bits, and `fold_in(words, data)` the
  words of another key. Generators are equal if all their parts are.
  """

  key_shape: tuple[int, ...]
  seed: Callable[[Any], Any]
  split: Callable[[Any, tuple[int, ...]], Any]
  random_bits: Callable[[Any, int, tuple[int, ...]], Any]
  fold_in: Callable[[Any, Any], Any]
  name: str = "<unnamed>"
  tag: str = "?"

  def __repr__(self) -> str:
    return self.tag


implementations: dict[str, PRNGImpl] = {}
_LATER = {  # modules whose import registers generators that few programs need
    "philox2x32": "_ciphers", "philox4x32": "_ciphers", "threefry4x32": "_ciphers",
    "rbg": "_rbg", "unsafe_rbg": "_rbg"}


def register(implementation: PRNGImpl) -> None:
  """Makes a generator known by its name.

  Raises:
    ValueError: another one has the name.
  """
  name = implementation.name
  if implementations.setdefault(name, implementation) != implementation:
    raise ValueError(f"a PRNG implementation named {name!r} exists already")


def is_registered(implementation: PRNGImpl) -> bool:
  """Whether the name of a generator stands for it."""
  return implementations.get(implementation.name) == implementation


# Generators by position alone: mapped over keys, they make the bits that a loop makes.
BY_POSITION = frozenset({"threefry2x32", "threefry4x32", "philox2x32", "philox4x32"})


def find_implementation(spec: Any) -> PRNGImpl:
  """The generator for a name, a key's dtype, or a generator itself.

  Raises:
    TypeError: `spec` is none of these.
    ValueError: there is none of this name.
  """
  if isinstance(spec, PRNGImpl):
    return spec
  if isinstance(spec, KeyType):
    return spec.implementation
  if isinstance(spec, str):
    if spec not in implementations and spec in _LATER:
      importlib.import_module(f"gnomon.random.{_LATER[spec]}")
    if spec in implementations:
      return implementations[spec]
    raise ValueError(
        f"unrecognized PRNG implementation {spec!r}: there are "
        f"{', '.join({**implementations, **_LATER})}")
  raise TypeError(
      f"unrecognized type {type(spec)} of a PRNG implementation: it is given by its "
      "name, as a dtype of keys, or as a PRNGImpl")


class KeyType(dtypes.ExtendedDType):
  """The dtype of keys of an implementation, such as `key<fry>`."""

  __slots__ = ("_hash", "implementation")

  type = dtypes.prng_key
  physical_dtype = np.dtype(np.uint32)
  kind = "V"

  def __init__(self, implementation: PRNGImpl) -> None:
    self.implementation = implementation
    self._hash = hash(("key", implementation))

  @property
  def name(self) -> str:  # type: ignore[override]
    return f"key<{self.implementation.tag}>"

  @property
  def physical_shape(self) -> tuple[int, ...]:  # type: ignore[override]
    return self.implementation.key_shape

  def __eq__(self, other: object) -> bool:
    return type(other) is KeyType and other.implementation == self.implementation

  def __hash__(self) -> int:
    return self._hash


class PRNGKeyArray(WrappedArray, arrays.ArrayBase):  # type: ignore[misc]
  """An array of keys: `physical` holds their words, along trailing dimensions.

  Keys have no arithmetic; they are indexed, reshaped, stacked and mapped like any array.
  """

  __slots__ = ("aval", "physical", "use")

  def __init__(self, implementation: PRNGImpl, words: Any) -> None:
    shape, n = typeof(words).shape, len(implementation.key_shape)
    if shape[len(shape) - n:] != implementation.key_shape:
      raise TypeError(
          f"keys of {implementation.name} have {implementation.key_shape} words each, in "
          f"trailing dimensions; got an array of shape {shape}")
    self.aval = ShapedArray(shape[:len(shape) - n], KeyType(implementation))
    self.physical = words
    self.use: Any = None  # which of the keys were used, as the key-reuse checker knows

  def with_physical(self, array: Any) -> PRNGKeyArray:
    return PRNGKeyArray(self.aval.dtype.implementation, array)

  @property
  def _impl(self) -> PRNGImpl:
    return self.aval.dtype.implementation  # type: ignore[no-any-return]

  @property
  def _base_array(self) -> Any:
    return self.physical

  @property
  def _consumed(self) -> Any:
    """Whether the keys were used already, as far as `debug_key_reuse` was on."""
    return False if self.use is None else self.use.mask

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

  def __len__(self) -> int:
    if not self.aval.shape:
      raise TypeError("len() of a single key: it has no axes")
    return self.aval.shape[0]  # type: ignore[no-any-return]

  def addressable_data(self, index: int) -> PRNGKeyArray:
    """The keys in one shard of this process."""
    return self.with_physical(self.physical.addressable_data(index))

  def block_until_ready(self) -> PRNGKeyArray:
    self.physical.block_until_ready()
    return self

  def __array__(self, *_: Any, **__: Any) -> Any:
    raise TypeError(
        "JAX array with PRNGKey dtype cannot be converted to a NumPy array. "
        "gnomon.random.key_data(keys) gives the words that represent keys")

  def __hash__(self) -> int:
    raise TypeError("unhashable type: an array of keys")

  def __bool__(self) -> bool:
    raise TypeError("an array of keys has no truth value: keys are no numbers")

  def __reduce__(self) -> Any:
    if not is_registered(self._impl):
      raise TypeError(
          f"keys of the generator {self._impl.name!r} cannot be pickled: it is not "
          "registered under its name")
    return (_restore, (self._impl.name, np.asarray(self.physical)))

  def __copy__(self) -> PRNGKeyArray:
    return self.with_physical(self.physical.copy())

  def __deepcopy__(self, _: Any) -> PRNGKeyArray:
    return self.__copy__()

  def __repr__(self) -> str:
    return (
        f"Array({self.shape}, dtype={self.dtype.name}) overlaying:\n"
        f"{np.asarray(self.physical)}")

  def __str__(self) -> str:
    return repr(self)

  def __format__(self, spec: str) -> str:
    return format(repr(self), spec)


def _of_words(name: str) -> property:
  return property(lambda self: getattr(self.physical, name))


def _call_on_words(name: str) -> Callable[..., Any]:
  def method(self: PRNGKeyArray, *args: Any) -> Any:
    return getattr(self.physical, name)(*args)

  method.__name__ = name
  return method


# Where and how the keys are stored is where and how their words are.
for _name in (
    "_committed", "addressable_shards", "committed", "device", "global_shards",
    "is_fully_addressable", "is_fully_replicated", "sharding"):
  setattr(PRNGKeyArray, _name, _of_words(_name))
for _name in (
    "copy_to_host_async", "delete", "devices", "is_deleted", "on_device_size_in_bytes",
    "unsafe_buffer_pointer"):
  setattr(PRNGKeyArray, _name, _call_on_words(_name))


def _restore(name: str, words: Any) -> PRNGKeyArray:
  return PRNGKeyArray(find_implementation(name), to_device(words, default_device()))


typeof_handlers[PRNGKeyArray] = _of_aval
wrap_results(
    KeyType,
    lambda aval: lambda words: PRNGKeyArray(aval.dtype.implementation, words),
    PRNGKeyArray, lambda keys: keys._impl, PRNGKeyArray)
array_hook.adopt(PRNGKeyArray)


def _checker() -> Any:
  return importlib.import_module("gnomon.random._reuse")


watch.key_checker = _checker


def is_key(x: Any) -> bool:
  """Whether a value is an array of typed keys."""
  return isinstance(x, (PRNGKeyArray, Tracer)) and isinstance(typeof(x).dtype, KeyType)

