"""Ahead of time: a jitted function traced, lowered and compiled step by step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from gnomon.api import placement, tools
from gnomon.api.evaluate import ShapeDtypeStruct, abstract_leaves
from gnomon.core import events
from gnomon.core.jaxpr import ClosedJaxpr, eval_jaxpr
from gnomon.core.trace import Tracer
from gnomon.lowering.module import Lowered as Module
from gnomon.lowering.module import lower_module
from gnomon.runtime import backends, spread, watch
from gnomon.runtime.compile import (
  Executable,
  compile_module,
  executable,
  physical,
  to_device,
  write_back,
)
from gnomon.runtime.execute import as_operand, run
from gnomon.runtime.jaxlib import arrays, mlir, programs
from gnomon.runtime.layout import Format, Layout
from gnomon.tree_util import equality_errors_pytreedef, keystr


class Call:
  """What the stages of one call share: names, structures, types, donations."""

  __slots__ = (
      "device", "donated", "in_tree", "info", "jaxpr", "out_tree", "outer", "spread",
      "static")

  def __init__(self, info: Any, jaxpr: ClosedJaxpr, in_tree: Any, out_tree: Any,
               donated: tuple[bool, ...], static: Any, outer: Sequence[Any],
               device: Any = None, spread: Any = None) -> None:
    self.info, self.jaxpr, self.in_tree, self.out_tree = info, jaxpr, in_tree, out_tree
    self.donated, self.static = donated, static
    self.outer = outer  # leading operands: references that the function closes over
    self.device = info.device or device
    self.spread = spread  # mesh, shardings in and out of a program over several devices

  def out_structs(self, shardings: Sequence[Any]) -> Any:
    """What the results are, and where."""
    return self.out_tree.unflatten([
        ShapeDtypeStruct(a.shape, a.dtype, weak_type=a.weak_type, sharding=s)
        for a, s in zip(self.jaxpr.out_avals, shardings)])

  @property
  def out_info(self) -> Any:
    return self.out_structs(
        self.spread[2] if self.spread else [None] * len(self.jaxpr.out_avals))

  @property
  def in_avals(self) -> Any:
    return self.in_tree.unflatten(self.flat_avals)

  @property
  def flat_avals(self) -> list[Any]:
    """The types of the flat arguments."""
    return self.jaxpr.in_avals[len(self.outer):]


class ArgInfo:
  """What is known of an argument: its type, and whether it is donated."""

  __slots__ = ("_aval", "donated")

  def __init__(self, aval: Any, donated: bool) -> None:
    self._aval, self.donated = aval, donated

  @property
  def shape(self) -> tuple[int, ...]:
    return self._aval.shape  # type: ignore[no-any-return]

  @property
  def dtype(self) -> Any:
    return self._aval.dtype

  def __repr__(self) -> str:
    return f"ArgInfo(_aval={self._aval!r}, donated={self.donated})"


class _Stage:
  """The part that all stages have."""

  def __init__(self, call: Call) -> None:
    self._call = call

  @property
  def in_tree(self) -> Any:
    """The structure of `(args, kwargs)`."""
    return self._call.in_tree

  @property
  def out_tree(self) -> Any:
    """The structure of the result."""
    return self._call.out_tree

  @property
  def out_info(self) -> Any:
    """The shapes and dtypes of the result."""
    return self._call.out_info

  @property
  def in_avals(self) -> Any:
    """The types of the arguments, as `(args, kwargs)`."""
    return self._call.in_avals

  @property
  def args_info(self) -> Any:
    """Types and donations of the arguments, as `(args, kwargs)`."""
    c = self._call
    return c.in_tree.unflatten(map(ArgInfo, c.flat_avals, c.donated))

  @property
  def donate_argnums(self) -> tuple[int, ...]:
    """Which flat arguments are donated."""
    return tuple(i for i, d in enumerate(self._call.donated) if d)


class Traced(_Stage):
  """A function traced for given types: `jit(f).trace(*args)`."""

  @property
  def jaxpr(self) -> ClosedJaxpr:
    """The program."""
    return self._call.jaxpr

  @property
  def fun_name(self) -> str:
    """The function's name."""
    return self._call.info.name  # type: ignore[no-any-return]

  @property
  def out_avals(self) -> Any:
    """The types of the results, in their structure."""
    return self.out_tree.unflatten(self.jaxpr.out_avals)

  @property
  def lojax(self) -> Traced:
    """The function on arrays alone: itself, since its types are those of arrays."""
    return self

  def __call__(self, *args: Any, **kwargs: Any) -> Any:
    """Runs the traced program, operation by operation, on arguments that it fits.

    Raises:
      TypeError: the arguments have another structure than those it was traced for.
    """
    c = self._call
    leaves, tree = tools.flatten((args, kwargs))
    if tree != c.in_tree:
      raise TypeError(_other_structure(c, tree))
    return c.out_tree.unflatten(
        eval_jaxpr(c.jaxpr.jaxpr, c.jaxpr.consts, *c.outer, *leaves))

  def lower(
      self, *, lowering_platforms: Sequence[str] | None = None,
      _private_parameters: Any = None) -> Lowered:
    """Lowers to StableHLO.

    Args:
      lowering_platforms: the platforms that the program is for, such as `("tpu",)`; by
        default the one in use. It can be compiled for that one only.
    """
    del _private_parameters
    platforms = tuple(lowering_platforms or (backends.default_backend(),))
    if not all(isinstance(p, str) for p in platforms):
      raise TypeError(
          f"lowering_platforms must be names of platforms, got {lowering_platforms!r}")
    c = self._call
    donated = [*[False] * len(c.outer), *c.donated]
    if c.spread:
      several = spread.lower_spread(
          c.jaxpr, c.info.name, *c.spread, donated=donated,
          keep_unused=c.info.keep_unused)
      return Lowered(c, several.lowered, platforms, several)
    with events.timed(events.LOWER, fun_name=f"jit({c.info.name})"):
      module = lower_module(
          c.jaxpr, c.info.name, donated=donated, keep_unused=c.info.keep_unused,
          platforms=platforms)
    return Lowered(c, module, platforms)


