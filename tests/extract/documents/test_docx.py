"""Word documents: outline, lists, tables, notes, pictures, revisions, pages."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import docx as python_docx
import pytest

from citewell.errors import CorruptFile, LimitExceeded
from citewell.types import ElementType
from tests.extract.documents.office import (
    NAMESPACES,
    NUMBERING,
    blip,
    blocks,
    cell,
    chart,
    docx,
    drawing,
    numbered,
    package,
    paragraph,
    picture,
    relationships_part,
    row,
    run,
    table,
    with_extended_properties,
)
from tests.extract.documents.reading import Reading, read, read_bytes

PAGE_BREAK = '<w:r><w:br w:type="page"/></w:r>'
RENDERED_BREAK = "<w:r><w:lastRenderedPageBreak/></w:r>"


def reading_of(
    folder: Path,
    body: str,
    parts: Mapping[str, str | bytes] | None = None,
    links: Mapping[str, tuple[str, str]] | None = None,
    **options: object,
) -> Reading:
    return read_bytes(folder, "a.docx", docx(body, parts, links), **options)


def test_headings_of_any_language_version_give_levels_and_the_path_of_what_follows(tmp_path: Path) -> None:
    body = blocks(
        paragraph("My report", "Titel"),
        paragraph("One", "berschrift1"),
        paragraph("Inner", "berschrift2"),
        paragraph("Text."),
        paragraph("Two", "Chapter"),
        paragraph("More."),
        paragraph("Own", properties='<w:outlineLvl w:val="2"/>'),
        paragraph("Loop text", "Loop"),
    )
    reading = reading_of(tmp_path, body)
    assert [(e.text, e.level) for e in reading.of(ElementType.TITLE)] == [
        ("My report", 1),
        ("One", 1),
        ("Inner", 2),
        ("Two", 1),
        ("Own", 3),
    ]
    paths = {e.text: e.locator.headings for e in reading.elements}
    assert paths["Text."] == ("My report", "One", "Inner")
    assert paths["More."] == ("My report", "Two")
    assert paths["Inner"] == ("My report", "One")
    assert paths["Loop text"] == ("My report", "Two", "Own")


def test_properties_of_the_document_become_metadata(tmp_path: Path) -> None:
    metadata = reading_of(tmp_path, paragraph("x")).summary.metadata
    assert (metadata["title"], metadata["author"]) == ("Report", "Ann")


def test_automatic_numbers_are_counted_as_word_counts_them(tmp_path: Path) -> None:
    body = blocks(
        numbered("first", 1),
        numbered("inner", 1, 1),
        numbered("inner too", 1, 1),
        numbered("second", 1),
        numbered("fresh", 1, 1),
        numbered("dot", 2),
        numbered("restarted", 3),
        numbered("Scope", 1, style="berschrift1"),
    )
    reading = reading_of(tmp_path, body, {"numbering.xml": NUMBERING}, {"rN": ("numbering", "numbering.xml")})
    assert reading.texts() == [
        "1. first",
        "1.a) inner",
        "1.b) inner too",
        "2. second",
        "2.a) fresh",
        "dot",
        "7. restarted",
        "8. Scope",
    ]
    assert [e.level for e in reading.of(ElementType.LIST_ITEM)] == [1, 2, 2, 1, 2, 1, 1]
    assert reading.elements[-1].type is ElementType.TITLE


def test_a_table_keeps_merged_cells_in_html_grid_and_markdown(tmp_path: Path) -> None:
    body = table(
        row(cell(paragraph("Head"), properties='<w:gridSpan w:val="2"/>'), "A|B", properties="<w:tblHeader/>"),
        row(cell(paragraph("tall"), properties='<w:vMerge w:val="restart"/>'), "x", "y"),
        row(cell(paragraph(), properties="<w:vMerge/>"), cell(paragraph("p"), paragraph("q")), "&lt;z&gt;"),
        row("deleted row", properties="<w:del/>"),
    )
    found = reading_of(tmp_path, paragraph("Part", "berschrift1") + body).of(ElementType.TABLE)[0]
    assert found.grid == (("Head", "Head", "A|B"), ("tall", "x", "y"), ("tall", "p\nq", "<z>"))
    assert found.header_rows == 1
    assert '<th colspan="2">Head</th>' in (found.html or "")
    assert '<td rowspan="2">tall</td>' in (found.html or "")
    assert "&lt;z&gt;" in (found.html or "")
    header, _, *body_lines = found.text.splitlines()
    assert header == "| Head | Head | A\\|B |"
    assert body_lines == ["| tall | x | y |", "| tall | p q | <z> |"]
    assert found.locator.headings == ("Part",)


def test_a_frame_of_one_cell_is_read_as_text_and_a_table_inside_a_cell_stays_in_it(tmp_path: Path) -> None:
    inner = table(row("i1", "i2"))
    frame = table(row(cell(paragraph("Boxed", "berschrift1"), paragraph("text"))))
    outer = table(row(cell(inner, paragraph()), "right"))
    reading = reading_of(tmp_path, frame + outer)
    assert reading.texts(ElementType.TITLE, ElementType.PARAGRAPH) == ["Boxed", "text"]
    assert reading.of(ElementType.TABLE)[0].grid == (("i1 | i2", "right"),)


def test_tables_become_text_where_they_were_not_asked_for(tmp_path: Path) -> None:
    reading = reading_of(tmp_path, table(row("a", "b")), extract_tables=False)
    assert [(e.type, e.text) for e in reading.elements] == [(ElementType.PARAGRAPH, "a | b")]


def test_notes_and_comments_follow_the_paragraph_that_refers_to_them(tmp_path: Path) -> None:
    body = paragraph(
        inner=run("Claim")
        + '<w:r><w:footnoteReference w:id="2"/></w:r>'
        + run(" goes on.")
        + '<w:r><w:commentReference w:id="0"/></w:r>'
    ) + paragraph(inner=run("Next") + '<w:r><w:endnoteReference w:id="5"/></w:r>')
    parts = {
        "footnotes.xml": f'<w:footnotes {NAMESPACES}><w:footnote w:type="separator" w:id="0">{paragraph("sep")}</w:footnote>'
        f'<w:footnote w:id="2">{paragraph("Source: a book.")}</w:footnote><w:footnote w:id="3">{paragraph("Unused.")}</w:footnote></w:footnotes>',
        "endnotes.xml": f'<w:endnotes {NAMESPACES}><w:endnote w:id="5">{paragraph("At the end.")}</w:endnote></w:endnotes>',
        "comments.xml": f'<w:comments {NAMESPACES}><w:comment w:id="0" w:author="Bob" w:date="2026-01-02T03:04:05Z">{paragraph("Really?")}</w:comment></w:comments>',
    }
    links = {
        "r1": ("footnotes", "footnotes.xml"),
        "r2": ("endnotes", "endnotes.xml"),
        "r3": ("comments", "comments.xml"),
    }
    reading = reading_of(tmp_path, body, parts, links)
    assert reading.texts() == ["Claim goes on.", "Source: a book.", "Really?", "Next", "At the end.", "Unused."]
    assert reading.of(ElementType.COMMENT)[0].metadata == {"author": "Bob", "date": "2026-01-02T03:04:05Z"}
    assert len(reading.of(ElementType.FOOTNOTE)) == 3


def test_an_empty_content_control_costs_nothing(tmp_path: Path) -> None:
    reading = reading_of(tmp_path, paragraph("before") + "<w:sdt><w:sdtContent/></w:sdt>" + paragraph("after"))
    assert reading.texts() == ["before", "after"]


def field_of(state: str) -> str:
    begin = f'<w:r><w:fldChar w:fldCharType="begin"><w:ffData>{state}</w:ffData></w:fldChar></w:r>'
    return f'{begin}<w:r><w:instrText>FORM</w:instrText></w:r><w:r><w:fldChar w:fldCharType="end"/></w:r>'


LISTED = '<w:listEntry w:val="Weekly"/><w:listEntry w:val="Monthly"/>'


@pytest.mark.parametrize(
    ("inner", "text"),
    [
        (field_of('<w:checkBox><w:default w:val="1"/></w:checkBox>'), "☑ Post"),
        (field_of('<w:checkBox><w:default w:val="1"/><w:checked w:val="0"/></w:checkBox>'), "☐ Post"),
        (field_of('<w:checkBox><w:default w:val="0"/><w:checked/></w:checkBox>'), "☑ Post"),
        (field_of(f'<w:ddList><w:result w:val="1"/>{LISTED}</w:ddList>'), "Monthly Post"),
        (field_of(f"<w:ddList>{LISTED}</w:ddList>"), "Weekly Post"),
        ('<w:r><w:sym w:font="Wingdings" w:char="F0FE"/></w:r>', "☑ Post"),
        ('<w:r><w:sym w:font="Wingdings" w:char="F0A8"/></w:r>', "☐ Post"),
        ('<w:r><w:sym w:font="Wingdings 2" w:char="F052"/></w:r>', "☑ Post"),
        ('<w:r><w:rPr><w:rFonts w:ascii="Wingdings"/></w:rPr><w:t>ý</w:t></w:r>', "☒ Post"),
        ('<w:r><w:rPr><w:rFonts w:ascii="Wingdings"/></w:rPr><w:t>\uf06f</w:t></w:r>', "☐ Post"),
        (
            '<w:r><w:rPr><w:rFonts w:ascii="Wingdings"/></w:rPr><w:sym w:font="Wingdings" w:char="F0FC"/></w:r>',
            "✓ Post",
        ),
    ],
)
def test_forms_keep_the_state_of_boxes_and_lists(tmp_path: Path, inner: str, text: str) -> None:
    assert reading_of(tmp_path, paragraph(inner=inner + run(" Post"))).texts() == [text]


def test_headers_and_footers_are_kept_once_as_page_furniture(tmp_path: Path) -> None:
    parts = {
        "header1.xml": f"<w:hdr {NAMESPACES}>{paragraph('Confidential')}</w:hdr>",
        "header2.xml": f"<w:hdr {NAMESPACES}>{paragraph('Confidential')}</w:hdr>",
        "footer1.xml": f"<w:ftr {NAMESPACES}>{paragraph('Page 1')}</w:ftr>",
    }
    links = {"r1": ("header", "header1.xml"), "r2": ("header", "header2.xml"), "r3": ("footer", "footer1.xml")}
    reading = reading_of(tmp_path, paragraph("Body"), parts, links)
    assert [(e.type, e.text) for e in reading.elements] == [
        (ElementType.HEADER, "Confidential"),
        (ElementType.PARAGRAPH, "Body"),
        (ElementType.FOOTER, "Page 1"),
    ]


def test_tracked_changes_are_read_as_accepted(tmp_path: Path) -> None:
    price = blocks(
        run("The price is "),
        "<w:del><w:r><w:delText>10</w:delText></w:r></w:del>",
        f"<w:ins>{run('12')}</w:ins>",
        run(" euros."),
        f"<w:moveFrom>{run('gone')}</w:moveFrom><w:moveTo>{run(' moved')}</w:moveTo>",
    )
    assert reading_of(tmp_path, paragraph(inner=price)).text == "The price is 12 euros. moved"


def test_hidden_text_is_left_out_and_noted(tmp_path: Path) -> None:
    body = paragraph(inner=run("Shown") + "<w:r><w:rPr><w:vanish/></w:rPr><w:t>secret</w:t></w:r>")
    reading = reading_of(tmp_path, body)
    assert reading.text == "Shown"
    assert "6 characters of hidden text" in reading.notes()


def test_fields_links_special_characters_and_ruby(tmp_path: Path) -> None:
    field = (
        '<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText> HYPERLINK "https://example.com/f" </w:instrText></w:r>'
        '<w:r><w:fldChar w:fldCharType="separate"/></w:r>'
        + run("field")
        + '<w:r><w:fldChar w:fldCharType="end"/></w:r>'
    )
    link = f'<w:hyperlink r:id="r9">{run("link")}</w:hyperlink>'
    bad = f'<w:hyperlink r:id="r8">{run("bad")}</w:hyperlink>'
    special = "<w:r><w:t>non</w:t><w:noBreakHyphen/><w:t>stop</w:t><w:tab/><w:t>tab</w:t><w:br/><w:t>line</w:t></w:r>"
    symbol = '<w:r><w:sym w:font="Symbol" w:char="F061"/></w:r><w:r><w:sym w:font="Wingdings" w:char="F0E0"/></w:r>'
    ruby = "<w:r><w:ruby><w:rt><w:r><w:t>kana</w:t></w:r></w:rt><w:rubyBase><w:r><w:t>漢字</w:t></w:r></w:rubyBase></w:ruby></w:r>"
    links = {"r9": ("hyperlink", "https://example.com/h"), "r8": ("hyperlink", "javascript:alert(1)")}
    body = paragraph(inner=field + link + bad) + paragraph(inner=special) + paragraph(inner=symbol + ruby)
    reading = reading_of(tmp_path, body, links=links)
    assert reading.texts() == ["fieldlinkbad", "non-stop\ttab\nline", "α漢字"]
    found: Any = reading.elements[0].metadata["links"]
    assert [link["href"] for link in found] == ["https://example.com/f", "https://example.com/h"]


def test_text_boxes_are_read_once_after_their_paragraph(tmp_path: Path) -> None:
    box = "<w:txbxContent>" + paragraph("Boxed") + "</w:txbxContent>"
    both = f"<w:r><mc:AlternateContent><mc:Choice Requires='wps'><w:drawing><wps:txbx>{box}</wps:txbx></w:drawing></mc:Choice><mc:Fallback><w:pict><v:textbox>{box}</v:textbox></w:pict></mc:Fallback></mc:AlternateContent></w:r>"
    assert reading_of(tmp_path, paragraph(inner=run("Before") + both + run(" after"))).texts() == [
        "Before after",
        "Boxed",
    ]


def test_large_pictures_are_kept_small_ones_counted_and_repeated_ones_read_once(tmp_path: Path) -> None:
    large, small = picture(40), picture(1)
    body = (
        paragraph("Part", "berschrift1")
        + paragraph(inner=drawing(blip("r1"), "A diagram"))
        + paragraph(inner=drawing(blip("r1"), "A diagram"))
    )
    body += (
        paragraph(inner=drawing(blip("r2")))
        + paragraph(inner=drawing(blip("r3")))
        + paragraph(inner=drawing('<a:blip r:link="r4"/>'))
    )
    links = {
        "r1": ("image", "media/1.png"),
        "r2": ("image", "media/2.png"),
        "r3": ("image", "media/3.emf"),
        "r4": ("image", "https://example.com/x.png"),
    }
    parts = {
        "media/1.png": large,
        "media/2.png": small,
        "media/3.emf": b"\x01\0\0\0" + b"\0" * 36 + b" EMF" + b"\0" * 60,
    }
    reading = reading_of(tmp_path, body, parts, links)
    images = reading.of(ElementType.IMAGE)
    assert [(e.text, e.blob, e.locator.headings) for e in images] == [("A diagram", "image-0.png", ("Part",))]
    blob = reading.summary.blobs[0]
    assert (reading.folder / blob.path).read_bytes().startswith(b"\x89PNG")
    for note in ("1 picture smaller than 30 KB", "EMF drawing", "not in the file"):
        assert note in reading.notes()
    assert not reading_of(tmp_path, body, parts, links, extract_images=False).summary.blobs


def test_the_text_in_a_picture_is_read_with_its_confidence(tmp_path: Path) -> None:
    body = paragraph(inner=drawing(blip("r1")))
    reading = reading_of(
        tmp_path, body, {"media/1.png": picture(text="Invoice 4711")}, {"r1": ("image", "media/1.png")}, ocr=True
    )
    image = reading.of(ElementType.IMAGE)[0]
    assert "4711" in image.text
    assert image.confidence is not None
    assert image.confidence > 0.8
    assert reading.summary.coverage.units[0].ocr_share == 1.0


def test_a_chart_gives_its_title_and_its_data_as_a_table(tmp_path: Path) -> None:
    body = paragraph(inner=drawing('<c:chart r:id="r1"/>'))
    parts = {"charts/chart1.xml": chart("Sales", ["Q1", "Q2"], {"North": [1.5, 2], "South": [3, 4]})}
    reading = reading_of(tmp_path, body, parts, {"r1": ("chart", "charts/chart1.xml")})
    assert reading.texts(ElementType.CAPTION) == ["Sales"]
    assert reading.of(ElementType.TABLE)[0].grid == (("", "North", "South"), ("Q1", "1.5", "3"), ("Q2", "2", "4"))


def test_equations_become_latex(tmp_path: Path) -> None:
    def r(text: str) -> str:
        return f"<m:r><m:t>{text}</m:t></m:r>"

    root = f"<m:rad><m:deg/><m:e><m:sSup><m:e>{r('b')}</m:e><m:sup>{r('2')}</m:sup></m:sSup>{r('-4ac')}</m:e></m:rad>"
    fraction = f"<m:f><m:num>{r('-b±')}{root}</m:num><m:den>{r('2a')}</m:den></m:f>"
    total = f"<m:nary><m:naryPr><m:chr m:val='∑'/></m:naryPr><m:sub>{r('i=1')}</m:sub><m:sup>{r('n')}</m:sup><m:e>{r('i')}</m:e></m:nary>"
    matrix = f"<m:d><m:dPr><m:begChr m:val='['/><m:endChr m:val=']'/></m:dPr><m:e><m:m><m:mr><m:e>{r('1')}</m:e><m:e>{r('0')}</m:e></m:mr></m:m></m:e></m:d>"
    body = paragraph(inner=run("So ") + f"<m:oMath>{r('x=')}{fraction}</m:oMath>") + paragraph(
        inner=f"<m:oMathPara><m:oMath>{total}{matrix}</m:oMath></m:oMathPara>"
    )
    reading = reading_of(tmp_path, body)
    assert reading.elements[0].text == r"So $x=\frac{-b±\sqrt{b^{2}-4ac}}{2a}$"
    assert reading.elements[1].text == r"$\sum_{i=1}^{n} i[\begin{matrix}1 & 0\end{matrix}]$"


def test_rendered_page_breaks_tell_the_page_of_each_element(tmp_path: Path) -> None:
    body = blocks(
        paragraph("one"),
        paragraph(inner=run("begins here") + RENDERED_BREAK + run(" and ends there")),
        paragraph(inner=PAGE_BREAK),
        paragraph(inner=RENDERED_BREAK + run("three")),
        paragraph("still three"),
    )
    reading = reading_of(tmp_path, body)
    assert [(e.text, e.locator.page, e.locator.pages) for e in reading.elements] == [
        ("one", 1, ()),
        ("begins here and ends there", 1, (1, 2)),
        ("three", 3, ()),
        ("still three", 3, ()),
    ]
    assert [(unit.unit, unit.number) for unit in reading.summary.coverage.units] == [("page", 1), ("page", 3)]


def test_section_breaks_count_as_their_following_section_says(tmp_path: Path) -> None:
    def section(kind: str) -> str:
        return f'<w:sectPr><w:type w:val="{kind}"/></w:sectPr>'

    body = blocks(
        paragraph("a", properties=section("nextPage")),
        paragraph(inner=RENDERED_BREAK + run("b"), properties=section("nextPage")),
        paragraph("c", properties=section("continuous")),
        paragraph("d"),
        section("oddPage"),
    )
    assert [(e.text, e.locator.page) for e in reading_of(tmp_path, body).elements] == [
        ("a", 1),
        ("b", 2),
        ("c", 2),
        ("d", 3),
    ]


def test_explicit_breaks_alone_tell_pages_only_while_no_page_can_flow_over(tmp_path: Path) -> None:
    short = paragraph("one") + paragraph(inner=PAGE_BREAK) + paragraph("two")
    assert [e.locator.page for e in reading_of(tmp_path, short).elements] == [1, 2]
    long = paragraph("word " * 2_000) + paragraph(inner=PAGE_BREAK) + paragraph("after")
    assert [e.locator.page for e in reading_of(tmp_path, long).elements] == [None, None]


def test_embedded_files_become_children(tmp_path: Path) -> None:
    reading = reading_of(
        tmp_path,
        paragraph("x"),
        {"embeddings/Sheet1.xlsx": b"PK workbook"},
        {"r1": ("package", "embeddings/Sheet1.xlsx")},
    )
    assert reading.child("Sheet1.xlsx") == b"PK workbook"


def test_a_strict_document_is_read_like_a_transitional_one(tmp_path: Path) -> None:
    data = docx(paragraph("Head", "berschrift1") + paragraph("Text"), strict=True)
    reading = read_bytes(tmp_path, "a.docx", data)
    assert [(e.type, e.text) for e in reading.elements] == [
        (ElementType.TITLE, "Head"),
        (ElementType.PARAGRAPH, "Text"),
    ]


def test_a_document_of_another_program_is_read_too(tmp_path: Path) -> None:
    document = python_docx.Document()
    document.add_heading("Policy", 1)
    document.add_paragraph("Loans need two signatures.")
    document.add_paragraph("First", style="List Number")
    document.add_paragraph("dot", style="List Bullet")
    table = document.add_table(2, 2)
    table.cell(0, 0).text = "Name"
    table.cell(1, 1).text = "42"
    document.save(str(tmp_path / "a.docx"))
    reading = read(tmp_path / "a.docx")
    assert reading.texts(ElementType.TITLE, ElementType.PARAGRAPH) == ["Policy", "Loans need two signatures."]
    assert reading.texts(ElementType.LIST_ITEM) == ["1. First", "dot"]
    assert reading.of(ElementType.TABLE)[0].grid == (("Name", ""), ("", "42"))


@pytest.mark.parametrize("damage", ["cut", "no-main", "not-xml", "entities", "external"])
def test_a_damaged_or_hostile_document_is_refused_with_a_reason(damage: str, tmp_path: Path) -> None:
    whole = docx(paragraph("x"))
    secret = tmp_path / "secret.txt"
    secret.write_text("do not read me")
    laughs = "".join(f'<!ENTITY l{i} "{f"&l{i - 1};" * 10 if i else "lol"}">' for i in range(10))
    bodies = {
        "not-xml": "<w:document",
        "entities": f"<!DOCTYPE x [{laughs}]><w:document {NAMESPACES}><w:body><w:p><w:r><w:t>&l9;</w:t></w:r></w:p></w:body></w:document>",
        "external": f'<!DOCTYPE x [<!ENTITY e SYSTEM "{secret.as_uri()}">]><w:document {NAMESPACES}><w:body><w:p><w:r><w:t>&e;</w:t></w:r></w:p></w:body></w:document>',
    }
    links = relationships_part({"r1": ("officeDocument", "word/document.xml")})
    data = {
        "cut": whole[: len(whole) * 2 // 3],
        "no-main": package({"[Content_Types].xml": "<Types/>", "word/other.xml": "<a/>"}),
    }.get(damage) or package(
        {"[Content_Types].xml": "<Types/>", "_rels/.rels": links, "word/document.xml": bodies[damage]}
    )
    with pytest.raises(CorruptFile):
        read_bytes(tmp_path, "a.docx", data)


def test_a_document_that_unpacks_beyond_the_ratio_is_refused(tmp_path: Path) -> None:
    data = docx(paragraph(" " * 30_000_000))
    assert len(data) < 100_000
    with pytest.raises(LimitExceeded):
        read_bytes(tmp_path, "a.docx", data)


def test_a_damaged_side_part_costs_only_itself(tmp_path: Path) -> None:
    reading = reading_of(
        tmp_path, paragraph("Body"), {"comments.xml": "<w:comments"}, {"r1": ("comments", "comments.xml")}
    )
    assert reading.text == "Body"
    assert "comments.xml is damaged" in reading.notes()


def _bold(text: str) -> str:
    return f"<w:p><w:r><w:rPr><w:b/></w:rPr><w:t>{text}</w:t></w:r></w:p>"


def test_a_paragraph_in_bold_type_over_one_that_is_not_is_its_heading(tmp_path: Path) -> None:
    body = (
        _bold("How do I claim?")
        + paragraph("Send the form.")
        + _bold("Do not send receipts.")
        + paragraph("Keep them.")
    )
    reading = reading_of(tmp_path, body + _bold("Ada Reed") + _bold("Treasurer"))
    assert reading.texts(ElementType.TITLE) == ["How do I claim?"]
    assert {e.text: e.locator.headings for e in reading.elements}["Send the form."] == ("How do I claim?",)


@pytest.mark.parametrize(
    ("properties", "pages"),
    [
        ("<Pages>3</Pages><Words>2</Words>", 3),
        ("<Pages>3</Pages>", 3),
        ("<Pages>1</Pages><Words>0</Words>", None),
        ("<Pages>many</Pages><Words>2</Words>", None),
        ("", None),
    ],
    ids=["laid out", "words not stated", "of a template", "no number", "nothing stated"],
)
def test_pages_are_those_that_a_program_laid_out_and_not_those_of_a_template(
    tmp_path: Path, properties: str, pages: int | None
) -> None:
    file = with_extended_properties(docx(paragraph("Two words.")), properties)
    reading = read_bytes(tmp_path, "a.docx", file)
    assert reading.summary.metadata.get("page_count") == pages
