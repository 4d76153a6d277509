"""Arguments at the edges of what functions take: empty arrays, odd modes, sizes of 1."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import gnomon
import gnomon.numpy as gnp
from gnomon import lax

EMPTY = np.zeros((3, 0), np.float32)
X = np.arange(12, dtype=np.float32).reshape(3, 4)


@pytest.mark.parametrize(("name", "args", "kwargs"), [
    ("compress", (np.array([], bool), EMPTY), {"axis": 1}),
    ("unwrap", (EMPTY,), {"axis": 1}), ("unwrap", (EMPTY,), {"axis": 0}),
    ("setxor1d", (EMPTY, EMPTY), {}), ("setxor1d", (EMPTY, X), {}),
    ("intersect1d", (EMPTY, X), {}), ("union1d", (EMPTY, EMPTY), {}),
    ("cov", (EMPTY,), {}), ("cov", (np.zeros((0, 5), np.float32),), {}),
    ("cov", (X[:, :1],), {}), ("cov", (X[:, :2],), {"ddof": 5}),
    ("gradient", (X,), {"axis": ()}), ("gradient", (X, 2.0), {"axis": (1,)}),
    ("vander", (np.zeros(0, np.float32), 3), {}),
    ("take", (EMPTY, np.zeros(0, np.int32)), {"axis": 1}),
    ("mgrid", (), {}), ("permute_dims", (X,), {"axes": np.array([1, 0])})])
def test_as_in_numpy(name: str, args: Any, kwargs: Any, agree: Any) -> None:
  if name == "mgrid":
    for index in ((), slice(None), (slice(1, 6, 8j), slice(2, 4))):
      np.testing.assert_allclose(gnp.mgrid[index], np.mgrid[index], rtol=1e-6)
    assert gnp.ogrid[()] == []
    return
  out = agree(name, *args, **kwargs)
  assert isinstance(out, list) == (name == "gradient" and kwargs["axis"] == ())


@pytest.mark.parametrize("directive", ["r", "c", "0,2", "1,2,0", "0,4,-2"])
@pytest.mark.parametrize("name", ["r_", "c_"])
def test_directives(name: str, directive: str) -> None:
  with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # NumPy is about to drop its matrices
    want = np.asarray(getattr(np, name)[directive, [1, 2, 3], [4, 5, 6]])
  np.testing.assert_array_equal(
      getattr(gnp, name)[directive, [1, 2, 3], [4, 5, 6]], want)


@pytest.mark.parametrize(("shape", "mask"), [
    ((3, 4), (3, 0)), ((3, 4), (0, 4)), ((3, 4, 5), (3, 0)), ((3, 4), (0,))])
def test_masks_without_elements(shape: Any, mask: Any) -> None:
  x, none = np.ones(shape, np.float32), np.zeros(mask, bool)
  assert gnp.asarray(x)[none].shape == x[none].shape


def test_positions_have_the_dtype_of_their_parts() -> None:
  def positions(*dtypes: str, mode: Any = "clip", dims: Any = (2, 3), **kw: Any) -> Any:
    parts = [np.array([0, 1], t) for t in dtypes]
    return gnp.ravel_multi_index(parts, dims, mode=mode, **kw)

  assert positions("int8", "int8").dtype == np.int8
  assert positions("int8", "uint8").dtype == np.int16
  assert positions("int8", "int8", dtype="int32").dtype == np.int32
  assert positions("int8", "int8", mode="ignore").tolist() == [0, 4]
  # The size 200 is out of int8's range, the positions are not.
  assert positions("int8", "int8", dims=(1, 127)).tolist() == [0, 1]
  with pytest.raises(ValueError, match="int8 is not large enough"):
    positions("int8", "int8", dims=(200, 300))
  outside = (np.array([0, 3]), np.array([5, -1]))
  for mode in ("wrap", "clip"):
    want = np.ravel_multi_index(outside, (2, 3), mode=mode)
    np.testing.assert_array_equal(
        gnp.ravel_multi_index(outside, (2, 3), mode=mode), want)


@pytest.mark.parametrize("dtype", [np.float32, np.int8, np.bool_])
@pytest.mark.parametrize("axis", [0, 1, -1, None])
def test_one_hot_gathers_the_same(dtype: Any, axis: int | None) -> None:
  x = X.astype(dtype)
  at = np.array([0, -1, 2]) if axis is None else np.array([[1], [-2], [0]])
  got = gnp.take_along_axis(x, at, axis, mode="one_hot")
  assert got.dtype == dtype
  np.testing.assert_array_equal(got, np.take_along_axis(
      x, at if axis != 0 else np.broadcast_to(at, (3, 4)), axis))
  assert gnp.take_along_axis(np.array([1, 2]), np.array([5]), 0, mode="one_hot")[0] == 0
  # Elements that are not taken have no influence.
  infinite = np.array([1.0, np.inf, np.nan], np.float32)
  assert gnp.take_along_axis(infinite, np.array([0]), 0, mode="one_hot")[0] == 1.0


def test_promised_indices_are_not_wrapped() -> None:
  def names(**kwargs: Any) -> set[str]:
    jaxpr = gnomon.make_jaxpr(lambda x, i: gnp.take_along_axis(
        x, i, 0, mode="promise_in_bounds", **kwargs))(X[0], np.array([1, 2]))
    return {eqn.primitive.name for eqn in jaxpr.eqns}

  assert "lt" in names(wrap_negative_indices=True)
  assert "lt" not in names() | names(wrap_negative_indices=False)


def test_batches_of_one_are_plain_products() -> None:
  jaxpr = gnomon.make_jaxpr(gnp.matmul)(np.ones((1, 5, 4)), np.ones((1, 4, 3)))
  (dot,) = [e for e in jaxpr.eqns if e.primitive is lax.dot_general_p]
  assert dot.params["dimension_numbers"] == (((1,), (0,)), ((), ()))
  for a, b in (((1, 2, 3), (1, 3, 2)), ((1, 4, 2, 3), (1, 1, 3, 2)), ((1, 1, 3), (3, 2)),
               ((2, 1, 2, 3), (1, 3, 2))):
    x, y = np.random.default_rng(0).random((2, 64), np.float32)
    x, y = x[:np.prod(a)].reshape(a), y[:np.prod(b)].reshape(b)
    np.testing.assert_allclose(gnp.matmul(x, y), x @ y, rtol=1e-6)


@pytest.mark.parametrize("name", ["sum", "prod", "mean"])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_half_precision_adds_in_float32_unless_told(name: str, dtype: str) -> None:
  def names(**kwargs: Any) -> list[str]:
    jaxpr = gnomon.make_jaxpr(lambda x: getattr(gnp, name)(x, **kwargs))(
        gnp.ones(10, dtype))
    return [e.primitive.name for e in jaxpr.eqns]

  inside = ["reduce_prod" if name == "prod" else "reduce_sum", *["div"][name != "mean":]]
  assert names() == ["convert_element_type", *inside, "convert_element_type"]
  assert names(dtype=dtype) == inside


def test_pieces_are_traced_once() -> None:
  calls = []
  def piece(x: Any) -> Any:
    calls.append(x)
    return x

  for _ in range(4):
    gnp.piecewise(gnp.arange(4.0), [gnp.arange(4) < 2], [piece, 0.0])
  assert len(calls) == 1
  out = gnp.piecewise(X[0], [X[0] < 2], [lambda x, how: x * 2 if how == "twice" else x,
                                         1.0], "twice")
  assert out.tolist() == [0.0, 2.0, 1.0, 1.0]


def test_dtypes_asked_for_are_explicit() -> None:
  with gnomon.numpy_dtype_promotion("strict"):
    assert gnp.nanvar(gnp.ones(3, "uint8"), dtype="float32").item() == 0
    assert gnp.mean(gnp.ones(3, "float16"), dtype="float32").dtype == np.float32
    assert gnp.vander(gnp.ones(3, "bfloat16"), 2).dtype == gnp.bfloat16


def test_rank_promotion_of_mapped_functions() -> None:
  f = gnp.vectorize(gnp.add, signature="(),()->()")
  with gnomon.numpy_rank_promotion("raise"):
    with pytest.raises(ValueError, match="require rank promotion"):
      f(gnp.zeros((2, 2)), gnp.zeros(2))
    assert f(gnp.zeros((2, 2)), gnp.zeros(())).shape == (2, 2)


def test_strings_lie_on_devices() -> None:
  words = np.array(["ab", "cde"], np.dtypes.StringDType())
  x = gnp.asarray(words)
  assert x.dtype == words.dtype
  assert gnomon.device_get(x).tolist() == ["ab", "cde"]
  for value, dtype in ((words, "bfloat16"), (np.arange(2), np.dtypes.StringDType())):
    with pytest.raises(TypeError, match="Cannot make an array with dtype"):
      gnp.asarray(value, dtype=dtype)
  with pytest.raises(ValueError, match="not a valid dtype"):
    x + 1


def test_transfers_that_nobody_asked_for() -> None:
  with gnomon.transfer_guard("disallow"):
    for made in (gnp.arange(5), gnp.arange(5.0), gnp.eye(2)):
      assert made.shape
    for make in (lambda: gnp.add(X, X), lambda: gnp.zeros(2), lambda: gnp.ones((1, 2))):
      with pytest.raises(Exception, match="Disallowed host-to-device"):
        make()


def test_ufuncs_of_one_function_are_equal() -> None:
  def f(x: Any, y: Any) -> Any:
    return x + y
  one, same = gnp.frompyfunc(f, 2, 1), gnp.frompyfunc(f, 2, 1)
  assert one == same
  assert hash(one) == hash(same)
  assert one != gnp.frompyfunc(f, 2, 1, identity=0)
  with pytest.raises(AttributeError):
    one.nin = 3


@pytest.mark.parametrize(("call", "error", "text"), [
    (lambda: gnp.zeros(2, 3), TypeError, r"zeros\(\(2, 3\)\)"),
    (lambda: gnp.zeros(1.0), TypeError, "Shapes must be 1D sequences"),
    (lambda: gnomon.jit(lambda x: x.tobytes())(X), gnomon.errors.ConcretizationTypeError,
     r"The tobytes\(\) method was called on traced array"),
    (lambda: gnomon.jit(lambda x: x.tolist())(X), gnomon.errors.ConcretizationTypeError,
     r"The tolist\(\) method was called on traced array"),
    (lambda: gnomon.jit(gnp.zeros)(2), TypeError, "static_argnums"),
    (lambda: gnomon.jit(gnp.tri)(2), TypeError, "Shapes must be 1D sequences"),
    (lambda: gnomon.jit(gnp.arange)(2), TypeError, "jnp.arange argument 'stop'"),
    (lambda: gnomon.jit(lambda a: gnp.mgrid[a:3])(0), TypeError, "slice start of jnp.m"),
    (lambda: gnomon.jit(lambda i: gnp.split(X, [1, i]))(2), TypeError, "Abstract tracer"),
    (lambda: gnp.array(3, [("a", "<i4")]), TypeError, "number, bool, and string"),
    (lambda: gnp.array(X, None, True, copy=False), TypeError, "multiple values"),
    (lambda: gnp.array(X, None, True, "K", 0, 1), TypeError, "at most 5"),
    (lambda: gnp.array(2**31), OverflowError, "too large to convert to int32"),
    (lambda: gnp.hypot(1j, 1), ValueError, "complex-valued"),
    (lambda: gnp.cov(X, dtype=int), ValueError, "cov: dtype must be a subclass"),
    (lambda: gnp.corrcoef(X, dtype=int), ValueError, "corrcoef: dtype must be"),
    (lambda: gnp.broadcast_to(X, (1, 4)), ValueError, "Incompatible"),
    (lambda: gnp.expand_dims(X, (1, 1)), ValueError, "repeated axis"),
    (lambda: gnp.rot90(X[0]), ValueError, "ndim at least two"),
    (lambda: gnp.nansum(X, where=X), ValueError, "jnp.nansum: where must be"),
    (lambda: 1 in gnp.array(1), ValueError, "must be one-dimensional"),
    (lambda: gnp.arange(2) in gnp.arange(2), ValueError, "query value"),
    (lambda: None in gnp.arange(2), TypeError, "unsupported operand"),
    (lambda: gnp.vectorize(gnp.add, signature="(k),(k)->(k)")(X[0], None), ValueError,
     r"Cannot pass None at locations \{1\}"),
    (lambda: gnomon.jit(gnp.asarray)(np.ma.array([1], mask=[True])), ValueError,
     "masked arrays"),
    (lambda: gnomon.eval_shape(
        lambda: gnp.add(gnomon.ShapeDtypeStruct((2,), np.float32), 1)), TypeError,
     "add requires ndarray or scalar arguments")])
def test_errors_say_what_was_wrong(call: Any, error: Any, text: str) -> None:
  with pytest.raises(error, match=text):
    call()


@pytest.mark.parametrize("x", [[[1, 2]], None, "a", {1, 2}, slice(3)], ids=str)
@pytest.mark.parametrize("name", ["shape", "ndim", "size"])
def test_sizes_of_what_is_no_array_are_deprecated(name: str, x: Any) -> None:
  with pytest.warns(DeprecationWarning, match=f"{name} requires ndarray"):
    assert getattr(gnp, name)(x) == getattr(np, name)(x)


def test_copies_have_copies_as_cotangents() -> None:
  x = gnp.ones(3)
  value, pull = gnomon.vjp(lambda x: gnp.array(x, copy=True), x)
  assert pull(x)[0] is not x
  assert value is not x


def test_64_bits_asked_for() -> None:
  old = gnomon.config.jax_explicit_x64_dtypes
  try:
    for mode in ("allow", "ALLOW"):
      gnomon.config.update("jax_explicit_x64_dtypes", mode)
      assert gnp.array(1.0, dtype="float64").dtype == np.float64
  finally:
    gnomon.config.update("jax_explicit_x64_dtypes", old)
  with pytest.raises(ValueError, match="must be one of"):
    gnomon.config.update("jax_explicit_x64_dtypes", "Allow")
  for make in (
      lambda: gnp.zeros(2, "float64"), lambda: gnp.array(1, "int64"),
      lambda: gnp.arange(2, dtype="int64"), lambda: gnp.eye(2, dtype=np.float64),
      lambda: gnp.full_like(gnp.ones(2), 1, dtype="float64")):
    with pytest.warns(UserWarning, match="will be truncated") as seen:
      assert make().dtype.itemsize == 4
    assert seen[0].filename == __file__
  assert gnp.zeros_like(np.ones(2)).dtype == gnp.zeros(2, float).dtype == np.float32


@pytest.mark.parametrize("name", ["convolve", "correlate"])
def test_integers_stay_where_their_sums_are_asked_for(name: str) -> None:
  x, y = np.array([1, 2, 3], np.uint16), np.array([4, 5], np.uint16)
  got = getattr(gnp, name)(x, y, mode="full", preferred_element_type=np.uint16)
  assert got.dtype == np.uint16
  np.testing.assert_array_equal(got, getattr(np, name)(x, y, mode="full"))
  assert getattr(gnp, name)(x, y).dtype == np.float32


def test_writes_do_not_promote_where_nothing_does() -> None:
  with gnomon.numpy_dtype_promotion("strict"):
    with pytest.raises(gnomon.dtypes.TypePromotionError, match="strict"):
      gnp.arange(3).at[0].set(np.int16(1))
    assert gnp.arange(3).at[0].set(1).tolist() == [1, 1, 2]
  with gnomon.numpy_rank_promotion("raise"):
    assert gnp.multiply.outer(gnp.ones((1, 2)), gnp.ones(3)).shape == (1, 2, 3)
