"""Runs over many files as HTTP sees them."""

from __future__ import annotations

from datetime import datetime

from pydantic import Field

from citewell.features.schemas import RequestBody, Schema, utc
from citewell.types import Reindex


class ReindexIn(RequestBody):
    """Which files to send through the stages again; all of them unless it says less."""

    project: str | None = Field(default=None, description="id or name")
    failed: bool = Field(default=False, description="only files that are FAILED or PARTIAL")
    read_again: bool = Field(default=False, description="read the bytes again, in place of only cutting and embedding")


class ReindexOut(Schema):
    """A run, and how far it is: `done` of `total` files, of which `failed` are FAILED or PARTIAL."""

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
    """The newest runs first."""

    runs: list[ReindexOut]
