"""The table of configuration options: names, types, defaults, accepted values."""

from __future__ import annotations

from typing import Any, NamedTuple


class Option(NamedTuple):
  """One option.

  `traced` ones change what a traced program is, so that caches of programs depend on
  them. The environment variable of `jax_x` is GNOMON_X, or JAX_X.
  """

  name: str
  kind: str  # "bool", "int", "float", "str", "enum", "device"; "any" is not checked
  default: Any
  values: tuple[str, ...] = ()
  optional: bool = False
  traced: bool = False
  env: bool = True

  @property
  def short(self) -> str:
    """The name without the prefix."""
    return self.name.removeprefix("jax_")


GUARD = ("allow", "log", "disallow", "log_explicit", "disallow_explicit")
CHECKING = ("ignore", "raise")
LEVELS = ("UNKNOWN", "O0", "O1", "O2", "O3")
PRNG = (
    "threefry2x32", "threefry4x32", "rbg", "unsafe_rbg", "philox2x32", "philox4x32")
MATMUL = (
    "default", "high", "highest", "bfloat16", "tensorfloat32", "float32",
    "ANY_F8_ANY_F8_F32", "ANY_F8_ANY_F8_F32_FAST_ACCUM", "ANY_F8_ANY_F8_ANY",
    "ANY_F8_ANY_F8_ANY_FAST_ACCUM", "F16_F16_F16", "F16_F16_F32", "BF16_BF16_BF16",
    "BF16_BF16_F32", "BF16_BF16_F32_X3", "BF16_BF16_F32_X6", "BF16_BF16_F32_X9",
    "TF32_TF32_F32", "TF32_TF32_F32_X3", "F32_F32_F32", "F64_F64_F64")

