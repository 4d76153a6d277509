"""Abstract values: the types of arrays, interned, so that equal means identical."""

from __future__ import annotations

import contextlib
import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gnomon.core import dtypes
from gnomon.core.spaces import INVARYING, ManualAxisType, Space
from gnomon.runtime.jaxlib import arrays, cells

_x64 = cells.x64


def must_define(x: object, method: str) -> NotImplementedError:
  """The error for a method that a subclass of a library has to supply."""
  return NotImplementedError(f"the type {type(x).__name__} must define {method}")


class AbstractValue:
  """The type of a value that transformations handle."""

  __slots__ = ()
  _sharding: Any = None  # only types of arrays may say how values are divided

  def to_tangent_aval(self) -> AbstractValue:
    raise TypeError(f"values of type {self} have no tangents")

  def to_ct_aval(self) -> AbstractValue:
    """The type of cotangents: that of tangents."""
    return self.to_tangent_aval()

  # ---- types that other libraries define: `lo_ty` gives the arrays that they stand for

  is_high: Any = False  # whether values are not arrays themselves
  has_qdd: Any = False  # whether the type has a part that changes

  def lo_ty(self) -> list[AbstractValue]:
    """The types of the arrays that a value of this type consists of."""
    return [self]

  def lo_ty_qdd(self, qdd: Any) -> list[AbstractValue]:
    """The same, for a type with a part that changes."""
    raise must_define(self, "lo_ty_qdd")

  def lower_val2(self, hi_val: Any) -> Any:
    """The arrays that a value consists of."""
    return [hi_val] if not self.is_high else self.lower_val(hi_val)

  def raise_val2(self, lo_vals_ft: Any) -> Any:
    """The value that consists of some arrays."""
    return lo_vals_ft[0] if not self.is_high else self.raise_val(*lo_vals_ft)

  def lower_val(self, val: Any) -> list[Any]:
    """The arrays that a value consists of."""
    return [val]

  def raise_val(self, *vals: Any) -> Any:
    """The value that consists of some arrays."""
    (val,) = vals
    return val

  def normalize(self) -> AbstractValue:
    """The type without what programs do not depend on."""
    return self

  def at_least_vspace(self) -> AbstractValue:
    """The type of tangents."""
    return self.to_tangent_aval()

  def vspace_add(self, x: Any, y: Any) -> Any:
    """The sum of two tangents of this type."""
    raise must_define(self, "vspace_add")

  def inc_rank(self, size: int, spec: Any) -> AbstractValue:
    """The type of values stacked along a new axis, placed by `spec`."""
    raise TypeError(f"values of type {self} cannot be stacked: define inc_rank")

  def dec_rank(self, size: int, spec: Any) -> AbstractValue:
    """The type of an element along the axis `spec`."""
    raise TypeError(f"values of type {self} cannot be mapped: define dec_rank")

  def leading_axis_spec(self) -> Any:
    """What places the mapped axis in front."""
    return 0

  def shard(self, mesh: Any, manual_axes: Any, check_vma: bool, spec: Any) -> Any:
    """The type of a part, in a program over several devices."""
    raise must_define(self, "shard")

  def unshard(self, mesh: Any, check_vma: bool, spec: Any) -> Any:
    """The type of the whole, in a program over several devices."""
    raise must_define(self, "unshard")

  def str_short(self, short_dtypes: bool = False, mesh_axis_types: bool = False) -> str:
    """A short text."""
    return str(self)

  def strip_weak_type(self) -> AbstractValue:
    """The type itself: only arrays have weak dtypes."""
    return self

  def update_weak_type(self, weak_type: bool) -> AbstractValue:
    """The type itself: only arrays have weak dtypes."""
    return self

  def update_manual_axis_type(self, mat: Any) -> AbstractValue:
    """The type itself: only arrays vary over axes of a mesh."""
    return self

  def update(self, **kwargs: Any) -> AbstractValue:
    """The type with some of its parts changed."""
    raise must_define(self, "update")

  def __repr__(self) -> str:
    return type(self).__name__


class aval_property:
  """An attribute of tracers whose type has it: `fget(tracer)`."""

  __slots__ = ("fget",)

  def __init__(self, fget: Callable[[Any], Any]) -> None:
    self.fget = fget


class aval_method:
  """A method of tracers whose type has it: `fun(tracer, *args)`."""

  __slots__ = ("fun",)

  def __init__(self, fun: Callable[..., Any]) -> None:
    self.fun = fun


def attribute_of_type(x: Any, name: str) -> Any:
  """What the type of a tracer has for it by this name, or None."""
  found = getattr(type(x.aval), name, None)
  if isinstance(found, aval_property):
    return found.fget(x)
  if isinstance(found, aval_method):
    return functools.partial(found.fun, x)
  return None


