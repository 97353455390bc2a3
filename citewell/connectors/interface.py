"""What a connector is: what its source has now, what changed, and the files of it. Everything else is `engine`'s."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, Protocol

from citewell.errors import SourceProblem
from citewell.types import JsonObject, JsonValue


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceEntry:
    """One thing that a source has, to become one file.

    key: the source's own name for it, which stays. stamp: changes with everything that is brought, and ends with what `present` tells.
    frame: the record that the file is the frame of, as `POST /sources/{name}/items` takes it; metadata: what else is said of the file.
    problem: why there is nothing to bring, though the source has it; place: where the connector finds the file
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
    """A place that files are synchronised from. Reading it again is harmless."""

    @property
    def kind(self) -> str:
        """Which connector this is, in small letters."""
        ...

    async def present(self) -> Mapping[str, str]:
        """Every key the source has now, with the end of its stamp if that is known without reading the entry."""
        ...

    def read(self, since: str | None, keys: Collection[str]) -> AsyncIterator[SourceEntry]:
        """Entries changed since a cursor (all where that is None), and those with these keys; some may come twice or unchanged."""
        ...

    async def fetch(self, entry: SourceEntry, folder: Path) -> BinaryIO:
        """The entry's file, open, for the caller to close; `folder` has room for a copy. Raises `SourceProblem`.

        A path would not do: what it names may change between looking at it and opening it.
        """
        ...

    def cursor(self) -> str | None:
        """What `read` of the next run is given, once this run has ended."""
        ...
