"""Checks of derivatives against finite differences."""
# ruff: noqa: INP001 -- gnomon/__init__.py belongs to gnomon-core

from gnomon.testing.derivatives import check_grads as check_grads
from gnomon.testing.derivatives import check_jvp as check_jvp
from gnomon.testing.derivatives import check_vjp as check_vjp
