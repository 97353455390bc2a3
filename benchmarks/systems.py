"""The systems compared, each measured in a process of its own: Citewell through its server, peers through their driver."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import environment
import server
from process import Watch, run
from queries import letters
from sets import RetrievalSet

from citewell import Citewell

PEERS = {
    "LangChain + Chroma": "with_langchain",
    "LlamaIndex": "with_llamaindex",
    "txtai": "with_txtai",
    "Haystack": "with_haystack",
}
OURS = "Citewell"


@dataclass
class Measured:
    """One system's figures on one PDF.

    found: share of queries (spans of the text) whose words stand together in one of the ten chunks that came back.
    """

    system: str
    versions: dict[str, str]
    start_seconds: float
    ingest_seconds: float
    cpu_seconds: float
    peak_mb: float
    chunks: int
    query_ms: list[float]
    found: float
    embed_alone_seconds: float | None = None


@dataclass(frozen=True)
class Job:
    """What every system is given."""

    pdf: Path
    queries: Sequence[str]
    top_k: int
    scratch: Path


def measure_citewell(job: Job) -> Measured:
    """`citewell serve`, then POST /ingest and POST /search, as a user's own program would."""
    data = job.scratch / "citewell"
    with server.serving(data) as ours, ours.client() as client:
        watch = Watch(ours.pid)
        before, started = ours.cpu_seconds, time.perf_counter()
        resource = server.add_file(client, job.pdf)
        if resource["status"] != "indexed":
            raise RuntimeError(f"{job.pdf.name} is {resource['status']}: {resource['error_message']}")
        server.search(client, job.queries[0], job.top_k)
        seconds = time.perf_counter() - started
        used = ours.cpu_seconds - before
        times, found = [], 0
        for query in job.queries:
            started = time.perf_counter()
            hits = server.search(client, query, job.top_k)
            times.append((time.perf_counter() - started) * 1e3)
            found += any(letters(query) in letters(hit["text"]) for hit in hits)
        watch.stop()
        start_seconds = ours.start_seconds
    return Measured(
        system=OURS,
        versions={"citewell": version("citewell")},
        start_seconds=start_seconds,
        ingest_seconds=seconds,
        cpu_seconds=used,
        peak_mb=watch.peak_mb,
        chunks=resource["chunk_count"],
        query_ms=times,
        found=found / len(times),
    )


def measure_peer(system: str, job: Job) -> Measured:
    """The peer's quick start in the peers' environment. CPU seconds include its start, which loads the model."""
    result, cpu, peak = _drive(
        system, job.scratch, {"pdf": str(job.pdf), "queries": list(job.queries), "top_k": job.top_k}
    )
    return Measured(
        system=system,
        versions=result["versions"],
        start_seconds=result["start_seconds"],
        ingest_seconds=result["ingest_seconds"],
        cpu_seconds=cpu,
        peak_mb=peak,
        chunks=result["chunks"],
        query_ms=result["query_ms"],
        found=result["found"],
    )


def take_texts(system: str, files: Sequence[Path], scratch: Path) -> tuple[float, float]:
    """Seconds until the peer has made texts searchable that it is handed all at once, and CPU seconds with its start."""
    corpus = scratch / "texts.jsonl"
    rows = ({"_id": path.stem, "text": path.read_text(encoding="utf-8")} for path in files)
    corpus.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    result, cpu, _ = _drive(system, scratch, {"corpus": str(corpus), "queries": [], "top_k": 1})
    return result["ingest_seconds"], cpu


def retrieve_citewell(retrieval_set: RetrievalSet, scratch: Path) -> float:
    """nDCG@10 of the default configuration through the Python facade."""
    ranking: dict[str, list[str]] = {}
    with Citewell(scratch / f"citewell-{retrieval_set.name}") as library:
        library.add_texts(retrieval_set.records())
        for query_id, query in retrieval_set.queries.items():
            ranking[query_id] = list(dict.fromkeys(str(hit.record_id) for hit in library.search(query, top_k=20)))
    return retrieval_set.ndcg10(ranking)


def retrieve_peer(system: str, retrieval_set: RetrievalSet, scratch: Path) -> float:
    """nDCG@10 of the peer's quick start."""
    queries = [{"id": query_id, "text": text} for query_id, text in retrieval_set.queries.items()]
    result, _, _ = _drive(system, scratch, {"corpus": str(retrieval_set.corpus), "queries": queries, "top_k": 20})
    return retrieval_set.ndcg10(result["ranking"])


def _drive(system: str, scratch: Path, job: dict[str, object]) -> tuple[dict, float, float]:
    python = environment.peers_python()
    module = PEERS[system]
    folder = scratch / f"{module}-{time.time_ns()}"
    (folder / "store").mkdir(parents=True)
    job |= {"model": str(environment.model_folder(python)), "scratch": str(folder / "store")}
    (folder / "job.json").write_text(json.dumps(job), encoding="utf-8")
    command = [python, environment.PEERS / "driver.py", module, folder / "job.json", folder / "result.json"]
    usage = run(command, folder / "log.txt", environment.OFFLINE)
    return json.loads((folder / "result.json").read_text(encoding="utf-8")), usage.cpu_seconds, usage.peak_mb
