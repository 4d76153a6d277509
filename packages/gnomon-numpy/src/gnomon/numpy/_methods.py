"""Methods and properties of arrays: functions of `gnomon.numpy` by another name."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from gnomon.core import dtypes
from gnomon.core.trace import Tracer
from gnomon.core.types import typeof
from gnomon.numpy import _views
from gnomon.numpy._array_api import __array_api_version__

_numpy: Any = sys.modules["gnomon.numpy"]  # complete by the time that a method is called


# ---- reductions --------------------------------------------------------------------


def _all(self: Any, axis: Any = None, out: None = None, keepdims: bool = False, *,
         where: Any = None) -> Any:
  """Whether all elements along axes are true; see `gnomon.numpy.all`."""
  return _numpy.all(self, axis=axis, out=out, keepdims=keepdims, where=where)


def _any(self: Any, axis: Any = None, out: None = None, keepdims: bool = False, *,
         where: Any = None) -> Any:
  """Whether any element along axes is true; see `gnomon.numpy.any`."""
  return _numpy.any(self, axis=axis, out=out, keepdims=keepdims, where=where)


def _argmax(self: Any, axis: int | None = None, out: None = None,
            keepdims: bool | None = None) -> Any:
  """The index of the largest element; see `gnomon.numpy.argmax`."""
  return _numpy.argmax(self, axis=axis, out=out, keepdims=keepdims)


def _argmin(self: Any, axis: int | None = None, out: None = None,
            keepdims: bool | None = None) -> Any:
  """The index of the smallest element; see `gnomon.numpy.argmin`."""
  return _numpy.argmin(self, axis=axis, out=out, keepdims=keepdims)


def _max(self: Any, axis: Any = None, out: None = None, keepdims: bool = False,
         initial: Any = None, where: Any = None) -> Any:
  """The largest element along axes; see `gnomon.numpy.max`."""
  return _numpy.max(self, axis, out, keepdims, initial, where)


def _min(self: Any, axis: Any = None, out: None = None, keepdims: bool = False,
         initial: Any = None, where: Any = None) -> Any:
  """The smallest element along axes; see `gnomon.numpy.min`."""
  return _numpy.min(self, axis, out, keepdims, initial, where)


def _sum(self: Any, axis: Any = None, dtype: Any = None, out: None = None,
         keepdims: bool = False, initial: Any = None, where: Any = None,
         promote_integers: bool = True) -> Any:
  """The sum along axes; see `gnomon.numpy.sum`."""
  return _numpy.sum(
      self, axis, dtype, out, keepdims, initial, where, promote_integers)


def _prod(self: Any, axis: Any = None, dtype: Any = None, out: None = None,
          keepdims: bool = False, initial: Any = None, where: Any = None,
          promote_integers: bool = True) -> Any:
  """The product along axes; see `gnomon.numpy.prod`."""
  return _numpy.prod(
      self, axis, dtype, out, keepdims, initial, where, promote_integers)


def _mean(self: Any, axis: Any = None, dtype: Any = None, out: None = None,
          keepdims: bool = False, *, where: Any = None) -> Any:
  """The mean along axes; see `gnomon.numpy.mean`."""
  return _numpy.mean(self, axis, dtype, out, keepdims, where=where)


def _std(self: Any, axis: Any = None, dtype: Any = None, out: None = None, ddof: int = 0,
         keepdims: bool = False, *, where: Any = None, correction: Any = None) -> Any:
  """The standard deviation along axes; see `gnomon.numpy.std`."""
  return _numpy.std(
      self, axis=axis, dtype=dtype, out=out, ddof=ddof, keepdims=keepdims, where=where,
      correction=correction)


def _var(self: Any, axis: Any = None, dtype: Any = None, out: None = None, ddof: int = 0,
         keepdims: bool = False, *, where: Any = None, correction: Any = None) -> Any:
  """The variance along axes; see `gnomon.numpy.var`."""
  return _numpy.var(
      self, axis=axis, dtype=dtype, out=out, ddof=ddof, keepdims=keepdims, where=where,
      correction=correction)


def _ptp(self: Any, axis: Any = None, out: None = None, keepdims: bool = False) -> Any:
  """The largest element minus the smallest, along axes; see `gnomon.numpy.ptp`."""
  return _numpy.ptp(self, axis=axis, out=out, keepdims=keepdims)


def _cumprod(self: Any, axis: Any = None, dtype: Any = None, out: None = None) -> Any:
  """Products of the elements so far; see `gnomon.numpy.cumprod`."""
  return _numpy.cumprod(self, axis=axis, dtype=dtype, out=out)


def _cumsum(self: Any, axis: Any = None, dtype: Any = None, out: None = None) -> Any:
  """Sums of the elements so far; see `gnomon.numpy.cumsum`."""
  return _numpy.cumsum(self, axis=axis, dtype=dtype, out=out)


def _trace(self: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None,
           out: None = None) -> Any:
  """The sum of a diagonal; see `gnomon.numpy.trace`."""
  return _numpy.trace(
      self, offset=offset, axis1=axis1, axis2=axis2, dtype=dtype, out=out)


# ---- order -------------------------------------------------------------------------


def _argpartition(self: Any, kth: int, axis: int = -1) -> Any:
  """The indices that put one element in its place; see `gnomon.numpy.argpartition`."""
  return _numpy.argpartition(self, kth=kth, axis=axis)


def _argsort(self: Any, axis: int | None = -1, *, kind: None = None, order: None = None,
             stable: bool = True, descending: bool = False) -> Any:
  """The indices that sort along an axis; see `gnomon.numpy.argsort`."""
  return _numpy.argsort(
      self, axis=axis, kind=kind, order=order, stable=stable, descending=descending)


def _sort(self: Any, axis: int | None = -1, *, kind: None = None, order: None = None,
          stable: bool = True, descending: bool = False) -> Any:
  """A sorted copy; see `gnomon.numpy.sort`."""
  return _numpy.sort(
      self, axis=axis, kind=kind, order=order, stable=stable, descending=descending)


def _searchsorted(self: Any, v: Any, side: str = "left", sorter: Any = None, *,
                  method: str = "scan") -> Any:
  """Where values belong in the sorted array; see `gnomon.numpy.searchsorted`."""
  return _numpy.searchsorted(self, v, side=side, sorter=sorter, method=method)


# ---- selection ---------------------------------------------------------------------


def _choose(self: Any, choices: Any, out: None = None, mode: str = "raise") -> Any:
  """Elements of `choices` by this array's values; see `gnomon.numpy.choose`."""
  return _numpy.choose(self, choices=choices, out=out, mode=mode)


