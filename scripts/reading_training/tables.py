"""Questions about tables, each with what is to be read of it: those of `training/tables`, and WikiSQL's training split.

WikiSQL (Zhong et al. 2017, BSD 3-Clause) comes as `text2sql-data` (Finegan-Dollak et al. 2018) prepares it, one JSON file of questions and
queries without the tables: of each table only the columns and values that its questions name are known.
"""

from __future__ import annotations

import json
import random
import re
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import permutations
from math import log
from pathlib import Path
from typing import Any, TypeAlias

from citewell.agent.tables.meaning.mentions import Mention, mentions
from citewell.agent.tables.meaning.view import ColumnView, TableView, conditions_of, shown_values
from citewell.agent.tables.query.typed import ColumnRef, Comparator, DatePart, RowCondition
from citewell.text.analysis import analyze
from citewell.types.table_reading import ColumnRole, GroupFigure, NumberUse, RowOperation, ValueUse
from reading_training.sketches import Condition, Sketch, sketch_of

Cell: TypeAlias = str | int | float | None

OPERATIONS, FIGURES, ROLES = list(RowOperation), list(GroupFigure), list(ColumnRole)
USES, NUMBER_USES = list(ValueUse), list(NumberUse)
DIRECTIONS = ("", "desc", "asc")
_HELD_DOMAINS, _HELD_WEB_TABLES = 6, 50  # one in so many
_DAY, _CLOCK = re.compile(r"\d{4}-\d\d-\d\d"), re.compile(r"\d\d:\d\d")
_FIELD = r"(?:TABLEalias0\.)?(\S+?)_FIELD"
_WEB_QUERY = re.compile(rf"SELECT (?:(COUNT|MAX|MIN|SUM|AVG) )?{_FIELD} FROM TABLE AS TABLEalias0(?: WHERE (.*?))? ;")
_WEB_CONDITION = re.compile(rf"{_FIELD} ([=<>]) (.*)")
_WEB_OPERATIONS = {
    "": (RowOperation.LOOKUP, RowOperation.FILTER), "COUNT": (RowOperation.COUNT,), "SUM": (RowOperation.SUM,),
    "AVG": (RowOperation.AVERAGE,), "MAX": (RowOperation.EXTREME,), "MIN": (RowOperation.EXTREME,),
}  # fmt: skip


@dataclass(slots=True)
class Example:
    """A question beside a table, and what is to be read; None and -1 for what is not known.

    operations: those that are right, empty where the table is not meant; columns: of each column 1 or 0 for each role; values: of each
    column the use of each value; numbers: the use of each, and the column that it is compared with, -1 for none
    """

    question: str
    table: TableView
    mentions: tuple[Mention, ...]
    domain: str = ""
    operations: tuple[int, ...] = ()
    figure: int = -1
    direction: int = -1
    percent: int = -1
    columns: list[list[int]] | None = None
    values: list[list[int]] | None = None
    numbers: list[tuple[int, int]] | None = None
    missing: bool = False
    needed: frozenset[int] = field(default_factory=frozenset)

    @property
    def meant(self) -> bool:
        """Whether the table answers the question, as far as queries and what is shown of the table go."""
        return bool(self.operations) and not self.missing


def is_held(domain: str) -> bool:
    """Whether a domain is left out of training, to measure by."""
    return zlib.crc32(domain.encode()) % _HELD_DOMAINS == 0


def read_tables(folder: Path) -> list[dict[str, Any]]:
    """The tables of `training/tables`."""
    lines = (
        line for file in sorted((folder / "tables").glob("*.jsonl")) for line in file.read_text("utf-8").splitlines()
    )
    tables = [json.loads(line) for line in lines]
    for table in tables:
        table["rows"] = [[None if cell == "" else cell for cell in row] for row in table["rows"]]
    return tables


