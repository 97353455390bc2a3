"""Markdown, notebooks, XML, SVG and source code."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from citewell.errors import CorruptFile, LimitExceeded
from citewell.extract.core.safexml import without_doctype
from citewell.extract.formats.code import pieces
from citewell.types import ElementType
from tests.depth import examples
from tests.extract.documents.office import picture
from tests.extract.documents.reading import read_bytes
from tests.extract.documents.seeds import MARKDOWN


def test_markdown_becomes_elements_with_their_spans(tmp_path: Path) -> None:
    reading = read_bytes(tmp_path, "a.md", MARKDOWN)
    assert [(e.type.value, e.text, e.level) for e in reading.elements] == [
        ("code", "title: My notes", None),
        ("title", "Top", 1),
        ("paragraph", "Some text with code and a link. Second line.", None),
        ("title", "Inner", 2),
        ("list_item", "a", 1),
        ("list_item", "b", 2),
        ("list_item", "[c](javascript:x)", 1),
        ("list_item", "3. x", 1),
        ("list_item", "4. y", 1),
        ("table", "| k | v |\n| --- | --- |\n| a | 1 |", None),
        ("code", 'print("hi")', None),
        ("code", "indented", None),
        ("paragraph", "In HTML", None),
        ("paragraph", "quoted", None),
        ("title", "Setext", 1),
        ("paragraph", "last a picture", None),
    ]
    spans = {e.text: MARKDOWN[e.locator.char_start : e.locator.char_end] for e in reading.elements}
    assert spans["Top"] == "# Top"
    assert spans["b"] == "- b" or spans["b"] == "b"
    assert spans["quoted"] == "> quoted"
    assert reading.elements[4].locator.headings == ("Top", "Inner")
    assert reading.summary.metadata["front_matter"] == {"title": "My notes"}


def test_a_nested_list_number_goes_on_after_an_inner_list(tmp_path: Path) -> None:
    reading = read_bytes(tmp_path, "a.md", "1. one\n   1. inner\n   2. inner too\n2. two\n")
    assert reading.texts() == ["1. one", "1. inner", "2. inner too", "2. two"]


@given(
    lines=st.lists(
        st.sampled_from(
            ["# h", "text *a*", "- item", "", "| a |", "|---|", "> q", "```", "<b>", "\ttab", "1. n", "ü—字"]
        ),
        max_size=20,
    ),
    end=st.sampled_from(["\n", "\r\n", "\r"]),
)
@settings(
    max_examples=examples(80),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    deadline=None,
)
def test_markdown_spans_stay_within_the_text_whatever_the_line_ends(
    lines: list[str], end: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    text = end.join(lines)
    reading = read_bytes(tmp_path_factory.mktemp("md"), "a.md", text)
    for element in reading.elements:
        start, stop = element.locator.char_start, element.locator.char_end
        assert start is not None
        assert stop is not None
        assert 0 <= start <= stop <= len(text)
        words = [word for word in element.text.replace("|", " ").split() if word.isalpha()]
        assert all(word in text[start:stop] for word in words)


def test_a_notebook_gives_prose_code_and_output(tmp_path: Path) -> None:
    cells = [
        {"cell_type": "markdown", "source": ["# Study\n", "Some words."]},
        {"cell_type": "code", "source": "print(1)", "outputs": [{"output_type": "stream", "text": ["1\n"]}]},
        {
            "cell_type": "code",
            "source": "df",
            "outputs": [
                {"data": {"text/html": "<table><tr><th>a</th></tr><tr><td>7</td></tr></table>", "text/plain": "a 7"}}
            ],
        },
        {
            "cell_type": "code",
            "source": "plot()",
            "outputs": [{"data": {"image/png": base64.b64encode(picture(40)).decode(), "text/plain": "<Figure>"}}],
        },
        {"cell_type": "code", "source": "1/0", "outputs": [{"output_type": "error", "evalue": "division by zero"}]},
        "odd",
    ]
    notebook = {"cells": cells, "metadata": {"kernelspec": {"language": "python"}}, "nbformat": 4}
    reading = read_bytes(tmp_path, "a.ipynb", json.dumps(notebook))
    assert reading.texts(ElementType.TITLE, ElementType.PARAGRAPH) == ["Study", "Some words."]
    assert reading.texts(ElementType.CODE) == ["print(1)", "1\n", "df", "plot()", "1/0", "division by zero"]
    assert reading.of(ElementType.TABLE)[0].grid == (("a",), ("7",))
    assert reading.of(ElementType.IMAGE)[0].blob is not None
    assert all(e.locator.headings == ("Study",) for e in reading.elements[1:])


@pytest.mark.parametrize("data", ['{"nbformat": 4}', '{"cells": [', "[" * 100_000])
def test_a_notebook_that_is_none_is_refused(data: str, tmp_path: Path) -> None:
    with pytest.raises(CorruptFile):
        read_bytes(tmp_path, "a.ipynb", data)


def test_xml_records_become_named_lines_under_their_path(tmp_path: Path) -> None:
    data = '<catalog><book id="b1"><author>Ann</author><price currency="EUR">5</price></book><book id="b2"><author>Bob</author></book></catalog>'
    reading = read_bytes(tmp_path, "a.xml", data)
    assert reading.texts() == ["id: b1\nauthor: Ann\nprice currency: EUR\nprice: 5", "id: b2\nauthor: Bob"]
    assert reading.elements[0].locator.headings == ("catalog", "book")


def test_xml_prose_becomes_paragraphs_under_its_titles(tmp_path: Path) -> None:
    long = "Many words. " * 30
    data = f"<article><title>Main</title><section><title>First</title><p>Some <b>bold</b> text, <i>and</i> more.</p><p>{long}</p></section></article>"
    reading = read_bytes(tmp_path, "a.xml", data)
    assert [(e.type.value, e.text) for e in reading.elements][:2] == [("title", "Main"), ("title", "First")]
    assert "p: Some bold text, and more." in reading.texts()
    assert long.strip() in reading.texts()
    assert reading.elements[-1].locator.headings == ("Main", "First")


def test_a_feed_with_html_inside_is_read_without_the_markup(tmp_path: Path) -> None:
    data = "<rss><channel><title>Blog</title><item><title>News</title><description>&lt;p&gt;It &lt;b&gt;is&lt;/b&gt; true&lt;/p&gt;</description></item></channel></rss>"
    reading = read_bytes(tmp_path, "a.xml", data)
    assert "description: It is true" in reading.texts()
    assert reading.texts(ElementType.TITLE) == ["Blog", "News"]


def test_entities_are_never_expanded_and_nothing_outside_is_read(tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("do not read me")
    laughs = "".join(f'<!ENTITY l{i} "{f"&l{i - 1};" * 10 if i else "lol"}">' for i in range(12))
    for subset in (laughs, f'<!ENTITY l9 SYSTEM "{secret.as_uri()}">', f'<!ENTITY % p SYSTEM "{secret.as_uri()}"> %p;'):
        reading = read_bytes(
            tmp_path, "a.xml", f'<?xml version="1.0"?><!DOCTYPE r [{subset}]><r><a>x &l9; y</a><b c="&l9;">z</b></r>'
        )
        assert "do not read" not in reading.text
        assert "lol" not in reading.text
        assert len(reading.text) < 100
        assert "were not expanded" in reading.notes()


def test_damaged_xml_is_read_as_far_as_possible_with_a_warning(tmp_path: Path) -> None:
    reading = read_bytes(tmp_path, "a.xml", "<r><a>one</a><b>two</c><d>&undeclared; three</d>")
    assert "one" in reading.text
    assert "three" in reading.text
    assert "damaged" in reading.notes()
    assert "undeclared" in reading.notes()


def test_what_is_no_xml_is_read_as_text_with_a_warning(tmp_path: Path) -> None:
    reading = read_bytes(tmp_path, "a.xml", "<?xml version='1.0'?>\nonly words")
    assert "only words" in reading.text
    assert "not well-formed" in reading.notes()


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "windows-1251"])
def test_xml_in_its_declared_encoding(encoding: str, tmp_path: Path) -> None:
    data = f'<?xml version="1.0" encoding="{encoding}"?><r><a>Слово</a></r>'.encode(encoding)
    assert read_bytes(tmp_path, "a.xml", data).text == "a: Слово"


@pytest.mark.full
def test_a_deep_or_endless_xml_is_read_within_limits(tmp_path: Path) -> None:
    deep = read_bytes(tmp_path, "a.xml", "<r>" + "<a>" * 50_000 + "x" + "</a>" * 50_000 + "</r>")
    assert deep.summary.detected.label == "xml"
    wide = read_bytes(tmp_path, "b.xml", "<r>" + "".join(f"<a>value {i}</a>" for i in range(50_000)) + "</r>")
    assert sum(len(e.text.splitlines()) for e in wide.elements) == 50_000
    assert max(len(e.text) for e in wide.elements) < 3_000


def test_mixed_content_without_end_is_emitted_piece_by_piece(tmp_path: Path) -> None:
    reading = read_bytes(tmp_path, "a.xml", "<r>start " + "word <b>bold</b> " * 20_000 + "</r>")
    assert len(reading.elements) > 10
    assert reading.text.split().count("bold") == 20_000


@pytest.mark.parametrize(
    ("text", "rest", "declares"),
    [
        ("<a/>", "<a/>", False),
        ("<?xml version='1.0'?><!-- c --><!DOCTYPE a><a/>", "<?xml version='1.0'?><!-- c --><a/>", False),
        ('<!DOCTYPE a [<!ENTITY x "]>"><!-- ]> --><?p ]>?>]><a/>', "<a/>", True),
        ("<!doctype a SYSTEM 'x>y'><a/>", "<a/>", False),
    ],
)
def test_the_document_type_declaration_is_cut_out(text: str, rest: str, declares: bool) -> None:
    assert without_doctype(text) == (rest, declares)


@pytest.mark.parametrize("inside", ["<!ENTITY x 'y'>" * 10, "<!--" * 200_000, '"' * 200_001, "<?" * 200_000])
def test_a_declaration_without_end_is_refused_at_once(inside: str) -> None:
    with pytest.raises(LimitExceeded):
        without_doctype("<!DOCTYPE a [" + inside)


def test_svg_gives_its_texts_and_follows_nothing(tmp_path: Path) -> None:
    data = """<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="100"><title>Diagram</title><desc>A flow</desc>
    <script>alert(1)</script><style>text{}</style><g><text x="1">Start <tspan>here</tspan><tspan x="1" dy="2">next</tspan></text></g>
    <image href="http://169.254.169.254/latest"/><use xlink:href="#local"/><foreignObject><p xmlns="http://www.w3.org/1999/xhtml">In HTML</p></foreignObject></svg>"""
    reading = read_bytes(tmp_path, "a.svg", data)
    assert reading.texts() == ["Diagram", "A flow", "Start here next", "In HTML"]
    assert "http://169.254.169.254/latest was not followed" in reading.notes()
    assert "script" in reading.notes()
    assert reading.summary.metadata["width"] == "100"


def test_source_code_is_parted_between_its_blocks_at_exact_spans(tmp_path: Path) -> None:
    text = (
        "\n\n".join(f"def function_{i}(x):\n    y = x + {i}\n\n    return y  # {'c' * 60}" for i in range(200)) + "\n"
    )
    reading = read_bytes(tmp_path, "a.py", text)
    assert reading.summary.detected.label == "code"
    assert len(reading.elements) > 5
    for element in reading.elements:
        assert element.text.startswith("def ")
        assert text[element.locator.char_start : element.locator.char_end] == element.text


@given(st.text(alphabet="a \n\t{", max_size=400))
@settings(max_examples=examples(60), deadline=None)
def test_no_code_is_lost_between_pieces(text: str) -> None:
    found = list(pieces(text.splitlines(keepends=True)))
    assert all(text[start : start + len(piece)] == piece for start, piece in found)
    assert "".join("".join(piece.split()) for _, piece in found) == "".join(text.split())


def test_a_line_in_bold_type_over_a_text_is_its_heading(tmp_path: Path) -> None:
    text = "# Guide\n\n**How do I clean it?**\nFill the tank.\n\n**Prices**\n\n- Small: 3\n\n**Note:** keep it dry.\n"
    reading = read_bytes(tmp_path, "a.md", text)
    assert reading.texts(ElementType.TITLE) == ["Guide", "How do I clean it?", "Prices"]
    by_text = {element.text: element.locator.headings for element in reading.elements}
    assert by_text["Fill the tank."] == ("Guide", "How do I clean it?")
    assert by_text["Small: 3"] == ("Guide", "Prices")
    assert "Note: keep it dry." in by_text


@pytest.mark.parametrize(
    "text", ["**Do not open the lid.**\n\nIt is hot.\n", "**Last line**\n", "- **One**\n- **Two**\n"]
)
def test_bold_sentences_items_and_last_lines_are_no_headings(text: str, tmp_path: Path) -> None:
    assert read_bytes(tmp_path, "a.md", text).texts(ElementType.TITLE) == []
