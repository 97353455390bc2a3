"""Every setting: its group, type, range, default and names. If a group has a choice of providers, it is a union of one class per provider.

A provider's class holds only that provider's settings, and its adapter receives nothing else. `loading` checks the values first.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, ClassVar, Literal, TypeAlias

from pydantic import Field, SecretStr

from citewell.settings.accounts import AccountSettings, AuditSettings, AuthSettings, OpenIdSettings, QuotaSettings
from citewell.settings.base import DataFolderSetting, SettingsGroup
from citewell.settings.blobs import BlobSettings
from citewell.settings.chat import AnswerSecondsSetting, ChatSettings, OpenAIChat, OpenAIKeySetting, VisionSettings
from citewell.settings.mail import MailSettings
from citewell.settings.names import named
from citewell.settings.stores import DatabaseUrlSetting, PineconeKeySetting, StoreSettings
from citewell.settings.telegram import TelegramSettings
from citewell.settings.values import (
    MAX_BYTES,
    MAX_NUMBER,
    ChunkStrategy,
    Cosine,
    Count,
    Folder,
    HttpAddress,
    ListeningHost,
    Natural,
    PriceTable,
    Seconds,
    Share,
    TimeZone,
    async_url,
    is_loopback,
    is_own_address,
)
from citewell.types.resources import MAX_LIFETIME_HOURS

# Settings that several classes read.
_EMBEDDING_PROVIDER = named("embedding_provider", "EMBEDDING_PROVIDER", "EMBEDDINGS_PROVIDER")
_RERANK_PROVIDER = named("rerank_provider", "RERANK_PROVIDER")
_VoyageKey = Annotated[SecretStr | None, named("voyage_api_key", "VOYAGE_API_KEY")]


@dataclass(frozen=True, kw_only=True)
class ServerSettings(SettingsGroup):
    """Where the server listens, and the limits of one connection."""

    host: Annotated[ListeningHost, named("host")] = "127.0.0.1"
    port: Annotated[int, Field(ge=0, le=65535), named("port")] = 8000
    max_body_bytes: Annotated[int, Field(ge=1024), named("max_body_bytes")] = 32 * 1024 * 1024
    header_seconds: Annotated[Seconds, named("header_seconds")] = 20.0
    body_seconds: Annotated[Seconds, named("body_seconds")] = 60.0

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can reach the server."""
        return is_loopback(self.host)

    def address(self, port: int) -> str:
        """The server's address with the port it listens on."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{port}"


@dataclass(frozen=True, kw_only=True)
class WebhookSettings(SettingsGroup):
    """Which URLs webhooks may have. `private_addresses` also allows this machine, its networks, and plain HTTP."""

    private_addresses: Annotated[bool, named("webhook_private_addresses")] = False


@dataclass(frozen=True, kw_only=True)
class UploadSettings(SettingsGroup):
    """Which files are accepted, and how long they are kept (0 for no limit)."""

    max_bytes: Annotated[int, Field(ge=1, le=MAX_BYTES), named("max_upload_bytes", "MAX_FILE_SIZE")] = 512 * 1024 * 1024
    reserved_disk_bytes: Annotated[int, Field(ge=0, le=MAX_BYTES), named("reserved_disk_bytes")] = 256 * 1024 * 1024
    at_once: Annotated[int, Field(ge=1, le=4_096), named("uploads_at_once")] = 256
    file_hours: Annotated[float, Field(ge=0, le=MAX_LIFETIME_HOURS), named("file_ttl", "FILES_API_TTL_HOURS")] = 0.0


@dataclass(frozen=True, kw_only=True)
class MetadataSettings(SettingsGroup):
    """Limits on a file's metadata."""

    max_keys: Annotated[int, Field(ge=1, le=256), named("max_metadata_keys")] = 64
    max_key_length: Annotated[int, Field(ge=1, le=256), named("max_metadata_key_length")] = 64
    max_value_length: Annotated[int, Field(ge=1, le=4_096), named("max_metadata_value_length")] = 512
    max_items: Annotated[int, Field(ge=1, le=256), named("max_metadata_items")] = 64


