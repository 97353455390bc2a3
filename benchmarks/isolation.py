"""Random retrievals of 50 owners whose files hold the same words: how many hits belong to somebody else? 0, or the exit code is 1.

usage: .venv/bin/python benchmarks/isolation.py [--store edge] [--retrievals 1000000] [--searches 50000] [--requests 10000]
                                                [--without-owner] [--output FILE]

Every owner has the same sentences, and in each a mark of the owner's own. Whoever asks is somebody else than the owner whose words are
asked for, so that without a condition on the owner the best hit is foreign. Filters name other owners' projects, files and metadata, admit
everything by negation, or hold values that look like parts of a query language.

retrievals: asked of the vector store itself, by vector, by words, and by both legs as retrieval runs them. SQL, which leaves out what is
            not the owner's, does not stand behind them.
searches:   through the search service in this process, which refuses what it does not know
requests:   `POST /search`, each owner with a JWT of their own; a hit counts as foreign also when its text holds a foreign mark
--without-owner takes the owner out of the store's filter (in Redis: out of the names of indexes): then foreign hits must be counted,
and the exit code is 1. Stores: edge; pgvector, with everything else in Postgres too; redis. Their servers are started from wheels.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import itertools
import json
import os
import random
import re
import secrets
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import report
import server
import stores

from citewell.composition import Services, open_services
from citewell.errors import CitewellError
from citewell.filters.language import lowered, parse_filters
from citewell.ports import EmbedderWrapper, FloatMatrix, TextKind, VectorIndex
from citewell.ports.points import OWNER
from citewell.retrieve.legs import Legs
from citewell.retrieve.options import RetrievalOptions
from citewell.settings import load_settings
from citewell.text.sparse import sparse_query
from citewell.types import Filter, SearchOptions, SearchRequest, Trace, VectorQuery

ROOT = Path(__file__).resolve().parent.parent
AT_ONCE, LIMIT, PROGRESS = 8, 20, 50_000
LEGS = ("dense", "lexical", "hybrid")
SENTENCES = (
    "The gate code of the {place} is {mark}, and it changes on Monday.",
    "Invoice {n} of the {place} was paid with the reference {mark}.",
    "The patient of room {n} in the {place} takes the dose {mark} twice a day.",
    "Our offer for the {place} is {n} thousand, under the password {mark}.",
    "The court decided case {n} about the {place}; the sealed annex is {mark}.",
    "Salaries at the {place} rise by {n} percent, says memo {mark}.",
)
PLACES = ("harbour", "library", "clinic", "warehouse", "school", "station", "brewery", "museum", "bakery", "garden")
LOOKS_LIKE_SYNTAX = (
    "*",
    '"} or {"',
    "' OR 1=1 --",
    "x | @owner_id:{*}",
    "$1 OR TRUE",
    "[-inf +inf]",
    ") => [KNN 9",
    "\\",
    "%",
)
MARK = re.compile(r"mark-(\d\d)x")


@dataclass(slots=True)
class Owner:
    """Somebody who asks, and what is theirs."""

    number: int
    id: str
    projects: dict[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])

    @property
    def resources(self) -> tuple[str, ...]:
        return tuple(itertools.chain.from_iterable(self.projects.values()))


@dataclass(frozen=True, slots=True)
class Attempt:
    """A retrieval: whose words are asked for, by whom, and how it is narrowed. project: a scope, by id."""

    asker: Owner
    victim: Owner
    query: str
    filters: tuple[dict[str, Any], ...] = ()
    resource_ids: tuple[str, ...] | None = None
    project: str | None = None


@dataclass(slots=True)
class Outcome:
    """What came of many attempts."""

    retrievals: int = 0
    hits: int = 0
    foreign: int = 0
    empty: int = 0
    refused: Counter[str] = field(default_factory=Counter[str])
    examples: list[str] = field(default_factory=list[str])
    seconds: float = 0.0

    def count(self, attempt: Attempt, owners: Sequence[int | None]) -> None:
        """Whose each hit is, by number; None for nobody's, which is as bad."""
        foreign = sum(number != attempt.asker.number for number in owners)
        self.retrievals += 1
        self.hits += len(owners)
        self.foreign += foreign
        self.empty += not owners
        if foreign and len(self.examples) < 3:
            self.examples.append(
                f"{attempt.asker.number} of {attempt.victim.number}: {attempt.query} {attempt.filters}"
            )

    def refuse(self, code: str) -> None:
        """An attempt that ended with an error, which shows nothing."""
        self.retrievals += 1
        self.refused[code] += 1

    def to_json(self) -> dict[str, Any]:
        return {
            "retrievals": self.retrievals, "hits": self.hits, "foreign": self.foreign, "without_hits": self.empty,
            "refused": dict(self.refused), "seconds": round(self.seconds), **({"examples": self.examples} if self.examples else {}),
        }  # fmt: skip


