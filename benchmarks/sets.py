"""Retrieval sets (`corpus.jsonl`, `queries.jsonl`, `qrels.tsv`) and nDCG@10 over them."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class RetrievalSet:
    """Queries that have at least one relevant document, and how relevant each document is to each."""

    name: str
    corpus: Path
    queries: Mapping[str, str]
    relevant: Mapping[str, Mapping[str, int]]

    def records(self) -> list[dict[str, str]]:
        """The corpus as `{"id", "title", "text"}`, without documents that have no text."""
        with self.corpus.open(encoding="utf-8") as lines:
            rows = [json.loads(line) for line in lines]
        return [
            {"id": row["_id"], "title": row.get("title") or "", "text": row["text"]}
            for row in rows
            if row["text"].strip()
        ]

    def ndcg10(self, ranking: Mapping[str, Sequence[str]]) -> float:
        """Mean nDCG@10 (gain 2^grade - 1) of a ranking of record ids per query."""
        scores = [_ndcg(ranking.get(query, ()), self.relevant[query]) for query in self.queries]
        return sum(scores) / len(scores)


def load(folder: Path) -> RetrievalSet:
    """Read a set in the layout of BEIR."""
    relevant: defaultdict[str, dict[str, int]] = defaultdict(dict)
    for line in (folder / "qrels.tsv").read_text(encoding="utf-8").splitlines()[1:]:
        query, document, grade = line.split("\t")
        relevant[query][document] = int(float(grade))
    rows = [json.loads(line) for line in (folder / "queries.jsonl").read_text(encoding="utf-8").splitlines()]
    queries = {row["_id"]: row["text"] for row in rows if any(grade > 0 for grade in relevant[row["_id"]].values())}
    return RetrievalSet(folder.name, folder / "corpus.jsonl", queries, relevant)


def _ndcg(ranked: Sequence[str], grades: Mapping[str, int]) -> float:
    gained = sum((2 ** grades.get(document, 0) - 1) / math.log2(rank + 2) for rank, document in enumerate(ranked[:10]))
    best = sorted(grades.values(), reverse=True)[:10]
    return gained / sum((2**grade - 1) / math.log2(rank + 2) for rank, grade in enumerate(best))