@dataclass(frozen=True, kw_only=True)
class ParserSettings(SettingsGroup):
    """The processes that read files, and how much of each file they read."""

    processes: Annotated[int, Field(ge=1, le=64), named("parser_processes")] = 2
    memory_bytes: Annotated[int, Field(ge=256 * 1024**2, le=MAX_BYTES), named("parser_memory_bytes")] = 2 * 1024**3
    seconds: Annotated[Seconds, named("parser_seconds")] = 600.0
    silence_seconds: Annotated[Seconds, named("parser_silence_seconds")] = 60.0
    max_pages: Annotated[Count, named("max_pages")] = 2_000
    max_pixels: Annotated[Count, named("max_pixels")] = 89_000_000
    ocr: Annotated[bool, named("ocr")] = True
    page_pictures: Annotated[Literal["none", "scans", "all"], named("page_pictures")] = "scans"


@dataclass(frozen=True, kw_only=True)
class AirtableSettings(SettingsGroup):
    """Defaults for `citewell sync airtable`, below its file and flags. `frames` is the folder with the records' frames."""

    token: Annotated[SecretStr | None, named("airtable_pat", "AIRTABLE_PAT")] = None
    base_id: Annotated[str | None, named("airtable_base_id", "AIRTABLE_BASE_ID")] = None
    table_name: Annotated[str | None, named("airtable_table_name", "AIRTABLE_TABLE_NAME")] = None
    url: Annotated[HttpAddress, named("airtable_url", "AIRTABLE_ENDPOINT_URL")] = "https://api.airtable.com"
    frames: Annotated[Folder | None, named("frame_base_dir", "FRAME_BASE_DIR")] = None


@dataclass(frozen=True, kw_only=True)
class StageSettings(SettingsGroup):
    """The durable stages: how many workers run them, and when they give up."""

    workers: Annotated[int, Field(ge=0, le=64), named("workers")] = 1
    max_attempts: Annotated[Count, named("max_attempts")] = 3
    lease_seconds: Annotated[float, Field(ge=5, le=MAX_NUMBER), named("lease_seconds")] = 60.0


@dataclass(frozen=True, kw_only=True)
class IndexSettings(SettingsGroup):
    """Whether a newly configured model or store is indexed automatically: if free, always, or only on request."""

    build: Annotated[Literal["free", "always", "ask"], named("index_build")] = "free"


@dataclass(frozen=True, kw_only=True)
class SummarySettings(SettingsGroup):
    """How files are described; with 0 tokens no chat model writes summaries."""

    tokens: Annotated[Natural, named("summary_tokens")] = 20_000


@dataclass(frozen=True, kw_only=True)
class ChunkingSettings(SettingsGroup):
    """How text is chunked unless its project overrides it. None means the strategy's default size."""

    strategy: Annotated[ChunkStrategy, named("chunk_strategy", "CHUNKING_STRATEGY")] = "sections"
    size: Annotated[int | None, Field(ge=16, le=100_000), named("chunk_size", "CHUNK_SIZE", "CHUNK_SIZE_TOKENS")] = None
    overlap: Annotated[int | None, Field(ge=0), named("chunk_overlap", "CHUNK_OVERLAP", "CHUNK_OVERLAP_TOKENS")] = None
    max_dense_rows: Annotated[Natural, named("max_dense_rows")] = 20_000


@dataclass(frozen=True, kw_only=True)
class _Embedding(SettingsGroup):
    model: Annotated[
        str | None,
        named("embedding_model", "EMBEDDING_MODEL", "OPENAI_EMBEDDING_MODEL", "PINECONE_EMBED_MODEL"),
    ] = None
    dimensions: Annotated[int | None, Field(ge=1, le=65_536), named("embedding_dimensions", "EMBEDDING_DIMENSIONS")] = (
        None
    )


