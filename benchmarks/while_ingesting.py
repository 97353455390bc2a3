"""`POST /search` while a large file is read, embedded and indexed: p50 and p99 beside those of the same server at rest.

usage: .venv/bin/python benchmarks/while_ingesting.py REPORT.pdf [--texts 2000] [--output FILE]
"""

from __future__ import annotations

import argparse
import json
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import http_search
import report
import server

from citewell import Citewell

RESULTS = Path(__file__).resolve().parent / "results"
HEADER = ("", "Searches", "p50 ms", "p95 ms", "p99 ms")
PAUSE = 0.02


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pdf", type=Path)
    parser.add_argument("--texts", type=int, default=2_000, help="records in the library that is searched")
    parser.add_argument("--output", type=Path, default=RESULTS / "while_ingesting.json")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="citewell-bench-") as scratch:
        data = Path(scratch) / "data"
        texts = http_search.sentences(seed=1)
        with Citewell(data) as library:
            library.add_texts({"id": str(i), "text": next(texts)} for i in range(options.texts))
        asked = http_search.sentences(seed=-1)
        queries = [" ".join(next(asked).split()[:8]) for _ in range(200)]
        with server.serving(data) as ours:
            search(ours, queries, seconds=3)
            rest = search(ours, queries, seconds=15)
            busy, ingest = search_during(ours, queries, options.pdf)
    result = {"rest": rest, "busy": busy, "ingest_s": ingest, "p99_ratio": busy["p99_ms"] / rest["p99_ms"]}
    print(
        report.terminal(HEADER, [row(name, result[key]) for name, key in (("at rest", "rest"), ("ingesting", "busy"))])
    )
    print(f"ingest {ingest:.1f} s, p99 ratio {result['p99_ratio']:.2f}")
    options.output.parent.mkdir(parents=True, exist_ok=True)
    options.output.write_text(json.dumps({"machine": report.machine()} | result, indent=1) + "\n", encoding="utf-8")


def search_during(ours: server.Server, queries: list[str], pdf: Path) -> tuple[dict[str, Any], float]:
    ended = threading.Event()
    took = [0.0]

    def ingest() -> None:
        started = time.perf_counter()
        with ours.client() as client:
            server.add_file(client, pdf)
        took[0] = time.perf_counter() - started
        ended.set()

    thread = threading.Thread(target=ingest)
    thread.start()
    busy = search(ours, queries, seconds=600, ended=ended)
    thread.join()
    return busy, took[0]


def search(
    ours: server.Server, queries: list[str], seconds: float, ended: threading.Event | None = None
) -> dict[str, Any]:
    """Searches one after the other, with a pause between, until the time is over or the event has come."""
    spent: list[float] = []
    end = time.perf_counter() + seconds
    with ours.client() as client:
        while time.perf_counter() < end and not (ended and ended.is_set()):
            began = time.perf_counter()
            client.post("/search", json={"query": queries[len(spent) % len(queries)]}).raise_for_status()
            spent.append(1000 * (time.perf_counter() - began))
            time.sleep(PAUSE)
    return {"searches": len(spent)} | {f"p{p}_ms": report.percentile(spent, p) for p in (50, 95, 99)}


def row(name: str, one: dict[str, Any]) -> tuple[str, ...]:
    return name, f"{one['searches']:,}", *(f"{one[key]:.1f}" for key in ("p50_ms", "p95_ms", "p99_ms"))


if __name__ == "__main__":
    main()
