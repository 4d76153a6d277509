"""Activations and their derivatives against mpmath, at kinks, and where numbers end."""

from __future__ import annotations

import functools
import math

import ml_dtypes
import mpmath
import numpy as np
import pytest

import gnomon
import gnomon.numpy as gnp
from gnomon import nn
from gnomon.testing import check_grads

INF, NAN = math.inf, math.nan
mpf = mpmath.mpf


def relu6(x):
  return min(max(x, mpf(0)), mpf(6))


def elu(x, alpha=1):
  return x if x > 0 else alpha * mpmath.expm1(x)


def softplus(x):
  return mpmath.log1p(mpmath.exp(x))


def sigmoid(x):
  return 1 / (1 + mpmath.exp(-x))


def gelu_approximate(x):
  inner = mpmath.sqrt(2 / mpmath.pi) * (x + mpf("0.044715") * x**3)
  return x * (1 + mpmath.tanh(inner)) / 2


ALPHA, SCALE = mpf("1.6732632423543772"), mpf("1.0507009873554805")
EXACT = {
  "relu": lambda x: max(x, mpf(0)),
  "relu6": relu6,
  "leaky_relu": lambda x: x if x >= 0 else x / 100,
  "elu": elu,
  "celu": elu,
  "selu": lambda x: SCALE * elu(x, ALPHA),
  "hard_tanh": lambda x: min(max(x, mpf(-1)), mpf(1)),
  "hard_sigmoid": lambda x: relu6(x + 3) / 6,
  "hard_silu": lambda x: x * relu6(x + 3) / 6,
  "sparse_plus": lambda x: mpf(0) if x <= -1 else x if x >= 1 else (x + 1) ** 2 / 4,
  "sparse_sigmoid": lambda x: min(max((x + 1) / 2, mpf(0)), mpf(1)),
  "identity": lambda x: x,
  "sigmoid": sigmoid,
  "silu": lambda x: x * sigmoid(x),
  "softplus": softplus,
  "log_sigmoid": lambda x: -softplus(-x),
  "soft_sign": lambda x: x / (1 + abs(x)),
  "gelu": gelu_approximate,
  "gelu_exact": lambda x: x * mpmath.ncdf(x),
  "mish": lambda x: x * mpmath.tanh(softplus(x)),
  "squareplus": lambda x: (x + mpmath.sqrt(x * x + 4)) / 2,
  "tanh": mpmath.tanh,
}
SMOOTH = (
  "sigmoid", "silu", "softplus", "log_sigmoid", "soft_sign", "gelu", "gelu_exact", "mish",
  "squareplus", "tanh", "celu")
# Where 1 + tanh or 1 - tanh cancels, what is left is far from exact, but small.
LOOSE = {
  "gelu": 3e-7, "gelu_exact": 3e-7, "mish": 1e-6, "silu": 1e-6, "tanh": 1e-7,
  "sigmoid": 1e-8}
BETWEEN = (
  -20.5, -7.3, -4.1, -2.5, -1.7, -0.6, -1e-3, 1e-3, 0.4, 1.9, 2.7, 5.5, 7.9, 30.1)


def function(name):
  if name == "gelu_exact":
    return functools.partial(nn.gelu, approximate=False)
  return getattr(nn, name)


def exact(f, xs):
  with mpmath.workdps(40):
    return np.array([float(f(mpf(float(x)))) for x in xs])


@gnomon.jit(static_argnums=0)
def derived(name, x):
  """The value, the derivative forwards, and backwards."""
  value, forward = gnomon.jvp(function(name), (x,), (gnp.ones_like(x),))
  return value, forward, gnomon.vjp(function(name), x)[1](gnp.ones_like(x))[0]


@pytest.mark.parametrize("name", EXACT)
def test_values_and_derivatives(name):
  xs = np.array(BETWEEN, np.float32)
  values, derivatives, reverse = derived(name, xs)
  assert values.dtype == derivatives.dtype == np.float32
  atol = LOOSE.get(name, 1e-37)
  np.testing.assert_allclose(values, exact(EXACT[name], xs), 2e-6, atol * 10)
  slope = exact(lambda x: mpmath.diff(EXACT[name], x, h=mpf("1e-12")), xs)
  np.testing.assert_allclose(derivatives, slope, 5e-6, max(atol * 10, 1e-8))
  np.testing.assert_allclose(reverse, derivatives, 1e-6)


# The derivative at a kink: that of JAX, which lies between those of the two sides.
KINKS = {
  "relu": {0: 0},
  "relu6": {0: 0, 6: 0},
  "leaky_relu": {0: 1},
  "elu": {0: 1},
  "celu": {0: 1},
  "selu": {0: 1.7580993},
  "hard_tanh": {-1: 1, 1: 1},
  "hard_sigmoid": {-3: 0, 3: 0},
  "hard_silu": {-3: 0, 3: 1},
  "sparse_plus": {-1: 0, 1: 1},
  "sparse_sigmoid": {-1: 0.25, 1: 0.25},
}