def sentence(number: int, n: int) -> str:
    """Sentence `n` of an owner: the same for all owners but for the mark."""
    return SENTENCES[n % len(SENTENCES)].format(place=PLACES[n % len(PLACES)], n=n, mark=f"mark-{number:02}x")


def attempts(owners: Sequence[Owner], records: int, seed: int) -> Iterator[Attempt]:
    """Without end. Narrowings: none, filters in which foreign names occur or that admit all, foreign ids, own and foreign ids, projects."""
    chance = random.Random(seed)
    while True:
        asker, victim = chance.sample(list(owners), 2)
        query = sentence(victim.number, chance.randrange(records))
        own, foreign = chance.choice(list(asker.projects)), chance.choice(list(victim.projects))
        some = tuple(chance.sample(victim.resources, 3))
        match chance.randrange(6):
            case 0:
                yield Attempt(asker, victim, query)
            case 1 | 2:
                yield Attempt(asker, victim, query, (hostile(asker, victim, foreign, chance),))
            case 3:
                yield Attempt(asker, victim, query, resource_ids=some)
            case 4:
                yield Attempt(asker, victim, query, resource_ids=(*some, *chance.sample(asker.resources, 3)))
            case _:
                yield Attempt(asker, victim, query, project=chance.choice([own, foreign]))


def hostile(asker: Owner, victim: Owner, project: str, chance: random.Random) -> dict[str, Any]:
    """A filter that is allowed, and that would show foreign files if only it decided."""
    theirs = {"field": "metadata.branch", "value": f"branch {victim.number}"}
    text = chance.choice(LOOKS_LIKE_SYNTAX)
    return chance.choice(
        [
            {"field": "project", "operator": "in", "value": [project]},
            {
                "any": [
                    {"field": "project", "value": project},
                    {"field": "filename", "operator": "exists", "value": True},
                ]
            },
            {"not": {"field": "metadata.branch", "value": f"branch {asker.number}"}},
            {"any": [theirs, {"not": theirs}]},
            theirs,
            {"field": "filename", "operator": "prefix", "value": f"note of {victim.number:02}"},
            {"not": {"field": "filename", "operator": "contains", "value": text}},
            {"any": [{"field": "filename", "value": text}, {"not": {"field": "sheet", "value": text}}]},
            {"field": "metadata.rank", "operator": "gte", "value": 0},
        ]
    )


class Remembering(EmbedderWrapper):
    """Embeds a query once: what is measured is whose hits come back, not the model."""

    def __init__(self, inner: Any) -> None:
        super().__init__(inner)
        self._known: dict[str, FloatMatrix] = {}

    async def embed(self, texts: Sequence[str], kind: TextKind = "document") -> FloatMatrix:
        """Of one text."""
        (text,) = texts
        if text not in self._known:
            self._known[text] = await self.inner.embed(texts, kind)
        return self._known[text]


async def fill(services: Services, count: int, records: int) -> tuple[list[Owner], dict[str, int]]:
    """Owners with two projects each; and the number of the owner of every chunk and resource, by its id."""
    owners: list[Owner] = []
    whose: dict[str, int] = {}
    for number in range(count):
        owner = Owner(number, await services.auth.repository.ensure(f"jwt:owner {number}"))
        for part in range(2):
            project = await services.projects.create(owner.id, f"Part {part}")
            texts = [
                {
                    "id": f"{n}",
                    "title": f"note of {number:02}, {n}",
                    "text": sentence(number, n),
                    "metadata": {"branch": f"branch {number}", "rank": n},
                }
                for n in range(part, records, 2)
            ]
            added = await services.resources.add_records(owner.id, texts, project.id)
            owner.projects[project.id] = added.resource_ids
        for resource_id in owner.resources:
            whose[resource_id] = number
            chunks = await services.contents.chunks(owner.id, resource_id, 100, None)
            whose |= {chunk.id: number for chunk in chunks[0]}
        owners.append(owner)
    return owners, whose


