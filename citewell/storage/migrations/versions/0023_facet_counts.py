"""File counts per value of each metadata field, tag and date, maintained by triggers.

A change of `resources` or `resource_projects` updates the counts in the same transaction, in every process. A later
migration that recreates one of these tables must also recreate the triggers and, on SQLite, first drop the view
`file_values`.
"""

import sqlalchemy as sa
from alembic import op

revision = "0023_facet_counts"
down_revision = "0022_webhooks"

# The values of each file; '' is the field as a whole. Dates are instants.
_STATED = ", ".join(
    f"""json_quote(json_extract(extraction_metadata, '$."{name}"'))"""
    for name in ("tags", "keywords", "date", "modified", "created")
)
_SQLITE_VALUES = f"""
CREATE VIEW file_values AS
SELECT resources.id AS resource_id, owner_id, json_extract(said.value, '$[0]') AS field, json_extract(said.value, '$[1]') AS kind,
       json_extract(said.value, '$[2]') AS value, json_extract(said.value, '$[3]') AS text, json_extract(said.value, '$[4]') AS number
FROM resources JOIN json_each(citewell_values(resources.metadata, {_STATED})) AS said
"""  # noqa: S608 - constants of this file
_POSTGRES_VALUES = r"""
CREATE OR REPLACE FUNCTION citewell_file_values(wanted text)
RETURNS TABLE(field text, kind text, value text, text text, number double precision) LANGUAGE sql STABLE AS $$
    WITH file AS MATERIALIZED (SELECT r.metadata AS metadata, r.extraction_metadata AS stated FROM resources AS r WHERE r.id = wanted),
    texts AS MATERIALIZED (
        SELECT said.key AS key, jsonb_typeof(said.value) AS shape, item.value AS text,
               CASE WHEN item.value ~ '^\d{4}-\d\d-\d\d' THEN citewell_seconds(item.value) END AS dated
        FROM file CROSS JOIN LATERAL jsonb_each(file.metadata) AS said
        CROSS JOIN LATERAL jsonb_array_elements_text(
            CASE jsonb_typeof(said.value) WHEN 'array' THEN said.value ELSE jsonb_build_array(said.value) END) AS item(value)
    ),
    kinds AS MATERIALIZED (
        SELECT t.*, CASE WHEN t.shape = 'boolean' THEN 'boolean' WHEN t.shape = 'number' THEN 'number'
                         WHEN t.shape = 'array' OR t.dated IS NULL THEN 'text' ELSE 'date' END AS kind
        FROM texts AS t
    ),
    found AS (
        SELECT 'metadata.' || k.key AS field, k.kind AS kind, k.text AS text,
               CASE k.kind WHEN 'date' THEN k.dated::text WHEN 'number' THEN k.text::double precision::text ELSE citewell_fold(k.text) END AS value,
               CASE k.kind WHEN 'date' THEN k.dated WHEN 'number' THEN k.text::double precision END AS number
        FROM kinds AS k
        UNION ALL
        SELECT 'tag', 'text', tag.value, tag.value, NULL FROM file
        CROSS JOIN LATERAL jsonb_array_elements_text(citewell_tags(file.metadata, file.stated -> 'tags', file.stated -> 'keywords')) AS tag(value)
        UNION ALL
        SELECT 'date', 'date', '', dated.at::text, dated.at FROM file
        CROSS JOIN LATERAL citewell_date(file.metadata, file.stated -> 'date', file.stated -> 'modified', file.stated -> 'created') AS dated(at)
        WHERE dated.at IS NOT NULL
    )
    -- an entry of an index has a limited length
    SELECT f.field, f.kind, CASE WHEN length(f.value) > 80 THEN left(f.value, 80) || md5(f.value) ELSE f.value END,
           CASE WHEN length(f.text) > 200 THEN '' ELSE f.text END, f.number
    FROM found AS f
$$
"""
_POSTGRES_COUNT = """
CREATE OR REPLACE FUNCTION citewell_count_file(wanted text, only_project text, sign integer) RETURNS void LANGUAGE sql AS $$
    INSERT INTO facet_counts (owner_id, project_id, field, kind, value, text, number, files, part)
    SELECT r.owner_id, p.project_id, v.field, v.kind, v.value, v.text, v.number, sign, nextval('facet_counts_part')
    FROM resources AS r
    JOIN owners AS o ON o.id = r.owner_id
    CROSS JOIN LATERAL (
        SELECT f.field, f.kind, CASE GROUPING(f.value) WHEN 1 THEN '' ELSE f.value END AS value,
               CASE GROUPING(f.value) WHEN 1 THEN '' ELSE min(f.text) END AS text, CASE GROUPING(f.value) WHEN 0 THEN min(f.number) END AS number
        FROM citewell_file_values(r.id) AS f GROUP BY GROUPING SETS ((f.field, f.kind, f.value), (f.field, f.kind))
        HAVING GROUPING(f.value) = 1 OR f.value IS NOT NULL
    ) AS v
    CROSS JOIN LATERAL (
        SELECT '' AS project_id WHERE only_project IS NULL
        UNION ALL
        SELECT l.project_id FROM resource_projects AS l
        WHERE l.resource_id = r.id AND (only_project IS NULL OR l.project_id = only_project)
    ) AS p
    WHERE r.id = wanted
$$
"""
# Linking a file and changing its metadata wait for each other, so that each counts the other's result.
_POSTGRES_TRIGGERS = """
CREATE OR REPLACE FUNCTION citewell_count_before() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM citewell_count_file(OLD.id, NULL, -1);
    RETURN CASE TG_OP WHEN 'DELETE' THEN OLD ELSE NEW END;
END $$;
CREATE OR REPLACE FUNCTION citewell_count_after() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM citewell_count_file(NEW.id, NULL, 1);
    RETURN NULL;
END $$;
CREATE OR REPLACE FUNCTION citewell_count_link() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' THEN
        PERFORM 1 FROM resources WHERE id = OLD.resource_id FOR SHARE;
        PERFORM citewell_count_file(OLD.resource_id, OLD.project_id, -1);
        RETURN OLD;
    END IF;
    PERFORM 1 FROM resources WHERE id = NEW.resource_id FOR SHARE;
    PERFORM citewell_count_file(NEW.resource_id, NEW.project_id, 1);
    RETURN NULL;
END $$;
CREATE TRIGGER count_inserted AFTER INSERT ON resources FOR EACH ROW EXECUTE FUNCTION citewell_count_after();
CREATE TRIGGER count_deleted BEFORE DELETE ON resources FOR EACH ROW EXECUTE FUNCTION citewell_count_before();
CREATE TRIGGER count_unchanged BEFORE UPDATE OF metadata, extraction_metadata ON resources FOR EACH ROW
    WHEN (OLD.metadata IS DISTINCT FROM NEW.metadata OR OLD.extraction_metadata IS DISTINCT FROM NEW.extraction_metadata)
    EXECUTE FUNCTION citewell_count_before();
CREATE TRIGGER count_changed AFTER UPDATE OF metadata, extraction_metadata ON resources FOR EACH ROW
    WHEN (OLD.metadata IS DISTINCT FROM NEW.metadata OR OLD.extraction_metadata IS DISTINCT FROM NEW.extraction_metadata)
    EXECUTE FUNCTION citewell_count_after();
CREATE TRIGGER count_linked AFTER INSERT ON resource_projects FOR EACH ROW EXECUTE FUNCTION citewell_count_link();
CREATE TRIGGER count_unlinked BEFORE DELETE ON resource_projects FOR EACH ROW EXECUTE FUNCTION citewell_count_link();
"""


