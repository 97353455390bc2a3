"""Citewell as a Python library, in-process: coroutines (`AsyncCitewell`) or plain calls (`Citewell`)."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Iterator, Mapping
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar, Unpack
from weakref import WeakSet

from citewell.composition import Services, open_services
from citewell.errors import InvalidInput
from citewell.features.chat.answer_streams import AnswerStream, AsyncAnswerStream
from citewell.features.chat.service import ChatRequest
from citewell.features.owner_data.service import ErasureReceipt
from citewell.features.resources.handed_out import StoredBytes
from citewell.features.resources.said import said_in_python
from citewell.features.turns import projects_named
from citewell.filters.language import as_filters
from citewell.ingest.records import RecordsAdded
from citewell.settings import load_settings
from citewell.types import (
    Answer,
    AnswerPiece,
    AskedOptions,
    Facets,
    FoundPictures,
    Hit,
    OriginalPicture,
    Reindex,
    Resource,
    ResourceFilter,
    SearchRequest,
    SearchResult,
)
from citewell.types.search_options import (
    AskKeywords,
    Filters,
    PictureKeywords,
    ScopeKeywords,
    SearchKeywords,
    options_of,
    require_known,
)

T = TypeVar("T")
_PAGE = 200
_POLL_SECONDS = 0.2


class AsyncCitewell:
    """An open data folder: `async with AsyncCitewell("data") as cw: await cw.add("report.pdf"); await cw.ask("…")`.

    Use it only on the event loop that opened it; any number of tasks may share it. Only one process can hold a data folder:
    `DataFolderBusy` if another does. Keyword arguments are the settings in `docs/configuration.md`.
    """

    def __init__(self, data: str | os.PathLike[str] | None = None, **settings: object) -> None:
        self._settings = load_settings(data=data, **settings)
        self._stack: AsyncExitStack | None = None
        self._opened: Services | None = None
        self._streams: WeakSet[AsyncAnswerStream] = WeakSet()

    async def __aenter__(self) -> Self:
        stack = AsyncExitStack()
        self._opened = await stack.enter_async_context(open_services(self._settings))
        self._stack = stack
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Stop answers under way, finish pending writes and release the folder. Safe to call twice."""
        stack, self._stack = self._stack, None
        if stack is None:
            return
        for stream in list(self._streams):
            await stream.close()
        self._opened = None
        await stack.aclose()

    async def add(
        self,
        path: str | os.PathLike[str],
        *,
        project: str | None = None,
        identifier: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        thread: str | None = None,
        password: str | None = None,
        multimodal: bool | None = None,
        extract_tables: bool | None = None,
        extract_images: bool | None = None,
        chunking: Mapping[str, Any] | None = None,
        caption: str | None = None,
        expires_in_hours: float | None = None,
        wait: bool = True,
    ) -> Resource:
        """Add a file and, unless `wait` is False, wait for its final `status`, which may be FAILED or PARTIAL.

        A file that is already stored is read again only if the options ask for more than before. None leaves an option as it is; a
        new file gets tables and images, but no picture descriptions by a model.

        chunking: `strategy`, `size` and `overlap` for this file
        caption: text that belongs to the file; embedded together with a picture or video
        expires_in_hours: its lifetime, after which it is deleted; 0 for never, None for its project's or the server's
        metadata: values to filter by: texts, numbers, booleans, dates (`date`, `datetime` or ISO 8601) and lists of texts
        """
        services = self._services
        resource = await services.resources.add_file(
            services.local_owner,
            Path(path),
            project=project,
            said=said_in_python(metadata, identifier, thread, expires_in_hours),
            options=AskedOptions(
                multimodal=multimodal,
                extract_tables=extract_tables,
                extract_images=extract_images,
                password=password,
                chunking=None if chunking is None else dict(chunking),
                caption=caption,
            ),
        )
        return await services.resources.wait(services.local_owner, resource.id) if wait else resource

    async def add_texts(self, records: Iterable[Mapping[str, Any]], *, project: str | None = None) -> RecordsAdded:
        """Index texts: dicts with `id`, `text`, and optionally `title` and `metadata`. Long texts are split; hits carry `record_id`."""
        services = self._services
        return await services.resources.add_records(services.local_owner, list(records), project)

    async def search(self, query: str, top_k: int | None = None, **wishes: Unpack[SearchKeywords]) -> list[Hit]:
        """Passages, best first: `top_k` of them, or `CITEWELL_TOP_K`. `conditions` filter by metadata, file name, page and so on."""
        return list((await self.search_result(query, top_k, **wishes)).hits)

    async def search_result(
        self, query: str, top_k: int | None = None, **wishes: Unpack[SearchKeywords]
    ) -> SearchResult:
        """Like `search`, with the filters inferred from the query (`inferred`) and any warning (`notice`)."""
        require_known(wishes, SearchKeywords, "search")
        services = self._services
        resource_ids, types = wishes.get("resource_ids"), wishes.get("types")
        request = SearchRequest(
            owner_id=services.local_owner,
            query=query,
            top_k=services.search.top_k if top_k is None else top_k,
            projects=projects_named(wishes.get("project"), wishes.get("projects")),
            resource_ids=tuple(resource_ids) if resource_ids is not None else None,
            types=tuple(types) if types is not None else None,
            conditions=as_filters(wishes.get("conditions", ())),
            options=replace(options_of(wishes), vector_threshold=wishes.get("vector_threshold")),
        )
        return await services.search.search_for(services.local_owner, request)

    async def search_pictures(self, query: str | None = None, **wishes: Unpack[PictureKeywords]) -> FoundPictures:
        """Pictures by the words in and around them (`query`), or like an `example`: a file, or a picture that was found before."""
        require_known(wishes, PictureKeywords, "search_pictures")
        example, services, ids = wishes.get("example"), self._services, wishes.get("resource_ids")
        if (query is None) == (example is None):
            raise InvalidInput("Give either `query` or `example`.")
        request = SearchRequest(
            owner_id=services.local_owner,
            query=query or "",
            top_k=wishes.get("top_k") or services.search.top_k,
            projects=projects_named(wishes.get("project"), None),
            resource_ids=tuple(ids) if ids is not None else None,
            conditions=as_filters(wishes.get("conditions", ())),
        )
        if example is None:
            return await services.pictures.with_words(services.local_owner, request)
        if isinstance(example, OriginalPicture):
            return await services.pictures.like_stored(request, example.resource_id, example.blob)
        return await services.pictures.like_file(services.local_owner, request, Path(example), Path(example).name)

    async def ask(self, question: str, **wishes: Unpack[AskKeywords]) -> Answer:
        """Answer a question with checked citations, from the files that match `conditions`.

        To ask a follow-up, pass the previous answer's `thread_id`. `rerank` turns the reranker on or off; `rerank_limits` sets how many
        passages it sees and keeps. `ignore_inferred` and `time_zone` work as in `search`; the answer's `inferred_filters` are the filters
        read from the question. Raises `ProviderError` if a provider fails.
        """
        async with self.stream(question, **wishes) as answer:
            async for _ in answer:
                pass
            return answer.answer

    def stream(self, question: str, **wishes: Unpack[AskKeywords]) -> AsyncAnswerStream:
        """Like `ask`, with the text as it arrives: `async with cw.stream("…") as answer: async for piece in answer: print(piece, end="")`."""
        require_known(wishes, AskKeywords, "ask")
        services = self._services
        resource_ids = wishes.get("resource_ids")
        request = ChatRequest(
            owner_id=services.local_owner,
            message=question,
            projects=projects_named(wishes.get("project"), wishes.get("projects")),
            resource_ids=tuple(resource_ids) if resource_ids is not None else None,
            filters=as_filters(wishes.get("conditions", ())),
            thread_id=wishes.get("thread_id"),
            options=options_of(wishes),
            repeats=wishes.get("repeat", False),
        )
        stream = AsyncAnswerStream(lambda: services.chat.begin(request))
        self._streams.add(stream)
        return stream

    async def resources(self, conditions: Filters = ()) -> AsyncIterator[Resource]:
        """All resources that match `conditions`, newest first."""
        cursor, narrowed = None, ResourceFilter(conditions=as_filters(conditions))
        while True:
            page, cursor = await self._page(narrowed, cursor)
            for resource in page:
                yield resource
            if cursor is None:
                return

    async def facets(self, *, project: str | None = None, conditions: Filters = (), values: int = 20) -> Facets:
        """What you can filter resources by: each field they have, its most frequent values, and their counts."""
        services = self._services
        narrowed = ResourceFilter(conditions=as_filters(conditions))
        return await services.resources.facets(services.local_owner, narrowed, project, values=values)

    async def describe(
        self,
        resource: str,
        *,
        metadata: Mapping[str, Any] | None = None,
        identifier: str | None = None,
        thread: str | None = None,
    ) -> Resource:
        """Change a file's metadata, identifier or thread. A metadata key set to None is removed. Nothing is embedded again."""
        services = self._services
        resource_id = await services.resources.resolve(services.local_owner, resource)
        said = said_in_python(metadata, identifier, thread)
        return await services.resources.describe(services.local_owner, resource_id, said)

    async def reindex(
        self, *, project: str | None = None, failed: bool = False, read_again: bool = False, wait: bool = True
    ) -> Reindex:
        """Chunk and embed files again: all, those of a project, or (`failed`) those that are FAILED or PARTIAL.

        Unchanged texts are not embedded again. A run interrupted by closing the folder continues when it is opened again.

        read_again: also read the original files again
        """
        services = self._services
        owner = services.local_owner
        run = await services.reindexing.begin(owner, project, failed=failed, read_again=read_again)
        while wait and run.waiting:
            await asyncio.sleep(_POLL_SECONDS)
            run = await services.reindexing.repository.run(owner, run.id)
        return run

    async def picture(self, resource: str, chunk_id: str | None = None, **within: Unpack[ScopeKeywords]) -> StoredBytes:
        """The picture that a file is, or the one that a chunk of the file describes. Raises `InvalidInput` if there is none.

        within: projects, files and conditions, as in a search; `NotFound` for a file outside them
        """
        files, owner = self._services.resources, self._services.local_owner
        project, conditions = within.get("project"), as_filters(within.get("conditions", ()))
        resource_id = await files.resolve(owner, resource, project)
        projects = projects_named(project, within.get("projects"))
        await files.require_within(owner, resource_id, projects, within.get("resource_ids"), conditions)
        return await self._services.contents.picture(owner, resource_id, chunk_id)

    async def check(self, pieces: Iterable[AnswerPiece], seen: Iterable[str] = ()) -> Answer:
        """Check the citations of an answer that another program wrote from passages of `search`.

        pieces: the answer's text in parts, each with the ids of the chunks it cites
        seen: ids of the other chunks that its writer had
        """
        services = self._services
        return await services.citations.check(services.local_owner, list(pieces), list(seen))

    async def remember(self, on: bool = True) -> None:
        """Let earlier conversations be searched for answers, or end it. Off until then."""
        await self._services.memory.switch(self._services.local_owner, on)

    async def delete(self, resource: str) -> None:
        """Delete a resource, by id or identifier, and everything derived from it."""
        services = self._services
        resource_id = await services.resources.resolve(services.local_owner, resource)
        await services.resources.delete(services.local_owner, resource_id)

    async def export(self, archive: str | Path) -> None:
        """Export everything, including the original files, to a ZIP archive."""
        services = self._services
        with await asyncio.to_thread(Path(archive).open, "wb") as file:
            async for piece in services.owner_data.export(services.local_owner):
                await asyncio.to_thread(file.write, piece)

    async def erase(self, confirm: str) -> ErasureReceipt:
        """Erase everything, then check that nothing is left. Raises `InvalidInput` unless `confirm` is "erase everything"."""
        return await self._services.owner_data.erase(self._services.local_owner, confirm)

    @property
    def _services(self) -> Services:
        if self._opened is None:
            raise InvalidInput(
                "The data folder is not open. Open it with `with Citewell(folder) as cw:` or `async with AsyncCitewell(folder) as cw:`."
            )
        return self._opened

    async def _page(self, narrowed: ResourceFilter, cursor: str | None) -> tuple[list[Resource], str | None]:
        services = self._services
        return await services.resources.page(services.local_owner, narrowed, _PAGE, cursor)


