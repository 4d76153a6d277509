"""Random numbers from a generator with state, as NumPy's: a key and a counter."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

import gnomon.numpy as gnp
from gnomon import random
from gnomon.core import dtypes
from gnomon.core.trace import EVAL, get_current
from gnomon.core.types import typeof
from gnomon.ref import Ref, addupdate, new_ref
from gnomon.tree_util import GetAttrKey, register_pytree_with_keys

__all__ = ["StatefulPRNG", "stateful_rng"]

Shape = tuple[int, ...]


@dataclasses.dataclass(frozen=True, slots=True)
class StatefulPRNG:
  """A generator of random numbers that remembers how often it drew.

  It is made by `stateful_rng`. Its state is a mutable reference, so that it may be an
  argument of transformed functions, or be closed over, but not be returned. Each draw
  takes the key that the number of draws before it is folded into.

  >>> from gnomon.experimental.random import stateful_rng
  >>> rng = stateful_rng(0)
  >>> float(rng.uniform()) != float(rng.uniform())
  True

  Raises:
    ValueError: the parts are no typed key and no reference to an integer.
  """

  _base_key: Any
  _counter: Any

  def __post_init__(self) -> None:
    dtype = getattr(self._base_key, "dtype", None)
    if dtype is None or not dtypes.issubdtype(dtype, dtypes.prng_key):
      raise ValueError(
          f"Expected base_key to be a typed PRNG key (gnomon.random.key); got "
          f"{self._base_key}")
    if not isinstance(self._counter, Ref) or not dtypes.issubdtype(
        self._counter.dtype, np.integer):
      raise ValueError(
          "Expected counter to be a scalar integer ref (gnomon.new_ref(0)); got "
          f"{self._counter}")

  def key(self, shape: int | Sequence[int] = ()) -> Any:
    """A new key, or an array of new keys.

    Args:
      shape: the shape of the result.

    Raises:
      ValueError: the generator was made by `split`, and this is not `gnomon.vmap`.
    """
    if typeof(self._base_key).shape:
      raise ValueError(
          "cannot operate on split stateful generator: it is several, one for each of "
          "what gnomon.vmap maps over")
    key = random.fold_in(self._base_key, self._counter[...])
    addupdate(self._counter, ..., 1)
    return random.split(key, shape) if shape != () else key

  def random(self, size: int | Sequence[int] | None = None, dtype: Any = float) -> Any:
    """Numbers distributed uniformly in [0, 1).

    Args:
      size: the result's shape; None: a scalar.
      dtype: a floating-point dtype.
    """
    return random.uniform(self.key(), _shape(size), dtype)

  def uniform(
      self, low: Any = 0, high: Any = 1, size: int | Sequence[int] | None = None, *,
      dtype: Any = float) -> Any:
    """Numbers distributed uniformly in [low, high).

    Args:
      low: lower bound; reached.
      high: upper bound; not reached.
      size: the result's shape; None: that of the bounds together.
      dtype: a floating-point dtype.
    """
    return random.uniform(self.key(), _shape(size, low, high), dtype, low, high)

  def normal(
      self, loc: Any = 0, scale: Any = 1, size: int | Sequence[int] | None = None, *,
      dtype: Any = float) -> Any:
    """Numbers of the normal distribution.

    Args:
      loc: the mean.
      scale: the standard deviation.
      size: the result's shape; None: that of the parameters together.
      dtype: a floating-point dtype.
    """
    drawn = random.normal(self.key(), _shape(size, loc, scale), dtype)
    loc, scale = (
        x if isinstance(x, (int, float)) else gnp.asarray(x).astype(drawn.dtype)
        for x in (loc, scale))
    return loc + scale * drawn

  def integers(
      self, low: Any, high: Any = None, size: int | Sequence[int] | None = None, *,
      dtype: Any = int) -> Any:
    """Integers distributed uniformly in [low, high).

    Args:
      low: lower bound; reached. Without `high`, it is the upper bound, and 0 the lower.
      high: upper bound; not reached.
      size: the result's shape; None: that of the bounds together.
      dtype: an integer dtype.
    """
    low, high = (0, low) if high is None else (low, high)
    return random.randint(self.key(), _shape(size, low, high), low, high, dtype)

  def spawn(self, n_children: int) -> list[StatefulPRNG]:
    """New generators, independent of this one and of each other.

    Args:
      n_children: how many.
    """
    keys = self.key((n_children,))
    return [StatefulPRNG(keys[i], new_ref(0)) for i in range(n_children)]

  def split(self, num: int | Sequence[int]) -> StatefulPRNG:
    """Generators as the elements of an array, for `gnomon.vmap` to map over.

    Args:
      num: how many, or the shape of the array.

    >>> import gnomon
    >>> from gnomon.experimental.random import stateful_rng
    >>> gnomon.vmap(lambda rng: rng.uniform())(stateful_rng(0).split(3)).shape
    (3,)
    """
    keys = self.key(num)
    return StatefulPRNG(keys, new_ref(gnp.zeros(keys.shape, np.int32)))


def _shape(size: int | Sequence[int] | None, *parameters: Any) -> Shape:
  if size is None:
    return tuple(np.broadcast_shapes(*(np.shape(x) for x in parameters)))
  return tuple(size) if isinstance(size, Sequence) else (size,)


_FIELDS = ("_base_key", "_counter")


def _rebuilt(_: Any, parts: Any) -> StatefulPRNG:
  """Without checks: trees may hold anything for a while."""
  rng = object.__new__(StatefulPRNG)
  for name, part in zip(_FIELDS, parts, strict=True):
    object.__setattr__(rng, name, part)
  return rng


register_pytree_with_keys(
    StatefulPRNG,
    lambda rng: ([(GetAttrKey(n), getattr(rng, n)) for n in _FIELDS], ()),
    _rebuilt,
    lambda rng: ([getattr(rng, n) for n in _FIELDS], ()))


def stateful_rng(seed: Any = None, *, impl: Any = None) -> StatefulPRNG:
  """A generator of random numbers with state.

  Args:
    seed: a scalar integer; None: one from the operating system's randomness.
    impl: the name of the kind of keys (see `gnomon.random.key`).

  >>> from gnomon.experimental.random import stateful_rng
  >>> rng = stateful_rng(seed=1701)
  >>> rng.normal(size=(2,)).shape, rng.integers(10, size=3).dtype
  ((2,), dtype('int32'))

  Raises:
    TypeError: within transformed code there is no seed.
  """
  if seed is None:
    if get_current() is not EVAL:
      raise TypeError(
          "When used within transformed code, gnomon.experimental.random.stateful_rng() "
          "requires an explicit seed: without one, the program would draw the same "
          "numbers whenever it runs")
    seed = np.random.SeedSequence().generate_state(1, np.uint32)[0]
  return StatefulPRNG(random.key(seed, impl=impl), new_ref(0))
