"""Types of setting values beyond numbers and words: addresses, databases, folders, prices.

Their errors begin with "must …" and never repeat the value, which may contain a password.
"""

from __future__ import annotations

import ipaddress
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import AfterValidator, BeforeValidator, Field

if TYPE_CHECKING:
    from email.headerregistry import Address

# More than anybody needs, and less than databases and operating systems accept.
MAX_NUMBER = 2**31 - 1
MAX_BYTES = 2**50
_HOST = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?\.?")
_DOMAIN = re.compile(r"[a-z0-9-]+(\.[a-z0-9-]+)+")
_COLLECTION = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,199}")
_SQL_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,62}")
POOLED = "pgbouncer"
"""The parameter in a database's URL that declares such a pooler, also to other tools."""
_POSTGRES = frozenset({"postgresql", "postgres", "postgresql+asyncpg"})
_SQLITE = frozenset({"sqlite", "sqlite+aiosqlite"})


def is_loopback(host: str) -> bool:
    """Whether a name or address, without a port, always means the machine it is used on. Any other name may be rebound to it (DNS rebinding)."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def is_own_address(url: str) -> bool:
    """Whether a URL names this machine or one of a private network, where a model runs on your own hardware."""
    host = urlsplit(url).hostname or ""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return is_loopback(host) or "." not in host or host.endswith(_PRIVATE_NAMES)
    return address.is_loopback or address.is_private


_PRIVATE_NAMES = (".local", ".lan", ".home", ".internal", ".home.arpa", ".localhost")
_POOLER_PORT = 6543


def is_pooled(url: str) -> bool:
    """Whether connections go through a pooler that gives each transaction a different session: Supabase's port, or `pgbouncer=true` in the URL."""
    from sqlalchemy import make_url

    parsed = make_url(url)
    return parsed.query.get(POOLED, "true" if parsed.port == _POOLER_PORT else "") == "true"


def async_url(url: str) -> str:
    """A database's URL for SQLAlchemy's asynchronous drivers, where `sslmode` is called `ssl`. `pgbouncer=true` is left for `Database`."""
    # Imported here, because it is needed only if a database is configured.
    from sqlalchemy import make_url

    parsed = make_url(url)
    parsed = parsed.set(drivername="sqlite+aiosqlite" if parsed.drivername in _SQLITE else "postgresql+asyncpg")
    if "sslmode" in parsed.query:
        mode = parsed.query["sslmode"]
        parsed = parsed.difference_update_query(["sslmode"]).update_query_dict({"ssl": mode})
    parsed = parsed.difference_update_query([POOLED])
    if is_pooled(url):
        parsed = parsed.update_query_dict({POOLED: "true"})
    return parsed.render_as_string(hide_password=False)


def is_postgres(url: str) -> bool:
    """Whether a database's URL is that of a Postgres server."""
    from sqlalchemy import make_url

    return make_url(url).drivername in _POSTGRES


def plain_postgres_url(url: str) -> str:
    """A Postgres server's URL without a driver's name, for libpq and asyncpg."""
    from sqlalchemy import make_url

    plain = make_url(url).set(drivername="postgresql").difference_update_query([POOLED])
    return plain.render_as_string(hide_password=False)


def _zone(value: str) -> str:
    try:
        ZoneInfo(value)
    except (ValueError, OSError, ZoneInfoNotFoundError):
        if value != "UTC":
            raise ValueError("must be the name of a time zone, such as Europe/Berlin") from None
    return value


def _http(value: str) -> str:
    return _address(value, ("http", "https"), "must be an address such as http://localhost:6333")


def _smtp(value: str) -> str:
    problem = "must be an address such as smtp://mail.example.org:587, without a user and a password"
    checked = _address(value, ("smtp", "smtps"), problem)
    if "@" in checked or urlsplit(checked).path not in ("", "/"):
        raise ValueError(problem)
    return checked


def parsed_address(value: str) -> Address:
    """An e-mail address without a name, as in a message's header. Raises `ValueError` for anything else."""
    # Imported here, because they are needed only to send mail.
    from email.errors import HeaderParseError
    from email.headerregistry import Address

    try:
        return Address(addr_spec=value)
    except (IndexError, HeaderParseError) as error:
        raise ValueError("This is not an e-mail address.") from error


def _mail(value: str) -> str:
    problem = "must be an e-mail address such as citewell@example.org, without a name"
    try:
        address = parsed_address(value)
    except ValueError:
        raise ValueError(problem) from None
    if not address.username or not address.domain or not value.isascii():
        raise ValueError(problem)
    return value


def _domains(value: object) -> object:
    if not isinstance(value, str):
        return value
    found = tuple(one.strip().lower() for one in value.split(",") if one.strip())
    if not found or not all(_DOMAIN.fullmatch(one) for one in found):
        raise ValueError("must be domains such as example.org, separated by commas")
    return found


def _redis(value: str) -> str:
    if value.startswith("unix:///"):
        return value
    return _address(value, ("redis", "rediss"), "must be an address such as redis://localhost:6379")


def _address(value: str, schemes: tuple[str, ...], problem: str) -> str:
    try:
        parts = urlsplit(value)
        sound = parts.scheme in schemes and bool(parts.hostname) and parts.port != 0
    except ValueError:
        sound = False
    if not sound or any(character.isspace() for character in value):
        raise ValueError(problem)
    return value


