"""Line breaks that end something, and those of wrapped prose."""

from __future__ import annotations

import pytest

from citewell.text.lines import leads_to_value, line_ends
from citewell.text.sentences import sentences


@pytest.mark.parametrize(
    "text",
    [
        "ferry leaves at 06:45 from pier 5\nback on Tuesday, lands at 22:10\nhostel: Old Mill, booking QX7, paid 620 EUR for four nights",
        "Place: Room Aurora\nPresent: Ada, Ben, and all of the others who had been asked to come\nAbsent: Cy",
        "4. Hiring\nThe board heard the report of the office.",
        "§ 4 Deposit\nThe tenant pays a deposit of three months' rent.",
        "Ada: did the plumber come?\nBen: yes\nAda: and what did he say of the boiler in the cellar?",
        "Data takes longer than planned (high)\nKey user is away until April (low)\nSupplier has no experience yet (low)",
        "rail travel in second class\nflights, if the journey by rail takes more than five hours\nhotels up to EUR 160",
        "port: 8443\nreplicas: 3\nhost: db-2",
    ],
)
def test_lines_that_had_room_for_more_or_begin_with_a_label_are_parted(text: str) -> None:
    assert sentences(text) == text.split("\n")


WRAPPED = (
    "The harbour opens at six in the morning, and its gate is shut again\n"
    "at nine in the evening unless a ship of the line is expected by the\n"
    "Harbour Master, who then keeps the gate open for as long as he likes\n"
    "to."
)


def test_prose_that_was_wrapped_goes_on() -> None:
    assert line_ends(WRAPPED) == []


@pytest.mark.parametrize(
    "text",
    [
        "Der Vertrag wird auf unbestimmte Zeit geschlossen und kann von jeder\n"
        "Partei mit einer Frist von drei Monaten zum Ende eines Kalenderjahres\n"
        "Gültigkeit und ohne Angabe von Gründen gekündigt werden.",
        "The price is fixed for the first two years. It may be raised after\n"
        "January of the third year under one of the following two\n"
        "conditions: the index has risen, or the tenant has agreed to it.",
    ],
)
def test_prose_goes_on_where_its_lines_begin_with_capitals_or_look_like_labels(text: str) -> None:
    assert line_ends(text) == []


@pytest.mark.parametrize(
    "text", ["closes at\nnine in the evening", "Der Hafen gehört der Stadt und nicht dem\nLand.", "", "\n", "one line"]
)
def test_two_lines_of_which_the_first_is_full_or_the_second_goes_on_are_one(text: str) -> None:
    assert line_ends(text) == []


def test_a_heading_over_wrapped_prose_ends() -> None:
    assert sentences(f"3. Opening hours\n{WRAPPED}") == ["3. Opening hours", WRAPPED]


@pytest.mark.parametrize(
    "line",
    [
        "Deposit ........ 300 EUR",
        "Index . . . . . 27",
        "Tea ... 3.50",
        "Beer…………… 3,20 €",
        "Fee.......12",
        "Wine····· 5,10",
    ],
)
def test_a_row_of_dots_leads_to_a_value(line: str) -> None:
    assert leads_to_value(line)
    assert sentences(f"{line} Next") == [f"{line} Next"]


@pytest.mark.parametrize(
    "line", ["Well.... Then he left.", "I think... Yes", "The end.", "Wait......", "...... 300", "see p. 3"]
)
def test_an_ellipsis_leads_to_no_value(line: str) -> None:
    assert not leads_to_value(line)