def own_examples(tables: Sequence[Mapping[str, Any]]) -> list[Example]:
    """Every wording of every question, and the questions that the tables do not answer."""
    found: list[Example] = []
    for table in tables:
        for question in table["qs"]:
            sketch = sketch_of(question["op"], question["sql"])
            if not sketch.columns <= set(table["cols"]):
                sketch.odd.append("another column")
            found += (_example(table, sketch, plain(text)) for text in question["q"].values())
        found += (beside(plain(text), table) for text in table.get("not", ()))
    return found


def beside(question: str, table: Mapping[str, Any]) -> Example:
    """A question that a table does not answer."""
    return Example(question, table_view(table, question), mentions(question), table["d"])


def other_questions(folder: Path) -> list[str]:
    """Questions for prose, and messages that are no questions: no table answers them."""
    found: list[str] = []
    for file in sorted((folder / "passages").glob("*.jsonl")):
        for line in file.read_text("utf-8").splitlines():
            one = json.loads(line)
            if not is_held(one["d"]):
                found += map(plain, one["q"].values())
    for file in sorted((folder / "messages").glob("*.jsonl")):
        for line in file.read_text("utf-8").splitlines():
            one = json.loads(line)
            if one["act"] != "ask":
                found += [plain(one["q"])]
    return found


def plain(text: str) -> str:
    """A wording without the brackets around its content."""
    return text.replace("[", "").replace("]", "")


def table_view(table: Mapping[str, Any], question: str) -> TableView:
    """What the reader is shown of a table of `training/tables`."""
    columns: list[ColumnView] = []
    for place, name in enumerate(table["cols"]):
        cells = [row[place] for row in table["rows"]]
        kind, held = _kind(cells), [str(cell) for cell in cells if cell is not None]
        years = sorted(int(day[:4]) for day in held) if kind == "date" else []
        shown = shown_values(question, tuple(dict.fromkeys(held))) if kind == "text" else ()
        span = (years[0], years[-1]) if years else None
        columns.append(ColumnView(name, kind, ColumnRef(name), shown, span, len(held) < len(cells)))
    return TableView(table["title"], tuple(columns))


def _kind(cells: Sequence[Cell]) -> str:
    held = [cell for cell in cells if cell is not None]
    if held and all(isinstance(cell, int | float) for cell in held):
        return "number"
    for kind, pattern in (("date", _DAY), ("time", _CLOCK)):
        if held and all(pattern.fullmatch(str(cell)) for cell in held):
            return kind
    return "text"


def _example(table: Mapping[str, Any], sketch: Sketch, question: str) -> Example:
    made = Example(question, table_view(table, question), mentions(question), table["d"])
    made.operations = (OPERATIONS.index(RowOperation(sketch.operation)),)
    if sketch.odd:
        made.missing = True
        return made
    made.figure = FIGURES.index(GroupFigure(sketch.figure))
    made.direction = DIRECTIONS.index(sketch.direction)
    made.percent = -1 if sketch.percent is None else int(sketch.percent)
    made.columns = [[int(_has(role, name, sketch)) for role in ROLES] for name in table["cols"]]
    made.values = [[0] * len(column.values) for column in made.table.columns]
    made.numbers = [(0, -1)] * len(made.mentions)
    by_column: dict[tuple[str, bool], list[Condition]] = defaultdict(list)
    for one in sketch.conditions:
        by_column[one.column, one.part and sketch.operation == "share"].append(one)
    for (name, part), conditions in by_column.items():
        _mark(made, table, table["cols"].index(name), conditions, part=part)
    if sketch.operation == "topn":
        _mark_limit(made, sketch.limit)
    made.needed = frozenset(table["cols"].index(name) for name in sketch.columns)
    return made


