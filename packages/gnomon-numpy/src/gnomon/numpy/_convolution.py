"""Convolution and correlation of vectors."""

from __future__ import annotations

from typing import Any

import numpy as np

from gnomon import lax
from gnomon.core.structural import convert
from gnomon.core.types import typeof
from gnomon.numpy._compiled import compiled
from gnomon.numpy._contraction import KEYWORDS, Options
from gnomon.numpy._promotion import promote_dtypes, promote_dtypes_inexact
from gnomon.numpy._values import array_of, arrays_of, is_kind


def _checked(name: str, a: Any, v: Any, mode: str, preferred: Any) -> list[Any]:
  if mode not in ("full", "same", "valid"):
    raise ValueError(
        f"{name}: mode must be one of ['full', 'same', 'valid'], got {mode!r}")
  xs = arrays_of(name, a, v)
  shapes = [typeof(x).shape for x in xs]
  if any(len(s) != 1 for s in shapes):
    raise ValueError(
        f"{name}() only support 1-dimensional inputs, got the shapes {shapes[0]} and "
        f"{shapes[1]}")
  if any(not s[0] for s in shapes):
    raise ValueError(
        f"{name}: inputs cannot be empty, got shapes {shapes[0]} and {shapes[1]}")
  # Integers stay as they are where the dtype of their sums is asked for.
  promote = promote_dtypes_inexact if preferred is None else promote_dtypes
  return [array_of(x) for x in promote(*xs)]


def _range(n: int, m: int, mode: str) -> tuple[int, int]:
  """The first and the last place, of those of mode "full", that a mode gives."""
  if mode == "full":
    return 0, n + m - 1
  if mode == "valid":
    return m - 1, n
  start = (m - 1) // 2
  return start, start + n


def _convolve(x: Any, kernel: Any, mode: str, options: Options) -> Any:
  """The sums of `x[i - j] kernel[j]`, for a kernel not longer than `x`."""
  out = _sums(x, kernel, mode, options)
  weak = typeof(x).weak_type and options.preferred_element_type is None
  return convert(out, typeof(out).dtype, weak)


def _sums(x: Any, kernel: Any, mode: str, options: Options) -> Any:
  n, m = typeof(x).shape[0], typeof(kernel).shape[0]
  start, stop = _range(n, m, mode)
  reverse = lax.rev(kernel, (0,)) if m > 1 else kernel
  out = lax.conv_general_dilated(
      lax.expand_dims(x, (0, 1)), lax.expand_dims(reverse, (0, 1)), (1,),
      [(m - 1 - start, stop - n)], precision=options.precision,
      preferred_element_type=options.preferred_element_type)
  return lax.squeeze(out, (0, 1))


@compiled(static=("mode", *KEYWORDS))
def convolve(
    a: Any, v: Any, mode: str = "full", *, precision: Any = None,
    preferred_element_type: Any = None) -> Any:
  """The convolution of two vectors: coefficients of the product of polynomials.

  Args:
    a: a vector; integers are converted to floats, unless `preferred_element_type` is
      given.
    v: the same.
    mode: `"full"` for all sums, `"same"` for as many as the longer vector has elements,
      from the middle, `"valid"` for those in which the vectors overlap completely.
    precision: how exactly accelerators multiply; see `gnomon.lax.Precision`.
    preferred_element_type: the dtype of sums and of the result.

  >>> import gnomon.numpy as gnp
  >>> gnp.convolve(gnp.array([1.0, 2.0]), gnp.array([1.0, 3.0])).tolist()
  [1.0, 5.0, 6.0]

  Raises:
    TypeError: an argument is no array.
    ValueError: an argument is no vector, or empty, or the mode is unknown.
  """
  x, y = _checked("convolve", a, v, mode, preferred_element_type)
  if typeof(x).shape[0] < typeof(y).shape[0]:
    x, y = y, x
  return _convolve(x, y, mode, Options(precision, preferred_element_type))


@compiled(static=("mode", *KEYWORDS))
def correlate(
    a: Any, v: Any, mode: str = "valid", *, precision: Any = None,
    preferred_element_type: Any = None) -> Any:
  """The correlation of two vectors: sums of products, one of them shifted.

  Args:
    a: a vector; integers are converted to floats, and `v` is conjugated.
    v: the same.
    mode: as for `convolve`.
    precision: how exactly accelerators multiply; see `gnomon.lax.Precision`.
    preferred_element_type: the dtype of sums and of the result.

  >>> import gnomon.numpy as gnp
  >>> gnp.correlate(gnp.array([1.0, 2.0, 3.0]), gnp.array([1.0, 1.0])).tolist()
  [3.0, 5.0]

  Raises:
    TypeError: an argument is no array.
    ValueError: an argument is no vector, or empty, or the mode is unknown.
  """
  x, y = _checked("correlate", a, v, mode, preferred_element_type)
  if is_kind(y, np.complexfloating):
    y = lax.conj(y)
  options = Options(precision, preferred_element_type)
  if typeof(x).shape[0] >= typeof(y).shape[0]:
    return _convolve(x, lax.rev(y, (0,)), mode, options)
  # Correlating the other way round gives the same sums in reverse order.
  return lax.rev(_convolve(y, lax.rev(x, (0,)), mode, options), (0,))
