"""Settings of the manual; `nox -s docs` builds it."""

from __future__ import annotations

import pathlib
import sys
from typing import Any

HERE = pathlib.Path(__file__).parent

project = "gnomon"
copyright = "the gnomon authors"
extensions = ["myst_parser"]
exclude_patterns = ["_build"]
html_theme = "alabaster"
html_theme_options = {"description": "Transformations of array programs"}
html_show_sourcelink = html_copy_source = False
# A list of all pages beside each of a thousand would be most of what the manual is.
html_sidebars = {"api/**": ["about.html", "searchfield.html", "relations.html"]}
myst_heading_anchors = 3
myst_enable_extensions = ["dollarmath"]


def write_error_pages(app: Any) -> None:
  """Writes a page for each class of error, into a folder that git ignores."""
  sys.path.insert(0, str(HERE))
  import error_pages
  error_pages.write(HERE / "errors")


def write_reference(app: Any) -> None:
  """Writes a page for each function and class, into a folder that git ignores."""
  sys.path.insert(0, str(HERE))
  import reference_pages
  reference_pages.write(HERE / "api")


def draw_pictures(app: Any) -> None:
  """Draws what the gallery shows, into a folder that git ignores."""
  sys.path.insert(0, str(HERE))
  import pictures
  pictures.draw(HERE / "pictures")


def setup(app: Any) -> None:
  """Sphinx calls it when it begins."""
  app.connect("builder-inited", draw_pictures)
  app.connect("builder-inited", write_error_pages)
  app.connect("builder-inited", write_reference)
