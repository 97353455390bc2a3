"""2,000 passages through each embedder's contract server: calls, tokens and batches; a kill in the middle of failing calls; a shared limit.

.venv/bin/python benchmarks/providers.py
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from starlette.types import ASGIApp, Message, Receive, Scope, Send

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from citewell import AsyncCitewell  # noqa: E402
from citewell.composition.configured import build_embedder  # noqa: E402
from citewell.settings import load_settings  # noqa: E402
from citewell.storage.database import Database  # noqa: E402
from tests.contract_servers import openai, pinecone, voyage  # noqa: E402
from tests.contract_servers.faults import Fault  # noqa: E402
from tests.contract_servers.serving import serving  # noqa: E402
from tests.contract_servers.vectors import tokens_of  # noqa: E402

PASSAGES = 2_000
KILLED_AFTER = 600
LIMIT = 20
SHARED_CALLS = 15
_SEED = 5
_KINDS = {
    "openai": (openai.OpenAIServer, openai.KEY, "/v1", "text-embedding-3-small"),
    "voyage": (voyage.VoyageServer, voyage.KEY, "/v1", "voyage-4"),
    "voyage multimodal": (voyage.VoyageServer, voyage.KEY, "/v1", "voyage-multimodal-3.5"),
    "pinecone": (pinecone.PineconeServer, pinecone.KEY, "", "multilingual-e5-large"),
}


@dataclass
class Trouble:
    """A share of calls fails; all are slow. `begun` has the time of each call."""

    share: float = 0.0
    pause: float = 0.0
    begun: list[float] = field(default_factory=list)
    failed: int = 0
    chance: random.Random = field(default_factory=lambda: random.Random(_SEED))

    def __call__(self) -> Fault | None:
        """What the next call meets."""
        self.begun.append(time.monotonic())
        if self.chance.random() < self.share:
            self.failed += 1
            return Fault(status=self.chance.choice([429, 500]), retry_after="0.1")
        return Fault(pause=self.pause) if self.pause else None


class Held:
    """The server's app; once it has embedded so many passages, its answers are kept back, as from a vendor that is slow just then."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self.after: Callable[[], bool] = lambda: False
        self.open = threading.Event()
        self.waiting = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """As the app."""

        async def held(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] == 200 and self.after():
                self.waiting += 1
                while not self.open.is_set():  # noqa: ASYNC110 - another thread sets it
                    await asyncio.sleep(0.02)
            await send(message)

        await self.app(scope, receive, held)


