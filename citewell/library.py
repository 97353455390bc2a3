"""Citewell as a Python library: the same services, in this process, as coroutines (`AsyncCitewell`) or plain calls (`Citewell`)."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterable, Iterator, Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, Self, TypeVar
from weakref import WeakSet

from citewell.agent.interface import AgentEvent, Done, Failed, TextDelta
from citewell.composition import Services, open_services
from citewell.errors import CitewellError, InvalidInput, from_code
from citewell.features.chat.service import ChatRequest, Turn
from citewell.ingest.records import RecordsAdded
from citewell.settings import load_settings
from citewell.types import Answer, ChunkType, Condition, Hit, Resource, ResourceFilter, SearchRequest, UploadOptions

T = TypeVar("T")
_PAGE = 200


class AsyncAnswerStream(AsyncIterator[str]):
    """An answer as it comes: its pieces of text, then `answer`, the whole of it with its citations.

    The question is asked on entering the `async with` block (or with the first piece); leaving the block stops what is
    still under way. One task may read at a time.
    """

    def __init__(self, begin: Callable[[], Awaitable[Turn]]) -> None:
        self._begin = begin
        self._turn: Turn | None = None
        self._pending: asyncio.Task[AgentEvent | None] | None = None
        self._answer: Answer | None = None
        self._is_over = False

    async def __aenter__(self) -> Self:
        await self._begun()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def __anext__(self) -> str:
        """The next piece; raises the error that the answer ended with."""
        while not self._is_over:
            event = await self._next()
            if self._is_over:  # another task closed the stream
                break
            if isinstance(event, TextDelta):
                return event.text
            if isinstance(event, Done):
                self._answer = event.answer
            if event is None or isinstance(event, Done | Failed):
                await self.close()
            if isinstance(event, Failed):
                raise from_code(event.code, event.message, event.details)
            if event is None:
                raise CitewellError("The stream closed before the answer was complete. Ask again.")
        raise StopAsyncIteration

    @property
    def answer(self) -> Answer:
        """The whole answer; raises `InvalidInput` before its end."""
        if self._answer is None:
            raise InvalidInput("The answer is not complete yet. Iterate to its end first.")
        return self._answer

    @property
    def thread_id(self) -> str:
        """What a follow-up names; raises `InvalidInput` before the question is asked."""
        if self._turn is None:
            raise InvalidInput("The question has not been asked yet. Enter the stream first: `async with stream:`.")
        return self._turn.thread.id

    @property
    def is_over(self) -> bool:
        """Whether nothing more will come: the answer is complete, has failed, or was stopped."""
        return self._is_over

    async def close(self) -> None:
        """Stop the answer where it is; what was said stays in the thread. Calling it twice is harmless."""
        if self._is_over:
            return
        self._is_over = True
        if self._pending is not None:
            self._pending.cancel()
            await asyncio.gather(self._pending, return_exceptions=True)
        if self._turn is not None:
            await self._turn.events.aclose()

    async def _begun(self) -> Turn:
        if self._turn is None:
            self._turn = await self._begin()
        return self._turn

    async def _next(self) -> AgentEvent | None:
        """The next event, None at the end. It is awaited in a task of its own, which `close` may cancel without the reader's."""
        events = (await self._begun()).events

        async def event() -> AgentEvent | None:
            return await anext(events, None)

        self._pending = asyncio.create_task(event())
        try:
            return await self._pending
        except asyncio.CancelledError:
            reader = asyncio.current_task()
            if self._is_over and reader is not None and not reader.cancelling():
                return None
            raise


