from __future__ import annotations

import datetime
import math
import statistics
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.depth import examples
from tests.extract.documents.reading import Reading, read_bytes
from tests.extract.tabular.tables import column, copied, copied_types


def one_column(folder: Path, cells: list[str]) -> Reading:
    return read_bytes(folder, "a.csv", "id,v\n" + "".join(f'x{n},"{cell}"\n' for n, cell in enumerate(cells)))


@pytest.mark.full
@pytest.mark.parametrize(
    ("cells", "dtype", "sql", "values"),
    [
        (["1", "-2", "+3"], "integer", "BIGINT", [1, -2, 3]),
        (["1", "2.5", "1e3", ".5"], "number", "DOUBLE", [1.0, 2.5, 1000.0, 0.5]),
        (["1,234", "12", "1,234,567.5"], "number", "DOUBLE", [1234.0, 12.0, 1234567.5]),
        (["1.234,5", "7,25"], "number", "DOUBLE", [1234.5, 7.25]),
        (["$1,200.50", "-$3", "($4)"], "number", "DOUBLE", [1200.5, -3.0, -4.0]),
        (["GHS 5,000", "GHS 12"], "number", "DOUBLE", [5000.0, 12.0]),
        (["10 €", "2,5 €"], "number", "DOUBLE", [10.0, 2.5]),
        (["12%", "3.5%"], "number", "DOUBLE", [12.0, 3.5]),
        (["true", "FALSE"], "boolean", "BOOLEAN", [True, False]),
        (["2024-02-29", "2024-3-1"], "date", "DATE", [datetime.date(2024, 2, 29), datetime.date(2024, 3, 1)]),
        (["31/01/2024", "01/02/2024"], "date", "DATE", [datetime.date(2024, 1, 31), datetime.date(2024, 2, 1)]),
        (["01/31/2024", "02/01/2024"], "date", "DATE", [datetime.date(2024, 1, 31), datetime.date(2024, 2, 1)]),
        (["31.01.24", "1.2.24"], "date", "DATE", [datetime.date(2024, 1, 31), datetime.date(2024, 2, 1)]),
        (["3 Jan 2024", "14 Feb 2024"], "date", "DATE", [datetime.date(2024, 1, 3), datetime.date(2024, 2, 14)]),
        (["March 5, 2024", "May 6, 2024"], "date", "DATE", [datetime.date(2024, 3, 5), datetime.date(2024, 5, 6)]),
        (
            ["2024-01-02 03:04", "2024-01-02T03:04:05"],
            "datetime",
            "TIMESTAMP",
            [datetime.datetime(2024, 1, 2, 3, 4), datetime.datetime(2024, 1, 2, 3, 4, 5)],
        ),
        (
            ["2024-01-02T03:04:05Z", "2024-01-02T03:04:05+02:00"],
            "datetime",
            "TIMESTAMP",
            [datetime.datetime(2024, 1, 2, 3, 4, 5), datetime.datetime(2024, 1, 2, 1, 4, 5)],
        ),
        (["10:30", "23:59:59"], "time", "TIME", [datetime.time(10, 30), datetime.time(23, 59, 59)]),
        (["0123", "0456"], "text", "VARCHAR", ["0123", "0456"]),
        (["12345678901234567890", "1"], "integer", "DECIMAL(38,0)", [Decimal("12345678901234567890"), Decimal(1)]),
        (["9" * 31, "1"], "number", "DOUBLE", [1e31, 1.0]),
        (["1 234,50", "2 000,25"], "number", "DOUBLE", [1234.5, 2000.25]),
        (["1'234.50", "2’000"], "number", "DOUBLE", [1234.5, 2000.0]),
        (["1,23,456", "12,34,567"], "number", "DOUBLE", [123456.0, 1234567.0]),
        (["1200-", "(3,400.50)", "5000"], "number", "DOUBLE", [-1200.0, -3400.5, 5000.0]),
        (["12,50 kr", "kr. 7,00"], "number", "DOUBLE", [12.5, 7.0]),
        (["1.234,- €", "5,50 €"], "number", "DOUBLE", [1234.0, 5.5]),
        (["٣٫٥", "١٢"], "number", "DOUBLE", [3.5, 12.0]),
        (["k.A.", "7,5", "s/d"], "number", "DOUBLE", [None, 7.5, None]),
        (["612 345 678", "699 123 456"], "text", "VARCHAR", ["612 345 678", "699 123 456"]),
        (["1200 CR", "300 DR"], "text", "VARCHAR", ["1200 CR", "300 DR"]),
        (["1", "2", "three"], "text", "VARCHAR", ["1", "2", "three"]),
        (["01/02/2024", "03/04/2024"], "text", "VARCHAR", ["01/02/2024", "03/04/2024"]),
        (["$5", "€6"], "text", "VARCHAR", ["$5", "€6"]),
        (["10%", "0.5"], "text", "VARCHAR", ["10%", "0.5"]),
        (["REF 12", "REF 13"], "text", "VARCHAR", ["REF 12", "REF 13"]),
    ],
)
def test_a_column_has_the_type_that_all_its_cells_have(
    tmp_path: Path, cells: list[str], dtype: str, sql: str, values: list[object]
) -> None:
    reading = one_column(tmp_path, cells)
    assert column(reading, "v")["dtype"] == dtype
    assert copied_types(reading)["v"] == sql
    assert [line["v"] for line in copied(reading)] == values


