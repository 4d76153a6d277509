"""Emitting StableHLO by the cheapest builder calls; types and attributes are cached."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import ml_dtypes
import numpy as np

from gnomon.core import dtypes
from gnomon.core.types import ShapedArray, physical_aval
from gnomon.runtime.jaxlib import mlir

ir = mlir.ir
_create = ir.Operation.create

_FLOATS = {
    "float16": "F16Type", "float32": "F32Type", "float64": "F64Type",
    "bfloat16": "BF16Type",
    "float8_e5m2": "Float8E5M2Type", "float8_e4m3fn": "Float8E4M3FNType",
    "float8_e4m3b11fnuz": "Float8E4M3B11FNUZType",
    "float8_e5m2fnuz": "Float8E5M2FNUZType",
    "float8_e4m3fnuz": "Float8E4M3FNUZType", "float8_e3m4": "Float8E3M4Type",
    "float8_e4m3": "Float8E4M3Type", "float8_e8m0fnu": "Float8E8M0FNUType",
    "float4_e2m1fn": "Float4E2M1FNType"}
_INTS = {
    "int2": ("get_signless", 2), "int4": ("get_signless", 4), "int8": ("get_signless", 8),
    "int16": ("get_signless", 16), "int32": ("get_signless", 32),
    "int64": ("get_signless", 64), "uint2": ("get_unsigned", 2),
    "uint4": ("get_unsigned", 4), "uint8": ("get_unsigned", 8),
    "uint16": ("get_unsigned", 16), "uint32": ("get_unsigned", 32),
    "uint64": ("get_unsigned", 64), "bool": ("get_signless", 1)}


def element_type(dtype: Any) -> Any:
  """The MLIR element type of a dtype; needs a current context."""
  name = dtype.name
  if name in _INTS:
    make, bits = _INTS[name]
    return getattr(ir.IntegerType, make)(bits)
  if name in _FLOATS:
    return getattr(ir, _FLOATS[name]).get()
  if name == "complex64":
    return ir.ComplexType.get(ir.F32Type.get())
  if name == "complex128":
    return ir.ComplexType.get(ir.F64Type.get())
  raise TypeError(f"arrays of dtype {dtype} cannot be compiled")


_RAW = {1: np.uint8, 2: np.uint16}


class Builder:
  """Emits operations at `ip` with the location `loc`, both of which move.

  One a context: types and attributes are made once. Use inside `with builder.context`.
  """

  def __init__(self, context: Any) -> None:
    self.context = context
    self.ip: Any = None
    self._types: dict[Any, Any] = {}
    self._elements: dict[Any, Any] = {}
    self._attributes: dict[Any, Any] = {}
    self._attribute_sets: dict[Any, dict[str, Any]] = {}
    self.locations: Any = None  # of lines of source: whoever emits operations sets it
    self._constants: dict[Any, Any] = {}
    self._values: dict[Any, dict[Any, Any]] = {}  # by block: constants, and splats
    self._ints: dict[Any, Any] = {}
    self._updated: set[Any] = set()  # results of dynamic updates
    with context:
      self.unknown = ir.Location.unknown()
    self.loc: Any = self.unknown

  # ---- types and attributes

  def element(self, dtype: Any) -> Any:
    """The element type of a dtype."""
    found = self._elements.get(dtype)
    if found is None:
      found = self._elements[dtype] = element_type(dtype)
    return found

  def tensor(self, aval: ShapedArray) -> Any:
    """The tensor type of an abstract value; of keys, that of their words."""
    found = self._types.get(aval)
    if found is None:
      p = physical_aval(aval)
      found = self._types[aval] = ir.RankedTensorType.get(p.shape, self.element(p.dtype))
    return found

  def tensor_of(self, shape: tuple[int, ...], dtype: Any) -> Any:
    """The tensor type of a shape and a dtype."""
    return self.tensor(ShapedArray(shape, dtype))

  def token_type(self) -> Any:
    """The type of tokens, which order effects."""
    found = self._types.get("token")
    if found is None:
      found = self._types["token"] = ir.Type.parse("!stablehlo.token")
    return found

  def key_dims(self, aval: ShapedArray) -> int:
    """How many trailing dimensions an element of this type has when compiled."""
    dtype = aval.dtype
    return len(dtype.physical_shape) if isinstance(dtype, dtypes.ExtendedDType) else 0

  def attr(self, text: str) -> Any:
    """An attribute from its text, such as `#stablehlo<comparison_direction LT>`."""
    found = self._attributes.get(text)
    if found is None:
      found = self._attributes[text] = ir.Attribute.parse(text)
    return found

  def i64s(self, values: Sequence[int]) -> Any:
    """`array<i64: …>`."""
    key = tuple(values)
    found = self._ints.get(key)
    if found is None:
      found = self._ints[key] = ir.DenseI64ArrayAttr.get(key)
    return found

  def i64(self, value: int) -> Any:
    """A 64-bit integer attribute."""
    return self.attr(f"{value} : i64")

  def i32(self, value: int) -> Any:
    """A 32-bit integer attribute."""
    return self.attr(f"{value} : i32")

  def flag(self, value: bool) -> Any:
    """A boolean attribute."""
    return self.attr("true" if value else "false")

  def bools(self, values: Sequence[bool]) -> Any:
    """`array<i1: …>`."""
    return self.attr(f"array<i1: {', '.join('true' if v else 'false' for v in values)}>"
                     if values else "array<i1>")

  def i64_matrix(self, rows: Sequence[Sequence[int]]) -> Any:
    """A dense attribute of pairs, such as padding."""
    a = np.asarray(rows, np.int64).reshape(len(rows), 2)
    return ir.DenseElementsAttr.get(a)

  def string(self, value: str | bytes) -> Any:
    """A string attribute."""
    return ir.StringAttr.get(value)

  # ---- operations

  def op(self, name: str, types: Sequence[Any], operands: Sequence[Any],
         attrs: dict[str, Any] | None = None, regions: int = 0) -> Any:
    """An operation with several results or regions."""
    return _create(name, types, operands, attrs, None, regions, self.loc, self.ip)

  def op1(self, name: str, type_: Any, operands: Sequence[Any],
          attrs: dict[str, Any] | None = None) -> Any:
    """The single result of an operation."""
    return _create(name, [type_], operands, attrs, None, 0, self.loc, self.ip).result

  def region_op(
      self, name: str, types: Sequence[Any], operands: Sequence[Any],
      attrs: dict[str, Any] | None,
      bodies: Sequence[tuple[Sequence[Any], Callable[..., Sequence[Any]]]]) -> Any:
    """An operation with regions; each body maps block arguments to what is returned."""
    op = self.op(name, types, self.settled(operands), attrs, len(bodies))
    outer = self.ip
    for region, (block_types, body) in zip(op.regions, bodies):
      block = region.blocks.append(*block_types, arg_locs=[self.loc] * len(block_types))
      self.ip = ir.InsertionPoint(block)
      try:
        results = body(*block.arguments)
        _create("stablehlo.return", [], results, None, None, 0, self.loc, self.ip)
      finally:
        self.ip = outer
      if self._updated:  # a loop that runs once, or a known branch, is inlined too
        self._updated.update(
            o for o, r in zip(op.results, results) if r in self._updated)
    return op

  def constant(self, value: Any, dtype: Any = None) -> Any:
    """A constant from a NumPy array or scalar of a canonical dtype."""
    values = self._values_here()
    if isinstance(value, np.generic) and value.dtype == dtype:  # most literals
      out = values.get((dtype, value.tobytes()))
      if out is not None:
        return out
    a = np.asarray(value) if dtype is None else np.asarray(value, dtype)
    if a.ndim:
      attr, type_ = self._dense(a)
      return self.op1("stablehlo.constant", type_, (), {"value": attr})
    key = (a.dtype, a.tobytes())
    out = values.get(key)
    if out is None:
      found = self._constants.get(key)
      if found is None:
        found = self._constants[key] = self._dense(a)
      attr, type_ = found
      out = values[key] = self.op1("stablehlo.constant", type_, (), {"value": attr})
    return out

  def _values_here(self) -> dict[Any, Any]:
    """Constants of the block at hand, which operations after them may use again."""
    found = self._values.get(self.ip)
    if found is None:
      found = self._values[self.ip] = {}
    return found

  def dense(self, value: Any) -> Any:
    """The attribute that holds the elements of a NumPy array."""
    return self._dense(value)[0]

  def _dense(self, a: np.ndarray[Any, Any]) -> tuple[Any, Any]:
    if a.dtype == dtypes.float0:
      a = np.zeros(a.shape, np.bool_)
    type_ = ir.RankedTensorType.get(a.shape, self.element(a.dtype))
    a = np.ascontiguousarray(a).reshape(a.shape)
    if a.dtype.kind in "biufc" and a.dtype.type.__module__ == "numpy":
      if a.dtype == np.bool_:
        return ir.DenseElementsAttr.get(a), type_
      return ir.DenseElementsAttr.get(
          a, type=self.element(a.dtype), shape=list(a.shape)), type_
    if a.dtype in _SUBBYTE:  # these are written element by element, as text
      body = ", ".join(map(str, a.astype(np.int32).ravel().tolist()))
      text = body if a.ndim == 0 else f"[{body}]"
      if a.ndim > 1:
        text = str(a.astype(np.int32).tolist())
      return ir.Attribute.parse(f"dense<{text}> : {type_}"), type_
    raw = a.view(_RAW[a.dtype.itemsize])
    return ir.DenseElementsAttr.get(
        raw, type=self.element(a.dtype), shape=list(a.shape)), type_

  def full(self, aval: ShapedArray, value: Any) -> Any:
    """A splat: every element is `value`."""
    physical = physical_aval(aval)
    scalar = self.constant(value, physical.dtype)
    return self.splat(scalar, aval) if physical.shape else scalar

  def splat(self, scalar: Any, aval: ShapedArray) -> Any:
    """An array whose every element is a scalar, once for each scalar and shape."""
    values, key = self._values_here(), (scalar, aval)
    out = values.get(key)
    if out is None:
      out = values[key] = self.broadcast_in_dim(scalar, aval, ())
    return out

  def attrs(self, key: Any, make: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """The attributes that `make` gives for a key, which are remembered."""
    found = self._attribute_sets.get(key)
    if found is None:
      found = self._attribute_sets[key] = make()
    return found

  def broadcast_in_dim(self, x: Any, aval: ShapedArray, dims: Sequence[int]) -> Any:
    """`stablehlo.broadcast_in_dim` to the physical type of `aval`."""
    return self.op1(
        "stablehlo.broadcast_in_dim", self.tensor(aval), (self._settled(x),),
        {"broadcast_dimensions": self.i64s(dims)})

  def reshape(self, x: Any, aval: ShapedArray) -> Any:
    """`stablehlo.reshape` to the type of `aval`."""
    return self.op1("stablehlo.reshape", self.tensor(aval), (self._settled(x),))

  def dynamic_update_slice(
      self, x: Any, update: Any, starts: Sequence[Any], aval: ShapedArray) -> Any:
    """`stablehlo.dynamic_update_slice` to the type of `aval`."""
    out = self.op1(
        "stablehlo.dynamic_update_slice", self.tensor(aval), (x, update, *starts))
    self._updated.add(out)
    return out

  def _settled(self, x: Any) -> Any:
    """A value that is about to get another shape without being moved.

    If it is the result of a dynamic update, XLA computes that in place although it reads
    what it overwrites (openxla/xla#49176): a barrier between the two prevents it.
    """
    if self._updated and x in self._updated:
      return self.op1("stablehlo.optimization_barrier", x.type, (x,))
    return x

  def settled(self, values: Sequence[Any]) -> Sequence[Any]:
    """Values that enter or leave a function, or enter a region: XLA may inline it."""
    return list(map(self._settled, values)) if self._updated else values

  def new_module(self) -> None:
    """Forgets what belongs to one module."""
    self._updated.clear()
    self._values.clear()

  def transpose(self, x: Any, aval: ShapedArray, permutation: Sequence[int]) -> Any:
    """`stablehlo.transpose` to the type of `aval`."""
    return self.op1(
        "stablehlo.transpose", self.tensor(aval), (self._settled(x),),
        {"permutation": self.i64s(permutation)})

  def compare(self, direction: str, x: Any, y: Any, aval: ShapedArray, *,
              total_order: bool = False) -> Any:
    """Compares two values of type `aval`: EQ NE LT LE GT GE."""
    kind = dtypes_kind(aval.dtype, total_order)
    return self.op1(
        "stablehlo.compare", self.tensor_of(aval.shape, np.dtype(bool)), (x, y), {
            "comparison_direction": self.attr(
                f"#stablehlo<comparison_direction {direction}>"),
            "compare_type": self.attr(f"#stablehlo<comparison_type {kind}>")})

  def convert(self, x: Any, source: ShapedArray, target: ShapedArray) -> Any:
    """Converts elements as NumPy's casts do; to bool by comparing with zero."""
    if source.dtype == target.dtype:
      return x
    if target.dtype == np.bool_:
      return self.compare("NE", x, self.full(source, 0), source)
    if source.dtype.kind == "c" and target.dtype.kind != "c":
      part = np.dtype("float32" if source.dtype == np.complex64 else "float64")
      x = self.op1("stablehlo.real", self.tensor_of(source.shape, part), (x,))
      return self.convert(x, ShapedArray(source.shape, part), target)
    return self.op1("stablehlo.convert", self.tensor(target), (x,))

  def select_n(self, which: Any, cases: Sequence[Any], which_aval: ShapedArray,
               aval: ShapedArray) -> Any:
    """Selects among cases by a bool or int32; a scalar `which` selects a whole case."""
    if len(cases) == 1:
      return cases[0]
    physical = physical_aval(aval)
    if which_aval.shape and physical.shape != which_aval.shape:
      grown = ShapedArray(physical.shape, which_aval.dtype)
      which = self.broadcast_in_dim(which, grown, range(which_aval.ndim))
      which_aval = grown
    return self._select(which, list(cases), 0, which_aval, self.tensor(aval))

  def _select(self, which: Any, cases: list[Any], offset: int, which_aval: ShapedArray,
              type_: Any) -> Any:
    if len(cases) == 1:
      return cases[0]
    half = len(cases) // 2
    if which_aval.dtype == np.bool_:
      first = which
      low, high = cases[1], cases[0]
      return self.op1("stablehlo.select", type_, (first, low, high))
    first = self.compare("LT", which, self.full(which_aval, offset + half), which_aval)
    low = self._select(which, cases[:half], offset, which_aval, type_)
    high = self._select(which, cases[half:], offset + half, which_aval, type_)
    return self.op1("stablehlo.select", type_, (first, low, high))

  def reduce(self, x: Any, source: ShapedArray, target: ShapedArray, axes: Sequence[int],
             op: str, init: Any) -> Any:
    """Reduces over axes with one binary operation, starting from `init`."""
    scalar = self.tensor_of((), source.dtype)
    start = self.constant(init, source.dtype)
    return self.region_op(
        "stablehlo.reduce", [self.tensor(target)], (self._settled(x), start),
        {"dimensions": self.i64s(axes)},
        [((scalar, scalar), lambda a, b: [self.op1(op, scalar, (a, b))])]).result


_SUBBYTE = {np.dtype(getattr(ml_dtypes, n)) for n in ("int2", "int4", "uint2", "uint4")
            if hasattr(ml_dtypes, n)}


def dtypes_kind(dtype: Any, total_order: bool = False) -> str:
  """The comparison type of a dtype."""
  if dtypes.issubdtype(dtype, np.inexact):
    return "TOTALORDER" if total_order else "FLOAT"
  if dtypes.issubdtype(dtype, np.signedinteger):
    return "SIGNED"
  return "UNSIGNED"
