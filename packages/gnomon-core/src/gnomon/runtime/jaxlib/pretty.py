"""Documents that choose their line breaks: the runtime's pretty printer."""

from __future__ import annotations

from typing import Any

from jaxlib import _pretty_printer as _pp

Doc = Any
"""A text with possible line breaks; `render` decides which are taken."""

text: Any = _pp.text
brk: Any = _pp.brk
group: Any = _pp.group
nest: Any = _pp.nest
concat: Any = _pp.concat
nil: Doc = _pp.nil()


def keyword(doc: Doc) -> Doc:
  """A document in the colour of keywords."""
  return _pp.color(
      doc, foreground=_pp.Color.BLUE, intensity=_pp.Intensity.BRIGHT)


def type_text(string: str) -> Doc:
  """A text in the colour of types."""
  return _pp.color(_pp.text(string), foreground=_pp.Color.MAGENTA)


def render(doc: Doc, width: int = 80, *, use_color: bool = False) -> str:
  """The text of a document, within `width` columns where its breaks allow it."""
  result: str = doc._format(
      width, use_color=use_color, output_format=_pp.OutputFormat.TEXT,
      separable_lines=False, annotation_prefix=" # ", source_map=None)
  return result
