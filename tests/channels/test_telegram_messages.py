"""What people send besides documents and questions, and what the bot's buttons and commands do to their end."""

from __future__ import annotations

import io

import pytest

from citewell.types import Resource, ResourceFilter
from tests.channels.telegram_world import World, until
from tests.contract_servers.telegram import Person
from tests.extract.scanning import scan

pytestmark = [pytest.mark.full, pytest.mark.asyncio(loop_scope="module"), pytest.mark.slow(60)]
HOSTILE = r"*_[x](http://evil.example)~`>#+-=|{}.!<b>\ "


def _photo(*lines: str) -> bytes:
    out = io.BytesIO()
    scan(list(lines)).convert("RGB").save(out, "JPEG", quality=92)
    return out.getvalue()


async def _resources(opened: World, person: Person) -> list[Resource]:
    """A person's files, oldest first."""
    owner = await opened.services.telegram.owner_of(person.id)
    assert owner is not None
    found, _ = await opened.services.resources.page(owner, ResourceFilter(), 50, None)
    return found[::-1]


async def _finished(opened: World, person: Person, files: int) -> None:
    await until(lambda: len([one for one in opened.server.of_chat(person.chat["id"]) if "ready" in one.text]) == files)


def _tap(person: Person, opened: World, words: str, label: str) -> None:
    """Tap the button with this label, under the newest message with these words."""
    shown = [one for one in opened.server.of_chat(person.chat["id"]) if words in one.text and one.buttons][-1]
    (data,) = [one["callback_data"] for row in shown.buttons for one in row if one["text"] == label]
    person.tap(shown, data)


async def test_a_photo_is_taken_in_its_largest_size_and_its_text_is_answered_from(
    open_world: World, ann: Person
) -> None:
    async with open_world.bot():
        ann.photo(_photo("Water stood in the cellar", "for eleven days in spring", "until the pumps arrived"))
        await _finished(open_world, ann, 1)
        (kept,) = await _resources(open_world, ann)
        assert (kept.filename[:6], kept.mime_type) == ("photo ", "image/jpeg")
        assert kept.extraction_metadata["width"] != 90
        ann.write("How many days did water stand in the cellar?")
        answer = await open_world.said(ann.id, "[1]")
        assert "eleven" in answer.text
        button = answer.buttons[0][0]
        ann.tap(answer, button["callback_data"])
        await until(lambda: any(one.photo is not None for one in open_world.server.of_chat(ann.id)))


async def test_each_file_of_an_album_is_kept_with_the_albums_caption(open_world: World, ann: Person) -> None:
    async with open_world.bot():
        album = {"media_group_id": "4711"}
        ann.send("first.txt", b"The boat of the ferry line leaves at seven.", caption="ferry papers", **album)
        ann.send("second.txt", b"A ticket of the ferry line costs nine euros.", **album)
        ann.send("alone.txt", b"The museum is closed on Mondays in winter.", media_group_id="4712")
        await _finished(open_world, ann, 3)
        said = {one.filename: one.metadata.get("caption") for one in await _resources(open_world, ann)}
        assert said == {"first.txt": "ferry papers", "second.txt": "ferry papers", "alone.txt": None}
        statuses = [one.styled("code") for one in open_world.server.of_chat(ann.id)]
        assert statuses == [["first.txt"], ["second.txt"], ["alone.txt"]]


async def test_an_album_in_a_group_is_the_bots_when_its_caption_names_the_bot(open_world: World, ann: Person) -> None:
    group = {"id": -1007, "type": "supergroup", "title": "Team"}
    here = Person(server=open_world.server, id=ann.id, chat=group)
    other = Person(server=open_world.server, id=ann.id + 5_000, chat=group)
    async with open_world.bot() as bot:
        here.send("a.txt", b"The lamp in the hall is broken.", "@citewell_test_bot keep these", media_group_id="7")
        await _finished(open_world, here, 1)
    async with open_world.bot() as bot:  # what the first message said is known after a restart, too
        here.send("b.txt", b"The lamp in the yard works again.", media_group_id="7")
        here.send("private.txt", b"Nobody asked the bot to keep this.", media_group_id="8")
        other.send("other.txt", b"This is another person's file.", media_group_id="7")
        await _finished(open_world, here, 2)
        await bot.idle()
    assert await open_world.files(ann) == ["b.txt", "a.txt"]
    assert [one.metadata["caption"] for one in await _resources(open_world, ann)] == ["keep these", "keep these"]
    assert await open_world.files(other) == []


