"""Calls of LAPACK's functions in lowered programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gnomon.core.types import ShapedArray
from gnomon.lax._loops import on_cpu
from gnomon.runtime.jaxlib.ffi import lapack_registrations

_LETTERS = {"float32": "s", "float64": "d", "complex64": "c", "complex128": "z"}
_INT32 = np.dtype(np.int32)


def call(
    ctx: Any, routine: str, operands: Sequence[Any], avals: Sequence[ShapedArray],
    outs: Sequence[ShapedArray], batch: tuple[int, ...], options: Mapping[str, Any],
    reuse: Sequence[int] = (0,)) -> list[Any]:
  """Emits a call for each matrix of a batch; returns its results.

  Args:
    ctx: the lowering context.
    routine: LAPACK's name without the letter of the type; of a pair such as
      `"syevd/heevd"` the second one is for complex numbers. One that ends in `_ffi` is
      the name of jaxlib's function.
    operands: the values, the first of them of the type that the routine is for.
    avals: the types of the operands.
    outs: the types of the results.
    batch: the leading dimensions, which all of these types have.
    options: the attributes: strings of one character, bools or integers.
    reuse: operand i may be overwritten by result `reuse[i]`, if that is not -1.

  Raises:
    NotImplementedError: the program is not for CPUs alone.
  """
  dtype = avals[0].dtype
  name = routine.split("/")[-1 if dtype.kind == "c" else 0]
  if not on_cpu(ctx):
    raise NotImplementedError(
        f"linear algebra ({name}) is compiled for CPUs only, but the program is for "
        f"{', '.join(ctx.platforms)}; run this part with "
        "gnomon.default_device(gnomon.devices('cpu')[0])")
  lapack_registrations()
  b = ctx.b
  target = name if name.endswith("_ffi") else f"lapack_{_LETTERS[dtype.name]}{name}_ffi"
  attrs = {
      "call_target_name": b.string(target), "has_side_effect": b.flag(False),
      "api_version": b.i32(4), "backend_config": b.attr(_dictionary(options)),
      "operand_layouts": b.attr(_layouts(avals, batch)),
      "result_layouts": b.attr(_layouts(outs, batch)),
      "output_operand_aliases": b.attr(_aliases(reuse, len(avals), len(outs))),
      "mhlo.frontend_attributes": b.attr(f'{{num_batch_dims = "{len(batch)}"}}')}
  op = b.op("stablehlo.custom_call", [b.tensor(a) for a in outs], operands, attrs)
  return list(op.results)


def _dictionary(options: Mapping[str, Any]) -> str:
  return "{" + ", ".join(f"{k} = {_attribute(v)}" for k, v in options.items()) + "}"


def _attribute(value: Any) -> str:
  if isinstance(value, bool):
    return "true" if value else "false"
  if isinstance(value, int):
    return f"{value} : i32"
  return f"{ord(value)} : ui8"


def _layouts(avals: Sequence[ShapedArray], batch: tuple[int, ...]) -> str:
  """Matrices by columns, all else by rows."""
  n = len(batch)
  texts = []
  for a in avals:
    if a.ndim == 0:
      texts.append("dense<> : tensor<0xindex>")
      continue
    order = list(range(a.ndim - 1, -1, -1))
    if a.ndim == n + 2:
      order[:2] = [a.ndim - 2, a.ndim - 1]
    texts.append(f"dense<{order}> : tensor<{a.ndim}xindex>")
  return f"[{', '.join(texts)}]"


def _aliases(reuse: Sequence[int], n_in: int, n_out: int) -> str:
  texts = [
      "#stablehlo.output_operand_alias<output_tuple_indices = "
      f"[{'' if n_out == 1 else out}], operand_index = {i}, operand_tuple_indices = []>"
      for i, out in enumerate(reuse[:n_in]) if out >= 0]
  return f"[{', '.join(texts)}]"


def info(batch: tuple[int, ...]) -> ShapedArray:
  """The type of what a routine says about its success."""
  return ShapedArray(batch, _INT32)


def or_nan(
    ctx: Any, status: Any, values: Sequence[Any], avals: Sequence[ShapedArray],
    batch: tuple[int, ...], good: str = "EQ") -> list[Any]:
  """The results where the status is good (0, or `GE` 0), and nan elsewhere."""
  b = ctx.b
  kind = info(batch)
  ok = b.compare(good, status, b.full(kind, 0), kind)
  flags = ShapedArray(batch, np.dtype(bool))
  return [
      b.select_n(ok if a.shape == batch else _spread(b, ok, flags, a.shape),
                 (b.full(a, _nan(a.dtype)), v), ShapedArray(a.shape, flags.dtype), a)
      for v, a in zip(values, avals)]


def _spread(b: Any, ok: Any, flags: ShapedArray, shape: tuple[int, ...]) -> Any:
  return b.broadcast_in_dim(ok, ShapedArray(shape, flags.dtype), range(flags.ndim))


def _nan(dtype: Any) -> Any:
  return complex(np.nan, np.nan) if dtype.kind == "c" else np.nan
