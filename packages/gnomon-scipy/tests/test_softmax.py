"""The softmax against SciPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.special

from gnomon.scipy import special

X = np.array([[1.0, -300.0, 2.0], [500.0, 499.0, -2.0]], np.float32)


@pytest.mark.parametrize("x", [X, X[0, 0], X.astype(np.int32)])
@pytest.mark.parametrize("axis", [None, 0, -1, (0, 1)])
def test_values(x: Any, axis: Any) -> None:
  if np.ndim(x) == 0 and axis is not None:
    with pytest.raises(ValueError, match="axis"):
      special.softmax(x, axis=axis)
    return
  for name in ("softmax", "log_softmax"):
    want = getattr(scipy.special, name)(x.astype(np.float64), axis=axis)
    got = getattr(special, name)(x, axis=axis)
    assert got.dtype == np.float32
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-37)
