"""The Telegram bot, from linking to cited answers, through aiogram and against the Bot API's contract."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.channels.telegram_world import World, world
from tests.contract_servers.telegram import Person

QUESTION = "What is the maximum loan size for first-time borrowers?"


@pytest.fixture
async def open_world(tmp_path: Path) -> AsyncIterator[World]:
    async with world(tmp_path / "data") as opened:
        yield opened


async def test_from_a_code_to_a_cited_answer_with_its_page(open_world: World, samples: Path) -> None:
    async with open_world.bot():
        ann = await open_world.linked(Person(server=open_world.server, id=42))
        ann.send("Loan Policy.pdf", (samples / "Loan Policy.pdf").read_bytes())
        status = await open_world.said(42, "ready")
        assert status.history[0] == "Loan Policy.pdf: receiving …"
        assert "Loan Policy.pdf" in status.styled("code")
        ann.write(QUESTION)
        answer = await open_world.said(42, "[1]")
        assert "5,000" in answer.text
        assert any("Loan Policy.pdf (p. 3)" in source for source in answer.styled("code"))
        (button, *_) = answer.buttons[0]
        tap = ann.tap(answer, button["callback_data"])
        page = await open_world.said(42, "Loan Policy.pdf (p. 3)\n")
        assert page.photo is not None
        assert open_world.server.notices[tap] == ""
