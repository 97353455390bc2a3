"""The only reader of the environment: every setting, its default, and the names it goes by (see `docs/configuration.md`)."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from dotenv import dotenv_values
from pydantic import AliasChoices, BaseModel, ConfigDict, Field, PrivateAttr, SecretStr, ValidationError

from citewell.errors import ConfigurationError
from citewell.setting_names import Given, check_names, check_overrides, gather
from citewell.setting_values import (
    DatabaseAddress,
    Folder,
    HttpAddress,
    ListeningHost,
    LocalIsBuiltin,
    PineconeHost,
    PostgresAddress,
    Prices,
    QdrantHost,
    RedisAddress,
    async_url,
    is_loopback,
)
from citewell.spelling import nearest
from citewell.types.chunking import Strategy, chunk_sizes, measured_in_characters

EmbeddingProvider = Literal["builtin", "openai", "voyage", "pinecone", "fastembed"]
RerankProvider = Literal["none", "builtin", "voyage", "pinecone", "fastembed"]
ChatProvider = Literal["none", "openai", "anthropic"]
VectorStore = Literal["edge", "qdrant", "pgvector", "redis", "pinecone"]
BlobBackend = Literal["local", "s3", "gcs"]
ChunkStrategy = Literal["sections", "tokens", "characters", "recursive", "semantic", "rows"]
# More than anybody means, and less than databases and operating systems take.
_MOST = 2**31 - 1
_MOST_BYTES = 2**50


def _names(name: str, *others: str) -> AliasChoices:
    """A setting goes by `CITEWELL_<NAME>` first, then by the other names given, which are those of well-known tools."""
    return AliasChoices(f"CITEWELL_{name}", *others)


class Settings(BaseModel):
    """Built once at start and passed on; nothing in Citewell reads the environment but this module."""

    # A threshold that is no number is below nothing and above nothing; and what was given may be a key.
    model_config = ConfigDict(populate_by_name=True, allow_inf_nan=False, hide_input_in_errors=True)

    _given: Given = PrivateAttr(default_factory=Given)

    # where things are
    data: Folder = Field(default_factory=lambda: default_data_folder(), validation_alias=_names("DATA"))
    host: ListeningHost = Field(default="127.0.0.1", validation_alias=_names("HOST"))
    port: int = Field(default=8000, ge=0, le=65535, validation_alias=_names("PORT"))
    database_url: DatabaseAddress | None = Field(default=None, validation_alias=_names("DATABASE_URL", "DATABASE_URL"))
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
    requests_per_minute: int = Field(default=0, ge=0, le=_MOST, validation_alias=_names("REQUESTS_PER_MINUTE"))

    # uploads
    max_upload_bytes: int = Field(
        default=512 * 1024 * 1024, ge=1, le=_MOST_BYTES, validation_alias=_names("MAX_UPLOAD_BYTES", "MAX_FILE_SIZE")
    )
    max_body_bytes: int = Field(default=32 * 1024 * 1024, ge=1024, validation_alias=_names("MAX_BODY_BYTES"))
    header_seconds: float = Field(default=20.0, gt=0, le=_MOST, validation_alias=_names("HEADER_SECONDS"))
    body_seconds: float = Field(default=60.0, gt=0, le=_MOST, validation_alias=_names("BODY_SECONDS"))
    reserved_disk_bytes: int = Field(
        default=256 * 1024 * 1024, ge=0, le=_MOST_BYTES, validation_alias=_names("RESERVED_DISK_BYTES")
    )
    blob_backend: BlobBackend = Field(default="local", validation_alias=_names("BLOB_BACKEND", "STORAGE_BACKEND"))
    blob_bucket: str | None = Field(
        default=None, validation_alias=_names("BLOB_BUCKET", "S3_BUCKET", "GCS_BUCKET", "AWS_S3_BUCKET")
    )
    blob_prefix: str = Field(default="", validation_alias=_names("BLOB_PREFIX"))
    s3_endpoint: HttpAddress | None = Field(
        default=None, validation_alias=_names("S3_ENDPOINT", "S3_ENDPOINT", "AWS_ENDPOINT_URL")
    )
    s3_region: str | None = Field(default=None, validation_alias=_names("S3_REGION", "S3_REGION", "AWS_REGION"))

    # reading files
    parser_processes: int = Field(default=2, ge=1, le=64, validation_alias=_names("PARSER_PROCESSES"))
    parser_memory_bytes: int = Field(
        default=2 * 1024**3, ge=256 * 1024**2, le=_MOST_BYTES, validation_alias=_names("PARSER_MEMORY_BYTES")
    )
    parser_seconds: float = Field(default=600.0, gt=0, le=_MOST, validation_alias=_names("PARSER_SECONDS"))
    parser_silence_seconds: float = Field(
        default=60.0, gt=0, le=_MOST, validation_alias=_names("PARSER_SILENCE_SECONDS")
    )
    max_pages: int = Field(default=2_000, ge=1, le=_MOST, validation_alias=_names("MAX_PAGES"))
    max_pixels: int = Field(default=89_000_000, ge=1, le=_MOST, validation_alias=_names("MAX_PIXELS"))
    ocr: bool = Field(default=True, validation_alias=_names("OCR"))

    # durable stages
    workers: int = Field(default=1, ge=0, le=64, validation_alias=_names("WORKERS"))
    max_attempts: int = Field(default=3, ge=1, le=_MOST, validation_alias=_names("MAX_ATTEMPTS"))
    lease_seconds: float = Field(default=60.0, ge=5, le=_MOST, validation_alias=_names("LEASE_SECONDS"))

    # chunks
    chunk_strategy: ChunkStrategy = Field(
        default="sections", validation_alias=_names("CHUNK_STRATEGY", "CHUNKING_STRATEGY")
    )
    chunk_size: int | None = Field(
        default=None, ge=16, le=100_000, validation_alias=_names("CHUNK_SIZE", "CHUNK_SIZE", "CHUNK_SIZE_TOKENS")
    )
    chunk_overlap: int | None = Field(
        default=None, ge=0, validation_alias=_names("CHUNK_OVERLAP", "CHUNK_OVERLAP", "CHUNK_OVERLAP_TOKENS")
    )
    max_dense_rows: int = Field(default=20_000, ge=0, le=_MOST, validation_alias=_names("MAX_DENSE_ROWS"))

    # embeddings
    embedding_provider: Annotated[EmbeddingProvider, LocalIsBuiltin] = Field(
        default="builtin", validation_alias=_names("EMBEDDING_PROVIDER", "EMBEDDING_PROVIDER", "EMBEDDINGS_PROVIDER")
    )
    embedding_model: str | None = Field(
        default=None,
        validation_alias=_names("EMBEDDING_MODEL", "EMBEDDING_MODEL", "OPENAI_EMBEDDING_MODEL", "PINECONE_EMBED_MODEL"),
    )
    embedding_dimensions: int | None = Field(
        default=None, ge=1, le=65_536, validation_alias=_names("EMBEDDING_DIMENSIONS", "EMBEDDING_DIMENSIONS")
    )
    embedding_base_url: HttpAddress | None = Field(default=None, validation_alias=_names("EMBEDDING_BASE_URL"))

    # vector store
    vector_store: VectorStore = Field(
        default="edge", validation_alias=_names("VECTOR_STORE", "VECTOR_STORE", "VECTOR_DB")
    )
    qdrant_url: HttpAddress | None = Field(default=None, validation_alias=_names("QDRANT_URL", "QDRANT_URL"))
    qdrant_host: QdrantHost | None = Field(default=None, validation_alias=_names("QDRANT_HOST", "QDRANT_HOST"))
    qdrant_port: int = Field(default=6333, ge=1, le=65535, validation_alias=_names("QDRANT_PORT", "QDRANT_PORT"))
    qdrant_collection: str | None = Field(
        default=None, validation_alias=_names("QDRANT_COLLECTION", "QDRANT_COLLECTION", "QDRANT_COLLECTION_NAME")
    )
    qdrant_api_key: SecretStr | None = Field(default=None, validation_alias=_names("QDRANT_API_KEY", "QDRANT_API_KEY"))
    pgvector_url: PostgresAddress | None = Field(
        default=None, validation_alias=_names("PGVECTOR_URL", "PGVECTOR_URL", "SUPABASE_DB_URL")
    )
    redis_url: RedisAddress | None = Field(default=None, validation_alias=_names("REDIS_URL", "REDIS_URL"))
    pinecone_api_key: SecretStr | None = Field(
        default=None, validation_alias=_names("PINECONE_API_KEY", "PINECONE_API_KEY")
    )
    pinecone_index: str | None = Field(
        default=None, validation_alias=_names("PINECONE_INDEX", "PINECONE_INDEX", "PINECONE_INDEX_NAME")
    )
    pinecone_host: PineconeHost | None = Field(default=None, validation_alias=_names("PINECONE_HOST", "PINECONE_HOST"))
    pinecone_namespace: str | None = Field(
        default=None, validation_alias=_names("PINECONE_NAMESPACE", "PINECONE_NAMESPACE")
    )

    # retrieval
    top_k: int = Field(
        default=10, ge=1, le=100, validation_alias=_names("TOP_K", "TOP_K", "RETRIEVAL_TOP_K", "DEFAULT_TOP_K")
    )
    candidates: int = Field(default=100, ge=1, le=1_000, validation_alias=_names("CANDIDATES", "RETRIEVAL_CANDIDATES"))
    score_threshold: float = Field(
        default=-1.0,
        ge=-1,
        le=1,
        validation_alias=_names("SCORE_THRESHOLD", "SCORE_THRESHOLD", "VECTOR_SCORE_THRESHOLD", "SIMILARITY_THRESHOLD"),
    )
    rerank_enabled: bool = Field(default=False, validation_alias=_names("RERANK_ENABLED", "RERANK_ENABLED"))
    rerank_provider: RerankProvider = Field(
        default="builtin", validation_alias=_names("RERANK_PROVIDER", "RERANK_PROVIDER")
    )
    rerank_model: str | None = Field(
        default=None, validation_alias=_names("RERANK_MODEL", "RERANK_MODEL", "PINECONE_RERANK_MODEL")
    )
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
    chat_base_url: HttpAddress | None = Field(default=None, validation_alias=_names("CHAT_BASE_URL", "OPENAI_BASE_URL"))
    anthropic_base_url: HttpAddress | None = Field(
        default=None, validation_alias=_names("ANTHROPIC_BASE_URL", "ANTHROPIC_BASE_URL")
    )
    vision_provider: ChatProvider = Field(default="none", validation_alias=_names("VISION_PROVIDER", "VISION_PROVIDER"))
    vision_model: str | None = Field(default=None, validation_alias=_names("VISION_MODEL", "VISION_MODEL"))
    temperature: float | None = Field(default=None, ge=0, le=2, validation_alias=_names("TEMPERATURE", "TEMPERATURE"))
    max_tokens: int | None = Field(default=None, ge=1, le=_MOST, validation_alias=_names("MAX_TOKENS", "MAX_TOKENS"))
    context_tokens: int = Field(default=8_000, ge=256, le=_MOST, validation_alias=_names("CONTEXT_TOKENS"))
    answer_seconds: float = Field(default=120.0, gt=0, le=_MOST, validation_alias=_names("ANSWER_SECONDS"))
    prices: Prices = Field(default_factory=dict[str, tuple[float, float]], validation_alias=_names("PRICES"))
    compare_model: str = Field(default="", validation_alias=_names("COMPARE_MODEL"))

    # keys
    openai_api_key: SecretStr | None = Field(default=None, validation_alias=_names("OPENAI_API_KEY", "OPENAI_API_KEY"))
    anthropic_api_key: SecretStr | None = Field(
        default=None, validation_alias=_names("ANTHROPIC_API_KEY", "ANTHROPIC_API_KEY")
    )
    voyage_api_key: SecretStr | None = Field(default=None, validation_alias=_names("VOYAGE_API_KEY", "VOYAGE_API_KEY"))

    @property
    def sql_url(self) -> str:
        """The SQLAlchemy URL: Postgres when configured, else SQLite in the data folder."""
        if self.database_url is None:
            return f"sqlite+aiosqlite:///{self.data / 'citewell.db'}"
        return async_url(self.database_url)

    @property
    def qdrant_address(self) -> str | None:
        """Qdrant's URL, or what host and port make; the URL wins."""
        if self.qdrant_url is not None or self.qdrant_host is None:
            return self.qdrant_url
        host = f"[{self.qdrant_host}]" if ":" in self.qdrant_host else self.qdrant_host
        return f"http://{host}:{self.qdrant_port}"

    @property
    def is_loopback(self) -> bool:
        """Whether the server can be reached from this machine only."""
        return is_loopback(self.host)

    @property
    def without_effect(self) -> tuple[str, ...]:
        """What was set and is not used, with the reason: a sentence each."""
        return tuple(self._given.notes)

    def name_of(self, field: str) -> str:
        """The name under which a setting was given, else its first one: what messages call it."""
        return self._given.names.get(field, _FIELDS[field][0])


