"""Types and operations of other libraries, above those of arrays.

A `HiType` is the type of values that consist of arrays; `register_hitype` makes gnomon
know them. Such a value goes through transformations as its arrays, like a pytree. A
`VJPHiPrimitive` is an operation with rules of its own, on arrays and on such values.
"""

from __future__ import annotations

from gnomon.core.ref_type import AbstractRef as AbstractRef
from gnomon.core.ref_values import TransformedRef as TransformedRef
from gnomon.core.structural import instantiate as _instantiate
from gnomon.core.types import AbstractValue as AbstractValue
from gnomon.core.types import ShapedArray as ShapedArray
from gnomon.core.types import aval_method as aval_method
from gnomon.core.types import aval_property as aval_property
from gnomon.core.zero import Zero as Zero
from gnomon.core.zero import is_undefined_primal as is_undefined_primal
from gnomon.experimental.hijax._primitives import HiPrimitive as HiPrimitive
from gnomon.experimental.hijax._primitives import VJPHiPrimitive as VJPHiPrimitive
from gnomon.experimental.hijax._types import AvalMutableQDD as AvalMutableQDD
from gnomon.experimental.hijax._types import AvalQDD as AvalQDD
from gnomon.experimental.hijax._types import HiPspec as HiPspec
from gnomon.experimental.hijax._types import HiType as HiType
from gnomon.experimental.hijax._types import MutableHiType as MutableHiType
from gnomon.experimental.hijax._types import (
  control_flow_allowed_effects as control_flow_allowed_effects,
)
from gnomon.experimental.hijax._types import cur_qdd as cur_qdd
from gnomon.experimental.hijax._types import register_hitype as register_hitype

__all__ = [
    "AbstractRef", "AbstractValue", "AvalMutableQDD", "AvalQDD", "HiPrimitive", "HiPspec",
    "HiType", "MutableHiType", "ShapedArray", "TransformedRef", "VJPHiPrimitive", "Zero",
    "aval_method", "aval_property", "control_flow_allowed_effects", "cur_qdd",
    "instantiate_zeros", "is_undefined_primal", "register_hitype"]


def instantiate_zeros(tangent: object) -> object:
  """The tangent itself, or an array of zeros for a `Zero`."""
  return _instantiate(tangent)
