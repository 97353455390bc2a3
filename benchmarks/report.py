"""What was measured of systems on one PDF: as JSON, as a table for the terminal, and as Markdown."""

from __future__ import annotations

import os
import platform
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from systems import OURS, Measured

HEADER = ("System", "Seconds", "Pages/s", "CPU s", "Peak MB", "Chunks", "Query p50 ms", "p95 ms", "Found")
PICTURES = (
    ("ingest.svg", "Seconds until the file can be searched", "ingest_seconds", "s"),
    ("memory.svg", "Peak memory", "peak_mb", "MB"),
    ("query.svg", "Search, median", "query_p50_ms", "ms"),
)
FOUND = (
    "*Found* is the share of queries (spans of seven to twelve words from the file) whose text is in one of the ten passages "
    "returned. *CPU s* of a peer includes loading its model; Citewell loads it when the server starts."
)


def machine() -> dict[str, object]:
    """The machine that the figures are from."""
    names = [
        line for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines() if line.startswith("model name")
    ]
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "cpu": names[0].partition(": ")[2] if names else platform.machine(),
        "cores": os.cpu_count(),
        "memory_gb": round(memory / 1024**3),
        "system": f"{platform.system()} {platform.release().partition('-')[0]}, Python {platform.python_version()}",
    }


def percentile(values: Sequence[float], percent: int) -> float:
    """The nearest-rank percentile."""
    ranked = sorted(values)
    return ranked[max(0, -(-len(ranked) * percent // 100) - 1)]


def median(measured: Sequence[Measured]) -> Measured:
    """The run with the median ingest time."""
    middle = statistics.median_low([one.ingest_seconds for one in measured])
    return next(one for one in measured if one.ingest_seconds == middle)


def as_json(measured: Sequence[Measured], facts: Mapping[str, object]) -> dict[str, Any]:
    """Everything measured, and the machine it was measured on."""
    systems = []
    for one in measured:
        values = asdict(one)
        times = values.pop("query_ms")
        values |= {"query_p50_ms": percentile(times, 50), "query_p95_ms": percentile(times, 95)}
        systems.append({key: round(value, 4) if isinstance(value, float) else value for key, value in values.items()})
    return {"date": datetime.now(UTC).date().isoformat(), "machine": machine(), **facts, "systems": systems}


def rows(result: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """One row per system under `HEADER`."""
    return [
        (
            one["system"],
            f"{one['ingest_seconds']:.1f}",
            f"{result['pages'] / one['ingest_seconds']:.0f}",
            f"{one['cpu_seconds']:.0f}",
            f"{one['peak_mb']:.0f}",
            f"{one['chunks']:,}",
            f"{one['query_p50_ms']:.1f}",
            f"{one['query_p95_ms']:.1f}",
            f"{one['found']:.0%}",
        )
        for one in result["systems"]
    ]


def terminal(header: Sequence[str], body: Sequence[Sequence[str]]) -> str:
    """A table of plain text: the first column to the left, the others to the right."""
    widths = [max(len(row[i]) for row in [header, *body]) for i in range(len(header))]
    lines = []
    for row in [header, *body]:
        cells = [cell.rjust(width) for cell, width in zip(row, widths, strict=True)]
        lines.append("  ".join([row[0].ljust(widths[0]), *cells[1:]]))
    return "\n".join([lines[0], "-" * len(lines[0]), *lines[1:]])


def ratios(systems: Sequence[Mapping[str, Any]]) -> list[str]:
    """How many times as much the peers need."""
    ours = next(one for one in systems if one["system"] == OURS)
    body = [
        (
            one["system"],
            f"{one['ingest_seconds'] / ours['ingest_seconds']:.1f}×",
            f"{one['cpu_seconds'] / ours['cpu_seconds']:.1f}×",
            f"{one['peak_mb'] / ours['peak_mb']:.1f}×",
            f"{one['query_p50_ms'] / ours['query_p50_ms']:.1f}×",
        )
        for one in systems
        if one is not ours
    ]
    header = ("Beside Citewell", "Time until searchable", "CPU time", "Peak memory", "Time per search")
    return [markdown(header, body)] if body else []


def figures(result: Mapping[str, Any]) -> list[str]:
    """Absolute figures, and the machine they are from."""
    host = result["machine"]
    parts = [
        f"{result['pages']:,} pages, {result['megabytes']:.1f} MB, {result['queries']} queries; {host['cpu']}, {host['cores']} "
        f"cores, {host['memory_gb']} GB; {host['system']}; {result['date']}. System load before each run: "
        f"{', '.join(str(load) for load in result['load_before'])}.",
        markdown(HEADER, rows(result)),
        FOUND,
    ]
    parts += [
        f"Embedding {one['system']}'s chunks alone takes {one['embed_alone_seconds']:.1f} s in the same run; "
        f"upload to searchable takes {one['ingest_seconds'] / one['embed_alone_seconds']:.2f}× that."
        for one in result["systems"]
        if one["embed_alone_seconds"]
    ]
    return parts


def versions(systems: Sequence[Mapping[str, Any]]) -> list[str]:
    """Which version of each package was measured."""
    packages = dict.fromkeys(f"{name} {version}" for one in systems for name, version in one["versions"].items())
    return ["Versions: " + ", ".join(packages) + "."]


def markdown(header: Sequence[str], body: Sequence[Sequence[str]]) -> str:
    """A table in Markdown."""
    ruler = ["---", *["---:"] * (len(header) - 1)]
    return "\n".join("| " + " | ".join(row) + " |" for row in [header, ruler, *body])
