"""Word 97–2003 documents (DOC), per [MS-DOC]; only the text of Word 6 and 95 documents."""

from citewell.extract.formats.word97.reader import extract

__all__ = ["extract"]
