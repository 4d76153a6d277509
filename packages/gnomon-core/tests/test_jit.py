"""`jit`: what is traced anew and what not, static and donated arguments, stages."""

from __future__ import annotations

import functools
import threading
from typing import Any, NamedTuple

import numpy as np
import pytest

import gnomon


class Counted:
  """A function that counts its traces."""

  def __init__(self, fun: Any) -> None:
    functools.update_wrapper(self, fun)
    self.fun, self.traces = fun, 0

  def __call__(self, *args: Any, **kwargs: Any) -> Any:
    self.traces += 1
    return self.fun(*args, **kwargs)


# ---- values and structures


def test_numbers_arrays_and_numpy_arrays(ops: Any) -> None:
  f = gnomon.jit(lambda x: ops.mul(x, x))
  for x in (3.0, np.float32(3), np.asarray(3, np.float32), gnomon.device_put(3.0)):
    y = f(x)
    assert isinstance(y, gnomon.Array)
    assert float(y) == 9.0


def test_pytrees_in_and_out(ops: Any) -> None:
  class Point(NamedTuple):
    x: Any
    y: Any

  @gnomon.jit
  def f(p: Point, d: dict[str, Any], nothing: None = None) -> Any:
    return {"s": ops.add(p.x, d["k"][0]), "t": Point(p.y, None), "u": [], "v": nothing}

  out = f(Point(1.0, 2.0), {"k": [3.0]})
  assert float(out["s"]) == 4.0
  assert type(out["t"]) is Point
  assert (float(out["t"].x), out["t"].y, out["u"], out["v"]) == (2.0, None, [], None)


def test_results_that_do_not_depend_on_arguments(ops: Any) -> None:
  constant = np.arange(3.0, dtype=np.float32)
  f = gnomon.jit(lambda x: (1, 2.5, True, constant, x, x))
  one, half, yes, array, x, again = f(np.float32(7))
  assert one.dtype == np.int32
  assert one.weak_type
  assert (float(half), bool(yes), float(x), float(again)) == (2.5, True, 7.0, 7.0)
  np.testing.assert_array_equal(np.asarray(array), constant)


def test_no_arguments() -> None:
  assert float(gnomon.jit(lambda: 1.5)()) == 1.5


def test_keyword_arguments(ops: Any) -> None:
  f = gnomon.jit(lambda x, *, a=2.0, b: ops.add(ops.mul(x, a), b))
  assert float(f(3.0, b=1.0)) == 7.0
  assert float(f(3.0, b=1.0, a=10.0)) == 31.0
  assert float(f(b=1.0, x=3.0)) == 7.0
  with pytest.raises(TypeError, match="missing 1 required keyword-only argument: 'b'"):
    f(3.0)


def test_jit_as_decorator_with_options(ops: Any) -> None:
  @gnomon.jit(static_argnames="n", inline=True)
  def power(x: Any, n: int) -> Any:
    """Doc."""
    return x if n == 1 else ops.mul(x, power.__wrapped__(x, n - 1))

  assert float(power(2.0, n=5)) == 32.0
  assert (power.__name__, power.__doc__) == ("power", "Doc.")
  assert power.__wrapped__.__name__ == "power"


def test_a_jitted_function_has_the_attributes_of_its_function(ops: Any) -> None:
  def f(x: Any) -> Any:
    return ops.mul(x, 2.0)

  class Scale:
    def __init__(self) -> None:
      self.by = 3.0

    def __call__(self, x: Any) -> Any:
      return ops.mul(x, self.by)

  f.origin, f.lower = "here", "mine"  # type: ignore[attr-defined]
  for jitted in (gnomon.jit(f), gnomon.jit(gnomon.jit(f)),
                 gnomon.jit(f, donate_argnums=0)):
    assert jitted.origin == "here"
    assert float(jitted.lower(1.0).compile()(2.0)) == 4.0  # jit's own names stay
  assert gnomon.jit(Scale()).by == 3.0