_FIELDS: Mapping[str, tuple[str, ...]] = {
    name: tuple(map(str, info.validation_alias.choices)) if isinstance(info.validation_alias, AliasChoices) else ()
    for name, info in Settings.model_fields.items()
}
_DEFAULTS: Mapping[str, Any] = {name: info.default for name, info in Settings.model_fields.items()}


def load_settings(**overrides: object) -> Settings:
    """Settings from overrides, then the environment, then `.env`; raises `ConfigurationError` that names what was set."""
    given_here = {name: value for name, value in overrides.items() if value is not None}
    check_overrides(given_here, _FIELDS)
    given = gather(_FIELDS, _DEFAULTS, _variables(), given_here)
    try:
        settings = Settings(**given.values)  # pyright: ignore[reportArgumentType]
    except ValidationError as error:
        problems = [_problem(given, found) for found in error.errors(include_url=False)]
        # Not chained: the cause would show what was given, which may be a key.
        raise ConfigurationError(" ".join(problems)) from None
    settings._given = given  # pyright: ignore[reportPrivateUsage]
    if contradictions := _contradictions(settings):
        raise ConfigurationError(" ".join(contradictions))
    return settings


def _variables() -> dict[str, str]:
    """The environment over `.env`, with names in capitals; `ConfigurationError` for one that begins like ours and is none."""
    known = [name for names in _FIELDS.values() for name in names]
    try:
        in_file = {name: value or "" for name, value in dotenv_values(".env", interpolate=True).items()}
    except (OSError, ValueError) as error:
        raise ConfigurationError(f"The file {Path('.env').absolute()} cannot be read: {error}.") from error
    check_names(os.environ, known, "the environment")
    check_names(in_file, known, str(Path(".env").absolute()))
    return {name.upper(): value for source in (in_file, os.environ) for name, value in source.items()}


