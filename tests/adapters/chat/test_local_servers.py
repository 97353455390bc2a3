"""Model servers of this machine are found by their lists of models, and are sent nothing but the request for it."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections.abc import Collection
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Literal

import pytest
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response

from citewell.adapters.chat.local_servers import KnownServer, LocalServer, find_local_servers
from citewell.doctor.examination import examine_configuration
from citewell.features.health.findings import Finding
from citewell.settings import load_settings
from tests.contract_servers.model_lists import Asked, ModelListServer
from tests.contract_servers.serving import serving


def look(
    server: ModelListServer, answers_as: Literal["ollama", "openai"] = "openai", own: bool = False
) -> list[LocalServer]:
    with serving(server.app) as url:
        port = int(url.rsplit(":", 1)[1])
        return find_local_servers([port] if own else [], [KnownServer("Local", port, answers_as)])


def test_ollama_and_compatible_servers_are_named_with_their_models() -> None:
    with ExitStack() as stack:
        ollama = ModelListServer("llama3.2:latest", "qwen3", is_ollama=True)
        studio = ModelListServer("gpt-oss-20b")
        ports = [int(stack.enter_context(serving(one.app)).rsplit(":", 1)[1]) for one in (ollama, studio)]
        found = find_local_servers(
            (), [KnownServer("Ollama", ports[0], "ollama"), KnownServer("LM Studio", ports[1], "openai")]
        )
    assert found == [
        LocalServer("Ollama", f"http://127.0.0.1:{ports[0]}/v1", ("llama3.2:latest", "qwen3")),
        LocalServer("LM Studio", f"http://127.0.0.1:{ports[1]}/v1", ("gpt-oss-20b",)),
    ]


def test_only_the_list_is_asked_for_and_nothing_is_sent() -> None:
    server = ModelListServer("llama3.2", is_ollama=True)
    look(server, "ollama")
    headers = frozenset({"host", "accept", "accept-encoding"})
    assert server.asked == [Asked("GET", "/api/tags", "", headers, b"")]


def test_our_own_port_is_not_asked() -> None:
    server = ModelListServer("llama3.2")
    assert look(server, own=True) == []
    assert server.asked == []


@pytest.mark.parametrize(
    "raw",
    [
        JSONResponse({"object": "list", "data": []}),
        JSONResponse({"data": "many"}),
        JSONResponse([{"id": "a"}]),
        JSONResponse({"data": [{"id": "two\nlines"}, {"id": 7}, {"id": "x" * 300}, None]}),
        JSONResponse({"data": [{"id": "a"}]}, 401),
        PlainTextResponse("<html>hello</html>"),
        PlainTextResponse("[" * 100_000),
        Response(b'{"data": [{"id": "' + b"a" * 2_000_000 + b'"}]}'),
        RedirectResponse("http://127.0.0.1:1/v1/models"),
    ],
    ids=["none", "no list", "array", "bad names", "refused", "page", "nested", "huge", "redirect"],
)
def test_whatever_else_answers_is_no_model_server(raw: Response) -> None:
    assert look(ModelListServer(raw=raw)) == []


def test_a_port_that_accepts_and_says_nothing_is_given_up() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        assert find_local_servers((), [KnownServer("Ollama", silent.getsockname()[1], "ollama")]) == []


def test_a_port_that_trickles_is_given_up() -> None:
    def trickle(listening: socket.socket) -> None:
        connection, _ = listening.accept()
        with connection, suppress(OSError):
            while True:  # until whoever asks hangs up
                connection.sendall(b"H")
                time.sleep(0.25)

    with socket.create_server(("127.0.0.1", 0)) as slow:
        threading.Thread(target=trickle, args=(slow,), daemon=True).start()
        assert find_local_servers((), [KnownServer("Ollama", slow.getsockname()[1], "ollama")]) == []


OLLAMA = LocalServer("Ollama", "http://127.0.0.1:11434/v1", ("llama3.2", "qwen3"))


def examined(monkeypatch: pytest.MonkeyPatch, data: Path, **settings: object) -> list[Finding]:
    """The findings about local models, on a machine where Ollama answers."""

    def find(own_ports: Collection[int]) -> list[LocalServer]:
        return [] if 11434 in own_ports else [OLLAMA]

    monkeypatch.setattr("citewell.doctor.examination.find_local_servers", find)
    found = asyncio.run(examine_configuration(load_settings(data=data, **settings)))
    return [finding for finding in found if finding.part == "local model"]


def test_the_doctor_names_a_model_of_this_machine_and_how_to_use_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (finding,) = examined(monkeypatch, tmp_path)
    assert finding.level == "note"
    assert finding.text == "Ollama with llama3.2 and 1 more answers on this machine"
    assert "CITEWELL_CHAT_BASE_URL=http://127.0.0.1:11434/v1" in finding.advice
    assert "CITEWELL_CHAT_MODEL=llama3.2 " in finding.advice


@pytest.mark.parametrize(
    "settings",
    [
        {"detect_local_models": False},
        {"chat_provider": "openai", "chat_model": "gpt-test", "openai_api_key": "sk-test"},
        {"auth_secret": "a secret of thirty-two characters"},
        {"port": 11434},
    ],
    ids=["switched off", "a model is configured", "accounts", "own port"],
)
def test_nobody_looks_where_it_is_not_wanted(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, settings: dict[str, object]
) -> None:
    assert examined(monkeypatch, tmp_path, **settings) == []
