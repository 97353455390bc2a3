"""The agent's interface: what a turn is asked, the events that come out, and what the agent needs of the rest of the system.

Storage, retrieval and an adapter implement the protocols at the end. Their methods take the owner first: it comes from the token by way of
`TurnRequest`, and no tool has a parameter for it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol, TypeAlias

from citewell.retrieve.conversations import FoundExchange, Recollection
from citewell.types import (
    Answer,
    AnswerSpan,
    ChunkPlace,
    ChunkType,
    Element,
    Expression,
    Hit,
    InferredFilter,
    JsonObject,
    JsonValue,
    ResourceInfo,
    Scope,
    SearchOptions,
    SearchRequest,
    SearchResult,
    StatementRead,
    StoredChunk,
    TableInfo,
    Usage,
    UsageKind,
)
from citewell.types.accounts import Grant
from citewell.types.conversations import Exchange
from citewell.types.message_reading import MessageRead
from citewell.types.table_reading import ShownTable, TableRead


@dataclass(frozen=True, slots=True)
class PastMessage:
    """An earlier message of the thread, oldest first, with the scope it was asked under.

    quotes: whether it is an answer that quotes text, no rows or cells of tables
    """

    role: Literal["user", "assistant"]
    content: str
    scope: Scope = Scope()
    quotes: bool = False


@dataclass(frozen=True, slots=True)
class ThreadSummary:
    """What a chat model made of the first `covers` messages of a history, all of them asked and answered under one scope."""

    text: str
    covers: int
    scope: Scope = Scope()


@dataclass(frozen=True, slots=True)
class Remembers:
    """The person who asks, who has allowed that earlier conversations are searched, and the thread of the message."""

    owner_id: str
    thread_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnRequest:
    """A message to answer. `owner_id` comes from the token, never from the message, a tool or a model.

    kept_to:      names by id of the projects that the asker may see, the only ones that tools mention; None for all of the owner's
    options:      of every search of the turn
    summary:      of the oldest messages of `history`, from an earlier turn
    remembers:    whose earlier conversations may be quoted, and in which thread the message is; None where none may
    instructions: how the caller wants answers to be written; a chat model follows them as far as the rules of an answer allow
    """

    owner_id: str
    message: str
    history: tuple[PastMessage, ...] = ()
    scope: Scope = Scope()
    kept_to: Mapping[str, str] | None = None
    top_k: int = 10
    options: SearchOptions = SearchOptions()
    references: bool = False
    summary: ThreadSummary | None = None
    remembers: Remembers | None = None
    instructions: str = ""

    @property
    def grant(self) -> Grant:
        """Whose files the turn is about, and of which projects."""
        return Grant(owner_id=self.owner_id, projects=self.kept_to)


@dataclass(frozen=True, slots=True)
class Source:
    """A passage found in this turn, with the number that `[n]` in the answer refers to."""

    n: int
    hit: Hit


@dataclass(frozen=True, slots=True)
class TextDelta:
    """The next piece of the answer's text."""

    text: str


@dataclass(frozen=True, slots=True)
class TextRestarted:
    """What was streamed of the answer so far is withdrawn; its text begins again."""


@dataclass(frozen=True, slots=True)
class ModelReads:
    """Your own chat model was sent a prompt of about so many tokens; seconds: until its answer, by its examination, if known."""

    tokens: int
    seconds: int | None = None


@dataclass(frozen=True, slots=True)
class FiltersInferred:
    """What the question was read to say of the files to look in; sent once, before the answer, where it says something."""

    filters: tuple[InferredFilter, ...]


