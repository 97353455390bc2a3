"""Connector for web pages: a site beneath an address, the pages of a sitemap, or the entries of an RSS or Atom feed."""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import io
import re
from collections.abc import AsyncGenerator, AsyncIterator, Collection, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO
from urllib.parse import unquote, urldefrag, urljoin, urlsplit
from urllib.robotparser import RobotFileParser

from citewell.composition.downloads import opened
from citewell.connectors.interface import SourceEntry
from citewell.connectors.pace import Pace
from citewell.errors import ConfigurationError, SourceProblem, Unavailable

if TYPE_CHECKING:
    import httpx
    from lxml import etree

AGENT = "Citewell"
MAX_PAGES = 10_000
"""Most pages of one source; more suggests a calendar or another trap."""
_PER_SECOND = 4.0
_MAX_DELAY = 30.0
_SECONDS = 30.0
_MAX_REDIRECTS = 5
_MAX_INDEX = 50 * 1024 * 1024
"""Bytes of a sitemap, which its standard limits to 50 MB, of a feed, and of a page that is searched for links."""
_MAX_URL = 1_000
_GONE = (404, 410)


@dataclass(frozen=True, slots=True, kw_only=True)
class WebAccess:
    """Where to begin. depth: how many links away from it; pages: at most; max_bytes: of one page."""

    url: str
    depth: int = 3
    pages: int = 500
    max_bytes: int = 512 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class _Page:
    """A page of the source. stamp: empty where it could not be looked at now; modified: as the site says"""

    stamp: str
    modified: str | None = None


@dataclass(slots=True)
class _Answer:
    """The response to a GET, after redirects; its body is read by the caller."""

    url: str
    response: httpx.Response

    @property
    def kind(self) -> str:
        """The media type."""
        return self.response.headers.get("content-type", "").partition(";")[0].strip().lower()


