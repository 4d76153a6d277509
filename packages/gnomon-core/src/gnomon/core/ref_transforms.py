"""From a reference to a part of it: indices, other shapes, other dtypes, in a row."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gnomon.core import array_hook
from gnomon.core.lax_hook import lax
from gnomon.core.ref_index import Indexer
from gnomon.core.structural import reshape, transpose
from gnomon.core.types import typeof


class _Form:
  """All of an array, in another form."""

  num_operands = 0
  is_whole = False  # it is not as if it were not there


@dataclass(frozen=True)
class Reshape(_Form):
  """The elements in another shape."""

  shape: tuple[int, ...]

  def shown(self, _: Any) -> str:
    return f"{{reshape({list(self.shape)})}}"

  def result_type(self, aval: Any, _: Any) -> Any:
    return aval.update(shape=self.shape)

  def read(self, x: Any, _: Any) -> Any:
    return reshape(x, self.shape)

  def write(self, x: Any, _: Any, value: Any, *, add: bool) -> Any:
    new = reshape(value, typeof(x).shape)
    return lax().add(x, new) if add else new


@dataclass(frozen=True)
class Transpose(_Form):
  """The dimensions in another order."""

  permutation: tuple[int, ...]

  def shown(self, _: Any) -> str:
    return f"{{transpose({list(self.permutation)})}}"

  def result_type(self, aval: Any, _: Any) -> Any:
    return aval.update(shape=tuple(aval.shape[d] for d in self.permutation))

  def read(self, x: Any, _: Any) -> Any:
    return transpose(x, self.permutation)

  def write(self, x: Any, _: Any, value: Any, *, add: bool) -> Any:
    new = transpose(value, tuple(np.argsort(self.permutation).tolist()))
    return lax().add(x, new) if add else new


@dataclass(frozen=True)
class Bitcast(_Form):
  """The same bits as elements of another dtype, of the same size."""

  dtype: Any

  def shown(self, _: Any) -> str:
    return f"{{bitcast({self.dtype.name})}}"

  def result_type(self, aval: Any, _: Any) -> Any:
    return aval.update(dtype=self.dtype, weak_type=False)

  def read(self, x: Any, _: Any) -> Any:
    return lax().bitcast_convert_type(x, self.dtype)

  def write(self, x: Any, _: Any, value: Any, *, add: bool) -> Any:
    if add:
      value = lax().add(self.read(x, ()), value)
    return lax().bitcast_convert_type(value, typeof(x).dtype)


Transform = Indexer | Reshape | Transpose | Bitcast
Transforms = tuple[Transform, ...]


def reshaped(aval: Any, shape: Sequence[Any]) -> Reshape:
  """The transform for `ref.reshape(*shape)`; one size may be -1.

  Raises:
    ValueError: the sizes do not fit.
  """
  if len(shape) == 1 and isinstance(shape[0], (tuple, list)):
    shape = shape[0]
  sizes = [int(n) for n in shape]
  known = math.prod(n for n in sizes if n != -1)
  if sizes.count(-1) == 1 and known and aval.size % known == 0:
    sizes[sizes.index(-1)] = aval.size // known
  if any(n < 0 for n in sizes) or math.prod(sizes) != aval.size:
    raise ValueError(
        f"a reference of shape {aval.shape} cannot be reshaped to {tuple(shape)}: it has "
        f"{aval.size} elements")
  return Reshape(tuple(sizes))


def transposed(aval: Any, permutation: Sequence[int]) -> Transpose:
  """The transform for `ref.transpose(permutation)`.

  Raises:
    ValueError: it is no permutation of the dimensions.
  """
  order = tuple(int(d) for d in permutation)
  if sorted(order) != list(range(aval.ndim)):
    raise ValueError(
        f"transpose of a reference with {aval.ndim} dimensions needs a permutation of "
        f"them, got {order}")
  return Transpose(order)


def bitcast(aval: Any, dtype: Any) -> Bitcast:
  """The transform for `ref.bitcast(dtype)`.

  Raises:
    ValueError: elements of the dtype have another size.
  """
  dtype = np.dtype(dtype)
  if dtype.itemsize != aval.dtype.itemsize:
    raise ValueError(
        f"bitcast of a reference of {aval.dtype} needs a dtype of the same size, got "
        f"{dtype}")
  return Bitcast(dtype)


# ---- several of them, one behind the other


def result_type(aval: Any, transforms: Transforms, avals: Sequence[Any]) -> Any:
  """The type of the part of an array that transforms lead to."""
  it = iter(avals)
  for t in transforms:
    aval = t.result_type(aval, [next(it) for _ in range(t.num_operands)])
  return aval


def _steps(
    transforms: Transforms, operands: Sequence[Any],
) -> list[tuple[Transform, list[Any]]]:
  it = iter(operands)
  return [(t, [next(it) for _ in range(t.num_operands)]) for t in transforms]


def read(x: Any, operands: Sequence[Any], transforms: Transforms) -> Any:
  """The part of an array that transforms lead to."""
  array_hook.load()
  for t, own in _steps(transforms, operands):
    x = t.read(x, own)
  return x


def write(
    x: Any, operands: Sequence[Any], transforms: Transforms, value: Any, *,
    add: bool) -> Any:
  """An array with a value written, or added, at the part that transforms lead to."""
  array_hook.load()
  steps = _steps(transforms, operands)
  parts = [x]
  for t, own in steps[:-1]:
    parts.append(t.read(parts[-1], own))
  last, own = steps[-1]
  new = last.write(parts.pop(), own, value, add=add)
  for (t, own), whole in zip(reversed(steps[:-1]), reversed(parts)):
    new = t.write(whole, own, new, add=False)
  return new