class ShapedArray(AbstractValue):
  """The type of an array: its shape, its dtype, and whether the dtype is weak.

  Interned: two equal types are one object, so that `==` and `hash` cost nothing.

  Args:
    shape: the sizes.
    dtype: of the elements.
    weak_type: whether the dtype gives way in promotion.
    sharding: a NamedSharding. What it says of axes that are not explicit is left out.
    manual_axis_type: the axes of a mesh over which a value varies.
    memory_space: where the array is.
  """

  # What is None in nearly every type: a type that says nothing of devices costs nothing.
  __slots__ = (
      "__weakref__", "_mat", "_sharding", "_space", "dtype", "ndim", "shape", "size",
      "weak_type")

  shape: tuple[int, ...]
  dtype: Any
  weak_type: bool
  ndim: int
  size: int
  _sharding: Any
  _mat: Any
  _space: Any

  def __new__(  # noqa: PYI034 -- equal types are one object
      cls, shape: Any, dtype: Any, weak_type: bool = False, *, sharding: Any = None,
      manual_axis_type: ManualAxisType = INVARYING, memory_space: Any = Space.Device,
  ) -> ShapedArray:
    key = (
        (shape, dtype, weak_type)
        if sharding is None and manual_axis_type is INVARYING
        and memory_space is Space.Device
        else (shape, dtype, weak_type, sharding, manual_axis_type, memory_space))
    try:
      return _interned[key]
    except KeyError:
      pass
    except TypeError:  # an unhashable shape, such as a list
      pass
    shape = tuple(int(d) for d in shape)
    if not isinstance(dtype, (np.dtype, dtypes.ExtendedDType)):
      dtype = np.dtype(dtype)
    said = None if sharding is None else _explicit_part(sharding, shape)
    full = (shape, dtype, bool(weak_type), said, manual_axis_type, memory_space)
    found = _by_parts.get(full)
    if found is None:
      found = super().__new__(cls)
      found.shape, found.dtype, found.weak_type = full[:3]
      found._sharding, found._mat, found._space = full[3:]
      found.ndim, found.size = len(shape), math.prod(shape)
      _by_parts[full] = found
    with contextlib.suppress(TypeError):
      _interned[key] = found
    return found

  def __init__(self, *_: Any, **__: Any) -> None:
    pass

  def __reduce__(self) -> Any:
    return (_remake, (
        self.shape, self.dtype, self.weak_type, self._sharding, self._mat, self._space))

  @property
  def sharding(self) -> Any:
    """How the type says that arrays are divided over the explicit axes of a mesh.

    Where it says nothing, no dimension is divided, over the mesh in force.
    """
    from gnomon.core import explicit  # programs on one device do without

    return explicit.sharding_of(self)

  @property
  def manual_axis_type(self) -> ManualAxisType:
    """The axes of a mesh over which a value varies, in a program of one device's part."""
    return self._mat  # type: ignore[no-any-return]

  mat = manual_axis_type

  @property
  def vma(self) -> frozenset[Any]:
    """The axes of a mesh over which a value varies."""
    return self._mat.varying  # type: ignore[no-any-return]

  @property
  def memory_space(self) -> Any:
    """Where the array is."""
    return self._space

  def __repr__(self) -> str:
    weak = ", weak_type=True" if self.weak_type else ""
    return f"ShapedArray({self.str_short()}{weak})"

  def __str__(self) -> str:
    return f"~{self.str_short()}" if self.weak_type else self.str_short()

  def str_short(self, short_dtypes: bool = False, mesh_axis_types: bool = False) -> str:
    """`float32[2,3]`, or `f32[2,3]` with short dtypes."""
    name = dtypes.short_dtype_name(self.dtype) if short_dtypes else (
        self.dtype.name if hasattr(self.dtype, "name") else str(self.dtype))
    if self._sharding is None and self._mat is INVARYING:
      return f"{name}[{','.join(map(str, self.shape))}]"
    from gnomon.core import explicit  # programs on one device do without

    return explicit.text_of(self, name, mesh_axis_types)

  def update(
      self, shape: Any = None, dtype: Any = None, weak_type: bool | None = None,
      **kwargs: Any) -> ShapedArray:
    """The type with some of its parts changed."""
    shape = self.shape if shape is None else shape
    sharding = kwargs.pop("sharding", self._sharding)
    if sharding is self._sharding and sharding is not None and len(shape) != self.ndim:
      sharding = None
    return ShapedArray(
        shape, self.dtype if dtype is None else dtype,
        self.weak_type if weak_type is None else weak_type, sharding=sharding,
        manual_axis_type=kwargs.pop("manual_axis_type", self._mat),
        memory_space=kwargs.pop("memory_space", self._space), **kwargs)

  def strip_weak_type(self) -> ShapedArray:
    """The type with its dtype not weak."""
    return self.update(weak_type=False) if self.weak_type else self

  def to_tangent_aval(self) -> ShapedArray:
    """The type of tangents: float0 for integers, bools and keys."""
    found = _tangents.get(self)
    if found is None:
      inexact = dtypes.issubdtype(self.dtype, np.inexact)
      found = _tangents[self] = (
          self if inexact else self.update(dtype=dtypes.float0, weak_type=False))
    return found

  to_cotangent_aval = to_ct_aval = to_tangent_aval

  # ---- as other libraries know it

  array_abstraction_level = 2

  def update_weak_type(self, weak_type: bool) -> ShapedArray:
    """The type with its dtype weak or not."""
    return self.update(weak_type=weak_type)

  def update_manual_axis_type(self, mat: Any) -> ShapedArray:
    """The type of a value that varies over other mesh axes."""
    return self.update(manual_axis_type=mat)

  def nospec(self, mesh: Any, check_vma: bool, all_names: Any) -> tuple[Any, ...]:
    """What says that no dimension is split over devices."""
    return ()

  def inc_rank(self, size: int, spec: int) -> ShapedArray:
    """The type of values stacked along a new axis."""
    return self.update(shape=(*self.shape[:spec], size, *self.shape[spec:]))

  def dec_rank(self, size: int, spec: int) -> ShapedArray:
    """The type of an element along an axis.

    Raises:
      ValueError: the axis has another size.
    """
    if self.shape[spec] != size:
      raise ValueError(f"axis {spec} of {self} has size {self.shape[spec]}, not {size}")
    return self.update(shape=self.shape[:spec] + self.shape[spec + 1:])

  def raise_val(self, val: Any) -> Any:
    """The value itself: it is an array."""
    return val

  def vspace_add(self, x: Any, y: Any) -> Any:
    """The sum of two arrays."""
    return x + y

  def __len__(self) -> int:
    if not self.shape:
      raise TypeError("len() of a 0-d array type")
    return self.shape[0]