@dataclass(frozen=True, kw_only=True)
class BuiltinEmbedding(_Embedding):
    """The embedder that ships with Citewell. It accepts no other `model` or `dimensions`."""

    is_local: ClassVar[bool] = True

    provider: Annotated[Literal["builtin"], _EMBEDDING_PROVIDER] = "builtin"


@dataclass(frozen=True, kw_only=True)
class FastembedEmbedding(_Embedding):
    """A Hugging Face model on this machine: downloaded to the data folder on first start, or read from the folder `path`."""

    is_local: ClassVar[bool] = True

    provider: Annotated[Literal["fastembed"], _EMBEDDING_PROVIDER] = "fastembed"
    data: DataFolderSetting
    path: Annotated[Path | None, named("fastembed_path", "FASTEMBED_PATH")] = None


@dataclass(frozen=True, kw_only=True)
class _RemoteEmbedding(_Embedding):
    """An embedder called over the network. Limits per minute apply to all processes that share the database; 0 means no limit."""

    is_local: ClassVar[bool] = False

    base_url: Annotated[HttpAddress | None, named("embedding_base_url", "EMBEDDING_BASE_URL")] = None
    requests_per_minute: Annotated[Natural, named("embedding_requests_per_minute")] = 0
    tokens_per_minute: Annotated[Natural, named("embedding_tokens_per_minute")] = 0


@dataclass(frozen=True, kw_only=True)
class OpenAIEmbedding(_RemoteEmbedding):
    """An embedding model from OpenAI, or from a compatible endpoint."""

    provider: Annotated[Literal["openai"], _EMBEDDING_PROVIDER] = "openai"
    api_key: OpenAIKeySetting = None


@dataclass(frozen=True, kw_only=True)
class VoyageEmbedding(_RemoteEmbedding):
    """An embedding model from Voyage AI."""

    provider: Annotated[Literal["voyage"], _EMBEDDING_PROVIDER] = "voyage"
    api_key: _VoyageKey = None


@dataclass(frozen=True, kw_only=True)
class PineconeEmbedding(_RemoteEmbedding):
    """An embedding model that Pinecone hosts."""

    provider: Annotated[Literal["pinecone"], _EMBEDDING_PROVIDER] = "pinecone"
    api_key: PineconeKeySetting = None


@dataclass(frozen=True, kw_only=True)
class StoreEmbedding(_RemoteEmbedding):
    """A model that the vector store runs on the texts it receives (Pinecone's integrated records)."""

    provider: Annotated[Literal["store"], _EMBEDDING_PROVIDER] = "store"
    api_key: PineconeKeySetting = None


@dataclass(frozen=True, kw_only=True)
class RetrievalSettings(SettingsGroup):
    """How a search runs. Thresholds are cosines; shares are between 0 and 1."""

    top_k: Annotated[int, Field(ge=1, le=100), named("top_k", "TOP_K", "RETRIEVAL_TOP_K", "DEFAULT_TOP_K")] = 10
    candidates: Annotated[int, Field(ge=1, le=1_000), named("candidates", "RETRIEVAL_CANDIDATES")] = 100
    score_threshold: Annotated[
        Cosine, named("score_threshold", "SCORE_THRESHOLD", "VECTOR_SCORE_THRESHOLD", "SIMILARITY_THRESHOLD")
    ] = -1.0
    vector_threshold: Annotated[Cosine, named("vector_threshold")] = -1.0
    query_variations: Annotated[int, Field(ge=0, le=10), named("query_variations")] = 0
    self_query: Annotated[Literal["off", "rules", "model"], named("self_query")] = "rules"
    time_zone: Annotated[TimeZone, named("time_zone")] = "UTC"
    fusion: Annotated[Literal["hybrid", "convex", "distribution", "rrf", "cosine"], named("fusion")] = "hybrid"
    dense_weight: Annotated[Share, named("dense_weight")] = 0.5
    near_duplicate: Annotated[Share, named("near_duplicate")] = 0.0
    diversity: Annotated[Share, named("diversity")] = 0.0


