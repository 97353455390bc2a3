"""The built-in embedder with its real model: as close to the published one as promised, whatever the text and the company."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest

from citewell.adapters.embedder.builtin import BuiltinEmbedder, build, by_length
from citewell.adapters.embedder.builtin_model import MODEL_FOLDER, BuiltinModel
from citewell.adapters.embedder.builtin_tokenizer import WordPieceTokenizer
from citewell.errors import ConfigurationError
from citewell.ports import Embedder, FloatMatrix
from citewell.ports.metering import MeteredEmbedder, tallied
from citewell.settings import BuiltinEmbedding

REFERENCE = json.loads((Path(__file__).parent / "reference.json").read_text(encoding="utf-8"))
SENTENCES: list[str] = [row["text"] for row in REFERENCE]
PUBLISHED = np.array([row["vector"] for row in REFERENCE], np.float32)


@pytest.fixture(scope="module")
def embedder() -> BuiltinEmbedder:
    return BuiltinEmbedder.load()


async def test_vectors_are_close_to_those_of_the_published_model_in_float32(embedder: BuiltinEmbedder) -> None:
    vectors = await embedder.embed(SENTENCES)
    cosines = (vectors * PUBLISHED).sum(axis=1)
    assert cosines.min() > 0.993
    assert cosines.mean() > 0.997


async def test_it_says_how_many_tokens_it_has_read_so_that_nobody_counts_them_again(
    embedder: BuiltinEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = ["Fees are due in March.", "x", "tide " * 1_000]
    read = [min(count, embedder.max_tokens - 2) for count in embedder.tokenizer.count(texts)]
    metered = MeteredEmbedder(embedder)
    monkeypatch.setattr(WordPieceTokenizer, "count", None)
    with tallied() as tally:
        await metered.embed(texts)
    (spent,) = tally.of("embedding")
    assert (spent.input_tokens, spent.units) == (sum(read), 3)
    assert read[2] == embedder.max_tokens - 2


async def test_vectors_have_the_declared_shape_and_unit_length(embedder: BuiltinEmbedder) -> None:
    vectors = await embedder.embed(SENTENCES)
    assert isinstance(embedder, Embedder)
    assert vectors.shape == (len(SENTENCES), embedder.fingerprint.dimensions)
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1.0, abs=1e-5)


async def test_each_sentence_is_nearest_to_the_one_that_says_the_same(embedder: BuiltinEmbedder) -> None:
    vectors = await embedder.embed(SENTENCES[:12])
    similar = vectors @ vectors.T - 2 * np.eye(12)
    assert similar.argmax(axis=1).tolist() == [n + 1 if n % 2 == 0 else n - 1 for n in range(12)]


async def test_a_text_gets_the_same_vector_in_any_company_and_order(embedder: BuiltinEmbedder) -> None:
    alone = np.concatenate([await embedder.embed([text], "query") for text in SENTENCES])
    order = np.random.default_rng(1).permutation(len(SENTENCES) * 3)
    together = await embedder.embed([SENTENCES[index % len(SENTENCES)] for index in order], "query")
    assert np.abs(together - alone[order % len(SENTENCES)]).max() < 1e-5


async def test_a_question_in_another_language_comes_near_what_answers_it_in_english(embedder: BuiltinEmbedder) -> None:
    passages = await embedder.embed(["The notice period is three months.", "Dogs are not allowed in the pool."])
    for question in ("Wie lange ist die Kündigungsfrist?", "Quel est le délai de congé ?"):
        own, asked = await embedder.embed([question], "document"), await embedder.embed([question], "query")
        assert float(passages[0] @ asked[0]) > float(passages[0] @ own[0])
        assert int((passages @ asked[0]).argmax()) == 0


async def test_nothing_in_gives_nothing_out(embedder: BuiltinEmbedder) -> None:
    assert (await embedder.embed([])).shape == (0, 384)
    assert await embedder.token_vectors([]) == []


async def test_text_beyond_what_the_model_reads_does_not_count(embedder: BuiltinEmbedder) -> None:
    read, more = "river " * (embedder.max_tokens - 2), "mountain " * 300
    vectors = await embedder.embed([read, read + more, "river " * 20 + more])
    assert vectors[0] @ vectors[1] == pytest.approx(1.0, abs=1e-5)
    assert vectors[0] @ vectors[2] < 0.9


@pytest.mark.parametrize(
    "text",
    [
        "",
        " \n\t",
        "\0",
        "a\0b",
        "🎉👩‍👩‍👧",
        "\ud800 half a character",
        "[SEP] [MASK]",
        "‮‏",
        "漢" * 4000,
        "x" * 1_000_000,
        "ab " * 350_000,
    ],
    ids=lambda text: f"{len(text)}-{text[:6]!a}",
)
async def test_any_string_has_a_unit_vector(embedder: BuiltinEmbedder, text: str) -> None:
    (vector,) = await embedder.embed([text])
    assert np.linalg.norm(vector) == pytest.approx(1.0, abs=1e-5)


async def test_reading_a_huge_text_stops_at_a_bound(embedder: BuiltinEmbedder) -> None:
    vectors = await embedder.embed(["", " " * 20_000 + "a word far out", " " * 10_000 + "a word far out"])
    assert vectors[0] @ vectors[1] == pytest.approx(1.0, abs=1e-5)
    assert vectors[0] @ vectors[2] < 0.9


@pytest.mark.parametrize("text", ["", "\0 \ud800", "[SEP]", "x" * 5000, "‮🎉漢 e\u0301"], ids=ascii)
def test_any_string_can_be_counted_and_placed(embedder: BuiltinEmbedder, text: str) -> None:
    offsets = embedder.tokenizer.offsets(text)
    assert embedder.tokenizer.count([text, text]) == [len(offsets)] * 2
    assert all(0 <= start < end <= len(text) for start, end in offsets)


def test_tokens_are_counted_and_placed(embedder: BuiltinEmbedder) -> None:
    text = "Größe: 12 🎉 Kiloböcke"
    offsets = embedder.tokenizer.offsets(text)
    assert embedder.tokenizer.count([text, "", "one two"]) == [len(offsets), 0, 2]
    assert "".join(text[start:end] for start, end in offsets) == text.replace(" ", "")
    assert {":", "12", "🎉"} <= {text[start:end] for start, end in offsets}


async def test_token_vectors_stand_beside_the_offsets_of_their_tokens(embedder: BuiltinEmbedder) -> None:
    texts = ["The bank of the river flooded", "", "The bank raised its interest rate", "stone " * 400]
    found = await embedder.token_vectors(texts)
    assert [len(rows) for rows in found] == [6, 0, 6, embedder.max_tokens - 2]
    assert np.linalg.norm(np.concatenate(found), axis=1) == pytest.approx(1.0, abs=1e-5)
    (query,) = await embedder.token_vectors(["river"])
    assert int((found[0] @ query[0]).argmax()) == 4


def test_batches_hold_texts_of_one_length_and_every_text_once() -> None:
    lengths = [5, 256, 5, 90, 90, 90, 2, *[5] * 60]
    batches = by_length([[0] * length for length in lengths])
    assert sorted(index for batch in batches for index in batch) == list(range(len(lengths)))
    assert all(len({lengths[index] for index in batch}) == 1 for batch in batches)
    assert all(sum(lengths[index] for index in batch) <= 256 for batch in batches)
    assert len(batches) < 10


class WatchedModel(BuiltinModel):
    """The real model; long texts wait at a gate, and every run notes its thread's priority."""

    def __init__(self) -> None:
        whole = BuiltinModel.open()
        super().__init__(whole.folder, whole.dimensions, whole.max_tokens, {"model.onnx": "-"})
        self._whole = whole
        self.gate = threading.Event()
        self.runs: list[tuple[int, int]] = []

    @property
    def tokenizer(self) -> WordPieceTokenizer:
        return self._whole.tokenizer

    def sentence_vectors(self, token_ids: Sequence[Sequence[int]]) -> FloatMatrix:
        niceness = os.getpriority(os.PRIO_PROCESS, threading.get_native_id()) if sys.platform == "linux" else 0
        self.runs.append((len(token_ids[0]), niceness))
        if len(token_ids[0]) > 50:
            assert self.gate.wait(60)
        return self._whole.sentence_vectors(token_ids)


