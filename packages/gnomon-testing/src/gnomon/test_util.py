"""Checks of derivatives against finite differences."""

from gnomon.testing.derivatives import check_grads as check_grads
from gnomon.testing.derivatives import check_jvp as check_jvp
from gnomon.testing.derivatives import check_vjp as check_vjp
