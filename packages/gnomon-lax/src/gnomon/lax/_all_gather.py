"""`all_gather`, and `psum_scatter`, whose primitive is its transpose."""

from __future__ import annotations

from typing import Any

import numpy as np

from gnomon.core.derive import linear, move
from gnomon.core.primitive import Primitive
from gnomon.core.rule import (
  batch_rule,
  typing_rule,
)
from gnomon.core.structural import (
  reduce_sum,
  reshape,
)
from gnomon.core.types import ShapedArray, typeof
from gnomon.core.zero import Zero
from gnomon.lax._arithmetic import mul
from gnomon.lax._collectives import axis_index
from gnomon.lax._families import NUMBER, check_dtype
from gnomon.lax._named_axes import (
  Names,
  Values,
  checked_groups,
  dimension,
  each_leaf,
  group_size,
  names_of,
  over_axis,
  place_in_group,
  row,
  sizes_of,
  unplaced,
)
from gnomon.transform.vmap import Axis, to_dim


def all_gather(
    x: Any, axis_name: Any, *, axis_index_groups: Any = None, axis: int = 0,
    tiled: bool = False, to: str = "varying") -> Any:
  """All elements that a named axis maps over, as one array.

  Args:
    x: a pytree of arrays.
    axis_name: the name of an axis, or a tuple of names, of which the last runs fastest.
    axis_index_groups: lists of indices along the axis, of one length, that together hold
      each index once: elements are then gathered within these groups.
    axis: where the gathered elements go: the position of the new axis.
    tiled: put them behind one another along the existing axis `axis`, instead of along a
      new one.
    to: what the result is to its derivative: `"varying"`, a value that each element uses
      in its own way; or `"invarying"`, one value that all share, of which a cotangent is
      counted once.

  >>> import numpy as np
  >>> import gnomon
  >>> from gnomon import lax
  >>> gnomon.vmap(lambda x: lax.all_gather(x, "i"), axis_name="i")(np.float32([1, 2]))
  Array([[1., 2.],
         [1., 2.]], dtype=float32)

  Raises:
    NameError: no axis in force has the name.
    ValueError: the axis does not exist, groups are not of one length, or `to` is unknown.
    NotImplementedError: `to` is `"reduced"`, which has a meaning only where arrays are
      spread over devices.
  """
  names = names_of(axis_name)
  groups = checked_groups(axis_index_groups, names, "all_gather")
  size = group_size(groups, names, "all_gather")
  if to not in _GATHERS:
    raise ValueError(
        "Got unexpected `to` value for `lax.all_gather`: expected 'varying', 'invarying' "
        f"or 'reduced', got {to!r}")
  p = _GATHERS[to]
  if p is None:
    raise NotImplementedError(
        "all_gather(to='reduced') is for arrays that are spread over devices by "
        "shard_map; use to='invarying' for one value that all elements share")

  def one(leaf: Any) -> Any:
    ndim = typeof(leaf).ndim
    d = dimension("all_gather", "axis", axis, ndim if tiled else ndim + 1)
    return p.apply(
        leaf, all_gather_dimension=d, axis_index_groups=groups, axis_name=names,
        axis_size=size, tiled=bool(tiled))[0]

  return each_leaf(x, one)


def _gathering(name: str) -> Primitive:
  p = Primitive(name)

  @typing_rule.define(p)
  def _(x: ShapedArray, *, all_gather_dimension: int, axis_size: int, tiled: bool,
        **_: Any) -> tuple[ShapedArray]:
    shape, d = list(x.shape), all_gather_dimension
    if tiled:
      shape[d] *= axis_size
    else:
      shape.insert(d, axis_size)
    return (x.update(shape=tuple(shape)),)

  unplaced(p)

  @batch_rule.define(p)
  def _(axis: Axis, args: Values, dims: Any, *, all_gather_dimension: int, tiled: bool,
        **params: Any) -> Any:
    at, d = all_gather_dimension, dims[0]
    inner = at + (d <= at if tiled else d < at)
    outs = p.apply(args[0], all_gather_dimension=inner, tiled=tiled, **params)
    return outs, [d if tiled else d + (at <= d)]

  def one_by_one(
      x: Any, *, all_gather_dimension: int, axis_index_groups: Any, axis_name: Names,
      axis_size: int, tiled: bool) -> list[Any]:
    at, shape = all_gather_dimension, typeof(x).shape
    for n, size in zip(reversed(axis_name), reversed(sizes_of(axis_name))):
      (x,) = p.apply(
          x, all_gather_dimension=at, axis_index_groups=None, axis_name=(n,),
          axis_size=size, tiled=False)
    n = axis_size * shape[at] if tiled else axis_size
    return [reshape(x, (*shape[:at], n, *shape[at + tiled:]))]

  @over_axis(p, one_by_one)
  def _(axis: Axis, values: Values, dims: Any, *, all_gather_dimension: int, tiled: bool,
        **_: Any) -> Any:
    at = all_gather_dimension
    x = to_dim(values[0], dims[0], at, axis.size)
    if tiled:
      s = typeof(x).shape
      x = reshape(x, (*s[:at], s[at] * s[at + 1], *s[at + 2:]))
    return [x], [None]

  return p


all_gather_p = _gathering("all_gather")
all_gather_invariant_p = _gathering("all_gather_invariant")
_GATHERS = {
    "varying": all_gather_p, "invarying": all_gather_invariant_p, "reduced": None}


def _scatter_back(
    cts: Values, args: Values, *, all_gather_dimension: int, **params: Any) -> Any:
  if type(cts[0]) is Zero:
    return [Zero(args[0].aval)]
  return reduce_scatter_p.apply(
      cts[0], scatter_dimension=all_gather_dimension, **params)


linear(all_gather_p, _scatter_back)


