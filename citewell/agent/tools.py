"""What an assistant may do: search, list and read. No tool has a parameter for the owner; it comes from the turn's request."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace

from citewell.agent.context import TurnContext
from citewell.agent.dependencies import Library, Searcher
from citewell.agent.turns import Source
from citewell.errors import InvalidInput
from citewell.ports import ToolCall, ToolSpec
from citewell.types import ChunkType, JsonObject, JsonValue, SearchRequest

MAX_TOP_K = 30
MAX_READ = 12_000


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a tool call found: a text for the model, and the passages it may cite."""

    call: ToolCall
    text: str
    sources: tuple[Source, ...] = ()


Handler = Callable[[TurnContext, JsonObject], Awaitable[tuple[str, tuple[Source, ...]]]]


class Toolbox:
    """Runs tool calls within the scope of a turn. Wrong arguments come back as a text that says what is wrong."""

    def __init__(self, searcher: Searcher, library: Library | None = None) -> None:
        self._searcher = searcher
        self._library = library
        self._tools: dict[str, tuple[ToolSpec, Handler]] = {"search_files": (SEARCH_FILES, self._search_files)}
        if library is not None:
            self._tools["list_resources"] = (LIST_RESOURCES, self._list_resources)
            self._tools["read_resource"] = (READ_RESOURCE, self._read_resource)

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        """The tools as a model sees them."""
        return tuple(spec for spec, _ in self._tools.values())

    async def run(self, context: TurnContext, call: ToolCall) -> ToolResult:
        """The result of one call."""
        if call.name not in self._tools:
            return ToolResult(call, f"There is no tool {call.name!r}. Use one of: {', '.join(self._tools)}.")
        try:
            text, sources = await self._tools[call.name][1](context, call.arguments)
        except InvalidInput as error:
            text, sources = f"The call was not understood: {error.message}", ()
        return ToolResult(call, text, sources)

    async def _search_files(self, context: TurnContext, arguments: JsonObject) -> tuple[str, tuple[Source, ...]]:
        query = _text(arguments, "query")
        scope = context.request.scope
        request = SearchRequest(
            owner_id=context.request.owner_id,
            query=query,
            top_k=_integer(arguments, "top_k", context.request.top_k, 1, MAX_TOP_K),
            project_id=scope.project_id,
            resource_ids=_within(scope.resource_ids, _texts(arguments, "resource_ids")),
            types=_types(arguments),
            debug=context.request.debug,
        )
        context.meter.searches += 1
        with context.timed("search"):
            result = await self._searcher.search(request)
        sources = context.book.add(result.hits)
        if context.request.debug:
            context.append("searches", _search_details(request, sources, result.trace.timings_ms, result.trace.details))
        found = f"{len(sources)} passages found." if sources else "Nothing was found."
        return found, sources

    async def _list_resources(self, context: TurnContext, arguments: JsonObject) -> tuple[str, tuple[Source, ...]]:
        assert self._library is not None
        resources = await self._library.list_resources(context.request.owner_id, context.request.scope)
        lines = [
            f"{r.filename} (id {r.id}, {r.category}, {r.status}, {r.pages} pages, {r.characters} characters)"
            + (f": {r.note}" if r.note else "")
            for r in resources
        ]
        return "\n".join(lines) or "There are no files.", ()

    async def _read_resource(self, context: TurnContext, arguments: JsonObject) -> tuple[str, tuple[Source, ...]]:
        assert self._library is not None
        request = context.request
        wanted = _text(arguments, "resource_id")
        allowed = {r.id for r in await self._library.list_resources(request.owner_id, request.scope)}
        if wanted not in allowed:
            raise InvalidInput("There is no such file in the scope of this question.")
        first = _integer(arguments, "first", 1, 1, 10**9)
        last = _integer(arguments, "last", first, first, first + 50)
        elements = await self._library.read_resource(request.owner_id, wanted, first, last)
        text = "\n".join(element.text for element in elements)
        return text[:MAX_READ] + ("\n[cut here]" if len(text) > MAX_READ else "") or "Nothing stands there.", ()


