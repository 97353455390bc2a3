"""The indexes that are open: the one that answers, and those that are being built beside it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from citewell.ports import Embedder, EmbedderWrapper, VectorIndex
from citewell.storage.indexes import IndexRecord


@dataclass(frozen=True, slots=True)
class OpenIndex:
    """A vector store with the embedder whose vectors it holds."""

    record: IndexRecord
    embedder: Embedder
    store: VectorIndex


class IndexSet:
    """Which open index answers, and which ones take writes. Switched at run time by an index migration."""

    def __init__(self, active: OpenIndex, beside: Sequence[OpenIndex] = ()) -> None:
        self._active = active
        self._beside = list(beside)
        self.embedder = EmbedderWrapper(active.embedder)
        """The active index's embedder, also after a switch."""

    @property
    def active(self) -> OpenIndex:
        """The index that answers searches."""
        return self._active

    @property
    def all(self) -> tuple[OpenIndex, ...]:
        """Every index that new chunks go to, the active one first."""
        return (self._active, *self._beside)

    def add(self, index: OpenIndex) -> None:
        """Let an index take writes from now on."""
        self._beside.append(index)

    def find(self, index_id: str) -> OpenIndex | None:
        """The open index with this id."""
        return next((index for index in self.all if index.record.id == index_id), None)

    def switch(self, index_id: str) -> None:
        """Make an open index the active one; the former stays open and takes writes, so that one can roll back."""
        chosen = self.find(index_id)
        if chosen is None:
            raise KeyError(index_id)
        self._beside = [index for index in self.all if index is not chosen]
        self._active = chosen
        self.embedder.inner = chosen.embedder

    def remove(self, index_id: str) -> OpenIndex | None:
        """Take an index out, unless it is the active one; the caller closes it."""
        found = next((index for index in self._beside if index.record.id == index_id), None)
        if found is not None:
            self._beside.remove(found)
        return found

    async def close(self) -> None:
        """Close every store."""
        for index in self.all:
            await index.store.close()
