"""Several processes on one Postgres and one S3: how fast 1, 2 and 4 workers are, and what becomes of files when a worker, the store or S3 goes away.

usage: .venv/bin/python benchmarks/workers.py [--files 60] [--workers 1 2 4] [--waits 3] [--seconds 60] [--output FILE]

A server takes uploads and works on none (`CITEWELL_WORKERS=0`); the workers are `citewell worker`, each with a data folder of its own; vectors are in the
same Postgres. The same again with an embedder that takes `--waits` seconds for each call and no time of this machine (OpenAI's, at a contract server),
as the built-in one takes all cores of a small machine. In one more run of two workers one of them is killed (SIGKILL) when half of the files are done. Then the vector store (Qdrant's contract
server, with points in memory) and S3 are each unreachable for `--seconds` while files arrive. Counted: files that are not found by their word
afterwards, or more than once. Exit code 1 where there is one, or a file that is not indexed whole.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import asyncpg
import generated
import httpx
import report
from moving import Server
from server import CITEWELL, TERMINAL
from stores import postgres

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.adapters.blob.stores import KEYS, Wire, new_s3_bucket, s3  # noqa: E402
from tests.contract_servers.faults import Fault, Faults  # noqa: E402
from tests.contract_servers.openai import KEY, OpenAIServer  # noqa: E402
from tests.contract_servers.qdrant import QdrantServer  # noqa: E402
from tests.contract_servers.serving import serving  # noqa: E402

SENTENCES_PER_FILE = 60
OUTAGE_FILES = 15
RUNS = ("working", "waiting", "away")
HEADER = ("Run", "Files", "Seconds", "Files/s", "Not found", "Found twice", "Not whole", "States while away")


class Deployment:
    """A server that only takes files, and workers beside it."""

    def __init__(self, folder: Path, environment: dict[str, str], sentences: list[str]) -> None:
        self._folder, self._sentences = folder, sentences
        self._environment = os.environ | environment
        self._workers: list[subprocess.Popen[bytes]] = []
        self.server = Server(folder / "server", environment | {"CITEWELL_WORKERS": "0"})
        self.server.start()
        headers = {"Authorization": f"Bearer {self.server.token()}"}
        self.client = httpx.Client(base_url=self.server.address, headers=headers, timeout=300)

    def start_workers(self, count: int) -> None:
        for _ in range(count):
            name = f"worker{len(self._workers)}"
            with (self._folder / f"{name}.log").open("ab") as log:
                command = [CITEWELL, "worker", "--data", self._folder / name]
                self._workers.append(
                    subprocess.Popen(command, stdout=log, stderr=log, env=self._environment, start_new_session=True)
                )

    def check(self) -> None:
        """Raises `RuntimeError` when no worker is left."""
        if self._workers and all(one.poll() is not None for one in self._workers):
            logs = "\n".join(path.read_text(encoding="utf-8") for path in sorted(self._folder.glob("worker*.log")))
            raise RuntimeError(f"All workers have ended:\n{logs[-2000:]}")

    def kill_worker(self) -> None:
        """As when its machine is gone."""
        os.killpg(self._workers[0].pid, signal.SIGKILL)
        self._workers[0].wait()

    def stop(self) -> None:
        for one in self._workers:
            if one.poll() is None:
                one.terminate()
        for one in self._workers:
            one.wait(60)
        self.client.close()
        self.server.stop()

    def send(self, word: str) -> str | None:
        """Uploads a text file with a word that is in no other; its id, None where the server says that something is away."""
        start = random.Random(word).randrange(len(self._sentences) - SENTENCES_PER_FILE)
        text = "\n\n".join([f"This is about {word}.", *self._sentences[start : start + SENTENCES_PER_FILE]])
        answer = self.client.post("/ingest", files={"file": (f"{word}.txt", text.encode())})
        if answer.status_code < 300:
            return answer.json()["id"]
        if answer.status_code != 503:
            raise RuntimeError(f"{word}: {answer.status_code} {answer.text[:300]}")
        return None

    def upload(self, word: str) -> str:
        """As `send`, again until it is accepted."""
        while (accepted := self.send(word)) is None:
            time.sleep(1)
        return accepted

    def states(self, ids: list[str]) -> Counter[str]:
        found: Counter[str] = Counter()
        for start in range(0, len(ids), 50):
            answer = self.client.get("/resources", params={"id": ids[start : start + 50], "fields": "summary"})
            found.update(one["status"] for one in answer.raise_for_status().json()["resources"])
        return found

    def until_done(self, ids: list[str], at_half: Callable[[], None] | None = None) -> Counter[str]:
        """Waits until every file has a state that stays; `at_half` is called once."""
        while True:
            self.check()
            states = self.states(ids)
            done = sum(count for state, count in states.items() if state in TERMINAL)
            if at_half is not None and done * 2 >= len(ids):
                at_half()
                at_half = None
            if done == len(ids):
                return states
            time.sleep(0.2)

    def found(self, words: list[str]) -> Counter[int]:
        """How many files have how many passages with their word at the front."""
        times: Counter[int] = Counter()
        for word in words:
            answer = self.client.post("/search", json={"query": f"about {word}", "top_k": 20})
            hits = answer.raise_for_status().json()["hits"]
            times[sum(f"about {word}." in hit["text"] for hit in hits)] += 1
        return times


@contextmanager
def deployed(sentences: list[str], environment: dict[str, str]) -> Iterator[Deployment]:
    with tempfile.TemporaryDirectory(prefix="citewell-workers-") as scratch:
        deployment = Deployment(Path(scratch), environment, sentences)
        try:
            yield deployment
        finally:
            deployment.stop()


def row(name: str, one: dict[str, Any]) -> tuple[str, ...]:
    return (
        name, str(one["files"]), f"{one['seconds']:.1f}", f"{one['timed'] / one['seconds']:.2f}", str(one["lost"]),
        str(one["doubled"]), str(one["not_whole"]), str(one.get("states_meanwhile", "")),
    )  # fmt: skip


def figures(
    deployment: Deployment, words: list[str], states: Counter[str], seconds: float, timed: int
) -> dict[str, Any]:
    """What became of the files; `timed` of them were done in these seconds."""
    times = deployment.found(words)
    return {
        "files": len(words), "timed": timed, "seconds": round(seconds, 1), "lost": times[0],
        "doubled": sum(count for found, count in times.items() if found > 1),
        "not_whole": sum(count for state, count in states.items() if state != "indexed"), "states": dict(states),
    }  # fmt: skip


def throughput(
    deployment: Deployment,
    files: int,
    workers: int,
    *,
    kill: bool = False,
    when_done: Callable[[], None] = lambda: None,
) -> dict[str, Any]:
    """All files are there before the first worker is, and the clock starts with the first that is done."""
    words = [f"zq{number:05d}x" for number in range(files)]
    ids = [deployment.upload(word) for word in words]
    deployment.start_workers(workers)
    done = 0
    while not done:
        time.sleep(0.05)
        deployment.check()
        done = sum(count for state, count in deployment.states(ids).items() if state in TERMINAL)
    started = time.perf_counter()
    states = deployment.until_done(ids, deployment.kill_worker if kill else None)
    seconds = time.perf_counter() - started
    when_done()
    return figures(deployment, words, states, seconds, files - done)


def with_waiting(
    url: str, number: int, bucket: str, sentences: list[str], options: argparse.Namespace
) -> dict[str, Any]:
    """Throughput where each call to the embedder takes some seconds of its own; searches afterwards do not wait."""
    workers = options.workers[number]
    provider = OpenAIServer()
    provider.trouble = lambda: Fault(pause=options.waits)

    def wait_no_more() -> None:
        provider.trouble = Faults()

    with serving(provider.app) as address:
        more = {
            "EMBEDDING_PROVIDER": "openai", "EMBEDDING_MODEL": "text-embedding-3-small", "EMBEDDING_DIMENSIONS": "256",
            "OPENAI_API_KEY": KEY, "EMBEDDING_BASE_URL": f"{address}/v1",
        }  # fmt: skip
        with deployed(sentences, environment(url, 50 + number, bucket) | more) as one:
            return throughput(one, options.files, workers, when_done=wait_no_more)


def outage(deployment: Deployment, wire: Wire, files: int, seconds: float) -> dict[str, Any]:
    """Files arrive before the wire is cut, while it is, and after it is mended; the worker works from the beginning."""
    deployment.start_workers(1)
    words = [f"zq{number:05d}x" for number in range(files)]
    third = files // 3
    first = deployment.upload(words[0])
    deployment.until_done([first])
    started = time.perf_counter()
    accepted = {words[0]: first} | {word: deployment.upload(word) for word in words[1:third]}
    wire.cut()
    cut = time.perf_counter()
    refused, slowest = 0, 0.0
    for word in words[third : 2 * third]:
        sent = time.perf_counter()
        if (one := deployment.send(word)) is None:
            refused += 1
        else:
            accepted[word] = one
        slowest = max(slowest, time.perf_counter() - sent)
    time.sleep(max(0.0, seconds - (time.perf_counter() - cut)))
    during = deployment.states(list(accepted.values()))
    away = time.perf_counter() - cut
    wire.mend()
    mended = time.perf_counter()
    accepted |= {word: deployment.upload(word) for word in words if word not in accepted}
    states = deployment.until_done(list(accepted.values()))
    return figures(deployment, words, states, time.perf_counter() - started, files - 1) | {
        "seconds_away": round(away, 1), "done_after_s": round(time.perf_counter() - mended, 1),
        "refused_meanwhile": refused, "slowest_upload_s": round(slowest, 1), "states_meanwhile": dict(during),
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=60)
    parser.add_argument("--workers", type=int, nargs="*", default=[1, 2, 4])
    parser.add_argument("--waits", type=float, default=3)
    parser.add_argument("--runs", nargs="*", choices=RUNS, default=list(RUNS))
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    logging.getLogger("werkzeug").setLevel(logging.WARNING)
    result: dict[str, Any] = {}

    def note(name: str, one: dict[str, Any]) -> None:
        result[name] = one
        print(name, json.dumps(one), file=sys.stderr, flush=True)

    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        generated.write_sentences(folder / "sentences.json", 5_000)
        sentences = json.loads((folder / "sentences.json").read_text(encoding="utf-8"))
        url, bucket = stack.enter_context(postgres(None)), stack.enter_context(s3())
        working = [(f"{count} workers", count, False) for count in options.workers] + [
            ("2 workers, one killed", 2, True)
        ]
        for number, (name, count, kill) in enumerate(working if "working" in options.runs else []):
            with deployed(sentences, environment(url, number, bucket)) as one:
                note(name, throughput(one, options.files, count, kill=kill))
        for number, count in enumerate(options.workers if "waiting" in options.runs else []):
            waited = with_waiting(url, number, bucket, sentences, options)
            note(f"{count} workers, {options.waits:g} s for each call", waited)
        if "away" in options.runs:
            s3_wire = Wire(int(urlsplit(bucket).port or 0))
            with deployed(sentences, environment(url, 100, s3_wire.address)) as one:
                note("S3 away", outage(one, s3_wire, OUTAGE_FILES, options.seconds))
            qdrant = stack.enter_context(serving(QdrantServer().app))
            wire = Wire(int(urlsplit(qdrant).port or 0))
            more = {"CITEWELL_VECTOR_STORE": "qdrant", "QDRANT_URL": wire.address}
            with deployed(sentences, environment(url, 101, bucket) | more) as one:
                note("store away", outage(one, wire, OUTAGE_FILES, options.seconds))
    print(report.terminal(HEADER, [row(name, one) for name, one in result.items()]))
    print(json.dumps(result, indent=1))
    if options.output is not None:
        machine = {"machine": report.machine()}
        options.output.write_text(json.dumps(machine | result, indent=1) + "\n", encoding="utf-8")
    sys.exit(any(one["lost"] or one["doubled"] or one["not_whole"] for one in result.values()))


def environment(url: str, number: int, bucket: str) -> dict[str, str]:
    """A database and a bucket of its own."""
    name = f"workers{number}"

    async def create() -> None:
        connection = await asyncpg.connect(url)
        await connection.execute(f"CREATE DATABASE {name}")
        await connection.close()

    asyncio.run(create())
    head, _, tail = url.partition("?")
    database = f"{head.rpartition('/')[0]}/{name}" + (f"?{tail}" if tail else "")
    return {
        "CITEWELL_DATABASE_URL": database, "CITEWELL_VECTOR_STORE": "pgvector", "CITEWELL_BLOB_BACKEND": "s3",
        "CITEWELL_BLOB_BUCKET": new_s3_bucket(bucket), "CITEWELL_S3_ENDPOINT": bucket,
        **{f"CITEWELL_{key.upper()}": value for key, value in KEYS.items()},
    }  # fmt: skip


if __name__ == "__main__":
    main()
