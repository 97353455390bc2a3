"""Page numbers of flowing documents, counted from the page breaks in the file."""

from __future__ import annotations


class Pages:
    """Counts pages from page breaks, including those that Word recorded when it last laid out the document."""

    def __init__(self, known: bool) -> None:
        self.known = known
        self.number = 1
        self._text_since_break = False

    def text(self) -> None:
        """Notes that the current page is not empty."""
        self._text_since_break = True

    def explicit_break(self) -> None:
        """Counts a page break set by the author."""
        self._next()

    def rendered_break(self) -> None:
        """Counts a break recorded at layout; directly after another break, it is the same one."""
        if self._text_since_break:
            self._next()

    def section_break(self, kind: str | None) -> None:
        """Ends a section; the next one starts a new page unless `kind` is `continuous`."""
        if kind in ("continuous", "nextColumn"):
            return
        self.rendered_break()
        if kind in ("oddPage", "evenPage") and self.number % 2 != (kind == "oddPage"):
            self.number += 1

    def _next(self) -> None:
        self.number += 1
        self._text_since_break = False
