"""Text to index terms: folded, stemmed by language, without function words; n-grams where words are not spaced."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from typing import Protocol, cast

import snowballstemmer

from citewell.text.language import Script, default_language, detect_language, script_of
from citewell.text.stopwords import STOP_WORDS, UNSPACED_STOP_RUNS
from citewell.text.tokens import Kind, tokens

_STEMMERS = {
    "ar": "arabic", "ca": "catalan", "cs": "czech", "da": "danish", "de": "german", "el": "greek", "en": "english",
    "es": "spanish", "et": "estonian", "eu": "basque", "fa": "persian", "fi": "finnish", "fr": "french", "ga": "irish",
    "hi": "hindi", "hu": "hungarian", "hy": "armenian", "id": "indonesian", "it": "italian", "lt": "lithuanian",
    "ne": "nepali", "nl": "dutch", "no": "norwegian", "pl": "polish", "pt": "portuguese", "ro": "romanian", "ru": "russian",
    "sr": "serbian", "sv": "swedish", "ta": "tamil", "tr": "turkish",
}  # fmt: skip
# Their accents tell words apart, so folding them is an extra form of a document's word, not its only one.
_ACCENTS_MATTER = frozenset({"vi"})
_UNDECOMPOSED = str.maketrans(
    {
        "ł": "l",
        "ø": "o",
        "đ": "d",
        "ð": "d",
        "þ": "th",
        "æ": "ae",
        "œ": "oe",
        "ı": "i",
        "ß": "ss",
        "\u200c": "",
        "\u200d": "",
    }
)
_FOLDABLE = frozenset({Script.LATIN, Script.GREEK, Script.CYRILLIC, Script.ARABIC, Script.HEBREW})
_GROUPED_NUMBER = re.compile(r"\d{1,3}(?:([.,'’])\d{3})(?:\1\d{3})*(?:[.,]\d+)?")
_DECIMAL = re.compile(r"\d+[.,]\d+")
_PARTS = re.compile(r"\d+|[^\W\d_]+(?:[\u0300-\u036f]+[^\W\d_]*)*")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_MIXED = re.compile(r"[^\W\d_]\d|\d[^\W\d_]|[a-z][A-Z]")
_CLITIC_TAILS = frozenset({"s", "t", "re", "ve", "ll", "d", "m"})
_MAX_TERM = 64
_MAX_PARTS = 8


class _Stemmer(Protocol):
    def stemWord(self, word: str) -> str:  # noqa: N802 - the library's own name
        ...


def analyze(text: str, language: str | None = None, *, query: bool = False) -> list[str]:
    """The index terms of `text`, in order, repeats kept.

    language: ISO 639-1; detected when None. A word in another script than the language's is treated by its script's
    default. query: only the forms a query should ask for, without the alternative spellings a document is found under.
    """
    language = language or detect_language(text)
    return [term for group in term_groups(text, language, query=query) for term in group]


def term_groups(text: str, language: str | None, *, query: bool = False) -> Iterator[tuple[str, ...]]:
    """Per token its terms: the main one first, then the others under which the token can be found; stop words left out."""
    for token in tokens(text):
        if token.kind is Kind.WORD:
            terms = _word_terms(token.text, language, query)
        elif token.kind is Kind.COMPOUND:
            terms = _compound_terms(token.text, language, query)
        else:
            yield from ((gram,) for gram in _grams(token.text, token.kind, language))
            continue
        if terms:
            yield terms


@lru_cache(maxsize=200_000)
def _word_terms(word: str, language: str | None, query: bool) -> tuple[str, ...]:
    """Terms of a token without connectors: its stem, and for codes such as `AB12` or `getName` its parts."""
    code = _language_of(word, language)
    lower = _lower(word, code)
    if code is not None and lower in STOP_WORDS.get(code, frozenset()):
        return ()
    terms = [_stem(lower, code)]
    if not query:
        terms += _spellings(lower, code)
    parts = _code_parts(word)
    if len(parts) > 1:
        terms += [_stem(_lower(part, code), code) for part in parts]
    return _unique(terms)


@lru_cache(maxsize=100_000)
def _compound_terms(token: str, language: str | None, query: bool) -> tuple[str, ...]:
    """Terms of parts joined by signs: the number, address or code whole, then its parts; `don't` and `l'avion` by their words."""
    number = _number(token)
    if number:
        return (number,)
    words = _split_apostrophes(token)
    if len(words) == 1 and words[0].isalnum():
        return _word_terms(words[0], language, query)
    if len(words) > 1:
        return _unique([t for word in words for t in analyze_token(word, language, query)])
    pieces = [piece for piece in re.split(r"[.,@\-‐‑/:&+_]+", words[0]) if piece]
    terms = [_whole(words[0], pieces, language)]
    if len(pieces) <= _MAX_PARTS:
        terms += [t for piece in pieces for t in _word_terms(piece, language, query)]
    else:
        terms += [_stem(_lower(piece, None), None) for piece in pieces]
    return _unique(terms)


def analyze_token(word: str, language: str | None, query: bool) -> tuple[str, ...]:
    """Terms of a single token, whatever its kind."""
    return _word_terms(word, language, query) if word.isalnum() else _compound_terms(word, language, query)


def _whole(token: str, pieces: list[str], language: str | None) -> str:
    """The one term for a compound: hyphenated words as if written together, anything else as it stands."""
    if all(piece.isalpha() for piece in pieces) and not any(sign in token for sign in "@/:.&+_,"):
        joined = "".join(pieces)
        code = _language_of(joined, language)
        return _stem(_lower(joined, code), code)
    return _fold(token.casefold())[:_MAX_TERM]


def _number(token: str) -> str | None:
    """`5,000`, `5.000` and `5'000` as `5000`; `3,14` as `3.14`; None for what is not a number."""
    grouped = _GROUPED_NUMBER.fullmatch(token)
    if grouped:
        sign = grouped[1]
        return token.replace(sign, "").replace(",", ".")
    return token.replace(",", ".") if _DECIMAL.fullmatch(token) else None


def _split_apostrophes(token: str) -> list[str]:
    if "'" not in token and "’" not in token:
        return [token]
    words = [word for word in re.split("['’]", token) if word]
    if len(words) > 1 and words[-1].lower() in _CLITIC_TAILS:
        words.pop()
    return words


def _code_parts(word: str) -> list[str]:
    """Where a code may be cut: between letters and digits, and at the humps of camelCase; [] for plain words and hashes."""
    if not _MIXED.search(word):
        return []
    parts = [hump for run in _PARTS.findall(word) for hump in _CAMEL.split(run)]
    return parts if 1 < len(parts) <= 4 else []


def _grams(run: str, kind: Kind, language: str | None) -> Iterator[str]:
    """Overlapping character n-grams of a run that has no spaces: two for Chinese, Japanese and Korean, three elsewhere."""
    size = 3 if kind is Kind.UNSPACED else 2
    if len(run) <= size:
        if run not in UNSPACED_STOP_RUNS.get(language or "", frozenset()):
            yield run
        return
    stop = UNSPACED_STOP_RUNS.get(language or "", frozenset())
    for start in range(len(run) - size + 1):
        gram = run[start : start + size]
        if gram not in stop:
            yield gram


def _language_of(word: str, language: str | None) -> str | None:
    """The text's language when the word is in its script, else the default of the word's own script."""
    script = script_of(word)
    if script is Script.OTHER:
        return None
    if language is not None and _script_of_language(language) is script:
        return language
    return default_language(script)


@lru_cache(maxsize=256)
def _script_of_language(language: str) -> Script:
    words = STOP_WORDS.get(language)
    if words:
        return script_of(next(iter(words)))
    return next((script for script in Script if default_language(script) == language), Script.LATIN)


def _lower(word: str, language: str | None) -> str:
    if language == "tr":
        word = word.replace("I", "ı").replace("İ", "i")
    return word.lower() if word.isascii() else word.casefold().replace("i\u0307", "i")


def _stem(word: str, language: str | None) -> str:
    """The stem, accents folded unless they tell words apart."""
    name = _STEMMERS.get(language or "")
    stem = _stemmer(name).stemWord(word) if name and not word.isdigit() else word
    return (stem if language in _ACCENTS_MATTER else _fold(stem))[:_MAX_TERM]


def _spellings(word: str, language: str | None) -> list[str]:
    """Terms under which a document's accented word is found by a query typed without accents."""
    if word.isascii():
        return []
    folded = _fold(word)
    return [] if folded == word else [_stem(folded, language)]


@lru_cache(maxsize=100_000)
def _fold(word: str) -> str:
    """Accents and vowel points removed where the script treats them as optional."""
    if word.isascii() or script_of(word) not in _FOLDABLE:
        return word
    decomposed = unicodedata.normalize("NFD", word.translate(_UNDECOMPOSED))
    return unicodedata.normalize("NFC", "".join(c for c in decomposed if unicodedata.category(c) != "Mn"))


@lru_cache(maxsize=64)
def _stemmer(name: str) -> _Stemmer:
    return cast(_Stemmer, snowballstemmer.stemmer(name))


def _unique(terms: list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(term for term in terms if term))
