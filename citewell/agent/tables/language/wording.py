"""The words of questions about tables: how they are compared, which say nothing, and which ask for a calculation (English)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from citewell.text import quantities
from citewell.text.analysis import analyze

_TOKEN = re.compile(r"(?<![^\s(=<>])[-−](?=\d)[\d.,]*\d%?|[^\W_]+(?:[.,'’/&-][^\W_]+)*%?|[<>]=?|=")
_NUMBER = re.compile(r"[+−-]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?%?")
_SCALED = re.compile(r"(\d+(?:\.\d+)?)(k|m|bn)")
_MAX_DIGITS = 40


@dataclass(frozen=True, slots=True)
class QuestionWord:
    """A word of the question; `norm` is its stem, or itself in lower case where it is a function word or a code."""

    text: str
    norm: str
    start: int
    end: int


MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december",
    "jan", "feb", "mar", "apr", "may.", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
)  # fmt: skip
FORMS = {
    "won": "win", "winner": "win", "lost": "loss", "lose": "loss", "drew": "draw", "drawn": "draw", "tie": "draw", "tied": "draw",
}  # fmt: skip
DIGITS = {
    "two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7", "eight": "8", "nine": "9", "ten": "10", "eleven": "11",
    "twelve": "12", "first": "1st", "second": "2nd", "third": "3rd", "fourth": "4th", "fifth": "5th", "sixth": "6th", "seventh": "7th",
    "eighth": "8th", "ninth": "9th", "tenth": "10th",
}  # fmt: skip
_COMPUTED = (
    "how many", "number of", "count", "average", "mean", "avg", "median", "total", "sum", "add up", "altogether", "combined", "out of",
    "most", "least", "top", "bottom", "max", "maximum", "min", "minimum",
    "compare", "compared to", "compared with", "comparison of", "difference", "versus", "vs", "vs.", "same",
    "than", "more", "fewer", "less", "over", "above", "under", "below", "exceeding", "exceeds", "exceed", "up to", ">", "<", ">=", "<=", "=",
    "equal to", "equals", "exactly", "is not", "are not", "isn't", "aren't", "except", "besides", "only",
    "first", "last", "next", "after", "before", "previous", "following", "per", "each", "every", "all",
)  # fmt: skip
_SUPERLATIVE = re.compile(r"[a-z]{2,}est|best|worst", re.I)
_NOT_SUPERLATIVE = frozenset(
    ("rest", "west", "east", "test", "contest", "protest", "forest", "interest", "request", "guest", "nest", "quest", "conquest", "harvest",
     "invest", "suggest", "digest", "arrest", "honest", "modest", "manifest", "priest", "chest", "vest", "zest", "pest", "southwest",
     "northwest", "southeast", "northeast", "midwest", "budapest", "bucharest")
)  # fmt: skip
_LETTERS = re.compile(r"[a-z]+")
_QUESTION = 1_000
_COMPUTING = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, _COMPUTED))})(?!\w)")
GROUPING = ("for each", "for every", "in each", "in every", "each", "per", "by", "grouped by", "broken down by")
FILLERS = frozenset(
    ("a", "an", "the", "this", "that", "these", "those", "of", "in", "on", "at", "to", "for", "from", "with", "by", "and", "or", "is",
     "are", "was", "were", "be", "been", "being", "becom", "do", "does", "did", "have", "has", "had", "having", "there", "here", "we",
     "us", "our", "my", "your", "i", "you", "it", "its", "they", "their", "what", "which", "who", "whom", "whose", "where", "when",
     "how", "much", "many", "me", "show", "list", "give", "tell", "display", "find", "get", "let", "know", "please", "can", "could",
     "would", "all", "any", "every", "each", "only", "also", "exactly", "file", "sheet", "tab", "tabl", "tabl'", "spreadsheet", "column",
     "field", "valu", "data", "dataset", "report", "row", "rows", "record", "entri", "line", "overall", "whole", "entir", "given",
     "amount's", "as", "than", "then", "so", "now", "calcul", "comput", "determin", "return", "identifi", "name", "that's", "what's",
     "where's", "contain", "contains", "contained", "total's", "her", "his", "him", "she", "he", "them", "got", "gets", "respect")
)  # fmt: skip
_LEAVES_OUT = re.compile(
    r"(?i)(?<!\w)(?:(?<!or )not|never|without|neither|nor|except|excluding|besides|other than|\w+n['’]t|no(?![.\w]|\s*\d)"
    r"|nicht|nie|kein\w{0,2}|ohne|weder|außer)(?!\w)"
)


def words(text: str) -> list[QuestionWord]:
    """The words of a question, in order."""
    return [QuestionWord(m[0], norm(m[0]), m.start(), m.end()) for m in _TOKEN.finditer(text)]


def asks_to_compute(text: str) -> bool:
    """Whether a question wants something counted, ranked, compared or put in order, which no single row can say of itself.

    Told from its first 1,000 characters.
    """
    start = text[:_QUESTION].casefold()
    return any(is_superlative(word) for word in _LETTERS.findall(start)) or _COMPUTING.search(start) is not None


def leaves_out(text: str) -> bool:
    """Whether a question asks for what does *not* meet a condition; told from its first 1,000 characters."""
    return _LEAVES_OUT.search(text[:_QUESTION]) is not None


def is_superlative(word: str) -> bool:
    """`longest`, `worst`; not `interest`, which only ends like one."""
    return _SUPERLATIVE.fullmatch(word) is not None and word.casefold() not in _NOT_SUPERLATIVE


def norms(text: str) -> tuple[str, ...]:
    """The comparable forms of a name's or value's words."""
    return tuple(norm(m[0]) for m in _TOKEN.finditer(text))


@lru_cache(maxsize=50_000)
def norm(word: str) -> str:
    """A word's stem, or its lower case where it has none or is a code."""
    folded = word.casefold().removesuffix("'s").removesuffix("’s")
    if not folded.isalpha():
        value = number_of(word)
        if value is None or "%" in word:
            return folded
        return str(int(value)) if value == int(value) else repr(value)
    return next(iter(analyze(folded, "en", query=True)), folded)


def number_of(text: str) -> int | float | None:
    """`5,000` → 5000, `2.5` → 2.5, `5k` → 5000; None for what is not a number."""
    if len(text) > _MAX_DIGITS:
        return None
    scaled = _SCALED.fullmatch(text.casefold())
    if scaled:
        value = float(scaled[1]) * 10 ** quantities.SCALES[scaled[2]]
        return int(value) if value == int(value) else value
    if not _NUMBER.fullmatch(text):
        return None
    plain = text.replace(",", "").replace("−", "-").rstrip("%")
    return float(plain) if "." in plain else int(plain)


def find_phrase(question: list[QuestionWord], phrase: str, start: int = 0) -> Iterator[int]:
    """Indices at which `phrase` is in the question, word by word."""
    parts = phrase.split()
    texts = [word.text.casefold() for word in question]
    for index in range(start, len(texts) - len(parts) + 1):
        if texts[index : index + len(parts)] == parts:
            yield index
