"""Runs a library's own tests on gnomon and counts those of them that real JAX passes.

    python suite.py optax                            # on gnomon, beside suites/optax.json
    python suite.py equinox --source DIR             # DIR: a clone of its repository
    python suite.py optax --record                   # in an environment with real JAX
    python suite.py optax -- -k adam                 # a part: what follows -- is pytest's

The record of a library has, for real JAX, the number of tests of each file that pass and
the names of those that do not: what is not named there is expected to pass.
"""

from __future__ import annotations

import argparse
import collections
import importlib.metadata
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).parent
RECORDS = HERE / "suites"
GOAL = 0.97


class Suite(NamedTuple):
  """Where the tests of a library are, below its package or a clone of its repository."""

  distribution: str
  files: tuple[str, ...]  # patterns
  package: str | None = None  # whose folder holds the tests; None: they need a clone
  omitted: tuple[str, ...] = ()  # files that are left out; the guide says why
  own_settings: bool = False  # pytest's settings of the clone are used


SUITES = {
    "optax": Suite("optax", ("**/*_test.py",), "optax"),
    "chex": Suite("chex", ("**/*_test.py",), "chex"),
    "haiku": Suite("dm-haiku", ("**/*_test.py",), "haiku"),
    "jraph": Suite("jraph", ("**/*_test.py",), "jraph"),
    "equinox": Suite("equinox", ("tests/test_*.py",), own_settings=True),
    "jaxtyping": Suite("jaxtyping", ("test/test_*.py",)),
}


class Outcomes:
  """A plugin of pytest: writes what became of each test to a file, a line each.

  Later lines count, so that what was written stands if the process ends early.
  """

  def __init__(self, path: str) -> None:
    self.file = Path(path).open("a")  # noqa: SIM115 -- until the process ends
    self.ended: set[str] = set()

  def write(self, name: str, what: str) -> None:
    """Writes an outcome; what failed or was skipped once stays that."""
    if what != "passed":
      self.ended.add(name)
    elif name in self.ended:
      return
    self.file.write(json.dumps([name, what]) + "\n")
    self.file.flush()

  def pytest_runtest_logreport(self, report: Any) -> None:
    """A test has passed if its call did and neither side of it failed."""
    if report.failed:
      self.write(report.nodeid, "failed")
    elif report.skipped:
      self.write(report.nodeid, "skipped")
    elif report.when == "call" and not hasattr(report, "wasxfail"):
      self.write(report.nodeid, "passed")

  def pytest_collectreport(self, report: Any) -> None:
    """A file that cannot be loaded has failed."""
    if report.failed:
      self.write(report.nodeid, "failed")


def pytest_configure(config: Any) -> None:
  """Where this file is a plugin: registers it, in the process that hears all reports."""
  if not hasattr(config, "workerinput"):
    config.pluginmanager.register(Outcomes(os.environ["SUITE_OUTCOMES"]))


def folder(suite: Suite, source: Path | None) -> Path:
  """What the names of the tests are relative to."""
  if suite.package is None:
    if source is None:
      sys.exit(f"the tests of {suite.distribution} are in its repository only: give a "
               "clone of it, --source DIR")
    return source.resolve()
  found = importlib.util.find_spec(suite.package)
  if found is None or found.origin is None:
    sys.exit(f"{suite.distribution} is not installed here")
  return Path(found.origin).parent.parent


def run(suite: Suite, root: Path, arguments: list[str], *, real: bool) -> dict[str, str]:
  """What became of each test, by its name: passed, failed or skipped."""
  below = root / (suite.package or "")
  paths = sorted({
      str(path.relative_to(root)) for pattern in suite.files
      for path in below.glob(pattern) if path.name not in suite.omitted})
  if not paths:
    sys.exit(f"no file of {suite.files} below {below}")
  settings = [] if suite.own_settings else ["-c", os.devnull, "--rootdir", str(root)]
  alias = [] if real else ["-p", "gnomon.as_jax.pytest"]
  with tempfile.TemporaryDirectory() as place:
    out = Path(place) / "outcomes"
    path = os.pathsep.join(filter(None, [str(HERE), os.environ.get("PYTHONPATH")]))
    env = {**os.environ, "PYTHONPATH": path, "SUITE_OUTCOMES": str(out)}
    env.setdefault("JAX_PLATFORMS", "cpu")
    subprocess.run(
        [sys.executable, "-m", "pytest", *alias, "-p", "suite", *settings, "-q",
         "-p", "no:cacheprovider", "--no-header", "--continue-on-collection-errors",
         *paths, *arguments], cwd=root, env=env, check=False)
    if not out.exists():
      sys.exit("pytest ended before it had run the tests")
    return dict(map(json.loads, out.read_text().splitlines()))


def record(name: str, suite: Suite, outcomes: dict[str, str]) -> None:
  """Writes what real JAX passes."""
  passed = collections.Counter(
      test.partition("::")[0] for test, what in outcomes.items() if what == "passed")
  versions = {d: importlib.metadata.version(d) for d in (suite.distribution, "jax")}
  text = json.dumps({
      "versions": versions,
      "passed": dict(sorted(passed.items())),
      "not passed": sorted(t for t, what in outcomes.items() if what != "passed"),
  }, indent=1)
  (RECORDS / f"{name}.json").write_text(text + "\n")
  print(f"real JAX passes {passed.total()} tests of {len(outcomes)}")


def compare(name: str, outcomes: dict[str, str], *, whole: bool) -> int:
  """Prints gnomon's count beside real JAX's and each miss; 0 if the goal is met."""
  wanted = json.loads((RECORDS / f"{name}.json").read_text())
  recorded = wanted["passed"]  # only files that are in the record count
  outcomes = {t: w for t, w in outcomes.items() if t.partition("::")[0] in recorded}
  excluded = set(wanted["not passed"])
  passed = [t for t, what in outcomes.items() if what == "passed" and t not in excluded]
  missed = sorted(
      t for t, what in outcomes.items() if what != "passed" and t not in excluded)
  for test in missed:
    print(f"missed: {test} ({outcomes[test]})")
  seen = collections.Counter(t.partition("::")[0] for t in passed + missed)
  if whole:
    for path in sorted({*seen, *wanted["passed"]}):
      if seen[path] != (there := wanted["passed"].get(path, 0)):
        print(f"{path}: {there} tests in the record, {seen[path]} here")
  total = sum(wanted["passed"].values()) if whole else len(passed) + len(missed)
  print(f"gnomon {len(passed)} passed of {total} that real JAX passes")
  return int(len(passed) < GOAL * total)


def main() -> int:
  """Runs what the command line asks for."""
  parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
  parser.add_argument("library", choices=SUITES)
  parser.add_argument("--source", type=Path, help="a clone of the library's repository")
  parser.add_argument("--record", action="store_true", help="records real JAX's outcomes")
  parser.add_argument("-n", default="0", help="processes (pytest-xdist), 0 is this one")
  parser.add_argument("part", nargs="*", metavar="-- ARGUMENT", help="for pytest, which "
                      "choose a part of the tests, as -- -k adam")
  options = parser.parse_args()
  suite = SUITES[options.library]
  chosen = ["-n", options.n, *options.part]
  outcomes = run(suite, folder(suite, options.source), chosen, real=options.record)
  if options.record:
    record(options.library, suite, outcomes)
    return 0
  return compare(options.library, outcomes, whole=not options.part)


if __name__ == "__main__":
  sys.exit(main())