async def test_a_voice_message_is_its_caption(open_world: World, ann: Person) -> None:
    async with open_world.bot():
        ann.send("hall.txt", b"The hall is rented out to the choir on Thursdays.")
        await _finished(open_world, ann, 1)
        ann.voice("Who rents the hall on Thursdays?")
        assert "choir" in (await open_world.said(ann.id, "[1]")).text
        ann.voice()
        await open_world.said(ann.id, "can't listen to voice messages")
    assert await open_world.files(ann) == ["hall.txt"]


async def test_a_file_is_taken_whatever_its_caption_begins_with_and_forwarded_ones_say_from_whom(
    open_world: World, ann: Person
) -> None:
    sender = {"id": 77, "is_bot": False, "first_name": "Berta", "last_name": "Weiss"}
    origin = {"type": "user", "date": 1_760_000_000, "sender_user": sender}
    async with open_world.bot():
        ann.send("bill.txt", b"The bill of the carpenter is due in March.", caption="/delete everything")
        ann.send("note.txt", b"The carpenter comes back in April.", forward_origin=origin)
        await _finished(open_world, ann, 2)
    bill, note = await _resources(open_world, ann)
    assert (bill.metadata["caption"], note.metadata["forwarded_from"]) == ("/delete everything", "Berta Weiss")


async def test_rows_are_shown_as_a_table(open_world: World, ann: Person) -> None:
    rows = "\n".join(f"{city},{2_000 + n},{n % 7}" for n, city in enumerate(["Accra", "Kumasi", "Tamale", "Ho"]))
    async with open_world.bot():
        ann.send("branches.csv", f"city,loans,late\n{rows}\n".encode())
        await _finished(open_world, ann, 1)
        ann.write("What is the loans value of Tamale?")
        answer = await open_world.said(ann.id, "[1]")
        assert "2,002" in answer.text.replace("2002", "2,002")
        ann.tap(answer, answer.buttons[0][0]["callback_data"])
        await until(lambda: any(one.styled("pre") for one in open_world.server.of_chat(ann.id)))
        (shown,) = [one for one in open_world.server.of_chat(ann.id) if one.styled("pre")]
        head, *body = [[cell.strip() for cell in line.split("|")] for line in shown.styled("pre")[0].split("\n")]
        assert head == ["", "city", "loans", "late"]
        assert [row[1:] for row in body] == [["Tamale", "2002", "2"]]
        assert "branches.csv" in shown.styled("code")[0]


async def test_a_scope_is_chosen_and_questions_are_about_it(open_world: World, ann: Person) -> None:
    topic = {"id": -1011, "type": "supergroup", "title": "Team", "is_forum": True}
    here = Person(server=open_world.server, id=ann.id, chat=topic, topic=3)
    services = open_world.services
    async with open_world.bot():
        ann.send("lisbon.txt", b"The rent of the flat in Lisbon is 1,250 euros a month.")
        await _finished(open_world, ann, 1)
        owner = (await _resources(open_world, ann))[0].owner_id
        project = await services.projects.create(owner, "Porto")
        here.write("/scope")
        await open_world.said(-1011, "Questions are about: all files")
        _tap(here, open_world, "Questions are about", "files of this chat")
        await open_world.said(-1011, "Questions are about: files of this chat")
        here.write("@citewell_test_bot What is the rent of the flat in Lisbon?")
        await open_world.said(-1011, "nothing to search")
        _tap(here, open_world, "Questions are about", "Porto")
        await open_world.said(-1011, "Questions are about: Porto")
        here.write("@citewell_test_bot What is the rent in Lisbon, please?")
        await until(
            lambda: len([1 for one in open_world.server.of_chat(-1011) if "nothing to search" in one.text]) == 2
        )
        _tap(here, open_world, "Questions are about", "all files")
        await open_world.said(-1011, "Questions are about: all files")
        here.write("@citewell_test_bot And what is the rent of the flat in Lisbon now?")
        assert "1,250" in (await open_world.said(-1011, "[1]")).text
    assert project.id


