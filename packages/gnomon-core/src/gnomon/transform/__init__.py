"""Transformations of programs: derivatives, vectorisation, and what they build on."""
