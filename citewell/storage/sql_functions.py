"""SQL functions that compute the same values of a file as filters do.

SQLite calls these; on Postgres, a migration defines them.
"""

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
    """Folds a text as keyword fields do; None for an empty one."""
    return (keyword(text) or None) if text is not None else None


def seconds(text: str | None) -> float | None:
    """Parses a date or time into seconds since 1970; None for any other text."""
    return seconds_of(text) if isinstance(text, str) else None


def extension(filename: str) -> str | None:
    """Returns the extension of a file name, folded and without its dot."""
    return fold(PurePosixPath(filename).suffix.lstrip("."))


def tags_of(metadata: str, *stated: str | None) -> str:
    """Returns a file's tags as a JSON list, from its metadata and `STATED_TAGS` properties, all as JSON."""
    return json.dumps(tags(_facts(metadata, STATED_TAGS, stated)))


def date_of(metadata: str, *stated: str | None) -> float | None:
    """Returns a file's date in seconds since 1970, from its metadata and `STATED_DATES` properties, all as JSON."""
    return file_date(_facts(metadata, STATED_DATES, stated))


def values_of(metadata: str, *stated: str | None) -> str:
    """Returns the distinct values that facets count for a file, as a JSON list of [field, kind, value, text, number].

    The value '' means the field as a whole. stated: the file's own `STATED_TAGS` and `STATED_DATES` properties, as JSON
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
    """Returns a metadata value's kind, canonical text (the same for all equal values) and sort number."""
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
