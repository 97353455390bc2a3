"""Text of PDFs: reading order, headings, lists, running headers, hyphenation, rotation, scripts."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import pytest
from PIL import Image
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


def page_below(*top: tuple[float, float, str], start: int = 0) -> Draw:
    """A page of prose under lines at (distance from the top edge, font size)."""

    def page(canvas: Canvas) -> None:
        for distance, size, text in top:
            lines(canvas, 60, distance, [text], size=size)
        lines(canvas, 60, 110, prose(20, start))

    return page


TOPS = {
    "titles that count": [[(80, 14, f"Week {n}")] for n in range(1, 6)],
    "titles that count, in the body's size": [[(80, 10, f"Week {n}")] for n in range(1, 6)],
    "the first lines of text": [[(86, 10, f"{n}. of the second"), (98, 10, f"{n}. of the third")] for n in range(1, 4)],
    "one large title twice": [[(40, 16, "Offer to the harbour office")]] * 2,
}


@pytest.mark.parametrize("kind", TOPS)
def test_lines_that_count_or_are_large_or_belong_to_the_text_are_no_headers(tmp_path: Path, kind: str) -> None:
    reading = read_pdf(tmp_path, pdf(*(page_below(*top, start=i) for i, top in enumerate(TOPS[kind]))))
    assert reading.texts(ElementType.HEADER) == []
    for top in TOPS[kind]:
        assert all(text in reading.text for *_, text in top)


def test_a_label_beside_a_value_of_each_page_is_no_header(tmp_path: Path) -> None:
    def page_of(name: str) -> Draw:
        def page(canvas: Canvas) -> None:
            lines(canvas, 60, 90, ["Name of the keeper"])
            lines(canvas, 300, 90, [name])
            lines(canvas, 60, 140, prose(4, len(name)))

        return page

    reading = read_pdf(tmp_path, pdf(page_of("Ida Kern"), page_of("Orla Finch")))
    assert reading.texts(ElementType.HEADER) == []


def test_a_list_that_runs_to_the_edge_of_its_pages_is_read_whole(tmp_path: Path) -> None:
    listed = [f"Locker {n} holds {n + 3} ropes" for n in range(1, 121)]

    def first(canvas: Canvas) -> None:
        lines(canvas, 60, 30, listed[:60])

    def second(canvas: Canvas) -> None:
        lines(canvas, 60, 30, listed[60:])

    reading = read_pdf(tmp_path, pdf(first, second))
    assert reading.texts(ElementType.HEADER, ElementType.FOOTER) == []
    assert all(text in " ".join(reading.text.split()) for text in listed)


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


def layered(state: str) -> bytes:
    """A page with a line on a layer that is ON or OFF, one on no layer, and a form on the layer."""
    content = (
        b"BT /F 12 Tf 72 700 Td (Open in May.) Tj ET /OC /L BDC BT /F 12 Tf 72 670 Td (Open in March.) Tj ET EMC /X Do"
    )
    form = b"BT /F 12 Tf 72 640 Td (Open in April.) Tj ET"
    objects = [
        f"<< /Type /Catalog /Pages 2 0 R /OCProperties << /OCGs [5 0 R] /D << /{state} [5 0 R] >> >> >>".encode(),
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources << /Font << /F 6 0 R >> "
        b"/Properties << /L 5 0 R >> /XObject << /X 7 0 R >> >> >>",
        b"<< /Length %d >> stream\n%s\nendstream" % (len(content), content),
        b"<< /Type /OCG /Name (Draft) >>",
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        b"<< /Type /XObject /Subtype /Form /BBox [0 0 595 842] /OC 5 0 R /Resources << /Font << /F 6 0 R >> >> /Length %d >> "
        b"stream\n%s\nendstream" % (len(form), form),
    ]
    body = b"".join(b"%d 0 obj %s endobj\n" % (number, data) for number, data in enumerate(objects, 1))
    return b"%PDF-1.5\n" + body + b"trailer << /Root 1 0 R >>\n%%EOF"


@pytest.mark.parametrize(("state", "months"), [("ON", {"May", "March", "April"}), ("OFF", {"May"})])
def test_text_on_a_layer_is_read_if_the_layer_is_shown(tmp_path: Path, state: str, months: set[str]) -> None:
    reading = read_pdf(tmp_path, layered(state))
    assert {month for month in ("May", "March", "April") if month in reading.text} == months
    assert ("6 words that the page does not show" in reading.notes()) == (state == "OFF")


def test_white_and_invisible_text_is_read_where_the_page_shows_it(tmp_path: Path) -> None:
    def page(canvas: Canvas) -> None:
        canvas.drawString(60, 700, "black")
        canvas.setFillColorRGB(0, 0, 0.5)
        canvas.rect(50, 595, 200, 20, stroke=0, fill=1)
        canvas.setFillColorRGB(1, 1, 1)
        canvas.drawString(60, 600, "heading")
        canvas.drawString(60, 500, "paper")
        canvas.setFillColorRGB(0, 0, 0)
        hidden = canvas.beginText(60, 400)
        hidden.setTextRenderMode(3)
        hidden.textOut("ghost")
        canvas.drawText(hidden)

    reading = read_pdf(tmp_path, pdf(page))
    assert reading.text.split() == ["black", "heading"]
    assert "2 words that the page does not show" in reading.notes()


def test_the_invisible_text_on_a_scan_is_its_text(tmp_path: Path) -> None:
    def page(canvas: Canvas) -> None:
        canvas.drawInlineImage(Image.new("L", (200, 280), 200), 0, 0, WIDTH, HEIGHT)
        layer = canvas.beginText(60, 700)
        layer.setTextRenderMode(3)
        for text in prose(30):
            layer.textLine(text)
        canvas.drawText(layer)

    reading = read_pdf(tmp_path, pdf(page))
    assert " ".join(reading.texts(ElementType.PARAGRAPH)) == " ".join(prose(30))
