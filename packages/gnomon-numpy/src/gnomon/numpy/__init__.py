"""The NumPy API, on arrays that can be transformed."""
