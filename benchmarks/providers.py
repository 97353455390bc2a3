"""2,000 passages through each embedder's contract server: calls, tokens and batches; a kill in the middle of failing calls; a shared limit.

.venv/bin/python benchmarks/providers.py [--only store …]
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
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from starlette.types import ASGIApp, Message, Receive, Scope, Send

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from citewell import AsyncCitewell  # noqa: E402
from citewell.composition.configured import build_embedder  # noqa: E402
from citewell.composition.ledgers import open_vector_index  # noqa: E402
from citewell.settings import Settings, StoreEmbedding, load_settings  # noqa: E402
from citewell.storage.database import Database  # noqa: E402
from citewell.testing.vector_index import make_point  # noqa: E402
from tests.adapters.hub_files import EMBEDDER, hub_of_both  # noqa: E402
from tests.contract_servers import openai, pinecone, pinecone_database, voyage  # noqa: E402
from tests.contract_servers.faults import Fault  # noqa: E402
from tests.contract_servers.openai import OpenAIServer  # noqa: E402
from tests.contract_servers.pinecone import PineconeServer  # noqa: E402
from tests.contract_servers.pinecone_database import PineconeDatabase  # noqa: E402
from tests.contract_servers.serving import serving  # noqa: E402
from tests.contract_servers.vectors import tokens_of  # noqa: E402
from tests.contract_servers.voyage import VoyageServer  # noqa: E402

PASSAGES = 2_000
KILLED_AFTER = 600
LIMIT = 20
SHARED_CALLS = 15
_SEED = 5
LOCAL = "fastembed"
# What the calls that embed are addressed to; the store is asked other things too.
_EMBEDS = ("/embeddings", "/multimodalembeddings", "/embed", "/upsert")
Server = OpenAIServer | VoyageServer | PineconeServer | PineconeDatabase


@dataclass(frozen=True)
class Vendor:
    """A contract server, and what leads to it: `{address}` stands for its address."""

    server: Callable[[], Server]
    environment: Mapping[str, str]


def _embedder(provider: str, key: str, path: str, model: str) -> dict[str, str]:
    return {
        "CITEWELL_EMBEDDING_PROVIDER": provider,
        "CITEWELL_EMBEDDING_BASE_URL": f"{{address}}{path}",
        "CITEWELL_EMBEDDING_MODEL": model,
        f"{provider.upper()}_API_KEY": key,
    }


_VENDORS = {
    "openai": Vendor(OpenAIServer, _embedder("openai", openai.KEY, "/v1", "text-embedding-3-small")),
    "voyage": Vendor(VoyageServer, _embedder("voyage", voyage.KEY, "/v1", "voyage-4")),
    "voyage multimodal": Vendor(VoyageServer, _embedder("voyage", voyage.KEY, "/v1", "voyage-multimodal-3.5")),
    "pinecone": Vendor(PineconeServer, _embedder("pinecone", pinecone.KEY, "", "multilingual-e5-large")),
    "store": Vendor(
        PineconeDatabase,
        {
            "CITEWELL_EMBEDDING_PROVIDER": "store",
            "CITEWELL_EMBEDDING_MODEL": "multilingual-e5-large",
            "CITEWELL_EMBEDDING_BASE_URL": "http://127.0.0.1:9",
            "CITEWELL_VECTOR_STORE": "pinecone",
            "PINECONE_CONTROLLER_HOST": "{address}",
            "PINECONE_API_KEY": pinecone_database.KEY,
        },
    ),
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
        embeds = scope["type"] == "http" and scope["path"].endswith(_EMBEDS)

        async def held(message: Message) -> None:
            if embeds and message["type"] == "http.response.start" and message["status"] < 300 and self.after():
                self.waiting += 1
                while not self.open.is_set():  # noqa: ASYNC110 - another thread sets it
                    await asyncio.sleep(0.02)
            await send(message)

        await self.app(scope, receive, held)


class Trial:
    """One provider's server, and the processes that use it."""

    def __init__(self, name: str, folder: Path) -> None:
        self.name = name
        self.folder = folder / name.replace(" ", "-")
        self.server = _VENDORS[name].server()
        self.app = Held(self.server.app)

    def environment(self, address: str) -> dict[str, str]:
        """What leads to the server."""
        if isinstance(self.server, PineconeDatabase):
            self.server.address = address
        chosen = {key: value.format(address=address) for key, value in _VENDORS[self.name].environment.items()}
        return _inherited() | chosen

    def child(self, address: str, part: str, *arguments: str, **more: str) -> subprocess.Popen[bytes]:
        """A process of its own."""
        return _child(self.folder, part, *arguments, **self.environment(address) | more)

    def plain(self, address: str, file: Path) -> str:
        """All of it, undisturbed."""
        self.server.trouble = Trouble()
        _ended(self.name, self.child(address, "add", "--file", str(file)))
        counts = self.counts()
        tokens = sum(tokens_of(text) * count for text, count in counts.items())
        sizes = self.sizes()
        return f"{len(sizes)} | {max(sizes)} | {tokens} | {len(counts)} | {sum(counts.values()) - len(counts)}"

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
        _ended(self.name, self.child(address, "add", "--file", str(file)))
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
            _ended(self.name, one)
        # The store is also opened by each process, and asked what it shows: none of that embeds.
        begun = trouble.begun[-2 * SHARED_CALLS :]
        busiest = max(sum(0 <= other - first < 60 for other in begun) for first in begun)
        return f"{len(begun)} | {LIMIT} | {busiest}"

    def counts(self) -> Counter[str]:
        """How often each passage was embedded."""
        return Counter(text for text in self.server.embedded if "item " in str(text))

    def sizes(self) -> list[int]:
        """How many texts each call that embeds had."""
        return [len(_texts(one)) for one in self.server.requests if _texts(one)]


