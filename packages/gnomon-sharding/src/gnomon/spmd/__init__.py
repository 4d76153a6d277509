"""One program for many devices: `pmap`, `shard_map`."""

from __future__ import annotations

from gnomon.spmd._pmap import pmap as pmap
from gnomon.spmd._shard_map import shard_map as shard_map
from gnomon.spmd._smap import smap as smap
