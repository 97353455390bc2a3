"""Questions about whole documents: which messages are, about which files; answers with and without a model, every sentence cited."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from citewell.adapters.embedder.builtin import BuiltinEmbedder
from citewell.agent.graph import Assistant
from citewell.agent.interface import Done, PartsRead, TurnRequest
from citewell.agent.whole.request import WholeKind, read_request
from citewell.agent.whole.step import NOTHING_IN_SCOPE
from citewell.agent.whole.written import WholeBudget
from citewell.ports import Capability, ChatDelta, ChatMessage, ToolSpec
from citewell.types import (
    QUOTES,
    SUMMARY_OF,
    ChunkPlace,
    ChunkType,
    Element,
    Expression,
    Hit,
    JsonObject,
    ResourceInfo,
    Scope,
    StoredChunk,
)
from tests.agent.fakes import WordEmbedder, WordSearcher, hit
from tests.agent.reading import MESSAGES, read


def info(id: str, name: str, category: str = "rag", status: str = "indexed") -> ResourceInfo:
    return ResourceInfo(id=id, filename=name, version=1, status=status, category=category)


POLICY, HANDBOOK, TRAVEL = (
    info("p", "Loan Policy.pdf"),
    info("h", "Program Handbook.pdf"),
    info("t", "Travel policy.docx"),
)
SHEET = info("s", "finance_2025.xlsx", "data", "analyzed")
NEWS = info("n", "newsletter-2026-03.txt")
FILES = (POLICY, HANDBOOK, TRAVEL, SHEET)


@pytest.mark.parametrize(
    ("message", "kind", "files"),
    [
        ("Summarise the handbook", WholeKind.SUMMARISE, (HANDBOOK,)),
        ("Can you give me a short summary of Loan Policy.pdf?", WholeKind.SUMMARISE, (POLICY,)),
        ("What is this document about?", WholeKind.SUMMARISE, FILES),
        ("What are the key points of the travel policy", WholeKind.SUMMARISE, (TRAVEL,)),
        ("give me an overview of the finance sheet", WholeKind.SUMMARISE, (SHEET,)),
        ("tell me about the doc", WholeKind.SUMMARISE, FILES),
        ("Can you tell me a bit about my files?", WholeKind.SUMMARISE, FILES),
        ("Tell me more about the travel policy", WholeKind.SUMMARISE, (TRAVEL,)),
        ("walk me through Loan Policy.pdf", WholeKind.SUMMARISE, (POLICY,)),
        ("What's in finance_2025.xlsx?", WholeKind.SUMMARISE, (SHEET,)),
        ("Describe the loan policy", WholeKind.SUMMARISE, (POLICY,)),
        ("Compare the two policies", WholeKind.COMPARE, (POLICY, TRAVEL)),
        ("What are the differences between the handbook and the loan policy?", WholeKind.COMPARE, (POLICY, HANDBOOK)),
        ("What do I have on insurance?", WholeKind.FIND, FILES),
        ("Which of my documents mention late fees?", WholeKind.FIND, FILES),
        ("What do my files say about insurance?", WholeKind.FIND, FILES),
        ("List all deadlines in the handbook", WholeKind.LIST, (HANDBOOK,)),
        ("Fasse bitte die Loan Policy kurz zusammen", WholeKind.SUMMARISE, (POLICY,)),
        ("List all dates in the March newsletter", WholeKind.LIST, (NEWS,)),
        ("De quoi parle Travel policy.docx ?", WholeKind.SUMMARISE, (TRAVEL,)),
    ],
)
async def test_requests_for_whole_documents_are_recognised(
    message: str, kind: WholeKind, files: Sequence[ResourceInfo]
) -> None:
    found = read_request(message, await read(message), FILES if NEWS not in files else (*FILES, NEWS))
    assert found is not None
    assert (found.kind, found.files) == (kind, tuple(files))


@pytest.mark.parametrize(
    "message",
    [
        "What is the maximum loan size for first-time borrowers?",
        "Summarise the rules on late payment",
        "What is the interest rate about to become?",
        "List all loans over 5000",
        "How many loans are overdue?",
        "Compare revenue and expenses",
        "Tell me about the program",
        "What is in the program?",
        "Describe the loan",
        "Tell me about the loan policy and its late fees",
        "Walk me through the onboarding steps",
        "x" * 5_000,
    ],
)
async def test_other_questions_are_left_alone(message: str) -> None:
    assert read_request(message, await read(message), FILES) is None


async def test_the_topic_is_what_is_left_of_the_message() -> None:
    message = "List all late fees in the loan policy"
    found = read_request(message, await read(message), FILES)
    assert found is not None
    assert found.topic == "late fees"
    message = "Which of my files mention fire insurance?"
    found = read_request(message, await read(message), FILES)
    assert found is not None
    assert found.topic == "fire insurance"


async def test_files_that_cannot_be_read_are_not_summarised() -> None:
    found = read_request(
        "Summarise everything", await read("Summarise everything"), [POLICY, replace(HANDBOOK, status="failed")]
    )
    assert found is not None
    assert found.files == (POLICY,)


INSURED = "Insurance against fire is paid by the borrower within three weeks."
CEILING = "A first loan is at most GHS 5,000 and is repaid every week."
TRIPS = "Trips are repaid within 30 days when receipts are shown."
MISSED = "An instalment that is missed is recorded on the same day."


@dataclass
class Shelf:
    """Files and their chunks, as `Library` and `WholeFiles`."""

    hits: Sequence[Hit]
    files: Sequence[ResourceInfo]
    read: list[str] = field(default_factory=list[str])

    async def narrowed(self, owner_id: str, scope: Scope, filters: tuple[Expression, ...]) -> Scope:
        raise AssertionError("no filters here")

    async def list_resources(self, owner_id: str, scope: Scope) -> Sequence[ResourceInfo]:
        return [file for file in self.files if scope.resource_ids is None or file.id in scope.resource_ids]

    async def count_characters(self, owner_id: str, scope: Scope) -> int:
        return 0

    async def read_resource(self, owner_id: str, resource_id: str, first: int, last: int) -> Sequence[Element]:
        return []

    async def passages(
        self, owner_id: str, resource_id: str, types: Sequence[ChunkType], most: int
    ) -> Sequence[StoredChunk]:
        self.read.append(resource_id)
        return [
            StoredChunk(one.chunk, one.filename)
            for one in self.hits
            if one.chunk.resource_id == resource_id and one.chunk.type in types and one.chunk.owner_id == owner_id
        ][:most]

    async def at(self, owner_id: str, places: Sequence[ChunkPlace]) -> Mapping[ChunkPlace, StoredChunk]:
        found = {ChunkPlace(h.chunk.resource_id, h.chunk.version, h.chunk.ordinal): h for h in self.hits}
        return {place: StoredChunk(found[place].chunk, found[place].filename) for place in places if place in found}


def summary(resource: str, filename: str, text: str, quotes: list[list[int]]) -> Hit:
    found = hit(text, resource=resource, filename=filename, ordinal=90, type=ChunkType.SUMMARY)
    return replace(found, chunk=replace(found.chunk, metadata={SUMMARY_OF: "file", QUOTES: quotes}))


def shelf() -> Shelf:
    hits = [
        hit(f"{CEILING} {INSURED}", resource="p", filename="Loan Policy.pdf", page=3, headings=("Repayment rules",)),
        hit(MISSED, resource="p", filename="Loan Policy.pdf", page=5, ordinal=1),
        hit(TRIPS, resource="t", filename="Travel policy.docx", headings=("Repayment",)),
        summary("p", "Loan Policy.pdf", f"{CEILING} {MISSED}", [[0, 0, len(CEILING)], [1, 0, len(MISSED)]]),
    ]
    return Shelf(hits, [POLICY, TRAVEL])


def assistant(shelf: Shelf, **options: Any) -> Assistant:
    searcher, embedder = WordSearcher(shelf.hits), WordEmbedder()
    return Assistant(searcher, embedder, library=shelf, files=shelf, message_model=MESSAGES, **options)


async def ask(shelf: Shelf, message: str, scope: Scope | None = None, **options: object) -> Done:
    request = TurnRequest(owner_id="ada", message=message, scope=scope or Scope())
    return await assistant(shelf, **options).answer(request)


async def test_a_summary_quotes_sentences_and_cites_the_passages_that_hold_them() -> None:
    done = await ask(shelf(), "Summarise the loan policy")
    assert done.answer.text == f"{CEILING} [1] {MISSED} [2]"
    assert [(c.locator.page, c.resource_id) for c in done.answer.citations] == [(3, "p"), (5, "p")]


async def test_a_file_without_a_summary_is_quoted_all_the_same() -> None:
    done = await ask(shelf(), "What is the travel policy about?")
    assert done.answer.text == f"{TRIPS} [1]"


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ("Fasse die Reiserichtlinie zusammen.", f"{TRIPS} [1]"),
        ("Résume-moi la politique de prêt.", f"{CEILING} [1] {MISSED} [2]"),
    ],
)
async def test_a_file_is_meant_by_its_name_in_another_language(message: str, text: str) -> None:
    async with aclosing(BuiltinEmbedder.multilingual()) as across:
        assert (await ask(shelf(), message, across=across)).answer.text == text


async def test_all_files_on_a_topic_are_found_by_reading_all_of_them() -> None:
    library = shelf()
    done = await ask(library, "What do I have about repaid?")
    assert (
        done.answer.text
        == f"**Loan Policy.pdf** (1 passage): {CEILING} [1]\n\n**Travel policy.docx** (1 passage): {TRIPS} [2]"
    )
    assert set(library.read) == {"p", "t"}


async def test_two_files_are_compared_on_what_headings_of_both_name() -> None:
    done = await ask(shelf(), "Compare the two policies")
    assert f"**Loan Policy.pdf**: {CEILING} [1]" in done.answer.text
    assert "On **repayment**:" in done.answer.text
    assert f"- Loan Policy.pdf: {CEILING} [1]" in done.answer.text
    assert f"- Travel policy.docx: {TRIPS} [3]" in done.answer.text


async def test_every_sentence_is_cited() -> None:
    for message in ("Summarise everything", "Compare the two policies", "List all deadlines"):
        text = (await ask(shelf(), message)).answer.text
        said = [
            line
            for line in text.splitlines()
            if line and not re.match(r"On \*\*|\*\*[^*]+\*\*$|\d+ sentences |Read whole: ", line)
        ]
        assert all(re.search(r"\[\d+\]$", line) for line in said), text


async def test_where_nothing_is_in_scope_the_answer_says_what_to_upload() -> None:
    done = await ask(shelf(), "Summarise this document", Scope(resource_ids=()))
    assert (done.answer.text, done.answer.answered) == (NOTHING_IN_SCOPE, False)


async def test_a_topic_that_no_file_has_goes_the_way_of_other_questions() -> None:
    done = await ask(shelf(), "What do I have on penguins?")
    assert not done.answer.answered


class NoteTaker:
    """A chat model that notes the first words of each passage with its number, and answers with its notes."""

    model = "notes-1"
    capabilities: frozenset[Capability] = frozenset()

    def __init__(self) -> None:
        self.sent: list[Sequence[ChatMessage]] = []

    async def stream(
        self,
        messages: Sequence[ChatMessage],
        *,
        tools: Sequence[ToolSpec] = (),
        response_schema: JsonObject | None = None,
        max_tokens: int | None = None,
        temperature: float = 0.0,
    ) -> AsyncIterator[ChatDelta]:
        self.sent.append(messages)
        sources = messages[-1].sources
        if sources:
            for source in sources:
                yield ChatDelta(text=f"{source.text} [{source.n}]\n")
            return
        notes = messages[-1].content.split("<notes>\n")[1].split("\n</notes>")[0]
        yield ChatDelta(text=notes.strip())


async def test_a_model_notes_every_part_and_answers_from_its_notes() -> None:
    long = [
        hit(
            f"Rule {n} of the policy says {n} days. " * 60,
            resource="p",
            filename="Loan Policy.pdf",
            ordinal=n,
            page=n + 1,
        )
        for n in range(24)
    ]
    model = NoteTaker()
    library = Shelf(long, [POLICY])
    events = [
        event
        async for event in assistant(library, chat_model=model).run(
            TurnRequest(owner_id="ada", message="Summarise the loan policy")
        )
    ]
    progress = [event for event in events if isinstance(event, PartsRead)]
    assert progress[-1].done == progress[-1].total == len(model.sent) - 1 > 1
    done = events[-1]
    assert isinstance(done, Done)
    assert [c.locator.page for c in done.answer.citations] == list(range(1, 25))


async def test_more_than_the_limit_is_not_sent_and_the_answer_says_what_it_would_have_taken() -> None:
    library, model = shelf(), NoteTaker()
    library.hits = [*library.hits, hit("word " * 4_000, resource="p", filename="Loan Policy.pdf", ordinal=5)]
    done = await ask(library, "Summarise the loan policy", chat_model=model, whole_budget=WholeBudget(tokens=1_000))
    assert "Reading Loan Policy.pdf whole would send about 5," in done.answer.text
    assert "the limit is 1,000" in done.answer.text
    assert CEILING in done.answer.text
    assert "word word" not in str(model.sent)
