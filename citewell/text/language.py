"""Which language a text is in: by script, then by function words and letters that only some languages have."""

from __future__ import annotations

import re
from collections import Counter
from enum import StrEnum
from functools import lru_cache

from citewell.text.stopwords import STOP_WORDS
from citewell.text.tokens import written_tokens

_SAMPLE_CHARACTERS = 2_000
"""Characters that the language is told by."""
_SCRIPT_CHARACTERS = 400
"""Characters that the script is told by."""


class Script(StrEnum):
    """Scripts that decide between languages; OTHER is every script that needs no decision from us."""

    LATIN = "latin"
    CYRILLIC = "cyrillic"
    GREEK = "greek"
    ARABIC = "arabic"
    HEBREW = "hebrew"
    DEVANAGARI = "devanagari"
    ARMENIAN = "armenian"
    GEORGIAN = "georgian"
    TAMIL = "tamil"
    THAI = "thai"
    KANA = "kana"
    HAN = "han"
    HANGUL = "hangul"
    OTHER = "other"


_RANGES: tuple[tuple[int, int, Script], ...] = (
    (0x41, 0x24F, Script.LATIN),
    (0x370, 0x3FF, Script.GREEK),
    (0x400, 0x52F, Script.CYRILLIC),
    (0x530, 0x58F, Script.ARMENIAN),
    (0x590, 0x5FF, Script.HEBREW),
    (0x600, 0x77F, Script.ARABIC),
    (0x900, 0x97F, Script.DEVANAGARI),
    (0xB80, 0xBFF, Script.TAMIL),
    (0xE00, 0xE7F, Script.THAI),
    (0x10A0, 0x10FF, Script.GEORGIAN),
    (0x1100, 0x11FF, Script.HANGUL),
    (0x1E00, 0x1EFF, Script.LATIN),
    (0x1F00, 0x1FFF, Script.GREEK),
    (0x3040, 0x30FF, Script.KANA),
    (0x3400, 0x9FFF, Script.HAN),
    (0xAC00, 0xD7AF, Script.HANGUL),
    (0xFB50, 0xFDFF, Script.ARABIC),
)
_DEFAULT: dict[Script, str] = {
    Script.LATIN: "en",
    Script.CYRILLIC: "ru",
    Script.GREEK: "el",
    Script.ARABIC: "ar",
    Script.HEBREW: "he",
    Script.DEVANAGARI: "hi",
    Script.ARMENIAN: "hy",
    Script.GEORGIAN: "ka",
    Script.TAMIL: "ta",
    Script.THAI: "th",
    Script.KANA: "ja",
    Script.HAN: "zh",
    Script.HANGUL: "ko",
}
_LANGUAGES: dict[Script, tuple[str, ...]] = {
    Script.LATIN: tuple(
        code
        for code in STOP_WORDS
        if code not in {"ru", "uk", "bg", "sr", "el", "ar", "fa", "ur", "hi", "ne", "hy", "ta"}
    ),
    Script.CYRILLIC: ("ru", "uk", "bg", "sr"),
    Script.ARABIC: ("ar", "fa", "ur"),
    Script.DEVANAGARI: ("hi", "ne"),
}
LANGUAGES = frozenset(STOP_WORDS) | frozenset(_DEFAULT.values())
"""The languages that are told apart, as ISO 639-1 codes."""
# Letters that, among the languages of their script here, point at one or a few.
_TELLING = {
    "ä": ("de", "sv", "fi", "et"), "ö": ("de", "sv", "fi", "hu", "tr", "et"), "ü": ("de", "tr", "hu", "et"),
    "ß": ("de",), "ñ": ("es",), "¿": ("es",), "ã": ("pt",), "õ": ("pt", "et"), "ő": ("hu",), "ű": ("hu",), "ğ": ("tr",),
    "ı": ("tr",), "ş": ("tr", "ro"), "ș": ("ro",), "ț": ("ro",), "ă": ("ro", "vi"), "ł": ("pl",), "ż": ("pl",), "ą": ("pl", "lt"),
    "ę": ("pl", "lt"), "ě": ("cs",), "ř": ("cs",), "ů": ("cs",), "å": ("sv", "da", "no"), "ø": ("da", "no"), "æ": ("da", "no"),
    "ơ": ("vi",), "ư": ("vi",), "đ": ("vi",), "ė": ("lt",), "ų": ("lt",), "і": ("uk",), "ї": ("uk",), "є": ("uk",), "ы": ("ru",),
    "э": ("ru",), "ъ": ("bg", "ru"), "ј": ("sr",), "ђ": ("sr",), "ћ": ("sr",), "њ": ("sr",), "љ": ("sr",),
    "پ": ("fa", "ur"), "چ": ("fa", "ur"), "گ": ("fa", "ur"), "ژ": ("fa",), "ی": ("fa", "ur"), "ک": ("fa", "ur"), "ٹ": ("ur",), "ڈ": ("ur",),
    "ے": ("ur",), "ہ": ("ur",), "ة": ("ar",), "ى": ("ar",), "ي": ("ar",), "ك": ("ar",),
}  # fmt: skip
_SIGNS = re.compile(r"['’\-‐‑]")
_ENOUGH = 0.3
"""Points of evidence from which a language is named. Set by hand."""
_VIETNAMESE = re.compile("[\u1ea0-\u1ef9]")


