"""Scalar types, constants, and functions of dtypes."""

from __future__ import annotations

from typing import Any

import numpy as np

from gnomon.core import dtypes
from gnomon.core.dtypes import finfo as finfo
from gnomon.core.dtypes import iinfo as iinfo
from gnomon.numpy._conversion import asarray

# ---- constants ---------------------------------------------------------------------

e = float(np.e)
euler_gamma = float(np.euler_gamma)
inf = float("inf")
nan = float("nan")
newaxis = None
pi = float(np.pi)

# ---- scalar types ------------------------------------------------------------------


class ScalarType(type):
  """The type of `gnomon.numpy.float32` and its like: dtypes that make arrays when called.

  They compare and hash as NumPy's types of the same name.
  """

  dtype: np.dtype[Any]

  def __call__(cls, x: Any) -> Any:
    if isinstance(x, str):  # "nan", "inf"
      x = np.asarray(x, cls.dtype)
    return asarray(x, dtype=cls.dtype)

  def __eq__(cls, other: object) -> bool:
    if isinstance(other, (type, np.dtype)):
      return bool(cls.dtype.type == getattr(other, "type", other)) or cls is other
    return False

  def __ne__(cls, other: object) -> bool:
    return not cls == other

  def __hash__(cls) -> int:
    return hash(cls.dtype.type)

  def __instancecheck__(cls, instance: object) -> bool:
    return isinstance(instance, cls.dtype.type)


def _scalar_type(name: str, kind: Any = None) -> Any:
  dtype = np.dtype(kind or getattr(np, name))
  doc = (
      f"The dtype {dtype.name}; called, it makes arrays of it.\n\n"
      f"  >>> import gnomon.numpy as gnp\n  >>> gnp.{name}.dtype.name\n"
      f"  {dtype.name!r}\n  ")
  return ScalarType(
      name, (), {"dtype": dtype, "__doc__": doc, "__module__": "gnomon.numpy"})


bool_ = _scalar_type("bool")
int1 = _scalar_type("int1", dtypes.int1)
int2 = _scalar_type("int2", dtypes.int2)
int4 = _scalar_type("int4", dtypes.int4)
int8 = _scalar_type("int8")
int16 = _scalar_type("int16")
int32 = _scalar_type("int32")
int64 = _scalar_type("int64")
uint1 = _scalar_type("uint1", dtypes.uint1)
uint2 = _scalar_type("uint2", dtypes.uint2)
uint4 = _scalar_type("uint4", dtypes.uint4)
uint8 = _scalar_type("uint8")
uint16 = _scalar_type("uint16")
uint32 = _scalar_type("uint32")
uint64 = _scalar_type("uint64")
float4_e2m1fn = _scalar_type("float4_e2m1fn", dtypes.float4_e2m1fn)
float6_e2m3fn = _scalar_type("float6_e2m3fn", dtypes.float6_e2m3fn)
float6_e3m2fn = _scalar_type("float6_e3m2fn", dtypes.float6_e3m2fn)
float8_e3m4 = _scalar_type("float8_e3m4", dtypes.float8_e3m4)
float8_e4m3 = _scalar_type("float8_e4m3", dtypes.float8_e4m3)
float8_e4m3b11fnuz = _scalar_type("float8_e4m3b11fnuz", dtypes.float8_e4m3b11fnuz)
float8_e4m3fn = _scalar_type("float8_e4m3fn", dtypes.float8_e4m3fn)
float8_e4m3fnuz = _scalar_type("float8_e4m3fnuz", dtypes.float8_e4m3fnuz)
float8_e5m2 = _scalar_type("float8_e5m2", dtypes.float8_e5m2)
float8_e5m2fnuz = _scalar_type("float8_e5m2fnuz", dtypes.float8_e5m2fnuz)
float8_e8m0fnu = _scalar_type("float8_e8m0fnu", dtypes.float8_e8m0fnu)
bfloat16 = _scalar_type("bfloat16", dtypes.bfloat16)
float16 = _scalar_type("float16")
float32 = _scalar_type("float32")
float64 = _scalar_type("float64")
complex64 = _scalar_type("complex64")
complex128 = _scalar_type("complex128")
int_, uint, float_, complex_ = int64, uint64, float64, complex128
single, double, csingle, cdouble = float32, float64, complex64, complex128

