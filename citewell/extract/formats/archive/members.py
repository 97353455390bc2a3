"""Archive members: display names, reasons for skipping, and writing. Names are only displayed, never used as paths."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

_DRIVE = re.compile(r"^[A-Za-z]:")
_MAX_LENGTH = 200
_SYSTEM_FILES = (".ds_store", "thumbs.db", "desktop.ini")


@dataclass(frozen=True, slots=True)
class Member:
    """One archive entry.

    name:     as spelled in the archive, untrusted
    left_out: why it is not unpacked ("a folder", "a link", …), None for a file
    write:    writes its bytes to the given path and returns their number; raises `CorruptFile`, `LimitExceeded`,
              `WrongPassword`
    """

    name: str
    left_out: str | None
    write: Callable[[Path], int]


def display_name(name: str, number: int) -> str:
    """Returns a member's name without drive, root, `..` and control characters; `member N` if nothing is left."""
    kept = [part for part in map(_printable, _parts(name)) if part not in ("", ".", "..")]
    clean = "/".join(kept)
    return (clean if len(clean) <= _MAX_LENGTH else kept[-1][-_MAX_LENGTH:]) or f"member {number}"


def points_outside(name: str) -> bool:
    """Whether a name would escape the folder it is unpacked to."""
    return name.startswith(("/", "\\")) or bool(_DRIVE.match(name)) or ".." in _parts(name)


def is_system_file(name: str) -> bool:
    """Whether an operating system created the file for its own use."""
    parts = _parts(name)
    return "__MACOSX" in parts or parts[-1].lower() in _SYSTEM_FILES


def nothing(path: Path) -> int:
    """Writes nothing: the writer of a skipped member."""
    return 0


def _parts(name: str) -> list[str]:
    return _DRIVE.sub("", name.replace("\\", "/")).split("/")


def _printable(part: str) -> str:
    return "".join(c for c in part.encode("utf-8", "replace").decode() if c.isprintable()).strip()
