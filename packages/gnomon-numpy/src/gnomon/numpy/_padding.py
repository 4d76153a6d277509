"""`pad`: values around an array, of many kinds."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from gnomon import lax
from gnomon.core.structural import broadcast_in_dim, convert
from gnomon.core.types import typeof
from gnomon.numpy import _promotion
from gnomon.numpy._compiled import compiled, freeze
from gnomon.numpy._promotion import canonical_axis, check_arraylike
from gnomon.numpy._values import is_kind, one_array, scalar, typed

Widths = tuple[tuple[int, int], ...]

# What each mode takes besides.
_KEYWORDS: dict[str, tuple[str, ...]] = {
    "constant": ("constant_values",), "edge": (), "empty": (),
    "linear_ramp": ("end_values",), "maximum": ("stat_length",), "mean": ("stat_length",),
    "median": ("stat_length",), "minimum": ("stat_length",), "reflect": ("reflect_type",),
    "symmetric": ("reflect_type",), "wrap": ()}


def pad(
    array: Any, pad_width: Any, mode: str | Callable[..., Any] = "constant",
    **kwargs: Any) -> Any:
  """Puts values around an array.

  Args:
    array: an array or number.
    pad_width: how many go before and after, along each axis: `((before, after), ...)`, or
      one pair or one integer for all axes, or a dict from axes to those.
    mode: `"constant"` (zeros, or `constant_values`), `"edge"` (the outermost elements),
      `"linear_ramp"` (from them to `end_values`), `"maximum"`, `"mean"`, `"median"`,
      `"minimum"` (of all elements along the axis, or of the `stat_length` nearest),
      `"reflect"` and `"symmetric"` (mirrored without and with the edge; `reflect_type` is
      `"even"` or `"odd"`), `"wrap"` (from the other side), `"empty"` (unspecified), or a
      function `f(row, (before, after), axis, kwargs)` that gives the new row.
    kwargs: those named above; each is one value, a pair, or one pair an axis.

  >>> import gnomon.numpy as gnp
  >>> gnp.pad(gnp.arange(3), (1, 2), mode="edge").tolist()
  [0, 0, 1, 2, 2, 2]

  Raises:
    TypeError: `array` is no array, or the widths are no integers.
    ValueError: a width is negative or one is missing, or a keyword is unknown in the
      mode.
    NotImplementedError: the mode is unknown.
  """
  check_arraylike("pad", array)
  x = one_array("pad", array)
  rank = typeof(x).ndim
  try:
    widths = _widths_once(pad_width, rank)
  except TypeError:  # lists, arrays and dicts have no hash; others raise it again
    widths = _widths(pad_width, rank)
  if callable(mode):
    return _pad_by_function(x, widths, mode, kwargs)
  if mode not in _KEYWORDS:
    raise NotImplementedError(
        f"Unimplemented padding mode '{mode}' for np.pad. There are "
        f"{', '.join(sorted(_KEYWORDS))}")
  unknown = sorted(set(kwargs) - set(_KEYWORDS[mode]))
  if unknown:
    raise ValueError(
        f"pad: unsupported keyword arguments for mode {mode!r}: {', '.join(unknown)}; it "
        f"takes {', '.join(_KEYWORDS[mode]) or 'none'}")
  values = kwargs.get("constant_values", kwargs.get("end_values", 0))
  lengths = kwargs.get("stat_length")
  if lengths is not None:
    lengths = _pairs("stat_length", np.asarray(freeze(lengths)), rank)
    if any(n < 1 for pair in lengths for n in pair):
      raise ValueError(f"pad: stat_length must be positive, got {kwargs['stat_length']}")
  return _pad(x, values, widths, mode, lengths, kwargs.get("reflect_type", "even"))


@functools.lru_cache(1024, typed=True)
def _widths_once(pad_width: Any, rank: int) -> Widths:
  return _widths(pad_width, rank)


def _widths(pad_width: Any, rank: int) -> Widths:
  """One pair of integers an axis."""
  if isinstance(pad_width, dict):
    pairs = [(0, 0)] * rank
    for d, w in pad_width.items():
      pairs[canonical_axis(d, rank, "pad")] = (w, w) if hasattr(w, "__index__") else w
    pad_width = pairs
  given = np.asarray(freeze(pad_width))
  if given.size and given.dtype.kind not in "iu":
    raise TypeError(f"`pad_width` must be of integral type, got {pad_width!r}")
  out: Widths = _pairs("pad_width", given, rank)
  if any(n < 0 for pair in out for n in pair):
    raise ValueError(
        f"pad: index can't contain negative values, got pad_width={pad_width!r}")
  return out


def _pairs(name: str, given: Any, rank: int) -> Any:
  """A number, a pair, or pairs, as one pair an axis."""
  if given.shape not in ((), (1,), (2,), (1, 2), (rank, 2), (1, 1), (rank, 1)):
    raise ValueError(
        f"pad: {name} has the shape {given.shape} for an array of {rank} dimensions: "
        f"give one number, one pair, or {rank} pairs")
  return freeze(np.broadcast_to(given, (rank, 2)))


@compiled(static=("widths", "mode", "lengths", "reflect_type"))
def _pad(
    x: Any, values: Any, widths: Widths, mode: str, lengths: Any,
    reflect_type: str) -> Any:
  if mode == "constant":
    return _pad_constant(x, values, widths)
  if mode == "empty":
    return _pad_constant(x, 0, widths)
  if mode in ("reflect", "symmetric") and reflect_type not in ("even", "odd"):
    raise ValueError(f"pad: reflect_type must be 'even' or 'odd', got {reflect_type!r}")
  ends = _values_of(x, values) if mode == "linear_ramp" else None
  for d, pair in enumerate(widths):
    n = typeof(x).shape[d]
    if pair == (0, 0):
      continue
    if not n:
      raise ValueError(
          f"pad: the axis {d} is empty: mode {mode!r} has no elements to take values "
          "from; only 'constant' and 'empty' pad it")
    if mode == "edge":
      x = _beside(x, d, _repeated(x, 0, pair[0], d), _repeated(x, n - 1, pair[1], d))
    elif mode == "wrap":
      x = _pad_wrap(x, d, pair)
    elif mode in ("reflect", "symmetric"):
      x = _pad_mirror(x, d, pair, mode, reflect_type == "odd")
    elif ends is not None:
      low, high = ends(d)
      x = _beside(
          x, d, _ramp(low, lax.slice_in_dim(x, 0, 1, axis=d), pair[0], d),
          lax.rev(_ramp(high, lax.slice_in_dim(x, n - 1, n, axis=d), pair[1], d), (d,)))
    else:
      x = _pad_statistic(x, d, pair, mode, None if lengths is None else lengths[d])
  return x


def _beside(x: Any, axis: int, before: Any, after: Any) -> Any:
  parts = [p for p in (before, x, after) if typeof(p).shape[axis]]
  return parts[0] if len(parts) == 1 else lax.concatenate(parts, axis)


def _spread(part: Any, count: int, axis: int) -> Any:
  """Repeats a part of size 1 along an axis."""
  old = typeof(part).shape
  return broadcast_in_dim(
      part, (*old[:axis], count, *old[axis + 1:]), tuple(range(len(old))))


def _repeated(x: Any, at: int, count: int, axis: int) -> Any:
  return _spread(lax.slice_in_dim(x, at, at + 1, axis=axis), count, axis)


# ---- constants and ramps


def _values_of(x: Any, values: Any) -> Callable[[int], tuple[Any, Any]]:
  """Constants given as one, a pair, or pairs: the pair of an axis."""
  rank = typeof(x).ndim

  def shape_of(v: Any) -> tuple[int, ...]:
    return (len(v), *shape_of(v[0])) if isinstance(v, (list, tuple)) else typeof(v).shape

  shape = shape_of(values)
  if shape not in ((), (1,), (2,), (1, 2), (rank, 2), (1, 1), (rank, 1)):
    raise ValueError(
        f"pad: values of the shape {shape} for an array of {rank} dimensions: give one, "
        f"one pair, or {rank} pairs")

  def at(v: Any, i: int) -> Any:
    if isinstance(v, (list, tuple)):
      return v[i if len(v) > 1 else 0]
    n = typeof(v).shape[0]
    return lax.index_in_dim(one_array("pad", v), i if n > 1 else 0, keepdims=False)

  def pair(d: int) -> tuple[Any, Any]:
    if not shape:
      row: Any = (values, values)
    else:
      row = at(values, d) if len(shape) > 1 else values
      row = (at(row, 0), at(row, 1))
    dtype = typeof(x).dtype
    return typed("pad", row[0], dtype), typed("pad", row[1], dtype)

  return pair


def _pad_constant(x: Any, values: Any, widths: Widths) -> Any:
  if not isinstance(values, (list, tuple)) and not typeof(values).shape:
    value = _promotion.as_type(values, typeof(x).dtype, typeof(x).weak_type)
    return lax.pad(x, value, [(a, b, 0) for a, b in widths])
  pair = _values_of(x, values)
  for d, (before, after) in enumerate(widths):
    rank = range(len(widths))
    low, high = pair(d)
    x = lax.pad(x, low, [(before, 0, 0) if e == d else (0, 0, 0) for e in rank])
    x = lax.pad(x, high, [(0, after, 0) if e == d else (0, 0, 0) for e in rank])
  return x


def _ramp(end: Any, edge: Any, count: int, axis: int) -> Any:
  """From `end` in equal steps towards `edge`, which is not reached."""
  dtype = typeof(edge).dtype
  if not count:
    return lax.slice_in_dim(edge, 0, 0, axis=axis)
  exact = dtype if is_kind(edge, np.inexact) else np.dtype(np.float32)
  end = typed("pad", end, exact)
  step = lax.div(lax.sub(convert(edge, exact), end), scalar(count, exact))
  place = tuple([count if d == axis else 1 for d in range(typeof(edge).ndim)])
  out = lax.add(end, lax.mul(lax.broadcasted_iota(exact, place, axis), step))
  out = out if is_kind(edge, np.inexact) else lax.floor(out)
  return convert(out, dtype, typeof(edge).weak_type)


# ---- mirrors, wraps, statistics


def _pad_wrap(x: Any, axis: int, pair: tuple[int, int]) -> Any:
  n = typeof(x).shape[axis]
  (left, rest_left), (right, rest_right) = divmod(pair[0], n), divmod(pair[1], n)
  parts = [x] * (left + 1 + right)
  if rest_left:
    parts.insert(0, lax.slice_in_dim(x, n - rest_left, n, axis=axis))
  if rest_right:
    parts.append(lax.slice_in_dim(x, 0, rest_right, axis=axis))
  return lax.concatenate(parts, axis)


def _pad_mirror(x: Any, axis: int, pair: tuple[int, int], mode: str, odd: bool) -> Any:
  """Mirrors at the edges, again and again until there is enough."""
  before, after = pair
  size = typeof(x).shape[axis]
  if mode == "reflect" and size == 1:
    return _beside(x, axis, _repeated(x, 0, before, axis), _repeated(x, 0, after, axis))
  period = size - 1 if mode == "reflect" else size
  skip = 1 if mode == "reflect" else 0
  while before > 0 or after > 0:
    n = typeof(x).shape[axis]
    if before > 0:
      m = min(before, period)
      mirrored = lax.rev(lax.slice_in_dim(x, skip, skip + m, axis=axis), (axis,))
      x = _mirror_join(x, mirrored, 0, axis, odd, first=True)
      before, n = before - m, n + m
    if after > 0:
      m = min(after, period)
      mirrored = lax.rev(lax.slice_in_dim(x, n - skip - m, n - skip, axis=axis), (axis,))
      x = _mirror_join(x, mirrored, n - 1, axis, odd, first=False)
      after -= m
  return x


def _mirror_join(
    x: Any, mirrored: Any, edge: int, axis: int, odd: bool, *, first: bool) -> Any:
  if odd:
    around = _repeated(x, edge, typeof(mirrored).shape[axis], axis)
    mirrored = lax.sub(lax.add(around, around), mirrored)
  return lax.concatenate([mirrored, x] if first else [x, mirrored], axis)


def _pad_statistic(
    x: Any, axis: int, pair: tuple[int, int], mode: str, lengths: Any) -> Any:
  from gnomon.numpy import _quantile, _reductions  # they come after this module
  find: Any = {
      "maximum": _reductions.max, "minimum": _reductions.min, "mean": _reductions.mean,
      "median": _quantile.median}[mode]
  n = typeof(x).shape[axis]
  first, last = (n, n) if lengths is None else (min(lengths[0], n), min(lengths[1], n))

  def value(part: Any) -> Any:
    out = find(part, axis=axis, keepdims=True)
    if is_kind(x, np.integer) and is_kind(out, np.floating):
      out = lax.round(out, lax.RoundingMethod.TO_NEAREST_EVEN)
    return convert(out, typeof(x).dtype)

  low = value(lax.slice_in_dim(x, 0, first, axis=axis) if first < n else x)
  same = first == last == n
  high = low if same else value(
      lax.slice_in_dim(x, n - last, n, axis=axis) if last < n else x)
  return _beside(x, axis, _spread(low, pair[0], axis), _spread(high, pair[1], axis))


def _pad_by_function(
    x: Any, widths: Widths, function: Callable[..., Any], kwargs: dict[str, Any]) -> Any:
  from gnomon.numpy._mapping import apply_along_axis  # it comes after this module
  x = _pad_constant(x, 0, widths)
  for d, pair in enumerate(widths):
    x = apply_along_axis(function, d, x, pair, d, kwargs)
  return x
