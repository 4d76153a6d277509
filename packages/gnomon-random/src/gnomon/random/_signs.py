"""Signs."""

from __future__ import annotations

from typing import Any

import numpy as np

from gnomon.core import dtypes
from gnomon.core.structural import convert
from gnomon.random._api import check_key, placed, shape_of, user_dtype
from gnomon.random._program import program
from gnomon.random._uniform import _bernoulli

Shape = tuple[int, ...]


def rademacher(
    key: Any, shape: Any = (), dtype: Any = None, *, out_sharding: Any = None) -> Any:
  """Signs: 1 or -1, each with probability 1/2.

  Args:
    key: a key.
    shape: the result's shape.
    dtype: a dtype of numbers; None: int32 (int64 with 64-bit types on). In an unsigned
      one, -1 is the largest number.
    out_sharding: how the result is laid out over devices; None: without a say.

  >>> from gnomon import random
  >>> sorted(set(random.rademacher(random.key(0), (20,)).tolist()))
  [-1, 1]

  Raises:
    ValueError: `dtype` is bool, which has no signs.
  """
  typed, _ = check_key("rademacher", key)
  dtype = user_dtype("rademacher", int if dtype is None else dtype)
  if not dtypes.issubdtype(dtype, np.number):
    raise ValueError(f"dtype argument to `rademacher` must be of numbers, got {dtype}")
  out = _rademacher(typed, shape=shape_of("rademacher", shape), dtype=dtype)
  return placed(out, out_sharding)


@program("shape", "dtype")
def _rademacher(key: Any, *, shape: Shape, dtype: Any) -> Any:
  half = np.asarray(0.5, dtypes.canonicalize_dtype(np.float64))[()]
  up = _bernoulli(key, half, shape=shape, mode="low")
  one, two = (np.asarray(n, dtype)[()] for n in (1, 2))
  return two * convert(up, dtype) - one
