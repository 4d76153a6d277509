"""Discrete cosine transforms."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from operator import index
from typing import Any

import numpy as np

import gnomon.numpy as gnp
from gnomon import lax
from gnomon.core import dtypes
from gnomon.numpy._compiled import compiled
from gnomon.numpy._promotion import canonical_axes, canonical_axis
from gnomon.numpy._values import is_kind, one_array

_NORMS = (None, "backward", "ortho", "forward")
_INVERSES = {1: 1, 2: 3, 3: 2, 4: 4}


@compiled(static=("type", "n", "axis", "norm"))
def dct(x: Any, type: int = 2, n: int | None = None, axis: int = -1,
        norm: str | None = None) -> Any:
  r"""The discrete cosine transform along an axis.

  Of N numbers, by the type:

  1. :math:`x_0 + (-1)^k x_{N-1} + 2 \sum_{n=1}^{N-2} x_n \cos \frac{\pi k n}{N - 1}`
  2. :math:`2 \sum_n x_n \cos \frac{\pi k (2 n + 1)}{2 N}`
  3. :math:`x_0 + 2 \sum_{n \ge 1} x_n \cos \frac{\pi (2 k + 1) n}{2 N}`
  4. :math:`2 \sum_n x_n \cos \frac{\pi (2 k + 1) (2 n + 1)}{4 N}`

  Args:
    x: an array; of complex numbers, both parts are transformed.
    type: 1, 2, 3 or 4; 1 needs at least two numbers.
    n: how many numbers to transform: the axis is cut, or zeros are appended.
    axis: along which to transform.
    norm: None or 'backward', as above; 'forward', divided by 2 N, for the type 1 by
      2 (N - 1); 'ortho', by the square root of that, and with other weights of the first
      number, for the type 1 of the last too, so that the transform is orthogonal.

  Returns:
    An array of floating-point or complex numbers, with `n` elements along the axis.

  >>> from gnomon import numpy as gnp
  >>> from gnomon.scipy import fft
  >>> fft.dct(gnp.array([1.0, 1.0])).tolist()
  [4.0, 0.0]

  Raises:
    TypeError: `x` is no array.
    ValueError: the axis, the type or the norm does not exist, or there are no numbers.
  """
  x = _prepared("dct", x)
  return _along("dct", x, canonical_axis(axis, x.ndim, "fft.dct"), n, type, norm)


@compiled(static=("type", "n", "axis", "norm"))
def idct(x: Any, type: int = 2, n: int | None = None, axis: int = -1,
         norm: str | None = None) -> Any:
  """The inverse of the discrete cosine transform along an axis.

  Args:
    x: an array; of complex numbers, both parts are transformed.
    type: of the transform to invert, see `dct`.
    n: how many numbers to transform: the axis is cut, or zeros are appended.
    axis: along which to transform.
    norm: that of the transform to invert.

  Returns:
    An array of floating-point or complex numbers, with `n` elements along the axis.

  >>> from gnomon import numpy as gnp
  >>> from gnomon.scipy import fft
  >>> fft.idct(gnp.array([4.0, 0.0])).tolist()
  [1.0, 1.0]

  Raises:
    TypeError: `x` is no array.
    ValueError: the axis, the type or the norm does not exist, or there are no numbers.
  """
  x = _prepared("idct", x)
  return _along("idct", x, canonical_axis(axis, x.ndim, "fft.idct"), n, type, norm)


@compiled(static=("type", "s", "axes", "norm"))
def dctn(x: Any, type: int = 2, s: Sequence[int] | None = None,
         axes: Sequence[int] | None = None, norm: str | None = None) -> Any:
  """The discrete cosine transform along several axes.

  Args:
    x: an array; of complex numbers, both parts are transformed.
    type: see `dct`.
    s: the sizes of the axes to transform: these are cut, or zeros are appended.
    axes: along which to transform; the last ones, if `s` is given, or else all.
    norm: see `dct`.

  Returns:
    An array of floating-point or complex numbers.

  >>> from gnomon import numpy as gnp
  >>> from gnomon.scipy import fft
  >>> fft.dctn(gnp.ones((2, 2))).tolist()
  [[16.0, 0.0], [0.0, 0.0]]

  Raises:
    TypeError: `x` is no array.
    ValueError: the axes, the type or the norm do not exist, the sizes do not fit, or
      there are no numbers.
  """
  return _several("dctn", x, type, s, axes, norm)


@compiled(static=("type", "s", "axes", "norm"))
def idctn(x: Any, type: int = 2, s: Sequence[int] | None = None,
          axes: Sequence[int] | None = None, norm: str | None = None) -> Any:
  """The inverse of the discrete cosine transform along several axes.

  Args:
    x: an array; of complex numbers, both parts are transformed.
    type: of the transform to invert, see `dct`.
    s: the sizes of the axes to transform: these are cut, or zeros are appended.
    axes: along which to transform; the last ones, if `s` is given, or else all.
    norm: that of the transform to invert.

  Returns:
    An array of floating-point or complex numbers.

  >>> from gnomon import numpy as gnp
  >>> from gnomon.scipy import fft
  >>> fft.idctn(gnp.array([[16.0, 0.0], [0.0, 0.0]])).tolist()
  [[1.0, 1.0], [1.0, 1.0]]

  Raises:
    TypeError: `x` is no array.
    ValueError: the axes, the type or the norm do not exist, the sizes do not fit, or
      there are no numbers.
  """
  return _several("idctn", x, type, s, axes, norm)


def _prepared(name: str, x: Any) -> Any:
  """Numbers in a dtype that is transformed."""
  x = one_array(f"fft.{name}", x)
  if is_kind(x, np.complexfloating):
    return x
  if not is_kind(x, np.floating):
    return x.astype(float)
  wide = x.dtype == np.float64
  return lax.convert_element_type(x, np.dtype(np.float64 if wide else np.float32))


def _several(name: str, x: Any, kind: int, s: Any, axes: Any, norm: str | None) -> Any:
  x = _prepared(name, x)
  if s is not None:
    s = tuple(map(index, s)) if isinstance(s, Sequence) else (index(s),)
    if axes is None:
      if len(s) > x.ndim:
        raise ValueError(
            f"fft.{name}: s must have at most x.ndim ({x.ndim}) elements, got {len(s)}")
      axes = range(x.ndim - len(s), x.ndim)
  places = canonical_axes(axes, x.ndim, f"fft.{name}")
  if s is not None and len(s) != len(places):
    raise ValueError(
        f"fft.{name}: s and axes must have the same length, got s={s} and axes={axes}")
  for i, axis in enumerate(places):
    x = _along(name, x, axis, None if s is None else s[i], kind, norm)
  return x


def _along(name: str, x: Any, axis: int, n: Any, kind: int, norm: str | None) -> Any:
  """A transform along one axis."""
  if kind not in _INVERSES:
    raise ValueError(f"fft.{name}: type must be 1, 2, 3 or 4, got {kind!r}")
  if norm not in _NORMS:
    raise ValueError(
        f"fft.{name}: norm must be None, 'backward', 'ortho' or 'forward', got {norm!r}")
  n = x.shape[axis] if n is None else index(n)
  if n < 1 or (kind == 1 and n < 2):
    least = 2 if kind == 1 else 1
    raise ValueError(
        f"fft.{name}: the type {kind} transforms at least {least} numbers, got {n} along "
        f"axis {axis}")
  if is_kind(x, np.complexfloating):
    return lax.complex(*(
        _along(name, part, axis, n, kind, norm) for part in (lax.real(x), lax.imag(x))))
  x = gnp.moveaxis(x, axis, -1)[..., :n]
  if x.shape[-1] < n:
    x = gnp.pad(x, [*[(0, 0)] * (x.ndim - 1), (0, n - x.shape[-1])])
  inverse = name[0] == "i"
  kind = _INVERSES[kind] if inverse else kind
  size = 2 * (n - 1 if kind == 1 else n)
  if norm == "ortho":
    scale = 1 / math.sqrt(size)
  else:
    scale = 1 / size if (norm == "forward") != inverse else 1.0
  ends = [0, n - 1] if kind == 1 else [0]
  before, after = np.full(n, scale), np.ones(n)
  if norm == "ortho" and kind in (1, 3):
    before[ends] *= math.sqrt(2)
  if norm == "ortho" and kind in (1, 2):
    after[ends] /= math.sqrt(2)
  x = _TYPES[kind](_weighted(x, before), n)
  return gnp.moveaxis(_weighted(x, after), -1, axis)


def _weighted(x: Any, weights: Any) -> Any:
  return x if (weights == 1).all() else x * _along_last(weights.astype(x.dtype), x)


def _along_last(weights: Any, x: Any) -> Any:
  return weights.reshape((1,) * (x.ndim - 1) + (-1,))


def _turns(x: Any, numerator: Any, denominator: int) -> Any:
  """exp(-2 pi i numerator / denominator)."""
  dtype = dtypes.to_complex_dtype(x.dtype)
  turns = np.exp(-2j * np.pi * np.asarray(numerator) / denominator)
  return _along_last(turns.astype(dtype), x)


def _first(x: Any, n: int) -> Any:
  """The transform of the sequence that is mirrored at both ends."""
  return gnp.real(gnp.fft.rfft(gnp.concatenate([x, x[..., n - 2:0:-1]], -1)))


def _second(x: Any, n: int) -> Any:
  """Even places forward, then odd ones backward, make it a transform of N numbers.

  J. Makhoul, "A fast cosine transform in one and two dimensions", IEEE Trans. Acoust.
  Speech Signal Process. 28, 1980.
  """
  x = gnp.concatenate([x[..., ::2], x[..., 1::2][..., ::-1]], -1)
  x = gnp.fft.rfft(x)
  x = 2 * x * _turns(x, np.arange(n // 2 + 1), 4 * n)
  rest = -gnp.imag(x)[..., (n - 1) // 2:0:-1]
  return gnp.concatenate([gnp.real(x), rest], -1)


def _third(x: Any, n: int) -> Any:
  """The steps of the second type, backward."""
  half = n // 2 + 1
  none = gnp.zeros((*x.shape[:-1], 1), x.dtype)
  backward = gnp.concatenate([none, x[..., :0:-1]], -1)
  x = lax.complex(x[..., :half], -backward[..., :half])
  x = n * gnp.fft.irfft(x * gnp.conj(_turns(x, np.arange(half), 4 * n)), n)
  even, odd = x[..., :(n + 1) // 2], x[..., (n + 1) // 2:][..., ::-1]
  if n % 2:
    odd = gnp.concatenate([odd, none], -1)
  return gnp.stack([even, odd], -1).reshape(*x.shape[:-1], -1)[..., :n]


def _fourth(x: Any, n: int) -> Any:
  """A transform of 2 N complex numbers, turned before and after."""
  places = np.arange(n)
  turns = _turns(x, places, 4 * n)
  x = gnp.fft.fft(x.astype(turns.dtype) * turns, 2 * n)[..., :n]
  return 2 * gnp.real(x * _turns(x, 2 * places + 1, 8 * n))


_TYPES: dict[int, Callable[[Any, int], Any]] = {
    1: _first, 2: _second, 3: _third, 4: _fourth}
