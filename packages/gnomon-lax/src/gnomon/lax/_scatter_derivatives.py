"""Derivatives of scatters, right for windows that overlap as well.

Sums are linear. A scatter that overwrites takes from each element the update that was
written last: the updates' numbers, scattered the same way, tell which one that is.
The derivative of products needs the product of all other updates of an element. It is
made of the products before and after it, among updates sorted by element; dividing by the
update instead would fail at zeros. Minima and maxima share the derivative among ties.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gnomon.core import dtypes
from gnomon.core.derive import expand
from gnomon.core.jaxpr import Jaxpr, eval_jaxpr
from gnomon.core.primitive import Primitive
from gnomon.core.rule import jvp_rule, transpose_rule
from gnomon.core.structural import (
  convert,
  full,
  instantiate,
  reshape,
  select_n,
  zeros_like_aval,
)
from gnomon.core.types import ShapedArray, typeof
from gnomon.core.zero import UndefinedPrimal, Zero
from gnomon.lax._arithmetic import div, mul, neg
from gnomon.lax._comparison import eq, gt, lt, ne
from gnomon.lax._creation import iota
from gnomon.lax._gather import gather
from gnomon.lax._indexing import (
  Dims,
  GatherDimensionNumbers,
  GatherScatterMode,
  ScatterDimensionNumbers,
  linear_aval,
  scatter_add_p,
  scatter_overwrite,
  scatter_p,
  scatter_sum,
)
from gnomon.lax._scatter import scatter_max_p, scatter_min_p, scatter_mul_p, scatter_sub_p
from gnomon.lax._shape import pad, rev
from gnomon.lax._sort import sort
from gnomon.transform.jvp import jvp_flat
from gnomon.transform.vmap import Axis, vmap_flat

Values = Sequence[Any]


class Places:
  """The windows of one scatter: what it and its derivatives take from and put there."""

  def __init__(
      self, operand: ShapedArray, indices: Any, updates: ShapedArray, *,
      dimension_numbers: ScatterDimensionNumbers, indices_are_sorted: bool,
      unique_indices: bool, mode: GatherScatterMode, **_: Any) -> None:
    self.operand, self.indices, self.updates = operand, indices, updates
    self.numbers, self.mode, self.sorted = dimension_numbers, mode, indices_are_sorted
    shape = typeof(indices).shape[:-1]
    mapped = dimension_numbers.scatter_indices_batching_dims
    windows = math.prod(n for d, n in enumerate(shape) if d not in mapped)
    self.unique = unique_indices or windows <= 1 or not updates.size

  def take(self, x: Any, fill_value: Any = 0) -> Any:
    """The elements of `x` at the windows, in the shape of the updates."""
    return gather(
        x, self.indices, self.numbers.as_gather(),
        self.numbers.window(self.operand, self.updates), unique_indices=self.unique,
        indices_are_sorted=self.sorted, mode=self.mode, fill_value=fill_value)

  def put(self, x: Any, updates: Any) -> Any:
    """`x` with the windows overwritten."""
    return scatter_overwrite(
        x, self.indices, updates, self.numbers, self.mode, sorted_=self.sorted,
        unique=self.unique)

  def add(self, x: Any, updates: Any) -> Any:
    """`x` with updates added to the windows."""
    return scatter_sum(
        x, self.indices, updates, self.numbers, self.mode, sorted_=self.sorted,
        unique=self.unique)

  def no_updates(self) -> Any:
    """Zeros in the shape of the updates."""
    return zeros_like_aval(self.updates)

  def winners(self) -> tuple[Any, Any]:
    """For each update the number of the one written to its element, and its own."""
    numbers = _numbers(self.updates.shape)
    board = self.put(full(self.operand.shape, 0, numbers.dtype), numbers)
    return self.take(board), numbers


def _numbers(shape: Dims) -> Any:
  """The elements of a shape, numbered in row-major order."""
  size = math.prod(shape)
  return reshape(iota(np.dtype(np.int32 if size < 2**31 else np.int64), size), shape)


def _places(args: Values, params: dict[str, Any]) -> Places:
  x, indices, updates = args
  return Places(linear_aval(x), indices, linear_aval(updates), **params)


def _pick(x: Any, places: Any) -> Any:
  """The elements of a 1-d array at an array of places, all of them within it."""
  indices = reshape(places, (*typeof(places).shape, 1))
  return gather(x, indices, GatherDimensionNumbers((), (0,), (0,)), (1,))


def _only(keep: Any, x: Any) -> Any:
  """`x` where `keep`, and 0 elsewhere."""
  return select_n(keep, full(typeof(x).shape, 0, typeof(x).dtype), x)


def _still(tangents: Values) -> bool:
  return type(tangents[0]) is Zero and type(tangents[2]) is Zero


def _no_tangent(outs: Values) -> tuple[Values, Values]:
  return outs, (Zero(typeof(outs[0]).to_tangent_aval()),)


# ---- sums


def _sum(p: Primitive, backward: Callable[[Any], Any]) -> None:
  """The rules of a scatter that is linear in operand and updates together."""

  @jvp_rule.define(p)
  def _(primals: Values, tangents: Values, **params: Any) -> tuple[Values, Values]:
    outs = p.apply(*primals, **params)
    t_x, _, t_u = tangents
    if type(t_u) is Zero:  # nothing is added to the operand's tangent
      return outs, (t_x,)
    return outs, p.apply(instantiate(t_x), primals[1], t_u, **params)

  @transpose_rule.define(p)
  def _(cts: Values, args: Values, **params: Any) -> list[Any]:
    (x, _, u), ct = args, cts[0]
    ct_u = None
    if type(u) is UndefinedPrimal:
      ct_u = backward(_places(args, params).take(ct))
    return [ct if type(x) is UndefinedPrimal else None, None, ct_u]


_sum(scatter_add_p, lambda ct: ct)
_sum(scatter_sub_p, neg)


# ---- overwriting


@jvp_rule.define(scatter_p)
def _(primals: Values, tangents: Values, **params: Any) -> tuple[Values, Values]:
  (x, indices, u), (t_x, _, t_u) = primals, tangents
  if _still(tangents):
    return _no_tangent(scatter_p.apply(*primals, **params))
  places = _places(primals, params)
  if params["update_jaxpr"] is not None:
    return _apply_jvp(places, x, t_x, params["update_jaxpr"], params["update_consts"])
  if type(t_u) is Zero or places.unique:
    outs = scatter_p.apply(*primals, **params)
    return outs, (places.put(instantiate(t_x), instantiate(t_u)),)
  won, own = places.winners()
  # Each update is replaced by the one that wins, so that their order no longer matters.
  u = _pick(reshape(u, (places.updates.size,)), won)
  kept = instantiate(t_x) if type(t_x) is Zero else places.put(t_x, places.no_updates())
  t = places.add(kept, _only(eq(won, own), t_u))
  return scatter_p.apply(x, indices, u, **params), (t,)


@transpose_rule.define(scatter_p)
def _(cts: Values, args: Values, **params: Any) -> list[Any]:
  (x, _, u), ct = args, cts[0]
  places = _places(args, params)
  ct_x = ct_u = None
  if type(x) is UndefinedPrimal:
    ct_x = places.put(ct, places.no_updates())
  if type(u) is UndefinedPrimal:
    ct_u = places.take(ct)
    if not places.unique:
      won, own = places.winners()
      ct_u = _only(eq(won, own), ct_u)
  return [ct_x, None, ct_u]


def _apply_jvp(
    places: Places, x: Any, t_x: Any, jaxpr: Jaxpr,
    consts: Values) -> tuple[Values, Values]:
  """The derivative of `scatter_apply`: take the windows, apply, put them back."""
  if not places.unique:
    raise NotImplementedError(
        "the derivative of scatter_apply needs unique_indices=True: where an index is "
        "repeated, the function is applied again and again. If no index is repeated, say "
        "so with unique_indices=True")
  shape, size = places.updates.shape, places.updates.size

  def apply(y: Any) -> list[Any]:
    flat = reshape(places.take(y), (size,))
    zero = np.zeros((), places.operand.dtype)[()]
    (new,), (d,) = vmap_flat(
        lambda v: eval_jaxpr(jaxpr, consts, v, zero), Axis(size), [flat], [0])
    new = expand(new, size) if d is None else new
    return [places.put(y, reshape(new, shape))]

  return jvp_flat(apply, [x], [t_x])


# ---- products


@jvp_rule.define(scatter_mul_p)
def _(primals: Values, tangents: Values, **params: Any) -> tuple[Values, Values]:
  (x, indices, u), (t_x, _, t_u) = primals, tangents
  outs = scatter_mul_p.apply(*primals, **params)
  if _still(tangents):
    return _no_tangent(outs)
  t = instantiate(t_x)
  if type(t_x) is not Zero:
    t = scatter_mul_p.apply(t_x, indices, u, **params)[0]
  if type(t_u) is not Zero:
    places = _places(primals, params)
    others = places.take(x)
    if not places.unique:
      others = mul(others, _products_of_others(places, u))
    t = places.add(t, mul(t_u, others))
  return outs, (t,)


@transpose_rule.define(scatter_mul_p)
def _(cts: Values, args: Values, **params: Any) -> list[Any]:
  (x, indices, u), ct = args, cts[0]
  if type(x) is UndefinedPrimal:
    return [scatter_mul_p.apply(ct, indices, u, **params)[0], None, None]
  places = _places(args, params)
  if not places.unique:
    raise NotImplementedError(
        "scatter_mul is linear in its updates only if no index is repeated: say so with "
        "unique_indices=True")
  return [None, None, mul(places.take(ct), places.take(x))]


def _products_of_others(places: Places, u: Any) -> Any:
  """For each update the product of all others of its element."""
  size = places.updates.size
  elements = _numbers(places.operand.shape)
  outside = places.operand.size
  element = reshape(places.take(elements, outside), (size,))
  flat = reshape(u, (size,))
  # What is dropped must not overflow: its derivative is this product times zero.
  dropped = eq(element, np.asarray(outside, typeof(element).dtype)[()])
  flat = select_n(dropped, flat, full((size,), 1, typeof(flat).dtype))
  element, order = sort((element, iota(np.dtype(np.int32), size)), num_keys=1)
  flat = _pick(flat, order)
  before = _running_products(flat, element)
  after = rev(_running_products(rev(flat, (0,)), rev(element, (0,))), (0,))
  inverse = scatter_overwrite(
      full((size,), 0, np.dtype(np.int32)), reshape(order, (size, 1)),
      iota(np.dtype(np.int32), size), ScatterDimensionNumbers((), (0,), (0,)),
      GatherScatterMode.PROMISE_IN_BOUNDS, unique=True)
  return reshape(_pick(mul(before, after), inverse), places.updates.shape)


def _running_products(x: Any, element: Any) -> Any:
  """For each entry the product of those before it that belong to the same element."""
  size = typeof(x).shape[0]
  ones = full((size,), 1, typeof(x).dtype)

  def from_before(y: Any, distance: int) -> Any:
    same = eq(element, _later(element, distance, -1))
    return select_n(same, ones, _later(y, distance, 1))

  products = from_before(x, 1)
  distance = 1
  while distance < size:
    products = mul(products, from_before(products, distance))
    distance *= 2
  return products


def _later(x: Any, distance: int, fill: int) -> Any:
  """A 1-d array shifted towards its end."""
  return pad(x, np.asarray(fill, typeof(x).dtype)[()], ((distance, -distance, 0),))


# ---- minima and maxima


def _extremum(p: Primitive, worse: Callable[[Any, Any], Any]) -> None:
  @jvp_rule.define(p)
  def _(primals: Values, tangents: Values, **params: Any) -> tuple[Values, Values]:
    (x, _, u), (t_x, _, t_u) = primals, tangents
    outs = p.apply(*primals, **params)
    if _still(tangents):
      return _no_tangent(outs)
    places, dtype = _places(primals, params), typeof(x).dtype
    compare = ne if dtypes.issubdtype(dtype, np.complexfloating) else worse
    lost_x, lost_u = compare(x, outs[0]), compare(u, places.take(outs[0]))
    ties = places.add(_ones_but(lost_x), _ones_but(lost_u))
    t = instantiate(t_x)
    if type(t_x) is not Zero:
      t = select_n(lost_x, t, zeros_like_aval(typeof(t)))
    if type(t_u) is not Zero:
      t = places.add(t, select_n(lost_u, t_u, places.no_updates()))
    return outs, (mul(t, div(np.ones((), dtype)[()], convert(ties, dtype))),)


def _ones_but(lost: Any) -> Any:
  shape, dtype = typeof(lost).shape, np.dtype(np.int32)
  return select_n(lost, full(shape, 1, dtype), full(shape, 0, dtype))


_extremum(scatter_min_p, gt)
_extremum(scatter_max_p, lt)
