"""Transposed convolutions, patches, local filters, and the shapes of them all."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import gnomon
from gnomon import dtypes, lax
from gnomon.testing import assert_close, check_grads, check_vmap_axes

R = np.random.default_rng(5)
NHWC = ("NHWC", "HWIO", "NHWC")
PADDINGS = ("SAME", "VALID", [(1, 2)], [(0, 0)])


def draw(*shape: int) -> Any:
  return R.uniform(-1, 1, shape).astype("f")


def scattered(x: Any, w: Any, stride: int, low: int, size: int, gap: int = 1) -> Any:
  """A transposed convolution along one dimension, by its definition.

  Each element of `x`, of shape (batch, length, in), adds the reversed filters, of shape
  (k, in, out), to the result, `low` places before the element's own.
  """
  k = (w.shape[0] - 1) * gap + 1
  out = np.zeros((x.shape[0], x.shape[1] * stride + 4 * k, w.shape[2]))
  for p, j in itertools.product(range(x.shape[1]), range(w.shape[0])):
    out[:, p * stride + low - j * gap + 2 * k] += x[:, p] @ w[j]
  return out[:, 2 * k:2 * k + size]


@pytest.mark.parametrize("padding", PADDINGS, ids=str)
@pytest.mark.parametrize(("k", "stride", "gap"), [
    (3, 2, 1), (2, 3, 1), (4, 2, 1), (1, 2, 1), (3, 1, 1), (2, 2, 3)])
def test_transposed(k: int, stride: int, gap: int, padding: Any) -> None:
  x, w = draw(2, 5, 3), draw(k, 3, 4)
  got = lax.conv_transpose(x, w, (stride,), padding, rhs_dilation=(gap,))
  extent = (k - 1) * gap + 1
  if padding == "SAME":
    size = 5 * stride
    total = extent + stride - 2
    low = extent - 1 if stride >= extent else -(-total // 2)
  elif padding == "VALID":  # a convolution without padding makes 5 of it
    size = 5 * stride + max(extent - stride, 0)
    low = extent - 1
  else:
    low, high = padding[0]
    size = max(4 * stride + 1 + low + high - extent + 1, 0)
  assert_close(got, scattered(x, w, stride, low, size, gap).astype("f"), rtol=1e-5,
               atol=1e-5)


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
def test_transposed_kernel_gives_the_gradient(padding: str) -> None:
  x, w = draw(2, 8, 9, 3), draw(3, 2, 3, 4)

  def f(x: Any) -> Any:
    return lax.conv_general_dilated(x, w, (2, 1), padding, dimension_numbers=NHWC)

  y, pull = gnomon.vjp(f, x)
  got = np.asarray(lax.conv_transpose(y, w, (2, 1), padding, transpose_kernel=True))
  n, m = x.shape[1:3]
  expected = np.asarray(pull(y)[0])
  assert_close(got[:, :n, :m], expected[:, :got.shape[1]], rtol=1e-4, atol=1e-4)


def test_consistent_padding_is_that_of_the_convolution() -> None:
  x, w, pads = draw(2, 4, 9, 3), draw(3, 2, 3, 4), [(1, 0), (0, 1)]

  def f(x: Any) -> Any:
    return lax.conv_general_dilated(x, w, (1, 1), pads, dimension_numbers=NHWC)

  y, pull = gnomon.vjp(f, x)
  got = lax.conv_transpose(
      y, w, (1, 1), pads, transpose_kernel=True, use_consistent_padding=True)
  assert_close(got, pull(y)[0], rtol=1e-4, atol=1e-4)


def test_transposed_layouts() -> None:
  x, w = draw(2, 5, 6, 3), draw(3, 2, 3, 4)
  expected = lax.conv_transpose(x, w, (2, 2), "SAME")
  got = lax.conv_transpose(
      x.transpose(0, 3, 1, 2), w.transpose(3, 2, 0, 1), (2, 2), "SAME",
      dimension_numbers=("NCHW", "OIHW", "NHWC"))
  assert_close(got, expected, rtol=1e-5, atol=1e-5)
  assert lax.conv_transpose(draw(2, 3), draw(3, 4), (), "SAME").shape == (2, 4)
  volume = lax.conv_transpose(draw(1, 2, 3, 2, 1), draw(1, 2, 2, 1, 2), (1, 2, 3), "SAME")
  assert volume.shape == (1, 2, 6, 6, 2)


@pytest.mark.parametrize(("call", "error", "match"), [
    (lambda: lax.conv_transpose(draw(2, 8, 4), draw(2, 4), (2,), "SAME"), TypeError,
     "ndim to be equal"),
    (lambda: lax.conv_transpose(draw(2, 8, 4), draw(2, 4, 4), (2,), "FOO"), ValueError,
     "'SAME', 'VALID' or pairs, got 'FOO'"),
    (lambda: lax.conv_transpose(draw(2, 8, 4), draw(2, 4, 4), (2, 2), "SAME"), TypeError,
     r"stride and a dilation for each of 1"),
    (lambda: lax.conv_transpose(draw(1, 1, 1, 1, 1, 1), draw(1, 1, 1, 1, 1, 1), (1,) * 4,
                                "SAME"), ValueError, "at most three spatial"),
    (lambda: lax.conv_general_dilated_patches(draw(1, 2, 5), (2, 2), (1,), "VALID"),
     TypeError, "ndim to be equal"),
    (lambda: lax.conv_general_dilated_local(
        draw(1, 1, 4), draw(2, 4, 2), (1,), "VALID", (3,)), TypeError,
     r"as many input features as windows have.*\(3, 2\), got \(4, 2\)"),
    (lambda: lax.padtype_to_pads((8, 9), (3,), (1, 1), "SAME"), ValueError,
     "a size of the window and a stride"),
    (lambda: lax.padtype_to_pads((8,), (3,), (0,), "SAME"), ValueError, "positive"),
    (lambda: lax.padtype_to_pads((8,), (3,), (1,), 3), TypeError, "Unknown padding type"),
    (lambda: lax.conv_dimension_numbers((1, 2, 3), (1, 2, 3, 4), None), TypeError,
     "ndim to be equal, got 3 and 4"),
    (lambda: lax.conv_general_permutations(("A", "B", "C")), TypeError, "exactly once"),
    (lambda: lax.conv_shape_tuple((3, 4, 8), (6, 4, 2), (1,), "SAME", 2), ValueError,
     "2 does not divide 3"),
    (lambda: lax.conv_shape_tuple((3, 4, 8), (6, 4, 2), (1, 1), [(0, 0)]), TypeError,
     "one stride a spatial dimension"),
])
def test_errors(call: Any, error: Any, match: str) -> None:
  with pytest.raises(error, match=match):
    call()


# ---- patches and local filters


def patches(x: Any, window: Any, strides: Any, gaps: Any = (1, 1)) -> Any:
  """Windows of an array in the order batch, feature, height, width: as features."""
  spans = [(k - 1) * g + 1 for k, g in zip(window, gaps, strict=True)]
  view = np.lib.stride_tricks.sliding_window_view(x, spans, (2, 3))
  view = view[:, :, ::strides[0], ::strides[1], ::gaps[0], ::gaps[1]]
  n, _, h, w, *_ = view.shape
  return view.transpose(0, 1, 4, 5, 2, 3).reshape(n, -1, h, w)


@pytest.mark.parametrize("dtype", ["float32", "int32", "bool", "bfloat16", "complex64"])
def test_patches(dtype: str) -> None:
  x = (10 * draw(2, 3, 7, 6)).astype(
      dtypes.bfloat16 if dtype == "bfloat16" else dtype)
  got = lax.conv_general_dilated_patches(
      x, (2, 3), (2, 1), [(1, 0), (0, 2)], rhs_dilation=(2, 1))
  padding = np.pad(x, [(0, 0), (0, 0), (1, 0), (0, 2)])
  np.testing.assert_array_equal(got, patches(padding, (2, 3), (2, 1), (2, 1)))
  assert got.dtype == x.dtype


def test_patches_of_what_is_not_finite() -> None:
  x = np.float32([[[[np.inf, 1, 2], [np.nan, -0.0, 3]]]])
  got = lax.conv_general_dilated_patches(x, (2, 2), (1, 1), "VALID")
  np.testing.assert_array_equal(got, patches(x, (2, 2), (1, 1)))
  assert np.signbit(np.asarray(got)[0, 3, 0, 0])


def test_patches_in_layouts_and_dilated() -> None:
  x = draw(2, 3, 4, 5)
  spread = np.zeros((2, 3, 7, 5), "f")
  spread[:, :, ::2] = x
  expected = patches(spread, (3, 2), (1, 2))
  got = lax.conv_general_dilated_patches(
      x.transpose(0, 2, 3, 1), (3, 2), (1, 2), [(0, 0), (0, 0)], lhs_dilation=(2, 1),
      dimension_numbers=("NHWC", "OIHW", "NCHW"))
  np.testing.assert_array_equal(got, expected)
  last = lax.conv_general_dilated_patches(
      x, (3, 2), (1, 2), [(0, 0), (0, 0)], lhs_dilation=(2, 1),
      dimension_numbers=("NCHW", "OIHW", "NHWC"), preferred_element_type="float32")
  np.testing.assert_array_equal(last, expected.transpose(0, 2, 3, 1))
  assert lax.conv_general_dilated_patches(x, (9, 9), (1, 1), "VALID").shape == (
      2, 243, 0, 0)


def test_local_filters() -> None:
  x, w = draw(2, 3, 5, 6), draw(4, 3 * 2 * 3, 4, 2)
  p = patches(x, (2, 3), (1, 2))
  expected = np.einsum("nchw,ochw->nohw", p, w)
  got = lax.conv_general_dilated_local(x, w, (1, 2), "VALID", (2, 3))
  assert_close(got, expected, rtol=1e-5, atol=1e-5)
  got = lax.conv_general_dilated_local(
      x.transpose(0, 2, 3, 1), w.transpose(2, 3, 1, 0), (1, 2), "VALID", (2, 3),
      dimension_numbers=NHWC, precision=("highest", "highest"))
  assert_close(got, expected.transpose(0, 2, 3, 1), rtol=1e-5, atol=1e-5)


def test_derivatives_and_batching() -> None:
  x, w = draw(2, 2, 4), draw(3, 2 * 2, 3)

  def f(x: Any, w: Any) -> Any:
    return lax.conv_general_dilated_local(x, w, (1,), "VALID", (2,))

  with gnomon.enable_x64(True):
    check_grads(f, (x.astype("d"), w.astype("d")), 1, ("fwd", "rev"))
  check_vmap_axes(f, [(draw(*x.shape), draw(*w.shape)) for _ in range(2)], limit=2,
                  atol=1e-5, rtol=1e-5)


# ---- shapes


def test_shapes() -> None:
  for padding in ("SAME", "VALID", "SAME_LOWER", [(1, 2), (0, 3)]):
    def f(x: Any, w: Any, padding: Any = padding) -> Any:
      return lax.conv_general_dilated(x, w, (2, 3), padding, dimension_numbers=NHWC)

    x, w = draw(2, 8, 9, 4), draw(2, 3, 4, 6)
    assert lax.conv_general_shape_tuple(x.shape, w.shape, (2, 3), padding, NHWC) == (
        gnomon.eval_shape(f, x, w).shape)
  for padding in ("SAME", "VALID", [(1, 2), (0, 3)]):
    def g(x: Any, w: Any, padding: Any = padding) -> Any:
      return lax.conv_transpose(x, w, (2, 3), padding)

    assert lax.conv_transpose_shape_tuple(x.shape, w.shape, (2, 3), padding, NHWC) == (
        gnomon.eval_shape(g, x, w).shape)


@pytest.mark.parametrize("k", range(1, 5))
@pytest.mark.parametrize("stride", range(1, 4))
def test_padding_by_name(k: int, stride: int) -> None:
  for n in range(10):
    (low, high), = lax.padtype_to_pads((n,), (k,), (stride,), "same")
    assert 0 <= high - low <= 1
    if n:  # as many windows as strides begun; and no less padding would do
      assert (n + low + high - k) // stride + 1 == -(-n // stride)
      assert low + high == 0 or (n + low + high - 1 - k) // stride + 1 < -(-n // stride)
    assert lax.padtype_to_pads((n,), (k,), (stride,), "SAME_LOWER") == [(high, low)]
  assert lax.padtype_to_pads((5,), (k,), (stride,), "VALID") == [(0, 0)]
