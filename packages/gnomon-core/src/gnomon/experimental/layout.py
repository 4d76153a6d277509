"""How arrays lie in memory: `Layout`, and `Format`, which says where as well."""

from __future__ import annotations

from gnomon.runtime.layout import Format as Format
from gnomon.runtime.layout import Layout as Layout
