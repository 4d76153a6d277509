"""A dynamic update followed at once by another shape: openxla/xla#49176."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gnomon
from gnomon import lax

X = np.arange(4, dtype=np.int32).reshape(4, 1, 1)


def _shift(x: Any) -> Any:
  """Shifts by one along the first axis: the update reads what it overwrites."""
  base = lax.add(x, np.ones((4, 1, 1), np.int32))
  return lax.dynamic_update_slice(
      base, lax.slice(base, (0, 0, 0), (3, 1, 1)), (1, 0, 0))


RESHAPES: dict[str, Callable[[Any], Any]] = {
    "reshape": lambda y: lax.reshape(y, (1, 4, 1)),
    "squeeze": lambda y: lax.squeeze(y, (1, 2)),
    "expand_dims": lambda y: lax.expand_dims(y, (0,)),
    "broadcast_in_dim": lambda y: lax.broadcast_in_dim(y, (1, 4, 1, 1), (1, 2, 3)),
    "transpose": lambda y: lax.transpose(y, (1, 0, 2)),
    "reduce": lambda y: lax.reduce_sum(y, (1,)),
    "reverse": lambda y: lax.rev(y, (1,)), "itself": lambda y: y,
    "slice": lambda y: lax.slice(y, (0, 0, 0), (4, 1, 1))}


@pytest.mark.parametrize("name", RESHAPES)
def test_a_shifted_update_has_its_values_in_any_shape(name: str) -> None:
  shape = RESHAPES[name]
  ways: dict[str, Callable[[Any], Any]] = {
      "at once": lambda x: shape(_shift(x)),
      "out of a function": lambda x: shape(gnomon.jit(_shift)(x)),
      "into a function": lambda x: gnomon.jit(shape)(_shift(x)),
      "out of a branch": lambda x: shape(lax.cond(
          lax.eq(lax.squeeze(lax.slice(x, (0, 0, 0), (1, 1, 1)), (0, 1, 2)), 0),
          _shift, _shift, x)),
      "out of a loop": lambda x: shape(lax.fori_loop(0, 1, lambda i, v: _shift(v), x))}
  for way, f in ways.items():
    assert np.asarray(gnomon.jit(f)(X)).ravel().tolist() == [1, 1, 2, 3], way


def test_the_barrier_is_there_only_where_it_is_needed() -> None:
  def text(f: Any) -> str:
    return gnomon.jit(f).lower(X).as_text()

  assert "optimization_barrier" in text(lambda x: lax.reshape(_shift(x), (4,)))
  assert "optimization_barrier" not in text(_shift)
  assert "optimization_barrier" not in text(lambda x: lax.reshape(lax.neg(x), (4,)))
