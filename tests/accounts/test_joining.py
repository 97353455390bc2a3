"""Files that the owner has already, uploaded by those who are kept to a project: what is outside it stays unknown and as it is."""

from __future__ import annotations

import hashlib
import io
import json
import uuid
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import httpx
import pytest

from citewell.features.http import PROJECT_HEADER
from tests.accounts.people import Browser, signed_up
from tests.server.in_process import InProcessServer

pytestmark = [pytest.mark.full, pytest.mark.slow(20)]
Caller: TypeAlias = Callable[..., httpx.Response]


@dataclass(frozen=True)
class Kitchen:
    """A project of ada's that she shares."""

    ada: Browser
    project: str

    def editor(self) -> Browser:
        email = f"{uuid.uuid4().hex[:12]}@example.org"
        body = {"project": self.project, "role": "editor", "email": email}
        invitation = self.ada.call("POST", "/invitations", json=body).json()["invitation"]
        return signed_up(self.ada.url, email, invitation=invitation)


@pytest.fixture(scope="module")
def kitchen(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kitchen]:
    with InProcessServer(tmp_path_factory.mktemp("joining") / "data", CITEWELL_ACCOUNTS="on") as server:
        ada = signed_up(server.url, "ada@example.org")
        yield Kitchen(ada, ada.call("POST", "/projects", json={"name": "Kitchen"}).json()["id"])


def _kept_to_it(kitchen: Kitchen) -> list[Caller]:
    """An editor, and a token of the owner that is good for the project only."""
    editor = kitchen.editor()
    made = kitchen.ada.call("POST", "/tokens", json={"name": "k", "projects": ["Kitchen"], "scopes": ["read", "write"]})
    bearer = {"Authorization": f"Bearer {made.json()['token']}"}

    def as_editor(method: str, path: str, **request: Any) -> httpx.Response:
        return editor.call(method, path, headers={PROJECT_HEADER: kitchen.project}, **request)

    def with_token(method: str, path: str, **request: Any) -> httpx.Response:
        return httpx.request(method, kitchen.ada.url + path, headers=bearer, timeout=60, **request)

    return [as_editor, with_token]


def _known_elsewhere(kitchen: Kitchen) -> tuple[str, bytes]:
    """The id and bytes of a file that ada has outside the project, with much that is said of it."""
    content = f"The larder of the harbour inn is locked at {uuid.uuid4()}.".encode()
    said = {"metadata": json.dumps({"by": "ada", "tags": ["a", "b"]}), "identifier": f"larder {uuid.uuid4().hex[:8]}"}
    more = {"thread": "stock", "caption": "A caption."}
    made = kitchen.ada.call("POST", "/ingest", files={"file": ("larder.txt", content)}, data=said | more).json()
    assert kitchen.ada.get(f"/resources/{made['id']}/events").is_success
    return made["id"], content


ASKED = (
    {"metadata": json.dumps({"by": "somebody"})},
    {"metadata": json.dumps({"by": None})},
    {"identifier": "mine"},
    {"thread": "other"},
    {"caption": "Another caption."},
    {"chunking": json.dumps({"size": 40, "overlap": 0})},
    {"multimodal": "true"},
    {"extract_images": "false"},
)
_STAYS = ("filename", "identifier", "metadata", "thread", "options", "indexed_at", "version", "status")


def _as_said(kitchen: Kitchen, resource: str) -> dict[str, Any]:
    kept = kitchen.ada.get(f"/resources/{resource}").json()
    return {name: kept[name] for name in _STAYS}


def test_bytes_that_the_owner_has_elsewhere_become_a_file_of_the_projects_own(kitchen: Kitchen) -> None:
    for call in _kept_to_it(kitchen):
        elsewhere, content = _known_elsewhere(kitchen)
        before = _as_said(kitchen, elsewhere)
        files = {"file": ("mine.txt", content)}
        made = call("POST", "/ingest", files=files, data={"thread": "mine"})
        assert (made.status_code, made.json()["outcome"]) == (201, "created")
        mine = made.json()
        assert (mine["filename"], mine["thread"], mine["metadata"]) == ("mine.txt", "mine", {})
        assert mine["content_hash"] == hashlib.sha256(content).hexdigest()
        assert call("GET", f"/resources/{mine['id']}/events").is_success
        again = call("POST", "/ingest", files=files)
        assert (again.status_code, again.json()["id"], again.json()["outcome"]) == (200, mine["id"], "unchanged")
        assert call("PATCH", f"/resources/{mine['id']}", json={"metadata": {"by": "them"}}).is_success
        assert call("GET", f"/resources/{elsewhere}").status_code == 404
        assert _as_said(kitchen, elsewhere) == before


def test_members_of_an_uploaded_archive_are_the_projects_own_too(kitchen: Kitchen) -> None:
    for call in _kept_to_it(kitchen):
        elsewhere, content = _known_elsewhere(kitchen)
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w") as archive:
            archive.writestr("guessed.txt", content)
        made = call("POST", "/ingest", files={"file": ("guess.zip", packed.getvalue())}).json()["id"]
        assert call("GET", f"/resources/{made}/events").is_success
        (inside,) = call("GET", "/resources", params={"parent_id": made}).json()["resources"]
        assert (inside["filename"], inside["metadata"]) == ("guessed.txt", {})
        assert kitchen.project not in kitchen.ada.get(f"/resources/{elsewhere}").json()["project_ids"]


