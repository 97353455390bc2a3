"""Where vectors are stored: the settings of each vector store."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar, Literal, TypeAlias

from pydantic import Field, SecretStr

from citewell.errors import ConfigurationError
from citewell.settings.base import DataFolderSetting, SettingsGroup
from citewell.settings.names import named
from citewell.settings.values import (
    CollectionPrefix,
    DatabaseAddress,
    HttpAddress,
    PineconeName,
    PineconeNamespace,
    Port,
    PostgresAddress,
    QdrantHost,
    RedisAddress,
    Seconds,
    SqlName,
    is_pooled,
    is_postgres,
    plain_postgres_url,
)

DatabaseUrlSetting = Annotated[DatabaseAddress | None, named("database_url")]
PineconeKeySetting = Annotated[SecretStr | None, named("pinecone_api_key", "PINECONE_API_KEY")]
_VECTOR_STORE = named("vector_store", "VECTOR_STORE", "VECTOR_DB")


@dataclass(frozen=True, kw_only=True)
class EdgeStore(SettingsGroup):
    """Qdrant Edge: the index is in the data folder, and runs on this machine."""

    is_embedded: ClassVar[bool] = True

    provider: Annotated[Literal["edge"], _VECTOR_STORE] = "edge"
    data: DataFolderSetting

    def index_folder(self, fingerprint: str) -> Path:
        """The folder of one model's index."""
        return self.data / "indexes" / "".join(c if c.isalnum() or c in "-." else "_" for c in fingerprint)


@dataclass(frozen=True, kw_only=True)
class PgvectorStore(SettingsGroup):
    """Postgres with the pgvector extension, shared by processes: the database at `url`, or else Citewell's own."""

    is_embedded: ClassVar[bool] = False

    provider: Annotated[Literal["pgvector"], _VECTOR_STORE] = "pgvector"
    url: Annotated[PostgresAddress | None, named("pgvector_url", "PGVECTOR_URL", "SUPABASE_DB_URL")] = None
    database_url: DatabaseUrlSetting = None
    schema: Annotated[SqlName, named("pgvector_schema")] = "citewell"

    @property
    def dsn(self) -> str:
        """The database's address for its driver. Raises `ConfigurationError` if neither setting names a Postgres database."""
        address = self.url or self.database_url
        if address is None or not is_postgres(address):
            raise ConfigurationError(
                f"{self.name_of('provider')} is 'pgvector', which needs a Postgres database: set {self.name_of('url')} to its address, such as "
                "postgresql://user:password@localhost/citewell."
            )
        return plain_postgres_url(address)

    @property
    def is_pooled(self) -> bool:
        """Whether connections go through a pooler that gives each transaction a different session."""
        return is_pooled(self.url or self.database_url or "")


@dataclass(frozen=True, kw_only=True)
class QdrantStore(SettingsGroup):
    """A Qdrant server or cluster, shared by processes. With `grpc_port`, points are sent over gRPC.

    shards, replicas, quantization: of collections created from now on
    readable_payload: points also contain their text and file name in plain fields, for other programs
    """

    is_embedded: ClassVar[bool] = False

    provider: Annotated[Literal["qdrant"], _VECTOR_STORE] = "qdrant"
    url: Annotated[HttpAddress | None, named("qdrant_url", "QDRANT_URL")] = None
    host: Annotated[QdrantHost | None, named("qdrant_host", "QDRANT_HOST")] = None
    port: Annotated[Port, named("qdrant_port", "QDRANT_PORT")] = 6333
    grpc_port: Annotated[Port | None, named("qdrant_grpc_port", "QDRANT_GRPC_PORT")] = None
    api_key: Annotated[SecretStr | None, named("qdrant_api_key", "QDRANT_API_KEY")] = None
    collection: Annotated[
        CollectionPrefix, named("qdrant_collection", "QDRANT_COLLECTION", "QDRANT_COLLECTION_NAME")
    ] = "citewell"
    seconds: Annotated[Seconds, named("qdrant_seconds")] = 30.0
    shards: Annotated[int | None, Field(ge=1, le=1_000), named("qdrant_shards")] = None
    replicas: Annotated[int, Field(ge=1, le=16), named("qdrant_replicas")] = 1
    quantization: Annotated[Literal["none", "scalar", "binary"], named("qdrant_quantization")] = "none"
    readable_payload: Annotated[bool, named("qdrant_readable_payload")] = False

    @property
    def address(self) -> str:
        """The server's address. Raises `ConfigurationError` if none is set."""
        if self.url is not None:
            return self.url
        if self.host is not None:
            return f"http://{f'[{self.host}]' if ':' in self.host else self.host}:{self.port}"
        raise ConfigurationError(
            f"{self.name_of('provider')} is 'qdrant', which needs a server: set {self.name_of('url')} to its address, such as "
            f"http://localhost:6333, or {self.name_of('host')}."
        )


@dataclass(frozen=True, kw_only=True)
class RedisStore(SettingsGroup):
    """Redis with the query engine, shared by processes. graph: the kind of vector index for new owners."""

    is_embedded: ClassVar[bool] = False

    provider: Annotated[Literal["redis"], _VECTOR_STORE] = "redis"
    url: Annotated[RedisAddress | None, named("redis_url", "REDIS_URL")] = None
    prefix: Annotated[CollectionPrefix, named("redis_prefix")] = "citewell"
    graph: Annotated[Literal["hnsw", "flat"], named("redis_graph")] = "hnsw"
    seconds: Annotated[Seconds, named("redis_seconds")] = 30.0

    @property
    def address(self) -> str:
        """The server's address. Raises `ConfigurationError` if none is set."""
        if self.url is None:
            raise ConfigurationError(
                f"{self.name_of('provider')} is 'redis', which needs a server: set {self.name_of('url')} to its address, such as "
                "redis://localhost:6379."
            )
        return self.url


@dataclass(frozen=True, kw_only=True)
class PineconeStore(SettingsGroup):
    """Pinecone's serverless indexes, shared by processes: one per model, named with the prefix `index`."""

    is_embedded: ClassVar[bool] = False

    provider: Annotated[Literal["pinecone"], _VECTOR_STORE] = "pinecone"
    api_key: PineconeKeySetting = None
    index: Annotated[PineconeName, named("pinecone_index", "PINECONE_INDEX", "PINECONE_INDEX_NAME")] = "citewell"
    namespace: Annotated[PineconeNamespace, named("pinecone_namespace", "PINECONE_NAMESPACE")] = "documents"
    cloud: Annotated[Literal["aws", "gcp", "azure"], named("pinecone_cloud", "PINECONE_CLOUD")] = "aws"
    region: Annotated[str, named("pinecone_region", "PINECONE_REGION")] = "us-east-1"
    url: Annotated[HttpAddress | None, named("pinecone_url", "PINECONE_CONTROLLER_HOST")] = None


StoreSettings: TypeAlias = EdgeStore | PgvectorStore | QdrantStore | RedisStore | PineconeStore
