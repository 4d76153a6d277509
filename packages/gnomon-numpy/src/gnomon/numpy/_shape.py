"""Shapes of arrays: other ones, axes in another order, broadcasting."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from operator import index
from typing import Any

import numpy as np

from gnomon import lax
from gnomon.core.structural import broadcast_in_dim
from gnomon.core.trace import EVAL, get_current
from gnomon.core.types import typeof
from gnomon.numpy import _promotion
from gnomon.numpy._compiled import compiled, freeze
from gnomon.numpy._conversion import asarray
from gnomon.numpy._promotion import canonical_axes, canonical_axis, check_arraylike
from gnomon.numpy._values import Shape, arrays_of, one_array, sizes_of, spread
from gnomon.runtime.jaxlib import arrays

Array = arrays.Array

# ---- questions


def ndim(a: Any) -> int:
  """How many dimensions an array has.

  >>> import gnomon.numpy as gnp
  >>> gnp.ndim(gnp.zeros((2, 3)))
  2

  What is no array and no number has none, with a `DeprecationWarning`.
  """
  return len(_shape_of("ndim", a))


def shape(a: Any) -> Shape:
  """The shape of an array, one size a dimension.

  >>> import gnomon.numpy as gnp
  >>> gnp.shape(gnp.zeros((2, 3)))
  (2, 3)

  That of what is no array and no number is (), with a `DeprecationWarning`.
  """
  return _shape_of("shape", a)


def _shape_of(name: str, a: Any) -> Shape:
  try:
    check_arraylike(name, a)
  except TypeError as e:
    warnings.warn(
        f"{str(e).rstrip('.')}: make an array of it first, since this will be an error",
        DeprecationWarning, stacklevel=3)
    if not isinstance(a, (list, tuple)):
      return np.shape(a)  # as JAX does: () of None, of a string, of any object
    a = asarray(a)
  sizes: Shape = typeof(a).shape
  return sizes


def size(a: Any, axis: int | Sequence[int] | None = None) -> int:
  """How many elements an array has, in all or along axes.

  Args:
    a: an array or number.
    axis: an axis, or several whose sizes are multiplied; None for all of them.

  >>> import gnomon.numpy as gnp
  >>> gnp.size(gnp.zeros((2, 3))), gnp.size(gnp.zeros((2, 3)), 1)
  (6, 3)

  Raises:
    ValueError: an axis is out of range or repeated.
  """
  sizes, out = _shape_of("size", a), 1
  for d in canonical_axes(freeze(axis), len(sizes), "size"):
    out *= sizes[d]
  return out


# ---- new shapes


def reshape(
    a: Any, shape: Any, order: str = "C", *, copy: bool | None = None,
    out_sharding: Any = None) -> Any:
  """The same elements in another shape.

  Args:
    a: an array or number.
    shape: the sizes, or one integer; one size may be -1, for what is left.
    order: "C" to read and write the last axis fastest, "F" for the first.
    copy: False asks for no copy, True for one: arrays never change, both give the same.
    out_sharding: how the result is laid out over devices; None without a mesh.

  >>> import gnomon.numpy as gnp
  >>> gnp.reshape(gnp.arange(6), (2, -1)).tolist()
  [[0, 1, 2], [3, 4, 5]]

  Raises:
    TypeError: the sizes do not hold all the elements, or are no integers known now.
    NotImplementedError: `order` is "A", which asks for the layout in memory.
    ValueError: `order` is unknown.
  """
  if type(shape) is not tuple:
    shape = sizes_of("reshape", shape)
  if type(a) is Array and len(shape) == a.ndim and (
      order == "C" and not copy and out_sharding is None
      and sizes_of("reshape", shape) == a.aval.shape):
    return a
  return _reshape(a, shape, order, out_sharding)


@compiled(static=("shape", "order", "out_sharding"))
def _reshape(a: Any, shape: Shape, order: str, out_sharding: Any) -> Any:
  a = one_array("reshape", a)
  old = typeof(a)
  new = _complete(old, sizes_of("reshape", shape))
  if order == "C":
    return lax.reshape(a, new, out_sharding=out_sharding)
  _check_order("reshape", order)
  turned = lax.reshape(a, new[::-1], tuple(range(old.ndim))[::-1])
  return lax.transpose(turned, tuple(range(len(new)))[::-1])


def _check_order(name: str, order: str) -> None:
  if order == "F":
    return
  if order in ("A", "K"):
    raise NotImplementedError(
        f"{name} does not support order={order!r}: an array says nothing of its layout "
        "in memory. Take 'C' or 'F'")
  raise ValueError(f"{name}: order must be 'C' or 'F', got {order!r}")


def _complete(x: Any, sizes: Shape) -> Shape:
  """Replaces the size -1 by what is left, and checks the sizes."""
  unknown = [i for i, n in enumerate(sizes) if n == -1]
  known = 1
  for n in sizes:
    known *= n if n != -1 else 1
  if len(unknown) > 1:
    raise TypeError(f"reshape can find one size marked by -1, not several: got {sizes}")
  if any(n < -1 for n in sizes):
    raise TypeError(f"reshape needs sizes that are not negative, or one -1: got {sizes}")
  fits = x.size == known if not unknown else known and x.size % known == 0
  if not fits:
    raise TypeError(
        f"cannot reshape array of shape {x.shape} (size {x.size}) into shape {sizes}: "
        + (f"{known} does not divide {x.size}" if unknown and known else
           "the size -1 could be anything" if unknown else f"it holds {known} elements"))
  if not unknown:
    return sizes
  i = unknown[0]
  return (*sizes[:i], x.size // known, *sizes[i + 1:])


def ravel(a: Any, order: str = "C", *, out_sharding: Any = None) -> Any:
  """The elements in one dimension.

  Args:
    a: an array or number. One of one dimension is itself the result.
    order: "C" to read the last axis fastest, "F" for the first.
    out_sharding: how the result is laid out over devices; None without a mesh.

  >>> import gnomon.numpy as gnp
  >>> gnp.ravel(gnp.eye(2)).tolist()
  [1.0, 0.0, 0.0, 1.0]

  Raises:
    TypeError: `a` is no array and no number.
    NotImplementedError: `order` is "A" or "K", which ask for the layout in memory.
  """
  if type(a) is Array and order == "C" and out_sharding is None:
    if len(a.aval.shape) == 1:
      return a
    if get_current() is EVAL:
      return _run_ravel(a)
  return _ravel(a, order, out_sharding)


@compiled(static=("order", "out_sharding"))
def _ravel(a: Any, order: str = "C", out_sharding: Any = None) -> Any:
  a = one_array("ravel", a)
  aval = typeof(a)
  if order == "C":
    return lax.reshape(a, (aval.size,), out_sharding=out_sharding)
  _check_order("ravel", order)
  return lax.reshape(a, (aval.size,), tuple(range(aval.ndim))[::-1])


_run_ravel = _ravel.program  # type: ignore[attr-defined]


@compiled(static=("axis",))
def expand_dims(a: Any, axis: int | Sequence[int]) -> Any:
  """Inserts axes of size 1.

  Args:
    a: an array or number.
    axis: where they stand in the result; negative ones count from its end.

  >>> import gnomon.numpy as gnp
  >>> gnp.expand_dims(gnp.zeros((2, 3)), (0, -1)).shape
  (1, 2, 3, 1)

  Raises:
    ValueError: an axis is out of range or repeated.
  """
  a = one_array("expand_dims", a)
  old = typeof(a).shape
  count = 1 if hasattr(axis, "__index__") else len(axis)
  rank = len(old) + count
  new = canonical_axes(axis, rank, "expand_dims")
  kept = tuple([d for d in range(rank) if d not in new])
  sizes, rest = [], iter(old)
  for d in range(rank):
    sizes.append(1 if d in new else next(rest))
  return broadcast_in_dim(a, tuple(sizes), kept)


@compiled(static=("axis",))
def squeeze(a: Any, axis: int | Sequence[int] | None = None) -> Any:
  """Removes axes of size 1.

  Args:
    a: an array or number.
    axis: which; None for all that have size 1.

  >>> import gnomon.numpy as gnp
  >>> gnp.squeeze(gnp.zeros((1, 3, 1))).shape
  (3,)

  Raises:
    ValueError: an axis is out of range, repeated, or not of size 1.
  """
  a = one_array("squeeze", a)
  old = typeof(a).shape
  if axis is None:
    axes = tuple([d for d, n in enumerate(old) if n == 1])
  else:
    axes = canonical_axes(axis, len(old), "squeeze")
  return lax.squeeze(a, axes)


# ---- axes in another order


def transpose(a: Any, axes: Sequence[int] | None = None) -> Any:
  """Axes in another order.

  Args:
    a: an array or number.
    axes: for each axis of the result the axis of `a`; None reverses them.

  >>> import gnomon.numpy as gnp
  >>> gnp.transpose(gnp.zeros((2, 3, 4)), (1, 0, 2)).shape
  (3, 2, 4)

  Raises:
    ValueError: an axis is out of range or repeated.
    TypeError: an axis is missing.
  """
  if type(a) is Array and axes is None and len(a.aval.shape) < 2:
    return a
  return _transpose(a, axes)


@compiled(static=("axes",))
def _transpose(a: Any, axes: Sequence[int] | None) -> Any:
  a = one_array("transpose", a)
  n = typeof(a).ndim
  order = tuple(range(n))[::-1] if axes is None else canonical_axes(axes, n, "transpose")
  return lax.transpose(a, order)


@compiled(static=("axes",))
def permute_dims(a: Any, /, axes: Sequence[int]) -> Any:
  """Axes in another order: `transpose` by the name of the array API standard.

  Args:
    a: an array or number.
    axes: for each axis of the result the axis of `a`.

  >>> import gnomon.numpy as gnp
  >>> gnp.permute_dims(gnp.zeros((2, 3, 4)), (1, 0, 2)).shape
  (3, 2, 4)

  Raises:
    ValueError: an axis is out of range or repeated.
    TypeError: an axis is missing.
  """
  a = one_array("permute_dims", a)
  return lax.transpose(a, canonical_axes(axes, typeof(a).ndim, "permute_dims"))


@compiled()
def matrix_transpose(x: Any, /) -> Any:
  """Swaps the last two axes.

  Args:
    x: an array of at least two dimensions.

  >>> import gnomon.numpy as gnp
  >>> gnp.matrix_transpose(gnp.zeros((2, 3, 4))).shape
  (2, 4, 3)

  Raises:
    ValueError: `x` has fewer dimensions.
  """
  x = one_array("matrix_transpose", x)
  n = typeof(x).ndim
  if n < 2:
    raise ValueError(
        "matrix_transpose needs at least two-dimensional x, got the shape "
        f"{typeof(x).shape}")
  return lax.transpose(x, (*range(n - 2), n - 1, n - 2))


@compiled(static=("axis1", "axis2"))
def swapaxes(a: Any, axis1: int, axis2: int) -> Any:
  """Exchanges two axes.

  >>> import gnomon.numpy as gnp
  >>> gnp.swapaxes(gnp.zeros((2, 3, 4)), 0, 2).shape
  (4, 3, 2)

  Raises:
    ValueError: an axis is out of range.
  """
  a = one_array("swapaxes", a)
  order = list(range(typeof(a).ndim))
  i = canonical_axis(axis1, len(order), "swapaxes")
  j = canonical_axis(axis2, len(order), "swapaxes")
  order[i], order[j] = order[j], order[i]
  return lax.transpose(a, tuple(order))


@compiled(static=("source", "destination"))
def moveaxis(
    a: Any, source: int | Sequence[int], destination: int | Sequence[int]) -> Any:
  """Moves axes to other places; those not named keep their order.

  Args:
    a: an array or number.
    source: which axes.
    destination: where they stand in the result, one an axis.

  >>> import gnomon.numpy as gnp
  >>> gnp.moveaxis(gnp.zeros((2, 3, 4)), 0, -1).shape
  (3, 4, 2)

  Raises:
    ValueError: an axis is out of range or repeated, or the numbers of axes differ.
  """
  a = one_array("moveaxis", a)
  n = typeof(a).ndim
  old = canonical_axes(source, n, "moveaxis")
  new = canonical_axes(destination, n, "moveaxis")
  if len(old) != len(new):
    raise ValueError(
        f"moveaxis needs as many entries of source as of destination, got {len(old)} and "
        f"{len(new)}: {source} and {destination}")
  order = [d for d in range(n) if d not in old]
  for where, d in sorted(zip(new, old)):
    order.insert(where, d)
  return lax.transpose(a, tuple(order))


@compiled(static=("axis", "start"))
def rollaxis(a: Any, axis: int, start: int = 0) -> Any:
  """Moves an axis before another one. `moveaxis` is easier to read.

  Args:
    a: an array or number.
    axis: the axis to move.
    start: the axis before which it comes, as they are numbered in `a`; `a.ndim` for the
      end.

  >>> import gnomon.numpy as gnp
  >>> gnp.rollaxis(gnp.zeros((2, 3, 4)), 2).shape
  (4, 2, 3)

  Raises:
    ValueError: an axis is out of range.
  """
  a = one_array("rollaxis", a)
  n = typeof(a).ndim
  d = canonical_axis(axis, n, "rollaxis")
  start = index(start)
  if not -n <= start <= n:
    raise ValueError(f"rollaxis: start must be in [{-n}, {n}], got {start}")
  start = start + n if start < 0 else start
  order = [e for e in range(n) if e != d]
  order.insert(start - (d < start), d)
  return lax.transpose(a, tuple(order))


# ---- at least so many dimensions


def _at_least(rank: int, arys: tuple[Any, ...]) -> Any:
  name = f"atleast_{rank}d"
  out = [_grow(x, rank) for x in arrays_of(name, *arys)]
  return out[0] if len(arys) == 1 else out


def _grow(x: Any, rank: int) -> Any:
  """An array of at least `rank` dimensions; for 3, a vector comes in the middle."""
  old = typeof(x).shape
  n = len(old)
  if n >= rank:
    return x
  before = rank - n if rank < 3 or n == 0 else 2 - n
  sizes = (*(1,) * before, *old, *(1,) * (rank - n - before))
  return broadcast_in_dim(x, sizes, tuple(range(before, before + n)))


@compiled()
def atleast_1d(*arys: Any) -> Any:
  """Arrays with at least one dimension.

  Args:
    arys: arrays or numbers; of one, the array is given, of several a list.

  >>> import gnomon.numpy as gnp
  >>> gnp.atleast_1d(3.0).shape
  (1,)

  Raises:
    TypeError: an argument is no array and no number.
  """
  return _at_least(1, arys)


@compiled()
def atleast_2d(*arys: Any) -> Any:
  """Arrays with at least two dimensions: new axes come first.

  Args:
    arys: arrays or numbers; of one, the array is given, of several a list.

  >>> import gnomon.numpy as gnp
  >>> gnp.atleast_2d(gnp.arange(3)).shape
  (1, 3)

  Raises:
    TypeError: an argument is no array and no number.
  """
  return _at_least(2, arys)


@compiled()
def atleast_3d(*arys: Any) -> Any:
  """Arrays with at least three dimensions.

  A vector gets axes on both sides, a matrix one at the end.

  Args:
    arys: arrays or numbers; of one, the array is given, of several a list.

  >>> import gnomon.numpy as gnp
  >>> gnp.atleast_3d(gnp.arange(3)).shape
  (1, 3, 1)

  Raises:
    TypeError: an argument is no array and no number.
  """
  return _at_least(3, arys)


# ---- broadcasting


def broadcast_shapes(*shapes: Any) -> Shape:
  """The shape that arrays of these shapes have together, by NumPy's rule.

  Args:
    shapes: sequences of sizes, or integers.

  >>> import gnomon.numpy as gnp
  >>> gnp.broadcast_shapes((2, 1), 3)
  (2, 3)

  Raises:
    ValueError: sizes differ and none of them is 1.
  """
  sizes = [sizes_of("broadcast_shapes", s) for s in shapes]
  return _promotion.broadcast_shapes("broadcast_shapes", *sizes)


def broadcast_to(array: Any, shape: Any, *, out_sharding: Any = None) -> Any:
  """Repeats an array along axes of size 1, and along new ones before its own.

  Args:
    array: an array or number.
    shape: the sizes of the result.
    out_sharding: how the result is laid out over devices; None without a mesh.

  >>> import gnomon.numpy as gnp
  >>> gnp.broadcast_to(gnp.arange(3), (2, 3)).tolist()
  [[0, 1, 2], [0, 1, 2]]

  Raises:
    ValueError: the shape has fewer dimensions than `array`, or sizes do not fit.
  """
  sizes = sizes_of("broadcast_to", shape)
  if type(array) is Array and array.aval.shape == sizes and out_sharding is None:
    return array
  return _broadcast_to(array, sizes, out_sharding)


@compiled(static=("shape", "out_sharding"))
def _broadcast_to(array: Any, shape: Shape, out_sharding: Any) -> Any:
  array = one_array("broadcast_to", array)
  old = typeof(array).shape
  if len(shape) < len(old):
    raise ValueError(
        f"broadcast_to: Cannot broadcast to shape with fewer dimensions: the shape {old} "
        f"of the array has {len(old)}, {shape} has {len(shape)}")
  return spread("broadcast_to", array, shape)


@compiled()
def broadcast_arrays(*args: Any) -> list[Any]:
  """Arrays of one common shape.

  Args:
    args: arrays or numbers.

  >>> import gnomon.numpy as gnp
  >>> [x.shape for x in gnp.broadcast_arrays(gnp.zeros((2, 1)), gnp.arange(3))]
  [(2, 3), (2, 3)]

  Raises:
    ValueError: the shapes cannot be broadcast.
  """
  arrays = arrays_of("broadcast_arrays", *args)
  common = _promotion.broadcast_shapes(
      "broadcast_arrays", *[typeof(x).shape for x in arrays])
  return [spread("broadcast_arrays", x, common) for x in arrays]
