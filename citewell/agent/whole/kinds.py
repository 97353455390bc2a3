"""What a list of whole documents may be of: deadlines, dates, duties, amounts, people, headings and the like, found by general rules."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from citewell.agent.whole.people import names_of_organisations, names_of_people
from citewell.text.analysis import analyze
from citewell.text.quantities import CURRENCY_CODES, CURRENCY_SIGNS
from citewell.text.sentences import sentence_spans
from citewell.types import ChunkType, StoredChunk

# Every repetition is bounded, so that each place of a text is looked at a few times, whatever is written there.
_MONTH = r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?"
_DAY = r"\d{1,2}(?:st|nd|rd|th)?"
_YEAR = r"(?:19|20|21)\d\d"
_DATE = (
    rf"(?:{_MONTH}\s{{1,3}}{_DAY}(?!\d)(?:,?\s{{1,3}}{_YEAR})?|{_DAY}\.?\s{{1,3}}(?:of\s{{1,3}})?{_MONTH}(?!\w)(?:,?\s{{1,3}}{_YEAR})?|{_MONTH}\s{{1,3}}{_YEAR}"
    rf"|{_YEAR}-\d\d-\d\d|\d{{1,2}}[./]\d{{1,2}}[./](?:{_YEAR}|\d\d))(?![\w])"
)
_SOME = (
    r"(?:\d[\d.,]{0,8}|an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fourteen|fifteen|twenty|thirty|forty|fifty|sixty|ninety)"
    r"(?:\s{1,3}\(\d{1,4}\))?"
)
_SPAN = rf"{_SOME}[\s-]{{1,3}}(?:(?:working|business|calendar|full|consecutive|school|academic)\s{{1,3}})?(?:minutes?|hours?|days?|weeks?|months?|quarters?|years?)\b"
_THEN = (
    rf"(?:{_DATE}|(?:the\s{{1,3}})?(?:end|beginning|start|close|first|last|\d{{1,2}}(?:st|nd|rd|th))\s{{1,3}}(?:(?:day|week)\s{{1,3}})?(?:of|working|business|day)\b"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)day|noon\b|midnight|tomorrow|\d{1,2}(?::\d\d)?\s?[ap]\.?m\b|\d{1,2}:\d\d)"
)
_MUST = (
    r"(?:must|shall|(?:is|are|be|being)\s{1,3}(?:also\s{1,3})?(?:required|obliged|obligated|expected|responsible|due)|ha(?:s|ve)\s{1,3}to|needs?\s{1,3}to|required\s{1,3}to"
    r"|(?:may|can)\s{1,3}(?:not|only)|cannot|prohibited|mandatory|not\s{1,3}(?:allowed|permitted))"
)
_LIMIT = re.compile(
    rf"\b(?:within|no(?:t)?\s{{1,3}}(?:later|more|longer)\s{{1,3}}than|no\s{{1,3}}less\s{{1,3}}than|at\s{{1,3}}the\s{{1,3}}latest)\s{{1,3}}(?:the\s{{1,3}})?(?:first\s{{1,3}}|next\s{{1,3}})?(?:{_SPAN}|{_THEN})"
    rf"|\b(?:not\s{{1,3}}(?:to\s{{1,3}})?exceed(?:ing)?|(?:maximum|minimum|period)\s{{1,3}}of(?:\s{{1,3}}(?:not|no)\s{{1,3}}(?:less|more)\s{{1,3}}than)?)\s{{1,3}}{_SPAN}"
    r"|\bas\s{1,3}soon\s{1,3}as\s{1,3}(?:possible|practicable|practical)\b|\bthe\s{1,3}next\s{1,3}(?:business|working)\s{1,3}day\b"
    rf"|\b(?:by|before|until|till|due(?:\s{{1,3}}(?:on|by|in|within))?|on\s{{1,3}}or\s{{1,3}}before|expires?(?:\s{{1,3}}on)?)\s{{1,3}}{_THEN}"
    rf"|\b{_SPAN}\s{{1,3}}(?:before|prior\s{{1,3}}to|in\s{{1,3}}advance|late|from\s{{1,3}}(?:the|receipt|its|their)|(?:after|following)\s{{1,3}}(?:the|receipt|your|its|a|an)\b)"
    r"|\bthe\s{1,3}(?:day|week|month)\s{1,3}before\b|\bdeadlines?\b|\bdue\s{1,3}dates?\b|\btime\s{1,3}limits?\b|\bstatute\s{1,3}of\s{1,3}limitations\b",
    re.I,
)
_SPAN_OF_DUTY = re.compile(
    rf"\b(?:in|for|after|at\s{{1,3}}(?:least|most)|up\s{{1,3}}to|every|each|once)\s{{1,3}}(?:the\s{{1,3}})?(?:first\s{{1,3}}|next\s{{1,3}})?{_SPAN}",
    re.I,
)
_DUTY = re.compile(rf"\b{_MUST}\b", re.I)
_DATED = re.compile(rf"(?<![\w./-]){_DATE}", re.I)
_MONEY = re.compile(
    rf"(?:(?:US|CA|AU|NZ|HK|GH)?[{CURRENCY_SIGNS}]|\b(?:{CURRENCY_CODES}|SEK|NOK|DKK|PLN|BRL|MXN)\b)\s?\(?\d[\d.,]{{0,14}}"
    r"|(?<![\d.,])\d[\d.,]{0,14}\s?(?:(?:thousand|million|billion|trillion|mn|bn|m|k)\s{1,2})?(?:[€£]|(?:dollars?|euros?|pounds?|cents|francs|cedis|rupees|yen|USD|EUR|GBP|GHS|CHF)\b)",
    re.I,
)
_PERCENT = re.compile(r"(?<![\d.,])\d[\d.,]{0,8}\s?(?:%|per\s?cent\b|percentage points?\b)", re.I)
_EMAIL = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,5}")
_PHONE = re.compile(
    r"(?<![\w.,+-])(?:\+\d{1,3}[ .-]?)?(?:\(\d{2,5}\)[ .-]?\d{3,4}[ .-]\d{3,5}|\d{3}[.-]\d{3,4}[.-]\d{4}|\d{3}-\d{4})(?![\w,-])"
    r"|(?<![\w.,+-])\+\d{1,3}(?:[ .-]?\(?\d{1,4}\)?){2,5}(?![\w-])"
)
_LINK = re.compile(r"\b(?:https?://|www\.)[^\s<>\"'()\[\]]{3,300}", re.I)
_DEFINITION = re.compile(
    r"\b(?:is|are)\s{1,3}defined\s{1,3}as\b|\bshall\s{1,3}mean\b|[\"”’']\s{0,2}(?:means|refers\s{1,3}to|includes)\b|\bstands\s{1,3}for\b|\b[A-Z][\w-]{1,30}(?:\s[A-Z][\w-]{1,30}){1,3}\s{1,3}means\b"
    r"|\bthe\s{1,3}term\b.{1,80}\b(?:means|refers\s{1,3}to)\b"
)
_END = ".,;:!?"


@dataclass(frozen=True, slots=True)
class ItemKind:
    """A kind of item: `one` and `many` in words, and `asked`, the words of a request that name it.

    states:    whether a sentence is an item; None where `values` are
    values:    the items that a text holds, as spans; where several files name the same one, it is listed once
    in_sentence: whether a value is shown in its sentence, or alone
    heuristic: whether items may be missed or misread, since no form marks them surely
    """

    one: str
    many: str
    asked: re.Pattern[str]
    states: Callable[[str], bool] | None = None
    values: Callable[[str], Iterator[tuple[int, int]]] | None = None
    in_sentence: bool = False
    heuristic: bool = False


@dataclass(frozen=True, slots=True)
class ListedItem:
    """What of a passage is shown, and the `value` by which it is known where it is not the words themselves."""

    text: str
    stored: StoredChunk
    value: str = ""


def _states_limit(text: str) -> bool:
    return bool(_LIMIT.search(text)) or (bool(_SPAN_OF_DUTY.search(text)) and bool(_DUTY.search(text)))


def _matches(pattern: re.Pattern[str]) -> Callable[[str], Iterator[tuple[int, int]]]:
    def find(text: str) -> Iterator[tuple[int, int]]:
        for match in pattern.finditer(text):
            end = match.end()
            while text[end - 1] in _END:
                end -= 1
            yield match.start(), end

    return find


def _holds(pattern: re.Pattern[str]) -> Callable[[str], bool]:
    return lambda text: pattern.search(text) is not None


def _asked(words: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{words})\b")


SENTENCES = ItemKind("sentence", "sentences", _asked("sentences?"), states=lambda text: bool(text))
"""What a list is of when its topic names no other kind: each sentence on the topic."""

HEADINGS = ItemKind(
    "heading",
    "headings",
    _asked("headings?|(?:section|chapter) (?:titles|headings|names)|sections|chapters"),
)

KINDS: Sequence[ItemKind] = (
    ItemKind(
        "sentence that states a deadline or time limit",
        "sentences that state a deadline or time limit",
        _asked("deadlines?|due dates?|time[- ]?limits?|cut-?off dates?|time ?lines?|time ?frames?|expiry dates?"),
        states=_states_limit,
        heuristic=True,
    ),
    ItemKind("sentence with a date", "sentences with a date", _asked("(?:calendar )?dates?"), states=_holds(_DATED)),
    ItemKind(
        "sentence that states a duty",
        "sentences that state a duty",
        _asked("obligations?|duties|duty|requirements?|responsibilit(?:y|ies)|prohibitions?|rules?"),
        states=_holds(_DUTY),
        heuristic=True,
    ),
    ItemKind(
        "sentence with an amount of money",
        "sentences with an amount of money",
        _asked("(?:monetary |money |dollar )?amounts?(?: of money)?|sums? of money|monetary values?"),
        states=_holds(_MONEY),
    ),
    ItemKind(
        "sentence with a percentage",
        "sentences with a percentage",
        _asked("percentages?|per ?cents?"),
        states=_holds(_PERCENT),
    ),
    ItemKind(
        "e-mail address",
        "e-mail addresses",
        _asked("e-?mail(?: addresse?s?)?s?"),
        values=_matches(_EMAIL),
    ),
    ItemKind(
        "telephone number",
        "telephone numbers",
        _asked("(?:tele)?phone numbers?|(?:tele)?phones"),
        values=_matches(_PHONE),
    ),
    ItemKind(
        "link",
        "links",
        _asked("links?|urls?|web ?(?:sites?|pages?|addresse?s?)|hyperlinks?"),
        values=_matches(_LINK),
    ),
    ItemKind(
        "person",
        "people",
        _asked("(?:names? of (?:the )?)?(?:people|persons?|individuals)(?:'s? names?)?|names?"),
        values=names_of_people,
        in_sentence=True,
        heuristic=True,
    ),
    ItemKind(
        "organisation",
        "organisations",
        _asked(
            "(?:names? of (?:the )?)?(?:organi[sz]ations?|compan(?:y|ies)|institutions?|agenc(?:y|ies))(?: names?)?"
        ),
        values=names_of_organisations,
        in_sentence=True,
        heuristic=True,
    ),
    ItemKind(
        "definition",
        "definitions",
        _asked("definitions?|defined terms?"),
        states=_holds(_DEFINITION),
        heuristic=True,
    ),
    ItemKind(
        "question", "questions", _asked("questions?"), states=lambda text: text.rstrip('"”’)').endswith(("?", "？"))
    ),
    HEADINGS,
)


def kinds_asked(topic: str) -> tuple[tuple[ItemKind, ...], str]:
    """The kinds of item that a topic names, and what is left of it: "deadlines for reports" is deadlines, and "for reports"."""
    found: list[ItemKind] = []
    for kind in KINDS:
        left = kind.asked.sub(" ", topic)
        if left != topic:
            found.append(kind)
            topic = left
    return tuple(found), " ".join(topic.split())


def items_of(
    stored: StoredChunk, kind: ItemKind, terms: Sequence[str], language: str | None = "en"
) -> list[ListedItem]:
    """The items of a kind that a passage holds, on `terms` where there are some: in its sentence, or in a heading above it."""
    text, context = stored.chunk.text, frozenset[str]()
    if kind is HEADINGS:
        return [
            ListedItem(heading, stored, heading)
            for heading in stored.chunk.locator.headings[-1:]
            if _is_on(heading, terms, context)
        ]
    if terms and kind is not SENTENCES:
        context = frozenset(analyze(stored.chunk.context, language))
    found: list[ListedItem] = []
    for start, end in spans_of(stored):
        said = text[start:end]
        if kind.values is not None:
            found += [
                ListedItem(said if kind.in_sentence else said[first:last], stored, said[first:last])
                for first, last in kind.values(said)
                if not terms or _is_on(said, terms, context)
            ]
        elif kind.states is not None and kind.states(said) and (not terms or _is_on(said, terms, context)):
            found.append(ListedItem(said, stored))
    return found


def spans_of(stored: StoredChunk) -> list[tuple[int, int]]:
    """Where the sentences of a passage are; the lines of a table, the whole of a row."""
    text = stored.chunk.text
    if stored.chunk.type is ChunkType.ROW:
        return [(0, len(text))] if text.strip() else []
    if stored.chunk.type is not ChunkType.TABLE:
        return sentence_spans(text)
    lines = re.finditer(r"[^\n]+", text)
    return [line.span() for line in lines if any(character.isalnum() for character in line[0])]


def _is_on(text: str, terms: Sequence[str], context: frozenset[str]) -> bool:
    held = context.union(analyze(text, "en"))
    needed = len(terms) if len(terms) < 3 else -(-2 * len(terms) // 3)
    return sum(term in held for term in terms) >= needed
