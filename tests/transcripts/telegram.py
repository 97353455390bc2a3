"""Telegram: from a stranger's first word to the cited page, with aiogram against the Bot API's contract."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tests.channels.telegram_world import World, until, world
from tests.contract_servers.telegram import Person, Shown, TelegramServer
from tests.transcripts.record import Transcript, wrapped

SAMPLE = Path(__file__).resolve().parents[2] / "samples" / "Loan Policy.pdf"
QUESTION = "What is the maximum loan size for first-time borrowers?"
_UNTOLD = {"getUpdates", "sendChatAction", "editMessageText"}
"""Calls whose number depends on how fast the machine is."""


@dataclass(frozen=True)
class Line:
    """What a person did in the chat, at the place that its message has there."""

    at: float
    text: str


@dataclass(frozen=True)
class Chat:
    """A conversation as it was led."""

    server: TelegramServer
    person: Person
    lines: list[Line]
    code: str

    @property
    def shown(self) -> list[Line | Shown]:
        """Both sides, in the order of the chat."""
        said = [one for one in self.server.shown if one.chat_id == self.person.id]
        return sorted([*self.lines, *said], key=lambda one: one.at if isinstance(one, Line) else one.id)


async def run(folder: Path) -> Transcript:
    """The conversation, and the calls that the bot made."""
    page = Transcript(
        "A run of the Telegram bot",
        "The bot with aiogram against a local server that follows the Bot API's published contract (`tests/contract_servers/telegram.py`).",
    )
    async with world(folder / "data") as opened:
        chat = await converse(opened)
    page.names[chat.code] = "ABCDE-FGHJK"
    page.step("The chat", "`(was: …)` is what the same message said first; it is edited as the file goes on.")
    page.block("\n".join(_told(one, chat.person.name) for one in chat.shown))
    page.step("The calls", f"Without {', '.join(f'`{one}`' for one in sorted(_UNTOLD))}, which depend on time.")
    page.block("\n".join(_call(*call) for call in chat.server.calls if call[0] not in _UNTOLD))
    return page


async def converse(opened: World) -> Chat:
    """From linking to the page that a button sends."""
    ann, lines = Person(server=opened.server, id=101), list[Line]()

    def at(update: dict[str, object]) -> int:
        return update["message"]["message_id"]  # pyright: ignore

    async with opened.bot() as bot:
        lines.append(Line(at(ann.write("Hello")), "Hello"))
        await opened.said(ann.id, "I don't know you yet")
        code = (await opened.services.telegram.new_code(opened.services.local_owner)).code
        lines.append(Line(at(ann.write(f"/start {code}")), f"/start {code}"))
        await opened.said(ann.id, "Linked")
        lines.append(Line(at(ann.send(SAMPLE.name, SAMPLE.read_bytes())), f"[{SAMPLE.name}]"))
        await opened.said(ann.id, "ready")
        lines.append(Line(at(ann.write(QUESTION)), QUESTION))
        answer = await opened.said(ann.id, "[1]")
        lines.append(Line(answer.id + 0.5, f"(taps {answer.buttons[0][0]['text']})"))
        ann.tap(answer, answer.buttons[0][0]["callback_data"])
        await until(lambda: any(one.photo for one in opened.server.of_chat(ann.id)))
        await bot.idle()
    return Chat(opened.server, ann, lines, code)


def _told(one: Line | Shown, name: str) -> str:
    if isinstance(one, Line):
        return wrapped(name, one.text)
    text = ("[a picture of the page]\n" if one.photo else "") + one.text
    text += "".join(f"\n[button: {button['text']}]" for row in one.buttons for button in row)
    return wrapped("Bot", text + (f"\n(was: {one.history[0]})" if one.history else ""))


def _call(method: str, given: dict[str, object]) -> str:
    known = ("chat_id", "file_id", "offset", "commands", "text", "caption")
    shown = {name: given[name] for name in known if name in given}
    return f"{method} {', '.join(f'{name}={_short(value)}' for name, value in shown.items())}".rstrip()


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}…{text[-1]}"
