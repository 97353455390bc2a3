"""The append-only audit log."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0026_audit_log"
down_revision = "0025_shared_answers"

_REFUSED = "The audit log is only added to."
_REMOVABLE = "SELECT 1 FROM audit_removals AS r WHERE OLD.at < r.before OR OLD.owner_id = r.subject"
_SQLITE = (
    f"CREATE TRIGGER audit_log_no_update BEFORE UPDATE ON audit_log BEGIN SELECT RAISE(ABORT, '{_REFUSED}'); END",
    f"CREATE TRIGGER audit_log_no_delete BEFORE DELETE ON audit_log WHEN NOT EXISTS ({_REMOVABLE}) "
    f"BEGIN SELECT RAISE(ABORT, '{_REFUSED}'); END",
)
_POSTGRES = (
    f"""
CREATE OR REPLACE FUNCTION citewell_audit_guard() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' AND EXISTS ({_REMOVABLE}) THEN
        RETURN OLD;
    END IF;
    RAISE EXCEPTION '{_REFUSED}';
END $$
""",
    f"""
CREATE OR REPLACE FUNCTION citewell_audit_refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '{_REFUSED}';
END $$
""",
    "CREATE TRIGGER audit_log_guard BEFORE UPDATE OR DELETE ON audit_log FOR EACH ROW EXECUTE FUNCTION citewell_audit_guard()",
    "CREATE TRIGGER audit_log_no_truncate BEFORE TRUNCATE ON audit_log EXECUTE FUNCTION citewell_audit_refuse()",
)


def upgrade() -> None:
    """Creates the tables and triggers."""
    _log()
    op.create_table(
        "audit_begun",
        sa.Column("request_id", sa.String(36), primary_key=True),
        _owner("audit_begun"),
        sa.Column("at", sa.Double(), nullable=False),
        sa.Column("entry", sa.JSON().with_variant(JSONB(), "postgresql"), nullable=False),
    )
    op.create_index("ix_audit_begun_owner_id", "audit_begun", ["owner_id"])
    op.create_table(
        "audit_removals",
        sa.Column("id", sa.String(36), primary_key=True),
        sa.Column("before", sa.Double()),
        sa.Column("subject", sa.String(36)),
    )
    connection = op.get_bind()
    for statement in _SQLITE if connection.dialect.name == "sqlite" else _POSTGRES:
        connection.exec_driver_sql(statement)


def _log() -> None:
    op.create_table(
        "audit_log",
        sa.Column("number", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), primary_key=True),
        sa.Column("at", sa.Double(), nullable=False),
        _owner("audit_log"),
        sa.Column("actor", sa.Text(), nullable=False),
        sa.Column("actor_id", sa.String(36)),
        sa.Column("credential_id", sa.Text()),
        sa.Column("action", sa.Text(), nullable=False),
        sa.Column("subject", sa.Text()),
        sa.Column("outcome", sa.Text(), nullable=False),
        sa.Column("status", sa.Integer()),
        sa.Column("network", sa.Text(), nullable=False),
        sa.Column("request_id", sa.String(36), nullable=False, unique=True),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_audit_log_owner_number", "audit_log", ["owner_id", "number"])
    op.create_index("ix_audit_log_at", "audit_log", ["at"])


def _owner(table: str) -> sa.Column[str]:
    name = f"fk_{table}_owner_id_owners"
    return sa.Column("owner_id", sa.String(36), sa.ForeignKey("owners.id", ondelete="CASCADE", name=name))
