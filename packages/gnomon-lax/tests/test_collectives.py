"""Collectives under named axes, against NumPy on a list of elements."""

from __future__ import annotations

import numpy as np
import pytest

import gnomon
from gnomon import lax
from gnomon.test_util import check_grads

rng = np.random.default_rng(0)
N = 4
GROUPS = [[2, 0], [1, 3]]
RAGGED_GROUPS = [[2], [1, 3, 0]]


@pytest.fixture(autouse=True)
def _x64():
  with gnomon.enable_x64(True):
    yield


def floats(*shape):
  return rng.uniform(0.3, 1.2, shape)


# ---- what each collective does to the list of all elements' values

def reduction(f):
  return lambda xs: [f(np.stack(xs), 0)] * len(xs)


def gathered(axis=0, tiled=False):
  join = np.concatenate if tiled else np.stack
  return lambda xs: [join(xs, axis)] * len(xs)


def scattered(axis=0, tiled=False):
  def f(xs):
    parts = np.split(sum(xs), len(xs), axis)
    return parts if tiled else [np.squeeze(p, axis) for p in parts]
  return f


def exchanged(split, concat, tiled=False):
  def f(xs):
    parts = [np.split(x, len(xs), split) for x in xs]
    if tiled:
      return [np.concatenate([p[i] for p in parts], concat) for i in range(len(xs))]
    return [
        np.stack([np.squeeze(p[i], split) for p in parts], concat)
        for i in range(len(xs))]
  return f


def permuted(pairs):
  def f(xs):
    out = [np.zeros_like(x) for x in xs]
    for s, d in pairs:
      out[d] = xs[s]
    return out
  return f


CYCLE = [(0, 1), (1, 2), (2, 3), (3, 0)]
PART = [(3, 0), (1, 2)]
CASES = {
    "psum": (lax.psum, {}, (3,), reduction(np.sum)),
    "pmean": (lax.pmean, {}, (3,), reduction(np.mean)),
    "pmax": (lax.pmax, {}, (3,), reduction(np.max)),
    "pmin": (lax.pmin, {}, (3,), reduction(np.min)),
    "all_gather": (lax.all_gather, {}, (3,), gathered()),
    "all_gather_last": (lax.all_gather, {"axis": -1}, (3, 2), gathered(2)),
    "all_gather_tiled": (
        lax.all_gather, {"axis": 1, "tiled": True}, (3, 2), gathered(1, True)),
    "psum_scatter": (
        lax.psum_scatter, {"scatter_dimension": 1}, (3, N), scattered(1)),
    "psum_scatter_tiled": (
        lax.psum_scatter, {"tiled": True}, (2 * N, 3), scattered(0, True)),
    "all_to_all": (
        lax.all_to_all, {"split_axis": 0, "concat_axis": 1}, (N, 3), exchanged(0, 1)),
    "all_to_all_back": (
        lax.all_to_all, {"split_axis": 2, "concat_axis": 0}, (2, 3, N), exchanged(2, 0)),
    "all_to_all_same": (
        lax.all_to_all, {"split_axis": 1, "concat_axis": 1}, (2, N), exchanged(1, 1)),
    "all_to_all_tiled": (
        lax.all_to_all, {"split_axis": 1, "concat_axis": 0, "tiled": True}, (3, 2 * N),
        exchanged(1, 0, True)),
    "all_to_all_tiled_same": (
        lax.all_to_all, {"split_axis": 0, "concat_axis": 0, "tiled": True}, (2 * N, 3),
        exchanged(0, 0, True)),
    "pswapaxes": (lax.pswapaxes, {"axis": 1}, (3, N), exchanged(1, 1)),
    "ppermute": (lax.ppermute, {"perm": CYCLE}, (3,), permuted(CYCLE)),
    "ppermute_part": (lax.ppermute, {"perm": PART}, (3,), permuted(PART)),
    "pshuffle": (
        lax.pshuffle, {"perm": [2, 0, 1, 3]}, (3,),
        permuted([(2, 0), (0, 1), (1, 2), (3, 3)])),
    "pbroadcast": (
        lax.pbroadcast, {"source": 2}, (3,), lambda xs: [xs[2]] * len(xs)),
}
GROUPED = [
    "psum", "pmean", "pmax", "pmin", "all_gather", "all_gather_tiled", "psum_scatter",
    "psum_scatter_tiled", "all_to_all", "all_to_all_tiled", "pswapaxes"]


@pytest.fixture(params=CASES)
def case(request):
  return CASES[request.param]


