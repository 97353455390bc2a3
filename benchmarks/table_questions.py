"""Questions over the tables of real files, answered by typed queries and by the built-in planner, against plain Python.

    python benchmarks/table_questions.py FILE… [--questions 200] [--seed 1] [--show]

Typed queries must all be exact. The planner may refuse; what it answers should be right.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import re
import statistics
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb

from citewell.adapters.reader.reading_model import ReadingModel
from citewell.adapters.reader.table_reader import BuiltinTableReader
from citewell.agent.citations.numbers import find_figures
from citewell.agent.tables.language.links import core_name
from citewell.agent.tables.language.phrasing import phrase
from citewell.agent.tables.planner import Planned, TablePlanner
from citewell.agent.tables.query.typed import (
    Aggregate,
    ColumnRef,
    Comparator,
    Function,
    Order,
    RowCondition,
    TableQuery,
)
from citewell.agent.tables.run.engine import TableEngine
from citewell.agent.tables.run.results import row_hits, shown
from citewell.extract.core.sink import Sink
from citewell.extract.registry import extract_file
from citewell.types import ExtractOptions, Scope, TableColumn, TableInfo

Row = dict[str, Any]
_TOTAL = re.compile(r"(?:grand |sub)?total\b|year \d{4}$", re.I)  # plain Python would count such rows twice


class FileTables:
    """The Parquet copies of files that were read into a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._paths: dict[tuple[str, str], Path] = {}
        self.tables: list[TableInfo] = []

    def read(self, path: Path) -> None:
        """Extract one file and keep its tables."""
        scratch = Path(tempfile.mkdtemp(dir=self._folder))
        sink = Sink(scratch, ExtractOptions())
        with sink:
            summary = extract_file(path, path.name, sink)
        blobs = {blob.name: scratch / blob.path for blob in summary.blobs if blob.kind == "parquet"}
        for facts in summary.metadata.get("tables", []):
            table = TableInfo(
                id=facts["id"],
                resource_id=path.name,
                version=1,
                filename=path.name,
                name=facts["name"],
                sheet=facts.get("sheet"),
                columns=tuple(TableColumn(c["name"], c["dtype"]) for c in facts["columns"]),
                rows=facts["row_count"],
            )
            self.tables.append(table)
            self._paths[table.resource_id, table.id] = blobs[facts["copy"]]

    async def list_tables(self, owner_id: str, scope: Scope) -> Sequence[TableInfo]:
        return [t for t in self.tables if scope.resource_ids is None or t.resource_id in scope.resource_ids]

    async def open_table(self, owner_id: str, table: TableInfo) -> Path:
        return self._paths[table.resource_id, table.id]

    def rows(self, table: TableInfo) -> list[Row]:
        """All rows, for plain Python to compute with."""
        path = self._paths[table.resource_id, table.id]
        cursor = duckdb.connect().execute("SELECT * FROM read_parquet(?)", [str(path)])
        names = [d[0] for d in cursor.description]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


@dataclass
class Question:
    """A question in words and as a typed query, with the figures and names that its answer must hold."""

    text: str
    table: TableInfo
    query: TableQuery
    expected: list[Any]
    kind: str


def generate(table: TableInfo, rows: list[Row], pick: random.Random) -> Question | None:
    """One random question, or None where the table has nothing for the kind drawn."""
    numeric = [c.name for c in table.columns if c.kind in ("integer", "number")]
    texts = [c.name for c in table.columns if c.kind == "text"]
    labels = [t for t in texts if len({r[t] for r in rows}) == len(rows) and all(r[t] for r in rows)]
    groups = [t for t in texts if 1 < len({r[t] for r in rows if r[t]}) < len(rows)]
    maker = pick.choice(MAKERS)
    return maker(table, rows, pick, numeric, labels, groups)


def _count(
    table: TableInfo, rows: list[Row], pick: random.Random, numeric: list[str], labels: list[str], groups: list[str]
) -> Question | None:
    if not groups:
        return None
    name = pick.choice(groups)
    value = pick.choice([r[name] for r in rows if r[name]])
    words = pick.choice(
        ["How many rows have {c} {v}?", "How many rows are there where {c} is {v}?", "Count the rows with {c} = {v}"]
    )
    query = TableQuery(
        source=table.id,
        conditions=(RowCondition(ColumnRef(name), Comparator.EQ, value),),
        aggregates=(Aggregate(Function.COUNT),),
    )
    return Question(
        words.format(c=core_name(name), v=value), table, query, [sum(r[name] == value for r in rows)], "count"
    )


