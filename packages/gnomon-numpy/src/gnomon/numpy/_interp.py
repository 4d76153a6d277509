"""Linear interpolation between samples."""

from __future__ import annotations

from typing import Any

import numpy as np

from gnomon import lax
from gnomon.core import dtypes
from gnomon.core.structural import convert, select_n
from gnomon.core.types import typeof
from gnomon.numpy._arithmetic import remainder
from gnomon.numpy._compiled import compiled
from gnomon.numpy._promotion import promote_dtypes_inexact
from gnomon.numpy._searching import search
from gnomon.numpy._values import (
  array_of,
  arrays_of,
  choose,
  is_kind,
  is_nan,
  one_array,
  scalar,
  spread,
  take_rows,
)


def interp(
    x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None,
    period: Any = None) -> Any:
  """Values of the broken line through given points.

  Args:
    x: where to evaluate it.
    xp: the points' first coordinates, increasing: a vector.
    fp: their second coordinates.
    left: the value to the left of all points; by default that of the first one, and
      `"extrapolate"` for the line through the first two.
    right: the same to the right.
    period: the period of the function; points need not be sorted then, and `left` and
      `right` do not matter.

  >>> import gnomon.numpy as gnp
  >>> gnp.interp(1.5, gnp.array([1.0, 2.0]), gnp.array([10.0, 20.0])).item()
  15.0

  Raises:
    TypeError: an argument is no array and no number.
    ValueError: `xp` and `fp` are no vectors of one size, or have no points.
  """
  for name, side in (("left", left), ("right", right)):
    if isinstance(side, str) and side != "extrapolate":
      raise ValueError(
          f"the only valid string value of `{name}` is 'extrapolate', but got: {side!r}")
  beyond = (left if isinstance(left, str) else None, right if isinstance(right,
      str) else None)
  left = None if beyond[0] else left
  right = None if beyond[1] else right
  return _interp(x, xp, fp, left, right, period, beyond)


@compiled(static=("beyond",))
def _interp(
    x: Any, xp: Any, fp: Any, left: Any, right: Any, period: Any,
    beyond: tuple[Any, Any]) -> Any:
  x, xp, fp = arrays_of("interp", x, xp, fp)
  shapes = (typeof(xp).shape, typeof(fp).shape)
  if len(shapes[0]) != 1 or shapes[0] != shapes[1]:
    raise ValueError(
        "xp and fp must be one-dimensional arrays of equal size")
  if not shapes[0][0]:
    raise ValueError("interp: xp and fp have no points to interpolate between")
  x, xp = [array_of(z) for z in promote_dtypes_inexact(x, xp)]
  (fp,) = [array_of(z) for z in promote_dtypes_inexact(fp)]
  if is_kind(x, np.complexfloating):
    raise ValueError("jnp.interp: complex x values not supported.")
  dtype, weak = dtypes.lattice_result_type(x, fp)
  dtype = dtypes.canonicalize_dtype(dtype)
  fp = convert(fp, dtype)
  if period is not None:
    x, xp, fp = _around(x, xp, fp, period)
    left = right = None
    beyond = (None, None)
  return convert(_on_lines(x, xp, fp, left, right, beyond), dtype, weak)


def _around(x: Any, xp: Any, fp: Any, period: Any) -> tuple[Any, Any, Any]:
  """Everything within one period, the points sorted, with one more on either side."""
  period = convert(one_array("interp", period), typeof(x).dtype)
  if typeof(period).ndim:
    raise ValueError(f"interp: period must be a scalar; got {typeof(period)}")
  period = lax.abs(period)
  x, xp = remainder(x, period), remainder(xp, period)
  n = typeof(xp).shape[0]
  xp, order = lax.sort((xp, lax.iota(np.int32, n)), num_keys=1)
  fp = take_rows(fp, order, 0, unique=True)
  first, last = (lax.slice_in_dim(xp, i, i + 1) for i in (0, n - 1))
  width = lax.broadcast_in_dim(period, (1,), ())
  xp = lax.concatenate([lax.sub(last, width), xp, lax.add(first, width)], 0)
  fp = lax.concatenate(
      [lax.slice_in_dim(fp, n - 1, n), fp, lax.slice_in_dim(fp, 0, 1)], 0)
  return x, xp, fp


def _on_lines(
    x: Any, xp: Any, fp: Any, left: Any, right: Any, beyond: tuple[Any, Any]) -> Any:
  shape, n = typeof(x).shape, typeof(xp).shape[0]
  dtype, value = typeof(x).dtype, typeof(fp).dtype
  if n == 1:
    out = spread("interp", lax.index_in_dim(fp, 0, keepdims=False), shape)
  else:
    at = search(lax.stop_gradient(xp), lax.stop_gradient(x), "right", "scan")
    index = typeof(at).dtype
    after = lax.clamp(scalar(1, index), at, scalar(n - 1, index))
    before = lax.sub(after, scalar(1, index))
    x0, x1 = take_rows(xp, before, 0), take_rows(xp, after, 0)
    f0, f1 = take_rows(fp, before, 0), take_rows(fp, after, 0)
    width = lax.sub(x1, x0)
    same = lax.eq(width, scalar(0, dtype))
    share = lax.div(lax.sub(x, x0), choose(lax.bitwise_not(same), width,
        scalar(1, dtype)))
    rise = lax.sub(f1, f0)
    out = lax.add(f0, lax.mul(convert(share, value), rise))
    # Exact at the points, also beside infinities.
    out = select_n(lax.bitwise_or(same, lax.eq(x, x0)), out, f0)
    out = select_n(lax.eq(x, x1), out, f1)
  first, last = (lax.index_in_dim(xp, i, keepdims=False) for i in (0, n - 1))
  if beyond[0] is None:
    edge = lax.index_in_dim(fp, 0, keepdims=False) if left is None else convert(
        one_array("interp", left), value)
    out = select_n(_against(x, first, lax.lt), out, spread("interp", edge, shape))
  if beyond[1] is None:
    edge = lax.index_in_dim(fp, n - 1, keepdims=False) if right is None else convert(
        one_array("interp", right), value)
    out = select_n(_against(x, last, lax.gt), out, spread("interp", edge, shape))
  return select_n(is_nan(x), out, lax.full(shape, np.nan, value))


def _against(x: Any, y: Any, compare: Any) -> Any:
  return compare(x, lax.broadcast_in_dim(y, typeof(x).shape, ()))
