"""Small programs that some release of jaxlib got wrong; each names its report.

They run with the options that gnomon compiles with. A failure says that this release must
be excluded in `_load.KNOWN_BAD`, or needs an option in `programs.release_options`.
"""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gnomon.core.types import ShapedArray
from gnomon.runtime.jaxlib import arrays


def tensor(shape: tuple[int, ...], dtype: str) -> str:
  return f"tensor<{''.join(f'{n}x' for n in shape)}{dtype}>"


@pytest.mark.parametrize(("dtype", "name", "n"), [
    (np.float64, "f64", 16_385), (np.float32, "f32", 32_769), (np.float32, "f32", 1_000)])
def test_square_and_sum_of_matrix_products(
    runtime: Any, dtype: Any, name: str, n: int) -> None:
  """jax-ml/jax#39103: wrong values for large n on jaxlib 0.10.2."""
  rows, columns, out = (tensor(s, name) for s in ((n, 3), (3, n), (n,)))
  program = runtime.compile(f"""
  func.func @main(%x: {rows}) -> {out} {{
    %one = stablehlo.constant
        dense<[[1., 0., 0.], [0., 1., 0.], [0., 0., 1.]]> : tensor<3x3x{name}>
    %y = stablehlo.dot_general %one, %x, contracting_dims = [1] x [1]
        : (tensor<3x3x{name}>, {rows}) -> {columns}
    %square = stablehlo.multiply %y, %y : {columns}
    %zero = stablehlo.constant dense<0.> : tensor<{name}>
    %sum = stablehlo.reduce(%square init: %zero) applies stablehlo.add
        across dimensions = [0] : ({columns}, tensor<{name}>) -> {out}
    return %sum : {out}
  }}""")
  x = np.zeros((n, 3), dtype)
  x[:, 0] = np.arange(n)
  y = runtime.run(program, ShapedArray((n,), dtype), runtime.put(x))
  np.testing.assert_array_equal(arrays.host_view(y), x[:, 0] ** 2)


# A crash would end the tests, so these run elsewhere.
RANKS = """
import sys
sys.path.insert(0, {path!r})
import numpy as np
from conftest import Runtime
from gnomon.core.types import ShapedArray
from gnomon.runtime.jaxlib import arrays
runtime = Runtime()
def tensor(shape): return f"tensor<{{''.join(f'{{n}}x' for n in shape)}}f32>"
def total(a, b, axis, dims):
  out = tuple(np.delete(b.shape, axis).tolist())
  program = runtime.compile(f'''
  func.func @main(%a: {{tensor(a.shape)}}, %b: {{tensor(b.shape)}})
      -> {{tensor(out)}} {{{{
    %c = stablehlo.broadcast_in_dim %a, dims = {{dims}}
        : ({{tensor(a.shape)}}) -> {{tensor(b.shape)}}
    %product = stablehlo.multiply %c, %b : {{tensor(b.shape)}}
    %zero = stablehlo.constant dense<0.> : tensor<f32>
    %sum = stablehlo.reduce(%product init: %zero) applies stablehlo.add
        across dimensions = [{{axis}}]
        : ({{tensor(b.shape)}}, tensor<f32>) -> {{tensor(out)}}
    return %sum : {{tensor(out)}}
  }}}}''')
  y = runtime.run(program, ShapedArray(out, np.float32), runtime.put(a), runtime.put(b))
  return arrays.host_view(y)
def numbers(*shape):
  return (np.arange(np.prod(shape)) % 5).astype(np.float32).reshape(shape)
a = numbers(3, 1, 2, 2, 8, 8, 8)
assert (total(a, a % 3, 3, list(range(7))) == (a * (a % 3)).sum(3)).all()
a, b = numbers(10, 4, 6), numbers(10, 4, 6, 9, 9, 9, 9, 9)
assert (total(a, b, 2, [0, 1, 2]) == np.einsum("ijk,ijkabcde->ijabcde", a, b)).all()
print("both sums are right")
"""


