"""How well each statement of some passages answers a question."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from citewell.agent.extractive.interaction import Nearness, NearnessMeter, similarities
from citewell.agent.extractive.thresholds import ExtractiveThresholds
from citewell.agent.interface import AnswerReader
from citewell.agent.offload import offload
from citewell.agent.statements import Statement, cut_statements, under_headings
from citewell.agent.understand.question import Expectation, Question, QuestionPart
from citewell.ports import Embedder, FloatMatrix
from citewell.text.analysis import analyze
from citewell.text.language import detect_language
from citewell.types import ChunkType, Hit, StatementRead

_RANGE = re.compile(r"\b(\d{1,9})\s*(?:-|–|—|to|bis|à)\s*(\d{1,9})\b")
_NUMBER = re.compile(r"\b\d{1,9}\b")
_ADDRESS = re.compile(r"https?:/|\bwww\.", re.I)
_SENTENCE = re.compile(r"\w\W+\w+\W+\w.*[.!。！][\"'”’»)]*\s*\Z", re.S)
_LABELLED = re.compile(r"[^\W\d_][\w -]{0,30}+:\s+(?P<value>\S.*)", re.S)
_WORD = re.compile(r"\w+")
_QUOTED_TERMS = 3  # of a question, from which a statement that holds it word by word quotes it
_HEADLINE_WORDS = 4
_SMALL_WORD = 3  # letters up to which headlines write a word small
_LARGE_SHARE = 0.8
_UNSPECIFIC = frozenset({"peopl", "person", "time", "way", "thing"})


@dataclass(frozen=True, slots=True)
class Read:
    """What the reader says of a statement: `answer`, which is `shown[start:end]`, answers, with this probability, whose log-odds are `sure`."""

    probability: float
    answer: str
    start: int
    end: int
    sure: float = 0.0


@dataclass(frozen=True, slots=True)
class ScoredStatement:
    """A statement with the parts of its score, each in 0..1 (similarities may be below 0).

    similarity:  cosine of the statement and the question
    interaction: mean over the question's tokens of the greatest cosine with a token of the statement
    coverage:    share of the question's terms that it holds; `around`: that it and the statement before it hold
    passage:     cosine of its passage and the question
    own:         the interaction with what was asked alone, without words that a thread added
    by_part:     of a question of several parts, the score for each of them
    read:        probability that it holds an answer, and which words are it, as the reader says; None where it did not read it
    unread:      the score without it, and lower for a sentence that only affirms what is asked, which passages about it often hold
    across:      whether it is in another language than the question, and a model that reads both has compared them
    """

    statement: Statement
    similarity: float
    interaction: float
    coverage: float
    around: float
    passage: float
    expected: bool
    score: float
    vector: FloatMatrix
    by_part: tuple[float, ...] = ()
    own: float = 0.0
    read: Read | None = None
    unread: float = 0.0
    across: bool = False


@dataclass(frozen=True, slots=True)
class _Candidate:
    statement: Statement
    before: str
    coverage: float
    around: float


class StatementScorer:
    """Scores statements by how near they and their passages are to the question, by the share of the question's terms in them and in
    the statement before, by whether they hold the kind of thing asked for, and by what a reader says, if there is one."""

    def __init__(
        self,
        embedder: Embedder,
        thresholds: ExtractiveThresholds,
        reader: AnswerReader | None = None,
        across: Embedder | None = None,
    ) -> None:
        """reader: reads neither rows of tables nor pictures; across: a model of many languages, for what is in another language than the question."""
        self._meter = NearnessMeter(embedder)
        self._embedder = embedder
        self._thresholds = thresholds
        self._reader = reader
        self._across = across

    async def score(
        self, question: Question, hits: Sequence[Hit], asked: int | None = None, *, read: bool = True
    ) -> list[ScoredStatement]:
        """The statements worth embedding, best first. What a table is made of answers only a question about tables.

        asked: the characters of the question before words that a thread added; None for all.
        read:  whether the reader is asked; not where everything that fits is wanted, such as pictures.
        """
        limits = self._thresholds
        allowed = [h for h in hits if h.chunk.type is not ChunkType.SUMMARY or question.about_tables]
        characters = len(question.text) + sum(len(hit.chunk.text) for hit in allowed)
        pool = await offload(characters, _pool, question, allowed, limits.heading_share)
        pool = _chosen(pool, limits)
        if not pool:
            return []
        near = await self._meter.measure(question.text, [c.statement.judged for c in pool])
        passages = ["" if c.statement.row else under_headings(c.statement.hit) for c in pool]
        across = await self._compared_across(question, [c.statement.judged for c in pool], passages)
        near = [_across(one, across[n]) if n in across else one for n, one in enumerate(near)]
        own = len(self._embedder.tokenizer.offsets(question.text[:asked]))
        nearest: dict[int, float] = {}
        for candidate, nearness in zip(pool, near, strict=True):
            rank = candidate.statement.rank
            nearest[rank] = max(nearest.get(rank, 0.0), nearness.similarity)
        scored = [
            replace(
                self._scored(question, candidate, nearness, nearest[candidate.statement.rank]),
                own=nearness.of_tokens(0, own),
                across=n in across,
            )
            for n, (candidate, nearness) in enumerate(zip(pool, near, strict=True))
        ]
        if read and self._reader is not None:
            scored = await self._read(self._reader, question, pool, scored)
        return sorted(scored, key=lambda s: s.score, reverse=True)

    async def nearness(self, question: Question, texts: Sequence[str]) -> list[float]:
        """The similarity of each text to the question, by the model that reads both."""
        vectors = await self._embedder.embed([question.text, *texts], "query")
        across = await self._compared_across(question, texts, texts)
        return [across.get(n, float(vector @ vectors[0])) for n, vector in enumerate(vectors[1:])]

    async def _compared_across(
        self, question: Question, texts: Sequence[str], passages: Sequence[str]
    ) -> dict[int, float]:
        """The similarity to the question, by their places, of those texts whose passage is in another language."""
        if self._across is None:
            return {}
        languages = await offload(sum(map(len, passages)), _languages, passages)
        asked = question.language or "en"
        places = [n for n in range(len(texts)) if (languages[passages[n]] or "en") != asked]
        found = await similarities(self._across, question.text, [texts[n] for n in places])
        return dict(zip(places, found, strict=True)) if found else {}

    async def _read(
        self,
        reader: AnswerReader,
        question: Question,
        pool: Sequence[_Candidate],
        scored: Sequence[ScoredStatement],
    ) -> list[ScoredStatement]:
        """The statements with what the reader says of them.

        One that it cannot read counts as probable as the best of the others without it. Of those that say the same of different things,
        the search knows better than the reader which is meant: all of them are as probable as the most probable one.
        """
        prose = [index for index, candidate in enumerate(pool) if _is_prose(candidate.statement)]
        if not prose:
            return list(scored)
        texts = [StatementRead(pool[index].statement.shown, pool[index].before) for index in prose]
        found: dict[int, Read] = {}
        for index, span in zip(prose, await reader.read(question.text, texts), strict=True):
            answer = pool[index].statement.shown[span.start : span.end]
            probability = 1.0 / (1.0 + math.exp(-self._thresholds.read_scale * span.sure))
            found[index] = Read(probability, answer, span.start, span.end, span.sure)
        likely = self._likely({index: scored[index] for index in prose}, found)
        best, share = max(prose, key=lambda index: scored[index].score), self._thresholds.read_weight
        return [
            replace(
                one,
                score=(1 - share) * one.score
                + share * likely.get(index, likely[best]) * self._factor(question, one.statement),
                read=found.get(index),
            )
            for index, one in enumerate(scored)
        ]

    def _likely(self, scored: Mapping[int, ScoredStatement], found: Mapping[int, Read]) -> dict[int, float]:
        """For each statement the greatest probability of those that say the same."""
        terms = {index: set(analyze(one.statement.shown, None)) for index, one in scored.items()}
        return {
            index: max(
                read.probability
                for other, read in found.items()
                if other == index or _alike(one, scored[other], terms[index], terms[other], self._thresholds)
            )
            for index, one in scored.items()
        }

    def keep_counts(self, question: Question, scored: Sequence[ScoredStatement]) -> list[ScoredStatement]:
        """For "how many …": the statements that say how many; none where the best of them is far below the best of all.

        For any other question, all of them.
        """
        if not set(question.counted) - _UNSPECIFIC or question.wants_list:
            return list(scored)
        able = [s for s in scored if self._counts(question, s)]
        return able if able and able[0].score >= self._thresholds.within_reach * scored[0].score else []

    def _scored(
        self, question: Question, candidate: _Candidate, nearness: Nearness, nearest_of_passage: float
    ) -> ScoredStatement:
        limits = self._thresholds
        statement = candidate.statement
        similarity = statement.hit.scores.similarity
        passage = nearest_of_passage if similarity is None else similarity
        expected = question.meets_expectation(statement.shown)
        context = limits.around_weight * candidate.around + limits.passage_weight * max(passage, 0.0)
        own = limits.interaction_weight * max(nearness.interaction, 0.0) + limits.coverage_weight * candidate.coverage
        factor = self._factor(question, statement)
        score = (own + context + limits.expected_weight * expected) * factor
        unread = score * (limits.asking if _affirms(question, statement) else 1.0)
        return ScoredStatement(
            statement,
            nearness.similarity,
            nearness.interaction,
            candidate.coverage,
            candidate.around,
            passage,
            expected,
            score,
            nearness.vector,
            tuple(self._for_part(part, statement, nearness) * factor for part in question.parts),
            unread=unread,
        )

    def _for_part(self, part: QuestionPart, statement: Statement, nearness: Nearness) -> float:
        """How well a statement answers one part of a question, by the part's own words and the kind of thing it asks for."""
        limits = self._thresholds
        text = part.question.text
        offsets = self._embedder.tokenizer.offsets
        before = len(offsets(part.before))
        own = set(analyze(statement.shown, part.question.language))
        coverage = len(own & set(part.question.terms)) / max(1, len(part.question.terms))
        return (
            limits.interaction_weight * max(nearness.of_tokens(before, before + len(offsets(text))), 0.0)
            + limits.coverage_weight * coverage
            + limits.expected_weight * part.question.meets_expectation(statement.shown)
        )

    def _factor(self, question: Question, statement: Statement) -> float:
        """Below 1 for a statement that cannot answer by itself."""
        limits = self._thresholds
        factor = 1.0
        if (
            statement.shown.rstrip().endswith("?")
            or _repeats(question, statement)
            or _is_of_another_label(question, statement)
        ):
            factor *= limits.asking
        has_ranges, within = _in_ranges(question, statement.shown)
        if has_ranges:
            factor *= 1.0 if within else limits.outside_range
        if statement.row:
            factor *= 1.0 if within else limits.row_base + limits.row_label * _label_share(question, statement)
        elif _is_fragment(statement.shown, limits.fragment_words):
            factor *= limits.fragment
        return factor

    def _counts(self, question: Question, scored: ScoredStatement) -> bool:
        """Whether a statement may say how many: it holds a number, and names what is counted or is similar in other words."""
        if not scored.expected:
            return False
        statement = scored.statement
        text = " ".join((statement.shown, *(statement.hit.chunk.locator.headings if statement.row else ())))
        named = set(question.counted) & set(analyze(text, question.language))
        return scored.similarity >= self._thresholds.counted_otherwise or bool(named)


