"""Frequencies of the elements of a transform, and their order."""

from __future__ import annotations

from collections.abc import Sequence
from operator import index
from typing import Any

import numpy as np

from gnomon import lax
from gnomon.api.device import device_put
from gnomon.core import dtypes
from gnomon.core.structural import convert
from gnomon.core.types import typeof
from gnomon.numpy._arranging import roll
from gnomon.numpy._compiled import compiled
from gnomon.numpy._promotion import canonical_axes
from gnomon.numpy._values import asked_dtype, one_array

Axes = int | Sequence[int] | None


def fftfreq(n: int, d: Any = 1.0, *, dtype: Any = None, device: Any = None) -> Any:
  """The frequencies that belong to the elements of `fft`.

  Args:
    n: the number of elements.
    d: the distance between samples.
    dtype: the dtype of the result; by default float32, or float64 if that is enabled.
    device: where the result is to be.

  Returns:
    A vector of n numbers: 0, 1, …, then the negative ones, over `n * d`.

  >>> import gnomon.numpy as gnp
  >>> gnp.fft.fftfreq(4).tolist()
  [0.0, 0.25, -0.5, -0.25]

  Raises:
    ValueError: n is no integer, or d a sequence.
  """
  n = _count("fftfreq", n)
  _check_distance("fftfreq", d)
  dtype = _dtype("fftfreq", dtype)
  return _placed(_frequencies(d, n, (n + 1) // 2, n, dtype), device)


def rfftfreq(n: int, d: Any = 1.0, *, dtype: Any = None, device: Any = None) -> Any:
  """The frequencies that belong to the elements of `rfft`.

  Args:
    n: the number of real numbers that were transformed.
    d: the distance between samples.
    dtype: the dtype of the result; by default float32, or float64 if that is enabled.
    device: where the result is to be.

  Returns:
    A vector of `n // 2 + 1` numbers: 0, 1, …, over `n * d`.

  >>> import gnomon.numpy as gnp
  >>> gnp.fft.rfftfreq(4).tolist()
  [0.0, 0.25, 0.5]

  Raises:
    ValueError: n is no integer, or d a sequence.
  """
  n = _count("rfftfreq", n)
  _check_distance("rfftfreq", d)
  dtype = _dtype("rfftfreq", dtype)
  size = n // 2 + 1
  return _placed(_frequencies(d, size, size, n, dtype), device)


def _placed(x: Any, device: Any) -> Any:
  return x if device is None else device_put(x, device)


def _count(name: str, n: Any) -> int:
  if not hasattr(n, "__index__") and not isinstance(n, float):
    raise ValueError(
        f"The n argument of jax.numpy.fft.{name} only takes an int. Got n = {n!r}.")
  return index(n) if hasattr(n, "__index__") else int(n)


def _check_distance(name: str, d: Any) -> None:
  if isinstance(d, (list, tuple)):
    raise ValueError(  # noqa: TRY004 - as other shapes of d
        f"The d argument of jax.numpy.fft.{name} only takes a single value. Got d = {d}.")


def _dtype(name: str, dtype: Any) -> Any:
  dtype = asked_dtype(dtype, f"fft.{name}")
  return dtypes.canonicalize_dtype(np.float64) if dtype is None else dtype


@compiled(static=("size", "positive", "n", "dtype"))
def _frequencies(d: Any, size: int, positive: int, n: int, dtype: Any) -> Any:
  """The numbers 0, 1, …, which begin again from below after so many, over `n * d`."""
  size = max(size, 0)
  step = convert(one_array("fft.fftfreq", d), dtype)
  if typeof(step).ndim:
    raise TypeError(f"fft.fftfreq: the distance d must be a scalar, got {typeof(step)}")
  places = lax.iota(np.int32, size)
  if positive < size:
    negative = lax.sub(places, np.int32(n))
    places = lax.select(lax.lt(places, np.int32(positive)), places, negative)
  return lax.div(convert(places, dtype), lax.mul(step, np.asarray(n, dtype)[()]))


@compiled(static=("axes",))
def fftshift(x: Any, axes: Axes = None) -> Any:
  """Moves the frequency 0 to the middle.

  Args:
    x: an array, in the order of `fft`.
    axes: along which axes; None for all.

  >>> import gnomon.numpy as gnp
  >>> gnp.fft.fftshift(gnp.fft.fftfreq(4)).tolist()
  [-0.5, -0.25, 0.0, 0.25]

  Raises:
    ValueError: an axis is out of range.
    TypeError: `x` is no array.
  """
  return _shifted("fftshift", x, axes, 1)


@compiled(static=("axes",))
def ifftshift(x: Any, axes: Axes = None) -> Any:
  """Undoes `fftshift`, also for odd sizes.

  Args:
    x: an array, with the frequency 0 in the middle.
    axes: along which axes; None for all.

  >>> import gnomon.numpy as gnp
  >>> gnp.fft.ifftshift(gnp.array([-1, 0, 1])).tolist()
  [0, 1, -1]

  Raises:
    ValueError: an axis is out of range.
    TypeError: `x` is no array.
  """
  return _shifted("ifftshift", x, axes, -1)


def _shifted(name: str, x: Any, axes: Axes, sign: int) -> Any:
  x = one_array(f"fft.{name}", x)
  shape = typeof(x).shape
  places = canonical_axes(axes, len(shape), f"fft.{name}")
  steps = [shape[d] // 2 if sign > 0 else -(shape[d] // 2) for d in places]
  return roll(x, tuple(steps), places) if places else x