def _search_details(
    request: SearchRequest, sources: tuple[Source, ...], timings: Mapping[str, float], details: Mapping[str, JsonValue]
) -> JsonObject:
    hits: list[JsonValue] = [
        {
            "n": s.n,
            "chunk_id": s.hit.chunk.id,
            "place": s.hit.chunk.locator.label(s.hit.filename),
            "score": round(s.hit.score, 4),
            "scores": s.hit.scores.to_json(),
        }
        for s in sources
    ]
    return {"query": request.query, "hits": hits, "timings_ms": dict(timings), "details": dict(details)}


def _within(scope: tuple[str, ...] | None, wanted: tuple[str, ...] | None) -> tuple[str, ...] | None:
    """The wanted ids that the scope allows; an empty tuple (nothing) when it allows none of them."""
    if wanted is None or scope is None:
        return scope if wanted is None else wanted
    return tuple(resource for resource in wanted if resource in scope)


def _text(arguments: JsonObject, name: str) -> str:
    value = arguments.get(name)
    if not isinstance(value, str) or not value.strip():
        raise InvalidInput(f"`{name}` must be a text.")
    return value.strip()


def _texts(arguments: JsonObject, name: str) -> tuple[str, ...] | None:
    value = arguments.get(name)
    if value is None:
        return None
    if isinstance(value, str) or not isinstance(value, list | tuple) or not all(isinstance(v, str) for v in value):
        raise InvalidInput(f"`{name}` must be a list of texts.")
    return tuple(str(v) for v in value) or None


def _integer(arguments: JsonObject, name: str, default: int, low: int, high: int) -> int:
    value = arguments.get(name, default)
    if value is None:
        return default
    if isinstance(value, bool) or not isinstance(value, int | float) or int(value) != value:
        raise InvalidInput(f"`{name}` must be a whole number.")
    return min(max(int(value), low), high)


def _types(arguments: JsonObject) -> tuple[ChunkType, ...] | None:
    names = _texts(arguments, "types")
    if names is None:
        return None
    known = {kind.value for kind in ChunkType}
    if unknown := [name for name in names if name not in known]:
        raise InvalidInput(f"`types` may hold {', '.join(sorted(known))}; not {', '.join(unknown)}.")
    return tuple(ChunkType(name) for name in names)


SEARCH_FILES = ToolSpec(
    "search_files",
    "Finds passages in the user's files. Returns numbered passages; cite them as [n].",
    {
        "type": "object",
        "properties": {
            "query": {"type": "string", "description": "What to look for, in the words the files would use"},
            "types": {
                "type": "array",
                "items": {"type": "string", "enum": [kind.value for kind in ChunkType]},
                "description": "Only these kinds of passage",
            },
            "resource_ids": {"type": "array", "items": {"type": "string"}, "description": "Only these files"},
            "top_k": {"type": "integer", "minimum": 1, "maximum": MAX_TOP_K},
        },
        "required": ["query"],
        "additionalProperties": False,
    },
)
LIST_RESOURCES = ToolSpec(
    "list_resources",
    "Lists the user's files in scope, in every state, with what could not be read.",
    {"type": "object", "properties": {}, "additionalProperties": False},
)
READ_RESOURCE = ToolSpec(
    "read_resource",
    "Reads pages, slides or rows of one file.",
    {
        "type": "object",
        "properties": {
            "resource_id": {"type": "string"},
            "first": {"type": "integer", "minimum": 1, "description": "First page, slide or row"},
            "last": {"type": "integer", "minimum": 1, "description": "Last page, slide or row"},
        },
        "required": ["resource_id"],
        "additionalProperties": False,
    },
)


def search_call(query: str, **arguments: JsonValue) -> ToolCall:
    """A call of `search_files`, as the path without a model makes it."""
    return replace(ToolCall("search", "search_files", {}), arguments={"query": query, **arguments})