def test_an_upload_changes_no_file_that_is_in_other_projects_too(kitchen: Kitchen) -> None:
    for call in _kept_to_it(kitchen):
        resource, content = _known_elsewhere(kitchen)
        files = {"file": ("mine.txt", content)}
        assert kitchen.ada.call("POST", "/ingest", files=files, data={"project": "Kitchen"}).status_code == 200
        before = _as_said(kitchen, resource)
        for asked in ASKED:
            refused = call("POST", "/ingest", files=files, data=asked)
            assert (refused.status_code, refused.json()["error"]["code"]) == (403, "forbidden"), asked
            assert "only its owner may change it" in refused.json()["error"]["message"]
            assert _as_said(kitchen, resource) == before
        # What the page sends along, and what the file has already, asks for no change.
        fields = {"extract_tables": "true", "extract_images": "true", "thread": "stock", "caption": "A caption."}
        said = {"metadata": json.dumps({"tags": ["a", "b"]})}
        known = call("POST", "/ingest", files=files, data=fields | said).json()
        assert (known["id"], known["outcome"]) == (resource, "unchanged")
        assert _as_said(kitchen, resource) == before
        assert call("PATCH", f"/resources/{resource}", json={"metadata": {"by": "x"}}).status_code == 403


def test_an_upload_changes_a_file_that_is_in_the_project_alone(kitchen: Kitchen) -> None:
    for call in _kept_to_it(kitchen):
        content = f"The oven of the harbour inn is hot at {uuid.uuid4()}.".encode()
        files = {"file": ("oven.txt", content)}
        made = call("POST", "/ingest", files=files).json()
        assert call("GET", f"/resources/{made['id']}/events").is_success
        again = call("POST", "/ingest", files=files, data={"metadata": '{"by": "them"}', "caption": "Warm."})
        assert (again.status_code, again.json()["metadata"], again.json()["outcome"]) == (
            200,
            {"by": "them"},
            "reindexed",
        )


def test_the_owner_who_is_kept_to_nothing_still_changes_a_known_file(kitchen: Kitchen) -> None:
    resource, content = _known_elsewhere(kitchen)
    files = {"file": ("mine.txt", content)}
    fields = {"project": "Kitchen", "metadata": '{"by": "ada again"}', "chunking": '{"size": 40, "overlap": 0}'}
    changed = kitchen.ada.call("POST", "/ingest", files=files, data=fields).json()
    assert (changed["id"], changed["metadata"]["by"], changed["outcome"]) == (resource, "ada again", "reindexed")
    assert kitchen.project in changed["project_ids"]


def test_a_new_version_may_have_the_bytes_of_a_file_elsewhere_and_not_of_one_in_the_project(kitchen: Kitchen) -> None:
    for call in _kept_to_it(kitchen):
        _, content = _known_elsewhere(kitchen)
        made = [
            call("POST", "/ingest", files={"file": ("mine.txt", f"Mine at {uuid.uuid4()}.".encode())}).json()["id"]
            for _ in range(2)
        ]
        for one in made:
            assert call("GET", f"/resources/{one}/events").is_success
        files = {"file": ("mine.txt", content)}
        replaced = call("PUT", f"/resources/{made[0]}/file", files=files)
        assert (replaced.status_code, replaced.json()["version"]) == (200, 2)
        assert replaced.json()["content_hash"] == hashlib.sha256(content).hexdigest()
        known = call("GET", f"/resources/{made[1]}/file").content
        refused = call("PUT", f"/resources/{made[0]}/file", files={"file": ("mine.txt", known)})
        assert (refused.status_code, refused.json()["error"]["details"]) == (409, {"resource_id": made[1]})


def test_an_archive_with_a_file_that_is_in_other_projects_too_is_the_owners_to_change(kitchen: Kitchen) -> None:
    inner = f"The cellar of the harbour inn is cold at {uuid.uuid4()}.".encode()
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("cellar.txt", inner)
    files = {"file": ("stock.zip", packed.getvalue())}
    made = kitchen.ada.call("POST", "/ingest", files=files, data={"project": "Kitchen"}).json()["id"]
    assert kitchen.ada.get(f"/resources/{made}/events").is_success
    also = kitchen.ada.call("POST", "/ingest", files={"file": ("cellar.txt", inner)}).json()
    assert (also["parent_id"], len(also["project_ids"])) == (made, 2)
    for call in _kept_to_it(kitchen):
        assert call("PATCH", f"/resources/{made}", json={"metadata": {"by": "them"}}).is_success
        asked = {"extract_tables": "false"}
        for refused in (
            call("POST", "/ingest", files=files, data=asked),
            call("POST", f"/resources/{made}/reindex"),
            call("DELETE", f"/resources/{made}"),
            call("PUT", f"/resources/{made}/file", files={"file": ("stock.zip", b"Another one.")}),
        ):
            assert (refused.status_code, refused.json()["error"]["code"]) == (403, "forbidden")
    assert kitchen.ada.get(f"/resources/{also['id']}").is_success
