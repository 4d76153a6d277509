"""`approx_max_k` and `approx_min_k`: extreme elements, perhaps not all of the best."""

from __future__ import annotations

from collections.abc import Sequence
from operator import index as as_int
from typing import Any

import numpy as np

from gnomon.core import dtypes
from gnomon.core.primitive import Primitive
from gnomon.core.rule import batch_rule, jvp_rule, typing_rule
from gnomon.core.types import ShapedArray, typeof
from gnomon.core.zero import Zero
from gnomon.lax._along import take_along
from gnomon.lax._arithmetic import neg
from gnomon.lax._programs import lower_as
from gnomon.lax._sort import top_k_p
from gnomon.runtime.jaxlib import capabilities

Values = Sequence[Any]


def approx_max_k(
    operand: Any, k: int, reduction_dimension: int = -1, recall_target: float = 0.95,
    reduction_input_size_override: int = -1, aggregate_to_topk: bool = True,
) -> tuple[Any, Any]:
  """The `k` greatest elements along a dimension, of which a device may miss some.

  The compiled programs find them all: what may be missed, and how many elements come
  without `aggregate_to_topk`, is as in https://arxiv.org/abs/2206.14286.

  Args:
    operand: an array of floating-point numbers.
    k: how many.
    reduction_dimension: along which dimension; negative ones count from the end.
    recall_target: the share of the true `k` that is to be expected among the results.
    reduction_input_size_override: the size of the whole along that dimension, where
      `operand` is a part of it; -1: it is the whole.
    aggregate_to_topk: whether to return exactly `k`. If not, there are as many as a
      device keeps for that recall, and at least `k`.

  Returns:
    The elements, in decreasing order, and their int32 indices.

  >>> import numpy as np
  >>> from gnomon import lax
  >>> [x.tolist() for x in lax.approx_max_k(np.float32([3, 1, 2]), 2)]
  [[3.0, 2.0], [0, 2]]

  Raises:
    ValueError: the operand is not floating-point; `k` is not positive or is greater than
      the size of the dimension; the recall is not in (0, 1]; or there is no such
      dimension.
  """
  return _bind(operand, k, reduction_dimension, recall_target,
               reduction_input_size_override, aggregate_to_topk, True)


def approx_min_k(
    operand: Any, k: int, reduction_dimension: int = -1, recall_target: float = 0.95,
    reduction_input_size_override: int = -1, aggregate_to_topk: bool = True,
) -> tuple[Any, Any]:
  """The `k` least elements along a dimension, of which a device may miss some.

  The compiled programs find them all: what may be missed, and how many elements come
  without `aggregate_to_topk`, is as in https://arxiv.org/abs/2206.14286.

  Args:
    operand: an array of floating-point numbers.
    k: how many.
    reduction_dimension: along which dimension; negative ones count from the end.
    recall_target: the share of the true `k` that is to be expected among the results.
    reduction_input_size_override: the size of the whole along that dimension, where
      `operand` is a part of it; -1: it is the whole.
    aggregate_to_topk: whether to return exactly `k`. If not, there are as many as a
      device keeps for that recall, and at least `k`.

  Returns:
    The elements, in increasing order, and their int32 indices.

  >>> import numpy as np
  >>> from gnomon import lax
  >>> [x.tolist() for x in lax.approx_min_k(np.float32([3, 1, 2]), 2)]
  [[1.0, 2.0], [1, 2]]

  Raises:
    ValueError: the operand is not floating-point; `k` is not positive or is greater than
      the size of the dimension; the recall is not in (0, 1]; or there is no such
      dimension.
  """
  return _bind(operand, k, reduction_dimension, recall_target,
               reduction_input_size_override, aggregate_to_topk, False)


def _bind(operand: Any, k: int, dimension: int, recall: float, override: int,
          aggregate: bool, is_max: bool) -> tuple[Any, Any]:
  values, places = approx_top_k_p.apply(
      operand, k=as_int(k), reduction_dimension=as_int(dimension),
      recall_target=float(recall), is_max_k=is_max,
      reduction_input_size_override=as_int(override), aggregate_to_topk=bool(aggregate))
  return values, places


approx_top_k_p = Primitive("approx_top_k")


def _kept(
    size: int, rank: int, k: int, recall: float, override: int, aggregate: bool) -> int:
  """How many elements a device keeps."""
  if aggregate:
    return k
  kept, _ = capabilities.approx_top_k_size(size, rank, k, recall, override)
  return int(kept)


@typing_rule.define(approx_top_k_p)
def _(x: ShapedArray, *, k: int, reduction_dimension: int, recall_target: float,
      is_max_k: bool, reduction_input_size_override: int,
      aggregate_to_topk: bool) -> tuple[ShapedArray, ShapedArray]:
  who = "approx_max_k" if is_max_k else "approx_min_k"
  if not dtypes.issubdtype(x.dtype, np.floating):
    raise ValueError(f"{who}: operand must be a floating type, got {x}")
  if not -x.ndim <= reduction_dimension < x.ndim:
    raise ValueError(
        f"{who}: reduction_dimension {reduction_dimension} is out of range for {x}")
  d = reduction_dimension % x.ndim
  size = x.shape[d]
  if k <= 0:
    raise ValueError(f"{who}: k must be positive, got {k}")
  if k > size:
    raise ValueError(
        f"{who}: k must be smaller than the size of reduction_dim {size}, got {k}")
  if not 0 < recall_target <= 1:
    raise ValueError(f"{who}: recall_target must be in (0, 1], got {recall_target}")
  kept = _kept(
      size, x.ndim, k, recall_target, reduction_input_size_override, aggregate_to_topk)
  shape = (*x.shape[:d], kept, *x.shape[d + 1:])
  return x.update(shape=shape), ShapedArray(shape, np.dtype(np.int32))


def _exact(
    x: Any, *, k: int, reduction_dimension: int, recall_target: float, is_max_k: bool,
    reduction_input_size_override: int, aggregate_to_topk: bool) -> Any:
  s = typeof(x).shape
  d = reduction_dimension % len(s)
  kept = _kept(
      s[d], len(s), k, recall_target, reduction_input_size_override, aggregate_to_topk)
  values, places = top_k_p.apply(x if is_max_k else neg(x), k=kept, axis=d)
  return [values if is_max_k else neg(values), places]


lower_as(approx_top_k_p, _exact)


@jvp_rule.define(approx_top_k_p)
def _(primals: Values, tangents: Values, **params: Any) -> Any:
  values, places = approx_top_k_p.apply(*primals, **params)
  t = tangents[0]
  if type(t) is Zero:
    moved: Any = Zero(typeof(values).to_tangent_aval())
  else:
    d = params["reduction_dimension"] % typeof(t).ndim
    moved = take_along(t, places, d, unique=True)
  return (values, places), (moved, Zero(typeof(places).to_tangent_aval()))


@batch_rule.define(approx_top_k_p)
def _(axis: Any, args: Values, dims: Values, *, reduction_dimension: int,
      **params: Any) -> Any:
  (x,), (d,) = args, dims
  inner = reduction_dimension % (typeof(x).ndim - 1)
  outs = approx_top_k_p.apply(
      x, reduction_dimension=inner + (d <= inner), **params)
  return outs, (d, d)
