"""Methods of interpolation: their names, and the filters behind them."""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import Any

import numpy as np

import gnomon.numpy as gnp
from gnomon import lax
from gnomon.core.types import typeof


class ResizeMethod(enum.Enum):
  """How an image is interpolated.

  >>> from gnomon import image
  >>> image.ResizeMethod.from_string("bilinear")
  <ResizeMethod.LINEAR: 1>
  """

  NEAREST = 0
  """The nearest pixel."""
  LINEAR = 1
  """Lines between pixels: a triangular filter."""
  LANCZOS3 = 2
  """Lanczos' filter of radius 3."""
  LANCZOS5 = 3
  """Lanczos' filter of radius 5."""
  CUBIC = 4
  """Keys' cubic filter with parameter -0.5, which is exact for parabolas."""
  CUBIC_PYTORCH = 5
  """The same where antialiasing is asked for; otherwise with parameter -0.75, and with
  the edges continued, as PyTorch has it."""
  AREA = 6
  """The mean of what a pixel of the result covers."""

  @staticmethod
  def from_string(s: str) -> ResizeMethod:
    """The method of a name.

    Args:
      s: `nearest`; `linear`, `bilinear`, `trilinear` or `triangle`; `cubic`, `bicubic` or
        `tricubic`; `cubic-pytorch` or `bicubic-pytorch`; `lanczos3`; `lanczos5`; `area`.

    Raises:
      ValueError: there is no such name.
    """
    if s not in _NAMES:
      raise ValueError(f'Unknown resize method "{s}"; known are {", ".join(_NAMES)}')
    return _NAMES[s]


_NAMES = {
    "nearest": ResizeMethod.NEAREST,
    "linear": ResizeMethod.LINEAR,
    "bilinear": ResizeMethod.LINEAR,
    "trilinear": ResizeMethod.LINEAR,
    "triangle": ResizeMethod.LINEAR,
    "lanczos3": ResizeMethod.LANCZOS3,
    "lanczos5": ResizeMethod.LANCZOS5,
    "cubic": ResizeMethod.CUBIC,
    "bicubic": ResizeMethod.CUBIC,
    "tricubic": ResizeMethod.CUBIC,
    "cubic-pytorch": ResizeMethod.CUBIC_PYTORCH,
    "bicubic-pytorch": ResizeMethod.CUBIC_PYTORCH,
    "area": ResizeMethod.AREA,
}


def method_of(method: Any) -> ResizeMethod:
  """An argument `method`: one of the enumeration, or a name."""
  return method if isinstance(method, ResizeMethod) else ResizeMethod.from_string(method)


# ---- filters: the weight of a pixel at a distance x ≥ 0


def _triangle(x: Any) -> Any:
  return gnp.maximum(0, 1 - x)


def _keys(x: Any, a: float) -> Any:
  """Keys, *Cubic convolution interpolation for digital image processing*, 1981."""
  near = ((a + 2) * x - (a + 3)) * x * x + 1
  far = ((a * x - 5 * a) * x + 8 * a) * x - 4 * a
  return gnp.where(x >= 2, 0., gnp.where(x >= 1, far, near))


def _lanczos(x: Any, radius: float) -> Any:
  """sinc(x) sinc(x / radius), up to the radius."""
  # Where its series is 1 in float32 no quotient is formed, and no derivative of one.
  far = x > 1e-3
  y = np.pi * gnp.where(far, x, 1)
  out = radius * gnp.sin(y) * gnp.sin(y / radius) / gnp.square(y)
  return gnp.where(x > radius, 0., gnp.where(far, out, 1))


_FILTERS: dict[ResizeMethod, Callable[[Any], Any]] = {
    ResizeMethod.LINEAR: _triangle,
    ResizeMethod.LANCZOS3: lambda x: _lanczos(x, 3.0),
    ResizeMethod.LANCZOS5: lambda x: _lanczos(x, 5.0),
    ResizeMethod.CUBIC: lambda x: _keys(x, -0.5),
    ResizeMethod.CUBIC_PYTORCH: lambda x: _keys(x, -0.5),
}
_REACH = 2  # how far beyond the edge the filter of a continued image looks


def weights(
    method: ResizeMethod, old: int, new: int, scale: Any, translation: Any,
    antialias: bool, dtype: Any) -> Any:
  """Weights of the pixels along an axis, a column for each pixel of the result.

  A pixel at place i of the old axis covers [i, i + 1]; the place y goes to `scale * y +
  translation`. Columns sum to 1, or are 0 for pixels of the result that lie outside.
  """
  # In float32, whose precision the places need, whatever the dtype of the image.
  wide = np.float32 if gnp.finfo(dtype).bits < 32 else gnp.finfo(dtype).dtype
  step = 1 / gnp.asarray(scale, wide)
  shift = gnp.asarray(translation, wide) * step
  places = lax.iota(wide, new)
  centers = (places + 0.5) * step - shift - 0.5
  continued = method is ResizeMethod.CUBIC_PYTORCH and not antialias
  if method is ResizeMethod.AREA:
    table = _overlaps(old, places * step - shift, (places + 1) * step - shift)
  elif continued:
    pixels = lax.iota(wide, old + 2 * _REACH) - _REACH
    table = _continued(_keys(_distances(centers, pixels), -0.75))
  else:
    width = gnp.maximum(gnp.abs(step), 1) if antialias else 1
    distances = _distances(centers, lax.iota(wide, old))
    table = _FILTERS[method](distances / width)
  total = gnp.sum(table, axis=0, keepdims=True)
  enough = gnp.abs(total) > 1000 * float(np.finfo(np.float32).eps)
  table = gnp.where(enough, table / gnp.where(enough, total, 1), 0)
  if not continued:
    inside = (centers >= -0.5) & (centers <= old - 0.5)
    table = gnp.where(inside[None], table, 0)
  return table.astype(dtype)


def _distances(centers: Any, pixels: Any) -> Any:
  return gnp.abs(centers[None] - pixels[:, None])


def _overlaps(old: int, first: Any, last: Any) -> Any:
  """How much of each old pixel lies between two places."""
  low, high = gnp.minimum(first, last)[None], gnp.maximum(first, last)[None]
  pixels = lax.iota(typeof(first).dtype, old)[:, None]
  return gnp.maximum(gnp.minimum(high, pixels + 1) - gnp.maximum(low, pixels), 0)


def _continued(table: Any) -> Any:
  """Adds the weights of pixels beyond the edges to those at the edges."""
  before = gnp.sum(table[:_REACH], axis=0)
  after = gnp.sum(table[-_REACH:], axis=0)
  return table[_REACH:-_REACH].at[0].add(before).at[-1].add(after)
