"""Devices, arrays, compilation and execution, on top of jaxlib."""
