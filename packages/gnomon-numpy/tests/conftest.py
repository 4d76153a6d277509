"""What tests of many functions share: the comparison with NumPy."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gnomon.numpy as gnp


def compare(got: Any, want: Any, rtol: float, atol: float, what: str) -> None:
  """Shapes are equal, values close, of sequences one by one."""
  if isinstance(want, (tuple, list)):
    assert isinstance(got, (tuple, list)), what
    assert len(got) == len(want), what
    for g, w in zip(got, want):
      compare(g, w, rtol, atol, what)
    return
  assert np.shape(got) == np.shape(want), what
  np.testing.assert_allclose(np.asarray(got), want, rtol, atol, err_msg=what)


@pytest.fixture
def agree() -> Callable[..., Any]:
  """Checks that a function gives NumPy's values, in float32, and gives its result."""

  def check(name: str, *args: Any, rtol: float = 2e-5, atol: float = 2e-5,
            **kwargs: Any) -> Any:
    shapes = [f"{a.dtype}{a.shape}" if hasattr(a, "dtype") else repr(a) for a in args]
    what = f"{name}({', '.join(shapes)}, {kwargs})"
    with warnings.catch_warnings():
      warnings.simplefilter("ignore")  # NumPy warns of nan and of empty means
      want = getattr(np, name)(*args, **kwargs)
    got = getattr(gnp, name)(*args, **kwargs)
    compare(got, want, rtol, atol, what)
    return got

  return check
