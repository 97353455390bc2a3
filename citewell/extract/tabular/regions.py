"""The filled rectangles of a sheet, cut apart at blank rows and columns; computed on one bit mask per row."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from citewell.extract.tabular.values import Cell


@dataclass(frozen=True, slots=True)
class Region:
    """A rectangle of cells; indexes count from 0, all bounds included."""

    top: int
    bottom: int
    left: int
    right: int

    @property
    def width(self) -> int:
        """Columns."""
        return self.right - self.left + 1

    @property
    def height(self) -> int:
        """Rows."""
        return self.bottom - self.top + 1

    @property
    def mask(self) -> int:
        """The region's columns as bits."""
        return ((1 << self.width) - 1) << self.left


@dataclass(slots=True)
class SheetMap:
    """Which cells of a sheet are filled, and which of those hold typed data rather than text: one mask per row, bit n for column n."""

    filled: list[int] = field(default_factory=list[int])
    data: list[int] = field(default_factory=list[int])

    def add(self, cells: Sequence[Cell]) -> None:
        """Map the next row."""
        filled = data = 0
        bit = 1
        for cell in cells:
            if cell is not None:
                filled |= bit
                if not isinstance(cell, str):
                    data |= bit
            bit <<= 1
        self.filled.append(filled)
        self.data.append(data)

    def count(self, masks: Sequence[int], region: Region) -> int:
        """How many cells of the region are set in `masks`."""
        columns = region.mask
        return sum([(mask & columns).bit_count() for mask in masks[region.top : region.bottom + 1]])


def find_regions(sheet: SheetMap, merged: Callable[[Region, Region], bool]) -> list[Region]:
    """The sheet's regions from top to bottom, left to right.

    merged(left, right) says whether two parts of a band, separated by blank columns, are one table all the same.
    """
    columns = 0
    for mask in sheet.filled:
        columns |= mask
    found = _cut(sheet.filled, 0, len(sheet.filled) - 1, columns, merged)
    return sorted(found, key=lambda region: (region.top, region.left))


def _cut(
    masks: Sequence[int], top: int, bottom: int, columns: int, merged: Callable[[Region, Region], bool]
) -> list[Region]:
    """Cut at blank rows, then each band at blank columns, until nothing falls apart any more."""
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
    """Runs of rows that hold something in `columns`, each with the union of its masks."""
    start, union = -1, 0
    for row in range(top, bottom + 1):
        here = masks[row] & columns
        if here:
            start = row if start < 0 else start
            union |= here
        elif start >= 0:
            yield start, row - 1, union
            start, union = -1, 0
    if start >= 0:
        yield start, bottom, union


def _runs(mask: int) -> Iterator[tuple[int, int]]:
    """First and last position of each run of set bits."""
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
