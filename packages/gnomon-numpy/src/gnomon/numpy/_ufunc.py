"""Universal functions: elementwise functions with reductions along axes."""

from __future__ import annotations

import functools
import operator
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from gnomon import eval_shape, lax, vmap
from gnomon.core.structural import select_n
from gnomon.core.trace import Tracer
from gnomon.core.types import typeof
from gnomon.numpy._compiled import compiled
from gnomon.numpy._promotion import (
  broadcast_shapes,
  canonical_axis,
  check_arraylike,
)

_numpy: Any = sys.modules["gnomon.numpy"]  # complete by the time that a method is called


class ufunc:
  """A function of scalars that works on arrays elementwise, and reduces them.

  Args:
    func: a function of `nin` scalars that returns `nout` scalars.
    nin: the number of its arguments.
    nout: the number of its results.
    name: the name; by default that of `func`.
    nargs: the number of arguments that may be given by position; by default `nin`.
    identity: the value that changes nothing as a first operand, for empty reductions.
    call: a function of arrays that does what `func` does on elements.
    reduce: what the method `reduce` does, in place of a loop; in the same way
    accumulate: what `accumulate` does,
    at: what `at` does,
    reduceat: what `reduceat` does.

  >>> import gnomon.numpy as gnp
  >>> double_and_add = gnp.ufunc(lambda x, y: 2 * x + y, nin=2, nout=1)
  >>> double_and_add.reduce(gnp.array([1, 0, 1])).item()
  5
  """

  def __init__(
      self, func: Callable[..., Any], /, nin: int, nout: int, *, name: str | None = None,
      nargs: int | None = None, identity: Any = None,
      call: Callable[..., Any] | None = None, reduce: Callable[..., Any] | None = None,
      accumulate: Callable[..., Any] | None = None, at: Callable[..., Any] | None = None,
      reduceat: Callable[..., Any] | None = None) -> None:
    functools.update_wrapper(self, call or func)
    self.__name__ = name or func.__name__
    self._nin, self._nout = operator.index(nin), operator.index(nout)
    self._nargs = self._nin if nargs is None else operator.index(nargs)
    self._identity = identity
    self._fun = func
    self._call = call or _elementwise(func, self.nin)
    self._reduce, self._accumulate = reduce, accumulate
    self._at, self._reduceat = at, reduceat

  @property
  def nin(self) -> int:
    """The number of arguments."""
    return self._nin

  @property
  def nout(self) -> int:
    """The number of results."""
    return self._nout

  @property
  def nargs(self) -> int:
    """The number of arguments that may be given by position."""
    return self._nargs

  @property
  def identity(self) -> Any:
    """The value that changes nothing as a first operand; None if there is none."""
    return self._identity

  @property
  def _func(self) -> Callable[..., Any]:
    return self._fun

  def _key(self) -> tuple[Any, ...]:
    return (self._fun, self._nin, self._nout, self._nargs, self._identity, self.__name__)

  def __eq__(self, other: object) -> bool:
    return isinstance(other, ufunc) and self._key() == other._key()

  def __hash__(self) -> int:
    return hash(self._key())

  def __repr__(self) -> str:
    return f"<gnomon.numpy.ufunc {self.__name__!r}>"

  def __call__(self, *args: Any, out: None = None, where: None = None) -> Any:
    """The function of arrays, elementwise.

    Raises:
      NotImplementedError: `out` or `where` is given.
    """
    if out is not None or where is not None:
      self._refuse(self.__name__, out, where)
    return self._call(*args)

  def reduce(
      self, a: Any, axis: Any = 0, dtype: Any = None, out: None = None,
      keepdims: bool = False, initial: Any = None, where: Any = None) -> Any:
    """Combines the elements along an axis, from the first to the last.

    Args:
      a: the array.
      axis: the axis; None: all of them.
      dtype: the dtype of the result; by default that of the function.
      out: not supported.
      keepdims: keeps the axis, with size 1.
      initial: the first operand; by default the identity, or else the first element.
      where: which elements to combine.

    Raises:
      NotImplementedError: `out` is given.
      ValueError: the function is not binary, or there is nothing to start from.
    """
    name = f"{self.__name__}.reduce"
    self._check_binary("reduce")
    self._refuse(name, out)
    check_arraylike(name, a)
    if initial is None and self.identity is None:
      self._check_start(a, axis, where)
    return (self._reduce or functools.partial(_fold, self))(
        a, axis=axis, dtype=dtype, keepdims=keepdims, initial=initial, where=where)

  def accumulate(
      self, a: Any, axis: int = 0, dtype: Any = None, out: None = None) -> Any:
    """What `reduce` gives for every beginning of an axis.

    Args:
      a: the array.
      axis: the axis.
      dtype: the dtype of the result; by default that of the function.
      out: not supported.

    Raises:
      NotImplementedError: `out` is given.
      ValueError: the function is not binary, or `axis` is None.
    """
    name = f"{self.__name__}.accumulate"
    self._check_binary("accumulate")
    self._refuse(name, out)
    check_arraylike(name, a)
    if axis is None or isinstance(axis, (tuple, list)):
      raise ValueError(f"{name} goes along one axis, got axis={axis!r}")
    return (self._accumulate or functools.partial(_scan, self))(a, axis=axis, dtype=dtype)

  def at(self, a: Any, indices: Any, b: Any = None, /, *, inplace: bool = True) -> Any:
    """The array with the function applied at indices, as often as they occur.

    Args:
      a: the array.
      indices: where to apply the function, as in `a[indices]`.
      b: the second operand of a binary function; broadcast to `a[indices]`.
      inplace: must be False: the result is a new array.

    Raises:
      NotImplementedError: `inplace` is true.
      ValueError: there is a `b` too many or too few.
    """
    if inplace:
      raise NotImplementedError(
          f"{self.__name__}.at cannot change its argument, since arrays are immutable: "
          f"write a = gnp.{self.__name__}.at(a, indices, b, inplace=False)")
    if (b is not None) != (self.nin == 2):
      raise ValueError(
          f"{self.__name__}.at needs {self.nin - 1} operands besides the array, got "
          f"b={b!r}")
    check_arraylike(f"{self.__name__}.at", a, *(() if b is None else (b,)))
    return (self._at or functools.partial(_apply_at, self))(_numpy.asarray(a), indices, b)

  def outer(self, A: Any, B: Any, /) -> Any:
    """The function of each element of `A` with each of `B`: of shape A.shape + B.shape.

    Raises:
      ValueError: the function is not binary.
    """
    self._check_binary("outer")
    check_arraylike(f"{self.__name__}.outer", A, B)
    a, b = typeof(A).shape, typeof(B).shape
    return self._call(
        _numpy.reshape(A, a + (1,) * len(b)), _numpy.reshape(B, (1,) * len(a) + b))

  def reduceat(
      self, a: Any, indices: Any, axis: int = 0, dtype: Any = None,
      out: None = None) -> Any:
    """Combines the elements from each index to the next.

    Where the next index is not larger, the element at the index is taken; the last index
    goes to the end.

    Args:
      a: the array.
      indices: one-dimensional array of integers.
      axis: the axis.
      dtype: the dtype of the result; by default that of the function.
      out: not supported.

    Raises:
      NotImplementedError: `out` is given.
      ValueError: the function is not binary, or `indices` is not one-dimensional.
    """
    name = f"{self.__name__}.reduceat"
    self._check_binary("reduceat")
    self._refuse(name, out)
    check_arraylike(name, a, indices)
    if typeof(indices).ndim != 1:
      raise ValueError(
          f"{name} needs one-dimensional indices, got shape {typeof(indices).shape}")
    _check_in_bounds(name, indices, typeof(a).shape[axis])
    return (self._reduceat or functools.partial(_fold_between, self))(
        a, indices, axis=axis, dtype=dtype)

  def _check_binary(self, method: str) -> None:
    if self.nin != 2 or self.nout != 1:
      raise ValueError(
          f"{self.__name__}.{method} is there for functions of two arguments with one "
          f"result only; {self.__name__} has {self.nin} and {self.nout}")

  def _check_start(self, a: Any, axis: Any, where: Any) -> None:
    shape = typeof(a).shape
    if where is not None:
      raise ValueError(
          f"reduction operation {self.__name__!r} does not have an identity, so to use a "
          "where mask one has to specify 'initial'")
    sizes = shape if axis is None or not isinstance(axis, int) else shape[axis:][:1]
    if 0 in sizes:
      raise ValueError(
          f"zero-size array to reduction operation {self.__name__}, which has no "
          "identity; pass 'initial'")

  def _refuse(self, name: str, out: Any, where: Any = None) -> None:
    if out is not None:
      raise NotImplementedError(
          f"{name}: the argument 'out' is not supported, since arrays are immutable; use "
          "the returned array instead")
    if where is not None:
      raise NotImplementedError(
          f"{name}: the argument 'where' is not supported; use gnomon.numpy.where on the "
          "returned array")


