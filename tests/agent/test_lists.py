"""Lists that a question names, those that a statement announces, and items that stand under their heading."""

from __future__ import annotations

from dataclasses import replace

import pytest

from citewell.agent.extractive.answerer import ExtractiveAnswerer
from citewell.agent.extractive.headings import after_its_lead, under_its_heading
from citewell.agent.extractive.lists import (
    MAX_ITEMS,
    announced_items,
    find_named_items,
    find_named_list,
    whole_procedure,
)
from citewell.agent.statements import Statement, cut_statements
from citewell.agent.understand.question import read_question
from citewell.types import ChunkType, Hit, Locator
from tests.agent.fakes import WordEmbedder, hit

STAGES = hit(
    "| No. | Stage | Due | State |\n| --- | --- | --- | --- |\n| 1 | Survey | May | done |\n| 2 | Dredging | June | begun |\n"
    "| 3 | Piles | July | open |\n| 4 | Paving | August | open |",
    type=ChunkType.TABLE,
    headings=("New quay", "Stages"),
    filename="Quay plan.md",
)
RULINGS = hit(
    "2031-01-04: The quay is built of oak.\n2031-02-01: The crane stays. It is painted in spring.\n2031-03-09: The old wall is kept.",
    headings=("New quay", "Rulings"),
    ordinal=1,
    filename="Quay plan.md",
)
NOT_PLANNED = hit(
    "A petrol station\nWinter storage\nA second crane",
    headings=("New quay", "Not planned"),
    ordinal=2,
    filename="Quay plan.md",
)
PROSE = hit(
    "The quay is where it was\nbefore the storm came and",
    headings=("New quay", "Stages"),
    ordinal=3,
    filename="Quay plan.md",
)
ALL = (PROSE, NOT_PLANNED, RULINGS, STAGES)


def named(question: str, hits: tuple[Hit, ...] = ALL) -> list[str]:
    return [item.shown for item in find_named_list(read_question(question), hits)]


def announced(text: str, *beside: Hit, headings: tuple[str, ...] = ("Plans",)) -> list[str] | None:
    found = hit(text, headings=headings)
    items = announced_items(cut_statements([found])[0], [found, *beside])
    return items if items is None else [item.shown for item in items]


@pytest.mark.parametrize(
    "question", ["What are the stages?", "list all stages", "What are the stages of the new quay?"]
)
def test_every_row_of_the_table_that_a_question_names_is_an_item(question: str) -> None:
    assert [row.split("; ")[1] for row in named(question)] == [
        "Stage: Survey",
        "Stage: Dredging",
        "Stage: Piles",
        "Stage: Paving",
    ]


def test_lines_that_end_where_sentences_do_are_items() -> None:
    assert named("What are the rulings in the quay plan?")[1] == "2031-02-01: The crane stays. It is painted in spring."
    assert len(named("What are the rulings in the quay plan?")) == 3


def test_short_lines_are_items() -> None:
    assert named("What is not planned?") == ["A petrol station", "Winter storage", "A second crane"]


@pytest.mark.parametrize(
    "question",
    ["What are the costs?", "What are the stages of the old quay in Elmina?", "What were the stages in 2031?"],
)
def test_a_question_with_a_word_left_over_names_no_list(question: str) -> None:
    assert named(question) == []


def test_a_table_of_a_sheet_is_left_to_queries() -> None:
    chunk = replace(STAGES.chunk, locator=Locator(sheet="Stages", row=1, row_end=5, headings=("Stages",)))
    assert named("What are the stages?", (replace(STAGES, chunk=chunk),)) == []


def test_items_follow_the_line_that_announces_them() -> None:
    assert announced("In June we plan to:\n\n- dredge\n- drive piles\n\nThen we rest.") == ["- dredge", "- drive piles"]


def test_two_lines_may_announce_one_list() -> None:
    assert announced("Ducks eat this:\n\nAnd here it is:\n\n1. Leaves\n2. Berries") == ["1. Leaves", "2. Berries"]


