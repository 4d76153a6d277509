"""Meshes: devices in a grid whose axes have names, and the mesh in force."""

from __future__ import annotations

import enum
import math
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from typing import Any, ClassVar, Self
from weakref import WeakValueDictionary

import numpy as np

from gnomon import _config
from gnomon.runtime.jaxlib import clients


class AxisType(enum.Enum):
  """How arrays are divided over an axis of a mesh.

  `Auto`: the compiler decides. `Explicit`: the type of an array says so. `Manual`: the
  program sees one part at a time.
  """

  Auto = enum.auto()
  Explicit = enum.auto()
  Manual = enum.auto()

  def __repr__(self) -> str:
    return self.name


class AbstractDevice:
  """What is known of the devices of a mesh without devices: their kind.

  Args:
    device_kind: the name of the model.
    num_cores: the number of cores of each, where a device has several.
    platform: `"cpu"`, `"gpu"`, ….
  """

  __slots__ = ("device_kind", "num_cores", "platform")

  def __init__(self, device_kind: str, num_cores: int | None, platform: str) -> None:
    self.device_kind, self.num_cores, self.platform = device_kind, num_cores, platform

  def _key(self) -> tuple[Any, ...]:
    return (self.device_kind, self.num_cores, self.platform)

  def __eq__(self, other: object) -> bool:
    return isinstance(other, AbstractDevice) and self._key() == other._key()

  def __hash__(self) -> int:
    return hash(self._key())

  def __repr__(self) -> str:
    return (
        f"AbstractDevice(device_kind={self.device_kind}, num_cores={self.num_cores}, "
        f"platform={self.platform})")


class _Axes:
  """What meshes with and without devices share: named axes of known sizes."""

  __slots__ = ("__weakref__", "_hash", "axis_names", "axis_sizes", "axis_types")

  _hash: int
  axis_names: tuple[Any, ...]
  axis_sizes: tuple[int, ...]
  axis_types: tuple[AxisType, ...]

  @property
  def shape(self) -> OrderedDict[Any, int]:
    """The size of each axis, by name."""
    return OrderedDict(self.shape_tuple)

  @property
  def shape_tuple(self) -> tuple[tuple[Any, int], ...]:
    """Pairs of an axis's name and size."""
    return tuple(zip(self.axis_names, self.axis_sizes, strict=True))

  @property
  def size(self) -> int:
    """The number of devices; 0 for the empty mesh."""
    return math.prod(self.axis_sizes) if self.axis_sizes else 0

  @property
  def empty(self) -> bool:
    """Whether there is no device in it."""
    return self.size == 0

  def _of_type(self, which: AxisType) -> tuple[Any, ...]:
    return tuple([n for n, t in zip(self.axis_names, self.axis_types) if t is which])

  @property
  def auto_axes(self) -> tuple[Any, ...]:
    """The names of the axes that the compiler divides arrays over."""
    return self._of_type(AxisType.Auto)

  @property
  def explicit_axes(self) -> tuple[Any, ...]:
    """The names of the axes that types of arrays speak of."""
    return self._of_type(AxisType.Explicit)

  @property
  def manual_axes(self) -> tuple[Any, ...]:
    """The names of the axes of which the program sees one part at a time."""
    return self._of_type(AxisType.Manual)

  @property
  def are_all_axes_auto(self) -> bool:
    """Whether every axis is `Auto`."""
    return all(t is AxisType.Auto for t in self.axis_types)

  @property
  def are_all_axes_explicit(self) -> bool:
    """Whether every axis is `Explicit`."""
    return all(t is AxisType.Explicit for t in self.axis_types)

  @property
  def are_all_axes_manual(self) -> bool:
    """Whether every axis is `Manual`."""
    return all(t is AxisType.Manual for t in self.axis_types)

  @property
  def _name_to_type(self) -> dict[Any, AxisType]:
    return dict(zip(self.axis_names, self.axis_types, strict=True))

  def __hash__(self) -> int:
    return self._hash

  def _text(self) -> str:
    sizes = "".join(f"{n!r}: {k}, " for n, k in self.shape_tuple)
    return f"{sizes}axis_types={_tuple(self.axis_types)}"


