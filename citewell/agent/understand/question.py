"""What a question asks for: its terms, the kind of answer it expects, and whether it wants a list."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache

from citewell.text.analysis import analyze
from citewell.text.language import detect_language
from citewell.text.quantities import CURRENCY_CODES, CURRENCY_SIGNS


class Expectation(StrEnum):
    """Kinds of answer that leave a trace in a sentence."""

    NUMBER = "number"
    MONEY = "money"
    DATE = "date"
    PERSON = "person"
    PLACE = "place"
    REASON = "reason"
    DEFINITION = "definition"
    ANY = "any"


FACTS = frozenset({Expectation.NUMBER, Expectation.MONEY, Expectation.DATE, Expectation.PERSON, Expectation.PLACE})

_RULES: tuple[tuple[Expectation, re.Pattern[str]], ...] = (
    (
        Expectation.MONEY,
        re.compile(
            r"\bhow much (?:money|does|do|did|is|are|was|were|can|may|should|will|would)\b|\b(?:price|cost|fee|salary|wage|budget|revenue"
            r"|profit|expenses?|loan (?:size|amount|limit)|amount|tariff|fine|penalty|deposit|rent)\b|\bcombien\b|\bwie ?viel kostet\b|\bcu[aá]nto cuesta\b",
            re.I,
        ),
    ),
    (
        Expectation.NUMBER,
        re.compile(
            r"\bhow (?:many|much|long|old|far|often|large|big|high|tall|fast|deep|heavy|wide)\b|\b(?:number|percentage|percent|rate|share|ratio"
            r"|maximum|minimum|max|min|average|mean|median|total|limit|ceiling|threshold|population|temperature|speed|distance|length|height"
            r"|weight|size|area|duration|deadline)\b|\bwie ?viele?\b|\bcombien\b|\bcu[aá]nt[oa]s?\b|\bquant[oi]\b|多少|几",
            re.I,
        ),
    ),
    (
        Expectation.DATE,
        re.compile(
            r"^(?:\w+,? )?when\b|\bwhen (?:is|are|was|were|do|does|did|will|can|could|should|must|has|have|had)\b"
            r"|\b(?:what|which|in what|in which) (?:year|date|day|month|century|decade|time)\b|\bsince when\b|\bwann\b|\bquand\b|\bcu[aá]ndo\b"
            r"|\b(?:date|year) of\b|什么时候|何时|哪一?年",
            re.I,
        ),
    ),
    (
        Expectation.PERSON,
        re.compile(r"\b(?:who|whom|whose)\b|\b(?:wer|wem|wen|wessen)\b|\bqui\b|\bqui[eé]n(?:es)?\b|谁", re.I),
    ),
    (
        Expectation.PLACE,
        re.compile(
            r"\bwhere\b|\b(?:what|which) (?:city|country|place|state|town|region|location|branch)\b|\bwo\b|\boù\b|\bd[oó]nde\b|哪里",
            re.I,
        ),
    ),
    (
        Expectation.REASON,
        re.compile(r"\bwhy\b|\b(?:reason|cause)s?\b|\bwarum\b|\bpourquoi\b|\bpor qu[eé]\b|为什么", re.I),
    ),
    (
        Expectation.DEFINITION,
        re.compile(
            r"^(?:what(?:'s| is| are| does)|define|was (?:ist|sind|bedeutet)|qu'est)\b.*(?:\bmean\b|\?|$)", re.I
        ),
    ),
)

_NUMBER = re.compile(
    r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|forty|fifty|sixty|hundred|thousand"
    r"|million|billion|half|third|quarter|once|twice|dozens?|zwei|drei|vier|f[uü]nf|sechs|sieben|acht|neun|zehn)\b|[一二三四五六七八九十百千万亿]",
    re.I,
)
_MONEY = re.compile(
    rf"[{CURRENCY_SIGNS}]\s?\d|\b(?:{CURRENCY_CODES})\b|\d\s?(?:%|per ?cent|dollars?|euros?|pounds?|cedis?|francs?|yen|yuan)"
    r"|\bfree\b|\bno (?:charge|fee|cost)\b",
    re.I,
)
_DATE = re.compile(
    r"\b(?:1[0-9]|20)\d\d\b|\b(?:january|february|march|april|may|june|july|august|september|october|november|december|monday|tuesday"
    r"|wednesday|thursday|friday|saturday|sunday|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec|today|yesterday|century|spring|summer|autumn"
    r"|winter|days?|weeks?|months?|years?|januar|februar|märz|mai|juni|juli|oktober|dezember)\b|\d\d?:\d\d|\b(?:half|quarter) (?:past|to)\b|\b(?:noon|midnight|o['’]clock|morning|afternoon|evening)\b|\d ?[ap]\.?m\b|\d\d?[./]\d\d?[./]\d{2,4}|年",
    re.I,
)
_NAME = re.compile(
    r"(?<![.!?]\s)(?<!^)\b[A-ZÀ-Þ][\w'’-]+|\b(?:head|manager|director|officer|president|chair|committee|minister|owner|author)\b|[\u4e00-\u9fff]"
)
_PLACE = re.compile(
    r"\b(?:in|at|near|from|to|of|on|between|behind|opposite|above|floor|street|road|im|am|bei|en|à|em)\b\s+(?:the\s+)?[\w]|[\u4e00-\u9fff]"
)
_REASON = re.compile(
    r"\b(?:because|since|due to|owing to|so that|in order to|as a result|therefore|thus|reason|caused?|leads? to|result(?:s|ed)? (?:in|from)"
    r"|weil|da|denn|deshalb|car|parce que|porque)\b|\bto \w+|因为|由于",
    re.I,
)
_DEFINITION = re.compile(
    r"\b(?:is|are|was|were|means?|refers? to|defined as|called|known as|consists? of|ist|sind|est|es)\b|:|是", re.I
)
_TRACES: dict[Expectation, re.Pattern[str]] = {
    Expectation.NUMBER: _NUMBER,
    Expectation.MONEY: _MONEY,
    Expectation.DATE: _DATE,
    Expectation.PERSON: _NAME,
    Expectation.PLACE: _PLACE,
    Expectation.REASON: _REASON,
    Expectation.DEFINITION: _DEFINITION,
}
_STATED_ANEW = frozenset({Expectation.NUMBER, Expectation.MONEY, Expectation.DATE, Expectation.PERSON})
THROUGH = r"(?:walk|take|guide|talk) (?:me|us) through"
_LIST = re.compile(
    rf"\b{THROUGH}\b|"
    r"\b(?:list|enumerate|name (?:all|the)|outline)\b"
    r"|\b(?:what|which) (?:are|were) (?:all |the |our |your |its |their )*(?:\w+ ){0,4}?\w+s\b"
    r"|\b(?:all|every|each of) (?:the |of the |our )?(?:\w+ ){0,2}(?:steps?|rules?|requirements?|conditions?|items?|stages?|points?|reasons?|types?|kinds?)\b"
    r"|\b(?:steps|stages|phases|requirements|conditions|criteria|ingredients|prerequisites) (?:to|for|of|in|are|do|does|must|should|needed|required)\b"
    r"|\bwhat (?:steps|stages|requirements|conditions|rules|documents|items|things)\b"
    r"|\bhow do (?:i|you|we) .{0,200} step by step\b|\bliste\b|\bauflist|\bschritte\b|\bétapes\b|\bpasos\b",
    re.I,
)
_PICTURE = (
    r"(?:frames|pictures|images|photos|photographs|screenshots|stills|shots|scenes|clips|videos|bilder|fotos|aufnahmen|photographies|vid[ée]os"
    r"|fotograf[ií]as|im[aá]genes)"
)
_PICTURES = re.compile(
    r"\b(?:show|find|give|get|fetch|display|list|see|which|what|any|all|every|zeig\w*|finde?|welche|montre\w*|trouve\w*|quelles|mu[eé]stra\w*|qu[eé])\b"
    rf"(?:[\s-]+(?!(?:of|in|on|with|from|about|by)\b)[\w']+){{0,6}}?\s+{_PICTURE}\b|^\W*{_PICTURE}\s+(?:of|with|that|from|showing|tagged|where|von|mit|de|avec|con)\b",
    re.I,
)
# Requests for pictures, and what is done with pictures: it says nothing of what they show.
_ANY_PICTURE = re.compile(
    rf"\b(?:show|find|give|get|fetch|display|list|see|zeig\w*|finde?|montre\w*|trouve\w*|mu[eé]stra\w*|{_PICTURE}|taken|shot|"
    r"photographed|filmed|recorded|captured|made|created|uploaded|added|sent|aufgenommen|fotografiert|gemacht|hochgeladen|gesendet)\b",
    re.I,
)
_COUNTED = re.compile(
    r"\bhow many (?!times\b)((?:[\w'-]+\s+){0,2}[\w'-]+)\b|\bnumber of ((?:[\w'-]+\s+)?[\w'-]+)\b", re.I
)
_ABOUT_TABLES = re.compile(r"\b(?:columns?|fields?|headers?|tables?|sheets?|spalten?|tabellen?)\b", re.I)
_IN_A_TABLE = re.compile(
    r"\b(?:in|on|from|within|of|by) (?:the|this|that|these|my|our|a) (?:\w+ ){0,2}?(?:tables?|sheets?)\b|\b(?:in der|aus der|in dieser) tabelle\b",
    re.I,
)
_WORD = re.compile(r"\w+")
_STEPS = re.compile(r"\b(?:steps?|stages?|phases?|procedure|process|schritte?|étapes?|pasos)\b", re.I)

# Characters at the beginning and at the end of a long message in which the kind of answer is looked for; what stands between
# is text that the question is about.
_CUES = 2_000


_NEXT_PART = re.compile(
    r",?\s+(?:and|und|et|y)\s+(?=(?:(?:by|in|to|for|at|on|from|with|of) )?(?:how|what|when|where|who|whom|whose|why|which"
    r"|wie|was|wann|wo|wer|warum|welche[rsn]?|comment|quand|où|qui|pourquoi|cu[aá]ndo|d[oó]nde|qui[eé]n|c[oó]mo)\b)",
    re.I,
)
_ASKS_WHETHER = re.compile(
    r"\W*+(?:(?:and|so|but|ok|okay|well|then|also|i see|thanks|interesting|or)\b\W*+)*+"
    r"(?:is|are|was|were|do|does|did|can|could|will|would|should|has|have|had|may|must|am)\b",
    re.I,
)
_WHETHER_CHARACTERS = 1_000  # of a message that its kind is told by
MAX_PARTS = 3
_REQUEST = re.compile(
    r"(?:(?:please|can you|could you|would you|i want to|i would like to|i'd like to|is there|are there|do you have)\s)*"
    rf"(?:{THROUGH}\s|"
    r"(?:(?:tell|show|give|find|know|learn|read|hear)\s)?(?:(?:me|us)\s)?"
    r"(?:(?:anything|something|everything|all|more|some|any|information|info|facts|details)\s)*(?:about|regarding|concerning)\s)",
    re.I,
)


@dataclass(frozen=True, slots=True)
class QuestionPart:
    """One of the questions that a message asks: "what were sales" of "What were sales, and how did they change?".

    before: the message up to the part
    """

    question: Question
    before: str


@dataclass(frozen=True, slots=True)
class Question:
    """A question with what can be read off it.

    terms:   stemmed, without function words, in order, unique
    counted: stems of what "how many …" asks the number of
    parts:   where the message asks several questions in one, each of them; else empty
    """

    text: str
    language: str | None
    terms: tuple[str, ...]
    expectation: Expectation
    wants_list: bool
    wants_steps: bool
    about_tables: bool = False
    counted: tuple[str, ...] = ()
    parts: tuple[QuestionPart, ...] = ()

    def meets_expectation(self, sentence: str) -> bool:
        """Whether `sentence` holds something of the expected kind besides the question's own words; true when nothing is expected."""
        trace = _TRACES.get(self.expectation)
        if trace is None:
            return True
        asked = _asked_words(self.text)
        rest = _WORD.sub(lambda word: "" if word[0].lower() in asked else word[0], sentence)
        return trace.search(rest if self.expectation in _STATED_ANEW else sentence) is not None


