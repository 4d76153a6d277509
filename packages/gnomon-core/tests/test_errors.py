"""The errors: their classes, and messages that name the place and the way out."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gnomon
from gnomon import errors
from gnomon.core.primitive import Primitive
from gnomon.core.rule import typing_rule


class Traced:
  """What an error looks at in a tracer."""

  aval = "float32[3]"

  def _origin_message(self) -> str:
    return "It arose while tracing f at file.py:12 for jit."


TRACED = (
    errors.ConcretizationTypeError, errors.TracerBoolConversionError,
    errors.TracerArrayConversionError, errors.TracerIntegerConversionError,
    errors.NonConcreteBooleanIndexError)


@pytest.mark.parametrize(("error", "bases"), [
    (errors.ConcretizationTypeError, (errors.JAXTypeError, TypeError)),
    (errors.TracerBoolConversionError, (errors.ConcretizationTypeError,)),
    (errors.TracerArrayConversionError, (errors.JAXTypeError,)),
    (errors.TracerIntegerConversionError, (errors.JAXTypeError,)),
    (errors.NonConcreteBooleanIndexError, (errors.JAXIndexError, IndexError)),
    (errors.UnexpectedTracerError, (errors.JAXTypeError,)),
    (errors.KeyReuseError, (errors.JAXTypeError,)),
    (errors.JaxprTypeError, (TypeError,)),
    (errors.JaxRuntimeError, (RuntimeError,)),
    (errors.MissingRuleError, (NotImplementedError,)),
    (errors.InconclusiveDimensionOperation, (Exception,)),
    (errors.SimplifiedTraceback, (Exception,)),
])
def test_classes(error: type[Exception], bases: tuple[type, ...]) -> None:
  assert issubclass(error, bases[0])
  assert all(issubclass(error, base) for base in bases)


@pytest.mark.parametrize("error", TRACED)
def test_messages_name_the_value_the_place_and_the_way_out(
    error: Callable[[Any], Exception]) -> None:
  lines = str(error(Traced())).splitlines()
  assert "traced array with shape float32[3]" in lines[0]
  assert lines[1] == "It arose while tracing f at file.py:12 for jit."
  assert "gnomon.numpy" in lines[-1] or "static" in lines[-1]


@pytest.mark.parametrize("error", TRACED)
def test_messages_of_values_that_say_nothing_of_themselves(
    error: Callable[[Any], Exception]) -> None:
  assert "<thing>" in str(error(type("T", (), {"__repr__": lambda _: "<thing>"})()))


def test_what_asked_for_the_value() -> None:
  message = str(errors.ConcretizationTypeError(Traced(), "float() was called on it"))
  assert "What asked for the value: float() was called on it.\n" in message


@pytest.mark.parametrize(("use", "error", "text"), [
    (lambda x: 1.0 if x else 2.0, errors.TracerBoolConversionError,
     r"Attempted boolean conversion of traced array with shape bool\[\]"),
    (float, errors.ConcretizationTypeError,
     "Abstract tracer value encountered where concrete value is expected"),
    (int, errors.ConcretizationTypeError, "int"),
    (np.sin, errors.TracerArrayConversionError, r"__array__\(\) was called on traced"),
    (lambda x: (1, 2)[x], errors.TracerIntegerConversionError,
     r"__index__\(\) method was called on traced"),
])
def test_traced_values_raise_them(
    use: Callable[[Any], Any], error: type[Exception], text: str) -> None:
  def function_of_user(argument: Any) -> Any:
    return use(argument)

  with pytest.raises(error, match=text) as caught:
    gnomon.jit(function_of_user)(True)
  assert "function_of_user" in str(caught.value)
  assert "argument" in str(caught.value)


def test_leaked_values() -> None:
  kept: list[Any] = []

  @gnomon.jit
  def keep(x: Any) -> Any:
    kept.append(x)
    return x

  keep(1.0)
  with pytest.raises(errors.UnexpectedTracerError, match="Encountered an unexpected tr"):
    gnomon.jit(lambda: kept[0])()


def test_missing_rules() -> None:
  with pytest.raises(errors.MissingRuleError, match="'mystery' is not defined; define"):
    typing_rule[Primitive("mystery")]


def test_errors_with_a_text_can_be_pickled() -> None:
  error = pickle.loads(pickle.dumps(errors.UnexpectedTracerError("leaked")))
  assert type(error) is errors.UnexpectedTracerError
  assert str(error) == "leaked"


@pytest.mark.parametrize("error", [
    e for e in vars(errors).values()
    if isinstance(e, type) and e.__module__ == errors.__name__])
def test_each_error_is_explained(error: type[Exception]) -> None:
  text = error.__doc__
  assert text
  if error not in (errors.JAXTypeError, errors.JAXIndexError):
    assert "Fix: " in text