class Citewell:
    """An open data folder: `with Citewell("data") as cw: cw.add("report.pdf"); cw.ask("…")`.

    It runs `AsyncCitewell` on its own thread, so you can call it from any thread. Only one process can hold a data folder:
    `DataFolderBusy` if another does. Keyword arguments are the settings in `docs/configuration.md`.
    """

    def __init__(self, data: str | os.PathLike[str] | None = None, **settings: object) -> None:
        self._citewell = AsyncCitewell(data, **settings)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="citewell", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        try:
            self._call(self._citewell.__aenter__())
        except BaseException:
            self._stop()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Stop answers under way, finish pending writes and release the folder. Safe to call twice."""
        if not self._thread.is_alive():
            return
        try:
            self._call(self._citewell.close())
        finally:
            self._stop()

    def add(
        self,
        path: str | os.PathLike[str],
        *,
        project: str | None = None,
        identifier: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        thread: str | None = None,
        password: str | None = None,
        multimodal: bool | None = None,
        extract_tables: bool | None = None,
        extract_images: bool | None = None,
        chunking: Mapping[str, Any] | None = None,
        caption: str | None = None,
        expires_in_hours: float | None = None,
        wait: bool = True,
    ) -> Resource:
        """Add a file and, unless `wait` is False, wait for its final `status`, which may be FAILED or PARTIAL.

        A file that is already stored is read again only if the options ask for more than before. None leaves an option as it is; a
        new file gets tables and images, but no picture descriptions by a model.

        chunking: `strategy`, `size` and `overlap` for this file
        caption: text that belongs to the file; embedded together with a picture or video
        expires_in_hours: its lifetime, after which it is deleted; 0 for never, None for its project's or the server's
        metadata: values to filter by: texts, numbers, booleans, dates (`date`, `datetime` or ISO 8601) and lists of texts
        """
        return self._call(
            self._citewell.add(
                path,
                project=project,
                identifier=identifier,
                metadata=metadata,
                thread=thread,
                password=password,
                multimodal=multimodal,
                extract_tables=extract_tables,
                extract_images=extract_images,
                chunking=chunking,
                caption=caption,
                expires_in_hours=expires_in_hours,
                wait=wait,
            )
        )

    def add_texts(self, records: Iterable[Mapping[str, Any]], *, project: str | None = None) -> RecordsAdded:
        """Index texts: dicts with `id`, `text`, and optionally `title` and `metadata`. Long texts are split; hits carry `record_id`."""
        return self._call(self._citewell.add_texts(list(records), project=project))

    def search(self, query: str, top_k: int | None = None, **wishes: Unpack[SearchKeywords]) -> list[Hit]:
        """Passages, best first: `top_k` of them, or `CITEWELL_TOP_K`. `conditions` filter by metadata, file name, page and so on."""
        return self._call(self._citewell.search(query, top_k, **wishes))

    def search_result(self, query: str, top_k: int | None = None, **wishes: Unpack[SearchKeywords]) -> SearchResult:
        """Like `search`, with the filters inferred from the query (`inferred`) and any warning (`notice`)."""
        return self._call(self._citewell.search_result(query, top_k, **wishes))

    def search_pictures(self, query: str | None = None, **wishes: Unpack[PictureKeywords]) -> FoundPictures:
        """Pictures by words, or like an `example`, as `AsyncCitewell.search_pictures`."""
        return self._call(self._citewell.search_pictures(query, **wishes))

    def ask(self, question: str, **wishes: Unpack[AskKeywords]) -> Answer:
        """Answer a question with checked citations, as `AsyncCitewell.ask`. Raises `ProviderError` if a provider fails."""
        return self._call(self._citewell.ask(question, **wishes))

    def stream(self, question: str, **wishes: Unpack[AskKeywords]) -> AnswerStream:
        """Like `ask`, with the text as it arrives: `with cw.stream("…") as answer: for piece in answer: print(piece, end="")`."""
        stream = self._citewell.stream(question, **wishes)
        return AnswerStream(self._call(stream.__aenter__()), self._call)

    def resources(self, conditions: Filters = ()) -> Iterator[Resource]:
        """All resources that match `conditions`, newest first."""
        cursor, narrowed = None, ResourceFilter(conditions=as_filters(conditions))
        while True:
            page, cursor = self._call(self._citewell._page(narrowed, cursor))  # pyright: ignore[reportPrivateUsage]
            yield from page
            if cursor is None:
                return

    def facets(self, *, project: str | None = None, conditions: Filters = (), values: int = 20) -> Facets:
        """What you can filter resources by: each field they have, its most frequent values, and their counts."""
        return self._call(self._citewell.facets(project=project, conditions=conditions, values=values))

    def describe(
        self,
        resource: str,
        *,
        metadata: Mapping[str, Any] | None = None,
        identifier: str | None = None,
        thread: str | None = None,
    ) -> Resource:
        """Change a file's metadata, identifier or thread. A metadata key set to None is removed. Nothing is embedded again."""
        return self._call(self._citewell.describe(resource, metadata=metadata, identifier=identifier, thread=thread))

    def reindex(
        self, *, project: str | None = None, failed: bool = False, read_again: bool = False, wait: bool = True
    ) -> Reindex:
        """Chunk and embed files again: all, those of a project, or (`failed`) those that are FAILED or PARTIAL. See `AsyncCitewell.reindex`."""
        return self._call(self._citewell.reindex(project=project, failed=failed, read_again=read_again, wait=wait))

    def picture(self, resource: str, chunk_id: str | None = None, **within: Unpack[ScopeKeywords]) -> StoredBytes:
        """The picture that a file is, or the one that a chunk of the file describes. See `AsyncCitewell.picture`."""
        return self._call(self._citewell.picture(resource, chunk_id, **within))

    def check(self, pieces: Iterable[AnswerPiece], seen: Iterable[str] = ()) -> Answer:
        """Check the citations of an answer that another program wrote from passages of `search`. See `AsyncCitewell.check`."""
        return self._call(self._citewell.check(pieces, seen))

    def run(self, work: Callable[[AsyncCitewell], Coroutine[Any, Any, T]]) -> T:
        """Run a coroutine written for `AsyncCitewell` on the inner instance and its loop, and return its result."""
        return self._call(work(self._citewell))

    def remember(self, on: bool = True) -> None:
        """See `AsyncCitewell.remember`."""
        self._call(self._citewell.remember(on))

    def delete(self, resource: str) -> None:
        """Delete a resource, by id or identifier, and everything derived from it."""
        self._call(self._citewell.delete(resource))

    def export(self, archive: str | Path) -> None:
        """Export everything, including the original files, to a ZIP archive."""
        self._call(self._citewell.export(archive))

    def erase(self, confirm: str) -> ErasureReceipt:
        """Erase everything, then check that nothing is left. Raises `InvalidInput` unless `confirm` is "erase everything"."""
        return self._call(self._citewell.erase(confirm))

    @property
    def _services(self) -> Services:
        return self._citewell._services  # pyright: ignore[reportPrivateUsage]

    def _call(self, work: Coroutine[Any, Any, T]) -> T:
        """Run work on the loop. Interrupting this thread (Ctrl-C) also cancels the work."""
        if not self._thread.is_alive():
            work.close()
            raise InvalidInput("The data folder is not open. Open it with `with Citewell(folder) as cw:`.")
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    def _stop(self) -> None:
        """Shut the loop down as `asyncio.run` would, so that nothing is left for the garbage collector to warn about."""
        self._call(self._loop.shutdown_asyncgens())
        self._call(self._loop.shutdown_default_executor())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
