"""Reductions over windows: values against loops, derivatives, batching, errors."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import gnomon
from gnomon import dtypes, lax
from gnomon.testing import assert_close, check_grads, check_vmap, check_vmap_axes

R = np.random.default_rng(11)


def spread(x: Any, gaps: Any, pads: Any, filler: Any) -> Any:
  """An array with gaps and padding; negative padding cuts off."""
  shape = [0 if n == 0 else (n - 1) * d + 1 for n, d in zip(x.shape, gaps, strict=True)]
  out = np.full(shape, filler, x.dtype)
  out[tuple(slice(None, None, d) for d in gaps)] = x
  if pads:
    out = np.pad(out, [(max(p, 0), max(q, 0)) for p, q in pads], constant_values=filler)
  return out[tuple(slice(max(-p, 0), n - max(-q, 0))
                   for (p, q), n in zip(pads, out.shape, strict=True))]


def windows(x: Any, filler: Any, size: Any, strides: Any = None, padding: Any = None,
            base_dilation: Any = None, window_dilation: Any = None) -> Any:
  """All windows, flat in the last dimension."""
  ones = (1,) * x.ndim
  x = spread(x, base_dilation or ones, padding or [(0, 0)] * x.ndim, filler)
  gaps, strides = window_dilation or ones, strides or ones
  spans = [(k - 1) * d + 1 for k, d in zip(size, gaps, strict=True)]
  counts = [max((n - k) // s + 1, 0)
            for n, k, s in zip(x.shape, spans, strides, strict=True)]
  out = np.zeros((*counts, int(np.prod(size))), x.dtype)
  for place in itertools.product(*map(range, counts)):
    out[place] = x[tuple(
        slice(p * s, p * s + k, d)
        for p, s, k, d in zip(place, strides, spans, gaps, strict=True))].ravel()
  return out


CASES: dict[str, tuple[tuple[int, ...], dict[str, Any]]] = {
    "plain": ((4, 5), {"size": (2, 3)}),
    "strides": ((2, 7, 6), {
        "size": (1, 2, 3), "strides": (1, 2, 2), "padding": [(0, 0), (1, 0), (2, 1)]}),
    "base": ((4, 3), {
        "size": (3, 2), "padding": [(1, 2), (0, 1)], "base_dilation": (2, 3)}),
    "window": ((7, 6), {
        "size": (2, 3), "strides": (2, 1), "padding": [(1, 0), (1, 2)],
        "window_dilation": (3, 2)}),
    "all": ((5, 4), {
        "size": (3, 2), "strides": (2, 3), "padding": [(2, 1), (1, 3)],
        "base_dilation": (3, 2), "window_dilation": (2, 3)}),
    "negative": ((6, 7), {
        "size": (2, 2), "strides": (1, 2), "padding": [(-1, 1), (-2, -1)],
        "base_dilation": (2, 1)}),
    "line": ((9,), {"size": (4,), "padding": [(3, 0)]}),
    "scalar": ((), {"size": ()}),
}
LEAST = {"max": -np.inf, "min": np.inf, "sum": 0.0}
LAX = {"max": lax.max, "min": lax.min, "sum": lax.add}
NUMPY = {"max": np.max, "min": np.min, "sum": np.sum}


def reduced(x: Any, init: Any, f: Any, params: Any) -> Any:
  p = dict(params)
  return lax.reduce_window(
      x, init, f, p["size"], p.get("strides"), p.get("padding", "VALID"),
      p.get("base_dilation"), p.get("window_dilation"))


def distinct(shape: Any, seed: int = 0) -> Any:
  """No two elements near each other: differences cross no ties."""
  n = int(np.prod(shape))
  grid = np.random.default_rng(seed).permutation(np.linspace(-2, 2, max(n, 2)))
  return grid[:n].reshape(shape)


@pytest.mark.parametrize("name", CASES)
def test_values(name: str) -> None:
  shape, params = CASES[name]
  x = distinct(shape).astype("f")
  outs = gnomon.jit(lambda x: [
      reduced(x, LEAST[op], LAX[op], params) for op in LAX])(x)
  for op, got in zip(LAX, outs, strict=True):
    expected = NUMPY[op](windows(x, LEAST[op], **params), axis=-1)
    assert_close(got, expected, rtol=1e-5, atol=1e-5, check_dtypes=True)
  got = reduced(x, 1.0, lax.mul, params)
  expected = np.prod(windows(x, 1.0, **params), axis=-1)
  assert_close(got, expected, rtol=1e-5, atol=1e-5, check_dtypes=True)


@pytest.mark.parametrize("dtype", [
    "int8", "uint8", "int32", "bfloat16", "float16", "complex64", "bool"])
def test_dtypes(dtype: str) -> None:
  shape, params = CASES["strides"]
  kind = np.dtype(dtypes.bfloat16 if dtype == "bfloat16" else dtype)
  x = R.integers(0, 2 if dtype == "bool" else 5, shape).astype(kind)
  if dtype == "complex64":
    x = x + 1j * R.integers(-3, 3, shape).astype(kind)
  inits = {
      "bool": (False, True), "int8": (-128, 127), "uint8": (0, 255),
      "int32": (-2 ** 31, 2 ** 31 - 1),
      "complex64": (complex(-np.inf, -np.inf), complex(np.inf, np.inf)),
  }.get(dtype, (-np.inf, np.inf))
  for op, init in zip(("max", "min"), inits, strict=True):
    view = windows(x, np.asarray(init, kind)[()], **params)
    key = (lambda v: (v.real, v.imag)) if dtype == "complex64" else None
    best = max if op == "max" else min
    expected = np.array([
        best(row.tolist(), key=key) for row in view.reshape(-1, view.shape[-1])])
    got = reduced(x, np.asarray(init, kind), LAX[op], params)
    assert got.dtype == kind
    np.testing.assert_array_equal(
        np.asarray(got).ravel(), expected.astype(kind))
  if dtype != "bool":
    wide = "c8" if dtype == "complex64" else "f" if kind.itemsize > 1 else "i4"
    got = reduced(x, np.zeros((), kind), lax.add, params)
    expected = windows(x, 0, **params).astype(wide).sum(-1)
    np.testing.assert_array_equal(got, expected.astype(kind))


def test_which_primitives() -> None:
  x = np.ones((4, 5), "f")
  flags = x > 0

  def name(x: Any, init: Any, f: Any) -> str:
    jaxpr = gnomon.make_jaxpr(lambda x: reduced(x, init, f, CASES["plain"][1]))(x)
    return str(jaxpr.jaxpr.eqns[-1].primitive)

  assert name(x, 0.0, lax.add) == "reduce_window_sum"
  assert name(x, 0, lax.add) == "reduce_window_sum"
  assert name(x, -0.0, lambda a, b: lax.add(b, a)) == "reduce_window_sum"
  assert name(x, -np.inf, lax.max) == "reduce_window_max"
  assert name(x, np.inf, lax.min) == "reduce_window_min"
  assert name(x.astype("i"), -2 ** 31, lax.max) == "reduce_window_max"
  assert name(flags, False, lax.max) == "reduce_window_max"
  assert name(flags, False, lax.bitwise_or) == "reduce_window"
  assert name(x, 1.0, lax.add) == "reduce_window"
  assert name(x, 0.0, lax.max) == "reduce_window"
  assert name(x, 0.0, lambda a, b: lax.add(a, a)) == "reduce_window"
  assert name(x, 0.0, lambda a, b: lax.add(lax.add(a, b), a)) == "reduce_window"


def test_initial_values_enter() -> None:
  x = np.arange(6, dtype="f")
  got = lax.reduce_window(x, 10.0, lax.min, (2,), (2,), [(0, 2)])
  np.testing.assert_array_equal(got, [0, 2, 4, 10])
  got = lax.reduce_window(x, np.float32(3), lax.max, (2,), (2,))
  np.testing.assert_array_equal(got, [3, 3, 5])
  empty = lax.reduce_window(x, 0.0, lax.add, (9,))
  assert empty.shape == (0,)


def argmax(u: Any, v: Any) -> Any:
  (x, i), (y, j) = u, v
  first = lax.bitwise_or(lax.gt(x, y), lax.bitwise_and(lax.eq(x, y), lax.lt(i, j)))
  return lax.select(first, x, y), lax.select(first, i, j)


def test_several_operands() -> None:
  x = distinct((3, 7)).astype("f")
  places = np.broadcast_to(np.arange(7, dtype="i"), (3, 7))

  def f(x: Any, places: Any) -> Any:
    return lax.reduce_window(
        (x, places), (-np.inf, np.int32(9)), argmax, (1, 3), (1, 2), "SAME")

  best, where = f(x, places)
  view = windows(x, -np.inf, size=(1, 3), strides=(1, 2), padding=[(0, 0), (1, 1)])
  np.testing.assert_array_equal(best, view.max(-1))
  np.testing.assert_array_equal(where, view.argmax(-1) + np.arange(0, 8, 2) - 1)
  more = np.stack([x, x[::-1], -x])
  batched = gnomon.vmap(f, (0, None))(more, places)
  for i in range(3):
    assert_close(tuple(np.asarray(b)[i] for b in batched), f(more[i], places))
  with gnomon.enable_x64(True):
    check_grads(lambda x: f(x, places)[0], (x.astype("d"),), 2, ("fwd", "rev"))


@pytest.mark.parametrize("name", CASES)
def test_derivatives(name: str) -> None:
  shape, params = CASES[name]
  with gnomon.enable_x64(True):
    for op in LAX if name in ("strides", "all") else ("sum", "max"):
      check_grads(lambda x, op=op: reduced(x, LEAST[op], LAX[op], params),
                  (distinct(shape),), 1, ("fwd", "rev"))


@pytest.mark.parametrize("name", ["strides", "base", "window", "negative"])
def test_second_derivatives(name: str) -> None:
  shape, params = CASES[name]
  with gnomon.enable_x64(True):
    for op in ("sum", "max"):
      f = gnomon.jit(
          lambda x, op=op: lax.tanh(reduced(x, LEAST[op], LAX[op], params)))
      check_grads(f, (distinct(shape),), 2, ("fwd", "rev"))


def test_derivatives_of_any_function() -> None:
  shape, params = CASES["all"]

  def f(x: Any) -> Any:  # (1 + a) (1 + b) - 1
    return reduced(x, 0.0, lambda a, b: lax.add(lax.add(a, b), lax.mul(a, b)), params)

  def g(x: Any, init: Any) -> Any:
    return lax.reduce_window(x, init, lax.mul, (2,), (2,))

  with gnomon.enable_x64(True):
    check_grads(gnomon.jit(f), (distinct(shape),), 1, ("fwd", "rev"))
    check_grads(gnomon.jit(g), (distinct((6,)), np.float64(0.5)), 2, ("fwd", "rev"))


def test_complex_derivatives() -> None:
  x = (distinct((4, 5)) + 1j * distinct((4, 5), 1)).astype("c16")
  with gnomon.enable_x64(True):
    for op, init in (("sum", 0), ("max", complex(-np.inf, -np.inf))):
      check_grads(lambda x, op=op, init=init: reduced(
          x, init, LAX[op], CASES["plain"][1]), (x,), 1, ("fwd", "rev"))


def test_the_first_of_equal_elements_has_the_derivative() -> None:
  x = np.float32([1, 3, 3, 3, 2])
  for op, sign in (("max", 1), ("min", -1)):
    def f(x: Any, op: str = op) -> Any:
      return lax.reduce_window(x, LEAST[op], LAX[op], (3,), (2,))

    y, pull = gnomon.vjp(f, sign * x)
    np.testing.assert_array_equal(pull(np.ones_like(y))[0], [0, 1, 1, 0, 0])
    _, t = gnomon.jvp(f, (sign * x,), (np.arange(5, dtype="f"),))
    np.testing.assert_array_equal(t, [1, 2])


@pytest.mark.parametrize("name", ["strides", "all", "line"])
def test_batching(name: str) -> None:
  shape, params = CASES[name]
  examples = [(distinct(shape, seed).astype("f"),) for seed in range(3)]
  for op, combine in LAX.items():
    def f(x: Any, op: str = op, combine: Any = combine) -> Any:
      return reduced(x, LEAST[op], combine, params)

    check_vmap_axes(f, examples, atol=1e-5, rtol=1e-5)
  g = gnomon.vmap(lambda x: gnomon.vjp(
      lambda x: reduced(x, -np.inf, lax.max, params), x)[1](
          reduced(x, -np.inf, lax.max, params))[0])
  rows = np.stack([e[0] for e in examples])
  got = g(rows)
  for i, (x,) in enumerate(examples):
    y, pull = gnomon.vjp(lambda x: reduced(x, -np.inf, lax.max, params), x)
    assert_close(np.asarray(got)[i], pull(y)[0])


def test_batching_of_initial_values() -> None:
  examples = [(distinct((2, 7, 6), seed).astype("f"), np.float32(seed - 0.5))
              for seed in range(2)]
  check_vmap_axes(
      lambda x, init: reduced(x, init, lax.max, CASES["strides"][1]), examples,
      atol=1e-5, rtol=1e-5)


# ---- selecting


def select_params(size: Any, strides: Any, padding: Any) -> Any:
  return {"window_dimensions": size, "window_strides": strides, "padding": padding}


SELECT = select_params((2, 3), (2, 1), ((0, 0), (1, 1)))


def scattered(x: Any, source: Any, better: Any, add: Any, init: Any) -> Any:
  """`select_and_scatter`, a window at a time."""
  out = np.full(x.shape, init, x.dtype)
  for i, j in itertools.product(*map(range, source.shape)):
    cells = [(2 * i + a, j + b - 1) for a in range(2) for b in range(3)
             if 0 <= j + b - 1 < x.shape[1]]
    best = cells[0]
    for cell in cells[1:]:
      if not better(x[best], x[cell]):
        best = cell
    out[best] = add(out[best], source[i, j])
  return out


def test_scattering() -> None:
  x, source = distinct((4, 5)).astype("f"), distinct((2, 5), 1).astype("f")
  for select_prim, better in ((lax.ge_p, np.greater_equal), (lax.le_p, np.less_equal)):
    got = lax.select_and_scatter_add_p.apply(
        source, x, select_prim=select_prim, **SELECT)[0]
    assert_close(got, scattered(x, source, better, np.add, 0))


def test_large_windows() -> None:
  x = distinct((20, 18)).astype("f")
  params = {"size": (15, 7), "strides": (2, 1), "padding": [(0, 3), (2, 2)]}
  for op, combine in LAX.items():
    got = reduced(x, LEAST[op], combine, params)
    expected = NUMPY[op](windows(x, LEAST[op], **params), axis=-1)
    assert_close(got, expected, rtol=1e-5, atol=1e-5)
  y, pull = gnomon.vjp(lambda x: reduced(x, -np.inf, lax.max, params), x)
  source = distinct(y.shape, 1).astype("f")
  expected = np.zeros_like(x)
  places = windows(np.arange(x.size).reshape(x.shape), -1, **params)
  best = windows(x, -np.inf, **params).argmax(-1)
  for cell in np.ndindex(*y.shape):
    expected.ravel()[places[(*cell, best[cell])]] += source[cell]
  assert_close(pull(source)[0], expected, rtol=1e-5, atol=1e-5)


def test_half_precision_is_rounded_once() -> None:
  x = R.uniform(1, 2, (12, 12)).astype(dtypes.bfloat16)
  got = lax.reduce_window(x, 0.0, lax.add, (5, 6), (3, 1))
  expected = windows(x.astype("d"), 0, size=(5, 6), strides=(3, 1)).sum(-1)
  np.testing.assert_array_equal(got, expected.astype(dtypes.bfloat16))


def programs() -> Any:
  zero = np.float32(0)
  select = gnomon.make_jaxpr(lax.ge)(zero, zero)
  scatter = gnomon.make_jaxpr(lax.mul)(zero, zero)
  return {"select_jaxpr": select.jaxpr, "select_consts": (),
          "scatter_jaxpr": scatter.jaxpr, "scatter_consts": ()}


def test_scattering_with_any_function() -> None:
  x, source = distinct((4, 5)).astype("f"), distinct((2, 5), 1).astype("f")

  def f(x: Any, source: Any, init: Any) -> Any:
    return lax.select_and_scatter_p.apply(x, source, init, **programs(), **SELECT)[0]

  init = np.float32(2)
  assert_close(f(x, source, init), scattered(
      x, source, np.greater_equal, np.multiply, 2))
  for axes in ((0, 1, None), (2, None, 0)):
    args = [
        v if a is None else np.stack([v, -v], a)
        for v, a in zip((x, source, init), axes, strict=True)]
    check_vmap(f, args, axes)


@pytest.mark.parametrize("p", [
    lax.select_and_scatter_add_p, lax.select_and_gather_add_p])
def test_selections_are_linear(p: Any) -> None:
  x = distinct((4, 5))
  if p is lax.select_and_scatter_add_p:
    t, params = distinct((2, 5), 1), SELECT
  else:
    t, params = distinct((4, 5), 1), {
        **SELECT, "base_dilation": (1, 2), "window_dilation": (2, 1)}

  def f(t: Any, x: Any) -> Any:
    return p.apply(t, x, select_prim=lax.ge_p, **params)[0]

  with gnomon.enable_x64(True):
    check_grads(f, (t, x), 2, ("fwd", "rev"))
    check_vmap_axes(f, [(t, x), (-t, x + t.sum())], limit=4)


def test_printed_as_jax_prints_it() -> None:
  x = np.ones((6, 7), "f")

  def f(x: Any) -> Any:
    return lax.reduce_window(x, -np.inf, lax.max, (2, 3), (2, 1), "SAME")

  text = str(gnomon.make_jaxpr(lambda x: gnomon.vjp(f, x)[1](f(x)))(x))
  assert """select_and_scatter_add[
      padding=((0, 0), (1, 1))
      select_prim=ge
      window_dimensions=(2, 3)
      window_strides=(2, 1)
    ]""" in text, text
  text = str(gnomon.make_jaxpr(
      lambda x: lax.reduce_window(x, 1.0, lax.mul, (2, 3)))(x))
  assert """reduce_window[
      base_dilation=(1, 1)
      consts=()
      jaxpr={ lambda ; c:f32[] d:f32[]. let e:f32[] = mul c d in (e,) }
      padding=((0, 0), (0, 0))
      window_dilation=(1, 1)
      window_dimensions=(2, 3)
      window_strides=(1, 1)
    ] a 1.0:f32[]""" in text, text


def test_lowers_for_other_platforms() -> None:
  x = np.ones((6, 7), "f")

  def f(x: Any) -> Any:
    y, pull = gnomon.vjp(
        lambda x: lax.reduce_window(x, -np.inf, lax.max, (2, 3), (2, 1), "SAME"), x)
    return pull(y)

  for platform in ("cuda", "tpu"):
    text = gnomon.jit(f).trace(x).lower(lowering_platforms=(platform,)).as_text()
    assert "stablehlo.reduce_window" in text
    assert "stablehlo.select_and_scatter" in text


X = np.ones((6, 7), "f")


def call(*args: Any, x: Any = X, init: Any = 0.0, f: Any = lax.add, **params: Any) -> Any:
  return lax.reduce_window(x, init, f, *(args or ((2, 3),)), **params)


def closes_over_a_tracer() -> Any:
  return gnomon.jit(lambda c: call(f=lambda a, b: lax.mul(lax.add(a, b), c)))(2.0)


@pytest.mark.parametrize(("bad", "error", "match"), [
    (lambda: call((2,)), TypeError, r"wrong number of window_dimensions.*\(2,\)"),
    (lambda: call((0, 2)), TypeError, "window_dimensions must have every element be"),
    (lambda: call(window_strides=(1,)), TypeError, "inconsistent window_strides"),
    (lambda: call(window_strides=(0, 1)), TypeError, "window_strides must have every"),
    (lambda: call(padding="X"), RuntimeError, "Unrecognized padding type"),
    (lambda: call(padding=[(0, 0)]), TypeError, "inconsistent padding"),
    (lambda: call(padding=3), ValueError, r"sequence of \(low, high\) pairs, got 3"),
    (lambda: call(base_dilation=(0, 1)), TypeError, "base_dilation must have every"),
    (lambda: call(window_dilation=(1,)), TypeError, "inconsistent window_dilation"),
    (lambda: call(init=np.ones(2, "f")), TypeError,
     r"expected init_values to be scalars.*\[\(2,\)\]"),
    (lambda: call(init=np.int32(1)), TypeError, "init_values of the dtypes"),
    (lambda: call(f=lambda a, b: [a]), ValueError, "must have the same tree structure"),
    (lambda: call(f=lax.eq), TypeError, "it returned bool"),
    (lambda: call(x=(X, X), init=(0.0,)), ValueError, "tree structure as init_values"),
    (lambda: call(x=(), init=()), ValueError, "at least one operand"),
    (lambda: call(x=(X, X[:2]), init=(0.0, 0.0), f=lambda a, b: a), TypeError,
     "operands of one shape"),
    (closes_over_a_tracer, NotImplementedError, "may depend on its arguments only"),
    (lambda: lax.select_and_scatter_add_p.apply(
        X, X, select_prim=lax.ge_p, **SELECT), TypeError, "an element a window"),
    (lambda: lax.select_and_scatter_add_p.apply(
        X, X, select_prim=lax.gt_p, **SELECT), TypeError, "needs ge_p or le_p"),
])
def test_errors(bad: Any, error: Any, match: str) -> None:
  with pytest.raises(error, match=match):
    bad()


def test_shape_tuple() -> None:
  for name, (shape, params) in CASES.items():
    p = dict(params)
    ones = (1,) * len(shape)
    got = lax.reduce_window_shape_tuple(
        shape, p["size"], p.get("strides", ones), p.get("padding", "VALID"),
        p.get("base_dilation"), p.get("window_dilation"))
    assert got == windows(np.zeros(shape), 0, **p).shape[:-1], name


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.uint8, np.uint32])
@pytest.mark.parametrize(("infinity", "op"), [(-np.inf, lax.max), (np.inf, lax.min)])
def test_infinities_are_the_initial_values_of_integers(
    infinity: float, op: Any, dtype: Any) -> None:
  x = np.arange(4, dtype=dtype)
  numpy_op = np.maximum if op is lax.max else np.minimum
  got = lax.reduce_window(x, infinity, op, (2,), (1,), "VALID")
  np.testing.assert_array_equal(got, numpy_op(x[1:], x[:-1]))
  info = np.iinfo(dtype)
  limit = info.min if op is lax.max else info.max
  assert int(lax.reduce(x[:0], infinity, op, (0,))) == limit
