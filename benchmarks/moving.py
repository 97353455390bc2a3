"""A library moved from model to model and from store to store while it is searched and added to, and its server is killed.

usage: .venv/bin/python benchmarks/moving.py [--documents 5000] [--rate 20] [--kills 20] [--seed 1] [--output FILE]

Two owners have documents of their own, each with a word that is in no other. Searches for such words go on all the time, `--rate` a second, and so do
uploads, one a second. The library then moves from the built-in model to another (OpenAI's, at a contract server on this machine), gradually; goes back;
moves there again; and from the embedded store to Postgres, beside the old one. Half of the kills (SIGKILL) fall into each move. At the end every document is
looked for in each of the three indexes (`lost`).

Counted: answers that are errors while the server is up; documents that are not among the ten found for their word; documents of the other owner that are;
passages that were sent to the provider more than once. Exit code 1 when one of the first three is not zero, or an upload that was acknowledged is gone.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import generated
import httpx
import report
from process import wait
from server import CITEWELL, bearer
from stores import postgres

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.contract_servers.openai import KEY, OpenAIServer  # noqa: E402
from tests.contract_servers.serving import serving  # noqa: E402

OWNERS = ("ann", "bob")
SECRET = "a secret of this benchmark, long enough"
MODEL = {"provider": "openai", "model": "text-embedding-3-small"}
PER_REQUEST = 250
UPLOADS_PER_SECOND = 1
PAUSE = 0.2  # between a build's batches, so that there is something to be killed
DEADLINE = 3_600.0


@dataclass
class Server:
    """A server that can be killed and comes back at the same port."""

    data: Path
    environment: dict[str, str]
    port: int = 0
    kills: int = 0
    _process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        if not self.port:
            with socket.socket() as probe:
                probe.bind(("127.0.0.1", 0))
                self.port = probe.getsockname()[1]
        command = [CITEWELL, "serve", "--data", self.data, "--port", str(self.port)]
        with self.data.with_suffix(".log").open("ab") as log:
            self._process = subprocess.Popen(
                command, stdout=log, stderr=subprocess.STDOUT, env=os.environ | self.environment, start_new_session=True
            )
        self.until(lambda: httpx.get(f"{self.address}/health", timeout=2).status_code == 200, "the server is up")

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def stop(self) -> None:
        assert self._process is not None
        self._process.terminate()
        wait(self._process)

    def kill(self) -> None:
        """As a power cut would: the server and whatever it started."""
        assert self._process is not None
        print(f"kill {self.kills + 1}", file=sys.stderr, flush=True)
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self.kills += 1
        self.start()

    def token(self) -> str:
        printed = subprocess.run(
            [CITEWELL, "token", "--data", self.data], capture_output=True, text=True, check=True,
            env=os.environ | self.environment,
        ).stdout  # fmt: skip
        return printed.split()[-1]

    def until(self, is_so: Callable[[], bool], what: str) -> None:
        """Waits for it; what cannot be asked yet is not so yet."""
        end = time.monotonic() + DEADLINE
        while time.monotonic() < end:
            try:
                if is_so():
                    return
            except httpx.TransportError:
                assert self._process is not None
                if self._process.poll() is not None:
                    raise RuntimeError(f"The server ended; see {self.data.with_suffix('.log')}.") from None
            time.sleep(0.1)
        raise RuntimeError(f"Not within {DEADLINE:.0f} s: {what}.")


@dataclass
class Library:
    """The documents that were acknowledged, and how they are asked for."""

    server: Server
    sentences: list[str]
    random: random.Random
    known: dict[str, list[str]] = field(default_factory=lambda: {owner: [] for owner in OWNERS})
    counts: Counter[str] = field(default_factory=Counter[str])
    milliseconds: list[float] = field(default_factory=list[float])
    wrong: list[str] = field(default_factory=list[str])
    _made: int = 0

    def document(self, owner: str) -> dict[str, Any]:
        self._made += 1
        word = f"{owner}{self._made:06d}x"
        text = " ".join(self.random.choices(self.sentences, k=6))
        return {"id": word, "text": f"The reference of this note is {word}. {text}"}

    def add(self, client: httpx.Client, owner: str, count: int) -> None:
        """Sent again until it is acknowledged, as anybody would: with the same ids it is added once."""
        body = {"records": [self.document(owner) for _ in range(count)]}
        while True:
            try:
                answer = client.post(f"{self.server.address}/records", json=body, headers=bearer(SECRET, owner))
            except httpx.TransportError:
                time.sleep(0.2)
                continue
            if answer.status_code == 200:
                self.known[owner].extend(record["id"] for record in body["records"])
                self.counts["uploads"] += 1
                return
            self.note("errors", f"upload: {answer.status_code} {answer.text[:200]}")
            time.sleep(0.2)

    def search(self, client: httpx.Client, owner: str, word: str) -> None:
        started = time.perf_counter()
        body = {"query": f"note with the reference {word}", "top_k": 10}
        try:
            answer = client.post(f"{self.server.address}/search", json=body, headers=bearer(SECRET, owner))
        except httpx.TransportError:
            self.counts["while down"] += 1
            return
        self.milliseconds.append((time.perf_counter() - started) * 1e3)
        self.counts["searches"] += 1
        if answer.status_code != 200:
            self.note("errors", f"search: {answer.status_code} {answer.text[:200]}")
            return
        found = [hit["record_id"] for hit in answer.json()["hits"]]
        if word not in found:
            self.note("missing", f"{word}: {found}")
        if any(not str(one).startswith(owner) for one in found):
            self.note("foreign", f"{owner}: {found}")

    def note(self, kind: str, what: str) -> None:
        self.counts[kind] += 1
        self.wrong.append(f"{kind}: {what}")

    def search_all(self, client: httpx.Client) -> None:
        """Every document by its word."""
        for owner in OWNERS:
            for word in self.known[owner]:
                self.search(client, owner, word)


@contextmanager
def load(library: Library, rate: int) -> Iterator[None]:
    """Searches and uploads until the block ends."""
    ended = threading.Event()

    def repeat(every: float, act: Callable[[httpx.Client, random.Random], None], seed: int) -> None:
        draw, due = random.Random(seed), time.monotonic()
        with httpx.Client(timeout=120) as client:
            while not ended.wait(max(0.0, due - time.monotonic())):
                due = max(due + every, time.monotonic() - 1)
                act(client, draw)

    def search(client: httpx.Client, draw: random.Random) -> None:
        owner = draw.choice(OWNERS)
        library.search(client, owner, draw.choice(library.known[owner]))

    def upload(client: httpx.Client, draw: random.Random) -> None:
        library.add(client, draw.choice(OWNERS), 1)

    searchers = 4
    threads = [
        threading.Thread(target=repeat, args=(searchers / rate, search, seed), daemon=True) for seed in range(searchers)
    ]
    threads.append(threading.Thread(target=repeat, args=(1 / UPLOADS_PER_SECOND, upload, searchers), daemon=True))
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        ended.set()
        for thread in threads:
            thread.join()


class Mover:
    """Moves the library, as the person who runs the server would."""

    def __init__(self, server: Server, draw: random.Random) -> None:
        self._server, self._random = server, draw
        self._headers = {"Authorization": f"Bearer {server.token()}"}

    def call(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        answer = httpx.request(method, f"{self._server.address}{path}", json=body, headers=self._headers, timeout=300)
        if answer.is_error:
            raise RuntimeError(f"{method} {path}: {answer.status_code} {answer.text[:500]}")
        return answer.json()

    def active(self) -> dict[str, Any]:
        return next(one for one in self.call("GET", "/indexes")["indexes"] if one["state"] == "active")

    def move(self, body: dict[str, Any], kills: int) -> dict[str, Any]:
        """Builds it to the end, killed on the way, and lets it answer; what it took."""
        started = time.perf_counter()
        index = self.call("POST", "/indexes", body | {"pause_seconds": PAUSE})["id"]
        print(f"moving to {index}: {body}", file=sys.stderr, flush=True)
        share = 0.0
        for number in range(kills):
            share = (number + self._random.random()) / kills
            self._server.until(lambda share=share: self._is_beyond(index, share), f"{share:.0%} of {index}")
            self._server.kill()
        self._server.until(lambda: self.get(index)["state"] in {"ready", "active"}, f"{index} is complete")
        if self.get(index)["state"] == "ready":
            self.call("POST", f"/indexes/{index}/switch")
        return {"index": index, "seconds": round(time.perf_counter() - started, 1)}

    def get(self, index: str) -> dict[str, Any]:
        return self.call("GET", f"/indexes/{index}")

    def _is_beyond(self, index: str, share: float) -> bool:
        now = self.get(index)
        return now["state"] != "building" or now["progress"] >= share * now["total"] > 0

    def roll_back(self, index: str) -> None:
        self.call("POST", f"/indexes/{index}/switch")


def measure(library: Library, server: Server, provider: OpenAIServer, options: argparse.Namespace) -> dict[str, Any]:
    with httpx.Client(timeout=600) as client:
        started = time.perf_counter()
        for owner in OWNERS:
            for number in range(0, options.documents // 2, PER_REQUEST):
                library.add(client, owner, min(PER_REQUEST, options.documents // 2 - number))
        added = time.perf_counter() - started
        mover = Mover(server, library.random)
        first = mover.active()["id"]
        with load(library, options.rate):
            to_model = mover.move(MODEL | {"mode": "gradual"}, options.kills - options.kills // 2)
            mover.roll_back(first)
            time.sleep(5)
            mover.roll_back(to_model["index"])
            to_store = mover.move(MODEL | {"mode": "dual", "store": "pgvector"}, options.kills // 2)
            time.sleep(5)
        under_load, counted = list(library.milliseconds), Counter(library.counts)
        lost = {}
        for index in (first, to_model["index"], to_store["index"]):
            mover.roll_back(index)
            before = library.counts["missing"]
            library.search_all(client)
            lost[index] = library.counts["missing"] - before
    sent = Counter(text for text in provider.embedded if text.startswith("The reference of this note"))
    p50, p95 = (report.percentile(under_load, percent) for percent in (50, 95))
    return {
        "documents": sum(map(len, library.known.values())), "added_s": round(added, 1), "to_model": to_model, "to_store": to_store,
        "kills": server.kills, "under_load": dict(counted), "p50_ms": round(p50, 1), "p95_ms": round(p95, 1),
        "lost": lost, "errors": library.counts["errors"], "missing": library.counts["missing"],
        "foreign": library.counts["foreign"], "sent_twice": sum(times - 1 for times in sent.values()), "sent": len(sent),
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=5_000)
    parser.add_argument("--rate", type=int, default=20)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    provider = OpenAIServer()
    with (
        tempfile.TemporaryDirectory(prefix="citewell-moving-") as scratch,
        postgres(None) as url,
        serving(provider.app) as address,
    ):
        folder = Path(scratch)
        generated.write_sentences(folder / "sentences.json", 5_000)
        sentences = json.loads((folder / "sentences.json").read_text(encoding="utf-8"))
        environment = {
            "JWT_SECRET": SECRET, "OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": f"{address}/v1", "CITEWELL_PGVECTOR_URL": url,
            "EMBEDDING_BASE_URL": f"{address}/v1", "CITEWELL_INDEX_BUILD": "always",
        }  # fmt: skip
        server = Server(folder / "data", environment)
        server.start()
        library = Library(server, sentences, random.Random(options.seed))
        try:
            result = measure(library, server, provider, options)
        finally:
            server.stop()
    print(json.dumps(result, indent=1))
    print("\n".join(library.wrong[:20]))
    if options.output is not None:
        machine = {"machine": report.machine()}
        options.output.write_text(json.dumps(machine | result, indent=1) + "\n", encoding="utf-8")
    sys.exit(any(result[kind] for kind in ("errors", "missing", "foreign")))


if __name__ == "__main__":
    main()
