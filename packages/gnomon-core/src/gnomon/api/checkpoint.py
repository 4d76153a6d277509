"""`checkpoint`: what a backward pass keeps, and what it computes again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from gnomon.api import tools
from gnomon.api.jit import Static, Traced, trace_anew, trace_function
from gnomon.core.calls import bind_call
from gnomon.core.derive import elementwise_batch
from gnomon.core.primitive import Primitive
from gnomon.core.rule import jvp_rule, lower, typing_rule
from gnomon.errors import ConcretizationTypeError
from gnomon.transform.remat import opened, remat_p
from gnomon.tree_util import broadcast_prefix, tree_map

flatten = tools.flatten


def checkpoint(
    fun: Callable[..., Any], *, prevent_cse: bool | Sequence[bool] = True,
    policy: Callable[..., Any] | None = None, static_argnums: int | Sequence[int] = (),
    static_argnames: str | Iterable[str] = (), concrete: Any = False,
) -> Callable[..., Any]:
  """A function that saves only its arguments for its backward pass, or as a policy says.

  In reverse mode its intermediate values are computed again instead of being kept: less
  memory for more work. Values and derivatives stay the same.

  Args:
    fun: the function.
    prevent_cse: keeps the compiler from merging the second computation with the first;
      not needed inside `scan`. A tuple says so for each positional argument.
    policy: says which intermediate values to save after all: one of
      `checkpoint_policies`, or a function that is called with each operation's primitive,
      the types of its operands and its params, and returns a bool, or `Saveable`,
      `Recompute` or `Offloadable` of `ad_checkpoint`.
    static_argnums: positional arguments that are not traced.
    static_argnames: keyword arguments that are not traced.
    concrete: must be False; `static_argnums` takes its place.

  >>> import gnomon
  >>> from gnomon import lax
  >>> float(gnomon.grad(gnomon.checkpoint(lambda x: lax.sin(lax.sin(x))))(0.0))
  1.0
  >>> from gnomon.ad_checkpoint import checkpoint_name
  >>> save_a = gnomon.checkpoint_policies.save_only_these_names('a')
  >>> f = gnomon.checkpoint(
  ...     lambda x: lax.sin(checkpoint_name(lax.sin(x), 'a')), policy=save_a)
  >>> float(gnomon.grad(f)(0.0))
  1.0

  Raises:
    NotImplementedError: `concrete` is true.
    TypeError: when differentiated: the policy returned something else.
    ValueError: when called: `static_argnums` names no argument.
  """
  tools.check_callable(fun, "checkpoint")
  if concrete:
    raise NotImplementedError(
        "The `concrete` option of checkpoint was removed: name the arguments that the "
        "function needs as Python values in `static_argnums` instead")
  nums = tools.int_tuple(static_argnums, "static_argnums")
  held_names = tools.str_tuple(static_argnames, "static_argnames")

  @tools.wraps(fun)
  @tools.filtered
  def remat(*args: Any, **kwargs: Any) -> Any:
    n = len(args)
    fixed = _static(nums, n)
    held = {k: v for k, v in kwargs.items() if k in held_names}
    moving = tuple(x for i, x in enumerate(args) if i not in fixed)
    rest = {k: v for k, v in kwargs.items() if k not in held_names}
    leaves, tree = flatten((moving, rest))
    names = tools.leaf_names(fun, tree, tuple(fixed))
    avals = tools.check_leaves(leaves, "checkpoint", names)
    values = {i: args[i] for i in sorted(fixed)}
    try:
      traced = _traced(fun, tree, tuple(avals), values, held)
    except ConcretizationTypeError as e:
      e.args = (f"{e.args[0]}\n{_CONCRETE}", *e.args[1:])
      raise
    consts = [*traced.jaxpr.consts, *traced.outer]
    outs = bind_call(
        remat_p, *consts, *leaves, jaxpr=opened(traced.jaxpr),
        prevent_cse=_apart(prevent_cse, moving, rest, len(consts)),
        differentiated=False, policy=policy)
    return traced.out_tree.unflatten(outs)

  return remat


class _Held:
  """A static argument that cannot be hashed: its program is not remembered."""

  __slots__ = ("value",)

  def __init__(self, value: Any) -> None:
    self.value = value


def _traced(
    fun: Any, tree: Any, avals: tuple[Any, ...], values: dict[int, Any],
    named: dict[str, Any]) -> Traced:
  """The program of a function; traced once, unless its static arguments have no hash."""
  def static(kind: Any) -> Any:
    return (
        tuple(values), tuple(map(kind, values.values())),
        tuple((k, kind(named[k])) for k in sorted(named)))

  try:
    key = static(Static)
  except TypeError:
    return trace_anew(fun, "checkpoint / remat", tree, avals, static(_Held))
  return trace_function(fun, "checkpoint / remat", tree, avals, key)


_CONCRETE = (
    "Consider using the `static_argnums` parameter of `checkpoint` for arguments that "
    "the function needs as Python values.")


def remat(
    fun: Callable[..., Any], *, prevent_cse: bool = True,
    policy: Callable[..., Any] | None = None, static_argnums: int | Sequence[int] = (),
    concrete: Any = False) -> Callable[..., Any]:
  """Another name for `checkpoint`.

  >>> import gnomon
  >>> from gnomon import lax
  >>> float(gnomon.grad(gnomon.remat(lax.sin))(0.0))
  1.0
  """
  return checkpoint(
      fun, prevent_cse=prevent_cse, policy=policy, static_argnums=static_argnums,
      concrete=concrete)


def _static(nums: Sequence[int], n: int) -> set[int]:
  if any(not -n <= i < n for i in nums):
    raise ValueError(
        "the `static_argnums` argument to checkpoint can only take integer values "
        "greater than or equal to `-len(args)` and less than `len(args)`, but got "
        f"{tuple(nums)}, while `len(args)` = {n}")
  return {i % n for i in nums}


def _apart(
    prevent_cse: Any, args: tuple[Any, ...], kwargs: dict[str, Any], num_consts: int,
) -> bool | tuple[bool, ...]:
  """`prevent_cse`, one a leaf where it differs between arguments."""
  if isinstance(prevent_cse, bool):
    return prevent_cse
  each = (True,) * num_consts + (
      *broadcast_prefix(tuple(prevent_cse), args),
      *[True] * flatten(kwargs)[1].num_leaves)
  return each[0] if len(set(each)) == 1 else each


# ---- names for policies


def checkpoint_name(x: Any, name: str) -> Any:
  """The value `x` (a pytree), by a name that policies of `checkpoint` know it by.

  >>> from gnomon.ad_checkpoint import checkpoint_name
  >>> float(checkpoint_name(1.0, 'scores'))
  1.0
  """
  return tree_map(lambda leaf: name_p.apply(leaf, name=name)[0], x)


name_p = Primitive("name")
typing_rule.define(name_p)(lambda x, *, name: (x,))
lower.define(name_p)(lambda ctx, x, *, name: [x])
jvp_rule.define(name_p)(
    lambda primals, tangents, *, name: (name_p.apply(*primals, name=name), tangents))
elementwise_batch(name_p)
