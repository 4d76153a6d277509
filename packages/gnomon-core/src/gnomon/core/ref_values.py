"""The kinds of mutable reference: with an array, and under a transformation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gnomon.core.ref_transforms import Transforms, result_type
from gnomon.core.ref_type import AbstractRef, RefMethods
from gnomon.core.structural import copy
from gnomon.core.trace import Tracer
from gnomon.core.types import WrappedArray, typeof


class _RefType(type):
  """`isinstance(x, Ref)` holds for references in programs and transformations, too."""

  def __instancecheck__(cls, x: Any) -> bool:
    return type(x) is cls or (
        cls is Ref and isinstance(x, Tracer) and type(x.aval) is AbstractRef)


class Ref(RefMethods, WrappedArray, metaclass=_RefType):
  """A reference to an array, which can be read and written: see `gnomon.new_ref`."""

  __slots__ = ("_array", "aval")
  aval: AbstractRef

  def __init__(self, array: Any, aval: AbstractRef) -> None:
    self._array, self.aval = array, aval

  @property
  def physical(self) -> Any:
    """The array it holds now, for a program to read."""
    array = alive(self)._array
    return array.physical if isinstance(array, WrappedArray) else array

  def with_physical(self, array: Any) -> Ref:
    return Ref(copy(array), self.aval)

  def _update(self, array: Any) -> None:
    """Makes it hold another array, which nothing else may hold."""
    self._array = array

  @property
  def shape(self) -> tuple[int, ...]:
    return self.aval.shape

  @property
  def dtype(self) -> Any:
    return self.aval.dtype

  @property
  def ndim(self) -> int:
    return self.aval.ndim

  @property
  def size(self) -> int:
    return self.aval.size

  @property
  def sharding(self) -> Any:
    """Where the array lives."""
    return self.physical.sharding

  @property
  def format(self) -> Any:
    """The layout of the array, and where it lives."""
    return self.physical.format

  @property
  def committed(self) -> bool:
    """Whether operations must stay where the array is."""
    return bool(self.physical.committed)

  def unsafe_buffer_pointer(self) -> int:
    """The address of the array's memory; a write may change it."""
    return int(self.physical.unsafe_buffer_pointer())

  def block_until_ready(self) -> Ref:
    """Waits until all writes have been computed."""
    self.physical.block_until_ready()
    return self

  def __repr__(self) -> str:
    if self._array is None:
      return f"{self.aval}, freed"
    return repr(self._array).replace("Array(", "Ref(", 1)


class Box(RefMethods, Tracer):
  """A reference made under a transformation: it holds the value that is being traced."""

  __slots__ = ("_content",)
  is_box = True

  def __init__(self, trace: Any, aval: AbstractRef, value: Any) -> None:
    self._trace, self.aval, self._content = trace, aval, value

  def _is_traced_array(self) -> bool:
    return False

  def content(self) -> Any:
    """What it holds."""
    if self._content is None:
      raise freed(self.aval)
    return self._content

  def replace(self, value: Any) -> None:
    """Makes it hold something else, of the same type.

    Raises:
      Exception: the value belongs to a transformation inside that of the reference.
    """
    if isinstance(value, Tracer):
      check_level(self, value, "a set/swap operation")
    self._content = value

  def free(self) -> None:
    self._content = None

  def was_replaced(self, value: Any) -> bool:
    """Whether it holds something else than `value` now."""
    return self._content is not None and self._content is not value

  def origin(self, *, past: bool = False) -> str:
    return "It is a mutable reference." if past else ""


class TransformedRef(RefMethods):
  """A part of a reference, or the same in another form: `ref.at[1:3]`, `ref.T`.

  It is a reference itself, and reads and writes the one that it is of.
  """

  __slots__ = ("aval", "operands", "ref", "transforms")

  def __init__(
      self, ref: Any, transforms: Transforms, operands: Sequence[Any] = ()) -> None:
    self.ref, self.transforms, self.operands = ref, transforms, list(operands)
    part = result_type(
        ref.aval.inner_aval, transforms, [typeof(x) for x in self.operands])
    self.aval: AbstractRef = ref.aval.update(part)

  @property
  def type(self) -> AbstractRef:
    """The type of the part."""
    return self.aval

  @property
  def shape(self) -> tuple[int, ...]:
    return self.aval.shape

  @property
  def dtype(self) -> Any:
    return self.aval.dtype

  @property
  def ndim(self) -> int:
    return self.aval.ndim

  @property
  def size(self) -> int:
    return self.aval.size

  @property
  def is_dynamic_size(self) -> bool:
    """Whether its size is known only when the program runs: never."""
    return False

  @property
  def multiref(self) -> bool:
    """Whether it stands for several references: never."""
    return False

  def __repr__(self) -> str:
    names = iter(["_"] * len(self.operands))
    parts = "".join(t.shown(names) for t in self.transforms)
    return f"TransformedRef({self.ref!r}{parts}: {self.aval})"


def freed(aval: AbstractRef) -> Exception:
  return ValueError(
      f"a reference of type {aval} was used after it had been freed: freeze and free_ref "
      "end its use")


def alive(ref: Ref) -> Ref:
  if ref._array is None:
    raise freed(ref.aval)
  return ref


def check_level(ref: Any, value: Tracer, what: str) -> None:
  """Raises unless a traced value may be stored in a reference."""
  inner: Any = value._trace
  own = ref._trace
  if inner is own or getattr(inner, "axis", None) is getattr(own, "axis", inner):
    return
  outer = inner
  while outer is not None:
    outer = getattr(outer, "parent", None)
    if outer is own:
      raise not_here(ref.aval, hasattr(inner, "axis"), what)


def not_here(aval: AbstractRef, mapped: bool, what: str) -> Exception:
  """The error for a value of a transformation written to a reference outside of it."""
  if mapped:
    return Exception(
        f"performing {what} with vmapped value on an unbatched array reference of type "
        f"{aval}. Move the array reference to be an argument to the vmapped function?")
  return Exception(
      f"performing {what} with a differentiated value on a non-differentiated array "
      f"reference of type {aval}. Move the array reference to be an argument of the "
      "differentiated function, or make it there?")