def test_jit_of_methods_partials_and_callables(ops: Any) -> None:
  class Scale:
    def __init__(self, by: float) -> None:
      self.by = by

    @functools.partial(gnomon.jit, static_argnums=0)
    def apply(self, x: Any) -> Any:
      return ops.mul(x, self.by)

    def __call__(self, x: Any) -> Any:
      return ops.add(x, self.by)

  s = Scale(3.0)
  assert float(s.apply(2.0)) == 6.0
  assert float(gnomon.jit(s)(2.0)) == 5.0
  assert float(gnomon.jit(functools.partial(ops.mul, 4.0))(np.float32(2))) == 8.0
  assert float(gnomon.jit(s.__call__)(2.0)) == 5.0


def test_nested_jit_and_recursion(ops: Any) -> None:
  @gnomon.jit
  def double(x: Any) -> Any:
    return ops.add(x, x)

  @functools.partial(gnomon.jit, static_argnums=1)
  def times(x: Any, n: int) -> Any:
    return x if n == 0 else double(times(x, n - 1))

  assert float(times(1.5, 4)) == 24.0


def test_a_called_function_is_lowered_once(ops: Any) -> None:
  @gnomon.jit
  def inner(x: Any) -> Any:
    return ops.sin(x)

  def outer(x: Any) -> Any:
    for _ in range(5):
      x = inner(x)
    return x

  text = gnomon.jit(outer).lower(1.0).as_text()
  assert text.count("func.func private @inner") == 1
  assert text.count("call @inner") == 5
  body = gnomon.jit(ops.sin, inline=True)
  inlined = gnomon.jit(lambda x: ops.neg(body(x))).lower(1.0).as_text()
  assert "func.func private" not in inlined


# ---- when a function is traced anew


def test_traced_once_a_signature(ops: Any) -> None:
  f = Counted(ops.neg)
  g = gnomon.jit(f)
  g(np.zeros(3, np.float32))
  g(np.ones(3, np.float32))
  assert f.traces == 1
  g(np.zeros(4, np.float32))
  assert f.traces == 2
  g(np.zeros(3, np.int32))
  assert f.traces == 3
  g(np.float32(1))
  g(1.0)  # weak: another type
  g(2.0)
  assert f.traces == 5
  g([1.0][0])
  assert f.traces == 5


def test_the_results_dtype_and_weakness_follow_the_argument(ops: Any) -> None:
  f = gnomon.jit(ops.neg)
  assert f(1.0).weak_type
  assert not f(np.float32(1)).weak_type
  assert f(1).dtype == np.int32


def test_jitting_a_function_twice_shares_the_trace(ops: Any) -> None:
  f = Counted(ops.neg)
  for _ in range(3):
    assert float(gnomon.jit(f)(1.0)) == -1.0
  assert f.traces == 1
  gnomon.jit(f, keep_unused=True)(1.0)
  assert f.traces == 1


def test_a_change_of_x64_traces_anew(ops: Any) -> None:
  f = Counted(lambda x: ops.mul(x, 1.5))
  g = gnomon.jit(f)
  assert g(2.0).dtype == np.float32
  with gnomon.enable_x64(True):
    assert g(2.0).dtype == np.float64
    assert g(np.float64(2)).dtype == np.float64
  assert g(2.0).dtype == np.float32
  assert g(np.float64(2)).dtype == np.float32
  traces = f.traces
  with gnomon.enable_x64(True):
    g(2.0)
  assert f.traces == traces


def test_disable_jit_runs_python(ops: Any) -> None:
  seen = []

  @gnomon.jit
  def f(x: Any) -> Any:
    seen.append(x)
    return ops.mul(x, 2.0)

  f(1.0)
  with gnomon.disable_jit():
    assert float(f(3.0)) == 6.0
  assert float(seen[-1]) == 3.0
  assert float(f(4.0)) == 8.0


# ---- static arguments