def _check_in_bounds(name: str, indices: Any, size: int) -> None:
  """Raises `IndexError` for an index that is out of bounds, where indices are known."""
  if isinstance(indices, Tracer):
    return
  known = np.asarray(indices)
  wrong = known[(known < -size) | (known >= size)]
  if wrong.size:
    raise IndexError(f"{name}: the index {wrong[0]} is out of bounds for size {size}")


def frompyfunc(
    func: Callable[..., Any], /, nin: int, nout: int, *, identity: Any = None) -> ufunc:
  """Makes a universal function of a function of scalars.

  Args:
    func: a function of `nin` scalars that returns `nout` scalars; it must be traceable.
    nin: the number of its arguments.
    nout: the number of its results.
    identity: the value that changes nothing as a first operand, for empty reductions.

  >>> import gnomon.numpy as gnp
  >>> times_ten_plus = gnp.frompyfunc(lambda x, y: 10 * x + y, 2, 1)
  >>> times_ten_plus.accumulate(gnp.array([1, 2, 3])).tolist()
  [1, 12, 123]
  """
  return ufunc(func, nin, nout, identity=identity)


def _elementwise(func: Callable[..., Any], nin: int) -> Callable[..., Any]:
  """A function of scalars on arrays of one shape."""
  @compiled()
  @functools.wraps(func)
  def call(*args: Any) -> Any:
    check_arraylike(getattr(func, "__name__", "ufunc"), *args)
    if len(args) != nin:
      raise TypeError(f"the ufunc takes {nin} arguments, got {len(args)}")
    shape = broadcast_shapes("ufunc", *(typeof(x).shape for x in args))
    mapped = func
    for _ in shape:
      mapped = vmap(mapped)
    return mapped(*(_numpy.broadcast_to(x, shape) for x in args))

  return call


