"""Vector quantisation: `scipy.cluster.vq`."""

from __future__ import annotations

from typing import Any

import gnomon.numpy as gnp
from gnomon.numpy._compiled import compiled
from gnomon.numpy._promotion import promote_dtypes_inexact
from gnomon.numpy._values import arrays_of

__all__ = ["vq"]


@compiled(static=("check_finite",))
def vq(obs: Any, code_book: Any, check_finite: bool = True) -> tuple[Any, Any]:
  """The nearest code of each observation.

  Args:
    obs: an array of shape `(n, d)`: the observations, or `(n,)` for numbers.
    code_book: an array of shape `(k, d)`, or `(k,)`: the codes.
    check_finite: no effect.

  Returns:
    `(code, dist)`: int32 of shape `(n,)`, the places of the codes, the first of those
    that are equally near; and the distances.

  >>> from gnomon import numpy as gnp
  >>> from gnomon.scipy.cluster.vq import vq
  >>> code, dist = vq(gnp.array([1.0, 9.0]), gnp.array([0.0, 10.0]))
  >>> code.tolist(), dist.tolist()
  ([0, 1], [1.0, 1.0])

  Raises:
    TypeError: an argument is no array.
    ValueError: the shapes do not fit, or there is no code.
  """
  del check_finite
  x, codes = promote_dtypes_inexact(*arrays_of("cluster.vq.vq", obs, code_book))
  if x.ndim != codes.ndim or x.ndim not in (1, 2) or x.shape[1:] != codes.shape[1:]:
    raise ValueError(
        "cluster.vq.vq: obs and code_book must have the shapes (n, d) and (k, d), or "
        f"(n,) and (k,), got {x.shape} and {codes.shape}")
  if not codes.shape[0]:
    raise ValueError("cluster.vq.vq: code_book is empty; expected at least one code")
  if x.ndim == 1:
    x, codes = x[:, None], codes[:, None]
  distances = gnp.linalg.norm(x[:, None] - codes[None], axis=-1)
  code = gnp.argmin(distances, -1)
  return code.astype(gnp.int32), distances.min(-1)
