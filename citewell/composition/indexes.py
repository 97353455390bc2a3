"""Which indexes are open when Citewell starts: the one that answers, and those of other models and stores beside it."""

from __future__ import annotations

import asyncio
import logging
import os
import shutil
import uuid
from collections.abc import Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy.exc import DBAPIError

from citewell.adapters.embedder.multilingual import MULTILINGUAL_NAME
from citewell.composition.configured import build_embedder, embedding_rates
from citewell.composition.ledgers import open_vector_index
from citewell.composition.recorded import IndexIdentity, identity_of, parsed_fingerprint, settings_of
from citewell.errors import CitewellError, ConfigurationError, Unavailable
from citewell.features.indexes.service import IndexService, Searches
from citewell.indexes.absent import AbsentEmbedder
from citewell.indexes.copying import erase
from citewell.indexes.estimating import BuildEstimate, plan_build
from citewell.indexes.index_set import IndexSet, OpenIndex, Rebuilding
from citewell.indexes.migration import IndexMigration, Opener, change_of
from citewell.indexes.pictures import PictureSource
from citewell.indexes.restoring import IndexCondition, condition_of
from citewell.ports import Embedder, PlanningEmbedder, VectorIndex
from citewell.settings import BuiltinEmbedding, EdgeStore, Settings, change
from citewell.storage.conversations.threads import ThreadRepository
from citewell.storage.database import Database
from citewell.storage.files.content import ContentRepository
from citewell.storage.spending.provider_calls import ProviderCallRepository
from citewell.storage.vectors.indexes import BuildMode, BuildOptions, IndexRecord, IndexRepository, IndexState

