"""Checks of every part that a request may need, and metrics for Prometheus."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from citewell.errors import CitewellError
from citewell.features.health.findings import Finding, Level
from citewell.indexes.index_set import IndexChange, IndexSet, OpenIndex, Rebuilding
from citewell.ports import Capability
from citewell.ports.remote_vectors import SizedIndex
from citewell.storage.files.content import ContentRepository
from citewell.storage.spending.usage import UsageRepository
from citewell.storage.work.jobs import JobRepository
from citewell.system.disk import MIN_FREE_BYTES, DiskReserve, disk_bytes, free_bytes

Configuration: TypeAlias = Callable[[], Awaitable[list[Finding]]]
"""Checks the configuration."""
_COUNT_SECONDS = 2.0
"""How long a vector store may take to count; Prometheus waits ten seconds for all metrics."""


class _Figures:
    """The metrics of one server, in a separate registry."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        labels = ["method", "route"]
        self.requests = Counter("citewell_requests", "Requests answered", [*labels, "status"], registry=self.registry)
        self.seconds = Histogram("citewell_request_seconds", "Time to answer", labels, registry=self.registry)
        self.waiting = Gauge("citewell_resources_waiting", "Resources not yet terminal", registry=self.registry)
        self.chunks = Gauge("citewell_chunks", "Chunks stored", registry=self.registry)
        self.resources = Gauge("citewell_resources", "Resources by status", ["status"], registry=self.registry)
        self.indexes = Gauge(
            "citewell_index_bytes",
            "Bytes of indexes by store: on disk, or of the vectors alone where the store does not say; NaN while it is away",
            ["store"],
            registry=self.registry,
        )
        self.points = Gauge(
            "citewell_index_points",
            "Points in the index that answers; NaN while its store is away",
            registry=self.registry,
        )
        self.queue_age = Gauge(
            "citewell_queue_age_seconds",
            "How long the file that waits longest is due",
            ["stage"],
            registry=self.registry,
        )
        self.errors = Gauge(
            "citewell_resources_with_error",
            "Failed and partial resources by error code",
            ["code"],
            registry=self.registry,
        )
        spent = ["kind", "provider", "model"]
        self.tokens = Counter(
            "citewell_tokens",
            "Tokens in the ledger, of all processes: every server says the same",
            [*spent, "direction"],
            registry=self.registry,
        )
        self.cost = Counter(
            "citewell_cost",
            "Cost in the ledger, in the currency of the prices, of all processes: every server says the same",
            spent,
            registry=self.registry,
        )
        self.counted = 0  # the ledger's last entry among tokens and cost
        self.free = Gauge("citewell_disk_free_bytes", "Disk left for the data folder", registry=self.registry)


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthService:
    """Checks each part of the server.

    configuration: checks the configuration; may take seconds
    local_owner:   the server's owner, the only one who sees the configuration
    data, space:   the data folder, and how much must stay free on its disk for files to be accepted
    """

    indexes: IndexSet
    content: ContentRepository
    jobs: JobRepository
    usage: UsageRepository
    local_owner: str
    configuration: Configuration
    data: Path
    space: DiskReserve
    _figures: _Figures = field(default_factory=_Figures)

    @property
    def rebuilding(self) -> Rebuilding | None:
        """The progress of rebuilding the active index; None if it is complete."""
        return self.indexes.rebuilding

    @property
    def changes(self) -> tuple[IndexChange, ...]:
        """The indexes that will replace the active one."""
        return self.indexes.changes

    def observe(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count a request."""
        self._figures.requests.labels(method, route, str(status)).inc()
        self._figures.seconds.labels(method, route).observe(seconds)

    async def metrics(self) -> bytes:
        """All metrics in Prometheus' text format."""
        self._figures.waiting.set(await self.jobs.waiting())
        self._figures.chunks.set(await self.content.count_chunks())
        for status, count in (await self.jobs.by_status()).items():
            self._figures.resources.labels(status.value).set(count)
        for stage, seconds in (await self.jobs.queue_ages()).items():
            self._figures.queue_age.labels(stage.value).set(seconds)
        self._figures.errors.clear()
        for code, count in (await self.jobs.by_error()).items():
            self._figures.errors.labels(code).set(count)
        await self._count_spent()
        self._figures.indexes.labels("edge").set(await asyncio.to_thread(disk_bytes, self.data / "indexes"))
        for store, size in (await self._sizes()).items():
            self._figures.indexes.labels(store).set(size)
        self._figures.points.set(await self._points())
        self._figures.free.set(await asyncio.to_thread(free_bytes, self.data))
        return generate_latest(self._figures.registry)

    async def _count_spent(self) -> None:
        figures = self._figures
        figures.counted, entries = await self.usage.after(figures.counted)
        for spent in entries:
            labels = (spent.kind, spent.provider, spent.model)
            figures.tokens.labels(*labels, "input").inc(spent.input_tokens)
            figures.tokens.labels(*labels, "output").inc(spent.output_tokens)
            figures.cost.labels(*labels).inc(max(0.0, spent.cost or 0.0))

    async def _points(self) -> float:
        try:
            async with asyncio.timeout(_COUNT_SECONDS):
                return await self.indexes.active.store.count()
        except (CitewellError, TimeoutError):
            return math.nan

    async def _sizes(self) -> dict[str, float]:
        """Bytes of the open indexes in stores outside the data folder."""
        sizes: dict[str, float] = {}
        for index in self.indexes.all:
            if index.record.store != "edge":
                sizes[index.record.store] = sizes.get(index.record.store, 0.0) + await _size(index)
        return sizes

    async def check(self) -> dict[str, dict[str, Any]]:
        """Per part: `ok`, milliseconds, and what is wrong."""
        return {
            "database": await _probe(self.content.count_chunks),
            "index": await _probe(self._check_index),
            "embedder": await _probe(self._check_embedder),
            "disk": await _probe(self._check_disk),
        }

    def is_ready(self, parts: dict[str, dict[str, Any]]) -> bool:
        """Whether questions can be answered. They can without a vendor's embedder (searches then use keywords only) and without space for new
        files, but not without any other part."""
        spared = {
            "embedder": self.indexes.active.embedder.fingerprint.provider != "builtin",
            "disk": free_bytes(self.data) >= MIN_FREE_BYTES,
        }
        return all(part["ok"] or spared.get(name, False) for name, part in parts.items())

    async def examine(self, owner_id: str) -> list[Finding]:
        """The configuration (for the local owner only), then what can be reached, and how fast."""
        configured = await self.configuration() if owner_id == self.local_owner else []
        reached = [
            Finding(name, _level(part), f"{part.get('note') or 'works'} ({part['ms']} ms)", _advice(part))
            for name, part in (await self.check()).items()
        ]
        return configured + reached

    async def _check_embedder(self) -> None:
        if Capability.SERVER_SIDE_EMBEDDING in self.indexes.active.store.capabilities:
            return  # the index was just asked
        # Query vectors are cached for a while: a text with the current minute reaches the vendor once.
        await self.indexes.active.embedder.embed([f"ready? {int(time.time() // 60)}"], "query")

    async def _check_disk(self) -> None:
        await asyncio.to_thread(self.space.require)

    async def _check_index(self) -> str | None:
        await self.indexes.active.store.count()
        if self.rebuilding is not None:
            return str(self.rebuilding)
        return "; ".join(map(str, self.changes)) or None


async def _size(index: OpenIndex) -> float:
    """Bytes of one index. Qdrant, Redis and Pinecone count points, not bytes: then four for each number of a vector."""
    try:
        async with asyncio.timeout(_COUNT_SECONDS):
            if isinstance(index.store, SizedIndex):
                return await index.store.size_bytes()
            return 4.0 * index.embedder.fingerprint.dimensions * await index.store.count()
    except (CitewellError, TimeoutError):
        return math.nan


def _level(part: dict[str, Any]) -> Level:
    if not part["ok"]:
        return "error"
    return "note" if "note" in part else "ok"


def _advice(part: dict[str, Any]) -> str:
    return "Searches continue meanwhile." if _level(part) == "note" else ""


async def _probe(call: Callable[[], Awaitable[object]]) -> dict[str, Any]:
    started = time.perf_counter()
    note: object = None
    try:
        note = await call()
        ok = True
    except CitewellError as error:
        note, ok = f"{error.code}: {error.message}", False
    out: dict[str, Any] = {"ok": ok, "ms": round((time.perf_counter() - started) * 1000, 1)}
    if isinstance(note, str):
        out["note"] = note
    return out
