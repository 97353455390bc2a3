"""Answers without a model: the sentences that answer, in order, without repetition, each with its citation."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from citewell.agent.citations.bracketed import escape_markers
from citewell.agent.citations.markdown import neutralise
from citewell.agent.extractive.lists import find_item_groups, find_steps
from citewell.agent.extractive.scoring import ScoredStatement, StatementScorer
from citewell.agent.extractive.thresholds import THRESHOLDS, ExtractiveThresholds
from citewell.agent.interface import NO_ANSWER, Source
from citewell.agent.offload import offload
from citewell.agent.statements import Statement
from citewell.agent.understand.question import Expectation, Question, read_question
from citewell.ports import Embedder
from citewell.text.analysis import analyze
from citewell.types import Hit

_FACTS = frozenset({Expectation.NUMBER, Expectation.MONEY, Expectation.DATE, Expectation.PERSON, Expectation.PLACE})
_BULLET = re.compile(r"^(?:[-*•‣▪]\s+|\(?\d{1,3}[.)]\s+)")


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
    """Picks the statements of given passages that answer a question, or says that they hold no answer."""

    def __init__(self, embedder: Embedder, thresholds: ExtractiveThresholds = THRESHOLDS) -> None:
        self._embedder = embedder
        self._thresholds = thresholds
        self._scorer = StatementScorer(embedder, thresholds)

    async def answer(self, question_text: str, hits: Sequence[Hit], more: Sequence[Hit] = ()) -> Extract:
        """The answer from `hits`; `answered` is False when they hold none. The items of a list may also be in `more`."""
        question = await offload(len(question_text), read_question, question_text)
        scored = self._scorer.keep_counts(question, await self._scorer.score(question, hits))
        confidence, answerable, embedded = await self._judge(question, scored, hits)
        if question.wants_list:
            items, strength = await self._list(question, [*hits, *more], scored)
            if len(items) >= 2 and (answerable or strength >= self._thresholds.list_answers):
                return self._compose(items, max(confidence, strength), embedded, as_list=True)
        if not answerable:
            return Extract((NO_ANSWER,), number_hits(hits[:3]), False, confidence, embedded)
        chosen = choose(question, scored, self._thresholds)
        if question.expectation in _FACTS:
            chosen.sort(key=lambda s: (not s.expected, -s.score))
        else:
            chosen = in_reading_order(chosen)
        return self._compose([s.statement for s in chosen], confidence, embedded, as_list=False)

    async def _judge(
        self, question: Question, scored: Sequence[ScoredStatement], hits: Sequence[Hit]
    ) -> tuple[float, bool, int]:
        """Confidence, whether there is an answer, and how many texts were embedded in all."""
        if not scored:
            return 0.0, False, 0
        limits = self._thresholds
        nearest = max(s.similarity for s in scored)
        terms = limits.terms_weight * max(s.coverage for s in scored)
        first = limits.sentence_weight * nearest + terms
        if not limits.refuse <= first < limits.accept:
            return first, first >= limits.accept, len(scored) + 1
        texts = [hit.chunk.text for hit in hits[: limits.whole_passages]]
        vectors = await self._embedder.embed([question.text, *texts], "query")
        passage = float((vectors[1:] @ vectors[0]).max())
        second = limits.sentence_weight / 2 * (nearest + passage) + terms
        return second, second >= limits.second, len(scored) + 1 + len(vectors)

    async def _list(
        self, question: Question, hits: Sequence[Hit], scored: Sequence[ScoredStatement]
    ) -> tuple[list[Statement], float]:
        """The items of the list that answers, and its similarity to the question.

        Numbered steps of the best file (whose similarity is that of its statements), else the list whose heading and items are nearest.
        """
        best = [s.statement for s in scored[:3]]
        if steps := find_steps(question, hits, best):
            return steps, 0.0
        groups = find_item_groups(hits)
        if not groups or not scored:
            return [], 0.0
        limits = self._thresholds
        shown = [" ".join((group[0].heading, *(item.shown for item in group))) for group in groups]
        texts = [text[: limits.list_characters] for text in shown]
        vectors = await self._embedder.embed([question.text, *texts], "query")
        near = vectors[1:] @ vectors[0]
        terms = set(question.terms)
        named = [len(terms & set(analyze(text, question.language))) / max(1, len(terms)) for text in texts]
        scores = [
            limits.similarity_weight * float(similarity) + limits.coverage_weight * share
            for similarity, share in zip(near, named, strict=True)
        ]
        top = max(range(len(groups)), key=lambda i: scores[i])
        return (groups[top] if scores[top] >= limits.list_share * scored[0].score else []), float(near[top])

    def _compose(self, chosen: Sequence[Statement], best: float, embedded: int, *, as_list: bool) -> Extract:
        numbers: dict[str, int] = {}
        sources: list[Source] = []
        parts: list[str] = []
        for position, statement in enumerate(chosen):
            chunk_id = statement.hit.chunk.id
            if chunk_id not in numbers:
                numbers[chunk_id] = len(numbers) + 1
                sources.append(Source(numbers[chunk_id], statement.hit))
            text = neutralise(escape_markers(_BULLET.sub("", statement.shown)))
            if as_list:
                space = "\n" if position else ""
                parts.append(f"{space}{position + 1}. {text} [{numbers[chunk_id]}]")
            else:
                rows = statement.row or (position and chosen[position - 1].row)
                space = "" if not position else "\n" if rows else " "
                parts.append(f"{space}{text} [{numbers[chunk_id]}]")
        return Extract(tuple(parts), tuple(sources), True, best, embedded)


def number_hits(hits: Sequence[Hit]) -> tuple[Source, ...]:
    """Hits as sources 1, 2, …"""
    return tuple(Source(n, hit) for n, hit in enumerate(hits, start=1))


def choose(
    question: Question, scored: Sequence[ScoredStatement], limits: ExtractiveThresholds = THRESHOLDS
) -> list[ScoredStatement]:
    """The best statement, and those close to it that say something else; where a fact is asked for, one that holds such a fact."""
    fact = question.expectation in _FACTS
    most, close = (limits.max_facts, limits.close_fact) if fact else (limits.max_sentences, limits.close)
    chosen: list[ScoredStatement] = []
    for candidate in scored:
        if len(chosen) == most or candidate.score < close * scored[0].score:
            break
        if all(_says_something_else(candidate, other, limits) for other in chosen):
            chosen.append(candidate)
    if fact and not any(s.expected for s in chosen):
        within = [s for s in scored if s.expected and s.score >= limits.within_reach * scored[0].score]
        chosen = [*within[:1], *chosen[: most - 1]] or chosen[:1]
    return chosen


def in_reading_order(chosen: Sequence[ScoredStatement]) -> list[ScoredStatement]:
    """Statements of one file in the file's order; files in the order of their best statement."""
    files = {r: i for i, r in reversed(list(enumerate(s.statement.hit.chunk.resource_id for s in chosen)))}
    return sorted(
        chosen,
        key=lambda s: (files[s.statement.hit.chunk.resource_id], s.statement.hit.chunk.ordinal, s.statement.start),
    )


def _says_something_else(one: ScoredStatement, other: ScoredStatement, limits: ExtractiveThresholds) -> bool:
    if float(np.dot(one.vector, other.vector)) > limits.same_meaning:
        return False
    a, b = (set(analyze(s.statement.shown, None)) for s in (one, other))
    return not a or not b or len(a & b) / min(len(a), len(b)) < limits.same_words
