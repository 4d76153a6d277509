"""Statistics of samples: the mode, ranks, the standard error of the mean."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

import gnomon.numpy as gnp
from gnomon import lax, vmap
from gnomon.core.types import typeof
from gnomon.numpy._compiled import compiled
from gnomon.numpy._promotion import promote_args, promote_args_inexact

_METHODS = ("average", "min", "max", "dense", "ordinal")


class ModeResult(NamedTuple):
  """What `mode` gives.

  Attributes:
    mode: the most frequent values, the smallest of equally frequent ones.
    count: how often they occur.
  """

  mode: Any
  count: Any


def _check_policy(name: str, policy: str, supported: tuple[str, ...]) -> None:
  if policy not in ("propagate", "omit", "raise"):
    raise ValueError(
        f"{name}: nan_policy is {policy!r}; expected 'propagate', 'omit' or 'raise'")
  if policy not in supported:
    raise NotImplementedError(
        f"{name}: nan_policy {policy!r} is not implemented; use "
        + " or ".join(map(repr, supported)))


@compiled(static=("axis", "nan_policy", "keepdims"))
def mode(a: Any, axis: int | None = 0, nan_policy: str = "propagate",
         keepdims: bool = False) -> ModeResult:
  """The most frequent value along an axis, and how often it occurs.

  Args:
    a: array or number, real.
    axis: the axis; all elements if None.
    nan_policy: only `"propagate"`: nan is a value like others, equal to itself.
    keepdims: whether the axis stays, with the size 1.

  >>> from gnomon.scipy import stats
  >>> mode, count = stats.mode([2, 3, 3, 1])
  >>> mode.item(), count.item()
  (3, 2)

  Raises:
    NotImplementedError: `nan_policy` is another known one.
    TypeError: `a` is no array and no number.
    ValueError: `nan_policy` is unknown, or `axis` out of range.
  """
  _check_policy("mode", nan_policy, ("propagate",))
  a = gnp.asarray(a)
  ndim = a.ndim
  if axis is None:
    a, axis = a.reshape(-1), 0
    kept: tuple[int, ...] = (1,) * ndim
  else:
    a = gnp.atleast_1d(a)
    axis = axis + a.ndim if axis < 0 else axis
    kept = (*a.shape[:axis], 1, *a.shape[axis + 1:])
  a = gnp.moveaxis(a, axis, -1)
  size = a.shape[-1]
  if size == 0:
    value = gnp.full(a.shape[:-1], gnp.nan)
    count = gnp.zeros_like(value)
  else:
    a = gnp.sort(a, axis=-1)
    place = lax.broadcasted_iota(np.dtype(np.int32), a.shape, a.ndim - 1)
    apart = a[..., 1:] != a[..., :-1]
    if gnp.issubdtype(a.dtype, gnp.floating):
      apart &= ~(gnp.isnan(a[..., 1:]) & gnp.isnan(a[..., :-1]))
    fresh = gnp.concatenate([gnp.ones_like(a[..., :1], dtype=bool), apart], -1)
    start = lax.cummax(gnp.where(fresh, place, 0), axis=a.ndim - 1)
    run = place - start + 1
    count = run.max(-1)
    last = gnp.argmax(run, -1)
    value = gnp.take_along_axis(a, last[..., None], -1)[..., 0]
  if keepdims:
    value, count = value.reshape(kept), count.reshape(kept)
  return ModeResult(value, count)


@compiled(static=("method", "axis", "nan_policy"))
def rankdata(a: Any, method: str = "average", *, axis: int | None = None,
             nan_policy: str = "propagate") -> Any:
  """The ranks of elements, from 1.

  Args:
    a: array or number, real.
    method: what equal elements get: the `"average"` of their ranks, the `"min"` or
      `"max"`, `"dense"`, the number of different smaller ones and 1, or `"ordinal"`,
      their own in their order.
    axis: along which to rank; all elements, in one axis, if None.
    nan_policy: only `"propagate"`: all ranks along an axis with a nan are nan.

  >>> from gnomon.scipy import stats
  >>> stats.rankdata([10, 30, 30, 20]).tolist()
  [1.0, 3.5, 3.5, 2.0]

  Raises:
    NotImplementedError: `nan_policy` is another known one.
    TypeError: `a` is no array and no number.
    ValueError: `method` or `nan_policy` is unknown, or `axis` out of range.
  """
  _check_policy("rankdata", nan_policy, ("propagate",))
  if method not in _METHODS:
    raise ValueError(
        f"rankdata: method is {method!r}; expected "
        + ", ".join(map(repr, _METHODS[:-1])) + f" or {_METHODS[-1]!r}")
  a = gnp.atleast_1d(gnp.asarray(a))
  if axis is None:
    a, axis = a.reshape(-1), 0
  a = gnp.moveaxis(a, axis, -1)
  rows = a.reshape(-1, a.shape[-1])
  ranks = vmap(lambda row: _ranks(row, method))(rows).reshape(a.shape)
  if gnp.issubdtype(a.dtype, gnp.floating):
    ranks = gnp.where(gnp.isnan(a).any(-1, keepdims=True), gnp.nan, ranks)
  return gnp.moveaxis(ranks, -1, axis)


def _ranks(row: Any, method: str) -> Any:
  order = gnp.argsort(row, stable=True)
  inverse = gnp.argsort(order, stable=True)
  if method == "ordinal":
    return inverse + 1
  ordered = row[order]
  if method == "dense":
    fresh = gnp.concatenate(
        [gnp.ones_like(ordered[:1], dtype=bool), ordered[1:] != ordered[:-1]])
    return gnp.cumsum(fresh)[inverse]
  low = gnp.searchsorted(ordered, row, side="left") + 1
  high = gnp.searchsorted(ordered, row, side="right")
  if method == "average":
    return (low + high).astype(float) / 2
  return low if method == "min" else high


@compiled(static=("axis", "ddof", "nan_policy", "keepdims"))
def sem(a: Any, axis: int | None = 0, ddof: int = 1, nan_policy: str = "propagate", *,
        keepdims: bool = False) -> Any:
  """The standard error of the mean along an axis.

  Args:
    a: array or number.
    axis: the axis; all elements if None.
    ddof: what is subtracted from the number of elements for the variance.
    nan_policy: `"propagate"`, or `"omit"` for the others than nan alone.
    keepdims: whether the axis stays, with the size 1.

  >>> from gnomon.scipy import stats
  >>> round(stats.sem([1.0, 2.0, 3.0]).item(), 4)
  0.5774

  Raises:
    NotImplementedError: `nan_policy` is `"raise"`, which depends on values.
    TypeError: `a` is no array and no number.
    ValueError: `nan_policy` is unknown, or `axis` out of range.
  """
  _check_policy("sem", nan_policy, ("propagate", "omit"))
  (a,) = promote_args_inexact("sem", *promote_args("sem", gnp.asarray(a)))
  if a.ndim == 0:
    a = gnp.atleast_1d(a)
  if nan_policy == "omit":
    count: Any = (~gnp.isnan(a)).sum(axis, keepdims=keepdims)
    deviation = gnp.nanstd(a, axis, ddof=ddof, keepdims=keepdims)
  else:
    count = a.size if axis is None else a.shape[axis]
    deviation = gnp.std(a, axis, ddof=ddof, keepdims=keepdims)
  return deviation / gnp.sqrt(gnp.asarray(count, typeof(deviation).dtype))
