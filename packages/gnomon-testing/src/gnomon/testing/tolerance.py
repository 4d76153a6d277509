"""How close is close enough, by dtype; comparing trees of arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gnomon import tree_util
from gnomon.testing._numeric import dtype_of, is_float, wide

VALUE_TOLERANCE: Mapping[str, float] = {
    "float8_e4m3b11fnuz": 1e-1, "float8_e4m3fn": 1e-1, "float8_e5m2": 2e-1,
    "bfloat16": 1e-2, "float16": 1e-3, "float32": 2e-6, "float64": 1e-14,
    "complex64": 2e-6, "complex128": 1e-14,
}
"""Errors of values: a few units in the last place."""

Tolerance = float | Mapping[Any, float] | None
"""One number, or numbers by dtype, or the default."""

GRADIENT_TOLERANCE: Mapping[str, float] = {
    "bfloat16": 1e-1, "float16": 2e-2, "float32": 2e-3, "float64": 1e-5,
    "complex64": 2e-3, "complex128": 1e-5,
}
"""Errors of derivatives when they are compared with finite differences."""


def value_tolerance(*arrays: Any) -> float:
  """The tolerance of the least precise of some arrays; 0 for integers.

  >>> import numpy as np
  >>> value_tolerance(np.float64(1), np.float16(1))
  0.001
  """
  return _worst(VALUE_TOLERANCE, arrays)


def gradient_tolerance(*arrays: Any) -> float:
  """Like `value_tolerance`, for derivatives.

  >>> import numpy as np
  >>> gradient_tolerance(np.float32(1))
  0.002
  """
  return _worst(GRADIENT_TOLERANCE, arrays)


def _worst(table: Mapping[str, float], arrays: Sequence[Any]) -> float:
  names = [str(dtype_of(x)) for x in arrays if is_float(x)]
  unknown = [name for name in names if name not in table]
  if unknown:
    raise ValueError(
        f"there is no default tolerance for the dtype {unknown[0]}; pass atol and rtol")
  return max((table[name] for name in names), default=0.0)


def assert_close(
    actual: Any, expected: Any, *, atol: Tolerance = None, rtol: Tolerance = None,
    tolerances: Mapping[str, float] = VALUE_TOLERANCE, check_dtypes: bool = False,
    message: str = "") -> None:
  """Asserts that two trees of arrays agree in structure, shapes and values.

  Values agree if `|actual - expected| <= atol + rtol * |expected|`; NaN agrees with
  NaN, and infinities with themselves.

  Args:
    actual: a pytree of arrays.
    expected: a pytree of the same structure.
    atol: the absolute tolerance, or several by dtype; by default that of the less
      precise dtype of the two.
    rtol: the relative tolerance, likewise.
    tolerances: the defaults by dtype.
    check_dtypes: whether dtypes must agree as well.
    message: what is compared; begins the error.

  Raises:
    AssertionError: they do not agree. Says where, by how much, and what was allowed.

  >>> assert_close({"a": 1.0}, {"a": 1.0 + 1e-9})
  >>> assert_close([1.0, 2.0], [1.0, 2.5], message="speeds")
  Traceback (most recent call last):
    ...
  AssertionError: speeds[1]: 1 of 1 elements differ, most of all 2.0 from 2.5 ...
  """
  for (path, a), b in zip(
      _leaves(actual), _match(actual, expected, message), strict=True):
    where = f"{message}{tree_util.keystr(path)}" or "value"
    if np.shape(a) != np.shape(b):
      raise AssertionError(
          f"{where}: the shape is {np.shape(a)}, but should be {np.shape(b)}")
    if check_dtypes and dtype_of(a) != dtype_of(b):
      raise AssertionError(
          f"{where}: the dtype is {dtype_of(a)}, but should be {dtype_of(b)}")
    _assert_leaf_close(
        wide(a), wide(b), asked_tolerance(atol, tolerances, (a, b)),
        asked_tolerance(rtol, tolerances, (a, b)), where)


def asked_tolerance(
    given: Tolerance, defaults: Mapping[str, float], arrays: Sequence[Any]) -> float:
  """The tolerance that a user asked for, or the default one."""
  if given is None:
    return _worst(defaults, arrays)
  if isinstance(given, Mapping):
    named = {np.dtype(dtype).name: value for dtype, value in given.items()}
    return _worst({**defaults, **named}, arrays)
  return given


def _leaves(tree: Any) -> list[tuple[tree_util.KeyPath, Any]]:
  return tree_util.tree_leaves_with_path(tree)


def _match(actual: Any, expected: Any, message: str) -> list[Any]:
  one = tree_util.tree_structure(actual)
  leaves, other = tree_util.tree_flatten(expected)
  if one != other:
    raise AssertionError(
        f"{message or 'value'}: the structure is {one}, but should be {other}")
  return leaves


def _assert_leaf_close(
    a: np.ndarray[Any, Any], b: np.ndarray[Any, Any], atol: float, rtol: float,
    where: str) -> None:
  if a.dtype.kind == "V" or b.dtype.kind == "V":
    return  # float0 holds no values
  with np.errstate(invalid="ignore", over="ignore"):
    error = np.abs(np.subtract(a, b, dtype=np.result_type(a, b, np.float64)))
    near = np.isfinite(b) & (error <= atol + rtol * np.abs(b))
    good = near | (a == b) | (np.isnan(a) & np.isnan(b))
  if np.all(good):
    return
  size = np.where(good, -1.0, np.where(np.isnan(error), np.inf, error))
  worst = np.unravel_index(int(np.argmax(size)), size.shape)
  place = f" at {tuple(map(int, worst))}" if size.ndim else ""
  raise AssertionError(
      f"{where}: {int(np.sum(~good))} of {good.size} elements differ, most of all "
      f"{a[worst]} from {b[worst]} (expected){place}; the error is {error[worst]:.3g}, "
      f"allowed are atol={atol:g} and rtol={rtol:g}")
