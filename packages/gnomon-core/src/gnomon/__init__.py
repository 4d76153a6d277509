"""Composable transformations of array programs: differentiate, vectorise, compile."""

from __future__ import annotations

from pkgutil import extend_path
from typing import TYPE_CHECKING

__path__ = extend_path(__path__, __name__)  # the other distributions add their slices

from gnomon import dtypes as dtypes
from gnomon import errors as errors
from gnomon import tree as tree
from gnomon import tree_util as tree_util
from gnomon import typing as typing
from gnomon._config import allow_f16_reductions as allow_f16_reductions
from gnomon._config import (
  array_garbage_collection_guard as array_garbage_collection_guard,
)
from gnomon._config import auto_pcast as auto_pcast
from gnomon._config import check_tracer_leaks as check_tracer_leaks
from gnomon._config import checking_leaks as checking_leaks
from gnomon._config import config as config
from gnomon._config import debug_infs as debug_infs
from gnomon._config import debug_key_reuse as debug_key_reuse
from gnomon._config import debug_nans as debug_nans
from gnomon._config import default_device as default_device
from gnomon._config import default_matmul_precision as default_matmul_precision
from gnomon._config import default_prng_impl as default_prng_impl
from gnomon._config import disable_jit as disable_jit
from gnomon._config import enable_checks as enable_checks
from gnomon._config import enable_custom_prng as enable_custom_prng
from gnomon._config import enable_x64 as enable_x64
from gnomon._config import explain_cache_misses as explain_cache_misses
from gnomon._config import (
  jax2tf_associative_scan_reductions as jax2tf_associative_scan_reductions,
)
from gnomon._config import legacy_prng_key as legacy_prng_key
from gnomon._config import log_compiles as log_compiles
from gnomon._config import no_execution as no_execution
from gnomon._config import no_tracing as no_tracing
from gnomon._config import numpy_dtype_promotion as numpy_dtype_promotion
from gnomon._config import numpy_rank_promotion as numpy_rank_promotion
from gnomon._config import (
  remove_size_one_mesh_axis_from_type as remove_size_one_mesh_axis_from_type,
)
from gnomon._config import softmax_custom_jvp as softmax_custom_jvp
from gnomon._config import thread_guard as thread_guard
from gnomon._config import threefry_partitionable as threefry_partitionable
from gnomon._config import transfer_guard as transfer_guard
from gnomon._config import (
  transfer_guard_device_to_device as transfer_guard_device_to_device,
)
from gnomon._config import transfer_guard_device_to_host as transfer_guard_device_to_host
from gnomon._config import transfer_guard_host_to_device as transfer_guard_host_to_device
from gnomon._slices import lazy_slices
from gnomon._start import Array as Array
from gnomon._start import Device as Device
from gnomon.api.custom import custom_jvp as custom_jvp
from gnomon.api.custom import custom_vjp as custom_vjp
from gnomon.api.device import block_until_ready as block_until_ready
from gnomon.api.device import device_get as device_get
from gnomon.api.device import device_put as device_put
from gnomon.api.evaluate import ShapeDtypeStruct as ShapeDtypeStruct
from gnomon.api.evaluate import eval_shape as eval_shape
from gnomon.api.evaluate import make_jaxpr as make_jaxpr
from gnomon.api.grad import grad as grad
from gnomon.api.grad import jvp as jvp
from gnomon.api.grad import linearize as linearize
from gnomon.api.grad import value_and_grad as value_and_grad
from gnomon.api.jacobian import hessian as hessian
from gnomon.api.jacobian import jacfwd as jacfwd
from gnomon.api.jacobian import jacrev as jacobian
from gnomon.api.jacobian import jacrev as jacrev
from gnomon.api.jit import jit as jit
from gnomon.api.scope import ensure_compile_time_eval as ensure_compile_time_eval
from gnomon.api.scope import named_call as named_call
from gnomon.api.scope import named_scope as named_scope
from gnomon.api.scope import typeof as typeof
from gnomon.api.vjp import vjp as vjp
from gnomon.api.vmap import vmap as vmap
from gnomon.core.scalar_types import float0 as float0
from gnomon.runtime.backends import default_backend as default_backend
from gnomon.runtime.backends import device_count as device_count
from gnomon.runtime.backends import devices as devices
from gnomon.runtime.backends import local_device_count as local_device_count
from gnomon.runtime.backends import local_devices as local_devices
from gnomon.runtime.backends import process_count as process_count
from gnomon.runtime.backends import process_index as process_index
from gnomon.runtime.backends import process_indices as process_indices

if TYPE_CHECKING:
  from gnomon import lax as lax
  from gnomon import numpy as numpy
  from gnomon import ops as ops
  from gnomon import random as random
  from gnomon import test_util as test_util
  from gnomon import testing as testing
  from gnomon.api.checkpoint import checkpoint as checkpoint
  from gnomon.api.checkpoint import remat as remat

__all__ = [
    "Array", "Device", "ShapeDtypeStruct", "allow_f16_reductions",
    "array_garbage_collection_guard", "auto_pcast", "block_until_ready",
    "check_tracer_leaks", "checking_leaks", "checkpoint", "config", "custom_jvp",
    "custom_vjp", "debug_infs", "debug_key_reuse", "debug_nans", "default_backend",
    "default_device", "default_matmul_precision", "default_prng_impl", "device_count",
    "device_get", "device_put", "devices", "disable_jit", "dtypes", "enable_checks",
    "enable_custom_prng", "enable_x64", "ensure_compile_time_eval", "errors",
    "eval_shape", "explain_cache_misses", "float0", "grad", "hessian", "jacfwd",
    "jacobian",
    "jacrev", "jax2tf_associative_scan_reductions", "jit", "jvp", "legacy_prng_key",
    "linearize", "local_device_count", "local_devices", "log_compiles", "make_jaxpr",
    "named_call", "named_scope", "no_execution", "no_tracing", "numpy_dtype_promotion",
    "numpy_rank_promotion", "process_count", "process_index", "process_indices",
    "remat", "remove_size_one_mesh_axis_from_type", "softmax_custom_jvp",
    "thread_guard", "threefry_partitionable", "transfer_guard",
    "transfer_guard_device_to_device", "transfer_guard_device_to_host",
    "transfer_guard_host_to_device", "tree", "tree_util", "typeof", "typing",
    "value_and_grad", "vjp", "vmap"]

__getattr__, __dir__ = lazy_slices(__all__)
