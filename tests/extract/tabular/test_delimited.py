from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from citewell.errors import LimitExceeded
from citewell.types import ElementType
from tests.depth import examples
from tests.extract.documents.reading import Reading, read_bytes
from tests.extract.tabular.tables import column, copied, rows, tables


def texts(reading: Reading) -> list[str]:
    return [row.text for row in rows(reading)]


def test_rows_carry_header_values_and_the_number_a_spreadsheet_shows(tmp_path: Path) -> None:
    reading = read_bytes(tmp_path, "a.csv", "name,city,qty\nAma,Accra,3\nKofi,,4\n")
    first, second = rows(reading)
    assert first.text == "name: Ama | city: Accra | qty: 3"
    assert first.values == {"name": "Ama", "city": "Accra", "qty": "3"}
    assert (first.locator.row, second.locator.row) == (2, 3)
    assert second.text == "name: Kofi | qty: 4"
    facts = tables(reading)[0]
    assert (facts["row_count"], facts["header_row"], facts["first_row"], facts["last_row"]) == (2, 1, 2, 3)
    assert reading.summary.metadata["row_count"] == 2
    assert reading.summary.metadata["column_count"] == 3


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_delimiter_is_found(tmp_path: Path, delimiter: str) -> None:
    lines = [["Item, small", "Price"], ["Nut; bolt", "1.5"], ["Pipe | tube", "2.5"], ["Plain", "3.5"]]
    out = io.StringIO()
    csv.writer(out, delimiter=delimiter).writerows(lines)
    reading = read_bytes(tmp_path, "a.tsv" if delimiter == "\t" else "a.csv", out.getvalue())
    assert reading.summary.metadata["delimiter"] == delimiter
    assert [tuple((row.values or {}).values()) for row in rows(reading)] == [tuple(line) for line in lines[1:]]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "cp1252", "cp932", "gb18030", "euc-kr"])
def test_the_encoding_is_found(tmp_path: Path, encoding: str) -> None:
    header, *values = {
        "cp932": "名前 佐藤太郎 東京都新宿区 これは日本語の文章です 大阪の会社員 ひらがなとカタカナ",
        "gb18030": "姓名 王小明 北京市朝阳区 这是一个中文句子 上海的公司职员 我们今天去公园",
        "euc-kr": "이름 김철수 서울특별시강남구 이것은한국어문장입니다 부산에있는회사원 오늘은날씨가좋습니다",
    }.get(encoding, "Größe Müller Überraschung Zoë Straße François").split()
    body = f"{header},n\n" + "".join(f"{value},{n}\n" for n, value in enumerate(values))
    reading = read_bytes(tmp_path, "a.csv", body.encode(encoding))
    assert tables(reading)[0]["columns"][0]["name"] == header
    assert [(row.values or {})[header] for row in rows(reading)] == values


def test_a_cell_of_several_lines_counts_as_one_row(tmp_path: Path) -> None:
    reading = read_bytes(tmp_path, "a.csv", 'k,v\n1,"two\nlines, ""quoted"""\n\n2,b\n')
    assert [(row.locator.row, (row.values or {})["v"]) for row in rows(reading)] == [
        (2, 'two\nlines, "quoted"'),
        (4, "b"),
    ]
    assert texts(reading)[0] == 'k: 1 | v: two lines, "quoted"'


def test_ragged_rows_are_kept_whole_and_noted(tmp_path: Path) -> None:
    reading = read_bytes(tmp_path, "a.csv", "a,b,c\n1,2,3\n1,2\n1,2,3,extra\n5,6,7\n")
    assert [len(row.values or {}) for row in rows(reading)] == [3, 2, 4, 3]
    assert "extra" in texts(reading)[2]
    assert "first row 3" in reading.notes()
    assert [line["Column D"] for line in copied(reading)] == [None, None, "extra", None]


def test_lines_above_the_header_are_notes_with_their_row(tmp_path: Path) -> None:
    reading = read_bytes(tmp_path, "a.csv", "Sales report 2024\n\nregion,amount\nNorth,10\nSouth,20\n")
    notes = reading.of(ElementType.PARAGRAPH)
    assert [(note.text, note.locator.row) for note in notes] == [("Sales report 2024", 1)]
    assert tables(reading)[0]["header_row"] == 3
    assert [row.locator.row for row in rows(reading)] == [4, 5]


