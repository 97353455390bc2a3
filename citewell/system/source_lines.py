"""The sources of an answer as lines for people, on which the pages of one file share one; imports nothing, as `citewell ask` uses it."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import Any

_OTHER_PLACES = ("sheet", "row", "slide", "second")


def only_page(locator: Mapping[str, Any]) -> int | None:
    """The page of a locator as JSON, if it is on a single one, and nothing else names the place."""
    is_page = len(locator.get("pages") or ()) <= 1 and all(locator.get(name) is None for name in _OTHER_PLACES)
    return locator.get("page") if is_page else None


def page_lines(places: Iterable[tuple[int, Hashable, str, int | None, str]]) -> list[tuple[list[int], str]]:
    """The sources of an answer as lines: its numbers and a label. Pages of one file share one: `[1], [2] Handbook.pdf (pp. 2, 5)`.

    places: of each source its number, what tells files apart, the file's name, its page if it is one page, and its own label
    """
    lines: dict[Hashable, tuple[list[int], list[int], str, str]] = {}
    for n, file, filename, page, label in sorted(places, key=lambda one: one[0]):
        key = (file,) if page is not None else (file, n)
        numbers, pages, *_ = lines.setdefault(key, ([], [], filename, label))
        if n not in numbers:
            numbers.append(n)
        if page is not None and page not in pages:
            pages.append(page)
    return [
        (numbers, f"{filename} (pp. {', '.join(map(str, sorted(pages)))})" if len(pages) > 1 else label)
        for numbers, pages, filename, label in lines.values()
    ]
