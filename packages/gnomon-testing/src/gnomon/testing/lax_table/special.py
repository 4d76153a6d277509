"""Special functions, against SciPy in double precision."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import scipy.special

from gnomon import lax
from gnomon.testing.op_table import REALS, OpRecord, elementwise_samples, op_table

Op = Callable[..., Any]
_SLACK = {"float32": 3e-5, "float64": 1e-12}


def _add(
    name: str, op: Op, reference: Op, *domains: tuple[float, float], order: int = 2,
    **fields: Any) -> None:
  op_table.add(OpRecord(
      name, op, reference, elementwise_samples(len(domains), domains=domains), REALS,
      order=order, tolerance=_SLACK, **fields))


_add("lgamma", lax.lgamma, scipy.special.gammaln, (0.3, 5))
_add("digamma", lax.digamma, scipy.special.digamma, (0.5, 5))
_add("erf", lax.erf, scipy.special.erf, (-2, 2))
_add("erfc", lax.erfc, scipy.special.erfc, (-2, 2))
_add("erf_inv", lax.erf_inv, scipy.special.erfinv, (-0.8, 0.8))
_add("bessel_i0e", lax.bessel_i0e, scipy.special.i0e, (0.3, 5))
_add("bessel_i1e", lax.bessel_i1e, scipy.special.i1e, (0.3, 5))
_add("igamma", lax.igamma, scipy.special.gammainc, (0.7, 3), (0.5, 3), order=1)
_add("igammac", lax.igammac, scipy.special.gammaincc, (0.7, 3), (0.5, 3), order=1)
_add("polygamma", lax.polygamma,
     lambda m, x: scipy.special.polygamma(m.astype(int), x), (1, 1), (0.7, 4), order=0)
_add("zeta", lax.zeta, scipy.special.zeta, (1.5, 4), (0.7, 4), order=0)
_add("betainc", lax.betainc, scipy.special.betainc, (0.7, 3), (0.7, 3), (0.2, 0.8),
     order=0, primitives=("regularized_incomplete_beta",))
op_table.structured(
    "packages/gnomon-lax/tests/test_special.py", "igamma_grad_a", "random_gamma_grad")
