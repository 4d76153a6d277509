"""What Python gets when it asks a traced value for what only a value has, or too late."""

from __future__ import annotations

import copy
import functools
import inspect
import operator
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gnomon
from gnomon import errors


def _line(function: Any, text: str) -> int:
  """The number of the line of a function that holds `text`."""
  lines, start = inspect.getsourcelines(inspect.unwrap(function))
  return start + next(i for i, line in enumerate(lines) if text in line)


ASKS: dict[str, tuple[Callable[[Any], Any], type[Exception], str]] = {
    "bool": (bool, errors.TracerBoolConversionError, "boolean conversion"),
    "if": (lambda x: 1 if x else 2, errors.TracerBoolConversionError, "boolean conv"),
    "not": (operator.not_, errors.TracerBoolConversionError, "boolean conversion"),
    "int": (int, errors.ConcretizationTypeError, r"int\(\) was called"),
    "float": (float, errors.ConcretizationTypeError, r"float\(\) was called"),
    "complex": (complex, errors.ConcretizationTypeError, r"complex\(\) was called"),
    "item": (
        lambda x: x.item(), errors.ConcretizationTypeError,
        r"item\(\) method was called"),
    "tolist": (lambda x: x.tolist(), errors.ConcretizationTypeError, r"tolist\(\)"),
    "index": (operator.index, errors.TracerIntegerConversionError, "__index__"),
    "list index": (
        lambda x: [1, 2, 3][x], errors.TracerIntegerConversionError, "__index__"),
    "range": (range, errors.TracerIntegerConversionError, "__index__"),
    "numpy": (np.asarray, errors.TracerArrayConversionError, "__array__"),
    "numpy function": (np.sin, errors.TracerArrayConversionError, "__array__"),
}


@pytest.mark.parametrize("name", ASKS)
def test_the_message_names_function_argument_and_line(ops: Any, name: str) -> None:
  ask, error, match = ASKS[name]

  def model(weights: Any, count: Any) -> Any:
    y = ops.mul(count, 2)
    ask(y)
    return weights

  start = inspect.getsourcelines(model)[1]
  with pytest.raises(error, match=match) as e:
    gnomon.jit(model)(1.0, 3)
  message = str(e.value)
  assert "int32[]" in message
  assert f"model at {__file__}:{start} for jit" in message
  assert "depends on the value of the argument count." in message
  assert f"test_mul at {__file__}:{_line(model, 'ops.mul')} (" in message
  assert message.rstrip().endswith(".")


@pytest.mark.parametrize("name", ASKS)
def test_an_argument_itself(ops: Any, name: str) -> None:
  ask, error, _ = ASKS[name]
  with pytest.raises(error, match=r"the value of the argument p\['n'\]\.") as e:
    gnomon.jit(lambda p: ask(p["n"]))({"n": 3, "other": 1.0})
  assert "computed by" not in str(e.value)


def test_several_arguments_are_listed_once_each(ops: Any) -> None:
  def f(a: Any, b: Any, c: Any) -> Any:
    return float(ops.add(ops.mul(a, b), a))

  with pytest.raises(errors.ConcretizationTypeError) as e:
    gnomon.jit(f)(1.0, 2.0, 3.0)
  assert "depends on the values of the arguments a, b." in str(e.value)


def test_static_and_keyword_arguments_do_not_shift_names(ops: Any) -> None:
  def f(n: int, a: Any, *rest: Any, k: Any, **others: Any) -> Any:
    return {"a": float, "rest": lambda: float(rest[1]), "k": lambda: float(k),
            "z": lambda: float(others["z"])}[n](*([a] if n == "a" else []))

  g = gnomon.jit(f, static_argnums=0)
  for which, name in (("a", "a"), ("rest", r"rest\[1\]"), ("k", "k"), ("z", "z")):
    with pytest.raises(errors.ConcretizationTypeError, match=rf"argument {name}\."):
      g(which, 1.0, 2.0, 3.0, k=4.0, z=5.0)


def test_the_names_of_other_transformations(ops: Any) -> None:
  for name, f in (
      ("make_jaxpr", gnomon.make_jaxpr(float)), ("checkpoint", gnomon.checkpoint(float)),
      ("eval_shape", lambda x: gnomon.eval_shape(float, x))):
    with pytest.raises(errors.ConcretizationTypeError, match=f"for {name}"):
      f(1.0)


