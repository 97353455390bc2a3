"""A vector store in Redis with its query engine: JSON documents, with a key prefix and an index for each owner.

In lexical search, Redis selects candidates by its BM25; they are rescored as in every other store, with the document
frequencies of the owner's index.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from typing import Any, cast

import numpy as np
import orjson
from redis.asyncio import Redis
from redis.exceptions import AuthenticationError, NoPermissionError, RedisError, ResponseError

from citewell.adapters.index.redis_documents import (
    SCHEMA_VERSION,
    WORDS,
    Graph,
    RedisNames,
    creation,
    document,
    patch,
    space_of,
    token,
)
from citewell.adapters.index.redis_queries import (
    PRESENT,
    RedisQuery,
    attribute,
    entry,
    is_metadata,
    needs_vocabulary,
)
from citewell.errors import CitewellError, ConfigurationError, Unavailable
from citewell.filters.predicates import admits_nothing
from citewell.ports import Capability, Fingerprint, FloatMatrix
from citewell.ports.points import OWNER, in_parts, pulled
from citewell.settings import RedisStore
from citewell.text.sparse import inverse_frequency
from citewell.types import Filter, JsonObject, Point, ScoredId, SparseVector, VectorQuery, conditions_in, scored

_BATCH = 200
_MAX_IDS = 1_000
# The most results that Redis returns from one search.
MAX_RESULTS = 1_000_000
# Candidates of a graph search, and the oversampling factor of lexical search before rescoring.
_CANDIDATES = 200
_WEIGHED_AGAIN = 4
_CONNECTIONS = 256
# Changes many documents in one call, without re-creating those deleted meanwhile.
_MERGE = """
for _, key in ipairs(KEYS) do
  if redis.call('EXISTS', key) == 1 then redis.call('JSON.MERGE', key, '$', ARGV[1]) end
