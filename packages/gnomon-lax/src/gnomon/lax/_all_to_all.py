"""Exchanges of parts between all elements along a named axis."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from gnomon.core import dtypes
from gnomon.core.derive import expand, linear, move
from gnomon.core.primitive import Primitive
from gnomon.core.rule import (
  batch_rule,
  hide_params,
  jvp_rule,
  transpose_rule,
  typing_rule,
)
from gnomon.core.structural import (
  broadcast_in_dim,
  full,
  instantiate,
  reduce_sum,
  reshape,
  select_n,
  squeeze,
  transpose,
  zeros_like_aval,
)
from gnomon.core.types import ShapedArray, typeof
from gnomon.core.zero import UndefinedPrimal, Zero
from gnomon.lax._all_gather import all_gather
from gnomon.lax._arithmetic import add, max, mul, sub
from gnomon.lax._bitwise import bitwise_and
from gnomon.lax._collectives import axis_index
from gnomon.lax._comparison import ge, lt
from gnomon.lax._creation import broadcasted_iota, full_like
from gnomon.lax._gather import gather
from gnomon.lax._indexing import GatherDimensionNumbers, GatherScatterMode
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
from gnomon.lax._reduction import reduce_max, reduce_or
from gnomon.transform.vmap import Axis, to_dim, vmap_flat


def all_to_all(
    x: Any, axis_name: Any, split_axis: int, concat_axis: int, *,
    axis_index_groups: Any = None, tiled: bool = False) -> Any:
  """Exchanges an axis of arrays with a named one: each element sends a part to each.

  Args:
    x: a pytree of arrays.
    axis_name: the name of an axis, or a tuple of names, of which the last runs fastest.
    split_axis: the axis that is divided: part i goes to the element at i.
    concat_axis: where the parts go that arrive, in the order of those who sent them.
    axis_index_groups: lists of indices along the axis, of one length, that together hold
      each index once: parts are then exchanged within these groups.
    tiled: the parts are runs along the axes, which stay. If not, `split_axis` has as many
      slices as there are elements, and goes; a new axis comes at `concat_axis`.

  >>> import numpy as np
  >>> import gnomon
  >>> from gnomon import lax
  >>> swap = lambda x: lax.all_to_all(x, "i", 0, 0)
  >>> gnomon.vmap(swap, axis_name="i")(np.float32([[1, 2], [3, 4]]))
  Array([[1., 3.],
         [2., 4.]], dtype=float32)

  Raises:
    NameError: no axis in force has the name.
    ValueError: an axis does not exist or its size does not fit the number of elements,
      or groups are not of one length.
  """
  names = names_of(axis_name)
  groups = checked_groups(axis_index_groups, names, "all_to_all")
  size = group_size(groups, names, "all_to_all")
  name = axis_name if isinstance(axis_name, (str, int)) else names

  def one(leaf: Any) -> Any:
    aval = typeof(leaf)
    split = dimension("all_to_all", "split_axis", split_axis, aval.ndim)
    concat = dimension("all_to_all", "concat_axis", concat_axis, aval.ndim)
    n = aval.shape[split]
    if tiled and n % size:
      raise ValueError(
          f"The size of all_to_all split_axis ({n}) has to be divisible by the size of "
          f"the named axis {axis_name} ({size})")
    if not tiled and n != size:
      raise ValueError(
          "all_to_all requires the size of the mapped axis axis_name to equal "
          f"x.shape[split_axis], but they are {size} and {n} respectively.")

    def bind(y: Any, split: int, concat: int) -> Any:
      return all_to_all_p.apply(
          y, split_axis=split, concat_axis=concat, axis_name=name,
          axis_index_groups=groups, axis_size=size, tiled=bool(tiled))[0]

    if tiled or split == concat:
      return bind(leaf, split, concat)
    if split < concat:  # the parts come to stand along an axis of their own
      return squeeze(bind(expand(leaf, 1, concat + 1), split, concat + 1), (split,))
    return squeeze(bind(expand(leaf, 1, concat), split + 1, concat), (split + 1,))

  return each_leaf(x, one)


def pswapaxes(
    x: Any, axis_name: Any, axis: int, *, axis_index_groups: Any = None) -> Any:
  """Exchanges an axis of arrays with a named one of the same size.

  Args:
    x: a pytree of arrays.
    axis_name: the name of an axis, or a tuple of names.
    axis: the axis of the arrays.
    axis_index_groups: as for `all_to_all`.

  >>> import numpy as np
  >>> import gnomon
  >>> from gnomon import lax
  >>> swap = lambda x: lax.pswapaxes(x, "i", 0)
  >>> gnomon.vmap(swap, axis_name="i")(np.float32([[1, 2], [3, 4]]))
  Array([[1., 3.],
         [2., 4.]], dtype=float32)

  Raises:
    NameError: no axis in force has the name.
    ValueError: the sizes differ, or the axis does not exist.
  """
  return all_to_all(x, axis_name, axis, axis, axis_index_groups=axis_index_groups)


all_to_all_p = Primitive("all_to_all")
hide_params(all_to_all_p, "axis_size")
unplaced(all_to_all_p)


@typing_rule.define(all_to_all_p)
def _(x: ShapedArray, *, split_axis: int, concat_axis: int, axis_size: int,
      **_: Any) -> tuple[ShapedArray]:
  shape = list(x.shape)
  shape[split_axis] //= axis_size
  shape[concat_axis] *= axis_size
  return (x.update(shape=tuple(shape)),)


def _exchange_back(
    cts: Values, args: Values, *, split_axis: int, concat_axis: int,
    **params: Any) -> Any:
  if type(cts[0]) is Zero:
    return [Zero(args[0].aval)]
  return all_to_all_p.apply(
      cts[0], split_axis=concat_axis, concat_axis=split_axis, **params)


linear(all_to_all_p, _exchange_back)


@batch_rule.define(all_to_all_p)
def _(axis: Axis, args: Values, dims: Any, *, split_axis: int, concat_axis: int,
      **params: Any) -> Any:
  d = dims[0]
  outs = all_to_all_p.apply(
      args[0], split_axis=split_axis + (d <= split_axis),
      concat_axis=concat_axis + (d <= concat_axis), **params)
  return outs, dims


def _apart(x: Any, split: int, concat: int, sizes: tuple[int, ...],
           exchange: Callable[[Any, int, int], Any]) -> Any:
  """An exchange of parts, by exchanges of axes: `exchange(x, which, axis)`.

  The axis that is divided becomes one axis for each name and one for what a part holds;
  after the exchange those of the names tell where a part comes from.
  """
  s, m = typeof(x).shape, len(sizes)
  n = int(np.prod(sizes, dtype=np.int64))
  x = reshape(x, (*s[:split], *sizes, s[split] // n, *s[split + 1:]))
  for i in range(m):
    x = exchange(x, i, split + i)
  own = list(range(split, split + m))
  rest = [d for d in range(len(s) + m) if d not in own]
  place = concat  # among `rest`, where each axis stands at its number in `s`
  x = transpose(x, (*rest[:place], *own, *rest[place:]))
  t = typeof(x).shape
  return reshape(x, (*t[:place], n * t[place + m], *t[place + m + 1:]))


def _exchange_one_by_one(
    x: Any, *, split_axis: int, concat_axis: int, axis_name: Names,
    axis_index_groups: Any, axis_size: int, tiled: bool) -> list[Any]:
  sizes = sizes_of(axis_name)

  def exchange(y: Any, i: int, d: int) -> Any:
    return all_to_all_p.apply(
        y, split_axis=d, concat_axis=d, axis_name=axis_name[i], axis_index_groups=None,
        axis_size=sizes[i], tiled=False)[0]

  return [_apart(x, split_axis, concat_axis, sizes, exchange)]


@over_axis(all_to_all_p, _exchange_one_by_one)
def _(axis: Axis, values: Values, dims: Any, *, split_axis: int, concat_axis: int,
      **_: Any) -> Any:
  x = to_dim(values[0], dims[0], 0, axis.size)
  ndim = typeof(x).ndim + 1

  def exchange(y: Any, i: int, d: int) -> Any:
    order = list(range(ndim))
    order[0], order[d] = d, 0
    return transpose(y, tuple(order))

  return [_apart(x, split_axis + 1, concat_axis + 1, (axis.size,), exchange)], [0]


# ---- ragged_all_to_all


def ragged_all_to_all(
    operand: Any, output: Any, input_offsets: Any, send_sizes: Any, output_offsets: Any,
    recv_sizes: Any, *, axis_name: Any, axis_index_groups: Any = None) -> Any:
  """Exchanges runs of rows, of any lengths, between all elements along a named axis.

  The element at s sends to that at r the `send_sizes[r]` rows of its operand from
  `input_offsets[r]` on; there they replace rows of the output from `output_offsets[r]`
  on (as s has it).

  Args:
    operand: an array whose rows are sent.
    output: an array of the same dtype and size of rows; its rows that nothing replaces
      stay.
    input_offsets: integers, one for each element: where the run begins that it is sent.
    send_sizes: integers, one for each element: how many rows it is sent.
    output_offsets: integers, one for each element: where in its output they go.
    recv_sizes: integers, one for each element: how many rows come from it. They are
      given by the `send_sizes` of all, and must agree with them.
    axis_name: the name of an axis, or a tuple of names.
    axis_index_groups: lists of indices along the axis, of one length, that together hold
      each index once: rows are then exchanged within these groups.

  >>> import numpy as np
  >>> import gnomon
  >>> from gnomon import lax
  >>> def exchange(x, begin, sizes, place, received):
  ...   return lax.ragged_all_to_all(
  ...       x, lax.full_like(x, 0), begin, sizes, place, received, axis_name="i")
  >>> x = np.float32([[1, 2, 3], [4, 5, 6]])
  >>> gnomon.vmap(exchange, axis_name="i")(
  ...     x, np.int32([[0, 1], [0, 1]]), np.int32([[1, 2], [1, 1]]),
  ...     np.int32([[0, 0], [1, 2]]), np.int32([[1, 1], [2, 1]]))
  Array([[1., 4., 0.],
         [2., 3., 5.]], dtype=float32)

  Raises:
    NameError: no axis in force has the name.
    TypeError: operand and output differ in dtype or in the size of rows, or offsets and
      sizes are no integers.
    ValueError: offsets and sizes are not one for each element, or differ in shape.
  """
  names = names_of(axis_name)
  groups = checked_groups(axis_index_groups, names, "ragged_all_to_all")
  size = group_size(groups, names, "ragged_all_to_all")
  for what, x in (
      ("input_offsets", input_offsets), ("send_sizes", send_sizes),
      ("output_offsets", output_offsets), ("recv_sizes", recv_sizes)):
    aval = typeof(x)
    if not dtypes.issubdtype(aval.dtype, np.integer):
      raise TypeError(
          f"ragged_all_to_all {what} must be integer type. Got {aval.dtype}")
    if aval.shape != (size,):
      raise ValueError(
          f"ragged_all_to_all {what} must be 1 dimensional, with one number for each of "
          f"the {size} elements of the axis (or group); got {aval}")
  _check_rows(typeof(operand), typeof(output))
  return ragged_all_to_all_p.apply(
      operand, output, input_offsets, send_sizes, output_offsets, recv_sizes,
      axis_name=names, axis_index_groups=groups)[0]


ragged_all_to_all_p = Primitive("ragged_all_to_all")
unplaced(ragged_all_to_all_p)


@typing_rule.define(ragged_all_to_all_p)
def _(x: ShapedArray, out: ShapedArray, *_: ShapedArray, **__: Any) -> Any:
  _check_rows(x, out)
  return (out.strip_weak_type(),)


def _check_rows(x: ShapedArray, out: ShapedArray) -> None:
  if x.dtype != out.dtype or not x.shape or x.shape[1:] != out.shape[1:]:
    raise TypeError(
        "ragged_all_to_all: operand and output must be arrays of one dtype whose rows "
        f"have one shape, got {x} and {out}")


def _runs(begin: Any, sizes: Any, length: int) -> tuple[Any, Any]:
  """For each run, which of `length` rows are in it, and each row's number in it."""
  shape = (typeof(begin).shape[0], length)
  spread = functools.partial(broadcast_in_dim, shape=shape, broadcast_dimensions=(0,))
  at = sub(broadcasted_iota(typeof(begin).dtype, shape, 1), spread(begin))
  return bitwise_and(ge(at, full_like(at, 0)), lt(at, spread(sizes))), at


