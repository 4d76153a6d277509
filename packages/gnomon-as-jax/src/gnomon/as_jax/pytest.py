"""A plugin: `pytest -p gnomon.as_jax.pytest` runs tests that import `jax` on gnomon."""

from __future__ import annotations

import gnomon.as_jax as _  # noqa: F401 -- from here on, jax is gnomon


def pytest_report_header() -> str:
  """A line at the head of pytest's report."""
  import gnomon

  return f"jax: gnomon {gnomon.__version__}"