def test_a_file_that_begins_with_data_has_lettered_columns(tmp_path: Path) -> None:
    reading = read_bytes(tmp_path, "a.csv", "1,2.5,x\n2,3.5,y\n3,4.5,z\n")
    assert tables(reading)[0]["header_row"] is None
    assert texts(reading)[0] == "Column A: 1 | Column B: 2.5 | Column C: x"
    assert rows(reading)[0].locator.row == 1


def test_repeated_and_missing_names_are_told_apart(tmp_path: Path) -> None:
    reading = read_bytes(tmp_path, "a.csv", "x,X,,_row\n1,2,3,4\n5,6,7,8\n")
    assert [c["name"] for c in tables(reading)[0]["columns"]] == ["x", "X (2)", "Column C", "_row (2)"]
    assert copied(reading)[0] == {"_row": 2, "x": 1, "X (2)": 2, "Column C": 3, "_row (2)": 4}


def test_a_quote_that_never_closes_costs_one_line(tmp_path: Path) -> None:
    body = "".join(f"{n},fine\n" for n in range(3000))
    reading = read_bytes(tmp_path, "a.csv", 'n,text\n-1,"stray\n' + body)
    assert len(rows(reading)) == 3001
    assert (rows(reading)[0].values or {})["text"] == '"stray'
    assert rows(reading)[-1].locator.row == 3002
    assert "never closed" in reading.notes()


def test_quotes_within_a_cell_are_text(tmp_path: Path) -> None:
    reading = read_bytes(tmp_path, "a.csv", 'item,price\n5" pipe,10\n6" pipe,12\nplain,14\n')
    assert [(row.values or {})["item"] for row in rows(reading)] == ['5" pipe', '6" pipe', "plain"]


def test_a_very_long_cell_is_read_whole(tmp_path: Path) -> None:
    long = "word " * 100_000
    reading = read_bytes(tmp_path, "a.csv", f"id,text\n1,{long}\n2,short\n")
    assert (rows(reading)[0].values or {})["text"] == long


def test_a_small_table_is_also_one_element_and_a_large_one_is_not(tmp_path: Path) -> None:
    small = read_bytes(tmp_path, "small.csv", "a,b\n" + "1,2\n" * 50)
    large = read_bytes(tmp_path, "large.csv", "a,b\n" + "1,2\n" * 51)
    (table,) = small.of(ElementType.TABLE)
    assert table.grid is not None
    assert len(table.grid) == 51
    assert table.header_rows == 1
    assert "<tr><th>a</th><th>b</th></tr>" in (table.html or "")
    assert all(row.metadata["table"] == table.metadata["table"] for row in rows(small))
    assert not large.of(ElementType.TABLE)
    assert len(rows(large)) == 51


def test_markup_in_cells_is_escaped_in_html(tmp_path: Path) -> None:
    reading = read_bytes(tmp_path, "a.csv", "a,b\n<script>alert(1)</script>,=1+1\nx,y\n")
    assert "<script>" not in (reading.of(ElementType.TABLE)[0].html or "")
    assert (rows(reading)[0].values or {})["a"] == "<script>alert(1)</script>"


def test_control_characters_do_not_break_the_copy(tmp_path: Path) -> None:
    reading = read_bytes(tmp_path, "a.csv", "a,b\nx\x00y,\x07\n\ufeffz,2\n")
    assert [line["a"] for line in copied(reading)] == ["xy", "\ufeffz"]


def test_rows_beyond_the_output_limit_stay_in_the_copy(tmp_path: Path) -> None:
    body = "a,b\n" + "".join(f"{n},some text {n}\n" for n in range(2_000))
    reading = read_bytes(tmp_path, "a.csv", body, max_output_bytes=100_000)
    assert 0 < len(rows(reading)) < 2_000
    assert tables(reading)[0]["row_count"] == 2_000
    assert column(reading, "a")["sum"] == sum(range(2_000))
    assert len(copied(reading)) == 2_000
    assert "include them" in reading.notes()


