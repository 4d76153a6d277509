"""Compares the speed of gnomon with that of JAX: the same workloads, side by side."""

from __future__ import annotations

import argparse
import fnmatch
import json
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import environments
import report
from report import Samples
from workloads import WORKLOADS, Workload

HERE = Path(__file__).parent
USAGE = """
import resource
usage = resource.getrusage(resource.RUSAGE_SELF)
print(usage.ru_utime + usage.ru_stime, usage.ru_maxrss)
"""
RSS_UNIT = 1 if sys.platform == "darwin" else 1024  # bytes in what getrusage counts


@dataclass(frozen=True)
class Side:
  """One of the two that are compared: an interpreter, and the module to import in it."""

  root: str
  python: Path

  @property
  def variables(self) -> dict[str, str]:
    """The environment variables of its processes: they use the CPU alone."""
    return os.environ | {f"{self.root.upper()}_PLATFORMS": "cpu", "PYTHONHASHSEED": "0"}


Sides = tuple[Side, Side]


class Child:
  """A measuring process, and the conversation with it."""

  def __init__(self, side: Side) -> None:
    self._root = side.root
    self._process = subprocess.Popen(
      [str(side.python), str(HERE / "child.py"), side.root],
      stdin=subprocess.PIPE,
      stdout=subprocess.PIPE,
      text=True,
      bufsize=1,
      env=side.variables,
    )

  def ask(self, request: str) -> dict[str, Any]:
    """Sends a request and waits for its answer."""
    stdin, stdout = self._process.stdin, self._process.stdout
    assert stdin is not None
    assert stdout is not None
    try:
      stdin.write(request + "\n")
      line = stdout.readline()
    except BrokenPipeError:
      line = ""
    if not line:
      sys.exit(
        f"the measuring process of {self._root} ended with status "
        f"{self._process.wait()} at {request!r}; its message stands above"
      )
    answer: dict[str, Any] = json.loads(line)
    return answer

  def close(self) -> None:
    """Ends the process."""
    self._process.communicate()


def order(turn: int) -> tuple[int, int]:
  """Which side goes first: by turns, so that a drift of the machine falls on both."""
  return (0, 1) if turn % 2 == 0 else (1, 0)


def agree(a: object, b: object) -> bool:
  """Whether two results are the same numbers, as far as their magnitudes tell."""
  if not isinstance(a, float) or not isinstance(b, float):
    return a is None and b is None
  return abs(a - b) <= 1e-3 * max(abs(a), abs(b), 1e-6)


def sample_calls(sides: Sides, entries: Sequence[Samples], rounds: int) -> None:
  """Times the workloads in one new process for each side."""
  children = [Child(side) for side in sides]
  for entry in entries:
    name, clock = entry.workload.name, entry.workload.clock
    loaded = [child.ask(f"load {name}") for child in children]
    notes = [
      f"{side.root}: {answer['error']}"
      for side, answer in zip(sides, loaded, strict=True)
      if "error" in answer
    ]
    if not notes and not agree(*(answer["magnitude"] for answer in loaded)):
      notes = [f"results differ: {[answer['magnitude'] for answer in loaded]}"]
    entry.note = "; ".join(notes)
    for turn in range(0 if notes else rounds):
      got = {
        i: children[i].ask(f"sample {name} {loaded[i]['count']}")[clock]
        for i in order(turn)
      }
      entry.pairs.append((got[0], got[1]))
    report.log(entry)
  for child in children:
    child.close()


def run_script(side: Side, workload: Workload) -> float:
  """What a process took: seconds of the processor, or bytes of memory."""
  assert workload.script is not None
  code = re.sub(r"\bROOT\b", side.root, workload.script) + USAGE
  command = [str(side.python), "-c", code]
  done = subprocess.run(
    command, capture_output=True, text=True, check=False, env=side.variables
  )
  if done.returncode:
    raise RuntimeError(f"{side.root}: {done.stderr.strip().splitlines()[-1][:200]}")
  seconds, size = done.stdout.split()[-2:]
  return float(size) * RSS_UNIT if workload.clock == "memory" else float(seconds)


