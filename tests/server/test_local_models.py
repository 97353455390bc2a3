"""A model server of this machine is used in one step: checked first, kept over restarts, given up again; settings have the last word."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from citewell.adapters.chat.local_servers import KnownServer, find_local_servers
from citewell.app import build
from citewell.settings import load_settings
from citewell.system.folder import DataFolder
from tests.contract_servers.openai import OpenAIServer
from tests.contract_servers.script import Reply
from tests.contract_servers.serving import serving
from tests.server.scripted import openai_script

pytestmark = pytest.mark.full

MODEL = "gpt-test"
CHOICE = {"server": "Ollama", "model": MODEL}
POLICY = b"Loans. A first-time borrower may receive at most GHS 5,000."
QUESTION = "What is the maximum loan size for first-time borrowers?"


class Ollama:
    """Ollama on this machine: its list, and OpenAI's chat completions, which need no key."""

    def __init__(self) -> None:
        self.chat = OpenAIServer(openai_script)
        self.chat.app.routes.append(Route("/api/tags", self._tags))
        self.url = ""

    @property
    def known(self) -> KnownServer:
        return KnownServer("Ollama", int(self.url.rsplit(":", 1)[1]), "ollama")

    async def _tags(self, _: Request) -> JSONResponse:
        return JSONResponse({"models": [{"name": MODEL}, {"name": "nomic-embed-text"}]})


def _admitted(_: Request) -> None:
    return None


@pytest.fixture
def ollama(monkeypatch: pytest.MonkeyPatch) -> Generator[Ollama]:
    server = Ollama()
    # A local server has no keys: it takes whatever is sent.
    monkeypatch.setattr("tests.contract_servers.openai._unauthorized", _admitted)
    with serving(server.chat.app) as server.url, answering(monkeypatch, server.known):
        yield server


@contextmanager
def answering(monkeypatch: pytest.MonkeyPatch, *known: KnownServer) -> Generator[None]:
    """These, and no others, are the ports that are looked at."""
    find = partial(find_local_servers, known=known)
    monkeypatch.setattr("citewell.composition.local_models.find_local_servers", find)
    monkeypatch.setattr("citewell.doctor.examination.find_local_servers", find)
    yield


@asynccontextmanager
async def client(data: Path, **settings: object) -> AsyncGenerator[httpx.AsyncClient]:
    """Citewell on this folder, as its owner's browser reaches it."""
    app = build(load_settings(data=data, **settings))
    async with app.router.lifespan_context(app):
        headers = {"Authorization": f"Bearer {DataFolder(data).token()}"}
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://citewell", headers=headers) as opened:
            yield opened


async def add_policy(web: httpx.AsyncClient) -> None:
    added = (await web.post("/ingest", files={"file": ("policy.txt", POLICY)})).json()
    async with asyncio.timeout(60):
        # The stream of its events ends when the file is through.
        await web.get(f"/resources/{added['id']}/events")
    assert (await web.get(f"/resources/{added['id']}")).json()["status"] == "indexed"


async def answered_by(web: httpx.AsyncClient) -> str:
    """The name of the model that wrote an answer; empty for an extracted one."""
    response = await web.post("/chat", json={"message": QUESTION, "stream": False})
    assert response.status_code == 200, response.text
    answer: dict[str, Any] = response.json()
    assert "GHS 5,000" in answer["answer"]
    return answer["usage"]["model"]


async def test_one_request_has_the_model_write_the_answers_and_another_goes_back(
    ollama: Ollama, tmp_path: Path
) -> None:
    async with client(tmp_path) as web:
        await add_policy(web)
        offered = (await web.get("/local-model")).json()
        assert offered["state"] == "none"
        assert offered["servers"] == [{"server": "Ollama", "models": [MODEL, "nomic-embed-text"]}]
        assert await answered_by(web) == ""
        assert ollama.chat.requests == [], "nothing is sent before the model is chosen"

        used = (await web.post("/local-model", json=CHOICE)).json()
        assert (used["state"], used["chosen"]) == ("used", CHOICE)
        assert used["connected"]["model"] == MODEL
        assert used["connected"]["profile"] in ("full", "small")
        assert "an answer on this machine" in used["connected"]["told"]
        assert await answered_by(web) == MODEL
        assert len(ollama.chat.requests) > 1

        asked = len(ollama.chat.requests)
        assert (await web.delete("/local-model")).json()["state"] == "none"
        assert await answered_by(web) == ""
        assert len(ollama.chat.requests) == asked


