"""OpenDocument texts and presentations (ODT, ODP and their templates)."""

from citewell.extract.opendocument.reader import extract

__all__ = ["extract"]
