"""Options for compiling programs."""

from __future__ import annotations

from typing import Any

import numpy as np

from gnomon.runtime.jaxlib import programs

__all__ = ["create_compile_options"]


def create_compile_options(
    computation: Any, tuple_args: bool, allow_prop_to_inputs: Any,
    allow_prop_to_outputs: Any, backend: Any, np_dev: Any, compiler_options: Any) -> Any:
  """Options for a program on some devices.

  Args:
    computation: the module; its partitioning is not looked at.
    tuple_args: whether arguments come as one tuple.
    allow_prop_to_inputs: for which inputs the partitioner may choose the sharding.
    allow_prop_to_outputs: the same for results.
    backend: the client; the devices tell it.
    np_dev: an array of the devices.
    compiler_options: options of XLA by name, or None.
  """
  del computation, backend
  options = programs.compile_options(
      list(np.asarray(np_dev).flat), dict(compiler_options or {}))
  options.parameter_is_tupled_arguments = tuple_args
  build = options.executable_build_options
  build.allow_spmd_sharding_propagation_to_parameters = list(allow_prop_to_inputs)
  build.allow_spmd_sharding_propagation_to_output = list(allow_prop_to_outputs)
  return options