_PROBLEMS = {
    "int_parsing": "must be a whole number",
    "int_type": "must be a whole number",
    "int_from_float": "must be a whole number",
    "int_parsing_size": "must be a smaller number",
    "float_parsing": "must be a number",
    "float_type": "must be a number",
    "finite_number": "must be a finite number",
    "bool_parsing": "must be true or false",
    "bool_type": "must be true or false",
    "greater_than_equal": "must be at least {ge:g}",
    "greater_than": "must be more than {gt:g}",
    "less_than_equal": "must be at most {le:.12g}",
}


def _problem(given: Given, found: Any) -> str:
    """What is wrong with one value, as a sentence. Values that may hold a secret are not shown."""
    field = str(found["loc"][0])
    # With aliases the location is the alias.
    field = next((name for name, names in _FIELDS.items() if field in (name, *names)), field)
    kind, context, value = found["type"], found.get("ctx", {}), given.values.get(field)
    if kind == "literal_error":
        allowed = [choice.strip(" '") for choice in context["expected"].replace(" or ", ", ").split(",")]
        near = nearest(str(value), allowed)
        text = f"must be {context['expected']}" + (f". Did you mean {near!r}?" if near else ".")
    elif kind == "value_error":
        text = f"{context['error']}."
    else:
        text = _PROBLEMS.get(kind, f"is not valid: {found['msg']}").format(**context) + "."
    shown = kind in _PROBLEMS or kind == "literal_error"
    return f"{given.names[field]} is {str(value)[:80]!r}, but it {text}" if shown else f"{given.names[field]} {text}"


