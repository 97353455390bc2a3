"""Servers of vectors, and embedders that talk to them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest

from citewell.adapters import registry
from citewell.ports import RemoteEmbedder
from citewell.settings import load_settings
from citewell.testing.embedder_suite import ScriptedFault
from tests.contract_servers import openai as openai_contract
from tests.contract_servers import pinecone as pinecone_contract
from tests.contract_servers import voyage as voyage_contract
from tests.contract_servers.faults import Fault, Faults
from tests.contract_servers.openai import OpenAIServer
from tests.contract_servers.pinecone import PineconeServer
from tests.contract_servers.serving import serving
from tests.contract_servers.voyage import VoyageServer

VectorServer = OpenAIServer | VoyageServer | PineconeServer
MADE: list[RemoteEmbedder] = []


class Provider:
    """A contract server at its address, and the embedders that the settings make of it."""

    def __init__(self, name: str, server: VectorServer, address: str, key: str) -> None:
        self.name = name
        self.server = server
        self.address = address
        self.key = key

    def embedder(self, *faults: ScriptedFault, **settings: object) -> RemoteEmbedder:
        """The adapter that settings lead to, with a server that fails so."""
        self.server.trouble = Faults(
            *(
                Fault(status=f.status, message=f.message, retry_after=f.retry_after, body=f.body, pause=f.pause)
                for f in faults
            )
        )
        built = registry.build_embedder(load_settings(**{**self.settings(), **settings}).embedding)
        assert isinstance(built, RemoteEmbedder)
        MADE.append(built)
        return built

    def settings(self) -> dict[str, object]:
        """What chooses this provider at this address."""
        return {
            "embedding_provider": self.name,
            f"{self.name}_api_key": self.key,
            "embedding_base_url": self.address,
            **({"embedding_model": "text-embedding-3-small"} if self.name == "openai" else {}),
        }


@pytest.fixture(autouse=True)
async def _closed() -> AsyncIterator[None]:
    """Close what a test has made, in the test's event loop."""
    yield
    while MADE:
        await MADE.pop().close()


@pytest.fixture
def openai() -> Iterator[Provider]:
    """OpenAI's embeddings."""
    server = OpenAIServer()
    with serving(server.app) as address:
        yield Provider("openai", server, f"{address}/v1", openai_contract.KEY)


@pytest.fixture
def voyage() -> Iterator[Provider]:
    """Voyage's embeddings."""
    server = VoyageServer()
    with serving(server.app) as address:
        yield Provider("voyage", server, f"{address}/v1", voyage_contract.KEY)


@pytest.fixture
def pinecone() -> Iterator[Provider]:
    """Pinecone's inference."""
    server = PineconeServer()
    with serving(server.app) as address:
        yield Provider("pinecone", server, address, pinecone_contract.KEY)
