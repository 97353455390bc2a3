"""What the settings name: models, each counted, and the options of retrieval, parsers and sign-in."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

from citewell.adapters import registry
from citewell.adapters.embedder.builtin_model import MODEL_NAME, BuiltinModel
from citewell.adapters.embedder.multilingual import MULTILINGUAL_NAME
from citewell.adapters.embedder.wrappers import BatchingEmbedder, CachingEmbedder, RetryingEmbedder, WindowedEmbedder
from citewell.adapters.gate import Gate, GatedChat, GatedEmbedder, GatedReranker, GatedVision, MinuteLimits
from citewell.adapters.reader.builtin import BuiltinReader
from citewell.adapters.reader.message_reader import BuiltinMessageReader
from citewell.adapters.reader.reading_model import ReadingModel
from citewell.adapters.reader.table_reader import BuiltinTableReader
from citewell.composition.chat_models import answer_seconds
from citewell.composition.stores import Stores, quota_defaults
from citewell.errors import ConfigurationError
from citewell.extract.sandbox import ParserLimits
from citewell.features.auth.service import AuthService
from citewell.features.citations.service import CitationService
from citewell.features.detached import DetachedTurns
from citewell.features.suggestions.service import SuggestionService, answered_by
from citewell.features.threads.service import ThreadService
from citewell.features.turns import Answering, LateAssistant, TurnRunner
from citewell.features.usage.service import Ledger
from citewell.indexes.estimating import MULTILINGUAL_SECONDS, SECONDS_PER_TOKEN, EmbeddingRates
from citewell.indexes.index_set import IndexSet
from citewell.ingest.capture import Capture
from citewell.ingest.journal import BlobJournal
from citewell.ports import (
    BlobStore,
    ChatModel,
    Embedder,
    RemoteEmbedder,
    Reranker,
    VisionModel,
    close_connections,
    multimodal,
)
from citewell.ports.metering import (
    PICTURE_TOKENS,
    MeteredChat,
    MeteredEmbedder,
    MeteredReranker,
    MeteredVision,
    OnSpent,
    current_tally,
)
from citewell.retrieve.options import FusionMethod, RetrievalOptions
from citewell.settings import BuiltinEmbedding, NoChat, OpenAIChat, RemoteEmbedding, Settings
from citewell.storage.conversations.threads import ThreadRepository
from citewell.storage.database import Database
from citewell.storage.files.library import SqlLibrary
from citewell.storage.files.passages import SqlChunks
from citewell.storage.spending.provider_calls import ProviderCallRepository
from citewell.storage.spending.quotas import QuotaRepository
from citewell.storage.spending.usage import UsageRepository
from citewell.storage.vectors.embeddings import EmbeddingCacheRepository
from citewell.system.disk import DiskReserve
from citewell.system.shares import Shares
from citewell.text.correction import Speller
from citewell.types import ExtractOptions, SelfQuery
from citewell.types.metadata_values import MetadataLimits

if TYPE_CHECKING:
    from citewell.agent.citations.check import CitationChecker
    from citewell.features.auth.jwts import JwtRules


def build_embedder(settings: Settings, database: Database) -> Embedder:
    """The embedder that the settings name: counted, cached, and for a vendor's in calls of its size, retried and kept within limits."""
    adapter = registry.build_embedder(settings.embedding)
    embedder: Embedder = MeteredEmbedder(adapter)
    if isinstance(settings.embedding, RemoteEmbedding) and isinstance(adapter, RemoteEmbedder):
        gate = embedding_gate(settings, settings.embedding, adapter.fingerprint.model, database)
        embedder = RetryingEmbedder(embedder if gate is None else GatedEmbedder(embedder, gate))
        embedder = BatchingEmbedder(embedder, adapter.limits)
    else:
        embedder = WindowedEmbedder(embedder)
    return CachingEmbedder(embedder, EmbeddingCacheRepository(database))


def embedding_gate(settings: Settings, chosen: RemoteEmbedding, model: str, database: Database) -> Gate | None:
    """The gate before each call of an embedding model; None where nothing is limited."""
    fields = [name for name in ("requests_per_minute", "tokens_per_minute") if getattr(chosen, name)]
    limits = MinuteLimits(
        requests=chosen.requests_per_minute,
        tokens=chosen.tokens_per_minute,
        names=" or ".join(map(chosen.name_of, fields)),
    )
    return _gate(settings, database, chosen.provider, model, limits)


def embedding_rates(settings: Settings, model: str) -> EmbeddingRates:
    """What the configured embedder costs, and how fast it may be asked."""
    chosen = settings.embedding
    if not isinstance(chosen, RemoteEmbedding):
        seconds = MULTILINGUAL_SECONDS if model == MULTILINGUAL_NAME else SECONDS_PER_TOKEN
        return EmbeddingRates(is_local=True, price=0.0, seconds_per_token=seconds)
    price = settings.usage.prices.get(model)
    return EmbeddingRates(
        is_local=False,
        price=None if price is None else price[0] / 1e6,
        requests_per_minute=chosen.requests_per_minute,
        tokens_per_minute=chosen.tokens_per_minute,
    )


