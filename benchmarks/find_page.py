"""Whether a page that answers is among the first passages found in long documents, for each leg, fused and reranked.

usage: .venv/bin/python benchmarks/find_page.py FOLDER [--questions FILE...] [--all] [--only NAME...] [--misses NAME] [--cache FOLDER]

FOLDER has questions.jsonl (doc_name, question, pages) and pdfs/, as FinanceBench has. Each question is scoped to its file, with `--all` to none.
Printed is the share of questions with one of their pages in the first passage, five and ten, for each half of the files too: what is chosen
on one half is checked on the other. Extracted elements and vectors are kept in the cache folder, so that a second run takes seconds.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import tempfile
import time
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import report
from retrieval import OWNER, CachedEmbedder, MemoryChunks

from citewell.adapters.embedder.builtin import BuiltinEmbedder
from citewell.adapters.index.qdrant_edge import QdrantEdgeIndex
from citewell.adapters.reranker.builtin import LateInteractionReranker
from citewell.chunk.chunker import chunk_elements
from citewell.chunk.config import ChunkConfig
from citewell.extract.core.sink import ELEMENTS_FILE, Sink
from citewell.extract.registry import extract_file
from citewell.ingest.chunking import chunk_title, fitted
from citewell.ports import Embedder
from citewell.ports.points import index_point
from citewell.retrieve.options import RetrievalOptions
from citewell.retrieve.retriever import Retriever
from citewell.types import Chunk, Element, ExtractOptions, FileFacts, Hit, Provenance, SearchRequest, StoredChunk

FIRST, NONE = (1, 5, 10), 1_000
BY_SCORE = RetrievalOptions(page_decay=1.0, prefers_kinds=False)
CONFIGURATIONS: dict[str, RetrievalOptions] = {
    "words": replace(BY_SCORE, dense_weight=0.0, feedback_chunks=0),
    "dense": replace(BY_SCORE, dense_weight=1.0, feedback_chunks=0),
    "fused": BY_SCORE,
    "fused, pages": RetrievalOptions(prefers_kinds=False),
    "fused, kinds": RetrievalOptions(page_decay=1.0),
    "default": RetrievalOptions(),
    "default, late interaction": RetrievalOptions(rerank=True),
}


@dataclass(frozen=True)
class Asked:
    """A question, the file that it is about and the pages that answer it."""

    question: str
    file: str
    pages: frozenset[int]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--questions", type=Path, nargs="*", help="other questions on the same files")
    parser.add_argument("--all", action="store_true", help="search in all files")
    parser.add_argument("--only", nargs="*", choices=list(CONFIGURATIONS))
    parser.add_argument("--misses", choices=list(CONFIGURATIONS), help="print where this one finds no page among five")
    parser.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()) / "citewell-vectors")
    options = parser.parse_args()
    asked = [one for path in options.questions or [options.folder / "questions.jsonl"] for one in questions(path)]
    asyncio.run(measure(options, asked))


def questions(path: Path) -> list[Asked]:
    """The questions of a file, one a line."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    return [Asked(row["question"], row["doc_name"], frozenset(row["pages"])) for row in rows]


def read(path: Path, cache: Path) -> tuple[list[Element], dict[str, Any]]:
    """A file's elements and what it says of itself, read once."""
    folder = cache / f"elements-{hashlib.sha256(path.read_bytes()).hexdigest()[:20]}"
    facts = folder / "facts.json"
    if not facts.exists():
        folder.mkdir(parents=True, exist_ok=True)
        with Sink(folder, ExtractOptions()) as sink:
            metadata = extract_file(path, path.name, sink).metadata
        facts.write_text(json.dumps(metadata), encoding="utf-8")
    lines = (folder / ELEMENTS_FILE).read_text(encoding="utf-8").splitlines()
    return [Element.from_json(json.loads(line)) for line in lines], json.loads(facts.read_text(encoding="utf-8"))


