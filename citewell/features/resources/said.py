"""What somebody says of a file, beside its bytes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from citewell.errors import InvalidMetadata
from citewell.types import JsonValue
from citewell.types.metadata_values import MAX_THREAD_LENGTH


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What somebody says of a file. None leaves a part as it is; of the metadata, only the keys that are named change."""

    metadata: Mapping[str, JsonValue] | None = None
    identifier: str | None = None
    thread: str | None = None


def checked_thread(given: str | None) -> str:
    """The name of a conversation without space around it, empty for none. Raises `InvalidMetadata` for one that is too long or holds a null character."""
    thread = (given or "").strip()
    if len(thread) > MAX_THREAD_LENGTH or "\x00" in thread:
        raise InvalidMetadata(f"`thread` has at most {MAX_THREAD_LENGTH} characters, none of them null.", key="thread")
    return thread
