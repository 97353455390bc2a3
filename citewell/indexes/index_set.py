"""The open indexes: the one that serves searches, and those being built alongside it."""

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
"""How many indexes one question may be put to."""


@runtime_checkable
class DescribingIndex(Protocol):
    """A vector index whose points may also tell other programs of their file."""

    async def describe_file(self, filter: Filter, file: FileFacts) -> None:
        """Set what the points that the filter admits tell of their file. Durable (`PERSISTENT`) when this returns."""
        ...


@runtime_checkable
class CompletingIndex(Protocol):
    """A vector index that gives points their vectors later without writing the rest of them again."""

    async def add_vectors(self, vectors: Mapping[str, FloatMatrix]) -> set[str]:
        """Give points their dense vectors, each of shape (dimensions,); returns the ids of those that are not there.

        Durable (`PERSISTENT`) when this returns.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenIndex:
    """A vector store with the embedder whose vectors it holds, and where that finds the pictures of chunks."""

    record: IndexRecord
    embedder: Embedder
    store: VectorIndex
    pictures: PictureSource | None = None

    @property
    def is_remote(self) -> bool:
        """Whether the embedder, or one that it wraps, is called over a network, which mostly costs money."""
        layer = self.embedder
        while isinstance(layer, EmbedderWrapper) and not isinstance(layer, RemoteEmbedder):
            layer = layer.inner
        return isinstance(layer, RemoteEmbedder)


@dataclass(frozen=True, slots=True)
class Rebuilding:
    """The progress of the index that answers, while it is being built or rebuilt, in chunks.

    problem: what it waits for; because: why no other index answers meanwhile, as a sentence
    """

    done: int
    total: int
    problem: str = ""
    because: str = ""

    def __str__(self) -> str:
        waiting = f"; it waits, and goes on by itself: {self.problem}" if self.problem else ""
        before = f"{self.because} " if self.because else ""
        return f"{before}being rebuilt from SQL: {self.done:,} of {self.total:,} chunks{waiting}"


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexChange:
    """An index that is to take the place of the one that answers, and how far it is, in chunks."""

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
            return f"{self.fingerprint} in {self.store} is configured; building it costs money, and waits until you start it"
        far = f"{self.done:,} of {self.total:,} chunks" + (", paused" if self.paused else "")
        return f"{self.fingerprint} in {self.store} is being built ({self.mode.value}): {far}" + (
            f"; {self.problem}" if self.problem else ""
        )


@dataclass(frozen=True, slots=True)
class GradualMove:
    """Files up to the id `moved_to` are answered from `target`, the others from the active index, which has them all."""

    target: OpenIndex
    moved_to: str


class IndexSet:
    """Which open index serves searches, and which ones take writes. An index migration switches them at run time."""

    def __init__(self, active: OpenIndex, beside: Sequence[OpenIndex] = ()) -> None:
        self._active = active
        self._beside = list(beside)
        self._rebuilding: dict[str, Rebuilding] = {}
        self._changes: dict[str, IndexChange] = {}
        self._moved: dict[str, str] = {}
        self._filled = 0
        self.embedder = EmbedderWrapper(active.embedder)
        """The active index's embedder, also after a switch."""

    @property
    def active(self) -> OpenIndex:
        """The index that serves searches."""
        return self._active

    @property
    def all(self) -> tuple[OpenIndex, ...]:
        """Every index that new chunks go to, the active one first."""
        return (self._active, *self._beside)

    @property
    def filling(self) -> bool:
        """Whether an index is being filled from SQL."""
        return self._filled > 0

    @contextmanager
    def being_filled(self) -> Generator[None]:
        """While the block runs, an index is being filled from SQL: what is read there may be written a little later."""
        self._filled += 1
        try:
            yield
        finally:
            self._filled -= 1

    @property
    def rebuilding(self) -> Rebuilding | None:
        """How far the active index is being rebuilt; None when it is whole."""
        return self._rebuilding.get(self._active.record.id)

    @property
    def changes(self) -> tuple[IndexChange, ...]:
        """The indexes that are to take the place of the active one: being built, or offered."""
        return tuple(self._changes.values())

    @property
    def gradual(self) -> GradualMove | None:
        """The gradual build that searches take part in; None where none is under way."""
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
            return f"{rebuilding.because} Answers go by words until the new index is built {counts}."
        return f"The index is being rebuilt {counts}: not everything is found yet."

    def is_whole(self, index_id: str) -> bool:
        """Whether an index is open and not being built."""
        return self.find(index_id) is not None and index_id not in self._changes and index_id not in self._rebuilding

    def note_change(self, index_id: str, change: IndexChange | None) -> None:
        """Report an index that is to take the active one's place; None when it has, or will not."""
        if change is None:
            self._changes.pop(index_id, None)
        else:
            self._changes[index_id] = change

    def note_moved(self, index_id: str, moved_to: str | None) -> None:
        """Files up to this id are answered from the index; None when it no longer shares the answering."""
        if moved_to is None:
            self._moved.pop(index_id, None)
        else:
            self._moved[index_id] = moved_to

    def note_rebuilding(self, index_id: str, progress: Rebuilding | None) -> None:
        """Report an index's progress; None when it is complete."""
        if progress is None:
            self._rebuilding.pop(index_id, None)
        else:
            self._rebuilding[index_id] = progress

    def add(self, index: OpenIndex) -> None:
        """Let an index take writes from now on."""
        self._beside.append(index)

    def find(self, index_id: str) -> OpenIndex | None:
        """The open index with this id."""
        return next((index for index in self.all if index.record.id == index_id), None)

    def named(self, ids: Sequence[str]) -> list[OpenIndex]:
        """The open indexes with these ids, each once. Raises `InvalidInput` for none or too many, `NotFound` for one that is not open."""
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
        """Make an open index the active one; the previous one stays open and takes writes, so that one can roll back."""
        chosen = self.find(index_id)
        if chosen is None:
            raise KeyError(index_id)
        self._beside = [index for index in self.all if index is not chosen]
        self._active = chosen
        self._moved.pop(index_id, None)
        self._changes.pop(index_id, None)
        self.embedder.inner = chosen.embedder

    def remove(self, index_id: str) -> OpenIndex | None:
        """Take an index out, unless it is the active one; the caller closes it."""
        found = next((index for index in self._beside if index.record.id == index_id), None)
        if found is not None:
            self._beside.remove(found)
        self._moved.pop(index_id, None)
        self._changes.pop(index_id, None)
        self._rebuilding.pop(index_id, None)
        return found

    async def close(self) -> None:
        """Close every store and embedder. What a store could not write is written again at the next start."""
        for index in self.all:
            if isinstance(index.embedder, EmbedderWrapper):
                await index.embedder.close()
            try:
                await index.store.close()
            except Unavailable as error:
                log.warning("index %s: %s", index.record.fingerprint, error)
