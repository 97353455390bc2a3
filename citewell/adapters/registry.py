"""Builds the adapter for each provider's settings. Modules that need a vendor's package are imported only on demand."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from citewell.errors import ConfigurationError, MissingDependency
from citewell.ports import BlobStore, ChatModel, Embedder, Fingerprint, Reranker, VectorIndex, VisionModel
from citewell.ports.remote_vectors import OpenedVectors
from citewell.settings import (
    AnthropicChat,
    AnthropicVision,
    AzureBlobs,
    BlobSettings,
    BuiltinEmbedding,
    BuiltinRerank,
    ChatSettings,
    CohereRerank,
    EdgeStore,
    EmbeddingSettings,
    FastembedEmbedding,
    FastembedRerank,
    GcsBlobs,
    HubSettings,
    LocalBlobs,
    MailSettings,
    NoChat,
    NoRerank,
    NoVision,
    OpenAIChat,
    OpenAIEmbedding,
    OpenAIVision,
    PgvectorStore,
    PineconeEmbedding,
    PineconeRerank,
    PineconeStore,
    QdrantStore,
    RedisStore,
    RerankSettings,
    S3Blobs,
    Settings,
    StoreEmbedding,
    StoreSettings,
    TeiRerank,
    VisionSettings,
    VoyageEmbedding,
    VoyageRerank,
)

if TYPE_CHECKING:
    from citewell.adapters.mail.smtp import SmtpMailer

FACTORIES: Mapping[type, str] = {
    BuiltinEmbedding: "citewell.adapters.embedder.builtin:build",
    FastembedEmbedding: "citewell.adapters.embedder.fastembed:build",
    OpenAIEmbedding: "citewell.adapters.embedder.openai:build",
    VoyageEmbedding: "citewell.adapters.embedder.voyage:build",
    PineconeEmbedding: "citewell.adapters.embedder.pinecone:build",
    StoreEmbedding: "citewell.adapters.embedder.pinecone:build",
    EdgeStore: "citewell.adapters.index.qdrant_edge:build",
    PgvectorStore: "citewell.adapters.index.pgvector:build",
    PineconeStore: "citewell.adapters.index.pinecone:build",
    QdrantStore: "citewell.adapters.index.qdrant:build",
    RedisStore: "citewell.adapters.index.redis:build",
    BuiltinRerank: "citewell.adapters.reranker.builtin:build",
    FastembedRerank: "citewell.adapters.reranker.fastembed:build",
    VoyageRerank: "citewell.adapters.reranker.voyage:build",
    PineconeRerank: "citewell.adapters.reranker.pinecone:build",
    CohereRerank: "citewell.adapters.reranker.cohere:build",
    TeiRerank: "citewell.adapters.reranker.tei:build",
    OpenAIChat: "citewell.adapters.chat.openai:build",
    AnthropicChat: "citewell.adapters.chat.anthropic:build",
    OpenAIVision: "citewell.adapters.chat.openai:build",
    AnthropicVision: "citewell.adapters.chat.anthropic:build",
    LocalBlobs: "citewell.adapters.blob.local:build",
    S3Blobs: "citewell.adapters.blob.object_store:build_s3",
    GcsBlobs: "citewell.adapters.blob.object_store:build_gcs",
    AzureBlobs: "citewell.adapters.blob.object_store:build_azure",
}


def check(settings: Settings) -> None:
    """Raise `MissingDependency` for a missing package, `ConfigurationError` for settings that contradict each other."""
    _factory(settings.embedding)
    _factory(settings.store)
    if isinstance(settings.embedding, StoreEmbedding) and not isinstance(settings.store, PineconeStore):
        raise ConfigurationError(
            f"{settings.embedding.name_of('provider')} is 'store', but the vector store {settings.store.provider!r} does not embed texts. "
            f"Set {settings.store.name_of('provider')} to 'pinecone', or choose another embedder."
        )
    _factory(settings.blobs)
    if not isinstance(settings.rerank, NoRerank):
        _factory(settings.rerank)


def build_embedder(settings: EmbeddingSettings) -> Embedder:
    """Build the embedder; the caller adds caching and retries."""
    return _factory(settings)(settings)


async def open_index(settings: StoreSettings, fingerprint: Fingerprint) -> VectorIndex | OpenedVectors:
    """Open the vector store for this model's vectors. Raises `Unavailable` if it cannot be opened or reached."""
    return await _factory(settings)(settings, fingerprint)


def build_reranker(settings: RerankSettings) -> Reranker | None:
    """Build the reranker; None if none is configured."""
    return None if isinstance(settings, NoRerank) else _factory(settings)(settings)


def awaited_model(settings: HubSettings) -> str | None:
    """What the first start will download from Hugging Face, as a sentence; None if the model is present.

    Raises `ProviderUnavailable` if the hub is unreachable.
    """
    _factory(settings)
    return importlib.import_module("citewell.adapters.hub_models").awaited(settings)


def build_chat_model(settings: ChatSettings) -> ChatModel | None:
    """Build the chat model; without one (None), answers are extractive."""
    if isinstance(settings, NoChat):
        return None
    return _factory(settings)(settings, _model(settings, settings.model))


def build_vision_model(settings: VisionSettings) -> VisionModel | None:
    """Build the vision model; without one (None), images are stored and read by OCR, but not described."""
    if isinstance(settings, NoVision):
        return None
    return _factory(settings)(settings, _model(settings, settings.chosen_model))


def build_blob_store(settings: BlobSettings) -> BlobStore:
    """Build the blob store."""
    return _factory(settings)(settings)


def build_mailer(settings: MailSettings) -> SmtpMailer | None:
    """Build the mailer; without one (None), forgotten passwords are reset on the server."""
    return None if settings.smtp_url is None else importlib.import_module("citewell.adapters.mail.smtp").build(settings)


def _model(settings: OpenAIChat | AnthropicChat | OpenAIVision | AnthropicVision, model: str | None) -> str:
    """The configured model, else the provider's default; self-hosted servers have no default."""
    if model is None and isinstance(settings, OpenAIChat | OpenAIVision) and settings.base_url is not None:
        raise ConfigurationError(
            f"{settings.name_of('base_url')} is set, but no model. Set {settings.name_of('model')} to a model on that server."
        )
    return model or settings.usual_model


def _factory(
    settings: EmbeddingSettings | StoreSettings | RerankSettings | ChatSettings | VisionSettings | BlobSettings,
) -> Any:
    module, _, attribute = FACTORIES[type(settings)].partition(":")
    given_as, name = settings.name_of("provider"), settings.provider
    try:
        return getattr(importlib.import_module(module), attribute)
    except ModuleNotFoundError as error:
        message = f"{given_as} is {name!r}, which needs the package {error.name!r}. Install it with: pip install 'citewell[{name}]'"
        raise MissingDependency(message) from error
    except ImportError as error:
        message = f"{given_as} is {name!r}, whose packages have incompatible versions: {error}. Install them with: pip install 'citewell[{name}]'"
        raise MissingDependency(message) from error