async def run(
    outcome: Outcome, count: int, tries: Iterator[Attempt], ask: Callable[[Attempt], Awaitable[Sequence[int | None]]]
) -> None:
    """Make `count` attempts, some at once."""
    started = time.perf_counter()
    left = itertools.islice(tries, count)

    async def work() -> None:
        for attempt in left:
            try:
                outcome.count(attempt, await ask(attempt))
            except CitewellError as error:
                outcome.refuse(error.code)
            if outcome.retrievals % PROGRESS == 0:
                print(
                    f"{outcome.retrievals:,} of {count:,}: {outcome.foreign} foreign of {outcome.hits:,}",
                    file=sys.stderr,
                )

    await asyncio.gather(*[work() for _ in range(AT_ONCE)])
    outcome.seconds = time.perf_counter() - started


def scope_of(attempt: Attempt, projects: Mapping[str, tuple[str, ...]]) -> Filter:
    """The store's filter as retrieval makes it, if nothing before the store had looked whose ids these are."""
    ids = attempt.resource_ids if attempt.project is None else projects[attempt.project]
    conditions = tuple(lowered(one) for one in parse_filters(list(attempt.filters)))
    return Filter(owner_id=attempt.asker.id, resource_ids=ids, conditions=conditions)


def of_store(services: Services, owners: Sequence[Owner], whose: Mapping[str, int]) -> Callable[..., Any]:
    """Asks the vector store, leg after leg in turns."""
    active = services.indexes.migration.indexes.active
    store: VectorIndex = active.store
    embedder = Remembering(active.embedder)
    both = Legs(embedder, store, RetrievalOptions())
    projects = {key: ids for owner in owners for key, ids in owner.projects.items()}
    turns = itertools.cycle(LEGS)

    async def ask(attempt: Attempt) -> list[int | None]:
        scope = scope_of(attempt, projects)
        match next(turns):
            case "dense":
                vector = await both.vector_of(attempt.query)
                found = await store.search(VectorQuery(dense=tuple(vector.tolist()), filter=scope, limit=LIMIT))
            case "lexical":
                terms = sparse_query(attempt.query, "en")
                found = await store.search(VectorQuery(sparse=terms, filter=scope, limit=LIMIT))
            case _:
                found = (await both.find(attempt.query, scope, LIMIT, Trace())).fused
        return [whose.get(one.id) for one in found]

    return ask


def of_service(services: Services, whose: Mapping[str, int]) -> Callable[..., Any]:
    """Asks the search service."""

    async def ask(attempt: Attempt) -> list[int | None]:
        request = SearchRequest(
            owner_id=attempt.asker.id,
            query=attempt.query,
            top_k=LIMIT,
            projects=None if attempt.project is None else (attempt.project,),
            resource_ids=attempt.resource_ids,
            conditions=parse_filters(list(attempt.filters)),
            options=SearchOptions(neighbours=1),
        )
        found = await services.search.search(request)
        shown = [chunk for passage in found.passages for chunk in passage.chunks]
        return [whose.get(chunk.id) for chunk in [*(hit.chunk for hit in found.hits), *shown]]

    return ask


def of_http(clients: Mapping[int, httpx.AsyncClient], whose: Mapping[str, int]) -> Callable[..., Any]:
    """Asks `POST /search`."""

    async def ask(attempt: Attempt) -> list[int | None]:
        body = {"query": attempt.query, "top_k": LIMIT, "filters": list(attempt.filters), "neighbours": 1}
        body |= {"project": attempt.project} if attempt.project else {}
        body |= {"resource_ids": list(attempt.resource_ids)} if attempt.resource_ids else {}
        answer = await clients[attempt.asker.number].post("/search", json=body)
        if answer.is_error:
            raise _Refused(answer)
        found: dict[str, Any] = answer.json()
        owners: list[int | None] = [whose.get(hit["chunk_id"]) for hit in found["hits"]]
        owners += [whose.get(key) for passage in found["passages"] for key in passage["chunk_ids"]]
        return owners + [int(mark) for mark in MARK.findall(json.dumps([found["hits"], found["passages"]]))]

    return ask


class _Refused(CitewellError):
    """The server answered with an error. 5xx ends the run."""

    def __init__(self, answer: httpx.Response) -> None:
        if answer.status_code >= 500:
            raise SystemExit(f"{answer.status_code}: {answer.text}")
        self.code = f"{answer.status_code} {answer.json()['error']['code']}"


