"""What the measurements say: medians, ratios, groups; as tables, JSON and a picture."""

from __future__ import annotations

import math
import statistics
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from workloads import Clock, Workload


@dataclass
class Samples:
  """Pairs of measurements of one workload, JAX's first; or why there are none."""

  workload: Workload
  pairs: list[tuple[float, float]] = field(default_factory=list)
  note: str = ""


@dataclass(frozen=True)
class Row:
  """One workload's result; `ratio` below 1 is gnomon being faster or smaller."""

  name: str
  title: str
  clock: Clock
  jax: float | None
  gnomon: float | None
  ratio: float | None
  low: float | None
  high: float | None
  goal: float | None
  note: str

  @property
  def verdict(self) -> str:
    """How the ratio stands to the goal. The quartile decides, as noise is part of it."""
    if self.ratio is None:
      return "failed"
    if self.goal is None:
      return ""
    if self.ratio <= self.goal:
      return "met"
    return "within noise" if self.low is not None and self.low <= self.goal else "missed"


Log = Callable[[Samples], None]


def row(samples: Samples) -> Row:
  """Medians of both sides, and the median and quartiles of the ratios of the pairs."""
  w, pairs = samples.workload, samples.pairs
  if samples.note or len(pairs) < 2:
    note = samples.note or "too few samples"
    return Row(w.name, w.title, w.clock, None, None, None, None, None, w.goal, note)
  ratios = [b / a for a, b in pairs]
  low, middle, high = statistics.quantiles(ratios, n=4, method="inclusive")
  jax, gnomon = (statistics.median(side) for side in zip(*pairs, strict=True))
  return Row(w.name, w.title, w.clock, jax, gnomon, middle, low, high, w.goal, "")


def groups(rows: Iterable[Row]) -> dict[str, float]:
  """The geometric mean of the ratios of each group."""
  ratios: dict[str, list[float]] = {}
  for r in rows:
    if r.ratio is not None:
      ratios.setdefault(r.name.partition(".")[0], []).append(r.ratio)
  return {g: math.exp(statistics.fmean(map(math.log, v))) for g, v in ratios.items()}


def quantity(value: float | None, clock: Clock) -> str:
  """Seconds or bytes with a fitting unit, to three digits."""
  if value is None:
    return "-"
  if clock == "memory":
    return f"{value / 2**20:.0f} MiB"
  for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
    if value >= size:
      return f"{value / size:.3g} {unit}"
  return f"{value / 1e-9:.3g} ns"


def ratio(value: float | None) -> str:
  """A ratio to two digits after the point; three where it is small."""
  return "-" if value is None else f"{value:.3f}" if value < 0.1 else f"{value:.2f}"


def markdown(
  rows: Sequence[Row], versions: dict[str, str], names: tuple[str, str],
  image: Path | None = None,
) -> str:
  """The tables, in Markdown, with the picture if there is one beside them."""
  a, b = names
  common = ", ".join(f"{k} {v}" for k, v in versions.items())
  lines = [
    f"# {b} beside {a}",
    "",
    f"{common}. Ratio: {b} / {a}, the median of pairs; below 1, {b} takes less.",
    "",
    *([f"![The ratios, on a log scale]({image.name})", ""] if image else []),
    "| group | ratio (geometric mean) |",
    "| --- | ---: |",
    *(f"| {group} | {ratio(value)} |" for group, value in groups(rows).items()),
    "",
    f"| workload | clock | {a} | {b} | ratio | quartiles | goal | |",
    "| --- | --- | ---: | ---: | ---: | --- | ---: | --- |",
  ]
  for r in rows:
    quartiles = "-" if r.low is None else f"{ratio(r.low)} to {ratio(r.high)}"
    cells = (
      f"`{r.name}` {r.title}",
      r.clock,
      quantity(r.jax, r.clock),
      quantity(r.gnomon, r.clock),
      ratio(r.ratio),
      quartiles,
      "" if r.goal is None else f"{r.goal:g}",
      f"{r.verdict}: {r.note}" if r.note else r.verdict,
    )
    lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
  return "\n".join(lines) + "\n"


def picture(rows: Sequence[Row], names: tuple[str, str], path: Path) -> None:
  """Draws the ratios of all workloads, with their quartiles and goals, on a log scale.

  Needs matplotlib. What failed has no point.
  """
  import matplotlib.pyplot as plt  # only those who want the picture need it

  shown = [r for r in rows if r.ratio is not None][::-1]
  groups_shown = list(dict.fromkeys(r.name.partition(".")[0] for r in rows))
  figure, axes = plt.subplots(figsize=(8, 1 + 0.22 * len(shown)), layout="tight")
  for y, r in enumerate(shown):
    colour = f"C{groups_shown.index(r.name.partition('.')[0]) % 10}"
    axes.plot([r.low, r.high], [y, y], color=colour, linewidth=3, alpha=0.4)
    axes.plot(r.ratio, y, "o", color=colour, markersize=5)
    if r.goal is not None:
      axes.plot(r.goal, y, "|", color="black", markersize=9)
  axes.axvline(1, color="grey", linewidth=1)
  axes.set_xscale("log")
  axes.set_yticks(range(len(shown)), [r.name for r in shown], fontsize=8)
  axes.set_ylim(-1, len(shown))
  axes.set_xlabel(
    f"{names[1]} / {names[0]}: below 1, {names[1]} takes less (line: quartiles; "
    "bar: goal)")
  axes.grid(visible=True, axis="x", which="both", alpha=0.2)
  figure.savefig(path)
  plt.close(figure)


def data(rows: Sequence[Row], versions: dict[str, str]) -> dict[str, object]:
  """The same, for programs: seconds and bytes."""
  table = [asdict(r) | {"verdict": r.verdict} for r in rows]
  return {"versions": versions, "groups": groups(rows), "workloads": table}


def log(samples: Samples) -> None:
  """Says on the error stream what has just been measured."""
  r = row(samples)
  text = r.note or f"{quantity(r.jax, r.clock)} -> {quantity(r.gnomon, r.clock)}"
  print(f"{r.name:24} {ratio(r.ratio):>6}  {text}", file=sys.stderr, flush=True)
