"""What a question denies is not answered by what affirms it, nor the other way round."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from citewell.adapters.embedder.builtin import BuiltinEmbedder
from citewell.adapters.reader.builtin import BuiltinReader
from citewell.adapters.reader.reading_model import ReadingModel
from citewell.agent.extractive.answerer import ExtractiveAnswerer
from tests.agent.fakes import hit

COVER = hit(
    "The guarantee covers faults of material for two years from the day of purchase. "
    "It does not cover scale, broken jugs or use in a business.",
    headings=("Guarantee",),
)
PAID = hit(
    "These expenses are reimbursed: second-class rail tickets and hotels up to 160 euros. "
    "Not reimbursed are parking fines and first-class tickets.",
    headings=("Expenses",),
    ordinal=1,
)
RADIO = hit("The R7 supports WPA2 and WPA3. It does not support WEP.", headings=("Specifications",), ordinal=2)
CAP = hit("Le bonnet de bain est obligatoire. Les shorts de bain sont interdits.", headings=("Tenue",), ordinal=3)


ALL = (COVER, PAID, RADIO, CAP)


@pytest.fixture
async def answerer() -> AsyncIterator[ExtractiveAnswerer]:
    embedder = BuiltinEmbedder.load()
    yield ExtractiveAnswerer(embedder, reader=BuiltinReader(ReadingModel.open()))
    await embedder.aclose()


@pytest.mark.parametrize(
    ("question", "start"),
    [
        ("What does the guarantee not cover?", "It does not cover scale"),
        ("What does the guarantee cover?", "The guarantee covers faults"),
        ("What expenses are reimbursed?", "These expenses are reimbursed"),
        ("What is not reimbursed?", "Not reimbursed are parking fines"),
    ],
)
async def test_the_statement_with_the_sign_of_the_question_answers(
    answerer: ExtractiveAnswerer, question: str, start: str
) -> None:
    assert (await answerer.answer(question, ALL)).text.startswith(start)


async def test_of_yes_or_no_the_sentence_with_the_word_that_is_asked_about_is_given_too(
    answerer: ExtractiveAnswerer,
) -> None:
    assert "does not support WEP" in (await answerer.answer("Does the R7 support WEP?", ALL)).text


async def test_a_sentence_that_affirms_what_is_asked_is_an_answer(answerer: ExtractiveAnswerer) -> None:
    answer = await answerer.answer("Le bonnet de bain est-il obligatoire ?", ALL)
    assert answer.text.startswith("Le bonnet de bain est obligatoire.")


async def test_the_date_of_a_message_is_not_that_of_what_it_announces(answerer: ExtractiveAnswerer) -> None:
    mail = hit(
        "From: Ada Reed\nDate: Wed, 21 Dec 2022\nSubject: Family day\n\nGet excited for our family day! It is held on 7 January.",
        headings=("Family day",),
        filename="family-day.eml",
    )
    assert "21 Dec" not in (await answerer.answer("When is the family day held?", [mail])).text


async def test_two_files_that_give_another_date_are_both_quoted(answerer: ExtractiveAnswerer) -> None:
    old = hit("Version 1.0, effective 15 June 2022.", headings=("Harbour policy",), filename="old.md", resource="r1")
    new = hit("Version 2.0, effective 1 March 2025.", headings=("Harbour policy",), filename="new.md", resource="r2")
    text = (await answerer.answer("When does the harbour policy take effect?", [old, new])).text
    assert "15 June 2022" in text
    assert "1 March 2025" in text


WAIT = hit("The target for the waiting time is 8 minutes by the end of the year.", ordinal=4)
MEASURED = hit("Our waiting time is 11 minutes.", ordinal=5)


@pytest.mark.parametrize(
    ("question", "start"),
    [
        ("What is our waiting time?", "Our waiting time"),
        ("What is the target for the waiting time?", "The target for"),
    ],
)
async def test_a_target_is_not_the_figure(answerer: ExtractiveAnswerer, question: str, start: str) -> None:
    assert (await answerer.answer(question, [WAIT, MEASURED])).text.startswith(start)
