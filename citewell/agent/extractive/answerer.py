"""Answers without a model: the sentences that answer, in order, without repetition, each with its citation."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from citewell.agent.citations.bracketed import quotable
from citewell.agent.citations.markdown import neutralise
from citewell.agent.extractive.lists import item_groups, steps_of
from citewell.agent.interface import NO_ANSWER, Source
from citewell.agent.offload import offload
from citewell.agent.statements import Candidate, candidates
from citewell.agent.understand.question import Expectation, Question, read_question
from citewell.ports import Embedder, FloatMatrix
from citewell.text.analysis import analyze
from citewell.types import ChunkType, Hit

EMBEDDED_SENTENCES = 12
MAX_SENTENCES = 3
MAX_FACTS = 2
CLOSE_BEHIND = 0.85
FACT_CLOSE_BEHIND = 0.92
_NEAR_ENOUGH = 0.8
_WITHIN_REACH = 0.7
_SHORTEST = 3
_RANGE = re.compile(r"\b(\d{1,9})\s*(?:-|–|—|to|bis|à)\s*(\d{1,9})\b")
_NUMBER = re.compile(r"\b\d{1,9}\b")
_ADDRESS = re.compile(r"https?:/|\bwww\.", re.I)
_UNSPECIFIC = frozenset({"peopl", "person", "time", "way", "thing"})
_FACTS = frozenset({Expectation.NUMBER, Expectation.MONEY, Expectation.DATE, Expectation.PERSON, Expectation.PLACE})
_GROUP_CHARACTERS = 600
_LIST_SHARE = 0.75
_LIST_ANSWERS = 0.5
_BULLET = re.compile(r"^(?:[-*•‣▪]\s+|\(?\d{1,3}[.)]\s+)")


@dataclass(frozen=True, slots=True)
class Answerability:
    """When passages hold an answer, on a scale of 0..1.

    First look: 0.9 · (similarity of the nearest sentence) + 0.1 · (best share of the question's terms in one sentence).
    Below `refuse` there is no answer, from `accept` on there is. In between (one question in five) a second look decides, for
    which the best passages are embedded whole: half of the similarity is then that of the nearest passage, against `second`.

    The limits are for the built-in model, from conversations with answerable and unanswerable turns (MTRAG); see
    `benchmarks/conversations.py abstain`. Another sentence model needs limits of its own.
    """

    refuse: float = 0.40
    accept: float = 0.57
    second: float = 0.48


@dataclass(frozen=True, slots=True)
class Scored:
    """A candidate with the parts of its score, each in 0..1 (similarity may be below 0)."""

    candidate: Candidate
    similarity: float
    coverage: float
    expected: bool
    score: float
    vector: FloatMatrix


@dataclass(frozen=True, slots=True)
class Extract:
    """An answer made of source sentences. `confidence` is the answerability of the question; `embedded` counts texts embedded."""

    parts: tuple[str, ...]
    sources: tuple[Source, ...]
    answered: bool
    confidence: float
    embedded: int

    @property
    def text(self) -> str:
        """The whole answer."""
        return "".join(self.parts)


class ExtractiveAnswerer:
    """Picks the sentences of given passages that answer a question.

    A sentence scores by its similarity to the question (of sentence embeddings), by the share of the question's terms that it
    or its heading holds (weighted by their rarity among the passages), and by whether it holds the kind of thing asked for.
    """

    def __init__(self, embedder: Embedder, answerability: Answerability | None = None) -> None:
        self._embedder = embedder
        self._limits = answerability or Answerability()

    async def answer(self, question_text: str, hits: Sequence[Hit], more: Sequence[Hit] = ()) -> Extract:
        """The answer from `hits`; `answered` is False when they hold none. The items of a list may also stand in `more`."""
        question = await offload(len(question_text), read_question, question_text)
        scored = await self.score(question, hits)
        if set(question.counted) - _UNSPECIFIC and not question.wants_list:
            scored = counting(question, scored)
        confidence, answerable, embedded = await self._judge(question, scored, hits)
        if question.wants_list:
            items, strength = await self._list(question, [*hits, *more], scored)
            if len(items) >= 2 and (answerable or strength >= _LIST_ANSWERS):
                return self._compose(items, max(confidence, strength), embedded, as_list=True)
        if not answerable:
            return Extract((NO_ANSWER,), numbered(hits[:3]), False, confidence, embedded)
        chosen = choose(question, scored)
        if question.expectation in _FACTS:
            chosen.sort(key=lambda s: (not s.expected, -s.score))
        else:
            chosen = in_reading_order(chosen)
        return self._compose([s.candidate for s in chosen], confidence, embedded, as_list=False)

    async def _judge(
        self, question: Question, scored: Sequence[Scored], hits: Sequence[Hit]
    ) -> tuple[float, bool, int]:
        """Confidence, whether there is an answer, and how many texts were embedded in all."""
        if not scored:
            return 0.0, False, 0
        nearest = max(s.similarity for s in scored)
        terms = max(s.coverage for s in scored)
        first = 0.9 * nearest + 0.1 * terms
        if not self._limits.refuse <= first < self._limits.accept:
            return first, first >= self._limits.accept, len(scored) + 1
        texts = [hit.chunk.text for hit in hits[:3]]
        vectors = await self._embedder.embed([question.text, *texts], "query")
        passage = float((vectors[1:] @ vectors[0]).max())
        second = 0.45 * (nearest + passage) + 0.1 * terms
        return second, second >= self._limits.second, len(scored) + 1 + len(vectors)

    async def _list(
        self, question: Question, hits: Sequence[Hit], scored: Sequence[Scored]
    ) -> tuple[list[Candidate], float]:
        """The items of the list that answers, and its similarity to the question.

        Numbered steps of the best file (whose strength the sentences say), else the list whose heading and items are nearest.
        """
        best = [s.candidate for s in scored[:3]]
        if steps := steps_of(question, hits, best):
            return steps, 0.0
        groups = item_groups(hits)
        if not groups or not scored:
            return [], 0.0
        texts = [" ".join((group[0].heading, *(item.shown for item in group)))[:_GROUP_CHARACTERS] for group in groups]
        vectors = await self._embedder.embed([question.text, *texts], "query")
        near = vectors[1:] @ vectors[0]
        terms = set(question.terms)
        named = [len(terms & set(analyze(text, question.language))) / max(1, len(terms)) for text in texts]
        scores = [0.65 * float(n) + 0.25 * share for n, share in zip(near, named, strict=True)]
        top = max(range(len(groups)), key=lambda i: scores[i])
        return (groups[top] if scores[top] >= _LIST_SHARE * scored[0].score else []), float(near[top])

    async def score(self, question: Question, hits: Sequence[Hit]) -> list[Scored]:
        """The candidates worth embedding, best first. What a table is made of answers only a question about tables."""
        allowed = [h for h in hits if h.chunk.type is not ChunkType.SUMMARY or question.about_tables]
        characters = len(question.text) + sum(len(hit.chunk.text) for hit in allowed)
        pool, coverages = await offload(characters, _pool, question, allowed)
        if not pool:
            return []
        order = sorted(range(len(pool)), key=lambda i: coverages[i] - 0.04 * pool[i].rank, reverse=True)
        order = order[:EMBEDDED_SENTENCES]
        vectors = await self._embedder.embed([pool[i].judged for i in order], "query")
        query = (await self._embedder.embed([question.text], "query"))[0]
        scored = [
            _scored(question, pool[i], coverages[i], float(vector @ query), vector)
            for i, vector in zip(order, vectors, strict=True)
        ]
        return sorted(scored, key=lambda s: s.score, reverse=True)

    def _compose(self, chosen: Sequence[Candidate], best: float, embedded: int, *, as_list: bool) -> Extract:
        numbers: dict[str, int] = {}
        sources: list[Source] = []
        parts: list[str] = []
        for position, candidate in enumerate(chosen):
            chunk_id = candidate.hit.chunk.id
            if chunk_id not in numbers:
                numbers[chunk_id] = len(numbers) + 1
                sources.append(Source(numbers[chunk_id], candidate.hit))
            text = neutralise(quotable(_BULLET.sub("", candidate.shown)))
            if as_list:
                space = "\n" if position else ""
                parts.append(f"{space}{position + 1}. {text} [{numbers[chunk_id]}]")
            else:
                rows = candidate.row or (position and chosen[position - 1].row)
                space = "" if not position else "\n" if rows else " "
                parts.append(f"{space}{text} [{numbers[chunk_id]}]")
        return Extract(tuple(parts), tuple(sources), True, best, embedded)


def numbered(hits: Sequence[Hit]) -> tuple[Source, ...]:
    """Hits as sources 1, 2, …"""
    return tuple(Source(n, hit) for n, hit in enumerate(hits, start=1))


def choose(question: Question, scored: Sequence[Scored]) -> list[Scored]:
    """The best sentence, and those close behind it that say something else; where a fact is asked for, one that holds such a fact."""
    fact = question.expectation in _FACTS
    limit, close = (MAX_FACTS, FACT_CLOSE_BEHIND) if fact else (MAX_SENTENCES, CLOSE_BEHIND)
    chosen: list[Scored] = []
    for candidate in scored:
        if len(chosen) == limit or candidate.score < close * scored[0].score:
            break
        if all(_says_something_else(candidate, other) for other in chosen):
            chosen.append(candidate)
    if fact and not any(s.expected for s in chosen):
        within = [s for s in scored if s.expected and s.score >= _WITHIN_REACH * scored[0].score]
        chosen = [*within[:1], *chosen[: limit - 1]]
    return chosen


def in_reading_order(chosen: Sequence[Scored]) -> list[Scored]:
    """Sentences of one file in the file's order; files in the order of their best sentence."""
    files = {r: i for i, r in reversed(list(enumerate(s.candidate.hit.chunk.resource_id for s in chosen)))}
    return sorted(
        chosen,
        key=lambda s: (files[s.candidate.hit.chunk.resource_id], s.candidate.hit.chunk.ordinal, s.candidate.start),
    )


def _scored(
    question: Question, candidate: Candidate, coverage: float, similarity: float, vector: FloatMatrix
) -> Scored:
    expected = question.meets_expectation(candidate.shown)
    score = 0.65 * max(similarity, 0.0) + 0.25 * coverage + 0.1 * expected
    if candidate.shown.rstrip().endswith("?"):
        score *= 0.7
    asked, within = _in_ranges(question, candidate.shown)
    if asked:
        score *= 1.0 if within else 0.8
    if candidate.row:
        score *= 1.0 if within else 0.85 + 0.15 * _label_share(question, candidate)
    elif len(candidate.shown.split()) < _SHORTEST or _ADDRESS.search(candidate.shown):
        score *= 0.7
    return Scored(candidate, similarity, coverage, expected, score, vector)


def _label_share(question: Question, candidate: Candidate) -> float:
    """How much of one of a table row's cells the question names: a row about something else answers nothing."""
    terms = set(question.terms)
    cells = [set(analyze(cell, question.language)) for cell in candidate.row]
    return max((len(cell & terms) / len(cell) for cell in cells if cell), default=0.0)


def _in_ranges(question: Question, text: str) -> tuple[bool, set[str]]:
    """Whether the question has numbers and the text ranges; and those numbers that lie within one: 45 in "31 to 60 days"."""
    numbers = [number for number in question.terms if _NUMBER.fullmatch(number)]
    ranges = [(int(m[1]), int(m[2])) for m in _RANGE.finditer(text)] if numbers else []
    within = {number for number in numbers if any(low <= int(number) <= high for low, high in ranges)}
    return bool(ranges), within


def _says_something_else(one: Scored, other: Scored) -> bool:
    if float(np.dot(one.vector, other.vector)) > 0.93:
        return False
    a, b = (set(analyze(s.candidate.shown, None)) for s in (one, other))
    return not a or not b or len(a & b) / min(len(a), len(b)) < 0.8


def counting(question: Question, scored: Sequence[Scored]) -> list[Scored]:
    """Of what is near the question, the statements that say how many; none where the best of them is far behind others."""
    able = [s for s in scored if _counts(question, s)]
    return able if able and able[0].score >= _WITHIN_REACH * scored[0].score else []


def _counts(question: Question, scored: Scored) -> bool:
    """Whether a statement may say how many: it holds a number, and names what is counted or is near in other words."""
    if not scored.expected:
        return False
    candidate = scored.candidate
    text = " ".join((candidate.shown, *(candidate.hit.chunk.locator.headings if candidate.row else ())))
    return scored.similarity >= _NEAR_ENOUGH or bool(set(question.counted) & set(analyze(text, question.language)))


def _pool(question: Question, hits: Sequence[Hit]) -> tuple[list[Candidate], list[float]]:
    """The candidates, and how much of the question each holds."""
    # What stands there many times over is judged once, or it would leave no room for anything else.
    unique: dict[str, Candidate] = {}
    for candidate in candidates(hits):
        unique.setdefault(candidate.judged, candidate)
    pool = list(unique.values())
    idf = _idf(question, pool)
    return pool, [_coverage(question, candidate, idf) for candidate in pool]


def _idf(question: Question, pool: Sequence[Candidate]) -> dict[str, float]:
    """Rarity of the question's terms among the candidates."""
    counts: Counter[str] = Counter()
    for candidate in pool:
        counts.update(set(analyze(candidate.shown, question.language)) & set(question.terms))
    return {term: math.log(1 + (len(pool) + 1) / (counts[term] + 0.5)) for term in question.terms}


def _coverage(question: Question, candidate: Candidate, idf: dict[str, float]) -> float:
    """Share of the question's terms, by rarity, that stand in the statement; half of a term's weight for headings and table headers."""
    total = sum(idf.values())
    if not total:
        return 0.0
    own = set(analyze(" ".join(candidate.row) or candidate.shown, question.language))
    own |= _in_ranges(question, candidate.shown)[1]
    if candidate.row and _label_share(question, candidate) == 1.0:
        own |= set(analyze(candidate.shown, question.language))
    chunk = candidate.hit.chunk
    over = (*chunk.locator.headings, chunk.context, candidate.hit.filename, candidate.shown if candidate.row else "")
    above = set(analyze(" ".join(over), question.language))
    return sum(idf[t] * (1.0 if t in own else 0.5 if t in above else 0.0) for t in question.terms) / total
