"""A vector store in Postgres with the pgvector extension, Supabase included: one table of points per model.

Meaning is searched by a graph (HNSW) over numbers of 2 bytes, whose best are compared by all digits, and exactly where a filter admits few points. Words are searched by an
index over terms and weighed with the document frequencies of the owner's points, which every write keeps up to date.
"""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any, TypeVar

import asyncpg
import numpy as np
import orjson

from citewell.adapters.index.pgvector_filters import BoundSql
from citewell.adapters.index.pgvector_frames import prepare_frames
from citewell.adapters.index.pgvector_rows import (
    PAYLOAD_COLUMNS,
    POINT_COLUMNS,
    WORD_DIMENSIONS,
    payload_rows,
    places_of,
    point_rows,
    term_of,
    terms_of,
)
from citewell.adapters.index.pgvector_schema import Connection, PointTables, prepare
from citewell.errors import CitewellError, Unavailable
from citewell.points import OWNER, pulled
from citewell.ports import Capability, Fingerprint, FloatMatrix
from citewell.settings import PgvectorStore
from citewell.text.sparse import K1, inverse_frequency, stable_number
from citewell.types import Filter, JsonObject, Point, ScoredId, SparseVector, VectorQuery, scored

_BATCH = 500
_CONNECTIONS = 8
_STATEMENTS = 100  # kept prepared by each connection
_SECONDS = 60.0
# Up to so many points that a filter admits are compared one by one, which is exact.
_EXACT_UP_TO = 5_000
# The graph holds numbers of 2 bytes: so many more points than asked for are compared once again by all their digits.
_MORE = 20
# Points of an owner that hold a word, above which it is common.
_COMMON = 2_000
# Of each connection. A filtered search of the graph goes on until it has what was asked for, or has seen so many points.
_SESSION = {
    "hnsw.ef_search": "200",
    "hnsw.iterative_scan": "strict_order",
    "hnsw.max_scan_tuples": "200000",
    "hnsw.scan_mem_multiplier": "4",
    "plan_cache_mode": "force_custom_plan",
    "jit": "off",
    "application_name": "citewell",
}
_LOCAL = "; ".join(f"SET LOCAL {name} = '{value}'" for name, value in _SESSION.items())
_FAILURES = (OSError, asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError)
T = TypeVar("T")


