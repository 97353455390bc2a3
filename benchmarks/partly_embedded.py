"""nDCG@10 while the vectors of a set's passages follow: by words alone, with a quarter, half and all of them, in each way to rank the rest.

usage: .venv/bin/python benchmarks/partly_embedded.py SET... [--cache FOLDER]
Sets and cache are those of retrieval.py. Which passages have their vectors is drawn three times; the means are printed.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import tempfile
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import fields, replace
from pathlib import Path
from statistics import fmean

import report
from retrieval import OWNER, CachedEmbedder, chunks_of

from citewell.adapters.embedder.builtin import BuiltinEmbedder
from citewell.adapters.index.qdrant_edge import QdrantEdgeIndex
from citewell.ports import FloatMatrix
from citewell.ports.points import index_point
from citewell.retrieve.evaluate import Judgements, evaluate, read_corpus, read_judgements
from citewell.retrieve.fusion import ordered
from citewell.retrieve.joining import Joining
from citewell.retrieve.legs import Legs
from citewell.retrieve.options import RetrievalOptions
from citewell.types import FileFacts, Filter, ScoredId, StoredChunk, Trace

SHARES = (0.0, 0.25, 0.5, 1.0)
DRAWS = 3
LIMIT = 100


class Penalised(Joining):
    """What a passage without a vector gets of the other leg is nothing."""

    def fuse(self, dense: Sequence[ScoredId]) -> list[ScoredId]:
        return self.summed(dense)


class AllWeight(Joining):
    """A passage without a vector is judged by its words as if they had all the weight."""


class Imputed(Joining):
    """A passage without a vector gets what passages that both legs found got of the other leg, on average."""

    def fuse(self, dense: Sequence[ScoredId]) -> list[ScoredId]:
        fused = dict(self.summed(dense))
        alone = dict(replace(self, lexical=()).summed(dense)) if dense else {}
        both = [alone[key] * self.weight for key, _ in self.lexical if key in alone]
        share = fmean(both) if both else 0.0
        return ordered({key: score + share if key in self.unseen else score for key, score in fused.items()})


class Halfway(Joining):
    """A passage without a vector gets of the other leg the middle between what its words say and that average."""

    def fuse(self, dense: Sequence[ScoredId]) -> list[ScoredId]:
        how = {field.name: getattr(self, field.name) for field in fields(self)}
        by_words = dict(AllWeight(**how).fuse(dense))
        by_mean = dict(Imputed(**how).fuse(dense))
        return ordered({key: (score + by_mean[key]) / 2 for key, score in by_words.items()})


class LegsOf(Legs):
    """Legs whose lists are joined in one of these ways."""

    def __init__(self, way: type[Joining], embedder: CachedEmbedder, index: QdrantEdgeIndex, waiting: Known) -> None:
        super().__init__(embedder, index, RetrievalOptions(), waiting)
        self._way = way

    def _joining(self, lexical: Sequence[ScoredId], unseen: AbstractSet[str], weight: float) -> Joining:
        usual = super()._joining(lexical, unseen, weight)
        return self._way(**{field.name: getattr(usual, field.name) for field in fields(usual)})


WAYS: dict[str, type[Joining]] = {
    "nothing of the other leg": Penalised,
    "words have all the weight": AllWeight,
    "the mean of the other leg": Imputed,
    "half-way between the two": Halfway,
}


class Known:
    """Which chunks wait, for legs."""

    def __init__(self, waiting: frozenset[str]) -> None:
        self._waiting = waiting

    async def among(self, ids: Sequence[str]) -> set[str]:
        return set(self._waiting.intersection(ids))

    async def prefer(self, ids: Sequence[str]) -> None:
        pass


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sets", nargs="+", type=Path)
    parser.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()) / "citewell-vectors")
    options = parser.parse_args()
    for folder in options.sets:
        asyncio.run(measure(folder, options.cache))


async def measure(folder: Path, cache: Path) -> None:
    """Print a table for one set."""
    embedder = CachedEmbedder(BuiltinEmbedder.load(), cache)
    stored = chunks_of(read_corpus(folder / "corpus.jsonl"), embedder)
    judged = read_judgements(folder / "queries.jsonl", folder / "qrels.tsv")
    vectors = await embedder.embed([item.chunk.embedded_text for item in stored])
    rows: dict[str, list[str]] = {name: [name] for name in WAYS}
    for share in SHARES:
        draws = range(DRAWS if 0.0 < share < 1.0 else 1)
        found = [await at_share(embedder, stored, vectors, judged, share, draw) for draw in draws]
        for name in WAYS:
            rows[name].append(f"{fmean(one[name] for one in found):.4f}")
    print(f"\n{folder.name}: {len(stored):,} chunks, {len(judged.queries)} queries", flush=True)
    print(report.terminal(["nDCG@10", *(f"{share:.0%}" for share in SHARES)], list(rows.values())), flush=True)


async def at_share(
    embedder: CachedEmbedder,
    stored: Sequence[StoredChunk],
    vectors: FloatMatrix,
    judged: Judgements,
    share: float,
    draw: int,
) -> Mapping[str, float]:
    """nDCG@10 of each way, with that share of the vectors."""
    ids = [item.chunk.id for item in stored]
    has = set(random.Random(draw).sample(ids, round(share * len(ids))))
    record_of = {item.chunk.id: item.chunk.resource_id for item in stored}
    points = [
        index_point(
            item.chunk,
            vector.tolist() if item.chunk.id in has else None,
            FileFacts(filename=item.filename),
        )
        for item, vector in zip(stored, vectors, strict=True)
    ]
    results: dict[str, float] = {}
    with tempfile.TemporaryDirectory(prefix="citewell-bench-") as scratch:
        index = await QdrantEdgeIndex.open(Path(scratch), embedder.fingerprint.dimensions)
        await index.upsert(points)
        for name, way in WAYS.items():
            legs = LegsOf(way, embedder, index, Known(frozenset(ids) - has))

            async def rank(query: str, legs: Legs = legs) -> list[str]:
                fused = (await legs.find(query, Filter(owner_id=OWNER), LIMIT, Trace())).fused
                return list(dict.fromkeys(record_of[one.id] for one in fused))[:20]

            results[name] = (await evaluate(name, rank, judged)).ndcg.mean
        await index.close()
    return results


if __name__ == "__main__":
    main()
