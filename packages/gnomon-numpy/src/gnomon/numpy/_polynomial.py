"""Polynomials as vectors of coefficients, the highest power first."""

from __future__ import annotations

from operator import index
from typing import Any

import numpy as np

from gnomon import lax
from gnomon.core import dtypes
from gnomon.core.structural import broadcast_in_dim, convert, reduce_sum, select_n
from gnomon.core.types import typeof
from gnomon.numpy import _promotion
from gnomon.numpy._compiled import compiled
from gnomon.numpy._convolution import convolve
from gnomon.numpy._promotion import (
  check_arraylike,
  promote_dtypes,
  promote_dtypes_inexact,
)
from gnomon.numpy._values import (
  array_of,
  arrays_of,
  concrete,
  is_kind,
  one_array,
  scalar,
  spread,
)

# ---- values


@compiled(static=("unroll",))
def polyval(p: Any, x: Any, *, unroll: int = 16) -> Any:
  """The value of a polynomial, by Horner's scheme.

  Args:
    p: its coefficients, the highest power first, along the first axis.
    x: where to evaluate it.
    unroll: how many steps of the loop are written out.

  >>> import gnomon.numpy as gnp
  >>> gnp.polyval(gnp.array([1, 0, 2]), 3).item()
  11

  Raises:
    TypeError: an argument is no array and no number.
    ValueError: `p` is a scalar.
  """
  p, x = [array_of(v) for v in promote_dtypes(*arrays_of("polyval", p, x))]
  if not typeof(p).ndim:
    raise ValueError("polyval: p must be a vector of coefficients, got a scalar")
  shape = _promotion.broadcast_shapes("polyval", typeof(p).shape[1:], typeof(x).shape)
  x = spread("polyval", x, shape)
  start = lax.full(shape, 0, typeof(x).dtype)

  def step(total: Any, c: Any) -> tuple[Any, None]:
    return lax.add(lax.mul(total, x), c if not typeof(c).ndim else spread(
        "polyval", c, shape)), None

  return lax.scan(step, convert(start, typeof(x).dtype), convert(p, typeof(x).dtype),
                  unroll=unroll)[0]


# ---- arithmetic


def _aligned(name: str, a1: Any, a2: Any) -> tuple[Any, Any]:
  """Two polynomials of one length: zeros come before the shorter one."""
  xs = [array_of(x) for x in promote_dtypes(*arrays_of(name, a1, a2))]
  xs = [lax.reshape(x, (1,)) if not typeof(x).ndim else x for x in xs]
  n = max(typeof(x).shape[0] for x in xs)
  out = []
  for x in xs:
    shape = typeof(x).shape
    config = [(n - shape[0], 0, 0), *[(0, 0, 0)] * (len(shape) - 1)]
    out.append(lax.pad(x, scalar(0, typeof(x).dtype), config) if n > shape[0] else x)
  return out[0], out[1]


@compiled()
def polyadd(a1: Any, a2: Any) -> Any:
  """The sum of two polynomials.

  >>> import gnomon.numpy as gnp
  >>> gnp.polyadd(gnp.array([1, 2]), gnp.array([5])).tolist()
  [1, 7]

  Raises:
    TypeError: an argument is no array and no number.
  """
  x, y = _aligned("polyadd", a1, a2)
  return lax.bitwise_or(x, y) if is_kind(x, np.bool_) else lax.add(x, y)


@compiled()
def polysub(a1: Any, a2: Any) -> Any:
  """The difference of two polynomials.

  >>> import gnomon.numpy as gnp
  >>> gnp.polysub(gnp.array([1, 2]), gnp.array([5])).tolist()
  [1, -3]

  Raises:
    TypeError: an argument is no array and no number.
  """
  return lax.sub(*_aligned("polysub", a1, a2))


