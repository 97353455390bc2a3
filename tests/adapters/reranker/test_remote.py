"""The vendors' rerankers against servers that keep the vendors' contracts, through the settings that choose them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Generator, Iterator
from contextlib import contextmanager

import pytest

from citewell.adapters import registry
from citewell.adapters.reranker.remote import HttpReranker
from citewell.errors import ConfigurationError, ProviderAuthError, ProviderUnavailable
from citewell.ports import Reranker
from citewell.settings import load_settings
from citewell.testing.embedder_suite import ScriptedFault
from citewell.testing.reranker_suite import DOCUMENTS, QUERY, RemoteRerankerConformance, RerankerConformance
from tests.contract_servers import cohere, pinecone, tei, voyage
from tests.contract_servers.cohere import CohereServer
from tests.contract_servers.faults import Fault, Faults
from tests.contract_servers.pinecone import PineconeServer
from tests.contract_servers.serving import serving
from tests.contract_servers.tei import TeiServer
from tests.contract_servers.voyage import VoyageServer

pytestmark = pytest.mark.full

Made = Callable[..., HttpReranker]
_MADE: list[HttpReranker] = []
_PROVIDERS = {
    "voyage": (VoyageServer, voyage.KEY, "/v1"),
    "pinecone": (PineconeServer, pinecone.KEY, ""),
    "cohere": (CohereServer, cohere.KEY, "/v2"),
    "tei": (TeiServer, tei.KEY, ""),
}


@pytest.fixture(autouse=True)
async def _closed() -> AsyncIterator[None]:
    """Close what a test has made, in the test's event loop."""
    yield
    while _MADE:
        await _MADE.pop().close()


@contextmanager
def _provider(name: str) -> Generator[Made]:
    kind, key, path = _PROVIDERS[name]
    server = kind()
    with serving(server.app) as address:

        def make(*faults: ScriptedFault, **settings: object) -> HttpReranker:
            server.trouble = Faults(
                *(
                    Fault(status=f.status, message=f.message, retry_after=f.retry_after, body=f.body, pause=f.pause)
                    for f in faults
                )
            )
            given: dict[str, object] = {
                "rerank_provider": name,
                f"{name}_api_key": key,
                "rerank_base_url": f"{address}{path}",
                "rerank_model": "rerank-v3.5" if name == "cohere" else None,
            }
            built = registry.build_reranker(load_settings(**given | settings).rerank)
            assert isinstance(built, HttpReranker)
            _MADE.append(built)
            return built

        yield make


class TestVoyage(RemoteRerankerConformance):
    @pytest.fixture
    def scripted(self) -> Iterator[Made]:
        with _provider("voyage") as make:
            yield make


class TestPinecone(RemoteRerankerConformance):
    @pytest.fixture
    def scripted(self) -> Iterator[Made]:
        with _provider("pinecone") as make:
            yield make


class TestCohere(RemoteRerankerConformance):
    @pytest.fixture
    def scripted(self) -> Iterator[Made]:
        with _provider("cohere") as make:
            yield make


class TestTei(RemoteRerankerConformance):
    @pytest.fixture
    def scripted(self) -> Iterator[Made]:
        with _provider("tei") as make:
            yield make


class TestBuiltIn(RerankerConformance):
    @pytest.fixture
    def reranker(self) -> Reranker:
        built = registry.build_reranker(load_settings().rerank)
        assert built is not None
        return built


@pytest.mark.parametrize("name", _PROVIDERS)
async def test_a_wrong_key_and_a_slow_provider_are_told(name: str) -> None:
    with _provider(name) as make:
        with pytest.raises(ProviderAuthError):
            await make(**{f"{name}_api_key": "wrong"}).rerank(QUERY, DOCUMENTS, 3)
        slow = make(ScriptedFault(pause=3.0), rerank_seconds=0.2)
        with pytest.raises(ProviderUnavailable):
            await slow.rerank(QUERY, DOCUMENTS, 3)


@pytest.mark.parametrize("name", ["voyage", "pinecone", "cohere"])
def test_a_missing_key_is_told(name: str) -> None:
    with pytest.raises(ConfigurationError, match=f"{name.upper()}_API_KEY"):
        registry.build_reranker(load_settings(rerank_provider=name).rerank)


def test_a_server_of_tei_needs_an_address_and_no_key() -> None:
    with pytest.raises(ConfigurationError, match="CITEWELL_RERANK_BASE_URL"):
        registry.build_reranker(load_settings(rerank_provider="tei").rerank)
    assert registry.build_reranker(load_settings(rerank_provider="tei", rerank_base_url="http://127.0.0.1:9").rerank)


def test_a_server_of_ones_own_needs_a_model_and_no_key() -> None:
    own = {"rerank_provider": "cohere", "rerank_base_url": "http://127.0.0.1:9/v1"}
    with pytest.raises(ConfigurationError, match="CITEWELL_RERANK_MODEL"):
        registry.build_reranker(load_settings(**own).rerank)
    built = registry.build_reranker(load_settings(**own, rerank_model="bge").rerank)
    assert built is not None
    assert built.model == "bge"


async def test_more_documents_than_the_provider_takes_are_not_sent() -> None:
    with _provider("pinecone") as make:
        assert len(await make().rerank("a", [f"text {n}" for n in range(130)], 130)) == 100


@pytest.mark.parametrize(
    ("index", "score"),
    [
        pytest.param("0", "NaN", id="no-number"),
        pytest.param("0", "Infinity", id="infinite"),
        pytest.param("0", "1e999", id="too-large"),
        pytest.param("Infinity", "1.0", id="an-infinite-index"),
    ],
)
async def test_scores_that_are_no_numbers_are_an_error(index: str, score: str) -> None:
    # Half-precision models come to such scores; without an error every passage would be below the threshold, or above.
    ranks = f'[{{"index": {index}, "score": {score}}}, {{"index": 1, "score": 0.5}}, {{"index": 2, "score": 0.1}}]'
    with _provider("tei") as make:
        reranker = make(ScriptedFault(body=ranks.encode()))
        with pytest.raises(ProviderUnavailable, match="is malformed"):
            await reranker.rerank(QUERY, DOCUMENTS[:3], 3)
