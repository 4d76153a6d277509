"""Linear algebra: `scipy.linalg`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
  from gnomon.scipy.linalg._constants import dft as dft
  from gnomon.scipy.linalg._constants import hadamard as hadamard
  from gnomon.scipy.linalg._constants import helmert as helmert
  from gnomon.scipy.linalg._constants import hilbert as hilbert
  from gnomon.scipy.linalg._constants import invhilbert as invhilbert
  from gnomon.scipy.linalg._constants import invpascal as invpascal
  from gnomon.scipy.linalg._constants import pascal as pascal
  from gnomon.scipy.linalg._expm import expm as expm
  from gnomon.scipy.linalg._expm import expm_frechet as expm_frechet
  from gnomon.scipy.linalg._factors import cho_factor as cho_factor
  from gnomon.scipy.linalg._factors import cholesky as cholesky
  from gnomon.scipy.linalg._factors import eigh as eigh
  from gnomon.scipy.linalg._factors import lu as lu
  from gnomon.scipy.linalg._factors import lu_factor as lu_factor
  from gnomon.scipy.linalg._factors import qr as qr
  from gnomon.scipy.linalg._factors import qr_multiply as qr_multiply
  from gnomon.scipy.linalg._factors import svd as svd
  from gnomon.scipy.linalg._functions import funm as funm
  from gnomon.scipy.linalg._functions import solve_sylvester as solve_sylvester
  from gnomon.scipy.linalg._functions import sqrtm as sqrtm
  from gnomon.scipy.linalg._schur import hessenberg as hessenberg
  from gnomon.scipy.linalg._schur import polar as polar
  from gnomon.scipy.linalg._schur import rsf2csf as rsf2csf
  from gnomon.scipy.linalg._schur import schur as schur
  from gnomon.scipy.linalg._structured import block_diag as block_diag
  from gnomon.scipy.linalg._structured import circulant as circulant
  from gnomon.scipy.linalg._structured import companion as companion
  from gnomon.scipy.linalg._structured import convolution_matrix as convolution_matrix
  from gnomon.scipy.linalg._structured import fiedler as fiedler
  from gnomon.scipy.linalg._structured import fiedler_companion as fiedler_companion
  from gnomon.scipy.linalg._structured import hankel as hankel
  from gnomon.scipy.linalg._structured import leslie as leslie
  from gnomon.scipy.linalg._structured import toeplitz as toeplitz
  from gnomon.scipy.linalg._systems import cho_solve as cho_solve
  from gnomon.scipy.linalg._systems import det as det
  from gnomon.scipy.linalg._systems import inv as inv
  from gnomon.scipy.linalg._systems import lu_solve as lu_solve
  from gnomon.scipy.linalg._systems import solve as solve
  from gnomon.scipy.linalg._systems import solve_triangular as solve_triangular
  from gnomon.scipy.linalg._tridiagonal import eigh_tridiagonal as eigh_tridiagonal
else:
  from gnomon._door import open_door as _open_door
  from gnomon.scipy.linalg._names import NAMES as _NAMES

  __getattr__, __dir__, __all__ = _open_door(__name__, _NAMES)
