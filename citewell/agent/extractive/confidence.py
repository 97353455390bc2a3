"""How probable it is that passages answer a question: whether they are about it, and whether one of their statements says it.

A passage of another subject may share a few words, and one of the right subject may not say what is asked. So what speaks for the
passage and what speaks for the statement are weighed together, by a logistic regression.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from citewell.agent.extractive.scoring import ScoredStatement
from citewell.agent.extractive.thresholds import ExtractiveThresholds
from citewell.agent.statements import under_headings
from citewell.agent.understand.question import Question, asks_whether
from citewell.text.analysis import analyze
from citewell.types import Hit

TELLING = frozenset(analyze("describe discuss mention", "en"))
"""Terms for what a document does with its subject, which it does not say of itself."""


@dataclass(frozen=True, slots=True)
class AnswerEvidence:
    """What speaks for an answer; all but `rank` and what is read in 0..1.

    score:   of the best statement (`citewell.agent.extractive.scoring`), without what the reader says
    passage: the greatest similarity of a passage to the question
    own:     the greatest mean, over the tokens of the message without what a thread added, of the cosine with a statement's nearest token
    held:    share of the message's terms that the best statement's passage holds, those rare among the passages counting more
    agreed:  whether search by meaning and search by words find the same passage first
    whether: whether the message asks for yes or no, in English, which few passages say
    read:    the reader's log-odds that a statement answers, of the one that it is surest of; None without a reader
    first:   the same of the best statement; None of one that is not read, such as a row
    row:     whether the best statement is a row of a table in the question's language
    rank:    the place of its passage among those found, from 0
    """

    score: float
    passage: float
    own: float
    held: float
    agreed: bool
    whether: bool
    read: float | None = None
    first: float | None = None
    row: bool = False
    rank: int = 0


def weigh(evidence: AnswerEvidence, limits: ExtractiveThresholds) -> float:
    """The probability of an answer, 0..1: where nothing was read, were there one to every second question."""
    if evidence.read is not None:
        total = (
            limits.read_sure * _bounded(evidence.read, limits)
            + limits.first_sure * _bounded(evidence.first, limits)
            + limits.row_sure * evidence.row
            + limits.nearness_sure * evidence.own
            + limits.best_sure * evidence.score
            + limits.rank_sure * min(evidence.rank, limits.rank_most)
            + limits.sure_read
        )
    else:
        total = (
            limits.score_sure * evidence.score
            + limits.passage_sure * evidence.passage
            + limits.own_sure * evidence.own
            + limits.held_sure * evidence.held
            + limits.agreed_sure * evidence.agreed
            + limits.whether_sure * evidence.whether
            + limits.sure
        )
    return 1.0 / (1.0 + math.exp(-total))


def _bounded(read: float | None, limits: ExtractiveThresholds) -> float:
    return -limits.read_most if read is None else max(-limits.read_most, min(limits.read_most, read))


def is_answered(evidence: AnswerEvidence, limits: ExtractiveThresholds) -> bool:
    """Whether the probability is high enough for an answer."""
    return weigh(evidence, limits) >= (limits.answer if evidence.read is None else limits.answer_read)


def gather(question: Question, message: str, scored: Sequence[ScoredStatement], hits: Sequence[Hit]) -> AnswerEvidence:
    """The evidence for statements, at least one, of these passages; `message` as it was written."""
    best = max(scored, key=lambda one: one.unread)
    first = max(scored, key=lambda one: one.score)
    return AnswerEvidence(
        score=best.unread,
        passage=max(one.passage for one in scored),
        own=max(one.own for one in scored),
        held=_held(question, message, best.statement.hit, hits),
        agreed=_agreed(hits),
        whether=question.language in (None, "en") and asks_whether(message),
        read=max((one.read.sure for one in scored if one.read is not None), default=None),
        first=first.read.sure if first.read is not None else None,
        row=bool(first.statement.row) and not first.across,
        rank=first.statement.rank,
    )


def _held(question: Question, message: str, best: Hit, hits: Sequence[Hit]) -> float:
    terms = set(analyze(message, question.language, query=True)) - TELLING
    found = [set(analyze(under_headings(hit), question.language)) for hit in hits]
    rarity = {term: math.log(1 + (len(hits) + 1) / (sum(term in one for one in found) + 0.5)) for term in terms}
    total = sum(rarity.values())
    own = set(analyze(under_headings(best), question.language))
    return sum(weight for term, weight in rarity.items() if term in own) / total if total else 1.0


def _agreed(hits: Sequence[Hit]) -> bool:
    pairs = [(hit.scores.dense, hit.scores.lexical) for hit in hits]
    dense = max((d for d, _ in pairs if d is not None), default=None)
    lexical = max((w for _, w in pairs if w is not None), default=None)
    return dense is not None and lexical is not None and (dense, lexical) in pairs
