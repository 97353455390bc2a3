"""fastembed's cross-encoders: from a folder here, and what is said of one that is missing, damaged or slow."""

from __future__ import annotations

import asyncio
import math
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path

import fastembed.common.model_management as management
import pytest
from fastembed.common.model_description import ModelSource
from fastembed.rerank.cross_encoder import TextCrossEncoder

from citewell import AsyncCitewell
from citewell.adapters import registry
from citewell.adapters.reranker.fastembed import build
from citewell.errors import ConfigurationError, ProviderUnavailable
from citewell.ports import Reranker
from citewell.settings import FastembedRerank, load_settings
from citewell.testing.reranker_suite import DOCUMENTS, QUERY, RerankerConformance
from tests.adapters.hub_files import write_embedder, write_reranker
from tests.adapters.reranker.overlap import LESS

pytestmark = pytest.mark.full

MODEL = "citewell-tests/overlap"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cross-encoder as the hub has them, under a name of its own."""
    if MODEL not in {one["model"] for one in TextCrossEncoder.list_supported_models()}:
        TextCrossEncoder.add_custom_model(MODEL, ModelSource(hf=MODEL), "model.onnx")
    return write_reranker(tmp_path_factory.mktemp("model"))


def given(folder: Path, **values: object) -> dict[str, object]:
    return {
        "rerank_provider": "fastembed",
        "rerank_model": MODEL,
        "fastembed_rerank_path": str(folder),
    } | values


def settings(tmp_path: Path, **values: object) -> FastembedRerank:
    found = load_settings(data=tmp_path, rerank_provider="fastembed", **values).rerank
    assert isinstance(found, FastembedRerank)
    return found


class TestFastembed(RerankerConformance):
    @pytest.fixture
    def reranker(self, folder: Path, tmp_path: Path) -> Reranker:
        built = registry.build_reranker(load_settings(data=tmp_path, **given(folder)).rerank)
        assert built is not None
        return built


async def test_scores_are_the_logistic_function_of_what_the_model_says(folder: Path, tmp_path: Path) -> None:
    reranker = build(settings(tmp_path, rerank_model=MODEL.upper(), fastembed_rerank_path=str(folder)))
    assert reranker.model == MODEL
    texts = [*DOCUMENTS, *(f"loan {'x ' * n}" for n in range(20))]  # more than one slice, of all lengths
    shared = [1 + len(set(QUERY.split()) & set(text.lower().rstrip(".").split())) for text in texts]
    ranked = await reranker.rerank(QUERY, texts, len(texts))
    assert {one.index: pytest.approx(one.score) for one in ranked} == {
        index: 1 / (1 + math.exp(LESS - count)) for index, count in enumerate(shared)
    }
    assert [one.index for one in ranked] == sorted(range(len(texts)), key=lambda i: (-shared[i], i))


async def test_a_text_of_any_length_is_cut_to_what_the_model_reads(folder: Path, tmp_path: Path) -> None:
    reranker = build(settings(tmp_path, rerank_model=MODEL, fastembed_rerank_path=str(folder)))
    long = ["due " * 300_000, "loan " * 300_000, " " * 300_000 + "loan", "loan" * 300_000]
    ranked = await reranker.rerank("loan " * 300_000, long, 5)
    assert ranked[0].index == 1
    assert ranked[0].score > 0.99
    assert [one.score for one in ranked[1:]] == [pytest.approx(1 / (1 + math.exp(LESS - 1)))] * 3


async def test_one_that_is_slow_is_given_up_and_does_not_go_on_with_what_is_left(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    values = {"rerank_model": MODEL, "fastembed_rerank_path": str(folder), "rerank_seconds": 0.3}
    reranker, slices, goes_on = build(settings(tmp_path, **values)), list[int](), threading.Event()

    def second_waits(_: object, __: str, documents: Iterable[str], **___: object) -> Iterator[float]:
        slices.append(len(list(documents)))
        if len(slices) > 1:
            goes_on.wait(20)
        return iter([0.0] * slices[-1])

    monkeypatch.setattr(TextCrossEncoder, "rerank", second_waits)
    try:
        with pytest.raises(ProviderUnavailable, match=r"ranked 8 of 40 texts on this machine in 0\.3 seconds"):
            await reranker.rerank("a", ["b"] * 40, 40)
    finally:
        goes_on.set()
    await asyncio.sleep(0.2)
    assert slices == [8, 8]


@pytest.mark.slow(8)
async def test_a_search_is_reranked_by_it_and_goes_on_without_it(folder: Path, tmp_path: Path) -> None:
    files = [tmp_path / f"{number}.txt" for number in range(len(DOCUMENTS))]
    for file, text in zip(files, DOCUMENTS, strict=True):
        file.write_text(text)
    async with AsyncCitewell(tmp_path / "data", **given(folder)) as library:
        for file in files:
            await library.add(file)
        found = await library.search_result(QUERY, rerank=True)
        assert (found.hits[0].scores.rerank or 0) > 0.5
        assert found.notice is None
        assert {hit.scores.rerank for hit in found.hits if "canteen" in hit.chunk.text} == set(), "below the threshold"
    async with AsyncCitewell(tmp_path / "data", **given(folder, rerank_seconds=1e-6)) as library:
        found = await library.search_result(QUERY, rerank=True)
        assert len(found.hits) == len(DOCUMENTS)
        assert "reranker" in (found.notice or "")


def test_a_model_that_cannot_be_fetched_says_where_it_would_go_and_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: list[float] = []
    monkeypatch.setattr("time.sleep", waits.append)

    def unreachable(*_: object, **__: object) -> str:
        raise OSError("Name or service not known")

    monkeypatch.setattr(management, "model_info", unreachable)
    with pytest.raises(ConfigurationError) as caught:
        build(settings(tmp_path))
    assert "Xenova/ms-marco-MiniLM-L-6-v2 could not be downloaded from huggingface.co" in caught.value.message
    assert str(tmp_path / "models") in caught.value.message
    assert "CITEWELL_FASTEMBED_RERANK_PATH" in caught.value.message
    assert "'builtin' needs no download" in caught.value.message
    assert waits == [1.0, 1.0], "and not the 39 seconds that fastembed tries"


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (
            {"rerank_model": "Xenova/ms-marco-MiniLM-L-6"},
            ("CITEWELL_RERANK_MODEL", "Did you mean 'Xenova/ms-marco-MiniLM-L-6-v2'"),
        ),
        ({"rerank_model": "x"}, ("CITEWELL_RERANK_MODEL", "The default is 'Xenova/ms-marco-MiniLM-L-6-v2'")),
        ({"fastembed_rerank_path": "/nowhere"}, ("cannot be read from /nowhere", "CITEWELL_FASTEMBED_RERANK_PATH")),
    ],
)
def test_what_is_wrong_with_its_settings_is_said(
    tmp_path: Path, values: dict[str, object], words: tuple[str, ...]
) -> None:
    with pytest.raises(ConfigurationError) as caught:
        build(settings(tmp_path, **values))
    assert all(word in caught.value.message for word in words), caught.value.message


def test_an_embedding_model_in_its_folder_is_told_to_be_no_reranker(folder: Path, tmp_path: Path) -> None:
    write_embedder(tmp_path)
    with pytest.raises(ConfigurationError, match="is not a reranker: it outputs 384 numbers"):
        build(settings(tmp_path, rerank_model=MODEL, fastembed_rerank_path=str(tmp_path)))
