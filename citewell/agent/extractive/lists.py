"""Lists: all items of the one that a question asks for, in order, across pages, and those that a statement announces."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cache, partial

from citewell.agent.extractive.frame import is_frame
from citewell.agent.statements import Statement, cut_statements, heading_over
from citewell.agent.understand.question import Question
from citewell.retrieve.context import ITEM
from citewell.text.analysis import analyze
from citewell.types import ChunkType, Hit

_STEP_WORD = r"(?:step|stage|phase|part|schritt|étape|paso)"
_STEP = re.compile(rf"^\s*{_STEP_WORD}\s+(\d{{1,2}})\b\s*[:.–—-]?\s*", re.I)
_NAMED_STEP = re.compile(rf"^\s*((?:[^\W\d]\S*\s+){{1,3}}){_STEP_WORD}\s+(\d{{1,2}})\s*[:.–—-]\s*", re.I)
_NUMBERED = re.compile(r"^\s*\(?\d{1,2}[.)]\s+\S")
_HOW_TO = re.compile(
    r"\W*how (?:do|does|did|can|could|should|must|to)\b|\W*wie (?:kann|muss|soll|mach|richte|geh)\w*\b|\W*comment\b|\W*¿?c[oó]mo\b",
    re.I,
)
_WHAT_IS = re.compile(r"\W*(?:what(?:['’]s| is| was)|was ist|qu['’]est-ce)\b", re.I)
_ENDS = re.compile(r"[.!?;。]\W*$")
_NO_ITEMS = re.compile(r"[:：]\W*$")
MAX_ITEMS = 20  # items of a list in an answer; the answer says how many there are


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
        groups.setdefault(key, []).extend(_marked_lines(hit))
    return [items for items in groups.values() if len(items) >= 2]


def find_named_list(question: Question, hits: Sequence[Hit]) -> list[Statement]:
    """The items of the best list or table whose heading, or a column, is what the question asks for; [] where there is none.

    Nothing else of the question is left over: "what are the decisions in the project plan" asks for what is under "Decisions" in a
    file or under a heading of that name. Items may have bullets or none; of a table they are its rows.
    """
    language = question.language or "en"
    asked = {
        term
        for word in question.text.split()
        if not is_frame(word, language)
        for term in analyze(word, language, query=True)
    }
    if not asked or any(term.isdigit() for term in asked):  # a year or a page asks for part of a table
        return []
    groups: dict[tuple[str, tuple[str, ...], bool], list[Statement]] = {}
    for hit in sorted(hits, key=lambda h: h.chunk.ordinal):
        chunk = hit.chunk
        place = chunk.locator
        if chunk.type not in (ChunkType.TEXT, ChunkType.TABLE) or not place.headings or place.sheet or place.row:
            continue
        named = set(analyze(chunk.locator.headings[-1], language))
        if chunk.type is ChunkType.TABLE:
            named |= set(analyze(chunk.text.split("\n", 1)[0], language))
        around = " ".join((*chunk.locator.headings, chunk.context, hit.filename))
        if asked & named and asked <= named | set(analyze(around, language)):
            key = (chunk.resource_id, tuple(chunk.locator.headings), chunk.type is ChunkType.TABLE)
            groups.setdefault(key, []).extend(_items_of(hit))
    rank = {hit.chunk.id: place for place, hit in reversed(list(enumerate(hits)))}
    lists = [items for items in groups.values() if len(items) >= 2]
    return min(lists, key=lambda items: min(rank[item.hit.chunk.id] for item in items), default=[])


def find_named_items(question: Question, hits: Sequence[Hit]) -> list[Statement]:
    """The list under the heading that "what is …" asks for, where its items are no sentences: "What is out of scope?"; else []."""
    if not _WHAT_IS.match(question.text):
        return []
    named = find_named_list(question, hits)
    listed = all(one.hit.chunk.type is ChunkType.TEXT and not _ENDS.search(one.shown) for one in named)
    return named if listed else []


def announced_items(statement: Statement, hits: Sequence[Hit]) -> list[Statement] | None:
    """What follows a statement that ends in a colon: the list after it, or the table next to its passage; [] where nothing does.

    None for a statement that announces nothing.
    """
    if statement.row or not _NO_ITEMS.search(statement.shown):
        return None
    after = [one for one in cut_statements([statement.hit]) if one.start >= statement.end]
    while after and not after[0].row and _NO_ITEMS.search(after[0].shown):
        after.pop(0)  # two lines that announce one list
    kind = _kind_of(after[0]) if after else ""
    items: list[Statement] = []
    for one in after:
        if not kind or _kind_of(one) != kind:
            break
        items.append(one)
    if not items:
        beside = next((hit for hit in hits if _is_table_after(hit, statement.hit)), None)
        items = [one for one in cut_statements([beside]) if one.row] if beside else []
    return [replace(one, item=True) for one in items]


def whole_procedure(question: Question, statement: Statement) -> list[Statement]:
    """All steps of the numbered list that a statement is a step of, where a question asks how something is done; else []."""
    if not _HOW_TO.match(question.text) or not _NUMBERED.match(statement.shown):
        return []
    beside = cut_statements([statement.hit])
    at = next((place for place, one in enumerate(beside) if one.start == statement.start), None)
    if at is None:
        return []
    first = last = at
    while first > 0 and _NUMBERED.match(beside[first - 1].shown):
        first -= 1
    while last + 1 < len(beside) and _NUMBERED.match(beside[last + 1].shown):
        last += 1
    steps = beside[first : last + 1]
    return steps if len(steps) >= 2 else []


def _kind_of(statement: Statement) -> str:
    if statement.row:
        return "row"
    return "item" if statement.item or ITEM.match(statement.shown) else ""


def _is_table_after(hit: Hit, before: Hit) -> bool:
    chunk, other = hit.chunk, before.chunk
    return (
        chunk.type is ChunkType.TABLE
        and chunk.resource_id == other.resource_id
        and chunk.ordinal == other.ordinal + 1
        and chunk.locator.headings == other.locator.headings
    )


def _items_of(hit: Hit) -> list[Statement]:
    """The rows of a table; of a text its items with bullets, or its lines where all of them are items."""
    if hit.chunk.type is ChunkType.TABLE:
        return [one for one in cut_statements([hit]) if one.row]
    return _marked_lines(hit) or _closed_lines(hit)


def _closed_lines(hit: Hit) -> list[Statement]:
    """The lines of a passage whose lines all end where a sentence does, or none of which does."""
    lines = [(start, line) for start, line in _each_line(hit) if line.strip()]
    if len(lines) < 2 or "\n\n" in hit.chunk.text.strip():
        return []
    ends = {bool(_ENDS.search(line)) for _, line in lines}
    if ends == {False} and len(cut_statements([hit])) < len(lines):
        return []
    return [_line_statement(hit, start, line) for start, line in lines] if len(ends) == 1 else []


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
            number, end = _step_at(question, line)
            if end and about():
                text = " ".join(line[end:].split())
                found.setdefault(number, Statement(hit, 0, start, start + len(line), text, ""))
    return [found[number] for number in sorted(found)]


def _step_at(question: Question, line: str) -> tuple[int, int]:
    """The number of the step that a line begins with, and where its text begins; zeros without one.

    A name before it ("Onboarding step 2: …") must be what the question asks for: a file may have steps of several things.
    """
    if match := _STEP.match(line):
        return int(match[1]), match.end()
    match = _NAMED_STEP.match(line)
    if match is None or not set(analyze(match[1], question.language)) <= set(question.terms):
        return 0, 0
    return int(match[2]), match.end()


def _heading_statement(hit: Hit, heading: str, start: int) -> Statement:
    return Statement(hit, 0, 0, len(hit.chunk.text), heading[start:].strip(), heading)


def _marked_lines(hit: Hit) -> list[Statement]:
    """Its items with bullets or numbers."""
    return [_line_statement(hit, start, line) for start, line in _each_line(hit) if ITEM.match(line)]


def _line_statement(hit: Hit, start: int, line: str) -> Statement:
    return Statement(hit, 0, start, start + len(line), " ".join(line.split()), heading_over(hit))


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
