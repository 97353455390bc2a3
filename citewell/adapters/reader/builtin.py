"""The built-in reader: marks the answer within a statement, in any language and across languages, without a key or a download.

Devlin et al., "BERT: Pre-training of Deep Bidirectional Transformers for Language Understanding", 2019, section 4.3: an answer's first and
last token are each chosen among all tokens, or the first token of all, which says that there is none.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from citewell.adapters.embedder.builtin import usable_processors
from citewell.adapters.reader.outputs import OUTPUTS
from citewell.adapters.reader.reading_model import END, START, ReadingModel
from citewell.ports import FloatMatrix
from citewell.system.characters import whole_end
from citewell.types import AnswerSpan, StatementRead

MAX_QUESTION_TOKENS, MAX_BEFORE_TOKENS, MAX_INPUT_TOKENS = 48, 56, 208
MAX_ANSWER_TOKENS = 30
_NONE = AnswerSpan(sure=-20.0, start=0, end=0)


class BuiltinReader:
    """Implements `citewell.agent.interface.AnswerReader`. Texts beyond what the model reads are cut."""

    def __init__(self, model: ReadingModel) -> None:
        self._model = model
        self._threads = ThreadPoolExecutor(usable_processors(), "read-answers")

    async def read(self, question: str, statements: Sequence[StatementRead]) -> list[AnswerSpan]:
        """The most probable answer in each statement, in the order given."""
        if not statements:
            return []
        loop = asyncio.get_running_loop()
        asked = await loop.run_in_executor(self._threads, self._model.tokens, question, MAX_QUESTION_TOKENS)
        head = [START, *asked.ids, END]
        return await asyncio.gather(*(loop.run_in_executor(self._threads, self._one, head, one) for one in statements))

    async def aclose(self) -> None:
        """End the threads; calling it twice is harmless."""
        await asyncio.to_thread(self._threads.shutdown, wait=True, cancel_futures=True)

    def _one(self, head: list[int], statement: StatementRead) -> AnswerSpan:
        before = self._model.tokens(statement.before, MAX_INPUT_TOKENS).ids[-MAX_BEFORE_TOKENS:]
        begin = [*head, *before, END]
        pieces = self._model.tokens(statement.text, MAX_INPUT_TOKENS - len(begin) - 1)
        if not pieces.ids:
            return _NONE
        logits = self._model.logits([*begin, *pieces.ids, END])[:, OUTPUTS["answer"]]
        first, last, sure = best_span(logits[len(begin) : len(begin) + len(pieces.ids)], logits[0])
        end = whole_end(statement.text, pieces.offsets[last][1])
        return AnswerSpan(sure=sure, start=pieces.offsets[first][0], end=end)


def best_span(logits: FloatMatrix, none: FloatMatrix) -> tuple[int, int, float]:
    """The first and last token of the best answer, and its log-odds against there being none.

    logits: shape (tokens, 2), of beginning and of ending an answer at each; none: shape (2,), of there being none.
    """
    pairs = logits[:, :1] + logits[:, 1]
    allowed = np.triu(np.ones_like(pairs, bool)) & ~np.triu(np.ones_like(pairs, bool), MAX_ANSWER_TOKENS)
    best = int(np.argmax(np.where(allowed, pairs, -np.inf)))
    first, last = divmod(best, len(logits))
    return first, last, float(pairs[first, last] - none.sum())
