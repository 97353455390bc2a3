"""The words of data questions: operations, comparisons and fillers, as the rule-based planner reads them (English)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
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

    @property
    def number(self) -> int | float | None:
        """Its value if it is a number in digits (`5,000`, `2.5`, `5k`)."""
        return number_of(self.text)


class Operation(StrEnum):
    """What a data question wants done."""

    COUNT = "count"
    COUNT_DISTINCT = "count_distinct"
    SUM = "sum"
    AVG = "avg"
    MEDIAN = "median"
    MAX = "max"
    MIN = "min"
    COMPARE = "compare"


PHRASES: tuple[tuple[Operation, tuple[str, ...]], ...] = (
    (Operation.COUNT_DISTINCT, ("how many different", "how many distinct", "how many unique", "number of different", "number of distinct",
                                "number of unique", "count of distinct", "count distinct", "distinct count of")),
    (Operation.COUNT, ("how many", "number of", "count of", "count the", "count", "row count", "what is the count of")),
    (Operation.COMPARE, ("compare", "comparison of", "difference between", "difference in", "versus", "vs", "vs.", "compared to", "compared with")),
    (Operation.MEDIAN, ("median",)),
    (Operation.AVG, ("average", "mean", "avg", "on average")),
    (Operation.SUM, ("sum total of", "total sum of", "sum of", "in total", "total", "sum up", "sum", "add up", "altogether", "combined")),
    (Operation.MAX, ("most expensive", "highest", "largest", "biggest", "maximum", "max", "greatest", "most", "top", "latest", "newest", "most recent", "priciest", "costliest", "longest")),
    (Operation.MIN, ("least expensive", "lowest", "smallest", "minimum", "min", "least", "fewest", "bottom", "earliest", "oldest", "cheapest", "shortest")),
)  # fmt: skip
MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december",
    "jan", "feb", "mar", "apr", "may.", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
)  # fmt: skip
SCALES = {word: 10 ** quantities.SCALES[word] for word in ("hundred", "thousand", "million", "billion")}
FORMS = {
    "won": "win",
    "winner": "win",
    "lost": "loss",
    "lose": "loss",
    "drew": "draw",
    "drawn": "draw",
    "tie": "draw",
    "tied": "draw",
}
DIGITS = {
    "two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7", "eight": "8", "nine": "9", "ten": "10", "eleven": "11",
    "twelve": "12", "first": "1st", "second": "2nd", "third": "3rd", "fourth": "4th", "fifth": "5th", "sixth": "6th", "seventh": "7th",
    "eighth": "8th", "ninth": "9th", "tenth": "10th",
}  # fmt: skip
COMPARISONS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("gte", ("at least", "no less than", "not less than", "greater than or equal to", "minimum of", ">=")),
    ("lte", ("at most", "no more than", "not more than", "up to", "less than or equal to", "maximum of", "<=")),
    ("gt", ("more than", "greater than", "higher than", "larger than", "bigger than", "over", "above", "exceeding", "exceeds", "exceed",
            "longer than", "older than", ">")),
    ("lt", ("less than", "fewer than", "lower than", "smaller than", "under", "below", "shorter than", "<")),
    ("ne", ("is not", "are not", "not equal to", "other than", "except", "isn't", "aren't")),
    ("eq", ("equal to", "equals", "exactly", "=")),
)  # fmt: skip
ORDERING = (
    "first",
    "last",
    "next",
    "after",
    "before",
    "previous",
    "following",
    "same",
    "other than",
    "besides",
    "only",
    "more",
    "fewer",
    "less",
    "than",
    "difference",
)
_SUPERLATIVE = re.compile(r"[a-z]{2,}est|best|worst", re.I)
_NOT_SUPERLATIVE = frozenset(
    ("rest", "west", "east", "test", "contest", "protest", "forest", "interest", "request", "guest", "nest", "quest", "conquest", "harvest",
     "invest", "suggest", "digest", "arrest", "honest", "modest", "manifest", "priest", "chest", "vest", "zest", "pest", "southwest",
     "northwest", "southeast", "northeast", "midwest", "budapest", "bucharest")
)  # fmt: skip
_LETTERS = re.compile(r"[a-z]+")
_QUESTION = 1_000
_COMPUTING = re.compile(
    r"(?<!\w)(?:"
    + "|".join(re.escape(phrase) for _, group in (*PHRASES, *COMPARISONS) for phrase in group)
    + "|"
    + "|".join((*ORDERING, "per", "each", "every", "all", "out of"))
    + r")(?!\w)"
)
GROUPING = ("for each", "for every", "in each", "in every", "each", "per", "by", "grouped by", "broken down by")
FILLERS = frozenset(
    [
        "a",
        "an",
        "the",
        "this",
        "that",
        "these",
        "those",
        "of",
        "in",
        "on",
        "at",
        "to",
        "for",
        "from",
        "with",
        "by",
        "and",
        "or",
        "is",
        "are",
        "was",
        "were",
        "be",
        "been",
        "being",
        "becom",
        "do",
        "does",
        "did",
        "have",
        "has",
        "had",
        "having",
        "there",
        "here",
        "we",
        "us",
        "our",
        "my",
        "your",
        "i",
        "you",
        "it",
        "its",
        "they",
        "their",
        "what",
        "which",
        "who",
        "whom",
        "whose",
        "where",
        "when",
        "how",
        "much",
        "many",
        "me",
        "show",
        "list",
        "give",
        "tell",
        "display",
        "find",
        "get",
        "let",
        "know",
        "please",
        "can",
        "could",
        "would",
        "all",
        "any",
        "every",
        "each",
        "only",
        "also",
        "exactly",
        "file",
        "sheet",
        "tab",
        "tabl",
        "tabl'",
        "spreadsheet",
        "column",
        "field",
        "valu",
        "data",
        "dataset",
        "report",
        "row",
        "rows",
        "record",
        "entri",
        "line",
        "overall",
        "whole",
        "entir",
        "given",
        "amount's",
        "as",
        "than",
        "then",
        "so",
        "now",
        "calcul",
        "comput",
        "determin",
        "return",
        "identifi",
        "name",
        "that's",
        "what's",
        "whose",
        "where's",
        "contain",
        "contains",
        "contained",
        "total's",
        "her",
        "his",
        "him",
        "she",
        "he",
        "them",
        "got",
        "gets",
        "respect",
    ]
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