@pytest.mark.parametrize("name", KINKS)
def test_kinks(name):
  points = [*KINKS[name], *(-0.0 for x in KINKS[name] if x == 0)]
  _, forward, reverse = derived(name, np.array(points, np.float32))
  for x, slopes in zip(points, zip(forward, reverse)):
    assert slopes == pytest.approx((KINKS[name][x],) * 2)


# Below -1e30, at -inf, above 1e30 and at inf: value and derivative; None: x itself.
LIMITS = {
  "relu": ((0, 0), (None, 1)),
  "relu6": ((0, 0), (6, 0)),
  "leaky_relu": (None, (None, 1)),
  "elu": ((-1, 0), (None, 1)),
  "celu": ((-1, 0), (None, 1)),
  "selu": ((-1.7580993, 0), None),
  "hard_tanh": ((-1, 0), (1, 0)),
  "hard_sigmoid": ((0, 0), (1, 0)),
  "hard_silu": ((0, 0), (None, 1)),
  "sparse_plus": ((0, 0), (None, 1)),
  "sparse_sigmoid": ((0, 0), (1, 0)),
  "identity": ((None, 1), (None, 1)),
  "sigmoid": ((0, 0), (1, 0)),
  "silu": ((0, 0), (None, 1)),
  "softplus": ((0, 0), (None, 1)),
  "log_sigmoid": ((None, 1), (0, 0)),
  "soft_sign": ((-1, 0), (1, 0)),
  "gelu": ((0, 0), (None, 1)),
  "gelu_exact": ((0, 0), (None, 1)),
  "mish": ((0, 0), (None, 1)),
  "squareplus": ((0, 0), (None, 1)),
  "tanh": ((-1, 0), (1, 0)),
}


@pytest.mark.parametrize("name", LIMITS)
def test_far_from_zero(name):
  xs = np.array([-INF, -3e38, -1e30, -1e19, 1e19, 1e30, 3e38, INF, NAN], np.float32)
  values, forward, reverse = map(np.asarray, derived(name, xs))
  for side, places in zip(LIMITS[name], (range(4), range(4, 8))):
    for i in places:
      if side is not None:
        want, slope = side
        want = xs[i] if want is None else want
        near = pytest.approx(want, rel=1e-6, abs=1e-18)
        assert values[i] == want or values[i] == near, xs[i]
        assert forward[i] == pytest.approx(slope, abs=1e-18), xs[i]
        assert reverse[i] == pytest.approx(slope, abs=1e-18), xs[i]
      assert not np.isnan(values[i])
      assert np.isfinite(forward[i])
  assert np.isnan(values[8])


def test_squareplus_below_zero_keeps_its_digits():
  xs = np.array([-1e3, -1e6, -1e10, -1e18], np.float32)
  with mpmath.workdps(60):
    want = [float(EXACT["squareplus"](mpf(float(x)))) for x in xs]
  np.testing.assert_allclose(nn.squareplus(xs), want, 1e-6)


@pytest.mark.parametrize("name", SMOOTH)
def test_higher_derivatives(name):
  xs = np.array([-1.7, 0.3, 2.1], np.float32)
  slope = gnomon.grad(lambda x: function(name)(x).sum())
  _, got = gnomon.jit(lambda x: gnomon.jvp(slope, (x,), (gnp.ones_like(x),)))(xs)
  want = exact(lambda x: mpmath.diff(EXACT[name], x, 2, h=mpf("1e-10")), xs)
  np.testing.assert_allclose(got, want, 2e-5, 2e-6)


PARAMETERS = (
  (nn.leaky_relu, 0.3), (nn.elu, 0.7), (nn.celu, 0.7), (nn.squareplus, 2.5))


@pytest.mark.parametrize(("f", "parameter"), PARAMETERS, ids=lambda p: str(p)[:24])
def test_parameters(f, parameter):
  xs, ps = np.array([-1.3, 0.9], np.float32), np.full(2, parameter, np.float32)
  check_grads(f, (xs, ps), 1, eps=1e-2)
  np.testing.assert_allclose(f(xs, parameter), f(xs, ps))
  column = gnomon.grad(lambda p: f(xs[:, None], p).sum())(ps)  # it is broadcast
  assert column.shape == (2,)
  assert f(xs.astype(ml_dtypes.bfloat16), parameter).dtype == ml_dtypes.bfloat16


def test_squareplus_with_zero_is_relu():
  xs = np.array([-2.0, 0.0, 3.0], np.float32)
  assert nn.squareplus(xs, 0.0).tolist() == [0, 0, 3]
  slope = gnomon.grad(lambda x: nn.squareplus(x, 0.0).sum())(xs)
  assert slope.tolist() == [0, 0, 1]


