"""Resizing, scaling and shifting images."""

from __future__ import annotations

from collections.abc import Sequence
from operator import index
from typing import Any

import numpy as np

import gnomon.numpy as gnp
from gnomon import jit, lax
from gnomon.core import dtypes
from gnomon.core.types import typeof
from gnomon.image._methods import ResizeMethod, method_of, weights

Shape = tuple[int, ...]
HIGHEST = lax.Precision.HIGHEST


def resize(
    image: Any, shape: Any, method: Any, antialias: bool = True,
    precision: Any = HIGHEST) -> Any:
  """An image in another size.

  Pixels cover areas: corners stay corners. Along axes whose size stays nothing happens,
  so that axes of batches and channels need not be told apart.

  Args:
    image: an array of any rank.
    shape: the shape of the result, of the same rank.
    method: a `ResizeMethod`, or its name (see `ResizeMethod.from_string`).
    antialias: whether the filter is widened where the image shrinks, so that all pixels
      count.
    precision: of the matrix products, as `lax.dot_general` takes it.

  >>> import gnomon.numpy as gnp
  >>> from gnomon import image
  >>> image.resize(gnp.array([0.0, 1.0]), (4,), "linear").tolist()
  [0.0, 0.25, 0.75, 1.0]

  Returns:
    An array of the dtype of `image` for the nearest pixels, otherwise a floating-point or
    complex one.

  Raises:
    TypeError: `image` is no array, or `shape` is not made of integers.
    ValueError: the ranks differ, a size is negative, the method is not known, or there
      are no pixels to take values from.
  """
  image, shape = _checked("resize", image, shape)
  return _resize_program(
      image, shape=shape, method=method_of(method), antialias=bool(antialias),
      precision=precision)


def _resize(
    image: Any, *, shape: Shape, method: ResizeMethod, antialias: bool,
    precision: Any) -> Any:
  old = typeof(image).shape
  moved = [d for d, (m, n) in enumerate(zip(old, shape)) if m != n]
  if method is ResizeMethod.NEAREST:
    for d in moved:
      image = gnp.take(image, _nearest(old[d], shape[d]), axis=d, mode="clip")
    return image
  dtype = dtypes.to_inexact_dtype(typeof(image).dtype)
  image = lax.convert_element_type(image, dtype)
  if 0 in shape:
    return gnp.zeros(shape, dtype)
  tables = {
      d: weights(method, old[d], shape[d], shape[d] / old[d], 0.0, antialias, dtype)
      for d in moved}
  return _contracted(image, tables, precision)


_resize_program = jit(
    _resize, static_argnames=("shape", "method", "antialias", "precision"))