class PgvectorIndex:
    """One index in one database, which any number of processes may use at once. Open it with `open`."""

    def __init__(self, pool: asyncpg.Pool, tables: PointTables, *, pooled: bool = False) -> None:
        self._pool = pool
        self._tables = tables
        self._pooled = pooled
        self._closed = False

    @classmethod
    async def open(
        cls, url: str, name: str, dimensions: int, *, schema: str = "citewell", pooled: bool = False
    ) -> PgvectorIndex:
        """Open the index of this name, or create it. `Unavailable` when the database cannot be reached.

        pooled: a pooler gives each transaction another session, which then knows neither settings nor statements of the one before
        """
        try:
            pool = await asyncpg.create_pool(
                url,
                min_size=1,
                max_size=_CONNECTIONS,
                command_timeout=_SECONDS,
                timeout=_SECONDS,
                server_settings={} if pooled else _SESSION,
                statement_cache_size=0 if pooled else _STATEMENTS,
            )
        except (*_FAILURES, ValueError) as error:
            raise Unavailable(f"The vector store in Postgres cannot be reached: {_reason(error)}") from error
        try:
            async with pool.acquire() as connection:
                tables = await prepare(connection, schema, name, dimensions)
                await prepare_frames(connection, schema)
                return cls(pool, tables, pooled=pooled)
        except BaseException as error:
            await pool.close()
            if isinstance(error, _FAILURES):
                raise Unavailable(f"The vector store in Postgres does not open: {_reason(error)}") from error
            raise

    @property
    def capabilities(self) -> frozenset[Capability]:
        """Dense and sparse search, filters, and writes that survive the process."""
        return frozenset({Capability.SPARSE, Capability.FILTERS, Capability.PERSISTENT})

    async def upsert(self, points: Sequence[Point]) -> None:
        """See `VectorIndex.upsert`; committed when this returns."""
        latest = list({point.id: point for point in points}.values())
        for start in range(0, len(latest), _BATCH):
            await self._write(self._upsert, latest[start : start + _BATCH])

    async def search(self, query: VectorQuery) -> list[ScoredId]:
        """See `VectorIndex.search`. Dense scores are inner products, lexical ones BM25 with the IDF of the owner's points."""
        if query.limit < 1:
            self._check_open()
            return []
        if query.dense is not None:
            return await self._run(lambda connection: self._search_dense(connection, query))
        if query.sparse is not None:
            words = query.sparse
            return await self._run(lambda connection: self._search_words(connection, query, words))
        raise ValueError("A vector query has a dense or a sparse vector.")

    async def vectors(self, ids: Sequence[str]) -> dict[str, FloatMatrix]:
        """See `VectorIndex.vectors`."""
        return await self._run(lambda connection: self._vectors(connection, ids))

    async def set_payload(self, filter: Filter, payload: JsonObject) -> None:
        """See `VectorIndex.set_payload`; committed when this returns."""
        sql = BoundSql(self._tables.payloads)
        changed = sql.bind(orjson.dumps(payload).decode(), "jsonb")
        statement = (
            f"UPDATE {self._tables.payloads} SET payload = payload || {changed} "
            f"WHERE id IN (SELECT id FROM {self._tables.points} WHERE {sql.where(filter)})"
        )
        await self._run(lambda connection: connection.execute(statement, *sql.values))

    async def delete(self, filter: Filter) -> None:
        """See `VectorIndex.delete`."""
        await self._write(self._delete, filter)

    async def delete_ids(self, ids: Sequence[str]) -> None:
        """See `VectorIndex.delete_ids`."""
        if ids:
            await self._write(self._delete_ids, ids)

    async def count(self, filter: Filter | None = None) -> int:
        """See `VectorIndex.count`; exact."""
        sql = BoundSql(self._tables.payloads)
        where = f" WHERE {sql.where(filter)}" if filter is not None else ""
        statement = f"SELECT count(*) FROM {self._tables.points}{where}"

        async def counted(connection: Connection) -> int:
            return int(await connection.fetchval(statement, *sql.values) or 0)

        return await self._run(counted)

    async def close(self) -> None:
        """See `VectorIndex.close`."""
        if not self._closed:
            self._closed = True
            await self._pool.close()

    # Searching.

    async def _search_dense(self, connection: Connection, query: VectorQuery) -> list[ScoredId]:
        dense: Sequence[float] = query.dense or ()
        if query.pulls:
            vectors = await self._vectors(connection, [key for key, _ in query.pulls])
            dense = pulled(dense, query.pulls, vectors).tolist()
        counted = BoundSql(self._tables.payloads)
        admitted = f"{counted.where(query.filter)} AND dense IS NOT NULL"
        few = await connection.fetchval(
            f"SELECT count(*) <= {_EXACT_UP_TO} FROM (SELECT FROM {self._tables.points} WHERE {admitted} LIMIT {_EXACT_UP_TO + 1})",
            *counted.values,
        )
        sql = BoundSql(self._tables.payloads)
        vector, limit = f"{sql.bind(_vector(dense), 'text')}::vector", sql.bind(query.limit, "bigint")
        source = f"{self._tables.points} WHERE {sql.where(query.filter)} AND dense IS NOT NULL"
        if not few:
            half, more = f"halfvec({len(dense)})", sql.bind(query.limit + max(_MORE, query.limit // 5), "bigint")
            source = (
                f"(SELECT id, dense FROM {source} ORDER BY dense::{half} <#> {vector}::{half} LIMIT {more}) AS nearest"
            )
        statement = f"SELECT id, -(dense <#> {vector}) AS score FROM {source} ORDER BY score DESC, id LIMIT {limit}"
        return _scored(await connection.fetch(statement, *sql.values))

    async def _search_words(self, connection: Connection, query: VectorQuery, words: SparseVector) -> list[ScoredId]:
        owner = query.filter.owner_id
        names = {term_of(owner, index): index for index in words.indices}
        held = await connection.fetch(
            f"SELECT term, points FROM {self._tables.terms} WHERE term = ANY($1::bigint[])", [term_of(owner), *names]
        )
        frequencies: dict[int, int] = {row["term"]: row["points"] for row in held}
        total = frequencies.pop(term_of(owner), 0)
        if not frequencies:
            return []
        said = dict(zip(words.indices, words.values, strict=True))
        weights = {name: said[names[name]] * inverse_frequency(number, total) for name, number in frequencies.items()}
        vector = _words((names[name], weight) for name, weight in weights.items())
        # Points with common words only are many, and seldom among the best: they are looked at only where they could be.
        rare = [name for name, number in frequencies.items() if number <= _COMMON]
        if rare and len(rare) < len(weights):
            found = await self._with_terms(connection, query, vector, rare)
            most = (K1 + 1) * sum(weight for name, weight in weights.items() if name not in rare)
            if len(found) == query.limit and found[-1].score >= most:
                return found
        return await self._with_terms(connection, query, vector, list(weights))

    async def _with_terms(
        self, connection: Connection, query: VectorQuery, vector: str, terms: Sequence[int]
    ) -> list[ScoredId]:
        """The points that hold one of the terms, by all words of the query."""
        sql = BoundSql(self._tables.payloads)
        words, limit = f"{sql.bind(vector, 'text')}::sparsevec", sql.bind(query.limit, "bigint")
        statement = (
            f"SELECT id, -(words <#> {words}) AS score FROM {self._tables.points} "
            f"WHERE terms && {sql.bind(terms, 'bigint[]')} AND {sql.where(query.filter)} ORDER BY score DESC, id LIMIT {limit}"
        )
        return _scored(await connection.fetch(statement, *sql.values))

    async def _vectors(self, connection: Connection, ids: Sequence[str]) -> dict[str, FloatMatrix]:
        rows = await connection.fetch(
            f"SELECT id, dense::text FROM {self._tables.points} WHERE id = ANY($1::uuid[]) AND dense IS NOT NULL",
            list(ids),
        )
        return {str(row["id"]): np.asarray(orjson.loads(row["dense"]), dtype=np.float32) for row in rows}

    # Writing. Writes of one owner's points wait for each other, as they change the same document frequencies.

    async def _upsert(self, connection: Connection, points: Sequence[Point]) -> None:
        await self._lock(connection, {str(point.payload[OWNER]) for point in points})
        changes = await self._remove(connection, "id = ANY($1::uuid[])", [point.id for point in points])
        terms = [terms_of(point) for point in points]
        await self._copy(connection, self._tables.points, POINT_COLUMNS, point_rows(points, terms))
        await self._copy(connection, self._tables.payloads, PAYLOAD_COLUMNS, payload_rows(points))
        changes.update(term for one in terms for term in one)
        await self._change_frequencies(connection, changes)

    async def _copy(self, connection: Connection, table: str, columns: Sequence[str], rows: io.BytesIO) -> None:
        name = table.rsplit(".", 1)[1].strip('"')
        await connection.copy_to_table(
            name, schema_name=self._tables.schema, columns=list(columns), source=rows, format="binary"
        )

    async def _delete(self, connection: Connection, filter: Filter) -> None:
        await self._lock(connection, {filter.owner_id})
        sql = BoundSql(self._tables.payloads)
        where = sql.where(filter)
        await self._change_frequencies(connection, await self._remove(connection, where, *sql.values))

    async def _delete_ids(self, connection: Connection, ids: Sequence[str]) -> None:
        owners = await connection.fetch(
            f"SELECT DISTINCT owner_id FROM {self._tables.points} WHERE id = ANY($1::uuid[])", list(ids)
        )
        await self._lock(connection, {row["owner_id"] for row in owners})
        await self._change_frequencies(connection, await self._remove(connection, "id = ANY($1::uuid[])", list(ids)))

    async def _lock(self, connection: Connection, owners: Iterable[str]) -> None:
        for key in sorted(stable_number(f"{self._tables.points}\0{owner}") for owner in owners):
            await connection.execute("SELECT pg_advisory_xact_lock($1)", key)

    async def _remove(self, connection: Connection, where: str, *values: Any) -> Counter[int]:
        """Delete points; returns what that changes of the frequencies."""
        rows = await connection.fetch(
            f"WITH gone AS (DELETE FROM {self._tables.points} WHERE {where} RETURNING id, terms), "
            f"payloads AS (DELETE FROM {self._tables.payloads} WHERE id IN (SELECT id FROM gone)) "
            "SELECT term, -count(*) AS points FROM gone, unnest(terms) AS term GROUP BY term",
            *values,
        )
        return Counter({row["term"]: row["points"] for row in rows})

    async def _change_frequencies(self, connection: Connection, changes: Counter[int]) -> None:
        changed = sorted((term, number) for term, number in changes.items() if number)
        if not changed:
            return
        terms, numbers = [term for term, _ in changed], [number for _, number in changed]
        await connection.execute(
            f"INSERT INTO {self._tables.terms} AS known (term, points) SELECT * FROM unnest($1::bigint[], $2::bigint[]) "
            "ON CONFLICT (term) DO UPDATE SET points = known.points + excluded.points",
            *(terms, numbers),
        )
        if any(number < 0 for number in numbers):
            await connection.execute(
                f"DELETE FROM {self._tables.terms} WHERE term = ANY($1::bigint[]) AND points <= 0", terms
            )

    async def _write(self, call: Callable[[Connection, T], Awaitable[None]], argument: T) -> None:
        async def in_transaction(connection: Connection) -> None:
            async with connection.transaction():
                await call(connection, argument)

        await self._run(in_transaction)

    async def _run(self, call: Callable[[Connection], Awaitable[Any]]) -> Any:
        self._check_open()
        try:
            async with self._pool.acquire(timeout=_SECONDS) as connection:
                if not self._pooled:
                    return await call(connection)
                async with connection.transaction():
                    await connection.execute(_LOCAL)
                    return await call(connection)
        except CitewellError:
            raise
        except _FAILURES as error:
            raise Unavailable(f"The vector store in Postgres failed: {_reason(error)}") from error

    def _check_open(self) -> None:
        if self._closed:
            raise Unavailable("The index is closed.")


async def build(settings: PgvectorStore, fingerprint: Fingerprint) -> PgvectorIndex:
    """The index of a model's vectors; see `PgvectorIndex.open`."""
    return await PgvectorIndex.open(
        settings.dsn, str(fingerprint), fingerprint.dimensions, schema=settings.schema, pooled=settings.is_pooled
    )


def _reason(error: BaseException) -> str:
    return str(error) or type(error).__name__


def _words(weights: Iterable[tuple[int, float]]) -> str:
    placed = places_of(weights).items()
    return f"{{{','.join(f'{place + 1}:{weight:.7g}' for place, weight in placed)}}}/{WORD_DIMENSIONS}"


def _vector(values: Sequence[float]) -> str:
    return f"[{','.join(f'{value:.8g}' for value in values)}]"


def _scored(rows: Sequence[asyncpg.Record]) -> list[ScoredId]:
    return scored([(str(row["id"]), float(row["score"])) for row in rows])
