"""Initializers: functions that draw the weights of a layer from a key and a shape."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from operator import index
from typing import Any, Protocol, runtime_checkable

import numpy as np

import gnomon.numpy as gnp
from gnomon import random
from gnomon.core import dtypes
from gnomon.nn._elementwise import wide

__all__ = [
    "Initializer", "constant", "delta_orthogonal", "glorot_normal", "glorot_uniform",
    "he_normal", "he_uniform", "kaiming_normal", "kaiming_uniform", "lecun_normal",
    "lecun_uniform", "normal", "ones", "orthogonal", "truncated_normal", "uniform",
    "variance_scaling", "xavier_normal", "xavier_uniform", "zeros"]

Axes = int | Sequence[int]


@runtime_checkable
class Initializer(Protocol):
  """What the functions of this module return: a function that draws weights.

  >>> from gnomon.nn import initializers
  >>> isinstance(initializers.uniform(), initializers.Initializer)
  True
  """

  def __call__(
      self, key: Any, shape: Any, dtype: Any = None, out_sharding: Any = None) -> Any:
    """An array of weights.

    Args:
      key: a key of `gnomon.random`.
      shape: the shape of the weights.
      dtype: their dtype; None: that given to the initializer, or the default float.
      out_sharding: None: other values are not supported yet.
    """
    raise NotImplementedError


def _dtype(name: str, dtype: Any) -> Any:
  """The dtype of weights; None stands for the default float."""
  return dtypes.check_user_dtype_supported(float if dtype is None else dtype, name)


def _shape(shape: Any) -> tuple[int, ...]:
  return (index(shape),) if hasattr(shape, "__index__") else tuple(map(index, shape))


def _filled(name: str, value: Any, shape: Any, dtype: Any, out_sharding: Any) -> Any:
  if out_sharding is not None:
    raise NotImplementedError(
        f"{name}: out_sharding needs gnomon-sharding, which is not available yet")
  return gnp.full(shape, value, _dtype(name, dtype))


def zeros(key: Any, shape: Any, dtype: Any = None, out_sharding: Any = None) -> Any:
  """Weights that are all 0; the key is not used.

  >>> from gnomon.nn import initializers
  >>> initializers.zeros(None, (2,)).tolist()
  [0.0, 0.0]
  """
  return _filled("zeros", 0, shape, dtype, out_sharding)


def ones(key: Any, shape: Any, dtype: Any = None, out_sharding: Any = None) -> Any:
  """Weights that are all 1; the key is not used.

  >>> from gnomon.nn import initializers
  >>> initializers.ones(None, (2,)).tolist()
  [1.0, 1.0]
  """
  return _filled("ones", 1, shape, dtype, out_sharding)


def constant(value: Any, dtype: Any = None) -> Initializer:
  """Weights that are all `value`; the key is not used.

  Args:
    value: a number, or an array that is broadcast to the shape.
    dtype: the dtype of the weights where the call gives none.

  >>> from gnomon.nn import initializers
  >>> initializers.constant(-7.0)(None, (2,)).tolist()
  [-7.0, -7.0]
  """
  def init(key: Any, shape: Any, dtype: Any = dtype, out_sharding: Any = None) -> Any:
    return _filled("constant", value, shape, dtype, out_sharding)

  return init


def uniform(scale: Any = 1e-2, dtype: Any = None) -> Initializer:
  """Weights that are uniform on [0, `scale`).

  Args:
    scale: the upper bound.
    dtype: the dtype of the weights where the call gives none, floating-point.

  >>> from gnomon import random
  >>> from gnomon.nn import initializers
  >>> w = initializers.uniform(10.0)(random.key(0), (100,))
  >>> bool(w.min() >= 0), bool(5 < w.max() < 10)
  (True, True)
  """
  def init(key: Any, shape: Any, dtype: Any = dtype, out_sharding: Any = None) -> Any:
    dtype = _dtype("uniform", dtype)
    draws = random.uniform(key, shape, dtype, out_sharding=out_sharding)
    return draws * gnp.asarray(scale, dtype)

  return init


def normal(stddev: Any = 1e-2, dtype: Any = None) -> Initializer:
  """Weights that are normal with mean 0.

  Args:
    stddev: their standard deviation.
    dtype: the dtype of the weights where the call gives none, floating-point or complex.

  >>> from gnomon import random
  >>> from gnomon.nn import initializers
  >>> bool(abs(initializers.normal(2.0)(random.key(0), (1000,)).std() - 2) < 0.2)
  True
  """
  def init(key: Any, shape: Any, dtype: Any = dtype, out_sharding: Any = None) -> Any:
    dtype = _dtype("normal", dtype)
    draws = random.normal(key, shape, dtype, out_sharding=out_sharding)
    return draws * gnp.asarray(stddev, dtype)

  return init


def truncated_normal(
    stddev: Any = 1e-2, dtype: Any = None, lower: Any = -2.0,
    upper: Any = 2.0) -> Initializer:
  """Weights that are normal with mean 0, within bounds.

  Args:
    stddev: the standard deviation before the tails are cut off.
    dtype: the dtype of the weights where the call gives none, floating-point.
    lower: the lower bound, in standard deviations.
    upper: the upper bound, in standard deviations.

  >>> from gnomon import random
  >>> from gnomon.nn import initializers
  >>> w = initializers.truncated_normal(5.0)(random.key(0), (1000,))
  >>> bool(9 < abs(w).max() <= 10)
  True
  """
  def init(key: Any, shape: Any, dtype: Any = dtype, out_sharding: Any = None) -> Any:
    dtype = _dtype("truncated_normal", dtype)
    draws = random.truncated_normal(
        key, lower, upper, shape, dtype, out_sharding=out_sharding)
    return draws * gnp.asarray(stddev, dtype)

  return init


# ---- variance by the number of inputs and outputs


def _axes(axes: Axes) -> tuple[int, ...]:
  if isinstance(axes, Sequence):
    return tuple(map(index, axes))
  return (index(axes),)


def _fans(
    shape: tuple[int, ...], in_axis: Axes, out_axis: Axes,
    batch_axis: Axes) -> tuple[float, float]:
  """How many inputs an output has, and how many outputs an input reaches."""
  if len(shape) <= 1 and isinstance(in_axis, int) and in_axis == -2:
    raise ValueError(
        f"Can't compute input and output sizes of a {len(shape)}-dimensional weights "
        "tensor with default in_axis. Must be at least 2D or specify in_axis explicitly.")
  for name, axes in (("in", in_axis), ("out", out_axis), ("batch", batch_axis)):
    for axis in _axes(axes):
      if not -len(shape) <= axis < len(shape):
        raise ValueError(
            f"variance_scaling: {name}_axis {axis} is out of bounds for weights of "
            f"shape {shape}")
  if 0 in shape:
    return 1.0, 1.0  # there are no weights to scale
  inputs, outputs, batch = (
      math.prod(shape[a] for a in _axes(axes))
      for axes in (in_axis, out_axis, batch_axis))
  field = math.prod(shape) / inputs / outputs / batch
  return inputs * field, outputs * field


_MEANS: dict[str, Callable[[float, float], float]] = {
    "fan_in": lambda i, o: i,
    "fan_out": lambda i, o: o,
    "fan_avg": lambda i, o: (i + o) / 2,
    "fan_geo_avg": lambda i, o: math.sqrt(i * o),
}

# Standard deviation of a standard normal variable cut off at ±2. Of a complex one whose
# modulus is cut off at 2 it would be the root of (1 - 5 exp(-4)) / (1 - exp(-4)); JAX
# takes the root of the numerator, whose weights have a variance 1.9 % higher than asked
# for, and the same numbers for the same key are worth more.
_CUT_STDDEV = 0.87962566103423978
_CUT_STDDEV_COMPLEX = math.sqrt(1 - 5 * math.exp(-4))


def _complex_parts(key: Any, shape: Any, dtype: Any) -> tuple[Any, Any]:
  """Uniform numbers on [0, 1) for moduli, and random directions: the unit circle."""
  first, second = random.split(key)
  real = np.zeros(0, dtype).real.dtype
  fractions = random.uniform(first, shape, real)
  turns = random.uniform(second, shape, real).astype(dtype)
  return fractions, gnp.exp(gnp.asarray(2j * np.pi, dtype) * turns)


def _complex_disk(key: Any, shape: Any, dtype: Any) -> Any:
  """Uniform on a disk, with variance 1."""
  fractions, directions = _complex_parts(key, shape, dtype)
  return gnp.sqrt(2 * fractions).astype(dtype) * directions


def _complex_truncated_normal(key: Any, shape: Any, dtype: Any) -> Any:
  """Complex normal numbers of modulus below 2, by inversion: |z|² is exponential."""
  fractions, directions = _complex_parts(key, shape, dtype)
  inside = (1 - gnp.exp(gnp.asarray(-4, fractions.dtype))) * fractions
  return gnp.sqrt(-gnp.log1p(-inside)).astype(dtype) * directions


def variance_scaling(
    scale: Any, mode: str, distribution: str, in_axis: Axes = -2, out_axis: Axes = -1,
    batch_axis: Axes = (), dtype: Any = None) -> Initializer:
  r"""Weights of mean 0 whose variance depends on the shape: `scale` / n.

  So that the variance of a layer's outputs, or of the derivatives that come back, stays
  in proportion to that of its inputs. n is

  - `"fan_in"`: the number of inputs of an output,
  - `"fan_out"`: the number of outputs of an input,
  - `"fan_avg"`, `"fan_geo_avg"`: their arithmetic or geometric mean.

  Axes that are none of inputs, outputs and batch are those of a convolution's window,
  and count for both numbers.

  Args:
    scale: a positive number.
    mode: what n is.
    distribution: `"truncated_normal"` (cut off at two standard deviations before it is
      scaled), `"normal"`, or `"uniform"`; of complex weights the modulus is cut off, or
      they are uniform on a disk.
    in_axis: the axis of the inputs, or several.
    out_axis: the axis of the outputs, or several.
    batch_axis: axes that hold independent weights.
    dtype: the dtype of the weights where the call gives none, floating-point or complex.

  >>> from gnomon import random
  >>> from gnomon.nn import initializers
  >>> init = initializers.variance_scaling(2.0, "fan_in", "normal")
  >>> bool(abs(init(random.key(0), (200, 30)).var() - 0.01) < 0.001)
  True

  Raises:
    ValueError: `mode` or `distribution` is something else (when weights are drawn: also
      where the shape has too few axes).
  """
  def init(key: Any, shape: Any, dtype: Any = dtype, out_sharding: Any = None) -> Any:
    shape = _shape(shape)
    dtype = _dtype("variance_scaling", dtype)
    fans = _fans(shape, in_axis, out_axis, batch_axis)
    if mode not in _MEANS:
      raise ValueError(
          f"invalid mode for variance scaling initializer: {mode}; known are "
          f"{', '.join(_MEANS)}")
    variance = gnp.asarray(scale / _MEANS[mode](*fans), dtype)
    draws, factor = _draws(distribution, key, shape, dtype, out_sharding)
    return draws * factor(variance)

  return init


def _draws(
    distribution: str, key: Any, shape: Any, dtype: Any,
    out_sharding: Any) -> tuple[Any, Any]:
  """Random numbers, and the factor that gives them a variance."""
  is_real = not dtypes.issubdtype(dtype, np.complexfloating)
  where = {"out_sharding": out_sharding}
  if distribution == "normal":
    return random.normal(key, shape, dtype, **where), gnp.sqrt
  if distribution == "uniform" and is_real:
    draws = random.uniform(key, shape, dtype, -1, **where)
    return draws, lambda variance: gnp.sqrt(3 * variance)
  if distribution == "uniform":
    return _complex_disk(key, shape, dtype), gnp.sqrt
  if distribution != "truncated_normal":
    raise ValueError(
        f"invalid distribution for variance scaling initializer: {distribution}; known "
        "are truncated_normal, normal, uniform")
  draws, stddev = (
      (random.truncated_normal(key, -2, 2, shape, dtype, **where), _CUT_STDDEV)
      if is_real
      else (_complex_truncated_normal(key, shape, dtype), _CUT_STDDEV_COMPLEX))
  return draws, lambda variance: gnp.sqrt(variance) / gnp.asarray(stddev, dtype)


def _scaling(
    name: str, scale: float, mode: str, distribution: str, source: str,
) -> Callable[..., Initializer]:
  """An initializer of this family that has a name of its own."""
  def named(
      in_axis: Axes = -2, out_axis: Axes = -1, batch_axis: Axes = (),
      dtype: Any = None) -> Initializer:
    return variance_scaling(
        scale, mode, distribution, in_axis, out_axis, batch_axis, dtype)

  named.__name__ = named.__qualname__ = name
  named.__doc__ = f"""Weights of {source}.

  The same as `variance_scaling({scale}, {mode!r}, {distribution!r})`.

  Args:
    in_axis: the axis of the inputs, or several.
    out_axis: the axis of the outputs, or several.
    batch_axis: axes that hold independent weights.
    dtype: the dtype of the weights where the call gives none, floating-point or complex.

  >>> from gnomon import random
  >>> from gnomon.nn import initializers
  >>> initializers.{name}()(random.key(0), (3, 4)).shape
  (3, 4)

  Raises:
    ValueError: when weights are drawn: their shape has too few axes.
  """
  return named


_GLOROT = "Glorot and Bengio, 2010: variance 2 / (inputs + outputs)"
_LECUN = "LeCun et al., 1998: variance 1 / inputs"
_HE = "He et al., 2015: variance 2 / inputs, for layers with `relu`"

glorot_uniform = _scaling("glorot_uniform", 1.0, "fan_avg", "uniform", _GLOROT)
glorot_normal = _scaling("glorot_normal", 1.0, "fan_avg", "truncated_normal", _GLOROT)
lecun_uniform = _scaling("lecun_uniform", 1.0, "fan_in", "uniform", _LECUN)
lecun_normal = _scaling("lecun_normal", 1.0, "fan_in", "truncated_normal", _LECUN)
he_uniform = _scaling("he_uniform", 2.0, "fan_in", "uniform", _HE)
he_normal = _scaling("he_normal", 2.0, "fan_in", "truncated_normal", _HE)
xavier_uniform, xavier_normal = glorot_uniform, glorot_normal
kaiming_uniform, kaiming_normal = he_uniform, he_normal


# ---- orthogonal matrices


def orthogonal(
    scale: Any = 1.0, column_axis: int = -1, dtype: Any = None) -> Initializer:
  """Weights that form a uniformly distributed orthogonal matrix, times `scale`.

  All axes but `column_axis` together count the rows. Of a matrix that is not square the
  rows or the columns are orthonormal, whichever are fewer.

  Args:
    scale: a factor.
    column_axis: the axis of the columns.
    dtype: the dtype of the weights where the call gives none, floating-point or complex.

  >>> import gnomon.numpy as gnp
  >>> from gnomon import random
  >>> from gnomon.nn import initializers
  >>> w = initializers.orthogonal()(random.key(0), (5, 3))
  >>> bool(gnp.allclose(w.T @ w, gnp.eye(3), atol=1e-5))
  True

  Raises:
    ValueError: when weights are drawn: the shape has fewer than two axes.
  """
  def init(key: Any, shape: Any, dtype: Any = dtype, out_sharding: Any = None) -> Any:
    dtype = _dtype("orthogonal", dtype)
    shape = _shape(shape)
    if len(shape) < 2:
      raise ValueError(
          f"orthogonal initializer requires at least a 2D shape, got {shape}")
    columns = shape[column_axis]
    others = [n for d, n in enumerate(shape) if d != column_axis % len(shape)]
    work = wide(dtype)  # there is no factorization of numbers of 16 bits
    matrix = random.orthogonal(
        key, math.prod(others), (), work, columns, out_sharding=out_sharding)
    weights = gnp.moveaxis(matrix.reshape(*others, columns), -1, column_axis)
    return (gnp.asarray(scale, work) * weights).astype(dtype)

  return init


def delta_orthogonal(
    scale: Any = 1.0, column_axis: int = -1, dtype: Any = None) -> Initializer:
  """Weights of a convolution that keeps norms: orthogonal in the middle of the window.

  All other weights are 0 (Xiao et al., *Dynamical isometry and a mean field theory of
  CNNs*, 2018).

  Args:
    scale: a factor.
    column_axis: the axis of the last two that holds the columns, the outputs.
    dtype: the dtype of the weights where the call gives none, floating-point or complex.

  >>> from gnomon import random
  >>> from gnomon.nn import initializers
  >>> w = initializers.delta_orthogonal()(random.key(0), (3, 2, 2))
  >>> bool((w[0] == 0).all() and (w[1] != 0).all() and (w[2] == 0).all())
  True

  Raises:
    ValueError: when weights are drawn: the shape has not 3, 4 or 5 axes, or there are
      more inputs than outputs.
  """
  def init(key: Any, shape: Any, dtype: Any = dtype, out_sharding: Any = None) -> Any:
    dtype = _dtype("delta_orthogonal", dtype)
    shape = _shape(shape)
    if len(shape) not in (3, 4, 5):
      raise ValueError(
          f"Delta orthogonal initializer requires a 3D, 4D or 5D shape, got {shape}")
    if shape[-1] < shape[-2]:
      raise ValueError(
          "`fan_in` must be less or equal than `fan_out`: the last two axes of the shape "
          f"{shape} are the numbers of inputs and outputs")
    middle = tuple([(n - 1) // 2 for n in shape[:-2]])
    matrix = orthogonal(scale, column_axis, dtype)(key, shape[-2:], dtype, out_sharding)
    return gnp.zeros(shape, dtype).at[middle].set(matrix)

  return init
