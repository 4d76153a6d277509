"""Where each public name lives. Written by `tools/write_doors.py`."""

NAMES = {
    "_cholesky": (
        "cholesky cholesky_p cholesky_update cholesky_update_p symmetric_product "
        "symmetric_product_p"),
    "_eig": "EigImplementation eig eig_p hessenberg hessenberg_p schur schur_p",
    "_eigh": "EighImplementation eigh eigh_p",
    "_lu": "lu lu_p lu_pivots_to_permutation lu_pivots_to_permutation_p",
    "_qdwh": "qdwh",
    "_qr": "geqrf_p householder_product householder_product_p ormqr ormqr_p qr qr_p",
    "_svd": "SvdAlgorithm svd svd_p",
    "_triangular": "triangular_solve triangular_solve_p",
    "_tridiagonal": "tridiagonal tridiagonal_p tridiagonal_solve tridiagonal_solve_p",
}
