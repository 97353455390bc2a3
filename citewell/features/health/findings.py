"""The result of checking one part of a server."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Literal

from citewell.types import JsonValue

Level = Literal["ok", "note", "error"]


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check. `advice` says what to do about a note or an error."""

    part: str
    level: Level
    text: str
    advice: str = ""

    def to_json(self) -> dict[str, JsonValue]:
        """As `citewell doctor --json` prints it."""
        return asdict(self)
