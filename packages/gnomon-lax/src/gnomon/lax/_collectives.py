"""Collectives that reduce over named axes, and the place of an element along them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gnomon.api import tools
from gnomon.core import dtypes, scalar_types
from gnomon.core.derive import linear
from gnomon.core.primitive import Primitive
from gnomon.core.rule import axis_rule, batch_rule, jvp_rule, typing_rule
from gnomon.core.structural import (
  broadcast_in_dim,
  convert,
  full,
  instantiate,
  reduce_sum,
  select_n,
  zeros_like_aval,
)
from gnomon.core.types import ShapedArray, typeof
from gnomon.core.zero import Zero
from gnomon.lax._arithmetic import add, div, mul
from gnomon.lax._comparison import eq
from gnomon.lax._creation import iota
from gnomon.lax._families import ANY, NUMBER, check_dtype
from gnomon.lax._named_axes import (
  Groups,
  Names,
  Values,
  checked_groups,
  in_groups,
  names_of,
  size_of,
  sizes_of,
  total_size,
  unbound,
  unplaced,
)
from gnomon.lax._programs import lower_as
from gnomon.lax._reduction import check_axes, dropped, reduce_max, reduce_min
from gnomon.transform.vmap import Axis

_CONSTANT = (bool, int, float, complex, np.ndarray, np.generic)
_I32 = np.dtype(np.int32)


def psum(x: Any, axis_name: Any, *, axis_index_groups: Any = None) -> Any:
  """The sum over a named axis, of all elements that it maps over.

  Args:
    x: a pytree of arrays of numbers or bools (which are counted).
    axis_name: the name of an axis, or a tuple of names. Integers among them are axes of
      the arrays themselves.
    axis_index_groups: lists of indices along the axis that together hold each index once:
      sums are then taken within these groups.

  Returns:
    A pytree like `x`. The sum of a Python number is a Python number: `psum(1, name)` is
    the size of the axis.

  >>> import numpy as np
  >>> import gnomon
  >>> from gnomon import lax
  >>> share = lambda x: lax.div(x, lax.psum(x, "i"))
  >>> gnomon.vmap(share, axis_name="i")(np.float32([1, 3]))
  Array([0.25, 0.75], dtype=float32)

  Raises:
    NameError: no axis in force has the name.
    ValueError: groups do not hold each index once, or are given with an integer axis.
  """
  names, groups = _axes("psum", axis_name, axis_index_groups)
  leaves, tree = tools.flatten(x)
  named = tuple([n for n in names if not isinstance(n, int)])
  outs = []
  for leaf in leaves:
    if isinstance(leaf, _CONSTANT) and len(named) == len(names):
      count = len(groups[0]) if groups else total_size(names)
      if groups is None or len({len(g) for g in groups}) == 1:
        outs.append(_times(leaf, count))
        continue
    outs.append(psum_p.apply(
        _countable(leaf), axes=names, axis_index_groups=groups)[0])
  return tree.unflatten(outs)


def pmean(x: Any, axis_name: Any, *, axis_index_groups: Any = None) -> Any:
  """The mean over a named axis, of all elements that it maps over.

  Args:
    x: a pytree of arrays of numbers or bools; of integers the mean is a floating-point
      number.
    axis_name: the name of an axis, or a tuple of names.
    axis_index_groups: lists of indices along the axis that together hold each index once:
      means are then taken within these groups.

  >>> import numpy as np
  >>> import gnomon
  >>> from gnomon import lax
  >>> centred = lambda x: lax.sub(x, lax.pmean(x, "i"))
  >>> gnomon.vmap(centred, axis_name="i")(np.float32([1, 3]))
  Array([-1.,  1.], dtype=float32)

  Raises:
    NameError: no axis in force has the name.
    ValueError: groups do not hold each index once, or are given with an integer axis.
  """
  total = psum(x, axis_name, axis_index_groups=axis_index_groups)
  names = names_of(axis_name)
  leaves, tree = tools.flatten(x)
  sums, _ = tools.flatten(total)

  def mean(leaf: Any, s: Any) -> Any:
    shape = typeof(leaf).shape
    own = int(np.prod([shape[n] for n in names if isinstance(n, int)], dtype=np.int64))
    inexact = scalar_types.to_inexact_dtype(typeof(s).dtype)
    s = s if typeof(s).dtype == inexact else convert(s, inexact)
    named = tuple([n for n in names if not isinstance(n, int)])
    count: Any = np.asarray(own, inexact)[()]
    if named:
      sizes = {len(g) for g in axis_index_groups} if axis_index_groups else ()
      if len(sizes) > 1:  # then the count differs from group to group
        count = psum(
            full((), own, inexact), named, axis_index_groups=axis_index_groups)
      else:
        n = next(iter(sizes)) if sizes else total_size(named)
        count = np.asarray(own * n, inexact)[()]
    return div(s, count)

  return tree.unflatten(list(map(mean, leaves, sums)))


def pmax(x: Any, axis_name: Any, *, axis_index_groups: Any = None) -> Any:
  """The maximum over a named axis, of all elements that it maps over.

  Elements that attain it share its derivative in equal parts.

  Args:
    x: a pytree of arrays.
    axis_name: the name of an axis, or a tuple of names. Integers among them are axes of
      the arrays themselves.
    axis_index_groups: lists of indices along the axis that together hold each index once:
      maxima are then taken within these groups.

  >>> import numpy as np
  >>> import gnomon
  >>> from gnomon import lax
  >>> gnomon.vmap(lambda x: lax.pmax(x, "i"), axis_name="i")(np.float32([1, 3]))
  Array([3., 3.], dtype=float32)

  Raises:
    NameError: no axis in force has the name.
    ValueError: groups do not hold each index once, or are given with an integer axis.
  """
  return _extremum("pmax", pmax_p, x, axis_name, axis_index_groups)


def pmin(x: Any, axis_name: Any, *, axis_index_groups: Any = None) -> Any:
  """The minimum over a named axis, of all elements that it maps over.

  Elements that attain it share its derivative in equal parts.

  Args:
    x: a pytree of arrays.
    axis_name: the name of an axis, or a tuple of names. Integers among them are axes of
      the arrays themselves.
    axis_index_groups: lists of indices along the axis that together hold each index once:
      minima are then taken within these groups.

  >>> import numpy as np
  >>> import gnomon
  >>> from gnomon import lax
  >>> gnomon.vmap(lambda x: lax.pmin(x, "i"), axis_name="i")(np.float32([1, 3]))
  Array([1., 1.], dtype=float32)

  Raises:
    NameError: no axis in force has the name.
    ValueError: groups do not hold each index once, or are given with an integer axis.
  """
  return _extremum("pmin", pmin_p, x, axis_name, axis_index_groups)


def _extremum(who: str, p: Primitive, x: Any, axis_name: Any, groups: Any) -> Any:
  names, found = _axes(who, axis_name, groups)
  leaves, tree = tools.flatten(x)
  return tree.unflatten([
      p.apply(leaf, axes=names, axis_index_groups=found)[0] for leaf in leaves])


def _axes(who: str, axis_name: Any, groups: Any) -> tuple[Names, Groups | None]:
  """The names, each of which an axis has, and the groups."""
  names = names_of(axis_name)
  if groups is not None and any(isinstance(n, int) for n in names):
    raise ValueError(
        "axis_index_groups only supported for sums over just named axes: the axes of "
        f"{who} are {names}")
  for n in names:
    if not isinstance(n, int):
      size_of(n)
  return names, checked_groups(groups, names, who)


def _countable(x: Any) -> Any:
  return convert(x, _I32) if typeof(x).dtype == np.bool_ else x


def _times(x: Any, n: int) -> Any:
  """The sum of `n` equal constants."""
  if isinstance(x, (np.ndarray, np.generic)):
    dtype = _I32 if x.dtype == np.bool_ else x.dtype
    return np.asarray(np.multiply(x, np.asarray(n, dtype), dtype=dtype))
  return x * n


def axis_size(axis_name: Any) -> int:
  """The size of a named axis; of several, the product of their sizes.

  >>> import numpy as np
  >>> import gnomon
  >>> from gnomon import lax
  >>> gnomon.vmap(lambda x: lax.mul(x, lax.axis_size("i")), axis_name="i")(np.arange(3))
  Array([0, 3, 6], dtype=int32)

  Raises:
    NameError: no axis in force has the name.
  """
  return total_size(names_of(axis_name))


def axis_index(axis_name: Any) -> Any:
  """The place of an element along a named axis.

  Args:
    axis_name: the name of an axis; or a tuple of names, of which the last runs fastest.

  Returns:
    An int32 scalar, from 0 to the size of the axis less 1.

  >>> import numpy as np
  >>> import gnomon
  >>> from gnomon import lax
  >>> gnomon.vmap(lambda x: lax.axis_index("i"), axis_name="i")(np.zeros(3))
  Array([0, 1, 2], dtype=int32)

  Raises:
    NameError: no axis in force has the name.
  """
  if not isinstance(axis_name, (tuple, list)):
    size_of(axis_name)
    return axis_index_p.apply(axis_name=axis_name)[0]
  index: Any = np.int32(0)
  stride = 1
  for name, size in zip(reversed(axis_name), reversed(sizes_of(tuple(axis_name)))):
    index = add(index, mul(axis_index(name), np.int32(stride)))
    stride *= size
  return index


axis_index_p = Primitive("axis_index")
typing_rule.define(axis_index_p)(lambda axis_name: (ShapedArray((), _I32),))
unplaced(axis_index_p)


@axis_rule.define(axis_index_p)
def _(axis: Axis, values: Values, dims: Values, *, axis_name: Any) -> Any:
  return [iota(_I32, axis.size)], [0]


# ---- the primitives: their axes are names, and integers once a name is mapped


def _reducing(
    name: str, kinds: tuple[type, ...], reduce: Callable[..., Any],
    of_equal: Callable[[Any, int], Any]) -> Primitive:
  """A reduction over axes; `of_equal` gives that of equal elements."""
  p = Primitive(name)

  @typing_rule.define(p)
  def _(x: ShapedArray, *, axes: Names, axis_index_groups: Any) -> tuple[ShapedArray]:
    check_dtype(name, x, kinds)
    own = tuple([a for a in axes if isinstance(a, int)])
    check_axes(name, own, x)
    return (x.update(shape=dropped(x, own)) if own else x,)

  def program(x: Any, *, axes: Names, axis_index_groups: Any) -> Any:
    for a in axes:
      if not isinstance(a, int):
        raise unbound(a)
    return [reduce(x, tuple(sorted(axes)))]

  lower_as(p, program)

  @batch_rule.define(p)
  def _(axis: Axis, args: Values, dims: Sequence[Any], *, axes: Names,
        axis_index_groups: Any) -> Any:
    d = dims[0]
    moved = _beside(axes, d)
    outs = p.apply(args[0], axes=moved, axis_index_groups=axis_index_groups)
    return outs, [d - sum(a < d for a in moved if isinstance(a, int))]

  @axis_rule.define(p)
  def _(axis: Axis, values: Values, dims: Sequence[Any], *, axes: Names,
        axis_index_groups: Any) -> Any:
    params = {"axes": axes, "axis_index_groups": axis_index_groups}
    if axis_index_groups is not None:
      return in_groups(p, axis, values, dims, params)
    (x,), (d,) = values, dims
    if d is None:
      x = of_equal(x, axis.size)
      axes = tuple([a for a in axes if a != axis.name])
      outs = p.apply(x, axes=axes, axis_index_groups=None) if axes else [x]
      return outs, [None]
    places = tuple([d if a == axis.name else a for a in _beside(axes, d)])
    return p.apply(x, axes=places, axis_index_groups=None), [None]

  return p


def _beside(axes: Names, d: int) -> Names:
  """Axes beside a mapped dimension."""
  return tuple([a + (a >= d) if isinstance(a, int) else a for a in axes])


psum_p = _reducing(
    "psum", NUMBER, reduce_sum,
    lambda x, n: mul(x, np.asarray(n, typeof(x).dtype)[()]))
pmax_p = _reducing("pmax", ANY, reduce_max, lambda x, n: x)
pmin_p = _reducing("pmin", ANY, reduce_min, lambda x, n: x)


def _transpose_sum(
    cts: Values, args: Values, *, axes: Names, axis_index_groups: Any) -> list[Any]:
  ct, x = cts[0], args[0]
  if type(ct) is Zero:
    return [Zero(x.aval)]
  own = tuple([a for a in axes if isinstance(a, int)])
  named = tuple([a for a in axes if not isinstance(a, int)])
  if named:
    ct = psum_p.apply(ct, axes=named, axis_index_groups=axis_index_groups)[0]
  return [_spread(ct, x.aval.shape, own)]


def _spread(x: Any, shape: tuple[int, ...], axes: Sequence[int]) -> Any:
  """Repeats an array along axes that it lost."""
  if not axes:
    return x
  return broadcast_in_dim(x, shape, [d for d in range(len(shape)) if d not in axes])


linear(psum_p, _transpose_sum)


def _share_among_ties(p: Primitive) -> None:
  """The derivative of an extremum: the mean of the tangents where it is attained."""
  @jvp_rule.define(p)
  def _(primals: Values, tangents: Values, *, axes: Names, axis_index_groups: Any) -> Any:
    x, t = primals[0], tangents[0]
    params = {"axes": axes, "axis_index_groups": axis_index_groups}
    (ans,) = p.apply(x, **params)
    aval = typeof(x)
    if type(t) is Zero or not dtypes.issubdtype(aval.dtype, np.inexact):
      return [ans], [Zero(typeof(ans).to_tangent_aval())]
    own = [a for a in axes if isinstance(a, int)]
    chosen = eq(x, _spread(ans, aval.shape, own))
    (count,) = psum_p.apply(convert(chosen, aval.dtype), **params)
    kept = select_n(chosen, zeros_like_aval(aval), instantiate(t))
    return [ans], [div(psum_p.apply(kept, **params)[0], count)]


_share_among_ties(pmax_p)
_share_among_ties(pmin_p)
