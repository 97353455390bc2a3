"""A table on a page as rows with labels and columns with headers, so that a cell is known by both."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from citewell.agent.citations.places import boxes_between
from citewell.agent.tables.language.cells import form
from citewell.agent.tables.lookup.figures import CellValue, currency_of, read_cell, scale_of
from citewell.agent.tables.lookup.glossary import StatementKind
from citewell.agent.tables.lookup.periods import FiscalCalendar, Period, column_period
from citewell.text.analysis import analyze
from citewell.types import Box, Element, Provenance

MAX_LABEL = 600
MAX_COMPARED = 20_000  # characters
_FUNCTION_WORDS = frozenset(
    re.findall(
        r"\w+",
        "a an the this that these those of in on at to for from with by and or is are was were be been being do does did have has had there its it"
        " their they what which who how much many me can could would all any every each also as than then so per s",
    )
)
"""Words that no label is told apart by."""
WORDS = re.compile(r"[^\W_]+(?:[&-][^\W_]+)*")
_OTHER_SIGN = r"\(?(?:loss|benefit|deficit|gain|credit)\b\)?"
_ALTERNATIVE = re.compile(rf"\([^()]*\)\s*/\s*{_OTHER_SIGN}|\([^()]*\)\s*/|/\s*{_OTHER_SIGN}", re.I)
_ASIDE = re.compile(r"\([^()]*\)|,?\s*\b(?:net|less|excluding|including|at cost)\b(?:\s+of\b[^,;]*|\s*$)", re.I)
_BRACKETS = re.compile(r"\([^()]*\)?")
_IN_BRACKETS = re.compile(r"\([^()]{1,80}\)")
_NOTE = re.compile(r"\(\w{1,2}\)|[*†‡]+")
_OPTIONAL = frozenset({"total"})
_KINDS = (
    (StatementKind.CASH, re.compile(r"\bcash ?flows?\b", re.I)),
    (StatementKind.BALANCE, re.compile(r"\bbalance sheets?\b|\bfinancial (?:position|condition)\b", re.I)),
    (
        StatementKind.INCOME,
        re.compile(
            r"\bstatements? of (?:consolidated )?(?:income|operations|earnings|profit)\b|\bincome statements?\b", re.I
        ),
    ),
)
_PER_SHARE = re.compile(r"\bper\b[^,]{0,20}\b(?:share|unit)\b|\b(?:basic|diluted)\b", re.I)
_NAME_START = 4
"""Letters from which a word of a question may be the beginning of one in a file's name."""
_SHARES = re.compile(r"\bshares\b|\bweighted[- ]average\b", re.I)


def words_of(text: str) -> tuple[str, ...]:
    """The content words of a label or question, as they are compared: stems in lower case, hyphens open."""
    plain = text[:MAX_LABEL].casefold().replace("’", "'").replace("'s", "").replace("'", "").replace("-", " ")
    return tuple(norm for word in WORDS.findall(plain) if (norm := form(word)) and word not in _FUNCTION_WORDS)


def kind_of(title: str) -> StatementKind | None:
    """The statement that a title or question names; None for none, or several."""
    found = [kind for kind, pattern in _KINDS if pattern.search(title)]
    return found[0] if len(found) == 1 else None


@dataclass(frozen=True)
class SheetRow:
    """A row by its number in the grid, with its label and the labels of the groups over it, the outermost first."""

    number: int
    label: str
    groups: tuple[str, ...] = ()
    children: tuple[int, ...] = ()

    @cached_property
    def words(self) -> frozenset[str]:
        """All words of its label."""
        return frozenset(words_of(_NOTE.sub(" ", self.label)))

    @cached_property
    def needed(self) -> frozenset[str]:
        """The words without which the label is not named: not those in parentheses, nor “total” and “, net of …”."""
        plain = _ALTERNATIVE.sub(" ", _NOTE.sub(" ", self.label[:MAX_LABEL]))
        core = frozenset(words_of(_ASIDE.sub(" ", plain)))
        return (core - _OPTIONAL) or core or self.words

    @cached_property
    def around(self) -> frozenset[str]:
        """The words of the groups that it belongs to."""
        return frozenset(word for group in self.groups for word in words_of(group))