def _over(
    table: TableInfo, rows: list[Row], pick: random.Random, numeric: list[str], labels: list[str], groups: list[str]
) -> Question | None:
    name = pick.choice(numeric) if numeric else None
    values = [r[name] for r in rows if name and r[name] is not None]
    if not values:
        return None
    limit = round(statistics.median(values), 2)
    words = pick.choice(
        [
            "How many rows have a {c} over {v}?",
            "How many rows have {c} greater than {v}?",
            "Count rows where {c} is more than {v}",
        ]
    )
    query = TableQuery(
        source=table.id,
        conditions=(RowCondition(ColumnRef(name), Comparator.GT, limit),),
        aggregates=(Aggregate(Function.COUNT),),
    )
    return Question(words.format(c=core_name(name), v=limit), table, query, [sum(v > limit for v in values)], "filter")


def _aggregate(
    table: TableInfo, rows: list[Row], pick: random.Random, numeric: list[str], labels: list[str], groups: list[str]
) -> Question | None:
    if not numeric:
        return None
    name = pick.choice(numeric)
    function, words, compute = pick.choice(
        [
            (Function.SUM, "What is the total {c}", sum),
            (Function.SUM, "What is the sum of {c}", sum),
            (Function.AVG, "What is the average {c}", statistics.fmean),
            (Function.MIN, "What is the lowest {c}", min),
            (Function.MAX, "What is the highest {c}", max),
            (Function.MEDIAN, "What is the median {c}", statistics.median),
        ]
    )
    conditions: tuple[RowCondition, ...] = ()
    kept = rows
    if groups and pick.random() < 0.5:
        group = pick.choice(groups)
        value = pick.choice([r[group] for r in rows if r[group]])
        kept = [r for r in rows if r[group] == value]
        conditions = (RowCondition(ColumnRef(group), Comparator.EQ, value),)
        words += pick.choice([f" where {core_name(group)} is {value}", f" for {core_name(group)} {value}"])
    values = [r[name] for r in kept if r[name] is not None]
    if not values:
        return None
    query = TableQuery(source=table.id, conditions=conditions, aggregates=(Aggregate(function, name),))
    return Question(words.format(c=core_name(name)) + "?", table, query, [compute(values)], function.value)


def _extreme(
    table: TableInfo, rows: list[Row], pick: random.Random, numeric: list[str], labels: list[str], groups: list[str]
) -> Question | None:
    if not numeric or not labels:
        return None
    label, name, high = pick.choice(labels), pick.choice(numeric), pick.random() < 0.5
    filled = [r for r in rows if r[name] is not None]
    if not filled:
        return None
    best = (max if high else min)(r[name] for r in filled)
    names = [r[label] for r in filled if r[name] == best]
    if len(names) > 3:
        return None
    text = f"Which {core_name(label)} has the {'highest' if high else 'lowest'} {core_name(name)}?"
    query = TableQuery(
        source=table.id,
        columns=(label, name),
        conditions=(RowCondition(ColumnRef(name), Comparator.NOT_EMPTY),),
        order=(Order(name, high),),
        limit=len(names),
    )
    return Question(text, table, query, [best, *names], "extreme")


def _top(
    table: TableInfo, rows: list[Row], pick: random.Random, numeric: list[str], labels: list[str], groups: list[str]
) -> Question | None:
    if not numeric or not labels or len(rows) < 6:
        return None
    label, name = pick.choice(labels), pick.choice(numeric)
    ranked = sorted((r for r in rows if r[name] is not None), key=lambda r: -r[name])
    if len(ranked) < 5 or ranked[2][name] == ranked[3][name]:
        return None
    query = TableQuery(source=table.id, columns=(label, name), order=(Order(name, True),), limit=3)
    expected = [v for r in ranked[:3] for v in (r[label], r[name])]
    return Question(f"What are the top 3 {core_name(label)} by {core_name(name)}?", table, query, expected, "top")


def _compare(
    table: TableInfo, rows: list[Row], pick: random.Random, numeric: list[str], labels: list[str], groups: list[str]
) -> Question | None:
    if not numeric or not labels or len(rows) < 3:
        return None
    label, name = pick.choice(labels), pick.choice(numeric)
    a, b = pick.sample(rows, 2)
    if a[name] is None or b[name] is None:
        return None
    query = TableQuery(
        source=table.id,
        columns=(label, name),
        conditions=(RowCondition(ColumnRef(label), Comparator.IN, (a[label], b[label])),),
    )
    return Question(
        f"Compare the {core_name(name)} of {a[label]} and {b[label]}", table, query, [a[name], b[name]], "compare"
    )


