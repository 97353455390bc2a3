"""Which sentences of a text are central: from its whole length, whole, without repetition, and never its labels."""

from __future__ import annotations

import numpy as np
import pytest

from citewell.text.central import central_sentences, sums_up

PUMPS = [
    "Waterworks\n\nThe waterworks pump clean water from four wells to every house in the valley.",
    "The pumps of the waterworks are checked each morning by two people. It takes an hour. Nobody complains.",
    "In winter the wells of the valley freeze and the pumps stop. A neighbour once sold a red bicycle there.",
    "Repairs of pumps and wells cost the waterworks nine thousand crowns each year.",
]


def said(
    passages: list[str], most: int, vectors: np.ndarray[tuple[int, int], np.dtype[np.float32]] | None = None
) -> list[str]:
    return [passages[q.passage][q.start : q.end] for q in central_sentences(passages, vectors, most, "Waterworks")]


def test_sentences_come_from_every_part_of_a_text_in_order() -> None:
    assert said(PUMPS, 4) == [
        "The waterworks pump clean water from four wells to every house in the valley.",
        "The pumps of the waterworks are checked each morning by two people.",
        "In winter the wells of the valley freeze and the pumps stop.",
        "Repairs of pumps and wells cost the waterworks nine thousand crowns each year.",
    ]


def test_a_sentence_is_not_said_twice() -> None:
    assert said([PUMPS[0], PUMPS[0], PUMPS[0]], 3) == [PUMPS[0].split("\n\n")[1]]


def test_passages_far_from_the_mean_of_all_give_way() -> None:
    passages = [
        "The council met on Monday and spoke about water.",
        "An advertisement praises a new kind of soap for clothes.",
        "The mayor closed the meeting and thanked the council for water.",
    ]
    vectors = np.array([[1, 0], [0, 1], [1, 0]], dtype=np.float32)
    assert [q.passage for q in central_sentences(passages, vectors, 2)] == [0, 2]


def test_labels_rows_and_lines_of_contents_are_no_sentences() -> None:
    passages = [
        "Costs",
        "| a | b |\n| --- | --- |\n| 1 | 2 |",
        "2.1 Verifying usage with the view . . . . . . . 10",
        "1234 5678 9012 3456 7890.",
    ]
    assert said(passages, 3) == []


def test_a_text_of_lines_alone_is_told_by_its_longer_lines() -> None:
    slides = ["- Loans after one visit\n- Weekly repayments by phone", "- Three branches in two regions"]
    assert said(slides, 3) == ["Loans after one visit", "Weekly repayments by phone", "Three branches in two regions"]


def test_a_text_opens_with_what_it_says_of_itself_without_the_labels_before_it() -> None:
    text = (
        "Iwan Roberts\nHeight 6 ft 3 in\nYears Team Apps\n1986 Watford 63\nToggle the table of contents\n"
        "Iwan Wyn Roberts is a Welsh former professional footballer who played as a forward\n"
        "for a number of clubs and the national team. His career started at Watford as a trainee before\n"
        "he signed his first professional contract with the club in 1986."
    )
    (first, *_) = central_sentences([text], None, 2)
    said = text[first.start : first.end]
    assert " ".join(said.split()).startswith("Iwan Wyn Roberts is a Welsh former professional footballer who played as")


def test_the_first_sentence_leans_on_nothing() -> None:
    texts = [
        "This handbook tells loan officers how to visit members. Members are visited by loan officers twice a year.",
        "Loan officers write down every visit to members. Members sign what loan officers write down after visits.",
    ]
    (first, *_) = central_sentences(texts, None, 2)
    assert texts[0][first.start : first.end].startswith("This handbook tells")


def test_references_and_lists_of_names_are_not_quoted() -> None:
    prose = "The club captained by Roberts was promoted after a long season of narrow wins."
    texts = [
        f"{prose} Watford F.C. vs Norwich City F.C. Official Programme of May. Retrieved 27 July 2020 via Newspapers."
    ]
    assert [texts[0][quote.start : quote.end] for quote in central_sentences(texts, None, 1)] == [prose]


def test_a_text_s_own_summary_comes_before_other_sentences() -> None:
    said = [
        "All four wells held out through the whole dry year.",
        "Their repairs cost the village less than was planned.",
        "A fifth well is going to be dug near the mill in spring.",
        "The fees of the households stay as they are for now.",
    ]
    own = " ".join(said)
    texts = [PUMPS[0], own, *PUMPS[1:]]
    quotes = central_sentences(texts, None, 5, own={1})
    found = [texts[quote.passage][quote.start : quote.end] for quote in quotes]
    assert found[1:4] == said[:3]
    assert len(found) == 5


@pytest.mark.parametrize(
    "heading", ["Summary", "1. Executive summary", "ZUSAMMENFASSUNG:", "2 Résumé", "摘要", "Краткое содержание"]
)
def test_what_documents_call_their_summary(heading: str) -> None:
    assert sums_up(heading)


@pytest.mark.parametrize("heading", ["Summary of costs by branch", "Summaries", "", "12", "Brief"])
def test_what_else_headings_say(heading: str) -> None:
    assert not sums_up(heading)
