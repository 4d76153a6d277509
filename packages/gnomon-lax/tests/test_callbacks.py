"""`pure_callback` and `io_callback`: values, errors, every transformation."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import gnomon
from gnomon import lax
from gnomon.core import dtypes
from gnomon.experimental import io_callback

F32 = gnomon.ShapeDtypeStruct((), "float32")


def eager(f):
  return f


both = pytest.mark.parametrize("wrap", [eager, gnomon.jit])


def twice(x):
  return np.asarray(x) * 2


# ---- values


@both
@pytest.mark.parametrize("dtype", [
    "bool", "int8", "uint8", "int32", "uint32", "float16", "bfloat16", "float32",
    "complex64", "int4", "float8_e4m3fn"])
def test_every_dtype_there_and_back(wrap, dtype):
  x = np.asarray([[0, 1, 1], [1, 0, 1]]).astype(dtypes.as_dtype(dtype))
  seen = []

  def identity(a):
    seen.append(a)
    return a

  y = wrap(lambda a: gnomon.pure_callback(identity, a, a))(x)
  assert y.dtype == x.dtype
  np.testing.assert_array_equal(np.asarray(y), x)
  assert isinstance(seen[0], gnomon.Array)
  np.testing.assert_array_equal(np.asarray(seen[0]), x)


@both
def test_structures_empty_arrays_and_nothing(wrap):
  def callback(a, *, k):
    return {"b": [np.zeros((0, 2), np.float32)], "a": np.asarray(a) + np.asarray(k["x"])}

  declared = {
      "b": [gnomon.ShapeDtypeStruct((0, 2), "float32")],
      "a": gnomon.ShapeDtypeStruct((3,), "float32")}
  x = np.arange(3, dtype=np.float32)
  out = wrap(lambda a: gnomon.pure_callback(callback, declared, a, k={"x": a}))(x)
  np.testing.assert_array_equal(np.asarray(out["a"]), 2 * x)
  assert out["b"][0].shape == (0, 2)
  assert wrap(lambda a: io_callback(lambda b: None, None, a))(x) is None


def test_wide_types_need_their_option():
  with pytest.raises(ValueError, match="cannot specify 64-bit types"):
    gnomon.pure_callback(twice, gnomon.ShapeDtypeStruct((), "float64"), 1.0)
  with gnomon.enable_x64(True):
    f = gnomon.jit(
        lambda x: gnomon.pure_callback(twice, gnomon.ShapeDtypeStruct((), "float64"), x))
    assert float(f(np.float64(1e300))) == 2e300


def test_values_do_not_change_after_the_call():
  kept = []
  f = gnomon.jit(lambda x: io_callback(kept.append, None, lax.mul(x, 2.0)))
  for i in range(4):
    f(np.full(1000, i, np.float32))
  assert [float(np.asarray(a)[7]) for a in kept] == [0, 2, 4, 6]


def test_fortran_order_results():
  x = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
  f = gnomon.jit(lambda a: gnomon.pure_callback(
      lambda b: np.asfortranarray(np.asarray(b)), a, a))
  np.testing.assert_array_equal(np.asarray(f(x)), x)


def test_callbacks_run_programs():
  g = gnomon.jit(lambda x: lax.dot(x, x))
  f = gnomon.jit(lambda x: gnomon.pure_callback(lambda a: lax.add(g(a), 1.0), x, x))
  x = np.eye(64, dtype=np.float32)
  np.testing.assert_array_equal(np.asarray(f(x)), x + 1)


def test_printed_as_jax_does():
  text = str(gnomon.make_jaxpr(
      lambda x: gnomon.pure_callback(np.sin, F32, x, vmap_method="sequential"))(1.0))
  assert "callback=_FlatCallback(callback_func=<ufunc 'sin'>, in_tree=" in text
  assert "result_avals=(ShapedArray(float32[]),)" in text
  assert "vmap_method=sequential" in text


# ---- errors: their type and message arrive, and the next call works


class Custom(Exception):
  def __init__(self, message, code):
    super().__init__(message, code)
    self.code = code


@both
@pytest.mark.parametrize("error", [
    KeyError("no such key"), ZeroDivisionError("by zero"), OSError(2, "no file"),
    StopIteration("the end"), Custom("own", 7), UnicodeDecodeError("a", b"", 0, 1, "x"),
    KeyboardInterrupt(), SystemExit(3)], ids=lambda e: type(e).__name__)
@pytest.mark.parametrize("call", [gnomon.pure_callback, io_callback])
def test_exceptions_reach_the_caller(wrap, error, call):
  fails = [True]

  def callback(x):
    if fails:
      raise error
    return x

  f = wrap(lambda x: call(callback, F32, x))
  for _ in range(2):
    with pytest.raises(type(error)) as caught:
      f(1.0)
    assert caught.value.args == error.args
    assert str(caught.value) == str(error)
    if isinstance(error, Custom):
      assert caught.value.code == 7
    if wrap is gnomon.jit and isinstance(error, Exception):
      assert isinstance(caught.value, RuntimeError)
      assert caught.value.__cause__ is error
  fails.clear()
  assert float(f(2.0)) == 2.0


@both
@pytest.mark.parametrize(("result", "declared", "message"), [
    (np.zeros(4, np.float32), F32, r"output shape.*#0.*expected \(\), got \(4,\)"),
    (np.int32(1), F32, "output dtype.*expected float32, got int32"),
    (3, F32, "output dtype"),
    ((1.0, 2.0), F32, "returned 2 values, but 1 are declared"),
    (None, F32, "returned 0 values"),
    (1.0, (F32, F32), "returned 1 values, but 2")])
def test_results_are_checked(wrap, result, declared, message):
  f = wrap(lambda x: gnomon.pure_callback(lambda a: result, declared, x))
  with pytest.raises(RuntimeError, match=message):
    f(1.0)


@pytest.mark.parametrize(("call", "message"), [
    (lambda: gnomon.pure_callback(3, F32, 1.0), "callback should be callable, got 3"),
    (lambda: gnomon.pure_callback(twice, F32, "a"), "pure_callback.*'a'"),
    (lambda: io_callback(twice, "a", 1.0), "result_shape_dtypes must hold")])
def test_arguments_are_checked(call, message):
  with pytest.raises(TypeError, match=message):
    call()


def test_unknown_vmap_method():
  with pytest.raises(ValueError, match=r"vmap_method must be one of.*but got: often"):
    gnomon.pure_callback(twice, F32, 1.0, vmap_method="often")


# ---- transformations


@both
@pytest.mark.parametrize(("method", "shapes"), [
    ("sequential", [((), ())] * 3), ("sequential_unrolled", [((), ())] * 3),
    ("expand_dims", [((3,), (1,))]), ("broadcast_all", [((3,), (3,))]),
    ("legacy_vectorized", [((3,), ())])])
def test_vmap_methods(wrap, method, shapes):
  seen = []

  def callback(x, y):
    seen.append((x.shape, y.shape))
    return np.asarray(x) + np.asarray(y)

  f = wrap(gnomon.vmap(
      lambda x, y: gnomon.pure_callback(callback, F32, x, y, vmap_method=method),
      in_axes=(0, None)))
  y = f(np.arange(3, dtype=np.float32), np.float32(5))
  np.testing.assert_array_equal(np.asarray(y), [5, 6, 7])
  assert seen == shapes


@pytest.mark.parametrize("method", ["sequential", "expand_dims", "broadcast_all"])
def test_nested_vmap_over_several_axes(method):
  x = np.arange(12, dtype=np.float32).reshape(3, 4)
  y = np.arange(3, dtype=np.float32)

  def product(a, b):
    return gnomon.pure_callback(
        lambda p, q: np.asarray(p) * np.asarray(q), F32, a, b, vmap_method=method)

  f = gnomon.vmap(gnomon.vmap(product, in_axes=(0, None)), in_axes=(1, None), out_axes=1)
  g = gnomon.vmap(gnomon.vmap(product), in_axes=(1, None), out_axes=1)
  np.testing.assert_array_equal(np.asarray(f(x, np.float32(5))), x * 5)
  np.testing.assert_array_equal(np.asarray(g(x, y)), x * y[:, None])


def test_vmap_without_a_method():
  with pytest.raises(NotImplementedError, match="vmap is only supported"):
    gnomon.vmap(lambda x: gnomon.pure_callback(twice, F32, x))(np.ones(2, np.float32))


def test_io_is_called_for_each_element():
  seen = []
  f = gnomon.jit(lambda x: io_callback(lambda a: seen.append(int(a)), None, x))
  gnomon.vmap(f)(np.arange(4, dtype=np.int32))
  assert sorted(seen) == [0, 1, 2, 3]
  with pytest.raises(ValueError, match="Cannot `vmap` ordered IO callback"):
    gnomon.vmap(lambda x: io_callback(seen.append, None, x, ordered=True))(np.arange(2))


@pytest.mark.parametrize(("call", "kind"), [
    (gnomon.pure_callback, "Pure"), (io_callback, "IO")])
def test_no_derivatives(call, kind):
  f = lambda x: call(twice, F32, x)  # noqa: E731
  with pytest.raises(ValueError, match=f"{kind} callbacks do not support JVP"):
    gnomon.grad(f)(1.0)
  with pytest.raises(ValueError, match=f"{kind} callbacks do not support JVP"):
    gnomon.linearize(gnomon.jit(f), 1.0)


def test_checkpoint_refuses_what_must_not_happen_twice():
  f = gnomon.checkpoint(
      lambda x, y: (io_callback(lambda a: None, None, y), lax.mul(x, x))[1])
  with pytest.raises(NotImplementedError, match="Effects not supported in partial-eval"):
    gnomon.grad(f)(2.0, 3.0)


def test_with_a_derivative_of_its_own():
  @gnomon.custom_jvp
  def sin(x):
    return gnomon.pure_callback(lambda a: np.sin(np.asarray(a)), x, x)

  @sin.defjvp
  def _(primals, tangents):
    (x,), (t,) = primals, tangents
    cos = gnomon.pure_callback(lambda a: np.cos(np.asarray(a)), x, x)
    return sin(x), lax.mul(cos, t)

  for wrap in (eager, gnomon.jit):
    assert float(wrap(gnomon.grad(sin))(0.7)) == pytest.approx(np.cos(0.7), rel=1e-6)


def test_unused_pure_callbacks_are_not_called():
  seen = []

  @gnomon.jit
  def f(x):
    gnomon.pure_callback(seen.append, None, x)
    gnomon.pure_callback(lambda a: (seen.append(a), a)[1], x, x)
    return x

  assert float(f(2.0)) == 2.0
  assert not seen


def _loop(call, x):
  step = lambda c: call(lambda a: np.asarray(a) + np.float32(1), F32, c)  # noqa: E731
  return {
      "scan": lambda: lax.scan(lambda c, _: (step(c), None), x, None, 5)[0],
      "unrolled": lambda: lax.scan(lambda c, _: (step(c), None), x, None, 5, unroll=2)[0],
      "straight": lambda: lax.scan(
          lambda c, _: (step(c), None), x, None, 5, unroll=True)[0],
      "while": lambda: lax.while_loop(lambda c: lax.lt(c, 5.0), step, x),
      "fori": lambda: lax.fori_loop(0, 5, lambda i, c: step(c), x),
      "cond": lambda: lax.cond(
          lax.lt(x, 1.0), lambda c: lax.add(step(c), 4.0), lambda c: c, x),
      "map": lambda: lax.add(lax.map(step, lax.broadcast(x, (2,))), 4.0)}


@pytest.mark.parametrize("name", list(_loop(None, 0)))
@pytest.mark.parametrize("kind", ["pure", "io", "ordered"])
def test_in_control_flow(name, kind):
  def call(f, declared, x):
    if kind == "pure":
      return gnomon.pure_callback(f, declared, x)
    return io_callback(f, declared, x, ordered=kind == "ordered")

  got = np.asarray(gnomon.jit(lambda x: _loop(call, x)[name]())(0.0))
  np.testing.assert_array_equal(got, np.full(got.shape, 5.0))


@pytest.mark.parametrize(("f", "who"), [
    (lambda x: lax.cond(
        lax.lt(x, 1), lambda: io_callback(lambda: None, None), lambda: None), "cond"),
    (lambda x: lax.while_loop(
        lambda c: lax.lt(c, 3),
        lambda c: (io_callback(print, None, c), lax.add(c, 1))[1], x),
     "while_loop with batched predicate"),
    (lambda x: lax.while_loop(
        lambda c: io_callback(lambda a: False, gnomon.ShapeDtypeStruct((), "bool"), c),
        lambda c: c, x), "while_loop")])
def test_mapped_conditions_are_refused(f, who):
  with pytest.raises(NotImplementedError, match=who):
    gnomon.vmap(f)(np.arange(2, dtype=np.int32))


# ---- order, threads, stages


def test_ordered_calls_keep_their_order_through_everything():
  seen = []

  def note(x):
    io_callback(lambda a: seen.append(int(a)), None, x, ordered=True)

  inner = gnomon.jit(note)

  @gnomon.jit
  def f(n):
    note(100)
    inner(101)

    def body(i, c):
      inner(i)
      lax.cond(
          lax.lt(i, 2), lambda: note(lax.add(i, 10)), lambda: inner(lax.add(i, 20)))
      return lax.scan(lambda d, x: (note(x), (d, None))[1], c, np.asarray([7, 8]))[0]

    lax.while_loop(
        lambda s: (note(lax.add(s[0], 50)), lax.lt(s[0], n))[1],
        lambda s: (lax.add(s[0], 1), body(*s)), (1, 0))
    note(102)

  f(3)
  expected = [
      100, 101, 51, 1, 11, 7, 8, 52, 2, 22, 7, 8, 53, 102]
  assert seen == expected
  f(3)
  assert seen == expected * 2


def test_many_threads():
  f = gnomon.jit(lambda x: gnomon.pure_callback(twice, x, x))
  found = {}

  def work(i):
    for k in range(20):
      found[i, k] = float(f(np.float32(100 * i + k)))

  threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
  for t in threads:
    t.start()
  for t in threads:
    t.join()
  assert all(v == 2 * (100 * i + k) for (i, k), v in found.items())
  assert len(found) == 80


def test_barrier_waits_for_other_threads():
  started, go, ended = threading.Event(), threading.Event(), []

  def slow(_):
    started.set()
    go.wait(10)
    ended.append(True)

  f = gnomon.jit(lambda x: io_callback(slow, None, x))
  thread = threading.Thread(target=f, args=(1.0,))
  thread.start()
  started.wait(10)
  threading.Timer(0.05, go.set).start()
  gnomon.effects_barrier()
  assert ended
  thread.join()


def test_ahead_of_time_and_many_platforms():
  seen = []
  f = gnomon.jit(lambda x: io_callback(lambda a: seen.append(int(a)), None, x))
  compiled = f.lower(1).compile()
  compiled(5)
  compiled(6)
  assert seen == [5, 6]
  with pytest.raises(NotImplementedError, match="platform 'cpu' only, not for tpu"):
    f.trace(1).lower(lowering_platforms=("tpu",))
