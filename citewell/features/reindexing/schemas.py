"""HTTP schemas for reindexing runs."""

from __future__ import annotations

from datetime import datetime

from pydantic import Field

from citewell.features.schemas import RequestBody, Schema, utc
from citewell.types import Reindex


class ReindexIn(RequestBody):
    """Which files to process again; default: all."""

    project: str | None = Field(default=None, description="id or name")
    failed: bool = Field(default=False, description="only files that are FAILED or PARTIAL")
    read_again: bool = Field(default=False, description="also read the original files again")


class ReindexOut(Schema):
    """A run and its progress: `done` of `total` files, of which `failed` are FAILED or PARTIAL."""

    id: str
    state: str = Field(description="running or finished")
    project_id: str | None
    total: int
    done: int
    failed: int
    created_at: datetime

    @staticmethod
    def of(run: Reindex) -> ReindexOut:
        """The public form of a run."""
        return ReindexOut(
            id=run.id,
            state="running" if run.waiting else "finished",
            project_id=run.selection.project_id,
            total=run.total,
            done=run.total - run.waiting,
            failed=run.failed,
            created_at=utc(run.created_at),
        )


class ReindexList(Schema):
    """All runs, newest first."""

    runs: list[ReindexOut]
