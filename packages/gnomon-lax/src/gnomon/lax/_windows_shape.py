"""Windows that slide over an array: how many there are, and what pads them."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from operator import index as as_int
from typing import Any, NamedTuple

from gnomon.core.derive import slice_p
from gnomon.core.types import typeof
from gnomon.lax._shape import ints, pad_p

Shape = tuple[int, ...]
Pads = tuple[tuple[int, int], ...]


def dilated(n: int, dilation: int) -> int:
  """The size of `n` elements that stand `dilation` apart."""
  return 0 if n == 0 else (n - 1) * dilation + 1


class Windows(NamedTuple):
  """Windows over all dimensions of an array, or over its spatial ones.

  The fields are named like the params of the primitives that have windows.
  """

  window_dimensions: Shape
  window_strides: Shape
  padding: Pads
  base_dilation: Shape
  window_dilation: Shape

  @property
  def extents(self) -> Shape:
    """The sizes of the windows with their gaps."""
    return tuple(map(dilated, self.window_dimensions, self.window_dilation))

  def base(self, shape: Sequence[int]) -> Shape:
    """The shape of the operand with its gaps, before padding."""
    return tuple(map(dilated, shape, self.base_dilation))

  def counts(self, shape: Sequence[int]) -> Shape:
    """The shape of the result: how many windows fit."""
    return tuple(
        0 if n + low + high < extent else (n + low + high - extent) // stride + 1
        for n, (low, high), extent, stride in zip(
            self.base(shape), self.padding, self.extents, self.window_strides))

  def back(self, shape: Sequence[int]) -> Pads:
    """The padding of the result, spread by the strides, for windows that lead back."""
    out = []
    base, counts = self.base(shape), self.counts(shape)
    spread = map(dilated, counts, self.window_strides)
    for n, (low, _), extent, m in zip(base, self.padding, self.extents, spread):
      before = extent - 1 - low
      out.append((before, n - 1 + extent - m - before))
    return tuple(out)

  def offsets(self) -> Iterator[Shape]:
    """Where the elements of a window stand, in row-major order."""
    return itertools.product(*(
        range(0, n * d, d) for n, d in zip(self.window_dimensions, self.window_dilation)))

  def with_dimension(self, at: int) -> Windows:
    """Windows of size 1 along one more dimension."""
    return self.rearranged(lambda values, one: (*values[:at], one, *values[at:]))

  def rearranged(self, f: Callable[[Any, Any], tuple[Any, ...]]) -> Windows:
    """Applies `f(values, plain)` to each field.

    `plain` is what a dimension without windows has there: 1, or (0, 0) as padding.
    """
    sizes, strides, padding, base, gaps = self
    return Windows(
        f(sizes, 1), f(strides, 1), f(padding, (0, 0)), f(base, 1), f(gaps, 1))


def padded(x: Any, w: Windows, filler: Any) -> Any:
  """The operand with its gaps and its padding, both of the scalar `filler`."""
  config = tuple(
      (low, high, d - 1) for (low, high), d in zip(w.padding, w.base_dilation))
  if all(c == (0, 0, 0) for c in config):
    return x
  return pad_p.apply(x, filler, padding_config=config)[0]


def elements(x: Any, w: Windows, filler: Any) -> list[Any]:
  """The elements of all windows: for each offset, an array in the result's shape."""
  counts = w.counts(typeof(x).shape)
  whole = padded(x, w, filler)
  return [
      slice_p.apply(
          whole, start_indices=at,
          limit_indices=tuple(
              a + dilated(n, s) for a, n, s in zip(at, counts, w.window_strides)),
          strides=w.window_strides)[0]
      for at in w.offsets()]


