"""Configuration: options, overrides, the environment, and the key of traces."""

from __future__ import annotations

import concurrent.futures
import os
import subprocess
import sys
import threading
import timeit
import types
from typing import Any

import numpy as np
import pytest

import gnomon
from gnomon import _config, _options
from gnomon._config import config
from gnomon.runtime.jaxlib import cells


def in_thread(function: Any) -> Any:
  with concurrent.futures.ThreadPoolExecutor(1) as pool:
    return pool.submit(function).result(60)


@pytest.fixture(autouse=True)
def untouched() -> Any:
  before = config.values
  yield
  assert config.values == before
  assert cells.trace_key.value is None


# ---- options -----------------------------------------------------------------------

def test_every_option_has_its_default_and_accepts_it() -> None:
  assert len(_options.OPTIONS) == 135
  for option in _options.OPTIONS:
    assert config.read(option.name) == option.default
    assert config.values[option.name] == option.default
    config.update(option.name, option.default)
    assert getattr(config, option.name) == getattr(config, option.short)


@pytest.mark.parametrize("name", [
    "jax_debug_nans", "gnomon_debug_nans", "debug_nans"])
def test_update_accepts_each_spelling(name: str) -> None:
  config.update(name, True)
  assert config.jax_debug_nans is config.debug_nans is config.gnomon_debug_nans is True
  config.update(name, False)


@pytest.mark.parametrize("name", ["check_vma", "jax_check_vma"])
def test_options_without_prefix(name: str) -> None:
  config.update(name, True)
  assert config.check_vma
  config.update("check_vma", False)


def test_update_is_seen_by_all_threads() -> None:
  config.update("jax_enable_x64", True)
  try:
    assert in_thread(_config.x64)
    assert in_thread(lambda: config.x64_enabled)
    assert in_thread(_config.trace_key) == (("enable_x64", True),)
  finally:
    config.update("jax_enable_x64", False)


@pytest.mark.parametrize("read", [
    lambda: config.update("jax_enabel_x64", True), lambda: config.read("enabel_x64"),
    lambda: config.jax_enabel_x64])
def test_unknown_options_are_refused_with_a_suggestion(read: Any) -> None:
  with pytest.raises(AttributeError, match=r"Unrecognized config option.*enable_x64"):
    read()


def test_options_are_not_assigned() -> None:
  with pytest.raises(AttributeError, match=r"config\.update\('jax_enable_x64'"):
    config.jax_enable_x64 = True
  with pytest.raises(AttributeError, match="frozen"):
    _config.current().enable_x64 = True


@pytest.mark.parametrize(("name", "value", "error", "text"), [
    ("jax_enable_x64", "foo", TypeError, "True or False; got 'foo'"),
    ("jax_enable_x64", None, TypeError, "True or False"),
    ("jax_numpy_dtype_promotion", "bar", ValueError, "'standard', 'strict'; got 'bar'"),
    ("jax_default_matmul_precision", 3, ValueError, "or None; got 3"),
    ("jax_traceback_in_locations_limit", "a", ValueError, "type int; got 'a'"),
    ("jax_traceback_in_locations_limit", True, ValueError, "type int"),
    ("jax_platform_name", None, ValueError, "type str"),
    ("jax_default_device", 3, ValueError, "gnomon.devices"),
    ("jax_memory_fitting_effort", "x", ValueError, "type float"),
])
def test_values_are_checked(name: str, value: Any, error: Any, text: str) -> None:
  with pytest.raises(error, match=text):
    config.update(name, value)


def test_values_that_convert() -> None:
  config.update("jax_debug_nans", np.bool_(True))
  assert type(config.read("jax_debug_nans")) is bool
  assert config.read("jax_debug_nans")
  config.update("jax_debug_nans", 0)
  assert type(config.read("jax_debug_nans")) is bool
  config.update("jax_memory_fitting_effort", 1)
  assert type(config.read("jax_memory_fitting_effort")) is float
  config.update("jax_memory_fitting_effort", 0.0)


