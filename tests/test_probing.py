"""Doctor and Settings tell the truth for each provider: not configured, wrong key, no such model, unreachable, works."""

from __future__ import annotations

import typing
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import anthropic.types
import openai.types
import pytest
from anthropic.resources.messages.messages import DEPRECATED_MODELS

from citewell.features.health.findings import Finding
from citewell.probing import probe_providers
from citewell.settings import AnthropicChat, OpenAIChat, load_settings
from citewell.storage.database import Database
from tests.contract_servers import anthropic as anthropic_contract
from tests.contract_servers import cohere, pinecone, voyage
from tests.contract_servers import openai as openai_contract
from tests.contract_servers.anthropic import AnthropicServer
from tests.contract_servers.cohere import CohereServer
from tests.contract_servers.faults import Fault, Faults
from tests.contract_servers.openai import OpenAIServer
from tests.contract_servers.pinecone import PineconeServer
from tests.contract_servers.script import Queue, Reply
from tests.contract_servers.serving import serving
from tests.contract_servers.voyage import VoyageServer
from tests.server.test_local_models import POLICY, QUESTION, client

NOBODY = "http://127.0.0.1:9"


class Vendors:
    """A server of every vendor, and for each part with a provider the settings that lead to one."""

    def __init__(self, stack: ExitStack) -> None:
        self.voyage, self.pinecone, self.cohere = VoyageServer(), PineconeServer(), CohereServer()
        self.openai, self.anthropic = OpenAIServer(), AnthropicServer()
        at = {name: stack.enter_context(serving(getattr(self, name).app)) for name in _KEYS}
        paths = {"voyage": "/v1", "pinecone": "", "cohere": "/v2", "openai": "/v1", "anthropic": ""}
        self._addresses = {name: f"{url}{paths[name]}" for name, url in at.items()}

    def settings(self, part: str, name: str) -> dict[str, object]:
        given: dict[str, object] = {f"{part}_provider": name, f"{name}_api_key": _KEYS[name]}
        if part in ("embedding", "rerank"):
            given[f"{part}_base_url"] = self._addresses[name]
        else:
            given["anthropic_base_url" if name == "anthropic" else "chat_base_url"] = self._addresses[name]
            given[f"{part}_model"] = "claude-test" if name == "anthropic" else "gpt-test"
        if (part, name) == ("embedding", "openai"):
            given["embedding_model"] = "text-embedding-3-small"
        if (part, name) == ("rerank", "cohere"):
            given["rerank_model"] = "rerank-v3.5"
        return given


_KEYS = {
    "voyage": voyage.KEY,
    "pinecone": pinecone.KEY,
    "cohere": cohere.KEY,
    "openai": openai_contract.KEY,
    "anthropic": anthropic_contract.KEY,
}
_PARTS = [
    ("embedding", "openai"),
    ("embedding", "voyage"),
    ("embedding", "pinecone"),
    ("rerank", "voyage"),
    ("rerank", "pinecone"),
    ("rerank", "cohere"),
    ("chat", "openai"),
    ("chat", "anthropic"),
    ("vision", "openai"),
    ("vision", "anthropic"),
]
every_part = pytest.mark.parametrize(("part", "name"), _PARTS)


@pytest.fixture
def vendors() -> Iterator[Vendors]:
    with ExitStack() as stack:
        yield Vendors(stack)


async def found(part: str, **settings: object) -> Finding:
    shown = "embeddings" if part == "embedding" else part
    (one,) = [one for one in await probe_providers(load_settings(**settings)) if one.part == shown]
    return one


@every_part
async def test_a_provider_that_answers_works(vendors: Vendors, part: str, name: str) -> None:
    one = await found(part, **vendors.settings(part, name))
    assert (one.level, one.text.split(" (")[0]) == ("ok", f"{name}: works")


@every_part
async def test_a_wrong_key_is_called_one(vendors: Vendors, part: str, name: str) -> None:
    one = await found(part, **vendors.settings(part, name) | {f"{name}_api_key": "wrong"})
    assert (one.level, one.text) == ("error", f"{name}: wrong key")


@every_part
async def test_a_provider_that_cannot_be_reached_is_unreachable(vendors: Vendors, part: str, name: str) -> None:
    settings = {key: NOBODY if key.endswith("base_url") else v for key, v in vendors.settings(part, name).items()}
    one = await found(part, **settings)
    assert (one.level, one.text) == ("error", f"{name}: unreachable")