def _sources(begin: Any, at: Any, inside: Any, rows_each: int) -> Any:
  """Where rows of runs stand among the rows of all, behind one another; -1: in none."""
  shape, dtype = typeof(at).shape, typeof(at).dtype
  whose = mul(broadcasted_iota(dtype, shape, 0), np.asarray(rows_each, dtype)[()])
  place = add(add(at, broadcast_in_dim(begin, shape, (0,))), whose)
  return select_n(inside, full_like(place, -1), place)


def _take(everything: Any, sources: Any) -> Any:
  """Rows of the arrays of all, by their places behind one another; zeros for -1."""
  s = typeof(everything).shape
  flat = reshape(everything, (s[0] * s[1], *s[2:]))
  n = typeof(sources).size
  shape = (n, *s[2:])
  if not n or not s[0] * s[1]:
    return full(shape, 0, typeof(flat).dtype)
  sources = reshape(sources, (n,))
  zero = full_like(sources, 0)
  found = gather(
      flat, reshape(max(sources, zero), (n, 1)),
      GatherDimensionNumbers(tuple(range(1, len(s) - 1)), (0,), (0,)), (1, *s[2:]),
      mode=GatherScatterMode.CLIP)
  known = broadcast_in_dim(ge(sources, zero), shape, (0,))
  return select_n(known, zeros_like_aval(typeof(found)), found)


