"""Watches the parser processes below a process."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from pathlib import Path

import process

_TICK = 0.05


@dataclass
class Parsers:
    """Watches the parser processes below a process: the memory of each at its peak, and packets sent in their networks."""

    pid: int
    peak_mb: float = 0.0
    packets: int = 0

    def __post_init__(self) -> None:
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self) -> None:
        while True:
            for pid in process.tree(self.pid):
                self._look(pid)
            time.sleep(_TICK)

    def _look(self, pid: int) -> None:
        folder = Path(f"/proc/{pid}")
        try:
            if b"citewell.extract" not in (folder / "cmdline").read_bytes():
                return
            lines = (folder / "status").read_text(encoding="utf-8").splitlines()
            sent = (folder / "net/dev").read_text(encoding="utf-8").splitlines()[2:]
            is_apart = (folder / "ns/net").readlink() != Path("/proc/self/ns/net").readlink()
        except OSError:
            return
        peak = next((int(line.split()[1]) for line in lines if line.startswith("VmHWM:")), 0)
        self.peak_mb = max(self.peak_mb, peak / 1024)
        if is_apart:
            self.packets = max(self.packets, sum(int(line.split(":")[1].split()[9]) for line in sent))
