"""Running headers and footers of a document: each distinct text once, with the pages that it is on."""

from __future__ import annotations

from dataclasses import replace

from citewell.chunk.flow import Flow, FlowBuilder
from citewell.types import Element
from citewell.types.page_numbers import without_page_number

MAX_RUNNING_TEXTS = 2_000
"""Distinct texts kept per document, which bounds memory; a header that is new on every page is rather a fault."""


class RunningLines:
    """Collects the headers and footers of one document; those that differ in a page number only count as one."""

    def __init__(self) -> None:
        self._first: dict[str, Element] = {}
        self._pages: dict[str, set[int]] = {}

    def add(self, element: Element) -> None:
        """Adds a header or footer; a lone page number is dropped."""
        key = without_page_number(element.text)
        if not key or (key not in self._first and len(self._first) >= MAX_RUNNING_TEXTS):
            return
        self._first.setdefault(key, element)
        locator = element.locator
        pages = locator.pages or ((locator.page,) if locator.page is not None else ())
        self._pages.setdefault(key, set()).update(pages)

    def flow(self) -> Flow:
        """Returns the texts, one a line, in the order in which they were added."""
        builder = FlowBuilder()
        for key, element in self._first.items():
            locator = replace(element.locator, pages=tuple(sorted(self._pages[key])), headings=())
            builder.add(replace(element, locator=locator), (), "\n")
        return builder.build()
