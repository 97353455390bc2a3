"""The grammar of written numbers: what is written is read back, in Python and in SQL alike."""

from __future__ import annotations

from decimal import Decimal

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from citewell.types.figures import first_number, number_sql, plain, read_figure

GROUPS = {False: ",' \u00a0\u202f’", True: ".' \u00a0\u202f’"}
UNITS = ["", "%", " kg", " €", " EUR", " zł", " kr", " m²", " km/h", "°C", " CR"]
DIGITS = ["0123456789", "٠١٢٣٤٥٦٧٨٩", "०१२३४५६७८९", "０１２３４５６７８９"]


@st.composite
def written(draw: st.DrawFn) -> tuple[str, bool, Decimal, str]:
    """A number as somebody writes it: the text, whether its decimal sign is a comma, its value and its unit."""
    comma = draw(st.booleans())
    whole, places = draw(st.integers(0, 10**12)), draw(st.integers(0, 4))
    part = f"{draw(st.integers(0, 10**places - 1)):0{places}d}" if places else ""
    group = draw(st.sampled_from(["", *GROUPS[comma]]))
    text = f"{whole:,}".replace(",", group) + (("," if comma else ".") + part if part else "")
    text = text.translate(str.maketrans("0123456789", draw(st.sampled_from(DIGITS))))
    value, unit = Decimal(f"{whole}.{part}" if part else whole), draw(st.sampled_from(UNITS))
    sign = draw(st.sampled_from(["", "-", "−", "(", "last"]))
    if sign == "last":
        text += "-"
    text = f"({text}{unit})" if sign == "(" else f"{sign.removesuffix('last')}{text}{unit}"
    return text, comma, -value if sign else value, unit.strip()


@given(written())
def test_a_written_number_is_read_back(case: tuple[str, bool, Decimal, str]) -> None:
    text, comma, value, unit = case
    found = read_figure(text, comma)
    if len(plain(text)) == 5 and plain(text).endswith("-") and found is None:
        return  # `1998-` may be a time
    assert found is not None
    assert (found.value, found.unit) == (value, unit)


@given(st.text("0123456789.,' -–()$€%kg٣٫²³¹年x", max_size=14), st.booleans())
def test_no_text_is_read_as_another_number_in_sql(text: str, comma: bool) -> None:
    expected = first_number(text, comma)
    assert _in_sql([text], comma) == [None if expected is None else float(expected)]


@settings(max_examples=30)
@given(st.lists(written(), min_size=1, max_size=20), st.booleans())
def test_sql_reads_a_written_number_as_python_does(cases: list[tuple[str, bool, Decimal, str]], comma: bool) -> None:
    texts = [text for text, *_ in cases]
    expected = [None if (value := first_number(text, comma)) is None else float(value) for text in texts]
    assert _in_sql(texts, comma) == expected


@pytest.mark.parametrize(
    ("text", "comma", "value"),
    [
        ("1,23,456", False, "123456"),
        ("1.234,- €", True, None),
        ("13,845 ft (4,220 m)", False, "13845"),
        ("62,176[1]", False, "62176"),
        ("95¹", False, "95"),
        ("410²,³ sacks", False, "410"),
        ("$(1,200)", False, "-1200"),
        ("3:25", False, None),
        ("20–7", False, None),
        ("1998–2004", False, None),
        ("2004-", False, None),
        ("10⁶", False, None),
        ("A-12", False, None),
        ("", False, None),
    ],
)
def test_a_figure_is_all_that_a_cell_is(text: str, comma: bool, value: str | None) -> None:
    found = read_figure(text, comma)
    assert (None if found is None else found.value) == (None if value is None else Decimal(value))


@pytest.mark.parametrize(("text", "first"), [("1998–2004", 1998), ("3rd", 3), ("2004-", 2004), ("none", None)])
def test_other_cells_begin_with_a_number(text: str, first: int | None) -> None:
    assert first_number(text) == first


def _in_sql(texts: list[str], comma: bool) -> list[float | None]:
    with duckdb.connect() as connection:
        rows = connection.execute(f"SELECT {number_sql('x', comma)} FROM (SELECT unnest(?) AS x)", [texts]).fetchall()
    return [row[0] for row in rows]
