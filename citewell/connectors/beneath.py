"""Opens files below a folder that others can write to. No link leads outside it, even if files are moved or swapped meanwhile."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK  # a pipe must not block the reader


def open_beneath(top: Path, names: Sequence[str]) -> BinaryIO:
    """Open the regular file at `names`, the path's parts below `top`. Inspect the open file, not its path, which may lead elsewhere by now.

    Each part is opened relative to the open folder before it, and links are not followed. Raises `OSError`.
    """
    if not names or any(name in ("", ".", "..") or "/" in name for name in names):
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
    folder = os.open(top, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for name in names[:-1]:
            inner = os.open(name, _FOLDER, dir_fd=folder)
            os.close(folder)
            folder = inner
        file = os.open(names[-1], _FILE, dir_fd=folder)
    finally:
        os.close(folder)
    if not stat.S_ISREG(os.fstat(file).st_mode):
        os.close(file)
        raise OSError(errno.EINVAL, "It is not a regular file")
    return os.fdopen(file, "rb")
