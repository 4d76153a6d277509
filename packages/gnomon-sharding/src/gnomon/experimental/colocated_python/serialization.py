"""A module that orbax imports: the type of lists of devices."""

from __future__ import annotations

from gnomon.runtime.jaxlib.clients import DeviceList as DeviceList