class Lowered(_Stage):
  """A function lowered to StableHLO: `jit(f).lower(*args)`."""

  def __init__(
      self, call: Call, module: Module, platforms: tuple[str, ...],
      several: Any = None) -> None:
    super().__init__(call)
    self._module, self._platforms, self._several = module, platforms, several

  @property
  def _lowering(self) -> Any:
    return _Params(self._module.const_args)

  def as_text(self, dialect: str | None = None, *, debug_info: bool = False) -> str:
    """The program as text: `stablehlo` (the default) or `hlo`.

    Args:
      dialect: which of the two.
      debug_info: whether to write where operations come from.

    Raises:
      ValueError: there is no such dialect.
    """
    if dialect in (None, "stablehlo"):
      return mlir.asm(self._module.module, debug_info)
    if dialect == "hlo":
      text = mlir.asm(self._module.module, debug_info)
      return programs.hlo_text(programs.unoptimized_hlo(text), debug_info)
    raise ValueError(
        f"as_text: unknown dialect {dialect!r}; there are 'stablehlo' and 'hlo'")

  def compiler_ir(self, dialect: str | None = None) -> Any:
    """The program as an object of the compiler: an MLIR module, or an XLA computation."""
    if dialect in (None, "stablehlo"):
      return self._module.module
    if dialect == "hlo":
      return programs.unoptimized_hlo(mlir.asm(self._module.module))
    raise ValueError(
        f"compiler_ir: unknown dialect {dialect!r}; there are 'stablehlo' and 'hlo'")

  def cost_analysis(self) -> dict[str, float]:
    """XLA's estimates of work and traffic, before optimisation."""
    return programs.unoptimized_cost_analysis(
        backends.client(), mlir.asm(self._module.module))

  def compile(
      self, compiler_options: dict[str, Any] | None = None, *,
      device_assignment: Sequence[Any] | None = None) -> Compiled:
    """Compiles the program.

    Args:
      compiler_options: options of XLA by name, besides those given to `jit`.
      device_assignment: the device to run on, as a sequence of one.

    Raises:
      ValueError: the program was lowered for another platform, or `device_assignment`
        is not one device.
      JaxRuntimeError: there is no such option, or XLA cannot compile the program.
    """
    c = self._call
    options = {**c.info.options, **(compiler_options or {})}
    if self._several:
      with events.timed(events.COMPILE, fun_name=f"jit({c.info.name})"):
        return Compiled(c, spread.compile_spread(self._several, options))
    device = c.device or backends.default_device()
    if device_assignment is not None:
      if len(device_assignment) != 1:
        raise ValueError(
            "compile: device_assignment must be one device, since the program is for "
            f"one; got {len(device_assignment)}")
      (device,) = device_assignment
    if self._platforms != (device.platform,):
      raise ValueError(
          f"the function {c.info.name} was lowered for {', '.join(self._platforms)}, and "
          f"cannot be compiled for {device.platform}; lower it without "
          "lowering_platforms")
    with events.timed(events.COMPILE, fun_name=f"jit({c.info.name})"):
      loaded, anew = compile_module(
          self._module.module, device, options, self._module.callbacks, shown=True)
    return Compiled(c, executable(loaded, self._module, device, anew))


