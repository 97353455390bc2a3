"""Citewell as a Python library: the same services, in this process, behind plain function calls."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Coroutine, Iterable, Iterator, Mapping
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


class _Call(Protocol):
    """Runs work on the library's loop and waits for its result."""

    def __call__(self, work: Coroutine[Any, Any, T]) -> T: ...


class AnswerStream(Iterator[str]):
    """An answer as it comes: its pieces of text, then `answer`, the whole of it with its citations.

    Leaving the `with` block stops what is still under way. `thread_id` is what a follow-up names.
    """

    def __init__(self, turn: Turn, call: _Call) -> None:
        self.thread_id = turn.thread.id
        self._events = turn.events
        self._call = call
        self._answer: Answer | None = None
        self._is_over = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __next__(self) -> str:
        """The next piece; raises the error that the answer ended with."""
        while not self._is_over:
            event = self._call(self._next())
            if isinstance(event, TextDelta):
                return event.text
            if isinstance(event, Done):
                self._answer = event.answer
            if event is None or isinstance(event, Done | Failed):
                self.close()
            if isinstance(event, Failed):
                raise from_code(event.code, event.message, event.details)
            if event is None:
                raise CitewellError("The stream closed before the answer was complete.")
        raise StopIteration

    @property
    def answer(self) -> Answer:
        """The whole answer; raises `InvalidInput` before its end."""
        if self._answer is None:
            raise InvalidInput("The answer has not come to its end. Read all of its pieces first.")
        return self._answer

    def close(self) -> None:
        """Stop the answer where it is; what was said stays in the thread. Calling it twice is harmless."""
        if not self._is_over:
            self._is_over = True
            self._call(self._events.aclose())

    async def _next(self) -> AgentEvent | None:
        return await anext(self._events, None)


class Citewell:
    """A data folder, open: `with Citewell("data") as cw: cw.add("report.pdf"); cw.ask("…")`.

    Everything runs on an event loop in a thread of its own, so calls may come from any thread. One process may hold a
    data folder at a time: `DataFolderBusy` when a server has it. Settings are given by name, as in `docs/configuration.md`.
    """

    def __init__(self, data: str | os.PathLike[str] | None = None, **settings: object) -> None:
        self._settings = load_settings(data=data, **settings)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="citewell", daemon=True)
        self._stack: AsyncExitStack | None = None
        self._opened: Services | None = None
        self._streams: WeakSet[AnswerStream] = WeakSet()

    def __enter__(self) -> Self:
        self._thread.start()
        try:
            self._opened = self._call(self._open())
        except BaseException:
            self._stop()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Finish what is being written and let the folder go; calling it twice is harmless."""
        if self._opened is not None:
            for stream in list(self._streams):
                stream.close()
            self._opened = None
            self._call(self._shut())
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
        options = UploadOptions(password=password)
        return self._call(self._add(Path(path), project, identifier, options, wait))

    def add_texts(self, records: Iterable[Mapping[str, Any]], *, project: str | None = None) -> RecordsAdded:
        """Index texts: dicts with `id`, `text`, optional `title`, `metadata`. Long ones are split; hits carry `record_id`."""
        services = self._services
        return self._call(services.resources.add_records(services.local_owner, list(records), project))

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
        return list(self._call(services.search.search(request)).hits)

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
        asked = self.stream(question, project=project, resource_ids=resource_ids, thread_id=thread_id, rerank=rerank)
        with asked as answer:
            for _ in answer:
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
    ) -> AnswerStream:
        """As `ask`, with the text as it comes: `with cw.stream("…") as answer: for piece in answer: print(piece, end="")`."""
        services = self._services
        request = ChatRequest(
            owner_id=services.local_owner,
            message=question,
            project=project,
            resource_ids=tuple(resource_ids) if resource_ids is not None else None,
            thread_id=thread_id,
            rerank=rerank,
        )
        stream = AnswerStream(self._call(services.chat.begin(request)), self._call)
        self._streams.add(stream)
        return stream

    def resources(self) -> Iterator[Resource]:
        """All resources, newest first."""
        services, cursor = self._services, None
        while True:
            page, cursor = self._call(services.resources.page(services.local_owner, ResourceFilter(), 200, cursor))
            yield from page
            if cursor is None:
                return

    def delete(self, resource_id: str) -> None:
        """Remove a resource and everything made of it."""
        services = self._services
        self._call(services.resources.delete(services.local_owner, resource_id))

    @property
    def _services(self) -> Services:
        if self._opened is None:
            raise InvalidInput("Open it first: `with Citewell(folder) as cw:`.")
        return self._opened

    async def _open(self) -> Services:
        stack = AsyncExitStack()
        services = await stack.enter_async_context(open_services(self._settings))
        self._stack = stack
        return services

    async def _shut(self) -> None:
        if self._stack is not None:
            await self._stack.aclose()

    def _stop(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _add(
        self, path: Path, project: str | None, identifier: str | None, options: UploadOptions, wait: bool
    ) -> Resource:
        services = self._services
        resource = await services.resources.add_file(
            services.local_owner, path, project=project, identifier=identifier, options=options
        )
        return await services.resources.wait(services.local_owner, resource.id) if wait else resource

    def _call(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()
