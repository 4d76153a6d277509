"""Types, primitives, tracing and the IR."""
