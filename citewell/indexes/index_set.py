"""The set of open indexes: the active one, which serves searches, and those being built alongside it."""

from __future__ import annotations

import logging
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from citewell.errors import InvalidInput, NotFound, Unavailable
from citewell.indexes.pictures import PictureSource
from citewell.ports import Embedder, EmbedderWrapper, FloatMatrix, RemoteEmbedder, VectorIndex
from citewell.storage.vectors.indexes import BuildMode, IndexRecord, IndexState
from citewell.types import FileFacts, Filter

log = logging.getLogger(__name__)
MAX_ASKED = 8
"""Maximum number of indexes that one question may search."""


@runtime_checkable
class DescribingIndex(Protocol):
    """A vector index whose points may also describe their file to other programs."""

    async def describe_file(self, filter: Filter, file: FileFacts) -> None:
        """Set the file description in every point that matches the filter. Durable on return (`PERSISTENT`)."""
        ...


@runtime_checkable
class CompletingIndex(Protocol):
    """A vector index that can add vectors to stored points without rewriting the rest."""

    async def add_vectors(self, vectors: Mapping[str, FloatMatrix]) -> set[str]:
        """Add dense vectors of shape (dimensions,) to points; returns the ids of points that do not exist.

        Durable on return (`PERSISTENT`).
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenIndex:
    """A vector store, the embedder whose vectors it holds, and the source of pictures for that embedder."""

    record: IndexRecord
    embedder: Embedder
    store: VectorIndex
    pictures: PictureSource | None = None

    @property
    def is_remote(self) -> bool:
        """Whether the embedder, or one that it wraps, is called over the network, which usually costs money."""
        layer = self.embedder
        while isinstance(layer, EmbedderWrapper) and not isinstance(layer, RemoteEmbedder):
            layer = layer.inner
        return isinstance(layer, RemoteEmbedder)


@dataclass(frozen=True, slots=True)
class Rebuilding:
    """Progress of building or rebuilding the active index, in chunks.

    problem: why it is waiting; because: why no other index serves searches meanwhile, as a sentence
    """

    done: int
    total: int
    problem: str = ""
    because: str = ""

    def __str__(self) -> str:
        waiting = f"; waiting, and resuming automatically: {self.problem}" if self.problem else ""
        before = f"{self.because} " if self.because else ""
        return f"{before}being rebuilt from SQL: {self.done:,} of {self.total:,} chunks{waiting}"


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexChange:
    """An index that is going to replace the active one, and its progress in chunks."""

    index_id: str
    fingerprint: str
    store: str
    mode: BuildMode
    state: IndexState
    done: int = 0
    total: int = 0
    paused: bool = False
    problem: str = ""

    def __str__(self) -> str:
        if self.state is IndexState.OFFERED:
            reason = self.problem or f"{self.fingerprint} in {self.store} is configured, and building it costs money"
            return f"{reason}: the index of {self.fingerprint} waits for you to start it"
        far = f"{self.done:,} of {self.total:,} chunks" + (", paused" if self.paused else "")
        return f"{self.fingerprint} in {self.store} is being built ({self.mode.value}): {far}" + (
            f"; {self.problem}" if self.problem else ""
        )


@dataclass(frozen=True, slots=True)
class GradualMove:
    """A gradual migration: searches use `target` for files up to the id `moved_to`, and the active index for others."""

    target: OpenIndex
    moved_to: str


class IndexSet:
    """Holds the open indexes: one serves searches, all take writes. An index migration switches them at run time."""

    def __init__(self, active: OpenIndex, beside: Sequence[OpenIndex] = ()) -> None:
        self._active = active
        self._beside = list(beside)
        self._rebuilding: dict[str, Rebuilding] = {}
        self._changes: dict[str, IndexChange] = {}
        self._moved: dict[str, str] = {}
        self._filled = 0
        self.embedder = EmbedderWrapper(active.embedder)
        """The active index's embedder; follows every switch."""

    @property
    def active(self) -> OpenIndex:
        """The index that serves searches."""
        return self._active

    @property
    def all(self) -> tuple[OpenIndex, ...]:
        """Every index that receives new chunks, the active one first."""
        return (self._active, *self._beside)

    @property
    def filling(self) -> bool:
        """Whether an index is being filled from SQL."""
        return self._filled > 0

    @contextmanager
    def being_filled(self) -> Generator[None]:
        """Mark an index as being filled from SQL during the block: chunks read there may be written a little later."""
        self._filled += 1
        try:
            yield
        finally:
            self._filled -= 1

    @property
    def rebuilding(self) -> Rebuilding | None:
        """Progress of rebuilding the active index; None if it is complete."""
        return self._rebuilding.get(self._active.record.id)

    @property
    def changes(self) -> tuple[IndexChange, ...]:
        """The indexes that may replace the active one: being built, or offered."""
        return tuple(self._changes.values())

    @property
    def gradual(self) -> GradualMove | None:
        """The gradual migration that searches take into account; None if there is none."""
        for index_id, moved_to in self._moved.items():
            target = self.find(index_id)
            if moved_to and target is not None and target is not self._active:
                return GradualMove(target, moved_to)
        return None

    @property
    def notice(self) -> str | None:
        """The notice that accompanies results while the active index is being rebuilt."""
        rebuilding = self.rebuilding
        if rebuilding is None:
            return None
        counts = f"({rebuilding.done:,} of {rebuilding.total:,} chunks)"
        if rebuilding.because:
            return f"{rebuilding.because} Search is by keyword only until the new index is built {counts}."
        return f"The index is being rebuilt {counts}: results are incomplete."

    def is_whole(self, index_id: str) -> bool:
        """Whether an index is open and not being built."""
        return self.find(index_id) is not None and index_id not in self._changes and index_id not in self._rebuilding

    def note_change(self, index_id: str, change: IndexChange | None) -> None:
        """Record an index that is going to replace the active one; None once it has, or no longer will."""
        if change is None:
            self._changes.pop(index_id, None)
        else:
            self._changes[index_id] = change

    def note_moved(self, index_id: str, moved_to: str | None) -> None:
        """Record that searches use the index for files up to this id; None ends this."""
        if moved_to is None:
            self._moved.pop(index_id, None)
        else:
            self._moved[index_id] = moved_to

    def note_rebuilding(self, index_id: str, progress: Rebuilding | None) -> None:
        """Record an index's progress; None when it is complete."""
        if progress is None:
            self._rebuilding.pop(index_id, None)
        else:
            self._rebuilding[index_id] = progress

    def add(self, index: OpenIndex) -> None:
        """Open an index for writes."""
        self._beside.append(index)

    def find(self, index_id: str) -> OpenIndex | None:
        """The open index with this id."""
        return next((index for index in self.all if index.record.id == index_id), None)

    def named(self, ids: Sequence[str]) -> list[OpenIndex]:
        """The open indexes with these ids, without duplicates.

        Raises `InvalidInput` for none or too many ids, `NotFound` if one is not open.
        """
        if not 1 <= len(ids) <= MAX_ASKED:
            raise InvalidInput(f"`indexes` must be 1 to {MAX_ASKED} ids.")
        found = [self.find(index_id) for index_id in dict.fromkeys(ids)]
        if None in found:
            raise NotFound("There is no such open index.")
        return [index for index in found if index is not None]

    def has(self, index_id: str) -> bool:
        """Whether this index is open."""
        return self.find(index_id) is not None

    def switch(self, index_id: str) -> None:
        """Make an open index the active one; the previous one stays open and takes writes, to allow a rollback.

        Raises KeyError if it is not open.
        """
        chosen = self.find(index_id)
        if chosen is None:
            raise KeyError(index_id)
        self._beside = [index for index in self.all if index is not chosen]
        self._active = chosen
        self._moved.pop(index_id, None)
        self._changes.pop(index_id, None)
        self.embedder.inner = chosen.embedder

    def remove(self, index_id: str) -> OpenIndex | None:
        """Remove an index, unless it is the active one; the caller closes it."""
        found = next((index for index in self._beside if index.record.id == index_id), None)
        if found is not None:
            self._beside.remove(found)
        self._moved.pop(index_id, None)
        self._changes.pop(index_id, None)
        self._rebuilding.pop(index_id, None)
        return found

    async def close(self) -> None:
        """Close every store and embedder. Writes that a store lost are repeated at the next start."""
        for index in self.all:
            if isinstance(index.embedder, EmbedderWrapper):
                await index.embedder.close()
            try:
                await index.store.close()
            except Unavailable as error:
                log.warning("index %s: %s", index.record.fingerprint, error)
