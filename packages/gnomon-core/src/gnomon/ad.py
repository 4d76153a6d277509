"""What the functions returned by `vjp` can be asked for, argument by argument."""

from __future__ import annotations

from gnomon.api.vjp import DidntWant as DidntWant
from gnomon.api.vjp import DontWant as DontWant
from gnomon.api.vjp import GradRef as GradRef
from gnomon.api.vjp import GradValue as GradValue

__all__ = ["DidntWant", "DontWant", "GradRef", "GradValue"]
