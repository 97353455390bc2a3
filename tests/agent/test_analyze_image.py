"""A chat model looks at pictures while it answers: real SDKs against contract servers."""

from __future__ import annotations

import base64
import json
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pytest

from citewell.adapters.chat import anthropic as anthropic_adapter
from citewell.adapters.chat import openai as openai_adapter
from citewell.agent.graph import Assistant
from citewell.agent.interface import Done, TurnRequest
from citewell.agent.spoken import NO_ANSWER
from citewell.errors import NotFound
from citewell.ports import Capability
from citewell.ports.chat import MAX_IMAGE_BYTES
from citewell.types import (
    Category,
    ChunkType,
    Hit,
    OriginalPicture,
    ResourceInfo,
    Scope,
    SearchOptions,
    StoredChunk,
    Verdict,
)
from tests.agent.fakes import WordEmbedder, WordSearcher, hit
from tests.contract_servers import anthropic as anthropic_contract
from tests.contract_servers import openai as openai_contract
from tests.contract_servers.anthropic import AnthropicServer
from tests.contract_servers.openai import OpenAIServer
from tests.contract_servers.script import Call, Cited, Queue, Reply
from tests.contract_servers.serving import serving

QUESTION = "What does the growth chart show?"
SEEN = "The chart shows growth from 2,000 to 15,000."
PIXELS = b"\x89PNG\r\n\x1a\n, as far as this test goes"
SEARCH = Reply(calls=(Call("search_user_files", {"query": "growth chart"}),))


def picture(
    text: str, *, owner: str = "ada", resource: str = "deck", page: int = 7, blob: str | None = "i1.png"
) -> Hit:
    made = hit(text, owner=owner, resource=resource, filename="Deck.pdf", page=page, type=ChunkType.IMAGE)
    return replace(made, picture=OriginalPicture(resource, blob))


FILES = [
    picture("A growth chart of the programme."),
    hit("Growth is told in words beside the chart.", resource="deck", filename="Deck.pdf", page=7, ordinal=3),
    hit("A chart of accounts is in the annex.", resource="deck", filename="Deck.pdf", page=9, ordinal=4),
    picture("Picture photo.png: 40 × 30 pixels.", resource="photo", blob=None),
    picture("A secret growth chart.", owner="eve", resource="eve-photo", blob=None),
]


@dataclass(frozen=True)
class Stored:
    """A picture that is kept."""

    filename: str
    mime_type: str
    size: int
    read: Callable[[int, int], AsyncIterator[bytes]]


class Shelf:
    """Library, chunks and pictures of two owners."""

    def __init__(self, size: int = len(PIXELS)) -> None:
        self.size = size
        self.asked: list[tuple[str, str, str | None]] = []

    async def list_resources(self, owner_id: str, scope: Scope) -> Sequence[ResourceInfo]:
        ids = {one.chunk.resource_id for one in FILES if one.chunk.owner_id == owner_id}
        return [
            ResourceInfo(
                id=file, filename=f"{file}.file", version=1, status="indexed", category=Category.IMAGE if "photo" in file else Category.RAG
            )
            for file in sorted(ids)
            if scope.resource_ids is None or file in scope.resource_ids
        ]  # fmt: skip

    async def count_characters(self, owner_id: str, scope: Scope) -> int:
        return 100

    async def passages(
        self, owner_id: str, resource_id: str, types: Sequence[ChunkType], most: int
    ) -> Sequence[StoredChunk]:
        mine = [
            one
            for one in FILES
            if (one.chunk.owner_id, one.chunk.resource_id) == (owner_id, resource_id) and one.chunk.type in types
        ]
        return [StoredChunk(one.chunk, one.filename, one.provenance, one.picture) for one in mine[:most]]

    async def picture(self, owner_id: str, resource_id: str, chunk_id: str | None = None) -> Stored:
        self.asked.append((owner_id, resource_id, chunk_id))
        if not any((one.chunk.owner_id, one.chunk.resource_id) == (owner_id, resource_id) for one in FILES):
            raise NotFound

        async def read(_: int, __: int) -> AsyncIterator[bytes]:
            yield PIXELS

        return Stored("Deck.pdf", "image/png", self.size, read)