log = logging.getLogger(__name__)
# Twice as long as a process takes at most to learn of an index that another one has begun to build.
SETTLE_SECONDS = 3.0


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexOpener:
    """Opens indexes by the settings, and compares embedded ones with SQL."""

    settings: Settings
    database: Database
    content: ContentRepository
    pictures: PictureSource

    async def open_active(self, stack: AsyncExitStack) -> IndexSet:
        """The index that answers: the one that did so before, whatever is configured now, else the configured one.

        It is noted as being rebuilt unless it is whole. Where the former one's model cannot be asked any more it is searched by
        words; where its store cannot be opened, the configured index answers from what it has while it is filled.
        """
        before = await self._records.active()
        configured = build_embedder(self.settings, self.database)
        wanted = identity_of(self.settings, configured.fingerprint)
        if before is None:
            record = await self._records.ensure_active(wanted.fingerprint, wanted.store, wanted.settings, wanted.place)
            await self._records.note_configured(record.id)
            return await self._opened(record, self.settings, configured, stack)
        if not before.place and before.store == wanted.store and wanted.place:
            await self._records.place_at(before.id, wanted.place, before.settings)
            before = await self._records.get(before.id)
        named = (wanted.fingerprint, wanted.store, wanted.place)
        if (before.fingerprint, before.store, before.place) != named and not await self.content.count_chunks():
            return await self._open_first(before, wanted, configured, stack)
        try:
            chosen = settings_of(self.settings, before.settings)
            embedder = self._embedder_of(before, chosen, configured)
            return await self._opened(before, chosen, embedder, stack)
        except (ConfigurationError, Unavailable) as error:
            if (before.store, before.place) == (wanted.store, wanted.place):
                raise
            opened = await self._open_instead(before, wanted, configured, error.message, stack)
            log.warning("the index %s in %s cannot be opened: %s", before.fingerprint, before.store, error.message)
            return opened

    async def _opened(
        self, record: IndexRecord, chosen: Settings, embedder: Embedder, stack: AsyncExitStack, because: str = ""
    ) -> IndexSet:
        """The set with this index as the one that answers."""
        store, condition = await self._open_store(chosen, embedder, record)
        if record.state is IndexState.FILLING and condition is IndexCondition.DAMAGED:
            await self._records.restart(record.id, record.build, IndexState.FILLING)
            record = await self._records.get(record.id)
        indexes = IndexSet(OpenIndex(record=record, embedder=embedder, store=store, pictures=self.pictures))
        stack.push_async_callback(indexes.close)
        if record.state is IndexState.FILLING:
            total = await self.content.count_chunks()
            because = because or record.problem
            indexes.note_rebuilding(record.id, Rebuilding(record.progress, record.total or total, "", because))
        elif condition is not IndexCondition.WHOLE and not isinstance(embedder, AbsentEmbedder):
            total = await self.content.count_chunks()
            indexes.note_rebuilding(record.id, Rebuilding(min(await store.count(), total), total))
        return indexes

    async def _open_first(
        self, before: IndexRecord, wanted: IndexIdentity, configured: Embedder, stack: AsyncExitStack
    ) -> IndexSet:
        """The configured index in place of one that holds nothing, and perhaps never could be opened."""
        record = await self._records.create(wanted.fingerprint, wanted.store, wanted.settings, wanted.place)
        await self._records.activate(record.id)
        await self._records.delete(before.id)
        await self._records.note_configured(record.id)
        return await self._opened(await self._records.get(record.id), self.settings, configured, stack)

    async def _open_instead(
        self, before: IndexRecord, wanted: IndexIdentity, configured: Embedder, reason: str, stack: AsyncExitStack
    ) -> IndexSet:
        """The configured index in place of one whose store cannot be opened."""
        await self._records.note_behind(before.id)
        record = await self._records.create(wanted.fingerprint, wanted.store, wanted.settings, wanted.place)
        because = f"The index in {before.store} cannot be opened ({reason.rstrip('.')})."
        if record.state in (IndexState.READY, IndexState.RETIRED) and not record.is_behind:
            await self._records.activate(record.id)
        else:
            await self._records.restart(record.id, BuildOptions(mode=BuildMode.FRESH), IndexState.FILLING)
            await self._records.activate(record.id, IndexState.FILLING)
        await self._records.note_configured(record.id)
        return await self._opened(await self._records.get(record.id), self.settings, configured, stack, because)

    def _embedder_of(self, record: IndexRecord, chosen: Settings, configured: Embedder) -> Embedder:
        """The embedder that made an index's vectors, or what stands in for it where it cannot be asked any more."""
        reason = f"this version of it is {configured.fingerprint}."
        for settings in (chosen, _with_full_name(chosen, record)):
            try:
                embedder = build_embedder(settings, self.database)
            except ConfigurationError as error:
                reason = error.message
                continue
            if str(embedder.fingerprint) == record.fingerprint:
                return embedder
        log.warning("the model of index %s cannot be asked: %s", record.fingerprint, reason)
        return AbsentEmbedder(parsed_fingerprint(record.fingerprint), reason, configured)

    async def _open_store(
        self, settings: Settings, embedder: Embedder, record: IndexRecord
    ) -> tuple[VectorIndex, IndexCondition]:
        """The vector store of a model, and what it holds. An embedded one that does not work is set aside for an empty one.

        An index that is being built, or whose model cannot be asked, has points without vectors, which is no damage.
        """
        lacks_vectors = record.is_being_built or record.is_behind or isinstance(embedder, AbsentEmbedder)
        if not isinstance(settings.store, EdgeStore):
            store = await open_vector_index(settings, embedder.fingerprint, self.database)
            return store, IndexCondition.INCOMPLETE if lacks_vectors else await condition_of(store, self.content)
        try:
            store = await open_vector_index(settings, embedder.fingerprint, self.database)
            condition = (
                await self._condition(store, record) if lacks_vectors else await condition_of(store, self.content)
            )
            if condition is not IndexCondition.DAMAGED:
                return store, condition
            await store.close()
            log.error("an index lacks what its points should hold")
        except Unavailable:
            log.warning("an index does not open", exc_info=True)
        broken = settings.store.index_folder(str(embedder.fingerprint))
        log.error("the index in %s is damaged; it is set aside and rebuilt from SQL", broken)
        await asyncio.to_thread(_set_aside, broken)
        store = await open_vector_index(settings, embedder.fingerprint, self.database)
        return store, IndexCondition.WHOLE if await self.content.count_chunks() == 0 else IndexCondition.DAMAGED

    async def _condition(self, store: VectorIndex, record: IndexRecord) -> IndexCondition:
        """DAMAGED where files that were moved to the index are not there."""
        lost = await store.count() < await self.content.count_chunks(up_to=record.moved_to)
        return IndexCondition.DAMAGED if lost else IndexCondition.INCOMPLETE

    async def open_beside(self, indexes: IndexSet, migration: IndexMigration) -> None:
        """Open every other index, so that it stays up to date; go on building; and begin, or offer, the configured one where it is new."""
        if indexes.active.record.state is IndexState.FILLING:
            await migration.resume(indexes.active)
        for record in await self._records.all():
            if record.id != indexes.active.record.id and record.state is not IndexState.OFFERED:
                await self._open_one_beside(record, indexes, migration)
        await self._follow_settings(indexes, migration)

    async def watch(self, indexes: IndexSet, migration: IndexMigration) -> None:
        """Follow what other processes on this database do to the indexes, until cancelled."""

        async def open_beside(record: IndexRecord) -> None:
            await self._open_one_beside(record, indexes, migration)

        while True:
            await asyncio.sleep(SETTLE_SECONDS / 2)
            try:
                await migration.follow(open_beside)
            except (CitewellError, DBAPIError, OSError) as error:
                log.warning("what other processes did to the indexes is read again later: %s", error)

    async def _open_one_beside(self, record: IndexRecord, indexes: IndexSet, migration: IndexMigration) -> None:
        chosen = settings_of(self.settings, record.settings)
        try:
            embedder = self._embedder_of(record, chosen, indexes.active.embedder)
            if isinstance(embedder, AbsentEmbedder):
                raise ConfigurationError(embedder.reason)
            store, condition = await self._open_store(chosen, embedder, record)
        except (ConfigurationError, Unavailable) as error:
            log.warning("index %s stays closed: %s", record.fingerprint, error.message)
            await self._records.note_behind(record.id)
            return
        index = OpenIndex(record=record, embedder=embedder, store=store, pictures=self.pictures)
        is_damaged = condition is IndexCondition.DAMAGED or (
            not record.is_being_built and chosen.store.is_embedded and condition is not IndexCondition.WHOLE
        )
        if record.is_behind or is_damaged:
            log.warning("index %s has missed changes or lost points; it is built again", record.fingerprint)
            await erase(index, self.content)
            await self._records.restart(record.id, record.build)
        elif not record.is_being_built:
            indexes.add(index)
            return
        indexes.add(index)
        if record.paused:
            indexes.note_change(record.id, change_of(record))
        else:
            await migration.resume(index)

    async def _follow_settings(self, indexes: IndexSet, migration: IndexMigration) -> None:
        """Move to the index that the settings name, where they name another one than at the last start.

        By default they name either of the built-in models: `citewell.composition.languages` chooses.
        """
        chosen = self.settings.embedding
        is_either = isinstance(chosen, BuiltinEmbedding) and chosen.model is None
        if is_either and indexes.active.embedder.fingerprint.model == MULTILINGUAL_NAME:
            return
        wanted = identity_of(self.settings, build_embedder(self.settings, self.database).fingerprint)
        records = await self._records.all()
        named = (wanted.fingerprint, wanted.store, wanted.place)
        known = next((one for one in records if (one.fingerprint, one.store, one.place) == named), None)
        latest = max((one.configured_at or 0.0 for one in records), default=0.0)
        for one in records:
            if one.state is IndexState.OFFERED and one is not known:
                await self._records.delete(one.id)
        if known is not None and (known.configured_at or 0.0) == latest:
            if not latest:
                await self._records.note_configured(known.id)
            if known.state is IndexState.OFFERED:
                indexes.note_change(known.id, change_of(known))
            return
        for one in records:
            if one.state is IndexState.BUILDING and one.configured_at and one is not known and one.build.switch:
                await migration.change(one.id, replace(one.build, switch=False))  # the settings name it no longer
        if known is None or known.id != indexes.active.record.id:
            await self._move(known, wanted, indexes, migration)
        for one in await self._records.all():
            if (one.fingerprint, one.store, one.place) == named:
                await self._records.note_configured(one.id)

    async def _move(
        self, known: IndexRecord | None, wanted: IndexIdentity, indexes: IndexSet, migration: IndexMigration
    ) -> None:
        """Switch to a configured index that is there; else build it and switch, or offer that."""
        options = BuildOptions(switch=True)
        if known is not None and known.state in (IndexState.READY, IndexState.RETIRED) and indexes.find(known.id):
            if (await self._records.get(known.id)).state is IndexState.BUILDING:
                await migration.change(known.id, options)
                return
            await migration.switch(known.id)
            log.warning("answers come from %s in %s now, as configured", known.fingerprint, known.store)
            return
        policy, rates = self.settings.indexes.build, embedding_rates(self.settings, _model_name(wanted.fingerprint))
        is_free = rates.price == 0.0 or await self.content.count_chunks() == 0
        if policy == "always" or (policy == "free" and is_free):
            log.warning("building %s in %s beside the index that answers", wanted.fingerprint, wanted.store)
            await migration.begin(wanted.settings, options)
            return
        record = await self._records.create(
            wanted.fingerprint, wanted.store, wanted.settings, wanted.place, IndexState.OFFERED, options
        )
        indexes.note_change(record.id, change_of(record))
        log.warning("%s Start it with: citewell index start %s", change_of(record), record.id)

    async def offer(self, asked: Mapping[str, Any], reason: str, indexes: IndexSet) -> None:
        """Note an index that waits for somebody to start it; it answers once it is built."""
        chosen = settings_of(self.settings, asked)
        embedder = await asyncio.to_thread(build_embedder, chosen, self.database)
        wanted, options = identity_of(chosen, embedder.fingerprint), BuildOptions(switch=True)
        record = await self._records.create(
            wanted.fingerprint, wanted.store, wanted.settings, wanted.place, IndexState.OFFERED, options
        )
        await self._records.note_problem(record.id, reason)
        record = await self._records.get(record.id)
        indexes.note_change(record.id, change_of(record))
        log.warning("%s Start it with: citewell index start %s", change_of(record), record.id)

    async def estimate(self, asked: Mapping[str, Any]) -> BuildEstimate:
        """What building the index of this model would take. `ConfigurationError` for a model that cannot be used."""
        chosen = settings_of(self.settings, asked)
        embedder, usage = await asyncio.to_thread(build_embedder, chosen, self.database), chosen.usage
        assert isinstance(embedder, PlanningEmbedder)
        plan = await plan_build(embedder, self.content, chosen.chunking.max_dense_rows)
        left = None
        if usage.max_spend is not None:
            left = usage.max_spend - await ProviderCallRepository(self.database).spent()
        name = embedder.fingerprint
        return BuildEstimate(
            fingerprint=str(name),
            dimensions=name.dimensions,
            plan=plan,
            rates=embedding_rates(chosen, name.model),
            left=left,
        )

    def service(self, migration: IndexMigration, searches: Searches, local_owner: str) -> IndexService:
        """The service over a migration."""
        return IndexService(
            migration=migration,
            searches=searches,
            local_owner=local_owner,
            estimator=self.estimate,
            questions=ThreadRepository(self.database),
            max_spend=self.settings.usage.max_spend,
        )

    def migration(self, indexes: IndexSet, process: str) -> IndexMigration:
        """How this process moves to another index."""
        return IndexMigration(
            indexes=indexes,
            records=self._records,
            content=self.content,
            open_index=self.opener(indexes),
            forget=self.forget,
            price=self.price,
            max_dense_rows=self.settings.chunking.max_dense_rows,
            name=f"{process}:{uuid.uuid4()}",
            settle_seconds=0.0 if self.database.is_sqlite else SETTLE_SECONDS,
        )

    def opener(self, indexes: IndexSet) -> Opener:
        """How a migration opens the index of another model or store, which takes no writes until it is added."""

        async def open_index(asked: Mapping[str, Any], options: BuildOptions) -> OpenIndex:
            chosen = settings_of(self.settings, asked)
            # A model may have to be fetched first.
            embedder = await asyncio.to_thread(build_embedder, chosen, self.database)
            wanted = identity_of(chosen, embedder.fingerprint)
            record = await self._records.create(
                wanted.fingerprint, wanted.store, wanted.settings, wanted.place, build=options
            )
            known = indexes.find(record.id)
            if known is not None:
                return known
            store, _ = await self._open_store(chosen, embedder, record)
            return OpenIndex(record=record, embedder=embedder, store=store, pictures=self.pictures)

        return open_index

    async def forget(self, record: IndexRecord) -> None:
        """Remove what a closed index of the data folder has left there."""
        store = settings_of(self.settings, record.settings).store
        if isinstance(store, EdgeStore):
            await asyncio.to_thread(shutil.rmtree, store.index_folder(record.fingerprint), ignore_errors=True)

    def price(self, record: IndexRecord) -> float | None:
        """US dollars per token of an index's model; None where it is not known."""
        chosen = settings_of(self.settings, record.settings)
        return embedding_rates(chosen, _model_name(record.fingerprint)).price

    @property
    def _records(self) -> IndexRepository:
        return IndexRepository(self.database)


def _model_name(fingerprint: str) -> str:
    return parsed_fingerprint(fingerprint).model


def _with_full_name(settings: Settings, record: IndexRecord) -> Settings:
    """With the model and the length of its vectors as the index has them, where a vendor's usual ones have changed since."""
    known = parsed_fingerprint(record.fingerprint)
    return change(settings, embedding_model=known.model, embedding_dimensions=known.dimensions)


def _set_aside(folder: os.PathLike[str]) -> None:
    aside = f"{os.fspath(folder)}.damaged"
    shutil.rmtree(aside, ignore_errors=True)
    shutil.move(folder, aside)
