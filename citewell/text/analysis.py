"""Text to index terms: folded, stemmed by language, without function words; n-grams where words are not spaced."""

from __future__ import annotations

import re
import threading
import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple, Protocol, cast

import Stemmer

from citewell.text.language import Script, default_language, detect_language, script_of
from citewell.text.stopwords import STOP_WORDS, UNSPACED_STOP_RUNS
from citewell.text.tokens import TokenKind, composed, split_kinds, written_tokens

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
# English words fall to a stemmer alone; Vietnamese words are single syllables.
_WITHOUT_PIECES = frozenset({"en", "vi"})
_PIECE = 4
"""Characters of the pieces of words outside English (decision 0004)."""
_CHARACTER_WEIGHT = 0.4
"""Weight of a single Chinese character beside its bigrams (decision 0004)."""
_PAIR_WEIGHT = 0.3
"""Weight of two neighbouring words as one term: names (decision 0004)."""
_SYLLABLES = frozenset({"vi"})
_SYLLABLE_PAIR_WEIGHT = 0.6
"""The same where white space separates syllables, not words."""
_FOLDABLE = frozenset({Script.LATIN, Script.GREEK, Script.CYRILLIC, Script.ARABIC, Script.HEBREW})
_GROUPED_NUMBER = re.compile(r"\d{1,3}(?:([.,'’])\d{3})(?:\1\d{3})*(?:[.,]\d+)?")
_DECIMAL = re.compile(r"\d+[.,]\d+")
_PARTS = re.compile(r"\d+|[^\W\d_]+(?:[\u0300-\u036f]+[^\W\d_]*)*")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_DIGIT = re.compile(r"\d")
_MIXED = re.compile(r"[^\W\d_]\d|\d[^\W\d_]|[a-z][A-Z]")
_CLITIC_TAILS = frozenset({"s", "t", "re", "ve", "ll", "d", "m"})
_SIGNS = re.compile(r"[.,@\-‐‑/:'’&+_]+")
_of_thread = threading.local()
_MAX_REMEMBERED_LENGTH = 32
"""Characters of the longest word that is cached, and that is part of a pair."""
_MAX_TERM = 64
"""Characters kept of a term."""
_MAX_PARTS = 8
"""Parts of a compound that are terms of their own."""


class _Stemmer(Protocol):
    def stemWord(self, word: str) -> str:  # noqa: N802 - the library's own name
        ...


class Term(NamedTuple):
    """An index term, and how much a query's occurrence of it counts (documents count every term once)."""

    text: str
    weight: float = 1.0


def analyze(text: str, language: str | None = None, *, query: bool = False) -> list[str]:
    """The words of `text` as index terms, in order, repeats kept; without the weaker evidence of `term_groups`.

    language: ISO 639-1; detected when None. A word in another script than the language's is treated by its script's
    default. query: only the forms a query should ask for, without the alternative spellings a document is found under.
    """
    language = language or detect_language(text)
    groups = term_groups(text, language, query=query)
    return [term.text for group in groups for term in group if term.weight >= 1.0]


def term_groups(text: str, language: str | None, *, query: bool = False) -> Iterator[tuple[Term, ...]]:
    """Per token its terms: the main one first, then others under which the token can be found; stop words left out."""
    for written in written_tokens(text):
        yield from token_groups(written, language, query)


def token_groups(written: str, language: str | None, query: bool) -> tuple[tuple[Term, ...], ...]:
    """The groups of terms of one written token (`citewell.text.tokens.written_tokens`)."""
    if len(written) > _MAX_REMEMBERED_LENGTH:
        return _token_groups(written, language, query)
    return _remembered_groups(written, language, query)


def pair_terms(written: Sequence[str], language: str | None, *, query: bool = False) -> Iterator[Term]:
    """Terms of neighbouring words that make a name (`Joshua Trees`, `Section 4`), or, where words are syllables, a word.

    In documents both must begin with a capital or a digit, so that the index grows by names and not by every pair; a
    query asks for all its pairs, as people type names in lower case. Function words part.
    """
    every = query or language in _SYLLABLES
    weight = _SYLLABLE_PAIR_WEIGHT if language in _SYLLABLES else _PAIR_WEIGHT
    before = ""
    for token in written:
        if not (every or token[0].isupper() or token[0].isdigit()) or len(token) > _MAX_REMEMBERED_LENGTH:
            before = ""
            continue
        groups = _remembered_groups(token, language, query)
        main = groups[0][0].text if len(groups) == 1 else ""
        if before and main:
            yield Term(f"{before} {main}", weight)
        before = main


def _token_groups(written: str, language: str | None, query: bool) -> tuple[tuple[Term, ...], ...]:
    groups: list[tuple[Term, ...]] = []
    for token in split_kinds(written):
        if token.kind is TokenKind.WORD:
            groups.append(_word_terms(token.text, language, query))
        elif token.kind is TokenKind.COMPOUND:
            groups.append(_compound_terms(token.text, language, query))
        else:
            groups += _grams(token.text, token.kind, language)
    return tuple(group for group in groups if group)


_remembered_groups = lru_cache(maxsize=200_000)(_token_groups)


