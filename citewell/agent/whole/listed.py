"""Exhaustive lists of whole documents without a chat model: every item of what was asked, its passage cited, and what was read for it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

from citewell.agent.citations.safe_text import safe_text
from citewell.agent.whole.kinds import SENTENCES, ListedItem, items_of
from citewell.agent.whole.reading import Quotable, Quoted, Quoter, WholeReader
from citewell.agent.whole.request import WholeRequest
from citewell.types import ResourceInfo, StoredChunk

MAX_ITEMS = 200
"""Items that one answer shows; all are counted."""
MAX_NAMED = 12
"""Files that are named where an answer says what was read."""
_MAX_ITEM_CHARACTERS = 300


@dataclass(slots=True)
class PassagesRead:
    """What was read for a list: passages of each file, and files whose passages were not all read."""

    passages: dict[ResourceInfo, int] = field(default_factory=dict[ResourceInfo, int])
    parts: list[ResourceInfo] = field(default_factory=list[ResourceInfo])
    unread: list[ResourceInfo] = field(default_factory=list[ResourceInfo])

    def add(self, file: ResourceInfo, passages: Sequence[StoredChunk] | None, is_whole: bool) -> None:
        """Note what was read of a file; None is nothing."""
        if passages is None:
            self.unread.append(file)
            return
        self.passages[file] = len(passages)
        if not is_whole:
            self.parts.append(file)

    def stated(self, others: Sequence[ResourceInfo]) -> str:
        """In words, with the files in scope that were not for reading."""
        whole = [file for file in self.passages if file not in self.parts]
        said: list[str] = []
        if whole:
            count = sum(self.passages[file] for file in whole)
            said.append(f"Read whole: {_files(whole)}, {_counted(count, 'passage', 'passages')}.")
        said += [
            f"Read in part: {safe_text(file.filename)}, {self.passages[file]:,} passages spread evenly over it."
            for file in self.parts
        ]
        if self.unread:
            said.append(
                f"Not read, since one answer reads so much at most: {_files(self.unread)}. Ask about them by name."
            )
        said += [f"Of {safe_text(file.filename)}: {safe_text(file.note)}" for file in self.passages if file.note][
            :MAX_NAMED
        ]
        if others:
            said.append(f"Not read, since rows of data and files without text hold no sentences: {_files(others)}.")
        return " ".join(said)


async def list_items(request: WholeRequest, owner_id: str, reader: WholeReader) -> Quoted | None:
    """Every item in reading order, each once; None where the files hold none on a topic that no rule knows."""
    coverage = PassagesRead()
    found: dict[tuple[str, str], ListedItem] = {}
    counts: dict[ResourceInfo, int] = {}
    async for file, passages, is_whole in reader.everything(owner_id, request.files):
        coverage.add(file, passages, is_whole)
        for key, item in await asyncio.to_thread(_found, passages or (), request):
            if key not in found:
                found[key] = item
                counts[file] = counts.get(file, 0) + 1
    if not found and not request.kinds:
        return None
    return _written(request, list(found.values()), counts, coverage)


def _found(passages: Sequence[StoredChunk], request: WholeRequest) -> list[tuple[tuple[str, str], ListedItem]]:
    """The items of some passages, each under what makes it the same as another."""
    items: list[tuple[tuple[str, str], ListedItem]] = []
    for stored in passages:
        for kind in request.kinds or (SENTENCES,):
            for item in items_of(stored, kind, request.terms):
                named = kind.many if item.value else ""
                items.append(((named, _folded(item.value or item.text)), item))
    return items


def _written(
    request: WholeRequest, items: Sequence[ListedItem], counts: dict[ResourceInfo, int], coverage: PassagesRead
) -> Quoted:
    quoter = Quoter()
    shown = items[:MAX_ITEMS]
    several = len(coverage.passages) + len(coverage.unread) > 1
    lines: list[str] = []
    previous = ""
    for number, item in enumerate(shown, start=1):
        if several and item.stored.chunk.resource_id != previous:
            previous = item.stored.chunk.resource_id
            lines += [*[""] * bool(lines), f"**{safe_text(item.stored.filename)}**", ""]
        lines.append(f"{number}. {_cited(item, quoter)}")
    parts = [_headline(request, len(items), counts, several)]
    if lines:
        parts.append("\n".join(lines))
    if len(items) > len(shown):
        parts.append(
            f"The first {len(shown)} are shown. Ask about one file or on a narrower topic for the other {len(items) - len(shown):,}."
        )
    parts.append(coverage.stated(request.others))
    return Quoted("\n\n".join(parts), quoter.sources)


def _headline(request: WholeRequest, count: int, counts: dict[ResourceInfo, int], several: bool) -> str:
    """How many items there are, of what, and in how many files."""
    topic = f" on “{safe_text(request.topic)}”" if request.topic and request.terms else ""
    kinds = request.kinds or (SENTENCES,)
    one, many = " or ".join(kind.one for kind in kinds), " and ".join(kind.many for kind in kinds)
    if not count:
        return f"No {one}{topic} was found."
    places = f" in {_counted(len(counts), 'file', 'files')}" if several else ""
    guess = (
        " (found by rules: one that is worded unusually may be missing)"
        if any(kind.heuristic for kind in kinds)
        else ""
    )
    return f"{_counted(count, one, many)}{topic}{places}{guess}:"


def _cited(item: ListedItem, quoter: Quoter) -> str:
    """The item with its citation; a value inside its sentence is bold."""
    cited = quoter.cite(_shortened(item))
    value = safe_text(" ".join(item.value.split()))
    return cited.replace(value, f"**{value}**", 1) if item.value and item.value != item.text else cited


def _shortened(item: ListedItem) -> Quotable:
    """At most so many characters of it, those around its value where it has one."""
    text = item.text
    if len(text) <= _MAX_ITEM_CHARACTERS:
        return Quotable(text, item.stored)
    at = max(0, text.find(item.value) - _MAX_ITEM_CHARACTERS // 2) if item.value else 0
    part = text[at : at + _MAX_ITEM_CHARACTERS]
    if at:
        part = "… " + part.split(" ", 1)[-1]
    if at + _MAX_ITEM_CHARACTERS < len(text):
        part = part.rsplit(" ", 1)[0] + " …"
    return Quotable(part, item.stored)


def _files(files: Sequence[ResourceInfo]) -> str:
    named = ", ".join(safe_text(file.filename) for file in files[:MAX_NAMED])
    more = len(files) - MAX_NAMED
    return f"{named} and {_counted(more, 'other file', 'other files')}" if more > 0 else named


def _counted(count: int, one: str, many: str) -> str:
    return f"{count:,} {one if count == 1 else many}"


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())
