"""Compiled functions as bytes: they run in another process, and damage is noticed."""

from __future__ import annotations

import pathlib
import pickle
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import gnomon
from gnomon.experimental.serialize_executable import deserialize_and_load, serialize
from gnomon.runtime import disk_cache

f32 = np.float32
X = np.array([0.5, -1.5, 2.0], f32)


@pytest.fixture
def compiled(ops: Any) -> Any:
  constant = gnomon.device_put(np.arange(300, dtype=f32))  # large: an argument inside

  def f(x: Any, unread: Any, y: Any, scale: Any) -> Any:
    return {"a": ops.mul(ops.mul(y, constant), scale)}, ops.sin(x)

  return gnomon.jit(f, static_argnums=3).lower(X, X, np.ones(300, f32), 2.0).compile()


def test_there_and_back(compiled: Any) -> None:
  stored = serialize(compiled)
  again = deserialize_and_load(*stored)
  for call in (again, deserialize_and_load(*stored, backend="cpu"), deserialize_and_load(
      *stored, execution_devices=gnomon.devices()[:1])):
    first, second = call(X, X, np.ones(300, f32))
    np.testing.assert_array_equal(first["a"], 2 * np.arange(300))
    np.testing.assert_allclose(second, np.sin(X), rtol=1e-6)
  assert again.in_avals == compiled.in_avals
  assert again.out_info[1] == compiled.out_info[1]
  assert again.input_formats == compiled.input_formats
  assert again.as_text() == compiled.as_text()
  with pytest.raises(TypeError, match=r"args\[0\]: compiled for float32\[3\]"):
    again(X[:2], X, np.ones(300, f32))


def test_another_process_runs_it(compiled: Any, tmp_path: pathlib.Path) -> None:
  data, *_ = serialize(compiled)
  (tmp_path / "f").write_bytes(pickle.dumps(data))
  code = f"""
import pickle, numpy as np, gnomon
from gnomon.experimental.serialize_executable import deserialize_and_load
tree = gnomon.tree_util.tree_structure
data = pickle.loads(open({str(tmp_path / "f")!r}, "rb").read())
f = deserialize_and_load(data, tree(((0, 0, 0), {{}})), tree(({{"a": 0}}, 0)))
x = np.ones(3, np.float32)
print(np.asarray(f(x, x, np.ones(300, np.float32))[0]["a"]).sum())
"""
  out = subprocess.run(
      [sys.executable, "-c", code], check=True, capture_output=True, text=True)
  assert float(out.stdout) == 2 * sum(range(300))


def test_damage_is_noticed(compiled: Any) -> None:
  data, *trees = serialize(compiled)
  for bad in (b"abc", data[:-1], data[:90] + bytes([data[90] ^ 1]) + data[91:]):
    with pytest.raises(ValueError, match="no bytes of a compiled function, or they are"):
      deserialize_and_load(bad, *trees)
  with pytest.raises(ValueError, match="must be one device"):
    deserialize_and_load(data, *trees, execution_devices=[])


def test_what_cannot_be_stored(ops: Any) -> None:
  like = gnomon.ShapeDtypeStruct((3,), f32)
  calling = gnomon.jit(lambda x: gnomon.pure_callback(np.sin, like, x))
  with pytest.raises(ValueError, match="calls Python functions"):
    serialize(calling.lower(X).compile())


def test_a_program_that_was_found_on_disk(
    ops: Any, tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
  """The runtime cannot write down what it has loaded: it is compiled for that."""
  monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
  disk_cache.own_folder.cache_clear()
  try:
    for _ in range(2):
      compiled = gnomon.jit(lambda x: ops.mul(ops.sin(x), x)).lower(f32(2)).compile()
      again = deserialize_and_load(*serialize(compiled))
      np.testing.assert_array_equal(again(f32(2)), compiled(f32(2)))
    assert compiled._executable.anew is not None
  finally:
    disk_cache.own_folder.cache_clear()
