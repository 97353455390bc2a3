"""The built-in reader marks the words that answer, tells where none do, and reads the same text alike in any company."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import numpy as np
import pytest

from citewell.adapters.reader.builtin import MAX_ANSWER_TOKENS, BuiltinReader, best_span
from citewell.adapters.reader.reading_model import FOLDER, ReadingModel
from citewell.errors import ConfigurationError
from citewell.types import StatementRead

PASSAGE = (
    "The outer quay was closed for 40 days in spring, which the skippers of small boats remember with anger.",
    "The harbour master is Ada Okafor, who came from Kumasi.",
    "She has worked there since 2004.",
    "Dogs must be kept on a lead because of the nesting gulls.",
)


@pytest.fixture
async def reader() -> AsyncIterator[BuiltinReader]:
    loaded = BuiltinReader(ReadingModel.open())
    yield loaded
    await loaded.aclose()


@pytest.mark.parametrize(
    ("question", "answering", "answer"),
    [
        ("How long was the quay closed?", 0, "40 days"),
        ("Who is the harbour master?", 1, "Ada Okafor"),
        ("Where does the harbour master come from?", 1, "Kumasi"),
        ("Since when has she worked there?", 2, "2004"),
        ("Why must dogs be on a lead?", 3, "nesting gulls"),
        ("Wie lange war der Kai gesperrt?", 0, "40 days"),
        ("Qui dirige le port ?", 1, "Ada Okafor"),
        ("¿Por qué hay que llevar los perros con correa?", 3, "nesting gulls"),
    ],
)
async def test_the_statement_that_answers_is_surest_and_its_answer_marked(
    reader: BuiltinReader, question: str, answering: int, answer: str
) -> None:
    statements = [StatementRead(text, before) for text, before in zip(PASSAGE, ("", *PASSAGE), strict=False)]
    spans = await reader.read(question, statements)
    assert max(range(len(spans)), key=lambda index: spans[index].sure) == answering
    assert spans[answering].sure > 2 + max(span.sure for index, span in enumerate(spans) if index != answering)
    assert answer in PASSAGE[answering][spans[answering].start : spans[answering].end]


async def test_where_no_statement_answers_none_is_likely_to(reader: BuiltinReader) -> None:
    spans = await reader.read("What is the capital of France?", [StatementRead(text) for text in PASSAGE])
    assert max(span.sure for span in spans) < 0


async def test_a_statement_reads_the_same_alone_and_in_company(reader: BuiltinReader) -> None:
    question, statements = "How long was the quay closed?", [StatementRead(text) for text in PASSAGE]
    together = await reader.read(question, statements)
    assert together == [span for one in statements for span in await reader.read(question, [one])]


@pytest.mark.parametrize("text", ["", " \n", "\ud800", "…"])
async def test_what_says_nothing_is_no_answer(reader: BuiltinReader, text: str) -> None:
    (span,) = await reader.read("How long was the quay closed?", [StatementRead(text, text)])
    assert span.sure < 0
    assert 0 <= span.start <= span.end <= len(text)


async def test_long_texts_are_read_as_far_as_the_model_reads(reader: BuiltinReader) -> None:
    question, filler = "How long was the quay closed?" + " please" * 500, "The sea was calm. " * 200
    first, last = await reader.read(
        question, [StatementRead(PASSAGE[0] + filler, filler), StatementRead(filler + PASSAGE[0])]
    )
    assert "40 days" in PASSAGE[0][first.start : first.end]
    assert last.end < len(filler)


async def test_no_statements_need_no_model(tmp_path: Path) -> None:
    shutil.copy(FOLDER / "manifest.json", tmp_path)
    assert await BuiltinReader(ReadingModel.read(tmp_path)).read("Who?", []) == []


async def test_a_damaged_model_is_refused(tmp_path: Path) -> None:
    for name in ("manifest.json", "sentencepiece.model", "words.bin"):
        shutil.copy(FOLDER / name, tmp_path)
    (tmp_path / "reader.onnx").write_bytes(b"no model")
    with pytest.raises(ConfigurationError, match="damaged"):
        await BuiltinReader(ReadingModel.read(tmp_path)).read("Who?", [StatementRead("Ada.")])


def test_without_its_manifest_it_says_so(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="incomplete"):
        ReadingModel.open(tmp_path)


def test_an_answer_ends_after_it_begins_and_is_short() -> None:
    logits = np.full((MAX_ANSWER_TOKENS + 10, 2), -5.0, np.float32)
    logits[5, 0] = 9.0
    logits[3, 1] = 9.0  # ends before it begins
    logits[5 + MAX_ANSWER_TOKENS, 1] = 8.0  # too long
    logits[6, 1] = 2.0
    assert best_span(logits, np.array([1.0, 0.5], np.float32)) == (5, 6, 11.0 - 1.5)
