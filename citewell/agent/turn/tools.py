"""What an assistant may do: search, list, read and compute. No tool has a parameter for the owner; it comes from the turn's request."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import cast

from citewell.agent.citations.provenance import provenance_words
from citewell.agent.interface import Library, PictureFiles, Searcher, Source, WholeFiles
from citewell.agent.tables.language.shape import Shape
from citewell.agent.tables.picture.moments import in_order_of_time
from citewell.agent.tables.planner import Planned
from citewell.agent.tables.query.typed import parse_query
from citewell.agent.tables.run.engine import (
    TableEngine,
    UnusableTable,
    faults_of,
    find_table,
    table_key,
    table_name,
)
from citewell.agent.tables.run.results import result_text, row_hits
from citewell.agent.turn.arguments import (
    allowed_instead,
    check_arguments,
    integer_argument,
    text_argument,
    texts_argument,
    understood,
)
from citewell.agent.turn.pictures import SOURCE, read_picture
from citewell.agent.turn.specs import (
    ANALYZE_IMAGE,
    ANALYZE_IMAGE_BY_PATH,
    LIST_RESOURCES,
    MAX_TOP_K,
    OF_THE_MODEL,
    QUERY_TABLE,
    READ_RESOURCE,
    SEARCH_FILES,
    SEARCH_USER_FILES,
    SHORT,
)
from citewell.agent.turn.state import ToolResult, TurnState
from citewell.agent.turn.user_files import DEFAULT_TOP_K, file_conditions, threshold_argument
from citewell.agent.turn.user_files import MAX_TOP_K as MOST_OF_USER_FILES
from citewell.errors import (
    Conflict,
    DamagedFile,
    InvalidInput,
    NotFound,
    named,
)
from citewell.filters.language import parse_filters
from citewell.ports import ToolCall, ToolSpec
from citewell.ports.points import keyword
from citewell.retrieve.context import with_the_rest
from citewell.retrieve.project_filters import seen_by
from citewell.types import (
    Category,
    ChunkType,
    Expression,
    Hit,
    JsonObject,
    JsonValue,
    ResourceInfo,
    Scope,
    Scores,
    SearchRequest,
    SelfQuery,
    StoredChunk,
    TableInfo,
)
from citewell.types.json import sound
from citewell.types.names import composed_name

MAX_READ = 12_000
MAX_PICTURES = 4
"""Shown for one answer. Each is sent again with every further call of the model."""
MAX_IMAGES_READ = 1_000
_GUESSED = frozenset({"thread_id", "file_types", "types", "threshold", "top_k"})
"""Arguments that narrow a search and that models fill in unasked."""
_NUMBER = re.compile(r"\[?\s*(\d{1,4})\s*\]?", re.ASCII)

Handler = Callable[[TurnState, ToolCall], Awaitable[ToolResult]]


class Toolbox:
    """Runs tool calls within the scope of a turn. Wrong arguments come back as a text that says what is wrong."""

    def __init__(
        self,
        searcher: Searcher,
        library: Library | None = None,
        engine: TableEngine | None = None,
        files: WholeFiles | None = None,
        pictures: PictureFiles | None = None,
    ) -> None:
        self._files = files
        self._pictures = pictures
        self._searcher = searcher
        self._library = library
        self._engine = engine
        self._tables = None if engine is None else engine.tables
        self._tools: dict[str, tuple[ToolSpec, Handler]] = {
            "search_files": (SEARCH_FILES, self._search_files),
            "search_user_files": (SEARCH_USER_FILES, self._search_user_files),
        }
        if library is not None:
            self._tools["list_resources"] = (LIST_RESOURCES, self._list_resources)
            self._tools["read_resource"] = (READ_RESOURCE, self._read_resource)
        if engine is not None:
            self._tools["query_table"] = (QUERY_TABLE, self._query_table)
        if library is not None and files is not None and pictures is not None:
            self._tools["analyze_image"] = (ANALYZE_IMAGE, self._analyze_image)

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        """The tools as MCP clients see them: passages have no numbers from one call to the next, and pictures are named by their path."""
        alike = tuple(spec for spec, _ in self._tools.values() if spec.name not in OF_THE_MODEL)
        return (*alike, ANALYZE_IMAGE_BY_PATH) if ANALYZE_IMAGE.name in self._tools else alike

    def model_specs(self, *, sees: bool = True, tables: bool = True) -> tuple[ToolSpec, ...]:
        """The tools as the agent's own model sees them, in short: the search is `search_user_files`.

        sees: whether it can be shown pictures; tables: whether there are any
        """
        hidden = {SEARCH_FILES.name}
        hidden |= set() if sees else {ANALYZE_IMAGE.name}
        hidden |= set() if tables else {QUERY_TABLE.name}
        return tuple(SHORT.get(name, spec) for name, (spec, _) in self._tools.items() if name not in hidden)

    async def run_for_model(self, turn: TurnState, call: ToolCall) -> ToolResult:
        """The result of a call by the agent's own model, whose arguments are understood where they can be. A search that what it was
        narrowed to leaves empty is made again without: small models fill in whatever they see."""
        if call.name in self._tools:
            call = replace(call, arguments=understood(self._tools[call.name][0].parameters, call.arguments))
        result = await self.run(turn, call)
        wide = {name: value for name, value in call.arguments.items() if name not in _GUESSED}
        if result.sources or call.name != SEARCH_USER_FILES.name or wide == call.arguments:
            return result
        return replace(await self.run(turn, replace(call, arguments=wide)), call=call)

    async def run(self, turn: TurnState, call: ToolCall) -> ToolResult:
        """The result of one call."""
        if call.name not in self._tools:
            known = ", ".join(spec.name for spec in self.model_specs())
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
        except (InvalidInput, NotFound, Conflict, DamagedFile) as error:
            return ToolResult(call, f"That does not work: {error.message}{allowed_instead(error)}", failed=True)

    async def tables(self, turn: TurnState) -> Sequence[TableInfo]:
        """The tables in the scope of the turn."""
        if self._tables is None:
            return ()
        return await self._tables.list_tables(turn.request.owner_id, turn.request.scope)

    async def _search_files(self, turn: TurnState, call: ToolCall) -> ToolResult:
        top_k = integer_argument(call.arguments, "top_k", turn.request.top_k, 1, MAX_TOP_K)
        return await self._search(turn, call, self._request(turn, call.arguments, top_k))

    async def _search_user_files(self, turn: TurnState, call: ToolCall) -> ToolResult:
        top_k = integer_argument(call.arguments, "top_k", DEFAULT_TOP_K, 1, MOST_OF_USER_FILES)
        request = self._request(turn, call.arguments, top_k)
        narrowed = replace(
            request,
            conditions=(*request.conditions, *file_conditions(call.arguments)),
            options=replace(request.options, vector_threshold=threshold_argument(call.arguments)),
        )
        return await self._search(turn, call, narrowed)

    def _request(self, turn: TurnState, arguments: JsonObject, top_k: int) -> SearchRequest:
        """What both searches take, within the scope of the turn."""
        query, projects = text_argument(arguments, "query"), texts_argument(arguments, "projects")
        options = turn.request.options
        return SearchRequest(
            owner_id=turn.request.owner_id,
            query=query,
            top_k=top_k,
            scope=turn.request.scope,
            projects=projects and turn.request.grant.narrowed(projects),
            resource_ids=texts_argument(arguments, "resource_ids"),
            types=_types(arguments),
            conditions=_filters(turn, arguments),
            options=options if query in (turn.question, *turn.queries) else replace(options, self_query=SelfQuery.OFF),
        )

    async def _search(self, turn: TurnState, call: ToolCall, request: SearchRequest) -> ToolResult:
        query = request.query
        turn.searches += 1
        with turn.timed("search"):
            result = await self._searcher.search(request)
        if result.notice is not None:
            turn.notices[result.notice] = None
        for one in result.inferred:
            turn.inferred.setdefault(one.id, one)
        if query == turn.question and result.semantic and any(one.applied for one in result.inferred):
            turn.reduced = result.semantic
        hits: Sequence[Hit] = result.hits
        is_narrowed = bool(request.conditions) or any(one.applied for one in result.inferred)  # to a page, maybe
        if self._files is not None and not is_narrowed:
            hits = await with_the_rest(request.owner_id, hits, self._files)
        sources = turn.book.add(hits)
        if turn.request.options.debug:
            turn.append("searches", _search_details(request, sources, result.trace.timings_ms, result.trace.details))
        counted = f"{len(sources)} passage{'s' if len(sources) > 1 else ''} found."
        found = counted if sources else "Nothing was found."
        if within := "; ".join(one.label for one in result.inferred if one.applied):
            found += f" Searched within what the question asks for: {within}."
        return ToolResult(call, found, sources)

    async def _query_table(self, turn: TurnState, call: ToolCall) -> ToolResult:
        query = parse_query({name: value for name, value in call.arguments.items() if name != "filters"})
        scope = await self._scope(turn, call)
        assert self._tables is not None
        assert self._engine is not None
        table = find_table(await self._tables.list_tables(turn.request.owner_id, scope), query.source)
        with turn.timed("query_table"):
            try:
                with faults_of(table, but=InvalidInput):
                    result = await self._engine.run(turn.request.owner_id, table, query)
                    if isinstance(turn.table_plan, Planned) and turn.table_plan.plan.shape is Shape.GROUPS:
                        result = in_order_of_time(result)
                    sources = turn.book.add(row_hits(turn.request.owner_id, result))
                    rows = result_text(result, [s.n for s in sources])
            except UnusableTable as error:
                turn.notices[error.notice] = None
                return ToolResult(call, f"That does not work: {error.reason}", failed=True)
        return ToolResult(call, f"{table_name(table)}, all {table.rows:,} rows read:\n{rows}", sources, result)

    async def _list_resources(self, turn: TurnState, call: ToolCall) -> ToolResult:
        assert self._library is not None
        owner_id, scope = turn.request.owner_id, await self._scope(turn, call)
        resources = await self._library.list_resources(owner_id, scope)
        lines = [
            f"{r.filename} (id {r.id}, {r.category}, {r.status}, {_units(r)}{r.characters} characters)"
            + (f"; {said}" if (said := provenance_words(r.provenance)) else "")
            + (f": {r.note}" if r.note else "")
            for r in resources
        ]
        if self._tables is not None:
            lines += [_table_line(table) for table in await self._tables.list_tables(owner_id, scope)]
        return ToolResult(call, "\n".join(lines) or "There are no files.")

    async def _scope(self, turn: TurnState, call: ToolCall) -> Scope:
        """The scope of the turn, narrowed by the filters of the call."""
        filters, scope = _filters(turn, call.arguments), turn.request.scope
        if not filters:
            return scope
        if self._library is None:
            raise InvalidInput(f"`{call.name}` takes no filters here.")
        return await self._library.narrowed(turn.request.owner_id, scope, filters)

    async def _read_resource(self, turn: TurnState, call: ToolCall) -> ToolResult:
        assert self._library is not None
        request, arguments = turn.request, call.arguments
        file = await self._file(turn, text_argument(arguments, "resource_id"))
        first = integer_argument(arguments, "first", 1, 1, 10**9)
        last = integer_argument(arguments, "last", first, first, first + 50)
        elements = await self._library.read_resource(request.owner_id, file.id, first, last)
        text = "\n".join(element.text for element in elements)
        shown = text[:MAX_READ] + ("\n[cut here]" if len(text) > MAX_READ else "")
        return ToolResult(call, shown or _unread(file))

    async def _file(self, turn: TurnState, wanted: str) -> ResourceInfo:
        """The file of this id or identifier in the scope of the turn."""
        assert self._library is not None
        inside = await self._library.list_resources(turn.request.owner_id, turn.request.scope)
        called = keyword(composed_name(wanted))
        found = [r for r in inside if wanted == r.id or called == keyword(composed_name(r.provenance.identifier or ""))]
        if len(found) != 1:
            problem = (
                "Several files have this identifier; give an id."
                if found
                else "No such file is in the scope of this question."
            )
            raise InvalidInput(problem)
        return found[0]

    async def _analyze_image(self, turn: TurnState, call: ToolCall) -> ToolResult:
        assert self._pictures is not None
        if sum(len(result.images) for result in turn.results) >= MAX_PICTURES:
            raise InvalidInput(f"{MAX_PICTURES} pictures have been shown, which is all that one answer may use.")
        passage, is_file = await self._pictured(turn, text_argument(call.arguments, "resource_id"))
        chunk = passage.chunk
        with turn.timed("tools"):
            stored = await self._pictures.picture(
                turn.request.owner_id, chunk.resource_id, None if is_file else chunk.id
            )
            image = await read_picture(stored)
        hit = Hit(
            chunk=chunk,
            filename=passage.filename,
            score=0.0,
            scores=Scores(),
            provenance=passage.provenance,
            picture=passage.picture,
        )
        (source,) = turn.book.add([hit])
        turn.seen.add(source.n)
        text = f"The picture of [{source.n}], {chunk.locator.label(passage.filename)}, is shown. Cite what you see in it as [{source.n}]."
        return ToolResult(call, text, (source,), images=(image,))

    async def _pictured(self, turn: TurnState, wanted: str) -> tuple[StoredChunk, bool]:
        """The passage that stands for the picture, and whether the picture is the whole file.

        It is named by the number of a passage found (of its picture, or else the first on its page), or by a file's id.
        """
        number = _NUMBER.fullmatch(wanted)
        path = SOURCE.fullmatch(wanted)
        hit = None
        if number is not None:
            hit = next((source.hit for source in turn.book.sources if source.n == int(number[1])), None)
            if hit is None:
                raise InvalidInput(
                    f"No passage [{number[1]}] was found in this turn. Search first, or give its path, such as resources/…/chunks/…."
                )
        file = await self._file(turn, hit.chunk.resource_id if hit else path[1] if path else wanted)
        is_file = file.category == Category.IMAGE
        if hit is not None and (is_file or hit.picture is not None):
            return StoredChunk(hit.chunk, hit.filename, hit.provenance, hit.picture), is_file
        if is_file:
            return await self._passage_of(turn, file), True
        pictures = [one for one in await self._passages(turn, file, (ChunkType.IMAGE,), MAX_IMAGES_READ) if one.picture]
        if hit is not None:
            place = hit.chunk.locator.place()
            pictures = [one for one in pictures if place and one.chunk.locator.place() == place]
        elif path is not None:
            pictures = [one for one in pictures if one.chunk.id == path[2]]
        else:
            raise InvalidInput(
                f"{file.filename} is not a picture. Give the number of a passage beside one, or that describes one."
            )
        if not pictures:
            raise InvalidInput(f"No picture is kept of this place in {file.filename}. Answer from the passages.")
        return pictures[0], False

    async def _passage_of(self, turn: TurnState, file: ResourceInfo) -> StoredChunk:
        """The passage that a picture is cited by."""
        found = await self._passages(turn, file, (ChunkType.IMAGE,), 1) or await self._passages(
            turn, file, tuple(ChunkType), 1
        )
        if not found:
            raise InvalidInput(f"{file.filename} is not indexed yet, so nothing seen in it could be cited.")
        return found[0]

    async def _passages(
        self, turn: TurnState, file: ResourceInfo, types: Sequence[ChunkType], most: int
    ) -> Sequence[StoredChunk]:
        assert self._files is not None
        return await self._files.passages(turn.request.owner_id, file.id, types, most)


def _filters(turn: TurnState, arguments: JsonObject) -> tuple[Expression, ...]:
    """The filters of a call, those on projects about the ones that the asker is kept to."""
    return seen_by(turn.request.grant, parse_filters(arguments.get("filters")))


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


def _units(file: ResourceInfo) -> str:
    """How much of a file there is: `3 sheets, `; nothing for a file that has no smaller units."""
    if not file.pages or file.unit == "file":
        return ""
    return f"{file.pages} {file.unit}{'' if file.pages == 1 else 's'}, "


def _unread(file: ResourceInfo) -> str:
    """Why there is nothing to read at a place of a file."""
    if file.status in ("failed", "stored"):
        return f"Nothing of this file was read ({file.status}){f': {file.note}' if file.note else '.'}"
    if file.status in ("uploaded", "extracting"):
        return "This file has not been read yet. Try again in a moment."
    return "There is no text at this place."


def search_call(query: str, **arguments: JsonValue) -> ToolCall:
    """A call of `search_files`, as the path without a model makes it."""
    return replace(ToolCall("search", "search_files", {}), arguments={"query": query, **arguments})