@dataclass(frozen=True)
class SheetColumn:
    """A column by its number in the grid, with its header."""

    number: int
    header: str
    period: Period | None

    @cached_property
    def words(self) -> frozenset[str]:
        """All words of its header."""
        return frozenset(words_of(self.header))

    @cached_property
    def needed(self) -> frozenset[str]:
        """The words of its header outside parentheses."""
        return frozenset(words_of(_ASIDE.sub(" ", self.header))) or self.words


@dataclass(frozen=True, eq=False)
class PageTable:
    """A table of a file.

    needs_scale: whether other tables of the file state a scale, so that one that states none may have lost it
    told_scale:  the scale that others tell, where it states none
    calendar:    how the file numbers its fiscal years, where their ends are written
    later:       how many years after the number in its header a column without a date ends, where others tell
    """

    filename: str
    resource_id: str
    version: int
    element: Element
    needs_scale: bool = False
    provenance: Provenance = Provenance()
    told_scale: int | None = None
    calendar: FiscalCalendar | None = None
    later: int | None = None

    @property
    def grid(self) -> tuple[tuple[str, ...], ...]:
        """Its cells."""
        return self.element.grid or ()

    @property
    def title(self) -> str:
        """The title above it, else the heading it is under."""
        title = self.element.metadata.get("title")
        headings = self.element.locator.headings
        return title if isinstance(title, str) and title else headings[-1] if headings else ""

    @cached_property
    def terms(self) -> frozenset[str]:
        """The words of its title and cells as search compares them."""
        return frozenset(analyze(f"{self.title} {self.element.text}"[:MAX_COMPARED], "en"))

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """What says its unit: unit, title, the header's cells, and a first row that holds nothing but one in parentheses."""
        unit = self.element.metadata.get("unit")
        count = self.element.header_rows
        heads = [text for row in self.grid[:count] for text in row]
        first = [text for row in self.grid[count : count + 1] for text in row if text]
        heads += first if len(first) == 1 and _IN_BRACKETS.fullmatch(first[0]) else []
        return (unit if isinstance(unit, str) else "", self.title, *heads)

    @cached_property
    def note(self) -> str:
        """All of its notes as one text."""
        return " ".join(self.notes)[:2_000]

    @cached_property
    def kind(self) -> StatementKind | None:
        """The statement that it is by its title; None where the title names none, or several."""
        return kind_of(self.title)

    @cached_property
    def named(self) -> frozenset[str]:
        """The words of the file's name."""
        return frozenset(words_of(self.filename.replace("_", " ").replace(".", " ")))

    @cached_property
    def about(self) -> frozenset[str]:
        """Words that a question may say of the table as a whole."""
        return self.named | frozenset(
            words_of(_BRACKETS.sub(" ", " ".join((self.title, *self.element.locator.headings[-1:]))))
        )

    def begins_name(self, word: str) -> bool:
        """Whether a word of the file's name begins with this one: `Ulta` in `ULTABEAUTY_2023.pdf`."""
        return len(word) >= _NAME_START and any(name.startswith(word) for name in self.named)

    @property
    def stub(self) -> str:
        """What its header says over the labels."""
        return " ".join(row[0] for row in self.grid[: self.element.header_rows])

    @cached_property
    def columns(self) -> tuple[SheetColumn, ...]:
        """All columns but that of the labels."""
        heads = [_carried(row) for row in self.grid[: self.element.header_rows]]
        around = f"{self.stub} {self.title}"
        found = (_column(number, heads, around) for number in range(1, len(self.grid[0]) if self.grid else 0))
        return tuple(map(self._on_calendar, found))

    @cached_property
    def telling(self) -> frozenset[str]:
        """The words of headers that tell its columns apart."""
        headers = [column.words for column in self.columns]
        return frozenset().union(*headers) - frozenset.intersection(*headers) if headers else frozenset()

    @cached_property
    def rows(self) -> tuple[SheetRow, ...]:
        """The rows with a label."""
        count = self.element.header_rows
        heads = self._heads()
        below: dict[int, list[int]] = {}
        for number, head in heads.items():
            below.setdefault(head, []).append(number)
        return tuple(
            SheetRow(number, row[0], self._path(number, heads), tuple(below.get(number, ())))
            for number, row in enumerate(self.grid[count:], count)
            if row[0].strip()
        )

    def value(self, row: SheetRow, column: SheetColumn) -> CellValue | None:
        """The figure in a cell, at the table's scale; per-share amounts and percentages have none."""
        found = read_cell(self.grid[row.number][column.number])
        if found is None:
            return None
        if found.percent or _is_percent(column):
            return replace(found, percent=True)
        names = (row.label, *row.groups)
        each = any(_PER_SHARE.search(name) for name in names)
        if not found.currency and self._in_decimals and self._counts(row):
            return found
        own = next((exponent for note in _IN_BRACKETS.findall(row.label) if (exponent := scale_of(note))), None)
        scale = None if each else own or self.scale
        if scale is None and self.needs_scale and not each:
            return replace(found, currency="")
        counts_shares = any(_SHARES.search(name) for name in names) and scale is not None
        currency = "" if counts_shares else found.currency or currency_of(self.note) or self._currency
        return replace(found, exponent=scale or 0, currency=currency)

    @cached_property
    def scale(self) -> int | None:
        """The exponent of ten of its figures: as it states it, or as others tell it."""
        stated = (scale_of(note[:2_000]) for note in self.notes)
        return next((scale for scale in stated if scale), None) or self.told_scale

    def boxes(self, row: SheetRow, column: SheetColumn) -> tuple[tuple[Box, ...], tuple[Box, ...]]:
        """The rectangles of the row, and of the cell; without the cell's where an earlier version has read the file."""
        cells = [cell for cell in self.element.cells if cell.row == row.number]
        if not cells:
            lines = self.element.text.splitlines(keepends=True)
            line = row.number + 1 if row.number else 0
            start = sum(map(len, lines[:line]))
            return tuple(boxes_between(self.element, start, start + len("".join(lines[line : line + 1])))), ()
        return _joined([cell.box for cell in cells]), tuple(cell.box for cell in cells if cell.column == column.number)

    def _on_calendar(self, column: SheetColumn) -> SheetColumn:
        if self.calendar is None or column.period is None:
            return column
        return replace(column, period=self.calendar.named(column.period, self.later))

    @cached_property
    def _currency(self) -> str:
        found = (read_cell(text) for row in self.grid[:200] for text in row[1:])
        return next((value.currency for value in found if value is not None and value.currency), "")

    @cached_property
    def _in_decimals(self) -> bool:
        """Whether its amounts of money, those per share aside, all have decimals."""
        money = [
            value
            for row in self.rows[:200]
            if not _PER_SHARE.search(row.label)
            for text in self.grid[row.number][1:]
            if (value := read_cell(text)) is not None and value.currency
        ]
        return bool(money) and all(_has_decimals(value) for value in money)

    def _counts(self, row: SheetRow) -> bool:
        """Whether a row holds whole numbers only, as counts among amounts with decimals do."""
        found = [value for text in self.grid[row.number][1:] if (value := read_cell(text)) is not None]
        return not any(_has_decimals(value) or value.currency or value.percent for value in found)

    def _heads(self) -> dict[int, int]:
        groups = self.element.metadata.get("groups")
        if not isinstance(groups, list) or len(groups) != len(self.grid):
            return {}
        return {row: head for row, head in enumerate(groups) if isinstance(head, int) and 0 <= head < row}

    def _path(self, number: int, heads: dict[int, int]) -> tuple[str, ...]:
        path: list[str] = []
        while (head := heads.get(number)) is not None:
            path.append(self.grid[head][0])
            number = head
        return tuple(reversed(path))


def _column(number: int, heads: Sequence[Sequence[str]], around: str) -> SheetColumn:
    header = " ".join(dict.fromkeys(text for row in heads if (text := row[number])))
    return SheetColumn(number, header[:MAX_LABEL], column_period(header[:MAX_LABEL], around[:MAX_LABEL]))


def _carried(row: Sequence[str]) -> tuple[str, ...]:
    """A header row in which a cell that spans columns is over each of them; the label's own stays its own."""
    out = [row[0]]
    for text in row[1:]:
        out.append(text or (out[-1] if len(out) > 1 else ""))
    return tuple(out)


def _has_decimals(value: CellValue) -> bool:
    return value.number.as_tuple().exponent != 0


def _is_percent(column: SheetColumn) -> bool:
    return "%" in column.header


def _joined(boxes: Sequence[Box]) -> tuple[Box, ...]:
    return tuple(_of_pages(boxes))


def _of_pages(boxes: Sequence[Box]) -> Iterator[Box]:
    for page in sorted({box.page for box in boxes}):
        some = [box for box in boxes if box.page == page]
        yield Box(
            page, min(b.x0 for b in some), min(b.y0 for b in some), max(b.x1 for b in some), max(b.y1 for b in some)
        )
