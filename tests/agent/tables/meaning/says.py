"""A reader of tables that says what a test has it say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from citewell.types.table_reading import (
    ColumnRole,
    GroupFigure,
    Likelihoods,
    NumberUse,
    RowOperation,
    ShownTable,
    TableRead,
    ValueUse,
)

SURE = 8.0


@dataclass
class Says:
    """Sure of everything. values: by value, of whichever column; numbers: use and column of each, in order; shown: what it was shown last."""

    operation: RowOperation
    roles: Mapping[str, ColumnRole | Sequence[ColumnRole]] = field(default_factory=dict[str, ColumnRole])
    values: Mapping[str, ValueUse] = field(default_factory=dict[str, ValueUse])
    numbers: Sequence[tuple[NumberUse, str]] = ()
    figure: GroupFigure = GroupFigure.NONE
    descending: bool = True
    percent: bool = False
    meant: float = SURE
    shown: list[ShownTable] = field(default_factory=list[ShownTable])

    def read(self, question: str, numbers: Sequence[tuple[int, int]], table: ShownTable) -> TableRead:
        self.shown.append(table)
        names = [column.name for column in table.columns]
        roles = np.full((len(names), len(ColumnRole)), -SURE, np.float32)
        for name, given in self.roles.items():
            for role in (given,) if isinstance(given, ColumnRole) else given:
                roles[names.index(name), list(ColumnRole).index(role)] = SURE
        said = [*self.numbers, *[(NumberUse.NONE, "")] * len(numbers)][: len(numbers)]
        belongs = np.full((len(said), len(names)), -SURE, np.float32)
        for number, (_, name) in enumerate(said):
            if name:
                belongs[number, names.index(name)] = 0.0
        return TableRead(
            meant=self.meant,
            operations=_sure(list(RowOperation), self.operation),
            figures=_sure(list(GroupFigure), self.figure),
            descending=_sure([True, False], self.descending),
            percent=SURE if self.percent else -SURE,
            roles=roles,
            values=tuple(
                np.array([_sure(list(ValueUse), self.values.get(v, ValueUse.NONE)) for v in column.values], np.float32)
                for column in table.columns
            ),
            numbers=np.array([_sure(list(NumberUse), use) for use, _ in said], np.float32),
            belongs=belongs,
        )


def _sure(choices: Sequence[object], chosen: object) -> Likelihoods:
    return np.array([0.0 if one == chosen else -SURE for one in choices], np.float32)
