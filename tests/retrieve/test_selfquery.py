"""Filters from the query itself: the obvious cases, and what only looks like one."""

from dataclasses import replace
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citewell.filters.language import validate_all
from citewell.retrieve.selfquery import read_by_rules
from citewell.types import AllOf, AnyOf, Condition, Negation, Operator, conditions_in
from tests.retrieve.queries_with_filters import CONTEXT, FIRST_HALF, SECOND_HALF


def _conditions(query: str) -> list[Condition]:
    return list(conditions_in(one.expression for one in read_by_rules(query, CONTEXT).filters))


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
    assert read_by_rules(query, CONTEXT).filters == ()


@given(
    st.text()
    | st.lists(
        st.sampled_from(
            [
                "photos",
                "tagged",
                "iso",
                "over",
                "camera",
                "A7",
                "from",
                "since",
                "31",
                "May",
                "2024",
                "yesterday",
                "14:00",
                "between",
                "and",
                "last",
                "week",
                "by",
                "Mensah",
                "not",
                "approved",
                "files",
                "timestamp",
                "0001-01-01",
                "on",
                "page",
                "99999",
                "a.pdf",
                "sheet",
                '"x"',
                "row",
                "-",
                "in",
                "my",
                "pdfs",
                "\x00",
            ]
        )
    ).map(" ".join)
)
def test_whatever_is_inferred_is_allowed(query: str) -> None:
    found = read_by_rules(query, CONTEXT).filters
    validate_all([one.expression for one in found])
    assert len({one.id for one in found}) == len(found)


def test_a_filter_is_named_by_its_field_and_labelled_in_words() -> None:
    page, sheet = read_by_rules('total on pages 4 to 2 in sheet "Loans"', CONTEXT).filters
    assert (page.id, page.label, page.words) == ("page", "page: 2 to 4", "on pages 4 to 2")
    assert (sheet.id, sheet.label, sheet.words) == ("sheet", "sheet: Loans", 'sheet "Loans"')


def test_filters_are_left_out_by_their_field_or_all() -> None:
    query = 'total on page 4 in sheet "Loans"'
    assert [one.id for one in read_by_rules(query, CONTEXT, ["page", "row"]).filters] == ["sheet"]
    assert read_by_rules(query, CONTEXT, True).filters == ()


@pytest.mark.parametrize(("half", "least"), [(FIRST_HALF, 1.0), (SECOND_HALF, 0.9)])
def test_the_filters_that_readers_see_are_found_and_few_others(
    half: tuple[tuple[str, dict[str, str], str], ...], least: float
) -> None:
    right = given = wanted = 0
    for query, expected, left in half:
        reading = read_by_rules(query, CONTEXT)
        found = {one.id: one.label for one in reading.filters}
        right += sum(found.get(field) == label for field, label in expected.items())
        given, wanted = given + len(found), wanted + len(expected)
        assert left.lower() in reading.semantic.lower()
    assert right / given >= least
    assert right / wanted >= least


def test_the_question_for_frames_becomes_filters_and_what_is_left_to_search_for() -> None:
    berlin = replace(CONTEXT, zone=ZoneInfo("Europe/Berlin"))
    reading = read_by_rules("Show me frames tagged 'outdoor' from last week showing a red car.", berlin)
    assert reading.semantic == "a red car"
    tag, time = reading.filters
    assert tag.expression == Condition("tag", Operator.EQ, "outdoor")
    assert (time.words, time.label) == ("from last week", "date: 2026-11-09 to 2026-11-15")
    first, last = "2026-11-08T23:00:00Z", "2026-11-15T23:00:00Z"
    undated = Negation(Condition("date", Operator.EXISTS, True))
    assert time.expression == AnyOf(
        (
            AllOf((Condition("date", Operator.GTE, first), Condition("date", Operator.LT, last))),
            AllOf(
                (
                    undated,
                    AllOf((Condition("uploaded_at", Operator.GTE, first), Condition("uploaded_at", Operator.LT, last))),
                )
            ),
        )
    )


def test_a_time_of_day_is_that_of_the_caller() -> None:
    new_york = replace(CONTEXT, zone=ZoneInfo("America/New_York"))
    (found,) = read_by_rules("frames with timestamp since 14:00 yesterday", new_york).filters
    assert found.expression == Condition("metadata.timestamp", Operator.GTE, "2026-11-17T19:00:00Z")


@pytest.mark.parametrize("query", ["photos with camera A7", "contracts with status: draft", "papers by author Mensah"])
def test_metadata_is_a_filter_only_where_files_have_it(query: str) -> None:
    assert len(read_by_rules(query, CONTEXT).filters) == 1
    assert read_by_rules(query, replace(CONTEXT, keys=())).filters == ()
