"""Generators of random bits; they come with the distribution gnomon-random."""

from __future__ import annotations

import importlib
from typing import Any

_NAMES = (
    "define_prng_impl", "random_seed", "rbg_prng_impl", "seed_with_impl",
    "threefry2x32_p", "threefry_2x32", "threefry_prng_impl", "unsafe_rbg_prng_impl")


def __getattr__(name: str) -> Any:
  if name in _NAMES:
    try:
      module = importlib.import_module("gnomon.random._extending")
    except ModuleNotFoundError as e:
      if e.name != "gnomon.random":
        raise  # it is installed, but something that it needs is not
      raise AttributeError(
          f"'gnomon.extend.random.{name}' comes with the distribution 'gnomon-random', "
          "which is not installed: pip install gnomon-random") from None
    return getattr(module, name)
  raise AttributeError(f"module 'gnomon.extend.random' has no attribute {name!r}")


def __dir__() -> list[str]:
  return sorted(_NAMES)