def polymul(a1: Any, a2: Any, *, trim_leading_zeros: bool = False) -> Any:
  """The product of two polynomials.

  Args:
    a1: its coefficients, as a vector.
    a2: the same.
    trim_leading_zeros: whether to drop leading zeros of both first; not under `jit`.

  >>> import gnomon.numpy as gnp
  >>> gnp.polymul(gnp.array([1, 2]), gnp.array([1, 3])).tolist()
  [1.0, 5.0, 6.0]

  Returns:
    Floating-point coefficients.

  Raises:
    TypeError: an argument is no array and no number.
    ValueError: an argument has more than one dimension.
  """
  check_arraylike("polymul", a1, a2)
  x, y = (lax.reshape(v, (1,)) if not typeof(v).ndim else v
          for v in arrays_of("polymul", a1, a2))
  if trim_leading_zeros and typeof(x).size and typeof(y).size:
    x, y = (_trimmed("polymul", v, 0.0) for v in (x, y))
  if not typeof(x).size:
    x = lax.full((1,), 0, typeof(x).dtype)
  if not typeof(y).size:
    y = lax.full((1,), 0, typeof(y).dtype)
  return convolve(x, y, "full")


def _trimmed(name: str, x: Any, tolerance: float) -> Any:
  """A polynomial without its leading zeros; one coefficient stays."""
  value = concrete(
      name, "coefficients", x,
      "Leave trim_leading_zeros or strip_zeros False to have them "
      "traced")
  large = np.flatnonzero(~(np.abs(value) <= tolerance))  # a nan stays too
  start = int(large[0]) if large.size else max(value.shape[0] - 1, 0)
  return lax.slice_in_dim(x, start, value.shape[0]) if start else x


def polydiv(u: Any, v: Any, *, trim_leading_zeros: bool = False) -> tuple[Any, Any]:
  """The quotient of two polynomials, and what remains.

  Args:
    u: its coefficients, as a vector.
    v: the same.
    trim_leading_zeros: whether to drop leading zeros of the remainder; not under `jit`.

  >>> import gnomon.numpy as gnp
  >>> q, r = gnp.polydiv(gnp.array([1.0, 5.0, 7.0]), gnp.array([1.0, 2.0]))
  >>> q.tolist(), r.tolist()
  ([1.0, 3.0], [0.0, 0.0, 1.0])

  Raises:
    TypeError: an argument is no array and no number.
    ValueError: an argument is no vector.
  """
  q, r = _polydiv(u, v)
  return (q, _trimmed("polydiv", r, 1e-14)) if trim_leading_zeros else (q, r)


@compiled()
def _polydiv(u: Any, v: Any) -> tuple[Any, Any]:
  u, v = [array_of(x) for x in promote_dtypes_inexact(*arrays_of("polydiv", u, v))]
  u, v = (lax.reshape(x, (1,)) if not typeof(x).ndim else x for x in (u, v))
  n, m = typeof(u).size, typeof(v).size
  if typeof(u).ndim > 1 or typeof(v).ndim > 1 or not m:
    raise ValueError(
        f"polydiv: u and v must be vectors, v not empty; got {typeof(u)} and {typeof(v)}")
  if n < m:
    return lax.full((1,), 0, typeof(u).dtype), u
  first = lax.index_in_dim(v, 0, keepdims=False)

  def step(rest: Any, k: Any) -> tuple[Any, Any]:
    part = lax.dynamic_slice_in_dim(rest, k, m)
    factor = lax.div(lax.index_in_dim(part, 0, keepdims=False), first)
    part = lax.sub(part, lax.mul(broadcast_in_dim(factor, (m,), ()), v))
    return lax.dynamic_update_slice_in_dim(rest, part, k, 0), factor

  u = convert(u, typeof(u).dtype)
  rest, quotient = lax.scan(step, u, lax.iota(np.int32, n - m + 1))
  return quotient, rest


# ---- derivatives and integrals


