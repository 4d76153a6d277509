"""Equations know the line of the user's operation that they come from."""

from __future__ import annotations

import inspect
import linecache
from typing import Any

import numpy as np
import pytest

import gnomon
from gnomon.core import source
from gnomon.core.jaxpr import eval_jaxpr


def lines(jaxpr: Any) -> dict[str, set[str]]:
  """By primitive, the text of the lines that its equations come from."""
  found: dict[str, set[str]] = {}
  for e in jaxpr.eqns:
    frame = source.user_frames(e.source)[0]
    text = linecache.getline(frame.file_name, frame.line_num).strip()
    found.setdefault(e.primitive.name.removeprefix("test_"), set()).add(text)
  return found


def program(ops: Any, x: Any) -> Any:
  y = ops.sin(x)
  return ops.mul(y, x)


SIN, MUL = (line.strip() for line in inspect.getsource(program).splitlines()[1:3])


def test_operations_of_a_gradient_come_from_the_lines_of_the_function(ops: Any) -> None:
  def gradient(x: Any) -> Any:
    return gnomon.grad(lambda x: program(ops, x))(x)

  found = lines(gnomon.make_jaxpr(gradient)(np.float32(1)).jaxpr)
  assert found["cos"] == {SIN}
  assert found["mul"] == {SIN, MUL}


def test_operations_of_a_program_that_runs_again_keep_their_lines(ops: Any) -> None:
  closed = gnomon.make_jaxpr(lambda x: program(ops, x))(np.float32(1))
  again = gnomon.make_jaxpr(
      lambda x: eval_jaxpr(closed.jaxpr, closed.consts, x))(np.float32(1))
  assert lines(again.jaxpr) == lines(closed.jaxpr) == {"sin": {SIN}, "mul": {MUL}}


def test_a_line_is_forgotten_with_the_operation(ops: Any) -> None:
  def broken(x: Any) -> Any:
    with pytest.raises(TypeError):
      gnomon.grad(lambda x: ops.mul(x, "text"))(x)
    return ops.sin(x)

  found = lines(gnomon.make_jaxpr(broken)(np.float32(1)).jaxpr)
  assert found["sin"] == {"return ops.sin(x)"}


@pytest.mark.parametrize("names", [(), ("outer",)])
def test_here_has_the_names_in_force(names: tuple[str, ...]) -> None:
  token = source.name_stack.set(names)
  try:
    found = source.here()
  finally:
    source.name_stack.reset(token)
  assert getattr(found, "names", ()) == names
