"""Page numbers of documents that flow: counted by the page breaks in the file."""

from __future__ import annotations


class Pages:
    """Counts pages by the page breaks in the document. Word also notes where pages ended when it last laid it out."""

    def __init__(self, known: bool) -> None:
        self.known = known
        self.number = 1
        self._text_since_break = False

    def text(self) -> None:
        """Note that the current page is not empty."""
        self._text_since_break = True

    def explicit_break(self) -> None:
        """A page break that the writer set."""
        self._next()

    def rendered_break(self) -> None:
        """A break found at layout: the same as an explicit one right before it."""
        if self._text_since_break:
            self._next()

    def section_break(self, kind: str | None) -> None:
        """The end of a section, before one that begins as `kind` says: on a new page unless `continuous`."""
        if kind in ("continuous", "nextColumn"):
            return
        self.rendered_break()
        if kind in ("oddPage", "evenPage") and self.number % 2 != (kind == "oddPage"):
            self.number += 1

    def _next(self) -> None:
        self.number += 1
        self._text_since_break = False
