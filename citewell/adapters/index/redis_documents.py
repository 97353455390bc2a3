"""JSON documents of points in Redis, the names of keys and indexes, and the index schema.

Every owner has a separate key prefix and index, so searches see no other points and document frequencies are per owner.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from citewell.adapters.index.redis_queries import PRESENT, PRESENT_METADATA, entry
from citewell.ports.points import METADATA, OWNER, PAYLOAD_FIELDS, FieldKind
from citewell.text.sparse import K1
from citewell.types import JsonValue, Point, SparseVector

SCHEMA_VERSION = 1
"""Version of documents and indexes; increment it when the format of points changes."""
Graph: TypeAlias = Literal["hnsw", "flat"]
WORDS = "words"
_MAX_REPEATED = 8


@dataclass(frozen=True, slots=True)
class RedisNames:
    """The names of one model's keys; `base` is a hash with its schema, model and dimensions."""

    base: str

    @classmethod
    def of(cls, prefix: str, index: str) -> RedisNames:
        """The names for an index, given its name, such as a model's fingerprint."""
        return cls(f"{prefix}:{hashlib.sha256(index.encode()).hexdigest()[:16]}")

    @property
    def owners(self) -> str:
        """The hash that maps points to owners."""
        return f"{self.base}:owners"

    def index(self, space: str) -> str:
        """The index over an owner's documents."""
        return f"{self.base}:index:{space}"

    def prefix(self, space: str) -> str:
        """The key prefix of an owner's documents."""
        return f"{self.base}:point:{space}:"

    def key(self, space: str, point: str) -> str:
        """The key of a document."""
        return self.prefix(space) + point


def space_of(owner: str) -> str:
    """The name part that stands for an owner; never a prefix of another owner's."""
    return hashlib.sha256(owner.encode()).hexdigest()[:24]


def document(point: Point) -> dict[str, JsonValue]:
    """The JSON document of a point. `patch` changes `fields`, `metadata` and `present`."""
    made: dict[str, JsonValue] = {"fields": {}, "metadata": [], PRESENT: {}, PRESENT_METADATA: []}
    changes = patch({key: value for key, value in point.payload.items() if key != OWNER})
    for key, value in changes.items():
        made[key] = {k: v for k, v in value.items() if v is not None} if isinstance(value, Mapping) else value
    if point.dense is not None:
        made["dense"] = list(point.dense)
    if point.sparse is not None and point.sparse.indices:
        made[WORDS] = _written(point.sparse)
        made["terms"] = list(point.sparse.indices)
        made["weights"] = list(point.sparse.values)
        present = made[PRESENT]
        assert isinstance(present, dict)
        present[WORDS] = WORDS
    return made


def patch(payload: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """The `JSON.MERGE` patch that sets these fields; null removes a field.

    Lists are replaced as a whole, and metadata is one list.
    """
    fields: dict[str, JsonValue] = {}
    present: dict[str, JsonValue] = {}
    changes: dict[str, JsonValue] = {"fields": fields, PRESENT: present}
    for key, value in payload.items():
        if key == METADATA:
            held = {name: values for name, one in _object(value).items() if (values := _values(one))}
            changes[METADATA] = [entry(name, one) for name, values in held.items() for one in values]
            changes[PRESENT_METADATA] = [f"{METADATA}.{name}" for name in held]
        else:
            values = _values(value)
            fields[key] = [*values] if values else None
            present[key] = key if values else None
    return changes


def creation(names: RedisNames, space: str, dimensions: int, graph: Graph) -> list[str | int]:
    """The command that creates an owner's index."""
    form = ["HNSW", 10, "M", 16, "EF_CONSTRUCTION", 100] if graph == "hnsw" else ["FLAT", 6]
    return [
        *("FT.CREATE", names.index(space), "ON", "JSON", "PREFIX", 1, names.prefix(space)),
        *("NOOFFSETS", "NOHL", "STOPWORDS", 0, "SCHEMA"),
        *("$.dense", "AS", "dense", "VECTOR", *form, "TYPE", "FLOAT32", "DIM", dimensions, "DISTANCE_METRIC", "COSINE"),
        *(f"$.{WORDS}", "AS", WORDS, "TEXT", "NOSTEM"),
        *(f"$.{PRESENT}.*", "AS", PRESENT, "TAG", "CASESENSITIVE"),
        *(f"$.{METADATA}[*]", "AS", METADATA, "TAG", "CASESENSITIVE"),
        *(f"$.{PRESENT_METADATA}[*]", "AS", PRESENT_METADATA, "TAG", "CASESENSITIVE"),
        *(part for one in PAYLOAD_FIELDS if one != OWNER for part in _schema_of(one)),
    ]


def _schema_of(field: str) -> list[str]:
    kind = ["TAG", "CASESENSITIVE"] if PAYLOAD_FIELDS[field] is FieldKind.KEYWORD else ["NUMERIC"]
    return [f"$.fields.{field}[*]", "AS", field, *kind]


def token(term: int) -> str:
    """A 32-bit term as a word of the text index."""
    return f"w{term:x}"


def _written(words: SparseVector) -> str:
    """A text whose term frequencies approximate the weights, which are already saturated and length-normalized."""
    tokens: list[str] = []
    for term, weight in zip(words.indices, words.values, strict=True):
        frequency = weight * K1 / (K1 + 1 - weight) if weight < K1 + 1 else _MAX_REPEATED
        tokens += [token(term)] * max(1, min(_MAX_REPEATED, round(frequency)))
    return " ".join(tokens)


def _object(value: JsonValue) -> Mapping[str, JsonValue]:
    return value if isinstance(value, Mapping) else {}


def _values(value: JsonValue) -> list[JsonValue]:
    if isinstance(value, Iterable) and not isinstance(value, str | Mapping):
        return list(value)
    return [] if value in (None, {}) else [value]
