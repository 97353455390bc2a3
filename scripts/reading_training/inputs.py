"""What the model is shown, in tokens, with what it is to say."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from citewell.adapters.embedder.builtin import MAX_QUESTION_TOKENS as MAX_VECTOR_TOKENS
from citewell.adapters.embedder.builtin_model import Pieces
from citewell.adapters.reader.builtin import MAX_BEFORE_TOKENS, MAX_INPUT_TOKENS, MAX_QUESTION_TOKENS
from citewell.adapters.reader.message_reader import MAX_BEFORE_TOKENS as MAX_EARLIER_TOKENS
from citewell.adapters.reader.message_reader import MAX_MESSAGE_TOKENS
from citewell.adapters.reader.reading_model import END, START, ReadingModel
from citewell.adapters.reader.table_reader import BuiltinTableReader, TableInput
from citewell.agent.tables.meaning.reader import shown
from reading_training.messages import Message
from reading_training.published import Example as Statement
from reading_training.tables import Example as Table

SOMEWHERE = -1
_MARKED = re.compile(r"\[([^\[\]]*)\]")


@dataclass(frozen=True, slots=True)
class StatementTokens:
    """A question with a statement, which begins at `start`. first, last: tokens of the answer; 0 for none, -1 for an unknown place."""

    ids: list[int]
    start: int
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class MessageTokens:
    """A message. leans: 1, 0, or -1 where it is not in a thread; content: of each of its tokens 1, 0, or -1 where that is not known."""

    ids: list[int]
    act: int
    leans: int
    content: list[int]


@dataclass(frozen=True, slots=True)
class TableTokens:
    """A question with a table."""

    tokens: TableInput
    example: Table

    @property
    def ids(self) -> list[int]:
        return self.tokens.ids


class Encoder:
    """Makes tokens as the readers of the product do."""

    def __init__(self, model: ReadingModel) -> None:
        self._tables = BuiltinTableReader(model)

        @cache
        def tokens(text: str) -> Pieces:
            return model.tokens(text, MAX_INPUT_TOKENS)

        self._tokens = tokens

    def statement(self, one: Statement) -> StatementTokens | None:
        """None where the answer was cut off."""
        question = self._tokens(one.question).ids[:MAX_QUESTION_TOKENS]
        before = self._tokens(one.before).ids[-MAX_BEFORE_TOKENS:] if one.before else []
        head = [START, *question, END, *before, END]
        text = self._tokens(one.statement)
        room = MAX_INPUT_TOKENS - len(head) - 1
        ids = [*head, *text.ids[:room], END]
        if one.answer is None:
            return StatementTokens(ids, len(head), 0, 0)
        if one.answer == (0, 0):
            return StatementTokens(ids, len(head), SOMEWHERE, SOMEWHERE)
        start, end = one.answer
        within = [place for place, (a, b) in enumerate(text.offsets[:room]) if b > start and a < end]
        return StatementTokens(ids, len(head), len(head) + within[0], len(head) + within[-1]) if within else None

    def question(self, text: str) -> list[int]:
        """As the embedder shows it."""
        return [START, *self._tokens(text).ids[:MAX_VECTOR_TOKENS], END]

    def message(self, one: Message) -> MessageTokens:
        """Brackets around content become labels of its tokens."""
        text, spans = _unmarked(one.text)
        found = self._tokens(text)
        ids, offsets = found.ids[:MAX_MESSAGE_TOKENS], found.offsets[:MAX_MESSAGE_TOKENS]
        content = [int(any(b > start and a < end for start, end in spans)) for a, b in offsets]
        whole = [START, *ids, END]
        if one.before:
            whole += [*self._tokens(one.before).ids[:MAX_EARLIER_TOKENS], END]
        return MessageTokens(whole, one.act, one.leans, content if spans else [-1] * len(content))

    def table(self, one: Table) -> TableTokens:
        """As `BuiltinTableReader` shows it."""
        numbers = [(mention.start, mention.end) for mention in one.mentions]
        return TableTokens(self._tables.input(one.question, numbers, shown(one.table)), one)


def _unmarked(text: str) -> tuple[str, list[tuple[int, int]]]:
    """The text without brackets, and where in it the marked words are."""
    spans: list[tuple[int, int]] = []
    for number, match in enumerate(_MARKED.finditer(text)):
        start = match.start() - 2 * number
        spans.append((start, start + len(match[1])))
    return _MARKED.sub(r"\1", text), spans


def lengths(batch: Sequence[StatementTokens | MessageTokens | TableTokens]) -> int:
    """Tokens that a batch has when it is padded."""
    return len(batch) * max(len(one.ids) for one in batch)
