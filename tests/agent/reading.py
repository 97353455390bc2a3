"""The reading model's readers, for tests of what is decided by what they say."""

from __future__ import annotations

from citewell.adapters.reader.message_reader import BuiltinMessageReader
from citewell.adapters.reader.reading_model import ReadingModel
from citewell.types.message_reading import MessageRead

MESSAGES = BuiltinMessageReader(ReadingModel.open())


async def read(message: str, before: str = "") -> MessageRead:
    """What the model says of a message."""
    return await MESSAGES.read(message, before)