def test_hooks_may_refuse() -> None:
  seen: list[object] = []

  def refuse_negative(value: int) -> None:
    seen.append(value)
    if value < -1:
      raise RuntimeError("too late")

  _config.on_update("jax_num_cpu_devices", refuse_negative)
  with pytest.raises(RuntimeError, match="too late"):
    config.update("jax_num_cpu_devices", -2)
  config.update("jax_num_cpu_devices", -1)
  assert seen == [-2, -1]


def test_listing() -> None:
  assert "jax_enable_x64" in dir(config)
  assert set(config.values) == {o.name for o in _options.OPTIONS}


# ---- overrides ---------------------------------------------------------------------

def test_overrides_nest_and_end() -> None:
  with _config.enable_x64(True):
    assert _config.x64()
    assert config.jax_enable_x64
    with _config.enable_x64(False), _config.debug_nans():
      assert not _config.x64()
      assert config.jax_debug_nans
    assert _config.x64()
    assert not config.jax_debug_nans
  assert not _config.x64()


def test_overrides_end_with_errors() -> None:
  with pytest.raises(KeyError), _config.enable_x64():
    raise KeyError
  assert not _config.x64()


def test_overrides_are_local_to_their_thread() -> None:
  with _config.enable_x64(), _config.numpy_rank_promotion("raise"):
    assert not in_thread(_config.x64)
    assert in_thread(lambda: config.jax_numpy_rank_promotion) == "allow"
    assert in_thread(_config.trace_key) is None


def test_an_update_reaches_threads_with_other_overrides() -> None:
  entered, updated = threading.Event(), threading.Event()

  def inside() -> tuple[object, object, object]:
    with _config.enable_x64():
      entered.set()
      assert updated.wait(60)
      return config.jax_debug_nans, config.jax_enable_x64, config.jax_default_prng_impl

  with concurrent.futures.ThreadPoolExecutor(1) as pool:
    future = pool.submit(inside)
    assert entered.wait(60)
    config.update("jax_debug_nans", True)
    updated.set()
    assert future.result(60) == (True, True, "threefry2x32")
  config.update("jax_debug_nans", False)


def test_an_update_within_an_override_lasts() -> None:
  with _config.debug_nans(True):
    config.update("jax_debug_infs", True)
    assert config.jax_debug_infs
    assert config.jax_debug_nans
    config.update("jax_debug_nans", False)
    assert config.jax_debug_nans  # the override is nearer
  assert config.jax_debug_infs
  config.update("jax_debug_infs", False)


def test_managers_are_decorators() -> None:
  @_config.enable_x64(True)
  def inner(depth: int) -> bool:
    return inner(depth - 1) if depth else _config.x64()

  assert inner(2)
  assert inner.__name__ == "inner"
  assert not _config.x64()


def test_one_override_may_be_entered_repeatedly() -> None:
  override = _config.enable_x64(True)
  with override, override:
    assert _config.x64()
  with override:
    assert _config.x64()
  assert not _config.x64()


def test_managers_of_bool_options_need_no_value_and_others_do() -> None:
  with _config.log_compiles():
    assert _config.log_compiles.value is True
  with pytest.raises(TypeError, match="one argument, got 0"):
    _config.numpy_dtype_promotion()
  with pytest.raises(TypeError, match="one argument, got 2"):
    _config.enable_x64(True, False)
  with pytest.raises(ValueError, match="'standard', 'strict'"):
    _config.numpy_dtype_promotion("loose")
  with pytest.raises(TypeError, match=r"config\.jax_enable_x64"):
    bool(_config.enable_x64)
  assert repr(_config.debug_infs) == (
      "<context manager of the option jax_debug_infs: False>")


def test_functions_that_make_overrides() -> None:
  with _config.disable_jit():
    assert config.jax_disable_jit
    assert cells.disable_jit.value
    with _config.disable_jit(False):
      assert not config.jax_disable_jit
  with _config.checking_leaks():
    assert config.jax_check_tracer_leaks
  with _config.default_matmul_precision(None), _config.default_device("cpu"):
    assert config.jax_default_device == "cpu"


