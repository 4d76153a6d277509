"""Images: resizing, scaling and shifting, by interpolation."""

from __future__ import annotations

from gnomon.image._methods import ResizeMethod as ResizeMethod
from gnomon.image._resize import resize as resize
from gnomon.image._resize import scale_and_translate as scale_and_translate

__all__ = ["ResizeMethod", "resize", "scale_and_translate"]
