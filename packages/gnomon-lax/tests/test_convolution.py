"""Convolutions: values against loops, derivatives, batching, types, errors."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import gnomon
from gnomon import dtypes, lax
from gnomon.testing import assert_close, check_grads, check_vmap_axes

R = np.random.default_rng(3)
NHWC = ("NHWC", "HWIO", "NHWC")


def spread(x: Any, axes: Any, by: Any) -> Any:
  """Zeros between the elements along axes."""
  shape = list(x.shape)
  for a, d in zip(axes, by, strict=True):
    shape[a] = 0 if shape[a] == 0 else (shape[a] - 1) * d + 1
  out = np.zeros(shape, x.dtype)
  where = [slice(None)] * x.ndim
  for a, d in zip(axes, by, strict=True):
    where[a] = slice(None, None, d)
  out[tuple(where)] = x
  return out


def padded(x: Any, pads: Any) -> Any:
  """Zeros around an array; negative sizes cut off."""
  x = np.pad(x, [(max(low, 0), max(high, 0)) for low, high in pads])
  return x[tuple(slice(max(-low, 0), n - max(-high, 0))
                 for (low, high), n in zip(pads, x.shape, strict=True))]


def convolved(
    x: Any, y: Any, strides: Any, padding: Any, lhs_dilation: Any = None,
    rhs_dilation: Any = None, numbers: Any = None, features: int = 1,
    batches: int = 1) -> Any:
  """`conv_general_dilated` with explicit padding, a window at a time."""
  n = x.ndim - 2
  axes = range(2, x.ndim)
  lhs, rhs, out = lax.conv_dimension_numbers(x.shape, y.shape, numbers)
  x, y = x.transpose(lhs), y.transpose(rhs)
  x = spread(x, axes, lhs_dilation or (1,) * n)
  y = spread(y, axes, rhs_dilation or (1,) * n)
  x = padded(x, [(0, 0), (0, 0), *padding])
  counts = [max((m - k) // s + 1, 0)
            for m, k, s in zip(x.shape[2:], y.shape[2:], strides, strict=True)]
  groups = max(features, batches)
  xs = np.split(x, groups, axis=1 if features > 1 else 0)
  parts = []
  for a, w in zip(xs, np.split(y, groups, axis=0), strict=True):
    part = np.zeros((a.shape[0], w.shape[0], *counts), np.result_type(a, w))
    for place in itertools.product(*map(range, counts)):
      window = a[(..., *(slice(p * s, p * s + k) for p, s, k in zip(
          place, strides, y.shape[2:], strict=True)))]
      part[(..., *place)] = np.tensordot(window, w, (range(1, w.ndim),) * 2)
    parts.append(part)
  return np.concatenate(parts, 1).transpose(np.argsort(out))


CASES: dict[str, tuple[Any, Any, Any]] = {
    "plain": ((2, 3, 5, 4), (4, 3, 2, 3), {"strides": (1, 1), "padding": [(0, 0)] * 2}),
    "strides": ((2, 3, 6, 7), (4, 3, 2, 3), {
        "strides": (2, 3), "padding": [(1, 0), (1, 2)]}),
    "lhs_dilation": ((2, 2, 4, 3), (3, 2, 3, 2), {
        "strides": (1, 2), "padding": [(1, 2), (0, 1)], "lhs_dilation": (2, 3)}),
    "rhs_dilation": ((1, 2, 8, 7), (3, 2, 3, 2), {
        "strides": (2, 1), "padding": [(1, 0), (0, 0)], "rhs_dilation": (2, 3)}),
    "all": ((2, 2, 5, 6), (2, 2, 3, 2), {
        "strides": (2, 3), "padding": [(2, 1), (1, 3)], "lhs_dilation": (3, 2),
        "rhs_dilation": (2, 4)}),
    "negative": ((2, 2, 6, 7), (2, 2, 2, 2), {
        "strides": (1, 2), "padding": [(-1, 1), (-2, -1)], "lhs_dilation": (2, 1)}),
    "nhwc": ((2, 5, 4, 3), (2, 3, 3, 4), {
        "strides": (1, 2), "padding": [(1, 1), (0, 1)], "numbers": NHWC}),
    "mixed": ((5, 3, 2, 4), (4, 2, 3, 3), {
        "strides": (2, 1), "padding": [(1, 1), (0, 1)],
        "numbers": ("HCNW", "OHWI", "CWHN")}),
    "features": ((2, 4, 5, 4), (6, 2, 2, 3), {
        "strides": (1, 2), "padding": [(0, 1), (1, 1)], "features": 2}),
    "depthwise": ((2, 5, 4, 3), (2, 3, 1, 6), {
        "strides": (1, 1), "padding": [(1, 0), (1, 1)], "numbers": NHWC, "features": 3}),
    "batches": ((4, 3, 5, 4), (6, 3, 2, 3), {
        "strides": (2, 1), "padding": [(0, 1), (1, 1)], "batches": 2}),
    "line": ((2, 3, 9), (4, 3, 3), {"strides": (2,), "padding": [(1, 1)]}),
    "volume": ((1, 2, 3, 4, 3), (2, 2, 2, 2, 2), {
        "strides": (1, 2, 1), "padding": [(0, 0), (1, 0), (0, 1)],
        "rhs_dilation": (1, 1, 2)}),
    "points": ((3, 4), (5, 4), {"strides": (), "padding": []}),
    "one_window": ((2, 1, 2, 2), (3, 1, 4, 3), {
        "strides": (5, 4), "padding": [(1, 1), (0, 1)]}),
}


def function(params: Any) -> Any:
  p = dict(params)
  renamed = {"numbers": "dimension_numbers", "features": "feature_group_count",
             "batches": "batch_group_count"}
  strides, padding = p.pop("strides"), p.pop("padding")
  rest = {renamed.get(k, k): v for k, v in p.items()}
  return lambda x, y: lax.conv_general_dilated(x, y, strides, padding, **rest)


def operands(name: str, dtype: Any, seed: int = 0) -> Any:
  rng = np.random.default_rng(seed)
  out = []
  for shape in CASES[name][:2]:
    x = rng.integers(-4, 5, shape) if np.dtype(dtype).kind in "iub" else (
        rng.uniform(-1, 1, shape))
    if np.dtype(dtype).kind == "c":
      x = x + 1j * rng.uniform(-1, 1, shape)
    out.append(np.asarray(x).astype(dtype))
  return out


@pytest.mark.parametrize("name", CASES)
def test_values(name: str) -> None:
  x, y = operands(name, "float32")
  params = CASES[name][2]
  expected = convolved(x.astype("d"), y.astype("d"), **params)
  got = function(params)(x, y)
  assert_close(got, expected.astype("f"), rtol=1e-5, atol=1e-5, check_dtypes=True)


@pytest.mark.parametrize("dtype", [
    "float64", "float16", "bfloat16", "complex64", "complex128", "int8", "int32", "uint8",
    "int64"])
@pytest.mark.parametrize("name", ["strides", "features", "batches"])
def test_dtypes(name: str, dtype: str) -> None:
  kind = dtypes.bfloat16 if dtype == "bfloat16" else np.dtype(dtype)
  with gnomon.enable_x64(dtype in ("float64", "int64", "complex128")):
    if dtype in ("bfloat16", "float16"):
      x, y = (v.astype(kind) for v in operands(name, "float32"))
      wide, tol = "float64", 3e-2 if dtype == "bfloat16" else 4e-3
    else:
      x, y = operands(name, kind)
      wide, tol = kind, 1e-5 if dtype == "complex64" else 1e-13
    params = CASES[name][2]
    expected = convolved(x.astype(wide), y.astype(wide), **params)
    got = function(params)(x, y)
    assert got.dtype == kind
    assert_close(np.asarray(got).astype(wide), expected, rtol=tol, atol=tol)


@pytest.mark.parametrize("name", CASES)
def test_derivatives(name: str) -> None:
  with gnomon.enable_x64(True):
    x, y = operands(name, "float64")
    check_grads(function(CASES[name][2]), (x, y), 1, ("fwd", "rev"))


@pytest.mark.parametrize("name", ["all", "features", "batches", "mixed"])
def test_second_derivatives(name: str) -> None:
  with gnomon.enable_x64(True):
    f = function(CASES[name][2])
    g = gnomon.jit(lambda x, y: lax.sin(f(x, y)))
    check_grads(g, operands(name, "float64"), 2, ("rev",))


# Large enough for the forms that are fast on CPUs: few taps, groups, and the gradients of
# depthwise filters.
FAST: dict[str, tuple[Any, Any, Any]] = {
    "image": ((2, 32, 31, 3), (3, 3, 3, 8), {
        "strides": (1, 1), "padding": [(1, 1), (1, 1)], "numbers": NHWC}),
    "strided": ((1, 3, 64, 65), (16, 3, 2, 4), {
        "strides": (1, 2), "padding": [(0, 1), (-1, 3)], "rhs_dilation": (2, 1)}),
    "blur": ((1, 1, 9000), (1, 1, 32), {"strides": (1,), "padding": [(31, 0)]}),
    "long": ((2, 1, 800), (2, 1, 201), {"strides": (1,), "padding": [(100, 60)]}),
    "long, sparse": ((1, 4400, 2), (70, 2, 1), {
        "strides": (2,), "padding": [(0, 9)], "rhs_dilation": (3,),
        "numbers": ("NHC", "HIO", "NHC")}),
    "depthwise": ((2, 31, 32, 16), (3, 3, 1, 16), {
        "strides": (1, 1), "padding": [(2, 0), (1, 1)], "numbers": NHWC,
        "features": 16}),
    "multiplied": ((2, 8, 32, 31), (16, 1, 3, 3), {
        "strides": (1, 1), "padding": [(1, 1), (1, 1)], "features": 8}),
    "groups": ((2, 20, 21, 16), (3, 3, 4, 16), {
        "strides": (1, 1), "padding": [(1, 1), (2, 2)], "lhs_dilation": (2, 1),
        "numbers": NHWC, "features": 4}),
}


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "complex64", "int32"])
@pytest.mark.parametrize("name", FAST)
def test_fast_on_cpus(name: str, dtype: str) -> None:
  lhs, rhs, params = FAST[name]
  kind = dtypes.bfloat16 if dtype == "bfloat16" else dtype
  x, y = (R.uniform(-9, 9, s).astype(kind) for s in (lhs, rhs))
  if dtype == "complex64":
    y *= 0.6 + 0.8j
  f = gnomon.jit(function(params))
  assert "stablehlo.convolution" not in f.lower(x, y).as_text()
  wide = {"int32": "i8", "complex64": "c16"}.get(dtype, "d")
  expected = convolved(x.astype(wide), y.astype(wide), **params)
  got = np.asarray(f(x, y)).astype(wide)
  # sums in half precision are kept in single precision and rounded once
  rtol, atol = (2 ** -8, 1e-3) if dtype == "bfloat16" else (1e-5, 1e-3)
  assert_close(got, expected, rtol=rtol, atol=atol)


@pytest.mark.parametrize("name", ["depthwise", "multiplied"])
def test_fast_gradients_on_cpus(name: str) -> None:
  lhs, rhs, params = FAST[name]
  x, y = (R.uniform(-1, 1, s).astype("f") for s in (lhs, rhs))
  f = function(params)

  def pulled(x: Any, y: Any) -> Any:
    out, pull = gnomon.vjp(f, x, y)
    return pull(lax.full_like(out, 1.0))

  assert "stablehlo.convolution" not in gnomon.jit(pulled).lower(x, y).as_text()
  along = R.uniform(-1, 1, rhs).astype("f")  # linear: differences are exact
  slope = convolved(x.astype("d"), along.astype("d"), **params).sum()
  dx, dy = gnomon.jit(pulled)(x, y)
  assert_close(np.vdot(np.asarray(dy), along), np.float32(slope), rtol=1e-4, atol=1e-3)
  slope = convolved(x.astype("d"), y.astype("d"), **params).sum()
  assert_close(np.vdot(np.asarray(dx), x), np.float32(slope), rtol=1e-4, atol=1e-3)


def test_complex_derivatives() -> None:
  with gnomon.enable_x64(True):
    x, y = operands("strides", "complex128")
    check_grads(function(CASES["strides"][2]), (x, y), 1, ("fwd", "rev"))


@pytest.mark.parametrize("name", ["all", "nhwc", "features", "batches", "line"])
def test_batching(name: str) -> None:
  examples = [operands(name, "float32", seed) for seed in range(3)]
  check_vmap_axes(
      function(CASES[name][2]), examples, limit=4, atol=1e-5, rtol=1e-5)


def test_batching_twice() -> None:
  x = R.uniform(-1, 1, (3, 2, 4, 5, 4)).astype("f")
  y = R.uniform(-1, 1, (2, 6, 2, 2, 3)).astype("f")
  f = function(CASES["features"][2])
  got = gnomon.vmap(gnomon.vmap(f, (None, 0)), (0, None))(x, y)
  expected = np.stack([np.stack([np.asarray(f(a, b)) for b in y]) for a in x])
  assert_close(got, expected, rtol=1e-5, atol=1e-5)
  assert gnomon.vmap(f)(x[:0], y[:0]).shape == (0, *f(x[0], y[0]).shape)


@pytest.mark.parametrize(("lhs", "rhs", "padding", "out"), [
    ((0, 4, 8, 9), (6, 4, 2, 3), "VALID", (0, 6, 7, 7)),
    ((2, 0, 8, 9), (6, 0, 2, 3), "VALID", (2, 6, 7, 7)),
    ((2, 4, 8, 9), (0, 4, 2, 3), "VALID", (2, 0, 7, 7)),
    ((2, 4, 8, 9), (6, 4, 0, 3), "VALID", (2, 6, 9, 7)),
    ((2, 4, 1, 9), (6, 4, 2, 3), "VALID", (2, 6, 0, 7)),
    ((2, 4, 0, 9), (6, 4, 2, 3), [(2, 2), (0, 0)], (2, 6, 3, 7)),
])
def test_empty(lhs: Any, rhs: Any, padding: Any, out: Any) -> None:
  x, y = np.ones(lhs, "f"), np.ones(rhs, "f")

  def f(x: Any, y: Any) -> Any:
    return lax.conv_general_dilated(x, y, (1, 1), padding)

  got, pull = gnomon.vjp(f, x, y)
  assert got.shape == out
  assert not np.asarray(got).any()
  for ct, v in zip(pull(got), (x, y), strict=True):
    assert ct.shape == v.shape
    assert not np.asarray(ct).any()


@pytest.mark.parametrize(("dtype", "preferred", "value"), [
    ("int8", "int32", 100 * 100 * 30), ("uint8", "float32", 100 * 100 * 30),
    ("bfloat16", "float32", 100 * 100 * 30), ("float16", "float32", 100 * 100 * 30)])
def test_preferred_element_type(dtype: str, preferred: str, value: float) -> None:
  x = np.full((1, 1, 30), 100).astype(
      dtypes.bfloat16 if dtype == "bfloat16" else dtype)

  def f(x: Any, y: Any) -> Any:
    return lax.conv(x, y, (1,), "VALID", preferred_element_type=preferred)

  got = f(x, x)
  assert str(got.dtype) == preferred
  assert got.item() == value
  if "float" in dtype:
    _, pull = gnomon.vjp(f, x, x)
    assert [str(ct.dtype) for ct in pull(got)] == [dtype, dtype]


def test_preferred_gradient_is_computed_in_it() -> None:
  x = np.float16([[[1.0, 2.0]]])
  y = np.float16([[[6e4]]])
  _, pull = gnomon.vjp(
      lambda x, y: lax.conv(x, y, (1,), "VALID", preferred_element_type="float32"), x, y)
  dx, _ = pull(np.float32([[[0.5, 2 ** -20]]]))  # the second is no normal float16
  assert_close(dx, np.float16([[[3e4, 6e4 * 2 ** -20]]]), rtol=1e-3, atol=0)


def test_weak_types() -> None:
  def f(a: Any, b: Any) -> Any:
    x, y = lax.broadcast(a, (1, 1, 3)), lax.broadcast(b, (1, 1, 2))
    return lax.conv(x, y, (1,), "SAME")

  assert gnomon.eval_shape(f, 1.0, 2.0).weak_type
  assert not gnomon.eval_shape(f, 1.0, np.float32(2)).weak_type


def test_printed_as_jax_prints_it() -> None:
  x, y = np.ones((2, 8, 9, 4), "f"), np.ones((2, 3, 4, 6), "f")

  def f(x: Any, y: Any) -> Any:
    return lax.conv_general_dilated(
        x, y, (2, 2), [(1, 2), (0, 1)], (1, 2), (2, 1), NHWC)

  text = str(gnomon.make_jaxpr(lambda x, y: gnomon.vjp(f, x, y)[1](f(x, y)))(x, y))
  for line in (
      "d:f32[2,3,4,6] = conv_general_dilated[",
      "lhs_spec=(3, 0, 1, 2), rhs_spec=(3, 0, 1, 2), out_spec=(2, 3, 0, 1)",
      "padding=((1, 2), (0, 0))", "e:f32[2,3,4,6] = rev[dimensions=(0, 1)] b",
      "lhs_spec=(0, 3, 1, 2), rhs_spec=(2, 3, 0, 1), out_spec=(0, 3, 1, 2)",
      "padding=((1, 0), (2, 2))", "out_sharding=None", "preferred_element_type=None"):
    assert line in text, text


def test_lowers_for_other_platforms() -> None:
  x, y = np.ones((2, 4, 8, 9), "c8"), np.ones((6, 4, 2, 3), "c8")
  f = function({"strides": (1, 1), "padding": "SAME"})
  for platform in ("cuda", "tpu"):
    text = gnomon.jit(f).trace(x, y).lower(lowering_platforms=(platform,)).as_text()
    assert text.count("stablehlo.convolution") == 4


ONES = {"strides": (1, 1), "padding": "VALID"}


@pytest.mark.parametrize(("change", "error", "match"), [
    ({"strides": (1,)}, ValueError, "window_strides must have the same number"),
    ({"strides": (0, 1)}, ValueError, r"window_strides must be positive, got \(0, 1\)"),
    ({"padding": "FOO"}, RuntimeError, "'SAME_LOWER', got 'FOO'"),
    ({"padding": [(0, 0)]}, TypeError, "explicit pads for convolution: exp.* 2, got 1"),
    ({"padding": [(-9, -1), (0, 0)]}, ValueError, "Negative padding is larger"),
    ({"padding": 1}, ValueError, r"sequence of \(low, high\) pairs, got 1"),
    ({"padding": [1, 1]}, ValueError, r"sequence of \(low, high\) pairs"),
    ({"lhs_dilation": (1,)}, ValueError, "lhs_dilation must have the same number"),
    ({"lhs_dilation": (2, 1)}, ValueError, "pairs, not by name"),
    ({"rhs_dilation": (0, 1)}, TypeError, "dilations must be positive"),
    ({"features": 3}, ValueError, "feature_group_count must divide|multiple of feature"),
    ({"features": 0}, ValueError, "feature_group_count must be a positive"),
    ({"batches": 0}, ValueError, "batch_group_count must be a positive"),
    ({"batches": 3}, ValueError, "must divide lhs batch dimension size, but 3"),
    ({"batches": 2, "features": 2}, ValueError, "At most one of"),
    ({"numbers": ("NCHW", "OIHW")}, TypeError, "must be length 3, got 2"),
    ({"numbers": ("NCHW", "OIHW", "NHC")}, TypeError, r"numbers\[2\] must have len"),
    ({"numbers": ("NCHH", "OIHW", "NHWC")}, TypeError, "duplicate characters, got NCHH"),
    ({"numbers": ("NCHW", "NIHW", "NHWC")}, TypeError, "'O' and 'I' exactly once"),
    ({"numbers": ("NCHW", "OIHW", "NCHD")}, TypeError, "same set of spatial"),
    ({"numbers": 3}, TypeError, "must be tuple/list or None"),
    ({"numbers": lax.ConvDimensionNumbers((0, 1, 2, 2), (0, 1, 2, 3), (0, 1, 2, 3))},
     TypeError, "lhs_spec must name each of the 4 dimensions once"),
    ({"precision": "foo"}, ValueError, "precision must be None, one of"),
    ({"preferred_element_type": "int8"}, TypeError, "Input type is incompatible"),
    ({"preferred_element_type": "bfloat16"}, TypeError, "must not be narrower"),
])
def test_errors_of_arguments(change: Any, error: Any, match: str) -> None:
  x, y = np.ones((2, 4, 8, 9), "f"), np.ones((6, 4, 2, 3), "f")
  with pytest.raises(error, match=match):
    function({**ONES, **change})(x, y)


@pytest.mark.parametrize(("x", "y", "error", "match"), [
    (np.ones((2, 4, 8), "f"), np.ones((6, 4, 2, 3), "f"), TypeError, "ndim to be equal"),
    (np.ones(2, "f"), np.ones(2, "f"), TypeError, "batch and a feature dimension"),
    (np.ones((2, 4, 8, 9), "f"), np.ones((6, 4, 2, 3), "i"), TypeError, "same dtypes"),
    (np.ones((2, 4, 8, 9), "f"), np.ones((6, 3, 2, 3), "f"), ValueError, r"4 // 1 != 3"),
])
def test_errors_of_operands(x: Any, y: Any, error: Any, match: str) -> None:
  with pytest.raises(error, match=match):
    function(ONES)(x, y)


def test_ranks_beside_dimension_numbers() -> None:
  numbers = lax.ConvDimensionNumbers((0, 1, 2), (0, 1, 2), (0, 1, 2))
  with pytest.raises(ValueError, match="same number of dimensions, got float32"):
    lax.conv_general_dilated(
        np.ones((1, 1, 1), "f"), np.ones((1, 1, 1, 1), "f"), (1,), [(0, 0)],
        dimension_numbers=numbers)
