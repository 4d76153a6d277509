"""Products of vectors, matrices, tensors."""

from __future__ import annotations

from collections.abc import Sequence
from operator import index
from typing import Any

import numpy as np

from gnomon import lax
from gnomon.core.structural import broadcast_in_dim
from gnomon.core.types import typeof
from gnomon.lax import stack_p
from gnomon.numpy._compiled import compiled
from gnomon.numpy._contraction import KEYWORDS, Options, dot_general, product
from gnomon.numpy._promotion import (
  broadcast_shapes,
  canonical_axes,
  canonical_axis,
  check_arraylike,
  promote_dtypes,
)
from gnomon.numpy._values import array_of, arrays_of, is_kind, refuse_out, spread

_STATIC = (*KEYWORDS, "out_sharding")


def _check_sizes(name: str, x: Any, i: int, y: Any, j: int) -> None:
  """Raises `TypeError` unless the axes to sum over have one size."""
  a, b = typeof(x).shape, typeof(y).shape
  if a[i] != b[j]:
    raise TypeError(
        f"{name} requires contracting dimensions to have the same shape: axis {i} of the "
        f"first operand has {a[i]} elements, axis {j} of the second {b[j]}; the shapes "
        f"are {a} and {b}")


@compiled(static=_STATIC)
def dot(
    a: Any, b: Any, *, precision: Any = None, preferred_element_type: Any = None,
    out_sharding: Any = None) -> Any:
  """Product of vectors and matrices.

  Of scalars the plain product, of vectors the inner one. Otherwise sums over the last
  axis of `a` and the last but one of `b`: axes of `a` come first, nothing is broadcast
  (`matmul` does that).

  Args:
    a: an array or number; dtypes are promoted.
    b: the same.
    precision: how exactly accelerators multiply; see `gnomon.lax.Precision`.
    preferred_element_type: the dtype of sums and of the result.
    out_sharding: how the result is laid out over devices; None without a mesh.

  >>> import gnomon.numpy as gnp
  >>> gnp.dot(gnp.array([1, 2]), gnp.array([3, 4])).item()
  11

  Raises:
    TypeError: the sizes of the axes to sum over differ, or an argument is no array.
  """
  check_arraylike("dot", a, b)
  x, y = (z if type(z) in (bool, int, float, complex) else array_of(z) for z in (a, b))
  options = Options(precision, preferred_element_type, out_sharding)
  if not typeof(x).ndim or not typeof(y).ndim:
    return dot_general(x, y, ((), ()), ((), ()), options)
  i = typeof(x).ndim - 1
  j = max(typeof(y).ndim - 2, 0)
  _check_sizes("dot", x, i, y, j)
  return dot_general(x, y, ((i,), (j,)), ((), ()), options)


def _matrix_product(
    name: str, x: Any, y: Any, x_core: tuple[str, ...], y_core: tuple[str, ...],
    out_core: tuple[str, ...], options: Options) -> Any:
  """Products over the last axes, one for each index of the others, which broadcast."""
  for i, (z, core) in enumerate(((x, x_core), (y, y_core))):
    if typeof(z).ndim < len(core):
      raise ValueError(
          f"{name} input operand {i} must have ndim at least {len(core)}, got the shape "
          f"{typeof(z).shape}")
  _check_sizes(name, x, typeof(x).ndim - len(x_core) + x_core.index("k"), y,
               typeof(y).ndim - len(y_core) + y_core.index("k"))
  lead_x = typeof(x).shape[:typeof(x).ndim - len(x_core)]
  lead_y = typeof(y).shape[:typeof(y).ndim - len(y_core)]
  lead = broadcast_shapes(name, lead_x, lead_y)
  missing_x, missing_y = len(lead) - len(lead_x), len(lead) - len(lead_y)
  # Axes of size 1 on both sides are no batch: without them it is a plain product.
  ones = [d for d in range(max(missing_x, missing_y), len(lead))
          if lead_x[d - missing_x] == 1 == lead_y[d - missing_y]]
  if ones:
    out = _matrix_product(
        name, lax.squeeze(x, [d - missing_x for d in ones]),
        lax.squeeze(y, [d - missing_y for d in ones]), x_core, y_core, out_core, options)
    return lax.expand_dims(out, ones)
  axes = tuple(range(len(lead)))

  def labels(own: tuple[int, ...], core: tuple[str, ...]) -> tuple[Any, ...]:
    return (*axes[len(lead) - len(own):], *core)

  return product(
      x, labels(lead_x, x_core), y, labels(lead_y, y_core), (*axes, *out_core), options)