def _database(value: str) -> str:
    return _sql(value, _POSTGRES | _SQLITE)


def _postgres(value: str) -> str:
    return _sql(value, _POSTGRES)


def _sql(value: str, drivers: frozenset[str]) -> str:
    from sqlalchemy import make_url
    from sqlalchemy.exc import ArgumentError

    problem = "must be an address such as postgresql://user:password@localhost/citewell"
    try:
        url = make_url(value)
    except (ArgumentError, ValueError):
        raise ValueError(problem) from None
    named = url.database or url.host or "host" in url.query
    if url.drivername not in drivers or not named or any(character.isspace() for character in url.host or ""):
        raise ValueError(problem)
    return value


def _sql_name(value: str) -> str:
    if not _SQL_NAME.fullmatch(value):
        raise ValueError(
            "must be a name of up to 63 letters, digits and underscores, and begin with a letter or an underscore"
        )
    return value


def _listening(value: str) -> str:
    if not _HOST.fullmatch(value) and not _is_ip(value):
        raise ValueError("must be an address of this machine such as 127.0.0.1, without a scheme or a port")
    return value


def _qdrant_host(value: str) -> str:
    if not _HOST.fullmatch(value) and not _is_ip(value):
        raise ValueError("must be a host name only; put an address with a scheme into QDRANT_URL")
    return value


def _collection_prefix(value: str) -> str:
    if not _COLLECTION.fullmatch(value):
        raise ValueError(
            "must be a name of up to 200 letters, digits, underscores, hyphens and dots, and begin with a letter"
        )
    return value


def _pinecone_name(value: str) -> str:
    if not re.fullmatch(r"[a-z0-9]([a-z0-9-]{0,32}[a-z0-9])?", value):
        raise ValueError(
            "must be at most 34 lower-case letters, digits and hyphens, and begin and end with a letter or digit"
        )
    return value


def _pinecone_namespace(value: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9_-]{1,64}", value):
        raise ValueError("must be at most 64 letters, digits, hyphens and underscores")
    return value


def _is_ip(value: str) -> bool:
    try:
        ipaddress.ip_address(value)
    except ValueError:
        return False
    return True


def _folder(value: Path) -> Path:
    if "\x00" in str(value):
        raise ValueError("must be a path without NUL characters")
    try:
        return value.expanduser().absolute()
    except RuntimeError:
        raise ValueError(
            "must be a folder that exists or can be created: there is no home folder for this user"
        ) from None


def _parsed(value: object) -> object:
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except ValueError:
        raise ValueError('must be JSON such as {"model": [0.15, 0.60]}') from None


def _builtin_for_local(value: object) -> object:
    return "builtin" if value == "local" else value


HttpAddress = Annotated[str, AfterValidator(_http)]
SmtpAddress = Annotated[str, AfterValidator(_smtp)]
MailAddress = Annotated[str, AfterValidator(_mail)]
DomainList = Annotated[tuple[str, ...], BeforeValidator(_domains)]
TimeZone = Annotated[str, AfterValidator(_zone)]
RedisAddress = Annotated[str, AfterValidator(_redis)]
DatabaseAddress = Annotated[str, AfterValidator(_database)]
PostgresAddress = Annotated[str, AfterValidator(_postgres)]
SqlName = Annotated[str, AfterValidator(_sql_name)]
ListeningHost = Annotated[str, AfterValidator(_listening)]
QdrantHost = Annotated[str, AfterValidator(_qdrant_host)]
CollectionPrefix = Annotated[str, AfterValidator(_collection_prefix)]
PineconeName = Annotated[str, AfterValidator(_pinecone_name)]
PineconeNamespace = Annotated[str, AfterValidator(_pinecone_namespace)]
Folder = Annotated[Path, AfterValidator(_folder)]
Price = Annotated[float, Field(ge=0)]
PriceTable = Annotated[dict[str, tuple[Price, Price]], BeforeValidator(_parsed)]
# Other tools call the model that runs on this machine "local".
LocalIsBuiltin = BeforeValidator(_builtin_for_local)
Port = Annotated[int, Field(ge=1, le=65535)]
Natural = Annotated[int, Field(ge=0, le=MAX_NUMBER)]
Count = Annotated[int, Field(ge=1, le=MAX_NUMBER)]
Seconds = Annotated[float, Field(gt=0, le=MAX_NUMBER)]
Share = Annotated[float, Field(ge=0, le=1)]
Cosine = Annotated[float, Field(ge=-1, le=1)]
ChunkStrategy = Literal["sections", "tokens", "characters", "recursive", "semantic", "rows"]
# Every provider; each has a class in `groups`.
EmbeddingProvider = Literal["builtin", "openai", "voyage", "pinecone", "store", "fastembed"]
RerankProvider = Literal["none", "builtin", "voyage", "pinecone", "cohere", "tei", "fastembed"]
ChatProvider = Literal["none", "openai", "anthropic"]
VectorStore = Literal["edge", "qdrant", "pgvector", "redis", "pinecone"]
BlobBackend = Literal["local", "s3", "gcs", "azure"]
