"""Doctor and Settings tell the truth for each provider: not configured, wrong key, no such model, unreachable, works."""

from __future__ import annotations

import typing
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import anthropic.types
import openai.types
import pytest
from anthropic.resources.messages.messages import DEPRECATED_MODELS

from citewell.doctor.probing import probe_providers
from citewell.features.health.findings import Finding
from citewell.settings import AnthropicChat, OpenAIChat, load_settings
from citewell.storage.database import Database
from tests.contract_servers import anthropic as anthropic_contract
from tests.contract_servers import bedrock, cohere, gemini, local, pinecone, tei, voyage
from tests.contract_servers import openai as openai_contract
from tests.contract_servers.anthropic import AnthropicServer
from tests.contract_servers.bedrock import BedrockServer
from tests.contract_servers.cohere import CohereServer
from tests.contract_servers.faults import Fault, Faults
from tests.contract_servers.gemini import GeminiServer
from tests.contract_servers.local import LocalServer
from tests.contract_servers.openai import OpenAIServer
from tests.contract_servers.pinecone import PineconeServer
from tests.contract_servers.script import Queue, Reply
from tests.contract_servers.serving import serving
from tests.contract_servers.tei import TeiServer
from tests.contract_servers.voyage import VoyageServer
from tests.server.test_local_models import POLICY, QUESTION, client

pytestmark = pytest.mark.full

NOBODY = "http://127.0.0.1:9"


@dataclass(frozen=True)
class Vendor:
    """A contract server, its interface's path, what its key and a model of its are, and the provider that settings name."""

    kind: type
    path: str
    key: str | None
    model: str
    provider: str
    key_name: str | None = None

    @property
    def key_setting(self) -> str:
        return self.key_name or f"{self.provider}_api_key"


_VENDORS = {
    "voyage": Vendor(VoyageServer, "/v1", voyage.KEY, "voyage-4", "voyage"),
    "pinecone": Vendor(PineconeServer, "", pinecone.KEY, "multilingual-e5-large", "pinecone"),
    "store": Vendor(PineconeServer, "", pinecone.KEY, "multilingual-e5-large", "store", "pinecone_api_key"),
    "cohere": Vendor(CohereServer, "/v2", cohere.KEY, "rerank-v3.5", "cohere"),
    "tei": Vendor(TeiServer, "", tei.KEY, "served", "tei"),
    "openai": Vendor(OpenAIServer, "/v1", openai_contract.KEY, "gpt-test", "openai"),
    "anthropic": Vendor(AnthropicServer, "", anthropic_contract.KEY, "claude-test", "anthropic"),
    "gemini": Vendor(GeminiServer, "/v1beta/openai", gemini.KEY, gemini.MODEL, "openai"),
    "bedrock": Vendor(BedrockServer, "/openai/v1", bedrock.KEY, bedrock.MODEL, "openai"),
    "ollama": Vendor(LocalServer, "/v1", None, local.MODEL, "openai"),
}
_RERANKERS = {"voyage": "rerank-2.5", "pinecone": "bge-reranker-v2-m3"}


class Vendors:
    """A server of every vendor, and for each part with a provider the settings that lead to one."""

    def __init__(self, stack: ExitStack) -> None:
        self.servers = {name: vendor.kind() for name, vendor in _VENDORS.items()}
        self._at = {name: stack.enter_context(serving(server.app)) for name, server in self.servers.items()}

    def settings(self, part: str, name: str, model: str | None = None) -> dict[str, object]:
        """model: another one than the vendor has."""
        vendor, address = _VENDORS[name], f"{self._at[name]}{_VENDORS[name].path}"
        given: dict[str, object] = {f"{part}_provider": vendor.provider}
        if vendor.key is not None:
            given[vendor.key_setting] = vendor.key
        if part in ("embedding", "rerank"):
            given[f"{part}_base_url"] = address
        else:
            given["anthropic_base_url" if name == "anthropic" else "chat_base_url"] = address
        usual = _RERANKERS.get(name, vendor.model) if part == "rerank" else vendor.model
        usual = "text-embedding-3-small" if (part, name) == ("embedding", "openai") else usual
        given[f"{part}_model"] = model or usual
        if part == "embedding" and model is not None:
            given["embedding_dimensions"] = 64
        return given