def asks_whether(text: str) -> bool:
    """Whether a message asks for yes or no, in English."""
    return _ASKS_WHETHER.match(text[:_WHETHER_CHARACTERS]) is not None


def without_request(text: str) -> str:
    """What "tell me about …", "anything about …" or "walk me through …" is about; any other text as it is."""
    found = _REQUEST.match(text)
    return text[found.end() :] if found and text[found.end() :].strip() else text


def _cues_of(text: str) -> str:
    """The beginning and the end of a long message, where it says what it wants."""
    return text if len(text) <= 2 * _CUES else f"{text[:_CUES]}\n{text[-_CUES:]}"


def wants_list(text: str) -> bool:
    """Whether all of something is asked for: "List the steps", "Walk me through the steps"."""
    return _LIST.search(_cues_of(text)) is not None


def wants_pictures(text: str) -> bool:
    """Whether pictures, frames or videos are asked for, in the plural: "Show me frames of …"."""
    return _PICTURES.search(text[:_CUES]) is not None


def asks_for_any_picture(text: str) -> bool:
    """Whether a question for pictures says nothing of what is on them: "Show me frames", "Which photos were taken"."""
    return not read_question(_ANY_PICTURE.sub(" ", text[:_CUES])).terms


def read_question(text: str) -> Question:
    """Rules only; no model, no index."""
    question = _read(text)
    ends = [match for match in _NEXT_PART.finditer(text[:_CUES]) if match.start() > 0]
    if not ends or len(ends) >= MAX_PARTS:
        return question
    starts = [0, *(match.end() for match in ends)]
    stops = [*(match.start() for match in ends), len(text)]
    parts = [QuestionPart(_read(text[a:b]), text[:a]) for a, b in zip(starts, stops, strict=True)]
    return replace(question, parts=tuple(parts)) if parts[0].question.terms else question


def _read(text: str) -> Question:
    language = detect_language(text)
    cue = _cues_of(text)
    expectation = next((kind for kind, rule in _RULES if rule.search(cue)), Expectation.ANY)
    return Question(
        text=text,
        language=language,
        terms=tuple(dict.fromkeys(analyze(text, language, query=True))),
        expectation=expectation,
        wants_list=_LIST.search(cue) is not None,
        wants_steps=bool(_STEPS.search(cue)),
        about_tables=bool(_ABOUT_TABLES.search(_IN_A_TABLE.sub("", cue))),
        counted=_counted(cue, language),
    )


@lru_cache(maxsize=16)
def _asked_words(text: str) -> frozenset[str]:
    return frozenset(word.lower() for word in _WORD.findall(text))


def _counted(text: str, language: str | None) -> tuple[str, ...]:
    match = _COUNTED.search(text)
    return tuple(dict.fromkeys(analyze(match[1] or match[2], language, query=True))) if match else ()