@compiled(static=_STATIC)
def matmul(
    a: Any, b: Any, *, precision: Any = None, preferred_element_type: Any = None,
    out_sharding: Any = None) -> Any:
  """Products of matrices, one for each index of the leading axes, which broadcast. `@`.

  Args:
    a: an array of at least one dimension; a vector is a row on the left, a column on the
      right, and loses that axis again. Dtypes are promoted.
    b: the same.
    precision: how exactly accelerators multiply; see `gnomon.lax.Precision`.
    preferred_element_type: the dtype of sums and of the result.
    out_sharding: how the result is laid out over devices; None without a mesh.

  >>> import gnomon.numpy as gnp
  >>> gnp.matmul(gnp.array([[1, 2], [3, 4]]), gnp.array([1, 1])).tolist()
  [3, 7]

  Raises:
    ValueError: an argument is a scalar, or the leading axes do not broadcast.
    TypeError: the sizes of the axes to sum over differ, or an argument is no array.
  """
  x, y = arrays_of("matmul", a, b)
  options = Options(precision, preferred_element_type, out_sharding)
  left = ("m", "k") if typeof(x).ndim != 1 else ("k",)
  right = ("k", "n") if typeof(y).ndim != 1 else ("k",)
  for i, z in enumerate((x, y)):
    if not typeof(z).ndim:
      raise ValueError(
          f"matmul input operand {i} must have ndim at least 1, but it has ndim 0; use * "
          "to multiply by a scalar")
  return _matrix_product("matmul", x, y, left, right, (*left[:-1], *right[1:]), options)


@compiled()
def matvec(x1: Any, x2: Any, /) -> Any:
  """Products of matrices and vectors, one for each index of the leading axes.

  Args:
    x1: an array of shape `(..., m, k)`.
    x2: an array of shape `(..., k)`; leading axes broadcast.

  >>> import gnomon.numpy as gnp
  >>> gnp.matvec(gnp.array([[1, 2], [3, 4]]), gnp.array([1, 1])).tolist()
  [3, 7]

  Raises:
    ValueError: an argument has too few dimensions, or the leading axes do not broadcast.
    TypeError: the sizes of the axes to sum over differ.
  """
  x, y = arrays_of("matvec", x1, x2)
  return _matrix_product("matvec", x, y, ("m", "k"), ("k",), ("m",), Options())


@compiled()
def vecmat(x1: Any, x2: Any, /) -> Any:
  """Products of (conjugated) vectors and matrices, for each index of the leading axes.

  Args:
    x1: an array of shape `(..., k)`.
    x2: an array of shape `(..., k, n)`; leading axes broadcast.

  >>> import gnomon.numpy as gnp
  >>> gnp.vecmat(gnp.array([1, 1]), gnp.array([[1, 2], [3, 4]])).tolist()
  [4, 6]

  Raises:
    ValueError: an argument has too few dimensions, or the leading axes do not broadcast.
    TypeError: the sizes of the axes to sum over differ.
  """
  x, y = arrays_of("vecmat", x1, x2)
  return _matrix_product("vecmat", _conjugate(x), y, ("k",), ("k", "n"), ("n",),
      Options())


def _conjugate(x: Any) -> Any:
  return lax.conj(x) if is_kind(x, np.complexfloating) else x


@compiled(static=KEYWORDS)
def inner(
    a: Any, b: Any, *, precision: Any = None, preferred_element_type: Any = None) -> Any:
  """Sums of products over the last axes, for each pair of the other indices.

  Args:
    a: an array whose last axis has the size of the other's, or a scalar to multiply by.
    b: the same.
    precision: how exactly accelerators multiply; see `gnomon.lax.Precision`.
    preferred_element_type: the dtype of sums and of the result.

  >>> import gnomon.numpy as gnp
  >>> gnp.inner(gnp.array([1, 2]), gnp.array([3, 4])).item()
  11

  Raises:
    TypeError: the sizes of the last axes differ, or an argument is no array.
  """
  x, y = arrays_of("inner", a, b)
  options = Options(precision, preferred_element_type)
  if not typeof(x).ndim or not typeof(y).ndim:
    return dot_general(x, y, ((), ()), ((), ()), options)
  i, j = typeof(x).ndim - 1, typeof(y).ndim - 1
  _check_sizes("inner", x, i, y, j)
  return dot_general(x, y, ((i,), (j,)), ((), ()), options)


