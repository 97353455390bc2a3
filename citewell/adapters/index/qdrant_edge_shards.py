"""Runs a shard in this process or, if it is large, in its own.

The engine holds the GIL while it works: 0.1 to 0.6 ms per search leg with 100,000 chunks, 3 ms with a million, 15 to 50
ms per batch of writes, and seconds for the first filter on a field. In its own process, it blocks nothing else.
"""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO, Concatenate, ParamSpec, Protocol, TypeVar, cast

import qdrant_edge as qe

from citewell.adapters.index import qdrant_edge_engine as engine
from citewell.adapters.index.qdrant_edge_pages import map_pages
from citewell.errors import CitewellError, DataFolderBusy, Unavailable
from citewell.system.batching import outcome

P = ParamSpec("P")
T = TypeVar("T")
# Below this number of points, a separate process is not worth its cost of 60 MB (20 MB unshared) and 0.12 s at start.
OWN_PROCESS_FROM = 50_000
# Seconds to wait for a process to finish its current step when the server ends.
_MAX_WAIT = 10.0
_PAUSE = 0.05
_PAGE = 1_000
# The capacity of a pipe. With the default of 8 kB, each read would release the GIL once more.
_BUFFER = 1 << 16


class Shard(Protocol):
    """An open shard. Calls may come from any thread, one at a time."""

    def call(self, function: Callable[Concatenate[qe.EdgeShard, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Call a function of `qdrant_edge_engine` on this shard; returns or raises what it does."""
        ...

    def close(self) -> None:
        """Write everything to disk, and release the folder."""
        ...


def open_shard(path: Path, dimensions: int, own_process_from: int = OWN_PROCESS_FROM) -> Shard:
    """Open an existing shard, in its own process if it is large. Raises as `engine.open_shard`."""
    if engine.points_on_disk(path, dimensions) >= own_process_from:
        return RemoteShard(path)
    return LocalShard(engine.open_shard(path))


def copy_points(source: Shard, target: Shard, ids: Sequence[str]) -> None:
    """Make `target` equal to `source` for these ids: write existing points, delete missing ones."""
    for start in range(0, len(ids), _PAGE):
        some = ids[start : start + _PAGE]
        points = source.call(engine.read_points, some)
        target.call(engine.write_points, points)
        known = {key for key, _, _ in points}
        if gone := [key for key in some if key not in known]:
            target.call(engine.delete_points, gone)


class LocalShard:
    """A shard in this process."""

    def __init__(self, opened: qe.EdgeShard) -> None:
        self._opened = opened

    def call(self, function: Callable[Concatenate[qe.EdgeShard, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """See `Shard.call`."""
        return function(self._opened, *args, **kwargs)

    def close(self) -> None:
        """See `Shard.close`."""
        self._opened.flush()
        self._opened.close()


class RemoteShard:
    """A shard in its own process, which ends with this one.

    If that process dies, the waiting call raises `Unavailable` and the next one restarts it; writes are safe in the
    write-ahead log."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._closed = False
        self._start()

    def call(self, function: Callable[Concatenate[qe.EdgeShard, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """See `Shard.call`."""
        request = pickle.dumps((function, args, kwargs), pickle.HIGHEST_PROTOCOL)
        with self._lock:
            if self._closed:
                raise Unavailable("The index is closed.")
            if self._process.poll() is not None:
                _end(self._process)
                self._start()
            requests = cast(IO[bytes], self._process.stdin)
            try:
                requests.write(request)
                requests.flush()
            except BrokenPipeError:
                raise self._ended() from None
            return cast(T, self._answer())

    def close(self) -> None:
        """See `Shard.close`."""
        with self._lock:
            self._closed = True
            _end(self._process)

    def _start(self) -> None:
        command = [sys.executable, "-m", __name__, str(self._path)]
        self._process = subprocess.Popen(  # noqa: S603 - this module
            command, bufsize=_BUFFER, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        try:
            self._answer()
        except BaseException:
            _end(self._process)
            raise

    def _answer(self) -> object:
        try:
            answer = pickle.load(cast(IO[bytes], self._process.stdout))  # noqa: S301 - what this module wrote
        except (EOFError, pickle.UnpicklingError):
            raise self._ended() from None
        if isinstance(answer, Exception):
            raise answer
        return answer

    def _ended(self) -> Unavailable:
        code = self._process.wait()
        return Unavailable(f"The index process ended with code {code}. The next request restarts it.")


def _end(process: subprocess.Popen[bytes]) -> None:
    """Close a process's pipe, so that it closes its shard and ends; wait for that."""
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            try:
                stream.close()
            except BrokenPipeError:
                continue
    process.wait()


def main() -> None:
    """Serve requests for the shard named on the command line until the pipe closes: `python -m … FOLDER`."""
    for name in (
        signal.SIGINT,
        signal.SIGTERM,
    ):  # signals reach the whole process group; the server decides when to end
        signal.signal(name, signal.SIG_IGN)
    requests, replies = os.fdopen(os.dup(0), "rb", _BUFFER), os.fdopen(os.dup(1), "wb", _BUFFER)
    os.dup2(2, 1)  # printed output must not mix with replies
    shard = outcome(_opened, Path(sys.argv[1]))
    if isinstance(shard, Exception):
        _reply(replies, shard)
        return
    threading.Thread(target=map_pages, args=(Path(sys.argv[1]),), daemon=True).start()
    try:
        _reply(replies, None)
        while True:
            function, args, kwargs = pickle.load(requests)  # noqa: S301 - what this module wrote
            _reply(replies, outcome(shard.call, function, *args, **kwargs))
    except (EOFError, BrokenPipeError):
        pass
    finally:
        shard.close()


def _opened(path: Path) -> LocalShard:
    last = time.monotonic() + _MAX_WAIT
    while True:
        try:
            return LocalShard(engine.open_shard(path))
        except DataFolderBusy:
            if time.monotonic() >= last:
                raise
            time.sleep(_PAUSE)


def _reply(replies: IO[bytes], answer: object) -> None:
    if isinstance(answer, Exception) and not isinstance(answer, (CitewellError, OSError)):
        answer = RuntimeError(f"{type(answer).__name__}: {answer}")  # a picklable substitute
    replies.write(pickle.dumps(answer, pickle.HIGHEST_PROTOCOL))
    replies.flush()


if __name__ == "__main__":
    main()
