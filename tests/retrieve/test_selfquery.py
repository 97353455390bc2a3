"""Filters from the query itself: the obvious cases, and what only looks like one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citewell.filters import conditions_in, validate_all
from citewell.retrieve.selfquery import read_by_rules
from citewell.types import Condition, Operator


def _conditions(query: str) -> list[Condition]:
    return list(conditions_in(one.expression for one in read_by_rules(query).filters))


def _fields(query: str) -> dict[str, object]:
    return {condition.field: condition.value for condition in _conditions(query)}


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("What does Loan Policy.pdf say about limits?", "loan policy.pdf"),
        ("summarise report-2024_v2.docx", "report-2024_v2.docx"),
        ('limits in "Finance Sheet (final).xlsx"', "finance sheet (final).xlsx"),
        ("Was steht in Kreditrichtlinie.PDF?", "kreditrichtlinie.pdf"),
        ("notes.txt: who is responsible?", "notes.txt"),
    ],
)
def test_a_file_named_with_its_extension_is_a_filter(query: str, name: str) -> None:
    names = _fields(query)["filename"]
    assert isinstance(names, tuple)
    assert name in names


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("what is on page 3?", [Condition("page", Operator.EQ, 3)]),
        ("the table from pages 2-4", [Condition("page", Operator.GTE, 2), Condition("page", Operator.LTE, 4)]),
        ("die Tabelle auf Seite 7", [Condition("page", Operator.EQ, 7)]),
        ("the chart on slide 7", [Condition("slide", Operator.EQ, 7)]),
        ('total in sheet "Loans"', [Condition("sheet", Operator.EQ, "Loans")]),
        ("the name in row 12", [Condition("row", Operator.EQ, 12)]),
        ("is it mentioned in my PDFs?", [Condition("extension", Operator.IN, ("pdf",))]),
    ],
)
def test_a_place_named_as_a_place_is_a_filter(query: str, expected: list[Condition]) -> None:
    assert _conditions(query) == expected


@pytest.mark.parametrize(
    "query",
    [
        "How do I edit a PDF file?",
        "What is a landing page?",
        "see https://example.org/docs/index.html",
        "write to jane@example.py",
        "front row seats",
        "the 3 pages of the report",
        "who made the cover page 1990 edition",
        "node.js and next.js",
        "a clean sheet of paper",
        "spreadsheets in general",
    ],
)
def test_what_only_looks_like_a_filter_is_none(query: str) -> None:
    assert read_by_rules(query).filters == ()


@given(
    st.text()
    | st.lists(
        st.sampled_from(["on", "page", "99999", "a.pdf", "sheet", '"x"', "row", "-", "in", "my", "pdfs", "\x00"])
    ).map(" ".join)
)
def test_whatever_is_inferred_is_allowed(query: str) -> None:
    found = read_by_rules(query).filters
    validate_all([one.expression for one in found])
    assert len({one.id for one in found}) == len(found)


def test_a_filter_is_named_by_its_field_and_labelled_in_words() -> None:
    page, sheet = read_by_rules('total on pages 4 to 2 in sheet "Loans"').filters
    assert (page.id, page.label, page.words) == ("page", "page: 2 to 4", "on pages 4 to 2")
    assert (sheet.id, sheet.label, sheet.words) == ("sheet", "sheet: Loans", 'sheet "Loans"')


def test_filters_are_left_out_by_their_field_or_all() -> None:
    query = 'total on page 4 in sheet "Loans"'
    assert [one.id for one in read_by_rules(query, ["page", "row"]).filters] == ["sheet"]
    assert read_by_rules(query, True).filters == ()
