"""`vjp`: reverse mode as a function that pulls cotangents back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from gnomon.api import tools
from gnomon.api.flat import Flat, check_arrays
from gnomon.core import dtypes
from gnomon.core.jaxpr import Jaxpr, Literal, memoised
from gnomon.core.structural import add_tangents, convert, instantiate, traced
from gnomon.core.types import ShapedArray, typeof
from gnomon.core.zero import UndefinedPrimal, Zero
from gnomon.transform.linearize import Linearized, linearize_flat
from gnomon.transform.transpose import backward
from gnomon.tree_util import broadcast_prefix, register_pytree_node, register_static

flatten = tools.flatten


@tools.filtered
def vjp(
    fun: Callable[..., Any], *primals: Any, has_aux: bool = False,
    reduce_axes: Sequence[Any] = ()) -> Any:
  """The value of a function and a function that pulls cotangents back (reverse mode).

  The second is a pytree, whose leaves are the values that the backward pass needs: it may
  be returned from `jit`, mapped over, and so on.

  >>> import gnomon
  >>> from gnomon import lax
  >>> y, pull = gnomon.vjp(lax.mul, 2.0, 3.0)
  >>> [float(ct) for ct in pull(1.0)]
  [3.0, 2.0]

  Raises:
    ValueError: when called: the cotangent does not fit the result.
  """
  if reduce_axes:
    raise NotImplementedError("reduce_axes of vjp is deprecated and not supported")
  tools.check_callable(fun, "vjp")
  xs, tree = flatten(primals)
  check_arrays(xs, fun, tree, "vjp")
  flat = Flat(fun, tree, "vjp", has_aux)
  outs, lin = linearize_flat(flat, xs)
  outs, aux = flat.split(outs)
  result = flat.out_tree.unflatten(outs), make_vjp(fun, xs, tree, outs, flat, lin)
  return (*result, aux) if has_aux else result


def make_vjp(
    fun: Any, xs: Sequence[Any], tree: Any, outs: Sequence[Any], flat: Flat,
    lin: Linearized) -> VJP:
  """The function that pulls cotangents back, of a linearised function."""
  places = {id(x): i for i, x in enumerate(xs)}
  found = [places.get(id(r)) for r in lin.residuals]
  needed = set(found)
  program = _Program(
      lin, tuple(found), tools.describe_function(fun), tree, flat.out_tree,
      [typeof(x) for x in outs])
  return VJP(
      program, [x if i in needed else NotNeeded() for i, x in enumerate(xs)],
      [r for r, p in zip(lin.residuals, found) if p is None])


class _Program:
  """The backward pass of a function without the values that it needs."""

  __slots__ = ("in_tree", "lin", "name", "out_avals", "out_tree", "places")

  def __init__(
      self, lin: Linearized, places: tuple[int | None, ...], name: str, in_tree: Any,
      out_tree: Any, out_avals: list[Any]) -> None:
    self.lin = Linearized(
        lin.jaxpr, [], lin.moves, lin.in_avals, lin.out_moves, lin.out_avals)
    self.places, self.name = places, name
    self.in_tree, self.out_tree, self.out_avals = in_tree, out_tree, out_avals


@register_static
class NotNeeded:
  """Stands in `args_res` of a `VJP` for an argument that the backward pass ignores."""

  __slots__ = ()

  def __eq__(self, other: object) -> bool:
    return type(other) is type(self)

  def __hash__(self) -> int:
    return hash(type(self))

  def __repr__(self) -> str:
    return f"{type(self).__name__}()"


@register_static
class GradValue(NotNeeded):
  """Asks `VJP.with_refs` for a gradient as a value."""

  __slots__ = ()


@register_static
class GradRef(NotNeeded):
  """Stands for a gradient that `VJP.with_refs` added to a mutable reference."""

  __slots__ = ()


@register_static
class DontWant(NotNeeded):
  """Tells `VJP.with_refs` not to compute a gradient."""

  __slots__ = ()


@register_static
class DidntWant(NotNeeded):
  """Stands for a gradient that was not asked for."""

  __slots__ = ()


class VJP:
  """Maps a cotangent of a function's result to those of its arguments.

  A pytree: its leaves are the values that the backward pass needs. `args_res` holds those
  that are arguments of the function, one a leaf of them (`NotNeeded` where it is not),
  and `opaque_residuals` the others.
  """

  __slots__ = ("__weakref__", "_program", "args_res", "opaque_residuals")

  def __init__(
      self, program: Any, args_res: list[Any], opaque_residuals: list[Any]) -> None:
    self._program = program
    self.args_res, self.opaque_residuals = args_res, opaque_residuals

  @property
  def in_tree(self) -> Any:
    return self._program.in_tree

  @property
  def out_tree(self) -> Any:
    return self._program.out_tree

  @property
  def jaxpr(self) -> Any:
    """The linear program of the forward derivative; its constants are the residuals."""
    return self._program.lin.jaxpr

  @property
  def fun(self) -> Callable[..., Any]:
    return self.__call__

  def __call__(self, cotangent: Any, *more: Any) -> Any:
    """The cotangents of the arguments, a tuple of their structures."""
    if more:
      raise TypeError(
          f"The function returned by `vjp` of {self._program.name} was called "
          f"with {1 + len(more)} arguments, but it must be called with a single argument "
          "corresponding to the single value returned by the function (even if that "
          "value is a tuple or other container)")
    found = self._pull(cotangent)
    return self.in_tree.unflatten([
        as_array(ct) if type(ct) is Zero else ct for ct in found])

  def with_refs(self, *wanted: Any) -> Callable[[Any], Any]:
    """A function that maps a cotangent as `wanted` says, one entry an argument.

    Args:
      *wanted: `ad.GradValue()` for a gradient as a value, `ad.DontWant()` for none, or a
        mutable reference to add the gradient to. An entry stands for all leaves below it.
    """
    args = self.in_tree.unflatten([object()] * self.in_tree.num_leaves)
    kinds = broadcast_prefix(
        wanted, args,
        is_leaf=lambda x: isinstance(x, (GradValue, DontWant)) or _is_ref(x))

    needed = [not isinstance(k, DontWant) for k in kinds]

    def pull(cotangent: Any) -> Any:
      found = self._pull(cotangent, needed)
      return self.in_tree.unflatten([_give(ct, k) for ct, k in zip(found, kinds)])

    return pull

  def _pull(self, cotangent: Any, needed: Sequence[bool] | None = None) -> list[Any]:
    p = self._program
    cts, tree = flatten(cotangent)
    if tree != p.out_tree:
      raise ValueError(
          "unexpected tree structure: the argument of a function returned by `vjp` must "
          "have the structure of the result of the differentiated function "
          f"{p.name}, {p.out_tree}; got {tree}")
    cts = [_check_cotangent(ct, a) for ct, a in zip(cts, p.out_avals)]
    rest = iter(self.opaque_residuals)
    residuals = [next(rest) if i is None else self.args_res[i] for i in p.places]
    for i, r in zip(p.places, residuals):
      if r is None or isinstance(r, NotNeeded):
        raise ValueError(
            f"the backward pass of {p.name} needs the argument leaf {i}: set "
            f"args_res[{i}] of the VJP to its value")
    jaxpr = p.lin.jaxpr
    if needed is not None and not all(needed):
      jaxpr = _only(jaxpr, [n for n, m in zip(needed, p.lin.moves) if m])
    lin = Linearized(
        jaxpr, residuals, p.lin.moves, p.lin.in_avals, p.lin.out_moves,
        p.lin.out_avals)
    return pull_back(lin, cts, len(p.out_avals))

  def __repr__(self) -> str:
    return (
        f"VJP(fun={self._program.name}, in_tree={self.in_tree}, out_tree="
        f"{self.out_tree}, args_res={self.args_res}, opaque_residuals="
        f"{self.opaque_residuals})")


def _unflatten(program: _Program, children: Any) -> VJP:
  args_res, opaque = children
  return VJP(program, list(args_res), list(opaque))


register_pytree_node(
    VJP, lambda v: ((v.args_res, v.opaque_residuals), v._program), _unflatten)


def _only(jaxpr: Jaxpr, needed: Sequence[bool]) -> Jaxpr:
  """A linear program without what depends on none of the inputs that are needed."""
  def make() -> Jaxpr:
    reached = {v for v, n in zip(jaxpr.invars, needed) if n}
    eqns = []
    for e in jaxpr.eqns:
      if any(type(v) is not Literal and v in reached for v in e.invars):
        eqns.append(e)
        reached.update(e.outvars)
    return jaxpr.replace(eqns=eqns)

  return memoised(jaxpr, ("only", tuple(needed)), make)  # type: ignore[no-any-return]


def _is_ref(x: Any) -> bool:
  return hasattr(type(x), "__setitem__") and not isinstance(x, (list, dict))


def _give(ct: Any, kind: Any) -> Any:
  if isinstance(kind, DontWant):
    return DidntWant()
  if isinstance(kind, GradValue):
    return as_array(ct) if type(ct) is Zero else ct
  if not _is_ref(kind):
    raise TypeError(
        "with_refs takes ad.GradValue(), ad.DontWant() or a mutable reference for each "
        f"argument, got {kind!r}")
  if type(ct) is not Zero:
    kind[...] = add_tangents(kind[...], ct)
  return GradRef()


def as_array(t: Any) -> Any:
  """A tangent or cotangent for the user: an array, weak where its primal is."""
  aval: Any = t.aval if type(t) is Zero else typeof(t)
  if aval.dtype == dtypes.float0:
    return instantiate(t)
  if type(t) is not Zero:
    return t if hasattr(t, "aval") else traced(t)
  if not aval.shape:
    zero = aval.dtype.type(0)
    return traced(zero.item() if aval.weak_type else zero)
  return convert(instantiate(t), aval.dtype, aval.weak_type)


def _check_cotangent(ct: Any, primal: ShapedArray) -> Any:
  expected, got = primal.to_tangent_aval(), typeof(ct)
  if expected.dtype == dtypes.float0:
    if got.shape != expected.shape:  # whatever is given for an integer counts for nothing
      raise ValueError(
          "unexpected JAX type (e.g. shape/dtype) for argument to VJP function: the "
          f"cotangent of an integer result {primal} has its shape (and dtype float0: use "
          f"numpy.zeros(shape, gnomon.dtypes.float0)), got {got}")
    return Zero(expected)
  if got.shape != expected.shape or got.dtype != expected.dtype:
    raise ValueError(
        "unexpected JAX type (e.g. shape/dtype) for argument to VJP function: got "
        f"{got.str_short(short_dtypes=True)}, but expected "
        f"{expected.str_short(short_dtypes=True)}, the type of the result")
  return ct


def pull_back(
    lin: Linearized, cotangents: Sequence[Any], n: int, masked: bool = True) -> list[Any]:
  """The arguments' cotangents (zeros symbolic) for those of the first `n` results.

  `masked` says whether the given ones may be zero where values were not selected.
  """
  cts = [ct for ct, m in zip(cotangents, lin.out_moves[:n]) if m]
  avals = [v.aval for v in lin.jaxpr.outvars[len(cts):]]
  cts += map(Zero, avals)
  moving = [UndefinedPrimal(a) for a, m in zip(lin.in_avals, lin.moves) if m]
  found = iter(backward(lin.jaxpr, lin.residuals, moving, cts, masked))
  return [next(found) if m else Zero(a) for m, a in zip(lin.moves, lin.in_avals)]
