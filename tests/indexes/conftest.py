"""Indexes are built with vectors from hashes."""

from __future__ import annotations

import pytest

from citewell.adapters import registry
from citewell.ports import Embedder
from citewell.settings import EmbeddingSettings
from citewell.testing.embedder import HashEmbedder


@pytest.fixture(autouse=True)
def hash_embedders(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever model is configured, its vectors come from hashes: 64 dimensions for the default one."""

    def build(settings: EmbeddingSettings) -> Embedder:
        return HashEmbedder(settings.model or "default", settings.dimensions or 64)

    monkeypatch.setattr(registry, "build_embedder", build)
