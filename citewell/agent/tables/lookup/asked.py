"""Reads a question as one for lines of tables: the words of the measure, its periods, and what is to be done with the figures."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from citewell.agent.tables.language.cells import form
from citewell.agent.tables.lookup.figures import scale_of
from citewell.agent.tables.lookup.glossary import FORMULAS, LINES, Formula, KnownLine, StatementKind
from citewell.agent.tables.lookup.periods import FISCAL, Period, asked_periods, without_periods
from citewell.agent.tables.lookup.sheet import WORDS, kind_of, words_of
from citewell.agent.tables.lookup.thresholds import THRESHOLDS
from citewell.text.sentences import sentences


class LookupOperation(StrEnum):
    """What is done with the figures of a line over its periods."""

    VALUE = "value"
    CHANGE = "change"
    SUM = "sum"
    AVERAGE = "average"
    TOP = "highest"
    BOTTOM = "lowest"


@dataclass(frozen=True, slots=True)
class LookupQuestion:
    """A question for tables.

    measure:  the words that name what is asked for; below: those of what it is divided by, where a ratio is asked for
    exponent: the scale that the answer should have, and statement: where the line should be, if the question says so
    fiscal:   whether it calls years fiscal; extreme: whether it names the highest or the lowest, of whatever
    """

    measure: tuple[str, ...]
    periods: tuple[Period, ...]
    operation: LookupOperation
    below: tuple[str, ...] = ()
    exponent: int | None = None
    statement: StatementKind | None = None
    fiscal: bool = False
    extreme: LookupOperation | None = None


_OPERATIONS: tuple[tuple[LookupOperation, str], ...] = (
    (
        LookupOperation.CHANGE,
        "change increase decrease grow grew grown growth decline rise rose risen fall fell fallen drop improve improving improvement worsen"
        " deteriorate difference differ compare comparison versus vs delta up down higher lower more less consistent fluctuate",
    ),
    (LookupOperation.SUM, "sum combined together altogether cumulative"),
    (LookupOperation.AVERAGE, "average mean"),
    (LookupOperation.TOP, "highest largest greatest maximum peak biggest best"),
    (LookupOperation.BOTTOM, "lowest smallest minimum worst"),
)
_OPERATION_OF = {form(word): operation for operation, text in _OPERATIONS for word in text.split()}
_WHEN = re.compile(r"\b(?:when|(?:which|what) (?:fiscal )?(?:year|quarter|period))\b", re.I)
_BEFORE = re.compile(
    r"\b(?:(?:the )?(?:prior|previous|preceding) (?:fiscal )?year|(?:the )?year before|year[- ](?:over|on)[- ]year|yoy|annual)\b",
    re.I,
)
CONTEXT = frozenset(
    form(word)
    for word in WORDS.findall(
        "year years annual fiscal fy quarter month months week weeks end ended ending period as at report reported according company firm amount figure"
        " level usd us dollar dollars eur euro over between since during than prior previous versus compared profile metric about roughly approximately"
        " per cent percent percentage terms come came historical historically recorded generate generated based shown"
        " show give tell list find please calculate compute determine identify state spend spent pay make made balance number total value values"
    )
)
"""Words that a question may have besides the name of a line: they say when, in what unit, or nothing."""

_STATEMENT = re.compile(
    r"\b(?:consolidated )?(?:balance sheets?|income statements?|cash ?flow statements?|p ?& ?l|profit and loss (?:account|statement)"
    r"|statements? of (?:income|operations|earnings|cash ?flows|financial position|profit (?:and|or) loss))\b",
    re.I,
)
_ASIDE = re.compile(r"\([^()]*\)")
_SCALE = re.compile(
    r"\(?\b(?:answer |stated |expressed )?in (?:USD|US\$|U\.S\.|US|\$|€|EUR|euros?)?\s?(?:dollars )?(thousands?|millions?|billions?)\b(?: of (?:US )?dollars)?\)?",
    re.I,
)
_OF_WHAT = re.compile(
    r"\bas (?:a |an )?(?:%|per ?cent|percentage|share|proportion|fraction|part) of\b|\bdivided by\b|\bin relation to\b",
    re.I,
)
_SHARE_OF = re.compile(
    r"\b(?:what|which|how (?:large|big|high) (?:a|is the)) (?:%|per ?cent|percentage|share|proportion|fraction|part) of (?P<below>.{3,80}?)"
    r" (?:is|was|were|are|did|does|came from|comes from|went to|goes to) (?P<above>.{3,80})$",
    re.I,
)
_RATIO = re.compile(r"\bratio (?:of|between) (?P<above>.{3,80}?) (?:to|and|over) (?P<below>.{3,80})$", re.I)


def read_lookup(question: str) -> LookupQuestion | None:
    """What the question asks of tables; None for one that is too long, asks several things, or names nothing.

    A sentence that is no question (“If the margin does not apply, say so.”) tells how to answer and is left out.
    """
    if len(question) > THRESHOLDS.question_characters:
        return None
    asked = [one for one in sentences(question) if one.rstrip().endswith("?")] or list(sentences(question))
    if len(asked) != 1:
        return None
    text = asked[0].strip().rstrip("?. ")
    scale, statement = _SCALE.search(text), _STATEMENT.search(text)
    text = _STATEMENT.sub(" ", text)
    periods = asked_periods(text)
    plain = without_periods(_ASIDE.sub(" ", _SCALE.sub(" ", text)))
    earlier = _BEFORE.search(plain) is not None
    above, below = _parts(_BEFORE.sub(" ", plain))
    words, under = words_of(above), words_of(below)
    operations = [operation for word in (*words, *under) if (operation := _OPERATION_OF.get(word)) is not None]
    measure = tuple(dict.fromkeys(words))
    if not frozenset(without_operations(measure)) - CONTEXT:
        return None
    operation = _operation(operations, text, periods, earlier=earlier)
    return LookupQuestion(
        measure,
        periods,
        operation,
        without_operations(tuple(dict.fromkeys(under))),
        scale_of(scale[1]) if scale else None,
        kind_of(statement[0]) if statement else None,
        FISCAL.search(text) is not None,
        _extreme(operations),
    )


def without_operations(measure: tuple[str, ...]) -> tuple[str, ...]:
    """The words that say what is measured, not what is done with it."""
    return tuple(word for word in measure if word not in _OPERATION_OF)


def known_names(measure: tuple[str, ...]) -> tuple[Formula | KnownLine, frozenset[str]] | None:
    """The measure or line of the glossary whose name is the longest run of these words, and the words besides; a formula before a line."""
    best: tuple[int, Formula | KnownLine, frozenset[str]] | None = None
    measure = tuple(word for word in measure if word not in CONTEXT)
    for known, names in _NAMES:
        for name in names:
            if (best is None or len(name) > best[0]) and (rest := _besides(measure, name)) is not None:
                best = (len(name), known, rest)
    return None if best is None else (best[1], best[2])


def _besides(measure: tuple[str, ...], name: tuple[str, ...]) -> frozenset[str] | None:
    for start in range(len(measure) - len(name) + 1):
        if measure[start : start + len(name)] == name:
            return frozenset((*measure[:start], *measure[start + len(name) :]))
    return None


_NAMES = tuple(
    (known, tuple(tuple(dict.fromkeys(words_of(name))) for name in known.names)) for known in (*FORMULAS[1:], *LINES)
)


def _operation(
    found: list[LookupOperation], text: str, periods: tuple[Period, ...], *, earlier: bool
) -> LookupOperation:
    extreme = _extreme(found)
    if extreme is not None and _WHEN.search(text):
        return extreme
    others = (one for one in found if one not in (LookupOperation.TOP, LookupOperation.BOTTOM))
    first = next(others, LookupOperation.VALUE)
    if first is LookupOperation.VALUE and (earlier or len(periods) == 2):
        return LookupOperation.CHANGE
    return first


def _extreme(found: list[LookupOperation]) -> LookupOperation | None:
    return next((one for one in found if one in (LookupOperation.TOP, LookupOperation.BOTTOM)), None)


def _parts(text: str) -> tuple[str, str]:
    """What is asked for, and what it is divided by; empty where nothing is."""
    for pattern in (_SHARE_OF, _RATIO):
        if (found := pattern.search(text)) is not None:
            return found["above"], found["below"]
    sides = _OF_WHAT.split(text, maxsplit=1)
    return (sides[0], sides[1]) if len(sides) == 2 else (text, "")
