"""Norms of vectors and matrices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gnomon import custom_jvp, lax
from gnomon.core import dtypes
from gnomon.core.structural import convert, reduce_sum, select_n
from gnomon.core.types import typeof
from gnomon.lax.linalg import _matrix
from gnomon.numpy._compiled import compiled
from gnomon.numpy._promotion import canonical_axes
from gnomon.numpy._values import keep_axes, scalar, spread
from gnomon.numpy.linalg._arguments import inexact, is_complex

Axes = tuple[int, ...]
Axis = int | Sequence[int] | None
Order = int | float | str | None


@compiled(static=("ord", "axis", "keepdims"))
def norm(x: Any, ord: Order = None, axis: Axis = None, keepdims: bool = False) -> Any:
  """Norm of a vector or a matrix, or of many of them.

  It neither overflows nor underflows where the result does not. The slope of the
  norms of vectors at zero counts as 0.

  Args:
    x: an array; integers and booleans are converted to floats.
    ord: which norm; None for the square root of the sum of squares. Of vectors: a number
      p, for the p-th root of the sum of p-th powers; infinity, for the largest modulus
      (minus infinity: the least); 0, for the number of elements that are not 0. Of
      matrices: 1 and infinity, for the largest sum of moduli in a column and a row (-1
        and
      minus infinity: the least); 2, for the largest singular value (-2: the least);
      'fro', as None; 'nuc', for the sum of singular values.
    axis: the axis of vectors, or the two axes of matrices; None for all of them.
    keepdims: keeps the axes, with size 1.

  >>> import gnomon.numpy as gnp
  >>> gnp.linalg.norm(gnp.array([3.0, 4.0])).item()
  5.0

  Raises:
    ValueError: the order does not exist, or an axis is out of range; or `x` has neither
      one nor two axes, and an order is given.
    TypeError: `x` is no array and no number.
  """
  (x,) = inexact("norm", x)
  axes = canonical_axes(axis, typeof(x).ndim, "linalg.norm")
  if ord is None and (axis is None or len(axes) in (1, 2)):
    return _kept(_length(x, axes), x, axes, keepdims)
  if len(axes) == 1:
    return _kept(_vector_norm("norm", x, ord, axes), x, axes, keepdims)
  if len(axes) == 2:
    return _kept(_matrix_norm("norm", x, ord, axes), x, axes, keepdims)
  raise ValueError(
      f"linalg.norm: improper number of axes: expected one (of vectors) or two (of "
      f"matrices), got axis={axis} for the shape {typeof(x).shape}")


@compiled(static=("axis", "keepdims", "ord"))
def vector_norm(
    x: Any, /, *, axis: Axis = None, keepdims: bool = False, ord: Order = 2) -> Any:
  """Norm of a vector, or of many of them; several axes count as one.

  Args:
    x: an array; integers and booleans are converted to floats.
    axis: the axes of the vectors; None for all.
    keepdims: keeps the axes, with size 1.
    ord: which norm, see `norm`.

  >>> import gnomon.numpy as gnp
  >>> gnp.linalg.vector_norm(gnp.array([[3.0, 4.0], [0.0, 0.0]])).item()
  5.0

  Raises:
    ValueError: the order does not exist, or an axis is out of range.
    TypeError: `x` is no array and no number.
  """
  (x,) = inexact("vector_norm", x)
  axes = canonical_axes(axis, typeof(x).ndim, "linalg.vector_norm")
  return _kept(_vector_norm("vector_norm", x, ord, axes), x, axes, keepdims)


@compiled(static=("keepdims", "ord"))
def matrix_norm(x: Any, /, *, keepdims: bool = False, ord: Order = "fro") -> Any:
  """Norms of the matrices in the last two axes.

  Args:
    x: an array of shape `(..., m, n)`; integers and booleans are converted to floats.
    keepdims: keeps the axes, with size 1.
    ord: which norm, see `norm`.

  >>> import gnomon.numpy as gnp
  >>> gnp.linalg.matrix_norm(gnp.array([[1.0, -2.0], [3.0, 4.0]]), ord=1).item()
  6.0

  Raises:
    ValueError: the order does not exist, or `x` has less than two axes.
    TypeError: `x` is no array and no number.
  """
  (x,) = inexact("matrix_norm", x)
  axes = canonical_axes((-2, -1), typeof(x).ndim, "linalg.matrix_norm")
  return _kept(_matrix_norm("matrix_norm", x, ord, axes), x, axes, keepdims)


def _kept(out: Any, x: Any, axes: Axes, keepdims: bool) -> Any:
  return keep_axes(out, typeof(x).shape, axes) if keepdims else out


# ---- vectors


def _vector_norm(name: str, x: Any, ord: Order, axes: Axes) -> Any:
  if isinstance(ord, str) or (ord is not None and not np.isscalar(ord)):
    raise ValueError(
        f"linalg.{name}: Invalid order {ord!r} for vector norm. Expected a number or "
        "infinity (numpy.inf)")
  p: Any = ord
  if p is None or p == 2:
    return _length(x, axes)
  size = lax.abs(x)
  if p == np.inf:
    return _largest(size, axes)
  if p == -np.inf:
    return lax.reduce_min(_filled(name, size, axes), axes)
  if p == 0:
    some = lax.ne(x, scalar(0, typeof(x).dtype))
    return reduce_sum(convert(some, typeof(size).dtype), axes)
  if p == 1:
    return _total(size, axes)
  return _power_norm(size, p, axes)


def _filled(name: str, x: Any, axes: Axes) -> Any:
  if any(typeof(x).shape[d] == 0 for d in axes):
    raise ValueError(
        f"linalg.{name}: the least of no elements does not exist; the shape is "
        f"{typeof(x).shape}")
  return x


def _largest(size: Any, axes: Axes) -> Any:
  """The largest modulus, 0 of none."""
  if any(typeof(size).shape[d] == 0 for d in axes):
    return reduce_sum(size, axes)
  return lax.reduce_max(size, axes)


def _total(x: Any, axes: Axes) -> Any:
  """A sum, of half-precision numbers in single precision."""
  dtype = typeof(x).dtype
  if dtypes.itemsize_bits(dtype) >= 32:
    return reduce_sum(x, axes)
  return convert(reduce_sum(convert(x, np.dtype(np.float32)), axes), dtype)


def _unit(size: Any, axes: Axes) -> Any:
  """A power of two near the largest modulus along the axes, and 1 for none.

  Dividing by it is exact: where nothing overflows or underflows, it changes nothing.
  """
  top = lax.stop_gradient(_largest(size, axes))
  info = dtypes.finfo(typeof(top).dtype)
  near = lax.reduce_precision(top, int(info.nexp), 0)
  near = lax.min(near, scalar(2.0 ** (info.maxexp - 2), info.dtype))
  usable = lax.gt(near, scalar(0, info.dtype))
  return select_n(usable, lax.full_like(near, 1), near)


def _spread_over(v: Any, x: Any, axes: Axes) -> Any:
  """A value for each vector, at each of its elements."""
  shape = typeof(x).shape
  return spread("norm", keep_axes(v, shape, axes), shape)


def _length_value(x: Any, axes: Axes) -> Any:
  size = lax.abs(x)
  unit = _unit(size, axes)
  size = lax.div(size, _spread_over(unit, size, axes))
  return lax.mul(unit, lax.sqrt(_total(lax.mul(size, size), axes)))


_length_of = custom_jvp(_length_value, nondiff_argnums=(1,))


def _length(x: Any, axes: Axes) -> Any:
  """The square root of the sum of squares."""
  return _length_of(x, axes)


@_length_of.defjvp
def _(axes: Axes, primals: Any, tangents: Any) -> Any:
  (x,), (t,) = primals, tangents
  out = _length_of(x, axes)
  direction = _matrix.safe_divide(x, convert(_spread_over(out, x, axes), typeof(x).dtype))
  if is_complex(x):
    part = lax.add(
        lax.mul(lax.real(direction), lax.real(t)),
        lax.mul(lax.imag(direction), lax.imag(t)))
  else:
    part = lax.mul(direction, t)
  return out, reduce_sum(part, axes)


def _power_value(size: Any, ord: float, axes: Axes) -> Any:
  unit = _unit(size, axes)
  if ord < 0:  # the least elements count
    unit = lax.full_like(unit, 1)
  p = scalar(ord, typeof(size).dtype)
  total = _total(lax.pow(lax.div(size, _spread_over(unit, size, axes)), p), axes)
  return lax.mul(unit, lax.pow(total, scalar(1 / ord, typeof(size).dtype)))


_power_of = custom_jvp(_power_value, nondiff_argnums=(1, 2))


def _power_norm(size: Any, ord: float, axes: Axes) -> Any:
  """The p-th root of the sum of p-th powers of numbers that are not negative."""
  return _power_of(size, ord, axes)


@_power_of.defjvp
def _(ord: float, axes: Axes, primals: Any, tangents: Any) -> Any:
  """Each element counts by the power p - 1 of its ratio to the norm."""
  (size,), (t,) = primals, tangents
  out = _power_of(size, ord, axes)
  ratio = _matrix.safe_divide(size, _spread_over(out, size, axes))
  weight = lax.pow(ratio, scalar(ord - 1, typeof(size).dtype))
  return out, reduce_sum(lax.mul(weight, t), axes)


# ---- matrices


def _matrix_norm(name: str, x: Any, ord: Order, axes: Axes) -> Any:
  row, column = axes
  if ord in (None, "fro"):
    return _length(x, axes)
  if ord in (1, -1, np.inf, -np.inf):
    summed, rest = (row, column) if ord in (1, -1) else (column, row)
    sums = _total(lax.abs(x), (summed,))
    left = (rest - (rest > summed),)
    if ord in (1, np.inf):
      return _largest(sums, left)
    return lax.reduce_min(_filled(name, sums, left), left)
  if ord in (2, -2, "nuc"):
    n = typeof(x).ndim
    rest_of = [d for d in range(n) if d not in axes]
    x = lax.transpose(x, (*rest_of, row, column))
    _matrix.check_numbers(f"linalg.{name}", typeof(x))
    s = lax.linalg.svd(x, full_matrices=False, compute_uv=False)
    last = (typeof(s).ndim - 1,)
    if ord == "nuc":
      return reduce_sum(s, last)
    return _largest(s, last) if ord == 2 else lax.reduce_min(_filled(name, s, last), last)
  raise ValueError(
      f"linalg.{name}: Invalid order {ord!r} for matrix norm. Expected None, 1, -1, 2, "
      "-2, infinity (numpy.inf), minus infinity, 'fro' or 'nuc'")
