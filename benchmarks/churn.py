"""Deleting half a library and changing points in place while searches run: correct throughout, how fast, what space comes back.

usage: .venv/bin/python benchmarks/churn.py [--size 100000] [--keep FOLDER] [--output FILE]
`--keep` is a folder of `search.py --keep`; a copy of its index is used.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import shutil
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import generated
import numpy as np
import report
from search import RESULTS, place, prepare

from citewell.adapters.index.qdrant_edge import QdrantEdgeIndex
from citewell.ports import FloatMatrix
from citewell.text.sparse import sparse_document
from citewell.types import Filter, VectorQuery

PER_DELETE = 25
UPDATES = 2_000
ALL = Filter(owner_id=generated.OWNER)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=100_000)
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--output", type=Path, default=RESULTS / "churn.json")
    options = parser.parse_args()
    with place(options.keep, options.size) as folder, tempfile.TemporaryDirectory(dir=folder) as scratch:
        prepare(folder, options.size, 300)
        shutil.copytree(folder / "index", Path(scratch) / "index")
        result = asyncio.run(measure(Path(scratch) / "index", folder))
    print(json.dumps(result, indent=1))
    options.output.parent.mkdir(parents=True, exist_ok=True)
    options.output.write_text(json.dumps({"machine": report.machine()} | result, indent=1) + "\n", encoding="utf-8")


async def measure(copy: Path, folder: Path) -> dict[str, Any]:
    vectors, asked = generated.read_vectors(folder / "vectors.npy"), list(np.load(folder / "queries.npy"))
    index = await QdrantEdgeIndex.open(copy, generated.DIMENSIONS)
    searcher = Searcher(index, asked)
    await searcher.run(seconds=5)
    result: dict[str, Any] = {"chunks": await index.count(), "size_mb": allocated(copy), "quiet": searcher.times()}
    resources = sorted({generated.resource_of(n) for n in range(len(vectors))})[::2]
    started = time.perf_counter()
    background = asyncio.create_task(searcher.run())
    for first in range(0, len(resources), PER_DELETE):
        some = resources[first : first + PER_DELETE]
        await index.delete(Filter(owner_id=generated.OWNER, resource_ids=tuple(some)))
        searcher.gone |= set(some)
    deleted = time.perf_counter() - started
    await updated(index, vectors, searcher.gone)
    await index.settled()
    settled = time.perf_counter() - started
    searcher.ended = True
    await background
    left = [n for n in range(len(vectors)) if generated.resource_of(n) not in searcher.gone]
    lists = [await index.search(VectorQuery(dense=tuple(v.tolist()), filter=ALL, limit=100)) for v in asked]
    pairs = zip(generated.nearest(vectors, asked, left), lists, strict=True)
    result |= {
        "deleted": len(vectors) - len(left),
        "delete_s": deleted,
        "settled_s": settled,
        "left": await index.count(),
        "busy": searcher.times(),
        "wrong_answers": searcher.wrong,
        "recall_after": float(np.mean([len(best & {item.id for item in found[:10]}) / 10 for best, found in pairs])),
    }
    await index.close()
    return result | {"size_after_mb": allocated(copy)}


async def updated(index: QdrantEdgeIndex, vectors: FloatMatrix, gone: set[str]) -> None:
    """Change points in place and back; `RuntimeError` when a search right after does not see it."""
    kept = [n for n in range(len(vectors)) if generated.resource_of(n) not in gone][:UPDATES]
    for number in kept[::100]:
        changed = -np.asarray(vectors[number])
        for vector in (changed, np.asarray(vectors[number])):
            await index.upsert([generated.point(number, sparse_document("changed in place"), vector)])
            found = await index.search(VectorQuery(dense=tuple(vector.tolist()), filter=ALL, limit=1))
            if found[0].id != generated.chunk_id(number):
                raise RuntimeError(f"Chunk {number} is not found where it was put.")


class Searcher:
    """Searches without pause, and counts answers that hold what was deleted before they were asked for."""

    def __init__(self, index: QdrantEdgeIndex, asked: Sequence[FloatMatrix]) -> None:
        self._index = index
        self._asked = asked
        self.gone: set[str] = set()
        self.wrong = 0
        self.ended = False
        self._spent: list[float] = []

    async def run(self, seconds: float = 600) -> None:
        end, number = time.perf_counter() + seconds, 0
        while not self.ended and time.perf_counter() < end:
            gone, vector = set(self.gone), self._asked[number % len(self._asked)]
            began = time.perf_counter()
            found = await self._index.search(VectorQuery(dense=tuple(vector.tolist()), filter=ALL, limit=100))
            self._spent.append(1000 * (time.perf_counter() - began))
            self.wrong += any(generated.resource_of_id(item.id) in gone for item in found)
            number += 1
            await asyncio.sleep(0.002)

    def times(self) -> dict[str, float]:
        """Milliseconds since the last call of this."""
        p50, p99 = (float(value) for value in np.percentile(self._spent, [50, 99]))
        out = {"searches": len(self._spent), "p50_ms": p50, "p99_ms": p99, "max_ms": max(self._spent)}
        self._spent = []
        return out


def allocated(folder: Path) -> float:
    """MB on disk; holes in files do not count."""
    return sum(path.stat().st_blocks * 512 for path in folder.rglob("*") if path.is_file()) / 1e6


if __name__ == "__main__":
    main()
