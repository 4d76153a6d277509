"""The scalar types that arrays may have: which there are, their names and families."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import ml_dtypes
import numpy as np

from gnomon import _config

# The types that NumPy lacks come from ml_dtypes; they behave as NumPy scalar types.
bfloat16 = ml_dtypes.bfloat16
float4_e2m1fn = ml_dtypes.float4_e2m1fn
float6_e2m3fn = ml_dtypes.float6_e2m3fn
float6_e3m2fn = ml_dtypes.float6_e3m2fn
float8_e3m4 = ml_dtypes.float8_e3m4
float8_e4m3 = ml_dtypes.float8_e4m3
float8_e4m3b11fnuz = ml_dtypes.float8_e4m3b11fnuz
float8_e4m3fn = ml_dtypes.float8_e4m3fn
float8_e4m3fnuz = ml_dtypes.float8_e4m3fnuz
float8_e5m2 = ml_dtypes.float8_e5m2
float8_e5m2fnuz = ml_dtypes.float8_e5m2fnuz
float8_e8m0fnu = ml_dtypes.float8_e8m0fnu
int1 = ml_dtypes.int1
int2 = ml_dtypes.int2
int4 = ml_dtypes.int4
uint1 = ml_dtypes.uint1
uint2 = ml_dtypes.uint2
uint4 = ml_dtypes.uint4
finfo: Any = ml_dtypes.finfo
iinfo: Any = ml_dtypes.iinfo

float0: np.dtype[np.void] = np.dtype([("float0", np.void, 0)])
"""The type of tangents of integers and booleans: it has one value and no bytes."""


class extended(np.generic):
  """Abstract scalar type above all element types that NumPy cannot represent.

  Example:
    >>> from gnomon import dtypes
    >>> dtypes.issubdtype("float32", dtypes.extended)
    False
  """


class prng_key(extended):
  """Abstract scalar type above the element types of random key arrays.

  Example:
    >>> from gnomon import dtypes
    >>> dtypes.issubdtype(dtypes.prng_key, dtypes.extended)
    True
  """


class ExtendedDType:
  """Base of dtypes whose elements are stored as small arrays of a NumPy dtype.

  A subclass gives `name`, `type` (a subclass of `extended`), and the shape and dtype
  of the array that stores one element; it must define `__eq__` and `__hash__`.
  """

  __slots__ = ()
  name: str
  type: type[extended]
  physical_shape: tuple[int, ...]
  physical_dtype: np.dtype[Any]

  @property
  def itemsize(self) -> int:
    """Bytes of one element."""
    size = self.physical_dtype.itemsize
    for dim in self.physical_shape:
      size *= dim
    return size

  def full(self, shape: tuple[int, ...], value: Any) -> Any:
    """An array whose elements are stored as arrays filled with a number.

    Raises:
      TypeError: elements of this dtype are not made of numbers.
    """
    raise TypeError(f"arrays of {self.name} cannot be filled with the number {value!r}")

  def __repr__(self) -> str:
    return self.name


DType = np.dtype[Any]
AnyDType = np.dtype[Any] | ExtendedDType


class TypePromotionError(ValueError):
  """Values of the given types do not promote implicitly to a common one.

  Example:
    >>> import ml_dtypes
    >>> from gnomon import dtypes
    >>> dtypes.result_type("float32", ml_dtypes.int4)
    Traceback (most recent call last):
    gnomon.core.scalar_types.TypePromotionError: Input dtypes ... have no available ...
  """


# ---- families ----------------------------------------------------------------------

bool_dtype: DType = np.dtype(np.bool_)


def dtypes_of(*types: type) -> tuple[DType, ...]:
  return tuple(np.dtype(t) for t in types)


small_ints = dtypes_of(uint1, uint2, uint4, int1, int2, int4)
signed = dtypes_of(int1, int2, int4, np.int8, np.int16, np.int32, np.int64)
unsigned = dtypes_of(uint1, uint2, uint4, np.uint8, np.uint16, np.uint32, np.uint64)
small_floats = dtypes_of(
    float4_e2m1fn, float6_e2m3fn, float6_e3m2fn, float8_e3m4, float8_e4m3,
    float8_e4m3b11fnuz, float8_e4m3fn, float8_e4m3fnuz, float8_e5m2, float8_e5m2fnuz,
    float8_e8m0fnu,
)
floats = (*small_floats, *dtypes_of(bfloat16, np.float16, np.float32, np.float64))
complexes = dtypes_of(np.complex64, np.complex128)
# Floating types without an infinity (a value beyond the range saturates or is NaN).
_FINITE_FLOATS = frozenset(dtypes_of(
    float8_e4m3b11fnuz, float8_e4m3fn, float8_e4m3fnuz, float8_e5m2fnuz,
    float8_e8m0fnu, float4_e2m1fn, float6_e2m3fn, float6_e3m2fn))
supported_dtypes: frozenset[DType] = frozenset(
    (bool_dtype, *signed, *unsigned, *floats, *complexes))
"""Every NumPy dtype that an array may have (float0 and extended dtypes apart)."""

TO_32: dict[DType, DType] = dict(zip(
    dtypes_of(np.int64, np.uint64, np.float64, np.complex128),
    dtypes_of(np.int32, np.uint32, np.float32, np.complex64), strict=True))

PYTHON_64: dict[type, DType] = {
    bool: bool_dtype, int: np.dtype(np.int64), float: np.dtype(np.float64),
    complex: np.dtype(np.complex128)}
PYTHON_32: dict[type, DType] = {t: TO_32.get(d, d) for t, d in PYTHON_64.items()}


def python_scalar_dtypes() -> Mapping[type, DType]:
  """The dtype of each Python scalar type, under the present `enable_x64`."""
  return PYTHON_64 if _config.x64() else PYTHON_32


def is_python_scalar(x: object) -> bool:
  """Whether `x` is a bool, int, float or complex of Python (not of NumPy)."""
  return type(x) in PYTHON_64


def default_int_dtype() -> DType:
  """The dtype of Python ints: int32, or int64 with `enable_x64`."""
  return python_scalar_dtypes()[int]


def default_uint_dtype() -> DType:
  """uint32, or uint64 with `enable_x64`."""
  return np.dtype(np.uint64 if _config.x64() else np.uint32)


def default_float_dtype() -> DType:
  """The dtype of Python floats: float32, or float64 with `enable_x64`."""
  return python_scalar_dtypes()[float]


def default_complex_dtype() -> DType:
  """The dtype of Python complex numbers: complex64, or complex128 with `enable_x64`."""
  return python_scalar_dtypes()[complex]


# ---- canonical dtypes --------------------------------------------------------------

# Anything hashable that denotes a dtype -> its canonical dtype, x64 off and on.
_canonical_32: dict[object, DType] = {}
_canonical_64: dict[object, DType] = {}


def as_dtype(x: Any) -> DType:
  """The NumPy dtype that `x` denotes: a dtype, a scalar type, a name; not canonicalised.

  Raises:
    TypeError: `x` denotes no dtype.
  """
  if isinstance(x, np.dtype):
    return x
  if isinstance(x, type) and isinstance(own := getattr(x, "dtype", None), np.dtype):
    return own  # scalar types of gnomon.numpy
  found: DType = np.dtype(x)
  return found


def canonicalize_dtype(dtype: Any, allow_extended_dtype: bool = False) -> Any:
  """The dtype that arrays get: a 64-bit one becomes a 32-bit one unless x64 is on.

  Args:
    dtype: anything that denotes a dtype: a `numpy.dtype`, a scalar type, a name.
    allow_extended_dtype: return an extended dtype (such as that of a random key)
      unchanged instead of raising.

  Returns:
    A `numpy.dtype`, or the extended dtype.

  Raises:
    TypeError: `dtype` denotes no dtype.
    ValueError: `dtype` is an extended dtype and `allow_extended_dtype` is False.

  Example:
    >>> from gnomon import dtypes
    >>> dtypes.canonicalize_dtype("float64")
    dtype('float32')
    >>> dtypes.canonicalize_dtype(dtypes.bfloat16)
    dtype(bfloat16)
  """
  x64 = _config.x64()
  table = _canonical_64 if x64 else _canonical_32
  try:
    found = table.get(dtype)
  except TypeError:  # unhashable: a list of fields, or no dtype at all
    return _canonical(as_dtype(dtype), x64)
  if found is not None:
    return found
  if isinstance(dtype, ExtendedDType):
    if allow_extended_dtype:
      return dtype
    raise ValueError(
        f"{dtype} is an extended dtype, which has no NumPy dtype to canonicalise to; "
        "pass allow_extended_dtype=True to get it back unchanged.")
  table[dtype] = found = _canonical(as_dtype(dtype), x64)
  return found


def _canonical(dtype: DType, x64: bool) -> DType:
  return dtype if x64 else TO_32.get(dtype, dtype)


# ---- subtypes ----------------------------------------------------------------------

_extension_parent: dict[type, type] = {
    **{d.type: np.signedinteger for d in dtypes_of(int1, int2, int4)},
    **{d.type: np.unsignedinteger for d in dtypes_of(uint1, uint2, uint4)},
    **{d.type: np.floating for d in (*small_floats, np.dtype(bfloat16))},
}
_issubdtype_memo: dict[tuple[object, object], bool] = {}


def issubdtype(a: Any, b: Any) -> bool:
  """Whether the dtype `a` is `b` or below it in the hierarchy of scalar types.

  As `numpy.issubdtype`, but it knows that `bfloat16` is a `numpy.floating`, `int4` a
  `numpy.signedinteger`, and so on, and it accepts extended dtypes.

  Raises:
    TypeError: an argument denotes no dtype.

  Example:
    >>> import numpy as np
    >>> from gnomon import dtypes
    >>> dtypes.issubdtype(dtypes.bfloat16, np.floating)
    True
    >>> dtypes.issubdtype("int32", np.floating)
    False
  """
  key = (a, b)
  try:
    found = _issubdtype_memo.get(key)
  except TypeError:  # unhashable dtype descriptions
    return _issubdtype(a, b)
  if found is None:
    _issubdtype_memo[key] = found = _issubdtype(a, b)
  return found


def _issubdtype(a: Any, b: Any) -> bool:
  if isinstance(b, ExtendedDType):
    return isinstance(a, ExtendedDType) and a == b
  lower, upper = _scalar_type(a), _scalar_type(b)
  if upper in _extension_parent:
    return lower is upper
  return issubclass(_extension_parent.get(lower, lower), upper)


def _scalar_type(x: Any) -> type:
  if isinstance(x, ExtendedDType):
    return x.type
  if isinstance(x, type) and issubclass(x, np.generic):
    return x
  return as_dtype(x).type


_KINDS: dict[str, type | tuple[type, ...]] = {
    "bool": np.bool_, "signed integer": np.signedinteger,
    "unsigned integer": np.unsignedinteger, "integral": np.integer,
    "real floating": np.floating, "complex floating": np.complexfloating,
    "numeric": np.number}


def _dtype_or_kind(x: Any) -> DType:
  try:
    return as_dtype(x)
  except TypeError:
    raise ValueError(
        f"Unknown kind {x!r}: expected one of {', '.join(map(repr, _KINDS))}, or a dtype."
    ) from None


def isdtype(dtype: Any, kind: Any) -> bool:
  """Whether `dtype` is of a kind of the array API standard, or equal to a dtype.

  Args:
    dtype: a dtype.
    kind: `"bool"`, `"signed integer"`, `"unsigned integer"`, `"integral"`,
      `"real floating"`, `"complex floating"`, `"numeric"`; a dtype; or a tuple of these.

  Raises:
    ValueError: `kind` is an unknown string.

  Example:
    >>> from gnomon.core.dtypes import isdtype
    >>> isdtype("float32", ("integral", "real floating"))
    True
  """
  own = dtype if isinstance(dtype, ExtendedDType) else as_dtype(dtype)
  for k in kind if isinstance(kind, tuple) else (kind,):
    if isinstance(k, str) and k in _KINDS:
      if issubdtype(own, _KINDS[k]):
        return True
    elif own == (k if isinstance(k, ExtendedDType) else _dtype_or_kind(k)):
      return True
  return False


# ---- related dtypes ----------------------------------------------------------------

def to_inexact_dtype(dtype: Any) -> DType:
  """The floating or complex dtype for a function with real values on `dtype`.

  Integers and booleans give float32 (float64 if they have 64 bits); the rest stay.

  Example:
    >>> from gnomon.core.dtypes import to_inexact_dtype
    >>> to_inexact_dtype("int8")
    dtype('float32')
  """
  own = as_dtype(dtype)
  if own == bool_dtype or own in _INTEGERS:
    return np.dtype(np.float64 if own.itemsize == 8 else np.float32)
  return own


def to_floating_dtype(dtype: Any) -> DType:
  """As `to_inexact_dtype`, but a complex dtype gives that of its parts.

  Raises:
    ValueError: `dtype` is not numeric.

  Example:
    >>> from gnomon.core.dtypes import to_floating_dtype
    >>> to_floating_dtype("complex64")
    dtype('float32')
  """
  own = to_inexact_dtype(dtype)
  found: DType = np.dtype(finfo(own).dtype)
  return found


def to_complex_dtype(dtype: Any) -> DType:
  """The complex dtype that holds values of `dtype`: complex128 if those have 64 bits.

  Example:
    >>> from gnomon.core.dtypes import to_complex_dtype
    >>> to_complex_dtype("float32")
    dtype('complex64')
  """
  own = to_inexact_dtype(dtype)
  wide = own in dtypes_of(np.float64, np.complex128)
  return np.dtype(np.complex128 if wide else np.complex64)


def to_numeric_dtype(dtype: Any) -> DType:
  """`dtype`, but int32 for booleans.

  Example:
    >>> from gnomon.core.dtypes import to_numeric_dtype
    >>> to_numeric_dtype(bool)
    dtype('int32')
  """
  own = as_dtype(dtype)
  return np.dtype(np.int32) if own == bool_dtype else own


def supports_inf(dtype: Any) -> bool:
  """Whether the dtype has infinities."""
  own = as_dtype(dtype)
  return own in complexes or (own in floats and own not in _FINITE_FLOATS)


_INTEGERS = frozenset((*signed, *unsigned))
narrow_bits: dict[DType, int] = {
    **{d: int(d.name[-1]) for d in small_ints},
    **{d: int(d.name[5]) for d in small_floats}}


def itemsize_bits(dtype: Any) -> int:
  """The number of bits that one element has on a device.

  Raises:
    ValueError: `dtype` is no number: float0, an extended dtype.

  Example:
    >>> from gnomon import dtypes
    >>> dtypes.itemsize_bits("int4"), dtypes.itemsize_bits("float32")
    (4, 32)
  """
  if dtype is None:
    raise ValueError("dtype cannot be None: expected a numeric dtype or bool.")
  own = None if isinstance(dtype, ExtendedDType) else as_dtype(dtype)
  if own is None or own not in supported_dtypes:
    raise ValueError(
        f"The dtype {dtype} has no size in bits; expected a numeric dtype or bool.")
  return narrow_bits.get(own) or own.itemsize * 8


_short_names: dict[object, str] = {
    bool_dtype: "bool", float0: "float0", np.dtype(bfloat16): "bf16",
    **{d: "u" + d.name[4:] for d in unsigned},
    **{d: "i" + d.name[3:] for d in signed},
    **{d: "f" + d.name[5:] for d in floats if d != np.dtype(bfloat16)},
    **{d: "c" + d.name[7:] for d in complexes}}


def short_dtype_name(dtype: Any) -> str:
  """The name of a dtype in printed programs: `f32`, `bf16`, `i8`, `key<fry>`.

  Example:
    >>> from gnomon.core.dtypes import float8_e5m2, short_dtype_name
    >>> short_dtype_name(float8_e5m2)
    'f8_e5m2'
  """
  if isinstance(dtype, ExtendedDType):
    return dtype.name
  own = as_dtype(dtype)
  return _short_names.get(own) or own.name
