"""A client for a running Citewell server: search, pictures and citation checks over HTTP, with an address and a token."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar, cast
from urllib.parse import quote, unquote

import httpx

from citewell.client import call, fetch
from citewell.errors import InvalidInput, Unavailable
from citewell.features.citations.schemas import MAX_SEEN_IDS
from citewell.features.turns import projects_named
from citewell.filters.language import as_filters, to_json
from citewell.types import Answer, AnswerPiece, Chunk, ChunkType, Citation, Hit, Locator, Provenance, Scores

if TYPE_CHECKING:
    from typing import Unpack

    from citewell.types.search_options import ScopeKeywords, SearchKeywords

T = TypeVar("T")
_TIMEOUT = httpx.Timeout(120.0, connect=5.0)
_PASSED_ON = ("project", "rerank", "time_zone", "vector_threshold")


@dataclass(frozen=True, slots=True)
class FoundPassages:
    """The hits of a search, best first, and any warning (`notice`)."""

    hits: tuple[Hit, ...]
    notice: str | None


@dataclass(frozen=True, slots=True)
class ServedPicture:
    """A picture that a server sent."""

    filename: str
    mime_type: str
    data: bytes

    @property
    def size(self) -> int:
        """The size in bytes."""
        return len(self.data)

    async def read(self, start: int, end: int) -> AsyncIterator[bytes]:
        """The bytes from `start` up to `end`."""
        yield self.data[start:end]


class AsyncCitewellServer:
    """The files of a token's owner on a running server.

    url:     the server's address, such as `http://127.0.0.1:8000`
    token:   from `citewell token`, or created in Settings
    project: the id of a project to limit requests to; it may be shared with you
    """

    def __init__(self, url: str, token: str, *, project: str | None = None) -> None:
        self._headers = {"Authorization": f"Bearer {token}"}
        if project is not None:
            self._headers["X-Citewell-Project"] = project
        if not all(value.isascii() and value.isprintable() for value in self._headers.values()):
            raise InvalidInput(
                "The token or the project's id contains characters that neither can have. Copy it again."
            )
        self._url = url
        self._tls = ssl.create_default_context()

    async def search_result(
        self, query: str, top_k: int | None = None, **wishes: Unpack[SearchKeywords]
    ) -> FoundPassages:
        """Search, as `AsyncCitewell.search_result` does. Raises the server's error, or `Unavailable` if it does not respond."""
        given = cast(dict[str, Any], wishes)
        body = {"query": query, "top_k": top_k} | {name: given.get(name) for name in _PASSED_ON}
        for name in ("projects", "resource_ids", "types", "indexes"):
            body[name] = None if given.get(name) is None else list(given[name])
        ignored = wishes.get("ignore_inferred", False)
        body["ignore_inferred"] = ignored if isinstance(ignored, bool) else list(ignored)
        body["filters"] = [to_json(one) for one in as_filters(wishes.get("conditions", ()))]
        if limits := wishes.get("rerank_limits"):
            body["rerank_candidates"], body["rerank_top_n"] = limits.candidates, limits.top_n
            body["rerank_threshold"] = limits.threshold
        found = await self._post("/search", {name: value for name, value in body.items() if value is not None})
        return _read(lambda: FoundPassages(tuple(map(_hit, found["hits"])), found.get("notice")))

    async def check(self, pieces: Iterable[AnswerPiece], seen: Iterable[str] = ()) -> Answer:
        """An answer with its citations checked, as `AsyncCitewell.check` does."""
        body = {
            "pieces": [{"text": one.text, "chunk_ids": list(dict.fromkeys(one.chunk_ids))} for one in pieces],
            "seen": list(dict.fromkeys(seen))[-MAX_SEEN_IDS:],
        }
        checked = await self._post("/citations/check", body)
        return _read(
            lambda: Answer(
                text=checked["answer"],
                citations=tuple(map(Citation.from_json, checked["citations"])),
                intent="document_query",
                answered=checked["answered"],
                trace={"removed_citations": checked["removed_citations"]},
                confidence=checked["confidence"],
            )
        )

    async def picture(
        self, resource: str, chunk_id: str | None = None, **within: Unpack[ScopeKeywords]
    ) -> ServedPicture:
        """A picture of the size and format that models take, as `AsyncCitewell.picture`. Raises the server's error, or `Unavailable`."""
        project, named = within.get("project"), within.get("resource_ids")
        filters = [to_json(one) for one in as_filters(within.get("conditions", ()))]
        body = {"chunk_id": chunk_id, "projects": projects_named(project, within.get("projects")), "filters": filters}
        body["resource_ids"] = None if named is None else list(named)
        path = f"/resources/{quote(resource, safe='')}/picture"
        async with self._asking() as client:
            found = await fetch(client, "POST", path, json=body, params={"in_project": project} if project else {})
        name = found.headers.get("content-disposition", "").partition("filename*=UTF-8''")[2]
        return ServedPicture(unquote(name), found.headers.get("content-type", ""), found.content)

    async def _post(self, path: str, body: dict[str, Any]) -> Any:
        async with self._asking() as client:
            return await call(client, "POST", path, json=body)

    @asynccontextmanager
    async def _asking(self) -> AsyncGenerator[httpx.AsyncClient]:
        try:
            async with httpx.AsyncClient(
                base_url=self._url, headers=self._headers, timeout=_TIMEOUT, verify=self._tls
            ) as client:
                yield client
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise Unavailable(
                f"{self._url} does not answer. Check the address, and that the server is running."
            ) from error
        except ValueError as error:
            raise _no_citewell() from error


class CitewellServer:
    """`AsyncCitewellServer` with synchronous methods."""

    def __init__(self, url: str, token: str, *, project: str | None = None) -> None:
        self._server = AsyncCitewellServer(url, token, project=project)

    def run(self, work: Callable[[AsyncCitewellServer], Coroutine[Any, Any, T]]) -> T:
        """Run a coroutine in a thread, since a notebook already runs an event loop, and return its result."""
        with ThreadPoolExecutor(1) as thread:
            return thread.submit(asyncio.run, work(self._server)).result()


def _hit(data: dict[str, Any]) -> Hit:
    chunk = Chunk(
        id=data["chunk_id"],
        owner_id="",
        resource_id=data["resource_id"],
        version=0,  # a search reports neither the version nor the chunk's position
        ordinal=0,
        type=ChunkType(data["type"]),
        text=data["text"],
        locator=Locator.from_json(data["locator"]),
    )
    return Hit(
        chunk=chunk,
        filename=data["filename"],
        score=data["score"],
        scores=Scores(),
        provenance=Provenance.from_json(data),
    )


def _read(read: Callable[[], T]) -> T:
    try:
        return read()
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise _no_citewell() from error


def _no_citewell() -> Unavailable:
    return Unavailable("The server answers, but not as Citewell does. Check its address and version.")