def _has(role: ColumnRole, name: str, sketch: Sketch) -> bool:
    asked = sketch.operation in ("count", "filter", "exists", "lookup", "share")
    match role:
        case ColumnRole.ANSWER:
            return name in sketch.answer
        case ColumnRole.MEASURE:
            return name in sketch.measure
        case ColumnRole.GROUP:
            return name in sketch.group
        case ColumnRole.EMPTY:
            return any(one.column == name and one.comparison == "null" for one in sketch.conditions)
        case ColumnRole.FILLED:
            return asked and any(one.column == name and one.comparison == "notnull" for one in sketch.conditions)
        case ColumnRole.MORE:
            return any(name == more for more, _ in sketch.pairs)
        case ColumnRole.LESS:
            return any(name == less for _, less in sketch.pairs)


def _mark(made: Example, table: Mapping[str, Any], place: int, conditions: Sequence[Condition], *, part: bool) -> None:
    """Put down which values, or which numbers of the question, say these conditions of a column."""
    column, cells = made.table.columns[place], [row[place] for row in table["rows"]]
    compared = [one for one in conditions if one.comparison not in ("null", "notnull")]
    if not compared:
        return
    if column.kind == "text":
        for one in compared:
            _mark_values(made, place, one, cells, part=part)
        return
    if made.numbers is None:
        return
    used = _numbers_of(made.mentions, column, compared, cells)
    if not used and column.kind == "number" and (role := _role_of_zero(compared)) and made.columns is not None:
        made.columns[place][ROLES.index(role)] = 1
        return
    if not used:
        made.missing, made.numbers = True, None if made.mentions else made.numbers
    for number, use in used:
        made.numbers[number] = (NUMBER_USES.index(NumberUse(use)), place)  # type: ignore[index]


def _role_of_zero(conditions: Sequence[Condition]) -> ColumnRole | None:
    """`none` and `any` of a column of numbers."""
    signs = {"eq": ColumnRole.EMPTY, "lte": ColumnRole.EMPTY, "gt": ColumnRole.FILLED, "ne": ColumnRole.FILLED}
    return signs.get(conditions[0].comparison) if len(conditions) == 1 and conditions[0].value == 0 else None


def _mark_values(made: Example, place: int, one: Condition, cells: Sequence[Cell], *, part: bool) -> None:
    assert made.values is not None
    if one.comparison in ("lt", "lte", "gt", "gte"):
        made.missing = True
        return
    denied = {"ne": "eq", "not_in": "in", "not_like": "like"}.get(one.comparison)
    meant = replace(one, comparison=denied or one.comparison)
    wanted = {str(cell) for cell in cells if cell is not None and _meets(cell, meant)}
    use = ValueUse.IS_NOT if denied else ValueUse.PART if part else ValueUse.IS
    shown = made.table.columns[place].values
    for number, value in enumerate(shown):
        if value in wanted:
            made.values[place][number] = USES.index(use)
    made.missing = made.missing or not wanted <= set(shown)


def _mark_limit(made: Example, limit: int | None) -> None:
    for number, mention in enumerate(made.mentions):
        if made.numbers is not None and mention.number == limit and made.numbers[number][0] == 0:
            made.numbers[number] = (NUMBER_USES.index(NumberUse.LIMIT), -1)
            return


def _numbers_of(
    found: Sequence[Mention], column: ColumnView, conditions: Sequence[Condition], cells: Sequence[Cell]
) -> list[tuple[int, str]]:
    """Which numbers and times of the question, and with which comparison, choose the very rows that the conditions choose."""
    rows = {row for row, cell in enumerate(cells) if all(_meets(cell, one) for one in conditions)}
    values = {one.value for one in conditions if isinstance(one.value, float)}
    own = [one.comparison for one in conditions]
    signs = sorted(("eq", "gt", "gte", "lt", "lte", "ne"), key=lambda sign: sign not in own)
    fits = [number for number, one in enumerate(found) if column.kind != "number" or one.number in values]

    def chosen(number: int, sign: str) -> set[int] | None:
        made = conditions_of(found[number], column, Comparator(sign))
        return _rows(cells, made) if made else None

    for number in fits if len(conditions) == 1 or column.kind != "number" else ():
        for sign in signs:
            if chosen(number, sign) == rows:
                return [(number, sign)]
    for first, second in permutations(fits, 2):
        for signs_of_both in (("gte", "lte"), ("gte", "lt"), ("gt", "lt"), ("gt", "lte"), ("eq", "eq")):
            a, b = (chosen(number, sign) for number, sign in zip((first, second), signs_of_both, strict=True))
            if a and b and (a | b if signs_of_both[0] == "eq" else a & b) == rows:
                return [(first, signs_of_both[0]), (second, signs_of_both[1])]
    return _each_of(found, column, conditions, cells)


