"""Resized images against sums over pixels, pixel by pixel, and against Pillow's."""

from __future__ import annotations

import functools
import math

import ml_dtypes
import numpy as np
import PIL.Image
import pytest

import gnomon
import gnomon.numpy as gnp
from gnomon import image
from gnomon.testing import assert_close, check_grads, check_vmap

RNG = np.random.default_rng(0)
SMOOTH = ("linear", "cubic", "lanczos3", "lanczos5", "cubic-pytorch", "area")
PLAIN = SMOOTH[:4]


def sinc(x):
  return 1.0 if x == 0 else math.sin(math.pi * x) / (math.pi * x)


def lanczos(radius):
  return lambda x: sinc(x) * sinc(x / radius) if abs(x) < radius else 0.0


def keys(a):
  def kernel(x):
    x = abs(x)
    if x < 1:
      return (a + 2) * x**3 - (a + 3) * x**2 + 1
    return a * (x**3 - 5 * x**2 + 8 * x - 4) if x < 2 else 0.0

  return kernel


KERNELS = {
  "linear": (lambda x: max(0.0, 1 - abs(x)), 1),
  "cubic": (keys(-0.5), 2),
  "cubic-pytorch": (keys(-0.75), 2),
  "lanczos3": (lanczos(3), 3),
  "lanczos5": (lanczos(5), 5),
}


def filtered(x, n, scale, shift, method, antialias):
  """A row of pixels, each the weighted mean of those around where it comes from."""
  m = len(x)
  if method == "cubic-pytorch" and antialias:
    method = "cubic"
  if method == "area":
    return [covered(x, (j - shift) / scale, (j + 1 - shift) / scale) for j in range(n)]
  kernel, radius = KERNELS[method]
  width = max(abs(1 / scale), 1) if antialias else 1
  out = []
  for j in range(n):
    center = (j + 0.5 - shift) / scale
    first = math.floor(center - radius * width) - 1
    taps = range(first, math.ceil(center + radius * width) + 1)
    if method == "cubic-pytorch":  # two pixels beyond each edge repeat it
      weights = {i: kernel(center - i - 0.5) for i in taps if -2 <= i <= m + 1}
      whole = sum(weights.values())
      total = sum(w * x[min(max(i, 0), m - 1)] for i, w in weights.items())
      out.append(total / whole if abs(whole) > 1e-4 else 0.0)
      continue
    weights = {i: kernel((center - i - 0.5) / width) for i in taps if 0 <= i < m}
    whole = sum(weights.values())
    inside = 0 <= center <= m
    out.append(sum(w * x[i] for i, w in weights.items()) / whole if inside else 0.0)
  return out


def covered(x, low, high):
  low, high = min(low, high), max(low, high)
  parts = [max(0.0, min(high, i + 1) - max(low, i)) for i in range(len(x))]
  if not 0 <= (low + high) / 2 <= len(x):
    return 0.0
  return sum(p * v for p, v in zip(parts, x)) / sum(parts)


def along(x, axis, f):
  return np.apply_along_axis(lambda row: np.array(f(list(row))), axis, x)


@pytest.mark.parametrize("antialias", [True, False])
@pytest.mark.parametrize("method", SMOOTH)
def test_resize(method, antialias):
  x = RNG.normal(size=(5, 4, 3))
  for shape in ((3, 9, 3), (10, 1, 3))[:2 if antialias else 1]:
    want = x
    for axis, n in enumerate(shape):
      m = x.shape[axis]
      if m != n:
        f = lambda row, m=m, n=n: filtered(row, n, n / m, 0.0, method, antialias)  # noqa: E731
        want = along(want, axis, f)
    got = image.resize(gnp.asarray(x, "float32"), shape, method, antialias)
    assert_close(got, want.astype(np.float32), atol=2e-5, rtol=2e-5)