def test_the_guard_of_all_transfers_sets_each_direction() -> None:
  names = ("host_to_device", "device_to_host", "device_to_device")
  with _config.transfer_guard("log"):
    assert {getattr(config, f"jax_transfer_guard_{n}") for n in names} == {"log"}
    with _config.transfer_guard_host_to_device("disallow"):
      assert config.jax_transfer_guard_host_to_device == "disallow"
      assert config.jax_transfer_guard_device_to_host == "log"
  config.update("jax_transfer_guard", "allow")
  assert config.jax_transfer_guard_device_to_host == "allow"
  config.update("jax_transfer_guard", None)
  with pytest.raises(ValueError, match="'disallow_explicit'"):
    _config.transfer_guard("never")


def test_the_runtime_obeys_the_guards() -> None:
  double = gnomon.jit(lambda x: x)
  data = np.ones(3, np.float32)
  on_device = double(data)
  with _config.transfer_guard("disallow"):
    with pytest.raises(gnomon.errors.JaxRuntimeError, match="host-to-device transfer"):
      double(data)
    double(on_device)
    np.testing.assert_array_equal(np.asarray(in_thread(lambda: double(data))), data)
  double(data)


# ---- what caches depend on ---------------------------------------------------------

def test_trace_key_is_none_at_defaults_and_has_what_traces_depend_on() -> None:
  assert _config.trace_key() is None
  with _config.explain_cache_misses(), _config.log_compiles():
    assert _config.trace_key() is None
  with _config.numpy_dtype_promotion("strict"):
    outer = _config.trace_key()
    with _config.enable_x64():
      assert _config.trace_key() == (
          ("enable_x64", True), ("numpy_dtype_promotion", "strict"))
    assert _config.trace_key() == outer == (("numpy_dtype_promotion", "strict"),)
  with _config.numpy_dtype_promotion("standard"):
    assert _config.trace_key() is None
  assert hash(outer)


def test_cells_follow() -> None:
  with _config.enable_x64():
    assert cells.x64.value is True
    assert not in_thread(lambda: cells.x64.value)
  assert cells.x64.value is False


def test_context_values_are_part_of_the_key_and_no_options() -> None:
  axis = _config.context_value("test_axis_env", ())
  with axis(("i", 3)):
    assert _config.trace_key() == (("test_axis_env", ("i", 3)),)
    assert axis.value == ("i", 3)
    assert in_thread(lambda: axis.value) == ()
  assert axis.value == ()
  assert "test_axis_env" not in config.values
  with pytest.raises(ValueError, match="already a value named"):
    _config.context_value("test_axis_env", ())


def test_mirrors_follow_updates_and_overrides() -> None:
  calls: list[tuple[str, object]] = []

  class Cell:
    def set_global(self, value: object) -> None:
      calls.append(("global", value))

    def set_local(self, value: object) -> None:
      calls.append(("local", value))

  _config.mirror("jax_log_compiles", Cell())
  try:
    with _config.log_compiles():
      pass
    assert calls == [("global", False), ("local", True), ("local", cells.unset)]
  finally:
    _config._mirrors.pop("log_compiles")
  with pytest.raises(ValueError, match="debug_infs is mirrored already"):
    _config.mirror("jax_debug_infs", Cell())


# ---- the environment ---------------------------------------------------------------

def run(code: str, **environ: str) -> subprocess.CompletedProcess[str]:
  clean = {k: v for k, v in os.environ.items() if not k.startswith(("JAX_", "GNOMON_"))}
  return subprocess.run(
      [sys.executable, "-c", f"from gnomon._config import *\n{code}"], text=True,
      capture_output=True, timeout=120, check=False, env={**clean, **environ})


def test_initial_values_come_from_the_environment() -> None:
  names = (
      "transfer_guard_host_to_device", "enable_x64", "traceback_in_locations_limit",
      "compilation_cache_dir", "check_vma")
  done = run(
      f"print([config.read(n) for n in {names}], trace_key())",
      JAX_TRANSFER_GUARD="log", JAX_ENABLE_X64="0", GNOMON_ENABLE_X64="True",
      CHECK_VMA="1", JAX_TRACEBACK_IN_LOCATIONS_LIMIT="7",
      JAX_COMPILATION_CACHE_DIR="/cache")
  assert done.stdout == (
      "['log', True, 7, '/cache', True] "
      "(('check_vma', True), ('enable_x64', True))\n"), done.stderr


