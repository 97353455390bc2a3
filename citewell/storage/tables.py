"""The tables, for SQLite and Postgres. Times are seconds since 1970 UTC; ids are UUIDs as text."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB

metadata = sa.MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
        "pk": "pk_%(table_name)s",
    }
)

Id = sa.String(36)
Time = sa.Double
Json = sa.JSON().with_variant(JSONB(), "postgresql")


def owner_column(name: str = "owner_id", *, nullable: bool = False, **options: Any) -> sa.Column[str]:
    """Returns a foreign key to the owner; the row is deleted with its owner."""
    return sa.Column(name, Id, sa.ForeignKey("owners.id", ondelete="CASCADE"), nullable=nullable, **options)


def _resource(primary_key: bool = False) -> sa.Column[str]:
    foreign = sa.ForeignKey("resources.id", ondelete="CASCADE")
    return sa.Column("resource_id", Id, foreign, nullable=False, primary_key=primary_key)


owners = sa.Table(
    "owners",
    metadata,
    sa.Column("id", Id, primary_key=True),
    sa.Column("name", sa.Text, nullable=False, unique=True),
    sa.Column("created_at", Time, nullable=False),
    # when a stage of one of this owner's resources was last leased
    sa.Column("extract_turn", Time, nullable=False, server_default="0"),
    sa.Column("index_turn", Time, nullable=False, server_default="0"),
    sa.Column("embed_turn", Time, nullable=False, server_default="0"),
)

tokens = sa.Table(
    "tokens",
    metadata,
    sa.Column("id", Id, primary_key=True),
    owner_column(),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("token_hash", sa.String(64), nullable=False, unique=True),
    sa.Column("created_at", Time, nullable=False),
    sa.Column("expires_at", Time),
    sa.Column("revoked_at", Time),
    # the first characters of the secret, to tell tokens apart; then scopes and project ids (null: all)
    sa.Column("prefix", sa.Text),
    sa.Column("scopes", Json),
    sa.Column("project_ids", Json),
    # to the minute; not recorded for the machine's own token
    sa.Column("last_used_at", Time),
    # the token that created it and whose end revokes it; null if a person created it
    sa.Column("made_with", Id, index=True),
)

projects = sa.Table(
    "projects",
    metadata,
    sa.Column("id", Id, primary_key=True),
    owner_column(),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("created_at", Time, nullable=False),
    sa.Column("settings", Json, nullable=False),
    sa.UniqueConstraint("owner_id", "name"),
)

resources = sa.Table(
    "resources",
    metadata,
    sa.Column("id", Id, primary_key=True),
    owner_column(),
    sa.Column("filename", sa.Text, nullable=False),
    sa.Column("identifier", sa.Text),
    sa.Column("file_size_bytes", sa.BigInteger, nullable=False),
    sa.Column("mime_type", sa.Text, nullable=False),
    sa.Column("content_hash", sa.String(64), nullable=False),
    sa.Column("detected_category", sa.Text, nullable=False),
    sa.Column("type", sa.Text, nullable=False),
    sa.Column("source", sa.Text, nullable=False),
    sa.Column("storage_backend", sa.Text, nullable=False),
    sa.Column("version", sa.Integer, nullable=False),
    sa.Column("status", sa.Text, nullable=False),
    sa.Column("error_message", sa.Text),
    sa.Column("error_stage", sa.Text),
    sa.Column("error_code", sa.Text),
    sa.Column("extraction_metadata", Json, nullable=False),
    sa.Column("coverage", Json),
    sa.Column("language", sa.Text),
    sa.Column("summary", sa.Text),
    sa.Column("chunk_count", sa.Integer, nullable=False),
    sa.Column("created_at", Time, nullable=False),
    sa.Column("extracted_at", Time),
    sa.Column("indexed_at", Time),
    sa.Column("extraction_duration_ms", sa.Integer),
    sa.Column("indexing_duration_ms", sa.Integer),
    sa.Column("parent_id", Id, sa.ForeignKey("resources.id", ondelete="CASCADE")),
    sa.Column("record_id", sa.Text),
    sa.Column("options", Json, nullable=False),
    # user-supplied metadata, and the conversation that the file came from
    sa.Column("metadata", Json, nullable=False, server_default="{}"),
    sa.Column("thread", sa.Text),
    # the durable job: see citewell.storage.work.jobs
    sa.Column("attempt", sa.Integer, nullable=False, server_default="0"),
    sa.Column("deaths", sa.Integer, nullable=False, server_default="0"),
    sa.Column("fence", sa.Integer, nullable=False, server_default="0"),
    sa.Column("lease_worker", sa.Text),
    sa.Column("lease_until", Time),
    sa.Column("not_before", Time, nullable=False, server_default="0"),
    sa.Column("due", Time, nullable=False, server_default="0"),
    # how it can be searched, and how many of its passages have vectors: see citewell.storage.vectors.waiting_vectors
    sa.Column("searchable", sa.Text),
    sa.Column("vectors_done", sa.Integer, nullable=False, server_default="0"),
    sa.Column("vectors_total", sa.Integer, nullable=False, server_default="0"),
    # the re-index run that last reprocessed it
    sa.Column("reindex_id", Id),
    # when it is deleted, and when that is announced (null once it was): see citewell.storage.files.expiry
    sa.Column("expires_at", Time),
    sa.Column("notice_at", Time),
    sa.UniqueConstraint("owner_id", "content_hash"),
    sa.UniqueConstraint("owner_id", "record_id"),
    sa.Index("ix_resources_owner_created", "owner_id", "created_at", "id"),
    sa.Index("ix_resources_status", "status", "created_at"),
    sa.Index("ix_resources_parent_id", "parent_id"),
    sa.Index("ix_resources_reindex_id", "reindex_id"),
    sa.Index("ix_resources_queue", "status", "owner_id", "due", "id"),
    sa.Index("ix_resources_expires_at", "expires_at"),
)

reindex_runs = sa.Table(
    "reindex_runs",
    metadata,
    sa.Column("id", Id, primary_key=True),
    owner_column(),
    sa.Column("selection", Json, nullable=False),
    sa.Column("total", sa.Integer, nullable=False),
    sa.Column("created_at", Time, nullable=False),
    sa.Index("ix_reindex_runs_owner_created", "owner_id", "created_at"),
)

resource_versions = sa.Table(
    "resource_versions",
    metadata,
    _resource(primary_key=True),
    sa.Column("version", sa.Integer, primary_key=True),
    sa.Column("filename", sa.Text, nullable=False),
    sa.Column("content_hash", sa.String(64), nullable=False),
    sa.Column("file_size_bytes", sa.BigInteger, nullable=False),
    sa.Column("mime_type", sa.Text, nullable=False),
    sa.Column("blob_key", sa.Text),
    sa.Column("created_at", Time, nullable=False),
)

resource_projects = sa.Table(
    "resource_projects",
    metadata,
    _resource(primary_key=True),
    sa.Column("project_id", Id, sa.ForeignKey("projects.id", ondelete="CASCADE"), primary_key=True, index=True),
    # the resource's identifier, casefolded; unique within the project
    sa.Column("identifier", sa.Text),
    sa.Index("uq_resource_projects_identifier", "project_id", "identifier", unique=True),
)

# Files inside other files, including ones the owner already had, whose parent_id is null or another file.
contained_files = sa.Table(
    "contained_files",
    metadata,
    sa.Column("container_id", Id, sa.ForeignKey("resources.id", ondelete="CASCADE"), primary_key=True),
    _resource(primary_key=True),
    sa.Index("ix_contained_files_resource_id", "resource_id"),
)

resource_blobs = sa.Table(
    "resource_blobs",
    metadata,
    _resource(primary_key=True),
    sa.Column("version", sa.Integer, primary_key=True),
    sa.Column("name", sa.Text, primary_key=True),
    sa.Column("key", sa.Text, nullable=False),
    sa.Column("mime_type", sa.Text, nullable=False),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("size", sa.BigInteger, nullable=False),
    sa.Column("metadata", Json, nullable=False),
)

resource_events = sa.Table(
    "resource_events",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True, autoincrement=True),
    sa.Column("resource_id", Id, sa.ForeignKey("resources.id", ondelete="CASCADE"), nullable=False, index=True),
    sa.Column("version", sa.Integer, nullable=False),
    sa.Column("at", Time, nullable=False),
    sa.Column("status", sa.Text, nullable=False),
    sa.Column("details", Json, nullable=False),
)

elements = sa.Table(
    "elements",
    metadata,
    _resource(primary_key=True),
    sa.Column("version", sa.Integer, primary_key=True),
    sa.Column("ordinal", sa.Integer, primary_key=True),
    sa.Column("type", sa.Text, nullable=False),
    sa.Column("page", sa.Integer),
    sa.Column("data", sa.Text, nullable=False),
)

chunks = sa.Table(
    "chunks",
    metadata,
    sa.Column("id", Id, primary_key=True),
    sa.Column("owner_id", Id, nullable=False),
    _resource(),
    sa.Column("version", sa.Integer, nullable=False),
    sa.Column("ordinal", sa.Integer, nullable=False),
    sa.Column("type", sa.Text, nullable=False),
    sa.Column("text", sa.Text, nullable=False),
    sa.Column("context", sa.Text, nullable=False),
    sa.Column("locator", sa.Text, nullable=False),
    sa.Column("pieces", sa.Text, nullable=False),
    sa.Column("token_count", sa.Integer, nullable=False),
    sa.Column("metadata", sa.Text, nullable=False),
    sa.UniqueConstraint("resource_id", "version", "ordinal"),
)

# Chunks whose vectors are not in any index yet: see citewell.storage.vectors.waiting_vectors
waiting_vectors = sa.Table(
    "waiting_vectors",
    metadata,
    sa.Column("chunk_id", Id, sa.ForeignKey("chunks.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("resource_id", Id, nullable=False),
    sa.Column("rank", sa.Integer, nullable=False),
    sa.Column("ordinal", sa.Integer, nullable=False),
    sa.Index("ix_waiting_vectors_turn", "resource_id", "rank", "ordinal"),
)

indexes = sa.Table(
    "indexes",
    metadata,
    sa.Column("id", Id, primary_key=True),
    sa.Column("fingerprint", sa.Text, nullable=False),
    sa.Column("store", sa.Text, nullable=False),
    # which store of that kind, without secrets; empty for the one in the data folder
    sa.Column("place", sa.Text, nullable=False, server_default=""),
    sa.Column("state", sa.Text, nullable=False),
    sa.Column("role", sa.Text, nullable=False),
    sa.Column("settings", Json, nullable=False),
    sa.Column("progress", sa.Integer, nullable=False, server_default="0"),
    sa.Column("total", sa.Integer, nullable=False, server_default="0"),
    sa.Column("created_at", Time, nullable=False),
    sa.Column("activated_at", Time),
    # when a server start first found it in the settings; the latest is the configured one
    sa.Column("configured_at", Time),
    # whether it missed writes because it could not be opened
    sa.Column("is_behind", sa.Boolean, nullable=False, server_default=sa.false()),
    # the requested build options
    sa.Column("build", Json, nullable=False, server_default="{}"),
    # the index contains every file up to this id
    sa.Column("moved_to", sa.Text, nullable=False, server_default=""),
    sa.Column("paused", sa.Boolean, nullable=False, server_default=sa.false()),
    sa.Column("problem", sa.Text, nullable=False, server_default=""),
    sa.Column("spent", sa.Double, nullable=False, server_default="0"),
    sa.Column("lease_worker", sa.Text),
    sa.Column("lease_until", Time),
    sa.UniqueConstraint("fingerprint", "store", "place", name="uq_indexes_model_and_place"),
)

embedding_cache = sa.Table(
    "embedding_cache",
    metadata,
    sa.Column("fingerprint", sa.Text, primary_key=True),
    sa.Column("text_hash", sa.LargeBinary(32), primary_key=True),
    sa.Column("vector", sa.LargeBinary, nullable=False),
    sqlite_with_rowid=False,
)

threads = sa.Table(
    "threads",
    metadata,
    sa.Column("id", Id, primary_key=True),
    owner_column(),
    sa.Column("title", sa.Text, nullable=False),
    sa.Column("scope", Json, nullable=False),
    sa.Column("created_at", Time, nullable=False),
    sa.Column("updated_at", Time, nullable=False),
    sa.Index("ix_threads_owner_updated", "owner_id", "updated_at", "id"),
)

messages = sa.Table(
    "messages",
    metadata,
    sa.Column("id", Id, primary_key=True),
    sa.Column("thread_id", Id, sa.ForeignKey("threads.id", ondelete="CASCADE"), nullable=False),
    sa.Column("ordinal", sa.Integer, nullable=False),
    sa.Column("role", sa.Text, nullable=False),
    sa.Column("content", sa.Text, nullable=False),
    sa.Column("details", Json, nullable=False),
    sa.Column("created_at", Time, nullable=False),
    sa.UniqueConstraint("thread_id", "ordinal"),
)

# Deletions that indexes or object stores may not reflect yet. A row is removed once they do, after a restart if
# necessary.
deletions = sa.Table(
    "deletions",
    metadata,
    sa.Column("id", Id, primary_key=True),
    sa.Column("owner_id", Id, nullable=False),
    sa.Column("resource_ids", Json, nullable=False),
    sa.Column("blob_keys", Json, nullable=False),
    sa.Column("created_at", Time, nullable=False),
)

# Receipts of files that were deleted because their lifetime was over.
expired_files = sa.Table(
    "expired_files",
    metadata,
    sa.Column("resource_id", Id, primary_key=True),
    owner_column(),
    sa.Column("deleted_at", Time, nullable=False),
    sa.Column("receipt", Json, nullable=False),
    sa.Index("ix_expired_files_owner_deleted", "owner_id", "deleted_at", "resource_id"),
    sa.Index("ix_expired_files_deleted_at", "deleted_at"),
)

# Files whose index payloads are out of date. A row is removed once they are rewritten, after a restart if necessary.
payload_changes = sa.Table(
    "payload_changes",
    metadata,
    _resource(primary_key=True),
    # renewed with every change of the file, so that a change during the rewrite is not lost
    sa.Column("stamp", Id, nullable=False),
    sa.Column("lease_worker", sa.Text),
    sa.Column("lease_until", Time),
    sa.Column("created_at", Time, nullable=False),
)

# An owner's requests in the latest active minute (minutes since 1970), shared by all servers on a database.
request_counts = sa.Table(
    "request_counts",
    metadata,
    owner_column(primary_key=True),
    sa.Column("minute", sa.Integer, nullable=False),
    sa.Column("requests", sa.Integer, nullable=False),
)

citations = sa.Table(
    "citations",
    metadata,
    sa.Column("message_id", Id, sa.ForeignKey("messages.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("ordinal", sa.Integer, primary_key=True),
    sa.Column("n", sa.Integer, nullable=False),
    sa.Column("chunk_id", Id, nullable=False),
    sa.Column("resource_id", Id, nullable=False, index=True),
    sa.Column("version", sa.Integer, nullable=False),
    sa.Column("data", Json, nullable=False),
)

usage = sa.Table(
    "usage",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True, autoincrement=True),
    owner_column(),
    sa.Column("thread_id", Id),
    sa.Column("message_id", Id),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("provider", sa.Text, nullable=False),
    sa.Column("model", sa.Text, nullable=False),
    sa.Column("input_tokens", sa.Integer, nullable=False),
    sa.Column("output_tokens", sa.Integer, nullable=False),
    sa.Column("units", sa.Integer, nullable=False),
    sa.Column("cost", sa.Double, nullable=False),
    sa.Column("created_at", Time, nullable=False),
    sa.Index("ix_usage_owner_created", "owner_id", "created_at"),
)

# The number of files with each value of metadata, tags and dates, per owner (project '') and per project; value '' is
# the field as a whole. Triggers maintain it: see its migration. On Postgres, each change adds its own rows (part > 0),
# so that changes do not wait for each other, and readers merge them (part < 0) from time to time.
facet_counts = sa.Table(
    "facet_counts",
    metadata,
    owner_column(primary_key=True),
    sa.Column("project_id", Id, primary_key=True),
    sa.Column("field", sa.Text, primary_key=True),
    sa.Column("kind", sa.Text, primary_key=True),
    sa.Column("value", sa.Text, primary_key=True),
    sa.Column("text", sa.Text, primary_key=True),
    sa.Column("part", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("number", sa.Double),
    sa.Column("files", sa.Integer, nullable=False),
    sqlite_with_rowid=False,
)

# Calls within the last minute to rate-limited providers, shared by all workers on a database.
provider_calls = sa.Table(
    "provider_calls",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True, autoincrement=True),
    sa.Column("provider", sa.Text, nullable=False),
    sa.Column("at", Time, nullable=False),
    sa.Column("tokens", sa.Integer, nullable=False),
    # whether somebody waits for it: see citewell.storage.spending.provider_calls
    sa.Column("is_query", sa.Boolean, nullable=False, server_default=sa.true()),
    sa.Index("ix_provider_calls_provider_at", "provider", "at"),
)

# US dollars per calendar month (UTC, such as 2026-01), including reservations for calls in progress.
spending = sa.Table(
    "spending",
    metadata,
    sa.Column("month", sa.String(7), primary_key=True),
    sa.Column("dollars", sa.Double, nullable=False),
)

# The acknowledged contents of vector stores that cannot count or search keywords. `index_key` tells indexes apart.
_Number = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
stored_points = sa.Table(
    "stored_points",
    metadata,
    sa.Column("n", _Number, primary_key=True, autoincrement=True),
    sa.Column("index_key", sa.BigInteger, nullable=False),
    sa.Column("id", Id, nullable=False),
    sa.Column("owner_id", sa.Text, nullable=False),
    sa.Column("resource_id", sa.Text, nullable=False),
    sa.Column("type", sa.Text, nullable=False),
    sa.Column("payload", Json, nullable=False),
    sa.Column("has_vector", sa.Boolean, nullable=False),
    # whether the store's record lacks part of the payload
    sa.Column("is_cut", sa.Boolean, nullable=False),
    # false until the store has acknowledged the point
    sa.Column("written", sa.Boolean, nullable=False),
    sa.Index("uq_stored_points_index_id", "index_key", "id", unique=True),
    sa.Index("ix_stored_points_owner", "index_key", "owner_id", "resource_id"),
)

# An inverted index: an owner's points that contain a term, with its weight. `term` is a hash of index, owner and term.
point_terms = sa.Table(
    "point_terms",
    metadata,
    sa.Column("term", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column(
        "n", _Number, sa.ForeignKey("stored_points.n", ondelete="CASCADE"), primary_key=True, autoincrement=False
    ),
    sa.Column("weight", sa.Double, nullable=False),
    sa.Index("ix_point_terms_n", "n"),
    sqlite_with_rowid=False,
)

# Synced sources: each one's sync cursor, and the items it has imported, by the source's own key.
sources = sa.Table(
    "sources",
    metadata,
    sa.Column("id", Id, primary_key=True),
    owner_column(),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("project_id", Id, nullable=False),
    sa.Column("cursor", sa.Text),
    sa.Column("report", Json, nullable=False),
    sa.Column("created_at", Time, nullable=False),
    sa.Column("finished_at", Time),
    sa.UniqueConstraint("owner_id", "name"),
)

source_items = sa.Table(
    "source_items",
    metadata,
    sa.Column("source_id", Id, sa.ForeignKey("sources.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("key", sa.Text, primary_key=True),
    # the source's version of the item at import; a different stamp means a change
    sa.Column("stamp", sa.Text, nullable=False),
    sa.Column("resource_id", Id, index=True),
    # the metadata keys that the source set on the file
    sa.Column("keys", Json, nullable=False),
    sa.Column("problem", sa.Text),
    sa.Column("problem_code", sa.Text),
    sa.Column("updated_at", Time, nullable=False),
)

# Facts about the database itself: see citewell.storage.folder_id.
meta = sa.Table(
    "meta",
    metadata,
    sa.Column("name", sa.Text, primary_key=True),
    sa.Column("value", sa.Text, nullable=False),
)
