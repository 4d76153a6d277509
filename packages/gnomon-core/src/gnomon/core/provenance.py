"""Where a staged value comes from, in words: for messages about tracers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gnomon.core import logs, source
from gnomon.core.jaxpr import Eqn, Jaxpr, Literal

if TYPE_CHECKING:
  from gnomon.core.stage import StageTrace


def why_unknown(trace: StageTrace, var: Any) -> str:
  """Why Python cannot have a value: what is traced, and on what the value depends."""
  info = trace.debug_info
  if info is None:
    return ""
  text = (
      f"The error occurred while tracing the function {info.func_src_info} for "
      f"{info.traced_for}.")
  arguments, made_by = _depends(trace, var)
  if arguments:
    several = "s" if len(arguments) > 1 else ""
    text += (
        " This concrete value was not available in Python because it depends on the "
        f"value{several} of the argument{several} {', '.join(arguments[:5])}.")
  return f"{text} It was computed by {made_by}." if made_by else text


def where_made(trace: StageTrace, var: Any) -> str:
  """Where a value was made whose trace has ended, or is not the current one."""
  info = trace.debug_info
  if info is None:
    return ""
  arguments, made_by = _depends(trace, var)
  how = f", by {made_by}" if made_by else f", as {arguments[0]}" if arguments else ""
  return (
      f"It was made while the function {info.func_src_info} was traced for "
      f"{info.traced_for}{how}.")


def of_reference(trace: StageTrace, var: Any) -> str:
  """How a mutable reference came into a program."""
  for e in trace.eqns:
    if var in e.outvars:
      line = source.summary(getattr(e.source, "traceback", e.source))
      return f"was created on line {line}."
  info = trace.debug_info
  names = info.names() if info is not None else ()
  if var in trace.invars and trace.invars.index(var) < len(names):
    return f"was passed in as the argument {names[trace.invars.index(var)]}."
  return "was closed over."


def _depends(trace: StageTrace, var: Any) -> tuple[list[str], str]:
  """The names of the arguments that a variable depends on, and the operation it is of."""
  assert trace.debug_info is not None
  names = trace.debug_info.names()
  made = {v: e for e in trace.eqns for v in e.outvars}
  places = {v: i for i, v in enumerate(trace.invars)}
  found: set[int] = set()
  stack: list[Any] = [var]
  seen: set[Any] = set()
  while stack:
    v = stack.pop()
    if type(v) is Literal or v in seen:
      continue
    seen.add(v)
    if v in made:
      stack.extend(made[v].invars)
    elif v in places and places[v] < len(names):
      found.add(places[v])
  made_by = ""
  if var in made:
    tb = made[var].source
    tb = tb.traceback if type(tb) is source.Source else tb
    made_by = f"the operation {made[var].primitive.name} at {source.summary(tb)}"
  return [names[i] for i in sorted(found)], made_by


def made_by(e: Eqn, makers: dict[Any, Eqn]) -> str:
  """Which operation made a value that is kept, looking through its rounding."""
  while e.primitive.name == "reduce_precision" and e.invars[0] in makers:
    e = makers[e.invars[0]]
  tb = e.source
  where = source.summary(tb.traceback if type(tb) is source.Source else tb)
  if e.primitive.name == "name":
    return f"named {e.params['name']!r} from {where}"
  if e.primitive.name == "jit":
    return f"output of jitted function {e.params['name']!r} from {where}"
  return f"output of {e.primitive.name} from {where}"


def log_saved(program: Jaxpr, num_saved: int, inputs: list[Any]) -> None:
  """Logs what a checkpointed function saves: inputs, the last results of a program."""
  makers = {v: e for e in program.eqns for v in e.outvars}
  saved = program.outvars[len(program.outvars) - num_saved:]
  parts = []
  if inputs:
    shapes = "\n".join(f"  {a}" for a in inputs)
    parts.append(f"saving inputs with shapes:\n{shapes}")
  if saved:
    lines = "\n".join(f"  {v.aval} from {made_by(makers[v], makers)}" for v in saved)
    parts.append(f"saving these intermediates:\n{lines}")
  text = "\nand ".join(parts) or "saving nothing"
  logs.checkpoint.warning("remat-decorated function %s", text)