@compiled(static=("m",))
def polyder(p: Any, m: int = 1) -> Any:
  """The derivative of a polynomial.

  Args:
    p: its coefficients.
    m: how many times to differentiate.

  >>> import gnomon.numpy as gnp
  >>> gnp.polyder(gnp.array([1.0, 2.0, 3.0])).tolist()
  [2.0, 2.0]

  Returns:
    Floating-point coefficients.

  Raises:
    TypeError: `p` is no array and no number.
    ValueError: `m` is negative.
  """
  m = index(m)
  if m < 0:
    raise ValueError(f"polyder: Order of derivative must be positive, got {m}")
  (p,) = [array_of(x) for x in promote_dtypes_inexact(*arrays_of("polyder", p))]
  n = typeof(p).shape[0]
  if not m:
    return p
  if n <= m:
    return lax.full((0, *typeof(p).shape[1:]), 0, typeof(p).dtype)
  powers = np.arange(n - 1, m - 1, -1, dtype=np.float64)
  factors = np.prod([powers - i for i in range(m)], axis=0)
  p = lax.slice_in_dim(p, 0, n - m)
  factor = array_of(factors.astype(typeof(p).dtype))
  return lax.mul(p, broadcast_in_dim(factor, typeof(p).shape, (0,)))


@compiled(static=("m",))
def polyint(p: Any, m: int = 1, k: Any = None) -> Any:
  """The integral of a polynomial.

  Args:
    p: its coefficients, as a vector.
    m: how many times to integrate.
    k: the constants of integration, in the order in which they come in: a vector of `m`,
      or one for all; by default 0.

  >>> import gnomon.numpy as gnp
  >>> gnp.polyint(gnp.array([2.0, 2.0]), k=3).tolist()
  [1.0, 2.0, 3.0]

  Returns:
    Floating-point coefficients.

  Raises:
    TypeError: an argument is no array and no number.
    ValueError: `m` is negative, or there are not so many constants.
  """
  m = index(m)
  if m < 0:
    raise ValueError(
        f"polyint: Order of integral must be positive (see polyder), got {m}")
  p, k = [array_of(x) for x in promote_dtypes_inexact(
      *arrays_of("polyint", p, 0 if k is None else k))]
  if not m:
    return p
  k = lax.reshape(k, (typeof(k).size,))
  if typeof(k).shape[0] not in (1, m):
    raise ValueError(
        f"polyint: k must be a scalar or a vector of m = {m} constants, got {typeof(k)}")
  if typeof(p).ndim != 1:
    raise ValueError(f"polyint: p must be a vector, got {typeof(p)}")
  constants = lax.full((m,), lax.index_in_dim(k, 0, keepdims=False)) if typeof(
      k).shape[0] != m else k
  all_ = lax.concatenate([p, constants], 0)
  n = typeof(all_).shape[0]
  # A coefficient of p is divided by m powers in turn, the constant that came in i-th by
  # those of the m - 1 - i integrations after it.
  divisors = [
      np.prod([float(n - 1 - j - s) for s in range(min(m, n - 1 - j))] or [1.0])
      for j in range(n)]
  divisor = np.asarray(divisors, np.float64).astype(typeof(all_).dtype)
  return lax.div(all_, array_of(divisor))


# ---- roots


def roots(p: Any, *, strip_zeros: bool = True) -> Any:
  """The complex numbers where a polynomial is 0: eigenvalues of its companion matrix.

  Args:
    p: its coefficients, as a vector.
    strip_zeros: whether to drop leading and trailing zeros first, which decide how many
      roots there are. Under `jit` it must be False; leading zeros then give nan.

  >>> import gnomon.numpy as gnp
  >>> sorted(round(z.real) for z in gnp.roots(gnp.array([1.0, -3.0, 2.0])).tolist())
  [1, 2]

  Raises:
    TypeError: `p` is no array.
    ValueError: `p` is no vector.
    ConcretizationTypeError: `p` is traced, and zeros are to be stripped.
  """
  check_arraylike("roots", p)
  x = one_array("roots", p)
  x = lax.reshape(x, (1,)) if not typeof(x).ndim else x
  if typeof(x).ndim != 1:
    raise ValueError(f"roots: Input must be a vector, got the shape {typeof(x).shape}")
  if not strip_zeros or not typeof(x).size:
    return _roots(x, 0)
  value = concrete("roots", "p", x, "Pass strip_zeros=False to have it traced")
  nonzero = np.flatnonzero(value)
  if not nonzero.size:
    return _roots(lax.slice_in_dim(x, 0, 0), 0)
  start, stop = int(nonzero[0]), int(nonzero[-1]) + 1
  return _roots(lax.slice_in_dim(x, start, stop), value.shape[0] - stop)


