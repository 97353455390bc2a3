"""OpenAI's file search with OpenAI's own client: files, vector stores, and responses whose citations point at the quoted place."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import openai
import pytest
from openai.types.responses import Response, ResponseFileSearchToolCall, ResponseOutputMessage, ResponseOutputText
from openai.types.responses.response_create_params import ResponseCreateParamsBase
from openai.types.responses.response_output_text import AnnotationFileCitation
from openai.types.vector_store_create_params import VectorStoreCreateParams
from openai.types.vector_store_search_params import VectorStoreSearchParams
from openai.types.vector_stores.file_batch_create_params import FileBatchCreateParams

from citewell.features.openai_files.schemas import StoreBatchIn, StoreIn, StoreSearchIn
from citewell.features.openai_responses.schemas import ResponseIn
from tests.server.running import Server

GATE = b"# Harbour rules\n\nThe harbour gate closes at half past nine in the evening. Dogs must be kept on a lead near the cranes.\n"
LADDERS = b"# Orchard rules\n\nApples may be picked from the first of September. Ladders are locked away at dusk.\n"
QUESTION = "When does the harbour gate close?"
MODEL = "gpt-4o"


@pytest.fixture(scope="module")
def client(server: Server) -> Iterator[openai.OpenAI]:
    token = server.client.headers["Authorization"].removeprefix("Bearer ")
    with openai.OpenAI(base_url=f"{server.url}/v1", api_key=token, max_retries=0) as client:
        yield client


@pytest.fixture(scope="module")
def gate(client: openai.OpenAI) -> str:
    return client.files.create(file=("Harbour.md", GATE), purpose="assistants").id


@pytest.fixture(scope="module")
def store(client: openai.OpenAI, gate: str) -> str:
    made = client.vector_stores.create(name="Harbour", metadata={"team": "port"})
    done = client.vector_stores.files.create_and_poll(
        gate, vector_store_id=made.id, attributes={"year": 2024, "kind": "rules"}, poll_interval_ms=200
    )
    assert (done.status, done.attributes) == ("completed", {"year": 2024, "kind": "rules"})
    return made.id


def search(*stores: str, **more: Any) -> list[Any]:
    return [{"type": "file_search", "vector_store_ids": list(stores), **more}]


def text_of(answer: Response) -> ResponseOutputText:
    message = answer.output[-1]
    assert isinstance(message, ResponseOutputMessage)
    (part,) = message.content
    assert isinstance(part, ResponseOutputText)
    return part


def test_an_answer_cites_the_file_and_points_at_the_quoted_place(
    server: Server, client: openai.OpenAI, store: str, gate: str
) -> None:
    answer = client.responses.create(
        model=MODEL, input=QUESTION, tools=search(store), include=["file_search_call.results"]
    )
    assert (answer.status, answer.model) == ("completed", MODEL)
    assert "half past nine" in answer.output_text
    call = answer.output[0]
    assert isinstance(call, ResponseFileSearchToolCall)
    assert (call.status, call.queries) == ("completed", [QUESTION])
    assert call.results is not None
    assert {one.file_id for one in call.results} == {gate}
    note: Any = text_of(answer).annotations[0]
    assert isinstance(note, AnnotationFileCitation)
    assert (note.file_id, note.filename) == (gate, "Harbour.md")
    assert answer.output_text[: note.index].endswith("[1]")
    extra: Any = note.model_extra
    assert "half past nine" in extra["quote"]
    address = extra["url"].replace("/library/", "/resources/").replace("?passage=", "/chunks/")
    assert extra["quote"].split("\n")[0] in server.client.get(address).json()["text"]


def test_a_streamed_response_adds_up_to_the_whole_one(client: openai.OpenAI, store: str) -> None:
    with client.responses.stream(model=MODEL, input=QUESTION, tools=search(store)) as stream:
        events = list(stream)
        final = stream.get_final_response()
    assert [event.sequence_number for event in events] == list(range(len(events)))
    kinds = [event.type for event in events]
    assert kinds[:2] == ["response.created", "response.in_progress"]
    assert kinds[-1] == "response.completed"
    assert kinds.index("response.file_search_call.completed") < kinds.index("response.output_text.delta")
    written = "".join(event.delta for event in events if event.type == "response.output_text.delta")
    assert written == final.output_text
    noted = [event.annotation for event in events if event.type == "response.output_text.annotation.added"]
    assert len(noted) == len(text_of(final).annotations) >= 1


def test_only_the_named_vector_stores_are_searched(client: openai.OpenAI, store: str) -> None:
    ladders = client.files.create(file=("Orchard.md", LADDERS), purpose="user_data").id
    made = client.vector_stores.create(name="Harbour", file_ids=[ladders])
    assert made.id != store
    batch = client.vector_stores.file_batches.create_and_poll(made.id, file_ids=[ladders], poll_interval_ms=200)
    assert (batch.status, batch.file_counts.completed) == ("completed", 1)
    asked = client.responses.create(model=MODEL, input=QUESTION, tools=search(made.id))
    assert "half past nine" not in asked.output_text
    assert text_of(asked).annotations == []
    both = client.responses.create(model=MODEL, input=QUESTION, tools=search(made.id, store))
    assert "half past nine" in both.output_text
    found = client.vector_stores.search(made.id, query=QUESTION).data
    assert {one.filename for one in found} <= {"Orchard.md"}
    client.vector_stores.files.delete(ladders, vector_store_id=made.id)
    assert client.vector_stores.files.list(made.id).data == []
    assert client.vector_stores.search(made.id, query="ladders").data == []
    assert client.vector_stores.delete(made.id).deleted
    with pytest.raises(openai.NotFoundError):
        client.vector_stores.retrieve(made.id)
    assert client.files.retrieve(ladders).status == "processed"


def test_attributes_narrow_a_search(client: openai.OpenAI, store: str) -> None:
    def passages(filters: Any) -> int:
        return len(client.vector_stores.search(store, query="gate", filters=filters).data)

    recent = {"type": "gte", "key": "year", "value": 2024}
    assert passages(recent) >= 1
    assert passages({"type": "and", "filters": [recent, {"type": "eq", "key": "kind", "value": "letter"}]}) == 0
    assert passages({"type": "or", "filters": [recent, {"type": "eq", "key": "kind", "value": "letter"}]}) >= 1
    assert passages({"type": "nin", "key": "kind", "value": ["rules"]}) == 0
    late = {"type": "gt", "key": "year", "value": 2024}
    narrowed = client.responses.create(model=MODEL, input=QUESTION, tools=search(store, filters=late))
    assert "half past nine" not in narrowed.output_text
    with pytest.raises(openai.BadRequestError):
        passages({"type": "like", "key": "kind", "value": "r"})


def test_a_conversation_goes_on_from_a_stored_response(client: openai.OpenAI, store: str) -> None:
    first = client.responses.create(model=MODEL, input=QUESTION, tools=search(store), metadata={"run": "7"})
    second = client.responses.create(
        model=MODEL, input="And what about dogs there?", tools=search(store), previous_response_id=first.id
    )
    assert "lead" in second.output_text
    assert second.previous_response_id == first.id
    again = client.responses.retrieve(first.id)
    assert again.output_text == first.output_text
    assert text_of(again).annotations == text_of(first).annotations
    assert again.metadata == {"run": "7"}
    (asked,) = client.responses.input_items.list(first.id).data
    assert QUESTION in asked.to_json()
    client.responses.delete(second.id)
    with pytest.raises(openai.NotFoundError):
        client.responses.retrieve(second.id)
    assert client.responses.retrieve(first.id).id == first.id
    unstored = client.responses.create(model=MODEL, input=QUESTION, tools=search(store), store=False)
    with pytest.raises(openai.NotFoundError):
        client.responses.retrieve(unstored.id)


def test_messages_may_name_a_file_and_carry_the_conversation(client: openai.OpenAI, gate: str, store: str) -> None:
    messages: list[Any] = [
        {"role": "developer", "content": "Be brief."},
        {"role": "user", "content": QUESTION},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "At half past nine."}]},
        {
            "role": "user",
            "content": [
                {"type": "input_text", "text": "What must be kept on a lead?"},
                {"type": "input_file", "file_id": gate},
            ],
        },
    ]
    answer = client.responses.create(model="citewell", input=messages)
    assert "Dogs" in answer.output_text
    assert {note.file_id for note in text_of(answer).annotations if note.type == "file_citation"} == {gate}


def test_every_field_of_the_clients_requests_is_known() -> None:
    """A field that this version of the client sends is used, refused with a reason, or accepted without effect."""
    sent = {*ResponseCreateParamsBase.__annotations__, "stream"}
    assert sent == set(ResponseIn.model_fields)
    assert set(VectorStoreCreateParams.__annotations__) == set(StoreIn.model_fields)
    assert set(VectorStoreSearchParams.__annotations__) == set(StoreSearchIn.model_fields)
    assert set(FileBatchCreateParams.__annotations__) == set(StoreBatchIn.model_fields)


def test_files_and_stores_are_listed_read_and_deleted(client: openai.OpenAI, store: str, gate: str) -> None:
    content = b"# Tide table\n\nHigh water is at six.\n"
    made = client.files.create(file=("Tides.md", content), purpose="user_data")
    assert (made.bytes, made.filename, made.purpose) == (len(content), "Tides.md", "user_data")
    assert client.files.content(made.id).read() == content
    ids = [one.id for one in client.files.list(limit=1)]  # page by page
    assert {made.id, gate} <= set(ids)
    assert len(ids) == len(set(ids))
    assert client.files.delete(made.id).deleted
    with pytest.raises(openai.NotFoundError):
        client.files.retrieve(made.id)
    known = client.vector_stores.retrieve(store)
    assert (known.name, known.metadata, known.status) == ("Harbour", {"team": "port"}, "completed")
    assert (known.file_counts.completed, known.file_counts.total) == (1, 1)
    renamed = client.vector_stores.update(store, name="The port")
    assert (renamed.name, renamed.metadata) == ("The port", {"team": "port"})
    assert store in [one.id for one in client.vector_stores.list(limit=1)]
    assert client.vector_stores.files.retrieve(gate, vector_store_id=store).vector_store_id == store
    changed = client.vector_stores.files.update(gate, vector_store_id=store, attributes={"year": 2025})
    assert changed.attributes is not None
    assert changed.attributes["year"] == 2025


def test_what_is_not_supported_is_refused_in_openais_shape(client: openai.OpenAI, store: str) -> None:
    refused: list[dict[str, Any]] = [
        {"input": QUESTION, "tools": [{"type": "web_search"}]},
        {"input": QUESTION, "tools": [{"type": "file_search", "vector_store_ids": []}]},
        {"input": QUESTION, "tools": search(store, max_num_results=0)},
        {"input": QUESTION, "background": True},
        {"input": [{"role": "user", "content": [{"type": "input_image", "image_url": "data:,"}]}]},
        {"input": []},
        {"input": ""},
        {"input": QUESTION, "extra_body": {"temprature": 1}},
    ]
    for request in refused:
        with pytest.raises(openai.BadRequestError) as raised:
            client.responses.create(model=MODEL, **request)
        assert raised.value.type == "invalid_request_error"
    with pytest.raises(openai.NotFoundError):
        client.responses.create(model=MODEL, input=QUESTION, tools=search("vs_none"))
    with pytest.raises(openai.NotFoundError):
        client.responses.create(model=MODEL, input=QUESTION, previous_response_id="resp_none")
    with pytest.raises(openai.NotFoundError):
        client.responses.create(model="citewell/no such project", input=QUESTION)
    with pytest.raises(openai.BadRequestError, match="expire"):
        client.vector_stores.create(name="Brief", expires_after={"anchor": "last_active_at", "days": 1})
    with pytest.raises(openai.NotFoundError):
        client.vector_stores.create(name="Wrong", file_ids=["file-none"])
