"""The records of `gnomon.lax`: importing this package fills `op_table`."""

from gnomon.testing.lax_table import contractions as contractions
from gnomon.testing.lax_table import elementwise as elementwise
from gnomon.testing.lax_table import indexing as indexing
from gnomon.testing.lax_table import linalg as linalg
from gnomon.testing.lax_table import random_bits as random_bits
from gnomon.testing.lax_table import reductions as reductions
from gnomon.testing.lax_table import shapes as shapes
from gnomon.testing.lax_table import special as special
from gnomon.testing.lax_table import windows as windows
from gnomon.testing.op_table import op_table

# The core's primitives that hold programs, or the rules that users write.
op_table.structured(
    "packages/gnomon-core/tests/test_transformations.py", "jit", "custom_jvp_call",
    "custom_vjp_call", "custom_lin", "remat2", "remat_linear")
op_table.structured("packages/gnomon-core/tests/test_custom.py", "remat_opt")
op_table.structured("packages/gnomon-core/tests/test_linear.py", "linear_call")
op_table.structured(
    "packages/gnomon-core/tests/test_custom_batching.py", "custom_vmap_call",
    "custom_vmap_linear")
op_table.structured("packages/gnomon-core/tests/test_checkpoint.py", "name")
op_table.structured("packages/gnomon-core/tests/test_device.py", "device_put")
op_table.structured("packages/gnomon-lax/tests/test_explicit.py", "reshard")
for _name in ("cond", "scan", "while"):
  op_table.structured(f"packages/gnomon-lax/tests/test_{_name}.py", _name)
op_table.structured(
    "packages/gnomon-lax/tests/test_collectives.py", "all_gather", "all_gather_invariant",
    "all_to_all", "axis_index", "pbroadcast", "pmax", "pmin", "ppermute", "psum",
    "ragged_all_to_all", "reduce_scatter")
op_table.structured(
    "packages/gnomon-lax/tests/test_platform.py", "after_all", "approx_top_k",
    "composite", "create_token", "dce_sink", "platform_index", "precv", "psend",
    "sharding_constraint", "stage", "stop_gradient")
op_table.structured(
    "packages/gnomon-lax/tests/test_ragged_dot.py", "ragged_dot_general", "scaled_dot")
op_table.structured(
    "packages/gnomon-lax/tests/test_reversible_loops.py", "reversible_while",
    "reversible_linear")
