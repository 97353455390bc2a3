"""PowerPoint presentations (PPTX, PPTM, PPSX, templates)."""

from citewell.extract.pptx.reader import extract

__all__ = ["extract"]
