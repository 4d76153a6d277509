"""Sums of products of arrays whose axes have names: what all products come down to."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any, NamedTuple

import numpy as np

from gnomon import lax
from gnomon.core import dtypes
from gnomon.core.structural import convert, select_n
from gnomon.core.types import typeof
from gnomon.numpy import _reductions

Label = Any
Labels = tuple[Label, ...]
KEYWORDS = ("precision", "preferred_element_type")


class Options(NamedTuple):
  """How products are computed, as the user asked for it."""

  precision: Any = None
  preferred_element_type: Any = None
  out_sharding: Any = None
  dot_general: Callable[..., Any] | None = None  # other than that of lax


def result_dtype(preferred: Any, *args: Any) -> tuple[Any, bool]:
  """The dtype of a product, and whether it is weak."""
  if preferred is not None:
    return dtypes.check_user_dtype_supported(preferred, "preferred_element_type"), False
  dtype, weak = dtypes.lattice_result_type(*args)
  return dtypes.canonicalize_dtype(dtype), weak


def operands(x: Any, y: Any) -> tuple[Any, Any]:
  """Operands as `dot_general` takes them: of dtypes of which one holds the other."""
  own = (typeof(x).dtype, typeof(y).dtype)
  common = dtypes.canonicalize_dtype(dtypes.lattice_result_type(x, y)[0])
  return (x, y) if common in own else (convert(x, common), convert(y, common))


def dot_general(x: Any, y: Any, contract: Any, batch: Any, options: Options) -> Any:
  """`lax.dot_general` of promoted operands; the result is weak if both of them are."""
  dtype, weak = result_dtype(options.preferred_element_type, x, y)
  x, y = operands(x, y)
  kwargs = {} if options.out_sharding is None else {"out_sharding": options.out_sharding}
  out = (options.dot_general or lax.dot_general)(
      x, y, (contract, batch), precision=options.precision, preferred_element_type=dtype,
      **kwargs)
  return convert(out, dtype, weak)


def diagonals(x: Any, labels: Labels) -> tuple[Any, Labels]:
  """Takes the diagonal of axes that have one name."""
  while len(set(labels)) < len(labels):
    name = next(a for a in labels if labels.count(a) > 1)
    i = labels.index(name)
    j = labels.index(name, i + 1)
    aval = typeof(x)
    shape = aval.shape
    if 1 in (shape[i], shape[j]) and shape[i] != shape[j]:
      gone = i if shape[i] == 1 else j
      x, labels = lax.squeeze(x, (gone,)), (*labels[:gone], *labels[gone + 1:])
      continue
    if shape[i] != shape[j]:
      raise ValueError(
          f"einsum: the label {name!r} stands for axes of sizes {shape[i]} and "
          f"{shape[j]} of an operand of the shape {shape}")
    on = lax.eq(
        lax.broadcasted_iota(np.int32, shape, i), lax.broadcasted_iota(np.int32, shape,
            j))
    zeros = lax.full(shape, 0, aval.dtype)
    x = total(select_n(on, zeros, x), (i,))
    labels = (*labels[:i], *labels[i + 1:])
  return x, labels


def total(x: Any, axes: Sequence[int]) -> Any:
  """A sum that keeps the dtype; of booleans, whether one is true."""
  if not axes:
    return x
  aval = typeof(x)
  if aval.dtype == np.bool_:
    return lax.reduce_or(x, tuple(axes))
  out = _reductions.sum(x, axis=tuple(axes), promote_integers=False)
  return convert(out, aval.dtype, aval.weak_type)


def alone(x: Any, labels: Labels, keep: Collection[Label]) -> tuple[Any, Labels]:
  """Takes diagonals, and sums over the axes that are not to be kept."""
  x, labels = diagonals(x, labels)
  x = total(x, [i for i, a in enumerate(labels) if a not in keep])
  return x, tuple([a for a in labels if a in keep])


def _without_ones(x: Any, labels: Labels, sizes: dict[Label, int]) -> tuple[Any, Labels]:
  """Drops axes of size 1 that stand against larger ones: those broadcast."""
  shape = typeof(x).shape
  ones = [i for i, a in enumerate(labels) if shape[i] == 1 and sizes.get(a, 1) != 1]
  if not ones:
    return x, labels
  return lax.squeeze(x, ones), tuple([a for i, a in enumerate(labels) if i not in ones])


def contract(
    x: Any, x_labels: Labels, y: Any, y_labels: Labels, keep: Collection[Label],
    options: Options, order: Labels | None = None) -> tuple[Any, Labels]:
  """The sum of products over all labels that are not kept.

  Sizes of 1 broadcast. `order` is a wish: operands are exchanged if that makes it come
  true.
  """
  x, x_labels = alone(x, x_labels, {*keep, *y_labels})
  y, y_labels = alone(y, y_labels, {*keep, *x_labels})
  x_sizes = dict(zip(x_labels, typeof(x).shape))
  y_sizes = dict(zip(y_labels, typeof(y).shape))
  for a, n in x_sizes.items():
    m = y_sizes.get(a, 1)
    if n != m and 1 not in (n, m):
      raise ValueError(
          f"the axes {a!r} of two operands have different sizes, {n} and {m}")
  x, x_labels = _without_ones(x, x_labels, y_sizes)
  y, y_labels = _without_ones(y, y_labels, x_sizes)
  x, x_labels = alone(x, x_labels, {*keep, *y_labels})
  y, y_labels = alone(y, y_labels, {*keep, *x_labels})
  both = [a for a in x_labels if a in y_labels]
  batch = [a for a in both if a in keep]
  if order is not None:
    batch.sort(key=lambda a: order.index(a) if a in order else len(order))
  summed = [a for a in both if a not in keep]
  mine = [a for a in x_labels if a not in both]
  theirs = [a for a in y_labels if a not in both]
  if order is not None and (*batch, *mine, *theirs) != order == (*batch, *theirs, *mine):
    x, y, x_labels, y_labels, mine, theirs = y, x, y_labels, x_labels, theirs, mine
  at_x, at_y = x_labels.index, y_labels.index
  out = dot_general(
      x, y, (tuple(map(at_x, summed)), tuple(map(at_y, summed))),
      (tuple(map(at_x, batch)), tuple(map(at_y, batch))), options)
  return out, (*batch, *mine, *theirs)


def arranged(x: Any, labels: Labels, order: Labels) -> Any:
  """Axes in a wanted order."""
  return lax.transpose(x, tuple([labels.index(a) for a in order]))


def product(
    x: Any, x_labels: Labels, y: Any, y_labels: Labels, order: Labels,
    options: Options) -> Any:
  """The sum of products over all labels that are not in `order`, axes in that order.

  A label of size 1 in both operands and every label of `order` must be in one of them.
  """
  out, labels = contract(x, x_labels, y, y_labels, order, options, order)
  return arranged(out, labels, order)
