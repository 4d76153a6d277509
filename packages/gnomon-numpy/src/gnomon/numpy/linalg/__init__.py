"""Linear algebra on arrays: `numpy.linalg`."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
  from gnomon.numpy.linalg._det import SlogdetResult as SlogdetResult
  from gnomon.numpy.linalg._det import det as det
  from gnomon.numpy.linalg._det import slogdet as slogdet
  from gnomon.numpy.linalg._factors import EighResult as EighResult
  from gnomon.numpy.linalg._factors import EigResult as EigResult
  from gnomon.numpy.linalg._factors import QRResult as QRResult
  from gnomon.numpy.linalg._factors import SVDResult as SVDResult
  from gnomon.numpy.linalg._factors import cholesky as cholesky
  from gnomon.numpy.linalg._factors import eig as eig
  from gnomon.numpy.linalg._factors import eigh as eigh
  from gnomon.numpy.linalg._factors import eigvals as eigvals
  from gnomon.numpy.linalg._factors import eigvalsh as eigvalsh
  from gnomon.numpy.linalg._factors import qr as qr
  from gnomon.numpy.linalg._factors import svd as svd
  from gnomon.numpy.linalg._factors import svdvals as svdvals
  from gnomon.numpy.linalg._norms import matrix_norm as matrix_norm
  from gnomon.numpy.linalg._norms import norm as norm
  from gnomon.numpy.linalg._norms import vector_norm as vector_norm
  from gnomon.numpy.linalg._products import cross as cross
  from gnomon.numpy.linalg._products import diagonal as diagonal
  from gnomon.numpy.linalg._products import matmul as matmul
  from gnomon.numpy.linalg._products import matrix_transpose as matrix_transpose
  from gnomon.numpy.linalg._products import multi_dot as multi_dot
  from gnomon.numpy.linalg._products import outer as outer
  from gnomon.numpy.linalg._products import tensordot as tensordot
  from gnomon.numpy.linalg._products import trace as trace
  from gnomon.numpy.linalg._products import vecdot as vecdot
  from gnomon.numpy.linalg._rank import cond as cond
  from gnomon.numpy.linalg._rank import matrix_rank as matrix_rank
  from gnomon.numpy.linalg._rank import pinv as pinv
  from gnomon.numpy.linalg._systems import inv as inv
  from gnomon.numpy.linalg._systems import lstsq as lstsq
  from gnomon.numpy.linalg._systems import matrix_power as matrix_power
  from gnomon.numpy.linalg._systems import solve as solve
  from gnomon.numpy.linalg._systems import tensorinv as tensorinv
  from gnomon.numpy.linalg._systems import tensorsolve as tensorsolve
else:
  from gnomon._door import open_door as _open_door
  from gnomon.numpy.linalg._names import NAMES as _NAMES

  __getattr__, __dir__, __all__ = _open_door(__name__, _NAMES)
