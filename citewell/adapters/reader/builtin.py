"""The built-in reader: a small model in ONNX Runtime that marks the answer within a statement, without a key or a download.

Devlin et al., "BERT: Pre-training of Deep Bidirectional Transformers for Language Understanding", 2019, section 4.3: an answer's first and
last token are each chosen among all tokens, or the first token of all, which says that there is none. `scripts/train_reader.py` made the model.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from citewell.adapters.embedder.builtin import usable_processors
from citewell.adapters.embedder.builtin_model import MODEL_FOLDER, BuiltinModel
from citewell.ports import FloatMatrix
from citewell.types import AnswerSpan, StatementRead

READER_FOLDER = MODEL_FOLDER.parent / "minilm-reader"
MAX_QUESTION_TOKENS = 40
MAX_BEFORE_TOKENS = 48
MAX_ANSWER_TOKENS = 30
_CLS, _SEP = 101, 102
_NONE = AnswerSpan(sure=-20.0, start=0, end=0)


class BuiltinReader:
    """Implements `citewell.agent.interface.AnswerReader`, for English. Texts beyond what the model reads are cut."""

    def __init__(self, model: BuiltinModel, words: BuiltinModel) -> None:
        """`words`: the model whose tokenizer this one reads with."""
        self._model = model
        self._words = words
        self._threads = ThreadPoolExecutor(usable_processors(), "read-answers")

    @classmethod
    def load(cls, folder: Path = READER_FOLDER) -> BuiltinReader:
        """The model in `folder`, which is read when it is first used; `ConfigurationError` where its manifest is missing."""
        return cls(BuiltinModel.open(folder), BuiltinModel.open())

    async def read(self, question: str, statements: Sequence[StatementRead]) -> list[AnswerSpan]:
        """The most probable answer in each statement, in the order given."""
        if not statements:
            return []
        loop = asyncio.get_running_loop()
        asked = await loop.run_in_executor(self._threads, self._words.tokenizer.pieces, question)
        head = [_CLS, *asked.ids[:MAX_QUESTION_TOKENS], _SEP]
        return await asyncio.gather(*(loop.run_in_executor(self._threads, self._one, head, one) for one in statements))

    async def aclose(self) -> None:
        """End the threads; calling it twice is harmless."""
        await asyncio.to_thread(self._threads.shutdown, wait=True, cancel_futures=True)

    def _one(self, head: list[int], statement: StatementRead) -> AnswerSpan:
        tokenizer = self._words.tokenizer
        before = tokenizer.pieces(statement.before).ids[-MAX_BEFORE_TOKENS:]
        pieces = tokenizer.pieces(statement.text)
        begin = [*head, *before, _SEP]
        room = self._model.max_tokens - len(begin) - 1
        ids, offsets = pieces.ids[:room], pieces.offsets[:room]
        if not ids:
            return _NONE
        logits = self._model.answer_logits([[*begin, *ids, _SEP]])[0]
        first, last, sure = best_span(logits[len(begin) : len(begin) + len(ids)], logits[0])
        return AnswerSpan(sure=sure, start=offsets[first][0], end=offsets[last][1])


def best_span(logits: FloatMatrix, none: FloatMatrix) -> tuple[int, int, float]:
    """The first and last token of the best answer, and its log-odds against there being none.

    logits: shape (tokens, 2), of beginning and of ending an answer at each; none: shape (2,), of there being none.
    """
    pairs = logits[:, :1] + logits[:, 1]
    allowed = np.triu(np.ones_like(pairs, bool)) & ~np.triu(np.ones_like(pairs, bool), MAX_ANSWER_TOKENS)
    best = int(np.argmax(np.where(allowed, pairs, -np.inf)))
    first, last = divmod(best, len(logits))
    return first, last, float(pairs[first, last] - none.sum())