def _own_part(
    cts: Values, args: Values, *, all_gather_dimension: int, axis_index_groups: Any,
    axis_name: Names, axis_size: int, tiled: bool) -> Any:
  """One cotangent, shared by all: each element takes its part."""
  ct, at = cts[0], all_gather_dimension
  if type(ct) is Zero:
    return [Zero(args[0].aval)]
  place = place_in_group(axis_index(axis_name), axis_name, axis_index_groups)
  if tiled:
    s = typeof(ct).shape
    ct = reshape(ct, (*s[:at], axis_size, s[at] // axis_size, *s[at + 1:]))
  return [row(move(ct, at, 0), place)]


linear(all_gather_invariant_p, _own_part)


def psum_scatter(
    x: Any, axis_name: Any, *, scatter_dimension: int = 0, axis_index_groups: Any = None,
    tiled: bool = False) -> Any:
  """The sum over a named axis, of which each element keeps its own part.

  Args:
    x: a pytree of arrays of numbers.
    axis_name: the name of an axis, or a tuple of names, of which the last runs fastest.
    scatter_dimension: the axis of the sum that is divided among the elements.
    axis_index_groups: lists of indices along the axis, of one length, that together hold
      each index once: sums are then taken, and divided, within these groups.
    tiled: the parts are runs along the axis, which stays. If not, its size is the number
      of elements, each keeps one slice, and the axis goes.

  >>> import numpy as np
  >>> import gnomon
  >>> from gnomon import lax
  >>> part = lambda x: lax.psum_scatter(x, "i")
  >>> gnomon.vmap(part, axis_name="i")(np.float32([[1, 2], [3, 4]]))
  Array([4., 6.], dtype=float32)

  Raises:
    NameError: no axis in force has the name.
    ValueError: the size of the axis does not fit the number of elements, or groups are
      not of one length.
  """
  names = names_of(axis_name)
  groups = checked_groups(axis_index_groups, names, "psum_scatter")
  size = group_size(groups, names, "psum_scatter")

  def one(leaf: Any) -> Any:
    d = dimension(
        "psum_scatter", "scatter_dimension", scatter_dimension, typeof(leaf).ndim)
    _part_shape(typeof(leaf), d, size, tiled)  # a mapped operand is not typed
    return reduce_scatter_p.apply(
        leaf, scatter_dimension=d, axis_index_groups=groups, axis_name=names,
        axis_size=size, tiled=bool(tiled))[0]

  return each_leaf(x, one)


reduce_scatter_p = Primitive("reduce_scatter")


@typing_rule.define(reduce_scatter_p)
def _(x: ShapedArray, *, scatter_dimension: int, axis_size: int, tiled: bool,
      **_: Any) -> tuple[ShapedArray]:
  check_dtype("reduce_scatter", x, NUMBER)
  return (x.update(shape=_part_shape(x, scatter_dimension, axis_size, tiled)),)


def _part_shape(
    x: ShapedArray, d: int, axis_size: int, tiled: bool) -> tuple[int, ...]:
  """The shape of what each element keeps of a sum; raises `ValueError` if none fits."""
  shape, n = list(x.shape), x.shape[d]
  if tiled:
    if n % axis_size:
      raise ValueError(
          f"psum_scatter with tiled=True: the axis {d} of {x} is divided among "
          f"{axis_size} elements, but its size {n} is no multiple of that")
    shape[d] = n // axis_size
  elif n != axis_size:
    raise ValueError(
        f"psum_scatter: the axis {d} of {x} has the size {n}, and must have that of the "
        f"named axis (or group), {axis_size}; tiled=True divides longer axes")
  else:
    del shape[d]
  return tuple(shape)


unplaced(reduce_scatter_p)


def _gather_back(
    cts: Values, args: Values, *, scatter_dimension: int, **params: Any) -> Any:
  if type(cts[0]) is Zero:
    return [Zero(args[0].aval)]
  return all_gather_p.apply(cts[0], all_gather_dimension=scatter_dimension, **params)


linear(reduce_scatter_p, _gather_back)


@batch_rule.define(reduce_scatter_p)
def _(axis: Axis, args: Values, dims: Any, *, scatter_dimension: int, tiled: bool,
      **params: Any) -> Any:
  d = dims[0]
  inner = scatter_dimension + (d <= scatter_dimension)
  outs = reduce_scatter_p.apply(args[0], scatter_dimension=inner, tiled=tiled, **params)
  return outs, [d if tiled else d - (inner < d)]


def _scatter_one_by_one(
    x: Any, *, scatter_dimension: int, axis_index_groups: Any, axis_name: Names,
    axis_size: int, tiled: bool) -> list[Any]:
  s, at = typeof(x).shape, scatter_dimension
  sizes = sizes_of(axis_name)
  rest = (s[at] // axis_size,) if tiled else ()
  x = reshape(x, (*s[:at], *sizes, *rest, *s[at + 1:]))
  for n, size in zip(axis_name, sizes):
    (x,) = reduce_scatter_p.apply(
        x, scatter_dimension=at, axis_index_groups=None, axis_name=(n,), axis_size=size,
        tiled=False)
  return [x]


@over_axis(reduce_scatter_p, _scatter_one_by_one)
def _(axis: Axis, values: Values, dims: Any, *, scatter_dimension: int, tiled: bool,
      **_: Any) -> Any:
  (x,), (d,), at = values, dims, scatter_dimension
  if d is None:
    x = mul(x, np.asarray(axis.size, typeof(x).dtype)[()])
  else:
    x = reduce_sum(x, (d,))
  if tiled:
    s = typeof(x).shape
    x = reshape(x, (*s[:at], axis.size, s[at] // axis.size, *s[at + 1:]))
  return [x], [at]
