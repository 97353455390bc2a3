"""Rich Text Format."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from citewell.errors import CorruptFile
from citewell.extract.core.sink import Sink
from citewell.extract.formats import rtf
from citewell.extract.formats.rtf.tokens import RtfKind, tokens
from citewell.types import ElementType, ExtractOptions
from tests.extract.documents.office import picture
from tests.extract.documents.reading import Reading, read_bytes
from tests.extract.documents.seeds import RTF_HEAD


def read_rtf(folder: Path, body: str, **options: object) -> Reading:
    return read_bytes(folder, "a.rtf", (RTF_HEAD + body + "}").encode("latin-1"), **options)


def test_headings_by_style_name_and_outline_level(tmp_path: Path) -> None:
    reading = read_rtf(tmp_path, r"\pard\s1 One\par\pard Text.\par\pard\s2 Two\par\pard\outlinelevel2 Three\par")
    assert [(e.type.value, e.text, e.level) for e in reading.elements] == [
        ("title", "One", 1),
        ("paragraph", "Text.", None),
        ("title", "Two", 2),
        ("title", "Three", 3),
    ]
    assert reading.elements[1].locator.headings == ("One",)
    metadata = reading.summary.metadata
    assert (metadata["title"], metadata["author"]) == ("Report", "Ann")


@pytest.mark.parametrize(
    ("source", "text"),
    [
        (r"Gr\'f6\'dfe \u8364?5 \emdash  \ldblquote x\rdblquote", "Größe €5 — “x”"),
        (r"{\f1 \'cf\'f0\'e8\'e2\'e5\'f2} and {\f0 caf\'e9}", "Привет and café"),
        (r"{\f2 a\'a3}", "α≤"),
        (r"{\f3\'93\'fa\'96\'7b}", "日本"),
        (r"\uc2\u26085\'93\'fa\uc0\u26412 x", "日本x"),
        (r"\u-10179?\u-8704? ok", "😀 ok"),
        (r"non\~break\_hyphen soft\-ly \{braces\} back\\slash", "non break-hyphen softly {braces} back\\slash"),
        ("split \\b over\r\n lines\\b0 .", "split over lines."),
        (r"a\line b\tab c", "a\nb\tc"),
        (r"{\v secret}{\deleted gone}kept {\*\unknown skipped {\b all}}here", "kept here"),
        (r"{\upr{ansi}{\*\ud{uni\u233?code}}}", "unicodé".replace("codé", "écode")),
        (r"{\xe index entry}{\*\bkmkstart x}anchor{\*\bkmkend x}", "anchor"),
    ],
)
def test_characters_and_what_is_no_text(source: str, text: str, tmp_path: Path) -> None:
    assert read_rtf(tmp_path, source + r"\par").text == text


def test_hidden_text_is_noted(tmp_path: Path) -> None:
    assert "6 characters of hidden text" in read_rtf(tmp_path, r"x{\v secret}\par").notes()


def test_lists_notes_comments_headers_and_text_boxes(tmp_path: Path) -> None:
    body = (
        r"{\header\pard Confidential\par}{\footer Page {\field{\*\fldinst PAGE}{\fldrslt 2}}}"
        r"\pard\ls1{\listtext 1.\tab}first\par{\listtext\f2\'b7\tab}\ilvl1 dot\par"
        r"\pard Claim{\footnote\pard {\super 1} A {\field{\*\fldinst HYPERLINK x}{\fldrslt source}}.}goes on.{\*\annotation Really?}\par"
        r"{\shp{\*\shpinst{\sp{\sn n}{\sv v}}{\shptxt\pard Boxed\par}}{\shprslt old}}After\par"
    )
    reading = read_rtf(tmp_path, body)
    assert [(e.type.value, e.text) for e in reading.elements] == [
        ("list_item", "1. first"),
        ("header", "Confidential"),
        ("footer", "Page 2"),
        ("list_item", "dot"),
        ("paragraph", "Claimgoes on."),
        ("footnote", "¹ A source."),
        ("comment", "Really?"),
        ("paragraph", "After"),
        ("paragraph", "Boxed"),
    ]
    assert [e.level for e in reading.of(ElementType.LIST_ITEM)] == [1, 2]


def test_tables_take_their_columns_from_the_edges(tmp_path: Path) -> None:
    body = (
        r"\trowd\trhdr\cellx2000\cellx3000\pard\intbl Wide\cell C\cell\row"
        r"\trowd\clvmgf\cellx1000\cellx2000\cellx3010\pard\intbl tall\cell x\par y\cell 1\cell\row"
        r"\trowd\clvmrg\cellx1000\cellx2000\cellx3000\pard\intbl\cell z\cell 2\cell\row\pard After\par"
    )
    reading = read_rtf(tmp_path, body)
    table = reading.of(ElementType.TABLE)[0]
    assert table.grid == (("Wide", "Wide", "C"), ("tall", "x\ny", "1"), ("tall", "z", "2"))
    assert '<th colspan="2">Wide</th>' in (table.html or "")
    assert '<td rowspan="2">tall</td>' in (table.html or "")
    assert reading.texts(ElementType.PARAGRAPH) == ["After"]


def test_pictures_and_links(tmp_path: Path) -> None:
    data = picture(40).hex()
    body = rf'{{\field{{\*\fldinst HYPERLINK "https://example.com/"}}{{\fldrslt go}}}}{{\*\shppict{{\pict\pngblip {data}}}}}{{\nonshppict{{\pict\wmetafile8 00}}}}\par'
    reading = read_rtf(tmp_path, body)
    assert reading.elements[0].metadata["links"] == [{"href": "https://example.com/"}]
    assert reading.of(ElementType.IMAGE)[0].blob is not None


def test_an_embedded_file_becomes_a_child(tmp_path: Path) -> None:
    def text(value: bytes) -> bytes:
        return struct.pack("<I", len(value) + 1) + value + b"\0"

    inner = (
        b"\x02\0notes.txt\0C:\\notes.txt\0\0\0\x03\0"
        + struct.pack("<I", 4)
        + b"tmp\0"
        + struct.pack("<I", 5)
        + b"hello"
    )
    data = (
        struct.pack("<II", 0x501, 2)
        + text(b"Package")
        + struct.pack("<II", 0, 0)
        + struct.pack("<I", len(inner))
        + inner
    )
    reading = read_rtf(tmp_path, rf"{{\object\objemb{{\*\objdata {data.hex()}}}{{\result shown}}}}\par")
    assert reading.child("notes.txt") == b"hello"


@pytest.mark.parametrize(
    "body",
    [
        "{" * 50_000,
        r"{\footnote " * 3_000 + "x",
        "}" * 100 + "late",
        r"\bin99999999999 abc",
        r"\'zz \u99999999999? \cellx\row\cell\row",
        "\\",
    ],
)
def test_damaged_rtf_neither_hangs_nor_crashes(body: str, tmp_path: Path) -> None:
    assert read_rtf(tmp_path, "Start " + body).summary.detected.label == "rtf"


def test_text_after_an_unclosed_group_is_kept(tmp_path: Path) -> None:
    assert read_bytes(tmp_path, "a.rtf", rb"{\rtf1 {\b never closed").text == "never closed"


def test_what_is_no_rtf_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.rtf"
    path.write_bytes(b"plain words")
    with Sink(tmp_path, ExtractOptions()) as sink, pytest.raises(CorruptFile):
        rtf.extract(path, sink)


def test_binary_data_is_one_token_whatever_it_contains() -> None:
    found = list(tokens(rb"{\pict\bin4 }{\x text}"))
    assert [token.kind for token in found] == [RtfKind.OPEN, RtfKind.WORD, RtfKind.BINARY, RtfKind.TEXT, RtfKind.CLOSE]
    assert found[2].data == rb"}{\x"