class _Params(NamedTuple):
  """What a compiled program is called with beside its arguments: its large constants."""

  const_args: Sequence[Any]


class Compiled(_Stage):
  """A compiled function for one signature: it never traces or compiles again."""

  def __init__(
      self, call: Call, executable: Executable | spread.SpreadExecutable) -> None:
    super().__init__(call)
    self._executable = executable

  def as_text(self) -> str:
    """The optimised program."""
    return programs.optimized_text(self._executable.loaded)

  def cost_analysis(self) -> dict[str, float]:
    """XLA's estimates of work and traffic."""
    return programs.cost_analysis(self._executable.loaded)

  def memory_analysis(self) -> Any:
    """The sizes of arguments, results, temporaries and code."""
    return programs.memory_analysis(self._executable.loaded)

  def runtime_executable(self) -> Any:
    """The runtime's own executable."""
    return self._executable.loaded

  @property
  def out_info(self) -> Any:
    """The shapes and dtypes of the result, and where it lives."""
    return self._call.out_structs(self._executable.out_shardings)

  @property
  def input_formats(self) -> Any:
    """How the arguments lie in memory, and where they live.

    An argument that the program does not read has no layout.
    """
    exe, n = self._executable, len(self._call.outer)
    layouts = iter(programs.parameter_layouts(exe.loaded)[len(exe.const_args):])
    found = [
        Format(Layout.from_pjrt_layout(next(layouts)) if k else None, s)
        for k, s in zip(exe.kept, exe.in_shardings)]
    return self.in_tree.unflatten(found[n:])

  @property
  def output_formats(self) -> Any:
    """How the results lie in memory, and where they live."""
    exe = self._executable
    layouts = programs.output_layouts(exe.loaded)[:self.out_tree.num_leaves]
    return self.out_tree.unflatten([
        Format(Layout.from_pjrt_layout(x), s)
        for x, s in zip(layouts, exe.out_shardings)])

  @property
  def input_shardings(self) -> Any:
    """Where the arguments live."""
    return self.in_tree.unflatten(self._executable.in_shardings[len(self._call.outer):])

  @property
  def output_shardings(self) -> Any:
    """Where the results live."""
    return self.out_tree.unflatten(
        self._executable.out_shardings[:self.out_tree.num_leaves])

  @property
  def _params(self) -> Any:
    return _Params(self._executable.const_args)

  def call(self, *args: Any, **kwargs: Any) -> Any:
    """Runs the program: the same as calling the object."""
    return self(*args, **kwargs)

  def __call__(self, *args: Any, **kwargs: Any) -> Any:
    """Runs the program on arguments of exactly the types it was compiled for.

    Raises:
      TypeError: structure or types differ; names the argument.
    """
    c = self._call
    leaves, tree = tools.flatten((args, kwargs))
    if tree != c.in_tree:
      raise TypeError(_other_structure(c, tree))
    self._check_types(leaves)
    exe = self._executable
    given = [*c.outer, *(
        x if type(x) is arrays.Array else as_operand(_exact(x, a), own=d)
        for x, a, d in zip(leaves, c.flat_avals, c.donated))]
    what = f"the compiled function {c.info.name}"
    watch.check_execution(what)
    if isinstance(exe, spread.SpreadExecutable):
      placement.check_given(
          exe, given, len(c.outer),
          tools.leaf_names(c.info.fun, c.in_tree, c.static[0]), what)
      placed = [spread.place(physical(x), s) for x, s in zip(given, exe.in_shardings)]
      outs = spread.run_compiled(
          exe, given, placed, [*[False] * len(c.outer), *c.donated])
    else:
      operands = [to_device(physical(x), exe.device) for x in given]
      outs = run(exe, operands, any(x._committed for x in operands))
      if exe.written:
        outs = write_back(exe, given, outs)
    watch.check_numbers(outs, what)
    return c.out_tree.unflatten(outs)

  def _check_types(self, leaves: Sequence[Any]) -> None:
    c = self._call
    names = tools.leaf_names(c.info.fun, c.in_tree, c.static[0])
    found = tools.check_leaves(leaves, f"the compiled function {c.info.name}", names)
    wrong = []
    for i, (x, got, aval) in enumerate(zip(leaves, found, c.flat_avals)):
      if isinstance(x, Tracer):
        raise TypeError(
            f"the compiled function {c.info.name} cannot be transformed: its argument "
            f"{names()[i]} is a traced value, {x!r}. Call the jitted function instead")
      if got.shape != aval.shape or got.dtype != aval.dtype:
        wrong.append(f"{names()[i]}: compiled for {aval}, called with {got}")
    if wrong:
      raise TypeError(
          "Argument types differ from the types for which this computation was "
          f"compiled: {'; '.join(wrong)}")


