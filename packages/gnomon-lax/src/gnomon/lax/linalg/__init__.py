"""Linear algebra: decompositions of matrices, and systems of equations."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
  from gnomon.lax.linalg._cholesky import cholesky as cholesky
  from gnomon.lax.linalg._cholesky import cholesky_p as cholesky_p
  from gnomon.lax.linalg._cholesky import cholesky_update as cholesky_update
  from gnomon.lax.linalg._cholesky import cholesky_update_p as cholesky_update_p
  from gnomon.lax.linalg._cholesky import symmetric_product as symmetric_product
  from gnomon.lax.linalg._cholesky import symmetric_product_p as symmetric_product_p
  from gnomon.lax.linalg._eig import EigImplementation as EigImplementation
  from gnomon.lax.linalg._eig import eig as eig
  from gnomon.lax.linalg._eig import eig_p as eig_p
  from gnomon.lax.linalg._eig import hessenberg as hessenberg
  from gnomon.lax.linalg._eig import hessenberg_p as hessenberg_p
  from gnomon.lax.linalg._eig import schur as schur
  from gnomon.lax.linalg._eig import schur_p as schur_p
  from gnomon.lax.linalg._eigh import EighImplementation as EighImplementation
  from gnomon.lax.linalg._eigh import eigh as eigh
  from gnomon.lax.linalg._eigh import eigh_p as eigh_p
  from gnomon.lax.linalg._lu import lu as lu
  from gnomon.lax.linalg._lu import lu_p as lu_p
  from gnomon.lax.linalg._lu import lu_pivots_to_permutation as lu_pivots_to_permutation
  from gnomon.lax.linalg._lu import (
    lu_pivots_to_permutation_p as lu_pivots_to_permutation_p,
  )
  from gnomon.lax.linalg._qdwh import qdwh as qdwh
  from gnomon.lax.linalg._qr import geqrf_p as geqrf_p
  from gnomon.lax.linalg._qr import householder_product as householder_product
  from gnomon.lax.linalg._qr import householder_product_p as householder_product_p
  from gnomon.lax.linalg._qr import ormqr as ormqr
  from gnomon.lax.linalg._qr import ormqr_p as ormqr_p
  from gnomon.lax.linalg._qr import qr as qr
  from gnomon.lax.linalg._qr import qr_p as qr_p
  from gnomon.lax.linalg._svd import SvdAlgorithm as SvdAlgorithm
  from gnomon.lax.linalg._svd import svd as svd
  from gnomon.lax.linalg._svd import svd_p as svd_p
  from gnomon.lax.linalg._triangular import triangular_solve as triangular_solve
  from gnomon.lax.linalg._triangular import triangular_solve_p as triangular_solve_p
  from gnomon.lax.linalg._tridiagonal import tridiagonal as tridiagonal
  from gnomon.lax.linalg._tridiagonal import tridiagonal_p as tridiagonal_p
  from gnomon.lax.linalg._tridiagonal import tridiagonal_solve as tridiagonal_solve
  from gnomon.lax.linalg._tridiagonal import tridiagonal_solve_p as tridiagonal_solve_p
else:
  from gnomon._door import open_door as _open_door
  from gnomon.lax.linalg._names import NAMES as _NAMES

  __getattr__, __dir__, __all__ = _open_door(__name__, _NAMES)