def test_static_numbers_and_names_imply_each_other(ops: Any) -> None:
  def f(x: Any, n: int, *, flag: bool = False) -> Any:
    assert type(n) is int
    assert type(flag) is bool
    return ops.mul(x, float(n) if flag else 1.0)

  for options in ({"static_argnums": 1, "static_argnames": "flag"},
                  {"static_argnames": ("n", "flag")},
                  {"static_argnums": (-1,), "static_argnames": ["flag"]}):
    g = gnomon.jit(f, **options)
    assert float(g(2.0, 3)) == 2.0
    assert float(g(2.0, 4, flag=True)) == 8.0
    if "static_argnums" not in options:
      assert float(g(2.0, n=3, flag=True)) == 6.0
      assert float(g(n=4, flag=True, x=2.0)) == 8.0
  h = gnomon.jit(lambda x, n: ops.mul(x, float(n)), static_argnums=1)
  assert float(h(2.0, n=3)) == 6.0


def test_static_arguments_of_equal_value_and_type_share(ops: Any) -> None:
  f = Counted(lambda x, n: ops.mul(x, float(n)))
  g = gnomon.jit(f, static_argnums=1)
  g(1.0, (1, 2)[0])
  g(1.0, 1)
  assert f.traces == 1
  g(1.0, True)  # equal, but of another type
  assert f.traces == 2


def test_static_defaults_may_be_left_out(ops: Any) -> None:
  g = gnomon.jit(lambda x, n=3: ops.mul(x, float(n)), static_argnums=(1,))
  assert float(g(2.0)) == 6.0
  assert float(g(2.0, 4)) == 8.0


def test_all_arguments_static() -> None:
  g = gnomon.jit(lambda a, b: a + b, static_argnums=(0, 1))
  assert int(g(1, 2)) == 3


def test_static_argument_that_is_not_hashable(ops: Any) -> None:
  def scale(x: Any, sizes: Any) -> Any:
    return ops.mul(x, float(len(sizes)))

  f = gnomon.jit(scale, static_argnums=1)
  with pytest.raises(ValueError, match=r"Non-hashable static arguments.*\[1, 2\]"):
    f(1.0, [1, 2])
  with pytest.raises(ValueError, match=r"argument sizes of scale is \[1, 2\].*tuple"):
    f.lower(1.0, [1, 2])
  assert float(f(1.0, (1, 2))) == 2.0


@pytest.mark.parametrize(("options", "match"), [
    ({"static_argnums": 2}, r"static_argnums=\(2,\).*takes 2 positional"),
    ({"static_argnums": -3}, r"static_argnums=\(-3,\)"),
    ({"static_argnames": "z"}, r"names 'z'.*no argument.*takes x, y"),
    ({"donate_argnums": 5}, r"donate_argnums=\(5,\)"),
    ({"donate_argnames": "q"}, r"names 'q'"),
    ({"static_argnums": 0, "donate_argnums": 0}, "both static and donated"),
    ({"static_argnums": 0, "donate_argnames": "x"}, "both static and donated")])
def test_wrong_argument_numbers_and_names(options: Any, match: str) -> None:
  with pytest.raises(ValueError, match=match):
    gnomon.jit(lambda x, y: x, **options)


@pytest.mark.parametrize(("options", "match"), [
    ({"static_argnums": "x"}, "static_argnums must be an int"),
    ({"static_argnums": 1.5}, "static_argnums must be an int"),
    ({"static_argnames": 3}, "static_argnames must be a str")])
def test_wrong_types_of_argument_numbers_and_names(options: Any, match: str) -> None:
  with pytest.raises(TypeError, match=match):
    gnomon.jit(lambda x, y: x, **options)


def test_any_number_of_positional_arguments(ops: Any) -> None:
  g = gnomon.jit(lambda *xs: ops.mul(xs[0], float(xs[2])), static_argnums=2)
  assert float(g(2.0, 3.0, 4)) == 8.0


# ---- donation


def test_donation_deletes_and_the_error_names_the_argument(ops: Any) -> None:
  def step(state: Any, x: Any) -> Any:
    return ops.add(state, x)

  f = gnomon.jit(step, donate_argnums=0)
  state, x = (gnomon.device_put(np.ones(1000, np.float32)) for _ in range(2))
  new = f(state, x)
  assert state.is_deleted()
  assert not x.is_deleted()
  np.testing.assert_array_equal(np.asarray(new), np.full(1000, 2, np.float32))
  with pytest.raises(RuntimeError, match=r"(?s)deleted.*argument state.*donate"):
    f(state, x)
  np.testing.assert_array_equal(np.asarray(f(new, x)), np.full(1000, 3, np.float32))
  assert f.lower(x, x).donate_argnums == (0,)


