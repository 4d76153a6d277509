"""Static arguments by number and by name."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

import gnomon


def test_numbers_and_names_given_both_stand_for_themselves(ops: Any) -> None:
  """A wrapper has the signature of what it wraps, not the positions of its own."""
  def inner(a: Any, b: Any) -> Any:
    return ops.mul(a, b)

  @functools.wraps(inner)
  def wrapper(tag: Any, more: Any, *args: Any, **kwargs: Any) -> Any:
    assert not isinstance(tag, gnomon.Array)
    return inner(*args, **{k: np.float32(len(v)) for k, v in kwargs.items()})

  f = gnomon.jit(wrapper, static_argnums=(0,), static_argnames=["b"])
  for _ in range(2):
    assert float(f("tag", {}, 2.0, b="four")) == 8.0
  g = gnomon.jit(lambda a, b: a, static_argnames="b")
  assert float(g(1.0, "two")) == 1.0
