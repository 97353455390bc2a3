"""How a delimited file separates and quotes its cells, found by which reading gives the most regular rows."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

_DELIMITERS = ",;\t|:^~"
_SAMPLE_RECORDS = 200
"""Records by which a delimiter's regularity is judged."""
MAX_FIELD = 64 * 1024 * 1024
"""Characters of the longest cell."""


@dataclass(frozen=True, slots=True)
class CsvDialect:
    """A delimiter and a quote sign; `escape` is a backslash where quotes are escaped rather than doubled."""

    delimiter: str = ","
    quote: str = '"'
    escape: str | None = None
    skip_initial_space: bool = False

    def reader(self, lines: Iterable[str], quoting: bool = True) -> Iterator[list[str]]:
        """A reader of `lines` in this dialect; without `quoting`, quote signs are plain characters."""
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
    """The dialect of a text by its first characters; a comma where nothing speaks for another delimiter."""
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
    """Quotes after a backslash, followed by more of the cell; a quote at the end of its cell merely closes it, as in `"C:\\"`."""
    return len(re.findall(rf"\\{quote}(?![{re.escape(_DELIMITERS)}\r\n]|\Z)", sample))


def _regularity(dialect: CsvDialect, lines: list[str]) -> float:
    """How regular the rows are: the share of records with the usual number of cells, times a weight for cells beyond the first."""
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
    """How often a quote sign is next to a delimiter or a line break, as it is around a cell."""
    return sum(sample.count(delimiter + quote) + sample.count(quote + delimiter) for delimiter in ",;\t|\n")
