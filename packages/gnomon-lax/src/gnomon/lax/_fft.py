"""Discrete Fourier transforms."""

from __future__ import annotations

import enum
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from gnomon.core import dtypes
from gnomon.core.derive import linear
from gnomon.core.primitive import Primitive
from gnomon.core.rule import batch_rule, lower, typing_rule
from gnomon.core.structural import broadcast_in_dim, convert
from gnomon.core.types import ShapedArray, typeof
from gnomon.core.zero import Zero
from gnomon.lax._arithmetic import mul
from gnomon.lax._complex import complex, conj
from gnomon.lax._creation import full_like
from gnomon.lax._shape import ints
from gnomon.transform.vmap import to_dim

Values = Sequence[Any]
Lengths = tuple[int, ...]
_COMPLEX = ("complex64", "complex128")


class FftType(enum.IntEnum):
  """The kinds of discrete Fourier transform.

  >>> from gnomon import lax
  >>> lax.FftType.RFFT.name
  'RFFT'
  """

  FFT = 0
  """From complex numbers to complex numbers."""
  IFFT = 1
  """The inverse of it."""
  RFFT = 2
  """From real numbers to the half of their complex transform that determines the rest."""
  IRFFT = 3
  """The inverse of it."""


def fft(x: Any, fft_type: FftType | str, fft_lengths: Sequence[int]) -> Any:
  """Discrete Fourier transform over the last dimensions.

  Args:
    x: an array; it is made complex, but for RFFT, which takes real numbers.
    fft_type: the kind, or its name (`"fft"`, `"irfft"`, …).
    fft_lengths: the sizes of the last one to three dimensions; those of the result for
      IRFFT.

  Returns:
    An array like `x`, complex; for RFFT, the last dimension has size `n // 2 + 1`, where
    n is the last length; for IRFFT it is real, and the last dimension of `x` has that
    size.

  >>> from gnomon import lax
  >>> import numpy as np
  >>> lax.fft(np.float32([1, 0, 0, 0]), "rfft", (4,)).tolist()
  [(1+0j), (1+0j), (1+0j)]

  Raises:
    TypeError: the number of a kind is none.
    ValueError: the kind does not exist, the dtype does not suit it, or the lengths are
      not those of the dimensions.
  """
  kind = _kind(fft_type)
  return fft_p.apply(_operand(x, kind), fft_type=kind, fft_lengths=ints(fft_lengths))[0]


def _operand(x: Any, kind: FftType) -> Any:
  """The operand in the dtype that is transformed."""
  dtype = typeof(x).dtype
  if kind == FftType.RFFT:
    if dtypes.issubdtype(dtype, np.complexfloating):
      raise ValueError(
          f"only real valued inputs supported for rfft, got dtype {dtype}: use the kind "
          "FFT, or take the real part")
    whole = dtypes.issubdtype(dtype, np.integer) or dtype == np.bool_
    return convert(x, dtypes.canonicalize_dtype(np.float64)) if whole else x
  if dtype.name in _COMPLEX:
    return x
  double = dtype.name == "float64" or (
      not dtypes.issubdtype(dtype, np.inexact)
      and dtypes.canonicalize_dtype(np.complex128) == np.complex128)
  return convert(x, np.dtype(np.complex128 if double else np.complex64))


def _kind(given: Any) -> FftType:
  kinds = ", ".join(FftType.__members__)
  if isinstance(given, str):
    found = FftType.__members__.get(given.upper())
    if found is None:
      raise ValueError(f"Unknown FFT type {given!r}; expected one of {kinds}")
    return found
  if given not in tuple(FftType):
    raise TypeError(f"Unknown FFT type value {given!r}; expected one of {kinds}")
  return FftType(given)


fft_p = Primitive("fft")


