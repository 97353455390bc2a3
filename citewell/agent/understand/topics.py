"""What a conversation is about: the words of its recent messages that a follow-up leaves unsaid."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import lru_cache

from citewell.agent.citations.claims import strip_markers
from citewell.agent.interface import PastMessage
from citewell.agent.understand.thresholds import THRESHOLDS
from citewell.text.analysis import analyze
from citewell.text.language import detect_language
from citewell.text.stopwords import STOP_WORDS

_WORD = re.compile(r"[^\W_][\w'’&.-]*\w|[^\W_]")
CONVERSATION_WORDS = frozenset(  # they say nothing of a subject, though they are no function words
    """say says ask asked use talk speak kind kinds type types sort sorts hear believe guess hope wonder wondering curious thank thanks yes no ok okay sure please know tell want need like also really good great nice mean think get got make way thing
    things lot many much something anything sorry question answer information specific general provide available example include
    including different well help would could may might one two new first""".split()  # noqa: SIM905
)
_LABEL = re.compile(r"(?:(?<=; )|(?<=^- )|^)[^\s:;][^:;\n]{0,40}: ", re.M)
"""The name of a column before a cell, as rows are shown: it says what kind of thing is told, and not of what."""
_LOOKED_BACK = 32  # characters before a word in which the end of the sentence before is looked for


def find_topic_terms(message: str, history: Sequence[PastMessage], count: int) -> list[str]:
    """At most `count` words of the thread, as written there, best first; none that the message holds itself.

    A word counts for every message it occurs in, recent ones more, the user's more than the assistant's, names (capitalised in
    mid-sentence) double, and words that only the assistant used little. Of words that count alike the one said last comes first, and of
    those of one message its first.
    """
    language = detect_language(message) or detect_language(" ".join(past.content for past in history[-2:])) or "en"
    own = set(analyze(message, language))
    starts = {term[: THRESHOLDS.same_start] for term in own if len(term) >= THRESHOLDS.same_start}
    scores: dict[str, float] = defaultdict(float)
    written: dict[str, str] = {}
    names: set[str] = set()
    asked: set[str] = set()
    for age, past in enumerate(reversed(history[-THRESHOLDS.topic_messages :])):
        weight = THRESHOLDS.decay**age * (1.0 if past.role == "user" else THRESHOLDS.assistant_weight)
        found = list(_terms(past, language))
        for term, word, is_name in found:
            written.setdefault(term, word)
            names |= {term} if is_name else set()
            asked |= {term} if past.role == "user" else set()
        for term in dict.fromkeys(term for term, _, _ in found):
            scores[term] += weight
    for term in scores:
        scores[term] *= (THRESHOLDS.name_factor if term in names else 1.0) * (
            1.0 if term in asked else THRESHOLDS.unasked_factor
        )
    best = [
        t
        for t in sorted(scores, key=lambda term: -scores[term])
        if t not in own and not (len(t) >= THRESHOLDS.same_start and t[: THRESHOLDS.same_start] in starts)
    ]
    return [written[term] for term in best[:count]]


def _terms(past: PastMessage, language: str) -> Iterator[tuple[str, str, bool]]:
    """Stem, word as written, and whether it is capitalised in mid-sentence."""
    if past.role == "user":
        text = past.content[: THRESHOLDS.user_characters]
    else:
        # Markers are taken out of twice as much as is looked at, as they may fill half of it.
        text = strip_markers(past.content[: 2 * THRESHOLDS.assistant_characters])[: THRESHOLDS.assistant_characters]
        text = _LABEL.sub("", text) if "; " in text else text
    stop = _stop_words(language)
    for match in _WORD.finditer(text):
        word = match[0]
        lower = word.lower()
        if (
            lower in stop
            or lower.rstrip("s") in stop
            or (len(word) < THRESHOLDS.word_characters and not word.isupper())
        ):
            continue
        term = next(iter(analyze(word, language)), "")
        if term:
            yield term, word, word[0].isupper() and not _begins_sentence(text, match.start())


def _begins_sentence(text: str, start: int) -> bool:
    before = text[max(0, start - _LOOKED_BACK) : start].rstrip(" \t\"'“‘(*-")
    return not before or before[-1] in ".!?\n:"


@lru_cache(maxsize=64)
def _stop_words(language: str) -> frozenset[str]:
    return CONVERSATION_WORDS | STOP_WORDS["en"] | STOP_WORDS.get(language, frozenset())