@dataclass(frozen=True, kw_only=True)
class _Rerank(SettingsGroup):
    enabled: Annotated[bool, named("rerank_enabled", "RERANK_ENABLED")] = False
    candidates: Annotated[int | None, Field(ge=1, le=1_000), named("rerank_candidates", "RERANK_CANDIDATES")] = None
    top_n: Annotated[int | None, Field(ge=1, le=100), named("rerank_top_n", "RERANK_TOP_N")] = None
    threshold: Annotated[float, named("rerank_threshold", "RERANK_THRESHOLD")] = 0.0


@dataclass(frozen=True, kw_only=True)
class BuiltinRerank(_Rerank):
    """The reranker that ships with Citewell."""

    is_local: ClassVar[bool] = True

    provider: Annotated[Literal["builtin"], _RERANK_PROVIDER] = "builtin"


@dataclass(frozen=True, kw_only=True)
class _ModelRerank(_Rerank):
    """A reranker with a choice of models. A search continues without it after `seconds`."""

    model: Annotated[str | None, named("rerank_model", "RERANK_MODEL", "PINECONE_RERANK_MODEL")] = None
    seconds: Annotated[Seconds, named("rerank_seconds")] = 5.0
    threshold: Annotated[float, named("rerank_threshold", "RERANK_THRESHOLD")] = 0.1


@dataclass(frozen=True, kw_only=True)
class FastembedRerank(_ModelRerank):
    """A Hugging Face cross-encoder on this machine: downloaded to the data folder on first start, or read from the folder `path`."""

    is_local: ClassVar[bool] = True

    provider: Annotated[Literal["fastembed"], _RERANK_PROVIDER] = "fastembed"
    data: DataFolderSetting
    path: Annotated[Path | None, named("fastembed_rerank_path", "FASTEMBED_RERANK_PATH")] = None


@dataclass(frozen=True, kw_only=True)
class _RemoteRerank(_ModelRerank):
    """A reranker called over the network."""

    is_local: ClassVar[bool] = False

    base_url: Annotated[HttpAddress | None, named("rerank_base_url", "RERANK_BASE_URL")] = None


@dataclass(frozen=True, kw_only=True)
class VoyageRerank(_RemoteRerank):
    """A reranker from Voyage AI."""

    provider: Annotated[Literal["voyage"], _RERANK_PROVIDER] = "voyage"
    api_key: _VoyageKey = None


@dataclass(frozen=True, kw_only=True)
class PineconeRerank(_RemoteRerank):
    """A reranker that Pinecone hosts."""

    provider: Annotated[Literal["pinecone"], _RERANK_PROVIDER] = "pinecone"
    api_key: PineconeKeySetting = None


@dataclass(frozen=True, kw_only=True)
class CohereRerank(_RemoteRerank):
    """A reranker from Cohere, or an endpoint with the same interface."""

    provider: Annotated[Literal["cohere"], _RERANK_PROVIDER] = "cohere"
    api_key: Annotated[SecretStr | None, named("cohere_api_key", "COHERE_API_KEY", "CO_API_KEY")] = None


@dataclass(frozen=True, kw_only=True)
class TeiRerank(_RemoteRerank):
    """A reranker served by Text Embeddings Inference. The address is required; `model` is a name for the ledger."""

    provider: Annotated[Literal["tei"], _RERANK_PROVIDER] = "tei"
    api_key: Annotated[SecretStr | None, named("tei_api_key", "TEI_API_KEY")] = None


@dataclass(frozen=True, kw_only=True)
class NoRerank(_Rerank):
    """No reranker: a search that requests reranking is refused."""

    is_local: ClassVar[bool] = True

    provider: Annotated[Literal["none"], _RERANK_PROVIDER] = "none"