end
"""
_LOST = "Redis has lost the index. Restart Citewell to rebuild it from the database."
# Exceptions of the client, and those of parsing unexpected responses.
_FAILURES = (RedisError, OSError, ValueError, TypeError, AttributeError, IndexError, KeyError)


class RedisIndex:
    """One model's points in one Redis, usable by any number of processes at once. Open it with `open`."""

    def __init__(self, client: Redis, names: RedisNames, dimensions: int, graph: Graph) -> None:
        self._client = client
        self._names = names
        self._dimensions = dimensions
        self._graph: Graph = graph
        self._made: set[str] = set()
        self._closed = False

    @classmethod
    async def open(
        cls,
        client: Redis,
        index: str,
        dimensions: int,
        *,
        prefix: str = "citewell",
        graph: Graph = "hnsw",
    ) -> RedisIndex:
        """Open or create the index of this name. The index owns the client and closes it, also if opening fails.

        Raises `Unavailable` if the server cannot be reached; `ConfigurationError` if it rejects the password, has no
        query engine, or may evict keys when its memory is full.
        """
        opened = cls(client, RedisNames.of(prefix, index), dimensions, graph)
        try:
            async with _failures("could not be opened"):
                await opened._prepare(index)
        except BaseException:
            await opened.close()
            raise
        return opened

    @property
    def capabilities(self) -> frozenset[Capability]:
        """Dense and sparse search, filters, and persistent writes."""
        return frozenset({Capability.SPARSE, Capability.FILTERS, Capability.PERSISTENT})

    async def upsert(self, points: Sequence[Point]) -> None:
        """See `VectorIndex.upsert`; visible to all on return, and as durable as Redis is configured to be."""
        latest = list({point.id: point for point in points}.values())
        async with self._calling():
            await self._require_index()
            for start in range(0, len(latest), _BATCH):
                await self._upsert(latest[start : start + _BATCH])

    async def search(self, query: VectorQuery) -> list[ScoredId]:
        """See `VectorIndex.search`. Dense scores are inner products, lexical ones BM25 with the IDF of the corpus."""
        self._check_open()
        if admits_nothing(query.filter) or query.limit < 1:
            return []
        async with self._calling():
            if query.dense is not None:
                return await self._search_dense(query, query.dense)
            if query.sparse is not None:
                return await self._search_words(query, query.sparse)
        raise ValueError("A vector query needs a dense or a sparse vector.")

    async def vectors(self, ids: Sequence[str]) -> dict[str, FloatMatrix]:
        """See `VectorIndex.vectors`."""
        found: dict[str, FloatMatrix] = {}
        async with self._calling():
            for some in in_parts(ids, _MAX_IDS):
                keys = await self._keys(some)
                rows = await self._call("JSON.MGET", *keys.values(), "$.dense") if keys else []
                for name, row in zip(keys, rows, strict=True):
                    for vector in orjson.loads(row) if row else []:
                        found[name] = np.asarray(vector, dtype=np.float32)
        return found

    async def set_payload(self, filter: Filter, payload: JsonObject) -> None:
        """See `VectorIndex.set_payload`; visible to all on return."""
        changes = orjson.dumps(patch(payload)).decode()
        async with self._calling():
            keys = await self._keys_of(filter)
            for some in in_parts(keys, _BATCH):
                await self._call("EVAL", _MERGE, len(some), *some, changes)

    async def delete(self, filter: Filter) -> None:
        """See `VectorIndex.delete`."""
        async with self._calling():
            keys = await self._keys_of(filter)
            for some in in_parts(keys, _MAX_IDS):
                await self._remove({key.rsplit(":", 1)[1]: key for key in some})

    async def delete_ids(self, ids: Sequence[str]) -> None:
        """See `VectorIndex.delete_ids`."""
        async with self._calling():
            for some in in_parts(ids, _MAX_IDS):
                await self._remove(await self._keys(some))

    async def count(self, filter: Filter | None = None) -> int:
        """See `VectorIndex.count`; exact."""
        async with self._calling():
            if filter is None:
                return int(await self._call("HLEN", self._names.owners))
            if admits_nothing(filter):
                return 0
            query = await self._query(filter)
            return int((await self._find(filter, query.where(filter), query, "LIMIT", 0, 0))[0])

    async def remove(self) -> None:
        """See `RemovableIndex.remove`."""
        if await self.count() == 0:
            async with self._calling():
                # Without this key, no process writes any more.
                await self._call("UNLINK", self._names.base, self._names.owners)
                for name in await self._call("FT._LIST"):
                    if bytes(name).decode().startswith(self._names.index("")):
                        await self._call("FT.DROPINDEX", name)

    async def close(self) -> None:
        """See `VectorIndex.close`."""
        if not self._closed:
            self._closed = True
            await self._client.aclose()

    # Opening.

    async def _prepare(self, index: str) -> None:
        try:
            await self._call("FT._LIST")
            await self._call("JSON.TYPE", self._names.base + ":none")
        except ResponseError as error:
            if isinstance(error, AuthenticationError | NoPermissionError) or "unknown command" not in str(error):
                raise
            raise ConfigurationError(
                "This Redis has no query engine or no JSON documents. Use Redis 8 or Redis Stack 7.4."
            ) from error
        info = await self._client.info("memory")
        if str(info.get("maxmemory_policy", "")).startswith("allkeys") and info.get("maxmemory"):
            raise ConfigurationError(
                f"This Redis evicts keys when its memory is full (maxmemory-policy {info['maxmemory_policy']}), so passages would be lost "
                "silently. Set maxmemory-policy to noeviction."
            )
        said = {"schema": SCHEMA_VERSION, "model": index, "dimensions": self._dimensions}
        for name, value in said.items():
            await self._call("HSETNX", self._names.base, name, value)
        schema, dimensions = await self._call("HMGET", self._names.base, "schema", "dimensions")
        if int(schema) != SCHEMA_VERSION:
            raise Unavailable(
                f"The index {index} in Redis has schema {int(schema)}, but this version of Citewell needs {SCHEMA_VERSION}."
            )
        if int(dimensions) != self._dimensions:
            raise Unavailable(
                f"The index {index} in Redis has vectors of {int(dimensions)} dimensions, but the model has {self._dimensions}."
            )

    async def _make_index(self, space: str) -> None:
        if space in self._made:
            return
        try:
            await self._call(*creation(self._names, space, self._dimensions, self._graph))
        except ResponseError as error:
            if "already exists" not in str(error):
                raise
        self._made.add(space)

    # Searching.

    async def _search_dense(self, query: VectorQuery, dense: Sequence[float]) -> list[ScoredId]:
        vector = np.asarray(dense, dtype=np.float32)
        if query.pulls:
            near = await self.vectors([key for key, _ in query.pulls])
            vector = pulled(dense, query.pulls, near)
        asked = await self._query(query.filter)
        where = asked.where(query.filter)
        wide = f" EF_RUNTIME {max(_CANDIDATES, query.limit)}" if self._graph == "hnsw" else ""
        text = f"({where})=>[KNN {query.limit} @dense {asked.bind(vector.tobytes())}{wide} AS distance]"
        found = await self._find(
            query.filter, text, asked, "SORTBY", "distance", "RETURN", 1, "distance", "LIMIT", 0, query.limit
        )
        return scored(
            [(_id(key), 1.0 - float(values[1])) for key, values in zip(found[1::2], found[2::2], strict=True)]
        )

    async def _search_words(self, query: VectorQuery, words: SparseVector) -> list[ScoredId]:
        weights = await self._weights(query.filter, words)
        if not weights:
            return []
        asked = await self._query(query.filter)
        text = f"@{WORDS}:({'|'.join(token(term) for term in weights)}) {asked.where(query.filter)}"
        limit = min(MAX_RESULTS, _WEIGHED_AGAIN * max(query.limit, _CANDIDATES // _WEIGHED_AGAIN))
        options = ("SCORER", "BM25", "RETURN", 2, "$.terms", "$.weights", "LIMIT", 0, limit)
        found = await self._find(query.filter, text, asked, *options)
        scores: list[tuple[float, str]] = []
        for key, values in zip(found[1::2], found[2::2], strict=True):
            held = {bytes(name): orjson.loads(value) for name, value in zip(values[::2], values[1::2], strict=True)}
            pairs = zip(held[b"$.terms"], held[b"$.weights"], strict=True)
            scores.append((sum(weights[term] * weight for term, weight in pairs if term in weights), _id(key)))
        best = sorted(scores, key=lambda one: (-one[0], one[1]))[: query.limit]
        return scored([(name, score) for score, name in best])

    async def _weights(self, filter: Filter, words: SparseVector) -> dict[int, float]:
        """The weight of each query term that occurs in the corpus: its frequency in the query times its IDF."""
        index, pipe = self._names.index(space_of(filter.owner_id)), self._client.pipeline(transaction=False)
        counted = RedisQuery()
        within = "" if filter.corpus is None else f" {counted.where(filter.counted)}"
        for text in (f"@{PRESENT}:{{{WORDS}}}", *(f"@{WORDS}:{token(term)}" for term in words.indices)):
            counting = (text + within, "LIMIT", 0, 0, *counted.bound, "TIMEOUT", 0, "DIALECT", 2)
            pipe.execute_command("FT.SEARCH", index, *counting)
        answers = await pipe.execute(raise_on_error=False)
        if isinstance(answers[0], ResponseError):
            await self._require_nobody(answers[0])
            return {}
        for answer in answers:
            if isinstance(answer, Exception):
                raise answer
        total, *numbers = [int(answer[0]) for answer in answers]
        return {
            term: weight * inverse_frequency(number, total)
            for term, weight, number in zip(words.indices, words.values, numbers, strict=True)
            if number
        }

    async def _query(self, filter: Filter) -> RedisQuery:
        """A query for this filter, with the vocabulary that its conditions need."""
        vocabulary: dict[str, Sequence[str]] = {}
        for condition in conditions_in(filter.conditions):
            if needs_vocabulary(condition) and condition.field not in vocabulary:
                vocabulary[condition.field] = await self._values(filter, condition.field)
        return RedisQuery(vocabulary)

    async def _values(self, filter: Filter, field: str) -> list[str]:
        """The values in the owner's points of a text or metadata field."""
        try:
            index = self._names.index(space_of(filter.owner_id))
            found = [bytes(value).decode() for value in await self._call("FT.TAGVALS", index, attribute(field))]
        except ResponseError as error:
            await self._require_nobody(error)
            return []
        begin = entry(field, "") if is_metadata(field) else ""
        return [value.removeprefix(begin) for value in found if value.startswith(begin)]

    async def _find(self, filter: Filter, text: str, query: RedisQuery, *options: str | int) -> list[Any]:
        """Redis' response: the total number of hits, then the requested fields of each."""
        index = self._names.index(space_of(filter.owner_id))
        try:
            return await self._call("FT.SEARCH", index, text, *options, *query.bound, "TIMEOUT", 0, "DIALECT", 2)
        except ResponseError as error:
            await self._require_nobody(error)
            return [0]

    async def _require_nobody(self, error: ResponseError) -> None:
        """Ignore a missing index of an owner without points.

        Raises `Unavailable` if Redis has lost all data; re-raises other errors.
        """
        said = str(error).lower()
        if "no such index" not in said and "unknown index name" not in said and "not found" not in said:
            raise error
        await self._require_index()

    async def _require_index(self) -> None:
        if not await self._call("EXISTS", self._names.base):
            raise Unavailable(_LOST)

    async def _keys_of(self, filter: Filter) -> list[str]:
        if admits_nothing(filter):
            return []
        query = await self._query(filter)
        found = await self._find(filter, query.where(filter), query, "NOCONTENT", "LIMIT", 0, MAX_RESULTS)
        return [bytes(key).decode() for key in found[1:]]

    # Writing.

    async def _upsert(self, points: Sequence[Point]) -> None:
        spaces = {owner: space_of(owner) for owner in {str(point.payload[OWNER]) for point in points}}
        for space in spaces.values():
            await self._make_index(space)
        before = await self._keys([point.id for point in points])
        pipe = self._client.pipeline(transaction=True)
        pipe.execute_command("EXISTS", self._names.base)
        for point in points:
            space = spaces[str(point.payload[OWNER])]
            key = self._names.key(space, point.id)
            if before.get(point.id, key) != key:
                pipe.execute_command("UNLINK", before[point.id])
            pipe.execute_command("JSON.SET", key, "$", orjson.dumps(document(point)).decode())
            pipe.execute_command("HSET", self._names.owners, point.id, space)
        if not (await pipe.execute())[0]:
            raise Unavailable(_LOST)

    async def _remove(self, keys: dict[str, str]) -> None:
        if keys:
            pipe = self._client.pipeline(transaction=True)
            pipe.execute_command("UNLINK", *keys.values())
            pipe.execute_command("HDEL", self._names.owners, *keys)
            await pipe.execute()

    async def _keys(self, ids: Sequence[str]) -> dict[str, str]:
        """The keys of the existing points, by id."""
        spaces = await self._call("HMGET", self._names.owners, *ids) if ids else []
        return {
            name: self._names.key(bytes(space).decode(), name) for name, space in zip(ids, spaces, strict=True) if space
        }

    async def _call(self, *command: str | int | bytes | float) -> Any:
        return await cast(Any, self._client).execute_command(*command)

    @asynccontextmanager
    async def _calling(self) -> AsyncGenerator[None]:
        self._check_open()
        async with _failures("failed"):
            yield

    def _check_open(self) -> None:
        if self._closed:
            raise Unavailable("The index is closed.")


async def build(settings: RedisStore, fingerprint: Fingerprint) -> RedisIndex:
    """Open the index of a model's vectors; see `RedisIndex.open`."""
    return await RedisIndex.open(
        connect(settings.address, settings.seconds),
        str(fingerprint),
        fingerprint.dimensions,
        prefix=settings.prefix,
        graph=settings.graph,
    )


def connect(url: str, seconds: float) -> Redis:
    """A client for the server, which connects at its first call. seconds: timeout of a call"""
    return Redis.from_url(
        url, protocol=2, socket_timeout=seconds, socket_connect_timeout=seconds, max_connections=_CONNECTIONS
    )


@asynccontextmanager
async def _failures(what: str) -> AsyncGenerator[None]:
    """Convert the client's errors to ours; `what` completes "The vector store in Redis …"."""
    try:
        yield
    except CitewellError:
        raise
    except _FAILURES as error:
        refused = (AuthenticationError, NoPermissionError)
        if isinstance(error, refused) or isinstance(error.__cause__ or error.__context__, refused):
            raise ConfigurationError(
                f"Redis rejects the user or password in CITEWELL_REDIS_URL, or a command: {error}"
            ) from error
        raise Unavailable(f"The vector store in Redis {what}: {str(error) or type(error).__name__}") from error


def _id(key: bytes) -> str:
    return bytes(key).decode().rsplit(":", 1)[1]
