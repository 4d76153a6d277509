"""The gamma function and what is made of it."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

import gnomon.numpy as gnp
from gnomon import custom_jvp, lax
from gnomon.core.types import typeof
from gnomon.numpy._compiled import compiled
from gnomon.numpy._promotion import promote_args_inexact
from gnomon.scipy.special._complex_gamma import complex_gamma, is_complex, log_gamma
from gnomon.scipy.special._series import widened


@compiled()
def gammaln(x: Any) -> Any:
  r"""The logarithm of the gamma function's modulus, elementwise; inf at its poles.

  Args:
    x: array or number, not complex.

  >>> from gnomon.scipy import special
  >>> round(special.gammaln(5.0).item(), 5)
  3.17805

  Raises:
    TypeError: `x` is no array and no number.
  """
  return lax.lgamma(*promote_args_inexact("gammaln", x))


@compiled()
def loggamma(x: Any) -> Any:
  r"""The logarithm of the gamma function, elementwise; nan where that is negative.

  Args:
    x: array or number; of complex numbers, the branch that is real on the positive axis
      and has its cut along the negative one.

  >>> from gnomon.scipy import special
  >>> special.loggamma(2.0).item(), special.loggamma(-0.5).item()
  (0.0, nan)

  Raises:
    TypeError: `x` is no array and no number.
  """
  (x,) = promote_args_inexact("loggamma", x)
  if is_complex(x):
    return log_gamma(x)
  return gnp.where(x < 0, gnp.nan, lax.lgamma(x))


@compiled()
def gammasgn(x: Any) -> Any:
  """The sign of the gamma function, elementwise; nan at the negative integers.

  Args:
    x: array or number, not complex.

  >>> from gnomon.scipy import special
  >>> [special.gammasgn(x).item() for x in (0.5, -0.5, -1.5)]
  [1.0, -1.0, 1.0]

  Raises:
    TypeError: `x` is no array and no number.
  """
  (x,) = promote_args_inexact("gammasgn", x)
  floor = gnp.floor(x)
  odd = floor - 2 * gnp.floor(floor / 2) != 0
  below = gnp.where(floor == x, gnp.nan, gnp.where(odd, -1, 1))
  zero = gnp.where(gnp.signbit(x), -1, 1)
  sign = gnp.where(x > 0, 1, gnp.where(x < 0, below, gnp.where(x == 0, zero, gnp.nan)))
  return sign.astype(typeof(x).dtype)


_STIRLING = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156)


def _stirling_gamma(x: Any) -> Any:
  """For x of 10 or more: by powers, which are exact, not of a large logarithm."""
  most = 200.0 if typeof(x).dtype.itemsize == 8 else 40.0  # infinite from there on
  x = gnp.clip(x, 10, most)
  inverse = 1 / x
  square = inverse * inverse
  series = gnp.full_like(x, _STIRLING[-1])
  for c in _STIRLING[-2::-1]:
    series = series * square + c
  half = x ** (0.5 * x - 0.25)  # the whole power would overflow before the result
  less = gnp.exp(-x) * half * math.sqrt(2 * math.pi)
  return less * (1 + gnp.expm1(series * inverse)) * half


@custom_jvp
def _gamma(x: Any) -> Any:
  near = gnp.abs(x) < 1  # where the logarithm is large beside 0
  value = gnp.exp(lax.lgamma(gnp.where(near, x + 1, x)))
  value = gnp.where(near, value / x, gammasgn(x) * value)
  return gnp.where(x >= 10, _stirling_gamma(x), value)


_gamma.defjvps(lambda t, ans, x: t * (ans * lax.digamma(x)))


@compiled()
def gamma(x: Any) -> Any:
  r"""The gamma function, :math:`\int_0^\infty t^{x-1} e^{-t} dt`, elementwise.

  Args:
    x: array or number, real or complex; the result is nan at the negative integers, and
      inf with the sign of the zero at 0.

  >>> from gnomon.scipy import special
  >>> round(special.gamma(5.0).item(), 4)
  24.0

  Raises:
    TypeError: `x` is no array and no number.
  """
  (x,) = promote_args_inexact("gamma", x)
  if is_complex(x):
    return complex_gamma(x)
  x, narrow = widened(x)
  return narrow(_gamma(x))


@compiled(static=("exact",))
def factorial(n: Any, exact: bool = False) -> Any:
  """The factorial, elementwise; 0 for negative numbers.

  Args:
    n: array or number; between integers it is interpolated by the gamma function.
    exact: integers of any size are not available; must be false.

  >>> from gnomon.scipy import special
  >>> round(special.factorial(4).item(), 4)
  24.0

  Raises:
    NotImplementedError: `exact` is true.
    TypeError: `n` is no array and no number.
  """
  if exact:
    raise NotImplementedError(
        "factorial with exact=True needs integers of any size, which arrays do not hold; "
        "use math.factorial")
  (n,) = promote_args_inexact("factorial", n)
  n, narrow = widened(n)
  below = n < 0
  m = gnp.where(below, 0, n)
  large = m >= 10  # there the sum of m and 1 would be rounded
  value = _gamma(gnp.where(large, m, m + 1))
  return narrow(gnp.where(below, 0, gnp.where(large, m, 1) * value))


def is_pole(x: Any) -> Any:
  """Where the gamma function is infinite."""
  return (x <= 0) & (gnp.floor(x) == x)


def _betaln(a: Any, b: Any) -> Any:
  """The logarithm of |B(a, b)|; for large arguments, by differences of logarithms."""
  small, large = gnp.minimum(a, b), gnp.maximum(a, b)
  plain = lax.lgamma(a) + (lax.lgamma(b) - lax.lgamma(a + b))
  # A pole of Gamma(small) against that of Gamma(small + large): their quotient is finite
  # where large is an integer that keeps the sum at or below 0. Reflection moves it:
  # B(-n, m) = (-1)^m B(n + 1 - m, m).
  n = -small
  both = is_pole(small) & (large > 0) & (gnp.floor(large) == large) & (large <= n)
  first = gnp.where(both, n + 1 - large, 1)
  other = gnp.where(both, large, 1)
  moved = lax.lgamma(first) + (lax.lgamma(other) - lax.lgamma(first + other))
  # For large arguments lgamma(large) - lgamma(small + large) cancels: Stirling's series.
  far = (small > 0) & (large >= 10)
  s, t = gnp.where(far, small, 1), gnp.where(far, large, 10)
  rest = _stirling_rest(t) - _stirling_rest(s + t)
  ratio = -s * gnp.log(t) - (s + t - 0.5) * gnp.log1p(s / t) + s + rest
  apart = lax.lgamma(s) + ratio
  return gnp.where(both, moved, gnp.where(far, apart, plain))


def _stirling_rest(x: Any) -> Any:
  """lgamma(x) - ((x - 1/2) log x - x + log(2 pi) / 2) for x of 10 or more.

  Its terms are B(2k) / (2k (2k - 1) x^(2k - 1)): https://dlmf.nist.gov/5.11#E1.
  """
  y, out = 1 / (x * x), 0.0
  for term in (
      1 / 156, -691 / 360360, 1 / 1188, -1 / 1680, 1 / 1260, -1 / 360, 1 / 12):
    out = out * y + term
  return out / x


@compiled()
def betaln(a: Any, b: Any) -> Any:
  r"""The logarithm of the beta function's modulus, elementwise.

  Args:
    a: array or number.
    b: array or number that broadcasts with `a`.

  >>> from gnomon.scipy import special
  >>> round(special.betaln(-2.0, 1.0).item(), 5)
  -0.69315

  Raises:
    TypeError: an argument is no array and no number.
  """
  return _betaln(*gnp.broadcast_arrays(*promote_args_inexact("betaln", a, b)))


@compiled()
def beta(a: Any, b: Any) -> Any:
  r"""The beta function, :math:`\Gamma(a) \Gamma(b) / \Gamma(a + b)`, elementwise.

  Args:
    a: array or number.
    b: array or number that broadcasts with `a`.

  >>> from gnomon.scipy import special
  >>> round(special.beta(-0.5, 2.0).item(), 4)
  -4.0

  Raises:
    TypeError: an argument is no array and no number.
  """
  a, b = gnp.broadcast_arrays(*promote_args_inexact("beta", a, b))
  small, large = gnp.minimum(a, b), gnp.maximum(a, b)
  finite = is_pole(small) & (large > 0) & (gnp.floor(large) == large) & (large <= -small)
  odd = large - 2 * gnp.floor(large / 2) != 0
  sign = gnp.where(
      finite, gnp.where(odd, -1, 1),
      gammasgn(a) * gammasgn(b) * gammasgn(gnp.where(finite, 1, a + b)))
  at_zero = is_pole(a + b) & ~is_pole(a) & ~is_pole(b)  # a pole below: the value is 0
  return gnp.where(at_zero, 0, sign * gnp.exp(_betaln(a, b)))


@compiled(static=("d",))
def multigammaln(a: Any, d: int) -> Any:
  r"""The logarithm of the multivariate gamma function, elementwise.

  :math:`\frac{d (d - 1)}{4} \log \pi + \sum_{j=1}^d \log \Gamma(a + \frac{1 - j}{2})`

  Args:
    a: array or number.
    d: the dimension, a positive integer.

  >>> from gnomon.scipy import special
  >>> round(special.multigammaln(3.0, 1).item(), 5)
  0.69315

  Raises:
    TypeError: `a` is no array and no number, or `d` is no integer.
  """
  d = operator.index(d)
  (a,) = promote_args_inexact("multigammaln", a)
  dtype = typeof(a).dtype
  shifts = np.asarray((1 - np.arange(1, d + 1)) / 2, dtype)
  constant = np.asarray(d * (d - 1) / 4 * math.log(math.pi), dtype)
  shifts = shifts.reshape((1,) * typeof(a).ndim + (d,))
  return gnp.sum(lax.lgamma(gnp.expand_dims(a, -1) + shifts), -1) + constant


@compiled()
def digamma(x: Any) -> Any:
  r"""The digamma function, the derivative of :math:`\log \Gamma`, elementwise.

  Args:
    x: array or number, not complex; nan at 0 and the negative integers.

  >>> from gnomon.scipy import special
  >>> round(special.digamma(1.0).item(), 5)
  -0.57722

  Raises:
    TypeError: `x` is no array and no number.
  """
  return lax.digamma(*promote_args_inexact("digamma", x))


@compiled()
def polygamma(n: Any, x: Any) -> Any:
  r"""The derivative of order `n` of the digamma function, elementwise.

  Args:
    n: array or number: the order, an integer of 0 or more.
    x: array or number that broadcasts with `n`.

  >>> from gnomon.scipy import special
  >>> round(special.polygamma(1, 1.0).item(), 5)
  1.64493

  Raises:
    TypeError: an argument is no array and no number.
  """
  n, x = gnp.broadcast_arrays(*promote_args_inexact("polygamma", n, x))
  return lax.polygamma(n, x)


@compiled()
def gammainc(a: Any, x: Any) -> Any:
  r"""The regularised lower incomplete gamma function, elementwise.

  :math:`\frac{1}{\Gamma(a)} \int_0^x t^{a-1} e^{-t} dt`

  Args:
    a: array or number, not negative.
    x: array or number that broadcasts with `a`, not negative.

  >>> from gnomon.scipy import special
  >>> round(special.gammainc(1.0, 1.0).item(), 5)
  0.63212

  Raises:
    TypeError: an argument is no array and no number.
  """
  return lax.igamma(*gnp.broadcast_arrays(*promote_args_inexact("gammainc", a, x)))


@compiled()
def gammaincc(a: Any, x: Any) -> Any:
  r"""The regularised upper incomplete gamma function, elementwise.

  :math:`\frac{1}{\Gamma(a)} \int_x^\infty t^{a-1} e^{-t} dt`

  Args:
    a: array or number, not negative.
    x: array or number that broadcasts with `a`, not negative.

  >>> from gnomon.scipy import special
  >>> round(special.gammaincc(1.0, 1.0).item(), 5)
  0.36788

  Raises:
    TypeError: an argument is no array and no number.
  """
  return lax.igammac(*gnp.broadcast_arrays(*promote_args_inexact("gammaincc", a, x)))


@compiled()
def betainc(a: Any, b: Any, x: Any) -> Any:
  r"""The regularised incomplete beta function, elementwise.

  :math:`\frac{1}{B(a, b)} \int_0^x t^{a-1} (1 - t)^{b-1} dt`

  Args:
    a: array or number, positive.
    b: array or number that broadcasts with `a`, positive.
    x: array or number that broadcasts with both, from 0 to 1.

  >>> from gnomon.scipy import special
  >>> round(special.betainc(1.0, 1.0, 0.25).item(), 5)
  0.25

  Raises:
    TypeError: an argument is no array and no number.
  """
  operands = gnp.broadcast_arrays(*promote_args_inexact("betainc", a, b, x))
  return lax.betainc(*operands)


@compiled()
def _zeta(x: Any, q: Any) -> Any:
  x, q = gnp.broadcast_arrays(*promote_args_inexact("zeta", x, q))
  # Beyond this, the first term is all that a float64 holds of the sum.
  beyond = x > 1100
  return gnp.where(beyond, q ** -x, lax.zeta(gnp.where(beyond, 2, x), q))


def zeta(x: Any, q: Any = None) -> Any:
  r"""The Hurwitz zeta function, :math:`\sum_{k=0}^\infty (k + q)^{-x}`, elementwise.

  Args:
    x: array or number; the result is inf at 1 and nan below.
    q: array or number that broadcasts with `x`; it must be given.

  >>> from gnomon.scipy import special
  >>> round(special.zeta(2.0, 1.0).item(), 5)
  1.64493

  Raises:
    NotImplementedError: `q` is not given.
    TypeError: an argument is no array and no number.
  """
  if q is None:
    raise NotImplementedError(
        "zeta of one argument, Riemann's, continues below 1, which the series does not; "
        "give q=1 for x above 1")
  return _zeta(x, q)


@compiled()
def poch(z: Any, m: Any) -> Any:
  r"""Pochhammer's symbol, :math:`\Gamma(z + m) / \Gamma(z)`, elementwise.

  Args:
    z: array or number, positive.
    m: array or number that broadcasts with `z`.

  >>> from gnomon.scipy import special
  >>> round(special.poch(2.0, 3.0).item(), 4)
  24.0

  Raises:
    TypeError: an argument is no array and no number.
  """
  z, m = gnp.broadcast_arrays(*promote_args_inexact("poch", z, m))
  value = gnp.exp(lax.lgamma(z + m) - lax.lgamma(z)) * gammasgn(z) * gammasgn(z + m)
  return gnp.where(m == 0, 1, value)


@compiled(static=("repetition",))
def comb(N: Any, k: Any, *, repetition: bool = False) -> Any:
  r"""The number of ways to choose `k` of `N` things, elementwise.

  Args:
    N: array or number.
    k: array or number that broadcasts with `N`.
    repetition: whether a thing may be chosen several times.

  >>> from gnomon.scipy import special
  >>> round(special.comb(5, 2).item(), 4)
  10.0

  Raises:
    TypeError: an argument is no array and no number.
  """
  n, k = gnp.broadcast_arrays(*promote_args_inexact("comb", N, k))
  if repetition:
    n = gnp.where((k == 0) & (n == 0), 1, n + k - 1)
  fine = (n >= k) & (n >= 0) & (k >= 0)
  m, j = gnp.where(fine, n, 1), gnp.where(fine, k, 0)
  ways = gnp.exp(-gnp.log1p(m) - _betaln(m - j + 1, j + 1))
  whole = (gnp.floor(m) == m) & (gnp.floor(j) == j)
  rounded = ways + lax.stop_gradient(gnp.rint(ways) - ways)  # its derivative stays
  return gnp.where(fine, gnp.where(whole, rounded, ways), 0)