def chunks_of(path: Path, cache: Path, embedder: Embedder) -> list[StoredChunk]:
    """A file's chunks, as a server cuts them."""
    elements, facts = read(path, cache)
    title = chunk_title(path.name, facts.get("title"))
    drafts = chunk_elements(elements, fitted(ChunkConfig(), embedder), embedder.tokenizer, title)
    return [
        StoredChunk(
            Chunk(
                id=str(uuid.uuid5(uuid.NAMESPACE_OID, f"{path.stem}\n{ordinal}")),
                owner_id=OWNER,
                resource_id=path.stem,
                version=1,
                ordinal=ordinal,
                type=draft.type,
                text=draft.text,
                context=draft.context,
                locator=draft.locator,
                pieces=draft.pieces,
                metadata=draft.metadata,
            ),
            path.name,
            Provenance(),
        )
        for ordinal, draft in enumerate(drafts)
    ]


async def measure(options: argparse.Namespace, asked: Sequence[Asked]) -> None:
    """Print what each configuration finds."""
    embedder = CachedEmbedder(BuiltinEmbedder.load(), options.cache)
    names = sorted({one.file for one in asked})
    stored: dict[str, StoredChunk] = {}
    with tempfile.TemporaryDirectory(prefix="citewell-bench-") as scratch:
        index = await QdrantEdgeIndex.open(Path(scratch), embedder.fingerprint.dimensions)
        for name in names:
            found = chunks_of(options.folder / "pdfs" / f"{name}.pdf", options.cache, embedder)
            vectors = await embedder.embed([item.chunk.embedded_text for item in found])
            facts = FileFacts(filename=f"{name}.pdf", language="en")
            points = [index_point(item.chunk, v.tolist(), facts) for item, v in zip(found, vectors, strict=True)]
            await index.upsert(points)
            stored |= {item.chunk.id: item for item in found}
        print(f"{len(asked)} questions, {len(names)} files, {len(stored):,} chunks", flush=True)
        source, reranker = MemoryChunks(stored), LateInteractionReranker(embedder.inner)
        rows = []
        for name in options.only or CONFIGURATIONS:
            retriever = Retriever(embedder, index, source, reranker, CONFIGURATIONS[name])
            started = time.perf_counter()
            ranks = [rank(await hits(retriever, q, options.all), q.pages, q.file) for q in asked]
            rows.append(
                (name, *shares(asked, ranks, names), f"{1000 * (time.perf_counter() - started) / len(asked):.1f}")
            )
            if name == options.misses:
                for q, place in zip(asked, ranks, strict=True):
                    if place > 5:
                        print(f"{place:5} {q.file} {sorted(q.pages)} {q.question[:150]}")
        await index.close()
    print(report.terminal(("", "1", "5", "10", "half: 5", "other half: 5", "MRR", "ms"), rows))


async def hits(retriever: Retriever, asked: Asked, everywhere: bool) -> Sequence[Hit]:
    """The first ten hits of a question."""
    scope = None if everywhere else (asked.file,)
    return (
        await retriever.search(SearchRequest(owner_id=OWNER, query=asked.question, top_k=10, resource_ids=scope))
    ).hits


def rank(found: Sequence[Hit], pages: frozenset[int], file: str) -> int:
    """The place of the first hit that is on one of the pages; `NONE` if there is none."""
    for place, hit in enumerate(found, 1):
        locator = hit.chunk.locator
        if hit.chunk.resource_id == file and pages & {locator.page, *locator.pages}:
            return place
    return NONE


def shares(asked: Sequence[Asked], ranks: Sequence[int], names: Sequence[str]) -> list[str]:
    """The shares for the header of `measure`."""
    halves = [[r for q, r in zip(asked, ranks, strict=True) if names.index(q.file) % 2 == side] for side in (0, 1)]
    five = [sum(r <= 5 for r in half) / len(half) if half else 0.0 for half in halves]
    found = [sum(r <= first for r in ranks) / len(ranks) for first in FIRST]
    return [f"{value:.3f}" for value in (*found, *five, sum(1 / r for r in ranks if r < NONE) / len(ranks))]


if __name__ == "__main__":
    main()
