"""Python functions that run where the processors beside some devices are.

The functions here run in this process, so that the devices must be ones it reaches.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gnomon.api import tools
from gnomon.runtime import backends
from gnomon.sharding import Mesh
from gnomon.tree_util import tree_leaves, tree_map

__all__ = ["colocated_cpu_devices", "colocated_python", "colocated_python_class"]


def _beside(device: Any) -> Any:
  """The processor that goes with a device: itself, or one of the same process."""
  if device.platform == "cpu":
    return device
  process = device.process_index
  near = [d for d in backends.devices("cpu") if d.process_index == process]
  alike = [d for d in backends.devices(device.platform) if d.process_index == process]
  return near[alike.index(device) % len(near)]


def colocated_cpu_devices(devices_or_mesh: Any) -> Any:
  """The processors beside some devices, in the same order.

  Args:
    devices_or_mesh: a sequence of devices, or a mesh. A processor stands for itself.

  Returns:
    A list of devices, or a mesh of the same form.

  >>> import gnomon
  >>> colocated_cpu_devices(gnomon.devices("cpu")) == gnomon.devices("cpu")
  True
  """
  if isinstance(devices_or_mesh, Mesh):
    mesh = devices_or_mesh
    grid = np.vectorize(_beside, otypes=[object])(mesh.devices)
    return Mesh(grid, mesh.axis_names, axis_types=mesh.axis_types)
  return [_beside(d) for d in devices_or_mesh]


def _devices_of(values: Any) -> list[Any]:
  """The devices of the first array, or of its type, among some values."""
  for x in tree_leaves(values):
    sharding = getattr(x, "sharding", None)
    if sharding is not None:
      return list(sharding.device_set)
  return []


def _check_reached(name: str, devices: Sequence[Any]) -> None:
  here = backends.process_index()
  for d in devices:
    if d.platform != "cpu" or d.process_index != here:
      raise ValueError(
          f"colocated_python runs {name} on processors of this process, got {d} of "
          f"process {d.process_index}: move the arguments there first (device_put)")


def colocated_python(fun: Callable[..., Any]) -> Any:
  """A function that runs on the processors where its arguments are.

  The result has a method `specialize(in_specs=None, out_specs_fn=None, devices=None)`,
  which gives such a function for arguments of known types (`ShapeDtypeStruct` with
  shardings, as `(args, kwargs)`), with results of the types that `out_specs_fn` computes
  from those of the arguments, on the devices named.

  Raises:
    ValueError: when called, if there is no argument and no devices are named, if a device
      is none of this process's processors, or if types are not those named.

  >>> import gnomon
  >>> f = colocated_python(lambda x: x + 1)
  >>> float(f(gnomon.numpy.ones(())))
  2.0
  >>> g = colocated_python(lambda: 3).specialize(devices=gnomon.devices("cpu"))
  >>> g()
  3
  """
  return _colocated(fun, None, None, None)


def _colocated(fun: Any, in_specs: Any, out_specs_fn: Any, devices: Any) -> Any:
  name = tools.function_name(fun)

  @tools.wraps(fun)
  def call(*args: Any, **kwargs: Any) -> Any:
    places = devices or _devices_of((args, kwargs))
    if not places:
      raise ValueError(
          f"no devices found: {name} has no arrays as arguments, so that "
          "specialize(devices=...) must name them")
    _check_reached(name, places)
    if in_specs is not None:
      _check_types(f"the arguments of {name}", in_specs, (args, kwargs))
    out = fun(*args, **kwargs)
    if out_specs_fn is not None:
      _check_types(f"the result of {name}", out_specs_fn(*args, **kwargs), out)
    return out

  def specialize(in_specs: Any = in_specs, out_specs_fn: Any = out_specs_fn,
                 devices: Any = devices) -> Any:
    return _colocated(fun, in_specs, out_specs_fn, devices)

  call.specialize = specialize  # type: ignore[attr-defined]
  return call


def _check_types(what: str, specs: Any, values: Any) -> None:
  def check(spec: Any, x: Any) -> None:
    if (spec.shape, spec.dtype) != (x.shape, x.dtype):
      raise ValueError(
          f"{what} should be {spec.dtype}{list(spec.shape)}, got {x.dtype}"
          f"{list(x.shape)}")

  tree_map(check, specs, values)


def colocated_python_class(cls: type[object]) -> type[object]:
  """A class whose methods run on the processors where their arguments are.

  The object is made when a method is first called, with the arguments that the class was
  called with.

  >>> import gnomon
  >>> @colocated_python_class
  ... class Counter:
  ...   def __init__(self, start):
  ...     self.value = start
  ...   def add(self, x):
  ...     self.value += x
  ...     return self.value
  >>> counter = Counter(2)
  >>> [int(counter.add(gnomon.numpy.int32(i))) for i in (1, 2)]
  [3, 5]
  """
  def init(self: Any, *args: Any, **kwargs: Any) -> None:
    self._make = lambda: cls(*args, **kwargs)
    self._made = None

  def method(name: str, fun: Any) -> Any:
    @tools.wraps(fun)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
      def run(*args: Any, **kwargs: Any) -> Any:
        if self._made is None:
          self._made = self._make()
        return getattr(self._made, name)(*args, **kwargs)

      return colocated_python(tools.wraps(fun)(run))(*args, **kwargs)

    return call

  methods = {
      name: method(name, fun) for name, fun in inspect.getmembers(cls, inspect.isfunction)
      if not name.startswith("__") or name == "__call__"}
  return type(cls.__name__, (), {
      "__doc__": cls.__doc__, "__module__": cls.__module__, "__init__": init, **methods})
