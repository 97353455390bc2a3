"""What each kind of request takes in a large library: medians over HTTP, one client, of the data folders of `http_search.py`.

`python benchmarks/kinds.py --keep FOLDER` fills them where `http_search.py --keep FOLDER` has not. Beyond 10,000 chunks their vectors are generated.
"""

from __future__ import annotations

import argparse
import itertools
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import http_search
import httpx
import report
import server
from process import quiet

ROOT = Path(__file__).resolve().parent.parent
HEADER = ("Request", "Median ms", "Slowest ms")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=100_000, help="chunks, each a text of its own")
    parser.add_argument("--repeats", type=int, default=15, help="requests of each kind, after three to warm up")
    parser.add_argument("--keep", type=Path, help="fill data folders in this one, and use those that are there already")
    parser.add_argument("--output", type=Path, default=ROOT / "benchmarks" / "results" / "kinds.json")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="citewell-bench-") as scratch:
        data = (options.keep or Path(scratch)) / f"data-{options.size}"
        http_search.fill(data, options.size)
        measured = measure(data, options.repeats)
    options.output.parent.mkdir(parents=True, exist_ok=True)
    result = {"machine": report.machine(), "size": options.size, "measured": measured}
    options.output.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    rows = [(name, f"{ms['median']:.1f}", f"{ms['slowest']:.1f}") for name, ms in measured.items()]
    print(report.terminal(HEADER, rows))


def measure(data: Path, repeats: int) -> dict[str, dict[str, float]]:
    """Milliseconds of each kind of request; every request asks for other words."""
    asked = (" ".join(sentence.split()[:8]) for sentence in http_search.sentences(seed=-2))
    measured: dict[str, dict[str, float]] = {}
    with server.serving(data) as ours, ours.client() as client:
        server.search(client, "warm", 1)
        quiet(10)
        files = [one["id"] for one in client.get("/resources", params={"limit": 200}).json()["resources"]]
        for name, ask in _kinds(client, files).items():
            times: list[float] = []
            for words in itertools.islice(asked, repeats + 3):
                started = time.perf_counter()
                ask(words).raise_for_status()
                times.append((time.perf_counter() - started) * 1e3)
            measured[name] = {"median": statistics.median(times[3:]), "slowest": max(times[3:])}
            print(name, measured[name], file=sys.stderr, flush=True)
    return measured


def _kinds(client: httpx.Client, files: list[str]) -> dict[str, Callable[[str], httpx.Response]]:
    def search(**options: object) -> Callable[[str], httpx.Response]:
        return lambda words: client.post("/search", json={"query": words, **options})

    def chat(**options: object) -> Callable[[str], httpx.Response]:
        return lambda words: client.post("/chat", json={"message": f"What is said about {words}?", **options})

    return {
        "search, 10 hits": search(top_k=10),
        "search, 20 hits": search(top_k=20),
        "search, 100 hits": search(top_k=100),
        "search with 3 neighbours": search(neighbours=3),
        "search with a trace": search(debug=True),
        "search, diverse": search(diversity=0.5),
        "search in one file": search(resource_ids=files[:1]),
        "chat": chat(),
        "chat about one file": chat(resource_ids=files[:1]),
        "summary of all": lambda _: client.post("/chat", json={"message": "Summarise all my documents"}),
        "200 files by their ids": lambda _: client.get(
            "/resources", params={"id": files, "fields": "summary", "limit": 200}
        ),
    }


if __name__ == "__main__":
    main()