class AsyncCitewell:
    """A data folder, open: `async with AsyncCitewell("data") as cw: await cw.add("report.pdf"); await cw.ask("…")`.

    It belongs to the event loop that opened it, where any number of tasks may use it at once. One process may hold a data
    folder at a time: `DataFolderBusy` when a server has it. Settings are given by name, as in `docs/configuration.md`.
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
        """Stop the answers under way, finish what is being written and let the folder go; calling it twice is harmless."""
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
        password: str | None = None,
        wait: bool = True,
    ) -> Resource:
        """Add a file and (unless `wait` is False) wait for its terminal state, which may be FAILED or PARTIAL: see `status`."""
        services = self._services
        resource = await services.resources.add_file(
            services.local_owner,
            Path(path),
            project=project,
            identifier=identifier,
            options=UploadOptions(password=password),
        )
        return await services.resources.wait(services.local_owner, resource.id) if wait else resource

    async def add_texts(self, records: Iterable[Mapping[str, Any]], *, project: str | None = None) -> RecordsAdded:
        """Index texts: dicts with `id`, `text`, optional `title`, `metadata`. Long ones are split; hits carry `record_id`."""
        services = self._services
        return await services.resources.add_records(services.local_owner, list(records), project)

    async def search(
        self,
        query: str,
        top_k: int | None = None,
        *,
        project: str | None = None,
        resource_ids: Iterable[str] | None = None,
        types: Iterable[ChunkType] | None = None,
        conditions: Iterable[Condition] = (),
        rerank: bool | None = None,
    ) -> list[Hit]:
        """Passages, best first, as many as `CITEWELL_TOP_K` says unless told; `conditions` narrow by file name, page and the like (`citewell.retrieve.filters.FIELDS`)."""
        services = self._services
        request = SearchRequest(
            owner_id=services.local_owner,
            query=query,
            top_k=services.search.top_k if top_k is None else top_k,
            project_id=project,
            resource_ids=tuple(resource_ids) if resource_ids is not None else None,
            types=tuple(types) if types is not None else None,
            conditions=tuple(conditions),
            rerank=rerank,
        )
        return list((await services.search.search(request)).hits)

    async def ask(
        self,
        question: str,
        *,
        project: str | None = None,
        resource_ids: Iterable[str] | None = None,
        thread_id: str | None = None,
        rerank: bool | None = None,
    ) -> Answer:
        """An answer with checked citations; `rerank` says whether the reranker orders what its searches find.

        A follow-up names the `thread_id` of the answer before it. Raises `ProviderError` when a provider fails.
        """
        asked = self.stream(question, project=project, resource_ids=resource_ids, thread_id=thread_id, rerank=rerank)
        async with asked as answer:
            async for _ in answer:
                pass
            return answer.answer

    def stream(
        self,
        question: str,
        *,
        project: str | None = None,
        resource_ids: Iterable[str] | None = None,
        thread_id: str | None = None,
        rerank: bool | None = None,
    ) -> AsyncAnswerStream:
        """As `ask`, with the text as it comes: `async with cw.stream("…") as answer: async for piece in answer: print(piece, end="")`."""
        services = self._services
        request = ChatRequest(
            owner_id=services.local_owner,
            message=question,
            project=project,
            resource_ids=tuple(resource_ids) if resource_ids is not None else None,
            thread_id=thread_id,
            rerank=rerank,
        )
        stream = AsyncAnswerStream(lambda: services.chat.begin(request))
        self._streams.add(stream)
        return stream

    async def resources(self) -> AsyncIterator[Resource]:
        """All resources, newest first."""
        cursor = None
        while True:
            page, cursor = await self._page(cursor)
            for resource in page:
                yield resource
            if cursor is None:
                return

    async def delete(self, resource_id: str) -> None:
        """Remove a resource and everything made of it."""
        services = self._services
        await services.resources.delete(services.local_owner, resource_id)

    @property
    def _services(self) -> Services:
        if self._opened is None:
            raise InvalidInput(
                "Open it first: `with Citewell(folder) as cw:` or `async with AsyncCitewell(folder) as cw:`."
            )
        return self._opened

    async def _page(self, cursor: str | None) -> tuple[list[Resource], str | None]:
        services = self._services
        return await services.resources.page(services.local_owner, ResourceFilter(), _PAGE, cursor)


class _Call(Protocol):
    """Runs work on the library's loop and waits for its result."""

    def __call__(self, work: Coroutine[Any, Any, T]) -> T: ...


class AnswerStream(Iterator[str]):
    """An answer as it comes: its pieces of text, then `answer`, the whole of it with its citations.

    Leaving the `with` block stops what is still under way. `thread_id` is what a follow-up names.
    """

    def __init__(self, stream: AsyncAnswerStream, call: _Call) -> None:
        self.thread_id = stream.thread_id
        self._stream = stream
        self._call = call

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __next__(self) -> str:
        """The next piece; raises the error that the answer ended with."""
        piece = None if self._stream.is_over else self._call(self._piece())
        if piece is None:
            raise StopIteration
        return piece

    @property
    def answer(self) -> Answer:
        """The whole answer; raises `InvalidInput` before its end."""
        return self._stream.answer

    def close(self) -> None:
        """Stop the answer where it is; what was said stays in the thread. Calling it twice is harmless."""
        if not self._stream.is_over:
            self._call(self._stream.close())

    async def _piece(self) -> str | None:
        return await anext(self._stream, None)


