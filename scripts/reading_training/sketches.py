"""What the SQL of a training question says, in the terms of the reader: operation, roles of columns, conditions."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import sqlglot
from sqlglot import exp

Value: TypeAlias = str | float | bool
Comparison: TypeAlias = Literal[
    "eq", "ne", "lt", "lte", "gt", "gte", "in", "not_in", "like", "not_like", "any", "null", "notnull"
]

_COMPARISONS: dict[type[exp.Expression], Comparison] = {
    exp.EQ: "eq", exp.NEQ: "ne", exp.LT: "lt", exp.LTE: "lte", exp.GT: "gt", exp.GTE: "gte",
}  # fmt: skip
_TURNED: dict[str, Comparison] = {"lt": "gt", "gt": "lt", "lte": "gte", "gte": "lte"}
_OPPOSITE: dict[str, Comparison] = {
    "eq": "ne", "ne": "eq", "lt": "gte", "gte": "lt", "gt": "lte", "lte": "gt",
}  # fmt: skip
_FIGURES = {exp.Count: "count", exp.Sum: "sum", exp.Avg: "avg", exp.Min: "min", exp.Max: "max", exp.Median: "avg"}
_WRAPPERS = (exp.Cast, exp.TryCast, exp.Paren, exp.Lower, exp.Trim, exp.Upper, exp.Round, exp.Abs, exp.Alias)
_RANKED = ("extreme", "topn", "compare", "lookup", "filter")


@dataclass(slots=True)
class Condition:
    """A comparison of a column. value: a tuple for `in`, `not_in` and `any`, whose parts are (comparison, value); part: of a share's numerator."""

    column: str
    comparison: Comparison
    value: object = None
    part: bool = False


@dataclass(slots=True)
class Sketch:
    """A query in parts. pairs: (greater column, lesser column) of the rows that are wanted; odd: what it holds that no part can say."""

    operation: str
    conditions: list[Condition] = field(default_factory=list)
    answer: list[str] = field(default_factory=list)
    measure: list[str] = field(default_factory=list)
    group: list[str] = field(default_factory=list)
    pairs: list[tuple[str, str]] = field(default_factory=list)
    figure: str = ""
    direction: str = ""
    limit: int | None = None
    percent: bool | None = None
    odd: list[str] = field(default_factory=list)

    @property
    def columns(self) -> set[str]:
        """All that it names."""
        named = {*self.answer, *self.measure, *self.group, *(one.column for one in self.conditions)}
        return named | {column for pair in self.pairs for column in pair}


def sketch_of(operation: str, sql: str) -> Sketch:
    """The parts of a DuckDB query that answers a question for this operation."""
    found = Sketch(operation)
    tree = sqlglot.parse_one(sql, read="duckdb")
    if not isinstance(tree, exp.Select):
        found.odd.append("not a select")
        return found
    _read_select(tree, found)
    found.conditions = [one for n, one in enumerate(found.conditions) if one not in found.conditions[:n]]
    for name in ("answer", "measure", "group"):
        setattr(found, name, list(dict.fromkeys(getattr(found, name))))
    if operation in ("extreme", "topn", "compare") and not found.direction and found.figure in ("min", "max"):
        found.direction, found.figure = ("asc" if found.figure == "min" else "desc"), ""
    if operation in ("change", "difference"):
        found.percent = "100" in sql
    if operation == "share" and not any(one.part for one in found.conditions):
        for one in found.conditions:
            one.part = True
    found.answer = [column for column in found.answer if column not in (*found.measure, *found.group)]
    if len(found.pairs) > 1:
        found.odd.append("pairs")
    return found


def _name(node: exp.Expression | None) -> str | None:
    while isinstance(node, (*_WRAPPERS, exp.Distinct)):
        node = node.expressions[0] if isinstance(node, exp.Distinct) else node.this
    return node.name if isinstance(node, exp.Column) else None


def _value(node: exp.Expression) -> Value | None:
    while isinstance(node, exp.Cast | exp.Paren | exp.Lower):
        node = node.this
    if isinstance(node, exp.Literal):
        return node.this if node.is_string else float(node.this)
    if isinstance(node, exp.Neg) and isinstance(node.this, exp.Literal):
        return -float(node.this.this)
    return bool(node.this) if isinstance(node, exp.Boolean) else None


