"""Arrays in storage, by way of TensorStore: each part is written where it lies.

TensorStore (the extra `storage` of gnomon-sharding) is imported when something is stored
or loaded.
"""

from __future__ import annotations

import abc
import asyncio
import itertools
import os
import re
import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gnomon.api.assembly import make_array_from_single_device_arrays
from gnomon.api.device import device_put
from gnomon.runtime import backends
from gnomon.runtime.processes import global_state

__all__ = [
    "AsyncManager", "BarrierTimeoutError", "GlobalAsyncCheckpointManager",
    "GlobalAsyncCheckpointManagerBase", "async_deserialize", "async_serialize",
    "get_tensorstore_spec", "is_remote_storage", "run_deserialization",
    "run_serialization"]

_REMOTE = {"gs": "gcs", "s3": "s3"}
_numbers = itertools.count()


def __getattr__(name: str) -> Any:
  if name != "TS_CONTEXT":
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
  import tensorstore
  found = globals()[name] = tensorstore.Context(
      {"file_io_concurrency": {"limit": 128}, "data_copy_concurrency": {"limit": 128}})
  return found


def _context(given: Any) -> Any:
  return given if given is not None else __getattr__("TS_CONTEXT")


class BarrierTimeoutError(Exception):
  """Another process had not finished writing within the time given."""


def is_remote_storage(tspec: dict[str, Any] | str) -> bool:
  """Whether a path or a spec of TensorStore is one of a storage service.

  >>> is_remote_storage("gs://bucket/x"), is_remote_storage("/tmp/x")
  (True, False)
  """
  if isinstance(tspec, str):
    return tspec.split("://")[0] in _REMOTE if "://" in tspec else False
  if tspec.get("driver") in _REMOTE.values():
    return True
  return any(
      is_remote_storage(tspec[key]) for key in ("base", "kvstore")
      if isinstance(tspec.get(key), dict | str))


def _place(path: str) -> dict[str, Any]:
  found = re.fullmatch(r"(\w+)://([^/]+)/(.*)", path)
  if found and found[1] in _REMOTE:
    return {"driver": _REMOTE[found[1]], "bucket": found[2], "path": found[3]}
  return {"driver": "file", "path": path}


def get_tensorstore_spec(
    ckpt_path: str | os.PathLike[str], *, ocdbt: bool = False,
    process_idx: int | None = None, arr: Any = None, driver: str = "zarr",
) -> dict[str, Any]:
  """The spec of an array in storage, as TensorStore takes it.

  Args:
    ckpt_path: a path, or `gs://BUCKET/PATH` and the like for a storage service.
    ocdbt: whether it lies in a database that holds the folder's arrays together; then
      the path must be absolute.
    process_idx: with `ocdbt`, the process whose database it is.
    arr: an array, or its type: the spec tells its shape and dtype.
    driver: the format, "zarr" or "zarr3".

  Raises:
    ValueError: the path is not absolute, with `ocdbt`.

  >>> get_tensorstore_spec("/tmp/x")
  {'driver': 'zarr', 'kvstore': {'driver': 'file', 'path': '/tmp/x'}}
  """
  path = os.path.normpath(os.fspath(ckpt_path)).replace(":/", "://")
  if ocdbt:
    if not is_remote_storage(path) and not os.path.isabs(path):
      raise ValueError(f"with ocdbt the path must be absolute, got {ckpt_path}")
    folder, name = os.path.split(path)
    if process_idx is not None:
      folder = os.path.join(folder, f"process_{process_idx}")
    store = {"driver": "ocdbt", "base": _place(folder), "path": name}
  else:
    store = _place(path)
  spec: dict[str, Any] = {"driver": driver, "kvstore": store}
  if arr is not None:
    spec["metadata"] = _metadata(driver, arr)
  return spec


