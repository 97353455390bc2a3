"""Which indexes are open when Citewell starts: the one that answers, and those of other models beside it."""

from __future__ import annotations

import asyncio
import logging
import os
import shutil
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Any

from citewell.composition.configured import build_embedder, embedding_rates
from citewell.composition.ledgers import open_vector_index
from citewell.errors import CitewellError, Unavailable
from citewell.features.indexes.service import IndexService, Searches
from citewell.indexes.estimating import BuildEstimate, plan_build
from citewell.indexes.index_set import IndexSet, OpenIndex, Rebuilding
from citewell.indexes.migration import IndexMigration, Opener
from citewell.indexes.pictures import PictureSource
from citewell.indexes.restoring import IndexCondition, condition_of
from citewell.ports import Embedder, PlanningEmbedder, VectorIndex
from citewell.settings import EdgeStore, Settings, change
from citewell.storage.content import ContentRepository
from citewell.storage.database import Database
from citewell.storage.indexes import IndexRepository, IndexState
from citewell.storage.provider_calls import ProviderCallRepository

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexOpener:
    """Opens indexes by the settings, and compares embedded ones with SQL."""

    settings: Settings
    database: Database
    content: ContentRepository
    pictures: PictureSource

    async def open_active(self, stack: AsyncExitStack) -> IndexSet:
        """The index that answers: the one that was active, else the configured model's. It is noted as being rebuilt unless it is whole."""
        settings, repository = self.settings, IndexRepository(self.database)
        before = await repository.active()
        if before is not None and before.store == settings.store.provider:
            settings = with_model(settings, before.settings)
        embedder = build_embedder(settings, self.database)
        record = await repository.ensure_active(str(embedder.fingerprint), settings.store.provider, _model(settings))
        if record.state is not IndexState.ACTIVE:  # the same model, in another revision than the one that was active
            await repository.activate(record.id)
        store, is_whole = await self._open_store(settings, embedder)
        indexes = IndexSet(OpenIndex(record=record, embedder=embedder, store=store, pictures=self.pictures))
        stack.push_async_callback(indexes.close)
        if not is_whole:
            total = await self.content.count_chunks()
            indexes.note_rebuilding(record.id, Rebuilding(min(await store.count(), total), total))
        return indexes

    async def _open_store(self, settings: Settings, embedder: Embedder) -> tuple[VectorIndex, bool]:
        """The vector store of a model, and whether it holds what it should. An embedded one that does not work is set aside for an empty one."""
        if not isinstance(settings.store, EdgeStore):
            store = await open_vector_index(settings.store, embedder.fingerprint, self.database)
            return store, await condition_of(store, self.content) is IndexCondition.WHOLE
        try:
            store = await open_vector_index(settings.store, embedder.fingerprint, self.database)
            condition = await condition_of(store, self.content)
            if condition is not IndexCondition.DAMAGED:
                return store, condition is IndexCondition.WHOLE
            await store.close()
            log.error("an index lacks what its points should hold")
        except Unavailable:
            log.warning("an index does not open", exc_info=True)
        broken = settings.store.index_folder(str(embedder.fingerprint))
        log.error("the index in %s is damaged; it is set aside and rebuilt from SQL", broken)
        await asyncio.to_thread(_set_aside, broken)
        return await open_vector_index(
            settings.store, embedder.fingerprint, self.database
        ), await self.content.count_chunks() == 0

    async def open_beside(self, indexes: IndexSet, migration: IndexMigration) -> None:
        """Open every other index, so that it stays up to date, and go on building; begin the configured model's when it is new."""
        for record in await migration.records.all():
            if record.id == indexes.active.record.id or record.store != self.settings.store.provider:
                continue
            try:
                index = await migration.open_index(record.settings)
            except CitewellError as error:
                log.warning("index %s stays closed: %s", record.fingerprint, error.message)
                continue
            indexes.add(index)
            if record.state is not IndexState.BUILDING and self.settings.store.is_embedded:
                if await condition_of(index.store, self.content) is IndexCondition.WHOLE:
                    continue
                log.warning("index %s has lost points; it is built again", record.fingerprint)
                await migration.records.set_progress(record.id, 0, 0, IndexState.BUILDING)
            migration.resume(index)
        configured = build_embedder(self.settings, self.database).fingerprint
        if all(str(configured) != index.record.fingerprint for index in indexes.all):
            log.warning("building an index for %s beside the active one; see `citewell index`", configured)
            await migration.begin(_model(self.settings))

    async def estimate(self, model: dict[str, Any]) -> BuildEstimate:
        """What building the index of this model would take. `ConfigurationError` for a model that cannot be used."""
        chosen = with_model(self.settings, model)
        embedder, usage = build_embedder(chosen, self.database), chosen.usage
        assert isinstance(embedder, PlanningEmbedder)
        plan = await plan_build(embedder, self.content, chosen.chunking.max_dense_rows)
        left = None
        if usage.max_spend is not None:
            left = usage.max_spend - await ProviderCallRepository(self.database).spent()
        name = embedder.fingerprint
        return BuildEstimate(fingerprint=str(name), plan=plan, rates=embedding_rates(chosen, name.model), left=left)

    def service(self, migration: IndexMigration, searches: Searches, local_owner: str) -> IndexService:
        """The service over a migration."""
        return IndexService(
            migration=migration,
            searches=searches,
            local_owner=local_owner,
            estimator=self.estimate,
            max_spend=self.settings.usage.max_spend,
        )

    def opener(self, indexes: IndexSet) -> Opener:
        """How a migration opens the index of another model, which takes no writes until it is added."""
        repository = IndexRepository(self.database)

        async def open_index(model: dict[str, Any]) -> OpenIndex:
            chosen = with_model(self.settings, model)
            embedder = build_embedder(chosen, self.database)
            record = await repository.create(str(embedder.fingerprint), chosen.store.provider, model)
            known = indexes.find(record.id)
            if known is not None:
                return known
            store, _ = await self._open_store(chosen, embedder)
            return OpenIndex(record=record, embedder=embedder, store=store, pictures=self.pictures)

        return open_index


def _model(settings: Settings) -> dict[str, Any]:
    """The settings that say which embedding model it is."""
    return {
        "provider": settings.embedding.provider,
        "model": settings.embedding.model,
        "dimensions": settings.embedding.dimensions,
    }


def with_model(settings: Settings, model: dict[str, Any]) -> Settings:
    """The settings with the embedding model of an index."""
    names = {"provider": "embedding_provider", "model": "embedding_model", "dimensions": "embedding_dimensions"}
    return change(settings, **{names[key]: value for key, value in model.items() if key in names})


def _set_aside(folder: os.PathLike[str]) -> None:
    aside = f"{os.fspath(folder)}.damaged"
    shutil.rmtree(aside, ignore_errors=True)
    shutil.move(folder, aside)
