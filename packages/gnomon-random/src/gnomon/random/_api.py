"""Keys for users: making, splitting, folding, and their words."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import ml_dtypes
import numpy as np

from gnomon import config, lax
from gnomon.api.device import device_put
from gnomon.core import dtypes
from gnomon.core.structural import convert
from gnomon.core.trace import EVAL, get_current
from gnomon.core.types import typeof
from gnomon.random._keys import (
  KeyType,
  PRNGImpl,
  PRNGKeyArray,
  find_implementation,
  is_key,
  is_registered,
)
from gnomon.random._primitives import (
  random_bits,
  random_clone_p,
  random_fold_in_p,
  random_seed_p,
  random_unwrap_p,
  random_wrap_p,
  split_keys,
)
from gnomon.runtime.jaxlib import arrays

Array = arrays.Array
Shape = tuple[int, ...]


def _implementation(impl: Any, dtype: Any = None) -> PRNGImpl:
  if impl is not None and dtype is not None:
    raise ValueError("Cannot specify both `impl` and `dtype` of keys: give one of them")
  spec = dtype if dtype is not None else impl
  if spec is None:
    spec = config.read("jax_default_prng_impl")
  return find_implementation(spec)


def _seeded(name: str, seed: Any, impl: PRNGImpl) -> Any:
  if is_key(seed):
    raise TypeError(
        f"{name} accepts a scalar seed, but was given a PRNG key: for a new key from it, "
        "use split or fold_in")
  return random_seed(name, seed, impl)


def random_seed(name: str, seeds: Any, impl: PRNGImpl) -> Any:
  """A key from a scalar integer.

  Raises:
    OverflowError: a Python integer does not fit into 64 bits.
    TypeError: the seed is no integer, or no scalar.
  """
  if isinstance(seeds, int) and not isinstance(seeds, bool):
    if not -2 ** 63 <= seeds < 2 ** 63:
      raise OverflowError(
          f"the seed of a key must fit into 64 bits with sign, got {seeds}")
    # An int beyond the current dtype is wrapped into it, as its bits would be.
    wide = np.int64 if config.x64_enabled else np.int32
    low = seeds & (2 ** (8 * np.dtype(wide).itemsize) - 1)
    seeds = np.asarray(low, np.uint64).view(np.int64).astype(wide)[()]
  elif isinstance(seeds, bool):
    seeds = np.int32(seeds)
  aval = typeof(seeds)
  if aval.dtype.kind not in "iu":
    raise TypeError(f"PRNG key seed must be an integer; got {seeds!r}")
  if aval.shape:
    raise TypeError(
        f"{name} accepts a scalar seed, but was given an array of shape {aval.shape} != "
        "(). Use gnomon.vmap to make many keys")
  offset = config.read("jax_random_seed_offset")
  if offset:
    seeds = lax.add(seeds, np.asarray(offset).astype(aval.dtype)[()])
  return random_seed_p.apply(seeds, impl=impl)[0]


def key(seed: Any, *, impl: Any = None, dtype: Any = None) -> Any:
  """A key from an integer.

  Args:
    seed: a scalar integer.
    impl: the generator's name; None: the option `default_prng_impl`.
    dtype: alternatively, the dtype of the key.

  Returns:
    A scalar array of dtype `key<…>`: the argument of every function that draws.

  >>> from gnomon import random
  >>> random.key(0).dtype
  key<fry>

  Raises:
    TypeError: the seed is no scalar integer.
  """
  return _seeded("key", seed, _implementation(impl, dtype))


def PRNGKey(seed: Any, *, impl: Any = None) -> Any:
  """A key from an integer, as an array of words (the older form; prefer `key`).

  >>> from gnomon import random
  >>> random.PRNGKey(0).shape
  (2,)

  With the option `jax_enable_custom_prng` it returns what `key` does.
  """
  typed = _seeded("PRNGKey", seed, _implementation(impl))
  if config.read("jax_enable_custom_prng"):
    return typed
  return random_unwrap_p.apply(typed)[0]


def key_dtype(impl_spec: Any = None) -> Any:
  """The dtype of keys of a generator.

  >>> from gnomon import random
  >>> random.key_dtype()
  key<fry>
  """
  return KeyType(_implementation(impl_spec))


def wrap_key_data(key_bits_array: Any, *, impl: Any = None, dtype: Any = None) -> Any:
  """Keys from the words that represent them, in trailing dimensions.

  >>> from gnomon import random
  >>> random.wrap_key_data(random.PRNGKey(0)).shape
  ()
  """
  return _wrapped("wrap_key_data", key_bits_array, _implementation(impl, dtype))


def key_data(keys: Any) -> Any:
  """The words that represent keys, in trailing dimensions.

  >>> from gnomon import random
  >>> random.key_data(random.key(1)).shape
  (2,)
  """
  typed, _ = check_keys("key_data", keys)
  return random_unwrap_p.apply(typed)[0]


def key_impl(keys: Any) -> Any:
  """The generator of keys, in a form that `key(…, impl=…)` takes.

  It is the generator's name, if it is registered under one.

  >>> from gnomon import random
  >>> random.key_impl(random.key(0, impl="rbg"))
  'rbg'
  """
  typed, _ = check_keys("key_impl", keys)
  impl = typeof(typed).dtype.implementation
  return impl.name if is_registered(impl) else impl


def clone(key: Any) -> Any:
  """The same key, for intended reuse.

  >>> from gnomon import random
  >>> bool((random.key_data(random.clone(random.key(1))) == random.PRNGKey(1)).all())
  True
  """
  typed, wrapped = check_keys("clone", key)
  return unwrap(random_clone_p.apply(typed)[0], wrapped)


def check_keys(name: str, keys: Any) -> tuple[Any, bool]:
  """Typed keys for typed keys or words; and whether the result is to be words, too.

  Raises:
    TypeError: neither keys nor words of keys.
    ValueError: words, where the option `jax_legacy_prng_key` is "error".
  """
  if is_key(keys):
    return keys, False
  typed = _wrapped(name, keys, _implementation(None))
  legacy = config.read("jax_legacy_prng_key")
  if config.read("jax_enable_custom_prng"):
    warnings.warn(
        f"{name}: raw arrays as keys are deprecated; gnomon.random.key(…) makes keys",
        FutureWarning, stacklevel=4)
    return typed, False
  if legacy != "allow":
    message = (
        "Legacy uint32 key array passed as key to jax.random function. gnomon.random.key "
        "makes keys with a type of their own. If words are what is meant, set the option "
        'jax_legacy_prng_key to "allow"')
    if legacy == "error":
      raise ValueError(f"{name}: {message}")
    warnings.warn(f"{name}: {message}", UserWarning, stacklevel=4)
  return typed, True


def _wrapped(name: str, words: Any, impl: PRNGImpl) -> Any:
  """Typed keys of words.

  Raises:
    TypeError: they are no words of keys of this generator.
  """
  n = len(impl.key_shape)
  if isinstance(words, (list, tuple)) or not hasattr(words, "dtype"):
    raise TypeError(
        f"{name} needs a key (gnomon.random.key(0)), or an array of words; got {words!r} "
        f"of type {type(words)}")
  aval = typeof(words)
  if aval.dtype != np.uint32 or aval.shape[aval.ndim - n:] != impl.key_shape:
    raise TypeError(
        f"{name}: JAX encountered invalid PRNG key data, {aval}: keys of {impl.name} are "
        f"uint32 words of trailing shape {impl.key_shape}")
  if type(words) is Array and get_current() is EVAL:
    return PRNGKeyArray(impl, words)  # nothing to compute: they are only read
  return random_wrap_p.apply(words, impl=impl)[0]


def check_key(name: str, key: Any) -> tuple[Any, bool]:
  """Like `check_keys`, for one key.

  Raises:
    ValueError: there are several keys.
  """
  typed, wrapped = check_keys(name, key)
  shape = typeof(typed).shape
  if shape:
    raise ValueError(
        f"{name} accepts a single key, but was given a key array of shape {shape} != (). "
        "Use gnomon.vmap for batching.")
  return typed, wrapped


def unwrap(keys: Any, wrapped: bool) -> Any:
  """Keys in the form in which the argument came."""
  if not wrapped:
    return keys
  if type(keys) is PRNGKeyArray and get_current() is EVAL:
    return keys.physical
  return random_unwrap_p.apply(keys)[0]


def split(key: Any, num: int | Sequence[int] = 2) -> Any:
  """New keys from one, which must not be used again.

  Args:
    key: a key.
    num: how many, or the shape of an array of them.

  >>> from gnomon import random
  >>> random.split(random.key(0), 3).shape
  (3,)
  """
  typed, wrapped = check_key("split", key)
  return unwrap(split_keys(typed, _sizes("split", num)), wrapped)


def _sizes(name: str, num: Any) -> Shape:
  sizes = num if isinstance(num, Sequence) else (num,)
  if not all(hasattr(n, "__index__") for n in sizes):
    raise TypeError(f"{name} needs a number or a shape of integers, got {num!r}")
  out = tuple(n.__index__() for n in sizes)
  if any(n < 0 for n in out):
    raise ValueError(f"{name} needs numbers that are not negative, got {num!r}")
  return out


def fold_in(key: Any, data: Any) -> Any:
  """A new key from a key and an integer.

  >>> from gnomon import random
  >>> random.fold_in(random.key(0), 7).shape
  ()
  """
  typed, wrapped = check_key("fold_in", key)
  if isinstance(data, int):
    if not 0 <= data < 2 ** 32:
      raise OverflowError(f"fold_in takes integers of 32 bits without sign, got {data}")
    word = np.asarray(int(data), np.uint32)[()]
  else:
    aval = typeof(data)
    if aval.shape:
      raise TypeError(
          f"fold_in accepts a scalar, but was given an array of shape {aval.shape} != "
          "(). Use gnomon.vmap for batching.")
    word = convert(data, np.dtype(np.uint32))
  return unwrap(random_fold_in_p.apply(typed, word)[0], wrapped)


def shape_of(name: str, shape: Any) -> Shape:
  """A shape as a tuple of integers.

  Raises:
    TypeError, ValueError: it is none.
  """
  if hasattr(shape, "__index__"):
    shape = (shape,)
  try:
    out = tuple(n.__index__() for n in shape)
  except (TypeError, AttributeError):
    raise TypeError(
        f"{name}: Shapes must be 1D sequences of concrete values of integer type, got "
        f"{shape!r}") from None
  if any(n < 0 for n in out):
    raise ValueError(f"{name} needs a shape without negative sizes, got {out}")
  return out


def bits(
    key: Any, shape: Any = (), dtype: Any = None, *, out_sharding: Any = None) -> Any:
  """Uniformly distributed unsigned integers.

  Args:
    key: a key.
    shape: the result's shape.
    dtype: an unsigned integer dtype; None: uint32 (uint64 with 64-bit types on).
    out_sharding: how the result is laid out over devices; None: without a say.

  >>> from gnomon import random
  >>> random.bits(random.key(0), (2,)).dtype
  dtype('uint32')

  Raises:
    ValueError: `dtype` is no unsigned integer type.
  """
  typed, _ = check_key("bits", key)
  dtype = (
      dtypes.canonicalize_dtype(np.uint64) if dtype is None
      else user_dtype("bits", dtype))
  if not dtypes.issubdtype(dtype, np.unsignedinteger):
    raise ValueError(
        f"dtype argument to `bits` must be an unsigned int dtype, got {dtype}")
  out = random_bits(typed, 8 * dtype.itemsize, shape_of("bits", shape))
  return placed(out, out_sharding)


def placed(x: Any, out_sharding: Any) -> Any:
  """Samples, laid out over devices as the user wants."""
  return x if out_sharding is None else device_put(x, out_sharding)


def user_dtype(name: str, dtype: Any) -> np.dtype[Any]:
  """The canonical form of a dtype that a user gave; warns if that is a narrower one."""
  return dtypes.check_user_dtype_supported(dtype, name)  # type: ignore[no-any-return]


def float_dtype(name: str, dtype: Any, *, complex_too: bool = False) -> np.dtype[Any]:
  """The canonical dtype of samples.

  Raises:
    ValueError: it is no floating-point type.
  """
  dtype = user_dtype(name, float if dtype is None else dtype)
  kinds = (np.floating, np.complexfloating) if complex_too else (np.floating,)
  if not any(dtypes.issubdtype(dtype, k) for k in kinds):
    kind = "float or complex" if complex_too else "float"
    raise ValueError(f"dtype argument to `{name}` must be a {kind} dtype, got {dtype}")
  return dtype  # type: ignore[no-any-return]


def float_info(dtype: Any) -> Any:
  """The properties of a floating-point dtype, short ones among them."""
  return ml_dtypes.finfo(dtype)  # type: ignore[no-untyped-call]
