"""Minima of functions of vectors, with derivatives by the function's parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

import gnomon.numpy as gnp
from gnomon import grad, lax, vmap
from gnomon.numpy._promotion import check_arraylike, promote_dtypes_inexact
from gnomon.numpy._values import array_of, is_kind
from gnomon.scipy.optimize._bfgs import CONVERGED, Options, State, run

_LIMITED = "l-bfgs-experimental-do-not-rely-on-this"
_UNLIMITED = np.iinfo(np.int32).max


class OptimizeResults(NamedTuple):
  """What `minimize` gives.

  Attributes:
    x: the minimum.
    success: whether the search converged.
    status: 0 if it did; 1 after the most iterations or evaluations; 3 if no step
      decreases the function any more, though its gradient is not small; 5 if the function
      falls on and on.
    fun: the function's value there.
    jac: its gradient, as `gnomon.grad` gives it.
    hess_inv: the estimate of its inverse Hessian; None for L-BFGS. Of a complex vector,
      that by its real parts and then its imaginary parts.
    nfev: how often the function was evaluated.
    njev: how often its gradient was.
    nit: the number of steps.
  """

  x: Any
  success: Any
  status: Any
  fun: Any
  jac: Any
  hess_inv: Any
  nfev: Any
  njev: Any
  nit: Any


def _bfgs_options(
    n: int, maxiter: Any = None, norm: Any = np.inf, gtol: Any = 1e-5,
    line_search_maxiter: int = 10) -> Options:
  iterations = 200 * n if maxiter is None else maxiter
  return Options(iterations, _UNLIMITED, norm, gtol, -1.0, line_search_maxiter, None)


def _lbfgs_options(
    n: int, maxiter: Any = None, norm: Any = np.inf, maxcor: int = 10,
    ftol: Any = 2.220446049250313e-09, gtol: Any = 1e-5, maxfun: Any = None,
    maxgrad: Any = None, maxls: int = 20) -> Options:
  limits = [x for x in (maxfun, maxgrad) if x is not None]
  if len(limits) == 2:
    limits = [gnp.minimum(*limits)]
  return Options(
      200 * n if maxiter is None else maxiter, limits[0] if limits else _UNLIMITED, norm,
      gtol, ftol, maxls, maxcor)


# By method: the options with their defaults, and which of them `tol` stands for.
_METHODS: dict[str, tuple[Callable[..., Options], str]] = {
    "bfgs": (_bfgs_options, "gtol"),
    _LIMITED: (_lbfgs_options, "gtol"),
}


def _tangent_solve(linear: Callable[[Any], Any], y: Any) -> Any:
  """Solves a linear equation given as a function, whose matrix is symmetric."""
  matrix = vmap(linear)(gnp.eye(y.shape[0], dtype=y.dtype))
  return gnp.linalg.solve(matrix, y)


def minimize(
    fun: Callable[..., Any], x0: Any, args: tuple[Any, ...] = (), *, method: str,
    tol: float | None = None,
    options: Mapping[str, Any] | None = None) -> OptimizeResults:
  """A minimum of a function of a vector.

  The derivatives of the minimum and of the value there, by `args` and by what `fun` uses
  besides, are those of the equation that the gradient is zero; that of the starting point
  is zero, as are those of the other results but `jac`. A complex vector is taken as its
  real and imaginary parts.

  Args:
    fun: takes a vector and `args`, returns a real number.
    x0: vector: where to begin.
    args: more arguments of `fun`.
    method: `"BFGS"`, or `"l-bfgs-experimental-do-not-rely-on-this"`, which remembers only
      the last steps.
    tol: the option `gtol`.
    options: `maxiter`: the most steps, by default 200 for each element of `x0`; `gtol`:
      the norm of the gradient below which it is taken for zero, 1e-5; `norm`: the order
      of that norm, infinity. For BFGS also `line_search_maxiter`: how many evaluations
      for one step, 10. For L-BFGS also `maxls`, the same, 20; `maxcor`: how many steps
      are remembered, 10; `ftol`: the relative decrease that is taken for none, 2.2e-9;
      `maxfun` and `maxgrad`: the most evaluations.

  >>> from gnomon import numpy as gnp
  >>> from gnomon.scipy.optimize import minimize
  >>> found = minimize(lambda x: ((x - 3.0) ** 2).sum(), gnp.zeros(2), method="BFGS")
  >>> [round(v, 3) for v in found.x.tolist()], found.success.item()
  ([3.0, 3.0], True)

  Raises:
    TypeError: `x0` is no array, `args` no tuple, an option is unknown, or `fun` does not
      return a real number.
    ValueError: `x0` is no vector, or `method` is unknown.
  """
  if not isinstance(args, tuple):
    raise TypeError(f"minimize: args {args!r} must be a tuple; use args=(x,) for one")
  name = method.lower() if isinstance(method, str) else method
  if name not in _METHODS:
    raise ValueError(
        f"minimize: Method {method} not recognized; expected 'BFGS' or {_LIMITED!r}")
  check_arraylike("minimize", x0)
  (x0,) = map(array_of, promote_dtypes_inexact(x0))
  if x0.ndim != 1:
    raise ValueError(f"minimize: x0 has the shape {x0.shape}; expected a vector")
  complex_, n = is_kind(x0, np.complexfloating), x0.shape[0]

  def vector(parts: Any) -> Any:
    return lax.complex(parts[:n], parts[n:]) if complex_ else parts

  def of_parts(parts: Any) -> Any:
    return fun(vector(parts), *args)

  start = lax.stop_gradient(gnp.concatenate([x0.real, x0.imag]) if complex_ else x0)
  resolved = _resolved(name, start.shape[0], tol, options)

  def solve(gradient: Any, start: Any) -> tuple[Any, State]:
    del gradient
    final = run(of_parts, start, resolved)
    return final.x, final

  parts, final = lax.custom_root(
      grad(of_parts), start, solve, _tangent_solve, has_aux=True)
  whole = resolved.history is None
  x = vector(parts)
  return OptimizeResults(
      x=x, success=final.status == CONVERGED, status=final.status, fun=fun(x, *args),
      jac=grad(fun)(x, *args), hess_inv=final.estimate.inverse if whole else None,
      nfev=final.evaluations, njev=final.evaluations, nit=final.steps)


def _resolved(
    name: str, n: int, tol: float | None, options: Mapping[str, Any] | None) -> Options:
  make, tolerance = _METHODS[name]
  given = {} if tol is None else {tolerance: tol}
  given.update(options or {})
  return make(n, **given)
