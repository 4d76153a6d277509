"""Loggers: gnomon's own, which are children of those that programs for JAX listen to.

A record of `gnomon.timing` is seen by handlers of `gnomon.timing`, of
`jax._src.dispatch`, of `jax`, of `gnomon` and of the root. Which of them has a handler,
or sets the level, is the user's choice. Two options do so too: `jax_logging_level` sets
the level of all, `jax_debug_log_modules` that of single loggers (`"jax"`,
`"gnomon.timing"`, …), and both write to standard error.
"""

from __future__ import annotations

import logging
import sys
from typing import Any

from gnomon import _config

# By name, the logger of JAX that says the same.
_LIKE = {
    "gnomon.timing": "jax._src.dispatch",
    "gnomon.compiling": "jax._src.interpreters.pxla",
    "gnomon.caches": "jax._src.pjit",
    "gnomon.debug": "jax._src.debugging",
    "gnomon.checkpoint": "jax._src.ad_checkpoint",
}


def _join() -> dict[str, logging.Logger]:
  logging.getLogger("jax").parent = logging.getLogger("gnomon")
  found = {}
  for name, other in _LIKE.items():
    found[name] = logging.getLogger(name)
    found[name].parent = logging.getLogger(other)
  return found


_loggers = _join()
timing, compiling = _loggers["gnomon.timing"], _loggers["gnomon.compiling"]
caches, debug = _loggers["gnomon.caches"], _loggers["gnomon.debug"]
checkpoint = _loggers["gnomon.checkpoint"]


class _ToStderr(logging.StreamHandler[Any]):
  """Writes a record to standard error, once however many loggers have the handler."""

  def emit(self, record: logging.LogRecord) -> None:
    if not getattr(record, "gnomon_shown", False):
      record.gnomon_shown = True
      self.stream = sys.stderr  # which tests and notebooks replace
      super().emit(record)


_handler = _ToStderr()
_handler.setFormatter(logging.Formatter(
    "{levelname}:{asctime}:{name}:{lineno}: {message}", style="{"))
_general = ("NOTSET", "")  # the values of the two options


def _apply(level: str, modules: str) -> None:
  """Gives loggers the levels that the options ask for."""
  global _general
  for name in _names(*_general):
    logger = logging.getLogger(name)
    logger.removeHandler(_handler)
    logger.setLevel(logging.NOTSET)
  _general = (level, modules)
  for name, wanted in _names(level, modules).items():
    logger = logging.getLogger(name)
    logger.addHandler(_handler)
    logger.setLevel(wanted)


def _names(level: str, modules: str) -> dict[str, str]:
  found = {} if level == "NOTSET" else {"gnomon": level, "jax": level}
  for name in modules.split(","):
    if name.strip():
      found[name.strip()] = "DEBUG"
  return found


_config.on_update(
    "jax_logging_level", lambda level: _apply(level or "NOTSET", _general[1]))
_config.on_update("jax_debug_log_modules", lambda names: _apply(_general[0], names or ""))
_apply(
    _config.config.read("jax_logging_level") or "NOTSET",
    _config.config.read("jax_debug_log_modules") or "")


def level_of_compiles() -> int:
  """The level at which is told what is traced and compiled."""
  return logging.WARNING if _config.current().log_compiles else logging.DEBUG
