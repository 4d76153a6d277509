"""Arrays in storage; Python functions beside devices."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import gnomon
from gnomon import lax
from gnomon.experimental import colocated_python
from gnomon.experimental.array_serialization import serialization
from gnomon.sharding import Mesh, NamedSharding, PartitionSpec

X = np.arange(12, dtype=np.float32).reshape(3, 4)


def sharding() -> NamedSharding:
  return NamedSharding(Mesh(np.array(gnomon.devices()[:1]), ("x",)), PartitionSpec("x"))


def test_what_is_written_is_read(tmp_path: Path) -> None:
  manager = serialization.GlobalAsyncCheckpointManager()
  values = [X, X.astype(np.int8), np.float32(2.5)]
  paths = [str(tmp_path / name) for name in "abc"]
  done: list[int] = []
  here = [sharding(), sharding(), NamedSharding(sharding().mesh, PartitionSpec())]
  manager.serialize_with_paths(
      list(map(gnomon.device_put, values, here)), paths,
      on_commit_callback=lambda: done.append(1))
  found = manager.deserialize_with_paths(here, paths)
  assert done == [1]
  for x, y, s in zip(found, values, here, strict=True):
    assert x.dtype == y.dtype
    assert x.sharding == s
    np.testing.assert_array_equal(x, y)
  stored = json.loads((tmp_path / "a" / ".zarray").read_text())
  assert (stored["shape"], stored["dtype"]) == ([3, 4], "<f4")


@pytest.mark.parametrize(("ocdbt", "driver"), [
    (False, "zarr"), (True, "zarr"), (False, "zarr3")])
def test_other_shapes_and_formats(tmp_path: Path, ocdbt: bool, driver: str) -> None:
  x = gnomon.device_put(X)
  spec = serialization.get_tensorstore_spec(
      tmp_path / "d" / "x", ocdbt=ocdbt, arr=x, driver=driver)
  serialization.run_serialization([x], [spec])
  (found,) = serialization.run_deserialization(
      [sharding()], [spec], [(2, 6)], [np.int32], concurrent_gb=1)
  np.testing.assert_array_equal(found, np.pad(X[:2], ((0, 0), (0, 2))).astype(np.int32))
  assert found.dtype == np.int32


def test_errors_of_the_thread_are_raised_once(tmp_path: Path) -> None:
  manager = serialization.GlobalAsyncCheckpointManager()

  def fail() -> None:
    raise RuntimeError("no room")

  manager.serialize_with_paths(
      [gnomon.device_put(X)], [str(tmp_path / "x")], on_commit_callback=fail)
  with pytest.raises(RuntimeError, match="no room"):
    manager.wait_until_finished()
  manager.check_for_errors()
  with pytest.raises(ValueError, match="NOT_FOUND"):
    manager.deserialize_with_paths([sharding()], [str(tmp_path / "nothing")])
  with pytest.raises(ValueError, match="read by its sharding, got 3"):
    manager.deserialize_with_paths([3], [str(tmp_path / "x")])
  with pytest.raises(ValueError, match="must be absolute, got a/b"):
    serialization.get_tensorstore_spec("a/b", ocdbt=True)


@pytest.mark.parametrize(("place", "remote"), [
    ("gs://b/x", True), ("s3://b/x", True), ("/tmp/x", False), ("file:///x", False),
    ({"kvstore": {"driver": "gcs"}}, True), ({"kvstore": {"driver": "file"}}, False),
    ({"kvstore": {"driver": "ocdbt", "base": "gs://b/x"}}, True)])
def test_places(place: Any, remote: bool) -> None:
  assert serialization.is_remote_storage(place) is remote
  if isinstance(place, str) and remote:
    spec = serialization.get_tensorstore_spec(place + "/y", ocdbt=True)
    assert spec["kvstore"]["base"]["bucket"] == "b"
    assert spec["kvstore"]["path"] == "y"


def test_functions_beside_devices() -> None:
  cpu = gnomon.devices("cpu")
  plus = colocated_python.colocated_python(lambda x: lax.add(x, 1.0))
  np.testing.assert_array_equal(plus(gnomon.device_put(X)), X + 1)
  mesh = Mesh(np.array(cpu[:1]), ("x",))
  assert colocated_python.colocated_cpu_devices(mesh) == mesh
  assert colocated_python.colocated_cpu_devices(cpu) == cpu
  typed = plus.specialize(
      in_specs=((gnomon.ShapeDtypeStruct((3, 4), np.float32),), {}),
      out_specs_fn=lambda x: gnomon.ShapeDtypeStruct((4,), np.float32))
  with pytest.raises(ValueError, match=r"result of <lambda> should be float32\[4\]"):
    typed(gnomon.device_put(X))
  with pytest.raises(ValueError, match=r"arguments of <lambda> .* got float32\[4\]"):
    typed(gnomon.device_put(X[0]))
  none = colocated_python.colocated_python(lambda: 3)
  with pytest.raises(ValueError, match=r"specialize\(devices=...\) must name them"):
    none()
  far = SimpleNamespace(platform="cpu", process_index=7)
  with pytest.raises(ValueError, match="processors of this process"):
    none.specialize(devices=[far])()


def test_objects_beside_devices() -> None:
  made: list[float] = []

  @colocated_python.colocated_python_class
  class Sum:
    def __init__(self, start: float) -> None:
      made.append(start)
      self.total: Any = start

    def add(self, x: Any) -> Any:
      self.total = lax.add(x, self.total)
      return self.total

  one: Any = Sum(5.0)  # type: ignore[call-arg]
  assert not made
  one.add(gnomon.device_put(X))
  np.testing.assert_array_equal(one.add(gnomon.device_put(X)), 5 + 2 * X)
  assert (made, Sum.__name__) == ([5.0], "Sum")