def _other_structure(call: Call, tree: Any) -> str:
  """The message for arguments of another structure than those compiled for."""
  static = call.static[0] or call.static[2]
  found = "; ".join(
      f"at {keystr(path) or 'the top'} {was} was traced, {now} was given"
      for path, was, now, _ in equality_errors_pytreedef(call.in_tree, tree))
  return (
      f"the function {call.info.name}, traced ahead, was called with arguments of "
      f"another structure than it was traced for, as (args, kwargs): {found}"
      + (". Static arguments are part of it, and are left out" if static else ""))


def _exact(x: Any, aval: Any) -> Any:
  """Numbers in the dtype that the program expects."""
  return aval.dtype.type(x) if type(x) in (bool, int, float, complex) else x


def trace_call(
    info: Any, trace: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Traced:
  """Traces a jitted function for the types of some arguments, which need no values."""
  leaves, tree, static = info.split(args, kwargs)
  avals = abstract_leaves(leaves, info.fun, tree, f"the jitted function {info.name}")
  traced = trace(info.fun, "jit", tree, tuple(avals), static)
  if any(isinstance(x, Tracer) for x in traced.outer):
    raise TypeError(
        f"the jitted function {info.name} closes over values of a surrounding "
        "transformation: it cannot be traced ahead of time; pass them as arguments")
  several = placement.of_stages(info, traced, leaves, tree)
  return Traced(Call(
      info, traced.jaxpr, tree, traced.out_tree, info.donated(tree, static), static,
      traced.outer,
      None if several else placement.device_of_arguments(leaves, info.name), several))

