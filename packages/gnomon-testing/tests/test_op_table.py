"""The table of ops: its format, its bookkeeping, and that its checks find errors."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gnomon
from gnomon import lax
from gnomon.testing import op_checks
from gnomon.testing.op_table import (
  Case,
  ErrorCase,
  Operand,
  OpRecord,
  OpTable,
  Sample,
  elementwise_samples,
)

SINE = OpRecord("sin", lax.sin, np.sin, elementwise_samples(1),
                ("float32", "float64", "bfloat16", "complex64"))
CHECKS = [
    op_checks.check_value, op_checks.check_jit, op_checks.check_derivatives,
    op_checks.check_batching, op_checks.check_batched_derivatives]


def case_of(record: OpRecord, dtype: str = "float32") -> Case:
  return Case(record, record.samples[-1], dtype)


@pytest.mark.parametrize("dtype", SINE.dtypes)
@pytest.mark.parametrize("check", CHECKS)
def test_a_right_op_passes(check: Any, dtype: str) -> None:
  check(case_of(SINE, dtype))


def test_wrong_values_and_dtypes_are_found() -> None:
  with pytest.raises(AssertionError, match="sin-2_3-float32: 6 of 6 elements differ"):
    op_checks.check_value(case_of(dataclasses.replace(SINE, reference=np.cos)))
  with pytest.raises(AssertionError, match="should have bool"):
    op_checks.check_value(case_of(dataclasses.replace(SINE, result_dtype="bool")))


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])
def test_wrong_derivatives_are_found(dtype: str) -> None:
  wrong = gnomon.custom_jvp(lax.sin)
  # Right in single precision, where half precision is compared with it.
  wrong.defjvp(lambda p, t: (lax.sin(*p), (
      lax.mul(t[0], lax.cos(*p)) if (dtype, str(p[0].dtype)) == ("bfloat16", "float32")
      else lax.mul(t[0], lax.sin(*p)))))
  with pytest.raises(AssertionError, match="derivative"):
    op_checks.check_derivatives(case_of(dataclasses.replace(SINE, op=wrong), dtype))


def test_errors_are_checked() -> None:
  def add(x: Any, y: Any) -> Any:
    if np.shape(x) != np.shape(y):
      raise TypeError("shapes differ")
    return lax.add(x, y)

  def record(error: type[Exception], match: str, shape: tuple[int, ...]) -> OpRecord:
    case = ErrorCase(lambda: (np.ones(2), np.ones(shape)), error, match)
    return OpRecord("add", add, np.add, elementwise_samples(2), errors=(case,))

  op_checks.check_errors(record(TypeError, "shapes", (3,)))
  with pytest.raises(AssertionError, match="should match 'sizes'"):
    op_checks.check_errors(record(TypeError, "sizes", (3,)))
  with pytest.raises(AssertionError, match="did not fail"):
    op_checks.check_errors(record(TypeError, "shapes", (2,)))
  with pytest.raises(TypeError):
    op_checks.check_errors(record(ValueError, "shapes", (3,)))


def test_operands_are_drawn_alike_in_every_process() -> None:
  case = case_of(SINE)
  np.testing.assert_array_equal(case.args()[0], case.args()[0])
  assert not np.array_equal(case.args(0)[0], case.args(1)[0])
  assert case.args()[0].dtype == np.float32
  assert case.args()[0].shape == (2, 3)
  assert case_of(SINE, "bfloat16").args()[0].dtype.name == "bfloat16"


@pytest.mark.parametrize("dtype", ["int32", "uint8", "float32", "complex64", "bool"])
def test_operands_stay_in_their_range(dtype: str) -> None:
  x = Operand((50,), -1, 3).draw(np.random.default_rng(0), dtype)
  assert x.dtype == dtype
  assert np.all(x.real >= (0 if dtype in ("uint8", "bool") else -1))
  assert np.all(x.real <= 3)


def test_distinct_operands_have_no_ties() -> None:
  x = Operand((3, 5), distinct=True).draw(np.random.default_rng(0), "float32")
  assert np.min(np.diff(np.sort(x.ravel()))) > 0.2


def test_the_table_keeps_names_apart() -> None:
  table = OpTable()
  table.add(SINE)
  with pytest.raises(ValueError, match="already has a record for 'sin'"):
    table.add(SINE)
  with pytest.raises(ValueError, match="no samples"):
    table.add(dataclasses.replace(SINE, name="none", samples=()))
  assert table["sin"] is SINE
  assert table.records() == (SINE,)
  assert len(table.cases()) == 8
  assert [str(c) for c in table.cases(dtypes=["bfloat16"])] == [
      "sin-scalar-bfloat16", "sin-2_3-bfloat16"]
  assert table.cases(only=lambda record: record.order == 0) == []


def test_primitives_without_a_record_are_listed() -> None:
  table = OpTable()
  before = table.missing_primitives()
  assert {"sin", "cos"} <= set(before)
  table.add(SINE)
  table.structured("tests/test_cos.py", "cos")
  assert set(before) - set(table.missing_primitives()) == {"sin", "cos"}
  with pytest.raises(ValueError, match="already tested in"):
    table.structured("tests/test_other.py", "cos")
  assert table.missing_files(Path(__file__).parent) == ["tests/test_cos.py"]
  assert table.missing_files(Path(__file__).parents[1]) == ["tests/test_cos.py"]


def test_samples_are_named_by_their_shapes() -> None:
  assert str(Sample((Operand((2, 3)), Operand(())))) == "2_3xscalar"
  assert str(Sample((Operand((2,)),), label="pair")) == "pair"
