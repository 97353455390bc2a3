"""What is said of a resource in a line: the title and first prose of a document, the columns of tables, the facts of a picture."""

from __future__ import annotations

from citewell.ingest.describe import describe_document, describe_picture, describe_tables
from citewell.types import ChunkType, Element, ElementType, Locator

PROSE = "The waterworks were built in 1902 and enlarged twice, first for the mills and then for the new quarter."


def element(kind: ElementType, text: str) -> Element:
    return Element(id="e0", type=kind, text=text, locator=Locator())


def test_a_document_is_described_by_its_title_and_first_prose() -> None:
    elements = [
        element(ElementType.PARAGRAPH, "Page 1"),
        element(ElementType.TITLE, "Waterworks"),
        element(ElementType.PARAGRAPH, PROSE),
    ]
    assert describe_document(elements) == f"Waterworks: {PROSE}"
    assert describe_document([element(ElementType.PARAGRAPH, "x" * 900)]) == "x" * 399 + "…"
    assert describe_document([]) is None


def test_a_table_is_described_by_its_rows_and_the_ranges_of_its_columns() -> None:
    columns = [{"name": "year", "min": 1990, "max": 2024}, {"name": "place"}]
    (draft,) = describe_tables({"tables": [{"sheet": "Wells", "row_count": 12_000, "columns": columns}]})
    assert draft.text == "Table Wells: 12,000 rows, 2 columns. Columns: year (1990 to 2024); place."
    assert (draft.type, draft.locator.sheet) == (ChunkType.SUMMARY, "Wells")
    assert describe_tables({"tables": [{"sheet": "Empty", "columns": []}]}) == []


def test_a_picture_is_described_by_its_name_its_size_and_its_camera() -> None:
    draft = describe_picture(
        "pump.heic",
        {
            "format": "HEIF",
            "width": 4000,
            "height": 3000,
            "exif": {
                "Make": "Canon",
                "Model": "R5",
                "DateTimeOriginal": "2024:05:01 10:00:00",
                "XPTitle": "The old pump",
            },
        },
    )
    assert draft.type is ChunkType.IMAGE
    assert draft.text == (
        "Picture pump.heic: 4000 × 3000 pixels, HEIF, taken 2024:05:01 10:00:00, camera Canon R5, The old pump."
    )
    assert describe_picture("a.png", {"exif": "odd"}).text == "Picture a.png: ? × ? pixels."