class Conversation:
    """An assistant whose model sees."""

    def __init__(self, vendor: str, address: str, server: OpenAIServer | AnthropicServer) -> None:
        self.vendor, self.server = vendor, server
        self.chat: Any = (
            openai_adapter.chat("gpt-test", openai_contract.KEY, f"{address}/v1")
            if vendor == "openai"
            else anthropic_adapter.chat("claude-test", anthropic_contract.KEY, address)
        )
        self.shelf = Shelf()

    async def ask(self, *script: Reply, scope: Scope = Scope()) -> Done:
        self.server.script = Queue(*script)
        shelf: Any = self.shelf
        assistant = Assistant(
            WordSearcher(FILES), WordEmbedder(), library=shelf, files=shelf, pictures=shelf, chat_model=self.chat
        )
        return await assistant.answer(
            TurnRequest(owner_id="ada", message=QUESTION, scope=scope, options=SearchOptions(debug=True))
        )

    def cites(self, text: str, n: int = 1) -> Reply:
        if self.vendor == "openai":
            return Reply(text=f"{text} [{n}]")
        return Reply(cited=(Cited(text, (n - 1,)),))

    def sent(self, request: int) -> str:
        return json.dumps(self.server.requests[request]["messages"], ensure_ascii=False)

    def pictures(self, request: int) -> int:
        """How often the picture itself was sent."""
        return self.sent(request).count(base64.b64encode(PIXELS).decode())

    def tools(self, request: int) -> set[str]:
        offered = self.server.requests[request].get("tools", [])
        return {tool["function"]["name"] if self.vendor == "openai" else tool["name"] for tool in offered}


@pytest.fixture(params=["openai", "anthropic"])
async def conversation(request: pytest.FixtureRequest) -> AsyncIterator[Conversation]:
    server = OpenAIServer() if request.param == "openai" else AnthropicServer()
    with serving(server.app) as address:
        made = Conversation(request.param, address, server)
        yield made
        await made.chat.close()


def look(wanted: str) -> Reply:
    return Reply(calls=(Call("analyze_image", {"resource_id": wanted}),))


async def test_the_picture_of_a_passage_is_shown_and_cited(conversation: Conversation) -> None:
    done = await conversation.ask(SEARCH, look("[1]"), conversation.cites(SEEN))
    assert [conversation.pictures(request) for request in range(3)] == [0, 0, 1]
    assert conversation.shelf.asked == [("ada", "deck", FILES[0].chunk.id)]
    (citation,) = done.answer.citations
    assert (citation.chunk_id, citation.label) == (FILES[0].chunk.id, "Deck.pdf (p. 7)")
    assert citation.picture == OriginalPicture("deck", "i1.png")


async def test_what_only_the_picture_can_show_is_weak(conversation: Conversation) -> None:
    done = await conversation.ask(SEARCH, look("1"), conversation.cites(SEEN))
    assert done.answer.citations[0].verdict is Verdict.WEAK
    reasons: Any = done.answer.trace["citation_reasons"]
    assert any("shown the picture" in reason for reason in reasons["1"])
    assert done.answer.confidence == 0.0


async def test_what_its_words_say_is_supported_as_ever(conversation: Conversation) -> None:
    said = "A growth chart of the programme."
    done = await conversation.ask(SEARCH, look("1"), conversation.cites(said))
    assert done.answer.citations[0].verdict is Verdict.SUPPORTED


async def test_without_a_look_nothing_supports_it_and_it_is_not_given(conversation: Conversation) -> None:
    done = await conversation.ask(SEARCH, conversation.cites(SEEN))
    assert SEEN not in done.answer.text
    assert done.notice is not None


