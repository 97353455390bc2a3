"""Which tables a question is read beside, when there are more than can be read."""

from __future__ import annotations

import pytest

from citewell.adapters.embedder.builtin import BuiltinEmbedder
from citewell.adapters.embedder.builtin_model import BuiltinModel
from citewell.adapters.reader.reading_model import ReadingModel
from citewell.agent.tables.meaning.nearest import Described, NearestTables, description
from citewell.agent.tables.thresholds import TableThresholds
from citewell.text.analysis import analyze

TABLES = {
    "Ferry timetable": [("Harbour", ["Visby", "Oskarshamn"]), ("Departure", []), ("Ferry", ["Drotten"])],
    "Kennel guests": [("Dog", ["Bello", "Rex"]), ("Owner", ["Marek"]), ("Weight kg", [])],
    "Seed orders": [("Supplier", ["Grünfeld"]), ("Seed", ["carrot", "kale"]), ("Packets", []), ("Price", [])],
    "Choir fees": [("Singer", ["Ines"]), ("Voice", ["alto"]), ("Paid", ["yes", "no"])],
}
NAMES = list(TABLES)


def described(title: str) -> Described:
    text = description(title, TABLES[title])
    return Described(frozenset(analyze(text, "en")), text)


@pytest.fixture(scope="module")
def nearest() -> NearestTables:
    embedder = BuiltinEmbedder(BuiltinModel.open(), reading=ReadingModel.open())
    return NearestTables(embedder, TableThresholds(read_tables=1))


@pytest.mark.parametrize(
    ("question", "table"),
    [
        ("which singers have not paid", "Choir fees"),
        ("how heavy are the animals", "Kennel guests"),
        ("When does the boat to Gotland leave?", "Ferry timetable"),
        ("Wie viel kosten die Karotten?", "Seed orders"),
        ("¿Cuánto pesa el perro de Marek?", "Kennel guests"),
    ],
)
async def test_the_table_that_is_meant_is_nearest(nearest: NearestTables, question: str, table: str) -> None:
    assert await nearest.of(question, NAMES, described) == [table]


async def test_few_tables_are_all_read(nearest: NearestTables) -> None:
    assert await nearest.of("anything", NAMES[:1], described) == NAMES[:1]
    assert await nearest.of("anything", [], described) == []


async def test_a_rare_word_decides_between_tables_that_mean_the_same(nearest: NearestTables) -> None:
    tables = [
        Described(frozenset({"rent", code.lower()}), description("Rents", [("Flat", [code])])) for code in ("A7", "B9")
    ]
    assert await nearest.of("rent of B9", tables, lambda one: one) == tables[1:]
