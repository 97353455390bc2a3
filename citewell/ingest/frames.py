"""Cleans a record about a frame by rules: its columns become one typed value with text and metadata."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from citewell.types import JsonObject, JsonValue
from citewell.types.json import well_formed
from citewell.types.metadata_values import MAX_NUMBER, MetadataLimits

MAX_SUMMARY = 8_000
"""Most characters kept of a frame's summary; anything longer is a document, not a description of a frame."""
MAX_LABELS = 64
"""Most tags, classifications or objects of one frame."""
MAX_LABEL_LENGTH = 128
_MAX_TEXT = 2_000
"""Most characters read of any other column."""
_SHOWN_IN_TEXT = 200
"""Longest value, in characters, of another column that is part of the text; longer ones would bury the description."""
_EARLIEST, _LATEST = 1900, 2200
_BETWEEN = re.compile(r"[,;\n|]")
_SPACE = re.compile(r"\s+")
_KEY = re.compile(r"[^\w.-]+")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029]")
# Only formats in which day and month cannot be confused.
_DATES = ("%Y/%m/%d", "%Y.%m.%d", "%Y-%m", "%d %B %Y", "%d. %B %Y", "%B %d, %Y", "%d %b %Y", "%b %d, %Y")
# The metadata keys of the parts that every frame has.
SUMMARY, TAGS, TIMESTAMP = "frame_summary", "tags", "timestamp"
CLASSIFICATION, OBJECTS = "classification_tags", "objects"
SOURCE_ID, SOURCE_PATH = "source_airtable_id", "source_frame_path"
OWN_KEYS = frozenset({SUMMARY, TAGS, TIMESTAMP, CLASSIFICATION, OBJECTS, SOURCE_ID, SOURCE_PATH})


@dataclass(frozen=True, slots=True, kw_only=True)
class RawFrame:
    """A record from its source, by the meaning of its columns; `other` holds columns without a known meaning."""

    source_id: str
    source_path: str
    summary: JsonValue = None
    tags: JsonValue = None
    timestamp: JsonValue = None
    classification: JsonValue = None
    objects: JsonValue = None
    other: JsonObject = field(default_factory=dict[str, JsonValue])


@dataclass(frozen=True, slots=True, kw_only=True)
class FrameRecord:
    """A cleaned record. Labels are unique and in lower case; timestamp is ISO 8601, a day or an instant in UTC."""

    source_id: str
    source_path: str
    summary: str = ""
    tags: tuple[str, ...] = ()
    timestamp: str | None = None
    classification: tuple[str, ...] = ()
    objects: tuple[str, ...] = ()
    other: Mapping[str, JsonValue] = field(default_factory=dict[str, JsonValue])

    def to_json(self) -> dict[str, JsonValue]:
        """The one typed JSON object of a frame."""
        return {
            SUMMARY: self.summary,
            TAGS: list(self.tags),
            TIMESTAMP: self.timestamp,
            CLASSIFICATION: list(self.classification),
            OBJECTS: list(self.objects),
            SOURCE_ID: self.source_id,
            SOURCE_PATH: self.source_path,
            **self.other,
        }

    def text(self) -> str:
        """The text to chunk and embed: one line per part."""
        return "\n".join(f"{name}: {value}" for name, value in self._lines() if value)

    def _lines(self) -> Iterator[tuple[str, str]]:
        yield "Frame Summary", self.summary
        yield "Tags", ", ".join(self.tags)
        yield "Timestamp", self.timestamp or ""
        yield "Classification", ", ".join(self.classification)
        yield "Objects", ", ".join(self.objects)
        for name, value in self.other.items():
            shown = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
            if not isinstance(value, bool) and len(shown) <= _SHOWN_IN_TEXT:
                yield name.replace("_", " "), shown

    def metadata(self, limits: MetadataLimits) -> dict[str, JsonValue]:
        """The metadata to filter by, within its limits: a long summary is cut here but complete in the text."""
        kept: dict[str, JsonValue] = {}
        for key, value in self.to_json().items():
            if value in ("", None, []) or len(kept) == limits.max_keys:
                continue
            if isinstance(value, list):
                value = [str(one)[: limits.max_value_length].strip() for one in value[: limits.max_items]]
            elif isinstance(value, str):
                value = value[: limits.max_value_length].strip()
            kept[key[: limits.max_key_length]] = value
        return kept


