"""Makes the last message of a conversation standalone, without a model: what it refers to is brought in from the thread."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from citewell.agent.interface import PastMessage
from citewell.agent.spoken import says_no_answer
from citewell.agent.understand.small_talk import is_reply
from citewell.agent.understand.thresholds import THRESHOLDS
from citewell.agent.understand.topics import find_topic_terms
from citewell.text.analysis import analyze

_LINKING = "and|but|so|ok|okay|then|also|thanks|thank you|great|well|no|yes|hm+"
_EXCHANGED = re.compile(
    rf"^(?:(?:{_LINKING})[\s,!.]+)*(?:what|how) about\b|^(?:and|or|but|then|also|plus)\b",
    re.I,
)
_LEAD = re.compile(
    rf"^(?:(?:{_LINKING})[\s,!.]+)*(?:(?:what|how) about|and|or|but|then|also|plus)\b"
    r"[\s,]*(?:(?:for|in|on|of|with|at|the)\b\s*)*",
    re.I,
)
_ASKS_ANEW = re.compile(
    r"(?:what|which|who|whom|whose|where|when|why|how|is|are|was|were|do|does|did|can|could|will|would|should|may|must|has|have)\b",
    re.I,
)
_WORD = re.compile(r"[\w'’-]+")
_NAME = re.compile(r"[A-Z][\w'’-]*(?: [A-Z][\w'’-]*)*")
_NAMES = re.compile(rf"(?<!^)\b{_NAME.pattern}")
"""Of a question, whose first word has a capital anyway."""
_SLOTS = (
    re.compile(r"\bQ[1-4](?:\s+\d{4})?\b", re.I),
    re.compile(r"\b(?:1[89]|20)\d\d\b"),
    re.compile(
        r"\b(?:january|february|march|april|may|june|july|august|september|october|november|december)(?: \d{4})?\b",
        re.I,
    ),
    re.compile(r"\b\d+(?:[.,]\d+)*\b"),
    _NAMES,
)
_PREPOSITIONS = "for|in|at|on|with|from|by|of|to"
_WITH_PREPOSITION = re.compile(
    rf"(?:(?:{_LINKING}|or|plus|(?:what|how) about)\b[\s,!.]*)+"
    rf"(?P<preposition>{_PREPOSITIONS})\s+(?P<object>\S.*)",
    re.I,
)
_PHRASE = re.compile(
    rf"\b(?P<preposition>{_PREPOSITIONS})\s+(?P<object>(?:(?!\b(?:{_PREPOSITIONS}|than|and|or)\b)[^\s?.!,;:()]+\s?)+)",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Rephrased:
    """A message made standalone: `question` to read and to judge sentences by, `queries` to search with (hits are merged).

    A message that is complete by itself is read and searched as it is, whatever came before. Any other is searched twice, as it is and
    with the thread's topic: whichever of the two it needs, the right passages rank high in the sum.

    beside: a query that finds nothing of its own and only moves up, among what the others find, what it finds too: of a complete message
            with the thread's topic, whose subject it may leave unsaid; of any other after the question before it. Empty without a thread
    base:   the question before, in which a short message such as `and in Kumasi?` takes the place of something that a table may tell;
            else empty
    earlier: the latest questions of the thread, oldest first, from which a message about a table may go on
    asked:  an incomplete message with the topic in the asker's own words, for tables: what an answer named would be a condition of the
            query; else empty
    """

    question: str
    queries: tuple[str, ...]
    beside: str = ""
    base: str = ""
    asked: str = ""
    earlier: tuple[str, ...] = ()


def rephrase(
    message: str, history: Sequence[PastMessage], leaning: frozenset[str], small_talk: frozenset[str] = frozenset()
) -> Rephrased:
    """The last message in the light of the thread before it (oldest first).

    leaning: those of the messages that cannot be understood alone; small_talk: those that are
    """
    past = _without_small_talk(history[-THRESHOLDS.thread_messages :], small_talk)
    earlier = tuple(one.content for one in past if one.role == "user")[-THRESHOLDS.continued :]
    return replace(_rephrased(message, history, leaning, small_talk), earlier=earlier)


def _rephrased(
    message: str, history: Sequence[PastMessage], leaning: frozenset[str], small_talk: frozenset[str] = frozenset()
) -> Rephrased:
    text = " ".join(message.split())
    past = _without_small_talk(history[-THRESHOLDS.thread_messages :], small_talk)
    earlier = [m.content[: THRESHOLDS.follow_up_characters + 1] for m in past if m.role == "user"]
    if not earlier:
        return Rephrased(text, (text,))
    if message not in leaning:
        return Rephrased(text, (text,), _with_topic(text, past))
    base = ""
    if (
        len(text) <= THRESHOLDS.follow_up_characters
        and len(earlier[-1]) <= THRESHOLDS.follow_up_characters
        and (_EXCHANGED.search(text) or len(text.split()) <= THRESHOLDS.exchanged_words)
    ):
        own = _LEAD.sub("", text).strip(" ?!.")
        before = _before(past, earlier[-1])[-THRESHOLDS.exchange_depth :]
        base = _rephrased(earlier[-1], before, leaning).question
        exchanged = None if _ASKS_ANEW.match(own) else _exchanged_phrase(base, text) or _substituted(base, own)
        if exchanged:
            return Rephrased(exchanged, (exchanged,))
    with_topic = _with_topic(text, past)
    if not with_topic:
        return Rephrased(text, (text,), base=base)
    asked = _with_topic(text, [m for m in past if m.role == "user"]) or text
    return Rephrased(with_topic, (text, with_topic), f"{earlier[-1]} {text}", base, asked)


def _with_topic(text: str, past: Sequence[PastMessage]) -> str:
    """The message with the words of the thread that it leaves unsaid; empty where there are none."""
    terms = find_topic_terms(text, past, THRESHOLDS.topic_terms)
    return f"{text} ({' '.join(terms)})" if terms else ""


def _without_small_talk(history: Sequence[PastMessage], small_talk: frozenset[str]) -> list[PastMessage]:
    """The messages that say something of a subject: no small talk, no reply to it, and no refusal."""
    kept: list[PastMessage] = []
    for past in history:
        if past.role == "user":
            if past.content not in small_talk:
                kept.append(past)
        elif is_reply(past.content):
            if kept and kept[-1].role == "user":  # what it replied to
                kept.pop()
        elif not says_no_answer(past.content):
            kept.append(past)
    return kept


def _before(history: Sequence[PastMessage], content: str) -> Sequence[PastMessage]:
    last = max(i for i, past in enumerate(history) if past.role == "user" and past.content == content)
    return history[:last]


def _exchanged_phrase(base: str, text: str) -> str | None:
    """`base` with its last phrase after a preposition exchanged for the one that `text` has after the same.

    "maximum loan size for first-time borrowers" + "And for the second loan?" → "maximum loan size for the second loan".
    """
    asked = _WITH_PREPOSITION.match(text)
    if asked is None:
        return None
    phrases = [m for m in _PHRASE.finditer(base) if m["preposition"].casefold() == asked["preposition"].casefold()]
    if not phrases or len(phrases[-1]["object"].split()) > THRESHOLDS.exchanged_words:
        return None
    start, last = phrases[-1].start("object"), phrases[-1]["object"].rstrip()
    return base[:start] + asked["object"].strip(" ?!.") + base[start + len(last) :]


def _substituted(base: str, own: str) -> str | None:
    """`base` with the phrase that `own` takes the place of exchanged: one that ends in the same word, or of the same kind.

    "maximum loan for first-time borrowers" + "returning borrowers" → "maximum loan for returning borrowers".
    """
    words = list(_WORD.finditer(base))
    head = _stem(own.split()[-1]) if own.split() else ""
    for index in range(len(words) - 1, -1, -1):
        if head and _stem(words[index][0]) == head:
            first = index
            while first > 0 and _stem(words[first - 1][0]) and words[first].start() - words[first - 1].end() == 1:
                first -= 1
            return base[: words[first].start()] + own + base[words[index].end() :]
    for kind in _SLOTS:
        whole = _NAME if kind is _NAMES else kind
        if whole.fullmatch(own) and (found := list(kind.finditer(base))):
            return base[: found[-1].start()] + own + base[found[-1].end() :]
    return None


def _stem(word: str) -> str:
    """The word's stem; empty for a function word."""
    return next(iter(analyze(word, "en", query=True)), "")
