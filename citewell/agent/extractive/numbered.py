"""What a question calls by a number, such as "locker 12" or "fiscal 2023": what is said of another number answers something else."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from citewell.agent.extractive.scoring import ScoredStatement
from citewell.agent.understand.question import Question
from citewell.text.analysis import analyze

# A word, or a number with all that is written together with it: `12-345`, `4711/24`.
_TOKEN = re.compile(r"[^\W\d_]+|\d+(?:[.,]\d+)*(?:[-/]\w*\d\w*)*")
# Words between a name and its number, and words before a number that make it a quantity.
_PASSED_OVER = frozenset({"no", "nr", "num", "number", "numero"})
_OF_QUANTITIES = frozenset({
    "about", "almost", "approximately", "around", "at", "best", "bottom", "equals", "every", "exactly", "first", "last", "least", "less",
    "maximum", "minimum", "minus", "more", "most", "nearly", "next", "only", "over", "past", "plus", "previous", "than", "times", "top",
    "under", "up",
})  # fmt: skip


def about_the_number(question: Question, scored: Sequence[ScoredStatement]) -> list[ScoredStatement]:
    """The statements, best first, without those that say of another number what is asked of this one.

    Where the best is such a one, only those are left whose passages name the number that was asked for.
    """
    asked = dict(_numbered(question.text, question.language))
    if not asked or not scored:
        return list(scored)
    other = [_of_another(one, asked, question.language) for one in scored]
    kept = [one for one, is_other in zip(scored, other, strict=True) if not is_other]
    return [one for one in kept if set(asked.values()) <= set(_TOKEN.findall(_around(one)))] if other[0] else kept


def _of_another(one: ScoredStatement, asked: Mapping[str, str], language: str | None) -> bool:
    """Whether a statement is about another number of a name that the question has, and its passage nowhere about the one asked for."""
    called = [name for name, number in _numbered(one.statement.shown, language) if number != asked.get(name, number)]
    around = set(_numbered(_around(one), language)) if called else set[tuple[str, str]]()
    return any((name, asked[name]) not in around for name in called)


def _around(one: ScoredStatement) -> str:
    """A statement with all that tells what it is about."""
    hit = one.statement.hit
    return " ".join((hit.chunk.text, hit.chunk.context, *hit.chunk.locator.headings, hit.filename))


def _numbered(text: str, language: str | None) -> Iterator[tuple[str, str]]:
    """Each name that a number follows, as a term, with the number."""
    name = ""
    for token in _TOKEN.findall(text):
        if token[0].isdigit():
            terms = analyze(name, language) if name and name.lower() not in _OF_QUANTITIES else []
            if terms:
                yield terms[0], token
            name = ""
        elif token.lower() not in _PASSED_OVER:
            name = token