def _to_me(begin: Any, sizes: Any, place: Any, params: dict[str, Any]) -> list[Any]:
  """What everybody has for this element: its place in the group picks it."""
  names, groups = params["axis_name"], params["axis_index_groups"]
  everybody = [
      all_gather(v, names, axis_index_groups=groups) for v in (begin, sizes, place)]
  me = place_in_group(axis_index(names), names, groups)
  return [row(move(v, 1, 0), me) for v in everybody]


def _received(
    x: Any, out: Any, begin: Any, sizes: Any, place: Any, _: Any,
    **params: Any) -> list[Any]:
  begin, sizes, place = _to_me(begin, sizes, place, params)
  inside, at = _runs(place, sizes, typeof(out).shape[0])
  sources = reduce_max(_sources(begin, at, inside, typeof(x).shape[0]), (0,))
  everything = all_gather(
      x, params["axis_name"], axis_index_groups=params["axis_index_groups"])
  known = broadcast_in_dim(
      ge(sources, full_like(sources, 0)), typeof(out).shape, (0,))
  return [select_n(known, out, _take(everything, sources))]


over_axis(ragged_all_to_all_p, _received)(
    lambda axis, values, dims, **params: vmap_flat(
        lambda *xs: _received(*xs, **params), axis, values, dims))