def check(got, expected):
  expected = np.stack(expected) if isinstance(expected, list) else np.asarray(expected)
  np.testing.assert_allclose(np.asarray(got), expected, rtol=1e-12)


def test_values(case):
  f, kwargs, shape, reference = case
  xs = floats(N, *shape)
  expected = reference(list(xs))

  def mapped(x):
    return f(x, "i", **kwargs)

  check(gnomon.vmap(mapped, axis_name="i")(xs), expected)
  check(gnomon.jit(gnomon.vmap(gnomon.jit(mapped), axis_name="i"))(xs), expected)
  # mapped over another axis than the first, and with others mapped inside and outside
  check(
      gnomon.vmap(mapped, in_axes=len(shape), axis_name="i")(np.moveaxis(xs, 0, -1)),
      expected)
  many = floats(N, 2, *shape)
  each = [reference(list(many[:, i])) for i in range(2)]
  inside = gnomon.vmap(gnomon.vmap(mapped), axis_name="i")(many)
  check(np.moveaxis(np.asarray(inside), 1, 0), each)
  check(gnomon.vmap(gnomon.vmap(mapped, axis_name="i"), in_axes=1)(many), each)
  if shape:
    inside = gnomon.vmap(gnomon.vmap(mapped, in_axes=1), axis_name="i")(
        np.moveaxis(many, 1, 2))
    check(np.moveaxis(np.asarray(inside), 1, 0), each)


def test_what_is_not_mapped(case):
  f, kwargs, shape, reference = case
  x = floats(*shape)
  got = gnomon.vmap(lambda _: f(x, "i", **kwargs), axis_name="i")(np.zeros(N))
  check(got, reference([x] * N))


@pytest.mark.parametrize("names", [("i", "j"), ("j", "i")])
def test_two_names(case, names):
  """Axes of sizes 2 and 2 are together one of size 4; the last name runs fastest."""
  f, kwargs, shape, reference = case
  xs = floats(2, 2, *shape)
  inner = gnomon.vmap(lambda x: f(x, names, **kwargs), axis_name="j")
  got = np.asarray(gnomon.vmap(inner, axis_name="i")(xs))
  if names == ("j", "i"):
    xs, got = xs.swapaxes(0, 1), got.swapaxes(0, 1)
  check(got.reshape(N, *got.shape[2:]), reference(list(xs.reshape(N, *shape))))


@pytest.mark.parametrize("name", GROUPED)
@pytest.mark.parametrize("groups", [GROUPS, RAGGED_GROUPS], ids=["even", "uneven"])
def test_groups(name, groups):
  f, kwargs, shape, reference = CASES[name]
  uneven = groups is RAGGED_GROUPS
  if uneven and name not in ("psum", "pmean", "pmax", "pmin"):
    with pytest.raises(ValueError, match="one size"):
      gnomon.vmap(lambda x: f(x, "i", axis_index_groups=groups, **kwargs),
                  axis_name="i")(floats(N, *shape))
    return
  shape = tuple(2 if n == N else n for n in shape)  # groups have two elements
  xs = floats(N, *shape)
  expected = [None] * N
  for group in groups:
    for i, y in zip(group, reference([xs[i] for i in group])):
      expected[i] = y
  mapped = gnomon.jit(gnomon.vmap(
      lambda x: f(x, "i", axis_index_groups=groups, **kwargs), axis_name="i"))
  check(mapped(xs), expected)
  check_grads(mapped, (xs,), order=1, modes=("fwd", "rev"))


def test_derivatives(case):
  """Of the whole, by finite differences: the transposes of all are consistent."""
  f, kwargs, shape, _ = case
  xs = floats(N, *shape)

  def inside(x):  # the derivative is taken where the name is in force
    y, pull = gnomon.vjp(lambda v: f(lax.sin(v), "i", **kwargs), x)
    return pull(lax.mul(y, y))[0]

  mapped = gnomon.jit(gnomon.vmap(inside, axis_name="i"))
  check_grads(mapped, (xs,), order=1, modes=("fwd", "rev"))
  # The same as that of the mapped function: cotangents are those of separate copies.
  y, pull = gnomon.vjp(
      gnomon.vmap(lambda v: f(lax.sin(v), "i", **kwargs), axis_name="i"), xs)
  check(mapped(xs), pull(lax.mul(y, y))[0])


