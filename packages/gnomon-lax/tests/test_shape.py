"""Shapes: what the table of ops does not say. Errors, edges, keys, printed programs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gnomon
from gnomon import lax
from gnomon.core import dtypes
from gnomon.core.types import ShapedArray, WrappedArray, typeof_handlers
from gnomon.runtime.compile import result_wrappers
from gnomon.testing import assert_close, check_grads, check_vmap_axes

X = np.arange(12, dtype=np.float32).reshape(3, 4)


class TripleType(dtypes.ExtendedDType):
  """A dtype whose elements are three words."""

  name = "triple"
  kind = "V"
  type = dtypes.extended
  physical_shape = (3,)
  physical_dtype = np.dtype(np.uint32)

  def __eq__(self, other: object) -> bool:
    return type(other) is TripleType

  def __hash__(self) -> int:
    return 3


class Triples(WrappedArray):
  """An array of triples."""

  __slots__ = ("aval", "physical")

  def __init__(self, words: Any) -> None:
    self.aval = ShapedArray(np.shape(words)[:-1], TripleType())
    self.physical = words

  def with_physical(self, array: Any) -> Triples:
    return Triples(array)


typeof_handlers[Triples] = lambda x: x.aval
result_wrappers[TripleType] = lambda aval: Triples


# ---- values


def test_broadcasting_functions() -> None:
  assert lax.broadcast(X, (2, 5)).shape == (2, 5, 3, 4)
  assert lax.broadcast_to_rank(X, 4).shape == (1, 1, 3, 4)
  assert lax.broadcast_to_rank(X, 1).shape == X.shape
  assert lax.expand_dims(X, (0, -1)).shape == (1, 3, 4, 1)
  assert lax.expand_dims(X, ()).shape == X.shape
  for shapes in (((2, 1), (3,)), ((0,), (1,)), ((), (4, 1)), ((1, 1), (5, 1), (7,))):
    assert lax.broadcast_shapes(*shapes) == np.broadcast_shapes(*shapes)
  assert lax.broadcast_shapes() == ()


@pytest.mark.parametrize(
    ("bounds", "shape"), [
        ((0,), (24,)), ((1,), (2, 12)), ((0, 2), (6, 4)), ((-2,), (2, 12)),
        ((0, -1), (6, 4)), ((1, 1), (2, 1, 3, 4)), ((0, 9), (24,))])
def test_collapse(bounds: tuple[int, ...], shape: tuple[int, ...]) -> None:
  x = np.arange(24.0, dtype=np.float32).reshape(2, 3, 4)
  assert_close(lax.collapse(x, *bounds), x.reshape(shape))


def test_constants() -> None:
  assert_close(lax.iota("int8", 5), np.arange(5, dtype=np.int8), check_dtypes=True)
  assert_close(
      lax.broadcasted_iota("complex64", (2, 3), 0),
      np.broadcast_to(np.arange(2)[:, None], (2, 3)).astype(np.complex64),
      check_dtypes=True)
  assert lax.iota("float32", 0).shape == (0,)
  cases: list[tuple[Any, Any, bool]] = [
      (lax.full((2,), 1.5), "float32", True), (lax.full((2,), 1), "int32", True),
      (lax.full((2,), 1.5, "int32"), "int32", False), (lax.full((), True), "bool", False),
      (lax.full((2,), 1 + 2j, "float32"), "float32", False),
      (lax.full((2,), 7, float), "float32", False),
      (lax.full((2,), np.float16(1)), "float16", False),
      (lax.full((), lax.full((), 3, "int32"), "float32"), "float32", False),
      (lax.full_like(X, 2), "float32", False), (lax.full_like(1.0, 2), "float32", True),
      (lax.full_like(X, 2.7, int), "int32", False),
      (lax.empty((2, 3), "bfloat16"), "bfloat16", False)]
  for got, dtype, weak in cases:
    assert (str(got.dtype), got.aval.weak_type) == (dtype, weak)
  assert lax.full_like(X, 1, shape=(5,)).shape == (5,)
  assert lax.full((2,), 1.5, "int32").tolist() == [1, 1]
  assert lax.dtype(X) == lax.dtype(1.0) == np.float32


def test_full_of_a_traced_value() -> None:
  assert_close(gnomon.jit(lambda v: lax.full((2, 2), v))(3.0), np.full((2, 2), 3.0, "f"))
  assert float(gnomon.grad(
      lambda v: lax.reduce_sum(lax.full((2, 2), v), (0, 1)))(1.0)) == 4.0


def test_pad_of_empty_and_cut_arrays() -> None:
  x = np.zeros((0, 3), np.float32)
  assert_close(lax.pad(x, 2.0, [(1, 1, 3), (0, 0, 0)]), np.full((2, 3), 2, np.float32))
  assert_close(lax.pad(X, 9.0, [(-1, 1, 0), (1, -2, 1)]), np.float32(
      [[9, 4, 9, 5, 9, 6], [9, 8, 9, 9, 9, 10], [9] * 6]))
  assert lax.pad(X, 0, [(-2, -1, 0), (0, 0, 0)]).shape == (0, 4)


def test_derivative_of_pad_with_infinite_cotangents_elsewhere() -> None:
  # What belongs to the operand must not enter the padding value's sum at all.
  def f(v: Any) -> Any:
    y = lax.pad(np.float32([1, 2]), v, [(1, 1, 1)])
    return lax.mul(y, np.float32([1, np.inf, 2, np.inf, 3]))

  y, pull = gnomon.vjp(f, np.float32(1))
  assert float(pull(np.ones(5, np.float32))[0]) == 6.0
  assert y.shape == (5,)


def test_pad_vmap_over_every_operand() -> None:
  check_vmap_axes(
      lambda x, v: lax.pad(x, v, [(1, -1, 2), (0, 2, 0)]),
      [(X + i, np.float32(i)) for i in range(3)])


def test_concatenate_and_split() -> None:
  assert_close(lax.concatenate(X, 0), X.ravel())
  assert_close(lax.concatenate([X], 1), X)
  assert lax.concatenate([lax.full((2,), 1.0)] * 2, 0).aval.weak_type
  parts = lax.split(X, (1, 0, 3), -1)
  assert [p.shape for p in parts] == [(3, 1), (3, 0), (3, 3)]
  check_grads(  # one piece is not used: its cotangent is a symbolic zero
      lambda x: lax.split(x, (1, 1, 2), 1)[1], (X,), 1)
  check_vmap_axes(
      lambda x, y: lax.concatenate([x, y, x], 1), [(X * i, X - i) for i in range(2)])


def test_tile() -> None:
  for reps in ((2, 1), (1, 3), (0, 2), (2, 2)):
    assert_close(lax.tile(X, reps), np.tile(X, reps))
  check_grads(lambda x: lax.tile(x, (2, 3)), (X,), 2)
  check_vmap_axes(lambda x: lax.tile(x, (2, 3)), [(X * i,) for i in range(3)])


def test_optimization_barrier() -> None:
  tree = {"a": X, "b": (np.float32(2), np.int32([1]))}
  assert_close(lax.optimization_barrier(tree), tree)
  assert lax.optimization_barrier(()) == ()
  jaxpr = str(gnomon.make_jaxpr(lax.optimization_barrier)((X, X)))
  assert jaxpr.count("optimization_barrier") == 1
  check_grads(lambda x, y: lax.mul(*lax.optimization_barrier((x, y))), (X, X + 1), 2)
  check_vmap_axes(
      lambda x, y: lax.optimization_barrier((x, y))[0], [(X * i, X) for i in range(2)])


def test_arrays_of_keys() -> None:
  words = np.arange(36, dtype=np.uint32).reshape(3, 4, 3)
  keys, one = Triples(gnomon.device_put(words)), Triples(
      gnomon.device_put(np.full(3, 7, np.uint32)))
  cases: list[tuple[Callable[..., Any], Any]] = [
      (lambda k, v: lax.concatenate([k, k], 1), np.concatenate([words, words], 1)),
      (lambda k, v: lax.split(k, (1, 3), 1)[1], words[:, 1:]),
      (lambda k, v: lax.rev(k, (0, 1)), words[::-1, ::-1]),
      (lambda k, v: lax.tile(k, (2, 1)), np.tile(words, (2, 1, 1))),
      (lambda k, v: lax.expand_dims(k, (1,)), words[:, None]),
      (lambda k, v: lax.broadcast(k, (2,)), np.stack([words, words])),
      (lambda k, v: lax.full((2,), v), np.full((2, 3), 7, np.uint32)),
      (lambda k, v: lax.pad(k, v, [(1, -1, 0), (0, 0, 1)]), None),
      (lambda k, v: lax.optimization_barrier(k), words)]
  outs = gnomon.jit(lambda k, v: [f(k, v) for f, _ in cases])(keys, one)
  for got, (_, expected) in zip(outs, cases, strict=True):
    assert isinstance(got, Triples)
    if expected is not None:
      assert_close(got.physical, expected, check_dtypes=True)
  padded = np.full((3, 7, 3), 7, np.uint32)
  padded[1:, ::2] = words[:2]
  assert_close(outs[7].physical, padded)


# ---- errors

ERRORS: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (lambda: lax.iota("int32", -1), TypeError, "not negative"),
    (lambda: lax.iota(bool, 2), TypeError, "dtype bool"),
    (lambda: lax.broadcasted_iota("int32", (2, 3), 2), ValueError, "got 2"),
    (lambda: lax.full((2,), X), TypeError, "scalar fill_value"),
    (lambda: lax.full((2, -1), 1.0), TypeError, "not negative"),
    (lambda: lax.full((2.5,), 1.0), TypeError, "sequence of integers"),
    (lambda: lax.concatenate([], 0), ValueError, "at least one"),
    (lambda: lax.concatenate([X, X.T], 0), TypeError, "all other dimensions"),
    (lambda: lax.concatenate([X, X[0]], 0), TypeError, "one rank"),
    (lambda: lax.concatenate([X, X], 2), TypeError, "out of bounds"),
    (lambda: lax.concatenate([X, X], -1), TypeError, "negative ones"),
    (lambda: lax.concatenate([X, X.astype("int32")], 0), TypeError, "same dtypes"),
    (lambda: lax.concatenate([1.0, 2.0], 0), TypeError, "out of bounds"),
    (lambda: lax.split(X, (1, 1), 1), ValueError, "Sum of sizes 2"),
    (lambda: lax.split(X, (-1, 5), 1), ValueError, "must be nonnegative"),
    (lambda: lax.split(X, (4,), 2), ValueError, "out of bounds"),
    (lambda: lax.pad(X, np.int32(0), [(0, 0, 0)] * 2), TypeError, "one dtype"),
    (lambda: lax.pad(X, X, [(0, 0, 0)] * 2), ValueError, "scalar"),
    (lambda: lax.pad(X, 0.0, [(0, 0, 0)]), ValueError, "one \\(low, high, interior\\)"),
    (lambda: lax.pad(X, 0.0, [(0, 0)] * 2), ValueError, "one \\(low, high, interior\\)"),
    (lambda: lax.pad(X, 0.0, [(0, 0, -1)] * 2), ValueError, "interior"),
    (lambda: lax.pad(X, 0.0, [(-5, 0, 0)] * 2), ValueError, "cuts off more"),
    (lambda: lax.rev(X, (2,)), TypeError, "between 0 and 1"),
    (lambda: lax.rev(X, (0, 0)), TypeError, "repeated"),
    (lambda: lax.expand_dims(X, (0, 0)), ValueError, "repeated"),
    (lambda: lax.expand_dims(X, (4,)), ValueError, "out of bounds"),
    (lambda: lax.collapse(X, 1, 0), ValueError, "no range"),
    (lambda: lax.broadcast_shapes((2, 3), (2,)), ValueError, "(2, 3), (2,)"),
    (lambda: lax.tile(X, (2,)), TypeError, "a dimension"),
    (lambda: lax.tile(X, (2, -1)), TypeError, "not negative"),
    (lambda: lax.dtype([1.0]), TypeError, "Cannot determine dtype"),
]


@pytest.mark.parametrize(("call", "error", "words"), ERRORS)
def test_errors(call: Callable[[], Any], error: type[Exception], words: str) -> None:
  with pytest.raises(error, match=words.replace("(2, 3), (2,)", r"\(2, 3\), \(2,\)")):
    call()


def test_printed_programs() -> None:
  def f(x: Any) -> Any:
    return (
        lax.concatenate([x, x], 0), lax.pad(x, 0.0, [(1, -1, 0), (0, 0, 2)]),
        lax.rev(x, (0,)), lax.expand_dims(x, (0,)), lax.split(x, (1, 3), 1),
        lax.tile(x, (2, 1)), lax.iota("int32", 5))

  text = str(gnomon.make_jaxpr(f)(X))
  for part in (
      "concatenate[dimension=0]",
      "pad[padding_config=((1, -1, 0), (0, 0, 2))] a 0.0:f32[]",
      "rev[dimensions=(0,)]", "broadcast_in_dim[broadcast_dimensions=(1, 2)]",
      "split[axis=1 sizes=(1, 3)]", "tile[reps=(2, 1)]",
      "iota[dimension=0 dtype=int32 shape=(5,) sharding=None]"):
    assert part in text, text


def test_sizes_may_be_arrays():
  assert lax.reshape(np.ones(3, np.float32), (lax.add(1, 2), 1)).shape == (3, 1)
  for sizes in ((np.array([3, 1]),), (1.5, 2.0)):
    with pytest.raises(TypeError, match="concrete values of integer type"):
      lax.reshape(np.ones(3), sizes)


@pytest.mark.parametrize(("value", "dtype", "expected"), [
    (2 ** 32, "int32", 0), (2 ** 31 + 5, "uint32", 2 ** 31 + 5),
    (2 ** 70 + 1, "int32", 1),
    (-3, "uint32", 2 ** 32 - 3), (2 ** 32, "float32", 2.0 ** 32)])
def test_integers_beyond_the_dtype_keep_their_low_bits(value, dtype, expected):
  assert lax.convert_element_type(value, dtype).tolist() == expected
