"""What options ask of executions: no NaN, no infinity, or that nothing is executed."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gnomon import _config
from gnomon.core import dtypes, source
from gnomon.core.jaxpr import ClosedJaxpr, Literal
from gnomon.core.trace import get_current
from gnomon.runtime.jaxlib import arrays, cells
from gnomon.transform.call import jit_p


class Switch:
  """Tells whether one of some options is on, in any thread: then short paths are left."""

  def __init__(self, options: Sequence[str], changed: Callable[[bool], None]) -> None:
    self._changed = changed
    self._on: set[tuple[str, int]] = set()
    for name in options:
      _config.mirror(name, _Cell(self, name))

  def note(self, name: str, thread: int, on: bool) -> None:
    (self._on.add if on else self._on.discard)((name, thread))
    self._changed(bool(self._on))


class _Cell:
  def __init__(self, switch: Switch, name: str) -> None:
    self._switch, self._name = switch, name

  def set_global(self, value: Any) -> None:
    self._switch.note(self._name, 0, bool(value))

  def set_local(self, value: Any) -> None:
    on = value is not cells.unset and bool(value)
    self._switch.note(self._name, threading.get_ident(), on)


OPTIONS = ("debug_nans", "debug_infs", "no_execution", "debug_key_reuse")

# The checker of the slice that knows random keys: a module that has `check_call(name,
# jaxpr, args)`, `check_operation(primitive, params, args, n_out)`, which raise before a
# key is used twice, and `attach(outs, checked)`.
key_checker: Callable[[], Any] | None = None


def keys() -> Any:
  """The checker of random keys while the option `debug_key_reuse` is on, or None."""
  if key_checker is None or not _config.current().debug_key_reuse:
    return None
  return key_checker()


def check_execution(what: str) -> None:
  """Refuses to execute while the option `no_execution` is on.

  Raises:
    RuntimeError: it is.
  """
  if _config.current().no_execution:
    raise RuntimeError(
        f"tried to execute {what}, but the option no_execution is set: values cannot be "
        "computed here")


def check_numbers(outs: Sequence[Any], what: str) -> None:
  """Looks for NaN and infinity in results, as the options `debug_nans`, `debug_infs` say.

  Raises:
    FloatingPointError: there is one.
  """
  values = _config.current()
  for x in outs:
    if type(x) is not arrays.Array or not dtypes.issubdtype(x.aval.dtype, np.inexact):
      continue
    for on, test, name in (
        (values.debug_nans, np.isnan, "nan"), (values.debug_infs, np.isinf, "inf")):
      if on and test(np.asarray(x)).any():
        raise FloatingPointError(f"invalid value ({name}) encountered in {what}")


def locate(closed: ClosedJaxpr, args: Sequence[Any], within: str) -> None:
  """Runs a program operation by operation, to find the one that makes a bad number.

  Raises:
    FloatingPointError: names the operation, its line, and the function `within`.
  """
  jaxpr, process = closed.jaxpr, get_current().process
  env: dict[Any, Any] = dict(zip(jaxpr.constvars, closed.consts))
  env.update(zip(jaxpr.invars, args))
  for e in jaxpr.eqns:
    operands = [v.val if type(v) is Literal else env[v] for v in e.invars]
    if e.primitive is jit_p:
      locate(e.params["jaxpr"], operands, e.params["name"])
    try:
      outs = process(e.primitive, operands, e.params)
    except FloatingPointError as error:
      tb = e.source.traceback if type(e.source) is source.Source else e.source
      raise FloatingPointError(
          f"{error} at {source.summary(tb)}, in the jitted function {within}") from None
    env.update(zip(e.outvars, outs))
