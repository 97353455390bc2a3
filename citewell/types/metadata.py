"""Metadata that people give their files: named values, each with its type."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, TypeAlias

from citewell.types.json import JsonObject, JsonValue

MetadataValue: TypeAlias = str | int | float | bool | tuple[str, ...]
Metadata: TypeAlias = Mapping[str, MetadataValue]


class MetadataKind(StrEnum):
    """The type of a value. A date is an instant: a day begins at midnight UTC. A list of texts counts as text with several values."""

    TEXT = "text"
    NUMBER = "number"
    BOOLEAN = "boolean"
    DATE = "date"


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """A passage's origin besides the file name: the record's id, if the text was added as a record, and the identifier and metadata
    that people gave the file."""

    record_id: str | None = None
    identifier: str | None = None
    metadata: Metadata = field(default_factory=dict[str, MetadataValue], hash=False)

    def to_json(self) -> dict[str, JsonValue]:
        """As JSON, without empty fields."""
        metadata = {key: list(value) if isinstance(value, tuple) else value for key, value in self.metadata.items()}
        said: dict[str, JsonValue] = {
            "record_id": self.record_id,
            "identifier": self.identifier,
            "metadata": metadata,
        }
        return {name: value for name, value in said.items() if value}

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> Provenance:
        """The inverse of `to_json`."""
        metadata = data.get("metadata") or {}
        return Provenance(
            record_id=data.get("record_id"),
            identifier=data.get("identifier"),
            metadata={key: tuple(value) if isinstance(value, list) else value for key, value in metadata.items()},
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class FileFacts:
    """A file's details, stored in each of its points for filters. Times are seconds since 1970 UTC.

    type:     the label of its format, such as `pdf`
    category: how Citewell treats it (`Category`)
    projects: their ids and names
    stated:   the dates and keywords stated in the file itself
    """

    filename: str
    language: str | None = None
    type: str = ""
    category: str = ""
    identifier: str | None = None
    thread: str | None = None
    projects: tuple[str, ...] = ()
    uploaded_at: float | None = None
    metadata: Metadata = field(default_factory=dict[str, MetadataValue])
    stated: JsonObject = field(default_factory=dict[str, JsonValue])


@dataclass(frozen=True, slots=True, kw_only=True)
class MetadataKey:
    """A metadata key in a scope: the types of its values, how many files have it, and its most frequent texts with counts.

    timed: whether dates under it have a time of day.
    """

    name: str
    kinds: frozenset[MetadataKind]
    files: int
    frequent: tuple[tuple[str, int], ...] = ()
    timed: bool = False


@dataclass(frozen=True, slots=True)
class FacetValue:
    """A value of a field, and how many files have it. For dates it is a period: YYYY-MM or YYYY in UTC."""

    value: str | float | bool
    files: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Facet:
    """A field with values of one type: how many files have it, how many distinct values there are, and the most frequent ones.

    least and greatest are set for numbers, and for dates in ISO 8601.
    """

    field: str
    kind: MetadataKind
    files: int
    distinct: int
    values: tuple[FacetValue, ...]
    least: float | str | None = None
    greatest: float | str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Facets:
    """How many files a list has, and the fields to filter them by: built-in fields first, then metadata by frequency."""

    files: int
    fields: tuple[Facet, ...]
