"""`python -m gnomon.as_jax PROGRAM ARGS…`, or `-m MODULE ARGS…`: runs it on gnomon."""

from __future__ import annotations

import os
import runpy
import sys

import gnomon.as_jax as _  # noqa: F401 -- from here on, jax is gnomon

USAGE = "usage: python -m gnomon.as_jax PROGRAM [ARGS…] | -m MODULE [ARGS…]"


def main(argv: list[str]) -> None:
  """Runs a program as Python would, with the rest of `argv` as its arguments."""
  if not argv or argv[0] in ("-h", "--help") or argv == ["-m"]:
    raise SystemExit(USAGE)
  if argv[0] == "-m":
    sys.argv = argv[1:]
    sys.path[0] = os.getcwd()
    runpy.run_module(argv[1], run_name="__main__", alter_sys=True)
  else:
    sys.argv = argv
    sys.path[0] = os.path.dirname(os.path.abspath(argv[0]))
    runpy.run_path(argv[0], run_name="__main__")


if __name__ == "__main__":
  main(sys.argv[1:])