@compiled(static=("zeros",))
def _roots(p: Any, zeros: int) -> Any:
  from gnomon.numpy import linalg  # it is a package beside this one, loaded after it
  (p,) = [array_of(x) for x in promote_dtypes_inexact(array_of(p))]
  n = typeof(p).shape[0]
  dtype = dtypes.to_complex_dtype(typeof(p).dtype)
  if n < 2:
    return lax.full((zeros,), 0, dtype)
  first = lax.slice_in_dim(p, 0, 1)
  top = lax.neg(lax.div(
      lax.slice_in_dim(p, 1, n), broadcast_in_dim(first, (n - 1,), (0,))))
  shape = (n - 1, n - 1)
  row, column = (lax.broadcasted_iota(np.int32, shape, d) for d in (0, 1))
  one, zero = (lax.full(shape, v, typeof(p).dtype) for v in (1, 0))
  below = lax.eq(row, lax.add(column, scalar(1, np.int32)))
  matrix = select_n(below, zero, one)
  on_top = lax.eq(row, scalar(0, np.int32))
  matrix = select_n(on_top, matrix, broadcast_in_dim(top, shape, (1,)))
  out = convert(linalg.eigvals(matrix), dtype)
  return lax.concatenate([out, lax.full((zeros,), 0, dtype)], 0) if zeros else out


@compiled()
def poly(seq_of_zeros: Any) -> Any:
  """The coefficients of the polynomial with given roots and a leading 1.

  Args:
    seq_of_zeros: its roots, as a vector; or a matrix, for its characteristic polynomial.

  >>> import gnomon.numpy as gnp
  >>> gnp.poly(gnp.array([1.0, 2.0])).tolist()
  [1.0, -3.0, 2.0]

  Raises:
    TypeError: the argument is no array and no number.
    ValueError: it is neither a vector nor a square matrix.
  """
  (x,) = [array_of(v) for v in promote_dtypes_inexact(*arrays_of("poly", seq_of_zeros))]
  shape = typeof(x).shape
  if len(shape) == 2 and shape[0] == shape[1] and shape[0]:
    from gnomon.numpy import linalg  # it is a package beside this one, loaded after it
    x = linalg.eigvals(x)
  elif len(shape) > 1:
    raise ValueError(f"poly: input must be 1d or non-empty square 2d array, got {shape}")
  x = lax.reshape(x, (typeof(x).size,))
  n = typeof(x).size
  dtype = typeof(x).dtype
  if not n:
    return lax.full((), 1, dtype)
  start = lax.pad(lax.full((1,), 1, dtype), scalar(0, dtype), [(0, n, 0)])

  def step(a: Any, root: Any) -> tuple[Any, None]:
    shifted = lax.pad(a, scalar(0, dtype), [(1, -1, 0)])
    return lax.sub(a, lax.mul(broadcast_in_dim(root, (n + 1,), ()), shifted)), None

  return lax.scan(step, start, convert(x, dtype))[0]


# ---- fits


@compiled(static=("deg", "rcond", "full", "cov"))
def polyfit(
    x: Any, y: Any, deg: int, rcond: float | None = None, full: bool = False,
    w: Any = None,
    cov: bool | str = False) -> Any:
  """The polynomial that fits points best, in the sense of least squares.

  Args:
    x: the points' first coordinates, as a vector.
    y: their second coordinates: a vector, or a matrix with a set of them in each column.
    deg: the degree of the polynomial.
    rcond: singular values below this share of the largest count as 0; by default the
      number of points times the precision of their dtype.
    full: whether to give residuals, rank, singular values and `rcond` too.
    w: weights of the points' distances, not squared.
    cov: whether to give the covariance of the coefficients too; `"unscaled"` takes `w` to
      be the inverse standard deviations.

  >>> import gnomon.numpy as gnp
  >>> x = gnp.array([0.0, 1.0, 2.0])
  >>> [round(c) for c in gnp.polyfit(x, 3 * x + 1, 1).tolist()]
  [3, 1]

  Raises:
    TypeError: `x` or `w` is no vector, or sizes differ.
    ValueError: the degree is negative, or there are too few points for a covariance.
  """
  deg = index(deg)
  if deg < 0:
    raise ValueError(f"polyfit: expected deg >= 0, got {deg}")
  x, y = [array_of(v) for v in promote_dtypes_inexact(*arrays_of("polyfit", x, y))]
  _check_points(x, y)
  n, order, dtype = typeof(x).shape[0], deg + 1, typeof(x).dtype
  rcond = n * float(dtypes.finfo(dtype).eps) if rcond is None else rcond
  left, right = _powers(x, order), y
  if w is not None:
    left, right = _weighted(left, right, w)
  real = lax.abs(left) if is_kind(left, np.complexfloating) else left
  scale = lax.sqrt(reduce_sum(lax.square(real), (0,)))
  left = lax.div(left, broadcast_in_dim(convert(scale, dtype), (n, order), (1,)))
  from gnomon.numpy import linalg  # it is a package beside this one, loaded after it
  c, residuals, rank, s = linalg.lstsq(left, right, rcond)
  c = lax.div(c, broadcast_in_dim(convert(scale, dtype), typeof(c).shape, (0,)))
  if full:
    return c, residuals, rank, s, array_of(rcond)
  return (c, _covariance(left, scale, residuals, y, cov)) if cov else c


