"""List questions: all items of the list that answers, in order, across pages."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache, partial

from citewell.agent.statements import Statement
from citewell.agent.understand.question import Question
from citewell.text.analysis import analyze
from citewell.types import Hit

_STEP = re.compile(r"^\s*(?:step|stage|phase|part|schritt|étape|paso)\s+(\d{1,2})\b\s*[:.–—-]?\s*", re.I)
_ITEM = re.compile(r"^\s*(?:[-*•‣▪◦]|\(?\d{1,2}[.)]|\(?[a-z][.)])\s+\S")


def find_steps(question: Question, hits: Sequence[Hit], best: Sequence[Statement]) -> list[Statement]:
    """Numbered steps (`Step 3: …`, in headings or lines), gathered across the whole file of the best statement; [] without any."""
    if not best or not question.wants_steps:
        return []
    resource = best[0].hit.chunk.resource_id
    of_file = sorted((h for h in hits if h.chunk.resource_id == resource), key=lambda h: h.chunk.ordinal)
    steps = _steps(question, of_file)
    return steps if len(steps) >= 2 else []


def find_item_groups(hits: Sequence[Hit]) -> list[list[Statement]]:
    """The bulleted and numbered lists of the passages: items under the same headings of one file, in order, two or more."""
    groups: dict[tuple[str, tuple[str, ...]], list[Statement]] = {}
    for hit in sorted(hits, key=lambda h: h.chunk.ordinal):
        key = (hit.chunk.resource_id, tuple(hit.chunk.locator.headings))
        groups.setdefault(key, []).extend(_lines(hit))
    return [items for items in groups.values() if len(items) >= 2]


def _steps(question: Question, hits: Sequence[Hit]) -> list[Statement]:
    """One statement per step number, from the first place that has it."""
    found: dict[int, Statement] = {}
    for hit in hits:
        for heading in hit.chunk.locator.headings:
            match = _STEP.match(heading)
            if match:
                found.setdefault(int(match[1]), _heading_statement(hit, heading, match.end()))
        about = cache(partial(_matches, question, hit))
        for start, line in _each_line(hit):
            match = _STEP.match(line)
            if match and about():
                text = " ".join(line[match.end() :].split())
                found.setdefault(int(match[1]), Statement(hit, 0, start, start + len(line), text, ""))
    return [found[number] for number in sorted(found)]


def _heading_statement(hit: Hit, heading: str, start: int) -> Statement:
    return Statement(hit, 0, 0, len(hit.chunk.text), heading[start:].strip(), heading)


def _lines(hit: Hit) -> list[Statement]:
    heading = hit.chunk.locator.headings[-1] if hit.chunk.locator.headings else ""
    return [
        Statement(hit, 0, start, start + len(line), " ".join(line.split()), heading)
        for start, line in _each_line(hit)
        if _ITEM.match(line)
    ]


def _each_line(hit: Hit) -> list[tuple[int, str]]:
    out: list[tuple[int, str]] = []
    position = 0
    for line in hit.chunk.text.splitlines(keepends=True):
        out.append((position, line.rstrip("\n")))
        position += len(line)
    return out


def _matches(question: Question, hit: Hit) -> bool:
    text = " ".join((hit.chunk.context, *hit.chunk.locator.headings, hit.chunk.text))
    return bool(set(question.terms) & set(analyze(text, question.language)))
