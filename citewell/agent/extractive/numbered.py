"""What is said of another number or letter than the one that a question names ("locker 12", "House B") answers something else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from citewell.agent.extractive.scoring import ScoredStatement
from citewell.agent.understand.numbered import TOKEN, called_otherwise, numbers_of
from citewell.agent.understand.question import Question

_NEARLY = 0.7


def about_the_number(question: Question, scored: Sequence[ScoredStatement]) -> list[ScoredStatement]:
    """The statements, best first, without those that say of another number what is asked of this one.

    Where the best is such a one, only those are left whose passages name the numbers that were asked for, and which hold nearly as much of
    the question: another thing of the right number is no answer either.
    """
    asked = numbers_of(question.text, question.language)
    if not asked or not scored:
        return list(scored)
    other = [_of_another(one, asked, question.language) for one in scored]
    kept = [one for one, is_other in zip(scored, other, strict=True) if not is_other]
    if not other[0]:
        return kept
    wanted, least = frozenset[str]().union(*asked.values()), _NEARLY * scored[0].coverage
    return [one for one in kept if one.coverage >= least and wanted <= set(TOKEN.findall(_around(one)))]


def _of_another(one: ScoredStatement, asked: Mapping[str, frozenset[str]], language: str | None) -> bool:
    """Whether a statement is about another number of a name that the question has, and its passage nowhere about one asked for."""
    called = called_otherwise(asked, one.statement.shown, language)
    around = numbers_of(_around(one), language) if called else {}
    return any(around.get(name, frozenset()).isdisjoint(numbers) for name, numbers in called.items())


def _around(one: ScoredStatement) -> str:
    """A statement with all that tells what it is about; the other rows of a table are about something else."""
    hit = one.statement.hit
    text = one.statement.shown if one.statement.row else hit.chunk.text
    return " ".join((text, hit.chunk.context, *hit.chunk.locator.headings, hit.filename))
