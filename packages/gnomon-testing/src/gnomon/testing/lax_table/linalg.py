"""Linear algebra: every factorisation is tested in files of its own."""

from __future__ import annotations

from gnomon.testing.op_table import op_table

op_table.structured(
    "packages/gnomon-lax/tests/test_linalg.py", "cholesky", "cholesky_update", "eig",
    "eigh", "geqp3", "geqrf", "hessenberg", "householder_product", "lu",
    "lu_pivots_to_permutation", "ormqr", "qr", "schur", "svd", "symmetric_product",
    "triangular_solve", "tridiagonal", "tridiagonal_solve")
op_table.structured(
    "packages/gnomon-lax/tests/test_linalg_systems.py", "custom_linear_solve")
