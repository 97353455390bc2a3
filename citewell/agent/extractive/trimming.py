"""Shortens a sentence: what only follows the answer in it is left out.

Where a reader has marked the answer with enough certainty, that is what comes after the clause that ends with it. Without a reader, it is
told for facts only, from the clause on that begins with a connecting word. The words that stay are a beginning of the sentence, as it stands in the source, so a citation of them is one of the source's own words.
"""

from __future__ import annotations

import re

from citewell.agent.extractive.scoring import Read
from citewell.agent.extractive.thresholds import THRESHOLDS, ExtractiveThresholds
from citewell.agent.statements import MAX_CHARACTERS
from citewell.agent.understand.question import FACTS, Question
from citewell.text.analysis import analyze
from citewell.text.quantities import CURRENCY_SIGNS

_BREAK = re.compile(r"(?<![\s,;–—-])(?:[,;]\s+|\s+[–—-]\s+)")
# A clause that begins thus adds to the sentence before it; a further item of a list does not.
_ADDS = re.compile(
    r"(?:(?:in|on|at|from|by|with|for|to|of|through|under|after)\s)?(?:which|whom|whose)\b"
    r"|(?:who|where|while|whereas|because|since|with|including|such as|as well as|along with|as|so)\b"
    r"|and\s(?:he|she|it|they|we|this|these|that|there|its|his|her|their|the\s\w+\s(?:is|was|are|were|has|have|had))\b"
    r"|\w{3,}ing\s(?:the|an?|it|its|his|her|their|them|him|this|these|that|all|more|in|on|at|to|from|by|with|for|as|up|out|into|about)\b",
    re.I,
)
# Without such a word the sentence would say something else, or more than its writer holds.
_LIMITS = re.compile(
    r"\b(?:but|though|although|however|yet|not|no|never|none|neither|nor|without|cannot|unless|except|if|until|only|provided|excluding|other|rather|instead"
    r"|at (?:most|least)|up to|subject to|earliest|latest|first time"
    r"|nicht|kein\w{0,2}|ohne|außer|aber|jedoch|sondern|nur|erst|wenn|falls|sofern|solange|mindestens|höchstens|frühestens|spätestens)\b|n['’]t\b",
    re.I,
)
# What a question that does not ask for a fact may ask for, and the words of one that asks for a fact and for this.
_CAUSE = re.compile(
    r"\b(?:because|since|due to|owing to|thanks to|driven by|caused by|as a result|reflecting|in order to|so that)\b",
    re.I,
)
_ASKS_FOR_CAUSE = re.compile(r"\b(?:why|because|cause[ds]?|reasons?|drove|driv\w+|led|explain\w*|due)\b", re.I)
_CLAUSE = re.compile(r"(?<![\s,;:–—-])(?:[,;:]\s+|\s+[–—-]\s+|\s+(?=\())")
_UNIT = re.compile(
    rf"[{CURRENCY_SIGNS}%]|\b(?-i:[A-Z]{{3}})(?=\s?\d)|(?<=\d)\s?(?:per ?cent|percent|euros?|dollars?|pounds?)\b", re.I
)
_JOINS = re.compile(r"(?:and|or)\b", re.I)
_OPENED = re.compile(r"[(\[“«„]")
_CLOSED = re.compile(r"[)\]”»]")


def trim(question: Question, sentence: str, read: Read | None = None, limits: ExtractiveThresholds = THRESHOLDS) -> str:
    """The sentence up to where only additions follow, with an ellipsis; the whole sentence where it cannot be told.

    read: what the reader says of this sentence. What stays holds the answer and every word of the question that the sentence has; what is
    left out holds neither, nor a word that limits what is said, nor, unless a fact is asked for, a reason.
    """
    marked = read is not None and sentence[read.start : read.end] == read.answer
    if read is None or not marked or read.probability < limits.read_certain or len(sentence) > MAX_CHARACTERS:
        return _up_to_the_fact(question, sentence, limits)
    held = set(question.terms) & set(analyze(sentence, question.language))
    may_be_cause = question.expectation not in FACTS or _ASKS_FOR_CAUSE.search(question.text) is not None
    for found in _CLAUSE.finditer(sentence, read.end):
        kept, rest = sentence[: found.start()], sentence[found.end() :]
        if _goes_on_listing(rest, limits):
            return sentence
        if (
            len(kept.split()) >= limits.kept_words
            and len(rest.split()) >= limits.cut_words
            and _is_whole(kept)
            and _LIMITS.search(rest) is None
            and not (may_be_cause and _CAUSE.search(rest))
            and held <= set(analyze(kept, question.language))
            and not (_units(read.answer) & _units(rest))
        ):
            return f"{kept}…"
    return sentence


def _units(text: str) -> set[str]:
    """What its amounts are in: where another amount of the kind follows, it may be the one that holds in the end."""
    return {found[0].strip().casefold() for found in _UNIT.finditer(text)}


def _goes_on_listing(rest: str, limits: ExtractiveThresholds) -> bool:
    """Whether what follows a comma is a further item: a few words, up to the next break or after "and"."""
    end = _CLAUSE.search(rest)
    words = len((rest[: end.start()] if end else rest).split())
    return words <= (limits.joined_words if _JOINS.match(rest) else limits.cut_words if end else 0)


def _is_whole(text: str) -> bool:
    """Whether no bracket or quotation is left open."""
    return text.count('"') % 2 == 0 and len(_OPENED.findall(text)) == len(_CLOSED.findall(text))


def _up_to_the_fact(question: Question, sentence: str, limits: ExtractiveThresholds) -> str:
    """As `trim`, where only a fact tells what answers: the question asks for one, and what stays holds one."""
    if question.expectation not in FACTS or len(sentence) > MAX_CHARACTERS or '"' in sentence:
        return sentence
    asked = set(question.terms)
    held = asked & set(analyze(sentence, question.language))
    for found in _BREAK.finditer(sentence):
        kept, rest = sentence[: found.start()], sentence[found.end() :]
        if len(kept.split()) < limits.kept_words or len(rest.split()) < limits.cut_words or not _ADDS.match(rest):
            continue
        if (
            held
            and _is_whole(kept)
            and held <= set(analyze(kept, question.language))
            and _LIMITS.search(rest) is None
            and question.meets_expectation(kept)
            and not question.meets_expectation(f"… {rest}")
        ):
            return f"{kept}…"
    return sentence