class WebSource:
    """Pages by their address. What robots.txt disallows, and what a page's robots tag says not to index, is left out."""

    kind = "web"

    def __init__(self, access: WebAccess, *, pace: Pace | None = None) -> None:
        parts = urlsplit(access.url)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.username is not None:
            raise ConfigurationError("Give an address that begins with https:// or http://, without a password in it.")
        if not 1 <= access.pages <= MAX_PAGES:
            raise ConfigurationError(f"--pages must be from 1 to {MAX_PAGES:,}.")
        self._access = access
        self._start = urldefrag(access.url)[0]
        self._known = f"{parts.scheme}://{parts.netloc}"
        self._pace = pace or Pace(_PER_SECOND)
        self._robots: dict[str, RobotFileParser] = {}
        self._found: dict[str, _Page] = {}

    async def present(self) -> Mapping[str, str]:
        """Addresses with stamps: what the sitemap or feed says of changes, else the page's ETag, date, or bytes."""
        await self._obey(self._start)
        async with self._get(self._start) as answer:
            if not answer.response.is_success:
                raise Unavailable(f"{self._start} answered {answer.response.status_code}. Nothing was deleted.")
            body = await _body(answer.response, _MAX_INDEX)
            listed, start = await asyncio.to_thread(_listed, body), answer.url
        if listed is None:
            self._found = await self._crawled(start)
        else:
            self._found = await self._looked_up(await self._expanded(listed))
        return {url: page.stamp for url, page in self._found.items()}

    async def read(self, since: str | None, keys: Collection[str]) -> AsyncIterator[SourceEntry]:
        """The pages with these addresses."""
        for url in keys:
            page = self._found[url]
            metadata = {"source_url": url[:512], **({"modified": page.modified} if page.modified else {})}
            yield SourceEntry(key=url, stamp=page.stamp, filename=_name(url), metadata=metadata)

    async def fetch(self, entry: SourceEntry, folder: Path) -> BinaryIO:
        """The page's bytes, under a name that ends as its type says."""
        target = folder / hashlib.sha256(entry.key.encode()).hexdigest()
        async with self._get(entry.key) as answer:
            if not answer.response.is_success:
                raise SourceProblem(f"The page answered {answer.response.status_code}.")
            size = 0
            with target.open("wb") as file:
                async for part in answer.response.aiter_bytes():
                    size += len(part)
                    if size > self._access.max_bytes:
                        raise SourceProblem(f"The page is larger than {self._access.max_bytes:,} bytes.")
                    await asyncio.to_thread(file.write, part)
        opened_file = await asyncio.to_thread(target.open, "rb")
        target.unlink()  # the bytes remain until the file is closed
        return opened_file

    def cursor(self) -> str | None:
        """None: every run looks at the whole source."""
        return None

    # ---- finding pages

    async def _crawled(self, start: str) -> dict[str, _Page]:
        """The page at the start and those beneath its address that it leads to."""
        path = urlsplit(start)._replace(query="").geturl()
        beneath = path[: path.rindex("/") + 1] if urlsplit(start).path else f"{path}/"
        found: dict[str, _Page] = {}
        seen, generation = {start}, [start]
        for depth in range(self._access.depth + 1):
            following: list[str] = []
            for url in generation:
                if len(found) >= self._access.pages:
                    return found
                page, links = await self._visited(url)
                if page is not None:
                    found[url] = page
                for link in links if depth < self._access.depth else ():
                    if link.startswith(beneath) and link not in seen and len(link) <= _MAX_URL:
                        seen.add(link)
                        following.append(link)
            generation = following
        return found

    async def _visited(self, url: str) -> tuple[_Page | None, list[str]]:
        """A page with its links; None if it is gone, or not to be kept. One that cannot be reached now stays as it was."""
        if not await self._allowed(url):
            return None, []
        try:
            async with self._get(url) as answer:
                if answer.response.status_code in _GONE:
                    return None, []
                if not answer.response.is_success:
                    return _Page(""), []
                body = await _body(answer.response, _MAX_INDEX)
                stamp = _validator(answer.response) or hashlib.sha256(body).hexdigest()
                if answer.kind not in ("text/html", "application/xhtml+xml"):
                    return _Page(_stamp(stamp)), []
                links, is_kept = await asyncio.to_thread(_links, body, answer.url)
                return (_Page(_stamp(stamp), answer.response.headers.get("last-modified")) if is_kept else None), links
        except (SourceProblem, Unavailable):
            return _Page(""), []

    async def _expanded(self, listed: _Listed) -> dict[str, str | None]:
        """The pages of a list, and of the sitemaps that it lists."""
        pages, waiting, seen = dict(listed.pages), list(listed.indexes), set[str]()
        while waiting and len(pages) < self._access.pages:
            url = waiting.pop(0)
            if url in seen or len(seen) >= MAX_PAGES:
                continue
            seen.add(url)
            async with self._get(url) as answer:
                if not answer.response.is_success:
                    raise Unavailable(f"{url} answered {answer.response.status_code}. Nothing was deleted.")
                inner = await asyncio.to_thread(_listed, await _body(answer.response, _MAX_INDEX))
            if inner is not None:
                pages |= inner.pages
                waiting += inner.indexes
        kept = [(urldefrag(urljoin(self._start, url))[0], at) for url, at in pages.items()]
        return dict([(url, at) for url, at in kept if len(url) <= _MAX_URL][: self._access.pages])

    async def _looked_up(self, pages: Mapping[str, str | None]) -> dict[str, _Page]:
        """The pages with their stamps. Only those of which the list does not say when they changed are visited."""
        found: dict[str, _Page] = {}
        for url, modified in pages.items():
            if modified is not None:
                if await self._allowed(url):
                    found[url] = _Page(_stamp(modified), modified)
                continue
            page, _ = await self._visited(url)
            if page is not None:
                found[url] = page
        return found

    # ---- requests

    async def _obey(self, url: str) -> None:
        if not await self._allowed(url):
            raise ConfigurationError(f"The site's robots.txt does not allow programs to read {url}.")

    async def _allowed(self, url: str) -> bool:
        """Whether robots.txt allows the page (RFC 9309); a host whose robots.txt cannot be read now is left alone."""
        parts = urlsplit(url)
        host = f"{parts.scheme}://{parts.netloc}"
        if host not in self._robots:
            rules = RobotFileParser()
            try:
                async with self._get(f"{host}/robots.txt") as answer:
                    status = answer.response.status_code
                    text = (await _body(answer.response, 512 * 1024)).decode("utf-8", "replace") if status < 300 else ""
            except (SourceProblem, Unavailable):
                status, text = 503, ""
            rules.parse(text.splitlines() if status < 500 else ["User-agent: *", "Disallow: /"])
            self._robots[host] = rules
            delay = rules.crawl_delay(AGENT)
            if delay and host == self._known:
                self._pace = Pace(1 / min(float(delay), _MAX_DELAY))
        return self._robots[host].can_fetch(AGENT, url)

    @asynccontextmanager
    async def _get(self, url: str) -> AsyncGenerator[_Answer]:
        """The response, after redirects. Each address is checked: only the one that was given may be inside the network."""
        import httpx

        asked = url
        for _ in range(_MAX_REDIRECTS):
            await self._pace()
            try:
                async with opened(
                    asked, known=self._known, seconds=_SECONDS, headers={"User-Agent": AGENT}
                ) as response:
                    if not response.is_redirect:
                        yield _Answer(asked, response)
                        return
                    asked = urldefrag(urljoin(asked, response.headers["location"]))[0]
            except httpx.HTTPError as error:
                raise Unavailable(f"{url} cannot be reached ({type(error).__name__}).") from error
        raise SourceProblem(f"{url} redirects more than {_MAX_REDIRECTS} times.")


