"""The exponential of a matrix, by scaling and squaring."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

import gnomon.numpy as gnp
from gnomon import custom_jvp, jvp, lax
from gnomon.api.stopping import stop_gradient
from gnomon.core.primitive import Primitive
from gnomon.core.rule import jvp_rule, transpose_rule, typing_rule
from gnomon.core.structural import instantiate
from gnomon.core.types import ShapedArray, typeof
from gnomon.core.zero import Zero
from gnomon.lax._programs import lower_as
from gnomon.lax.linalg import _matrix, _solve
from gnomon.numpy._compiled import compiled
from gnomon.scipy.linalg._arguments import matrices, stacked

Values = Sequence[Any]
# By the precision: the degree of the approximant, and up to which measure of a matrix it
# is exact to the last bit. A. H. Al-Mohy, N. J. Higham, "A new scaling and squaring
# algorithm for the matrix exponential", SIAM J. Matrix Anal. Appl. 31, 2009.
_DEGREES = {"float32": (7, 3.925724783138660), "float64": (13, 4.25)}


@compiled(static=("upper_triangular", "max_squarings"))
def expm(A: Any, *, upper_triangular: bool = False, max_squarings: int = 16) -> Any:
  """The exponential of square matrices.

  By Padé's approximant of a power of 1/2 of the matrix. How small that must be is read
  from the fourth and sixth power of the matrix, which for a badly scaled one say much
  less than its norm does; such a one is balanced first. The derivative is the exact one,
  of any order.

  A. H. Al-Mohy, N. J. Higham, "A new scaling and squaring algorithm for the matrix
  exponential", SIAM J. Matrix Anal. Appl. 31, 2009.

  Args:
    A: an array of shape `(..., n, n)`.
    upper_triangular: reads the upper triangle only, and takes the other as zeros.
    max_squarings: how often an approximant may be squared; where more would be needed,
      the result is nan.

  Returns:
    An array of the shape of `A`.

  >>> from gnomon import numpy as gnp
  >>> from gnomon.scipy import linalg
  >>> linalg.expm(gnp.array([[0.0, 1.0], [0.0, 0.0]])).tolist()
  [[1.0, 1.0], [0.0, 1.0]]

  Raises:
    TypeError: `A` is no array, or of half precision.
    ValueError: `A` has no square matrices.
  """
  (a,) = matrices("expm", A=A)
  if upper_triangular:
    a = gnp.triu(a)
  if not a.size:
    return a
  return _expm(a, upper_triangular, int(max_squarings))


def _scaled_squared(a: Any, upper: bool, most: int) -> Any:
  degree, largest = _DEGREES[_matrix.real_dtype(a.dtype).name]
  powers = [_matrix.mm(a, a)]
  powers += [_matrix.mm(powers[0], powers[0])]
  powers += [_matrix.mm(powers[1], powers[0])]
  shift = _balance(*map(stop_gradient, (a, *powers[1:])), largest=largest)
  balance = gnp.ldexp(gnp.ones((), _matrix.real_dtype(a.dtype)), shift).astype(a.dtype)
  a, *powers = [x * balance for x in (a, *powers)]
  count = _squarings(
      *map(stop_gradient, (a, *powers[1:])), degree=degree, largest=largest, most=most)
  used = gnp.clip(count, 0, most)
  scale = [_power_of_half(used * k, a) for k in (1, 2, 4, 6)]
  a, *powers = [x * s for x, s in zip((a, *powers), scale, strict=True)]
  odd, even = _approximant(a, powers, degree)
  if upper:
    x = lax.linalg.triangular_solve(even - odd, even + odd, left_side=True)
  else:
    x = _solve.solve(even - odd, even + odd)
  x = _squared(x, used[..., None, None]) * _matrix.flip(balance)
  return gnp.where((count > most)[..., None, None], gnp.nan, x)


def _power_of_half(k: Any, like: Any) -> Any:
  one = gnp.ones((), _matrix.real_dtype(like.dtype))
  return gnp.ldexp(one, -k)[..., None, None].astype(like.dtype)


def _norm(x: Any) -> Any:
  return gnp.abs(x).sum(-2).max(-1)


def _measure(a4: Any, a6: Any) -> Any:
  """How large a matrix is, as the remainder of an approximant sees it."""
  return gnp.maximum(_norm(a4) ** (1 / 4), _norm(a6) ** (1 / 6))


def _balance(a: Any, a4: Any, a6: Any, *, largest: float) -> Any:
  """Powers of 2 for the elements of a matrix, by a diagonal similarity.

  0 but for matrices whose norm says far more than their powers do. There, to exchange
  rows by the size of elements would be ruinous. The rows and columns of the result have
  about the same largest elements, as in E. E. Osborne, "On pre-conditioning of matrices",
  J. ACM 7, 1960, but all at once, by half steps.
  """
  far = _norm(a) > 1024 * gnp.maximum(_measure(a4, a6), largest)
  size = gnp.where(_matrix.eye(a.shape, bool), 0, gnp.abs(a))
  size = gnp.log2(size)
  limit = np.finfo(size.dtype).maxexp // 2 - 4

  def step(shift: Any) -> Any:
    shifted = size + shift[..., None, :] - shift[..., :, None]
    rows, columns = shifted.max(-1), shifted.max(-2)
    both = far[..., None] & gnp.isfinite(rows) & gnp.isfinite(columns)
    return gnp.where(both, (rows - columns) / 4, 0)

  def move(state: Any) -> Any:
    i, shift, by = state
    shift = gnp.clip(shift + by, -limit, limit)
    return i + 1, shift, step(shift)

  start = gnp.zeros(a.shape[:-1], size.dtype)
  _, shift, _ = lax.while_loop(
      lambda state: (state[0] < 64) & (gnp.abs(state[2]) > 0.5).any(), move,
      (0, start, step(start)))
  shift = gnp.round(shift).astype(np.int32)
  return shift[..., None, :] - shift[..., :, None]


def _squarings(
    a: Any, a4: Any, a6: Any, *, degree: int, largest: float, most: int) -> Any:
  """How often to halve each matrix; more than `most` where that would not be enough."""
  measure = _measure(a4, a6)
  tiny = np.finfo(measure.dtype).tiny
  count = gnp.ceil(gnp.log2(gnp.maximum(measure, tiny) / largest))
  count = gnp.where(count <= most, gnp.maximum(count, 0), most + 1).astype(np.int32)
  # Where terms cancel in the powers of a matrix, the last bits of the approximant are
  # wrong by more than the measure tells: what its remainder would be for the moduli.
  size = gnp.abs(a) * _power_of_half(gnp.minimum(count, most), measure)
  steps = 2 * degree

  def grow(_: Any, state: Any) -> Any:
    row, exponent = state
    row = _matrix.mm(row, size)
    top = gnp.maximum(row.max((-2, -1), keepdims=True), tiny)
    return row / top, exponent + gnp.log2(top[..., 0, 0])

  start = size.sum(-2, keepdims=True)
  norm = gnp.maximum(start.max((-2, -1)), tiny)
  state = start / norm[..., None, None], gnp.zeros(start.shape[:-2], start.dtype)
  _, exponent = lax.fori_loop(0, steps, grow, state)
  constant = math.factorial(degree) ** 2 / (
      math.factorial(2 * degree) * math.factorial(2 * degree + 1))
  limit = math.log2(constant / np.finfo(measure.dtype).eps * 2)
  more = gnp.ceil((exponent + limit) / steps)
  more = gnp.clip(more, 0, most).astype(np.int32)
  return gnp.where(count > most, count, gnp.minimum(count + more, most))


def _approximant(a: Any, powers: Values, degree: int) -> tuple[Any, Any]:
  """The odd and the even part of the numerator; the constant term is 1."""
  b = [
      math.factorial(2 * degree - j) * math.factorial(degree) / (
          math.factorial(2 * degree) * math.factorial(degree - j) * math.factorial(j))
      for j in range(degree + 1)]
  one = _matrix.eye(a.shape, a.dtype)

  def series(first: int) -> Any:
    """The terms of every second power, over that of `first`."""
    low, high = range(first, first + 7, 2), range(first + 8, degree + 1, 2)
    out = sum(b[j] * x for j, x in zip(low, (one, *powers), strict=True))
    if high:
      out += _matrix.mm(powers[2], sum(
          b[j] * x for j, x in zip(high, powers, strict=True)))
    return out

  return _matrix.mm(a, series(1)), series(0)


def _squared(x: Any, count: Any) -> Any:
  """Squares each matrix as often as its count says."""
  last = count.max()

  def square(state: Any) -> Any:
    i, x = state
    return i + 1, gnp.where(i < count, _matrix.mm(x, x), x)

  start = gnp.zeros((), count.dtype)
  return lax.while_loop(lambda state: state[0] < last, square, (start, x))[1]


def _expm(a: Any, upper: bool, most: int) -> Any:
  @custom_jvp
  def value(a: Any) -> Any:
    return _scaled_squared(a, upper, most)

  value.defjvp(lambda primals, tangents: (
      _expm(primals[0], upper, most), _frechet(*primals, *tangents, most=most)))
  return value(a)


# ---- the derivative


def _frechet(a: Any, e: Any, *, most: int) -> Any:
  return expm_frechet_p.apply(a, e, most=most)[0]


expm_frechet_p = Primitive("expm_frechet")


@typing_rule.define(expm_frechet_p)
def _(a: ShapedArray, e: ShapedArray, *, most: int) -> tuple[ShapedArray]:
  del a, most
  return (ShapedArray(e.shape, e.dtype),)


def _program(a: Any, e: Any, *, most: int) -> Values:
  return [jvp(lambda a: _scaled_squared(a, upper=False, most=most), (a,), (e,))[1]]


lower_as(expm_frechet_p, _program)
_matrix.batch_leading(expm_frechet_p)


@jvp_rule.define(expm_frechet_p)
def _(primals: Values, tangents: Values, *, most: int) -> tuple[Values, Values]:
  """The derivative L of exp in the direction e is a block of exp([[a, e], [0, a]]).

  So that of L in the direction (da, de) is one of the derivative of that exponential.
  R. Mathias, "A chain rule for matrix functions and applications", SIAM J. Matrix Anal.
  Appl. 17, 1996.
  """
  (a, e), (da, de) = primals, tangents
  out = _frechet(a, e, most=most)
  if type(da) is Zero:
    t = de if type(de) is Zero else _frechet(a, de, most=most)
    return [out], [t]
  n = typeof(a).shape[-1]
  zero = gnp.zeros_like(a)
  point, move = (
      gnp.block([[x, y], [zero, x]]) for x, y in ((a, e), (da, instantiate(de))))
  return [out], [_frechet(point, move, most=most)[..., :n, n:]]


@transpose_rule.define(expm_frechet_p)
def _(cts: Values, args: Values, *, most: int) -> list[Any]:
  """Of L = integral of exp(s a) e exp((1 - s) a): the same for the transposed matrix."""
  if type(cts[0]) is Zero:
    return [None, Zero(args[1].aval)]
  return [None, _frechet(_matrix.flip(args[0]), cts[0], most=most)]


@compiled(static=("method", "compute_expm"))
def expm_frechet(
    A: Any, E: Any, *, method: str | None = None, compute_expm: bool = True) -> Any:
  """The derivative of the exponential of a matrix, in one direction.

  Args:
    A: an array of shape `(..., n, n)`.
    E: the directions, an array whose leading axes broadcast with those of `A`.
    method: None, 'SPS' or 'blockEnlarge', the algorithms of SciPy, for the same one.
    compute_expm: gives the exponential too.

  Returns:
    `(expm(A), L)` or `L`, with `expm(A + E) = expm(A) + L` but for terms of second order.

  >>> from gnomon import numpy as gnp
  >>> from gnomon.scipy import linalg
  >>> zero, one = gnp.zeros((2, 2)), gnp.eye(2)
  >>> linalg.expm_frechet(zero, one, compute_expm=False).tolist()
  [[1.0, 0.0], [0.0, 1.0]]

  Raises:
    TypeError: an argument is no array, or of half precision.
    ValueError: the shapes do not fit, or the method does not exist.
  """
  name = "expm_frechet"
  if method not in (None, "SPS", "blockEnlarge"):
    raise ValueError(
        f"linalg.{name}: method must be None, 'SPS' or 'blockEnlarge', got {method!r}")
  a, e = matrices(name, A=A, E=E)
  if a.shape[-1] != e.shape[-1]:
    raise ValueError(
        f"linalg.{name}: A and E must have matrices of one size, got the shapes "
        f"{a.shape} and {e.shape}")
  a, e = stacked(a, e)
  if not a.size:
    return (a, e) if compute_expm else e
  derivative = _frechet(a, e, most=_MOST)
  return (_expm(a, upper=False, most=_MOST), derivative) if compute_expm else derivative


_MOST = 16
