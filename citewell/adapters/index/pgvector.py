"""A vector store in Postgres with the pgvector extension, Supabase included: one table of points per model.

Dense search uses an HNSW graph over 2-byte floats and rescores the best candidates at full precision; it is exact if a
filter matches few points. Lexical search uses an inverted index, with the document frequencies of the owner's points,
which every write updates.
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
from citewell.adapters.index.pgvector_frames import drop_empty, prepare_frames
from citewell.adapters.index.pgvector_rows import (
    PAYLOAD_COLUMNS,
    POINT_COLUMNS,
    payload_rows,
    point_rows,
    terms_of,
)
from citewell.adapters.index.pgvector_schema import Connection, PointTables, prepare
from citewell.adapters.index.pgvector_words import Numbers, WordIndex, best_first, move_words
from citewell.errors import CitewellError, Unavailable
from citewell.ports import Capability, Fingerprint, FloatMatrix
from citewell.ports.points import OWNER, pulled
from citewell.settings import PgvectorStore
from citewell.text.sparse import stable_number
from citewell.types import Filter, JsonObject, Point, ScoredId, SparseVector, VectorQuery, scored

_BATCH = 500
_CONNECTIONS = 8
_STATEMENTS = 100  # prepared statements cached per connection
_SECONDS = 60.0
# If a filter matches at most this many points, all are compared, which is exact.
_EXACT_UP_TO = 5_000
# If a filter matches at most this many points, lexical search scans them instead of the best of all points.
_FEW = 2_000
# The graph holds 2-byte floats: at least this many extra candidates are rescored at full precision.
_MORE = 20
# Settings of each connection. A filtered graph search continues until it has enough results or has seen
# `max_scan_tuples`.
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
    """One index in one database, usable by any number of processes at once. Open it with `open`."""

    def __init__(self, pool: asyncpg.Pool, tables: PointTables, *, pooled: bool = False) -> None:
        self._pool = pool
        self._tables = tables
        self._words = WordIndex(tables)
        self._pooled = pooled
        self._closed = False

    @classmethod
    async def open(
        cls, url: str, name: str, dimensions: int, *, schema: str = "citewell", pooled: bool = False
    ) -> PgvectorIndex:
        """Open or create the index of this name. Raises `Unavailable` if the database cannot be reached.

        pooled: a pooler gives each transaction a new session, so that neither settings nor prepared statements persist
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
                await move_words(connection, tables)
                await prepare_frames(connection, schema)
                return cls(pool, tables, pooled=pooled)
        except BaseException as error:
            await pool.close()
            if isinstance(error, _FAILURES):
                raise Unavailable(f"The vector store in Postgres could not be opened: {_reason(error)}") from error
            raise

    @property
    def capabilities(self) -> frozenset[Capability]:
        """Dense and sparse search, filters, and persistent writes."""
        return frozenset({Capability.SPARSE, Capability.FILTERS, Capability.PERSISTENT})

    async def upsert(self, points: Sequence[Point]) -> None:
        """See `VectorIndex.upsert`; committed on return."""
        latest = list({point.id: point for point in points}.values())
        for start in range(0, len(latest), _BATCH):
            await self._write(self._upsert, latest[start : start + _BATCH])

    async def search(self, query: VectorQuery) -> list[ScoredId]:
        """See `VectorIndex.search`. Dense scores are inner products, lexical ones BM25 with the IDF of the corpus."""
        if query.limit < 1:
            self._check_open()
            return []
        if query.dense is not None:
            return await self._run(lambda connection: self._search_dense(connection, query))
        if query.sparse is not None:
            words = query.sparse
            return await self._run(lambda connection: self._search_words(connection, query, words), snapshot=True)
        raise ValueError("A vector query needs a dense or a sparse vector.")

    async def vectors(self, ids: Sequence[str]) -> dict[str, FloatMatrix]:
        """See `VectorIndex.vectors`."""
        return await self._run(lambda connection: self._vectors(connection, ids))

    async def set_payload(self, filter: Filter, payload: JsonObject) -> None:
        """See `VectorIndex.set_payload`; committed on return."""
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

    async def size_bytes(self) -> int:
        """See `SizedIndex.size_bytes`; includes the tables' indexes."""

        async def measured(connection: Connection) -> int:
            sizes = "SELECT sum(pg_total_relation_size(name::regclass)) FROM unnest($1::text[]) AS name"
            return int(await connection.fetchval(sizes, list(self._tables.all)) or 0)

        return await self._run(measured)

    async def remove(self) -> None:
        """See `RemovableIndex.remove`."""

        async def removed(connection: Connection) -> None:
            async with connection.transaction():
                await drop_empty(connection, self._tables)

        await self._run(removed)

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
        counted = None if query.filter.corpus is None else await self._all_numbers(connection, query.filter.counted)
        numbers, scores = await self._words.scores(connection, query.filter.owner_id, words, counted)
        found: list[ScoredId] = []
        if query.filter != Filter(owner_id=query.filter.owner_id):
            few = await self._numbered(connection, query.filter, f"LIMIT {_FEW + 1}")
            if len(few) <= _FEW:
                known = dict(zip(numbers.tolist(), scores.tolist(), strict=True))
                found = scored([(name, known[number]) for number, name in few if number in known])
                numbers = numbers[:0]
        for part, theirs in best_first(numbers, scores[: len(numbers)], query.limit + max(_MORE, query.limit // 5)):
            known = dict(zip(part.tolist(), theirs.tolist(), strict=True))
            there = await self._numbered(connection, query.filter, "", list(known))
            found += scored([(name, known[number]) for number, name in there])
            if len(found) >= query.limit:
                break
        return sorted(found, key=lambda one: (-one.score, one.id))[: query.limit]

    async def _numbered(
        self, connection: Connection, filter: Filter, limit: str, among: Sequence[int] | None = None
    ) -> list[tuple[int, str]]:
        """Numbers and ids of points that match the filter, restricted to the numbers in `among` if given."""
        sql = BoundSql(self._tables.payloads)
        where = (
            sql.where(filter)
            if among is None
            else f"number = ANY({sql.bind(among, 'bigint[]')}) AND {sql.where(filter)}"
        )
        rows = await connection.fetch(
            f"SELECT number, id::text FROM {self._tables.numbers} JOIN {self._tables.points} USING (id) WHERE {where} {limit}",
            *sql.values,
        )
        return [(row["number"], row["id"]) for row in rows]

    async def _all_numbers(self, connection: Connection, filter: Filter) -> Numbers:
        """The numbers of all points with words that match the filter."""
        sql = BoundSql(self._tables.payloads)
        numbers = await connection.fetchval(
            f"SELECT array_agg(number) FROM {self._tables.numbers} JOIN {self._tables.points} USING (id) WHERE {sql.where(filter)}",
            *sql.values,
        )
        return np.asarray(numbers or (), dtype=np.int64)

    async def _vectors(self, connection: Connection, ids: Sequence[str]) -> dict[str, FloatMatrix]:
        rows = await connection.fetch(
            f"SELECT id, dense::text FROM {self._tables.points} WHERE id = ANY($1::uuid[]) AND dense IS NOT NULL",
            list(ids),
        )
        return {str(row["id"]): np.asarray(orjson.loads(row["dense"]), dtype=np.float32) for row in rows}

    # Writing. Writes of one owner's points are serialized, because they change the same document frequencies.

    async def _upsert(self, connection: Connection, points: Sequence[Point]) -> None:
        await self._lock(connection, {str(point.payload[OWNER]) for point in points})
        changes = await self._remove(connection, "id = ANY($1::uuid[])", [point.id for point in points])
        terms = [terms_of(point) for point in points]
        await self._copy(connection, self._tables.points, POINT_COLUMNS, point_rows(points, terms))
        await self._copy(connection, self._tables.payloads, PAYLOAD_COLUMNS, payload_rows(points))
        await self._words.add(connection, points, terms, changes)

    async def _copy(self, connection: Connection, table: str, columns: Sequence[str], rows: io.BytesIO) -> None:
        name = table.rsplit(".", 1)[1].strip('"')
        await connection.copy_to_table(
            name, schema_name=self._tables.schema, columns=list(columns), source=rows, format="binary"
        )

    async def _delete(self, connection: Connection, filter: Filter) -> None:
        await self._lock(connection, {filter.owner_id})
        sql = BoundSql(self._tables.payloads)
        where = sql.where(filter)
        await self._words.change(connection, await self._remove(connection, where, *sql.values))

    async def _delete_ids(self, connection: Connection, ids: Sequence[str]) -> None:
        owners = await connection.fetch(
            f"SELECT DISTINCT owner_id FROM {self._tables.points} WHERE id = ANY($1::uuid[])", list(ids)
        )
        await self._lock(connection, {row["owner_id"] for row in owners})
        await self._words.change(connection, await self._remove(connection, "id = ANY($1::uuid[])", list(ids)))

    async def _lock(self, connection: Connection, owners: Iterable[str]) -> None:
        for key in sorted(stable_number(f"{self._tables.points}\0{owner}") for owner in owners):
            await connection.execute("SELECT pg_advisory_xact_lock($1)", key)

    async def _remove(self, connection: Connection, where: str, *values: Any) -> Counter[int]:
        """Delete points; returns the resulting changes of document frequencies."""
        rows = await connection.fetch(
            f"WITH gone AS (DELETE FROM {self._tables.points} WHERE {where} RETURNING id, terms), "
            f"payloads AS (DELETE FROM {self._tables.payloads} WHERE id IN (SELECT id FROM gone)), "
            f"numbers AS (DELETE FROM {self._tables.numbers} WHERE id IN (SELECT id FROM gone)) "
            "SELECT term, -count(*) AS points FROM gone, unnest(terms) AS term GROUP BY term",
            *values,
        )
        return Counter({row["term"]: row["points"] for row in rows})

    async def _write(self, call: Callable[[Connection, T], Awaitable[None]], argument: T) -> None:
        async def in_transaction(connection: Connection) -> None:
            async with connection.transaction():
                await call(connection, argument)

        await self._run(in_transaction)

    async def _run(self, call: Callable[[Connection], Awaitable[Any]], *, snapshot: bool = False) -> Any:
        """snapshot: all statements see the same snapshot of the data"""
        self._check_open()
        try:
            async with self._pool.acquire(timeout=_SECONDS) as connection:
                if not self._pooled and not snapshot:
                    return await call(connection)
                async with connection.transaction(isolation="repeatable_read" if snapshot else None):
                    if self._pooled:
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
    """Open the index of a model's vectors; see `PgvectorIndex.open`."""
    return await PgvectorIndex.open(
        settings.dsn, str(fingerprint), fingerprint.dimensions, schema=settings.schema, pooled=settings.is_pooled
    )


def _reason(error: BaseException) -> str:
    return str(error) or type(error).__name__


def _vector(values: Sequence[float]) -> str:
    return f"[{','.join(f'{value:.8g}' for value in values)}]"


def _scored(rows: Sequence[asyncpg.Record]) -> list[ScoredId]:
    return scored([(str(row["id"]), float(row["score"])) for row in rows])
