"""Finds a record's frame inside a folder, whatever the record says: nothing outside the folder is ever opened."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import BinaryIO

from citewell.connectors.beneath import open_beneath
from citewell.errors import ConfigurationError, FrameMissing, named

MAX_REFERENCE = 1_024
"""Characters of a path in a record."""


class FrameFolder:
    """The folder that records' paths are relative to."""

    def __init__(self, folder: Path) -> None:
        if not folder.is_dir():
            raise ConfigurationError(
                f"{folder} is no folder. Set FRAME_BASE_DIR (or --frames) to the folder that has the frames."
            )
        self._folder = folder.resolve()

    def find(self, reference: str) -> Path:
        """The file that a record names; `FrameMissing` for one that is not there, no file, or outside the folder."""
        parts = _parts(reference)
        if parts is None:
            raise FrameMissing(
                f"{named(reference)} is no path inside the folder of frames. Write it relative to that folder."
            )
        try:
            # With every link followed: what a link in the folder points to has to be inside as well.
            path = self._folder.joinpath(*parts).resolve(strict=True)
            is_file = stat.S_ISREG(path.stat().st_mode)
        except (OSError, ValueError, RuntimeError) as error:
            raise FrameMissing(f"There is no {named(reference)} in the folder of frames.") from error
        if not path.is_relative_to(self._folder):
            raise FrameMissing(f"{named(reference)} leads out of the folder of frames, and was not opened.")
        if not is_file:
            raise FrameMissing(f"{named(reference)} is not a file.")
        return path

    def open(self, reference: str) -> BinaryIO:
        """The same file, to read from. `FrameMissing` also for one that was swapped for a link since it was found."""
        path = self.find(reference)
        try:
            return open_beneath(self._folder, path.relative_to(self._folder).parts)
        except OSError as error:
            raise FrameMissing(f"{named(reference)} cannot be opened: {error.strerror or error}.") from error

    def stamp(self, reference: str) -> str:
        """What changes when the file does; `-` while there is none."""
        try:
            return stamp_of(self.find(reference).stat())
        except (FrameMissing, OSError):
            return "-"


def stamp_of(status: os.stat_result) -> str:
    """What changes when a file is written."""
    return f"{status.st_size:x}.{status.st_mtime_ns:x}"


def _parts(reference: str) -> list[str] | None:
    """The names on the way to a file; None for a path that is absolute, goes up, or is no path."""
    plain = reference.strip().replace("\\", "/")
    if not plain or len(plain) > MAX_REFERENCE or "\x00" in plain or plain.startswith(("/", "~")):
        return None
    parts = [part for part in plain.split("/") if part not in ("", ".")]
    if not parts or ".." in parts or parts[0].endswith(":"):
        return None
    return parts