def upgrade() -> None:
    """Adds the table, counts existing files, and creates the triggers that maintain the counts."""
    connection = op.get_bind()
    op.create_table(
        "facet_counts",
        sa.Column("owner_id", sa.String(36), primary_key=True),
        sa.Column("project_id", sa.String(36), primary_key=True),
        sa.Column("field", sa.Text(), primary_key=True),
        sa.Column("kind", sa.Text(), primary_key=True),
        sa.Column("value", sa.Text(), primary_key=True),
        sa.Column("text", sa.Text(), primary_key=True),
        sa.Column("part", sa.BigInteger(), primary_key=True, autoincrement=False),
        sa.Column("number", sa.Double()),
        sa.Column("files", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["owner_id"], ["owners.id"], ondelete="CASCADE"),
        sqlite_with_rowid=False,
    )
    if connection.dialect.name == "postgresql":
        statements = [
            "CREATE SEQUENCE facet_counts_part",
            _POSTGRES_VALUES,
            _POSTGRES_COUNT,
            *_POSTGRES_TRIGGERS.split(";\nCREATE "),
        ]
        for place, statement in enumerate(statements):
            connection.exec_driver_sql(statement if place < 4 else f"CREATE {statement}")
        connection.exec_driver_sql("SELECT citewell_count_file(id, NULL, 1) FROM resources")
    else:
        for statement in (_SQLITE_VALUES, *_sqlite_triggers()):
            connection.exec_driver_sql(statement)
        connection.exec_driver_sql(_sqlite_count("1 = 1", "1 = 1", 1))


