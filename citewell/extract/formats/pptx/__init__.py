"""PowerPoint presentations (PPTX, PPTM, PPSX, templates)."""

from citewell.extract.formats.pptx.reader import extract

__all__ = ["extract"]
