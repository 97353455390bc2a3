"""Locks this process down, tries what a parser must not do, and prints the outcome as JSON. Run by `capabilities`."""

from __future__ import annotations

import json
import os
import socket
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

from citewell.extract.sandbox import ParserLimits, Protection, landlock, leave_network, lock_down, seccomp


def _trial(scratch: Path) -> list[Protection]:
    """Locks this process down, then tries."""
    own_namespaces = leave_network()
    lock_down(ParserLimits(), sources=[scratch], scratch=scratch, own_user_namespace=own_namespaces)
    offered = landlock.version()
    filtered = "seccomp" if seccomp.is_offered() else "no seccomp on this machine"
    network = "network namespace" if own_namespaces else "no network namespace (unprivileged ones are not allowed here)"
    files = f"Landlock version {offered}" if offered else "no Landlock in this kernel (5.13 or later has it)"
    return [
        Protection("no network", _is_refused(_connect), f"{network}, {filtered}"),
        Protection("writes only to its scratch folder", _is_refused(_write_outside), files),
        Protection("reads only its file and Python's", _is_refused(_read_outside), files),
        Protection("starts no program or process", _is_refused(os.fork), filtered),
        Protection("signals no other process", _is_refused(_signal_parent), f"{filtered}, {files}"),
        Protection("memory, processor time, file size", _is_refused(_take_memory), "resource limits"),
    ]


def _is_refused(attempt: Callable[[], object]) -> bool:
    try:
        result = attempt()
    except (OSError, MemoryError):
        return True
    if attempt is os.fork and result == 0:
        os._exit(0)
    return False


def _connect() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(("192.0.2.1", 9))


def _write_outside() -> None:
    Path(sys.argv[1]).with_name(f"citewell-trial-{os.getpid()}").touch()


def _read_outside() -> None:
    os.listdir("/")  # noqa: PTH208


def _signal_parent() -> None:
    os.kill(os.getppid(), 0)


def _take_memory() -> None:
    bytearray(8 << 30)


if __name__ == "__main__":
    sys.stdout.write(json.dumps([asdict(item) for item in _trial(Path(sys.argv[1]))]))
