"""Word documents (DOCX, DOCM, templates; transitional and strict Office Open XML)."""

from citewell.extract.formats.docx.reader import extract

__all__ = ["extract"]
