"""Profiles of programs: where time goes, on host and devices, and what memory holds."""

from __future__ import annotations

from gnomon.profiler._annotations import StepTraceAnnotation as StepTraceAnnotation
from gnomon.profiler._annotations import TraceAnnotation as TraceAnnotation
from gnomon.profiler._annotations import annotate_function as annotate_function
from gnomon.profiler._memory import device_memory_profile as device_memory_profile
from gnomon.profiler._memory import (
  save_device_memory_profile as save_device_memory_profile,
)
from gnomon.profiler._traces import register_subprocess as register_subprocess
from gnomon.profiler._traces import start_server as start_server
from gnomon.profiler._traces import start_trace as start_trace
from gnomon.profiler._traces import stop_server as stop_server
from gnomon.profiler._traces import stop_trace as stop_trace
from gnomon.profiler._traces import trace as trace
from gnomon.runtime.jaxlib.profiling import ProfileData as ProfileData
from gnomon.runtime.jaxlib.profiling import ProfileEvent as ProfileEvent
from gnomon.runtime.jaxlib.profiling import ProfileOptions as ProfileOptions
from gnomon.runtime.jaxlib.profiling import ProfilePlane as ProfilePlane

__all__ = [
    "ProfileData", "ProfileEvent", "ProfileOptions", "ProfilePlane",
    "StepTraceAnnotation", "TraceAnnotation", "annotate_function",
    "device_memory_profile", "register_subprocess", "save_device_memory_profile",
    "start_server", "start_trace", "stop_server", "stop_trace", "trace"]
