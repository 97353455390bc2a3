"""Runs a process to its end and watches what it and its children use: seconds of CPU, and memory at its peak."""

from __future__ import annotations

import os
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

_INTERVAL = 0.2


@dataclass(frozen=True)
class Usage:
    """What a process tree used: user plus system seconds, and MB (proportional set size, sampled five times a second)."""

    cpu_seconds: float
    peak_mb: float


class Watch:
    """Samples a process tree's memory until `stop`. Shared pages count once: each process has its share of them."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._peak_kb = self._peak_anonymous_kb = 0
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    @property
    def peak_mb(self) -> float:
        return self._peak_kb / 1024

    @property
    def peak_anonymous_mb(self) -> float:
        """Without what is mapped from files, which the system can take back at any time."""
        return self._peak_anonymous_kb / 1024

    def stop(self) -> None:
        self._ended.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._ended.wait(_INTERVAL):
            used = [_memory_kb(pid) for pid in tree(self._pid)]
            self._peak_kb = max(self._peak_kb, sum(whole for whole, _ in used))
            self._peak_anonymous_kb = max(self._peak_anonymous_kb, sum(anonymous for _, anonymous in used))


def run(command: Sequence[str | Path], log: Path, environment: Mapping[str, str] | None = None) -> Usage:
    """Run to the end; `RuntimeError` with the log's last lines when it fails."""
    with log.open("w", encoding="utf-8") as output:
        process = subprocess.Popen(
            [str(part) for part in command],
            stdout=output,
            stderr=subprocess.STDOUT,
            env={**os.environ, **(environment or {})},
        )
        watch = Watch(process.pid)
        usage = wait(process)
        watch.stop()
    if process.returncode:
        tail = "\n".join(log.read_text(encoding="utf-8", errors="replace").splitlines()[-15:])
        raise RuntimeError(f"{command[0]} ended with {process.returncode}:\n{tail}")
    return Usage(usage, watch.peak_mb)


def wait(process: subprocess.Popen[bytes]) -> float:
    """Wait for the end; user plus system seconds of the process and of the children it waited for."""
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return usage.ru_utime + usage.ru_stime


def cpu_seconds(pid: int) -> float:
    """User plus system seconds so far of a process, its living descendants, and the children they waited for."""
    ticks = 0
    for member in tree(pid):
        try:
            fields = Path(f"/proc/{member}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        except OSError:
            continue
        ticks += sum(int(field) for field in fields[11:15])
    return ticks / os.sysconf("SC_CLK_TCK")


def quiet(seconds: float = 60) -> float:
    """Wait, at most so long, until the machine is idle enough to measure; its load over the last minute."""
    deadline = time.monotonic() + seconds
    while os.getloadavg()[0] > 1 and time.monotonic() < deadline:
        time.sleep(2)
    return os.getloadavg()[0]


def tree(pid: int) -> list[int]:
    """A process and its descendants."""
    pids = [pid]
    for known in pids:
        try:
            for task in Path(f"/proc/{known}/task").iterdir():
                pids += [int(child) for child in (task / "children").read_text(encoding="utf-8").split()]
        except OSError:
            continue
    return pids


def _memory_kb(pid: int) -> tuple[int, int]:
    """Proportional set size, and the part of it that is not mapped from files."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="utf-8").splitlines()
    except OSError:
        return 0, 0
    fields = {line.split()[0]: line.split()[1] for line in lines[1:]}
    return int(fields["Pss:"]), int(fields["Pss_Anon:"])
