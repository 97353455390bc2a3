"""A Citewell server of our own on a data folder of our own, used as any client uses it: over HTTP with the printed token."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
from joserfc import jwt
from joserfc.jwk import OctKey
from process import cpu_seconds, wait

CITEWELL = Path(sys.executable).parent / "citewell"
TERMINAL = {"indexed", "analyzed", "described", "stored", "partial", "failed"}


@dataclass(frozen=True)
class Server:
    """A running server: its address, token and process."""

    port: int
    token: str
    pid: int
    start_seconds: float
    start_cpu_seconds: float

    def client(self) -> httpx.Client:
        return httpx.Client(
            base_url=f"http://127.0.0.1:{self.port}", headers={"Authorization": f"Bearer {self.token}"}, timeout=600
        )

    @property
    def cpu_seconds(self) -> float:
        return cpu_seconds(self.pid)


@contextmanager
def serving(data: Path, command: Sequence[str | Path] = (CITEWELL,), pause: float = 0.05) -> Iterator[Server]:
    """Serve `data` until the block ends, asking every `pause` seconds whether it is up; `RuntimeError` with the log's last lines when the server does not come up."""
    port = _free_port()
    log = data.with_suffix(".log")
    with log.open("ab") as output:
        started = time.perf_counter()
        process = subprocess.Popen(
            [*command, "serve", "--data", data, "--port", str(port)], stdout=output, stderr=subprocess.STDOUT
        )
    try:
        _wait_until_up(process, port, log, pause)
        seconds, cpu = time.perf_counter() - started, cpu_seconds(process.pid)
        printed = subprocess.run([*command, "token", "--data", data], capture_output=True, text=True, check=True).stdout
        yield Server(port, printed.split()[-1], process.pid, seconds, cpu)
    finally:
        process.terminate()
        wait(process)


def bearer(secret: str, owner: str) -> dict[str, str]:
    """The header of a JWT for this owner, of a server whose `CITEWELL_AUTH_SECRET` is `secret`; good for a day."""
    token = jwt.encode({"alg": "HS256"}, {"sub": owner, "exp": int(time.time()) + 86_400}, OctKey.import_key(secret))
    return {"Authorization": f"Bearer {token}"}


def add_file(client: httpx.Client, path: Path) -> dict:
    """Upload a file and wait for its terminal state, which is returned."""
    with path.open("rb") as file:
        answer = client.post("/ingest", files={"file": (path.name, file)})
    answer.raise_for_status()
    resource = answer.json()
    while resource["status"] not in TERMINAL:
        time.sleep(0.25)
        answer = client.get("/resources", params={"id": resource["id"], "fields": "summary"})
        (resource,) = answer.raise_for_status().json()["resources"]
    return resource


def search(client: httpx.Client, query: str, top_k: int) -> list[dict]:
    return client.post("/search", json={"query": query, "top_k": top_k}).raise_for_status().json()["hits"]


def _wait_until_up(process: subprocess.Popen, port: int, log: Path, pause: float, limit: float = 120) -> None:
    deadline = time.monotonic() + limit
    with httpx.Client(timeout=2) as client:
        while time.monotonic() < deadline:
            try:
                if client.get(f"http://127.0.0.1:{port}/health").status_code == 200:
                    return
            except httpx.TransportError:
                if process.poll() is not None:
                    break
            time.sleep(pause)
    tail = "\n".join(log.read_text(encoding="utf-8", errors="replace").splitlines()[-15:])
    raise RuntimeError(f"The server did not come up:\n{tail}")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
