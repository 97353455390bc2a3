"""Endpoints that are compatible with OpenAI's, through OpenAI's own SDK: Gemini, Bedrock, and a model server of one's own."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from citewell.adapters.chat.openai import chat
from citewell.errors import (
    ProviderAuthError,
    ProviderModelGone,
    ProviderRateLimited,
    ProviderRejected,
    ProviderUnavailable,
)
from citewell.ports import ChatMessage, ToolCall
from citewell.testing.chat_model import (
    QUESTION,
    SEARCH,
    ChatModelConformance,
    Scripted,
    ScriptedAnswer,
    ScriptedCall,
    StructuredOutputConformance,
    ToolConformance,
    collect,
    said,
)
from citewell.testing.vision_model import ScriptedVision, VisionModelConformance, picture
from tests.adapters.chat.conftest import AnyChat, reply
from tests.contract_servers import bedrock, gemini, local
from tests.contract_servers.openai import OpenAIServer
from tests.contract_servers.script import Queue, Reply
from tests.contract_servers.serving import serving

pytestmark = pytest.mark.full

Opened = Callable[[AnyChat], AnyChat]
VENDORS = {
    "gemini": (gemini.GeminiServer, gemini.MODEL, gemini.KEY),
    "bedrock": (bedrock.BedrockServer, bedrock.MODEL, bedrock.KEY),
    "local": (local.LocalServer, local.MODEL, "none"),
}


class Vendor:
    """A contract server that runs, and models that talk to it."""

    def __init__(self, name: str, server: OpenAIServer, address: str, opened: Opened) -> None:
        self.server = server
        self._address = f"{address}{server.base}"
        self._opened = opened
        _, self._model, self._key = VENDORS[name]

    def chat(self, model: str | None = None, key: str | None = None, timeout: float = 120.0) -> AnyChat:
        """A model, by name and key."""
        return self._opened(chat(model or self._model, key or self._key, self._address, timeout))

    def scripted(self, *answers: ScriptedAnswer) -> AnyChat:
        """A model whose provider answers so."""
        self.server.script = Queue(*map(reply, answers))
        return self.chat()


@pytest.fixture
def vendor(request: pytest.FixtureRequest, opened: Opened) -> Iterator[Vendor]:
    """The one that the test is about."""
    server = VENDORS[request.param][0]()
    with serving(server.app) as address:
        yield Vendor(request.param, server, address, opened)


on_all = pytest.mark.parametrize("vendor", VENDORS, indirect=True)
on_gemini = pytest.mark.parametrize("vendor", ["gemini"], indirect=True)
on_bedrock = pytest.mark.parametrize("vendor", ["bedrock"], indirect=True)


@on_all
class TestCompatible(ChatModelConformance, ToolConformance, StructuredOutputConformance):
    @pytest.fixture
    def scripted(self, vendor: Vendor) -> Scripted:
        return vendor.scripted


@pytest.mark.parametrize("vendor", ["gemini", "local"], indirect=True)
class TestCompatibleVision(VisionModelConformance):
    """Bedrock's models behind this endpoint take words only."""

    @pytest.fixture
    def scripted(self, vendor: Vendor) -> ScriptedVision:
        return vendor.scripted


@on_all
async def test_an_unknown_model_is_told(vendor: Vendor) -> None:
    with pytest.raises(ProviderModelGone):
        await collect(vendor.chat("none-such"))


@pytest.mark.parametrize("vendor", ["gemini", "bedrock"], indirect=True)
async def test_a_wrong_key_is_told(vendor: Vendor) -> None:
    with pytest.raises(ProviderAuthError):
        await collect(vendor.chat(key="wrong"))


@on_all
async def test_no_answer_in_time_is_told(vendor: Vendor) -> None:
    vendor.server.script = Queue(Reply(text="Too late.", delay=30.0))
    with pytest.raises(ProviderUnavailable):
        await collect(vendor.chat(timeout=0.3))


