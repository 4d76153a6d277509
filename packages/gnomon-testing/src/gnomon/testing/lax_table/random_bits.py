"""Random bits: results are known answers or change with the platform."""

from __future__ import annotations

from gnomon.testing.op_table import op_table

op_table.structured(
    "packages/gnomon-lax/tests/test_random_bits.py", "rng_bit_generator", "rng_uniform",
    "threefry2x32")
