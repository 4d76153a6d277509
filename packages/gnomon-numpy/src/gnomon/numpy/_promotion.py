"""Arguments of NumPy functions: checked, made arrays, promoted, broadcast."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gnomon import config
from gnomon.core import dtypes
from gnomon.core.structural import broadcast_in_dim, convert
from gnomon.core.trace import Tracer
from gnomon.core.types import Valueless, is_array_like, typeof
from gnomon.runtime.jaxlib import arrays, cells

Array = arrays.Array
_ARRAYS = (Array, Tracer)
_SCALARS = (bool, int, float, complex)
_NONE: Any = object()
_KNOWN = (Array, Tracer, bool, int, float, complex, np.ndarray, np.generic)


def check_arraylike(name: str, *args: Any) -> None:
  """Raises `TypeError` for an argument that is no array and no number."""
  for i, x in enumerate(args):
    if isinstance(x, _KNOWN) or hasattr(x, "__jax_array__"):
      continue
    if isinstance(x, Valueless) or not is_array_like(x):
      raise TypeError(
          f"{name} requires ndarray or scalar arguments, got {type(x)} at position {i}.")


def promote_dtypes(*args: Any) -> list[Any]:
  """Converts arguments to their common dtype, weak if all of them are."""
  dtype, weak = dtypes.lattice_result_type(*args)
  dtype = dtypes.canonicalize_dtype(dtype, allow_extended_dtype=True)
  return [as_type(x, dtype, weak) for x in args]


def promote_dtypes_inexact(*args: Any) -> list[Any]:
  """Like `promote_dtypes`, to a floating-point or complex dtype."""
  dtype, weak = dtypes.lattice_result_type(*args)
  dtype = dtypes.to_inexact_dtype(dtypes.canonicalize_dtype(dtype))
  return [as_type(x, dtype, weak) for x in args]


def as_type(x: Any, dtype: Any, weak: bool) -> Any:
  """A value with a dtype: Python numbers stay scalars, to be written into the program."""
  if type(x) in _SCALARS:
    return _scalar(x, dtype, weak)
  return convert(x, dtype, weak)


def weak_if_all_are(args: Sequence[Any], *promoted: Any) -> list[Any]:
  """Promoted arguments, weak only if all were, not if it is the weak one that decides."""
  aval = typeof(promoted[0])
  if not aval.weak_type or all(
      type(x) is bool or dtypes.is_weakly_typed(x) for x in args):
    return list(promoted)
  return [as_type(x, aval.dtype, False) for x in promoted]


def as_array(x: Any) -> Any:
  """A value as an array or tracer, where a Python number would not do."""
  aval = typeof(x)
  return convert(x, aval.dtype, aval.weak_type)


def _scalar(x: Any, dtype: Any, weak: bool) -> Any:
  aval = typeof(x)  # refuses an int that is out of range
  if weak:
    if aval.dtype == dtype:
      return x
    value = np.asarray(x).astype(dtype)[()]
    return value.item() if typeof(value.item()).dtype == dtype else value
  try:
    return dtype.type(x)
  except OverflowError:  # a Python int in a narrow dtype wraps around
    return np.asarray(x).astype(dtype)[()]


def promote_shapes(name: str, *args: Any) -> list[Any]:
  """Gives arguments one rank by NumPy's rule; scalars stay as they are.

  Sizes of 1 stay too: the elementwise operations of lax take them among larger ones.

  Raises:
    ValueError: the shapes do not fit; or `numpy_rank_promotion` forbids it.
  """
  shapes = [typeof(x).shape for x in args]
  full = [s for s in shapes if s]
  if not full or all(s == full[0] for s in full):
    return list(args)
  if len({len(s) for s in full}) > 1:
    check_rank_promotion(
        f"Following NumPy automatic rank promotion for {name} on shapes "
        f"{' '.join(map(str, shapes))}")
  n = len(broadcast_shapes(name, *shapes))
  return [
      x if len(s) in (0, n) else broadcast_in_dim(
          x, (1,) * (n - len(s)) + s, tuple(range(n - len(s), n)))
      for x, s in zip(args, shapes)]


def broadcast_shapes(name: str, *shapes: Sequence[int]) -> tuple[int, ...]:
  """The common shape by NumPy's rule.

  Raises:
    ValueError: two sizes differ and neither is 1.
  """
  n = max(map(len, shapes), default=0)
  out = [1] * n
  for s in shapes:
    for i, size in enumerate(s, n - len(s)):
      if size != 1:
        if out[i] not in (1, size):
          raise ValueError(
              f"{name}: incompatible shapes for broadcasting: "
              f"{', '.join(map(str, shapes))}")
        out[i] = size
  return tuple(out)


def check_rank_promotion(what: str) -> None:
  """Warns or raises where shapes have several ranks, if an option asks for that."""
  mode = config.read("numpy_rank_promotion")
  if mode == "allow":
    return
  message = (
      f"{what}, while the option numpy_rank_promotion is {mode!r}: give the operands one "
      "rank explicitly")
  if mode == "raise":
    raise ValueError(message)
  import warnings  # only where the option asks for it
  warnings.warn(message, stacklevel=4)


def promote_args(name: str, *args: Any) -> Sequence[Any]:
  """Checks, promotes and broadcasts the operands of an elementwise function."""
  if len(args) == 2:
    x, y = args
    if getattr(x, "aval", _NONE) is getattr(y, "aval", None):
      return args
    pair = _promoted_pair(name, x, y)
    if pair is not None:
      return pair
  elif len(args) == 1 and isinstance(args[0], _ARRAYS):
    return args
  args = _arrays(name, args)
  if len(args) == 1:
    return promote_dtypes(*args)
  _check_keys(name, args)
  return promote_shapes(name, *promote_dtypes(*args))


def _check_keys(name: str, args: Sequence[Any]) -> None:
  """Raises `TypeError` where keys meet anything else: no dtype holds both."""
  own = [getattr(x, "dtype", None) for x in args]
  if any(isinstance(d, dtypes.ExtendedDType) for d in own) and len(set(own)) > 1:
    listed = ", ".join(str(typeof(x).dtype) for x in args)
    raise TypeError(f"{name} does not accept dtypes {listed}.")


def _arrays(name: str, args: tuple[Any, ...]) -> tuple[Any, ...]:
  """Checked arguments; those that know how to become an array have become one."""
  check_arraylike(name, *args)
  return tuple(
      x.__jax_array__() if hasattr(type(x), "__jax_array__") else x for x in args)


def _promoted_pair(name: str, x: Any, y: Any) -> list[Any] | None:
  """What `promote_args` answers for two operands, where that is plain; otherwise None.

  Tracing a program is mostly this: arrays of one dtype, or an array with a Python number
  whose kind is not higher.
  """
  if isinstance(x, _ARRAYS):
    a = x.aval
    if isinstance(y, _ARRAYS):
      b = y.aval
      return [x, y] if a is b else _arrays_together(name, x, y)
    if type(y) in _LOWER.get(a.dtype, ()) and not (a.weak_type and _is_narrow(a)):
      return [x, _scalar(y, a.dtype, a.weak_type)]
  elif isinstance(y, _ARRAYS):
    b = y.aval
    if type(x) in _LOWER.get(b.dtype, ()) and not (b.weak_type and _is_narrow(b)):
      return [_scalar(x, b.dtype, b.weak_type), y]
  return None


def _is_narrow(aval: Any) -> bool:
  """Whether a weak type has fewer bits than numbers have at present."""
  return bool(cells.x64.value) and aval.dtype not in _WIDE


_WIDE = (np.dtype(np.int64), np.dtype(np.float64), np.dtype(np.complex128))


def _arrays_together(name: str, x: Any, y: Any) -> list[Any]:
  """Two arrays promoted and broadcast, by a plan that is remembered by their types."""
  key = (x.aval, y.aval, cells.x64.value, cells.trace_key.value)
  plan = _pairs.get(key)
  if plan is None:
    plan = _pair_plan(name, x, y)
    if len(_pairs) >= _MOST:
      _pairs.clear()
    if config.read("numpy_rank_promotion") == "allow":  # otherwise it may have to warn
      _pairs[key] = plan
  dtype, weak, from_x, from_y, shape_x, shape_y = plan
  if from_x:
    x = convert(x, dtype, weak)
  if from_y:
    y = convert(y, dtype, weak)
  if shape_x is not None:
    x = broadcast_in_dim(x, *shape_x)
  if shape_y is not None:
    y = broadcast_in_dim(y, *shape_y)
  return [x, y]


_pairs: dict[Any, Any] = {}
_MOST = 4096


def _pair_plan(name: str, x: Any, y: Any) -> tuple[Any, ...]:
  """The common dtype and weakness, who lacks it, and how who has the lower rank rises."""
  _check_keys(name, (x, y))
  dtype, weak = dtypes.lattice_result_type(x, y)
  dtype = dtypes.canonicalize_dtype(dtype, allow_extended_dtype=True)
  changes = [v.aval.dtype != dtype or v.aval.weak_type is not weak for v in (x, y)]
  s, t = x.aval.shape, y.aval.shape
  if s == t or not s or not t:
    return (dtype, weak, *changes, None, None)
  if len(s) != len(t):
    check_rank_promotion(
        f"Following NumPy automatic rank promotion for {name} on shapes {s} {t}")
  n = len(broadcast_shapes(name, s, t))
  higher = [
      None if len(v) == n else ((1,) * (n - len(v)) + v, tuple(range(n - len(v), n)))
      for v in (s, t)]
  return (dtype, weak, *changes, *higher)


_INEXACT = frozenset(
    dtype for dtype in dtypes.supported_dtypes if dtypes.issubdtype(dtype, np.inexact))


def _lower_scalars() -> dict[Any, tuple[type, ...]]:
  kinds: dict[Any, tuple[type, ...]] = {}
  for dtype in dtypes.supported_dtypes:
    if dtypes.issubdtype(dtype, np.integer):
      kinds[dtype] = (int,)
    elif dtypes.issubdtype(dtype, np.floating):
      kinds[dtype] = (int, float)
    elif dtypes.issubdtype(dtype, np.complexfloating):
      kinds[dtype] = (int, float, complex)
  return kinds


# The Python numbers that take an array's dtype, by that dtype.
_LOWER = _lower_scalars()


def promote_args_inexact(name: str, *args: Any) -> Sequence[Any]:
  """Like `promote_args`, to a floating-point or complex dtype."""
  if len(args) == 1:
    first = args[0]
    if isinstance(first, _ARRAYS) and first.aval.dtype in _INEXACT:
      return args
  elif len(args) == 2 and any(
      isinstance(x, _ARRAYS) and x.aval.dtype in _INEXACT for x in args):
    pair = _promoted_pair(name, *args)
    if pair is not None:
      return pair
  args = _arrays(name, args)
  if len(args) == 1:
    return promote_dtypes_inexact(*args)
  return promote_shapes(name, *promote_dtypes_inexact(*args))


def promote_args_numeric(name: str, *args: Any) -> list[Any]:
  """Like `promote_args`, booleans to integers."""
  args = tuple(promote_args(name, *args))
  if typeof(args[0]).dtype != bool:
    return list(args)
  return [as_type(x, np.dtype(np.int32), False) for x in args]


def canonical_axis(axis: int, ndim: int, name: str) -> int:
  """An axis counted from the front.

  Raises:
    ValueError: it is out of range.
  """
  if not hasattr(axis, "__index__"):
    raise TypeError(
        f"{name}: an axis must be an integer, got {axis!r} of type {type(axis)}")
  axis = axis.__index__()
  if not -ndim <= axis < ndim:
    raise ValueError(
        f"{name}: axis {axis} is out of bounds for array of dimension {ndim}")
  return axis % ndim


def canonical_axes(axis: Any, ndim: int, name: str) -> tuple[int, ...]:
  """Axes counted from the front; None stands for all.

  Raises:
    ValueError: one is out of range, or there are duplicates.
  """
  if axis is None:
    return tuple(range(ndim))
  if hasattr(axis, "__index__") and not getattr(axis, "ndim", 0):
    return (canonical_axis(axis, ndim, name),)
  axes = tuple(canonical_axis(a, ndim, name) for a in axis)
  if len(set(axes)) != len(axes):
    raise ValueError(f"{name}: duplicate value in 'axis': {axis} (repeated axis)")
  return axes
