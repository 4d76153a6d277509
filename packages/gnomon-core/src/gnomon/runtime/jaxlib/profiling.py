"""The runtime's profiler: sessions, marks, servers, profiles, memory."""

from __future__ import annotations

from typing import Any

from jaxlib import _profile_data, _profiler

ProfileOptions: Any = _profiler.ProfileOptions
"""What a session records."""

ProfilerSession: Any = _profiler.ProfilerSession
"""Records from its creation; `stop()` gives the profile as bytes."""

ProfilerServer: Any = _profiler.ProfilerServer
"""Lives as long as other processes may ask for profiles."""

TraceMe: Any = _profiler.TraceMe
"""A context manager that marks a stretch of time by a name."""

ProfileData: Any = _profile_data.ProfileData
ProfileEvent: Any = _profile_data.ProfileEvent
ProfilePlane: Any = _profile_data.ProfilePlane

start_server: Any = _profiler.start_server
register_subprocess: Any = _profiler.register_subprocess
get_profiled_instructions_proto: Any = _profiler.get_profiled_instructions_proto


def memory_profile(client: Any) -> bytes:
  """What arrays and programs use memory, in the format of pprof."""
  profile: bytes = client.heap_profile()
  return profile
