"""fastembed's models: from a folder here, and what is said when one cannot be fetched."""

from __future__ import annotations

from pathlib import Path

import fastembed.common.model_management as management
import numpy as np
import pytest
from fastembed import TextEmbedding
from fastembed.common.model_description import ModelSource, PoolingType

from citewell.adapters import registry
from citewell.adapters.embedder.builtin import BuiltinEmbedder
from citewell.adapters.embedder.fastembed import FastembedEmbedder, build
from citewell.errors import ConfigurationError
from citewell.ports import Embedder
from citewell.settings import FastembedEmbedding, load_settings
from citewell.testing.embedder_suite import TEXTS, EmbedderConformance
from tests.adapters.hub_files import write_embedder

pytestmark = pytest.mark.full

MODEL = "citewell-tests/all-MiniLM-L6-v2"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built-in model as the hub has models, under a name of its own: its graph pools by itself."""
    if MODEL not in {one["model"] for one in TextEmbedding.list_supported_models()}:
        TextEmbedding.add_custom_model(
            MODEL, PoolingType.DISABLED, True, ModelSource(hf=MODEL), 384, model_file="model.onnx"
        )
    return write_embedder(tmp_path_factory.mktemp("model"))


def settings(tmp_path: Path, **values: object) -> FastembedEmbedding:
    found = load_settings(data=tmp_path, embedding_provider="fastembed", **values).embedding
    assert isinstance(found, FastembedEmbedding)
    return found


class TestFastembed(EmbedderConformance):
    @pytest.fixture
    def embedder(self, folder: Path, tmp_path: Path) -> Embedder:
        return registry.build_embedder(settings(tmp_path, embedding_model=MODEL, fastembed_path=str(folder)))


async def test_its_vectors_are_those_of_the_same_model_elsewhere(folder: Path, tmp_path: Path) -> None:
    found = build(settings(tmp_path, embedding_model=MODEL.lower(), fastembed_path=str(folder)))
    assert found.max_tokens == 256
    assert found.fingerprint.dimensions == 384
    for text in TEXTS:  # one by one: this graph, unlike the hub's, takes texts of one length only
        here, there = await found.embed([text]), await BuiltinEmbedder.load().embed([text])
        assert np.allclose(here, there, atol=1e-3)


async def test_a_query_is_read_with_what_its_model_was_trained_to_read_before_it(folder: Path, tmp_path: Path) -> None:
    model = TextEmbedding(MODEL, specific_model_path=str(folder), cache_dir=str(tmp_path))
    plain, instructed = (FastembedEmbedder(model, name, 384) for name in (MODEL, "intfloat/multilingual-e5-large"))
    said = await plain.embed(["query: a loan", "passage: a loan"])
    assert np.allclose(await instructed.embed(["a loan"], "query"), said[:1], atol=1e-3)
    assert np.allclose(await instructed.embed(["a loan"]), said[1:], atol=1e-3)
    assert instructed.max_tokens < plain.max_tokens


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
    assert "BAAI/bge-small-en-v1.5 could not be downloaded from huggingface.co" in caught.value.message
    assert str(tmp_path / "models") in caught.value.message
    assert "CITEWELL_FASTEMBED_PATH" in caught.value.message
    assert "'builtin' needs no download" in caught.value.message
    assert waits == [1.0, 1.0], "and not the 39 seconds that fastembed tries"


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"embedding_model": "BAAI/bge-smal-en-v1.5"}, ("CITEWELL_EMBEDDING_MODEL", "Did you mean 'BAAI/bge-small-en")),
        ({"embedding_dimensions": 3}, ("CITEWELL_EMBEDDING_DIMENSIONS", "have 384")),
        ({"fastembed_path": "/nowhere"}, ("cannot be read from /nowhere", "CITEWELL_FASTEMBED_PATH")),
    ],
)
def test_what_is_wrong_with_its_settings_is_said(
    tmp_path: Path, values: dict[str, object], words: tuple[str, ...]
) -> None:
    with pytest.raises(ConfigurationError) as caught:
        build(settings(tmp_path, **values))
    assert all(word in caught.value.message for word in words), caught.value.message
