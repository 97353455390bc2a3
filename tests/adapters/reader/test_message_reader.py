"""The built-in reader of messages: what they want, in several languages; whether they lean on the thread; what they are about."""

from __future__ import annotations

import pytest

from citewell.adapters.reader.message_reader import BuiltinMessageReader
from citewell.adapters.reader.reading_model import ReadingModel
from citewell.types.message_reading import Act, MessageRead


@pytest.fixture(scope="module")
def reader() -> BuiltinMessageReader:
    return BuiltinMessageReader(ReadingModel.open())


@pytest.mark.parametrize(
    ("message", "act"),
    [
        ("How much is the deposit for the hall?", Act.ASK),
        ("deposit hall?", Act.ASK),
        ("Give me the gist of the boiler report.", Act.SUMMARY),
        ("Fass mir den Mietvertrag kurz zusammen.", Act.SUMMARY),
        ("Which files have I uploaded?", Act.FILES),
        ("Quels documents ai-je ajoutés ?", Act.FILES),
        ("Which of my files mention asbestos?", Act.MENTIONS),
        ("¿En qué archivos se habla del seguro?", Act.MENTIONS),
        ("List every deadline in the contract.", Act.LIST_ALL),
        ("What can you do?", Act.HELP),
        ("Was kannst du alles?", Act.HELP),
        ("hello there", Act.GREETING),
        ("Vielen Dank!", Act.THANKS),
        ("à bientôt", Act.BYE),
    ],
)
async def test_what_a_message_wants(reader: BuiltinMessageReader, message: str, act: Act) -> None:
    read = await reader.read(message)
    assert read.act is act
    assert sum(read.acts.values()) == pytest.approx(1.0, abs=1e-5)


async def test_whether_it_leans_on_the_question_before(reader: BuiltinMessageReader) -> None:
    before = "What does the hall cost on a Saturday?"
    assert (await reader.read("And on Sundays?", before)).leans > 0.5
    assert (await reader.read("Which supplier delivers the gas bottles to the marina?", before)).leans < 0.5
    assert (await reader.read("And on Sundays?")).leans == 0.0


async def test_the_words_that_say_what_it_is_about(reader: BuiltinMessageReader) -> None:
    message = "Could you please tell me which files mention the heat pump?"
    assert (await reader.read(message)).content_of(message).endswith("heat pump")


@pytest.mark.parametrize("message", ["", " ", "?" * 3_000, "\ud800", "👍"])
async def test_any_text_is_read(reader: BuiltinMessageReader, message: str) -> None:
    read = await reader.read(message, message)
    assert all(0 <= start <= end <= len(message) for start, end in read.content)


def test_pieces_of_one_word_are_joined() -> None:
    read = MessageRead({Act.ASK: 1.0}, content=((6, 9), (9, 13), (14, 18)))
    assert read.content_of("about heating cost") == "heating cost"