async def test_a_passage_stands_for_the_picture_on_its_page(conversation: Conversation) -> None:
    beside = Reply(calls=(Call("search_user_files", {"query": "told in words beside"}),))
    await conversation.ask(beside, look("[1]"), Reply(text=NO_ANSWER))
    assert conversation.shelf.asked == [("ada", "deck", FILES[0].chunk.id)]


async def test_an_image_file_is_shown_by_its_id_without_a_search(conversation: Conversation) -> None:
    done = await conversation.ask(look("photo"), conversation.cites("A harbour at night."))
    assert conversation.shelf.asked == [("ada", "photo", None)]
    assert done.answer.citations[0].resource_id == "photo"
    assert done.answer.trace["first_search"] == "model"


@pytest.mark.full
@pytest.mark.parametrize(
    ("wanted", "told"),
    [
        ("eve-photo", "No such file is in the scope"),
        ("resources/eve-photo/chunks/x", "No such file is in the scope"),
        ("[7]", "No passage [ 7 ] was found in this turn"),
        ("deck", "is not a picture"),
        ("resources/deck/chunks/none", "No picture is kept of this place"),
    ],
)
async def test_what_is_no_picture_of_the_owners_is_told_and_not_shown(
    conversation: Conversation, wanted: str, told: str
) -> None:
    await conversation.ask(look(wanted), Reply(text=NO_ANSWER))
    assert told in conversation.sent(1)
    assert conversation.shelf.asked == []


async def test_a_file_outside_the_scope_of_the_question_is_not_shown(conversation: Conversation) -> None:
    await conversation.ask(look("photo"), Reply(text=NO_ANSWER), scope=Scope(resource_ids=("deck",)))
    assert "No such file is in the scope" in conversation.sent(1)
    assert conversation.shelf.asked == []


async def test_a_picture_that_is_too_large_is_not_read(conversation: Conversation) -> None:
    conversation.shelf = Shelf(MAX_IMAGE_BYTES + 1)
    await conversation.ask(look("photo"), Reply(text=NO_ANSWER))
    assert "cannot be shown: only JPEG, PNG, GIF and WebP up to 3,750,000 bytes" in conversation.sent(1)
    assert conversation.pictures(1) == 0


async def test_four_pictures_are_shown_at_most(conversation: Conversation) -> None:
    calls = tuple(Call("analyze_image", {"resource_id": "photo"}) for _ in range(2))
    first = Reply(calls=(*calls, Call("analyze_image", {"resource_id": "1"})))
    more = Reply(calls=(*calls, Call("analyze_image", {"resource_id": "[1]"})))
    await conversation.ask(SEARCH, first, more, Reply(text=NO_ANSWER))
    assert conversation.pictures(len(conversation.server.requests) - 1) == 4


async def test_a_model_that_refuses_pictures_answers_from_the_passages(conversation: Conversation) -> None:
    refused = Reply(status=400, message="This model does not support images.")
    done = await conversation.ask(SEARCH, look("1"), refused, conversation.cites("A growth chart of the programme."))
    assert conversation.pictures(2) == 1
    assert conversation.pictures(3) == 0
    assert "cannot be shown to you" in conversation.sent(3)
    assert "analyze_image" not in conversation.tools(3)
    assert "does not support images" in str(done.answer.trace["picture_refused"])
    assert done.answer.citations[0].verdict is Verdict.SUPPORTED


async def test_a_model_without_eyes_is_not_offered_the_tool(conversation: Conversation) -> None:
    await conversation.ask(SEARCH, conversation.cites(SEEN))
    assert "analyze_image" in conversation.tools(0)
    conversation.chat._capabilities = conversation.chat.capabilities - {Capability.MULTIMODAL}
    before = len(conversation.server.requests)
    await conversation.ask(SEARCH, conversation.cites(SEEN))
    assert "analyze_image" not in conversation.tools(before)
