"""The token that created a credential, and the subject of a stored delivery or answer.

A credential ends with its token; a delivery or answer is emptied with its subject.
"""

import sqlalchemy as sa
from alembic import op

revision = "0033_made_with"
down_revision = "0032_folder_id"

_MADE = ("tokens", "invitations", "shared_answers", "webhooks", "triggers")
# For existing rows: the body names the message of an answer, or the file.
_SQLITE = """
UPDATE webhook_deliveries SET about = coalesce(json_extract(body, '$.data.message_id'), json_extract(body, '$.data.resource_id'))
WHERE json_valid(body);
UPDATE trigger_calls SET message_id = json_extract(answer, '$.message_id') WHERE answer IS NOT NULL
"""
_POSTGRES = """
UPDATE webhook_deliveries SET about = coalesce(body::jsonb #>> '{data,message_id}', body::jsonb #>> '{data,resource_id}');
UPDATE trigger_calls SET message_id = answer ->> 'message_id' WHERE answer IS NOT NULL
"""


def upgrade() -> None:
    """Adds the columns."""
    for table in _MADE:
        op.add_column(table, sa.Column("made_with", sa.String(36)))
    op.create_index("ix_tokens_made_with", "tokens", ["made_with"])
    op.add_column("webhook_deliveries", sa.Column("about", sa.String(36)))
    op.create_index("ix_webhook_deliveries_about", "webhook_deliveries", ["about"])
    op.add_column("trigger_calls", sa.Column("message_id", sa.String(36)))
    op.create_index("ix_trigger_calls_message_id", "trigger_calls", ["message_id"])
    for statement in (_SQLITE if op.get_bind().dialect.name == "sqlite" else _POSTGRES).split(";"):
        op.execute(sa.text(statement.replace(":jsonb", "\\:jsonb")))


def downgrade() -> None:
    """Removes the columns."""
    op.drop_index("ix_trigger_calls_message_id", "trigger_calls")
    op.drop_column("trigger_calls", "message_id")
    op.drop_index("ix_webhook_deliveries_about", "webhook_deliveries")
    op.drop_column("webhook_deliveries", "about")
    op.drop_index("ix_tokens_made_with", "tokens")
    for table in _MADE:
        op.drop_column(table, "made_with")
