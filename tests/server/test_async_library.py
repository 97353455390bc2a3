"""The Python facade for programs that have an event loop of their own."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from citewell import AnswerStream, AsyncAnswerStream, AsyncCitewell, Citewell
from citewell.errors import (
    DataFolderBusy,
    InvalidInput,
    NotFound,
    ProviderAuthError,
    ProviderError,
    ProviderRateLimited,
    ProviderRejected,
    ProviderUnavailable,
)
from citewell.types import Status
from tests.contract_servers.openai import KEY, OpenAIServer
from tests.contract_servers.script import Queue, Reply
from tests.contract_servers.serving import serving

pytestmark = pytest.mark.full

_KEY_TEXT = {"id": "a", "text": "The spare key hangs behind the blue door."}
_SLOW = Reply(text="It hangs behind the blue door. " * 40, pieces=200, delay=0.05)


@pytest.fixture
def model() -> Iterator[tuple[OpenAIServer, dict[str, str]]]:
    """A chat model, and the settings to use it."""
    server = OpenAIServer()
    with serving(server.app) as address:
        settings = {
            "chat_provider": "openai",
            "chat_model": "gpt-test",
            "chat_base_url": f"{address}/v1",
            "chat_profile": "full",
        }
        yield server, settings | {"openai_api_key": KEY}


async def test_add_search_ask_delete(tmp_path: Path) -> None:
    note = tmp_path / "note.md"
    note.write_text("# Keys\n\nThe spare key hangs behind the blue door.\n")
    async with AsyncCitewell(tmp_path / "data") as cw:
        resource = await cw.add(note, project="Household")
        assert resource.status is Status.INDEXED
        assert (await cw.search("spare key", project="Household"))[0].chunk.resource_id == resource.id
        answer = await cw.ask("Where does the spare key hang?")
        assert "blue door" in answer.text
        assert answer.citations[0].label.startswith("note.md")
        assert [found.id async for found in cw.resources()] == [resource.id]
        with pytest.raises(DataFolderBusy):
            await AsyncCitewell(tmp_path / "data").__aenter__()
        await cw.delete(resource.id)
        assert await cw.search("spare key") == []
        assert [found async for found in cw.resources()] == []
    with pytest.raises(InvalidInput, match="data folder is not open"):
        await cw.search("spare key")
    with Citewell(tmp_path / "data") as again:
        assert again.add_texts([_KEY_TEXT]).added == 1


async def test_more_texts_than_a_page_are_all_listed(tmp_path: Path) -> None:
    async with AsyncCitewell(tmp_path / "data") as cw:
        added = await cw.add_texts({"id": str(n), "text": f"Heron {n} wades in the shallows."} for n in range(230))
        assert {found.id async for found in cw.resources()} == set(added.resource_ids)
        assert len(set(added.resource_ids)) == 230


async def test_texts_of_one_id_that_come_at_once_are_written_one_after_the_other(tmp_path: Path) -> None:
    async with AsyncCitewell(tmp_path / "data") as cw:
        texts = [{"id": "hours", "text": f"The harbour office closes at {hour}."} for hour in range(1, 9)]
        done = await asyncio.gather(*(cw.add_texts([text, _KEY_TEXT]) for text in texts))
        assert len({one.resource_ids for one in done}) == 1
        assert (sum(one.added for one in done), sum(one.replaced for one in done)) == (2, 7)
        (found,) = [hit.chunk for hit in await cw.search("harbour office closes") if "harbour" in hit.chunk.text]
        assert (found.version, found.text) in [(8, text["text"]) for text in texts]


async def test_an_answer_can_be_read_as_it_comes(tmp_path: Path, model: tuple[OpenAIServer, dict[str, str]]) -> None:
    provider, settings = model
    provider.script = Queue(Reply(text="It hangs behind the blue door [1].", pieces=12))
    async with AsyncCitewell(tmp_path / "data", **settings) as cw:
        await cw.add_texts([_KEY_TEXT])
        stream = cw.stream("Where does the spare key hang?")
        with pytest.raises(InvalidInput, match="not been asked"):
            _ = stream.thread_id
        async with stream as answer:
            pieces = [piece async for piece in answer]
            assert len(pieces) > 3
            assert "".join(pieces) == answer.answer.text == "It hangs behind the blue door [1]."
        assert answer.answer.thread_id == answer.thread_id
        assert [piece async for piece in answer] == []
        provider.script = Queue(Reply(text="Still there [1]."))
        follow_up = cw.stream("And now?", thread_id=answer.thread_id)
        assert "".join([piece async for piece in follow_up]) == "Still there [1]."
        with pytest.raises(NotFound):
            await cw.ask("And then?", thread_id="nowhere")


async def test_a_stream_that_is_left_stops_the_model(
    tmp_path: Path, model: tuple[OpenAIServer, dict[str, str]]
) -> None:
    provider, settings = model
    provider.script = Queue(_SLOW)
    async with AsyncCitewell(tmp_path / "data", **settings) as cw:
        await cw.add_texts([_KEY_TEXT])
        async with cw.stream("Where does the spare key hang?") as answer:
            assert await anext(answer)
        assert await asyncio.to_thread(provider.client_left.wait, 30)
        assert [piece async for piece in answer] == []
        with pytest.raises(InvalidInput, match="end"):
            _ = answer.answer


async def test_a_task_that_is_cancelled_stops_the_model_and_the_folder_stays_open(
    tmp_path: Path, model: tuple[OpenAIServer, dict[str, str]]
) -> None:
    provider, settings = model
    provider.script = Queue(_SLOW)
    async with AsyncCitewell(tmp_path / "data", **settings) as cw:
        await cw.add_texts([_KEY_TEXT])
        began = asyncio.Event()

        async def read() -> None:
            async with cw.stream("Where does the spare key hang?") as answer:
                async for _ in answer:
                    began.set()

        reader = asyncio.create_task(read())
        await began.wait()
        reader.cancel()
        with pytest.raises(asyncio.CancelledError):
            await reader
        assert await asyncio.to_thread(provider.client_left.wait, 30)
        provider.script = Queue(Reply(text="Behind the blue door [1]."))
        assert "blue door" in (await cw.ask("Where does the spare key hang?")).text


async def test_closing_the_folder_ends_streams_that_other_tasks_read(
    tmp_path: Path, model: tuple[OpenAIServer, dict[str, str]]
) -> None:
    provider, settings = model
    provider.script = Queue(_SLOW)
    cw = await AsyncCitewell(tmp_path / "data", **settings).__aenter__()
    await cw.add_texts([_KEY_TEXT])
    began, pieces = asyncio.Event(), list[str]()

    async def read() -> str:
        async for piece in cw.stream("Where does the spare key hang?"):
            pieces.append(piece)
            began.set()
        return "ended"

    reader = asyncio.create_task(read())
    await began.wait()
    await cw.close()
    assert await reader == "ended"
    assert len("".join(pieces)) < len(_SLOW.text)
    await cw.close()


async def test_questions_are_answered_side_by_side(tmp_path: Path, model: tuple[OpenAIServer, dict[str, str]]) -> None:
    provider, settings = model

    def told(request: dict[str, Any]) -> Reply:
        asked = str(request["messages"][-1])
        return Reply(
            text="In the shallows [1]." if "do herons wade" in asked else "Behind the blue door [1].", pieces=6
        )

    provider.script = told
    async with AsyncCitewell(tmp_path / "data", **settings) as cw:
        await cw.add_texts([_KEY_TEXT, {"id": "b", "text": "Herons wade in the shallows."}])
        async with cw.stream("Where does the spare key hang?") as key, cw.stream("Where do herons wade?") as heron:
            begun = await anext(key), await anext(heron)  # both have begun before either has ended
            rest = await asyncio.gather(*(asyncio.create_task(_rest(stream)) for stream in (key, heron)))
        assert [first + last for first, last in zip(begun, rest, strict=True)] == [
            "Behind the blue door [1].",
            "In the shallows [1].",
        ]
        answers = await asyncio.gather(cw.ask("Where does the spare key hang?"), cw.ask("Where do herons wade?"))
        assert [answer.text for answer in answers] == [key.answer.text, heron.answer.text]
        assert len({answers[0].thread_id, answers[1].thread_id, key.thread_id, heron.thread_id}) == 4


async def _rest(stream: AsyncAnswerStream) -> str:
    return "".join([piece async for piece in stream])


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (Reply(status=401, message="bad key"), ProviderAuthError),
        (Reply(status=429, retry_after="3600"), ProviderRateLimited),
        (Reply(text="It is", refuse=True), ProviderRejected),
        (Reply(text="It hangs", drop_after=2), ProviderUnavailable),
    ],
)
async def test_errors_can_be_caught_by_their_class(
    tmp_path: Path, model: tuple[OpenAIServer, dict[str, str]], reply: Reply, kind: type[ProviderError]
) -> None:
    provider, settings = model
    provider.script = Queue(reply)
    async with AsyncCitewell(tmp_path / "data", **settings) as cw:
        await cw.add_texts([_KEY_TEXT])
        with pytest.raises(kind) as caught:
            await cw.ask("Where does the spare key hang?")
        assert caught.value.code == kind.code
        if isinstance(caught.value, ProviderRateLimited):
            assert caught.value.retry_after == 3600
        with pytest.raises(kind):
            _ = [piece async for piece in cw.stream("Where does the spare key hang?")]


@pytest.mark.parametrize(("plain", "other"), [(Citewell, AsyncCitewell), (AnswerStream, AsyncAnswerStream)])
def test_the_two_faces_have_the_same_methods_with_the_same_parameters(plain: type, other: type) -> None:
    methods = {name for name in vars(plain) if not name.startswith("_") and callable(getattr(plain, name))}
    methods -= {"run"}  # what is awaited in the other needs nothing that runs it
    assert methods == {name for name in vars(other) if not name.startswith("_") and callable(getattr(other, name))}
    for name in methods:
        ours, theirs = inspect.signature(getattr(plain, name)), inspect.signature(getattr(other, name))
        assert ours.parameters == theirs.parameters, name


async def test_a_name_that_a_search_or_a_question_does_not_have_is_refused(tmp_path: Path) -> None:
    """Misspelt it would have no effect: `thread` would begin a new conversation each time."""
    async with AsyncCitewell(tmp_path / "data") as cw:
        misspelt: dict[str, Any] = {"thread": "t"}
        with pytest.raises(
            TypeError, match=r"ask\(\) got an unexpected keyword argument 'thread'\. Did you mean 'thread_id'\?"
        ):
            await cw.ask("What?", **misspelt)
        of_questions: dict[str, Any] = {"thread_id": "t"}
        with pytest.raises(TypeError, match=r"search\(\) got an unexpected keyword argument 'thread_id'\.$"):
            await cw.search("What?", **of_questions)
