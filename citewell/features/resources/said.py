"""What somebody says of a file, beside its bytes."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from citewell.errors import InvalidInput, InvalidMetadata
from citewell.types import JsonValue
from citewell.types.metadata_values import MAX_THREAD_LENGTH
from citewell.types.resources import MAX_LIFETIME_HOURS


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What somebody says of a file. None leaves a part as it is; of the metadata, only the keys that are named change.

    expires_in_hours: its lifetime from now on; 0 for no end
    """

    metadata: Mapping[str, JsonValue] | None = None
    identifier: str | None = None
    thread: str | None = None
    expires_in_hours: float | None = None


def said_in_python(
    metadata: Mapping[str, Any] | None,
    identifier: str | None,
    thread: str | None,
    expires_in_hours: float | None = None,
) -> Said:
    """What a Python program says of a file, with its dates in their JSON form."""
    plain = None
    if metadata is not None:
        plain = {key: value.isoformat() if isinstance(value, date) else value for key, value in metadata.items()}
    return Said(metadata=plain, identifier=identifier, thread=thread, expires_in_hours=expires_in_hours)


def end_of(hours: float | None) -> float | None:
    """When a lifetime that begins now ends, in seconds since 1970; None for no end. Raises `InvalidInput` for an impossible one."""
    if not hours:
        return None
    if not 0 < hours <= MAX_LIFETIME_HOURS:
        raise InvalidInput(f"`expires_in_hours` must be between 0 (never) and {MAX_LIFETIME_HOURS:,}.")
    return time.time() + hours * 3_600


def checked_thread(given: str | None) -> str:
    """The name of a conversation without space around it, empty for none. Raises `InvalidMetadata` for one that is too long or holds a null character."""
    thread = (given or "").strip()
    if len(thread) > MAX_THREAD_LENGTH or "\x00" in thread:
        raise InvalidMetadata(f"`thread` has at most {MAX_THREAD_LENGTH} characters, none of them null.", key="thread")
    return thread
