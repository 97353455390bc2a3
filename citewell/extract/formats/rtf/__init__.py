"""Rich Text Format (RTF 1.9.1), as Word, WordPad, LibreOffice and Outlook write it."""

from citewell.extract.formats.rtf.reader import extract, read_rtf

__all__ = ["extract", "read_rtf"]
