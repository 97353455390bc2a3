"""Exhaustive lists of whole documents: what is an item, what the answer says it read, and the same with a model."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import replace

import pytest

from citewell.agent.interface import Done
from citewell.agent.whole import reading
from citewell.agent.whole.kinds import KINDS, ItemKind, items_of, kinds_asked
from citewell.agent.whole.listed import MAX_ITEMS
from citewell.agent.whole.request import read_request
from citewell.agent.whole.written import WholeBudget
from citewell.ports import ChatDelta, ChatMessage, ToolSpec
from citewell.types import ChunkType, Hit, JsonObject, NoAnswerReason, StoredChunk
from tests.agent.fakes import hit
from tests.agent.reading import read
from tests.agent.test_whole import INSURED, POLICY, SHEET, TRAVEL, TRIPS, NoteTaker, Shelf, ask, info, shelf


def kind_of(word: str) -> ItemKind:
    (kind,), left = kinds_asked(word)
    assert not left
    return kind


def shown(kind: str, text: str, type: ChunkType = ChunkType.TEXT) -> list[str]:
    found = items_of(StoredChunk(hit(text, type=type).chunk, "a.txt"), kind_of(kind), ())
    return [item.value or item.text for item in found]


@pytest.mark.parametrize(
    "sentence",
    [
        "A report is filed within 30 days of the audit.",
        "File the claim no later than three business days after the meeting.",
        "The budget is due on 1 June 2025.",
        "Applications close by 5 p.m. on Friday.",
        "Payment must be made every 14 days.",
        "Records are kept for a period of not less than seven years.",
        "Tell us as soon as practicable.",
        "The deadline is not negotiable.",
        "The hearing may be adjourned for a time not to exceed 120 days.",
        "A notice goes out the week before.",
    ],
)
def test_a_deadline_is_a_time_limit_or_a_date_by_which_something_is_due(sentence: str) -> None:
    assert shown("deadlines", sentence) == [sentence]


@pytest.mark.parametrize(
    "sentence",
    [
        "Sales increased by 5% in the quarter.",
        "The firm was founded in 1998.",
        "He joined the club two years ago.",
        "Revenue fell by 3 million.",
        "In May 2020 the plant was opened.",
        "She worked there for nine years.",
    ],
)
def test_a_figure_or_a_date_alone_is_no_deadline(sentence: str) -> None:
    assert not shown("deadlines", sentence)


@pytest.mark.parametrize(
    ("kind", "text", "values"),
    [
        ("dates", "It began on 3 May 2024. It never ended.", ["It began on 3 May 2024."]),
        ("dates", "Signed 2024-05-03. May we go?", ["Signed 2024-05-03."]),
        (
            "duties",
            "You must sign. You may leave. Smoking is prohibited.",
            ["You must sign.", "Smoking is prohibited."],
        ),
        ("amounts", "It costs GHS 5,000. It takes 5,000 steps.", ["It costs GHS 5,000."]),
        ("amounts", "About 3 million dollars went. So did $4.", ["About 3 million dollars went.", "So did $4."]),
        ("percentages", "Up 4.5 % a year. Up 4 a year.", ["Up 4.5 % a year."]),
        ("email addresses", "Write to a.b@example.org, or c@d.example.", ["a.b@example.org", "c@d.example"]),
        (
            "phone numbers",
            "Call (877) 704-4453 or +49 30 901820, not 2,989 590 (125).",
            ["(877) 704-4453", "+49 30 901820"],
        ),
        ("links", "See https://a.example/b?c=1. Or www.d.example!", ["https://a.example/b?c=1", "www.d.example"]),
        ("people", "Dr. Ada Mensah came with Kofi Boateng, the treasurer.", ["Ada Mensah", "Kofi Boateng"]),
        ("people", "There Smith said that manager Esi Owusu left Norwich City.", ["Esi Owusu"]),
        (
            "organisations",
            "Asanka Credit Ltd. works with the University of Ghana.",
            ["Asanka Credit Ltd.", "University of Ghana"],
        ),
        ("definitions", "“Loan” means money lent. He means well.", ["“Loan” means money lent."]),
        ("questions", "Who pays? The borrower.", ["Who pays?"]),
    ],
)
def test_each_kind_of_item_is_told_by_its_form(kind: str, text: str, values: list[str]) -> None:
    assert shown(kind, text) == values


def test_of_a_table_each_line_is_an_item_not_the_whole() -> None:
    table = "| fee | amount |\n|---|---|\n| late | GHS 20 |\n| none | 0 |"
    assert shown("amounts", table, ChunkType.TABLE) == ["| late | GHS 20 |"]


async def test_a_list_may_be_of_several_kinds_and_of_one_topic() -> None:
    message = "List all names and phone numbers in the loan policy"
    found = read_request(message, await read(message), [POLICY, TRAVEL])
    assert found is not None
    assert [kind.many for kind in found.kinds] == ["telephone numbers", "people"]
    assert (found.terms, found.files) == ((), (POLICY,))
    message = "List all deadlines for insurance"
    found = read_request(message, await read(message), [POLICY, TRAVEL])
    assert found is not None
    assert ([kind.one for kind in found.kinds], len(found.terms)) == ([KINDS[0].one], 1)


async def test_every_deadline_of_a_file_is_listed_whether_it_says_deadline_or_not() -> None:
    done = await ask(shelf(), "List all deadlines in the loan policy")
    assert f"\n\n1. {INSURED} [1]\n\nRead whole: Loan Policy.pdf, 2 passages." in done.answer.text
    assert done.answer.text.startswith("1 sentence that states a deadline or time limit (found by rules")


async def test_a_list_over_several_files_counts_its_items_and_says_which_files_were_read() -> None:
    library = shelf()
    library.files = [POLICY, TRAVEL, SHEET, info("b", "Scan.pdf", status="failed")]
    done = await ask(library, "List all deadlines")
    lines = done.answer.text.split("\n")
    assert lines[0].startswith("2 sentences that state a deadline or time limit in 2 files")
    assert f"1. {INSURED} [1]" in lines
    assert f"2. {TRIPS} [2]" in lines
    assert "Read whole: Loan Policy.pdf, Travel policy.docx, 3 passages." in lines[-1]
    assert "finance_2025.xlsx, Scan.pdf" in lines[-1]
    assert [c.verdict.value for c in done.answer.citations] == ["supported", "supported"]


async def test_a_topic_counts_where_it_is_named_in_the_sentence_or_in_a_heading_above_it() -> None:
    def said(text: str, ordinal: int, context: str) -> Hit:
        one = hit(text, resource="p", filename="Loan Policy.pdf", ordinal=ordinal)
        return replace(one, chunk=replace(one.chunk, context=context))

    hits = [
        said("It is paid within 9 days.", 0, "Loan Policy\nInsurance"),
        said("Calls are returned within 3 days.", 1, "Loan Policy\nComplaints"),
        said("Insurance lapses within 8 days.", 2, "Loan Policy\nOther"),
    ]
    done = await ask(Shelf(hits, [POLICY]), "List all deadlines for insurance")
    assert "1. It is paid within 9 days. [1]\n2. Insurance lapses within 8 days. [2]" in done.answer.text
    assert "Calls" not in done.answer.text


async def test_a_list_of_headings_cites_the_first_passage_below_each() -> None:
    done = await ask(shelf(), "List all headings")
    assert "1. Repayment rules [1]" in done.answer.text
    assert "2. Repayment [2]" in done.answer.text


async def test_where_no_item_is_found_the_answer_says_so_and_what_was_read() -> None:
    done = await ask(shelf(), "List all email addresses")
    assert not done.answer.answered
    assert done.answer.text == (
        "No e-mail address was found.\n\nRead whole: Loan Policy.pdf, Travel policy.docx, 3 passages."
    )
    assert done.answer.no_answer is not None
    assert done.answer.no_answer.reason is NoAnswerReason.NOT_MENTIONED


def deadlines(count: int, resource: str = "p") -> list[Hit]:
    return [
        hit(f"Form {n} is due within {n} days.", resource=resource, filename="Loan Policy.pdf", ordinal=n, page=n + 1)
        for n in range(count)
    ]


async def test_items_beyond_the_limit_are_counted() -> None:
    done = await ask(Shelf(deadlines(MAX_ITEMS + 7), [POLICY]), "List all deadlines")
    assert done.answer.text.startswith(f"{MAX_ITEMS + 7} sentences")
    assert "for the other 7." in done.answer.text
    assert len(done.answer.citations) == MAX_ITEMS


async def test_a_file_that_is_too_long_is_said_to_be_read_in_part(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "MAX_LISTED_PASSAGES", 5)
    library = Shelf([*deadlines(9), *deadlines(2, "t")], [POLICY, TRAVEL])
    text = (await ask(library, "List all deadlines")).answer.text
    assert text.startswith("5 sentences")
    assert "Read in part: Loan Policy.pdf, 5 passages spread evenly over it." in text
    assert "Not read, since one answer reads so much at most: Travel policy.docx." in text


class ListMaker(NoteTaker):
    """A chat model that lists the passages it is given that name a form; cut off where it is told to be."""

    def __init__(self, stop_reason: str | None = None) -> None:
        super().__init__()
        self.stop_reason = stop_reason

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
        for source in messages[-1].sources:
            yield ChatDelta(text=f"- {source.text} [{source.n}]\nA remark without a number.\n- An item of no passage\n")
        yield ChatDelta(stop_reason=self.stop_reason)


async def ask_model(library: Shelf, model: NoteTaker, tokens: int = 60_000) -> Done:
    return await ask(library, "List all deadlines", chat_model=model, whole_budget=WholeBudget(tokens=tokens))


async def test_a_model_lists_every_part_and_its_items_are_put_together_without_another_answer() -> None:
    long = [replace(one, chunk=replace(one.chunk, text=f"{one.chunk.text} {'x' * 3_000}.")) for one in deadlines(20)]
    model = ListMaker()
    done = await ask_model(Shelf(long, [POLICY]), model)
    assert len(model.sent) == 4
    assert done.answer.text.startswith("20 items:\n\n1. Form 0 is due within 0 days.")
    assert "remark" not in done.answer.text
    assert "no passage" not in done.answer.text
    assert done.answer.text.endswith("Read whole: Loan Policy.pdf, 20 passages.")
    assert [c.locator.page for c in done.answer.citations] == list(range(1, 21))


async def test_where_a_model_is_cut_off_the_list_says_that_items_may_be_missing() -> None:
    done = await ask_model(Shelf(deadlines(3), [POLICY]), ListMaker("length"))
    assert "Of 1 of 1 parts the model's list was cut off" in done.answer.text


async def test_beyond_the_budget_the_list_is_made_by_rules_over_everything() -> None:
    model = ListMaker()
    done = await ask_model(Shelf(deadlines(90), [POLICY]), model, tokens=1_000)
    assert not model.sent
    assert "the limit is 1,000 (CITEWELL_WHOLE_TOKENS). This list was made by rules." in done.answer.text
    assert "90 sentences that state a deadline" in done.answer.text
