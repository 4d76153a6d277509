"""`x.at[index]`: reads with options, and writes that return a new array."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from gnomon import lax
from gnomon.api.device import device_put
from gnomon.core.trace import EVAL, get_current
from gnomon.core.types import says, typeof
from gnomon.numpy._arithmetic import true_divide
from gnomon.numpy._indexing import read as reading
from gnomon.numpy._indexing.parse import parse
from gnomon.numpy._indexing.places import layout
from gnomon.numpy._indexing.write import update, usable
from gnomon.numpy._power import power


class IndexUpdateHelper:
  """What `x.at` returns: to be indexed."""

  __slots__ = ("array",)

  def __init__(self, array: Any) -> None:
    self.array = array

  def __getitem__(self, index: Any) -> IndexUpdateRef:
    return IndexUpdateRef(self.array, index)

  def __repr__(self) -> str:
    return f"_IndexUpdateHelper({self.array!r})"


class IndexUpdateRef:
  """What `x.at[index]` returns: some elements of an array, to be read or changed.

  Changes return a new array. Where an index is repeated, `add` and the like combine all
  values, and `set` writes one of them. All methods take these options:

  * `mode`: what becomes of places outside the array. `"drop"`, the default of changes,
    ignores them; `"clip"` moves them to the nearest inside; `"promise_in_bounds"` assures
    that there are none; `"fill"` reads `fill_value` there.
  * `indices_are_sorted`, `unique_indices`: promises that make it faster.
  * `wrap_negative_indices`: whether negative indices count from the end.
  * `out_sharding`: how the result is laid out over devices.

  >>> import gnomon.numpy as gnp
  >>> gnp.zeros(3).at[1].set(5.0).tolist()
  [0.0, 5.0, 0.0]
  >>> gnp.zeros(3).at[gnp.array([0, 0])].add(1.0).tolist()
  [2.0, 0.0, 0.0]
  """

  __slots__ = ("array", "index")
  set: Any  # these are made below, of one text
  add: Any
  subtract: Any
  multiply: Any
  mul: Any
  min: Any
  max: Any

  def __init__(self, array: Any, index: Any) -> None:
    self.array, self.index = array, index

  def __repr__(self) -> str:
    return f"_IndexUpdateRef({self.array!r}, {self.index!r})"

  def get(self, *, indices_are_sorted: bool = False, unique_indices: bool = False,
          mode: Any = None, fill_value: Any = None, out_sharding: Any = None,
          wrap_negative_indices: bool = True) -> Any:
    """The elements, `x[index]`, with options.

    Args:
      indices_are_sorted: a promise that indices increase.
      unique_indices: a promise that no element is indexed twice.
      mode: `"fill"` (also `"drop"`), `"clip"` (the default) or `"promise_in_bounds"`.
      fill_value: what stands for elements outside, in the mode `"fill"`: NaN by default,
        the least value of signed integers, the greatest of unsigned ones, True.
      out_sharding: how the result is laid out over devices.
      wrap_negative_indices: whether negative indices count from the end.

    >>> import gnomon.numpy as gnp
    >>> gnp.arange(3).at[7].get(mode="fill", fill_value=-1).item()
    -1

    Raises:
      ValueError: the mode is unknown.
    """
    x = self.array
    if out_sharding is not None and says(typeof(x)):
      return _apart(lambda y: IndexUpdateRef(y, self.index).get(
          indices_are_sorted=indices_are_sorted, unique_indices=unique_indices, mode=mode,
          fill_value=fill_value, wrap_negative_indices=wrap_negative_indices),
          out_sharding, x)
    how = reading.PROMISE if mode is None else usable(mode)
    if fill_value is not None:
      fill_value = _number(fill_value)
    entries, numbers = parse(self.index, typeof(x).shape, wrap_negative_indices)
    flags = (bool(indices_are_sorted), bool(unique_indices))
    if get_current() is EVAL:
      out = reading.program(entries, how, fill_value, *flags, x, *numbers)
    else:
      out = reading.read(x, entries, numbers, how, fill_value, *flags)
    return _placed(out, out_sharding)

  def apply(self, func: Callable[[Any], Any], *, indices_are_sorted: bool = False,
            unique_indices: bool = False, mode: Any = None,
            wrap_negative_indices: bool = True) -> Any:
    """Applies a function to the elements: once each time that an index occurs.

    Args:
      func: from a scalar to a scalar, without arrays from outside.
      indices_are_sorted: a promise that indices increase.
      unique_indices: a promise that no element is indexed twice.
      mode: `"drop"` (the default), `"clip"` or `"promise_in_bounds"`.
      wrap_negative_indices: whether negative indices count from the end.

    >>> import gnomon.numpy as gnp
    >>> gnp.arange(3).at[gnp.array([1, 1])].apply(lambda x: x + 10).tolist()
    [0, 21, 2]

    Raises:
      TypeError: `func` returns another type than it takes.
    """
    x = self.array
    aval = typeof(x)
    entries, numbers = parse(self.index, aval.shape, wrap_negative_indices)
    p = layout(x, entries, numbers)
    if math.prod(p.shape) == 0:
      return x
    vectors = np.zeros((0,), np.int32) if p.vectors is None else p.vectors
    return lax.scatter_apply(
        x, vectors, func, lax.ScatterDimensionNumbers(p.window, p.collapsed, p.map),
        update_shape=p.shape, indices_are_sorted=indices_are_sorted or p.single,
        unique_indices=unique_indices or p.single, mode=mode)

  def divide(self, values: Any, *, indices_are_sorted: bool = False,
             unique_indices: bool = False, mode: Any = None, out_sharding: Any = None,
             wrap_negative_indices: bool = True) -> Any:
    """`x` with the elements divided by values, `x[index] / values`; a floating dtype.

    >>> import gnomon.numpy as gnp
    >>> gnp.array([1.0, 6.0]).at[1].divide(2).tolist()
    [1.0, 3.0]
    """
    product = IndexUpdateRef(_ones(self.array), self.index).multiply(
        values, indices_are_sorted=indices_are_sorted, unique_indices=unique_indices,
        mode=mode, wrap_negative_indices=wrap_negative_indices)
    return _placed(true_divide(self.array, product), out_sharding)

  def power(self, values: Any, *, indices_are_sorted: bool = False,
            unique_indices: bool = False, mode: Any = None, out_sharding: Any = None,
            wrap_negative_indices: bool = True) -> Any:
    """`x` with the elements raised to powers, `x[index] ** values`.

    >>> import gnomon.numpy as gnp
    >>> gnp.array([1.0, 3.0]).at[1].power(2).tolist()
    [1.0, 9.0]
    """
    product = IndexUpdateRef(_ones(self.array), self.index).multiply(
        values, indices_are_sorted=indices_are_sorted, unique_indices=unique_indices,
        mode=mode, wrap_negative_indices=wrap_negative_indices)
    return _placed(power(self.array, product), out_sharding)


def _ones(x: Any) -> Any:
  return lax.full_like(x, 1)


def _number(fill_value: Any) -> Any:
  """A fill value as a Python number."""
  aval = typeof(fill_value)
  if aval.shape:
    raise TypeError(f"get: fill_value must be a scalar, got {aval}")
  return fill_value if isinstance(fill_value, (bool, int, float, complex)) else (
      fill_value.item())


def _apart(f: Any, out_sharding: Any, *args: Any) -> Any:
  """Calls a function on arrays that are divided over explicit axes, whatever it does."""
  from gnomon.sharding import auto_axes  # for programs over several devices

  return auto_axes(f, out_sharding=out_sharding)(*args)


def _placed(x: Any, out_sharding: Any) -> Any:
  if out_sharding is None:
    return x
  return device_put(x, out_sharding)


def _writer(op: str, name: str, text: str, example: str, result: str) -> Any:
  def method(self: Any, values: Any, *, indices_are_sorted: bool = False,
             unique_indices: bool = False, mode: Any = None, out_sharding: Any = None,
             wrap_negative_indices: bool = True) -> Any:
    def write(x: Any, y: Any) -> Any:
      return update(
          op, x, self.index, y, mode, bool(indices_are_sorted), bool(unique_indices),
          bool(wrap_negative_indices))

    if out_sharding is not None and says(typeof(self.array)):
      return _apart(write, out_sharding, self.array, values)
    out = write(self.array, values)
    return out if out_sharding is None else _placed(out, out_sharding)

  method.__name__ = name
  method.__qualname__ = f"IndexUpdateRef.{name}"
  method.__doc__ = f"""{text}

    Args:
      values: a number or an array, broadcast to the elements and converted to the dtype
        of `x`, with a FutureWarning if that may lose something.
      indices_are_sorted: a promise that indices increase.
      unique_indices: a promise that no element is indexed twice.
      mode: `"drop"` (the default), `"clip"` or `"promise_in_bounds"`.
      out_sharding: how the result is laid out over devices.
      wrap_negative_indices: whether negative indices count from the end.

    >>> import gnomon.numpy as gnp
    >>> {example}
    {result}

    Raises:
      ValueError: `values` cannot be broadcast to the elements, or the mode is unknown.
    """
  return method


_METHODS = (
    ("set", "set", "`x` with the elements replaced by values.",
     "gnp.arange(3).at[1:].set(9).tolist()", "[0, 9, 9]"),
    ("add", "add", "`x` with values added to the elements.",
     "gnp.arange(3).at[1:].add(9).tolist()", "[0, 10, 11]"),
    ("subtract", "subtract", "`x` with values subtracted from the elements.",
     "gnp.arange(3).at[1:].subtract(9).tolist()", "[0, -8, -7]"),
    ("multiply", "multiply", "`x` with the elements multiplied by values.",
     "gnp.arange(3).at[1:].multiply(9).tolist()", "[0, 9, 18]"),
    ("multiply", "mul", "`x` with the elements multiplied by values.",
     "gnp.arange(3).at[1:].mul(9).tolist()", "[0, 9, 18]"),
    ("min", "min", "`x` with the lesser of elements and values.",
     "gnp.arange(3).at[:].min(1).tolist()", "[0, 1, 1]"),
    ("max", "max", "`x` with the greater of elements and values.",
     "gnp.arange(3).at[:].max(1).tolist()", "[1, 1, 2]"))

for _op, _name, *_texts in _METHODS:
  setattr(IndexUpdateRef, _name, _writer(_op, _name, *_texts))

at = property(
    IndexUpdateHelper,
    doc="Elements to read with options or to change: `x.at[index].set(values)`.")


def setitem(self: Any, index: Any, value: Any) -> None:
  """Arrays do not change; says what to do instead."""
  raise TypeError(
      "arrays are immutable and do not support item assignment. Instead of "
      "`x[index] = y`, use `x = x.at[index].set(y)` or another method of `x.at[index]`")


ATTRIBUTES: dict[str, Any] = {
    "__getitem__": reading.getitem, "__iter__": reading.iterate, "__setitem__": setitem,
    "at": at}
