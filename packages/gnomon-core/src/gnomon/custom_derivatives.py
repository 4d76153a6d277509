"""Derivative rules given by the user, and what such rules are made of."""

from __future__ import annotations

from typing import Any

from gnomon.api.closure import closure_convert as closure_convert
from gnomon.api.closure import custom_gradient as custom_gradient
from gnomon.api.custom import CustomVJPPrimal as CustomVJPPrimal
from gnomon.api.custom import SymbolicZero as SymbolicZero
from gnomon.api.custom import custom_jvp as custom_jvp
from gnomon.api.custom import custom_vjp as custom_vjp
from gnomon.api.linear_call import linear_call as linear_call
from gnomon.core.structural import zeros_like_aval
from gnomon.core.types import typeof
from gnomon.transform.custom_derivatives import custom_jvp_call_p as custom_jvp_call_p
from gnomon.transform.custom_derivatives import custom_vjp_call_p as custom_vjp_call_p
from gnomon.transform.custom_derivatives import remat_opt_p as remat_opt_p
from gnomon.tree_util import tree_map

custom_jvp_call_jaxpr_p = custom_jvp_call_p  # its name when it did not hold functions

__all__ = [
    "CustomVJPPrimal", "SymbolicZero", "closure_convert", "custom_gradient",
    "custom_jvp", "custom_jvp_call_jaxpr_p", "custom_jvp_call_p", "custom_vjp",
    "custom_vjp_call_p", "custom_vjp_primal_tree_values", "linear_call", "remat_opt_p",
    "zero_from_primal"]


def zero_from_primal(val: Any, symbolic_zeros: bool = False) -> Any:
  """The zero tangents of a pytree: arrays (of float0 for integers), or symbolic.

  >>> from gnomon.custom_derivatives import zero_from_primal
  >>> float(zero_from_primal(2.0)), zero_from_primal(2.0, symbolic_zeros=True)
  (0.0, SymbolicZero(~float32[]))
  """
  def zero(x: Any) -> Any:
    aval = typeof(x).to_tangent_aval()
    return SymbolicZero(aval) if symbolic_zeros else zeros_like_aval(aval)

  return tree_map(zero, val)


def custom_vjp_primal_tree_values(tree: Any) -> Any:
  """The values of a pytree of `CustomVJPPrimal`s, which forward rules may get.

  >>> from gnomon.custom_derivatives import (
  ...     CustomVJPPrimal, custom_vjp_primal_tree_values)
  >>> custom_vjp_primal_tree_values({'x': CustomVJPPrimal(1.0, True)})
  {'x': 1.0}

  Raises:
    TypeError: a leaf is something else.
  """
  def value(leaf: Any) -> Any:
    if not isinstance(leaf, CustomVJPPrimal):
      raise TypeError(
          "custom_vjp_primal_tree_values expects leaves of type CustomVJPPrimal: "
          f"unexpected leaf type {type(leaf)}")
    return leaf.value

  return tree_map(value, tree)