class Citewell:
    """A data folder, open: `with Citewell("data") as cw: cw.add("report.pdf"); cw.ask("…")`.

    `AsyncCitewell` on an event loop in a thread of its own, so calls may come from any thread. One process may hold a
    data folder at a time: `DataFolderBusy` when a server has it. Settings are given by name, as in `docs/configuration.md`.
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
        """Stop the answers under way, finish what is being written and let the folder go; calling it twice is harmless."""
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
        password: str | None = None,
        wait: bool = True,
    ) -> Resource:
        """Add a file and (unless `wait` is False) wait for its terminal state, which may be FAILED or PARTIAL: see `status`."""
        return self._call(
            self._citewell.add(path, project=project, identifier=identifier, password=password, wait=wait)
        )

    def add_texts(self, records: Iterable[Mapping[str, Any]], *, project: str | None = None) -> RecordsAdded:
        """Index texts: dicts with `id`, `text`, optional `title`, `metadata`. Long ones are split; hits carry `record_id`."""
        return self._call(self._citewell.add_texts(list(records), project=project))

    def search(
        self,
        query: str,
        top_k: int | None = None,
        *,
        project: str | None = None,
        resource_ids: Iterable[str] | None = None,
        types: Iterable[ChunkType] | None = None,
        conditions: Iterable[Condition] = (),
        rerank: bool | None = None,
    ) -> list[Hit]:
        """Passages, best first, as many as `CITEWELL_TOP_K` says unless told; `conditions` narrow by file name, page and the like (`citewell.retrieve.filters.FIELDS`)."""
        return self._call(
            self._citewell.search(
                query,
                top_k,
                project=project,
                resource_ids=resource_ids,
                types=types,
                conditions=conditions,
                rerank=rerank,
            )
        )

    def ask(
        self,
        question: str,
        *,
        project: str | None = None,
        resource_ids: Iterable[str] | None = None,
        thread_id: str | None = None,
        rerank: bool | None = None,
    ) -> Answer:
        """An answer with checked citations; `rerank` says whether the reranker orders what its searches find.

        A follow-up names the `thread_id` of the answer before it. Raises `ProviderError` when a provider fails.
        """
        return self._call(
            self._citewell.ask(question, project=project, resource_ids=resource_ids, thread_id=thread_id, rerank=rerank)
        )

    def stream(
        self,
        question: str,
        *,
        project: str | None = None,
        resource_ids: Iterable[str] | None = None,
        thread_id: str | None = None,
        rerank: bool | None = None,
    ) -> AnswerStream:
        """As `ask`, with the text as it comes: `with cw.stream("…") as answer: for piece in answer: print(piece, end="")`."""
        stream = self._citewell.stream(
            question, project=project, resource_ids=resource_ids, thread_id=thread_id, rerank=rerank
        )
        return AnswerStream(self._call(stream.__aenter__()), self._call)

    def resources(self) -> Iterator[Resource]:
        """All resources, newest first."""
        cursor = None
        while True:
            page, cursor = self._call(self._citewell._page(cursor))  # pyright: ignore[reportPrivateUsage]
            yield from page
            if cursor is None:
                return

    def delete(self, resource_id: str) -> None:
        """Remove a resource and everything made of it."""
        self._call(self._citewell.delete(resource_id))

    @property
    def _services(self) -> Services:
        return self._citewell._services  # pyright: ignore[reportPrivateUsage]

    def _call(self, work: Coroutine[Any, Any, T]) -> T:
        """Run work on the loop; an interruption of this thread (Ctrl-C) stops the work too."""
        if not self._thread.is_alive():
            work.close()
            raise InvalidInput("The data folder is not open. Open it with: `with Citewell(folder) as cw:`.")
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    def _stop(self) -> None:
        """End the loop as `asyncio.run` would: nothing of it is left for the garbage collector to complain of."""
        self._call(self._loop.shutdown_asyncgens())
        self._call(self._loop.shutdown_default_executor())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
