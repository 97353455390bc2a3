"""The data folder, locked by one process at a time, which records its URL there; and the local token."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
import secrets
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from citewell.errors import ConfigurationError, DataFolderBusy
from citewell.system.disk import disk_errors

if TYPE_CHECKING:
    from citewell.types.chat_models import ModelExamination

# Characters that an Authorization header can carry (RFC 6750): people may put their own token into the file.
_TOKEN = re.compile(rb"[A-Za-z0-9._~+/=-]{1,512}")
_LOCAL_MODEL = "local_model.json"
_EXAMINATIONS = "chat_models.json"
_MADE = ("backups", "cache", "indexes", "scratch")
_LOCK_ATTEMPTS, _LOCK_PAUSE = 6, 0.05


@dataclass(frozen=True, slots=True)
class Holder:
    """The process that holds a data folder; `url` is None unless it serves HTTP."""

    pid: int
    url: str | None


class LocalModel(NamedTuple):
    """A model and its server on this machine, by name."""

    server: str
    model: str


class DataFolder:
    """The folder with all of Citewell's data on this machine."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock: int | None = None

    def hold(self) -> None:
        """Locks the folder for this process. Raises `DataFolderBusy` if another one holds it.

        The operating system releases the lock when the process dies.
        """
        with folder_errors(self.path):
            self.path.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._make_private()
            lock = os.open(self.path / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        if not _lock(lock):
            os.close(lock)
            raise DataFolderBusy(f"Another process holds {self.path}. Stop it, or use its HTTP API.")
        self._lock = lock
        try:
            self.announce(None)
        except BaseException:
            self.release()
            raise

    def _make_private(self) -> None:
        """Makes the content folders private to this user, whatever the mode of a preexisting data folder."""
        for name in _MADE:
            (self.path / name).mkdir(exist_ok=True, mode=0o700)
        for name in (*_MADE, "blobs"):
            with contextlib.suppress(FileNotFoundError, PermissionError):  # PermissionError: owned by another user
                (self.path / name).chmod(0o700)

    def announce(self, url: str | None) -> None:
        """Records the URL of the holder."""
        content = json.dumps({"pid": os.getpid(), "url": url})
        temporary = self.path / "server.json.new"
        with folder_errors(self.path):
            temporary.write_text(content, encoding="utf-8")
            temporary.replace(self.path / "server.json")

    def holder(self) -> Holder | None:
        """Returns the process that holds the folder now, if any."""
        path = self.path / "lock"
        with folder_errors(self.path):
            if not path.exists():
                return None
            lock = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
            return None
        except BlockingIOError:
            with contextlib.suppress(OSError, ValueError, TypeError, KeyError):
                data = json.loads((self.path / "server.json").read_text(encoding="utf-8"))
                return Holder(pid=data["pid"], url=data["url"])
            return Holder(pid=0, url=None)
        finally:
            os.close(lock)

    def local_model(self) -> LocalModel | None:
        """Returns the local model chosen to write answers; None if there is none or the record is damaged."""
        with contextlib.suppress(OSError, ValueError, RecursionError):
            data: Any = json.loads((self.path / _LOCAL_MODEL).read_text(encoding="utf-8"))
            match data:
                case {"server": str(server), "model": str(model)}:
                    return LocalModel(server, model)
                case _:
                    return None
        return None

    def keep_local_model(self, chosen: LocalModel | None) -> None:
        """Records the chosen local model; None removes it."""
        path = self.path / _LOCAL_MODEL
        temporary = path.with_suffix(".new")
        with folder_errors(self.path):
            if chosen is None:
                path.unlink(missing_ok=True)
                return
            temporary.write_text(json.dumps(chosen._asdict()), encoding="utf-8")
            temporary.replace(path)

    def examination(self, address: str, model: str) -> ModelExamination | None:
        """Returns what an examination of a chat model at an address found; None if there was none or the record is damaged."""
        from citewell.types.chat_models import ModelExamination  # the command line starts without it

        with contextlib.suppress(KeyError, TypeError, ValueError):
            return ModelExamination.from_json(self._examinations()[f"{model} at {address}"])
        return None

    def keep_examination(self, address: str, model: str, found: ModelExamination) -> None:
        """Records what an examination of a chat model found."""
        path = self.path / _EXAMINATIONS
        temporary = path.with_suffix(".new")
        with folder_errors(self.path):
            known = {**self._examinations(), f"{model} at {address}": dict(found.to_json())}
            temporary.write_text(json.dumps(known), encoding="utf-8")
            temporary.replace(path)

    def _examinations(self) -> dict[str, Any]:
        with contextlib.suppress(OSError, ValueError, RecursionError):
            data: Any = json.loads((self.path / _EXAMINATIONS).read_text(encoding="utf-8"))
            return data if isinstance(data, dict) else {}
        return {}

    def release(self) -> None:
        """Releases the folder."""
        if self._lock is not None:
            (self.path / "server.json").unlink(missing_ok=True)
            os.close(self._lock)
            self._lock = None

    def token(self) -> str:
        """Returns the local owner's token, created on first use and readable by this user only."""
        return self._secret("token", "cw_")

    def session_secret(self) -> str:
        """Returns the key that signs access tokens if the settings have no secret; created on first use."""
        return self._secret("session_secret", "")

    def _secret(self, name: str, begin: str) -> str:
        path = self.path / name
        with folder_errors(self.path):
            if not path.is_file() or not path.stat().st_size:
                self._write_secret(path, begin)
            token = path.read_bytes().strip()
        if not _TOKEN.fullmatch(token):
            raise ConfigurationError(f"The token in {path} is damaged. Delete it; the next start creates a new token.")
        return token.decode()

    def _write_secret(self, path: Path, begin: str) -> None:
        """Writes a secret atomically, as an empty token would lock its owner out.

        Of two concurrent writers, the first wins.
        """
        self.path.mkdir(parents=True, exist_ok=True, mode=0o700)
        temporary = self.path / f"{path.name}.{secrets.token_hex(8)}"
        try:
            handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            with os.fdopen(handle, "w") as file:
                file.write(begin + secrets.token_urlsafe(32))
            if path.exists() and not path.stat().st_size:
                path.unlink()
            with contextlib.suppress(FileExistsError):
                os.link(temporary, path)
        finally:
            temporary.unlink(missing_ok=True)


def _lock(descriptor: int) -> bool:
    """Tries to take the lock; retries, because a process that only looks up the holder takes it briefly."""
    for _ in range(_LOCK_ATTEMPTS):
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except BlockingIOError:
            time.sleep(_LOCK_PAUSE)
    return False


@contextmanager
def folder_errors(path: Path) -> Generator[None]:
    """Translates any OS error in the data folder into `DiskFull`, or a `ConfigurationError` that names the folder."""
    try:
        with disk_errors():
            yield
    except OSError as error:
        if error.filename is None:
            raise
        raise ConfigurationError(
            f"The data folder {path} cannot be used: {error.strerror}. Choose another with --data or CITEWELL_DATA."
        ) from error
