"""Files inside files: an archive that a question or a search names is searched with its members, which say where in it they are."""

from __future__ import annotations

import io
import uuid
import zipfile
from typing import Any

import pytest

from tests.server.running import Server


def _zip(files: dict[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return packed.getvalue()


class _Estate:
    """An archive in an archive, one of whose members the owner had before, and a file of the same kind beside them."""

    def __init__(self, server: Server) -> None:
        self.server, self.word = server, f"zork{uuid.uuid4().hex[:8]}"
        self.known = server.add("known.txt", self._text("lantern"))["id"]
        self.beside = server.add("beside.txt", self._text("compass"))["id"]
        inner = _zip({"notes/deep.txt": self._text("ledger")})
        outer = {"a/report.txt": self._text("harbour"), "b/report.txt": self._text("mill"), "x/inner.zip": inner}
        self.outer = server.add("outer.zip", _zip(outer | {"c/known.txt": self._text("lantern")}))["id"]
        for parent in (self.outer, self._inner()["id"]):
            for member in self.members(parent):
                server.wait(member["id"])

    def _text(self, thing: str) -> bytes:
        return f"The {thing} of {self.word} was painted blue by its keeper.".encode()

    def members(self, parent: str) -> list[dict[str, Any]]:
        return self.server.client.get("/resources", params={"parent_id": parent}).json()["resources"]

    def _inner(self) -> dict[str, Any]:
        return next(one for one in self.members(self.outer) if one["filename"] == "inner.zip")

    def found(self, **scope: Any) -> set[str]:
        """What the passages that a search finds are about."""
        asked = {"query": f"What of {self.word} was painted blue?", "top_k": 50, **scope}
        response = self.server.client.post("/search", json=asked)
        assert response.status_code == 200, response.text
        texts = [hit["text"] for hit in response.json()["hits"]]
        return {text.split()[1] for text in texts if text.startswith("The ") and self.word in text}


@pytest.fixture(scope="module")
def estate(server: Server) -> _Estate:
    return _Estate(server)


def test_a_search_in_an_archive_finds_its_members(estate: _Estate) -> None:
    inner = next(one["id"] for one in estate.members(estate.outer) if one["filename"] == "inner.zip")
    assert estate.found(resource_ids=[estate.outer]) == {"harbour", "mill", "ledger", "lantern"}
    assert estate.found(resource_ids=[inner]) == {"ledger"}
    assert estate.found(resource_ids=[inner, estate.beside]) == {"ledger", "compass"}


def test_members_say_in_which_folder_of_the_archive_they_are(estate: _Estate) -> None:
    members = estate.members(estate.outer)
    inner = next(one for one in members if one["filename"] == "inner.zip")
    paths = {one["metadata"].get("archive_path") for one in [*members, *estate.members(inner["id"])]}
    assert paths == {"a/report.txt", "b/report.txt", "x/inner.zip", "x/inner.zip/notes/deep.txt"}
    assert {one["filename"] for one in members} == {"report.txt", "inner.zip"}
    inside = [{"field": "metadata.archive_path", "operator": "prefix", "value": "b/"}]
    assert estate.found(resource_ids=[estate.outer], filters=inside) == {"mill"}
    asked = {"query": f"mill of {estate.word}", "resource_ids": [estate.outer]}
    (hit, *_) = estate.server.client.post("/search", json=asked).json()["hits"]
    assert hit["metadata"] == {"archive_path": "b/report.txt"}


def test_names_that_point_outside_the_archive_are_shown_without_it(server: Server) -> None:
    names = (
        "../../etc/passwd",
        "/keys/key.txt",
        "C:\\letters\\notes.txt",
        "plain.txt",
        "a/\u202egpj.txt",
        "e\u0301/t.txt",
    )
    files = {name: f"Content {number} at {uuid.uuid4()}.".encode() for number, name in enumerate(names)}
    archive = server.add("hostile.zip", _zip(files))["id"]
    members = server.client.get("/resources", params={"parent_id": archive}).json()["resources"]
    assert {one["metadata"].get("archive_path") for one in members} == {
        "etc/passwd", "keys/key.txt", "letters/notes.txt", None, "a/gpj.txt", "\u00e9/t.txt",
    }  # fmt: skip


def test_a_search_in_an_archive_by_its_identifier(estate: _Estate) -> None:
    name = f"bundle {uuid.uuid4().hex[:8]}"
    estate.server.client.patch(f"/resources/{estate.outer}", json={"identifier": name}).raise_for_status()
    assert estate.found(resource_ids=[name]) == {"harbour", "mill", "ledger", "lantern"}


def test_filters_choose_among_the_members_of_an_archive(estate: _Estate) -> None:
    reports = [{"field": "filename", "value": "report.txt"}]
    assert estate.found(resource_ids=[estate.outer], filters=reports) == {"harbour", "mill"}
    asked = {"message": f"What of {estate.word} was painted?", "resource_ids": [estate.outer], "filters": reports}
    cited = estate.server.client.post("/chat", json=asked).json()["citations"]
    assert {one["filename"] for one in cited} == {"report.txt"}


def test_members_that_are_in_other_projects_stay_out(estate: _Estate) -> None:
    other = f"Elsewhere {uuid.uuid4().hex[:8]}"
    estate.server.client.post("/projects", json={"name": other}).raise_for_status()
    assert estate.found(resource_ids=[estate.outer], project=other) == set()


def test_a_question_about_an_archive_is_answered_from_its_members(estate: _Estate) -> None:
    asked = {"message": f"Who painted the ledger of {estate.word}?", "resource_ids": [estate.outer], "debug": True}
    answer = estate.server.client.post("/chat", json=asked).json()
    assert answer["citations"], answer
    assert "ledger" in answer["citations"][0]["quote"]
    thread = estate.server.client.get(f"/threads/{answer['thread_id']}").json()
    assert thread["scope"] == {"resource_ids": [estate.outer]}
