"""The collection of one model in a Qdrant server: creation, checks and payload indexes."""

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
"""Version of payloads and vectors, stored in the collection's metadata; increment it when their format changes."""
MIN_VERSION = (1, 20)  # of the server: substring filters, and document frequencies per owner
MAX_DIMENSIONS = 65_535
MAX_INDEXED_FIELDS = 512
"""Filters on further fields read payloads, which is exact but slower."""
Quantization: TypeAlias = Literal["none", "scalar", "binary"]
# Links per point in its owner's search graph, and the candidates considered for them (both as in pgvector and Edge).
_LINKS = 16
_CANDIDATES = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectionLayout:
    """Sharding and storage of a new collection. An existing one keeps its layout.

    shards: None leaves the number to the server, which uses one per node
    replicas: copies of each shard
    quantization: what the search graph compares: full precision, one byte per number, or one bit
    """

    shards: int | None = None
    replicas: int = 1
    quantization: Quantization = "none"


def collection_name(prefix: str, index: str) -> str:
    """The collection name of an index, given its name, such as a model's fingerprint."""
    return f"{prefix}_{hashlib.sha256(index.encode()).hexdigest()[:16]}"


async def prepare(
    client: AsyncQdrantClient, name: str, index: str, dimensions: int, layout: CollectionLayout
) -> frozenset[str]:
    """Create a collection and its field indexes if missing; returns the indexed fields. Safe to run concurrently.

    Raises `ConfigurationError` if the server is too old, the model has too many dimensions, or Citewell did not create
    the collection; `Unavailable` if the collection has other dimensions or another schema version.
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
    """Index these payload fields unless they are indexed; returns all indexed fields, by their names in filters."""
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
        raise Unavailable("The server at Qdrant's address does not report a version.") from None
    if found < MIN_VERSION:
        least = ".".join(map(str, MIN_VERSION))
        raise ConfigurationError(f"The Qdrant server is version {version}; Citewell's searches need at least {least}.")


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
            # Every search is within one owner, so each owner has a graph, and there is no global one.
            hnsw_config=models.HnswConfigDiff(m=0, payload_m=_LINKS, ef_construct=_CANDIDATES),
            shard_number=layout.shards,
            replication_factor=layout.replicas,
            write_consistency_factor=layout.replicas // 2 + 1,
            metadata={OURS: {"schema": SCHEMA_VERSION, "model": index}},
        )
    except Exception:  # any error: another process may have created it first
        if not await client.collection_exists(name):
            raise


def _check(found: models.CollectionInfo, name: str, dimensions: int) -> None:
    ours = cast(Mapping[str, Any], found.config.metadata or {}).get(OURS)
    if not isinstance(ours, Mapping):
        raise ConfigurationError(
            f"The collection {name} in Qdrant was not created by Citewell. Set CITEWELL_QDRANT_COLLECTION."
        )
    schema = cast(Mapping[str, Any], ours).get("schema")
    if schema != SCHEMA_VERSION:
        raise Unavailable(
            f"The collection {name} in Qdrant has schema {schema}, but this version of Citewell needs {SCHEMA_VERSION}."
        )
    vectors = found.config.params.vectors
    size = vectors[DENSE].size if isinstance(vectors, dict) and DENSE in vectors else 0
    if size != dimensions:
        raise Unavailable(
            f"The collection {name} in Qdrant has vectors of {size} dimensions, but the model has {dimensions}."
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
    """The index parameters of a field.

    Only the owner field adds links to the search graph: no graph path crosses other owners' points.
    """
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