def test_log1mexp():
  xs = np.array([1e-30, 1e-5, 0.1, 0.69, 0.7, 1.1, 20, 1e3, INF], np.float32)
  with mpmath.workdps(60):
    want = [float(mpmath.log(-mpmath.expm1(-mpf(float(x))))) for x in xs[:-1]] + [0.0]
    slope = [float(1 / mpmath.expm1(mpf(float(x)))) for x in xs[:-1]] + [0.0]
  np.testing.assert_allclose(nn.log1mexp(xs), want, 1e-6)
  derivative = gnomon.grad(lambda x: nn.log1mexp(x).sum())(xs)
  np.testing.assert_allclose(derivative, slope, 1e-6)
  assert nn.log1mexp(0.0) == -INF
  assert np.isnan(nn.log1mexp(-1.0))


def test_glu():
  x = np.random.default_rng(0).normal(size=(4, 6)).astype(np.float32)
  a, b = np.split(x, 2, 0)
  np.testing.assert_allclose(nn.glu(x, axis=0), a / (1 + np.exp(-b)), 1e-6)
  check_grads(nn.glu, (x,), 1, eps=1e-2)
  with pytest.raises(ValueError, match="size must be even"):
    nn.glu(x[:3], axis=0)
  with pytest.raises(ValueError, match="axis 2 is out of bounds"):
    nn.glu(x, axis=2)


@pytest.mark.parametrize("name", EXACT)
def test_dtypes(name):
  f = function(name)
  exact = np.array([-2, 0, 1, 200], np.float32)
  wide = np.asarray(f(exact))
  out = f(exact.astype(ml_dtypes.bfloat16))
  assert out.dtype == ml_dtypes.bfloat16
  np.testing.assert_allclose(out.astype(np.float32), wide, 2e-2, 2e-2)
  np.testing.assert_allclose(f(exact.astype(np.int32)), wide, 1e-6)
  np.testing.assert_allclose(f(exact[1:].astype(np.uint8)), wide[1:], 1e-6)
  for x in (np.zeros((0, 3), np.float32), np.ones(2, np.float16)):
    out = gnomon.eval_shape(f, x)
    assert (out.shape, out.dtype) == (x.shape, x.dtype)
  assert gnomon.eval_shape(f, 1.5).weak_type == (not name.startswith("gelu"))


COMPLEX = {
  "sigmoid": lambda z: 1 / (1 + np.exp(-z)),
  "silu": lambda z: z / (1 + np.exp(-z)),
  "softplus": lambda z: np.log1p(np.exp(z)),
  "soft_sign": lambda z: z / (1 + np.abs(z)),
  "gelu": lambda z: z * (1 + np.tanh(math.sqrt(2 / math.pi) * (z + 0.044715 * z**3))) / 2,
  "mish": lambda z: z * np.tanh(np.log1p(np.exp(z))),
  "squareplus": lambda z: (z + np.sqrt(z * z + 4)) / 2,
}


@pytest.mark.parametrize("name", COMPLEX)
def test_complex(name):
  z = np.array([0.3 + 0.5j, -1 + 0.2j, 2 - 1j], np.complex64)
  np.testing.assert_allclose(getattr(nn, name)(z), COMPLEX[name](z), 1e-5)


def test_other_names():
  assert nn.swish is nn.silu
  assert nn.hard_swish is nn.hard_silu
  assert nn.tanh is gnp.tanh


def test_residuals():
  """Reverse mode keeps one array of an activation."""
  x = gnp.linspace(-3.0, 3.0, 8)
  for name in ("silu", "gelu", "gelu_exact", "mish", "squareplus", "soft_sign",
               "sparse_plus", "hard_silu"):
    _, pull_back = gnomon.vjp(function(name), x)
    kept = [r for r in gnomon.tree_util.tree_leaves(pull_back) if np.shape(r) == (8,)]
    assert len(kept) == 1, name


def test_names_in_programs():
  for name in ("silu", "elu", "relu", "mish", "log_sigmoid", "standardize"):
    (equation,) = gnomon.make_jaxpr(getattr(nn, name))(gnp.ones(3)).jaxpr.eqns
    kind = "custom_jvp_call" if name == "relu" else "jit"
    assert (equation.primitive.name, equation.params["name"]) == (kind, name)


@pytest.mark.parametrize("f", [*map(function, EXACT), nn.glu, nn.log1mexp, nn.softmax])
def test_refused_arguments(f):
  for x in ([1.0, 2.0], None, "x"):
    with pytest.raises(TypeError):
      f(x)


def test_refused_complex():
  with pytest.raises(ValueError, match=r"[Cc]omplex"):
    nn.sparse_sigmoid(1j)
  with pytest.raises(TypeError, match="approximate=True"):
    nn.gelu(1j, approximate=False)
