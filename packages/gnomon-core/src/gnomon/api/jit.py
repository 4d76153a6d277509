"""`jit`: tracing once per signature, compiling, and the C++ call path."""

from __future__ import annotations

import functools
import inspect
import itertools
import weakref
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from gnomon import _config
from gnomon.api import stages, tools
from gnomon.core import events
from gnomon.core.calls import bind_call, check_aliases
from gnomon.core.jaxpr import ClosedJaxpr
from gnomon.core.ref_type import AbstractRef
from gnomon.core.stage import close, convert_constvars, has_tracers, trace_to_jaxpr
from gnomon.core.trace import EVAL, Tracer, get_current
from gnomon.core.types import physical_aval
from gnomon.runtime import backends, watch
from gnomon.runtime.callbacks import CallbackError
from gnomon.runtime.compile import (
  Executable,
  call_nodes,
  compile_jaxpr,
  physical,
  to_device,
  write_back,
)
from gnomon.runtime.execute import as_operand, common_device, explain, is_watching
from gnomon.runtime.jaxlib import arrays, errors, fastpath, pytrees
from gnomon.transform.call import jit_p
from gnomon.transform.vmap import axis_env

Array = arrays.Array
_cache = fastpath.FunctionCache()
_flatten_for_calls = pytrees.call_registry.flatten
_CALL_NODES = call_nodes.values()


class Traced:
  """A traced function: a jaxpr, constants that are tracers, the results' structure."""

  __slots__ = ("jaxpr", "out_tree", "outer", "refs")

  def __init__(self, jaxpr: ClosedJaxpr, outer: list[Any], out_tree: Any) -> None:
    self.jaxpr, self.outer, self.out_tree = jaxpr, outer, out_tree
    self.refs = AbstractRef in map(type, jaxpr.in_avals)  # whether it takes references


def trace_context() -> Any:
  """A hashable of what a traced function depends on besides its arguments."""
  return (_config.trace_key(), _config.x64(), axis_env.get())


def _trace(
    fun: Any, who: str, in_tree: Any, avals: tuple[Any, ...], static: Any, dropped: Any,
) -> Traced:
  """Traces `fun`; `static` is `(positions, values, names and values)`."""
  options = _config.current()
  if options.explain_cache_misses:
    from gnomon.api.explain import explain  # few programs ask for it

    explain(
        fun, who, in_tree, avals, static, trace_context(), _trace_cached.cache_keys())
  if options.no_tracing:
    raise RuntimeError(
        f"the function {tools.describe_function(fun)} would be traced for {who}, but the "
        "option no_tracing is set: it was not called with these types before")
  nums, values, named = static
  out_tree: Any = None

  def flat(*leaves: Any) -> list[Any]:
    nonlocal out_tree
    args, kwargs = in_tree.unflatten(leaves)
    if nums or named:
      args = list(args)
      for i, v in zip(nums, values):
        args.insert(i, v.value)
      kwargs = {**kwargs, **{k: v.value for k, v in named}}
    outs, out_tree = tools.results_to_flat(fun(*args, **kwargs), who, fun)
    return outs

  with events.timed(events.TRACE, fun_name=tools.function_name(fun)):
    jaxpr, consts = trace_to_jaxpr(
        flat, avals, tools.debug_info(who, fun, in_tree, nums))
  if has_tracers(consts):
    return Traced(close(convert_constvars(jaxpr)), consts, out_tree)
  return Traced(ClosedJaxpr(jaxpr, consts), [], out_tree)


_trace_cached = fastpath.weakref_lru_cache(trace_context, _trace, 8192)


def trace_function(
    fun: Any, who: str, in_tree: Any, avals: tuple[Any, ...], static: Any = ((), (), ()),
) -> Traced:
  """Traces a function once per signature and trace context."""
  found: Traced = _trace_cached(fun, who, in_tree, avals, static, None)
  if found.outer and any(x._trace.done for x in found.outer if isinstance(x, Tracer)):
    return _trace(fun, who, in_tree, avals, static, None)  # closed over an earlier trace
  return found


def trace_anew(
    fun: Any, who: str, in_tree: Any, avals: tuple[Any, ...], static: Any) -> Traced:
  """Traces a function whose static arguments have no hash, which is not remembered."""
  return _trace(fun, who, in_tree, avals, static, None)


