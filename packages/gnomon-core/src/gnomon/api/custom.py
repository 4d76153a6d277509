"""`custom_jvp`, `custom_vjp`: rules given by the user."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any

from gnomon import _config
from gnomon.api import tools
from gnomon.core import dtypes
from gnomon.core.calls import check_aliases, is_ref
from gnomon.core.structural import add_tangents, instantiate
from gnomon.core.trace import Tracer, get_current
from gnomon.core.types import is_array_like, typeof
from gnomon.core.zero import Zero
from gnomon.errors import UnexpectedTracerError
from gnomon.transform.custom_derivatives import JvpCall, VjpCall
from gnomon.transform.jvp import Moves
from gnomon.tree_util import tree_map

flatten = tools.flatten


class SymbolicZero:
  """A (co)tangent known to be zero, given to rules defined with `symbolic_zeros`."""

  __slots__ = ("aval",)

  def __init__(self, aval: Any) -> None:
    self.aval = aval

  @staticmethod
  def from_primal_value(val: Any) -> SymbolicZero:
    """The zero tangent of a value."""
    return SymbolicZero(typeof(val).to_tangent_aval())

  @property
  def shape(self) -> tuple[int, ...]:
    return self.aval.shape  # type: ignore[no-any-return]

  @property
  def dtype(self) -> Any:
    return self.aval.dtype

  @property
  def ndim(self) -> int:
    return len(self.aval.shape)

  @property
  def size(self) -> int:
    return self.aval.size  # type: ignore[no-any-return]

  @property
  def weak_type(self) -> bool:
    return self.aval.weak_type  # type: ignore[no-any-return]

  def __repr__(self) -> str:
    return f"SymbolicZero({self.aval})"


class _Custom:
  """What the two kinds share: arguments that are not differentiated, and calling."""

  def __init__(
      self, fun: Callable[..., Any], nondiff_argnums: Sequence[int] = (),
      nondiff_argnames: Sequence[str] = ()) -> None:
    tools.check_callable(fun, type(self).__name__)
    functools.update_wrapper(self, fun)
    self.fun = fun
    nums = set(tools.int_tuple(nondiff_argnums, "nondiff_argnums"))
    names_given = tools.str_tuple(nondiff_argnames, "nondiff_argnames")
    if names_given:
      sig = tools.signature_of(fun)
      names = list(sig.parameters) if sig else []
      for name in names_given:
        if name not in names:
          raise ValueError(
              f"nondiff_argnames of {type(self).__name__} names {name!r}, which is no "
              f"argument of {tools.function_name(fun)}")
        nums.add(names.index(name))
    self.nondiff_argnums = tuple(sorted(nums))
    self.nondiff_argnames = names_given

  fun: Callable[..., Any]
  nondiff_argnums: tuple[int, ...]
  nondiff_argnames: tuple[str, ...]

  def __call__(self, *args: Any, **kwargs: Any) -> Any:
    raise NotImplementedError(type(self).__name__)

  def __getattr__(self, name: str) -> Any:
    return tools.inner_rule(self, name)

  def __get__(self, instance: Any, owner: Any = None) -> Any:
    return self if instance is None else functools.partial(self, instance)

  def _split(
      self, args: tuple[Any, ...], kwargs: dict[str, Any],
  ) -> tuple[list[Any], list[Any], Any]:
    """Fixed arguments, differentiable ones, and a function that merges them."""
    if kwargs or self._defaults:
      args = tools.bound_arguments(self.fun, args, kwargs, type(self).__name__)
    n = len(args)
    nums = tuple(i % n for i in self.nondiff_argnums if -n <= i < n)
    held = {i: args[i] for i in nums}
    moving = [x for i, x in enumerate(args) if i not in held]

    def merge(xs: Sequence[Any]) -> list[Any]:  # it lives long, and must not hold `args`
      it = iter(xs)
      return [held[i] if i in held else next(it) for i in range(n)]

    return list(held.values()), moving, merge

  def _check(self, leaves: Sequence[Any], moving: Sequence[Any]) -> list[Any]:
    """The types of the differentiable arguments."""
    try:
      return [typeof(x) for x in leaves]
    except TypeError:
      tree = flatten((tuple(moving), {}))[1]
      names = tools.leaf_names(self.fun, tree, self.nondiff_argnums)
      who = f"{tools.function_name(self.fun)}, which has a custom derivative,"
      return tools.check_leaves(leaves, who, names)

  @functools.cached_property
  def _defaults(self) -> bool:
    sig = tools.signature_of(self.fun)
    return sig is not None and any(
        p.default is not inspect.Parameter.empty for p in sig.parameters.values())


class custom_jvp(_Custom):
  """A function whose forward derivative is given by a rule; reverse mode follows from it.

  The rule takes the primals and the tangents, tuples of the arguments, and returns the
  result and its tangent; it must be linear in the tangents. Arguments numbered in
  `nondiff_argnums` come first, as they are.

  >>> import gnomon
  >>> from gnomon import lax
  >>> @gnomon.custom_jvp
  ... def f(x):
  ...   return lax.sin(x)
  >>> @f.defjvp
  ... def _(primals, tangents):
  ...   (x,), (t,) = primals, tangents
  ...   return f(x), lax.mul(t, 10.0)
  >>> float(gnomon.grad(f)(1.0))
  10.0
  """

  __slots__ = ("fun", "jvp", "nondiff_argnames", "nondiff_argnums", "symbolic_zeros")

  jvp: Callable[..., Any] | None
  symbolic_zeros: bool

  def __init__(
      self, fun: Callable[..., Any], nondiff_argnums: Sequence[int] = (),
      nondiff_argnames: Sequence[str] = ()) -> None:
    super().__init__(fun, nondiff_argnums, nondiff_argnames)
    self.jvp, self.symbolic_zeros = None, False

  def defjvp(
      self, jvp: Callable[..., Any], symbolic_zeros: bool = False) -> Callable[..., Any]:
    """Gives the rule; with `symbolic_zeros` it gets `SymbolicZero`s for zero tangents."""
    self.jvp, self.symbolic_zeros = jvp, symbolic_zeros
    return jvp

  def defjvps(self, *jvps: Callable[..., Any] | None) -> None:
    """Gives a rule an argument: `jvp(tangent, result, *primals)`, or None for zero."""
    if self.nondiff_argnums:
      raise TypeError("defjvps does not support nondiff_argnums: use defjvp")

    def jvp(primals: Any, tangents: Any) -> Any:
      out = self(*primals)
      total: Any = None
      for rule, t in zip(jvps, tangents, strict=True):
        if rule is not None:
          part = rule(t, out, *primals)
          total = part if total is None else tree_map(add_tangents, total, part)
      if total is None:
        total = tree_map(lambda x: instantiate(Zero(typeof(x).to_tangent_aval())), out)
      return out, total

    self.defjvp(jvp)

  def __call__(self, *args: Any, **kwargs: Any) -> Any:
    if self.jvp is None:
      raise AttributeError(
          f"No JVP defined for custom_jvp function {tools.function_name(self.fun)} using "
          "defjvp.")
    fixed, moving, merge = self._split(args, kwargs)
    leaves, tree = flatten(tuple(moving))
    self._check(leaves, moving)
    name, rule, symbolic = tools.function_name(self.fun), self.jvp, self.symbolic_zeros
    out_tree: Any = None

    def flat(*xs: Any) -> list[Any]:
      nonlocal out_tree
      outs, out_tree = tools.results_to_flat(
          self.fun(*merge(tree.unflatten(xs))), "custom_jvp", self.fun)
      return outs

    def flat_rule(primals: Any, tangents: Any) -> Any:
      nonlocal out_tree
      ts = [
          SymbolicZero(t.aval) if symbolic and type(t) is Zero else instantiate(t)
          for t in tangents]
      pair = rule(*fixed, tree.unflatten(primals), tree.unflatten(ts))
      outs, touts, out_tree = _check_jvp(pair, name, out_tree)
      return outs, touts

    flat_rule.__name__ = tools.function_name(rule)
    call = JvpCall(flat, flat_rule, name, symbolic)
    outs = get_current().custom_jvp(call, leaves)
    return out_tree.unflatten(outs)


def _check_jvp(pair: Any, name: str, known: Any) -> tuple[list[Any], list[Any], Any]:
  if not isinstance(pair, (tuple, list)) or len(pair) != 2:
    raise TypeError(
        f"the custom JVP rule of {name} must return a pair (primal_out, tangent_out), "
        f"got {pair!r}")
  outs, out_tree = flatten(pair[0])
  ts, t_tree = flatten(pair[1])
  if out_tree != t_tree:
    raise TypeError(
        f"the custom JVP rule of {name} must return a primal and a tangent of one "
        f"structure, got {out_tree} and {t_tree}")
  if known is not None and known != out_tree:
    raise TypeError(
        f"the custom JVP rule of {name} must return a primal of the structure of the "
        f"function's result, {known}, got {out_tree}")
  for o, t in zip(outs, ts):
    if type(t) is SymbolicZero:
      continue
    expected, got = typeof(o).to_tangent_aval(), typeof(t)
    if expected.shape != got.shape or expected.dtype not in (got.dtype, dtypes.float0):
      raise TypeError(
          f"the custom JVP rule of {name} must return a tangent of the type of the "
          f"primal, {expected}, got {got}")
  return outs, [_tangent_of(o, t) for o, t in zip(outs, ts)], out_tree


def _tangent_of(out: Any, t: Any) -> Any:
  if type(t) is SymbolicZero:
    return Zero(t.aval)
  aval = typeof(out).to_tangent_aval()
  return Zero(aval) if aval.dtype == dtypes.float0 else t


class CustomVJPPrimal:
  """An argument as a forward rule defined with `symbolic_zeros` sees it."""

  __slots__ = ("perturbed", "value")

  def __init__(self, value: Any, perturbed: bool) -> None:
    self.value, self.perturbed = value, perturbed

  def __repr__(self) -> str:
    return f"CustomVJPPrimal(value={self.value!r}, perturbed={self.perturbed})"


class custom_vjp(_Custom):
  """A function whose reverse derivative is given by two rules.

  `fwd(*args)` returns the result and residuals; `bwd(residuals, cotangent)` a tuple with
  the cotangent of each differentiable argument (None for zero). Arguments numbered in
  `nondiff_argnums` are passed to `bwd` first.

  >>> import gnomon
  >>> from gnomon import lax
  >>> @gnomon.custom_vjp
  ... def f(x):
  ...   return lax.sin(x)
  >>> f.defvjp(lambda x: (f(x), x), lambda x, ct: (lax.mul(ct, 10.0),))
  >>> float(gnomon.grad(f)(1.0))
  10.0
  """

  def __init__(
      self, fun: Callable[..., Any], nondiff_argnums: Sequence[int] = (),
      nondiff_argnames: Sequence[str] = ()) -> None:
    super().__init__(fun, nondiff_argnums, nondiff_argnames)
    self.fwd: Callable[..., Any] | None = None
    self.bwd: Callable[..., Any] | None = None
    self.symbolic_zeros = self.optimize_remat = False

  def defvjp(
      self, fwd: Callable[..., Any], bwd: Callable[..., Any],
      symbolic_zeros: bool = False, optimize_remat: bool = False) -> None:
    """Gives the two rules.

    With `symbolic_zeros` the forward rule gets arguments as `CustomVJPPrimal`s, and the
    backward rule `SymbolicZero`s for cotangents that are zero.
    """
    self.fwd, self.bwd = fwd, bwd
    self.symbolic_zeros, self.optimize_remat = symbolic_zeros, optimize_remat

  def __call__(self, *args: Any, **kwargs: Any) -> Any:
    if self.fwd is None or self.bwd is None:
      raise AttributeError(
          f"No VJP defined for custom_vjp function {tools.function_name(self.fun)} using "
          "defvjp.")
    fixed, moving, merge = self._split(args, kwargs)
    for x in flatten(fixed)[0]:
      if isinstance(x, Tracer):
        raise UnexpectedTracerError(
            f"the custom_vjp function {tools.function_name(self.fun)} got a traced value "
            f"of type {x.aval} for one of its nondiff_argnums: its backward rule would "
            "read it when its trace has ended. Pass it as a differentiable argument, for "
            "which the rule returns None. " + x.origin(past=True))
    leaves, tree = flatten(tuple(moving))
    avals = self._check(leaves, moving)
    if any(map(is_ref, leaves)):
      check_aliases(
          "custom_vjp", tools.describe_function(self.fun), leaves, (),
          tools.leaf_names(self.fun, flatten((tuple(moving), {}))[1],
              self.nondiff_argnums))
    fwd, bwd, symbolic = self.fwd, self.bwd, self.symbolic_zeros
    name = tools.function_name(self.fun)
    out_tree: Any = None

    def flat(*xs: Any) -> list[Any]:
      nonlocal out_tree
      outs, out_tree = tools.results_to_flat(
          self.fun(*merge(tree.unflatten(xs))), "custom_vjp", self.fun)
      return outs

    def flat_fwd(moves: Moves, *xs: Any) -> Any:
      nonlocal out_tree
      if symbolic:
        xs = tuple(CustomVJPPrimal(x, m) for x, m in zip(xs, moves))
      pair = fwd(*merge(tree.unflatten(xs)))
      if not isinstance(pair, (tuple, list)) or len(pair) != 2:
        raise TypeError(
            f"the custom VJP fwd rule of {name} must return a pair (result, residuals), "
            f"got {pair!r}")
      outs, fwd_tree = flatten(pair[0])
      if out_tree is not None and out_tree != fwd_tree:
        raise TypeError(
            f"the custom VJP fwd rule of {name} must return a result of the structure of "
            f"the function's, {out_tree}, got {fwd_tree}")
      out_tree = fwd_tree
      res, res_tree = flatten(pair[1])
      given = {id(x) for x in xs}
      if any(is_ref(x) and id(x) not in given for x in res):
        raise ValueError(
            f"the custom_vjp fwd function of {name} returned a mutable array reference "
            "among its residuals that is none of its arguments. Return what it holds, "
            "or pass the reference in")
      return outs, res, (res_tree, fwd_tree)

    def flat_bwd(trees: Any, res: Sequence[Any], cts: Sequence[Any]) -> list[Any]:
      res_tree, fwd_tree = trees
      cts = [SymbolicZero(ct.aval) if type(ct) is Zero else ct for ct in cts]
      found = bwd(*fixed, res_tree.unflatten(res), fwd_tree.unflatten(cts))
      return _check_bwd(found, tree, avals, name)

    flat_bwd.__name__ = tools.function_name(bwd)
    call = VjpCall(
        flat, flat_fwd, flat_bwd, name,
        (tools.function_name(fwd), tools.function_name(bwd)), symbolic,
        self.optimize_remat)
    outs = get_current().custom_vjp(call, leaves)
    return out_tree.unflatten(outs)


def _check_bwd(found: Any, tree: Any, avals: Sequence[Any], name: str) -> list[Any]:
  """The cotangents that a backward rule returned, one a leaf; None stands for zeros."""
  if isinstance(found, list):
    found = tuple(found)
  children = tree.children()
  if not isinstance(found, tuple) or len(found) != len(children):
    got = (
        f"a tuple of {len(found)}" if isinstance(found, tuple) else type(found).__name__)
    raise TypeError(
        f"Custom VJP bwd rule of {name} must produce a tuple with one cotangent an "
        f"argument ({len(children)}), got {got}")
  out: list[Any] = []
  for i, (ct, child) in enumerate(zip(found, children)):
    if ct is None:
      out += [None] * child.num_leaves
      continue
    parts = _up_to(child, ct)
    if parts is None:
      raise TypeError(
          f"the custom VJP bwd rule of {name} returned for argument {i} a cotangent of "
          f"the structure {flatten(ct)[1]}; the argument has the structure {child}")
    out += parts
  checked = []
  unchecked = _config.current().disable_bwd_checks
  for i, (ct, aval) in enumerate(zip(out, avals)):
    tangent = aval.to_tangent_aval()
    if ct is None or tangent.dtype == dtypes.float0:
      checked.append(Zero(tangent))
      continue
    if type(ct) is SymbolicZero:
      if (ct.shape, ct.dtype) != (tangent.shape, tangent.dtype) and not unchecked:
        raise ValueError(
            f"the custom VJP bwd rule of {name} returned a symbolic zero of the type "
            f"{ct.aval} for the argument leaf {i}, whose cotangents have the type "
            f"{tangent}. Consider just returning a None here")
      checked.append(Zero(tangent))
      continue
    if unchecked:
      checked.append(ct)
      continue
    own: Any = typeof(ct) if is_array_like(ct) else f"{ct!r}, which is no array"
    if type(own) is str or own.shape != tangent.shape or own.dtype != tangent.dtype:
      raise ValueError(
          f"at output[{i}] the bwd rule produced an output of type {own}, but the "
          f"argument of {name} there expects a cotangent of type {tangent}")
    checked.append(ct)
  return checked


def _up_to(tree: Any, ct: Any) -> list[Any] | None:
  """A cotangent's leaves at those of an argument; None may stand for any part of it."""
  leaves: list[Any]
  leaves, got = flatten(ct)
  if got == tree or (tree.num_leaves == 1 and len(leaves) == 1 and got.num_nodes == 1):
    return leaves
  try:
    return tree.flatten_up_to(ct)  # type: ignore[no-any-return]
  except (ValueError, TypeError):
    return None
