"""The `in_shardings` and `out_shardings` of `jit`, where they say one device."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gnomon.runtime.jaxlib import arrays


def device_of(in_shardings: Any, out_shardings: Any, device: Any) -> Any:
  """The device where a function with these shardings runs; None where none says.

  Raises:
    TypeError: a leaf is neither a sharding nor None.
    ValueError: they are on different devices.
    NotImplementedError: one is over several devices.
  """
  for name, tree in (("in_shardings", in_shardings), ("out_shardings", out_shardings)):
    for leaf in _leaves(tree):
      own = _one_device(name, leaf)
      if device is not None and own is not device:
        raise ValueError(
            f"jit: {name} has {leaf} on {own}, but other arguments or results are on "
            f"{device}; a function runs on one device")
      device = own
  return device


def _leaves(tree: Any) -> Iterator[Any]:
  if isinstance(tree, (list, tuple)):
    for x in tree:
      yield from _leaves(x)
  elif isinstance(tree, dict):
    yield from _leaves(list(tree.values()))
  elif tree is not None:
    yield tree


def _one_device(name: str, leaf: Any) -> Any:
  if not isinstance(leaf, arrays.Sharding):
    raise TypeError(
        f"{name} leaf specifications are expected to be shardings or None, but got "
        f"{leaf!r} of type {type(leaf)}")
  devices = leaf._internal_device_list
  if len(devices) != 1:
    raise NotImplementedError(
        f"{name} of jit: {leaf} is over {len(devices)} devices; programs over several "
        "devices need gnomon-sharding, which this installation does not have")
  return devices[0]
