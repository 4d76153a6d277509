"""Small steps that many functions share: checks of arguments, masks, rows by number."""

from __future__ import annotations

from collections.abc import Sequence
from operator import index
from typing import Any

import numpy as np

from gnomon import lax
from gnomon.core import dtypes
from gnomon.core.structural import broadcast_in_dim, convert, select_n
from gnomon.core.trace import Tracer
from gnomon.core.types import typeof
from gnomon.numpy._promotion import canonical_axes, check_arraylike

Shape = tuple[int, ...]


def arrays_of(name: str, *args: Any) -> list[Any]:
  """Arguments as arrays of this package; numbers keep their weak dtypes.

  Raises:
    TypeError: one is no array and no number.
  """
  check_arraylike(name, *args)
  return [array_of(x) for x in args]


def array_of(x: Any) -> Any:
  """A value that is known to be array-like as an array of this package."""
  if hasattr(type(x), "__jax_array__"):
    x = x.__jax_array__()
  aval = typeof(x)
  return convert(x, aval.dtype, aval.weak_type)


def one_array(name: str, x: Any) -> Any:
  """`arrays_of` for one argument."""
  check_arraylike(name, x)
  return array_of(x)


def refuse_out(name: str, out: Any) -> None:
  """Raises `NotImplementedError` if the argument `out` is given."""
  if out is not None:
    raise NotImplementedError(
        f"{name} does not support the argument 'out': arrays cannot be changed. Use the "
        "value that it returns")


def asked_dtype(dtype: Any, name: str) -> Any:
  """The canonical dtype of an argument `dtype`; None stays None."""
  if dtype is None:
    return None
  return dtypes.check_user_dtype_supported(dtype, name, stacklevel=4)


def sizes_of(name: str, shape: Any) -> Shape:
  """A shape given by the user, an integer or a sequence, as a tuple of integers.

  Raises:
    TypeError: it holds something that is no integer, or is traced.
  """
  try:
    if hasattr(shape, "__index__") and not getattr(shape, "shape", ()):
      return (index(shape),)
    return tuple([
        index(n) for n in (np.asarray(shape) if hasattr(shape, "dtype") else shape)])
  except TypeError as e:
    raise not_a_shape(name, shape) from e


def not_a_shape(name: str, shape: Any) -> TypeError:
  """The error for what is no shape."""
  found = f"{name}: Shapes must be 1D sequences of concrete values of integer type"
  traced = [x for x in (shape if isinstance(shape, (list, tuple)) else [shape])
            if isinstance(x, Tracer)]
  if traced:
    return TypeError(
        f"{found}, got {shape}: {traced[0].origin()}".rstrip() + "\nIf using `jit`, try "
        "using `static_argnums` or applying `jit` to smaller subfunctions.")
  return TypeError(f"{found}, or integers; got {shape!r}")


def is_kind(x: Any, kind: Any) -> bool:
  """Whether the dtype of a value is of a kind: `numpy.floating` and its like."""
  key = (typeof(x).dtype, kind)
  found = _kinds.get(key)
  if found is None:
    found = _kinds[key] = dtypes.issubdtype(*key)
  return found


_kinds: dict[Any, bool] = {}


def is_concrete(x: Any) -> bool:
  """Whether the value of an argument is known here and now."""
  return not isinstance(x, Tracer) or x.concrete() is not None


def concrete(name: str, what: str, x: Any, hint: str) -> Any:
  """A NumPy array of an argument whose value must be known.

  Raises:
    ConcretizationTypeError: it is traced; the message says what to do instead.
  """
  if isinstance(x, Tracer):
    value = x.concrete()
    if value is None:
      from gnomon.errors import ConcretizationTypeError
      raise ConcretizationTypeError(
          x,
          f"{name} needs the value of its argument {what}, which decides the shape of "
          f"the result. {hint}")
    x = value
  return np.asarray(x)


# ---- masks


def mask_of(name: str, where: Any, shape: Shape) -> Any:
  """The argument `where` as booleans of a shape.

  Raises:
    ValueError: it is not boolean, or does not broadcast to the shape.
  """
  (where,) = arrays_of(name, where)
  if typeof(where).dtype != np.bool_:
    raise ValueError(
        f"jnp.{name}: where must be None or a boolean array, got dtype "
        f"{typeof(where).dtype}; write where=mask != 0")
  return spread(name, where, shape)