def _check_points(x: Any, y: Any) -> None:
  if typeof(x).ndim != 1 or not typeof(x).size:
    raise TypeError(f"polyfit: expected 1D, non-empty vector for x, got {typeof(x)}")
  if typeof(y).ndim not in (1, 2):
    raise TypeError(f"polyfit: expected 1D or 2D array for y, got {typeof(y)}")
  if typeof(x).shape[0] != typeof(y).shape[0]:
    raise TypeError(
        f"polyfit: expected x and y to have same length, got {typeof(x).shape[0]} and "
        f"{typeof(y).shape[0]}")


def _powers(x: Any, order: int) -> Any:
  """The powers of each point, in a row, the highest first."""
  columns = [lax.full(typeof(x).shape, 1, typeof(x).dtype)]
  for _ in range(order - 1):
    columns.append(lax.mul(columns[-1], x))
  wide = [broadcast_in_dim(c, (typeof(x).size, 1), (0,)) for c in reversed(columns)]
  return lax.concatenate(wide, 1)


def _weighted(left: Any, right: Any, w: Any) -> tuple[Any, Any]:
  w = one_array("polyfit", w)
  if typeof(w).ndim != 1:
    raise TypeError(f"polyfit: expected a 1-d array for weights, got {typeof(w)}")
  if typeof(w).shape[0] != typeof(right).shape[0]:
    raise TypeError(
        f"polyfit: expected w and y to have the same length, got {typeof(w).shape[0]} "
        f"and {typeof(right).shape[0]}")
  w = convert(w, typeof(left).dtype)
  return tuple([
      lax.mul(v, broadcast_in_dim(w, typeof(v).shape, (0,))) for v in (left, right)])


def _covariance(left: Any, scale: Any, residuals: Any, y: Any, cov: bool | str) -> Any:
  from gnomon.numpy import linalg  # it is a package beside this one, loaded after it
  n, order = typeof(left).shape
  other = lax.conj(left) if is_kind(left, np.complexfloating) else left
  base = linalg.inv(lax.dot_general(other, left, (((0,), (0,)), ((), ()))))
  dtype = typeof(base).dtype
  sizes = [broadcast_in_dim(convert(scale, dtype), (order, order), (d,)) for d in (0, 1)]
  base = lax.div(base, lax.mul(*sizes))
  if cov == "unscaled":
    return base
  if n <= order:
    raise ValueError(
        "polyfit: the number of data points must exceed order to scale the covariance "
        f"matrix, got {n} points for {order} coefficients; cov='unscaled' needs no more")
  factor = lax.div(convert(residuals, dtype), scalar(n - order, dtype))
  if typeof(y).ndim == 1:
    one = lax.reshape(factor, ())
    return lax.mul(base, broadcast_in_dim(one, (order, order), ()))
  shape = (order, order, typeof(factor).shape[0])
  return lax.mul(broadcast_in_dim(base, shape, (0, 1)), broadcast_in_dim(factor, shape,
      (2,)))