@dataclass(frozen=True, kw_only=True)
class AnswerSettings(SettingsGroup):
    """Limits of one answer."""

    context_tokens: Annotated[int, Field(ge=256, le=MAX_NUMBER), named("context_tokens")] = 8_000
    whole_tokens: Annotated[int, Field(ge=1_000, le=MAX_NUMBER), named("whole_tokens")] = 60_000
    first_search: Annotated[Literal["model", "always"], named("agent_first_search", "AGENT_FIRST_SEARCH")] = "model"
    profile: Annotated[Literal["auto", "full", "small"], named("chat_profile")] = "auto"
    repeats: Annotated[bool, named("repeat_answers")] = True
    seconds: AnswerSecondsSetting = 120.0


@dataclass(frozen=True, kw_only=True)
class UsageSettings(SettingsGroup):
    """Token prices, and the model whose price the ledger uses for comparison if no chat model is configured."""

    prices: Annotated[PriceTable, named("prices")] = field(default_factory=dict[str, tuple[float, float]])
    compare_model: Annotated[str, named("compare_model")] = ""
    max_spend: Annotated[float | None, Field(ge=0, le=MAX_NUMBER), named("max_spend")] = None


RemoteEmbedding: TypeAlias = OpenAIEmbedding | VoyageEmbedding | PineconeEmbedding | StoreEmbedding
EmbeddingSettings: TypeAlias = BuiltinEmbedding | FastembedEmbedding | RemoteEmbedding
RemoteRerank: TypeAlias = VoyageRerank | PineconeRerank | CohereRerank | TeiRerank
RerankSettings: TypeAlias = BuiltinRerank | NoRerank | FastembedRerank | RemoteRerank
HubSettings: TypeAlias = FastembedEmbedding | FastembedRerank
"""Hugging Face models on this machine."""


@dataclass(frozen=True, kw_only=True)
class Settings(SettingsGroup):
    """All settings, built once at startup and passed on; nothing else in Citewell reads the environment."""

    data: DataFolderSetting
    database_url: DatabaseUrlSetting = None
    log_level: Annotated[Literal["debug", "info", "warning", "error"], named("log_level")] = "info"
    log_format: Annotated[Literal["text", "json"], named("log_format")] = "text"
    log_searches: Annotated[bool, named("log_searches")] = False
    traces_url: Annotated[HttpAddress | None, named("traces_url")] = None
    server: ServerSettings
    auth: AuthSettings
    accounts: AccountSettings
    openid: OpenIdSettings
    mail: MailSettings
    audit: AuditSettings
    webhooks: WebhookSettings
    uploads: UploadSettings
    metadata: MetadataSettings
    blobs: BlobSettings
    parser: ParserSettings
    airtable: AirtableSettings
    stages: StageSettings
    indexes: IndexSettings
    summaries: SummarySettings
    chunking: ChunkingSettings
    embedding: EmbeddingSettings
    store: StoreSettings
    retrieval: RetrievalSettings
    rerank: RerankSettings
    chat: ChatSettings
    vision: VisionSettings
    answers: AnswerSettings
    usage: UsageSettings
    quotas: QuotaSettings
    telegram: TelegramSettings
    values: Mapping[str, object] = field(repr=False, compare=False)
    """The given values by keyword, for `change`."""
    without_effect: tuple[str, ...] = ()
    """Given settings that have no effect, and why: one sentence each."""

    @property
    def own_chat_address(self) -> str | None:
        """The chat model's address, if it is your own: this machine's, or in a private network."""
        chat = self.chat
        is_own = isinstance(chat, OpenAIChat) and chat.base_url is not None and is_own_address(chat.base_url)
        return chat.base_url if isinstance(chat, OpenAIChat) and is_own else None

    @property
    def sql_url(self) -> str:
        """The SQLAlchemy URL: Postgres if configured, else SQLite in the data folder."""
        if self.database_url is None:
            return f"sqlite+aiosqlite:///{self.data / 'citewell.db'}"
        return async_url(self.database_url)
