"""Meshes, partition specs and shardings."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import gnomon
from gnomon.core.partition_spec import DuplicateSpecError
from gnomon.core.shardings import GSPMDSharding
from gnomon.core.types import ShapedArray
from gnomon.sharding import (
  AbstractMesh,
  AxisType,
  ManualAxisType,
  Mesh,
  NamedSharding,
  SingleDeviceSharding,
  get_abstract_mesh,
  get_mesh,
  use_abstract_mesh,
)
from gnomon.sharding import PartitionSpec as P


@pytest.fixture
def mesh() -> Mesh:
  return Mesh(gnomon.devices()[:1], ("x",))


ABSTRACT = AbstractMesh((4, 2), ("x", "y"))


@pytest.mark.parametrize(("spec", "text"), [
    (P(), "P()"), (P("x"), "P('x',)"), (P("x", None), "P('x', None)"),
    (P(("x", "y"), None), "P(('x', 'y'), None)"), (P(["x"]), "P('x',)"),
    (P(()), "P(None,)"), (P(P.UNCONSTRAINED), "P(UNCONSTRAINED,)"),
    (P("x", unreduced={"y"}), "P('x', unreduced={'y'})")])
def test_text_of_specs(spec: P, text: str) -> None:
  assert repr(spec) == text
  assert pickle.loads(pickle.dumps(spec)) == spec


def test_specs_are_compared_entry_by_entry() -> None:
  assert P("x") == P(("x",))
  assert hash(P("x")) == hash(P(("x",)))
  assert P("x") != P("x", None)
  assert P("x") != ("x",)
  assert P("x") != P("x", reduced={"y"})


def test_specs_are_sequences() -> None:
  spec = P("x", None, "x2")
  assert list(spec) == ["x", None, "x2"]
  assert (len(spec), spec[0], spec[1:]) == (3, "x", (None, "x2"))
  assert (spec.index(None), spec.count("x")) == (1, 1)
  assert P("x") + P("y") == P("x", "y") == P("x") + ("y",) == ("x",) + P("y")  # noqa: RUF005
  assert P("x").update(partitions=("y",)) == P("y")
  assert P("x", unreduced={"y"}).to_ct_spec() == P("x", reduced={"y"})


@pytest.mark.parametrize(("make", "error", "message"), [
    (lambda: P("x", unreduced={"x"}), ValueError, "cannot overlap with unreduced"),
    (lambda: P(unreduced="x"), TypeError, "set of axis names, got 'x'"),
    (lambda: P(reduced={None}), ValueError, "cannot contain None"),
    (lambda: P(unreduced={"x"}, reduced={"x"}), ValueError, "cannot overlap"),
    (lambda: P("x").update(axis=1), TypeError, "unexpected keyword argument 'axis'"),
    (lambda: AbstractMesh((4,), ("x", "y")), ValueError, "a name for each axis"),
    (lambda: AbstractMesh((4, 2), ("x", "x")), ValueError, "different names"),
    (lambda: AbstractMesh((4,), (None,)), ValueError, "cannot be None"),
    (lambda: AbstractMesh((4, 2), ("x", "y"), (AxisType.Auto,)), ValueError,
     "should match the number of axis_types"),
    (lambda: AbstractMesh((4,), ("x",), ("Auto",)), TypeError, "of type AxisType"),
    (lambda: Mesh(gnomon.devices()[:1], ("x", "y")), ValueError,
     r"shape \(1,\), axis_names is \('x', 'y'\)"),
    (lambda: gnomon.make_mesh((10_000,), ("x",)), ValueError, "10000 are needed"),
    (lambda: gnomon.set_mesh(ABSTRACT), ValueError, "set_mesh takes"),
    (lambda: ABSTRACT.devices, ValueError, "has no devices"),
    (lambda: NamedSharding(ABSTRACT, P("x")).device_set, ValueError, "has no devices"),
    (lambda: NamedSharding(ABSTRACT, P("z")), ValueError,
     r"z of P\('z',\) is not found in mesh: \('x', 'y'\)"),
    (lambda: NamedSharding(ABSTRACT, P("x", "x")), DuplicateSpecError, "duplicate"),
    (lambda: NamedSharding(ABSTRACT, ("x",)), TypeError, "is a PartitionSpec"),
    (lambda: NamedSharding(ABSTRACT, P("x")).shard_shape((7, 3)), ValueError,
     "partitioned 4 times, but the dimension size is 7"),
    (lambda: NamedSharding(ABSTRACT, P("x")).check_compatible_aval(()), ValueError,
     "at least 1, .*For scalars"),
    (lambda: NamedSharding(ABSTRACT, P("x")).update(memory="x"), TypeError,
     "has no memory")])
def test_errors(make: Any, error: type[Exception], message: str) -> None:
  with pytest.raises(error, match=message):
    make()


def test_meshes_are_one_object_each(mesh: Mesh) -> None:
  assert mesh is Mesh(gnomon.devices()[:1], "x")
  assert mesh is copy.deepcopy(mesh)
  assert mesh is pickle.loads(pickle.dumps(mesh))
  assert mesh.abstract_mesh is pickle.loads(pickle.dumps(mesh.abstract_mesh))
  assert mesh is not mesh.update(axis_types=(AxisType.Explicit,))
  assert ABSTRACT is AbstractMesh((4, 2), ("x", "y"))


def test_what_a_mesh_says_of_itself(mesh: Mesh) -> None:
  assert str(mesh) == "Mesh('x': 1, axis_types=(Auto,))"
  assert repr(mesh) == (
      "Mesh(axis_sizes=(1,), axis_names=('x',), axis_types=(Auto,))")
  assert repr(ABSTRACT) == "AbstractMesh('x': 4, 'y': 2, axis_types=(Auto, Auto))"
  assert dict(ABSTRACT.shape) == {"x": 4, "y": 2}
  assert (ABSTRACT.size, ABSTRACT.empty, mesh.local_mesh) == (8, False, mesh)
  changed = ABSTRACT.update_axis_types({"x": AxisType.Manual})
  assert (changed.manual_axes, changed.auto_axes) == (("x",), ("y",))
  assert ABSTRACT.update(axis_sizes=(2, 2)).size == 4


def test_mesh_in_force(mesh: Mesh) -> None:
  assert (get_mesh().empty, get_abstract_mesh().empty) == (True, True)
  with gnomon.set_mesh(mesh):
    assert get_mesh() is mesh
    assert get_abstract_mesh() is mesh.abstract_mesh
    with use_abstract_mesh(ABSTRACT):
      assert get_abstract_mesh() is ABSTRACT
    with gnomon.set_mesh(None):
      assert get_mesh().empty
    assert get_mesh() is mesh
  with mesh:
    assert get_mesh() is mesh
  assert get_mesh().empty


def test_the_mesh_is_not_known_while_tracing(mesh: Mesh) -> None:
  def f(x: Any) -> Any:
    assert get_abstract_mesh() is mesh.abstract_mesh
    with pytest.raises(ValueError, match="get_abstract_mesh"):
      get_mesh()
    return x

  with gnomon.set_mesh(mesh):
    gnomon.make_jaxpr(f)(1.0)


def test_shardings_of_one_device(mesh: Mesh) -> None:
  device = gnomon.devices()[0]
  single, named = SingleDeviceSharding(device), NamedSharding(mesh, P("x"))
  for s in (single, named):
    assert s.device_set == s.addressable_devices == {device}
    assert (s.num_devices, s.is_fully_addressable, s.is_fully_replicated) == (1, 1, 1)
    assert s.shard_shape((3, 2)) == (3, 2)
    assert s.devices_indices_map((3,)) == {device: (slice(None),)}
    assert pickle.loads(pickle.dumps(s)) == s
    assert s.is_equivalent_to(single, 1)
  assert named.replicated_axes == frozenset()
  assert gnomon.device_put(1.0).sharding.is_fully_replicated


# Several devices need a process of their own: the number is set before the first use.
SEVERAL = """
import numpy as np
import gnomon
from gnomon.sharding import Mesh, NamedSharding, PartitionSpec as P
gnomon.config.update("jax_num_cpu_devices", 8)
devices = np.array(gnomon.devices()).reshape(4, 2)
mesh = Mesh(devices, ("x", "y"))
place = {(i, j): devices[i, j] for i in range(4) for j in range(2)}
whole = np.arange(48).reshape(8, 6)
for spec, part in [
    (P("x"), lambda i, j: whole[2 * i: 2 * i + 2]),
    (P("y"), lambda i, j: whole[4 * j: 4 * j + 4]),
    (P(None, "y"), lambda i, j: whole[:, 3 * j: 3 * j + 3]),
    (P("x", "y"), lambda i, j: whole[2 * i: 2 * i + 2, 3 * j: 3 * j + 3]),
    (P(("x", "y")), lambda i, j: whole[2 * i + j: 2 * i + j + 1]),
    (P(("y", "x")), lambda i, j: whole[4 * j + i: 4 * j + i + 1]),
    (P(), lambda i, j: whole)]:
  s = NamedSharding(mesh, spec)
  where = s.devices_indices_map(whole.shape)
  for (i, j), device in place.items():
    expected = part(i, j)
    assert (whole[where[device]] == expected).all(), (spec, i, j)
    assert s.shard_shape(whole.shape) == expected.shape