class Trial:
    """One provider's server, and the processes that use it."""

    def __init__(self, name: str, folder: Path) -> None:
        kind, self._key, self._path, self._model = _KINDS[name]
        self.name = name
        self.folder = folder / name.replace(" ", "-")
        self.server = kind()
        self.app = Held(self.server.app)

    def environment(self, address: str) -> dict[str, str]:
        """What leads to the server."""
        provider = self.name.split()[0]
        return {
            **{key: value for key, value in os.environ.items() if not key.startswith("CITEWELL_")},
            "PYTHONPATH": str(ROOT),
            "CITEWELL_EMBEDDING_PROVIDER": provider,
            "CITEWELL_EMBEDDING_BASE_URL": f"{address}{self._path}",
            "CITEWELL_EMBEDDING_MODEL": self._model,
            f"{provider.upper()}_API_KEY": self._key,
        }

    def child(self, address: str, part: str, *arguments: str, **more: str) -> subprocess.Popen[bytes]:
        """A process of its own."""
        command = [sys.executable, __file__, "--part", part, "--folder", str(self.folder), *arguments]
        return subprocess.Popen(command, env=self.environment(address) | more)

    def plain(self, address: str, file: Path) -> str:
        """All of it, undisturbed."""
        trouble = self.server.trouble = Trouble()
        self.ended(self.child(address, "add", "--file", str(file)))
        counts = self.counts()
        tokens = sum(tokens_of(text) * count for text, count in counts.items())
        sizes = [len(self.texts(body)) for body in self.server.requests[-len(trouble.begun) :]]
        return f"{len(trouble.begun)} | {max(sizes)} | {tokens} | {len(counts)} | {sum(counts.values()) - len(counts)}"

    def killed(self, address: str, file: Path) -> str:
        """Killed while a fifth of the calls fails and some answers are awaited, and begun again."""
        self.server.embedded.clear()
        trouble = self.server.trouble = Trouble(share=0.2, pause=0.1)
        self.folder = self.folder.with_name(f"{self.folder.name}-killed")
        answered: list[int] = []

        def after() -> bool:
            """Whether this answer, which is that to the passages embedded last, is kept back."""
            is_kept = len(self.server.embedded) > KILLED_AFTER
            if not is_kept:
                answered.append(sum(self.counts().values()))
            return is_kept

        self.app.after = after
        first = self.child(address, "add", "--file", str(file))
        self._until_nothing_moves(first)
        first.send_signal(signal.SIGKILL)
        first.wait()
        before, waiting = Counter(self.counts()), self.app.waiting
        self.app.after = lambda: False
        self.app.open.set()
        self.ended(self.child(address, "add", "--file", str(file)))
        counts = self.counts()
        lost, twice = max(0, PASSAGES - len(counts)), sum(counts.values()) - len(counts)
        in_flight = sum(before.values()) - max(answered, default=0)
        return f"{len(trouble.begun)} | {trouble.failed} | {lost} | {waiting} | {in_flight} | {twice}"

    def _until_nothing_moves(self, process: subprocess.Popen[bytes]) -> None:
        """Until answers are awaited and no other call has been made for three seconds."""
        seen, since = (0, 0), time.monotonic()
        while process.poll() is None and (not self.app.waiting or time.monotonic() - since < 3):
            now = (self.app.waiting, len(self.server.requests))
            if now != seen:
                seen, since = now, time.monotonic()
            time.sleep(0.02)

    def shared(self, address: str) -> str:
        """Two processes with one limit of calls per minute."""
        trouble = self.server.trouble = Trouble()
        self.folder.mkdir(parents=True, exist_ok=True)
        limit = {"CITEWELL_EMBEDDING_REQUESTS_PER_MINUTE": str(LIMIT)}
        both = [self.child(address, "embed", "--number", str(number), **limit) for number in range(2)]
        for one in both:
            self.ended(one)
        busiest = max(sum(0 <= other - begun < 60 for other in trouble.begun) for begun in trouble.begun)
        return f"{len(trouble.begun)} | {LIMIT} | {busiest}"

    def counts(self) -> Counter[str]:
        """How often each passage was embedded."""
        return Counter(text for text in self.server.embedded if "item " in str(text))

    @staticmethod
    def texts(body: dict[str, object]) -> list[object]:
        """The texts of a request."""
        found = body.get("input") or body.get("inputs") or ()
        return list(found) if isinstance(found, list) else [found]

    def ended(self, process: subprocess.Popen[bytes]) -> None:
        """Wait for it; `SystemExit` when it failed."""
        if process.wait(timeout=600):
            raise SystemExit(f"{self.name}: a process ended with {process.returncode}")


async def add(folder: Path, file: Path) -> None:
    """Add the file, or wait for it where it is known."""
    async with AsyncCitewell(folder) as library:
        resource = await library.add(file)
        assert resource.error_code is None, resource


async def embed(folder: Path, number: int) -> None:
    """Call after call, with a limit that the database keeps."""
    database = Database(f"sqlite+aiosqlite:///{folder / 'shared.db'}")
    await database.migrate(folder / f"backups-{number}")
    embedder = build_embedder(load_settings(), database)
    for call in range(SHARED_CALLS):
        await embedder.embed([f"item {number} of call {call}"])
    await database.close()


def _write(file: Path) -> None:
    chance = random.Random(_SEED)
    rows = [f"{n},item {chance.getrandbits(40):x},{chance.choice(['Oslo', 'Lima', 'Rabat'])}" for n in range(PASSAGES)]
    file.write_text("\n".join(["number,name,town", *rows]))


def run() -> None:
    """Every trial of every provider, as tables."""
    with tempfile.TemporaryDirectory() as top:
        file = Path(top) / "items.csv"
        _write(file)
        plain, killed, shared = [], [], []
        for name in _KINDS:
            trial = Trial(name, Path(top))
            with serving(trial.app) as address:
                plain.append(f"| {name} | {trial.plain(address, file)} |")
                killed.append(f"| {name} | {trial.killed(address, file)} |")
                shared.append(f"| {name} | {trial.shared(address)} |")
    _table("embedder | calls | most texts in a call | tokens | passages | embedded twice", plain)
    _table("embedder | calls | failed | lost | calls in flight at the kill | their passages | embedded twice", killed)
    _table("embedder | calls of both processes | limit per minute | most in any minute", shared)


def _table(header: str, rows: list[str]) -> None:
    print(f"| {header} |\n|{'---|' * (header.count('|') + 1)}", *rows, "", sep="\n", flush=True)


def main() -> None:
    """The trials, or the part of one that runs in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--part", choices=["add", "embed"])
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--file", type=Path)
    parser.add_argument("--number", type=int, default=0)
    given = parser.parse_args()
    if given.part == "add":
        asyncio.run(add(given.folder, given.file))
    elif given.part == "embed":
        asyncio.run(embed(given.folder, given.number))
    else:
        run()


if __name__ == "__main__":
    main()
