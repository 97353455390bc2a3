"""What the database keeps of the settings of an index, which is no secret, and the settings that open it again."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from citewell.ports import Fingerprint
from citewell.settings import RemoteEmbedding, Settings, StoreSettings, change
from citewell.settings.base import declared

_MODEL = {
    "provider": "embedding_provider",
    "model": "embedding_model",
    "dimensions": "embedding_dimensions",
    "base_url": "embedding_base_url",
}
_FINGERPRINT = re.compile(r"([^/]{1,100})/(.{1,400})/([0-9]{1,9})(?:@([^~@]{0,200}))?(~none)?")
# The fields of a store's settings that say where it is; others, such as the number of replicas, change nothing about what it holds.
_ADDRESS = ("url", "database_url", "host", "port", "schema", "collection", "index", "namespace", "prefix")


@dataclass(frozen=True, slots=True)
class IndexIdentity:
    """Which index it is: whose vectors, in which store. `settings` open it again."""

    fingerprint: str
    store: str
    place: str
    settings: dict[str, Any]


def identity_of(settings: Settings, fingerprint: Fingerprint) -> IndexIdentity:
    """The index that these settings name."""
    embedding, address = settings.embedding, _address(settings.store)
    recorded: dict[str, Any] = {
        "provider": embedding.provider,
        "model": embedding.model,
        "dimensions": embedding.dimensions,
    }
    if isinstance(embedding, RemoteEmbedding) and embedding.base_url is not None:
        recorded["base_url"] = without_password(str(embedding.base_url))
    recorded["store"] = {"provider": settings.store.provider, **address}
    return IndexIdentity(str(fingerprint), settings.store.provider, place_of(settings.store), recorded)


def place_of(store: StoreSettings) -> str:
    """Where a store is, without secrets; empty for the data folder's own."""
    address = _address(store)
    return json.dumps(address, sort_keys=True) if address else ""


def settings_of(settings: Settings, recorded: Mapping[str, Any]) -> Settings:
    """The settings with the model and the store of an index. Keys and passwords are those of today.

    What is not recorded of the model or the store is as it is set today. `ConfigurationError` for what has no adapter.
    """
    values: dict[str, Any] = {_MODEL[key]: value for key, value in recorded.items() if key in _MODEL}
    provider, today_is_remote = recorded.get("provider"), isinstance(settings.embedding, RemoteEmbedding)
    if "base_url" not in recorded and today_is_remote and provider not in (None, settings.embedding.provider):
        values["embedding_base_url"] = None  # it is another vendor's
    if isinstance(store := recorded.get("store"), Mapping):
        values["vector_store"] = store["provider"]
        today = change(settings, vector_store=store["provider"])
        # A recorded address has no password; where it is still the one that is set, the one that is set is used.
        same = _address(today.store)
        values |= {key: value for key, value in store.items() if key != "provider" and same.get(key) != value}
    return change(settings, **values)


def parsed_fingerprint(text: str) -> Fingerprint:
    """The fingerprint that was written as this text; `ValueError` for another text."""
    found = _FINGERPRINT.fullmatch(text)
    if found is None:
        raise ValueError(f"{text!r} is not the name of a model")
    provider, model, dimensions, revision, raw = found.groups()
    return Fingerprint(provider, model, int(dimensions), revision or "", "none" if raw else "l2")


def without_password(address: str) -> str:
    """An address without the password in it."""
    parts = urlsplit(address)
    if parts.password is None:
        return address
    host = parts.netloc.rpartition("@")[2]
    return urlunsplit(parts._replace(netloc=f"{parts.username}@{host}" if parts.username else host))


def _address(store: StoreSettings) -> dict[str, Any]:
    """Where the store is, by keyword. A database of its own hides the one of everything else."""
    names = declared(type(store))
    found: dict[str, Any] = {}
    for field in _ADDRESS:
        if field not in names or (field == "database_url" and any(key.endswith("_url") for key in found)):
            continue
        value = getattr(store, field)
        if value is not None:
            found[names[field].keyword] = without_password(str(value))
    return found
