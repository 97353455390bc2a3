"""The interface of a connector: what its source contains now, what changed, and the files. `engine` does everything else."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, Protocol

from citewell.errors import SourceProblem
from citewell.types import JsonObject, JsonValue


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceEntry:
    """An item of a source, which becomes one file.

    key: the source's permanent name for it. stamp: changes with everything that is imported, and ends with the value from `present`.
    frame: the record that the file is the frame of, as `POST /sources/{name}/items` takes it; metadata: other metadata of the file.
    problem: why it cannot be imported; place: where the connector finds the file
    """

    key: str
    stamp: str
    filename: str = ""
    identifier: str | None = None
    frame: JsonObject | None = None
    metadata: Mapping[str, JsonValue] = field(default_factory=dict[str, JsonValue])
    problem: SourceProblem | None = None
    place: JsonValue = None


class Connector(Protocol):
    """A source to synchronize files from. Reading it again is harmless."""

    @property
    def kind(self) -> str:
        """The connector's kind, in lower case."""
        ...

    async def present(self) -> Mapping[str, str]:
        """Every key now in the source, with as much of the end of its stamp as is known without reading the entry."""
        ...

    def read(self, since: str | None, keys: Collection[str]) -> AsyncIterator[SourceEntry]:
        """Entries changed since a cursor (all if it is None), and those with these keys. Entries may repeat or be unchanged."""
        ...

    async def fetch(self, entry: SourceEntry, folder: Path) -> BinaryIO:
        """The entry's open file, for the caller to close; `folder` is for a copy, if needed. Raises `SourceProblem`.

        A path is not enough, because the file there may change between a check and opening it.
        """
        ...

    def cursor(self) -> str | None:
        """The cursor for `read` in the next run, once this run has ended."""
        ...
