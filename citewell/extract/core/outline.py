"""The heading path at the current point of a document."""

from __future__ import annotations

from citewell.types import Locator


class Outline:
    """The open headings, outermost first. A heading of level n closes every open one of level n or deeper."""

    def __init__(self) -> None:
        self._open: list[tuple[int, str]] = []

    @property
    def path(self) -> tuple[str, ...]:
        """The titles of the open headings, outermost first."""
        return tuple(title for _, title in self._open)

    def enter(self, level: int, title: str) -> tuple[str, ...]:
        """Opens a heading; returns the path above it, which is also the heading's own path."""
        while self._open and self._open[-1][0] >= level:
            self._open.pop()
        above = self.path
        self._open.append((level, " ".join(title.split())))
        return above

    def locator(
        self, *, page: int | None = None, char_start: int | None = None, char_end: int | None = None
    ) -> Locator:
        """Returns a locator under the current headings."""
        return Locator(page=page, char_start=char_start, char_end=char_end, headings=self.path)
