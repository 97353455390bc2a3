"""PowerPoint 97–2003 presentations (PPT), per [MS-PPT]."""

from citewell.extract.formats.powerpoint97.reader import extract

__all__ = ["extract"]