async def test_forgetting_the_conversation_the_person_and_everything(
    open_world: World, ann: Person, eve: Person
) -> None:
    services = open_world.services
    async with open_world.bot():
        for person in (ann, eve):
            person.send("key.txt", b"The key of the cellar is with the neighbour on the left.")
            await _finished(open_world, person, 1)
            person.write("Who has the key of the cellar?")
            await open_world.said(person.id, "[1]")
        owner = (await _resources(open_world, ann))[0].owner_id
        ann.write("/forget")
        await open_world.said(ann.id, "What should I forget?")
        _tap(ann, open_world, "What should", "This conversation")
        await open_world.said(ann.id, "starts a new conversation")
        assert (await services.threads.repository.page(owner, 5, None, None))[0] == []
        assert await open_world.files(ann) == ["key.txt"]
        ann.write("/forget")
        await open_world.said(ann.id, "What should I forget?")
        _tap(ann, open_world, "What should", "Everything, including files")
        await open_world.said(ann.id, "files and conversations were deleted")
        assert await open_world.files(ann) == []
        assert await open_world.files(eve) == ["key.txt"]
        await open_world.linked(eve)
        eve.write("/forget")
        await open_world.said(eve.id, "What should I forget?")
        _tap(eve, open_world, "What should", "My account (files stay)")
        await open_world.said(eve.id, "Unlinked.")
        assert await services.telegram.repository.owner_of(eve.id) is None


async def test_hostile_names_captions_questions_and_texts_are_only_text(open_world: World, ann: Person) -> None:
    begin = len(open_world.server.calls)
    async with open_world.bot():
        text = f"The password of the shed is {HOSTILE} and nothing else opens the shed."
        ann.send(f"{HOSTILE.replace('/', '')}.txt", text.encode(), caption=f"What opens the shed {HOSTILE}?")
        answer = await open_world.said(ann.id, "[1]")
        # A quotation is set as text is, with a space after a colon: compared without spaces.
        assert "".join(HOSTILE.split()).replace("`", "'") in "".join(answer.text.split())
        ann.tap(answer, answer.buttons[0][0]["callback_data"])
        await until(lambda: len([1 for one in open_world.server.of_chat(ann.id) if "[1]" in one.text]) == 2)
        ann.write(f"/delete {HOSTILE}")
        await open_world.said(ann.id, "You have no file called")
    sent = [given for method, given in open_world.server.calls[begin:] if method in ("sendMessage", "editMessageText")]
    assert sent
    assert all("parse_mode" not in given for given in sent)
    kinds = {one["type"] for given in sent for one in given.get("entities", [])}
    assert kinds <= {"bold", "italic", "code", "pre", "blockquote"}


async def test_every_file_of_a_person_can_be_listed_page_by_page(open_world: World, ann: Person) -> None:
    async with open_world.bot():
        for number in range(12):
            ann.send(f"note {number}.txt", f"Note number {number} of {ann.id}.".encode())
        await _finished(open_world, ann, 12)
        ann.write("/files")
        shown = await open_world.said(ann.id, "Your files, newest first")
        assert len(shown.styled("code")) == 10
        _tap(ann, open_world, "Your files", "Older")
        await until(lambda: len(shown.styled("code")) == 2)
        _tap(ann, open_world, "Your files", "Newer")
        await until(lambda: len(shown.styled("code")) == 10)