def cleaned(raw: RawFrame) -> tuple[FrameRecord, list[str]]:
    """A record cleaned by rules, and a sentence for each field whose value was unusable and left out."""
    notes: list[str] = []
    record = FrameRecord(
        source_id=line_of(raw.source_id)[:MAX_LABEL_LENGTH],
        source_path=line_of(raw.source_path)[:_MAX_TEXT],
        summary=_summary(raw.summary, notes),
        tags=labels("tags", raw.tags, notes),
        timestamp=timestamp(raw.timestamp, notes),
        classification=labels("classification", raw.classification, notes),
        objects=labels("objects", raw.objects, notes),
        other=_other(raw.other, notes),
    )
    return record, notes


def line_of(text: str) -> str:
    """A text as one line that every store accepts."""
    return _SPACE.sub(" ", _CONTROL.sub(" ", well_formed(text))).strip()


def labels(name: str, value: JsonValue, notes: list[str]) -> tuple[str, ...]:
    """Labels from a list or a comma-separated text: unique, in lower case, without `#`."""
    if value is None or value == "":
        return ()
    if isinstance(value, str):
        value = _BETWEEN.split(value[: MAX_LABELS * MAX_LABEL_LENGTH])
    if not isinstance(value, Sequence):
        notes.append(f"`{name}` is not a list of texts and was left out.")
        return ()
    found: dict[str, None] = {}
    for one in value[: 4 * MAX_LABELS]:
        if isinstance(one, str) and (label := line_of(one[: 2 * MAX_LABEL_LENGTH]).lstrip("#").strip().lower()):
            found.setdefault(label[:MAX_LABEL_LENGTH].strip())
        elif not isinstance(one, str):
            notes.append(f"`{name}` contains something that is not text, which was left out.")
    if len(found) > MAX_LABELS:
        notes.append(f"`{name}` has {len(found):,} values; the first {MAX_LABELS} were kept.")
    return tuple(found)[:MAX_LABELS]


def timestamp(value: JsonValue, notes: list[str]) -> str | None:
    """A day, or an instant in UTC, as ISO 8601; None and a note if it cannot be read without guessing."""
    if value is None or value == "":
        return None
    found = _moment(value)
    if found is None or not _EARLIEST <= int(found[:4]) <= _LATEST:
        shown = json.dumps(value, ensure_ascii=False, default=str)[:60]
        notes.append(f"`timestamp` is not a readable date ({shown}) and was left out. Write it as 2025-11-21.")
        return None
    return found


def _moment(value: JsonValue) -> str | None:
    if not isinstance(value, str) or len(value) > MAX_LABEL_LENGTH:
        return None
    text = line_of(value)
    try:
        if re.fullmatch(r"\d{4}-\d\d-\d\d", text):
            return datetime.fromisoformat(text).date().isoformat()
        if re.match(r"\d{4}-\d\d-\d\d[T ]\d\d:", text):
            at = datetime.fromisoformat(text)
            at = at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
            return at.isoformat(timespec="seconds").replace("+00:00", "Z")
    except (ValueError, OverflowError):
        return None
    for form in _DATES:
        try:
            return datetime.strptime(text, form).date().isoformat()
        except ValueError:
            continue
    return None


def _summary(value: JsonValue, notes: list[str]) -> str:
    if value is None:
        return ""
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        value = " ".join(str(one) for one in value)
    if not isinstance(value, str):
        notes.append("`summary` is not text and was left out.")
        return ""
    text = line_of(value[: 2 * MAX_SUMMARY])
    if len(text) > MAX_SUMMARY:
        notes.append(f"`summary` is longer than {MAX_SUMMARY:,} characters; the beginning was kept.")
    return text[:MAX_SUMMARY]


def _other(columns: JsonObject, notes: list[str]) -> dict[str, JsonValue]:
    """Other columns under valid metadata keys, without values that metadata cannot hold."""
    kept: dict[str, JsonValue] = {}
    for name, value in columns.items():
        key = _KEY.sub("_", line_of(name[:MAX_LABEL_LENGTH]).strip().lower()).strip("_.")
        if not key or key in OWN_KEYS or key in kept or value is None:
            continue
        plain = _plain(value)
        if plain is None:
            notes.append(
                f"The column `{line_of(name)[:60]}` contains a value that cannot be stored, which was left out."
            )
        else:
            kept[key] = plain
    return kept


def _plain(value: Any) -> JsonValue:
    """A text, number, boolean or list of texts; None for anything else."""
    if isinstance(value, bool):
        return value
    if isinstance(value, int | float):
        return value if value == value and abs(value) <= MAX_NUMBER else None
    if isinstance(value, str):
        return line_of(value[:_MAX_TEXT]) or None
    if isinstance(value, list) and value and all(isinstance(one, str) for one in value):
        texts = [line_of(one[:_MAX_TEXT]) for one in value[:MAX_LABELS]]
        return list(dict.fromkeys(text for text in texts if text)) or None
    return None
