"""Linear algebra: decompositions of matrices, and systems of equations."""

from gnomon.lax.linalg._cholesky import cholesky as cholesky
from gnomon.lax.linalg._cholesky import cholesky_p as cholesky_p
from gnomon.lax.linalg._cholesky import cholesky_update as cholesky_update
from gnomon.lax.linalg._cholesky import cholesky_update_p as cholesky_update_p
from gnomon.lax.linalg._cholesky import symmetric_product as symmetric_product
from gnomon.lax.linalg._cholesky import symmetric_product_p as symmetric_product_p
from gnomon.lax.linalg._triangular import triangular_solve as triangular_solve
from gnomon.lax.linalg._triangular import triangular_solve_p as triangular_solve_p
