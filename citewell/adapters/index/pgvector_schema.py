"""The tables of the pgvector store: creation and migration."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TypeAlias

import asyncpg

from citewell.errors import ConfigurationError, Unavailable

Connection: TypeAlias = "asyncpg.Connection | asyncpg.pool.PoolConnectionProxy"
MAX_DIMENSIONS = 4_000
"""The largest vectors for which pgvector builds a search graph, with 2 bytes per number."""
MIN_VERSION = (0, 8)  # of the extension: filtered searches continue until they have enough results
_LOCK = 4_861_267  # advisory lock while tables are created or changed


@dataclass(frozen=True, slots=True)
class PointTables:
    """The quoted names of one index's tables: points, payloads, document frequencies, and the inverted index."""

    schema: str
    points: str
    payloads: str
    terms: str
    numbers: str
    postings: str

    @property
    def all(self) -> tuple[str, ...]:
        """All table names."""
        return (self.points, self.payloads, self.terms, self.numbers, self.postings)

    @classmethod
    def of(cls, schema: str, index: str) -> PointTables:
        """The tables of an index, given its name, such as a model's fingerprint."""
        name = hashlib.sha256(index.encode()).hexdigest()[:16]
        space = quoted(schema)
        kinds = ("points", "payloads", "terms", "numbers", "postings")
        return cls(schema, *(f"{space}.{quoted(f'{kind}_{name}')}" for kind in kinds))


def quoted(name: str) -> str:
    """A quoted SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


async def prepare(connection: Connection, schema: str, index: str, dimensions: int) -> PointTables:
    """Create an index's missing tables; several processes may do so at once.

    Raises `ConfigurationError` if the extension is too old, or missing and this user may not create it, or if the model
    has too many dimensions; `Unavailable` if the existing tables have other dimensions.
    """
    if dimensions > MAX_DIMENSIONS:
        raise ConfigurationError(
            f"pgvector searches vectors of up to {MAX_DIMENSIONS} dimensions; this model has {dimensions}."
        )
    tables = PointTables.of(schema, index)
    async with connection.transaction():
        await lock(connection)
        await _require_extension(connection)
        for statement in _statements(schema, tables, dimensions):
            await connection.execute(statement)
        await connection.execute(
            f"INSERT INTO {quoted(schema)}.indexes (name, dimensions) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING",
            *(index, dimensions),
        )
        known = await connection.fetchval(f"SELECT dimensions FROM {quoted(schema)}.indexes WHERE name = $1", index)
    if known != dimensions:
        raise Unavailable(
            f"The index {index} in Postgres has vectors of {known} dimensions, but the model has {dimensions}."
        )
    return tables


async def lock(connection: Connection) -> None:
    """Keep other processes from creating or changing tables until the transaction ends."""
    await connection.execute("SELECT pg_advisory_xact_lock($1)", _LOCK)


async def _require_extension(connection: Connection) -> None:
    try:
        await connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
    except (asyncpg.InsufficientPrivilegeError, asyncpg.FeatureNotSupportedError, asyncpg.UndefinedFileError) as error:
        raise ConfigurationError(
            f"CITEWELL_VECTOR_STORE=pgvector needs the extension `vector` in the database, which could not be created: {error}. "
            "Install pgvector on the server, or let an administrator run CREATE EXTENSION vector there."
        ) from error
    version = str(await connection.fetchval("SELECT extversion FROM pg_extension WHERE extname = 'vector'"))
    if tuple(int(part) for part in version.split(".")[:2]) < MIN_VERSION:
        raise ConfigurationError(
            f"The extension `vector` in the database is version {version}; filtered searches need at least 0.8. "
            "Update pgvector on the server, then run ALTER EXTENSION vector UPDATE."
        )


def _statements(schema: str, tables: PointTables, dimensions: int) -> list[str]:
    points, space = tables.points, quoted(schema)
    own = points.rsplit(".", 1)[1].strip('"')
    return [
        f"CREATE SCHEMA IF NOT EXISTS {space}",
        f"CREATE TABLE IF NOT EXISTS {space}.indexes (name text PRIMARY KEY, dimensions integer NOT NULL)",
        f"""CREATE TABLE IF NOT EXISTS {points} (
            id uuid PRIMARY KEY,
            owner_id text NOT NULL,
            resource_id text NOT NULL,
            type text NOT NULL,
            dense vector({dimensions}),
            terms bigint[] NOT NULL
        ) WITH (toast_tuple_target = 8160)""",
        # Separate from the vectors, so that metadata changes do not touch the graph and the terms.
        f"CREATE TABLE IF NOT EXISTS {tables.payloads} (id uuid PRIMARY KEY, owner_id text NOT NULL, payload jsonb NOT NULL)",
        _moved_payloads(tables),
        f"CREATE TABLE IF NOT EXISTS {tables.terms} (term bigint PRIMARY KEY, points bigint NOT NULL)",
        f"ALTER TABLE {tables.terms} ADD COLUMN IF NOT EXISTS held bigint NOT NULL DEFAULT 0, ADD COLUMN IF NOT EXISTS tail bytea NOT NULL DEFAULT ''",
        f"ALTER TABLE {tables.terms} ALTER COLUMN tail SET STORAGE PLAIN",
        f"CREATE TABLE IF NOT EXISTS {tables.numbers} (number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, id uuid NOT NULL UNIQUE)",
        f"CREATE TABLE IF NOT EXISTS {tables.postings} (term bigint NOT NULL, entries bytea STORAGE PLAIN NOT NULL)",
        f"CREATE INDEX IF NOT EXISTS {quoted(own + '_postings')} ON {tables.postings} (term)",
        f"DROP INDEX IF EXISTS {space}.{quoted(own + '_terms')}",
        f"CREATE INDEX IF NOT EXISTS {quoted(own + '_file')} ON {points} (owner_id, resource_id)",
        f"CREATE INDEX IF NOT EXISTS {quoted(own + '_payloads')} ON {tables.payloads} USING gin (payload jsonb_path_ops)",
        f"CREATE INDEX IF NOT EXISTS {quoted(own + '_dense')} ON {points} USING hnsw ((dense::halfvec({dimensions})) halfvec_ip_ops)"
        " WITH (m = 16, ef_construction = 64)",
        *(statement for table in (points, tables.payloads) for statement in _one_owner(table)),
    ]


def _moved_payloads(tables: PointTables) -> str:
    """Migrates payloads from a column of the points table to a separate table."""
    return f"""DO $$ BEGIN
        IF EXISTS (SELECT FROM pg_attribute WHERE attrelid = '{tables.points}'::regclass AND attname = 'payload' AND NOT attisdropped) THEN
            INSERT INTO {tables.payloads} SELECT id, owner_id, payload FROM {tables.points};
            ALTER TABLE {tables.points} DROP COLUMN payload;
        END IF;
    END $$"""


def _one_owner(table: str) -> tuple[str, str]:
    """Row-level security: other roles see one owner's rows only.

    It does not apply to Citewell, which connects as the table owner.
    """
    return (
        f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY",
        f"""DO $$ BEGIN
            CREATE POLICY owner_only ON {table} USING (owner_id = current_setting('citewell.owner_id', true));
        EXCEPTION WHEN duplicate_object THEN NULL; END $$""",
    )
