"""What all transforms come down to: sizes, axes, scales, and `lax.fft` on three axes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from operator import index
from typing import Any

import numpy as np

from gnomon import lax
from gnomon.core import dtypes
from gnomon.core.structural import convert
from gnomon.core.types import typeof
from gnomon.lax import FftType
from gnomon.numpy._promotion import canonical_axis
from gnomon.numpy._values import is_kind, one_array

Axes = tuple[int, ...]
Norm = str | None
_AT_ONCE = 3  # so many axes XLA transforms in one go
_NORMS = ("backward", "ortho", "forward")
_SWAPPED = {
    None: "forward", "backward": "forward", "ortho": "ortho", "forward": "backward"}
_INVERSE = (FftType.IFFT, FftType.IRFFT)


def swapped(name: str, norm: Norm) -> Norm:
  """The norm of the transform in the other direction."""
  check_norm(name, norm)
  return _SWAPPED[norm]


def check_norm(name: str, norm: Norm) -> None:
  """Raises `ValueError` for a norm that does not exist."""
  if norm is not None and norm not in _NORMS:
    raise ValueError(
        f"fft.{name}: invalid norm {norm!r}; expected 'backward', 'ortho', 'forward' or "
        "None")


def one_axis(name: str, a: Any, kind: FftType, n: Any, axis: Any, norm: Norm) -> Any:
  """A transform along one axis."""
  if not hasattr(axis, "__index__"):
    raise ValueError(
        f"jax.numpy.fft.{name} does not support multiple axes. Please use "
        f"jax.numpy.fft.{name}n. Got axis = {_listed(axis)}.")
  return transform(name, a, kind, None if n is None else (n,), (axis,), norm)


def two_axes(name: str, a: Any, kind: FftType, s: Any, axes: Any, norm: Norm) -> Any:
  """A transform along two axes."""
  if len(axes) != 2:
    raise ValueError(
        f"jax.numpy.fft.{name} only supports 2 axes. Got axes = {_listed(axes)}. Use "
        f"jax.numpy.fft.{name[:-1]}n.")
  return transform(name, a, kind, s, axes, norm)


def _listed(axes: Any) -> Any:
  """Axes as a message shows them."""
  return list(axes) if isinstance(axes, Sequence) else axes


def transform(
    name: str, a: Any, kind: FftType, s: Sequence[Any] | None, axes: Sequence[Any] | None,
    norm: Norm) -> Any:
  """A transform along axes; `s` are the sizes, those of the result for IRFFT."""
  check_norm(name, norm)
  x = one_array(f"fft.{name}", a)
  rank = typeof(x).ndim
  wanted = None if s is None else tuple([index(n) for n in s])
  places = _places(name, rank, wanted, axes)
  x = _prepared(name, x, kind)
  if not places:
    return x
  sizes = _sizes(name, typeof(x).shape, kind, wanted, places)
  for i, (axis, n) in enumerate(zip(places, sizes)):
    half = kind == FftType.IRFFT and i == len(places) - 1
    x = _resized(x, axis, n // 2 + 1 if half and n else n)
  scale = _scale(norm, kind, math.prod(sizes))
  x = _transformed(x, kind, places, sizes)
  return x if scale == 1 else lax.mul(x, np.asarray(scale, typeof(x).dtype)[()])


def _places(name: str, rank: int, s: Axes | None, axes: Sequence[Any] | None) -> Axes:
  if axes is None:
    if s is None:
      return tuple(range(rank))
    if len(s) > rank:
      raise ValueError(
          f"fft.{name}: s={s} has more sizes than the array dimensions, {rank}")
    return tuple(range(rank - len(s), rank))
  found = tuple([canonical_axis(d, rank, f"fft.{name}") for d in axes])
  if len(set(found)) != len(found):
    raise ValueError(
        f"jax.numpy.fft.{name} does not support repeated axes. Got axes {_listed(axes)}.")
  if s is not None and len(s) != len(found):
    raise ValueError(
        f"fft.{name}: Shape and axes have different lengths: got s={s} and "
        f"axes={tuple(axes)}")
  return found


def _sizes(
    name: str, shape: Axes, kind: FftType, s: Axes | None, places: Axes) -> Axes:
  if s is not None:
    if any(n <= 0 for n in s):
      raise ValueError(f"fft.{name}: the sizes of a transform must be positive, got {s}")
    return s
  sizes = [shape[d] for d in places]
  if kind == FftType.IRFFT:
    sizes[-1] = max(0, 2 * (sizes[-1] - 1))
  return tuple(sizes)


def _prepared(name: str, x: Any, kind: FftType) -> Any:
  """The operand in a dtype that is transformed."""
  dtype = typeof(x).dtype
  whole = not dtypes.issubdtype(dtype, np.inexact)
  double = dtype.name in ("float64", "complex128") or (
      whole and dtypes.canonicalize_dtype(np.float64) == np.float64)
  if kind == FftType.RFFT:
    if is_kind(x, np.complexfloating):
      raise ValueError(
          f"fft.{name} transforms real numbers only, got dtype {dtype}; use the complex "
          "transform, or the real part")
    return convert(x, np.dtype(np.float64 if double else np.float32))
  return convert(x, np.dtype(np.complex128 if double else np.complex64))


def _resized(x: Any, axis: int, n: int) -> Any:
  """Cuts an axis, or appends zeros to it."""
  aval = typeof(x)
  have = aval.shape[axis]
  if have > n:
    return lax.slice_in_dim(x, 0, n, axis=axis)
  if have < n:
    config = [(0, n - have if d == axis else 0, 0) for d in range(aval.ndim)]
    return lax.pad(x, np.zeros((), aval.dtype)[()], config)
  return x


def _scale(norm: Norm, kind: FftType, n: int) -> float:
  """What lax's result is multiplied with: there, inverse transforms are divided by n."""
  if n == 0:
    return 1.0
  if norm == "ortho":
    return math.sqrt(n) if kind in _INVERSE else 1 / math.sqrt(n)
  if norm == "forward":
    return float(n) if kind in _INVERSE else 1 / n
  return 1.0


def _transformed(x: Any, kind: FftType, places: Axes, sizes: Axes) -> Any:
  """In groups of axes; the last axis is the one with half a spectrum, if there is one."""
  groups = _groups(places, sizes)
  if kind == FftType.RFFT:
    x = _group(x, kind, groups[-1])
    rest = FftType.FFT
  elif kind == FftType.IRFFT:
    rest = FftType.IFFT
  else:
    rest = kind
  last = [] if kind == FftType.RFFT else [groups[-1]]
  for group in groups[:-1]:
    x = _group(x, rest, group)
  for group in last:
    x = _group(x, kind, group)
  return x


def _groups(places: Axes, sizes: Axes) -> list[list[tuple[int, int]]]:
  """Pairs of axis and size, at most three a group; the last one has the last axis."""
  pairs = list(zip(places, sizes))
  *others, last = pairs
  others.sort()
  others.append(last)
  groups = []
  while others:
    groups.append(others[-_AT_ONCE:])
    del others[-_AT_ONCE:]
  return groups[::-1]


def _group(x: Any, kind: FftType, group: list[tuple[int, int]]) -> Any:
  """Transforms some axes, which are moved to the end for it."""
  rank = typeof(x).ndim
  if kind in (FftType.FFT, FftType.IFFT):
    group = sorted(group)
  axes = [axis for axis, _ in group]
  order = (*[d for d in range(rank) if d not in axes], *axes)
  x = lax.fft(lax.transpose(x, order), kind, [n for _, n in group])
  return lax.transpose(x, tuple(order.index(d) for d in range(rank)))
