"""What a provider's adapters promise, asked of the provider itself; run by `make test-live`, never by `make test`."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator

import pytest

from citewell.adapters import registry
from citewell.doctor.probing import probe_providers
from citewell.ports import Embedder, RemoteEmbedder, Reranker, close_connections
from citewell.settings import Settings, load_settings
from citewell.settings.loading import PROVIDERS
from citewell.testing.embedder_suite import EmbedderConformance
from citewell.testing.reranker_suite import RerankerConformance

PROVIDER = os.environ.pop("CITEWELL_LIVE_PROVIDER")


def settings() -> Settings:
    """Everything that this provider has an adapter for."""
    chosen = {keyword: PROVIDER for keyword, known in PROVIDERS.items() if PROVIDER in known}
    return load_settings(**chosen)


async def test_every_part_works() -> None:
    found = [one for one in await probe_providers(settings()) if one.text.startswith(f"{PROVIDER}:")]
    assert found
    assert [f"{one.part}: {one.text}. {one.advice}" for one in found if one.level != "ok"] == []


if PROVIDER in PROVIDERS["embedding_provider"]:

    class TestEmbedder(EmbedderConformance):
        @pytest.fixture
        async def embedder(self) -> AsyncIterator[Embedder]:
            built = registry.build_embedder(settings().embedding)
            assert isinstance(built, RemoteEmbedder)
            yield built
            await built.close()


if PROVIDER in PROVIDERS["rerank_provider"]:

    class TestReranker(RerankerConformance):
        @pytest.fixture
        async def reranker(self) -> AsyncIterator[Reranker]:
            built = registry.build_reranker(settings().rerank)
            assert built is not None
            yield built
            await close_connections(built)