def _texts(request: object) -> Sequence[object]:
    """The texts of a request; none where it embeds nothing."""
    match request:
        case (_, str(path), list(records)):
            return records if path.endswith("/upsert") else ()
        case {"input": list(texts)} | {"inputs": list(texts)}:
            return texts
        case {"input": text}:
            return [text]
        case _:
            return ()


class LocalTrial:
    """fastembed, whose model is fetched from a contract server of the hub; what it reads is written to a file."""

    def __init__(self, address: str, folder: Path) -> None:
        self._address = address
        self._folder = folder / LOCAL

    def plain(self, file: Path) -> str:
        """All of it, undisturbed."""
        _ended(LOCAL, self._child("plain", file))
        runs, counts = self._runs("plain"), self._counts("plain")
        return f"{len(runs)} | {max(runs)} | 0 | {len(counts)} | {sum(counts.values()) - len(counts)}"

    def killed(self, file: Path) -> str:
        """Killed while it reads, and begun again."""
        first = self._child("killed", file)
        while first.poll() is None and sum(self._runs("killed")) < KILLED_AFTER:
            time.sleep(0.02)
        first.send_signal(signal.SIGKILL)
        first.wait()
        runs = len(self._runs("killed"))
        _ended(LOCAL, self._child("killed", file))
        counts = self._counts("killed")
        twice = sum(counts.values()) - len(counts)
        return f"{runs} | 0 | {max(0, PASSAGES - len(counts))} | | | {twice}"

    def _child(self, name: str, file: Path) -> subprocess.Popen[bytes]:
        chosen = {
            "CITEWELL_EMBEDDING_PROVIDER": LOCAL,
            "CITEWELL_EMBEDDING_MODEL": EMBEDDER,
            "HF_ENDPOINT": self._address,
            "HF_HOME": str(self._folder / "hf"),
            "HF_HUB_DISABLE_TELEMETRY": "1",
        }
        folder = self._folder / name
        folder.mkdir(parents=True, exist_ok=True)
        return _child(folder, "add", "--file", str(file), "--log", str(self._log(name)), **_inherited() | chosen)

    def _log(self, name: str) -> Path:
        return self._folder / f"{name}.txt"

    def _runs(self, name: str) -> list[int]:
        """How many texts each finished run of the model had."""
        lines = self._log(name).read_text().splitlines() if self._log(name).exists() else []
        return [len(line.split("\t")) for line in lines]

    def _counts(self, name: str) -> Counter[str]:
        texts = [text for line in self._log(name).read_text().splitlines() for text in line.split("\t")]
        return Counter(text for text in texts if "item " in text)


def _inherited() -> dict[str, str]:
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("CITEWELL_", "HF_"))}
    return kept | {"PYTHONPATH": str(ROOT)}


def _child(folder: Path, part: str, *arguments: str, **environment: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, __file__, "--part", part, "--folder", str(folder), *arguments]
    return subprocess.Popen(command, env=environment)


