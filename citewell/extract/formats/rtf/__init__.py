"""Rich Text Format (RTF 1.9.1), as written by Word, WordPad, LibreOffice and Outlook."""

from citewell.extract.formats.rtf.reader import extract, read_rtf

__all__ = ["extract", "read_rtf"]
