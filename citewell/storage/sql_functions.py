"""What SQL has to compute of a file as filters do: functions that SQLite takes from Python, and Postgres from a migration."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import PurePosixPath
from typing import Any

from citewell.filters.language import METADATA_PREFIX
from citewell.ports.points import STATED_DATES, STATED_TAGS, file_date, keyword, tags
from citewell.types import FileFacts, JsonValue, MetadataKind
from citewell.types.metadata_values import seconds_of


def fold(text: str | None) -> str | None:
    """A text as keyword fields hold it; None for an empty one."""
    return (keyword(text) or None) if text is not None else None


def seconds(text: str | None) -> float | None:
    """The instant that a text names, None for any other text."""
    return seconds_of(text) if isinstance(text, str) else None


def extension(filename: str) -> str | None:
    """The extension of a file name, folded and without its dot."""
    return fold(PurePosixPath(filename).suffix.lstrip("."))


def tags_of(metadata: str, *stated: str | None) -> str:
    """The tags of a file as a JSON list, from its metadata and what it states under each of `STATED_TAGS`, all as JSON."""
    return json.dumps(tags(_facts(metadata, STATED_TAGS, stated)))


def date_of(metadata: str, *stated: str | None) -> float | None:
    """The date of a file in seconds since 1970, from its metadata and what it states under each of `STATED_DATES`, all as JSON."""
    return file_date(_facts(metadata, STATED_DATES, stated))


def values_of(metadata: str, *stated: str | None) -> str:
    """What facets count of a file, each once, as a JSON list of [field, kind, value, text, number]; the value '' is the field as a whole.

    stated: what the file states under each of `STATED_TAGS` and `STATED_DATES`, as JSON
    """
    found: dict[tuple[str, MetadataKind, str], tuple[str, float | None]] = {}
    said: dict[str, JsonValue] = json.loads(metadata) if metadata else {}
    for key, value in said.items():
        items = value if isinstance(value, list) else [value]
        for item in items:
            kind, folded, number = _counted(item, in_list=isinstance(value, list))
            field, text = METADATA_PREFIX + key, str(item)
            found[field, kind, ""] = "", None
            if folded:
                known = found.get((field, kind, folded), (text, number))
                found[field, kind, folded] = min(known[0], text), number
    for tag in tags(_facts(metadata, STATED_TAGS, stated[: len(STATED_TAGS)])):
        found["tag", MetadataKind.TEXT, ""] = "", None
        found["tag", MetadataKind.TEXT, tag] = tag, None
    at = file_date(_facts(metadata, STATED_DATES, stated[len(STATED_TAGS) :]))
    if at is not None:
        found["date", MetadataKind.DATE, ""] = "", None
        found["date", MetadataKind.DATE, repr(float(at))] = "", at
    return json.dumps([[*names, *shown] for names, shown in found.items()])


def _counted(item: JsonValue, *, in_list: bool) -> tuple[MetadataKind, str | None, float | None]:
    """The kind of a value of metadata, the same text for all that are equal, and what it is ordered by."""
    if isinstance(item, bool):
        return MetadataKind.BOOLEAN, "true" if item else "false", None
    if isinstance(item, int | float):
        return MetadataKind.NUMBER, repr(float(item)), float(item)
    at = None if in_list else seconds(str(item))
    return (MetadataKind.TEXT, fold(str(item)), None) if at is None else (MetadataKind.DATE, repr(float(at)), at)


# Name in SQL → arguments, function.
SQL_FUNCTIONS: dict[str, tuple[int, Callable[..., Any]]] = {
    "citewell_fold": (1, fold),
    "citewell_seconds": (1, seconds),
    "citewell_extension": (1, extension),
    "citewell_tags": (1 + len(STATED_TAGS), tags_of),
    "citewell_date": (1 + len(STATED_DATES), date_of),
    "citewell_values": (1 + len(STATED_TAGS) + len(STATED_DATES), values_of),
}


def _facts(metadata: str, names: tuple[str, ...], stated: tuple[str | None, ...]) -> FileFacts:
    said: dict[str, JsonValue] = {
        name: json.loads(text) for name, text in zip(names, stated, strict=True) if text is not None
    }
    values = json.loads(metadata) if metadata else {}
    return FileFacts(
        filename="",
        metadata={key: tuple(value) if isinstance(value, list) else value for key, value in values.items()},
        stated=said,
    )
