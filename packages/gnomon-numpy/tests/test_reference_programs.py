"""Programs that hold mutable references: ahead of time, remembered, stored."""

from __future__ import annotations

import numpy as np
import pytest

import gnomon
import gnomon.numpy as jnp
from gnomon.core.discharge import pure

F32 = np.float32


def test_ahead_of_time():
  ref = gnomon.new_ref(jnp.zeros(2))
  add = gnomon.jit(lambda r, x: r.__setitem__(0, r[0] + x))
  compiled = add.lower(
      gnomon.ShapeDtypeStruct((2,), F32, is_ref=True), 1.0).compile()
  compiled(ref, 2.0)
  closed = gnomon.jit(lambda x: ref.__setitem__(1, x)).lower(1.0).compile()
  closed(3.0)
  np.testing.assert_array_equal(np.asarray(ref[...]), [2, 3])


def test_programs_without_references_are_remembered():
  jaxpr = gnomon.make_jaxpr(lambda r: r.__setitem__(0, 1.0))(gnomon.new_ref(jnp.ones(2)))
  first = pure(jaxpr)
  assert pure(jaxpr) is first
  assert first.written == (0,)
  assert not first.jaxpr.effects
  read = gnomon.make_jaxpr(lambda r: r[0])(gnomon.new_ref(jnp.ones(2)))
  assert pure(read).written == ()


def test_a_program_that_closes_over_a_reference_cannot_be_stored():
  from gnomon.experimental.serialize_executable import serialize

  ref = gnomon.new_ref(jnp.ones(3))
  with pytest.raises(ValueError, match="serialize with a closed-over mutable"):
    serialize(gnomon.jit(lambda: ref[...]).lower().compile())
