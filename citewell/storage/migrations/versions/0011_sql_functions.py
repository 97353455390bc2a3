"""Postgres functions that filter and count file lists (on SQLite: `citewell.storage.sql_functions`)."""

import sys

from alembic import op

revision = "0011_sql_functions"
down_revision = "0008_metadata"

_SPACE = "".join(f"\\{ord(character):04x}" for character in map(chr, range(0x10000)) if character.isspace())

_SECONDS = r"""
CREATE OR REPLACE FUNCTION citewell_seconds(said text) RETURNS double precision LANGUAGE plpgsql STABLE AS $$
BEGIN
    IF said IS NULL OR length(said) > 40 OR said !~
        '^\d{4}-\d\d-\d\d([T ]([01]\d|2[0-3]):[0-5]\d(:[0-5]\d([.,]\d{1,9})?)?([Zz]|[+-]\d\d(:?\d\d)?)?)?$' THEN
        RETURN NULL;
    END IF;
    IF said ~ '^\d{4}-\d\d-\d\d$' THEN
        RETURN extract(epoch FROM (said || 'T00:00:00Z')::timestamptz)::double precision;
    END IF;
    IF said !~ '([Zz]|:.*[+-]\d\d(:?\d\d)?)$' THEN
        said := said || 'Z';
    END IF;
    RETURN extract(epoch FROM replace(upper(said), ',', '.')::timestamptz)::double precision;
EXCEPTION WHEN OTHERS THEN
    RETURN NULL;
END $$
"""

_EXTENSION = r"""
CREATE OR REPLACE FUNCTION citewell_extension(filename text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT citewell_fold(substring(filename FROM '[^/]\.([^./]+)$'))
$$
"""

_TAGS = r"""
CREATE OR REPLACE FUNCTION citewell_tags(metadata jsonb, tags jsonb, keywords jsonb) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
    SELECT coalesce(jsonb_agg(tag ORDER BY first), '[]'::jsonb) FROM (
        SELECT tag, min(place) AS first FROM (
            SELECT citewell_fold(part) AS tag, ARRAY[source, position] AS place
            FROM (VALUES (1, metadata -> 'tags'), (2, metadata -> 'keywords'), (3, tags), (4, keywords)) AS said(source, value)
            CROSS JOIN LATERAL (
                SELECT part, position FROM regexp_split_to_table(said.value #>> '{}', '[,;]')
                    WITH ORDINALITY AS split(part, position) WHERE jsonb_typeof(said.value) = 'string'
                UNION ALL
                SELECT one #>> '{}', position
                FROM jsonb_array_elements(CASE jsonb_typeof(said.value) WHEN 'array' THEN said.value ELSE '[]'::jsonb END)
                    WITH ORDINALITY AS listed(one, position) WHERE jsonb_typeof(one) = 'string'
            ) AS parts
        ) AS folded WHERE length(tag) BETWEEN 1 AND 128 GROUP BY tag ORDER BY first LIMIT 32
    ) AS kept
$$
"""

_STATED = r"""
CREATE OR REPLACE FUNCTION citewell_stated_date(said jsonb) RETURNS double precision LANGUAGE sql STABLE AS $$
    SELECT CASE WHEN jsonb_typeof(said) = 'string' THEN coalesce(
        citewell_seconds(btrim(said #>> '{}')),
        citewell_seconds(regexp_replace(substring(btrim(said #>> '{}') FROM '^\d{4}-?\d\d-?\d\d'), '^(\d{4})-?(\d\d)-?(\d\d)$', '\1-\2-\3'))
    ) END
$$
"""

_DATE = r"""
CREATE OR REPLACE FUNCTION citewell_date(metadata jsonb, dated jsonb, modified jsonb, created jsonb)
RETURNS double precision LANGUAGE sql STABLE AS $$
    SELECT coalesce(
        CASE WHEN jsonb_typeof(metadata -> 'date') = 'string' THEN citewell_seconds(metadata ->> 'date') END,
        (SELECT citewell_seconds(value #>> '{}') FROM jsonb_each(metadata) WITH ORDINALITY AS said(key, value, position)
         WHERE jsonb_typeof(value) = 'string' AND citewell_seconds(value #>> '{}') IS NOT NULL ORDER BY position LIMIT 1),
        citewell_stated_date(dated), citewell_stated_date(modified), citewell_stated_date(created)
    )
$$
"""


def upgrade() -> None:
    """Creates the functions, on Postgres only."""
    connection = op.get_bind()
    if connection.dialect.name != "postgresql":
        return
    for statement in (_fold(), _SECONDS, _EXTENSION, _TAGS, _STATED, _DATE):
        connection.exec_driver_sql(statement)


def _fold() -> str:
    """Builds a function that casefolds like Python under any collation; Postgres has its own only since version 18."""
    folded = {character: character.casefold() for character in map(chr, range(0x80, sys.maxunicode + 1))}
    changed = {one: to for one, to in folded.items() if one != to}
    single = [(one, to) for one, to in changed.items() if len(to) == 1]
    several = [(one, to) for one, to in changed.items() if len(to) > 1]
    text = f"translate(said, '{''.join(one for one, _ in single)}', '{''.join(to for _, to in single)}')"
    pairs = ", ".join(f"['{one}', '{to}']" for one, to in several)
    return f"""
CREATE OR REPLACE FUNCTION citewell_fold(said text) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE pair text[];
BEGIN
    said := btrim(said, U&'{_SPACE}');
    IF octet_length(said) <> length(said) THEN
        said := {text};
        IF said ~ '[{"".join(one for one, _ in several)}]' THEN
            FOREACH pair SLICE 1 IN ARRAY ARRAY[{pairs}] LOOP
                said := replace(said, pair[1], pair[2]);
            END LOOP;
        END IF;
    END IF;
    RETURN nullif(translate(said, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', 'abcdefghijklmnopqrstuvwxyz'), '');
END $$
"""