def _contradictions(settings: Settings) -> list[str]:
    return [
        problem
        for problem in (_chunk_problem(settings), _secret_problem(settings), _temperature_problem(settings))
        if problem is not None
    ]


def _chunk_problem(settings: Settings) -> str | None:
    strategy = Strategy(settings.chunk_strategy)
    for field in ("chunk_size", "chunk_overlap"):
        name = settings.name_of(field)
        if name.endswith("_TOKENS") and measured_in_characters(strategy):
            strategy_name = settings.name_of("chunk_strategy")
            return f"{name} is in tokens, but {strategy_name} is {strategy.value!r}, which counts characters."
    size, overlap = chunk_sizes(strategy, settings.chunk_size, settings.chunk_overlap)
    if overlap <= size // 2:
        return None
    whose = settings.name_of("chunk_size") if settings.chunk_size else f"the {strategy.value!r} strategy's chunk size"
    return f"{settings.name_of('chunk_overlap')} is {overlap}, but it must be at most {size // 2}: half of {whose} ({size})."


# RFC 7518, section 3.2: a key as long as the hash. Fewer different bytes than this are a placeholder or a keyboard row.
_SECRET_BYTES = {"HS256": 32, "HS384": 48, "HS512": 64}
_LEAST_DIFFERENT = 8


