"""Finds a record's frame inside a folder. Nothing outside the folder is ever opened, even if the record's path leads there."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import BinaryIO

from citewell.connectors.beneath import open_beneath
from citewell.errors import ConfigurationError, FrameMissing, named

MAX_REFERENCE = 1_024
"""Most characters of a path in a record."""


class FrameFolder:
    """The folder that records' paths are relative to."""

    def __init__(self, folder: Path) -> None:
        if not folder.is_dir():
            raise ConfigurationError(
                f"{folder} is not a folder. Set FRAME_BASE_DIR (or --frames) to the folder that contains the frames."
            )
        self._folder = folder.resolve()

    def find(self, reference: str) -> Path:
        """The file that a record names. Raises `FrameMissing` if it does not exist, is not a file, or is outside the folder."""
        parts = _parts(reference)
        if parts is None:
            raise FrameMissing(
                f"{named(reference)} is not a path inside the frames folder. Write it relative to that folder."
            )
        try:
            # Follow all links: the target of a link in the folder must be inside it too.
            path = self._folder.joinpath(*parts).resolve(strict=True)
            is_file = stat.S_ISREG(path.stat().st_mode)
        except (OSError, ValueError, RuntimeError) as error:
            raise FrameMissing(f"There is no {named(reference)} in the frames folder.") from error
        if not path.is_relative_to(self._folder):
            raise FrameMissing(f"{named(reference)} leads outside the frames folder and was not opened.")
        if not is_file:
            raise FrameMissing(f"{named(reference)} is not a file.")
        return path

    def open(self, reference: str) -> BinaryIO:
        """Open the file for reading. Raises `FrameMissing` as `find` does, and if a link has replaced the file since it was found."""
        path = self.find(reference)
        try:
            return open_beneath(self._folder, path.relative_to(self._folder).parts)
        except OSError as error:
            raise FrameMissing(f"{named(reference)} cannot be opened: {error.strerror or error}.") from error

    def stamp(self, reference: str) -> str:
        """A value that changes when the file does; `-` if there is none."""
        try:
            return stamp_of(self.find(reference).stat())
        except (FrameMissing, OSError):
            return "-"


def stamp_of(status: os.stat_result) -> str:
    """A value that changes when a file is written."""
    return f"{status.st_size:x}.{status.st_mtime_ns:x}"


def _parts(reference: str) -> list[str] | None:
    """The parts of a relative path; None if it is absolute, contains `..`, or is not a path."""
    plain = reference.strip().replace("\\", "/")
    if not plain or len(plain) > MAX_REFERENCE or "\x00" in plain or plain.startswith(("/", "~")):
        return None
    parts = [part for part in plain.split("/") if part not in ("", ".")]
    if not parts or ".." in parts or parts[0].endswith(":"):
        return None
    return parts
