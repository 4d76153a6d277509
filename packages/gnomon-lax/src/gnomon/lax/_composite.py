"""`composite`: functions that compilers may know by name."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gnomon.api import tools
from gnomon.core import dtypes
from gnomon.core.effects import Effects
from gnomon.core.jaxpr import ClosedJaxpr, eval_jaxpr
from gnomon.core.primitive import Primitive
from gnomon.core.rule import batch_rule, effects_rule, jvp_rule, lower, typing_rule
from gnomon.core.trace import Tracer
from gnomon.errors import UnexpectedTracerError
from gnomon.lax._control.common import as_arrays, check_functions, flatten, trace_body
from gnomon.runtime.jaxlib import arrays, mlir
from gnomon.transform.jvp import jvp_jaxpr, moves_of, moving, place
from gnomon.transform.vmap import batch_jaxpr

Values = Sequence[Any]
ir = mlir.ir


def composite(
    decomposition: Callable[..., Any], name: str, version: int = 0) -> Callable[..., Any]:
  """A function that appears in compiled programs as an operation of its own name.

  A compiler that knows the name can emit something better; any other compiles the
  decomposition. Derivatives, and mapped forms, are those of the decomposition.

  Args:
    decomposition: the function; its positional arguments are the operands, its keyword
      arguments the attributes of the operation.
    name: the name, such as `"my.tangent"`.
    version: a number that says which meaning of the name is meant.

  Returns:
    A function. Its keyword arguments are bools, numbers, strings, dtypes, NumPy arrays,
    or tuples and lists of these; those that are None are no attributes.

  >>> from gnomon import lax
  >>> tangent = lax.composite(lambda x: lax.div(lax.sin(x), lax.cos(x)), "my.tangent")
  >>> round(float(tangent(1.0)), 4)
  1.5574

  Raises:
    TypeError: the decomposition cannot be called; an attribute is of another type.
    UnexpectedTracerError: an attribute is an array of the library, or the decomposition
      closes over a traced value: pass it as a positional argument.
  """
  check_functions("composite", decomposition=decomposition)

  @functools.wraps(decomposition)
  def call(*args: Any, **kwargs: Any) -> Any:
    attributes = []
    for key, value in kwargs.items():
      leaves, tree = flatten(value)
      for leaf in leaves:
        _check_attribute(name, key, leaf)
      if value is not None:
        attributes.append(
            (key, tuple([_Constant(x) if isinstance(x, np.ndarray) else x
                         for x in leaves]), tree))
    leaves, tree = flatten((args, {}))
    avals = tools.check_leaves(
        leaves, f"the composite {name}", tools.leaf_names(decomposition, tree))
    body = trace_body(
        lambda *xs: decomposition(*xs, **kwargs), "composite", tree, avals)
    for c in body.consts:
      if isinstance(c, Tracer):
        raise UnexpectedTracerError(
            "Found a JAX Tracer as a constant in the decomposition for the composite op "
            f"'{name}'. It closes over a value of type {c.aval} that is being traced. "
            f"Pass it as a positional argument instead. {c.origin(past=True)}".rstrip())
    jaxpr = body.jaxpr
    if body.consts:  # arrays are constants of the function
      jaxpr = ClosedJaxpr(
          jaxpr.jaxpr.replace(
              constvars=jaxpr.jaxpr.invars[:len(body.consts)],
              invars=jaxpr.jaxpr.invars[len(body.consts):]), body.consts)
    outs = composite_p.apply(
        *leaves, name=name, version=version, attributes=tuple(attributes), jaxpr=jaxpr)
    return body.out_tree.unflatten(as_arrays(outs))

  return call


class _Constant:
  """A NumPy array among attributes, compared by its elements."""

  __slots__ = ("key", "value")

  def __init__(self, value: np.ndarray[Any, Any]) -> None:
    self.value = value
    self.key = (value.shape, value.dtype, value.tobytes())

  def __eq__(self, other: object) -> bool:
    return type(other) is _Constant and other.key == self.key

  def __hash__(self) -> int:
    return hash(self.key)

  def __repr__(self) -> str:
    return repr(self.value)


_PLAIN = (bool, int, float, str, np.generic, np.ndarray, np.dtype, type)


def _check_attribute(name: str, key: str, value: Any) -> None:
  if isinstance(value, (Tracer, arrays.Array)):
    raise UnexpectedTracerError(
        f"Found an array of type {value.aval} as the attribute {key} of the composite op "
        f"'{name}'. Note: If you are passing jax arrays as attributes, use numpy arrays "
        "instead.")
  if not isinstance(value, _PLAIN):
    raise TypeError(
        f"the attribute {key} of the composite op '{name}' is {value!r} of type "
        f"{type(value)}: expected a bool, number, string, dtype, NumPy array, or a tuple "
        "or list of these")


composite_p = Primitive("composite", call=True)
typing_rule.define(composite_p)(lambda *_, jaxpr, **__: tuple(jaxpr.out_avals))


@effects_rule.define(composite_p)
def _(*_: Any, jaxpr: ClosedJaxpr, **__: Any) -> Effects:
  return jaxpr.effects


@lower.define(composite_p)
def _(ctx: Any, *values: Any, name: str, version: int, attributes: Any,
      jaxpr: ClosedJaxpr) -> Values:
  found = {}
  for key, leaves, tree in attributes:
    parts = tree.unflatten([x.value if type(x) is _Constant else x for x in leaves])
    found[key] = attribute(ctx.b, parts)
  outs: Values = ctx.composite(name, jaxpr, values, version, found)
  return outs


def attribute(b: Any, x: Any) -> Any:
  """A value as an attribute of a compiled program."""
  if isinstance(x, (tuple, list)):
    return ir.ArrayAttr.get([attribute(b, v) for v in x])
  if isinstance(x, (bool, np.bool_)):
    return b.flag(bool(x))
  if isinstance(x, str):
    return b.string(x)
  if isinstance(x, int):
    return b.i64(x)
  if isinstance(x, float):
    return ir.FloatAttr.get(ir.F64Type.get(), x)
  if isinstance(x, np.ndarray):
    return b.dense(x)
  if isinstance(x, np.generic):
    if dtypes.issubdtype(x.dtype, np.integer):
      return ir.IntegerAttr.get(b.element(x.dtype), int(x))
    return ir.FloatAttr.get(b.element(x.dtype), float(x))
  return ir.TypeAttr.get(b.element(np.dtype(x)))


@jvp_rule.define(composite_p)
def _(primals: Values, tangents: Values, *, jaxpr: ClosedJaxpr, **params: Any) -> Any:
  outs = composite_p.apply(*primals, jaxpr=jaxpr, **params)
  transformed, moved = jvp_jaxpr(jaxpr, moves_of(tangents))
  both = eval_jaxpr(
      transformed.jaxpr, transformed.consts, *primals, *moving(tangents))
  return outs, place(both[len(outs):], moved, jaxpr.out_avals)


@batch_rule.define(composite_p)
def _(axis: Any, args: Values, dims: Values, *, jaxpr: ClosedJaxpr, **_: Any) -> Any:
  batched, places = batch_jaxpr(jaxpr, axis, tuple(dims))
  return eval_jaxpr(batched.jaxpr, batched.consts, *args), places