def say_the_same(one: ScoredStatement, other: ScoredStatement, limits: ExtractiveThresholds) -> bool:
    """Whether two statements mean the same, or have nearly all terms in common.

    Those of two files that differ in their figures do not: one may replace or contradict the other.
    """
    if one.statement.hit.chunk.resource_id != other.statement.hit.chunk.resource_id:
        figures, others_figures = (set(_NUMBER.findall(s.statement.shown)) for s in (one, other))
        if figures - others_figures and others_figures - figures:
            return False
    terms, others = (set(analyze(s.statement.shown, None)) for s in (one, other))
    return _alike(one, other, terms, others, limits)


def _alike(
    one: ScoredStatement, other: ScoredStatement, terms: set[str], others: set[str], limits: ExtractiveThresholds
) -> bool:
    if float(np.dot(one.vector, other.vector)) > limits.same_meaning:
        return True
    return bool(terms and others) and len(terms & others) / min(len(terms), len(others)) >= limits.same_words


def _languages(texts: Sequence[str]) -> dict[str, str | None]:
    return {text: detect_language(text) for text in set(texts)}


def _across(nearness: Nearness, similarity: float) -> Nearness:
    """The nearness as another model has it, which compares no tokens."""
    return replace(nearness, similarity=similarity, interaction=similarity, by_token=nearness.by_token[:0])