@batch_rule.define(ragged_all_to_all_p)
def _(axis: Axis, args: Values, dims: Any, **params: Any) -> Any:
  return vmap_flat(lambda *xs: _received(*xs, **params), axis, args, dims)


@jvp_rule.define(ragged_all_to_all_p)
def _(primals: Values, tangents: Values, **params: Any) -> Any:
  x, out, *numbers = primals
  outs = ragged_all_to_all_p.apply(x, out, *numbers, **params)
  if type(tangents[0]) is Zero and type(tangents[1]) is Zero:
    return outs, [Zero(typeof(outs[0]).to_tangent_aval())]
  touts = ragged_all_to_all_p.apply(
      instantiate(tangents[0]), instantiate(tangents[1]), *numbers, **params)
  return outs, touts


def shape_of(x: Any) -> tuple[int, ...]:
  """The shape of what an operand stands for."""
  return x.aval.shape  # type: ignore[no-any-return]


@transpose_rule.define(ragged_all_to_all_p)
def _(cts: Values, args: Values, **params: Any) -> list[Any]:
  """A row's cotangent is the sum of those of its copies; replaced rows have none."""
  ct, (x, out, begin, sizes, place, _) = cts[0], args
  if type(ct) is Zero:
    return [Zero(v.aval) if type(v) is UndefinedPrimal else None for v in args]
  found: list[Any] = [None] * len(args)
  if type(x) is UndefinedPrimal:
    n, *rest = shape_of(x)
    inside, at = _runs(begin, sizes, n)
    sources = _sources(place, at, inside, typeof(ct).shape[0])
    everything = all_gather(
        ct, params["axis_name"], axis_index_groups=params["axis_index_groups"])
    copies = _take(everything, sources)
    found[0] = reduce_sum(reshape(copies, (*typeof(sources).shape, *rest)), (0,))
  if type(out) is UndefinedPrimal:
    _, sizes, place = _to_me(begin, sizes, place, params)
    inside, _ = _runs(place, sizes, shape_of(out)[0])
    replaced = broadcast_in_dim(reduce_or(inside, (0,)), shape_of(out), (0,))
    found[1] = select_n(replaced, ct, zeros_like_aval(typeof(ct)))
  return found
