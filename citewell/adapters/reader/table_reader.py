"""The built-in reader of tables: a small model in ONNX Runtime that says what a question means of a table, without a key or a download.

It reads the question, the table's title, and each column with its kind and some of its values, in one pass; what a column, a value or a
number is for is read from the token before it, as Lyu et al., "Hybrid Ranking Network for Text-to-SQL", 2020, do for columns.
`scripts/train_table_reader.py` made the model.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from citewell.adapters.embedder.builtin_model import MODEL_FOLDER, BuiltinModel
from citewell.ports import FloatMatrix
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

TABLE_READER_FOLDER = MODEL_FOLDER.parent / "minilm-table-reader"
MAX_QUESTION_TOKENS, MAX_TITLE_TOKENS, MAX_NAME_TOKENS, MAX_VALUE_TOKENS = 64, 12, 14, 10
MAX_INPUT_TOKENS = 256
KINDS = {"number": 1, "date": 2, "time": 3, "text": 4}
"""Tokens before a column's name, by its kind; the vocabulary leaves them unused."""
VALUE = 5
"""The token before a value."""
POINTING = 32
"""Outputs of a number, and of a column, whose product says whether they belong together."""
_CLS, _SEP = 101, 102


def _layout() -> tuple[dict[str, slice], int]:
    sizes = {
        "meant": 1,
        "operation": len(RowOperation),
        "figure": len(GroupFigure),
        "direction": 3,
        "percent": 1,
        "role": len(ColumnRole),
        "value": len(ValueUse),
        "number": len(NumberUse),
        "points": POINTING,
        "pointed": POINTING,
    }
    places: dict[str, slice] = {}
    start = 0
    for name, size in sizes.items():
        places[name] = slice(start, start + size)
        start += size
    return places, start


OUTPUTS, WIDTH = _layout()
"""Where each output of a token is, and how many there are. `direction`: none, highest first, lowest first."""


@dataclass(frozen=True, slots=True)
class TableInput:
    """Token ids, and the places of the tokens that stand for columns, values (of each column) and numbers; -1 for what found no room."""

    ids: list[int]
    columns: list[int]
    values: list[list[int]]
    numbers: list[int]


class BuiltinTableReader:
    """Implements `citewell.agent.interface.TableReader`, for English."""

    def __init__(self, model: BuiltinModel, words: BuiltinModel) -> None:
        """`words`: the model whose tokenizer this one reads with."""
        self._model = model
        self._words = words

    @classmethod
    def load(cls, folder: Path = TABLE_READER_FOLDER) -> BuiltinTableReader:
        """The model in `folder`, which is read when it is first used; `ConfigurationError` where its manifest is missing."""
        return cls(BuiltinModel.open(folder), BuiltinModel.open())

    def read(self, question: str, numbers: Sequence[tuple[int, int]], table: ShownTable) -> TableRead:
        """See `TableReader.read`."""
        made = self.input(question, numbers, table)
        return interpreted(self._model.answer_logits([made.ids])[0], made)

    def input(self, question: str, numbers: Sequence[tuple[int, int]], table: ShownTable) -> TableInput:
        """The question and the table in tokens; columns past the room are left out, and of a column's values the last ones."""
        pieces = self._words.tokenizer.pieces
        asked = pieces(question)
        offsets = asked.offsets[:MAX_QUESTION_TOKENS]
        ids = [_CLS, *asked.ids[:MAX_QUESTION_TOKENS], _SEP, *pieces(table.title).ids[:MAX_TITLE_TOKENS], _SEP]
        named = [
            next((1 + i for i, (first, last) in enumerate(offsets) if last > start and first < end), -1)
            for start, end in numbers
        ]
        columns, values = [-1] * len(table.columns), [[-1] * len(column.values) for column in table.columns]
        for number, column in enumerate(table.columns):
            name = pieces(column.name).ids[:MAX_NAME_TOKENS]
            if len(ids) + len(name) + 2 > MAX_INPUT_TOKENS:
                continue
            columns[number] = len(ids)
            ids += [KINDS[column.kind], *name]
            for place, value in enumerate(column.values):
                tokens = pieces(value).ids[:MAX_VALUE_TOKENS]
                if len(ids) + len(tokens) + 2 > MAX_INPUT_TOKENS:
                    break
                values[number][place] = len(ids)
                ids += [VALUE, *tokens]
        return TableInput([*ids, _SEP], columns, values, named)


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