_PARTS = [
    ("embedding", "openai"),
    ("embedding", "voyage"),
    ("embedding", "pinecone"),
    ("embedding", "store"),
    ("rerank", "voyage"),
    ("rerank", "pinecone"),
    ("rerank", "cohere"),
    ("rerank", "tei"),
    ("chat", "openai"),
    ("chat", "anthropic"),
    ("chat", "gemini"),
    ("chat", "bedrock"),
    ("chat", "ollama"),
    ("vision", "openai"),
    ("vision", "anthropic"),
    ("vision", "gemini"),
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
    assert (one.level, one.text.split(" (")[0]) == ("ok", f"{_VENDORS[name].provider}: works"), one.advice


@pytest.mark.parametrize(("part", "name"), [(part, name) for part, name in _PARTS if _VENDORS[name].key])
async def test_a_wrong_key_is_called_one(vendors: Vendors, part: str, name: str) -> None:
    one = await found(part, **vendors.settings(part, name) | {_VENDORS[name].key_setting: "wrong"})
    assert (one.level, one.text) == ("error", f"{_VENDORS[name].provider}: wrong key"), one.advice


@every_part
async def test_a_provider_that_cannot_be_reached_is_unreachable(vendors: Vendors, part: str, name: str) -> None:
    settings = {key: NOBODY if key.endswith("base_url") else v for key, v in vendors.settings(part, name).items()}
    one = await found(part, **settings)
    assert (one.level, one.text) == ("error", f"{_VENDORS[name].provider}: unreachable"), one.advice


# Text Embeddings Inference ranks with the model that it was started with, whatever it is called.
@pytest.mark.parametrize(("part", "name"), [(part, name) for part, name in _PARTS if name != "tei"])
async def test_a_model_that_the_provider_does_not_have_any_more_is_called_so(
    vendors: Vendors, part: str, name: str
) -> None:
    one = await found(part, **vendors.settings(part, name, model="vanished-1"))
    assert (one.level, one.text) == ("error", f"{_VENDORS[name].provider}: no such model"), one.advice
    assert "vanished-1" in one.advice or name == "bedrock"


@pytest.mark.parametrize(("part", "name"), [(part, name) for part, name in _PARTS if name == _VENDORS[name].provider])
async def test_a_provider_without_a_key_is_not_configured(part: str, name: str) -> None:
    one = await found(part, **{f"{part}_provider": name})
    assert (one.level, one.text) == ("error", f"{name}: not configured")
    wanted = {"tei": "CITEWELL_RERANK_BASE_URL", "store": "PINECONE_API_KEY"}
    assert wanted.get(name, f"{name.upper()}_API_KEY") in one.advice


async def test_a_spent_account_a_vanished_model_and_a_busy_provider_are_told_apart(vendors: Vendors) -> None:
    settings = vendors.settings("rerank", "voyage")
    for fault, text in (
        (Fault(status=402, message="out of credit"), "voyage: no credit"),
        (Fault(status=400, message="Model rerank-9 is not supported"), "voyage: no such model"),
        (Fault(status=429, message="slow down"), "voyage: works, but is busy"),
    ):
        vendors.servers["voyage"].trouble = Faults(fault)
        assert (await found("rerank", **settings)).text == text
    vendors.servers["openai"].script = Queue(Reply(status=400, message="no"))
    assert (await found("chat", **vendors.settings("chat", "openai"))).text == "openai: refused"


async def test_a_question_to_an_embedder_counts_towards_its_calls_per_minute(vendors: Vendors, tmp_path: Path) -> None:
    settings = vendors.settings("embedding", "voyage") | {"data": tmp_path, "embedding_requests_per_minute": 1}
    assert (await found("embedding", **settings)).level == "ok", "a folder without a database has made no calls"
    database = Database(load_settings(**settings).sql_url)
    await database.migrate()
    assert [(await found("embedding", **settings)).level for _ in range(2)] == ["ok", "note"]
    await database.close()
    assert len(vendors.servers["voyage"].requests) == 2, "the third was not made"


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
async def test_a_server_whose_chat_model_cannot_be_reached_starts_searches_answers_and_says_so(tmp_path: Path) -> None:
    unreachable = {"chat_provider": "openai", "chat_base_url": f"{NOBODY}/v1", "chat_model": "m", "answer_seconds": 2}
    async with client(tmp_path, **unreachable) as web:
        added = (await web.post("/ingest", files={"file": ("policy.txt", POLICY)})).json()
        await web.get(f"/resources/{added['id']}/events")
        assert (await web.post("/search", json={"query": "loan"})).json()["hits"]
        answer = (await web.post("/chat", json={"message": QUESTION})).json()
        assert "GHS 5,000" in answer["answer"]
        assert "m did not answer" in answer["notice"]


@pytest.mark.slow(20)
async def test_an_answer_whose_reranker_failed_says_so(vendors: Vendors, tmp_path: Path) -> None:
    settings = {**vendors.settings("rerank", "voyage"), "rerank_enabled": True}
    async with client(tmp_path, **settings) as web:
        added = (await web.post("/ingest", files={"file": ("policy.txt", POLICY)})).json()
        await web.get(f"/resources/{added['id']}/events")
        assert (await web.post("/chat", json={"message": QUESTION})).json()["notice"] is None
        vendors.servers["voyage"].trouble = Faults(*[Fault(status=500, message="down")] * 9)
        answer = (await web.post("/chat", json={"message": QUESTION})).json()
        assert "GHS 5,000" in answer["answer"]
        assert "the reranker failed" in answer["notice"]
