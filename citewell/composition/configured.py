"""What the settings name: models, each counted, and the options of retrieval, parsers and sign-in."""

from __future__ import annotations

from citewell.adapters import registry
from citewell.adapters.embedder.wrappers import CachingEmbedder, RetryingEmbedder
from citewell.extract.sandbox import ParserLimits
from citewell.features.auth.service import JwtRules
from citewell.metering import MeteredChat, MeteredEmbedder, MeteredReranker, MeteredVision
from citewell.ports import ChatModel, Embedder, Reranker, VisionModel
from citewell.retrieve.options import FusionMethod, RetrievalOptions
from citewell.settings import Settings
from citewell.storage.database import Database
from citewell.storage.embeddings import EmbeddingCacheRepository
from citewell.types import SelfQuery


def build_embedder(settings: Settings, database: Database) -> Embedder:
    """The embedder that the settings name: counted, cached, and retried unless it runs on this machine."""
    embedder: Embedder = MeteredEmbedder(registry.build_embedder(settings.embedding))
    if not settings.embedding.is_local:
        embedder = RetryingEmbedder(embedder)
    return CachingEmbedder(embedder, EmbeddingCacheRepository(database))


def build_chat_model(settings: Settings) -> ChatModel | None:
    """The chat model, counted; None where none is configured."""
    model = registry.build_chat_model(settings.chat)
    return MeteredChat(model, settings.chat.provider) if model is not None else None


def build_vision_model(settings: Settings) -> VisionModel | None:
    """The model that describes pictures, counted; None where none is configured."""
    model = registry.build_vision_model(settings.vision)
    return MeteredVision(model, settings.vision.provider) if model is not None else None


def build_reranker(settings: Settings) -> Reranker | None:
    """The reranker, counted; None where none is configured."""
    reranker = registry.build_reranker(settings.rerank)
    return MeteredReranker(reranker, settings.rerank.provider) if reranker is not None else None


def parser_limits(settings: Settings) -> ParserLimits:
    """What a parser process may use."""
    return ParserLimits(
        memory_bytes=settings.parser.memory_bytes,
        total_seconds=settings.parser.seconds,
        stall_seconds=settings.parser.silence_seconds,
    )


def retrieval_options(settings: Settings) -> RetrievalOptions:
    """How searches run where a request says nothing else."""
    retrieval, rerank = settings.retrieval, settings.rerank
    return RetrievalOptions(
        candidates=retrieval.candidates,
        rerank_candidates=rerank.candidates,
        rerank_top_n=rerank.top_n,
        rerank_threshold=rerank.threshold or None,
        rerank=rerank.enabled,
        variations=retrieval.query_variations,
        self_query=SelfQuery(retrieval.self_query),
        fusion=FusionMethod(retrieval.fusion),
        dense_weight=retrieval.dense_weight,
        vector_threshold=max(retrieval.score_threshold, retrieval.vector_threshold),
        near_duplicate=retrieval.near_duplicate or None,
        diversity=retrieval.diversity,
    )


def jwt_rules(settings: Settings) -> JwtRules | None:
    """How JWTs are checked; None without a secret."""
    if settings.auth.secret is None:
        return None
    return JwtRules(
        secret=settings.auth.secret.get_secret_value(),
        algorithm=settings.auth.algorithm,
        issuer=settings.auth.issuer,
        audience=settings.auth.audience,
    )