def _tuple(types: Sequence[AxisType]) -> str:
  return str(tuple(types))


def _types(
    what: str, names: Sequence[Any], types: Any, default: AxisType,
) -> tuple[AxisType, ...]:
  if types is None:
    return (default,) * len(names)
  types = types if isinstance(types, tuple) else (types,)
  if not all(isinstance(t, AxisType) for t in types):
    raise TypeError(
        f"axis_types of a {what} must be of type AxisType, one an axis, got {types}")
  if len(types) != len(names):
    raise ValueError(
        f"Number of axis names should match the number of axis_types of a {what}: "
        f"axis_names is {tuple(names)}, axis_types is {types}")
  found: tuple[AxisType, ...] = types
  return found


def _names(what: str, given: Any) -> tuple[Any, ...]:
  names: tuple[Any, ...] = (given,) if isinstance(given, str) else tuple(given)
  if None in names:
    raise ValueError(f"{what} axis names cannot be None. Got {names}")
  if len(set(names)) < len(names):
    raise ValueError(f"the axes of a {what} need different names, got {names}")
  return names


class AbstractMesh(_Axes):
  """A mesh of which only the shape is known: enough for types, and to lower a program.

  Args:
    axis_sizes: the number of devices along each axis.
    axis_names: the name of each axis.
    axis_types: an `AxisType` for each axis; all `Auto` by default.
    abstract_device: what is known of the devices.

  Equal arguments give the same object.

  >>> import gnomon
  >>> gnomon.sharding.AbstractMesh((4, 2), ("x", "y"))
  AbstractMesh('x': 4, 'y': 2, axis_types=(Auto, Auto))

  Raises:
    ValueError: numbers of sizes, names and types differ, or a name comes twice.
  """

  __slots__ = ("abstract_device",)
  _made: ClassVar[Any] = WeakValueDictionary()

  abstract_device: AbstractDevice | None

  def __new__(
      cls, axis_sizes: tuple[int, ...], axis_names: tuple[str, ...],
      axis_types: AxisType | tuple[AxisType, ...] | None = None, *,
      abstract_device: AbstractDevice | None = None,
  ) -> Self:
    names = _names("AbstractMesh", axis_names)
    sizes = (axis_sizes,) if isinstance(axis_sizes, int) else tuple(axis_sizes)
    if len(sizes) != len(names):
      raise ValueError(
          f"an AbstractMesh needs a name for each axis: axis_sizes is {sizes}, "
          f"axis_names is {names}")
    types = _types("AbstractMesh", names, axis_types, AxisType.Auto)
    key = (sizes, names, types, abstract_device)
    found: Self | None = cls._made.get(key)
    if found is None:
      found = super().__new__(cls)
      found.axis_sizes, found.axis_names, found.axis_types = sizes, names, types
      found.abstract_device = abstract_device
      found._hash = hash(key)
      one: Self = cls._made.setdefault(key, found)  # another thread may have been first
      return one
    return found

  def __reduce__(self) -> Any:
    return (_abstract, (
        self.axis_sizes, self.axis_names, self.axis_types, self.abstract_device))

  @property
  def abstract_mesh(self) -> AbstractMesh:
    """Itself."""
    return self

  @property
  def _internal_device_list(self) -> None:
    return None  # the runtime asks

  def update(
      self, axis_sizes: Any = None, axis_names: Any = None, axis_types: Any = None,
      **other: Any,
  ) -> AbstractMesh:
    """A mesh with other sizes, names, types or `abstract_device`."""
    return AbstractMesh(
        self.axis_sizes if axis_sizes is None else axis_sizes,
        self.axis_names if axis_names is None else axis_names,
        self.axis_types if axis_types is None else axis_types,
        abstract_device=other.pop("abstract_device", self.abstract_device), **other)

  def update_axis_types(self, name_to_type: Mapping[Any, AxisType]) -> AbstractMesh:
    """A mesh in which the axes that are named have other types."""
    return self.update(axis_types=tuple([
        name_to_type.get(n, t) for n, t in zip(self.axis_names, self.axis_types)]))

  def _without(self, what: str) -> Any:
    raise ValueError(
        f"an AbstractMesh has no {what}: only its shape is known. Make a Mesh of devices")

  @property
  def devices(self) -> Any:
    """An abstract mesh has none; raises ValueError."""
    return self._without("devices")

  @property
  def device_ids(self) -> Any:
    """An abstract mesh has none; raises ValueError."""
    return self._without("device_ids")

  @property
  def local_devices(self) -> Any:
    """An abstract mesh has none; raises ValueError."""
    return self._without("local_devices")

  @property
  def local_mesh(self) -> Any:
    """An abstract mesh has none; raises ValueError."""
    return self._without("local_mesh")

  @property
  def is_multi_process(self) -> Any:
    """Not known of an abstract mesh; raises ValueError."""
    return self._without("is_multi_process")

  def __repr__(self) -> str:
    if not self.axis_names:
      return "AbstractMesh((), axis_types=())"
    d = self.abstract_device
    known = "" if d is None else (
        f", device_kind={d.device_kind}, num_cores={d.num_cores}, platform={d.platform}")
    return f"AbstractMesh({self._text()}{known})"


