"""Where parts of arrays live: asking the compiler, and pictures in text."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from gnomon.core.effects import debug_effect
from gnomon.core.primitive import Primitive
from gnomon.core.rule import (
  batch_rule,
  effects_rule,
  impl_rule,
  jvp_rule,
  lower,
  transpose_rule,
  typing_rule,
)
from gnomon.core.shardings import NamedSharding, spec_in
from gnomon.core.types import physical_aval
from gnomon.runtime import backends
from gnomon.runtime.jaxlib import arrays, programs
from gnomon.tree_util import tree_map

ColorMap = Callable[[float], Sequence[float]]


def inspect_array_sharding(value: Any, *, callback: Callable[[Any], None]) -> None:
  """Calls a function with the shardings of arrays.

  Of a value in a program that is compiled, the function gets the sharding when the
  program is compiled; of an array, at once.

  Args:
    value: a pytree of arrays.
    callback: gets the sharding of each.

  >>> import gnomon
  >>> import gnomon.numpy as jnp
  >>> show = lambda sharding: print(len(sharding.device_set))
  >>> gnomon.debug.inspect_array_sharding(jnp.zeros(3), callback=show)
  1
  """
  tree_map(lambda x: inspect_sharding_p.apply(x, callback=callback), value)


def visualize_array_sharding(arr: Any, **kwargs: Any) -> None:
  """Prints a picture of where the parts of an array live, as `visualize_sharding` does.

  Of a value in a program that is compiled, when the program is compiled.

  >>> import gnomon
  >>> import gnomon.numpy as jnp
  >>> gnomon.debug.visualize_array_sharding(jnp.zeros(3))
  ┌───────┐
  │ CPU 0 │
  └───────┘
  """
  inspect_array_sharding(
      arr, callback=lambda sharding: visualize_sharding(arr.shape, sharding, **kwargs))


def visualize_sharding(
    shape: Sequence[int], sharding: Any, *, use_color: bool = True, scale: float = 1.0,
    min_width: int = 9, max_width: int = 80, color_map: ColorMap | None = None) -> None:
  """Prints a picture of where the parts of an array of a shape live.

  Each part is a box with the numbers of the devices that hold it.

  Args:
    shape: of the whole array, with one or two dimensions.
    sharding: has `devices_indices_map(shape)`.
    use_color: colour the boxes, if the output is a terminal.
    scale: how large the picture is.
    min_width: the least width of a box, with its border.
    max_width: the greatest width of the picture.
    color_map: from a number in [0, 1) to red, green, blue (and perhaps more) in [0, 1].

  Raises:
    ValueError: the array has other than one or two dimensions.
  """
  shape = tuple(shape)
  if len(shape) not in (1, 2):
    raise ValueError(
        "`visualize_sharding` only works for shapes with 1 and 2 dimensions, got the "
        f"shape {shape}")
  boxes = _boxes(shape, sharding)
  colors = _colors(color_map or _wheel) if use_color and sys.stdout.isatty() else None
  lines = _picture(
      boxes, *_sizes(shape, boxes, scale, min_width, max_width), colors)
  sys.stdout.write("\n".join(lines) + "\n")


Boxes = list[list[str]]  # rows of labels


def _boxes(shape: tuple[int, ...], sharding: Any) -> Boxes:
  """The labels of the parts, in the order of their places."""
  held: dict[tuple[int, ...], list[Any]] = {}
  for device, index in sharding.devices_indices_map(shape).items():
    place = tuple(s.start or 0 for s in index)
    held.setdefault(place if len(place) == 2 else (0, *place), []).append(device)
  rows, columns = (sorted({p[d] for p in held}) for d in (0, 1))
  return [[_label(held[r, c]) for c in columns] for r in rows]


def _label(devices: Sequence[Any]) -> str:
  numbers = ",".join(str(i) for i in sorted(d.id for d in devices))
  return f"{devices[0].platform.upper()} {numbers}"


def _sizes(
    shape: tuple[int, ...], boxes: Boxes, scale: float, min_width: int, max_width: int,
) -> tuple[list[int], int]:
  """The widths of the columns and the height of the rows, without borders."""
  n_rows, n_columns = len(boxes), len(boxes[0])
  # A character is 2.5 times as high as it is wide; the picture is ten lines high.
  ratio = (shape[1] if len(shape) == 2 else 1) / max(shape[0], 1)
  width = int(10 * scale * ratio * 2.5 / n_columns)
  height = int(10 * scale / n_rows) if len(shape) == 2 else 1
  labels = [max(len(row[c]) for row in boxes) for c in range(n_columns)]
  widths = [max(width - 2, min_width - 2, n) for n in labels]
  room = max_width - n_columns - 1
  if sum(widths) > room:
    share, rest = divmod(room, n_columns)
    widths = [max(share + (c < rest), 3) for c in range(n_columns)]
  return widths, max(height - 1, 1)


def _picture(
    boxes: Boxes, widths: Sequence[int], height: int, colors: Iterator[str] | None,
) -> list[str]:
  def border(left: str, middle: str, right: str) -> str:
    return left + middle.join("─" * w for w in widths) + right

  lines = [border("┌", "┬", "┐")]
  for i, row in enumerate(boxes):
    if i:
      lines.append(border("├", "┼", "┤"))
    texts = [_wrapped(label, w) for label, w in zip(row, widths)]
    marks = [("", "") if colors is None else (next(colors), "\x1b[0m") for _ in row]
    tall = max(height, *map(len, texts))
    for k in range(tall):
      cells = []
      for text, w, (on, off) in zip(texts, widths, marks):
        at = k - (tall - len(text)) // 2
        inside = text[at] if 0 <= at < len(text) else ""
        left = (w - len(inside)) // 2
        cells.append(f"{on}{' ' * left}{inside}{' ' * (w - left - len(inside))}{off}")
      lines.append("│" + "│".join(cells) + "│")
  lines.append(border("└", "┴", "┘"))
  return lines


def _wrapped(label: str, width: int) -> list[str]:
  """A label in as many lines as it needs."""
  if len(label) <= width:
    return [label]
  lines: list[str] = []
  for word in label.replace(",", ", ").split():
    lines += [word[i:i + width] for i in range(0, len(word), width)]
  return lines


def _wheel(x: float) -> Sequence[float]:
  """Light colours around the wheel; neighbours differ."""
  turn = (x * 7) % 1.0 * 6
  near = 1 - abs(turn % 2 - 1)
  part = [(1, near, 0), (near, 1, 0), (0, 1, near), (0, near, 1), (near, 0, 1),
          (1, 0, near)][int(turn) % 6]
  return [0.45 + 0.5 * p for p in part]


def _colors(color_map: ColorMap) -> Iterator[str]:
  """Escape sequences for backgrounds, with black or white letters."""
  i = 0
  while True:
    r, g, b = (int(255 * c) for c in list(color_map(i * 0.618 % 1.0))[:3])
    letters = 30 if r * 0.3 + g * 0.6 + b * 0.1 > 110 else 97
    yield f"\x1b[{letters}m\x1b[48;2;{r};{g};{b}m"
    i += 1


# ---- the primitive

inspect_sharding_p = Primitive("inspect_sharding", call=True)
typing_rule.define(inspect_sharding_p)(lambda *_, **__: ())
effects_rule.define(inspect_sharding_p)(lambda *_, **__: frozenset({debug_effect}))


@impl_rule.define(inspect_sharding_p)
def _(x: Any, *, callback: Callable[[Any], None]) -> tuple[()]:
  callback(x.sharding)
  return ()


@lower.define(inspect_sharding_p)
def _(ctx: Any, x: Any, *, callback: Callable[[Any], None]) -> tuple[()]:
  if ctx.meshes is None:
    callback(backends.sharding_of(backends.default_device()))
    return ()
  b, meshes, ndim = ctx.b, ctx.meshes, len(physical_aval(ctx.avals_in[0]).shape)

  def found(hlo: Any) -> None:
    mesh = next(iter(meshes))  # is known by the time the program is compiled
    spec = spec_in(hlo, mesh, ndim)
    callback(
        arrays.GSPMDSharding(mesh._internal_device_list, hlo) if spec is None
        else NamedSharding(mesh, spec))

  _asked.append(found)
  b.op("stablehlo.custom_call", [x.type], b.settled([x]), {
      "call_target_name": b.string("InspectSharding"),
      "has_side_effect": b.flag(True), "api_version": b.i32(1),
      "backend_config": b.string(programs.inspection(found))})
  return ()


_asked: list[Any] = []  # the compiler refers to them, whenever a program is compiled


@jvp_rule.define(inspect_sharding_p)
def _(primals: Any, tangents: Any, **params: Any) -> Any:
  return inspect_sharding_p.apply(*primals, **params), ()


@transpose_rule.define(inspect_sharding_p)
def _(cts: Any, args: Any, **_: Any) -> Any:
  return [None]


@batch_rule.define(inspect_sharding_p)
def _(axis: Any, args: Any, dims: Any, **params: Any) -> Any:
  return inspect_sharding_p.apply(*args, **params), ()