def clear() -> None:
  """Forgets all traced functions, and what C++ runs for them."""
  _trace_cached.cache_clear()
  fastpath.FunctionCache.clear_all()


class Static:
  """A static argument: equal to another of the same type and value."""

  __slots__ = ("hash", "value")

  def __init__(self, value: Any) -> None:
    self.value = value
    self.hash = hash(value)

  def __hash__(self) -> int:
    return self.hash

  def __eq__(self, other: object) -> bool:
    return (
        type(other) is Static and type(other.value) is type(self.value)
        and bool(other.value == self.value))


class JitInfo:
  """A jitted function: its options, and what to do when the C++ path has no answer."""

  def __init__(self, fun: Any, *, static_argnums: Any, static_argnames: Any,
               donate_argnums: Any, donate_argnames: Any, keep_unused: bool,
               inline: bool, device: Any, options: dict[str, Any] | None) -> None:
    self.fun, self.name = fun, tools.function_name(fun)
    self.keep_unused, self.inline, self.device = keep_unused, inline, device
    self.options = dict(options or {})
    self.shardings: Any = None  # what was asked for, if it is over several devices
    nums = tools.int_tuple(static_argnums, "static_argnums")
    names = tools.str_tuple(static_argnames, "static_argnames")
    donate = tools.int_tuple(donate_argnums, "donate_argnums")
    donate_names = tools.str_tuple(donate_argnames, "donate_argnames")
    self.static_argnums, self.static_argnames = nums, names
    self.donate_argnums, self.donate_argnames = donate, donate_names
    if nums or names or donate or donate_names:
      self._resolve(
          None in (static_argnums, static_argnames),
          None in (donate_argnums, donate_argnames))

  def _resolve(self, static: bool, donated: bool) -> None:
    """Lets numbers imply names and names numbers, by the signature.

    Not where both were given: the signature may be that of a function that was wrapped.
    """
    sig = tools.signature_of(self.fun)
    if sig is None:
      return
    params = list(sig.parameters.values())

    def of(*kinds: Any) -> list[str]:
      return [p.name for p in params if p.kind in kinds]

    kind = inspect.Parameter
    positional = of(kind.POSITIONAL_ONLY, kind.POSITIONAL_OR_KEYWORD)
    named = of(kind.POSITIONAL_OR_KEYWORD, kind.KEYWORD_ONLY)
    var_pos, var_kw = of(kind.VAR_POSITIONAL), of(kind.VAR_KEYWORD)

    def both(
        nums: Any, names: Any, what: str, infer: bool,
    ) -> tuple[tuple[int, ...], tuple[str, ...]]:
      n = len(positional)
      if not infer:
        return tuple(i % n if i < 0 and n else i for i in nums), names
      for i in nums:
        if not var_pos and not -n <= i < n:
          raise ValueError(
              f"{what}_argnums={nums} of jit is out of range for {self.name}, which "
              f"takes {n} positional arguments")
      for k in names:
        if not var_kw and k not in named:
          raise ValueError(
              f"{what}_argnames={names} of jit names {k!r}, which is no argument of "
              f"{self.name}: it takes {', '.join(named)}")
      nums = tuple(i % n if i < 0 and n else i for i in nums)
      implied = (positional[i] for i in nums if i < n)
      all_names = {*names, *(k for k in implied if k in named)}
      all_nums = {*nums, *(positional.index(k) for k in names if k in positional)}
      return tuple(sorted(all_nums)), tuple(sorted(all_names))

    self.static_argnums, self.static_argnames = both(
        self.static_argnums, self.static_argnames, "static", static)
    self.donate_argnums, self.donate_argnames = both(
        self.donate_argnums, self.donate_argnames, "donate", donated)
    both_ways = set(self.donate_argnums) & set(self.static_argnums)
    if both_ways:
      raise ValueError(
          f"jit: the arguments {sorted(both_ways)} of {self.name} are both static and "
          "donated; a static argument has no buffer to give away")

  @property
  def key(self) -> Any:
    return (
        self.static_argnums, self.static_argnames, self.donate_argnums,
        self.donate_argnames, self.keep_unused, self.inline, self.device,
        tuple(sorted(self.options.items())),
        self.shardings and _placement().key_of(self.shardings))

  # ---- a call that C++ cannot answer

  def split(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any, Any]:
    """The flat dynamic arguments, their structure, and the static ones."""
    if self.static_argnums or self.static_argnames:
      n = len(args)
      nums = tuple(sorted({i % n for i in self.static_argnums if -n <= i < n}))
      names = tuple(k for k in self.static_argnames if k in kwargs)
      static = (
          nums, tuple(self.static(args[i], i) for i in nums),
          tuple((k, self.static(kwargs[k], k)) for k in names))
      args = tuple(x for i, x in enumerate(args) if i not in nums)
      kwargs = {k: v for k, v in kwargs.items() if k not in names}
    else:
      static = ((), (), ())
    leaves, tree = tools.flatten((args, kwargs))
    return leaves, tree, static

  def static(self, value: Any, which: int | str) -> Static:
    try:
      return Static(value)
    except TypeError as e:
      name = which if isinstance(which, str) else tools.positional(self.fun, [which])[0]
      raise ValueError(
          f"Non-hashable static arguments are not supported: the static argument {name} "
          f"of {self.name} is {value!r} of type {type(value)} ({e}). Pass a hashable "
          "value, such as a tuple in place of a list") from None

  def avals(self, leaves: Sequence[Any], tree: Any, static: Any) -> tuple[Any, ...]:
    return tuple(tools.check_leaves(
        leaves, f"the jitted function {self.name}",
        tools.leaf_names(self.fun, tree, static[0])))

  def donated(self, tree: Any, static: Any) -> tuple[bool, ...]:
    """Which flat arguments are donated."""
    if not self.donate_argnums and not self.donate_argnames:
      return tuple([False] * tree.num_leaves)
    args_tree, kwargs_tree = tree.children()
    out: list[bool] = []
    positions = (i for i in itertools.count() if i not in static[0])
    for t, i in zip(args_tree.children(), positions):
      out += [i in self.donate_argnums] * t.num_leaves
    keys = kwargs_tree.node_data()[1] if kwargs_tree.node_data() else ()
    for k, t in zip(keys, kwargs_tree.children()):
      out += [k in self.donate_argnames] * t.num_leaves
    return tuple(out)

  def trace(
      self, args: tuple[Any, ...], kwargs: dict[str, Any],
  ) -> tuple[Traced, Any, Any, Any]:
    """The traced function, flat arguments, structure and static arguments of a call."""
    leaves, tree, static = self.split(args, kwargs)
    avals = self.avals(leaves, tree, static)
    refs = AbstractRef in map(type, avals)
    if refs:
      self.check_aliases((), leaves, tree, static)
    traced = trace_function(self.fun, "jit", tree, avals, static)
    if refs:
      self.check_aliases(traced.outer, leaves, tree, static)
    return traced, leaves, tree, static

  def miss(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any]:
    """Answers a call in Python, with what C++ needs to answer the next one."""
    traced, leaves, tree, static = self.trace(args, kwargs)
    trace = get_current()
    if trace is not EVAL or traced.outer:
      donated = self.donated(tree, static)
      if self.shardings is not None:
        leaves = _placement().constrained_in(self, leaves, tree)
      outs = bind_call(
          jit_p, *traced.outer, *leaves, jaxpr=traced.jaxpr, name=self.name,
          donated_invars=(False,) * len(traced.outer) + donated, inline=self.inline,
          keep_unused=self.keep_unused,
          compiler_options=tuple(sorted(self.options.items())))
      if self.shardings is not None:
        outs = _placement().constrained_out(self, outs, traced.out_tree)
      return traced.out_tree.unflatten(outs), None
    donated = self.donated(tree, static)
    operands = [
        x if type(x) is Array else as_operand(x, own=d) for x, d in zip(leaves, donated)]
    if backends.device_count() > 1 and _placement().is_spread(self, traced, operands):
      answer: tuple[Any, Any] = _placement().run_spread(
          self, traced, operands, tree, donated)
      return answer
    device = self.device or common_device(operands, f"the jitted function {self.name}")
    exe = self.executable(traced.jaxpr, device, donated)
    committed = self.device is not None or any(physical(x)._committed for x in operands)
    placed = [to_device(physical(x), device) for x in operands]
    watching, keys = is_watching(), None
    if watching:
      watch.check_execution(f"the jitted function {self.name}")
      keys = watch.keys()
      checked = keys and keys.check_call(self.name, traced.jaxpr, operands)
    outs = run_jitted(
        exe, placed, committed,
        lambda i: tools.leaf_names(self.fun, tree, static[0])()[i])
    if exe.written:
      outs = write_back(exe, operands, outs)
    if watching:
      self.check_numbers(outs, traced.jaxpr, operands, donated)
      if keys:
        keys.attach(outs, checked)
    out = traced.out_tree.unflatten(outs)
    simple = exe.fast and not watching and all(
        type(x) is Array or type(x) in _CALL_NODES for x in operands)
    return out, self.fast(exe, out, committed) if simple else None

  def check_aliases(
      self, consts: Sequence[Any], leaves: Sequence[Any], tree: Any, static: Any) -> None:
    """Raises `ValueError` if a reference reaches the function in two ways."""
    check_aliases(
        "jit", tools.describe_function(self.fun), leaves, consts,
        tools.leaf_names(self.fun, tree, static[0]))

  def check_numbers(
      self, outs: Any, jaxpr: ClosedJaxpr, operands: Sequence[Any],
      donated: Sequence[bool]) -> None:
    """Looks for bad numbers in results; finds the operation that made one."""
    try:
      watch.check_numbers(outs, f"the jitted function {self.name}")
    except FloatingPointError:
      if not any(donated):  # else the arguments are gone
        watch.locate(jaxpr, operands, self.name)
      raise

  def executable(
      self, jaxpr: ClosedJaxpr, device: Any, donated: tuple[bool, ...]) -> Executable:
    key = (
        "executable", device, donated, self.keep_unused,
        tuple(sorted(self.options.items())))
    found: Executable | None = jaxpr.memo.get(key)
    if found is None:
      found = jaxpr.memo[key] = compile_jaxpr(
          jaxpr, self.name, device, donated=donated, keep_unused=self.keep_unused,
          options=self.options)
    return found

  def fast(self, exe: Executable, out: Any, committed: bool) -> Any:
    """What C++ needs to do a call again whose result was `out`."""
    n_in, n_out = len(exe.const_args) + sum(exe.kept), len(exe.out_avals)
    kept = [True] * len(exe.const_args) + list(exe.kept)
    return fastpath.FastpathData(
        exe.loaded, _flatten_for_calls(out)[1], [exe.sharding] * n_in,
        [exe.sharding] * n_out, [physical_aval(a) for a in exe.out_avals],
        [committed] * n_out, kept, [None] * n_in, exe.const_args)


