"""Suggests the name that somebody probably meant."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher

_ALIKE = 0.6  # share of characters in common, 0..1, from which a name is suggested
_MAX_LENGTH = 80  # characters of a name that may be a misspelling of ours


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that is most like this one, letter case and the order of words aside; None when none is like it."""
    if len(name) > _MAX_LENGTH:
        return None
    likeness, found = max(((_likeness(name, candidate), candidate) for candidate in known), default=(0.0, ""))
    return found if likeness >= _ALIKE else None


def suggestion(name: str, known: Iterable[str], quote: str = "`") -> str:
    """A sentence with the nearest known name, or with all of them when none is near."""
    names = sorted(known)
    return advice(nearest(name, names), names, quote)


def advice(near: str | None, names: Sequence[str], quote: str = "`") -> str:
    """The same where the nearest name, or that there is none, is known already."""
    if near is not None:
        return f"Did you mean {quote}{near}{quote}?"
    listed = ", ".join(f"{quote}{one}{quote}" for one in names)
    return f"There are: {listed}." if names else "There are none."


def _likeness(name: str, other: str) -> float:
    ours, theirs = _words(name), _words(other)
    return max(_ratio(ours, theirs), _ratio(sorted(ours), sorted(theirs)))


def _ratio(ours: list[str], theirs: list[str]) -> float:
    return SequenceMatcher(None, "".join(ours), "".join(theirs), autojunk=False).ratio()


def _words(name: str) -> list[str]:
    """`top_k`, `top-k` and `TopK` are the same two words, or one to somebody who forgot to separate them."""
    parted = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name)
    return re.findall(r"[^\W_]+", parted.casefold())
