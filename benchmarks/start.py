"""How soon `citewell serve` answers, and what `citewell ask` and `citewell search` add to the request that they make.

usage: .venv/bin/python benchmarks/start.py [--starts 9] [--repeats 9] [--samples samples] [--against OTHER/.venv/bin/citewell]

Starts: seconds until `/health` answers, CPU seconds of the server and its parsers until then, the first and the second question after it, and the first
where it comes two seconds later. Commands: their wall time less that of the same request over a connection that is open already, and their CPU seconds.
Medians, with byte code at hand. With `--against` the commands of another installation take turns with these: on a machine with other work only their
ratio says something.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import report
import server
from process import quiet

ROOT = Path(__file__).resolve().parent.parent
QUESTION = "What is the maximum loan size for first-time borrowers?"
COMMANDS = {"ask": ("/chat", "message"), "search": ("/search", "query")}
HEADER = ("Installation", "Measured", "Wall s", "CPU s", "n")
_PAUSE = 0.01
_REST = 2.0
WARM = 2
"""Repeats that do not count: the first answers of a server take longer."""


@dataclass
class Figures:
    """What was measured of one installation, by what was measured: seconds, and CPU seconds."""

    wall: dict[str, list[float]] = field(default_factory=dict[str, list[float]])
    cpu: dict[str, list[float]] = field(default_factory=dict[str, list[float]])

    def add(self, name: str, wall: float, cpu: float | None = None) -> None:
        self.wall.setdefault(name, []).append(wall)
        if cpu is not None:
            self.cpu.setdefault(name, []).append(cpu)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--starts", type=int, default=9)
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--samples", type=Path, default=ROOT / "samples", help="the files that are asked about")
    parser.add_argument("--against", type=Path, help="the command of another installation")
    options = parser.parse_args()
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # without byte code every start compiles its modules again
    installations = [server.CITEWELL, *([options.against] if options.against else [])]
    found = {str(command): Figures() for command in installations}
    load = quiet()
    with tempfile.TemporaryDirectory(prefix="citewell-bench-") as scratch:
        folders = {str(command): Path(scratch) / str(number) for number, command in enumerate(installations)}
        for command, data in folders.items():  # the first start makes the folder, and byte code
            with server.serving(data, (command,)):
                subprocess.run([command, "add", options.samples, "--data", data], check=True, stdout=subprocess.DEVNULL)
        for _ in range(options.starts):
            for command, figures in found.items():
                start(figures, command, folders[command])
                rested(figures, command, folders[command])
        commands(found, folders, options.repeats)
    rows = [row for command, figures in found.items() for row in rows_of(command, figures)]
    print(json.dumps({"machine": report.machine(), "load_before": load}), file=sys.stderr)
    print(report.terminal(HEADER, rows))


def start(figures: Figures, command: str, data: Path) -> None:
    """One start of the server, and the first two questions to it."""
    with server.serving(data, (command,), pause=_PAUSE) as ours, ours.client() as client:
        figures.add("/health after the start", ours.start_seconds, ours.start_cpu_seconds)
        for name in ("first question", "second question"):
            figures.add(name, ask(client))


def rested(figures: Figures, command: str, data: Path) -> None:
    """One start of the server, and a question to it that leaves it some time."""
    with server.serving(data, (command,), pause=_PAUSE) as ours, ours.client() as client:
        time.sleep(_REST)
        figures.add(f"first question after {_REST:g} s", ask(client))


def ask(client: httpx.Client) -> float:
    """Seconds of the question."""
    begun = time.perf_counter()
    client.post("/chat", json={"message": QUESTION}).raise_for_status()
    return time.perf_counter() - begun


def commands(found: Mapping[str, Figures], folders: Mapping[str, Path], repeats: int) -> None:
    """Each command and the request that it makes, of each installation in turn."""
    with ExitStack() as stack:
        servers = {command: stack.enter_context(server.serving(data, (command,))) for command, data in folders.items()}
        clients = {command: stack.enter_context(ours.client()) for command, ours in servers.items()}
        for name, (path, key) in COMMANDS.items():
            for number in range(repeats + WARM):
                for command, client in clients.items():
                    begun = time.perf_counter()
                    client.post(path, json={key: QUESTION}).raise_for_status()
                    asked = time.perf_counter() - begun
                    wall, cpu = run([command, name, QUESTION, "--data", str(folders[command])])
                    if number >= WARM:
                        found[command].add(f"{name}: beyond its request", wall - asked, cpu)
    for _ in range(repeats):
        for command, figures in found.items():
            figures.add("--help", *run([command, "--help"]))


def run(command: list[str]) -> tuple[float, float]:
    """Seconds and CPU seconds of a command."""
    before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    wall, after = time.perf_counter() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def rows_of(command: str, figures: Figures) -> list[tuple[str, ...]]:
    return [
        (
            command,
            name,
            f"{statistics.median(values):.3f}",
            f"{statistics.median(figures.cpu[name]):.3f}" if name in figures.cpu else "–",
            str(len(values)),
        )
        for name, values in figures.wall.items()
    ]


if __name__ == "__main__":
    main()
