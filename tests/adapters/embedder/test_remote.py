"""The vendors' embedders against servers that keep the vendors' contracts, through the settings that choose them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from functools import partial

import numpy as np
import pytest

from citewell.adapters import registry
from citewell.adapters.embedder.openai import OpenAIEmbedder
from citewell.adapters.http import ProviderHttp
from citewell.errors import (
    ConfigurationError,
    ProviderAuthError,
    ProviderModelGone,
    ProviderRejected,
    ProviderUnavailable,
)
from citewell.ports import Embedder, RemoteEmbedder
from citewell.ports.metering import MeteredEmbedder, tallied
from citewell.settings import load_settings
from citewell.testing.embedder_suite import (
    TEXTS,
    EmbedderConformance,
    MultimodalEmbedderConformance,
    RemoteEmbedderConformance,
    ScriptedFault,
)
from tests.adapters.embedder.conftest import Provider

pytestmark = pytest.mark.full

Made = Callable[..., RemoteEmbedder]
KINDS = {"voyage": ("document", "query"), "pinecone": ("passage", "query")}


@pytest.fixture(params=["openai", "voyage", "pinecone"])
def provider(request: pytest.FixtureRequest) -> Iterator[Provider]:
    """Each of them."""
    return request.getfixturevalue(request.param)


class TestOpenAI(RemoteEmbedderConformance):
    @pytest.fixture
    def scripted(self, openai: Provider) -> Made:
        return openai.embedder


class TestVoyage(RemoteEmbedderConformance):
    @pytest.fixture
    def scripted(self, voyage: Provider) -> Made:
        return voyage.embedder


class TestVoyageMultimodal(MultimodalEmbedderConformance, RemoteEmbedderConformance):
    @pytest.fixture
    def scripted(self, voyage: Provider) -> Made:
        return partial(voyage.embedder, embedding_model="voyage-multimodal-3.5")


class TestPinecone(RemoteEmbedderConformance):
    @pytest.fixture
    def scripted(self, pinecone: Provider) -> Made:
        return pinecone.embedder


class TestBuiltIn(EmbedderConformance):
    @pytest.fixture
    def embedder(self) -> Embedder:
        return registry.build_embedder(load_settings().embedding)


async def test_an_answer_that_does_not_come_to_its_end_is_given_up(
    provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("citewell.adapters.http.WHOLE_SECONDS", 2.0)
    monkeypatch.setattr("citewell.adapters.embedder.openai.WHOLE_SECONDS", 2.0)
    embedder = provider.embedder(ScriptedFault(pause=5.0))
    with pytest.raises(ProviderUnavailable, match=r"did not respond within 2 s"):
        await embedder.embed(TEXTS)
    assert len(await embedder.embed(TEXTS)) == len(TEXTS)


async def test_no_more_is_read_of_an_answer_than_vectors_can_have(
    provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("http", "bounded"):
        monkeypatch.setattr(f"citewell.adapters.{module}.MAX_ANSWER_BYTES", 200_000)
    embedder = provider.embedder(ScriptedFault(body=b" " * 200_001 + b"{}"))
    with pytest.raises(ProviderUnavailable):
        await embedder.embed(TEXTS)
    assert len(await embedder.embed(TEXTS)) == len(TEXTS)
    await embedder.close()
    embedder = provider.embedder(ScriptedFault(body=b" " * 200_001 + b"{}"))
    with pytest.raises(ProviderUnavailable, match=r"more than 200,000 bytes|cannot be reached"):
        await embedder.embed(TEXTS)


@pytest.mark.parametrize("name", ["voyage", "pinecone"])
async def test_documents_and_queries_are_told_apart(name: str, request: pytest.FixtureRequest) -> None:
    provider: Provider = request.getfixturevalue(name)
    embedder = provider.embedder()
    document, query = await embedder.embed(TEXTS), await embedder.embed(TEXTS, "query")
    assert not np.allclose(document, query, atol=1e-3)
    sent = [body.get("input_type") or body["parameters"]["input_type"] for body in provider.server.requests]
    assert tuple(sent) == KINDS[name]


async def test_a_wrong_key_is_told(provider: Provider) -> None:
    with pytest.raises(ProviderAuthError, match="key"):
        await provider.embedder(**{f"{provider.name}_api_key": "wrong"}).embed(TEXTS)


async def test_a_model_that_is_gone_is_told(provider: Provider) -> None:
    with pytest.raises(ProviderModelGone, match="Set another one"):
        await provider.embedder(embedding_model="gone-1", embedding_dimensions=64).embed(TEXTS)


async def test_nobody_there_is_told(provider: Provider) -> None:
    with pytest.raises(ProviderUnavailable, match="cannot be reached"):
        await provider.embedder(embedding_base_url="http://127.0.0.1:9").embed(TEXTS)


async def test_a_provider_that_does_not_answer_is_given_up(provider: Provider, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("http", "embedder.openai"):
        monkeypatch.setattr(f"citewell.adapters.{module}.SECONDS", 0.2)
    with pytest.raises(ProviderUnavailable):
        await provider.embedder(ScriptedFault(pause=20.0)).embed(TEXTS)


def test_a_missing_key_is_told_before_anything_is_sent(provider: Provider) -> None:
    with pytest.raises(ConfigurationError, match=f"{provider.name.upper()}_API_KEY"):
        registry.build_embedder(load_settings(embedding_provider=provider.name).embedding)


@pytest.mark.parametrize(
    ("name", "model", "dimensions"),
    [
        ("openai", "text-embedding-3-small", 512),
        ("openai", "text-embedding-3-large", 3_072),
        ("openai", "text-embedding-3-large", 256),
        ("voyage", "voyage-4", 256),
        ("voyage", "voyage-3-lite", 512),
        ("voyage", "voyage-code-3", 2_048),
        ("voyage", "voyage-code-2", 1_536),
        ("voyage", "voyage-code-4", 512),
        ("pinecone", "llama-text-embed-v2", 384),
    ],
)
async def test_the_length_of_vectors_can_be_chosen(
    name: str, model: str, dimensions: int, request: pytest.FixtureRequest
) -> None:
    provider: Provider = request.getfixturevalue(name)
    embedder = provider.embedder(embedding_model=model, embedding_dimensions=dimensions)
    assert (await embedder.embed(TEXTS)).shape == (3, dimensions)
    assert str(embedder.fingerprint) == f"{name}/{model}/{dimensions}"


@pytest.mark.parametrize(
    ("name", "model", "dimensions"),
    [
        ("openai", "text-embedding-ada-002", 512),
        ("voyage", "voyage-4", 300),
        ("pinecone", "multilingual-e5-large", 512),
    ],
)
def test_a_length_that_the_model_does_not_have_is_told(name: str, model: str, dimensions: int) -> None:
    settings = load_settings(
        embedding_provider=name, embedding_model=model, embedding_dimensions=dimensions, **{f"{name}_api_key": "k"}
    )
    with pytest.raises(ConfigurationError, match=f"{dimensions}, but the vectors of {model}"):
        registry.build_embedder(settings.embedding)


@pytest.mark.parametrize(
    "usage",
    [
        pytest.param({}, id="empty"),
        pytest.param(None, id="null"),
        pytest.param([1], id="a-list"),
        pytest.param({"total_tokens": 5}, id="the-total-alone"),
        pytest.param({"prompt_tokens": None}, id="no-count"),
        pytest.param({"prompt_tokens": "many"}, id="words"),
        pytest.param({"prompt_tokens": -5}, id="less-than-nothing"),
        pytest.param({"prompt_tokens": 10**30}, id="more-than-a-call-has"),
    ],
)
async def test_a_compatible_server_may_say_of_usage_what_it_likes(openai: Provider, usage: object) -> None:
    data = [{"object": "embedding", "index": n, "embedding": [1.0, n]} for n in range(len(TEXTS))]
    body = json.dumps({"object": "list", "model": "m", "data": data, "usage": usage}).encode()
    embedder = openai.embedder(ScriptedFault(body=body), embedding_model="m", embedding_dimensions=2)
    with tallied() as tally:
        assert len(await MeteredEmbedder(embedder).embed(TEXTS)) == len(TEXTS)
    [spent] = tally.of("embedding")
    assert spent.input_tokens == sum(embedder.tokenizer.count(TEXTS)), "what is counted here stays"


async def test_a_server_of_ones_own_needs_no_key_but_a_model_and_its_length(openai: Provider) -> None:
    own = {"embedding_provider": "openai", "embedding_base_url": openai.address}
    with pytest.raises(ConfigurationError, match="CITEWELL_EMBEDDING_MODEL"):
        registry.build_embedder(load_settings(**own).embedding)
    with pytest.raises(ConfigurationError, match="CITEWELL_EMBEDDING_DIMENSIONS"):
        registry.build_embedder(load_settings(**own, embedding_model="nomic-embed-text").embedding)
    embedder = registry.build_embedder(
        load_settings(**own, embedding_model="nomic-embed-text", embedding_dimensions=768).embedding
    )
    assert isinstance(embedder, OpenAIEmbedder)
    assert embedder.limits.texts == 32


@pytest.mark.parametrize(
    ("key", "address"), [("al-1", "https://ai.mongodb.com/v1"), ("pa-1", "https://api.voyageai.com/v1")]
)
@pytest.mark.parametrize("part", ["embedding", "rerank"])
def test_a_key_of_voyages_is_sent_where_it_is_good(
    part: str, key: str, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    addresses: list[str] = []

    class Noted(ProviderHttp):
        def __init__(self, address: str, headers: Mapping[str, str], seconds: float | None = None) -> None:
            addresses.append(address)
            super().__init__(address, headers, seconds)

    settings = load_settings(**{f"{part}_provider": "voyage", "voyage_api_key": key})
    module = "embedder" if part == "embedding" else "reranker"
    monkeypatch.setattr(f"citewell.adapters.{module}.voyage.ProviderHttp", Noted)
    if part == "embedding":
        registry.build_embedder(settings.embedding)
    else:
        registry.build_reranker(settings.rerank)
    assert addresses == [address]


async def test_vectors_of_another_length_than_was_set_are_told(openai: Provider) -> None:
    openai.server.trouble = lambda: None
    body = b'{"object": "list", "model": "m", "usage": {"prompt_tokens": 1, "total_tokens": 1}, "data": '
    body += b'[{"object": "embedding", "index": 0, "embedding": [0.5, 0.5]}]}'
    embedder = openai.embedder(ScriptedFault(body=body), embedding_model="mine", embedding_dimensions=3)
    with pytest.raises(ConfigurationError, match="2 dimensions, not 3"):
        await embedder.embed(["one"])


async def test_a_call_beyond_the_limit_is_refused_by_the_provider(provider: Provider) -> None:
    embedder = provider.embedder()
    most = {"openai": 2_048, "voyage": 1_000, "pinecone": 96}[provider.name]
    with pytest.raises(ProviderRejected):
        await embedder.embed([f"text {n}" for n in range(most + 1)])
