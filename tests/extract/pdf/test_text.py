"""Text of PDFs: reading order, headings, lists, running headers, hyphenation, rotation, scripts."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import pytest
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.cidfonts import UnicodeCIDFont
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.pdfgen.canvas import Canvas

from citewell.types import ElementType
from tests.extract.pdf.drawing import HEIGHT, WIDTH, Draw, justified, lines, pdf, prose, read_pdf
from tests.extract.scanning import FONT


def test_columns_are_read_one_after_the_other(tmp_path: Path) -> None:
    def page(canvas: Canvas) -> None:
        lines(canvas, 60, 60, ["A title across both columns of the page"], size=18)
        written.extend(justified(canvas, 60, 110, 220, 20))
        written.extend(justified(canvas, 310, 110, 220, 20, start=7))

    written: list[str] = []
    paragraphs = read_pdf(tmp_path, pdf(page)).texts(ElementType.PARAGRAPH)
    assert " ".join(paragraphs) == " ".join(written)


def test_lines_written_across_both_columns_are_still_read_by_column(tmp_path: Path) -> None:
    left, right = prose(15), prose(15, 40)

    def page(canvas: Canvas) -> None:
        for i, (a, b) in enumerate(zip(left, right, strict=True)):
            lines(canvas, 60, 80 + 12 * i, [a], size=9)
            lines(canvas, 320, 80 + 12 * i, [b], size=9)

    text = " ".join(read_pdf(tmp_path, pdf(page)).texts(ElementType.PARAGRAPH))
    assert text.index(left[-1]) < text.index(right[0])


def test_headings_have_levels_by_size_and_what_follows_stands_under_them(tmp_path: Path) -> None:
    def page(canvas: Canvas) -> None:
        top = lines(canvas, 60, 60, ["Rivers of the North"], size=22)
        top = lines(canvas, 60, top + 20, ["Floods"], size=16)
        top = lines(canvas, 60, top + 10, prose(6))
        top = lines(canvas, 60, top + 12, ["Spring floods"], font="Helvetica-Bold")
        lines(canvas, 60, top + 8, prose(6, 20))

    reading = read_pdf(tmp_path, pdf(page))
    titles = [(e.text, e.level) for e in reading.of(ElementType.TITLE)]
    assert titles == [("Rivers of the North", 1), ("Floods", 2), ("Spring floods", 3)]
    paths = [e.locator.headings for e in reading.of(ElementType.PARAGRAPH)]
    assert paths == [("Rivers of the North", "Floods"), ("Rivers of the North", "Floods", "Spring floods")]


def test_bookmarks_decide_the_level_of_the_titles_they_name(tmp_path: Path) -> None:
    def page(canvas: Canvas) -> None:
        canvas.bookmarkPage("a")
        canvas.addOutlineEntry("Overview", "a", 0)
        canvas.bookmarkPage("b")
        canvas.addOutlineEntry("Method", "b", 1)
        top = lines(canvas, 60, 60, ["Overview"])
        top = lines(canvas, 60, top + 10, prose(5))
        top = lines(canvas, 60, top + 10, ["Method"])
        lines(canvas, 60, top + 10, prose(5))

    titles = [(e.text, e.level) for e in read_pdf(tmp_path, pdf(page)).of(ElementType.TITLE)]
    assert titles == [("Overview", 1), ("Method", 2)]


def test_list_items_are_separate_and_keep_their_wrapped_lines(tmp_path: Path) -> None:
    def page(canvas: Canvas) -> None:
        top = lines(canvas, 60, 60, prose(4))
        for mark, text in (
            ("•", ["first thing to bring, which", "needs two lines"]),
            ("•", ["second thing"]),
            ("•", ["third"]),
        ):
            lines(canvas, 72, top + 6, [mark])
            top = lines(canvas, 90, top + 6, text)

    items = read_pdf(tmp_path, pdf(page)).texts(ElementType.LIST_ITEM)
    assert items == ["• first thing to bring, which needs two lines", "• second thing", "• third"]


def test_running_headers_and_page_numbers_are_told_from_text(tmp_path: Path) -> None:
    def page_of(number: int) -> Draw:
        def page(canvas: Canvas) -> None:
            lines(canvas, 60, 30, [f"Annual Report {2020 + number}"])
            lines(canvas, 60, 90, prose(20, number * 5))
            lines(canvas, 290, 800, [str(number)])

        return page

    reading = read_pdf(tmp_path, pdf(*(page_of(n) for n in range(1, 5))))
    assert reading.texts(ElementType.HEADER) == [f"Annual Report {2020 + n}" for n in range(1, 5)]
    assert reading.texts(ElementType.FOOTER) == ["1", "2", "3", "4"]
    assert "Annual Report" not in " ".join(reading.texts(ElementType.PARAGRAPH))


def test_hyphenated_words_are_joined_but_compounds_keep_their_hyphen(tmp_path: Path) -> None:
    def page(canvas: Canvas) -> None:
        lines(
            canvas,
            60,
            60,
            [
                "The committee went on to consider the mea-",
                "sures that a well-known body of law has had for a long-",
                "standing case, which is a well-",
                "known one to everybody who works here.",
            ],
        )

    (text,) = read_pdf(tmp_path, pdf(page)).texts(ElementType.PARAGRAPH)
    assert "consider the measures that" in text
    assert "is a well-known one" in text


def test_hyphens_that_stand_for_a_later_part_and_those_after_figures_stay(tmp_path: Path) -> None:
    texts = [
        "They compare what short-",
        "and long-term loans cost in all of the years 2006-",
        "2008, at both 2-",
        "and 4-year schools, and what every other 4-",
        "year-old of the district is taught in a thou-",
        "sand hours of school, as the law has it.",
    ]
    (text,) = read_pdf(tmp_path, pdf(lambda canvas: put_lines(canvas, texts))).texts(ElementType.PARAGRAPH)
    assert "short- and long-term" in text
    assert "years 2006-2008, at" in text
    assert "2- and 4-year schools" in text
    assert "other 4-year-old of" in text
    assert "a thousand hours" in text


def put_lines(canvas: Canvas, texts: list[str]) -> None:
    lines(canvas, 60, 60, texts)


def test_characters_beyond_16_bits_are_read_and_hyphens_beside_them(tmp_path: Path) -> None:
    pdfmetrics.registerFont(TTFont("Vera", str(FONT)))

    def page(canvas: Canvas) -> None:
        lines(canvas, 60, 60, ["The committee went on to consider the mea-", "sures at length @."], font="Vera")

    # The font says of one sign that it means an italic letter of mathematics.
    data = re.sub(rb"(<[0-9A-F]{2}>) <0040>", rb"\1 <D835DC4E>", pdf(page, pageCompression=0))
    (text,) = read_pdf(tmp_path, data).texts(ElementType.PARAGRAPH)
    assert text == "The committee went on to consider the measures at length \U0001d44e."


def test_a_paragraph_broken_off_by_a_column_goes_on_in_the_next(tmp_path: Path) -> None:
    def page(canvas: Canvas) -> None:
        justified(canvas, 60, 60, 220, 15)
        justified(canvas, 310, 60, 220, 15, start=90)

    (element,) = read_pdf(tmp_path, pdf(page)).of(ElementType.PARAGRAPH)
    assert len(element.locator.boxes) == 30


@pytest.mark.parametrize("angle", [90, 180, 270])
def test_text_set_sideways_is_read_in_order_with_its_place(tmp_path: Path, angle: int) -> None:
    def page(canvas: Canvas) -> None:
        canvas.translate(WIDTH / 2, HEIGHT / 2)
        canvas.rotate(angle)
        for i, text in enumerate(prose(5)):
            canvas.drawString(-150, 100 - 12 * i, text)

    (element,) = read_pdf(tmp_path, pdf(page)).of(ElementType.PARAGRAPH)
    assert element.text == " ".join(prose(5))
    tall = all(box.y1 - box.y0 > box.x1 - box.x0 for box in element.locator.boxes)
    assert tall is (angle != 180)


def test_slanted_text_is_read_line_by_line(tmp_path: Path) -> None:
    def page(canvas: Canvas) -> None:
        canvas.translate(100, 400)
        canvas.rotate(20)
        for i, text in enumerate(prose(4)):
            canvas.drawString(0, -14 * i, text)

    text = read_pdf(tmp_path, pdf(page)).text
    assert " ".join(text.split()) == " ".join(prose(4))


def test_chinese_and_japanese_text_has_no_spaces_put_in(tmp_path: Path) -> None:
    pdfmetrics.registerFont(UnicodeCIDFont("STSong-Light"))

    def page(canvas: Canvas) -> None:
        lines(
            canvas,
            60,
            60,
            ["长江发源于青藏高原，流经多个省份，最后注入东海。", "每年夏天水位上涨，两岸的村庄都要做好准备。"],
            font="STSong-Light",
        )

    text = read_pdf(tmp_path, pdf(page)).text.replace("\n", "")
    assert "最后注入东海。每年夏天" in text


def test_sentences_that_end_inside_a_line_have_rectangles_of_their_own(tmp_path: Path) -> None:
    def page(canvas: Canvas) -> None:
        lines(canvas, 60, 60, ["The dam broke at noon. Nobody was hurt. The town", "was flooded by evening."])

    (element,) = read_pdf(tmp_path, pdf(page)).of(ElementType.PARAGRAPH)
    spans = [element.text[a:b].strip() for a, b in pairwise([*element.span_starts, len(element.text)])]
    assert spans == ["The dam broke at noon.", "Nobody was hurt.", "The town", "was flooded by evening."]
    first, second, third, _ = element.locator.boxes
    assert first.x1 < second.x0 < second.x1 < third.x0
    assert first.y0 == second.y0


def test_code_keeps_its_lines(tmp_path: Path) -> None:
    source = ["def area(width, height):", "    return width * height # square", "print(area(3, 4))"]

    def page(canvas: Canvas) -> None:
        top = lines(canvas, 60, 60, prose(6))
        lines(canvas, 60, top + 12, source, font="Courier")

    (code,) = read_pdf(tmp_path, pdf(page)).texts(ElementType.CODE)
    assert code.split("\n") == source


def test_captions_and_footnotes_are_told_from_text(tmp_path: Path) -> None:
    def page(canvas: Canvas) -> None:
        top = lines(canvas, 60, 60, prose(10))
        lines(canvas, 60, top + 20, ["Figure 3: Water levels at the bridge since 1900"])
        lines(canvas, 60, 700, ["1 Measured at the upper gauge; see the appendix."], size=7)

    reading = read_pdf(tmp_path, pdf(page))
    assert reading.texts(ElementType.CAPTION) == ["Figure 3: Water levels at the bridge since 1900"]
    assert reading.texts(ElementType.FOOTNOTE) == ["1 Measured at the upper gauge; see the appendix."]


def test_words_outside_of_the_page_are_left_out_and_reported(tmp_path: Path) -> None:
    def page(canvas: Canvas) -> None:
        lines(canvas, 60, 60, prose(2))
        canvas.drawString(WIDTH + 50, 400, "unseen words")

    reading = read_pdf(tmp_path, pdf(page))
    assert "unseen" not in reading.text
    assert "2 words outside the visible page" in reading.notes()


def test_compounds_keep_the_hyphen_that_a_line_ends_with_and_divided_words_do_not(tmp_path: Path) -> None:
    written = [
        "a part-",
        "time nurse with n-",
        "decanal, state-of-the-",
        "art infor-",
        "mation for the govern-",
        "ment, with-",
        "out sign-",
        "off",
    ]
    text = read_pdf(tmp_path, pdf(lambda canvas: lines(canvas, 60, 60, written))).text
    assert text == "a part-time nurse with n-decanal, state-of-the-art information for the government, without sign-off"


def test_ligatures_do_not_cut_words(tmp_path: Path) -> None:
    def page(canvas: Canvas) -> None:
        pdfmetrics.registerFont(TTFont("ligatures", FONT))
        canvas.setFont("ligatures", 11)
        canvas.drawString(60, 700, "Wir wechseln heute den Filter, der Luft in den Motor leitet, und")
        x = 60.0
        for part in ("den Luft\ufb01", "lter der Anlage"):
            canvas.drawString(x, 686, part)
            x += canvas.stringWidth(part, "ligatures", 11) + 3

    assert "den Luftfilter der" in " ".join(read_pdf(tmp_path, pdf(page)).text.split())
