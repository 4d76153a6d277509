"""Random programs: the strategies draw what fits, and the check finds errors."""

from __future__ import annotations

import dataclasses
from typing import Any

import hypothesis
import numpy as np
import pytest
from hypothesis import given

import gnomon
from gnomon import lax
from gnomon.testing.program import Program, Step, Value
from gnomon.testing.programs import check_program, programs

SLOW = hypothesis.settings(
    deadline=None, suppress_health_check=list(hypothesis.HealthCheck))


PARTS, PROGRAMS = 20, 500  # in parts, for processes to share


@pytest.mark.parametrize("part", range(PARTS))
def test_programs_agree_across_transformations(part: int) -> None:
  @hypothesis.seed(part)
  @hypothesis.settings(
      SLOW, max_examples=PROGRAMS // PARTS, derandomize=False, database=None)
  @given(programs(10, 40))
  def check(program: Program) -> None:
    check_program(program)

  check()


@given(programs(5, 12, nested=False, smooth=True))
@hypothesis.settings(SLOW, max_examples=10)
def test_third_derivatives_of_smooth_programs(program: Program) -> None:
  check_program(program, order=3)


@given(programs(3, 8))
@hypothesis.settings(SLOW, max_examples=25)
def test_programs_run_as_they_say(program: Program) -> None:
  flag, *inputs = program.draw_args(1)
  with gnomon.enable_x64(True):
    outs = program(flag, *inputs)
  for i, out in enumerate(outs):
    known = program.result(i)
    assert np.shape(out) == known.shape
    assert np.all(np.abs(out) <= known.bound + 1e-9)
  assert len(str(program).splitlines()) >= len(program.steps) + 2


def broken(run: Any) -> Program:
  step = Step("sin", lambda _, x: run(x), lambda _, x: np.sin(x), (0,), Value((2, 2)))
  return Program((Value((2, 2)),), (step,), (1,))


def test_the_check_finds_what_is_broken() -> None:
  check_program(broken(lax.sin))
  with pytest.raises(AssertionError, match="eager against NumPy"):
    check_program(broken(lax.cos))
  wrong = gnomon.custom_jvp(lax.sin)
  wrong.defjvp(lambda p, t: (lax.sin(*p), lax.mul(t[0], lax.sin(*p))))
  with pytest.raises(AssertionError, match="order 1"):
    check_program(broken(wrong))


def test_programs_at_a_kink_are_passed_over() -> None:
  step = Step("abs", lambda _, x: lax.abs(x), lambda _, x: np.abs(x), (0,), Value((2,)),
              margin=lambda x: 0.0)
  program = Program((Value((2,)),), (step,), (1,))
  with pytest.raises(ValueError, match="try another seed"):
    check_program(program)
  check_program(dataclasses.replace(program, steps=(
      dataclasses.replace(step, margin=lambda x: 1.0),)))
