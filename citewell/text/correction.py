"""Corrects misspelled words of a question: first by the words of the texts it is asked of, then by common English words."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from string import ascii_lowercase

from citewell.text.language import detect_language
from citewell.text.stopwords import STOP_WORDS

_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_MIN_LETTERS = 4  # letters of a word that is corrected; with a letter more or less, a shorter one is another word
_LONG = 6  # letters from which a word of the texts may differ in two places
_MAX_LETTERS = 24  # letters; a longer word is a compound or no word
_WORDS = 60  # words of a question that are looked at
_COMPARED = 8  # unknown words among them that are compared with every word of the texts
_ENDINGS = ("s", "es", "ed", "d", "ing", "er", "ers", "ly", "al", "ment", "ness", "able", "less", "ful")


class Speller:
    """Corrects words that are neither common English nor in the texts that a question is asked of.

    A word is replaced by the nearest one of the texts: one letter left out, added, exchanged or swapped with its neighbour, in longer
    words two. Without one, by the most common English word that is one such step away, unless it may be a name.
    """

    def __init__(self, common_words: Callable[[], Mapping[str, int]]) -> None:
        """common_words: gives common English words in lower case, the most common with the lowest number."""
        self._common_words = common_words

    def correct(self, question: str, texts: AbstractSet[str] = frozenset()) -> str:
        """The question, each misspelled word replaced; of one in another language only by words of texts in it.

        texts: words in lower case, such as `words_of` gives
        """
        looked_at = compared = 0
        language = detect_language(question) or "en"
        is_english = language == "en"
        if not is_english and _function_words(language, texts) <= _function_words("en", texts):
            return question

        def corrected(found: re.Match[str]) -> str:
            nonlocal looked_at, compared
            looked_at += 1
            word = found[0]
            if looked_at > _WORDS or not _MIN_LETTERS <= len(word) <= _MAX_LETTERS or "'" in word or "’" in word:
                return word
            is_name = word[0].isupper() and found.start() > 0
            lower = word.lower()
            if not lower.isascii() or self._is_known(lower, texts):
                return word
            compared += 1
            near = set(_one_step_away(lower))
            nearest = _of_texts(lower, near, texts, compare=compared <= _COMPARED)
            if nearest is None and is_english and not is_name:
                nearest = self._common(lower, near)
            return nearest or word

        return _WORD.sub(corrected, question)

    def _is_known(self, word: str, texts: AbstractSet[str]) -> bool:
        ranks = self._common_words()
        return any(form in texts or form in ranks for form in _forms(word))

    def _common(self, word: str, near: AbstractSet[str]) -> str | None:
        """The most common word that is one step away, one that begins alike before others."""
        ranks = self._common_words()
        known = [other for other in near if other in ranks and len(other) >= _MIN_LETTERS - 1]
        return min(known, key=lambda other: (other[0] != word[0], ranks[other]), default=None)


def _function_words(language: str, texts: AbstractSet[str]) -> int:
    """How many of a language's function words the texts have."""
    return len(STOP_WORDS.get(language, frozenset()) & texts)


def _of_texts(word: str, near: AbstractSet[str], texts: AbstractSet[str], *, compare: bool) -> str | None:
    """The nearest word of the texts: one step away (`near`) or, where they may be compared, two from one that begins alike."""
    held = list(near & texts)
    if not held and compare and len(word) >= _LONG:
        alike = (other for other in texts if other[:1] == word[0] and len(other) >= _LONG - 1)
        held = [other for other in alike if _distance(word, other, 2) <= 2]
    return min(held, key=lambda other: (other[0] != word[0], _distance(word, other, 2), other), default=None)


def words_of(texts: Iterable[str]) -> frozenset[str]:
    """The words of some texts in lower case."""
    return frozenset(word.lower() for text in texts for word in _WORD.findall(text))


def _forms(word: str) -> Iterator[str]:
    """The word, and what it may be an ending added to."""
    yield word
    for ending in _ENDINGS:
        stem = word.removesuffix(ending)
        if len(stem) < len(word) and len(stem) >= _MIN_LETTERS - 1:
            yield stem
            yield f"{stem}e"


def _one_step_away(word: str) -> Iterator[str]:
    """Every string one letter less, more or other, or with two neighbours swapped (Damerau 1964)."""
    for at in range(len(word) + 1):
        before, after = word[:at], word[at:]
        for letter in ascii_lowercase:
            yield f"{before}{letter}{after}"
            if after:
                yield f"{before}{letter}{after[1:]}"
        if after:
            yield f"{before}{after[1:]}"
        if len(after) > 1:
            yield f"{before}{after[1]}{after[0]}{after[2:]}"


def _distance(word: str, other: str, most: int) -> int:
    """Letters left out, added, exchanged or swapped with a neighbour, up to `most` and one more for anything beyond."""
    if abs(len(word) - len(other)) > most or len(set(word) ^ set(other)) > 2 * most:
        return most + 1
    before_last: list[int] = []
    last = list(range(len(other) + 1))
    for row, letter in enumerate(word, start=1):
        present = [row]
        for column, compared in enumerate(other, start=1):
            cost = min(last[column] + 1, present[-1] + 1, last[column - 1] + (letter != compared))
            swapped = row > 1 and column > 1 and letter == other[column - 2] and word[row - 2] == compared
            present.append(min(cost, before_last[column - 2] + 1) if swapped else cost)
        before_last, last = last, present
    return last[-1]