def _ended(name: str, process: subprocess.Popen[bytes]) -> None:
    """Wait for it; `SystemExit` when it failed."""
    if process.wait(timeout=600):
        raise SystemExit(f"{name}: a process ended with {process.returncode}")


async def add(folder: Path, file: Path) -> None:
    """Add the file, or wait for it where it is known."""
    async with AsyncCitewell(folder) as library:
        resource = await library.add(file)
        assert resource.error_code is None, resource


async def embed(folder: Path, number: int) -> None:
    """Call after call, with a limit that the database keeps."""
    database = Database(f"sqlite+aiosqlite:///{folder / 'shared.db'}")
    await database.migrate(folder / f"backups-{number}")
    settings = load_settings()
    if isinstance(settings.embedding, StoreEmbedding):
        await _embed_in_store(settings, database, number)
    else:
        embedder = build_embedder(settings, database)
        for call in range(SHARED_CALLS):
            await embedder.embed([f"item {number} of call {call}"])
    await database.close()


async def _embed_in_store(settings: Settings, database: Database, number: int) -> None:
    index = await open_vector_index(settings, build_embedder(settings, database).fingerprint, database)
    for call in range(SHARED_CALLS):
        point = make_point(number * SHARED_CALLS + call, owner=f"owner-{number}")
        await index.upsert([replace(point, dense=None, text=f"item {number} of call {call}")])
    await index.close()


def _note_what_is_read(log: Path) -> None:
    """Each finished run of fastembed's model becomes a line of texts."""
    from citewell.adapters.embedder.fastembed import FastembedEmbedder

    run = FastembedEmbedder.run

    def noted(self: FastembedEmbedder, texts: Sequence[str]) -> object:
        vectors = run(self, texts)
        with log.open("a") as file:
            file.write("\t".join(" ".join(text.split()) for text in texts) + "\n")
        return vectors

    setattr(FastembedEmbedder, "run", noted)  # noqa: B010


def _write(file: Path) -> None:
    chance = random.Random(_SEED)
    rows = [f"{n},item {chance.getrandbits(40):x},{chance.choice(['Oslo', 'Lima', 'Rabat'])}" for n in range(PASSAGES)]
    file.write_text("\n".join(["number,name,town", *rows]))


def run(names: Sequence[str]) -> None:
    """Every trial of every provider, as tables."""
    with tempfile.TemporaryDirectory() as top:
        file = Path(top) / "items.csv"
        _write(file)
        plain, killed, shared = [], [], []
        for name in (name for name in _VENDORS if name in names):
            trial = Trial(name, Path(top))
            with serving(trial.app) as address:
                plain.append(f"| {name} | {trial.plain(address, file)} |")
                killed.append(f"| {name} | {trial.killed(address, file)} |")
                shared.append(f"| {name} | {trial.shared(address)} |")
            print(plain[-1], killed[-1], shared[-1], sep="\n", file=sys.stderr, flush=True)
        if LOCAL in names:
            with serving(hub_of_both(Path(top) / "hub").app) as address:
                local = LocalTrial(address, Path(top))
                plain.append(f"| {LOCAL} | {local.plain(file)} |")
                killed.append(f"| {LOCAL} | {local.killed(file)} |")
    _table("embedder | calls | most texts in a call | tokens | passages | embedded twice", plain)
    _table("embedder | calls | failed | lost | calls in flight at the kill | their passages | embedded twice", killed)
    _table("embedder | calls of both processes | limit per minute | most in any minute", shared)


def _table(header: str, rows: list[str]) -> None:
    print(f"| {header} |\n|{'---|' * (header.count('|') + 1)}", *rows, "", sep="\n", flush=True)


def main() -> None:
    """The trials, or the part of one that runs in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="+", choices=[*_VENDORS, LOCAL], default=[*_VENDORS, LOCAL])
    parser.add_argument("--part", choices=["add", "embed"])
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--file", type=Path)
    parser.add_argument("--log", type=Path)
    parser.add_argument("--number", type=int, default=0)
    given = parser.parse_args()
    if given.log is not None:
        _note_what_is_read(given.log)
    if given.part == "add":
        asyncio.run(add(given.folder, given.file))
    elif given.part == "embed":
        asyncio.run(embed(given.folder, given.number))
    else:
        run(given.only)


if __name__ == "__main__":
    main()