def _remake(
    shape: Any, dtype: Any, weak_type: bool, sharding: Any, mat: Any, space: Any,
) -> ShapedArray:
  return ShapedArray(
      shape, dtype, weak_type, sharding=sharding, manual_axis_type=mat,
      memory_space=space)


def _explicit_part(sharding: Any, shape: tuple[int, ...]) -> Any:
  from gnomon.core import explicit  # programs on one device do without

  return explicit.part_of(sharding, shape)


def says(aval: Any) -> bool:
  """Whether a type says how arrays are divided over explicit axes."""
  return type(aval) is ShapedArray and aval._sharding is not None


def sharding_of_cotangent(
    aval: ShapedArray, order: Sequence[int], *operands: Any) -> Any:
  """How the cotangent of a value of type `aval` is divided, its dimensions in an order.

  None where neither that type nor one of the operands of what computes it says anything.
  """
  if not says(aval) and not any(says(typeof(x)) for x in operands):
    return None
  from gnomon.core import explicit  # programs on one device do without

  return explicit.of_cotangent(aval, order, [typeof(x) for x in operands])


def sharding_with(asked: Any, at: int, x: Any, dim: int | None) -> Any:
  """A sharding asked for, of a result that is mapped at `at` as `x` is at `dim`."""
  if asked is None:
    return None
  from gnomon.core import explicit  # programs on one device do without

  return explicit.with_dimension(asked, at, typeof(x), dim)


_interned: dict[Any, ShapedArray] = {}
_by_parts: dict[Any, ShapedArray] = {}
_tangents: dict[ShapedArray, ShapedArray] = {}


class TokenType(dtypes.ExtendedDType):
  """The dtype of tokens, which are arrays without elements when compiled."""

  __slots__ = ()
  name = "token"
  type = dtypes.extended
  physical_shape = (0,)
  physical_dtype = np.dtype(bool)

  def __eq__(self, other: object) -> bool:
    return type(other) is TokenType

  def __hash__(self) -> int:
    return hash(TokenType)


class AbstractToken(AbstractValue):
  """The type of ordering tokens."""

  __slots__ = ()
  shape: tuple[int, ...] = ()
  ndim, size, weak_type = 0, 0, False
  dtype = TokenType()

  def __repr__(self) -> str:
    return "Token"

  def str_short(self, short_dtypes: bool = False, mesh_axis_types: bool = False) -> str:
    return "Tok"

  def to_ct_aval(self) -> AbstractToken:
    return self

  def to_tangent_aval(self) -> AbstractToken:
    return self


abstract_token = AbstractToken()


