"""Special functions against SciPy and mpmath, and under transformations."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import mpmath
import numpy as np
import pytest
import scipy.special as reference

import gnomon
import gnomon.numpy as gnp
from gnomon.scipy import special
from gnomon.test_util import check_grads

RNG = np.random.default_rng(0)
TINY = [1e-30, 1e-10, 1e-3]


def real(*more: float) -> Any:
  return np.array([
      *more, 0.0, -0.0, *TINY, *(-t for t in TINY), *np.linspace(-8, 8, 33),
      np.inf, -np.inf, np.nan])


def positive(*more: float) -> Any:
  return np.array([
      *more, *TINY, *np.linspace(0.05, 8, 33), 50.0, 1000.0, np.nan])


def unit(*more: float) -> Any:
  return np.array([
      *more, 0.0, 1.0, *TINY, *np.linspace(0.01, 0.99, 33), 1 - 1e-6, -0.5, 1.5, np.nan])


def every(*axes: Any) -> tuple[Any, ...]:
  return tuple(a.ravel() for a in np.meshgrid(*axes))


@dataclass(frozen=True)
class Case:
  """A function, its arguments, how far it may be off, and where it has derivatives.

  Attributes:
    args: arrays of doubles, all of one size.
    rtol: of the results in float64 and float32, relative.
    smooth: arguments at which derivatives are compared with differences; None: nowhere.
  """

  args: tuple[Any, ...]
  rtol: tuple[float, float] = (1e-13, 2e-6)
  smooth: tuple[float, ...] | None = (0.7,)


FEW = np.array([-1.5, 0.0, 0.3, 1.0, 2.5, np.nan])
CASES = {
    "xlogy": Case(every(FEW, positive(0.0, np.inf)[::4]), smooth=(0.7, 1.3)),
    "xlog1py": Case(every(FEW, positive(-1.0)[::4]), smooth=(0.7, 1.3)),
    "entr": Case((real(),)),
    "rel_entr": Case(every(FEW, FEW + 0.1), smooth=(0.7, 1.3)),
    "kl_div": Case(every(FEW, FEW + 0.1), (1e-12, 1e-5), smooth=(0.7, 1.3)),
    "expit": Case((real(100.0, -80.0),)),
    "logit": Case((unit(),)),
    "boxcox": Case(every(positive()[::3], np.array([-2.0, 0.0, 1e-9, 0.5, 3.0])),
                   (1e-12, 2e-5), smooth=(0.7, 1.3)),
    "boxcox1p": Case(every(positive()[::3], np.array([-2.0, 0.0, 1e-9, 0.5, 3.0])),
                     (1e-12, 2e-5), smooth=(0.7, 1.3)),
    "erf": Case((real(),)),
    "erfc": Case((real(),)),
    "erfinv": Case((real()[np.abs(real()) < 1],), (1e-13, 1e-5), smooth=(0.3,)),
    "erfcx": Case((real(26.0, 26.6, 27.0, 1e3, 1e6, 1e30),), (4e-15, 2e-6)),
    "ndtr": Case((real(12.0, -12.0),), (2e-13, 5e-6)),
    "log_ndtr": Case((real(30.0, -30.0, -1e3, -1e10),), (1e-14, 1e-6)),
    "ndtri": Case((unit(1e-37, 0.1, 0.9),), (2e-13, 2e-5), smooth=(0.3,)),
    "gammaln": Case((real(100.0, 1e10)[real(100.0, 1e10) != -np.inf],), (2e-13, 2e-5)),
    "loggamma": Case((positive(),), (2e-13, 2e-5)),
    "gammasgn": Case((real(-20.5),), smooth=None),
    "gamma": Case((positive(-0.5, -1.5, -7.25, 30.0),), (1e-12, 1e-4)),
    "factorial": Case((positive(0.0, -2.0, 20.0),), (1e-12, 1e-4)),
    "beta": Case(every(positive()[::5], positive(-0.5)[::5]), (1e-12, 1e-4),
                 smooth=(0.7, 1.3)),
    "betaln": Case(every(positive()[::5], positive()[::5]), (1e-12, 2e-4),
                   smooth=(0.7, 1.3)),
    "digamma": Case((positive(),), (1e-13, 2e-5)),
    "gammainc": Case(every(positive()[::4], positive(0.0)[::4]), (1e-11, 2e-4),
                     smooth=(0.7, 1.3)),
    "gammaincc": Case(every(positive()[::4], positive(0.0)[::4]), (1e-11, 2e-4),
                      smooth=(0.7, 1.3)),
    "poch": Case(every(positive()[1:36:4], np.array([0.0, 0.5, 3.0])), (1e-12, 1e-4),
                 smooth=(0.7, 1.3)),
    "comb": Case(every(np.array([0.0, 1.0, 5.0, 12.0, 7.5]),
                       np.array([-1.0, 0.0, 1.0, 3.0])), (1e-12, 1e-5),
                 smooth=(7.5, 2.5)),
    "i0": Case((real(),), (1e-13, 1e-5)),
    "i0e": Case((real(300.0),), (1e-13, 1e-5)),
    "i1": Case((real(),), (1e-13, 1e-5)),
    "i1e": Case((real(300.0),), (1e-13, 1e-5)),
}


@pytest.mark.parametrize("wide", [True, False], ids=["float64", "float32"])
@pytest.mark.parametrize("name", CASES)
def test_values(name: str, wide: bool) -> None:
  case, dtype = CASES[name], np.float64 if wide else np.float32
  with gnomon.enable_x64(wide):
    args = [a.astype(dtype) for a in case.args]
    got = getattr(special, name)(*args)
  assert got.dtype == dtype
  with np.errstate(all="ignore"):
    want = getattr(reference, name)(*[a.astype(np.float64) for a in args]).astype(dtype)
  # results that this dtype holds as normal numbers only
  least = np.finfo(dtype).tiny
  kept = ~((np.abs(want) < least) & (want != 0))
  np.testing.assert_allclose(
      np.asarray(got)[kept], want[kept], rtol=case.rtol[not wide],
      atol=case.rtol[not wide] / 10)


@pytest.mark.parametrize("name", [n for n, c in CASES.items() if c.smooth])
def test_derivatives(name: str) -> None:
  with gnomon.enable_x64(True):
    args = tuple(np.float64(x) for x in CASES[name].smooth or ())
    which = 1 if name.startswith("gammainc") else 2
    check_grads(getattr(special, name), args, order=which, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("name", CASES)
def test_transformed(name: str) -> None:
  function = getattr(special, name)
  args = [a.astype(np.float32)[:6] for a in CASES[name].args]
  plain = np.asarray(function(*args))
  np.testing.assert_array_equal(gnomon.jit(function)(*args), plain)
  np.testing.assert_allclose(gnomon.vmap(function)(*args), plain, rtol=1e-6)
  halves = [a.astype(gnp.bfloat16) for a in args]
  assert function(*halves).dtype == gnp.bfloat16
  with pytest.raises(TypeError, match="not a valid array type"):
    function(*["text"] * len(args))


EXACT: dict[str, Callable[[Any], Any]] = {
    "erfcx": lambda x: mpmath.exp(x * x) * mpmath.erfc(x),
    "log_ndtr": lambda x: mpmath.log(mpmath.erfc(-x / mpmath.sqrt(2)) / 2),
    "ndtr": lambda x: mpmath.erfc(-x / mpmath.sqrt(2)) / 2,
    "logit": lambda x: mpmath.log(x / (1 - x)),
}
RANGES = {
    "erfcx": np.concatenate([np.linspace(-5, 30, 301), np.logspace(1.5, 8, 50)]),
    "log_ndtr": np.concatenate([np.linspace(-40, 5, 301), -np.logspace(1.6, 3, 20)]),
    "ndtr": np.linspace(-8, 8, 301),
    "logit": np.linspace(0.001, 0.999, 301),
}
ULPS = {"erfcx": (6, 6), "log_ndtr": (6, 6), "ndtr": (6, 6), "logit": (4, 4)}


@pytest.mark.parametrize("wide", [True, False], ids=["float64", "float32"])
@pytest.mark.parametrize("name", EXACT)
def test_ulps(name: str, wide: bool) -> None:
  dtype = np.float64 if wide else np.float32
  x = RANGES[name].astype(dtype)
  with gnomon.enable_x64(wide), mpmath.workdps(40):
    got = np.asarray(getattr(special, name)(x))
    want = [EXACT[name](mpmath.mpf(float(v))) for v in x]
    off = [
        float(abs(mpmath.mpf(float(g)) - w) / np.spacing(np.abs(dtype(float(w)))))
        for g, w in zip(got, want, strict=True)]
  assert max(off) <= ULPS[name][not wide], (max(off), x[int(np.argmax(off))])


def test_slope_of_erfcx_does_not_cancel() -> None:
  x = np.array([0.5, 5.0, 26.6, 1e3, 1e6], np.float32)
  got = gnomon.vmap(gnomon.grad(special.erfcx))(x)
  with mpmath.workdps(60):
    want = [
        float(2 * mpmath.mpf(float(v)) * EXACT["erfcx"](mpmath.mpf(float(v)))
              - 2 / mpmath.sqrt(mpmath.pi)) for v in x[:4]]
  want.append(-1 / (np.sqrt(np.pi) * 1e12))
  np.testing.assert_allclose(got, want, rtol=1e-5)


def test_limits() -> None:
  inf, nan = np.inf, np.nan
  assert [float(g) for g in gnomon.grad(special.xlogy, (0, 1))(0.0, 3.0)] == [
      float(np.float32(np.log(np.float32(3)))), 0.0]
  for f, y in ((special.xlogy, 3.0), (special.xlog1py, 2.0)):
    second = gnomon.hessian(f, (0, 1))(0.0, y)
    np.testing.assert_allclose(second, [[0, 1 / 3], [1 / 3, 0]], rtol=1e-6)
    assert np.isfinite(gnomon.grad(f, 1)(0.0, -1.0 if f is special.xlog1py else 0.0))
  assert float(gnomon.jacfwd(special.entr)(0.0)) == inf
  assert float(gnomon.jacrev(special.entr)(0.0)) == inf
  assert float(special.gammaincc(inf, 1.0)) == 1.0
  assert float(special.gammainc(inf, 2.0)) == 0.0
  assert float(special.gammainc(1.0, inf)) == 1.0
  assert float(special.gammaincc(1.0, inf)) == 0.0
  for args in ((nan, 0.0), (0.0, nan)):
    assert np.isnan(special.gammainc(*args))
    assert np.isnan(special.gammaincc(*args))
  assert float(special.betainc(np.float32(1e-30), 1.0, 0.25)) == pytest.approx(1)
  assert (float(special.zeta(1e5, 1.0)), float(special.zeta(1e5, 30.0))) == (1.0, 0.0)
  np.testing.assert_allclose(
      special.betaln(np.array([-2.0, -3.0, -7.0]), np.array([1.0, 2.0, 3.0])),
      np.log([1 / 2, 1 / 6, 1 / 105]), rtol=1e-5)
  np.testing.assert_allclose(special.beta(-7.0, 3.0), -1 / 105, rtol=1e-5)
  np.testing.assert_allclose(
      special.betaln(1e7, 2.0), -np.log(1e7) - np.log(1e7 + 1), rtol=1e-6)


def test_values_of_two_arguments() -> None:
  with gnomon.enable_x64(True):
    n = np.arange(5.0)
    np.testing.assert_allclose(
        special.polygamma(n, 2.5), reference.polygamma(n.astype(int), 2.5), rtol=1e-10)
    np.testing.assert_allclose(
        special.multigammaln(np.array([3.0, 4.5]), 3),
        [reference.multigammaln(a, 3) for a in (3.0, 4.5)], rtol=1e-12)
    np.testing.assert_allclose(
        special.betainc(2.0, np.array([0.5, 3.0]), 0.3),
        reference.betainc(2.0, np.array([0.5, 3.0]), 0.3), rtol=1e-11)
    np.testing.assert_allclose(
        special.zeta(np.array([1.5, 4.0]), 2.0), reference.zeta([1.5, 4.0], 2.0))
    np.testing.assert_allclose(
        special.comb(5, 3, repetition=True), reference.comb(5, 3, repetition=True))


@pytest.mark.parametrize(("call", "error", "message"), [
    (lambda: special.factorial(3, exact=True), NotImplementedError, "math.factorial"),
    (lambda: special.zeta(2.0), NotImplementedError, "give q=1"),
    (lambda: special.multigammaln(3.0, 1.5), TypeError, "integer")])
def test_errors(call: Any, error: type[Exception], message: str) -> None:
  with pytest.raises(error, match=message):
    call()