def comparison_embedder(indexes: IndexSet, database: Database, *, in_english: bool = True) -> Embedder:
    """A built-in embedder for what the agent and the citation checker compare: their thresholds were measured with the English one,
    whatever model the index has. The index's own, where that is the one. in_english: else the multilingual one, for what is in another
    language than the question.
    """
    model = MODEL_NAME if in_english else MULTILINGUAL_NAME
    known = (index.embedder for index in indexes.all if index.embedder.fingerprint.model == model)
    found = next(known, None)
    if found is not None:
        return found
    built_in = registry.build_embedder(BuiltinEmbedding(model=model))
    return CachingEmbedder(MeteredEmbedder(built_in), EmbeddingCacheRepository(database))


def answer_reader() -> BuiltinReader:
    """The built-in reader, for answers without a chat model. It loads its model when it first reads, which a server does while it prepares."""
    return BuiltinReader(ReadingModel.open())


def speller() -> Speller:
    """Corrects misspelled words of questions. Common English words are those of the built-in tokenizer, which is loaded when one is looked up."""
    return Speller(lambda: BuiltinModel.open().tokenizer.common_words)


def table_reader() -> BuiltinTableReader:
    """The built-in reader of tables. It loads its model with the first question about a table."""
    return BuiltinTableReader(ReadingModel.open())


def message_reader() -> BuiltinMessageReader:
    """The built-in reader of messages. It loads its model with the first of them, which a server does while it prepares."""
    return BuiltinMessageReader(ReadingModel.open())


def citation_service(indexes: IndexSet, stores: Stores, ledger: Ledger) -> CitationService:
    """Checks answers with the embedder that the agent checks its own with."""
    elements = SqlLibrary(stores.resources, stores.projects, stores.content, stores.metadata)
    embedder = comparison_embedder(indexes, stores.database)

    @cache
    def checker() -> CitationChecker:
        from citewell.agent.citations.check import CitationChecker

        return CitationChecker(embedder, elements)

    return CitationService(
        checker=checker,
        chunks=SqlChunks(stores.content, stores.projects, stores.metadata),
        ledger=ledger,
    )


def metadata_limits(settings: Settings) -> MetadataLimits:
    """How much metadata a file may have."""
    limits = settings.metadata
    return MetadataLimits(
        max_keys=limits.max_keys,
        max_key_length=limits.max_key_length,
        max_value_length=limits.max_value_length,
        max_items=limits.max_items,
    )


def build_chat_model(settings: Settings, database: Database, stack: AsyncExitStack) -> ChatModel | None:
    """The chat model, counted, kept within limits and closed by `stack`; None where none is configured, or its key is missing."""
    chat = settings.chat
    if settings.own_chat_address is not None and isinstance(chat, OpenAIChat):
        chat = replace(chat, seconds=answer_seconds(settings, is_own=True))
    model = registry.build_chat_model(chat) if chat.missing_key is None else None
    if model is None:
        return None
    stack.push_async_callback(close_connections, model)
    gate = _gate(settings, database, settings.chat.provider, model.model)
    metered = MeteredChat(model, settings.chat.provider)
    return metered if gate is None else GatedChat(metered, gate)


def build_vision_model(settings: Settings, database: Database, stack: AsyncExitStack) -> VisionModel | None:
    """The model that describes pictures, counted, kept within limits and closed by `stack`; None where none is configured, or its key is missing."""
    model = registry.build_vision_model(settings.vision) if settings.vision.missing_key is None else None
    if model is None:
        return None
    stack.push_async_callback(close_connections, model)
    gate = _gate(settings, database, settings.vision.provider, model.model)
    metered = MeteredVision(model, settings.vision.provider)
    return metered if gate is None else GatedVision(metered, gate, PICTURE_TOKENS)


def build_reranker(settings: Settings, database: Database) -> Reranker | None:
    """The reranker, counted and kept within limits; None where none is configured."""
    reranker = registry.build_reranker(settings.rerank)
    if reranker is None:
        return None
    metered = MeteredReranker(reranker, settings.rerank.provider)
    if settings.rerank.is_local:
        return metered
    gate = _gate(settings, database, settings.rerank.provider, reranker.model)
    return metered if gate is None else GatedReranker(metered, gate)


def _gate(
    settings: Settings, database: Database, provider: str, model: str, limits: MinuteLimits | None = None
) -> Gate | None:
    """The gate before each call of a paid model; None without any limit, for a model that has no price."""
    limits, most = limits or MinuteLimits(), settings.usage.max_spend
    if most is None and limits == MinuteLimits() and model not in settings.usage.prices:
        return None
    if most is not None and model not in settings.usage.prices:
        raise ConfigurationError(
            f"{settings.usage.name_of('max_spend')} is set, but {settings.usage.name_of('prices')} has no price of {model}. Add it."
        )
    first, second = settings.usage.prices.get(model, (0.0, 0.0))
    return Gate(
        ledger=ProviderCallRepository(database),
        provider=provider,
        limits=limits,
        input_price=first / 1e6,
        output_price=second / 1e6,
        max_spend=most,
        require_quota=_spend_quota(settings, database) if model in settings.usage.prices else None,
    )


