"""Vectors in Pinecone's serverless indexes: one index per model, one namespace per owner.

Uses Pinecone's package (API version 2025-10). An index takes either our vectors or texts that it embeds itself
(integrated records). Limits: https://docs.pinecone.io/reference/api/database-limits/operation-limits
"""

from __future__ import annotations

import asyncio
import hashlib
import re
import time
from collections.abc import AsyncGenerator, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any, TypeVar

import numpy as np
import orjson
from pinecone import AsyncIndex, AsyncPinecone, EmbedConfig, IntegratedSpec, ServerlessSpec
from pinecone.errors.exceptions import (
    ApiError,
    ConflictError,
    ForbiddenError,
    NotFoundError,
    PineconeError,
    UnauthorizedError,
)
from pinecone.models.indexes.index import IndexModel

from citewell.adapters.index.pinecone_records import (
    CHUNK,
    MAX_METADATA_BYTES,
    NAME,
    TEXT,
    bounded,
    changes_of,
    expresses,
    filter_of,
    metadata_of,
)
from citewell.errors import ConfigurationError, Unavailable
from citewell.ports import Capability, Fingerprint, FloatMatrix
from citewell.ports.points import OWNER, in_parts
from citewell.ports.remote_vectors import OpenedVectors
from citewell.settings import PineconeStore
from citewell.system.environment import own_certificates, proxy_of
from citewell.types import Expression, JsonObject, Point, ScoredId, VectorQuery, scored

ADDRESS = "https://api.pinecone.io"
# Provider name in the fingerprint of a model run by the index itself.
INTEGRATED = "store"
MAX_RECORDS = 1_000
MAX_TEXTS = 96
# Pinecone accepts requests of up to 2 MB.
MAX_REQUEST_BYTES = 1_900_000
MAX_DELETED = 1_000
# Pinecone allows 1,000, but the ids are part of the URL.
MAX_FETCHED = 100
MAX_TOP_K = 10_000
MAX_VALUES = 10_000
# Far longer than the 507 tokens that a model reads.
MAX_TEXT_BYTES = 16_000
MAX_CREATION_SECONDS = 300.0
MAX_SETTLING_SECONDS = 60.0
_POLL_SECONDS = 0.5
_SECONDS = 30.0
_AT_ONCE = 8
_PLAIN = re.compile(r"[A-Za-z0-9_-]{1,64}")
_WRITTEN = ("x-pinecone-request-lsn", "x-pinecone-lsn-committed")
_INDEXED = ("x-pinecone-max-indexed-lsn", "x-pinecone-lsn-reconciled")
T = TypeVar("T")


