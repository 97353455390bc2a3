"""The interface as the server serves it: strict headers, kept files, and no page where the API says 404."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from citewell.features.http import install_error_handlers
from citewell.features.web import endpoints as pages
from citewell.features.web.headers import SecurityHeaders
from tests.server.running import Server


@pytest.fixture
def static(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A built interface in small."""
    folder = tmp_path / "static"
    (folder / "assets").mkdir(parents=True)
    (folder / "index.html").write_text("<!doctype html><title>Citewell</title>")
    (folder / "assets" / "app-1a2b.js").write_text("export {}")
    (folder / "assets" / "app-1a2b.js.gz").write_bytes(b"\x1f\x8b packed")
    (tmp_path / "secret.txt").write_text("secret")
    monkeypatch.setattr(pages, "STATIC", folder)
    return folder


@pytest.fixture
def client(static: Path) -> Iterator[TestClient]:
    """The pages alone, without the services behind them."""
    app = FastAPI()
    install_error_handlers(app)
    app.include_router(pages.router)
    app.add_middleware(SecurityHeaders)
    with TestClient(app) as made:
        yield made


@pytest.mark.parametrize("address", ["/", "/conversations/abc", "/library", "/library/abc", "/playground", "/settings"])
def test_every_screen_is_the_one_page_and_is_asked_for_anew(client: TestClient, address: str) -> None:
    answer = client.get(address)
    assert answer.status_code == 200
    assert "<title>Citewell</title>" in answer.text
    assert answer.headers["cache-control"] == "no-cache"


def test_a_page_may_run_its_own_scripts_only(client: TestClient) -> None:
    policy = client.get("/").headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'self' 'wasm-unsafe-eval'" in policy
    assert "unsafe-inline" not in policy
    assert "'unsafe-eval'" not in policy
    assert not re.search(r"https?:|\*", policy)


def test_named_files_are_kept_for_good_and_come_packed(client: TestClient) -> None:
    packed = client.get("/assets/app-1a2b.js", headers={"Accept-Encoding": "identity"})
    assert packed.headers["content-type"].startswith("text/javascript")
    assert "immutable" in packed.headers["cache-control"]
    with client.stream("GET", "/assets/app-1a2b.js", headers={"Accept-Encoding": "gzip"}) as answer:
        assert answer.headers["content-encoding"] == "gzip"


@pytest.mark.parametrize(
    "path", ["../../secret.txt", "%2e%2e/%2e%2e/secret.txt", "..%2f..%2fsecret.txt", "none.js", "%00"]
)
def test_no_file_beside_the_interface_is_served(client: TestClient, path: str) -> None:
    answer = client.get(f"/assets/{path}")
    assert answer.status_code == 404
    assert "secret" not in answer.text


def test_an_interface_that_is_not_built_says_how_to_build_it(client: TestClient, static: Path) -> None:
    (static / "index.html").unlink()
    answer = client.get("/")
    assert answer.status_code == 404
    assert "make run" in answer.json()["error"]["message"]


def test_an_unknown_address_of_the_api_stays_an_error_in_json(server: Server) -> None:
    with httpx.Client(base_url=server.url) as browser:
        answer = browser.get("/resourcez", headers={"Accept": "text/html"})
    assert answer.status_code == 404
    assert answer.json()["error"]["code"] == "not_found"


def test_answers_of_the_api_run_nothing_and_are_not_kept(server: Server) -> None:
    headers = server.client.get("/resources").headers
    assert headers["content-security-policy"].startswith("default-src 'none'")
    assert headers["cache-control"] == "no-store"
    assert headers["x-content-type-options"] == "nosniff"
