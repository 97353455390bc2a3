"""What the model that reads tables is shown, and what it says: which operation is meant, and what each column, value and number is for."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Likelihoods: TypeAlias = npt.NDArray[np.float32]


class RowOperation(StrEnum):
    """What a question wants of a table's rows. The order is that of the model's outputs."""

    LOOKUP = "lookup"
    FILTER = "filter"
    COUNT = "count"
    DISTINCT = "distinct"
    SUM = "sum"
    AVERAGE = "average"
    EXTREME = "extreme"
    TOP = "topn"
    GROUP = "group"
    DIFFERENCE = "difference"
    CHANGE = "change"
    SHARE = "share"
    TREND = "trend"
    COMPARE = "compare"
    EXISTS = "exists"


class GroupFigure(StrEnum):
    """The figure of each group of rows, in the order of the model's outputs."""

    NONE = ""
    COUNT = "count"
    SUM = "sum"
    AVERAGE = "avg"
    MIN = "min"
    MAX = "max"


class ColumnRole(StrEnum):
    """What a column may be for; it may have several roles, or none. more, less: rows are wanted in which the first is above the second."""

    ANSWER = "answer"
    MEASURE = "measure"
    GROUP = "group"
    EMPTY = "empty"
    FILLED = "filled"
    MORE = "more"
    LESS = "less"


class ValueUse(StrEnum):
    """What a value of a column is for: rows that have it, that do not, or the part whose share is asked for."""

    NONE = ""
    IS = "is"
    IS_NOT = "is not"
    PART = "part"


class NumberUse(StrEnum):
    """What a number or time of the question is for: a comparison, or how many rows are wanted."""

    NONE = ""
    EQ = "eq"
    NE = "ne"
    LT = "lt"
    LTE = "lte"
    GT = "gt"
    GTE = "gte"
    LIMIT = "limit"


@dataclass(frozen=True, slots=True)
class ShownColumn:
    """A column as the model is shown it. kind: `number`, `date`, `time` or `text`; values: those that the question may name."""

    name: str
    kind: str
    values: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ShownTable:
    """A table as the model is shown it."""

    title: str
    columns: tuple[ShownColumn, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TableRead:
    """What the model says of a question and a table. All are logarithms of probabilities, but `meant` and `percent`, which are log-odds.

    meant:      that the table answers the question
    operations: shape (operations,); figures: of each group, shape (figures,); descending: shape (2,), of the highest first and the lowest first
    percent:    that a change or difference is wanted in percent
    roles:      log-odds, shape (columns, roles); minus infinity for a column that was not shown for want of room
    values:     for each column, shape (values, uses)
    numbers:    shape (numbers, uses); belongs: which column each is compared with, shape (numbers, columns)
    """

    meant: float
    operations: Likelihoods
    figures: Likelihoods
    descending: Likelihoods
    percent: float
    roles: Likelihoods
    values: tuple[Likelihoods, ...]
    numbers: Likelihoods
    belongs: Likelihoods