def test_the_table_next_to_a_passage_is_what_its_last_line_announces() -> None:
    table = hit(STAGES.chunk.text, type=ChunkType.TABLE, headings=("Plans",), ordinal=1)
    far = hit(STAGES.chunk.text, type=ChunkType.TABLE, headings=("Plans",), ordinal=5)
    assert len(announced("We plan to:", table) or ()) == 4
    assert announced("We plan to:", far) == []


def test_a_line_that_announces_what_is_nowhere_has_no_items_and_a_sentence_none_to_have() -> None:
    assert announced("For this year, the port plans to:\n\nIt opened in May.") == []
    assert announced("It opened in May.") is None


@pytest.mark.parametrize(
    ("text", "item", "shown"),
    [
        ("The Licensee must not:\n\n1. rent the Software;\n2. copy it.", "copy it.", "The Licensee must not: copy it."),
        ("It is ours. The Licensee must not:\n- rent the Software;\n- copy it.", "rent the Software;", "The Licensee must not: rent the Software"),
        ("We will:\n- Copy it.", "Copy it.", "Copy it."),
        ("The port is ours.\n- rent it;", "rent it;", "rent it;"),
        ("rent it;", "rent it;", "rent it;"),
    ],
)  # fmt: skip
def test_an_item_that_goes_on_from_a_line_is_shown_after_it(text: str, item: str, shown: str) -> None:
    start = text.index(item)
    statement = Statement(hit(text), 0, start, start + len(item), item, "")
    assert after_its_lead(statement).shown == shown


def under(question: str, shown: str, heading: str, *, first: bool = True) -> str:
    found = hit(shown, headings=(heading,), filename="Quay plan.md")
    statement = Statement(found, 0, 0, len(shown), shown, heading)
    return under_its_heading(read_question(question), statement, first=first).shown


def test_a_bare_phrase_is_shown_under_its_heading() -> None:
    assert (
        under("Is a petrol station planned?", "A petrol station", "3. Not planned") == "Not planned: A petrol station"
    )


def test_the_heading_that_alone_has_the_words_of_the_question_is_shown_with_the_first_statement() -> None:
    assert (
        under("Which insurance is needed?", "It covers five million.", "Insurance")
        == "Insurance: It covers five million."
    )
    assert under("Which insurance is needed?", "2. It covers five.", "Insurance") == "Insurance: It covers five."
    assert (
        under("Which insurance is needed?", "It covers five million.", "Insurance", first=False)
        == "It covers five million."
    )


@pytest.mark.parametrize(
    ("shown", "heading"),
    [
        ("The petrol station opens in May.", "Opening"),
        ("Signed for the port: Ada Reed", "Governing law"),
        ("It is painted in spring.", "Quay plan"),
    ],
)
def test_a_sentence_a_label_and_the_name_of_a_file_need_no_heading(shown: str, heading: str) -> None:
    assert under("When does the petrol station of the quay open?", shown, heading) == shown


async def test_a_long_list_says_how_many_items_it_has() -> None:
    lines = "\n".join(f"- Rule number {n} of the quay" for n in range(1, MAX_ITEMS + 6))
    extract = await ExtractiveAnswerer(WordEmbedder()).answer("What are the rules?", [hit(lines, headings=("Rules",))])
    assert extract.text.endswith(f"These are the first {MAX_ITEMS} of {MAX_ITEMS + 5}.")


async def test_a_sentence_with_a_colon_answers_by_what_it_says_itself() -> None:
    answerer = ExtractiveAnswerer(WordEmbedder())
    stated = hit("In the book on the quay, “A wall against storms”, published by the port in 1937, Ada Reed stated:")
    assert (await answerer.answer("What book was published in 1937 on the quay?", [stated])).answered
    plans = hit("For this year the port plans to:")
    assert not (await answerer.answer("What does the port plan to do this year?", [plans])).answered


