"""One-hot vectors of indices."""

from __future__ import annotations

from operator import index
from typing import Any

import numpy as np

import gnomon.numpy as gnp
from gnomon import lax
from gnomon.core import dtypes
from gnomon.core.trace import Tracer
from gnomon.core.types import typeof
from gnomon.nn._program import program


def one_hot(x: Any, num_classes: int, *, dtype: Any = None, axis: Any = -1) -> Any:
  """Vectors that are 1 at an index and 0 elsewhere.

  Args:
    x: integers, an array or nested lists; one outside of [0, `num_classes`) gives zeros.
    num_classes: the size of the vectors.
    dtype: the dtype of the result; None: the default float.
    axis: the axis of the result along which they lie; or the name of a mapped axis of
      size `num_classes`, each of whose instances gets one element of each vector.

  >>> from gnomon import nn
  >>> nn.one_hot([2, 0], 3).tolist()
  [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]

  Raises:
    TypeError: `x` is not made of numbers, or `num_classes` is no integer.
    ConcretizationTypeError: `num_classes` is traced.
    ValueError: `num_classes` is negative, `axis` is out of bounds, or a named axis has
      another size.
  """
  if isinstance(num_classes, Tracer):
    num_classes = _known(num_classes)
  num_classes = index(num_classes)
  if num_classes < 0:
    raise ValueError(f"one_hot: num_classes must not be negative, got {num_classes}")
  x = gnp.asarray(x)
  aval = typeof(x)
  if aval.dtype == np.bool_:
    raise TypeError("one_hot: x must hold indices, got booleans; make them integers")
  if not dtypes.issubdtype(aval.dtype, np.integer):
    import warnings  # only where there is something to warn of
    warnings.warn(
        f"jax.nn.one_hot input should be integer-typed; got dtype={aval.dtype}",
        DeprecationWarning, stacklevel=2)
  dtype = dtypes.check_user_dtype_supported(float if dtype is None else dtype, "one_hot")
  if hasattr(axis, "__index__"):
    at = index(axis)
    if not -aval.ndim - 1 <= at <= aval.ndim:
      raise ValueError(
          f"one_hot: axis {at} is out of bounds for a result of {aval.ndim + 1} axes")
    return _one_hot(x, num_classes=num_classes, dtype=dtype, axis=at % (aval.ndim + 1))
  size = lax.axis_size(axis)
  if size != num_classes:
    raise ValueError(
        f"one_hot: the axis named {axis!r} must have num_classes = {num_classes} "
        f"instances, it has {size}")
  return gnp.asarray(x == lax.axis_index(axis), dtype)


def _known(num_classes: Tracer) -> Any:
  value = num_classes.concrete()
  if value is None:
    from gnomon.errors import ConcretizationTypeError
    raise ConcretizationTypeError(
        num_classes,
        "The error arose in jax.nn.one_hot argument `num_classes`, which is the size of "
        "the result: pass it as a static argument of jit.")
  return value


@program("num_classes", "dtype", "axis")
def _one_hot(x: Any, *, num_classes: int, dtype: Any, axis: int) -> Any:
  aval = typeof(x)
  kind = aval.dtype
  if dtypes.issubdtype(kind, np.integer) and (
      num_classes - 1 > dtypes.iinfo(kind).max):
    kind = np.dtype(np.int32)  # the numbers of the classes would wrap around
    x = lax.convert_element_type(x, kind)
  shape = [1] * (aval.ndim + 1)
  shape[axis] = num_classes
  classes = lax.broadcasted_iota(kind, tuple(shape), axis)
  return lax.convert_element_type(gnp.expand_dims(x, axis) == classes, dtype)