@compiled()
def outer(a: Any, b: Any, out: None = None) -> Any:
  """Products of each element of one array with each of another, as a matrix.

  Args:
    a: an array or number, flattened.
    b: the same.
    out: not supported.

  >>> import gnomon.numpy as gnp
  >>> gnp.outer(gnp.array([1, 2]), gnp.array([3, 4])).tolist()
  [[3, 4], [6, 8]]

  Raises:
    TypeError: an argument is no array and no number.
    NotImplementedError: `out` is given.
  """
  refuse_out("outer", out)
  x, y = [array_of(z) for z in promote_dtypes(*arrays_of("outer", a, b))]
  x, y = lax.reshape(x, (typeof(x).size,)), lax.reshape(y, (typeof(y).size,))
  n, m = typeof(x).size, typeof(y).size
  return _times(broadcast_in_dim(x, (n, 1), (0,)), broadcast_in_dim(y, (1, m), (1,)))


def _times(x: Any, y: Any) -> Any:
  """The product of arrays that broadcast to a shape; of booleans, their conjunction."""
  return lax.bitwise_and(x, y) if is_kind(x, np.bool_) else lax.mul(x, y)


@compiled(static=KEYWORDS)
def vdot(
    a: Any, b: Any, *, precision: Any = None, preferred_element_type: Any = None) -> Any:
  """Sum of products of all elements, those of `a` conjugated.

  Args:
    a: an array, flattened; both have one size.
    b: the same.
    precision: how exactly accelerators multiply; see `gnomon.lax.Precision`.
    preferred_element_type: the dtype of sums and of the result.

  >>> import gnomon.numpy as gnp
  >>> gnp.vdot(gnp.array([1j, 2]), gnp.array([1j, 1])).item()
  (3+0j)

  Raises:
    TypeError: the sizes differ, or an argument is no array.
  """
  x, y = arrays_of("vdot", a, b)
  x, y = lax.reshape(_conjugate(x), (typeof(x).size,)), lax.reshape(y, (typeof(y).size,))
  _check_sizes("vdot", x, 0, y, 0)
  options = Options(precision, preferred_element_type)
  return dot_general(x, y, ((0,), (0,)), ((), ()), options)


@compiled(static=("axis", *KEYWORDS))
def vecdot(
    x1: Any, x2: Any, /, *, axis: int = -1, precision: Any = None,
    preferred_element_type: Any = None) -> Any:
  """Sums of products along an axis, those of `x1` conjugated; the other axes broadcast.

  Args:
    x1: an array.
    x2: the same.
    axis: along which to sum.
    precision: how exactly accelerators multiply; see `gnomon.lax.Precision`.
    preferred_element_type: the dtype of sums and of the result.

  >>> import gnomon.numpy as gnp
  >>> gnp.vecdot(gnp.array([[1, 2], [3, 4]]), gnp.array([1, 1])).tolist()
  [3, 7]

  Raises:
    ValueError: the axis is out of range, or the other axes do not broadcast.
    TypeError: the sizes along the axis differ.
  """
  x, y = arrays_of("vecdot", x1, x2)
  x, y = [_axis_last("vecdot", z, axis) for z in (_conjugate(x), y)]
  options = Options(precision, preferred_element_type)
  return _matrix_product("vecdot", x, y, ("k",), ("k",), (), options)


def _axis_last(name: str, x: Any, axis: int) -> Any:
  n = typeof(x).ndim
  axis = canonical_axis(axis, n, name)
  return lax.transpose(x, (*[d for d in range(n) if d != axis], axis))


@compiled(static=("axes", *_STATIC))
def tensordot(
    a: Any, b: Any, axes: int | Sequence[Any] = 2, *, precision: Any = None,
    preferred_element_type: Any = None, out_sharding: Any = None) -> Any:
  """Sums of products over given axes; the others come first of `a`, then of `b`.

  Args:
    a: an array; dtypes are promoted.
    b: the same.
    axes: how many: the last ones of `a`, the first ones of `b`; or a pair: the axes of
      `a`, and those of `b`.
    precision: how exactly accelerators multiply; see `gnomon.lax.Precision`.
    preferred_element_type: the dtype of sums and of the result.
    out_sharding: how the result is laid out over devices; None without a mesh.

  >>> import gnomon.numpy as gnp
  >>> gnp.tensordot(gnp.ones((2, 3, 4)), gnp.ones((3, 4, 5))).shape
  (2, 5)

  Raises:
    TypeError: the numbers of axes or their sizes differ, or there are not so many.
    ValueError: an axis is out of range or repeated.
  """
  x, y = arrays_of("tensordot", a, b)
  n, m = typeof(x).ndim, typeof(y).ndim
  if hasattr(axes, "__index__"):
    count = index(axes)
    if count > min(n, m) or count < 0:
      raise TypeError(
          f"Number of tensordot axes ({count}) exceeds input ranks ({n} and {m}), or is "
          "negative")
    left, right = tuple(range(n - count, n)), tuple(range(count))
  else:
    if not isinstance(axes, (tuple, list)) or len(axes) != 2:
      raise TypeError(
          "tensordot axes argument must be an int, a pair of ints, or a pair of lists, "
          f"got {axes!r}")
    if any(isinstance(side, str) for side in axes):
      raise TypeError(
          "tensordot requires both axes lists to be either ints, tuples or lists, got "
          f"{axes!r}")
    left, right = [
        (side,) if hasattr(side, "__index__") and not np.ndim(side) else tuple(side)
        for side in axes]
  if len(left) != len(right):
    raise TypeError(
        f"tensordot requires axes lists to have equal length, got {left} and {right}")
  left, right = (
      canonical_axes(side, k, "tensordot") for side, k in ((left, n), (right, m)))
  for i, j in zip(left, right):
    _check_sizes("tensordot", x, i, y, j)
  options = Options(precision, preferred_element_type, out_sharding)
  return dot_general(x, y, (left, right), ((), ()), options)


