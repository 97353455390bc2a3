"""Reads a sentence for comparison: words by what they mean, figures by value, "no more than" as one limit, and where clauses begin."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from citewell.agent.citations.grammar import AT_LEAST, AT_MOST, Grammar
from citewell.agent.citations.numbers import find_figures
from citewell.text.analysis import analyze

_TOKEN = re.compile(r"[^\W\d_]+n['’]t\b|[^\W_]+(?:[.,]\d+)*|[,;:()–—.?!]")
MAX_WORD_CHARACTERS = 64
_TO_FIGURE, _FROM_FIGURE, _TO_DENIAL = 4, 3, 3
"""Words from a limit on to its figure, back to it, and back to what denies the limit."""


class ComparedWord(NamedTuple):
    """A word as it is compared. key: its stem, a figure's value, or the limit that it is; start and end are places in the text."""

    text: str
    key: str
    written: str
    start: int
    end: int
    clause: int
    is_content: bool = False
    is_figure: bool = False
    denies: bool = False


def read_words(text: str, language: str | None, grammar: Grammar) -> list[ComparedWord]:
    """The words of a text, its clauses numbered from 0."""
    figures = {figure.start: figure for figure in find_figures(text)}
    found: list[ComparedWord] = []
    clause, end, begins = 0, 0, True
    for match in _TOKEN.finditer(text):
        written, start = match[0], match.start()
        if start < end:
            continue
        plain = written.casefold().replace("’", "'")
        parts = not written[0].isalnum() or plain in grammar.boundaries
        if parts and not begins:
            clause, begins = clause + 1, True
        if not written[0].isalnum():
            continue
        begins = False
        figure = figures.get(start)
        end = figure.end if figure is not None else match.end()
        if figure is not None:
            found.append(
                ComparedWord(plain, f"#{max(figure.values):f}", text[start:end].strip(), start, end, clause, True, True)
            )
            continue
        key = stem(written, language)
        denies = grammar.denies(plain)
        found.append(
            ComparedWord(plain, key or plain, written, start, end, clause, bool(key) and not denies, False, denies)
        )
    said: list[ComparedWord] = []
    for word in found:
        if said and said[-1].denies and word.text in grammar.affirming:
            said.pop()  # "not only", "no matter"
        else:
            said.append(word)
    return _with_limits(said, grammar)


def stem(word: str, language: str | None) -> str:
    """A word's main index term; empty for function words."""
    return _stem(word[:MAX_WORD_CHARACTERS], language)


@lru_cache(maxsize=20_000)
def _stem(word: str, language: str | None) -> str:
    return next(iter(analyze(word, language)), "")


def _with_limits(words: Sequence[ComparedWord], grammar: Grammar) -> list[ComparedWord]:
    """Each limit of a figure as one word, turned round where a denial comes just before it."""
    found: list[ComparedWord] = []
    index = 0
    while index < len(words):
        count, meaning = _limit_at(words, index, grammar)
        if not count:
            found.append(words[index])
            index += 1
            continue
        first, last = words[index], words[index + count - 1]
        denial = next((n for n in range(1, _TO_DENIAL + 1) if n <= len(found) and found[-n].denies), 0)
        if denial and found[-denial].clause == first.clause:
            meaning = AT_LEAST if meaning == AT_MOST else AT_MOST
            del found[-denial]
        written = " ".join(word.written for word in words[index : index + count])
        found.append(ComparedWord(meaning, meaning, written, first.start, last.end, first.clause))
        index += count
    return found


def _limit_at(words: Sequence[ComparedWord], index: int, grammar: Grammar) -> tuple[int, str]:
    """How many words from `index` on limit a figure beside them, and how; 0 where none do."""
    for row, meaning in grammar.limits:
        count = len(row)
        if row[0] == words[index].text and row == tuple(word.text for word in words[index : index + count]):
            after, before = (
                words[index + count : index + count + _TO_FIGURE],
                words[max(0, index - _FROM_FIGURE) : index],
            )
            return (count, meaning) if any(word.is_figure for word in (*after, *before)) else (0, "")
    return 0, ""
