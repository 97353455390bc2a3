"""Word 97 and PowerPoint 97 files."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from citewell.errors import CorruptFile
from citewell.extract.core.sink import Sink
from citewell.extract.formats import word97
from citewell.types import ElementType, ExtractOptions
from tests.extract.documents.compound import compound_file
from tests.extract.documents.office import picture
from tests.extract.documents.office97 import (
    CAPTION_STYLE,
    HEADING,
    NORMAL,
    OWN_HEADING,
    SUBHEADING,
    TITLE_STYLE,
    Doc,
    modifier,
    plain,
    ppt,
    record,
    shape,
    styled,
    table_row,
    text_records,
)
from tests.extract.documents.reading import Reading, read_bytes


def read_doc(folder: Path, doc: Doc, **options: object) -> Reading:
    return read_bytes(folder, "a.doc", doc.build(), **options)


@pytest.mark.parametrize("narrow", [False, True])
def test_headings_paragraphs_and_captions_by_their_built_in_styles(narrow: bool, tmp_path: Path) -> None:
    doc = Doc(
        [
            styled("The title", TITLE_STYLE),
            styled("Größe – one", HEADING),
            plain("Text."),
            styled("Inner", SUBHEADING),
            styled("Own style", OWN_HEADING),
            styled("Figure 1", CAPTION_STYLE),
            styled("By outline", NORMAL, modifier(0x2640, 2)),
            plain("line\x0bbreak\x1ehyphen"),
        ],
        narrow=narrow,
    )
    reading = read_doc(tmp_path, doc)
    assert [(e.type.value, e.text, e.level) for e in reading.elements] == [
        ("title", "The title", 1),
        ("title", "Größe – one", 1),
        ("paragraph", "Text.", None),
        ("title", "Inner", 2),
        ("title", "Own style", 1),
        ("caption", "Figure 1", None),
        ("title", "By outline", 3),
        ("paragraph", "line\nbreak-hyphen", None),
    ]
    assert reading.elements[2].locator.headings == ("The title", "Größe – one")


def test_lists_are_numbered_as_their_levels_say(tmp_path: Path) -> None:
    def item(text: str, level: int) -> tuple[str, int, bytes]:
        return styled(text, NORMAL, modifier(0x460B, 1) + modifier(0x260A, level))

    doc = Doc([item("one", 0), item("inner", 1), item("two", 0)], levels=[(0, "\x00."), (4, "\x00.\x01)")])
    reading = read_doc(tmp_path, doc)
    assert [(e.text, e.level) for e in reading.of(ElementType.LIST_ITEM)] == [
        ("1. one", 1),
        ("1.a) inner", 2),
        ("2. two", 1),
    ]


def test_tables_keep_cells_merged_across_and_down(tmp_path: Path) -> None:
    doc = Doc(
        [
            plain("Before"),
            *table_row(["Wide"], [0, 2000]),
            *table_row(["tall", "first\nx"], [0, 1000, 2000], [0x60, 0]),
            *table_row(["", "y"], [0, 1000, 2000], [0x20, 0]),
            plain("After"),
        ]
    )
    reading = read_doc(tmp_path, doc)
    table = reading.of(ElementType.TABLE)[0]
    assert table.grid == (("Wide", ""), ("tall", "first\nx"), ("tall", "y"))
    assert 'colspan="2"' in (table.html or "")
    assert 'rowspan="2"' in (table.html or "")
    assert [e.text for e in reading.of(ElementType.PARAGRAPH)] == ["Before", "After"]


def test_field_codes_are_left_out_and_links_noted(tmp_path: Path) -> None:
    text = '\x13 HYPERLINK "https://example.com/" \x14shown\x15, page \x13PAGE\x14 3\x15 \x13 EMBED Equation \x15done'
    reading = read_doc(tmp_path, Doc([plain(text)]))
    assert reading.text == "shown, page  3 done"
    assert reading.elements[0].metadata["links"] == [{"href": "https://example.com/"}]


def test_deleted_and_hidden_text_is_left_out(tmp_path: Path) -> None:
    doc = Doc([plain("The price is 10 12 euros.")], deleted=[(13, 16)])
    assert read_doc(tmp_path, doc).text == "The price is 12 euros."


def test_notes_comments_headers_and_text_boxes(tmp_path: Path) -> None:
    doc = Doc(
        [plain("Claim\x02."), plain("Other\x05"), plain("Last\x02")],
        footnotes=[(5, "\x02 A source.\r")],
        headers=["", "", "", "", "", "", "", "Confidential\r", "", "Page \x13PAGE\x142\x15\r", "", ""],
        comments=[(13, "\x05Really?\r")],
        endnotes=[(19, "\x02 At the end.\r")],
        text_boxes=["Boxed\r"],
    )
    reading = read_doc(tmp_path, doc)
    assert [(e.type.value, e.text) for e in reading.elements] == [
        ("header", "Confidential"),
        ("footer", "Page 2"),
        ("paragraph", "Claim."),
        ("footnote", "A source."),
        ("paragraph", "Other"),
        ("comment", "Really?"),
        ("paragraph", "Last"),
        ("footnote", "At the end."),
        ("paragraph", "Boxed"),
    ]


def test_pictures_in_the_data_stream_are_kept(tmp_path: Path) -> None:
    png = picture(40)
    blip = struct.pack("<HHI16sB", 0x6E00, 0xF01E, len(png) + 17, b"", 255) + png
    reading = read_doc(tmp_path, Doc([plain("Text")], streams={"Data": b"\0" * 100 + blip}))
    assert reading.of(ElementType.IMAGE)[0].blob is not None


def test_a_word_95_document_gives_its_text(tmp_path: Path) -> None:
    text = "First paragraph\rSecond – one\r".encode("cp1252")
    header = bytearray(768)
    struct.pack_into("<HH", header, 0, 0xA5DC, 0x0068)
    struct.pack_into("<II", header, 0x18, 768, 768 + len(text))
    struct.pack_into("<I", header, 0x34, len(text))
    data = compound_file({"WordDocument": (bytes(header) + text).ljust(4200, b"\0")})
    assert read_bytes(tmp_path, "a.doc", data).texts() == ["First paragraph", "Second – one"]


@pytest.mark.parametrize("stream", [b"", b"\xec\xa5" + b"\0" * 40, b"\xec\xa5\xc1\x00" + b"\xff" * 4000])
def test_a_damaged_word_document_is_refused(stream: bytes, tmp_path: Path) -> None:
    path = tmp_path / "a.doc"
    path.write_bytes(compound_file({"WordDocument": stream, "1Table": b"\xff" * 5000, "0Table": b"\xff" * 5000}))
    with Sink(tmp_path, ExtractOptions()) as sink, pytest.raises(CorruptFile):
        word97.extract(path, sink)


def test_slides_give_titles_outline_texts_and_shapes_in_reading_order(tmp_path: Path) -> None:
    first = (
        [*text_records(0, "Overview"), *text_records(1, "One\rTwo – ü")],
        [
            shape([record(3998, struct.pack("<I", 1))], 800, 100),
            shape(text_records(4, "Below"), 3000, 100),
            shape([record(3998, struct.pack("<I", 0))], 100, 100),
            shape(text_records(4, "Right"), 820, 3000),
        ],
    )
    second = ([], [shape(text_records(6, "End\x0bof it"), 100, 0)])
    reading = read_bytes(tmp_path, "a.ppt", ppt([first, second], notes={0: "Say hello."}))
    assert [(e.type.value, e.text, e.locator.slide) for e in reading.elements] == [
        ("title", "Overview", 1),
        ("list_item", "One", 1),
        ("list_item", "Two – ü", 1),
        ("paragraph", "Right", 1),
        ("paragraph", "Below", 1),
        ("note", "Say hello.", 1),
        ("title", "End of it", 2),
    ]
    assert reading.elements[1].locator.headings == ("Overview",)
    assert [(u.unit, u.number, u.name) for u in reading.summary.coverage.units] == [
        ("slide", 1, "Overview"),
        ("slide", 2, "End of it"),
    ]


def test_pictures_of_a_presentation_are_kept(tmp_path: Path) -> None:
    png = picture(40)
    blip = struct.pack("<HHI16sB", 0x6E00, 0xF01E, len(png) + 17, b"", 255) + png
    reading = read_bytes(tmp_path, "a.ppt", ppt([([], [shape(text_records(4, "x"), 0, 0)])], pictures=blip))
    assert reading.of(ElementType.IMAGE)[0].blob is not None


def test_a_presentation_whose_directory_is_lost_is_still_read(tmp_path: Path) -> None:
    stream = record(1000, [record(4080, text_records(0, "Lonely title"), 0)]) + record(
        1006, [record(1036, [shape(text_records(4, "words"), 0, 0)])]
    )
    data = compound_file({"PowerPoint Document": stream.ljust(4200, b"\0"), "Current User": b""})
    reading = read_bytes(tmp_path, "a.ppt", data)
    assert set(reading.texts()) == {"Lonely title", "words"}
    assert "list of slides is missing" in reading.notes()


def test_a_presentation_without_document_record_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CorruptFile):
        read_bytes(tmp_path, "a.ppt", compound_file({"PowerPoint Document": b"\xff" * 5000}))