def test_sums_of_products_of_rank_seven_and_eight() -> None:
  """jax-ml/jax#40412 and #39257: crash or hang on jaxlib 0.10.2 and 0.11.0."""
  code = RANKS.format(path=str(Path(__file__).parent))
  done = subprocess.run(
      [sys.executable, "-c", code], capture_output=True, text=True, check=False,
      timeout=120)
  assert done.returncode == 0, (done.returncode, done.stderr[-2000:])
  assert done.stdout == "both sums are right\n"


def test_small_updates_in_a_loop_take_linear_time(runtime: Any) -> None:
  """jax-ml/jax#40101: each step rewrites the whole array on jaxlib 0.11.1."""
  n = 40_000
  whole = tensor((n,), "f32")
  program = runtime.compile(f"""
  func.func @main(%x: {whole}) -> {whole} {{
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %last = stablehlo.constant dense<{n - 1}> : tensor<i32>
    %start = stablehlo.constant dense<1.> : tensor<f32>
    %r:3 = stablehlo.while(%i = %zero, %y = %x, %sum = %start)
        : tensor<i32>, {whole}, tensor<f32>
    cond {{
      %more = stablehlo.compare LT, %i, %last
          : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %more : tensor<i1>
    }} do {{
      %piece = stablehlo.dynamic_slice %y, %i, sizes = [1]
          : ({whole}, tensor<i32>) -> tensor<1xf32>
      %old = stablehlo.reshape %piece : (tensor<1xf32>) -> tensor<f32>
      %new = stablehlo.add %sum, %old : tensor<f32>
      %update = stablehlo.reshape %new : (tensor<f32>) -> tensor<1xf32>
      %next = stablehlo.add %i, %one : tensor<i32>
      %z = stablehlo.dynamic_update_slice %y, %update, %next
          : ({whole}, tensor<1xf32>, tensor<i32>) -> {whole}
      stablehlo.return %next, %z, %sum : tensor<i32>, {whole}, tensor<f32>
    }}
    return %r#1 : {whole}
  }}""")
  x = runtime.put(np.zeros(n, np.float32))
  seconds = []
  for _ in range(3):
    start = time.process_time()
    y = runtime.run(program, ShapedArray((n,), np.float32), x)
    y.block_until_ready()
    seconds.append(time.process_time() - start)
  np.testing.assert_array_equal(arrays.host_view(y), np.arange(n))
  # Good releases take 0.2 ms, the bad one 500 ms.
  assert min(seconds) < 0.05, seconds


def test_shifted_update_with_a_barrier_before_the_reshape(runtime: Any) -> None:
  """openxla/xla#49176: a shift in place reads what it has written, on every release.

  It happens when a reshape follows at once; a barrier between the two avoids it, and this
  test keeps that way out open.
  """
  text = """
  func.func @main(%x: tensor<4x1x1xi32>) -> tensor<1x4x1xi32> {
    %one = stablehlo.constant dense<1> : tensor<4x1x1xi32>
    %base = stablehlo.add %x, %one : tensor<4x1x1xi32>
    %update = stablehlo.slice %base [0:3, 0:1, 0:1]
        : (tensor<4x1x1xi32>) -> tensor<3x1x1xi32>
    %i = stablehlo.constant dense<1> : tensor<i32>
    %z = stablehlo.constant dense<0> : tensor<i32>
    %y = stablehlo.dynamic_update_slice %base, %update, %i, %z, %z
        : (tensor<4x1x1xi32>, tensor<3x1x1xi32>, tensor<i32>, tensor<i32>, tensor<i32>)
        -> tensor<4x1x1xi32>
    %kept = stablehlo.optimization_barrier %y : tensor<4x1x1xi32>
    %out = stablehlo.reshape %kept : (tensor<4x1x1xi32>) -> tensor<1x4x1xi32>
    return %out : tensor<1x4x1xi32>
  }"""
  x = runtime.put(np.arange(4, dtype=np.int32).reshape(4, 1, 1))
  y = runtime.run(runtime.compile(text), ShapedArray((1, 4, 1), np.int32), x)
  assert arrays.host_view(y).ravel().tolist() == [1, 1, 2, 3]