def _compress(self: Any, condition: Any, axis: int | None = None, *, out: None = None,
              size: int | None = None, fill_value: Any = 0) -> Any:
  """The slices for which a condition holds; see `gnomon.numpy.compress`."""
  return _numpy.compress(
      condition, self, axis=axis, out=out, size=size, fill_value=fill_value)


def _diagonal(self: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
  """A diagonal; see `gnomon.numpy.diagonal`."""
  return _numpy.diagonal(self, offset=offset, axis1=axis1, axis2=axis2)


def _nonzero(self: Any, *, fill_value: Any = None, size: int | None = None) -> Any:
  """The indices of elements that are not zero; see `gnomon.numpy.nonzero`."""
  return _numpy.nonzero(self, size=size, fill_value=fill_value)


def _repeat(self: Any, repeats: Any, axis: int | None = None, *,
            total_repeat_length: int | None = None, out_sharding: Any = None) -> Any:
  """Each element several times; see `gnomon.numpy.repeat`."""
  return _numpy.repeat(
      self, repeats=repeats, axis=axis, total_repeat_length=total_repeat_length,
      out_sharding=out_sharding)


def _take(self: Any, indices: Any, axis: int | None = None, out: None = None,
          mode: str | None = None, unique_indices: bool = False,
          indices_are_sorted: bool = False, fill_value: Any = None) -> Any:
  """Elements at indices along an axis; see `gnomon.numpy.take`."""
  return _numpy.take(
      self, indices, axis=axis, out=out, mode=mode, unique_indices=unique_indices,
      indices_are_sorted=indices_are_sorted, fill_value=fill_value)


def _contains(self: Any, value: Any) -> Any:
  """Whether a value is among the elements of a one-dimensional array."""
  if typeof(self).ndim != 1:
    raise ValueError(
        "Array.__contains__: search array must be one-dimensional, since elsewhere "
        f"elements and rows could be meant; its shape is {typeof(self).shape}. Use "
        "(array == value).any()")
  try:
    shape = typeof(value).shape
  except TypeError:
    raise TypeError(
        "Array.__contains__: unsupported operand type: expected a number, got "
        f"{value!r} of type {type(value).__name__}") from None
  if shape:
    raise ValueError(
        "Array.__contains__: query value must be a scalar, got an array of shape "
        f"{shape}; use gnomon.numpy.isin(values, array)")
  return (self == value).any()


# ---- shape -------------------------------------------------------------------------


def _flatten(self: Any, order: str = "C", *, out_sharding: Any = None) -> Any:
  """The elements in one dimension, in memory of their own; see `gnomon.numpy.ravel`."""
  out = _numpy.ravel(self, order=order, out_sharding=out_sharding)
  return _numpy.copy(out) if out is self and not isinstance(self, Tracer) else out


def _ravel(self: Any, order: str = "C", *, out_sharding: Any = None) -> Any:
  """The elements in one dimension; see `gnomon.numpy.ravel`."""
  return _numpy.ravel(self, order=order, out_sharding=out_sharding)


def _reshape(self: Any, *args: Any, order: str = "C", out_sharding: Any = None) -> Any:
  """The elements in another shape, given as a tuple or as arguments."""
  shape = args[0] if len(args) == 1 else args
  return _numpy.reshape(self, shape, order, out_sharding=out_sharding)


def _squeeze(self: Any, axis: Any = None) -> Any:
  """Without dimensions of size 1; see `gnomon.numpy.squeeze`."""
  return _numpy.squeeze(self, axis=axis)


def _swapaxes(self: Any, axis1: int, axis2: int) -> Any:
  """With two axes exchanged; see `gnomon.numpy.swapaxes`."""
  return _numpy.swapaxes(self, axis1=axis1, axis2=axis2)


def _transpose(self: Any, *args: Any) -> Any:
  """With axes in another order, given as a tuple or as arguments; reversed by default."""
  axes = None if not args else args[0] if len(args) == 1 else args
  return _numpy.transpose(self, (axes,) if isinstance(axes, int) else axes)


def _t(self: Any) -> Any:
  """The array with its axes reversed."""
  return _numpy.transpose(self)


def _mt(self: Any) -> Any:
  """The array with its last two axes exchanged."""
  return _numpy.matrix_transpose(self)


# ---- elements ----------------------------------------------------------------------


def _clip(self: Any, min: Any = None, max: Any = None) -> Any:
  """Elements limited to a range; see `gnomon.numpy.clip`."""
  return _numpy.clip(self, min=min, max=max)


def _conj(self: Any) -> Any:
  """Complex conjugates; see `gnomon.numpy.conj`."""
  return _numpy.conj(self)


def _dot(self: Any, b: Any, *, precision: Any = None,
         preferred_element_type: Any = None) -> Any:
  """The product with another array; see `gnomon.numpy.dot`."""
  return _numpy.dot(
      self, b, precision=precision, preferred_element_type=preferred_element_type)


def _imag(self: Any) -> Any:
  """The imaginary parts."""
  return _numpy.imag(self)


def _real(self: Any) -> Any:
  """The real parts."""
  return _numpy.real(self)


def _round(self: Any, decimals: int = 0, out: None = None) -> Any:
  """Elements with so many decimals; see `gnomon.numpy.round`."""
  return _numpy.round(self, decimals=decimals, out=out)


# ---- storage -----------------------------------------------------------------------


def _astype(self: Any, dtype: Any, copy: bool = False, device: Any = None) -> Any:
  """Elements converted to a dtype; see `gnomon.numpy.astype`."""
  return _numpy.astype(self, dtype, copy=copy, device=device)


def _copy(self: Any) -> Any:
  """A copy of the array."""
  return _numpy.array(self, copy=True)


def _byteswap(self: Any) -> Any:
  """The elements with their bytes in reverse order."""
  return _views.byteswap(self)


def _view(self: Any, dtype: Any = None, type: None = None) -> Any:
  """The bytes read as another dtype; the last dimension takes a change of size.

  Raises:
    NotImplementedError: `type` is given.
    ValueError: sizes differ, and the last dimension is missing or does not fit.
  """
  if type is not None:
    raise NotImplementedError(
        f"view: the argument 'type' is not supported, got {type!r}: there is one class "
        "of arrays")
  if dtype is None:
    return self
  return _views.view(self, dtype=dtypes.check_user_dtype_supported(dtype, "view"))


def _to_device(self: Any, device: Any, *, stream: Any = None) -> Any:
  """The array on a device, or with a sharding.

  Raises:
    NotImplementedError: `stream` is given.
  """
  if stream is not None:
    raise NotImplementedError(
        f"to_device: the argument 'stream' is not supported, got {stream!r}")
  from gnomon import device_put
  return device_put(self, device)


def _flat(self: Any) -> NoReturn:
  """Not supported, since arrays do not change."""
  raise NotImplementedError(
      "arrays have no attribute 'flat', an iterator that writes: use x.flatten()")


def _itemsize(self: Any) -> int:
  """The bytes that an element takes."""
  size: int = typeof(self).dtype.itemsize
  return size


def _nbytes(self: Any) -> int:
  """The bytes that the elements take."""
  size: int = typeof(self).size * typeof(self).dtype.itemsize
  return size


def _array_namespace(self: Any, *, api_version: str | None = None) -> Any:
  """The module `gnomon.numpy`, by the array API standard.

  Raises:
    ValueError: another version of the standard is asked for.
  """
  if api_version is not None and api_version != __array_api_version__:
    raise ValueError(
        f"api_version={api_version!r} of the array API is not available; there is "
        f"{__array_api_version__!r}")
  return _numpy


def _array_module(self: Any, types: Any) -> Any:
  """The module `gnomon.numpy`, if all types are arrays of it or numbers."""
  from gnomon.runtime.jaxlib import arrays
  known = (arrays.ArrayBase, int, float, complex, np.ndarray, np.generic)
  return _numpy if all(issubclass(t, known) for t in types) else NotImplemented


METHODS: dict[str, Callable[..., Any]] = {
    "all": _all, "any": _any, "argmax": _argmax, "argmin": _argmin,
    "argpartition": _argpartition, "argsort": _argsort, "astype": _astype,
    "byteswap": _byteswap, "choose": _choose, "clip": _clip, "compress": _compress,
    "conj": _conj, "conjugate": _conj, "copy": _copy, "cumprod": _cumprod,
    "cumsum": _cumsum, "diagonal": _diagonal, "dot": _dot, "flatten": _flatten,
    "max": _max, "mean": _mean, "min": _min, "nonzero": _nonzero, "prod": _prod,
    "ptp": _ptp, "ravel": _ravel, "repeat": _repeat, "reshape": _reshape, "round": _round,
    "searchsorted": _searchsorted, "sort": _sort, "squeeze": _squeeze, "std": _std,
    "sum": _sum, "swapaxes": _swapaxes, "take": _take, "to_device": _to_device,
    "trace": _trace, "transpose": _transpose, "var": _var, "view": _view,
    "__contains__": _contains,
    "__array_namespace__": _array_namespace, "__array_module__": _array_module,
}

PROPERTIES: dict[str, property] = {
    "T": property(_t), "mT": property(_mt), "real": property(_real),
    "imag": property(_imag), "flat": property(_flat), "itemsize": property(_itemsize),
    "nbytes": property(_nbytes),
}


def _named(methods: dict[str, Callable[..., Any]]) -> dict[str, Any]:
  for name, method in methods.items():
    method.__name__, method.__qualname__ = name, f"Array.{name}"
  return methods


ATTRIBUTES: dict[str, Any] = {
    **_named(METHODS), **PROPERTIES, "__array_priority__": 100}
