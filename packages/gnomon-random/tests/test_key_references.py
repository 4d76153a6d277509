"""Keys in mutable references."""

from __future__ import annotations

import numpy as np

import gnomon
from gnomon import random


def test_keys_in_references() -> None:
  ref = gnomon.new_ref(random.key(0))
  step = gnomon.jit(lambda r: r.__setitem__(..., random.fold_in(r[...], 3)))
  expected = random.key(0)
  for _ in range(2):
    step(ref)
    expected = random.fold_in(expected, 3)
  ref[...] = random.fold_in(ref[...], 4)
  expected = random.fold_in(expected, 4)
  np.testing.assert_array_equal(
      np.asarray(random.key_data(ref[...])), np.asarray(random.key_data(expected)))
