"""Questions that an owner's own files can answer: made from their headings and columns, no model involved."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, cast

from citewell.storage.content import ContentRepository
from citewell.storage.resources import ResourceFilter, ResourceRepository
from citewell.types import FULLY_PROCESSED, Resource

_LOOKED_AT = 30
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
_MOST_GROUPS, _SHORT_TABLE = 40, 12


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A question, and the file it was made from."""

    question: str
    resource_id: str
    filename: str


@dataclass(frozen=True, slots=True)
class SuggestionService:
    """Reads the newest files that are ready."""

    resources: ResourceRepository
    content: ContentRepository

    async def suggest(self, owner_id: str, limit: int) -> list[Suggestion]:
        """At most `limit` questions, each of another file where there are enough files; different kinds of file first."""
        found, _ = await self.resources.page(owner_id, ResourceFilter(status="ready"), _LOOKED_AT, None)
        ready = [r for r in found if r.status in FULLY_PROCESSED and r.record_id is None]
        by_resource = [await self._questions(resource) for resource in _mixed(ready)]
        chosen: list[Suggestion] = []
        for turn in range(limit):
            for questions in by_resource:
                if turn < len(questions) and len(chosen) < limit:
                    chosen.append(questions[turn])
        return chosen

    async def _questions(self, resource: Resource) -> list[Suggestion]:
        texts = table_questions(resource.extraction_metadata.get("tables"))
        if not texts:
            elements, _ = await self.content.elements_page(resource.id, resource.version, _HEADINGS_READ, type="title")
            headings = [str(element["text"]) for element in elements]
            texts = heading_questions(headings, _spoken_name(resource.filename), resource.language)
        return [Suggestion(text, resource.id, resource.filename) for text in texts]


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
    """Which group has the most of something, and what the total is, for tables whose columns admit it."""
    out: list[str] = []
    for table in cast(Sequence[Any], tables) if isinstance(tables, Sequence) and not isinstance(tables, str) else ():
        columns = [c for c in table.get("columns", ()) if isinstance(c, Mapping)]
        amounts = [c for c in columns if _is_amount(c)]
        # The largest figures of a table are, as a rule, its money or its volume.
        number = _name(max(amounts, key=lambda c: abs(float(c.get("mean") or 0)))) if amounts else ""
        rows = int(table.get("row_count") or 0)
        group = next((_name(c) for c in columns if _is_group(c, rows)), "")
        if number and group:
            out.append(f"Which {_lower(group)} has the highest {number}?")
        if number:
            out.append(f"What is the total {number}?")
    return out


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


def _is_group(column: Mapping[str, Any], rows: int) -> bool:
    """Texts that several rows share, or the labels of a short table."""
    distinct = column.get("distinct", 0)
    shared = distinct <= rows * 0.75 or rows <= _SHORT_TABLE
    return (
        column.get("dtype") == "text"
        and 2 <= distinct <= _MOST_GROUPS
        and shared
        and not _IDENTIFIER.search(_name(column))
    )


def _name(column: Mapping[str, Any]) -> str:
    return str(column.get("name", ""))


def _lower(name: str) -> str:
    """`Quarter` → `quarter`; an abbreviation stays."""
    return name if name[1:2].isupper() else name[:1].lower() + name[1:]


def _spoken_name(filename: str) -> str:
    return re.sub(r"[_\s]+", " ", PurePath(filename).stem).strip()
