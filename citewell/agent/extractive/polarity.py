"""What a question affirms or denies: "what is not covered" is not answered by what is covered, nor the other way round."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from citewell.agent.extractive.scoring import ScoredStatement
from citewell.agent.understand.question import Question, asks_whether
from citewell.text.analysis import analyze

_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
# What denies the word after it, by language. A noun that is denied ("no fee") is another statement, not the opposite one.
_DENIES = {
    "en": re.compile(r"(?:not|never|cannot|\w+n['’]t)\Z", re.I),
    "de": re.compile(r"(?:nicht|nie|niemals)\Z", re.I),
    "fr": re.compile(r"(?:ne|n['’]\w+)\Z", re.I),
    "es": re.compile(r"no\Z", re.I),
}
# What something should be or is expected to be, by language.
_PLANNED = re.compile(
    r"\b(?:targets?|goals?|budget(?:ed|s)?|plan(?:ned|s)?|forecasts?|projected|projections?|estimated?|estimates?|expected|ziele?|soll(?:wert)?e?"
    r"|geplante?\w*|prognosen?|erwartete?\w*|objectifs?|prévue?s?|prévisions?|objetivos?|metas?|previst[oa]s?|presupuest\w*)\b",
    re.I,
)
_OTHER_KIND = 0.5  # of the best score, from which a statement of the other kind can be the answer
_LIMITS = frozenset(
    ["only", "just", "merely", "necessarily", "always", "yet", "nur", "immer", "seulement", "solo", "siempre"]
)
_PASSED_OVER = 2  # words between what denies and what is denied: "may not be terminated"
_REACH = 0.6  # of the best score, from which a statement that agrees is an answer in place of one that does not


def agreeing(question: Question, scored: Sequence[ScoredStatement]) -> list[ScoredStatement]:
    """The statements, best first, without those that affirm what the question denies, or deny what it affirms.

    All of them where none says the same thing with the question's sign, and where yes or no is asked for, which either answers.
    """
    if not scored or asks_whether(question.text):
        return list(scored)
    language = question.language or "en"
    denied = _read(question.text, language)[1]
    asked = set(question.terms)
    agree: list[ScoredStatement] = []
    kept: list[ScoredStatement] = []
    left_out: list[ScoredStatement] = []
    for one in scored:
        affirms, denies = (terms & asked for terms in _read(one.statement.shown, language))
        against = (denies - affirms - denied) | ((affirms - denies) & denied)
        (left_out if against else kept).append(one)
        if not against and ((denies & denied) if denied else affirms):
            agree.append(one)
    instead = [one for one in agree if one.score >= _REACH * scored[0].score]
    return kept if any(_say_as_much(instead, one, asked, denied, language) for one in left_out) else list(scored)


def actual_or_planned(question: Question, scored: Sequence[ScoredStatement]) -> list[ScoredStatement]:
    """The statements, best first, without those that say what something should be, if the question asks what it is, or the other way round.

    A target is not the figure. All of them where none of the other kind says as much of what is asked.
    """
    if not scored:
        return []
    asks_plan = _PLANNED.search(question.text) is not None
    asked = {term for term in question.terms if not _PLANNED.fullmatch(term)}
    kinds = [(_PLANNED.search(one.statement.judged) is not None) == asks_plan for one in scored]
    fitting = [
        one for one, fits in zip(scored, kinds, strict=True) if fits and one.score >= _OTHER_KIND * scored[0].score
    ]
    most = max(
        (len(asked & _terms(one, question)) for one, fits in zip(scored, kinds, strict=True) if not fits), default=0
    )
    if not most or not any(len(asked & _terms(one, question)) >= most for one in fitting):
        return list(scored)
    return [one for one, fits in zip(scored, kinds, strict=True) if fits]


def _terms(one: ScoredStatement, question: Question) -> set[str]:
    return set(analyze(one.statement.judged, question.language or "en"))


def _say_as_much(
    instead: Sequence[ScoredStatement], left_out: ScoredStatement, asked: set[str], denied: set[str], language: str
) -> bool:
    """Whether one of the statements shares with one of the other sign what is asked for, and, unless the question denies, no less of it."""
    other = set(analyze(left_out.statement.shown, language)) & asked
    shared = (set(analyze(one.statement.shown, language)) & asked for one in instead)
    return any(own & other and (denied or len(own) >= len(other)) for own in shared)


def _read(text: str, language: str) -> tuple[set[str], set[str]]:
    """The terms that a text affirms and those that it denies; one that it does both with is in both."""
    affirmed: set[str] = set()
    denied: set[str] = set()
    for term, is_denied in _signed(text, language):
        (denied if is_denied else affirmed).add(term)
    return affirmed, denied


def _signed(text: str, language: str) -> Iterator[tuple[str, bool]]:
    rule = _DENIES.get(language)
    reach = 0
    for word in _WORD.findall(text):
        if rule is not None and rule.match(word):
            reach = _PASSED_OVER + 1
            continue
        if word.lower() in _LIMITS:
            reach = 0
        terms = analyze(word, language)
        for term in terms:
            yield term, reach > 0
        reach = 0 if terms else max(0, reach - 1)
