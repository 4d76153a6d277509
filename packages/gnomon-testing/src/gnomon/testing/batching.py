"""Checking `vmap` against a loop."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

import gnomon
from gnomon import tree_util
from gnomon.testing._numeric import Function
from gnomon.testing.tolerance import assert_close


def check_vmap(
    f: Function, args: Sequence[Any], in_axes: Any = 0, out_axes: Any = 0, *,
    atol: float | None = None, rtol: float | None = None) -> None:
  """Checks that `vmap` of a function does what a loop over its calls does.

  Args:
    f: a function of pytrees of arrays.
    args: its arguments, with the axis to map over.
    in_axes: as `gnomon.vmap` takes it: which axis of each argument, None for all of it.
    out_axes: as `gnomon.vmap` takes it: where the axis goes in the results.
    atol: absolute tolerance; by default one that suits the dtypes.
    rtol: relative tolerance, likewise.

  Raises:
    AssertionError: values, shapes or dtypes differ.
    ValueError: nothing is mapped, or sizes differ.

  >>> import numpy as np
  >>> from gnomon import lax
  >>> x = np.arange(6.0, dtype="float32").reshape(3, 2)
  >>> check_vmap(lambda v, c: lax.mul(lax.sin(v), c), (x, np.float32(2)), (1, None))
  """
  args = tuple(args)
  leaves, treedef = tree_util.tree_flatten(args)
  if isinstance(in_axes, list):
    in_axes = tuple(in_axes)
  axes = tree_util.flatten_axes("check_vmap in_axes", treedef, in_axes)
  size = _mapped_size(leaves, axes)
  results = []
  for i in range(size):
    one = [x if axis is None else np.take(np.asarray(x), i, axis)
           for x, axis in zip(leaves, axes, strict=True)]
    results.append(f(*treedef.unflatten(one)))
  structure = tree_util.tree_structure(results[0])
  positions = tree_util.flatten_axes("check_vmap out_axes", structure, out_axes)
  columns = zip(*map(tree_util.tree_leaves, results), strict=True)
  expected = structure.unflatten([
      column[0] if position is None else np.stack(list(map(np.asarray, column)), position)
      for column, position in zip(columns, positions, strict=True)])
  actual = gnomon.vmap(f, in_axes, out_axes)(*args)
  assert_close(actual, expected, atol=atol, rtol=rtol, check_dtypes=True,
               message=f"vmap with in_axes={in_axes}, out_axes={out_axes}")


def check_vmap_axes(
    f: Function, examples: Sequence[Sequence[Any]], *, limit: int = 24,
    atol: float | None = None, rtol: float | None = None) -> None:
  """Checks `vmap` over every axis of every argument, alone and together.

  Args:
    f: a function of arrays.
    examples: several tuples of arguments, of equal shapes; these are the batch.
    limit: the most combinations of axes to try. Each argument's axes are tried alone
      in any case; of the combinations, a sample is taken.
    atol: absolute tolerance; by default one that suits the dtypes.
    rtol: relative tolerance, likewise.

  Raises:
    AssertionError: a combination differs from the loop; the message names it.

  >>> import numpy as np
  >>> from gnomon import lax
  >>> examples = [(np.float32([i, 1]), np.float32([2, i])) for i in range(3)]
  >>> check_vmap_axes(lax.add, examples)
  """
  shapes = [np.shape(x) for x in examples[0]]
  for axes in _combinations([len(shape) for shape in shapes], limit):
    args = [
        examples[0][k] if axis is None
        else np.stack([np.asarray(example[k]) for example in examples], axis)
        for k, axis in enumerate(axes)]
    check_vmap(f, args, axes, atol=atol, rtol=rtol)


def _combinations(ranks: list[int], limit: int) -> Iterator[tuple[int | None, ...]]:
  options = [(None, *range(rank + 1)) for rank in ranks]
  alone = [
      tuple(axis if i == k else None for i in range(len(ranks)))
      for k, choices in enumerate(options) for axis in choices if axis is not None]
  yield from alone
  together = [
      axes for axes in itertools.islice(itertools.product(*options), 10_000)
      if sum(axis is not None for axis in axes) > 1]
  if len(together) > limit:
    picked = np.random.default_rng(0).choice(len(together), limit, replace=False)
    together = [together[i] for i in sorted(picked)]
  yield from together


def _mapped_size(leaves: list[Any], axes: list[Any]) -> int:
  sizes = {np.shape(x)[axis] for x, axis in zip(leaves, axes, strict=True)
           if axis is not None}
  if len(sizes) != 1:
    raise ValueError(
        "check_vmap: the mapped axes must have one size, "
        f"but they have {sorted(sizes) or 'none: nothing is mapped'}")
  return int(sizes.pop())