@typing_rule.define(fft_p)
def _(x: ShapedArray, *, fft_type: FftType, fft_lengths: Lengths) -> tuple[ShapedArray]:
  name, n = fft_type.name, len(fft_lengths)
  if not 1 <= n <= 3:
    raise ValueError(
        f"fft transforms one to three dimensions, got fft_lengths={fft_lengths}")
  if n > x.ndim:
    raise ValueError(
        f"FFT input shape {x.shape} must have at least as many input dimensions as "
        f"fft_lengths {fft_lengths}")
  accepted = ("float32", "float64") if fft_type == FftType.RFFT else _COMPLEX
  if x.dtype.name not in accepted:
    raise ValueError(
        f"{name} input must be {' or '.join(accepted)}, got {x.dtype}; convert it with "
        "lax.convert_element_type")
  lengths = list(fft_lengths)
  half = lengths[-1] // 2 + 1 if lengths[-1] else 0
  expected = lengths
  if fft_type == FftType.IRFFT:
    expected = [*lengths[:-1], half]
  if list(x.shape[-n:]) != expected:
    wanted = f"fft_lengths {fft_lengths}"
    if fft_type == FftType.IRFFT:
      wanted = (
          f"all except the last fft_length, got fft_lengths={fft_lengths}; the last one "
          f"must be {half}, half of the spectrum")
    raise ValueError(
        f"{name} input shape {x.shape} minor dimensions must be equal to {wanted}")
  dtype, shape = x.dtype, x.shape
  if fft_type == FftType.RFFT:
    dtype = np.dtype("complex64" if dtype == np.float32 else "complex128")
    shape = (*x.shape[:-1], half)
  elif fft_type == FftType.IRFFT:
    dtype = np.finfo(dtype).dtype
    shape = (*x.shape[:-1], lengths[-1])
  return (ShapedArray(shape, dtype),)


@lower.define(fft_p)
def _(ctx: Any, x: Any, *, fft_type: FftType, fft_lengths: Lengths) -> Values:
  b, out = ctx.b, ctx.avals_out[0]
  if out.size == 0 or ctx.avals_in[0].size == 0:
    return [b.full(out, 0)]
  return [b.op1("stablehlo.fft", b.tensor(out), (x,), {
      "fft_type": b.attr(f"#stablehlo<fft_type {fft_type.name}>"),
      "fft_length": b.i64s(fft_lengths)})]


def _transpose(
    cts: Values, args: Values, *, fft_type: FftType, fft_lengths: Lengths) -> list[Any]:
  """The matrices of FFT and IFFT are symmetric; the others are halves of them.

  In the half spectrum each number but the first, and the last of an even length, also
  stands
  for its conjugate: these count once, the others twice.
  """
  ct = cts[0]
  if type(ct) is Zero:
    return [Zero(args[0].aval)]
  if fft_type == FftType.RFFT:
    weights = _weights(fft_lengths[-1], 0.5, math.prod(fft_lengths))
    return [fft(_weighted(conj(ct), weights), FftType.IRFFT, fft_lengths)]
  if fft_type == FftType.IRFFT:
    weights = _weights(fft_lengths[-1], 2.0, 1 / math.prod(fft_lengths))
    return [_weighted(conj(fft(ct, FftType.RFFT, fft_lengths)), weights)]
  return [fft(ct, fft_type, fft_lengths)]


def _weights(n: int, others: float, factor: float) -> np.ndarray[Any, Any]:
  """A number for each element of the half spectrum of a length."""
  weights = np.full(n // 2 + 1, others * factor)
  weights[0] = factor
  if n % 2 == 0:
    weights[-1] = factor
  return weights


def _weighted(x: Any, weights: np.ndarray[Any, Any]) -> Any:
  aval = typeof(x)
  part = weights.astype(np.finfo(aval.dtype).dtype)
  factors = broadcast_in_dim(part, aval.shape, (aval.ndim - 1,))
  return mul(x, complex(factors, full_like(factors, 0)))


linear(fft_p, _transpose)


@batch_rule.define(fft_p)
def _(axis: Any, args: Values, dims: Values, **params: Any) -> tuple[Values, Values]:
  x = to_dim(args[0], dims[0], 0, axis.size)
  return fft_p.apply(x, **params), (0,)