def _evidence() -> dict[str, tuple[tuple[str, float], ...]]:
    """Per function word the languages it speaks for; it counts the less, the more languages share it.

    Single plain letters have too many other uses (list items, units, drive names).
    """
    by_word: dict[str, list[str]] = {}
    for code, words in STOP_WORDS.items():
        for word in words:
            if len(word) > 1 or not word.isascii():
                by_word.setdefault(word, []).append(code)
    return {word: tuple((code, len(codes) ** -0.5) for code in codes) for word, codes in by_word.items()}


_EVIDENCE = _evidence()


def script_of(text: str) -> Script:
    """The script of the first letter of `text` that has one here, else OTHER."""
    for character in text:
        if character.isalpha():
            return _script(character)
    return Script.OTHER


def default_language(script: Script) -> str | None:
    """The language whose rules a word of this script gets when nothing better is known."""
    return _DEFAULT.get(script)


def detect_language(text: str) -> str | None:
    """ISO 639-1 code of the main language of `text`; None when it gives no evidence (numbers, a name, one rare word)."""
    sample = text[:_SAMPLE_CHARACTERS]
    script = _main_script(sample)
    if script in _LANGUAGES:
        return _by_words(sample.lower(), _LANGUAGES[script]) or (None if script is Script.LATIN else _DEFAULT[script])
    return _DEFAULT.get(script)


def _main_script(text: str) -> Script:
    if text.isascii():
        return Script.LATIN
    counts = Counter(_script(character) for character in text[:_SCRIPT_CHARACTERS] if character.isalpha())
    if not counts:
        return Script.OTHER
    if counts[Script.KANA] and counts[Script.KANA] * 10 >= counts[Script.HAN]:
        return Script.KANA
    # A Chinese character is about a word, a Latin letter a fifth of one.
    counts[Script.HAN] *= 3
    return counts.most_common(1)[0][0]


@lru_cache(maxsize=4096)
def _script(character: str) -> Script:
    code = ord(character)
    for low, high, script in _RANGES:
        if low <= code <= high:
            return script
    return Script.HAN if 0x20000 <= code < 0x40000 else Script.OTHER


def _by_words(text: str, languages: tuple[str, ...]) -> str | None:
    """The language with the most evidence, the first in `STOP_WORDS` among equals; None when there is hardly any."""
    points = dict.fromkeys(languages, 0.0)
    for word in set(written_tokens(text)):
        for part in (word,) if word.isalpha() else _SIGNS.split(word):
            for code, weight in _EVIDENCE.get(part, ()):
                if code in points:
                    points[code] += weight
    if not text.isascii():
        for letter in set(text) & _TELLING.keys():
            for code in _TELLING[letter]:
                if code in points:
                    points[code] += 1.0 / len(_TELLING[letter])
        if "vi" in points and _VIETNAMESE.search(text):
            points["vi"] += 1.0
    best = max(points, key=points.__getitem__)
    return best if points[best] >= _ENOUGH else None