def test_gathers_that_all_share():
  """A cotangent of an unvarying result is one: it is not summed over the elements."""
  xs, ct = floats(N, 3), floats(N, 3)

  def grads(x, to):
    return gnomon.vjp(lambda v: lax.all_gather(v, "i", to=to), x)[1](ct)[0]

  got = [
      np.asarray(gnomon.vmap(lambda x, to=to: grads(x, to), axis_name="i")(xs))
      for to in ("invarying", "varying")]
  np.testing.assert_allclose(got[0], ct)
  np.testing.assert_allclose(got[1], N * ct)


# ---- programs whose operands are not mapped

UNMAPPED = {
    "jit": gnomon.jit(lambda: lax.axis_index("i")),
    "scan": lambda: lax.scan(
        lambda c, _: (lax.add(c, lax.axis_index("i")), c), np.int32(0), None, 3)[0],
    "while": lambda: lax.while_loop(
        lambda c: lax.lt(c, 10),
        lambda c: lax.add(lax.add(c, lax.axis_index("i")), 1), np.int32(0)),
    "condition": lambda: lax.while_loop(
        lambda c: lax.lt(c, lax.axis_index("i")), lambda c: lax.add(c, 1), np.int32(0)),
    "cond": lambda: lax.cond(np.True_, lambda: lax.axis_index("i"), lambda: np.int32(7)),
    "fori": lambda: lax.fori_loop(0, 3, lambda i, c: lax.add(c, lax.psum(i, "i")), 0),
    "nested": lambda: gnomon.jit(
        lambda x: lax.add(
            gnomon.jit(lambda y: lax.mul(y, lax.axis_index("i")))(x), 1))(np.int32(2)),
    "remat": lambda: gnomon.checkpoint(
        lambda x: lax.add(x, lax.axis_index("i")))(np.int32(2)),
    "custom": lambda: _custom(np.float32(2)),
}


@gnomon.custom_jvp
def _custom(x):
  return lax.mul(x, lax.convert_element_type(lax.axis_index("i"), x.dtype))


_custom.defjvp(lambda primals, tangents: (_custom(*primals), tangents[0]))


@pytest.mark.parametrize("program", UNMAPPED.values(), ids=UNMAPPED)
def test_programs_without_mapped_operands(program):
  expected = {
      "jit": [0, 1, 2, 3], "scan": [0, 3, 6, 9], "while": [10, 10, 12, 12],
      "condition": [0, 1, 2, 3], "cond": [0, 1, 2, 3], "fori": [12] * 4,
      "nested": [1, 3, 5, 7], "remat": [2, 3, 4, 5], "custom": [0, 2, 4, 6]}
  name = next(k for k, v in UNMAPPED.items() if v is program)
  got = gnomon.vmap(lambda _: program(), axis_name="i")(np.zeros(N))
  assert np.asarray(got).tolist() == expected[name]
  both = gnomon.vmap(gnomon.vmap(lambda _: program(), axis_name="i"), axis_name="k")
  assert np.asarray(both(np.zeros((2, N)))).tolist() == [expected[name]] * 2


def _shared(c):
  return lax.mul(lax.sin(c), lax.psum(c, "i"))


@gnomon.custom_vjp
def _squares(x):
  return lax.psum(lax.square(x), "i")


_squares.defvjp(
    lambda x: (_squares(x), x),
    lambda x, ct: (lax.mul(lax.mul(x, 2.0), lax.psum(ct, "i")),))


@gnomon.custom_jvp
def _forward_squares(x):
  return lax.psum(lax.square(x), "i")


_forward_squares.defjvp(lambda p, t: (
    _forward_squares(*p), lax.psum(lax.mul(lax.mul(p[0], 2.0), t[0]), "i")))

PROGRAMS = {
    "jit": gnomon.jit(_shared),
    "scan": lambda x: lax.scan(lambda c, _: (_shared(c), c), x, None, length=3)[0],
    "remat": lambda x: lax.mul(gnomon.checkpoint(_shared)(x), x),
    "cond": lambda x: lax.cond(np.True_, _shared, lambda c: c, x),
    "mapped cond": lambda x: lax.mul(
        lax.cond(lax.gt(x, 0.5), lax.sin, lambda c: lax.mul(c, 2.0), x),
        lax.pmean(x, "i")),
    "loop": lambda x: lax.reversible_fori_loop(0, 3, lambda i, c: _shared(c), x),
    "custom_vjp": lambda x: lax.mul(_squares(x), x),
    "custom_jvp": lambda x: lax.mul(_forward_squares(x), x),
}