def _is_prose(statement: Statement) -> bool:
    """Whether a reader can read it: no row of a table, and not what a picture shows, whose descriptions say nothing of the file."""
    return not statement.row and statement.hit.chunk.type is not ChunkType.IMAGE


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


def _chosen(pool: Sequence[_Candidate], limits: ExtractiveThresholds) -> list[_Candidate]:
    """Those that hold most of the question's terms; where none holds many, as in another language, the first ones of what was found, too."""
    ranked = sorted(pool, key=lambda c: c.coverage - limits.rank_cost * c.statement.rank, reverse=True)
    chosen, others = ranked[: limits.embedded], ranked[limits.embedded :]
    if not chosen or chosen[0].coverage >= limits.worded:
        return chosen
    return [*chosen, *sorted(others, key=lambda c: c.statement.rank)[: limits.unworded]]


def _pool(question: Question, hits: Sequence[Hit], heading_share: float) -> list[_Candidate]:
    """The statements, how much of the question each holds, and how much together with the one before it in its passage."""
    statements = cut_statements(hits)
    # What is repeated is judged once, or it would leave no room for anything else.
    unique: dict[str, tuple[Statement, Statement | None]] = {}
    for before, statement in zip((None, *statements), statements, strict=False):
        follows = before is not None and before.rank == statement.rank and not statement.row
        unique.setdefault(statement.judged, (statement, before if follows else None))
    idf = _idf(question, [statement for statement, _ in unique.values()])
    return [
        _Candidate(
            statement,
            before.shown if before is not None else statement.heading,
            _coverage(question, statement, idf, heading_share),
            _held_around(question, statement, before, idf),
        )
        for statement, before in unique.values()
    ]