assert NamedSharding(mesh, P("x")).is_equivalent_to(NamedSharding(mesh, P("x", None)), 2)
assert not NamedSharding(mesh, P("x")).is_equivalent_to(NamedSharding(mesh, P("y")), 2)
assert NamedSharding(mesh, P("x")).replicated_axes == {"y"}
print("fine")
"""


def test_parts_on_several_devices() -> None:
  done = subprocess.run(
      [sys.executable, "-c", SEVERAL], capture_output=True, text=True, timeout=120,
      check=False)
  assert done.stdout == "fine\n", done.stderr


def test_shardings_by_the_compilers_description() -> None:
  devices = gnomon.devices()[:1]
  whole = GSPMDSharding.get_replicated(devices)
  named = NamedSharding(Mesh(devices, ("x",)), P("x"))
  same = GSPMDSharding(devices, named._to_xla_hlo_sharding(1))
  assert whole == same
  assert hash(whole) == hash(same)
  assert repr(whole).startswith("GSPMDSharding({replicated}")
  assert pickle.loads(pickle.dumps(whole)) == whole
  assert whole._device_assignment == tuple(devices)
  assert whole.with_memory_kind("device").memory_kind == "device"


def test_axes_along_which_values_vary() -> None:
  one = ManualAxisType(varying={"x"}, unreduced={"y"}, reduced={"z"})
  assert one is ManualAxisType(varying={"x"}, unreduced={"y"}, reduced={"z"})
  assert one.to_ct_mat() == one.update(unreduced={"z"}, reduced={"y"})
  assert one.vur == {"x", "y", "z"}
  assert not one.empty
  assert ManualAxisType().empty
  assert pickle.loads(pickle.dumps(one)) is one
  mesh = ABSTRACT.update(axis_types=(AxisType.Manual,) * 2)
  assert ManualAxisType(varying={"x"}).invarying(mesh) == {"y"}
  assert one.update(unreduced=set(), reduced=set()) == ManualAxisType(varying={"x"})
  for make, error, message in (
      (lambda: ManualAxisType(varying={"x"}, reduced={"x"}), ValueError, "common mesh"),
      (lambda: ManualAxisType(varying="x"), TypeError, "set of axis names"),
      (lambda: setattr(one, "varying", {"y"}), AttributeError, "cannot be set")):
    with pytest.raises(error, match=message):
      make()


def test_types_with_shardings() -> None:
  mesh = AbstractMesh((4, 2), ("x", "y"), (AxisType.Explicit, AxisType.Auto))
  t = ShapedArray((8, 4), np.float32, sharding=NamedSharding(mesh, P(("x", "y"), None)))
  assert t.str_short(True) == "f32[8@x,4]"  # what is Auto is no part of types
  assert t.str_short(True, True) == "f32[8@x,4]({Explicit: ('x',), Auto: ('y',)})"
  assert t is ShapedArray((8, 4), np.float32, sharding=NamedSharding(mesh, P("x")))
  assert pickle.loads(pickle.dumps(t)) is t
  plain = ShapedArray((8, 4), np.float32)
  assert t.update(sharding=None) is plain
  assert ShapedArray((8, 4), np.float32, sharding=NamedSharding(mesh, P(None, "y"))) is (
      plain)
  assert t.update(shape=(8,)) is ShapedArray((8,), np.float32)
  varying = plain.update(manual_axis_type=ManualAxisType(varying={"y"}))
  assert str(varying) == "float32[8,4]{V:y}"
  assert varying.vma == {"y"}
  assert plain.memory_space is gnomon.memory.Space.Device
  for spec, message in ((P(None, None, "x"), "more entries"), (P("x"), "evenly divide")):
    with pytest.raises(ValueError, match=message):
      ShapedArray((6, 4), np.float32, sharding=NamedSharding(mesh, spec))


def test_arrays_of_what_a_process_holds() -> None:
  place = NamedSharding(Mesh(gnomon.devices()[:1], ("x",)), P("x"))
  data = {"a": np.arange(4.0), "b": np.ones((2, 3))}
  each = {"a": place, "b": place}
  for where, shapes in ((place, None), (each, {"a": (4,), "b": (2, 3)})):
    out = gnomon.make_array_from_process_local_data(where, data, shapes)
    assert {k: np.asarray(v).tolist() for k, v in out.items()} == {
        k: v.tolist() for k, v in data.items()}
    assert out["a"].sharding == place
  with gnomon.set_mesh(place.mesh):
    assert gnomon.make_array_from_process_local_data(P("x"), data["a"]).sharding == place
