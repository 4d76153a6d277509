"""The benchmarks: every workload runs, and the tables say what was measured."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

import gnomon

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "benchmarks"))

import child  # noqa: E402  (programs, not installed modules)
import micro  # noqa: E402
import report  # noqa: E402
import run  # noqa: E402
from workloads import WORKLOADS, Workload  # noqa: E402

CALLS = [name for name, w in WORKLOADS.items() if w.script is None]
SCRIPTS = [name for name, w in WORKLOADS.items() if w.script is not None]
TIMED = Workload("trace.some", "some work", "cpu", goal=0.5)


@pytest.mark.parametrize("name", CALLS)
def test_workload_runs(name: str) -> None:
  build = WORKLOADS[name].build
  assert build is not None
  cpu, wall = child.measure(gnomon, build(gnomon), 1)
  assert cpu >= 0
  assert wall > 0


@pytest.mark.parametrize("name", SCRIPTS)
def test_process_runs(name: str) -> None:
  side = run.Side("gnomon", Path(sys.executable))
  amount = run.run_script(side, WORKLOADS[name])
  assert amount > (2**20 if WORKLOADS[name].clock == "memory" else 0)


@pytest.mark.parametrize("name", micro.STEPS)
def test_step_of_the_core_runs(name: str) -> None:
  assert 0 <= micro.STEPS[name][1]() < 0.01


def test_results_of_both_sides_are_compared() -> None:
  assert run.agree(1.0, 1.0005)
  assert not run.agree(1.0, 1.1)
  assert run.agree(None, None)
  assert not run.agree(None, 1.0)


def test_row_is_the_median_of_pairs() -> None:
  row = report.row(report.Samples(TIMED, [(1.0, 0.5), (2.0, 0.5), (1.0, 9.0)]))
  assert (row.jax, row.gnomon, row.ratio) == (1.0, 0.5, 0.5)
  assert row.verdict == "met"


@pytest.mark.parametrize(
  ("pairs", "verdict"),
  [
    ([(1.0, 0.4)] * 3, "met"),
    ([(1.0, 0.9)] * 3, "missed"),
    ([(1.0, 0.2), (1.0, 0.6), (1.0, 0.7)], "within noise"),
    ([], "failed"),
  ],
)
def test_verdict(pairs: list[tuple[float, float]], verdict: str) -> None:
  assert report.row(report.Samples(TIMED, pairs)).verdict == verdict


def test_groups_have_geometric_means() -> None:
  rows = [report.row(report.Samples(TIMED, [(1.0, x)] * 2)) for x in (0.25, 1.0)]
  assert report.groups(rows) == {"trace": pytest.approx(0.5)}


def test_tables_show_failures_and_units() -> None:
  good = report.row(report.Samples(TIMED, [(2e-3, 1e-6)] * 2))
  bad = report.row(report.Samples(TIMED, note="gnomon: KeyError: 1 | 2"))
  text = report.markdown([good, bad], {"jaxlib": "0"}, ("jax", "gnomon"))
  assert "| 2 ms | 1 µs | 0.001 |" in text
  assert "failed: gnomon: KeyError: 1 \\| 2" in text
  assert json.loads(json.dumps(report.data([good, bad], {})))["workloads"][0]["ratio"]


@pytest.mark.parametrize(
  ("argv", "message"),
  [
    (["nothing"], "no workload is named 'nothing'; --list prints the names"),
    (["--jax-python", "/no/where"], "--jax-python: there is no file '/no/where'"),
  ],
)
def test_bad_arguments_are_explained(
  argv: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
  with pytest.raises(SystemExit):
    run.main(argv)
  assert message in capsys.readouterr().err


def test_list(capsys: pytest.CaptureFixture[str]) -> None:
  run.main(["--list", "trace.*"])
  assert capsys.readouterr().out.split()[0] == "trace.chain"
