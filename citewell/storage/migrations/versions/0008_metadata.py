"""Metadata, identifiers and threads of files, and the queue that writes them into the payloads of every index."""

import time

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0008_metadata"
down_revision = "0007_provider_calls"


def upgrade() -> None:
    """Adds columns and tables, and queues the payloads of indexed files, which now hold more, for rewriting."""
    json = sa.JSON().with_variant(JSONB(), "postgresql")
    op.add_column("resources", sa.Column("metadata", json, server_default="{}", nullable=False))
    op.add_column("resources", sa.Column("thread", sa.Text()))
    op.add_column("resource_projects", sa.Column("identifier", sa.Text()))
    _name_the_oldest()
    op.create_index("uq_resource_projects_identifier", "resource_projects", ["project_id", "identifier"], unique=True)
    op.create_table(
        "payload_changes",
        sa.Column("resource_id", sa.String(36), primary_key=True),
        sa.Column("stamp", sa.String(36), nullable=False),
        sa.Column("lease_worker", sa.Text()),
        sa.Column("lease_until", sa.Double()),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(["resource_id"], ["resources.id"], ondelete="CASCADE"),
    )
    _keep_metadata_of_records()
    changed = "INSERT INTO payload_changes (resource_id, stamp, created_at) SELECT id, id, :now FROM resources WHERE chunk_count > 0"
    op.execute(sa.text(changed).bindparams(now=time.time()))


def _name_the_oldest() -> None:
    """Makes identifiers, which were not unique, unique within a project: the oldest file keeps a shared one."""
    rows = op.get_bind().execute(
        sa.text(
            "SELECT rp.resource_id, rp.project_id, r.identifier FROM resource_projects rp JOIN resources r ON r.id = rp.resource_id "
            "WHERE r.identifier IS NOT NULL ORDER BY r.created_at, r.id"
        )
    )
    taken: set[tuple[str, str]] = set()
    for resource_id, project_id, identifier in rows.fetchall():
        name = identifier.strip().casefold()
        if name and (project_id, name) not in taken:
            taken.add((project_id, name))
            op.execute(
                sa.text(
                    "UPDATE resource_projects SET identifier = :name WHERE resource_id = :resource AND project_id = :project"
                ).bindparams(name=name, resource=resource_id, project=project_id)
            )


def _keep_metadata_of_records() -> None:
    """Moves the metadata of records out of the extraction metadata, as far as it is valid metadata."""
    table = sa.table(
        "resources", sa.column("id"), sa.column("record_id"), _json("extraction_metadata"), _json("metadata")
    )
    connection = op.get_bind()
    rows = connection.execute(sa.select(table.c.id, table.c.extraction_metadata).where(table.c.record_id.is_not(None)))
    for resource_id, said in rows.fetchall():
        kept = {key: value for key, value in (said or {}).items() if _is_metadata(key, value)}
        if kept:
            connection.execute(sa.update(table).where(table.c.id == resource_id).values(metadata=kept))


def _json(name: str) -> sa.ColumnClause[object]:
    return sa.column(name, sa.JSON().with_variant(JSONB(), "postgresql"))


def _is_metadata(key: str, value: object) -> bool:
    if not 0 < len(key) <= 64:
        return False
    if isinstance(value, list):
        return 0 < len(value) <= 64 and all(isinstance(one, str) and 0 < len(one) <= 512 for one in value)
    return isinstance(value, bool | int | float) or (isinstance(value, str) and 0 < len(value) <= 512)
