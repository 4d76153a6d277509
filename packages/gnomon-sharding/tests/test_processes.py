"""Programs of several processes: two of them, with two devices each, on this machine."""

from __future__ import annotations

import socket
import subprocess
import sys

import numpy as np
import pytest

import gnomon
from gnomon.distributed import _clusters
from gnomon.experimental import multihost_utils

PROGRAM = """
import sys, gnomon, numpy as np
from gnomon import lax
from gnomon.experimental import multihost_utils as shared

gnomon.config.update("jax_num_cpu_devices", 2)
me = int(sys.argv[2])
gnomon.distributed.initialize(
  sys.argv[1], 2, me, heartbeat_timeout_seconds=10, shutdown_timeout_seconds=20)
assert gnomon.distributed.is_initialized()
assert (gnomon.device_count(), gnomon.local_device_count()) == (4, 2)
assert (gnomon.process_index(), gnomon.process_count()) == (me, 2)

P = gnomon.P
mesh = gnomon.sharding.Mesh(np.array(gnomon.devices()), ("x",))
place = gnomon.NamedSharding(mesh, P("x"))
own = np.arange(4.0, dtype=np.float32) + 4 * me
x = gnomon.make_array_from_process_local_data(place, own)
assert x.shape == (8,) and not x.is_fully_addressable
assert [s.data.shape for s in x.addressable_shards] == [(2,), (2,)]
assert "8" in repr(x) and "[" not in repr(x)
try:
  np.asarray(x)
except RuntimeError as e:
  assert "other processes" in str(e)
else:
  raise AssertionError("values of another process were read")
total = gnomon.jit(lambda x: lax.reduce_sum(x, (0,)))(x)
assert float(total) == 28
found = shared.process_allgather(gnomon.jit(lax.sin)(x), tiled=True)
np.testing.assert_allclose(found, np.sin(np.arange(8)), rtol=1e-6)
parts = gnomon.shard_map(
  lambda p: lax.psum(p, "x"), mesh=mesh, in_specs=P("x"), out_specs=P())(x)
assert np.asarray(parts).tolist() == [12, 16]

both = shared.process_allgather({"a": np.float64(me), "b": np.arange(2) + me})
assert both["a"].tolist() == [0, 1] and both["a"].dtype == np.float64
assert both["b"].tolist() == [[0, 1], [1, 2]]
assert shared.process_allgather(np.arange(2) + me, tiled=True).tolist() == [0, 1, 1, 2]
assert shared.broadcast_one_to_all(np.array([me + 7])).tolist() == [7]
assert shared.broadcast_one_to_all(np.array([me + 7]), is_source=me == 1).tolist() == [8]
assert np.signbit(shared.broadcast_one_to_all(np.float32(-0.0)))
shared.sync_global_devices("here")
for check, message in (
    (lambda: shared.assert_equal(me, "differs"), "differs Process 0 has 0"),
    (lambda: shared.sync_global_devices(str(me)), "name mismatch")):
  try:
    check()
  except AssertionError as e:
    assert me == 1 and message in str(e), e
  else:
    assert me == 0
whole = shared.host_local_array_to_global_array(own, mesh, P("x"))
assert whole.shape == (8,)
back = shared.global_array_to_host_local_array(whole, mesh, P("x"))
assert np.asarray(back).tolist() == own.tolist()
with shared.live_devices(gnomon.devices()) as alive:
  assert len(alive) == 4
assert not shared.reached_preemption_sync_point(0)
print("fine")
"""


def test_two_processes() -> None:
  with socket.socket() as s:
    s.bind(("127.0.0.1", 0))
    address = f"127.0.0.1:{s.getsockname()[1]}"
  both = [
      subprocess.Popen(
          [sys.executable, "-c", PROGRAM, address, str(i)], stdout=subprocess.PIPE,
          stderr=subprocess.PIPE, text=True) for i in range(2)]
  for p in both:
    out, err = p.communicate(timeout=120)
    assert out.splitlines()[-1:] == ["fine"], err


def test_one_process() -> None:
  x = {"a": np.arange(3), "b": np.float32(2)}
  found = multihost_utils.process_allgather(x)
  assert found["a"].tolist() == [[0, 1, 2]]
  assert found["b"].tolist() == [2.0]
  assert multihost_utils.process_allgather(x, tiled=True)["a"].tolist() == [0, 1, 2]
  assert multihost_utils.broadcast_one_to_all(x)["a"].tolist() == [0, 1, 2]
  multihost_utils.assert_equal(x)
  multihost_utils.sync_global_devices("one")
  with multihost_utils.live_devices(gnomon.devices()) as alive:
    assert alive == gnomon.devices()


@pytest.mark.parametrize(("args", "message"), [
    ((), "coordinator_address should be defined"),
    (("localhost:1",), "Number of processes must be defined"),
    (("localhost:1", 2), "process id of the current process must be defined"),
    (("localhost:1", 2, 2), "process_id is 2, but there are 2"),
    (("localhost:1", None, 0, None, "nobody"), "'nobody'; known are slurm")])
def test_what_must_be_said(args: tuple[object, ...], message: str) -> None:
  program = (
      "import gnomon\ntry:\n"
      f"  gnomon.distributed.initialize(*{args!r})\n"
      "except ValueError as e:\n  print(e)")
  done = subprocess.run(
      [sys.executable, "-c", program], capture_output=True, text=True, check=False)
  assert message in done.stdout, done.stderr


def test_it_is_too_late_once_a_device_is_used() -> None:
  gnomon.devices()
  with pytest.raises(RuntimeError, match="before anything that uses a device"):
    gnomon.distributed.initialize("localhost:1", 1, 0)


@pytest.mark.parametrize(("env", "place"), [
    ({"SLURM_JOB_ID": "4097", "SLURM_PROCID": "3", "SLURM_NTASKS": "8",
      "SLURM_STEP_NODELIST": "tux[013-015,020],fox"}, ("tux013:61441", 8, 3)),
    ({"SLURM_JOB_ID": "5", "SLURM_PROCID": "0", "SLURM_NTASKS": "1",
      "SLURM_STEP_NODELIST": "a1,a2"}, ("a1:61445", 1, 0)),
    ({"OMPI_MCA_orte_hnp_uri": "8192.0;tcp://10.96.0.1,10.148.0.1:34911",
      "OMPI_COMM_WORLD_SIZE": "4", "OMPI_COMM_WORLD_RANK": "2"},
     ("10.96.0.1:61442", 4, 2)),
    ({}, None)])
def test_what_clusters_tell(env: dict[str, str], place: object) -> None:
  assert _clusters.find(None, env) == place
  assert _clusters.find("deactivate", env) is None
