"""`map`: a function applied to slices along the leading axis, one after the other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gnomon.api.vmap import vmap
from gnomon.core.structural import reshape
from gnomon.core.types import typeof
from gnomon.lax._control.common import check_functions, flatten, joined, part, part_of
from gnomon.lax._control.scan import scan
from gnomon.tree_util import tree_map


def map(f: Callable[[Any], Any], xs: Any, *, batch_size: int | None = None) -> Any:
  """Applies a function to the slices of arrays along their leading axis.

  Computes `stack([f(x) for x in xs])` as one loop whose body is traced once; unlike
  `vmap` it needs memory for one step at a time.

  Args:
    f: a function of one slice.
    xs: a pytree of arrays with leading axes of one length.
    batch_size: as many slices at a time are computed together, by `vmap`.

  Returns:
    A pytree of the stacked results.

  >>> import numpy as np
  >>> from gnomon import lax
  >>> np.asarray(lax.map(lax.square, np.arange(4.))).tolist()
  [0.0, 1.0, 4.0, 9.0]

  Raises:
    TypeError: `f` cannot be called.
    ValueError: `xs` holds no arrays, their leading axes differ, or `batch_size` is less
      than 1.
  """
  check_functions("map", f=f)
  leaves, _ = flatten(xs)
  if batch_size is not None and batch_size < 1:
    raise ValueError(f"lax.map: batch_size must be at least 1, got {batch_size}")
  if batch_size is None or not leaves or not typeof(leaves[0]).shape:
    return _loop(part_of(_single, f), xs)
  n = typeof(leaves[0]).shape[0]
  rounds, rest = divmod(n, batch_size)
  if not rounds:
    return vmap(f)(xs)
  whole = rounds * batch_size
  blocks = tree_map(lambda x: reshape(
      part(x, 0, whole), (rounds, batch_size, *typeof(x).shape[1:])), xs)
  ys = tree_map(
      lambda y: reshape(y, (whole, *y.shape[2:])), _loop(part_of(_mapped, f), blocks))
  if not rest:
    return ys
  last = vmap(f)(tree_map(lambda x: part(x, whole, n), xs))
  return tree_map(lambda a, b: joined([a, b]), ys, last)


def _loop(step: Callable[..., Any], xs: Any) -> Any:
  _, ys = scan(step, (), xs)
  return ys


def _single(f: Callable[[Any], Any], carry: Any, x: Any) -> Any:
  return carry, f(x)


def _mapped(f: Callable[[Any], Any], carry: Any, xs: Any) -> Any:
  return carry, vmap(f)(xs)