@pytest.mark.parametrize(("text", "expected"), [
    *((t, True) for t in ("1", "t", "TRUE", "y", "yes", "on")),
    *((t, False) for t in ("0", "f", "False", "n", "no", "off"))])
def test_truth_values(text: str, expected: bool) -> None:
  option = _config._find("enable_x64")
  assert _config._initial(option, {"JAX_ENABLE_X64": text}) is expected


@pytest.mark.parametrize(("environ", "message"), [
    ({"JAX_ENABLE_X64": "banana"}, "JAX_ENABLE_X64 must be a truth value"),
    ({"JAX_ENABLE_X64": ""}, "JAX_ENABLE_X64 must be a truth value"),
    ({"GNOMON_NUMPY_DTYPE_PROMOTION": "loose"}, "GNOMON_NUMPY_DTYPE_PROMOTION='loose'"),
    ({"JAX_NUM_CPU_DEVICES": "two"}, "JAX_NUM_CPU_DEVICES='two' is not valid"),
])
def test_the_environment_is_checked(environ: dict[str, str], message: str) -> None:
  name = next(iter(environ)).split("_", 1)[1]
  with pytest.raises(ValueError, match=message):
    _config._initial(_config._find(name.lower()), environ)


def test_options_of_the_command_line_only() -> None:
  option = _config._find("jax_cpu_enable_async_dispatch")
  assert _config._initial(option, {"JAX_CPU_ENABLE_ASYNC_DISPATCH": "0"}) is True


# ---- the command line --------------------------------------------------------------

class Flag:
  """A flag of absl."""

  def __init__(self, parse: Any, value: Any) -> None:
    self.parse, self.value, self.present = parse, value, 0


class Flags(dict[str, Flag]):
  """What `gnomon.config` uses of absl: its flags, and the parsing of a command line."""

  def __call__(self, argv: list[str], known_only: bool) -> None:
    assert known_only
    for argument in argv[1:]:
      name, _, text = argument.lstrip("-").partition("=")
      negated = name.startswith("no")
      flag = self[name.removeprefix("no")]
      flag.present += 1
      flag.value = flag.parse(text) if text else not negated


@pytest.fixture
def absl(monkeypatch: pytest.MonkeyPatch) -> Flags:
  flags = Flags()

  def define(parse: Any) -> Any:
    return lambda name, default, *rest: flags.__setitem__(name, Flag(parse, default))

  module = types.ModuleType("absl")
  module.__dict__.update(
      app=types.SimpleNamespace(call_after_init=lambda f: None),
      flags=types.SimpleNamespace(
          FLAGS=flags, DEFINE_bool=define(lambda t: t in ("1", "true")),
          DEFINE_integer=define(int), DEFINE_float=define(float),
          DEFINE_string=define(str), DEFINE_enum=define(str)))
  monkeypatch.setitem(sys.modules, "absl", module)
  return flags


def test_flags_of_the_command_line(absl: Flags, monkeypatch: pytest.MonkeyPatch) -> None:
  monkeypatch.setattr(sys, "argv", [
      "program", "--other=1", "--jax_enable_x64=1", "--nojax_pprint_use_color",
      "--jax_numpy_rank_promotion=warn", "--jax_traceback_in_locations_limit=3"])
  before = config.values
  config.parse_flags_with_absl()
  changed = {k: v for k, v in config.values.items() if v != before[k]}
  for name in changed:
    config.update(name, before[name])
  assert len(absl) == 135
  assert changed == {
      "jax_enable_x64": True, "jax_pprint_use_color": False,
      "jax_numpy_rank_promotion": "warn", "jax_traceback_in_locations_limit": 3}


# ---- speed -------------------------------------------------------------------------

def test_hot_reads_cost_little() -> None:
  """Relative to a call of an empty function, so that a busy machine does not matter."""
  def empty() -> None:
    pass

  def cost(function: Any) -> float:
    return min(timeit.repeat(function, number=20_000, repeat=7))

  base = cost(empty)
  assert cost(_config.x64) < 8 * base
  assert cost(_config.trace_key) < 8 * base
  assert cost(_config.current) < 8 * base