@pytest.fixture
def watched() -> Iterator[WatchedModel]:
    model = WatchedModel()
    yield model
    model.gate.set()


async def _until(condition: Callable[[], bool]) -> None:
    for _ in range(6000):
        if condition():
            return
        await asyncio.sleep(0.01)
    raise TimeoutError


async def test_a_query_does_not_wait_behind_documents(watched: WatchedModel) -> None:
    embedder = BuiltinEmbedder(watched, threads=2)
    documents = asyncio.create_task(embedder.embed(["tree " * n for n in range(60, 90)]))
    await _until(lambda: len(watched.runs) == 2)
    vector = await asyncio.wait_for(embedder.embed(["trees"], "query"), 60)
    assert not documents.done()
    watched.gate.set()
    assert vector.shape == (1, 384)
    assert (await documents).shape == (30, 384)
    await embedder.aclose()


async def test_documents_yield_to_everything_else(watched: WatchedModel) -> None:
    embedder = BuiltinEmbedder(watched, threads=1)
    await embedder.embed(["documents"])
    await embedder.embed(["a query"], "query")
    (_, of_document), (_, of_query) = watched.runs
    assert of_query < of_document or sys.platform != "linux"
    await embedder.aclose()


async def test_a_cancelled_call_stops_computing(watched: WatchedModel) -> None:
    embedder = BuiltinEmbedder(watched, threads=2)
    documents = asyncio.create_task(embedder.embed(["tree " * n for n in range(60, 120)]))
    await _until(lambda: len(watched.runs) == 2)
    documents.cancel()
    with pytest.raises(asyncio.CancelledError):
        await documents
    watched.gate.set()
    await embedder.aclose()
    assert len(watched.runs) == 2


