"""Jacobians and Hessians, by mapping derivatives over the standard basis."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gnomon.api import tools
from gnomon.api.flat import Flat, check_arrays
from gnomon.api.grad import _picked, check_real, differentiated
from gnomon.api.remember import remembering
from gnomon.api.vjp import pull_back
from gnomon.core.structural import instantiate, reshape, slice_axis
from gnomon.core.types import typeof
from gnomon.transform.jvp import jvp_flat
from gnomon.transform.linearize import linearize_flat
from gnomon.transform.vmap import Axis, to_dim, vmap_flat

flatten = tools.flatten


def _basis(avals: Sequence[Any]) -> list[np.ndarray[Any, Any]]:
  """The standard basis of a list of arrays: one block of rows an array, side by side."""
  total, start, out = sum(a.size for a in avals), 0, []
  for a in avals:
    block = np.zeros((total, a.size), a.dtype)
    block[start:start + a.size] = np.eye(a.size, dtype=a.dtype)
    start += a.size
    out.append(block.reshape(total, *a.shape))
  return out


def _columns(x: Any, avals: Sequence[Any], axis: int) -> list[Any]:
  """Cuts the basis axis (the first or last) into one piece an array, with its shape."""
  shape, start, out = typeof(x).shape, 0, []
  for a in avals:
    piece = slice_axis(x, start, start + a.size, axis)
    rest = shape[1:] if axis == 0 else shape[:-1]
    out.append(reshape(piece, (*a.shape, *rest) if axis == 0 else (*rest, *a.shape)))
    start += a.size
  return out


def jacfwd(
    fun: Callable[..., Any], argnums: int | Sequence[int] = 0, has_aux: bool = False,
    holomorphic: bool = False) -> Callable[..., Any]:
  """A function that gives the Jacobian of `fun`, column by column (forward mode).

  Efficient for "tall" Jacobians: fewer arguments than results.

  Returns:
    For each result (a pytree) the derivative in each argument (a pytree): an array whose
    shape is that of the result followed by that of the argument.

  >>> import gnomon
  >>> from gnomon import lax
  >>> gnomon.jacfwd(lax.sin)(lax.iota('float32', 3)).shape
  (3, 3)
  """
  tools.check_callable(fun, "jacfwd")

  def jacobian(*args: Any, **kwargs: Any) -> Any:
    nums, rebuild = _picked("jacfwd", fun, argnums, args)
    xs, tree = flatten(tuple([args[i] for i in nums]))
    avals = check_arrays(xs, fun, tree, "jacfwd")
    for a in avals:
      check_real(a, "jacfwd", "inputs", holomorphic, False)
      _no_complex(a, "jacfwd", "input", holomorphic)
    flat = Flat(fun, tree, "jacfwd", has_aux, lambda *ys: fun(*rebuild(*ys), **kwargs))
    n = 0

    def push(*tangents: Any) -> list[Any]:
      nonlocal n
      outs, ts = jvp_flat(flat, xs, tangents)
      n = flat.out_tree.num_leaves
      return [instantiate(t) for t in ts[:n]] + outs

    total = sum(a.size for a in avals)
    outs, dims = vmap_flat(push, Axis(total), _basis(avals), [0] * len(avals))
    columns = [to_dim(t, d, typeof(t).ndim - (d is not None), total)
               for t, d in zip(outs[:n], dims)]
    rows = [tree.unflatten(_columns(c, avals, -1)) for c in columns]
    rows = [r[0] if isinstance(argnums, int) else r for r in rows]
    result = flat.out_tree.unflatten(rows)
    if not has_aux:
      return result
    return result, flat.split(outs[n:])[1]

  return remembering(
      fun, jacobian, ("jacfwd", argnums, has_aux, holomorphic),
      functools.partial(differentiated, argnums))


def _no_complex(aval: Any, who: str, what: str, holomorphic: bool) -> None:
  if aval.dtype.kind == "c" and not holomorphic:
    raise TypeError(
        f"{who} requires real-valued {what}s ({what} dtype that is a sub-dtype of "
        f"np.floating), but got {aval.dtype}. For holomorphic differentiation, pass "
        "holomorphic=True; otherwise use jvp or vjp directly.")


def jacrev(
    fun: Callable[..., Any], argnums: int | Sequence[int] = 0, has_aux: bool = False,
    holomorphic: bool = False, allow_int: bool = False) -> Callable[..., Any]:
  """A function that gives the Jacobian of `fun`, row by row (reverse mode).

  Efficient for "wide" Jacobians: fewer results than arguments. Results as for `jacfwd`.

  >>> import gnomon
  >>> from gnomon import lax
  >>> gnomon.jacrev(lax.sin)(lax.iota('float32', 3)).shape
  (3, 3)
  """
  tools.check_callable(fun, "jacrev")

  def jacobian(*args: Any, **kwargs: Any) -> Any:
    nums, rebuild = _picked("jacrev", fun, argnums, args)
    xs, tree = flatten(tuple([args[i] for i in nums]))
    for a in check_arrays(xs, fun, tree, "jacrev"):
      check_real(a, "jacrev", "inputs", holomorphic, allow_int)
    flat = Flat(fun, tree, "jacrev", has_aux, lambda *ys: fun(*rebuild(*ys), **kwargs))
    outs, lin = linearize_flat(flat, xs)
    outs, aux = flat.split(outs)
    avals = [typeof(o) for o in outs]
    for a in avals:
      check_real(a, "jacrev", "outputs", holomorphic, False)
    total = sum(a.size for a in avals)
    rows, dims = vmap_flat(
        lambda *cts: [instantiate(ct) for ct in pull_back(lin, cts, len(avals))],
        Axis(total), _basis(avals), [0] * len(avals))
    rows = [to_dim(r, d, 0, total) for r, d in zip(rows, dims)]
    by_arg = [_columns(r, avals, 0) for r in rows]
    by_out = [tree.unflatten([a[i] for a in by_arg]) for i in range(len(avals))]
    by_out = [r[0] if isinstance(argnums, int) else r for r in by_out]
    result = flat.out_tree.unflatten(by_out)
    return (result, aux) if has_aux else result

  return remembering(
      fun, jacobian, ("jacrev", argnums, has_aux, holomorphic, allow_int),
      functools.partial(differentiated, argnums))


def hessian(
    fun: Callable[..., Any], argnums: int | Sequence[int] = 0, has_aux: bool = False,
    holomorphic: bool = False) -> Callable[..., Any]:
  """A function that gives the second derivatives of `fun`: forward over reverse mode.

  >>> import gnomon
  >>> from gnomon import lax
  >>> float(gnomon.hessian(lax.square)(3.0))
  2.0
  """
  return jacfwd(
      jacrev(fun, argnums, has_aux=has_aux, holomorphic=holomorphic), argnums,
      has_aux=has_aux, holomorphic=holomorphic)