def spread(name: str, x: Any, shape: Shape) -> Any:
  """Broadcasts by NumPy's rule to a shape.

  Raises:
    ValueError: it does not fit.
  """
  old = typeof(x).shape
  if old == shape:
    return x
  extra = len(shape) - len(old)
  if extra < 0 or any(m not in (1, n) for m, n in zip(old, shape[extra:])):
    raise ValueError(
        f"{name}: Incompatible shapes for broadcasting: {old} does not fit {shape}")
  return broadcast_in_dim(x, shape, tuple(range(extra, len(shape))))


def choose(mask: Any, x: Any, otherwise: Any) -> Any:
  """`x` where the mask holds, elsewhere a scalar or an array of the shape of `x`.

  `mask` has the shape of `x`, or is a scalar.
  """
  aval = typeof(x)
  if typeof(otherwise).shape == () and aval.shape:
    otherwise = lax.full(aval.shape, otherwise, aval.dtype)
  else:
    otherwise = convert(otherwise, aval.dtype, aval.weak_type)
  return select_n(mask, otherwise, x)


def is_nan(x: Any) -> Any:
  """Where a floating-point or complex array is NaN."""
  return lax.ne(x, x)


def typed(name: str, value: Any, dtype: Any) -> Any:
  """An argument with a dtype: numbers stay numbers, to be written into the program.

  Raises:
    TypeError: it is no array and no number.
  """
  if isinstance(value, (bool, int, float, complex, np.generic)):
    return scalar(value, dtype)
  return convert(one_array(name, value), dtype)


def scalar(value: Any, dtype: Any) -> Any:
  """A constant of a dtype, to be written into the program."""
  with np.errstate(all="ignore"):
    return np.asarray(value).astype(dtype)[()]


def promise_index(n: int) -> Any:
  """The dtype of indices into an axis of `n` elements."""
  return np.dtype(np.int64 if n > np.iinfo(np.int32).max else np.int32)


# ---- reductions' axes


def kept_shape(shape: Shape, axes: Sequence[int]) -> Shape:
  """The shape of a reduction that keeps its axes."""
  return tuple([1 if d in axes else n for d, n in enumerate(shape)])


def keep_axes(x: Any, shape: Shape, axes: Sequence[int]) -> Any:
  """Puts the axes that a reduction of `shape` removed back, of size 1."""
  kept = tuple([d for d in range(len(shape)) if d not in axes])
  return broadcast_in_dim(x, kept_shape(shape, axes), kept)


def flat_unless(name: str, x: Any, axis: Any) -> tuple[Any, int]:
  """The array and an axis; for the axis None the flattened array."""
  aval = typeof(x)
  if axis is None:
    return lax.reshape(x, (aval.size,)), 0
  return x, canonical_axes(index(axis), aval.ndim, name)[0]


# ---- rows by number


def take_rows(
    x: Any, rows: Any, axis: int, *, sorted_: bool = False, unique: bool = False) -> Any:
  """The parts of `x` along `axis` with these numbers, which must be in range."""
  aval, n = typeof(x), typeof(rows).ndim
  if not aval.shape[axis]:  # there are no rows, and no numbers of them
    return lax.full_like(
        x, 0, shape=(*aval.shape[:axis], *typeof(rows).shape, *aval.shape[axis + 1:]))
  before = tuple(range(axis))
  after = tuple(range(axis + n, aval.ndim - 1 + n))
  numbers = lax.GatherDimensionNumbers((*before, *after), (axis,), (axis,))
  shape = typeof(rows).shape
  at = broadcast_in_dim(rows, (*shape, 1), tuple(range(n)))
  sizes = tuple([1 if d == axis else m for d, m in enumerate(aval.shape)])
  return lax.gather(
      x, at, numbers, sizes, mode="promise_in_bounds", indices_are_sorted=sorted_,
      unique_indices=unique)


def take_along(x: Any, at: Any, axis: int) -> Any:
  """`x[..., at[..., j, ...], ...]`: one number an element, all of them in range."""
  aval = typeof(x)
  others = tuple([d for d in range(aval.ndim) if d != axis])
  shape = typeof(at).shape
  numbers = lax.GatherDimensionNumbers((), (axis,), (axis,), others, others)
  at = broadcast_in_dim(at, (*shape, 1), tuple(range(len(shape))))
  return lax.gather(x, at, numbers, (1,) * aval.ndim, mode="promise_in_bounds")