def _secret_problem(settings: Settings) -> str | None:
    if settings.auth_secret is None:
        return None
    secret, least = settings.auth_secret.get_secret_value().encode(), _SECRET_BYTES[settings.jwt_algorithm]
    name = settings.name_of("auth_secret")
    if len(secret) < least:
        advice = f"Make one with: openssl rand -hex {least}"
        return f"{name} must have at least {least} bytes for {settings.jwt_algorithm}. {advice}"
    if len(set(secret)) < _LEAST_DIFFERENT:
        return f"{name} must be random. Make one with: openssl rand -hex {least}"
    return None


def _temperature_problem(settings: Settings) -> str | None:
    if settings.chat_provider == "anthropic" and (settings.temperature or 0) > 1:
        return f"{settings.name_of('temperature')} is {settings.temperature:g}, but it must be at most 1 for Anthropic."
    return None


def default_data_folder() -> Path:
    """The per-user data folder of this operating system. Raises `ConfigurationError` for a user without a home."""
    try:
        home = Path.home()
    except RuntimeError as error:
        raise ConfigurationError("This user has no home folder. Set CITEWELL_DATA to the data folder.") from error
    if sys.platform == "darwin":
        return home / "Library" / "Application Support" / "citewell"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", home)) / "citewell"
    return Path(os.environ.get("XDG_DATA_HOME", home / ".local" / "share")) / "citewell"
