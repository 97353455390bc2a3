"""Questions about any thing of a kind: `When is a loan overdue?` asks what makes it so, and rows only show which ones are."""

from __future__ import annotations

from citewell.agent.tables.language.shape import Shape
from citewell.agent.tables.language.wording import words

LISTING_SHAPES = frozenset({Shape.ROWS, Shape.LOOKUP, Shape.FOUND})
"""Answers that are rows, or cells of them."""
_ASKING = frozenset(("when", "what", "why", "how"))
_PRESENT = frozenset(("is", "are", "does", "do", "becomes", "become"))
_ANY = frozenset(("a", "an", "any", "someone", "somebody", "something"))
_DETERMINED = frozenset(
    ("the", "this", "that", "these", "those", "my", "our", "your", "his", "her", "its", "their", "all", "both", "each", "every", "most", "some",
     "it", "they", "we", "you", "i", "he", "she", "there")
)  # fmt: skip


def asks_of_a_kind(question: str) -> bool:
    """Whether a question is about whatever is of a kind, in the present tense: `what is an overdue loan`, `when are loans overdue`,
    `what does overdue mean`, `what counts as overdue`. Words in the past tense or with `the` are about certain things.
    """
    texts = [word.text.casefold() for word in words(question)]
    if (
        len(texts) < 3 or texts[0] not in _ASKING or texts[-1] == "cost"
    ):  # a price is a price: `what does a blood test cost`
        return False
    if texts[:2] in (["what", "does"], ["what", "do"]) and texts[-1] == "mean":
        return True
    if texts[:3] == ["what", "counts", "as"]:
        return True
    if texts[1] not in _PRESENT:
        return False
    plural = texts[0] == "when" and texts[1] in ("are", "do") and texts[2].endswith("s")
    return texts[2] in _ANY or (plural and texts[2] not in _DETERMINED)
