"""Detects how a delimited file separates and quotes its cells, by which reading gives the most regular rows."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

_DELIMITERS = ",;\t|:^~"
_SAMPLE_RECORDS = 200
"""Records used to judge a delimiter's regularity."""
MAX_FIELD = 64 * 1024 * 1024
"""Characters of the longest cell."""


@dataclass(frozen=True, slots=True)
class CsvDialect:
    """A delimiter and a quote character; `escape` is a backslash if quotes are escaped rather than doubled."""

    delimiter: str = ","
    quote: str = '"'
    escape: str | None = None
    skip_initial_space: bool = False

    def reader(self, lines: Iterable[str], quoting: bool = True) -> Iterator[list[str]]:
        """Returns a reader of `lines` in this dialect; without `quoting`, quote characters are plain text."""
        csv.field_size_limit(MAX_FIELD)
        return csv.reader(
            lines,
            delimiter=self.delimiter,
            quotechar=self.quote if quoting else None,
            quoting=csv.QUOTE_MINIMAL if quoting else csv.QUOTE_NONE,
            escapechar=self.escape,
            doublequote=self.escape is None,
            skipinitialspace=self.skip_initial_space,
        )


def sniff(sample: str) -> CsvDialect:
    """Detects the dialect from the first characters of a text; a comma if nothing points to another delimiter."""
    lines = sample.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    lines = lines[:-1] if len(lines) > 2 else lines
    declared = lines[0][4:5] if lines[0].lower().startswith("sep=") else ""
    quote = "'" if _wraps(sample, "'") > _wraps(sample, '"') and '"' not in sample else '"'
    escape = "\\" if _escaped_quotes(sample, quote) > sample.count(quote * 2) else None
    candidates = [CsvDialect(delimiter, quote, escape) for delimiter in (declared or _DELIMITERS)]
    best = max(candidates, key=lambda candidate: _regularity(candidate, lines))
    spaced = sample.count(best.delimiter + " " + quote) * 2 > sample.count(best.delimiter + quote)
    return CsvDialect(best.delimiter, quote, escape, skip_initial_space=spaced and f" {quote}" in sample)


def _escaped_quotes(sample: str, quote: str) -> int:
    """Counts quotes after a backslash inside a cell; at the end of a cell, a quote closes it, as in `"C:\\"`."""
    return len(re.findall(rf"\\{quote}(?![{re.escape(_DELIMITERS)}\r\n]|\Z)", sample))


def _regularity(dialect: CsvDialect, lines: list[str]) -> float:
    """Returns how regular rows are: the share of records with the usual cell count, weighted by extra cells."""
    widths: Counter[int] = Counter()
    for record in islice(dialect.reader(line + "\n" for line in lines), _SAMPLE_RECORDS):
        if record:
            widths[len(record)] += 1
    total = sum(widths.values())
    wide = [(count, width) for width, count in widths.items() if width > 1]
    if not wide:
        return 0.0
    count, width = max(wide)
    return (count / total) ** 2 * (1 - 1 / width) * (1.0 if dialect.delimiter in ",;\t|" else 0.8)


def _wraps(sample: str, quote: str) -> int:
    """Counts the quote characters next to a delimiter or line break, as around a cell."""
    return sum(sample.count(delimiter + quote) + sample.count(quote + delimiter) for delimiter in ",;\t|\n")