STEPS = hit(
    "1. Connect the yellow cable.\n2. Wait until the lamp is white.\n3. Choose a password.\n\nThe lamp may blink meanwhile.",
    headings=("Setting up",),
)


def test_how_something_is_done_is_answered_with_all_of_its_steps() -> None:
    second = cut_statements([STEPS])[1]
    steps = whole_procedure(read_question("How do I set up the router?"), second)
    assert [one.shown[:2] for one in steps] == ["1.", "2.", "3."]
    assert whole_procedure(read_question("What colour is the lamp?"), second) == []
    assert whole_procedure(read_question("How do I set up the router?"), cut_statements([STEPS])[3]) == []


def test_an_announced_list_needs_no_bullets_and_no_capitals() -> None:
    announcing = hit(
        "The port pays for:\n\nrail travel\nflights, if a train takes more than five hours\nmeals\n\nNot paid are fines."
    )
    statements = cut_statements([announcing])
    items = announced_items(statements[0], [announcing])
    assert items is not None
    assert [one.shown for one in items] == ["rail travel", "flights, if a train takes more than five hours", "meals"]


async def test_an_item_is_not_said_again_after_the_list_that_it_is_in() -> None:
    announcing = hit(
        "The port pays for:\n\nrail travel of crews\nflights, if a train takes more than five hours\nmeals of crews"
    )
    extract = await ExtractiveAnswerer(WordEmbedder()).answer(
        "For what travel of crews does the port pay?", [announcing]
    )
    assert extract.text.count("rail travel of crews") == 1


def test_what_a_heading_names_is_its_list_where_no_item_is_a_sentence() -> None:
    items = hit("A petrol station\nA larger crane", headings=("Out of scope",), filename="Quay plan.pptx")
    prose = hit("The deposit is 200.\nIt is paid back.", headings=("Deposit",))
    question = read_question("What is out of scope in the quay plan?")
    assert [one.shown for one in find_named_items(question, [items])] == ["A petrol station", "A larger crane"]
    assert find_named_items(read_question("What is the deposit?"), [prose]) == []
    assert find_named_items(read_question("Who is out of scope in the quay plan?"), [items]) == []


@pytest.mark.parametrize(
    "request_", ["List the steps", "Walk me through the steps", "Can you take us through the steps"]
)
async def test_to_be_led_through_steps_is_to_get_all_of_them(request_: str) -> None:
    found = [
        hit(
            f"Of the steps of joining this is one: {text}",
            headings=("Joining", f"Step {number}: {text[:-1]}"),
            ordinal=number,
        )
        for number, text in enumerate(("Fill in the form.", "Bring a card.", "Sign the agreement."), start=1)
    ]
    extract = await ExtractiveAnswerer(WordEmbedder()).answer(f"{request_} of joining", found)
    assert [part.split(" [")[0].strip() for part in extract.parts] == [
        "1. Fill in the form",
        "2. Bring a card",
        "3. Sign the agreement",
    ]


async def test_steps_named_by_what_is_asked_for_are_listed_in_order() -> None:
    crane = hit("Hiring step 2: Sign at the desk.", ordinal=1, page=5)
    fee = hit("Hiring step 1: Pay the fee.", ordinal=0, page=2)
    other = hit("Repair step 3: Order the parts.", ordinal=2, page=7)
    extract = await ExtractiveAnswerer(WordEmbedder()).answer("List the hiring steps.", [crane, fee, other])
    assert extract.text == "1. Pay the fee. [1]\n2. Sign at the desk. [2]"


async def test_steps_of_one_passage_are_cited_each_on_its_page() -> None:
    pages = hit("Step 1: Pay the fee.\n\nStep 2: Sign at the desk.")
    spanning = replace(pages, chunk=replace(pages.chunk, locator=Locator(page=2, pages=(2, 3))))
    extract = await ExtractiveAnswerer(WordEmbedder()).answer("List the steps.", [spanning])
    assert extract.text == "1. Pay the fee. [1]\n2. Sign at the desk. [2]"
