"""Files under another form, and what programs leave in them: sheets as XML or text, damage, default titles."""

from __future__ import annotations

from pathlib import Path

import pytest

from citewell.extract.core.names import own_description, own_title
from citewell.types import ElementType
from tests.extract.documents.reading import read_bytes
from tests.extract.tabular.tables import rows, tables

NAMESPACE = "urn:schemas-microsoft-com:office:spreadsheet"
SHEET = f"""<?xml version="1.0"?><?mso-application progid="Excel.Sheet"?>
<Workbook xmlns="{NAMESPACE}" xmlns:ss="{NAMESPACE}"><Worksheet ss:Name="Crew"><Table>
<Row><Cell><Data ss:Type="String">Boat</Data></Cell><Cell><Data ss:Type="String">Port</Data></Cell><Cell><Data ss:Type="String">Tons</Data></Cell></Row>
<Row><Cell><Data ss:Type="String">Ida</Data></Cell><Cell ss:MergeDown="1"><Data ss:Type="String">Husum</Data></Cell><Cell><Data ss:Type="Number">12.5</Data></Cell></Row>
<Row><Cell><Data ss:Type="String">Olga</Data></Cell><Cell ss:Index="3"><Data ss:Type="Number">7</Data></Cell></Row>
</Table></Worksheet></Workbook>"""


@pytest.mark.parametrize("name", ["a.xml", "a.xls"])
def test_xml_spreadsheets_are_tables(tmp_path: Path, name: str) -> None:
    reading = read_bytes(tmp_path, name, SHEET)
    assert [row.text for row in rows(reading)] == [
        "Boat: Ida | Port: Husum | Tons: 12.5",
        "Boat: Olga | Port: Husum | Tons: 7",
    ]
    assert rows(reading)[1].locator.sheet == "Crew"
    assert rows(reading)[1].locator.row == 3


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_text_named_as_a_workbook_is_a_table(tmp_path: Path, delimiter: str, encoding: str) -> None:
    text = "\n".join(delimiter.join(row) for row in (("town", "people"), ("Hof", "120"), ("Ulm", "340"))) + "\n"
    reading = read_bytes(tmp_path, "a.xls", text.encode(encoding))
    assert tables(reading)[0]["row_count"] == 2
    assert reading.summary.detected.mismatch is not None


@pytest.mark.parametrize(
    "texts",
    [
        ["note", '"Milk, eggs"', "Bread", "Cats, dogs", "Salt"],
        ["email", "ann@example.org;bo@example.org", "cy@example.org", "di@example.org"],
        ["name", "Doe, Ann", "Roe, Bo", "Poe, Cy"],
    ],
)
def test_a_column_of_texts_is_one_column(tmp_path: Path, texts: list[str]) -> None:
    reading = read_bytes(tmp_path, "a.csv", "\n".join(texts) + "\n")
    assert tables(reading)[0]["column_count"] == 1
    assert [row.text.partition(": ")[2] for row in rows(reading)] == [text.strip('"') for text in texts[1:]]


def test_a_table_under_lines_of_preface_keeps_its_columns(tmp_path: Path) -> None:
    reading = read_bytes(tmp_path, "a.csv", "Report\nname,age\nAnn,5\nBo,7\n")
    assert tables(reading)[0]["column_count"] == 2


@pytest.mark.parametrize("name", ["a.txt", "a.md", "a.csv", "a.py"])
def test_a_damaged_byte_does_not_change_the_encoding(tmp_path: Path, name: str) -> None:
    data = "Köln, Größe\nZürich, Maß\n".encode() + b"D\xfcren, 7\n"
    reading = read_bytes(tmp_path, name, data)
    assert "Köln" in reading.text
    assert "Größe" in reading.text
    assert "1 characters could not be decoded as utf-8" in reading.notes()


def test_a_text_in_another_encoding_is_still_found(tmp_path: Path) -> None:
    assert "Français à Orléans" in read_bytes(tmp_path, "a.txt", "Français à Orléans, été".encode("cp1252")).text


def test_line_break_tags_in_markdown_part_words(tmp_path: Path) -> None:
    text = "# Big<br>house\n\nRoad 5<br/>Town<BR />Key<wbr>board\n\n| a |\n|---|\n| Mon<br>Tue |\n"
    reading = read_bytes(tmp_path, "a.md", text)
    assert reading.texts(ElementType.TITLE) == ["Big house"]
    assert reading.texts(ElementType.PARAGRAPH) == ["Road 5\nTown\nKeyboard"]
    assert "Mon Tue" in reading.texts(ElementType.TABLE)[0]


@pytest.mark.parametrize(
    "title",
    ["(anonymous)", "untitled", "Untitled-1", "Sans titre", "Document1", "PowerPoint Presentation", "PowerPoint-Präsentation", "Présentation PowerPoint", "Microsoft Word - Report 3.doc", "final_v2.indd", "C:\\temp\\x", "", "–"],
)  # fmt: skip
def test_what_programs_write_for_a_missing_title_is_none(title: str) -> None:
    assert own_title(title) is None


@pytest.mark.parametrize(
    "title", ["Annual Report 2024", "(2024) Report (final)", "Document management", "Presentation of results"]
)
def test_titles_of_authors_are_kept(title: str) -> None:
    assert own_title(title) == title


def test_a_file_name_is_no_description_of_a_picture() -> None:
    assert [own_description(text) for text in ("IMG_2034", "a b.jpeg", "Picture 3", "https://x.org/y.gif?a=1")] == [
        ""
    ] * 4
    assert own_description("A map of the  yard") == "A map of the yard"


def test_an_untitled_page_has_no_title(tmp_path: Path) -> None:
    reading = read_bytes(
        tmp_path, "a.html", "<html><head><title>Untitled Document</title></head><p>Text of the page</p></html>"
    )
    assert "title" not in reading.summary.metadata
