"""The only reader of the environment: every setting, its default, and the names it goes by (see `docs/configuration.md`)."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Literal

from pydantic import AliasChoices, Field, SecretStr, ValidationError, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from citewell.errors import ConfigurationError

EmbeddingProvider = Literal["builtin", "openai", "voyage", "pinecone", "fastembed"]
RerankProvider = Literal["none", "builtin", "voyage", "pinecone", "fastembed"]
ChatProvider = Literal["none", "openai", "anthropic"]
VectorStore = Literal["edge", "qdrant", "pgvector", "redis", "pinecone"]
BlobBackend = Literal["local", "s3", "gcs"]
ChunkStrategy = Literal["sections", "tokens", "characters", "recursive", "semantic", "rows"]


def _names(name: str, *others: str) -> AliasChoices:
    """A setting goes by `CITEWELL_<NAME>` first, then by the other names given, which are those of well-known tools."""
    return AliasChoices(f"CITEWELL_{name}", *others)


class Settings(BaseSettings):
    """Built once at start and passed on; nothing in Citewell reads the environment but this."""

    model_config = SettingsConfigDict(
        env_prefix="CITEWELL_",
        env_file=".env",
        env_file_encoding="utf-8",
        extra="ignore",
        case_sensitive=False,
        populate_by_name=True,
    )

    # where things are
    data: Path = Field(default_factory=lambda: default_data_folder(), validation_alias=_names("DATA"))
    host: str = Field(default="127.0.0.1", validation_alias=_names("HOST"))
    port: int = Field(default=8000, ge=0, le=65535, validation_alias=_names("PORT"))
    database_url: str | None = Field(default=None, validation_alias=_names("DATABASE_URL", "DATABASE_URL"))
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        default="info", validation_alias=_names("LOG_LEVEL")
    )

    # who may come in
    auth_secret: SecretStr | None = Field(default=None, validation_alias=_names("AUTH_SECRET", "JWT_SECRET"))
    jwt_algorithm: Literal["HS256", "HS384", "HS512"] = Field(
        default="HS256", validation_alias=_names("JWT_ALGORITHM", "JWT_ALGORITHM")
    )
    jwt_issuer: str | None = Field(default=None, validation_alias=_names("JWT_ISSUER", "JWT_ISSUER"))
    jwt_audience: str | None = Field(default=None, validation_alias=_names("JWT_AUDIENCE", "JWT_AUDIENCE"))
    requests_per_minute: int = Field(default=0, ge=0, validation_alias=_names("REQUESTS_PER_MINUTE"))

    # uploads
    max_upload_bytes: int = Field(
        default=512 * 1024 * 1024, ge=1, validation_alias=_names("MAX_UPLOAD_BYTES", "MAX_FILE_SIZE")
    )
    max_body_bytes: int = Field(default=32 * 1024 * 1024, ge=1024, validation_alias=_names("MAX_BODY_BYTES"))
    header_seconds: float = Field(default=20.0, gt=0, validation_alias=_names("HEADER_SECONDS"))
    body_seconds: float = Field(default=60.0, gt=0, validation_alias=_names("BODY_SECONDS"))
    blob_backend: BlobBackend = Field(default="local", validation_alias=_names("BLOB_BACKEND", "STORAGE_BACKEND"))
    blob_bucket: str | None = Field(
        default=None, validation_alias=_names("BLOB_BUCKET", "S3_BUCKET", "GCS_BUCKET", "AWS_S3_BUCKET")
    )
    blob_prefix: str = Field(default="", validation_alias=_names("BLOB_PREFIX"))
    s3_endpoint: str | None = Field(
        default=None, validation_alias=_names("S3_ENDPOINT", "S3_ENDPOINT", "AWS_ENDPOINT_URL")
    )
    s3_region: str | None = Field(default=None, validation_alias=_names("S3_REGION", "S3_REGION", "AWS_REGION"))

    # reading files
    parser_processes: int = Field(default=2, ge=1, le=64, validation_alias=_names("PARSER_PROCESSES"))
    parser_memory_bytes: int = Field(
        default=2 * 1024**3, ge=256 * 1024**2, validation_alias=_names("PARSER_MEMORY_BYTES")
    )
    parser_seconds: float = Field(default=600.0, gt=0, validation_alias=_names("PARSER_SECONDS"))
    parser_silence_seconds: float = Field(default=60.0, gt=0, validation_alias=_names("PARSER_SILENCE_SECONDS"))
    max_pages: int = Field(default=2_000, ge=1, validation_alias=_names("MAX_PAGES"))
    max_pixels: int = Field(default=89_000_000, ge=1, validation_alias=_names("MAX_PIXELS"))
    ocr: bool = Field(default=True, validation_alias=_names("OCR"))

    # durable stages
    workers: int = Field(default=1, ge=0, le=64, validation_alias=_names("WORKERS"))
    max_attempts: int = Field(default=3, ge=1, validation_alias=_names("MAX_ATTEMPTS"))
    lease_seconds: float = Field(default=60.0, ge=5, validation_alias=_names("LEASE_SECONDS"))

    # chunks
    chunk_strategy: ChunkStrategy = Field(
        default="sections", validation_alias=_names("CHUNK_STRATEGY", "CHUNKING_STRATEGY")
    )
    chunk_size: int | None = Field(default=None, ge=16, validation_alias=_names("CHUNK_SIZE", "CHUNK_SIZE"))
    chunk_overlap: int | None = Field(default=None, ge=0, validation_alias=_names("CHUNK_OVERLAP", "CHUNK_OVERLAP"))
    max_dense_rows: int = Field(default=20_000, ge=0, validation_alias=_names("MAX_DENSE_ROWS"))

    # embeddings
    embedding_provider: EmbeddingProvider = Field(
        default="builtin", validation_alias=_names("EMBEDDING_PROVIDER", "EMBEDDING_PROVIDER")
    )
    embedding_model: str | None = Field(default=None, validation_alias=_names("EMBEDDING_MODEL", "EMBEDDING_MODEL"))
    embedding_dimensions: int | None = Field(
        default=None, ge=1, validation_alias=_names("EMBEDDING_DIMENSIONS", "EMBEDDING_DIMENSIONS")
    )
    embedding_base_url: str | None = Field(default=None, validation_alias=_names("EMBEDDING_BASE_URL"))

    # vector store
    vector_store: VectorStore = Field(
        default="edge", validation_alias=_names("VECTOR_STORE", "VECTOR_STORE", "VECTOR_DB")
    )
    qdrant_url: str | None = Field(default=None, validation_alias=_names("QDRANT_URL", "QDRANT_URL"))
    qdrant_api_key: SecretStr | None = Field(default=None, validation_alias=_names("QDRANT_API_KEY", "QDRANT_API_KEY"))
    pgvector_url: str | None = Field(
        default=None, validation_alias=_names("PGVECTOR_URL", "PGVECTOR_URL", "SUPABASE_DB_URL")
    )
    redis_url: str | None = Field(default=None, validation_alias=_names("REDIS_URL", "REDIS_URL"))
    pinecone_api_key: SecretStr | None = Field(
        default=None, validation_alias=_names("PINECONE_API_KEY", "PINECONE_API_KEY")
    )
    pinecone_index: str | None = Field(
        default=None, validation_alias=_names("PINECONE_INDEX", "PINECONE_INDEX", "PINECONE_INDEX_NAME")
    )
    pinecone_host: str | None = Field(default=None, validation_alias=_names("PINECONE_HOST", "PINECONE_HOST"))

    # retrieval
    top_k: int = Field(default=10, ge=1, le=100, validation_alias=_names("TOP_K", "RETRIEVAL_TOP_K"))
    candidates: int = Field(default=100, ge=1, le=1_000, validation_alias=_names("CANDIDATES", "RETRIEVAL_CANDIDATES"))
    score_threshold: float = Field(
        default=-1.0,
        ge=-1,
        le=1,
        validation_alias=_names("SCORE_THRESHOLD", "SCORE_THRESHOLD", "VECTOR_SCORE_THRESHOLD"),
    )
    rerank_enabled: bool = Field(default=False, validation_alias=_names("RERANK_ENABLED", "RERANK_ENABLED"))
    rerank_provider: RerankProvider = Field(
        default="builtin", validation_alias=_names("RERANK_PROVIDER", "RERANK_PROVIDER")
    )
    rerank_model: str | None = Field(default=None, validation_alias=_names("RERANK_MODEL", "RERANK_MODEL"))
    rerank_candidates: int | None = Field(
        default=None, ge=1, le=1_000, validation_alias=_names("RERANK_CANDIDATES", "RERANK_CANDIDATES")
    )
    rerank_top_n: int | None = Field(
        default=None, ge=1, le=100, validation_alias=_names("RERANK_TOP_N", "RERANK_TOP_N")
    )
    rerank_threshold: float = Field(default=0.0, validation_alias=_names("RERANK_THRESHOLD", "RERANK_THRESHOLD"))
    query_variations: int = Field(default=0, ge=0, le=10, validation_alias=_names("QUERY_VARIATIONS"))
    self_query: Literal["off", "rules", "model"] = Field(default="rules", validation_alias=_names("SELF_QUERY"))
    fusion: Literal["hybrid", "convex", "distribution", "rrf"] = Field(
        default="hybrid", validation_alias=_names("FUSION")
    )
    dense_weight: float = Field(default=0.5, ge=0, le=1, validation_alias=_names("DENSE_WEIGHT"))
    vector_threshold: float = Field(default=-1.0, ge=-1, le=1, validation_alias=_names("VECTOR_THRESHOLD"))
    near_duplicate: float = Field(default=0.0, ge=0, le=1, validation_alias=_names("NEAR_DUPLICATE"))
    diversity: float = Field(default=0.0, ge=0, le=1, validation_alias=_names("DIVERSITY"))

    # answers
    chat_provider: ChatProvider = Field(
        default="none", validation_alias=_names("CHAT_PROVIDER", "CHAT_PROVIDER", "LLM_PROVIDER")
    )
    chat_model: str | None = Field(
        default=None, validation_alias=_names("CHAT_MODEL", "CHAT_MODEL", "OPENAI_MODEL", "LLM_MODEL")
    )
    chat_base_url: str | None = Field(default=None, validation_alias=_names("CHAT_BASE_URL", "OPENAI_BASE_URL"))
    anthropic_base_url: str | None = Field(
        default=None, validation_alias=_names("ANTHROPIC_BASE_URL", "ANTHROPIC_BASE_URL")
    )
    vision_provider: ChatProvider = Field(default="none", validation_alias=_names("VISION_PROVIDER", "VISION_PROVIDER"))
    vision_model: str | None = Field(default=None, validation_alias=_names("VISION_MODEL", "VISION_MODEL"))
    context_tokens: int = Field(default=8_000, ge=256, validation_alias=_names("CONTEXT_TOKENS"))
    answer_seconds: float = Field(default=120.0, gt=0, validation_alias=_names("ANSWER_SECONDS"))
    prices: dict[str, tuple[float, float]] = Field(
        default_factory=dict[str, tuple[float, float]], validation_alias=_names("PRICES")
    )
    compare_model: str = Field(default="", validation_alias=_names("COMPARE_MODEL"))

    # keys
    openai_api_key: SecretStr | None = Field(default=None, validation_alias=_names("OPENAI_API_KEY", "OPENAI_API_KEY"))
    anthropic_api_key: SecretStr | None = Field(
        default=None, validation_alias=_names("ANTHROPIC_API_KEY", "ANTHROPIC_API_KEY")
    )
    voyage_api_key: SecretStr | None = Field(default=None, validation_alias=_names("VOYAGE_API_KEY", "VOYAGE_API_KEY"))

    @field_validator("data", mode="after")
    @classmethod
    def _absolute(cls, value: Path) -> Path:
        return value.expanduser().absolute()

    @property
    def sql_url(self) -> str:
        """The SQLAlchemy URL: Postgres when configured, else SQLite in the data folder."""
        if self.database_url is None:
            return f"sqlite+aiosqlite:///{self.data / 'citewell.db'}"
        for plain in ("postgresql://", "postgres://"):
            if self.database_url.startswith(plain):
                return "postgresql+asyncpg://" + self.database_url.removeprefix(plain)
        return self.database_url

    @property
    def is_loopback(self) -> bool:
        """Whether the server can be reached from this machine only."""
        return self.host in {"127.0.0.1", "::1", "localhost"}


def load_settings(**overrides: object) -> Settings:
    """Settings from overrides, then the environment, then `.env`; raises `ConfigurationError` that names the setting."""
    try:
        return Settings(**{k: v for k, v in overrides.items() if v is not None})  # pyright: ignore[reportArgumentType]
    except ValidationError as error:
        problems = "; ".join(f"{'.'.join(map(str, p['loc']))}: {p['msg']}" for p in error.errors())
        raise ConfigurationError(f"A setting is not valid. {problems}") from error


def default_data_folder() -> Path:
    """The per-user data folder of this operating system."""
    home = Path.home()
    if sys.platform == "darwin":
        return home / "Library" / "Application Support" / "citewell"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", home)) / "citewell"
    return Path(os.environ.get("XDG_DATA_HOME", home / ".local" / "share")) / "citewell"