@pytest.mark.parametrize("antialias", [True, False])
@pytest.mark.parametrize("method", SMOOTH)
def test_scale_and_translate(method, antialias):
  x = RNG.normal(size=6).astype(np.float32)
  cases = ((1.0, 0.0, 8), (0.4, 0.31, 5), (2.5, -3.7, 6), (-0.6, 4.2, 5), (1.0, 2.3, 9))
  for scale, shift, n in cases:
    got = image.scale_and_translate(
      x, (n,), (-1,), gnp.array([scale]), gnp.array([shift]), method, antialias
    )
    want = filtered(x.astype(float), n, scale, shift, method, antialias)
    assert_close(got, np.array(want, np.float32), atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize(("method", "other"), [
  ("linear", PIL.Image.Resampling.BILINEAR),
  ("cubic", PIL.Image.Resampling.BICUBIC),
  ("lanczos3", PIL.Image.Resampling.LANCZOS),
  ("nearest", PIL.Image.Resampling.NEAREST),
])
def test_as_pillow(method, other):
  x = RNG.uniform(size=(33, 17)).astype(np.float32)
  for shape in ((3, 40), (50, 9)):
    want = np.asarray(PIL.Image.fromarray(x).resize(shape[::-1], other))
    assert_close(image.resize(x, shape, method), want, atol=3e-5, rtol=1e-4)


def test_nearest():
  x = np.arange(5)
  for n in (1, 2, 4, 5, 7, 10):
    want = [x[math.floor((j + 0.5) * 5 / n)] for j in range(n)]
    got = image.resize(x, (n,), image.ResizeMethod.NEAREST)
    assert got.dtype == np.int32
    assert got.tolist() == want
  big = image.resize(gnp.arange(3), (3 * 2**20,), "nearest")  # beyond 24 bits of a float
  assert np.array_equal(np.bincount(np.asarray(big)), [2**20] * 3)


def test_dtypes():
  x = RNG.uniform(size=(4, 6))
  for dtype, out, tolerance in (
    (np.float16, np.float16, 2e-3),
    (ml_dtypes.bfloat16, ml_dtypes.bfloat16, 2e-2),
    (np.complex64, np.complex64, 1e-5),
    (np.int32, np.float32, 1e-5),
    (np.bool_, np.float32, 1e-5),
  ):
    source = (x * 9).astype(dtype)
    got = image.resize(source, (3, 8), "lanczos3")
    wide = np.complex64 if out is np.complex64 else np.float32
    want = image.resize(source.astype(wide), (3, 8), "lanczos3")
    assert got.dtype == out
    error = np.abs(np.asarray(got).astype(wide) - np.asarray(want)).max()
    assert error <= tolerance * 16
  with gnomon.enable_x64(True):
    wide = image.resize(x, (3, 8), "lanczos5")
    assert wide.dtype == np.float64
    narrow = image.resize(x.astype(np.float32), (3, 8), "lanczos5")
    assert np.abs(wide - narrow).max() < 1e-5


@pytest.mark.parametrize("method", ["cubic-pytorch", "lanczos3", "area"])
def test_derivatives(method):
  x = RNG.normal(size=(4, 5)).astype(np.float32)
  check_grads(lambda x: image.resize(x, (3, 7), method), (x,), 1, ("rev",), eps=0.1)
  if method != "area":
    scale, shift = np.array([0.83, 1.37], np.float32), np.array([0.21, -0.4], np.float32)
    f = gnomon.jit(
      lambda s, t: image.scale_and_translate(x, (3, 7), (0, 1), s, t, method))
    check_grads(f, (scale, shift), 1, ("rev",), eps=2e-3, atol=5e-2, rtol=5e-2)


def test_derivatives_on_pixels_are_finite():
  x = gnp.arange(12.0).reshape(3, 4)
  for method in ("linear", "lanczos3"):
    f = lambda s, t, m=method: image.scale_and_translate(x, (3, 4), (0, 1), s, t, m).sum()  # noqa: E731
    for g in gnomon.jit(gnomon.grad(f, (0, 1)))(gnp.ones(2), gnp.zeros(2)):
      assert np.isfinite(g).all()


def test_mapped_and_compiled():
  xs = [RNG.normal(size=(3, 4)).astype(np.float32) for _ in range(2)]
  for axis, method in ((0, "nearest"), (1, "cubic")):
    stacked = np.stack(xs, axis)
    check_vmap(lambda x, m=method: image.resize(x, (2, 6), m), (stacked,), axis)
  f = lambda x, s, t: image.scale_and_translate(x, (2, 6), (1, 0), s, t, "linear")  # noqa: E731
  scales, shifts = np.array([[1.2, 0.5], [0.7, 2]], np.float32), np.ones(2, np.float32)
  check_vmap(f, (xs[0], scales, shifts), (None, 0, None))
  args = xs[0], scales[0], shifts
  assert_close(gnomon.jit(f)(*args), f(*args))


def test_one_program():
  jaxpr = gnomon.make_jaxpr(lambda x: image.resize(x, (2, 8), "linear"))(gnp.ones((3, 4)))
  (equation,) = jaxpr.jaxpr.eqns
  assert (equation.primitive.name, equation.params["name"]) == ("jit", "_resize")


def test_strict_promotion():
  x = gnp.ones((3, 4), "bfloat16")
  with gnomon.numpy_dtype_promotion("strict"), gnomon.numpy_rank_promotion("raise"):
    for method in (*SMOOTH, "nearest"):
      assert image.resize(x, (2, 7), method).shape == (2, 7)
    for method in SMOOTH:
      f = functools.partial(
        image.scale_and_translate, x, (2, 7), (0, 1), method=method, antialias=False)
      out = gnomon.eval_shape(f, scale=gnp.ones(2), translation=gnp.ones(2))
      assert out.shape == (2, 7)


def test_empty():
  for method in (*SMOOTH, "nearest"):
    for old, new in (((1,), (0,)), ((5, 5), (5, 0)), ((0, 3), (0, 6)), ((0,), (0,))):
      assert image.resize(gnp.ones(old), new, method).shape == new
  assert image.scale_and_translate(
    gnp.ones(3), (0,), (0,), gnp.ones(1), gnp.ones(1), "cubic"
  ).shape == (0,)
  assert image.resize(2.5, (), "linear").item() == 2.5


def test_what_lies_outside_is_zero():
  for method in PLAIN:
    got = image.scale_and_translate(
      gnp.ones(2), (8,), (0,), gnp.ones(1), gnp.full(1, 3.0), method
    )
    assert_close(got, np.array([0, 0, 0, 1, 1, 0, 0, 0], np.float32), atol=1e-6)


ONE = np.ones(1, np.float32)


@pytest.mark.parametrize(("call", "error", "message"), [
  (lambda: image.resize(ONE, (2,), "blurry"), ValueError, 'Unknown .* "blurry"'),
  (lambda: image.resize(ONE, (2, 2), "linear"), ValueError, "as many sizes"),
  (lambda: image.resize(ONE, (-2,), "linear"), ValueError, "negative sizes"),
  (lambda: image.resize(ONE, (2.5,), "linear"), TypeError, "integer"),
  (lambda: image.resize([1.0], (2,), "linear"), TypeError, "must be an array"),
  (lambda: image.resize(ONE[:0], (2,), "linear"), ValueError, "no pixels"),
  (lambda: image.scale_and_translate(ONE, (2,), (0,), ONE, ONE, "nearest"), ValueError,
   "NEAREST is not supported"),
  (lambda: image.scale_and_translate(ONE, (2,), (1,), ONE, ONE, "cubic"), ValueError,
   "out of bounds"),
  (lambda: image.scale_and_translate(ONE[None], (1, 1), (0, -2), [1, 1], [0, 0], "cubic"),
   ValueError, "twice"),
  (lambda: image.scale_and_translate(ONE, (2,), (0,), [1.0, 2.0], ONE, "cubic"),
   ValueError, "scale must have the shape"),
  (lambda: image.scale_and_translate(ONE[None], (1, 2), (0,), ONE, ONE, "cubic"),
   ValueError, "the size of axis 1 changes"),
])
def test_errors(call, error, message):
  with pytest.raises(error, match=message):
    call()
