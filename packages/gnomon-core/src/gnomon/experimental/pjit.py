"""`pjit`: `jit` by its older name."""

from __future__ import annotations

from gnomon.api.jit import jit as pjit
from gnomon.transform.call import jit_p as pjit_p

__all__ = ["pjit", "pjit_p"]
