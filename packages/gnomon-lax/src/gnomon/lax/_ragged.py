"""`ragged_dot_general`: products of groups of rows, each with a matrix of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from gnomon.core import dtypes
from gnomon.core.derive import expand, move
from gnomon.core.jaxpr import eval_jaxpr
from gnomon.core.primitive import Primitive
from gnomon.core.rule import batch_rule, jvp_rule, lower, transpose_rule, typing_rule
from gnomon.core.stage import trace_to_closed
from gnomon.core.structural import (
  add_tangents,
  broadcast_in_dim,
  convert,
  full,
  reduce_sum,
  select_n,
  slice_axis,
  transpose,
  zeros_like_aval,
)
from gnomon.core.types import ShapedArray, typeof
from gnomon.core.zero import UndefinedPrimal, Zero
from gnomon.lax._arithmetic import add, div, min, mul, sub
from gnomon.lax._bitwise import bitwise_and
from gnomon.lax._comparison import ge, gt, le, lt
from gnomon.lax._control.scan import scan
from gnomon.lax._creation import broadcasted_iota, iota
from gnomon.lax._cumulative import cumsum
from gnomon.lax._dot import dot_general, dot_general_p, free
from gnomon.lax._dynamic import (
  dynamic_index_in_dim,
  dynamic_slice_in_dim,
  dynamic_update_slice_in_dim,
)
from gnomon.lax._loops import on_cpu
from gnomon.lax._precision import canonical
from gnomon.lax._programs import emit
from gnomon.lax._shape import concatenate, ints, pad
from gnomon.transform.jvp import place
from gnomon.transform.transpose import transpose_jaxpr

Dims = tuple[int, ...]
Values = Sequence[Any]


class RaggedDotDimensionNumbers:
  """Which dimensions `ragged_dot_general` contracts, pairs, and divides into groups.

  Args:
    dot_dimension_numbers: `((lhs_contract, rhs_contract), (lhs_batch, rhs_batch))`, as
      for `dot_general`.
    lhs_ragged_dimensions: the dimension of `lhs` that is divided into groups.
    rhs_group_dimensions: the dimension of `rhs` that has an entry for each group, if
      there is one.
  """

  __slots__ = ("dot_dimension_numbers", "lhs_ragged_dimensions", "rhs_group_dimensions")

  def __init__(
      self, dot_dimension_numbers: Any, lhs_ragged_dimensions: Sequence[int],
      rhs_group_dimensions: Sequence[int]) -> None:
    contract, batch = dot_dimension_numbers
    (cx, cy), (bx, by) = contract, batch
    self.dot_dimension_numbers = ((ints(cx), ints(cy)), (ints(bx), ints(by)))
    self.lhs_ragged_dimensions = ints(lhs_ragged_dimensions)
    self.rhs_group_dimensions = ints(rhs_group_dimensions)

  @property
  def _key(self) -> tuple[Any, ...]:
    return (
        self.dot_dimension_numbers, self.lhs_ragged_dimensions, self.rhs_group_dimensions)

  def __eq__(self, other: object) -> bool:
    return type(other) is RaggedDotDimensionNumbers and self._key == other._key

  def __hash__(self) -> int:
    return hash(self._key)

  def __repr__(self) -> str:
    return (
        f"RaggedDotDimensionNumbers(dot_dimension_numbers={self.dot_dimension_numbers}, "
        f"lhs_ragged_dimensions={self.lhs_ragged_dimensions}, "
        f"rhs_group_dimensions={self.rhs_group_dimensions})")


class _Ragged(NamedTuple):
  """The dimensions of one product, and what kind the ragged one is."""

  contract: tuple[Dims, Dims]
  batch: tuple[Dims, Dims]
  ragged: int
  group: int | None
  kind: str  # "free", "contracting" or "batch"
  outer: Dims  # dimensions of lhs beyond whose pieces each has group sizes of its own

  @staticmethod
  def of(numbers: RaggedDotDimensionNumbers, lhs: ShapedArray) -> _Ragged:
    contract, batch = numbers.dot_dimension_numbers
    ragged = numbers.lhs_ragged_dimensions[0]
    group = numbers.rhs_group_dimensions[0] if numbers.rhs_group_dimensions else None
    if ragged in batch[0]:
      kind, outer = "batch", batch[0][:batch[0].index(ragged)]
    elif ragged in contract[0]:
      kind, outer = "contracting", (*batch[0], *contract[0][:contract[0].index(ragged)])
    else:
      own = free(lhs.ndim, contract[0], batch[0])
      kind, outer = "free", (*batch[0], *own[:own.index(ragged)])
    return _Ragged(contract, batch, ragged, group, kind, outer)


def ragged_dot(
    lhs: Any, rhs: Any, group_sizes: Any, precision: Any = None,
    preferred_element_type: Any = None, group_offset: Any = None,
    out_sharding: Any = None) -> Any:
  """Multiplies groups of rows, each with the matrix of its group.

  Args:
    lhs: an array of shape `(m, k)`: rows, group by group.
    rhs: an array of shape `(g, k, n)`: the matrices of the groups.
    group_sizes: `g` integers: how many rows belong to each group. Rows after all groups
      give zeros.
    precision: see `dot_general`.
    preferred_element_type: the dtype of the result; see `dot_general`.
    group_offset: for parts of groups on several devices; only None is supported.
    out_sharding: how the result is laid out over devices; None without a mesh.

  Returns:
    An array of shape `(m, n)`.

  >>> import numpy as np
  >>> from gnomon import lax
  >>> rows, scales = np.ones((4, 1), np.float32), np.float32([[[2]], [[3]]])
  >>> lax.ragged_dot(rows, scales, np.int32([1, 2])).ravel().tolist()
  [2.0, 3.0, 3.0, 0.0]

  Raises:
    TypeError: shapes do not fit together, or the sizes are no integers.
  """
  return ragged_dot_general(
      lhs, rhs, group_sizes,
      RaggedDotDimensionNumbers((((1,), (1,)), ((), ())), (0,), (0,)), precision,
      preferred_element_type, group_offset, out_sharding)


def ragged_dot_general(
    lhs: Any, rhs: Any, group_sizes: Any,
    ragged_dot_dimension_numbers: RaggedDotDimensionNumbers, precision: Any = None,
    preferred_element_type: Any = None, group_offset: Any = None,
    out_sharding: Any = None) -> Any:
  """`dot_general` of arrays of which one dimension is divided into groups.

  What that means depends on which dimension of `lhs` is divided:

  - one that is neither contracted nor paired: each group of `lhs` is multiplied with its
    own entry along the group dimension of `rhs`;
  - one that is contracted: sums are taken over each group, and the result has a new first
    dimension for them;
  - one that is paired: the groups change nothing.

  Args:
    lhs: an array.
    rhs: an array.
    group_sizes: integers: the sizes of the groups, along the last dimension. The others,
      if any, are the batch dimensions (unless the ragged one is among them) and those
      dimensions of `lhs` of the ragged one's kind that come before it. What comes after
      all groups counts as zero.
    ragged_dot_dimension_numbers: the dimensions.
    precision: see `dot_general`.
    preferred_element_type: the dtype of the result; see `dot_general`.
    group_offset: for parts of groups on several devices; only None is supported.
    out_sharding: how the result is laid out over devices; None without a mesh.

  >>> import numpy as np
  >>> from gnomon import lax
  >>> numbers = lax.RaggedDotDimensionNumbers((((0,), (0,)), ((), ())), [0], [])
  >>> x = np.float32([1, 2, 3])
  >>> lax.ragged_dot_general(x, x, np.int32([2, 1]), numbers).tolist()
  [5.0, 9.0]

  Raises:
    TypeError: shapes and dimensions do not fit together, or the sizes are no integers.
    NotImplementedError: `group_offset` is given.
  """
  if group_offset is not None:
    raise NotImplementedError(
        "ragged_dot_general: group_offset is for groups that are spread over devices; "
        "pass the sizes and matrices of the groups at hand, and None")
  preferred = None
  if preferred_element_type is not None:
    preferred = dtypes.canonicalize_dtype(preferred_element_type)
  return ragged_dot_general_p.apply(
      lhs, rhs, group_sizes, ragged_dot_dimension_numbers=ragged_dot_dimension_numbers,
      precision=canonical(precision), preferred_element_type=preferred,
      group_offset=None, out_sharding=out_sharding)[0]


ragged_dot_general_p = Primitive("ragged_dot_general")


@typing_rule.define(ragged_dot_general_p)
def _(x: ShapedArray, y: ShapedArray, sizes: ShapedArray, *,
      ragged_dot_dimension_numbers: RaggedDotDimensionNumbers,
      **params: Any) -> tuple[ShapedArray]:
  numbers = ragged_dot_dimension_numbers
  _check_numbers(numbers, x, y)
  dims = _Ragged.of(numbers, x)
  if not dtypes.issubdtype(sizes.dtype, np.integer):
    raise TypeError(
        "ragged_dot_general requires that group_sizes.dtype is subtype of np.integer, "
        f"got {sizes}")
  outer = tuple([x.shape[d] for d in dims.outer])
  if not sizes.shape or sizes.shape[:-1] not in ((), outer):
    raise TypeError(
        f"expected group_sizes to have shape {(*outer, *sizes.shape[-1:])}, got "
        f"{sizes.shape}: the sizes of the groups along the last dimension, for each "
        "index of the outer ones or for all")
  g = sizes.shape[-1]
  if dims.group is not None:
    if y.shape[dims.group] != g:
      raise TypeError(
          f"expected rhs group dimension size to be {g}, got {y.shape[dims.group]}.")
    y = y.update(shape=(*y.shape[:dims.group], *y.shape[dims.group + 1:]))
  plain = _plain_dims(dims)
  (out,) = typing_rule[dot_general_p](x, y, dimension_numbers=plain, **_dot(params))
  if dims.kind == "contracting":
    out = out.update(shape=(g, *out.shape))
  return (out,)


def _dot(params: dict[str, Any]) -> dict[str, Any]:
  return {k: v for k, v in params.items() if k != "group_offset"}


def _plain_dims(dims: _Ragged) -> Any:
  """The dimension numbers for `rhs` without its group dimension."""
  (cx, cy), (bx, by) = dims.contract, dims.batch
  g = dims.group
  if g is not None:
    cy, by = (tuple([d - (d > g) for d in ds]) for ds in (cy, by))
  return (cx, cy), (bx, by)


def _check_numbers(
    numbers: RaggedDotDimensionNumbers, x: ShapedArray, y: ShapedArray) -> None:
  ragged, group = numbers.lhs_ragged_dimensions, numbers.rhs_group_dimensions
  for side, what, ds, a in (
      ("lhs", "ragged", ragged, x), ("rhs", "group", group, y)):
    for d in ds:
      if not 0 <= d < a.ndim:
        raise TypeError(
            f"ragged_dot_general requires {side} {what} dimension numbers to be "
            f"nonnegative and less than the number of axes of the {side} value, got {d} "
            f"for {side} of rank {a.ndim}.")
  if len(ragged) != 1:
    raise TypeError(
        "ragged_dot_general expects exactly one lhs ragged dimension, got "
        f"{ragged}.")
  (cx, cy), (bx, by) = numbers.dot_dimension_numbers
  if ragged[0] in (*cx, *bx):
    if group:
      raise TypeError(
          "ragged_dot_general requires zero group dimensions in the rhs when lhs ragged "
          f"dimension is contracting or batch, got {group}.")
  elif len(group) != 1:
    raise TypeError(
        "ragged_dot_general requires exactly one rhs group dimension when lhs ragged "
        f"dimension is noncontracting, got {group}.")
  elif group[0] in (*cy, *by):
    raise TypeError(
        f"ragged_dot_general: the rhs group dimension {group[0]} must be neither "
        f"contracted nor a batch dimension, got {numbers}")


# ---- as a dot of masked copies of lhs, one for each group


def _masked_dot(
    x: Any, y: Any, sizes: Any, *,
    ragged_dot_dimension_numbers: RaggedDotDimensionNumbers, precision: Any,
    preferred_element_type: Any, group_offset: Any, out_sharding: Any) -> list[Any]:
  aval = typeof(x)
  dims = _Ragged.of(ragged_dot_dimension_numbers, aval)
  options = {
      "precision": precision, "preferred_element_type": preferred_element_type,
      "out_sharding": out_sharding}
  (cx, cy), (bx, by) = dims.contract, dims.batch
  if dims.kind == "batch":
    return list(dot_general_p.apply(x, y, dimension_numbers=(dims.contract, dims.batch),
                                   **options))
  copies = _by_group(x, sizes, dims)
  cx, bx = (tuple([d + 1 for d in ds]) for ds in (cx, bx))
  if dims.kind == "free":
    return [dot_general(
        copies, y, (((0, *cx), (dims.group, *cy)), (bx, by)), precision,
        preferred_element_type, out_sharding=out_sharding)]
  out = dot_general(
      copies, y, ((cx, cy), (bx, by)), precision, preferred_element_type,
      out_sharding=out_sharding)
  return [move(out, len(bx), 0)]


def _by_group(x: Any, sizes: Any, dims: _Ragged) -> Any:
  """`x` once for each group (a new first dimension), zero but for the group's part."""
  aval, s = typeof(x), typeof(sizes)
  g, last = s.shape[-1], s.ndim - 1
  shape = (g, *aval.shape)
  ends = cumsum(sizes, axis=last)
  places = (*(d + 1 for d in dims.outer), 0) if last else (0,)
  order = tuple(sorted(range(len(places)), key=lambda i: places[i]))

  def spread(v: Any) -> Any:
    return broadcast_in_dim(transpose(v, order), shape, tuple(sorted(places)))

  at = broadcasted_iota(s.dtype, shape, dims.ragged + 1)
  inside = bitwise_and(ge(at, spread(sub(ends, sizes))), lt(at, spread(ends)))
  copies = expand(x, g)
  return select_n(inside, zeros_like_aval(typeof(copies)), copies)


