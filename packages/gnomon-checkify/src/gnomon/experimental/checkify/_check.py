"""`check`: a condition that must hold, as an operation of the program."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gnomon import lax
from gnomon.core.effects import Effect
from gnomon.core.primitive import Primitive
from gnomon.core.rule import (
  batch_rule,
  effects_rule,
  impl_rule,
  jvp_rule,
  lower,
  typing_rule,
)
from gnomon.core.structural import broadcast_in_dim
from gnomon.core.trace import Tracer
from gnomon.core.types import typeof
from gnomon.experimental.checkify._errors import (
  Error,
  FailedCheckError,
  JaxRuntimeError,
  Site,
)
from gnomon.runtime.jaxlib import arrays
from gnomon.tree_util import tree_flatten


class CheckEffect(Effect):
  """A check: it stays though it has no results."""


check_effect = CheckEffect()


def check(
    pred: Any, msg: str, *fmt_args: Any, debug: bool = False, **fmt_kwargs: Any) -> None:
  """Says that a condition must hold; `checkify` makes a failure a value.

  Outside of `checkify`, and of compiled functions, a failure is raised.

  Args:
    pred: a boolean scalar.
    msg: what is said if it is false, with places for values as in `str.format`.
    *fmt_args: arrays (or pytrees of them) for those places.
    debug: whether it is a `debug_check`, which nothing but `checkify` looks at.
    **fmt_kwargs: the same by name.

  >>> import gnomon
  >>> from gnomon.experimental import checkify
  >>> def f(x):
  ...   checkify.check(x > 0, "{x} is not positive", x=x)
  ...   return x
  >>> error, _ = checkify.checkify(f)(gnomon.numpy.float32(-1.0))
  >>> error.get()
  '-1.0 is not positive (`check` failed)'

  Raises:
    TypeError: `pred` is no boolean scalar, or a value to be shown is no array.
    JaxRuntimeError: the check failed, in a program that runs operation by operation.
    ValueError: a compiled function has a check that `checkify` did not make a value.
  """
  if not _is_array(pred) and not isinstance(pred, (bool, np.bool_)):
    raise TypeError(f"check takes a scalar pred as argument, got {pred}")
  aval = typeof(pred)
  if aval.shape != () or aval.dtype != np.bool_:
    raise TypeError(f"check takes a scalar pred as argument, got {pred}")
  leaves, tree = tree_flatten((fmt_args, fmt_kwargs))
  for x in leaves:
    if not _is_array(x):
      raise TypeError(
          "Formatting arguments to checkify.check need to be PyTrees of arrays, but got "
          f"{x!r} of type {type(x)}.")
  site = Site(FailedCheckError, msg, tree)
  check_p.apply(pred, *leaves, site=site, debug=debug)


def _is_array(x: Any) -> bool:
  return isinstance(x, (arrays.Array, np.ndarray, np.generic, Tracer))


def debug_check(pred: Any, msg: str, *fmt_args: Any, **fmt_kwargs: Any) -> None:
  """A `check` that counts only inside of `checkify`, and is nothing elsewhere.

  Args:
    pred: a boolean scalar.
    msg: what is said if it is false.
    *fmt_args: arrays for the places in it.
    **fmt_kwargs: the same by name.

  >>> import gnomon
  >>> from gnomon.experimental import checkify
  >>> checkify.debug_check(gnomon.numpy.bool_(False), "never said")
  """
  check(pred, msg, *fmt_args, debug=True, **fmt_kwargs)


def check_error(error: Error) -> None:
  """Raises an error, or hands it on to an enclosing `checkify`.

  Args:
    error: what a function made by `checkify` returned.

  >>> from gnomon.experimental import checkify
  >>> checkify.check_error(checkify.init_error)

  Raises:
    TypeError: `error` is no Error.
    JaxRuntimeError: it says that something went wrong.
  """
  if not isinstance(error, Error):
    raise TypeError(f"check_error takes an Error of checkify, got {type(error)}")
  if typeof(error._code).shape:
    if any(isinstance(x, Tracer) for x in tree_flatten(error)[0]):
      raise ValueError(
          "check_error takes the error of one run; this one is of a mapped function: map "
          "check_error as well")
    error.throw()
    return
  for i, (site, payload) in enumerate(zip(error._sites, error._payloads)):
    holds = lax.ne(error._code, np.int32(i))
    if site.tree is None:
      site = Site(site.category, site.message, None)
    check_p.apply(holds, *payload, site=site, debug=False)


check_p = Primitive("check")
typing_rule.define(check_p)(lambda pred, *payload, site, debug: ())
effects_rule.define(check_p)(
    lambda pred, *payload, site, debug: frozenset({check_effect}))


@impl_rule.define(check_p)
def _(pred: Any, *payload: Any, site: Site, debug: bool) -> tuple[()]:
  holds = np.asarray(pred)
  if not debug and not holds.all():
    first = np.unravel_index(int(np.argmin(holds)), holds.shape)
    raise JaxRuntimeError(site.text([x[first] if first else x for x in payload]))
  return ()


@lower.define(check_p)
def _(ctx: Any, pred: Any, *payload: Any, site: Site, debug: bool) -> Sequence[Any]:
  if debug:
    return []
  raise ValueError(
      "Cannot abstractly evaluate a checkify.check which was not functionalized. This "
      "probably means you tried to stage (jit/scan/pmap/...) a `check` without "
      "functionalizing it through `checkify.checkify`: the check says "
      f"{site.message!r}")


@jvp_rule.define(check_p)
def _(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> Any:
  check_p.apply(*primals, **params)
  return (), ()


@batch_rule.define(check_p)
def _(axis: Any, args: Sequence[Any], dims: Sequence[Any], **params: Any) -> Any:
  mapped = [_leading(x, d, axis.size) for x, d in zip(args, dims)]
  return check_p.apply(*mapped, **params), []


def _leading(x: Any, d: int | None, size: int) -> Any:
  shape = typeof(x).shape
  if d is None:
    return broadcast_in_dim(
        x, (size, *shape), tuple(range(1, len(shape) + 1)))
  order = (d, *(i for i in range(len(shape)) if i != d))
  return lax.transpose(x, order)


