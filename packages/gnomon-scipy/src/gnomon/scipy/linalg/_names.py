"""Where each public name lives. Written by `tools/write_doors.py`."""

NAMES = {
    "_constants": "dft hadamard helmert hilbert invhilbert invpascal pascal",
    "_expm": "expm expm_frechet",
    "_factors": "cho_factor cholesky eigh lu lu_factor qr qr_multiply svd",
    "_functions": "funm solve_sylvester sqrtm",
    "_schur": "hessenberg polar rsf2csf schur",
    "_structured": (
        "block_diag circulant companion convolution_matrix fiedler fiedler_companion "
        "hankel leslie toeplitz"),
    "_systems": "cho_solve det inv lu_solve solve solve_triangular",
    "_tridiagonal": "eigh_tridiagonal",
}