def test_donation_by_name_and_in_pytrees(ops: Any) -> None:
  f = gnomon.jit(
      lambda state, x: {k: ops.add(v, x) for k, v in state.items()},
      donate_argnames="state")
  for call in (f, lambda s, x: f(state=s, x=x)):
    state = {k: gnomon.device_put(np.ones(100, np.float32)) for k in "ab"}
    x = gnomon.device_put(np.ones(100, np.float32))
    out = call(state, x)
    assert all(v.is_deleted() for v in state.values())
    assert not x.is_deleted()
    np.testing.assert_array_equal(np.asarray(out["b"]), np.full(100, 2.0))


def test_donated_numbers_stay_usable(ops: Any) -> None:
  f = gnomon.jit(ops.neg, donate_argnums=0)
  for x in (17.5, np.float32(17.5), np.full(3, 17.5, np.float32)):
    for _ in range(2):
      assert np.asarray(f(x)).min() == -17.5
      assert np.asarray(f.lower(x).compile()(x)).min() == -17.5
      assert np.asarray(ops.neg(x)).min() == -17.5


def test_signs_of_zeros_are_kept(ops: Any) -> None:
  for x in (0.0, -0.0, complex(1, -0.0), complex(1, 0.0), complex(-0.0, 2)):
    for f in (ops.neg, gnomon.jit(ops.neg), lambda x: gnomon.jit(lambda: ops.neg(x))()):
      assert repr(complex(f(x))) == repr(complex(-x))


def test_donation_inside_jit_has_no_effect(ops: Any) -> None:
  f = gnomon.jit(ops.neg, donate_argnums=0)
  g = gnomon.jit(lambda x: ops.add(f(x), x))
  x = gnomon.device_put(np.ones(10, np.float32))
  np.testing.assert_array_equal(np.asarray(g(x)), np.zeros(10))
  assert not x.is_deleted()


def test_an_operation_on_a_deleted_array(ops: Any) -> None:
  x = gnomon.device_put(np.ones(10, np.float32))
  x.delete()
  with pytest.raises(RuntimeError, match="deleted"):
    ops.neg(x)
  with pytest.raises(RuntimeError, match="deleted"):
    gnomon.jit(ops.neg)(x)


# ---- unused arguments and constants


def test_unused_arguments_are_dropped_unless_kept(ops: Any) -> None:
  def f(x: Any, unused: Any) -> Any:
    return ops.neg(x)

  dropped = gnomon.jit(f).lower(1.0, np.zeros(7, np.float32)).as_text()
  assert "7xf32" not in dropped
  kept = gnomon.jit(f, keep_unused=True).lower(1.0, np.zeros(7, np.float32)).as_text()
  assert "7xf32" in kept
  for g in (gnomon.jit(f), gnomon.jit(f, keep_unused=True)):
    for _ in range(2):
      assert float(g(1.0, np.zeros(7, np.float32))) == -1.0


def test_large_constants_become_arguments(ops: Any) -> None:
  table = np.random.default_rng(0).normal(size=5000).astype(np.float32)
  f = gnomon.jit(lambda x: ops.mul(x, table))
  assert len(f.lower(np.float32(1)).as_text()) < 5000
  for x in (2.0, 3.0):
    np.testing.assert_allclose(np.asarray(f(np.float32(x))), x * table, rtol=1e-6)
  g = gnomon.jit(lambda x: ops.add(f(x), f(x)))
  np.testing.assert_allclose(np.asarray(g(np.float32(2))), 4 * table, rtol=1e-6)
  np.testing.assert_allclose(
      np.asarray(f.lower(np.float32(2)).compile()(np.float32(2))), 2 * table, rtol=1e-6)