def _nearest(old: int, new: int) -> Any:
  """Which old pixel is nearest to each new one; of two at one distance the right one."""
  return gnp.asarray(np.arange(1, 2 * new, 2) * old // max(2 * new, 1))


def scale_and_translate(
    image: Any, shape: Any, spatial_dims: Sequence[int], scale: Any, translation: Any,
    method: Any, antialias: bool = True, precision: Any = HIGHEST) -> Any:
  """An image scaled and shifted, within a frame.

  A point y of the image goes to `scale * y + translation`, along each axis, where the
  pixel i covers [i, i + 1]. A pixel of the result whose centre shows nothing of the image
  is 0; with `CUBIC_PYTORCH` and no antialiasing two more pixels continue the edge.

  Args:
    image: an array of any rank.
    shape: the shape of the result, of the same rank.
    spatial_dims: the axes that are scaled and shifted; along others the size must stay.
    scale: a scale for each of them; negative ones turn the image round.
    translation: a shift for each of them, in pixels of the result.
    method: a `ResizeMethod` other than `NEAREST`, or its name.
    antialias: whether the filter is widened where the image shrinks.
    precision: of the matrix products, as `lax.dot_general` takes it.

  >>> import gnomon.numpy as gnp
  >>> from gnomon import image
  >>> one, picture = gnp.ones(1), gnp.array([1.0, 2.0, 3.0])
  >>> image.scale_and_translate(picture, (4,), (0,), one, one, "linear").tolist()
  [0.0, 1.0, 2.0, 3.0]

  Returns:
    An array of a floating-point or complex dtype. It can be differentiated with respect
    to the image, and to the scales and translations.

  Raises:
    TypeError: `image` is no array, or `shape` is not made of integers.
    ValueError: ranks or sizes do not fit, an axis is out of bounds or repeated, or the
      method is not known or `NEAREST`.
  """
  name = "scale_and_translate"
  image, shape = _checked(name, image, shape)
  method = method_of(method)
  if method is ResizeMethod.NEAREST:
    raise ValueError(
        f"{name}: the method NEAREST is not supported; resize has it, or take LINEAR")
  dims = _axes(name, spatial_dims, len(shape))
  scale, translation = gnp.asarray(scale), gnp.asarray(translation)
  for argument, x in (("scale", scale), ("translation", translation)):
    if typeof(x).shape != (len(dims),):
      raise ValueError(
          f"{name}: {argument} must have the shape ({len(dims)},), a number for each of "
          f"spatial_dims, got {typeof(x).shape}")
  dtype = dtypes.to_inexact_dtype(typeof(image).dtype)
  image = lax.convert_element_type(image, dtype)
  old = typeof(image).shape
  for d, (m, n) in enumerate(zip(old, shape)):
    if m != n and d not in dims:
      raise ValueError(
          f"{name}: the size of axis {d} changes from {m} to {n}, but it is not among "
          f"spatial_dims {dims}")
  return _transform_program(
      image, scale, translation, shape=shape, dims=dims, method=method,
      antialias=bool(antialias), precision=precision)


def _transformed(
    image: Any, scale: Any, translation: Any, *, shape: Shape, dims: Shape,
    method: ResizeMethod, antialias: bool, precision: Any) -> Any:
  aval = typeof(image)
  if 0 in shape:
    return gnp.zeros(shape, aval.dtype)
  tables = {
      d: weights(
          method, aval.shape[d], shape[d], scale[i], translation[i], antialias,
          aval.dtype)
      for i, d in enumerate(dims)}
  return _contracted(image, tables, precision)


_transform_program = jit(
    _transformed, inline=True,
    static_argnames=("shape", "dims", "method", "antialias", "precision"))


def _axes(name: str, dims: Sequence[int], rank: int) -> Shape:
  """Axes counted from the front.

  Raises:
    ValueError: one is out of bounds, or repeated.
  """
  dims = tuple(map(index, dims))
  if any(not -rank <= d < rank for d in dims):
    raise ValueError(
        f"{name}: spatial_dims {dims} are out of bounds for an image of {rank} axes")
  counted = tuple([d % rank for d in dims])
  if len(set(counted)) != len(counted):
    raise ValueError(f"{name}: spatial_dims {dims} name an axis twice")
  return counted


def _checked(name: str, image: Any, shape: Any) -> tuple[Any, Shape]:
  """An image as an array, and the shape of the result."""
  if isinstance(image, (list, tuple)):
    raise TypeError(
        f"{name}: image must be an array, got {type(image)}; make it one with "
        "gnomon.numpy.asarray")
  image = gnp.asarray(image)
  shape = tuple([index(n) for n in shape])
  old = typeof(image).shape
  if len(shape) != len(old):
    raise ValueError(
        f"{name}: shape must have as many sizes as the image has axes, got {shape} for "
        f"an image of shape {old}")
  if any(n < 0 for n in shape):
    raise ValueError(f"{name}: shape must not have negative sizes, got {shape}")
  if 0 in old and 0 not in shape:
    raise ValueError(
        f"{name}: an image of shape {old} has no pixels to fill the shape {shape} from")
  return image, shape


def _contracted(image: Any, tables: dict[int, Any], precision: Any) -> Any:
  """The products of an image with tables of weights along axes."""
  # The axes that shrink most come first, so that fewer numbers are multiplied.
  ratios = {d: typeof(t).shape[1] / typeof(t).shape[0] for d, t in tables.items()}
  for d in sorted(tables, key=lambda d: ratios[d]):
    out = lax.dot_general(
        image, tables[d], (((d,), (0,)), ((), ())), precision=precision)
    image = gnp.moveaxis(out, -1, d)
  return image