def _sqlite_triggers() -> list[str]:
    changed = "OLD.metadata IS NOT NEW.metadata OR OLD.extraction_metadata IS NOT NEW.extraction_metadata"
    update = f"UPDATE OF metadata, extraction_metadata ON resources WHEN {changed}"
    old, new = "resource_id = OLD.id", "resource_id = NEW.id"
    old_link = "p.project_id = OLD.project_id", "resource_id = OLD.resource_id"
    new_link = "p.project_id = NEW.project_id", "resource_id = NEW.resource_id"
    return [
        _sqlite_trigger("inserted", "AFTER INSERT ON resources", "1 = 1", new, 1),
        _sqlite_trigger("deleted", "BEFORE DELETE ON resources", "1 = 1", old, -1),
        _sqlite_trigger("unchanged", f"BEFORE {update}", "1 = 1", old, -1),
        _sqlite_trigger("changed", f"AFTER {update}", "1 = 1", new, 1),
        _sqlite_trigger("linked", "AFTER INSERT ON resource_projects", *new_link, 1),
        _sqlite_trigger("unlinked", "BEFORE DELETE ON resource_projects", *old_link, -1),
        "CREATE TRIGGER count_of_none AFTER UPDATE OF files ON facet_counts WHEN NEW.files = 0 BEGIN DELETE FROM facet_counts"
        " WHERE owner_id = NEW.owner_id AND project_id = NEW.project_id AND field = NEW.field AND kind = NEW.kind AND value = NEW.value"
        " AND text = NEW.text AND part = NEW.part; END",
    ]


def _sqlite_trigger(name: str, when: str, project: str, file: str, sign: int) -> str:
    return f"CREATE TRIGGER count_{name} {when} BEGIN {_sqlite_count(project, file, sign)}; END"


def _sqlite_count(project: str, file: str, sign: int) -> str:
    """Builds the statement that adds some files' values, times `sign`, to the counts of some of their projects."""
    return f"""
INSERT INTO facet_counts (owner_id, project_id, field, kind, value, text, part, number, files)
SELECT v.owner_id, p.project_id, v.field, v.kind, v.value, v.text, 0, v.number, {sign}
FROM (
    SELECT id AS resource_id, '' AS project_id FROM resources WHERE {file.replace("resource_id =", "id =")}
    UNION ALL
    SELECT resource_id, project_id FROM resource_projects WHERE {file}
) AS p CROSS JOIN file_values AS v ON v.resource_id = p.resource_id JOIN owners ON owners.id = v.owner_id
WHERE {project}
ON CONFLICT (owner_id, project_id, field, kind, value, text, part) DO UPDATE SET files = files + excluded.files"""  # noqa: S608 - constants of this file