def _result_dtype(fun: ufunc, a: Any, dtype: Any) -> Any:
  if dtype is not None:
    return dtype
  scalar = lax.full((), 0, typeof(a).dtype)
  return eval_shape(fun._call, scalar, scalar).dtype


def _leading(name: str, a: Any, axis: Any) -> Any:
  """The array with the axis in front; with all of them in one for None."""
  if axis is None:
    return _numpy.ravel(a)
  if not isinstance(axis, int):
    raise NotImplementedError(
        f"{name} goes along one axis, or along all with axis=None; got axis={axis!r}")
  return _numpy.moveaxis(a, axis, 0)


@compiled(static=("fun", "axis", "dtype", "keepdims"))
def _fold(
    fun: ufunc, a: Any, *, axis: Any, dtype: Any, keepdims: bool, initial: Any,
    where: Any) -> Any:
  """Reduces one element after the other."""
  a = _numpy.asarray(a)
  if axis is not None and isinstance(axis, int):
    axis = canonical_axis(axis, a.ndim, f"{fun.__name__}.reduce")
  kept = tuple(1 if axis in (None, i) else n for i, n in enumerate(a.shape))
  if where is not None:
    where = _leading(fun.__name__, _numpy.broadcast_to(where, a.shape), axis)
  xs = _leading(f"{fun.__name__}.reduce", a, axis)
  dtype = _result_dtype(fun, a, dtype)
  start = fun.identity if initial is None else initial
  if start is None:
    first, xs = xs[0].astype(dtype), xs[1:]
  else:
    first = _numpy.broadcast_to(_numpy.asarray(start, dtype=dtype), xs.shape[1:])

  def step(acc: Any, x: Any) -> Any:
    x, chosen = x
    new = fun._call(acc, x.astype(dtype) if x.dtype != np.bool_ else x).astype(dtype)
    return (new if chosen is None else select_n(chosen, acc, new)), None

  result, _ = lax.scan(step, first, (xs, where))
  return result.reshape(kept) if keepdims else result


