"""Citewell as tools for Claude: `search_user_files` and `analyze_image`, for any program that calls Anthropic's Messages API.

Search results are returned as `search_result` blocks, which Claude cites natively; `answer` turns these citations into Citewell's
and checks them. Blocks are plain JSON, so only the caller needs Anthropic's library.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar, cast

from citewell.adapters.anthropic_blocks import image_block, native_citations, search_result
from citewell.agent.citations.provenance import passage_text
from citewell.agent.turn.arguments import (
    allowed_instead,
    check_arguments,
    integer_argument,
    text_argument,
)
from citewell.agent.turn.pictures import SHOWS, SOURCE, read_picture, source_path
from citewell.agent.turn.user_files import (
    DEFAULT_TOP_K,
    EXCERPTS_ARE_DATA,
    MAX_TOP_K,
    SEARCH_USER_FILES,
    SEARCHES,
    file_conditions,
    threshold_argument,
)
from citewell.channels.citewell_server import AsyncCitewellServer as AsyncCitewellServer
from citewell.channels.citewell_server import CitewellServer as CitewellServer
from citewell.errors import CitewellError, Forbidden, InvalidInput, NotFound, Unauthorized, named
from citewell.filters.language import as_filters
from citewell.library import AsyncCitewell, Citewell
from citewell.ports import SourceBlock
from citewell.types import Answer, AnswerPiece, Hit, JsonObject, JsonValue
from citewell.types.json import sound, well_formed
from citewell.types.search_options import ScopeKeywords

if TYPE_CHECKING:
    from typing import Unpack

    from anthropic.types import ToolParam, ToolResultBlockParam

MAX_TITLE_CHARACTERS = 300

ANALYZE_IMAGE: JsonObject = {
    "type": "object",
    "properties": {
        "resource_id": {
            "type": "string",
            "description": "The source of a search result that describes a picture, or the id of an image file",
        }
    },
    "required": ["resource_id"],
}
_TOOLS: Mapping[str, tuple[str, JsonObject]] = {
    "search_user_files": (
        f"{SEARCHES} Returns relevant excerpts with source information. {EXCERPTS_ARE_DATA}",
        SEARCH_USER_FILES,
    ),
    "analyze_image": (
        SHOWS,
        ANALYZE_IMAGE,
    ),
}
Block: TypeAlias = dict[str, Any]
T = TypeVar("T")


class _Dumps(Protocol):
    """An object of the vendor's library that can be serialized as JSON."""

    def model_dump(self) -> dict[str, Any]: ...


class AsyncClaudeFiles:
    """The files of an open `AsyncCitewell` or `AsyncCitewellServer` as tools: give Claude `tools`, send back `results(reply)`, read `answer(reply)`.

    threshold: the lowest cosine between result and query, 0..1, unless a call sets it; None means as configured.
    Other arguments limit what both tools can see, as in `AsyncCitewell.search`: `project`, `resource_ids`, `conditions` and so on.
    """

    def __init__(
        self,
        citewell: AsyncCitewell | AsyncCitewellServer,
        *,
        threshold: float | None = None,
        **within: Unpack[ScopeKeywords],
    ) -> None:
        self._citewell = citewell
        self._threshold = threshold
        self._within = within

    @property
    def tools(self) -> list[ToolParam]:
        """The definitions, for `tools` of `messages.create`."""
        return tool_definitions()

    async def results(self, reply: object) -> list[ToolResultBlockParam]:
        """The content of the next message: a `tool_result` for each call to these tools. Calls to other tools are left to the caller.

        reply: a message, or its content. If a call is wrong, its result says why (`is_error`), for Claude to read.
        """
        return [await self.result(block) for block in _blocks(reply) if self._is_own(block)]

    async def result(self, call: object) -> ToolResultBlockParam:
        """The `tool_result` for one `tool_use` block. Raises `Unauthorized` and `Forbidden`, since only the program can fix its token."""
        block = _plain(call)
        answered: Block = {"type": "tool_result", "tool_use_id": block.get("id")}
        try:
            answered["content"] = await self._run(str(block.get("name")), block.get("input"))
        except (Unauthorized, Forbidden):
            raise
        except CitewellError as error:
            answered |= {"content": f"{error.message}{allowed_instead(error)}", "is_error": True}
        return cast("ToolResultBlockParam", answered)

    async def answer(self, reply: object, messages: Iterable[object] = ()) -> Answer:
        """The text of a reply with its native citations as `[n]`, each checked against its passage.

        messages: the conversation that was sent; if given, citations are also compared with the other passages.
        """
        pieces = [
            AnswerPiece(well_formed(str(block.get("text") or "")), tuple(_cited(block)))
            for block in _blocks(reply)
            if block.get("type") == "text"
        ]
        return await self._citewell.check(pieces, [one for message in messages for one in _seen(_blocks(message))])

    async def _run(self, name: str, given: object) -> list[Block]:
        if name not in _TOOLS:
            raise InvalidInput(f"There is no tool {named(name)}. Use one of: {', '.join(_TOOLS)}.")
        try:
            arguments = sound(cast(JsonValue, given), finite=False)
        except ValueError as error:
            raise InvalidInput(f"The arguments cannot be read: {error}") from error
        if not isinstance(arguments, Mapping):
            raise InvalidInput("The arguments must be a JSON object.")
        checked = cast(JsonObject, arguments)
        check_arguments(f"`{name}`", _TOOLS[name][1], checked)
        return await (self._search(checked) if name == "search_user_files" else self._picture(checked))

    async def _search(self, arguments: JsonObject) -> list[Block]:
        query = text_argument(arguments, "query")
        threshold = threshold_argument(arguments)
        narrowed = (*as_filters(self._within.get("conditions", ())), *file_conditions(arguments))
        within: ScopeKeywords = {**self._within, "conditions": narrowed, "ignore_inferred": True}
        found = await self._citewell.search_result(
            query,
            integer_argument(arguments, "top_k", DEFAULT_TOP_K, 1, MAX_TOP_K),
            vector_threshold=self._threshold if threshold is None else threshold,
            **within,
        )
        blocks = [search_result(_source_block(n, hit)) for n, hit in enumerate(found.hits, start=1)]
        if not blocks:
            optional = [f"`{name}`" for name in ("thread_id", "file_types", "threshold") if arguments.get(name)]
            hint = f" or search without {' and '.join(optional)}" if optional else ""
            return [_text(f"Nothing was found. Try other words{hint}.")]
        return [*blocks, *([_text(found.notice)] if found.notice else [])]

    async def _picture(self, arguments: JsonObject) -> list[Block]:
        wanted = text_argument(arguments, "resource_id")
        source = SOURCE.fullmatch(wanted)
        try:
            stored = await self._citewell.picture(*(source.groups() if source else (wanted,)), **self._within)
        except NotFound as error:
            raise NotFound(
                f"The user has no file or passage {named(wanted)}. Give the source of a search result."
            ) from error
        picture = await read_picture(stored)
        return [_text(f"Picture: {_line(stored.filename)}"), image_block(picture)]

    def _is_own(self, block: Block) -> bool:
        return block.get("type") == "tool_use" and block.get("name") in _TOOLS


