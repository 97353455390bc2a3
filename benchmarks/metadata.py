"""Metadata at 1,000 files with 12 fields each: filters against what they mean, recall under filters, changes under searches, kill -9.

usage: .venv/bin/python benchmarks/metadata.py [--files 1000] [--filters 200] [--points 20000]

differences: files that a random nested filter admits in the embedded store and not by its meaning in plain Python, or the reverse
recall:      share of the ten nearest points that a search within a filter returns, of random vectors, by the share that the filter admits
changed:     seconds until every index holds new metadata of all files, while searches run; and after a process that made the changes is killed
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import numpy as np
import report

from citewell import AsyncCitewell
from citewell.adapters.index.qdrant_edge import QdrantEdgeIndex
from citewell.filters.language import lowered, parse_filters
from citewell.ports.points import index_point
from citewell.types import Chunk, ChunkType, FileFacts, Filter, Locator, VectorQuery

Values = Mapping[str, Any]
COLOURS = ("red", "green", "blue", "dark red")
DIMENSIONS, BATCH, QUERIES, AT_ONCE = 384, 500, 50, 32


def values_of(n: int, randomly: random.Random) -> dict[str, Any]:
    """Twelve fields; some texts that look alike, and values on the edges of comparisons."""
    day = f"2025-{n % 12 + 1:02d}-{n % 28 + 1:02d}"
    return {
        "number": n, "tenth": n % 10, "iso": randomly.choice([100, 200.5, 400, 800]), "score": round(randomly.random(), 3),
        "colour": randomly.choice(COLOURS), "camera": randomly.choice(["leica m6", "leica", "canon"]), "place": f"place {n % 37}",
        "indoor": randomly.random() < 0.5, "checked": n % 3 == 0, "taken": day, "due": f"2025-06-{n % 30 + 1:02d}",
        "tags": randomly.sample(["outdoor", "night", "car", "harbour"], 2),
    }  # fmt: skip


def random_filter(randomly: random.Random, depth: int = 3) -> dict[str, Any]:
    """A condition, or a group of filters."""
    if depth and randomly.random() < 0.7:
        parts = [random_filter(randomly, depth - 1) for _ in range(randomly.randint(1, 3))]
        kind = randomly.choice(["all", "any", "not"])
        return {kind: parts[0] if kind == "not" else parts}
    field, wanted = randomly.choice(list(values_of(randomly.randrange(1_000), randomly).items()))
    if isinstance(wanted, list):
        wanted = wanted[0]
    text, dated = isinstance(wanted, str), field in ("taken", "due")
    operators = ["eq", "ne", "in", "not_in", "exists"]
    if dated or (not text and not isinstance(wanted, bool)):
        operators += ["gt", "gte", "lt", "lte"] * 2
    elif text:
        operators += ["contains", "prefix"]
    operator = randomly.choice(operators)
    value = {"in": [wanted], "not_in": [wanted], "exists": randomly.random() < 0.5}.get(operator, wanted)
    if operator in ("contains", "prefix"):
        value = wanted[: randomly.randint(1, len(wanted))].strip().upper()
    return {"field": f"metadata.{field}", "operator": operator, "value": value}


def means(one: Mapping[str, Any], values: Values) -> bool:
    """Whether a file with these values is meant, by nothing of Citewell's."""
    if "all" in one:
        return all(means(part, values) for part in one["all"])
    if "any" in one:
        return any(means(part, values) for part in one["any"])
    if "not" in one:
        return not means(one["not"], values)
    operator, wanted = one["operator"], one["value"]
    held = values.get(one["field"].removeprefix("metadata."))
    if operator == "exists":
        return (held is not None) is wanted
    if operator in ("ne", "not_in"):
        return not means({**one, "operator": "eq" if operator == "ne" else "in"}, values)
    each = held if isinstance(held, list) else [] if held is None else [held]
    fits = {
        "eq": lambda a: a == wanted, "in": lambda a: a in wanted, "gt": lambda a: a > wanted, "gte": lambda a: a >= wanted,
        "lt": lambda a: a < wanted, "lte": lambda a: a <= wanted,
        "contains": lambda a: wanted.lower() in a, "prefix": lambda a: a.startswith(wanted.lower()),
    }[operator]  # fmt: skip
    return any(fits(value) for value in each)


