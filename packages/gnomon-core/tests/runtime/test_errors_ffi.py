"""The runtime's errors in one form; native functions by name."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.linalg

from gnomon.core.types import ShapedArray
from gnomon.runtime.jaxlib import arrays, errors, ffi


def test_status_in_a_value_error_becomes_a_runtime_error() -> None:
  same = errors.normalise(ValueError("INVALID_ARGUMENT: it is wrong"))
  assert type(same) is errors.JaxRuntimeError
  assert str(same) == "INVALID_ARGUMENT: it is wrong"
  assert same.error_code_string == "INVALID_ARGUMENT"


@pytest.mark.parametrize("error", [
    ValueError("shapes do not agree"), ValueError("see INVALID_ARGUMENT: there"),
    TypeError("INTERNAL: no"), KeyError("x")])
def test_other_errors_stay(error: Exception) -> None:
  assert errors.normalise(error) is error


def test_runtime_errors_stay(runtime: Any) -> None:
  with pytest.raises(errors.JaxRuntimeError) as info:
    runtime.compile("func.func @main() { return }", {"no_such_flag": 1})
  assert errors.normalise(info.value) is info.value


def test_lapack_is_registered_once() -> None:
  names = ffi.lapack_registrations()
  assert names is ffi.lapack_registrations()
  assert "lapack_spotrf_ffi" in names
  assert set(names) <= set(ffi.targets("Host")) | set(ffi.targets("cpu"))


def test_lapack_runs(runtime: Any) -> None:
  ffi.lapack_registrations()
  program = runtime.compile("""
  func.func @main(%a: tensor<3x3xf32>) -> tensor<3x3xf32> {
    %out:2 = stablehlo.custom_call @lapack_spotrf_ffi(%a) {
        backend_config = {uplo = 76 : ui8}, api_version = 4 : i32,
        operand_layouts = [dense<[0, 1]> : tensor<2xindex>],
        result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<> : tensor<0xindex>],
        output_operand_aliases = [#stablehlo.output_operand_alias<
            output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>]
    } : (tensor<3x3xf32>) -> (tensor<3x3xf32>, tensor<i32>)
    return %out#0 : tensor<3x3xf32>
  }""")
  a = np.float32([[4, 1, 0], [1, 3, 1], [0, 1, 2]])
  y = runtime.run(program, ShapedArray((3, 3), np.float32), runtime.put(a))
  np.testing.assert_allclose(
      np.tril(arrays.host_view(y)), scipy.linalg.cholesky(a, lower=True), rtol=1e-6)


def test_unknown_target_is_an_error(runtime: Any) -> None:
  with pytest.raises(errors.JaxRuntimeError, match="no_such_target"):
    runtime.compile("""
    func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
      %y = stablehlo.custom_call @no_such_target(%x) {api_version = 4 : i32}
          : (tensor<2xf32>) -> tensor<2xf32>
      return %y : tensor<2xf32>
    }""")
