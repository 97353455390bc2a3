"""What of a passage an answer can be made of."""

import pytest

from citewell.agent.statements import cut_statements

from .fakes import hit


def _shown(text: str) -> list[str]:
    found = cut_statements([hit(text)])
    assert all(text[c.start : c.end].split() == c.shown.split() for c in found if not c.row)
    return [candidate.shown for candidate in found]


def test_lines_of_a_table_of_contents_answer_nothing() -> None:
    contents = "3.1 Grace period ..................... 7\n3.2 Late payments . . . . . . . . . 9\nPreface……… iv\n"
    assert _shown(contents + "The grace period is five days.\n") == ["The grace period is five days."]
    assert _shown(contents) == []


@pytest.mark.parametrize(
    "text", ["He waited.... It took 5 years.", "Wait… what is that?", "It grew by 3... then by 4."]
)
def test_dots_alone_make_no_table_of_contents(text: str) -> None:
    assert " ".join(_shown(text)) == text


def test_a_table_between_sentences_becomes_rows() -> None:
    text = "Fees follow.\n| Loan | Fee |\n|---|---|\n| First | 20 |\nThey are paid once.\n"
    assert _shown(text) == ["Fees follow.", "Loan: First; Fee: 20", "They are paid once."]


def test_lines_of_a_list_without_bullets_are_statements_of_their_own() -> None:
    assert _shown("A mobile app\nFreight bookings\nA loyalty programme") == [
        "A mobile app",
        "Freight bookings",
        "A loyalty programme",
    ]


def test_lines_of_a_form_are_statements_of_their_own() -> None:
    assert _shown("Weekly meeting\nPresent: Ada, Ben\nAbsent: Cy") == [
        "Weekly meeting",
        "Present: Ada, Ben",
        "Absent: Cy",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "The harbour gate closes at\nnine in the evening",
        "This line of prose is far too long to be an item of a list, so\nIt goes on",
    ],
)
def test_lines_that_go_on_stay_together(text: str) -> None:
    assert _shown(text) == [" ".join(text.split())]


def test_prices_after_rows_of_dots_are_statements_without_the_dots() -> None:
    found = cut_statements([hit("Trout ............ 18\n\nSoup ............. 5\nTea . . . . . . . 4 EUR\n")])
    assert [statement.shown for statement in found] == ["Trout: 18", "Soup: 5", "Tea: 4 EUR"]


@pytest.mark.parametrize("second", ["| Plant | 2023 | 2024 |", "|  | North | South |"])
def test_two_header_rows_name_a_column_together(second: str) -> None:
    names = second.strip("| ").split(" | ")[-2:]
    text = f"| Plant | Litres | Litres |\n| --- | --- | --- |\n{second}\n| Tyne | 20 | 21 |\n"
    assert _shown(text) == [f"Plant: Tyne; Litres {names[0]}: 20; Litres {names[1]}: 21"]


def test_a_bar_inside_a_cell_is_part_of_it() -> None:
    assert _shown("| cmd | what |\n|---|---|\n| ps \\| wc | count |\n") == ["cmd: ps | wc; what: count"]