def test_inside_a_nested_function_the_innermost_is_named(ops: Any) -> None:
  @gnomon.jit
  def inner(y: Any) -> Any:
    return float(y)

  def outer(x: Any) -> Any:
    return inner(ops.sin(x))

  for transform, x in (
      (gnomon.jit, 1.0), (gnomon.grad, 1.0), (gnomon.vmap, np.ones(3, np.float32))):
    with pytest.raises(errors.ConcretizationTypeError, match=r"inner at .* argument y"):
      transform(outer)(x)


def test_vmap_says_that_there_are_many_values(ops: Any) -> None:
  with pytest.raises(errors.TracerBoolConversionError, match=r"mapped by vmap .* size 3"):
    gnomon.vmap(lambda x: 1.0 if x else 2.0)(np.ones(3, np.float32))
  with pytest.raises(errors.ConcretizationTypeError, match="argument x"):
    gnomon.jit(gnomon.vmap(lambda x: float(x) * 1.0))(np.ones(3, np.float32))


def test_derivatives_outside_jit_know_values(ops: Any) -> None:
  def f(x: Any) -> Any:
    assert (bool(x), int(x), float(x), complex(x)) == (True, 3, 3.0, 3.0)
    assert x.item() == x.tolist() == 3.0
    assert float(np.asarray(x)) == 3.0
    return ops.mul(x, x)

  assert float(gnomon.grad(f)(3.0)) == 6.0
  g = lambda x: ops.mul(x, float(x))  # noqa: E731
  assert float(gnomon.grad(g)(3.0)) == 3.0
  with pytest.raises(errors.ConcretizationTypeError, match="float"):
    gnomon.jit(gnomon.grad(g))(3.0)
  h = gnomon.grad(lambda x: ops.mul(x, x) if bool(x) else x)
  assert float(h(3.0)) == 6.0
  assert float(gnomon.grad(h)(3.0)) == 2.0


def test_arrays_of_several_elements_have_no_truth_value(ops: Any) -> None:
  x = np.ones(3, np.float32)
  for transform in (gnomon.jit, lambda f: lambda x: gnomon.jvp(f, (x,), (x,))):
    with pytest.raises(ValueError, match=r"truth value .* 3 elements is ambiguous"):
      transform(lambda x: 1.0 if x else x)(x)


def test_tracers_have_no_hash_and_copies_are_themselves(ops: Any) -> None:
  def f(x: Any) -> Any:
    with pytest.raises(TypeError, match=r"unhashable type.*id"):
      hash(x)
    assert copy.copy(x) is x
    assert copy.deepcopy({"x": x})["x"] is x
    return x

  gnomon.jit(f)(1.0)
  gnomon.grad(f)(1.0)


def test_what_types_tell(ops: Any) -> None:
  def f(x: Any) -> Any:
    assert (x.shape, x.dtype, x.ndim, x.size, len(x)) == ((2, 3), np.float32, 2, 6, 2)
    assert isinstance(x, gnomon.Array)
    assert "32[2,3]" in repr(x)
    assert f"{x}" == repr(x)
    assert x.weak_type is False
    assert x.block_until_ready() is x
    with pytest.raises(TypeError, match="0-d"):
      len(ops.sum(x))
    return ops.sum(x)

  x = np.ones((2, 3), np.float32)
  gnomon.jit(f)(x)
  gnomon.grad(f)(x)
  gnomon.vmap(f)(np.ones((4, 2, 3), np.float32))


def test_format_with_a_known_value(ops: Any) -> None:
  seen = []
  gnomon.grad(lambda x: seen.append(f"{x:.2f}") or x)(1.5)
  assert seen == ["1.50"]


# ---- leaks


def _leak(transform: Any, ops: Any) -> Any:
  """A tracer of a transformation that has ended."""
  kept: list[Any] = []

  def leaky(x: Any) -> Any:
    kept.append(ops.sin(x))
    return ops.sum(x)

  transform(leaky)(np.ones(3, np.float32))
  return kept[0]


TRANSFORMS = {
    "jit": gnomon.jit, "grad": gnomon.grad, "vmap": gnomon.vmap,
    "jvp": lambda f: lambda x: gnomon.jvp(f, (x,), (x,)),
    "jit grad": lambda f: gnomon.jit(gnomon.grad(f)),
    "grad jit": lambda f: gnomon.grad(gnomon.jit(f)),
    "make_jaxpr": gnomon.make_jaxpr, "checkpoint": gnomon.checkpoint,
    "eval_shape": lambda f: lambda x: gnomon.eval_shape(f, x)}


