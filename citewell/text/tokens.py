"""Text to word-like tokens: words, numbers, codes and addresses kept whole, runs of scripts that write no spaces kept as runs."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from enum import StrEnum
from functools import cache
from typing import Literal, NamedTuple

MARKS = (
    "\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670"
    "\u06d6-\u06dc\u06df-\u06e8\u06ea-\u06ed\u0900-\u0963\u0971-\u0dff\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc"
    "\u0ec8-\u0ecd\u0f18\u0f19\u0f35\u0f37\u0f39\u0f71-\u0f84\u0f86\u0f87\u0f8d-\u0fbc\u102b-\u103e\u1056-\u109d\u17b4-\u17d3"
    "\u1ab0-\u1aff\u1dc0-\u1dff\u200c\u200d\u20d0-\u20ff\ua8e0-\ua8f1\ufe20-\ufe2f"
)
"""Combining marks, for a class of a regular expression: Python's \\w leaves them out, and words of Indic, Thai, Hebrew and Arabic
script fall apart."""


def _combining(end: int = 0x1E950) -> str:
    """The characters below `end` that a normaliser sorts among each other (those with a combining class), for a regular expression."""
    return "".join(filter(unicodedata.combining, map(chr, range(0x300, end))))


_WORD = rf"[\w{MARKS}]+"
_TOKEN = re.compile(rf"{_WORD}(?:[.,@\-‐‑/:'’&+]{_WORD})*")
_SIGN = re.compile(r"[.,@\-‐‑/:'’&+_]")
_HAN = "\u2e80-\u2fdf\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_KANA = "\u3040-\u30ff\u31f0-\u31ff\uff66-\uff9f"
_HANGUL = "\u1100-\u11ff\u3130-\u318f\uac00-\ud7af"
_SOUTH_EAST = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
_RUNS = re.compile(
    rf"(?P<ideographic>[{_HAN}{_KANA}]+)|(?P<hangul>[{_HANGUL}]+)"
    rf"|(?P<unspaced>[{_SOUTH_EAST}]+)|(?P<spaced>[^{_HAN}{_KANA}{_HANGUL}{_SOUTH_EAST}]+)"
)
# A raised mark at a figure is not one of its digits, which it would become as a plain one: `120³` is 120 and 3.
_MARKED_FIGURE = re.compile(r"(?<=\d)(?=[⁰¹²³⁴-⁹])")
# The longest run of combining marks that the Unicode Standard Annex 15 (Stream-Safe Text) lets a normaliser meet.
_MAX_MARKS = 30

_UNSPACED = re.compile(f"[{_HAN}{_KANA}{_HANGUL}{_SOUTH_EAST}]")


class TokenKind(StrEnum):
    """How a token is turned into terms.

    IDEOGRAPHIC: Chinese and Japanese; HANGUL: Korean; UNSPACED: Thai, Lao, Burmese, Khmer; COMPOUND: parts joined by
    one sign (`ISO-9001`, `a.b@c.org`, `5,000`, `don't`); WORD: all else.
    """

    WORD = "word"
    COMPOUND = "compound"
    IDEOGRAPHIC = "ideographic"
    HANGUL = "hangul"
    UNSPACED = "unspaced"


class Token(NamedTuple):
    """A piece of text as written (after NFKC), and its kind."""

    text: str
    kind: TokenKind


@cache
def _long_run() -> re.Pattern[str]:
    marks = _combining()
    return re.compile(f"([{marks}]{{{_MAX_MARKS}}})(?=[{marks}])")


@cache
def _may_be_long_run() -> re.Pattern[str]:
    """Found in whatever the one above is found in. One range for all beyond the basic plane: the rest of the class is a table then, and
    looking through a text takes a fortieth of the time."""
    return re.compile(f"[{_combining(0x10000)}\U00010000-\U0010ffff]{{{_MAX_MARKS + 1}}}")


def normalise(text: str) -> str:
    """Compatibility-composed text: full-width letters become plain, ligatures fall apart, accents join their letters."""
    return text if text.isascii() else composed(_MARKED_FIGURE.sub(" ", text), "NFKC").replace("\u00ad", "")


def composed(text: str, form: Literal["NFC", "NFD", "NFKC"]) -> str:
    """`text` in a normal form of Unicode. Runs of more combining marks than any script writes are parted by a joiner (U+034F),
    as sorting them takes the square of their number."""
    if not text.isascii() and _may_be_long_run().search(text):
        text = _long_run().sub("\\1\u034f", text)
    return unicodedata.normalize(form, text)


def written_tokens(text: str) -> list[str]:
    """The runs between white space and free-standing signs, in order; one run may still mix scripts."""
    return _TOKEN.findall(normalise(text))


def tokens(text: str) -> Iterator[Token]:
    """The tokens of `text`, in order, each of one kind."""
    for written in written_tokens(text):
        yield from split_kinds(written)


def split_kinds(written: str) -> tuple[Token, ...]:
    """The tokens within one written token: `2015年` is a word and a run, `iPhone手机` too."""
    if written.isascii() or not _UNSPACED.search(written):
        return (Token(written, _kind(written)),)
    found: list[Token] = []
    for match in _RUNS.finditer(written):
        if match.lastgroup == "spaced":
            found += [Token(part, _kind(part)) for part in _TOKEN.findall(match[0])]
        else:
            found.append(Token(match[0], TokenKind(match.lastgroup or "")))
    return tuple(found)


def _kind(token: str) -> TokenKind:
    return TokenKind.COMPOUND if not token.isalnum() and _SIGN.search(token) else TokenKind.WORD