def test_text_without_rows_is_refused_only_by_the_output_limit(tmp_path: Path) -> None:
    with pytest.raises(LimitExceeded):
        read_bytes(tmp_path, "a.csv", "title\n" * 3 + "a,b\n1,2\n" * 3, max_output_bytes=10)


def test_a_cell_that_ends_in_a_backslash_escapes_nothing(tmp_path: Path) -> None:
    reading = read_bytes(tmp_path, "a.csv", '"name","folder"\n"a","C:\\"\n"b","D:\\x"\n')
    assert [dict(row.values or {}) for row in rows(reading)] == [
        {"name": "a", "folder": "C:\\"},
        {"name": "b", "folder": "D:\\x"},
    ]


_cells = st.text(st.characters(codec="utf-8", exclude_characters="\x00\r", exclude_categories=["Cs"]), max_size=12)


@pytest.mark.full
@settings(max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.integers(2, 5).flatmap(
        lambda width: st.lists(st.lists(_cells, min_size=width, max_size=width), min_size=3, max_size=25)
    )
)
def test_written_rows_come_back_under_their_numbers(
    tmp_path_factory: pytest.TempPathFactory, lines: list[list[str]]
) -> None:
    lines = [[f"name {n}" for n in range(len(lines[0]))], *[[f"t{i}", *line[1:]] for i, line in enumerate(lines)]]
    out = io.StringIO()
    csv.writer(out, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows(lines)
    reading = read_bytes(tmp_path_factory.mktemp("csv"), "a.csv", out.getvalue())
    expected = {
        number: {name: cell for name, cell in zip(lines[0], line, strict=True) if cell and not cell.isspace()}
        for number, line in enumerate(lines[1:], start=2)
    }
    assert {row.locator.row: dict(row.values or {}) for row in rows(reading)} == expected
    assert [line["_row"] for line in copied(reading)] == sorted(expected)


@pytest.mark.parametrize(
    ("header", "lines", "values"),
    [
        ("Driver;km;Cost", ["Tim;1.200;84,50", "Ute;980;61,00", "Tim;2.450;190,25"], [1200.0, 980.0, 2450.0]),
        ("Car;km;Since", ["A;84.300;12.03.2021", "B;31.250;01.07.2023"], [84300.0, 31250.0]),
        ("Part;kg;Price", ["A;1,250;12,50", "B;2,500;9,75"], [1.25, 2.5]),
        ("Part;kg;Price", ["A;1.250;12,50", "B;0.500;9,75"], [1.25, 0.5]),
        ("Part;kg;Price", ["A;1.25;12,50", "B;2.500;9,75"], [1.25, 2.5]),
        ("Part,kg,Price", ["A,1.250,12.50", "B,2.500,9.75"], [1.25, 2.5]),
    ],
)
def test_a_point_separates_thousands_where_the_other_columns_have_decimal_commas(
    tmp_path: Path, header: str, lines: list[str], values: list[float]
) -> None:
    reading = read_bytes(tmp_path, "a.csv", "\n".join([header, *lines]))
    assert [row[header.replace(";", ",").split(",")[1]] for row in copied(reading)] == values


@pytest.mark.parametrize(
    ("cells", "decimals"),
    [
        (("92.00", "48.00", "13.50"), 2),
        (("92,00", "48,00", "1.013,50"), 2),
        (("€1,092.00", "48.00", "n/a"), 2),
        (("24.5%", "30.0%", "7.1%"), 1),
        (("4.5", "3.5", "1.5"), None),
        (("92.00", "48", "13.50"), None),
        (("1.25e-05", "2.50e-05", "3.75e-05"), None),
        (("92", "48", "13"), None),
    ],
)
def test_the_decimals_that_all_numbers_of_a_column_have_are_known(
    tmp_path: Path, cells: tuple[str, ...], decimals: int | None
) -> None:
    lines = "".join(f'{name},"{cell}"\n' for name, cell in zip("abc", cells, strict=True))
    assert column(read_bytes(tmp_path, "a.csv", f"Item,Price\n{lines}"), "Price").get("decimals") == decimals
