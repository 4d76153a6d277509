"""How far results are from the exact ones, in units of the last place.

`python tools/accuracy.py [NAME...] [--jax-python PYTHON]` evaluates the functions of
`tools/accuracy_cases.py` under gnomon, and under JAX where a Python that has it is given,
and prints a table; `--write` puts it into the manual. Exact values are kept in a folder,
since `mpmath` takes minutes for all of them.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib
import pathlib
import pickle
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
  from accuracy_cases import Case

ROOT = pathlib.Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "reference" / "accuracy.md"
DTYPES = (np.float32, np.float64)
DIGITS = 50
PATIENCE = 150.0  # seconds for a call, with its compilation


Calls = dict[str, tuple[str, Sequence[Any]]]


def evaluate(root: str, calls: Calls) -> Iterator[tuple[str, Any]]:
  """The values of calls, with their keys, under the library of that name."""
  frame = importlib.import_module(root)
  names = {
      "lax": importlib.import_module(f"{root}.lax"),
      "special": importlib.import_module(f"{root}.scipy.special"),
      "numpy": importlib.import_module(f"{root}.numpy")}

  def function(expression: str) -> Any:
    return lambda *args: eval(  # noqa: S307
        expression, names, {"args": args, **dict(zip("xyzw", args, strict=False))})

  with frame.enable_x64(True):
    for key, (expression, args) in calls.items():
      yield key, np.asarray(frame.jit(function(expression))(*args))


def evaluate_apart(
    python: str, root: str, calls: Calls, patience: float) -> dict[str, Any]:
  """The same in a process of another Python, without the calls that do not end.

  Args:
    python: its path.
    root: the library.
    calls: what to evaluate.
    patience: seconds for a call; the process is then ended, and begun after that call.
  """
  left, found = dict(calls), {}
  while left:
    with tempfile.TemporaryDirectory() as folder:
      given = pathlib.Path(folder) / "given.pickle"
      given.write_bytes(pickle.dumps(left))
      child = subprocess.Popen([python, __file__, "--evaluate", root, folder])
      for index, key in enumerate(list(left)):
        if not _wait(child, pathlib.Path(folder) / f"{index}.npy", patience):
          if child.poll() is not None:
            raise RuntimeError(f"{key} failed under {root}: see above")
          child.kill()
          print(f"{key} did not end under {root}", file=sys.stderr)
          del left[key]
          break
        found[key] = np.load(pathlib.Path(folder) / f"{index}.npy")
        del left[key]
      child.wait()
  return found


def _wait(child: subprocess.Popen[bytes], path: pathlib.Path, patience: float) -> bool:
  """Whether a file came before the time was over or the process ended."""
  end = time.monotonic() + patience
  while not path.exists():
    if time.monotonic() > end or child.poll() is not None:
      return path.exists()
    time.sleep(0.2)
  return True


def evaluate_file(root: str, folder: str) -> None:
  """What the other process does: a file for each call, when it is there."""
  place = pathlib.Path(folder)
  calls = pickle.loads((place / "given.pickle").read_bytes())  # noqa: S301
  for index, (_, value) in enumerate(evaluate(root, calls)):
    np.save(place / "part.npy", value)
    (place / "part.npy").rename(place / f"{index}.npy")


def exact(case: Case, args: Sequence[Any], cache: pathlib.Path | None) -> Any:
  """The exact values, each as a double and the rest that it leaves."""
  import mpmath

  stamp = hashlib.sha256(
      repr((case.name, DIGITS)).encode() + b"".join(a.tobytes() for a in args))
  path = None if cache is None else cache / f"{stamp.hexdigest()[:24]}.npy"
  if path is not None and path.exists():
    return np.load(path)
  found = np.empty((2, len(args[0])))
  with mpmath.workdps(DIGITS):
    for i, point in enumerate(zip(*args, strict=True)):
      value = mpmath.mpf(case.exact(*[mpmath.mpf(float(v)) for v in point]))
      found[0, i] = float(value)
      found[1, i] = float(value - found[0, i]) if np.isfinite(found[0, i]) else 0
  if path is not None:
    path.parent.mkdir(parents=True, exist_ok=True)
    np.save(path, found)
  return found


def ulps(got: Any, exactly: Any, dtype: Any, least: float = 0.0) -> Any:
  """The errors in units of the last place of the exact value, or of `least` if larger.

  Where the exact value is below the normal numbers of the dtype, or above its numbers,
  only a result that is neither that nor 0, or inf, counts.
  """
  info = np.finfo(dtype)
  high, low = exactly
  got = got.astype(np.float64)
  with np.errstate(all="ignore"):
    size = np.maximum(np.abs(high), least)
    exponent = np.clip(np.frexp(size)[1], info.minexp + 1, info.maxexp)
    unit = np.ldexp(1.0, exponent - info.nmant - 1)
    off = np.abs((got - high) - low) / unit
  small = (np.abs(high) < info.tiny) & (np.abs(got) <= info.tiny)
  most = float(info.max)
  over = (np.abs(high) >= most) & (np.abs(got) >= most) & (np.sign(high) == np.sign(got))
  off = np.where(small | over, 0, off)
  return np.where(np.isnan(off), np.inf, off)


@dataclass(frozen=True)
class Worst:
  """The largest error of a function, and where it is; -1 if it did not end."""

  error: float
  where: tuple[float, ...]


def worst(got: Any, exactly: Any, args: Sequence[Any], dtype: Any, least: float) -> Worst:
  """The largest of the errors."""
  off = ulps(got, exactly, dtype, least)
  i = int(np.argmax(off))
  return Worst(float(off[i]), tuple(float(a[i]) for a in args))


def measure(
    cases: Sequence[Case], pythons: dict[str, str], share: float = 1.0,
    cache: pathlib.Path | None = None) -> dict[tuple[str, str, str], Worst]:
  """The worst point by function, dtype and library; `pythons` gives each library's."""
  args = {
      (c.name, np.dtype(d).name): c.points(d, share) for c in cases for d in DTYPES}
  calls: Calls = {
      f"{c.name}|{np.dtype(d).name}": (c.expression, args[c.name, np.dtype(d).name])
      for c in cases for d in DTYPES}
  values = {
      root: evaluate_apart(python, root, calls, PATIENCE) if python
      else dict(evaluate(root, calls)) for root, python in pythons.items()}
  found = {}
  for case in cases:
    for dtype in DTYPES:
      key = case.name, np.dtype(dtype).name
      exactly = exact(case, args[key], cache)
      for root in pythons:
        got = values[root].get("|".join(key))
        if got is None:
          found[*key, root] = Worst(-1.0, ())
          continue
        found[*key, root] = worst(got, exactly, args[key], dtype, case.least)
  return found


