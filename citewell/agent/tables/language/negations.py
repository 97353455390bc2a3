"""Words that turn a condition around: `not in Accra`, `other than`, `do not have a`. What reads one counts its words as explained."""

from __future__ import annotations

from citewell.agent.tables.language import wording
from citewell.agent.tables.language.question_reading import Reading
from citewell.agent.tables.language.wording import FILLERS

NEGATIONS = frozenset(
    {"not", "never", "isn't", "aren't", "wasn't", "weren't", "hasn't", "haven't", "doesn't", "don't", "didn't"}
)
BEING_THERE = frozenset(
    map(wording.norm, ("allow", "permit", "accept", "include", "provide", "offer", "support", "contain"))
)
"""Stems of verbs that say only that something is there."""
_DENIED_WITHIN = 5  # words


def read_exclusion(reading: Reading, first: int) -> bool:
    """Whether the words right before `first` leave out what it names: `not in`, `apart from`, `other than`."""
    before = [w.text.casefold() for w in reading.question[max(0, first - 2) : first]]
    found = [
        i
        for i, word in enumerate(before)
        if word in ("not", "except", "excluding", "without", "than", "isn't", "aren't")
    ]
    if before == ["apart", "from"] or before[-1:] == ["besides"]:
        reading.use(first - len(before) + (before[0] not in ("apart", "besides")), first)
        return True
    if found and not (before[found[-1]] == "than" and "other" not in before):
        start = max(0, first - 2)
        reading.use(start + found[-1] - (before[found[-1]] == "than"), first)
        return True
    return False


def read_denial(reading: Reading, first: int) -> bool:
    """Whether words before `first` say that it is not there: `do not have a`, `don't include any`."""
    for index in range(first - 1, max(-1, first - _DENIED_WITHIN), -1):
        word = reading.question[index]
        if word.text.casefold() in NEGATIONS:
            reading.use(index, index + 1)
            return True
        if word.norm not in FILLERS and word.norm not in BEING_THERE:
            return False
    return False


def check_negations(reading: Reading) -> None:
    """A `not` that no condition has taken up leaves out rows, and it is not known which: `engines that were not used in 2013`."""
    texts = [word.text.casefold() for word in reading.question]
    for index, text in enumerate(texts):
        after_or = index > 0 and texts[index - 1] == "or"  # `whether or not`
        if text in NEGATIONS and index not in reading.used and not after_or:
            reading.problem = reading.problem or f"it is not clear what “{reading.question[index].text}” leaves out"