def _metadata(driver: str, arr: Any) -> dict[str, Any]:
  """How an array is stored: in chunks that are the parts of its devices."""
  sharding = getattr(arr, "sharding", None)
  part = arr.shape if sharding is None else sharding.shard_shape(arr.shape)
  chunks = [max(1, n) for n in part]
  if driver == "zarr3":
    return {
        "codecs": [], "shape": arr.shape, "data_type": np.dtype(arr.dtype).name,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": chunks}}}
  return {"compressor": {"id": "zstd"}, "shape": arr.shape, "chunks": chunks}


def _complete(spec: Any, arr: Any) -> Any:
  if not isinstance(spec, dict):
    return spec
  spec = dict(spec)
  spec.setdefault("metadata", _metadata(spec.get("driver", "zarr"), arr))
  if spec.get("driver") != "zarr3":
    spec["dtype"] = np.dtype(arr.dtype).name
  return spec


async def async_serialize(
    arr_inp: Any, tensorstore_spec: Any, commit_future: list[Any] | None = None,
    context: Any = None, chunk_layout: Any = None, primary_host: int | None = None,
    replica_id: int = 0, transaction: Any = None,
) -> None:
  """Writes an array: each process the parts on its devices.

  Args:
    arr_inp: the array.
    tensorstore_spec: where, as `get_tensorstore_spec` says it; metadata that it lacks are
      those of the array.
    commit_future: a list that gets the futures of what is being written; then the data
      have been copied when this returns. Without it they have been written.
    context: of TensorStore; by default `TS_CONTEXT`.
    chunk_layout: of TensorStore.
    primary_host: the process that makes the file; by default each does.
    replica_id: which of several copies of a part is written.
    transaction: of TensorStore.
  """
  import tensorstore
  first = primary_host is None or backends.process_index() == primary_host
  store = await tensorstore.open(
      tensorstore.Spec(_complete(tensorstore_spec, arr_inp)), open=True, create=first,
      assume_metadata=not first, context=_context(context), chunk_layout=chunk_layout,
      transaction=transaction)
  written = [
      store[part.index].write(np.asarray(part.data))
      for part in arr_inp.addressable_shards if part.replica_id == replica_id]
  await asyncio.gather(*[w.copy for w in written])
  if commit_future is None:
    await asyncio.gather(*[w.commit for w in written])
  else:
    commit_future.extend(w.commit for w in written)


class _Limit:
  """So many bytes may be on their way; who wants more waits."""

  def __init__(self, size: int) -> None:
    self.size = self.left = size
    self.changed = asyncio.Condition()

  async def wait_for_bytes(self, wanted: int) -> None:
    """Takes bytes; more than there can be count as all."""
    async with self.changed:
      await self.changed.wait_for(lambda: self.left >= min(wanted, self.size))
      self.left -= min(wanted, self.size)

  async def release_bytes(self, wanted: int) -> None:
    """Gives them back."""
    async with self.changed:
      self.left += min(wanted, self.size)
      self.changed.notify_all()


async def async_deserialize(
    in_type: Any, tensorstore_spec: Any, global_shape: Sequence[int] | None = None,
    dtype: Any = None, byte_limiter: Any = None, context: Any = None,
    chunk_layout: Any = None, assume_metadata: bool = False,
) -> Any:
  """Reads an array: each process the parts of its devices.

  Args:
    in_type: the sharding of the result, or a `Format` or `ShapeDtypeStruct` that has it.
    tensorstore_spec: where, as `get_tensorstore_spec` says it.
    global_shape: the shape of the result; by default the stored one. What lies beyond the
      stored array is 0.
    dtype: of the result; by default the stored one.
    byte_limiter: an object with `wait_for_bytes(n)` and `release_bytes(n)`.
    context: of TensorStore; by default `TS_CONTEXT`.
    chunk_layout: of TensorStore.
    assume_metadata: whether the metadata in the spec are taken for true unread.

  Raises:
    ValueError: there is no such array in storage, or no sharding.
  """
  import tensorstore
  sharding = getattr(in_type, "sharding", in_type)
  if not hasattr(sharding, "addressable_devices_indices_map"):
    raise ValueError(f"an array is read by its sharding, got {in_type!r}")
  store = await tensorstore.open(
      tensorstore.Spec(tensorstore_spec), open=True, assume_metadata=assume_metadata,
      context=_context(context), chunk_layout=chunk_layout)
  given = getattr(in_type, "shape", None) if global_shape is None else global_shape
  shape = tuple(store.shape if given is None else given)
  dtype = getattr(in_type, "dtype", None) if dtype is None else dtype

  async def part(device: Any, index: Any) -> Any:
    bounds = [s.indices(n)[:2] for s, n in zip(index, shape, strict=True)]
    out = np.zeros([b - a for a, b in bounds], store.dtype.numpy_dtype)
    within = tuple(
        slice(min(a, n), min(b, n))
        for (a, b), n in zip(bounds, store.shape, strict=True))
    if byte_limiter is not None:
      await byte_limiter.wait_for_bytes(out.nbytes)
    try:
      out[tuple(slice(s.stop - s.start) for s in within)] = await store[within].read()
      return device_put(out if dtype is None else out.astype(dtype), device)
    finally:
      if byte_limiter is not None:
        await byte_limiter.release_bytes(out.nbytes)

  parts = await asyncio.gather(*[
      part(d, i) for d, i in sharding.addressable_devices_indices_map(shape).items()])
  return make_array_from_single_device_arrays(shape, sharding, parts)


def run_serialization(arrays: Sequence[Any], tensorstore_specs: Sequence[Any]) -> None:
  """Writes arrays, and waits until they are written."""
  async def run() -> None:
    await asyncio.gather(*[
        async_serialize(x, s) for x, s in zip(arrays, tensorstore_specs, strict=True)])

  asyncio.run(run())


def run_deserialization(
    shardings: Sequence[Any], tensorstore_specs: Sequence[Any],
    global_shapes: Sequence[Any] | None = None, dtypes: Sequence[Any] | None = None,
    concurrent_gb: int = 32,
) -> list[Any]:
  """Reads arrays, of which `concurrent_gb` gigabytes may be on their way at once."""
  nothing = [None] * len(shardings)

  async def run() -> list[Any]:
    limit = _Limit(concurrent_gb * 10**9)
    return await asyncio.gather(*[
        async_deserialize(sharding, spec, shape, dtype, limit)
        for sharding, spec, shape, dtype in zip(
            shardings, tensorstore_specs, global_shapes or nothing, dtypes or nothing,
            strict=True)])

  return asyncio.run(run())


class GlobalAsyncCheckpointManagerBase(abc.ABC):
  """What writes arrays while the program goes on."""

  @abc.abstractmethod
  def check_for_errors(self) -> None:
    """Raises what went wrong while writing; does not wait."""

  @abc.abstractmethod
  def wait_until_finished(self) -> None:
    """Waits until all is written, and raises what went wrong."""

  @abc.abstractmethod
  def serialize(
      self, arrays: Any, tensorstore_specs: Any, *,
      on_commit_callback: Callable[[], None],
  ) -> None:
    """Begins to write arrays."""

  @abc.abstractmethod
  def deserialize(
      self, shardings: Sequence[Any], tensorstore_specs: Sequence[dict[str, Any]],
      global_shapes: Sequence[Any] | None = None, dtypes: Sequence[Any] | None = None,
  ) -> Any:
    """Reads arrays."""


class AsyncManager:
  """Waits in a thread for what is being written, in all processes."""

  def __init__(self, timeout_secs: int = 300) -> None:
    self._timeout = timeout_secs
    self._futures: Sequence[Any] = ()
    self._thread: threading.Thread | None = None
    self._error: BaseException | None = None
    self._name = f"gnomon_stored_{next(_numbers)}"
    self._count = 0

  def _finish(self, on_commit_callback: Callable[[], None] | None, key: str) -> None:
    try:
      for future in self._futures:
        future.result()
      if global_state.client is not None:
        try:
          global_state.client.wait_at_barrier(key, self._timeout * 1000)
        except Exception as e:
          if "DEADLINE_EXCEEDED" not in str(e):
            raise
          raise BarrierTimeoutError(
              f"a process had not written its arrays after {self._timeout} s") from e
      if on_commit_callback is not None and backends.process_index() == 0:
        on_commit_callback()
    except BaseException as e:  # noqa: BLE001 -- raised where it is asked for
      self._error = e

  def _start_async_commit(self, on_commit_callback: Callable[[], None] | None) -> None:
    self._count += 1
    self._thread = threading.Thread(
        target=self._finish, args=(on_commit_callback, f"{self._name}_{self._count}"))
    self._thread.start()

  def check_for_errors(self) -> None:
    """Raises what went wrong while writing; does not wait."""
    error, self._error = self._error, None
    if error is not None:
      raise error

  def wait_until_finished(self) -> None:
    """Waits until all is written, and raises what went wrong."""
    if self._thread is not None:
      self._thread.join()
      self._thread = None
    self.check_for_errors()

  def _add_futures(self, futures: Sequence[Any]) -> None:
    self._futures = futures


class GlobalAsyncCheckpointManager(AsyncManager, GlobalAsyncCheckpointManagerBase):
  """Writes arrays while the program goes on, one set after the other."""

  def serialize(
      self, arrays: Any, tensorstore_specs: Any, *,
      on_commit_callback: Callable[[], None] | None = None, transaction: Any = None,
  ) -> None:
    """Begins to write arrays; when it returns, the arrays have been copied.

    Args:
      arrays: the arrays.
      tensorstore_specs: where each is written.
      on_commit_callback: called in the first process when all have written theirs.
      transaction: of TensorStore.
    """
    self.wait_until_finished()
    futures: list[Any] = []

    async def run() -> None:
      await asyncio.gather(*[
          async_serialize(x, s, futures, transaction=transaction)
          for x, s in zip(arrays, tensorstore_specs, strict=True)])

    asyncio.run(run())
    self._add_futures(futures)
    self._start_async_commit(on_commit_callback)

  def serialize_with_paths(
      self, arrays: Sequence[Any], paths: Sequence[str], *,
      on_commit_callback: Callable[[], None] | None = None, transaction: Any = None,
  ) -> None:
    """`serialize`, where `get_tensorstore_spec` makes the specs from paths."""
    self.serialize(
        arrays, list(map(get_tensorstore_spec, paths)),
        on_commit_callback=on_commit_callback, transaction=transaction)

  def deserialize(
      self, shardings: Sequence[Any], tensorstore_specs: Sequence[dict[str, Any]],
      global_shapes: Sequence[Any] | None = None, dtypes: Sequence[Any] | None = None,
      concurrent_gb: int = 32,
  ) -> Any:
    """Reads arrays, after what is being written: see `run_deserialization`."""
    self.wait_until_finished()
    return run_deserialization(
        shardings, tensorstore_specs, global_shapes, dtypes, concurrent_gb)

  def deserialize_with_paths(
      self, shardings: Sequence[Any], paths: Sequence[str],
      global_shapes: Sequence[Any] | None = None, dtypes: Sequence[Any] | None = None,
      concurrent_gb: int = 32,
  ) -> Any:
    """`deserialize`, where `get_tensorstore_spec` makes the specs from paths."""
    return self.deserialize(
        shardings, list(map(get_tensorstore_spec, paths)), global_shapes, dtypes,
        concurrent_gb)
