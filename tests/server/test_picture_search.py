"""Search for pictures: by an example, by words, and what neither gives to whom."""

from __future__ import annotations

import io
import json
from typing import Any

import httpx
import pytest
from docx import Document
from PIL import Image

from tests.drawings import as_file, drawing
from tests.server.running import Server

pytestmark = pytest.mark.slow(20)


def _report(picture: Image.Image, caption: str) -> bytes:
    """A document with a picture that has a caption, and more bytes than a logo."""
    report = Document()
    report.add_heading("Yard", 1)
    report.add_paragraph("We measured the yard in May.")
    report.add_picture(io.BytesIO(as_file(picture, compress_level=0)))
    report.add_paragraph(caption, style="Caption")
    out = io.BytesIO()
    report.save(out)
    return out.getvalue()


def _like(server: Server, picture: bytes, name: str = "example.png", **search: object) -> httpx.Response:
    form = {"search": json.dumps(search)} if search else {}
    return server.client.post("/search/pictures/example", files={"file": (name, picture)}, data=form)


def _names(response: httpx.Response) -> list[str]:
    assert response.status_code == 200, response.text
    return [one["filename"] for one in response.json()["pictures"]]


@pytest.fixture(scope="module")
def yard(server: Server) -> dict[str, Any]:
    return server.add("yard.docx", _report(drawing(101, (900, 700)), "Figure 1: The quillwort hoist behind the shed."))


@pytest.fixture(scope="module")
def photo(server: Server) -> dict[str, Any]:
    return server.add("photo.png", as_file(drawing(102)))


def test_a_detail_finds_the_picture_in_a_document_with_its_place(server: Server, yard: dict[str, Any]) -> None:
    detail = drawing(101, (900, 700)).crop((200, 100, 700, 500))
    found = _like(server, as_file(detail, "JPEG", quality=50)).json()
    (one,) = found["pictures"]
    assert (one["resource_id"], one["found_by"]) == (yard["id"], "details")
    assert one["label"] == 'yard.docx ("Yard")'
    assert 0.5 <= one["score"] < 1
    shown = server.client.get(one["image"]["path"])
    assert Image.open(io.BytesIO(shown.content)).size == (900, 700)
    assert "multimodal" in found["notice"]


def test_a_copy_finds_the_file_and_another_picture_nothing(server: Server, photo: dict[str, Any]) -> None:
    copy = drawing(102).resize((320, 240))
    (one,) = _like(server, as_file(copy, "WEBP")).json()["pictures"]
    assert one["image"] == {"resource_id": photo["id"], "blob": None, "path": f"/resources/{photo['id']}/file"}
    assert one["score"] >= 0.9
    assert _names(_like(server, as_file(drawing(103)))) == []


def test_a_stored_picture_finds_others_but_not_itself(server: Server, yard: dict[str, Any]) -> None:
    again = server.add("yard again.png", as_file(drawing(101, (900, 700)).crop((0, 0, 800, 700))))
    blob = {"resource_id": yard["id"], "blob": "image-0.png"}
    assert _names(server.client.post("/search/pictures", json=blob)) == ["yard again.png"]
    assert _names(server.client.post("/search/pictures", json={"resource_id": again["id"]})) == ["yard.docx"]
    server.client.delete(f"/resources/{again['id']}")
    assert _names(server.client.post("/search/pictures", json=blob)) == []


def test_the_words_of_a_caption_find_its_picture(server: Server, yard: dict[str, Any], photo: dict[str, Any]) -> None:
    found = server.client.post("/search/pictures", json={"query": "quillwort hoist", "top_k": 1}).json()
    (one,) = found["pictures"]
    assert (one["resource_id"], one["image"]["blob"], one["found_by"]) == (yard["id"], "image-0.png", "words")


def test_a_scope_narrows_the_pictures(server: Server, yard: dict[str, Any], photo: dict[str, Any]) -> None:
    example = as_file(drawing(102))
    assert _names(_like(server, example, resource_ids=[yard["id"]])) == []
    assert _names(_like(server, example, resource_ids=[photo["id"]])) == ["photo.png"]
    other = [{"field": "filename", "value": "other.png"}]
    assert _names(_like(server, example, filters=other)) == []
    assert _like(server, example, project="no such project").status_code == 404
    assert _like(server, example, filters=[{"field": "page", "value": 1}]).json()["error"]["code"] == "invalid_filter"


def test_a_new_version_replaces_the_pictures(server: Server) -> None:
    before, after = as_file(drawing(110)), as_file(drawing(111))
    resource = server.add("changing.png", before)
    server.client.put(f"/resources/{resource['id']}/file", files={"file": ("changing.png", after)})
    server.wait(resource["id"])
    assert _names(_like(server, before)) == []
    assert _names(_like(server, after)) == ["changing.png"]


def _bomb() -> bytes:
    out = io.BytesIO()
    Image.new("1", (20_000, 20_000)).save(out, "PNG")
    return out.getvalue()


@pytest.mark.parametrize(
    ("content", "status", "says"),
    [
        (b"plain words", 400, "Only a picture"),
        (as_file(Image.new("RGB", (200, 200), "white")), 400, "blank"),
        (b"", 400, "empty"),
        (b"\x89PNG\r\n\x1a\n damaged", 422, "not a readable image"),
        (_bomb(), 422, "pixels"),
    ],
)
def test_what_is_no_picture_is_refused_with_the_reason(server: Server, content: bytes, status: int, says: str) -> None:
    refused = _like(server, content)
    assert (refused.status_code, says in refused.text) == (status, True), refused.text
    assert not list((server.data / "scratch").glob("example-*"))


@pytest.mark.parametrize("body", [{}, {"query": "x", "resource_id": "y"}, {"query": "x", "top_k": 0}])
def test_a_search_for_neither_or_both_is_refused(server: Server, body: dict[str, Any]) -> None:
    assert server.client.post("/search/pictures", json=body).status_code == 400


def test_pictures_of_other_projects_and_owners_stay_unknown(server: Server) -> None:
    example = as_file(drawing(120))
    hidden = server.add("hidden.png", example, project="Hidden")
    server.add("open.png", as_file(drawing(121)), project="Open")
    projects = {one["name"]: one["id"] for one in server.client.get("/projects").json()["projects"]}
    made = server.client.post("/tokens", json={"name": "open", "scopes": ["read"], "projects": [projects["Open"]]})
    assert made.is_success, made.text
    server_token = server.client.headers["Authorization"]
    server.client.headers["Authorization"] = f"Bearer {made.json()['token']}"
    try:
        assert _names(_like(server, example)) == []
        stored = server.client.post("/search/pictures", json={"resource_id": hidden["id"]})
        unknown = server.client.post("/search/pictures", json={"resource_id": "no-such-file"})
        assert (stored.status_code, stored.json()) == (404, unknown.json())
        assert _names(_like(server, as_file(drawing(121)))) == ["open.png"]
    finally:
        server.client.headers["Authorization"] = server_token
    assert _names(_like(server, example)) == ["hidden.png"]


def test_a_file_that_cannot_be_compared_says_why(server: Server) -> None:
    note = server.add("note.md", b"# Note\n\nNo pictures here.\n")
    refused = server.client.post("/search/pictures", json={"resource_id": note["id"]})
    assert refused.status_code == 404
    assert "Read the file again" in refused.text
