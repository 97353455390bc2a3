"""Which adapter a setting means. Modules that need a vendor's package are imported only when they are asked for."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

from citewell.errors import ConfigurationError, MissingDependency
from citewell.ports import BlobStore, ChatModel, Embedder, Fingerprint, Reranker, VectorIndex, VisionModel
from citewell.settings import Settings

_EMBEDDERS = {
    "builtin": "citewell.adapters.embedder.builtin:build",
    "openai": "citewell.adapters.embedder.openai:build",
    "voyage": "citewell.adapters.embedder.voyage:build",
    "pinecone": "citewell.adapters.embedder.pinecone:build",
    "fastembed": "citewell.adapters.embedder.fastembed:build",
}
_INDEXES = {
    "edge": "citewell.adapters.index.qdrant_edge:QdrantEdgeIndex",
    "qdrant": "citewell.adapters.index.qdrant:build",
    "pgvector": "citewell.adapters.index.pgvector:build",
    "redis": "citewell.adapters.index.redis:build",
    "pinecone": "citewell.adapters.index.pinecone:build",
}
_RERANKERS = {
    "builtin": "citewell.adapters.reranker.builtin:build",
    "voyage": "citewell.adapters.reranker.voyage:build",
    "pinecone": "citewell.adapters.reranker.pinecone:build",
    "fastembed": "citewell.adapters.reranker.fastembed:build",
}
_CHAT_AND_VISION_MODELS = {
    "openai": "citewell.adapters.chat.openai:build",
    "anthropic": "citewell.adapters.chat.anthropic:build",
}
_BLOB_STORES = {
    "local": "citewell.adapters.blob.local:build",
    "s3": "citewell.adapters.blob.object_store:build",
    "gcs": "citewell.adapters.blob.object_store:build",
}


def check(settings: Settings) -> None:
    """Raise `ConfigurationError` for a part whose adapter or package is not there."""
    _builder(_EMBEDDERS, settings, "embedding_provider")
    _builder(_INDEXES, settings, "vector_store")
    _builder(_BLOB_STORES, settings, "blob_backend")
    if settings.rerank_provider != "none":
        _builder(_RERANKERS, settings, "rerank_provider")


def build_embedder(settings: Settings) -> Embedder:
    """The embedder that the settings name; cached and retried by the caller."""
    return _builder(_EMBEDDERS, settings, "embedding_provider")(settings)


async def open_index(settings: Settings, fingerprint: Fingerprint) -> VectorIndex:
    """The vector store for this model's vectors. `Unavailable` when it cannot be opened or reached."""
    build = _builder(_INDEXES, settings, "vector_store")
    if settings.vector_store == "edge":
        return await build.open(index_folder(settings, fingerprint), fingerprint.dimensions)
    return await build(settings, fingerprint)


def build_reranker(settings: Settings) -> Reranker | None:
    """The reranker, or None when none is configured."""
    if settings.rerank_provider == "none":
        return None
    return _builder(_RERANKERS, settings, "rerank_provider")(settings)


def build_chat_model(settings: Settings) -> ChatModel | None:
    """The chat model, or None: then answers are extractive."""
    if settings.chat_provider == "none":
        return None
    build = _builder(_CHAT_AND_VISION_MODELS, settings, "chat_provider")
    return build(settings, _named(settings, "chat", settings.chat_model))


def build_vision_model(settings: Settings) -> VisionModel | None:
    """The vision model, or None: then images are kept and read by OCR, not described."""
    if settings.vision_provider == "none":
        return None
    build = _builder(_CHAT_AND_VISION_MODELS, settings, "vision_provider")
    return build(settings, _named(settings, "vision", settings.vision_model or settings.chat_model))


def build_blob_store(settings: Settings) -> BlobStore:
    """Where the bytes go."""
    return _builder(_BLOB_STORES, settings, "blob_backend")(settings)


def index_folder(settings: Settings, fingerprint: Fingerprint) -> Path:
    """The folder of an embedded index: one per fingerprint."""
    name = "".join(c if c.isalnum() or c in "-." else "_" for c in str(fingerprint))
    return settings.data / "indexes" / name


def _named(settings: Settings, part: str, model: str | None) -> str:
    if model is None:
        provider = settings.name_of(f"{part}_provider")
        raise ConfigurationError(f"{provider} is set: name the model to use in {settings.name_of(f'{part}_model')}.")
    return model


def _builder(table: dict[str, str], settings: Settings, setting: str) -> Any:
    name: str = getattr(settings, setting)
    given_as = settings.name_of(setting)
    module_name, _, attribute = table[name].partition(":")
    try:
        module = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name and error.name.startswith("citewell"):
            raise ConfigurationError(
                f"There is no adapter for {name!r} here. Choose another one in {given_as}."
            ) from error
        message = f"{given_as} is {name!r}, which needs the package {error.name!r}. Install it with: pip install 'citewell[{name}]'"
        raise MissingDependency(message) from error
    except ImportError as error:
        message = f"{given_as} is {name!r}, whose packages do not fit: {error}. Install them with: pip install 'citewell[{name}]'"
        raise MissingDependency(message) from error
    return getattr(module, attribute)
