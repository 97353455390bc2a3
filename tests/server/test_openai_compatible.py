"""`/v1` with OpenAI's own client: answers whole and streamed, citations as annotations, scopes as models, errors as it expects them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import openai
import pytest
from openai.types.chat import ChatCompletion

from tests.server.running import Server

NOTE = b"# Harbour rules\n\nThe harbour gate closes at half past nine in the evening. Dogs must be kept on a lead near the cranes.\n"
OTHER = b"# Orchard rules\n\nApples may be picked from the first of September. Ladders are locked away at dusk.\n"
QUESTION = "When does the harbour gate close?"


@pytest.fixture(scope="module")
def client(server: Server) -> Iterator[openai.OpenAI]:
    server.add("Harbour.md", NOTE, project="Harbour & port")
    server.add("Orchard.md", OTHER, project="Orchard")
    token = server.client.headers["Authorization"].removeprefix("Bearer ")
    with openai.OpenAI(base_url=f"{server.url}/v1", api_key=token, max_retries=0) as client:
        yield client


def ask(client: openai.OpenAI, *messages: tuple[str, str], model: str = "citewell", **extra: object) -> ChatCompletion:
    return client.chat.completions.create(
        model=model,
        messages=[{"role": role, "content": text} for role, text in messages],  # pyright: ignore[reportArgumentType]
        extra_body=extra,
    )


def text_of(answer: ChatCompletion) -> str:
    return answer.choices[0].message.content or ""


def test_an_answer_with_its_citation_as_annotation(client: openai.OpenAI) -> None:
    answer = ask(client, ("system", "Be brief."), ("user", QUESTION), model="citewell/Harbour & port")
    message: Any = answer.choices[0].message
    assert "half past nine" in message.content
    assert answer.choices[0].finish_reason == "stop"
    note = message.annotations[0].url_citation
    assert message.content[note.start_index : note.end_index] == "[1]"
    assert note.title.startswith("Harbour.md")
    assert "/resources/" in note.url
    assert message.annotations[0].citation["verdict"] == "supported"


def test_a_stream_adds_up_and_ends_with_annotations_and_usage(client: openai.OpenAI) -> None:
    stream = client.chat.completions.create(
        model="citewell",
        messages=[{"role": "user", "content": QUESTION}],
        stream=True,
        stream_options={"include_usage": True},
    )
    chunks = list(stream)
    text = "".join(c.choices[0].delta.content or "" for c in chunks if c.choices)
    assert "half past nine" in text
    last: Any = [c for c in chunks if c.choices][-1]
    assert last.choices[0].finish_reason == "stop"
    note = last.choices[0].delta.annotations[0]["url_citation"]
    assert text[note["start_index"] : note["end_index"]] == "[1]"
    usage = chunks[-1].usage
    assert usage is not None
    assert usage.total_tokens == 0


def test_where_there_is_no_answer_the_text_says_what_would_help(client: openai.OpenAI) -> None:
    question = "How heavy is the largest walrus?"
    said = text_of(ask(client, ("user", question)))
    assert "walrus" in said
    assert said.endswith("Upload a file that does, or use the words of your files.")
    stream = client.chat.completions.create(
        model="citewell", messages=[{"role": "user", "content": question}], stream=True
    )
    assert "".join(c.choices[0].delta.content or "" for c in stream if c.choices) == said


def test_the_conversation_is_in_the_request(client: openai.OpenAI) -> None:
    answer = ask(
        client,
        ("user", QUESTION),
        ("assistant", "The harbour gate closes at half past nine in the evening. [1]"),
        ("user", "And what about dogs there?"),
    )
    assert "lead" in text_of(answer)


def test_small_talk_has_no_annotations(client: openai.OpenAI) -> None:
    assert ask(client, ("user", "Hello there!")).choices[0].message.annotations == []


def test_projects_are_models_and_narrow_what_is_drawn_on(client: openai.OpenAI) -> None:
    names = [model.id for model in client.models.list()]
    assert {"citewell", "citewell/Orchard", "citewell/Harbour & port"} <= set(names)
    assert client.models.retrieve("citewell/Orchard").id == "citewell/Orchard"
    answer = ask(client, ("user", QUESTION), model="citewell/Orchard")
    assert "half past nine" not in text_of(answer)


def test_files_can_be_named(client: openai.OpenAI, server: Server) -> None:
    orchard = next(r["id"] for r in server.resources() if r["filename"] == "Orchard.md")
    answer = ask(client, ("user", "When may apples be picked?"), resource_ids=[orchard])
    assert "September" in text_of(answer)
    with pytest.raises(openai.NotFoundError):
        ask(client, ("user", "When may apples be picked?"), resource_ids=["no-such-file"])


def test_errors_are_those_the_client_knows(client: openai.OpenAI, server: Server) -> None:
    with pytest.raises(openai.NotFoundError) as raised:
        ask(client, ("user", QUESTION), model="gpt-4o")
    assert raised.value.code == "model_not_found"
    assert raised.value.type == "invalid_request_error"
    with pytest.raises(openai.BadRequestError) as raised:
        ask(client, ("user", QUESTION), ("assistant", "Well?"))
    assert "last message" in raised.value.message
    with pytest.raises(openai.BadRequestError) as raised:
        client.chat.completions.create(model="citewell", messages=[])
    assert raised.value.param == "messages"
    with pytest.raises(openai.BadRequestError):
        ask(client, ("user", "   "))
    with openai.OpenAI(base_url=f"{server.url}/v1", api_key="wrong", max_retries=0) as stranger:
        with pytest.raises(openai.AuthenticationError) as raised:
            stranger.models.list()
        assert raised.value.code == "unauthorized"


def test_images_are_refused_in_words(client: openai.OpenAI) -> None:
    parts = [
        {"type": "text", "text": "What is this?"},
        {"type": "image_url", "image_url": {"url": "https://example.org/x.png"}},
    ]
    with pytest.raises(openai.BadRequestError, match="Only text"):
        client.chat.completions.create(model="citewell", messages=[{"role": "user", "content": parts}])  # pyright: ignore[reportArgumentType]


def test_errors_are_described_as_they_are(server: Server) -> None:
    described = server.client.get("/openapi.json").json()
    refused = server.client.get("/v1/models/none")
    schema = described["components"]["schemas"]["OpenAIErrorBody"]
    assert refused.json()["error"].keys() == set(schema["required"])
    for path in ("/v1/models", "/v1/chat/completions"):
        (operation,) = described["paths"][path].values()
        for status in ("400", "401", "404", "429"):
            assert operation["responses"][status]["content"]["application/json"]["schema"] == {
                "$ref": "#/components/schemas/OpenAIErrorResponse"
            }