class PineconeVectors:
    """Implements `citewell.ports.remote_vectors.RemoteVectors`.

    The package retries after 429 and 5xx, respecting `Retry-After`. Open it with `open`.
    """

    def __init__(self, index: AsyncIndex, namespace: str, embeds: bool) -> None:
        """embeds: whether the index embeds texts itself."""
        self._index = index
        self._prefix = namespace
        self._embeds = embeds
        self._calls = asyncio.Semaphore(_AT_ONCE)
        self._written: dict[str, int] = {}
        self.max_values = MAX_VALUES

    @classmethod
    async def open(cls, settings: PineconeStore, fingerprint: Fingerprint) -> OpenedVectors:
        """Open this model's index, creating it if missing.

        Raises `ConfigurationError` for a rejected key or an existing index of another kind; `Unavailable` if Pinecone
        cannot be reached or the index is not ready after five minutes.
        """
        if settings.api_key is None:
            raise ConfigurationError(
                f"{settings.name_of('provider')} is 'pinecone', which needs a key: set PINECONE_API_KEY."
            )
        key = settings.api_key.get_secret_value()
        name, embeds = index_name(settings.index, fingerprint), fingerprint.provider == INTEGRATED
        address = settings.url or ADDRESS
        async with (
            _errors(settings),
            AsyncPinecone(
                api_key=key,
                host=address,
                timeout=_SECONDS,
                # The package does not read these from the environment.
                proxy_url=proxy_of(address),
                ssl_ca_certs=own_certificates(),
            ) as client,
        ):
            is_new = not await client.indexes.exists(name)
            if is_new:
                await _create(client, settings, name, fingerprint)
            model, host = await _ready(client, name)
            _check_kind(model, fingerprint)
            store = cls(await client.index(host=host), settings.namespace, embeds)
            return OpenedVectors(store, f"pinecone/{name}/{settings.namespace}", is_new)

    @property
    def capabilities(self) -> frozenset[Capability]:
        """Persistent writes that become visible with a delay; server-side embedding if the index embeds texts."""
        own = {Capability.SERVER_SIDE_EMBEDDING} if self._embeds else set[Capability]()
        return frozenset({Capability.PERSISTENT, Capability.EVENTUAL, *own})

    def expresses(self, condition: Expression) -> bool:
        """See `RemoteVectors.expresses`."""
        return expresses(condition)

    def holds_all_of(self, point: Point) -> bool:
        """See `RemoteVectors.holds_all_of`."""
        return len(orjson.dumps(metadata_of(point.payload))) <= self._room

    async def upsert(self, points: Sequence[Point]) -> None:
        """See `RemoteVectors.upsert`."""
        by_owner: dict[str, list[Point]] = {}
        for point in points:
            by_owner.setdefault(str(point.payload[OWNER]), []).append(point)
        for owner_id, own in by_owner.items():
            records = [self._record(point) for point in own]
            batches = _batches(records, MAX_TEXTS if self._embeds else MAX_RECORDS)
            await self._each(self._write(self.namespace(owner_id), batch) for batch in batches)

    async def embedded(self, points: Sequence[Point]) -> set[str]:
        """See `RemoteVectors.embedded`; records hold their text in their metadata."""
        if not self._embeds:
            return set()
        wanted: dict[str, dict[str, dict[str, Any]]] = {}
        for point in points:
            record = self._record(point)
            wanted.setdefault(str(point.payload[OWNER]), {})[record.pop("_id")] = record

        async def fetch(owner_id: str, part: Sequence[str]) -> set[str]:
            answer = await self._index.fetch(ids=list(part), namespace=self.namespace(owner_id))
            return {key for key, one in answer.vectors.items() if one.metadata == wanted[owner_id][key]}

        parts = [(owner_id, part) for owner_id, own in wanted.items() for part in in_parts(list(own), MAX_FETCHED)]
        return {key for found in await self._each(fetch(owner_id, part) for owner_id, part in parts) for key in found}

    async def search(self, query: VectorQuery, ids: Sequence[str] | None = None) -> list[ScoredId]:
        """See `RemoteVectors.search`. Scores are cosines."""
        namespace, admitted = self.namespace(query.filter.owner_id), filter_of(query.filter, ids)
        async with _errors(), self._calls:
            if query.text is not None:
                answer = await self._index.search(
                    namespace=namespace,
                    top_k=min(query.limit, MAX_TOP_K),
                    inputs={"text": _cut(query.text)},
                    filter=admitted,
                    fields=["type"],
                )
                return scored([(hit.id, hit.score) for hit in answer.result.hits])
            found = await self._index.query(
                namespace=namespace, top_k=min(query.limit, MAX_TOP_K), vector=list(query.dense or ()), filter=admitted
            )
            return scored([(match.id, match.score) for match in found.matches])

    async def vectors(self, owner_id: str, ids: Sequence[str]) -> dict[str, FloatMatrix]:
        """See `RemoteVectors.vectors`."""

        async def fetch(part: Sequence[str]) -> dict[str, FloatMatrix]:
            answer = await self._index.fetch(ids=list(part), namespace=self.namespace(owner_id))
            return {key: np.asarray(one.values, dtype=np.float32) for key, one in answer.vectors.items() if one.values}

        found = await self._each(fetch(part) for part in in_parts(ids, MAX_FETCHED))
        return {key: vector for one in found for key, vector in one.items()}

    async def set_payloads(self, owner_id: str, changes: Sequence[tuple[str, JsonObject, JsonObject]]) -> None:
        """See `RemoteVectors.set_payloads`.

        Updates record by record: an update by filter would miss records that are not visible yet.
        """
        namespace = self.namespace(owner_id)

        async def update(key: str, metadata: Mapping[str, Any]) -> None:
            answer = await self._index.update(id=key, set_metadata=metadata, namespace=namespace)
            self._note_written(namespace, answer.response_info)

        changed = [(key, changes_of(before, after, self._room)) for key, before, after in changes]
        await self._each(update(key, metadata) for key, metadata in changed if metadata)

    async def delete(self, owner_id: str, ids: Sequence[str]) -> None:
        """See `RemoteVectors.delete`."""
        namespace = self.namespace(owner_id)
        await self._each(self._delete(ids=list(part), namespace=namespace) for part in in_parts(ids, MAX_DELETED))

    async def sweep(self, owner_id: str, resource_ids: Sequence[str] | None) -> None:
        """See `RemoteVectors.sweep`."""
        namespace = self.namespace(owner_id)
        if resource_ids is None:
            await self._each([self._delete(delete_all=True, namespace=namespace)])
            return
        filters = [{"resource_id": {"$in": list(part)}} for part in in_parts(resource_ids, MAX_VALUES)]
        await self._each(self._delete(filter=one, namespace=namespace) for one in filters)

    async def check(self) -> None:
        """See `RemoteVectors.check`."""
        async with _errors():
            await self._index.describe_index_stats()

    async def settle(self) -> None:
        """See `RemoteVectors.settle`; compares the sequence numbers that Pinecone returns with writes and reads."""
        until = time.monotonic() + MAX_SETTLING_SECONDS
        for namespace, written in list(self._written.items()):
            while True:
                async with _errors():
                    answer = await self._index.fetch(ids=["-"], namespace=namespace)
                seen = _number(answer.response_info, _INDEXED)
                if seen is None or seen >= written:
                    break
                if time.monotonic() > until:
                    raise Unavailable("Pinecone still does not show writes from a minute ago.")
                await asyncio.sleep(_POLL_SECONDS / 10)

    async def close(self) -> None:
        """See `RemoteVectors.close`."""
        await self._index.close()

    def namespace(self, owner_id: str) -> str:
        """The namespace of one owner's records."""
        if _PLAIN.fullmatch(owner_id):
            return f"{self._prefix}.o-{owner_id}"
        return f"{self._prefix}.h-{hashlib.sha256(owner_id.encode()).hexdigest()}"

    @property
    def _room(self) -> int:
        """Bytes left for metadata, after the fixed fields of every record and cleared fields."""
        return MAX_METADATA_BYTES - 8_000 - (MAX_TEXT_BYTES if self._embeds else 0)

    def _record(self, point: Point) -> dict[str, Any]:
        metadata = bounded(metadata_of(point.payload), self._room) | {CHUNK: point.id}
        if point.origin is not None:
            chunk, file = point.origin
            metadata[NAME] = f"{file.filename[:1_000]}::chunk_{chunk.ordinal}"
        if self._embeds:
            return {"_id": point.id, TEXT: _cut(point.text or ""), **metadata}
        return {"id": point.id, "values": [round(one, 8) for one in point.dense or ()], "metadata": metadata}

    async def _write(self, namespace: str, records: list[dict[str, Any]]) -> None:
        if self._embeds:
            texts = await self._index.upsert_records(records=records, namespace=namespace)
            self._note_written(namespace, texts.response_info)
        else:
            vectors = await self._index.upsert(vectors=records, namespace=namespace)
            self._note_written(namespace, vectors.response_info)

    async def _delete(self, **what: Any) -> None:
        try:
            await self._index.delete(**what)
        except NotFoundError:  # the namespace does not exist, so there is nothing to delete
            return

    async def _each(self, calls: Any) -> list[Any]:
        """The results of calls, several running at once."""

        async def one(call: Coroutine[Any, Any, T]) -> T:
            async with _errors(), self._calls:
                return await call

        return await asyncio.gather(*[one(call) for call in calls])

    def _note_written(self, namespace: str, info: Any) -> None:
        number = _number(info, _WRITTEN)
        if number is not None:
            self._written[namespace] = max(number, self._written.get(namespace, 0))


