"""The built-in reader of tables: what it says of plain questions, and that any text can be read."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from citewell.adapters.reader.reading_model import FOLDER, ReadingModel
from citewell.adapters.reader.table_reader import MAX_INPUT_TOKENS, BuiltinTableReader
from citewell.types.table_reading import ColumnRole, NumberUse, RowOperation, ShownColumn, ShownTable, ValueUse

LOANS = ShownTable(
    "Loans 2025",
    (
        ShownColumn("Borrower", "text"),
        ShownColumn("Branch", "text", ("Accra", "Kumasi", "Tamale")),
        ShownColumn("Status", "text", ("paid", "overdue", "active")),
        ShownColumn("Amount (GHS)", "number"),
        ShownColumn("Disbursed", "date"),
    ),
)


@pytest.fixture(scope="module")
def reader() -> BuiltinTableReader:
    return BuiltinTableReader(ReadingModel.open())


@pytest.mark.parametrize(
    ("question", "operation"),
    [
        ("How many loans are overdue in Kumasi?", RowOperation.COUNT),
        ("What is the total amount of the loans in Accra?", RowOperation.SUM),
        ("Which borrower has the largest loan?", RowOperation.EXTREME),
        ("How much did each branch lend?", RowOperation.GROUP),
        ("What is the average amount in Tamale?", RowOperation.AVERAGE),
        ("Wie viele Kredite in Kumasi sind überfällig?", RowOperation.COUNT),
        ("Quel est le montant total des prêts à Accra ?", RowOperation.SUM),
    ],
)
def test_the_operation(reader: BuiltinTableReader, question: str, operation: RowOperation) -> None:
    read = reader.read(question, (), LOANS)
    assert list(RowOperation)[int(read.operations.argmax())] is operation
    assert read.meant > 0


def test_the_values_and_columns_that_a_question_names(reader: BuiltinTableReader) -> None:
    read = reader.read("What is the total amount of the overdue loans in Kumasi?", (), LOANS)
    used = [[list(ValueUse)[int(uses.argmax())] for uses in column] for column in read.values]
    assert used[1] == [ValueUse.NONE, ValueUse.IS, ValueUse.NONE]
    assert used[2] == [ValueUse.NONE, ValueUse.IS, ValueUse.NONE]
    measured = read.roles[:, list(ColumnRole).index(ColumnRole.MEASURE)]
    assert int(measured.argmax()) == 3


def test_a_number_is_compared_with_its_column(reader: BuiltinTableReader) -> None:
    question = "How many loans are over 5,000?"
    start = question.index("5,000")
    read = reader.read(question, [(start, start + 5)], LOANS)
    assert list(NumberUse)[int(read.numbers[0].argmax())] is NumberUse.GT
    assert int(read.belongs[0].argmax()) == 3


def test_a_question_about_something_else_does_not_mean_the_table(reader: BuiltinTableReader) -> None:
    assert reader.read("When does the swimming pool open on Sundays?", (), LOANS).meant < 0


def test_probabilities_add_up(reader: BuiltinTableReader) -> None:
    read = reader.read("Loans over 100 in Accra", [(11, 14)], LOANS)
    for found in (read.operations, read.figures, read.descending, *read.numbers, *read.belongs, *read.values[1]):
        assert np.isclose(np.exp(found).sum(), 1.0, atol=1e-4)


@given(st.text(max_size=400), st.lists(st.text(min_size=1, max_size=60), min_size=1, max_size=60))
def test_any_text_is_read(question: str, names: list[str]) -> None:
    reader = BuiltinTableReader(ReadingModel.open())
    columns = tuple(ShownColumn(name, "text", tuple(names[:12])) for name in names)
    made = reader.input(question, [(0, len(question))], ShownTable("t", columns))
    assert len(made.ids) <= MAX_INPUT_TOKENS
    read = reader.read(question, [(0, len(question))], ShownTable("t", columns))
    assert read.roles.shape == (len(names), len(ColumnRole))


def test_the_manifest_names_its_material() -> None:
    manifest = json.loads((FOLDER / "manifest.json").read_text())
    assert "MIT" in manifest["license"]
    assert manifest["trained_on"]
