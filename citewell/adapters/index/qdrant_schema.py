"""The collection of one model in a Qdrant server: how it is made, checked and given payload indexes."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, cast

from qdrant_client import AsyncQdrantClient, models

from citewell.adapters.index.qdrant_filters import OURS, path
from citewell.errors import ConfigurationError, Unavailable
from citewell.ports.points import OWNER, PAYLOAD_FIELDS, FieldKind, field_kind

DENSE = "dense"
LEXICAL = "lexical"
SCHEMA_VERSION = 1
"""Of the payload and the vectors of a collection, kept in its metadata; raised when a point is written in another way."""
MIN_VERSION = (1, 20)  # of the server: parts of texts in filters, and document frequencies of one owner's points
MAX_DIMENSIONS = 65_535
MAX_INDEXED_FIELDS = 512
"""A filter on fields beyond these reads payloads, which is exact and slower."""
Quantization: TypeAlias = Literal["none", "scalar", "binary"]
# Links of a point in the search graph of its owner, and how many candidates each is chosen from (both as in pgvector and Edge).
_LINKS = 16
_CANDIDATES = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectionLayout:
    """How a new collection is spread and stored. An existing one keeps what it was made with.

    shards: None leaves the number to the server, which takes one per node
    replicas: of each shard
    quantization: what the search graph compares: all digits, one byte per number, or one bit
    """

    shards: int | None = None
    replicas: int = 1
    quantization: Quantization = "none"


def collection_name(prefix: str, index: str) -> str:
    """The name of the collection of an index, such as a model's fingerprint."""
    return f"{prefix}_{hashlib.sha256(index.encode()).hexdigest()[:16]}"


async def prepare(
    client: AsyncQdrantClient, name: str, index: str, dimensions: int, layout: CollectionLayout
) -> frozenset[str]:
    """Make what does not exist of a collection; several processes may do so at once. Returns the fields that have an index.

    `ConfigurationError` when the server is too old, the model has too many dimensions, or the collection is somebody else's;
    `Unavailable` when it is one of other dimensions or of a later version of Citewell.
    """
    if dimensions > MAX_DIMENSIONS:
        raise ConfigurationError(
            f"Qdrant takes vectors of up to {MAX_DIMENSIONS} dimensions; this model has {dimensions}."
        )
    await _require_version(client)
    if not await client.collection_exists(name):
        await _create(client, name, index, dimensions, layout)
    found = await client.get_collection(name)
    _check(found, name, dimensions)
    return await index_fields(client, name, PAYLOAD_FIELDS, found.payload_schema)


async def index_fields(
    client: AsyncQdrantClient, name: str, fields: Iterable[str], known: Mapping[str, object]
) -> frozenset[str]:
    """Give these payload fields an index each where they have none; returns all fields that have one, as filters name them."""
    indexed = {key.removeprefix(f"{OURS}.") for key in known}
    for field in fields:
        kind = field_kind(field)
        if kind is None or field in indexed or len(indexed) >= MAX_INDEXED_FIELDS:
            continue
        await client.create_payload_index(name, path(field), _index_of(field, kind), wait=True)
        indexed.add(field)
    return frozenset(indexed)


async def _require_version(client: AsyncQdrantClient) -> None:
    version = (await client.info()).version
    try:
        found = tuple(int(part) for part in version.split("-")[0].split(".")[:2])
    except ValueError:
        raise Unavailable("What answers at the address of Qdrant does not say which version it is.") from None
    if found < MIN_VERSION:
        least = ".".join(map(str, MIN_VERSION))
        raise ConfigurationError(
            f"The Qdrant server is version {version}; {least} is the least that Citewell's searches need."
        )


async def _create(client: AsyncQdrantClient, name: str, index: str, dimensions: int, layout: CollectionLayout) -> None:
    try:
        await client.create_collection(
            name,
            vectors_config={
                DENSE: models.VectorParams(
                    size=dimensions,
                    distance=models.Distance.DOT,
                    quantization_config=_quantization(layout.quantization),
                )
            },
            sparse_vectors_config={LEXICAL: models.SparseVectorParams(modifier=models.Modifier.IDF)},
            # Every search is one owner's, so each owner has a graph, and there is none over all.
            hnsw_config=models.HnswConfigDiff(m=0, payload_m=_LINKS, ef_construct=_CANDIDATES),
            shard_number=layout.shards,
            replication_factor=layout.replicas,
            write_consistency_factor=layout.replicas // 2 + 1,
            metadata={OURS: {"schema": SCHEMA_VERSION, "model": index}},
        )
    except Exception:  # whichever error: another process may have been first
        if not await client.collection_exists(name):
            raise


def _check(found: models.CollectionInfo, name: str, dimensions: int) -> None:
    ours = cast(Mapping[str, Any], found.config.metadata or {}).get(OURS)
    if not isinstance(ours, Mapping):
        raise ConfigurationError(
            f"The collection {name} in Qdrant was not made by Citewell. Set CITEWELL_QDRANT_COLLECTION."
        )
    schema = cast(Mapping[str, Any], ours).get("schema")
    if schema != SCHEMA_VERSION:
        raise Unavailable(
            f"The collection {name} in Qdrant has schema {schema}, and this version of Citewell {SCHEMA_VERSION}."
        )
    vectors = found.config.params.vectors
    size = vectors[DENSE].size if isinstance(vectors, dict) and DENSE in vectors else 0
    if size != dimensions:
        raise Unavailable(
            f"The collection {name} in Qdrant has vectors of {size} dimensions, and the model {dimensions}."
        )


def _quantization(kind: Quantization) -> models.ScalarQuantization | models.BinaryQuantization | None:
    if kind == "scalar":
        config = models.ScalarQuantizationConfig(type=models.ScalarType.INT8, quantile=0.99, always_ram=True)
        return models.ScalarQuantization(scalar=config)
    if kind == "binary":
        return models.BinaryQuantization(binary=models.BinaryQuantizationConfig(always_ram=True))
    return None


def _index_of(
    field: str, kind: FieldKind
) -> models.KeywordIndexParams | models.IntegerIndexParams | models.FloatIndexParams:
    """Only the owner's index adds links to the search graph: others' points are never between two of an owner's."""
    if kind is FieldKind.KEYWORD:
        owner = field == OWNER
        return models.KeywordIndexParams(
            type=models.KeywordIndexType.KEYWORD, is_tenant=owner or None, prefix=not owner or None, enable_hnsw=owner
        )
    if kind is FieldKind.INTEGER:
        return models.IntegerIndexParams(
            type=models.IntegerIndexType.INTEGER, lookup=True, range=True, enable_hnsw=False
        )
    return models.FloatIndexParams(type=models.FloatIndexType.FLOAT, enable_hnsw=False)
