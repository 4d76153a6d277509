"""Dead code: what no used result depends on is left out, inside called programs too."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import gnomon
from gnomon.core.checking import check_jaxpr
from gnomon.core.effects import Effect
from gnomon.core.jaxpr import Eqn, Jaxpr, Literal, Var, eval_jaxpr
from gnomon.core.primitive import Primitive
from gnomon.core.rule import typing_rule
from gnomon.core.types import ShapedArray
from gnomon.transform.dce import dce_closed, dce_jaxpr

ARGS = (0.3, 0.5, 0.7)


def _program(ops: Any) -> Any:
  table = np.arange(100, dtype=np.float32)

  def f(x: Any, y: Any, z: Any) -> Any:
    a = ops.sin(x)
    b, c = gnomon.jit(lambda u, v: (ops.mul(u, 2.0), ops.cos(v)))(a, y)
    return b, ops.add(c, z), ops.sum(ops.mul(z, table))

  return gnomon.make_jaxpr(f)(*ARGS)


@pytest.mark.parametrize("used", list(itertools.product([False, True], repeat=3)))
def test_every_selection_of_results(ops: Any, used: tuple[bool, ...]) -> None:
  closed = _program(ops)
  want = [o for o, u in zip(
      eval_jaxpr(closed.jaxpr, closed.consts, *ARGS), used, strict=True) if u]
  pruned, kept = dce_closed(closed, used)
  check_jaxpr(pruned)
  needs = [{0}, {1, 2}, {2}]
  read = set().union(*[n for n, u in zip(needs, used, strict=True) if u])
  assert kept == tuple(i in read for i in range(3))
  args = [x for x, k in zip(ARGS, kept, strict=True) if k]
  got = eval_jaxpr(pruned.jaxpr, pruned.consts, *args)
  np.testing.assert_array_equal(np.asarray(got), np.asarray(want))
  assert len(pruned.consts) == used[2]
  assert dce_closed(closed, used)[0] is pruned  # remembered


def test_inputs_may_be_kept(ops: Any) -> None:
  closed = _program(ops)
  pruned, kept = dce_jaxpr(closed.jaxpr, [True, False, False], instantiate=True)
  assert kept == [True] * 3
  assert len(pruned.invars) == 3
  _, kept = dce_jaxpr(closed.jaxpr, [True, False, False], [False, True, False])
  assert kept == [True, True, False]


def test_effects_stay() -> None:
  p = Primitive("test_print")
  aval = ShapedArray((), np.float32)
  typing_rule.define(p)(lambda x: (x,))
  noise = frozenset({Effect()})
  x, y, z = Var(aval), Var(aval), Var(aval)
  jaxpr = Jaxpr(
      [], [x], [x, z], [Eqn(p, [x], [y], {}, noise), Eqn(p, [x], [z], {})], noise)
  pruned, kept = dce_jaxpr(jaxpr, [False, False])
  assert [e.effects for e in pruned.eqns] == [noise]
  assert (pruned.effects, kept) == (noise, [True])


def test_results_that_are_literals_or_inputs() -> None:
  aval = ShapedArray((), np.float32)
  x, y = Var(aval), Var(aval)
  jaxpr = Jaxpr([], [x, y], [Literal(1.0, aval), x], [])
  assert dce_jaxpr(jaxpr, [True, False])[1] == [False, False]
  pruned, kept = dce_jaxpr(jaxpr, [True, True])
  assert kept == [True, False]
  assert eval_jaxpr(pruned, (), 5.0) == [1.0, 5.0]
