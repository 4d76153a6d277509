"""Elementwise functions of NumPy: comparisons, the larger and the smaller."""

from __future__ import annotations

from typing import Any

import numpy as np

from gnomon import lax
from gnomon.core.structural import select_n
from gnomon.numpy._arithmetic import same_shape
from gnomon.numpy._compiled import compiled
from gnomon.numpy._promotion import check_arraylike, promote_args
from gnomon.numpy._values import is_kind


@compiled()
def equal(x: Any, y: Any, /) -> Any:
  """Whether elements are equal. `==` on arrays.

  Args:
    x: array or number.
    y: array or number; shapes are broadcast, dtypes promoted.

  >>> import gnomon.numpy as gnp
  >>> gnp.equal(2, 2.0).item()
  True

  Raises:
    TypeError: an argument is no array and no number.
    ValueError: the shapes cannot be broadcast.
  """
  return lax.eq(*promote_args("equal", x, y))


@compiled()
def not_equal(x: Any, y: Any, /) -> Any:
  """Whether elements differ. `!=` on arrays.

  Args:
    x: array or number.
    y: array or number; shapes are broadcast, dtypes promoted.

  >>> import gnomon.numpy as gnp
  >>> gnp.not_equal(2, 2.0).item()
  False

  Raises:
    TypeError: an argument is no array and no number.
    ValueError: the shapes cannot be broadcast.
  """
  return lax.ne(*promote_args("not_equal", x, y))


def _ordered(name: str, real: Any, x: Any, y: Any) -> Any:
  """Compares; complex numbers by their real parts first, then by the imaginary ones."""
  x, y = promote_args(name, x, y)
  if not is_kind(x, np.complexfloating):
    return real(x, y)
  strict = lax.lt if real in (lax.lt, lax.le) else lax.gt
  first, second = lax.real(x), lax.real(y)
  tie = lax.eq(first, second)
  first, second = strict(first, second), real(lax.imag(x), lax.imag(y))
  return select_n(tie, first, second)


@compiled()
def less(x: Any, y: Any, /) -> Any:
  """Whether elements of `x` are less than those of `y`. `<` on arrays.

  Complex numbers are ordered by their real parts, then by their imaginary parts.

  Args:
    x: array or number.
    y: array or number; shapes are broadcast, dtypes promoted.

  >>> import gnomon.numpy as gnp
  >>> gnp.less(1, 2.0).item()
  True

  Raises:
    TypeError: an argument is no array and no number.
    ValueError: the shapes cannot be broadcast.
  """
  return _ordered("less", lax.lt, x, y)


@compiled()
def less_equal(x: Any, y: Any, /) -> Any:
  """Whether elements of `x` are less than or equal to those of `y`. `<=` on arrays.

  Complex numbers are ordered by their real parts, then by their imaginary parts.

  Args:
    x: array or number.
    y: array or number; shapes are broadcast, dtypes promoted.

  >>> import gnomon.numpy as gnp
  >>> gnp.less_equal(2, 2.0).item()
  True

  Raises:
    TypeError: an argument is no array and no number.
    ValueError: the shapes cannot be broadcast.
  """
  return _ordered("less_equal", lax.le, x, y)


@compiled()
def greater(x: Any, y: Any, /) -> Any:
  """Whether elements of `x` are greater than those of `y`. `>` on arrays.

  Complex numbers are ordered by their real parts, then by their imaginary parts.

  Args:
    x: array or number.
    y: array or number; shapes are broadcast, dtypes promoted.

  >>> import gnomon.numpy as gnp
  >>> gnp.greater(1, 2.0).item()
  False

  Raises:
    TypeError: an argument is no array and no number.
    ValueError: the shapes cannot be broadcast.
  """
  return _ordered("greater", lax.gt, x, y)


