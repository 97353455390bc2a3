"""The Telegram bot, from linking to cited answers, through aiogram and against the Bot API's contract."""

from __future__ import annotations

import logging
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import cast

import pytest

from citewell.agent.graph import Assistant
from citewell.channels.telegram.expiry import expire
from citewell.features.resources.said import Said
from citewell.features.turns import LateAssistant
from citewell.types import ResourceFilter
from tests.channels.telegram_world import World, until
from tests.contract_servers.telegram import TOKEN, Person, TelegramServer, Trouble
from tests.server.test_citations_everywhere import Citing, citations

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.slow(60)]
QUESTION = "What is the maximum loan size for first-time borrowers?"


async def _messages(opened: World, person: Person) -> list[tuple[str, str]]:
    owner = await opened.services.telegram.owner_of(person.id)
    assert owner is not None
    threads, _ = await opened.services.threads.repository.page(owner, 50, None, None)
    shown = [await opened.services.threads.get(owner, thread.id) for thread in threads]
    return [(one.message.role, one.message.content) for thread in shown for one in thread.messages]


async def test_from_a_code_to_a_cited_answer_with_its_page(
    open_world: World, ann: Person, eve: Person, samples: Path
) -> None:
    async with open_world.bot():
        await open_world.linked(ann)
        ann.send("Loan Policy.pdf", (samples / "Loan Policy.pdf").read_bytes())
        status = await open_world.said(ann.id, "ready")
        assert status.history[0] == "Loan Policy.pdf: receiving …"
        assert "Loan Policy.pdf" in status.styled("code")
        ann.write(QUESTION)
        answer = await open_world.said(ann.id, "[1]")
        assert "5,000" in answer.text
        assert any("Loan Policy.pdf (p. 3)" in source for source in answer.styled("code"))
        (button, *_) = answer.buttons[0]
        tap = ann.tap(answer, button["callback_data"])
        page = await open_world.said(ann.id, "Loan Policy.pdf (p. 3)\n")
        assert page.photo is not None
        assert open_world.server.notices[tap] == ""
        tap = eve.tap(answer, button["callback_data"])
        await until(lambda: tap in open_world.server.notices)
        assert open_world.server.notices[tap] == "Only the person who asked can open this."


