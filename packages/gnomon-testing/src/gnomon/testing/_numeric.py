"""Arithmetic of the checks, on the host and in double precision: NumPy, no gnomon ops."""

from __future__ import annotations

import cmath
from collections.abc import Callable
from typing import Any

import numpy as np

from gnomon import dtypes, tree_util

Function = Callable[..., Any]


def dtype_of(x: Any) -> Any:
  """The dtype that an operation sees in `x`; of a Python number, gnomon's choice."""
  return x.dtype if hasattr(x, "dtype") else dtypes.result_type(x)


def is_float(x: Any) -> bool:
  """Whether one can differentiate with respect to `x`: it is real or complex."""
  return bool(dtypes.issubdtype(dtype_of(x), np.inexact))


def is_complex(x: Any) -> bool:
  return bool(dtypes.issubdtype(dtype_of(x), np.complexfloating))


def wide(x: Any) -> np.ndarray[Any, Any]:
  """The value of an array on the host: floats as float64, complex ones as complex128."""
  host = np.asarray(x)
  if is_complex(host):
    return host.astype(np.complex128)
  return host.astype(np.float64) if is_float(host) else host


def like(x: Any, value: np.ndarray[Any, Any]) -> Any:
  """`value` with the type of `x`: a Python number if it is one, else its dtype."""
  if isinstance(x, (bool, int, float, complex)) and not isinstance(x, np.generic):
    return type(x)(value[()])
  return value.astype(dtype_of(x))


def random_like(rng: np.random.Generator, x: Any) -> Any:
  """A random tangent (or cotangent) of an array; `float0` zeros where there is none.

  No element is near zero, where it would hide an error below the tolerance.
  """
  shape = np.shape(x)
  if not is_float(x):
    return np.zeros(shape, dtypes.float0)
  value = _random_real(rng, shape)
  if is_complex(x):
    value = value + 1j * _random_real(rng, shape)
  return like(x, np.asarray(value))


def _random_real(rng: np.random.Generator, shape: tuple[int, ...]) -> Any:
  return rng.choice([-1.0, 1.0], shape) * rng.uniform(0.5, 1.5, shape)


def random_tangents(rng: np.random.Generator, tree: Any) -> Any:
  return tree_util.tree_map(lambda x: random_like(rng, x), tree)


def moved(x: Any, tangent: Any, step: float) -> Any:
  """`x + step * tangent`, rounded once to the dtype of `x`."""
  if not is_float(x):
    return x
  return like(x, np.asarray(wide(x) + step * wide(tangent)))


def numerical_jvp(f: Function, primals: Any, tangents: Any, step: float) -> Any:
  """The derivative of `f` along `tangents`, by central differences.

  The error is of second order in `step`, plus that of rounding divided by it. A result
  that is and stays infinite does not move.
  Integer outputs have no derivative: `float0` zeros stand for it.
  """
  ahead = f(*tree_util.tree_map(lambda x, t: moved(x, t, step), primals, tangents))
  behind = f(*tree_util.tree_map(lambda x, t: moved(x, t, -step), primals, tangents))

  def slope(a: Any, b: Any) -> np.ndarray[Any, Any]:
    if not is_float(a):
      return np.zeros(np.shape(a), dtypes.float0)
    a, b = wide(a), wide(b)
    moved_by = np.subtract(a, b, out=np.zeros_like(a), where=a != b)
    return np.asarray(moved_by / (2 * step))

  return tree_util.tree_map(slope, ahead, behind)


def pairing(tangents: Any, cotangents: Any) -> tuple[float, float]:
  """The real bilinear pairing of tangents and cotangents, and the size of its terms.

  The second number is the sum of the terms' absolute values: rounding errors of the
  pairing are relative to that, not to a sum that may cancel.
  """
  total = size = 0.0
  for t, ct in zip(tree_util.tree_leaves(tangents), tree_util.tree_leaves(cotangents),
                   strict=True):
    if is_float(t):
      terms = wide(t) * wide(ct)
      total += float(np.sum(terms.real))
      size += float(np.sum(np.abs(terms)))
  return total, size


def best_step(*trees: Any) -> float:
  """The step of central differences that balances their error with that of rounding."""
  floats = [x for x in tree_util.tree_leaves(trees) if is_float(x)]
  if not floats:
    return 1e-5
  eps = max(float(dtypes.finfo(dtype_of(x)).eps) for x in floats)
  return float(cmath.exp(cmath.log(eps) / 3).real)