@pytest.mark.parametrize("f", PROGRAMS.values(), ids=PROGRAMS)
def test_derivatives_in_programs(f):
  """Taken outside of the named axis, and inside, where they are those of all results."""
  x = np.array([0.3, 0.8, 0.45, 0.7])
  mapped = gnomon.jit(gnomon.vmap(f, axis_name="i"))
  h = 1e-6
  differences = np.stack([
      (np.asarray(mapped(x + h * e)) - np.asarray(mapped(x - h * e))) / (2 * h)
      for e in np.eye(N)], 1)
  np.testing.assert_allclose(
      np.asarray(gnomon.jacrev(mapped)(x)), differences, rtol=1e-6, atol=1e-8)
  inside = gnomon.vmap(gnomon.grad(f), axis_name="i")
  np.testing.assert_allclose(
      np.asarray(gnomon.jit(inside)(x)), differences.sum(0), rtol=1e-6, atol=1e-8)
  both = gnomon.jit(gnomon.vmap(inside))(np.stack([x, 0.9 * x]))
  np.testing.assert_allclose(
      np.asarray(both)[0], differences.sum(0), rtol=1e-6, atol=1e-8)


def test_what_uses_no_axis_stays_unmapped():
  """Programs in reach of a name that do not use it are not mapped."""
  @gnomon.custom_jvp
  def double(x):
    return lax.mul(x, 2.0)
  double.defjvp(lambda p, t: (double(*p), t[0]))
  got = gnomon.vmap(
      lambda _: (gnomon.jit(lambda: lax.mul(np.float32(3), 2.0))(),
                 double(np.float32(1))),
      axis_name="i", out_axes=None)(np.zeros(N))
  assert [float(x) for x in got] == [6.0, 2.0]


def test_constants_and_sizes():
  def f(x):
    return (lax.psum(1, "i"), lax.psum(2.5, ("i",)), lax.psum(np.ones(2, np.int32), "i"),
            lax.axis_size("i"), lax.psum({"a": x, "b": ()}, "i"), lax.psum(True, "i"),
            lax.psum(1, "i", axis_index_groups=GROUPS))
  found = []
  gnomon.vmap(lambda x: found.append(f(x)) or x, axis_name="i")(floats(N))
  one, two, ones, size, tree, flag, group = found[0]
  assert (one, two, size, flag, group) == (4, 10.0, 4, 4, 2)
  assert [type(x) for x in (one, two, size)] == [int, float, int]
  assert ones.tolist() == [4, 4]
  assert set(tree) == {"a", "b"}


def test_counting_bools_and_means_of_integers():
  count = gnomon.vmap(lambda x: lax.psum(x, "i"), axis_name="i")(
      np.array([True, True, False, True]))
  assert count.dtype == np.int32
  assert count.tolist() == [3] * 4
  mean = gnomon.vmap(lambda x: lax.pmean(x, "i"), axis_name="i")(
      np.arange(4, dtype=np.int32))
  assert mean.tolist() == [1.5] * 4
  half = gnomon.vmap(lambda x: lax.pmean(x, "i"), axis_name="i")(
      np.ones(4, gnomon.dtypes.bfloat16))
  assert half.dtype == gnomon.dtypes.bfloat16
  any_of = gnomon.vmap(lambda x: lax.pmax(x, "i"), axis_name="i")(
      np.array([False, True, False, False]))
  assert any_of.tolist() == [True] * 4


def test_axes_of_the_array_itself():
  x = floats(N, 3, 2)
  got = gnomon.vmap(lambda v: lax.psum(v, ("i", 0)), axis_name="i")(x)
  check(got, [x.sum((0, 1))] * N)
  check(lax.psum(x, 1), x.sum(1))
  check(lax.pmax(x, (0, 2)), x.max((0, 2)))
  check(lax.pmean(x, (0, 1)), x.mean((0, 1)))
  check_grads(lambda v: lax.psum(v, (0, 2)), (x,), order=2)
  check(gnomon.vmap(lambda v: lax.psum(v, 1))(x), x.sum(2))


def test_index_along_several_axes():
  def index(names):
    inner = gnomon.vmap(lambda _: lax.axis_index(names), axis_name="j")
    return np.asarray(gnomon.vmap(inner, axis_name="i")(np.zeros((2, 3))))
  assert index("j").tolist() == [[0, 1, 2]] * 2
  assert index(("i", "j")).tolist() == [[0, 1, 2], [3, 4, 5]]
  assert index(("j", "i")).tolist() == [[0, 2, 4], [1, 3, 5]]


