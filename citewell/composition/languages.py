"""Gives a library with files in other languages than English an index whose model reads them: at once while it is small, later on request."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from sqlalchemy.exc import DBAPIError

from citewell.adapters.embedder.builtin_model import MODEL_NAME
from citewell.adapters.embedder.multilingual import MULTILINGUAL_NAME
from citewell.composition.indexes import IndexOpener
from citewell.errors import CitewellError
from citewell.indexes.estimating import MULTILINGUAL_SECONDS
from citewell.indexes.index_set import IndexSet
from citewell.indexes.migration import IndexMigration
from citewell.settings import BuiltinEmbedding
from citewell.storage.files.resources import ResourceRepository
from citewell.storage.vectors.indexes import BuildMode, BuildOptions

log = logging.getLogger(__name__)
MULTILINGUAL: dict[str, str] = {"provider": "builtin", "model": MULTILINGUAL_NAME}
"""The index, as `citewell.composition.recorded` names it."""
MAX_UNASKED_CHUNKS = 2_000
"""Passages up to which the index is begun unasked: their vectors take a core about three minutes."""
MIN_FOREIGN_SHARE = 0.1
"""Share of the files in other languages from which it is, if they are more than one or all: from there on what it finds more outweighs what
it finds less in English."""
MIN_FOREIGN_FILES = 6
"""Files in other languages from which the index is offered to a library that has files in English, too."""
_READ = (None, "en")
_PAUSE_SECONDS = 1.0
_TOKENS_PER_CHUNK, _BYTES_PER_CHUNK = 200, 4 * 384
_MAX_NAMED = 5  # languages


@dataclass(frozen=True, slots=True, kw_only=True)
class LanguageWatch:
    """Looks at the languages of the files when one was indexed in another language than English.

    It leaves alone an index that the settings name, one that is not the English model's, and a server that has had the other one before.
    """

    opener: IndexOpener
    resources: ResourceRepository
    indexes: IndexSet
    migration: IndexMigration
    _seen: asyncio.Event = field(default_factory=asyncio.Event)

    def note(self, language: str | None) -> None:
        """A file in this language was indexed."""
        if language not in _READ:
            self._seen.set()

    async def watch(self) -> None:
        """Look at the start, and after files in other languages, until cancelled."""
        self._seen.set()
        while True:
            await self._seen.wait()
            self._seen.clear()
            try:
                await self.look()
            except (CitewellError, DBAPIError, OSError) as error:
                log.warning("the languages of the files are looked at again with the next file: %s", error)
            await asyncio.sleep(_PAUSE_SECONDS)

    async def look(self) -> None:
        """Begin or offer the multilingual index, where the languages of the files call for it."""
        settings = self.opener.settings
        chosen, active = settings.embedding, self.indexes.active.embedder.fingerprint
        if not isinstance(chosen, BuiltinEmbedding) or chosen.model is not None or active.model != MODEL_NAME:
            return
        if any(f"/{MULTILINGUAL_NAME}/" in record.fingerprint for record in await self.migration.records.all()):
            return
        languages = await self.resources.languages()
        foreign = {language: files for language, files in languages.items() if language not in _READ}
        share = sum(foreign.values()) / max(1, sum(languages.values()))
        is_mixed = share >= MIN_FOREIGN_SHARE and (not languages.get("en") or sum(foreign.values()) > 1)
        begins = is_mixed and settings.indexes.build != "ask"
        if begins and await self.opener.content.count_chunks() <= MAX_UNASKED_CHUNKS:
            log.warning("files are in %s: searches use %s from now on", ", ".join(foreign), MULTILINGUAL_NAME)
            await self.migration.begin(MULTILINGUAL, BuildOptions(mode=BuildMode.FRESH, switch=True))
        elif sum(foreign.values()) >= MIN_FOREIGN_FILES:
            reason = _reason(foreign, await self.opener.content.count_chunks())
            await self.opener.offer(MULTILINGUAL, reason, self.indexes)


@asynccontextmanager
async def watched_languages(
    opener: IndexOpener, resources: ResourceRepository, indexes: IndexSet, migration: IndexMigration
) -> AsyncGenerator[LanguageWatch]:
    """A watch that looks until the end."""
    watch = LanguageWatch(opener=opener, resources=resources, indexes=indexes, migration=migration)
    task = asyncio.create_task(watch.watch())
    try:
        yield watch
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


def _reason(foreign: Mapping[str, int], chunks: int) -> str:
    most = sorted(foreign, key=lambda language: -foreign[language])[:_MAX_NAMED]
    minutes = chunks * _TOKENS_PER_CHUNK * MULTILINGUAL_SECONDS / 60
    return (
        f"{sum(foreign.values()):,} files are in languages that {MODEL_NAME} does not read ({', '.join(most)}). "
        f"{MULTILINGUAL_NAME} does, in an index that takes about {max(1, round(minutes)):,} min and "
        f"{max(1, round(chunks * _BYTES_PER_CHUNK / 1e6)):,} MB"
    )
