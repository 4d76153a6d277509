"""What the decompositions share: checks, triangles, products, batching."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gnomon.core import dtypes
from gnomon.core.primitive import Primitive
from gnomon.core.rule import batch_rule
from gnomon.core.structural import (
  broadcast_in_dim,
  convert,
  full,
  reduce_sum,
  select_n,
  transpose,
)
from gnomon.core.types import ShapedArray, typeof
from gnomon.lax._arithmetic import add, div
from gnomon.lax._comparison import eq, ge
from gnomon.lax._complex import complex, conj, real
from gnomon.lax._creation import broadcasted_iota
from gnomon.lax._dot import dot_general
from gnomon.lax._precision import Precision
from gnomon.lax._shape import expand_dims
from gnomon.transform.vmap import to_dim

Values = Sequence[Any]
_SUPPORTED = frozenset({"float32", "float64", "complex64", "complex128"})
_INT32 = np.dtype(np.int32)


# ---- checks


def check_matrices(name: str, x: ShapedArray, *, square: bool = False,
                   argument: str = "x") -> None:
  """Raises an error unless `x` is a stack of matrices of numbers that LAPACK knows."""
  if x.ndim < 2 or (square and x.shape[-1] != x.shape[-2]):
    wanted = "a square matrix, or a stack (..., n, n) of them" if square else (
        "a matrix, or a stack (..., m, n) of them")
    raise ValueError(f"{name}: the argument {argument} must be {wanted}, got {x}")
  check_numbers(name, x, argument)


def check_numbers(name: str, x: ShapedArray, argument: str = "x") -> None:
  """Raises an error unless LAPACK computes with this dtype."""
  if dtypes.issubdtype(x.dtype, np.floating) and x.dtype.name not in _SUPPORTED:
    raise NotImplementedError(
        f"{name}: Unsupported dtype {x.dtype} of the argument {argument}: there is no "
        "linear algebra in less than single precision; convert it to float32")
  if x.dtype.name not in _SUPPORTED:
    raise TypeError(
        f"{name} does not accept dtype {x.dtype} for the argument {argument}: expected "
        "float32, float64, complex64 or complex128; convert it with "
        "lax.convert_element_type")


def check_same(name: str, first: ShapedArray, **others: ShapedArray) -> None:
  """Raises `TypeError` unless the arguments have the dtype of the first."""
  for argument, a in others.items():
    if a.dtype != first.dtype:
      raise TypeError(
          f"{name}: the arguments must have one dtype, got {first.dtype} and, as "
          f"{argument}, {a.dtype}")


# ---- types


def real_dtype(dtype: Any) -> Any:
  """The dtype of the real part of a number."""
  return np.finfo(dtype).dtype if dtype.kind == "c" else dtype


def complex_dtype(dtype: Any) -> Any:
  """The dtype of complex numbers with parts of a dtype."""
  return np.dtype("complex64" if dtype.name in ("float32", "complex64") else "complex128")


def is_complex(x: Any) -> bool:
  """Whether a value is complex."""
  return bool(dtypes.issubdtype(typeof(x).dtype, np.complexfloating))


# ---- pieces


def conj_if_complex(x: Any) -> Any:
  """The complex conjugate; real numbers as they are."""
  return conj(x) if is_complex(x) else x


def real_part(x: Any) -> Any:
  """The real part; real numbers as they are."""
  return real(x) if is_complex(x) else x


def flip(x: Any) -> Any:
  """Exchanges the last two dimensions."""
  n = typeof(x).ndim
  return transpose(x, (*range(n - 2), n - 1, n - 2))


def adjoint(x: Any) -> Any:
  """The conjugate transpose of each matrix."""
  return conj_if_complex(flip(x))


def symmetrized(x: Any) -> Any:
  """The mean of each matrix and its conjugate transpose."""
  return div(add(x, adjoint(x)), number(x, 2))


def number(x: Any, value: Any) -> Any:
  """A scalar of the dtype of `x`."""
  return np.asarray(value, typeof(x).dtype)[()]


def mm(x: Any, y: Any) -> Any:
  """Products of matrices, stack by stack."""
  n = typeof(x).ndim
  batch = tuple(range(n - 2))
  return dot_general(x, y, (((n - 1,), (n - 2,)), (batch, batch)), Precision.HIGHEST)


def lower_mask(m: int, n: int, k: int = 0) -> Any:
  """True on the k-th diagonal of an m by n matrix and below it."""
  rows = broadcasted_iota(_INT32, (m, n), 0)
  columns = broadcasted_iota(_INT32, (m, n), 1)
  return ge(rows if not k else add(rows, np.int32(k)), columns)


def masked(mask: Any, x: Any) -> Any:
  """The elements of each matrix where a mask holds, zero elsewhere."""
  aval = typeof(x)
  if aval.ndim > 2:
    mask = broadcast_in_dim(mask, aval.shape, (aval.ndim - 2, aval.ndim - 1))
  return select_n(mask, full(aval.shape, 0, aval.dtype), x)


def tril(x: Any, k: int = 0) -> Any:
  """Each matrix with zeros above its k-th diagonal."""
  m, n = typeof(x).shape[-2:]
  return masked(lower_mask(m, n, k), x)


def triu(x: Any, k: int = 0) -> Any:
  """Each matrix with zeros below its k-th diagonal."""
  m, n = typeof(x).shape[-2:]
  rows = broadcasted_iota(_INT32, (m, n), 0)
  columns = broadcasted_iota(_INT32, (m, n), 1)
  return masked(ge(columns, rows if not k else add(rows, np.int32(k))), x)


def eye_mask(m: int, n: int) -> Any:
  """True on the diagonal of an m by n matrix."""
  return eq(broadcasted_iota(_INT32, (m, n), 0), broadcasted_iota(_INT32, (m, n), 1))


def eye(shape: tuple[int, ...], dtype: Any) -> Any:
  """Identity matrices: the last two dimensions of `shape`."""
  one = convert(eye_mask(*shape[-2:]), dtype)
  return broadcast_in_dim(one, shape, (len(shape) - 2, len(shape) - 1))


def diagonal(x: Any) -> Any:
  """The diagonals of square matrices."""
  aval = typeof(x)
  return reduce_sum(masked(eye_mask(*aval.shape[-2:]), x), (aval.ndim - 1,))


def columns(v: Any, like: Any) -> Any:
  """Vectors, repeated as the rows of matrices: element j stands in column j."""
  shape = typeof(like).shape
  n = len(shape)
  return broadcast_in_dim(v, shape, (*range(n - 2), n - 1))


def rows(v: Any, like: Any) -> Any:
  """Vectors, repeated as the columns of matrices: element i stands in row i."""
  shape = typeof(like).shape
  return broadcast_in_dim(v, shape, tuple(range(len(shape) - 1)))


def as_complex(x: Any) -> Any:
  """Real numbers as complex ones."""
  return x if is_complex(x) else complex(x, full(typeof(x).shape, 0, typeof(x).dtype))


def cast(x: Any, like: Any) -> Any:
  """Converts real numbers to the dtype of `like`."""
  return convert(x, typeof(like).dtype)


def safe_divide(x: Any, y: Any) -> Any:
  """`x / y`, and 0 where `y` is 0; also derivatives there are 0."""
  zero = eq(y, number(y, 0))
  one = full(typeof(y).shape, 1, typeof(y).dtype)
  return select_n(zero, div(x, select_n(zero, y, one)), full(
      typeof(x).shape, 0, typeof(x).dtype))


# ---- rules


def batch_leading(p: Primitive) -> None:
  """The batching rule of primitives on stacks of any number of leading dimensions."""
  @batch_rule.define(p)
  def _(axis: Any, args: Values, dims: Values, **params: Any) -> tuple[Values, Values]:
    moved = [to_dim(x, d, 0, axis.size) for x, d in zip(args, dims)]
    outs = p.apply(*moved, **params)
    return outs, (0,) * len(outs)


def column(v: Any) -> Any:
  """A vector as matrices of one column."""
  return expand_dims(v, (typeof(v).ndim,))




def with_diagonal(x: Any, v: Any) -> Any:
  """Square matrices with other diagonals."""
  shape = typeof(x).shape
  n = len(shape)
  here = broadcast_in_dim(eye_mask(*shape[-2:]), shape, (n - 2, n - 1))
  return select_n(here, x, rows(v, x))
