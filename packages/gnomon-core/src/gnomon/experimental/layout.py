"""How arrays lie in memory: `Layout`, and `Format`, which says where as well."""

from __future__ import annotations

from gnomon.api.layout_constraint import with_layout_constraint as with_layout_constraint
from gnomon.runtime.layout import Format as Format
from gnomon.runtime.layout import Layout as Layout

__all__ = ["Format", "Layout", "with_layout_constraint"]