def _abstract(sizes: Any, names: Any, types: Any, device: Any) -> AbstractMesh:
  return AbstractMesh(sizes, names, types, abstract_device=device)


class Mesh(_Axes):
  """Devices in a grid whose axes have names.

  Args:
    devices: an array (or nested list) of devices, one dimension an axis.
    axis_names: the name of each axis; one name for a single axis.
    axis_types: an `AxisType` for each axis; all `Auto` by default.

  Equal arguments give the same object.

  >>> import gnomon
  >>> print(gnomon.sharding.Mesh(gnomon.devices()[:1], ("x",)))
  Mesh('x': 1, axis_types=(Auto,))

  Raises:
    ValueError: the number of dimensions of `devices` is not that of the names, or of
      the types; or a name comes twice, or is None.
  """

  __slots__ = ("_device_list", "_devices")
  _made: ClassVar[Any] = WeakValueDictionary()

  _devices: Any
  _device_list: Any

  def __new__(
      cls, devices: Any, axis_names: Any, axis_types: tuple[AxisType, ...] | None = None,
  ) -> Self:
    grid = np.array(devices, dtype=object)
    if grid.ndim == 0 and grid[()] is None:
      grid = np.empty(0, object)  # nobody has filled the array
      return cls._create(grid, (), (), ())
    names = _names("Mesh", axis_names)
    if grid.ndim != len(names):
      raise ValueError(
          f"a Mesh needs a name for each dimension of its devices: devices has the shape "
          f"{grid.shape}, axis_names is {names}")
    types = _types("Mesh", names, axis_types, AxisType.Auto)
    return cls._create(grid, grid.shape, names, types)

  @classmethod
  def _create(
      cls, grid: Any, sizes: tuple[int, ...], names: tuple[Any, ...],
      types: tuple[AxisType, ...],
  ) -> Self:
    key = (tuple(grid.flat), sizes, names, types)
    found: Self | None = cls._made.get(key)
    if found is None:
      found = super().__new__(cls)
      grid.flags.writeable = False
      found.axis_sizes, found.axis_names, found.axis_types = sizes, names, types
      found._devices = grid
      found._device_list = clients.DeviceList(tuple(grid.flat)) if grid.size else None
      found._hash = hash(key)
      one: Self = cls._made.setdefault(key, found)  # another thread may have been first
      return one
    return found

  def __deepcopy__(self, memo: Any) -> Mesh:
    return self

  @property
  def devices(self) -> Any:
    """The devices, in an array of the mesh's shape."""
    return self._devices

  @property
  def size(self) -> int:
    """The number of devices."""
    return int(self._devices.size)

  @property
  def is_scalar(self) -> bool:
    """Whether it is a single device, without axes."""
    return bool(self._devices.ndim == 0)

  @property
  def device_ids(self) -> Any:
    """The numbers of the devices, in an array of the mesh's shape."""
    ids = [d.id for d in self._devices.flat]
    return np.array(ids, np.int64).reshape(self.axis_sizes)

  @property
  def local_devices(self) -> list[Any]:
    """The devices of this process."""
    here = self._process()
    return [d for d in self._devices.flat if d.process_index == here]

  def _process(self) -> int:
    return int(self._devices.flat[0].client.process_index()) if self.size else 0

  @property
  def is_multi_process(self) -> bool:
    """Whether devices of other processes are in it."""
    return self.size != len(self.local_devices)

  @property
  def local_mesh(self) -> Mesh:
    """The part of the mesh with the devices of this process.

    Raises:
      ValueError: these are not a rectangular part of the grid.
    """
    here = self._process()
    local = np.vectorize(lambda d: d.process_index == here, otypes=[bool])(self._devices)
    part = tuple(
        slice(int(where.min()), int(where.max()) + 1) for where in np.nonzero(local))
    if not local[part].all():
      raise ValueError(
          f"the devices of process {here} are not a rectangular part of {self}")
    return Mesh(self._devices[part], self.axis_names, self.axis_types)

  @property
  def abstract_mesh(self) -> AbstractMesh:
    """Its shape alone, with the kind of the devices."""
    if not self.size:
      return EMPTY_ABSTRACT
    first = self._devices.flat[0]
    return AbstractMesh(
        self.axis_sizes, self.axis_names, self.axis_types,
        abstract_device=AbstractDevice(
            first.device_kind, getattr(first, "num_cores", None),
            platform=first.platform))

  @property
  def _internal_device_list(self) -> Any:
    return self._device_list

  @property
  def _flat_devices_tuple(self) -> tuple[Any, ...]:
    return tuple(self._devices.flat)

  def update(
      self, devices: Any = None, axis_names: Any = None, axis_types: Any = None,
  ) -> Mesh:
    """A mesh with other devices, names or types."""
    return Mesh(
        self._devices if devices is None else devices,
        self.axis_names if axis_names is None else axis_names,
        self.axis_types if axis_types is None else axis_types)

  def __enter__(self) -> Self:
    token, traced = _mesh.set(self), _traced(("with", self, _abstract_mesh.get()))
    traced.__enter__()
    _entered.set((*_entered.get(), (token, traced)))
    return self

  def __exit__(self, *_: object) -> None:
    *rest, (token, traced) = _entered.get()
    _entered.set(tuple(rest))
    traced.__exit__(None, None, None)
    _mesh.reset(token)

  def __str__(self) -> str:
    return "Mesh()" if not self.size else f"Mesh({self._text()})"

  def __repr__(self) -> str:
    return "Mesh()" if not self.size else (
        f"Mesh(axis_sizes={self.axis_sizes}, axis_names={self.axis_names}, "
        f"axis_types={_tuple(self.axis_types)})")


