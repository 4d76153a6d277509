"""Quantiles, percentiles, medians, by all of NumPy's methods."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from gnomon import lax
from gnomon.core import dtypes
from gnomon.core.structural import broadcast_in_dim, convert, reduce_sum, select_n
from gnomon.core.trace import EVAL, Tracer, get_current
from gnomon.core.types import typeof
from gnomon.numpy._compiled import compiled, freeze
from gnomon.numpy._conversion import made_here
from gnomon.numpy._promotion import (
  canonical_axes,
  check_arraylike,
  promote_dtypes_inexact,
)
from gnomon.numpy._quantile_places import METHODS, Host, Traced, positions
from gnomon.numpy._reductions import Axis, elements, prepare
from gnomon.numpy._values import (
  array_of,
  choose,
  is_kind,
  is_nan,
  keep_axes,
  one_array,
  promise_index,
  scalar,
  spread,
  take_along,
)
from gnomon.runtime.jaxlib import arrays

Array = arrays.Array


def _check(name: str, out: Any, overwrite_input: bool, method: str) -> None:
  if overwrite_input or out is not None:
    raise ValueError(
        f"{name} does not support overwrite_input=True or an argument out: arrays cannot "
        "be changed")
  if method not in METHODS:
    raise ValueError(
        f"{name}: the method {method!r} is unknown; there are {', '.join(METHODS)}")


# ---- the data


def _one_axis(name: str, a: Any, axis: Axis) -> tuple[Any, int, Any, tuple[int, ...]]:
  """Floats with the axes of a quantile as one, which one, the old shape, and the axes."""
  x, axes = prepare(name, a, axis, None)
  if is_kind(x, np.complexfloating):
    raise ValueError(
        f"{name} does not support complex numbers: they have no order. Take x.real or "
        "abs(x)")
  (x,) = promote_dtypes_inexact(x)
  x = convert(x, typeof(x).dtype)
  shape = typeof(x).shape
  if len(axes) == 1:
    return x, axes[0], shape, axes
  kept = [d for d in range(len(shape)) if d not in axes]
  x = lax.transpose(x, (*kept, *sorted(axes)))
  sizes = tuple([shape[d] for d in kept])
  count = 1
  for d in axes:
    count *= shape[d]
  return lax.reshape(x, (*sizes, count)), len(kept), shape, axes


def _mix(low: Any, high: Any, weight: Any) -> Any:
  """Between two elements, exact at both, also of infinities; nan for a weight of nan."""
  if isinstance(weight, np.generic) and weight in (0, 1):
    return high if weight else low
  one, zero = scalar(1, typeof(weight).dtype), scalar(0, typeof(weight).dtype)
  rest = one - weight if isinstance(weight, np.generic) else lax.sub(one, weight)
  mixed = lax.add(lax.mul(low, rest), lax.mul(high, weight))
  if isinstance(weight, np.generic):
    return select_n(lax.eq(low, high), mixed, low) if not np.isnan(weight) else mixed
  mixed = select_n(lax.eq(weight, one), mixed, high)
  exact = lax.bitwise_or(
      lax.eq(weight, zero), lax.bitwise_and(lax.eq(low, high), lax.eq(weight, weight)))
  return select_n(exact, mixed, low)


def _pick(x: Any, at: Any, axis: int) -> Any:
  """The parts with these numbers; dimensions of `at` come first."""
  if isinstance(at, (int, np.generic)):
    return lax.index_in_dim(x, int(at), axis, keepdims=False)
  aval, n = typeof(x), typeof(at).ndim
  numbers = lax.GatherDimensionNumbers(
      tuple(range(n, n + aval.ndim - 1)), (axis,), (axis,))
  sizes = tuple([1 if d == axis else m for d, m in enumerate(aval.shape)])
  at = broadcast_in_dim(at, (*typeof(at).shape, 1), tuple(range(n)))
  return lax.gather(x, at, numbers, sizes, mode="promise_in_bounds")


def _finish(
    out: Any, lead: int, shape: tuple[int, ...], axes: tuple[int, ...],
    keepdims: bool) -> Any:
  if not keepdims:
    return out
  full = (*typeof(out).shape[:lead], *shape)
  return keep_axes(out, full, tuple([d + lead for d in axes]))


@compiled(static=("axis", "keepdims", "name"))
def _at_positions(
    a: Any, low: Any, high: Any, weight: Any, axis: Axis, keepdims: bool,
    name: str) -> Any:
  """Quantiles at known places; nan where the data have one, or nothing."""
  x, d, shape, axes = _one_axis(name, a, axis)
  aval, lead = typeof(x), typeof(low).ndim
  if not aval.shape[d]:
    rest = (*aval.shape[:d], *aval.shape[d + 1:])
    out = lax.full((*typeof(low).shape, *rest), np.nan, aval.dtype)
    return _finish(out, lead, shape, axes, keepdims)
  x = lax.sort(x, dimension=d)
  last = lax.index_in_dim(x, aval.shape[d] - 1, d, keepdims=False)
  low, high = _pick(x, low, d), _pick(x, high, d)
  if isinstance(weight, (float, np.generic)):
    weight = scalar(weight, aval.dtype)
  else:
    weight = convert(array_of(weight), aval.dtype)
    weight = broadcast_in_dim(weight, typeof(low).shape, tuple(range(lead)))
  out = _mix(low, high, weight)
  nan = spread(name, is_nan(last), typeof(out).shape)
  return _finish(select_n(nan, out, scalar_like(np.nan, out)), lead, shape, axes,
      keepdims)


_run_at_positions = _at_positions.program  # type: ignore[attr-defined]


def scalar_like(value: Any, x: Any) -> Any:
  """A constant of the shape and dtype of an array."""
  return lax.full(typeof(x).shape, value, typeof(x).dtype)


def _quantile(
    name: str, a: Any, q: Any, axis: Axis, method: str, keepdims: bool,
    percent: bool) -> Any:
  axis = freeze(axis)
  shape = typeof(a).shape
  axes = canonical_axes(axis, len(shape), name)
  n = elements(shape, axes)
  if not isinstance(q, Tracer):  # one whose value is known may still have a tangent
    if isinstance(q, (Array, np.generic)) and not q.ndim:
      q = q.item()
    if type(q) is int:
      q = float(q)
    find = _places if type(q) is not float else (
        _places_on_device if get_current() is EVAL else _places_once)
    low, high, weight = find(q, n, method, percent, dtypes.default_float_dtype(), name)
    return _at_positions(a, low, high, weight, axis, keepdims, name)
  return _quantile_traced(a, q, n, axis, method, keepdims, name, percent)


def _places(
    q: Any, n: int, method: str, percent: bool, real: Any,
    name: str) -> tuple[Any, Any, Any]:
  """Positions for shares that are known here and now, in double precision."""
  share = np.asarray(q, np.float64) / (100.0 if percent else 1.0)
  _check_rank(name, share)
  with np.errstate(invalid="ignore"):
    low, high, weight = positions(share, n, method, Host)
  nan = np.isnan(share)
  index = promise_index(n)
  weight = np.where(nan, np.nan, weight).astype(real)[()]
  # Without elements the positions are -1; they are not looked at.
  low, high = (np.where(nan, 0, i).astype(index)[()] for i in (low, high))
  if not share.ndim and n < 2**31:
    return int(low), int(high), float(weight)  # calls take Python numbers fastest
  return low, high, weight


_places_once = functools.lru_cache(1024)(_places)  # of a number: most are asked for often


@functools.lru_cache(1024)
def _places_on_device(q: float, n: int, *how: Any) -> tuple[Any, Any, Any]:
  """The same as arrays, for programs that run now: these need not take them there."""
  low, high, weight = _places_once(q, n, *how)
  index = promise_index(n)
  low, high = (made_here(np.asarray(i, index)) for i in (low, high))
  return low, high, made_here(np.asarray(weight, how[2]))


@functools.lru_cache(1024)
def _places_for(
    aval: Any, q: float, axis: int | None, method: str, name: str,
    real: Any) -> tuple[Any, Any, Any] | None:
  """Positions in the usual case, found by one look; None for other functions."""
  if "nan" in name:
    return None
  _check(name, None, False, method)
  n = elements(aval.shape, canonical_axes(axis, len(aval.shape), name))
  return _places_on_device(q, n, method, "percentile" in name, real, name)


@compiled(static=("axis", "keepdims"))
def _median(a: Any, axis: Axis, keepdims: bool) -> Any:
  check_arraylike("median", a)
  shape = typeof(a).shape
  n = elements(shape, canonical_axes(axis, len(shape), "median"))
  real = dtypes.default_float_dtype()
  low, high, weight = _places_once(0.5, n, "midpoint", False, real, "median")
  return _at_positions(a, low, high, weight, axis, keepdims, "median")


def _check_rank(name: str, q: Any) -> None:
  if typeof(q).ndim > 1:
    raise ValueError(
        f"{name}: q must be a scalar or a vector, got the shape {typeof(q).shape}")


def _as_quotient(name: str, q: Any, percent: bool) -> Any:
  q = one_array(name, q)
  _check_rank(name, q)
  if is_kind(q, np.complexfloating):
    raise TypeError(f"{name}: q must be real, got {typeof(q)}")
  q = convert(q, dtypes.default_float_dtype())
  return lax.div(q, scalar(100, typeof(q).dtype)) if percent else q


@compiled(static=("n", "axis", "method", "keepdims", "name", "percent"))
def _quantile_traced(
    a: Any, q: Any, n: int, axis: Axis, method: str, keepdims: bool, name: str,
    percent: bool) -> Any:
  q = _as_quotient(name, q, percent)
  low, high, weight = positions(q, scalar(n, typeof(q).dtype), method, Traced)
  index = promise_index(n)
  zero = scalar_like(0, low)
  low, high = (convert(choose(lax.eq(q, q), i, zero), index) for i in (low, high))
  weight = choose(lax.eq(q, q), weight, scalar_like(np.nan, weight))
  return _at_positions(a, low, high, weight, axis, keepdims, name)


# ---- without nan


@compiled(static=("axis", "method", "keepdims", "name", "percent"))
def _nan_quantile(
    a: Any, q: Any, axis: Axis, method: str, keepdims: bool, name: str,
    percent: bool) -> Any:
  x, d, shape, axes = _one_axis(name, a, axis)
  q = _as_quotient(name, q, percent)
  aval, lead, n = typeof(x), typeof(q).ndim, typeof(x).shape[d]
  kept = (*aval.shape[:d], *aval.shape[d + 1:])
  if not n:
    out = lax.full((*typeof(q).shape, *kept), np.nan, aval.dtype)
    return _finish(out, lead, shape, axes, keepdims)
  x = lax.sort(x, dimension=d)
  count = reduce_sum(convert(lax.eq(x, x), np.dtype(np.int32)), (d,))
  full = (*typeof(q).shape, *kept)
  exact = typeof(q).dtype
  of = spread(name, convert(lax.max(count, np.int32(1)), exact), full)
  low, high, weight = positions(
      broadcast_in_dim(q, full, tuple(range(lead))), of, method, Traced)
  index = promise_index(n)
  low, high = (_pick_each(x, convert(i, index), d, lead) for i in (low, high))
  out = _mix(low, high, convert(weight, aval.dtype))
  known = lax.bitwise_and(
      spread(name, lax.gt(count, scalar_like(0, count)), full),
      broadcast_in_dim(lax.eq(q, q), full, tuple(range(lead))))
  return _finish(choose(known, out, scalar_like(np.nan, out)), lead, shape, axes,
      keepdims)


def _pick_each(x: Any, at: Any, axis: int, lead: int) -> Any:
  """For each column its own part; a leading dimension of `at` comes first."""
  shape = typeof(at).shape
  inner = list(range(lead, len(shape)))
  if not lead:
    at = lax.expand_dims(at, (axis,))
    return lax.squeeze(take_along(x, at, axis), (axis,))
  at = lax.transpose(at, (*inner[:axis], 0, *inner[axis:]))
  out = take_along(x, at, axis)
  rest = [d for d in range(len(shape)) if d != axis]
  return lax.transpose(out, (axis, *rest))


@compiled(static=("axis", "keepdims"))
def _nan_median(a: Any, axis: Axis, keepdims: bool) -> Any:
  """The middle of the numbers, found with integers: exact for any number of them."""
  x, d, shape, axes = _one_axis("nanmedian", a, axis)
  aval = typeof(x)
  if not aval.shape[d]:
    rest = (*aval.shape[:d], *aval.shape[d + 1:])
    return _finish(lax.full(rest, np.nan, aval.dtype), 0, shape, axes, keepdims)
  x = lax.sort(x, dimension=d)
  index = promise_index(aval.shape[d])
  count = reduce_sum(convert(lax.eq(x, x), index), (d,))
  # Without numbers both are the first element, which is nan.
  one = scalar(1, index)
  before = lax.shift_right_logical(lax.max(lax.sub(count, one), scalar(0, index)), one)
  after = lax.shift_right_logical(count, one)
  low, high = (_pick_each(x, at, d, 0) for at in (before, after))
  return _finish(_mix(low, high, scalar(0.5, aval.dtype)), 0, shape, axes, keepdims)


# ---- weights


@compiled(static=("axis", "keepdims", "name", "percent", "skip_nan"))
def _weighted(
    a: Any, q: Any, weights: Any, axis: Axis, keepdims: bool, name: str, percent: bool,
    skip_nan: bool) -> Any:
  """The least element whose share of the weights, with all before it, reaches `q`."""
  w = one_array(name, weights)
  if is_kind(w, np.complexfloating):
    raise TypeError(f"{name}: weights must be real, got {typeof(w)}")
  full = typeof(a).shape
  if typeof(w).shape != full:
    given = canonical_axes(axis, len(full), name)
    if axis is None or typeof(w).shape != tuple([full[d] for d in given]):
      raise ValueError(
          f"{name}: weights must have the shape of a, {full}, or its sizes along axis "
          f"{axis}; got {typeof(w).shape}")
    order = sorted(range(len(given)), key=lambda i: given[i])
    w = broadcast_in_dim(lax.transpose(w, order), full, tuple(sorted(given)))
  x, d, shape, axes = _one_axis(name, a, axis)
  w = convert(_one_axis(name, w, axis)[0], dtypes.default_float_dtype())
  q = _as_quotient(name, q, percent)
  lead, aval = typeof(q).ndim, typeof(x)
  n = aval.shape[d]
  if not n:
    rest = (*aval.shape[:d], *aval.shape[d + 1:])
    out = lax.full((*typeof(q).shape, *rest), np.nan, aval.dtype)
    return _finish(out, lead, shape, axes, keepdims)
  if skip_nan:
    w = choose(lax.eq(x, x), w, scalar_like(0, w))
  x, w = lax.sort((x, w), dimension=d)
  sums = lax.cumsum(w, axis=d)
  total = lax.index_in_dim(sums, n - 1, d, keepdims=False)
  kept = typeof(total).shape
  full = (*typeof(q).shape, *kept)
  wanted = lax.mul(broadcast_in_dim(q, full, tuple(range(lead))),
      spread(name, total, full))
  wide = (*typeof(q).shape, *aval.shape)
  before = lax.lt(
      spread(name, sums, wide),
      broadcast_in_dim(wanted, wide,
          tuple([e for e in range(len(wide)) if e != lead + d])))
  # Elements without weight are no answer, not even to q = 0.
  before = lax.bitwise_or(before, spread(name, lax.le(sums, scalar_like(0, sums)), wide))
  at = reduce_sum(convert(before, np.dtype(np.int32)), (lead + d,))
  at = lax.min(at, scalar(n - 1, np.int32))
  out = _pick_each(x, at, d, lead)
  nan = lax.bitwise_not(broadcast_in_dim(lax.eq(q, q), full, tuple(range(lead))))
  if not skip_nan:
    last = lax.index_in_dim(x, n - 1, d, keepdims=False)
    nan = lax.bitwise_or(nan, spread(name, is_nan(last), full))
  return _finish(
      select_n(nan, out, scalar_like(np.nan, out)), lead, shape, axes, keepdims)


def _refuse_weights(name: str, method: str) -> None:
  if method != "inverted_cdf":
    raise NotImplementedError(
        f"{name}: weights are understood by method='inverted_cdf' only, got {method!r}")


# ---- public functions


def _of(
    name: str, a: Any, q: Any, axis: Any, out: Any, overwrite_input: bool, method: str,
    keepdims: bool, weights: Any) -> Any:
  if type(a) is Array and type(q) is float and (axis is None or type(axis) is int) and (
      out is weights is None and not overwrite_input and get_current() is EVAL):
    places = _places_for(a.aval, q, axis, method, name, dtypes.default_float_dtype())
    if places is not None:
      return _run_at_positions(a, *places, axis, keepdims, name)
  check_arraylike(name, a, q)
  _check(name, out, overwrite_input, method)
  percent, nan = "percentile" in name, "nan" in name
  axis = freeze(axis)
  if weights is not None:
    _refuse_weights(name, method)
    check_arraylike(name, weights)
    return _weighted(a, q, weights, axis, keepdims, name, percent, nan)
  if nan:
    return _nan_quantile(a, q, axis, method, keepdims, name, percent)
  return _quantile(name, a, q, axis, method, keepdims, percent)


def quantile(
    a: Any, q: Any, axis: Any = None, out: None = None, overwrite_input: bool = False,
    method: str = "linear", keepdims: bool = False, *, weights: Any = None) -> Any:
  """The number below which a share `q` of elements lies, along axes.

  Args:
    a: an array of real numbers.
    q: a share from 0 to 1, or a vector of them, whose dimension comes first in the
      result.
    axis: an axis or several; None for all.
    out: not supported.
    overwrite_input: the same.
    method: how to choose between two elements: `"linear"`, `"lower"`, `"higher"`,
      `"midpoint"`, `"nearest"`, `"inverted_cdf"`, `"averaged_inverted_cdf"`,
      `"closest_observation"`, `"interpolated_inverted_cdf"`, `"hazen"`, `"weibull"`,
      `"median_unbiased"`, `"normal_unbiased"`; they are NumPy's.
    keepdims: whether reduced axes stay, with size 1.
    weights: of the shape of `a` or of its sizes along the axes; for `"inverted_cdf"`
      only.

  >>> import gnomon.numpy as gnp
  >>> gnp.quantile(gnp.array([1.0, 2.0, 4.0]), 0.75).item()
  3.0

  Returns:
    Floats; nan where the data have one, or no elements.

  Raises:
    TypeError: `a` or `q` is no array and no number.
    ValueError: `a` is complex, the method is unknown, `q` has more than one dimension, or
      an axis is out of range.
  """
  return _of("quantile", a, q, axis, out, overwrite_input, method, keepdims, weights)


def percentile(
    a: Any, q: Any, axis: Any = None, out: None = None, overwrite_input: bool = False,
    method: str = "linear", keepdims: bool = False, *, weights: Any = None,
    out_sharding: Any = None) -> Any:
  """The number below which `q` percent of elements lie, along axes. See `quantile`.

  Args:
    a: an array of real numbers.
    q: from 0 to 100, or a vector of such numbers.
    axis: an axis or several; None for all.
    out: not supported.
    overwrite_input: the same.
    out_sharding: the same.
    method: how to choose between two elements.
    keepdims: whether reduced axes stay, with size 1.
    weights: for the method `"inverted_cdf"` only.

  >>> import gnomon.numpy as gnp
  >>> gnp.percentile(gnp.array([1.0, 2.0, 4.0]), 75).item()
  3.0

  Raises:
    TypeError, ValueError: as `quantile` does.
  """
  if out_sharding is not None:
    raise NotImplementedError("percentile does not support the argument 'out_sharding'")
  return _of("percentile", a, q, axis, out, overwrite_input, method, keepdims, weights)


def nanquantile(
    a: Any, q: Any, axis: Any = None, out: None = None, overwrite_input: bool = False,
    method: str = "linear", keepdims: bool = False, *, weights: Any = None) -> Any:
  """The quantile of the elements that are not nan; nan if all are. See `quantile`.

  >>> import gnomon.numpy as gnp
  >>> gnp.nanquantile(gnp.array([1.0, gnp.nan, 2.0, 4.0]), 0.75).item()
  3.0

  Raises:
    TypeError, ValueError: as `quantile` does.
  """
  return _of("nanquantile", a, q, axis, out, overwrite_input, method, keepdims, weights)


def nanpercentile(
    a: Any, q: Any, axis: Any = None, out: None = None, overwrite_input: bool = False,
    method: str = "linear", keepdims: bool = False, *, weights: Any = None) -> Any:
  """The percentile of the elements that are not nan; nan if all are. See `quantile`.

  >>> import gnomon.numpy as gnp
  >>> gnp.nanpercentile(gnp.array([1.0, gnp.nan, 2.0, 4.0]), 75).item()
  3.0

  Raises:
    TypeError, ValueError: as `quantile` does.
  """
  return _of("nanpercentile", a, q, axis, out, overwrite_input, method, keepdims, weights)


def median(
    a: Any, axis: Any = None, out: None = None, overwrite_input: bool = False,
    keepdims: bool = False) -> Any:
  """The middle of the ordered elements along axes; of the middle two, the mean.

  Args:
    a: an array of real numbers.
    axis: an axis or several; None for all.
    out: not supported.
    overwrite_input: the same.
    keepdims: whether reduced axes stay, with size 1.

  >>> import gnomon.numpy as gnp
  >>> gnp.median(gnp.array([1, 9, 4])).item()
  4.0

  Raises:
    TypeError: `a` is no array and no number.
    ValueError: `a` is complex, or an axis is out of range.
  """
  _check("median", out, overwrite_input, "midpoint")
  return _median(a, axis, keepdims)


def nanmedian(
    a: Any, axis: Any = None, out: None = None, overwrite_input: bool = False,
    keepdims: bool = False) -> Any:
  """The median of the elements that are not nan; nan if all are. See `median`.

  >>> import gnomon.numpy as gnp
  >>> gnp.nanmedian(gnp.array([1.0, gnp.nan, 3.0])).item()
  2.0

  Raises:
    TypeError: `a` is no array and no number.
    ValueError: `a` is complex, or an axis is out of range.
  """
  check_arraylike("nanmedian", a)
  _check("nanmedian", out, overwrite_input, "midpoint")
  return _nan_median(a, axis, keepdims)