class ClaudeFiles:
    """`AsyncClaudeFiles` with synchronous methods, for an open `Citewell` or a `CitewellServer`."""

    def __init__(
        self, citewell: Citewell | CitewellServer, *, threshold: float | None = None, **within: Unpack[ScopeKeywords]
    ) -> None:
        self._citewell = citewell
        self._over = partial(AsyncClaudeFiles, threshold=threshold, **within)

    @property
    def tools(self) -> list[ToolParam]:
        """The definitions, for `tools` of `messages.create`."""
        return tool_definitions()

    def results(self, reply: object) -> list[ToolResultBlockParam]:
        """A `tool_result` for each call to these tools, as `AsyncClaudeFiles.results`."""
        return self._run(lambda files: files.results(reply))

    def result(self, call: object) -> ToolResultBlockParam:
        """The `tool_result` for one `tool_use` block."""
        return self._run(lambda files: files.result(call))

    def answer(self, reply: object, messages: Iterable[object] = ()) -> Answer:
        """The text of a reply with its citations checked, as `AsyncClaudeFiles.answer`."""
        return self._run(lambda files: files.answer(reply, messages))

    def _run(self, work: Callable[[AsyncClaudeFiles], Coroutine[Any, Any, T]]) -> T:
        if isinstance(self._citewell, CitewellServer):
            return self._citewell.run(lambda server: work(self._over(server)))
        return self._citewell.run(lambda opened: work(self._over(opened)))


def tool_definitions() -> list[ToolParam]:
    """The tools as the Messages API takes them."""
    return [
        cast("ToolParam", {"name": name, "description": description, "input_schema": dict(schema)})
        for name, (description, schema) in _TOOLS.items()
    ]


def _source_block(n: int, hit: Hit) -> SourceBlock:
    return SourceBlock(n=n, title=_title(hit), source=source_path(hit), text=well_formed(passage_text(hit)))


def _title(hit: Hit) -> str:
    """`report.pdf (page 3)`; for a file without pages, the place as in Citewell's other labels."""
    place = hit.chunk.locator
    if place.page is None or place.sheet is not None or place.row is not None or place.slide is not None:
        return _line(place.label(hit.filename))
    pages = f"pages {place.pages[0]}-{place.pages[-1]}" if len(place.pages) > 1 else f"page {place.page}"
    return f"{_line(hit.filename)} ({pages})"


def _line(text: str) -> str:
    """The text on one line, cut to the length of a title, because file names are arbitrary."""
    return " ".join(well_formed(text)[:MAX_TITLE_CHARACTERS].split()) or "file"


def _text(text: str) -> Block:
    return {"type": "text", "text": text}


def _blocks(message: object) -> list[Block]:
    """The content of a message, or content given directly, as JSON; a text becomes one block."""
    content = message
    if not isinstance(message, str | list | tuple):
        content = _plain(message).get("content")
    if isinstance(content, str):
        return [_text(content)]
    return [_plain(one) for one in cast(Iterable[object], content)] if isinstance(content, Iterable) else []


def _plain(value: object) -> Block:
    """A block or message of the vendor's library as JSON; JSON is returned unchanged."""
    if isinstance(value, Mapping):
        return dict(cast(Mapping[str, Any], value))
    return cast(_Dumps, value).model_dump() if hasattr(value, "model_dump") else {}


def _cited(block: Block) -> Iterator[str]:
    """The ids of the chunks that a text block cites."""
    for citation in native_citations(block.get("citations")):
        yield from _chunk_id(citation.source)


def _seen(blocks: Iterable[Block]) -> Iterator[str]:
    """The ids of the chunks in the `search_result` blocks of a message."""
    for block in blocks:
        if block.get("type") == "search_result":
            yield from _chunk_id(str(block.get("source")))
        elif block.get("type") == "tool_result":
            yield from _seen(_blocks(cast(JsonValue, block.get("content"))))


def _chunk_id(source: str) -> Iterator[str]:
    named_by = SOURCE.fullmatch(source)
    if named_by:
        yield named_by[2]