def _python_scalar(kind: type) -> Callable[[Any], ShapedArray]:
  wide, narrow = {
      bool: ("bool", "bool"), int: ("int64", "int32"), float: ("float64", "float32"),
      complex: ("complex128", "complex64")}[kind]
  avals = (
      ShapedArray((), np.dtype(narrow), kind is not bool),
      ShapedArray((), np.dtype(wide), kind is not bool))
  if kind is not int:
    return lambda x: avals[_x64.value]
  limits = tuple((np.iinfo(a.dtype).min, np.iinfo(a.dtype).max) for a in avals)

  def of_int(x: int) -> ShapedArray:
    low, high = limits[_x64.value]
    if not low <= x <= high:
      raise OverflowError(
          f"Python int {x} too large to convert to {avals[_x64.value].dtype}: give it a "
          "wider dtype explicitly (64 bits need gnomon.config.update('jax_enable_x64', "
          "True))")
    return avals[_x64.value]

  return of_int


_of_dtype: tuple[dict[Any, Any], dict[Any, Any]] = ({}, {})  # without and with x64


def _of_numpy(x: Any) -> ShapedArray:
  given = x.dtype
  dtype = _of_dtype[_x64.value].get(given)
  if dtype is None:
    dtypes.check_valid_dtype(given)
    dtype = _of_dtype[_x64.value][given] = dtypes.canonicalize_dtype(given)
  return ShapedArray(x.shape, dtype)


def _of_aval(x: Any) -> Any:
  return x.aval


# How the type of a value is found, by its Python type. Slices may add to it.
typeof_handlers: dict[type, Callable[[Any], Any]] = {
    bool: _python_scalar(bool), int: _python_scalar(int), float: _python_scalar(float),
    complex: _python_scalar(complex), arrays.Array: _of_aval, np.ndarray: _of_numpy}


def typeof(x: Any) -> Any:
  """The type (`ShapedArray`) of an array, a tracer, a NumPy array or a Python number.

  Raises:
    TypeError: `x` is none of these.
  """
  handler = typeof_handlers.get(type(x))
  if handler is _of_aval:  # nearly always
    return x.aval
  if handler is not None:
    return handler(x)
  return _typeof_slow(x)


def _typeof_slow(x: Any) -> Any:
  from_aval = getattr(x, "aval", None)
  if isinstance(from_aval, AbstractValue):
    typeof_handlers[type(x)] = _of_aval
    return from_aval
  if isinstance(x, np.generic):  # numpy.float64 is a Python float too, but not weak
    found = _of_numpy(x)
    typeof_handlers[type(x)] = _of_numpy
    return found
  if isinstance(x, np.ma.MaskedArray):
    raise ValueError(  # noqa: TRY004 -- it is its mask that is wrong
        "numpy masked arrays are not supported as arguments: there is no mask on a "
        "device. Use x.filled(value), or x.data for the values without the mask")
  for base in type(x).__mro__[1:]:
    if base in typeof_handlers:
      typeof_handlers[type(x)] = typeof_handlers[base]
      return typeof_handlers[base](x)
  if isinstance(x, AbstractValue):
    return x
  if hasattr(x, "__jax_array__"):
    return typeof(x.__jax_array__())
  raise TypeError(
      f"{x!r} of type {type(x)} is not a valid array type: expected an array, a NumPy "
      "array or a number")


def _canonical(x: Any) -> np.ndarray[Any, Any]:
  return np.asarray(x, typeof(x).dtype)


# How a value becomes an array of its canonical type, by its Python type. Libraries add
# types of their own, and the types of such values to `typeof_handlers`.
canonicalize_handlers: dict[type, Callable[[Any], Any]] = dict.fromkeys(
    (bool, int, float, complex, np.ndarray), _canonical)


class WrappedArray:
  """Base of arrays whose elements are no numbers: they wrap an array that stands in.

  Subclasses have `aval`, `physical` (the plain array) and `with_physical(array)`.
  """

  __slots__ = ("__weakref__",)

  aval: Any
  physical: Any

  def with_physical(self, array: Any) -> WrappedArray:
    raise NotImplementedError(type(self).__name__)


class Valueless:
  """Base of what has the type of an array and no value: programs can be traced with it.

  Subclasses add themselves to `typeof_handlers`.
  """

  __slots__ = ()

  def refused(self) -> TypeError:
    """The error for where a value is needed."""
    return TypeError(
        f"{self!r} does not have a value: it cannot be an argument of a computation, nor "
        "a constant in one. Pass an array, or ask for types alone: eval_shape, lower")


def is_array_like(x: Any) -> bool:
  """Whether `typeof` accepts `x`."""
  try:
    typeof(x)
  except TypeError:
    return False
  return True


def physical_aval(aval: Any) -> Any:
  """The type of the array that represents values of type `aval` in compiled programs."""
  dtype = aval.dtype
  if isinstance(dtype, dtypes.ExtendedDType):
    return ShapedArray((*aval.shape, *dtype.physical_shape), dtype.physical_dtype)
  if dtype is dtypes.float0 or dtype == dtypes.float0:
    return ShapedArray(aval.shape, np.dtype(bool))
  return aval
