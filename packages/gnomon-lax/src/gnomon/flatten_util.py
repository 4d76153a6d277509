"""Pytrees of arrays as single vectors."""
# ruff: noqa: INP001 -- gnomon/__init__.py belongs to gnomon-core

from __future__ import annotations

import itertools
import math
import warnings
from typing import Any

import numpy as np

from gnomon import dtypes, lax, typeof
from gnomon.tree_util import tree_flatten

__all__ = ["ravel_pytree"]


def ravel_pytree(pytree: Any) -> tuple[Any, Any]:
  """All leaves of a pytree as one vector, and the function that makes the pytree of it.

  Args:
    pytree: of arrays and numbers.

  Returns:
    The vector, of the dtype that those of the leaves promote to, and a function that
    takes such a vector and gives a pytree like `pytree`, its leaves in their own dtypes.
    That function raises ValueError for a vector of another size and TypeError for one of
    another dtype.

  >>> import numpy
  >>> from gnomon import flatten_util
  >>> tree = {'a': 1.0, 'b': numpy.arange(2, dtype='int32')}
  >>> vector, unravel = flatten_util.ravel_pytree(tree)
  >>> vector
  Array([1., 0., 1.], dtype=float32)
  >>> unravel(2 * vector)['b']
  Array([0, 2], dtype=int32)
  """
  leaves, tree = tree_flatten(pytree)
  vector, split = _join(leaves)
  return vector, Unravel(tree, split)


class Unravel:
  """Makes a pytree of a vector; equal for pytrees of equal structure and types."""

  __slots__ = ("split", "tree")

  def __init__(self, tree: Any, split: Split) -> None:
    self.tree, self.split = tree, split

  def __call__(self, vector: Any) -> Any:
    return self.tree.unflatten(self.split(vector))

  def __eq__(self, other: object) -> bool:
    return isinstance(other, Unravel) and (
        (self.tree, self.split.key) == (other.tree, other.split.key))

  def __hash__(self) -> int:
    return hash((self.tree, self.split.key))


class Split:
  """Cuts a vector into arrays of given shapes and dtypes."""

  __slots__ = ("dtype", "dtypes", "shapes", "size")

  def __init__(self, shapes: tuple[Any, ...], own: tuple[Any, ...], dtype: Any) -> None:
    self.shapes, self.dtypes, self.dtype = shapes, own, dtype
    self.size = sum(map(math.prod, shapes))

  @property
  def key(self) -> Any:
    return self.shapes, self.dtypes, self.dtype

  def __call__(self, vector: Any) -> list[Any]:
    got = typeof(vector)
    if got.shape != (self.size,):
      raise ValueError(
          f"the unravel function expects a vector of shape {(self.size,)}, got an array "
          f"of shape {got.shape}")
    if any(d != self.dtype for d in self.dtypes) and got.dtype != self.dtype:
      # Leaves of one dtype may become another one together; of several they may not.
      raise TypeError(
          f"unravel function given array of dtype {got.dtype}, but expected dtype "
          f"{self.dtype}")
    if not self.shapes:
      return []
    ends = list(itertools.accumulate(map(math.prod, self.shapes)))
    parts = [
        lax.reshape(lax.slice(vector, (begin,), (end,)), shape)
        for begin, end, shape in zip([0, *ends], ends, self.shapes, strict=False)]
    if all(d == self.dtype for d in self.dtypes):
      return parts
    with warnings.catch_warnings():  # an imaginary part is dropped by intent
      warnings.simplefilter("ignore")
      return [
          lax.convert_element_type(x, d)
          for x, d in zip(parts, self.dtypes, strict=True)]


def _join(leaves: list[Any]) -> tuple[Any, Split]:
  if not leaves:
    return lax.full((0,), 0, np.dtype("float32")), Split((), (), np.dtype("float32"))
  avals = [typeof(x) for x in leaves]
  own = tuple(a.dtype for a in avals)
  dtype = dtypes.result_type(*own)
  flat = [
      lax.reshape(  # a dtype that stays may stay weak
          x if a.dtype == dtype else lax.convert_element_type(x, dtype), (a.size,))
      for x, a in zip(leaves, avals, strict=True)]
  vector = flat[0] if len(flat) == 1 else lax.concatenate(flat, 0)
  return vector, Split(tuple(a.shape for a in avals), own, dtype)
