"""What SQL has to compute of a file as filters do: functions that SQLite takes from Python, and Postgres from a migration."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import PurePosixPath
from typing import Any

from citewell.metadata import seconds_of
from citewell.points import STATED_DATES, STATED_TAGS, file_date, keyword, tags
from citewell.types import FileFacts, JsonValue


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


# Name in SQL → arguments, function.
SQL_FUNCTIONS: dict[str, tuple[int, Callable[..., Any]]] = {
    "citewell_fold": (1, fold),
    "citewell_seconds": (1, seconds),
    "citewell_extension": (1, extension),
    "citewell_tags": (1 + len(STATED_TAGS), tags_of),
    "citewell_date": (1 + len(STATED_DATES), date_of),
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