@compiled()
def kron(a: Any, b: Any) -> Any:
  """Kronecker product: an array of copies of `b`, scaled by the elements of `a`.

  Args:
    a: an array or number.
    b: the same.

  >>> import gnomon.numpy as gnp
  >>> gnp.kron(gnp.array([1, 10]), gnp.array([1, 2])).tolist()
  [1, 2, 10, 20]

  Raises:
    TypeError: an argument is no array and no number.
  """
  x, y = [array_of(z) for z in promote_dtypes(*arrays_of("kron", a, b))]
  rank = max(typeof(x).ndim, typeof(y).ndim)

  def spaced(z: Any, first: int) -> Any:
    """Axes alternate with axes of size 1."""
    old = typeof(z).shape
    sizes = [1] * (2 * rank)
    places = [2 * (rank - len(old) + d) + first for d in range(len(old))]
    for place, n in zip(places, old):
      sizes[place] = n
    return broadcast_in_dim(z, tuple(sizes), tuple(places))

  x, y = spaced(x, 0), spaced(y, 1)
  apart = tuple([max(n, m) if n and m else 0 for n, m in zip(typeof(x).shape,
      typeof(y).shape)])
  out = _times(x, y)
  return lax.reshape(out, tuple([apart[d] * apart[d + 1] for d in range(0, 2 * rank, 2)]))


@compiled(static=("axisa", "axisb", "axisc", "axis"))
def cross(
    a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1,
    axis: int | None = None) -> Any:
  """Cross products of vectors of two or three elements.

  Args:
    a: an array of vectors; the other axes broadcast.
    b: the same.
    axisa: the axes of `a` and `b` along which the vectors lie.
    axisb: the same.
    axisc: the axis of the result; two vectors of two elements give one number.
    axis: one axis for all three.

  >>> import gnomon.numpy as gnp
  >>> gnp.cross(gnp.array([1, 0, 0]), gnp.array([0, 1, 0])).tolist()
  [0, 0, 1]

  Raises:
    ValueError: vectors have another number of elements, or shapes do not broadcast.
  """
  if axis is not None:
    axisa = axisb = axisc = axis
  x, y = [array_of(z) for z in promote_dtypes(*arrays_of("cross", a, b))]
  x, y = _axis_last("cross", x, axisa), _axis_last("cross", y, axisb)
  n, m = typeof(x).shape[-1], typeof(y).shape[-1]
  if n not in (2, 3) or m not in (2, 3):
    raise ValueError(
        f"cross: Dimension must be either 2 or 3 for cross product, got vectors of {n} "
        f"and {m} elements")
  shape = broadcast_shapes("cross", typeof(x).shape[:-1], typeof(y).shape[:-1])
  p, q = ([
      spread("cross", lax.index_in_dim(z, i, -1, keepdims=False), shape)
      for i in range(typeof(z).shape[-1])] for z in (x, y))

  def minor(i: int, j: int) -> Any:
    return lax.sub(lax.mul(p[i], q[j]), lax.mul(p[j], q[i]))

  if n == m == 2:
    return minor(0, 1)
  if n == 3 and m == 3:
    parts = [minor(1, 2), minor(2, 0), minor(0, 1)]
  elif n == 3:
    parts = [lax.neg(lax.mul(p[2], q[1])), lax.mul(p[2], q[0]), minor(0, 1)]
  else:
    parts = [lax.mul(p[1], q[2]), lax.neg(lax.mul(p[0], q[2])), minor(0, 1)]
  at = canonical_axis(axisc, len(shape) + 1, "cross")
  return stack_p.apply(*parts, axis=at)[0]
