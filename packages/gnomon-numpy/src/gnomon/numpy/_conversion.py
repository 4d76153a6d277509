"""Arrays from Python values: lists, numbers, NumPy arrays, buffers."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from itertools import chain
from typing import Any

import numpy as np

from gnomon.api.device import device_put
from gnomon.api.jit import jit
from gnomon.core import dtypes
from gnomon.core.jaxpr import Literal
from gnomon.core.ref_type import RefMethods
from gnomon.core.stage import StageTrace, StageTracer
from gnomon.core.structural import broadcast_in_dim, convert, copy_p
from gnomon.core.trace import EVAL, Tracer, get_current
from gnomon.core.types import ShapedArray, WrappedArray, typeof
from gnomon.lax import concatenate, expand_dims
from gnomon.runtime import backends
from gnomon.runtime.jaxlib import arrays
from gnomon.runtime.jaxlib.guards import explicit_put

Array = arrays.Array
_SCALARS = (complex, float, int, bool)  # the first that occurs decides the dtype
_SCALAR_SET = frozenset(_SCALARS)
_SEQUENCES = frozenset((list, tuple))
_KINDS = frozenset("biufcV")
_COPIED = arrays.HostBufferSemantics.IMMUTABLE_ONLY_DURING_CALL


def array(object: Any, dtype: Any = None, *args: Any, copy: bool | None = True,
          order: str | None = "K", ndmin: int = 0, device: Any = None,
          out_sharding: Any = None) -> Any:
  """Makes an array of numbers, nested sequences, NumPy arrays, or arrays.

  Args:
    object: a number, an array, an object that NumPy can read (with `__array__` or a
      buffer), or lists and tuples of these, nested as deep as the result has dimensions.
    dtype: the result's dtype; by default that to which all elements promote. Numbers
      alone give a weak type.
    *args: as keywords, by position; deprecated in NumPy too.
    copy: whether the result must have memory of its own. NumPy arrays and lists are
      always copied.
    order: only `"K"` and `"C"`: arrays have no memory layout to choose.
    ndmin: the least number of dimensions; dimensions of size 1 come first.
    device: where the result lives: a device or a sharding.
    out_sharding: how the result is laid out over devices.

  >>> import gnomon.numpy as gnp
  >>> gnp.array([[1, 2], [3, 4]]).shape
  (2, 2)
  >>> gnp.array([1, 2.5]).dtype
  dtype('float32')

  Raises:
    TypeError: an element is no number.
    ValueError: an element is None, or the sequences have different lengths.
    OverflowError: a Python integer is out of the dtype's range.
    NotImplementedError: another `order`.
  """
  if args:
    copy, order, ndmin = _positional(args, copy, order, ndmin)
  if order not in (None, "K", "C"):
    raise NotImplementedError(
        f"array: order={order!r} is not offered: arrays have no memory layout to choose; "
        "leave order out")
  asked = None if dtype is None else user_dtype(dtype, "array")
  out = _convert(object, asked, bool(copy))
  if ndmin > out.ndim:
    out = expand_dims(out, tuple(range(ndmin - out.ndim)))
  place = device if device is not None else out_sharding
  return out if place is None else device_put(out, place)


def _positional(args: tuple[Any, ...], copy: Any, order: Any, ndmin: Any) -> Any:
  """The values of `copy`, `order` and `ndmin`, of which the first are in `args`."""
  if len(args) > 3:
    raise TypeError(
        f"array() takes at most 5 positional arguments but {len(args) + 2} were given")
  defaults = (True, "K", 0)
  named = zip(("copy", "order", "ndmin"), (copy, order, ndmin), defaults)
  for (name, value, default), _ in zip(named, args):
    if value != default:
      raise TypeError(f"array() got multiple values for argument {name!r}")
  warnings.warn(
      "Passing the copy, order, and ndmin arguments to jnp.array positionally is "
      "deprecated: name them", DeprecationWarning, stacklevel=3)
  return (*args, *(copy, order, ndmin)[len(args):])


def asarray(
    a: Any, dtype: Any = None, order: str | None = None, *, copy: bool | None = None,
    device: Any = None, out_sharding: Any = None) -> Any:
  """Makes an array of a value, as `array` does; an array of the dtype is returned as is.

  Args:
    a: a number, an array, or nested sequences of these.
    dtype: the result's dtype.
    order: only `"K"` and `"C"`.
    copy: true for memory of its own in any case.
    device: where the result lives.
    out_sharding: how the result is laid out over devices.

  >>> import gnomon.numpy as gnp
  >>> x = gnp.asarray([1, 2, 3])
  >>> gnp.asarray(x) is x
  True

  Raises:
    TypeError: an element is no number.
    ValueError: an element is None, or the sequences have different lengths.
  """
  if type(a) is Array and dtype is None and not copy and device is None:
    return a
  return array(
      a, dtype, copy=bool(copy), order=order, device=device, out_sharding=out_sharding)


def user_dtype(dtype: Any, name: str, stacklevel: int = 4) -> Any:
  """The canonical form of a dtype that a user asks a function for.

  A 64-bit one becomes narrower with a warning, unless 64 bits are on.

  Raises:
    TypeError: it is none, or none that arrays have.
  """
  if getattr(dtype, "kind", "") == "T":
    return dtype  # strings, see `_convert_strings`
  return dtypes.check_user_dtype_supported(dtype, name, stacklevel=stacklevel)


def on_device(value: Any, weak: bool = False) -> Any:
  """An array on the default device with the values of a NumPy array, copied."""
  device = backends.default_device()
  return arrays.put_in_runtime(
      ShapedArray(value.shape, value.dtype, weak), backends.sharding_of(device), [value],
      [device], False, True, _COPIED, True)


def made_here(value: Any) -> Any:
  """`on_device` for numbers that no user passed: no transfer that a guard looks for."""
  with explicit_put:
    return on_device(value)


def constant(value: Any, weak: bool = False) -> Any:
  """A number, a NumPy array without dimensions, as an array; in programs a literal."""
  trace: Any = get_current()
  while trace is not EVAL and type(trace) is not StageTrace:
    trace = trace.parent
  if type(trace) is not StageTrace:
    return on_device(value, weak)
  aval = ShapedArray((), value.dtype, weak)
  literal: Any = Literal(value.item() if weak else value[()], aval)
  return StageTracer(trace, aval, literal)


def _convert(x: Any, dtype: Any, copy: bool) -> Any:
  """An array of any value; `dtype` is canonical or None."""
  t = type(x)
  if t is Array or isinstance(x, (Tracer, WrappedArray)):
    return _convert_array(x, dtype, copy)
  if t in _SCALAR_SET:
    return _convert_number(x, dtype)
  if t in _SEQUENCES:
    return _convert_sequence(x, dtype)
  if x is None:
    raise ValueError(
        "None is not a valid value for jnp.array: expected a number or an array")
  if isinstance(x, (np.ndarray, np.generic)):
    return _convert_numpy(x, dtype)
  if hasattr(x, "__jax_array__"):
    return _convert(x.__jax_array__(), dtype, copy)
  return _convert_object(x, dtype, copy)


def _convert_array(x: Any, dtype: Any, copy: bool) -> Any:
  if type(x) is not Array and isinstance(x, RefMethods):
    raise TypeError(
        f"a reference is no array: {x!r}. Read what it holds with ref[...], or end its "
        "use with gnomon.freeze(ref)")
  if copy:
    eager = get_current() is EVAL and type(x) is Array
    x = _copied(x) if eager else copy_p.apply(x)[0]
  return x if dtype is None else convert(x, dtype)


@jit
def _copied(x: Any) -> Any:
  return copy_p.apply(x)[0]


def _convert_number(x: Any, dtype: Any) -> Any:
  aval = typeof(x) if dtype is None else None
  if aval is not None:
    return constant(np.asarray(x, aval.dtype), aval.weak_type)
  return constant(_checked(np.asarray, x, dtype))


def _convert_numpy(x: Any, dtype: Any) -> Any:
  if x.dtype.kind == "T" or getattr(dtype, "kind", "") == "T":
    return _convert_strings(x, dtype)
  if x.dtype.kind not in _KINDS:
    raise TypeError(
        f"array: a NumPy array of dtype {x.dtype} is not a valid array type: only "
        "numbers and bools are")
  if dtype is None:
    dtype = dtypes.canonicalize_dtype(x.dtype.newbyteorder("="))
    dtypes.check_valid_dtype(dtype)
  make = on_device if x.ndim else constant
  return make(np.asarray(x).astype(dtype, copy=False))


def _convert_strings(x: Any, dtype: Any) -> Any:
  """Arrays of strings lie on devices as they are; there is nothing to convert."""
  if dtype is not None and dtype != x.dtype:
    raise TypeError(
        f"Cannot make an array with dtype {dtype} from an object with dtype {x.dtype}.")
  return on_device(x)


def _convert_object(x: Any, dtype: Any, copy: bool) -> Any:
  if isinstance(x, (list, tuple)):  # a subclass
    return _convert_sequence(x, dtype)
  if not hasattr(x, "__array__") and hasattr(x, "__dlpack__"):
    from gnomon.numpy._files import from_dlpack  # it needs this module
    return _convert_array(from_dlpack(x), dtype, copy)
  value = np.asarray(x)
  if value.dtype.kind not in _KINDS:
    raise TypeError(
        f"array: {x!r} of type {type(x)} is not a valid array type: expected numbers, "
        "arrays, or nested lists of them")
  return _convert_numpy(value, dtype)


# ---- sequences


def _convert_sequence(xs: Any, dtype: Any) -> Any:
  types = _leaf_types(xs)
  if types <= _SCALAR_SET:
    if dtype is None:
      kind = next((k for k in _SCALARS if k in types), None)
      dtype = (dtypes.default_float_dtype() if kind is None
               else dtypes.python_scalar_dtypes()[kind])
    return on_device(_checked(np.array, xs, dtype))
  leaves = list(_leaves(xs))
  for x in leaves:
    if x is None:
      raise ValueError(
          "None is not a valid value for jnp.array: expected numbers or arrays as "
          "elements")
  leaves = [x if _is_plain(x) else _convert(x, None, copy=False) for x in leaves]
  if dtype is None:
    dtype = _common_dtype(leaves) if leaves else dtypes.default_float_dtype()
  return _stack(xs, iter(leaves), dtype)


def _is_plain(x: Any) -> bool:
  return type(x) in _SCALAR_SET or type(x) is Array or isinstance(
      x, (np.ndarray, np.generic, Tracer, WrappedArray))


def _common_dtype(leaves: list[Any]) -> Any:
  kinds: dict[Any, Any] = {}
  for x in leaves:
    t = type(x)
    kind = t if t in _SCALAR_SET else (x.dtype, getattr(x, "weak_type", False))
    kinds.setdefault(kind, x)
  dtype, _ = dtypes.lattice_result_type(*kinds.values())
  return dtypes.canonicalize_dtype(dtype, allow_extended_dtype=True)


def _leaf_types(xs: Any) -> set[type]:
  """The types of the elements of nested lists and tuples."""
  level = xs
  found: set[type] = set()
  while True:
    types = set(map(type, level))
    found |= types - _SEQUENCES
    if not types & _SEQUENCES:
      return found
    if types <= _SEQUENCES:
      level = list(chain.from_iterable(level))
    else:
      level = list(chain.from_iterable(x for x in level if type(x) in _SEQUENCES))


def _leaves(xs: Any) -> Any:
  for x in xs:
    if isinstance(x, (list, tuple)):
      yield from _leaves(x)
    else:
      yield x


def _rebuild(xs: Any, leaves: Any, f: Callable[[Any], Any]) -> Any:
  """The same nesting with other leaves."""
  return [
      _rebuild(x, leaves, f) if isinstance(x, (list, tuple)) else f(next(leaves))
      for x in xs]


def _stack(xs: Any, leaves: Any, dtype: Any) -> Any:
  """An array of nested sequences of arrays and numbers."""
  nested = _rebuild(xs, leaves, lambda x: x)
  flat = list(_leaves(nested))
  plain = isinstance(dtype, np.dtype) and not any(
      isinstance(x, (Tracer, WrappedArray)) for x in flat)
  if plain and not any(type(x) is Array and x.is_deleted() for x in flat):
    nested = _rebuild(nested, iter(flat), lambda x: _cast(x, dtype))
    out = on_device(_checked(np.array, nested, dtype))
    place = next((x for x in flat if type(x) is Array and x._committed), None)
    return out if place is None else device_put(out, place.sharding)
  return _stack_traced(nested, dtype)


def _cast(x: Any, dtype: Any) -> Any:
  if type(x) is Array:
    x = np.asarray(x)
  return x.astype(dtype) if isinstance(x, (np.ndarray, np.generic)) else x


def _stack_traced(x: Any, dtype: Any) -> Any:
  if not isinstance(x, list):
    if type(x) in _SCALAR_SET:
      return _checked(np.asarray, x, dtype)
    return convert(x, dtype)
  parts = [_stack_traced(part, dtype) for part in x]
  shapes = [np.shape(p) for p in parts]
  if len(set(shapes)) > 1:
    raise ValueError(
        "array: the elements of a sequence must have one shape, got shapes "
        f"{', '.join(map(str, dict.fromkeys(shapes)))}")
  if all(isinstance(p, np.ndarray) for p in parts):  # known now: no operations
    return np.stack(parts) if parts else np.zeros((0,), dtype)
  return concatenate(
      [broadcast_in_dim(p, (1, *s), tuple(range(1, len(s) + 1)))
       for p, s in zip(parts, shapes)], 0)


def _checked(make: Callable[..., Any], x: Any, dtype: Any) -> Any:
  """NumPy's conversion, with its errors said for the reader."""
  try:
    return make(x, dtype=dtype)
  except OverflowError as e:
    raise OverflowError(
        f"array: {e}: give a wider dtype (64 bits need "
        "gnomon.config.update('jax_enable_x64', True))") from None
