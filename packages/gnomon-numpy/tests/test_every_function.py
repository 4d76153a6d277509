"""Each function against NumPy: dtypes, shapes, axes, nan; under jit, vmap and grad.

Of the combinations of a function's table row a sample runs; all of them run with
`GNOMON_TEST_WHOLE=1`, in some minutes.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import pathlib
import re
import sys
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import gnomon
import gnomon.numpy as gnp
from gnomon import tree_util

sys.path.insert(0, str(pathlib.Path(__file__).parent))

import test_elementwise_binary
import test_elementwise_unary
import test_transformed as by_hand
from every_function import ELSEWHERE, NO_VALUES, TABLE, Row

WHOLE = bool(os.environ.get("GNOMON_TEST_WHOLE"))
DTYPES = {
    "b": ("bool",), "i": ("int32", "int8"), "u": ("uint8", "uint32"),
    "f": ("float32", "float16"), "c": ("complex64",)}
SHAPES = ((), (3,), (0,), (2, 3), (2, 0), (3, 3), (2, 1, 3), (1, 2, 1, 3))
INTS = (1, -2, 3, 0, 2, -1, 1)
FLOATS = (0.5, -1.25, 2.0, -0.0, 0.25, 1.0, -0.75)
ODD = (np.nan, 0.5, np.inf, -np.inf, 2.0, -0.0)

# What has as many results as the values say, or is no function of arrays.
DYNAMIC = frozenset("""argwhere extract flatnonzero nonzero trim_zeros unique unique_all
  unique_counts unique_inverse unique_values intersect1d setdiff1d setxor1d union1d
  bincount isscalar iterable ndim shape size iscomplexobj isrealobj tril_indices_from
  triu_indices_from ix_ histogram histogram2d histogramdd histogram_bin_edges
  """.split())  # noqa: SIM905 -- as a list it is no easier to read


def values(shape: tuple[int, ...], dtype: str, which: int, odd: bool) -> Any:
  kind, n = np.dtype(dtype).kind, int(np.prod(shape))
  pool = ODD if odd and kind in "fc" else FLOATS if kind in "fc" else INTS
  flat = np.array([pool[(3 * which + i) % len(pool)] for i in range(n)])
  if kind == "u":
    flat = abs(flat)
  if kind == "c":
    flat = flat + 1j * flat[::-1]
  return flat.reshape(shape).astype(dtype)


def cases(row: Row) -> Iterator[tuple[str, tuple[int, ...], int | None, bool]]:
  dtypes = [d for kind in row.kinds for d in DTYPES[kind]]
  shapes = [s for s in SHAPES if row.ranks[0] <= len(s) <= row.ranks[1]]
  if row.ranks == (2, 2):
    shapes = [(3, 3)]
  if not row.empty:
    shapes = [s for s in shapes if 0 not in s]
  for dtype, shape in itertools.product(dtypes, shapes):
    axes = sorted({0, -1, len(shape) - 1, -len(shape)}) if row.axes else [None]
    for axis in axes:
      yield dtype, shape, axis, False
      if row.nan and dtype[0] == "f" and len(shape) == max(1, row.ranks[0]):
        yield dtype, shape, axis, True


def sample(name: str, row: Row) -> list[Any]:
  """Some of the cases, others for each function, in all of which everything occurs."""
  every = list(cases(row))
  if WHOLE:
    return every
  step = max(1, len(every) // 4)
  return every[sum(map(ord, name)) % step::step][:4]


def expected_dtype(want: Any, given: str, rule: str) -> Any:
  """NumPy's dtype, without 64 bits; floats of integers have the usual precision."""
  kind = want.dtype.kind
  if rule == "float" and np.dtype(given).kind in "iu":
    return np.dtype("float32")
  if rule == "argument":
    return np.dtype(given)
  if kind in "fc" and np.dtype(given).kind in "biu":
    return np.dtype("float32" if kind == "f" else "complex64")
  return gnp.dtype({"int64": "int32", "uint64": "uint32", "float64": "float32",
                    "complex128": "complex64"}.get(want.dtype.name, want.dtype.name))


def call(row: Row, module: Any, args: list[Any], axis: int | None) -> Any:
  return row.call(module, *args, *([] if axis is None else [axis]))


# What other files check at more values, and in the same way, is left to them.
CHECKED = set() if WHOLE else {
    *test_elementwise_unary.INEXACT, *test_elementwise_unary.EXACT,
    *test_elementwise_binary.CASES}
ALIASES = {name for name in TABLE if getattr(gnp, name).__name__ in TABLE.keys() - {name}}


@pytest.mark.parametrize("name", sorted(TABLE.keys() - CHECKED - ALIASES))
def test_against_numpy(name: str) -> None:
  row = TABLE[name]
  for i, (dtype, shape, axis, odd) in enumerate(sample(name, row)):
    args = [values(shape, dtype, k + i, odd) for k in range(row.arity)]
    what = f"{name} of {dtype}{list(shape)}, axis {axis}: {args}"
    with warnings.catch_warnings(), np.errstate(all="ignore"):
      warnings.simplefilter("ignore")
      try:
        want = call(row, np, args, axis)
      except (ValueError, TypeError, IndexError):  # then ours may, or find a meaning
        with contextlib.suppress(ValueError, TypeError, IndexError):
          call(row, gnp, [gnp.asarray(x) for x in args], axis)
        continue
      if i == 1 and name not in DYNAMIC:
        f = gnomon.jit(lambda *xs: call(row, gnp, list(xs), axis))  # noqa: B023
        same(f(*args), want, dtype, row.dtype, f"jitted {what}")
      else:
        got = call(row, gnp, [gnp.asarray(x) for x in args], axis)
        same(got, want, dtype, row.dtype, what)


