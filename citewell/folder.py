"""The data folder: held by one process at a time, which says in it how to be reached; and the local token."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import secrets
from dataclasses import dataclass
from pathlib import Path

from citewell.errors import ConfigurationError, DataFolderBusy


@dataclass(frozen=True, slots=True)
class Holder:
    """Who holds a data folder; `url` is None while it cannot be talked to over HTTP."""

    pid: int
    url: str | None


class DataFolder:
    """A folder with everything Citewell keeps on this machine."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock: int | None = None

    def hold(self) -> None:
        """Take the folder for this process; raises `DataFolderBusy` when another one has it. The system frees it when we die."""
        try:
            self.path.mkdir(parents=True, exist_ok=True, mode=0o700)
            lock = os.open(self.path / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise self._unusable(error) from error
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            os.close(lock)
            raise DataFolderBusy(f"Another process holds {self.path}. Stop it, or talk to it over HTTP.") from error
        self._lock = lock
        try:
            self.announce(None)
        except OSError as error:
            self.release()
            raise self._unusable(error) from error

    def announce(self, url: str | None) -> None:
        """Say where the holder can be reached."""
        content = json.dumps({"pid": os.getpid(), "url": url})
        temporary = self.path / "server.json.new"
        temporary.write_text(content, encoding="utf-8")
        temporary.replace(self.path / "server.json")

    def holder(self) -> Holder | None:
        """The process that holds the folder now, if any."""
        try:
            lock = os.open(self.path / "lock", os.O_RDWR | os.O_CLOEXEC)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise self._unusable(error) from error
        try:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
            return None
        except BlockingIOError:
            with contextlib.suppress(OSError, ValueError):
                data = json.loads((self.path / "server.json").read_text(encoding="utf-8"))
                return Holder(pid=data["pid"], url=data["url"])
            return Holder(pid=0, url=None)
        finally:
            os.close(lock)

    def release(self) -> None:
        """Let the folder go."""
        if self._lock is not None:
            (self.path / "server.json").unlink(missing_ok=True)
            os.close(self._lock)
            self._lock = None

    def token(self) -> str:
        """The local owner's token, made at first use; readable by this user alone."""
        path = self.path / "token"
        try:
            self.path.mkdir(parents=True, exist_ok=True, mode=0o700)
            with contextlib.suppress(FileExistsError):
                handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
                with os.fdopen(handle, "w") as file:
                    file.write("cw_" + secrets.token_urlsafe(32))
            return path.read_text(encoding="ascii").strip()
        except OSError as error:
            raise self._unusable(error) from error

    def _unusable(self, error: OSError) -> ConfigurationError:
        return ConfigurationError(
            f"The data folder {self.path} cannot be used: {error.strerror}. Choose another with --data or CITEWELL_DATA."
        )