def test_units_and_formats_are_remembered(tmp_path: Path) -> None:
    reading = one_column(tmp_path, ["$1,200", "$3"])
    assert column(reading, "v")["unit"] == "$"
    assert "could be" in column(one_column(tmp_path, ["01/02/2024", "03/04/2024"]), "v")["note"]


def test_words_for_nothing_do_not_make_a_column_of_numbers_text(tmp_path: Path) -> None:
    facts = column(one_column(tmp_path, ["1", "N/A", "3", "-", "", "N/A"]), "v")
    assert facts["dtype"] == "integer"
    assert facts["null_markers"] == {"-": 1, "N/A": 2}
    assert (facts["nulls"], facts["sum"], facts["distinct"]) == (4, 4, 2)


def test_one_odd_cell_far_down_makes_the_column_text(tmp_path: Path) -> None:
    reading = one_column(tmp_path, [*["7"] * 5_000, "seven"])
    assert column(reading, "v")["dtype"] == "text"


def test_a_column_that_begins_empty_is_typed_by_what_comes_later(tmp_path: Path) -> None:
    reading = one_column(tmp_path, [*[""] * 3_000, "1.5", "2.5"])
    facts = column(reading, "v")
    assert (facts["dtype"], facts["nulls"], facts["samples"], facts["mean"]) == ("number", 3_000, [1.5, 2.5], 2.0)


def test_samples_are_few_and_different(tmp_path: Path) -> None:
    assert column(one_column(tmp_path, [f"w{n // 2}" for n in range(40)]), "v")["samples"] == [
        "w0",
        "w1",
        "w2",
        "w3",
        "w4",
    ]


@pytest.mark.full
@settings(max_examples=examples(40), deadline=None)
@given(st.lists(st.one_of(st.none(), st.integers(-(10**15), 10**15)), min_size=2, max_size=60))
def test_statistics_of_integers_equal_those_computed_by_hand(
    tmp_path_factory: pytest.TempPathFactory, numbers: list[int | None]
) -> None:
    reading = one_column(tmp_path_factory.mktemp("n"), ["" if n is None else str(n) for n in numbers])
    check(reading, [n for n in numbers if n is not None], len(numbers))


@pytest.mark.full
@settings(max_examples=examples(40), deadline=None)
@given(st.lists(st.one_of(st.none(), st.floats(-1e9, 1e9, allow_subnormal=False)), min_size=2, max_size=60))
def test_statistics_of_numbers_equal_those_computed_by_hand(
    tmp_path_factory: pytest.TempPathFactory, numbers: list[float | None]
) -> None:
    reading = one_column(tmp_path_factory.mktemp("n"), ["" if n is None else repr(n) for n in numbers])
    check(reading, [n for n in numbers if n is not None], len(numbers))


def check(reading: Reading, present: list[int] | list[float], total: int) -> None:
    facts = column(reading, "v")
    assert facts["nulls"] == total - len(present)
    assert facts["distinct"] == len(set(present))
    if not present:
        return
    assert (facts["min"], facts["max"]) == (min(present), max(present))
    assert math.isclose(facts["sum"], math.fsum(present), rel_tol=1e-9, abs_tol=1e-6)
    assert math.isclose(facts["mean"], math.fsum(present) / len(present), rel_tol=1e-9, abs_tol=1e-6)
    if len(present) > 1:
        quartiles = statistics.quantiles(map(float, present), n=4, method="inclusive")
        for name, expected in zip(("q25", "median", "q75"), quartiles, strict=True):
            assert math.isclose(facts[name], expected, rel_tol=1e-9, abs_tol=1e-6), name
        assert math.isclose(facts["stddev"], statistics.stdev(present), rel_tol=1e-6, abs_tol=1e-3)


def test_a_year_beside_dates_says_their_century(tmp_path: Path) -> None:
    lines = ["Year,Held,Seen", "1908,13-Jul-08,1-Jan-01", "1912,6-Jul-12,2-Jan-02", "1920,20-Aug-20,3-Jan-03"]
    reading = read_bytes(tmp_path, "a.csv", "\n".join(lines))
    days = [line["Held"] for line in copied(reading)]
    assert days == [datetime.date(1908, 7, 13), datetime.date(1912, 7, 6), datetime.date(1920, 8, 20)]
    assert copied(reading)[0]["Seen"] == datetime.date(2001, 1, 1)
