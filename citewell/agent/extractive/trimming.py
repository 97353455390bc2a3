"""Shortens a sentence that states a fact: what only follows it is left out, from the clause on that begins with a connecting word.

The words that stay are a beginning of the sentence, as it stands in the source, so a citation of them is one of the source's own words.
"""

from __future__ import annotations

import re

from citewell.agent.extractive.thresholds import THRESHOLDS, ExtractiveThresholds
from citewell.agent.statements import MAX_CHARACTERS
from citewell.agent.understand.question import FACTS, Question
from citewell.text.analysis import analyze

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
    r"\b(?:but|though|although|however|yet|not|no|never|none|neither|nor|without|cannot|unless|except|if|until|only|provided|excluding|other|rather|instead)\b|n['’]t\b",
    re.I,
)
_OPENED = re.compile(r"[(\[“«„]")
_CLOSED = re.compile(r"[)\]”»]")


def trim(question: Question, sentence: str, limits: ExtractiveThresholds = THRESHOLDS) -> str:
    """The sentence up to where only additions follow, with an ellipsis; the whole sentence where it cannot be told.

    The question asks for a fact, such as a number or a name; what stays holds one and every word of the question that the sentence has, and
    what is left out holds neither, nor a word that limits what is said.
    """
    if question.expectation not in FACTS or len(sentence) > MAX_CHARACTERS or '"' in sentence:
        return sentence
    asked = set(question.terms)
    held = asked & set(analyze(sentence, question.language))
    for found in _BREAK.finditer(sentence):
        kept, rest = sentence[: found.start()], sentence[found.end() :]
        if len(kept.split()) < limits.kept_words or len(rest.split()) < limits.cut_words or not _ADDS.match(rest):
            continue
        whole = len(_OPENED.findall(kept)) == len(_CLOSED.findall(kept))
        if (
            held
            and whole
            and held <= set(analyze(kept, question.language))
            and _LIMITS.search(rest) is None
            and question.meets_expectation(kept)
            and not question.meets_expectation(f"… {rest}")
        ):
            return f"{kept}…"
    return sentence