@every_part
async def test_a_provider_without_a_key_is_not_configured(part: str, name: str) -> None:
    one = await found(part, **{f"{part}_provider": name})
    assert (one.level, one.text) == ("error", f"{name}: not configured")
    assert f"{name.upper()}_API_KEY" in one.advice


async def test_a_spent_account_a_vanished_model_and_a_busy_provider_are_told_apart(vendors: Vendors) -> None:
    settings = vendors.settings("rerank", "voyage")
    for fault, text in (
        (Fault(status=402, message="out of credit"), "voyage: no credit"),
        (Fault(status=400, message="Model rerank-9 is not supported"), "voyage: no such model"),
        (Fault(status=429, message="slow down"), "voyage: works, but is busy"),
    ):
        vendors.voyage.trouble = Faults(fault)
        assert (await found("rerank", **settings)).text == text
    vendors.openai.script = Queue(Reply(status=400, message="no"))
    assert (await found("chat", **vendors.settings("chat", "openai"))).text == "openai: refused"


async def test_a_question_to_an_embedder_counts_towards_its_calls_per_minute(vendors: Vendors, tmp_path: Path) -> None:
    settings = vendors.settings("embedding", "voyage") | {"data": tmp_path, "embedding_requests_per_minute": 1}
    assert (await found("embedding", **settings)).level == "ok", "a folder without a database has made no calls"
    database = Database(load_settings(**settings).sql_url)
    await database.migrate()
    assert [(await found("embedding", **settings)).level for _ in range(2)] == ["ok", "note"]
    await database.close()
    assert len(vendors.voyage.requests) == 2, "the third was not made"


def test_the_usual_chat_models_are_ones_that_the_vendors_packages_know() -> None:
    known = {*typing.get_args(openai.types.ChatModel)}
    assert OpenAIChat.usual_model in known
    assert any(AnthropicChat.usual_model in typing.get_args(one) for one in typing.get_args(anthropic.types.Model))
    assert AnthropicChat.usual_model not in DEPRECATED_MODELS


@pytest.mark.slow(20)
async def test_a_server_whose_chat_model_has_no_key_starts_searches_answers_and_says_so(tmp_path: Path) -> None:
    async with client(tmp_path, chat_provider="openai") as web:
        added = (await web.post("/ingest", files={"file": ("policy.txt", POLICY)})).json()
        await web.get(f"/resources/{added['id']}/events")
        assert (await web.post("/search", json={"query": "loan"})).json()["hits"]
        answer = (await web.post("/chat", json={"message": QUESTION})).json()
        assert "GHS 5,000" in answer["answer"]
        assert "Set OPENAI_API_KEY" in answer["notice"]
        kept = (await web.get(f"/threads/{answer['thread_id']}")).json()["messages"][-1]["details"]
        assert kept["notice"] == answer["notice"]
        findings = {one["part"]: one for one in (await web.get("/doctor")).json()["findings"]}
        assert findings["chat"]["text"] == "openai: not configured"


@pytest.mark.slow(20)
async def test_a_server_whose_chat_model_cannot_be_reached_starts_searches_and_says_so(tmp_path: Path) -> None:
    unreachable = {"chat_provider": "openai", "chat_base_url": f"{NOBODY}/v1", "chat_model": "m", "answer_seconds": 2}
    async with client(tmp_path, **unreachable) as web:
        added = (await web.post("/ingest", files={"file": ("policy.txt", POLICY)})).json()
        await web.get(f"/resources/{added['id']}/events")
        assert (await web.post("/search", json={"query": "loan"})).json()["hits"]
        refused = await web.post("/chat", json={"message": QUESTION})
        assert (refused.status_code, refused.json()["error"]["code"]) == (503, "provider_unavailable")


@pytest.mark.slow(20)
async def test_an_answer_whose_reranker_failed_says_so(vendors: Vendors, tmp_path: Path) -> None:
    settings = {**vendors.settings("rerank", "voyage"), "rerank_enabled": True}
    async with client(tmp_path, **settings) as web:
        added = (await web.post("/ingest", files={"file": ("policy.txt", POLICY)})).json()
        await web.get(f"/resources/{added['id']}/events")
        assert (await web.post("/chat", json={"message": QUESTION})).json()["notice"] is None
        vendors.voyage.trouble = Faults(*[Fault(status=500, message="down")] * 9)
        answer = (await web.post("/chat", json={"message": QUESTION})).json()
        assert "GHS 5,000" in answer["answer"]
        assert "the reranker failed" in answer["notice"]