def _name(case: Case) -> str:
  if not case.least:
    return f"`{case.name}`"
  return f"`{case.name}` (below {case.least:g}: absolute)"


def _number(x: float) -> str:
  if x < 0:
    return "no end"
  if not np.isfinite(x):
    return "wrong"
  if x >= 1e6:
    return f"{x:.0e}".replace("e+0", "e").replace("e+", "e")
  return f"{x:.1f}" if x < 10 else f"{x:.0f}"


def table(
    cases: Sequence[Case], found: dict[tuple[str, str, str], Worst],
    roots: Sequence[str]) -> str:
  """The results as Markdown."""
  head = [f"{np.dtype(d).name} {r}" for d in DTYPES for r in roots]
  lines = [
      f"| function | {' | '.join(head)} | worst points of {roots[0]} |",
      "|---" * (len(head) + 2) + "|"]
  for case in cases:
    name = case.name
    cells = [
        _number(found[name, np.dtype(d).name, r].error) for d in DTYPES for r in roots]
    where = "; ".join(
        ", ".join(f"{v:.6g}" for v in found[name, np.dtype(d).name, roots[0]].where)
        for d in DTYPES)
    lines.append(f"| {_name(case)} | {' | '.join(cells)} | {where} |")
  return "\n".join(lines)


def write(text: str) -> None:
  """Puts the table between the marks of the page."""
  page = PAGE.read_text()
  marks = r"(<!-- table -->\n).*?(<!-- end of table -->)"
  whole = re.sub(marks, lambda m: f"{m[1]}\n{text}\n\n{m[2]}", page, flags=re.DOTALL)
  PAGE.write_text(whole)


def main(arguments: Sequence[str]) -> None:
  """The command line."""
  parser = argparse.ArgumentParser(description=__doc__)
  parser.add_argument("names", nargs="*", help="only these: sin, lax.sin")
  parser.add_argument("--jax-python", help="a Python that has JAX, to stand beside")
  parser.add_argument("--share", type=float, default=1.0, help="of the points")
  parser.add_argument(
      "--cache", type=pathlib.Path, help="a folder that keeps exact values",
      default=pathlib.Path(tempfile.gettempdir()) / "accuracy")
  parser.add_argument("--write", action="store_true", help="into the page of the manual")
  chosen = parser.parse_args(arguments)
  from accuracy_cases import LAX, SPECIAL

  cases = [
      c for c in [*LAX, *SPECIAL]
      if not chosen.names or not {*c.name.split()[0].split("."), c.name}.isdisjoint(
          chosen.names)]
  pythons = {"gnomon": ""}
  if chosen.jax_python:
    pythons["jax"] = chosen.jax_python
  found = measure(cases, pythons, chosen.share, chosen.cache)
  text = table(cases, found, list(pythons))
  print(text)
  if chosen.write:
    write(text)


if __name__ == "__main__":
  if sys.argv[1:2] == ["--evaluate"]:
    evaluate_file(*sys.argv[2:4])
  else:
    main(sys.argv[1:])