async def test_queries_asked_at_once_go_together_and_get_the_vectors_that_they_get_alone(watched: WatchedModel) -> None:
    embedder = BuiltinEmbedder(watched, threads=1)
    texts = [text for text in SENTENCES if len(text) < 50]
    alone = [await embedder.embed([text], "query") for text in texts]
    watched.runs.clear()
    first = asyncio.create_task(embedder.embed(["tree " * 60], "query"))
    await _until(lambda: len(watched.runs) == 1)
    asked = [asyncio.create_task(embedder.embed([text], "query")) for text in [*texts, "nobody waits"]]
    await asyncio.sleep(0)
    asked.pop().cancel()
    watched.gate.set()
    together = await asyncio.gather(*asked)
    assert [one.shape for one in together] == [(1, 384)] * len(texts)
    assert max(float(np.abs(one - other).max()) for one, other in zip(together, alone, strict=True)) < 1e-5
    assert (await first).shape == (1, 384)
    assert len(watched.runs) < 1 + len(texts), "queries of one length share a run"
    await embedder.aclose()


async def test_a_query_that_fails_is_told_and_the_next_is_answered(
    watched: WatchedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    embedder = BuiltinEmbedder(watched, threads=1)
    with monkeypatch.context() as broken:
        broken.setattr(watched, "_whole", None)
        asked = [embedder.embed([text], "query") for text in ("one", "two", "three")]
        told = await asyncio.gather(*asked, return_exceptions=True)
    assert [type(one) for one in told] == [AttributeError] * 3
    assert (await embedder.embed(["one"], "query")).shape == (1, 384)
    await embedder.aclose()


async def test_queries_that_wait_when_it_closes_are_cancelled_or_answered(watched: WatchedModel) -> None:
    embedder = BuiltinEmbedder(watched, threads=1)
    documents = asyncio.create_task(embedder.embed(["tree " * 60], "query"))
    await _until(lambda: len(watched.runs) == 1)
    waiting = asyncio.create_task(embedder.embed(["leaves"], "query"))
    await asyncio.sleep(0)
    closing = asyncio.create_task(embedder.aclose())
    await asyncio.sleep(0.01)
    watched.gate.set()
    await closing
    ended = await asyncio.wait_for(asyncio.gather(documents, waiting, return_exceptions=True), 60)
    assert all(isinstance(one, asyncio.CancelledError) or getattr(one, "shape", None) == (1, 384) for one in ended)
    with pytest.raises(RuntimeError):
        await embedder.embed(["late"], "query")


async def test_closing_twice_is_harmless() -> None:
    embedder = BuiltinEmbedder.load(threads=1)
    await embedder.embed(["a"])
    await embedder.aclose()
    await embedder.aclose()


def test_the_fingerprint_names_the_very_file(embedder: BuiltinEmbedder) -> None:
    manifest = json.loads((MODEL_FOLDER / "manifest.json").read_text(encoding="utf-8"))
    assert str(embedder.fingerprint) == f"builtin/all-MiniLM-L6-v2/384@{manifest['outputs']['model.onnx'][:12]}"


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json", "manifest.json"])
async def test_a_damaged_or_missing_file_is_named(tmp_path: Path, name: str) -> None:
    damaged, missing = tmp_path / "damaged", tmp_path / "missing"
    shutil.copytree(MODEL_FOLDER, damaged)
    shutil.copytree(MODEL_FOLDER, missing)
    (damaged / name).write_bytes((damaged / name).read_bytes()[:100])
    (missing / name).unlink()
    for folder in (damaged, missing):
        with pytest.raises(ConfigurationError, match=f"{folder.name}.*Reinstall Citewell"):
            await BuiltinEmbedder.load(folder).embed(["a"])


def test_settings_cannot_ask_the_built_in_embedder_for_another_model() -> None:
    assert build(BuiltinEmbedding()).fingerprint.provider == "builtin"
    for asked in (BuiltinEmbedding(model="another"), BuiltinEmbedding(dimensions=512)):
        with pytest.raises(ConfigurationError, match="built-in"):
            build(asked)
