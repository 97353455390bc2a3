"""Evaluates searches against relevance judgments: nDCG@10, recall@k and MRR with bootstrap confidence intervals."""

from __future__ import annotations

import csv
import json
import math
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np

from citewell.errors import InvalidInput
from citewell.retrieve.options import FusionMethod, RetrievalOptions
from citewell.types import JsonValue

Ranker: TypeAlias = Callable[[str], Awaitable[Sequence[str]]]
CUTOFF = 10
_RESAMPLES = 2_000
_CONFIDENCE = 95.0


@dataclass(frozen=True, slots=True)
class Configuration:
    """A configuration to measure: search options, and whether the reranker is used."""

    options: RetrievalOptions
    rerank: bool = False


DEFAULT = "default"
CONFIGURATIONS: dict[str, Configuration] = {
    DEFAULT: Configuration(RetrievalOptions()),
    "dense": Configuration(RetrievalOptions(dense_weight=1.0, feedback_chunks=0)),
    "lexical": Configuration(RetrievalOptions(dense_weight=0.0, feedback_chunks=0)),
    "dense + feedback": Configuration(RetrievalOptions(dense_weight=1.0)),
    "hybrid, no feedback": Configuration(RetrievalOptions(feedback_chunks=0)),
    "min-max convex": Configuration(RetrievalOptions(fusion=FusionMethod.CONVEX, feedback_chunks=0)),
    "distribution-based": Configuration(RetrievalOptions(fusion=FusionMethod.DISTRIBUTION, feedback_chunks=0)),
    "reciprocal rank": Configuration(RetrievalOptions(fusion=FusionMethod.RECIPROCAL_RANK, feedback_chunks=0)),
    "default + reranker": Configuration(RetrievalOptions(rerank=True), rerank=True),
}
"""What `citewell eval retrieval` measures: each leg alone, each fusion, the default, and the default reranked."""


