"""Pictures of shardings, and asking for them, on shardings of the tests' own."""

from __future__ import annotations

import sys
from textwrap import dedent
from typing import Any, NamedTuple

import numpy as np
import pytest

import gnomon
from gnomon import debug


class Device(NamedTuple):
  platform: str
  id: int


class Grid:
  """Cuts an array into a grid; parts go to devices in order, `copies` each."""

  def __init__(self, *parts: int, copies: int = 1, platform: str = "cpu") -> None:
    self.parts, self.copies, self.platform = parts, copies, platform

  def devices_indices_map(self, shape: tuple[int, ...]) -> dict[Any, Any]:
    found = {}
    places = list(np.ndindex(*self.parts))
    for k in range(len(places) * self.copies):
      place = places[k % len(places)]
      found[Device(self.platform, k)] = tuple(
          slice(i * n // p, (i + 1) * n // p) if p > 1 else slice(None)
          for i, n, p in zip(place, shape, self.parts, strict=True))
    return found


PICTURES = {
    "one": ((5,), Grid(1), {}, """
        ┌───────┐
        │ CPU 0 │
        └───────┘
        """),
    "scale": ((5,), Grid(1), {"scale": 8.0}, """
        ┌──────────────────────────────────────┐
        │                CPU 0                 │
        └──────────────────────────────────────┘
        """),
    "row": ((16,), Grid(4, platform="tpu"), {}, """
        ┌───────┬───────┬───────┬───────┐
        │ TPU 0 │ TPU 1 │ TPU 2 │ TPU 3 │
        └───────┴───────┴───────┴───────┘
        """),
    "grid": ((8, 8), Grid(2, 2), {}, """
        ┌──────────┬──────────┐
        │          │          │
        │  CPU 0   │  CPU 1   │
        │          │          │
        │          │          │
        ├──────────┼──────────┤
        │          │          │
        │  CPU 2   │  CPU 3   │
        │          │          │
        │          │          │
        └──────────┴──────────┘
        """),
    "replicas": ((8, 8), Grid(1, 2, copies=4), {}, """
        ┌───────────┬───────────┐
        │           │           │
        │           │           │
        │           │           │
        │           │           │
        │CPU 0,2,4,6│CPU 1,3,5,7│
        │           │           │
        │           │           │
        │           │           │
        │           │           │
        └───────────┴───────────┘
        """),
    "rows": ((8, 8), Grid(8, 1), {}, "\n".join([
        "┌───────────────────────┐", "├───────────────────────┤\n".join(
            f"│         CPU {i}         │\n" for i in range(8)) + f"└{'─' * 23}┘", ""])),
    "wide": ((128, 10000), Grid(2, 1), {"scale": 0.4}, "\n".join([
        "┌" + "─" * 78 + "┐", "│" + " " * 36 + "CPU 0" + " " * 37 + "│",
        "├" + "─" * 78 + "┤", "│" + " " * 36 + "CPU 1" + " " * 37 + "│",
        "└" + "─" * 78 + "┘", ""])),
    "narrow": ((4, 4), Grid(1, 2), {"max_width": 11, "scale": 0.4}, """
        ┌────┬────┐
        │CPU │CPU │
        │ 0  │ 1  │
        │    │    │
        └────┴────┘
        """)}


@pytest.mark.parametrize("name", PICTURES)
def test_pictures(capsys: Any, name: str) -> None:
  shape, sharding, options, expected = PICTURES[name]
  debug.visualize_sharding(shape, sharding, **options)
  assert capsys.readouterr().out == dedent(expected).lstrip("\n")


def test_every_device_is_shown_once(capsys: Any) -> None:
  debug.visualize_sharding((64, 64), Grid(8, 8))
  words = capsys.readouterr().out.replace("│", " ").split()
  assert [int(w) for w in words if w.isdigit()] == list(range(64))


def test_colours_on_terminals_only(capsys: Any, monkeypatch: Any) -> None:
  seen = []
  monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
  debug.visualize_sharding(
      (4,), Grid(2), color_map=lambda x: (seen.append(x), (1.0, 0.0, 0.0, 1.0))[1])
  text = capsys.readouterr().out
  assert len(seen) == 2
  assert text.count("\x1b[48;2;255;0;0m") == 2
  debug.visualize_sharding((4,), Grid(2))
  assert "\x1b[48;2;" in capsys.readouterr().out
  debug.visualize_sharding((4,), Grid(2), use_color=False)
  assert "\x1b" not in capsys.readouterr().out


@pytest.mark.parametrize("shape", [(), (2, 2, 2)])
def test_other_ranks(shape: tuple[int, ...]) -> None:
  with pytest.raises(ValueError, match="only works for shapes with 1 and 2 dimensions"):
    debug.visualize_sharding(shape, Grid(*shape))


def test_shardings_of_arrays_and_values(capsys: Any, ops: Any) -> None:
  seen: list[Any] = []

  def f(x: Any) -> Any:
    debug.inspect_array_sharding({"a": [x]}, callback=seen.append)
    return ops.mul(x, x)

  x = gnomon.device_put(np.ones(3, np.float32))
  f(x)
  assert seen.pop() == x.sharding
  for g in (gnomon.jit(f), gnomon.jit(gnomon.vmap(f)), gnomon.jit(
      gnomon.grad(lambda y: ops.sum(f(y))))):
    g(x)
    assert len(seen.pop().device_set) == 1
    g(x)
    assert not seen  # when it is compiled, not when it runs
  debug.visualize_array_sharding(x)
  assert "CPU 0" in capsys.readouterr().out
  text = str(gnomon.make_jaxpr(f)(1.0))
  assert "callback=<built-in method append of list object" in text
