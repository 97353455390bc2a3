"""What somebody says of a file, beside its bytes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from citewell.types import JsonValue


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What somebody says of a file. None leaves a part as it is; of the metadata, only the keys that are named change."""

    metadata: Mapping[str, JsonValue] | None = None
    identifier: str | None = None
    thread: str | None = None
