"""Primitives of array programs, and functions close to them."""
