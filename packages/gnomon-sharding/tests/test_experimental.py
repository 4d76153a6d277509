"""Grids of devices, topologies, values divided alike: what one device can tell."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import gnomon
from gnomon import lax
from gnomon.experimental import mesh_utils, topologies
from gnomon.experimental.shard_alike import shard_alike


def device(number: int, group: int) -> Any:
  return SimpleNamespace(id=number, slice_index=group, process_index=0)


def test_groups_of_devices() -> None:
  devices = [device(i, 1 - i // 4) for i in range(8)]
  for ordered, first in ((True, 4), (False, 0)):
    grid = mesh_utils.create_hybrid_device_mesh(
        (2, 2), (2, 1), devices, should_sort_granules_by_key=ordered)
    ids = np.vectorize(lambda d: d.id)(grid)
    assert ids.shape == (4, 2)
    one = np.arange(first, first + 4).reshape(2, 2)
    assert (ids == np.concatenate([one, one - 4 if ordered else one + 4])).all()
  side = mesh_utils.create_hybrid_device_mesh((2, 2), (1, 2), devices)
  assert [d.id for d in side[0]] == [4, 5, 0, 1]


@pytest.mark.parametrize(("args", "message"), [
    (((2,), (2, 1), []), "as many axes"),
    (((2, 2), (1, 1), [object()]), "does not have attribute slice_index"),
    (((2, 2), (3, 1), [device(0, 0)]), "Number of slices 1 must equal"),
    (((2, 2), (1, 1), [device(0, 0)]), "Number of devices 1 must equal")])
def test_groups_that_do_not_fit(args: Any, message: str) -> None:
  with pytest.raises(ValueError, match=message):
    mesh_utils.create_hybrid_device_mesh(*args)


def test_topologies() -> None:
  topo = topologies.get_attached_topology()
  assert topo.devices == gnomon.devices()
  mesh = topologies.make_mesh(topo, (len(topo.devices),), ("x",))
  assert mesh.axis_names == ("x",)
  with pytest.raises(NotImplementedError, match="not implemented for cpu"):
    topologies.get_topology_desc(platform="cpu")
  with pytest.raises(RuntimeError, match="Unknown backend tpu"):
    topologies.get_topology_desc("v5e:2x2", platform="tpu")


def test_values_divided_alike_are_themselves() -> None:
  x, y = np.arange(3.0, dtype=np.float32), np.ones(3, np.float32)
  for f in (shard_alike, gnomon.jit(shard_alike)):
    for got, expected in zip(f(x, y), (x, y)):
      assert np.array_equal(got, expected)
  outs, ts = gnomon.jvp(shard_alike, (x, y), (y, x))
  assert [np.asarray(v).tolist() for v in (*outs, *ts)] == [
      v.tolist() for v in (x, y, y, x)]
  loss = lambda x, y: lax.reduce_sum(lax.mul(*shard_alike(x, y)), (0,))  # noqa: E731
  for got, expected in zip(gnomon.grad(loss, (0, 1))(x, y), (y, x)):
    assert np.array_equal(got, expected)
  for axes in ((0, None), (None, 0), (0, 0)):
    args = [v if a is None else np.stack([v, v]) for v, a in zip((x, y), axes)]
    both = gnomon.vmap(shard_alike, in_axes=axes)(*args)
    assert np.array_equal(both[0], [x, x])
    assert np.array_equal(both[1], [y, y])
  with pytest.raises(ValueError, match="should match"):
    shard_alike(x, y[:2])
  with pytest.raises(ValueError, match="equal pytrees"):
    shard_alike(x, [y])