def sample_processes(sides: Sides, entries: Sequence[Samples], rounds: int) -> None:
  """Times whole processes; the first pair only fills the disk's cache."""
  for entry in entries:
    try:
      for turn in range(rounds + 1):
        got = {i: run_script(sides[i], entry.workload) for i in order(turn)}
        if turn:
          entry.pairs.append((got[0], got[1]))
    except RuntimeError as e:
      entry.note = str(e)
    report.log(entry)


def common_versions(sides: Sides) -> dict[str, str]:
  """The versions of what both sides stand on; ends the program where they differ."""
  children = [Child(side) for side in sides]
  a, b = (child.ask("versions") for child in children)
  for child in children:
    child.close()
  if a != b:
    sys.exit(
      "the two environments must have the same Python, jaxlib, NumPy and ml_dtypes, or "
      f"the ratios would say nothing of gnomon:\n  {sides[0].python}: {a}\n"
      f"  {sides[1].python}: {b}"
    )
  return a


def options() -> argparse.ArgumentParser:
  """The command line."""
  parser = argparse.ArgumentParser(description=__doc__)
  parser.add_argument(
    "only",
    nargs="*",
    help="names or patterns of workloads, such as trace.* (default all)",
  )
  parser.add_argument("--list", action="store_true", help="print the workloads and end")
  parser.add_argument("--quick", action="store_true", help="fewer samples: a first look")
  parser.add_argument(
    "--noise", action="store_true", help="compare JAX with itself: how far ratios scatter"
  )
  for name in ("jax", "gnomon"):
    parser.add_argument(
      f"--{name}-python",
      type=Path,
      help=f"an interpreter that has {name}; made in the cache folder if not given",
    )
  parser.add_argument("--cache", type=Path, default=environments.CACHE)
  parser.add_argument("--json", type=Path, help="write the numbers to this file too")
  parser.add_argument("--picture", type=Path, help="draw the ratios into this file too")
  parser.add_argument("--markdown", type=Path, help="write the tables to this file too")
  return parser


def chosen(parser: argparse.ArgumentParser, patterns: Sequence[str]) -> list[Workload]:
  """The workloads that the patterns name; all without any."""
  for pattern in patterns:
    if not fnmatch.filter(WORKLOADS, pattern):
      parser.error(f"no workload is named {pattern!r}; --list prints the names")
  wanted = patterns or ["*"]
  return [w for n, w in WORKLOADS.items() if any(fnmatch.fnmatch(n, p) for p in wanted)]


def sides_of(parser: argparse.ArgumentParser, args: argparse.Namespace) -> Sides:
  """Both sides, whose environments are made where they were not given."""
  for name in ("jax_python", "gnomon_python"):
    path = getattr(args, name)
    if path is not None and not path.exists():
      parser.error(f"argument --{name.replace('_', '-')}: there is no file {str(path)!r}")
  gnomon = args.gnomon_python or environments.gnomon(args.cache)
  jax = Side("jax", args.jax_python or environments.jax(args.cache, gnomon))
  return jax, (jax if args.noise else Side("gnomon", gnomon))


def main(argv: Sequence[str] | None = None) -> None:
  """Measures, and prints the tables."""
  parser = options()
  args = parser.parse_args(argv)
  workloads = chosen(parser, args.only)
  if args.list:
    for workload in workloads:
      print(f"{workload.name:20} {workload.title}")
    return
  sides = sides_of(parser, args)
  versions = common_versions(sides)
  if args.noise:  # what is promised of gnomon does not concern JAX
    workloads = [replace(workload, goal=None) for workload in workloads]
  entries = [Samples(workload) for workload in workloads]
  repetitions, rounds = (1, 5) if args.quick else (3, 9)
  processes = [e for e in entries if e.workload.script is not None]
  calls = [e for e in entries if e.workload.script is None]
  sample_processes(sides, processes, repetitions * rounds // 2)
  for _ in range(repetitions if calls else 0):
    sample_calls(sides, [e for e in calls if not e.note], rounds)
  rows = [report.row(entry) for entry in entries]
  names = (sides[0].root, sides[1].root)
  tables = report.markdown(rows, versions, names, args.picture)
  print(tables)
  if args.markdown:
    args.markdown.write_text(tables)
  if args.picture:
    report.picture(rows, names, args.picture)
  if args.json:
    args.json.write_text(json.dumps(report.data(rows, versions), indent=1) + "\n")


if __name__ == "__main__":
  main()
