"""Embeds the chunks of a data folder once more and does nothing else: `python embed_alone.py DATA` prints the seconds, and CPU seconds.

What ingest costs beside this is reading, chunking, storing and indexing. Chunks with the same text count once, as in ingest.
"""

from __future__ import annotations

import asyncio
import sqlite3
import sys
import time
from contextlib import closing
from pathlib import Path

from citewell.adapters import registry
from citewell.settings import load_settings


def main() -> None:
    data = Path(sys.argv[1])
    with closing(sqlite3.connect(f"file:{data / 'citewell.db'}?mode=ro", uri=True)) as database:
        rows = database.execute("SELECT context, text FROM chunks ORDER BY resource_id, ordinal").fetchall()
    texts = list(dict.fromkeys(f"{context}\n{text}" if context else text for context, text in rows))
    embedder = registry.build_embedder(load_settings(data=data).embedding)

    async def embed() -> tuple[float, float]:
        await embedder.embed(texts[:8])
        started, used = time.perf_counter(), time.process_time()
        await embedder.embed(texts)
        return time.perf_counter() - started, time.process_time() - used

    seconds, cpu_seconds = asyncio.run(embed())
    print(f"{seconds:.3f} {cpu_seconds:.3f}")


if __name__ == "__main__":
    main()
