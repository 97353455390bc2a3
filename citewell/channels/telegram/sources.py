"""Taps on the sources of an answer: the cited page as a picture with the passage marked, or the rows as a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from citewell.channels.telegram.desk import Task
from citewell.channels.telegram.questions import unpacked
from citewell.channels.telegram.rich import Rich, one_line
from citewell.channels.telegram.texts import plain
from citewell.errors import CitewellError, ExtractionError, InvalidInput, NotFound
from citewell.types import Citation, Locator, Resource

MAX_ROWS = 10
"""Rows of a table in one message."""
_MAX_CELL = 24
_MAX_LINE = 160
_MAX_QUOTE = 600
_MAX_PASSAGE = 3_000
_MAX_PICTURE_BYTES = 10_000_000
"""Telegram's limit for a photo."""


async def show_source(task: Task, owner_id: str, data: str) -> None:
    """Send the source behind an answer's button, to the answer's owner only."""
    citation = await _citation(task, owner_id, data)
    if citation is None:
        await task.desk.notice(task.incoming, plain(task.incoming.language, "not_yours"))
        return
    await task.desk.notice(task.incoming)
    if task.first_message() is not None or task.progress.get("shown"):
        return
    try:
        resource = await task.desk.services.resources.repository.get(owner_id, citation.resource_id)
    except NotFound:
        await task.say(Rich().add(plain(task.incoming.language, "source_gone")))
        return
    await _show(task, owner_id, citation, resource)
    await task.note(shown=True)


async def _citation(task: Task, owner_id: str, data: str) -> Citation | None:
    """The citation of a button; None if it belongs to another owner or no longer exists."""
    try:
        thread, message, number = data.split(":")[1:]
        thread_id, message_id, n = unpacked(thread), unpacked(message), int(number)
        shown = await task.desk.services.threads.get(owner_id, thread_id)
    except (ValueError, NotFound):
        return None
    cited = [c for one in shown.messages if one.message.id == message_id for c in one.message.citations]
    return next((citation for citation in cited if citation.n == n), None)


async def _show(task: Task, owner_id: str, citation: Citation, resource: Resource) -> None:
    place = citation.locator
    if place.row is not None and (table := _table_of(resource, place)) is not None:
        await task.say(await _rows(task, owner_id, citation, table))
        return
    picture = None
    if place.page is not None:
        picture = await _page(task, owner_id, citation, place.page)
    elif citation.picture is not None:
        picture = await _picture(task, owner_id, citation)
    if picture is None:
        await task.say(await _passage(task, owner_id, citation))
        return
    caption = _headed(citation)
    if citation.quote:
        caption.add("\n").add(_quote(citation), "blockquote")
    await task.desk.send_picture(task.place, picture, "page.jpg", caption)


async def _page(task: Task, owner_id: str, citation: Citation, page: int) -> bytes | None:
    """The cited page with its passage marked; None if it cannot be drawn, for example because the file needs a password."""
    boxes = citation.locator.cell_boxes or citation.locator.boxes
    try:
        return await task.desk.services.telegram.pages.draw(
            owner_id, citation.resource_id, citation.version, page, boxes
        )
    except (ExtractionError, InvalidInput, NotFound):
        return None


async def _picture(task: Task, owner_id: str, citation: Citation) -> bytes | None:
    try:
        stored = await task.desk.services.contents.picture(owner_id, citation.resource_id, citation.chunk_id)
    except CitewellError:
        return None
    if stored.size > _MAX_PICTURE_BYTES or stored.mime_type not in ("image/jpeg", "image/png"):
        return None
    return b"".join([piece async for piece in stored.read(0, stored.size)])


async def _passage(task: Task, owner_id: str, citation: Citation) -> Rich:
    """The passage as text, with the quoted words in bold."""
    text = citation.quote
    with suppress(NotFound):  # reindexed since: the answer keeps its quotation
        text = (await task.desk.services.contents.chunk(owner_id, citation.resource_id, citation.chunk_id)).text
    rich, place = _headed(citation).add("\n\n"), text.find(citation.quote) if citation.quote else -1
    if place < 0:
        return rich.add(text[:_MAX_PASSAGE])
    first = max(0, place - _MAX_PASSAGE // 2)
    end = place + len(citation.quote)
    rich.add("…" if first else "").add(text[first:place]).add(text[place:end], "bold")
    return rich.add(text[end : end + _MAX_PASSAGE // 2]).add("…" if len(text) > end + _MAX_PASSAGE // 2 else "")


def _headed(citation: Citation) -> Rich:
    return Rich().add(f"[{citation.n}] ").add(one_line(citation.label, 200), "code")


def _quote(citation: Citation) -> str:
    return one_line(citation.quote, _MAX_QUOTE)


def _table_of(resource: Resource, place: Locator) -> str | None:
    """The id of the table that contains a place."""
    tables: Any = resource.extraction_metadata.get("tables")
    if not isinstance(tables, Sequence) or isinstance(tables, str):
        return None
    named = [table for table in tables if isinstance(table, Mapping) and table.get("copy")]
    fitting = [table for table in named if place.sheet is None or table.get("sheet") in (None, place.sheet)]
    return str(fitting[0]["id"]) if fitting else None


async def _rows(task: Task, owner_id: str, citation: Citation, table_id: str) -> Rich:
    """The cited rows, with row numbers and column names."""
    place = citation.locator
    wanted = list(place.rows or range(place.row or 1, (place.row_end or place.row or 1) + 1))[:MAX_ROWS]
    tables, rows = task.desk.services.tables, dict[int, tuple[Any, ...]]()
    columns: tuple[str, ...] = ()
    for row in wanted:
        if row in rows:
            continue
        page = await tables.page(owner_id, owner_id, citation.resource_id, table_id, 0, MAX_ROWS, row)
        columns = page.columns
        rows |= dict(page.rows)
    shown = [(str(number), *map(_cell, rows[number])) for number in wanted if number in rows]
    return _headed(citation).add("\n").add(_grid(("", *columns), shown), "pre")


def _cell(value: object) -> str:
    return "" if value is None else one_line(str(value), _MAX_CELL)


def _grid(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Aligned columns, as wide as their widest cell; lines are cut to fit a phone."""
    lines = [[one_line(name, _MAX_CELL) for name in columns], *rows]
    widths = [max(len(line[place]) for line in lines if place < len(line)) for place in range(len(columns))]
    drawn = (" | ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=False)) for line in lines)
    return "\n".join(line.rstrip()[:_MAX_LINE] for line in drawn)
