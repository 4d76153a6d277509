"""What the installed release of jaxlib can do, found by trying when first asked."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import jaxlib.version
import jaxlib.weakref_lru_cache
from jaxlib import xla_client

from gnomon.runtime.jaxlib.native import _jax


def _signature(function: object) -> str:
  return "".join(entry[0] for entry in getattr(function, "__nb_signature__", ()))


def _aval_settable() -> bool:
  setter = getattr(_jax.ArrayImpl.aval, "fset", None)
  return setter is not None


_PROBES: dict[str, Callable[[], object]] = {
    "jaxlib_version": lambda: jaxlib.version.__version__,
    "api_version": lambda: xla_client._version,
    "ifrt_version": lambda: _jax.ifrt_version_number,
    "array_metaclass": lambda: type(_jax.ArrayImpl) is not type,
    "aval_settable": _aval_settable,
    "handler_skip_checks":
        lambda: "_skip_checks" in _signature(_jax.array_result_handler),
    "compile_without_load": lambda: hasattr(_jax.DeviceTopology, "serialize"),
    "fusion_emitter_option":
        lambda: hasattr(_jax.ExecutableBuildOptions, "exec_time_optimization_effort"),
    "effort_options":
        lambda: hasattr(_jax.ExecutableBuildOptions, "exec_time_optimization_effort"),
    "shard_args": lambda: hasattr(_jax, "shard_args"),
    "strong_lru_cache": lambda: hasattr(jaxlib.weakref_lru_cache, "StrongLRUCache"),
    "f6_types": lambda: hasattr(xla_client.PrimitiveType, "F6E2M3FN"),
    "raw_buffer": lambda: hasattr(_jax.ArrayImpl, "unsafe_raw_buffer"),
    "batched_copy_to_host": lambda: hasattr(_jax, "batched_copy_to_host_async"),
    "topology_serialize": lambda: hasattr(_jax.DeviceTopology, "serialize"),
    "packed_sub_byte": lambda: hasattr(_jax, "batched_copy_to_host_async"),
    "dlpack_versions":
        lambda: "max_version" in _signature(_jax.buffer_to_dlpack_managed_tensor),
    "mutual_tls": lambda: "mtls" in _signature(_jax.get_distributed_runtime_client),
}


class _Table(Mapping[str, object]):
  """The probes' answers; each probe runs once, when it is first asked for."""

  def __init__(self, probes: Mapping[str, Callable[[], object]]) -> None:
    self._probes = probes
    self._answers: dict[str, object] = {}

  def __getitem__(self, name: str) -> object:
    if name not in self._answers:
      self._answers[name] = self._probes[name]()
    return self._answers[name]

  def __iter__(self) -> Iterator[str]:
    return iter(self._probes)

  def __len__(self) -> int:
    return len(self._probes)


capabilities: Mapping[str, object] = _Table(_PROBES)


def approx_top_k_size(
    size: int, rank: int, k: int, recall: float, whole_size: int = -1) -> tuple[int, int]:
  """How many elements an approximate top-k keeps, and how it divides them (a shift)."""
  kept, shift = _jax.approx_top_k_reduction_output_size(
      size, rank, k, recall, False, whole_size)
  return int(kept), int(shift)
