"""Moving values between host and devices, and waiting for them."""

from __future__ import annotations

from typing import Any

import numpy as np

from gnomon.api import tools
from gnomon.core.derive import elementwise_batch, linear
from gnomon.core.partition_spec import PartitionSpec
from gnomon.core.primitive import Primitive
from gnomon.core.rule import impl_rule, lower, typing_rule
from gnomon.core.shardings import is_abstract
from gnomon.core.trace import Tracer
from gnomon.core.types import Valueless, WrappedArray
from gnomon.runtime import backends
from gnomon.runtime.compile import physical, to_device
from gnomon.runtime.jaxlib import arrays, clients, guards
from gnomon.tree_util import flatten_axes, tree_leaves, tree_map

Array = arrays.Array


def device_put(
    x: Any, device: Any = None, *, src: Any = None, donate: Any = False,
    may_alias: Any = None) -> Any:
  """Puts arrays (a pytree of them, of NumPy arrays or numbers) on a device.

  Args:
    x: what to put.
    device: a device or a sharding, or a pytree of those that is a prefix of `x`; None:
      the default device, and then the arrays are not committed to it.
    src: where `x` is now; not needed.
    donate: whether the arrays given may be deleted.
    may_alias: whether the result may share the memory of an array given.

  >>> import gnomon, numpy
  >>> gnomon.device_put(numpy.ones(3)).shape
  (3,)

  Raises:
    TypeError: `x` holds something that is no array.
    ValueError: `device` is neither a device nor a sharding of one.
  """
  del src, may_alias
  leaves, tree = tools.flatten(x)
  devices = (
      [device] * len(leaves) if _is_place(device)
      else flatten_axes("device_put device", tree, device))
  with guards.explicit_put:
    outs = [_put(v, d) for v, d in zip(leaves, devices)]
  if donate:
    for v, o in zip(leaves, outs):
      if type(v) is Array and v is not o and not v.is_deleted() and not _shares(v, o):
        v.delete()
  return tree.unflatten(outs)


def _shares(x: Any, y: Any) -> bool:
  return bool(x.unsafe_buffer_pointer() == y.unsafe_buffer_pointer())


def _is_place(device: Any) -> bool:
  return device is None or isinstance(
      device, (clients.Device, arrays.Sharding, PartitionSpec))


def device_of(place: Any) -> Any:
  """The device that a device or a sharding stands for; None for no preference.

  Raises:
    ValueError: it is no place.
  """
  if place is None or isinstance(place, clients.Device):
    return place
  if isinstance(place, arrays.Sharding):
    return place._internal_device_list[0]
  raise ValueError(
      f"device_put expects a device (gnomon.devices()[i]) or a sharding, got {place!r} "
      f"of type {type(place)}")


def _put(x: Any, place: Any) -> Any:
  if type(place) is PartitionSpec or (
      isinstance(place, arrays.Sharding)
      and (is_abstract(place) or len(place._internal_device_list) > 1)):
    return _spread(x, place)
  device = device_of(place)
  aval = tools.check_leaf(x, "device_put", lambda: "x")
  if isinstance(x, Tracer):
    return device_put_p.apply(x, device=device)[0]
  if type(x) is Array or isinstance(x, WrappedArray):
    if device is None:
      return x
    moved = to_device(physical(x), device)
    if not moved._committed or moved is physical(x):
      base = arrays.copy_to(physical(x), device, backends.sharding_of(device))
      moved = _committed(base)
    return x.with_physical(moved) if isinstance(x, WrappedArray) else moved
  if isinstance(x, Valueless):
    raise x.refused()
  target = backends.default_device() if device is None else device
  if not isinstance(x, np.ndarray) or x.dtype != aval.dtype:
    x = np.asarray(x, aval.dtype)
  return arrays.put(
      aval, backends.sharding_of(target), [x], [target], committed=device is not None)


def _spread(x: Any, place: Any) -> Any:
  """A value over several devices."""
  from gnomon.api.constraint import constrain  # few programs have several devices
  from gnomon.api.reshard import reshard
  from gnomon.runtime import shardings, spread

  tools.check_leaf(x, "device_put", lambda: "x")
  sharding = shardings.resolve(place)
  if is_abstract(sharding) or isinstance(x, Tracer):
    if isinstance(sharding, shardings.NamedSharding) and sharding.mesh.explicit_axes:
      return reshard(x, place)
    return constrain(x, place)
  if isinstance(x, WrappedArray):
    return x.with_physical(spread.place(x.physical, sharding))
  return spread.place(x, sharding)


def _committed(x: Any) -> Any:
  """The same buffer as an array committed to its device."""
  if x._committed:
    return x
  return arrays.make_handler(x.aval, x._sharding, True)(x)


device_put_p = Primitive("device_put")
typing_rule.define(device_put_p)(lambda x, *, device: (x,))
impl_rule.define(device_put_p)(lambda x, *, device: (_put(x, device),))
lower.define(device_put_p)(lambda ctx, x, *, device: [x])
linear(
    device_put_p,
    lambda cts, args, *, device: device_put_p.apply(cts[0], device=device))
elementwise_batch(device_put_p)


def device_get(x: Any) -> Any:
  """Copies arrays (a pytree of them) to the host, as NumPy arrays.

  >>> import gnomon
  >>> from gnomon import lax
  >>> gnomon.device_get(lax.neg(1.0))
  array(-1., dtype=float32)
  """
  for leaf in tree_leaves(x):
    if type(leaf) is Array:
      leaf.copy_to_host_async()
  with guards.explicit_get:
    return tree_map(_get, x)


def _get(x: Any) -> Any:
  if type(x) is Array:
    return np.asarray(x)
  if isinstance(x, Tracer):
    return x.__array__()  # says that a tracer has no value
  if hasattr(x, "__array__") and not isinstance(x, WrappedArray):
    return np.asarray(x)
  return x


def block_until_ready(x: Any) -> Any:
  """Waits until all arrays in a pytree are computed; returns it.

  >>> import gnomon
  >>> from gnomon import lax
  >>> float(gnomon.block_until_ready(lax.neg(1.0)))
  -1.0
  """
  leaves = map(physical, tree_leaves(x))
  concrete = [leaf for leaf in leaves if type(leaf) is Array]
  if concrete:
    arrays.block(concrete)
  return x

