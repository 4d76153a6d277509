"""Settings of the manual; `nox -s docs` builds it."""

from __future__ import annotations

project = "gnomon"
copyright = "the gnomon authors"
extensions = ["myst_parser"]
exclude_patterns = ["_build"]
html_theme = "alabaster"
html_theme_options = {"description": "Transformations of array programs"}
html_show_sourcelink = False
myst_heading_anchors = 3
myst_enable_extensions = ["dollarmath"]