def _lookup(
    table: TableInfo, rows: list[Row], pick: random.Random, numeric: list[str], labels: list[str], groups: list[str]
) -> Question | None:
    if not numeric or not labels:
        return None
    label, name, row = pick.choice(labels), pick.choice(numeric), pick.choice(rows)
    if row[name] is None:
        return None
    query = TableQuery(
        source=table.id, columns=(name,), conditions=(RowCondition(ColumnRef(label), Comparator.EQ, row[label]),)
    )
    return Question(f"What is the {core_name(name)} of {row[label]}?", table, query, [row[name]], "lookup")


def _per_group(
    table: TableInfo, rows: list[Row], pick: random.Random, numeric: list[str], labels: list[str], groups: list[str]
) -> Question | None:
    if not numeric or not groups:
        return None
    group, name = pick.choice(groups), pick.choice(numeric)
    found: dict[Any, float] = {}
    for row in rows:
        if row[name] is not None:
            found[row[group]] = found.get(row[group], 0) + row[name]
    if not 1 < len(found) <= 8:
        return None
    query = TableQuery(
        source=table.id, groups=(ColumnRef(group),), aggregates=(Aggregate(Function.SUM, name),), limit=50
    )
    return Question(
        f"What is the total {core_name(name)} per {core_name(group)}?", table, query, list(found.values()), "groups"
    )


MAKERS: list[Callable[..., Question | None]] = [
    _count,
    _over,
    _aggregate,
    _aggregate,
    _extreme,
    _top,
    _compare,
    _lookup,
    _per_group,
]


def holds(text: str, expected: list[Any]) -> bool:
    """Whether every expected figure and name stands in the text: to 10 digits, or as averages are rounded where it has more decimals."""
    have = [value for figure in find_figures(text) for value in figure.values]
    for value in expected:
        if isinstance(value, int | float):
            rounded = round(value, 2) if abs(value) >= 1 else float(f"{value:.4g}")
            known = (abs(value), abs(rounded))
            if not any(abs(abs(float(h)) - k) <= 1e-9 * max(1.0, k) for h in have for k in known):
                return False
        elif shown(value) not in text:
            return False
    return True


async def run(files: list[Path], wanted: int, seed: int, show: bool) -> dict[str, Any]:
    pick = random.Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        store = FileTables(Path(folder))
        for path in files:
            try:
                store.read(path)
            except Exception as error:  # noqa: BLE001 - one unreadable file must not end the run
                print(f"{path.name}: {error}")
        engine = TableEngine(store)
        planner = TablePlanner(engine, reader=BuiltinTableReader(ReadingModel.open()))
        read = [(t, store.rows(t)) for t in store.tables if t.rows >= 2 and t.columns]
        usable = [(t, rows) for t, rows in read if not any(_TOTAL.match(str(v)) for r in rows for v in r.values())]
        asked: dict[str, Question] = {}
        for _ in range(wanted * 200):
            question = generate(*pick.choice(usable), pick)
            if question is not None:
                asked.setdefault(question.table.filename + question.text, question)
            if len(asked) >= wanted:
                break
        exact, right, refused, wrong = 0, 0, 0, []
        for question in asked.values():
            result = await engine.run("me", question.table, question.query)
            texts = " ; ".join(hit.chunk.text for hit in row_hits("me", result))
            exact += holds(texts, question.expected)
            if not holds(texts, question.expected):
                print("INEXACT", question.text, question.expected, texts[:300])
            scope = await store.list_tables("me", Scope(resource_ids=(question.table.resource_id,)))
            planned = await planner.consider("me", question.text, scope)
            answer = None
            if isinstance(planned, Planned):
                found = await engine.run("me", planned.plan.table, planned.plan.query)
                answer = phrase(planned.plan, found, planned.left_out, list(range(1, len(row_hits("me", found)) + 1)))
            if answer is None:
                refused += 1
                if show:
                    print("REFUSED", question.kind, "|", question.text, "|", planned)
            elif holds(answer, question.expected):
                right += 1
            else:
                wrong.append(
                    f"{question.table.filename}/{question.table.name}: {question.text} -> {answer!r}, expected {question.expected}"
                )
    for line in wrong:
        print("WRONG", line)
    return {
        "questions": len(asked),
        "tables": len(usable),
        "typed_exact": exact,
        "planner_right": right,
        "planner_refused": refused,
        "planner_wrong": len(wrong),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--show", action="store_true", help="print refusals")
    arguments = parser.parse_args()
    print(json.dumps(asyncio.run(run(arguments.files, arguments.questions, arguments.seed, arguments.show))))


if __name__ == "__main__":
    main()
