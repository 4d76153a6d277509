"""Every op of the table under every transformation, and that no primitive is left out."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from gnomon.testing import lax_table, op_checks
from gnomon.testing.op_table import Case, OpRecord, op_table

assert lax_table  # importing it fills the table

ROOT = Path(__file__).parents[3]

# Rules of batching, and what compiling changes, hang on shapes and hardly on dtypes:
# the first dtype of each record stands for all. Formulas of values and of derivatives
# depend on the kind of number, and those checks are cheap.
ALL = op_table.cases()
FIRST = [case for case in ALL if case.dtype == case.record.dtypes[0]]
DIFFERENTIABLE = [case for case in ALL if case.record.order]


@pytest.mark.parametrize("case", ALL, ids=str)
def test_value(case: Case) -> None:
  op_checks.check_value(case)


@pytest.mark.parametrize("case", FIRST, ids=str)
def test_jit(case: Case) -> None:
  op_checks.check_jit(case)


@pytest.mark.parametrize("case", DIFFERENTIABLE, ids=str)
def test_derivatives(case: Case) -> None:
  op_checks.check_derivatives(case)


@pytest.mark.parametrize("case", FIRST, ids=str)
def test_batching(case: Case) -> None:
  op_checks.check_batching(case)


@pytest.mark.parametrize("case", [c for c in FIRST if c.record.order], ids=str)
def test_batched_derivatives(case: Case) -> None:
  op_checks.check_batched_derivatives(case)


@pytest.mark.parametrize(
    "record", [r for r in op_table.records() if r.errors], ids=lambda r: r.name)
def test_errors(record: OpRecord) -> None:
  op_checks.check_errors(record)


def test_no_primitive_is_left_out() -> None:
  # In a process of its own: tests define primitives too.
  code = ("from gnomon.testing import lax_table\n"
          "from gnomon.testing.op_table import op_table\n"
          "print(*op_table.missing_primitives())")
  run = subprocess.run(
      [sys.executable, "-c", code], capture_output=True, text=True, check=True)
  assert run.stdout.split() == []


def test_structured_primitives_have_their_test_files() -> None:
  assert op_table.missing_files(ROOT) == []
