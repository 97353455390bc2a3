"""Opens the vector store that the settings name; one that holds vectors only gets its ledger in the database."""

from __future__ import annotations

import logging

from citewell.adapters import registry
from citewell.indexes.ledgered import LedgeredIndex
from citewell.ports import Capability, Fingerprint, VectorIndex
from citewell.remote_vectors import OpenedVectors
from citewell.settings import StoreSettings
from citewell.storage.database import Database
from citewell.storage.point_ledger import PointLedger

log = logging.getLogger(__name__)


async def open_vector_index(settings: StoreSettings, fingerprint: Fingerprint, database: Database) -> VectorIndex:
    """The index of a model. A store that finds nothing by words is named in the log. Raises `Unavailable` when it cannot be opened or reached, `ConfigurationError` for what the settings can change."""
    opened = await registry.open_index(settings, fingerprint)
    if not isinstance(opened, OpenedVectors):
        if Capability.SPARSE not in opened.capabilities:
            log.warning(
                "the vector store %s has no search by words: questions are answered by meaning alone", settings.provider
            )
        return opened
    ledger = PointLedger(database, opened.name)
    if opened.is_new:
        await ledger.clear()
    return LedgeredIndex(opened.store, ledger)