@compiled()
def greater_equal(x: Any, y: Any, /) -> Any:
  """Whether elements of `x` are greater than or equal to those of `y`. `>=` on arrays.

  Complex numbers are ordered by their real parts, then by their imaginary parts.

  Args:
    x: array or number.
    y: array or number; shapes are broadcast, dtypes promoted.

  >>> import gnomon.numpy as gnp
  >>> gnp.greater_equal(2, 2.0).item()
  True

  Raises:
    TypeError: an argument is no array and no number.
    ValueError: the shapes cannot be broadcast.
  """
  return _ordered("greater_equal", lax.ge, x, y)


@compiled()
def maximum(x: Any, y: Any, /) -> Any:
  """The larger of two elements; nan if either is.

  Complex numbers are ordered by their real parts, then by their imaginary parts.

  Args:
    x: array or number.
    y: array or number; shapes are broadcast, dtypes promoted.

  >>> import gnomon.numpy as gnp
  >>> gnp.maximum(1, 2.0).item()
  2.0

  Raises:
    TypeError: an argument is no array and no number.
    ValueError: the shapes cannot be broadcast.
  """
  return lax.max(*promote_args("maximum", x, y))


@compiled()
def minimum(x: Any, y: Any, /) -> Any:
  """The smaller of two elements; nan if either is.

  Complex numbers are ordered by their real parts, then by their imaginary parts.

  Args:
    x: array or number.
    y: array or number; shapes are broadcast, dtypes promoted.

  >>> import gnomon.numpy as gnp
  >>> gnp.minimum(1, 2.0).item()
  1.0

  Raises:
    TypeError: an argument is no array and no number.
    ValueError: the shapes cannot be broadcast.
  """
  return lax.min(*promote_args("minimum", x, y))


@compiled()
def fmax(x1: Any, x2: Any) -> Any:
  """The larger of two elements; where one is nan, the other.

  Args:
    x1: array or number.
    x2: array or number; shapes are broadcast, dtypes promoted.

  >>> import gnomon.numpy as gnp
  >>> gnp.fmax(gnp.nan, 2.0).item()
  2.0

  Raises:
    TypeError: an argument is no array and no number.
    ValueError: the shapes cannot be broadcast.
  """
  return _ignoring_nan("fmax", lax.gt, x1, x2)


@compiled()
def fmin(x1: Any, x2: Any) -> Any:
  """The smaller of two elements; where one is nan, the other.

  Args:
    x1: array or number.
    x2: array or number; shapes are broadcast, dtypes promoted.

  >>> import gnomon.numpy as gnp
  >>> gnp.fmin(gnp.nan, 2.0).item()
  2.0

  Raises:
    TypeError: an argument is no array and no number.
    ValueError: the shapes cannot be broadcast.
  """
  return _ignoring_nan("fmin", lax.lt, x1, x2)


def _ignoring_nan(name: str, better: Any, x: Any, y: Any) -> Any:
  x, y = same_shape(*promote_args(name, x, y))
  first = lax.bitwise_or(_ordered(name, better, x, y), lax.ne(y, y))
  return select_n(first, y, x)


@compiled()
def clip(arr: Any = None, /, min: Any = None, max: Any = None) -> Any:
  """Limits elements to a range: at least `min`, then at most `max`. A nan stays.

  Args:
    arr: array or number, not complex.
    min: array or number, or None for no limit.
    max: array or number, or None for no limit; shapes are broadcast.

  >>> import gnomon.numpy as gnp
  >>> gnp.clip(gnp.arange(5), 1, 3).tolist()
  [1, 1, 2, 3, 3]

  Raises:
    TypeError: an argument is no array and no number.
    ValueError: an argument is complex, there is no `arr`, or the shapes cannot be
      broadcast.
  """
  if arr is None:
    raise ValueError("clip needs an array as its first argument, got None")
  limits = [x for x in (min, max) if x is not None]
  check_arraylike("clip", arr, *limits)
  if any(is_kind(x, np.complexfloating) for x in (arr, *limits)):
    raise ValueError(
        "clip got a complex argument. Complex values have no ordering and cannot be "
        "clipped; clip their parts, x.real and x.imag")
  if min is not None:
    arr = lax.max(*promote_args("clip", min, arr))
  if max is not None:
    arr = lax.min(*promote_args("clip", max, arr))
  (arr,) = promote_args("clip", arr)
  return arr