OPTIONS: tuple[Option, ...] = (
    Option("check_vma", "bool", False, traced=True),
    Option("eager_constant_folding", "bool", False, traced=True),
    Option("jax2tf_associative_scan_reductions", "bool", False),
    Option("jax2tf_default_native_serialization", "bool", True),
    Option("jax_allow_f16_reductions", "bool", True, traced=True),
    Option("jax_array_garbage_collection_guard", "enum", None,
        values=("allow", "log", "fatal"), optional=True),
    Option("jax_auto_pcast", "bool", True, traced=True),
    Option("jax_backend_target", "str", ""),
    Option("jax_bcoo_cusparse_lowering", "bool", False),
    Option("jax_captured_constants_report_frames", "int", 0),
    Option("jax_captured_constants_warn_bytes", "int", 2000000000),
    Option("jax_check_proxy_envs", "bool", True, env=False),
    Option("jax_check_static_indices", "bool", False, traced=True),
    Option("jax_check_tracer_leaks", "bool", False, traced=True),  # a cache hides leaks
    Option("jax_compilation_cache_check_contents", "bool", False),
    Option("jax_compilation_cache_dir", "str", None, optional=True),
    Option("jax_compilation_cache_expect_pgle", "bool", False),
    Option("jax_compilation_cache_include_metadata_in_key", "bool", False),
    Option("jax_compilation_cache_max_size", "int", -1),
    Option("jax_compiler_detailed_logging_min_ops", "int", 10),
    Option("jax_compiler_enable_remat_pass", "bool", True),
    Option("jax_cpu_collectives_implementation", "enum", "gloo",
        values=("gloo", "mpi", "megascale"), optional=True),
    Option("jax_cpu_enable_async_dispatch", "bool", True, env=False),
    Option("jax_cpu_get_global_topology_timeout_minutes", "int", 5),
    Option("jax_cpu_get_local_topology_timeout_minutes", "int", 2),
    Option("jax_cross_host_transfer_socket_address", "str", "", env=False),
    Option("jax_cross_host_transfer_timeout_seconds", "int", None,
        optional=True, env=False),
    Option("jax_cross_host_transfer_transfer_size", "int", None,
        optional=True, env=False),
    Option("jax_cross_host_transport_addresses", "str", "", env=False),
    Option("jax_cuda_visible_devices", "str", "all", env=False),
    Option("jax_custom_vjp3", "bool", False, traced=True),
    Option("jax_debug_infs", "bool", False, traced=True),  # C++ must ask again
    Option("jax_debug_key_reuse", "bool", False, traced=True),
    Option("jax_debug_leaked_clients_on_clear_backends", "bool", False),
    Option("jax_debug_log_modules", "str", ""),
    Option("jax_debug_nans", "bool", False, traced=True),
    Option("jax_default_device", "device", None, optional=True, traced=True),
    Option("jax_default_matmul_precision", "enum", None,
        values=MATMUL, optional=True, traced=True),
    Option("jax_default_prng_impl", "enum", "threefry2x32", values=PRNG, traced=True),
    Option("jax_disable_bwd_checks", "bool", False),
    Option("jax_disable_jit", "bool", False, traced=True),
    Option("jax_disable_most_optimizations", "bool", False),
    Option("jax_disable_vmap_shmap_error", "bool", False),
    Option("jax_disallow_mesh_context_manager", "bool", False),
    Option("jax_distributed_debug", "bool", False),
    Option("jax_dump_ir_modes", "str", "stablehlo"),
    Option("jax_dump_ir_to", "str", ""),
    Option("jax_embedded_constants_max_bytes", "int", 32, traced=True),
    Option("jax_enable_checks", "bool", False),
    Option("jax_enable_compilation_cache", "bool", True),
    Option("jax_enable_custom_prng", "bool", False, traced=True),
    Option("jax_enable_pgle", "bool", False, traced=True),
    Option("jax_enable_preemption_service", "bool", True),
    Option("jax_enable_recoverability", "bool", False),
    Option("jax_enable_x64", "bool", False, traced=True),
    Option("jax_error_checking_behavior_divide", "enum", "ignore",
        values=CHECKING, traced=True),
    Option("jax_error_checking_behavior_nan", "enum", "ignore",
        values=CHECKING, traced=True),
    Option("jax_error_checking_behavior_oob", "enum", "ignore",
        values=CHECKING, traced=True),
    Option("jax_exec_time_optimization_effort", "float", 0.0),
    Option("jax_experimental_unsafe_xla_runtime_errors", "bool", False),
    Option("jax_explain_cache_misses", "bool", False),
    Option("jax_explicit_x64_dtypes", "enum", "WARN",
        values=("WARN", "ERROR", "ALLOW"), traced=True),
    Option("jax_export_calling_convention_version", "int", 10),
    Option("jax_export_ignore_forward_compatibility", "bool", False),
    Option("jax_force_dcn_cross_host_transfers", "bool", False, env=False),
    Option("jax_high_dynamic_range_gumbel", "bool", False, traced=True),
    Option("jax_hlo_source_file_canonicalization_regex", "str", None,
        optional=True, traced=True),
    Option("jax_include_debug_info_in_dumps", "bool", True),
    Option("jax_include_full_tracebacks_in_locations", "bool", True),
    Option("jax_legacy_prng_key", "enum", "allow",
        values=("allow", "warn", "error"), traced=True),
    Option("jax_log_checkpoint_residuals", "bool", False),
    Option("jax_log_compiles", "bool", False),
    Option("jax_logging_level", "enum", "NOTSET",
        values=("NOTSET", "DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"),
        optional=True),
    Option("jax_memory_fitting_effort", "float", 0.0),
    Option("jax_memory_fitting_level", "enum", "O2", values=LEVELS),
    Option("jax_mock_gpu_topology", "str", "", env=False),
    Option("jax_mosaic_allow_hlo", "bool", False),
    Option("jax_mutable_array_checks", "bool", True, traced=True),
    Option("jax_no_execution", "bool", False, traced=True),
    Option("jax_no_tracing", "bool", False),
    Option("jax_num_cpu_devices", "int", -1),
    Option("jax_numpy_dtype_promotion", "enum", "standard",
        values=("standard", "strict"), traced=True),
    Option("jax_numpy_rank_promotion", "enum", "allow",
        values=("allow", "warn", "raise"), traced=True),
    Option("jax_oneapi_visible_devices", "str", "all", env=False),
    Option("jax_optimization_level", "enum", "UNKNOWN", values=LEVELS),
    Option("jax_pallas_enable_debug_checks", "bool", False, traced=True),
    Option("jax_pallas_poison_buffers", "bool", False),
    Option("jax_pallas_use_mosaic_gpu", "bool", True, traced=True),
    Option("jax_pallas_verbose_errors", "bool", False),
    Option("jax_persistent_cache_enable_xla_caches", "str",
        "xla_gpu_per_fusion_autotune_cache_dir", optional=True),
    Option("jax_persistent_cache_min_compile_time_secs", "float", 1.0),
    Option("jax_persistent_cache_min_entry_size_bytes", "int", 0),
    Option("jax_pgle_aggregation_percentile", "int", 90),
    Option("jax_pgle_profiling_runs", "int", 3, traced=True),
    Option("jax_pjrt_client_create_options", "str", None, optional=True),
    Option("jax_platform_name", "str", ""),
    Option("jax_platforms", "str", None, optional=True),
    Option("jax_pprint_use_color", "bool", True),
    Option("jax_ragged_dot_use_gpu_pallas_triton_lowering", "bool", False, traced=True),
    Option("jax_ragged_dot_use_ragged_dot_instruction", "bool", True),
    Option("jax_raise_persistent_cache_errors", "bool", False),
    Option("jax_random_seed_offset", "int", 0, traced=True),
    Option("jax_refs_to_pins", "bool", False),
    Option("jax_remat3", "bool", False, traced=True),
    Option("jax_remove_custom_partitioning_ptr_from_cache_key", "bool", False),
    Option("jax_remove_size_one_mesh_axis_from_type", "bool", False, traced=True),
    Option("jax_rocm_visible_devices", "str", "all", env=False),
    Option("jax_scan3", "bool", False, traced=True),
    Option("jax_send_traceback_to_runtime", "enum", "off", values=("off", "on", "full")),
    Option("jax_serialization_version", "int", 0),
    Option("jax_share_binary_between_hosts", "bool", False),
    Option("jax_share_binary_between_hosts_timeout_ms", "int", 1200000),
    Option("jax_softmax_custom_jvp", "bool", False, traced=True),
    Option("jax_sort_devices_by_process_index", "bool", True, env=False),
    Option("jax_source_url_schema", "str", None, optional=True),
    Option("jax_thread_guard", "bool", False),
    Option("jax_threefry_gpu_kernel_lowering", "bool", False, traced=True),
    Option("jax_threefry_partitionable", "bool", True, traced=True),
    Option("jax_traceback_filtering", "enum", "auto",
        values=("off", "tracebackhide", "remove_frames", "quiet_remove_frames", "auto")),
    Option("jax_traceback_in_locations_limit", "int", 100),
    Option("jax_tracer_error_num_traceback_frames", "int", 5),
    Option("jax_transfer_guard", "enum", None, values=GUARD, optional=True),
    Option("jax_transfer_guard_device_to_device", "enum", None,
        values=GUARD, optional=True),
    Option("jax_transfer_guard_device_to_host", "enum", None,
        values=GUARD, optional=True),
    Option("jax_transfer_guard_host_to_device", "enum", None,
        values=GUARD, optional=True),
    Option("jax_use_direct_linearize", "bool", True, traced=True),
    Option("jax_use_emit_pipeline_primitive", "bool", False, traced=True),
    Option("jax_use_magma", "enum", "auto", values=("off", "on", "auto")),
    Option("jax_use_shardy_partitioner", "bool", True, traced=True),
    Option("jax_use_simplified_jaxpr_constants", "bool", False, traced=True),
    Option("jax_xla_backend", "str", "", env=False),
    Option("jax_xla_profile_version", "int", 0, traced=True),
    Option("mock_num_gpu_processes", "int", 0, env=False),
    Option("strong_zeros", "bool", True, traced=True),
    Option("keep_programs", "bool", True),
)
