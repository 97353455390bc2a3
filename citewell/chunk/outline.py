"""The heading path in force while a document is read from front to back."""

from __future__ import annotations

from citewell.types import Element, ElementType


class Outline:
    """Keeps the open headings with their levels."""

    def __init__(self) -> None:
        self._open: list[tuple[int, str]] = []

    def reset(self) -> None:
        """Forget every heading, at the start of another slide or sheet."""
        self._open.clear()

    def enter(self, element: Element) -> tuple[str, ...]:
        """The path under which an element stands; a heading's own text is last. The extractor's own path has precedence."""
        stated = element.locator.headings
        if element.type is not ElementType.TITLE:
            return stated or tuple(name for _, name in self._open)
        level = element.level if element.level is not None else 1
        while self._open and self._open[-1][0] >= level:
            self._open.pop()
        name = " ".join(element.text.split())
        if stated:
            return stated if stated[-1] == name else (*stated, name)
        self._open.append((level, name))
        return tuple(name for _, name in self._open)
