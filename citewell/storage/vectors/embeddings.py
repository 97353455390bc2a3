"""The embedding cache: each text is embedded once per model, however often it is uploaded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import sqlalchemy as sa

from citewell.ports import FloatMatrix
from citewell.ports.points import in_parts
from citewell.storage.database import Database, insert_new
from citewell.storage.lookups import Lookup
from citewell.storage.tables import embedding_cache

_MAX_PARAMETERS = 500
_CACHED = Lookup(
    sa.select(embedding_cache.c.text_hash, embedding_cache.c.vector).where(
        embedding_cache.c.fingerprint == sa.bindparam("fingerprint"),
        embedding_cache.c.text_hash.in_(sa.bindparam("ids", expanding=True)),
    )
)


class EmbeddingCacheRepository:
    """Vectors by (model fingerprint, SHA-256 of the text in hexadecimal), stored as little-endian float32."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def get(self, fingerprint: str, keys: Sequence[str]) -> dict[str, FloatMatrix]:
        """Returns the cached vectors by key, each of shape (dimensions,)."""
        found: dict[str, FloatMatrix] = {}
        for some in in_parts([bytes.fromhex(key) for key in keys], _MAX_PARAMETERS):
            for row in await self._database.look_up(_CACHED, some, {"fingerprint": fingerprint}):
                found[bytes(row["text_hash"]).hex()] = np.frombuffer(row["vector"], dtype="<f4")
        return found

    async def put(self, fingerprint: str, vectors: Mapping[str, FloatMatrix]) -> None:
        """Caches vectors; those already cached are left unchanged."""
        if not vectors:
            return
        rows = [
            {"fingerprint": fingerprint, "text_hash": bytes.fromhex(key), "vector": vector.astype("<f4").tobytes()}
            for key, vector in vectors.items()
        ]
        await self._database.change(lambda c: c.execute(insert_new(c, embedding_cache), rows).rowcount)
