"""A reader that does what a hostile file might make a real one do; the file's name says what."""

from __future__ import annotations

import ctypes
import errno
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from citewell.errors import CorruptFile, WrongPassword
from citewell.extract.core.sink import Sink
from citewell.extract.registry import extract_file
from citewell.extract.sandbox.job import REPORT_FILE
from citewell.types import Category, DetectedType, ElementType, ExtractionSummary, Locator

KEPT: list[str] = []


def read(path: Path, filename: str, sink: Sink) -> ExtractionSummary:
    """Do what `filename` says, then report the file's text as one element, and what was observed as metadata."""
    observed: Any = DEEDS[filename](path, sink) if filename in DEEDS else None
    sink.emit(ElementType.PARAGRAPH, path.read_text(), Locator())
    detected = DetectedType("text/plain", "txt", Category.RAG, "plain")
    return ExtractionSummary(
        detected=detected, coverage=sink.coverage(), metadata={"observed": observed}, blobs=tuple(sink.blobs)
    )


def _take_memory(path: Path, sink: Sink) -> None:
    held = []
    while True:
        held.append(bytearray(16 << 20))


def _take_memory_natively(path: Path, sink: Sink) -> None:
    libc = ctypes.CDLL(None)
    libc.malloc.restype = ctypes.c_void_p
    while True:
        address = libc.malloc(ctypes.c_size_t(16 << 20))
        if not address:
            os.write(2, b"terminate called after throwing an instance of 'std::bad_alloc'\n")
            os.abort()
        ctypes.memset(address, 1, 16 << 20)


def _loop(path: Path, sink: Sink) -> None:
    while True:
        pass


def _loop_with_progress(path: Path, sink: Sink) -> None:
    for step in range(1_000_000):
        sink.progress(step, 1_000_000)
        time.sleep(0.05)


def _work_slowly(path: Path, sink: Sink) -> None:
    for step in range(6):
        sink.progress(step + 1, 6)
        time.sleep(0.4)


def _refused(attempt: Callable[[], object]) -> str:
    try:
        attempt()
    except OSError as error:
        return type(error).__name__
    return "allowed"


def _connect() -> None:
    with socket.create_connection(("127.0.0.1", 9), timeout=2):
        pass


def _network(path: Path, sink: Sink) -> dict[str, str]:
    return {
        "tcp": _refused(_connect),
        "udp": _refused(lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("192.0.2.1", 53))),
        "unix": _refused(lambda: socket.socket(socket.AF_UNIX).connect("/run/docker.sock")),
        "name": _refused(lambda: socket.getaddrinfo("example.com", 80)),
    }


def _files(path: Path, sink: Sink) -> dict[str, str]:
    outside = path.parent / "outside.txt"
    return {
        "write": _refused(lambda: outside.write_text("x")),
        "change the file itself": _refused(lambda: path.write_text("x")),
        "remove the file itself": _refused(path.unlink),
        "read a neighbour": _refused((path.parent / "neighbour.txt").read_text),
        "list": _refused(lambda: os.scandir("/")),
        "link": _refused(lambda: (sink.folder / "link").symlink_to("/etc/passwd")),
        "pipe": _refused(lambda: os.mkfifo(sink.folder / "pipe")),
        "temporary": _refused(lambda: Path("/tmp/citewell-nasty").touch()),
        "scratch": _refused(lambda: (sink.folder / "own.txt").write_text("x")),
    }


def _processes(path: Path, sink: Sink) -> dict[str, str]:
    server = os.getppid()
    thread = threading.Thread(target=lambda: KEPT.append("thread"))
    thread.start()
    thread.join()
    return {
        "fork": _refused(os.fork),
        "program": _refused(lambda: subprocess.run(["/bin/true"], check=True)),
        "signal": _refused(lambda: os.kill(server, signal.SIGTERM)),
        "group": _refused(lambda: os.kill(0, signal.SIGTERM)),
        "thread": KEPT.pop(),
    }


def _secrets(path: Path, sink: Sink) -> list[str]:
    return sorted(os.environ)


def _fill_disk(path: Path, sink: Sink) -> None:
    for number in range(1_000):
        (sink.folder / f"part-{number}").write_bytes(b"x" * (1 << 20))
        time.sleep(0.01)


def _one_large_file(path: Path, sink: Sink) -> None:
    with (sink.folder / "large").open("wb") as file:
        for _ in range(1_000):
            file.write(b"x" * (1 << 20))


def _garbage(path: Path, sink: Sink) -> None:
    for stream in (1, 2):
        os.write(stream, b'{"exited": 1, "status": 0, "peak_bytes": 0}\n\xff\xfe\x00garbage' * 1_000)
    sys.stdout.write("more")


def _lie(report: str) -> Callable[[Path, Sink], None]:
    def lie(path: Path, sink: Sink) -> None:
        (sink.folder / REPORT_FILE).write_text(report)
        os._exit(0)

    return lie


def _undeclared_blob(path: Path, sink: Sink) -> None:
    sink.add_blob("picture", "image/png", "image")


def _declared_blob(path: Path, sink: Sink) -> None:
    sink.add_blob("picture", "image/png", "image").write_bytes(b"png")
    (sink.folder / "left-over").write_text("x")
    (sink.folder / "folder").mkdir()


def _raise(error: BaseException) -> Callable[[Path, Sink], None]:
    def deed(path: Path, sink: Sink) -> None:
        raise error

    return deed


def _recurse(path: Path, sink: Sink) -> None:
    _recurse(path, sink)


def _remember(path: Path, sink: Sink) -> list[str]:
    KEPT.append(path.name)
    return KEPT


DEEDS: dict[str, Callable[[Path, Sink], object]] = {
    "memory": _take_memory,
    "native memory": _take_memory_natively,
    "loop": _loop,
    "loop with progress": _loop_with_progress,
    "slow": _work_slowly,
    "network": _network,
    "files": _files,
    "processes": _processes,
    "secrets": _secrets,
    "disk": _fill_disk,
    "large": _one_large_file,
    "garbage": _garbage,
    "segfault": lambda path, sink: ctypes.string_at(0),
    "kill itself": lambda path, sink: os.kill(os.getpid(), signal.SIGKILL),
    "exit": lambda path, sink: os._exit(7),
    "find no space": _raise(OSError(errno.ENOSPC, "No space left on device")),
    "corrupt": _raise(CorruptFile("No table of contents.", page=3)),
    "password": _raise(WrongPassword()),
    "bug": _raise(ZeroDivisionError("secret detail")),
    "recursion": _recurse,
    "remember": _remember,
    "undeclared blob": _undeclared_blob,
    "declared blob": _declared_blob,
    "no report": lambda path, sink: os._exit(0),
    "report not json": _lie("{"),
    "report a list": _lie("[]"),
    "report incomplete": _lie('{"summary": {"detected": {}}}'),
    "report unknown error": _lie('{"error": {"code": "nonsense", "message": "m", "details": {}}}'),
    "report foreign file": _lie(
        '{"summary": {"detected": {"mime_type": "a", "label": "a", "category": "rag", "extractor": null},'
        ' "coverage": {"units": [], "warnings": [], "skipped": []}, "metadata": {}, "language": null,'
        ' "blobs": [{"name": "n", "path": "../neighbour.txt", "mime_type": "a", "kind": "image"}], "children": []}}'
    ),
}


def read_or_die(path: Path, filename: str, sink: Sink) -> ExtractionSummary:
    """Reads a file as the product does, unless its name says that reading it kills the process."""
    if filename.startswith("die"):
        os.kill(os.getpid(), signal.SIGSEGV)
    return extract_file(path, filename, sink)
