"""`ravel_pytree`: pytrees as vectors and back, under transformations too."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gnomon
from gnomon import lax
from gnomon.flatten_util import ravel_pytree

f32 = np.float32
TREES: dict[str, tuple[Any, Any, str]] = {  # pytree, elements, dtype of the vector
    "nothing": ({}, [], "float32"),
    "a number": (3, [3], "int32"),
    "shapes": ({"a": np.ones((2, 2), f32), "b": [np.zeros((0, 3), f32), f32(7)]},
               [1, 1, 1, 1, 7], "float32"),
    "integers": ([np.int32(1), np.arange(2, dtype=np.int32)], [1, 0, 1], "int32"),
    "mixed": ([np.ones(2, f32), np.int32(4), np.float16(2)], [1, 1, 4, 2], "float32"),
    "complex": ([np.ones(1, f32), np.complex64(2j)], [1, 2j], "complex64"),
}


@pytest.mark.parametrize("name", TREES)
def test_there_and_back(name: str) -> None:
  tree, elements, dtype = TREES[name]
  vector, unravel = ravel_pytree(tree)
  assert (str(vector.dtype), vector.shape) == (dtype, (len(elements),))
  np.testing.assert_array_equal(np.asarray(vector), elements)
  back, structure = gnomon.tree_util.tree_flatten(unravel(vector))
  leaves, expected = gnomon.tree_util.tree_flatten(tree)
  assert structure == expected
  for x, y in zip(back, leaves, strict=True):
    assert x.dtype == gnomon.typeof(y).dtype
    np.testing.assert_array_equal(np.asarray(x), y)


def test_unravelling_other_vectors() -> None:
  _, unravel = ravel_pytree([f32(1), f32(2)])
  with pytest.raises(ValueError, match=r"shape \(2,\), got.*\(3,\)"):
    unravel(np.ones(3, f32))
  assert unravel(np.ones(2, np.int32))[0].dtype == np.int32  # one dtype may change
  _, unravel = ravel_pytree([np.int32(1), f32(2)])
  with pytest.raises(TypeError, match="dtype int32, but expected dtype float32"):
    unravel(np.ones(2, np.int32))


def test_equal_structures_unravel_equally() -> None:
  """So that a function to unravel may be a static argument."""
  first, second = (ravel_pytree({"a": np.ones(n, f32)})[1] for n in (2, 2))
  assert first == second != ravel_pytree({"a": np.ones(3, f32)})[1]
  assert hash(first) == hash(second)


def test_under_transformations() -> None:
  tree = {"a": np.arange(3, dtype=f32), "b": f32(2)}
  vector, unravel = ravel_pytree(tree)

  def loss(v: Any) -> Any:
    t = unravel(v)
    return lax.mul(lax.reduce_sum(lax.mul(t["a"], t["a"]), (0,)), t["b"])

  expected = [0, 4, 8, 5]
  np.testing.assert_allclose(gnomon.grad(loss)(vector), expected)
  np.testing.assert_allclose(gnomon.jit(gnomon.grad(loss))(vector), expected)
  back = gnomon.jit(lambda t: ravel_pytree(t)[0])(tree)
  np.testing.assert_array_equal(back, vector)
  rows = gnomon.vmap(lambda a: ravel_pytree({"a": a, "b": f32(2)})[0])(
      np.arange(6, dtype=f32).reshape(2, 3))
  np.testing.assert_array_equal(rows, [[0, 1, 2, 2], [3, 4, 5, 2]])
