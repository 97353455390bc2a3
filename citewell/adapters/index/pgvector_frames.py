"""`frame_chunks` and `hybrid_search`: passages and vectors for programs that query the database, like Supabase clients.

They join the points with Citewell's tables, so they exist only if both are in one database. For every role, both show
only the files of the owner named by `citewell.owner_id`, and nothing without it.
"""

from __future__ import annotations

import logging

import asyncpg

from citewell.adapters.index.pgvector_schema import Connection, PointTables, quoted

log = logging.getLogger(__name__)
_OWNER = "current_setting('citewell.owner_id', true)"
_ACTIVE = "SELECT fingerprint FROM {home}.indexes WHERE state = 'active' AND store = 'pgvector'"


async def prepare_frames(connection: Connection, schema: str) -> None:
    """Create the view and function over every index of this schema, unless this user lacks the permission."""
    try:
        async with connection.transaction():
            home = await connection.fetchval(
                "SELECT quote_ident(n.nspname) FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace "
                "WHERE c.oid = to_regclass('chunks') AND to_regclass('resources') IS NOT NULL AND to_regclass('indexes') IS NOT NULL"
            )
            if home is None:
                return
            names = await connection.fetch(f"SELECT name FROM {quoted(schema)}.indexes ORDER BY name")
            for statement in _statements(schema, home, [row["name"] for row in names]):
                await connection.execute(statement)
    except asyncpg.PostgresError as error:
        log.warning("frame_chunks and hybrid_search were not created: %s", error)


async def drop_empty(connection: Connection, tables: PointTables) -> None:
    """Drop the tables of an index without points; first re-creates the view without them, so that its grants remain."""
    await connection.execute(f"LOCK TABLE {tables.points} IN ACCESS EXCLUSIVE MODE")
    if await connection.fetchval(f"SELECT EXISTS (SELECT FROM {tables.points})"):
        return
    indexes = f"{quoted(tables.schema)}.indexes"
    names = [str(row["name"]) for row in await connection.fetch(f"SELECT name FROM {indexes}")]
    mine = [name for name in names if PointTables.of(tables.schema, name) == tables]
    await connection.execute(f"DELETE FROM {indexes} WHERE name = ANY($1::text[])", mine)
    if len(names) > len(mine):
        await prepare_frames(connection, tables.schema)
    else:
        await connection.execute(f"DROP VIEW IF EXISTS {quoted(tables.schema)}.frame_chunks")
    await connection.execute(f"DROP TABLE {', '.join(tables.all)}")


def _statements(schema: str, home: str, indexes: list[str]) -> list[str]:
    space = quoted(schema)
    rows = " UNION ALL ".join(_rows_of(schema, home, index) for index in indexes)
    function = f"{space}.hybrid_search(vector, jsonb, integer)"
    return [
        f"CREATE OR REPLACE VIEW {space}.frame_chunks WITH (security_barrier) AS {rows}",
        _HYBRID_SEARCH.format(space=space, home=home, owner=_OWNER, active=_ACTIVE.format(home=home)),
        # By default, anyone may call a new function.
        f"REVOKE ALL ON FUNCTION {function} FROM PUBLIC",
    ]


def _rows_of(schema: str, home: str, index: str) -> str:
    """SELECT for the passages of one index; returns none unless the index is active."""
    literal = "'" + index.replace("'", "''") + "'"
    return f"""SELECT p.id, coalesce(r.metadata ->> 'source_airtable_id', r.record_id, r.id) AS airtable_record_id,
        coalesce(r.metadata ->> 'source_frame_path', r.filename) AS frame_path, c.ordinal AS chunk_sequence_id, c.text AS chunk_text,
        r.metadata AS full_metadata, p.dense::vector AS embedding, to_timestamp(r.created_at) AS created_at
    FROM {PointTables.of(schema, index).points} AS p
    JOIN {home}.chunks AS c ON c.id = p.id::text AND c.owner_id = p.owner_id
    JOIN {home}.resources AS r ON r.id = c.resource_id AND r.id = p.resource_id AND r.owner_id = p.owner_id
    WHERE p.owner_id = {_OWNER} AND ({_ACTIVE.format(home=home)}) = {literal}"""


# Runs with the rights of Citewell's role, for callers who may not read the tables. Filters apply to whole files, so
# these are found first; if few passages remain, all are compared.
_HYBRID_SEARCH = """CREATE OR REPLACE FUNCTION {space}.hybrid_search(
    query_embedding vector, query_filters jsonb DEFAULT '{{}}', match_limit integer DEFAULT 20
) RETURNS TABLE (id uuid, chunk_text text, full_metadata jsonb, distance double precision)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path FROM CURRENT SET "hnsw.iterative_scan" = 'strict_order' SET "hnsw.ef_search" = '200' AS $$
DECLARE
    points regclass := '{space}.points_' || left(encode(sha256(({active})::bytea), 'hex'), 16);
    half text := format('halfvec(%s)', vector_dims(query_embedding));
    files text[];
    few boolean;
    near text;
BEGIN
    IF points IS NULL THEN RETURN; END IF;
    IF coalesce(query_filters, '{{}}') <> '{{}}' THEN
        files := ARRAY(
            SELECT r.id FROM {home}.resources AS r WHERE r.owner_id = {owner} AND NOT EXISTS (
                SELECT FROM jsonb_each(query_filters) AS f (key, value) WHERE NOT coalesce(CASE
                    WHEN f.key LIKE 'min\\_%' AND NOT r.metadata ? f.key THEN CASE jsonb_typeof(f.value)
                        WHEN 'number' THEN r.metadata -> substr(f.key, 5) >= f.value
                            AND jsonb_typeof(r.metadata -> substr(f.key, 5)) = 'number'
                        ELSE (r.metadata ->> substr(f.key, 5)) COLLATE "C" >= (f.value #>> '{{}}') COLLATE "C" END
                    WHEN f.key LIKE 'max\\_%' AND NOT r.metadata ? f.key THEN CASE jsonb_typeof(f.value)
                        WHEN 'number' THEN r.metadata -> substr(f.key, 5) <= f.value
                            AND jsonb_typeof(r.metadata -> substr(f.key, 5)) = 'number'
                        ELSE (r.metadata ->> substr(f.key, 5)) COLLATE "C" <= (f.value #>> '{{}}') COLLATE "C" END
                    ELSE r.metadata @> jsonb_build_object(f.key, f.value) END, false)));
    END IF;
    EXECUTE format('SELECT count(*) <= 5000 FROM (SELECT FROM %s WHERE owner_id = $1 AND ($2 IS NULL OR resource_id = ANY($2)) LIMIT 5001)', points)
        INTO few USING {owner}, files;
    near := format('SELECT id, dense FROM %s WHERE owner_id = $1 AND ($2 IS NULL OR resource_id = ANY($2)) AND dense IS NOT NULL', points);
    IF NOT few THEN
        near := near || format(' ORDER BY dense::%s <#> $3::%s LIMIT $4 + greatest(20, $4 / 5)', half, half);
    END IF;
    RETURN QUERY EXECUTE format('SELECT n.id, c.text, r.metadata, n.dense <=> $3 FROM (%s) AS n '
        'JOIN {home}.chunks AS c ON c.id = n.id::text AND c.owner_id = $1 JOIN {home}.resources AS r ON r.id = c.resource_id '
        'ORDER BY 4, 1 LIMIT $4', near) USING {owner}, files, query_embedding, match_limit;
END $$"""