def _each_of(
    found: Sequence[Mention], column: ColumnView, conditions: Sequence[Condition], cells: Sequence[Cell]
) -> list[tuple[int, str]]:
    """One number for each of several values."""
    values = [v for one in conditions for v in (one.value if isinstance(one.value, tuple) else (one.value,))]
    used: list[tuple[int, str]] = []
    for value in values:
        rows = {row for row, cell in enumerate(cells) if _meets(cell, Condition(column.name, "eq", value))}
        for number, mention in enumerate(found):
            made = conditions_of(mention, column, Comparator.EQ)
            if rows and made and number not in [n for n, _ in used] and _rows(cells, made) == rows:
                used.append((number, "eq"))
                break
    alike = all(one.comparison in ("eq", "in") for one in conditions)
    return used if alike and len(used) == len(values) else []


def _rows(cells: Sequence[Cell], conditions: Sequence[RowCondition]) -> set[int]:
    return {row for row, cell in enumerate(cells) if cell is not None and all(_fits(cell, one) for one in conditions)}


def _fits(cell: str | float, one: RowCondition) -> bool:
    parts = {DatePart.YEAR: lambda day: int(day[:4]), DatePart.MONTH: lambda day: day[:7], DatePart.DAY: lambda day: day[:10],
             DatePart.QUARTER: lambda day: f"{day[:4]}-Q{(int(day[5:7]) + 2) // 3}"}  # fmt: skip
    held: Any = parts[one.ref.part](str(cell)) if isinstance(one.ref.part, DatePart) else cell
    value: Any = one.value
    if one.comparison is Comparator.IN:
        return held in value
    return isinstance(held, str) == isinstance(value, str) and _compares(held, one.comparison.value, value)


def _compares(held: Any, sign: str, value: Any) -> bool:
    return bool(
        {"eq": held == value, "ne": held != value}[sign]
        if sign in ("eq", "ne")
        else {"lt": held < value, "lte": held <= value, "gt": held > value, "gte": held >= value}[sign]
    )


def _meets(cell: Cell, one: Condition) -> bool:
    """Whether a cell meets a condition of the SQL."""
    if one.comparison in ("null", "notnull"):
        return (cell is None) == (one.comparison == "null")
    if cell is None:
        return False
    value: Any = one.value
    if one.comparison == "any":
        return any(_meets(cell, Condition(one.column, sign, part)) for sign, part in value)
    if one.comparison in ("like", "not_like"):
        return (_like(str(value)).fullmatch(str(cell)) is not None) == (one.comparison == "like")
    if one.comparison in ("in", "not_in"):
        return any(cell == v or str(cell) == str(v) for v in value) == (one.comparison == "in")
    if isinstance(cell, str) and isinstance(value, float):
        value = str(int(value)) if value.is_integer() else str(value)
    if isinstance(cell, int | float) and isinstance(value, str):
        return False
    return _compares(cell, one.comparison, value)


