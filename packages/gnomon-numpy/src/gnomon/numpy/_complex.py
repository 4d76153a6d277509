"""Elementwise functions of NumPy: complex numbers and their parts."""

from __future__ import annotations

from typing import Any

import numpy as np

from gnomon import lax
from gnomon.core import dtypes
from gnomon.core.types import typeof
from gnomon.numpy._compiled import compiled
from gnomon.numpy._promotion import as_type, promote_args
from gnomon.numpy._values import is_kind


@compiled()
def real(val: Any, /) -> Any:
  """The real parts; real numbers stay as they are.

  Args:
    val: array or number.

  >>> import gnomon.numpy as gnp
  >>> gnp.real(1 + 2j).item()
  1.0

  Raises:
    TypeError: `val` is no array and no number.
  """
  (val,) = promote_args("real", val)
  return lax.real(val) if is_kind(val, np.complexfloating) else val


@compiled()
def imag(val: Any, /) -> Any:
  """The imaginary parts; zero for real numbers.

  Args:
    val: array or number.

  >>> import gnomon.numpy as gnp
  >>> gnp.imag(1 + 2j).item()
  2.0

  Raises:
    TypeError: `val` is no array and no number.
  """
  (val,) = promote_args("imag", val)
  return lax.imag(val) if is_kind(val, np.complexfloating) else lax.full_like(val, 0)


@compiled()
def conj(x: Any, /) -> Any:
  """Complex conjugates; real numbers stay as they are.

  Args:
    x: array or number.

  >>> import gnomon.numpy as gnp
  >>> gnp.conj(1 + 2j).item()
  (1-2j)

  Raises:
    TypeError: `x` is no array and no number.
  """
  (x,) = promote_args("conj", x)
  return lax.conj(x) if is_kind(x, np.complexfloating) else x


conjugate = conj


@compiled(static=("deg",))
def angle(z: Any, deg: bool = False) -> Any:
  """The angle of complex numbers, in (-π, π]; of real ones 0 or π.

  Args:
    z: array or number.
    deg: gives degrees instead of radians.

  >>> import gnomon.numpy as gnp
  >>> gnp.angle(1j, deg=True).item()
  90.0

  Raises:
    TypeError: `z` is no array and no number.
  """
  (z,) = promote_args("angle", z)
  if is_kind(z, np.complexfloating):
    result = lax.atan2(lax.imag(z), lax.real(z))
  else:
    whole = is_kind(z, np.integer) or is_kind(z, np.bool_)
    z = as_type(z, dtypes.default_float_dtype() if whole else typeof(z).dtype, False)
    result = lax.atan2(lax.full_like(z, 0), z)
  return lax.mul(result, 180 / np.pi) if deg else result


@compiled()
def iscomplex(x: Any) -> Any:
  """Whether elements have an imaginary part that is not zero.

  Args:
    x: array or number.

  >>> import gnomon.numpy as gnp
  >>> gnp.iscomplex(1 + 0j).item()
  False

  Raises:
    TypeError: `x` is no array and no number.
  """
  (x,) = promote_args("iscomplex", x)
  if is_kind(x, np.complexfloating):
    return lax.ne(lax.imag(x), 0.0)
  return lax.full_like(x, False, np.bool_)


@compiled()
def isreal(x: Any) -> Any:
  """Whether elements have an imaginary part that is zero.

  Args:
    x: array or number.

  >>> import gnomon.numpy as gnp
  >>> gnp.isreal(1 + 0j).item()
  True

  Raises:
    TypeError: `x` is no array and no number.
  """
  (x,) = promote_args("isreal", x)
  if is_kind(x, np.complexfloating):
    return lax.eq(lax.imag(x), 0.0)
  return lax.full_like(x, True, np.bool_)


def iscomplexobj(x: Any) -> bool:
  """Whether the dtype of an argument is complex, whatever its values.

  Args:
    x: an array, a number, a sequence of them, or a dtype.

  >>> import gnomon.numpy as gnp
  >>> gnp.iscomplexobj(1 + 0j), gnp.iscomplexobj(1.0)
  (True, False)
  """
  if x is None:
    return False
  own = getattr(x, "dtype", None)
  if own is None:
    own = np.asarray(x).dtype
  return dtypes.issubdtype(own, np.complexfloating)


def isrealobj(x: Any) -> bool:
  """Whether the dtype of an argument is not complex, whatever its values.

  Args:
    x: an array, a number, a sequence of them, or a dtype.

  >>> import gnomon.numpy as gnp
  >>> gnp.isrealobj(1 + 0j), gnp.isrealobj(1.0)
  (False, True)
  """
  return not iscomplexobj(x)


def isscalar(element: Any) -> bool:
  """Whether an argument is a number, a string, or an array without dimensions.

  Args:
    element: anything.

  >>> import gnomon.numpy as gnp
  >>> gnp.isscalar(3.0), gnp.isscalar(gnp.array(3.0)), gnp.isscalar([3.0])
  (True, True, False)
  """
  if np.isscalar(element):
    return True
  if hasattr(element, "__jax_array__"):
    element = element.__jax_array__()
  return hasattr(element, "dtype") and getattr(element, "ndim", None) == 0
