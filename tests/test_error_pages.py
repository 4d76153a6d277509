"""Each class of error has a page with cause, example and fix, and messages name it."""

from __future__ import annotations

import pathlib
import pickle
import sys
import traceback

import numpy as np
import pytest

import gnomon
from gnomon import errors

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "docs"))

import error_pages

BASES = {"JAXTypeError", "JAXIndexError"}  # nothing raises these themselves


def test_every_class_has_a_page(tmp_path: pathlib.Path) -> None:
  own = {
      name for name, cls in vars(errors).items()
      if isinstance(cls, type) and issubclass(cls, BaseException)
      and cls.__module__ == "gnomon.errors" and not name.startswith("_")}
  error_pages.write(tmp_path)
  assert {p.stem for p in tmp_path.iterdir()} == own - BASES
  for path in tmp_path.iterdir():
    text = path.read_text()
    assert text.startswith(f"# {path.stem}\n")
    if path.stem != "SimplifiedTraceback":
      assert "\n## Cause\n" in text
    assert "\n## Fix\n" in text
    assert "doctest:" not in text
    assert text.count("```") % 2 == 0


def test_messages_name_the_help() -> None:
  with pytest.raises(errors.TracerBoolConversionError) as found:
    gnomon.jit(bool)(np.float32(1))
  last = "".join(traceback.format_exception(found.value)).splitlines()[-1]
  assert last == "Cause and fix: help(gnomon.errors.TracerBoolConversionError)"
  error = pickle.loads(pickle.dumps(errors.KeyReuseError("a key")))
  assert str(error) == "a key"
  assert error.__notes__ == ["Cause and fix: help(gnomon.errors.KeyReuseError)"]