# The abstract types are NumPy's own.
character = np.character
complexfloating = np.complexfloating
flexible = np.flexible
floating = np.floating
generic = np.generic
inexact = np.inexact
integer = np.integer
number = np.number
object_ = np.object_
signedinteger = np.signedinteger
unsignedinteger = np.unsignedinteger
ComplexWarning = np.exceptions.ComplexWarning
dtype = np.dtype

# ---- functions of dtypes -----------------------------------------------------------


def can_cast(from_: Any, to: Any, casting: Any = "safe") -> bool:
  """Whether values of one dtype can be converted to another under a rule.

  Args:
    from_: a dtype, an array, or a NumPy scalar.
    to: a dtype.
    casting: the rule: `"no"`, `"equiv"`, `"safe"`, `"same_kind"` or `"unsafe"`.

  >>> import gnomon.numpy as gnp
  >>> gnp.can_cast(gnp.int8, gnp.float32), gnp.can_cast(gnp.float32, gnp.int8)
  (True, False)

  Raises:
    TypeError: `from_` is a Python number: the answer must not depend on a value.
  """
  if isinstance(from_, (int, float, complex)) and not isinstance(from_, np.generic):
    raise TypeError(
        f"can_cast does not accept Python numbers, got {from_!r}: whether one fits "
        "depends on its value, which can_cast does not look at. Pass a dtype or an array")
  return bool(np.can_cast(_dtype_of(from_), dtypes.as_dtype(to), casting=casting))


def _dtype_of(x: Any) -> Any:
  own = getattr(x, "dtype", None)
  return own if isinstance(own, np.dtype) else dtypes.as_dtype(x)


def isdtype(dtype: Any, kind: Any) -> bool:
  """Whether a dtype is of a kind, in the words of the array API standard.

  Args:
    dtype: a dtype.
    kind: a dtype; or `"bool"`, `"signed integer"`, `"unsigned integer"`, `"integral"`,
      `"real floating"`, `"complex floating"` or `"numeric"`; or a tuple of these.

  >>> import gnomon.numpy as gnp
  >>> gnp.isdtype(gnp.bfloat16, "real floating")
  True

  Raises:
    ValueError: `kind` is another string.
  """
  return dtypes.isdtype(dtype, kind)


def issubdtype(arg1: Any, arg2: Any) -> bool:
  """Whether a dtype is another, or below it in NumPy's hierarchy of types.

  Args:
    arg1: a dtype.
    arg2: a dtype, or an abstract type such as `floating`.

  >>> import gnomon.numpy as gnp
  >>> gnp.issubdtype(gnp.bfloat16, gnp.floating)
  True

  Raises:
    TypeError: an argument denotes no dtype.
  """
  return dtypes.issubdtype(arg1, arg2)


def promote_types(a: Any, b: Any) -> Any:
  """The dtype that arrays of two dtypes have in common.

  Args:
    a: dtypes.
    b: dtypes; `int`, `float` and `complex` stand for the weak types of Python numbers.

  >>> import gnomon.numpy as gnp
  >>> gnp.promote_types("int32", "float16")
  dtype('float16')

  Raises:
    TypePromotionError: the dtypes do not promote to a common one.
  """
  return dtypes.promote_types(a, b)


def result_type(*args: Any) -> Any:
  """The dtype of an operation on the arguments.

  Args:
    *args: arrays, numbers or dtypes; at least one.

  >>> import gnomon.numpy as gnp
  >>> gnp.result_type(gnp.ones(2, "int8"), 1.5)
  dtype('float32')

  Raises:
    ValueError: there are no arguments.
    TypePromotionError: the dtypes do not promote to a common one.
  """
  return dtypes.result_type(*args)