async def fill(folder: Path, files: int) -> Mapping[str, Values]:
    """Records with metadata in a new data folder, by record id."""
    randomly = random.Random(14)
    said = {f"r{n}": values_of(n, randomly) for n in range(files)}
    async with AsyncCitewell(folder, ocr=False) as cw:
        texts = [{"id": key, "text": f"The red car of frame {key}.", "metadata": dict(v)} for key, v in said.items()]
        await cw.add_texts(texts)
    return said


async def differences(folder: Path, said: Mapping[str, Values], filters: int) -> dict[str, Any]:
    """How often the store and the meaning of random filters disagree."""
    randomly, wrong, selective = random.Random(15), 0, 0
    async with AsyncCitewell(folder, ocr=False) as cw:
        names = {r.id: r.record_id async for r in cw.resources()}
        services = cw._services  # pyright: ignore[reportPrivateUsage]
        store = services.indexes.migration.indexes.active.store
        query = (1.0,) + (0.0,) * (DIMENSIONS - 1)
        for _ in range(filters):
            one = random_filter(randomly)
            conditions = tuple(lowered(part) for part in parse_filters([one]))
            scope = Filter(owner_id=services.local_owner, conditions=conditions)
            hits = await store.search(VectorQuery(dense=query, filter=scope, limit=2 * len(said)))
            loaded = await services.search.chunks.load(services.local_owner, [hit.id for hit in hits])
            found = {names[stored.chunk.resource_id] for stored in loaded.values()}
            wanted = {key for key, values in said.items() if means(one, values)}
            wrong += len(found ^ wanted)
            selective += 0 < len(wanted) < len(said)
    return {"filters": filters, "admitting_some": selective, "differences": wrong}