def _read_conditions(node: exp.Expression, found: Sketch, *, part: bool = False, denied: bool = False) -> None:
    column = _name(node.this) if isinstance(node, exp.In | exp.Like | exp.ILike | exp.Is | exp.Between) else None
    match node:
        case exp.Paren():
            _read_conditions(node.this, found, part=part, denied=denied)
        case exp.Not():
            _read_conditions(node.this, found, part=part, denied=not denied)
        case exp.And():
            _read_conditions(node.left, found, part=part, denied=denied)
            _read_conditions(node.right, found, part=part, denied=denied)
        case exp.Or():
            _read_alternatives(node, found, part=part)
        case exp.In() if column and node.expressions:
            values = tuple(map(_value, node.expressions))
            found.conditions.append(Condition(column, "not_in" if denied else "in", values, part))
        case exp.Like() | exp.ILike() if column:
            found.conditions.append(Condition(column, "not_like" if denied else "like", _value(node.expression), part))
        case exp.Is() if column:
            found.conditions.append(Condition(column, "notnull" if denied else "null", None, part))
        case exp.Between() if column:
            low, high = _value(node.args["low"]), _value(node.args["high"])
            found.conditions += [Condition(column, "gte", low, part), Condition(column, "lte", high, part)]
        case exp.Column():
            found.conditions.append(Condition(node.name, "eq", not denied, part))
        case _ if type(node) in _COMPARISONS:
            _read_comparison(node, found, part=part, denied=denied)
        case _:
            found.odd.append(type(node).__name__)


def _read_comparison(node: exp.Expression, found: Sketch, *, part: bool, denied: bool) -> None:
    left, right, comparison = node.left, node.right, _COMPARISONS[type(node)]  # type: ignore[attr-defined]
    column, value, other = _name(left), _value(right), _name(right)
    if column is None and other is not None:
        column, value, comparison = other, _value(left), _TURNED.get(comparison, comparison)
    elif column is not None and other is not None and comparison in ("lt", "gt") and not denied:
        found.pairs.append((column, other) if comparison == "gt" else (other, column))
        return
    if column is None or value is None:
        found.odd.append("comparison")
        return
    found.conditions.append(Condition(column, _OPPOSITE[comparison] if denied else comparison, value, part))


def _read_alternatives(node: exp.Or, found: Sketch, *, part: bool) -> None:
    """Alternatives of one column."""
    both = Sketch("")
    _read_conditions(node.left, both, part=part)
    _read_conditions(node.right, both, part=part)
    columns = {one.column for one in both.conditions}
    if (
        both.odd
        or len(columns) != 1
        or any(one.comparison not in ("eq", "in", "like", "any") for one in both.conditions)
    ):
        found.odd.append("or")
        return
    found.conditions.append(
        Condition(columns.pop(), "any", tuple((c.comparison, c.value) for c in both.conditions), part)
    )


def _read_select(select: exp.Select, found: Sketch) -> None:
    source = select.args.get("from") or select.args.get("from_")
    if source is not None and not isinstance(source.this, exp.Table):
        found.odd.append("subquery")
    if select.args.get("having"):
        found.odd.append("having")
    if select.args.get("where"):
        _read_conditions(select.args["where"].this, found)
    renamed = {one.alias: one.this for one in select.expressions if isinstance(one, exp.Alias)}
    groups = _groups(select, renamed, found)
    found.group += groups
    plain: list[str] = []
    for one in select.expressions:
        column = _name(one)
        if column is not None and column not in groups:
            plain.append(column)
        elif isinstance(one, exp.Star):
            found.odd.append("star")
        elif column is None:
            _read_figure(one, found)
    _read_order(select, renamed, groups, found)
    if found.operation == "trend" and len(plain) > 1 and select.args.get("order"):
        time = _name(select.args["order"].expressions[0].this)
        found.answer += [column for column in plain if column == time]
        found.measure += [column for column in plain if column != time]
    elif found.operation in ("trend", "change", "difference"):
        found.measure += plain
    else:
        found.answer += [column for column in plain if column not in found.measure]


