"""A real disk that fills up while a server works on it: `unshare -rm python benchmarks/full_disk.py` (or as root).

Mounts a small tmpfs, uploads without a pause, and fills and clears the disk at random moments. In the end everything that was
acknowledged has to be indexed, the index has to hold exactly the chunks of SQL, the server must not have ended, and its log,
which is kept elsewhere, must hold no traceback. Prints what it saw, and exits with 1 when one of these is not so.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import httpx

sys.path.insert(0, str(Path(__file__).parent.parent))
from tests.server.running import RunningServer

_WORDS = [
    "loan",
    "bank",
    "tree",
    "river",
    "market",
    "stall",
    "paper",
    "cloud",
    "harvest",
    "ledger",
    "quarter",
    "season",
]
_TERMINAL = {"indexed", "analyzed", "failed", "partial", "stored"}


class Disk:
    """A folder of its own on a small tmpfs, and a file that fills it."""

    def __init__(self, megabytes: int) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="full-disk-"))
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", str(self.folder)], check=True)
        self._filler = self.folder / "filler"

    def fill(self, leave: int) -> None:
        with contextlib.suppress(OSError), self._filler.open("ab", buffering=0) as file:
            while (free := self.free()) > leave:
                file.write(b"x" * min(1 << 20, free - leave))

    def clear(self) -> None:
        self._filler.unlink(missing_ok=True)

    def free(self) -> int:
        found = os.statvfs(self.folder)
        return found.f_bavail * found.f_frsize

    def remove(self) -> None:
        subprocess.run(["umount", "-l", str(self.folder)], check=True)
        self.folder.rmdir()


def _document(number: int) -> tuple[str, bytes]:
    chance = random.Random(number)
    if number % 5 == 4:
        rows = "\n".join(f"{i},{chance.choice(_WORDS)},{chance.random()}" for i in range(40))
        return f"{number}.csv", f"id,word,amount\n{rows}\n".encode()
    text = "\n\n".join(" ".join(chance.choice(_WORDS) for _ in range(60)) for _ in range(4))
    return f"{number}.md", f"# {number}\n\n{text}\n".encode()


def _upload(server: RunningServer, stop: threading.Event, seen: collections.Counter[str], kept: set[str]) -> None:
    number = 0
    with httpx.Client(base_url=server.url, headers=server.client.headers, timeout=60) as client:
        while not stop.is_set():
            number += 1
            try:
                answer = client.post("/ingest", files={"file": _document(number)})
            except httpx.TransportError as error:
                seen[f"upload: {type(error).__name__}"] += 1
                continue
            seen[f"upload: {answer.status_code}"] += 1
            if answer.status_code in (200, 201):
                kept.add(answer.json()["id"])
            time.sleep(0.05)


def _read(server: RunningServer, stop: threading.Event, seen: collections.Counter[str]) -> None:
    with httpx.Client(base_url=server.url, headers=server.client.headers, timeout=60) as client:
        while not stop.is_set():
            try:
                seen[f"search: {client.post('/search', json={'query': 'market stall'}).status_code}"] += 1
            except httpx.TransportError as error:
                seen[f"search: {type(error).__name__}"] += 1
            time.sleep(0.1)


def _settled(server: RunningServer, seconds: float) -> collections.Counter[str]:
    end = time.monotonic() + seconds
    while True:
        states = collections.Counter(resource["status"] for resource in server.resources())
        if states.keys() <= _TERMINAL or time.monotonic() > end:
            return states
        time.sleep(0.5)


def _run(disk: Disk, log: Path, rounds: int, seed: int) -> list[str]:
    chance, wrong, seen, kept = random.Random(seed), list[str](), collections.Counter[str](), set[str]()
    server = RunningServer(disk.folder / "data", CITEWELL_RESERVED_DISK_BYTES=str(40 << 20))
    (disk.folder / "data.log").symlink_to(log)
    server.start()
    stop = threading.Event()
    threads = [
        threading.Thread(target=_upload, args=(server, stop, seen, kept)),
        threading.Thread(target=_read, args=(server, stop, seen)),
    ]
    for thread in threads:
        thread.start()
    for _ in range(rounds):
        time.sleep(chance.uniform(0.5, 3))
        disk.fill(leave=chance.choice([0, 0, 1 << 12, 1 << 16, 1 << 20, 8 << 20, 36 << 20]))
        time.sleep(chance.uniform(1, 4))
        disk.clear()
    stop.set()
    for thread in threads:
        thread.join()
    states = _settled(server, 300)
    print(f"{disk.free() >> 20} MiB free at the end")
    print(f"{rounds} times full; {dict(seen)}; {len(kept)} acknowledged; {dict(states)}")
    if server.ended():
        wrong.append("the server ended")
    found = {resource["id"]: resource for resource in server.resources()}
    wrong += [f"{key} is gone" for key in kept - found.keys()]
    wrong += [
        f"{r['filename']}: {r['status']} {r['error_code']}"
        for r in found.values()
        if r["status"] not in ("indexed", "analyzed")
    ]
    chunks = sum(resource["chunk_count"] for resource in found.values())
    server.stop()
    points = _points(server)
    print(f"{chunks} chunks in SQL, {points} points in the index")
    if chunks != points:
        wrong.append("SQL and index differ")
    if "Traceback" in log.read_text(errors="replace"):
        wrong.append("a traceback in the log")
    return wrong


def _points(server: RunningServer) -> int:
    import asyncio

    from citewell.adapters.index.qdrant_edge import QdrantEdgeIndex

    async def count() -> int:
        index = await QdrantEdgeIndex.open(next((server.data / "indexes").iterdir()), 384)
        try:
            return await index.count()
        finally:
            await index.close()

    return asyncio.run(count())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--megabytes", type=int, default=1_000)
    parser.add_argument("--log", type=Path, default=Path(tempfile.gettempdir()) / "full-disk.log")
    chosen = parser.parse_args()
    chosen.log.write_text("")
    disk = Disk(chosen.megabytes)
    try:
        wrong = _run(disk, chosen.log, chosen.rounds, chosen.seed)
    finally:
        disk.remove()
    print("\n".join(wrong) or "nothing wrong")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
