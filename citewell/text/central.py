"""The central sentences of a text: which few of its own sentences say best what the whole is about, from its front to its end."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from citewell.text.analysis import analyze
from citewell.text.sentences import sentence_spans


@dataclass(frozen=True, slots=True, kw_only=True)
class CentralThresholds:
    """Weights and limits of choosing sentences, set by hand on the sample files; see `docs/algorithms/summaries.md`.

    min_characters:   of a sentence that may be chosen; shorter ones are labels
    max_characters:   of it; longer ones are lists or badly divided
    min_words:        words of it
    letters:          share of its characters that are letters or spaces; less is a formula, a table a line of contents, or an address
    passage_weight:   of the similarity of its passage to the mean of all passages, scaled to 0..1
    word_weight:      of how common its words are among all sentences, scaled to 0..1
    opening_weight:   of being the first sentence of its passage
    front_weight:     of being in the first passage, where a text says what it is
    first_weight:     of being the first sentence of the text, which has nothing before it to refer to
    lowercase:        share of its words with a letter that begin with a small one, in scripts that have them; less is a name or a reference
    short_line:       a line of less than this share of the longest line of a sentence ends what comes before the sentence
    title_weight:     of the share of the title's words that it has
    leaning_cost:     of beginning with a word that refers to the sentence before
    overlap_cost:     of the share of its words that are in a sentence already chosen
    least_share:      a part of the text whose best sentence scores less than this share of the best of all stays out
    own_sentences:    at most, of those in which the text sums itself up
    damping:          words added to a sentence's own when its words are averaged, so that short sentences do not win
    """

    min_characters: int = 40
    max_characters: int = 350
    min_words: int = 6
    letters: float = 0.75
    passage_weight: float = 1.0
    word_weight: float = 1.0
    opening_weight: float = 0.3
    front_weight: float = 0.9
    first_weight: float = 0.6
    lowercase: float = 0.45
    short_line: float = 0.6
    title_weight: float = 0.5
    leaning_cost: float = 0.6
    overlap_cost: float = 1.0
    least_share: float = 0.5
    own_sentences: int = 3
    damping: int = 4


_THRESHOLDS = CentralThresholds()
_LEANING = re.compile(
    r"(?:this|these|that|those|it|its|they|their|he|his|she|her|such|however|therefore|thus|moreover|furthermore|also|but|and|or|so|then|here|in addition"
    r"|for example|for instance|as a result)\b",
    re.I,
)
_LISTED = re.compile(r"\||\s[•‣▪]\s|\.{4}|\. \. \.|://")  # rows, several items of a list, lines of contents, addresses
_END = tuple(".!?。！？…।။؟")
_MARK = re.compile(r"(?:[-*•‣▪]\s+|\(?\d{1,3}[.)]\s+|#+\s+)")


_OWN = frozenset({
    "summary", "executive summary", "management summary", "abstract", "synopsis", "in brief", "at a glance", "key points", "key findings",
    "zusammenfassung", "kurzfassung", "auf einen blick", "résumé", "synthèse", "en bref", "resumen", "resumen ejecutivo", "síntesis",
    "sommario", "riassunto", "sintesi", "resumo", "samenvatting", "streszczenie", "sammanfattning", "sammendrag", "resumé", "tiivistelmä",
    "shrnutí", "souhrn", "özet", "περίληψη", "резюме", "аннотация", "краткое содержание", "анотація", "תקציר", "ملخص", "الملخص", "सारांश",
    "要約", "摘要", "概要", "초록", "요약",
})  # fmt: skip
_NUMBERING = re.compile(r"^[\W\d_]+|[\W_]+$")


def sums_up(heading: str) -> bool:
    """Whether a heading is what documents call their own summary by."""
    return len(heading) < _THRESHOLDS.min_characters and _NUMBERING.sub("", heading.casefold()) in _OWN


@dataclass(frozen=True, slots=True)
class Quote:
    """A sentence of a passage: `passages[passage][start:end]`."""

    passage: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class _Candidate:
    quote: Quote
    text: str
    terms: frozenset[str]
    opens: bool
    is_first: bool


def central_sentences(
    passages: Sequence[str],
    vectors: npt.NDArray[np.float32] | None,
    most: int,
    title: str = "",
    language: str | None = None,
    own: Container[int] = (),
) -> list[Quote]:
    """At most `most` sentences in reading order, from different parts of the text, chosen by the words and passages that are typical of it.

    own:     the passages in which the text sums itself up, whose first sentences are taken before any other
    vectors: shape (len(passages), dimensions), unit rows; None chooses by words alone. Where a text has too few whole
    sentences (slides, lists), its longer lines count.
    """
    candidates = _candidates(passages, language, whole=True)
    if len(candidates) < min(most, 3):
        candidates = _candidates(passages, language, whole=False)
    if not candidates:
        return []
    scores = _scores(candidates, len(passages), vectors, frozenset(analyze(title, language)))
    parts = _parts(passages, most)
    # Being the first says nothing of how good the others must be.
    best = max(
        score - _THRESHOLDS.first_weight * candidate.is_first
        for candidate, score in zip(candidates, scores, strict=True)
    )
    chosen = [one for one in candidates if one.quote.passage in own][: min(_THRESHOLDS.own_sentences, most)]
    told = {parts[one.quote.passage] for one in chosen}
    for part in range(most):
        if part in told or len(chosen) == most:
            continue
        found = [
            (score - _overlap(candidate, chosen), -number, candidate)
            for number, (candidate, score) in enumerate(zip(candidates, scores, strict=True))
            if parts[candidate.quote.passage] == part
        ]
        if found and (top := max(found, key=lambda item: item[:2]))[0] >= _THRESHOLDS.least_share * best:
            chosen.append(top[2])
    _fill(chosen, candidates, scores, most if len(candidates) <= most else min(most, 3))
    return sorted((one.quote for one in chosen), key=lambda quote: (quote.passage, quote.start))


def _fill(chosen: list[_Candidate], candidates: Sequence[_Candidate], scores: Sequence[float], least: int) -> None:
    """Add the best of the rest until there are `least`: a short text has them all in one part."""
    waiting = [item for item in zip(scores, candidates, strict=True) if item[1] not in chosen]
    while waiting and len(chosen) < least:
        top = max(waiting, key=lambda item: item[0] - _overlap(item[1], chosen))
        waiting.remove(top)
        if _overlap(top[1], chosen) < _THRESHOLDS.least_share:
            chosen.append(top[1])


def _candidates(passages: Sequence[str], language: str | None, *, whole: bool) -> list[_Candidate]:
    found: list[_Candidate] = []
    known: set[str] = set()
    for passage, text in enumerate(passages):
        for number, (start, end) in enumerate(sentence_spans(text)):
            start = _after_labels(text, start, end)
            mark = _MARK.match(text, start, end)
            start = mark.end() if mark else start
            sentence = " ".join(text[start:end].split())
            if sentence.casefold() in known or not _is_prose(sentence, whole=whole):
                continue
            known.add(sentence.casefold())
            terms = frozenset(analyze(sentence, language))
            if terms:
                first = whole and not found
                found.append(_Candidate(Quote(passage, start, end), sentence, terms, number == 0, first))
    return found


def _after_labels(text: str, start: int, end: int) -> int:
    """Where a sentence begins that has lines of labels before it: after the last line but its own last one that ends early."""
    lines = text[start:end].splitlines(keepends=True)
    longest = max(map(len, lines), default=0)
    if len(lines) == 1 or longest < _THRESHOLDS.min_characters:
        return start
    kept = len(lines) - 1
    while kept and len(lines[kept - 1].rstrip()) >= _THRESHOLDS.short_line * longest:
        kept -= 1
    return start + sum(map(len, lines[:kept]))


def _is_prose(sentence: str, *, whole: bool) -> bool:
    limits = _THRESHOLDS
    if len(sentence) > limits.max_characters or _LISTED.search(sentence):
        return False
    wide = sum("\u3000" <= character <= "\u9fff" for character in sentence)  # about a word each, without spaces
    if len(sentence) + 2 * wide < (limits.min_characters if whole else limits.min_characters // 2):
        return False
    if len(sentence.split()) + wide // 2 < (limits.min_words if whole else limits.min_words // 2):
        return False
    if sum(c.isalpha() or c.isspace() for c in sentence) < limits.letters * len(sentence):
        return False
    if whole and _is_of_names(sentence):
        return False
    return not whole or (sentence.rstrip("\"'”’)]»").endswith(_END) and not sentence[0].islower())


def _is_of_names(sentence: str) -> bool:
    """Whether few of its words begin with a small letter."""
    initials = [next((c for c in word if c.isalpha()), "") for word in sentence.split()]
    cased = [c for c in initials if c and c.lower() != c.upper()]
    return sum(c.islower() for c in cased) < _THRESHOLDS.lowercase * len(cased)


def _scores(
    candidates: Sequence[_Candidate],
    passages: int,
    vectors: npt.NDArray[np.float32] | None,
    title: frozenset[str],
) -> list[float]:
    limits = _THRESHOLDS
    central = _centrality(passages, vectors)
    counts = Counter(term for candidate in candidates for term in candidate.terms)
    common = [
        sum(counts[term] for term in candidate.terms) / (len(candidate.terms) + limits.damping)
        for candidate in candidates
    ]
    top = max(common)
    return [
        limits.passage_weight * central[candidate.quote.passage]
        + limits.word_weight * word / top
        + limits.opening_weight * candidate.opens
        + limits.front_weight * (candidate.quote.passage == 0)
        + limits.title_weight * len(candidate.terms & title) / max(1, len(title))
        + (limits.first_weight if candidate.is_first else -limits.leaning_cost * bool(_LEANING.match(candidate.text)))
        for candidate, word in zip(candidates, common, strict=True)
    ]


def _centrality(passages: int, vectors: npt.NDArray[np.float32] | None) -> list[float]:
    """Per passage the cosine with the mean of all, scaled to 0..1."""
    if vectors is None or passages < 2:
        return [1.0] * passages
    near = vectors @ vectors.mean(axis=0)
    low, high = float(near.min()), float(near.max())
    return [1.0] * passages if high - low < 1e-6 else [(float(value) - low) / (high - low) for value in near]


def _parts(passages: Sequence[str], most: int) -> list[int]:
    """The part (0 to most - 1) of the text, by characters, that the middle of each passage is in."""
    total = sum(map(len, passages)) or 1
    parts: list[int] = []
    before = 0
    for text in passages:
        parts.append(min(most - 1, (2 * before + len(text)) * most // (2 * total)))
        before += len(text)
    return parts


def _overlap(candidate: _Candidate, chosen: Sequence[_Candidate]) -> float:
    shares = [len(candidate.terms & other.terms) / len(candidate.terms) for other in chosen]
    return _THRESHOLDS.overlap_cost * max(shares, default=0.0)
