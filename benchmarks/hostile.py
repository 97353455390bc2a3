"""Hostile files through a whole server in a network of its own: does each end, with a reason, within limits, and without a packet?

    python benchmarks/hostile.py FOLDER… [--each]      # Linux, with unshare and ip; all files below the folders

The server and this client share a network that has a loopback alone, which is also the way to everywhere else: whatever the server
or a parser sends to any address is captured there. Counted are packets that are not between client and server, and what parsers,
which live in networks of their own, sent there. A file has 60 seconds, those inside it included.
"""

from __future__ import annotations

import argparse
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import server
from parsers import Parsers

_INSIDE = "CITEWELL_BENCH_OWN_NETWORK"
_LIMIT_SECONDS = 60
_ALL_PROTOCOLS = 3
_IPV4, _IPV6 = 0x0800, 0x86DD
_PORTED = {6, 17}
_TICK = 0.1


@dataclass
class Packets:
    """Captures what passes the loopback and is not between client and server."""

    port: int
    foreign: Counter[str] = field(default_factory=Counter[str])
    own: int = 0

    def __post_init__(self) -> None:
        self._socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(_ALL_PROTOCOLS))
        self._socket.bind(("lo", 0))
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self) -> None:
        while True:
            frame, sender = self._socket.recvfrom(1 << 16)
            if sender[2] != socket.PACKET_OUTGOING:
                continue
            if self.port in _ports(frame):
                self.own += 1
            else:
                self.foreign[_described(frame)] += 1


def _ports(frame: bytes) -> tuple[int, ...]:
    """Source and destination port of a TCP or UDP packet behind an Ethernet header."""
    kind = int.from_bytes(frame[12:14], "big")
    if kind == _IPV4 and frame[23] in _PORTED:
        start = 14 + 4 * (frame[14] & 15)
    elif kind == _IPV6 and frame[20] in _PORTED:
        start = 54
    else:
        return ()
    return int.from_bytes(frame[start : start + 2], "big"), int.from_bytes(frame[start + 2 : start + 4], "big")


def _described(frame: bytes) -> str:
    """Where an Ethernet frame goes: protocol number, address and ports."""
    kind = int.from_bytes(frame[12:14], "big")
    if kind == _IPV4:
        return f"protocol {frame[23]} to {socket.inet_ntop(socket.AF_INET, frame[30:34])} {_ports(frame)}"
    if kind == _IPV6:
        return f"protocol {frame[20]} to {socket.inet_ntop(socket.AF_INET6, frame[38:54])} {_ports(frame)}"
    return f"frame of type {kind:#06x}"


@dataclass(frozen=True)
class Outcome:
    """What became of a file: its state or the HTTP status, the reason, and the seconds until it and its children had ended."""

    name: str
    state: str
    reason: str
    seconds: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--each", action="store_true", help="print the outcome of every file")
    options = parser.parse_args()
    if _INSIDE not in os.environ:
        kind = ("--net",) if os.geteuid() == 0 else ("--net", "--map-root-user")
        sys.exit(
            subprocess.run(["unshare", *kind, sys.executable, *sys.argv], env={**os.environ, _INSIDE: "1"}).returncode
        )
    for command in ("link set lo up", "route add default dev lo", "-6 route add default dev lo"):
        subprocess.run(["ip", *command.split()], check=True)
    files = sorted(path for folder in options.folders for path in folder.rglob("*") if path.is_file())
    print(json.dumps(measure(files, options.each)))


def measure(files: list[Path], each: bool) -> dict[str, object]:
    with tempfile.TemporaryDirectory(prefix="citewell-bench-") as scratch:
        data = Path(scratch) / "data"
        with server.serving(data) as up:
            packets, parsers = Packets(up.port), Parsers(up.pid)
            assert_captured(packets)
            outcomes = [upload(up.client(), path) for path in files]
            alive = up.client().get("/health").status_code == 200
            time.sleep(1)
        astray = [
            str(path)
            for path in Path(scratch).rglob("*")
            if data not in path.parents and path not in (data, data.with_suffix(".log"))
        ]
    if each:
        for outcome in outcomes:
            print(f"{outcome.seconds:6.1f} s  {outcome.state:10} {outcome.reason:24} {outcome.name}")
    return {
        "files": len(outcomes),
        "ended_in_time": sum(outcome.seconds < _LIMIT_SECONDS for outcome in outcomes),
        "longest_seconds": round(max(outcome.seconds for outcome in outcomes), 1),
        "without_reason": [o.name for o in outcomes if o.state in ("failed", "partial", "stored") and not o.reason],
        "states": dict(Counter(outcome.state for outcome in outcomes)),
        "server_alive": alive,
        "parser_peak_mb": round(parsers.peak_mb),
        "packets_captured": packets.own,
        "packets_to_others": dict(packets.foreign),
        "packets_in_parsers_networks": parsers.packets,
        "files_astray": astray,
    }


def assert_captured(packets: Packets) -> None:
    """One packet to an address far away must be seen, or the count would mean nothing."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.sendto(b"probe", ("192.0.2.1", 53))
    deadline = time.monotonic() + 5
    while not packets.foreign:
        if time.monotonic() > deadline:
            raise RuntimeError("A packet that was sent was not captured.")
        time.sleep(0.01)
    packets.foreign.clear()


def upload(client: httpx.Client, path: Path) -> Outcome:
    """Upload a file and wait until it and the files inside it have ended."""
    started = time.monotonic()
    with path.open("rb") as file:
        answer = client.post("/ingest", files={"file": (path.name, file)})
    if answer.is_error:
        return Outcome(path.name, str(answer.status_code), answer.json()["error"]["code"], time.monotonic() - started)
    resource = client.get(f"/resources/{answer.json()['id']}").json()
    while time.monotonic() - started < 2 * _LIMIT_SECONDS:
        resource = client.get(f"/resources/{resource['id']}").json()
        if resource["status"] in server.TERMINAL and not open_resources(client):
            break
        time.sleep(_TICK)
    reason = resource["error_code"] or (resource.get("extraction_metadata") or {}).get("reason") or ""
    return Outcome(path.name, resource["status"], str(reason), time.monotonic() - started)


def open_resources(client: httpx.Client) -> bool:
    found = client.get("/resources", params={"limit": 500, "fields": "summary"}).raise_for_status().json()["resources"]
    return any(resource["status"] not in server.TERMINAL for resource in found)


if __name__ == "__main__":
    main()