def test_a_constant_that_is_changed_later_was_copied(ops: Any) -> None:
  table = np.ones(3, np.float32)
  f = gnomon.jit(lambda x: ops.mul(x, table))
  f(np.float32(1))
  table[:] = 5.0
  np.testing.assert_array_equal(np.asarray(f(np.float32(1))), np.ones(3))


# ---- closures


def test_closures_over_tracers_of_each_transformation(ops: Any) -> None:
  def f(x: Any) -> Any:
    g = gnomon.jit(lambda y: ops.mul(ops.sin(x), y))
    return ops.add(g(2.0), g(ops.cos(x)))

  x = 0.3
  want = np.sin(x) * 2 + np.sin(x) * np.cos(x)
  slope = np.cos(x) * 2 + np.cos(2 * x)
  assert float(f(np.float32(x))) == pytest.approx(want, rel=1e-5)
  assert float(gnomon.jit(f)(x)) == pytest.approx(want, rel=1e-5)
  assert float(gnomon.grad(f)(x)) == pytest.approx(slope, rel=1e-5)
  nested = gnomon.jit(gnomon.grad(gnomon.jit(f)))
  assert float(nested(x)) == pytest.approx(slope, rel=1e-5)
  got = gnomon.vmap(f)(np.full(3, x, np.float32))
  np.testing.assert_allclose(np.asarray(got), np.full(3, want), rtol=1e-5)


def test_one_function_that_closes_over_different_tracers(ops: Any) -> None:
  box: list[Any] = [None]
  inner = gnomon.jit(lambda y: ops.mul(y, box[0]))

  def f(x: Any) -> Any:
    box[0] = x
    return inner(2.0)

  assert float(gnomon.jit(f)(3.0)) == 6.0
  assert float(gnomon.jit(f)(np.float32(4))) == 8.0
  assert float(gnomon.grad(f)(5.0)) == 2.0


# ---- errors


def test_an_error_in_the_function_propagates_and_the_next_call_works(ops: Any) -> None:
  fail = True

  @gnomon.jit
  def f(x: Any) -> Any:
    if fail:
      raise KeyError("mine")
    return ops.neg(x)

  for _ in range(3):
    with pytest.raises(KeyError, match="mine"):
      f(1.0)
  fail = False
  assert float(f(1.0)) == -1.0
  assert float(ops.neg(1.0)) == -1.0  # the current trace is the bottom again


def test_an_error_in_a_nested_function_leaves_no_trace_behind(ops: Any) -> None:
  @gnomon.jit
  def bad(x: Any) -> Any:
    raise ValueError("inside")

  def f(x: Any) -> Any:
    with pytest.raises(ValueError, match="inside"):
      bad(x)
    return ops.neg(x)

  for g in (f, gnomon.jit(f), gnomon.grad(f)):
    assert abs(float(g(1.0))) == 1.0


@pytest.mark.parametrize("value", ["text", object(), np.array(["a"]), {1, 2}])
def test_an_argument_that_is_no_array_is_named(ops: Any, value: Any) -> None:
  def model(params: Any, mode: Any) -> Any:
    return ops.neg(params["w"])

  f = gnomon.jit(model)
  with pytest.raises(TypeError, match=r"(?s)argument mode of the jitted function model"):
    f({"w": 1.0}, value)
  with pytest.raises(TypeError, match=r"argument params\['w'\] of the jitted"):
    f({"w": value}, 1.0)
  with pytest.raises(TypeError, match="argument mode"):
    f({"w": 1.0}, mode=value)


def test_a_result_that_is_no_array_is_named(ops: Any) -> None:
  def model(x: Any) -> Any:
    return {"loss": x, "name": "text"}

  with pytest.raises(TypeError, match=r"(?s)model at .*test_jit.py.*\['name'\].*'text'"):
    gnomon.jit(model)(1.0)


def test_what_is_no_function() -> None:
  with pytest.raises(TypeError, match="jit expects a function, got 3"):
    gnomon.jit(3)

  def numbers() -> Any:
    yield 1

  with pytest.raises(TypeError, match="generator"):
    gnomon.jit(numbers)


