"""Choosing elements by conditions: `where`, `select`, `nonzero` and their like."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gnomon import lax
from gnomon.api.vmap import vmap
from gnomon.core import dtypes
from gnomon.core.structural import convert, select_n
from gnomon.core.trace import EVAL, get_current
from gnomon.core.types import typeof
from gnomon.numpy._compiled import compiled
from gnomon.numpy._conversion import on_device
from gnomon.numpy._promotion import (
  broadcast_shapes,
  canonical_axis,
  check_arraylike,
  promote_dtypes,
)
from gnomon.numpy._values import (
  array_of,
  arrays_of,
  concrete,
  is_concrete,
  one_array,
  refuse_out,
  spread,
  take_rows,
)

_HINT = "Give the number of elements with size=."


def truth(x: Any) -> Any:
  """Whether elements differ from zero; bools as they are."""
  aval = typeof(x)
  if aval.dtype == np.bool_:
    return x
  return lax.ne(x, np.zeros((), aval.dtype)[()])


# ---- where


def where(
    condition: Any, x: Any = None, y: Any = None, /, *, size: int | None = None,
    fill_value: Any = None) -> Any:
  """Elements of `x` where a condition holds, of `y` elsewhere; or where it holds.

  Args:
    condition: bools, or numbers, of which those other than 0 hold.
    x: array or number; shapes are broadcast with the condition's, dtypes promoted.
      Without `x` and `y` the result is that of `nonzero(condition)`.
    y: array or number.
    size: as for `nonzero`; only without `x` and `y`.
    fill_value: as for `nonzero`; only without `x` and `y`.

  >>> import gnomon.numpy as gnp
  >>> gnp.where(gnp.array([True, False]), gnp.array([1, 2]), 0).tolist()
  [1, 0]

  Raises:
    TypeError: an argument is no array; or one of `x` and `y` is missing.
    ValueError: the shapes do not fit; or `size` is given along with `x` and `y`.
  """
  if x is None and y is None:
    check_arraylike("where", condition)
    return nonzero(condition, size=size, fill_value=fill_value)
  if size is fill_value is None and get_current() is EVAL:
    return _run_where(condition, x, y)
  if size is not None or fill_value is not None:
    raise ValueError(
        "where: size and fill_value count the elements where the condition holds: they "
        "cannot be given along with x and y")
  return _where(condition, x, y)


@compiled(replay=True)
def _where(condition: Any, x: Any, y: Any) -> Any:
  check_arraylike("where", condition, x, y)
  return choose_between(condition, x, y)


_run_where = _where.program  # type: ignore[attr-defined]


def choose_between(condition: Any, x: Any, y: Any) -> Any:
  """`where` without checks."""
  condition = truth(array_of(condition))
  x, y = promote_dtypes(x, y)
  shapes = [typeof(v).shape for v in (condition, x, y)]
  shape = broadcast_shapes("where", *shapes)
  x, y = spread("where", array_of(x), shape), spread("where", array_of(y), shape)
  if shapes[0] and shapes[0] != shape:
    condition = spread("where", condition, shape)
  return select_n(condition, y, x)


# ---- positions


def nonzero(
    a: Any, *, size: int | None = None, fill_value: Any = None) -> tuple[Any, ...]:
  """The positions of the elements other than 0, in row-major order.

  Args:
    a: an array of at least one dimension.
    size: how many positions to return: the first ones; missing ones are `fill_value`.
      Needed where the value of `a` is traced, since the result's shape depends on it.
    fill_value: what stands for missing positions: 0 by default; a number, or one for each
      dimension of `a`.

  Returns:
    An array of integers for each dimension of `a`.

  >>> import gnomon.numpy as gnp
  >>> [i.tolist() for i in gnp.nonzero(gnp.array([[0, 3], [4, 0]]))]
  [[0, 1], [1, 0]]
  >>> gnp.nonzero(gnp.array([0, 5, 6]), size=3, fill_value=-1)[0].tolist()
  [1, 2, -1]

  Raises:
    TypeError: `a` is no array, or `size` no integer.
    ValueError: `a` has no dimensions, `size` is negative, or there are too many fill
      values.
    ConcretizationTypeError: `a` is traced, and `size` not given.
  """
  a = one_array("nonzero", a)
  if not typeof(a).ndim:
    raise ValueError(
        "nonzero needs an array of at least one dimension, got a scalar: use "
        "nonzero(atleast_1d(a))")
  if size is None:
    found = concrete("nonzero", "a", a, _HINT).nonzero()
    dtype = dtypes.default_int_dtype()
    return tuple([on_device(i.astype(dtype)) for i in found])
  return _positions(a, _checked_size("nonzero", size), _fills(a, fill_value))


def _checked_size(name: str, size: Any) -> int:
  try:
    size = size.__index__()
  except AttributeError:
    raise TypeError(f"{name} needs an integer as size, got {size!r}") from None
  if size < 0:
    raise ValueError(f"{name} needs a size that is not negative, got {size}")
  return int(size)


def _fills(a: Any, fill_value: Any) -> Any:
  """A fill value for each dimension, or None for zeros."""
  if fill_value is None:
    return None
  ndim = typeof(a).ndim
  if isinstance(fill_value, (tuple, list)):
    if len(fill_value) != ndim:
      raise ValueError(
          f"nonzero: fill_value must be a scalar or a tuple of length {ndim}, one value "
          f"a dimension; got {fill_value}")
    return tuple(fill_value)
  if np.ndim(fill_value):
    raise ValueError(
        f"nonzero: fill_value must be a scalar or a tuple of length {ndim}; got "
        f"{fill_value}")
  return (fill_value,) * ndim


@compiled(static=("size",))
def _positions(a: Any, size: int, fills: Any) -> tuple[Any, ...]:
  shape, dtype = typeof(a).shape, dtypes.default_int_dtype()
  flat, count = true_places(truth(a), size)
  flat = convert(flat, dtype)
  found: list[Any] = []
  stride = math.prod(shape)
  for n in shape:
    stride = stride // n if n else 0
    i = flat
    if stride > 1:
      i = lax.div(i, np.asarray(stride, dtype)[()])
    if found and n:
      i = lax.rem(i, np.asarray(n, dtype)[()])
    found.append(i)
  if fills is not None:
    present = lax.lt(lax.iota(count.dtype, size), count)
    found = [
        select_n(present, lax.full((size,), convert(f, dtype)), i)
        for i, f in zip(found, fills)]
  return tuple(found)


def true_places(mask: Any, size: int) -> tuple[Any, Any]:
  """The flat positions of the first `size` true elements, 0 for the rest; the count."""
  n = typeof(mask).size
  dtype = np.dtype(np.int32 if n < 2**31 else np.int64)
  if not n or not size:
    return lax.full((size,), 0, dtype), lax.full((), 0, dtype)
  to, seen = _ranks(lax.reshape(mask, (n,)), size)
  numbers = lax.ScatterDimensionNumbers((), (0,), (0,))
  places = lax.scatter(
      lax.full((size,), 0, dtype), lax.reshape(to, (n, 1)), lax.iota(dtype, n), numbers,
      mode="drop")
  return places, lax.index_in_dim(seen, n - 1, keepdims=False)


def _ranks(mask: Any, outside: int) -> tuple[Any, Any]:
  """How many true elements come before each true one, `outside` for others; the sums."""
  n = typeof(mask).size
  dtype = np.dtype(np.int32 if n < 2**31 else np.int64)
  seen = lax.cumsum(convert(mask, dtype))
  before = lax.sub(seen, np.ones((), dtype)[()])
  return select_n(mask, lax.full((n,), outside, dtype), before), seen


def flatnonzero(a: Any, *, size: int | None = None, fill_value: Any = None) -> Any:
  """The positions of the elements other than 0 in the flattened array.

  Args:
    a: an array.
    size: as for `nonzero`.
    fill_value: as for `nonzero`.

  >>> import gnomon.numpy as gnp
  >>> gnp.flatnonzero(gnp.array([[0, 3], [4, 0]])).tolist()
  [1, 2]

  Raises:
    ConcretizationTypeError: `a` is traced, and `size` not given.
  """
  a = one_array("flatnonzero", a)
  return nonzero(lax.reshape(a, (typeof(a).size,)), size=size, fill_value=fill_value)[0]


def argwhere(a: Any, *, size: int | None = None, fill_value: Any = None) -> Any:
  """The positions of the elements other than 0, one a row.

  Args:
    a: an array.
    size: as for `nonzero`.
    fill_value: as for `nonzero`.

  Returns:
    An array with a column for each dimension of `a`.

  >>> import gnomon.numpy as gnp
  >>> gnp.argwhere(gnp.array([[0, 3], [4, 0]])).tolist()
  [[0, 1], [1, 0]]

  Raises:
    ConcretizationTypeError: `a` is traced, and `size` not given.
  """
  a = one_array("argwhere", a)
  if not typeof(a).ndim:
    (rows,) = nonzero(lax.reshape(a, (1,)), size=size)
    return lax.full((typeof(rows).shape[0], 0), 0, dtypes.default_int_dtype())
  found = nonzero(a, size=size, fill_value=fill_value)
  return lax.concatenate([lax.expand_dims(i, (1,)) for i in found], 1)


# ---- compress


def compress(
    condition: Any, a: Any, axis: int | None = None, *, size: int | None = None,
    fill_value: Any = 0, out: None = None) -> Any:
  """The parts of an array along an axis where a condition holds.

  Args:
    condition: one-dimensional; what it does not reach is left out.
    a: an array.
    axis: the axis; None for the flattened array.
    size: how many parts to return: the first ones; missing ones are `fill_value`. Needed
      where the condition is traced.
    fill_value: what fills missing parts.
    out: not supported.

  >>> import gnomon.numpy as gnp
  >>> gnp.compress(gnp.array([True, False, True]), gnp.arange(4)).tolist()
  [0, 2]

  Raises:
    ValueError: the condition is not one-dimensional or holds beyond the end of the axis;
      `size` is greater than the axis.
    ConcretizationTypeError: the condition is traced, and `size` not given.
  """
  refuse_out("compress", out)
  given = condition
  condition, a, fill_value = arrays_of("compress", condition, a, fill_value)
  # NumPy's arrays have values under a trace too, where they become constants.
  value = given if isinstance(given, np.ndarray) else condition
  if typeof(condition).ndim != 1:
    raise ValueError(
        f"compress: condition must be a 1D array, got shape {typeof(condition).shape}")
  if axis is None:
    a, axis = lax.reshape(a, (typeof(a).size,)), 0
  axis = canonical_axis(axis, typeof(a).ndim, "compress")
  n, m = typeof(a).shape[axis], typeof(condition).shape[0]
  if m > n and (size is None or is_concrete(value)) and concrete(
      "compress", "condition", value, _HINT)[n:].any():
    raise ValueError(
        "compress: condition contains entries that are out of bounds: it holds beyond "
        f"the {n} elements of the axis")
  if size is None:
    known = concrete("compress", "condition", value, _HINT)[:n]
    rows = np.flatnonzero(known).astype(np.int32)
    return _rows(a, rows, axis)
  size = _checked_size("compress", size)
  if size > min(n, m):
    raise ValueError(
        f"compress: size must not be greater than the axis that is selected from: got "
        f"size={size} for {min(n, m)} elements")
  return _compress(condition, a, fill_value, axis, size)


@compiled(static=("axis",))
def _rows(a: Any, rows: Any, axis: int) -> Any:
  return take_rows(a, array_of(rows), axis, sorted_=True, unique=True)


@compiled(static=("axis", "size"))
def _compress(condition: Any, a: Any, fill_value: Any, axis: int, size: int) -> Any:
  aval = typeof(a)
  mask = truth(condition)
  n = min(aval.shape[axis], typeof(mask).shape[0])
  if typeof(mask).shape[0] > n:
    mask = lax.slice_in_dim(mask, 0, n)
  if aval.shape[axis] > n:
    a = lax.slice_in_dim(a, 0, n, axis=axis)
  shape = (*aval.shape[:axis], size, *aval.shape[axis + 1:])
  out = lax.full(shape, convert(fill_value, aval.dtype))
  if not aval.size or not size or not n:
    return out
  others = tuple([d for d in range(aval.ndim) if d != axis])
  return lax.scatter(
      out, lax.reshape(_ranks(mask, size)[0], (n, 1)), a,
      lax.ScatterDimensionNumbers(others, (axis,), (axis,)), mode="drop")


def extract(
    condition: Any, arr: Any, *, size: int | None = None, fill_value: Any = 0) -> Any:
  """The elements where a condition holds, in row-major order.

  Args:
    condition: an array of as many elements as `arr`.
    arr: an array.
    size: how many elements to return: the first ones; missing ones are `fill_value`.
      Needed where the condition is traced.
    fill_value: what fills missing elements.

  >>> import gnomon.numpy as gnp
  >>> x = gnp.arange(5)
  >>> gnp.extract(x > 2, x).tolist()
  [3, 4]

  Raises:
    ConcretizationTypeError: the condition is traced, and `size` not given.
  """
  condition, arr = arrays_of("extract", condition, arr)
  condition = lax.reshape(condition, (typeof(condition).size,))
  return compress(condition, lax.reshape(arr, (typeof(arr).size,)), 0, size=size,
                  fill_value=fill_value)


# ---- several conditions


def select(condlist: Sequence[Any], choicelist: Sequence[Any], default: Any = 0) -> Any:
  """Elements of the choice whose condition is the first to hold; or `default`.

  Args:
    condlist: conditions.
    choicelist: as many arrays or numbers; all shapes are broadcast, dtypes promoted.
    default: an array or a number.

  >>> import gnomon.numpy as gnp
  >>> x = gnp.arange(5)
  >>> gnp.select([x < 2, x > 3], [x, x * 10], -1).tolist()
  [0, 1, -1, -1, 40]

  Raises:
    ValueError: there are no conditions, or not as many as choices.
  """
  if not len(condlist):
    raise ValueError("select: condlist must be non-empty, got no conditions")
  if len(condlist) != len(choicelist):
    raise ValueError(
        f"select: condlist must have as many entries as choicelist, got {len(condlist)} "
        f"and {len(choicelist)}")
  return _select(tuple(condlist), tuple(choicelist), default)


@compiled()
def _select(conditions: Any, choices: Any, default: Any) -> Any:
  check_arraylike("select", *conditions, *choices, default)
  *choices, out = promote_dtypes(*choices, default)
  shape = broadcast_shapes(
      "select", *[typeof(x).shape for x in (*conditions, *choices, out)])
  out = spread("select", array_of(out), shape)
  for condition, x in zip(reversed(conditions), reversed(choices)):
    mask = spread("select", truth(array_of(condition)), shape)
    out = select_n(mask, out, spread("select", array_of(x), shape))
  return out


def choose(a: Any, choices: Any, out: None = None, mode: str = "raise") -> Any:
  """Elements of the choice whose number stands in `a`.

  Args:
    a: integers.
    choices: a sequence of arrays, or an array whose first dimension runs over choices;
      all shapes are broadcast.
    out: not supported.
    mode: what becomes of numbers that are no choice's: `"raise"` raises an error (and
      needs the value of `a`), `"wrap"` takes them modulo the number of choices, `"clip"`
      takes the nearest.

  >>> import gnomon.numpy as gnp
  >>> gnp.choose(gnp.array([1, 0]), [gnp.array([1, 2]), gnp.array([3, 4])]).tolist()
  [3, 2]

  Raises:
    ValueError: `a` has no integers, there are no choices, a number is no choice's, or the
      mode is unknown.
    ConcretizationTypeError: `a` is traced, and the mode is `"raise"`.
  """
  refuse_out("choose", out)
  if isinstance(choices, (list, tuple)):
    listed = tuple(choices)
  else:
    (choices,) = arrays_of("choose", choices)
    if not typeof(choices).ndim:
      raise ValueError("choose: choices must be a sequence, got a scalar")
    listed = tuple(choices)
  (a,) = arrays_of("choose", a)
  if not dtypes.issubdtype(typeof(a).dtype, np.integer):
    raise ValueError(f"choose: the array a must hold integers, got {typeof(a).dtype}")
  n = len(listed)
  if mode == "raise":
    known = concrete("choose", "a", a, "Use mode='wrap' or mode='clip'.")
    if not n or ((known < 0) | (known >= n)).any():
      raise ValueError(
          f"choose: invalid entry in a: numbers must be from 0 to {n - 1}, those of the "
          f"choices; or use mode='wrap' or mode='clip'")
  elif mode not in ("wrap", "clip"):
    raise ValueError(
        f"choose: mode should be one of 'raise', 'wrap', 'clip'; got {mode!r}")
  elif not n:
    raise ValueError("choose: there are no choices")
  return _choose(a, listed, mode)


@compiled(static=("mode",))
def _choose(a: Any, choices: Any, mode: str) -> Any:
  check_arraylike("choose", *choices)
  choices = promote_dtypes(*choices)
  n = len(choices)
  shape = broadcast_shapes("choose", *[typeof(x).shape for x in (a, *choices)])
  a = spread("choose", convert(a, np.dtype(np.int32)), shape)
  last = np.int32(n - 1)
  if mode == "wrap":
    a = lax.rem(a, np.int32(n))
    a = select_n(lax.lt(a, np.int32(0)), a, lax.add(a, np.int32(n)))
  elif mode == "clip":
    a = lax.clamp(np.int32(0), a, last)
  cases = [spread("choose", array_of(x), shape) for x in choices]
  out = cases[0] if n == 1 else select_n(
      a if n > 2 else lax.ne(a, np.int32(0)), *cases)
  return convert(out, typeof(out).dtype)


def piecewise(
    x: Any, condlist: Any, funclist: Sequence[Any], *args: Any, **kw: Any) -> Any:
  """A function defined by parts: where a condition holds, the function of that condition.

  Where several conditions hold, the last one counts.

  Args:
    x: the arguments.
    condlist: conditions of the shape of `x`.
    funclist: a function or a number for each condition, and possibly one more for where
      none holds; 0 otherwise. Functions take and return scalars.
    *args: further arguments of the functions.
    **kw: further arguments of the functions, by name.

  Returns:
    An array of the shape and dtype of `x`.

  >>> import gnomon.numpy as gnp
  >>> x = gnp.array([-2.0, 3.0])
  >>> gnp.piecewise(x, [x < 0, x >= 0], [lambda x: -x, lambda x: x * 2]).tolist()
  [2.0, 6.0]

  Raises:
    ValueError: there are not as many functions as conditions, or one more.
  """
  x = one_array("piecewise", x)
  x = convert(x, typeof(x).dtype)
  if not isinstance(condlist, (list, tuple)) and np.ndim(condlist) == typeof(x).ndim:
    condlist = [condlist]
  if isinstance(condlist, (list, tuple)) and condlist and typeof(x).ndim and all(
      isinstance(c, (bool, np.bool_)) for c in condlist):
    condlist = [np.asarray(condlist)]
  conditions = [array_of(c) for c in condlist]
  n = len(conditions)
  if len(funclist) not in (n, n + 1):
    raise ValueError(
        f"with {n} condition(s), piecewise needs {n} or {n + 1} functions; got "
        f"{len(funclist)}")
  functions = [*funclist, 0] if len(funclist) == n else list(funclist)
  callables = tuple([f if callable(f) else None for f in functions])
  numbers = [None if callable(f) else f for f in functions]
  if args or kw:  # which need not be arrays
    return _pieces(x, conditions, numbers, callables, args, kw)
  return _piecewise(x, conditions, numbers, callables)


@compiled(static=("callables",))
def _piecewise(
    x: Any, conditions: Any, numbers: Any, callables: tuple[Any, ...]) -> Any:
  return _pieces(x, conditions, numbers, callables, (), {})


def _pieces(
    x: Any, conditions: Any, numbers: Any, callables: tuple[Any, ...], args: Any,
    kw: dict[str, Any]) -> Any:
  functions = [c if f is None else f for c, f in zip(numbers, callables)]
  shape = typeof(x).shape
  masks = [truth(spread("piecewise", c, shape)) for c in conditions]
  none = True
  out = None
  for mask in masks:
    none = lax.bitwise_not(mask) if none is True else lax.bitwise_and(
        none, lax.bitwise_not(mask))
  out = _part(functions[-1], x, none, args, kw)
  for mask, function in zip(masks, functions):
    out = select_n(mask, out, _part(function, x, mask, args, kw))
  return out


def _part(function: Any, x: Any, mask: Any, args: Any, kw: Any) -> Any:
  """The values of one part; elsewhere without a derivative, which might be NaN."""
  aval = typeof(x)
  if not callable(function):
    return spread("piecewise", convert(function, aval.dtype, aval.weak_type), aval.shape)
  if dtypes.issubdtype(aval.dtype, np.inexact) and mask is not True:
    x = select_n(mask, lax.stop_gradient(x), x)
  flat = lax.reshape(x, (aval.size,))
  scalar: Callable[[Any], Any] = lambda e: function(e, *args, **kw)  # noqa: E731
  if not aval.size:
    return x
  out = convert(vmap(scalar)(flat), aval.dtype, aval.weak_type)
  if typeof(out).shape != typeof(flat).shape:
    raise ValueError(
        "piecewise: the functions must return scalars, got shape "
        f"{typeof(out).shape[1:]}")
  return lax.reshape(out, aval.shape)
