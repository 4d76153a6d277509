"""Policies for `checkpoint`: which values of the forward pass to keep.

A policy is called with an operation's primitive, the types of its operands, and its
params; it says whether the operation's results may be kept for the backward pass.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from gnomon.transform.partial_eval import Offloadable, Recompute, Saveable
from gnomon.transform.remat import nothing_saveable as nothing_saveable

__all__ = [
    "checkpoint_dots", "checkpoint_dots_with_no_batch_dims", "dots_saveable",
    "dots_with_no_batch_dims_saveable", "everything_saveable", "nothing_saveable",
    "offload_dot_with_no_batch_dims", "save_and_offload_only_these_names",
    "save_any_names_but_these", "save_anything_except_these_names",
    "save_from_both_policies", "save_only_these_names"]

def everything_saveable(*_: Any, **__: Any) -> bool:
  """Everything is saved: the backward pass computes nothing again."""
  return True


class _Dots:
  __slots__ = ("only_if_no_batch_dims",)

  def __init__(self, only_if_no_batch_dims: bool) -> None:
    self.only_if_no_batch_dims = only_if_no_batch_dims

  def __call__(self, prim: Any, *args: Any, **params: Any) -> bool:
    if not self.only_if_no_batch_dims:
      return prim.name in ("dot_general", "conv_general_dilated")
    return prim.name == "dot_general" and not any(params["dimension_numbers"][1])

  def __repr__(self) -> str:
    return f"DotsSaveable(only_if_no_batch_dims={self.only_if_no_batch_dims})"


# Saves the results of matrix products and convolutions.
dots_saveable = checkpoint_dots = _Dots(False)
# Saves the results of matrix products without batch dimensions.
dots_with_no_batch_dims_saveable = checkpoint_dots_with_no_batch_dims = _Dots(True)


def offload_dot_with_no_batch_dims(
    offload_src: str, offload_dst: str) -> Callable[..., Any]:
  """Keeps matrix products without batch dimensions, in another memory space.

  Args:
    offload_src: the memory space that they are computed in, such as `'device'`.
    offload_dst: the memory space where they wait, such as `'pinned_host'`.
  """
  def policy(prim: Any, *args: Any, **params: Any) -> Any:
    if dots_with_no_batch_dims_saveable(prim, *args, **params):
      return Offloadable(offload_src, offload_dst)
    return Recompute

  return policy


class _Names:
  """A policy by name: equal to another with the same names, to share programs."""

  __slots__ = ("names",)

  def __init__(self, names: Sequence[str]) -> None:
    self.names = frozenset(names)

  def __call__(self, prim: Any, *args: Any, **params: Any) -> Any:
    raise NotImplementedError(type(self).__name__)

  def __eq__(self, other: object) -> bool:
    return type(other) is type(self) and other.names == self.names

  def __hash__(self) -> int:
    return hash((type(self), self.names))


class _OnlyThese(_Names):
  __slots__ = ()

  def __call__(self, prim: Any, *args: Any, **params: Any) -> bool:
    return prim.name == "name" and params["name"] in self.names

  def __repr__(self) -> str:
    return f"SaveOnlyTheseNames(saveable_names={self.names})"


class _NamesButThese(_Names):
  __slots__ = ()

  def __call__(self, prim: Any, *args: Any, **params: Any) -> bool:
    return prim.name == "name" and params["name"] not in self.names

  def __repr__(self) -> str:
    return f"SaveAnyNamesButThese(names={self.names})"


class _AnythingBut(_Names):
  __slots__ = ()

  def __call__(self, prim: Any, *args: Any, **params: Any) -> bool:
    return prim.name != "name" or params["name"] not in self.names

  def __repr__(self) -> str:
    return f"SaveAnythingExceptTheseNames(names={self.names})"


def save_only_these_names(*names_which_can_be_saved: str) -> Callable[..., bool]:
  """Saves the values that `checkpoint_name` gave one of these names."""
  return _OnlyThese(names_which_can_be_saved)


def save_any_names_but_these(*names_not_to_save: str) -> Callable[..., bool]:
  """Saves the values that have names, but for these."""
  return _NamesButThese(names_not_to_save)


def save_anything_except_these_names(*names_not_to_save: str) -> Callable[..., bool]:
  """Saves everything but the values with these names."""
  return _AnythingBut(names_not_to_save)


def save_and_offload_only_these_names(
    *, names_which_can_be_saved: Sequence[str],
    names_which_can_be_offloaded: Sequence[str], offload_src: str,
    offload_dst: str) -> Callable[..., Any]:
  """Keeps the values with some names, and those with others in another memory space.

  Raises:
    ValueError: a name is among both.
  """
  saved, offloaded = set(names_which_can_be_saved), set(names_which_can_be_offloaded)
  both = saved & offloaded
  if both:
    raise ValueError(
        "The names should be exclusive and should not intersect in "
        f"`names_which_can_be_saved` and `names_which_can_be_offloaded`. Got {saved} and "
        f"{offloaded}: both hold {both}")

  def policy(prim: Any, *args: Any, **params: Any) -> Any:
    name = params["name"] if prim.name == "name" else None
    if name in saved:
      return Saveable
    if name in offloaded:
      return Offloadable(offload_src, offload_dst)
    return Recompute

  return policy


def save_from_both_policies(
    policy_1: Callable[..., Any], policy_2: Callable[..., Any]) -> Callable[..., Any]:
  """Saves what one of two policies saves.

  >>> from gnomon import checkpoint_policies as policies
  >>> both = policies.save_from_both_policies(
  ...     policies.dots_saveable, policies.save_only_these_names('scores'))
  """
  def policy(prim: Any, *args: Any, **params: Any) -> Any:
    found = policy_1(prim, *args, **params)
    if isinstance(found, Offloadable) or found is Saveable or found is True:
      return found
    return policy_2(prim, *args, **params)

  return policy
