"""Arguments of functions of matrices: SciPy's functions take lists as well."""

from __future__ import annotations

from typing import Any

import gnomon.numpy as gnp
from gnomon.core.types import typeof
from gnomon.lax.linalg import _matrix
from gnomon.numpy.linalg._arguments import inexact


def given(x: Any) -> Any:
  """An argument, an array of it if it is a list."""
  return gnp.asarray(x) if isinstance(x, (list, tuple)) else x


def arrays(name: str, *args: Any) -> list[Any]:
  """Arguments as arrays of one floating-point or complex dtype.

  Raises:
    TypeError: one is no array, list or number.
  """
  return inexact(name, *map(given, args))


def matrices(name: str, **args: Any) -> list[Any]:
  """Arguments as stacks of square matrices of one dtype.

  Raises:
    TypeError: one is no array or list, or of half precision.
    ValueError: one has no square matrices.
  """
  found = arrays(name, *args.values())
  for argument, x in zip(args, found, strict=True):
    _matrix.check_matrices(f"linalg.{name}", typeof(x), square=True, argument=argument)
  return found


def one_matrix(name: str, a: Any) -> Any:
  """An argument `a` as a stack of matrices of any shape."""
  (x,) = arrays(name, a)
  _matrix.check_matrices(f"linalg.{name}", typeof(x), argument="a")
  return x


def stacked(*args: Any) -> list[Any]:
  """Stacks of matrices with the leading axes of all."""
  lead = gnp.broadcast_shapes(*(x.shape[:-2] for x in args))
  return [gnp.broadcast_to(x, (*lead, *x.shape[-2:])) for x in args]
