"""Groups of table rows: a row with only a label heads the rows below it, as in a cash flow statement."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

_WORD = re.compile(r"[^\W\d_]{3,}")
_TOTAL = re.compile(
    r"^(?:sub-?)?(?:total|net|summe|gesamt|zwischensumme|somme|totale|suma|合计|总计|小计)", re.IGNORECASE
)
_INDENT = 2.0
"""Points by which a label must start further right than another to be indented. Set by hand on annual reports."""
_SAME_WORDS = 0.5
"""Share of a group's words that the label of its total repeats. Set by hand on annual reports."""


@dataclass(slots=True)
class _Group:
    row: int
    indent: float
    words: set[str]
    child_indent: float | None = None


def parents(rows: Sequence[Sequence[str]], indents: Sequence[float], header_rows: int) -> list[int]:
    """Returns, for each row, the row of the label that heads it; -1 for none.

    indents: where each row's label begins, in points; 0 throughout if unknown
    """
    found: list[int] = []
    open_groups: list[_Group] = []
    for number, cells in enumerate(rows):
        if number < header_rows or not cells[0]:
            found.append(open_groups[-1].row if number >= header_rows and open_groups else -1)
            continue
        indent, heads = indents[number], not any(cells[1:])
        while open_groups and _ends(open_groups[-1], indent, heads):
            open_groups.pop()
        found.append(open_groups[-1].row if open_groups else -1)
        if heads:
            open_groups.append(_Group(number, indent, _words(cells[0])))
            continue
        if open_groups and open_groups[-1].child_indent is None:
            open_groups[-1].child_indent = indent
        if _TOTAL.match(cells[0]):
            closed = _totalled(open_groups, _words(cells[0]))
            if closed is not None:
                found[-1] = open_groups[closed].row
                del open_groups[closed:]
    return found


def _ends(group: _Group, indent: float, heads: bool) -> bool:
    """Whether a label at this indent ends the group."""
    if group.indent > indent + _INDENT:
        return True
    beside = indent <= group.indent + _INDENT
    return beside and (heads or (group.child_indent is not None and group.child_indent > group.indent + _INDENT))


def _totalled(open_groups: Sequence[_Group], words: set[str]) -> int | None:
    """Returns the open group that a total closes: the innermost that shares the most words; None if too few."""
    shares = [len(group.words & words) / max(1, len(group.words)) for group in open_groups]
    best = max(shares, default=0.0)
    return max(i for i, share in enumerate(shares) if share == best) if best >= _SAME_WORDS else None


def _words(label: str) -> set[str]:
    return {word.casefold() for word in _WORD.findall(label)} - {"and", "the", "from", "for"}