def _groups(select: exp.Select, renamed: dict[str, exp.Expression], found: Sketch) -> list[str]:
    grouped = select.args.get("group")
    groups: list[str] = []
    for one in grouped.expressions if grouped else ():
        node = select.expressions[int(one.this) - 1] if isinstance(one, exp.Literal) else one
        column = _name(node)
        column = _name(renamed[column]) if column in renamed else column
        if column is None:
            found.odd.append("group")
        else:
            groups.append(column)
    return groups


def _read_order(select: exp.Select, renamed: dict[str, exp.Expression], groups: list[str], found: Sketch) -> None:
    limit, order = select.args.get("limit"), select.args.get("order")
    if limit:
        found.limit = int(limit.expression.this)
    if order is None:
        return
    first = order.expressions[0]
    key = select.expressions[int(first.this.this) - 1] if isinstance(first.this, exp.Literal) else first.this
    key = renamed.get(key.name, key) if isinstance(key, exp.Column) else key
    column = _name(key)
    if limit and found.operation in _RANKED:
        found.direction = "desc" if first.args.get("desc") else "asc"
        if column is not None and column not in groups:
            found.measure.append(column)
    if column is None and (limit or found.operation in ("group", "compare", "trend")):
        _read_figure(key, found)


def _read_figure(node: exp.Expression, found: Sketch) -> None:
    """An expression of the select list, with the columns and figures in it."""
    match node:
        case (
            exp.Alias()
            | exp.Paren()
            | exp.Round()
            | exp.Cast()
            | exp.TryCast()
            | exp.Abs()
            | exp.Coalesce()
            | exp.Neg()
            | exp.Nullif()
        ):
            _read_figure(node.this, found)
        case exp.Anonymous() if node.expressions:
            _read_figure(node.expressions[0], found)
        case exp.Subquery():
            _read_select(node.this, found)
        case exp.Exists():
            _read_select(node.this.this if isinstance(node.this, exp.Subquery) else node.this, found)
        case exp.Select():
            _read_select(node, found)
        case exp.Filter():
            _read_conditions(node.expression.this, found, part=True)
            _read_aggregate(node.this, found)
        case _ if type(node) in _FIGURES:
            _read_aggregate(node, found)
        case exp.Case():
            _read_case(node, found)
        case exp.Mul() if found.operation not in ("share", "change") and _name(node.left) and _name(node.right):
            found.odd.append("product")
        case exp.Sub() | exp.Add() | exp.Mul() | exp.Div():
            _read_figure(node.left, found)
            _read_figure(node.right, found)
        case exp.Column():
            found.measure.append(node.name)
        case exp.Literal() | exp.Interval():
            pass
        case _:
            found.odd.append(type(node).__name__)


def _read_aggregate(node: exp.Expression, found: Sketch) -> None:
    figure, inner = _FIGURES.get(type(node), ""), node.this
    inner = inner.expressions[0] if isinstance(inner, exp.Distinct) else inner
    if isinstance(inner, exp.Case):
        for one in inner.args["ifs"]:
            _read_conditions(one.this, found, part=True)
            column = _name(one.args["true"])
            if column is not None:
                found.measure.append(column)
            elif isinstance(one.args["true"], exp.Literal):
                figure = "count"
            else:
                found.odd.append("case")
    elif inner is not None and not isinstance(inner, exp.Star | exp.Literal):
        if _name(inner) is None:
            found.odd.append("aggregate")
        else:
            found.measure.append(str(_name(inner)))
    if figure and found.figure in ("", "count"):
        found.figure = figure


def _read_case(node: exp.Case, found: Sketch) -> None:
    """`CASE WHEN … THEN 'yes'`: what is looked at, in a condition or in a query of its own."""
    condition = node.args["ifs"][0].this
    inner = list(condition.find_all(exp.Select))
    figures = [
        one for one in condition.find_all(*_FIGURES) if not any(one in list(s.find_all(*_FIGURES)) for s in inner)
    ]
    for one in inner:
        _read_select(one, found)
    for one in figures:
        _read_aggregate(one, found)
    if not inner and not figures:
        _read_conditions(condition, found)
