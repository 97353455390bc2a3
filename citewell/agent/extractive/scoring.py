"""How well each statement of some passages answers a question."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from citewell.agent.extractive.thresholds import ExtractiveThresholds
from citewell.agent.offload import offload
from citewell.agent.statements import Statement, cut_statements
from citewell.agent.understand.question import Question
from citewell.ports import Embedder, FloatMatrix
from citewell.text.analysis import analyze
from citewell.types import ChunkType, Hit

_RANGE = re.compile(r"\b(\d{1,9})\s*(?:-|–|—|to|bis|à)\s*(\d{1,9})\b")
_NUMBER = re.compile(r"\b\d{1,9}\b")
_ADDRESS = re.compile(r"https?:/|\bwww\.", re.I)
_UNSPECIFIC = frozenset({"peopl", "person", "time", "way", "thing"})


@dataclass(frozen=True, slots=True)
class ScoredStatement:
    """A statement with the parts of its score, each in 0..1 (similarity may be below 0)."""

    statement: Statement
    similarity: float
    coverage: float
    expected: bool
    score: float
    vector: FloatMatrix


class StatementScorer:
    """Scores statements by their similarity to the question, by the share of the question's terms that they hold, and by whether they
    hold the kind of thing asked for."""

    def __init__(self, embedder: Embedder, thresholds: ExtractiveThresholds) -> None:
        self._embedder = embedder
        self._thresholds = thresholds

    async def score(self, question: Question, hits: Sequence[Hit]) -> list[ScoredStatement]:
        """The statements worth embedding, best first. What a table is made of answers only a question about tables."""
        limits = self._thresholds
        allowed = [h for h in hits if h.chunk.type is not ChunkType.SUMMARY or question.about_tables]
        characters = len(question.text) + sum(len(hit.chunk.text) for hit in allowed)
        pool, coverages = await offload(characters, _pool, question, allowed, limits.heading_share)
        if not pool:
            return []
        order = sorted(range(len(pool)), key=lambda i: coverages[i] - limits.rank_cost * pool[i].rank, reverse=True)
        order = order[: limits.embedded]
        vectors = await self._embedder.embed([pool[i].judged for i in order], "query")
        query = (await self._embedder.embed([question.text], "query"))[0]
        scored = [
            self._scored(question, pool[i], coverages[i], float(vector @ query), vector)
            for i, vector in zip(order, vectors, strict=True)
        ]
        return sorted(scored, key=lambda s: s.score, reverse=True)

    def keep_counts(self, question: Question, scored: Sequence[ScoredStatement]) -> list[ScoredStatement]:
        """For "how many …": the statements that say how many; none where the best of them is far below the best of all.

        For any other question, all of them.
        """
        if not set(question.counted) - _UNSPECIFIC or question.wants_list:
            return list(scored)
        able = [s for s in scored if self._counts(question, s)]
        return able if able and able[0].score >= self._thresholds.within_reach * scored[0].score else []

    def _scored(
        self, question: Question, statement: Statement, coverage: float, similarity: float, vector: FloatMatrix
    ) -> ScoredStatement:
        limits = self._thresholds
        expected = question.meets_expectation(statement.shown)
        score = (
            limits.similarity_weight * max(similarity, 0.0)
            + limits.coverage_weight * coverage
            + limits.expected_weight * expected
        )
        if statement.shown.rstrip().endswith("?"):
            score *= limits.asking
        has_ranges, within = _in_ranges(question, statement.shown)
        if has_ranges:
            score *= 1.0 if within else limits.outside_range
        if statement.row:
            score *= 1.0 if within else limits.row_base + limits.row_label * _label_share(question, statement)
        elif len(statement.shown.split()) < limits.fragment_words or _ADDRESS.search(statement.shown):
            score *= limits.fragment
        return ScoredStatement(statement, similarity, coverage, expected, score, vector)

    def _counts(self, question: Question, scored: ScoredStatement) -> bool:
        """Whether a statement may say how many: it holds a number, and names what is counted or is similar in other words."""
        if not scored.expected:
            return False
        statement = scored.statement
        text = " ".join((statement.shown, *(statement.hit.chunk.locator.headings if statement.row else ())))
        named = set(question.counted) & set(analyze(text, question.language))
        return scored.similarity >= self._thresholds.counted_otherwise or bool(named)


def _label_share(question: Question, statement: Statement) -> float:
    """The largest share of a table row's cell that the question names: a row about something else answers nothing."""
    terms = set(question.terms)
    cells = [set(analyze(cell, question.language)) for cell in statement.row]
    return max((len(cell & terms) / len(cell) for cell in cells if cell), default=0.0)


def _in_ranges(question: Question, text: str) -> tuple[bool, set[str]]:
    """Whether the question has numbers and the text ranges; and those numbers that lie within one: 45 in "31 to 60 days"."""
    numbers = [number for number in question.terms if _NUMBER.fullmatch(number)]
    ranges = [(int(m[1]), int(m[2])) for m in _RANGE.finditer(text)] if numbers else []
    within = {number for number in numbers if any(low <= int(number) <= high for low, high in ranges)}
    return bool(ranges), within


def _pool(question: Question, hits: Sequence[Hit], heading_share: float) -> tuple[list[Statement], list[float]]:
    """The statements, and how much of the question each holds."""
    # What is repeated is judged once, or it would leave no room for anything else.
    unique: dict[str, Statement] = {}
    for statement in cut_statements(hits):
        unique.setdefault(statement.judged, statement)
    pool = list(unique.values())
    idf = _idf(question, pool)
    return pool, [_coverage(question, statement, idf, heading_share) for statement in pool]


def _idf(question: Question, pool: Sequence[Statement]) -> dict[str, float]:
    """Rarity of the question's terms among the statements."""
    counts: Counter[str] = Counter()
    for statement in pool:
        counts.update(set(analyze(statement.shown, question.language)) & set(question.terms))
    return {term: math.log(1 + (len(pool) + 1) / (counts[term] + 0.5)) for term in question.terms}


def _coverage(question: Question, statement: Statement, idf: dict[str, float], heading_share: float) -> float:
    """Share of the question's terms, by rarity, that are in the statement; a part of a term's weight for headings and table headers."""
    total = sum(idf.values())
    if not total:
        return 0.0
    own = set(analyze(" ".join(statement.row) or statement.shown, question.language))
    own |= _in_ranges(question, statement.shown)[1]
    if statement.row and _label_share(question, statement) == 1.0:
        own |= set(analyze(statement.shown, question.language))
    chunk = statement.hit.chunk
    over = (*chunk.locator.headings, chunk.context, statement.hit.filename, statement.shown if statement.row else "")
    above = set(analyze(" ".join(over), question.language))
    return sum(idf[t] * (1.0 if t in own else heading_share if t in above else 0.0) for t in question.terms) / total
