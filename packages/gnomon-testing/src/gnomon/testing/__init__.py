"""Checks for code that is transformed: derivatives, batching, tables of ops, programs."""

from gnomon.testing.batching import check_vmap as check_vmap
from gnomon.testing.batching import check_vmap_axes as check_vmap_axes
from gnomon.testing.derivatives import check_grads as check_grads
from gnomon.testing.derivatives import check_jvp as check_jvp
from gnomon.testing.derivatives import check_vjp as check_vjp
from gnomon.testing.tolerance import assert_close as assert_close
from gnomon.testing.tolerance import gradient_tolerance as gradient_tolerance
from gnomon.testing.tolerance import value_tolerance as value_tolerance
