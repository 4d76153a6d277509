"""What `tools/accuracy.py` measures: functions, exact values, and where they are taken.

An exact value is a number of `mpmath`; points are doubles that the dtype holds.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import mpmath
import numpy as np
from mpmath import mp

Points = Callable[[Any, float], tuple[Any, ...]]


@dataclass(frozen=True)
class Case:
  """A function of one library and where its exact values are.

  Attributes:
    name: `lax.sin`, `scipy.special.erf`; with a word behind it where several cases are
      of one function.
    exact: takes and gives numbers of mpmath.
    points: given a dtype and a share (1: all), arrays of arguments.
    call: the call as Python, in terms of `lax`, `special`, x, y, z, w; by default, of the
      function of that name.
    least: errors count in units of this number where the value is below it: beside zeros,
      where a value has digits that its argument does not decide.
  """

  name: str
  exact: Callable[..., Any]
  points: Points
  call: str = ""
  least: float = 0.0

  @property
  def expression(self) -> str:
    """The call as Python."""
    return self.call or f"{self.name.removeprefix('scipy.').split()[0]}(*args)"


def _random(*key: object) -> np.random.Generator:
  return np.random.default_rng(zlib.crc32(repr(key).encode()))


def _beside(marks: Sequence[float], dtype: Any, steps: int) -> Any:
  """Some floats of the dtype on both sides of each mark."""
  found = []
  for mark in marks:
    up = down = np.asarray(mark, dtype)
    found.append(up)
    for _ in range(steps):
      up = np.nextafter(up, np.asarray(np.inf, dtype))
      down = np.nextafter(down, np.asarray(-np.inf, dtype))
      found += [up, down]
  return np.array(found, dtype)


def line(
    low: float = -math.inf, high: float = math.inf, *marks: float, scale: int = 6,
    dense: tuple[float, float] = (-8.0, 8.0), least: float = 0.0) -> Points:
  """Points of the real line between two bounds.

  Some in every binade of float32, or in every fourth of float64; 50 times as many spread
  over the interval `dense`; and the neighbours of the marks.

  Args:
    low: the lower bound.
    high: the upper bound.
    *marks: zeros, branch points, ends of the range.
    dense: the interval of which more is taken.
    least: the smallest modulus.
    scale: points in each binade.
  """
  def points(dtype: Any, share: float) -> tuple[Any, ...]:
    info, rng = np.finfo(dtype), _random(low, high, marks, np.dtype(dtype).name)
    step = 1 if dtype == np.float32 else 4
    exponents = np.arange(info.minexp, info.maxexp, step, dtype=float)
    several = np.repeat(exponents, max(1, round(scale * share)))
    if share < 1:
      several = rng.choice(several, round(len(exponents) * scale * share))
    sizes = np.ldexp(rng.uniform(1, 2, several.shape), several.astype(int))
    spread = rng.uniform(*dense, round(400 * scale * share))
    x = np.concatenate([sizes, -sizes, spread]).astype(dtype)
    x = np.concatenate([x, _beside([0.5, 1.0, 2.0, *marks], dtype, 3)])
    inside = (x >= low) & (x <= high) & (np.abs(x) >= max(least, info.tiny))
    return (x[inside],)

  return points


def box(*axes: Callable[[np.random.Generator, int], Any], count: int = 600) -> Points:
  """Random points: each axis takes a generator and a number and gives doubles."""
  def points(dtype: Any, share: float) -> tuple[Any, ...]:
    rng = _random(count, len(axes), np.dtype(dtype).name)
    number = max(8, round(count * share))
    return tuple(np.asarray(a(rng, number)).astype(dtype) for a in axes)

  return points


def related(make: Callable[[np.random.Generator, int], Any], count: int = 600) -> Points:
  """Random points whose coordinates depend on one another."""
  def points(dtype: Any, share: float) -> tuple[Any, ...]:
    rng = _random(count, np.dtype(dtype).name)
    found = make(rng, max(8, round(count * share)))
    return tuple(np.asarray(v).astype(dtype) for v in found)

  return points


def log_uniform(low: float, high: float) -> Callable[[np.random.Generator, int], Any]:
  """Numbers between two bounds, as many in each binade."""
  return lambda rng, n: np.exp(rng.uniform(math.log(low), math.log(high), n))


def uniform(low: float, high: float) -> Callable[[np.random.Generator, int], Any]:
  """Numbers between two bounds."""
  return lambda rng, n: rng.uniform(low, high, n)


def whole(low: int, high: int) -> Callable[[np.random.Generator, int], Any]:
  """Integers between two bounds, both included."""
  return lambda rng, n: rng.integers(low, high + 1, n).astype(float)


def _around_mean(rng: np.random.Generator, n: int) -> Any:
  """Parameters of an incomplete gamma function, and arguments around them."""
  a = np.exp(rng.uniform(-5, 8, n))
  return a, a * np.exp(rng.uniform(-2, 2, n) * np.minimum(1, 3 / np.sqrt(a)))


def _around_mode(rng: np.random.Generator, n: int) -> Any:
  """Parameters of an incomplete beta function, and arguments around the mean."""
  a, b = np.exp(rng.uniform(-3, 5, (2, n)))
  return a, b, np.clip(rng.beta(a, b), 1e-6, 1 - 1e-6)


def _powers(rng: np.random.Generator, n: int) -> Any:
  x = np.exp(rng.uniform(-80, 80, n))
  x[: n // 2] = rng.uniform(0.2, 5, n // 2)
  return x, rng.uniform(-80, 80, n) / np.log(x)


def _choices(rng: np.random.Generator, n: int) -> Any:
  all_things = rng.uniform(0, 30, n)
  return all_things, all_things * rng.uniform(0, 1, n)


# ---- exact values that mpmath does not have under this name


def _logit(x: Any) -> Any:
  return mp.log(x / (1 - x)) if x < 1 else mp.inf


def _log_gamma(x: Any) -> Any:
  return mp.re(mp.loggamma(x)) if x > 0 else mp.log(abs(mp.gamma(x)))


def _dawson(x: Any) -> Any:
  if abs(x) > 100:
    s = 1 / (2 * x * x)
    return (1 + s * (1 + 3 * s * (1 + 5 * s * (1 + 7 * s * (1 + 9 * s * (
        1 + 11 * s * (1 + 13 * s))))))) / (2 * x)
  return mp.sqrt(mp.pi) / 2 * mp.exp(-x * x) * mp.erfi(x)


def _faddeeva(x: Any, y: Any) -> Any:
  z = mp.mpc(x, y)
  return mp.exp(-z * z) * mp.erfc(-1j * z)


def _owens_t(h: Any, a: Any) -> Any:
  with mpmath.workdps(25):
    return mp.quad(
        lambda x: mp.exp(-h * h * (1 + x * x) / 2) / (1 + x * x), [0, min(a, 1), a]
    ) / (2 * mp.pi)


def _igamma_by_a(a: Any, x: Any) -> Any:
  return mp.diff(
      lambda t: mp.gammainc(t, 0, x, regularized=True), a, h=mpmath.mpf(10)**-12)


def _random_gamma_grad(a: Any, x: Any) -> Any:
  density = mp.exp((a - 1) * mp.log(x) - x - mp.loggamma(a))
  return -_igamma_by_a(a, x) / density


def _ndtr(x: Any) -> Any:
  return mp.erfc(-x / mp.sqrt(2)) / 2


def _ndtri(p: Any) -> Any:
  if p > 0.01:
    return mp.sqrt(2) * mp.erfinv(2 * p - 1)
  # Newton's steps for log_ndtr, from the leading terms of its asymptotic series
  y = -2 * mp.log(p)
  x = -mp.sqrt(y - mp.log(2 * mp.pi * (y - mp.log(y))))
  for _ in range(8):
    q = _ndtr(x)
    x -= mp.log(q / p) * q / (mp.exp(-x * x / 2) / mp.sqrt(2 * mp.pi))
  return x


def _scaled_bessel(order: int) -> Callable[[Any], Any]:
  return lambda x: mp.exp(-abs(x)) * mp.besseli(order, x)


def _erfcx(x: Any) -> Any:
  if x > 1e4:
    s = 1 / (2 * x * x)
    return (1 - s * (1 - 3 * s * (1 - 5 * s * (1 - 7 * s)))) / (x * mp.sqrt(mp.pi))
  return mp.exp(x * x) * mp.erfc(x)


def _box_cox(log: Callable[[Any], Any]) -> Callable[[Any, Any], Any]:
  return lambda x, power: mp.expm1(power * log(x)) / power if power else log(x)


def _beta_log(a: Any, b: Any) -> Any:
  return mp.loggamma(a) + mp.loggamma(b) - mp.loggamma(a + b)


_TURNS = tuple(k * math.pi / 2 for k in range(-12, 13) if k)
_UNIT: Any = {"dense": (-1.0, 1.0)}

_LAX_LINES: dict[str, tuple[Callable[..., Any], Points]] = {
    "sin": (mp.sin, line(-1e15, 1e15, *_TURNS, dense=(-50, 50))),
    "cos": (mp.cos, line(-1e15, 1e15, *_TURNS, dense=(-50, 50))),
    "tan": (mp.tan, line(-1e15, 1e15, *_TURNS, dense=(-50, 50))),
    "asin": (mp.asin, line(-1, 1, -1, -0.5, **_UNIT)),
    "acos": (mp.acos, line(-1, 1, -1, -0.5, **_UNIT)),
    "atan": (mp.atan, line(-math.inf, math.inf)),
    "sinh": (mp.sinh, line(-800, 800, 88.7, 89.4, 709.7, 710.4, dense=(-20, 20))),
    "cosh": (mp.cosh, line(-800, 800, 88.7, 89.4, 709.7, 710.4, dense=(-20, 20))),
    "tanh": (mp.tanh, line(-math.inf, math.inf)),
    "asinh": (mp.asinh, line(-math.inf, math.inf)),
    "acosh": (mp.acosh, line(1, math.inf, dense=(1, 8))),
    "atanh": (mp.atanh, line(-1, 1, 0.4, -0.4, **_UNIT)),
    "exp": (mp.exp, line(-800, 800, 88.7, -87.3, 709.7, -708.3, dense=(-90, 90))),
    "exp2": (lambda x: mp.mpf(2) ** x, line(-1100, 1100, 127.9, -126, dense=(-130, 130))),
    "expm1": (mp.expm1, line(-800, 800, 88.7, 709.7, math.log(2), -math.log(2))),
    "log": (mp.log, line(0, math.inf, math.sqrt(2), math.sqrt(0.5), dense=(0.1, 8))),
    "log1p": (mp.log1p, line(-1, math.inf, 0.4, -0.4, -0.5, dense=(-1, 4))),
    "logistic": (
        lambda x: 1 / (1 + mp.exp(-x)), line(-800, 800, -88.7, -87.3, dense=(-30, 30))),
    "sqrt": (mp.sqrt, line(0)),
    "rsqrt": (lambda x: 1 / mp.sqrt(x), line(0)),
    "cbrt": (lambda x: mp.sign(x) * mp.cbrt(abs(x)), line()),
    "erf": (mp.erf, line()),
    "erfc": (mp.erfc, line(-30, 30, 9.19, 26.5, dense=(-6, 27))),
    "erf_inv": (mp.erfinv, line(-1, 1, -0.5, 0.99999, **_UNIT, scale=3)),
    "lgamma": (_log_gamma, line(-1e4, math.inf, 8, dense=(-5, 12))),
    "digamma": (mp.digamma, line(-1e4, math.inf, 10, 1.4616321449683623, dense=(-5, 12))),
    "bessel_i0e": (_scaled_bessel(0), line(-1e5, 1e5, 8, 16, dense=(-40, 40))),
    "bessel_i1e": (_scaled_bessel(1), line(-1e5, 1e5, 8, 16, dense=(-40, 40))),
}

_OFF_POLES = ("lgamma", "digamma")


def _away_from_poles(points: Points) -> Points:
  def kept(dtype: Any, share: float) -> tuple[Any, ...]:
    x = points(dtype, share)[0]
    return (x[(x > 0) | (x != np.floor(x))],)
  return kept


LAX = [
    Case(f"lax.{n}", f, _away_from_poles(p) if n in _OFF_POLES else p,
         least=1.0 if n in _OFF_POLES else 0.0)
    for n, (f, p) in _LAX_LINES.items()]
LAX += [
    Case("lax.pow", lambda x, y: x ** y, related(_powers, 3000)),
    Case("lax.atan2", mp.atan2, box(
        lambda rng, n: log_uniform(1e-18, 1e18)(rng, n) * rng.choice([-1, 1], n),
        lambda rng, n: log_uniform(1e-18, 1e18)(rng, n) * rng.choice([-1, 1], n),
        count=3000)),
    Case("lax.igamma", lambda a, x: mp.gammainc(a, 0, x, regularized=True),
         related(_around_mean)),
    Case("lax.igammac", lambda a, x: mp.gammainc(a, x, mp.inf, regularized=True),
         related(_around_mean)),
    Case("lax.igamma_grad_a", _igamma_by_a, related(_around_mean, 60)),
    Case("lax.random_gamma_grad", _random_gamma_grad, related(_around_mean, 60),
         "lax.random_gamma_grad(x, y)"),
    Case("lax.betainc", lambda a, b, x: mp.betainc(a, b, 0, x, regularized=True),
         related(_around_mode, 300)),
    Case("lax.polygamma", lambda m, x: mp.polygamma(int(m), x),
         box(whole(0, 5), log_uniform(1e-3, 1e3), count=1000), least=1.0),
    Case("lax.zeta", mp.zeta, box(uniform(1.01, 20), log_uniform(0.1, 100))),
]

_SPECIAL_LINES: dict[str, tuple[Callable[..., Any], Points]] = {
    "erfcx": (_erfcx, line(-30, math.inf, -9.3, -26.6, dense=(-5, 30))),
    "ndtr": (_ndtr, line(-40, 40, -1, dense=(-10, 10))),
    "log_ndtr": (
        lambda x: mp.log(_ndtr(x)) if x < 5 else mp.log1p(-_ndtr(-x)),
                 line(-1000, 38, -5, -10, -20, -0.7, dense=(-30, 8))),
    "ndtri": (_ndtri, line(0, 1, 0.1, 0.9, 0.135, **_UNIT, scale=2)),
    "expit": (_LAX_LINES["logistic"][0], line(-800, 800, dense=(-30, 30), scale=2)),
    "logit": (_logit, line(0, 1, 0.3, 0.65, dense=(0, 1))),
    "entr": (lambda x: -x * mp.log(x), line(0, 1e30, dense=(0, 4))),
    "gamma": (
        mp.gamma, _away_from_poles(line(-30, 171.5, 34.5, 35, 171, dense=(-5, 36)))),
    "factorial": (mp.factorial, line(0, 170.5, 33.5, dense=(0, 36))),
    "i0": (lambda x: mp.besseli(0, x), line(-700, 700, 8, dense=(-80, 80))),
    "i1": (lambda x: mp.besseli(1, x), line(-700, 700, 8, dense=(-80, 80))),
}

SPECIAL = [Case(f"scipy.special.{n}", f, p) for n, (f, p) in _SPECIAL_LINES.items()]
SPECIAL += [
    Case("scipy.special.xlogy", lambda x, y: x * mp.log(y),
         box(uniform(-9, 9), log_uniform(1e-9, 1e9))),
    Case("scipy.special.xlog1py", lambda x, y: x * mp.log1p(y),
         box(uniform(-9, 9), log_uniform(1e-9, 1e9))),
    Case("scipy.special.rel_entr", lambda p, q: p * mp.log(p / q),
         box(log_uniform(1e-3, 10), log_uniform(1e-3, 10))),
    Case("scipy.special.kl_div", lambda p, q: p * mp.log(p / q) - p + q,
         box(log_uniform(1e-3, 10), log_uniform(1e-3, 10))),
    Case("scipy.special.boxcox", _box_cox(mp.log),
         box(log_uniform(1e-3, 1e3), uniform(-4, 4))),
    Case("scipy.special.boxcox1p", _box_cox(mp.log1p),
         box(log_uniform(1e-6, 1e3), uniform(-4, 4))),
    Case("scipy.special.beta", mp.beta,
         box(log_uniform(1e-3, 30), log_uniform(1e-3, 30))),
    Case("scipy.special.betaln", _beta_log,
         box(log_uniform(1e-3, 1e6), log_uniform(1e-3, 1e6))),
    Case("scipy.special.poch", mp.rf,
         box(log_uniform(0.1, 15), uniform(0, 10))),
    Case("scipy.special.comb", mp.binomial, related(_choices)),
    Case("scipy.special.dawsn", _dawson, line(dense=(-6, 6), scale=3)),
    Case("scipy.special.exp1", mp.e1, line(0, 700, 0.75, 3, dense=(0, 20), scale=3)),
    Case("scipy.special.expi", mp.ei,
         line(-700, 710, 3, 9, 24, 0.3725074107813666, dense=(-5, 30), scale=3)),
    Case("scipy.special.expn", lambda n, x: mp.expint(int(n), x),
         box(whole(0, 20), log_uniform(1e-6, 80), count=300)),
    Case("scipy.special.sici S", mp.si, line(-1e9, 1e9, 4, 9, dense=(-20, 20), scale=3),
         "special.sici(x)[0]"),
    Case("scipy.special.sici C", mp.ci, line(0, 1e9, 4, 9, dense=(0, 20), scale=3),
         "special.sici(x)[1]", least=0.01),
    Case("scipy.special.fresnel S", mp.fresnels,
         line(-1e5, 1e5, 1.5, 3, dense=(-8, 8), least=1e-10, scale=3),
         "special.fresnel(x)[0]"),
    Case("scipy.special.fresnel C", mp.fresnelc,
         line(-1e5, 1e5, 1.5, 3, dense=(-8, 8), scale=3), "special.fresnel(x)[1]"),
    Case("scipy.special.spence", lambda x: mp.re(mp.polylog(2, 1 - x)),
         line(0, 1e6, 1.5, dense=(0, 4), scale=2)),
    Case("scipy.special.bessel_jn 0", lambda x: mp.besselj(0, x),
         line(-1e6, 1e6, 8, dense=(-60, 60), scale=2), "special.bessel_jn(x, v=0)[0]",
         least=0.1),
    Case("scipy.special.bessel_jn 9", lambda x: mp.besselj(9, x),
         line(-1e6, 1e6, 9, dense=(-60, 60), least=1e-3, scale=2),
         "special.bessel_jn(x, v=9)[9]", least=0.1),
    Case("scipy.special.owens_t", _owens_t,
         box(uniform(-6, 6), log_uniform(1e-3, 1e2), count=40)),
    Case("scipy.special.wofz real", lambda x, y: mp.re(_faddeeva(x, y)),
         box(uniform(-8, 8), log_uniform(1e-6, 1e2), count=400),
         "special.wofz(lax.complex(x, y)).real"),
    Case("scipy.special.wofz imaginary", lambda x, y: mp.im(_faddeeva(x, y)),
         box(uniform(-8, 8), log_uniform(1e-6, 1e2), count=400),
         "special.wofz(lax.complex(x, y)).imag"),
    Case("scipy.special.hyp1f1", mp.hyp1f1,
         box(uniform(0.1, 20), uniform(0.1, 20), uniform(-20, 40), count=300)),
    Case("scipy.special.hyp2f1", mp.hyp2f1,
         box(uniform(0.1, 3), uniform(0.1, 3), uniform(0.1, 5), uniform(-3, 0.999),
             count=300)),
]
