"""The built-in reader of tables: says what a question means of a table, in any language, without a key or a download.

It reads the question, the table's title, and each column with its kind and some of its values, in one pass; what a column, a value or a
number is for is read from the token before it, as Lyu et al., "Hybrid Ranking Network for Text-to-SQL", 2020, do for columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from citewell.adapters.reader.outputs import OUTPUTS, POINTING
from citewell.adapters.reader.reading_model import END, START, ReadingModel
from citewell.ports import FloatMatrix
from citewell.types.table_reading import ColumnRole, Likelihoods, NumberUse, ShownTable, TableRead, ValueUse

MAX_QUESTION_TOKENS, MAX_TITLE_TOKENS, MAX_NAME_TOKENS, MAX_VALUE_TOKENS = 72, 14, 16, 12
MAX_INPUT_TOKENS = 288
KINDS = {"number": 250_002, "date": 250_003, "time": 250_004, "text": 250_005}
"""Tokens before a column's name, by its kind; the vocabulary leaves them unused."""
VALUE = 250_006
"""The token before a value."""


@dataclass(frozen=True, slots=True)
class TableInput:
    """Token ids, and the places of the tokens that stand for columns, values (of each column) and numbers; -1 for what found no room."""

    ids: list[int]
    columns: list[int]
    values: list[list[int]]
    numbers: list[int]


class BuiltinTableReader:
    """Implements `citewell.agent.interface.TableReader`."""

    def __init__(self, model: ReadingModel) -> None:
        self._model = model

    def read(self, question: str, numbers: Sequence[tuple[int, int]], table: ShownTable) -> TableRead:
        """See `TableReader.read`."""
        made = self.input(question, numbers, table)
        return interpreted(self._model.logits(made.ids), made)

    def input(self, question: str, numbers: Sequence[tuple[int, int]], table: ShownTable) -> TableInput:
        """The question and the table in tokens; columns past the room are left out, and of a column's values the last ones."""
        tokens = self._model.tokens
        asked = tokens(question, MAX_QUESTION_TOKENS)
        ids = [START, *asked.ids, END, *tokens(table.title, MAX_TITLE_TOKENS).ids, END]
        named = [
            next((1 + i for i, (first, last) in enumerate(asked.offsets) if last > start and first < end), -1)
            for start, end in numbers
        ]
        columns, values = [-1] * len(table.columns), [[-1] * len(column.values) for column in table.columns]
        for number, column in enumerate(table.columns):
            name = tokens(column.name, MAX_NAME_TOKENS).ids
            if len(ids) + len(name) + 2 > MAX_INPUT_TOKENS:
                continue
            columns[number] = len(ids)
            ids += [KINDS[column.kind], *name]
            for place, value in enumerate(column.values):
                shown = tokens(value, MAX_VALUE_TOKENS).ids
                if len(ids) + len(shown) + 2 > MAX_INPUT_TOKENS:
                    break
                values[number][place] = len(ids)
                ids += [VALUE, *shown]
        return TableInput([*ids, END], columns, values, named)


def interpreted(outputs: FloatMatrix, made: TableInput) -> TableRead:
    """What the model's outputs say, shape (tokens, `WIDTH`)."""
    whole = outputs[0]
    columns = np.array(made.columns)
    shown = columns >= 0
    roles = np.full((len(columns), len(ColumnRole)), -np.inf, np.float32)
    roles[shown] = outputs[columns[shown], OUTPUTS["role"]]
    return TableRead(
        meant=float(whole[OUTPUTS["meant"]][0]),
        operations=_normal(whole[OUTPUTS["operation"]]),
        figures=_normal(whole[OUTPUTS["figure"]]),
        descending=_normal(whole[OUTPUTS["direction"]][1:]),
        percent=float(whole[OUTPUTS["percent"]][0]),
        roles=roles,
        values=tuple(_uses(outputs, places, "value", len(ValueUse)) for places in made.values),
        numbers=_uses(outputs, made.numbers, "number", len(NumberUse)),
        belongs=_belongs(outputs, made.numbers, made.columns),
    )


def _uses(outputs: FloatMatrix, places: Sequence[int], name: str, uses: int) -> Likelihoods:
    """Of each place its uses; one that was not shown is not used."""
    found = np.full((len(places), uses), -np.inf, np.float32)
    for row, place in enumerate(places):
        if place >= 0:
            found[row] = _normal(outputs[place, OUTPUTS[name]])
        else:
            found[row, 0] = 0.0
    return found


def _belongs(outputs: FloatMatrix, numbers: Sequence[int], columns: Sequence[int]) -> Likelihoods:
    found = np.full((len(numbers), len(columns)), -np.inf, np.float32)
    shown = [column for column, place in enumerate(columns) if place >= 0]
    if shown:
        pointed = outputs[[columns[column] for column in shown], OUTPUTS["pointed"]]
        for row, place in enumerate(numbers):
            if place >= 0:
                found[row, shown] = _normal(pointed @ outputs[place, OUTPUTS["points"]] * POINTING**-0.5)
    return found


def _normal(logits: Likelihoods) -> Likelihoods:
    """Log-probabilities."""
    shifted = logits - logits.max()
    return np.asarray(shifted - np.log(np.exp(shifted).sum()), np.float32)
