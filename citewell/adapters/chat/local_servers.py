"""Finds local model servers: asks Ollama, LM Studio, llama.cpp and vLLM on their default ports for their models.

Ollama's list: https://docs.ollama.com/api/tags; the others':
https://platform.openai.com/docs/api-reference/models/list.
"""

from __future__ import annotations

import http.client
import json
import socket
import threading
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import urlsplit

from citewell.types.json import well_formed

_SECONDS = 0.5
_MAX_LIST_BYTES = 1_000_000
_MAX_NAME = 200
_HOST = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class KnownServer:
    """A server program, its default port, and the format of its model list."""

    name: str
    port: int
    answers_as: Literal["ollama", "openai"]


KNOWN_SERVERS = (
    KnownServer("Ollama", 11434, "ollama"),
    KnownServer("LM Studio", 1234, "openai"),
    KnownServer("llama.cpp", 8080, "openai"),
    KnownServer("vLLM", 8000, "openai"),
)


@dataclass(frozen=True, slots=True)
class LocalServer:
    """A running model server, its chat-completions address and its models."""

    name: str
    base_url: str
    models: tuple[str, ...]


def find_local_servers(
    own_ports: Collection[int] = (), known: Sequence[KnownServer] = KNOWN_SERVERS
) -> list[LocalServer]:
    """The servers that respond and have a model, in the order of `known`; takes at most a second. Skips `own_ports`.

    Sends one GET without body, key or cookie to the loopback address at each port, and follows no redirects.
    """
    asked = [one for one in known if one.port not in own_ports]
    with ThreadPoolExecutor(max(1, len(asked)), "local-models") as pool:
        return [server for server in pool.map(_ask, asked) if server is not None]


def context_window(base_url: str, model: str) -> int | None:
    """The tokens of context that a model server says a model has there; None where it does not say. Takes at most two seconds.

    llama.cpp: `/props`; vLLM: `/v1/models`; Ollama: `/api/ps`, for a model that is loaded; LM Studio: `/api/v0/models`.
    """
    address = urlsplit(base_url)
    if address.scheme != "http" or address.hostname is None:
        return None
    host, port = address.hostname, address.port or 80
    for path, read in _WINDOWS.items():
        with suppress(
            OSError, http.client.HTTPException, ValueError, RecursionError, TypeError, KeyError, AttributeError
        ):
            tokens = read(_get(port, path, host), model)
            if isinstance(tokens, int) and not isinstance(tokens, bool) and tokens > 0:
                return tokens
    return None


def _named(rows: Any, model: str, *fields: str) -> Any:
    """The first field that the row of this model has."""
    row = next((one for one in rows if model in (one.get("id"), one.get("name"), one.get("model"))), {})
    return next((row[field] for field in fields if field in row), None)


_WINDOWS: dict[str, Callable[[Any, str], Any]] = {
    "/props": lambda told, _: told["default_generation_settings"]["n_ctx"],
    "/api/ps": lambda told, model: _named(told["models"], model, "context_length"),
    "/api/v0/models": lambda told, model: _named(told["data"], model, "loaded_context_length"),
    "/v1/models": lambda told, model: _named(told["data"], model, "max_model_len"),
}


def _ask(known: KnownServer) -> LocalServer | None:
    path = "/api/tags" if known.answers_as == "ollama" else "/v1/models"
    listed: Any = None
    with suppress(OSError, http.client.HTTPException, ValueError, RecursionError):
        listed = _get(known.port, path)
    models = _models(listed, *(("models", "name") if known.answers_as == "ollama" else ("data", "id")))
    return LocalServer(known.name, f"http://{_HOST}:{known.port}/v1", models) if models else None


def _get(port: int, path: str, host: str = _HOST) -> Any:
    connection = http.client.HTTPConnection(host, port, timeout=_SECONDS)
    connection.connect()
    # A socket's timeout applies to each read; this one applies to the whole response.
    limit = threading.Timer(_SECONDS, _hang_up, [connection.sock])
    limit.start()
    try:
        connection.request("GET", path, headers={"Accept": "application/json"})
        response = connection.getresponse()
        body = response.read(_MAX_LIST_BYTES + 1)
        return json.loads(body) if response.status == 200 and len(body) <= _MAX_LIST_BYTES else None
    finally:
        limit.cancel()
        connection.close()


def _hang_up(link: socket.socket) -> None:
    with suppress(OSError):
        link.shutdown(socket.SHUT_RDWR)


def _models(listed: Any, key: str, name: str) -> tuple[str, ...]:
    """The names in `{key: [{name: …}, …]}`; empty for any other form."""
    rows: Any = listed.get(key) if isinstance(listed, dict) else None
    found: list[str] = []
    for row in rows if isinstance(rows, list) else ():
        value: Any = row.get(name) if isinstance(row, dict) else None
        if isinstance(value, str) and value.isprintable() and 0 < len(value) <= _MAX_NAME:
            found.append(well_formed(value))
    return tuple(found)