EMPTY = Mesh._create(np.empty(0, object), (), (), ())
EMPTY_ABSTRACT = AbstractMesh((), ())

_mesh: ContextVar[Mesh] = ContextVar("gnomon.mesh", default=EMPTY)
_abstract_mesh: ContextVar[AbstractMesh | None] = ContextVar(
    "gnomon.abstract_mesh", default=None)
_entered: ContextVar[tuple[Any, ...]] = ContextVar("gnomon.entered", default=())


def current_mesh() -> Mesh:
  """The mesh in force; the empty one if none is."""
  return _mesh.get()


def placing_mesh() -> Mesh:
  """The mesh in force if it was put there with `set_mesh`; else the empty one.

  Programs then run on its devices. One in force by `with mesh:`, the older way, only
  tells what a PartitionSpec means.
  """
  return EMPTY if _entered.get() else _mesh.get()


# What programs do may depend on the mesh in force: caches of programs tell them apart.
_traced = _config.context_value("mesh_in_force", None)


def mesh_like(shape: AbstractMesh) -> Mesh | None:
  """The mesh in force if it has this shape, or else the only mesh that has it."""
  here = _mesh.get()
  if here.shape_tuple == shape.shape_tuple:
    return here
  found = [m for m in list(Mesh._made.values()) if m.shape_tuple == shape.shape_tuple]
  same = [m for m in found if m.axis_types == shape.axis_types]
  return same[0] if len(same) == 1 else found[0] if len(found) == 1 else None