def run_jitted(
    exe: Executable, args: list[Any], committed: bool, name: Callable[[int], str]) -> Any:
  """Runs a compiled function on arrays; says which argument was deleted."""
  try:
    return exe(args, committed)
  except CallbackError:
    raise
  except Exception as e:  # noqa: BLE001 -- raised again, in our words
    raise explain(e, args, name) from None


def _placement() -> Any:
  from gnomon.api import placement  # for programs that say where arguments are

  return placement


def _shard_arg(x: Any, sharding: Any, layout: Any) -> Any:
  del layout
  if len(sharding._internal_device_list) > 1:
    from gnomon.runtime import spread
    return spread.place(as_operand(x), sharding)
  return to_device(x, next(iter(sharding.device_set)))


def jit(
    fun: Callable[..., Any] | None = None, /, *, in_shardings: Any = None,
    out_shardings: Any = None, static_argnums: int | Sequence[int] | None = None,
    static_argnames: str | Iterable[str] | None = None,
    donate_argnums: int | Sequence[int] | None = None,
    donate_argnames: str | Iterable[str] | None = None, keep_unused: bool = False,
    device: Any = None, backend: str | None = None, inline: bool = False,
    compiler_options: dict[str, Any] | None = None) -> Any:
  """Compiles a function: traced once per types of its arguments, run as one program.

  The function's arguments and results are arrays, numbers, or pytrees of them; it must
  have no side effects, and must not depend on values in Python control flow.

  Args:
    fun: the function. Left out, `jit` returns a decorator with the other arguments.
    in_shardings: where arguments live: a sharding on one device, or a tuple (pytree) of
      those and None, one an argument. Shardings over several devices need
      gnomon-sharding.
    out_shardings: where results live, in the same form; the device must be the same.
    static_argnums: positional arguments that are part of the program: hashable values,
      for each of which the function is compiled anew. They imply the names.
    static_argnames: the same by name; they imply the numbers. Where both are given,
      each stands for itself.
    donate_argnums: positional arguments whose buffers the program may reuse; they are
      deleted by the call.
    donate_argnames: the same by name.
    keep_unused: keeps arguments that the function does not read.
    device: runs the function on this device.
    backend: the platform to run on.
    inline: puts the function's operations into a surrounding program instead of a call.
    compiler_options: options for XLA by name.

  Returns:
    The compiled function, with the same signature.

  >>> import gnomon
  >>> f = gnomon.jit(lambda x, n: x * n, static_argnums=1)
  >>> float(f(2.0, 3))
  6.0

  Raises:
    TypeError: `fun` is not callable; when called: an argument is no array.
    ValueError: argument numbers or names do not fit the function; when called: a static
      argument is not hashable.
  """
  if fun is None:
    return functools.partial(
        jit, in_shardings=in_shardings, out_shardings=out_shardings,
        static_argnums=static_argnums, static_argnames=static_argnames,
        donate_argnums=donate_argnums, donate_argnames=donate_argnames,
        keep_unused=keep_unused, device=device, backend=backend, inline=inline,
        compiler_options=compiler_options)
  tools.check_callable(fun, "jit")
  if device is not None and backend is not None:
    raise ValueError(
        "can't specify both a device and a backend for jit, got "
        f"device={device} and backend={backend!r}")
  if device is not None or backend is not None:
    for what, given in (("in", in_shardings), ("out", out_shardings)):
      if given is not None:
        raise ValueError(
            f"If backend or device is specified on jit, then {what}_shardings should not "
            "be specified.")
  shardings = None
  if in_shardings is not None or out_shardings is not None:
    shardings = _placement().over_several(in_shardings, out_shardings)
    if shardings is None:
      device = _placement().device_of(in_shardings, out_shardings, device)
  if backend is not None and device is None:
    device = backends.devices(backend)[0]
  info = JitInfo(
      fun, static_argnums=static_argnums, static_argnames=static_argnames,
      donate_argnums=donate_argnums, donate_argnames=donate_argnames,
      keep_unused=keep_unused, inline=inline, device=device, options=compiler_options)
  info.shardings = shardings
  return _wrap(fun, info)


