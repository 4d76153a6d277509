"""Writing at an index: a new array with some elements changed."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gnomon import config, jit, lax
from gnomon.core import dtypes
from gnomon.core.structural import convert
from gnomon.core.trace import EVAL, get_current
from gnomon.core.types import typeof
from gnomon.lax import GatherScatterMode
from gnomon.numpy._conversion import asarray
from gnomon.numpy._indexing.parse import Entries, parse
from gnomon.numpy._indexing.places import Layout, layout
from gnomon.numpy._indexing.read import FILL, UNKNOWN, index_of, read, static_index
from gnomon.numpy._replay import replaying
from gnomon.runtime.jaxlib import arrays

Array = arrays.Array
_SCATTER: dict[str, Callable[..., Any]] = {
    "set": lax.scatter, "add": lax.scatter_add, "subtract": lax.scatter_sub,
    "multiply": lax.scatter_mul, "min": lax.scatter_min, "max": lax.scatter_max}
_COMBINE: dict[str, Callable[..., Any]] = {
    "set": lambda old, new: new, "add": lax.add, "subtract": lax.sub, "multiply": lax.mul,
    "min": lax.min, "max": lax.max}


def update(
    op: str, x: Any, index: Any, values: Any, mode: Any, is_sorted: bool, unique: bool,
    wrap: bool) -> Any:
  """`x` with `values` combined into the elements at an index.

  Raises:
    ValueError: `values` cannot be broadcast to the elements, or the mode is unknown.
    TypeError: `values` are no array.
  """
  aval = typeof(x)
  values = _as_values(values, aval.dtype)
  _warn_unsafe(aval, values)
  how = FILL if mode is None else usable(mode)
  if type(index) is not tuple and _is_simple_mask(index, aval, values):
    return _masked_update(op, x, index, values)
  trace = get_current()
  if trace is not EVAL:
    known = static_index(index)
    if known is not UNKNOWN:
      return _again(trace, (x, values, op, known, how, is_sorted, unique, wrap), {})
  entries, numbers = parse(index, aval.shape, wrap)
  if trace is EVAL:
    return _program(op, entries, how, is_sorted, unique, x, values, *numbers)
  return write(op, x, values, entries, numbers, how, is_sorted, unique)


def _write_known(
    x: Any, values: Any, op: str, known: Any, how: Any, is_sorted: bool, unique: bool,
    wrap: bool) -> Any:
  entries, numbers = parse(index_of(known), typeof(x).shape, wrap)
  return write(op, x, values, entries, numbers, how, is_sorted, unique)


_again = replaying(_write_known)


def usable(mode: Any) -> GatherScatterMode:
  """The mode that a user names.

  Raises:
    ValueError: there is no such mode.
  """
  return GatherScatterMode.from_any(mode)


def _as_values(values: Any, dtype: Any) -> Any:
  """Values as an array or number; large integers in the dtype of the array at once."""
  if type(values) is int and not -2**31 <= values < 2**31 and isinstance(dtype, np.dtype):
    return np.asarray(values).astype(dtype)
  if isinstance(values, (bool, int, float, complex)) or type(values) is Array:
    return values
  return values if isinstance(values, np.ndarray) and values.dtype.kind in "biufc" else (
      asarray(values))


def _converted(values: Any, dtype: Any) -> Any:
  """Values in a dtype; numbers become constants, weakness stays as it is."""
  if isinstance(values, (bool, int, float, complex)) and isinstance(dtype, np.dtype):
    complex_lost = isinstance(values, complex) and not dtypes.issubdtype(
        dtype, np.complexfloating) and dtype != np.bool_
    return np.asarray(values.real if complex_lost else values).astype(dtype)[()]
  return values if typeof(values).dtype == dtype else convert(values, dtype)


def _warn_unsafe(x: Any, values: Any) -> None:
  """Warns where values lose their kind, as 1.5 among integers."""
  if getattr(values, "dtype", None) == x.dtype:
    return
  if dtypes.result_type(x, values) == x.dtype:  # which may raise
    return
  own = typeof(values).dtype
  warnings.warn(
      f"scatter inputs have incompatible types: cannot safely cast value from "
      f"dtype={own} to dtype={x.dtype} with jax_numpy_dtype_promotion="
      f"{config.read('jax_numpy_dtype_promotion')}. Convert it explicitly, with "
      f"values.astype(x.dtype): this will be an error.", FutureWarning, stacklevel=4)


def _write(
    op: str, entries: Entries, mode: Any, is_sorted: bool, unique: bool, x: Any,
    values: Any, *numbers: Any) -> Any:
  return write(op, x, values, entries, numbers, mode, is_sorted, unique)


_program = jit(_write, static_argnums=(0, 1, 2, 3, 4))


def write(
    op: str, x: Any, values: Any, entries: Entries, numbers: Sequence[Any],
    mode: GatherScatterMode, is_sorted: bool = False, unique: bool = False) -> Any:
  """`x` with values combined into the elements at a parsed index."""
  aval = typeof(x)
  wide = _wide_dtype(op, aval, values)
  if wide != aval.dtype:  # combined there, and only then converted
    out = write(op, convert(x, wide), values, entries, numbers, mode, is_sorted, unique)
    return convert(out, aval.dtype, aval.weak_type)
  values = _converted(values, aval.dtype)
  if all(e is None or e in (":", "n", ".") or (type(e) is tuple and abs(e[1]) == 1)
         for e in entries):
    return _write_window(op, x, values, entries, numbers)
  p = layout(x, entries, numbers)
  values = fitted(values, p)
  if math.prod(p.shape) == 0:
    return x
  if p.vectors is None:
    return _write_everything(op, x, values, p)
  single = p.single
  return _SCATTER[op](
      x, p.vectors, values, lax.ScatterDimensionNumbers(p.window, p.collapsed, p.map),
      indices_are_sorted=is_sorted or single, unique_indices=unique or single, mode=mode)


def _wide_dtype(op: str, x: Any, values: Any) -> Any:
  """The dtype in which values are combined with elements of `x`."""
  if op == "set":
    return x.dtype
  try:
    return dtypes.canonicalize_dtype(
        dtypes.result_type(x, values), allow_extended_dtype=True)
  except dtypes.TypePromotionError:
    return x.dtype


def fitted(values: Any, p: Layout) -> Any:
  """Values broadcast to the elements at an index, in the order that a scatter takes.

  Raises:
    ValueError: they cannot be broadcast.
  """
  s, full = typeof(values).shape, p.full_shape
  n = len(full) - len(s)
  if n < 0 or any(a not in (1, b) for a, b in zip(s, full[max(n, 0):])):
    raise ValueError(
        f"values of shape {s} cannot be broadcast to the shape {full} of the elements at "
        "the index")
  gone = [d - n for d in p.new if d >= n]
  values = lax.squeeze(values, gone) if gone else values
  s = typeof(values).shape
  if s != p.shape:
    values = lax.broadcast_in_dim(
        values, p.shape, tuple(range(len(p.shape) - len(s), len(p.shape))))
  return lax.rev(values, p.reversed) if p.reversed else values


def _write_window(
    op: str, x: Any, values: Any, entries: Entries, numbers: Sequence[Any]) -> Any:
  """A write to one window that lies inside: it is sliced out, combined, put back."""
  shape = typeof(x).shape
  starts: list[Any] = []
  sizes: list[int] = []
  number = iter(numbers)
  for e in entries:
    if e is None or e == ".":
      continue
    starts.append(0 if e == ":" else next(number))
    sizes.append(shape[len(sizes)] if e == ":" else 1 if e == "n" else e[0])
  values = fitted(values, layout_of_window(shape, entries))
  if math.prod(sizes) == 0:
    return x
  if op != "set":
    straight = tuple([
        (e[0], 1) if type(e) is tuple else e for e in entries if e is not None])
    values = _COMBINE[op](read(x, straight, numbers), values)
  values = lax.reshape(values, sizes)
  if tuple(sizes) == shape:
    return convert(values, typeof(x).dtype, typeof(x).weak_type)
  return lax.dynamic_update_slice(x, values, starts, allow_negative_indices=False)


def layout_of_window(shape: Sequence[int], entries: Entries) -> Layout:
  """The shape of the elements in one window, as far as `fitted` asks."""
  out: list[int] = []
  new: list[int] = []
  backwards: list[int] = []
  d = 0
  for e in entries:
    if e is None:
      new.append(len(out) + len(new))
    elif e != ".":
      if e == ":":
        out.append(shape[d])
      elif type(e) is tuple:
        if e[1] < 0:
          backwards.append(len(out))
        out.append(e[0])
      d += 1
  return Layout(tuple(out), (), tuple(backwards), (), (), tuple(new), None, (), True)


def _write_everything(op: str, x: Any, values: Any, p: Layout) -> Any:
  """A write by the indices True alone: the elements are all of `x`."""
  aval = typeof(x)
  done = _COMBINE[op](x, lax.reshape(values, aval.shape))
  return convert(done, aval.dtype, aval.weak_type)


# ---- masks


def _is_simple_mask(index: Any, x: Any, values: Any) -> bool:
  """Whether an index is one known mask, and values do not run along its elements."""
  if getattr(index, "dtype", None) != np.bool_ or not index.ndim:
    return False
  if not isinstance(index, (np.ndarray, Array)) or index.shape != x.shape[:index.ndim]:
    return False
  s = np.shape(values)
  rest = x.shape[index.ndim:]
  return len(s) <= len(rest) and all(
      a in (1, b) for a, b in zip(s, rest[len(rest) - len(s):]))


def _select(op: str, x: Any, mask: Any, values: Any) -> Any:
  aval = typeof(x)
  wide = _wide_dtype(op, aval, values)
  if wide != aval.dtype:
    done = _select(op, convert(x, wide), mask, values)
    return convert(done, aval.dtype, aval.weak_type)
  values = _converted(values, aval.dtype)
  s = typeof(values).shape
  values = lax.broadcast_in_dim(
      values, aval.shape, tuple(range(aval.ndim - len(s), aval.ndim)))
  if typeof(mask).ndim < aval.ndim:
    mask = lax.broadcast_in_dim(mask, aval.shape, tuple(range(typeof(mask).ndim)))
  done = lax.select_n(mask, x, _COMBINE[op](x, values))
  return convert(done, aval.dtype, aval.weak_type)


_select_program = jit(_select, static_argnums=0)


def _masked_update(op: str, x: Any, mask: Any, values: Any) -> Any:
  return (_select_program if get_current() is EVAL else _select)(op, x, mask, values)
