"""Collectives that send elements along named axes: permutations, broadcasts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gnomon.core.derive import linear, move
from gnomon.core.primitive import Primitive
from gnomon.core.rule import (
  batch_rule,
  typing_rule,
)
from gnomon.core.structural import (
  broadcast_in_dim,
  instantiate,
  select_n,
  squeeze,
  zeros_like_aval,
)
from gnomon.core.types import typeof
from gnomon.core.zero import Zero
from gnomon.lax._all_gather import all_gather
from gnomon.lax._collectives import axis_index, psum
from gnomon.lax._comparison import eq, ge
from gnomon.lax._named_axes import (
  Names,
  Values,
  each_leaf,
  names_of,
  over_axis,
  row,
  rows,
  total_size,
  unplaced,
)
from gnomon.transform.vmap import Axis, to_dim

Pairs = tuple[tuple[int, int], ...]


def ppermute(x: Any, axis_name: Any, perm: Any) -> Any:
  """Sends elements to other places along a named axis.

  Args:
    x: a pytree of arrays.
    axis_name: the name of an axis, or a tuple of names.
    perm: pairs (source, destination) of indices along the axis. No index is the source,
      or the destination, of two.

  Returns:
    A pytree like `x`: each element is what was sent to its place, or zeros if nothing
    was.

  >>> import numpy as np
  >>> import gnomon
  >>> from gnomon import lax
  >>> shift = lambda x: lax.ppermute(x, "i", [(0, 1), (1, 2)])
  >>> gnomon.vmap(shift, axis_name="i")(np.float32([1, 2, 3]))
  Array([0., 1., 2.], dtype=float32)

  Raises:
    NameError: no axis in force has the name.
    ValueError: an index is out of range, or occurs twice as source or as destination.
  """
  names = names_of(axis_name)
  size = total_size(names)
  pairs = tuple([(int(s), int(d)) for s, d in perm])
  for what, found in zip(("sources", "destinations"), zip(*pairs)):
    if len(set(found)) != len(found) or any(not 0 <= i < size for i in found):
      raise ValueError(
          f"ppermute {what} must be unique indices along an axis of size {size}: got "
          f"{found} from perm={perm!r}")
  return each_leaf(
      x, lambda leaf: ppermute_p.apply(leaf, axis_name=names, perm=pairs)[0])


def pshuffle(x: Any, axis_name: Any, perm: Sequence[int]) -> Any:
  """Takes elements from other places along a named axis.

  Args:
    x: a pytree of arrays.
    axis_name: the name of an axis, or a tuple of names.
    perm: for each index along the axis, the index from which its element comes.

  >>> import numpy as np
  >>> import gnomon
  >>> from gnomon import lax
  >>> turn = lambda x: lax.pshuffle(x, "i", [2, 0, 1])
  >>> gnomon.vmap(turn, axis_name="i")(np.float32([1, 2, 3]))
  Array([3., 1., 2.], dtype=float32)

  Raises:
    NameError: no axis in force has the name.
    ValueError: `perm` is no permutation of the indices.
  """
  if sorted(perm) != list(range(len(perm))):
    raise ValueError(f"`perm` does not represent a permutation: {perm}")
  return ppermute(x, axis_name, list(zip(perm, range(len(perm)))))


ppermute_p = Primitive("ppermute")
typing_rule.define(ppermute_p)(lambda x, **_: (x,))
unplaced(ppermute_p)


def _transpose_permute(
    cts: Values, args: Values, *, axis_name: Names, perm: Pairs) -> list[Any]:
  if type(cts[0]) is Zero:
    return [Zero(args[0].aval)]
  return list(ppermute_p.apply(
      cts[0], axis_name=axis_name, perm=tuple([(d, s) for s, d in perm])))


linear(ppermute_p, _transpose_permute)


@batch_rule.define(ppermute_p)
def _(axis: Axis, args: Values, dims: Values, **params: Any) -> Any:
  return ppermute_p.apply(*args, **params), dims


def _sources(perm: Pairs, size: int) -> Any:
  """For each place where its element comes from; -1: from nowhere."""
  found = np.full(size, -1, np.int32)
  for source, destination in perm:
    found[destination] = source
  return found


def _permute_all(x: Any, *, axis_name: Names, perm: Pairs) -> list[Any]:
  sources = row(_sources(perm, total_size(axis_name)), axis_index(axis_name))
  everything = all_gather(x, axis_name)
  zero = np.int32(0)
  known = ge(sources, zero)
  found = row(everything, select_n(known, zero, sources))
  return [select_n(known, zeros_like_aval(typeof(x)), found)]


@over_axis(ppermute_p, _permute_all)
def _(axis: Axis, values: Values, dims: Any, *, axis_name: Names, perm: Pairs) -> Any:
  x = to_dim(values[0], dims[0], 0, axis.size)
  sources = _sources(perm, axis.size)
  found = rows(x, np.maximum(sources, 0).tolist())
  if (sources < 0).any():
    aval = typeof(x)
    known = broadcast_in_dim(sources >= 0, aval.shape, (0,))
    found = select_n(known, zeros_like_aval(aval), found)
  return [found], [0]


# ---- pbroadcast, pcast


def pbroadcast(x: Any, axis_name: Any, source: int) -> Any:
  """Gives all elements along a named axis the value of one.

  Args:
    x: a pytree of arrays.
    axis_name: the name of an axis, or a tuple of names.
    source: the index along the axis of the element whose value is given.

  >>> import numpy as np
  >>> import gnomon
  >>> from gnomon import lax
  >>> gnomon.vmap(lambda x: lax.pbroadcast(x, "i", 1), axis_name="i")(np.float32([1, 3]))
  Array([3., 3.], dtype=float32)

  Raises:
    NameError: no axis in force has the name.
    ValueError: the index is out of range.
  """
  size = total_size(names_of(axis_name))
  if not 0 <= source < size:
    raise ValueError(
        f"pbroadcast: the source must be an index along the axis {axis_name} of size "
        f"{size}, got {source}")
  name = axis_name if isinstance(axis_name, (str, int)) else names_of(axis_name)
  return each_leaf(
      x, lambda leaf: pbroadcast_p.apply(leaf, axis_name=name, source=int(source))[0])


pbroadcast_p = Primitive("pbroadcast")
typing_rule.define(pbroadcast_p)(lambda x, **_: (x,))
unplaced(pbroadcast_p)


def _collect(cts: Values, args: Values, *, axis_name: Any, source: int) -> list[Any]:
  if type(cts[0]) is Zero:
    return [Zero(args[0].aval)]
  total = psum(instantiate(cts[0]), axis_name)
  here = eq(axis_index(axis_name), np.int32(source))
  return [select_n(here, zeros_like_aval(args[0].aval), total)]


linear(pbroadcast_p, _collect)


@batch_rule.define(pbroadcast_p)
def _(axis: Axis, args: Values, dims: Values, **params: Any) -> Any:
  return pbroadcast_p.apply(*args, **params), dims


@over_axis(
    pbroadcast_p,
    lambda x, *, axis_name, source: [row(all_gather(x, axis_name), np.int32(source))])
def _(axis: Axis, values: Values, dims: Any, *, axis_name: Any, source: int) -> Any:
  (x,), (d,) = values, dims
  return [x if d is None else squeeze(rows(move(x, d, 0), [source]), (0,))], [None]


_KINDS = ("varying", "reduced", "unreduced")


def pcast(x: Any, axis_name: Any, *, to: str) -> Any:
  """Says how values relate along a named axis; a mapped function's values stay as is.

  What varies along an axis is known of each value under `vmap`, and needs no saying. The
  function lets programs written for `shard_map` run there too.

  Args:
    x: a pytree of arrays.
    axis_name: the name of an axis, or a tuple of names.
    to: `"varying"`, `"reduced"` or `"unreduced"`.

  >>> import numpy as np
  >>> import gnomon
  >>> from gnomon import lax
  >>> cast = lambda x: lax.neg(lax.pcast(x, "i", to="varying"))
  >>> gnomon.vmap(cast, axis_name="i")(np.float32([1, 3]))
  Array([-1., -3.], dtype=float32)

  Raises:
    NameError: no axis in force has the name.
    ValueError: `to` is unknown.
  """
  if to not in _KINDS:
    raise ValueError(
        f"Got unexpected `to` value for pcast: expected one of {', '.join(_KINDS)}, got "
        f"{to!r}")
  total_size(names_of(axis_name))
  return x