@compiled(static=("fun", "axis", "dtype"))
def _scan(fun: ufunc, a: Any, *, axis: int, dtype: Any) -> Any:
  """Accumulates one element after the other."""
  a = _numpy.atleast_1d(_numpy.asarray(a))
  dtype = _result_dtype(fun, a, dtype)
  xs = _leading(f"{fun.__name__}.accumulate", a, axis)
  if not xs.shape[0]:
    return a.astype(dtype)
  first = xs[0].astype(dtype)

  def step(acc: Any, x: Any) -> Any:
    new = fun._call(acc, x).astype(dtype)
    return new, new

  _, rest = lax.scan(step, first, xs[1:])
  return _numpy.moveaxis(_numpy.concatenate([first[None], rest]), 0, axis)


def _apply_at(fun: ufunc, a: Any, indices: Any, b: Any) -> Any:
  """Applies a function at one index after the other, so that repeated ones count."""
  places = _numpy.arange(a.size).reshape(a.shape)[indices]
  if b is not None:
    b = _numpy.broadcast_to(b, places.shape).ravel()
  return _apply_at_places(fun, a, places.ravel(), b)


@compiled(static=("fun",))
def _apply_at_places(fun: ufunc, a: Any, places: Any, b: Any) -> Any:
  def step(flat: Any, x: Any) -> Any:
    place, value = x
    old = flat[place]
    new = fun._call(old) if value is None else fun._call(old, value)
    return flat.at[place].set(new.astype(a.dtype)), None

  flat, _ = lax.scan(step, a.ravel(), (places, b))
  return flat.reshape(a.shape)


@compiled(static=("fun", "axis", "dtype"))
def _fold_between(fun: ufunc, a: Any, indices: Any, *, axis: int, dtype: Any) -> Any:
  """Reduces all segments at once, one element of the axis after the other."""
  a = _numpy.asarray(a)
  xs = _leading(f"{fun.__name__}.reduceat", a, axis)
  size = xs.shape[0]
  dtype = _result_dtype(fun, a, dtype)
  start = _numpy.asarray(indices)
  start = _numpy.where(start < 0, start + size, start)
  end = _numpy.append(start[1:], size)
  end = _numpy.maximum(end, start + 1)
  column = (-1,) + (1,) * (xs.ndim - 1)

  def step(acc: Any, x: Any) -> Any:
    i, row = x
    row = _numpy.broadcast_to(row, acc.shape)
    inside = ((start < i) & (i < end)).reshape(column)
    new = _numpy.where(inside, fun._call(acc, row).astype(dtype), acc)
    return _numpy.where((start == i).reshape(column), row.astype(dtype), new), None

  # What no element reaches, since its index is out of bounds, shows where it can.
  empty = np.nan if _numpy.issubdtype(dtype, np.inexact) else 0
  first = _numpy.full((len(start), *xs.shape[1:]), empty, dtype)
  result, _ = lax.scan(step, first, (_numpy.arange(size), xs))
  return _numpy.moveaxis(result, 0, axis)