def same(got: Any, want: Any, dtype: str, rule: str, what: str) -> None:
  got, want = tree_util.tree_leaves(got), tree_util.tree_leaves(want)
  assert len(got) == len(want), what
  for g, w in zip(got, want):
    if not isinstance(w, (np.ndarray, np.generic)):
      assert g == w, what
      continue
    assert np.shape(g) == np.shape(w), what
    assert rule == "any" or g.dtype == expected_dtype(w, dtype, rule), what
    # NumPy computes functions of small integers with half precision.
    rtol = 2e-2 if "float16" in (dtype, w.dtype.name) else 2e-5
    np.testing.assert_allclose(
        np.asarray(g), w.astype(g.dtype), rtol, rtol / 10, err_msg=what)


@pytest.mark.parametrize(
    "name", sorted(TABLE.keys() - DYNAMIC - CHECKED - ALIASES - (
        set() if WHOLE else by_hand.TABLE.keys())))
def test_transformed(name: str) -> None:
  """Batching over every argument; the derivative, where there is one."""
  row = TABLE[name]
  shape = next(s for s in ((2, 3), (3,), (3, 3), (2, 1, 3))
               if row.ranks[0] <= len(s) <= row.ranks[1])
  dtype = "bool" if row.kinds == "b" else "int32" if "f" not in row.kinds else "float64"
  if row.ranks == (2, 2):
    shape = (3, 3)
  axis = -1 if row.axes else None
  rng = np.random.default_rng(3)

  def f(*xs: Any) -> Any:
    return call(row, gnp, list(xs), axis)

  def draw() -> Any:
    if dtype == "float64":
      return rng.uniform(0.1, 0.9, shape) + (name in ("arccosh", "acosh"))
    return rng.integers(0, 2 if dtype == "bool" else 9, shape).astype(dtype)

  examples = [[draw() for _ in range(row.arity)] for _ in range(2)]
  first, second = examples
  stacked = [np.stack(pair) for pair in zip(*examples)]
  mapped = [m for m in itertools.product((0, None), repeat=row.arity) if 0 in m]
  direction = [rng.normal(size=shape) for _ in first]

  def everything(first: Any, second: Any, stacked: Any, direction: Any) -> Any:
    batched, singly = [], []
    for axes in mapped:  # each argument alone, and all of them
      xs = [x if a is None else s for x, s, a in zip(first, stacked, axes)]
      batched.append(gnomon.vmap(f, axes)(*xs))
      other = [x if a is None else y for x, y, a in zip(first, second, axes)]
      singly.append(tree_util.tree_map(lambda *z: gnp.stack(z), f(*first), f(*other)))
    if not row.smooth:
      return batched, singly, 0, 0, 0
    # Along a direction: forward and reverse, and a difference over a small step.
    steps = [[x + h * d for x, d in zip(first, direction)] for h in (-1e-6, 1e-6)]
    low, high = (tree_util.tree_leaves(f(*xs)) for xs in steps)
    _, tangents = gnomon.jvp(f, tuple(first), tuple(direction))
    out, pull = gnomon.vjp(f, *first)
    ones = tree_util.tree_map(gnp.ones_like, out)
    back = sum((g * d).sum() for g, d in zip(pull(ones), direction))
    forward = sum(t.sum() for t in tree_util.tree_leaves(tangents))
    slope = sum((b - a).sum() for a, b in zip(low, high)) / 2e-6
    return batched, singly, forward, back, slope

  with gnomon.enable_x64(True), warnings.catch_warnings():
    warnings.simplefilter("ignore")
    batched, singly, forward, back, slope = gnomon.jit(
        everything, compiler_options={"xla_backend_optimization_level": 0})(
            first, second, stacked, direction)
  for b, s in zip(tree_util.tree_leaves(batched), tree_util.tree_leaves(singly)):
    assert b.dtype == s.dtype
    np.testing.assert_allclose(b, s, rtol=1e-9, atol=1e-9)
  np.testing.assert_allclose([forward, back], [slope, slope], rtol=1e-4, atol=1e-6)


def test_every_function_has_a_row() -> None:
  functions = {
      name for name in gnp.__all__
      if callable(getattr(gnp, name)) and not isinstance(getattr(gnp, name), type)}
  assert functions == TABLE.keys() | ELSEWHERE | NO_VALUES
  assert not TABLE.keys() & ELSEWHERE
  text = "".join(
      file.read_text() for file in pathlib.Path(__file__).parent.glob("test_*.py"))
  assert not ELSEWHERE - set(re.findall(r"\w+", text))


def test_texts() -> None:
  x = np.arange(6, dtype=np.float32).reshape(2, 3)
  assert gnp.array_str(gnp.asarray(x)) == np.array_str(x)
  assert gnp.array_repr(gnp.asarray(x)) == repr(gnp.asarray(x))
