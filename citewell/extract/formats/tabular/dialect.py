"""Detects how a delimited file separates and quotes its cells, by which reading gives the most regular rows."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

from citewell.extract.formats.tabular.values import is_data

_DELIMITERS = ",;\t|:^~"
NO_DELIMITER = "\x1f"
"""Delimiter of a file that has one column, whatever marks are in its texts; no text holds it."""
_GOES_ON = 0.8
"""Share of the records below the first with several cells that have several, too, in a table under a preface. Set by hand."""
_MIN_TABLE = 3
"""Fewest records with several cells that are a table under a preface."""
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
    if not declared and _is_one_column(best, lines):
        return CsvDialect(NO_DELIMITER, quote, escape)
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


def _is_one_column(dialect: CsvDialect, lines: list[str]) -> bool:
    """Whether the delimiter is only a mark inside texts: the first record has one cell, and those with more are scattered.

    So are texts that all hold the mark before a blank, as in `Doe, Ann`, below a name without one.
    """
    records = [r for r in islice(dialect.reader(line + "\n" for line in lines), _SAMPLE_RECORDS) if any(r)]
    wide = [len(record) > 1 for record in records]
    if not any(wide):
        return False
    if wide[0]:
        return False
    below = records[wide.index(True) :]
    cells = [cell for record in below for cell in record[1:]]
    spaced = all(cell.startswith(" ") or not cell for cell in cells)
    if spaced and not any(is_data(cell) for record in below for cell in record):
        return True
    table = sum(wide) >= _GOES_ON * len(below) and (sum(wide) >= _MIN_TABLE or not spaced)
    return not table and 2 * sum(wide) < len(records)


def _wraps(sample: str, quote: str) -> int:
    """Counts the quote characters next to a delimiter or line break, as around a cell."""
    return sum(sample.count(delimiter + quote) + sample.count(quote + delimiter) for delimiter in ",;\t|\n")
