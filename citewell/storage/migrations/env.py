"""Alembic's entry point: migrates over the connection that `Database.migrate` passes in."""

from alembic import context

from citewell.storage.tables import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    render_as_batch=True,
)
with context.begin_transaction():
    context.run_migrations()
