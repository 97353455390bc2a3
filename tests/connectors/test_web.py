"""`citewell sync web`: a site, a sitemap and a feed on a server of this machine; what changed, what is gone, and what must not be read."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from citewell.client import call, connect
from citewell.connectors.engine import Synchroniser, SyncReport, SyncRequest
from citewell.connectors.pace import Pace
from citewell.connectors.web import WebAccess, WebSource
from citewell.errors import ConfigurationError, SourceProblem, Unavailable
from citewell.settings import load_settings

HTML = {"Content-Type": "text/html; charset=utf-8"}


@dataclass
class Site:
    """Pages by path: (status, headers, body)."""

    url: str = ""
    pages: dict[str, tuple[int, dict[str, str], bytes]] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    def page(self, path: str, body: str, *links: str, head: str = "") -> None:
        anchors = "".join(f'<a href="{link}">{link}</a> ' for link in links)
        html = (
            f"<html><head><title>{path}</title>{head}</head><body><h1>{path}</h1><p>{body}</p>{anchors}</body></html>"
        )
        self.pages[path] = (200, HTML, html.encode())

    def source(self, path: str = "/", **options: int) -> WebSource:
        return WebSource(WebAccess(url=self.url + path, **options), pace=Pace(10_000))

    async def found(self, path: str = "/", **options: int) -> set[str]:
        present = await self.source(path, **options).present()
        return {url.removeprefix(self.url) for url in present}


@pytest.fixture
def site() -> Iterator[Site]:
    made = Site()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            made.asked.append(self.path)
            status, headers, body = made.pages.get(self.path, (404, HTML, b"gone"))
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(body))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    made.url = f"http://127.0.0.1:{server.server_port}"
    yield made
    server.shutdown()
    server.server_close()


async def test_a_site_is_followed_beneath_its_address_and_no_further(site: Site) -> None:
    site.page(
        "/docs/", "Start", "rent.html", "/docs/deep/a.html#part", "/private.html", "https://example.org/", "mailto:x@y"
    )
    site.page("/docs/rent.html", "The rent is 900 euros.", "/docs/")
    site.page("/docs/deep/a.html", "A", "b.html")
    site.page("/docs/deep/b.html", "B")
    site.page("/private.html", "Not beneath.")
    assert await site.found("/docs/") == {"/docs/", "/docs/rent.html", "/docs/deep/a.html", "/docs/deep/b.html"}
    assert await site.found("/docs/", depth=1) == {"/docs/", "/docs/rent.html", "/docs/deep/a.html"}
    assert await site.found("/docs/", depth=0) == {"/docs/"}
    assert len(await site.found("/docs/", pages=2)) == 2


async def test_robots_and_robot_tags_are_obeyed(site: Site) -> None:
    site.pages["/robots.txt"] = (
        200,
        {},
        b"User-agent: *\nDisallow: /secret\n\nUser-agent: Citewell\nDisallow: /ours\n",
    )
    site.page("/", "Start", "/secret/a", "/ours/b", "/hidden", "/dead-end")
    for path in ("/secret/a", "/ours/b", "/behind"):
        site.page(path, "x")
    site.page("/hidden", "x", head='<meta name="robots" content="noindex">')
    site.page("/dead-end", "x", "/behind", head='<meta name="robots" content="nofollow">')
    assert await site.found() == {"/", "/secret/a", "/dead-end"}
    assert "/ours/b" not in site.asked
    with pytest.raises(ConfigurationError, match=r"robots\.txt"):
        await site.found("/ours/b")
    site.pages["/robots.txt"] = (500, {}, b"")  # unknown rules: nothing is read
    with pytest.raises(ConfigurationError, match=r"robots\.txt"):
        await site.found()


async def test_a_sitemap_and_its_index_say_what_changed(site: Site) -> None:
    space = "http://www.sitemaps.org/schemas/sitemap/0.9"
    dated = f"<url><loc>{site.url}/dated</loc><lastmod>2026-01-02</lastmod></url>"
    plain = f"<url><loc>{site.url}/plain</loc></url><url><loc>{site.url}/gone</loc></url>"
    site.pages["/sitemap.xml"] = (
        200,
        {},
        f'<sitemapindex xmlns="{space}"><sitemap><loc>{site.url}/one.xml</loc></sitemap></sitemapindex>'.encode(),
    )
    site.pages["/one.xml"] = (200, {}, f'<urlset xmlns="{space}">{dated}{plain}</urlset>'.encode())
    site.page("/plain", "First")
    before = await site.source("/sitemap.xml").present()
    assert {url.removeprefix(site.url) for url in before} == {"/dated", "/plain"}
    assert "/dated" not in site.asked  # not read until it changes
    site.page("/plain", "Second")
    after = await site.source("/sitemap.xml").present()
    changed = {url.removeprefix(site.url) for url in after if after[url] != before[url]}
    assert changed == {"/plain"}


@pytest.mark.parametrize(
    "feed",
    [
        "<rss version='2.0'><channel><item><link>{0}/news</link><pubDate>Fri, 02 Jan 2026 10:00:00 GMT</pubDate></item></channel></rss>",
        "<feed xmlns='http://www.w3.org/2005/Atom'><link href='{0}/self'/><entry><link href='/news'/><updated>2026-01-02T10:00:00Z</updated></entry></feed>",
    ],
    ids=["rss", "atom"],
)
async def test_the_entries_of_a_feed_are_pages(site: Site, feed: str) -> None:
    site.pages["/feed"] = (200, {"Content-Type": "application/xml"}, feed.format(site.url).encode())
    assert await site.found("/feed") == {"/news"}


async def test_entities_of_a_feed_are_not_resolved(site: Site, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    feed = f'<!DOCTYPE rss [<!ENTITY x SYSTEM "file://{tmp_path}/secret">]><rss><channel><item><link>/&x;</link></item></channel></rss>'
    site.pages["/feed"] = (200, {}, feed.encode())
    assert "/secret" not in await site.found("/feed")


async def test_a_redirect_into_the_network_is_not_followed(site: Site) -> None:
    for target in ("http://169.254.169.254/latest", "http://localhost:1/", "file:///etc/passwd"):
        site.pages["/away"] = (302, {"Location": target}, b"")
        with pytest.raises((SourceProblem, Unavailable)):
            await site.source("/away").present()
    site.pages["/loop"] = (302, {"Location": "/loop"}, b"")
    with pytest.raises(SourceProblem, match="redirects"):
        await site.source("/loop").present()
    site.pages["/old"] = (301, {"Location": "/new/"}, b"")
    site.page("/new/", "Moved", "a.html")
    site.page("/new/a.html", "A")
    assert await site.found("/old") == {"/new/", "/new/a.html"}


async def test_a_page_that_is_too_large_or_fails_is_a_problem_of_its_own(site: Site, tmp_path: Path) -> None:
    site.page("/", "x" * 5_000, "/broken")
    site.pages["/broken"] = (500, HTML, b"")
    source = WebSource(WebAccess(url=f"{site.url}/", max_bytes=1_000), pace=Pace(10_000))
    entries = [entry async for entry in source.read(None, list(await source.present()))]
    assert [entry.filename for entry in entries] == ["127.0.0.1.html", "broken.html"]
    for entry in entries:
        with pytest.raises(SourceProblem):
            await source.fetch(entry, tmp_path)


@pytest.mark.parametrize("url", ["ftp://example.org/", "example.org", "https://me:secret@example.org/", "https://"])
def test_an_address_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(ConfigurationError):
        WebSource(WebAccess(url=url))


@pytest.mark.full
async def test_pages_come_change_and_go_and_are_cited(site: Site, tmp_path: Path) -> None:
    site.page("/", "Start", "/gate.html", "/lease.html")
    site.page("/gate.html", "The harbour gate closes at nine in the evening.")
    site.page("/lease.html", "The lease ends in 2031.")
    async with connect(load_settings(data=tmp_path / "data")) as client:

        async def sync() -> SyncReport:
            return await Synchroniser(client, site.source(), SyncRequest(name="site")).run()

        assert (await sync()).added == 3
        assert (await sync()).unchanged == 3
        site.page("/gate.html", "The harbour gate closes at half past nine in the evening.")
        site.pages["/lease.html"] = (503, HTML, b"")  # for a moment: its file stays
        report = await sync()
        assert (report.changed, report.deleted) == (1, 0)
        del site.pages["/lease.html"]
        assert (await sync()).deleted == 1
        answer = await call(client, "POST", "/chat", json={"message": "When does the harbour gate close?"})
        listed = (await call(client, "GET", "/resources"))["resources"]
    assert "half past nine" in answer["answer"]
    assert "half past nine" in answer["citations"][0]["quote"]
    assert {one["metadata"]["source_url"] for one in listed} == {f"{site.url}/", f"{site.url}/gate.html"}
