"""The dtypes of values, and the dtype that different ones have in common."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from gnomon import _config
from gnomon.core.scalar_types import (
  PYTHON_64,
  TO_32,
  DType,
  ExtendedDType,
  TypePromotionError,
  as_dtype,
  bfloat16,
  bool_dtype,
  canonicalize_dtype,
  complexes,
  default_float_dtype,
  dtypes_of,
  float0,
  floats,
  issubdtype,
  narrow_bits,
  python_scalar_dtypes,
  signed,
  small_floats,
  small_ints,
  supported_dtypes,
  unsigned,
)

# ---- dtypes that users ask for ----------------------------------------------------

def check_user_dtype_supported(
    dtype: Any, fun_name: str | None = None, *, stacklevel: int = 3) -> Any:
  """The canonical form of a dtype that a user asked for by name.

  A 64-bit dtype asked for while x64 is off is truncated with a warning, refused, or
  granted, as the option `explicit_x64_dtypes` says.

  Args:
    dtype: what the user passed as `dtype=`.
    fun_name: the function it was passed to, for messages.
    stacklevel: frames between the warning and the user's line.

  Raises:
    TypeError: arrays cannot have this dtype.
    ValueError: `dtype` is None or an array; or it is refused (see above).

  Example:
    >>> from gnomon.core.dtypes import check_user_dtype_supported
    >>> check_user_dtype_supported(float, "zeros")
    dtype('float32')
  """
  if isinstance(dtype, type) and dtype in PYTHON_64:
    return python_scalar_dtypes()[dtype]
  if isinstance(dtype, ExtendedDType):
    return dtype
  where = f" in {fun_name}" if fun_name else ""
  if dtype is None:
    raise ValueError(f"A dtype must be given{where}; got None.")
  if not isinstance(dtype, (np.dtype, np.generic, type)) and hasattr(dtype, "dtype"):
    raise ValueError(
        f"An array was passed as a dtype{where}; pass its dtype instead: x.dtype.")
  np_dtype = as_dtype(dtype)
  if np_dtype not in supported_dtypes:
    if np_dtype == float0:
      return np_dtype
    raise TypeError(
        f"JAX only supports number, bool, and string dtypes, got dtype {dtype!r}{where}. "
        f"Convert the values to one of the supported dtypes, such as float32 or int32.")
  return _explicit(np_dtype, fun_name, stacklevel + 1)


def _explicit(dtype: DType, fun_name: str | None, stacklevel: int) -> DType:
  narrow = TO_32.get(dtype)
  if narrow is None or _config.x64():
    return dtype
  mode = _config.current().explicit_x64_dtypes
  if mode == "ALLOW":
    return dtype
  message = (
      f"Explicitly requested dtype {dtype.name}"
      f"{f' requested in {fun_name}' if fun_name else ''} is not available")
  advice = (
      "64-bit types are off: switch them on with "
      "gnomon.config.update('jax_enable_x64', True) or the environment variable "
      f"GNOMON_ENABLE_X64=1, or ask for {narrow.name}.")
  if mode == "ERROR":
    raise ValueError(f"{message}. {advice}")
  warnings.warn(
      f"{message}, and will be truncated to dtype {narrow.name}. {advice}",
      stacklevel=stacklevel)
  return narrow


# ---- dtypes of values --------------------------------------------------------------

def dtype(x: Any) -> Any:
  """The canonical dtype of a value, or of what denotes a dtype.

  Args:
    x: an array, tracer, abstract value or Python number; or a dtype, scalar type, name.

  Returns:
    A `numpy.dtype`, or the extended dtype that `x` has.

  Raises:
    TypeError: `x` has no dtype that arrays may have.
    ValueError: `x` is None.

  Example:
    >>> from gnomon.core.dtypes import dtype
    >>> dtype(1.0), dtype("int8")
    (dtype('float32'), dtype('int8'))
  """
  found = python_scalar_dtypes().get(type(x))
  if found is not None:
    return found
  if isinstance(getattr(x, "weak_type", None), bool):
    return x.dtype  # ours: made canonical when it was created
  if isinstance(x, (np.ndarray, np.generic)):
    return _checked(canonicalize_dtype(x.dtype), x)
  if isinstance(x, (type, str, np.dtype)):
    if isinstance(x, type) and x in PYTHON_64:
      return python_scalar_dtypes()[x]
    return _explicit(_checked(as_dtype(x), x), "dtype", 3)
  if isinstance(x, ExtendedDType):
    return x
  if x is None:
    raise ValueError(
        "Invalid argument to dtype: None has no dtype; expected an array, a number or a "
        "dtype.")
  own = getattr(x, "dtype", None)
  if isinstance(own, np.dtype):
    return _checked(own, x)
  if isinstance(own, ExtendedDType):
    return own
  if isinstance(x, (int, float, complex)):  # subclasses, such as IntEnum
    return python_scalar_dtypes()[scalar_type_of(x)]
  raise TypeError(
      f"Cannot determine dtype of {x!r}: expected an array, a number or a dtype, got "
      f"a {type(x).__name__}.")


def check_valid_dtype(dtype: DType) -> None:
  """Raises TypeError if no array can have this NumPy dtype.

  Arrays of strings (NumPy's StringDType) can be put on devices; no operation takes them.
  """
  if dtype not in supported_dtypes and dtype != float0 and dtype.kind != "T":
    raise TypeError(
        f"the dtype {dtype} is not a valid array type: arrays hold numbers and booleans "
        "only, in the machine's byte order")


def _checked(dtype: DType, x: object) -> DType:
  if dtype in supported_dtypes or dtype == float0:
    return dtype
  raise TypeError(
      f"Value {x!r} with dtype {dtype} is not a valid array type: arrays hold numbers "
      "and booleans only.")


def scalar_type_of(x: Any) -> type:
  """The Python scalar type (bool, int, float or complex) of the elements of `x`.

  Raises:
    TypeError: the elements are none of these (random keys, for example).

  Example:
    >>> from gnomon import dtypes
    >>> dtypes.scalar_type_of(dtypes.bfloat16)
    <class 'float'>
  """
  for scalar in (bool, int, float, complex):
    if isinstance(x, scalar):
      return scalar
  kind = dtype(x)
  if isinstance(kind, np.dtype):
    for scalar, abstract in (
        (bool, np.bool_), (int, np.integer), (float, np.floating),
        (complex, np.complexfloating)):
      if issubdtype(kind, abstract):
        return scalar
  raise TypeError(
      f"{x!r} has elements of dtype {kind}, which corresponds to no Python scalar type; "
      "expected booleans, integers, floats or complex numbers.")


def is_weakly_typed(x: Any) -> bool:
  """Whether `x` is weakly typed: a Python number (no bool), or an array that says so."""
  if type(x) in PYTHON_64:
    return type(x) is not bool
  return not isinstance(x, type) and bool(getattr(x, "weak_type", False))


# ---- promotion ---------------------------------------------------------------------
#
# Types form a lattice: promotion is the least upper bound. Its nodes are the dtypes and
# three weak ones, written as the Python types int, float and complex, which stand below
# all dtypes of their kind: a Python number takes the dtype of what it meets.

_Node = DType | type
_ORDER: tuple[_Node, ...] = (
    bool_dtype, int, *unsigned, *signed, float, *floats, complex, *complexes)


def _parents(x64: bool, strict: bool) -> dict[_Node, tuple[_Node, ...]]:
  """The edges of the lattice: each node with those directly above it."""
  u8, u16, u32, u64 = dtypes_of(np.uint8, np.uint16, np.uint32, np.uint64)
  i8, i16, i32, i64 = dtypes_of(np.int8, np.int16, np.int32, np.int64)
  f16, b16, f32, f64 = dtypes_of(np.float16, bfloat16, np.float32, np.float64)
  c64, c128 = complexes
  if strict:  # only weak types promote
    edges: dict[_Node, tuple[_Node, ...]] = {
        int: (float, *signed, *unsigned), float: (complex, *floats),
        complex: complexes}
  else:
    edges = {
        bool_dtype: (int,), int: (u8, i8, *small_ints),
        u8: (u16, i16), u16: (u32, i32), u32: (u64, i64 if x64 else i32), u64: (float,),
        i8: (i16,), i16: (i32,), i32: (i64,), i64: (float,),
        float: (complex, f16, b16, *small_floats),
        f16: (f32,), b16: (f32,), f32: (f64, c64), f64: (c128,),
        complex: (c64,), c64: (c128,)}
  return {node: edges.get(node, ()) for node in _ORDER}


def _upper_bounds(
    parents: Mapping[_Node, tuple[_Node, ...]]) -> dict[_Node, frozenset[_Node]]:
  bounds: dict[_Node, frozenset[_Node]] = {}

  def above(node: _Node) -> frozenset[_Node]:
    if node not in bounds:
      bounds[node] = frozenset((node,)).union(*map(above, parents[node]))
    return bounds[node]

  for node in parents:
    above(node)
  return bounds


class _Lattice:
  """One promotion lattice with the joins found so far."""

  __slots__ = ("bounds", "joins", "strict")

  def __init__(self, x64: bool, strict: bool) -> None:
    self.strict = strict
    self.bounds = _upper_bounds(_parents(x64, strict))
    self.joins: dict[tuple[_Node, ...], _Node] = {}

  def join(self, nodes: tuple[_Node, ...]) -> _Node:
    found = self.joins.get(nodes)
    if found is None:
      self.joins[nodes] = found = self._least_upper_bound(nodes)
    return found

  def _least_upper_bound(self, nodes: tuple[_Node, ...]) -> _Node:
    distinct = set(nodes)
    if len(distinct) == 1:
      return nodes[0]
    for node in distinct:
      if node not in self.bounds:
        raise ValueError(
            f"{node} is not a valid dtype for promotion: its values combine only with "
            f"values of the same dtype, got {', '.join(map(_node_name, nodes))}.")
    common = frozenset.intersection(*(self.bounds[n] for n in distinct))
    for node in common:
      if common <= self.bounds[node]:
        return node
    raise TypePromotionError(self._no_path(distinct))

  def _no_path(self, nodes: set[_Node]) -> str:
    names = ", ".join(_node_name(n) for n in _ORDER if n in nodes)
    message = f"Input dtypes {names} have no available implicit dtype promotion path"
    if self.strict:
      return (
          f"{message} when jax_numpy_dtype_promotion=strict. Convert the operands "
          "explicitly, for example x.astype('float32'), or set the option to 'standard'.")
    kinds = dict.fromkeys(
        f"{bits}-bit {'floats' if dtype in small_floats else 'integers'}"
        for dtype, bits in narrow_bits.items() if dtype in nodes)
    return (
        f"{message}. To avoid surprises in precision, {' and '.join(kinds)} do not "
        "support implicit promotion. Convert the operands explicitly, for example "
        "x.astype('float32').")


def _node_name(node: _Node) -> str:
  return f"Python {node.__name__}" if isinstance(node, type) else str(node)


# By mode, without and with 64-bit types.
_lattices: dict[str, tuple[_Lattice, _Lattice]] = {
    mode: (_Lattice(False, mode == "strict"), _Lattice(True, mode == "strict"))
    for mode in ("standard", "strict")}


def _join(nodes: tuple[_Node, ...]) -> _Node:
  return _lattices[_config.current().numpy_dtype_promotion][_config.x64()].join(nodes)


_python_nodes: dict[object, _Node] = {
    bool: bool_dtype, int: int, float: float, complex: complex}
_weak_nodes: dict[DType, _Node] = {
    bool_dtype: bool_dtype, **dict.fromkeys((*signed, *unsigned), int),
    **dict.fromkeys(floats, float), **dict.fromkeys(complexes, complex)}


def _node(x: Any) -> Any:
  found = _python_nodes.get(type(x))
  if found is not None:
    return found
  weak = getattr(x, "weak_type", None)
  if weak is False:  # an array, a tracer or a type of ours: its dtype needs no check
    return x.dtype
  if weak is True:
    return _weak_nodes[x.dtype]
  if isinstance(x, type) and x in _python_nodes:
    return _python_nodes[x]
  return default_float_dtype() if x is None else dtype(x)


def lattice_result_type(*args: Any) -> tuple[Any, bool]:
  """The dtype and weakness that the arguments have in common.

  Args:
    *args: as of `result_type`.

  Returns:
    A dtype and whether the result is weakly typed.

  Raises:
    TypePromotionError: there is no implicit promotion between the types.

  Example:
    >>> from gnomon.core.dtypes import lattice_result_type
    >>> lattice_result_type(1, 2.0)
    (dtype('float32'), True)
  """
  if not args:
    raise ValueError("result_type needs at least one array or dtype; got none.")
  nodes = tuple(map(_node, args))
  result = nodes[0] if len(nodes) == 1 else _join(nodes)
  if isinstance(result, type):
    return python_scalar_dtypes()[result], True
  return result, False


def result_type(*args: Any, return_weak_type_flag: bool = False) -> Any:
  """The dtype that an operation on the arguments computes in.

  Python numbers, and arrays made of nothing else, are weakly typed: they follow the
  dtype of the other arguments unless their kind (integer, real, complex) is higher.

  Args:
    *args: arrays, numbers, dtypes or names of dtypes; at least one.
    return_weak_type_flag: also return whether the result is weakly typed.

  Returns:
    A dtype, or a pair of a dtype and a bool.

  Raises:
    TypePromotionError: there is no implicit promotion between the types, or the option
      `numpy_dtype_promotion` is `"strict"` and the dtypes differ.

  Example:
    >>> import numpy as np
    >>> from gnomon import dtypes
    >>> dtypes.result_type(np.int8, 1), dtypes.result_type(np.int8, np.uint8)
    (dtype('int8'), dtype('int16'))
    >>> dtypes.result_type(dtypes.bfloat16, 2.5)
    dtype(bfloat16)
  """
  both = lattice_result_type(*args)
  return both if return_weak_type_flag else both[0]


def promote_types(a: Any, b: Any) -> DType:
  """The dtype that values of the dtypes `a` and `b` promote to; never truncated.

  The Python types `int`, `float` and `complex` stand for weak types.

  Raises:
    TypePromotionError: there is no implicit promotion between them.

  Example:
    >>> from gnomon.core.dtypes import promote_types
    >>> promote_types("int32", "float16"), promote_types(int, "int8")
    (dtype('float16'), dtype('int8'))
  """
  nodes = tuple(
      x if isinstance(x, type) and x in PYTHON_64 and x is not bool else as_dtype(x)
      for x in (a, b))
  result = _join(nodes)
  return PYTHON_64[result] if isinstance(result, type) else result