@dataclass(slots=True)
class _Listed:
    """What a sitemap or feed lists: pages with the times of their changes, and other sitemaps."""

    pages: dict[str, str | None] = field(default_factory=dict[str, "str | None"])
    indexes: list[str] = field(default_factory=list[str])


async def _body(response: httpx.Response, most: int) -> bytes:
    body = io.BytesIO()
    async for part in response.aiter_bytes():
        body.write(part)
        if body.tell() > most:
            raise SourceProblem(f"The response is larger than {most:,} bytes.")
    return body.getvalue()


def _validator(response: httpx.Response) -> str | None:
    return response.headers.get("etag") or response.headers.get("last-modified")


def _stamp(text: str) -> str:
    """A stamp of a fixed length: no other stamp ends with it."""
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:32]


def _listed(body: bytes) -> _Listed | None:
    """The entries of a sitemap, a sitemap index, an RSS or an Atom feed; None for anything else."""
    from lxml import etree

    if body[:2] == b"\x1f\x8b":
        with gzip.GzipFile(fileobj=io.BytesIO(body)) as file:
            body = file.read(_MAX_INDEX + 1)
        if len(body) > _MAX_INDEX:
            raise SourceProblem(f"The sitemap is larger than {_MAX_INDEX:,} bytes.")
    try:
        root = etree.fromstring(body, etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=False))
    except etree.XMLSyntaxError:
        return None
    found = _Listed()
    match _tag(root):
        case "sitemapindex":
            found.indexes += [url for entry in root if (url := _text(entry, "loc"))]
        case "urlset":
            found.pages |= {url: _text(entry, "lastmod") for entry in root if (url := _text(entry, "loc"))}
        case "rss" | "RDF":
            found.pages |= {
                url: _text(entry, "pubDate") or _text(entry, "date")
                for entry in root.iter()
                if _tag(entry) == "item" and (url := _text(entry, "link"))
            }
        case "feed":
            found.pages |= {url: _text(entry, "updated") for entry in root if (url := _atom_link(entry))}
        case _:
            return None
    return found


def _tag(element: etree._Element) -> str:  # pyright: ignore[reportPrivateUsage]
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


def _text(entry: etree._Element, name: str) -> str | None:  # pyright: ignore[reportPrivateUsage]
    """The text of a child with this name."""
    return next((found.strip() for child in entry if _tag(child) == name and (found := child.text)), None) or None


def _atom_link(entry: etree._Element) -> str | None:  # pyright: ignore[reportPrivateUsage]
    if _tag(entry) != "entry":
        return None
    links = [child for child in entry if _tag(child) == "link" and child.get("rel", "alternate") == "alternate"]
    return next((str(link.get("href")) for link in links if link.get("href")), None)


def _links(body: bytes, base: str) -> tuple[list[str], bool]:
    """The addresses that a page leads to, and whether its robots tag lets it be kept."""
    from lxml import etree, html

    try:
        root = html.document_fromstring(body)
    except (etree.ParserError, ValueError):  # an empty page
        return [], True
    said = " ".join(
        str(one.get("content", ""))
        for one in root.iter("meta")
        if str(one.get("name", "")).lower() in ("robots", "citewell")
    )
    rules = set(re.split(r"[\s,]+", said.lower()))
    links = [] if rules & {"nofollow", "none"} else list(_hrefs(root, base))
    return links, not rules & {"noindex", "none"}


def _hrefs(root: etree._Element, base: str) -> Iterator[str]:  # pyright: ignore[reportPrivateUsage]
    for anchor in root.iter("a"):
        href = anchor.get("href")
        if href and "nofollow" not in str(anchor.get("rel", "")).split():
            try:
                yield urldefrag(urljoin(base, str(href).strip()))[0]
            except ValueError:  # not an address
                continue


def _name(url: str) -> str:
    """A file name for a page: the end of its address."""
    parts = urlsplit(url)
    last = unquote(parts.path.rstrip("/").rpartition("/")[2]) or parts.hostname or "page"
    name = re.sub(r"[^\w.\- ]+", "-", f"{last}-{parts.query}" if parts.query else last).strip("-. ")[:120]
    return name if re.search(r"\.[A-Za-z0-9]{1,5}$", name) and last != parts.hostname else f"{name}.html"