def _word_terms(word: str, language: str | None, query: bool) -> tuple[Term, ...]:
    """Terms of a token without connectors: its stem, pieces of it, and for codes such as `AB12` or `getName` their parts."""
    code = _language_of(word, language)
    lower = _lower(word, code)
    if code is not None and lower in STOP_WORDS.get(code, frozenset()):
        return ()
    stem = _stem(lower, code)
    terms = [Term(stem)]
    if not query:
        terms += [Term(spelling) for spelling in _spellings(lower, code)]
    parts = _code_parts(word)
    if len(parts) > 1:
        terms += [Term(_stem(_lower(part, code), code)) for part in parts]
    if _wants_pieces(word, language, code, query):
        terms += _pieces(_fold(stem))
    return _unique(terms)


def _wants_pieces(word: str, language: str | None, code: str | None, query: bool) -> bool:
    """Whether a word is also indexed by its 4-grams: where endings and compounds defeat a stemmer.

    A query of unknown language asks for them too, since the documents it is meant for may be in any.
    """
    if word.isdigit():
        return False
    return code not in _WITHOUT_PIECES or (query and language is None)


def _compound_terms(token: str, language: str | None, query: bool) -> tuple[Term, ...]:
    """Terms of parts joined by signs: the number, address or code whole, then its parts; `don't` and `l'avion` by their words."""
    number = _number(token)
    if number:
        return (Term(number),)
    words = _split_apostrophes(token)
    if len(words) != 1:
        return _unique([term for word in dict.fromkeys(words) for term in _token_terms(word, language, query)])
    if not _SIGNS.search(words[0]):
        return _word_terms(words[0], language, query)
    pieces = [piece for piece in _SIGNS.split(words[0]) if piece]
    terms = [Term(_whole(words[0], pieces, language))]
    if len(pieces) <= _MAX_PARTS:
        terms += [term for piece in pieces for term in _word_terms(piece, language, query)]
    else:
        terms += [Term(_stem(_lower(piece, None), None)) for piece in dict.fromkeys(pieces)]
    return _unique(terms)


def _token_terms(word: str, language: str | None, query: bool) -> tuple[Term, ...]:
    return _compound_terms(word, language, query) if _SIGNS.search(word) else _word_terms(word, language, query)


def _whole(token: str, pieces: list[str], language: str | None) -> str:
    """The one term for a compound: hyphenated words as if written together, anything else unchanged."""
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


def _grams(run: str, kind: TokenKind, language: str | None) -> Iterator[tuple[Term, ...]]:
    """Overlapping character n-grams of a run of a script that writes no spaces.

    Two characters for Chinese, Japanese and Korean, with single Chinese characters as weaker evidence; three and four
    for Thai and its neighbours, whose letters each say less.
    """
    size = 3 if kind is TokenKind.UNSPACED else 2
    seen = 4 if kind is TokenKind.UNSPACED else 2
    for start in range(max(1, len(run) - size + 1)):
        kept = _gram_terms(run[start : start + seen], kind, start + size >= len(run), language)
        if kept:
            yield kept


@lru_cache(maxsize=100_000)
def _gram_terms(characters: str, kind: TokenKind, last: bool, language: str | None) -> tuple[Term, ...]:
    """The terms of one place of a run, which begins with `characters`; `last`: no n-gram begins after it."""
    stop = UNSPACED_STOP_RUNS.get(language or "", frozenset())
    terms = [Term(characters[:3] if kind is TokenKind.UNSPACED else characters)]
    if kind is TokenKind.UNSPACED:
        terms.append(Term(characters))
    elif kind is TokenKind.IDEOGRAPHIC:
        terms += [Term(character, _CHARACTER_WEIGHT) for character in (characters if last else characters[:1])]
    return _unique([term for term in terms if term.text not in stop])


def _pieces(stem: str) -> list[Term]:
    """The 4-grams of a word with its ends marked; together they weigh as much as the word."""
    marked = f"_{stem}_"
    if len(marked) <= _PIECE:
        return []
    pieces = [marked[start : start + _PIECE] for start in range(len(marked) - _PIECE + 1)]
    return [Term(f"#{piece}", 1.0 / len(pieces)) for piece in pieces]


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
    stem = _stemmer(name).stemWord(word) if name and not _DIGIT.search(word) else word
    return (stem if language in _ACCENTS_MATTER else _fold(stem))[:_MAX_TERM]


def _spellings(word: str, language: str | None) -> list[str]:
    """Terms under which a document's accented word is found by a query typed without accents."""
    if word.isascii():
        return []
    folded = _fold(word)
    return [] if folded == word else [_stem(folded, language), folded[:_MAX_TERM]]


def _fold(word: str) -> str:
    """Accents and vowel points removed where the script treats them as optional."""
    if word.isascii() or script_of(word) not in _FOLDABLE:
        return word
    decomposed = composed(word.translate(_UNDECOMPOSED), "NFD")
    return composed("".join(c for c in decomposed if unicodedata.category(c) != "Mn"), "NFC")


def _stemmer(name: str) -> _Stemmer:
    """The stemmer of this thread: its objects keep state while they work."""
    stemmers: dict[str, _Stemmer] | None = getattr(_of_thread, "stemmers", None)
    if stemmers is None:
        stemmers = _of_thread.stemmers = {}
    if name not in stemmers:
        stemmers[name] = cast(_Stemmer, Stemmer.Stemmer(name, 0))
    return stemmers[name]


def _unique(terms: list[Term]) -> tuple[Term, ...]:
    """Each term once, with the greatest weight it has."""
    weights: dict[str, float] = {}
    for term in terms:
        if term.text:
            weights[term.text] = max(term.weight, weights.get(term.text, 0.0))
    return tuple(Term(text, weight) for text, weight in weights.items())
