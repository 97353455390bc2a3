"""The filled rectangles of a sheet, separated at blank rows and columns; computed on one bit mask per row."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from citewell.extract.formats.tabular.values import Cell, is_marker, tidy

_MAX_HEADS = 5_000
"""Rows remembered as possible headers of a sheet."""
_MAX_REGIONS = 2_000
"""Regions beyond which a sheet has scattered cells rather than tables, and is read as one region."""


@dataclass(frozen=True, slots=True)
class Region:
    """A rectangle of cells; indexes count from 0, all bounds included."""

    top: int
    bottom: int
    left: int
    right: int

    @property
    def width(self) -> int:
        """The number of columns."""
        return self.right - self.left + 1

    @property
    def height(self) -> int:
        """The number of rows."""
        return self.bottom - self.top + 1

    @property
    def mask(self) -> int:
        """The region's columns as bits."""
        return ((1 << self.width) - 1) << self.left


@dataclass(slots=True)
class SheetMap:
    """Records which cells of a sheet are filled, and which of those hold typed data (or a mark for missing data) rather
    than text: one mask per row, bit n for column n.

    heads: the first rows that hold several texts and nothing else, like header rows
    """

    filled: list[int] = field(default_factory=list[int])
    data: list[int] = field(default_factory=list[int])
    heads: dict[int, Sequence[Cell]] = field(default_factory=dict[int, Sequence[Cell]])

    def add(self, values: Sequence[object], left: int, errors: Sequence[tuple[int, str]] = ()) -> None:
        """Maps the next row: values from column `left` on, and error cells by column."""
        filled = data = 0
        bit = 1 << left
        for value in values:
            if value != "":
                if not isinstance(value, str) or is_marker(value):
                    filled |= bit
                    data |= bit
                elif not value.isspace():
                    filled |= bit
            bit <<= 1
        for column, _ in errors:
            filled |= 1 << column
            data |= 1 << column
        if filled and not data and filled & (filled - 1) and len(self.heads) < _MAX_HEADS:
            self.heads[len(self.filled)] = [None] * left + [tidy(value) for value in values]
        self.filled.append(filled)
        self.data.append(data)

    def clear(self, region: Region) -> None:
        """Marks the region's cells as empty."""
        for row in range(region.top, min(region.bottom + 1, len(self.filled))):
            self.filled[row] &= ~region.mask

    def used_columns(self, region: Region) -> int:
        """Returns the mask of the region's non-empty columns."""
        used = 0
        for mask in self.filled[region.top : region.bottom + 1]:
            used |= mask
        return used & region.mask

    def count(self, masks: Sequence[int], region: Region) -> int:
        """Returns how many cells of the region are set in `masks`."""
        columns = region.mask
        return sum([(mask & columns).bit_count() for mask in masks[region.top : region.bottom + 1]])


def find_regions(sheet: SheetMap, merged: Callable[[Region, Region], bool]) -> list[Region]:
    """Returns the sheet's regions from top to bottom, left to right.

    merged(left, right) decides whether two parts of a band separated by blank columns are still one table.
    """
    columns = 0
    for mask in sheet.filled:
        columns |= mask
    found = _cut(sheet.filled, 0, len(sheet.filled) - 1, columns, merged)
    if len(found) > _MAX_REGIONS:  # scattered cells rather than tables
        first, last = min(part.top for part in found), max(part.bottom for part in found)
        return [Region(first, last, min(part.left for part in found), max(part.right for part in found))]
    return sorted(found, key=lambda region: (region.top, region.left))


def _cut(
    masks: Sequence[int], top: int, bottom: int, columns: int, merged: Callable[[Region, Region], bool]
) -> list[Region]:
    """Cuts at blank rows, then each band at blank columns, until nothing separates any more."""
    found: list[Region] = []
    work = [(top, bottom, columns)]
    while work:
        top, bottom, columns = work.pop()
        bands = list(_bands(masks, top, bottom, columns))
        for first, last, union in bands:
            parts = _join([Region(first, last, left, right) for left, right in _runs(union)], merged)
            if len(parts) == 1:
                found.append(parts[0])
            else:
                work.extend((part.top, part.bottom, part.mask) for part in parts)
    return found


def _bands(masks: Sequence[int], top: int, bottom: int, columns: int) -> Iterator[tuple[int, int, int]]:
    """Yields runs of rows that are non-empty in `columns`, each with the union of its masks."""
    start = -1
    for row in range(top, bottom + 2):
        if row <= bottom and masks[row] & columns:
            start = row if start < 0 else start
        elif start >= 0:
            yield from _steps(masks, start, row - 1, columns)
            start = -1


def _steps(masks: Sequence[int], top: int, bottom: int, columns: int) -> Iterator[tuple[int, int, int]]:
    """Yields parts of a band that have no filled column in common with the next: tables that touch only at a corner."""
    below = [0]
    for row in range(bottom, top, -1):
        below.append(below[-1] | masks[row] & columns)
    start, union = top, 0
    for row in range(top, bottom + 1):
        union |= masks[row] & columns
        if not union & below[bottom - row]:
            yield start, row, union
            start, union = row + 1, 0


def _runs(mask: int) -> Iterator[tuple[int, int]]:
    """Yields the first and last position of each run of set bits."""
    offset = 0
    while mask:
        zeros = (mask & -mask).bit_length() - 1
        mask >>= zeros
        ones = (~mask & (mask + 1)).bit_length() - 1
        yield offset + zeros, offset + zeros + ones - 1
        mask >>= ones
        offset += zeros + ones


def _join(parts: list[Region], merged: Callable[[Region, Region], bool]) -> list[Region]:
    joined = parts[:1]
    for part in parts[1:]:
        if merged(joined[-1], part):
            joined[-1] = replace(joined[-1], right=part.right)
        else:
            joined.append(part)
    return joined
