"""Opens files below a folder that others may write in: no link leads out of it, whatever is moved or swapped meanwhile."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK  # a pipe must not keep the reader waiting


def open_beneath(top: Path, names: Sequence[str]) -> BinaryIO:
    """The regular file at these names below `top`, to read from and to ask about: its path may lead elsewhere by now.

    Each name is opened inside the folder that was opened before it, and never followed where it is a link. Raises `OSError`.
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
        raise OSError(errno.EINVAL, "It is no regular file")
    return os.fdopen(file, "rb")
