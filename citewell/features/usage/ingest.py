"""Indexing whose paid embeddings are entered in the ledger of the owner they are for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from citewell.chunk.config import ChunkConfig
from citewell.features.usage.service import Ledger
from citewell.indexes.index_set import IndexSet
from citewell.ingest.indexing import IndexingStage
from citewell.ingest.records import RecordIngest, RecordsAdded
from citewell.metering import tallied
from citewell.storage.records import RecordRepository
from citewell.types import Job


@dataclass(frozen=True, slots=True)
class CountedIndexing(IndexingStage):
    """Stage 3 of files."""

    ledger: Ledger

    async def run(self, job: Job) -> None:
        """As `IndexingStage.run`; what an attempt that failed has spent counts too."""
        with tallied() as tally:
            try:
                await IndexingStage.run(self, job)
            finally:
                await self.ledger.record_paid(job.owner_id, tally.spent)


class CountedRecords(RecordIngest):
    """Records that are added as texts."""

    def __init__(self, records: RecordRepository, indexes: IndexSet, chunking: ChunkConfig, ledger: Ledger) -> None:
        super().__init__(records, indexes, chunking)
        self._ledger = ledger

    async def add(self, owner_id: str, project_id: str, records: Iterable[Mapping[str, Any]]) -> RecordsAdded:
        """As `RecordIngest.add`."""
        with tallied() as tally:
            try:
                return await super().add(owner_id, project_id, records)
            finally:
                await self._ledger.record_paid(owner_id, tally.spent)
