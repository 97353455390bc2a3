"""Opens the vector store that the settings name; one that holds vectors only gets its ledger in the database."""

from __future__ import annotations

import logging

from citewell.adapters import registry
from citewell.adapters.index.metered import MeteredVectors
from citewell.composition.configured import embedding_gate
from citewell.indexes.ledgered import LedgeredIndex
from citewell.ports import Capability, Fingerprint, RemoteEmbedder, VectorIndex
from citewell.ports.remote_vectors import OpenedVectors, RemoteVectors
from citewell.settings import Settings, StoreEmbedding
from citewell.storage.database import Database
from citewell.storage.vectors.point_ledger import PointLedger

log = logging.getLogger(__name__)


async def open_vector_index(settings: Settings, fingerprint: Fingerprint, database: Database) -> VectorIndex:
    """The index of a model. A store that finds nothing by words is named in the log. Raises `Unavailable` when it cannot be opened or reached, `ConfigurationError` for what the settings can change."""
    opened = await registry.open_index(settings.store, fingerprint)
    if not isinstance(opened, OpenedVectors):
        if Capability.SPARSE not in opened.capabilities:
            log.warning(
                "the vector store %s has no search by words: questions are answered by meaning alone",
                settings.store.provider,
            )
        return opened
    ledger = PointLedger(database, opened.name)
    if opened.is_new:
        await ledger.clear()
    return LedgeredIndex(_metered(settings, opened.store, database), ledger)


def _metered(settings: Settings, store: RemoteVectors, database: Database) -> RemoteVectors:
    """The store; one that embeds texts itself is counted and kept within limits as any embedder is."""
    chosen = settings.embedding
    if Capability.SERVER_SIDE_EMBEDDING not in store.capabilities or not isinstance(chosen, StoreEmbedding):
        return store
    embedder = registry.build_embedder(chosen)
    assert isinstance(embedder, RemoteEmbedder)
    return MeteredVectors(store, embedder, embedding_gate(settings, chosen, embedder.fingerprint.model, database))
