"""Tells small talk from what is to be looked up, by a message's words; where they leave doubt, `likeness.py` compares meanings."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from citewell.agent.interface import PastMessage
from citewell.agent.understand import small_talk as talk
from citewell.agent.understand.small_talk import SmallTalk
from citewell.agent.understand.thresholds import THRESHOLDS
from citewell.agent.understand.topics import CONVERSATION_WORDS
from citewell.text.analysis import analyze
from citewell.text.stopwords import STOP_WORDS

IntentKind = Literal["document_query", "general_conversation"]

_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)*")
_STRETCHED = re.compile(r"([^\W\d_])\1+$")
_CLAUSE = re.compile(r"[,.!?;:~—–\n、。！？…()]+|\s-+\s")
_CONTRACTED = re.compile(r"(?<=\w)(?:n't|'(?:s|re|m|ve|d|ll))\b")
_YOU = re.compile(
    r"\b(?:you|your|yours|yourself|(?:this|the) (?:ai|bot|chatbot|assistant)|du|dir|tu|toi|tú|eres|sei|você)\b"
)
_QUOTED = re.compile(r"""["“”„«»][^"“”„«»]*\w[^"“”„«»]*["“”«»]""")
_REQUEST = re.compile(
    r"^(?:(?:please|so|and|hey|but|ok|well|just)[ ,]+)*"
    r"(?:(?:can|could|would|will|may|might) (?:you|i|we)|do you (?:know|mind)|i (?:would like|want|need) (?:you )?to)\b"
)
_ASKERS_OWN = re.compile(r"\b(?:my|our|mine|ours)\b|\byou (?:have|need) to\b")


@dataclass(frozen=True, slots=True)
class Intent:
    """What a message wants. `small_talk` says which kind when `kind` is `general_conversation`; confidence in 0..1."""

    kind: IntentKind
    confidence: float
    small_talk: SmallTalk | None = None


@dataclass(frozen=True, slots=True)
class Doubt:
    """A message whose words alone do not tell.

    text:  what of it is to be compared with phrases of either kind
    about: whether it speaks to the assistant, so that it may be a question about it
    least: the likeness from which it is small talk (`citewell.agent.understand.likeness`)
    words: those of its words that decide, if the owner's files have one of them: neither function words nor words of small talk
    """

    text: str
    about: bool
    least: float
    words: tuple[str, ...]


_LOOKED_UP = Intent("document_query", THRESHOLDS.question)


def read_words(message: str, history: Sequence[PastMessage] = ()) -> Intent | Doubt:
    """Small talk where every clause is polite, something to look up where nothing hints at small talk, else a doubt.

    Politeness around a question ("Hi, what is …", "Thanks! And for …") is left out of what is looked at. An acknowledgement
    ("yes") right after the assistant asked something back is an answer to that, so it counts as a query, and so does a question
    of function words alone in a thread ("And now?"), which leans on what was said.
    """
    if len(message.strip()) > THRESHOLDS.small_talk_characters and _WORD.search(message):
        return _LOOKED_UP
    if _QUOTED.search(message[: THRESHOLDS.small_talk_characters + 1]):
        return _LOOKED_UP  # what is between quotation marks is a name, whatever its words say
    text = normalise(message.strip()[: THRESHOLDS.small_talk_characters])
    if not _WORD.search(text):
        return Intent("general_conversation", THRESHOLDS.around_polite, SmallTalk.ACKNOWLEDGEMENT)
    kinds: list[SmallTalk] = []
    rest: list[str] = []
    for clause in _CLAUSE.split(text):
        kind = _polite_kind(_WORD.findall(clause), kinds) if not rest else None
        if kind is not None:
            kinds.append(kind)
        elif _WORD.search(clause):
            rest.append(clause.strip())
    if not rest:
        return _polite(kinds, history)
    read = _doubt(" ".join(rest), after_politeness=bool(kinds))
    leans = isinstance(read, Doubt) and not read.words and not read.about and message.rstrip().endswith("?")
    return _LOOKED_UP if history and leans else read


def detect_intent(message: str, history: Sequence[PastMessage] = ()) -> Intent:
    """The intent as far as the words tell; a doubt counts as something to look up."""
    read = read_words(message, history)
    return read if isinstance(read, Intent) else _LOOKED_UP


def normalise(message: str) -> str:
    """Lower case, abbreviations and contractions written out, single spaces, no stretched words ("heyyy")."""
    text = " ".join(message.lower().replace("’", "'").split())
    text = _WORD.sub(lambda word: talk.ABBREVIATIONS.get(word[0], word[0]), text)
    text = _CONTRACTED.sub(lambda tail: talk.CONTRACTED[tail[0]], text)
    return _WORD.sub(lambda word: _unstretched(word[0]), text)


def _unstretched(word: str) -> str:
    shorter = _STRETCHED.sub(r"\1", word)
    return shorter if shorter in _POLITE_WORDS and word not in _POLITE_WORDS else word


def _polite(kinds: Sequence[SmallTalk], history: Sequence[PastMessage]) -> Intent:
    """The kind of the polite clauses together: an acknowledgement counts only where there is nothing else ("ok, bye")."""
    kind = next((kind for kind in kinds if kind is not SmallTalk.ACKNOWLEDGEMENT), SmallTalk.ACKNOWLEDGEMENT)
    if kind is SmallTalk.ACKNOWLEDGEMENT and history and history[-1].content.rstrip().endswith("?"):
        return Intent("document_query", THRESHOLDS.answered_back)
    return Intent("general_conversation", THRESHOLDS.only_polite, kind)


def _polite_kind(words: Sequence[str], before: Sequence[SmallTalk]) -> SmallTalk | None:
    """The kind of a clause of polite words and what goes with them; None for any other clause, and for a question.

    After a polite clause (`before`: the kinds of those) what goes with such words will do: "Thanks, that's helpful".
    """
    if not words or _asks(words):
        return None
    meant = [_corrected(word) for word in words]
    if any(word not in _POLITE_WORDS | talk.POLITE_COMPANIONS | _function_words() for word in meant):
        return None
    for kind, known in talk.POLITE.items():
        if not known.isdisjoint(meant):
            return kind
    return before[-1] if before and not talk.POLITE_COMPANIONS.isdisjoint(meant) else None


def _asks(words: Sequence[str]) -> bool:
    return words[0] in talk.ASKING_FIRST or not talk.ASKING.isdisjoint(words)


@lru_cache(maxsize=4_096)
def _corrected(word: str) -> str:
    """A polite word that this one misspells by one letter left out, added, exchanged or swapped; else the word itself.

    Short words are taken as they are: a letter less or more makes another word of them.
    """
    if word in _POLITE_WORDS or word in _function_words() or len(word) < THRESHOLDS.misspelt_characters:
        return word
    return next((known for known in sorted(_POLITE_WORDS) if _one_slip(word, known)), word)


def _one_slip(word: str, known: str) -> bool:
    if len(known) <= THRESHOLDS.misspelt_characters or abs(len(word) - len(known)) > 1 or word[0] != known[0]:
        return False
    first = next((i for i, (a, b) in enumerate(zip(word, known, strict=False)) if a != b), min(len(word), len(known)))
    one, other = word[first:], known[first:]
    swapped = one[:2] == other[:2][::-1] and one[2:] == other[2:]
    return swapped or one == other[1:] or one[1:] == other


def _doubt(text: str, *, after_politeness: bool) -> Intent | Doubt:
    words = _WORD.findall(text)
    if len(words) > THRESHOLDS.small_talk_words:
        return _polite_question(after_politeness)
    own = tuple(word for word in words if word not in _empty_words() and not _is_ours(word))
    about = _YOU.search(_REQUEST.sub("", text)) is not None and _ASKERS_OWN.search(text) is None
    if about:
        least = THRESHOLDS.like_about
    elif not own and not _asks(words):
        least = THRESHOLDS.like_wordless
    else:
        least = THRESHOLDS.like_other
    return Doubt(text, about, least, own)


def _polite_question(after_politeness: bool) -> Intent:
    return Intent("document_query", THRESHOLDS.polite_question) if after_politeness else _LOOKED_UP


def _is_ours(word: str) -> bool:
    """Whether the word is one of small talk's own: it says nothing of what files may hold."""
    return word in _POLITE_WORDS or word in talk.POLITE_COMPANIONS or not _own_terms().isdisjoint(analyze(word, "en"))


@lru_cache(maxsize=1)
def _own_terms() -> frozenset[str]:
    return frozenset(
        term for phrases in talk.PROTOTYPES.values() for phrase in phrases for term in analyze(phrase, "en")
    )


@lru_cache(maxsize=1)
def _function_words() -> frozenset[str]:
    """English ones; those of another language may be content words of English."""
    return STOP_WORDS["en"] | {"i"}


@lru_cache(maxsize=1)
def _empty_words() -> frozenset[str]:
    return _function_words() | CONVERSATION_WORDS


_POLITE_WORDS = frozenset(word for words in talk.POLITE.values() for word in words)