def current_abstract_mesh() -> AbstractMesh:
  """The shape of the mesh in force; the empty one if none is."""
  found = _abstract_mesh.get()
  return _mesh.get().abstract_mesh if found is None else found


class set_mesh:
  """Puts a mesh in force, from now on or inside a `with` block.

  Args:
    mesh: a `Mesh`; None for none.

  >>> import gnomon
  >>> mesh = gnomon.make_mesh((1,), ("x",))
  >>> with gnomon.set_mesh(mesh):
  ...   print(gnomon.sharding.get_mesh())
  Mesh('x': 1, axis_types=(Explicit,))

  Raises:
    ValueError: `mesh` is not a Mesh.
  """

  __slots__ = ("_abstract_token", "_entered", "_token", "_traced")

  def __init__(self, mesh: Mesh | None) -> None:
    if mesh is not None and not isinstance(mesh, Mesh):
      raise ValueError(
          f"set_mesh takes a gnomon.sharding.Mesh, got {mesh!r} of type "
          f"{type(mesh).__name__}")
    if mesh is not None and mesh.manual_axes:
      raise ValueError(
          f"set_mesh takes a mesh whose axes are Auto or Explicit; {mesh} contains "
          "manual axes, which only the inside of a shard_map has")
    self._entered = _entered.set(())
    self._token = _mesh.set(EMPTY if mesh is None else mesh)
    self._abstract_token = _abstract_mesh.set(None)
    self._traced = _traced(None if mesh is None else (mesh, None))
    self._traced.__enter__()

  def __enter__(self) -> None:
    return None

  def __exit__(self, *_: object) -> None:
    self._traced.__exit__(None, None, None)
    _mesh.reset(self._token)
    _entered.reset(self._entered)
    _abstract_mesh.reset(self._abstract_token)


class use_abstract_mesh:
  """Puts the shape of a mesh in force inside a `with` block, for tracing.

  Args:
    mesh: an `AbstractMesh`.

  Raises:
    ValueError: `mesh` is not an AbstractMesh.
  """

  __slots__ = ("_mesh", "_tokens")

  def __init__(self, mesh: AbstractMesh) -> None:
    if not isinstance(mesh, AbstractMesh):
      raise ValueError(  # noqa: TRY004 -- as set_mesh
          f"use_abstract_mesh takes a gnomon.sharding.AbstractMesh, got {mesh!r} of type "
          f"{type(mesh).__name__}")
    self._mesh = mesh
    self._tokens: list[Any] = []

  def __enter__(self) -> None:
    traced = _traced((_mesh.get(), self._mesh))
    traced.__enter__()
    self._tokens.append((_abstract_mesh.set(self._mesh), traced))

  def __exit__(self, *_: object) -> None:
    token, traced = self._tokens.pop()
    traced.__exit__(None, None, None)
    _abstract_mesh.reset(token)