@dataclass(frozen=True, slots=True)
class Judgements:
    """Queries by id and, per query, the grades of documents by id (1 or more means relevant)."""

    queries: Mapping[str, str]
    grades: Mapping[str, Mapping[str, int]]


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean over queries with its bootstrap confidence interval (95 %)."""

    mean: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.mean:.4f} [{self.low:.4f}, {self.high:.4f}]"


@dataclass(frozen=True, slots=True)
class Quality:
    """The result of one configuration on one set; `ndcg_of` has nDCG@10 per query, for paired comparisons."""

    name: str
    queries: int
    ndcg: Estimate
    recall: Estimate
    mrr: Estimate
    milliseconds: float
    ndcg_of: Mapping[str, float]

    def to_json(self) -> dict[str, JsonValue]:
        """As JSON, without the values per query."""
        out: dict[str, JsonValue] = {"configuration": self.name, "queries": self.queries}
        for key, value in ((f"ndcg@{CUTOFF}", self.ndcg), (f"recall@{CUTOFF}", self.recall), ("mrr", self.mrr)):
            out[key] = {"mean": round(value.mean, 4), "low": round(value.low, 4), "high": round(value.high, 4)}
        return out | {"ms_per_query": round(self.milliseconds, 2)}


async def evaluate(name: str, rank: Ranker, judged: Judgements, cutoff: int = CUTOFF) -> Quality:
    """Run every query that has a relevant document. `rank` returns document ids, best first; a repeated id counts once.

    Raises `InvalidInput` when no query has a relevant document.
    """
    ndcg: dict[str, float] = {}
    recalls: list[float] = []
    ranks: list[float] = []
    spent = 0.0
    for key, text in judged.queries.items():
        grades = judged.grades.get(key, {})
        relevant = {document for document, grade in grades.items() if grade > 0}
        if not relevant:
            continue
        start = time.perf_counter()
        found = list(dict.fromkeys(await rank(text)))
        spent += time.perf_counter() - start
        ndcg[key] = normalised_gain(found, grades, cutoff)
        recalls.append(len(relevant & set(found[:cutoff])) / len(relevant))
        ranks.append(next((1.0 / place for place, document in enumerate(found, 1) if document in relevant), 0.0))
    if not ndcg:
        raise InvalidInput("No query has a relevant document; check that the ids in the three files match.")
    values = (estimate(list(ndcg.values())), estimate(recalls), estimate(ranks))
    return Quality(name, len(ndcg), *values, milliseconds=1000 * spent / len(ndcg), ndcg_of=ndcg)


def normalised_gain(found: Sequence[str], grades: Mapping[str, int], cutoff: int = CUTOFF) -> float:
    """nDCG with gains of 2^grade - 1 (Burges et al., "Learning to Rank using Gradient Descent", 2005)."""
    gained = _discounted([grades.get(document, 0) for document in found[:cutoff]])
    best = _discounted(sorted(grades.values(), reverse=True)[:cutoff])
    return gained / best if best > 0.0 else 0.0


def estimate(values: Sequence[float], seed: int = 0) -> Estimate:
    """The mean, and the percentiles of the means of resamples drawn with replacement."""
    data = np.asarray(values, dtype=np.float64)
    random = np.random.default_rng(seed)
    means = [data[random.integers(0, len(data), len(data))].mean() for _ in range(_RESAMPLES)]
    tail = (100.0 - _CONFIDENCE) / 2
    low, high = np.percentile(means, [tail, 100.0 - tail])
    return Estimate(float(data.mean()), float(low), float(high))


def difference(one: Quality, other: Quality) -> Estimate:
    """nDCG@10 of `one` minus `other`, query by query: an interval without 0 is a real difference."""
    return estimate([value - other.ndcg_of[key] for key, value in one.ndcg_of.items() if key in other.ndcg_of])


def read_judgements(queries: Path, qrels: Path) -> Judgements:
    """Queries (`{"_id", "text"}` per line) and judgements (query, document, grade; tab-separated, with a header row).

    Raises `InvalidInput` naming the line that is not of this form.
    """
    texts = {str(row["_id"]): str(row["text"]) for row in _json_lines(queries, ("_id", "text"))}
    grades: dict[str, dict[str, int]] = {}
    with qrels.open(encoding="utf-8", newline="") as file:
        for number, row in enumerate(csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE), 1):
            if number == 1 or not row:
                continue
            try:
                query, document, grade = row[0], row[-2], int(float(row[-1]))
            except (IndexError, ValueError) as error:
                raise InvalidInput(f"{qrels.name}, line {number}: expected query, document and grade.") from error
            grades.setdefault(query, {})[document] = grade
    return Judgements(texts, grades)


def read_corpus(corpus: Path) -> list[dict[str, str]]:
    """Documents (`{"_id", "title", "text"}` per line) as records with `id`, `title` and `text`; those without text are skipped. Raises `InvalidInput`."""
    return [
        {"id": str(row["_id"]), "title": str(row.get("title") or ""), "text": str(row["text"])}
        for row in _json_lines(corpus, ("_id", "text"))
        if str(row["text"]).strip()
    ]


def table(results: Sequence[Quality]) -> list[tuple[str, ...]]:
    """The results as a header and rows of text."""
    header = ("Configuration", f"nDCG@{CUTOFF}", f"Recall@{CUTOFF}", "MRR", "ms/query")
    return [header] + [(r.name, str(r.ndcg), str(r.recall), str(r.mrr), f"{r.milliseconds:.1f}") for r in results]


def _discounted(grades: Sequence[int]) -> float:
    return sum((2.0**grade - 1.0) / math.log2(place + 1) for place, grade in enumerate(grades, 1))


def _json_lines(path: Path, keys: Sequence[str]) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    with path.open(encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            try:
                row: object = json.loads(line)
            except ValueError as error:
                raise InvalidInput(f"{path.name}, line {number}: not JSON.") from error
            if not isinstance(row, dict) or any(key not in row for key in keys):
                raise InvalidInput(f"{path.name}, line {number}: expected an object with {' and '.join(keys)}.")
            rows.append({str(key): value for key, value in row.items()})
    return rows
