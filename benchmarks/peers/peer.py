"""What a peer must be able to do to be compared: take a PDF or records, and search them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol


@dataclass(frozen=True)
class Record:
    """A document of a retrieval set."""

    id: str
    title: str
    text: str

    @property
    def whole(self) -> str:
        return f"{self.title}\n{self.text}" if self.title else self.text


class Peer(Protocol):
    """One system, set up as its own quick start shows, with the model in the given folder.

    The constructor loads the model; everything after it is timed.
    """

    packages: tuple[str, ...]

    def __init__(self, model: Path, scratch: Path) -> None: ...

    def add_pdf(self, path: Path) -> int:
        """Make the file searchable; how many chunks it became."""
        ...

    def add_records(self, records: Sequence[Record]) -> int:
        """Make the records searchable, split as the quick start splits; how many chunks they became."""
        ...

    def search(self, query: str, top_k: int) -> list[str]:
        """The `top_k` best chunks: the id of the record that each belongs to (or its own text, for a PDF), best first."""
        ...


def batches(items: Sequence[Record], size: int) -> Iterator[Sequence[Record]]:
    """Consecutive slices of at most `size`."""
    for start in range(0, len(items), size):
        yield items[start : start + size]
