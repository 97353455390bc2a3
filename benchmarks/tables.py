"""Tables of PDFs, read through the HTTP API, against ground truth of the ICDAR 2013 competition.

    python benchmarks/tables.py FOLDER [--truth ground_truth.jsonl] [--predictions out.jsonl]

FOLDER holds PDFs. A line of either file is of the form {"pdf": name, "page": from 1, "grid": [[cell text, ...], ...]}
(the truth may also group by file: {"pdf": name, "tables": [{"page", "grid"}, ...]}); a spanning cell's text stands in its first cell.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import httpx
import server

Grid = list[list[str]]
Pages = dict[tuple[str, int], list[Grid]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--truth", type=Path)
    parser.add_argument("--predictions", type=Path, help="write the tables found, one per line")
    options = parser.parse_args()
    found = predict(sorted(options.folder.glob("*.pdf")))
    if options.predictions:
        options.predictions.write_text("".join(json.dumps(line) + "\n" for line in found), encoding="utf-8")
    print(f"{len(found)} tables in {options.folder}")
    if options.truth:
        lines = [json.loads(line) for line in options.truth.read_text(encoding="utf-8").splitlines() if line.strip()]
        print(json.dumps(score(by_page(lines), by_page(found))))


def predict(files: Iterable[Path]) -> list[dict]:
    """Every table that a server finds in these files, in order."""
    found: list[dict] = []
    with tempfile.TemporaryDirectory(prefix="citewell-bench-") as scratch, server.serving(Path(scratch) / "data") as up:
        client = up.client()
        for path in files:
            resource = server.add_file(client, path)
            for element in elements(client, resource["id"], "table"):
                grid = TableGrid(element["html"]).rows
                found.append({"pdf": path.name, "page": element["locator"]["page"], "grid": grid})
    return found


def elements(client: httpx.Client, resource_id: str, kind: str) -> Iterable[dict]:
    cursor: str | None = ""
    while cursor is not None:
        query = {"limit": 500, "type": kind} | ({"cursor": cursor} if cursor else {})
        page = client.get(f"/resources/{resource_id}/elements", params=query).raise_for_status().json()
        yield from page["elements"]
        cursor = page["next_cursor"]


class TableGrid(HTMLParser):
    """Rows of cell texts of an HTML table, spans filled with empty cells."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.rows: Grid = []
        self._span = (1, 1)
        self._cell: str | None = None
        self._covered: set[tuple[int, int]] = set()
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = dict(attrs)
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self._cell = ""
            self._span = int(named.get("rowspan") or 1), int(named.get("colspan") or 1)
        elif tag == "br" and self._cell is not None:
            self._cell += " "

    def handle_data(self, data: str) -> None:
        if self._cell is not None:
            self._cell += data

    def handle_endtag(self, tag: str) -> None:
        if tag not in ("td", "th") or self._cell is None:
            return
        index, row = len(self.rows) - 1, self.rows[-1]
        while (index, len(row)) in self._covered:
            row.append("")
        down, right = self._span
        self._covered |= {(index + i, len(row) + j) for i in range(1, down) for j in range(right)}
        row += [self._cell] + [""] * (right - 1)
        self._cell = None


def by_page(lines: Iterable[dict]) -> Pages:
    pages: Pages = defaultdict(list)
    for line in lines:
        for table in line.get("tables", [line]):
            pages[line["pdf"], table["page"]].append(table["grid"])
    return pages


def score(truth: Pages, found: Pages) -> dict[str, float]:
    """Detection F1 by tables per page, and F1 of neighbouring cells (Göbel et al., ICDAR 2013)."""
    right = missed = extra = both = expected = given = 0
    files = {pdf for pdf, _ in truth}
    for key in set(truth) | {key for key in found if key[0] in files}:
        want, got = truth.get(key, []), found.get(key, [])
        right += min(len(want), len(got))
        missed += max(0, len(want) - len(got))
        extra += max(0, len(got) - len(want))
        pairs, guessed = neighbours(want), neighbours(got)
        both += (pairs & guessed).total()
        expected += pairs.total()
        given += guessed.total()
    return {
        "detection_f1": round(2 * right / max(1, 2 * right + missed + extra), 4),
        "adjacency_f1": round(2 * both / max(1, expected + given), 4),
    }


def neighbours(grids: Sequence[Grid]) -> Counter[tuple[str, str, str]]:
    """Pairs of filled cells that follow each other in a row or a column, empty ones skipped."""
    pairs: Counter[tuple[str, str, str]] = Counter()
    for grid in grids:
        width = max((len(row) for row in grid), default=0)
        columns = [[row[c] for row in grid if c < len(row)] for c in range(width)]
        for direction, lines in (("right", grid), ("down", columns)):
            for line in lines:
                filled = [text for cell in line if (text := " ".join(cell.split()).casefold())]
                pairs.update((a, b, direction) for a, b in pairwise(filled))
    return pairs


if __name__ == "__main__":
    main()