def padtype_to_pads(
    in_shape: Any, window_shape: Any, window_strides: Any,
    padding: Any) -> list[tuple[int, int]]:
  """The padding that a name stands for, in pairs of sizes before and after.

  `"VALID"` is none. With `"SAME"` there are as many windows as elements, divided by the
  stride and rounded up; an odd element of padding comes after, with `"SAME_LOWER"`
  before.

  Args:
    in_shape: sizes of the array.
    window_shape: sizes of the windows.
    window_strides: steps from one window to the next.
    padding: the name; its case does not matter.

  >>> from gnomon import lax
  >>> lax.padtype_to_pads((8, 9), (3, 3), (2, 2), "SAME")
  [(0, 1), (1, 1)]

  Raises:
    RuntimeError: there is no such name.
    TypeError: the padding is no string.
    ValueError: the sizes differ in number, or a stride is not positive.
  """
  if not isinstance(padding, str):
    raise TypeError(
        "Unknown padding type: padtype_to_pads takes a name, 'VALID', 'SAME' or "
        f"'SAME_LOWER', got {padding!r}")
  name = padding.upper()
  if name not in ("VALID", "SAME", "SAME_LOWER"):
    raise RuntimeError(
        "Unrecognized padding type: expected 'VALID', 'SAME', or 'SAME_LOWER', got "
        f"{padding!r}")
  sizes, window, strides = ints(in_shape), ints(window_shape), ints(window_strides)
  if not len(sizes) == len(window) == len(strides):
    raise ValueError(
        "padtype_to_pads needs a size of the array, a size of the window and a stride "
        f"for each dimension: got {sizes}, {window} and {strides}")
  if any(s < 1 for s in strides):
    raise ValueError(f"window_strides must be positive, got {strides}")
  if name == "VALID":
    return [(0, 0)] * len(sizes)
  pads = []
  for n, k, s in zip(sizes, window, strides):
    total = max((-(-n // s) - 1) * s + k - n, 0)
    less, more = total // 2, total - total // 2
    pads.append((less, more) if name == "SAME" else (more, less))
  return pads


def pairs(padding: Any, name: str) -> Pads:
  """Explicit padding given by the user as pairs of Python integers.

  Raises:
    ValueError: it is no sequence of pairs.
  """
  try:
    return tuple((as_int(low), as_int(high)) for low, high in padding)
  except (TypeError, ValueError):
    raise ValueError(
        f"padding argument to {name} should be a string or a sequence of (low, high) "
        f"pairs, got {padding!r}") from None


def per_dimension(values: Any, n: int) -> Shape:
  """One integer a dimension, given by the user; None for ones."""
  return (1,) * n if values is None else ints(values)


def reduce_window_shape_tuple(
    operand_shape: Sequence[int], window_dimensions: Sequence[int],
    window_strides: Sequence[int], padding: str | Sequence[tuple[int, int]],
    base_dilation: Sequence[int] | None = None,
    window_dilation: Sequence[int] | None = None) -> Shape:
  """The shape of a reduction over windows.

  Args:
    operand_shape: the shape of the operand.
    window_dimensions: sizes of the windows.
    window_strides: steps from one window to the next.
    padding: a name, see `padtype_to_pads`, or pairs of sizes before and after.
    base_dilation: how far the operand's elements are pulled apart.
    window_dilation: how far the elements of a window are.

  >>> from gnomon import lax
  >>> lax.reduce_window_shape_tuple((6, 7), (2, 3), (1, 2), [(0, 0), (1, 1)])
  (5, 4)

  Raises:
    TypeError: an argument is not as long as the shape, or a size is not positive.
  """
  shape = ints(operand_shape)
  return windows_over(
      "reduce_window_shape_tuple", shape, window_dimensions, window_strides, padding,
      base_dilation, window_dilation).counts(shape)


def windows_over(
    name: str, shape: Shape, window_dimensions: Any, window_strides: Any, padding: Any,
    base_dilation: Any, window_dilation: Any) -> Windows:
  """The user's windows over all dimensions of an array, checked."""
  n = len(shape)
  w = Windows(
      ints(window_dimensions), per_dimension(window_strides, n), ((0, 0),) * n,
      per_dimension(base_dilation, n), per_dimension(window_dilation, n))
  check_windows(name, w, shape)
  if isinstance(padding, str):
    pads = padtype_to_pads(w.base(shape), w.extents, w.window_strides, padding)
    return w._replace(padding=tuple(pads))
  w = w._replace(padding=pairs(padding, name))
  check_windows(name, w, shape)
  return w


def check_windows(name: str, w: Windows, shape: Shape) -> None:
  """Raises `TypeError` unless the windows fit an array of a shape, in number and sign."""
  if len(w.window_dimensions) != len(shape):
    raise TypeError(
        f"{name} got the wrong number of window_dimensions for operand: got operand "
        f"shape {shape} with window_dimensions {w.window_dimensions}")
  for field, values in w._asdict().items():
    if len(values) != len(shape):
      raise TypeError(
          f"{name} got inconsistent {field} and window_dimensions: got {field} {values} "
          f"and window_dimensions {w.window_dimensions}")
    if field != "padding" and any(v < 1 for v in values):
      raise TypeError(
          f"{name} {field} must have every element be strictly positive, got {values}")
