"""Which sentences an answer is made of, with the built-in model: the fact itself, whole lists, the right row, and nothing rather than noise."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from citewell.adapters.embedder.builtin import BuiltinEmbedder
from citewell.adapters.reader.builtin import BuiltinReader
from citewell.adapters.reader.reading_model import ReadingModel
from citewell.agent.extractive.answerer import Extract, ExtractiveAnswerer
from citewell.agent.extractive.scoring import StatementScorer
from citewell.agent.extractive.thresholds import THRESHOLDS
from citewell.agent.spoken import NO_ANSWER
from citewell.agent.understand.question import read_question
from citewell.types import ChunkType, Hit
from tests.agent.fakes import hit

FEES = hit(
    "| Charge | How much | When |\n| --- | --- | --- |\n| Berth | 12 per metre and night | On arrival |\n"
    "| Crane | 80 per hour | After use |\n| Late departure | 15 per hour | After noon |\n| Showers | Nothing | - |",
    type=ChunkType.TABLE,
    headings=("What a stay costs",),
    ordinal=1,
    page=2,
    filename="Harbour rules.pdf",
)
DELAYS = hit(
    "| Hours late | What we do |\n| --- | --- |\n| 1 to 3 | A friendly call |\n| 4 to 12 | The berth is given to others |\n"
    "| 13 to 48 | The boat is towed to the outer quay |",
    type=ChunkType.TABLE,
    headings=("When a boat leaves late",),
    ordinal=2,
    page=3,
    filename="Harbour rules.pdf",
)
GATE = hit(
    "The harbour gate closes at half past nine in the evening. Until 2019 it was left open all night. No late boats are turned away.",
    headings=("Hours",),
    ordinal=3,
    page=4,
    filename="Harbour rules.pdf",
)
NEVER = hit(
    "• Light a fire on the quay.\n• Leave fish in the sun.\n• Tie up at the pilot's steps.",
    headings=("What crews must never do",),
    ordinal=4,
    page=5,
    filename="Harbour rules.pdf",
)
BRING = hit(
    "• The ship's papers.\n• Proof of insurance.",
    headings=("What to bring to the office",),
    ordinal=5,
    page=6,
    filename="Harbour rules.pdf",
)
TABLE_SUMMARY = hit(
    "Table Berths: 40 rows, 3 columns. Columns: Berth; Length (4 to 30); Depth.", type=ChunkType.SUMMARY, ordinal=6
)
LINKS = hit(
    "Archived (https://example.org/harbour/gate) from the original on 18 February 2016. The gate was built in 1931 by local smiths.",
    resource="r9",
    filename="Notes.txt",
    ordinal=7,
)
ALL = (FEES, DELAYS, GATE, NEVER, BRING, TABLE_SUMMARY, LINKS)


@pytest.fixture
async def answerer() -> AsyncIterator[ExtractiveAnswerer]:
    embedder = BuiltinEmbedder.load()
    yield ExtractiveAnswerer(embedder, reader=BuiltinReader(ReadingModel.open()))
    await embedder.aclose()


def cited(extract: Extract) -> list[Hit]:
    return [source.hit for source in extract.sources]


@pytest.mark.parametrize(
    ("question", "fact", "source"),
    [
        ("When does the harbour gate close?", "half past nine", GATE),
        ("How much does the crane cost?", "80 per hour", FEES),
        ("What is charged for late departure?", "15 per hour", FEES),
        ("What happens when a boat is 20 hours late?", "outer quay", DELAYS),
        ("In what year was the gate built?", "1931", LINKS),
    ],
)
async def test_the_fact_comes_first_and_from_its_place(
    answerer: ExtractiveAnswerer, question: str, fact: str, source: Hit
) -> None:
    extract = await answerer.answer(question, ALL)
    assert fact in extract.parts[0]
    assert cited(extract)[0] == source


async def test_a_row_is_shown_with_what_its_columns_mean(answerer: ExtractiveAnswerer) -> None:
    extract = await answerer.answer("How much does the crane cost?", ALL)
    assert extract.parts[0].startswith("Charge: Crane; How much: 80 per hour; When: After use")


async def test_a_list_is_whole_in_order_and_the_one_that_is_asked_for(answerer: ExtractiveAnswerer) -> None:
    extract = await answerer.answer("List what crews must never do", ALL)
    assert extract.text.splitlines() == [
        "1. Light a fire on the quay. [1]",
        "2. Leave fish in the sun. [1]",
        "3. Tie up at the pilot's steps. [1]",
    ]


async def test_items_further_down_the_results_belong_to_the_list(answerer: ExtractiveAnswerer) -> None:
    rest = hit(
        "• Wash down nets with hoses.", headings=NEVER.chunk.locator.headings, ordinal=8, filename="Harbour rules.pdf"
    )
    extract = await answerer.answer("List what crews must never do", [NEVER, GATE], [rest])
    assert "4. Wash down nets with hoses. [2]" in extract.text


async def test_what_a_table_is_made_of_answers_only_questions_about_tables(answerer: ExtractiveAnswerer) -> None:
    assert not (await answerer.answer("How many berths are longer than 20?", [TABLE_SUMMARY])).answered
    assert not (
        await answerer.answer("What is the depth of the longest of the berths in the table?", [TABLE_SUMMARY])
    ).answered
    about = await answerer.answer("Which columns does the table of berths have?", [TABLE_SUMMARY])
    assert TABLE_SUMMARY in cited(about)


async def test_how_many_of_what_nobody_counts_is_not_answered_with_another_number(answerer: ExtractiveAnswerer) -> None:
    extract = await answerer.answer("How many employees work in the harbour office?", [GATE, FEES])
    assert extract.text == NO_ANSWER


async def test_nothing_is_said_where_nothing_fits(answerer: ExtractiveAnswerer) -> None:
    extract = await answerer.answer("Who won the chess championship?", ALL)
    assert not extract.answered
    assert len(extract.sources) == 3


async def test_a_sentence_that_is_repeated_leaves_room_for_others() -> None:
    noise = hit("The harbour has a rule on dogs. " * 20, resource="r7", filename="Rules.txt", ordinal=1)
    rule = hit("Dogs must be kept on a lead near the cranes.", resource="r8", filename="Dogs.txt", ordinal=2)
    embedder = BuiltinEmbedder.load()
    scored = await StatementScorer(embedder, THRESHOLDS).score(
        read_question("What is the rule on dogs in the harbour?"), [noise, rule]
    )
    await embedder.aclose()
    assert sorted(s.statement.hit.filename for s in scored) == ["Dogs.txt", "Rules.txt"]


async def test_of_a_question_in_two_parts_both_are_answered(answerer: ExtractiveAnswerer) -> None:
    report = hit(
        "Bay Stores Reports Another Outstanding Year\n\n“I am proud of our teams and of what they achieved in fiscal 2023,” said the chief executive. "
        "Net sales in fiscal 2023 were $11.2 billion. This was 9.8 percent more than in the year before. Ten stores were closed.",
        filename="Results.pdf",
    )
    extract = await answerer.answer("What were net sales in fiscal 2023 and how much did they change?", [report])
    assert extract.parts[0].startswith("Net sales in fiscal 2023 were $11.2 billion.")
    assert "9.8 percent more" in extract.text
    assert "proud" not in extract.text
    assert "Outstanding" not in extract.text


async def test_a_heading_or_code_that_asks_the_question_is_no_answer(answerer: ExtractiveAnswerer) -> None:
    asked = hit(
        'answer = library.ask("How long is a crane reserved for a boat?")\n\nHow long a crane is reserved for a boat\n\n'
        "It is kept for you for forty minutes after the time that was agreed.",
        filename="Questions.md",
    )
    extract = await answerer.answer("How long is a crane reserved for a boat?", [asked])
    assert extract.parts[0].startswith("It is kept for you for forty minutes")


async def test_a_sentence_is_understood_with_the_one_before_it() -> None:
    embedder = BuiltinEmbedder.load()
    scorer = StatementScorer(embedder, THRESHOLDS)
    passage = hit(
        "The old pilot station was moved to the breakwater. It has stood there since 1974. Boats may not wait beside it."
    )
    scored = await scorer.score(read_question("Since when has the pilot station been on the breakwater?"), [passage])
    await embedder.aclose()
    by_text = {s.statement.shown: s for s in scored}
    follows = by_text["It has stood there since 1974."]
    assert follows.around > follows.coverage
    assert by_text["Boats may not wait beside it."].around < follows.around


async def test_confidence_is_high_for_what_is_said_and_low_for_what_is_not(answerer: ExtractiveAnswerer) -> None:
    said = await answerer.answer("In what year was the gate built?", ALL)
    unsaid = await answerer.answer("Who won the chess championship?", ALL)
    assert unsaid.confidence < THRESHOLDS.answer < 0.5 < said.confidence <= 1.0
