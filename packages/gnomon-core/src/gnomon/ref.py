"""Mutable references: `ref = new_ref(x)`, then `ref[i]`, `ref[i] = y`, `ref[i] += z`."""

from __future__ import annotations

from gnomon.core.ref_type import AbstractRef as AbstractRef
from gnomon.core.ref_values import Ref as Ref
from gnomon.core.refs import addupdate as addupdate
from gnomon.core.refs import empty_ref as empty_ref
from gnomon.core.refs import free_ref as free_ref
from gnomon.core.refs import freeze as freeze
from gnomon.core.refs import get as get
from gnomon.core.refs import new_ref as new_ref
from gnomon.core.refs import set as set
from gnomon.core.refs import swap as swap
from gnomon.transform import references as _references  # noqa: F401 -- rules of calls

__all__ = [
    "AbstractRef", "Ref", "addupdate", "empty_ref", "free_ref", "freeze", "get",
    "new_ref", "set", "swap"]
