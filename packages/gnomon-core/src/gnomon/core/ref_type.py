"""The type of mutable references, and what all kinds of reference have."""

from __future__ import annotations

from typing import Any

from gnomon.core import dtypes
from gnomon.core.types import AbstractValue, ShapedArray


class AbstractRef(AbstractValue):
  """The type of a reference to an array of type `inner_aval`; equal types are one object.

  `memory_space` is where the array lives, for kernels. `kind` says how the reference is
  treated: `"no_grad"` in it keeps derivatives away, `"no_remat"` keeps `checkpoint` from
  reading and writing it a second time.
  """

  __slots__ = ("inner_aval", "kind", "memory_space")

  inner_aval: Any
  memory_space: Any
  kind: str | None

  def __new__(  # noqa: PYI034 -- equal types are one object
      cls, inner_aval: Any, memory_space: Any = None,
      kind: str | None = None) -> AbstractRef:
    key = (inner_aval, memory_space, kind)
    found = _interned.get(key)
    if found is None:
      found = _interned[key] = super().__new__(cls)
      found.inner_aval, found.memory_space, found.kind = key
    return found

  def __init__(self, *_: Any, **__: Any) -> None:
    pass

  def __reduce__(self) -> Any:
    return (AbstractRef, (self.inner_aval, self.memory_space, self.kind))

  def __repr__(self) -> str:
    return self.str_short()

  def str_short(self, short_dtypes: bool = False, mesh_axis_types: bool = False) -> str:
    """`Ref{float32[3]}`, or `Ref{f32[3]}` with short dtypes."""
    del mesh_axis_types
    space = f"<{self.memory_space}>" if self.memory_space is not None else ""
    return f"Ref{space}{{{self.inner_aval.str_short(short_dtypes=short_dtypes)}}}"

  @property
  def shape(self) -> tuple[int, ...]:
    return self.inner_aval.shape  # type: ignore[no-any-return]

  @property
  def dtype(self) -> Any:
    return self.inner_aval.dtype

  @property
  def ndim(self) -> int:
    return len(self.inner_aval.shape)

  @property
  def size(self) -> int:
    return self.inner_aval.size  # type: ignore[no-any-return]

  @property
  def weak_type(self) -> bool:
    return self.inner_aval.weak_type  # type: ignore[no-any-return]

  @property
  def sharding(self) -> Any:
    return self.inner_aval.sharding

  def __len__(self) -> int:
    return len(self.inner_aval)

  @property
  def manual_axis_type(self) -> frozenset[str]:
    """The mesh axes over which the array varies."""
    return self.inner_aval.manual_axis_type  # type: ignore[no-any-return]

  mat = manual_axis_type

  def update_manual_axis_type(self, mat: Any) -> AbstractRef:
    """The type whose array varies over other mesh axes."""
    return self.update(self.inner_aval.update_manual_axis_type(mat))

  def lower_val(self, ref: Any) -> list[Any]:
    """The reference itself: it consists of nothing else."""
    return [ref]

  def update(  # type: ignore[override]  # of other types other parts change
      self, inner_aval: Any = None, memory_space: Any = None,
      kind: str | None = None) -> AbstractRef:
    """The type with some parts changed."""
    return AbstractRef(
        self.inner_aval if inner_aval is None else inner_aval,
        self.memory_space if memory_space is None else memory_space,
        self.kind if kind is None else kind)

  # What references of a type have: methods, to be called with one.

  at = property(lambda self: RefMethods.at)
  T = property(lambda self: RefMethods.T)
  get = property(lambda self: RefMethods.get)
  set = property(lambda self: RefMethods.set)
  swap = property(lambda self: RefMethods.swap)
  addupdate = property(lambda self: RefMethods.addupdate)
  reshape = property(lambda self: RefMethods.reshape)
  transpose = property(lambda self: RefMethods.transpose)
  bitcast = property(lambda self: RefMethods.bitcast)

  def update_weak_type(self, weak_type: bool) -> AbstractRef:
    """The type whose array is weakly typed, or not."""
    return self.update(self.inner_aval.update(weak_type=weak_type))

  def strip_weak_type(self) -> AbstractRef:
    """The type itself: what a reference holds keeps its type."""
    return self

  def to_tangent_aval(self) -> ShapedArray:
    """The type of tangents: references have none of their own, their contents do."""
    return ShapedArray(self.shape, dtypes.float0)

  to_ct_aval = to_cotangent_aval = to_tangent_aval


_interned: dict[Any, AbstractRef] = {}


def row_aval(aval: Any) -> Any:
  """The type of a slice along the leading axis, of an array or a reference."""
  inner = aval.inner_aval if type(aval) is AbstractRef else aval
  row = ShapedArray(inner.shape[1:], inner.dtype, inner.weak_type)
  return aval.update(row) if type(aval) is AbstractRef else row


class RefMethods:
  """What references can do: those with an array, in a program, under a transformation."""

  __slots__ = ()

  aval: Any

  def __getitem__(self, idx: Any) -> Any:
    return _ops().get(self, idx)

  def __setitem__(self, idx: Any, value: Any) -> None:
    _ops().set(self, idx, value)

  def __iter__(self) -> Any:
    raise TypeError(f"a reference, {self.aval}, cannot be iterated over: iterate over "
                    "what it holds, ref[...]")

  def __len__(self) -> int:
    return len(self.aval)

  def get(self, idx: Any = ()) -> Any:
    """What the reference holds at an index."""
    return _ops().get(self, idx)

  def set(self, value: Any, idx: Any = ()) -> None:
    """Writes at an index."""
    _ops().set(self, idx, value)

  def swap(self, value: Any, idx: Any = ()) -> Any:
    """Writes at an index; returns what was there."""
    return _ops().swap(self, idx, value)

  def addupdate(self, x: Any, idx: Any = ()) -> None:
    """Adds at an index."""
    _ops().addupdate(self, idx, x)

  @property
  def at(self) -> Any:
    """Parts: `ref.at[1:3]` is a reference to a part, for reading and writing."""
    return At(self)

  def reshape(self, *shape: Any) -> Any:
    """The reference with its elements in another shape."""
    return _form(self, "reshaped", shape)

  def transpose(self, permutation: Any) -> Any:
    """The reference with its dimensions in another order."""
    return _form(self, "transposed", permutation)

  @property
  def T(self) -> Any:
    """The reference with its dimensions in reverse order."""
    return self.transpose(range(self.aval.ndim)[::-1])

  def bitcast(self, dtype: Any) -> Any:
    """The reference with its bits as elements of another dtype, of the same size."""
    return _form(self, "bitcast", dtype)


class At:
  """`ref.at`, which makes references to parts."""

  __slots__ = ("_ref",)

  def __init__(self, ref: Any) -> None:
    self._ref = ref

  def __getitem__(self, idx: Any) -> Any:
    return _ops().TransformedRef(*_ops().resolve(self._ref, idx, "at"))


def _form(ref: Any, name: str, how: Any) -> Any:
  from gnomon.core import ref_transforms  # loaded when a program has references

  transform = getattr(ref_transforms, name)(ref.aval, how)
  inner = getattr(ref, "ref", ref)
  return _ops().TransformedRef(
      inner, (*getattr(ref, "transforms", ()), transform), getattr(ref, "operands", ()))


def _ops() -> Any:
  from gnomon.core import refs  # loaded when a program has references

  return refs
