"""Kernel resource limits of a parser process."""

from __future__ import annotations

import resource
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

_GIB = 1 << 30


@dataclass(frozen=True, slots=True, kw_only=True)
class ParserLimits:
    """Limits of one parser process (see `docs/configuration.md`).

    memory_bytes:   private writable memory (RLIMIT_DATA). Address space (RLIMIT_AS) is also limited, to this plus the
                    template's mappings plus `reserved_bytes`: native readers map libraries and reserve much memory that
                    they never touch, so a limit on address space alone would reject harmless files or allow twice the
                    memory.
    stall_seconds:  wall clock without progress
    total_seconds:  wall clock overall, and processor time
    scratch_bytes:  everything it writes, in total and per file
    """

    memory_bytes: int = 2 * _GIB
    reserved_bytes: int = 4 * _GIB
    stall_seconds: float = 60.0
    total_seconds: float = 600.0
    scratch_bytes: int = 2 * _GIB
    open_files: int = 256
    processes: int = 256
    niceness: int = 10


def apply(limits: ParserLimits, *, own_user_namespace: bool) -> None:
    """Sets this process's resource limits, soft and hard, so that it cannot raise them again.

    The number of processes is limited only in a user namespace: elsewhere the kernel counts all the user's processes.
    """
    seconds = max(1, int(limits.total_seconds))
    _set(resource.RLIMIT_CORE, 0)
    _set(resource.RLIMIT_FSIZE, limits.scratch_bytes)
    _set(resource.RLIMIT_NOFILE, limits.open_files)
    _set(resource.RLIMIT_DATA, limits.memory_bytes)
    _set(resource.RLIMIT_AS, _mapped_bytes() + limits.memory_bytes + limits.reserved_bytes)
    _set(resource.RLIMIT_CPU, seconds, seconds + 5)
    if own_user_namespace:
        _set(resource.RLIMIT_NPROC, limits.processes)


def prefer_in_shortage() -> None:
    """Has the kernel kill this process first when the machine runs out of memory."""
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000")


def _set(which: int, soft: int, hard: int | None = None) -> None:
    _, present = resource.getrlimit(which)
    ceiling = soft if hard is None else hard
    if present != resource.RLIM_INFINITY:
        soft, ceiling = min(soft, present), min(ceiling, present)
    resource.setrlimit(which, (soft, ceiling))


def _mapped_bytes() -> int:
    with suppress(OSError):
        return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    return 0
