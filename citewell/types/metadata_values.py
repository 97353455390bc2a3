"""The typed metadata of a file: allowed values, limits, and how dates are written and compared."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import cast

from citewell.errors import InvalidMetadata, cut
from citewell.types import JsonValue, Metadata, MetadataKind, MetadataValue
from citewell.types.names import composed_name

MAX_NUMBER = 2**53
MAX_THREAD_LENGTH = 128
"""Characters in the name of the conversation in which a file was added."""
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_INSTANT = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?(?:Z|z|[+-]\d\d(?::?\d\d)?)?")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_IDENTIFIER = re.compile(r"[^\x00-\x1f\x7f-\x9f/\\?#%\u2028\u2029]+")
_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_MAX_DATE_LENGTH = 40
MAX_IDENTIFIER_LENGTH = 128
# A path segment that appears in addresses where an identifier could.
_RESERVED = "facets"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
DAY = 86_400.0


@dataclass(frozen=True, slots=True, kw_only=True)
class MetadataLimits:
    """Limits per file: keys, characters of a key and of a text, and texts in a list."""

    max_keys: int = 64
    max_key_length: int = 64
    max_value_length: int = 512
    max_items: int = 64


def checked_metadata(given: Mapping[str, JsonValue], limits: MetadataLimits) -> dict[str, MetadataValue]:
    """Metadata as stored: dates in UTC, keys and texts without surrounding space.

    Raises `InvalidMetadata` with the key for a value that is not a text, a number, true or false, a date (ISO 8601) or a list of texts,
    and for anything beyond the limits.
    """
    if len(given) > limits.max_keys:
        raise InvalidMetadata(f"The metadata has {len(given):,} keys. A file may have {limits.max_keys:,}.")
    kept: dict[str, MetadataValue] = {}
    for key, value in given.items():
        name = _checked_key(key, limits)
        if name in kept:
            raise InvalidMetadata(f"The metadata key {cut(name)!r} appears twice.", key=cut(name))
        kept[name] = _checked_value(name, value, limits)
    return kept


def merged(metadata: Metadata, changes: Mapping[str, JsonValue], limits: MetadataLimits) -> dict[str, MetadataValue]:
    """Metadata with changes applied; None as a new value removes the key. Raises `InvalidMetadata`."""
    removed = {key.strip() for key, value in changes.items() if value is None}
    left = {key: value for key, value in metadata.items() if key not in removed}
    new = checked_metadata({key: value for key, value in changes.items() if value is not None}, limits)
    together = left | new
    if len(together) > limits.max_keys:
        raise InvalidMetadata(f"The metadata would have {len(together):,} keys. A file may have {limits.max_keys:,}.")
    return together


def checked_identifier(given: str) -> str:
    """An identifier without surrounding space, in NFC. Raises `InvalidMetadata` if it is empty, too long, looks like an id, or cannot be part of a URL."""
    name = composed_name(given)
    if not 0 < len(name) <= MAX_IDENTIFIER_LENGTH:
        raise InvalidMetadata(f"An identifier has 1 to {MAX_IDENTIFIER_LENGTH} characters.", key="identifier")
    if name == _RESERVED:
        raise InvalidMetadata(
            f"An identifier may not be {_RESERVED!r}, because that is part of an address.", key="identifier"
        )
    if not _IDENTIFIER.fullmatch(name) or name in {".", ".."}:
        raise InvalidMetadata(
            "An identifier may not contain control characters, or any of / \\ ? # %.", key="identifier"
        )
    if _UUID.fullmatch(name):
        raise InvalidMetadata("An identifier may not look like an id. Choose a name.", key="identifier")
    return name


def is_resource_id(name: str) -> bool:
    """Whether a name looks like a resource's id, which identifiers may not."""
    return _UUID.fullmatch(name) is not None


def kind_of(value: MetadataValue) -> MetadataKind:
    """The type of a stored value."""
    if isinstance(value, bool):
        return MetadataKind.BOOLEAN
    if isinstance(value, int | float):
        return MetadataKind.NUMBER
    if isinstance(value, str) and seconds_of(value) is not None:
        return MetadataKind.DATE
    return MetadataKind.TEXT