@dataclass(frozen=True, slots=True)
class UsedDocs:
    """The passages that the answer rests on; sent once, when they are known."""

    sources: tuple[Source, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnUsage:
    """What a turn spent, by kind and model.

    model:    the chat model that was asked; empty without one
    stuffing: what sending every document in scope whole, with the thread, would have taken as input instead
    """

    model: str = ""
    searches: int = 0
    spent: tuple[Usage, ...] = ()
    stuffing: Usage | None = None

    @property
    def input_tokens(self) -> int:
        """Sent to chat models."""
        return sum(one.input_tokens for one in self._of("chat"))

    @property
    def output_tokens(self) -> int:
        """Got from chat models."""
        return sum(one.output_tokens for one in self._of("chat"))

    def to_json(self) -> dict[str, JsonValue]:
        """The public form: sums, without telling who asked for what was embedded or reranked; costs in US dollars."""
        embedded, compared = self._of("embedding"), self.stuffing
        stuffing_cost = compared.cost if compared is not None else None
        return {
            "model": self.model,
            "calls": sum(one.units for one in self._of("chat")),
            "input_tokens": self.input_tokens,
            "output_tokens": self.output_tokens,
            "embedded_texts": sum(one.units for one in embedded),
            "embedding_tokens": sum(one.input_tokens for one in embedded),
            "rerank_units": sum(one.units for one in self._of("rerank")),
            "searches": self.searches,
            "cost": round(sum(one.cost or 0.0 for one in self.spent), 8),
            "stuffing_tokens": compared.input_tokens if compared is not None else None,
            "stuffing_cost": None if stuffing_cost is None else round(stuffing_cost, 8),
        }

    def _of(self, kind: UsageKind) -> list[Usage]:
        return [one for one in self.spent if one.kind == kind]


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """The end of a turn: the whole checked answer, what it cost, and (in `answer.trace`) how it came about.

    summary: of the thread's oldest messages, when this turn had one made; worth keeping for the next turn
    notice:  what failed on the way and was done without
    """

    answer: Answer
    usage: TurnUsage = TurnUsage()
    nearest: tuple[Source, ...] = ()
    summary: ThreadSummary | None = None
    notice: str | None = None


@dataclass(frozen=True, slots=True)
class Failed:
    """The turn ended with an error; `code` is one of `citewell.errors`. Nothing of it appears in the text."""

    code: str
    message: str
    details: JsonObject = field(default_factory=dict[str, JsonValue])


@dataclass(frozen=True, slots=True)
class PartsRead:
    """How many parts of the files have been read for an answer about whole documents."""

    done: int
    total: int


AgentEvent: TypeAlias = TextDelta | TextRestarted | FiltersInferred | UsedDocs | PartsRead | ModelReads | Done | Failed


class Searcher(Protocol):
    """Finds passages; with nothing indexed there are no hits."""

    async def search(self, request: SearchRequest) -> SearchResult:
        """Hits of `request.owner_id` only, best first."""
        ...


class Conversations(Protocol):
    """Searches earlier conversations of the person who asks."""

    async def search(self, asked: Recollection, limit: int) -> Sequence[FoundExchange]:
        """The best first; none of another person, of the turn's own thread, or about what is not in its scope."""
        ...

    async def recent(self, asked: Recollection) -> Sequence[Exchange]:
        """All that may be searched, newest first."""
        ...


class Vocabulary(Protocol):
    """Knows which words the files that a question is about hold."""

    async def holds_any(self, owner_id: str, scope: Scope, words: Sequence[str]) -> bool:
        """Whether a chunk of the owner within the scope has one of these words, in any of its forms."""
        ...


class ElementLookup(Protocol):
    """Loads the elements that a chunk was built from."""

    async def elements(
        self, owner_id: str, resource_id: str, version: int, ids: Sequence[str]
    ) -> Mapping[str, Element]:
        """Those of `ids` that exist in this version of the owner's resource."""
        ...


class PageTables(Protocol):
    """Gives access to the tables that were recognised on the pages of a file, as they are stored with it."""

    async def page_file(self, owner_id: str, resource_id: str) -> ResourceInfo:
        """The file; `NotFound` when it is not the owner's."""
        ...

    async def page_tables(self, owner_id: str, resource_id: str, limit: int) -> Sequence[Element]:
        """The first `limit` tables of its current version, in reading order; `NotFound`."""
        ...

    async def page_mentions(self, owner_id: str, resource_id: str, words: Sequence[str], limit: int) -> Sequence[str]:
        """The first `limit` texts of its current version that hold one of the words, in any case, in reading order; `NotFound`."""
        ...


class Library(Protocol):
    """Lists and reads resources."""

    async def list_resources(self, owner_id: str, scope: Scope) -> Sequence[ResourceInfo]:
        """Everything in scope, in any state, newest first."""
        ...

    async def narrowed(self, owner_id: str, scope: Scope, filters: tuple[Expression, ...]) -> Scope:
        """The scope with those of its resources that satisfy the filters; `InvalidFilter` for one that no list of files takes."""
        ...

    async def count_characters(self, owner_id: str, scope: Scope) -> int:
        """How much text all files in scope hold together."""
        ...

    async def read_resource(self, owner_id: str, resource_id: str, first: int, last: int) -> Sequence[Element]:
        """Elements whose page, slide or row lies in first..last (all, for a file without such units); `NotFound`."""
        ...


class WholeFiles(Protocol):
    """Reads the chunks of files."""

    async def passages(
        self, owner_id: str, resource_id: str, types: Sequence[ChunkType], most: int
    ) -> Sequence[StoredChunk]:
        """Chunks of these types in order: all, or `most` spread evenly over the file; none of another owner's file."""
        ...

    async def at(self, owner_id: str, places: Sequence[ChunkPlace]) -> Mapping[ChunkPlace, StoredChunk]:
        """The chunks at these places that the owner has."""
        ...


class StoredPicture(Protocol):
    """A picture that is kept. read: (start, end) → the pieces of that part."""

    @property
    def filename(self) -> str:
        """The name of the file."""
        ...

    @property
    def mime_type(self) -> str:
        """What it is, by its content."""
        ...

    @property
    def size(self) -> int:
        """In bytes."""
        ...

    @property
    def read(self) -> Callable[[int, int], AsyncIterator[bytes]]:
        """Reads a part of it."""
        ...


class PictureFiles(Protocol):
    """Gives access to the pictures of an owner's files."""

    async def picture(self, owner_id: str, resource_id: str, chunk_id: str | None = None) -> StoredPicture:
        """A file that is a picture, or the picture that this chunk of it describes; `InvalidInput` where there is none, `NotFound`."""
        ...


class Tables(Protocol):
    """Gives access to the Parquet copies of data files. Each has the column `_row`: the row number that a person sees."""

    async def list_tables(self, owner_id: str, scope: Scope) -> Sequence[TableInfo]:
        """All tables in scope."""
        ...

    async def open_table(self, owner_id: str, table: TableInfo) -> Path:
        """A local Parquet file with the table's rows; `NotFound` when it is not the owner's."""
        ...


class AnswerReader(Protocol):
    """Marks the words that answer a question."""

    async def read(self, question: str, statements: Sequence[StatementRead]) -> list[AnswerSpan]:
        """The most probable answer in each statement, in the order given."""
        ...


class MessageModel(Protocol):
    """Says what messages want."""

    async def read(self, message: str, before: str = "") -> MessageRead:
        """before: what was asked before it in the thread, if anything. Takes 5 ms of CPU."""
        ...


class TableReader(Protocol):
    """Says what a question means of a table."""

    def read(self, question: str, numbers: Sequence[tuple[int, int]], table: ShownTable) -> TableRead:
        """numbers: where the question names numbers and times, from and up to which character. Takes 20 ms; call it in a thread."""
        ...
