"""`shard_map` by its older name and signature."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gnomon.sharding import AbstractMesh, Mesh
from gnomon.spmd import shard_map as _shard_map

__all__ = ["shard_map"]


def shard_map(
    f: Callable[..., Any], mesh: Mesh | AbstractMesh, in_specs: Any, out_specs: Any,
    check_rep: bool = True) -> Any:
  """Maps a function of parts over the devices of a mesh; see `gnomon.shard_map`.

  Args:
    f: a function of the parts on one device.
    mesh: the mesh.
    in_specs: how the arguments are divided.
    out_specs: how the parts of results make wholes.
    check_rep: accepted; results are taken from the first device.

  >>> import gnomon
  >>> from gnomon.experimental.shard_map import shard_map
  >>> mesh, P = gnomon.make_mesh((1,), ("x",)), gnomon.P
  >>> shard_map(lambda part: part, mesh, P("x"), P("x"))(gnomon.numpy.ones(2)).shape
  (2,)
  """
  return _shard_map(
      f, mesh=mesh, in_specs=in_specs, out_specs=out_specs, check_vma=check_rep)
