"""API keys of providers called over HTTP."""

from __future__ import annotations

from citewell.errors import ConfigurationError
from citewell.settings import RemoteEmbedding, RemoteRerank


def require_key(settings: RemoteEmbedding | RemoteRerank, variable: str) -> str:
    """The API key. Raises `ConfigurationError` naming the variable to set if it is missing."""
    if settings.api_key is None:
        raise ConfigurationError(
            f"{settings.name_of('provider')} is {settings.provider!r}, but no API key is set. Set {variable}."
        )
    return settings.api_key.get_secret_value()
