"""What is computed about a resource: the columns of tables, the facts of a picture."""

from __future__ import annotations

from citewell.ingest.describe import describe_data, describe_picture, describe_tables
from citewell.types import ChunkType


def test_a_table_is_described_by_its_rows_and_the_ranges_of_its_columns() -> None:
    columns = [{"name": "year", "min": 1990, "max": 2024}, {"name": "place"}]
    (draft,) = describe_tables({"tables": [{"sheet": "Wells", "row_count": 12_000, "columns": columns}]})
    assert draft.text == "Table Wells: 12,000 rows, 2 columns. Columns: year (1990 to 2024); place."
    assert (draft.type, draft.locator.sheet) == (ChunkType.SUMMARY, "Wells")
    assert describe_tables({"tables": [{"sheet": "Empty", "columns": []}]}) == []


def test_a_column_tells_its_mean_its_few_values_and_how_many_cells_are_empty() -> None:
    columns = [
        {"name": "size", "min": 1, "max": 9, "mean": 4.25, "nulls": 2, "distinct": 9, "samples": [1, 2]},
        {"name": "state", "nulls": 0, "distinct": 2, "samples": ["open", "paid"]},
        {"name": "who", "nulls": 0, "distinct": 1200, "samples": ["Ama", "Kofi"]},
    ]
    assert describe_data({"tables": [{"name": "loans", "row_count": 1500, "columns": columns}]}) == (
        "Table loans: 1,500 rows, 3 columns. Columns: size (1 to 9, mean 4.25, 2 empty); state (open, paid); who (1,200 different)."
    )
    (indexed,) = describe_tables({"tables": [{"name": "loans", "row_count": 1500, "columns": columns}]})
    assert indexed.text.endswith("state (2 different); who (1,200 different).")  # its cells are indexed themselves
    two = {"tables": [{"name": name, "row_count": 1, "columns": [{"name": "a"}]} for name in "xy"]}
    assert describe_data(two) == "2 tables. Table x: 1 row, 1 column. Columns: a. Table y: 1 row, 1 column. Columns: a."
    assert describe_data({}) is None


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
