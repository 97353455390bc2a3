"""Presentations: order, titles, tables, notes, charts, pictures, slide numbers."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pptx import Presentation
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.presentation import Presentation as Deck
from pptx.util import Inches

from citewell.errors import CorruptFile
from citewell.types import ElementType
from tests.extract.documents.office import picture
from tests.extract.documents.reading import Reading, read_bytes

TITLE_AND_CONTENT, TITLE_ONLY, BLANK = 1, 5, 6


def reading_of(
    folder: Path, deck: Deck, change: Callable[[dict[str, bytes]], None] | None = None, **options: object
) -> Reading:
    buffer = io.BytesIO()
    deck.save(buffer)
    data = buffer.getvalue()
    if change is not None:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            parts = {name: archive.read(name) for name in archive.namelist()}
        change(parts)
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as out:
            for name, content in parts.items():
                out.writestr(name, content)
        data = buffer.getvalue()
    return read_bytes(folder, "deck.pptx", data, **options)


def slide_with_title(deck: Deck, title: str, layout: int = TITLE_ONLY) -> Any:
    slide: Any = deck.slides.add_slide(deck.slide_layouts[layout])
    slide.shapes.title.text = title
    return slide


def text_box(slide: Any, text: str, left: float, top: float) -> None:
    slide.shapes.add_textbox(Inches(left), Inches(top), Inches(2), Inches(1)).text_frame.text = text


def test_each_slide_is_a_unit_with_its_title_and_number(tmp_path: Path) -> None:
    deck: Any = Presentation()
    slide_with_title(deck, "First")
    slide_with_title(deck, "Second")
    reading = reading_of(tmp_path, deck)
    assert [(u.unit, u.number, u.name) for u in reading.summary.coverage.units] == [
        ("slide", 1, "First"),
        ("slide", 2, "Second"),
    ]
    assert [(e.type, e.text, e.locator.slide, e.level) for e in reading.elements] == [
        (ElementType.TITLE, "First", 1, 1),
        (ElementType.TITLE, "Second", 2, 1),
    ]


def test_bodies_are_lists_with_their_levels_under_the_title(tmp_path: Path) -> None:
    deck: Any = Presentation()
    slide = slide_with_title(deck, "Plan", TITLE_AND_CONTENT)
    frame = slide.placeholders[1].text_frame
    frame.text = "Outer"
    inner = frame.add_paragraph()
    inner.text, inner.level = "Inner", 1
    items = reading_of(tmp_path, deck).of(ElementType.LIST_ITEM)
    assert [(e.text, e.level, e.locator.headings) for e in items] == [("Outer", 1, ("Plan",)), ("Inner", 2, ("Plan",))]


def test_shapes_are_read_from_top_to_bottom_whatever_their_order_in_the_file(tmp_path: Path) -> None:
    deck: Any = Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[TITLE_ONLY])
    text_box(slide, "below", 1, 5)
    text_box(slide, "right", 6, 3.05)
    text_box(slide, "left", 1, 3)
    group = slide.shapes.add_group_shape()
    group.shapes.add_textbox(Inches(1), Inches(6.2), Inches(1), Inches(0.5)).text_frame.text = "grouped"
    nested = group.shapes.add_group_shape()
    nested.shapes.add_textbox(Inches(1), Inches(6.9), Inches(1), Inches(0.5)).text_frame.text = "nested"
    slide.shapes.title.text = "Title"
    assert reading_of(tmp_path, deck).texts() == ["Title", "left", "right", "below", "grouped", "nested"]


def test_text_of_the_master_is_read_once(tmp_path: Path) -> None:
    deck = Presentation()
    first = slide_with_title(deck, "Plan")
    text_box(first, "Contract KV-2291", 1, 6)
    deck.slide_master.shapes._spTree.append(first.shapes[-1]._element)
    slide_with_title(deck, "Costs")
    reading = reading_of(tmp_path, deck)
    assert [(e.text, e.locator.slide) for e in reading.of(ElementType.FOOTER)] == [("Contract KV-2291", 1)]


def test_tables_keep_their_spans(tmp_path: Path) -> None:
    deck: Any = Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[BLANK])
    table = slide.shapes.add_table(2, 3, Inches(1), Inches(1), Inches(6), Inches(2)).table
    table.cell(0, 0).merge(table.cell(0, 1))
    for row, column, text in ((0, 0, "Wide"), (0, 2, "C"), (1, 0, "1"), (1, 1, "2"), (1, 2, "3")):
        table.cell(row, column).text = text
    found = reading_of(tmp_path, deck).of(ElementType.TABLE)[0]
    assert found.grid == (("Wide", "Wide", "C"), ("1", "2", "3"))
    assert found.header_rows == 1
    assert 'colspan="2"' in (found.html or "")


def test_notes_charts_and_pictures(tmp_path: Path) -> None:
    deck: Any = Presentation()
    slide = slide_with_title(deck, "Sales")
    data = CategoryChartData()
    data.categories = ["Q1", "Q2"]
    data.add_series("North", (10, 20))
    frame = slide.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, Inches(1), Inches(2), Inches(4), Inches(3), data)
    frame.chart.has_title = True
    frame.chart.chart_title.text_frame.text = "By quarter"
    shape = slide.shapes.add_picture(io.BytesIO(picture(40)), Inches(5), Inches(2))
    shape._element.nvPicPr.cNvPr.set("descr", "A map")
    slide.notes_slide.notes_text_frame.text = "Say hello.\nThen stop."
    reading = reading_of(tmp_path, deck)
    assert reading.texts(ElementType.CAPTION) == ["By quarter"]
    assert reading.of(ElementType.TABLE)[0].grid == (("", "North"), ("Q1", "10"), ("Q2", "20"))
    assert reading.texts(ElementType.NOTE) == ["Say hello.\nThen stop."]
    image = reading.of(ElementType.IMAGE)[0]
    assert (image.text, image.blob is not None, image.locator.slide) == ("A map", True, 1)


def test_automatic_numbers_links_and_explicit_bullets(tmp_path: Path) -> None:
    deck: Any = Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[BLANK])
    frame = slide.shapes.add_textbox(Inches(1), Inches(1), Inches(4), Inches(2)).text_frame
    for index, text in enumerate(("one", "two", "plain")):
        paragraph = frame.paragraphs[0] if index == 0 else frame.add_paragraph()
        paragraph.text = text
        if text != "plain":
            paragraph._p.get_or_add_pPr().insert(
                0,
                paragraph._p.makeelement(
                    "{http://schemas.openxmlformats.org/drawingml/2006/main}buAutoNum", {"type": "alphaLcParenR"}
                ),
            )
    frame.paragraphs[2].runs[0].hyperlink.address = "https://example.com/"
    reading = reading_of(tmp_path, deck)
    assert [(e.type, e.text) for e in reading.elements] == [
        (ElementType.LIST_ITEM, "a) one"),
        (ElementType.LIST_ITEM, "b) two"),
        (ElementType.PARAGRAPH, "plain"),
    ]
    assert reading.elements[2].metadata["links"] == [{"text": "plain", "href": "https://example.com/"}]


def test_a_damaged_slide_is_left_out_with_a_warning_and_the_others_are_read(tmp_path: Path) -> None:
    deck: Any = Presentation()
    slide_with_title(deck, "First")
    slide_with_title(deck, "Second")

    def damage(parts: dict[str, bytes]) -> None:
        parts["ppt/slides/slide1.xml"] = parts["ppt/slides/slide1.xml"][:200]

    reading = reading_of(tmp_path, deck, damage)
    assert reading.texts() == ["Second"]
    assert reading.elements[0].locator.slide == 2
    assert "The slide is damaged" in reading.notes()


def test_a_hidden_slide_is_read_and_marked(tmp_path: Path) -> None:
    deck: Any = Presentation()
    slide_with_title(deck, "Backup")._element.set("show", "0")
    reading = reading_of(tmp_path, deck)
    assert reading.texts() == ["Backup"]
    assert "hidden in the show" in reading.notes()


def test_slides_beyond_the_limit_are_noted(tmp_path: Path) -> None:
    deck: Any = Presentation()
    for number in range(3):
        slide_with_title(deck, f"S{number}")
    reading = reading_of(tmp_path, deck, max_pages=2)
    assert reading.texts() == ["S0", "S1"]
    assert "Slides 3 to 3" in reading.notes()


def test_a_picture_whose_part_is_missing_costs_only_itself(tmp_path: Path) -> None:
    deck: Any = Presentation()
    slide = slide_with_title(deck, "Title")
    slide.shapes.add_picture(io.BytesIO(picture(40)), Inches(1), Inches(2))

    def damage(parts: dict[str, bytes]) -> None:
        del parts[next(name for name in parts if name.startswith("ppt/media/"))]

    reading = reading_of(tmp_path, deck, damage)
    assert reading.texts() == ["Title"]
    assert "not in the file" in reading.notes()


def test_a_presentation_without_its_main_part_is_refused(tmp_path: Path) -> None:
    def damage(parts: dict[str, bytes]) -> None:
        parts["ppt/presentation.xml"] = b"<p:presentation"

    with pytest.raises(CorruptFile):
        reading_of(tmp_path, Presentation(), damage)
