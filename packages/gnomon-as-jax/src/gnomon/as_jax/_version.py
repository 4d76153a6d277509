"""The release of JAX whose interface `jax` has: the module `jax.version`."""

from __future__ import annotations

__version__ = "0.10.2"
__version_info__ = (0, 10, 2)
