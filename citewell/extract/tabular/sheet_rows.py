"""Access to one sheet's cells by place: rows of a rectangle, and merged ranges."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from citewell.extract.tabular.regions import Region
from citewell.extract.tabular.values import Cell, tidy

if TYPE_CHECKING:
    from python_calamine import CalamineSheet


class SheetRows:
    """A sheet's rows by their index from 0, in one forward pass as long as they are asked for from top to bottom."""

    def __init__(self, sheet: CalamineSheet) -> None:
        self._sheet = sheet
        self._left = sheet.start[1] if sheet.start else 0
        self._rows, self._next = sheet.iter_rows(), 0

    def all(self) -> Iterator[list[Cell]]:
        """Every row from the first, with cells from column A."""
        padding: list[Cell] = [None] * self._left
        for row in self._sheet.iter_rows():
            yield padding + [tidy(value) for value in row]

    def within(self, region: Region, limit: int | None = None) -> Iterator[tuple[int, list[Cell]]]:
        """The rows of a region (the first `limit` of them), each with its index, cut to the region's columns."""
        if region.top < self._next:
            self._rows, self._next = self._sheet.iter_rows(), 0
        first, last = region.left - self._left, region.right - self._left + 1
        height = region.height if limit is None else min(limit, region.height)
        rows = islice(self._rows, region.top - self._next, region.top - self._next + height)
        for index, row in enumerate(rows, start=region.top):
            self._next = index + 1
            yield index, [tidy(value) for value in row[first:last]]


@dataclass(frozen=True, slots=True)
class Merges:
    """Merged ranges of a sheet; None where the format does not tell."""

    ranges: Sequence[tuple[tuple[int, int], tuple[int, int]]] | None

    @property
    def known(self) -> bool:
        """Whether the format tells of merged ranges."""
        return self.ranges is not None

    def within(self, region: Region, bottom: int) -> list[Region]:
        """Merged ranges that begin in the region's rows down to `bottom` and touch its columns."""
        return [
            Region(top, last, left, right)
            for (top, left), (last, right) in self.ranges or ()
            if region.top <= top <= bottom and left <= region.right and right >= region.left
        ]
