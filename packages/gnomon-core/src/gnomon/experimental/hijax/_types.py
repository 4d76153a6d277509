"""Types whose values consist of arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from gnomon.core import effects
from gnomon.core.structural import add_tangents, zeros_like_aval
from gnomon.core.types import AbstractValue, must_define, typeof, typeof_handlers
from gnomon.interpreters._lowering import EffectTypes
from gnomon.tree_util import register_pytree_node

# Effects of operations that may stand in loops and branches; libraries add their own.
control_flow_allowed_effects = EffectTypes((effects.IOEffect, effects.DebugEffect))


class HiType(AbstractValue):
  """The type of values that consist of arrays. Equal types must compare equal.

  A subclass defines `lo_ty`, `lower_val` and `raise_val`; `to_tangent_aval` if values
  have tangents, which must consist of the tangents of its arrays.
  """

  is_high = True
  has_qdd = False

  def lo_ty(self) -> list[AbstractValue]:
    """The types of the arrays that a value consists of."""
    raise must_define(self, "lo_ty")

  def lower_val(self, hi_val: Any) -> list[Any]:
    """The arrays that a value consists of."""
    raise must_define(self, "lower_val")

  def raise_val(self, *lo_vals: Any) -> Any:
    """The value that consists of some arrays."""
    raise must_define(self, "raise_val")

  def to_tangent_aval(self) -> AbstractValue:
    """The type of tangents."""
    raise must_define(self, "to_tangent_aval")

  def to_ct_aval(self) -> AbstractValue:
    """The type of cotangents: that of tangents."""
    return self.to_tangent_aval()

  def vspace_zero(self) -> Any:
    """The value whose arrays are zeros."""
    return self.raise_val(*map(zeros_like_aval, self.lo_ty()))

  def vspace_add(self, x: Any, y: Any) -> Any:
    """The sum of two values: of their arrays."""
    return self.raise_val(*map(add_tangents, self.lower_val(x), self.lower_val(y)))

  def inc_rank(self, size: int, spec: Any) -> AbstractValue:
    """The type of values stacked along a new axis, placed by `spec`."""
    raise must_define(self, "inc_rank")

  def dec_rank(self, size: int, spec: Any) -> AbstractValue:
    """The type of an element along the axis `spec`."""
    raise must_define(self, "dec_rank")

  def leading_axis_spec(self) -> Any:
    """What places the mapped axis of every array in front."""
    return 0

  def nospec(self, mesh: Any, check_vma: bool, all_names: Any) -> Any:
    """What says that no array is split over devices."""
    raise must_define(self, "nospec")

  def shard(self, mesh: Any, manual_axes: Any, check_vma: bool, spec: Any) -> Any:
    """The type of a part, in a program over several devices."""
    raise must_define(self, "shard")

  def unshard(self, mesh: Any, check_vma: bool, spec: Any) -> Any:
    """The type of the whole, in a program over several devices."""
    raise must_define(self, "unshard")


class MutableHiType(AbstractValue):
  """The type of values that change, with a part, `type_state`, that changes too.

  A subclass defines how such a value is read from arrays and written back.
  """

  is_high = True
  has_qdd = True
  type_state: Any = None

  def is_writer(self, *args: Any) -> bool:
    """Whether an operation on a value of this type may write it."""
    return True

  def lo_ty(self) -> list[AbstractValue]:
    """The types of the arrays, for a type that does not change."""
    raise TypeError(
        f"values of type {self} consist of other arrays at other times: ask lo_ty_qdd")

  def lo_ty_qdd(self, state: Any, /) -> list[AbstractValue]:
    """The types of the arrays, in a state."""
    raise must_define(self, "lo_ty_qdd")

  def new_from_loval(self, state: Any, /, *vals: Any) -> Any:
    """A value in a state, that consists of some arrays."""
    raise must_define(self, "new_from_loval")

  def read_loval(self, state: Any, val: Any, /) -> list[Any]:
    """The arrays that a value consists of, in a state."""
    raise must_define(self, "read_loval")

  def read_loval_in(self, state: Any, val: Any, /) -> list[Any]:
    """The arrays of a value that is an argument."""
    return self.read_loval(state, val)

  def read_loval_out(self, qdd: Any, hi: Any, /) -> list[Any]:
    """The arrays of a value that is a result."""
    return self.read_loval(qdd, hi)

  def update_from_loval(self, state: Any, val: Any, /, *lo_vals: Any) -> None:
    """Gives a value new arrays, in a state."""
    raise must_define(self, "update_from_loval")

  def update_from_loval2(self, state: Any, val: Any, lo_vals_ft: Any, /) -> None:
    """The same, the arrays being a sequence."""
    self.update_from_loval(state, val, *lo_vals_ft)

  def to_tangent_aval(self) -> AbstractValue:
    """The type of tangents."""
    raise must_define(self, "to_tangent_aval")

  def to_ct_aval(self) -> AbstractValue:
    """The type of cotangents: that of tangents."""
    return self.to_tangent_aval()


class HiPspec:
  """How the arrays of a value are split over devices. A subclass defines `to_lo`."""

  def to_lo(self) -> Sequence[Any]:
    """A spec for each array."""
    raise must_define(self, "to_lo")

  def to_tangent_spec(self) -> HiPspec:
    """The spec of tangents: the same."""
    return self

  def to_ct_spec(self) -> HiPspec:
    """The spec of cotangents: the same."""
    return self


class AvalQDD(NamedTuple):
  """A type and the state of its part that changes."""

  aval: Any
  qdd: Any

  @property
  def has_qdd(self) -> bool:
    return True

  @property
  def is_high(self) -> bool:
    return bool(self.aval.is_high)

  @property
  def is_writer(self) -> Any:
    return self.aval.is_writer

  def lo_ty(self) -> list[AbstractValue]:
    """The types of the arrays, in this state."""
    return self.aval.lo_ty_qdd(self.qdd)  # type: ignore[no-any-return]

  def new_from_loval(self, *lovals: Any) -> Any:
    """A value in this state."""
    return self.aval.new_from_loval(self.qdd, *lovals)

  def read_loval(self, val: Any) -> list[Any]:
    """The arrays of a value, in this state."""
    return self.aval.read_loval(self.qdd, val)  # type: ignore[no-any-return]

  def read_loval_in(self, val: Any) -> list[Any]:
    """The arrays of a value that is an argument."""
    return self.aval.read_loval_in(self.qdd, val)  # type: ignore[no-any-return]

  def read_loval_out(self, val: Any) -> list[Any]:
    """The arrays of a value that is a result."""
    return self.aval.read_loval_out(self.qdd, val)  # type: ignore[no-any-return]

  def to_tangent_aval(self) -> AvalQDD:
    """The type of tangents, and its state."""
    return AvalQDD(self.aval.to_tangent_aval(), self.qdd.to_tangent_qdd())


class AvalMutableQDD(NamedTuple):
  """A type, and a holder of the state of its part that changes."""

  aval: Any
  mutable_qdd: Any


def cur_qdd(x: Any) -> Any:
  """The state of the part of its type that changes, of a value.

  Raises:
    TypeError: its type has no such part.
  """
  found = getattr(x, "cur_qdd", None)
  if found is None:
    raise TypeError(f"the type of {x!r}, of {type(x)}, has no part that changes")
  return found()


def register_hitype(val_cls: type, typeof_fn: Callable[[Any], HiType]) -> None:
  """Makes gnomon know values of a class: `typeof_fn` gives the `HiType` of one.

  They are pytrees of their arrays from then on, and go through every transformation.

  Args:
    val_cls: the class.
    typeof_fn: the type of a value, whose arrays may be traced.
  """
  typeof_handlers[val_cls] = typeof_fn
  register_pytree_node(val_cls, _flatten, _unflatten)


def _flatten(x: Any) -> tuple[list[Any], Any]:
  aval = typeof(x)
  return aval.lower_val(x), aval


def _unflatten(aval: Any, arrays: Any) -> Any:
  return aval.raise_val(*arrays)