@pytest.mark.parametrize("name", TRANSFORMS)
def test_a_leaked_value_is_an_error_wherever_it_is_used(ops: Any, name: str) -> None:
  x, one = _leak(TRANSFORMS[name], ops), np.ones(3, np.float32)
  uses: dict[str, Callable[[], Any]] = {
      "alone": functools.partial(ops.neg, x),
      "with others": functools.partial(ops.mul, one, x),
      "in jit": lambda: gnomon.jit(lambda y: ops.mul(x, y))(one),
      "as result": gnomon.jit(lambda: x),
      "as argument": functools.partial(gnomon.jit(ops.neg), x),
      "in grad": lambda: gnomon.grad(lambda y: ops.sum(ops.mul(x, y)))(one),
      "in vmap": lambda: gnomon.vmap(lambda y: ops.mul(x, y))(one),
      "in a nested jit": lambda: gnomon.grad(
          lambda y: ops.sum(gnomon.jit(lambda: ops.mul(x, y))()))(one)}
  for how, use in uses.items():
    with pytest.raises(errors.UnexpectedTracerError, match="outlived") as e:
      use()
    assert "return it from the function instead" in str(e.value), how


def test_a_leak_of_jit_says_where_it_was_made(ops: Any) -> None:
  x = _leak(gnomon.jit, ops)
  place = re.escape(__file__)
  with pytest.raises(errors.UnexpectedTracerError, match=(
      rf"leaky at {place}:\d+ was traced for jit, by the operation test_sin at "
      rf"{place}:\d+ ")):
    ops.neg(x)


def test_a_leak_by_the_closure_of_a_jitted_function(ops: Any) -> None:
  def outer(x: Any) -> Any:
    inner = gnomon.jit(lambda y: ops.mul(x, y))
    inner(2.0)
    return inner

  box: list[Any] = []
  gnomon.jit(lambda x: box.append(outer(x)) or x)(3.0)
  with pytest.raises(errors.UnexpectedTracerError, match="outlived"):
    box[0](2.0)
  assert float(outer(5.0)(2.0)) == 10.0


def test_a_tracer_of_an_inner_trace_in_the_outer_one(ops: Any) -> None:
  kept: list[Any] = []

  def f(x: Any) -> Any:
    gnomon.grad(lambda y: kept.append(y) or ops.mul(x, y))(x)
    return ops.mul(kept.pop(), x)

  for g in (f, gnomon.jit(f), gnomon.grad(f)):
    with pytest.raises(errors.UnexpectedTracerError, match="outlived"):
      g(2.0)


def test_checking_leaks_finds_them_at_once(ops: Any) -> None:
  kept: list[Any] = []

  def leaky(x: Any) -> Any:
    kept.append(x)
    return ops.sum(x)

  def clean(x: Any) -> Any:
    return ops.sum(ops.mul(x, x))

  x = np.ones(3, np.float32)
  for f in (leaky, clean):
    for transform in (gnomon.jit, gnomon.grad, gnomon.vmap):
      transform(f)(x)  # what is remembered from here must not hide it
      kept.clear()
      with gnomon.checking_leaks():
        if f is clean:
          transform(f)(x)
          continue
        with pytest.raises(
            errors.UnexpectedTracerError, match=r"(?s)Leaked trace.*of type list"):
          transform(f)(x)


def test_a_known_value_while_tracing(ops: Any) -> None:
  @gnomon.jit
  def f(x: Any) -> Any:
    with gnomon.ensure_compile_time_eval():
      n = float(ops.add(np.float32(1), np.float32(2)))
      m = float(gnomon.jit(lambda: ops.sin(np.float32(0)))())
      y = ops.mul(x, n)  # of a traced value: recorded
      with pytest.raises(errors.ConcretizationTypeError, match="argument x"):
        float(y)
    return ops.add(y, m)

  assert float(f(2.0)) == 6.0
  assert float(gnomon.grad(f)(2.0)) == 3.0
  with gnomon.ensure_compile_time_eval():
    assert float(ops.add(np.float32(1), np.float32(2))) == 3.0