def test_ties_share_the_derivative():
  x = np.array([1.0, 2.0, 2.0, 0.0])
  grads = gnomon.grad(
      lambda v: lax.squeeze(lax.slice(
          gnomon.vmap(lambda y: lax.pmax(y, "i"), axis_name="i")(v), [0], [1]), [0]))(x)
  assert np.asarray(grads).tolist() == [0, 0.5, 0.5, 0]


# ---- runs of rows

def exchange_rows(xs, outs, begin, sizes, place):
  outs = [o.copy() for o in outs]
  for s, x in enumerate(xs):
    for r in range(len(xs)):
      n = sizes[s, r]
      outs[r][place[s, r]:place[s, r] + n] = x[begin[s, r]:begin[s, r] + n]
  return np.stack(outs)


@pytest.mark.parametrize("shape", [(), (2,)])
@pytest.mark.parametrize("form", ["one", "two", "inner", "groups"])
def test_ragged_all_to_all(shape, form):
  rows, room = 6, 8
  sizes = np.array([[1, 2, 0, 3], [0, 0, 4, 1], [2, 2, 1, 1], [1, 0, 2, 0]], np.int32)
  begin = np.cumsum(sizes, 1, dtype=np.int32) - sizes
  begin[3] = 0  # rows that are sent twice
  place = np.cumsum(sizes, 0, dtype=np.int32) - sizes
  if form == "groups":
    sizes, begin, place = sizes[:, :2], begin[:, :2], place[:, :2]
  x, out = floats(N, rows, *shape), floats(N, room, *shape)
  groups = GROUPS if form == "groups" else None

  def f(x, out, b, s, p, r):
    names = ("i", "j") if form == "two" else "i"
    return lax.ragged_all_to_all(
        x, out, b, s, p, r, axis_name=names, axis_index_groups=groups)

  def run(x, out):
    args = (x, out, begin, sizes, place, sizes.T if groups is None else sizes)
    if form == "two":
      args = [lax.reshape(v, (2, 2, *v.shape[1:])) for v in args]
      mapped = gnomon.vmap(gnomon.vmap(f, axis_name="j"), axis_name="i")(*args)
      return lax.reshape(mapped, (N, *mapped.shape[2:]))
    if form == "inner":  # another axis is mapped inside
      last = x.ndim - 1
      inner = gnomon.vmap(f, (last - 1, last - 1, *(None,) * 4), last - 1)
      if last > 1:
        return gnomon.vmap(inner, axis_name="i")(*args)
    return gnomon.vmap(f, axis_name="i")(*args)

  if groups is None:
    expected = exchange_rows(x, out, begin, sizes, place)
  else:
    expected = np.zeros_like(out)
    for g in groups:
      expected[g] = exchange_rows(x[g], out[g], begin[g], sizes[g], place[g])
  np.testing.assert_allclose(np.asarray(run(x, out)), expected)
  check_grads(gnomon.jit(run), (x, out), order=1, modes=("fwd", "rev"))


# ---- programs, and errors

def test_printed_programs():
  x = np.zeros((4, 2), np.float32)

  def text(f, *args):
    jaxpr = gnomon.make_jaxpr(f, axis_env=[("i", 4), ("j", 2)])(*args)
    return " ".join(str(jaxpr).split())

  assert "axes=('i', 'j') axis_index_groups=((0, 1, 2, 3), (4, 5, 6, 7)) ]" in text(
      lambda v: lax.psum(
          v, ("i", "j"), axis_index_groups=[[0, 1, 2, 3], [4, 5, 6, 7]]), x)
  assert text(lambda v: lax.pmean(v, "i"), x) == (
      "{ lambda ; a:f32[4,2]. let b:f32[4,2] = psum[axes=('i',) axis_index_groups=None] "
      "a c:f32[4,2] = div b 4.0:f32[] in (c,) }")
  assert text(lambda v: lax.all_to_all(v, "i", 0, 1), x) == (
      "{ lambda ; a:f32[4,2]. let b:f32[4,2,1] = broadcast_in_dim[ "
      "broadcast_dimensions=(0, 1) ] a c:f32[1,2,4] = all_to_all[ axis_index_groups=None "
      "axis_name=i concat_axis=2 split_axis=0 tiled=False ] b "
      "d:f32[2,4] = squeeze[dimensions=(0,)] c in (d,) }").replace(
          "[ broadcast_dimensions=(0, 1) ]", "[broadcast_dimensions=(0, 1)]")
  assert (
      "reduce_scatter[ axis_index_groups=None axis_name=('i',) axis_size=4 "
      "scatter_dimension=0 tiled=False ]") in text(lambda v: lax.psum_scatter(v, "i"), x)
  assert text(lambda: lax.axis_index("i")) == (
      "{ lambda ; . let a:i32[] = axis_index[axis_name=i] in (a,) }")
  assert "ppermute[ axis_name=('i',) perm=((1, 0), (0, 1), (3, 2), (2, 3)) ]" in text(
      lambda v: lax.pshuffle(v, "i", [1, 0, 3, 2]), x)
  assert "psum[axes=(0,) axis_index_groups=None]" in text(
      gnomon.vmap(lambda v: lax.psum(v, "k"), axis_name="k"), x)


