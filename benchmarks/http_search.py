"""`POST /search` over HTTP as a library grows: p50 and p99 with 1 and 32 clients at 2,000 and 100,000 chunks.

Beyond 10,000 chunks their vectors are generated; those of the queries always come from the model.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import random
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import generated
import numpy as np
import pypdfium2
import report
import server
from process import Watch, quiet

from citewell import Citewell
from citewell.adapters.embedder.builtin import BuiltinEmbedder
from citewell.adapters.embedder.wrappers import text_key
from citewell.settings import load_settings
from citewell.storage.database import Database
from citewell.storage.vectors.embeddings import EmbeddingCacheRepository

ROOT = Path(__file__).resolve().parent.parent
EMBEDDED = 10_000
HEADER = ("Chunks", "Clients", "Queries", "Searches", "Errors", "p50 ms", "p99 ms", "Searches/s", "Server CPU ms")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", nargs="*", type=int, default=[2_000, 100_000])
    parser.add_argument("--clients", nargs="*", type=int, default=[1, 32])
    parser.add_argument(
        "--requests", type=int, default=2_000, help="searches per measurement, after a tenth as many to warm up"
    )
    parser.add_argument("--keep", type=Path, help="fill data folders in this one, and use those that are there already")
    parser.add_argument("--fill-only", action="store_true", help="with --keep: search another time")
    parser.add_argument("--output", type=Path, default=ROOT / "benchmarks" / "results" / "http_search.json")
    options = parser.parse_args()
    measured = []
    with tempfile.TemporaryDirectory(prefix="citewell-bench-") as scratch:
        for size in options.sizes:
            data = (options.keep or Path(scratch)) / f"data-{size}"
            added = fill(data, size)
            if not options.fill_only:
                measured += measure(data, size, added, options.clients, options.requests)
    if not measured:
        return
    options.output.parent.mkdir(parents=True, exist_ok=True)
    result = {"machine": report.machine(), "measured": measured}
    options.output.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    print(report.terminal(HEADER, [row(one) for one in measured]))


def row(one: dict) -> tuple[str, ...]:
    times = f"{one['p50_ms']:.1f}", f"{one['p99_ms']:.1f}", f"{one['per_second']:.0f}", f"{one['cpu_ms']:.1f}"
    counts = str(one["clients"]), one["queries"], f"{one['searches']:,}", str(one["errors"])
    return f"{one['chunks']:,}", *counts, *times


def fill(data: Path, size: int) -> float:
    """Add the texts, unless that was done before; how many seconds it took."""
    done = data.with_suffix(".filled")
    if not done.exists():
        texts = list(itertools.islice(sentences(seed=size), size))
        started = time.perf_counter()
        if size > EMBEDDED:
            data.mkdir(parents=True, exist_ok=True)
            asyncio.run(give_vectors(data, texts))
        with Citewell(data) as library:
            library.add_texts({"id": str(i), "text": text} for i, text in enumerate(texts))
        done.write_text(str(time.perf_counter() - started), encoding="ascii")
        print(f"{size:,} texts added in {time.perf_counter() - started:.0f} s", file=sys.stderr, flush=True)
    return float(done.read_text(encoding="ascii"))


async def give_vectors(data: Path, texts: list[str]) -> None:
    """Generated vectors for the embedding cache: what a search costs depends on how many there are, not on what they mean."""
    generated.write_vectors(data.with_suffix(".npy"), len(texts))
    vectors = generated.read_vectors(data.with_suffix(".npy"))
    database = Database(load_settings(data=data).sql_url)
    await database.migrate()
    cache, fingerprint = EmbeddingCacheRepository(database), str(BuiltinEmbedder.load().fingerprint)
    for start in range(0, len(texts), 5_000):
        some = texts[start : start + 5_000]
        await cache.put(fingerprint, {text_key(text): np.array(vectors[start + i]) for i, text in enumerate(some)})
    await database.close()


def measure(data: Path, size: int, added: float, clients: list[int], requests: int) -> list[dict[str, object]]:
    """Serve the folder, and search it with each number of clients."""
    asked = sentences(seed=-1)
    # All different, as the server remembers the vectors of the queries that it was asked last; and a hundred, again and again.
    warming, repeated = (
        write_queries(data.with_suffix(f".{name}.json"), asked, count)
        for name, count in (("warming", requests), ("repeated", 100))
    )
    rows = []
    with server.serving(data) as ours:
        watch, before = Watch(ours.pid), quiet(10)
        for number, kind, asked_again in [*((n, "different", False) for n in clients), (clients[-1], "repeated", True)]:
            load(ours, number, requests // 10, repeated if asked_again else warming)
            queries = repeated if asked_again else write_queries(data.with_suffix(".json"), asked, requests)
            used = ours.cpu_seconds
            times = load(ours, number, requests, queries)
            rows.append(
                {
                    "queries": kind,
                    "cpu_ms": round(1000 * (ours.cpu_seconds - used) / requests, 2),
                    "chunks": size,
                    "clients": number,
                    "searches": len(times["times_ms"]),
                    "errors": len(times["errors"]),
                    "p50_ms": round(report.percentile(times["times_ms"], 50), 2),
                    "p99_ms": round(report.percentile(times["times_ms"], 99), 2),
                    "per_second": round(len(times["times_ms"]) / times["seconds"], 1),
                    "add_seconds": round(added, 1),
                    "start_seconds": round(ours.start_seconds, 2),
                    "load_before": round(before, 2),
                }
            )
            print(json.dumps(rows[-1]), file=sys.stderr, flush=True)
        watch.stop()
    return [row | {"peak_mb": round(watch.peak_mb)} for row in rows]


def write_queries(path: Path, texts: Iterator[str], count: int) -> Path:
    path.write_text(json.dumps([" ".join(next(texts).split()[:8]) for _ in range(count)]), encoding="utf-8")
    return path


def load(ours: server.Server, clients: int, requests: int, queries: Path) -> dict:
    command = [sys.executable, Path(__file__).with_name("load.py"), ours.port, ours.token, clients, requests, queries]
    outcome = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=True)
    return json.loads(outcome.stdout)


def sentences(seed: int) -> Iterator[str]:
    """Endless different sentences of 20 to 40 words that read like the sample files: each word follows one that it follows there."""
    chance = random.Random(seed)
    followers: defaultdict[str, list[str]] = defaultdict(list)
    words = _sample_words()
    for word, following in itertools.pairwise(words):
        followers[word].append(following)
    while True:
        sentence = [chance.choice(words)]
        for _ in range(chance.randint(19, 39)):
            jump = chance.random() < 0.2 or not followers[sentence[-1]]
            sentence.append(chance.choice(words if jump else followers[sentence[-1]]))
        yield f"{' '.join(sentence)} (note {chance.randint(1, 10**6)})."


def _sample_words() -> list[str]:
    words: list[str] = []
    for path in sorted((ROOT / "samples").glob("*.pdf")):
        with pypdfium2.PdfDocument(path) as document:
            words += " ".join(page.get_textpage().get_text_bounded() for page in document).split()
    return words


if __name__ == "__main__":
    main()