def without_owner(store: str) -> None:
    """Take the owner out of what the store is asked."""
    if store == "edge":
        import qdrant_edge as qe

        from citewell.adapters.index.qdrant_edge_filters import EdgeConditions

        one_of = EdgeConditions.one_of
        EdgeConditions.one_of = lambda self, name, values: (  # type: ignore[method-assign]
            qe.Filter(must=[]) if name == OWNER else one_of(self, name, values)
        )
    elif store == "pgvector":
        from citewell.adapters.index.pgvector_filters import BoundSql

        where = BoundSql.where
        BoundSql.where = lambda self, scope: re.sub(  # type: ignore[method-assign]
            r"owner_id = (\$\d+)", r"\1::text IS NOT NULL", where(self, scope)
        )
    else:
        from citewell.adapters.index import redis

        redis.space_of = lambda owner_id: "everybody"  # type: ignore[assignment]


@contextlib.contextmanager
def environment(store: str) -> Iterator[None]:
    """Settings of the store, whose server runs while the block does."""
    with contextlib.ExitStack() as stack:
        os.environ["CITEWELL_VECTOR_STORE"] = store
        if store == "pgvector":
            os.environ["CITEWELL_DATABASE_URL"] = stack.enter_context(stores.postgres(None))
        if store == "redis":
            sys.path.insert(0, str(ROOT))
            from tests.redis_server import redis_server

            os.environ["CITEWELL_REDIS_URL"] = stack.enter_context(redis_server())
        yield


async def in_process(data: Path, options: argparse.Namespace) -> tuple[dict[str, Outcome], list[Owner], dict[str, int]]:
    """What the store and the service give; the owners stay for the requests."""
    outcomes = {"store": Outcome(), "service": Outcome()}
    async with open_services(load_settings(data=data)) as services:
        owners, whose = await fill(services, options.owners, options.records)
        ask = of_store(services, owners, whose)
        await run(outcomes["store"], options.retrievals, attempts(owners, options.records, options.seed), ask)
        ask = of_service(services, whose)
        await run(outcomes["service"], options.searches, attempts(owners, options.records, options.seed + 1), ask)
    return outcomes, owners, whose


async def over_http(
    port: int, secret: str, found: tuple[Any, list[Owner], dict[str, int]], options: argparse.Namespace
) -> Outcome:
    """What the owners are answered by a server."""
    _, owners, whose = found
    outcome, base = Outcome(), f"http://127.0.0.1:{port}"
    async with contextlib.AsyncExitStack() as stack:
        clients: dict[int, httpx.AsyncClient] = {}
        for owner in owners:
            headers = server.bearer(secret, f"owner {owner.number}")
            limits = httpx.Limits(keepalive_expiry=1)  # sooner than the server closes a connection that nobody uses
            client = httpx.AsyncClient(base_url=base, headers=headers, timeout=120, limits=limits)
            clients[owner.number] = await stack.enter_async_context(client)
        tries = attempts(owners, options.records, options.seed + 2)
        await run(outcome, options.requests, tries, of_http(clients, whose))
    return outcome


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--store", choices=["edge", "pgvector", "redis"], default="edge")
    parser.add_argument("--owners", type=int, default=50)
    parser.add_argument("--records", type=int, default=60, help="of each owner")
    parser.add_argument("--retrievals", type=int, default=1_000_000)
    parser.add_argument("--searches", type=int, default=50_000)
    parser.add_argument("--requests", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=18)
    parser.add_argument("--without-owner", action="store_true", help="show that foreign hits would be counted")
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    secret = secrets.token_hex(32)
    os.environ["CITEWELL_AUTH_SECRET"] = secret
    if options.without_owner:
        without_owner(options.store)
    with tempfile.TemporaryDirectory(prefix="citewell-bench-") as scratch, environment(options.store):
        data = Path(scratch) / "data"
        found = asyncio.run(in_process(data, options))
        outcomes = found[0]
        if options.requests:
            with server.serving(data, (sys.executable, "-m", "citewell.cli")) as ours:
                outcomes["http"] = asyncio.run(over_http(ours.port, secret, found, options))
    result = {"store": options.store, "owners": options.owners, "chunks": options.owners * options.records}
    result |= {"without_owner": options.without_owner, **{name: one.to_json() for name, one in outcomes.items()}}
    print(json.dumps(result, indent=1))
    if options.output:
        options.output.write_text(json.dumps({"machine": report.machine()} | result, indent=1) + "\n", encoding="utf-8")
    return int(any(one.foreign for one in outcomes.values()))


if __name__ == "__main__":
    sys.exit(main())
