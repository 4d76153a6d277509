"""Values between the pixels of an image: `map_coordinates`."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import gnomon.numpy as gnp
from gnomon import lax
from gnomon.numpy._compiled import compiled
from gnomon.numpy._promotion import check_arraylike
from gnomon.numpy._values import array_of, is_kind
from gnomon.scipy._corners import Corner, sum_of_corners


def _wrapped(i: Any, n: int) -> Any:
  return gnp.mod(i, n)


def _nearest(i: Any, n: int) -> Any:
  return gnp.clip(i, 0, n - 1)


def _mirrored(i: Any, n: int) -> Any:
  """Mirrored at the centres of the outermost pixels."""
  return gnp.abs(gnp.mod(i + n - 1, max(2 * n - 2, 1)) - (n - 1))


def _reflected(i: Any, n: int) -> Any:
  """Mirrored at the edges of the outermost pixels."""
  i = gnp.mod(i, 2 * n)
  return gnp.minimum(i, 2 * n - 1 - i)


# Where a pixel outside of the image is found inside.
_MODES: dict[str, Callable[[Any, int], Any]] = {
    "constant": _nearest,
    "nearest": _nearest,
    "mirror": _mirrored,
    "reflect": _reflected,
    "wrap": _wrapped,
}


def _away(x: Any) -> Any:
  """Rounded to the nearest integer, halves away from zero."""
  return lax.round(x, lax.RoundingMethod.AWAY_FROM_ZERO)


def _neighbours(c: Any, n: int, order: int, ends: bool) -> list[Corner]:
  """The pixels on both sides of a coordinate, with their weights; or the nearest."""
  if not is_kind(c, np.floating):
    return [(c, None)]
  if ends:  # what is beyond is all alike, and might not be an int32
    c = gnp.clip(c, -2, n + 1)
  if order == 0:
    return [(lax.convert_element_type(lax.floor(c + 0.5), np.int32), None)]
  lower = lax.floor(c)
  weight = c - lower
  place = lax.convert_element_type(lower, np.int32)
  return [(place, 1 - weight), (place + 1, weight)]


@compiled(static=("order", "mode"))
def map_coordinates(
    input: Any, coordinates: Sequence[Any], order: int, mode: str = "constant",
    cval: Any = 0.0) -> Any:
  """The values of an image at any places, interpolated.

  Where a derivative by a coordinate has two sides, at a pixel, it is that of larger
  coordinates.

  Args:
    input: array of n axes; of integers, the result is rounded.
    coordinates: n arrays of one shape, one for each axis of `input`: the places.
    order: 0 for the nearest pixel, 1 for linear interpolation.
    mode: what is outside of the image: `"constant"`, the value `cval`; `"nearest"`, the
      outermost pixel; `"mirror"` and `"reflect"`, the image mirrored at the centres or at
      the edges of the outermost pixels; `"wrap"`, the image again. The first and the last
      are SciPy's `grid-constant` and `grid-wrap`.
    cval: a number.

  >>> from gnomon import numpy as gnp
  >>> from gnomon.scipy import ndimage
  >>> image = gnp.arange(12.0).reshape(3, 4)
  >>> ndimage.map_coordinates(image, [[0.5, 1.0], [1.5, 2.0]], order=1).tolist()
  [3.5, 6.0]

  Raises:
    NotImplementedError: `order` or `mode` is another one of SciPy's.
    TypeError: an argument is no array, or a coordinate is complex.
    ValueError: there is not one array of coordinates for each axis, or `input` has no
      pixels.
  """
  check_arraylike("map_coordinates", input, cval)
  image = array_of(input)
  places = [gnp.asarray(c) for c in coordinates]
  if len(places) != image.ndim:
    raise ValueError(
        "map_coordinates: coordinates must be a sequence of length input.ndim, "
        f"got {len(places)} for {image.ndim} axes")
  if any(is_kind(c, np.complexfloating) for c in places):
    raise TypeError("map_coordinates: coordinates must be real, got complex ones")
  if mode not in _MODES:
    raise NotImplementedError(
        f"map_coordinates does not yet support mode {mode!r}. Currently supported modes "
        f"are {sorted(_MODES)}.")
  if operator.index(order) not in (0, 1):
    raise NotImplementedError(f"map_coordinates currently requires order<=1, got {order}")
  outside = mode == "constant"
  if not image.size and not outside:
    raise ValueError(
        f"map_coordinates: input has the shape {image.shape}, without pixels; expected "
        f"some for mode={mode!r}")
  places = gnp.broadcast_arrays(*places) if places else []
  fill = gnp.asarray(cval, image.dtype)
  if not image.size:
    return gnp.full(places[0].shape, fill)

  def value(at: tuple[Any, ...]) -> Any:
    inside = [_MODES[mode](i, n) for i, n in zip(at, image.shape)]
    found = image.at[tuple(inside)].get(mode="promise_in_bounds")
    if not outside:
      return found
    valid: Any = True
    for i, n in zip(at, image.shape):
      valid = gnp.logical_and(valid, gnp.logical_and(i >= 0, i < n))
    return gnp.where(valid, found, fill)

  out = sum_of_corners(
      [_neighbours(c, n, order, _MODES[mode] is _nearest)
       for c, n in zip(places, image.shape)], value)
  if not is_kind(image, np.inexact) and is_kind(out, np.inexact):
    out = _away(out)
  return out.astype(image.dtype)
