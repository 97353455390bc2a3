"""Runs one peer on one job in this process: `python driver.py with_langchain JOB.json RESULT.json`."""

from __future__ import annotations

import importlib
import json
import sys
import time
from importlib.metadata import version
from pathlib import Path

from peer import Peer, Record


def main() -> None:
    module, job_path, result_path = sys.argv[1:]
    job = json.loads(Path(job_path).read_text(encoding="utf-8"))
    started = time.perf_counter()
    peer: Peer = importlib.import_module(module).PEER(Path(job["model"]), Path(job["scratch"]))
    result: dict[str, object] = {
        "start_seconds": time.perf_counter() - started,
        "versions": {name: version(name) for name in peer.packages},
    }
    result |= _retrieve(peer, job) if "corpus" in job else _ingest(peer, job)
    Path(result_path).write_text(json.dumps(result), encoding="utf-8")


def _ingest(peer: Peer, job: dict) -> dict[str, object]:
    """Seconds until the first search after the file answers, and milliseconds of each search."""
    started = time.perf_counter()
    chunks = peer.add_pdf(Path(job["pdf"]))
    peer.search(job["queries"][0], job["top_k"])
    seconds = time.perf_counter() - started
    times, found = [], 0
    for query in job["queries"]:
        started = time.perf_counter()
        texts = peer.search(query, job["top_k"])
        times.append((time.perf_counter() - started) * 1e3)
        found += any(_letters(query) in _letters(text) for text in texts)
    return {"ingest_seconds": seconds, "chunks": chunks, "query_ms": times, "found": found / len(times)}


def _retrieve(peer: Peer, job: dict) -> dict[str, object]:
    """Rankings of record ids per query, each id once."""
    with Path(job["corpus"]).open(encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    started = time.perf_counter()
    chunks = peer.add_records([Record(row["_id"], row.get("title") or "", row["text"]) for row in rows])
    seconds = time.perf_counter() - started
    ranking = {query["id"]: list(dict.fromkeys(peer.search(query["text"], job["top_k"]))) for query in job["queries"]}
    return {"ingest_seconds": seconds, "chunks": chunks, "ranking": ranking}


def _letters(text: str) -> str:
    return "".join(character for character in text.lower() if character.isalnum())


if __name__ == "__main__":
    main()