async def recall(folder: Path, points: int) -> dict[str, float]:
    """Recall@10 of searches within filters that admit all, a tenth and a thousandth."""
    rng = np.random.default_rng(14)
    vectors = rng.standard_normal((points + QUERIES, DIMENSIONS)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    queries, vectors = vectors[points:], vectors[:points]
    index = await QdrantEdgeIndex.open(folder, DIMENSIONS)
    for start in range(0, points, BATCH):
        await index.upsert([_point(n, vectors[n]) for n in range(start, min(points, start + BATCH))])
    out: dict[str, float] = {}
    for share in (1, 10, 1_000):
        (condition,) = parse_filters([{"field": "metadata.number", "operator": "gte", "value": 0}])
        if share > 1:
            (condition,) = parse_filters([{"field": f"metadata.by{share}", "value": 0}])
        admitted = np.arange(0, points, share)
        scope, hit = Filter(owner_id="ann", conditions=(lowered(condition),)), 0
        for query in queries:
            best = admitted[np.argsort(-(vectors[admitted] @ query))[:10]]
            found = await index.search(VectorQuery(dense=tuple(query.tolist()), filter=scope, limit=10))
            hit += len({one.id for one in found} & {_id(int(n)) for n in best})
        out[f"1/{share}"] = hit / (10 * QUERIES)
    await index.close()
    return out


def _id(n: int) -> str:
    return f"00000000-0000-4000-8000-{n:012d}"


def _point(n: int, vector: Any) -> Any:
    chunk = Chunk(
        id=_id(n), owner_id="ann", resource_id=f"r{n}", version=1, ordinal=0, type=ChunkType.TEXT, text="words",
        locator=Locator(),
    )  # fmt: skip
    file = FileFacts(filename=f"{n}.txt", metadata={"number": n, "by10": n % 10, "by1000": n % 1_000})
    return index_point(chunk, vector.tolist(), file)


async def change(folder: Path, tell: bool = False) -> dict[str, Any]:
    """Set a key of every file while searches run; with `tell`, print the number of each that is done."""
    async with AsyncCitewell(folder, ocr=False) as cw:
        ids = [r.id async for r in cw.resources()]
        gate, times, done = asyncio.Semaphore(AT_ONCE), list[float](), asyncio.Event()

        async def one(place: int, resource: str) -> None:
            async with gate:
                await cw.describe(resource, metadata={"season": "killed" if tell else "summer"})
                if tell:
                    print(place, flush=True)

        async def searching() -> None:
            while not done.is_set():
                begun = time.perf_counter()
                await cw.search("red car", conditions=[{"field": "metadata.tenth", "value": 3}])
                times.append(1000 * (time.perf_counter() - begun))

        await cw.search("red car")
        task, begun = asyncio.create_task(searching()), time.perf_counter()
        await asyncio.gather(*(one(place, resource) for place, resource in enumerate(ids)))
        spent = time.perf_counter() - begun
        done.set()
        await task
        left = await _behind(cw, len(ids), "summer")
    p50, p95 = np.percentile(times, [50, 95])
    return {"files": len(ids), "seconds": round(spent, 2), "not_found_by_it": left, "searches": len(times),
            "search_p50_ms": round(float(p50), 1), "search_p95_ms": round(float(p95), 1)}  # fmt: skip


async def _behind(cw: AsyncCitewell, files: int, season: str) -> int:
    """How many files a filter by the new value does not find."""
    services = cw._services  # pyright: ignore[reportPrivateUsage]
    conditions = tuple(lowered(one) for one in parse_filters([{"field": "metadata.season", "value": season}]))
    found = await services.indexes.migration.indexes.active.store.count(
        Filter(owner_id=services.local_owner, conditions=conditions)
    )
    return files - found


def kill_halfway(folder: Path, files: int) -> None:
    """Have a process change all files, and kill it when half of them are done."""
    process = subprocess.Popen([sys.executable, __file__, "--change", str(folder)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    for line in process.stdout:
        if line.strip().isdigit() and int(line) >= files // 2:
            break
    os.kill(process.pid, signal.SIGKILL)
    process.wait()


async def caught_up(folder: Path) -> dict[str, Any]:
    """How long after the next start the index holds what SQL has of the changes, and how many it does not hold after a minute."""
    begun = time.perf_counter()
    async with AsyncCitewell(folder, ocr=False) as cw:
        changed = sum([r.metadata.get("season") == "killed" async for r in cw.resources()])
        behind = await _behind(cw, changed, "killed")
        for _ in range(1_200):
            if not behind:
                break
            await asyncio.sleep(0.05)
            behind = await _behind(cw, changed, "killed")
    return {"changed_in_sql": changed, "behind": behind, "seconds": round(time.perf_counter() - begun, 2)}


async def measure(files: int, filters: int, points: int) -> dict[str, Any]:
    """Everything, in a folder of its own."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "data"
        said = await fill(folder, files)
        result: dict[str, Any] = {"oracle": await differences(folder, said, filters)}
        print(json.dumps(result), flush=True)
        result["changed"] = await change(folder)
        print(json.dumps(result["changed"]), flush=True)
        await asyncio.to_thread(kill_halfway, folder, files)
        result["killed"] = await caught_up(folder)
        print(json.dumps(result["killed"]), flush=True)
        result["recall_at_10"] = await recall(Path(scratch) / "vectors", points)
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=1_000)
    parser.add_argument("--filters", type=int, default=200)
    parser.add_argument("--points", type=int, default=20_000)
    parser.add_argument("--change", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.change is not None:
        asyncio.run(change(options.change, tell=True))
        return
    result = asyncio.run(measure(options.files, options.filters, options.points))
    text = json.dumps({"machine": cast(object, report.machine())} | result, indent=1)
    print(text)
    (Path(__file__).parent / "results" / "metadata.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
