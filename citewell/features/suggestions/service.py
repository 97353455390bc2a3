"""Questions that an owner's own files can answer: made from their headings and columns, no model involved."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any, cast

from citewell.storage.content import ContentRepository
from citewell.storage.resources import ResourceFilter, ResourceRepository
from citewell.types import FULLY_PROCESSED, Category, Resource

_LOOKED_AT = 12
_TRIED = 6
_PER_FILE = 3
_HEADINGS_READ = 60
_WORDS = range(2, 8)
_NUMBERING = re.compile(r"^\s*(?:(?:chapter|section|part|slide)\s+)?[\dIVXivx]+(?:\.\d+)*[.):]?\s+|^\s*[A-Za-z][.)]\s+")
_EMPTY_HEADINGS = frozenset(
    [
        "contents",
        "appendix",
        "introduction",
        "summary",
        "references",
        "overview",
        "abstract",
        "conclusion",
        "conclusions",
        "acknowledgements",
        "index",
    ]
)
_IDENTIFIER = re.compile(r"(?:^|[\s_])(?:id|no|number|nr|code|year|index|zip|phone)(?:$|[\s_.])", re.IGNORECASE)
# A column of units: the figures beside it cannot be compared.
_MIXED = frozenset({"unit", "units", "measure", "currency"})
_REMEMBERED = 1_000


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A question, and the file it was made from."""

    question: str
    resource_id: str
    filename: str


Check = Callable[[str, str, str], Awaitable[bool]]
"""(owner, question, resource) → whether the file answers the question."""


@dataclass(slots=True)
class SuggestionService:
    """Reads the newest files that are ready. With `check` only questions that are answered are offered."""

    resources: ResourceRepository
    content: ContentRepository
    check: Check | None = None
    _kept: dict[tuple[str, int], list[str]] = field(default_factory=dict[tuple[str, int], list[str]])

    async def suggest(self, owner_id: str, limit: int) -> list[Suggestion]:
        """At most `limit` questions, each of another file where there are enough files; different kinds of file first."""
        found, _ = await self.resources.page(owner_id, ResourceFilter(status="ready"), _LOOKED_AT, None)
        ready = _mixed([r for r in found if r.status in FULLY_PROCESSED and r.record_id is None])
        by_resource: list[list[Suggestion]] = []
        for resource in ready:
            if sum(1 for questions in by_resource if questions) >= limit:
                break
            texts = await self._questions(owner_id, resource)
            by_resource.append([Suggestion(text, resource.id, resource.filename) for text in texts])
        turns = [questions[turn] for turn in range(_PER_FILE) for questions in by_resource if turn < len(questions)]
        return turns[:limit]

    async def _questions(self, owner_id: str, resource: Resource) -> list[str]:
        key = (resource.id, resource.version)
        if key not in self._kept:
            self._kept[key] = await self._answerable(owner_id, resource)
            while len(self._kept) > _REMEMBERED:
                del self._kept[next(iter(self._kept))]
        return self._kept[key]

    async def _answerable(self, owner_id: str, resource: Resource) -> list[str]:
        texts = (await self._candidates(resource))[:_TRIED]
        if self.check is None:
            return texts[:_PER_FILE]
        answered: list[str] = []
        for text in texts:
            if len(answered) < _PER_FILE and await self.check(owner_id, text, resource.id):
                answered.append(text)
        return answered

    async def _candidates(self, resource: Resource) -> list[str]:
        texts = table_questions(resource.extraction_metadata.get("tables"))
        if texts or resource.detected_category == Category.DATA:
            return texts
        elements, _ = await self.content.elements_page(resource.id, resource.version, _HEADINGS_READ, type="title")
        headings = [str(element["text"]) for element in elements]
        return heading_questions(headings, _spoken_name(resource.filename), resource.language)


def heading_questions(headings: Sequence[str], document: str, language: str | None) -> list[str]:
    """Headings that are questions as they are, then others put into one; for other languages than English the heading alone."""
    asked: list[str] = []
    made: list[str] = []
    for heading in dict.fromkeys(_NUMBERING.sub("", text).strip() for text in headings[1:] or headings):
        words = heading.split()
        if len(words) not in _WORDS or heading.lower() in _EMPTY_HEADINGS or not re.search(r"[^\W\d_]{3}", heading):
            continue
        if heading.endswith("?"):
            asked.append(heading)
        elif language in (None, "en"):
            made.append(f"What does {document} say about “{heading.rstrip(':.')}”?")
        else:
            made.append(heading)
    return asked + made


def table_questions(tables: object) -> list[str]:
    """Which label has the most of something, and what the total is, for tables whose columns admit it."""
    best: list[str] = []
    totals: list[str] = []
    for table in cast(Sequence[Any], tables) if isinstance(tables, Sequence) and not isinstance(tables, str) else ():
        columns = [cast(Mapping[str, Any], c) for c in table.get("columns", ()) if isinstance(c, Mapping)]
        amounts = [c for c in columns if _is_amount(c)]
        if not amounts or any(_name(c).casefold() in _MIXED for c in columns):
            continue
        # The largest figures of a table are, as a rule, its money or its volume.
        number = _name(max(amounts, key=_magnitude))
        labels = [_name(c) for c in columns if _is_label(c, int(table.get("row_count") or 0))]
        best += [f"Which {_lower(label)} has the highest {number}?" for label in labels[:1]]
        totals.append(f"What is the total {number}?")
    return best + totals


def _mixed(resources: Sequence[Resource]) -> list[Resource]:
    """One of each category and type first, then the rest, newest first within each."""
    firsts = list({(r.detected_category, r.type): r for r in reversed(resources)}.values())[::-1]
    return firsts + [r for r in resources if r not in firsts]


def _is_amount(column: Mapping[str, Any]) -> bool:
    return (
        column.get("dtype") in ("integer", "number")
        and "sum" in column
        and column.get("distinct", 0) > 1
        and not _IDENTIFIER.search(_name(column))
    )


def _is_label(column: Mapping[str, Any], rows: int) -> bool:
    """Texts that name the rows of a table: none, or next to none, stands twice."""
    distinct = column.get("distinct", 0)
    return column.get("dtype") == "text" and distinct >= max(2, rows - 1) and not _IDENTIFIER.search(_name(column))


def _magnitude(column: Mapping[str, Any]) -> float:
    return abs(float(column.get("mean") or 0))


def _name(column: Mapping[str, Any]) -> str:
    return str(column.get("name", ""))


def _lower(name: str) -> str:
    """`Quarter` → `quarter`; an abbreviation stays."""
    return name if name[1:2].isupper() else name[:1].lower() + name[1:]


def _spoken_name(filename: str) -> str:
    return re.sub(r"[_\s]+", " ", PurePath(filename).stem).strip()
