"""Tells small talk from a question or task with rules alone, so that thanks and greetings touch no index and cost no embedding."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from citewell.agent.interface import PastMessage
from citewell.agent.understand import small_talk as words
from citewell.agent.understand.small_talk import SmallTalk
from citewell.agent.understand.thresholds import THRESHOLDS

IntentKind = Literal["document_query", "general_conversation"]


_SOCIAL: tuple[tuple[SmallTalk, re.Pattern[str]], ...] = tuple(
    (kind, re.compile(rf"(?:{'|'.join(patterns)})(?![\w'])"))
    for kind, patterns in (
        (SmallTalk.GREETING, words.GREETING),
        (SmallTalk.THANKS, words.THANKS),
        (SmallTalk.GOODBYE, words.GOODBYE),
        (SmallTalk.ACKNOWLEDGEMENT, words.ACKNOWLEDGEMENT),
    )
)
_FILLERS = re.compile(words.FILLERS)
_FRAMES = tuple(re.compile(rf"(?:{pattern})(?:(?<=\s)|(?!\w)\s*)") for pattern in words.FRAMES)
_TOKEN = re.compile(r"[\w']+")
_ASSISTANT = frozenset({"you", "your", "yours", "yourself"})
_THIS_ASSISTANT = re.compile(r"\b(?:this|the) (?:ai|bot|chatbot|assistant)\b")
_JOKE = re.compile(
    r"\b(?:a|an|another|any|some|good|best|funny|dad|knock|corny|more|me|your|favou?rite|one|few|tell|know|hear|jokes?|of) (?:[\w'-]+ ){0,4}?(?:jokes?|puns?|riddles?|limericks?)\b"
    r"|^(?:jokes?|riddles?)\b|\bmake me (?:laugh|smile|giggle|chuckle)\b|\b(?:amuse|entertain|humou?r) me\b"
    r"|\b(?:something|anything|somethin) (?:\w+ )?(?:funny|humou?rous|hilarious|amusing)\b|\b(?:a good|to|a) laugh\b"
)
_DEFINITE_JOKE = re.compile(r"\b(?:the|this|that|my|our|their) (?:\w+ )?(?:joke|jokes|pun|puns|riddle|riddles)\b")
_FUN_FACT = re.compile(r"\b(?:fun|funny|random|silly|weird|crazy|fascinating) (?:\w+ )?facts?\b|\btrivia\b")
_INTERESTING = re.compile(
    r"\b(?:interesting|cool|neat|unusual|odd|amazing|surprising) (?:\w+ )?(?:facts?|things?|info|information|tidbits?)\b"
    r"|\bsomething (?:\w+ )?(?:interesting|cool|fun|neat|random|amazing|i do not know|i did not know|new)\b|^an? facts?\b"
    r"|^(?:something|anything) about \w+$"
)
_DEFINITE = re.compile(r"\b(?:the|this|that|these|those|my|our|their|its|his|her)\b|\d")
_ASKS_ASSISTANT = re.compile(r"^(?:what|who|where|how) .*\byou\b(?!.*\b(?:it|that|this|these|those)\b)")
_GENERIC_YOU = re.compile(
    r"\b(?:you|one) (?:have|need|got|ought|are required|are supposed|are allowed|are expected) to\b|\bdo you (?:get to|need)\b|\bmust you\b"
)
_ONLY_ABOUT_ASSISTANT = re.compile(
    r"^(?:who|whom|(?:what|which) (?:company|person|people|organi[sz]ation|team|firm|country)) (?:\w+ ){1,2}you$|^(?:where|when|how|why|by whom|who) (?:were|was) you (?:\w+ ?){1,3}$|^are you my \w+$"
)
_MODAL_REQUEST = re.compile(r"^(?:can|could|would|will|may|might) you (?:please |kindly |possibly |maybe |just )*")
_ENDS_IN_THANKS = re.compile(
    r"\b(?:thanks|thank you|appreciate it|appreciated)(?: (?:so|very|much|a|lot|again|you|ai|bot))*[\s.!]*$"
)
_ASKS = re.compile(
    r"\?|\b(?:what|which|who|whom|whose|where|when|why|how|can|could|would|please|list|show|find|give|tell|compare|summari[sz]e"
    r"|explain|calculate|count|need|want|looking|search|get|send|translate|write|draft|is there|are there)\b"
)
_LIFE = frozenset(
    {"life", "lifes", "life's", "living", "existence", "universe", "exist", "alive", "everything", "here"}
)
_LIFE_ASK = frozenset({"meaning", "purpose", "point", "reason", "secret", "goal", "answer", "why", "mean", "about"})


@dataclass(frozen=True, slots=True)
class Intent:
    """What a message wants. `small_talk` says which kind when `kind` is `general_conversation`."""

    kind: IntentKind
    confidence: float
    small_talk: SmallTalk | None = None


def detect_intent(message: str, history: Sequence[PastMessage] = ()) -> Intent:
    """Small talk, or something to look up; confidence in 0..1.

    Politeness around a question ("Hi, what is …", "Thanks! And for …") does not make it small talk. An acknowledgement
    ("yes") right after the assistant asked something back is an answer to that, so it counts as a query.
    """
    if len(message.strip()) > THRESHOLDS.small_talk_characters and _TOKEN.search(message):
        return Intent("document_query", THRESHOLDS.question)
    text = normalise(message.strip()[: THRESHOLDS.small_talk_characters])
    if not _TOKEN.search(text) and not _social_kind(text):
        return Intent("general_conversation", THRESHOLDS.around_polite, SmallTalk.ACKNOWLEDGEMENT)
    social, rest = _strip_social(text)
    if not rest:
        if social == SmallTalk.ACKNOWLEDGEMENT and history and history[-1].content.rstrip().endswith("?"):
            return Intent("document_query", THRESHOLDS.answered_back)
        return Intent("general_conversation", THRESHOLDS.only_polite, social)
    if social in (SmallTalk.THANKS, SmallTalk.GOODBYE) and not _ASKS.search(rest) and _only_function_words(rest):
        return Intent("general_conversation", THRESHOLDS.around_polite, social)
    if _is_closing_thanks(text):
        return Intent("general_conversation", THRESHOLDS.closing_thanks, SmallTalk.THANKS)
    kind = _persona_kind(rest)
    if kind:
        return Intent("general_conversation", THRESHOLDS.about_assistant, kind)
    return Intent("document_query", THRESHOLDS.question if social is None else THRESHOLDS.polite_question)


def normalise(message: str) -> str:
    """Lower case, straight apostrophes, contractions written out, single spaces."""
    text = " ".join(message.lower().replace("’", "'").split())
    return re.sub(r"[\w']+(?:-bye)?", lambda m: words.CONTRACTIONS.get(m.group(), m.group()), text)


def _social_kind(text: str) -> SmallTalk | None:
    return next((kind for kind, pattern in _SOCIAL if pattern.match(text)), None)


def _strip_social(text: str) -> tuple[SmallTalk | None, str]:
    """Take polite phrases off the front while they end at a sentence or phrase end; what is left is the matter itself."""
    found: SmallTalk | None = None
    rest = _FILLERS.sub(" ", text[:1]).strip() + text[1:] if text else text
    rest = rest.lstrip(" ,.!?;:-")
    while rest:
        step = _longest_social(rest)
        if step is None:
            return found, rest
        kind, end = step
        found = found if found not in (None, SmallTalk.ACKNOWLEDGEMENT) else kind
        gap = _FILLERS.match(rest, end)
        rest = rest[gap.end() if gap else end :]
    return found, ""


def _longest_social(text: str) -> tuple[SmallTalk, int] | None:
    ends = [(match.end(), kind) for kind, pattern in _SOCIAL if (match := pattern.match(text))]
    if not ends:
        return None
    end, kind = max(ends, key=lambda pair: pair[0])
    return kind, end


def _strip_frames(text: str) -> str:
    """Without "can you tell me", "I would like to know", …"""
    before = None
    while before != text:
        before = text
        for frame in _FRAMES:
            match = frame.match(text)
            if match and match.end() < len(text):
                text = text[match.end() :]
    return text


def _only_function_words(text: str) -> bool:
    return set(_TOKEN.findall(text)) <= words.FUNCTION_WORDS | words.CAPABILITY | {"ai", "bot"}


def _persona_kind(text: str) -> SmallTalk | None:
    core = _strip_frames(text)
    tokens = _TOKEN.findall(core)
    if _is_entertainment(core, text):
        return SmallTalk.ENTERTAINMENT
    if _is_meaning_of_life(tokens):
        return SmallTalk.MEANING_OF_LIFE
    if _is_about_assistant(core, tokens):
        return SmallTalk.ABOUT_ASSISTANT
    return None


def _is_entertainment(core: str, text: str) -> bool:
    if _FUN_FACT.search(core) or (_INTERESTING.search(core) and not _DEFINITE.search(core)):
        return True
    return bool(_JOKE.search(text) and not _DEFINITE_JOKE.search(core))


def _is_meaning_of_life(tokens: Sequence[str]) -> bool:
    content = set(tokens) - words.FUNCTION_WORDS - _ASSISTANT
    return bool(set(tokens) & _LIFE and set(tokens) & _LIFE_ASK and content and content <= words.MEANING_OF_LIFE)


def _is_about_assistant(core: str, tokens: Sequence[str]) -> bool:
    """Whether the message asks the assistant about itself, in words of the closed vocabulary only."""
    if _GENERIC_YOU.search(core):
        return False
    request = _MODAL_REQUEST.match(core)
    if request:
        rest = set(_TOKEN.findall(core[request.end() :]))
        if not rest & _ASSISTANT:
            content = rest - words.FUNCTION_WORDS
            return bool(content) and content <= words.CAPABILITY
    if _ONLY_ABOUT_ASSISTANT.match(core.rstrip(" ?.!")):
        return True
    if not (_ASSISTANT & set(tokens) or _THIS_ASSISTANT.search(core)):
        return False
    content = {token.removesuffix("'s") for token in tokens} - words.FUNCTION_WORDS
    if not content:
        return bool(_ASKS_ASSISTANT.match(core))
    return bool(set(tokens) & words.PERSONA_CORE) and content <= words.PERSONA_CORE | words.PERSONA_EXTRA


def _is_closing_thanks(text: str) -> bool:
    """A statement that ends in thanks ("you gave me so much, thank you"), as against a polite request."""
    return bool(_ENDS_IN_THANKS.search(text)) and not _ASKS.search(text)