def index_name(base: str, fingerprint: Fingerprint) -> str:
    """The name of a model's index: lowercase letters, digits and hyphens, at most 45 characters."""
    return f"{base}-{hashlib.sha256(str(fingerprint).encode()).hexdigest()[:10]}"


async def build(settings: PineconeStore, fingerprint: Fingerprint) -> OpenedVectors:
    """Open the store of a model's vectors; see `PineconeVectors.open`."""
    return await PineconeVectors.open(settings, fingerprint)


async def _create(client: AsyncPinecone, settings: PineconeStore, name: str, fingerprint: Fingerprint) -> None:
    """Create the index; another process may do the same."""
    spec: ServerlessSpec | IntegratedSpec = ServerlessSpec(cloud=settings.cloud, region=settings.region)
    own: dict[str, Any] = {"dimension": fingerprint.dimensions, "metric": "cosine"}
    if fingerprint.provider == INTEGRATED:
        own = {}
        spec = IntegratedSpec(
            cloud=settings.cloud,
            region=settings.region,
            embed=EmbedConfig(
                model=fingerprint.model,
                field_map={"text": TEXT},
                metric="cosine",
                write_parameters={"input_type": "passage", "truncate": "END"},
                read_parameters={"input_type": "query", "truncate": "END"},
            ),
        )
    with suppress(ConflictError):
        await client.indexes.create(name=name, spec=spec, timeout=-1, **own)


