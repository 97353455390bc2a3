"""What an assistant may do: search, list, read and compute. No tool has a parameter for the owner; it comes from the turn's request."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import cast

from citewell.agent.citations.provenance import provenance_words
from citewell.agent.interface import Library, Searcher, Source, Tables
from citewell.agent.tables.query.typed import MAX_ROWS, Comparator, DatePart, Function, TextValue, parse_query
from citewell.agent.tables.run.engine import TableEngine, find_table, table_key, table_name
from citewell.agent.tables.run.results import result_text, row_hits
from citewell.agent.turn.arguments import (
    allowed_instead,
    check_arguments,
    integer_argument,
    text_argument,
    texts_argument,
)
from citewell.agent.turn.state import ToolResult, TurnState
from citewell.errors import (
    Conflict,
    DamagedFile,
    InvalidInput,
    NotFound,
    UnreadableCopy,
    named,
)
from citewell.filters import FIELDS, PASSAGE_FIELDS, parse_filters
from citewell.points import keyword
from citewell.ports import ToolCall, ToolSpec
from citewell.types import ChunkType, JsonObject, JsonValue, Operator, Scope, SearchRequest, SelfQuery, TableInfo
from citewell.types.json import sound

MAX_TOP_K = 30
MAX_READ = 12_000

Handler = Callable[[TurnState, ToolCall], Awaitable[ToolResult]]


class Toolbox:
    """Runs tool calls within the scope of a turn. Wrong arguments come back as a text that says what is wrong."""

    def __init__(self, searcher: Searcher, library: Library | None = None, tables: Tables | None = None) -> None:
        self._searcher = searcher
        self._library = library
        self._tables = tables
        self._tools: dict[str, tuple[ToolSpec, Handler]] = {"search_files": (SEARCH_FILES, self._search_files)}
        if library is not None:
            self._tools["list_resources"] = (LIST_RESOURCES, self._list_resources)
            self._tools["read_resource"] = (READ_RESOURCE, self._read_resource)
        if tables is not None:
            self._engine = TableEngine(tables)
            self._tools["query_table"] = (QUERY_TABLE, self._query_table)

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        """The tools as a model sees them."""
        return tuple(spec for spec, _ in self._tools.values())

    async def run(self, turn: TurnState, call: ToolCall) -> ToolResult:
        """The result of one call."""
        if call.name not in self._tools:
            known = ", ".join(self._tools)
            return ToolResult(call, f"There is no tool {named(call.name)}. Use one of: {known}.", failed=True)
        spec, handler = self._tools[call.name]
        try:
            sent = sound(dict(call.arguments), finite=False)
        except ValueError as error:
            return ToolResult(call, f"That does not work: {error}", failed=True)
        call = replace(call, arguments=cast(JsonObject, sent))
        try:
            check_arguments(f"`{spec.name}`", spec.parameters, call.arguments)
            return await handler(turn, call)
        except (InvalidInput, NotFound, Conflict, DamagedFile, UnreadableCopy) as error:
            return ToolResult(call, f"That does not work: {error.message}{allowed_instead(error)}", failed=True)

    async def tables(self, turn: TurnState) -> Sequence[TableInfo]:
        """The tables in the scope of the turn."""
        if self._tables is None:
            return ()
        return await self._tables.list_tables(turn.request.owner_id, turn.request.scope)

    async def _search_files(self, turn: TurnState, call: ToolCall) -> ToolResult:
        arguments = call.arguments
        query = text_argument(arguments, "query")
        request = SearchRequest(
            owner_id=turn.request.owner_id,
            query=query,
            top_k=integer_argument(arguments, "top_k", turn.request.top_k, 1, MAX_TOP_K),
            scope=turn.request.scope,
            projects=texts_argument(arguments, "projects"),
            resource_ids=texts_argument(arguments, "resource_ids"),
            types=_types(arguments),
            conditions=parse_filters(arguments.get("filters")),
            rerank=turn.request.rerank,
            rerank_limits=turn.request.rerank_limits,
            self_query=None if query in (turn.question, *turn.queries) else SelfQuery.OFF,
            ignore_inferred=turn.request.ignore_inferred,
            time_zone=turn.request.time_zone,
            indexes=turn.request.indexes,
            debug=turn.request.debug,
        )
        turn.searches += 1
        with turn.timed("search"):
            result = await self._searcher.search(request)
        if result.notice is not None:
            turn.notices[result.notice] = None
        for one in result.inferred:
            turn.inferred.setdefault(one.id, one)
        if query == turn.question and result.semantic and any(one.applied for one in result.inferred):
            turn.reduced = result.semantic
        sources = turn.book.add(result.hits)
        if turn.request.debug:
            turn.append("searches", _search_details(request, sources, result.trace.timings_ms, result.trace.details))
        found = f"{len(sources)} passages found." if sources else "Nothing was found."
        if within := "; ".join(one.label for one in result.inferred if one.applied):
            found += f" Searched within what the question asks for: {within}."
        return ToolResult(call, found, sources)

    async def _query_table(self, turn: TurnState, call: ToolCall) -> ToolResult:
        query = parse_query({name: value for name, value in call.arguments.items() if name != "filters"})
        scope = await self._scope(turn, call)
        assert self._tables is not None
        table = find_table(await self._tables.list_tables(turn.request.owner_id, scope), query.source)
        with turn.timed("query_table"):
            result = await self._engine.run(turn.request.owner_id, table, query)
        sources = turn.book.add(row_hits(turn.request.owner_id, result))
        text = f"{table_name(table)}, all {table.rows:,} rows read:\n{result_text(result, [s.n for s in sources])}"
        return ToolResult(call, text, sources, result)

    async def _list_resources(self, turn: TurnState, call: ToolCall) -> ToolResult:
        assert self._library is not None
        owner_id, scope = turn.request.owner_id, await self._scope(turn, call)
        resources = await self._library.list_resources(owner_id, scope)
        lines = [
            f"{r.filename} (id {r.id}, {r.category}, {r.status}, {r.pages} pages, {r.characters} characters)"
            + (f"; {said}" if (said := provenance_words(r.provenance)) else "")
            + (f": {r.note}" if r.note else "")
            for r in resources
        ]
        if self._tables is not None:
            lines += [_table_line(table) for table in await self._tables.list_tables(owner_id, scope)]
        return ToolResult(call, "\n".join(lines) or "There are no files.")

    async def _scope(self, turn: TurnState, call: ToolCall) -> Scope:
        """The scope of the turn, narrowed by the filters of the call."""
        filters, scope = parse_filters(call.arguments.get("filters")), turn.request.scope
        if not filters:
            return scope
        if self._library is None:
            raise InvalidInput(f"`{call.name}` takes no filters here.")
        return await self._library.narrowed(turn.request.owner_id, scope, filters)

    async def _read_resource(self, turn: TurnState, call: ToolCall) -> ToolResult:
        assert self._library is not None
        request, arguments = turn.request, call.arguments
        wanted = text_argument(arguments, "resource_id")
        inside = await self._library.list_resources(request.owner_id, request.scope)
        found = [r.id for r in inside if wanted == r.id or keyword(wanted) == keyword(r.provenance.identifier or "")]
        if len(found) != 1:
            problem = (
                "Several files have this identifier; give an id."
                if found
                else "No such file is in the scope of this question."
            )
            raise InvalidInput(problem)
        first = integer_argument(arguments, "first", 1, 1, 10**9)
        last = integer_argument(arguments, "last", first, first, first + 50)
        elements = await self._library.read_resource(request.owner_id, found[0], first, last)
        text = "\n".join(element.text for element in elements)
        shown = text[:MAX_READ] + ("\n[cut here]" if len(text) > MAX_READ else "")
        return ToolResult(call, shown or "Nothing stands there.")


def _search_details(
    request: SearchRequest, sources: tuple[Source, ...], timings: Mapping[str, float], details: Mapping[str, JsonValue]
) -> JsonObject:
    hits: list[JsonValue] = [
        {
            "n": s.n,
            "chunk_id": s.hit.chunk.id,
            "place": s.hit.chunk.locator.label(s.hit.filename),
            "text": s.hit.chunk.text,
            "score": round(s.hit.score, 4),
            "scores": s.hit.scores.to_json(),
        }
        for s in sources
    ]
    return {"query": request.query, "hits": hits, "timings_ms": dict(timings), "details": dict(details)}


def _table_line(table: TableInfo) -> str:
    columns = ", ".join(f"{column.name} ({column.kind})" for column in table.columns)
    return f"Table {table_key(table)} ({table_name(table)}): {table.rows:,} rows; columns: {columns}"


def _types(arguments: JsonObject) -> tuple[ChunkType, ...] | None:
    names = texts_argument(arguments, "types")
    if names is None:
        return None
    known = {kind.value for kind in ChunkType}
    if unknown := [name for name in names if name not in known]:
        raise InvalidInput(f"`types` may hold {', '.join(sorted(known))}; not {', '.join(unknown)}.")
    return tuple(ChunkType(name) for name in names)


_FILTERS = (
    'All of these must hold: {"field", "operator", "value"}, or a group {"all": [...]}, {"any": [...]} or {"not": {...}}. Fields: '
    f"{', '.join(sorted(FIELDS))}, and metadata.<key>. Operators: {', '.join(operator.value for operator in Operator)}; dates as 2025-01-31."
)
_FILE_FILTERS = f"Only files that satisfy these, as in `search_files`, but not by {', '.join(sorted(PASSAGE_FIELDS))}"
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
            "resource_ids": {
                "type": "array",
                "items": {"type": "string"},
                "description": "Only these files, by id or identifier",
            },
            "projects": {
                "type": "array",
                "items": {"type": "string"},
                "description": "Only files of these projects, by id or name",
            },
            "filters": {"type": "array", "items": {"type": "object"}, "description": _FILTERS},
            "top_k": {"type": "integer", "minimum": 1, "maximum": MAX_TOP_K},
        },
        "required": ["query"],
        "additionalProperties": False,
    },
)
LIST_RESOURCES = ToolSpec(
    "list_resources",
    "Lists the user's files in scope, in every state, with what could not be read.",
    {
        "type": "object",
        "properties": {"filters": {"type": "array", "items": {"type": "object"}, "description": _FILE_FILTERS}},
        "additionalProperties": False,
    },
)
READ_RESOURCE = ToolSpec(
    "read_resource",
    "Reads pages, slides or rows of one file.",
    {
        "type": "object",
        "properties": {
            "resource_id": {"type": "string", "description": "Its id or identifier"},
            "first": {"type": "integer", "minimum": 1, "description": "First page, slide or row"},
            "last": {"type": "integer", "minimum": 1, "description": "Last page, slide or row"},
        },
        "required": ["resource_id"],
        "additionalProperties": False,
    },
)
QUERY_TABLE = ToolSpec(
    "query_table",
    "Computes over all rows of a table (count, sum, average, highest, filters, groups); use it for every figure from data files. "
    "Returns values and the rows they come from; cite them as [n]. The user sees values by group as a chart.",
    {
        "type": "object",
        "properties": {
            "source": {"type": "string", "description": "The table, as list_resources names it"},
            "filters": {"type": "array", "items": {"type": "object"}, "description": _FILE_FILTERS},
            "columns": {
                "type": "array",
                "items": {"type": "string"},
                "description": "Columns to return, without aggregates",
            },
            "conditions": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "column": {"type": "string"},
                        "part": {"type": "string", "enum": [part.value for part in (*DatePart, *TextValue)]},
                        "comparison": {"type": "string", "enum": [comparison.value for comparison in Comparator]},
                        "value": {
                            "description": "A text, number or true/false; a list for in and not_in; dates as 2025-01-31"
                        },
                    },
                    "required": ["column", "comparison"],
                    "additionalProperties": False,
                },
            },
            "groups": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "column": {"type": "string"},
                        "part": {"type": "string", "enum": [part.value for part in (*DatePart, *TextValue)]},
                        "bin": {
                            "type": "number",
                            "description": "Width of the ranges that numbers are grouped into, for a histogram",
                        },
                    },
                    "required": ["column"],
                    "additionalProperties": False,
                },
            },
            "aggregates": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "function": {"type": "string", "enum": [function.value for function in Function]},
                        "column": {"type": "string"},
                        "part": {"type": "string", "enum": [part.value for part in TextValue]},
                    },
                    "required": ["function"],
                    "additionalProperties": False,
                },
            },
            "order": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "by": {"type": "string", "description": "A column, or an aggregate such as sum(Amount)"},
                        "descending": {"type": "boolean"},
                        "part": {"type": "string", "enum": [part.value for part in TextValue]},
                    },
                    "required": ["by"],
                    "additionalProperties": False,
                },
            },
            "limit": {"type": "integer", "minimum": 1, "maximum": MAX_ROWS},
        },
        "required": ["source"],
        "additionalProperties": False,
    },
)


def search_call(query: str, **arguments: JsonValue) -> ToolCall:
    """A call of `search_files`, as the path without a model makes it."""
    return replace(ToolCall("search", "search_files", {}), arguments={"query": query, **arguments})
