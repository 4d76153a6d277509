"""The checks of `vmap` find what is wrong, and only that."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gnomon import lax
from gnomon.core.primitive import Primitive
from gnomon.core.rule import lower, typing_rule
from gnomon.testing import check_vmap, check_vmap_axes
from gnomon.transform.vmap import batch_rule

X = np.arange(12.0, dtype="float32").reshape(3, 4)


# A primitive whose batching rule is right for leading axes only.
crooked_p = Primitive("crooked")


@typing_rule.define(crooked_p)
def _(x: Any) -> Any:
  return (x,)


@lower.define(crooked_p)
def _(ctx: Any, x: Any) -> Any:
  return [x]


@batch_rule.define(crooked_p)
def _(axis: Any, args: Any, dims: Any) -> Any:
  return crooked_p.apply(*args), (0,)


def crooked(x: Any) -> Any:
  return crooked_p.apply(x)[0]


def test_right_rules_pass() -> None:
  check_vmap(lax.sin, (X,))
  check_vmap(lax.sin, (X,), 1, 1)
  check_vmap(lambda t, c: {"a": lax.mul(t["x"], c), "b": c}, ({"x": X}, np.float32(3)),
             ({"x": 1}, None), {"a": 0, "b": None})
  check_vmap_axes(lax.add, [(X + i, X * i) for i in range(3)])


def test_a_wrong_rule_is_found() -> None:
  square = np.arange(9.0, dtype="float32").reshape(3, 3)
  check_vmap(crooked, (square,), 0)
  with pytest.raises(AssertionError, match=r"vmap with in_axes=1"):
    check_vmap(crooked, (square,), 1)
  with pytest.raises(AssertionError, match=r"vmap with in_axes=\(1,\)"):
    check_vmap_axes(crooked, [(row,) for row in square])


def test_bad_axes() -> None:
  with pytest.raises(ValueError, match=r"have \[3, 4\]"):
    check_vmap(lax.add, (X, X), (0, 1))
  with pytest.raises(ValueError, match="nothing is mapped"):
    check_vmap(lax.sin, (X,), None)
