"""How much of an answer is read, whatever a chat model sends."""

from __future__ import annotations

from collections.abc import Callable

import pytest

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