@on_gemini
async def test_the_signature_of_a_call_comes_back_with_it(vendor: Vendor) -> None:
    calls = tuple(ScriptedCall(name="search_files", arguments={"query": word}) for word in ("fees", "loans"))
    model = vendor.scripted(ScriptedAnswer(calls=calls), ScriptedAnswer(text="312."))
    made = tuple(d.tool_call for d in await collect(model, tools=[SEARCH]) if d.tool_call is not None)
    thread = [
        *QUESTION,
        ChatMessage(role="assistant", tool_calls=made),
        *(ChatMessage(role="tool", content="Nothing.", tool_call_id=call.id) for call in made),
    ]
    assert said(await collect(model, thread, tools=[SEARCH])) == "312."
    sent = [call.get("extra_content", {}) for call in vendor.server.requests[-1]["messages"][1]["tool_calls"]]
    assert sent[0] == {"google": {"thought_signature": f"signed-{made[0].id}"}}


@on_gemini
async def test_a_call_that_the_model_has_not_made_skips_the_check(vendor: Vendor) -> None:
    thread = [
        *QUESTION,
        ChatMessage(role="assistant", tool_calls=(ToolCall("planned", "search_files", {"query": "fees"}),)),
        ChatMessage(role="tool", content="Nothing.", tool_call_id="planned"),
    ]
    assert said(await collect(vendor.scripted(ScriptedAnswer(text="312.")), thread, tools=[SEARCH])) == "312."


@on_gemini
async def test_a_busy_quota_that_names_a_wait_is_not_a_spent_one(vendor: Vendor) -> None:
    with pytest.raises(ProviderRateLimited) as raised:
        await collect(vendor.scripted(ScriptedAnswer(status=429, retry_after="17.5")))
    assert raised.value.retry_after == 17.5


@on_bedrock
async def test_a_model_for_words_refuses_a_picture(vendor: Vendor) -> None:
    with pytest.raises(ProviderRejected, match="text input"):
        await vendor.chat().describe(picture(), "What is it?")


@pytest.mark.parametrize("vendor", ["bedrock", "local"], indirect=True)
async def test_nothing_of_gemini_is_sent_to_others(vendor: Vendor) -> None:
    calls = (ScriptedCall(name="search_files", arguments={"query": "fees"}),)
    model = vendor.scripted(ScriptedAnswer(calls=calls), ScriptedAnswer(text="312."))
    made = tuple(d.tool_call for d in await collect(model, tools=[SEARCH]) if d.tool_call is not None)
    thread = [
        *QUESTION,
        ChatMessage(role="assistant", tool_calls=made),
        ChatMessage(role="tool", content="Nothing.", tool_call_id=made[0].id),
    ]
    await collect(model, thread, tools=[SEARCH])
    assert all("extra_content" not in call for call in vendor.server.requests[-1]["messages"][1]["tool_calls"])


@pytest.mark.filterwarnings("ignore:Pydantic serializer warnings")  # of the vendor's client, which goes on
@pytest.mark.parametrize("vendor", ["local"], indirect=True)
@pytest.mark.parametrize(
    "usage",
    [
        {"prompt_tokens": 12, "completion_tokens": "3"},
        {"prompt_tokens": 12, "completion_tokens": -3, "total_tokens": 9},
        {
            "prompt_tokens": 12,
            "completion_tokens": 3,
            "total_tokens": 15,
            "prompt_tokens_details": {"cached_tokens": "all"},
        },
        {"prompt_tokens": 12, "completion_tokens": 3, "total_tokens": 15, "completion_tokens_details": [1]},
        {},
        "many",
    ],
    ids=["a text", "negative", "text in details", "a list of details", "nothing", "no object"],
)
async def test_an_answer_is_an_answer_whatever_is_said_of_its_tokens(vendor: Vendor, usage: object) -> None:
    vendor.server.script = Queue(Reply(text="GHS 5,000.", usage=usage))
    assert said(await collect(vendor.chat())) == "GHS 5,000."
