"""The key of a provider that is called over HTTP."""

from __future__ import annotations

from citewell.errors import ConfigurationError
from citewell.settings import RemoteEmbedding, RemoteRerank


def require_key(settings: RemoteEmbedding | RemoteRerank, variable: str) -> str:
    """The key, or `ConfigurationError` that names the variable to set."""
    if settings.api_key is None:
        raise ConfigurationError(
            f"{settings.name_of('provider')} is {settings.provider!r}, but there is no key. Set {variable}."
        )
    return settings.api_key.get_secret_value()
