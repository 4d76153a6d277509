"""Parameters of distributions: their shapes, and their form in a sampler's program."""

from __future__ import annotations

from typing import Any

import numpy as np

from gnomon import lax
from gnomon.core.structural import broadcast_to, convert, select_n
from gnomon.core.types import typeof
from gnomon.random._api import shape_of
from gnomon.random._primitives import split_keys

Shape = tuple[int, ...]


def result_shape(name: str, shape: Any, /, **parameters: Any) -> Shape:
  """The shape of samples: the one given, or that of the parameters together.

  Raises:
    TypeError: a parameter is complex.
    ValueError: the parameters do not broadcast to the shape.
  """
  for argument, x in parameters.items():
    aval = typeof(x)
    if aval.dtype.kind == "c":
      raise TypeError(f"{name}: {argument} must be real, got {aval}")
  return shape_with(name, shape, {k: typeof(x).shape for k, x in parameters.items()})


def shape_with(name: str, shape: Any, own: dict[str, Shape]) -> Shape:
  """The shape of samples for parameters of the shapes `own`.

  Raises:
    ValueError: they do not broadcast to the shape, or together.
  """
  if shape is not None:
    shape = shape_of(name, shape)
    for argument, s in own.items():
      check_fits(name, argument, s, shape)
    return shape  # type: ignore[no-any-return]
  try:
    return tuple(np.broadcast_shapes(*own.values()))
  except ValueError:
    listed = ", ".join(f"{k} {v}" for k, v in own.items())
    raise ValueError(
        f"{name}: the shapes of the parameters do not broadcast together: {listed}"
    ) from None


def check_fits(name: str, argument: str, own: Shape, shape: Shape) -> None:
  """Raises `ValueError` where a parameter does not broadcast to the samples' shape."""
  if len(own) > len(shape) or any(
      n not in (1, m) for n, m in zip(reversed(own), reversed(shape))):
    raise ValueError(
        f"{name}: the shape {own} of {argument} does not broadcast to the shape {shape}")


def filled(x: Any, shape: Shape, dtype: Any) -> Any:
  """A parameter as an array of the samples' shape and dtype."""
  return broadcast_to(convert(x, dtype), shape)


def flat(x: Any) -> Any:
  """An array in one dimension: compilers make vectors of long dimensions only."""
  return lax.reshape(x, (typeof(x).size,))


def parts_of(key: Any, n: int) -> list[Any]:
  """`n` keys from each key of an array."""
  return parts(split_keys(key, (n,)), typeof(key).ndim)


def parts(x: Any, axis: int = 0) -> list[Any]:
  """The parts of an array along an axis."""
  n = typeof(x).shape[axis]
  return [lax.index_in_dim(x, i, axis, keepdims=False) for i in range(n)]


def where(condition: Any, x: Any, y: Any) -> Any:
  """A choice between arrays of one shape, either of which may be a number."""
  aval = typeof(y if isinstance(x, (int, float)) else x)
  x, y = (
      np.asarray(v, aval.dtype)[()] if isinstance(v, (int, float)) else v for v in (x, y))
  shape = typeof(condition).shape
  return select_n(condition, *(broadcast_to(v, shape) for v in (y, x)))
