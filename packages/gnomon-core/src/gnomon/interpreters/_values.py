"""MLIR types, attributes and constants from Python values, in the current context."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from gnomon.core.types import AbstractToken, ShapedArray, physical_aval, typeof
from gnomon.lowering.builder import Builder, element_type
from gnomon.lowering.module import host
from gnomon.runtime.jaxlib import mlir, pytrees

ir = mlir.ir

ir_tree_registry: Any = pytrees.container_registry()
"""A registry in which lists and tuples are nodes: for operations with nested results."""


# ---- types


def dtype_to_ir_type(dtype: Any) -> Any:
  """The element type of a dtype."""
  return element_type(np.dtype(dtype))


def _array_type(aval: ShapedArray) -> Any:
  p = physical_aval(aval)
  return ir.RankedTensorType.get(p.shape, element_type(p.dtype))


# How the MLIR type of an abstract value is found, by its class. Libraries may add to it.
ir_type_handlers: dict[type, Callable[[Any], Any]] = {
    ShapedArray: _array_type, AbstractToken: lambda _: token_type()}


def aval_to_ir_types(ctx: Any, aval: Any) -> tuple[Any, ...]:
  """The MLIR types of the values that stand for one of this type."""
  del ctx
  for cls in type(aval).__mro__:
    handler = ir_type_handlers.get(cls)
    if handler is not None:
      found = handler(aval)
      return found if isinstance(found, tuple) else (found,)
  raise TypeError(
      f"values of the type {aval} of {type(aval)} have no MLIR type; enter one in "
      "mlir.ir_type_handlers")


def aval_to_ir_type(ctx: Any, aval: Any) -> Any:
  """The MLIR type of values of this type.

  Raises:
    TypeError: several values stand for one of this type.
  """
  types = aval_to_ir_types(ctx, aval)
  if len(types) != 1:
    raise TypeError(f"values of the type {aval} are {len(types)} values when compiled")
  return types[0]


def token_type() -> Any:
  """The type of tokens."""
  return ir.Type.parse("!stablehlo.token")


# ---- attributes


def i32_attr(i: int) -> Any:
  """A 32-bit integer."""
  return ir.IntegerAttr.get(ir.IntegerType.get_signless(32), i)


def i64_attr(i: int) -> Any:
  """A 64-bit integer."""
  return ir.IntegerAttr.get(ir.IntegerType.get_signless(64), i)


def dense_int_array(xs: Sequence[int]) -> Any:
  """`array<i64: …>`."""
  return ir.DenseI64ArrayAttr.get(np.asarray(xs, np.int64).tolist())


def dense_int_elements(xs: Sequence[int]) -> Any:
  """`dense<…> : tensor<…xi64>`."""
  return ir.DenseIntElementsAttr.get(np.asarray(xs, np.int64))


def ir_attribute(val: Any) -> Any:
  """The attribute for a number, text, array, or type, or a list or dict of those.

  Raises:
    TypeError: there is none.
  """
  if isinstance(val, ir.Attribute):
    return val
  if isinstance(val, (bool, np.bool_)):
    return ir.BoolAttr.get(bool(val))
  if isinstance(val, int):
    return i64_attr(val)
  if isinstance(val, float):
    return ir.FloatAttr.get(ir.F64Type.get(), val)
  if isinstance(val, str):
    return ir.StringAttr.get(val)
  if isinstance(val, bytes):
    return ir.StringAttr.get(val)
  if isinstance(val, ir.Type):
    return ir.TypeAttr.get(val)
  if isinstance(val, np.dtype):
    return ir.TypeAttr.get(dtype_to_ir_type(val))
  if isinstance(val, np.generic):
    return _scalar_attribute(val)
  if isinstance(val, np.ndarray):
    return _builder().dense(val)
  if isinstance(val, (list, tuple)):
    return ir.ArrayAttr.get([ir_attribute(v) for v in val])
  if isinstance(val, dict):
    return ir.DictAttr.get({k: ir_attribute(v) for k, v in val.items()})
  raise TypeError(
      f"there is no MLIR attribute for {val!r} of type {type(val)}; make one with the "
      "classes in mlir.ir")


def _scalar_attribute(val: Any) -> Any:
  kind = element_type(val.dtype)
  if isinstance(kind, ir.IntegerType):
    return ir.IntegerAttr.get(kind, int(val))
  if val.dtype.kind == "c":
    raise TypeError(f"there is no MLIR attribute for the complex number {val!r}")
  return ir.FloatAttr.get(kind, float(val))


# ---- constants

_handlers: dict[type, Callable[..., Any]] = {}


class ConstantHandler(Protocol):
  """Emits a constant at the current insertion point: its value, or several."""

  def __call__(self, val: Any, aval: Any) -> Any: ...


def register_constant_handler(type_: type, handler_fun: ConstantHandler) -> None:
  """Enters how constants of a Python type are emitted: `handler_fun(val, aval)`."""
  _handlers[type_] = handler_fun


def _builder() -> Builder:
  return Builder(ir.Context.current)


def ir_constants(
    val: Any, *, const_lowering: Any = None, aval: Any = None) -> tuple[Any, ...]:
  """The values that stand for a constant, emitted at the current insertion point."""
  if const_lowering:
    found = const_lowering.get((id(val), aval if aval is not None else typeof(val)))
    if found is not None:
      return found if isinstance(found, tuple) else (found,)
  for cls in type(val).__mro__:
    handler = _handlers.get(cls)
    if handler is not None:
      found = handler(val, aval)
      return tuple(found) if isinstance(found, (list, tuple)) else (found,)
  dtype = typeof(val).dtype if aval is None else aval.dtype
  b = _builder()
  b.ip, b.loc = ir.InsertionPoint.current, ir.Location.current
  return (b.constant(host(val).astype(dtype)),)


def ir_constant(val: Any, *, const_lowering: Any = None, aval: Any = None) -> Any:
  """The value of a constant, emitted at the current insertion point.

  Args:
    val: an array or a number.
    const_lowering: values of constants that are emitted already, by id and type.
    aval: its type; by default that of `val`.
  """
  values = ir_constants(val, const_lowering=const_lowering, aval=aval)
  if len(values) != 1:
    raise TypeError(f"the constant {val!r} is {len(values)} values when compiled")
  return values[0]


def shape_tensor(ctx: Any, sizes: Sequence[Any]) -> Any:
  """A shape as a value: a vector of 32-bit integers."""
  del ctx
  return ir_constant(np.asarray([int(n) for n in sizes], np.int32))


# ---- nested values


def flatten_ir_values(xs: Any) -> list[Any]:
  """The values in nested lists and tuples."""
  return list(ir_tree_registry.flatten(list(xs))[0])


flatten_ir_types = flatten_ir_values


def unflatten_ir_values_like_types(xs: Any, ys: Sequence[Any]) -> list[Any]:
  """Values nested as the types `ys` are."""
  it = iter(xs)
  return [tuple(next(it) for _ in y) if isinstance(y, (list, tuple)) else next(it)
          for y in ys]
