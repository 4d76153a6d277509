"""Derivatives: `jvp`, `linearize`, `grad`, `value_and_grad`."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gnomon import _config
from gnomon.api import tools
from gnomon.api.flat import Flat, check_arrays
from gnomon.api.remember import Memo, remembering
from gnomon.api.vjp import as_array, pull_back
from gnomon.core import dtypes
from gnomon.core.types import ShapedArray, typeof
from gnomon.core.zero import Zero
from gnomon.runtime import backends
from gnomon.runtime.jaxlib import arrays
from gnomon.transform.jvp import jvp_flat
from gnomon.transform.linearize import Linearized, linearize_flat
from gnomon.tree_util import Partial

flatten = tools.flatten
_OF_64_BITS = (np.dtype(np.float64), np.dtype(np.complex128))


@tools.filtered
def jvp(
    fun: Callable[..., Any], primals: Any, tangents: Any, has_aux: bool = False) -> Any:
  """The value of a function and its derivative along a direction (forward mode).

  Args:
    fun: a function of arrays, or pytrees of them.
    primals: its arguments, a tuple or list.
    tangents: the direction, of the same structure, shapes and dtypes (float0 for
      integers).
    has_aux: whether `fun` returns `(result, aux)`, where aux is not differentiated.

  Returns:
    `(result, tangent)`, or `(result, tangent, aux)`.

  >>> import gnomon
  >>> from gnomon import lax
  >>> y, t = gnomon.jvp(lax.sin, (0.0,), (2.0,))
  >>> float(t)
  2.0

  Raises:
    TypeError: structures, shapes or dtypes of primals and tangents do not agree.
  """
  compute = functools.partial(_jvp, fun, has_aux)
  return Memo(fun, compute, ("jvp", has_aux), _all_leaves)((primals, tangents), {})


def _all_leaves(args: Any, kwargs: Any) -> list[bool]:
  return [True] * len(flatten((args, kwargs))[0])


def _jvp(fun: Callable[..., Any], has_aux: bool, primals: Any, tangents: Any) -> Any:
  tools.check_callable(fun, "jvp")
  for name, x in (("primals", primals), ("tangents", tangents)):
    if not isinstance(x, (tuple, list)):
      raise TypeError(
          f"primal and tangent arguments to jvp must be tuples or lists; {name} is of "
          f"type {type(x).__name__}")
  xs, tree = flatten(tuple(primals))
  ts, tangent_tree = flatten(tuple(tangents))
  if tree != tangent_tree:
    raise TypeError(
        "primal and tangent arguments to jvp must have the same tree structure; got "
        f"{tree} and {tangent_tree}")
  avals = check_arrays(xs, fun, tree, "jvp")
  ts = [_check_tangent(t, a, i) for i, (t, a) in enumerate(zip(ts, avals))]
  flat = Flat(fun, tree, "jvp", has_aux)
  outs, touts = jvp_flat(flat, xs, ts)
  outs, aux = flat.split(outs)
  touts = [as_array(t) for t in touts[:len(outs)]]
  result = flat.out_tree.unflatten(outs), flat.out_tree.unflatten(touts)
  return (*result, aux) if has_aux else result


def _check_tangent(t: Any, primal: ShapedArray, i: int) -> Any:
  expected = primal.to_tangent_aval()
  got = typeof(t)
  if expected.dtype == dtypes.float0:
    if got.dtype == dtypes.float0 and got.shape == primal.shape:
      return Zero(expected)
    raise TypeError(
        f"jvp: the primal number {i} has dtype {primal.dtype}, whose tangents have dtype "
        f"float0 (use numpy.zeros(shape, gnomon.dtypes.float0)), got a tangent {got}")
  if got.shape != expected.shape or got.dtype != expected.dtype:
    raise TypeError(
        "jvp: primal and tangent arguments must have equal shapes and dtypes, but number "
        f"{i} has the primal {primal} and the tangent {got}")
  return t


@tools.filtered
def linearize(fun: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any:
  """The value of a function and its derivative there as a linear function.

  The function runs once; each call of the linear function costs only the linear part.

  >>> import gnomon
  >>> from gnomon import lax
  >>> y, df = gnomon.linearize(lax.sin, 0.0)
  >>> float(df(3.0))
  3.0

  The linear function is a pytree, whose leaves are the values that it needs.

  Raises:
    TypeError: when called: the tangents have another structure than the primals.
    ValueError: when called: the tangents have other types than the primals.
  """
  tools.check_callable(fun, "linearize")
  xs, tree = flatten(primals)
  avals = check_arrays(xs, fun, tree, "linearize")
  flat = Flat(fun, tree, "linearize", has_aux)
  outs, lin = linearize_flat(flat, xs)
  outs, aux = flat.split(outs)
  n, out_tree = len(outs), flat.out_tree
  push = Partial(_Push(lin, n, tree, out_tree, avals), lin.residuals)
  result = out_tree.unflatten(outs), push
  return (*result, aux) if has_aux else result


class _Push:
  """The linear program of a function, without the values that it needs."""

  __slots__ = ("avals", "lin", "n", "out_tree", "tree")

  def __init__(
      self, lin: Linearized, n: int, tree: Any, out_tree: Any, avals: list[Any]) -> None:
    self.lin = Linearized(
        lin.jaxpr, [], lin.moves, lin.in_avals, lin.out_moves, lin.out_avals)
    self.n, self.tree, self.out_tree, self.avals = n, tree, out_tree, avals

  @property
  def args(self) -> tuple[Any]:
    """The linear program, whose constants are the residuals."""
    return (self.lin.jaxpr,)

  def __call__(self, residuals: list[Any], *tangents: Any) -> Any:
    ts, tree = flatten(tangents)
    if tree != self.tree:
      raise TypeError(
          f"the linearized function takes tangents of the structure {self.tree}, got "
          f"{tree}")
    ts = [_check_pushed(t, a, i) for i, (t, a) in enumerate(zip(ts, self.avals))]
    p = self.lin
    lin = Linearized(
        p.jaxpr, residuals, p.moves, p.in_avals, p.out_moves, p.out_avals)
    return self.out_tree.unflatten(map(as_array, lin(*ts)[:self.n]))


def _check_pushed(t: Any, primal: ShapedArray, i: int) -> Any:
  expected, got = primal.to_tangent_aval(), typeof(t)
  if got.shape != expected.shape or got.dtype != expected.dtype:
    raise ValueError(
        "linearized function called on tangent values inconsistent with the original "
        f"primal values: number {i} has the primal {primal} and the tangent {got}, "
        f"expected {expected}")
  return Zero(expected) if expected.dtype == dtypes.float0 else t


def _picked(
    who: str, fun: Any, argnums: int | Sequence[int], args: tuple[Any, ...],
) -> tuple[tuple[int, ...], Any]:
  """The argument numbers, and what puts those arguments back among the others."""
  nums = (argnums,) if isinstance(argnums, int) else tuple(argnums)
  n = len(args)
  for i in nums:
    if not -n <= i < n:
      least = max((j + 1 if j >= 0 else -j) for j in nums)
      raise TypeError(
          f"{who} of {tools.function_name(fun)}: differentiating with respect to "
          f"argnums={argnums} requires at least {least} positional arguments to be "
          f"passed by the caller, but got only {n} positional arguments.")
  nums = tuple(i % n for i in nums)
  if len(set(nums)) < len(nums):
    raise ValueError(
        f"{who} of {tools.function_name(fun)} with argnums={argnums} counts an argument "
        "twice: give each number once")

  def rebuild(*picked: Any) -> list[Any]:
    full = list(args)
    for i, x in zip(nums, picked):
      full[i] = x
    return full

  return nums, rebuild


def check_real(
    aval: Any, who: str, what: str, holomorphic: bool, allow_int: bool) -> None:
  """Raises `TypeError` unless derivatives in (or of) this type exist."""
  kind = aval.dtype
  if holomorphic:
    if not dtypes.issubdtype(kind, np.complexfloating):
      raise TypeError(
          f"{who} with holomorphic=True requires {what} with complex dtype, but got "
          f"{kind}.")
    return
  if allow_int and not dtypes.issubdtype(kind, dtypes.extended):
    return
  if dtypes.issubdtype(kind, np.complexfloating) and what == "outputs":
    raise TypeError(
        f"{who} requires real-valued outputs (output dtype that is a sub-dtype of "
        f"np.floating), but got {kind}. For holomorphic differentiation, pass "
        "holomorphic=True. For differentiation of non-holomorphic functions involving "
        "complex outputs, use vjp.")
  if not dtypes.issubdtype(kind, np.inexact):
    if what == "outputs":
      raise TypeError(
          f"{who} requires real-valued outputs (output dtype that is a sub-dtype of "
          f"np.floating), but got {kind}. For differentiation of functions with integer "
          "outputs, use vjp.")
    raise TypeError(
        f"{who} requires real- or complex-valued inputs (input dtype that is a sub-dtype "
        f"of np.inexact), but got {kind}. If you want to use Boolean- or integer-valued "
        "inputs, use vjp or set allow_int to True.")


def value_and_grad(
    fun: Callable[..., Any], argnums: int | Sequence[int] = 0, has_aux: bool = False,
    holomorphic: bool = False, allow_int: bool = False, reduce_axes: Sequence[Any] = (),
) -> Callable[..., tuple[Any, Any]]:
  """A function that gives the value of `fun` and its gradient.

  Args and errors: as for `grad`.

  >>> import gnomon
  >>> from gnomon import lax
  >>> v, g = gnomon.value_and_grad(lax.square)(3.0)
  >>> float(v), float(g)
  (9.0, 6.0)
  """
  return _value_and_grad(
      "value_and_grad", fun, argnums, has_aux, holomorphic, allow_int, reduce_axes,
      lambda value, aux, g: ((value, aux), g) if has_aux else (value, g))


def _value_and_grad(
    who: str, fun: Callable[..., Any], argnums: int | Sequence[int], has_aux: bool,
    holomorphic: bool, allow_int: bool, reduce_axes: Sequence[Any],
    form: Callable[[Any, Any, Any], Any]) -> Callable[..., Any]:
  """A function of value, aux and gradient, in the form that `form` gives them."""
  if reduce_axes:
    raise NotImplementedError(f"reduce_axes of {who} is deprecated and not supported")
  tools.check_callable(fun, who)
  argnums = (
      argnums.__index__() if hasattr(argnums, "__index__")
      else tools.int_tuple(argnums, "argnums"))

  def compute(*args: Any, **kwargs: Any) -> Any:
    nums, rebuild = _picked(who, fun, argnums, args)
    picked = tuple([args[i] for i in nums])
    xs, tree = flatten(picked)
    for aval in check_arrays(xs, fun, tree, who):
      check_real(aval, who, "inputs", holomorphic, allow_int)
    flat = Flat(fun, tree, who, has_aux, lambda *ys: fun(*rebuild(*ys), **kwargs))
    outs, lin = linearize_flat(flat, xs)
    outs, aux = flat.split(outs)
    value = flat.out_tree.unflatten(outs)
    one = _unit_cotangent(outs, flat.out_tree, value, who, holomorphic)
    cts = pull_back(lin, [one], 1, masked=False)
    grads = tree.unflatten([as_array(ct) for ct in cts])
    g = grads[0] if isinstance(argnums, int) else grads
    return form(value, aux, g)

  return remembering(
      fun, compute, (who, argnums, has_aux, holomorphic, allow_int),
      functools.partial(differentiated, argnums))


def differentiated(
    argnums: int | Sequence[int], args: tuple[Any, ...], kwargs: Any) -> list[bool]:
  """For each leaf of the arguments, whether the derivative in it is taken."""
  nums = {i % max(len(args), 1) for i in (
      (argnums,) if isinstance(argnums, int) else argnums)}
  out: list[bool] = []
  for i, x in enumerate(args):
    out += [i in nums] * len(flatten(x)[0])
  return out + [False] * len(flatten(kwargs)[0])


def _unit_cotangent(outs: Any, tree: Any, value: Any, who: str, holomorphic: bool) -> Any:
  if tree.num_leaves != 1 or tree.num_nodes != 1:
    raise TypeError(
        f"Gradient only defined for scalar-output functions. Output was {value}. Return "
        "one scalar; use has_aux for further results")
  aval = typeof(outs[0])
  if aval.shape:
    raise TypeError(
        "Gradient only defined for scalar-output functions. Output had shape: "
        f"{aval.shape}. Sum the output, or use gnomon.jacrev for the derivative of an "
        "array")
  check_real(aval, who, "outputs", holomorphic, False)
  if aval.dtype not in _OF_64_BITS or _config.x64():
    return np.ones((), aval.dtype)[()] if not aval.weak_type else _weak_one(aval)
  # It comes from a block with 64-bit types, outside of which only arrays have any.
  device = backends.default_device()
  return arrays.put(
      aval, backends.sharding_of(device), [np.ones((), aval.dtype)], [device],
      committed=False)


def _weak_one(aval: ShapedArray) -> Any:
  return 1.0 if aval.dtype == typeof(1.0).dtype else aval.dtype.type(1)


def grad(
    fun: Callable[..., Any], argnums: int | Sequence[int] = 0, has_aux: bool = False,
    holomorphic: bool = False, allow_int: bool = False, reduce_axes: Sequence[Any] = (),
) -> Callable[..., Any]:
  """A function that gives the gradient of `fun`, whose result is a real scalar.

  Args:
    fun: the function; arguments may be pytrees of arrays.
    argnums: which positional argument or arguments to differentiate in.
    has_aux: whether `fun` returns `(value, aux)`; the gradient function then returns
      `(gradient, aux)`.
    holomorphic: whether `fun` is a holomorphic function of complex numbers.
    allow_int: admits integer arguments; their gradients have dtype float0.
    reduce_axes: must be empty.

  Returns:
    A function with the arguments of `fun`: the gradient has the structure of the argument
    (of a tuple of arguments, where `argnums` is a sequence). For complex arguments it is
    the conjugate of the direction of steepest ascent.

  >>> import gnomon
  >>> from gnomon import lax
  >>> float(gnomon.grad(lax.sin)(0.0))
  1.0

  Raises:
    TypeError: when called: an argument is an integer, or the result no real scalar.
  """
  return _value_and_grad(
      "grad", fun, argnums, has_aux, holomorphic, allow_int, reduce_axes,
      lambda value, aux, g: (g, aux) if has_aux else g)