def seconds_of(text: str) -> float | None:
    """The instant of an ISO 8601 date or date-time, in seconds since 1970 UTC; None for any other text.

    A date means its midnight; a time without an offset is UTC.
    """
    at = _instant(text)
    return None if at is None else (at - _EPOCH) / timedelta(seconds=1)


def is_day(text: str) -> bool:
    """Whether a text is a date without a time, and so means 24 hours."""
    return _DAY.fullmatch(text) is not None


def iso(seconds: float) -> str:
    """Seconds since 1970 as ISO 8601 in UTC; only the date if it is midnight."""
    at = _EPOCH + timedelta(seconds=seconds)
    if (at.hour, at.minute, at.second, at.microsecond) == (0, 0, 0, 0):
        return at.date().isoformat()
    return at.isoformat().replace("+00:00", "Z")


def from_text(text: str) -> JsonValue:
    """A value from a command line or CSV cell: true, false, a number or a JSON list, otherwise the text itself.

    A JSON string (`"2024"`) is a text, and so is a number with a leading zero.
    """
    plain = text.strip()
    if plain in {"true", "false"} or re.fullmatch(r"-?(0|[1-9]\d{0,15})(\.\d{1,15})?", plain):
        return cast(JsonValue, json.loads(plain))
    if plain[:1] in {'"', "["}:
        try:
            return cast(JsonValue, json.loads(plain))
        except (ValueError, RecursionError):
            return plain
    return plain


def _instant(text: str) -> datetime | None:
    if len(text) > _MAX_DATE_LENGTH:
        return None
    try:
        if _DAY.fullmatch(text):
            return datetime.combine(date.fromisoformat(text), datetime.min.time(), UTC)
        if _INSTANT.fullmatch(text):
            found = datetime.fromisoformat(text.upper().replace(",", "."))
            return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
    except (ValueError, OverflowError):
        pass
    return None


def _checked_key(key: str, limits: MetadataLimits) -> str:
    name = key.strip()
    if not 0 < len(name) <= limits.max_key_length:
        raise InvalidMetadata(
            f"The metadata key {cut(name)!r} is not 1 to {limits.max_key_length} characters long.", key=cut(name)
        )
    if _CONTROL.search(name):
        raise InvalidMetadata(f"The metadata key {cut(name)!r} contains control characters.", key=cut(name))
    return name


def _checked_value(key: str, value: JsonValue, limits: MetadataLimits) -> MetadataValue:
    if isinstance(value, bool):
        return value
    if isinstance(value, str):
        return _checked_text(key, value, limits)
    if isinstance(value, int | float):
        if not math.isfinite(value) or abs(value) > MAX_NUMBER:
            raise InvalidMetadata(f"The number under the metadata key {cut(key)!r} is too large.", key=cut(key))
        return value
    if isinstance(value, Sequence) and all(isinstance(one, str) for one in value):
        return _checked_list(key, cast(Sequence[str], value), limits)
    raise InvalidMetadata(
        f"The value of the metadata key {cut(key)!r} must be a text, a number, true or false, a date (ISO 8601) or a list of texts.",
        key=cut(key),
    )


def _checked_text(key: str, value: str, limits: MetadataLimits) -> str:
    text = value.strip()
    if not 0 < len(text) <= limits.max_value_length:
        raise InvalidMetadata(
            f"The text under the metadata key {cut(key)!r} has {len(text):,} characters. It may have 1 to {limits.max_value_length:,}.",
            key=cut(key),
        )
    if "\x00" in text:
        raise InvalidMetadata(f"The text under the metadata key {cut(key)!r} contains a null character.", key=cut(key))
    at = _instant(text)
    return text if at is None or is_day(text) else at.isoformat().replace("+00:00", "Z")


def _checked_list(key: str, values: Sequence[str], limits: MetadataLimits) -> tuple[str, ...]:
    if not 0 < len(values) <= limits.max_items:
        raise InvalidMetadata(
            f"The list under the metadata key {cut(key)!r} has {len(values):,} texts. It may have 1 to {limits.max_items:,}.",
            key=cut(key),
        )
    texts = [value.strip() for value in values]
    if any(not 0 < len(text) <= limits.max_value_length or "\x00" in text for text in texts):
        raise InvalidMetadata(
            f"A text in the list under the metadata key {cut(key)!r} is not 1 to {limits.max_value_length:,} characters long.",
            key=cut(key),
        )
    return tuple(dict.fromkeys(texts))
