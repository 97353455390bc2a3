"""Which English words mean nearly the same and which are opposites, as WordNet 3.0 has it (`scripts/make_word_relations.py`)."""

from __future__ import annotations

import gzip
import threading
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from citewell.errors import ConfigurationError

FILE = Path(__file__).with_name("word_relations.txt.gz")
# What a form may end in, and what its base form has there.
_ENDINGS = (
    ("s", ""), ("es", ""), ("ies", "y"), ("ves", "f"), ("ed", ""), ("ed", "e"), ("ied", "y"), ("ing", ""), ("ing", "e"),
    ("er", ""), ("er", "e"), ("est", ""), ("est", "e"), ("ier", "y"), ("iest", "y"),
)  # fmt: skip
_AGAINST = ("un", "in", "im", "il", "ir", "dis", "non")
_loading = threading.Lock()


class _Meanings(NamedTuple):
    """Numbers of meanings: a word's own, those next to them (more general, similar, derived), and their opposites."""

    own: frozenset[int]
    near: frozenset[int]
    opposite: frozenset[int]
    noun: bool


def mean_the_same(one: str, other: str) -> bool:
    """Whether two lower-case words share a meaning, or one has a meaning next to one of the other."""
    first, second = _meanings(one), _meanings(other)
    return bool(first.own & (second.own | second.near) or first.near & second.own)


def share_a_meaning(one: str, other: str) -> bool:
    """Whether two lower-case words are synonyms in one of their meanings, and opposites in none."""
    first, second = _meanings(one), _meanings(other)
    return bool(first.own & second.own) and not (first.opposite & second.own or second.opposite & first.own)


def are_opposites(one: str, other: str) -> bool:
    """Whether a meaning of one lower-case word is the opposite of a meaning of the other, and none is the same."""
    if any(longer == sign + shorter for sign in _AGAINST for longer, shorter in ((one, other), (other, one))):
        return True
    first, second = _meanings(one), _meanings(other)
    opposed = first.opposite & second.own or second.opposite & first.own
    return bool(opposed) and not mean_the_same(one, other)


def is_word(text: str) -> bool:
    """Whether English has this lower-case word, in this form or its base form."""
    known = _meanings(text)
    return bool(known.own or known.near or known.opposite)


def is_noun(word: str) -> bool:
    """Whether a lower-case word, or what it is a form of, is a noun more often than not; so is a word that is not known."""
    return _meanings(word).noun or not is_word(word)


@lru_cache(maxsize=4_096)
def _meanings(word: str) -> _Meanings:
    lines = [known.split("\t") for base in _bases(word) if (known := _lines().get(base)) is not None]
    own, near, opposite = (
        frozenset(int(number) for line in lines for number in line[column].split()) for column in range(3)
    )
    return _Meanings(own, near, opposite, any(line[3] for line in lines))


def _bases(word: str) -> Iterator[str]:
    """The word, and what it may be a form of."""
    yield word
    irregular = _lines().get(f"={word}")
    if irregular is not None:
        yield irregular
        return
    for ending, base in _ENDINGS:
        if word.endswith(ending) and len(word) > len(ending) + 2:
            stem = word[: -len(ending)] + base
            yield stem
            if not base and len(stem) > 3 and stem[-1] == stem[-2]:
                yield stem[:-1]


_known: dict[str, str] = {}


def _lines() -> dict[str, str]:
    """Per word the columns of its line, and under `=` and an irregular form its base form. Takes 0.1 s at first."""
    with _loading:
        if not _known:
            try:
                text = gzip.decompress(FILE.read_bytes()).decode()
            except (OSError, EOFError, ValueError) as error:
                raise ConfigurationError(f"{FILE} is missing or damaged. Reinstall Citewell.") from error
            for line in text.split("\n"):
                word, columns = line.split("\t", 1)
                if columns.startswith("="):
                    _known[f"={word}"] = columns[1:]
                else:
                    _known[word] = columns
        return _known
