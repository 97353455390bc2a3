"""How much of an answer is read, whatever a chat model sends."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable

import httpx2
import pytest

from citewell.adapters.bounded import BoundedStream
from citewell.errors import ProviderUnavailable
from citewell.testing.chat_model import collect, said
from tests.adapters.chat.conftest import AnyChat


@pytest.fixture(params=["openai_chat", "anthropic_chat"])
def made(request: pytest.FixtureRequest) -> Callable[..., AnyChat]:
    """Models of each."""
    return request.getfixturevalue(request.param)


async def test_an_answer_that_does_not_end_is_given_up(
    made: Callable[..., AnyChat], monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("citewell.adapters.bounded.MAX_ANSWER_BYTES", 300)
        with pytest.raises(ProviderUnavailable):
            await collect(made())
    assert said(await collect(made())) == "All right."


async def test_an_answer_left_unread_is_closed_to_its_last_generator() -> None:
    ended: list[str] = []

    class Parts(httpx2.AsyncByteStream):
        async def __aiter__(self) -> AsyncIterator[bytes]:
            try:
                yield b"All "
                yield b"right."
            finally:
                ended.append("parts")

        async def aclose(self) -> None:
            ended.append("connection")

    stream = BoundedStream(Parts())
    assert await anext(stream) == b"All "
    await stream.aclose()
    assert ended == ["parts", "connection"]
    await stream.aclose()
    assert ended == ["parts", "connection", "connection"]