# ---- on CPUs, where the product of masked copies does the work of all groups for each


_TILE = 64  # rows that are multiplied at once
_WORTH = 1 << 22  # multiplications of masked copies, from which a loop pays


def _in_tiles(x: ShapedArray, y: ShapedArray, numbers: RaggedDotDimensionNumbers) -> bool:
  """Whether rows are multiplied tile by tile, each with the matrices of its groups."""
  (cx, _), (bx, _) = numbers.dot_dimension_numbers
  if bx or len(cx) != 1 or x.ndim != 2 or y.ndim != 3 or not numbers.rhs_group_dimensions:
    return False
  g = y.shape[numbers.rhs_group_dimensions[0]]
  return g > 2 and x.shape[0] >= 2 * _TILE and x.size * y.size >= _WORTH


def _tiled_dot(
    x: Any, y: Any, sizes: Any, *,
    ragged_dot_dimension_numbers: RaggedDotDimensionNumbers, precision: Any,
    preferred_element_type: Any, **_: Any) -> list[Any]:
  """A loop over the pairs of a tile of rows and a group that has rows in it."""
  contract = ragged_dot_dimension_numbers.dot_dimension_numbers[0]
  cx, cy = contract[0][0], contract[1][0]
  group = ragged_dot_dimension_numbers.rhs_group_dimensions[0]
  x = transpose(x, (1 - cx, cx))
  y = transpose(y, (group, cy, 3 - group - cy))
  m, g = typeof(x).shape[0], typeof(y).shape[0]
  tiles = -(-m // _TILE)
  x = pad(x, zeros_like_aval(typeof(x).update(shape=())), ((0, tiles * _TILE - m, 0),
                                                           (0, 0, 0)))
  i32 = np.int32
  ends = min(cumsum(convert(sizes, np.dtype(i32))), i32(m))
  starts = concatenate([np.zeros(1, i32), slice_axis(ends, 0, g - 1, 0)], 0)
  first = div(starts, i32(_TILE))
  count = select_n(
      gt(ends, starts), np.zeros(g, i32),
      add(sub(div(sub(ends, i32(1)), i32(_TILE)), first), i32(1)))
  until = cumsum(count)

  def visit(out: Any, v: Any) -> tuple[Any, None]:
    which = min(reduce_sum(convert(le(until, v), np.dtype(i32)), (0,)), i32(g - 1))
    of, start, end, begin, behind = (
        dynamic_index_in_dim(a, which, 0, keepdims=False)
        for a in (y, starts, ends, first, sub(until, count)))
    row = mul(min(add(begin, sub(v, behind)), i32(tiles - 1)), i32(_TILE))
    part = dot_general(
        dynamic_slice_in_dim(x, row, _TILE), of, (((1,), (0,)), ((), ())), precision,
        preferred_element_type)
    at = add(iota(np.dtype(i32), _TILE), row)
    own = bitwise_and(
        bitwise_and(ge(at, start), lt(at, end)),
        lt(v, dynamic_index_in_dim(until, i32(g - 1), 0, keepdims=False)))
    before = dynamic_slice_in_dim(out, row, _TILE)
    after = select_n(
        broadcast_in_dim(own, typeof(part).shape, (0,)), before, part)
    return dynamic_update_slice_in_dim(out, after, row, 0), None

  kind = typeof(dot_general(
      slice_axis(x, 0, 1, 0), slice_axis(y, 0, 1, 0), (((1,), (1,)), ((), ())), precision,
      preferred_element_type)).dtype
  out, _ = scan(
      visit, full((tiles * _TILE, typeof(y).shape[2]), 0, kind),
      iota(np.dtype(i32), tiles + g))
  return [slice_axis(out, 0, m, 0)]


@lower.define(ragged_dot_general_p)
def _(ctx: Any, *values: Any, **params: Any) -> Values:
  x, y, _ = ctx.avals_in
  tiled = on_cpu(ctx) and _in_tiles(x, y, params["ragged_dot_dimension_numbers"])
  return emit(ctx, _tiled_dot if tiled else _masked_dot, ctx.avals_in, values, **params)


# ---- derivatives


@jvp_rule.define(ragged_dot_general_p)
def _(primals: Values, tangents: Values, **params: Any) -> Any:
  x, y, sizes = primals
  outs = ragged_dot_general_p.apply(x, y, sizes, **params)
  total: Any = Zero(typeof(outs[0]).to_tangent_aval())
  if total.aval.dtype != dtypes.float0:
    for i, t in enumerate(tangents[:2]):
      if type(t) is not Zero:
        pair = (t, y) if i == 0 else (x, t)
        total = add_tangents(
            total, ragged_dot_general_p.apply(*pair, sizes, **params)[0])
  return outs, (total,)


@transpose_rule.define(ragged_dot_general_p)
def _(cts: Values, args: Values, *,
      ragged_dot_dimension_numbers: RaggedDotDimensionNumbers, precision: Any,
      preferred_element_type: Any, **params: Any) -> list[Any]:
  x, y, sizes = args
  left = type(x) is UndefinedPrimal
  aval = x.aval if left else y.aval
  if type(cts[0]) is Zero:
    return [Zero(aval), None, None] if left else [None, Zero(aval), None]
  lhs = x.aval if left else typeof(x)
  dims = _Ragged.of(ragged_dot_dimension_numbers, lhs)
  params = {**params, "precision": precision, "preferred_element_type": (
      None if preferred_element_type is None else aval.dtype)}
  if dims.kind != "free":
    part = _through_masks(
        cts[0], args, aval, left, ragged_dot_dimension_numbers, {
            **params, "preferred_element_type": preferred_element_type})
  elif left:
    part = _back_to_rows(cts[0], lhs, y, sizes, dims, params)
  else:
    part = _back_to_matrices(cts[0], x, aval, sizes, dims, params)
  part = convert(part, aval.dtype, aval.weak_type)
  return [part, None, None] if left else [None, part, None]


def _back_to_rows(
    ct: Any, x: ShapedArray, y: Any, sizes: Any, dims: _Ragged,
    params: dict[str, Any]) -> Any:
  """The cotangent of lhs: rows of `ct`, in the same groups, with the matrices again."""
  (cx, cy), (bx, by) = dims.contract, dims.batch
  n, own = len(bx), free(x.ndim, cx, bx)
  assert dims.group is not None
  theirs = free(typeof(y).ndim, (*cy, dims.group), by)
  numbers = RaggedDotDimensionNumbers(
      ((tuple(range(n + len(own), typeof(ct).ndim)), theirs), (tuple(range(n)), by)),
      (n + own.index(dims.ragged),), (dims.group,))
  (out,) = ragged_dot_general_p.apply(
      ct, y, sizes, ragged_dot_dimension_numbers=numbers, **params)
  return _arranged(out, (*bx, *own, *(d for _, d in sorted(zip(cy, cx)))))


def _back_to_matrices(
    ct: Any, x: Any, y: ShapedArray, sizes: Any, dims: _Ragged,
    params: dict[str, Any]) -> Any:
  """The cotangent of rhs: contracts the rows of each group."""
  (cx, cy), (bx, by) = dims.contract, dims.batch
  n, own = len(bx), free(typeof(x).ndim, cx, bx)
  assert dims.group is not None
  theirs = free(y.ndim, (*cy, dims.group), by)
  numbers = RaggedDotDimensionNumbers(
      ((own, tuple(range(n, n + len(own)))), (bx, tuple(range(n)))), (dims.ragged,), ())
  (out,) = ragged_dot_general_p.apply(
      x, ct, sizes, ragged_dot_dimension_numbers=numbers, **params)
  return _arranged(
      out, (dims.group, *by, *(d for _, d in sorted(zip(cx, cy))), *theirs))


def _arranged(x: Any, dims: Sequence[int]) -> Any:
  """Puts the dimensions that stand at `dims` of an operand where they belong."""
  return transpose(x, tuple(sorted(range(len(dims)), key=lambda i: dims[i])))


def _through_masks(
    ct: Any, args: Values, aval: ShapedArray, left: bool,
    numbers: RaggedDotDimensionNumbers, params: dict[str, Any]) -> Any:
  """The transpose of the product of masked copies."""
  avals = [v.aval if type(v) is UndefinedPrimal else typeof(v) for v in args]
  program = trace_to_closed(
      lambda *xs: _masked_dot(*xs, ragged_dot_dimension_numbers=numbers, **params), avals)
  transposed, moved = transpose_jaxpr(program, (not left, left, True), (True,))
  known = [v for v in args if type(v) is not UndefinedPrimal]
  outs = eval_jaxpr(transposed.jaxpr, transposed.consts, *known, ct)
  (part,) = place(outs, moved, [aval])
  return zeros_like_aval(aval) if type(part) is Zero else part


# ---- batching: one more pair of batch dimensions


@batch_rule.define(ragged_dot_general_p)
def _(axis: Any, args: Values, dims: Values, *,
      ragged_dot_dimension_numbers: RaggedDotDimensionNumbers, **params: Any) -> Any:
  x, y = (
      expand(v, axis.size) if d is None else move(v, d, 0)
      for v, d in zip(args[:2], dims[:2]))
  aval = typeof(x)
  one = aval.update(shape=aval.shape[1:])
  ragged = _Ragged.of(ragged_dot_dimension_numbers, one)
  (cx, cy), (bx, by) = (
      tuple([tuple([d + 1 for d in ds]) for ds in pair])
      for pair in ragged_dot_dimension_numbers.dot_dimension_numbers)
  numbers = RaggedDotDimensionNumbers(
      ((cx, cy), ((0, *bx), (0, *by))),
      [d + 1 for d in ragged_dot_dimension_numbers.lhs_ragged_dimensions],
      [d + 1 for d in ragged_dot_dimension_numbers.rhs_group_dimensions])
  sizes, d = args[2], dims[2]
  s = typeof(sizes)
  rank = s.ndim - (d is not None)
  if d is not None or rank > 1:  # sizes for each index of the outer dimensions, or of all
    sizes = expand(sizes, axis.size) if d is None else move(sizes, d, 0)
    if rank == 1:
      g = s.shape[-1] if d != s.ndim - 1 else s.shape[0]
      outer = tuple([one.shape[i] for i in ragged.outer])
      sizes = broadcast_in_dim(
          sizes, (axis.size, *outer, g), (0, 1 + len(outer)))
  outs = ragged_dot_general_p.apply(
      x, y, sizes, ragged_dot_dimension_numbers=numbers, **params)
  return outs, (1 if ragged.kind == "contracting" else 0,)
