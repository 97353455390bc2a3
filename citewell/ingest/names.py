"""Makes file names from uploads safe to display, however hostile, broken or long. They are never used as paths."""

from __future__ import annotations

import re

from citewell.text.tokens import composed

_MAX_LENGTH = 255
_MAX_PATH_LENGTH = 512  # the default limit of a metadata text
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def clean_filename(name: str) -> str:
    """The last path part without control and direction characters, in NFC, at most 255 characters with its extension kept."""
    name = name.encode("utf-8", "replace").decode("utf-8")
    name = composed(name, "NFC").replace("\\", "/").rsplit("/", 1)[-1]
    name = _CONTROL.sub("", name).strip()
    if not name.strip(". "):
        return "unnamed"
    if len(name) > _MAX_LENGTH:
        stem, dot, extension = name.rpartition(".")
        if dot and len(extension) <= 16:
            return stem[: _MAX_LENGTH - len(extension) - 1] + "." + extension
        return name[:_MAX_LENGTH]
    return name


def clean_path(path: str) -> str:
    """The folders and name of a file in an archive, each cleaned by `clean_filename`, without `..`; empty if longer than 512 characters."""
    if len(path) > _MAX_PATH_LENGTH:
        return ""
    parts = path.replace("\\", "/").split("/")
    clean = "/".join(clean_filename(part) for part in parts if part.strip(". "))
    return clean if len(clean) <= _MAX_PATH_LENGTH else ""
