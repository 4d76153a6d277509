"""Scatters against a loop over index vectors, for random dimension numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gnomon
from gnomon import lax
from gnomon.core.zero import UndefinedPrimal
from gnomon.testing import assert_close, check_grads, check_vmap_axes
from gnomon.transform.transpose import backward

OPS = {
    "scatter": (lax.scatter, lambda old, new: new),
    "scatter_add": (lax.scatter_add, np.add),
    "scatter_sub": (lax.scatter_sub, np.subtract),
    "scatter_mul": (lax.scatter_mul, np.multiply),
    "scatter_min": (lax.scatter_min, np.minimum),
    "scatter_max": (lax.scatter_max, np.maximum),
}
MODES = ["clip", "drop"]


def loop(
    x: Any, indices: Any, updates: Any, numbers: Any, combine: Any, mode: str) -> Any:
  """What a scatter is: one window after the other is combined into `x`, or dropped."""
  window, absent, index_map, batching, index_batching = numbers
  outer = indices.shape[:-1]
  within = [d for d in range(x.ndim) if d not in (*absent, *batching)]
  sizes = np.ones(x.ndim, int)
  sizes[within] = [updates.shape[d] for d in window]
  rest = [d for d in range(updates.ndim) if d not in window]
  out = np.array(x)
  for position in np.ndindex(*outer):
    starts, last = [0] * x.ndim, np.array(x.shape) - sizes
    for d, i in zip(index_map, indices[position], strict=True):
      starts[d] = int(i)
    if mode != "clip" and not all(0 <= i <= n for i, n in zip(starts, last, strict=True)):
      continue
    starts = [min(max(i, 0), n) for i, n in zip(starts, last, strict=True)]
    for d, i in zip(batching, index_batching, strict=True):
      starts[d] = position[i]
    place = tuple(slice(a, a + n) for a, n in zip(starts, sizes, strict=True))
    taken = [slice(None)] * updates.ndim
    for d, p in zip(rest, position, strict=True):
      taken[d] = p
    out[place] = combine(out[place], updates[tuple(taken)].reshape(sizes))
  return out


def random_case(seed: Any) -> Any:
  """An operand, indices, updates and dimension numbers."""
  rng = np.random.default_rng(seed)
  ndim = int(rng.integers(1, 5))
  shape = rng.integers(1, 5, ndim)
  outer = list(rng.integers(1, 4, int(rng.integers(0, 3))))
  roles = rng.choice(["window", "inserted", "batching"], ndim, p=[0.5, 0.3, 0.2])
  batching = [d for d in range(ndim) if roles[d] == "batching"]
  index_batching = []
  for d in batching:  # each goes along with a dimension of its own
    outer.insert(0, shape[d])
    index_batching = [i + 1 for i in index_batching] + [0]
  indexed = [d for d in range(ndim) if roles[d] != "batching" and rng.random() < 0.8]
  rng.shuffle(indexed)
  sizes = [int(rng.integers(0 if rng.random() < 0.1 else 1, n + 1))
           if r == "window" else 1 for n, r in zip(shape, roles, strict=True)]
  within = [d for d in range(ndim) if roles[d] == "window"]
  updates_ndim = len(within) + len(outer)
  window = sorted(rng.permutation(updates_ndim)[:len(within)].tolist())
  indices = np.stack(
      [rng.integers(-1, shape[d] - sizes[d] + 2, outer) for d in indexed],
      -1).astype("int32") if indexed else np.zeros((*outer, 0), "int32")
  numbers = lax.ScatterDimensionNumbers(
      tuple(window), tuple(d for d in range(ndim) if roles[d] == "inserted"),
      tuple(int(d) for d in indexed), tuple(batching), tuple(index_batching))
  updates_shape = np.zeros(updates_ndim, int)
  updates_shape[window] = [sizes[d] for d in within]
  updates_shape[[d for d in range(updates_ndim) if d not in window]] = outer
  values = rng.permutation(int(np.prod(shape) + np.prod(updates_shape))) + 1.0
  split = int(np.prod(shape))
  return (values[:split].reshape(shape).astype("float32"), indices,
          values[split:].reshape(updates_shape).astype("float32"), numbers)


@pytest.mark.parametrize("name", OPS)
def test_random_dimension_numbers(name: Any) -> None:
  op, combine = OPS[name]
  cases = [random_case(s) for s in range(0, 40, 2)]

  @gnomon.jit
  def all_of(args: Any) -> Any:
    return [[op(x, i, u, n, mode=mode) for mode in MODES]
            for (x, i, u), (*_, n) in zip(args, cases, strict=True)]

  got = all_of([case[:3] for case in cases])
  for pair, (x, i, u, n) in zip(got, cases, strict=True):
    for mode, g in zip(MODES, pair, strict=True):
      assert_close(g, loop(x, i, u, n, combine, mode), check_dtypes=True,
                   message=f"{mode} {n} {x.shape} {u.shape}")


@pytest.mark.parametrize("name", ["scatter", "scatter_add"])
@pytest.mark.parametrize("mode", MODES)
def test_random_batching(name: Any, mode: Any) -> None:
  """Every operand mapped or not, alone and together, along every axis."""
  op, _ = OPS[name]
  for seed in (0, 12):
    x, indices, updates, numbers = random_case(seed)
    examples = [(x + 100 * k, np.roll(indices, k), updates + 7 * k) for k in range(2)]
    check_vmap_axes(
        lambda x, i, u, n=numbers: op(x, i, u, n, mode=mode), examples, limit=4)


ROWS = lax.ScatterDimensionNumbers((1,), (0,), (0,))
POINTS = lax.ScatterDimensionNumbers((), (0,), (0,))


def test_batching_twice_and_over_nothing() -> None:
  x = np.arange(24.0, dtype="float32").reshape(2, 3, 4)
  i = np.int32([[[0], [2]], [[1], [1]], [[-1], [0]]])
  u = -np.ones((2, 4), "float32")

  def f(x: Any, i: Any) -> Any:
    return lax.scatter_add(x, i, u, ROWS)

  got = gnomon.vmap(gnomon.vmap(f, (None, 0)), (0, None))(x, i)
  expected = [[loop(x[a], i[b], u, ROWS, np.add, "drop") for b in range(3)]
              for a in range(2)]
  assert_close(got, np.array(expected))
  assert gnomon.vmap(f)(x[:0], i[:0]).shape == (0, 3, 4)
  assert gnomon.vmap(f, (0, None))(x[:0], i[0]).shape == (0, 3, 4)


@pytest.mark.parametrize("wide", [False, True])
def test_every_index_dtype(wide: Any) -> None:
  """Also where the operand is longer than the index dtype can count."""
  x = np.zeros(300, "float32")
  windows = lax.ScatterDimensionNumbers((1,), (), (0,))
  names = ["int8", "int16", "int32", "uint8", "uint16", "uint32"]
  names += ["int64", "uint64"] * wide
  updates = np.arange(24, dtype="float32").reshape(6, 4) + 1
  with gnomon.enable_x64(wide):
    indices = []
    for name in names:
      info = np.iinfo(name)
      indices.append(np.asarray(
          [[info.min], [0], [1], [info.max // 2], [info.max - 1], [info.max]], name))

    @gnomon.jit
    def all_of(x: Any, indices: Any) -> Any:
      return [[lax.scatter_add(x, i, updates, windows, mode=mode) for i in indices]
              for mode in MODES]

    for mode, got in zip(MODES, all_of(x, indices), strict=True):
      for i, g in zip(indices, got, strict=True):
        assert_close(g, loop(x, i, updates, windows, np.add, mode),
                     message=f"{mode} {i.dtype}")


@pytest.mark.parametrize(
    "dtype", ["float16", "bfloat16", "int8", "uint32", "complex64", "bool"])
def test_dtypes_of_elements(dtype: Any) -> None:
  kind = gnomon.dtypes.bfloat16 if dtype == "bfloat16" else dtype
  x, u = np.asarray([0, 1, 2, 1]).astype(kind), np.asarray([3, 2, 0]).astype(kind)
  i = np.int32([[1], [1], [3]])
  names = ["scatter", "scatter_min", "scatter_max"] if dtype == "bool" else list(OPS)
  if dtype == "complex64":
    names = names[:4]
  got = gnomon.jit(lambda x, u: [OPS[n][0](x, i, u, POINTS) for n in names])(x, u)
  expected = [loop(x, i, u, POINTS, OPS[n][1], "drop").astype(kind) for n in names]
  assert_close(got, expected, check_dtypes=True)


def test_nothing_to_update() -> None:
  x = np.arange(3.0, dtype="float32")
  for op, _ in OPS.values():
    assert_close(op(x, np.zeros((0, 1), "int32"), np.zeros(0, "float32"), POINTS), x)
  window = lax.ScatterDimensionNumbers((1,), (), (0,))
  i, u = np.int32([[1], [2]]), np.zeros((2, 0), "float32")
  assert_close(lax.scatter(x, i, u, window), x)
  gradient = gnomon.grad(lambda x: lax.reduce_sum(lax.scatter(x, i, u, window), (0,)))
  assert_close(gradient(x), np.ones_like(x))


def test_python_numbers_take_the_dtype_of_the_operand() -> None:
  x = np.zeros(3, gnomon.dtypes.bfloat16)
  got = lax.scatter_add(x, np.int32([1]), 2, POINTS)
  assert got.dtype == gnomon.dtypes.bfloat16
  assert_close(np.asarray(got).astype("float32"), np.float32([0, 2, 0]))


# ---- scatter_apply


def test_apply() -> None:
  x, i = np.arange(5.0, dtype="float32"), np.int32([[1], [3], [1], [9]])

  def f(x: Any) -> Any:
    return lax.scatter_apply(
        x, i, lambda y: lax.add(lax.mul(y, y), 1.0), POINTS, update_shape=(4,))

  expected = loop(x, i, np.zeros(4, "float32"), POINTS, lambda y, _: y * y + 1, "drop")
  assert_close(gnomon.jit(f)(x), expected, check_dtypes=True)
  check_vmap_axes(f, [(x,), (2 * x,)])


def test_apply_derivatives() -> None:
  x, i = np.arange(5.0) / 3 + 0.2, np.int32([[1], [3], [9]])

  def f(x: Any, func: Any = lax.sqrt) -> Any:
    return lax.scatter_apply(x, i, func, POINTS, update_shape=(3,), unique_indices=True)

  with gnomon.enable_x64(True):
    check_grads(gnomon.jit(f), (x,), 2)
    # what is dropped has no derivative, not even where the function has none
    expected = np.ones(5)
    expected[[1, 3]] = 0.5 / np.sqrt(x[[1, 3]])
    assert_close(gnomon.grad(lambda x: lax.reduce_sum(f(x), (0,)))(x), expected)
    assert_close(gnomon.jvp(f, (x,), (np.ones(5),))[1], expected)
    constant = gnomon.grad(lambda x: lax.reduce_sum(f(x, lambda y: 2.0), (0,)))(x)
    assert_close(constant, np.array([1.0, 0, 1, 0, 1]))
    with pytest.raises(NotImplementedError, match="unique_indices=True"):
      gnomon.grad(lambda x: lax.reduce_sum(lax.scatter_apply(
          x, i, lax.sqrt, POINTS, update_shape=(3,)), (0,)))(x)


# ---- derivatives, with windows that overlap


@pytest.mark.parametrize("name", OPS)
def test_derivatives(name: Any) -> None:
  op, _ = OPS[name]
  cases = [random_case(s) for s in (23, 30)]

  def f(*args: Any) -> Any:
    ys = [op(x, i, u, n, mode=mode) for x, u, (_, i, _, n), mode in zip(
        args[::2], args[1::2], cases, MODES, strict=True)]
    return [lax.mul(y, y) for y in ys]

  with gnomon.enable_x64(True):
    args = [a.astype("float64") / 50 for x, _, u, _ in cases for a in (x, u)]
    check_grads(gnomon.jit(f), tuple(args), 2)


def _gradients(op: Any, x: Any, i: Any, u: Any, ct: Any, **options: Any) -> Any:
  return gnomon.vjp(lambda x, u: op(x, i, u, POINTS, **options), x, u)[1](ct)


X, U = np.float32([4, 5, 6, 7]), np.float32([2, 3, 0, 8, 9])
PLACES = np.int32([[1], [1], [2], [7], [1]])
CT = np.float32([1, 10, 100, 1000])


def test_overwriting_follows_the_value() -> None:
  value = np.asarray(lax.scatter(X, PLACES, U, POINTS))
  ct_x, ct_u = _gradients(lax.scatter, X, PLACES, U, CT)
  assert_close(ct_x, np.float32([1, 0, 0, 1000]))
  won = [k for k in (0, 1, 4) if value[1] == U[k]]
  expected = np.zeros(5, "float32")
  expected[won[0]], expected[2] = 10, 100
  assert_close(ct_u, expected)
  # the value beside a derivative is that without, to the bit: also -0.0 and NaN
  u = np.float32([-0.0, np.nan, -0.0, 1, -0.0])
  primal, tangent = gnomon.jvp(lambda u: lax.scatter(X, PLACES, u, POINTS), (u,), (U,))
  plain = np.asarray(lax.scatter(X, PLACES, u, POINTS))
  assert np.asarray(primal).tobytes() == plain.tobytes()
  assert_close(tangent, np.float32([0, U[won[0]], U[2], 0]))


def test_overwriting_once_needs_no_numbers() -> None:
  for i, options in ((PLACES[:1], {}), (PLACES[1:3], {"unique_indices": True})):
    jaxpr = gnomon.make_jaxpr(lambda x, u, i=i, o=options: gnomon.jvp(
        lambda x, u: lax.scatter(x, i, u, POINTS, **o), (x, u), (x, u)))(X, U[:len(i)])
    assert [e.primitive.name for e in jaxpr.eqns] == ["scatter", "scatter"]


def _transposed(f: Any, x: Any, ct: Any) -> Any:
  """The transpose of a function as it is, not of its derivative."""
  program = gnomon.make_jaxpr(f)(x)
  linear = UndefinedPrimal(program.in_avals[0])
  return backward(program.jaxpr, program.consts, [linear], [ct])[0]


def test_linear_transposes() -> None:
  zeros = np.zeros(4, "float32")
  ct_u = _transposed(lambda u: lax.scatter(zeros, PLACES, u, POINTS), U, CT)
  value = np.asarray(lax.scatter(X, PLACES, U, POINTS))
  expected = np.zeros(5, "float32")
  expected[next(k for k in (0, 1, 4) if value[1] == U[k])], expected[2] = 10, 100
  assert_close(ct_u, expected)
  for op, sign in ((lax.scatter_add, 1), (lax.scatter_sub, -1)):
    ct_u = _transposed(lambda u, op=op: op(zeros, PLACES, u, POINTS), U, CT)
    assert_close(ct_u, sign * np.float32([10, 10, 100, 0, 10]))
  ct_u = _transposed(lambda u: lax.scatter_mul(
      X, PLACES[1:3], u, POINTS, unique_indices=True), U[:2], CT)
  assert_close(ct_u, np.float32([50, 600]))
  with pytest.raises(NotImplementedError, match="unique_indices=True"):
    _transposed(lambda u: lax.scatter_mul(X, PLACES, u, POINTS), U, CT)


def test_products_with_zeros_and_repeats() -> None:
  """Where several updates of an element are zero, dividing by them would fail."""
  i = np.int32([[0], [1], [0], [1], [2], [0], [3], [9], [-1]])
  x = np.array([2.0, 3.0, 5.0, 0.0])
  u = np.array([0.0, 0.0, 0.0, 4.0, 0.0, 7.0, 3.0, np.inf, 1e300])
  ct = np.array([1.0, 10.0, 100.0, 1000.0])

  def f(x: Any, u: Any) -> Any:
    return lax.scatter_mul(x, i, u, POINTS)

  with gnomon.enable_x64(True):
    ct_x, ct_u = gnomon.vjp(f, x, u)[1](ct)
    assert_close(ct_x, np.array([0.0, 0.0, 0.0, 3000.0]))
    assert_close(ct_u, np.array([0.0, 120.0, 0.0, 0.0, 500.0, 0.0, 0.0, 0.0, 0.0]))
    # the second derivative in the two zeros of element 0 is 2 * 7
    hessian = gnomon.jacfwd(gnomon.jacrev(lambda u: lax.index_in_dim(
        f(x, u), 0, keepdims=False)))(u)
    expected = np.zeros((9, 9))
    expected[0, 2] = expected[2, 0] = 14.0
    assert_close(hessian, expected)
    check_grads(gnomon.jit(lambda x, u: f(x, lax.concatenate(
        [u, np.ones(2)], 0))), (x, u[:7]), 2)


def test_products_of_many() -> None:
  rng = np.random.default_rng(0)
  n, m = 1000, 7
  i = rng.integers(0, m, (n, 1)).astype("int32")
  u = rng.choice([0.5, 2.0, -1.0], n)
  with gnomon.enable_x64(True):
    _, ct_u = gnomon.vjp(lambda x, u: lax.scatter_mul(x, i, u, POINTS), np.ones(m), u)[1](
        np.ones(m))
  totals = np.ones(m)
  np.multiply.at(totals, i[:, 0], u)
  assert_close(ct_u, totals[i[:, 0]] / u)


@pytest.mark.parametrize(("op", "sign"), [(lax.scatter_max, 1), (lax.scatter_min, -1)])
def test_extrema_share_among_ties(op: Any, sign: Any) -> None:
  x = np.float32([3, 5, 6, 7]) * sign
  u = np.float32([5, 5, 1, 8, 4]) * sign
  ct_x, ct_u = _gradients(op, x, PLACES, u, CT)
  assert_close(ct_x, np.float32([1, 10 / 3, 100, 1000]))
  assert_close(ct_u, np.float32([10 / 3, 10 / 3, 0, 0, 0]))
  # NaN wins, and where nothing is put derivatives pass
  x = np.float32([np.nan, 5, 6, 7])
  ct_x, _ = _gradients(op, x, PLACES, u, CT)
  assert np.asarray(ct_x)[0] == 1


def test_ties_of_many_in_half_precision() -> None:
  n = 600  # more than bfloat16 can count one by one
  x, u = np.zeros(1, gnomon.dtypes.bfloat16), np.ones(n, gnomon.dtypes.bfloat16)
  _, ct_u = _gradients(lax.scatter_max, x, np.zeros((n, 1), "int32"), u,
                       np.ones(1, gnomon.dtypes.bfloat16))
  assert_close(np.asarray(ct_u, "float32"), np.full(n, np.float32(1 / n)), atol=1e-5,
               rtol=1e-2)


def test_batched_derivatives() -> None:
  rng = np.random.default_rng(0)
  examples = [(rng.normal(size=4), rng.normal(size=5)) for _ in range(2)]
  indices = [PLACES, np.int32([[3], [0], [3], [1], [3]])]

  def gradients(x: Any, u: Any, i: Any) -> Any:
    return [_gradients(op, x, i, u, CT.astype("float64")) for op, _ in OPS.values()]

  with gnomon.enable_x64(True):
    got = gnomon.jit(gnomon.vmap(gradients))(
        *(np.stack(a) for a in zip(*examples, strict=True)), np.stack(indices))
    for k, (x, u) in enumerate(examples):
      expected = gnomon.jit(gradients)(x, u, indices[k])
      assert_close(gnomon.tree.map(lambda a, k=k: np.asarray(a)[k], got), expected)


# ---- types, params, errors


def test_params() -> None:
  x, i, u = np.zeros((3, 4)), np.zeros((2, 1), "int32"), np.zeros((2, 4))
  numbers = lax.ScatterDimensionNumbers([np.int64(1)], [0], [0])
  for name, (op, _) in OPS.items():
    (eqn,) = gnomon.make_jaxpr(lambda x, i, u, op=op: op(x, i, u, numbers))(x, i, u).eqns
    assert eqn.primitive.name == name.replace("_", "-")
    params = dict(eqn.params)
    jaxpr = params.pop("update_jaxpr")
    if name == "scatter":
      assert jaxpr is None
    else:
      assert [e.primitive.name for e in jaxpr.eqns] == [name.removeprefix("scatter_")]
    assert params == {
        "update_consts": (), "dimension_numbers": ROWS, "indices_are_sorted": False,
        "unique_indices": False, "mode": lax.GatherScatterMode.FILL_OR_DROP}


Z = np.zeros((3, 4), "float32")
J = np.zeros((2, 1), "int32")


def _call(
    *numbers: Any, x: Any = Z, indices: Any = J, updates: Any = Z[:2],
    op: Any = lax.scatter, **options: Any) -> Any:
  return lambda: op(x, indices, updates, lax.ScatterDimensionNumbers(*numbers), **options)


@pytest.mark.parametrize(("call", "error", "match"), [
    (_call((1,), (0,), (0,), updates=np.zeros((2, 4), "int32")), TypeError, "dtype"),
    (_call((2,), (0,), (0,)), TypeError, "update_window_dims must be within"),
    (_call((1,), (0,), (0,), updates=Z[0]), TypeError, "must be of rank 2; got 1"),
    (_call((1,), (0,), (0,), updates=Z), TypeError,
     "Bounds of the scatter dimensions"),
    (_call((1,), (0,), (0,), updates=np.zeros((2, 5), "f4")), TypeError, "no larger"),
    (_call((1,), (), (0,)), TypeError, "one entry of update_window_dims"),
    (_call((1,), (0,), (0, 1)), TypeError, "operand_dims needs one entry"),
    (_call((1,), (0,), (2,)), TypeError, "scatter_dims_to_operand_dims must be within"),
    (_call((1,), (2,), (0,)), TypeError, "inserted_window_dims must be within"),
    (_call((1,), (), (1,), (0,), (0,)), TypeError, "same sizes"),
    (_call((1,), (0,), (0,), indices=np.zeros((2, 1), "float32")), ValueError, "integer"),
    (_call((1,), (0,), (0,), mode="one_hot"), NotImplementedError, "ONE_HOT"),
    (_call((1,), (0,), (0,), mode="near"), ValueError, "unknown"),
    (_call((1,), (0,), (0,), op=lax.scatter_add, x=Z > 0, updates=Z[:2] > 0), TypeError,
     "does not accept dtype bool"),
    (lambda: lax.scatter_apply(Z[0], J, lambda y: lax.add(y, Z[0]), POINTS,
                               update_shape=(2,)), TypeError, "arrays from outside"),
    (lambda: lax.scatter_apply(Z[0], J, lambda y: lax.lt(y, 1.0), POINTS,
                               update_shape=(2,)), TypeError, "returns bool"),
    (lambda: lax.scatter_apply(Z[0], J, lax.sin, POINTS), TypeError, "of rank 1; got 0"),
])
def test_errors(call: Any, error: Any, match: Any) -> None:
  with pytest.raises(error, match=match):
    call()
