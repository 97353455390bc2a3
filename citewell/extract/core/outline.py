"""The heading path at the present point of a document."""

from __future__ import annotations

from citewell.types import Locator


class Outline:
    """Headings from the top down to here. A heading of level n closes every open one of level n or deeper."""

    def __init__(self) -> None:
        self._open: list[tuple[int, str]] = []

    @property
    def path(self) -> tuple[str, ...]:
        """The titles of the open headings, outermost first."""
        return tuple(title for _, title in self._open)

    def enter(self, level: int, title: str) -> tuple[str, ...]:
        """Open a heading; returns the path above it, which is the path of the heading itself."""
        while self._open and self._open[-1][0] >= level:
            self._open.pop()
        above = self.path
        self._open.append((level, " ".join(title.split())))
        return above

    def locator(
        self, *, page: int | None = None, char_start: int | None = None, char_end: int | None = None
    ) -> Locator:
        """A place under the present headings."""
        return Locator(page=page, char_start=char_start, char_end=char_end, headings=self.path)
