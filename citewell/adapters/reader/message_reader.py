"""The built-in reader of messages: says what a message wants, in any language, without a key or a download."""

from __future__ import annotations

import asyncio

import numpy as np

from citewell.adapters.reader.outputs import OUTPUTS
from citewell.adapters.reader.reading_model import END, START, ReadingModel
from citewell.types.message_reading import Act, MessageRead

MAX_MESSAGE_TOKENS, MAX_BEFORE_TOKENS = 100, 64


class BuiltinMessageReader:
    """Implements `citewell.agent.interface.MessageModel`. Messages beyond what the model reads are cut."""

    def __init__(self, model: ReadingModel) -> None:
        self._model = model

    async def read(self, message: str, before: str = "") -> MessageRead:
        """See `MessageModel.read`."""
        return await asyncio.to_thread(self._read, message, before)

    def _read(self, message: str, before: str) -> MessageRead:
        pieces = self._model.tokens(message, MAX_MESSAGE_TOKENS)
        ids = [START, *pieces.ids, END]
        if before:
            ids += [*self._model.tokens(before, MAX_BEFORE_TOKENS).ids, END]
        logits = self._model.logits(ids)
        acts = logits[0, OUTPUTS["act"]]
        odds = np.exp(acts - acts.max())
        told = logits[1 : 1 + len(pieces.ids), OUTPUTS["content"]][:, 0] > 0
        return MessageRead(
            acts={act: float(share) for act, share in zip(Act, odds / odds.sum(), strict=True)},
            leans=float(1 / (1 + np.exp(-logits[0, OUTPUTS["leans"]][0]))) if before else 0.0,
            content=tuple(span for span, tells in zip(pieces.offsets, told, strict=True) if tells),
        )
