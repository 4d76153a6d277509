"""Gathers against a loop over index vectors, for random dimension numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gnomon
from gnomon import lax
from gnomon.testing import assert_close, check_grads, check_vmap_axes

MODES = ["promise_in_bounds", "clip", "fill"]


def loop(x: Any, indices: Any, numbers: Any, sizes: Any, mode: Any, fill: Any) -> Any:
  """What a gather is: a window of `x` for each index vector, clipped or filled."""
  offset, collapsed, index_map, batching, index_batching = numbers
  outer = indices.shape[:-1]
  ndim = len(outer) + len(offset)
  within = [d for d in range(x.ndim) if d not in (*collapsed, *batching)]
  shape = np.zeros(ndim, int)
  rest = [d for d in range(ndim) if d not in offset]
  shape[list(offset)] = [sizes[d] for d in within]
  shape[rest] = outer
  out = np.zeros(tuple(shape), x.dtype)
  for position in np.ndindex(*outer):
    starts = np.zeros(x.ndim, int)
    starts[list(index_map)] = [int(i) for i in indices[position]]
    last = np.array(x.shape) - sizes
    inside = all(0 <= starts[d] <= last[d] for d in index_map)
    starts = np.clip(starts, 0, last)
    for d, i in zip(batching, index_batching, strict=True):
      starts[d] = position[i]
    window = x[tuple(slice(a, a + n) for a, n in zip(starts, sizes, strict=True))]
    window = window.reshape([sizes[d] for d in within])
    place = [slice(None)] * ndim
    for d, p in zip(rest, position, strict=True):
      place[d] = p
    out[tuple(place)] = window if inside or mode != "fill" else fill
  return out


def random_case(seed: Any, *, inside: Any) -> Any:
  """An operand, indices, dimension numbers and slice sizes."""
  rng = np.random.default_rng(seed)
  ndim = int(rng.integers(1, 5))
  shape = rng.integers(1, 5, ndim)
  outer = list(rng.integers(1, 4, int(rng.integers(0, 3))))
  roles = rng.choice(["window", "collapsed", "batching"], ndim, p=[0.5, 0.3, 0.2])
  batching = [d for d in range(ndim) if roles[d] == "batching"]
  index_batching = []
  for d in batching:  # each goes along with a dimension of its own
    outer.insert(0, shape[d])
    index_batching = [i + 1 for i in index_batching] + [0]
  indexed = [d for d in range(ndim) if roles[d] != "batching" and rng.random() < 0.8]
  rng.shuffle(indexed)
  sizes = [int(rng.integers(0 if rng.random() < 0.1 else 1, n + 1))
           if r == "window" else 1 for n, r in zip(shape, roles, strict=True)]
  within = sum(r == "window" for r in roles)
  offset = sorted(rng.permutation(within + len(outer))[:within].tolist())
  low, high = (0, 1) if inside else (-2, 3)
  columns = [
      rng.integers(low, max(shape[d] - sizes[d] + high, low + 1), outer) for d in indexed]
  indices = np.stack(columns, -1) if columns else np.zeros((*outer, 0))
  numbers = lax.GatherDimensionNumbers(
      tuple(offset), tuple(d for d in range(ndim) if roles[d] == "collapsed"),
      tuple(int(d) for d in indexed), tuple(batching), tuple(index_batching))
  x = rng.permutation(int(np.prod(shape))).reshape(shape).astype("float32")
  return x, indices.astype("int32"), numbers, tuple(sizes)


@pytest.mark.parametrize("mode", MODES)
def test_random_dimension_numbers(mode: Any) -> None:
  cases = [random_case(s, inside=mode == "promise_in_bounds") for s in range(60)]

  @gnomon.jit
  def all_of(pairs: Any) -> Any:
    return [lax.gather(x, i, n, s, mode=mode, fill_value=-1.5)
            for (x, i), (_, _, n, s) in zip(pairs, cases, strict=True)]

  got = all_of([(x, i) for x, i, _, _ in cases])
  for g, case in zip(got, cases, strict=True):
    assert_close(g, loop(*case, mode, -1.5), check_dtypes=True, message=str(case[2:]))


@pytest.mark.parametrize("mode", MODES)
def test_random_batching(mode: Any) -> None:
  """Every operand mapped or not, alone and together, along every axis."""
  for seed in (1, 4, 9, 14):
    x, indices, numbers, sizes = random_case(seed, inside=mode == "promise_in_bounds")
    examples = [(x + 100 * k, np.roll(indices, k)) for k in range(2)]
    if mode == "promise_in_bounds":
      examples[1] = (examples[1][0], indices)

    def f(x: Any, i: Any, numbers: Any = numbers, sizes: Any = sizes) -> Any:
      return lax.gather(x, i, numbers, sizes, mode=mode, indices_are_sorted=False)

    check_vmap_axes(f, examples, limit=4)


def test_batching_twice_and_over_nothing() -> None:
  x = np.arange(24.0, dtype="float32").reshape(2, 3, 4)
  i = np.int32([[[0], [2]], [[1], [9]], [[-1], [0]]])
  rows = lax.GatherDimensionNumbers((1,), (0,), (0,))

  def f(x: Any, i: Any) -> Any:
    return lax.gather(x, i, rows, (1, 4), mode="fill")

  got = gnomon.vmap(gnomon.vmap(f, (None, 0)), (0, None))(x, i)
  expected = [[loop(x[a], i[b], rows, (1, 4), "fill", np.nan) for b in range(3)]
              for a in range(2)]
  assert_close(got, np.array(expected))
  empty = gnomon.vmap(f)(x[:0], i[:0])
  assert empty.shape == (0, 2, 4)
  assert gnomon.vmap(f, (0, None))(x[:0], i[0]).shape == (0, 2, 4)


POINTS = lax.GatherDimensionNumbers((), (0,), (0,))


@pytest.mark.parametrize(("dtype", "fill"), [
    ("float32", np.nan), ("float16", np.nan), ("bfloat16", np.nan), ("complex64", np.nan),
    ("int8", -128), ("int32", -2**31), ("uint8", 255), ("uint32", 2**32 - 1),
    ("bool", True)])
def test_fill_values(dtype: Any, fill: Any) -> None:
  kind = gnomon.dtypes.bfloat16 if dtype == "bfloat16" else dtype
  x, i = np.zeros(3, kind), np.int32([[0], [3], [-1]])

  def f(x: Any) -> Any:
    return (lax.gather(x, i, POINTS, (1,), mode="fill"),
            lax.gather(x, i, POINTS, (1,), mode="fill", fill_value=1),
            lax.gather(x, i, POINTS, (1,), mode=lax.GatherScatterMode.FILL_OR_DROP,
                       fill_value=np.asarray(1, kind)))

  expected = np.asarray([0, fill, fill]).astype(kind), *[np.asarray([0, 1, 1], kind)] * 2
  assert_close(gnomon.jit(f)(x), expected, check_dtypes=True)


@pytest.mark.parametrize("wide", [False, True])
def test_every_index_dtype(wide: Any) -> None:
  """Also where the operand is longer than the index dtype can count."""
  x = np.arange(300.0, dtype="float32")
  windows = lax.GatherDimensionNumbers((1,), (), (0,))
  names = ["int8", "int16", "int32", "uint8", "uint16", "uint32"]
  names += ["int64", "uint64"] * wide
  with gnomon.enable_x64(wide):
    indices = []
    for name in names:
      info = np.iinfo(name)
      indices.append(np.asarray(
          [[info.min], [0], [1], [info.max // 2], [info.max - 1], [info.max]], name))

    @gnomon.jit
    def all_of(x: Any, indices: Any) -> Any:
      return [[lax.gather(x, i, windows, (4,), mode=mode, fill_value=-1)
               for i in indices] for mode in ("clip", "fill")]

    for mode, got in zip(("clip", "fill"), all_of(x, indices), strict=True):
      for i, g in zip(indices, got, strict=True):
        starts = [int(v) for v in i[:, 0]]
        expected = np.stack([
            np.full(4, -1) if mode == "fill" and not 0 <= v <= 296
            else x[min(max(v, 0), 296):][:4] for v in starts])
        assert_close(g, expected, message=f"{mode} {i.dtype}")


@pytest.mark.parametrize("mode", MODES)
def test_derivatives(mode: Any) -> None:
  cases = [random_case(s, inside=mode == "promise_in_bounds") for s in (2, 4, 9, 14)]

  def f(*xs: Any) -> Any:
    ys = [lax.gather(x, i, n, s, mode=mode)
          for x, (_, i, n, s) in zip(xs, cases, strict=True)]
    return [lax.mul(y, y) for y in ys]

  with gnomon.enable_x64(True):
    xs = tuple(np.asarray(x, "float64") / x.size for x, *_ in cases)
    check_grads(gnomon.jit(lambda *xs: [_finite(y) for y in f(*xs)]), xs, 2)


def _finite(y: Any) -> Any:
  """Zero instead of NaN: differences of NaN would tell nothing."""
  return lax.select_n(lax.ne(y, y), y, lax.full(y.shape, 0.0, y.dtype))


def test_gradient_counts_how_often_an_element_is_taken() -> None:
  x, i = np.ones(5, "float32"), np.int32([[1], [1], [4], [7], [-3]])
  for mode, expected in (("fill", [0, 2, 0, 0, 1]), ("clip", [1, 2, 0, 0, 2])):
    pull = gnomon.vjp(
        lambda x, mode=mode: lax.gather(x, i, POINTS, (1,), mode=mode), x)[1]
    assert_close(pull(np.ones(5, "float32"))[0], np.float32(expected))


def test_integers_have_no_derivative() -> None:
  def f(x: Any) -> Any:
    return lax.mul(x, lax.convert_element_type(
        lax.reduce_sum(lax.gather(np.int32([1, 2]), np.int32([[1]]), POINTS, (1,)), (0,)),
        np.float32))

  assert float(gnomon.grad(f)(3.0)) == 2


def test_params() -> None:
  x, i = np.zeros((3, 4), "float32"), np.int32([[0], [2]])
  numbers = lax.GatherDimensionNumbers([np.int64(1)], [0], [0])
  jaxpr = gnomon.make_jaxpr(
      lambda x, i: lax.gather(x, i, numbers, [1, np.int64(4)], fill_value=3))(x, i)
  (eqn,) = jaxpr.eqns
  assert eqn.params == {
      "dimension_numbers": lax.GatherDimensionNumbers((1,), (0,), (0,)),
      "slice_sizes": (1, 4), "unique_indices": False, "indices_are_sorted": False,
      "mode": lax.GatherScatterMode.PROMISE_IN_BOUNDS, "fill_value": None}
  assert repr(eqn.params["dimension_numbers"]) == (
      "GatherDimensionNumbers(offset_dims=(1,), collapsed_slice_dims=(0,), "
      "start_index_map=(0,), operand_batching_dims=(), start_indices_batching_dims=())")


def test_modes() -> None:
  mode = lax.GatherScatterMode
  names = ("clip", "fill", "drop", "promise_in_bounds", None)
  assert [mode.from_any(m) for m in names] == [
      mode.CLIP, mode.FILL_OR_DROP, mode.FILL_OR_DROP, mode.PROMISE_IN_BOUNDS,
      mode.FILL_OR_DROP]
  assert mode.from_any(mode.ONE_HOT) is mode.from_any("one_hot")
  with pytest.raises(ValueError, match=r"'nearest'.*'clip'"):
    mode.from_any("nearest")


def test_index_take() -> None:
  x = np.arange(12.0, dtype="float32").reshape(3, 4)
  a, b = np.int32([2, -1, 5]), np.int32([0, 3, -4])
  assert_close(lax.index_take(x, [a, b], (0, 1)), x[a % 3, b % 4])
  assert_close(lax.index_take(x, [b, a], (1, 0)), x[a % 3, b % 4])
  assert_close(lax.index_take(x, [np.int8([-1])], (1,)), x[:, -1][None])
  long = np.arange(300.0, dtype="float32")
  assert_close(lax.index_take(long, [np.int8([-1, 3])], (0,)), long[[-1, 3]])
  assert_close(lax.index_take(long, [np.uint8([255, 3])], (0,)), long[[255, 3]])
  with pytest.raises(TypeError, match="one 1-d array of integers for each"):
    lax.index_take(x, [a], (0, 1))


X = np.zeros((3, 4), "float32")
PLACES = np.zeros((2, 1), "int32")


def _call(
    *numbers: Any, sizes: Any = (1, 4), x: Any = X, indices: Any = PLACES,
    **options: Any) -> Any:
  return lambda: lax.gather(
      x, indices, lax.GatherDimensionNumbers(*numbers), sizes, **options)


@pytest.mark.parametrize(("call", "error", "match"), [
    (_call((2,), (0,), (0,)), TypeError, "offset_dims must be within"),
    (_call((1, 0), (), (0,)), TypeError, "offset_dims must increase"),
    (_call((1,), (), (0,)), TypeError, "one entry of offset_dims"),
    (_call((1,), (0,), (0,), sizes=(2, 4)), TypeError, "collapse dimensions of slice"),
    (_call((1,), (0,), (0,), sizes=(1, 5)), TypeError, "Slice size at index 1"),
    (_call((1,), (0,), (0,), sizes=(1,)), TypeError, "one slice size for every"),
    (_call((1,), (0,), (0, 1)), TypeError, "start_index_map needs one entry"),
    (_call((1,), (0,), (7,)), TypeError, "start_index_map must be within the 2"),
    (_call((1,), (0, 0), (0,)), TypeError, "collapsed_slice_dims must be distinct"),
    (_call((), (1,), (1,), (0,), (0,), sizes=(1, 1)), TypeError, "same sizes"),
    (_call((), (1,), (1,), (0,), (1,), sizes=(1, 1)), TypeError,
     "start_indices_batching_dims"),
    (_call((1,), (), (0,), (0,), (0,), sizes=(1, 4)), TypeError, "in common"),
    (_call((1,), (), (1,), (0,), (0,), sizes=(2, 4), indices=np.zeros((3, 1), "int32")),
     TypeError, "batch dimensions of slice size 1"),
    (_call((1,), (0,), (0,), indices=np.zeros((2, 1), "float32")), ValueError, "integer"),
    (_call((1,), (0,), (0,), indices=np.zeros((2, 1), "bool")), ValueError, "integer"),
    (_call((1,), (0,), (0,), indices=np.int32(0)), TypeError, "at least one dimension"),
    (_call((1,), (0,), (0,), mode="one_hot"), NotImplementedError, "ONE_HOT"),
    (_call((1,), (0,), (0,), mode="nearest"), ValueError, "unknown"),
    (_call((1,), (0,), (0,), mode="fill", fill_value=X), TypeError, "must be a scalar"),
])
def test_errors(call: Any, error: Any, match: Any) -> None:
  with pytest.raises(error, match=match):
    call()