async def _ready(client: AsyncPinecone, name: str) -> tuple[IndexModel, str]:
    """Wait until the index is ready; returns it and its host."""
    until = time.monotonic() + MAX_CREATION_SECONDS
    while True:
        model = await client.indexes.describe(name)
        if model.status.ready and model.host:
            return model, model.host
        if model.status.state in ("InitializationFailed", "Terminating", "Disabled"):
            raise Unavailable(f"Pinecone's index {name} cannot be used: it is {model.status.state}.")
        if time.monotonic() > until:
            raise Unavailable(f"Pinecone's index {name} is not ready after five minutes: it is {model.status.state}.")
        await asyncio.sleep(_POLL_SECONDS)


def _check_kind(model: IndexModel, fingerprint: Fingerprint) -> None:
    """Raise `ConfigurationError` if an existing index does not fit the model."""
    embedded_by = model.embed.model if model.embed is not None else None
    wanted = fingerprint.model if fingerprint.provider == INTEGRATED else None
    if embedded_by != wanted:
        made = f"embeds texts with {embedded_by}" if embedded_by else "takes vectors"
        raise ConfigurationError(f"Pinecone's index {model.name} {made}, which contradicts the settings.")
    if model.dimension is not None and model.dimension != fingerprint.dimensions:
        raise ConfigurationError(
            f"Pinecone's index {model.name} has vectors of {model.dimension} dimensions, but the model has {fingerprint.dimensions}."
        )
    if model.metric != "cosine" or model.vector_type != "dense":
        raise ConfigurationError(f"Pinecone's index {model.name} is not for dense vectors with the cosine metric.")


@asynccontextmanager
async def _errors(opening: PineconeStore | None = None) -> AsyncGenerator[None]:
    """Raise `Unavailable` for the package's errors; on opening, `ConfigurationError` for those the settings can fix."""
    try:
        yield
    except (UnauthorizedError, ForbiddenError) as error:
        if opening is None:
            raise Unavailable(f"Pinecone rejected a request: {_said(error)}") from error
        key = f"Check {opening.name_of('api_key')}" if isinstance(error, UnauthorizedError) else "Check the account"
        raise ConfigurationError(f"Pinecone refused to open the index: {_said(error)}. {key}.") from error
    except NotFoundError as error:
        if opening is None:
            raise Unavailable(f"Pinecone's index no longer exists: {_said(error)}") from error
        raise ConfigurationError(f"Pinecone cannot create the index: {_said(error)}.") from error
    except ApiError as error:
        raise Unavailable(f"Pinecone responded with status {error.status_code}: {_said(error)}") from error
    except (PineconeError, OSError) as error:
        raise Unavailable(f"Pinecone cannot be reached: {_said(error)}") from error


def _said(error: Exception) -> str:
    """The error message on one line."""
    message = error.message if isinstance(error, PineconeError) else str(error)
    return " ".join(message.split()).rstrip(".")[:300] or type(error).__name__


def _number(info: Any, names: Sequence[str]) -> int | None:
    """A sequence number from response headers; None if there is none."""
    headers: Mapping[str, str] = info.raw_headers if info is not None else {}
    said = next((headers[name] for name in names if name in headers), "")
    return int(said) if said.isdecimal() else None


def _batches(records: Sequence[dict[str, Any]], size: int) -> list[list[dict[str, Any]]]:
    """Batches of up to `size` records and `MAX_REQUEST_BYTES`."""
    batches: list[list[dict[str, Any]]] = []
    room = 0
    for record in records:
        length = len(orjson.dumps(record)) + 1
        if not batches or len(batches[-1]) == size or length > room:
            batches.append([])
            room = MAX_REQUEST_BYTES
        batches[-1].append(record)
        room -= length
    return batches


def _cut(text: str) -> str:
    """The text, truncated to fit into a record; never empty, which Pinecone rejects."""
    return text.encode("utf-8", "replace")[:MAX_TEXT_BYTES].decode("utf-8", "ignore").strip() or "-"
