"""Whether a message leans on earlier conversations: "What did we decide about the boiler?", "as I told you last week"."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, datetime

from citewell.retrieve.periods import TimeSpan, periods

MAX_READ = 1_000
"""Characters of a message in which this is looked for."""

# Who took part in a conversation here, beside a verb of speaking or deciding in a past tense, and names of the conversation itself.
_PAST_EN = (
    "decided|agreed|discussed|talked|said|told|mentioned|concluded|settled|spoken?|chatted|promised|suggested|recommended|explained|asked"
    "|answered|planned|chose|chosen"
)
_BASE_EN = "decide|agree|discuss|talk|say|tell|mention|conclude|settle|speak|chat|promise|suggest|recommend|explain|ask|answer|plan|choose"
_PAST_DE = (
    "beschlossen|entschieden|besprochen|gesagt|erzählt|erwähnt|vereinbart|gefragt|abgemacht|geschrieben|diskutiert|geredet|gesprochen"
    "|festgelegt|empfohlen|vorgeschlagen|erklärt|ausgemacht|geplant"
)
_PAST_FR = (
    "décidée?s?|dite?s?|parlé|convenue?s?|discutée?s?|mentionnée?s?|évoquée?s?|demandée?s?|conclue?s?|promise?s?|expliquée?s?|recommandée?s?"
    "|proposée?s?|raconté"
)
_PAST_ES = (
    "decidido|dicho|hablado|acordado|comentado|mencionado|preguntado|contado|recomendado|explicado|discutido|quedado"
)
_LEANS = (
    rf"\bdid (?:we|i|you) (?:\w+ ){{0,2}}?(?:{_BASE_EN})\b(?: (?:to )?(?:you|me))?",
    rf"\b(?:have|had) (?:we|i|you) (?:\w+ ){{0,2}}?(?:{_PAST_EN})\b",
    rf"\b(?:as |like |what |that )?(?:we|i|you)(?:['’](?:ve|d))?(?: (?:have|had|already|just|once))* (?:{_PAST_EN})\b(?: (?:to )?(?:you|me))?",
    r"\b(?:in )?(?:(?:our|my|the|that|an?) )?(?:last|previous|earlier|past|recent) (?:chats?|conversations?|discussions?|talks?)\b",
    r"\bour (?:chats?|conversations?|discussions?|talks?)\b|\b(?:the )?last time we (?:spoke|talked|chatted)\b",
    r"\b(?:do you |can you )?remember (?=what|when|which|how|that|my|our)|\bremind me (?=what|which|of what|how)",
    rf"\b(?:habe|hatte)n? (?:ich|wir|sie)\b.{{0,120}}?\b(?:{_PAST_DE})\b|\bhast du\b.{{0,120}}?\b(?:{_PAST_DE})\b",
    rf"\b(?:wie )?(?:ich|wir|du)\b[^.?!]{{0,60}}?\b(?:{_PAST_DE}) (?:habe?n?|hast|hatten?)\b",
    r"\b(?:in )?(?:unse?re[mnrs]?|de[mnr]|das|meine[mnr]?) (?:letzte[nrs]? |vorige[nrs]? |frühere[nrs]? )(?:gespräche?s?|chats?|unterhaltung)\b",
    r"\berinnerst du dich\b|\berinnere mich daran\b|\bletztes mal (?:gesagt|besprochen|gesprochen)\b",
    rf"\b(?:avi?ons-nous|a-t-on|on a|nous avi?ons|j['’]a(?:i|vais)|je (?:te|t['’]|vous) ?ai|tu as|vous avez|as-tu|avez-vous|ai-je)\b[^.?!]{{0,40}}?\b(?:{_PAST_FR})\b",
    r"\b(?:notre|nos|une|la) (?:dernières? |précédentes? )?(?:conversations?|discussions?)(?: précédentes?)?\b|\brappelle(?:z)?[- ]moi ce\b|\bte souviens[- ]tu\b",
    rf"\b(?:hemos|habíamos|he|has|habéis|te he|me has) (?:\w+ )?(?:{_PAST_ES})\b",
    r"\b(?:decidimos|acordamos|hablamos|dijimos|(?:te )?dije|(?:me )?dijiste|(?:te )?mencioné|mencionaste|(?:te )?conté|(?:te )?pregunté|quedamos)\b",
    r"\b(?:nuestra|la) (?:última )?conversación(?: anterior)?\b|\b(?:te acuerdas|recuérdame)\b",
)
_LEANING = re.compile("|".join(f"(?:{one})" for one in _LEANS), re.IGNORECASE)
_FRAME_WORDS = 4  # of a frame that holds nothing


@dataclass(frozen=True, slots=True)
class Leaning:
    """What a message says of earlier conversations.

    topic: the message without the words that refer to them, and without when they were
    first, until: when they were, in the person's local time; None where it does not say
    """

    topic: str
    first: datetime | None = None
    until: datetime | None = None

    def covers(self, moment: datetime) -> bool:
        """Whether a local time without zone lies in the span that the message names."""
        return (self.first is None or self.first <= moment) and (self.until is None or moment < self.until)


def read_leaning(message: str, today: date) -> Leaning | None:
    """What the message says of earlier conversations; None if it does not lean on any."""
    text = " ".join(message[:MAX_READ].split())
    if not _LEANING.search(text):
        return None
    span = next((one for one in periods(text, today) if _is_past(one, today)), None)
    rest = text if span is None else f"{text[: span.start]} {text[span.end :]}"
    topic = " ".join(_LEANING.sub(_between, rest).split()).strip(" ,;:.?!")
    return Leaning(topic) if span is None else Leaning(topic, span.first, span.until)


def _between(frame: re.Match[str]) -> str:
    """What a frame in two parts holds: "über die Heizung" of "haben wir über die Heizung beschlossen"."""
    words = frame[0].split()
    return f" {' '.join(words[2:-1])} " if len(words) > _FRAME_WORDS else " "


def _is_past(span: TimeSpan, today: date) -> bool:
    """Whether a conversation may have been then: a span of days or weeks counted from today, or a date that is over."""
    return span.first is not None and span.first.date() <= today