def _like(pattern: str) -> re.Pattern[str]:
    parts = (".*" if sign == "%" else "." if sign == "_" else re.escape(sign) for sign in pattern)
    return re.compile("".join(parts), re.IGNORECASE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class _WebQuestion:
    table: str
    text: str
    figure: str
    asked: str
    conditions: tuple[tuple[str, str, str], ...]


def web_examples(file: Path, *, held: bool = False) -> list[Example]:
    """The questions of WikiSQL's training split, or those about the tables that are left out to measure by."""
    questions = list(_web_questions(json.loads(file.read_text("utf-8"))))
    columns: dict[str, dict[str, None]] = defaultdict(dict)
    values: dict[tuple[str, str], set[tuple[str, str]]] = defaultdict(set)
    measured: set[tuple[str, str]] = set()
    for one in questions:
        columns[one.table].update(dict.fromkeys((one.asked, *(name for name, _, _ in one.conditions))))
        for name, sign, value in one.conditions:
            values[one.table, name].add((value, sign))
        if one.figure not in ("", "COUNT"):
            measured.add((one.table, one.asked))
    kinds = {
        (table, name): _web_kind(values[table, name], (table, name) in measured)
        for table, names in columns.items()
        for name in names
    }
    chosen = (one for one in questions if (zlib.crc32(one.table.encode()) % _HELD_WEB_TABLES == 0) == held)
    return [_web_example(one, sorted(columns[one.table]), values, kinds) for one in chosen]


def _web_questions(entries: Sequence[Mapping[str, Any]]) -> Iterator[_WebQuestion]:
    for entry in entries:
        query = _WEB_QUERY.fullmatch(entry["sql"][0])
        if query is None:
            continue
        where = re.split(rf" AND (?={_FIELD} [=<>] )", query[3] or "")[::2]
        found = [_WEB_CONDITION.fullmatch(part) for part in where if part]
        if not all(found):
            continue
        for sentence in entry["sentences"]:
            if sentence["question-split"] == "train":
                named = sentence["variables"]
                conditions = tuple(
                    (one[1], one[2], str(named.get(one[3].strip('"'), one[3].strip('"')))) for one in found if one
                )
                yield _WebQuestion(
                    sentence["table-id"], sentence["original"].strip(), query[1] or "", query[2], conditions
                )


def _web_kind(values: set[tuple[str, str]], measured: bool) -> str:
    numeric = all(re.fullmatch(r"-?\d+(\.\d+)?", value.replace(",", "")) for value, _ in values)
    ordered = any(sign != "=" for _, sign in values)
    return "number" if numeric and (measured or ordered or len(values) > 1) else "text"


def _web_example(
    one: _WebQuestion,
    names: Sequence[str],
    values: Mapping[tuple[str, str], set[tuple[str, str]]],
    kinds: Mapping[tuple[str, str], str],
) -> Example:
    columns: list[ColumnView] = []
    for name in names:
        kind = kinds[one.table, name]
        shown = shown_values(one.text, tuple(v for v, _ in sorted(values[one.table, name]))) if kind == "text" else ()
        columns.append(ColumnView(name.replace("_", " ").strip().lower(), kind, ColumnRef(name), shown))
    made = Example(one.text, TableView("", tuple(columns)), mentions(one.text), one.table)
    made.operations = tuple(OPERATIONS.index(operation) for operation in _WEB_OPERATIONS[one.figure])
    made.direction = {"MAX": 1, "MIN": 2}.get(one.figure, 0)
    role = ROLES.index(ColumnRole.ANSWER if not one.figure else ColumnRole.MEASURE)
    made.columns = [
        [int(name == one.asked and place == role and one.figure != "COUNT") for place in range(len(ROLES))]
        for name in names
    ]
    made.values = [[0] * len(column.values) for column in columns]
    made.numbers = [(0, -1)] * len(made.mentions)
    for name, sign, value in one.conditions:
        _mark_web(made, names.index(name), sign, value)
    made.needed = frozenset({names.index(one.asked), *(names.index(name) for name, _, _ in one.conditions)})
    return made


def _mark_web(made: Example, place: int, sign: str, value: str) -> None:
    column = made.table.columns[place]
    if column.kind == "text":
        if sign == "=" and value in column.values and made.values is not None:
            made.values[place][column.values.index(value)] = USES.index(ValueUse.IS)
        else:
            made.missing, made.values = True, None
        return
    number = float(value.replace(",", ""))
    free = [
        n
        for n, one in enumerate(made.mentions)
        if one.number == number and (made.numbers or [])[n : n + 1] == [(0, -1)]
    ]
    if not free or made.numbers is None:
        made.missing, made.numbers = True, None
        return
    use = {"=": NumberUse.EQ, "<": NumberUse.LT, ">": NumberUse.GT}[sign]
    made.numbers[free[0]] = (NUMBER_USES.index(use), place)


class Likeness:
    """Finds tables that share words with a question and do not answer it."""

    def __init__(self, tables: Sequence[dict[str, Any]]) -> None:
        self._tables = tables
        texts = (
            (one["title"], *one["cols"], *{cell for row in one["rows"] for cell in row if isinstance(cell, str)})
            for one in tables
        )
        self._words = [frozenset(word for text in parts for word in _stems(str(text))) for parts in texts]
        self._held = Counter(word for words in self._words for word in words)

    def tables_for(self, question: str, one: Example | None = None) -> list[dict[str, Any]]:
        """The most alike, none of the question's own domain and none with nearly all the columns and values that it needs."""
        asked, needed = _stems(question), frozenset[str]() if one is None else _needed_words(one)
        scores = [sum(log(len(self._tables) / self._held[w]) for w in asked & words) for words in self._words]
        found: list[dict[str, Any]] = []
        for place in sorted(range(len(scores)), key=lambda place: -scores[place])[:14]:
            answers = bool(needed) and len(needed & self._words[place]) >= 0.75 * len(needed)
            if scores[place] > 0 and not answers and (one is None or self._tables[place]["d"] != one.domain):
                found.append(self._tables[place])
        return found[:6]


@cache
def _stems(text: str) -> frozenset[str]:
    return frozenset(analyze(text, "en"))


def _needed_words(one: Example) -> frozenset[str]:
    names = [one.table.columns[place].name for place in one.needed]
    values = [
        value
        for column, uses in zip(one.table.columns, one.values or (), strict=False)
        for value, use in zip(column.values, uses, strict=True)
        if use
    ]
    return frozenset(word for text in (*names, *values) for word in _stems(text))


def widened(made: Example, pool: Mapping[str, Sequence[tuple[str, ...]]], source: random.Random) -> Example:
    """A web example with values of other tables among its own, which are only those that questions name."""
    if made.values is None:
        return made
    columns, uses = list(made.table.columns), list(made.values)
    for place, column in enumerate(columns):
        if column.kind != "text" or source.random() > 0.6:
            continue
        others = [v for _ in range(source.randint(1, 3)) for v in source.choice(pool.get(column.name) or [()])]
        more = [v for v in dict.fromkeys(others) if v not in column.values][: source.randint(0, 5)]
        both = [*zip(column.values, uses[place], strict=True), *((value, 0) for value in more)]
        source.shuffle(both)
        columns[place], uses[place] = replace(column, values=tuple(v for v, _ in both)), [use for _, use in both]
    return replace(made, table=TableView("", tuple(columns)), values=uses)


def value_pool(examples: Sequence[Example]) -> dict[str, list[tuple[str, ...]]]:
    """The values of the columns of each name."""
    found: dict[str, list[tuple[str, ...]]] = defaultdict(list)
    for one in examples:
        for column in one.table.columns:
            if column.values:
                found[column.name].append(column.values)
    return found


def arranged(made: Example, order: Sequence[int]) -> Example:
    """The example with these of its columns, in this order."""
    new = {old: place for place, old in enumerate(order)}
    return replace(
        made,
        table=TableView(made.table.title, tuple(made.table.columns[old] for old in order)),
        columns=None if made.columns is None else [made.columns[old] for old in order],
        values=None if made.values is None else [made.values[old] for old in order],
        numbers=None if made.numbers is None else [(use, new.get(old, -1)) for use, old in made.numbers],
    )
