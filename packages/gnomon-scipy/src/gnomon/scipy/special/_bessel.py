"""Modified Bessel functions of the first kind."""

from __future__ import annotations

from typing import Any

import gnomon.numpy as gnp
from gnomon import lax
from gnomon.numpy._compiled import compiled
from gnomon.numpy._promotion import promote_args_inexact


@compiled()
def i0e(x: Any) -> Any:
  r"""The scaled modified Bessel function of order 0, :math:`e^{-|x|} I_0(x)`.

  Args:
    x: array or number, not complex.

  >>> from gnomon.scipy import special
  >>> round(special.i0e(0.0).item(), 5)
  1.0

  Raises:
    TypeError: `x` is no array and no number.
  """
  return lax.bessel_i0e(*promote_args_inexact("i0e", x))


@compiled()
def i0(x: Any) -> Any:
  r"""The modified Bessel function of order 0, :math:`I_0(x)`, elementwise.

  Args:
    x: array or number, not complex.

  >>> from gnomon.scipy import special
  >>> round(special.i0(0.0).item(), 5)
  1.0

  Raises:
    TypeError: `x` is no array and no number.
  """
  (x,) = promote_args_inexact("i0", x)
  return gnp.exp(gnp.abs(x)) * lax.bessel_i0e(x)


@compiled()
def i1e(x: Any) -> Any:
  r"""The scaled modified Bessel function of order 1, :math:`e^{-|x|} I_1(x)`.

  Args:
    x: array or number, not complex.

  >>> from gnomon.scipy import special
  >>> special.i1e(0.0).item()
  0.0

  Raises:
    TypeError: `x` is no array and no number.
  """
  return lax.bessel_i1e(*promote_args_inexact("i1e", x))


@compiled()
def i1(x: Any) -> Any:
  r"""The modified Bessel function of order 1, :math:`I_1(x)`, elementwise.

  Args:
    x: array or number, not complex.

  >>> from gnomon.scipy import special
  >>> special.i1(0.0).item()
  0.0

  Raises:
    TypeError: `x` is no array and no number.
  """
  (x,) = promote_args_inexact("i1", x)
  return gnp.exp(gnp.abs(x)) * lax.bessel_i1e(x)
