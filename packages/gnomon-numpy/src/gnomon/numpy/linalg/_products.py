"""Products and other functions that `numpy` has too, in the form of the array API."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from gnomon.core.types import typeof
from gnomon.numpy import _diagonals, _products, _shape
from gnomon.numpy._compiled import compiled
from gnomon.numpy._promotion import canonical_axis
from gnomon.numpy._values import arrays_of

_KEYWORDS = ("precision", "preferred_element_type")


def matmul(
    x1: Any, x2: Any, /, *, precision: Any = None,
    preferred_element_type: Any = None) -> Any:
  """Products of matrices, one for each index of the leading axes, which broadcast.

  Args:
    x1: an array of at least one dimension; see `gnomon.numpy.matmul`.
    x2: another one.
    precision: how exactly accelerators multiply; see `gnomon.lax.Precision`.
    preferred_element_type: the dtype of sums and of the result.

  >>> import gnomon.numpy as gnp
  >>> gnp.linalg.matmul(gnp.array([[1, 2], [3, 4]]), gnp.array([1, 1])).tolist()
  [3, 7]

  Raises:
    ValueError: an argument is a scalar, or the leading axes do not broadcast.
    TypeError: the sizes of the axes to sum over differ, or an argument is no array.
  """
  return _products.matmul(
      x1, x2, precision=precision, preferred_element_type=preferred_element_type)


def vecdot(
    x1: Any, x2: Any, /, *, axis: int = -1, precision: Any = None,
    preferred_element_type: Any = None) -> Any:
  """Sums of products along an axis, those of `x1` conjugated; the other axes broadcast.

  Args:
    x1: an array.
    x2: another one.
    axis: along which to sum.
    precision: how exactly accelerators multiply; see `gnomon.lax.Precision`.
    preferred_element_type: the dtype of sums and of the result.

  >>> import gnomon.numpy as gnp
  >>> gnp.linalg.vecdot(gnp.array([[1, 2], [3, 4]]), gnp.array([1, 1])).tolist()
  [3, 7]

  Raises:
    ValueError: the axis is out of range, or the other axes do not broadcast.
    TypeError: the sizes along the axis differ.
  """
  return _products.vecdot(
      x1, x2, axis=axis, precision=precision,
      preferred_element_type=preferred_element_type)


def tensordot(
    x1: Any, x2: Any, /, *, axes: int | Sequence[Any] = 2, precision: Any = None,
    preferred_element_type: Any = None, out_sharding: Any = None) -> Any:
  """Sums of products over given axes; the others come first of `x1`, then of `x2`.

  Args:
    x1: an array; see `gnomon.numpy.tensordot`.
    x2: another one.
    axes: how many axes, or a pair of their lists.
    precision: how exactly accelerators multiply; see `gnomon.lax.Precision`.
    preferred_element_type: the dtype of sums and of the result.
    out_sharding: how the result is laid out over devices; None without a mesh.

  >>> import gnomon.numpy as gnp
  >>> gnp.linalg.tensordot(gnp.ones((2, 3, 4)), gnp.ones((3, 4, 5))).shape
  (2, 5)

  Raises:
    TypeError: the numbers of axes or their sizes differ, or there are not so many.
    ValueError: an axis is out of range or repeated.
  """
  return _products.tensordot(
      x1, x2, axes, precision=precision, preferred_element_type=preferred_element_type,
      out_sharding=out_sharding)


@compiled()
def outer(x1: Any, x2: Any, /) -> Any:
  """Products of each element of one vector with each of another.

  Args:
    x1: a vector.
    x2: another one.

  >>> import gnomon.numpy as gnp
  >>> gnp.linalg.outer(gnp.array([1, 2]), gnp.array([3, 4])).tolist()
  [[3, 4], [6, 8]]

  Raises:
    ValueError: an argument is no vector.
    TypeError: an argument is no array.
  """
  x, y = arrays_of("linalg.outer", x1, x2)
  if typeof(x).ndim != 1 or typeof(y).ndim != 1:
    raise ValueError(
        f"linalg.outer takes vectors, got the shapes {typeof(x).shape} and "
        f"{typeof(y).shape}; gnomon.numpy.outer flattens its arguments")
  return _products.outer(x, y)


@compiled(static=("axis",))
def cross(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
  """Cross products of vectors of three elements.

  Args:
    x1: an array of vectors.
    x2: another one; the other axes broadcast.
    axis: along which the vectors lie.

  >>> import gnomon.numpy as gnp
  >>> gnp.linalg.cross(gnp.array([1, 0, 0]), gnp.array([0, 1, 0])).tolist()
  [0, 0, 1]

  Raises:
    ValueError: the vectors have another number of elements, or shapes do not broadcast.
    TypeError: an argument is no array.
  """
  x, y = arrays_of("linalg.cross", x1, x2)
  sizes = [
      typeof(z).shape[canonical_axis(axis, typeof(z).ndim, "linalg.cross")]
      for z in (x, y)]
  if sizes != [3, 3]:
    raise ValueError(
        f"linalg.cross takes vectors of 3 elements, got {sizes[0]} and {sizes[1]} along "
        f"axis={axis}")
  return _products.cross(x, y, axis=axis)


@compiled(static=("offset",))
def diagonal(x: Any, /, *, offset: int = 0) -> Any:
  """A diagonal of each matrix in the last two axes.

  Args:
    x: an array of shape `(..., m, n)`.
    offset: which diagonal: 0 the main one, above it if positive.

  >>> import gnomon.numpy as gnp
  >>> gnp.linalg.diagonal(gnp.array([[1, 2], [3, 4]])).tolist()
  [1, 4]

  Raises:
    ValueError: `x` has less than two axes.
  """
  return _diagonals.diagonal(x, offset, -2, -1)


@compiled(static=("offset", "dtype"))
def trace(x: Any, /, *, offset: int = 0, dtype: Any = None) -> Any:
  """The sum along a diagonal of each matrix in the last two axes.

  Args:
    x: an array of shape `(..., m, n)`.
    offset: which diagonal: 0 the main one, above it if positive.
    dtype: the dtype of the result and of the sum.

  >>> import gnomon.numpy as gnp
  >>> gnp.linalg.trace(gnp.array([[1, 2], [3, 4]])).item()
  5

  Raises:
    ValueError: `x` has less than two axes.
  """
  return _diagonals.trace(x, offset, -2, -1, dtype=dtype)


def matrix_transpose(x: Any, /) -> Any:
  """Exchanges the last two axes.

  Args:
    x: an array of shape `(..., m, n)`.

  >>> import gnomon.numpy as gnp
  >>> gnp.linalg.matrix_transpose(gnp.array([[1, 2], [3, 4]])).tolist()
  [[1, 3], [2, 4]]

  Raises:
    ValueError: `x` has less than two axes.
  """
  return _shape.matrix_transpose(x)


def multi_dot(arrays: Sequence[Any], *, precision: Any = None) -> Any:
  """The product of several matrices, in the order that needs the fewest multiplications.

  Args:
    arrays: at least two matrices; the first and the last may be vectors.
    precision: how exactly accelerators multiply; see `gnomon.lax.Precision`.

  >>> import gnomon.numpy as gnp
  >>> gnp.linalg.multi_dot([gnp.ones((2, 3)), gnp.ones((3, 4)), gnp.ones(4)]).tolist()
  [12.0, 12.0]

  Raises:
    ValueError: there are less than two arrays, one has another number of axes, or sizes
      of neighbours differ.
    TypeError: one is no array.
  """
  return _multi_dot(tuple(arrays), precision=precision)


@compiled(static=("precision",))
def _multi_dot(arrays: tuple[Any, ...], precision: Any = None) -> Any:
  xs = arrays_of("linalg.multi_dot", *arrays)
  shapes = [typeof(x).shape for x in xs]
  if len(xs) < 2:
    raise ValueError(f"linalg.multi_dot needs at least two arrays, got {len(xs)}")
  ends = (0, len(xs) - 1)
  if any(len(s) != 2 and not (len(s) == 1 and i in ends) for i, s in enumerate(shapes)):
    raise ValueError(
        "linalg.multi_dot takes matrices; only the first and the last array may be "
        f"vectors: got the shapes {shapes}")
  sizes = [1 if len(shapes[0]) == 1 else shapes[0][0]]
  for i, (s, after) in enumerate(pairwise(shapes)):
    if s[-1] != after[0]:
      raise ValueError(
          f"linalg.multi_dot: sizes of neighbours differ: array {i} has the shape {s}, "
          f"array {i + 1} the shape {after}")
    sizes.append(s[-1])
  sizes.append(1 if len(shapes[-1]) == 1 else shapes[-1][1])
  splits = _best_splits(sizes)

  def product(i: int, j: int) -> Any:
    """Of the arrays i, …, j."""
    if i == j:
      return xs[i]
    k = splits[i, j]
    return _products.matmul(product(i, k), product(k + 1, j), precision=precision)

  return product(0, len(xs) - 1)


def _best_splits(sizes: Sequence[int]) -> dict[tuple[int, int], int]:
  """After which matrix to split the product of each range: the least work, by ranges."""
  n = len(sizes) - 1
  cost = {(i, i): 0 for i in range(n)}
  splits = {}
  for length in range(1, n):
    for i in range(n - length):
      j = i + length
      cost[i, j], splits[i, j] = min(
          (cost[i, k] + cost[k + 1, j] + sizes[i] * sizes[k + 1] * sizes[j + 1], k)
          for k in range(i, j))
  return splits