def test_a_python_integer_out_of_range(ops: Any) -> None:
  with pytest.raises(OverflowError, match="int32"):
    gnomon.jit(ops.neg)(2**40)


# ---- ahead of time


def test_trace_lower_and_compile(ops: Any) -> None:
  def f(x: Any, d: Any) -> Any:
    return {"out": ops.mul(x, d["y"])}

  spec = gnomon.ShapeDtypeStruct((3,), np.float32)
  traced = gnomon.jit(f).trace(spec, {"y": spec})
  assert [str(a) for a in traced.jaxpr.in_avals] == ["float32[3]"] * 2
  lowered = traced.lower()
  assert "stablehlo.multiply" in lowered.as_text()
  compiled = lowered.compile()
  x = np.arange(3.0, dtype=np.float32)
  np.testing.assert_array_equal(np.asarray(compiled(x, {"y": x})["out"]), x * x)
  assert compiled.cost_analysis()
  assert compiled.as_text()
  assert compiled.memory_analysis() is not None


def test_a_compiled_function_checks_its_arguments(ops: Any) -> None:
  f = gnomon.jit(ops.mul).lower(
      np.ones(3, np.float32), np.ones(3, np.float32)).compile()
  one = np.ones(3, np.float32)
  with pytest.raises(TypeError, match=r"(?s)compiled for float32\[3\].*float32\[4\]"):
    f(one, np.ones(4, np.float32))
  with pytest.raises(TypeError, match=r"another structure.*at \[0\] .*2.*1"):
    f(one)
  with pytest.raises(TypeError, match=r"cannot be transformed.*JitTracer"):
    gnomon.jit(f)(one, one)
  with pytest.raises(TypeError, match=r"of the compiled function function .*'text'"):
    f(one, "text")
  with pytest.raises(TypeError, match="int32"):
    f(np.ones(3, np.float32), np.ones(3, np.int32))


def test_static_arguments_ahead_of_time(ops: Any) -> None:
  f = gnomon.jit(lambda x, n: ops.mul(x, float(n)), static_argnums=1)
  lowered = f.lower(2.0, 3)
  assert float(lowered.compile()(2.0)) == 6.0
  with pytest.raises(TypeError, match="Static arguments are part of it"):
    lowered.compile()(2.0, 3)
  g = gnomon.jit(
      lambda n, x, *, m: ops.mul(x, float(n * m)), static_argnums=0, static_argnames="m",
      donate_argnums=1).lower(3, np.float32(2), m=5)
  assert float(g.compile()(np.float32(2))) == 30.0
  (info,), _ = g.args_info
  assert (info.shape, info.dtype, info.donated) == ((), np.float32, True)
  with pytest.raises(TypeError, match=r"x: compiled for float32\[\], called with ~int32"):
    g.compile()(2)


# ---- many functions, many threads


def test_threads_trace_and_compile_at_once(ops: Any) -> None:
  shared = gnomon.jit(lambda x: ops.sum(ops.mul(ops.sin(x), x)))
  errors: list[BaseException] = []
  barrier = threading.Barrier(8)

  def work(i: int) -> None:
    try:
      barrier.wait()
      for n in (1, 2):
        x = np.arange(n, dtype=np.float32) + i
        own = gnomon.jit(lambda v: ops.sum(ops.mul(ops.sin(v), v)))
        want = np.sum(np.sin(x.astype(float)) * x)
        slope = np.cos(x.astype(float)) * x + np.sin(x.astype(float))
        np.testing.assert_allclose(float(own(x)), want, rtol=1e-4, atol=1e-4)
        np.testing.assert_allclose(float(shared(x)), want, rtol=1e-4, atol=1e-4)
        got = gnomon.grad(shared)(x)
        np.testing.assert_allclose(np.asarray(got), slope, rtol=1e-4, atol=1e-4)
    except BaseException as e:  # noqa: BLE001 -- shown by the main thread
      errors.append(e)

  threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
  for t in threads:
    t.start()
  for t in threads:
    t.join()
  assert errors == []
