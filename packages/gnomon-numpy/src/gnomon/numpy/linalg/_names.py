"""Where each public name lives. Written by `tools/write_doors.py`."""

NAMES = {
    "_det": "SlogdetResult det slogdet",
    "_factors": (
        "EigResult EighResult QRResult SVDResult cholesky eig eigh eigvals eigvalsh qr "
        "svd svdvals"),
    "_norms": "matrix_norm norm vector_norm",
    "_products": (
        "cross diagonal matmul matrix_transpose multi_dot outer tensordot trace vecdot"),
    "_rank": "cond matrix_rank pinv",
    "_systems": "inv lstsq matrix_power solve tensorinv tensorsolve",
}
