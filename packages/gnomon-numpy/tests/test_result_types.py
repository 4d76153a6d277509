"""Shapes, dtypes and weakness of results, as JAX 0.10.2 gives them (`~` is weak).

The rows were recorded by evaluating the expressions under JAX, with the operands below.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gnomon.numpy as gnp


def describe(x: Any) -> str:
  if isinstance(x, (list, tuple)):
    return "[" + ", ".join(map(describe, x)) + "]"
  if hasattr(x, "shape"):
    weak = "~" if getattr(x, "weak_type", False) else ""
    return f"{x.dtype}{tuple(x.shape)}{weak}"
  return repr(x)


def test_recorded() -> None:
  x = gnp.arange(6.0).reshape(2, 3)
  operands = {
      "gnp": gnp, "x": x, "i": x.astype(int), "i8": x.astype("int8"),
      "u8": x.astype("uint8"), "h": x.astype("float16"), "bf": x.astype(gnp.bfloat16),
      "b": x > 2, "c": x + 1j, "w": gnp.stack([2]), "w2": gnp.stack([2.0, 3.0, 5.0])}
  text = (Path(__file__).parent / "data" / "result_types.txt").read_text()
  wrong = []
  for row in text.splitlines():
    expression, want = row.split(" -> ")
    got = describe(eval(expression, operands))  # our own data
    if got != want:
      wrong.append(f"{expression}: {got}, not {want}")
  assert not wrong, "\n".join(wrong)
