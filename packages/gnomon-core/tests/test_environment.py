"""What concerns the process: live arrays, caches, settings of users, versions, names."""

from __future__ import annotations

import pathlib
import tomllib
from typing import Any

import numpy as np
import pytest

import gnomon
from gnomon.runtime.layout import Format, Layout


def test_versions() -> None:
  project = pathlib.Path(__file__).parent.parent / "pyproject.toml"
  declared = tomllib.loads(project.read_text())["project"]["version"]
  assert gnomon.__version__ == gnomon.version.__version__ == declared
  assert gnomon.__version_info__ == tuple(map(int, declared.split(".")))
  import jaxlib.version

  assert gnomon.lib.__version__ == jaxlib.version.__version__


def test_live_arrays_are_those_not_deleted() -> None:
  x = gnomon.device_put(np.arange(7.0))
  assert any(x is y for y in gnomon.live_arrays("cpu"))
  kept = len(gnomon.live_arrays())
  x.delete()
  assert len(gnomon.live_arrays()) == kept - 1
  with pytest.raises(RuntimeError, match="tpu"):
    gnomon.live_arrays("tpu")


def test_clear_caches_traces_anew(ops: Any) -> None:
  traced = []

  @gnomon.jit
  def f(x: Any) -> Any:
    traced.append(x)
    return ops.sin(x)

  before = float(f(1.0)), float(ops.cos(np.float32(1)))
  f(2.0)
  assert len(traced) == 1
  gnomon.clear_caches()
  assert (float(f(1.0)), float(ops.cos(np.float32(1)))) == before
  assert len(traced) == 2


def test_a_user_context_is_part_of_what_is_traced(ops: Any) -> None:
  sign = gnomon.make_user_context("plus")
  other = gnomon.make_user_context()
  traced = []

  @gnomon.jit
  def f(x: Any) -> Any:
    traced.append(sign.value)
    return ops.neg(x) if sign.value == "minus" else x

  assert (sign.value, other.value) == ("plus", None)
  assert float(f(3.0)) == 3
  with sign("minus"):
    assert float(f(3.0)) == -3
    with other(1), sign("plus"):
      assert float(f(3.0)) == 3
    assert float(f(3.0)) == -3
  assert float(f(3.0)) == 3
  assert traced == ["plus", "minus", "plus"]


def test_copies_to_the_host_begin_and_values_stay() -> None:
  x = gnomon.device_put(np.arange(3.0))
  tree = {"a": x, "b": np.ones(2), "c": 3, "d": None}
  assert gnomon.copy_to_host_async(tree) is tree
  np.testing.assert_array_equal(np.asarray(x), [0, 1, 2])


@pytest.mark.parametrize(("old", "new"), [
    ("host_id", "process_index"), ("host_ids", "process_indices"),
    ("host_count", "process_count")])
def test_older_names_warn(old: str, new: str) -> None:
  with pytest.warns(DeprecationWarning, match=f"renamed to gnomon.{new}"):
    assert getattr(gnomon, old)() == getattr(gnomon, new)()


def test_environment_info(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
  monkeypatch.setenv("JAX_OF_A_TEST", "7")
  text = gnomon.print_environment_info(return_string=True)
  assert gnomon.print_environment_info() is None
  assert capsys.readouterr().out == text + "\n"
  for part in (np.__version__, gnomon.__version__, "JAX_OF_A_TEST=7", "process_count: 1"):
    assert part in text


@pytest.mark.parametrize(("args", "text"), [
    ((0, 3), "Slice(start=0, size=3, stride=1)"),
    ((2,), "Slice(start=0, size=2, stride=1)"),
    ((1, 4, 2), "Slice(start=1, size=4, stride=2)")])
def test_slices(args: Any, text: str) -> None:
  assert repr(gnomon.ds(*args)) == text
  assert gnomon.ds(*args) == gnomon.ds(*args) != gnomon.ds(9, 9)
  assert len({gnomon.ds(*args), gnomon.ds(*args)}) == 1


def test_slices_say_what_is_wrong() -> None:
  with pytest.raises(ValueError, match=r"stride.*-1"):
    gnomon.ds(1, 4, -1)
  with pytest.raises(TypeError, match="must be an int"):
    gnomon.ds(1.5)


def test_kinds_of_memory() -> None:
  assert [(s.name, s.value) for s in gnomon.memory.Space] == [
      ("Device", 1), ("Host", 2), ("Any", 3)]
  assert repr(gnomon.memory.Space.Any) == "MemorySpace.Any"


class _Holder:
  value = 3

  def set(self, value: Any) -> None:
    self.value = value


def test_options_of_a_library() -> None:
  holder = _Holder()
  gnomon.config.add_option("of_a_test", holder, int, [3, "a number"], {})
  assert gnomon.config.of_a_test == 3
  gnomon.config.update("of_a_test", 4)
  assert (holder.value, gnomon.config.read("of_a_test")) == (4, 4)
  with pytest.raises(ValueError, match="of type int"):
    gnomon.config.update("of_a_test", "x")
  with pytest.raises(ValueError, match="already"):
    gnomon.config.add_option("of_a_test", holder, int, [3], {})
  with pytest.raises(ValueError, match="opt_type"):
    gnomon.config.add_option("of_a_test_2", holder, dict, [3], {})
  gnomon.config.add_option("of_a_test_3", _Holder(), "enum", ["a", ["a", "b"]], {})
  with pytest.raises(ValueError, match="one of 'a', 'b'"):
    gnomon.config.update("of_a_test_3", "c")


def test_formats() -> None:
  x = gnomon.device_put(np.ones((2, 3), np.float32), gnomon.devices()[0])
  layout = x.format.layout
  assert (layout.major_to_minor, x.format.sharding) == ((0, 1), x.sharding)
  assert x.format == Format(Layout((0, 1), ()), x.sharding) != Format()
  assert layout.update(major_to_minor=(1, 0)) == Layout((1, 0)) != layout
  assert len({layout, Layout((0, 1))}) == 1
  with pytest.raises(ValueError, match="does not fit"):
    layout.check_compatible_aval((2, 3, 4))
  with pytest.raises(ValueError, match="give the sharding"):
    Format(layout)
  x.delete()
  with pytest.raises(RuntimeError, match="deleted"):
    x.format  # noqa: B018 -- raises


def test_structs_like_arrays() -> None:
  like = gnomon.ShapeDtypeStruct.like
  assert like(3) == gnomon.ShapeDtypeStruct((), np.int32, weak_type=True)
  free = gnomon.device_put(np.ones(3, np.float32))
  assert like(free) == gnomon.ShapeDtypeStruct((3,), np.float32)
  placed = gnomon.device_put(free, gnomon.devices()[0])
  assert like(placed).sharding == placed.sharding == like(placed).format.sharding
