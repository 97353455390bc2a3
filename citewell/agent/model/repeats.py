"""Notices that a model goes round in circles: small ones repeat a sentence until they are stopped."""

from __future__ import annotations

import re
from collections import Counter

MAX_REPEATS = 3
"""Times that a sentence is said, after which the model is stopped."""
_MIN_WORDS = 4
_TAIL = 400  # characters in which shorter pieces repeat
_ENDS = re.compile(r"[.!?。！？\n]+")
_ROUND = re.compile(r"(\S.{7,79}?)\1{4,}\Z", re.S)


class Repeats:
    """Reads a growing text."""

    def __init__(self) -> None:
        self._open = ""
        self._tail = ""
        self._said: Counter[str] = Counter()

    def read(self, piece: str) -> bool:
        """Whether the text repeats itself with this piece."""
        *ended, self._open = _ENDS.split(self._open + piece)
        for sentence in ended:
            words = sentence.casefold().split()
            if len(words) >= _MIN_WORDS:
                self._said[" ".join(words)] += 1
        self._tail = (self._tail + piece)[-_TAIL:]
        circling = len(self._tail) == _TAIL and bool(_ROUND.search(self._tail))
        return circling or max(self._said.values(), default=0) >= MAX_REPEATS
