"""What the array API standard asks a namespace about itself."""

from __future__ import annotations

from typing import Any

import numpy as np

from gnomon import devices
from gnomon.core import dtypes

__array_api_version__ = "2024.12"

_NAMES = {
    "bool": ("bool",),
    "signed integer": ("int8", "int16", "int32", "int64"),
    "unsigned integer": ("uint8", "uint16", "uint32", "uint64"),
    "real floating": ("float32", "float64"),
    "complex floating": ("complex64", "complex128")}
_NAMES["integral"] = (*_NAMES["signed integer"], *_NAMES["unsigned integer"])
_NAMES["numeric"] = (
    *_NAMES["integral"], *_NAMES["real floating"], *_NAMES["complex floating"])
_ALL = (*_NAMES["bool"], *_NAMES["numeric"])


class ArrayNamespaceInfo:
  """The abilities, dtypes and devices of the namespace."""

  def capabilities(self) -> dict[str, Any]:
    """Which optional abilities there are; neither those whose shapes depend on values."""
    return {
        "boolean indexing": False, "data-dependent shapes": False, "max dimensions": 64}

  def default_device(self) -> None:
    """None: arrays that are on no particular device are where they are needed."""

  def devices(self) -> list[Any]:
    """The devices, and None for no particular one."""
    return [None, *devices()]

  def default_dtypes(self, *, device: Any = None) -> dict[str, Any]:
    """The dtypes that are chosen where none is given.

    Args:
      device: accepted; the dtypes are the same on all.
    """
    del device
    return {
        "real floating": dtypes.default_float_dtype(),
        "complex floating": dtypes.default_complex_dtype(),
        "integral": dtypes.default_int_dtype(), "indexing": dtypes.default_int_dtype()}

  def dtypes(self, *, device: Any = None, kind: Any = None) -> dict[str, Any]:
    """The standard's dtypes by name; those with 64 bits only if they are switched on.

    Args:
      device: accepted; the dtypes are the same on all.
      kind: a kind, or a tuple of kinds, as of `isdtype`; None: all.

    Raises:
      ValueError: the kind is unknown.
    """
    del device
    names = _ALL if kind is None else _of_kinds(kind)
    found = {name: np.dtype(name) for name in names}
    return {n: d for n, d in found.items() if dtypes.canonicalize_dtype(d) == d}


def _of_kinds(kind: Any) -> tuple[str, ...]:
  kinds = kind if isinstance(kind, tuple) else (kind,)
  for k in kinds:
    if k not in _NAMES:
      raise ValueError(
          f"Unknown kind {k!r}: expected one of {', '.join(map(repr, _NAMES))}, or a "
          "tuple of them")
  return tuple(name for k in kinds for name in _NAMES[k])


def __array_namespace_info__() -> ArrayNamespaceInfo:
  """The abilities, dtypes and devices of the namespace, by the array API standard.

  >>> import gnomon.numpy as gnp
  >>> list(gnp.__array_namespace_info__().dtypes(kind="real floating"))
  ['float32']
  """
  return ArrayNamespaceInfo()
