"""Virtual environments of the two sides, made once and kept in a cache folder."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
CACHE = Path.home() / ".cache" / "gnomon-benchmarks"
JAX = "0.10.2"
PACKAGES = ("gnomon-core", "gnomon-lax", "gnomon-numpy", "gnomon-random")


def python_of(environment: Path) -> Path:
  """The interpreter of a virtual environment."""
  windows = environment / "Scripts" / "python.exe"
  return windows if windows.exists() else environment / "bin" / "python"


def make(environment: Path, requirements: list[str]) -> Path:
  """Makes an environment with `requirements`; an old one is brought up to date."""
  if not environment.exists():
    subprocess.run([sys.executable, "-m", "venv", str(environment)], check=True)
  python = python_of(environment)
  command = [str(python), "-m", "pip", "install", "--quiet", *requirements]
  subprocess.run(command, check=True)
  return python


def version_in(python: Path, package: str) -> str:
  """The version of an installed package, as the environment of `python` has it."""
  code = f"import importlib.metadata as m; print(m.version({package!r}))"
  return subprocess.check_output([str(python), "-c", code], text=True).strip()


def gnomon(cache: Path) -> Path:
  """An environment with this working tree's packages."""
  sources = [str(ROOT / "packages" / name) for name in PACKAGES]
  return make(cache / "gnomon", [*sources, f"jaxlib=={JAX}"])


def jax(cache: Path, like: Path) -> Path:
  """An environment with JAX, and NumPy as the other side has it."""
  pins = [f"{name}=={version_in(like, name)}" for name in ("numpy", "ml_dtypes")]
  return make(cache / f"jax-{JAX}", [f"jax=={JAX}", f"jaxlib=={JAX}", *pins])
