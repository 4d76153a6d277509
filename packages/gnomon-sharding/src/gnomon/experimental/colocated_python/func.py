"""A module that orbax imports; `colocated_python` itself is all that gnomon has of it."""

from __future__ import annotations

from gnomon.experimental.colocated_python import colocated_python as colocated_python