def _spend_quota(settings: Settings, database: Database) -> Callable[[], Awaitable[None]]:
    """Refuses a call once its owner's spending quota is used up, counting calls in flight."""
    quotas = QuotaRepository(database, quota_defaults(settings))
    ledger = Ledger(usage=UsageRepository(database), prices=settings.usage.prices)

    async def require() -> None:
        tally = current_tally()
        if tally is not None and tally.payer is not None:
            under_way = sum(ledger.price(one).cost or 0.0 for one in tally.spent)
            await quotas.require_spend(tally.payer, under_way)

    return require


def parser_limits(settings: Settings) -> ParserLimits:
    """What a parser process may use."""
    return ParserLimits(
        memory_bytes=settings.parser.memory_bytes,
        total_seconds=settings.parser.seconds,
        stall_seconds=settings.parser.silence_seconds,
    )


def extract_options(settings: Settings, indexes: IndexSet) -> ExtractOptions:
    """What is read of a file; pages are kept as pictures only where the active index's embedder takes pictures."""
    parser = settings.parser
    pages = parser.page_pictures if multimodal(indexes.active.embedder) is not None else "none"
    return ExtractOptions(ocr=parser.ocr, max_pages=parser.max_pages, max_pixels=parser.max_pixels, page_pictures=pages)


def retrieval_options(settings: Settings) -> RetrievalOptions:
    """How searches run where a request says nothing else."""
    retrieval, rerank = settings.retrieval, settings.rerank
    fusion: dict[str, Any] = {"dense_weight": 1.0, "feedback_chunks": 0, "page_decay": 1.0, "prefers_kinds": False}
    if retrieval.fusion != "cosine":
        fusion = {"fusion": FusionMethod(retrieval.fusion), "dense_weight": retrieval.dense_weight}
    return RetrievalOptions(
        candidates=retrieval.candidates,
        rerank_candidates=rerank.candidates,
        rerank_top_n=rerank.top_n,
        rerank_threshold=rerank.threshold or None,
        rerank=rerank.enabled,
        variations=retrieval.query_variations,
        self_query=SelfQuery(retrieval.self_query),
        time_zone=retrieval.time_zone,
        **fusion,
        vector_threshold=max(retrieval.score_threshold, retrieval.vector_threshold),
        near_duplicate=retrieval.near_duplicate or None,
        diversity=retrieval.diversity,
    )


def turn_runner(settings: Settings, stores: Stores, ledger: Ledger, answering: Answering) -> TurnRunner:
    """Who runs turns for all protocols."""
    return TurnRunner(
        answering=answering,
        projects=stores.projects,
        metadata=stores.metadata,
        ledger=ledger,
        quotas=stores.quotas,
        shares=Shares("answers", each=settings.auth.answers_at_once),
        top_k=settings.retrieval.top_k,
        compare_model=settings.usage.compare_model,
    )


def thread_service(
    stores: Stores, threads: ThreadRepository, detached: DetachedTurns, auth: AuthService
) -> ThreadService:
    """Conversations, which may cite files that are shared with their owner."""
    return ThreadService(repository=threads, detached=detached, resources=stores.resources, members=auth.sharing)


def capture(settings: Settings, stores: Stores, blobs: BlobStore, journal: BlobJournal, space: DiskReserve) -> Capture:
    """Who receives files, whichever way they come."""
    return Capture(
        resources=stores.resources,
        quotas=stores.quotas,
        blobs=blobs,
        journal=journal,
        spool_folder=settings.data / "uploads",
        max_bytes=settings.uploads.max_bytes,
        space=space,
        at_once=settings.uploads.at_once,
    )


def suggestion_service(
    settings: Settings, stores: Stores, extractive: LateAssistant, on_spent: OnSpent
) -> SuggestionService:
    """Asking a chat model costs money or time; the extractive answerer is asked before its questions are offered."""
    return SuggestionService(
        resources=stores.resources,
        content=stores.content,
        check=answered_by(extractive, on_spent) if isinstance(settings.chat, NoChat) else None,
    )


def jwt_rules(settings: Settings) -> JwtRules | None:
    """How JWTs are checked; None without a secret or published keys."""
    auth = settings.auth
    if auth.secret is None and auth.jwks_url is None:
        return None
    from citewell.features.auth.jwts import JwksKeys, JwtRules  # with the libraries of keys and signatures

    return JwtRules(
        algorithm=auth.algorithm,
        secret=None if auth.secret is None else auth.secret.get_secret_value(),
        keys=None if auth.jwks_url is None else JwksKeys(url=auth.jwks_url, algorithm=auth.algorithm),
        issuer=auth.issuer,
        audience=auth.audience,
    )
