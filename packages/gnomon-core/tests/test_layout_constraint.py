"""Layouts of values inside programs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gnomon
from gnomon.experimental.layout import Layout, with_layout_constraint

X = np.arange(6.0, dtype=np.float32).reshape(2, 3)


def swapped(x: Any) -> Any:
  return with_layout_constraint(x, Layout((1, 0)))


def test_values_stay_as_they_are() -> None:
  for f in (swapped, gnomon.jit(swapped), gnomon.vmap(gnomon.vmap(lambda x: x))):
    out = f(X)
    assert np.array_equal(out, X)
  out, t = gnomon.jvp(swapped, (X,), (2 * X,))
  assert np.array_equal(t, 2 * X)
  batched = gnomon.vmap(swapped, in_axes=1)(np.stack([X, X + 1], 1))
  assert np.array_equal(batched, [X, X + 1])
  (back,) = gnomon.linear_transpose(swapped, X)(X)
  assert np.array_equal(back, X)


def test_the_program_asks_for_it() -> None:
  text = gnomon.jit(swapped).lower(X).as_text()
  assert "@LayoutConstraint" in text
  assert "operand_layouts = [dense<[0, 1]>" in text
  tree = gnomon.jit(lambda x: with_layout_constraint({"a": x}, {"a": Layout((0, 1))}))
  assert "dense<[1, 0]>" in tree.lower(X).as_text()


@pytest.mark.parametrize(("layout", "message"), [
    (3, "must be of type `Layout`"), (Layout((0,)), "layout of 1 dimensions")])
def test_errors(layout: Any, message: str) -> None:
  with pytest.raises(ValueError, match=message):
    with_layout_constraint(X, layout)