def _held_around(question: Question, statement: Statement, before: Statement | None, idf: dict[str, float]) -> float:
    total = sum(idf.values())
    text = statement.shown if before is None else f"{before.shown} {statement.shown}"
    held = set(analyze(text, question.language)) & set(question.terms)
    return sum(idf[term] for term in held) / total if total else 0.0


def _repeats(question: Question, statement: Statement) -> bool:
    """Whether a statement says nothing that the question does not, or quotes the question: a heading of an FAQ, code that asks it.

    What a line of a list says, it says under its heading. A sentence that says the same is the answer where neither a fact nor a
    definition is asked for: to "Is the cap compulsory?", "The cap is compulsory."
    """
    if statement.row:
        return False
    text = statement.judged if statement.item else statement.shown
    said = set(analyze(text, question.language))
    affirms = question.expectation is Expectation.ANY and _SENTENCE.search(statement.shown) is not None
    return (
        (said <= set(question.terms) and not affirms)
        or _repeats_its_heading(question, statement)
        or (len(question.terms) >= _QUOTED_TERMS and _plain(question.text) in _plain(statement.shown))
    )


def _is_of_another_label(question: Question, statement: Statement) -> bool:
    """Whether a labelled line has no word of the question: the date of an e-mail is not that of what it announces."""
    if statement.row or _LABELLED.match(statement.shown) is None:
        return False
    return not set(analyze(statement.shown, question.language)) & set(question.terms)


def _affirms(question: Question, statement: Statement) -> bool:
    """Whether a sentence says what is asked and no more, where neither a fact nor a definition is asked for."""
    if statement.row or question.expectation is not Expectation.ANY or not _SENTENCE.search(statement.shown):
        return False
    return set(analyze(statement.shown, question.language)) <= set(question.terms)


def _repeats_its_heading(question: Question, statement: Statement) -> bool:
    """Whether a labelled line says nothing that its heading does not: the subject of an e-mail, the title of a form."""
    label = _LABELLED.match(statement.shown)
    if label is None or not statement.heading:
        return False
    return set(analyze(label["value"], question.language)) <= set(analyze(statement.heading, question.language))


def _plain(text: str) -> str:
    return " ".join(_WORD.findall(text.lower()))


def _is_fragment(text: str, fewest_words: int) -> bool:
    """A few words, an address, or a headline: a line without an end whose words are nearly all written large."""
    words = text.split()
    if len(words) < fewest_words or _ADDRESS.search(text):
        return True
    if len(words) < _HEADLINE_WORDS or text.rstrip("\"'”’»)]*_ ").endswith(
        (".", "!", "?", "…", ":", ";", "。", "！", "？")
    ):
        return False
    long = [word for word in words if len(word) > _SMALL_WORD]
    return not any(c.isdigit() for c in text) and sum(word[0].isupper() for word in long) >= _LARGE_SHARE * len(long)


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
