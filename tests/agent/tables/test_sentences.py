"""The sentences of table answers: units from headers, verbs that agree, names in a row."""

from __future__ import annotations

from datetime import date

import pytest

from citewell.agent.tables.language.links import unit_of
from citewell.agent.tables.language.sentences import at, figure, highest, joined, marked, title, verb_of


@pytest.mark.parametrize(
    ("value", "column", "text"),
    [
        (82_750, "Expenses (GHS)", "GHS 82,750"),
        (12.5, "Price ($)", "$12.50"),
        (18, "Term (months)", "18 months"),
        (45, "Share (%)", "45%"),
        (120, "Speed (km/h)", "120 km/h"),
        (7, "Population (2001 census)", "7"),
        (7, "Goals", "7"),
        ("about 7", "Term (months)", "about 7"),
        (None, "Term (months)", ""),
        (date(2024, 1, 15), "Disbursed", "2024-01-15"),
    ],
)
def test_a_figure_has_the_unit_of_its_column(value: object, column: str, text: str) -> None:
    assert figure(value, column) == text


@pytest.mark.parametrize(
    ("column", "verb"),
    [
        ("Expenses (GHS)", "were"),
        ("Gross sales", "were"),
        ("Crew", "was"),
        ("Status", "was"),
        ("Mass", "was"),
        ("", "was"),
    ],
)
def test_the_verb_agrees_with_the_last_word_of_the_header(column: str, verb: str) -> None:
    assert verb_of(column) == verb


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("Q4 2025", "in Q4 2025"),
        ("2019", "in 2019"),
        ("2019-20", "in 2019-20"),
        ("March 2020", "in March 2020"),
        ("14 June 2005", "on 14 June 2005"),
        ("2005-06-14", "on 2005-06-14"),
        ("Accra", "for Accra"),
        ("Marchetti 2", "for Marchetti 2"),
    ],
)
def test_periods_days_and_names_have_their_own_preposition(name: str, text: str) -> None:
    assert at(name) == text


def test_a_column_loses_only_the_unit_that_its_figures_have() -> None:
    assert [title(name) for name in ("Expenses (GHS)", "Sales (2)", "Name (English)", "Crew")] == [
        "Expenses",
        "Sales (2)",
        "Name (English)",
        "Crew",
    ]


def test_names_in_a_row() -> None:
    assert [joined(names) for names in (["a"], ["a", "b"], ["a", "b", "c"])] == ["a", "a and b", "a, b and c"]


def test_one_name_has_its_marker_at_the_end_of_the_sentence_and_several_have_theirs_beside_them() -> None:
    assert marked(["a"], [" [1]"]) == ("a", " [1]")
    assert marked(["a", "b"], [" [1]", " [2]"]) == ("a [1] and b [2]", "")
    assert (
        highest("Expenses (GHS)", "highest", ["2019"], [" [1]"], "GHS 5", "")
        == "Expenses were highest in 2019: GHS 5 [1]"
    )
    assert highest("Crew", "lowest", ["Pra", "Adda"], [" [1]", " [2]"], "88", " where Port is Tema") == (
        "Crew was lowest where Port is Tema, 88, for Pra [1] and Adda [2]"
    )


def test_the_unit_is_what_stands_in_the_last_parentheses() -> None:
    assert [unit_of(name) for name in ("Length (m)", "Sales [GHS]", "Share (of 10) (%)", "Crew", "(m) Length")] == [
        "m",
        "GHS",
        "%",
        "",
        "",
    ]
