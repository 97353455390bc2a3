"""1,000 uploads that bring a few bytes now and then: the server's memory, what is refused, and whether somebody else is served meanwhile.

usage: .venv/bin/python benchmarks/slow_uploads.py [--uploads 1000] [--owners 4] [--seconds 60] [--megabytes 64] [--open-files 1024]

Every upload announces `--megabytes` and brings a kilobyte in turns. Refused ones must say 429 with `Retry-After`; the others must stay. A
further owner searches and, where there is room, uploads a note. open-files: the soft limit with which the server starts. The exit code is 1 for an
answer of 5xx, for a refusal without `Retry-After`, and for more than `--most-mb` of memory beyond what the server held before.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import secrets
import selectors
import socket
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

import httpx
import report
import server

BOUNDARY = "b0undary"
FILE_HEAD = f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="slow.txt"\r\n\r\n'.encode()
PIECE = b"slow " * 200
SHELL = 'ulimit -Sn "$0"; exec "$@"'


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--uploads", type=int, default=1_000)
    parser.add_argument("--owners", type=int, default=4)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--megabytes", type=int, default=64)
    parser.add_argument("--open-files", type=int, default=1_024)
    parser.add_argument("--most-mb", type=float, default=128)
    options = parser.parse_args()
    secret = secrets.token_hex(32)
    os.environ["CITEWELL_AUTH_SECRET"] = secret
    command = ("/bin/bash", "-c", SHELL, str(options.open_files), sys.executable, "-m", "citewell.cli")
    with tempfile.TemporaryDirectory(prefix="citewell-bench-") as scratch:
        data = Path(scratch) / "data"
        with server.serving(data, command) as ours:
            result = measure(ours, data, secret, options)
        log = data.with_suffix(".log").read_text(encoding="utf-8", errors="replace")
    result["tracebacks"] = log.count("Traceback")
    print(json.dumps({"machine": report.machine()} | result, indent=1))
    grown = result["peak_mb"] - result["before_mb"]
    server_errors = any(key.startswith("5") for key in result["answers"]) or result["others_not_served"]
    return int(bool(server_errors or result["without_retry_after"] or grown > options.most_mb))


def measure(ours: server.Server, data: Path, secret: str, options: argparse.Namespace) -> dict[str, Any]:
    """Open all, feed them in turns, and look."""
    other = httpx.Client(
        base_url=f"http://127.0.0.1:{ours.port}", headers=server.bearer(secret, "somebody else"), timeout=60
    )
    other.post("/ingest", files={"file": ("note.txt", b"The gate code is 4711.")}).raise_for_status()
    other.post("/search", json={"query": "gate code"}).raise_for_status()
    before = peak = memory_mb(ours.pid)
    selector = selectors.DefaultSelector()
    answers: Counter[str] = Counter()
    without, most_spooled, not_served = 0, 0, 0
    for n in range(options.uploads):
        selector.register(
            begin(ours.port, server.bearer(secret, f"owner {n % options.owners}"), options.megabytes),
            selectors.EVENT_READ,
        )
        without += hear(selector, answers)
    end = time.monotonic() + options.seconds
    while time.monotonic() < end:
        without += hear(selector, answers)
        for key in list(selector.get_map().values()):
            feed(key.fileobj)
        not_served += other.post("/search", json={"query": "gate code"}).status_code != 200
        most_spooled = max(most_spooled, sum(1 for _ in (data / "uploads").iterdir()))
        peak = max(peak, memory_mb(ours.pid))
        time.sleep(0.5)
    left = len(selector.get_map())
    for key in list(selector.get_map().values()):
        key.fileobj.close()
    return {
        "uploads": options.uploads, "owners": options.owners, "open_files": options.open_files, "under_way_at_the_end": left,
        "answers": dict(answers), "without_retry_after": without, "most_spooled": most_spooled, "others_not_served": not_served,
        "before_mb": round(before, 1), "peak_mb": round(peak, 1),
    }  # fmt: skip


def begin(port: int, headers: dict[str, str], megabytes: int) -> socket.socket:
    connection = socket.create_connection(("127.0.0.1", port), timeout=60)
    head = f"POST /ingest HTTP/1.1\r\nHost: x\r\nAuthorization: {headers['Authorization']}\r\n"
    head += (
        f"Content-Length: {megabytes * 1024 * 1024}\r\nContent-Type: multipart/form-data; boundary={BOUNDARY}\r\n\r\n"
    )
    connection.sendall(head.encode() + FILE_HEAD)
    connection.setblocking(False)
    return connection


def feed(connection: socket.socket) -> None:
    with contextlib.suppress(OSError):  # what is said about it is read in the next turn
        connection.send(PIECE)


def hear(selector: selectors.BaseSelector, answers: Counter[str]) -> int:
    """Count what was answered; how many refusals do not say when to try again."""
    without = 0
    for key, _ in selector.select(timeout=0):
        selector.unregister(key.fileobj)
        answer = heard(key.fileobj)
        answers[answer.split(" ")[1] if answer else "closed"] += 1
        without += answer.startswith("HTTP/1.1 429") and "retry-after:" not in answer.lower()
    return without


def heard(connection: socket.socket) -> str:
    """The head of an answer; nothing where the server has closed."""
    with connection:
        try:
            return connection.recv(4_096).decode("latin-1")
        except OSError:
            return ""


def memory_mb(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    return int(status.partition("VmRSS:")[2].split()[0]) / 1024


if __name__ == "__main__":
    sys.exit(main())