X = np.zeros((N, 3))
ERRORS = {
    "psum": (lambda x: lax.psum(x, "q"), NameError, "unbound axis name: q"),
    "index": (lambda x: lax.axis_index("q"), NameError, "unbound axis name: q"),
    "size": (lambda x: lax.axis_size(("i", "q")), NameError, "unbound axis name: q"),
    "gather": (lambda x: lax.all_gather(x, "q"), NameError, "in force here are 'i'"),
    "permute": (lambda x: lax.ppermute(x, "q", []), NameError, "unbound axis name: q"),
    "cast": (lambda x: lax.pcast(x, "q", to="varying"), NameError, "unbound axis name"),
    "groups": (
        lambda x: lax.psum(x, "i", axis_index_groups=[[0, 1], [2, 2]]), ValueError,
        "axis_index_groups must cover all indices exactly once"),
    "own axes": (
        lambda x: lax.psum(x, ("i", 0), axis_index_groups=[[0, 1, 2, 3]]), ValueError,
        "only supported for sums over just named axes"),
    "permutation": (
        lambda x: lax.pshuffle(x, "i", [0, 1, 1, 2]), ValueError,
        "does not represent a permutation"),
    "destinations": (
        lambda x: lax.ppermute(x, "i", [(0, 1), (2, 1)]), ValueError, "must be unique"),
    "range": (lambda x: lax.ppermute(x, "i", [(0, 4)]), ValueError, "size 4"),
    "sizes": (
        lambda x: lax.all_to_all(x, "i", 0, 0), ValueError, "but they are 4 and 3"),
    "tiles": (
        lambda x: lax.all_to_all(x, "i", 0, 0, tiled=True), ValueError,
        r"split_axis \(3\) has to be divisible"),
    "scatter": (lambda x: lax.psum_scatter(x, "i"), ValueError, "tiled=True divides"),
    "scatter tiles": (
        lambda x: lax.psum_scatter(x, "i", tiled=True), ValueError, "no multiple"),
    "axis": (lambda x: lax.all_gather(x, "i", axis=5), ValueError, "out of bounds"),
    "to": (lambda x: lax.all_gather(x, "i", to="all"), ValueError, "unexpected `to`"),
    "reduced": (
        lambda x: lax.all_gather(x, "i", to="reduced"), NotImplementedError, "invarying"),
    "cast to": (lambda x: lax.pcast(x, "i", to="foo"), ValueError, "unexpected `to`"),
    "source": (lambda x: lax.pbroadcast(x, "i", 4), ValueError, "size 4, got 4"),
    "offsets": (
        lambda x: lax.ragged_all_to_all(
            x, x, x, np.zeros(4, int), np.zeros(4, int), np.zeros(4, int),
            axis_name="i"), TypeError, "input_offsets must be integer"),
    "rows": (
        lambda x: lax.ragged_all_to_all(
            x, np.zeros((3, 2)), *[np.zeros(4, int)] * 4, axis_name="i"), TypeError,
        "rows"),
}


@pytest.mark.parametrize("case", ERRORS.values(), ids=ERRORS)
def test_errors(case):
  f, error, message = case
  with pytest.raises(error, match=message):
    gnomon.vmap(f, axis_name="i")(X)


def test_no_axis_is_in_force():
  with pytest.raises(NameError, match="No axis is in force here"):
    lax.psum(X, "i")
  jaxpr = gnomon.make_jaxpr(lambda x: lax.psum(x, "i"), axis_env=[("i", N)])(X[0])
  run = gnomon.core.jaxpr.jaxpr_as_fun(jaxpr)
  with pytest.raises(NameError, match="unbound axis name: i"):
    run(X[0])
  check(gnomon.vmap(lambda x: run(x)[0], axis_name="i")(X + 1), [X.sum(0) + N] * N)