async def test_the_choice_survives_a_restart_and_so_does_giving_it_up(ollama: Ollama, tmp_path: Path) -> None:
    async with client(tmp_path) as web:
        await add_policy(web)
        await web.post("/local-model", json=CHOICE)
    async with client(tmp_path) as web:
        assert (await web.get("/local-model")).json()["state"] == "used"
        assert await answered_by(web) == MODEL
        (finding,) = [f for f in (await web.get("/doctor")).json()["findings"] if f["part"] == "local model"]
        assert (finding["level"], finding["text"].split(" is ")[0]) == ("ok", f"Ollama with {MODEL}")
        await web.delete("/local-model")
    async with client(tmp_path) as web:
        assert (await web.get("/local-model")).json()["state"] == "none"
        assert await answered_by(web) == ""


async def test_a_server_that_is_gone_at_the_start_is_said_and_answers_are_extracted(
    ollama: Ollama, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async with client(tmp_path) as web:
        await add_policy(web)
        await web.post("/local-model", json=CHOICE)
    with answering(monkeypatch):
        async with client(tmp_path) as web:
            overview = (await web.get("/local-model")).json()
            assert (overview["state"], overview["chosen"], overview["servers"]) == ("silent", CHOICE, [])
            assert f"Ollama with {MODEL} does not respond" in caplog.text
            assert await answered_by(web) == ""
            (finding,) = [f for f in (await web.get("/doctor")).json()["findings"] if f["part"] == "local model"]
            assert (finding["level"], "does not respond" in finding["text"]) == ("note", True)
            with answering(monkeypatch, ollama.known):
                assert (await web.post("/local-model", json=CHOICE)).json()["state"] == "used"
                assert await answered_by(web) == MODEL


@pytest.mark.parametrize(
    ("reply", "code"),
    [
        (Reply(status=400, message="registry.ollama.ai/library/gemma does not support tools"), "provider_rejected"),
        (Reply(status=404, message="model not found"), "provider_model"),
    ],
)
async def test_a_model_that_does_not_answer_changes_nothing(
    ollama: Ollama, tmp_path: Path, reply: Reply, code: str
) -> None:
    async with client(tmp_path) as web:
        ollama.chat.script = lambda _: reply
        refused = await web.post("/local-model", json=CHOICE)
        assert (refused.status_code, refused.json()["error"]["code"]) == (503, code)
        assert (await web.get("/local-model")).json()["state"] == "none"
    assert DataFolder(tmp_path).local_model() is None


async def test_a_model_that_no_server_lists_is_not_found(ollama: Ollama, tmp_path: Path) -> None:
    async with client(tmp_path) as web:
        for choice in ({**CHOICE, "model": "other"}, {**CHOICE, "server": "vLLM"}):
            assert (await web.post("/local-model", json=choice)).status_code == 404
        assert ollama.chat.requests == []


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"chat_provider": "openai", "chat_model": MODEL, "openai_api_key": "sk-test"}, "CITEWELL_CHAT_PROVIDER"),
        ({"chat_provider": "none"}, "CITEWELL_CHAT_PROVIDER"),
        ({"auth_secret": "a secret of thirty-two characters"}, "CITEWELL_AUTH_SECRET"),
        ({"detect_local_models": False}, "CITEWELL_DETECT_LOCAL_MODELS"),
    ],
    ids=["a model is configured", "none is wanted", "accounts", "switched off"],
)
async def test_settings_win_over_what_was_chosen(
    ollama: Ollama, tmp_path: Path, settings: dict[str, object], named: str
) -> None:
    async with client(tmp_path) as web:
        assert (await web.post("/local-model", json=CHOICE)).status_code == 200
    checked = len(ollama.chat.requests)
    async with client(tmp_path, **settings) as web:
        overview = (await web.get("/local-model")).json()
        assert (overview["state"], overview["servers"]) == ("off", [])
        assert named in overview["reason"]
        for answer in (await web.post("/local-model", json=CHOICE), await web.delete("/local-model")):
            error = answer.json()["error"]
            assert (answer.status_code, error["code"]) == (409, "local_model_refused")
            assert named in error["message"]
    assert len(ollama.chat.requests) == checked
    assert DataFolder(tmp_path).local_model() == (CHOICE["server"], CHOICE["model"])


@pytest.mark.parametrize("text", ["", "[]", '{"server": 1, "model": "a"}', json.dumps([[]] * 3), "\x00"])
def test_a_damaged_record_is_no_choice(tmp_path: Path, text: str) -> None:
    (tmp_path / "local_model.json").write_text(text)
    assert DataFolder(tmp_path).local_model() is None