def _wrap(fun: Any, info: JitInfo) -> Any:
  """The C++ function object with Python's attributes of a wrapped function."""
  @tools.filtered
  def cache_miss(*args: Any, **kwargs: Any) -> Any:
    return info.miss(args, kwargs)

  function = fastpath.jit_function(
      info.name, fun, cache_miss, info.static_argnums, info.static_argnames, info.key,
      pytrees.call_registry, _shard_arg, _cache)
  for attribute in functools.WRAPPER_ASSIGNMENTS:
    value = getattr(fun, attribute, None)
    if value is not None:
      setattr(function, attribute, value)
  if not isinstance(fun, type):  # what libraries have tied to it
    function.__dict__.update(getattr(fun, "__dict__", ()))
  function.__wrapped__ = fun
  function._jit_info = info
  # The dictionary of a function of C++ is no part of what Python collects.
  alive: Any = weakref.ref(function)
  function.clear_cache = lambda: alive()._clear_cache()

  def trace(*args: Any, **kwargs: Any) -> stages.Traced:
    return stages.trace_call(info, trace_function, args, kwargs)

  function.trace = trace
  function.lower = lambda *args, lowering_platforms=None, **kwargs: trace(
      *args, **kwargs).lower(lowering_platforms=lowering_platforms)
  function.eval_shape = lambda *args, **kwargs: trace(*args, **kwargs).out_info
  donates = info.donate_argnums or info.donate_argnames
  return _naming_deleted(function, info) if donates else function


def _naming_deleted(function: Any, info: JitInfo) -> Any:
  """Says which argument an earlier call gave away: C++ finds its buffer gone, no more."""
  @functools.wraps(function)
  def call(*args: Any, **kwargs: Any) -> Any:
    try:
      return function(*args, **kwargs)
    except (ValueError, errors.JaxRuntimeError) as e:
      leaves, tree, static = info.split(args, kwargs)
      names = tools.leaf_names(info.fun, tree, static[0])
      found = explain(e, list(map(physical, leaves)), lambda i: names()[i])
      if found is e:
        raise
      raise found from None

  call.__wrapped__ = info.fun
  return call
