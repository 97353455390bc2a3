"""Questions for who holds an office ("who is the CEO of …"): a statement that does not name the office tells of somebody else."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from citewell.agent.extractive.scoring import ScoredStatement
from citewell.agent.statements import Statement, under_headings
from citewell.agent.understand.question import Question
from citewell.agent.understand.titles import titles_in
from citewell.text.analysis import analyze
from citewell.types import Hit

_READ = 300  # characters of a question; a longer one asks for no more than a name
_BEFORE = 300  # characters before a statement in which its office may be named: "The CEO is new. Ada Reed came in May."
_ROLE = re.compile(
    r"\W*(?:(?:and|so|but|ok|then)\W+)?(?:who(?:['’]s|\s+(?:is|was|are|were))|(?P<called>what\s+(?:is|was)))\s+(?:the|our|your|my|his|her|their|(?:[\w-]+\s+){0,3}?[\w-]+['’]s)\s+"
    r"(?P<role>(?:[\w&-]+\s+){0,3}?[\w&-]+)(?P<rest>\s+(?:of|at|in|for|on|from|to|by|with|who|that|called|named)\b.*|\s*[?.!]*\s*)$",
    re.I | re.S,
)
_AGENT = re.compile(r"(?:[eo]r|ist|ian|ant|man|woman|head|chair|lead)s?$", re.I)
_CALLED = re.compile(r"\b(?:called|named)\W*$", re.I)


@dataclass(frozen=True, slots=True)
class Office:
    """What somebody is asked for as: titles in their short form, and the term of the noun that names the office."""

    titles: frozenset[str]
    term: str

    def is_named_in(self, text: str, language: str | None) -> bool:
        """Whether a text names the office, its title in either form."""
        if self.titles:
            return self.titles <= set(titles_in(text))
        return self.term in analyze(text, language)


def asked_office(question: Question) -> Office | None:
    """The office whose holder is asked for, a title or a noun such as "treasurer"; None where a question asks anything else."""
    found = _ROLE.match(question.text) if len(question.text) <= _READ else None
    if found is None:
        return None
    titles = frozenset(titles_in(found["role"]))
    if found["called"] and not (titles and _CALLED.search(found["rest"])):
        return None
    terms = analyze(found["role"], question.language, query=True)
    named = bool(titles) or _AGENT.search(found["role"]) is not None
    return Office(titles, terms[-1]) if terms and named else None


def holding_the_office(
    question: Question, scored: Sequence[ScoredStatement], hits: Sequence[Hit]
) -> list[ScoredStatement]:
    """The statements, best first, that name the office asked for, or whose heading does; without any, those that follow words that do.

    None where a title is asked for that no statement names, or somebody whom no passage names as such; else all of them.
    """
    office = asked_office(question)
    if office is None:
        return list(scored)
    for read in (_shown, _around):
        holding = [one for one in scored if office.is_named_in(read(one.statement), question.language)]
        if holding:
            return holding
    if office.titles or not any(office.is_named_in(under_headings(hit), question.language) for hit in hits):
        return []
    return list(scored)


def _shown(statement: Statement) -> str:
    """A statement with its headings."""
    return " ".join((*statement.hit.chunk.locator.headings, statement.shown))


def _around(statement: Statement) -> str:
    """A statement with its headings and what precedes it."""
    chunk = statement.hit.chunk
    before = chunk.text[max(0, statement.start - _BEFORE) : statement.start]
    return " ".join((*chunk.locator.headings, before, statement.shown))