async def test_a_source_of_every_kind_of_place_is_listed_and_opens(
    open_world: World, ann: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_world.bot():
        await open_world.linked(ann)
        ann.send("fees.txt", b"The fee is 25.")
        await open_world.said(ann.id, "ready")
        owner = await open_world.services.telegram.owner_of(ann.id)
        assert owner is not None
        files, _ = await open_world.services.resources.repository.page(owner, ResourceFilter(), 50, None)
        (file,) = [one for one in files if one.filename == "fees.txt"]
        answering = open_world.services.chat.turns.answering
        monkeypatch.setattr(answering, "assistant", LateAssistant(lambda: cast("Assistant", Citing(file.id))))
        ann.write("What is the fee?")
        answer = await open_world.said(ann.id, "[13]")
        wanted = citations(file.id)
        listed = answer.styled("code")
        assert [one.label for one in wanted if not any(one.label in shown for shown in listed)] == []
        buttons = [button for row in answer.buttons for button in row]
        assert len(buttons) == 12
        for button, one in zip(buttons, wanted, strict=False):
            ann.tap(answer, button["callback_data"])
            await until(
                lambda one=one: any(
                    m.text.startswith(f"[{one.n}] {one.label}") for m in open_world.server.of_chat(ann.id)
                )
            )


def _told(server: TelegramServer) -> list[str]:
    """The calls so far that do something for somebody."""
    return [method for method, _ in server.calls if method in ("sendMessage", "editMessageText", "getFile")]


def _answered(server: TelegramServer, person: Person) -> bool:
    return any("[1]" in one.text for one in server.of_chat(person.id))


async def _more_calls(server: TelegramServer, person: Person, than: int) -> None:
    await until(lambda: len(_told(server)) > than or _answered(server, person))


@pytest.mark.full
async def test_nothing_is_lost_or_done_twice_when_the_bot_ends_again_and_again(
    open_world: World, ann: Person, samples: Path
) -> None:
    server = open_world.server
    ann.send("Loan Policy.pdf", (samples / "Loan Policy.pdf").read_bytes(), caption=QUESTION)
    starts = 0
    while not _answered(server, ann):
        # It ends right after its first call, which it could not note; then after its second, its third, and so on.
        async with open_world.bot():
            await _more_calls(server, ann, len(_told(server)) + starts)
        starts += 1
        assert starts < 20
    async with open_world.bot() as bot:
        await until(lambda: server.calls[-1][0] == "getUpdates")
        await bot.idle()
    assert starts > 2
    assert await open_world.files(ann) == ["Loan Policy.pdf"]
    assert [role for role, _ in await _messages(open_world, ann)] == ["user", "assistant"]
    assert len([one for one in server.of_chat(ann.id) if "[1]" in one.text]) == 1


@pytest.mark.full
async def test_updates_that_come_twice_and_in_disorder_are_done_once(open_world: World, ann: Person) -> None:
    server = open_world.server
    async with open_world.bot() as bot:
        first, second = ann.write("/help"), ann.write("/files")
        await open_world.said(ann.id, "no files yet")
        server.repeat([second, first, second])
        last = ann.write("/scope")
        await open_world.said(ann.id, "Questions are about")
        await bot.idle()
        assert last["update_id"] > second["update_id"]
    async with open_world.bot() as bot:
        server.repeat([first])
        ann.write("/forget")
        await open_world.said(ann.id, "What should I forget?")
        await bot.idle()
    assert len(server.of_chat(ann.id)) == 4


@pytest.mark.full
async def test_floods_errors_and_broken_downloads_are_waited_for(
    open_world: World, ann: Person, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    server = open_world.server
    server.troubles += [
        Trouble(method="sendMessage", status=429, description="Too Many Requests: retry after 7", retry_after=7),
        Trouble(method="sendMessage", status=500),
        Trouble(method="getFile", status=502, description="Bad Gateway"),
        Trouble(method="download", half=True),
        Trouble(method="download", status=500),
        Trouble(method="editMessageText", lost=True),
    ]
    text = f"The tenant {ann.id} pays a rent of 1,250 euros every month for the flat in Lisbon."
    open_world.sleeps.clear()
    async with open_world.bot():
        ann.send("rent.txt", text.encode())
        await open_world.said(ann.id, "ready")
    assert 7 in open_world.sleeps
    assert server.troubles == []
    assert await open_world.files(ann) == ["rent.txt"]
    assert len(server.of_chat(ann.id)) == 1
    assert TOKEN not in caplog.text
    assert TOKEN.split(":")[1] not in caplog.text


@pytest.mark.full
async def test_a_download_that_never_ends_is_said_and_a_large_file_is_told_where_to_go(
    open_world: World, ann: Person
) -> None:
    open_world.server.troubles += [Trouble(method="download", half=True) for _ in range(3)]
    async with open_world.bot():
        ann.send("half.txt", b"half of it is not enough" * 10)
        await open_world.said(ann.id, "could not be downloaded")
        ann.send("video.pdf", b"%PDF-", size=25_000_000)
        said = await open_world.said(ann.id, "Upload it in Citewell")
        assert "25 MB" in said.text
        assert "20 MB" in said.text
    assert await open_world.files(ann) == []


@pytest.mark.full
async def test_a_duplicate_is_named_and_a_blocked_bot_is_no_error(open_world: World, ann: Person) -> None:
    async with open_world.bot() as bot:
        ann.send("a.txt", b"The garden of the museum closes at nine in summer.")
        await open_world.said(ann.id, "ready")
        ann.send("b.txt", b"The garden of the museum closes at nine in summer.")
        said = await open_world.said(ann.id, "you already have this file")
        assert said.styled("code") == ["b.txt", "a.txt"]
        open_world.server.blocked.add(ann.id)
        ann.write("/help")
        await open_world.said(ann.id, "already")
        await bot.idle()
    assert await open_world.files(ann) == ["a.txt"]


@pytest.mark.full
async def test_groups_are_answered_when_they_address_the_bot_and_topics_are_conversations(
    open_world: World, ann: Person
) -> None:
    group = {"id": -1001, "type": "supergroup", "title": "Team", "is_forum": True}
    here = Person(server=open_world.server, id=ann.id, chat=group, topic=5)
    async with open_world.bot() as bot:
        here.write("Good morning everybody")
        here.write("/files@another_bot")
        here.write("@citewell_test_bot hello")
        said = await open_world.said(-1001, "")
        await bot.idle()
        assert (said.topic, said.reply_to is None) == (5, False)
        assert len(open_world.server.of_chat(-1001)) == 1
    roles = await _messages(open_world, ann)
    assert roles[0] == ("user", "hello")


@pytest.mark.full
async def test_what_a_name_or_a_text_says_is_never_markup(open_world: World, ann: Person) -> None:
    name = "*_[x](http://evil.example)_*\u202etxt.<b>`.txt"
    async with open_world.bot():
        ann.send(name, b"Parking in the yard costs two euros an hour.")
        said = await open_world.said(ann.id, "ready")
        assert "\u202e" not in said.text
        assert said.styled("code") == ["evil.example)_*txt.<b>`.txt"]
    assert all("parse_mode" not in given for _, given in open_world.server.calls)


@pytest.mark.full
async def test_the_language_is_the_one_that_telegram_tells(open_world: World) -> None:
    async with open_world.bot():
        for number, language, words in (
            (901, "de-AT", "Du hast noch keine Dateien"),
            (902, "es", "Aún no tienes"),
            (903, "fr", "no files yet"),
        ):
            person = Person(server=open_world.server, id=number, language=language)
            person.write("/files")
            await open_world.said(person.id, words)
    assert set(open_world.server.commands) == {"", "de", "es"}


@pytest.mark.full
async def test_deleting_asks_first_and_deletes_everywhere(open_world: World, ann: Person) -> None:
    async with open_world.bot():
        ann.send("old.txt", b"The heating is serviced every October by Berg and Sons.")
        await open_world.said(ann.id, "ready")
        ann.write("/delete old")
        asked = await open_world.said(ann.id, "Which file")
        ann.tap(asked, asked.buttons[0][0]["callback_data"])
        await open_world.said(ann.id, "and everything derived from it?")
        assert await open_world.files(ann) == ["old.txt"]
        ann.tap(asked, asked.buttons[0][0]["callback_data"])
        await open_world.said(ann.id, "deleted everywhere")
    assert await open_world.files(ann) == []


@pytest.mark.full
async def test_a_file_expires_after_it_was_announced(open_world: World, ann: Person) -> None:
    async with open_world.bot() as bot:
        ann.send("short.txt", b"The key of the cellar is with the neighbour on the left.")
        await open_world.said(ann.id, "ready")
        owner = await open_world.services.telegram.owner_of(ann.id)
        assert owner is not None
        resources = open_world.services.resources
        (file,), _ = await resources.page(owner, ResourceFilter(), 9, None)
        await resources.describe(owner, file.id, Said(expires_in_hours=48.0))
        end = time.time() + 48 * 3600
        await expire(bot.desk, end - 30 * 3600)
        assert len(open_world.server.of_chat(ann.id)) == 1
        await expire(bot.desk, end + 100)
        announced = open_world.server.of_chat(ann.id)[-1].text
        later = datetime.fromtimestamp(
            end + 100 + 12 * 3600, UTC
        )  # overdue when it was announced: a quarter of 48 hours more
        assert f"will be deleted on {later:%Y-%m-%d %H:%M} (UTC)" in announced
        assert await open_world.files(ann) == ["short.txt"]
        await expire(bot.desk, end + 30 * 3600)
        assert "has expired" in open_world.server.of_chat(ann.id)[-1].text
    assert await open_world.files(ann) == []


@pytest.mark.full
async def test_a_file_that_was_sent_today_is_found_by_when_it_was_sent(open_world: World, ann: Person) -> None:
    async with open_world.bot():
        ann.send("contract.txt", b"The contract with the printer Weiss ends on the last day of June.", caption="signed")
        await open_world.said(ann.id, "ready")
        ann.write("When does the contract with the printer end, in the files that I sent today?")
        answer = await open_world.said(ann.id, "[1]")
        assert "June" in answer.text
    owner = await open_world.services.telegram.owner_of(ann.id)
    assert owner is not None
    (found,), _ = await open_world.services.resources.page(owner, ResourceFilter(), 5, None)
    assert found.thread == f"telegram:{ann.id}"
    assert (found.metadata["telegram_user"], found.metadata["caption"]) == (ann.id, "signed")


@pytest.mark.full
@pytest.mark.parametrize(
    "question",
    [
        "When does the contract I sent yesterday end?",
        "What is the notice period of the contract that I sent you yesterday?",
        "the contract I sent yesterday: when does it end?",
    ],
)
async def test_the_contract_that_was_sent_yesterday_is_a_filter(open_world: World, ann: Person, question: str) -> None:
    now = int(time.time())
    async with open_world.bot():
        for name, days, end in (("old.txt", 9, "March"), ("contract.txt", 1, "June"), ("new.txt", 0, "October")):
            text = f"The contract with the printer ends on the last day of {end}. The notice period of the contract is one month before {end}."
            ann.send(name, text.encode(), date=now - days * 86_400)
            await open_world.said(ann.id, f"{name}: ready")
        ann.write(question)
        answer = await open_world.said(ann.id, "[1]")
        assert "June" in answer.text
        assert "March" not in answer.text
        assert "October" not in answer.text
